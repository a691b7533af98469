"""Ready pictures of runs that a reader made: steps of a sweep, minutes and splits of a run, latency of several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanlab.charts import Figure, Scene, milliseconds, rounded
from spanlab.charts.curves import latency_curves
from spanlab.charts.stairs import Step
from spanlab.charts.stairs import stairs as draw_stairs
from spanlab.charts.strip import Minutes, split_strip
from spanlab.charts.style import three_figures
from spanlab.panels.runs import caption_of, carried, committed_figure
from spanlab.splits import Run

COSTS = {"shards": ("scan_ranges", "ranges that a scan over one day visits")}
IDLE = ("idle_servers", "servers without work")


def stairs(rows: Sequence[Mapping[str, Any]]) -> Scene:
    """What `sl.sweep` found, as stairs: committed writes/s for each value, and beside it what the value costs.

    For shards the cost is the number of ranges that a scan visits, for all else the servers that have no work.
    """
    if not rows:
        raise ValueError("rows is empty: there is no step to draw; give what sl.sweep returned.")
    swept = next(iter(rows[0]))
    field, cost = COSTS.get(swept, IDLE)
    steps = [Step(str(row[swept]), row["committed"], row[field] or 0) for row in rows]
    offered = three_figures(max(row["offered"] for row in rows))
    found = ", ".join(f"{step.name}: {rounded(step.committed)}" for step in steps)
    sentence = f"Committed of {rounded(offered)} writes/s, by {swept}: {found}."
    chart = draw_stairs(
        steps,
        offered=offered,
        step=swept,
        cost=cost,
        title=f"Committed writes/s, by {swept}",
        caption=[f"{len(rows)} runs; means of the last minute of each."],
        description=f"Two rows of bars: committed writes, and {cost}. {sentence}",
    )
    return Scene(chart, sentence)


def cuts(run: Run, minute: int | None = None) -> Scene:
    """A run minute by minute, and the splits at the end of one minute (from 1; by default the last)."""
    last = len(run.committed) // 60
    if minute is not None and not 1 <= minute <= last:
        raise ValueError(f"minute is {minute!r}; the run has minutes 1 to {last}.")
    offered = three_figures(float(run.offered[-60:].mean()))
    return draw_minute(run, minute or last, offered, "Committed writes, minute by minute")


def draw_minute(run: Run, minute: int, offered: float, heading: str, *notes: str) -> Scene:
    """One minute of a run: what all minutes committed, and the splits at the end of that minute."""
    committed = run.committed[: len(run.committed) // 60 * 60].reshape(-1, 60).mean(axis=1).tolist()
    splits, arrived = run.splits(at=60 * minute - 1), float(run.offered[60 * minute - 60 : 60 * minute].mean())
    now = carried(committed[minute - 1], arrived, offered)
    count = f"{len(splits)} split{'s' * (len(splits) != 1)}"
    sentence = f"Minute {minute}: {count}, {rounded(now)} of {rounded(offered)} writes/s."
    chart = split_strip(
        Minutes(committed, offered, minute),
        splits,
        heading=(heading, sentence),
        caption=[*caption_of(run), *notes],
        description=f"Committed writes minute by minute, and a strip of splits. {heading}. {sentence}",
    )
    cut = Figure("splits", len(splits), str(len(splits)))
    return Scene(chart, sentence, committed_figure(now), besides=(cut,))


def latency(runs: Mapping[str, Run], q: float = 0.99) -> Scene:
    """How long commits take, second by second: one curve for each run, by its name. At most five."""
    curves = {name: run.commit_latency_ms(q) for name, run in runs.items()}
    ends = "; ".join(f"{name}: {milliseconds(float(ms[-60:].mean()))}" for name, ms in curves.items())
    sentence = f"p{100 * q:g} of commits in the last minute: {ends}."
    chart = latency_curves(
        curves,
        heading=(f"p{100 * q:g} of commits", sentence),
        caption=caption_of(next(iter(runs.values()))),
        description=f"Curves of commit latency over time, on a logarithmic scale. {sentence}",
    )
    return Scene(chart, sentence)
