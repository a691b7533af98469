"""Runs that panels share: remembered, as a reader comes back to old places."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from spanlab.charts import Figure, milliseconds, rounded
from spanlab.charts.figure import model_caption
from spanlab.splits import Key, Run, simulate


@lru_cache(maxsize=128)
def run_key(word: str | Key, writes_per_second: int, nodes: int, *, minutes: float = 10, **settings: Any) -> Run:
    """A run of a table whose key is a workload word ("uuid4", "(shard(16), ulid)"); ten minutes, if not told else."""
    return simulate(word, writes_per_second=writes_per_second, nodes=nodes, minutes=minutes, **settings)


def carried(committed: float, arrived: float, offered: float) -> float:
    """The writes/s to speak of: as many as are offered where all that arrived is committed, since arrivals are random.

    `committed` and `arrived` are means of the same time of a run, `offered` is the load that was asked for.
    """
    return offered if committed >= 0.995 * arrived else committed


def last_minute(run: Run, offered: float) -> float:
    """What a run commits per second in its last minute, to speak of."""
    return carried(float(run.committed[-60:].mean()), float(run.offered[-60:].mean()), offered)


def committed_figure(committed: float) -> Figure:
    return Figure("committed writes/s", committed, rounded(committed))


def p99_figure(ms: float) -> Figure:
    return Figure("p99", ms, milliseconds(ms))


def describe(run: Run, offered: float, nodes: int) -> str:
    """The outcome of a run in one sentence: "1,800 of 12,000 writes/s commit; 1 of 3 servers works; p99 409 ms."."""
    seen: dict[str, Any] = run.summary()
    # not summary's busy_servers: below 2 % CPU a server works too, and "0 of 10 work" would be odd
    busy = int((run.server_writes >= 1.0).sum())
    return (
        f"{rounded(last_minute(run, offered))} of {rounded(offered)} writes/s commit; "
        f"{busy} of {nodes} server{'s' * (nodes != 1)} work{'s' * (busy == 1)}; p99 {milliseconds(seen['p99_ms'])}."
    )


def caption_of(run: Run) -> list[str]:
    """The caption under every picture of a run."""
    return model_caption(run.model.name, run.model.split_writes, run.model.node_writes)
