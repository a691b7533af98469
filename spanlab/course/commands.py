"""The commands of the course: for learners (`check`, `report`, `run`), for instructors (`grade`, `pack`, `solve`), for
authors (`notebook`)."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

LARGEST_SEED = 2**32 - 1


def add_commands(commands: Any) -> None:
    """Adds the course's commands to the commands of the parser."""
    from spanlab.course import notebooks

    _add_check(commands)
    _add_grade(commands)
    _add_hand_out(commands)
    _add_report(commands)
    _add_run(commands)
    notebook = commands.add_parser("notebook", help="keep the course's notebooks in normal form (for authors)")
    notebooks.add_commands(notebook.add_subparsers(required=True, metavar="COMMAND"))


def _add_check(commands: Any) -> None:
    check = commands.add_parser("check", help="mark your own notebook; exit code 0 only for all points")
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    check.add_argument("--seed", type=_seed, default=0, metavar="N", help="another instance of the exercises")
    check.set_defaults(run=run_check)


def _seed(text: str) -> int:
    """A whole number that every generator of random numbers takes."""
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {LARGEST_SEED:,}")
    return int(text)


def run_check(asked: argparse.Namespace) -> int:
    """`spanlab check`: a learner's dry run, by the same means as `grade`."""
    from spanlab.course.answers import chapter_in
    from spanlab.course.feedback import number
    from spanlab.course.grade_reports import mark_card
    from spanlab.course.grading import Task, mark_here
    from spanlab.course.submissions import BadSubmission, Submission

    submission = Submission(asked.notebook.stem, asked.notebook)
    if not asked.notebook.is_file():
        raise ValueError(f"{asked.notebook}: there is no such file")
    try:
        chapter = chapter_in(submission.content())
    except BadSubmission as reason:
        raise ValueError(f"{asked.notebook}: {reason}") from None
    if chapter is None:
        raise ValueError(f"{asked.notebook}: no challenge of the course is in this notebook")
    row = mark_here(Task(submission, chapter, asked.seed))
    for mark in row.marks.values():
        print(f"{mark_card(mark)}\n")
    for remark in row.remarks:
        print(f"Note: {remark}.")
    print(f"{number(row.points)} of {row.max_points} points")
    return 0 if row.points >= row.max_points else 1


def _add_grade(commands: Any) -> None:
    grade = commands.add_parser(
        "grade",
        help="mark a folder (or zip) of notebooks without running them",
        description="Mark a class. Answers are read as plain data; nothing that was handed in runs without --execute.",
    )
    grade.add_argument("place", type=Path, metavar="FOLDER", help="the folder or zip with the submissions")
    grade.add_argument("--lesson", metavar="NAME", help="what to mark, such as 1 or lab_a (else: what most handed in)")
    grade.add_argument("--csv", type=Path, metavar="FILE", help="one line for each learner and challenge")
    grade.add_argument("--wide", type=Path, metavar="FILE", help="one line for each learner, for a gradebook")
    grade.add_argument("--json", type=Path, metavar="FILE", help="everything, for a program")
    grade.add_argument(
        "--feedback", type=Path, metavar="FOLDER", help="a page for each learner, and the class overview"
    )
    grade.add_argument("--jobs", type=int, metavar="N", help="processes at once (default: one a core)")
    grade.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="another instance of the exercises than learners saw"
    )
    grade.add_argument("--execute", action="store_true", help="run cells whose answer is not plain data, with limits")
    grade.set_defaults(run=run_grade)


def run_grade(asked: argparse.Namespace) -> int:
    """`spanlab grade`. Exit code 0 when every learner has a row, whatever stands in it."""
    from spanlab.course import grade_reports
    from spanlab.course.answers import chapter_named, chapter_of_class
    from spanlab.course.grading import Task, one_row_each
    from spanlab.course.outputs import refuse_if_not_writable
    from spanlab.course.submissions import find_submissions
    from spanlab.course.workers import default_jobs, grade

    files = [path for path in (asked.csv, asked.wide, asked.json) if path is not None]
    submissions = find_submissions(asked.place, [*files, *filter(None, [asked.feedback])])
    refuse_if_not_writable(files, asked.feedback)
    chapter = chapter_named(asked.lesson) if asked.lesson else chapter_of_class(submissions)
    tasks = [Task(submission, chapter, asked.seed, asked.execute) for submission in submissions]
    rows = one_row_each(_with_progress(grade, tasks, asked.jobs or default_jobs()))
    for path, content in (
        (asked.csv, grade_reports.long_csv(rows, asked.seed)),
        (asked.wide, grade_reports.wide_csv(rows)),
        (asked.json, grade_reports.to_json(rows, asked.seed)),
    ):
        if path is not None:
            path.write_bytes(content)
    if asked.feedback is not None:
        grade_reports.write_pages(rows, asked.feedback)
    _print_class(rows, chapter)
    return 0


def _with_progress(grade: Any, tasks: list[Any], jobs: int) -> Any:
    """Grade with a bar on the terminal; without one where nobody watches."""
    if not sys.stderr.isatty():
        return grade(tasks, jobs=jobs)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        marking = bar.add_task("marking", total=len(tasks))
        return grade(tasks, jobs=jobs, told=lambda done: bar.update(marking, completed=done))


def _print_class(rows: list[Any], chapter: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from spanlab.course.challenges import name_of
    from spanlab.course.feedback import number

    table = Table("learner", "status", *rows[0].marks, "points", title=name_of(chapter))
    for row in rows:
        marks = [number(mark.points) for mark in row.marks.values()]
        table.add_row(escape(_harmless(row.student)), row.status, *marks, f"{number(row.points)} of {row.max_points}")
    Console().print(table)
    for row in rows:
        for remark in row.remarks:
            print(f"{_harmless(row.student)}: {_harmless(remark)}.")


def _harmless(text: str) -> str:
    """A name or remark without characters that a terminal obeys, or that turn the order of what stands beside them."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", "\ufffd", text)


def _add_hand_out(commands: Any) -> None:
    pack = commands.add_parser("pack", help="a zip of the course to hand out, without solutions")
    pack.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="only these lessons and labs")
    pack.add_argument("-o", "--output", type=Path, default=Path("course.zip"), metavar="FILE.zip")
    pack.set_defaults(run=run_pack)
    solve = commands.add_parser(
        "solve", help="a copy of a notebook with the answers filled in and run, for the projector"
    )
    solve.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    solve.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    solve.set_defaults(run=run_solve)
    export = commands.add_parser("export", help="a lesson or lab as an assignment for another grader")
    export.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    export.add_argument(
        "--nbgrader", type=Path, required=True, metavar="FOLDER", help="the folder of an nbgrader course"
    )
    export.set_defaults(run=run_export)


def run_export(asked: argparse.Namespace) -> int:
    """`spanlab export`."""
    from spanlab.course.nbgrader import export
    from spanlab.course.notebook_form import NotebookProblem

    for notebook in asked.notebooks:
        try:
            target = export(notebook, asked.nbgrader)
        except NotebookProblem as problem:
            raise ValueError(str(problem)) from None
        print(f"{target}: written. Next, in {asked.nbgrader}: nbgrader generate_assignment {notebook.stem}")
    return 0


def run_pack(asked: argparse.Namespace) -> int:
    """`spanlab pack`."""
    from spanlab.course.hand_out import pack

    count = pack(asked.notebooks, asked.output)
    print(f"{asked.output}: {count} files, no solutions. Learners unpack it and run: python3 course.py")
    return 0


def run_solve(asked: argparse.Namespace) -> int:
    """`spanlab solve`."""
    from spanlab.course import notebooks

    return notebooks.main(["fill", "--run", "-o", str(asked.output), *map(str, asked.notebooks)])


def _add_report(commands: Any) -> None:
    report = commands.add_parser("report", help="your progress, as text or as a page")
    report.add_argument("-o", "--output", type=Path, metavar="FILE.html", help="write a page instead of text")
    report.set_defaults(run=run_report)


def run_report(asked: argparse.Namespace) -> int:
    """`spanlab report`."""
    from spanlab.course.grade_reports import page
    from spanlab.course.learner import progress
    from spanlab.course.outputs import refuse_if_not_writable

    overview = progress()
    if asked.output is None:
        print(overview)
    else:
        refuse_if_not_writable([asked.output])
        asked.output.write_bytes(page("My progress", f"<h1>My progress</h1>\n{overview.html()}"))
        print(f"{asked.output}: written")
    return 0


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="run a lab with other parameters and keep the result as a copy")
    run.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    run.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE", help="such as NODES=30")
    run.add_argument(
        "-o", "--output", type=Path, metavar="FILE.ipynb", help="where to (default: here, with the values in its name)"
    )
    run.set_defaults(run=run_parameters)


def run_parameters(asked: argparse.Namespace) -> int:
    """`spanlab run`."""
    from spanlab.course.parameters import run_with

    written = run_with(asked.notebook, asked.parameter, asked.output)
    print(f"{written}: written")
    return 0
