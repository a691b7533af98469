"""The benches of labs A and B: the levers of the story on one panel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from spanlab.charts import Scene, milliseconds
from spanlab.panels.controls import Choice, Number, rates
from spanlab.panels.panel import Panel
from spanlab.panels.pictures import draw_minute
from spanlab.panels.runs import run_key
from spanlab.panels.shards import EXPRESSIONS, draw_shards
from spanlab.splits import Run, Workload, model, simulate

# ------------------------------------------------------------------------------------------------- A: the flash sale

ORDERS, SALE_MINUTES, CONNECTIONS = 50_000, 20, 10_000
SALE_KEYS = (
    ("old: (BoughtAt, OrderId)", "now"),
    ("(OrderId), a UUIDv4", "uuid4"),
    *((f"{n} shards in front of the time", f"(shard({n}), now)") for n in (8, 16, 24, 32, 44, 64)),
)
POINTS = (("none: the table is cold", 0), ("60", 60), ("220", 220))


def view_sale(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """One minute of the sale, the splits that serve it, and how the sale ends."""
    key, nodes, points, minute = (parameters[name] for name in ("key", "nodes", "points", "minute"))
    start: dict[str, Any] = {"presplit": points} if points else {"start": "cold"}
    figures = model("study", open_commits=CONNECTIONS)
    run = run_key(key, ORDERS, nodes, minutes=SALE_MINUTES, model=figures, **start)
    seen: dict[str, Any] = run.summary()
    words = {value: words for words, value in SALE_KEYS}[key]
    scene = draw_minute(run, minute, ORDERS, f"Key {words}, {nodes} nodes", f"{CONNECTIONS:,} open commits at most.")
    busy = f"{seen['busy_servers']} of {nodes} servers at work"
    end = f"In the last minute: p99 {milliseconds(seen['p99_ms'])}, {busy}, mean CPU {100 * seen['cpu_mean']:.0f} %."
    return Scene(scene.chart, f"{scene.sentence} {end}", scene.headline)


def sale() -> Panel:
    """The bench of lab A."""
    controls = (
        Choice("key", "Key", SALE_KEYS, "now"),
        Number("nodes", "Nodes", tuple(range(10, 61)), 22),
        Choice("points", "Split points", POINTS, 0),
        Number("minute", "Minute of the sale", tuple(range(1, SALE_MINUTES + 1)), 1),
    )
    return Panel("A · The flash sale", controls, view_sale)


# ----------------------------------------------------------------------------------------------------- B: the ledger

REFERENCES = (
    ("no foreign key", "none"),
    ("to EntryId", "id"),
    ("to (ShardId, EntryId)", "key"),
    ("to EntryId, NOT ENFORCED", "trusted"),
)
HASH = {"safe": "MOD(MOD(FARM_FINGERPRINT(EntryId), {n}) + {n}, {n})", "signed": "MOD(FARM_FINGERPRINT(EntryId), {n})"}


def ledger_ddl(shards: int, expression: str, reference: str) -> str:
    """The ledger, and a table of refunds that refers to it."""
    shard = f"ShardId INT64 NOT NULL AS ({HASH[expression].format(n=shards)}) STORED, " if shards else ""
    key = "ShardId, EntryId" if shards else "EntryId"
    ledger = (
        f"CREATE TABLE LedgerEntries ({shard}EntryId STRING(26) NOT NULL, Amount NUMERIC NOT NULL, "
        f"PostedAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY ({key});"
    )
    if reference == "none":
        return ledger
    columns = key if reference == "key" else "EntryId"
    trusted = " NOT ENFORCED" if reference == "trusted" else ""
    return ledger + (
        f"CREATE TABLE Refunds (RefundId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), {shard}"
        f"EntryId STRING(26) NOT NULL, FOREIGN KEY ({columns}) REFERENCES LedgerEntries ({columns}){trusted}"
        ") PRIMARY KEY (RefundId);"
    )


@cache
def _ledger(shards: int, expression: str, reference: str, offered: int, nodes: int) -> Run:
    from spanlab.schema import Schema

    schema = Schema.from_ddl(ledger_ddl(shards, expression, reference))
    values = {"EntryId": "ulid", "PostedAt": "now", "Amount": "const(10)"}
    return simulate(schema, Workload("LedgerEntries", offered, values=values), nodes=nodes)


def view_ledger(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """Throughput, latency and the daily scan of the ledger, with its shards and what refers to it."""
    shards, expression, reference, offered, nodes = (
        parameters[name] for name in ("shards", "expression", "reference", "offered", "nodes")
    )
    run = _ledger(shards, expression, reference, offered, nodes)
    helpers = [str(space["name"]) for space in run.keyspaces()[1:]]
    note = f"Spanner adds an index for the foreign key: {helpers[0]}." if helpers else ""
    signed = expression == "signed" and shards > 0
    return draw_shards(run, shards, offered, signed=signed, before=before, note=note)


def ledger() -> Panel:
    """The bench of lab B."""
    controls = (
        Choice("shards", "Shards", (("none", 0), *((str(n), n) for n in (4, 8, 16, 32, 64))), 0),
        Choice("expression", "Shard expression", EXPRESSIONS, "safe"),
        Choice("reference", "Foreign key", REFERENCES, "none"),
        Choice("offered", "Offered writes/s", rates(6_000, 12_000, 50_000), 12_000),
        Number("nodes", "Nodes", tuple(range(10, 31)), 10),
    )
    return Panel("B · The ledger", controls, view_ledger)
