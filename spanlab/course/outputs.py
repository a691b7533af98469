"""The files that a command is going to write: that they cannot be written is found out before the work, not after it.

Marking a class takes a minute, and a spreadsheet that has last week's marks open locks the file of this week's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path


def refuse_if_not_writable(files: Iterable[Path], folder: Path | None = None) -> None:
    """Make the folders that are needed, and raise ValueError naming the first of the files, or the folder, that cannot
    be written. What a file holds stays."""
    asked = list(files)
    for path in asked:
        if asked.count(path) > 1:
            raise ValueError(f"{path} is named for two files; each needs a name of its own")
        _try(path.parent, path)
    if folder is not None:
        _try(folder, None)


def _try(folder: Path, path: Path | None) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if path is not None and path.exists():
            with path.open("ab"):
                pass
    except OSError as error:
        raise ValueError(f"{path or folder}: cannot be written ({error.strerror or error})") from None
