"""Gauges: a few figures of one state, each as a bar on a scale of its own.

Throughput, latency and the cost of a scan move against each other; side by side in one glance they show what a choice
buys and what it costs. A tick marks where each figure stood before the last change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from spanlab.charts.figure import Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, INK, PALE, VERMILLION


@dataclass(frozen=True)
class Gauge:
    """One figure: its name with unit, its value, the end of its scale, and its words. `alarm` paints it as a fault.

    `lowest` above 0 makes the scale logarithmic, from there to `top`: latencies span three powers of ten.
    """

    name: str
    value: float
    top: float
    words: str
    alarm: bool = False
    lowest: float = 0.0
    before: float | None = None

    def part(self, value: float) -> float:
        """Where a value stands on the scale, 0 to 1."""
        if self.lowest:
            value = math.log(max(value, self.lowest) / self.lowest)
            return min(1.0, value / math.log(self.top / self.lowest))
        return min(1.0, value / self.top)


def gauges(figures: Sequence[Gauge], *, title: str, subtitle: str, caption: list[str], description: str) -> Spec:
    """One bar for each figure, in the order given."""
    return fill(
        _shape(len(figures)),
        {"gauges": gauge_rows(figures)},
        headings=[(title, subtitle)],
        caption=caption,
        description=description,
    )


def gauge_rows(figures: Sequence[Gauge]) -> Rows:
    """The data of `gauge_bars`: one row for each figure."""
    rows: Rows = []
    for place, figure in enumerate(figures):
        row = {
            "place": place,
            "name": figure.name,
            "whole": 1,
            "part": round(figure.part(figure.value), 4),
            "words": figure.words,
            "alarm": figure.alarm,
        }
        if figure.before is not None:
            row["before"] = round(figure.part(figure.before), 4)
        rows.append(row)
    return rows


@cache
def _shape(rows: int) -> Spec:
    return shape([gauge_bars("gauges", rows)])


def gauge_bars(name: str, rows: int, *, width: int = 330, calm: str = BLUE) -> object:
    """So many gauges over the data set of this name, as a part of a figure. `calm` is the colour of those without an
    alarm."""
    import altair as alt

    data = alt.NamedData(name)
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False, offset=4))
    scale = alt.Scale(domain=[0, 1], nice=False)
    x, whole = alt.X("part:Q", scale=scale, axis=None), alt.X("whole:Q", scale=scale, axis=None)
    back = alt.Chart(data).mark_bar(color=PALE, aria=False, height=20).encode(y=y, x=whole)
    bar = (
        alt.Chart(data)
        .mark_bar(height=20)
        .encode(y=y, x=x, color=alt.condition("datum.alarm", alt.value(VERMILLION), alt.value(calm)))
    )
    tick = (
        alt.Chart(data)
        .mark_tick(color=INK, thickness=2, size=26, aria=False)
        .transform_filter("isValid(datum.before)")
        .encode(y=y, x=alt.X("before:Q", scale=scale, axis=None))
    )
    words = alt.Chart(data).mark_text(align="left", dx=8, fontSize=12, color=INK).encode(y=y, x=whole, text="words:N")
    return alt.layer(back, bar, tick, words).properties(width=width, height=36 * rows)
