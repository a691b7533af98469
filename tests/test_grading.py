"""Marks for a class: from the wrong-answer tables, in any order, with any number of workers, and when a worker
hangs."""

from __future__ import annotations

import html
import json
import os
import random
import re
import time
import zipfile
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from spanlab.course import grading, workers
from spanlab.course.answers import answers_in, chapter_in, chapter_named, chapter_of_class
from spanlab.course.challenge import PASSED, Challenge, Verdict, judge
from spanlab.course.grade_reports import cell, feedback_page, long_csv, overview_page, to_json, wide_csv
from spanlab.course.grading import Row, Task, graded_challenges, mark_here, one_row_each
from spanlab.course.submissions import Submission, find_submissions
from spanlab.course.workers import grade
from spanlab.course.workers import work as real_work

ROOT = Path(__file__).resolve().parent.parent
CHALLENGES = graded_challenges("1")
RIGHT: dict[str, Any] = {
    "1.1": [1, 2, 3, 3, 4],
    "1.2": [(None, 5), ("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1)],
    "1.3": "CREATE TABLE PageHits (HitId UUID NOT NULL DEFAULT (NEW_UUID()), HitAt TIMESTAMP NOT NULL "
    "OPTIONS (allow_commit_timestamp = true), Path STRING(2048)) PRIMARY KEY (HitId)",
    "1.4": 4,
}


def code(source: str, id_: str = "own", challenge: str = "") -> dict[str, Any]:
    metadata = {"spanlab": {"challenge": challenge}} if challenge else {}
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def book(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def answered(answers: dict[str, Any]) -> bytes:
    return book(
        *(
            code(
                f'answer = {"..." if value is ... else repr(value)}\nsl.check("{id_}", answer)',
                "ch-" + id_.replace(".", "-"),
                id_,
            )
            for id_, value in answers.items()
        )
    )


def hand_in(folder: Path, **books: bytes) -> list[Submission]:
    folder.mkdir(exist_ok=True)
    for name, content in books.items():
        (folder / f"{name}.ipynb").write_bytes(content)
    return find_submissions(folder)


def marked(folder: Path, **books: bytes) -> dict[str, Row]:
    return {s.student: mark_here(Task(s, "1")) for s in hand_in(folder, **books)}


# ---- a class -------------------------------------------------------------------------------------------------------


def class_of_thirty() -> dict[str, dict[str, Any]]:
    """Thirty learners who answer each challenge rightly, with a listed wrong answer, or not at all."""
    draw = random.Random(7)
    learners = {}
    for number in range(30):
        answers = {}
        for challenge in CHALLENGES:
            choices = [RIGHT[challenge.id], ..., *(wrong.example for wrong in challenge.wrong)]
            answers[challenge.id] = draw.choice(choices)
        learners[f"learner {number:02d}"] = answers
    return learners


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    folder = tmp_path_factory.mktemp("thirty")
    submissions = hand_in(folder, **{name: answered(answers) for name, answers in class_of_thirty().items()})
    return folder, grade([Task(s, "1") for s in submissions], jobs=2)


def test_marks_are_those_of_sl_check(thirty: tuple[Path, list[Row]]) -> None:
    rows = {row.student: row for row in thirty[1]}
    assert {row.status for row in thirty[1]} == {"ok"}
    for name, answers in list(class_of_thirty().items())[::4]:
        for challenge in CHALLENGES:
            verdict, mark = judge(challenge, answers[challenge.id]), rows[name].marks[challenge.id]
            assert (mark.state, mark.points, mark.diagnoses) == (verdict.state, verdict.points, verdict.diagnoses)
        assert 0 <= rows[name].points <= rows[name].max_points == 10


def outputs(rows: list[Row]) -> list[bytes]:
    return [long_csv(rows), wide_csv(rows), to_json(rows), overview_page(rows), *map(feedback_page, rows)]


def test_same_input_same_bytes_with_any_number_of_workers(thirty: tuple[Path, list[Row]]) -> None:
    folder, rows = thirty
    again = grade([Task(s, "1") for s in find_submissions(folder)], jobs=1)
    assert outputs(again) == outputs(rows)


def test_the_overview_counts_what_the_class_did(thirty: tuple[Path, list[Row]]) -> None:
    _, rows = thirty
    page = overview_page(rows).decode()
    passed = sum(answers["1.4"] == 4 for answers in class_of_thirty().values())
    row = re.search(r"1\.4 When do nodes help\?</td><td class=n>(\d+)<", page)
    assert row is not None
    assert int(row[1]) == passed
    # the commonest of the listed wrong answers stands in the table with as many learners as gave it
    given = Counter(a for answers in class_of_thirty().values() if (a := answers["1.4"]) not in (4, ...))
    mistake, diagnosed = max(given.items(), key=lambda pair: pair[1])
    words = next(w.say for c in CHALLENGES if c.id == "1.4" for w in c.wrong if w.example == mistake)
    assert f"{html.escape(words)}</td><td class=n>{diagnosed}<" in page
    assert page.count("learner ") >= 30
    lines = re.findall(r"missed by.*?</table>", page, re.DOTALL)
    missed = [int(n) for n in re.findall(r">(\d+) of \d+<", lines[0])]
    assert missed == sorted(missed, reverse=True)


def test_the_seed_is_handed_on_and_not_told_to_learners(tmp_path: Path) -> None:
    submissions = hand_in(tmp_path, ann=answered(RIGHT))
    rows = [mark_here(Task(s, "1", seed=4242)) for s in submissions]
    assert rows[0].points == 10
    assert b"4242" in long_csv(rows, 4242)
    assert b"4242" not in feedback_page(rows[0])


# ---- traps of other graders ----------------------------------------------------------------------------------------


def test_a_copied_cell_counts_the_last_that_parses(tmp_path: Path) -> None:
    def four(text: str) -> dict[str, Any]:
        return code(f"answer = {text}", "x", "1.4")

    rows = marked(tmp_path, a=book(four("3"), four("4")), b=book(four("4"), four("((")), c=book(four("4"), four("...")))
    assert [rows[s].marks["1.4"].points for s in "abc"] == [2, 2, 2]
    assert [rows[s].status for s in "abc"] == ["duplicate_answer", "partial", "partial"]


def test_a_deleted_cell_is_not_attempted(tmp_path: Path) -> None:
    row = marked(tmp_path, a=answered({"1.1": RIGHT["1.1"]}))["a"]
    assert (row.status, row.points) == ("partial", 2)
    assert row.remarks == ["no answer cell for 1.2, 1.3, 1.4"]


def test_a_cell_without_metadata_is_found_by_its_check(tmp_path: Path) -> None:
    row = marked(tmp_path, a=book(code('x = 2\nsl.check("1.4", x + 2)')))["a"]
    assert row.marks["1.4"].points == 2


def test_a_split_cell_keeps_its_answer(tmp_path: Path) -> None:
    row = marked(tmp_path, a=book(code("answer = 4", "ch-1-4", "1.4"), code('sl.check("1.4", answer)')))["a"]
    assert row.marks["1.4"].points == 2


def test_an_answer_in_a_new_cell_counts_where_the_old_one_is_open(tmp_path: Path) -> None:
    row = marked(tmp_path, a=book(code("answer = ...", "ch-1-4", "1.4"), code('sl.check("1.4", 4)')))["a"]
    assert row.marks["1.4"].points == 2


def test_a_cell_turned_to_markdown_is_missing(tmp_path: Path) -> None:
    cell_ = code("answer = 4", "ch-1-4", "1.4") | {"cell_type": "markdown"}
    assert marked(tmp_path, a=book(cell_, code("answer = 1", "ch-1-1", "1.1")))["a"].marks["1.4"].points == 0


def test_names_of_other_cells_do_not_leak(tmp_path: Path) -> None:
    row = marked(tmp_path, a=book(code("answer = 4"), code('sl.check("1.4", answer)', "ch-1-4", "1.4")))["a"]
    assert (row.status, row.marks["1.4"].state) == ("not_static", "not_static")


def test_input_in_a_cell_neither_blocks_nor_matters(tmp_path: Path) -> None:
    row = marked(tmp_path, a=book(code("name = input()\nanswer = 4", "ch-1-4", "1.4")))["a"]
    assert row.marks["1.4"].points == 2


def test_a_criterion_is_never_full_by_being_absent(tmp_path: Path) -> None:
    row = marked(tmp_path, a=answered({**RIGHT, "1.4": ...}))["a"]
    assert (row.marks["1.4"].points, row.points) == (0, 8)


def test_of_two_notebooks_the_better_counts(tmp_path: Path) -> None:
    for name, content in (("1.ipynb", answered(RIGHT)), ("2.ipynb", answered({"1.4": 3}))):
        (tmp_path / "ann").mkdir(exist_ok=True)
        (tmp_path / "ann" / name).write_bytes(content)
    rows = one_row_each([mark_here(Task(s, "1")) for s in find_submissions(tmp_path)])
    assert [(row.student, row.file, row.points) for row in rows] == [("ann", "1.ipynb", 10)]
    assert rows[0].remarks == ["2 notebooks were handed in under this name; '1.ipynb' counts"]


def test_notebooks_of_other_lessons_are_passed_over(tmp_path: Path) -> None:
    other = book(code("answer = 1", "ch-99-1", "99.1"))
    for name, content in (("ann/1.ipynb", answered(RIGHT)), ("ann/9.ipynb", other), ("bob/9.ipynb", other)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    rows = one_row_each([mark_here(Task(s, "1")) for s in find_submissions(tmp_path)])
    assert [(row.student, row.status, row.points, len(row.remarks)) for row in rows] == [
        ("ann", "ok", 10, 0),
        ("bob", "wrong_notebook", 0, 1),
    ]


def test_layouts_of_submissions(tmp_path: Path) -> None:
    content = answered(RIGHT)
    (tmp_path / "by_file.ipynb").write_bytes(content)
    for path in ("ann/lesson/01.ipynb", "bob/.ipynb_checkpoints/01.ipynb", "__MACOSX/x.ipynb", ".hidden/x.ipynb"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "elsewhere").symlink_to(ROOT / "lessons")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "by_file.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("carl_assignsubmission/01.ipynb", content)
        archive.writestr("dora.ipynb", content)
        archive.writestr("__MACOSX/dora.ipynb", content)
    assert [s.student for s in find_submissions(tmp_path)] == ["all", "all", "ann", "by_file"]
    assert [s.student for s in find_submissions(tmp_path / "all.zip")] == ["carl_assignsubmission", "dora"]
    assert [mark_here(Task(s, "1")).points for s in find_submissions(tmp_path / "all.zip")] == [10, 10]


def test_which_lesson(tmp_path: Path) -> None:
    assert chapter_in(answered(RIGHT)) == "1"
    assert chapter_in(book(code("x"))) is None
    assert chapter_of_class(hand_in(tmp_path, a=answered(RIGHT), b=b"broken")) == "1"
    for name in ("1", "lesson 1", "lesson_01", "01_address", "lessons/01_address.ipynb"):
        assert chapter_named(name) == "1"
    with pytest.raises(ValueError, match="there are: 1"):
        chapter_named("Z")
    with pytest.raises(ValueError, match="no notebook of a lesson"):
        chapter_of_class(hand_in(tmp_path / "empty", a=b"broken"))
    with pytest.raises(ValueError, match="holds no notebook"):
        find_submissions(ROOT / "spanlab" / "course" / "challenges")


def test_stub_notebook_of_the_course_scores_nothing_and_is_ok(tmp_path: Path) -> None:
    content = (ROOT / "lessons" / "01_address.ipynb").read_bytes()
    row = marked(tmp_path, fresh=content)["fresh"]
    assert (row.status, row.points) == ("ok", 0)
    assert {answer.status for answer in answers_in(content, CHALLENGES).values()} == {"open"}


# ---- workers that hang or die --------------------------------------------------------------------------------------


def treacherous_worker(connection: Connection) -> None:
    """A worker in which the answer 3 computes for ever, 5 ends Python, 7 waits for ever, and all others pass."""

    def judge_(challenge: Challenge, answer: object, **more: Any) -> Verdict:
        while answer == 3:
            pass
        if answer == 5:
            os._exit(3)
        if answer == 7:
            time.sleep(600)
        return Verdict(challenge, PASSED, float(challenge.points))

    grading.judge = judge_  # type: ignore[assignment]
    workers.CPU_SECONDS = 0.5
    real_work(connection)


def test_a_worker_that_hangs_or_dies_costs_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "work", treacherous_worker)
    monkeypatch.setattr(workers, "ANSWER_SECONDS", 5.0)
    values = {"computes": 3, "ends": 5, "waits": 7, "z": 4}
    books = {name: answered({**RIGHT, "1.4": value}) for name, value in values.items()}
    rows = {row.student: row for row in grade([Task(s, "1") for s in hand_in(tmp_path, **books)], jobs=2)}
    assert {name: row.points for name, row in rows.items()} == {"computes": 8, "ends": 8, "waits": 8, "z": 10}
    for name, words in (("computes", "took too long"), ("ends", "ended the process"), ("waits", "took too long")):
        assert (rows[name].status, rows[name].marks["1.4"].state) == ("unreadable", "unreadable")
        assert words in rows[name].remarks[0]
    assert rows["z"].status == "ok"


# ---- CSV -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\u200b=1", "\ufeff@x", "|cmd", "%x"]
)
def test_formulas_become_text(text: str) -> None:
    assert str(cell(text)).startswith("'")


@pytest.mark.parametrize("value", ["Ann", "O'Neil, Ann", "a=b", "", 3, 0.4, -1])
def test_other_values_stay(value: object) -> None:
    assert cell(value) == value


def test_csv_keeps_names_of_all_kinds(tmp_path: Path) -> None:
    names = ["Müller, Änne", 'the "q"', "שלום 🦉", "line\nbreak"]
    rows = [Row(name, "f.ipynb", "1") for name in names]
    import csv
    import io

    read = list(csv.reader(io.StringIO(wide_csv(rows).decode("utf-8-sig"), newline="")))
    assert [line[0] for line in read[1:]] == names
