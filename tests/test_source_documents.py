"""The study documents behind the course: their statements are read, refused where wrong, planned and simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

import spanlab as sl
from spanlab.errors import SqlError
from spanlab.schema import Schema
from spanlab.sql import parse_each

SOURCE = Path(__file__).resolve().parents[2] / "shared" / "source_ddl"
pytestmark = pytest.mark.skipif(
    not SOURCE.exists(), reason="the source documents' statements are not beside the project"
)


def as_far_as_right(name: str) -> Schema:
    """The schema that a document's statements make, the wrong ones left out."""
    schema = Schema()
    for statement in parse_each((SOURCE / f"{name}.sql").read_text(encoding="utf-8")):
        try:
            schema = schema.apply(statement)  # type: ignore[arg-type]
        except SqlError:
            continue
    return schema


def queries(name: str) -> list[str]:
    """A document's queries: those between its heading and the next one in `queries.sql`."""
    parts = (SOURCE / "queries.sql").read_text(encoding="utf-8").split("-- ")
    [own] = [part.partition("\n")[2] for part in parts if part.startswith(name)]
    return [query for query in (q.strip() for q in own.split(";")) if query]


def test_s000_reads_one_customer_in_one_place_and_scans_for_a_date_where_the_index_does_not_serve() -> None:
    db = sl.Database(as_far_as_right("S000"))
    one_customer, all_columns, unknown, forced = queries("S000")
    plan = db.explain(one_customer)
    assert [node.operator for node in plan if "Apply" in node.operator] == ["Cross Apply"]  # no distributed one
    assert not any(node.full_scan for node in plan)
    read = {node.target for node in db.explain(all_columns) if node.operator.endswith("Scan") and node.target}
    assert read & {"Orders", "OrdersByOrderDate"}
    with pytest.raises(SqlError, match="Status"):  # Orders has no such column (facts.md, list A)
        db.explain(unknown)
    back_join = [node.operator for node in db.explain(forced) if "Apply" in node.operator]
    assert back_join[0] == "Distributed Cross Apply"  # the index holds no TotalAmount


def test_s001_seeks_on_the_shard_alone_with_between() -> None:
    db = sl.Database(as_far_as_right("S001"))
    forced, between, columns, indexes = queries("S001")
    with pytest.raises(SqlError, match="OrdersByCustomerStatus"):  # that index was refused: Orders has no Status
        db.explain(forced, {"cid": "c", "status": "OPEN"})
    [scan] = [node for node in db.explain(between, {"day_start": "a", "day_end": "b"}) if node.operator == "Table Scan"]
    assert "$ShardId" in scan.seek_condition
    assert "$TxnId" not in scan.seek_condition
    assert len(db.query(columns).rows) > 10
    assert any(row[0] == "OrdersByPlacedAt" for row in db.query(indexes).rows)


@pytest.mark.parametrize(
    ("name", "table", "values", "committed"),
    [
        ("S001", "PageViews", {"ViewedAt": "now", "Url": "text(40)"}, 1_800),  # its own "anti-pattern"
        ("S001", "Events", {"EventId": "seq", "Payload": "text(40)", "CreatedAt": "now"}, 1_800),
        ("S001", "Users", {"Email": "text(24)"}, 12_000),  # a bit-reversed sequence
        (
            "S001",
            "Payments",
            {"ShardId": "shard(32)", "PaymentId": "ulid", "Amount": "const(1)", "BookedAt": "now"},
            12_000,
        ),
        ("S004", "Customers", {"CustomerId": "uuid4", "FullName": "text(20)", "Email": "text(24)"}, 12_000),
    ],
)
def test_their_tables_under_12000_writes_a_second(
    name: str, table: str, values: dict[str, str], committed: int
) -> None:
    load = sl.Workload(table, writes_per_second=12_000, values=values)
    run = sl.simulate(as_far_as_right(name), load, nodes=10)
    assert run.summary()["committed"] == pytest.approx(committed, rel=0.02)
