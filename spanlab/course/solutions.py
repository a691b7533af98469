"""The reference answers. They live once, in the notebooks of `solutions/`, in the cells of the challenges' ids.

`sl.reveal` shows them, the projector copy and the tests fill them in. They are read as text and never run from here.
A course that was handed out without them still works.
"""

from __future__ import annotations

import json
from pathlib import Path

from spanlab.course.notebook_form import Notebook, NotebookProblem, challenge_cells, read_notebook
from spanlab.course.places import cell_id, chapter_of, solutions_of


def solution_sources(chapter: str, root: Path) -> dict[str, str]:
    """The answer cells of `solutions/` for a lesson ("1") or lab ("B"): challenge id -> source of the cell.

    Empty where the hand-out was packed without solutions.
    """
    path = solutions_of(chapter, root)
    if path is None:
        return {}
    return {challenge: cell["source"] for challenge, cell in challenge_cells(read_notebook(path)).items()}


def answer_source(challenge: str, root: Path) -> str:
    """The answer cell of `solutions/` for one challenge. Raises NotebookProblem where there is none."""
    if not (root / "solutions").is_dir():
        raise NotebookProblem("this copy of the course was handed out without solutions")
    sources = solution_sources(chapter_of(challenge), root)
    if challenge not in sources:
        raise NotebookProblem(f"solutions/ has no cell {cell_id(challenge)!r} for challenge {challenge}")
    return sources[challenge]


def fill(notebook: Notebook, root: Path) -> Notebook:
    """A copy whose answer cells hold the answers of `solutions/`, without outputs. Raises NotebookProblem for a
    missing one."""
    done: Notebook = json.loads(json.dumps(notebook))
    for challenge, cell in challenge_cells(done).items():
        cell["source"] = answer_source(challenge, root)
    for cell in done["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return done
