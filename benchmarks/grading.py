"""How long it takes to mark a class, beside nbgrader on the same machine in the same run.

    python benchmarks/grading.py [--learners 300] [--nbgrader PROGRAM] [--runs 3]

The class is made of each chapter's right answers, wrong answers and open stubs, one variant a learner, so that
nobody's table is the same text. nbgrader runs notebooks and takes seconds for each, so it marks the first `--runs` of
the same class; its program must lie in an environment that has spanlab too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from spanlab.course.challenge import judge
from spanlab.course.challenges import all_challenges
from spanlab.course.extract import answer_in
from spanlab.course.feedback import card
from spanlab.course.grading import Task, graded_challenges
from spanlab.course.nbgrader import export
from spanlab.course.notebook_form import Notebook, challenge_cells, read_notebook
from spanlab.course.places import course_root, notebook_of
from spanlab.course.solutions import solution_sources
from spanlab.course.submissions import find_submissions
from spanlab.course.workers import grade

CHAPTER = "1"


def answers(number: int, root: Path) -> dict[str, Any]:
    """What learner `number` answers."""
    draw = random.Random(number)
    right = {id_: answer_in(source, id_) for id_, source in solution_sources(CHAPTER, root).items()}
    chosen = {c.id: draw.choice([right[c.id], *(w.example for w in c.wrong)]) for c in graded_challenges(CHAPTER)}
    return {id_: f"{a}\n-- {number}" if isinstance(a, str) and "CREATE" in a else a for id_, a in chosen.items()}


def hand_in(book: Notebook, number: int, root: Path, place: Path) -> None:
    """The notebook with that learner's answers."""
    copy = json.loads(json.dumps(book))
    for id_, cell in challenge_cells(copy).items():
        if id_ in (given := answers(number, root)):
            cell["source"] = f'answer = {given[id_]!r}\nsl.check("{id_}", answer)'
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(copy), encoding="utf-8")


def time_spanlab(lesson: Path, root: Path, learners: int, folder: Path) -> float:
    """Seconds for each submission, files read, workers started and all."""
    for number in range(learners):
        hand_in(read_notebook(lesson), number, root, folder / f"learner{number:03}.ipynb")
    for jobs in (1, 2):
        start = time.perf_counter()
        rows = grade([Task(s, CHAPTER) for s in find_submissions(folder)], jobs=jobs)
        took = time.perf_counter() - start
        print(f"spanlab, {jobs} job(s): {learners} learners in {took:.1f} s, {1000 * took / learners:.0f} ms each, "
              f"{sum(row.points for row in rows) / learners:.2f} points on average")  # fmt: skip
    return took / learners


def time_nbgrader(program: str, lesson: Path, root: Path, runs: int, folder: Path) -> float:
    """Seconds for each submission with `nbgrader autograde`."""
    path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic by its name

    def call(*words: str) -> None:
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, env=os.environ | {"PATH": path})

    export(lesson, folder)
    call("generate_assignment", lesson.stem, "--create")
    released = read_notebook(folder / "release" / lesson.stem / lesson.name)
    for number in range(runs):
        hand_in(released, number, root, folder / "submitted" / f"learner{number:03}" / lesson.stem / lesson.name)
    start = time.perf_counter()
    call("autograde", lesson.stem)
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
    lesson = notebook_of(CHAPTER, root) if root else None
    if root is None or lesson is None:
        raise SystemExit("run this inside the course: the lesson is not here")
    time_checks()
    with tempfile.TemporaryDirectory() as folder:
        ours = time_spanlab(lesson, root, asked.learners, Path(folder) / "class")
        if asked.nbgrader:
            theirs = time_nbgrader(asked.nbgrader, lesson, root, asked.runs, Path(folder) / "nbgrader")
            print(f"spanlab takes 1/{theirs / ours:.0f} of nbgrader's time")


if __name__ == "__main__":  # workers import this file
    main()
