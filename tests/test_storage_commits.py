"""Commits: what is accepted, what is refused and with which code, and that a refusal leaves nothing behind."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.errors import ConstraintError, SchemaError
from spanlab.schema import Schema
from spanlab.storage import Database

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "dml" / "semantic"
CASES = [case for file in sorted(CORPUS.glob("*.json")) for case in json.loads(file.read_text(encoding="utf-8"))]


def value(given):
    if isinstance(given, dict) and "bytes_hex" in given:
        return bytes.fromhex(given["bytes_hex"])
    return float("nan") if given == "NaN" else given


def mutation(operation):
    if operation[0] == "delete":
        return tuple(operation)
    return (*operation[:3], [[value(cell) for cell in row] for row in operation[3]])


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
@pytest.mark.parametrize("case", [c for c in CASES if "dml" not in c], ids=lambda case: case["id"])
def test_corpus(case):
    """Mutations and schema changes on data that other people wrote down, with Spanner's verdicts."""
    db = Database(Schema.from_ddl(";\n".join(case["schema"])))
    db.commit([mutation(operation) for operation in case.get("setup_ops", [])])

    def run():
        if "ops" in case:
            db.commit([mutation(operation) for operation in case["ops"]])
        else:
            db.apply_ddl(case["ddl"])

    if case["expect"] == "error":
        before = {table: db.rows(table) for table in db.schema.tables}
        with pytest.raises((ConstraintError, SchemaError)) as caught:
            run()
        if "error" in case:
            assert getattr(caught.value, "code", case["error"]) == case["error"]
        assert {table: db.rows(table) for table in db.schema.tables} == before
        return
    run()
    for table, rows in case.get("after", {}).items():
        have = [list(row.values()) for row in db.rows(table)]
        assert len(have) == rows if isinstance(rows, int) else have == [[value(cell) for cell in row] for row in rows]


FAMILY = """
CREATE TABLE Singers (SingerId INT64 NOT NULL, Name STRING(20)) PRIMARY KEY (SingerId);
CREATE TABLE Albums (SingerId INT64 NOT NULL, AlbumId INT64 NOT NULL, Title STRING(20) NOT NULL, Price NUMERIC,
  Made TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (SingerId, AlbumId), INTERLEAVE IN PARENT Singers
  ON DELETE CASCADE;
CREATE UNIQUE INDEX AlbumsByTitle ON Albums (Title)
"""


def family():
    db = Database(Schema.from_ddl(FAMILY))
    db.commit(
        [
            ("insert", "Singers", ["SingerId", "Name"], [[1, "Ada"], [2, "Bo"]]),
            ("insert", "Albums", ["SingerId", "AlbumId", "Title"], [[1, 1, "One"], [1, 2, "Two"], [2, 1, "Three"]]),
        ]
    )
    return db


REFUSED = {
    "unknown table": ([("insert", "Singer", ["SingerId"], [[3]])], "NOT_FOUND", "Singers"),
    "unknown column": ([("insert", "Singers", ["SingerID", "Nmae"], [[3, "x"]])], "NOT_FOUND", "Name"),
    "column twice": ([("insert", "Singers", ["SingerId", "singerid"], [[3, 3]])], "INVALID_ARGUMENT", "once"),
    "too few values": ([("insert", "Singers", ["SingerId", "Name"], [[3]])], "INVALID_ARGUMENT", "one value"),
    "unknown kind": ([("upsert", "Singers", ["SingerId"], [[3]])], "INVALID_ARGUMENT", "insert"),
    "no mutation": ([("insert",)], "INVALID_ARGUMENT", "insert"),
    "wrong type": ([("insert", "Singers", ["SingerId"], [["three"]])], "FAILED_PRECONDITION", "INT64"),
    "number out of range": ([("insert", "Singers", ["SingerId"], [[2**63]])], "FAILED_PRECONDITION", "INT64"),
    "half a surrogate": (
        [("insert", "Singers", ["SingerId", "Name"], [[3, "\ud800"]])], "FAILED_PRECONDITION", "Unicode"
    ),
    "text too long": ([("update", "Singers", ["SingerId", "Name"], [[1, "x" * 21]])], "FAILED_PRECONDITION", "20"),
    "missing key": ([("insert", "Albums", ["SingerId", "Title"], [[1, "x"]])], "FAILED_PRECONDITION", "AlbumId"),
    "missing NOT NULL": ([("insert", "Albums", ["SingerId", "AlbumId"], [[1, 3]])], "FAILED_PRECONDITION", "Title"),
    "NULL in NOT NULL": (
        [("update", "Albums", ["SingerId", "AlbumId", "Title"], [[1, 1, None]])], "FAILED_PRECONDITION", "NULL"
    ),
    "key taken": ([("insert", "Singers", ["SingerId"], [[1]])], "ALREADY_EXISTS", "insert_or_update"),
    "key twice in one commit": ([("insert", "Singers", ["SingerId"], [[3], [3]])], "ALREADY_EXISTS", "Singers(3)"),
    "no row to update": ([("update", "Singers", ["SingerId"], [[9]])], "NOT_FOUND", "Singers(9)"),
    "no parent": ([("insert", "Albums", ["SingerId", "AlbumId", "Title"], [[9, 1, "x"]])], "NOT_FOUND", "Singers(9)"),
    "not unique": ([("insert", "Albums", ["SingerId", "AlbumId", "Title"], [[2, 9, "One"]])], "ALREADY_EXISTS", "One"),
    "part of a key": ([("delete", "Albums", {"keys": [[1]]})], "FAILED_PRECONDITION", "range"),
    "too long a key": ([("delete", "Albums", {"keys": [[1, 2, 3]]})], "FAILED_PRECONDITION", "parts"),
    "no key set": ([("delete", "Albums", [[1, 2]])], "FAILED_PRECONDITION", "keys"),
    "half a range": ([("delete", "Albums", {"range": {"start_closed": [1]}})], "FAILED_PRECONDITION", "end"),
    "wrong type in a key": ([("delete", "Albums", {"keys": [["a", 1]]})], "FAILED_PRECONDITION", "INT64"),
    "commit timestamp elsewhere": (
        [("insert", "Singers", ["SingerId", "Name"], [[3, 5]])], "FAILED_PRECONDITION", "STRING(20)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_commit_names_the_rule_and_leaves_nothing(name):
    operations, code, says = REFUSED[name]
    db = family()
    before = {n: db.stored(n).values() for n in ("Singers", "Albums", "AlbumsByTitle")}
    good = ("insert_or_update", "Singers", ["SingerId", "Name"], [[1, "changed"], [7, "new"]])
    for commit in (operations, [good, *operations], [*operations, good]):
        with pytest.raises(ConstraintError) as caught:
            db.commit(commit)
        assert caught.value.code == code
        assert says in str(caught.value)
        assert {n: db.stored(n).values() for n in before} == before


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["keys", "range", "all"]), inner),
    max_leaves=8,
)
kinds = st.sampled_from(["insert", "update", "insert_or_update", "replace", "delete"])
names = st.sampled_from(["Singers", "Albums", "albums", "Nothing"])
some_columns = st.lists(st.sampled_from(["SingerId", "AlbumId", "Title", "Price", "Made", "Other"]), max_size=4)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        junk,
        st.tuples(junk, junk, junk),
        st.tuples(kinds, names, junk),
        st.tuples(kinds, names, some_columns, st.lists(st.lists(junk, max_size=4), max_size=2)),
        st.tuples(kinds, names, st.just(["SingerId", "AlbumId", "Title"]), st.lists(st.tuples(junk, junk, junk))),
    )
)
def test_whatever_is_sent_is_applied_or_refused(mutation):
    """Nothing but ConstraintError comes out of a commit, and after one everything is as before."""
    db = family()
    before = {n: db.stored(n).values() for n in ("Singers", "Albums", "AlbumsByTitle")}
    try:
        db.commit([mutation])
    except ConstraintError:
        assert {n: db.stored(n).values() for n in before} == before


def test_an_interrupted_commit_leaves_nothing():
    """Whatever stops a commit in the middle: the rows are put back."""
    db = family()
    before = db.rows("Albums")

    def operations():
        yield ("delete", "Singers", {"all": True})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.commit(operations())
    assert db.rows("Albums") == before
    assert len(db.entries("AlbumsByTitle")) == 3


def test_nan_is_one_key_and_minus_zero_is_zero():
    """facts.md 2.1: -0 = 0; NaN is smaller than every number, one value, and larger than NULL only."""
    db = Database(Schema.from_ddl("CREATE TABLE F (K FLOAT64) PRIMARY KEY (K)"))
    db.commit([("insert", "F", ["K"], [[1.0], [float("-inf")], [0.0], [None], [float("nan")], [-2.5]])])
    keys = [row["K"] for row in db.rows("F")]
    assert keys[0] is None
    assert keys[1] != keys[1]
    assert keys[2:] == [float("-inf"), -2.5, 0.0, 1.0]
    for taken in (-0.0, float("nan")):
        with pytest.raises(ConstraintError, match="ALREADY_EXISTS"):
            db.commit([("insert", "F", ["K"], [[taken]])])


def test_cell_of_more_than_10_mib():
    """facts.md 12: a cell holds 10 MiB."""
    db = Database(Schema.from_ddl("CREATE TABLE B (K INT64, V BYTES(MAX)) PRIMARY KEY (K)"))
    db.commit([("insert", "B", ["K", "V"], [[1, b"x" * 10_485_760]])])
    with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
        db.commit([("insert", "B", ["K", "V"], [[2, b"x" * 10_485_761]])])
    assert len(db.rows("B")) == 1


def test_commit_of_more_than_100_mib_counts_index_entries():
    """facts.md 6.1 R2: 100 MiB a commit, indexes included: 11 cells fit, not with a copy of each in an index."""
    table = "CREATE TABLE B (K INT64, V BYTES(MAX)) PRIMARY KEY (K)"
    rows = [[k, b"x" * 9_000_000] for k in range(11)]
    db = Database(Schema.from_ddl(table))
    assert db.commit([("insert", "B", ["K", "V"], rows)]).bytes == 11 * (8 + 8 + 8 + 9_000_000)
    stored = Database(Schema.from_ddl(f"{table}; CREATE INDEX ByK ON B (K) STORING (V)"))
    with pytest.raises(ConstraintError, match="100 MiB") as caught:
        stored.commit([("insert", "B", ["K", "V"], rows)])
    assert caught.value.code == "INVALID_ARGUMENT"
    assert stored.rows("B") == []


def test_a_load_is_cut_by_size_too():
    """Twelve cells of 10 MB are more than a commit may have; a load makes several commits of them."""
    db = Database(Schema.from_ddl("CREATE TABLE B (K INT64, V BYTES(MAX)) PRIMARY KEY (K)"))
    assert db.load("B", ["K", "V"], ((k, b"x" * 10_000_000) for k in range(12))) > 1
    assert len(db.stored("B")) == 12


def test_key_of_8_kib():
    """facts.md 12: a key has 8 KiB at most, the key of an index entry too."""
    db = Database(
        Schema.from_ddl("CREATE TABLE L (K STRING(MAX), V STRING(MAX)) PRIMARY KEY (K); CREATE INDEX I ON L (V)")
    )
    db.commit([("insert", "L", ["K", "V"], [["x" * 8_000, "y"]])])
    for row in (["x" * 9 * 1024, "y"], ["k", "y" * 9 * 1024], ["x" * 5_000, "y" * 5_000]):
        with pytest.raises(ConstraintError, match="INVALID_ARGUMENT"):
            db.commit([("insert", "L", ["K", "V"], [row])])
    assert len(db.rows("L")) == 1


def test_commit_timestamp():
    """facts.md 5.4: all pending values of one commit become its timestamp; later commits have later ones."""
    db = family()
    columns = ["SingerId", "AlbumId", "Title", "Made"]
    first = db.commit([("insert", "Albums", columns, [[1, k, f"T{k}", "spanner.commit_timestamp()"] for k in (5, 6)])])
    second = db.commit([("update", "Albums", ["SingerId", "AlbumId", "Made"], [[1, 6, "spanner.commit_timestamp()"]])])
    made = {row["AlbumId"]: row["Made"] for row in db.rows("Albums") if row["Made"]}
    assert made == {5: first.timestamp, 6: second.timestamp}
    assert first.timestamp < second.timestamp == db.now
    with pytest.raises(ConstraintError, match="allow_commit_timestamp"):
        Database(Schema.from_ddl("CREATE TABLE T (K INT64, At TIMESTAMP) PRIMARY KEY (K)")).commit(
            [("insert", "T", ["K", "At"], [[1, "spanner.commit_timestamp()"]])]
        )


def test_values_are_kept_as_their_types():
    """What JSON or a person writes becomes the column's own type."""
    db = family()
    made = "2026-01-02T03:04:05Z"
    db.commit([("update", "Albums", ["SingerId", "AlbumId", "Price", "Made"], [[1, 1, "12.50", made]])])
    row = db.rows("Albums")[0]
    assert row["Price"] == Decimal("12.5")
    assert row["Made"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_amounts_are_rounded_each_by_itself():
    """NUMERIC has 9 digits after the point, rounded half away from zero; equal amounts are one, however written."""
    db = Database(Schema.from_ddl("CREATE TABLE P (K INT64, V NUMERIC) PRIMARY KEY (K)"))
    given = ["1.10", "1.1", "-0", "1E+2", "0.0000000005", None, "1.10"]
    amounts = [None if amount is None else Decimal(amount) for amount in given]
    db.load_columns("P", {"K": list(range(7)), "V": amounts})
    kept = [str(row["V"]) for row in db.rows("P")]
    assert kept == ["1.1", "1.1", "0", "100", "1E-9", "None", "1.1"]
    for bad in ("sNaN", "NaN", "Infinity", "1E+29"):
        with pytest.raises(ConstraintError, match=r"P\.V|column V"):
            db.load_columns("P", {"K": [7, 8], "V": [Decimal("1.1"), Decimal(bad)]})
    assert len(db.rows("P")) == 7


def test_order_of_mutations_within_a_commit():
    """facts.md 3.13: mutations apply in order; what a later one needs an earlier one may bring."""
    db = family()
    db.commit(
        [
            ("insert", "Singers", ["SingerId"], [[3]]),
            ("insert", "Albums", ["SingerId", "AlbumId", "Title"], [[3, 1, "New"]]),
            ("delete", "Singers", {"keys": [[1]]}),
            ("insert", "Singers", ["SingerId", "Name"], [[1, "again"]]),
        ]
    )
    assert [row["Title"] for row in db.rows("Albums")] == ["Three", "New"]
    assert [(row["SingerId"], row["Name"]) for row in db.rows("Singers")] == [(1, "again"), (2, "Bo"), (3, None)]


RANGES = [
    ({"start_closed": [1], "end_closed": [1]}, [(2, 1), (2, 2)]),
    ({"start_closed": [1], "end_open": [2]}, [(2, 1), (2, 2)]),
    ({"start_open": [1], "end_closed": [2]}, [(1, 1), (1, 2)]),
    ({"start_closed": [1, 2], "end_closed": [2, 1]}, [(1, 1), (2, 2)]),
    ({"start_open": [1, 1], "end_open": [2, 2]}, [(1, 1), (2, 2)]),
    ({"start_closed": [], "end_closed": []}, []),
    ({"start_closed": [3], "end_open": [2]}, [(1, 1), (1, 2), (2, 1), (2, 2)]),
]


@pytest.mark.parametrize(("bounds", "left"), RANGES)
def test_key_ranges(bounds, left):
    db = Database(Schema.from_ddl("CREATE TABLE T (A INT64, B INT64) PRIMARY KEY (A, B)"))
    db.commit([("insert", "T", ["A", "B"], [[a, b] for a in (1, 2) for b in (1, 2)])])
    db.commit([("delete", "T", {"range": bounds})])
    assert [tuple(row.values()) for row in db.rows("T")] == left


def test_key_ranges_follow_desc():
    """In a descending key the rows lie the other way round, and so does a range of keys."""
    db = Database(Schema.from_ddl("CREATE TABLE T (A INT64) PRIMARY KEY (A DESC)"))
    db.commit([("insert", "T", ["A"], [[1], [2], [3], [None]])])
    assert [row["A"] for row in db.rows("T")] == [3, 2, 1, None]
    db.commit([("delete", "T", {"range": {"start_closed": [2], "end_open": [None]}})])
    assert [row["A"] for row in db.rows("T")] == [3, None]


def test_foreign_key_cascade_reaches_on():
    """ON DELETE CASCADE over two foreign keys and a self-reference; each row counts as a mutation (facts.md 5.1)."""
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE A (K INT64, Up INT64, CONSTRAINT S FOREIGN KEY (Up) REFERENCES A (K) ON DELETE CASCADE)
               PRIMARY KEY (K);
               CREATE TABLE B (K INT64, A INT64, CONSTRAINT F FOREIGN KEY (A) REFERENCES A (K) ON DELETE CASCADE)
               PRIMARY KEY (K)"""
        )
    )
    db.commit([("insert", "A", ["K", "Up"], [[1, None], [2, 1], [3, 2], [4, 4]])])
    db.commit([("insert", "B", ["K", "A"], [[1, 3], [2, 1], [3, None], [4, 4]])])
    commit = db.commit([("delete", "A", {"keys": [[1]]})])
    assert [row["K"] for row in db.rows("A")] == [4]
    assert [row["K"] for row in db.rows("B")] == [3, 4]
    assert commit.mutations == 5 + 4  # 3 rows of A, 2 of B, and their helper entries: A(1) has a NULL and so has none
    db.commit([("delete", "A", {"keys": [[4]]})])
    assert db.rows("A") == []
    assert [row["K"] for row in db.rows("B")] == [3]


def test_deleting_a_parent_in_three_ways():
    """NO ACTION refuses, CASCADE takes the children along, INTERLEAVE IN leaves them (facts.md 3.1, 3.2)."""
    outcomes = {}
    for clause in ("IN PARENT P ON DELETE NO ACTION", "IN PARENT P ON DELETE CASCADE", "IN P"):
        db = Database(
            Schema.from_ddl(
                f"""CREATE TABLE P (K INT64) PRIMARY KEY (K);
                    CREATE TABLE C (K INT64, N INT64) PRIMARY KEY (K, N), INTERLEAVE {clause}"""
            )
        )
        db.commit([("insert", "P", ["K"], [[1]]), ("insert", "C", ["K", "N"], [[1, n] for n in range(20)])])
        try:
            commit = db.commit([("delete", "P", {"keys": [[1]]})])
            outcomes[clause] = (commit.mutations, len(db.rows("P")), len(db.rows("C")))
        except ConstraintError as error:
            outcomes[clause] = (error.code, len(db.rows("P")), len(db.rows("C")))
    assert list(outcomes.values()) == [("FAILED_PRECONDITION", 1, 20), (1, 0, 0), (1, 0, 20)]


def test_sequences_and_identities():
    """facts.md 2.3: counts 1, 2, 3 with 63 bits reversed; skipped values are passed over; explicit values stay."""
    db = Database(
        Schema.from_ddl(
            """CREATE SEQUENCE S OPTIONS (sequence_kind = 'bit_reversed_positive');
               CREATE TABLE T (K INT64 DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE S)), V INT64,
                 I INT64 GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE SKIP RANGE 2305843009213693952,
                 2305843009213693952)) PRIMARY KEY (K)"""
        )
    )
    db.commit([("insert", "T", ["V"], [[1], [2], [3]]), ("insert", "T", ["K", "V", "I"], [[7, 4, 8]])])
    assert {row["V"]: (row["K"], row["I"]) for row in db.rows("T")} == {
        1: (2**62, 2**62),
        2: (2**61, 2**61 + 2**62),
        3: (2**61 + 2**62, 2**60),
        4: (7, 8),
    }


def test_generated_columns_are_judged_at_the_end():
    """Only the final row must be computable and NOT NULL, as in the service."""
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE T (K INT64, A INT64, B INT64, R FLOAT64 NOT NULL AS (A / B) STORED, D INT64 AS (A + 1))
               PRIMARY KEY (K); CREATE INDEX TByR ON T (R)"""
        )
    )
    db.commit([("insert", "T", ["K", "A", "B"], [[1, 6, 0]]), ("update", "T", ["K", "B"], [[1, 4]])])
    db.commit([("insert", "T", ["K"], [[2]]), ("update", "T", ["K", "A", "B"], [[2, 1, 2]])])
    assert [(row["R"], row["D"]) for row in db.rows("T")] == [(1.5, 7), (0.5, 2)]
    assert [row["R"] for row in db.entries("TByR")] == [0.5, 1.5]
    with pytest.raises(ConstraintError, match="OUT_OF_RANGE"):
        db.commit([("update", "T", ["K", "B"], [[1, 0]])])
    with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
        db.commit([("update", "T", ["K", "B"], [[1, None]])])
    assert [row["R"] for row in db.entries("TByR")] == [0.5, 1.5]


def test_the_report():
    db = family()
    commit = db.commit([("delete", "Singers", {"keys": [[1]]})])
    assert commit.rows_written == {"Singers": 1, "Albums": 2, "AlbumsByTitle": 2}
    assert commit.mutations == 1 + 2
    assert commit.participants == 2
    assert commit.two_phase
    assert "two-phase" in repr(commit)
    alone = db.commit([("update", "Singers", ["SingerId", "Name"], [[2, "Di"]])])
    assert (alone.participants, alone.two_phase, alone.bytes) == (1, False, 8 + 8 + 8 + 2)
    assert db.commit([]).participants == 0
