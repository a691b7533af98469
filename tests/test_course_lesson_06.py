"""Lesson 6: the figures that it teaches, the moves of its panel, and answers that nobody listed."""

from __future__ import annotations

from itertools import permutations

import pytest

import spanlab as sl
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.errors import ConstraintError

SHOP = sl.data("shop")
APART = SHOP.ddl.replace(", INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE", "")
BY_ID = sl.data("shop_flat").ddl + "; CREATE INDEX ByShopper ON Purchases (ShopperId)"
INDEXED = SHOP.ddl + "; CREATE INDEX ByTime ON Purchases (BoughtAt)"
UNCHECKED = SHOP.ddl.replace("IN PARENT Shoppers ON DELETE CASCADE", "IN Shoppers")
FAMILY = (
    "SELECT s.Name, p.PurchaseId, p.Total FROM Shoppers AS s LEFT JOIN Purchases AS p ON p.ShopperId = s.ShopperId "
    "WHERE s.ShopperId = @s"
)
SEVEN = sl.data.uuid(7)


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


# --------------------------------------------------------------------------------------------- figures of the lesson


@pytest.fixture(scope="module")
def shops() -> dict[str, sl.Database]:
    return {ddl: SHOP.into(sl.Schema.from_ddl(ddl)) for ddl in (SHOP.ddl, APART, BY_ID)}


@pytest.mark.parametrize(
    ("ddl", "fetched", "levels", "splits", "aligned"),
    [(SHOP.ddl, 0, 1, 1, True), (APART, 0, 2, 2, False), (BY_ID, 20, 2, 3, False)],
    ids=["interleaved", "apart", "by id"],
)
def test_reading_a_family(
    shops: dict[str, sl.Database], ddl: str, fetched: int, levels: int, splits: int, aligned: bool
) -> None:
    result = shops[ddl].query(FAMILY, {"s": SEVEN})
    plan = result.plan
    assert (len(result.rows), plan.scanned, plan.back_joins) == (20, 1 + 20, fetched)
    assert (plan.distributed_levels, plan.splits) == (levels, splits)
    assert any(node.details.get("split_ranges_aligned") for node in plan) == aligned


def test_a_report_by_date_reads_everything_whatever_the_design(shops: dict[str, sl.Database]) -> None:
    for database in shops.values():
        plan = database.query(
            "SELECT PurchaseId, Total FROM Purchases WHERE BoughtAt >= @day", {"day": sl.data.day(90)}
        ).plan
        assert (plan.scanned, plan.returned) == (20_000, 2_000)


RANDOM_IDS = (
    "CREATE TABLE Purchases (PurchaseId STRING(36) NOT NULL) PRIMARY KEY (PurchaseId); "
    "CREATE TABLE PurchaseItems (ItemId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL) PRIMARY KEY (ItemId)"
)


@pytest.mark.parametrize(
    ("ddl", "participants", "p50", "p99"),
    [(SHOP.ddl, 1, 5, 15), (RANDOM_IDS, 4, 13.5, 27), (INDEXED, 2, 12, 25)],
    ids=["interleaved", "random ids", "global index"],
)
def test_writing_a_family(ddl: str, participants: int, p50: float, p99: float) -> None:
    count = sl.participants(sl.Schema.from_ddl(ddl), {"Purchases": 1, "PurchaseItems": 3})
    assert count == participants
    assert sl.commit_latency(participants=count) == pytest.approx((p50, p99), rel=0.02)


@pytest.mark.parametrize(
    ("ddl", "mutations", "gone"),
    [(SHOP.ddl, 1, 1 + 20 + 60), (INDEXED, 21, 1 + 20 + 60 + 20), (UNCHECKED, 1, 1)],
    ids=["cascade", "global index", "interleave in"],
)
def test_deleting_a_family(ddl: str, mutations: int, gone: int) -> None:
    done = SHOP.into(sl.Schema.from_ddl(ddl)).commit([("delete", "Shoppers", {"keys": [[SEVEN]]})])
    assert (done.mutations, sum(done.rows_written.values())) == (mutations, gone)


def test_without_on_delete_the_parent_stays() -> None:
    database = SHOP.into(sl.Schema.from_ddl(SHOP.ddl.replace(" ON DELETE CASCADE", "")))
    with pytest.raises(ConstraintError, match="NO ACTION"):
        database.commit([("delete", "Shoppers", {"keys": [[SEVEN]]})])
    assert len(database.rows("Shoppers")) == 1_000


def test_a_family_larger_than_a_split_is_cut_inside_and_nothing_fails() -> None:
    grown = SHOP.into()
    more = [[SEVEN, sl.data.uuid(n, "more"), sl.data.day(99), "DONE"] for n in range(4_000)]
    grown.load("Purchases", ["ShopperId", "PurchaseId", "BoughtAt", "Status"], more)
    grown.splits.cut_by_size(grown.bytes("Shoppers", [SEVEN], family=True) * 8 // 20)
    plans = [grown.query(FAMILY, {"s": shopper}).plan for shopper in (SEVEN, sl.data.uuid(8))]
    assert [(plan.scanned, plan.splits) for plan in plans] == [(4_021, 3), (21, 1)]


def test_load_cuts_inside_a_family_unless_its_end_moves() -> None:
    def committed(key: str) -> list[float]:
        return sl.simulate(key, writes_per_second=4_000, nodes=10, start="cold").per_minute()["committed"]

    spread, tail = committed("(const(r), uuid4)"), committed("(const(r), now)")
    assert spread[0] == pytest.approx(1_800, rel=0.02)
    assert spread[4:] == pytest.approx([4_000] * 6, rel=0.02)
    assert tail == pytest.approx([1_800] * 10, rel=0.02)


def test_the_first_picture_has_one_place_against_nine() -> None:
    assert str(sl.shelf(["cascade", "separate"])) == (
        "Interleaved: 10 rows in 1 place. Separate tables: 10 rows in 9 places."
    )


# ------------------------------------------------------------------------------------------------ moves of the panel


def status(shown: sl.panels.Panel) -> str:
    return str(shown._status.value)


def test_6a_as_it_begins() -> None:
    assert sl.panel("6A").scene.sentence == (
        "Family read: 1 split. New purchase with 2 items: 1 participant. Shopper deleted: 10 rows, 1 mutation."
    )


def test_6a_try_1_separate_tables() -> None:
    shown = sl.panel("6A").set(layout="separate")
    assert "Family read: 3 splits" in shown.scene.sentence
    assert "Shopper deleted: 1 row, 1 mutation; 9 rows stay" in shown.scene.sentence
    assert "participants rise from 1 to 3" in status(shown)


def test_6a_try_2_a_family_of_two_and_a_half_splits() -> None:
    shown = sl.panel("6A").set(ratio=2.5)
    assert "Family read: 3 splits. New purchase with 2 items: 1 participant" in shown.scene.sentence
    assert "splits of a read 1 → 3" in status(shown)
    data = shown.scene.chart["datasets"]
    own = [place for place, tile in enumerate(data["tiles"]) if '"s2"' in tile["row"]]
    starts = {tile["from"]: place for place, tile in enumerate(data["tiles"])}
    inside = [cut for cut in data["cuts"] if own[0] < starts[cut["at"]] <= own[-1]]
    assert len(inside) == 2


def test_6a_try_3_a_global_index() -> None:
    shown = sl.panel("6A").set(index=True)
    assert "participants rise from 1 to 2" in status(shown)
    assert "mutations of a delete 1 → 4" in status(shown)
    for purchases in (0, 5, 8):
        wanted = f"{1 + purchases} mutation{'s' * (purchases > 0)}"
        assert wanted in shown.set(purchases=purchases).scene.sentence


def test_6a_the_other_layouts() -> None:
    shown = sl.panel("6A").set(layout="in parent")
    assert "Shopper deleted: refused while purchases exist" in shown.scene.sentence
    assert "mutations of a delete 1 → none, refused" in status(shown)
    assert "Shopper deleted: 1 row, 1 mutation; 9 rows stay as orphans" in shown.set(layout="in").scene.sentence
    assert "Shopper deleted: 1 row, 1 mutation." in shown.set(purchases=0, layout="in parent").scene.sentence


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 1.5, 2.0, 4.0])
def test_6a_a_family_that_fits_is_not_cut(ratio: float) -> None:
    shown = sl.panel("6A").set(ratio=ratio)
    splits = int(shown.scene.sentence.split()[2])
    assert splits == 1 if ratio <= 1 else splits >= ratio


# --------------------------------------------------------------------------------------------------- 6.1 and 6.P1

ROWS = (
    "Artists(1)", "Albums(1,2)", "Tracks(1,2,7)", "Albums(1,9)", "Artists(2)", "Albums(2,1)", "Tracks(2,1,1)",
)  # fmt: skip


def in_words(order: tuple[str, ...]) -> bool:
    """Each row after its parent and, of the artists before it, behind its own: by another way than the challenge's."""
    seen: list[str] = []
    for row in order:
        key = row[row.index("(") + 1 : -1].split(",")
        if len(key) > 1:
            parent = {2: "Artists", 3: "Albums"}[len(key)] + f"({','.join(key[:-1])})"
            artists = [one for one in seen if one.startswith("Artists")]
            if parent not in seen or artists[-1] != f"Artists({key[0]})":
                return False
        seen.append(row)
    return True


def test_6_1_every_order_of_the_rows() -> None:
    states = set()
    for number, order in enumerate(permutations(ROWS)):
        if number % 41 and not in_words(order):
            continue
        got = verdict("6.1", list(order))
        share = 0.7 * (order == ROWS) + 0.3 * in_words(order)
        assert got.points == pytest.approx(share), order
        assert got.state == (PASSED if order == ROWS else PARTIAL if share else FAILED)
        states.add(got.state)
    assert states == {PASSED, PARTIAL, FAILED}


def test_6_1_families_in_the_wrong_order_have_one_diagnosis() -> None:
    (diagnosis,) = verdict("6.1", [*ROWS[4:], *ROWS[:4]]).diagnoses
    assert "artist 1 comes before artist 2" in diagnosis


@pytest.mark.parametrize("answer", [list(ROWS[:6]), [*ROWS[:6], "Artists(3)"], "Artists(1)", {"a": 1}])
def test_6_1_cannot_read(answer: object) -> None:
    assert verdict("6.1", answer).state == UNREADABLE


def test_the_prediction() -> None:
    assert verdict("6.P1", "B").state == RECORDED
    assert verdict("6.P1", "d").state == UNREADABLE


# ------------------------------------------------------------------------------------------ 6.2 Shopper and purchases

COLUMNS = "ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), Total NUMERIC"
IN_PARENT = ", INTERLEAVE IN PARENT Shoppers"
CASCADE = IN_PARENT + " ON DELETE CASCADE"
KEY_OUT = ", FOREIGN KEY (ShopperId) REFERENCES Shoppers (ShopperId)"


def purchases(key: str = "ShopperId, PurchaseId", behind: str = CASCADE, columns: str = COLUMNS) -> str:
    return f"CREATE TABLE Purchases ({columns}) PRIMARY KEY ({key}){behind}"


def with_id(column: str) -> str:
    return purchases(columns=COLUMNS.replace("PurchaseId STRING(36) NOT NULL DEFAULT (GENERATE_UUID())", column))


SEQUENCE = "CREATE SEQUENCE Ids OPTIONS (sequence_kind = 'bit_reversed_positive'); "
LINES = (
    "; CREATE TABLE PurchaseItems (ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL, ItemNo INT64 NOT "
    "NULL) PRIMARY KEY (ShopperId, PurchaseId, ItemNo), INTERLEAVE IN PARENT Purchases ON DELETE CASCADE"
)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    "ddl",
    [
        purchases(),
        purchases("ShopperId, PurchaseId DESC"),
        SEQUENCE + with_id("PurchaseId INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE Ids))"),
        with_id("PurchaseId INT64 NOT NULL GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE)"),
        with_id("PurchaseId UUID NOT NULL DEFAULT (NEW_UUID())"),
        with_id("PurchaseId STRING(36) DEFAULT (GENERATE_UUID())"),
        with_id("PurchaseId STRING(MAX) NOT NULL DEFAULT (CAST(NEW_UUID() AS STRING))"),
        with_id("PurchaseId INT64 NOT NULL DEFAULT (FARM_FINGERPRINT(GENERATE_UUID()))"),
        purchases(columns=COLUMNS + " NOT NULL"),
        purchases(columns=COLUMNS + ", BoughtAt TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = true)"),
        purchases("ShopperId, BoughtAt DESC, PurchaseId", columns=COLUMNS + ", BoughtAt TIMESTAMP NOT NULL"),
        purchases(behind=IN_PARENT) + "; ALTER TABLE Purchases SET ON DELETE CASCADE",
        purchases(behind=", INTERLEAVE IN Shoppers")
        + "; ALTER TABLE Purchases SET INTERLEAVE IN PARENT Shoppers; ALTER TABLE Purchases SET ON DELETE CASCADE",
        "CREATE TABLE Shoppers (ShopperId STRING(36) NOT NULL) PRIMARY KEY (ShopperId); " + purchases(),
        purchases() + "; CREATE INDEX ByTotal ON Purchases (Total)",
        purchases() + "; CREATE INDEX ByTotal ON Purchases (ShopperId, Total), INTERLEAVE IN Shoppers",
        purchases() + LINES,
    ],
)
def test_6_2_takes_every_family_with_ids_of_its_own(ddl: str, seed: int) -> None:
    got = verdict("6.2", ddl, seed)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 3, ()), got.message


def test_6_2_takes_a_foreign_key_beside_and_says_that_it_is_too_much() -> None:
    got = verdict("6.2", purchases(columns=COLUMNS + KEY_OUT))
    assert (got.state, got.points) == (PASSED, 3)
    assert "one rule too many" in got.diagnoses[0]


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        # (30) read (25) delete (20) committed (15) id (10) columns, of 3 points; half of the read without its one level
        # where Spanner refuses the family, id and columns are judged as those of a table that stands alone
        (purchases("PurchaseId"), 0.75),
        (purchases(columns=COLUMNS.replace(" NOT NULL", "", 1)), 0.75),
        (with_id("PurchaseId STRING(36) NOT NULL").replace("STRING(36)", "STRING(40)", 1), 0.3),
        (purchases("PurchaseId, ShopperId", columns=COLUMNS.replace("GENERATE_UUID()", "'new'")), 0.3),
        (purchases("PurchaseId", columns=COLUMNS.replace(", Total NUMERIC", "")), 0.45),
        (with_id("PurchaseId INT64 NOT NULL AUTO_INCREMENT"), 0),
        (purchases(behind=IN_PARENT), 2.25),
        (purchases(behind=IN_PARENT + " ON DELETE NO ACTION"), 2.25),
        (purchases(behind=", INTERLEAVE IN Shoppers"), 2.25),
        (purchases(behind="", columns=COLUMNS + KEY_OUT + " ON DELETE CASCADE"), 2.55),
        (purchases(behind="", columns=COLUMNS + KEY_OUT), 1.8),
        (purchases("PurchaseId", "", COLUMNS + KEY_OUT + " ON DELETE CASCADE"), 2.1),
        (purchases(behind=""), 1.8),
        (purchases("PurchaseId", ""), 1.35),
        (purchases("PurchaseId", "") + "; CREATE INDEX ByShopper ON Purchases (ShopperId)", 1.35),
        (with_id("PurchaseId STRING(36) NOT NULL"), 2.55),
        (with_id("PurchaseId INT64 NOT NULL"), 2.55),
        (with_id("PurchaseId STRING(36) NOT NULL DEFAULT ('new')"), 0.9),
        (with_id("PurchaseId TIMESTAMP NOT NULL DEFAULT (CURRENT_TIMESTAMP())"), 0.9),
        (purchases("ShopperId"), 1.35),
        (purchases(columns=COLUMNS.replace("NUMERIC", "FLOAT64")), 2.7),
        (purchases(columns=COLUMNS.replace(", Total NUMERIC", "")), 2.7),
    ],
)
def test_6_2_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("6.2", ddl).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (purchases("PurchaseId"), "a column of the same name: ShopperId"),
        (purchases("PurchaseId, ShopperId"), "does not stand first"),
        (purchases("ShopperId DESC, PurchaseId"), "direction"),
        (purchases(columns=COLUMNS.replace("36", "40", 1)), "length"),
        (purchases(columns=COLUMNS.replace(" NOT NULL", "", 1)), "NOT NULL"),
        (purchases(behind=IN_PARENT + " ON DELETE NO ACTION"), "the delete is refused"),
        (purchases(behind=", INTERLEAVE IN Shoppers ON DELETE CASCADE"), "It takes IN PARENT"),
        (purchases(behind="", columns=COLUMNS + KEY_OUT + " NOT ENFORCED"), "without ON DELETE CASCADE"),
        (purchases("PurchaseId, ShopperId", "", COLUMNS + KEY_OUT + " ON DELETE CASCADE"), "moves none"),
        (purchases("ShopperId, Total"), "Without PurchaseId in the key"),
        (with_id("PurchaseId TIMESTAMP NOT NULL DEFAULT (CURRENT_TIMESTAMP())"), "the same id"),
    ],
)
def test_6_2_names_the_mistake_and_no_other(ddl: str, said: str) -> None:
    (diagnosis,) = verdict("6.2", ddl).diagnoses
    assert said in diagnosis


def test_6_2_a_refused_design_shows_what_spanner_says() -> None:
    got = verdict("6.2", purchases("PurchaseId"))
    assert got.state == PARTIAL
    assert "line 1" in got.message
    assert "Try: PRIMARY KEY (ShopperId, PurchaseId)" in got.message


@pytest.mark.parametrize(
    "ddl", ["CREATE TABLE Orders (A INT64) PRIMARY KEY (A)", "INTERLEAVE IN PARENT Shoppers", purchases()[:-3]]
)
def test_6_2_cannot_read(ddl: str) -> None:
    got = verdict("6.2", ddl)
    assert got.state == UNREADABLE
    assert "fault of the course" not in got.message


# --------------------------------------------------------------------------------------------- 6.4 Repair the family


def repaired(
    orders: str = "CustomerId, OrderNo",
    lines: str = "CustomerId, OrderNo, LineNo",
    *,
    length: object = 36,
    of_orders: str = " ON DELETE CASCADE",
    of_lines: str = "PARENT Orders ON DELETE CASCADE",
) -> str:
    return (
        f"CREATE TABLE Orders (CustomerId STRING(36) NOT NULL, OrderNo INT64 NOT NULL) PRIMARY KEY ({orders}), "
        f"INTERLEAVE IN PARENT Customers{of_orders}; CREATE TABLE Lines (CustomerId STRING({length}) NOT NULL, OrderNo "
        f"INT64 NOT NULL, LineNo INT64 NOT NULL) PRIMARY KEY ({lines}), INTERLEAVE IN {of_lines}"
    )


CUSTOMERS = "CREATE TABLE Customers (CustomerId STRING(36) NOT NULL) PRIMARY KEY (CustomerId); "
BOTH_ON_DELETE = "; ALTER TABLE Orders SET ON DELETE CASCADE; ALTER TABLE Lines SET ON DELETE CASCADE"


@pytest.mark.parametrize(
    "ddl",
    [
        repaired(),
        CUSTOMERS + repaired(),
        repaired("CustomerId, OrderNo DESC", "CustomerId, OrderNo DESC, LineNo"),
        repaired(lines="CustomerId, OrderNo, LineNo DESC"),
        repaired(of_orders="", of_lines="PARENT Orders") + BOTH_ON_DELETE,
    ],
)
def test_6_4_takes_every_repair(ddl: str) -> None:
    got = verdict("6.4", ddl)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


GIVEN = repaired("OrderNo, CustomerId", "CustomerId, LineNo", length=40, of_orders="", of_lines="PARENT Orders")


@pytest.mark.parametrize(
    ("ddl", "points"),
    [
        # (30) family (30) key of Orders (30) key of Lines, half of it for its columns (10) cascade, of 2 points
        (GIVEN, 0),
        (repaired("CustomerId, OrderNo", "CustomerId, LineNo", length=40), 0.6),
        (repaired("OrderNo, CustomerId", "CustomerId, LineNo"), 0.3),
        (repaired("OrderNo, CustomerId"), 0.6),
        (repaired(length=40), 0.9),
        (repaired(of_orders=""), 1.8),
        (repaired(of_lines="PARENT Orders"), 1.8),
        (repaired(of_lines="Orders"), 1.2),
        (repaired(of_lines="PARENT Customers ON DELETE CASCADE"), 1.4),
        (repaired(lines="CustomerId, OrderNo"), 1.5),
        (repaired().split("; ")[0], 0.6),
        (repaired().split("; ")[1], 0.6),
        ("; ".join(reversed(repaired().split("; "))), 1.2),
    ],
)
def test_6_4_pays_what_was_reached(ddl: str, points: float) -> None:
    assert verdict("6.4", ddl).points == pytest.approx(points)


def test_6_4_names_all_three_mistakes_of_the_given_tables() -> None:
    said = " ".join(verdict("6.4", GIVEN).diagnoses)
    assert all(part in said for part in ("CustomerId stands second", "OrderNo is missing", "same type, length"))


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (repaired(length="MAX"), "STRING(36) NOT NULL"),
        (repaired(lines="CustomerId, LineNo, OrderNo"), "LineNo last"),
        (repaired(lines="LineNo, CustomerId, OrderNo"), "LineNo last"),
        (repaired(of_lines="PARENT Orders ON DELETE NO ACTION"), "stops at Lines"),
        ("; ".join(reversed(repaired().split("; "))), "Statements run in their order"),
        (repaired().replace("OrderNo INT64 NOT NULL, LineNo", "OrderNo INT64, LineNo"), "OrderNo INT64 NOT NULL"),
        (repaired().replace(", INTERLEAVE IN PARENT Customers ON DELETE CASCADE", ""), "a shelf of its own"),
        (repaired().replace(", INTERLEAVE IN PARENT Orders ON DELETE CASCADE", ""), "a shelf of its own"),
    ],
)
def test_6_4_names_the_mistake_and_no_other(ddl: str, said: str) -> None:
    (diagnosis,) = verdict("6.4", ddl).diagnoses
    assert said in diagnosis


def test_6_4_a_missing_table_is_said_once() -> None:
    said = [line.seen for line in verdict("6.4", repaired().split("; ")[0]).lines]
    assert said.count("Lines is missing") == 2
    assert not any("CustomerId" in one and "missing" in one for one in said)


@pytest.mark.parametrize("ddl", [CUSTOMERS, "Orders, Lines", repaired()[:-4]])
def test_6_4_cannot_read(ddl: str) -> None:
    assert verdict("6.4", ddl).state == UNREADABLE


# ------------------------------------------------------------------------------------------------- 6.3 and 6.5

RIGHT = {"a": "interleave", "b": "fk", "c": "fk", "d": "none", "e": "interleave", "f": "none"}


@pytest.mark.parametrize(("letter", "points"), [("A", 0), ("b", 1), ("C", 0), ("D", 0)])
def test_6_3(letter: str, points: int) -> None:
    assert verdict("6.3", letter).points == points


@pytest.mark.parametrize("relation", RIGHT)
@pytest.mark.parametrize("word", ["interleave", "fk", "none"])
def test_6_5_pays_each_relation_and_says_why_not(relation: str, word: str) -> None:
    got = verdict("6.5", {**RIGHT, relation: word})
    right = word == RIGHT[relation] or (relation, word) == ("d", "fk")
    weight = 16 if relation in "ef" else 17
    assert got.points == pytest.approx(3 if right else 3 * (100 - weight) / 100)
    said = [diagnosis for diagnosis in got.diagnoses if diagnosis.startswith(f"{relation}: ")]
    assert len(got.diagnoses) == len(said) == (0 if word == RIGHT[relation] else 1)


@pytest.mark.parametrize(
    ("answer", "state", "points"),
    [
        ({"a": "Interleave "}, PARTIAL, 0.51),
        ({**RIGHT, "f": ...}, PARTIAL, 2.52),
        ({**RIGHT, "g": "fk"}, UNREADABLE, 0),
        ({**RIGHT, "a": "index"}, UNREADABLE, 0),
        (["interleave"] * 6, UNREADABLE, 0),
    ],
)
def test_6_5_reads_what_is_there(answer: object, state: str, points: float) -> None:
    got = verdict("6.5", answer)
    assert (got.state, got.points) == (state, points)
