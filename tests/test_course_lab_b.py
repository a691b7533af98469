"""Lab B: the figures of the ledger, the moves of its bench, other parameters, and answers that nobody listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.course.parameters import parameters_of, read_parameter

LAB = Path(__file__).resolve().parent.parent / "labs" / "b_ledger.ipynb"
SAFE = "MOD(MOD(FARM_FINGERPRINT({id}), {n}) + {n}, {n})"
SIGNED = "MOD(FARM_FINGERPRINT({id}), {n})"
POSTED_AT = "PostedAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)"
TO_KEY = "FOREIGN KEY (ShardId, EntryId) REFERENCES LedgerEntries (ShardId, EntryId)"
TO_ID = "FOREIGN KEY (EntryId) REFERENCES LedgerEntries (EntryId)"
IN_DAY = "EntryId >= @from_id AND EntryId < @to_id"


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


def shard(n: int, expression: str = SAFE, id_: str = "EntryId") -> str:
    return f"ShardId INT64 NOT NULL AS ({expression.format(id=id_, n=n)}) STORED"


def ledger(first: str, key: str = "ShardId, EntryId", posted_at: str = POSTED_AT) -> str:
    return (
        f"CREATE TABLE LedgerEntries ({first}, EntryId STRING(26) NOT NULL, Amount NUMERIC NOT NULL, {posted_at}) "
        f"PRIMARY KEY ({key})"
    )


def refunds(reference: str, key: str = "RefundId", shard_column: str = shard(16)) -> str:
    return (
        f"CREATE TABLE Refunds (RefundId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), EntryId STRING(26) NOT NULL, "
        f"{shard_column}, Amount NUMERIC NOT NULL{', ' + reference if reference else ''}) PRIMARY KEY ({key})"
    )


def loop(n: int, table: str = "LedgerEntries", id_: str = "EntryId") -> str:
    return (
        f"SELECT COUNT(*) AS n, SUM(e.Amount) AS total FROM UNNEST(GENERATE_ARRAY(0, {n - 1})) AS b "
        f"JOIN {table} AS e ON e.ShardId = b AND e.{id_} >= @from_id AND e.{id_} < @to_id"
    )


def settlement(n: int, nodes: int, expression: str = SAFE) -> dict[str, Any]:
    ddl = (
        f"CREATE TABLE Settlements ({shard(n, expression, 'PaymentId')}, PaymentId STRING(26) NOT NULL, "
        "Amount NUMERIC NOT NULL, SettledAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)) "
        "PRIMARY KEY (ShardId, PaymentId)"
    )
    return {"ddl": ddl, "shards": n, "sql": loop(n, "Settlements", "PaymentId"), "nodes": nodes}


# ------------------------------------------------------------------------------------------------ figures of the lab


def month_end(key: str, nodes: int = 10, rate: int = 12_000, **settings: Any) -> dict[str, Any]:
    return dict(sl.simulate(key, writes_per_second=rate, nodes=nodes, **settings).summary())


@pytest.mark.parametrize(
    ("key", "nodes", "committed", "p99"),
    [("ulid", 10, 1_800, 409), ("ulid", 20, 1_800, 409), ("(shard(16), ulid)", 10, 12_000, 18.6)],
)
def test_month_end(key: str, nodes: int, committed: float, p99: float) -> None:
    seen = month_end(key, nodes)
    assert seen["committed"] == pytest.approx(committed, rel=0.02)
    assert seen["p99_ms"] == pytest.approx(p99, rel=0.1)


@pytest.mark.parametrize(
    ("shards", "committed", "p99"),
    [(16, 28_700, None), (28, 49_800, 138), (30, 50_000, 62), (32, 50_000, 35), (40, 50_000, 23), (64, 50_000, 18.7)],
)
def test_fifty_thousand_on_30_nodes(shards: int, committed: float, p99: float | None) -> None:
    seen = month_end(f"(shard({shards}), ulid)", 30, 50_000)
    assert seen["committed"] == pytest.approx(committed, rel=0.02)
    if p99:
        assert seen["p99_ms"] == pytest.approx(p99, rel=0.1)


def test_two_shards_on_one_server_are_seen_in_the_busiest_not_in_the_mean() -> None:
    seen = month_end("(shard(32), ulid)", 30, 50_000)
    assert seen["cpu_max"] == pytest.approx(2 * 50_000 / 32 / 3_500, rel=0.02)
    assert seen["cpu_mean"] == pytest.approx(50_000 / 30 / 3_500, rel=0.02)


def test_with_the_documented_figure_22_shards_carry_the_payments() -> None:
    seen = month_end("(shard(22), ulid)", 22, 50_000, model="docs")
    assert seen["committed"] == pytest.approx(50_000, rel=0.02)
    assert seen["p99_ms"] <= 40


def test_an_old_table_has_a_flat_line_and_its_last_minutes_a_diagonal() -> None:
    run = sl.simulate("ulid", writes_per_second=12_000, nodes=10)
    assert run.key_visualizer(128, 10, "5h").changes == 4  # ten minutes of 310, in 128 rows
    assert run.key_visualizer(128, 10).changes >= 50
    assert len(run.split_stats("10MINUTE")) == 1
    assert run.reasons == ["MOVING_HOT_SPOT"] if isinstance(run.reasons, list) else run.reasons() == ["MOVING_HOT_SPOT"]


@pytest.mark.parametrize(
    ("expression", "where", "scanned", "counted"),
    [
        (SAFE, "ShardId BETWEEN 0 AND 15", 30_000, 1_000),
        (SIGNED, "ShardId BETWEEN 0 AND 15", None, 531),
    ],
)
def test_two_reports_with_between(expression: str, where: str, scanned: int | None, counted: int) -> None:
    """531 of 1,000 is the expected number (17 of 32), with a standard deviation of 16."""
    db = sl.data("ledger").into(sl.Database(sl.Schema.from_ddl(ledger(shard(16, expression)))))
    day = {"from_id": sl.data.ulid(sl.data.day(12)), "to_id": sl.data.ulid(sl.data.day(13))}
    result = db.query(f"SELECT COUNT(*) FROM LedgerEntries WHERE {where} AND {IN_DAY}", day)
    assert result.rows[0][0] == pytest.approx(counted, abs=48)
    if scanned:
        assert (result.plan.scanned, result.rows[0][0]) == (scanned, counted)


def test_a_query_by_id_alone_seeks_through_the_shard() -> None:
    db = sl.data("ledger").into(sl.Database(sl.Schema.from_ddl(ledger(shard(16)))))
    entry = db.rows("LedgerEntries")[123]
    result = db.query("SELECT Amount FROM LedgerEntries WHERE EntryId = @id", {"id": entry["EntryId"]})
    assert (result.plan.scanned, result.rows) == (1, [(entry["Amount"],)])


@pytest.mark.parametrize(
    ("reference", "committed", "helper"),
    [(TO_ID, 1_800, ["EntryId"]), (TO_ID + " NOT ENFORCED", 1_800, ["EntryId"]), (TO_KEY, 12_000, None)],
)
def test_what_a_foreign_key_does_to_the_ledger(reference: str, committed: float, helper: list[str] | None) -> None:
    schema = sl.Schema.from_ddl(ledger(shard(16))).apply(refunds(reference))
    values = {"EntryId": "ulid", "PostedAt": "now", "Amount": "const(10)"}
    run = sl.simulate(schema, sl.Workload("LedgerEntries", 12_000, values=values), nodes=10)
    assert run.summary()["committed"] == pytest.approx(committed, rel=0.02)
    keys = [[part.column for part in index.key] for index in schema.indexes_on("LedgerEntries")]
    assert keys == ([helper] if helper else [])


# ------------------------------------------------------------------------------------------------ moves of the bench


def test_try_1_sixteen_shards() -> None:
    sentence = sl.panel("B").set(shards=16).scene.sentence
    assert "12,000 of 12,000 writes/s commit" in sentence
    assert "a one-day scan visits 16 ranges" in sentence


@pytest.mark.parametrize(("reference", "committed"), [("id", 1_800), ("key", 12_000), ("trusted", 1_800)])
def test_try_2_a_foreign_key(reference: str, committed: float) -> None:
    scene = sl.panel("B").set(shards=16, reference=reference).scene
    assert scene.state[0] == pytest.approx(committed, rel=0.02)
    assert ("adds an index" in scene.sentence) == (committed == 1_800)


def test_try_3_sixteen_shards_are_too_few_for_50_000() -> None:
    scene = sl.panel("B").set(shards=16, offered=50_000, nodes=30).scene
    assert scene.state[0] == pytest.approx(28_700, rel=0.02)
    assert sl.panel("B").set(shards=64, offered=50_000, nodes=30).scene.state[0] == pytest.approx(50_000, rel=0.02)


# ------------------------------------------------------------------------------------------------ parameters


def test_the_parameters_of_the_page() -> None:
    known = parameters_of(LAB)
    assert known == {"ENTRIES": 12_000, "NODES": 10, "SHARDS": 16}
    assert read_parameter("SHARDS=8", known) == ("SHARDS", 8)
    with pytest.raises(ValueError, match="Did you mean SHARDS"):
        read_parameter("SHARD=8", known)


# ------------------------------------------------------------------------------------------------ challenges


@pytest.mark.parametrize(("challenge", "answer"), [("B.P1", "b"), ("B.P1", "A"), ("B.P2", "c"), ("B.P2", "(a)")])
def test_predictions_are_recorded(challenge: str, answer: str) -> None:
    assert verdict(challenge, answer).state == RECORDED


def test_b_1_pays_a_third_for_each_part() -> None:
    assert verdict("B.1", {"pattern": "Sequential", "hot_splits": 1, "cure": "key"}).points == 3
    assert verdict("B.1", {"pattern": "sequential"}).points == pytest.approx(1.02)
    assert verdict("B.1", {"pattern": "even", "hot_splits": 10, "cure": "nodes"}).state == FAILED
    assert verdict("B.1", {"pattern": "diagonal", "hot_splits": 1, "cure": "key"}).state == UNREADABLE


@pytest.mark.parametrize(
    "ddl",
    [
        ledger(shard(13)),
        ledger(shard(32)),
        ledger(shard(16, "ABS(MOD(FARM_FINGERPRINT({id}), {n}))")),
        ledger(shard(16, "MOD(ABS(FARM_FINGERPRINT({id})), {n})")),
        ledger(shard(16, "FARM_FINGERPRINT({id}) & ({n} - 1)")),
        ledger(shard(20).replace("ShardId", "Bucket"), "Bucket, EntryId"),
        ledger("Shard STRING(1) NOT NULL AS (SUBSTR(TO_HEX(SHA256(EntryId)), 1, 1)) STORED", "Shard, EntryId"),
        ledger("Shard STRING(1) NOT NULL AS (SUBSTR(EntryId, 26)) STORED", "Shard, EntryId DESC"),  # 32 characters
    ],
)
@pytest.mark.parametrize("seed", [0, 3])
def test_valid_designs_are_full_answers_to_b_2(ddl: str, seed: int) -> None:
    got = verdict("B.2", ddl, seed)
    assert (got.state, got.points) == (PASSED, 5), got


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        # (35) committed (20) p99 (15) shards (20) by the id alone (10) columns, of 5 points
        (ledger(shard(4)), 2.25),
        (ledger(shard(10)), 4.0),
        (ledger(shard(64)), 4.25),
        (ledger("H INT64 NOT NULL AS (FARM_FINGERPRINT(EntryId)) STORED", "H, EntryId"), 4.25),
        (ledger(shard(16), posted_at="PostedAt TIMESTAMP NOT NULL"), 4.5),
        (ledger(shard(16), "EntryId DESC, ShardId"), 1.5),
        (ledger("Reversed STRING(26) NOT NULL AS (REVERSE(EntryId)) STORED", "Reversed, EntryId"), 4.25),
    ],
)
def test_b_2_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("B.2", ddl).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("ddl", "word"),
    [
        (ledger(shard(16), "ShardId"), "would be the same row"),
        (ledger("H INT64 NOT NULL AS (FARM_FINGERPRINT(EntryId)) STORED", "H"), "would be the same row"),
        (ledger("H INT64 NOT NULL AS (FARM_FINGERPRINT(EntryId)) STORED", "H, EntryId"), "a shard of its own"),
        (ledger(shard(16), "ShardId, PostedAt, EntryId"), "PostedAt in the key"),
        (ledger(shard(16)) + "; CREATE INDEX ByTime ON LedgerEntries (PostedAt DESC)", "the index is a sorted table"),
        (ledger("ShardId INT64 NOT NULL"), "Who fills ShardId"),
        (ledger(shard(10, "MOD(FARM_FINGERPRINT({id}), {n})")), "keeps the sign"),
    ],
)
def test_b_2_names_the_mistake_and_only_that(ddl: str, word: str) -> None:
    got = verdict("B.2", ddl)
    assert got.state == PARTIAL
    assert [word in said for said in got.diagnoses] == [True], got.diagnoses


def test_a_shard_that_nobody_fills_is_named() -> None:
    got = verdict("B.2", ledger("ShardId INT64 NOT NULL"))
    assert got.state == PARTIAL
    assert "ShardId" in got.message
    assert "fault of the course" not in got.message


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize(
    "sql",
    [
        loop(16),
        loop(16).replace("COUNT(*) AS n, SUM", "e.ShardId, COUNT(*) AS n, SUM") + " GROUP BY e.ShardId",
        loop(16).replace("COUNT(*) AS n, SUM(e.Amount) AS total", "SUM(e.Amount), COUNT(e.EntryId)"),
        f"SELECT COUNT(*), SUM(Amount) FROM LedgerEntries WHERE ShardId IN UNNEST(GENERATE_ARRAY(0, 15)) AND {IN_DAY}",
        " UNION ALL ".join(
            f"SELECT COUNT(*), SUM(Amount) FROM LedgerEntries WHERE ShardId = {n} AND {IN_DAY}" for n in range(16)
        ),
    ],
)
def test_queries_with_full_marks_in_b_3(sql: str, seed: int) -> None:
    got = verdict("B.3", sql, seed)
    assert (got.state, got.points) == (PASSED, 4), got


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 15), min_size=1, max_size=15))
def test_a_query_that_leaves_out_shards_never_passes_b_3(shards: set[int]) -> None:
    numbers = f"[{', '.join(map(str, sorted(shards)))}]"
    got = verdict("B.3", loop(16).replace("GENERATE_ARRAY(0, 15)", numbers))
    assert (got.state, got.points) == (PARTIAL, 2.4)
    assert any("Shards are missing" in said for said in got.diagnoses)


def test_ids_copied_into_the_text_find_nothing_on_another_day() -> None:
    text = (
        loop(16).replace("@from_id", "'01KETADY000000000000000000'").replace("@to_id", "'01KEWWTN000000000000000000'")
    )
    assert verdict("B.3", text).points == pytest.approx(3.2)
    other_day = verdict("B.3", text, seed=1)
    assert other_day.points == pytest.approx(2.4)  # each day has 1,000 entries, so the count alone is still right
    assert "sum wrong" in other_day.lines[0].seen


ONE = "SELECT COUNT(*), SUM(Amount) FROM LedgerEntries WHERE "


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        (loop(16).replace("< @to_id", "<= @to_id"), "One entry too many"),
        (loop(16).replace(">= @from_id", "> @from_id"), "or too few"),
        (f"{ONE} ShardId IN (SELECT b FROM UNNEST(GENERATE_ARRAY(0, 15)) AS b) AND {IN_DAY}", "as a test of each row"),
        (f"{ONE} ShardId = MOD(MOD(FARM_FINGERPRINT(EntryId), 16) + 16, 16) AND {IN_DAY}", "as a test of each row"),
        (f"{ONE} ShardId IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) AND {IN_DAY}", "BETWEEN, or IN"),
        (f"{ONE} {IN_DAY}", "No shard in the condition"),
        (loop(16).replace("COUNT(*) AS n, ", ""), ""),
    ],
)
def test_b_3_names_the_mistake_and_only_that(sql: str, word: str) -> None:
    got = verdict("B.3", sql)
    assert got.state == PARTIAL
    assert [word in said for said in got.diagnoses] == [True] * bool(word), got.diagnoses


@pytest.mark.parametrize("sql", ["SELECT", "SELECT Nothing FROM LedgerEntries", "DELETE FROM LedgerEntries WHERE TRUE"])
def test_what_is_no_query_cannot_be_read(sql: str) -> None:
    assert verdict("B.3", sql).state == UNREADABLE


@pytest.mark.parametrize(
    "ddl",
    [
        refunds(TO_KEY),
        refunds(TO_KEY, "ShardId, EntryId, RefundId"),
        refunds("FOREIGN KEY (EntryId, ShardId) REFERENCES LedgerEntries (EntryId, ShardId)"),
        refunds(TO_KEY, shard_column="ShardId INT64 NOT NULL"),
        refunds("") + f"; ALTER TABLE Refunds ADD CONSTRAINT OfEntry {TO_KEY}",
        refunds("", "ShardId, EntryId, RefundId") + ", INTERLEAVE IN PARENT LedgerEntries ON DELETE CASCADE",
        refunds(TO_KEY.replace("(ShardId,", "(Bucket,", 1), shard_column=shard(16).replace("ShardId", "Bucket")),
    ],
)
def test_references_with_full_marks_in_b_4(ddl: str) -> None:
    got = verdict("B.4", ddl)
    assert (got.state, got.points) == (PASSED, 3), got


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        (refunds(TO_ID), 1.5),
        (refunds(TO_KEY + " NOT ENFORCED"), 1.5),
        (refunds(TO_ID + " NOT ENFORCED"), 0),
        (refunds(""), 0),
        (refunds("", "ShardId, EntryId, RefundId") + ", INTERLEAVE IN LedgerEntries", 0),
        (refunds(TO_KEY) + "; CREATE INDEX ByEntry ON LedgerEntries (EntryId)", 1.5),
        # refunds that look into the wrong shard: all are refused
        (refunds(TO_KEY, shard_column=shard(32)), 1.5),
        (refunds(TO_KEY, shard_column=shard(16, "ABS(MOD(FARM_FINGERPRINT({id}), {n}))")), 1.5),
        # one entry a shard, and any id of a shard that has an entry
        (refunds("FOREIGN KEY (ShardId) REFERENCES LedgerEntries (ShardId)"), 0),
    ],
)
def test_b_4_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("B.4", ddl).points == pytest.approx(points)


@pytest.mark.parametrize(
    "ddl", ["CREATE TABLE Refunds", "CREATE TABLE Payback (A INT64) PRIMARY KEY (A)", ledger(shard(16))]
)
def test_ddl_without_refunds_cannot_be_read(ddl: str) -> None:
    assert verdict("B.4", ddl).state == UNREADABLE


@pytest.mark.parametrize(("shards", "nodes"), [(44, 22), (32, 30), (40, 30), (64, 26)])
@pytest.mark.parametrize("seed", [0, 2])
def test_designs_with_full_marks_in_b_5(shards: int, nodes: int, seed: int) -> None:
    got = verdict("B.5", settlement(shards, nodes), seed)
    assert (got.state, got.points) == (PASSED, 5), got


def of_payments(expression: str, type_: str, rest: str = "Amount NUMERIC NOT NULL") -> str:
    return (
        f"CREATE TABLE Settlements (Shard {type_} NOT NULL AS ({expression}) STORED, PaymentId STRING(26) NOT NULL, "
        f"{rest}, SettledAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (Shard, PaymentId)"
    )


def joined(numbers: str, value: str = "b") -> str:
    return (
        f"SELECT COUNT(*) AS n, SUM(s.Amount) AS total FROM UNNEST({numbers}) AS b JOIN Settlements AS s "
        f"ON s.Shard = {value} WHERE s.PaymentId >= @from_id AND s.PaymentId < @to_id"
    )


LETTERS = "'0123456789ABCDEFGHJKMNPQRSTVWXYZ'"


@pytest.mark.parametrize(
    ("ddl", "sql", "shards"),
    [
        (of_payments("ABS(MOD(FARM_FINGERPRINT(PaymentId), 48))", "INT64"), joined("GENERATE_ARRAY(0, 47)"), 48),
        (of_payments("FARM_FINGERPRINT(PaymentId) & 31", "INT64"), joined("GENERATE_ARRAY(0, 31)"), 32),
        (of_payments("SUBSTR(PaymentId, 26)", "STRING(1)"), joined(f"SPLIT({LETTERS}, '')"), 32),
        (
            of_payments("FORMAT('%02d', MOD(MOD(FARM_FINGERPRINT(PaymentId), 44) + 44, 44))", "STRING(2)"),
            joined("GENERATE_ARRAY(0, 43)", "FORMAT('%02d', b)"),
            44,
        ),
    ],
)
def test_designs_of_other_shapes_have_full_marks_in_b_5(ddl: str, sql: str, shards: int) -> None:
    got = verdict("B.5", {"ddl": ddl, "shards": shards, "sql": sql, "nodes": 30})
    assert (got.state, got.points) == (PASSED, 5), got


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        (of_payments("FARM_FINGERPRINT(PaymentId) & 31", "INT64", "Amount FLOAT64 NOT NULL"), 4.25),
        (
            of_payments("FARM_FINGERPRINT(PaymentId) & 31", "INT64").replace(
                " OPTIONS (allow_commit_timestamp = true)", ""
            ),
            4.25,
        ),
        (of_payments("FARM_FINGERPRINT(PaymentId) & 31", "INT64") + "; CREATE INDEX T ON Settlements (SettledAt)", 2),
    ],
)
def test_given_parts_that_were_damaged_cost_something_in_b_5(ddl: str, points: float) -> None:
    got = verdict("B.5", {"ddl": ddl, "shards": 32, "sql": joined("GENERATE_ARRAY(0, 31)"), "nodes": 30})
    assert got.points == pytest.approx(points)


@pytest.mark.parametrize(
    ("change", "points", "word"),
    [
        (("< @to_id", "<= @to_id"), 3.75, "One payment too many"),
        ((", SUM(e.Amount) AS total", ""), 4.375, "Add the sum"),
        (("@from_id", "'01KETADY'"), 4.375, "tomorrow's report"),
    ],
)
def test_queries_that_are_nearly_right_in_b_5(change: tuple[str, str], points: float, word: str) -> None:
    whole = settlement(44, 22)
    got = verdict("B.5", {**whole, "sql": str(whole["sql"]).replace(*change)})
    assert got.points == pytest.approx(points, abs=0.0051)
    assert [word in said for said in got.diagnoses] == [True], got.diagnoses


def test_b_5_pays_for_the_parts_that_are_there() -> None:
    whole = settlement(44, 22)
    assert verdict("B.5", {**whole, "sql": ...}).points == pytest.approx(3.75)
    assert verdict("B.5", {**whole, "shards": ...}).points == pytest.approx(4.25)
    assert verdict("B.5", {**whole, "nodes": ...}).points == pytest.approx(2)
    assert verdict("B.5", {**whole, "ddl": ...}).points == 0
    assert verdict("B.5", {**whole, "nodes": 10**9}).state == UNREADABLE
    assert verdict("B.5", {**whole, "ddl": "CREATE TABLE"}).state == UNREADABLE


def test_a_query_that_fails_costs_only_its_own_part() -> None:
    got = verdict("B.5", {**settlement(44, 22), "sql": "SELECT Nothing FROM Settlements"})
    assert got.points == pytest.approx(3.75)
    assert "Nothing" in got.message
