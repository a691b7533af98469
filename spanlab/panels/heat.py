"""Panel 5A and `heat`: the pictures of Key Visualizer, and what each of them means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanlab.charts import Figure, Scene
from spanlab.charts.heat import heat_maps
from spanlab.panels.controls import Choice, Number
from spanlab.panels.panel import Panel
from spanlab.panels.runs import caption_of, run_key
from spanlab.panels.tables import TABLES, no_table, run_table
from spanlab.splits import HotRow, Mix, Run, Uuid1, Uuid4, simulate
from spanlab.splits.heat import HeatMap

WRITES, NODES = 12_000, 10
WORKLOADS = (
    ("time of write", "hits_by_time"),
    ("UUIDv4", "hits_by_uuid"),
    ("16 shards + ULID", "hits_by_shard"),
    ("UUIDv1", "hits_by_uuid1"),
    ("one hot row + UUIDv4", "hot_row"),
    ("(user, time), some users giants", "hits_by_user"),
    ("UUIDv4 table + index on the time", "hits_with_index"),
)
PASTS = (("0, a new table", "0h"), ("5 hours", "5h"), ("90 days", "90d"))


@dataclass(frozen=True)
class Titled:
    """A run, the title of its picture, and the name that its sentence begins with, if it has one."""

    run: Run
    title: str
    name: str = ""


def picture(shown: Sequence[Titled], history: str | None, rows: int, column_s: int) -> Scene:
    """The heat maps of one or two runs, with the sentences that say whether the hot place moves."""
    past = f", with {history} of rows from before" if history and history != "0h" else ""
    maps, said = [], []
    for one in shown:
        seen = one.run.key_visualizer(rows, column_s, history)
        below: str | list[str] = str(seen) if len(shown) == 1 else str(seen).split(": ")  # a narrow picture: two lines
        maps.append(((f"{one.title}{past}", below), seen))
        said.append(f"{one.name}: {seen}" if one.name else str(seen))
    sentence, titles = " ".join(said), "; ".join(one.title for one in shown)
    chart = heat_maps(
        *maps,
        caption=caption_of(shown[0].run),
        description=f"Heat map, time to the right, keys downwards. {titles}{past}. {sentence}",
    )
    share = maps[0][1].brightest_share
    return Scene(chart, sentence, Figure("writes in the brightest range", share, f"{100 * share:.0f} %"))


def heat(what: str | Run | Sequence[str | Run], history: str | None = None) -> Scene:
    """The heat map of a run, or of one of the course's tables by name ("hits_by_time", "hits_by_uuid", …).

    A list of two of them is drawn side by side. 15 minutes of a named table, in columns of ten seconds and 128 rows.
    `history` is how far back the rows of the table reach: "0h", "5h", "90d". The names "p1" to "p5" are the pictures of
    challenge 5.1, one or all at a time and without a word about what they show. ValueError names an unknown table.
    """
    wanted = [what] if isinstance(what, str | Run) else list(what)
    riddles = [one for one in wanted if isinstance(one, str) and one in RIDDLES]
    if riddles and len(riddles) < len(wanted):
        raise ValueError(f"what has {riddles[0]!r} beside others; 'p1' to 'p5' are shown with each other alone.")
    if riddles:
        return riddle(*riddles)
    if not 1 <= len(wanted) <= 2:
        raise ValueError(f"what is a list of {len(wanted)}; one or two runs or names of tables are wanted.")
    return picture([_titled(one, alone=len(wanted) == 1) for one in wanted], history, 128, 10)


def _titled(what: str | Run, *, alone: bool) -> Titled:
    if isinstance(what, Run):
        return Titled(what, "Writes by key and time")
    names = {name: table.words for name, table in TABLES.items()} | {"hits_with_index": WORKLOADS[-1][0]}
    if what not in names:
        raise no_table(what, [*names, *RIDDLES])
    return Titled(run_table(what, WRITES, NODES, 15), f"{what}, key: {names[what]}" if alone else what, what)


def view_heat(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The heat map of a workload, for a past and a number of minutes."""
    name, history, minutes = parameters["workload"], parameters["history"], parameters["minutes"]
    words = {name: words for words, name in WORKLOADS}[name]
    return picture([Titled(run_table(name, WRITES, NODES, minutes), f"Key: {words}")], history, 64, 30)


def heat_panel() -> Panel:
    """Panel 5A of lesson 5."""
    controls = (
        Choice("workload", "Workload", WORKLOADS, "hits_by_time"),
        Choice("history", "Rows from before", PASTS, "0h"),
        Number("minutes", "Minutes", (5, 10, 15, 20, 25, 30), 15),
    )
    return Panel("5A · Heat", controls, view_heat)


# ------------------------------------------------------------------------------------ the pictures of challenge 5.1


@cache
def _sudden() -> Run:
    """A table that is nearly quiet until the middle of the run."""
    return simulate("uuid4", writes_per_second=lambda second: WRITES if second >= 450 else 300, nodes=NODES, minutes=15)


RIDDLES: dict[str, Callable[[], Run]] = {
    "p1": lambda: run_key("now", WRITES, NODES, minutes=15),
    "p2": lambda: run_key("uuid4", WRITES, NODES, minutes=15),
    "p3": lambda: run_key(Mix((0.2, 0.8), (HotRow(), Uuid4())), WRITES, NODES, minutes=15),
    "p4": lambda: run_key(Mix((0.4, 0.6), (Uuid1(), Uuid4())), WRITES, NODES, minutes=30),
    "p5": _sudden,
}


def riddle(*names: str) -> Scene:
    """Heat maps without their meaning; who does not see them is told where they are brightest, as figures."""
    seen = {name: RIDDLES[name]().key_visualizer(64, 30, "0h") for name in names}
    told = " ".join(_told(name, one) for name, one in seen.items())
    chart = heat_maps(*(((name, ""), one) for name, one in seen.items()), caption=[], description=f"Heat maps: {told}")
    return Scene(chart, told)


def _told(name: str, seen: HeatMap) -> str:
    rows, totals = seen.brightest, seen.writes.sum(axis=0)
    told = "; ".join(
        f"minute {column * seen.column_s / 60:g}: row {rows[column] + 1} has "
        f"{100 * seen.writes[rows[column], column] / totals[column]:.0f} % of {totals[column]:,.0f} writes/s"
        for column in range(0, len(rows), max(1, len(rows) // 10))
    )
    return f"{name}, brightest rows of {len(seen.labels)}: {told}."
