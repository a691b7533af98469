"""The split strip: the key space at one moment, cut into its splits, and what was committed minute by minute.

The strip shows the splits in key order, all of one width: where a cut lies matters less than how many there are and
which of them are hot. The colours follow Spanner: a split is warm from a CPU_USAGE_SCORE of 50 and hot at
100 (facts.md 1.4). The score is taken against the ceiling of the split here, not of its server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREY, INK, ORANGE, PALE, VERMILLION, thousands

WIDTH = 560
IDLE, COOL, WARM, HOT = "idle", "below 50", "warm: 50 to 99", "hot: 100"
SCORES = {IDLE: PALE, COOL: BLUE, WARM: ORANGE, HOT: VERMILLION}


@dataclass(frozen=True)
class Minutes:
    """Committed writes/s in each minute, the offered load, and the minute that is looked at (from 1)."""

    committed: Sequence[float]
    offered: float
    chosen: int


def split_strip(
    minutes: Minutes, splits: Sequence[Mapping[str, Any]], *, heading: Heading, caption: list[str], description: str
) -> Spec:
    """Committed writes minute by minute, and the splits of the chosen minute.

    `splits` are in key order; each has "cpu_usage_score" (0 to 100), "split_start" and "writes_per_second".
    """
    data: dict[str, Rows] = {
        "minutes": [
            {"minute": number, "committed": round(value), "chosen": number == minutes.chosen}
            for number, value in enumerate(minutes.committed, 1)
        ],
        "offered": [{"offered": minutes.offered, "label": f"offered {thousands(minutes.offered)}"}],
        "splits": _cells(splits),
    }
    return fill(_shape(), data, headings=[heading, None], caption=caption, description=description)


def heat_word(score: float, writes: float) -> str:
    """What Spanner calls a split with that CPU_USAGE_SCORE."""
    if score >= 99.5:
        return HOT
    if score >= 50:
        return WARM
    return COOL if writes >= 1 else IDLE


def _cells(splits: Sequence[Mapping[str, Any]]) -> Rows:
    return [
        {
            "from": round(number / len(splits), 5),
            "to": round((number + 1) / len(splits), 5),
            "split": number + 1,
            "start": split["split_start"],
            "score": round(split["cpu_usage_score"]),
            "writes": round(split["writes_per_second"]),
            "heat": heat_word(split["cpu_usage_score"], split["writes_per_second"]),
        }
        for number, split in enumerate(splits)
    ]


@cache
def _shape() -> Spec:
    import altair as alt

    minutes, offered = alt.NamedData("minutes"), alt.NamedData("offered")
    x = alt.X("minute:O", title="minute", axis=alt.Axis(labelAngle=0, ticks=False))
    bars = (
        alt.Chart(minutes)
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y("committed:Q", title="committed writes/s", axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.condition("datum.chosen", alt.value(INK), alt.value("#9AA0A6")),
            tooltip=[alt.Tooltip("minute:O"), alt.Tooltip("committed:Q", format=",d")],
        )
    )
    rule = alt.Chart(offered).mark_rule(color=INK, strokeDash=[6, 4], aria=False).encode(y="offered:Q")
    label = (
        alt.Chart(offered)
        .mark_text(align="left", dx=5, fontSize=11, color=INK)
        .encode(x=alt.value(WIDTH), y="offered:Q", text="label:N")
    )
    place, bare = alt.Scale(domain=[0, 1], nice=False), alt.Axis(labels=False, ticks=False, domain=False)
    strip = (
        alt.Chart(alt.NamedData("splits"))
        .mark_rect(stroke="white", strokeWidth=0.75)
        .encode(
            x=alt.X("from:Q", scale=place, title="splits of the chosen minute, in key order", axis=bare),
            x2="to",
            color=alt.Color(
                "heat:N",
                scale=alt.Scale(domain=list(SCORES), range=list(SCORES.values())),
                legend=alt.Legend(title="CPU_USAGE_SCORE", orient="bottom", titleOrient="left", titleColor=GREY),
            ),
            tooltip=["split:Q", "start:N", "score:Q", alt.Tooltip("writes:Q", title="writes/s", format=",d")],
        )
    )
    above = alt.layer(bars, rule, label).properties(width=WIDTH, height=150)
    return shape([above, strip.properties(width=WIDTH, height=46)], across=False, spacing=10)
