"""The notebook tool: one normal form, runs that repeat to the byte, text and back without loss, and rules that
catch."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.course.notebook_checks import check_notebook, words
from spanlab.course.notebook_form import VEGA_LITE, WIDGET, normal, read_notebook, slug_of, to_bytes, write_notebook
from spanlab.course.notebooks import main

ROOT = Path(__file__).resolve().parent.parent


def markdown(id_: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": id_, "metadata": {}, "source": source}


def code(id_: str, source: str, outputs: list[Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": metadata,
        "source": source,
        "outputs": outputs or [],
        "execution_count": None,
    }


def result(**data: Any) -> dict[str, Any]:
    bundle = {"text/plain": "'a picture'", **{name.replace("_", "/", 1): value for name, value in data.items()}}
    return {"output_type": "execute_result", "data": bundle, "metadata": {}, "execution_count": None}


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """An empty copy of the course, in a folder with a space in its name."""
    root = tmp_path / "my course"
    for folder in ("lessons", "labs", "solutions"):
        (root / folder).mkdir(parents=True)
    for name in ("course.py", "README.md"):
        (root / name).write_text("")
    return root


def save(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# ---- normal form ---------------------------------------------------------------------------------------------------

MESSY = notebook(
    markdown("0f3a9b2c", "# Title \r\n\r\ntext\r\n\n"),
    code(
        "0f3a9b2c",
        ["x = 1\n", "x"],
        [result()],
        collapsed=True,
        tags=["parameters"],
        execution={"iopub": 1},
        scrolled=0,
    ),
    code(
        "mine",
        "y",
        [result(**{WIDGET: {"model_id": "c0ffee" * 5, "version_major": 2}})],
        jupyter={"source_hidden": True},
    ),
    markdown("mine", "again"),
    kernelspec={"name": "conda-root"},
    language_info={"name": "python", "version": "3.12.1"},
    widgets={"state": {"c0ffee": {}}},
    papermill={"duration": 3.2},
    spanlab={"minutes": 30},
)


def test_fmt_writes_the_normal_form_once(course: Path) -> None:
    path = save(course / "lessons" / "07_x.ipynb", MESSY)
    assert main(["fmt", "--check", str(path)]) == 1
    assert main(["fmt", str(path)]) == 0
    first = path.read_bytes()
    assert main(["fmt", "--check", str(path)]) == 0
    assert main(["fmt", str(path)]) == 0
    assert path.read_bytes() == first
    assert b"\r" not in first
    assert first.endswith(b"}\n")
    kept = read_notebook(path)
    assert [cell["id"] for cell in kept["cells"]] == ["07-x-001", "07-x-002", "mine", "07-x-003"]
    assert [cell["metadata"] for cell in kept["cells"]] == [{}, {"tags": ["parameters"]}, {}, {}]
    assert kept["metadata"] == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "spanlab": {"minutes": 30},
    }
    assert kept["cells"][0]["source"] == "# Title \n\ntext"
    assert kept["cells"][2]["outputs"][0]["data"][WIDGET]["model_id"] == f"{1:032x}"


def test_pictures_that_jupyterlab_adds_to_charts_go(course: Path) -> None:
    chart = {VEGA_LITE: {"mark": "bar"}, "image/png": "iVBOR", "text/plain": "chart"}
    output = {
        "output_type": "display_data",
        "data": chart,
        "metadata": {VEGA_LITE: {"a": 1}, "image/png": {"width": 3}},
    }
    kept = normal(notebook(code("c", "x", [output])), "s")["cells"][0]["outputs"][0]
    assert set(kept["data"]) == {VEGA_LITE, "text/plain"}
    assert kept["metadata"] == {VEGA_LITE: {"a": 1}}


ids = st.sampled_from(["", "a b", "0f3a9b2c", "ch-1-1", "s-001", "s-002", "x" * 70, "ok_id"])
cells = st.one_of(
    st.builds(markdown, ids, st.text("ab# \r\n", max_size=12)),
    st.builds(code, ids, st.text("ab \n", max_size=12), tags=st.lists(st.sampled_from(["x"]), max_size=1)),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(cells, max_size=6))
def test_the_normal_form_of_a_normal_form_is_itself(some: list[dict[str, Any]]) -> None:
    once = normal(notebook(*some), "s")
    assert normal(copy.deepcopy(once), "s") == once
    assert len({cell["id"] for cell in once["cells"]}) == len(some)
    assert to_bytes(once) == to_bytes(json.loads(to_bytes(once)) | {}) or any(
        "\n" in c["source"] for c in once["cells"]
    )


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"cells": 3, "nbformat": 4}', '{"cells": [3], "nbformat": 4}', '{"nbformat": 3}']
)
@pytest.mark.parametrize("command", ["fmt", "run", "check"])
def test_a_file_that_is_no_notebook_is_one_sentence(
    course: Path, capsys: pytest.CaptureFixture[str], content: str, command: str
) -> None:
    path = course / "lessons" / "01_x.ipynb"
    path.write_text(content)
    assert main([command, str(path)]) == 1
    assert capsys.readouterr().out.count("\n") == 1
    assert path.read_text() == content


def test_slug() -> None:
    assert slug_of(Path("lessons/01_address.ipynb")) == "01-address"


# ---- text and back -------------------------------------------------------------------------------------------------

TEXT = """\
# ---
# jupyter:
#   spanlab:
#     minutes: 30
# ---

# %% [markdown] id="title"
# # 1 · Title
#
# Some *text* with a `code` word

# %% id="setup"
import spanlab as sl

# %% [markdown] id="ch-1-4-text" tags=["a", "b"]
# ## Challenge

# %% id="ch-1-4" spanlab={"challenge": "1.4"}
answer = ...
sl.check("1.4", answer)

# %% id="text-inside"
text = '''
# %% not a marker
'''
"""


def test_text_to_notebook_and_back(course: Path) -> None:
    source, path, again = course / "a.py", course / "lessons" / "01_a.ipynb", course / "b.py"
    source.write_text(TEXT)
    assert main(["apply", str(source), str(path)]) == 0
    assert main(["fmt", "--check", str(path)]) == 0
    assert main(["view", str(path), "-o", str(again)]) == 0
    assert again.read_text() == TEXT
    cell = read_notebook(path)["cells"][3]
    assert (cell["id"], cell["metadata"]) == ("ch-1-4", {"spanlab": {"challenge": "1.4"}})


def test_apply_keeps_outputs_of_what_did_not_change(course: Path) -> None:
    path = save(
        course / "lessons" / "01_a.ipynb",
        normal(
            notebook(code("one", "1", [result()]), code("two", "2", [result()]), code("nameless", "3", [result()])), "s"
        ),
    )
    source = course / "a.py"
    source.write_text('# %% id="two"\n2 + 2\n\n# %%\n3\n\n# %% id="one"\n1\n\n# %%\nnew\n')
    assert main(["apply", str(source), str(path)]) == 0
    kept = read_notebook(path)["cells"]
    assert [(cell["id"], len(cell["outputs"])) for cell in kept] == [
        ("two", 0),
        ("nameless", 1),
        ("one", 1),
        ("01-a-001", 0),
    ]


def test_apply_refuses_an_id_twice(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "a.py").write_text('# %% id="x"\n1\n\n# %% id="x"\n2\n')
    assert main(["apply", str(course / "a.py"), str(course / "lessons" / "01_a.ipynb")]) == 1
    assert "'x' stands on 2 cells" in capsys.readouterr().out


# ---- running -------------------------------------------------------------------------------------------------------

RUN = notebook(
    code("setup", "import os, sys\nimport ipywidgets\nprint('one')\nprint('two')"),
    code("widget", "ipywidgets.IntSlider()"),
    code("hash", "{'a', 'b', 'c', 'd', 'e'}, os.environ['PYTHONHASHSEED']"),
    code("empty", ""),
    code("error", "1 / 0", tags=["raises-exception"]),
    code("folder", "os.path.basename(os.getcwd())"),
    code("check", "import spanlab as sl\nsl.check('1.4', 4)"),
    code("progress", "sl.progress().points"),
)


def test_a_run_repeats_to_the_byte_and_leaves_no_trace(
    course: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complaints: Callable[[], list[str]]
) -> None:
    monkeypatch.setenv("SPANLAB_PROGRESS", str(tmp_path / "mine"))
    path = save(course / "lessons" / "01_a.ipynb", RUN)
    assert main(["run", str(path)]) == 0
    assert complaints() == []
    first = path.read_bytes()
    assert main(["run", str(path)]) == 0
    assert path.read_bytes() == first
    assert main(["fmt", "--check", str(path)]) == 0
    kept = {cell["id"]: cell for cell in read_notebook(path)["cells"]}
    assert [cell["execution_count"] for cell in kept.values()] == [1, 2, 3, None, 4, 5, 6, 7]
    assert kept["setup"]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]}]
    assert kept["widget"]["outputs"][0]["data"][WIDGET]["model_id"] == f"{1:032x}"
    assert kept["error"]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert kept["folder"]["outputs"][0]["data"]["text/plain"] == ["'lessons'"]
    assert kept["progress"]["outputs"][0]["data"]["text/plain"] == ["2.0"]
    assert not (tmp_path / "mine").exists()
    assert not (course / ".spanlab").exists()


def test_a_cell_that_fails_is_named_and_nothing_is_written(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(course / "lessons" / "01_a.ipynb", notebook(code("fine", "1"), code("bad", "x = {}\nx['key']")))
    before = path.read_bytes()
    assert main(["run", str(path)]) == 1
    assert "cell bad (x = {}) fails: KeyError: 'key'" in capsys.readouterr().out
    assert path.read_bytes() == before


# ---- filling answers in --------------------------------------------------------------------------------------------


def solved(answer: str) -> dict[str, Any]:
    return notebook(code("ch-1-4", f'answer = {answer}\nsl.check("1.4", answer)', spanlab={"challenge": "1.4"}))


def test_fill_takes_the_answers_and_drops_outputs(course: Path) -> None:
    path = save(course / "lessons" / "01_a.ipynb", solved("..."))
    save(course / "solutions" / "01_a.ipynb", solved("4"))
    before = path.read_bytes()
    assert main(["fill", str(path), "-o", str(course / "out")]) == 0
    filled = read_notebook(course / "out" / "01_a.ipynb")["cells"][0]
    assert (filled["source"], filled["outputs"], filled["execution_count"]) == (
        'answer = 4\nsl.check("1.4", answer)',
        [],
        None,
    )
    assert path.read_bytes() == before


def test_fill_refuses_in_place_and_without_solutions(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(course / "lessons" / "01_a.ipynb", solved("..."))
    assert main(["fill", str(path), "-o", str(course / "lessons")]) == 1
    assert "never filled in place" in capsys.readouterr().out
    assert main(["fill", str(path), "-o", str(course / "out")]) == 1
    assert "no cell 'ch-1-4'" in capsys.readouterr().out


# ---- the rules -----------------------------------------------------------------------------------------------------


def good_lesson() -> dict[str, Any]:
    """A lesson that keeps every rule, made of as little as the rules allow."""
    chart = {
        VEGA_LITE: {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "description": "Ten bars, one high"}
    }
    panel = {WIDGET: {"model_id": "1" * 32, "version_major": 2, "version_minor": 0}, **chart}
    prose = "word " * 130
    cells = [
        markdown("title", "# 1 · A key is an address\n\n[the course](../README.md)"),
        markdown("objectives", "## Goals\n\nAfter this lesson you can **sort** rows and **name** a split."),
        code("setup", "import spanlab as sl"),
        code("win", "sl.compare()", [result(**chart)]),
    ]
    for number in range(9):
        cells.append(markdown(f"idea-{number}", f"## Idea {number}\n\n*(so far: {3 * number + 2} of 30 min)* {prose}"))
        cells.append(code(f"try-{number}", f"{number} + 1"))
    for challenge in ("1.1", "1.2", "1.P1", "1.3", "1.4"):
        if challenge == "1.3":
            cells.append(code("panel", "sl.panel()", [result(**panel)]))
        id_ = "ch-" + challenge.replace(".", "-")
        cells.append(markdown(f"{id_}-text", f"### Challenge {challenge}"))
        cells.append(code(id_, f'answer = ...\nsl.check("{challenge}", answer)', spanlab={"challenge": challenge}))
    cells.append(markdown("takeaways", "## What you can do now\n\nYou can **sort** rows and **name** a split."))
    done = normal(notebook(*cells), "01-address")
    for count, cell in enumerate((c for c in done["cells"] if c["cell_type"] == "code"), start=1):
        cell["execution_count"] = count
    return normal(done, "01-address")


def cell_of(lesson: dict[str, Any], id_: str) -> dict[str, Any]:
    found: dict[str, Any] = next(cell for cell in lesson["cells"] if cell["id"] == id_)
    return found


def edit(id_: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda lesson: cell_of(lesson, id_).update(changes)


def add_text(id_: str, text: str) -> Callable[[dict[str, Any]], None]:
    def change(lesson: dict[str, Any]) -> None:
        cell_of(lesson, id_)["source"] += text

    return change


def output(id_: str, data: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return edit(id_, outputs=[{"output_type": "display_data", "data": data, "metadata": {}}])


def stream(name: str, text: str) -> Callable[[dict[str, Any]], None]:
    return edit("try-1", outputs=[{"output_type": "stream", "name": name, "text": text}])


def remove(id_: str) -> Callable[[dict[str, Any]], None]:
    return lambda lesson: lesson["cells"].remove(cell_of(lesson, id_))


def swap(first: int, second: int) -> Callable[[dict[str, Any]], None]:
    def change(lesson: dict[str, Any]) -> None:
        cells = lesson["cells"]
        cells[first], cells[second] = cells[second], cells[first]

    return change


ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "x", "traceback": []}
RULES: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (edit("win", id="0f3a9b2c"), "not in normal form"),
    (edit("win", metadata={"collapsed": True}), "not in normal form"),
    (edit("try-3", execution_count=None), "was not executed in order"),
    (edit("try-3", execution_count=99), "was not executed in order"),
    (edit("try-3", source="", execution_count=None), "empty code cell"),
    (edit("try-1", outputs=[ERROR]), "ends in KeyError"),
    (edit("try-1", metadata={"tags": ["raises-exception"]}), "raises nothing"),
    (edit("try-1", metadata={"tags": ["nbval-ignore-output"]}), "hides its outputs"),
    (stream("stderr", "Warning"), "stderr"),
    (stream("stdout", "<object at 0x7f1234567890>"), "differs from machine to machine"),
    (stream("stdout", "/home/me/x"), "differs from machine to machine"),
    (output("try-1", {"text/plain": "<X at 0x7f1234567890>"}), "differs from machine to machine"),
    (output("try-1", {"text/html": "<script>1</script>"}), "runs a script"),
    (output("try-1", {"text/html": '<img src="//cdn.example/x">'}), "from the network"),
    (output("try-1", {"text/html": "x https://cdn.jsdelivr.net/npm/vega"}), "from the network"),
    (
        output("try-1", {VEGA_LITE: {"description": "a b c d", "data": {"url": "https://x.org/d.json"}}}),
        "from the network",
    ),
    (output("try-1", {VEGA_LITE: {"mark": "bar"}}), "no description"),
    (output("try-1", {"image/png": "iVBOR"}), "as pixels"),
    (output("try-1", {"text/plain": "x" * 300_000}), "the limit is 300,000"),
    (edit("try-1", source="x = 1;"), "semicolon"),
    (edit("try-1", source="%pip install x"), "runs offline"),
    (edit("try-1", source="!ls"), "runs offline"),
    (edit("try-1", source="x = ("), "is not Python"),
    (edit("try-1", source="from ipywidgets import Output\nOutput()"), "calls Output; use a panel"),
    (edit("try-1", source="import ipywidgets\nipywidgets.interact(print)"), "calls interact"),
    (edit("try-1", source="sl.progress()"), "progress() shows every lesson"),
    (add_text("idea-1", "[x](../nowhere.ipynb)"), "leads nowhere"),
    (add_text("idea-1", "[x](#No-such-heading)"), "names no heading"),
    (add_text("idea-1", "[x](http://example.org)"), "is not https"),
    (add_text("idea-1", "![](../README.md)"), "without a text in its place"),
    (add_text("idea-1", "\n\n#### Deep"), "skips a level"),
    (add_text("idea-1", "\n\n# Again"), "second heading of the first level"),
    (edit("title", source="no heading"), "does not begin the page"),
    (remove("takeaways"), "no markdown cell has the id 'takeaways'"),
    (edit("takeaways", source="## Done\n\nYou can **sort**."), "do not come back: name"),
    (edit("objectives", source="## Goals\n\nnothing bold"), "no word is bold"),
    (remove("ch-1-P1"), "a panel that nobody had to predict"),
    (remove("ch-1-2"), "challenge 1.2 (Put it in order) has no cell here"),
    (edit("ch-1-2", id="ch-1-9"), "has the id 'ch-1-2'"),
    (edit("ch-1-2", metadata={"spanlab": {"challenge": "1.22"}}), "there is no challenge '1.22'"),
    (edit("ch-1-2", metadata={}), "its metadata lacks"),
    (edit("ch-1-2", source='answer = [1]\nsl.check("1.2", answer)'), "begins with `answer = ...`"),
    (edit("ch-1-2", source="answer = ..."), "does not end with"),
    (edit("idea-4", source="## Idea\n\n(so far: 1 of 30 min)" + " word" * 130), "the clock says 1 of 30 min after 11"),
    (edit("idea-4", source="## Idea\n\n(so far: 14 of 45 min)" + " word" * 130), "the clock says 14 of 45"),
    (edit("idea-4", source="## Idea"), "words; it should have"),
    (add_text("idea-4", " word" * 900), "words; it should have"),
    (lambda lesson: lesson.update(cells=lesson["cells"][:20] + lesson["cells"][-1:]), "21 cells; it should have 28"),
    (edit("panel", outputs=[]), "0 panels"),
]


def lesson_file(course: Path, lesson: dict[str, Any]) -> Path:
    path = course / "lessons" / "01_address.ipynb"
    path.write_bytes(to_bytes(lesson))
    return path


def test_a_good_lesson_has_no_complaint(course: Path) -> None:
    assert check_notebook(lesson_file(course, good_lesson())) == []
    assert main(["check", str(course / "lessons" / "01_address.ipynb")]) == 0


@pytest.mark.parametrize(
    ("change", "complaint"), [pytest.param(*rule, id=f"{i}-{rule[1][:24]}") for i, rule in enumerate(RULES)]
)
def test_each_rule_catches(course: Path, capsys: pytest.CaptureFixture[str], change: Any, complaint: str) -> None:
    lesson = good_lesson()
    change(lesson)
    path = lesson_file(course, lesson)
    assert any(complaint in line for line in check_notebook(path)), check_notebook(path)
    assert main(["check", str(path)]) == 1
    assert complaint in capsys.readouterr().out


def test_links_inside_the_notebook_and_to_others(course: Path) -> None:
    lesson = good_lesson()
    save(course / "lessons" / "02_b.ipynb", notebook(markdown("t", "# Two\n\n## The `second` part")))
    add_text("idea-1", " [a](#Idea-3) [b](02_b.ipynb#The-second-part) [c](https://cloud.google.com) `[d](nowhere)`")(
        lesson
    )
    assert check_notebook(lesson_file(course, lesson)) == []


def test_words_counts_prose_only() -> None:
    text = (
        "Two words, `code` counts.\n\n```sql\nSELECT not, counted\n```\n\n[a "
        "link](https://example.org/not/this) 1,800 | - |"
    )
    assert words(notebook(markdown("a", text), code("b", "not = 1"))) == 7


def test_writing_is_one_step(course: Path) -> None:
    path = course / "lessons" / "01_a.ipynb"
    assert write_notebook(path, normal(notebook(code("a", "1")), "s"))
    assert not write_notebook(path, normal(notebook(code("a", "1")), "s"))
    assert [p.name for p in path.parent.iterdir()] == ["01_a.ipynb"]


NOTEBOOKS = sorted(p for folder in ("lessons", "labs", "solutions") for p in (ROOT / folder).glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_notebook_of_the_course_keeps_the_rules(path: Path) -> None:
    assert check_notebook(path) == []


def test_the_course_has_notebooks() -> None:
    assert NOTEBOOKS
