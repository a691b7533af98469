"""Panel 7B: what indexes take from a table's writes, by their number and by their order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from spanlab.charts import Figure, Scene, milliseconds, rounded
from spanlab.charts.gauges import Gauge, gauges
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.runs import caption_of, committed_figure, last_minute, p99_figure
from spanlab.splits import Run, Workload, simulate

COLUMNS = ("A", "B", "C", "D", "E")
SHARDS = 8
LED_BY_TIME = (("no", "none"), ("yes", "time"), (f"yes, behind {SHARDS} shards", "shards"))
TIGHT_MS, FULL = 50.0, 0.9
TABLE = f"""CREATE TABLE Events (
  EventId STRING(36) NOT NULL, MadeAt TIMESTAMP NOT NULL, {"".join(f"{column} STRING(36), " for column in COLUMNS)}
  Shard INT64 NOT NULL AS (MOD(MOD(FARM_FINGERPRINT(EventId), {SHARDS}) + {SHARDS}, {SHARDS})) STORED,
) PRIMARY KEY (EventId)"""
KEYS = {"time": "MadeAt", "shards": "Shard, MadeAt"}
VALUES = {"EventId": "uuid4", "MadeAt": "now", **dict.fromkeys(COLUMNS, "uuid4")}


@cache
def run_with_indexes(even: int, led: str, offered: int, nodes: int) -> Run:
    """Ten minutes of a table keyed by UUID, with so many indexes on UUIDs and perhaps one on the time of insert."""
    from spanlab.schema import Schema

    indexes = [f"CREATE INDEX By{column} ON Events ({column})" for column in COLUMNS[:even]]
    if led in KEYS:
        indexes.append(f"CREATE INDEX ByTime ON Events ({KEYS[led]})")
    schema = Schema.from_ddl(";\n".join([TABLE, *indexes]))
    return simulate(schema, Workload("Events", offered, values=VALUES), nodes=nodes)


def _fullest(run: Run, name: str) -> float:
    """How full the fullest split of a key space is, in % of what one split can do. `name` is how key spaces begin."""
    scores = [float(str(s["cpu_usage_score"])) for s in run.splits() if str(s["keyspace"]).startswith(name)]
    return max(scores, default=0.0)


def _limit(short: bool, tail: float, cpu: float) -> str:
    """What is full: the gauges show the same figures."""
    if tail >= 100 * FULL:
        return "the time-led index " + ("and the CPU are full" if cpu >= FULL else "is full, the servers are not")
    if cpu >= FULL:
        return "the servers' CPU is full, no split is"
    return "some servers are full, most are not" if short else "nothing is full"


def view_price(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """What is committed with some indexes, and what is full: the servers, or one split of one index."""
    even, led, offered, nodes = (parameters[name] for name in ("even", "led", "offered", "nodes"))
    run = run_with_indexes(even, led, offered, nodes)
    seen: dict[str, Any] = run.summary()
    committed, p99, cpu = last_minute(run, offered), float(seen["p99_ms"]), float(seen["cpu_mean"])
    spaces = [("table", _fullest(run, "Events"))]
    if even:
        fullest = max(_fullest(run, f"By{column}") for column in COLUMNS[:even])
        spaces.append((f"{even} even index{'es' * (even > 1)}", fullest))
    tail = _fullest(run, "ByTime") if led != "none" else 0.0
    if led != "none":
        spaces.append(("time-led index", tail))
    short = committed < 0.98 * offered
    was = before.state if before else {}
    figures = [
        Gauge("committed writes/s", committed, offered, f"{rounded(committed)} of {rounded(offered)}", short),
        Gauge("p99 of a commit", p99, 2_000, milliseconds(p99), p99 > TIGHT_MS, 10, was.get("p99")),
        Gauge("CPU of the servers, mean", 100 * cpu, 100, f"{100 * cpu:.0f} %", cpu >= FULL, before=was.get("cpu")),
        *(
            Gauge(f"fullest split: {name}", score, 100, f"{score:.0f} %", score >= 100 * FULL, before=was.get(name))
            for name, score in spaces
        ),
    ]
    limit = _limit(short, tail, cpu)
    sentence = f"{rounded(committed)} of {rounded(offered)} writes/s commit; p99 {milliseconds(p99)}; {limit}."
    count = even + (led != "none")
    chart = gauges(
        figures,
        title=f"A table keyed by UUID with {count or 'no'} index{'es' * (count != 1)}, {nodes} nodes",
        subtitle="orange: too little, too slow, or full · black tick: before · p99 on a logarithmic scale",
        caption=caption_of(run),
        description=f"{len(figures)} bars. {sentence}",
    )
    state = {"p99": p99, "cpu": 100 * cpu, **dict(spaces)}
    besides = (p99_figure(p99), Figure("mean CPU", 100 * cpu, f"{100 * cpu:.0f} %"))
    return Scene(chart, sentence, committed_figure(committed), state, besides)


def index_price() -> Panel:
    """Panel 7B of lesson 7."""
    controls = (
        Number("even", "Even indexes", tuple(range(len(COLUMNS) + 1)), 0),
        Choice("led", "An index led by time", LED_BY_TIME, "none"),
        Choice("offered", "Offered writes/s", rates(1_000, 5_000, 12_000, 40_000), 12_000),
        Number("nodes", "Nodes", tuple(range(5, 31)), 10),
    )
    return Panel("7B · Price of an index", controls, view_price)
