"""Lesson 7: the figures that it teaches, the moves of its panels, and answers that nobody listed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course.challenge import FAILED, PARTIAL, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.panels.index_price import run_with_indexes

DAY_90 = {"since": sl.data.day(90)}
TEXT, TIME, MONEY = 8 + 36, 8 + 12, 8 + 8  # bytes of an id, a timestamp, and NUMERIC as the course takes it
STATUS = 8 + 4


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


# --------------------------------------------------------------------------------------------- figures of the lesson

INDEXES = {
    "Plain": "(BoughtAt)",
    "Two": "(BoughtAt) STORING (Status, Total)",
    "WithStatus": "(BoughtAt) STORING (Status)",
    "WithTotal": "(BoughtAt) STORING (Total)",
    "ByStatus": "(Status, BoughtAt)",
    "Covering": "(Status, BoughtAt) STORING (Total)",
}


@pytest.fixture(scope="module")
def shop() -> sl.Database:
    schema = sl.data("shop").schema.apply("DROP TABLE PurchaseItems")
    for name, columns in INDEXES.items():
        schema = schema.apply(f"CREATE INDEX {name} ON Purchases {columns}")
    database: sl.Database = sl.data("shop").into(schema)
    return database


def counted(shop: sl.Database, index: str, columns: str, where: str) -> tuple[int, int, int]:
    """Rows scanned, fetched and returned."""
    query = f"SELECT {columns} FROM Purchases@{{FORCE_INDEX={index}}} WHERE BoughtAt >= @since{where}"
    result = shop.query(query, DAY_90)
    return result.plan.scanned, result.plan.back_joins, len(result.rows)


@pytest.mark.parametrize(
    ("index", "read", "fetched"), [("_BASE_TABLE", 20_000, 0), ("Plain", 2_000, 2_000), ("Two", 2_000, 0)]
)
def test_one_query_three_catalogues(shop: sl.Database, index: str, read: int, fetched: int) -> None:
    assert counted(shop, index, "PurchaseId, BoughtAt, Status, Total", "") == (read, fetched, 2_000)


@pytest.mark.parametrize(
    ("letter", "index", "read", "fetched"),
    [("a", "Plain", 2_000, 2_000), ("b", "WithStatus", 2_000, 40), ("c", "ByStatus", 40, 40), ("d", "Covering", 40, 0)],
)
def test_fetched_is_what_survives(shop: sl.Database, letter: str, index: str, read: int, fetched: int) -> None:
    assert counted(shop, index, "Total", " AND Status = 'OPEN'") == (read, fetched, 40)
    answer = {"a": 2_000, "b": 40, "c": 40, "d": 0}
    assert answer[letter] == fetched
    assert verdict("7.2", answer).state == PASSED


def test_a_stored_column_rules_out_before_the_fetch(shop: sl.Database) -> None:
    dear = sum(
        row["Total"] >= 90  # type: ignore[operator]
        for row in sl.data("shop").rows("Purchases")
        if row["BoughtAt"] >= DAY_90["since"]
    )
    assert dear == 219
    assert counted(shop, "Plain", "Status", " AND Total >= 90") == (2_000, 2_000, dear)
    assert counted(shop, "WithTotal", "Status", " AND Total >= 90") == (2_000, dear, dear)


def test_fetches_travel_in_batches(shop: sl.Database) -> None:
    plan = shop.query("SELECT Status FROM Purchases@{FORCE_INDEX=Plain} WHERE BoughtAt >= @since", DAY_90).plan
    assert [node.operator for node in plan if node.distributed] == ["Distributed Union", "Distributed Cross Apply"]
    assert plan.remote_calls < 10 < plan.back_joins


def test_without_a_hint_the_covering_index_is_taken(shop: sl.Database) -> None:
    plan = shop.query("SELECT Status, Total FROM Purchases WHERE BoughtAt >= @since", DAY_90).plan
    assert (plan.index_used, plan.back_joins) == (("Two",), 0)


@pytest.mark.parametrize(
    ("index", "bytes_"),
    [
        ("Plain", TIME + 2 * TEXT),
        ("Two", TIME + 2 * TEXT + STATUS + MONEY),
        ("Covering", STATUS + TIME + 2 * TEXT + MONEY),
    ],
)
def test_bytes_of_an_entry(shop: sl.Database, index: str, bytes_: int) -> None:
    assert shop.bytes(index) == 20_000 * bytes_
    assert bytes_ in (108, 136)


def test_an_entry_has_three_groups(shop: sl.Database) -> None:
    (entry,) = shop.entries("Two", 1)
    assert list(entry) == ["BoughtAt", "ShopperId", "PurchaseId", "Status", "Total"]


@pytest.mark.parametrize(("indexes", "mutations"), [(0, 5), (1, 6), (3, 8)])
def test_an_insert_pays_one_mutation_for_each_index(indexes: int, mutations: int) -> None:
    assert sl.mutations(f"insert 1 row, 5 columns, {indexes} indexes") == mutations
    schema = notes(indexes)
    assert sl.mutations(schema, "insert 1 Notes") == mutations


def test_an_update_pays_where_it_touches_an_index(shop: sl.Database) -> None:
    def update(column: str) -> int:
        return int(sl.mutations(shop.schema, ("update", "Purchases", 1, {"columns": [column]})))

    assert update("ShipDueAt") == 3  # two key columns and itself
    assert update("Total") > 3


def notes(indexes: int) -> Any:
    schema = sl.Schema.from_ddl(
        "CREATE TABLE Notes (Id UUID NOT NULL, A UUID, B UUID, C UUID, D UUID) PRIMARY KEY (Id)"
    )
    for number, columns in enumerate(("A", "B", "C", "D", "A, B")[:indexes]):
        schema = schema.apply(f"CREATE INDEX By{number} ON Notes ({columns})")
    return schema


@pytest.mark.parametrize(
    ("indexes", "committed"), [(0, 31_900), (1, 17_200), (2, 11_200), (3, 8_300), (4, 6_600), (5, 5_460)]
)
def test_every_index_divides_the_capacity(indexes: int, committed: float) -> None:
    load = sl.Workload("Notes", 40_000, values=dict.fromkeys(("Id", *"ABCD"), "uuid4"))
    got = sl.simulate(notes(indexes), load, nodes=10).summary()["committed"]
    assert got == pytest.approx(committed, rel=0.02)
    assert 0.9 <= got / (35_000 / (1 + indexes)) <= 1


def events(key: str, rate: int, **settings: Any) -> sl.splits.Run:
    schema = sl.Schema.from_ddl(
        "CREATE TABLE Events (EventId STRING(36) NOT NULL, MadeAt TIMESTAMP NOT NULL, MadeOn DATE NOT NULL) "
        f"PRIMARY KEY (EventId); CREATE INDEX Recent ON Events ({key})"
    )
    values = {"EventId": "uuid4", "MadeAt": "now", "MadeOn": "date(now)"}
    return sl.simulate(schema, sl.Workload("Events", rate, values=values), nodes=10, **settings)


@pytest.mark.parametrize(
    ("rate", "committed", "p99", "p99_of_one_phase"),
    [(1_000, 1_000, 30, 19), (1_700, 1_700, 76, 60), (12_000, 1_800, 418, 403)],
)
def test_a_hot_index_on_a_calm_table(rate: int, committed: float, p99: float, p99_of_one_phase: float) -> None:
    """Row and entry lie in two splits, so a commit takes two phases; without their cost it is the curriculum's p99."""
    seen = events("MadeAt", rate).summary()
    assert seen["committed"] == pytest.approx(committed, rel=0.02)
    assert seen["p99_ms"] == pytest.approx(p99, rel=0.1)
    assert seen["hottest_share"] == pytest.approx(0.017, abs=0.002)
    one_phase = sl.model("study", two_phase_ms=(5, 15))
    assert events("MadeAt", rate, model=one_phase).summary()["p99_ms"] == pytest.approx(p99_of_one_phase, rel=0.12)


def test_an_index_on_a_date_begins_again_each_midnight() -> None:
    minutes = events("MadeOn", 4_000).per_minute()["committed"][:5]
    assert minutes == pytest.approx([1_800, 1_800, 3_600, 3_600, 4_000], rel=0.02)


@pytest.mark.parametrize(("clause", "participants", "p50"), [("", 2, 11.5), (", INTERLEAVE IN Shoppers", 1, 5.0)])
def test_an_interleaved_index_keeps_the_commit_in_one_split(clause: str, participants: int, p50: float) -> None:
    schema = sl.data("shop").schema.apply(f"CREATE INDEX ByStatus ON Purchases (ShopperId, Status){clause}")
    assert sl.participants(schema, {"Purchases": 1}) == participants
    values = {"ShopperId": "ids(100000)", "PurchaseId": "uuid4", "Status": "const(OPEN)"}
    seen = sl.simulate(schema, sl.Workload("Purchases", 1_000, values=values), nodes=10).summary()
    assert seen["p50_ms"] == pytest.approx(p50, rel=0.1)


@pytest.mark.parametrize(
    ("letter", "key", "committed"),
    [
        ("A", "EmailHash", 12_000),
        ("B", "CreatedAt", 1_800),
        ("C", "State, CreatedAt", 1_800),
        ("D", "CustomerId, CreatedAt DESC", 12_000),
        ("E", "InvoiceNo", 1_800),
    ],
)
def test_which_index_limits_the_table(letter: str, key: str, committed: float) -> None:
    schema = sl.Schema.from_ddl(
        "CREATE TABLE Invoices (Id STRING(36) NOT NULL, EmailHash STRING(36), CreatedAt TIMESTAMP, State STRING(9), "
        f"CustomerId INT64, InvoiceNo INT64) PRIMARY KEY (Id); CREATE INDEX One ON Invoices ({key})"
    )
    values = {
        "Id": "uuid4",
        "EmailHash": "uuid4",
        "CreatedAt": "now",
        "State": "const(NEW)",
        "CustomerId": "ids(100000)",
        "InvoiceNo": "seq",
    }
    got = sl.simulate(schema, sl.Workload("Invoices", 12_000, values=values), nodes=10).summary()["committed"]
    assert got == pytest.approx(committed, rel=0.02)
    assert (letter in "BCE") == (committed < 12_000)


# ----------------------------------------------------------------------------------------------- pictures and panels


def test_reads_draws_the_rows_of_plans_that_did_not_run_yet(shop: sl.Database) -> None:
    query = "SELECT Status FROM Purchases@{{FORCE_INDEX={}}} WHERE BoughtAt >= @since"
    plans = {name: shop.explain(query.format(name), DAY_90) for name in ("_BASE_TABLE", "Plain", "Two")}
    scene = sl.reads(plans)
    totals = [total["words"] for total in scene.chart["datasets"]["totals"]]
    assert totals == ["20,000", "2,000 + 2,000", "2,000"]
    assert "Plain: 2,000 index rows read + 2,000 base rows fetched" in scene.sentence


def test_reads_wants_a_plan() -> None:
    with pytest.raises(ValueError, match="plans is empty"):
        sl.reads({})


def cost(shown: sl.panels.Panel, name: str) -> str:
    return str(next(row["words"] for row in shown.scene.chart["datasets"]["costs"] if row["name"].startswith(name)))


def test_7a_at_rest() -> None:
    shown = sl.panel("7A")
    assert shown.scene.headline[1] == 4_000
    assert "Distributed Cross Apply" in shown.scene.sentence
    assert (cost(shown, "bytes"), cost(shown, "mutations")) == ("108", "8")


def test_7a_try_1_an_index_can_be_worse_than_none() -> None:
    shown = sl.panel("7A").set(matched=20_000)
    assert shown.scene.headline[1] == 40_000
    assert shown.scene.chart["datasets"]["whole"][0]["whole"] == 20_000
    assert shown.set(index=-1).scene.headline[1] == 20_000
    assert "full scan" in shown.scene.sentence


def test_7a_try_2_the_key_alone_is_covered() -> None:
    shown = sl.panel("7A").set(asked=0)
    assert shown.scene.headline[1] == 2_000
    assert "covers the query" in shown.scene.sentence


def test_7a_try_3_stored_columns_that_nobody_asks_for() -> None:
    shown = sl.panel("7A").set(index=2)
    assert (shown.scene.headline[1], cost(shown, "bytes")) == (2_000, "136")
    shown.set(index=4)
    assert (shown.scene.headline[1], cost(shown, "bytes"), cost(shown, "mutations")) == (2_000, "164", "8")
    assert shown.set(index=1).scene.headline[1] == 4_000  # Total is missing


@pytest.mark.parametrize("matched", [20, 200, 2_000, 10_000, 20_000])
def test_7a_counts_what_the_law_says(matched: int) -> None:
    shown = sl.panel("7A").set(matched=matched)
    for index, asked, read in [(-1, 2, 20_000), (0, 0, matched), (0, 1, 2 * matched), (1, 1, matched), (4, 2, matched)]:
        assert shown.set(index=index, asked=asked).scene.headline[1] == read


def test_7b_try_1_and_2_an_index_led_by_time() -> None:
    shown = sl.panel("7B")
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    shown.set(led="time")
    assert shown.scene.headline[1] == pytest.approx(1_800, rel=0.02)
    assert "time-led index is full, the servers are not" in shown.scene.sentence
    assert shown.scene.state["time-led index"] == 100
    assert shown.scene.state["table"] < 20
    shown.set(led="shards")
    assert shown.scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert shown.scene.state["p99"] == pytest.approx(40, rel=0.1)  # two phases and eight busy shards


def test_7b_try_3_even_indexes_fill_the_servers_and_nodes_help() -> None:
    shown = sl.panel("7B").set(even=3)
    assert shown.scene.headline[1] == pytest.approx(8_280, rel=0.02)
    assert "the servers' CPU is full, no split is" in shown.scene.sentence
    assert shown.set(nodes=20).scene.headline[1] == pytest.approx(12_000, rel=0.02)
    assert "nothing is full" in shown.scene.sentence


def test_7b_both_troubles_at_once() -> None:
    shown = sl.panel("7B").set(even=5, led="time", offered=40_000, nodes=5)
    assert shown.scene.headline[1] < 1_900
    assert "full" in shown.scene.sentence


def test_7b_has_a_key_space_for_the_table_and_each_index() -> None:
    names = [space["name"] for space in run_with_indexes(2, "time", 1_000, 5).keyspaces()]
    assert names == ["Events", "ByA", "ByB", "ByTime"]


def test_the_predictions() -> None:
    for answer in ("a", "B", "c", "d"):
        assert verdict("7.P1", answer).state == RECORDED
    assert verdict("7.P2", "c").state == RECORDED
    assert verdict("7.P2", "d").state == UNREADABLE
    assert sl.panel("7A").set(matched=20_000, asked=2).scene.headline[1] == 40_000  # 7.P1 is c


# --------------------------------------------------------------------------------------------- 7.1 Inside the entry

ENTRY = ["State", "BranchId", "LoanId", "Amount"]


def test_7_1_is_what_the_library_puts_into_an_entry() -> None:
    database = sl.Database(
        sl.Schema.from_ddl(
            "CREATE TABLE Loans (BranchId INT64 NOT NULL, LoanId INT64 NOT NULL, CustomerId INT64, State STRING(10), "
            "Amount NUMERIC) PRIMARY KEY (BranchId, LoanId); "
            "CREATE INDEX LoansByState ON Loans (State, BranchId) STORING (Amount)"
        )
    )
    database.load("Loans", ["BranchId", "LoanId", "CustomerId", "State", "Amount"], [(1, 2, 3, "NEW", 4)])
    (entry,) = database.entries("LoansByState")
    assert list(entry) == ENTRY
    assert verdict("7.1", list(entry)).state == PASSED


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (tuple(ENTRY), 1),
        ([name.lower() for name in ENTRY], 1),
        ([" State", "BranchId ", "`LoanId`", "Amount"], 1),
        ("State, BranchId, LoanId, Amount", 1),
        (["State", "LoanId", "BranchId", "Amount"], 0.5),
        (["Amount", "LoanId", "BranchId", "State"], 0.5),
        (["State", "BranchId", "LoanId"], 0.5),
        (["State"], 0),
        (["State", "Amount"], 0),
        (["BranchId", "LoanId", "CustomerId", "State", "Amount"], 0),
        (["State", "BranchId", "Amount", "CustomerId"], 0.5),
        (["A", "B", "C", "D"], 0),
    ],
)
def test_7_1_pays_for_the_columns_and_for_their_order(answer: object, points: float) -> None:
    assert verdict("7.1", answer).points == points


@pytest.mark.parametrize("answer", ["State", 4, ["State", 1], {"State": 1}, ["x"] * 21])
def test_7_1_wants_a_list_of_names(answer: object) -> None:
    got = verdict("7.1", answer)
    assert got.state == UNREADABLE
    assert "list of column names" in got.message


# --------------------------------------------------------------------------------------------- 7.2 Count the fetches


@settings(max_examples=50, deadline=None)
@given(st.fixed_dictionaries({letter: st.sampled_from([0, 2, 40, 2_000, 4_000, 20_000]) for letter in "abcd"}))
def test_7_2_pays_a_quarter_for_each(answer: dict[str, int]) -> None:
    right = {"a": 2_000, "b": 40, "c": 40, "d": 0}
    got = verdict("7.2", answer)
    assert got.points == 0.5 * sum(answer[letter] == right[letter] for letter in right)
    assert got.state == {0: FAILED, 2: PASSED}.get(got.points, PARTIAL)


def test_7_2_what_was_left_open_earns_nothing_and_breaks_nothing() -> None:
    got = verdict("7.2", {"a": 2_000, "d": ...})
    assert (got.state, got.points) == (PARTIAL, 0.5)


# -------------------------------------------------------------------------------------- 7.3 Serve it from the index

SERVES = "CREATE INDEX I ON Purchases (ShopperId, Status) STORING (BoughtAt, Total)"
HINTED = "SELECT BoughtAt, Total FROM Purchases@{FORCE_INDEX=I} WHERE ShopperId = @s AND Status = @st"
OLD = "PurchasesByShopper"


def index(columns: str, storing: str = "BoughtAt, Total", kind: str = "INDEX") -> str:
    return f"CREATE {kind} I ON Purchases ({columns})" + (f" STORING ({storing})" if storing else "")


def handed(ddl: str = SERVES, sql: str = HINTED) -> dict[str, str]:
    return {"ddl": ddl, "sql": sql}


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "answer",
    [
        handed(),
        handed(SERVES + ";", HINTED + ";"),
        handed(index("ShopperId, Status", "Total, BoughtAt")),
        handed(index("ShopperId DESC, Status DESC")),
        handed(index("ShopperId, Status, BoughtAt DESC", "Total")),
        handed(index("ShopperId, Status, BoughtAt", "Total")),
        handed(index("ShopperId, Status, PurchaseId")),
        handed(index("ShopperId, Status", kind="NULL_FILTERED INDEX")),
        handed(index("ShopperId, Status, PurchaseId", kind="UNIQUE INDEX")),
        handed(f"DROP INDEX {OLD}; {SERVES}"),
        handed(
            f"DROP INDEX {OLD}; {SERVES.replace('INDEX I', f'INDEX {OLD}')}",
            HINTED.replace("=I", f"={OLD}"),
        ),
        handed(sql="select boughtat, total from purchases@{force_index=i} where status = @st and shopperid = @s"),
        handed(
            sql="SELECT p.Total, p.BoughtAt FROM Purchases@{FORCE_INDEX=I} AS p WHERE @st = p.Status AND p.ShopperId=@s"
        ),
        handed(sql=HINTED.replace("BoughtAt, Total", "BoughtAt AS at, Total AS paid") + " ORDER BY BoughtAt DESC"),
        handed(sql=HINTED.replace("Status = @st", "Status IN (@st)")),
        handed(sql=f"WITH found AS ({HINTED}) SELECT * FROM found"),
    ],
)
def test_7_3_takes_every_index_that_serves(answer: dict[str, str], seed: int) -> None:
    got = verdict("7.3", answer, seed)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 3, ())


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        (index("Status, ShopperId"), "98 % of the entries share one Status"),
        (index("ShopperId, Status, Total", "BoughtAt"), "Total as a key column"),
        (index("ShopperId, Status, BoughtAt, Total", ""), "Total as a key column"),
    ],
)
def test_7_3_takes_an_index_with_a_drawback_and_says_so(ddl: str, said: str) -> None:
    got = verdict("7.3", handed(ddl))
    assert (got.state, got.points) == (PASSED, 3)
    assert said in got.diagnoses[0]


@pytest.mark.parametrize(
    ("answer", "points", "said"),
    [
        # (40) nothing fetched (20) read what is returned (20) hint (10) lean (10) parameters, of 3 points
        (handed(index("ShopperId", "Status, BoughtAt, Total")), 2.4, "only carried along"),
        (handed(index("ShopperId, Total", "Status, BoughtAt")), 2.4, "only carried along"),
        (handed(index("ShopperId, BoughtAt, Status", "Total")), 2.4, "stands between the two equality columns"),
        (handed(index("ShopperId", "BoughtAt, Total")), 1.2, "Status is nowhere in the entry"),
        (handed(index("ShopperId, Status", "")), 1.8, "BoughtAt and Total is missing"),
        (handed(index("Status, ShopperId", "Total")), 1.8, "BoughtAt and Total is missing"),
        (handed(index("Status, BoughtAt, ShopperId", "Total")), 2.4, "With Status alone in front"),
        (handed(index("Total", "")), 1.2, "nothing to seek by"),
        (handed(index("ShopperId, Status", "BoughtAt, Total, Receipt")), 2.7, "Receipt is carried"),
        (handed(sql=HINTED.replace("@{FORCE_INDEX=I}", "")), 2.4, "There is no hint"),
        (handed(sql=HINTED.replace("=I", "=_base_table")), 0.6, "forces the opposite"),
        (handed(sql=HINTED.replace("=I", f"={OLD}")), 0.6, "the old index"),
        (handed(sql=HINTED.replace("= @st", "= 'OPEN'")), 2.7, "Keep @s and @st"),
        (handed(sql=HINTED.replace("BoughtAt, Total", "BoughtAt, Total, Status")), 1.2, "no other column"),
        (handed(sql=HINTED.replace(" AND Status = @st", "")), 0.9, "another question"),
        (handed(sql=f"@{{FORCE_INDEX=I}} {HINTED}"), 0.6, "wrong place"),
        (handed(f"{SERVES}; {SERVES.replace('INDEX I', 'INDEX J')}"), 2.7, "One index is enough"),
    ],
)
def test_7_3_names_the_mistake_and_no_other(answer: dict[str, str], points: float, said: str) -> None:
    got = verdict("7.3", answer)
    assert got.points == pytest.approx(points)
    (diagnosis,) = got.diagnoses
    assert said in diagnosis


def test_7_3_stored_columns_may_also_be_added_to_the_old_index_and_do_not_make_it_seek() -> None:
    add = "; ".join(f"ALTER INDEX {OLD} ADD STORED COLUMN {name}" for name in ("Status", "BoughtAt", "Total"))
    got = verdict("7.3", handed(add, HINTED.replace("=I", f"={OLD}")))
    assert got.points == pytest.approx(2.4)
    assert "only carried along" in got.diagnoses[0]


def test_7_3_a_value_that_was_written_down_fits_one_instance_only() -> None:
    answer = handed(sql=HINTED.replace("= @st", "= 'OPEN'"))
    assert verdict("7.3", answer, 0).points == pytest.approx(2.7)
    assert verdict("7.3", answer, 1).points < 1.5


def test_7_3_unique_is_refused_by_the_rows() -> None:
    got = verdict("7.3", handed(index("ShopperId, Status", kind="UNIQUE INDEX")))
    assert got.points <= 0.3
    assert "UNIQUE does not make it faster" in got.diagnoses[0]


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ({"ddl": SERVES}, 0.3),
        ({"sql": HINTED}, 0.3),
        ({"ddl": SERVES, "sql": "SELECT"}, 0.3),
        ({"ddl": SERVES, "sql": "SELECT 1"}, 0.3),
        ({"ddl": SERVES, "sql": HINTED.replace("=I", "=J")}, 0.6),
    ],
)
def test_7_3_half_an_answer_gets_little_and_no_fault(answer: dict[str, str], points: float) -> None:
    got = verdict("7.3", answer)
    assert got.points == pytest.approx(points)
    assert "fault of the course" not in got.message


@pytest.mark.parametrize(
    "ddl", ["CREATE INDEX", "CREATE INDEX I ON Purchase (ShopperId)", index("ShopperId, Status", "PurchaseId")]
)
def test_7_3_ddl_that_spanner_refuses_cannot_be_read(ddl: str) -> None:
    got = verdict("7.3", handed(ddl))
    assert got.state == UNREADABLE
    assert "fault of the course" not in got.message


# --------------------------------------------------------------------------------- 7.4 Which index limits the table?


@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from("ABCDE"), min_size=1))
def test_7_4_pays_for_each_letter(letters: set[str]) -> None:
    wrong = letters ^ {"B", "C", "E"}
    got = verdict("7.4", sorted(letters))
    assert got.points == pytest.approx(0.4 * (5 - len(wrong)))
    assert len(got.diagnoses) == min(3, len(wrong))


def test_7_4_takes_letters_in_any_order() -> None:
    assert verdict("7.4", ["e", "B", "c"]).state == PASSED


# ------------------------------------------------------------------------------------------ 7.5 Keep it in the family

IN = ", INTERLEAVE IN Shoppers"


def newest(columns: str, behind: str = IN, kind: str = "INDEX") -> str:
    return f"CREATE {kind} N ON Purchases ({columns}){behind}"


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "ddl",
    [
        newest("ShopperId, BoughtAt DESC"),
        newest("ShopperId, BoughtAt DESC") + ";",
        newest("ShopperId ASC, BoughtAt DESC, PurchaseId"),
        newest("ShopperId, BoughtAt DESC", " STORING (Status, Total)" + IN),
        newest("ShopperId, BoughtAt DESC", kind="NULL_FILTERED INDEX"),
        newest("ShopperId, BoughtAt DESC", kind="UNIQUE INDEX"),
    ],
)
def test_7_5_takes_every_index_of_the_family_in_the_order_of_time(ddl: str, seed: int) -> None:
    got = verdict("7.5", ddl, seed)
    assert (got.state, got.points, got.diagnoses) == (PASSED, 2, ())


@pytest.mark.parametrize(
    ("ddl", "points", "said"),
    [
        # (40) one participant (30) five rows, no sort (30) committed, of 2 points
        (newest("ShopperId, BoughtAt DESC", ""), 1.2, "2 participants"),
        (newest("ShopperId, BoughtAt"), 1.4, "does not scan backwards"),
        (newest("ShopperId, Status, BoughtAt DESC"), 1.4, "Another column stands between"),
        (newest("ShopperId, PurchaseId, BoughtAt DESC", ", INTERLEAVE IN Purchases"), 1.4, "stands between"),
        (newest("BoughtAt DESC", ""), 0, "led by time"),
        (newest("BoughtAt DESC, ShopperId", ""), 0, "led by time"),
        (newest("BoughtAt DESC"), 0, "must begin with the whole key"),
        (newest("ShopperId, BoughtAt DESC", ", INTERLEAVE IN Purchases"), 0, "must begin with the whole key"),
        (newest("ShopperId, BoughtAt DESC", " INTERLEAVE IN Shoppers"), 0, "a comma stands before it"),
        (newest("ShopperId DESC, BoughtAt DESC"), 0, "the direction included"),
        (newest("PurchaseId, BoughtAt DESC"), 0.6, "with nobody"),
        (newest("ShopperId", " STORING (BoughtAt)" + IN), 1.4, "No index has BoughtAt in its key"),
    ],
)
def test_7_5_names_the_mistake_and_no_other(ddl: str, points: float, said: str) -> None:
    got = verdict("7.5", ddl)
    assert got.points == pytest.approx(points)
    (diagnosis,) = got.diagnoses
    assert said in diagnosis


def test_7_5_a_second_index_elsewhere_is_a_second_participant() -> None:
    got = verdict("7.5", newest("ShopperId, BoughtAt DESC") + "; CREATE INDEX M ON Purchases (Total)")
    assert got.lines[0].seen == "2 participants"
    assert got.state == PARTIAL


@pytest.mark.parametrize(
    "ddl", ["hello", newest("Foo"), newest("ShopperId, BoughtAt DESC", ", INTERLEAVE IN PARENT Shoppers")]
)
def test_7_5_cannot_read(ddl: str) -> None:
    got = verdict("7.5", ddl)
    assert got.state == UNREADABLE
    assert "line 1, column" in got.message
