"""DML: INSERT, UPDATE and DELETE with per-statement checks, defaults, subqueries and THEN RETURN."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.errors import ConstraintError, QueryError, UnsupportedError
from spanlab.query import Database
from spanlab.schema import Schema

DDL = """
CREATE TABLE Teams (Id INT64 NOT NULL, Name STRING(20), Size INT64 DEFAULT (7), Twice INT64 AS (Size * 2) STORED,
  At TIMESTAMP, Made TIMESTAMP OPTIONS (allow_commit_timestamp = true), CONSTRAINT Small CHECK (Size < 1000))
  PRIMARY KEY (Id);
CREATE INDEX TeamsByName ON Teams (Name);
CREATE TABLE Players (Id INT64 NOT NULL, P INT64 NOT NULL, Name STRING(20)) PRIMARY KEY (Id, P),
  INTERLEAVE IN PARENT Teams ON DELETE CASCADE;
CREATE TABLE Fans (F INT64 NOT NULL, Team INT64, CONSTRAINT FanOf FOREIGN KEY (Team) REFERENCES Teams (Id))
  PRIMARY KEY (F)
"""


def filled():
    db = Database(Schema.from_ddl(DDL))
    db.commit([("insert", "Teams", ["Id", "Name", "Size"], [[n, f"t{n}", n * 10] for n in range(1, 6)])])
    db.commit([("insert", "Players", ["Id", "P", "Name"], [[n, p, f"p{p}"] for n in (1, 2) for p in (1, 2, 3)])])
    return db


def column(db, table, name):
    return [row[name] for row in db.rows(table)]


CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "dml" / "semantic"
CASES = [case for file in sorted(CORPUS.glob("*.json")) for case in json.loads(file.read_text(encoding="utf-8"))]


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
@pytest.mark.parametrize("case", [c for c in CASES if "dml" in c], ids=lambda case: case["id"])
def test_corpus(case):
    db = Database(Schema.from_ddl(";\n".join(case["schema"])))
    if case["expect"] == "ok":
        db.execute(case["dml"])
        return
    with pytest.raises(ConstraintError) as caught:
        db.execute(case["dml"])
    assert caught.value.code == case["error"]


def test_insert():
    db = filled()
    commit = db.execute(
        [
            "INSERT INTO Teams (Id, Name, Size) VALUES (10, 'a', DEFAULT), (11, UPPER('b'), 1 + 2), (12, NULL, NULL)",
            "INSERT Teams (Id, Name) VALUES (@id, CONCAT(@name, '!'))",
            "INSERT INTO Fans (F, Team) SELECT Id + 100, Id FROM Teams WHERE Size > 25 AND Id < 10",
            "INSERT INTO Fans (F, Team) VALUES ((SELECT MAX(F) + 1 FROM Fans), (SELECT Id FROM Teams WHERE FALSE))",
        ],
        {"id": 13, "name": "c"},
    )
    assert [(r["Id"], r["Name"], r["Size"], r["Twice"]) for r in db.rows("Teams")][5:] == [
        (10, "a", 7, 14), (11, "B", 3, 6), (12, None, None, None), (13, "c!", 7, 14),
    ]  # fmt: skip
    assert [(row["F"], row["Team"]) for row in db.rows("Fans")] == [(103, 3), (104, 4), (105, 5), (106, None)]
    assert [statement.rows for statement in commit.statements] == [3, 1, 3, 1]


def test_insert_or_update_and_or_ignore():
    db = filled()
    commit = db.execute(
        [
            "INSERT OR UPDATE INTO Teams (Id, Name) VALUES (1, 'new'), (20, 'other')",
            "INSERT OR IGNORE INTO Teams (Id, Name, Size) VALUES (2, 'ignored', 1), (21, 'taken', 1)",
            "INSERT INTO Teams (Id, Name) VALUES (21, 'again') ON CONFLICT (Id) DO NOTHING",
        ]
    )
    names = {row["Id"]: (row["Name"], row["Size"]) for row in db.rows("Teams")}
    assert (names[1], names[2], names[20], names[21]) == (("new", 10), ("t2", 20), ("other", 7), ("taken", 1))
    assert [statement.rows for statement in commit.statements] == [2, 1, 0]
    assert [entry["Name"] for entry in db.entries("TeamsByName")] == ["new", "other", "t2", "t3", "t4", "t5", "taken"]


def test_update():
    db = filled()
    commit = db.execute(
        [
            "UPDATE Teams SET Size = Size + @more, Name = LOWER(CONCAT('X', Name)) WHERE Id BETWEEN 2 AND 3",
            "UPDATE Teams AS t SET t.Size = DEFAULT WHERE t.Id = 4",
            "UPDATE Teams SET At = '2026-01-01T00:00:00Z', Made = PENDING_COMMIT_TIMESTAMP() WHERE Id = 5",
            """UPDATE Teams SET Size = (SELECT COUNT(*) FROM Players AS p WHERE p.Id = Teams.Id)
               WHERE Id IN (SELECT Id FROM Players)""",
            "UPDATE Teams SET Name = NULL WHERE Size > 1000000",
        ],
        {"more": 5},
    )
    assert [(r["Name"], r["Size"], r["Twice"]) for r in db.rows("Teams")] == [
        ("t1", 3, 6), ("xt2", 3, 6), ("xt3", 35, 70), ("t4", 7, 14), ("t5", 50, 100),
    ]  # fmt: skip
    assert db.rows("Teams")[4]["Made"] == commit.timestamp
    assert [statement.rows for statement in commit.statements] == [2, 1, 1, 2, 0]
    assert db.query("SELECT Name FROM Teams WHERE At IS NOT NULL").rows == [("t5",)]


def test_values_are_swapped_in_one_update():
    """All new values are worked out from the row as it was."""
    db = Database(Schema.from_ddl("CREATE TABLE T (K INT64, A INT64, B INT64) PRIMARY KEY (K)"))
    db.execute(["INSERT INTO T (K, A, B) VALUES (1, 2, 3)", "UPDATE T SET A = B, B = A WHERE TRUE"])
    assert [list(row.values()) for row in db.rows("T")] == [[1, 3, 2]]


def test_delete():
    db = filled()
    commit = db.execute(
        ["DELETE FROM Players WHERE P = 2", "DELETE Teams t WHERE t.Id = 1", "DELETE FROM Teams WHERE false"]
    )
    assert [(row["Id"], row["P"]) for row in db.rows("Players")] == [(2, 1), (2, 3)]
    assert column(db, "Teams", "Id") == [2, 3, 4, 5]
    assert [statement.rows for statement in commit.statements] == [2, 1, 0]
    db.execute("DELETE FROM Teams WHERE Id NOT IN (SELECT Id FROM Players)")
    assert column(db, "Teams", "Id") == [2]


def test_then_return():
    db = filled()
    commit = db.execute(
        [
            "INSERT INTO Teams (Id, Name) VALUES (9, 'n') THEN RETURN Id, Twice + 1 AS more",
            "UPDATE Teams SET Name = 'u' WHERE Id <= 2 THEN RETURN *",
            "DELETE FROM Teams WHERE Id = 9 THEN RETURN Teams.Name",
        ]
    )
    first, second, third = (statement.returned for statement in commit.statements)
    assert first == [{"Id": 9, "more": 15}]
    assert [(row["Id"], row["Name"], row["Twice"]) for row in second] == [(1, "u", 20), (2, "u", 40)]
    assert third == [{"Name": "n"}]


def test_each_statement_must_leave_the_tables_in_order():
    """facts.md 5.1: DML is checked after each statement, mutations at commit."""
    db = filled()
    child_first = ["INSERT INTO Fans (F, Team) VALUES (1, 77)", "INSERT INTO Teams (Id) VALUES (77)"]
    with pytest.raises(ConstraintError, match="FAILED_PRECONDITION"):
        db.execute(child_first)
    assert db.rows("Fans") == []
    db.execute(child_first[::-1])
    db.commit([("insert", "Fans", ["F", "Team"], [[2, 78]]), ("insert", "Teams", ["Id"], [[78]])])
    assert column(db, "Fans", "Team") == [77, 78]


def test_a_failing_statement_undoes_the_whole_transaction():
    db = filled()
    before = {table: db.rows(table) for table in db.schema.tables}
    for last in (
        "UPDATE Teams SET Size = 5000 WHERE Id = 3",
        "INSERT INTO Teams (Id) VALUES (4)",
        "INSERT INTO Players (Id, P) VALUES (99, 1)",
        "UPDATE Teams SET Size = DIV(1, Size - 30) WHERE TRUE",
        "UPDATE Teams SET Nothing = 1 WHERE TRUE",
    ):
        with pytest.raises((ConstraintError, QueryError)):
            db.execute(["DELETE FROM Teams WHERE Id < 3", "UPDATE Teams SET Name = 'x' WHERE TRUE", last])
        assert {table: db.rows(table) for table in before} == before


def test_mutations_of_dml():
    """facts.md 6.2: E15 (three statements of 60,000 in one transaction pass), E18, and 1 a row for deletes."""
    db = Database(Schema.from_ddl("CREATE TABLE T (Id INT64, A INT64 DEFAULT (1), B INT64) PRIMARY KEY (Id)"))
    db.load("T", ["Id", "A", "B"], ((n, n, n) for n in range(30_000)))
    three = db.execute([f"UPDATE T SET B = {n} WHERE TRUE" for n in range(3)])
    assert [statement.mutations for statement in three.statements] == [60_000] * 3
    assert three.mutations == 180_000
    assert db.execute("UPDATE T SET A = DEFAULT WHERE Id = 1").mutations == 2
    assert db.execute("INSERT INTO T (Id, A, B) VALUES (-1, DEFAULT, 2)").mutations == 3
    assert db.execute("DELETE FROM T WHERE Id < 10").mutations == 11
    with pytest.raises(ConstraintError, match="89,970") as caught:
        db.execute("UPDATE T SET A = 1, B = 2 WHERE TRUE")
    assert caught.value.code == "INVALID_ARGUMENT"
    assert set(column(db, "T", "B")) == {2}


WRONG = {
    "SELECT 1": QueryError,
    "UPDATE Teams SET Size = 1": QueryError,
    "DELETE FROM Teams": QueryError,
    "INSERT INTO Teams VALUES (1)": QueryError,
    "INSERT INTO Team (Id) VALUES (1)": QueryError,
    "INSERT INTO Teams (Id, Nam) VALUES (1, 'x')": QueryError,
    "INSERT INTO Teams (Id, Id) VALUES (1, 2)": QueryError,
    "INSERT INTO Teams (Id, Name) VALUES (1)": QueryError,
    "UPDATE Teams SET Size = 1, Size = 2 WHERE TRUE": QueryError,
    "UPDATE Teams SET Size = 1 WHERE Id": QueryError,
    "UPDATE Teams SET Size = 1 WHERE Nothing = 1": QueryError,
    "UPDATE Teams SET Size = @p WHERE TRUE": QueryError,
    "UPDATE Teams SET Size = 'x' WHERE TRUE": (ConstraintError, QueryError),
    "UPDATE Teams SET Id = 1 WHERE TRUE": ConstraintError,
    "UPDATE Teams SET Twice = 1 WHERE TRUE": ConstraintError,
    "INSERT INTO Teams (Id, Twice) VALUES (50, 1)": ConstraintError,
    "INSERT INTO Teams (Name) VALUES ('x')": ConstraintError,
    "INSERT INTO Teams (Id) VALUES (1) ON CONFLICT (Id) DO UPDATE SET Name = excluded.Name": UnsupportedError,
}


@pytest.mark.parametrize("statement", WRONG)
def test_statements_that_are_refused(statement):
    db = filled()
    before = db.rows("Teams")
    with pytest.raises(WRONG[statement]):
        db.execute(statement)
    assert db.rows("Teams") == before


def test_a_look_up_by_key_reads_few_rows():
    """A condition that fixes the key is a seek: the rows beside it are not evaluated."""
    db = Database(Schema.from_ddl("CREATE TABLE T (A INT64, B INT64, C INT64) PRIMARY KEY (A, B)"))
    db.load("T", ["A", "B", "C"], ((a, b, 0) for a in range(10) for b in range(10)))
    db.execute("UPDATE T SET C = DIV(1, A - 3) WHERE A = 4 AND B > @b", {"b": 7})  # A = 3 would divide by zero
    assert sum(column(db, "T", "C")) == 2
    db.execute("UPDATE T SET C = 5 WHERE 'x' = 'x' AND A = 4.0 AND 9 = B")
    assert sum(column(db, "T", "C")) == 6


conditions = st.sampled_from(
    ["K = 3", "K > 2", "A IS NULL", "A < B", "A + B > 4", "K IN (1, 4)", "NOT (A = 2)", "1 = 1"]
)
values = st.sampled_from(["A + 1", "B", "NULL", "K * 2 - A", "5", "-B"])
STATEMENTS = st.one_of(
    st.builds("UPDATE T SET {} = {} WHERE {}".format, st.sampled_from("AB"), values, conditions),
    st.builds("UPDATE T SET A = {}, B = {} WHERE {}".format, values, values, conditions),
    st.builds("DELETE FROM T WHERE {}".format, conditions),
    st.builds(
        "INSERT INTO T (K, A, B) VALUES ({}, {}, {})".format, st.integers(0, 9), st.integers(0, 4), st.integers(0, 4)
    ),
    st.builds("INSERT INTO T (K, A, B) SELECT K + {}, B, A FROM T WHERE {}".format, st.integers(5, 9), conditions),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(STATEMENTS, min_size=1, max_size=3), max_size=5))
def test_against_sqlite(transactions):
    """The same statements mean the same in sqlite3: values, counts, and what fails."""
    db = Database(Schema.from_ddl("CREATE TABLE T (K INT64, A INT64, B INT64) PRIMARY KEY (K)"))
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as oracle:
        oracle.execute("CREATE TABLE T (K INT PRIMARY KEY, A INT, B INT)")
        start = "INSERT INTO T (K, A, B) VALUES (1, 1, NULL), (2, NULL, 3), (3, 2, 2), (4, 0, 4)"
        for transaction in [[start], *transactions]:
            oracle.execute("BEGIN")
            try:
                counts = [oracle.execute(statement).rowcount for statement in transaction]
                oracle.execute("COMMIT")
            except sqlite3.IntegrityError:
                oracle.execute("ROLLBACK")
                with pytest.raises(ConstraintError, match="ALREADY_EXISTS"):
                    db.execute(transaction)
            else:
                assert [statement.rows for statement in db.execute(transaction).statements] == counts
            assert [tuple(row.values()) for row in db.rows("T")] == oracle.execute(
                "SELECT * FROM T ORDER BY K"
            ).fetchall()
