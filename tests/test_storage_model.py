"""Long random histories of commits, schema changes and splits, against two independent oracles.

sqlite3 keeps the same rows under the same constraints: what it accepts, Spanner's rows must accept, and the values must
be the same afterwards. Plain Python sorting tells in which order rows and index entries must lie. Splits move all the
time.
"""

from __future__ import annotations

import sqlite3
from functools import cmp_to_key

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from spanlab.errors import ConstraintError
from spanlab.schema import Schema
from spanlab.storage import Database

DDL = """
CREATE TABLE Teams (Id STRING(8), Nr INT64, Code INT64, Size INT64 NOT NULL, Twice INT64 AS (Size * 2) STORED,
  CONSTRAINT Small CHECK (Size < 90)) PRIMARY KEY (Id, Nr DESC);
CREATE UNIQUE NULL_FILTERED INDEX TeamsByCode ON Teams (Code);
CREATE INDEX TeamsBySize ON Teams (Size DESC) STORING (Code);
CREATE TABLE Players (Id STRING(8), Nr INT64, P INT64 NOT NULL, Name STRING(5)) PRIMARY KEY (Id, Nr DESC, P),
  INTERLEAVE IN PARENT Teams ON DELETE CASCADE;
CREATE INDEX PlayersByName ON Players (Id, Nr DESC, Name), INTERLEAVE IN Teams;
CREATE TABLE Shoes (Id STRING(8), Nr INT64, P INT64 NOT NULL, S INT64 NOT NULL) PRIMARY KEY (Id, Nr DESC, P, S),
  INTERLEAVE IN PARENT Players ON DELETE NO ACTION;
CREATE TABLE Fans (F INT64 NOT NULL, Code INT64, CONSTRAINT FanOf FOREIGN KEY (Code) REFERENCES Teams (Code))
  PRIMARY KEY (F);
CREATE TABLE Coaches (C INT64 NOT NULL, Id STRING(8), Nr INT64,
  CONSTRAINT CoachOf FOREIGN KEY (Nr, Id) REFERENCES Teams (Nr, Id) ON DELETE CASCADE) PRIMARY KEY (C)
"""
NO_TEXT, NO_NUMBER = "\x7fnull", -99  # stand for NULL in the keys of the oracle, where NULLs are never equal
ORACLE = """
CREATE TABLE Teams (Id TEXT NOT NULL, Nr INT NOT NULL, Code INT, Size INT NOT NULL, Twice INT AS (Size * 2) STORED,
  PRIMARY KEY (Id, Nr));
CREATE TABLE Players (Id TEXT NOT NULL, Nr INT NOT NULL, P INT NOT NULL, Name TEXT CHECK (LENGTH(Name) <= 5),
  PRIMARY KEY (Id, Nr, P), FOREIGN KEY (Id, Nr) REFERENCES Teams (Id, Nr) ON DELETE CASCADE);
CREATE TABLE Shoes (Id TEXT NOT NULL, Nr INT NOT NULL, P INT NOT NULL, S INT NOT NULL, PRIMARY KEY (Id, Nr, P, S),
  FOREIGN KEY (Id, Nr, P) REFERENCES Players (Id, Nr, P) ON DELETE RESTRICT);
CREATE TABLE Fans (F INT PRIMARY KEY, Code INT);
CREATE TABLE Coaches (C INT PRIMARY KEY, Id TEXT, Nr INT);
"""
AT_COMMIT = (  # what sqlite would judge at once and Spanner judges on the final rows: none of these may find a row
    "SELECT 1 FROM Teams WHERE Size >= 90",
    "SELECT 1 FROM Teams WHERE Code IS NOT NULL GROUP BY Code HAVING COUNT(*) > 1",
    "SELECT 1 FROM Fans WHERE Code IS NOT NULL AND Code NOT IN (SELECT Code FROM Teams WHERE Code IS NOT NULL)",
    "SELECT 1 FROM Coaches WHERE Id IS NOT NULL AND Nr IS NOT NULL AND (Id, Nr) NOT IN (SELECT Id, Nr FROM Teams)",
)
KEYS = {
    "Teams": ["Id", "Nr"], "Players": ["Id", "Nr", "P"], "Shoes": ["Id", "Nr", "P", "S"], "Fans": ["F"],
    "Coaches": ["C"],
}  # fmt: skip
COLUMNS = {
    "Teams": ["Id", "Nr", "Code", "Size", "Twice"],
    "Players": ["Id", "Nr", "P", "Name"],
    "Shoes": ["Id", "Nr", "P", "S"],
    "Fans": ["F", "Code"],
    "Coaches": ["C", "Id", "Nr"],
}
REST = {"Teams": ["Code", "Size"], "Players": ["Name"], "Shoes": [], "Fans": ["Code"], "Coaches": ["Id", "Nr"]}
DESC = {"Nr", "Size"}

ids = st.sampled_from(["a", "ab", "", "Z", "\U0001f600", None])
numbers = st.sampled_from([0, 1, -3, 2**40, None])
VALUES = {
    "Id": ids, "Nr": numbers, "P": st.integers(0, 2), "S": st.integers(0, 1), "F": st.integers(0, 5),
    "C": st.integers(0, 5),
    "Code": st.sampled_from([None, 1, 2, 3, 4, 5, 6]), "Size": st.sampled_from([1, 2, 3, 4, 5, 50, 89, 90, None]),
    "Name": st.sampled_from([None, "x", "yy", "zzz", "ä", "longe", "toolong"]),
}  # fmt: skip
PARENTS = {"Players": "Teams", "Shoes": "Players"}
KINDS = ["insert", "insert", "insert_or_update", "update", "replace", "delete", "range"]


def draw_key(data, table, known):
    """A key: one that is there, one under a parent that is there, or any."""
    parts = KEYS[table]
    own, above = known[table], known.get(PARENTS.get(table), [])
    choice = data.draw(st.integers(0, 9))
    if own and choice < 4:
        return list(data.draw(st.sampled_from(own)))
    start = list(data.draw(st.sampled_from(above))) if above and choice < 9 else []
    return start + [data.draw(VALUES[column]) for column in parts[len(start) :]]


def draw_mutation(data, table, kind, known):
    """One mutation as (kind, table, columns, rows)."""
    key = KEYS[table]
    if kind == "delete":
        return kind, table, key, [draw_key(data, table, known)]
    if kind == "range":
        return kind, table, key[:1], [draw_key(data, table, known)[:1]]
    some = data.draw(st.sets(st.sampled_from(REST[table]))) if REST[table] else set()
    if table == "Teams" and data.draw(st.integers(0, 9)):
        some |= {"Size"}
    columns = key + [column for column in REST[table] if column in some]
    count = data.draw(st.integers(1, 2))
    rows = [draw_key(data, table, known) + draw_rest(data, table, columns[len(key) :], known) for _ in range(count)]
    return kind, table, columns, rows


def draw_rest(data, table, columns, known):
    """Values of other columns; references mostly point at something."""
    values = [data.draw(VALUES[column]) for column in columns]
    if table == "Coaches" and columns == ["Id", "Nr"] and known["Teams"] and data.draw(st.integers(0, 9)):
        return list(data.draw(st.sampled_from(known["Teams"])))
    if table == "Fans" and columns and known["codes"] and data.draw(st.integers(0, 9)):
        return [data.draw(st.sampled_from(known["codes"]))]
    return values


def compare(left, right, columns):
    """The order of two rows by these columns: NULL first (last where DESC), texts by code point."""
    for column in columns:
        a, b = left[column], right[column]
        if a == b:
            continue
        smaller = a is None or (b is not None and a < b)
        return (1 if smaller else -1) if column in DESC else (-1 if smaller else 1)
    return 0


def in_order(rows, columns):
    return sorted(rows, key=cmp_to_key(lambda left, right: compare(left, right, columns)))


class Oracle:
    """The same tables in sqlite3."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.execute("PRAGMA foreign_keys = ON")
        self.db.executescript(ORACLE)

    def commit(self, operations):
        """True where all operations hold together; else nothing stays."""
        self.written, self.deleted = [], []
        self.db.execute("BEGIN")
        try:
            for operation in operations:
                self.apply(*operation)
            if any(self.db.execute(query).fetchone() for query in AT_COMMIT):
                raise LookupError
            self.db.execute("COMMIT")
        except (sqlite3.IntegrityError, LookupError):
            self.db.execute("ROLLBACK")
            return False
        return True

    def apply(self, kind, table, columns, rows):
        for row in rows:
            hidden = row if table == "Coaches" else map(_hidden, columns, row)  # a reference with a NULL points nowhere
            stored = dict(zip(columns, hidden, strict=True))
            key = {column: stored[column] for column in KEYS[table] if column in stored}
            if table == "Teams":  # which Coaches reference with CASCADE: not both written and deleted in one commit
                (self.deleted if kind in ("range", "delete") else self.written).append(tuple(key.values()))
                if any(one[: len(gone)] == gone for one in self.written for gone in self.deleted):
                    raise LookupError
            if kind in ("range", "delete"):
                self.delete(table, key)
            else:
                self.write(kind, table, stored, key)

    def write(self, kind, table, stored, key):
        there = self.exists(table, key)
        if kind == "update" and not there:
            raise LookupError
        if kind != "update" and table == "Teams" and "Size" not in stored:
            raise LookupError
        if kind == "replace" and there:
            self.delete(table, key)
            there = False
        if kind == "update" or (kind == "insert_or_update" and there):
            changed = {column: value for column, value in stored.items() if column not in key}
            if changed:
                assignments = ", ".join(f"{column} = ?" for column in changed)
                where = " AND ".join(f"{column} = ?" for column in key)
                self.db.execute(f"UPDATE {table} SET {assignments} WHERE {where}", [*changed.values(), *key.values()])
        else:
            names, marks = ", ".join(stored), ", ".join("?" * len(stored))
            self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(stored.values()))

    def exists(self, table, key):
        where = " AND ".join(f"{column} = ?" for column in key)
        return self.db.execute(f"SELECT 1 FROM {table} WHERE {where}", list(key.values())).fetchone() is not None

    def delete(self, table, key):
        # sqlite would look at RESTRICT only after the cascade above it: ask first, as Spanner does
        where = " AND ".join(f"{column} = ?" for column in key)
        if table in ("Teams", "Players"):
            shoes = {column: value for column, value in key.items() if column in COLUMNS["Shoes"]}
            if self.exists("Shoes", shoes) and self.exists(table, key):
                raise LookupError
        self.db.execute(f"DELETE FROM {table} WHERE {where}", list(key.values()))
        if table == "Teams":
            gone = [value for value in key.values() if value not in (NO_TEXT, NO_NUMBER)]
            if len(gone) == len(key):
                self.db.execute(f"DELETE FROM Coaches WHERE {where} AND Id || Nr IS NOT NULL", gone)

    def rows(self, table):
        names = COLUMNS[table]
        found = self.db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
        return [dict(zip(names, map(_shown, names, row), strict=True)) for row in found]


def _hidden(column, value):
    if value is not None:
        return value
    return {"Id": NO_TEXT, "Nr": NO_NUMBER}.get(column)


def _shown(column, value):
    return None if (column, value) in (("Id", NO_TEXT), ("Nr", NO_NUMBER)) else value


class Histories(RuleBasedStateMachine):
    """A database and its oracles; every commit is made in both."""

    def teardown(self):
        if hasattr(self, "oracle"):
            self.oracle.db.close()

    @initialize()
    def begin(self):
        self.db = Database(Schema.from_ddl(DDL))
        self.oracle = Oracle()
        self.commit([("insert", "Teams", ["Id", "Nr", "Code", "Size"], [["a", 1, 1, 1], ["ab", None, 2, 2]])])
        self.commit([("insert", "Players", ["Id", "Nr", "P"], [["a", 1, 0], ["ab", None, 1]])])

    def commit(self, operations):
        before = {table: self.db.rows(table) for table in KEYS}
        expected = self.oracle.commit(operations)
        try:
            commit = self.db.commit([_as_mutation(*operation) for operation in operations])
        except ConstraintError as error:
            assert not expected, f"{operations} refused: {error}"  # noqa: PT017
            assert {table: self.db.rows(table) for table in KEYS} == before
            return
        assert expected, f"{operations} accepted"
        assert commit.participants == len(commit.splits) <= len(self.db.splits)
        assert commit.participants >= 1 or not commit.rows_written

    def keys(self):
        known = {table: [tuple(row[c] for c in KEYS[table]) for row in self.db.rows(table)] for table in KEYS}
        known["codes"] = [row["Code"] for row in self.db.rows("Teams") if row["Code"] is not None]
        return known

    @rule(table=st.sampled_from(list(KEYS)), kind=st.sampled_from(KINDS), data=st.data())
    def one_mutation(self, table, kind, data):
        self.commit([draw_mutation(data, table, kind, self.keys())])

    @rule(table=st.sampled_from(["Teams", "Players"]), kind=st.sampled_from(KINDS), data=st.data())
    def one_family_mutation(self, table, kind, data):
        self.commit([draw_mutation(data, table, kind, self.keys())])

    @rule(kind=st.sampled_from(KINDS), data=st.data())
    def team_and_fan(self, kind, data):
        known = self.keys()
        teams = [draw_mutation(data, "Teams", kind, known), draw_mutation(data, "Teams", "insert_or_update", known)]
        fans = [draw_mutation(data, "Fans", "insert_or_update", known)]
        self.commit(data.draw(st.permutations(teams + fans)))

    @rule(coach=st.integers(0, 5), data=st.data())
    def hire(self, coach, data):
        if known := [team for team in self.keys()["Teams"] if None not in team]:
            row = [coach, *data.draw(st.sampled_from(known))]
            self.commit([("insert_or_update", "Coaches", COLUMNS["Coaches"], [row])])

    @rule(data=st.data())
    def let_a_team_go(self, data):
        known = self.keys()["Teams"]
        with_coach = [(row["Id"], row["Nr"]) for row in self.db.rows("Coaches")]
        if teams := [team for team in known if team in with_coach and None not in team] or known:
            self.commit([("delete", "Teams", KEYS["Teams"], [list(data.draw(st.sampled_from(teams)))])])

    @rule(length=st.integers(2, 4), data=st.data())
    def many_mutations(self, length, data):
        tables, kinds = st.sampled_from(list(KEYS)), st.sampled_from(KINDS)
        known = self.keys()
        self.commit([draw_mutation(data, data.draw(tables), data.draw(kinds), known) for _ in range(length)])

    @rule(table=st.sampled_from(list(KEYS)), data=st.data())
    def cut(self, table, data):
        parts = data.draw(st.integers(1, len(KEYS[table])))
        self.db.splits.cut(table, [data.draw(VALUES[column]) for column in KEYS[table][:parts]])

    @rule(size=st.integers(20, 200))
    def cut_by_size(self, size):
        self.db.splits.merge()
        self.db.splits.cut_by_size(size)

    @rule()
    def reindex(self):
        if "PlayersByP" in self.db.schema.indexes:
            self.db.apply_ddl("DROP INDEX PlayersByP")
        else:
            self.db.apply_ddl("CREATE INDEX PlayersByP ON Players (P DESC) STORING (Name)")

    @rule(step=st.integers(0, 3))
    def begin_index(self, step):
        """Leave an index half built, so that commits come in between."""
        if "FansByCode" not in self.db.bound_schema.indexes:
            self.db.start_ddl("CREATE INDEX FansByCode ON Fans (Code DESC)").step(step)
        else:
            self.db.apply_ddl("DROP INDEX FansByCode")

    @invariant()
    def same_rows_in_key_order(self):
        for table, key in KEYS.items():
            assert self.db.rows(table) == in_order(self.oracle.rows(table), key)

    @invariant()
    def entries_are_right(self):
        for name, index in self.db.schema.indexes.items():
            columns = self.db.schema.index_columns(name)
            desc = {part.column for part in self.db.schema.index_key(name) if part.desc}
            needed = [part.column for part in index.key] if index.null_filtered else []
            rows = [row for row in self.oracle.rows(index.table) if all(row[column] is not None for column in needed)]
            expected = [{column: row[column] for column in columns} for row in rows]
            key = [part.column for part in self.db.schema.index_key(name)]
            assert self.db.entries(name) == _sorted_with(expected, key, desc)

    @invariant()
    def families_lie_together(self):
        """Depth first: a team, its players with their shoes, then the entries of the index interleaved in Teams."""
        expected = []
        rows = {table: in_order(self.oracle.rows(table), key) for table, key in KEYS.items()}
        for team in rows["Teams"]:
            expected.append((0, "Teams", tuple(team[c] for c in KEYS["Teams"])))
            players = [row for row in rows["Players"] if (row["Id"], row["Nr"]) == (team["Id"], team["Nr"])]
            for player in players:
                expected.append((1, "Players", tuple(player[c] for c in KEYS["Players"])))
                shoes = [row for row in rows["Shoes"] if all(row[c] == player[c] for c in KEYS["Players"])]
                expected += [(2, "Shoes", tuple(row[c] for c in KEYS["Shoes"])) for row in shoes]
            names = in_order(players, ["Id", "Nr", "Name", "P"])
            expected += [(1, "PlayersByName", (row["Id"], row["Nr"], row["Name"], row["P"])) for row in names]
        layout = self.db.layout("Teams")
        assert [row[:3] for row in layout.rows] == expected
        splits = [row[3] for row in layout.rows]
        assert splits == sorted(splits)


def _sorted_with(rows, key, desc):
    def order(left, right):
        for column in key:
            a, b = left[column], right[column]
            if a != b:
                smaller = a is None or (b is not None and a < b)
                return (1 if smaller else -1) if column in desc else (-1 if smaller else 1)
        return 0

    return sorted(rows, key=cmp_to_key(order))


def _as_mutation(kind, table, columns, rows):
    if kind == "delete":
        return ("delete", table, {"keys": rows})
    if kind == "range":
        return ("delete", table, {"range": {"start_closed": rows[0], "end_closed": rows[0]}})
    return (kind, table, columns, rows)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=30, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
