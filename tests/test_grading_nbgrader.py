"""The export to nbgrader: its cells always, and nbgrader itself where it is installed.

The second part runs where `nbgrader` is on the path, or SPANLAB_NBGRADER names its program; it needs spanlab beside it.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from spanlab.course.challenges import challenges_of
from spanlab.course.nbgrader import export
from spanlab.course.notebook_form import NotebookProblem, read_notebook

ROOT = Path(__file__).resolve().parent.parent
LESSON = ROOT / "lessons" / "01_address.ipynb"
NBGRADER = os.environ.get("SPANLAB_NBGRADER") or shutil.which("nbgrader")


def test_each_challenge_has_an_answer_cell_and_a_test_cell(tmp_path: Path) -> None:
    before = LESSON.read_bytes()
    target = export(LESSON, tmp_path)
    assert target == tmp_path / "source" / "01_address" / "01_address.ipynb"
    assert LESSON.read_bytes() == before
    cells = json.loads(target.read_bytes())["cells"]
    marked = [cell for cell in cells if "nbgrader" in cell["metadata"]]
    graded = [c for c in challenges_of("1") if not c.is_prediction]
    assert [c["metadata"]["nbgrader"]["grade"] for c in marked] == [False, True] * len(graded)
    assert [c["metadata"]["nbgrader"].get("points") for c in marked[1::2]] == [c.points for c in graded]
    for challenge, cell in zip(graded, marked[::2], strict=True):
        lines = "".join(cell["source"]).splitlines()
        assert lines[:2] == ["answer = ...", "### BEGIN SOLUTION"]
        assert lines[-2:] == ["### END SOLUTION", f'sl.check("{challenge.id}", answer)']
    assert len({c["metadata"]["nbgrader"]["grade_id"] for c in marked}) == len(marked)
    assert all(not cell.get("outputs") for cell in cells)


def test_outside_a_course_it_says_so(tmp_path: Path) -> None:
    lonely = tmp_path / "01_address.ipynb"
    lonely.write_bytes(LESSON.read_bytes())
    with pytest.raises(NotebookProblem, match="not inside a copy of the course"):
        export(lonely, tmp_path / "out")


def test_a_hand_out_has_no_solutions_to_export(tmp_path: Path) -> None:
    for name in ("course.py", "lessons/01_address.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    with pytest.raises(NotebookProblem, match="handed out without solutions"):
        export(tmp_path / "lessons" / "01_address.ipynb", tmp_path / "out")


def nbgrader(folder: Path, *arguments: str) -> None:
    assert NBGRADER is not None
    path = f"{Path(NBGRADER).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic by its name
    environment = os.environ | {"PATH": path}
    done = subprocess.run([NBGRADER, *arguments], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.skipif(NBGRADER is None, reason="nbgrader is not installed here")
def test_nbgrader_releases_and_marks_it(tmp_path: Path) -> None:
    export(LESSON, tmp_path)
    nbgrader(tmp_path, "generate_assignment", "01_address", "--create")
    release = tmp_path / "release" / "01_address" / "01_address.ipynb"
    assert "SOLUTION" not in release.read_text(encoding="utf-8")
    answers = {
        "half": {"1.1": "[2, 2, 3, 3, 4]", "1.4": "6"},
        "full": {"1.1": "[1, 2, 3, 3, 4]", "1.4": "4"},
        "none": {},
    }
    for student, given in answers.items():
        book = read_notebook(release)
        for cell in book["cells"]:
            challenge = cell["metadata"].get("spanlab", {}).get("challenge")
            if challenge in given:
                cell["source"] = f"answer = {given[challenge]}"
        place = tmp_path / "submitted" / student / "01_address"
        place.mkdir(parents=True)
        (place / "01_address.ipynb").write_text(json.dumps(book), encoding="utf-8")
    nbgrader(tmp_path, "autograde", "01_address")
    nbgrader(tmp_path, "export")
    with (tmp_path / "grades.csv").open(newline="") as file:
        scores = {line["student_id"]: (float(line["score"]), float(line["max_score"])) for line in csv.DictReader(file)}
    assert scores == {"half": (2.6, 10), "full": (4, 10), "none": (0, 10)}
