"""How fast plans and queries are.

    python benchmarks/query.py

Figures: explain (median and worst over some queries; goal under 10 ms); a 10 % index range of 100,000 rows with
back-join (goal under 0.3 s) and the same from a covering index (goal at least twice as fast); joins and groups over the
`shop` data.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from spanlab.query import Database
from spanlab.schema import Schema
from spanlab.storage import data

EVENTS = """
CREATE TABLE Events (Id STRING(36) NOT NULL, At INT64 NOT NULL, Kind STRING(10), Amount INT64, Note STRING(MAX))
  PRIMARY KEY (Id);
CREATE INDEX EventsByAt ON Events (At);
CREATE INDEX EventsByAtFull ON Events (At) STORING (Kind, Amount);
"""
ROWS = 100_000
EXPLAINED = (
    "SELECT * FROM Shoppers WHERE ShopperId = @s",
    "SELECT s.Name, p.Total FROM Shoppers s JOIN Purchases p USING (ShopperId) WHERE p.Status = 'OPEN'",
    "SELECT Status, COUNT(*) FROM Purchases GROUP BY Status ORDER BY 2 DESC LIMIT 5",
    "SELECT 1 FROM Shoppers s WHERE EXISTS (SELECT 1 FROM Purchases p WHERE p.ShopperId = s.ShopperId AND Total > 9)",
    """SELECT i.Sku, SUM(i.Qty) FROM Shoppers s JOIN Purchases p USING (ShopperId)
    JOIN PurchaseItems i USING (ShopperId, PurchaseId) GROUP BY i.Sku""",
)


def seconds(call: Callable[[], object], times: int = 5) -> float:
    """The median time of a call."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def explaining() -> None:
    """Plans made anew each time."""
    database = Database(data("shop").schema)

    def explain(sql: str) -> None:
        database.plan_cache.clear()
        database.explain(sql, {"s": "x"})

    times = [seconds(lambda sql=sql: explain(sql), 15) for sql in EXPLAINED]  # type: ignore[misc]
    print(f"explain: median {statistics.median(times) * 1e3:.1f} ms, worst {max(times) * 1e3:.1f} ms (goal 10 ms)")


def ranges() -> None:
    """A tenth of 100,000 rows by index, with and without fetching base rows."""
    database = Database(Schema.from_ddl(EVENTS))
    rows = [(data.uuid(i), i % 1000, "ab"[i % 2], i % 77, "x" * 20) for i in range(ROWS)]
    database.load("Events", ["Id", "At", "Kind", "Amount", "Note"], rows)
    forced = "SELECT Id, At, Kind, Amount FROM Events@{{FORCE_INDEX={}}} WHERE At >= @a AND At < @b"
    window = {"a": 100, "b": 200}
    found = {}
    for index in ("EventsByAt", "EventsByAtFull"):
        sql = forced.format(index)
        start = time.perf_counter()
        result = database.query(sql, window)
        first = time.perf_counter() - start
        found[index] = seconds(lambda sql=sql: database.query(sql, window))  # type: ignore[misc]
        print(
            f"{index}: {len(result.rows):,} rows, {result.scanned:,} scanned, {result.back_joins:,} back-joins; "
            f"first {first * 1e3:.0f} ms, then {found[index] * 1e3:.0f} ms (goal 300 ms)"
        )
    print(f"covered: {found['EventsByAt'] / found['EventsByAtFull']:.1f} times as fast (goal 2)")


def shop() -> None:
    """Joins and groups over 20,000 purchases and 60,000 items."""
    database = Database(data("shop").schema)
    data("shop").into(database)
    for sql in EXPLAINED:
        database.query(sql, {"s": data.uuid(1)})
        print(f"{seconds(lambda sql=sql: database.query(sql, {'s': data.uuid(1)}), 3) * 1e3:7.1f} ms  {sql[:100]}")  # type: ignore[misc]


if __name__ == "__main__":
    explaining()
    ranges()
    shop()
