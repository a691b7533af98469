"""Mutation counts: the worked examples of facts.md 6.2, the published and the measured ones of the corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanlab.errors import ConstraintError
from spanlab.schema import Schema
from spanlab.storage import Database, batches, mutations

FIVE = "CREATE TABLE Five (A INT64 NOT NULL, B INT64, C INT64, D INT64, E INT64) PRIMARY KEY (A)"
TWO_INDEXES = f"{FIVE}; CREATE INDEX FiveByB ON Five (B); CREATE INDEX FiveByC ON Five (C)"
ONE_INDEX = f"{FIVE}; CREATE INDEX FiveByB ON Five (B)"
TWO_KEYS = "CREATE TABLE T (A INT64 NOT NULL, B INT64 NOT NULL, C INT64, D INT64, E INT64) PRIMARY KEY (A, B)"
FAMILY = """CREATE TABLE P (K INT64 NOT NULL) PRIMARY KEY (K);
CREATE TABLE C (K INT64 NOT NULL, N INT64 NOT NULL, V INT64) PRIMARY KEY (K, N),
  INTERLEAVE IN PARENT P ON DELETE CASCADE"""
FIVE_COLUMNS = ["A", "B", "C", "D", "E"]


def filled(ddl, table="Five", columns=FIVE_COLUMNS, rows=()):
    db = Database(Schema.from_ddl(ddl))
    db.load(table, columns, rows)
    return db


def five_rows(count):
    return [[n, n, n, n, n] for n in range(count)]


def refused(db, operations):
    """The count that a refused commit is told, and that it changed nothing."""
    before = {name: len(db.stored(name)) for name in [*db.schema.tables, *db.schema.indexes]}
    with pytest.raises(ConstraintError) as caught:
        db.commit(operations)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert {name: len(db.stored(name)) for name in before} == before
    return caught.value.message


def test_e1_insert_one_row_of_five_columns():
    assert filled(FIVE).commit([("insert", "Five", FIVE_COLUMNS, five_rows(1))]).mutations == 5


def test_e2_update_three_columns_with_a_key_of_two():
    db = filled(TWO_KEYS, "T", FIVE_COLUMNS, five_rows(1))
    assert db.commit([("update", "T", FIVE_COLUMNS, [[0, 0, 7, 8, 9]])]).mutations == 5


def test_e3_update_two_rows():
    db = filled(TWO_KEYS, "T", FIVE_COLUMNS, five_rows(2))
    assert db.commit([("update", "T", ["A", "B", "C"], [[0, 0, 5], [1, 1, 6]])]).mutations == 6


def test_e4_e5_deletes_without_index():
    db = filled(FIVE, rows=five_rows(1001))
    assert db.commit([("delete", "Five", {"keys": [[1000]]})]).mutations == 1
    assert db.commit([("delete", "Five", {"range": {"start_closed": [0], "end_open": [1000]}})]).mutations == 1
    assert db.rows("Five") == []


def test_e6_range_of_1000_rows_with_two_indexes():
    db = filled(TWO_INDEXES, rows=five_rows(1000))
    assert db.commit([("delete", "Five", {"all": True})]).mutations == 2001


def test_e7_largest_range_delete_with_two_indexes():
    db = filled(TWO_INDEXES, rows=five_rows(40_000))
    assert "80,001" in refused(db, [("delete", "Five", {"all": True})])
    assert mutations(db.schema, ("delete", "Five", 39_999, {"by": "range"})) == 1 + 2 * 39_999 == 79_999


def test_e8_single_keys_with_one_index():
    db = filled(ONE_INDEX, rows=five_rows(40_001))
    assert db.commit([("delete", "Five", {"keys": [[n] for n in range(40_000)]})]).mutations == 80_000
    assert mutations(db.schema, ("delete", "Five", 40_001)) == 80_002


def test_e9_e10_e20_cascades_of_interleaved_children():
    children = [[1, n, n] for n in range(10_000)]
    for index, expected in (("", 1), ("; CREATE INDEX CByV ON C (V)", 10_001)):
        db = filled(FAMILY + index, "P", ["K"], [[1]])
        db.load("C", ["K", "N", "V"], children)
        assert db.commit([("delete", "P", {"keys": [[1]]})]).mutations == expected
        assert db.rows("C") == []


def test_e11_a_cascade_of_100000_indexed_children_fails():
    db = filled(f"{FAMILY}; CREATE INDEX CByV ON C (V)", "P", ["K"], [[1]])
    db.load("C", ["K", "N", "V"], ([1, n, n] for n in range(100_000)))
    assert "100,001" in refused(db, [("delete", "P", {"keys": [[1]]})])


def test_e12_16000_rows_of_five_columns():
    db = filled(FIVE)
    assert "80,005" in refused(db, [("insert", "Five", FIVE_COLUMNS, five_rows(16_001))])
    assert db.commit([("insert", "Five", FIVE_COLUMNS, five_rows(16_000))]).mutations == 80_000


def test_e13_11428_rows_of_five_columns_and_two_indexes():
    db = filled(TWO_INDEXES)
    assert "80,003" in refused(db, [("insert", "Five", FIVE_COLUMNS, five_rows(11_429))])
    assert db.commit([("insert", "Five", FIVE_COLUMNS, five_rows(11_428))]).mutations == 79_996
    assert len(batches(11_429, mutations_per_row=7)[0]) == 11_428


def test_e14_an_order_with_a_covering_index():
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE Orders (OrderId STRING(36) NOT NULL, CustomerId STRING(36) NOT NULL, OrderDate DATE,
                 OrderStatus STRING(20), TotalAmount NUMERIC) PRIMARY KEY (OrderId);
               CREATE INDEX OrdersByDateCovering ON Orders (OrderDate) STORING (OrderStatus, TotalAmount)"""
        )
    )
    columns = ["OrderId", "CustomerId", "OrderDate", "OrderStatus", "TotalAmount"]
    assert db.commit([("insert", "Orders", columns, [["o", "c", "2026-01-01", "NEW", 5]])]).mutations == 6


def test_e16_the_mutation_api_has_one_limit_for_the_commit():
    insert = [("insert", "Five", FIVE_COLUMNS, [[12_000 * part + n] * 5 for n in range(12_000)]) for part in range(3)]
    db = filled(FIVE)
    assert "120,000" in refused(db, insert)  # refused as soon as it is over; all three would be 180,000


def test_e17_insert_with_a_default():
    db = Database(Schema.from_ddl("CREATE TABLE T (Id INT64, A INT64 DEFAULT (1), B INT64) PRIMARY KEY (Id)"))
    assert db.commit([("insert", "T", ["Id", "B"], [[1, 2]])]).mutations == 3
    assert db.commit([("insert", "T", ["Id", "A", "B"], [[2, 3, 4]])]).mutations == 3


def test_e19_insert_with_a_generated_column():
    """3 by rule R3; note 10 of the quota page would say 5 (ruling in facts.md 6.1)."""
    db = Database(
        Schema.from_ddl("CREATE TABLE T (A INT64, B INT64, G INT64 AS (A + B) STORED) PRIMARY KEY (A, B)"),
    )
    assert db.commit([("insert", "T", ["A", "B"], [[1, 2]])]).mutations == 3


def test_e21_children_of_a_foreign_key_by_one_range():
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE P (K INT64 NOT NULL) PRIMARY KEY (K);
               CREATE TABLE C (N INT64 NOT NULL, K INT64, FOREIGN KEY (K) REFERENCES P (K)) PRIMARY KEY (N)"""
        )
    )
    db.commit([("insert", "P", ["K"], [[1]]), ("insert", "C", ["N", "K"], [[n, 1] for n in range(500)])])
    assert db.commit([("delete", "C", {"all": True})]).mutations == 501


def test_e22_a_change_stream_adds_none():
    schema = Schema.from_ddl(f"{FIVE}; CREATE CHANGE STREAM Watch FOR Five")
    assert Database(schema).commit([("insert", "Five", FIVE_COLUMNS, five_rows(1))]).mutations == 5


def test_null_filtered_index_costs_nothing_for_a_null():
    """curriculum.md E8.1: four columns, 5 mutations with the plain index and 4 with the filtered one."""
    jobs = "CREATE TABLE Jobs (JobId INT64, Kind STRING(9), DueAt TIMESTAMP, DoneAt TIMESTAMP) PRIMARY KEY (JobId)"
    for kind, expected in (("INDEX", 5), ("NULL_FILTERED INDEX", 4)):
        db = Database(Schema.from_ddl(f"{jobs}; CREATE {kind} Due ON Jobs (DueAt)"))
        columns = ["JobId", "Kind", "DueAt", "DoneAt"]
        assert db.commit([("insert", "Jobs", columns, [[1, "mail", None, None]])]).mutations == expected


# the corpus


VECTORS = Path(__file__).parents[2] / "shared" / "corpus" / "vectors" / "mutation_counts.json"
CASES = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if VECTORS.exists() else []
COUNTED = [c for c in CASES if not c.get("doubt") and isinstance(c["mutations"], int) and c.get("schema")]


def rows_for(columns, given):
    """The rows that a case gives, or one that it leaves to the reader."""
    kinds = {"Arr": ["x"], "Ts": "spanner.commit_timestamp()"}
    return given or [[kinds.get(column, f"new {column}") for column in columns]]


def key_rows(db, table):
    return [[row[part.column] for part in db.schema.table(table).key] for row in db.rows(table)]


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
@pytest.mark.parametrize("case", COUNTED, ids=lambda case: case["id"])
def test_corpus(case):
    """Counts that the documentation gives, and those that a public test found at the service's limit."""
    db = Database(Schema.from_ddl(";\n".join(case["schema"])))
    operations = case["op"] if isinstance(case["op"][0], list) else [case["op"]]
    counted = 0
    if operations[0][0] == "delete":
        fill(db)
    for kind, table, *rest in operations:
        if kind == "update by DML":
            kind, rest = "update", [["Id", *rest[0]]]
        if kind == "delete":
            which = rest[0] if isinstance(rest[0], dict) else {"keys": key_rows(db, table)}
            counted += db.commit([("delete", table, which)]).mutations
            continue
        columns, *given = rest
        rows = rows_for(columns, given[0] if given else None)
        if kind == "update":
            names = [column.name for column in db.schema.table(table).columns]
            old = [dict(zip(columns, row, strict=True)) for row in rows]
            key = {part.column for part in db.schema.table(table).key}
            blank = [[row[name] if name in key else _blank(db, table, name) for name in names] for row in old]
            db.commit([("insert", table, names, blank)])
        counted += db.commit([(kind, table, columns, rows)]).mutations
    assert counted == case["mutations"]


def _blank(db, table, name):
    type_ = db.schema.table(table).column(name).type.name
    return {"STRING": "old", "INT64": 0}.get(type_)


def fill(db):
    """One row in every table that is empty, children under their parents."""
    for stored in db.tables_in_loading_order():
        if not len(stored.rows):
            row = [{"INT64": 1, "STRING": "a" if n == "Id" else "b"}.get(t.name) for n, t in columns_of(stored)]
            db.commit([("insert", stored.name, list(stored.rows.columns), [row])])


def columns_of(stored):
    return list(zip(stored.rows.columns, stored.types, strict=True))


# counting without rows


TEXTS = {
    "insert 1 row, 5 columns": 5,
    "update 1 row, 3 columns, 2 key columns": 5,
    "update 2 rows, 1 column, 2 key columns": 6,
    "delete 1 row": 1,
    "delete 1,000 rows by range": 1,
    "delete 1,000 rows by range, 2 indexes": 2_001,
    "delete 39,999 rows by range, 2 indexes": 79_999,
    "delete 40,000 rows by key, 1 index": 80_000,
    "delete 1 parent, 10,000 children": 1,
    "delete 1 parent, 10,000 children, 1 index": 10_001,
    "delete 1 parent, 100,000 children, 1 index": 100_001,
    "insert 16,000 rows, 5 columns": 80_000,
    "insert 11,428 rows, 5 columns, 2 indexes": 79_996,
    "insert 1,000 rows, 6 columns, 2 indexes": 8_000,
    "update 1,000 rows, 1 column, 2 key columns": 3_000,
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_counting_in_words(text, expected):
    """facts.md 6.2 and challenges 11.1 to 11.3 of curriculum.md."""
    assert mutations(text) == expected
    assert mutations(text).fits == (expected <= 80_000)
    assert f"{expected:,}" in mutations.explain(text)


def test_counting_over_a_schema():
    """curriculum.md 10.3: a foreign key to a column that is not the key: two helper indexes, 5, 501."""
    schema = Schema.from_ddl(
        """CREATE TABLE Orders (Id INT64, Code STRING(9)) PRIMARY KEY (Id);
           CREATE TABLE Tickets (TicketId INT64, OrderCode STRING(9), Seat INT64, Price NUMERIC,
             FOREIGN KEY (OrderCode) REFERENCES Orders (Code)) PRIMARY KEY (TicketId)"""
    )
    assert sum(index.managed for index in schema.indexes.values()) == 2
    assert mutations(schema, ("insert", "Tickets")) == 5
    assert mutations(schema, "delete 500 Tickets by range") == 501
    assert mutations(schema, ("update", "Tickets", 3, {"columns": ["Seat"]})) == 6
    assert mutations(schema, ("update", "Tickets", 1, {"columns": ["OrderCode"]})) == 4


def test_counting_a_cascade_over_a_schema():
    """curriculum.md E6.4: a shopper with 20 purchases and 60 items: 1 mutation, 21 with a global index."""
    ddl = """CREATE TABLE Shoppers (S INT64) PRIMARY KEY (S);
      CREATE TABLE Purchases (S INT64, P INT64, At TIMESTAMP) PRIMARY KEY (S, P),
        INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE;
      CREATE TABLE Items (S INT64, P INT64, I INT64) PRIMARY KEY (S, P, I),
        INTERLEAVE IN PARENT Purchases ON DELETE CASCADE"""
    delete = ("delete", "Shoppers", 1, {"children": {"Purchases": 20, "Items": 60}})
    assert mutations(Schema.from_ddl(ddl), delete) == 1
    assert mutations(Schema.from_ddl(f"{ddl}; CREATE INDEX ByAt ON Purchases (At)"), delete) == 21


@pytest.mark.parametrize(
    "wrong",
    ["fly 3 rows", ("insert",), ("insert", "Nothing"), ("update", "Five"), ("insert", "Five", -1), 7,
     ("insert", "Five", 1, {"x": 1}),
     ("insert", "Five", 1, {"columns": ["Z"]}), ("delete", "Five", 1, {"by": "chance"}), "insert lots of Five"],
)  # fmt: skip
def test_what_cannot_be_counted(wrong):
    with pytest.raises(ValueError, match="op"):
        mutations(Schema.from_ddl(FIVE), wrong)


def test_batches():
    """Lab F: 8 mutations a row: 10,000 rows of 1 KiB, 8,533 of 12 KiB; three pieces of a purge."""
    assert [len(part) for part in batches(20_000, mutations_per_row=8, row_bytes=1024)] == [10_000, 10_000]
    assert len(batches(20_000, mutations_per_row=8, row_bytes=12 * 1024)[0]) == 8_533
    assert batches(0, mutations_per_row=1) == []
    parts = batches(100_003, mutations_per_row=7)
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert sum(map(len, parts)) == 100_003
    for wrong in (
        {"mutations_per_row": 0},
        {"mutations_per_row": 80_001},
        {"mutations_per_row": 1, "row_bytes": 2**40},
    ):
        with pytest.raises(ValueError, match=r"mutations_per_row|row_bytes"):
            batches(10, **wrong)
