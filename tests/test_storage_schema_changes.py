"""Schema changes on rows: backfills, validations, failures that undo themselves, commits in between."""

from __future__ import annotations

import pytest

from spanlab.errors import ConstraintError, SchemaError
from spanlab.schema import Schema
from spanlab.storage import Database, backfill

TABLE = "CREATE TABLE T (K INT64 NOT NULL, A INT64, S STRING(20)) PRIMARY KEY (K)"


def filled(rows=100, ddl=TABLE):
    db = Database(Schema.from_ddl(ddl))
    db.commit([("insert", "T", ["K", "A", "S"], [[n, n % 7, f"s{n}"] for n in range(rows)])])
    return db


def test_a_batch_stops_at_the_first_failure():
    """curriculum.md E14.1 and 14.2: earlier statements stay, later ones are not tried."""
    db = filled()
    db.commit([("insert", "T", ["K"], [[500], [501]])])
    update = db.apply_ddl(
        [
            "CREATE TABLE Fresh (K INT64) PRIMARY KEY (K)",
            "CREATE INDEX FreshByK ON Fresh (K DESC)",
            "ALTER TABLE T ALTER COLUMN A INT64 NOT NULL",
            "CREATE INDEX TByA ON T (A)",
        ]
    )
    assert (update.applied, update.failed) == ([1, 2], 3)
    assert isinstance(update.error, ConstraintError)
    assert "A" in update.error.message
    assert "500" in update.error.message
    assert list(db.schema.indexes) == ["FreshByK"]
    assert not db.schema.table("T").column("A").not_null
    assert "applied [1, 2], failed 3" in repr(update)
    refused = db.apply_ddl(["CREATE INDEX I ON T (Nothing)", "CREATE INDEX J ON T (A)"])
    assert (refused.applied, refused.failed) == ([], 1)
    assert isinstance(refused.error, SchemaError)


def test_a_text_raises_its_failure():
    db = filled()
    db.apply_ddl("CREATE INDEX TByA ON T (A); CREATE INDEX TByS ON T (S)")
    assert list(db.schema.indexes) == ["TByA", "TByS"]
    with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
        db.apply_ddl("CREATE UNIQUE INDEX TByA2 ON T (A)")
    with pytest.raises(SchemaError):
        db.apply_ddl("DROP INDEX Nothing")
    assert list(db.schema.indexes) == ["TByA", "TByS"]


def test_an_index_is_backfilled_in_steps():
    """facts.md 4.3: PREPARE, WRITE_ONLY (new writes are maintained, nobody reads it), READ_WRITE."""
    db = filled(100)
    change = db.start_ddl("CREATE INDEX TByA ON T (A) STORING (S)")
    assert (change.kind, change.state, change.rows_done, change.rows_total) == ("backfill", "PREPARE", 0, 100)
    change.step(40)
    assert (change.state, change.rows_done, change.done) == ("WRITE_ONLY", 40, False)
    assert "TByA" not in db.schema.indexes
    assert len(db.stored("TByA")) == 40
    db.commit(
        [
            ("insert", "T", ["K", "A"], [[1000, 3]]),
            ("update", "T", ["K", "A"], [[1, 77], [99, 78]]),
            ("delete", "T", {"keys": [[2], [98]]}),
        ]
    )
    change.run()
    assert change.states == ["PREPARE", "WRITE_ONLY", "READ_WRITE"]
    assert change.rows_done == 100
    assert change.seconds > 60
    rows = sorted((row["A"], row["K"], row["S"]) for row in db.rows("T"))
    assert [tuple(entry.values()) for entry in db.entries("TByA")] == rows
    assert len(rows) == 99


def test_a_unique_index_fails_late_and_is_undone():
    db = filled(100)
    change = db.start_ddl("CREATE UNIQUE INDEX TByA ON T (A)").run()
    assert change.states == ["PREPARE", "WRITE_ONLY", "WRITE_ONLY_VALIDATE_UNIQUE", "FAILED"]
    assert change.error.code == "FAILED_PRECONDITION"
    assert "TByA" not in db.bound_schema.indexes
    assert db.commit([("insert", "T", ["K", "A", "S"], [[1000, 1, "x"]])]).mutations == 3
    assert db.apply_ddl("CREATE UNIQUE INDEX TByS ON T (S)").applied == [1]


def test_an_index_key_that_is_too_large_is_found_late():
    db = Database(Schema.from_ddl("CREATE TABLE L (K INT64, V STRING(MAX)) PRIMARY KEY (K)"))
    db.commit([("insert", "L", ["K", "V"], [[1, "x"], [2, "y" * 9_000]])])
    with pytest.raises(ConstraintError, match="8,192") as caught:
        db.apply_ddl("CREATE INDEX LByV ON L (V)")
    assert caught.value.key[1] == 2
    assert not db.schema.indexes


def test_a_unique_index_takes_nan_and_null_once():
    db = Database(Schema.from_ddl("CREATE TABLE F (K INT64, V FLOAT64) PRIMARY KEY (K)"))
    for value in (float("nan"), None):
        db.commit([("insert", "F", ["K", "V"], [[1, value], [2, value]])])
        with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
            db.apply_ddl("CREATE UNIQUE INDEX FByV ON F (V)")
        db.commit([("delete", "F", {"all": True})])


def test_new_rules_hold_for_new_rows_at_once():
    """facts.md 5.2, 10: while old rows are looked at, new ones that break the rule are refused; then all is undone."""
    db = filled(100)
    db.commit([("update", "T", ["K", "A"], [[99, -1]])])
    change = db.start_ddl("ALTER TABLE T ADD CONSTRAINT Positive CHECK (A >= 0)").step(10)
    assert change.state == "WRITE_ONLY"
    with pytest.raises(ConstraintError, match="OUT_OF_RANGE"):
        db.commit([("update", "T", ["K", "A"], [[1, -5]])])
    assert change.run().state == "FAILED"
    assert change.error.code == "OUT_OF_RANGE"
    db.commit([("update", "T", ["K", "A"], [[1, -5]])])
    assert db.rows("T")[1]["A"] == -5


def test_not_null_is_looked_at():
    db = filled(10)
    change = db.start_ddl("ALTER TABLE T ALTER COLUMN S STRING(20) NOT NULL").step(5)
    assert change.kind == "validate"
    with pytest.raises(ConstraintError, match="NOT NULL"):
        db.commit([("update", "T", ["K", "S"], [[9, None]])])
    assert change.run().state == "READ_WRITE"
    with pytest.raises(ConstraintError, match="NOT NULL"):
        db.commit([("insert", "T", ["K"], [[77]])])


def test_a_second_change_waits_for_the_first():
    db = filled(50)
    first = db.start_ddl("CREATE INDEX TByA ON T (A)").step(1)
    second = db.start_ddl("CREATE INDEX TByS ON T (S)")
    assert first.state == "READ_WRITE"
    assert second.state == "PREPARE"
    second.run()
    assert list(db.schema.indexes) == ["TByA", "TByS"]


def test_columns_added_and_dropped():
    """facts.md 5.3: old rows get the default of a new column, and what is generated."""
    db = filled(3)
    db.apply_ddl(
        """ALTER TABLE T ADD COLUMN B INT64 NOT NULL DEFAULT (7);
           ALTER TABLE T ADD COLUMN C FLOAT64 AS (A / 2) STORED;
           ALTER TABLE T ADD COLUMN D INT64 AS (B + A);
           ALTER TABLE T ADD COLUMN E STRING(MAX);
           CREATE INDEX TByC ON T (C)"""
    )
    assert [list(row.values()) for row in db.rows("T")] == [
        [0, 0, "s0", 7, 0.0, 7, None],
        [1, 1, "s1", 7, 0.5, 8, None],
        [2, 2, "s2", 7, 1.0, 9, None],
    ]
    db.apply_ddl("DROP INDEX TByC; ALTER TABLE T DROP COLUMN C; ALTER TABLE T DROP COLUMN S")
    db.commit([("update", "T", ["K", "A"], [[1, 10]])])
    assert [list(row.values()) for row in db.rows("T")][1] == [1, 10, 7, 17, None]


def test_a_generated_column_that_fails_for_an_old_row():
    db = filled(3)
    with pytest.raises(ConstraintError, match="OUT_OF_RANGE"):
        db.apply_ddl("ALTER TABLE T ADD COLUMN C FLOAT64 AS (1 / A) STORED")
    assert list(db.rows("T")[0]) == ["K", "A", "S"]
    db.commit([("insert", "T", ["K", "A"], [[9, 9]])])
    assert len(db.rows("T")) == 4


def test_types_change_with_the_rows():
    """facts.md 10: STRING and BYTES into each other; shorter only where all rows fit; indexes stay right."""
    db = filled(3, f"{TABLE}; CREATE INDEX TByS ON T (S)")
    db.apply_ddl("ALTER TABLE T ALTER COLUMN S BYTES(20)")
    assert [entry["S"] for entry in db.entries("TByS")] == [b"s0", b"s1", b"s2"]
    db.commit([("update", "T", ["K", "S"], [[0, b"\xff\x00"]])])
    with pytest.raises(ConstraintError, match="UTF-8"):
        db.apply_ddl("ALTER TABLE T ALTER COLUMN S STRING(20)")
    db.commit([("update", "T", ["K", "S"], [[0, b"zz"]])])
    db.apply_ddl("ALTER TABLE T ALTER COLUMN S STRING(2)")
    assert [entry["S"] for entry in db.entries("TByS")] == ["s1", "s2", "zz"]
    with pytest.raises(ConstraintError, match="2"):
        db.apply_ddl("ALTER TABLE T ALTER COLUMN S STRING(1)")
    with pytest.raises(ConstraintError, match="STRING"):
        db.commit([("update", "T", ["K", "S"], [[0, "long"]])])


def test_foreign_key_on_rows():
    db = filled(10)
    db.apply_ddl("CREATE TABLE R (K INT64) PRIMARY KEY (K)")
    db.commit([("insert", "R", ["K"], [[n] for n in range(6)])])
    with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
        db.apply_ddl("ALTER TABLE T ADD CONSTRAINT F FOREIGN KEY (A) REFERENCES R (K)")
    assert not db.schema.table("T").foreign_keys
    assert not db.schema.indexes
    db.commit([("insert", "R", ["K"], [[6]])])
    db.apply_ddl("ALTER TABLE T ADD CONSTRAINT F FOREIGN KEY (A) REFERENCES R (K)")
    assert [index.managed for index in db.schema.indexes.values()] == [True]
    assert len(db.entries(next(iter(db.schema.indexes)))) == 10
    with pytest.raises(ConstraintError, match="still points"):
        db.commit([("delete", "R", {"keys": [[3]]})])
    db.apply_ddl("ALTER TABLE T DROP CONSTRAINT F")
    assert db.commit([("delete", "R", {"keys": [[3]]})]).mutations == 1


def test_interleaving_becomes_strict():
    """curriculum.md F.6: load in any order, find the orphans, then make the parents necessary, then cascade."""
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE P (K INT64) PRIMARY KEY (K);
               CREATE TABLE C (K INT64, N INT64) PRIMARY KEY (K, N), INTERLEAVE IN P"""
        )
    )
    db.commit([("insert", "C", ["K", "N"], [[1, 1], [2, 1]]), ("insert", "P", ["K"], [[1]])])
    with pytest.raises(ConstraintError, match="EXCEPT DISTINCT") as caught:
        db.apply_ddl("ALTER TABLE C SET INTERLEAVE IN PARENT P")
    assert caught.value.code == "FAILED_PRECONDITION"
    db.commit([("insert", "P", ["K"], [[2]])])
    db.apply_ddl("ALTER TABLE C SET INTERLEAVE IN PARENT P")
    with pytest.raises(ConstraintError, match="NOT_FOUND"):
        db.commit([("insert", "C", ["K", "N"], [[3, 1]])])
    with pytest.raises(ConstraintError, match="NO ACTION"):
        db.commit([("delete", "P", {"keys": [[1]]})])
    db.apply_ddl("ALTER TABLE C SET ON DELETE CASCADE")
    db.commit([("delete", "P", {"keys": [[1]]})])
    assert [(row["K"], row["N"]) for row in db.rows("C")] == [(2, 1)]


def test_stored_columns_and_names():
    db = filled(5, f"{TABLE}; CREATE INDEX TByA ON T (A)")
    db.apply_ddl("ALTER INDEX TByA ADD STORED COLUMN S")
    assert list(db.entries("TByA", 1)[0]) == ["A", "K", "S"]
    db.apply_ddl("ALTER INDEX TByA DROP STORED COLUMN S; ALTER TABLE T RENAME TO U")
    assert list(db.entries("TByA", 1)[0]) == ["A", "K"]
    db.commit([("insert", "U", ["K", "A"], [[9, 9]])])
    assert len(db.rows("U")) == len(db.entries("TByA")) == 6
    assert db.rows_in_order(1) == ["U(0)"]
    db.apply_ddl("DROP INDEX TByA; DROP TABLE U")
    assert db.rows_in_order() == []


def test_sequence_restarts():
    db = Database(
        Schema.from_ddl(
            """CREATE SEQUENCE S OPTIONS (sequence_kind = 'bit_reversed_positive');
               CREATE TABLE T (K INT64 DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE S)), A INT64) PRIMARY KEY (K)"""
        )
    )
    db.commit([("insert", "T", ["A"], [[1]])])
    db.apply_ddl("ALTER SEQUENCE S RESTART COUNTER WITH 8")
    db.commit([("insert", "T", ["A"], [[2]])])
    assert {row["A"]: row["K"] for row in db.rows("T")} == {1: 2**62, 2: 2**59}


def test_backfill_minutes():
    """curriculum.md E14.3: 60 GB at 15 MB/s, 5 nodes, half busy: 26.7 minutes."""
    assert backfill(rows=500e6, entry_bytes=120, nodes=5, busy=0.5) == pytest.approx(26.7, abs=0.05)
    assert backfill(rows=500e6, entry_bytes=120, nodes=5, busy=0.9) == pytest.approx(133, abs=0.5)
    assert backfill(rows=500e6, entry_bytes=120, nodes=10, busy=0.5) == pytest.approx(13.3, abs=0.05)
    for wrong in ({"busy": 1}, {"busy": -0.1}, {"nodes": 0}, {"rows": -1}):
        with pytest.raises(ValueError, match=r"busy|nodes|rows"):
            backfill(**{"rows": 1, "entry_bytes": 1, "nodes": 1, "busy": 0} | wrong)
