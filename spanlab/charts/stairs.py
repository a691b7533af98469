"""Stairs: what each step of a choice buys, and what it costs.

One pair of bars for each step, such as a number of shards: on the left what is committed, against the offered load; on
the right the cost on the other side, such as the ranges that a scan must visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREEN, INK, VERMILLION, rounded, thousands


@dataclass(frozen=True)
class Step:
    """One step: its name, what it commits (writes/s), and its cost."""

    name: str
    committed: float
    cost: float


def stairs(
    steps: Sequence[Step], *, offered: float, step: str, cost: str, title: str, caption: list[str], description: str
) -> Spec:
    """Committed writes and cost of each step. `step` and `cost` name the two axes, with their units."""
    rows: Rows = [
        {
            "order": order,
            "step": one.name,
            "committed": round(one.committed),
            "label": rounded(one.committed),
            "short": one.committed < 0.98 * offered,
            "cost": round(one.cost, 1),
            "cost_label": f"{one.cost:g}",
        }
        for order, one in enumerate(steps)
    ]
    line = [{"offered": offered, "label": f"offered {thousands(offered)}"}]
    headings = [(title, "orange: less than offered"), (cost, "")]
    return fill(
        _shape(step, cost),
        {"steps": rows, "offered": line},
        headings=headings,
        caption=caption,
        description=description,
    )


@cache
def _shape(step: str, cost: str) -> Spec:
    import altair as alt

    data = alt.NamedData("steps")
    x = alt.X("step:O", sort=None, title=step, axis=alt.Axis(labelAngle=0, ticks=False))
    colour = alt.condition("datum.short", alt.value(VERMILLION), alt.value(BLUE))

    def bars(field: str, words: str, title: str, **encoding: Any) -> Any:
        y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format=",d", tickCount=5))
        bar = alt.Chart(data).mark_bar(**encoding.pop("mark", {})).encode(x=x, y=y, **encoding)
        text = alt.Chart(data).mark_text(dy=-7, fontSize=11, color=INK, aria=False).encode(x=x, y=y, text=f"{words}:N")
        return alt.layer(bar, text)

    rule = (
        alt.Chart(alt.NamedData("offered"))
        .mark_rule(color=INK, strokeDash=[6, 4], aria=False)
        .encode(y="offered:Q", tooltip="label:N")
    )
    left = bars("committed", "label", "committed writes/s", color=colour) + rule
    right = bars("cost", "cost_label", cost, mark={"color": GREEN})
    return shape([left.properties(width=290, height=200), right.properties(width=260, height=200)])
