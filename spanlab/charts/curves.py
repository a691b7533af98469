"""Curves: how long commits take, second by second.

The scale is logarithmic: a queue makes commits a hundred times slower, and both ends should be read. Each curve carries
its own name at its end; seconds are averaged so that a curve has at most 200 points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from spanlab.charts.figure import Heading, Rows, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILLION

POINTS = 200
COLOURS = [VERMILLION, BLUE, GREEN, PURPLE, ORANGE]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]


def latency_curves(
    curves: Mapping[str, Sequence[float] | np.ndarray], *, heading: Heading, caption: list[str], description: str
) -> Spec:
    """Up to five curves of latency in ms, one value a second, by name."""
    if not 1 <= len(curves) <= len(COLOURS):
        raise ValueError(f"curves has {len(curves)} entries; 1 to {len(COLOURS)} can be told apart.")
    data: dict[str, Rows] = {"points": [], "ends": []}
    for name, values in curves.items():
        points = _points(name, np.asarray(values, float))
        data["points"] += points
        data["ends"].append(points[-1])
    return fill(_shape(tuple(curves)), data, headings=[heading], caption=caption, description=description)


def _points(name: str, values: np.ndarray) -> Rows:
    parts = np.array_split(values, min(POINTS, len(values)))
    minute = np.cumsum([len(part) for part in parts]) / 60
    return [
        {"curve": name, "minute": round(float(at), 2), "ms": round(float(part.mean()), 1)}
        for at, part in zip(minute, parts, strict=True)
    ]


@cache
def _shape(names: tuple[str, ...]) -> Spec:
    import altair as alt

    x = alt.X("minute:Q", title="minute", axis=alt.Axis(grid=False, tickMinStep=1))
    y = alt.Y("ms:Q", title="ms for a commit", scale=alt.Scale(type="log", domain=[3, 10_000]), axis=_axis(alt))
    colour = alt.Color("curve:N", scale=alt.Scale(domain=list(names), range=COLOURS[: len(names)]), legend=None)
    dash = alt.StrokeDash("curve:N", scale=alt.Scale(domain=list(names), range=DASHES[: len(names)]), legend=None)
    line = alt.Chart(alt.NamedData("points")).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    name = (
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=6, fontSize=11, color=INK)
        .encode(x=x, y=y, text="curve:N")
    )
    return shape([alt.layer(line, name).properties(width=520, height=220)])


def _axis(alt: Any) -> Any:
    return alt.Axis(values=[5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000], format=",d")
