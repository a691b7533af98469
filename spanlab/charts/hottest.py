"""The hottest splits, and what all splits commit together.

Sorted bars show at a glance whether load is even, or whether one key holds a split at its ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREY, INK, VERMILLION, thousands

MOST = 10
WIDTH = 520


def hottest_splits(
    writes: Sequence[float], *, ceiling: float, heading: Heading, caption: list[str], description: str
) -> Spec:
    """The ten splits with most writes/s arriving, against the ceiling of one split."""
    rows: Rows = [
        {"rank": rank, "writes": round(one), "full": one >= 0.98 * ceiling}
        for rank, one in enumerate(sorted(writes, reverse=True)[:MOST], 1)
    ]
    line = [{"ceiling": ceiling, "label": f"one split {thousands(ceiling)}"}]
    data = {"hottest": rows, "ceiling": line}
    return fill(_shape(), data, headings=[heading], caption=caption, description=description)


@cache
def _shape() -> Spec:
    import altair as alt

    ceiling = alt.NamedData("ceiling")
    y = alt.Y("writes:Q", title="writes/s that arrive at the split", axis=alt.Axis(format=",d", tickCount=6))
    bars = (
        alt.Chart(alt.NamedData("hottest"))
        .mark_bar()
        .encode(
            x=alt.X("rank:O", title="split, the hottest first", axis=alt.Axis(labelAngle=0, ticks=False)),
            y=y,
            color=alt.condition("datum.full", alt.value(VERMILLION), alt.value(BLUE)),
            tooltip=[alt.Tooltip("writes:Q", title="writes/s", format=",d")],
        )
    )
    rule = alt.Chart(ceiling).mark_rule(color=GREY, aria=False).encode(y="ceiling:Q")
    label = (
        alt.Chart(ceiling)
        .mark_text(align="left", dx=5, fontSize=11, color=INK)
        .encode(x=alt.value(WIDTH), y="ceiling:Q", text="label:N")
    )
    return shape([alt.layer(bars, rule, label).properties(width=WIDTH, height=200)])
