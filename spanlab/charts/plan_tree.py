"""A query plan as a tree of boxes, and a bar for each scan: how many rows it reads.

The tree is read from the inside out, so the bars stand at the boxes that are indented most. They are drawn on a
logarithmic scale, since plans of one question may read 1 row or 20,000; the words beside each bar have the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILLION, thousands

WIDTH, ROW = 700, 25
INDENT, LETTER, PADDING, GAP = 13, 6.1, 14, 30
BAR = 170
MOST_ROWS = 20_000
SCAN, FETCH, HOP, SORT, PLAIN = "scan", "fetch", "hop", "sort", "plain"
GROUNDS = {SCAN: BLUE, FETCH: ORANGE, HOP: SKY, SORT: PURPLE, PLAIN: PALE}


@dataclass(frozen=True)
class Box:
    """One operator: its name, how deep it stands, what kind it is, a word to notice, and the rows that it reads.

    `kind` is one of SCAN, FETCH (a scan that looks up the rows of index entries), HOP, SORT and PLAIN; `reads` is None
    for all but scans, `alarm` paints its bar as a fault; `conditions` are told when one points at the box.
    """

    name: str
    depth: int
    kind: str = PLAIN
    word: str = ""
    reads: int | None = None
    alarm: bool = False
    conditions: str = ""

    @property
    def left(self) -> int:
        """Where it begins, in pixels."""
        return INDENT * self.depth

    @property
    def right(self) -> int:
        """Where it ends; letters have no width until they are drawn, so it is an estimate on the large side."""
        return self.left + round(LETTER * len(self.name)) + PADDING


Tree = tuple[Heading, Sequence[Box]]


def plan_trees(*trees: Tree, caption: list[str], description: str) -> Spec:
    """One plan or several below each other, each with a heading; the bars of all have the same scale."""
    every = [box for _, boxes in trees for box in boxes]
    most = max([MOST_ROWS, *(box.reads or 0 for box in every)])
    bars_from = max(box.right + round(LETTER * len(box.word)) for box in every) + GAP
    data: dict[str, Rows] = {}
    for number, (_, boxes) in enumerate(trees):
        data[f"boxes{number}"] = [_row(place, box, most, bars_from) for place, box in enumerate(boxes)]
        data[f"lines{number}"] = _lines(boxes)
    return fill(
        _shape(tuple(len(boxes) for _, boxes in trees)),
        data,
        headings=[heading for heading, _ in trees],
        caption=caption,
        description=description,
    )


def _row(place: int, box: Box, most: int, bars_from: int) -> dict[str, Any]:
    row: dict[str, Any] = {"name": box.name, "kind": box.kind, "word": box.word, "conditions": box.conditions}
    row |= {"left": box.left, "right": box.right, "inside": box.left + PADDING // 2, "beside": box.right + 7}
    row |= {"top": place + 0.1, "bottom": place + 0.9, "middle": place + 0.5}
    if box.reads is not None:
        part = math.log1p(box.reads) / math.log1p(most)
        rows = f"{thousands(box.reads)} row{'s' * (box.reads != 1)}"
        row |= {"from": bars_from, "to": round(bars_from + part * BAR, 1), "alarm": box.alarm}
        row |= {"reads": f"{'fetches' if box.kind == FETCH else 'reads'} {rows}"}
    return row


def _lines(boxes: Sequence[Box]) -> Rows:
    """From each box but the first an elbow to the one above that it belongs to."""
    lines: Rows = []
    for place, box in enumerate(boxes):
        above = next((n for n in range(place - 1, -1, -1) if boxes[n].depth < box.depth), None)
        if above is None:
            continue
        x, y = INDENT * boxes[above].depth + 5, place + 0.5
        lines.append({"x": x, "x2": x, "y": above + 0.9, "y2": y})
        lines.append({"x": x, "x2": INDENT * box.depth, "y": y, "y2": y})
    return lines


@cache
def _shape(sizes: tuple[int, ...]) -> Spec:
    return shape([_view(number, rows) for number, rows in enumerate(sizes)], across=False, spacing=18)


def _view(number: int, rows: int) -> Any:
    import altair as alt

    boxes, lines = alt.NamedData(f"boxes{number}"), alt.NamedData(f"lines{number}")
    across, down = alt.Scale(domain=[0, WIDTH], nice=False), alt.Scale(domain=[rows, 0], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=across, axis=None)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=down, axis=None)

    elbows = (
        alt.Chart(lines).mark_rule(color=GREY, strokeWidth=1, aria=False).encode(x=x("x"), x2="x2", y=y("y"), y2="y2")
    )
    ground = alt.Color("kind:N", scale=alt.Scale(domain=list(GROUNDS), range=list(GROUNDS.values())), legend=None)
    shown = [alt.Tooltip("name:N", title="operator"), alt.Tooltip("word:N"), alt.Tooltip("conditions:N")]
    cards = (
        alt.Chart(boxes)
        .mark_rect(cornerRadius=4)
        .encode(x=x("left"), x2="right", y=y("top"), y2="bottom", color=ground, tooltip=shown)
    )
    white = alt.condition(f"datum.kind == '{SCAN}'", alt.value("white"), alt.value(INK))
    names = (
        alt.Chart(boxes)
        .mark_text(align="left", fontSize=11, aria=False)
        .encode(x=x("inside"), y=y("middle"), text="name:N", color=white)
    )
    words = (
        alt.Chart(boxes)
        .mark_text(align="left", fontSize=11, color=GREY)
        .encode(x=x("beside"), y=y("middle"), text="word:N")
    )
    reading = alt.Chart(boxes).transform_filter("isValid(datum.reads)")
    colour = alt.condition("datum.alarm", alt.value(VERMILLION), ground)
    bars = reading.mark_rect(aria=False).encode(x=x("from"), x2="to", y=y("top"), y2="bottom", color=colour)
    numbers = reading.mark_text(align="left", dx=6, fontSize=12, color=INK).encode(
        x=x("to"), y=y("middle"), text="reads:N"
    )
    return alt.layer(elbows, cards, names, words, bars, numbers).properties(width=WIDTH, height=ROW * rows)
