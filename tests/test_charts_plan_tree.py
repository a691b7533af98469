"""The picture of a plan: complete, valid, the same at every run, and readable by everyone."""

from __future__ import annotations

import json
from itertools import pairwise

import altair as alt
import pytest

from spanlab.charts import style
from spanlab.charts.plan_tree import (
    BAR,
    FETCH,
    GROUNDS,
    HOP,
    MOST_ROWS,
    PLAIN,
    SCAN,
    SORT,
    WIDTH,
    Box,
    plan_trees,
)
from spanlab.charts.renderer import Spec

WORDS = {"caption": ["Made for a test."], "description": "two plans for a test"}
HEADING = ("SELECT 1", "one sentence")
BACK_JOIN = [
    Box("Distributed Union", 0, HOP, "a hop"),
    Box("Distributed Cross Apply", 1, HOP, "a hop"),
    Box("[Input] Local Sort", 2, SORT, "sorts"),
    Box("Index Scan on ByTime", 3, SCAN, "seek", 2_000, conditions="Seek Condition: ($BoughtAt >= @d)"),
    Box("[Map] Serialize Result", 2),
    Box("Table Scan on Purchases", 3, FETCH, "back-join", 1),
]
FULL = [Box("Distributed Union", 0, HOP), Box("Table Scan on Purchases", 1, SCAN, "full scan", 20_000, alarm=True)]


def chart() -> Spec:
    return plan_trees((HEADING, BACK_JOIN), (HEADING, FULL), **WORDS)


def boxes(number: int) -> list[dict]:
    return chart()["datasets"][f"boxes{number}"]


def walk(node):
    """Every dict in a specification."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def test_the_specification_with_its_data_is_valid() -> None:
    alt.Chart.from_dict(chart(), validate=True)


def test_it_is_plain_json_of_rounded_numbers_and_the_same_twice() -> None:
    text = json.dumps(chart(), allow_nan=False)
    assert json.loads(text) == chart()
    assert json.dumps(chart()) == text
    for rows in chart()["datasets"].values():
        for value in (value for row in rows for value in row.values()):
            assert not isinstance(value, float) or value == round(value, 5)


def test_every_text_and_line_has_a_colour_of_its_own() -> None:
    """The dark theme of JupyterLab would paint it white, on the white card."""
    marks = [node for node in walk(chart()) if isinstance(node.get("mark"), dict)]
    assert len(marks) == 12
    for node in marks:
        if node["mark"]["type"] in ("text", "rule"):
            assert "color" in node["mark"] or "color" in node["encoding"], node


def test_no_colour_stands_without_a_word() -> None:
    assert set(GROUNDS) == {SCAN, FETCH, HOP, SORT, PLAIN}
    assert len(set(GROUNDS.values())) == len(GROUNDS)
    for box in boxes(0):
        assert (box["word"] == "") == (box["kind"] == PLAIN)


def luminance(colour: str) -> float:
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", GROUNDS)
def test_the_names_stand_out_from_their_boxes(kind: str) -> None:
    ink = "#FFFFFF" if kind == SCAN else style.INK
    darker, lighter = sorted((luminance(ink), luminance(GROUNDS[kind])))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_a_box_stands_under_its_parent_and_further_to_the_right() -> None:
    for upper, lower in pairwise(boxes(0)):
        assert lower["top"] >= upper["bottom"]
    assert [box["left"] for box in boxes(0)] == [0, 13, 26, 39, 26, 39]


def test_each_box_but_the_first_has_an_elbow_to_the_box_it_belongs_to() -> None:
    lines = chart()["datasets"]["lines0"]
    assert len(lines) == 2 * (len(BACK_JOIN) - 1)
    down = lines[0::2]
    assert [(line["y"], line["y2"]) for line in down] == [(0.9, 1.5), (1.9, 2.5), (2.9, 3.5), (1.9, 4.5), (4.9, 5.5)]
    assert all(line["x"] == line["x2"] for line in down)
    assert all(line["y"] == line["y2"] for line in lines[1::2])


def test_only_scans_have_bars_and_all_begin_at_one_line_right_of_the_tree() -> None:
    bars = [box for number in (0, 1) for box in boxes(number) if "reads" in box]
    assert [box["reads"] for box in bars] == ["reads 2,000 rows", "fetches 1 row", "reads 20,000 rows"]
    assert len({box["from"] for box in bars}) == 1
    assert bars[0]["from"] > max(box["right"] for number in (0, 1) for box in boxes(number))
    lengths = [box["to"] - box["from"] for box in bars]
    assert lengths[2] == BAR > lengths[0] > lengths[1] > 0
    assert max(box["to"] for box in bars) < WIDTH
    assert [box["alarm"] for box in bars] == [False, False, True]


def test_more_rows_than_usual_keep_to_the_scale() -> None:
    (row,) = plan_trees((HEADING, [Box("Table Scan on T", 0, SCAN, "full scan", 50 * MOST_ROWS)]), **WORDS)["datasets"][
        "boxes0"
    ]
    assert row["to"] - row["from"] == BAR


def test_a_scan_of_nothing_has_no_length() -> None:
    (row,) = plan_trees((HEADING, [Box("Table Scan on T", 0, SCAN, "seek", 0)]), **WORDS)["datasets"]["boxes0"]
    assert row["to"] == row["from"]
    assert row["reads"] == "reads 0 rows"
