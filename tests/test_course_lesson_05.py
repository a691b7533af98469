"""Lesson 5: the figures that it teaches, the moves of its panel, and answers that nobody listed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.charts.heat import data_url, png, shades
from spanlab.course.challenge import FAILED, PASSED, RECORDED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.course.challenges.lesson_05 import Watched
from spanlab.panels import panel
from spanlab.panels.tables import run_table
from spanlab.splits import Run
from spanlab.splits.heat import HeatMap


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


def run_of(key: str, writes_per_second: int = 12_000) -> Run:
    return sl.simulate(key, writes_per_second=writes_per_second, nodes=10, minutes=15)


# --------------------------------------------------------------------------------------------- figures of the lesson


@pytest.fixture(scope="module")
def by_time() -> Run:
    return run_of("now")


def test_a_young_time_key_is_a_diagonal(by_time: Run) -> None:
    """Curriculum E5.1: over 90 columns and 128 rows the hottest row moves 0 -> 127; 80 or more are hottest once."""
    seen = by_time.key_visualizer(history="0h")
    assert seen.writes.shape == (128, 90)
    assert (seen.brightest[0], seen.brightest[-1]) == (0, 127)
    assert len(set(seen.brightest)) >= 80
    assert seen.brightest == sorted(seen.brightest)


@pytest.mark.parametrize(("history", "first", "most"), [("5h", 121, 10), ("90d", 127, 1)])
def test_age_flattens_it(by_time: Run, history: str, first: int, most: int) -> None:
    """Curriculum E5.2."""
    rows = by_time.key_visualizer(history=history).brightest
    assert (rows[0], rows[-1]) == (first, 127)
    assert len(set(rows)) <= most


@pytest.fixture(scope="module")
def maps() -> dict[str, HeatMap]:
    words = ("uuid4", "(shard(16), ulid)", "celebrity(100_000, 0.2)", "uuid1")
    return {word: run_of(word).key_visualizer() for word in words}


def test_a_random_key_is_grain(maps: dict[str, HeatMap]) -> None:
    assert maps["uuid4"].brightest_share <= 0.02


def test_sixteen_shards_are_sixteen_lines(maps: dict[str, HeatMap]) -> None:
    seen = maps["(shard(16), ulid)"]
    assert seen.brightest_share == pytest.approx(1 / 16, rel=0.05)
    for column in (20, 45, 70):  # each shard writes into one row, or over the edge of two
        bright = seen.writes[:, column] > 0.005 * seen.writes[:, column].sum()
        runs = int(bright[0]) + sum(later and not earlier for earlier, later in pairwise(bright))
        assert runs == 16


def test_a_hot_row_is_a_stripe(maps: dict[str, HeatMap]) -> None:
    seen = maps["celebrity(100_000, 0.2)"]
    assert len(set(seen.brightest)) == 1
    assert seen.brightest_share == pytest.approx(0.2, rel=0.05)


def test_uuid1_starts_again_when_its_low_clock_runs_over(maps: dict[str, HeatMap]) -> None:
    rows = maps["uuid1"].brightest
    falls = [column for column, (before, after) in enumerate(pairwise(rows), 1) if after < before - 60]
    runs_over = 2**32 / 10_000_000  # seconds: 32 bits of a clock of 100 ns
    assert falls == [round(runs_over / 10), round(2 * runs_over / 10)]


HITS = """
CREATE TABLE Hits (HitId STRING(36) DEFAULT (GENERATE_UUID()), HitAt TIMESTAMP) PRIMARY KEY (HitId);
CREATE INDEX ByHitAt ON Hits (HitAt)"""


def test_a_bright_index_above_a_calm_table_and_its_cure() -> None:
    """Curriculum E5.4 and E5.5, with the index of E5.4 as the culprit."""
    hits = sl.Schema.from_ddl(HITS)
    load = sl.Workload("Hits", writes_per_second=12_000, values={"HitAt": "now"})
    db = sl.Database(hits)
    ask = (
        "SELECT SPLIT_START, SPLIT_LIMIT, CPU_USAGE_SCORE, AFFECTED_TABLES, UNSPLITTABLE_REASONS "
        "FROM SPANNER_SYS.SPLIT_STATS_TOP_10MINUTE WHERE CPU_USAGE_SCORE >= 50"
    )
    sick = sl.simulate(hits, load, nodes=10)
    seen = sick.key_visualizer()
    assert list(dict.fromkeys(seen.bands)) == ["ByHitAt", "Hits"]
    index, table = seen.band("ByHitAt"), seen.band("Hits")
    assert (index.brightest[0], index.brightest[-1]) == (0, 63)
    assert table.brightest_share < 0.03
    db.observe(sick)
    ((start, *rest),) = db.query(ask).rows
    assert start.startswith("ByHitAt(")
    assert rest == ["<end>", 100, ["Hits"], ["MOVING_HOT_SPOT"]]
    assert sick.summary()["cpu_max"] == pytest.approx(1_800 / 3_500, rel=0.03)
    db.observe(sl.simulate(hits.apply("DROP INDEX ByHitAt"), load, nodes=10))
    assert db.query(ask).rows == []


def test_the_time_key_is_one_row_of_the_statistics() -> None:
    """Curriculum E5.5: limit <end>, score 100, a moving hot spot."""
    db = sl.Database(sl.Schema())
    db.observe(sl.simulate("now", writes_per_second=12_000, nodes=10))
    rows = db.query(
        "SELECT SPLIT_LIMIT, CPU_USAGE_SCORE, UNSPLITTABLE_REASONS FROM SPANNER_SYS.SPLIT_STATS_TOP_10MINUTE"
    ).rows
    assert rows == [("<end>", 100, ["MOVING_HOT_SPOT"])]


def test_one_bad_minute_is_the_score_of_ten() -> None:
    run = sl.simulate("ids(1)", writes_per_second=lambda second: 1_700 if 120 <= second < 180 else 360, nodes=10)
    scores = {name: [row["CPU_USAGE_SCORE"] for row in run.split_stats(name)] for name in ("MINUTE", "10MINUTE")}
    assert scores["MINUTE"] == scores["10MINUTE"] == [pytest.approx(100 * 1_700 / 1_800, abs=2)]
    minutes = [rate / 18 for rate in run.per_minute()["committed"]]
    assert sum(minutes) / 10 == pytest.approx(27.5, abs=0.5)


def test_a_quiet_table_draws_the_same_diagonal(by_time: Run) -> None:
    quiet = run_of("now", writes_per_second=12)
    pictures = [shades(run.key_visualizer().writes) for run in (quiet, by_time)]
    assert [picture.max() for picture in pictures] == [255, 255]
    assert [len(set(picture.argmax(axis=0))) > 80 for picture in pictures] == [True, True]
    assert quiet.split_stats("MINUTE") == []
    assert quiet.summary()["p99_ms"] == pytest.approx(15, abs=0.5)


# ------------------------------------------------------------------------------------------------ moves of the panel


def drawn(settings_: dict[str, object], minutes: int = 15) -> HeatMap:
    """The map of those settings, if panel 5A draws it: 64 ranges by 30 s."""
    shown = panel("5A").set(minutes=minutes, **settings_)
    name, history = str(settings_.get("workload", "hits_by_time")), str(settings_.get("history", "0h"))
    seen = run_table(name, 12_000, 10, minutes).key_visualizer(64, 30, history)
    assert shown.scene.chart["datasets"]["picture0"][0]["url"] == data_url(png(shades(seen.writes)))
    return seen


def test_try_1_the_diagonal_becomes_a_line_at_the_lower_edge() -> None:
    young, old = drawn({}), drawn({"history": "90d"})
    assert young.brightest == sorted(set(young.brightest))  # another range in each column, ever further down
    assert (young.brightest[0], young.brightest[-1] >= 62) == (0, True)  # 30 s fill two of the 64 ranges
    assert set(old.brightest) == {63}


def test_try_2_a_hot_row_is_a_stripe() -> None:
    assert len(set(drawn({"workload": "hot_row"}).brightest)) == 1


def test_try_3_two_bands() -> None:
    shown = panel("5A").set(workload="hits_with_index")
    keys = [row["key"] for row in shown.scene.chart["datasets"]["keys0"]]
    assert keys[0].startswith("ByHitAt")
    assert sum(key.startswith("Hits") for key in keys) >= 1
    seen = drawn({"workload": "hits_with_index"})
    index, table = seen.band("ByHitAt"), seen.band("Hits")
    assert index.brightest == sorted(index.brightest)
    assert index.brightest_share > 0.4
    assert table.brightest_share < 0.05


def test_try_4_slants_that_begin_anew() -> None:
    seen = drawn({"workload": "hits_by_uuid1"}, minutes=30)
    assert sum(after < before - 30 for before, after in pairwise(seen.brightest)) == 30 * 60 // (2**32 / 1e7) == 4


MOVES, STAYS, NONE = "the hot place moves.", "the hot place stays.", "no single hot place."


@pytest.mark.parametrize("minutes", [5, 15, 30])
@pytest.mark.parametrize("history", ["0h", "90d"])
@pytest.mark.parametrize(
    ("workload", "young", "old"),
    [
        ("hits_by_time", MOVES, STAYS),
        ("hits_by_uuid", NONE, NONE),
        ("hits_by_shard", NONE, NONE),
        ("hits_by_uuid1", MOVES, MOVES),
        ("hot_row", STAYS, STAYS),
        ("hits_by_user", NONE, NONE),  # the giants are several
        ("hits_with_index", MOVES, STAYS),
    ],
)
def test_panel_5a_says_what_each_picture_shows(workload: str, young: str, old: str, history: str, minutes: int) -> None:
    shown = panel("5A").set(workload=workload, history=history, minutes=minutes)
    assert shown.scene.sentence.endswith(young if history == "0h" else old)


# ---------------------------------------------------------------------------------------------------- the challenges


@pytest.mark.parametrize("challenge", ["5.P1", "5.P2"])
def test_predictions_are_recorded(challenge: str) -> None:
    assert verdict(challenge, "a").state == RECORDED


PATTERNS = {"p1": "sequential", "p2": "even", "p3": "hot_range", "p4": "roving", "p5": "sudden"}
CURES = {"r1": "key", "r2": "spread_row", "r3": "query", "r4": "index"}


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries({name: st.sampled_from(sorted(PATTERNS.values())) for name in PATTERNS}))
def test_each_picture_of_5_1_earns_a_fifth(answer: dict[str, str]) -> None:
    right = sum(answer[name] == PATTERNS[name] for name in PATTERNS)
    assert verdict("5.1", answer).points == pytest.approx(3 * right / 5)


@pytest.mark.parametrize(("challenge", "right"), [("5.1", PATTERNS), ("5.2", CURES)])
def test_each_wrong_word_gets_a_diagnosis_of_its_own_field(challenge: str, right: dict[str, str]) -> None:
    words = {*right.values(), *({"nodes"} if challenge == "5.2" else ())}
    for name in right:
        for word in words - {right[name]}:
            got = verdict(challenge, {**right, name: word})
            assert [said for said in got.diagnoses if said.startswith((f"{name}:", "nodes:"))], (name, word)
            assert len(got.diagnoses) == 1, (name, word, got.diagnoses)


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries({name: st.sampled_from([*CURES.values(), "nodes"]) for name in CURES}))
def test_each_row_of_5_2_earns_a_quarter(answer: dict[str, str]) -> None:
    got = verdict("5.2", answer)
    assert got.points == pytest.approx(3 * sum(answer[name] == CURES[name] for name in CURES) / 4)
    assert (
        any(said.startswith("nodes: no") for said in got.diagnoses)
        or "nodes" not in answer.values()
        or (len(got.diagnoses) == 3)
    )


@pytest.mark.parametrize(
    ("challenge", "answer"),
    [("5.1", {"p1": "diagonal"}), ("5.1", ["even"]), ("5.2", {"r5": "key"}), ("5.3", {"score": "97"}), ("5.4", 50)],
)
def test_another_kind_of_answer_is_unreadable(challenge: str, answer: object) -> None:
    got = verdict(challenge, answer)
    assert (got.state, got.points) == (UNREADABLE, 0)
    assert "fault of the course" not in got.message


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ({"score": 97, "reasons": ["large_scan_hot_spot", "hot_row"]}, 2),
        ({"score": 97.0, "reasons": ("HOT_ROW", "LARGE_SCAN_HOT_SPOT", "HOT_ROW")}, 2),
        ({"score": 97}, 1),
        ({"score": 97, "reasons": ["HOT_ROW", "LARGE_SCAN_HOT_SPOT", "MOVING_HOT_SPOT"]}, 1),
        ({"score": 53, "reasons": ["HOT_ROW", "LARGE_SCAN_HOT_SPOT"]}, 1),
        ({"score": 0, "reasons": []}, 0),
    ],
)
def test_ten_minutes(answer: object, points: float) -> None:
    assert verdict("5.3", answer).points == points


def test_the_history_of_5_4_is_what_the_documentation_says_of_the_three_tables() -> None:
    """The longer tables: MAX of the scores, UNION of the reasons (facts.md 1.4); nothing cold is listed."""
    watched = Watched(seed=3)
    minutes = watched.split_stats("MINUTE")
    for row in watched.split_stats("HOUR"):
        own = [m for m in minutes if (m["SPLIT_START"], m["SPLIT_LIMIT"]) == (row["SPLIT_START"], row["SPLIT_LIMIT"])]
        assert row["CPU_USAGE_SCORE"] == max(m["CPU_USAGE_SCORE"] for m in own)
        assert set(row["UNSPLITTABLE_REASONS"]) == {why for m in own for why in m["UNSPLITTABLE_REASONS"]}
    assert {m["CPU_USAGE_SCORE"] for m in minutes} >= {50, 100}  # warm begins at 50
    assert all(50 <= m["CPU_USAGE_SCORE"] <= 100 for m in minutes)


COLUMNS = "SPLIT_START, SPLIT_LIMIT, UNSPLITTABLE_REASONS"
TABLE = "SPANNER_SYS.SPLIT_STATS_TOP_10MINUTE"


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {COLUMNS} FROM {TABLE} WHERE CPU_USAGE_SCORE >= 50 ORDER BY CPU_USAGE_SCORE DESC",
        f"SELECT {COLUMNS} FROM {TABLE} ORDER BY CPU_USAGE_SCORE DESC, INTERVAL_END",
        f"SELECT * FROM {TABLE} WHERE CPU_USAGE_SCORE > 49 ORDER BY CPU_USAGE_SCORE DESC",
        f"select split_start a, split_limit b, unsplittable_reasons c from {TABLE} order by cpu_usage_score desc",
    ],
)
def test_any_query_that_lists_them_is_as_good(sql: str, seed: int) -> None:
    got = verdict("5.4", sql, seed)
    assert (got.state, got.points) == (PASSED, 2), got.lines


@pytest.mark.parametrize(
    ("sql", "points"),
    [
        # curriculum 5.4: (40) right table (40) the right rows (20) order, of 2 points
        (f"SELECT {COLUMNS} FROM {TABLE}", 1.6),
        (f"SELECT {COLUMNS} FROM {TABLE} WHERE CPU_USAGE_SCORE = 100 ORDER BY CPU_USAGE_SCORE DESC", 1.2),
        (f"SELECT {COLUMNS} FROM {TABLE.replace('10', '')} ORDER BY CPU_USAGE_SCORE DESC", 1.2),
        (f"SELECT {COLUMNS} FROM {TABLE} WHERE CPU_USAGE_SCORE > 50 ORDER BY CPU_USAGE_SCORE DESC", 1.2),
        (f"SELECT {COLUMNS} FROM {TABLE} ORDER BY CPU_USAGE_SCORE", 1.6),
        (f"SELECT {COLUMNS} FROM {TABLE} WHERE CPU_USAGE_SCORE > 100", 0.8),
        (f"SELECT SPLIT_START FROM {TABLE} ORDER BY CPU_USAGE_SCORE DESC", 0.8),
    ],
)
def test_partial_credit_of_a_query(sql: str, points: float) -> None:
    assert verdict("5.4", sql).points == pytest.approx(points)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("", "Without ORDER BY"),
        (" ORDER BY INTERVAL_END", "Without ORDER BY"),
        (" ORDER BY CPU_USAGE_SCORE", "add DESC"),
    ],
)
def test_ascending_is_another_mistake_than_no_order(order: str, said: str) -> None:
    (diagnosis,) = verdict("5.4", f"SELECT {COLUMNS} FROM {TABLE}{order}").diagnoses
    assert said in diagnosis


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT X FROM Nowhere", f"SELECT NOPE FROM {TABLE}", "("])
def test_a_query_that_spanner_would_refuse_is_unreadable(sql: str) -> None:
    got = verdict("5.4", sql)
    assert (got.state, got.points) == (UNREADABLE, 0)
    assert "fault of the course" not in got.message


def test_a_query_of_something_else_earns_nothing() -> None:
    assert verdict("5.4", "SELECT 1").state == FAILED
    assert verdict("5.4", "SELECT TABLE_NAME, TABLE_NAME, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES").state == FAILED
