"""Split points given in advance: the file form, the limits, and what they cut."""

from __future__ import annotations

import random
import re
import uuid

import pytest

from spanlab.schema import Schema
from spanlab.splits import Workload, simulate, splits_file

SCHEMA = Schema.from_ddl(
    "CREATE TABLE SaleOrders (OrderId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), At TIMESTAMP, Status STRING(9)) "
    "PRIMARY KEY (OrderId);"
    "CREATE INDEX ByStatus ON SaleOrders (Status, At DESC);"
    "CREATE TABLE Events (Shard INT64 NOT NULL, At TIMESTAMP NOT NULL, Loud BOOL, Id INT64) PRIMARY KEY (Shard, At)"
)
QUARTERS = ["TABLE SaleOrders ('40000000')", "TABLE SaleOrders ('80000000')", "TABLE SaleOrders ('c0000000')"]


def random_uuids(n):
    source = random.Random(4)
    return [str(uuid.UUID(int=source.getrandbits(128), version=4)) for _ in range(n)]


def test_quarters():
    """Challenge 4.4: each part holds a quarter of random UUIDs; capitals sort before lower-case letters."""
    assert splits_file(QUARTERS, SCHEMA).shares("SaleOrders", random_uuids(20_000)) == pytest.approx(
        [0.25] * 4, abs=0.02
    )
    capital = [*QUARTERS[:2], "TABLE SaleOrders ('C0000000')"]
    assert splits_file(capital, SCHEMA).shares("SaleOrders", random_uuids(20_000))[3] == pytest.approx(6 / 16, abs=0.02)


def test_forms():
    file = splits_file(
        "TABLE Events ('3', '2026-09-21T00:00:00Z')\n\n"
        "INDEX ByStatus ('a\\, b', '2026-09-21T00:00:00Z') TableKey ('4f')\n",
        SCHEMA,
    )
    assert [point.key for point in file.points] == [
        (3, "2026-09-21T00:00:00Z"),
        ("a, b", "2026-09-21T00:00:00Z", "4f"),
    ]
    assert [(point.kind, point.name) for point in file.points] == [("TABLE", "Events"), ("INDEX", "ByStatus")]
    assert splits_file([f"TABLE SaleOrders ('{i:03x}')" for i in range(1, 221)], SCHEMA).requests == 3


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("ALTER TABLE SaleOrders SPLIT", "Split points are no DDL"),
        ("TABLE SaleOrder ('4')", "Did you mean SaleOrders"),
        ("TABLE SaleOrders (40000000)", "single quotes"),
        ("TABLE SaleOrders ('4', '5')", "complete key (OrderId)"),
        ("TABLE Events ('3')", "complete key (Shard, At)"),
        ("TABLE Events ('x', '2026-09-21T00:00:00Z')", "no value of Shard"),
        ("TABLE SaleOrders ('4) ", "Line 1"),
        ("INDEX ByStatu ('x', 'y')", "Did you mean ByStatus"),
        ("TABLE SaleOrders ('4') TableKey ('5')", "belongs to an index"),
    ],
)
def test_lines_that_gcloud_would_not_read(line, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        splits_file([line], SCHEMA)


def test_points_out_of_order():
    with pytest.raises(ValueError, match="out of order"):
        splits_file(QUARTERS[::-1], SCHEMA)


LOAD = Workload("SaleOrders", 7_000, values={"Status": "const(NEW)", "At": "uuid4"})


def test_given_points_cut_where_they_say():
    run = simulate(SCHEMA, LOAD, nodes=10, minutes=2, presplit=QUARTERS)
    own = [split for split in run.splits() if split["keyspace"] == "SaleOrders"]
    assert [split["split_start"] for split in own] == ["<begin>", *(f'SaleOrders("{q}0000000")' for q in "48c")]
    assert [split["share"] for split in own] == pytest.approx([0.25] * 4, abs=0.03)


def test_given_points_of_several_columns():
    load = Workload("Events", 1_000, values={"Shard": "shard(8)", "At": "now"})
    lines = [f"TABLE Events ('{shard}', '2026-09-20T00:00:00Z')" for shard in range(8)]
    run = simulate(SCHEMA, load, nodes=5, minutes=1, presplit=lines)
    assert [split["share"] for split in run.splits()] == pytest.approx([0, *[1 / 8] * 8], abs=0.02)


def test_limits():
    with pytest.raises(ValueError, match="50 on 1 nodes"):
        simulate(SCHEMA, LOAD, nodes=1, presplit=[f"TABLE SaleOrders ('{i:03x}')" for i in range(1, 60)])
    with pytest.raises(ValueError, match="does not write to"):
        simulate(SCHEMA, LOAD, nodes=5, presplit=["TABLE Events ('1', '2026-09-20T00:00:00Z')"])
    with pytest.raises(ValueError, match="lines of a splits file"):
        simulate("uuid4", writes_per_second=5, presplit=["TABLE T ('4')"])
