"""The hand-out: a zip of the course that learners unpack and open with `course.py`, without the answers.

It holds what a learner needs and nothing else: no solutions, no tests, no history, nobody's progress. The same course
gives the same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from spanlab.course.extract import NotStatic, Unreadable, answer_in
from spanlab.course.notebook_form import challenge_cells, read_notebook
from spanlab.course.places import course_root

_TOP = [
    "course.py",
    "README.md",
    "pyproject.toml",
    "constraints.txt",
    "environment.yml",
    "LICENSE",
    "LICENSE-TEXT.md",
    "CHANGELOG.md",
]
_FOLDERS = ("spanlab", "lessons", "labs", "docs", ".devcontainer")
_LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")
_DATE = (1980, 1, 1, 0, 0, 0)


def pack(notebooks: Sequence[Path], output: Path) -> int:
    """Write the hand-out; returns the number of files in it. `notebooks` narrows it to these lessons and labs.

    Raises ValueError outside a course copy, for a notebook of elsewhere, and where a notebook still holds answers.
    """
    root = course_root()
    if root is None:
        raise ValueError("this is not inside a copy of the course; change into its folder first")
    chosen = [path.resolve() for path in notebooks]
    for path in chosen:
        if path.parent not in (root / "lessons", root / "labs") or not path.is_file():
            raise ValueError(f"{path}: this is not a lesson or lab of the course in {root}")
    files = [path for path in _files(root) if path.suffix != ".ipynb" or not chosen or path in chosen]
    for path in files:
        if path.suffix == ".ipynb":
            _refuse_answers(path)
    output.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            info = zipfile.ZipInfo(f"spanlab-course/{path.relative_to(root).as_posix()}", _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes())
    return len(files)


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _TOP if (root / name).is_file())
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not set(path.parts) & set(_LEFT_OUT) and path.suffix != ".pyc":
                yield path


def _refuse_answers(path: Path) -> None:
    """A lesson that its author has solved must not be handed out."""
    for challenge, cell in challenge_cells(read_notebook(path)).items():
        try:
            blank = answer_in(cell["source"], challenge) is ...
        except (NotStatic, Unreadable):
            blank = False
        if not blank:
            raise ValueError(f"{path}: challenge {challenge} is answered in it; put back `answer = ...` first")
