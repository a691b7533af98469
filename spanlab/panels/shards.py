"""Panels 3A and 3B: how many shards, and a giant among the users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanlab.charts import Figure, Scene, milliseconds, rounded
from spanlab.charts.gauges import Gauge, gauges
from spanlab.charts.hottest import hottest_splits
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.runs import caption_of, committed_figure, last_minute, p99_figure, run_key
from spanlab.splits import Run

SHARDS = (1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 64)
EXPRESSIONS = (("MOD(MOD(h, N) + N, N)", "safe"), ("MOD(h, N)", "signed"))
TIGHT_MS = 40.0  # from here on a commit mostly waits
MOST_RANGES = 127  # 64 shards with both signs


def view_shards(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """Throughput, latency and scan of a ledger with a hash shard in front of its ULID."""
    shards, offered, nodes = parameters["shards"], parameters["offered"], parameters["nodes"]
    signed = parameters["expression"] == "signed"
    run = run_key(f"(shard({shards}{', signed' if signed else ''}), ulid)", offered, nodes)
    return draw_shards(run, shards, offered, signed=signed, before=before)


def draw_shards(
    run: Run, shards: int, offered: float, *, signed: bool, before: Scene | None = None, note: str = ""
) -> Scene:
    """A run of a table with so many hash shards in front (0: none) as gauges; `note` ends the sentence."""
    seen: dict[str, Any] = run.summary()
    ranges = 2 * shards - 1 if signed else max(1, shards)  # MOD has the sign of its first argument (facts.md 2.4)
    state = (last_minute(run, offered), float(seen["p99_ms"]), ranges)
    was = before.state if before else (None, None, None)
    short = state[0] < 0.98 * offered
    figures = [
        Gauge("committed writes/s", state[0], offered, f"{rounded(state[0])} of {rounded(offered)}", short, 0, was[0]),
        Gauge("p99 of a commit", state[1], 1_000, milliseconds(state[1]), state[1] > TIGHT_MS, 10, was[1]),
        Gauge("ranges that a one-day scan visits", ranges, MOST_RANGES, str(ranges), before=was[2]),
    ]
    said = [f"{rounded(state[0])} of {rounded(offered)} writes/s commit", f"p99 {milliseconds(state[1])}"]
    said.append(f"a one-day scan visits {ranges} range{'s' * (ranges != 1)}")
    besides = [p99_figure(state[1]), Figure("scan ranges", ranges, str(ranges))]
    if shards:
        lost = 100 * (shards - 1) / (2 * shards) if signed else 0.0
        inside = f"shards 0–{shards - 1}" if shards > 1 else "shard 0"
        figures.append(Gauge(f"rows outside {inside}", lost, 100, f"{lost:.1f} %", lost > 0))
        said.append(f"{f'{lost:.1f} %' if lost else 'none'} of the rows lie outside {inside}")
        besides.append(Figure("rows outside", lost, f"{lost:.1f} %" if lost else "none"))
    sentence = f"{'; '.join(said)}. {note}".strip()
    chart = gauges(
        figures,
        title=f"{shards or 'No'} shard{'s' * (shards > 1)} in front of a ULID, {run.nodes} nodes",
        subtitle="black tick: before · p99 on a logarithmic scale · orange: too little, too slow, or lost",
        caption=caption_of(run),
        description=f"{len(figures)} bars. {sentence}",
    )
    return Scene(chart, sentence, committed_figure(state[0]), state, tuple(besides))


def shards() -> Panel:
    """Panel 3A of lesson 3."""
    controls = (
        Number("shards", "Shards", SHARDS, 1),
        Choice("offered", "Offered writes/s", rates(6_000, 12_000, 20_000, 50_000), 12_000),
        Number("nodes", "Nodes", tuple(range(2, 31)), 10),
        Choice("expression", "Shard expression", EXPRESSIONS, "safe"),
    )
    return Panel("3A · Shards", controls, view_shards)


# ------------------------------------------------------------------------------------------- a giant among the users

GIANT_NODES = 10
USERS = 20_000
PORTIONS = tuple((f"{percent} %", percent) for percent in (0, 2, 5, 10, 15, 20, 30, 50))
CURES = (("none", 1), ("every user over 4 sub-ids", 4))


def view_giant(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """A table keyed by user, then time, where one user writes far more than the others."""
    percent, offered, parts = parameters["percent"], parameters["offered"], parameters["parts"]
    user = f"celebrity({USERS}, {percent / 100:g})" if percent else f"ids({USERS})"
    run = run_key(f"({user}, {f'shard({parts}), ' if parts > 1 else ''}now)", offered, GIANT_NODES)
    seen: dict[str, Any] = run.summary()
    committed, splits = last_minute(run, offered), run.splits()
    arriving = [float(str(split["writes_per_second"])) for split in splits]
    sentence = (
        f"{rounded(committed)} of {rounded(offered)} writes/s commit; the hottest of {len(splits)} splits gets "
        f"{100 * seen['hottest_share']:.1f} %; p99 {milliseconds(seen['p99_ms'])}."
    )
    giant = f"one of 20,000 users makes {percent} % of the writes" if percent else "20,000 users, all alike"
    key = "(UserId, SubId, TakenAt)" if parts > 1 else "(UserId, TakenAt)"
    chart = hottest_splits(
        arriving,
        ceiling=run.model.split_writes,
        heading=(f"Key {key}; {giant}", sentence),
        caption=caption_of(run),
        description=f"The ten hottest splits as bars. {sentence}",
    )
    return Scene(chart, sentence, committed_figure(committed), besides=(p99_figure(float(seen["p99_ms"])),))


def giant() -> Panel:
    """Panel 3B of lesson 3."""
    controls = (
        Choice("percent", "Biggest user's share", PORTIONS, 0),
        Choice("offered", "Offered writes/s", rates(12_000, 30_000), 12_000),
        Choice("parts", "Cure", CURES, 1),
    )
    return Panel("3B · A giant among users", controls, view_giant)
