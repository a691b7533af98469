"""The picture of what a query reads: its bars add up, its words say the same, and everybody can tell its colours."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from typing import Any

import altair as alt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.charts.gauges import Gauge
from spanlab.charts.reads import BASE, COLOURS, INDEX, WHOLE, Reads, reads

WORDS: dict[str, Any] = {
    "heading": ("Rows", "what they are"),
    "caption": ["Made for a test."],
    "description": "one bar for each of three plans",
}
CASES = [
    Reads("no index", whole_rows=20_000),
    Reads("plain", index_rows=2_000, base_rows=2_000),
    Reads("covering", index_rows=2_000),
]
COSTS = [Gauge("bytes", 108, 216, "108", before=54), Gauge("mutations", 8, 10, "8")]
CHARTS = {"three": reads(CASES, **WORDS), "with costs": reads(CASES[:2], whole=20_000, costs=COSTS, **WORDS)}


def walk(node: Any) -> Any:
    """Every dict in a specification."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


@pytest.mark.parametrize("name", CHARTS)
def test_it_is_a_valid_specification_of_plain_rounded_data(name: str) -> None:
    chart = CHARTS[name]
    alt.Chart.from_dict(chart, validate=True)
    assert json.loads(json.dumps(chart, allow_nan=False)) == chart
    for node in walk({key: value for key, value in chart.items() if key != "datasets"}):
        mark = node.get("mark")
        if isinstance(mark, dict) and mark["type"] in ("text", "rule"):
            assert "color" in mark  # the dark theme would paint it white on the white card


def test_the_parts_of_a_bar_stand_behind_one_another() -> None:
    bars = CHARTS["three"]["datasets"]["reads"]
    assert [(bar["name"], bar["kind"], bar["from"], bar["to"]) for bar in bars] == [
        ("no index", WHOLE, 0, 20_000),
        ("plain", INDEX, 0, 2_000),
        ("plain", BASE, 2_000, 4_000),
        ("covering", INDEX, 0, 2_000),
    ]
    totals = CHARTS["three"]["datasets"]["totals"]
    assert [total["words"] for total in totals] == ["20,000", "2,000 + 2,000", "2,000"]


counts = st.integers(0, 10**6)


@settings(deadline=None)
@given(st.lists(st.builds(Reads, st.uuids().map(str), counts, counts, counts), min_size=1, max_size=4))
def test_every_row_is_drawn_once(cases: list[Reads]) -> None:
    data = reads(cases, **WORDS)["datasets"]
    for place, case in enumerate(cases):
        bars = [bar for bar in data["reads"] if bar["place"] == place]
        assert sum(bar["rows"] for bar in bars) == case.total == data["totals"][place]["total"]
        assert all(left["to"] == right["from"] for left, right in pairwise(bars))
        assert data["totals"][place]["words"] == (" + ".join(f"{bar['rows']:,}" for bar in bars) or "0")


def test_the_line_of_the_whole_table_is_there_if_wanted() -> None:
    assert CHARTS["three"]["datasets"]["whole"] == []
    assert CHARTS["with costs"]["datasets"]["whole"] == [{"whole": 20_000, "label": "the whole table: 20,000"}]
    (scale,) = {node["x"]["scale"]["domain"][1] for node in walk(CHARTS["with costs"]) if "x2" in node}
    assert scale == 40_000  # twice the table: as much as an index with a fetch for each row can read


def test_costs_stand_on_scales_of_their_own_and_remember() -> None:
    assert CHARTS["with costs"]["datasets"]["costs"] == [
        {"place": 0, "name": "bytes", "whole": 1, "part": 0.5, "words": "108", "alarm": False, "before": 0.25},
        {"place": 1, "name": "mutations", "whole": 1, "part": 0.8, "words": "8", "alarm": False},
    ]
    assert "costs" not in CHARTS["three"]["datasets"]
    assert len(CHARTS["three"]["hconcat"]) == 1
    assert len(CHARTS["with costs"]["vconcat"]) == 2


# Machado, Oliveira and Fernandes (2009), on linear RGB
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_three_kinds_of_rows_differ_for_everybody(kind: str) -> None:
    def seen(colour: str) -> list[float]:
        linear = [(int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
        return [max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) ** (1 / 2.2) for row in BLINDNESS[kind]]

    for one, other in combinations(COLOURS.values(), 2):
        assert sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5 > 0.15
