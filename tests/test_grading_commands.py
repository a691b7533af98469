"""The commands of the course as a person types them, with their exit codes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanlab.cli import main
from spanlab.course.extract import answer_in
from spanlab.course.notebook_form import challenge_cells, read_notebook

ROOT = Path(__file__).resolve().parent.parent


def book(*answers: tuple[str, str]) -> bytes:
    cells = [
        {
            "cell_type": "code",
            "id": f"ch-{id_.replace('.', '-')}",
            "metadata": {"spanlab": {"challenge": id_}},
            "source": f'answer = {text}\nsl.check("{id_}", answer)',
            "outputs": [],
            "execution_count": None,
        }
        for id_, text in answers
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


ORDER = '[(None, 5), ("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1)]'
TABLE = (
    '"CREATE TABLE PageHits (HitId UUID DEFAULT (NEW_UUID()), HitAt TIMESTAMP NOT NULL OPTIONS '
    "(allow_commit_timestamp = "
    'true), Path STRING(2048)) PRIMARY KEY (HitId)"'
)
FULL = (("1.1", "[1, 2, 3, 3, 4]"), ("1.2", ORDER), ("1.3", TABLE), ("1.4", "4"))


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small copy of the course, as the working folder."""
    root = tmp_path / "a course"
    for folder in ("lessons", "labs", "solutions", "spanlab/__pycache__", "tests", ".spanlab", ".git"):
        (root / folder).mkdir(parents=True)
    for name in (
        "course.py",
        "README.md",
        "spanlab/a.py",
        "spanlab/__pycache__/a.pyc",
        "tests/t.py",
        ".spanlab/progress.json",
    ):
        (root / name).write_text("x")
    (root / "lessons" / "01_address.ipynb").write_bytes(book(*((id_, "...") for id_, _ in FULL)))
    (root / "solutions" / "01_address.ipynb").write_bytes(book(*FULL))
    monkeypatch.chdir(root)
    monkeypatch.setenv("SPANLAB_PROGRESS", str(tmp_path / "progress"))
    return root


def test_check_says_what_is_missing_by_its_exit_code(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "mine.ipynb").write_bytes(book(*FULL[:3], ("1.4", "3")))
    assert main(["check", "mine.ipynb"]) == 1
    shown = capsys.readouterr().out
    assert "8 of 10 points" in shown
    assert "10,500" in shown
    (course / "mine.ipynb").write_bytes(book(*FULL))
    assert main(["check", "mine.ipynb"]) == 0
    for name, content, words in (
        ("nowhere", None, "no such file"),
        ("broken", b"{", "this is not a notebook"),
        ("old", b'{"nbformat": 3}', "format 4"),
        ("other", b'{"nbformat": 4, "cells": []}', "no challenge of the course"),
    ):
        if content is not None:
            (course / f"{name}.ipynb").write_bytes(content)
        assert main(["check", f"{name}.ipynb"]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"spanlab: {name}.ipynb: ")
        assert words in told
    assert main(["check", "lessons"]) == 2


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", str(2**32), "²"])
def test_a_seed_is_what_every_generator_takes(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "grade"):
        with pytest.raises(SystemExit):
            main([command, "x", f"--seed={seed}"])
        assert "no whole number from 0" in capsys.readouterr().err


def test_grade_writes_all_its_files(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    folder.mkdir()
    (folder / "ann.ipynb").write_bytes(book(*FULL))
    (folder / "bob.ipynb").write_bytes(b"nothing")
    files = ["--csv", str(out / "long.csv"), "--wide", str(out / "wide.csv"), "--json", str(out / "all.json")]
    assert main(["grade", str(folder), *files, "--feedback", str(out / "pages"), "--jobs", "1"]) == 0
    assert "10 of 10" in capsys.readouterr().out
    wide = (out / "wide.csv").read_text(encoding="utf-8-sig").splitlines()
    assert wide[0].startswith("student,file,status,1.1,1.2,1.3,1.4,points")
    assert wide[1].startswith("ann,ann.ipynb,ok,2.0,2.0,4.0,2.0,10.0,10,100.0")
    assert wide[2].startswith("bob,bob.ipynb,unreadable,0.0")
    assert len((out / "long.csv").read_bytes().splitlines()) == 1 + 2 * 4
    assert len(json.loads((out / "all.json").read_text())["submissions"]) == 2
    assert len(list((out / "pages").glob("*.html"))) == 3
    assert main(["grade", str(tmp_path / "nowhere")]) == 2
    assert main(["grade", str(folder), "--lesson", "Q"]) == 2


def test_grade_says_before_the_work_what_cannot_be_written(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.ipynb").write_bytes(book(*FULL))
    (tmp_path / "file").write_text("keep")
    monkeypatch.setattr("spanlab.course.workers.grade", lambda *_, **__: pytest.fail("marks first"))
    for arguments in (
        ["--csv", str(folder)],
        ["--csv", str(tmp_path / "file" / "x.csv")],
        ["--feedback", str(tmp_path / "file")],
        ["--csv", str(tmp_path / "x"), "--wide", str(tmp_path / "x")],
    ):
        assert main(["grade", str(folder), *arguments]) == 2
        assert str(tmp_path) in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "keep"


def test_grade_twice_into_the_folder_of_the_class(course: Path, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.ipynb").write_bytes(book(*FULL))
    out = ["--csv", str(folder / "out" / "long.csv"), "--feedback", str(folder / "pages"), "--jobs", "1"]
    assert main(["grade", str(folder), *out]) == 0
    first = (folder / "out" / "long.csv").read_bytes()
    assert main(["grade", str(folder), *out]) == 0
    assert (folder / "out" / "long.csv").read_bytes() == first
    assert len(list((folder / "pages").iterdir())) == 2


def test_pack_leaves_answers_tests_and_progress_out(course: Path) -> None:
    assert main(["pack", "-o", "out/hand out.zip"]) == 0
    first = (course / "out" / "hand out.zip").read_bytes()
    with zipfile.ZipFile(course / "out" / "hand out.zip") as archive:
        names = sorted(archive.namelist())
    assert names == [
        f"spanlab-course/{n}" for n in ("README.md", "course.py", "lessons/01_address.ipynb", "spanlab/a.py")
    ]
    assert main(["pack", "lessons/01_address.ipynb", "-o", "out/hand out.zip"]) == 0
    assert (course / "out" / "hand out.zip").read_bytes() == first


def test_pack_goes_by_the_lesson_that_is_named(
    course: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert main(["pack"]) == 2
    assert main(["pack", str(course / "lessons" / "01_address.ipynb"), "-o", "h.zip"]) == 0
    with zipfile.ZipFile(elsewhere / "h.zip") as archive:
        assert "spanlab-course/lessons/01_address.ipynb" in archive.namelist()


def test_pack_leaves_out_what_its_author_keeps_beside_the_lessons(course: Path) -> None:
    for name in ("lessons/notes.txt", "lessons/.draft.ipynb", "labs/old.zip", "spanlab/.x", "spanlab/b.pyc"):
        (course / name).write_text("answer = 4")
    (course / "lessons" / "link.png").symlink_to(course / "solutions" / "01_address.ipynb")
    (course / "lessons" / "tree.png").write_text("a picture")
    (course / "docs").mkdir()
    assert main(["pack", "-o", "docs/course.zip"]) == 0
    first = (course / "docs" / "course.zip").read_bytes()
    assert main(["pack", "-o", "docs/course.zip"]) == 0
    assert (course / "docs" / "course.zip").read_bytes() == first
    with zipfile.ZipFile(course / "docs" / "course.zip") as archive:
        names = {name.removeprefix("spanlab-course/") for name in archive.namelist()}
    assert names == {"README.md", "course.py", "lessons/01_address.ipynb", "lessons/tree.png", "spanlab/a.py"}


def bare(source: str, *outputs: str) -> bytes:
    """A notebook with one cell that has neither an id nor metadata."""
    told = [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": text}} for text in outputs]
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": told, "execution_count": 1}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bare('sl.check("1.4", 4)'), "challenge 1.4 is answered in it"),
        (bare('sl.check("1.4", f())'), "challenge 1.4 is answered in it"),
        (bare('sl.check("1.4", ...)', "○ 1.4 When do nodes help?: not attempted"), ""),
        (bare('sl.check("1.4", ...)', "✔ 1.4 When do nodes help?: passed"), "still tell how an answer did"),
        (bare('sl.check("1.4", ...)', "✘ 1.4 When do nodes help?: not yet"), "still tell how an answer did"),
        (bare('sl.reveal("1.4")', "✎ 1.4 When do nodes help?: one good answer"), "still tell how an answer did"),
        (b"{", "this is not a notebook"),
    ],
)
def test_pack_refuses_what_gives_an_answer_away(
    course: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    (course / "lessons" / "scratch.ipynb").write_bytes(content)
    assert main(["pack"]) == (2 if words else 0)
    assert words in capsys.readouterr().err


def test_the_real_hand_out_holds_no_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in a source nor in an output, and no file of solutions/, tests/ or .git."""
    monkeypatch.chdir(ROOT)
    assert main(["pack", "-o", str(tmp_path / "course.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "course.zip") as archive:
        tops = {name.split("/")[1] for name in archive.namelist()}
        notebooks = [json.loads(archive.read(n)) for n in archive.namelist() if n.endswith(".ipynb")]
    assert not tops & {"solutions", "tests", ".git", ".spanlab", ".venv", "benchmarks"}
    texts = [cell["source"] for notebook in notebooks for cell in notebook["cells"]]
    texts += [output.get("text", output.get("data", {}).get("text/plain", "")) for notebook in notebooks
              for cell in notebook["cells"] for output in cell.get("outputs", [])]  # fmt: skip
    handed = " ".join(" ".join("".join(text).split()) for text in texts)
    found = []
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        for id_, cell in challenge_cells(read_notebook(path)).items():
            answer = answer_in(cell["source"], id_)
            texts = [answer] if type(answer) is str else list(answer.values()) if type(answer) is dict else []
            long = [" ".join(text.split()) for text in texts if type(text) is str and len(text) > 40]
            found += [(id_, text) for text in long]  # a number or a letter stands everywhere
    assert len(found) > 10
    assert [id_ for id_, text in found if text in handed] == []


def test_pack_refuses_a_solved_lesson_and_foreign_files(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", "README.md"]) == 2
    assert "not a lesson or lab" in capsys.readouterr().err
    (course / "lessons" / "01_address.ipynb").write_bytes(book(*FULL))
    assert main(["pack"]) == 2
    assert "is answered in it" in capsys.readouterr().err


def test_solve_fills_and_runs_a_copy(course: Path) -> None:
    setup = {"cell_type": "code", "id": "setup", "metadata": {}, "source": "import spanlab as sl", "outputs": []}
    lesson = json.loads((course / "lessons" / "01_address.ipynb").read_bytes())
    lesson["cells"].insert(0, setup)
    (course / "lessons" / "01_address.ipynb").write_text(json.dumps(lesson))
    assert main(["solve", "lessons/01_address.ipynb", "-o", "projector"]) == 0
    cells = read_notebook(course / "projector" / "01_address.ipynb")["cells"]
    shown = ["".join(cell["outputs"][0]["data"]["text/plain"]) for cell in cells[1:]]
    assert [text.split(":")[1].splitlines()[0] for text in shown] == [" passed, 2 of 2 points"] * 2 + [
        " passed, 4 of 4 points",
        " passed, 2 of 2 points",
    ]
    assert not (course.parent / "progress").exists()


def test_report_as_text_and_as_page(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import spanlab as sl

    sl.check("1.4", 4)
    assert main(["report"]) == 0
    assert "A key is an address: 2 of 10" in capsys.readouterr().out
    assert main(["report", "-o", "mine.html"]) == 0
    page = (course / "mine.html").read_text(encoding="utf-8")
    assert "2 of 10" in page
    assert "default-src 'none'" in page
    assert main(["report", "-o", "README.md/x.html"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    (course.parent / "progress" / "progress.json").write_text("{")
    assert main(["report"]) == 0
    assert "set aside" in capsys.readouterr().out


def lab(course: Path, *extra: str) -> Path:
    sources = ["NODES = 3\nNAME = 'x'", "print(NODES * 2, NAME)", *extra]
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {"tags": ["parameters"]} if not i else {}, "source": source,
         "outputs": [], "execution_count": None}
        for i, source in enumerate(sources)
    ]  # fmt: skip
    path = course / "labs" / "a_x.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def printed(path: Path) -> Any:
    return [output["text"] for cell in read_notebook(path)["cells"] for output in cell.get("outputs", [])]


def test_run_with_parameters(course: Path, complaints: Callable[[], list[str]]) -> None:
    path = lab(course)
    before = path.read_bytes()
    assert main(["run", str(path), "-p", "NODES=30", "-p", "NAME=y=z"]) == 0
    assert complaints() == []  # nor has the kernel, a process of its own, anything to complain about
    assert printed(course / "a_x_NODES-30_NAME-y=z.ipynb") == [["60 y=z\n"]]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "NODE=30"], "Did you mean NODES?"),
        (["-p", "NODES"], "write NAME=VALUE"),
        (["-p", "NODES=many"], "NODES is of the kind int"),
        (["-p", "NODES=3", "-o", "labs/a_x.ipynb"], "choose another file"),
        (["-p", "NODES=3", "-o", "README.md/x.ipynb"], "cannot be written"),
        (["-p", "NODES=3", "-o", "labs"], "cannot be written"),
    ],
)
def test_run_refuses_what_papermill_would_swallow(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["run", str(lab(course)), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_run_names_its_copy_so_that_every_system_can_store_it(course: Path) -> None:
    assert main(["run", str(lab(course)), "-p", f"NAME=a/b:c*{'x' * 300}"]) == 0
    written = [path.name for path in course.glob("a_x_*.ipynb")]
    assert [name[:16] for name in written] == ["a_x_NAME-a-b-c-x"]
    assert len(written[0]) < 130


@pytest.mark.parametrize("name", ["nowhere.ipynb", "README.md", "labs"])
def test_run_of_what_is_no_notebook(course: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["run", name, "-p", "A=1"]) == 2
    assert f"spanlab: {name}: " in capsys.readouterr().err


def test_run_of_a_notebook_without_parameters(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lessons/01_address.ipynb", "-p", "A=1"]) == 2
    assert "no cell is tagged" in capsys.readouterr().err


def test_run_that_fails_is_a_sentence(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(lab(course, "1 / (NODES - 5)")), "-p", "NODES=5", "-o", "out.ipynb"]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err
