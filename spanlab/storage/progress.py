"""A progress bar for work over many rows, on terminals only: a notebook must not store how long something took."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS_WORTH_A_BAR = 100_000
"""About a second of work."""


@contextmanager
def progress_bar(what: str, rows: int) -> Iterator[Callable[[int], None]]:
    """Within it, call what it gives with the number of rows done so far."""
    if rows < ROWS_WORTH_A_BAR:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=rows)
        yield lambda done: bar.update(task, completed=done)
