"""How fast rows are written and read, and how much memory they take.

    python benchmarks/storage.py              # 100,000 and 1,000,000 rows with two indexes, single commits, reads
    python benchmarks/storage.py 250000       # one size

Goals: 1,000,000 rows with two indexes in 15 s and 1.5 GiB, 100,000 in 1.2 s; 20,000 commits of one row a second on
100,000 rows; growth no worse than n log n. Seconds are of the processor, and of the clock in brackets.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from datetime import timedelta

from spanlab.schema import Schema
from spanlab.storage import Database, data

DDL = """
CREATE TABLE Orders (OrderId STRING(36) NOT NULL, ShopperId STRING(36) NOT NULL, BoughtAt TIMESTAMP NOT NULL,
  Status STRING(10), Total INT64) PRIMARY KEY (OrderId);
CREATE INDEX OrdersByShopper ON Orders (ShopperId, BoughtAt DESC);
CREATE INDEX OrdersByDate ON Orders (BoughtAt) STORING (Total)
"""
COLUMNS = ["OrderId", "ShopperId", "BoughtAt", "Status", "Total"]
SINGLE = 20_000


def order(number: int, of: str = "") -> list[object]:
    """One row."""
    return [data.uuid(number, of), data.uuid(number % 1000), data.day(0) + timedelta(seconds=number), "DONE", number]


def timed(what: str, run: Callable[[], object], count: int = 0) -> None:
    """Run it and print how long it took."""
    clock, processor = time.perf_counter(), time.process_time()
    run()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    rate = f"  {count / processor:>9,.0f} a second" if count else ""
    print(f"  {what:<44} {processor:7.2f} s ({clock:.2f}){rate}", flush=True)


def megabytes() -> int:
    """The most memory that the process has had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(count: int) -> None:
    """Everything, for one number of rows."""
    print(f"{count:,} rows of 5 columns, two indexes")
    rows = [order(number) for number in range(count)]
    before = megabytes()
    db = Database(Schema.from_ddl(DDL))

    def load() -> None:
        db.load("Orders", COLUMNS, rows)
        for name in ("Orders", "OrdersByShopper", "OrdersByDate"):
            db.stored(name).keys()

    timed("load, and put all keys in order", load, count)
    print(f"  {'memory: rows as given, and stored':<44} {before:7,} MiB, {megabytes():,} MiB")
    timed("columns as arrays, the first time", lambda: db.stored("Orders").vectors(COLUMNS))
    timed("row numbers from an index, the first time", lambda: db.stored("OrdersByDate").base_numbers())
    if count > 200_000:
        return
    new = [order(number, "new") for number in range(SINGLE)]
    timed("commits of one insert", lambda: [db.commit([("insert", "Orders", COLUMNS, [row])]) for row in new], SINGLE)
    change = ["OrderId", "Status"]
    timed(
        "commits of one update",
        lambda: [db.commit([("update", "Orders", change, [[row[0], "SENT"]])]) for row in new],
        SINGLE,
    )
    deletes = [[("delete", "Orders", {"keys": [row[:1]]})] for row in new]
    timed("commits of one delete", lambda: [db.commit(delete) for delete in deletes], SINGLE)
    timed("one commit of 10,000 inserts, undone", lambda: undone(db, [order(n, "x") for n in range(10_000)]))
    timed("backfill of one more index", lambda: db.apply_ddl("CREATE INDEX OrdersByTotal ON Orders (Total)"), count)


def undone(db: Database, rows: list[list[object]]) -> None:
    """A commit that fails at its last row."""
    try:
        db.commit([("insert", "Orders", COLUMNS, rows), ("update", "Orders", COLUMNS[:1], [["nothing"]])])
    except Exception as error:
        assert "NOT_FOUND" in str(error)  # noqa: PT017


if __name__ == "__main__":
    for size in [int(word) for word in sys.argv[1:]] or [100_000, 1_000_000]:
        measure(size)
