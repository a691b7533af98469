"""Panel 8B: an index on time, cut into shards: what it takes, and what a reader pays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from spanlab.charts import Figure, Scene, milliseconds, rounded, thousands
from spanlab.charts.gauges import Gauge, gauges
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.runs import caption_of, last_minute, p99_figure
from spanlab.splits import Run, Workload, simulate

NODES, NEWEST = 30, 100
SHARDS = (1, 2, 4, 8, 16, 17, 24, 32)
READS = (("the newest 100", "newest"), ("one day", "day"))
TIGHT_MS = 60.0  # from here on a commit mostly waits
_VISITS = """CREATE TABLE Visits (
  VisitId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), SeenAt TIMESTAMP NOT NULL{shard}
) PRIMARY KEY (VisitId);
CREATE INDEX VisitsByTime ON Visits ({key})"""
_SHARD = ", ShardId INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT(VisitId), {n}))) STORED"


@lru_cache(maxsize=64)
def run_visits(shards: int, offered: int) -> Run:
    """Ten minutes of inserts into a table with random keys and an index on time in so many shards."""
    from spanlab.schema import Schema

    alone = shards == 1
    shard, key = ("", "SeenAt DESC") if alone else (_SHARD.format(n=shards), "ShardId, SeenAt DESC")
    schema = Schema.from_ddl(_VISITS.format(shard=shard, key=key))
    return simulate(schema, Workload("Visits", writes_per_second=offered, values={"SeenAt": "now"}), nodes=NODES)


def rows_read_for_each(shards: int, read: str) -> int:
    """Rows that are read for each row returned: every shard gives its newest 100, but a row of the day lies in one."""
    return shards if read == "newest" else 1


def view_index_shards(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """Throughput and latency of the inserts, and what a reader of the index reads."""
    shards, offered, read = parameters["shards"], parameters["offered"], parameters["read"]
    run = run_visits(shards, offered)
    seen: dict[str, Any] = run.summary()
    committed, p99 = last_minute(run, offered), float(seen["p99_ms"])
    for_each = rows_read_for_each(shards, read)
    state = (committed, p99, shards, for_each)
    was = before.state if before else (None,) * 4
    top = max(SHARDS)
    figures = [
        Gauge(
            "committed inserts/s", committed, offered, f"{rounded(committed)} of {rounded(offered)}",
            committed < 0.98 * offered, 0, was[0],
        ),
        Gauge("p99 of a commit", p99, 1_000, milliseconds(p99), p99 > TIGHT_MS, 10, was[1]),
        Gauge("ranges that the read visits", shards, top, str(shards), before=was[2]),
        Gauge("rows read for each row returned", for_each, top, str(for_each), before=was[3]),
    ]  # fmt: skip
    ranges = f"{shards} range{'s' * (shards != 1)}"
    if read == "newest":
        reading = f"newest {NEWEST}: {ranges}, {thousands(for_each * NEWEST)} rows read for {NEWEST}"
    else:
        reading = f"one day: {ranges}, each row read once"
    sentence = f"{rounded(committed)} of {rounded(offered)} inserts/s commit; p99 {milliseconds(p99)}; {reading}."
    chart = gauges(
        figures,
        title=f"Index on time in {shards} shard{'s' * (shards != 1)}",
        subtitle="black tick: before · p99 on a logarithmic scale · orange: too little, or too slow",
        caption=[f"{NODES} nodes; the table's key is random.", *caption_of(run)],
        description=f"Four bars. {sentence}",
    )
    headline = Figure("committed inserts/s", committed, rounded(committed))
    besides = (
        p99_figure(p99),
        Figure("ranges", shards, str(shards)),
        Figure("rows read for one", for_each, str(for_each)),
    )
    return Scene(chart, sentence, headline, state, besides)


def index_shards() -> Panel:
    """Panel 8B of lesson 8."""
    controls = (
        Number("shards", "Shards", SHARDS, 1),
        Choice("offered", "Offered inserts/s", rates(5_000, 12_000, 30_000), 12_000),
        Choice("read", "Readers want", READS, "newest"),
    )
    return Panel("8B · Shards of an index", controls, view_index_shards)
