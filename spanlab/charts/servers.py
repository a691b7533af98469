"""Server bars: what each server of the instance commits.

A server that commits nothing is drawn as an empty slot: it is paid for and idle. The dashed line is the load that each
server would have if all shared it evenly. The picture of a good key is a level row of bars at that line; the picture of
a growing key is one bar, stopped by the ceiling of its split, and a row of empty slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts.figure import Rows, fill, model_caption, shape
from spanlab.charts.renderer import Spec
from spanlab.charts.style import BLUE, INK, ORANGE, PALE, VERMILLION, apart, thousands

HEIGHT = 220
# the width of one picture among so many: with the names of its lines at the last alone, or at each of them
WIDTHS = {1: 560, 2: 300, 3: 190, 4: 150}
WIDTHS_NAMED = {1: 560, 2: 260, 3: 130, 4: 72}
GHOSTS_AT_MOST = 60  # thinner bars would vanish under their outline
SPLIT_FULL, CPU_FULL, ROOM = "its hot split is full", "CPU is full", "has room"
COLOURS = {ROOM: BLUE, SPLIT_FULL: VERMILLION, CPU_FULL: ORANGE}
# number each server, or only round ones where there are many; a tick knows its place in 0..1, hence how many there are
NUMBERED = """datum.index == 0 || (datum.value - 1) / datum.index < 40
    || datum.value % ((datum.value - 1) / datum.index > 150 ? 50 : 10) == 0 ? datum.value : ''"""


@dataclass(frozen=True)
class Servers:
    """What one picture of server bars shows.

    `writes` are the committed writes per second of each server, in any order, `offered` the load of all servers
    together, also per second. `split_ceiling` and `node_ceiling` come from the model, whose name is `preset`. `before`
    are the writes of the servers before a control was moved. `limits` say of each server, in the order of `writes`, why
    it takes no more: SPLIT_FULL, CPU_FULL, or ROOM (which is also what is drawn where nothing is known).
    """

    title: str
    subtitle: str | list[str]
    writes: Sequence[float]
    offered: float
    split_ceiling: float
    node_ceiling: float
    preset: str
    before: Sequence[float] = ()
    limits: Sequence[str] = ()

    @property
    def top(self) -> float:
        """The upper end of the axis: fixed by the model, so that bars of two pictures can be compared by eye."""
        return 500 * (max(self.split_ceiling, self.node_ceiling) // 500 + 1)


def server_bars(*pictures: Servers, description: str) -> Spec:
    """One bar for each server, for one or more cases side by side. `description` is read out instead of the picture."""
    data: dict[str, Rows] = {}
    for number, picture in enumerate(pictures):
        data |= {f"servers{number}": _bars(picture), f"lines{number}": _lines(picture)}
    first = pictures[0]
    alike = all(data[f"lines{number}"] == data["lines0"] for number in range(len(pictures)))
    return fill(
        _shape(len(pictures), max(picture.top for picture in pictures), alike),
        data,
        headings=[(picture.title, picture.subtitle) for picture in pictures],
        caption=model_caption(first.preset, first.split_ceiling, first.node_ceiling),
        description=description,
    )


def _bars(picture: Servers) -> Rows:
    """Busiest first: which server leads a split is chance, so a bar in its own place would jump at every change."""
    before = sorted(picture.before, reverse=True)
    limits = picture.limits or [ROOM] * len(picture.writes)
    rows = []
    for server, (writes, limit) in enumerate(sorted(zip(picture.writes, limits, strict=True), reverse=True)):
        row = {"server": server + 1, "writes": round(writes), "slot": picture.node_ceiling, "state": limit}
        if server < len(before) and len(picture.writes) <= GHOSTS_AT_MOST:
            row["before"] = round(before[server])
        rows.append(row)
    return rows


def _lines(picture: Servers) -> Rows:
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
def _shape(pictures: int, top: float, alike: bool) -> Spec:
    import altair as alt

    width = (WIDTHS if alike else WIDTHS_NAMED)[pictures]
    named = [not alike or number == pictures - 1 for number in range(pictures)]
    views = [_view(alt, number, top, width, named=names) for number, names in enumerate(named)]
    return shape(views, spacing=16)


def _view(alt: Any, number: int, top: float, width: int, *, named: bool) -> Any:
    """One picture. The axis of the first serves all; `named` lines say at the right what they are."""
    servers, lines = alt.NamedData(f"servers{number}"), alt.NamedData(f"lines{number}")
    numbers = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, labelExpr=NUMBERED)
    x = alt.X("server:O", title="server, the busiest first").axis(numbers)
    scale = alt.Scale(domain=[0, top], nice=False, zero=True)
    title = "committed writes/s" if number == 0 else None
    labels = {"format": ",d"} if number == 0 else {"labelExpr": "' '"}  # blanks keep the headings at one height
    y = alt.Y("writes:Q", title=title, scale=scale, axis=alt.Axis(**labels))
    slot = alt.Chart(servers).mark_bar(color=PALE, aria=False).encode(x=x, y=alt.Y("slot:Q", scale=scale))
    bar = (
        alt.Chart(servers)
        .mark_bar(minBandSize=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "state:N",
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                legend=alt.Legend(title="a server:", orient="bottom", direction="horizontal", titleOrient="left"),
            ),
            tooltip=[
                alt.Tooltip("server:O"),
                alt.Tooltip("writes:Q", title="committed writes/s", format=",d"),
                alt.Tooltip("state:N", title="limit"),
            ],
        )
    )
    ghost = (
        alt.Chart(servers)
        .mark_bar(filled=False, stroke=INK, strokeDash=[2, 2], strokeWidth=1, aria=False)
        .transform_filter("datum.before > 0")
        .encode(x=x, y=alt.Y("before:Q", scale=scale))
    )
    dash = alt.condition("datum.line == 'share'", alt.value([6, 4]), alt.value([1, 0]))
    strong = alt.condition("datum.line == 'share'", alt.value(INK), alt.value("#9AA0A6"))
    rule = (
        alt.Chart(lines).mark_rule(aria=False).encode(y=alt.Y("height:Q", scale=scale), strokeDash=dash, color=strong)
    )
    label = (
        alt.Chart(lines)
        .mark_text(align="left", baseline="middle", dx=5, fontSize=11, color=INK)
        .encode(x=alt.value(width), y=alt.Y("label_height:Q", scale=scale), text="label:N")
    )
    layers = [slot, bar, ghost, rule, label] if named else [slot, bar, ghost, rule]
    heading = alt.TitleParams("", frame="group")
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=heading)
