"""Lesson 3: the figures that it teaches, the moves of its panels, and answers that nobody listed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.course.criteria import Design, HandedQuery, rows, scanned, sorts
from spanlab.errors import QueryError

PLAIN = "MOD(FARM_FINGERPRINT(EntryId), 16)"
REPAIRED = "MOD(MOD(FARM_FINGERPRINT(EntryId), 16) + 16, 16)"
IN_DAY = "EntryId >= @from_id AND EntryId < @to_id"
DAY_12 = {"from_id": sl.data.ulid(sl.data.day(12)), "to_id": sl.data.ulid(sl.data.day(13))}


def verdict(challenge_id: str, answer: object) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer)


def run(key: str, writes_per_second: int = 12_000, nodes: int = 10, **settings: Any) -> dict[str, Any]:
    return sl.simulate(key, writes_per_second=writes_per_second, nodes=nodes, **settings).summary()


def sharded(shards: int) -> str:
    return f"(shard({shards}), ulid)"


# --------------------------------------------------------------------------------------------- figures of the lesson


@pytest.mark.parametrize(
    ("shards", "committed", "p99"),
    [
        (1, 1_800, 409),
        (2, 3_600, None),
        (4, 7_190, None),
        (6, 10_760, None),
        (7, 12_000, 95),
        (8, 12_000, 30),
        (10, 12_000, 22),
        (12, 12_000, 20),
        (16, 12_000, 18.6),
        (32, 12_000, 17.1),
        (64, 12_000, 16.5),
    ],
)
def test_stairs_of_shards(shards: int, committed: float, p99: float | None) -> None:
    row = sl.sweep("ulid", writes_per_second=12_000, nodes=10, shards=[shards])[0]
    assert row["committed"] == pytest.approx(committed, rel=0.02)
    assert row["scan_ranges"] == shards
    if p99 is not None:
        assert row["p99_ms"] == pytest.approx(p99, rel=0.1)


@pytest.mark.parametrize(
    ("key", "committed", "p99"),
    [
        ("(now, ids(100000))", 1_800, 409),
        ("(now desc, ids(100000))", 1_800, 409),
        ("(ids(100000), now)", 12_000, 16.5),
        ("(ids(100000), now desc)", 12_000, 16.5),
        ("now desc", 1_800, 409),
    ],
)
def test_the_order_decides_and_desc_does_not(key: str, committed: float, p99: float) -> None:
    seen = run(key)
    assert seen["committed"] == pytest.approx(committed, rel=0.02)
    assert seen["p99_ms"] == pytest.approx(p99, rel=0.1)


@pytest.mark.parametrize(
    ("leader", "committed", "largest"),
    [
        ("ids(2)", 3_600, 1 / 2),
        ("ids(5)", 8_980, 1 / 5),
        ("pick(a:.4, b:.15, c:.15, d:.15, e:.15)", 4_500, 0.4),
        ("ids(12)", 12_000, 1 / 12),
        ("celebrity(20000, .2)", 8_480, 0.2),
        ("celebrity(20000, .5)", 3_540, 0.5),
    ],
)
def test_the_largest_share_sets_the_pace(leader: str, committed: float, largest: float) -> None:
    got = run(f"({leader}, now)")["committed"]
    assert got == pytest.approx(committed, rel=0.02)
    assert got == pytest.approx(min(12_000, 1_800 / largest), rel=0.08)


@pytest.mark.parametrize(("shards", "committed"), [(24, 42_000), (32, 50_000), (44, 50_000)])
def test_more_shards_than_nodes_and_still_too_few(shards: int, committed: float) -> None:
    got = run(sharded(shards), 50_000, 22)["committed"]
    assert got == pytest.approx(committed, rel=0.02)
    assert got <= 1_800 * shards


def remainder(number: int, n: int) -> int:
    """What SQL's MOD leaves: the sign is that of the number."""
    return abs(number) % n * (1 if number >= 0 else -1)


def test_shards_of_10_000_ids_by_the_library_s_own_hash() -> None:
    hashes = [sl.farm_fingerprint(f"id-{number}") for number in range(10_000)]
    plain = Counter(remainder(h, 16) for h in hashes)
    assert sorted(plain) == list(range(-15, 16))
    assert sum(n for shard, n in plain.items() if shard < 0) / 10_000 == pytest.approx(15 / 32, abs=0.02)
    assert plain[0] / 10_000 == pytest.approx(1 / 16, abs=0.01)
    assert all(abs(n / 10_000 - 1 / 32) < 0.008 for shard, n in plain.items() if shard)
    for repair in (lambda h: remainder(remainder(h, 16) + 16, 16), lambda h: abs(remainder(h, 16))):
        even = Counter(map(repair, hashes))
        assert sorted(even) == list(range(16))
        assert all(abs(n / 10_000 - 1 / 16) < 0.01 for n in even.values())


@pytest.fixture(scope="module")
def ledgers() -> dict[str, sl.Database]:
    made = {}
    for shard in (PLAIN, REPAIRED):
        database = sl.Database(
            sl.Schema.from_ddl(
                f"CREATE TABLE LedgerEntries (ShardId INT64 NOT NULL AS ({shard}) STORED, EntryId STRING(26) NOT NULL, "
                "Amount NUMERIC NOT NULL) PRIMARY KEY (ShardId, EntryId)"
            )
        )
        made[shard] = sl.data("ledger").into(database)
    return made


def test_shards_of_the_ledger_by_sql_agree_with_python(ledgers: dict[str, sl.Database]) -> None:
    counts = dict(ledgers[PLAIN].query("SELECT ShardId, COUNT(*) FROM LedgerEntries GROUP BY ShardId").rows)
    ids = [str(row["EntryId"]) for row in sl.data("ledger").rows("LedgerEntries")]
    assert counts == Counter(remainder(sl.farm_fingerprint(entry), 16) for entry in ids)
    assert (counts[0], counts[1]) == (1_935, 984)


@pytest.mark.parametrize(
    ("where", "read"),
    [("ShardId BETWEEN 0 AND 15", 30_000), ("ShardId IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)", 30_000)],
)
def test_all_shards_at_once_seek_on_the_shard_alone(ledgers: dict[str, sl.Database], where: str, read: int) -> None:
    result = ledgers[REPAIRED].query(f"SELECT Amount FROM LedgerEntries WHERE {where} AND {IN_DAY}", DAY_12)
    assert (result.plan.scanned, len(result.rows)) == (read, 1_000)


def test_one_shard_reads_what_it_returns(ledgers: dict[str, sl.Database]) -> None:
    read = []
    for shard in range(16):
        sql = f"SELECT Amount FROM LedgerEntries WHERE ShardId = {shard} AND {IN_DAY}"
        result = ledgers[REPAIRED].query(sql, DAY_12)
        assert result.plan.scanned == len(result.rows)
        read.append(result.plan.scanned)
    assert sum(read) == 1_000


def test_the_report_with_the_sign_misses_half(ledgers: dict[str, sl.Database]) -> None:
    sql = f"SELECT Amount FROM LedgerEntries WHERE ShardId BETWEEN 0 AND 15 AND {IN_DAY}"
    assert len(ledgers[PLAIN].query(sql, DAY_12).rows) == pytest.approx(530, abs=30)


# ------------------------------------------------------------------------------------------------ moves of the panels


def figure(shown: sl.panels.Panel, name: str) -> str:
    gauges = shown.scene.chart["datasets"]["gauges"]
    return str(next(gauge["words"] for gauge in gauges if gauge["name"].startswith(name)))


def test_3a_try_1_and_2_more_shards() -> None:
    shown = sl.panel("3A").set(shards=4)
    assert shown.scene.headline[1] == pytest.approx(7_190, rel=0.02)
    assert "visits 4 ranges" in shown.scene.sentence
    shown.set(shards=8)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert "visits 8 ranges" in shown.scene.sentence
    p99 = {}
    for shards in (16, 64):
        shown.set(shards=shards)
        p99[shards] = shown.scene.state[1]
        assert f"visits {shards} ranges" in shown.scene.sentence
    assert p99 == {16: pytest.approx(18.6, rel=0.1), 64: pytest.approx(16.5, rel=0.1)}


def test_3a_try_3_a_load_test_does_not_find_the_sign() -> None:
    shown = sl.panel("3A").set(shards=16, expression="signed")
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert "46.9 % of the rows lie outside shards 0–15" in shown.scene.sentence
    assert figure(shown, "rows outside") == "46.9 %"
    assert "visits 31 ranges" in shown.scene.sentence
    assert shown.scene.state[1] <= 18.6  # and no p99 tells


def test_3a_try_4_more_shards_than_nodes() -> None:
    shown = sl.panel("3A").set(offered=50_000, nodes=22, shards=24)
    assert shown.scene.headline[1] == pytest.approx(42_000, rel=0.02)
    assert shown.set(shards=32).scene.headline[1] == pytest.approx(50_000, rel=0.02)


def test_3b_a_giant_and_the_cure() -> None:
    shown = sl.panel("3B").set(percent=10)
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert shown.set(percent=20).scene.headline[1] == pytest.approx(8_480, rel=0.02)
    assert shown.set(parts=4).scene.headline[1] == pytest.approx(12_000, rel=0.02)


def test_the_predictions() -> None:
    for answer in ("a", "B", "c"):
        assert verdict("3.P1", answer).state == RECORDED
    assert verdict("3.P2", "D").state == RECORDED
    assert verdict("3.P1", "d").state == UNREADABLE
    nearest = {"a": 12_000, "b": 8_500, "c": 1_800}
    got = run("(celebrity(20000, .2), now)")["committed"]
    assert min(nearest, key=lambda letter: abs(nearest[letter] - got)) == "b"


# ------------------------------------------------------------------------------------------------ challenges


def logins(key: str, more: str = "", columns: str = "SeenAt TIMESTAMP NOT NULL, UserId STRING(36) NOT NULL") -> str:
    return f"CREATE TABLE Logins ({columns}, Device STRING(40){more}) PRIMARY KEY ({key})"


LOGIN_ID = ", LoginId STRING(36) NOT NULL DEFAULT (GENERATE_UUID())"
SHARD = ", ShardId INT64 NOT NULL AS (ABS(MOD(FARM_FINGERPRINT({}), 16))) STORED"


@pytest.mark.parametrize(
    "ddl",
    [
        logins("UserId, SeenAt DESC"),
        logins("userid, seenat desc").lower().replace("logins", "Logins"),
        logins("UserId, SeenAt DESC, LoginId", LOGIN_ID),
        logins("UserId DESC, SeenAt DESC, Device"),
        logins("UserId, SeenAt DESC, Device", columns="SeenAt TIMESTAMP NOT NULL, UserId STRING(MAX) NOT NULL"),
        logins("UserId, SeenAt") + "; CREATE INDEX Latest ON Logins (UserId, SeenAt DESC) STORING (Device)",
    ],
)
def test_3_1_takes_every_key_that_spreads_and_stops_early(ddl: str) -> None:
    got = verdict("3.1", ddl)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        # (40) committed (30) scanned (20) sorts (10) columns, of 2 points
        (logins("UserId, SeenAt"), 1.0),
        (logins("SeenAt DESC, UserId"), 0.6),
        (logins("LoginId", LOGIN_ID), 1.0),
        (logins("UserId, Device, SeenAt DESC"), 1.0),
        (logins("UserId"), 1.0),
        (logins("Device, UserId, SeenAt DESC"), 1.0),
        (logins("ShardId, SeenAt DESC, UserId", SHARD.format("UserId")), 1.4),
        (logins("Device, SeenAt"), 0.2),
        (logins("UserId, SeenAt DESC").replace(", Device STRING(40)", ""), 0.8),  # the query asks for Device
        (logins("X, UserId, SeenAt DESC", ", X INT64 NOT NULL"), 0.2),  # nobody fills X
    ],
)
def test_3_1_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("3.1", ddl).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (logins("UserId, SeenAt"), "Annotate SeenAt with DESC"),
        (logins("UserId, Device, SeenAt DESC"), "Device stands between"),
        (logins("UserId DESC"), "one row for each user"),
        (logins("Device, UserId, SeenAt DESC"), "does not name a device"),
        (logins("Device, SeenAt DESC, UserId"), "4,500 writes/s"),
        (logins("ShardId, SeenAt DESC, UserId", SHARD.format("UserId")), "lie among everybody's"),
    ],
)
def test_3_1_names_the_mistake_and_no_other(ddl: str, said: str) -> None:
    (diagnosis,) = verdict("3.1", ddl).diagnoses
    assert said in diagnosis


def test_3_1_takes_a_shard_that_is_not_needed_and_says_so() -> None:
    got = verdict("3.1", logins("ShardId, UserId, SeenAt DESC", SHARD.format("UserId")))
    assert (got.state, got.points) == (PASSED, 2)
    assert "without a shard" in got.diagnoses[0]


@pytest.mark.parametrize("ddl", ["CREATE TABLE Visits (A INT64) PRIMARY KEY (A)", "PRIMARY KEY (UserId, SeenAt DESC)"])
def test_3_1_cannot_read(ddl: str) -> None:
    assert verdict("3.1", ddl).state == UNREADABLE


@settings(max_examples=60, deadline=None)
@given(st.floats(min_value=0, max_value=100))
def test_3_2_takes_31_of_64_and_no_other_share(percent: float) -> None:
    right = abs(percent - 100 * 31 / 64) <= 0.5
    half = abs(percent - 46.9) <= 0.5 or abs(percent - 31 / 64) <= 0.005
    quarter = abs(percent - 50) <= 0.5
    got = verdict("3.2", percent)
    assert got.points == (2 if right else 1 if half else 0.5 if quarter else 0)
    assert got.state == (PASSED if right else PARTIAL if half or quarter else FAILED)


@pytest.mark.parametrize(
    ("percent", "points"), [(48, 2), (48.4, 2), (48.9, 2), (47, 1), (0.48, 1), (50, 0.5), (49.2, 0)]
)
def test_3_2_takes_a_figure_that_was_rounded(percent: float, points: float) -> None:
    assert verdict("3.2", percent).points == points


@pytest.mark.parametrize(
    ("shards", "points"),
    [
        # (40) committed (35) p99 (25) ranges, of 3 points
        (1, 0), (2, 0.75), (8, 0.75), (11, 1.95), (12, 1.95), (14, 1.95),
        (15, 3), (16, 3), (20, 3), (32, 3), (33, 2.25), (64, 2.25),
    ],
)  # fmt: skip
def test_3_3(shards: int, points: float) -> None:
    assert verdict("3.3", shards).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("shards", "p99"), [(11, 150), (12, 61), (13, 33), (14, 27), (15, 24.4), (16, 22.8), (20, 20), (32, 18)]
)
def test_latency_of_20_000_on_12_nodes(shards: int, p99: float) -> None:
    assert run(sharded(shards), 20_000, 12)["p99_ms"] == pytest.approx(p99, rel=0.1)


def test_with_the_documented_figure_8_shards_would_do() -> None:
    seen = run(sharded(8), 20_000, 12, model="docs")
    assert seen["committed"] == pytest.approx(20_000, rel=0.02)
    assert seen["p99_ms"] <= 25


@pytest.mark.parametrize(("shards", "said"), [(12, "93 % full"), (13, "about 80 % full"), (14, "about 80 % full")])
def test_3_3_speaks_of_the_number_that_was_given(shards: int, said: str) -> None:
    (diagnosis,) = verdict("3.3", shards).diagnoses
    assert said in diagnosis


@pytest.mark.parametrize("shards", [0, -3, 4_097, 10**30])
def test_3_3_says_which_numbers_make_sense(shards: int) -> None:
    got = verdict("3.3", shards)
    assert got.state == UNREADABLE
    assert "from 1 to 4,096" in got.message


def branches(shards: range) -> str:
    one = "SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId = {} AND " + IN_DAY
    return " UNION ALL ".join(one.format(shard) for shard in shards)


@pytest.mark.parametrize(
    "query",
    [
        branches(range(16)),
        f"SELECT EntryId, Amount FROM UNNEST(GENERATE_ARRAY(0, 15)) b JOIN LedgerEntries ON b = ShardId AND {IN_DAY}",
        f"SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId IN UNNEST(GENERATE_ARRAY(0, 15)) AND {IN_DAY}",
    ],
)
def test_3_4_takes_every_query_that_seeks_in_every_shard(query: str) -> None:
    got = verdict("3.4", query)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 3, ())


@pytest.mark.parametrize(
    ("query", "points"),
    [
        # (40) rows (40) scanned (20) parameters of a plan worth keeping, of 3 points
        (f"SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId BETWEEN 0 AND 15 AND {IN_DAY}", 1.2),
        (f"SELECT EntryId, Amount FROM LedgerEntries WHERE {IN_DAY}", 1.2),
        (f"SELECT EntryId, Amount, ShardId FROM LedgerEntries WHERE ShardId IN UNNEST([0, 1]) AND {IN_DAY}", None),
        (branches(range(15)), None),
        (branches(range(1)), None),
        (branches(range(16)).replace("Amount", "Amount, ShardId"), 1.8),
        (f"SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId IN (0, 1, 2, 3) AND {IN_DAY}", 0),
        ("SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId BETWEEN 0 AND 15 AND EntryId >= @from_id", 0),
        ("SELECT 1", 0),
        (f"SELECT EntryId, Amount FROM LedgerEntries WHERE ShardId = 77 AND {IN_DAY}", 0),
        (f"{branches(range(16))} UNION ALL {branches(range(1))}", 1.8),  # shard 0 twice
    ],
)
def test_3_4_pays_what_was_reached(query: str, points: float | None, ledgers: dict[str, sl.Database]) -> None:
    if points is None:  # a part of the day for a part of the reading
        points = 3 * (0.4 * len(ledgers[REPAIRED].query(query, DAY_12).rows) / 1_000 + 0.2)
    assert verdict("3.4", query).points == pytest.approx(points, abs=0.006)


@pytest.mark.parametrize(
    "query", ["SELECT Foo FROM LedgerEntries", "DELETE FROM LedgerEntries WHERE true", "FROM FROM"]
)
def test_3_4_a_query_that_spanner_refuses_cannot_be_read(query: str) -> None:
    got = verdict("3.4", query)
    assert got.state == UNREADABLE
    assert "fault of the course" not in got.message


# ------------------------------------------------------------------------------------------------ criteria of queries

NOTES = sl.Schema.from_ddl("CREATE TABLE Notes (Id INT64 NOT NULL, Text STRING(20)) PRIMARY KEY (Id)")


def notes(schema: sl.Schema = NOTES) -> sl.Database:
    database = sl.Database(schema)
    database.load("Notes", ["Id", "Text"], [(number, f"note {9 - number}") for number in range(10)])
    return database


@pytest.mark.parametrize(
    ("sql", "read", "sorted_", "right"),
    [
        ("SELECT Id FROM Notes WHERE Id < @n", 1, 1, 1),
        ("SELECT Id FROM Notes WHERE Text < 'note 3'", 0, 1, 0),
        ("SELECT Id FROM Notes WHERE Id < @n ORDER BY Text", 1, 0, 1),
        ("SELECT 1", 0, 1, 0),
    ],
)
def test_what_a_query_reads_sorts_and_returns(sql: str, read: int, sorted_: int, right: int) -> None:
    query = HandedQuery(sql, notes(), {"n": 3})
    assert scanned(50, 3).measure(query).share == read
    assert sorts(50).measure(query).share == sorted_
    assert rows(50, "three", lambda: [(2,), (0,), (1,)]).measure(query).share == right


def test_a_design_answers_queries_over_the_rows_that_it_is_given() -> None:
    design = Design(
        NOTES.to_ddl(), "Notes", writes_per_second=1, values={"Id": "uuid4"}, nodes=1, rows=notes, params={"n": 3}
    )
    sql = "SELECT Id FROM Notes WHERE Id < @n"
    assert scanned(100, 3, sql).measure(design).seen == "it reads 3 rows and returns 3"
    assert design.ask(sql) is design.ask(sql)
    with pytest.raises(QueryError):
        design.ask("SELECT Title FROM Notes")


def test_a_design_without_rows_and_a_handed_query_say_what_they_cannot_answer() -> None:
    bare = Design(NOTES.to_ddl(), "Notes", writes_per_second=1, values={"Id": "uuid4"}, nodes=1)
    with pytest.raises(ValueError, match="rows"):
        bare.ask("SELECT 1")
    with pytest.raises(ValueError, match="sql"):
        HandedQuery("SELECT 1", notes(), {}).ask("SELECT 2")
