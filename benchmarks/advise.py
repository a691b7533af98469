"""How long a large schema takes to read and to advise: 500 tables, 1,000 indexes, with all that real ones have.

    python benchmarks/advise.py

Prints seconds, and the ratio of each stage to plain tokenizing of the same text by sqlglot, measured in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from spanlab.advisor import advise
from spanlab.schema import Schema
from spanlab.sql import Spanner, parse_ddl

TABLES = 500


def schema_text(tables: int = TABLES) -> str:
    """DDL of families of two tables with two indexes each, checks, defaults, a foreign key."""
    parts = []
    for i in range(tables // 2):
        parts.append(
            f"CREATE TABLE Customers{i} (CustomerId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), Name STRING(100), "
            f"SeenAt TIMESTAMP, Level INT64, CONSTRAINT Level{i} CHECK (Level >= 0 AND Level < 10)) PRIMARY KEY "
            f"(CustomerId)"
        )
        parts.append(
            f"CREATE TABLE Orders{i} (CustomerId STRING(36) NOT NULL, OrderId INT64 NOT NULL, Status STRING(10), Total "
            f"NUMERIC, "
            f"At TIMESTAMP OPTIONS (allow_commit_timestamp = true), GiverId STRING(36), "
            f"CONSTRAINT Giver{i} FOREIGN KEY (GiverId) REFERENCES Customers{i} (CustomerId)) "
            f"PRIMARY KEY (CustomerId, OrderId), INTERLEAVE IN PARENT Customers{i} ON DELETE CASCADE"
        )
        parts.append(f"CREATE INDEX ByName{i} ON Customers{i} (Name)")
        parts.append(f"CREATE NULL_FILTERED INDEX BySeen{i} ON Customers{i} (SeenAt)")
        parts.append(f"CREATE INDEX ByStatus{i} ON Orders{i} (Status, At) STORING (Total)")
        parts.append(f"CREATE INDEX ByCustomer{i} ON Orders{i} (CustomerId, Status)")
    return ";\n".join(parts)


def main() -> None:
    """Measures each stage once; a run takes a few seconds."""
    text = schema_text()
    floor, _ = measured(lambda: Spanner().tokenize(text))
    parse, statements = measured(lambda: parse_ddl(text))
    build, schema = measured(lambda: Schema().apply(statements))
    look, findings = measured(lambda: advise(schema))
    print(
        f"{TABLES} tables, {len(schema.indexes)} indexes (those of foreign keys included), {len(text) // 1024} KiB of "
        f"DDL"
    )
    for name, seconds in (("tokenize", floor), ("parse", parse), ("apply", build), ("advise", look)):
        print(f"{name:9} {seconds:6.2f} s  {seconds / floor:5.1f} x tokenizing")
    print(f"together  {parse + build + look:6.2f} s, {len(findings):,} findings")


def measured(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and what it returns."""
    begun = time.perf_counter()
    value = call()
    return time.perf_counter() - begun, value


if __name__ == "__main__":
    main()
