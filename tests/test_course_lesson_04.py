"""Lesson 4's figures against the curriculum, its panels' moves, and its challenges against answers nobody listed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanlab as sl
from spanlab.course.challenge import FAILED, NOT_ATTEMPTED, PARTIAL, PASSED, UNREADABLE, Verdict, judge
from spanlab.course.challenges import find_challenge
from spanlab.splits import Run

REASONS = {"a": "HOT_ROW", "b": "MOVING_HOT_SPOT", "c": "LARGE_SCAN_HOT_SPOT", "d": "UNISOLATABLE_HOT_ROW"}


def verdict(challenge_id: str, answer: object, seed: int = 0) -> Verdict:
    challenge = find_challenge(challenge_id)
    assert challenge is not None
    return judge(challenge, answer, seed=seed)


def cold(key: str, rate: Any, nodes: int, minutes: int, **settings: Any) -> Run:
    return sl.simulate(key, writes_per_second=rate, nodes=nodes, minutes=minutes, start="cold", **settings)


def first_full_minute(run: Run, rate: float) -> int:
    return next(minute for minute, got in enumerate(run.per_minute()["committed"], 1) if got >= 0.99 * rate)


# ------------------------------------------------------------------------------------------------ E4.1: the staircase


def test_the_staircase_doubles_every_two_minutes() -> None:
    """E4.1 [P, 5 %]. Where a cut falls is chance, so the higher steps are means over seeds."""
    runs = [cold("uuid4", 50_000, 30, 13, seed=seed) for seed in range(6)]
    steps = np.mean([run.per_minute()["committed"] for run in runs], axis=0)
    wanted = [1.8, 1.8, 3.6, 3.6, 7.2, 7.2, 14.4, 14.4, 25.6, 25.6, 48.5, 48.6, 50.0]
    assert steps == pytest.approx([1_000 * step for step in wanted], rel=0.05)
    counts = [len(runs[0].splits(at=60 * minute - 1)) for minute in (2, 4, 6, 8, 10, 12, 13)]
    assert counts == [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize("rate", [15_000, 20_000, 29_000, 42_000, 45_000, 48_000])
def test_the_rule_of_the_takeaways(rate: int) -> None:
    """Splits needed, next power of two, two minutes for each doubling: where that leaves a sixth of air."""
    doublings = int(np.ceil(np.log2(rate / 1_800)))
    assert rate / (1_800 * 2**doublings) <= 5 / 6
    assert first_full_minute(cold("uuid4", rate, 30, 16), rate) == 2 * doublings + 1


@pytest.mark.parametrize(("rate", "minute"), [(27_000, 11), (50_000, 13)])
def test_little_air_takes_one_doubling_more(rate: int, minute: int) -> None:
    doublings = int(np.ceil(np.log2(rate / 1_800)))
    assert rate / (1_800 * 2**doublings) > 5 / 6
    assert first_full_minute(cold("uuid4", rate, 30, 16), rate) == minute == 2 * doublings + 3


@pytest.mark.parametrize(("delay", "minute"), [(60, 7), (120, 13), (240, 21)])
def test_warm_up_hangs_on_the_delay(delay: int, minute: int) -> None:
    model = sl.model("study", detect_s=delay / 2, apply_s=delay / 2)
    assert first_full_minute(cold("uuid4", 50_000, 30, 24, model=model), 50_000) == pytest.approx(minute, abs=1)


@pytest.mark.parametrize(("rate", "nodes", "minute"), [(20_000, 12, 9), (40_000, 24, 11)])
def test_the_minutes_of_4_p1_and_4_1(rate: int, nodes: int, minute: int) -> None:
    assert first_full_minute(cold("uuid4", rate, nodes, 14), rate) == minute


def test_the_oddity() -> None:
    """32 splits could commit 57,600/s; the hottest of them decides what is committed."""
    uneven = cold("uuid4", 50_000, 30, 12)
    even = sl.simulate("uuid4", writes_per_second=50_000, nodes=30, minutes=2, presplit=32)
    assert uneven.summary()["splits"] == even.summary()["splits"] == 32
    assert uneven.summary()["committed"] == pytest.approx(1_800 / uneven.hottest_share(), rel=0.05)
    assert even.summary()["refused"] == 0
    assert even.hottest_share() == pytest.approx(1 / 32, rel=0.05)


# ------------------------------------------------------------------------------------------ E4.2, E4.3: cuts and tails


def test_a_cut_may_lie_between_any_two_rows() -> None:
    shop = sl.data("shop").schema
    rows = ["Shoppers('C1')", "Purchases('C1', 'O499')", "Purchases('C1', 'O500')", "Shoppers('C2')"]
    assert all(sl.can_cut(shop, one, other) for one, other in pairwise(rows))
    assert not any(sl.can_cut(shop, row, row) for row in rows)


@pytest.mark.parametrize(("ratio", "committed"), [(0.1, 8_790), (0.2, 4_270), (0.3, 2_760), (0.5, 1_870), (1, 1_800)])
def test_fronts(ratio: float, committed: int) -> None:
    """E4.3 [P, 8 %], as in the lesson: the mean of the last ten of twenty minutes."""
    run = sl.simulate(f"ahead({120 / ratio:.6g})", writes_per_second=12_000, nodes=30, minutes=20)
    assert run.committed[-600:].mean() == pytest.approx(committed, rel=0.08)
    assert run.committed[-600:].mean() == pytest.approx(1_800 * max(1, 0.5 / ratio), rel=0.08)


def test_due_dates_of_two_weeks_are_spread() -> None:
    run = sl.simulate("ahead(1209600)", writes_per_second=12_000, nodes=30, minutes=20)
    assert run.committed[-600:].mean() == pytest.approx(12_000, rel=0.01)


# ------------------------------------------------------------------------------------------------- E4.4: rows are atoms


@pytest.mark.parametrize(
    ("rows", "committed", "p99_ms"),
    [(1, 1_800, None), (2, 3_600, None), (4, 7_190, None), (8, 12_000, 30), (16, 12_000, 18.6)],
)
def test_one_row_is_the_atom(rows: int, committed: int, p99_ms: float | None) -> None:
    end = cold(f"ids({rows})", 12_000, 10, 30).summary()
    assert (end["committed"], end["splits"]) == (pytest.approx(committed, rel=0.01), rows)
    assert p99_ms is None or end["p99_ms"] == pytest.approx(p99_ms, rel=0.05)
    assert end["reasons"] == (["HOT_ROW"] if rows <= 8 else [])


# -------------------------------------------------------------------------------------- E4.5: size, and the way back


@pytest.mark.parametrize("key", ["uuid4", "now"])
def test_size_cuts_at_any_load(key: str) -> None:
    run = cold(key, 800, 5, 35, model=sl.model("study", row_bytes=65_536))
    assert run.committed.sum() * 65_536 / 2**30 > 100
    assert len(run.splits()) >= 13
    assert {event.why for event in run.recording.events} == {"size"}
    assert run.refused.sum() == 0
    assert (run.hottest_share() == 1) == (key == "now")


def test_cold_neighbours_are_merged_after_half_an_hour() -> None:
    run = cold("uuid4", lambda second: 10_000 if second < 900 else 50, 8, 60)
    merges = [event.second for event in run.recording.events if event.why == "merge"]
    assert min(merges) == pytest.approx(900 + 30 * 60, abs=20)
    assert len(run.splits()) < len(run.splits(at=900)) / 2


# ------------------------------------------------------------------------------------- E4.6 to E4.8: a known rush


@pytest.mark.parametrize(("parts", "lost"), [(1, 8.7e6), (4, 8.55e6), (10, 3.4e6), (60, 0), (240, 0)])
def test_a_rush(parts: int, lost: float) -> None:
    run = sl.simulate(
        "uuid4",
        writes_per_second=lambda second: 2_000 if second < 300 else 40_000,
        nodes=24,
        minutes=20,
        presplit=parts,
    )
    assert run.refused.sum() == pytest.approx(lost, rel=0.05)


def test_split_points_buy_a_counter_nothing() -> None:
    run = sl.simulate("seq", writes_per_second=12_000, nodes=10, minutes=5, presplit=300)
    assert run.summary()["committed"] == pytest.approx(1_800, rel=0.01)


def test_the_autoscaler_sees_nothing() -> None:
    """E4.8 [P]: ten nodes, a time key: mean CPU 5 %, far from the target of 65 %."""
    assert sl.simulate("now", writes_per_second=12_000, nodes=10).summary()["cpu_mean"] == pytest.approx(
        0.05, abs=0.005
    )


# ------------------------------------------------------------------------------------------------------- the panels


def test_4a_answers_the_prediction() -> None:
    panel = sl.panel("4A").set(offered=20_000, nodes=12)
    committed = [panel.set(minute=minute).scene.headline[1] for minute in range(1, 21)]
    assert next(minute for minute, got in enumerate(committed, 1) if got >= 0.99 * 20_000) == 9


def test_4a_stops_where_the_tries_say() -> None:
    panel = sl.panel("4A").set(key="(shard(16), ulid)", offered=12_000, nodes=30)
    got = {minute: panel.set(minute=minute).scene for minute in (6, 7, 20)}
    assert got[6].headline[1] < 11_000 < 11_880 < got[7].headline[1]
    assert got[20].sentence.startswith("Minute 20: 16 splits")
    panel.set(key="now", start=300)
    heats = [cell["heat"] for cell in panel.scene.chart["datasets"]["splits"]]
    assert (heats.count("idle"), heats.count("hot: 100")) == (299, 1)


@pytest.mark.parametrize(
    ("ratio", "committed", "within"), [(0, 12_000, 0.01), (0.3, 2_860, 0.02), (0.55, 1_800, 0.05), (1.5, 1_800, 0.01)]
)
def test_4b_does_what_the_tries_say(ratio: float, committed: int, within: float) -> None:
    assert sl.panel("4B").set(ratio=ratio).scene.headline[1] == pytest.approx(committed, rel=within)


# ---------------------------------------------------------------------------------------------------- the challenges


@pytest.mark.parametrize(
    ("minute", "points"), [(11, 2), (10, 2), (12, 2), (9, 1), (13, 1), (8, 0), (14, 0), (0, 0), (11.0, 2)]
)
def test_minutes_of_4_1(minute: float, points: float) -> None:
    assert verdict("4.1", minute).points == points


@pytest.mark.parametrize("minute", [1, 2, 3, 5, 9, 13, 23, 24, 44, 45, 46, 47])
def test_each_way_of_reckoning_4_1_wrong_is_named(minute: int) -> None:
    assert len(verdict("4.1", minute).diagnoses) == 1


@pytest.mark.parametrize("case", REASONS)
@pytest.mark.parametrize("word", [*REASONS.values(), "UNSPECIFIED"])
def test_each_wrong_reason_of_4_2_is_named(case: str, word: str) -> None:
    assert len(verdict("4.2", {**REASONS, case: word}).diagnoses) == (word != REASONS[case])


def test_4_2_names_both_of_two_mistakes() -> None:
    said = verdict("4.2", {**REASONS, "a": "LARGE_SCAN_HOT_SPOT", "d": "MOVING_HOT_SPOT"}).diagnoses
    assert [sentence[0] for sentence in said] == ["a", "d"]


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries({case: st.sampled_from([*REASONS.values(), "UNSPECIFIED"]) for case in REASONS}))
def test_each_reason_of_4_2_earns_a_quarter(answer: dict[str, str]) -> None:
    right = sum(answer[case] == REASONS[case] for case in REASONS)
    assert verdict("4.2", answer).points == pytest.approx(0.75 * right)


def test_4_2_reads_words_as_people_write_them() -> None:
    assert verdict("4.2", {case: f" {word.lower()} " for case, word in REASONS.items()}).state == PASSED
    assert verdict("4.2", {"a": "HOT_ROW", "b": ...}).points == 0.75
    assert verdict("4.2", {**REASONS, "a": "COLD"}).state == UNREADABLE
    assert verdict("4.2", {**REASONS, "e": "HOT_ROW"}).state == UNREADABLE
    assert verdict("4.2", {}).state == NOT_ATTEMPTED


@pytest.mark.parametrize("rows", [6, 7, 8, 12, 16])
def test_rows_of_4_3_that_carry_the_load(rows: int) -> None:
    assert verdict("4.3", rows).state == PASSED


@pytest.mark.parametrize(("rows", "points"), [(1, 0), (4, 0), (5, 1.6), (17, 1.4), (100, 1.4), (10**12, 1.4)])
def test_partial_credit_of_4_3(rows: int, points: float) -> None:
    """(50) committed (20) p99 (30) few rows that commit it all, of 2 points."""
    assert verdict("4.3", rows).points == pytest.approx(points)


def test_4_3_measured_as_the_curriculum_says() -> None:
    """[P]: five rows commit 8,965, with a long queue; six bring the p99 to 31 ms, eight to 21."""
    five, six, eight = (verdict("4.3", rows).lines for rows in (5, 6, 8))
    assert float(five[0].seen.split()[0].replace(",", "")) == pytest.approx(8_965, rel=0.01)
    assert float(five[1].seen.split()[4]) > 150
    assert float(six[1].seen.split()[4]) == pytest.approx(31, rel=0.05)
    assert float(eight[1].seen.split()[4]) == pytest.approx(21, rel=0.05)


@pytest.mark.parametrize("rows", [0, -1, "8", 8.5, None])
def test_4_3_is_no_number_of_rows(rows: object) -> None:
    assert verdict("4.3", rows).state in (UNREADABLE, NOT_ATTEMPTED)


def lines(*values: str) -> list[str]:
    return [f"TABLE SaleOrders ('{value}')" for value in values]


@pytest.mark.parametrize(
    "answer",
    [
        lines("4", "8", "c"),
        lines("40", "7fffffff", "bfffffff-ffff-4fff-bfff-ffffffffffff"),
        lines("c0000000", "40000000", "80000000"),
        "\n".join(lines("4", "8", "c")),
        [" TABLE  SaleOrders( '4' ) ", *lines("8", "c")],
        lines("3f", "80", "c1"),
    ],
)
def test_any_file_that_makes_four_equal_parts_is_as_good(answer: object) -> None:
    got = verdict("4.4", answer)
    assert (got.state, got.points) == (PASSED, 3)


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        # (30) the lines can be read (50) four equal parts (20) the right table, of 3 points
        (["TABLE SaleOrders (4)", "TABLE SaleOrders (8)", "TABLE SaleOrders (c)"], 2.1),
        (["TABLE Orders ('4')", "TABLE Orders ('8')", "TABLE Orders ('c')"], 1.5),
        ([*lines("4", "8"), "TABLE SaleOrders (c)"], 2.7),
        (lines("8"), 1.5),
        (lines("4", "8", "C"), 2.25),
        (lines("4", "8", "c", "f"), 1.5),
        (lines("0", "4", "8"), 1.5 + 1.5 * 2 / 4),
        (lines("4", "8", "12"), 1.88),  # 1.5 and a quarter of 1.5, rounded
        (lines("4…", "8…", "c…"), 1.5 + 1.5 * 2 / 4),  # like 5, 9 and d
        ([line + ";" for line in lines("4", "8", "c")], 2.1),
        # the quarters are right, and nothing else: half
        (["SaleOrders ('4')", "SaleOrders ('8')", "SaleOrders ('c')"], 1.5),
        (["4", "8", "c"], 1.5),
        ([f"ALTER TABLE SaleOrders SPLIT AT ('{cut}')" for cut in "48c"], 1.5),
        (["ALTER TABLE SaleOrders SPLIT AT ('4')"], 0),
        (["somewhere in the middle"], 0),
    ],
)
def test_each_mistake_of_4_4_costs_its_own_points(answer: list[str], points: float) -> None:
    got = verdict("4.4", answer)
    assert got.points == pytest.approx(points)
    assert got.state == (PARTIAL if points else FAILED)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 255), min_size=3, max_size=3, unique=True), st.integers(0, 1))
def test_shares_of_4_4_are_those_of_hexadecimal_numbers(cuts: list[int], seed: int) -> None:
    borders = [0, *sorted(cuts), 256]
    shares = [(limit - start) / 256 for start, limit in pairwise(borders)]
    if any(abs(abs(share - 0.25) - 0.02) < 0.012 for share in shares):
        return  # so near the tolerance that the sample decides
    right = sum(abs(share - 0.25) <= 0.02 for share in shares)
    points = 3 * (0.5 + 0.5 * right / 4)
    assert verdict("4.4", lines(*(f"{cut:02x}" for cut in cuts)), seed).points == pytest.approx(points, abs=0.01)


def test_4_4_speaks_of_the_mistake_at_hand_alone() -> None:
    """Each of these makes one mistake, so one sentence is said."""
    for wrong in (
        lines("0", "4", "8"),
        lines("4", "8", "12"),
        lines("5", "9", "d"),
        lines("3", "6", "9"),
        lines("4…", "8…", "c…"),
        lines("4", "8"),
        lines("4", "8", "C"),
        [line + ";" for line in lines("4", "8", "c")],
        ["4", "8", "c"],
        [f"ALTER TABLE SaleOrders SPLIT AT ('{cut}')" for cut in "48c"],
    ):
        assert len(verdict("4.4", wrong).diagnoses) == 1, wrong


@pytest.mark.parametrize("answer", [17, [1, 2, 3], {"a": 1}, ["", " "]])
def test_4_4_is_no_file(answer: object) -> None:
    assert verdict("4.4", answer).state == UNREADABLE
