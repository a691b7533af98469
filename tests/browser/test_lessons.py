"""Every notebook of the course, as a learner opens it, runs it and answers in it."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(f"{path.parent.name}/{path.name}" for path in ROOT.glob("l[ea][sb]*/*.ipynb"))
LESSON_1 = "lessons/01_address.ipynb"
PICTURE = "application/vnd.vegalite.v5+json"


def stored_pictures(notebook: str) -> int:
    cells = json.loads((ROOT / notebook).read_text(encoding="utf-8"))["cells"]
    return sum(PICTURE in output.get("data", {}) for cell in cells for output in cell.get("outputs", []))


def test_there_are_notebooks():
    assert LESSON_1 in NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_opens_with_its_pictures_and_runs(lab, notebook):
    name, pictures = Path(notebook).stem, stored_pictures(notebook)
    lab.open(notebook)
    lab.wait_for_pictures(pictures)
    assert lab.page.locator("svg.marks").count() == pictures
    assert lab.page.locator(".jupyter-widgets").count() == 0
    lab.shot_cells(f"opened/{name}")
    lab.run_all()
    lab.wait_for_pictures(pictures)
    lab.shot_cells(f"run/{name}")
    assert lab.errors() == []
    assert lab.complaints == []
    assert lab.accessibility() == {}


def test_lesson_1_in_the_dark(lab):
    lab.theme("JupyterLab Dark")
    lab.open(LESSON_1)
    lab.run_all()
    lab.shot_cells("dark/lesson_1")
    found = lab.accessibility()
    lab.theme("JupyterLab Light")
    assert found == {}


def test_the_node_slider_does_not_move_a_time_key(lab):
    """27 steps to the right from 3 to 30 nodes, then to the end, 300; how long each takes is reported, not judged."""
    lab.open(LESSON_1)
    lab.run_all()
    panel = lab.panel()
    status = panel.get_by_role("status")
    panel.locator("svg.marks").wait_for()
    assert "1,800 of 12,000 writes/s commit; 1 of 3 servers works" in status.inner_text()
    lab.stopwatch()
    panel.locator(".noUi-handle").focus()
    for _ in range(27):
        lab.press("ArrowRight")
    assert "1,800 of 12,000 writes/s commit; 1 of 30 servers works" in status.inner_text()
    assert "Nodes 3 → 30: committed writes/s stay at 1,800." in status.inner_text()
    lab.press("End")
    assert "Nodes 3 → 300: committed writes/s stay at 1,800." in status.inner_text()
    assert panel.get_by_label("Nodes").input_value() == "300"
    drawn = lab.drawn()
    median, most = statistics.median(drawn), max(drawn)
    print(f"\nkey press to new picture: median {median:.0f} ms, most {most:.0f} ms, {len(drawn)} presses")


def test_nodes_help_a_random_key(lab):
    lab.open(LESSON_1)
    lab.run_all()
    panel = lab.panel()
    status = panel.get_by_role("status")
    panel.get_by_label("Key", exact=True).select_option("UUIDv4")
    lab.settle()
    assert "committed writes/s rise from 1,800 to 10," in status.inner_text()
    box = panel.get_by_label("Nodes")
    box.fill("4")
    box.press("Enter")
    lab.settle()
    assert "to 12,000;" in status.inner_text()
    assert panel.locator("path[aria-label*='server: 4']").count() == 1


def test_a_typed_number_moves_the_slider_to_itself(lab):
    """The stops are 1 to 30, 100 and 300; 200 is typed, and is a step between the last two."""
    lab.open(LESSON_1)
    lab.run_all()
    panel = lab.panel()
    box, handle = panel.get_by_label("Nodes"), panel.locator(".noUi-handle")
    box.fill("200")
    box.press("Enter")
    lab.settle()
    assert float(handle.get_attribute("aria-valuenow")) == 31
    assert float(handle.get_attribute("aria-valuemax")) == 32
    lab.shot("typed_between_stops", panel)
    handle.focus()
    for expected in ("100", "200", "300"):
        lab.page.keyboard.press("ArrowLeft" if expected == "100" else "ArrowRight")
        lab.settle()
        assert box.input_value() == expected
    assert float(handle.get_attribute("aria-valuenow")) == 32


def test_lesson_1_tells_wrong_from_right(lab):
    lab.open(LESSON_1)
    lab.run_cell("import spanlab as sl")
    said = lab.answer("1.4", 'answer = 3\nsl.check("1.4", answer)')
    assert "3 × 3,500 = 10,500" in said
    assert "0 of 2 points" in said
    said = lab.answer("1.4", 'answer = 4\nsl.check("1.4", answer)')
    assert "passed, 2 of 2 points" in said
    lab.shot("answered", lab.cell('check("1.4"'))
