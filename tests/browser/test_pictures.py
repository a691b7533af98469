"""Every picture and panel, as it is seen: still, live, moved, in both themes, by those who do not see."""

from __future__ import annotations

import pytest
from everything import NOTEBOOKS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("pictures")]
PICTURES = "every_picture.ipynb"


def look(lab, notebook, folder):
    """Screenshots of all outputs; each must show exactly one picture."""
    sources = NOTEBOOKS[notebook]
    lab.wait_for_pictures(len(sources))
    for name, output in zip(sources, lab.outputs(), strict=True):
        assert output.locator("svg.marks").count() == 1, name
        lab.shot(f"{folder}/{name}", output)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_pictures_are_there_before_anything_is_run(lab, notebook):
    lab.open(notebook)
    look(lab, notebook, "still")
    assert lab.page.locator(".jupyter-widgets").count() == 0


@pytest.mark.parametrize(
    ("notebook", "theme"), [("every_move.ipynb", "Light"), (PICTURES, "Light"), (PICTURES, "Dark")]
)
def test_pictures_and_panels_live(lab, notebook, theme):
    lab.theme(f"JupyterLab {theme}")
    lab.open(notebook)
    lab.run_all()
    look(lab, notebook, theme.lower())
    found = lab.accessibility()
    lab.theme("JupyterLab Light")
    assert lab.errors() == []
    assert lab.complaints == []
    panels = [name for name in NOTEBOOKS[notebook] if name.startswith("panel")]
    assert lab.page.locator(".widget-vbox").count() == len(panels)
    assert found == {}


def test_a_notebook_of_yesterday_shows_its_pictures(lab, request):
    lab.open(PICTURES)
    lab.run_all()
    lab.save()
    lab = request.getfixturevalue("another_day")
    lab.open(PICTURES)
    lab.wait_for_pictures(len(NOTEBOOKS[PICTURES]))
    assert lab.page.get_by_text("model not found").count() == 0
