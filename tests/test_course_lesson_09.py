"""Lesson 9: the figures that it teaches, the moves of its panel, its printed trees, and answers that nobody listed."""

from __future__ import annotations

import re
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.course.challenges.lesson_09 import NAMES, TREES
from spanlab.course.notebook_form import read_notebook
from spanlab.course.places import notebook_of
from spanlab.panels.plan_explorer import hops

ROOT = Path(__file__).resolve().parent.parent
INTERLEAVED = ", INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE"
SHOPPER = {"s": sl.data.uuid(5)}
DAY_90 = {"d": sl.data.day(90)}
SINCE = "SELECT BoughtAt, Status, Total FROM Purchases WHERE BoughtAt >= @d"
NEWEST = "SELECT PurchaseId, BoughtAt, Total FROM Purchases ORDER BY BoughtAt DESC LIMIT 10"
JOIN = (
    "SELECT s.Name, p.BoughtAt FROM Shoppers AS s JOIN Purchases AS p USING (ShopperId) WHERE s.ShopperId = @s"
)  # fmt: skip


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


@cache
def shop(*indexes: str, family: bool = True, flat: bool = False) -> sl.Database:
    """Shoppers and purchases, with indexes; as a family, as tables apart with the same keys, or keyed by PurchaseId."""
    ddl = sl.data("shop_flat" if flat else "shop").ddl
    schema = sl.Schema.from_ddl(ddl if family else ddl.replace(INTERLEAVED, "")).apply("DROP TABLE PurchaseItems")
    for number, index in enumerate(indexes):
        schema = schema.apply(f"CREATE INDEX ByTime{number or ''} ON {index}")
    database = sl.Database(schema, [("Shoppers", [start]) for start in "48c"])
    sl.data("shop").into(database)
    return database


# --------------------------------------------------------------------------------------------- figures of the lesson


def test_one_question_two_plans() -> None:
    sql, moment = "SELECT PurchaseId FROM Purchases WHERE BoughtAt = @at", {"at": sl.data.day(50)}
    without, with_index = shop().query(sql, moment), shop("Purchases (BoughtAt)").query(sql, moment)
    assert (without.plan.scanned, len(without.rows), without.plan.full_scans) == (20_000, 1, 1)
    assert (with_index.plan.scanned, len(with_index.rows), with_index.plan.full_scans) == (1, 1, 0)
    shapes = [[node.operator for node in result.plan] for result in (without, with_index)]
    above = ["Distributed Union", "Local Distributed Union", "Serialize Result", "Filter Scan"]
    assert shapes == [[*above, "Table Scan"], [*above, "Index Scan"]]  # facts.md 7.5 P1, P3, P4


def test_a_point_lookup_has_a_distributed_union_and_asks_one_split() -> None:
    """facts.md 7.5 P1: the Split Range is the key."""
    plan = shop().query("SELECT Name FROM Shoppers WHERE ShopperId = @s", SHOPPER).plan
    root, scan = plan.root, list(plan)[-1]
    assert (root.operator, root.split_range, scan.seek_condition) == (
        "Distributed Union",
        "($ShopperId = @s)",
        "($ShopperId = @s)",
    )
    assert (plan.scanned, plan.splits, plan.remote_calls) == (1, 1, 1)


def test_without_a_key_every_split_is_asked() -> None:
    plan = shop().query("SELECT PurchaseId FROM Purchases WHERE BoughtAt = @at", {"at": sl.data.day(50)}).plan
    assert (plan.root.split_range, plan.splits, plan.remote_calls) == ("", 4, 4)


@pytest.mark.parametrize(
    ("condition", "read", "returned"),
    [("Total > 85", 20, 3), ("Status = 'OPEN'", 20, 0)],
)
def test_a_residual_reads_what_it_drops(condition: str, read: int, returned: int) -> None:
    """facts.md 7.5 P2: a seek on the prefix, a residual on the Filter Scan above it."""
    result = shop().query(f"SELECT PurchaseId FROM Purchases WHERE ShopperId = @s AND {condition}", SHOPPER)
    assert (result.plan.scanned, len(result.rows)) == (read, returned)
    filter_scan, scan = list(result.plan)[-2:]
    assert filter_scan.residual_condition == f"(${condition})"
    assert scan.seek_condition == "($ShopperId = @s)"


@pytest.mark.parametrize(
    ("index", "read", "fetched", "levels"),
    [
        ("Purchases (BoughtAt)", 2_000, 2_000, 2),
        ("Purchases (BoughtAt) STORING (Status, Total)", 2_000, 0, 1),
    ],
)
def test_index_scan_with_and_without_the_back_join(index: str, read: int, fetched: int, levels: int) -> None:
    """facts.md 7.5 P4 and P5; ten of 100 days are 2,000 of 20,000 purchases."""
    plan = shop(index).query(SINCE, DAY_90).plan
    assert (plan.scanned, plan.back_joins, hops(plan)) == (read, fetched, levels)


@pytest.mark.parametrize(
    ("family", "flat", "read", "levels"),
    [
        (True, False, 21, 1),  # the shopper and 20 purchases: facts.md 7.5 P6
        (False, False, 40, 2),  # 20 purchases, 20 look-ups
        (False, True, 20_001, 2),  # no key begins with ShopperId: P7 with a full scan
    ],
)
def test_joins(family: bool, flat: bool, read: int, levels: int) -> None:
    result = shop(family=family, flat=flat).query(JOIN, SHOPPER)
    assert (result.plan.scanned, result.plan.distributed_levels, len(result.rows)) == (read, levels, 20)
    aligned = any(node.details.get("split_ranges_aligned") is True for node in result.plan)
    assert aligned == (family and not flat)


@pytest.mark.parametrize(
    ("indexes", "sql", "read", "work"),
    [
        ((), "SELECT PurchaseId, Total FROM Purchases ORDER BY Total DESC LIMIT 10", 20_000, ["Local Sort Limit"]),
        (
            ("Purchases (Total DESC)",),
            "SELECT PurchaseId, Total FROM Purchases ORDER BY Total DESC LIMIT 10",
            10,
            [],
        ),
        ((), "SELECT ShopperId, COUNT(*) FROM Purchases GROUP BY ShopperId", 20_000, ["Stream Aggregate"]),
        (
            (),
            "SELECT Status, COUNT(*) FROM Purchases GROUP BY Status",
            20_000,
            ["Global Hash Aggregate", "Local Hash Aggregate"],
        ),
    ],
)
def test_what_is_sorted_and_what_is_hashed(indexes: tuple[str, ...], sql: str, read: int, work: list[str]) -> None:
    """facts.md 7.5 P12, P13, P15, P16."""
    plan = shop(*indexes).query(sql).plan
    assert plan.scanned == read
    assert [n.operator for n in plan if n.sorts or "Aggregate" in n.operator] == work


def test_newest_10_of_the_curriculum() -> None:
    with_index = shop("Purchases (BoughtAt DESC)").query(NEWEST).plan
    without = shop().query(NEWEST).plan
    assert (with_index.scanned, with_index.sorts) == (10, 0)
    assert (without.scanned, without.sorts) == (20_000, 1)


def test_a_literal_makes_a_plan_each_time_and_a_parameter_one() -> None:
    database = shop()
    compiled = []
    for text in ("'{}'", "@s"):
        database.plan_cache.clear()
        for number in range(100):
            sql = "SELECT Total FROM Purchases WHERE ShopperId = " + text.format(sl.data.uuid(number))
            database.query(sql, {"s": sl.data.uuid(number)})
        compiled.append(database.plan_cache.compiled)
    assert compiled == [100, 1]


@pytest.mark.parametrize(
    ("condition", "value", "read"),
    [
        ("Name LIKE 'Shopper 12%'", "", 11),
        ("Name LIKE @p", "Shopper 12%", 1_000),
        ("STARTS_WITH(Name, @p)", "Shopper 12", 11),
    ],
)
def test_a_pattern_that_is_a_parameter_is_no_range(condition: str, value: str, read: int) -> None:
    """Shopper 12 and 120 to 129 are 11 of 1,000."""
    database = shop("Shoppers (Name)")
    result = database.query(f"SELECT Name FROM Shoppers WHERE {condition}", {"p": value})
    assert (result.plan.scanned, len(result.rows)) == (read, 11)


def test_hints_choose_the_scan() -> None:
    database, plans = shop("Purchases (BoughtAt)"), {}
    for index in ("_BASE_TABLE", "ByTime"):
        plan = database.query(SINCE.replace("Purchases", f"Purchases@{{FORCE_INDEX={index}}}"), DAY_90).plan
        plans[index] = (plan.scanned, plan.back_joins)
    assert plans == {"_BASE_TABLE": (20_000, 0), "ByTime": (2_000, 2_000)}


# ------------------------------------------------------------------------------------------------- moves of the panel


def change(shown: sl.panels.Panel) -> str:
    return re.sub("<[^>]*>", " ", shown._status.value)


def test_9a_try_1_range_by_date() -> None:
    shown = sl.panel("9A")
    assert shown.scene.sentence == "Table Scan (full) reads 20,000 rows, returns 2,000; 1 hop; no sort."
    shown.set(index="(BoughtAt)")
    assert shown.scene.sentence == "Index Scan reads 2,000 rows, fetches 2,000, returns 2,000; 2 hops; no sort."
    assert "rows read fall from 20,000 to 2,000; fetched 0 → 2,000; hops 1 → 2" in change(shown)
    shown.set(index="(BoughtAt) STORING (Status, Total)")
    assert shown.scene.sentence == "Index Scan reads 2,000 rows, returns 2,000; 1 hop; no sort."


def test_9a_try_2_desc_removes_the_sort() -> None:
    shown = sl.panel("9A").set(query="newest").set(index="(BoughtAt)")
    assert shown.scene.sentence == "Index Scan (full) reads 20,000 rows, fetches 10, returns 10; 2 hops; 1 sort."
    assert "rows read stay at 20,000; fetched 0 → 10; hops 1 → 2" in change(shown)
    shown.set(index="(BoughtAt DESC)")
    assert shown.scene.sentence == "Index Scan (ended by LIMIT) reads 10 rows, fetches 10, returns 10; 2 hops; no sort."
    assert "sorts 1 → 0" in change(shown)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT Name FROM Shoppers LIMIT 5", "Table Scan (ended by LIMIT) reads 5 rows"),
        ("SELECT ShopperId, COUNT(*) FROM Purchases GROUP BY ShopperId LIMIT 1", "Table Scan (full) reads 20,000 rows"),
        ("SELECT Name FROM Shoppers", "Table Scan (full) reads 1,000 rows"),
    ],
)
def test_a_limit_that_ends_a_scan_is_said_and_another_not(sql: str, said: str) -> None:
    assert said in repr(sl.plans({"x": shop().explain(sql)}))


def test_9a_try_3_separate_tables_add_a_hop() -> None:
    shown = sl.panel("9A").set(query="join")
    assert shown.scene.sentence == "Table Scan reads 21 rows, returns 20; 1 hop; no sort."
    shown.set(family=False)
    assert "; 2 hops;" in shown.scene.sentence
    assert "rows read rise from 21 to 40; hops 1 → 2" in change(shown)


def test_9a_other_questions() -> None:
    shown = sl.panel("9A")
    said = {query: shown.set(query=query).scene.sentence for query in ("point", "filter", "group", "prefix")}
    assert said["point"].startswith("Table Scan reads 1 row, returns 1;")
    assert said["filter"].startswith("Table Scan reads 20 rows, returns 1;")
    assert said["group"].startswith("Table Scan (full) reads 20,000 rows, returns 2;")
    assert said["prefix"].startswith("Table Scan (full) reads 1,000 rows, returns 11;")
    assert shown.set(index="(BoughtAt)").scene.sentence.startswith("Index Scan reads 11 rows, returns 11;")


def test_plans_draws_up_to_three() -> None:
    plan = shop().explain("SELECT Name FROM Shoppers WHERE ShopperId = @s", SHOPPER)
    picture = sl.plans({"one": plan, "two": plan})
    assert repr(picture).startswith("one: Table Scan reads 1 row, returns 1; 1 hop; no sort. two: ")
    for wrong in ({}, dict.fromkeys("abcd", plan)):
        with pytest.raises(ValueError, match="a picture takes 1 to 3"):
            sl.plans(wrong)


# ------------------------------------------------------------------------------------------------ challenges


def test_the_prediction() -> None:
    for answer in ("a", "B", "c"):
        assert verdict("9.P1", answer).state == RECORDED
    assert verdict("9.P1", "d").state == UNREADABLE


PRINTED = {
    "t1": (
        ("Purchases (BoughtAt) STORING (Total)",),
        "SELECT BoughtAt, Total FROM Purchases WHERE BoughtAt >= @d",
        DAY_90,
    ),
    "t2": ((), "SELECT Status, COUNT(*) AS n FROM Purchases GROUP BY Status", None),
    "t3": ((), JOIN, SHOPPER),
    "t4": (
        (),
        "SELECT Total FROM Purchases WHERE ShopperId = @s AND PurchaseId = @p",
        SHOPPER | {"p": sl.data.uuid(5, "Purchases")},
    ),
    "t5": (("Purchases (BoughtAt)",), "SELECT BoughtAt, Total FROM Purchases WHERE BoughtAt >= @d", DAY_90),
}


def printed_trees() -> dict[str, list[str]]:
    """The five trees that the lesson prints in two columns."""
    path = notebook_of("9", ROOT)
    assert path is not None
    cell = next(cell for cell in read_notebook(path)["cells"] if cell["id"] == "ch-9-1-text")
    block = re.search(r"(?s)```text\n(.*?)```", cell["source"])
    assert block is not None
    lines = block[1].splitlines()
    column = lines[0].index("t2")
    found: dict[str, list[str]] = {}
    for part in ([line[:column] for line in lines], [line[column:] for line in lines]):
        name = ""
        for line in map(str.rstrip, part):
            if re.fullmatch(r"t\d", line):
                name, found[line] = line, []
            elif line:
                found[name].append(line)
    return found


@pytest.mark.parametrize("tree", TREES)
def test_9_1_prints_the_trees_of_real_plans(tree: str) -> None:
    indexes, sql, params = PRINTED[tree]
    plan = shop(*indexes).explain(sql, params)
    expected = [f"{'  ' * n.depth}{f'[{n.link}] ' if n.link else ''}{n.title()}" for n in plan]
    assert printed_trees()[tree] == expected


@pytest.mark.parametrize("tree", TREES)
def test_9_1_its_names_are_what_the_plans_are(tree: str) -> None:
    indexes, sql, params = PRINTED[tree]
    plan = shop(*indexes).query(sql, params).plan
    tables = {n.target for n in plan if n.operator == "Table Scan"}
    kind = (
        "hash_group" if any("Hash Aggregate" in n.operator for n in plan)
        else "back_join" if plan.back_joins
        else "aligned_join" if tables == {"Shoppers", "Purchases"}
        else "covering" if plan.index_used
        else "point"
    )  # fmt: skip
    assert TREES[tree] == kind


def test_9_1_each_tree_is_worth_a_fifth() -> None:
    for names in permutations(NAMES):
        answer = dict(zip(TREES, names, strict=True))
        right = sum(TREES[tree] == name for tree, name in answer.items())
        got = verdict("9.1", answer)
        assert got.points == pytest.approx(2 * right / 5)
        assert bool(got.diagnoses) == (right < 5)
        assert got.state == (PASSED if right == 5 else PARTIAL if right else FAILED)
    assert verdict("9.1", {"t1": " Covering "}).points == pytest.approx(0.4)
    assert verdict("9.1", {"t6": "point"}).state == UNREADABLE
    assert verdict("9.1", {**TREES, "t1": "index"}).state == UNREADABLE


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 7, 20, 400, 20_000, 21_000]), min_size=4, max_size=4))
def test_9_2_each_number_is_worth_a_quarter(answer: list[int]) -> None:
    right = sum(a == b for a, b in zip(answer, (20, 20_000, 1, 20), strict=True))
    got = verdict("9.2", answer)
    assert got.points == pytest.approx(right / 2)
    if right == 3:
        (wrong,) = (n for n in range(4) if answer[n] != (20, 20_000, 1, 20)[n])
        (said,) = got.diagnoses
        assert said.startswith(f"q{wrong + 1}")


def test_9_2_is_what_the_database_counts() -> None:
    values = SHOPPER | {"p": sl.data.uuid(5, "Purchases")}
    conditions = (
        "ShopperId = @s",
        "PurchaseId = @p",
        "ShopperId = @s AND PurchaseId = @p",
        "ShopperId = @s AND Status = 'OPEN'",
    )
    read = [shop().query(f"SELECT * FROM Purchases WHERE {c}", values).plan.scanned for c in conditions]
    assert verdict("9.2", read).state == PASSED


INDEX = "CREATE INDEX Newest ON Purchases "


@pytest.mark.parametrize(
    "ddl",
    [
        INDEX + "(BoughtAt DESC) STORING (Total)",
        "create index newest on Purchases (BoughtAt desc) storing (Total);",
        INDEX + "(BoughtAt DESC, Total)",
        INDEX + "(BoughtAt DESC, PurchaseId) STORING (Total)",
        INDEX + "(BoughtAt DESC) STORING (Total, Status, ShipDueAt)",
        INDEX + "(BoughtAt DESC) STORING (Status); ALTER INDEX Newest ADD STORED COLUMN Total",
        "CREATE NULL_FILTERED INDEX Newest ON Purchases (BoughtAt DESC) STORING (Total)",
    ],
)
def test_9_3_takes_every_index_in_the_order_of_reading(ddl: str) -> None:
    got = verdict("9.3", ddl)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        # (40) sorts (30) scanned (30) back-joins, of 2 points
        (INDEX + "(BoughtAt DESC)", 1.4),
        (INDEX + "(BoughtAt) STORING (Total)", 0.6),
        (INDEX + "(Total, BoughtAt DESC)", 0.6),
        (INDEX + "(Status)", 0),
        ("CREATE INDEX Names ON Shoppers (Name)", 0),
        (INDEX + "(Status, BoughtAt DESC) STORING (Total)", 0.6),
    ],
)
def test_9_3_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("9.3", ddl).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (INDEX + "(BoughtAt ASC) STORING (Total)", "does not scan backwards"),
        (INDEX + "(BoughtAt)", "does not scan backwards"),
        (INDEX + "(BoughtAt DESC) STORING (Status)", "20 rows are fetched"),
        (INDEX + "(Total DESC, BoughtAt DESC)", "Total leads"),
        (INDEX + "(ShopperId, BoughtAt DESC) STORING (Total)", "the newest of each shopper"),
        (INDEX + "(Status) STORING (BoughtAt, Total)", "has no order"),
        (INDEX + "(PurchaseId, BoughtAt DESC, Total)", "Another column leads"),
        (INDEX + "(BoughtAt DESC) STORING (Total); CREATE INDEX B ON Purchases (Total, Status)", "reads one index"),
    ],
)
def test_9_3_names_the_mistake(ddl: str, said: str) -> None:
    (diagnosis,) = verdict("9.3", ddl).diagnoses
    assert said in diagnosis


@pytest.mark.parametrize(
    "ddl", ["CREATE INDEX Newest ON Purchases", "DROP TABLE Purchases", INDEX + "(BoughtOn DESC)", "BoughtAt DESC"]
)
def test_9_3_cannot_read(ddl: str) -> None:
    assert verdict("9.3", ddl).state == UNREADABLE


FULL = "@{FORCE_INDEX=PurchasesByBoughtAtFull}"


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= @d",
        f"select boughtat, status, total from purchases{FULL.lower()} where boughtat >= @D;",
        f"SELECT Total, Status, BoughtAt FROM Purchases{FULL} WHERE BoughtAt >= @d",
        f"SELECT p.BoughtAt, p.Status, p.Total FROM Purchases{FULL} AS p WHERE p.BoughtAt >= @d",
        f"SELECT p.BoughtAt AS Since, p.Status, p.Total FROM Purchases {FULL} p WHERE @d <= p.BoughtAt",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE @since <= BoughtAt",
        f"SELECT BoughtAt, Status, Total FROM `Purchases`{FULL} WHERE (BoughtAt >= @day)",
        "SELECT BoughtAt, Status, Total FROM Purchases@{ FORCE_INDEX = PurchasesByBoughtAtFull } WHERE BoughtAt>=@d",
        f"@{{OPTIMIZER_VERSION=8}} SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= @d",
        f"@{{FORCE_INDEX=_BASE_TABLE}} SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= @d",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= @d ORDER BY BoughtAt",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt > @d OR BoughtAt = @d",
        f"WITH p AS (SELECT * FROM Purchases{FULL}) SELECT BoughtAt, Status, Total FROM p WHERE BoughtAt >= @d",
        f"SELECT BoughtAt, Status, Total FROM (SELECT * FROM Purchases{FULL} WHERE BoughtAt >= @d)",
        f"SELECT ShopperId, BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= @d",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt >= CAST(@d AS TIMESTAMP)",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE BoughtAt BETWEEN @d AND CURRENT_TIMESTAMP()",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL} WHERE NOT BoughtAt < @d",
        f"SELECT BoughtAt, Status, Total FROM Purchases{FULL[:-1]}, SEEKABLE_KEY_SIZE=1}} WHERE BoughtAt >= @d",
    ],
)
def test_9_4_takes_every_query_that_is_certain(query: str, seed: int) -> None:
    got = verdict("9.4", query, seed)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


def test_9_4_a_quoted_index_is_no_literal() -> None:
    query = "SELECT BoughtAt, Status, Total FROM Purchases@{FORCE_INDEX='PurchasesByBoughtAtFull'} WHERE BoughtAt >= @d"
    assert verdict("9.4", query).state == PASSED


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("query", "points", "said"),
    [
        # (50) certain (30) no fetch (20) a parameter, of 2 points
        (SINCE, 0.4, "Without a hint"),
        (f"@{{FORCE_INDEX=PurchasesByBoughtAtFull}} {SINCE}", 0.4, "only _BASE_TABLE"),
        (f"@{{FORCE_INDEX=PurchasesByBoughtAt}} {SINCE}", 0.4, "only _BASE_TABLE"),
        (f"@{{FORCE_INDEX=_BASE_TABLE}} {SINCE}", 0.4, "forbids every index"),
        (SINCE.replace("Purchases", "Purchases@{FORCE_INDEX=PurchaseByBoughtAtFull}"), 0.4, "an order, not a wish"),
        (SINCE.replace("Purchases", "Purchases@{FORCE_INDEX=PurchasesByBoughtAt}"), 0.4, "the other index"),
        (SINCE.replace("Purchases", "Purchases/*@ FORCE_INDEX=PurchasesByBoughtAtFull */"), 0.4, "PostgreSQL"),
        (SINCE.replace("Purchases", "PurchasesByBoughtAtFull"), 0.4, "no table"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace("BoughtAt,", "*, BoughtAt,"), 1.4, "ShipDueAt"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace("Total", "Total, ShipDueAt"), 1.4, "ShipDueAt"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace("@d", "'2026-04-01T00:00:00Z'"), 1.6, "each day"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace("@d", "TIMESTAMP '2026-03-01 08:00:00Z'"), 1.6, "each"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace(">=", ">"), 1.5, "exactly that moment"),
        (f"SELECT BoughtAt, Status, Total FROM Purchases{FULL}", 1.1, "every purchase"),
        (f"SELECT BoughtAt, Total FROM Purchases{FULL} WHERE BoughtAt >= @d", 0.9, "Three columns"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace(">=", "<"), 1.5, "before"),
        (SINCE.replace("Purchases", f"Purchases{FULL}").replace(">=", "="), 1.5, "one moment"),
    ],
)
def test_9_4_pays_what_was_reached_and_says_what_lacks(query: str, points: float, said: str, seed: int) -> None:
    got = verdict("9.4", query, seed)
    assert got.points == pytest.approx(points)
    (diagnosis,) = got.diagnoses
    assert said in diagnosis


def test_9_4_a_hint_at_one_of_two_scans_is_not_certain() -> None:
    inner = f"SELECT BoughtAt FROM Purchases{FULL}"
    got = verdict("9.4", f"{SINCE} AND BoughtAt IN ({inner})")
    assert got.points == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (SINCE.replace("Purchases", f"Purchases AS p{FULL}"), "hint cannot stand here"),
        (SINCE.replace("SELECT", f"SELECT {FULL}"), "hint cannot stand here"),
        (SINCE.replace("Purchases", "Purchase"), "There is no table"),
        (SINCE.replace("@d", "@d AND BoughtAt < @e"), "@e"),
        ("PurchasesByBoughtAtFull", ""),
    ],
)
def test_9_4_cannot_read(query: str, said: str) -> None:
    got = verdict("9.4", query)
    assert (got.state, got.points) == (UNREADABLE, 0)
    assert said in got.message


def named_like(condition: str, what: str = "ShopperId, Name") -> str:
    return f"SELECT {what} FROM Shoppers WHERE {condition}"


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "query",
    [
        named_like("STARTS_WITH(Name, @p)"),
        named_like("starts_with(name, @prefix)", "name, shopperid").lower(),
        named_like("STARTS_WITH(s.Name, @p)", "s.ShopperId, s.Name").replace("Shoppers", "Shoppers AS s"),
        named_like("STARTS_WITH(Name, @p)").replace("Shoppers", "Shoppers@{FORCE_INDEX=ShoppersByName}"),
        named_like("STARTS_WITH(Name, @p)", "*"),
        named_like("STARTS_WITH(Name, @p) ORDER BY Name"),
        named_like("STARTS_WITH(Name, @p) AND Name IS NOT NULL"),
    ],
)
def test_9_5_takes_every_query_that_seeks(query: str, seed: int) -> None:
    got = verdict("9.5", query, seed)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


@pytest.mark.parametrize("condition", ["Name >= @p AND Name < CONCAT(@p, '~')", "Name BETWEEN @p AND CONCAT(@p, 'zz')"])
def test_9_5_takes_two_bounds_and_remarks_on_them(condition: str) -> None:
    got = verdict("9.5", named_like(condition))
    assert (got.state, got.points) == (PASSED, 2)
    assert "STARTS_WITH loses none" in got.diagnoses[0]


@pytest.mark.parametrize(
    ("query", "points", "said"),
    [
        # (40) one plan (40) reads the matches (20) no fetch, of 2 points
        (named_like("Name LIKE @p"), 1.2, "might begin with %"),
        (named_like("Name LIKE @p || '%'"), 1.2, "The % is certain"),
        (named_like("Name LIKE CONCAT(@p, '%')"), 1.2, "The % is certain"),
        (named_like("Name >= @p"), 1.2, "one end only"),
        (named_like("Name LIKE 'Sho%'"), 1.2, "50 plans"),
        (named_like("STARTS_WITH(Name, 'Shopper 12')"), 1.2, "50 plans"),
        (named_like("SUBSTR(Name, 1, LENGTH(@p)) = @p"), 1.2, "no range of the key"),
        (named_like("STRPOS(Name, @p) = 1"), 1.2, "no range of the key"),
        (named_like("REGEXP_CONTAINS(Name, CONCAT('^', @p))"), 1.2, "no range of the key"),
        (named_like("STARTS_WITH(LOWER(Name), LOWER(@p))"), 1.2, "no range of the key"),
        (named_like("STARTS_WITH(@p, Name)"), 0, "column comes first"),
        (named_like("Name = @p"), 0, "the one name"),
        (named_like("STARTS_WITH(Name, @p)", "Name"), 1.2, "ShopperId and Name were asked for"),
        (named_like("STARTS_WITH(Name, @p)", "ShopperId"), 1.2, "ShopperId and Name were asked for"),
        (named_like("Name LIKE '@prefix%'"), 0, "without quotes"),
        (named_like("STARTS_WITH(Name, '@p')"), 0, "without quotes"),
        (named_like("Name LIKE '{prefix}%'"), 1.2, "50 plans"),
        (named_like("STARTS_WITH(Name, @p || '%')"), 0, "a sign of LIKE only"),
        (
            named_like("STARTS_WITH(Name, @p)").replace("Shoppers", "Shoppers@{FORCE_INDEX=_BASE_TABLE}"),
            0.8,
            "_BASE_TABLE",
        ),
        ("SELECT ShopperId, Name FROM Shoppers", 0, "Where is the condition"),
    ],
)
def test_9_5_pays_what_was_reached_and_says_what_lacks(query: str, points: float, said: str) -> None:
    got = verdict("9.5", query)
    assert got.points == pytest.approx(points)
    (diagnosis,) = got.diagnoses
    assert said in diagnosis


def test_9_5_says_that_only_one_parameter_is_filled() -> None:
    got = verdict("9.5", named_like("Name >= @low AND Name < @high"))
    assert got.state == UNREADABLE
    assert "yours has @high, @low" in got.message


@pytest.mark.parametrize("query", ["STARTS_WITH(Name, @p)", named_like("STARTS_WITH(FirstName, @p)"), "SELECT"])
def test_9_5_cannot_read(query: str) -> None:
    assert verdict("9.5", query).state == UNREADABLE


def test_a_printed_plan_has_no_metadata_that_spanner_does_not_print() -> None:
    plan = shop("Purchases (BoughtAt)").explain(SINCE, DAY_90)
    for text in (str(plan), plan.tree()):
        assert "Distributed Cross Apply" in text
        assert "back_join" not in text


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="SELECTFROMW @{}=>,.'%()\n*dp", max_size=60))
def test_no_text_breaks_a_check(text: str) -> None:
    for challenge in ("9.4", "9.5"):
        got = verdict(challenge, text)
        assert "fault of the course" not in got.message
        assert got.points == 0 or "SELECT" in text


# ------------------------------------------------------------------------------------------ how a plan is shown


def shown(plan: Any) -> str:
    return re.sub(r"<[^>]*>", "|", plan._repr_html_())


def test_a_plan_says_what_to_notice_before_and_after_it_ran() -> None:
    by_key, everywhere = "SELECT Name FROM Shoppers WHERE ShopperId = @s", "SELECT Name FROM Shoppers"
    assert "a hop: to the splits of this range" in shown(shop().explain(by_key, SHOPPER))
    assert "a hop: 1 remote call|" in shown(shop().query(by_key, SHOPPER).plan)
    unread = shown(shop().explain(everywhere))
    assert "a hop: to every split" in unread
    assert "full scan: from the first row on" in unread
    read = shown(shop().query(everywhere).plan)
    assert "a hop: 4 remote calls" in read
    assert "full scan: 1,000 rows read" in read


def test_a_scan_that_a_limit_ends_did_not_read_everything() -> None:
    text = shown(shop("Purchases (BoughtAt DESC)").query(NEWEST).plan)
    assert "full scan: 10 rows read" in text
    assert "back-join: a row for each entry" in text
    assert "a hop: batches of keys to the table" in text


def test_answers_that_are_no_answers() -> None:
    nothing: Any
    for nothing in (7, ["x"], {"a": 1}):
        for challenge in ("9.3", "9.4", "9.5"):
            assert verdict(challenge, nothing).state == UNREADABLE
