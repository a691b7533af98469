"""How long it takes to mark a class, beside nbgrader on the same machine in the same run.

    python benchmarks/grading.py [--learners 300] [--nbgrader PROGRAM] [--runs 3]

The class sits a lab of eight challenges: those of the practice set that simulate, plan or count rows, and one choice.
Each learner draws among the right answer and the wrong ones of the challenge's own table, and no two hand in the same
DDL. nbgrader runs notebooks and takes seconds for each, so it marks the first `--runs` of the same class; its program
must lie in an environment that has spanlab too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import types
from functools import cache
from pathlib import Path
from typing import Any

from spanlab.course import challenges
from spanlab.course.challenge import judge
from spanlab.course.challenges import all_challenges, find_challenge
from spanlab.course.extract import answer_in
from spanlab.course.feedback import card
from spanlab.course.grading import Task, graded_challenges
from spanlab.course.nbgrader import assignment
from spanlab.course.notebook_form import Notebook, challenge_cells, normal, read_notebook, write_notebook
from spanlab.course.places import chapter_of, course_root, notebook_of
from spanlab.course.solutions import solution_sources
from spanlab.course.submissions import find_submissions
from spanlab.course.workers import grade

EIGHT = ("1.3", "2.3", "6.2", "7.3", "8.2", "8.3", "9.4", "B.5")
CHAPTER, TITLE = "Z", "eight_at_once"


def enrol() -> None:
    """Put the lab among the chapters of this process. Worker processes load this file too, and so know it as well."""
    lab = types.ModuleType(f"{challenges.__name__}.lab_z")
    lab.__dict__.update(TITLE=TITLE, CHALLENGES=tuple(find_challenge(id_) for id_ in EIGHT))
    sys.modules[lab.__name__] = lab
    challenges.chapters()[CHAPTER] = "lab_z"


enrol()


def lab_of(root: Path) -> Notebook:
    """The lab as a notebook: the cell that imports spanlab, and the eight cells of the chapters that they come from."""
    books = {chapter_of(id_): read_notebook(notebook_of(chapter_of(id_), root)) for id_ in EIGHT}
    book: Notebook = json.loads(json.dumps(next(iter(books.values()))))
    head = next(cell for cell in book["cells"] if "import spanlab as sl" in cell["source"])
    book["cells"] = [head, *(challenge_cells(books[chapter_of(id_)])[id_] for id_ in EIGHT)]
    return book


@cache
def right_answers(root: Path) -> dict[str, Any]:
    """The answers of the solution notebooks."""
    return {id_: answer_in(solution_sources(chapter_of(id_), root)[id_], id_) for id_ in EIGHT}


def answers(number: int, root: Path) -> dict[str, Any]:
    """What learner `number` answers."""
    draw = random.Random(number)
    right = right_answers(root)
    chosen = {c.id: draw.choice([right[c.id], *(w.example for w in c.wrong)]) for c in graded_challenges(CHAPTER)}
    return {id_: _own(answer, number) for id_, answer in chosen.items()}


def _own(answer: Any, number: int) -> Any:
    """The answer as nobody else has written it, where it is DDL."""
    if isinstance(answer, dict):
        return {name: _own(value, number) for name, value in answer.items()}
    return f"{answer}\n-- {number}" if isinstance(answer, str) and "CREATE" in answer else answer


def hand_in(book: Notebook, number: int, root: Path, place: Path) -> None:
    """The notebook with that learner's answers."""
    copy = json.loads(json.dumps(book))
    for id_, cell in challenge_cells(copy).items():
        if id_ in (given := answers(number, root)):
            cell["source"] = f'answer = {given[id_]!r}\nsl.check("{id_}", answer)'
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(copy), encoding="utf-8")


def time_spanlab(root: Path, learners: int, folder: Path) -> float:
    """Seconds for each submission, files read, workers started and all."""
    book = lab_of(root)
    for number in range(learners):
        hand_in(book, number, root, folder / f"learner{number:03}.ipynb")
    for jobs in (1, 2):
        start = time.perf_counter()
        rows = grade([Task(s, CHAPTER) for s in find_submissions(folder)], jobs=jobs)
        took = time.perf_counter() - start
        print(f"spanlab, {jobs} job(s): {learners} learners in {took:.1f} s, {1000 * took / learners:.0f} ms each, "
              f"{sum(row.points for row in rows) / learners:.2f} points on average")  # fmt: skip
    return took / learners


def time_nbgrader(program: str, root: Path, runs: int, folder: Path) -> float:
    """Seconds for each submission with `nbgrader autograde`."""
    path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic by its name

    def call(*words: str) -> None:
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, env=os.environ | {"PATH": path})

    name = Path(TITLE, f"{TITLE}.ipynb")
    write_notebook(folder / "source" / name, assignment(normal(lab_of(root), TITLE), root))
    call("generate_assignment", TITLE, "--create")
    released = read_notebook(folder / "release" / name)
    for number in range(runs):
        hand_in(released, number, root, folder / "submitted" / f"learner{number:03}" / name)
    start = time.perf_counter()
    call("autograde", TITLE)
    took = time.perf_counter() - start
    print(f"nbgrader autograde: {runs} learners in {took:.1f} s, {took / runs:.1f} s each")
    return took / runs


def time_checks() -> None:
    """The slowest answer of each challenge of the course: what a learner waits for after `sl.check`."""
    for challenge in all_challenges():
        slowest = 0.0
        judge(challenge, challenge.wrong[0].example if challenge.wrong else ...)  # what it needs is loaded once
        for wrong in challenge.wrong:
            start = time.perf_counter()
            card(judge(challenge, wrong.example)).html()
            slowest = max(slowest, time.perf_counter() - start)
        if challenge.wrong:
            print(f"sl.check {challenge.id}: {1000 * slowest:.0f} ms at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--nbgrader", metavar="PROGRAM")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    root = course_root(Path(__file__).parent)
    if root is None:
        raise SystemExit("run this inside the course: its lessons are not here")
    time_checks()
    with tempfile.TemporaryDirectory() as folder:
        ours = time_spanlab(root, asked.learners, Path(folder) / "class")
        if asked.nbgrader:
            theirs = time_nbgrader(asked.nbgrader, root, asked.runs, Path(folder) / "nbgrader")
            print(f"spanlab takes 1/{theirs / ours:.0f} of nbgrader's time")


if __name__ == "__main__":  # workers import this file
    main()
