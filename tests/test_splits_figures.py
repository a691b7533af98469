"""The figures that the curriculum prints, within its tolerance: throughput 2 %, p99 10 %, counts exact, unless said."""

from __future__ import annotations

import re

import numpy as np
import pytest

from spanlab.splits import HotRow, Mix, Uuid4, model, simulate, sweep
from spanlab.splits.heat import HeatMap

THROUGHPUT, P99 = 0.02, 0.10


def summary(key, writes, nodes=10, **arguments):
    return simulate(key, writes_per_second=writes, nodes=nodes, **arguments).summary()


def near(expected, tolerance):
    return pytest.approx(expected, rel=tolerance)


def options(*shares):
    """A column of a few values with these shares."""
    return "pick(" + ", ".join(f"v{i:02}:{share}" for i, share in enumerate(shares)) + ")"


# ------------------------------------------------------------------------------------------------------- lesson 1


@pytest.mark.parametrize("key", ["now", "seq"])
@pytest.mark.parametrize("nodes", [3, 30, 300])
def test_growing_key_commits_the_same_on_any_number_of_nodes(key, nodes):
    run = summary(key, 12_000, nodes)
    assert run["committed"] == near(1_800, 0.001)
    assert run["p99_ms"] == near(409, P99)
    assert run["busy_servers"] == 1
    assert run["reasons"] == ["MOVING_HOT_SPOT"]


@pytest.mark.parametrize(
    ("nodes", "committed", "tolerance"),
    [
        (1, 3_500, THROUGHPUT),
        (2, 6_990, THROUGHPUT),
        (3, 10_200, 0.04),
        (4, 12_000, THROUGHPUT),
        (10, 12_000, THROUGHPUT),
    ],
)
def test_random_key_uses_the_nodes(nodes, committed, tolerance):
    got = summary("uuid4", 12_000, nodes)["committed"]
    assert got == near(committed, tolerance)
    assert 0.95 * min(12_000, 3_500 * nodes) <= got <= 3_500 * nodes * 1.0001


def test_random_key_on_ten_nodes():
    run = summary("uuid4", 12_000)
    assert run["p99_ms"] == near(16.5, P99)
    assert run["hottest_share"] == pytest.approx(0.016, abs=0.001)
    assert run["busy_servers"] == 10
    assert run["refused"] == 0


@pytest.mark.parametrize(("writes", "p99"), [(500, 17.6), (1_000, 20), (1_500, 30), (1_700, 73), (1_900, 409)])
def test_growing_key_passes_small_tests(writes, p99):
    assert summary("now", writes)["p99_ms"] == near(p99, 0.15 if writes == 1_700 else P99)


def test_words_and_numbers_of_the_formula():
    """Where the wait ends: open commits / commits per second, and the base above it."""
    assert summary("now", 12_000)["p99_ms"] > 640 / 1_800 * 1_000
    assert summary("now", 12_000, model=model(open_commits=10_000))["p99_ms"] == near(5_700, 0.02)


# ------------------------------------------------------------------------------------------------------- lesson 2


@pytest.mark.parametrize(
    ("key", "committed", "tolerance", "p99"),
    [
        ("uuid4", 12_000, THROUGHPUT, 16.5),
        ("bit_reversed", 12_000, THROUGHPUT, 16.5),
        ("ulid", 1_800, THROUGHPUT, 409),
        ("uuid7", 1_800, THROUGHPUT, 409),
        ("seq", 1_800, THROUGHPUT, 409),
        ("uuid1", 2_020, 0.05, 405),
    ],
)
def test_lookalikes(key, committed, tolerance, p99):
    run = summary(key, 12_000)
    assert run["committed"] == near(committed, tolerance)
    assert run["p99_ms"] == near(p99, P99)


# ------------------------------------------------------------------------------------------------------- lesson 3


def test_shard_staircase():
    """Shards in front of a ULID, 12,000/s on 10 nodes: min(12,000, 1,800 n)."""
    rows = sweep("ulid", writes_per_second=12_000, nodes=10, shards=[1, 2, 4, 6, 7, 8, 10, 12, 16, 32, 64])
    committed = {row["shards"]: row["committed"] for row in rows}
    expected = {1: 1_800, 2: 3_600, 4: 7_190, 6: 10_760, 7: 12_000, 8: 12_000, 16: 12_000}
    assert {n: committed[n] for n in expected} == {n: near(x, THROUGHPUT) for n, x in expected.items()}
    p99 = {row["shards"]: row["p99_ms"] for row in rows}
    printed = {7: 95, 8: 30, 10: 22, 12: 20, 16: 18.6, 32: 17.1, 64: 16.5}
    assert {n: p99[n] for n in printed} == {n: near(x, P99) for n, x in printed.items()}
    assert [row["scan_ranges"] for row in rows] == [row["shards"] for row in rows]


def test_entity_before_time():
    assert summary("(now, ids(100000))", 12_000)["committed"] == near(1_800, THROUGHPUT)
    run = summary("(ids(100000), now)", 12_000)
    assert run["committed"] == near(12_000, THROUGHPUT)
    assert run["p99_ms"] == near(16.5, P99)


@pytest.mark.parametrize(
    ("lead", "committed"),
    [
        (options(0.5, 0.5), 3_600),
        (options(*[0.2] * 5), 8_980),
        (options(0.4, 0.3, 0.15, 0.1, 0.05), 4_500),
        ("ids(12)", 12_000),
    ],
)
def test_few_leading_values(lead, committed):
    assert summary(f"({lead}, now)", 12_000, minutes=30)["committed"] == near(committed, THROUGHPUT)


@pytest.mark.parametrize(("share", "committed"), [(0.1, 12_000), (0.2, 8_480), (0.5, 3_540)])
def test_celebrity(share, committed):
    """The celebrity shares a split with a few quiet users, so a little less than 1,800 / share is committed."""
    got = summary(f"(celebrity(20000, {share}), now)", 12_000, minutes=30)["committed"]
    assert got == near(committed, 0.03)
    assert got == near(min(12_000, 1_800 / share), 0.08)


def test_descending_cures_nothing():
    run = summary("now desc", 12_000)
    assert run["committed"] == near(1_800, THROUGHPUT)
    assert run["p99_ms"] == near(409, P99)


@pytest.mark.parametrize(("shards", "committed"), [(24, 42_000), (32, 50_000), (44, 50_000)])
def test_uneven_placement(shards, committed):
    """24 shards on 22 nodes: two servers carry two shards, more than a node can write."""
    assert summary(f"(shard({shards}), ulid)", 50_000, 22)["committed"] == near(committed, THROUGHPUT)


@pytest.mark.parametrize(("shards", "p99"), [(13, 33), (14, 27), (15, 24.4), (16, 22.8), (20, 20), (32, 18)])
def test_shards_for_20_000(shards, p99):
    run = summary(f"(shard({shards}), ulid)", 20_000, 12)
    assert run["committed"] == near(20_000, THROUGHPUT)
    assert run["p99_ms"] == near(p99, P99)


# ------------------------------------------------------------------------------------------------------- lesson 4


def test_cold_table_doubles_every_two_minutes():
    """The stairs of an empty UUID table. From 16 splits on, where the cuts fall is chance: 10 % instead of 5."""
    run = simulate("uuid4", writes_per_second=50_000, nodes=30, minutes=20, start="cold")
    stairs = np.array(run.per_minute()["committed"]) / 1_000
    assert stairs[:8] == near(np.array([1.8, 1.8, 3.6, 3.6, 7.2, 7.2, 14.4, 14.4]), 0.05)
    assert stairs[8:12] == near(np.array([25.6, 25.6, 48.5, 48.6]), 0.10)
    assert stairs[12:] == near(50.0, 0.01)
    counts = [len(run.splits(at=60 * minute + 30)) for minute in range(13)]
    assert counts == [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64] or counts[:11] == [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32]


@pytest.mark.parametrize(("tau", "minute"), [(60, 7), (120, 13), (240, 21)])
def test_reaction_time_decides_the_warm_up(tau, minute):
    """One doubling more or less is chance: five or six of them are needed, as the cuts fall."""
    figures = model(detect_s=tau / 2, apply_s=tau / 2)
    run = simulate("uuid4", writes_per_second=50_000, nodes=30, minutes=30, start="cold", model=figures)
    reached = next(m for m, x in enumerate(run.per_minute()["committed"], 1) if x >= 0.99 * 50_000)
    assert abs(reached - minute) <= tau / 60


@pytest.mark.parametrize(("ratio", "committed"), [(0.1, 8_790), (0.2, 4_270), (0.3, 2_760), (0.5, 1_870), (1.0, 1_800)])
def test_drifting_front(ratio, committed):
    """Servers in use = max(1, w / (2 v tau)) for a front of width w that moves with v; tau = 120 s. The cuts come in
    waves, so the mean of ten minutes is compared."""
    run = simulate(f"ahead({120 / ratio})", writes_per_second=12_000, nodes=10, minutes=30)
    got = run.committed[-600:].mean()
    assert got == near(committed, 0.08)
    assert got == near(min(12_000, 1_800 * max(1, 1 / (2 * ratio))), 0.10)


@pytest.mark.parametrize(("rows", "committed"), [(1, 1_800), (2, 3_600), (4, 7_190), (8, 12_000), (16, 12_000)])
def test_marker_rows(rows, committed):
    run = summary(f"ids({rows})", 12_000, minutes=30, start="cold")
    assert run["committed"] == near(committed, THROUGHPUT)
    if rows == 1:
        assert run["reasons"] == ["HOT_ROW"]
    if rows >= 8:
        assert run["p99_ms"] == near({8: 30, 16: 18.6}[rows], P99)


@pytest.mark.parametrize(("rows", "p99"), [(5, 212), (6, 31), (8, 21)])
def test_nine_thousand_stamps(rows, p99):
    run = summary(f"ids({rows})", 9_000, 8, minutes=30, start="cold")
    assert run["committed"] == near(9_000, THROUGHPUT)
    assert run["p99_ms"] == near(p99, 0.25 if rows == 5 else P99)


@pytest.mark.parametrize(
    ("start", "lost"), [({"start": "cold"}, 8.7e6), ({"presplit": 10}, 3.4e6), ({"presplit": 60}, 0)]
)
def test_flash_sale_needs_split_points(start, lost):
    """At minute 5 the load goes from 2,000 to 40,000/s, on 24 nodes."""
    run = simulate("uuid4", writes_per_second=lambda s: 2_000 if s < 300 else 40_000, nodes=24, minutes=25, **start)
    assert (run.offered - run.committed).sum() == pytest.approx(lost, rel=0.08, abs=1_000)


def test_split_points_do_not_help_a_counter():
    assert summary("seq", 50_000, 30, presplit=300)["committed"] == near(1_800, THROUGHPUT)


def test_warm_up_on_24_nodes():
    run = simulate("uuid4", writes_per_second=40_000, nodes=24, minutes=20, start="cold")
    assert next(m for m, x in enumerate(run.per_minute()["committed"], 1) if x >= 39_600) in (10, 11, 12)


def test_sixteen_shards_cold_are_full_in_minute_seven():
    run = simulate("(shard(16), ulid)", writes_per_second=12_000, nodes=10, minutes=15, start="cold")
    assert next(m for m, x in enumerate(run.per_minute()["committed"], 1) if x >= 11_880) in (6, 7, 8)


def test_autoscaler_does_not_even_start():
    assert summary("now", 12_000)["cpu_mean"] == pytest.approx(0.05, abs=0.005)


# ------------------------------------------------------------------------------------------------------- lesson 5


def heat(key, history="0h", **arguments):
    run = simulate(key, writes_per_second=50_000, nodes=30, minutes=15, start="cold", seed=1, **arguments)
    return run.key_visualizer(row_ranges=128, column_s=10, history=history)


def test_young_monotonic_table_is_a_diagonal():
    picture = heat("now")
    assert picture.brightest[0] == 0
    assert picture.brightest[-1] == 127
    assert len(set(picture.brightest)) >= 80
    assert np.all(np.diff(picture.brightest) >= 0)
    assert str(picture) == "Brightest range changes 89 times in 90 columns: the hot place moves."


def test_age_flattens_the_diagonal():
    picture = heat("now", history="5h")
    assert picture.brightest[0] in (120, 121, 122)
    assert picture.brightest[-1] == 127
    assert len(set(picture.brightest)) <= 10
    assert set(heat("now", history="90d").brightest) == {127}


def test_counters_age_as_well():
    assert set(heat("seq", history="90d").brightest) <= {126, 127}
    young = heat("seq", history="0h").brightest
    assert young[0] == 0
    assert young[-1] >= 126
    assert len(set(young)) >= 80
    assert heat("seq desc", history="5h").brightest[-1] == 0
    assert heat("bit_reversed", history="5h").brightest_share <= 0.02
    assert heat("(shard(4), seq)", history="90d").brightest_share == pytest.approx(0.25, rel=0.1)


def test_even_shards_and_stripe():
    assert heat("uuid4").brightest_share <= 0.02
    assert heat("(shard(16), ulid)").brightest_share == pytest.approx(1 / 16, rel=0.1)
    stripe = heat(Mix((0.2, 0.8), (HotRow(), Uuid4())))
    assert len(set(stripe.brightest)) == 1
    assert stripe.brightest_share == pytest.approx(0.2, rel=0.1)
    assert str(stripe).endswith("the hot place stays.")


def painted(*columns):
    """A map of twelve ranges; a column is a text of twelve digits, the writes of each range."""
    writes = np.array([[int(digit) for digit in column] for column in columns], float).T
    return HeatMap(writes, ["T"] * 12, ["<begin>"] * 12, 60.0)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["999000000000", "000999000000", "000000999000", "000000000999"], "moves"),  # a fourth each: exactly 4 times
        (["999900000000", "000099990000", "000000009999"], "no single"),  # a third each: exactly 3 times, too coarse
        (["950000000000", "059000000000", "000590000000"], "moves"),
        (["010000090000", "000100090000", "000000191000"], "stays"),
        (["000009800000", "000008900000", "000009900000"], "stays"),  # the brightest of two flickers, the place stays
        (["000009900000", "000000990000", "000000099000"], "moves"),
        (["900000900000", "090000090000", "009000009000"], "no single"),  # two places, both move
        (["900000000003", "900000000003", "900000000004"], "stays"),  # the second is not half as bright
        (["111112111111", "121111111111", "111111111121"], "no single"),
        (["000000000000", "000000000000", "000009000000"], "stays"),  # nothing was written in the first two
        (["111111111111", "111111111111", "000009000000"], "no single"),  # in most columns there is none
        (["000000000000"], "no single"),
    ],
)
def test_what_a_map_says_of_its_hot_place(columns, said):
    (sentence,) = re.findall("(moves|stays|no single)", str(painted(*columns)))
    assert sentence == said


@pytest.mark.parametrize("key", ["now", "uuid1", "seq desc"])
@pytest.mark.parametrize(("minutes", "column_s"), [(2, 30), (5, 30), (5, 10), (15, 30), (15, 10), (30, 60)])
def test_the_place_of_a_growing_key_moves_however_few_the_columns_are(key, minutes, column_s):
    """Of M columns each fills 1/M of the ranges: all of the writes, whatever their part of one range is."""
    run = simulate(key, writes_per_second=12_000, nodes=10, minutes=minutes)
    assert str(run.key_visualizer(64, column_s)).endswith("the hot place moves.")


def test_uuid1_sweeps_again_and_again():
    """Two sweeps of 429.5 s in 15 minutes: the brightest range climbs and falls back."""
    rows = np.array(heat("uuid1").brightest)
    assert (np.diff(rows) < -40).sum() == 2


def test_split_statistics_name_the_moving_hot_spot():
    run = simulate("now", writes_per_second=12_000, nodes=10)
    last = run.split_stats("MINUTE")[-1]
    assert last["SPLIT_LIMIT"] == "<end>"
    assert last["CPU_USAGE_SCORE"] == 100
    assert last["UNSPLITTABLE_REASONS"] == ["MOVING_HOT_SPOT"]
    assert len({row["SPLIT_START"] for row in run.split_stats("MINUTE")}) == 1
    assert simulate("uuid4", writes_per_second=12_000, nodes=10).split_stats("MINUTE") == []


# ------------------------------------------------------------------------------------------------------ labs A, B

BUSY_CLIENTS = model(open_commits=10_000)


def test_lab_a_the_stalled_sale():
    run = summary("now", 50_000, 22, model=BUSY_CLIENTS)
    assert run["committed"] == near(1_800, THROUGHPUT)
    assert run["p99_ms"] == near(5_721, 0.02)
    assert run["busy_servers"] == 1
    assert summary("now", 50_000, 60, model=BUSY_CLIENTS)["committed"] == near(1_800, THROUGHPUT)


def test_lab_a_random_id():
    run = summary("uuid4", 50_000, 22, presplit=220, model=BUSY_CLIENTS)
    assert run["committed"] == near(50_000, THROUGHPUT)
    assert run["p99_ms"] == near(16.6, P99)
    assert run["cpu_mean"] == pytest.approx(0.65, abs=0.01)
    assert summary("uuid4", 50_000, 15, presplit=150)["cpu_mean"] == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize(
    ("shards", "committed", "p99"),
    [(16, 28_700, None), (24, 42_850, None), (32, 50_000, 35), (44, 50_000, 21), (64, 50_000, 18.7)],
)
def test_lab_a_shards(shards, committed, p99):
    """With 10,000 connections 24 shards commit 42,850; the curriculum prints the 42,000 that 640 connections give."""
    run = summary(f"(shard({shards}), now, uuid4)", 50_000, 22, model=BUSY_CLIENTS)
    assert run["committed"] == near(committed, THROUGHPUT)
    if p99:
        assert run["p99_ms"] == near(p99, P99)


def test_lab_a_a_bot_among_the_shoppers():
    """Behind the id of a shopper with 10 % of all orders, time is a tail."""
    assert summary("(celebrity(2000000, 0.1), now)", 50_000, 22, model=BUSY_CLIENTS)["committed"] == near(17_000, 0.10)


@pytest.mark.parametrize(
    ("shards", "committed", "p99"),
    [(16, 28_700, None), (28, 49_800, 138), (30, 50_000, 62), (32, 50_000, 35), (40, 50_000, 23), (64, 50_000, 18.7)],
)
def test_lab_b_shards_for_50_000(shards, committed, p99):
    run = summary(f"(shard({shards}), ulid)", 50_000, 30)
    assert run["committed"] == near(committed, THROUGHPUT)
    if p99:
        assert run["p99_ms"] == near(p99, 0.25 if shards == 28 else P99)
