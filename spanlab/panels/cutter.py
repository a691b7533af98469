"""Panels 4A and 4B: how Spanner cuts, minute by minute, and why a moving front outruns the knife."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanlab.charts import Scene, rounded, thousands
from spanlab.charts.front import front
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.pictures import draw_minute
from spanlab.panels.runs import caption_of, carried, committed_figure, run_key
from spanlab.splits import model

MINUTES = 20
KEYS = (
    ("UUIDv4", "uuid4"),
    ("time of write", "now"),
    ("16 shards + ULID", "(shard(16), ulid)"),
    ("one row", "hot_row"),
    ("8 rows", "ids(8)"),
)
WORDS = {key: words for words, key in KEYS}
STARTS = (("cold, one split", 0), ("pre-split into 10", 10), ("pre-split into 60", 60), ("pre-split into 300", 300))
MERGE = "Splits that stay cold are merged after 30 minutes here; Spanner takes a week or two."


def view_cutter(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The splits of one minute of a run, and what each minute committed."""
    key, offered, nodes, minute = (parameters[name] for name in ("key", "offered", "nodes", "minute"))
    parts = parameters["start"]
    start: dict[str, Any] = {"presplit": parts} if parts else {"start": "cold"}
    run = run_key(key, offered, nodes, minutes=MINUTES, **start)
    return draw_minute(run, minute, offered, f"Key: {WORDS[key]}", MERGE)


def cutter() -> Panel:
    """Panel 4A of lesson 4."""
    controls = (
        Choice("key", "Key", KEYS, "uuid4"),
        Choice("start", "Start", STARTS, 0),
        Choice("offered", "Offered writes/s", rates(12_000, 20_000, 50_000), 50_000),
        Number("nodes", "Nodes", tuple(range(10, 31)), 30),
        Number("minute", "Minute", tuple(range(1, MINUTES + 1)), 5),
    )
    return Panel("4A · The cutter", controls, view_cutter)


# ------------------------------------------------------------------------------------------------ front and width

FRONT_NODES, FRONT_WRITES = 30, 12_000
RATIOS = tuple(round(0.05 * step, 2) for step in range(31))


def leaders_law(ratio: float, offered: float, split_writes: float) -> float:
    """Committed writes/s of a front that loses `ratio` of its width while a cut takes effect."""
    return min(offered, split_writes * max(1.0, 1 / (2 * ratio))) if ratio else offered


def view_front(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The law of moving fronts, and a simulated point on it."""
    ratio = parameters["ratio"]
    delay = model().detect_s + model().apply_s  # and a front of times moves on by a second a second
    word = f"ahead({delay / ratio:.6g})" if ratio else "uuid4"
    run = run_key(word, FRONT_WRITES, FRONT_NODES, minutes=MINUTES)
    last = slice(-600, None)  # a front is slow: ten minutes
    simulated = carried(float(run.committed[last].mean()), float(run.offered[last].mean()), FRONT_WRITES)
    law = [(one, leaders_law(one, FRONT_WRITES, run.model.split_writes)) for one in (0.01, *RATIOS[1:])]
    sentence = (
        f"vτ ÷ w = {ratio:g}: {rounded(simulated)} of {thousands(FRONT_WRITES)} writes/s commit; "
        f"the law says {rounded(leaders_law(ratio, FRONT_WRITES, run.model.split_writes))}."
    )
    points = [(ratio, simulated)] if before is None else [before.state, (ratio, simulated)]
    width = "no front at all" if not ratio else f"a front {delay / ratio:,.0f} s wide"
    chart = front(
        law,
        points,
        heading=(f"Inserts at {width}, cuts that take {delay:.0f} s", sentence),
        caption=["Line: the law, max(1, w ÷ 2vτ) splits share the load. Dot: a run; pale: before.", *caption_of(run)],
        description=f"Committed writes over vτ ÷ w (speed × delay ÷ width), a falling curve with a dot. {sentence}",
    )
    return Scene(chart, sentence, committed_figure(simulated), (ratio, simulated))


def front_and_width() -> Panel:
    """Panel 4B of lesson 4."""
    return Panel("4B · Front and width", (Number("ratio", "vτ ÷ w", RATIOS, 1.0),), view_front)
