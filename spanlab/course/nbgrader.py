"""A lesson or lab as an nbgrader assignment, for courses that already run nbgrader.

nbgrader marks by running notebooks: it takes out what stands between BEGIN SOLUTION and END SOLUTION, adds its test
cells again when a notebook comes back, and takes a number that a test cell ends with as its points. So each challenge
becomes an answer cell with the solution, and a test cell that ends with the points that spanlab gives, partial credit
included. The machine that marks needs spanlab installed beside nbgrader. (`spanlab grade` needs no nbgrader, and runs
nothing.)
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from spanlab.course.challenges import find_challenge
from spanlab.course.notebook_form import Cell, Notebook, NotebookProblem, normal, read_notebook, slug_of, write_notebook
from spanlab.course.places import course_root
from spanlab.course.solutions import answer_source

_TEST = """\
from spanlab.course.challenge import judge
from spanlab.course.challenges import find_challenge

judge(find_challenge("{id}"), answer).points"""


def export(notebook: Path, folder: Path) -> Path:
    """Write `folder/source/<name>/<name>.ipynb`, which `nbgrader generate_assignment <name>` takes. Returns its path.

    Raises NotebookProblem outside a course copy and where a challenge has no answer in solutions/.
    """
    root = course_root(notebook.resolve().parent)
    if root is None:
        raise NotebookProblem(f"{notebook}: not inside a copy of the course, so its solutions are not at hand")
    target = folder / "source" / notebook.stem / notebook.name
    write_notebook(target, assignment(normal(read_notebook(notebook), slug_of(notebook)), root))
    return target


def assignment(notebook: Notebook, root: Path) -> Notebook:
    """The notebook with nbgrader's metadata: answer cells hold the solution, a test cell follows each."""
    done = copy.deepcopy(notebook)
    done["cells"] = [new for cell in done["cells"] for new in _cells(cell, root)]
    return done


def _cells(cell: Cell, root: Path) -> list[Cell]:
    own = cell["metadata"].get("spanlab") or {}
    challenge = find_challenge(str(own.get("challenge", "")))
    if cell["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None
    if challenge is None or challenge.is_prediction:
        return [cell]
    answer, _, check = answer_source(challenge.id, root).rpartition("\n")
    cell["source"] = f"answer = ...\n### BEGIN SOLUTION\n{answer}\n### END SOLUTION\n{check}"
    cell["metadata"]["nbgrader"] = _metadata(cell["id"], grade=False)
    test: dict[str, Any] = {
        "cell_type": "code",
        "id": f"{cell['id']}-points",
        "metadata": {"nbgrader": _metadata(f"{cell['id']}-points", grade=True) | {"points": challenge.points}},
        "source": _TEST.format(id=challenge.id),
        "outputs": [],
        "execution_count": None,
    }
    return [cell, test]


def _metadata(grade_id: str, *, grade: bool) -> dict[str, Any]:
    return {
        "grade": grade,
        "grade_id": grade_id,
        "locked": grade,
        "schema_version": 3,
        "solution": not grade,
        "task": False,
    }
