"""Server bars: what each server of the instance commits.

A server that commits nothing is drawn as an empty slot: it is paid for and idle. The dashed line is the load that each
server would have if all shared it evenly. The picture of a good key is a level row of bars at that line; the picture of
a growing key is one bar, stopped by the ceiling of its split, and a row of empty slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, CONFIG, GREY, INK, PALE, VERMILLION, apart, thousands

HEIGHT = 220
FULL, ROOM = "can take no more", "has room"


@dataclass(frozen=True)
class Servers:
    """What one picture of server bars shows.

    `writes` are the committed writes per second of each server, `offered` the load of all servers together, also per
    second. `split_ceiling` and `node_ceiling` come from the model, whose name is `preset`. `before` are the writes of
    the servers before a control was moved.
    """

    title: str
    subtitle: str
    writes: Sequence[float]
    offered: float
    split_ceiling: float
    node_ceiling: float
    preset: str
    before: Sequence[float] = ()

    @property
    def top(self) -> float:
        """The upper end of the axis: fixed by the model, so that bars of two pictures can be compared by eye."""
        return 500 * (max(self.split_ceiling, self.node_ceiling) // 500 + 1)


def server_bars(*pictures: Servers, description: str) -> Spec:
    """One bar for each server, for one or more cases side by side. `description` is read out instead of the picture."""
    shape = _shape(len(pictures), max(picture.top for picture in pictures))
    views = [copy(view) for view in shape["hconcat"]]
    datasets = {}
    for number, picture in enumerate(pictures):
        views[number]["title"] = {"text": picture.title, "subtitle": picture.subtitle}
        datasets |= {f"servers{number}": _bars(picture), f"lines{number}": _lines(picture)}
    title = shape["title"] | {"text": caption(pictures[0])}
    return shape | {"hconcat": views, "datasets": datasets, "title": title, "description": description}


def caption(picture: Servers) -> list[str]:
    """Which model drew the picture, and what is known about its figures (facts.md 1.6)."""
    return [
        f"Model “{picture.preset}”: one split commits {thousands(picture.split_ceiling)} writes/s, "
        f"one node {thousands(picture.node_ceiling)} row writes/s.",
        "Google publishes no ceiling for one split. Study guides print 1,000–2,000 writes/s; 1,800 is our teaching",
        "value; the documented figure is 3,500 writes/s for a regional node at 100 % CPU.",
    ]


def _bars(picture: Servers) -> list[dict[str, Any]]:
    busiest = max(picture.writes, default=0.0)
    held_back = sum(picture.writes) < 0.98 * picture.offered
    rows = []
    for server, writes in enumerate(picture.writes):
        full = held_back and writes >= 0.95 * busiest
        row = {"server": server + 1, "writes": round(writes), "slot": picture.node_ceiling, "state": FULL if full else ROOM}
        if server < len(picture.before):
            row["before"] = round(picture.before[server])
        rows.append(row)
    return rows


def _lines(picture: Servers) -> list[dict[str, Any]]:
    """The three heights to compare bars with; a share above the axis is drawn at its end and says so."""
    share = picture.offered / max(1, len(picture.writes))
    above = " ↑" if share > picture.top else ""
    lines = [
        ("share", min(share, picture.top), f"even share {thousands(share)}{above}"),
        ("split", picture.split_ceiling, f"one split {thousands(picture.split_ceiling)}"),
        ("node", picture.node_ceiling, f"one node {thousands(picture.node_ceiling)}"),
    ]
    heights = apart([height for _, height, _ in lines], gap=picture.top * 14 / HEIGHT)
    return [
        {"line": line, "height": round(height), "label": label, "label_height": round(place)}
        for (line, height, label), place in zip(lines, heights, strict=True)
    ]


@cache
def _shape(pictures: int, top: float) -> Spec:
    """The specification without its data. Altair takes 50 ms to write and check it, so it is made once."""
    import altair as alt

    width = 560 if pictures == 1 else 250
    views = [_view(alt, number, top, width) for number in range(pictures)]
    chart = alt.hconcat(*views, spacing=24).properties(
        title=alt.TitleParams("", orient="bottom", fontSize=11, fontWeight="normal", color=GREY, offset=12)
    )
    return chart.configure(**CONFIG).to_dict()


def _view(alt: Any, number: int, top: float, width: int) -> Any:
    servers, lines = alt.NamedData(f"servers{number}"), alt.NamedData(f"lines{number}")
    x = alt.X("server:O", title="server", axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False))
    scale = alt.Scale(domain=[0, top], nice=False, zero=True)
    y = alt.Y("writes:Q", title="committed writes/s" if number == 0 else None, scale=scale, axis=alt.Axis(format=","))
    slot = alt.Chart(servers).mark_bar(color=PALE, aria=False).encode(x=x, y=alt.Y("slot:Q", scale=scale))
    bar = alt.Chart(servers).mark_bar().encode(
        x=x,
        y=y,
        color=alt.Color(
            "state:N",
            scale=alt.Scale(domain=[ROOM, FULL], range=[BLUE, VERMILLION]),
            legend=alt.Legend(title="a server that", orient="bottom", direction="horizontal"),
        ),
        tooltip=[alt.Tooltip("server:O"), alt.Tooltip("writes:Q", title="committed writes/s", format=",")],
    )
    ghost = (
        alt.Chart(servers)
        .mark_bar(filled=False, stroke=INK, strokeDash=[2, 2], strokeWidth=1, aria=False)
        .transform_filter("isValid(datum.before)")
        .encode(x=x, y=alt.Y("before:Q", scale=scale))
    )
    dash = alt.condition("datum.line == 'share'", alt.value([6, 4]), alt.value([1, 0]))
    strong = alt.condition("datum.line == 'share'", alt.value(INK), alt.value("#9AA0A6"))
    rule = alt.Chart(lines).mark_rule(aria=False).encode(y=alt.Y("height:Q", scale=scale), strokeDash=dash, color=strong)
    label = (
        alt.Chart(lines)
        .mark_text(align="left", baseline="middle", dx=5, fontSize=11, color=INK)
        .encode(x=alt.value(width), y=alt.Y("label_height:Q", scale=scale), text="label:N")
    )
    return alt.layer(slot, bar, ghost, rule, label).properties(width=width, height=HEIGHT)
