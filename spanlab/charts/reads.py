"""Reads: how many rows a query touches, and where they lie.

Three kinds of rows make up the price of a query: entries that are read in an index, rows that are then fetched from the
base table because the entries lack a column, and rows of a scan over the whole table. One bar for each way to answer
the query, in these three parts; below it, if wanted, what the index costs in space and writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.gauges import Gauge, gauge_bars, gauge_rows
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREEN, GREY, INK, VERMILLION, thousands

INDEX, BASE, WHOLE = "index rows read", "base rows fetched", "table rows scanned"
COLOURS = {INDEX: BLUE, BASE: VERMILLION, WHOLE: GREY}
WIDTH, HEIGHT = 430, 40


@dataclass(frozen=True)
class Reads:
    """What one way to answer a query reads, in rows. `words` is said behind its bar, by default the figures."""

    name: str
    index_rows: int = 0
    base_rows: int = 0
    whole_rows: int = 0
    words: str = ""

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """The kinds of rows with their numbers, those that are not read left out."""
        counts = ((INDEX, self.index_rows), (BASE, self.base_rows), (WHOLE, self.whole_rows))
        return tuple((kind, rows) for kind, rows in counts if rows)

    @property
    def total(self) -> int:
        """All rows that are touched."""
        return self.index_rows + self.base_rows + self.whole_rows

    @property
    def said(self) -> str:
        """The figures in words: "2,000 + 2,000"."""
        return self.words or " + ".join(thousands(rows) for _, rows in self.parts) or "0"


def reads(
    cases: Sequence[Reads],
    *,
    whole: int = 0,
    costs: Sequence[Gauge] = (),
    heading: Heading,
    caption: list[str],
    description: str,
) -> Spec:
    """One bar for each case. `whole` draws a line at so many rows, those of the table; `costs` are bars below."""
    bars: Rows = []
    for place, case in enumerate(cases):
        at = 0
        for kind, rows in case.parts:
            bars.append({"place": place, "name": case.name, "kind": kind, "rows": rows, "from": at, "to": at + rows})
            at += rows
    data: dict[str, Rows] = {
        "reads": bars,
        "totals": [
            {"place": place, "name": case.name, "total": case.total, "words": case.said}
            for place, case in enumerate(cases)
        ],
        "whole": [{"whole": whole, "label": f"the whole table: {thousands(whole)}"}] if whole else [],
    }
    if costs:
        data["costs"] = gauge_rows(costs)
    empty = _shape(len(cases), 2 * whole, len(costs))
    headings: list[Heading | None] = [heading, None] if costs else [heading]
    return fill(empty, data, headings=headings, caption=caption, description=description)


@cache
def _shape(cases: int, top: int, costs: int) -> Spec:
    """`top` is the end of the axis, 0 for as long as the bars need."""
    import altair as alt

    bars, totals, whole = (alt.NamedData(name) for name in ("reads", "totals", "whole"))
    under = HEIGHT * cases + 44  # below the axis: at the bottom of the figure it would belong to the costs
    order = alt.EncodingSortField("place", op="min", order="ascending")
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False, offset=4))
    scale = alt.Scale(domain=[0, top], nice=False) if top else alt.Scale()
    x = alt.X("from:Q", title="rows read", scale=scale, axis=alt.Axis(format=",d", tickCount=5))
    bar = (
        alt.Chart(bars)
        .mark_bar(height=22)
        .encode(
            y=y,
            x=x,
            x2="to",
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                legend=alt.Legend(title=None, orient="none", direction="horizontal", legendX=0, legendY=under),
            ),
            tooltip=["name:N", "kind:N", alt.Tooltip("rows:Q", format=",d")],
        )
    )
    words = (
        alt.Chart(totals)
        .mark_text(align="left", dx=7, fontSize=12, color=INK, aria=False)
        .encode(y=y, x=alt.X("total:Q", scale=scale), text="words:N")
    )
    rule = (
        alt.Chart(whole)
        .mark_rule(color=INK, strokeDash=[6, 4], aria=False)
        .encode(x=alt.X("whole:Q", scale=scale), tooltip="label:N")
    )
    name = (
        alt.Chart(whole)
        .mark_text(align="left", dx=5, dy=-6, fontSize=11, color=INK)
        .encode(x=alt.X("whole:Q", scale=scale), y=alt.value(0), text="label:N")
    )
    above = alt.layer(bar, rule, words, name).properties(width=WIDTH, height=HEIGHT * cases)
    if not costs:
        return shape([above])
    return shape([above, gauge_bars("costs", costs, width=WIDTH, calm=GREEN)], across=False, spacing=48)
