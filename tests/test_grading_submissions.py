"""What people really hand in: archives of learning platforms, cells that an editor split, copied or renamed, names of
all kinds."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from spanlab.course import challenges, extract
from spanlab.course.answers import Answer, answers_in, chapter_in
from spanlab.course.challenge import OWN_FAULT, UNREADABLE, Challenge, Verdict
from spanlab.course.extract import answer_in
from spanlab.course.grade_reports import cell as csv_cell
from spanlab.course.grade_reports import page
from spanlab.course.grading import Task, graded_challenges, mark_here, one_row_each
from spanlab.course.notebook_form import challenge_cells, read_notebook
from spanlab.course.submissions import find_submissions
from spanlab.course.workers import grade

ROOT = Path(__file__).resolve().parent.parent


def code(source: str, id_: str | None = "own", challenge: str = "") -> dict[str, Any]:
    metadata = {"spanlab": {"challenge": challenge}} if challenge else {}
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }
    return cell if id_ is None else cell | {"id": id_}


def book(*cells: dict[str, Any], minor: int = 5) -> bytes:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}).encode()


def read(*cells: dict[str, Any]) -> dict[str, Answer]:
    return answers_in(book(*cells), graded_challenges("1"))


def four(source: str = "answer = 4") -> dict[str, Any]:
    return code(f'{source}\nsl.check("1.4", answer)', "ch-1-4", "1.4")


FOUR = book(four())


# ---- cells ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        'sl.check(" 1.4 ", 4)',
        'sl.check(challenge_id="1.4", answer=4)',
        'print(sl.check("1.4", 4))',
        'sl.check("1.4", 4).html()',
        'sl.check("1.4", 4), sl.check("1.1", ...)',
        'card: object = sl.check("1.4", 4)',
        'number = "1.4"\nsl.check(number, 4)',
        'answer = 4\ntry:\n    sl.check("1.4", answer)\nexcept ValueError:\n    pass',
        'if True:\n    sl.check("1.4", 4)',
        'sl.check?\nsl.check("1.4", 4)',
        'files = !ls\nsl.check("1.4", 4)',
        'answer = "4"\nanswer.strip()\nsl.check("1.4", 4)',
    ],
)
def test_whatever_sl_check_takes_is_found(source: str) -> None:
    """No id of a cell and no metadata helps here: Colab and old formats keep neither."""
    assert (read(code(source, None))["1.4"].status, read(code(source, None))["1.4"].value) == ("found", 4)


def test_an_id_in_small_letters_is_the_same_challenge() -> None:
    answers = answers_in(book(code('sl.check("b.2", 7)')), graded_challenges("B"))
    assert answers["B.2"].status == "found"


def test_a_text_is_not_changed_by_its_own_methods() -> None:
    assert read(code('answer = "x"\nprint(answer.upper())\nsl.check("1.3", answer)'))["1.3"].value == "x"


def test_a_list_under_two_names_is_changed_under_both() -> None:
    source = 'rows = [1, 2]\nanswer = rows\nrows.append(3)\nsl.check("1.1", answer)'
    assert read(code(source))["1.1"].status == "not_static"
    apart = 'rows = [1, 2]\nanswer = [1, 2]\nrows.append(3)\nsl.check("1.1", answer)'
    assert read(code(apart))["1.1"].value == [1, 2]


def test_of_two_checks_in_a_cell_the_last_counts_and_both_are_told() -> None:
    answer = read(four('answer = 3\nsl.check("1.4", answer)\nanswer = 4'))["1.4"]
    assert (answer.value, answer.twice) == (4, True)


def test_the_challenges_own_cell_counts_and_a_try_elsewhere_is_told(tmp_path: Path) -> None:
    """Somebody who tries a worse answer further down, to see what happens, loses nothing."""
    answer = read(four(), code('sl.check("1.4", 3)'), code('sl.check("1.4", 4)'), code('sl.check("1.4", 6)'))["1.4"]
    assert (answer.value, answer.twice, answer.elsewhere) == (4, False, True)
    assert not read(four(), code('sl.check("1.4", 4)'))["1.4"].elsewhere
    lay(tmp_path, {"ann.ipynb": book(four("answer = 3"), code('sl.check("1.4", 4)'))})
    row = mark_here(Task(find_submissions(tmp_path)[0], "1"))
    assert row.remarks[-1] == "1.4 is answered in another cell as well; the challenge's own cell counts"


def test_without_any_mark_of_its_own_cell_the_last_check_counts_and_all_are_told() -> None:
    answer = read(code('sl.check("1.4", 3)', None), code('sl.check("1.4", 4)', None))["1.4"]
    assert (answer.value, answer.twice) == (4, True)


def test_a_copy_that_now_serves_another_challenge_spoils_neither() -> None:
    """Editors copy a cell with its metadata: the copy says 1.3 and checks 1.4."""
    own = code('answer = "CREATE"\nsl.check("1.3", answer)', "ch-1-3", "1.3")
    copy = code('answer = 4\nsl.check("1.4", answer)', "x", "1.3")
    answers = read(own, copy, four("answer = ..."))
    assert (answers["1.3"].value, answers["1.3"].twice) == ("CREATE", False)
    assert answers["1.4"].value == 4


def test_a_cell_that_was_split_is_read_as_one() -> None:
    """JupyterLab leaves the metadata on both parts."""
    parts = (code("n = 2", "a", "1.4"), code('answer = 2 * n\nsl.check("1.4", answer)', "ch-1-4", "1.4"))
    assert read(*parts)["1.4"].value == 4


def test_two_cells_that_were_merged_keep_both_answers() -> None:
    source = 'answer = "CREATE"\nsl.check("1.3", answer)\n\nanswer = 4\nsl.check("1.4", answer)'
    answers = read(code(source, "ch-1-3", "1.3"))
    assert (answers["1.3"].value, answers["1.4"].value) == ("CREATE", 4)


def test_a_cell_with_a_syntax_error_is_found_by_its_text() -> None:
    answer = read(code('answer = (4\nsl.check("1.4", answer)', None))["1.4"]
    assert answer.status == "unreadable"
    assert "never closed" in answer.reason


def test_line_ends_of_an_old_mac_are_line_ends() -> None:
    assert read(code('answer = 4\rsl.check("1.4", answer)\r'))["1.4"].value == 4
    assert read(code("answer = 4\rx = (\r)))", "ch-1-4"))["1.4"].status == "unreadable"


def test_lists_in_lists_by_names_are_refused_as_too_deep() -> None:
    lines = ["a0 = [0]", *(f"a{i} = [a{i - 1}]" for i in range(1, 990)), 'sl.check("1.1", a989)']
    assert "nested" in read(code("\n".join(lines)))["1.1"].reason


def test_notebooks_of_format_4_2_have_no_ids() -> None:
    content = book(code('answer = 4\nsl.check("1.4", answer)', None), minor=2)
    assert answers_in(content, graded_challenges("1"))["1.4"].value == 4
    assert chapter_in(content) == "1"


def test_the_lesson_is_guessed_without_reading_python_or_loading_a_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guess is made before there is a worker with limits, and a cell can be made to take half a second to read."""
    monkeypatch.setattr(extract, "parse_cell", lambda source: pytest.fail("reads Python"))
    monkeypatch.setattr(challenges.importlib, "import_module", lambda name: pytest.fail(f"loads {name}"))
    assert chapter_in(book(code("# check"), code('sl.check("1.4", 4)'))) == "1"
    assert chapter_in(FOUR) == "1"


@pytest.mark.parametrize("path", sorted((ROOT / "solutions").glob("*.ipynb")), ids=lambda path: path.stem)
def test_cells_that_try_other_answers_do_not_spoil_a_whole_notebook(path: Path) -> None:
    """The notebooks of solutions/ show in further cells what the tempting answers would have earned."""
    content = path.read_bytes()
    cells = challenge_cells(read_notebook(path))
    answers = answers_in(content, graded_challenges(chapter_in(content) or ""))
    assert answers
    for id_, answer in answers.items():
        assert (answer.status, answer.value) == ("found", answer_in(cells[id_]["source"], id_))


# ---- folders and archives ------------------------------------------------------------------------------------------

DAMAGED = b"PK\x03\x04" + b"\0" * 50


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def zipped(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, inside in files.items():
            archive.writestr(name, inside)
    return content.getvalue()


def points(place: Path) -> dict[str, float]:
    rows = one_row_each([mark_here(Task(s, "1")) for s in find_submissions(place)])
    return {row.student: row.points for row in rows}


def test_a_zip_of_zips(tmp_path: Path) -> None:
    """Learning platforms zip what learners hand in, and learners hand in zips."""
    inner = zipped({"work/01_address.ipynb": FOUR})
    files = {"Ann_1_file_/x.zip": inner, "Bob_2_file_/01.ipynb": FOUR, "cyd.zip": inner, "Dan_4_file_/x.zip": DAMAGED}
    lay(tmp_path, {"class.zip": zipped(files)})
    assert points(tmp_path / "class.zip") == {"Ann_1_file_": 2, "Bob_2_file_": 2, "cyd": 2, "Dan_4_file_": 0}


def test_zips_that_swell_in_a_zip_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ann/x.zip", b"0" * 3_000_000)
        archive.writestr("bob/x.zip", zipped({"01.ipynb": FOUR}))
    (tmp_path / "class.zip").write_bytes(bomb.getvalue())
    monkeypatch.setattr("spanlab.course.submissions.MAX_INNER_ZIP", 1_000_000)
    assert points(tmp_path / "class.zip") == {"ann": 0, "bob": 2}
    monkeypatch.setattr("spanlab.course.submissions.MAX_UNPACKED", 100)
    assert points(tmp_path / "class.zip") == {"ann": 0, "bob": 0}


def test_the_only_zip_in_the_folder_is_that_of_the_class(tmp_path: Path) -> None:
    files = {"Ann_1_file_/01.ipynb": FOUR, "Bob_2_file_/01.ipynb": FOUR}
    assert points(lay(tmp_path, {"download.zip": zipped(files)})) == {"Ann_1_file_": 2, "Bob_2_file_": 2}


@pytest.mark.parametrize("above", ["handed_in", "course/handed_in"])
def test_a_folder_around_all_learners_is_nobody(tmp_path: Path, above: str) -> None:
    files = {f"{above}/ann/01.ipynb": FOUR, f"{above}/bob/01.ipynb": FOUR}
    assert points(lay(tmp_path / "class", files)) == {"ann": 2, "bob": 2}
    lay(tmp_path, {"class.zip": zipped(files)})
    assert points(tmp_path / "class.zip") == {"ann": 2, "bob": 2}


def test_a_learners_own_folders_are_one_learner(tmp_path: Path) -> None:
    assert points(lay(tmp_path, {"ann/lesson/01.ipynb": FOUR, "ann/lesson/2.ipynb": FOUR})) == {"ann": 2}
    assert points(lay(tmp_path, {"bob/lessons/01.ipynb": FOUR, "bob/labs/a.ipynb": FOUR})) == {"ann": 2, "bob": 2}


def test_how_many_notebooks_lie_under_a_name_is_told(tmp_path: Path) -> None:
    """Thirty files in one folder may well be thirty learners; the row says what happened."""
    lay(tmp_path, {f"group/{name}.ipynb": FOUR for name in ("ann", "bob", "cyd")})
    rows = one_row_each([mark_here(Task(s, "1")) for s in find_submissions(tmp_path)])
    assert rows[0].remarks[-1] == "3 notebooks were handed in under this name; 'cyd.ipynb' counts"


def test_a_learner_without_a_notebook_has_a_row(tmp_path: Path) -> None:
    files = {"ann/01.ipynb": FOUR, "bob/essay.pdf": b"%PDF", "bob/notes.txt": b"x", "cyd/01.ipynb.txt": FOUR}
    lay(tmp_path, files | {"dan/.ipynb_checkpoints/01.ipynb": FOUR, "eve.zip": zipped({"essay.pdf": b"%PDF"})})
    rows = [mark_here(Task(s, "1")) for s in find_submissions(tmp_path)]
    found = {row.student: (row.file, row.status, row.points) for row in rows}
    assert found == {
        "ann": ("01.ipynb", "partial", 2),
        "bob": ("essay.pdf", "unreadable", 0),
        "cyd": ("01.ipynb.txt", "partial", 2),
        "eve": ("essay.pdf", "unreadable", 0),
    }


def test_what_marking_wrote_was_not_handed_in(tmp_path: Path) -> None:
    lay(tmp_path, {"ann/01.ipynb": FOUR, "pages/index.html": b"x", "marks/long.csv": b"x"})
    found = find_submissions(tmp_path, [tmp_path / "pages", tmp_path / "marks" / "long.csv"])
    assert [submission.student for submission in found] == ["ann"]


def test_a_name_is_one_name_however_its_letters_are_stored(tmp_path: Path) -> None:
    """A Mac stores ü as u and two dots; a list of the class does not."""
    name = "Änne Müller"
    lay(tmp_path, {f"{unicodedata.normalize('NFD', name)}/01.ipynb": FOUR})
    assert points(tmp_path) == {name: 2}


def test_names_in_a_zip_that_does_not_say_that_they_are_utf_8(tmp_path: Path) -> None:
    content = zipped({"M\u00fcller/01.ipynb": FOUR})
    assert content.count(b"M\xc3\xbcller") == 2
    silent = bytearray(content)
    for head in (b"PK\x03\x04", b"PK\x01\x02"):  # take the mark for UTF-8 away, as the Mac's own program does
        at = content.index(head) + (6 if head == b"PK\x03\x04" else 8)
        silent[at + 1] &= ~0x08
    (tmp_path / "class.zip").write_bytes(bytes(silent))
    assert points(tmp_path / "class.zip") == {"Müller": 2}


# ---- nothing that was handed in runs, and the same input gives the same bytes --------------------------------------

SCRIPT = "import sys\nfrom spanlab.cli import main\nif __name__ == '__main__':\n    sys.exit(main(sys.argv[1:]))\n"


def spanlab(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The installed command, started in a folder of submissions."""
    program = folder.parent / "spanlab-command.py"
    program.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | settings
    return subprocess.run(
        [sys.executable, str(program), *arguments], cwd=folder, env=environment, capture_output=True, text=True,
        encoding="utf-8", errors="replace", timeout=120,
    )  # fmt: skip


def test_a_module_of_pythons_own_name_beside_the_notebooks_is_not_loaded(tmp_path: Path) -> None:
    """A worker is a new Python, and a new Python looks for `threading` in the working folder first."""
    touch = f"open({str(tmp_path / 'TOUCHED')!r}, 'w')\n"
    names = ("threading", "pickle", "socket", "runpy", "numpy", "sitecustomize", "json", "random")
    folder = lay(tmp_path / "class", {"ann.ipynb": FOUR} | {f"{name}.py": touch.encode() for name in names})
    done = spanlab(folder, "grade", ".", "--jobs", "1")
    assert not (tmp_path / "TOUCHED").exists()
    assert "2 of 10" in done.stdout, done.stderr


def test_a_set_is_written_the_same_by_every_worker(tmp_path: Path) -> None:
    words = '{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}'
    lay(tmp_path, {f"{n}.ipynb": book(four(f"answer = {words}")) for n in range(2)})
    found = [Task(s, "1") for s in find_submissions(tmp_path)]
    rows = [grade([task])[0] for task in found]  # a worker of its own for each
    assert len({row.marks["1.4"].answer for row in rows}) == 1


# ---- what an instructor sees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_name_can_be_printed_anywhere_and_none_commands_the_terminal(tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "class"
    lay(folder, {"a\x1b[2Jx.ipynb": FOUR, "\u202ereversed 🦉 שלום.ipynb": FOUR})
    with contextlib.suppress(OSError):  # not every file system has names that are no UTF-8
        (folder / os.fsdecode(b"caf\xe9.ipynb")).write_bytes(FOUR)
    done = spanlab(folder, "grade", ".", "--jobs", "1", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert done.stdout.count("2 of 10") >= 2


@pytest.mark.parametrize("text", ["x;=1+1", "x\t=1", "ok\r\n@x", "x; +1", "\uff1d1+1", "x;\uff0b1"])
def test_no_formula_begins_after_what_other_countries_take_for_the_next_cell(text: str) -> None:
    shown = str(csv_cell(text))
    assert not re.search(r"(^|[;\t\r\n])\s*[=+@\uff1d\uff0b-]", shown)
    assert shown.replace("'", "") == text


def test_letters_that_turn_the_order_are_shown_as_such() -> None:
    shown = page("\u202etitle", "<p>\u2066DROP\u2069 \u202ebody</p>").decode()
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)


def test_a_check_that_fails_by_itself_is_told_in_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge_(challenge: Challenge, answer: object, **more: Any) -> Verdict:
        return Verdict(challenge, UNREADABLE, message=f"The check itself failed (KeyError: 1). {OWN_FAULT}")

    monkeypatch.setattr("spanlab.course.grading.judge", judge_)
    lay(tmp_path, {"ann.ipynb": FOUR})
    row = mark_here(Task(find_submissions(tmp_path)[0], "1"))
    assert row.remarks[-1] == "1.4: the check itself failed, so this mark means nothing"


def test_a_computed_answer_is_told_what_to_write(tmp_path: Path) -> None:
    lay(tmp_path, {"ann.ipynb": book(four("answer = int(4)"))})
    row = mark_here(Task(find_submissions(tmp_path)[0], "1"))
    assert "int(4)" in row.marks["1.4"].message
    assert "write the value itself" in row.marks["1.4"].message
