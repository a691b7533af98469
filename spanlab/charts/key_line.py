"""The key line: where new keys land among all keys there can be.

The line is the whole key space in key order, from its first key (0) to its last (1). A dot is a key, numbered as it
was made; keys that land on one place are stacked. Below, the line in sixteen equal parts, as if each were a split: a
key that scatters fills all parts alike, a key that grows fills one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from spanlab.charts.figure import Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREY, VERMILLION

PARTS = 16
PLACES = 70  # so many dots stand side by side
NUMBERED_UP_TO = 16  # more numbers than that cannot be read,
HIGHEST_NUMBERED = 8  # nor in a higher stack
STACKS = (8, 16, 32, 64, 128, 1_024)  # a shape for each of these heights, not for every height
WIDTH = 600
QUARTERS = [0, 0.25, 0.5, 0.75, 1]
AXIS = "place on the line of all keys, cut into 16 equal parts"
TEXT = ["A dot is a key, numbered as it was made. Keys that land on one place are stacked."]


def key_line(places: Sequence[float], *, title: str, subtitle: str, description: str) -> Spec:
    """Dots on the line of all keys, and how many fall into each sixteenth.

    `places` are the keys in the order they were made, each as a place on the line, 0 to 1.
    """
    dots = _stacked(places)
    tallest = max((dot["level"] for dot in dots), default=1)
    empty = _shape(next(levels for levels in STACKS if levels >= tallest))
    data = {"dots": dots, "parts": _parts(places)}
    return fill(empty, data, headings=[(title, subtitle), None], caption=TEXT, description=description)


def in_parts(places: Sequence[float], parts: int = PARTS) -> list[int]:
    """How many places fall into each of the equal parts of the line."""
    counts = [0] * parts
    for place in places:
        counts[min(parts - 1, int(place * parts))] += 1
    return counts


def _stacked(places: Sequence[float]) -> Rows:
    """A dot for each key: its place, its number, and its level in the stack of those that landed there before it."""
    height: dict[int, int] = {}
    dots: Rows = []
    for number, place in enumerate(places, 1):
        spot = int(place * PLACES)
        height[spot] = height.get(spot, 0) + 1
        dots.append({"place": round(place, 4), "number": number, "level": height[spot]})
    numbered = len(places) <= NUMBERED_UP_TO and max(height.values(), default=0) <= HIGHEST_NUMBERED
    return [dot | {"label": str(dot["number"]) if numbered else ""} for dot in dots]


def _parts(places: Sequence[float]) -> Rows:
    counts = in_parts(places)
    return [
        {
            "from": part / PARTS,
            "to": (part + 1) / PARTS,
            "keys": keys,
            "percent": round(100 * keys / max(1, len(places)), 1),
            "none": 0,
        }
        for part, keys in enumerate(counts)
    ]


@cache
def _shape(levels: int) -> Spec:
    import altair as alt

    line = alt.Scale(domain=[0, 1], nice=False)
    dots = alt.NamedData("dots")
    x = alt.X("place:Q", scale=line, title=None, axis=alt.Axis(grid=False, labels=False, values=QUARTERS))
    y = alt.Y("level:Q", scale=alt.Scale(domain=[0.4, levels + 0.6], nice=False), axis=None)
    dot = (
        alt.Chart(dots)
        .mark_circle(size=min(260, 9_000 / levels), color=BLUE, opacity=0.9)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("number:Q", title="key number"), alt.Tooltip("place:Q", format=".4f")])
    )
    number = alt.Chart(dots).mark_text(color="white", fontSize=10, aria=False).encode(x=x, y=y, text="label:N")
    above = alt.layer(dot, number).properties(width=WIDTH, height=110)
    parts = alt.NamedData("parts")
    percent = alt.Scale(domain=[0, 100], nice=False)
    bar = (
        alt.Chart(parts)
        .mark_rect(stroke="white")
        .encode(
            x=alt.X("from:Q", scale=line, title=AXIS, axis=alt.Axis(grid=False, format=".2f", values=QUARTERS)),
            x2="to",
            y=alt.Y("percent:Q", scale=percent, title="% of the keys", axis=alt.Axis(tickCount=3)),
            y2="none",
            color=alt.condition("datum.percent > 50", alt.value(VERMILLION), alt.value(BLUE)),
            tooltip=[alt.Tooltip("keys:Q", title="keys in this sixteenth")],
        )
    )
    edge = alt.Chart(parts).mark_rule(color=GREY, opacity=0.4, aria=False).encode(x=alt.X("to:Q", scale=line))
    return shape([above, alt.layer(edge, bar).properties(width=WIDTH, height=80)], across=False, spacing=6)
