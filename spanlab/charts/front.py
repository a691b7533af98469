"""The front: how many servers a moving insert point can use.

A cut that is chosen now works after a delay tau; by then the front of the inserts, w wide, has moved on by v tau. The
part that the cut has lost is v tau / w, and about max(1, w / (2 v tau)) servers work. The line is this
law, a dot is a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from spanlab.charts.figure import Heading, fill, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, GREY, VERMILLION

Points = Sequence[tuple[float, float]]


def front(law: Points, run: Points, *, heading: Heading, caption: list[str], description: str) -> Spec:
    """Committed writes/s over speed x delay / width: `law` as a line, `run` as dots, the last one in front."""
    data = {
        "law": [{"ratio": round(ratio, 3), "committed": round(committed)} for ratio, committed in law],
        "run": [
            {"ratio": round(ratio, 3), "committed": round(committed), "now": number == len(run)}
            for number, (ratio, committed) in enumerate(run, 1)
        ],
    }
    return fill(_shape(), data, headings=[heading], caption=caption, description=description)


@cache
def _shape() -> Spec:
    import altair as alt

    x = alt.X(
        "ratio:Q", title="vτ ÷ w: speed × delay ÷ width of the front", scale=alt.Scale(domain=[0, 1.5], nice=False)
    )
    y = alt.Y(
        "committed:Q",
        title="committed writes/s",
        axis=alt.Axis(format=",d"),
        scale=alt.Scale(domain=[0, 13_000], nice=False),
    )
    line = alt.Chart(alt.NamedData("law")).mark_line(color=GREY, strokeWidth=2, interpolate="monotone").encode(x=x, y=y)
    dot = (
        alt.Chart(alt.NamedData("run"))
        .mark_circle(size=140, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.condition("datum.now", alt.value(VERMILLION), alt.value(BLUE)),
            opacity=alt.condition("datum.now", alt.value(1), alt.value(0.35)),
            tooltip=["ratio:Q", alt.Tooltip("committed:Q", format=",d")],
        )
    )
    return shape([alt.layer(line, dot).properties(width=560, height=220)])
