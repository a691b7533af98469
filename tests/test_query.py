"""Plans, rows and counts: what a learner sees.

Expected figures come from the course's data rules (arithmetic on paper), from Spanner's documentation and from plans
that were published (facts.md 7).
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from spanlab.cli import main
from spanlab.errors import QueryError, SqlError, UnsupportedError
from spanlab.query import Database, read_plan
from spanlab.schema import Schema
from spanlab.storage import data

MUSIC = """
CREATE TABLE Singers (SingerId INT64 NOT NULL, FirstName STRING(1024), LastName STRING(1024), BirthDate DATE,
  SeenAt TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (SingerId);
CREATE INDEX SingersByName ON Singers (FirstName, LastName);
CREATE TABLE Albums (SingerId INT64 NOT NULL, AlbumId INT64 NOT NULL, Title STRING(MAX), Budget INT64)
  PRIMARY KEY (SingerId, AlbumId), INTERLEAVE IN PARENT Singers;
CREATE TABLE Concerts (VenueId INT64 NOT NULL, SingerId INT64 NOT NULL, Price INT64, Tags ARRAY<STRING(MAX)>)
  PRIMARY KEY (VenueId, SingerId);
CREATE INDEX ConcertsBySinger ON Concerts (SingerId);
"""


@cache
def shop(*statements: str) -> Database:
    """The shop data under the given indexes: 1,000 shoppers, 20,000 purchases, 200 a day for 100 days, 400 OPEN."""
    schema = data("shop").schema
    for statement in statements:
        schema = schema.apply(statement)
    database = Database(schema)
    data("shop").into(database)
    return database


@cache
def music(*statements: str) -> Database:
    schema = Schema.from_ddl(MUSIC)
    for statement in statements:
        schema = schema.apply(statement)
    database = Database(schema)
    database.load("Singers", ["SingerId", "FirstName", "LastName"], [[i, f"F{i % 5}", f"L{i}"] for i in range(20)])
    database.load("Albums", ["SingerId", "AlbumId", "Title"], [[i, a, f"T{a}"] for i in range(20) for a in range(3)])
    concerts = [[v, s, v * s, [f"t{v}", None]] for v in range(4) for s in range(0, 20, 2)]
    database.load("Concerts", ["VenueId", "SingerId", "Price", "Tags"], concerts)
    return database


def operators(database: Database, sql: str) -> list[str]:
    return [node.operator for node in database.explain(sql)]


# counts


@pytest.mark.parametrize(
    ("index", "scanned", "fetched"),
    [
        ("(BoughtAt)", 2000, 2000),
        ("(BoughtAt) STORING (Status)", 2000, 40),
        ("(Status, BoughtAt)", 40, 40),
        ("(Status, BoughtAt) STORING (Total)", 40, 0),
    ],
)
def test_a_back_join_fetches_exactly_the_entries_that_survive(index: str, scanned: int, fetched: int) -> None:
    """Ten of 100 days are 2,000 of 20,000 purchases, 2 % of them OPEN: 40 (facts.md 7.5 P5)."""
    database = shop(f"CREATE INDEX I ON Purchases {index}")
    sql = "SELECT Total FROM Purchases WHERE BoughtAt >= @day AND Status = 'OPEN'"
    result = database.query(sql, {"day": data.day(90)})
    assert (len(result), result.scanned, result.back_joins) == (40, scanned, fetched)
    assert result.index_used == ("I",)


def test_a_seek_reads_the_key_range_and_a_residual_reads_what_it_drops() -> None:
    database = shop()
    shopper = data.uuid(5)
    (purchase,) = database.query("SELECT PurchaseId FROM Purchases WHERE ShopperId = @s LIMIT 1", {"s": shopper}).rows[
        0
    ]
    values = {"s": shopper, "p": purchase}
    scanned = [
        database.query(f"SELECT * FROM Purchases WHERE {condition}", values).scanned
        for condition in (
            "ShopperId = @s",
            "PurchaseId = @p",
            "ShopperId = @s AND PurchaseId = @p",
            "ShopperId = @s AND Status = 'x'",
        )
    ]  # fmt: skip
    assert scanned == [20, 20_000, 1, 20]


def test_a_limit_along_the_key_stops_reading() -> None:
    database = shop("CREATE INDEX Newest ON Purchases (BoughtAt DESC) STORING (Total)")
    result = database.query("SELECT PurchaseId, BoughtAt, Total FROM Purchases ORDER BY BoughtAt DESC LIMIT 20")
    assert (result.scanned, result.sorts, result.back_joins, len(result)) == (20, 0, 0, 20)


def test_an_index_is_not_read_backwards() -> None:
    database = shop("CREATE INDEX Oldest ON Purchases (BoughtAt) STORING (Total)")
    result = database.query("SELECT Total FROM Purchases ORDER BY BoughtAt DESC LIMIT 20")
    assert (result.scanned, result.sorts) == (20_000, 1)


def test_a_limit_reads_on_until_the_residual_has_let_enough_rows_through() -> None:
    """Purchases in key order: 50th, 100th … of the OPEN ones are found by reading no further than the fifth."""
    database = shop()
    ordered = database.query("SELECT Status FROM Purchases").rows
    places = [place for place, (status,) in enumerate(ordered) if status == "OPEN"]
    result = database.query("SELECT PurchaseId FROM Purchases WHERE Status = 'OPEN' LIMIT 5")
    assert (len(result), result.scanned) == (5, places[4] + 1)


def test_a_family_join_makes_one_hop_and_separate_tables_two() -> None:
    family = "SELECT s.FirstName, a.Title FROM Singers s JOIN Albums a USING (SingerId) WHERE s.SingerId = 1"
    separate = "SELECT s.FirstName, c.Price FROM Singers s JOIN Concerts c USING (SingerId) WHERE s.SingerId = 2"
    database = music()
    assert database.explain(family).distributed_levels == 1
    assert database.explain(separate).distributed_levels == 2
    assert database.query(family).rows == [("F1", "T0"), ("F1", "T1"), ("F1", "T2")]


def test_splits_and_remote_calls_follow_where_the_rows_are_cut() -> None:
    database = Database(Schema.from_ddl(MUSIC), [("Singers", [5]), ("Singers", [10])])
    database.load("Singers", ["SingerId"], [[i] for i in range(20)])
    whole = database.query("SELECT * FROM Singers")
    assert (whole.splits, whole.remote_calls) == (3, 3)
    assert database.query("SELECT * FROM Singers WHERE SingerId = 7").splits == 1
    assert database.query("SELECT * FROM Singers WHERE SingerId >= 7").splits == 2
    assert "SPL609" in whole.advice.rules()


def test_plans_are_kept_by_text_and_types_of_parameters() -> None:
    database = Database(Schema.from_ddl(MUSIC))
    for number in range(10):
        database.query(f"SELECT FirstName FROM Singers WHERE SingerId = {number}")
    assert database.plan_cache.compiled == 10
    database.plan_cache.clear()
    cached = [
        database.query("SELECT FirstName FROM Singers WHERE SingerId = @id", {"id": number}).query_plan_cached
        for number in range(10)
    ]
    assert database.plan_cache.compiled == 1
    assert cached == [False] + [True] * 9


def test_like_with_a_parameter_scans_and_starts_with_seeks() -> None:
    """Shopper 1, 10 to 19, 100 to 199: 111 of 1,000 names begin with "Shopper 1"."""
    database = shop("CREATE INDEX ShoppersByName ON Shoppers (Name)")
    like = database.query("SELECT Name FROM Shoppers WHERE Name LIKE @p", {"p": "Shopper 1%"})
    starts = database.query("SELECT Name FROM Shoppers WHERE STARTS_WITH(Name, @p)", {"p": "Shopper 1"})
    assert (len(like), like.scanned, len(starts), starts.scanned) == (111, 1000, 111, 111)
    assert "SPL604" in like.advice.rules()
    assert "SPL604" not in starts.advice.rules()


LEDGER = """CREATE TABLE Entries (
  Shard INT64 NOT NULL AS (MOD(MOD(FARM_FINGERPRINT(Id), 4) + 4, 4)) STORED, Id STRING(20) NOT NULL, Amount INT64
) PRIMARY KEY (Shard, Id)"""


@pytest.fixture(scope="module")
def ledger() -> Database:
    database = Database(Schema.from_ddl(LEDGER))
    database.load("Entries", ["Id", "Amount"], [[f"id{i:04}", i] for i in range(1000)])
    return database


@pytest.mark.parametrize(
    ("condition", "scanned"),
    [
        ("Shard BETWEEN 0 AND 3 AND Id >= @a AND Id < @b", 1000),
        ("Shard IN (0, 1, 2, 3) AND Id >= @a AND Id < @b", 1000),
        ("Shard IN UNNEST(GENERATE_ARRAY(0, 3)) AND Id >= @a AND Id < @b", 100),
    ],
)
def test_a_range_over_shards_seeks_on_the_shard_alone(ledger: Database, condition: str, scanned: int) -> None:
    """facts.md 7.5 P17: by default every row of each shard is read; one seek a shard reads what is asked."""
    window = {"a": "id0100", "b": "id0200"}
    result = ledger.query(f"SELECT Amount FROM Entries WHERE {condition}", window)
    assert sorted(result.rows) == [(i,) for i in range(100, 200)]
    assert result.scanned == scanned
    assert ("SPL605" in result.advice.rules()) == (scanned == 1000)


def test_one_subquery_for_each_shard_seeks_in_each(ledger: Database) -> None:
    sql = (
        "SELECT e.Amount FROM UNNEST(GENERATE_ARRAY(0, 3)) AS s, UNNEST(ARRAY(SELECT AS STRUCT Amount FROM Entries "
        "WHERE Shard = s AND Id >= @a ORDER BY Id LIMIT 2)) AS e ORDER BY e.Amount LIMIT 3"
    )
    result = ledger.query(sql, {"a": "id0100"})
    assert result.rows == [(100,), (101,), (102,)]
    assert result.scanned <= 8
    assert [n.operator for n in result.plan][:5] == [
        "Serialize Result", "Global Sort Limit", "Cross Apply", "Array Unnest", "Local Limit",
    ]  # fmt: skip


def test_the_hint_seekable_key_size_lets_the_seek_go_on_behind_the_range(ledger: Database) -> None:
    hinted = "Entries@{FORCE_INDEX=_BASE_TABLE, SEEKABLE_KEY_SIZE=2}"
    result = ledger.query(f"SELECT Amount FROM {hinted} WHERE Shard BETWEEN 0 AND 3 AND Id >= @a", {"a": "id0990"})
    assert (len(result), result.scanned) == (10, 10)


def test_the_shard_of_a_generated_key_is_derived(ledger: Database) -> None:
    result = ledger.query("SELECT Amount FROM Entries WHERE Id = @id", {"id": "id0007"})
    assert (result.rows, result.scanned, result.full_scans) == ([(7,)], 1, 0)


# null-filtered indexes


def test_a_null_filtered_index_needs_proof() -> None:
    """facts.md 4.2.8: used only where the query excludes the NULLs; forced without proof the query fails."""
    database = music(
        "CREATE NULL_FILTERED INDEX BySeen ON Singers (SeenAt)", "CREATE INDEX ByBirth ON Singers (BirthDate)"
    )
    assert database.explain("SELECT SingerId FROM Singers ORDER BY SeenAt LIMIT 5").index_used == ()
    assert database.explain("SELECT SingerId FROM Singers WHERE SeenAt > @t").index_used == ("BySeen",)
    assert database.explain("SELECT SingerId FROM Singers WHERE BirthDate IS NULL").index_used == ("ByBirth",)
    forced = "SELECT SingerId FROM Singers@{{FORCE_INDEX=BySeen}} {} ORDER BY SeenAt LIMIT 5"
    with pytest.raises(QueryError, match="SeenAt IS NOT NULL"):
        database.explain(forced.format(""))
    with pytest.raises(QueryError):
        database.explain(forced.format("WHERE COALESCE(SeenAt, @t) > @t"))
    plan = database.explain(forced.format("WHERE SeenAt IS NOT NULL"))
    assert (plan.index_used, plan.sorts) == (("BySeen",), 0)


# shapes that the corpus does not settle, from facts.md 7.5


SHAPES = {
    "SELECT 1": "Serialize Result, Unit Relation",
    "SELECT * FROM Albums LIMIT 0": "Serialize Result, Empty Relation",
    "SELECT Title FROM Albums ORDER BY Title LIMIT 3": """
        Global Limit, Distributed Union, Serialize Result, Local Sort Limit, Local Distributed Union, Table Scan""",
    "SELECT SingerId, COUNT(*) FROM Albums GROUP BY SingerId": """
        Distributed Union, Serialize Result, Stream Aggregate, Local Distributed Union, Table Scan""",
    "SELECT Title, COUNT(*) FROM Albums GROUP BY Title": """
        Serialize Result, Global Hash Aggregate, Distributed Union, Local Hash Aggregate, Local Distributed Union,
        Table Scan""",
    "SELECT * FROM Singers WHERE SingerId IN UNNEST(@ids)": """
        Distributed Cross Apply, Create Batch, RowToDataBlock, Hash Aggregate, Array Unnest, Serialize Result,
        Cross Apply, KeyRangeAccumulator, DataBlockToRow, Batch Scan, Local Distributed Union, Filter Scan,
        Table Scan""",
    "SELECT FirstName FROM Singers s WHERE EXISTS (SELECT 1 FROM Albums a WHERE a.SingerId = s.SingerId)": """
        Distributed Union, Local Distributed Union, Serialize Result, Semi Apply, Table Scan, Local Distributed Union,
        Filter Scan, Table Scan""",
}


@pytest.mark.parametrize("sql", SHAPES)
def test_published_shapes(sql: str) -> None:
    database = Database(Schema.from_ddl(MUSIC))
    assert ", ".join(operators(database, sql)) == " ".join(SHAPES[sql].split())


def test_optimizer_versions_differ_as_documented() -> None:
    """Version 3 brought the merge of sorted streams, 2 the prefix of a regular expression."""
    database = Database(Schema.from_ddl(MUSIC))
    sort = "@{{OPTIMIZER_VERSION={}}} SELECT Title FROM Albums ORDER BY Title"
    assert operators(database, sort.format(2))[:3] == ["Serialize Result", "Sort", "Distributed Union"]
    assert operators(database, sort.format(3))[:3] == ["Distributed Union", "Serialize Result", "Sort"]
    prefix = "@{{OPTIMIZER_VERSION={}}} SELECT FirstName FROM Singers WHERE REGEXP_CONTAINS(FirstName, '^Al')"
    assert database.explain(prefix.format(1)).full_scans == 1
    assert database.explain(prefix.format(2)).full_scans == 0


# rows


def test_values_of_every_kind_come_back_as_python_values() -> None:
    database = music()
    row = database.query(
        "SELECT 1, 'a', TRUE, NULL, DATE '2026-01-02', TIMESTAMP '2026-01-02T03:04:05Z', [1, 2], 1.5, @p", {"p": b"x"}
    ).rows[0]
    day, moment = row[4], row[5]
    assert row[:4] == (1, "a", True, None)
    assert (day.isoformat(), moment) == ("2026-01-02", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert row[6:] == ([1, 2], 1.5, b"x")


def test_arrays_and_structs() -> None:
    database = music()
    tags = database.query(
        "SELECT t, o FROM Concerts c, UNNEST(c.Tags) AS t WITH OFFSET o WHERE c.VenueId = 1 AND c.SingerId = 2"
    )
    assert tags.rows == [("t1", 0), (None, 1)]
    path = database.query("SELECT COUNT(t) FROM Concerts c, c.Tags AS t WHERE c.VenueId < 2")
    assert path.rows == [(20,)]
    nested = database.query(
        "SELECT s.FirstName, ARRAY(SELECT AS STRUCT a.AlbumId, a.Title FROM Albums a WHERE a.SingerId = s.SingerId "
        "ORDER BY a.AlbumId DESC LIMIT 2) AS newest FROM Singers s WHERE s.SingerId < 2"
    )
    assert nested.rows == [("F0", [(2, "T2"), (1, "T1")]), ("F1", [(2, "T2"), (1, "T1")])]
    assert database.query("SELECT ARRAY_AGG(SingerId) FROM Singers WHERE SingerId < 3").rows == [([0, 1, 2],)]


def test_with_is_worked_out_once_where_it_is_read_twice() -> None:
    database = music()
    sql = "WITH few AS (SELECT SingerId, FirstName FROM Singers WHERE SingerId < 3) SELECT a.SingerId, b.FirstName FROM few a JOIN few b USING (SingerId)"  # noqa: E501
    result = database.query(sql)
    assert sorted(result.rows) == [(0, "F0"), (1, "F1"), (2, "F2")]
    assert result.scanned == 3
    assert [n.operator for n in result.plan].count("SpoolBuild") == 1


def test_a_subquery_for_a_value_may_have_one_row() -> None:
    database = music()
    assert database.query("SELECT (SELECT Title FROM Albums WHERE SingerId = 1 AND AlbumId = 2)").rows == [("T2",)]
    assert database.query("SELECT (SELECT Title FROM Albums WHERE SingerId = 77)").rows == [(None,)]
    with pytest.raises(QueryError, match="more than one row"):
        database.query("SELECT (SELECT Title FROM Albums WHERE SingerId = 1)")


def test_views_synonyms_and_tables_of_named_schemas() -> None:
    schema = Schema.from_ddl(MUSIC)
    schema = schema.apply(
        "CREATE VIEW Rich SQL SECURITY INVOKER AS SELECT a.SingerId, a.Title FROM Albums AS a WHERE a.Budget > 5"
    )
    schema = schema.apply("CREATE SCHEMA shows")
    schema = schema.apply("CREATE TABLE shows.Halls (HallId INT64 NOT NULL) PRIMARY KEY (HallId)")
    database = Database(schema)
    database.load("Singers", ["SingerId"], [[1]])
    database.load("Albums", ["SingerId", "AlbumId", "Title", "Budget"], [[1, 1, "a", 9], [1, 2, "b", 1]])
    database.load("shows.Halls", ["HallId"], [[3]])
    assert database.query("SELECT Title FROM Rich WHERE SingerId = 1").rows == [("a",)]
    assert database.query("SELECT Halls.HallId FROM shows.Halls").rows == [(3,)]


def test_values_that_do_not_fit_the_key_are_compared_all_the_same() -> None:
    database = music()
    assert len(database.query("SELECT SingerId FROM Singers WHERE SingerId > 17.5")) == 2
    assert len(database.query("SELECT SingerId FROM Singers WHERE SingerId = 2.5")) == 0
    assert len(database.query("SELECT SingerId FROM Singers WHERE SingerId = NULL")) == 0
    assert len(database.query("SELECT SingerId FROM Singers WHERE FirstName >= @p", {"p": None})) == 0


def test_dml_reads_by_queries() -> None:
    database = Database(Schema.from_ddl(MUSIC))
    database.execute(["INSERT INTO Singers (SingerId, FirstName) VALUES (1, 'a'), (2, 'b')"])
    database.execute(
        [
            "INSERT INTO Albums (SingerId, AlbumId, Title) SELECT SingerId, 7, FirstName FROM Singers",
            "UPDATE Singers SET LastName = 'x' WHERE SingerId IN (SELECT SingerId FROM Albums WHERE Title = 'b')",
        ]
    )
    assert database.query("SELECT SingerId, Title FROM Albums").rows == [(1, "a"), (2, "b")]
    assert database.query("SELECT SingerId FROM Singers WHERE LastName = 'x'").rows == [(2,)]


@pytest.mark.parametrize(
    ("statement", "expected", "scanned"),
    [
        ("DELETE FROM Albums WHERE TRUE", "Distributed Union, Local Distributed Union, Table Scan", 60),
        ("UPDATE Singers SET LastName = 'x' WHERE SingerId = 3",
         "Distributed Union, Local Distributed Union, Filter Scan, Table Scan", 1),
        ("INSERT INTO Singers (SingerId, LastName) VALUES (90, DEFAULT)",
         "Union All, Union Input, Compute, Unit Relation", 0),
        ("INSERT INTO Singers (SingerId) SELECT SingerId + 100 FROM Singers",
         "Distributed Union, Local Distributed Union, Index Scan", 20),
    ],
)  # fmt: skip
def test_a_change_reads_its_rows_as_a_query_does(statement: str, expected: str, scanned: int) -> None:
    """facts.md 7.5 P19. Explaining changes nothing."""
    database = music()
    plan = database.explain(statement)
    assert ", ".join(n.operator for n in plan) == f"Apply Mutations, Serialize Result, {expected}"
    assert plan.scanned == scanned
    assert len(database.rows("Singers")) == 20
    with pytest.raises(QueryError, match="execute"):
        database.query(statement)


# system tables


def test_the_information_schema_can_be_asked() -> None:
    database = music("CREATE UNIQUE NULL_FILTERED INDEX BySeen2 ON Singers (SeenAt)")
    columns = database.query(
        "SELECT column_name, ordinal_position, is_nullable FROM information_schema.columns "
        "WHERE table_schema = '' AND table_name = 'Albums' ORDER BY table_name, ordinal_position"
    )
    assert columns.rows == [("SingerId", 1, "NO"), ("AlbumId", 2, "NO"), ("Title", 3, "YES"), ("Budget", 4, "YES")]
    indexes = database.query(
        "SELECT index_name, table_name, is_unique, is_null_filtered, index_state FROM INFORMATION_SCHEMA.INDEXES "
        "WHERE table_schema = '' AND INDEX_TYPE = 'INDEX' ORDER BY 1"
    )
    assert indexes.rows == [
        ("BySeen2", "Singers", True, True, "READ_WRITE"),
        ("ConcertsBySinger", "Concerts", False, False, "READ_WRITE"),
        ("SingersByName", "Singers", False, False, "READ_WRITE"),
    ]


def test_an_index_that_is_being_filled_says_so() -> None:
    database = Database(Schema.from_ddl(MUSIC))
    database.load("Singers", ["SingerId"], [[i] for i in range(10)])
    change = database.start_ddl("CREATE INDEX Later ON Singers (LastName)")
    asked = (
        "SELECT INDEX_NAME FROM INFORMATION_SCHEMA.INDEXES WHERE INDEX_TYPE = 'INDEX' AND INDEX_STATE <> 'READ_WRITE'"
    )
    assert database.query(asked).rows == [("Later",)]
    assert database.explain("SELECT LastName FROM Singers WHERE LastName = 'a'").index_used != ("Later",)
    change.run()
    assert database.query(asked).rows == []
    assert database.explain("SELECT LastName FROM Singers WHERE LastName = 'a'").index_used == ("Later",)


class Observed:
    def split_stats(self, interval: str = "MINUTE") -> list[dict[str, object]]:
        row = {"INTERVAL_END": datetime(2026, 1, 1, tzinfo=UTC), "SPLIT_START": "Hits(9)", "SPLIT_LIMIT": "<end>"}
        rest = {"AFFECTED_TABLES": ["Hits"], "UNSPLITTABLE_REASONS": ["MOVING_HOT_SPOT"]}
        return [row | rest | {"CPU_USAGE_SCORE": score} for score in (100, 40)]


def test_split_statistics_of_a_run_can_be_asked() -> None:
    database = music()
    sql = (
        "SELECT SPLIT_START, SPLIT_LIMIT, UNSPLITTABLE_REASONS FROM SPANNER_SYS.SPLIT_STATS_TOP_10MINUTE "
        "WHERE CPU_USAGE_SCORE >= 50 ORDER BY CPU_USAGE_SCORE DESC"
    )
    assert Database(Schema.from_ddl(MUSIC)).query(sql).rows == []
    database.observe(Observed())
    assert database.query(sql).rows == [("Hits(9)", "<end>", ["MOVING_HOT_SPOT"])]


# errors that teach


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT FirstNam FROM Singers", "Did you mean FirstName"),
        ("SELECT * FROM Singer", "Did you mean Singers"),
        ("SELECT x.FirstName FROM Singers AS s", "no table or alias"),
        ("SELECT SingerId FROM Singers, Albums", "ambiguous"),
        ("SELECT FirstName, COUNT(*) FROM Singers", "GROUP BY"),
        ("SELECT FirstName FROM Singers WHERE COUNT(*) > 1", "aggregate"),
        ("SELECT 1 UNION ALL SELECT 1, 2", "1 and 2 columns"),
        ("SELECT * FROM Singers@{FORCE_INDEX=SingersByNam}", "SingersByName"),
        ("SELECT * FROM Singers s JOIN@{JOIN_METHOD=LOOP} Albums a USING (SingerId)", "APPLY_JOIN"),
        ("SELECT * FROM Singers@{FORCE_INDX=SingersByName}", "FORCE_INDEX"),
        ("@{FORCE_INDEX=SingersByName} SELECT * FROM Singers", "_BASE_TABLE"),
        ("@{JOIN_METHD=HASH_JOIN} SELECT 1", "JOIN_METHOD"),
        ("SELECT * FROM Singers s JOIN@{FORCE_INDEX=SingersByName} Albums a USING (SingerId)", "behind the table"),
        ("SELECT SUM(FirstName) FROM Singers", "numbers"),
        ("SELECT SingerId FROM Singers WHERE SingerId = 'a'", "type"),
        ("SELECT SingerId FROM Singers WHERE SingerId", "BOOL"),
        ("SELECT * FROM Singers LIMIT FirstName", "LIMIT"),
        ("SELECT * FROM INFORMATION_SCHEMA.INDEX", "INDEXES"),
        ("@{OPTIMIZER_VERSION=99} SELECT 1", "OPTIMIZER_VERSION"),
        ("SELECT FROM", ""),
    ],
)
def test_what_spanner_refuses_is_said_so_that_it_can_be_mended(sql: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        music().explain(sql)
    assert message.casefold() in str(caught.value).casefold()


def test_an_unknown_name_is_pointed_at() -> None:
    with pytest.raises(QueryError) as caught:
        music().explain("SELECT SingerId,\n  FirstNam FROM Singers")
    assert (caught.value.line, caught.value.column, caught.value.width) == (2, 3, 8)


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        ("SELECT ROW_NUMBER() OVER (ORDER BY SingerId) FROM Singers", "OVER"),
        ("SELECT SingerId FROM Singers INTERSECT DISTINCT SELECT SingerId FROM Albums", "INTERSECT"),
        ("WITH RECURSIVE t AS (SELECT 1 AS n) SELECT * FROM t", "RECURSIVE"),
    ],
)
def test_what_lies_outside_the_course_is_named(sql: str, construct: str) -> None:
    with pytest.raises(UnsupportedError, match=construct):
        music().explain(sql)


def test_a_missing_parameter_is_an_error_of_the_query_not_of_the_plan() -> None:
    database = music()
    sql = "SELECT FirstName FROM Singers WHERE SingerId = @id"
    assert database.explain(sql).full_scans == 0
    with pytest.raises(SqlError, match="@id"):
        database.query(sql)


# findings, pictures, real plans, the command


def test_findings_say_what_to_do() -> None:
    database = shop("CREATE INDEX I ON Purchases (BoughtAt)")
    fetched = database.explain("SELECT Total FROM Purchases WHERE BoughtAt >= @d", {"d": data.day(90)}).findings()
    (back_join,) = [f for f in fetched if f.rule == "SPL602"]
    assert back_join.fix == "ALTER INDEX I ADD STORED COLUMN Total"
    assert "2,000 rows" in back_join.message
    full = database.explain("SELECT PurchaseId FROM Purchases WHERE Total = @t", {"t": 65}).findings()
    assert [f.fix for f in full if f.rule == "SPL601"] == ["CREATE INDEX PurchasesByTotal ON Purchases (Total)"]
    sort = database.explain("SELECT PurchaseId FROM Purchases ORDER BY Total DESC LIMIT 5").findings()
    assert [f.fix for f in sort if f.rule == "SPL607"] == ["CREATE INDEX PurchasesByTotal ON Purchases (Total DESC)"]
    assert "SPL603" in database.explain("SELECT Name FROM Shoppers WHERE ShopperId = 'x'").findings().rules()
    assert not database.explain("SELECT Name FROM Shoppers WHERE ShopperId = @s", {"s": "x"}).findings()


def test_findings_of_the_fixes_are_gone() -> None:
    database = shop("CREATE INDEX I ON Purchases (BoughtAt) STORING (Total)")
    plan = database.explain("SELECT Total FROM Purchases WHERE BoughtAt >= @d", {"d": data.day(90)})
    assert plan.findings().rules() == set()


def test_a_plan_prints_as_the_spanner_cli_prints_it() -> None:
    text = str(
        music().explain(
            "SELECT s.FirstName, a.Title FROM Singers s JOIN Albums a USING (SingerId) WHERE s.SingerId = 1"
        )
    )
    lines = text.splitlines()
    assert re.fullmatch(r"\| +ID +\| Query_Execution_Plan +\|", lines[1])
    assert any("+- [Map] Local Distributed Union" in line for line in lines)
    assert " 5: Seek Condition: ($SingerId = 1)" in lines
    assert len({len(line) for line in lines if line.startswith(("|", "+"))}) == 1


def test_a_notebook_shows_words_beside_colours() -> None:
    html = (
        shop("CREATE INDEX I ON Purchases (BoughtAt)")
        .explain("SELECT Total FROM Purchases WHERE BoughtAt > @d")
        ._repr_html_()
    )
    assert "back-join" in html
    assert "seek" in html
    assert "<script" not in html
    dangerous = music().explain("SELECT FirstName FROM Singers WHERE FirstName = '<b>'")._repr_html_()
    assert "<b>'" not in dangerous


REAL_PLAN = {
    "metadata": {},
    "stats": {
        "queryPlan": {
            "planNodes": [
                {"displayName": "Distributed Union", "kind": "RELATIONAL", "metadata": {"distribution_table": "I"},
                 "childLinks": [{"childIndex": 1}, {"childIndex": 7, "type": "Split Range"}],
                 "executionStats": {"rows": {"total": "2"}, "execution_summary": {"num_executions": "1"}}},
                {"index": 1, "displayName": "Distributed Cross Apply", "kind": "RELATIONAL",
                 "childLinks": [{"childIndex": 2, "type": "Input"}, {"childIndex": 4, "type": "Map"},
                                {"childIndex": 6, "type": "Split Range"}]},
                {"index": 2, "displayName": "Create Batch", "kind": "RELATIONAL", "childLinks": [{"childIndex": 3}]},
                {"index": 3, "displayName": "Scan", "kind": "RELATIONAL",
                 "metadata": {"scan_type": "IndexScan", "scan_target": "SongsByName", "Full scan": "true"}},
                {"index": 4, "displayName": "Sort Limit", "kind": "RELATIONAL", "metadata": {"call_type": "Local"},
                 "childLinks": [{"childIndex": 5}]},
                {"index": 5, "displayName": "Scan", "kind": "RELATIONAL",
                 "metadata": {"scan_type": "TableScan", "scan_target": "Songs"},
                 "childLinks": [{"childIndex": 7, "type": "Seek Condition"}],
                 "executionStats": {"rows": {"total": "2"}, "scanned_rows": {"total": "2"}}},
                {"index": 6, "displayName": "Function", "kind": "SCALAR",
                 "shortRepresentation": {"description": "($Id' = $Id)"}},
                {"index": 7, "displayName": "Function", "kind": "SCALAR",
                 "shortRepresentation": {"description": "($Id' = $batched_Id)"}},
            ]
        },
        "queryStats": {"query_text": "SELECT * FROM Songs"},
    },
}  # fmt: skip


def test_a_real_plan_is_drawn_and_judged(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(REAL_PLAN), encoding="utf-8")
    for source in (path, str(path), json.dumps(REAL_PLAN), REAL_PLAN):
        plan = read_plan(source)
        assert [n.operator for n in plan] == [
            "Distributed Union", "Distributed Cross Apply", "Create Batch", "Index Scan", "Local Sort Limit",
            "Table Scan",
        ]  # fmt: skip
        assert [n.target for n in plan if n.is_scan] == ["SongsByName", "Songs"]
        assert [n.full_scan for n in plan if n.is_scan] == [True, False]
        assert list(plan)[-1].seek_condition == "($Id' = $batched_Id)"
        assert "SongsByName" in str(plan)
    assert plan.back_joins == 2
    assert plan.sql == "SELECT * FROM Songs"
    with pytest.raises(ValueError, match="query-mode=PLAN"):
        read_plan("{}")
    with pytest.raises(ValueError, match="no JSON"):
        read_plan("{oops")


def test_the_command_explains_a_query_and_a_real_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema, query, plan = tmp_path / "schema.sql", tmp_path / "query.sql", tmp_path / "plan.json"
    schema.write_text(MUSIC, encoding="utf-8")
    query.write_text("SELECT Title FROM Albums WHERE Title = 'x'", encoding="utf-8")
    plan.write_text(json.dumps(REAL_PLAN), encoding="utf-8")
    assert main(["explain", str(schema), str(query)]) == 0
    shown = capsys.readouterr().out
    assert "Table Scan on Albums" in shown
    assert "SPL601" in shown
    assert main(["explain", str(plan)]) == 0
    assert "Distributed Cross Apply" in capsys.readouterr().out
    query.write_text("SELECT Titel FROM Albums", encoding="utf-8")
    assert main(["explain", str(schema), str(query)]) == 2
    assert "Did you mean Title" in capsys.readouterr().err
    assert main(["explain", str(schema)]) == 2
    assert main(["explain", str(tmp_path / "none.json")]) == 2


@pytest.mark.parametrize("sql", ["SELECT", "SELECT FROM Singers"])
def test_a_select_that_lists_nothing_is_refused(sql):
    db = Database(Schema.from_ddl("CREATE TABLE Singers (SingerId INT64 NOT NULL) PRIMARY KEY (SingerId)"))
    with pytest.raises(QueryError, match="lists nothing"):
        db.explain(sql)


def test_a_split_that_several_scans_reach_counts_once():
    family = """CREATE TABLE A (Id INT64 NOT NULL) PRIMARY KEY (Id);
        CREATE TABLE B (Id INT64 NOT NULL, Nr INT64 NOT NULL) PRIMARY KEY (Id, Nr), INTERLEAVE IN PARENT A;
        CREATE TABLE C (Nr INT64 NOT NULL) PRIMARY KEY (Nr)"""
    db = Database(Schema.from_ddl(family))
    rows = [("A", ["Id"], [[1], [2]]), ("B", ["Id", "Nr"], [[1, 1], [2, 1]]), ("C", ["Nr"], [[1], [2], [3]])]
    db.commit([("insert", table, columns, values) for table, columns, values in rows])
    local = "SELECT A.Id, B.Nr FROM A JOIN B ON B.Id = A.Id WHERE A.Id = 1"
    assert db.query(local).splits == 1
    assert db.query("SELECT A.Id, C.Nr FROM A JOIN C ON C.Nr = A.Id WHERE A.Id = 1").splits == 2
    db.splits.cut("C", (2,))
    db.splits.cut("C", (3,))
    looked_up = "SELECT c.Nr FROM UNNEST([1, 3]) AS n, UNNEST(ARRAY(SELECT AS STRUCT Nr FROM C WHERE Nr = n)) AS c"
    assert db.query(looked_up).splits == 2


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("Name NOT LIKE 'Q%'", ["Rx", "Sy"]),
        ("NOT Name LIKE 'Q%'", ["Rx", "Sy"]),
        ("Name NOT LIKE '%x'", ["Sy"]),
        ("Name NOT LIKE 'Qx'", ["Rx", "Sy"]),
        ("STARTS_WITH(Name, 'R') AND Name NOT LIKE 'Q%'", ["Rx"]),
        ("Name NOT LIKE 'Q%' OR Name = 'Qx'", ["Qx", "Rx", "Sy"]),
        ("Name NOT LIKE (SELECT MIN(u.Name) FROM T AS u WHERE u.Name NOT LIKE 'Q%')", ["Qx", "Sy"]),
    ],
)
def test_not_like_is_no_seek_for_the_opposite(where: str, found: list[str]) -> None:
    database = Database(Schema.from_ddl("CREATE TABLE T (Name STRING(9)) PRIMARY KEY (Name)"))
    database.load("T", ["Name"], [["Qx"], ["Rx"], ["Sy"]])
    result = database.query(f"SELECT Name FROM T WHERE {where} ORDER BY Name")
    assert [name for (name,) in result.rows] == found
    seeks = [node.seek_condition for node in result.plan if node.is_scan]
    assert not any("Q" in seek for seek in seeks)
