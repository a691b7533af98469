"""Serving, splitting, merging, moving: what must hold in every run, and single mechanisms one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.splits import BitReversed, Uuid4, model, simulate, sweep
from spanlab.splits import progress as progress_module
from spanlab.splits.keys import Span, U
from spanlab.splits.latency import base_ms, lognormal_quantile, wait_ms
from spanlab.splits.model import Model
from spanlab.splits.serving import Capacity, serve
from spanlab.splits.simulation import Simulation
from spanlab.splits.splitter import best_move
from spanlab.splits.state import CommitKind, Keyspace, Splits

KEYS = [
    "uuid4",
    "now",
    "seq",
    "bit_reversed",
    "uuid1",
    "(shard(7), ulid)",
    "(zipf(300, 1.1), now)",
    "ids(5)",
    "now desc",
]


def check_always(run):
    """What holds whatever the load: conservation, ceilings, order, and no NaN."""
    refused_or_done = run.committed.sum() + run.refused.sum() + run.waiting
    assert refused_or_done == pytest.approx(run.offered.sum(), rel=1e-9, abs=1e-6)
    for values in (run.offered, run.committed, run.refused, run.cpu, run.server_writes):
        assert np.isfinite(values).all()
        assert (values >= -1e-6).all()
    assert run.cpu.max() <= 1 + 1e-6
    for block in run.recording.blocks:
        layout = block.layout
        for low, high in itertools.pairwise(layout.first):
            start = layout.start[low:high]
            assert start[0] == 0
            assert (start[1:] > start[:-1]).all()
        assert (layout.leader < run.nodes).all()
        assert (block.done <= run.model.split_writes * (1 + 1e-5)).all()
    latency = run.commit_latency_ms(0.99)
    assert np.isfinite(latency).all()
    assert (latency >= lognormal_quantile(run.model.commit_ms, 0.99) - 1e-9).all()
    assert all(value == value for value in run.summary().values())


@settings(max_examples=40, deadline=None)
@given(
    word=st.sampled_from(KEYS),
    writes=st.sampled_from([0, 1, 300, 1_799, 1_801, 9_000, 60_000]),
    nodes=st.integers(1, 12),
    start=st.sampled_from(["warm", "cold"]),
    seed=st.integers(0, 99),
    clients=st.sampled_from([1, 640, 50_000]),
)
def test_what_always_holds(word, writes, nodes, start, seed, clients):
    figures = model(open_commits=clients)
    check_always(
        simulate(word, writes_per_second=writes, nodes=nodes, minutes=4, start=start, seed=seed, model=figures)
    )


def test_what_always_holds_in_exact_mode_and_with_a_changing_rate():
    check_always(simulate("uuid4", writes_per_second=lambda s: 100 * s, nodes=3, minutes=3, start="cold", exact=True))
    check_always(simulate("seq", writes_per_second=lambda s: 0 if s < 60 else 4_000, nodes=3, minutes=3))


def test_conservation_to_the_billionth():
    for word, writes in (("uuid4", 50_000), ("now", 12_000), ("(zipf(1000, 0.99), now)", 50_000)):
        run = simulate(word, writes_per_second=writes, nodes=10, start="cold", seed=3)
        lost = run.offered.sum() - run.committed.sum() - run.refused.sum() - run.waiting
        assert abs(lost) <= 1e-9 * run.offered.sum()


# ----------------------------------------------------------------------------------------------------------- serving


def splits_of(sizes, nodes=4, leader=None):
    spaces = [Keyspace(f"S{i}", Uuid4(), points=tuple(Uuid4().even(size))) for i, size in enumerate(sizes)]
    splits = Splits(spaces, nodes, np.random.default_rng(0))
    if leader is not None:
        splits.leader = np.array(leader)
    return splits


def test_queue_is_lindleys():
    """Without shortage, each queue is max(0, queue + arrivals - ceiling), tick by tick."""
    random = np.random.default_rng(2)
    splits, arrivals = splits_of([5]), random.poisson(95, (50, 5)).astype(float)
    splits.queue = np.array([0.0, 10, 0, 400, 3])
    served = serve(splits, arrivals, Capacity(100.0, np.full(4, 1e9), np.array([1e9])))
    queue = splits.queue
    for tick in range(50):
        queue = np.maximum(0, queue + arrivals[tick] - 100)
        assert served.queue[tick] == pytest.approx(queue)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.integers(0, 400), min_size=4, max_size=4),
    waiting=st.lists(st.integers(0, 50), min_size=4, max_size=4),
    node=st.sampled_from([80.0, 150.0, 1e9]),
)
def test_admission_fills_the_pool_and_no_more(rows, waiting, node):
    """At most 200 rows wait; less only where everything was admitted. No split and no node does more than it can."""
    splits = splits_of([4], nodes=2, leader=[0, 0, 1, 1])
    splits.queue = np.array(waiting, float)
    arrivals = np.array([rows], float)
    capacity = Capacity(100.0, np.full(2, node), np.array([200.0]))
    served = serve(splits, arrivals, capacity)
    part, left, done = served.admitted[0], served.queue[0], served.done[0]
    assert left + done == pytest.approx(splits.queue + part * arrivals[0])
    assert left.sum() <= 200 * (1 + 1e-5) or part == 0
    assert part == 1 or left.sum() >= 200 * (1 - 1e-5)
    assert (done <= 100 + 1e-9).all()
    assert (np.bincount(splits.leader, done, 2) <= node * (1 + 1e-9)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32), st.sampled_from([20.0, 90.0, 400.0]))
def test_a_few_hot_splits_are_served_as_the_general_case_does(hot, seed, mean):
    """A trickle on a ninth split makes the general case, without changing anything else."""
    random = np.random.default_rng(seed)
    arrivals, queue = np.zeros((20, 9)), np.zeros(9)
    arrivals[:, :hot], queue[:hot] = random.poisson(mean, (20, hot)), random.integers(0, 50, hot)
    capacity = Capacity(100.0, np.full(9, 1e9), np.array([640.0]))
    few, all_of_them = splits_of([9], nodes=9), splits_of([9], nodes=9)
    few.queue, all_of_them.queue = queue.copy(), queue.copy()
    got = serve(few, arrivals, capacity)
    want = serve(all_of_them, arrivals + 1e-9, capacity)
    assert got.queue == pytest.approx(want.queue, abs=0.02)
    assert got.admitted == pytest.approx(want.admitted, abs=1e-4)


# ----------------------------------------------------------------------------------------------------------- latency


@pytest.mark.parametrize(("rate", "p99"), [(750, 3.56), (1_500, 14.5), (1_700, 45.1)])
def test_wait_is_the_queue_laws(rate, p99):
    """An event simulation of one server (1,800/s) gives these p99 waits, in ms."""
    ticks = np.full((1, 1), float(rate))
    nothing = np.zeros((1, 1))
    got = wait_ms(ticks, nothing, ticks, np.array([0]), [CommitKind(1.0, (1.0,))], 1_800, 0.99)[0]
    assert got == pytest.approx(p99, rel=0.03)


def test_overload_wait_is_the_pool_over_the_ceiling():
    """640 open commits behind one split: an event simulation gives 394 ms at p99."""
    p99 = simulate("now", writes_per_second=12_000, nodes=10).commit_latency_ms(0.99)[-60:].mean()
    assert p99 - 15 == pytest.approx(394, rel=0.03)


def test_little_law_on_saturated_nodes():
    """All clients wait: mean wait = open commits / throughput, also where CPU and not a split is the limit."""
    run = simulate("uuid4", writes_per_second=12_000, nodes=1)
    committed = run.committed[-60:].mean()
    assert committed == pytest.approx(3_500, rel=0.01)
    assert run.commit_latency_ms(0.5)[-60:].mean() - 5 == pytest.approx(640 / committed * 1_000, rel=0.1)


def test_base_latency():
    figures = Model()
    assert base_ms(figures, 0.0, 0.5) == pytest.approx(5.0)
    assert base_ms(figures, 0.0, 0.99) == pytest.approx(15.0)
    assert base_ms(figures, 1.0, 0.5) == pytest.approx(12.0)
    assert base_ms(figures, 1.0, 0.99) == pytest.approx(25.0)
    assert 15.0 < base_ms(figures, 0.5, 0.99) < 25.0


# ------------------------------------------------------------------------------------------ splitting by size, merging


def test_size_cuts_at_any_load():
    """100 GiB in one table: at least 13 splits of 8 GiB, and nothing is refused (facts.md 1.3)."""
    figures = model(row_bytes=1_048_576)
    minutes = 100 * 1_024 / 50 / 60
    for key in ("uuid4", "now", "bit_reversed"):
        run = simulate(key, writes_per_second=50, nodes=3, minutes=minutes, start="cold", model=figures)
        assert run.summary()["splits"] >= 13
        assert {event.why for event in run.recording.events} == {"size"}
        assert run.refused.sum() == 0


def test_size_cuts_do_not_move_the_tail():
    run = simulate("now", writes_per_second=400, nodes=3, minutes=20, start="cold", model=model(row_bytes=1e6))
    assert run.summary()["splits"] > 20
    assert run.hottest_share() == pytest.approx(1.0)


def test_one_row_is_never_cut():
    run = simulate("hot_row", writes_per_second=1_000, nodes=3, minutes=30, start="cold", model=model(row_bytes=1e6))
    assert {event.why for event in run.recording.events} <= {"size"}
    assert run.hottest_share() == pytest.approx(1.0)


def test_cold_neighbours_are_merged():
    """30,000/s for 20 minutes, then 200/s: after half an hour the splits are joined, pair after pair."""
    run = simulate(
        "uuid4", writes_per_second=lambda s: 30_000 if s < 1_200 else 200, nodes=20, minutes=120, start="cold"
    )
    most = max(len(run.splits(at=60 * minute)) for minute in range(0, 120, 5))
    assert most >= 24
    assert run.summary()["splits"] <= 8  # 200/s in all, and a merged split must stay under 90/s
    check_always(run)


def test_split_points_are_kept_until_they_expire():
    """Spanner keeps split points for their lifetime, then it may merge them away (facts.md 1.5.3)."""
    kept = simulate("uuid4", writes_per_second=100, nodes=2, minutes=90, presplit=16)
    assert kept.summary()["splits"] == 16
    expired = simulate("uuid4", writes_per_second=100, nodes=2, minutes=90, presplit=16, expire_days=10 / 24 / 60)
    assert expired.summary()["splits"] <= 2
    assert min(event.second for event in expired.recording.events) >= 1_800


@pytest.mark.parametrize("word", ["ids(2)", "ids(3)"])
def test_hot_rows_are_isolated(word):
    """Splits at k and k + 1 isolate single hot rows (facts.md 1.2.5)."""
    run = simulate(word, writes_per_second=12_000, nodes=10, minutes=30, start="cold")
    hot = [split for split in run.splits() if split["writes_per_second"] > 1_000]
    assert len(hot) == int(word[4])
    assert {split["reason"] for split in hot} == {"HOT_ROW"}


def test_popular_rows_in_a_narrow_range_cannot_be_isolated():
    """Single rows under one prefix, one of them with half of the split's load: no fair cut is found."""
    run = simulate("zipf(2000, 1.1)", writes_per_second=12_000, nodes=10)
    assert "UNISOLATABLE_HOT_ROW" in run.reasons


def test_leaders_do_not_move_for_a_lonely_hot_split():
    load, leader = np.array([1_800.0, 10, 10]), np.array([0, 1, 1])
    assert best_move(load, leader, np.bincount(leader, load, 3)) is None
    load, leader = np.array([900.0, 700, 10]), np.array([0, 0, 1])
    assert best_move(load, leader, np.bincount(leader, load, 3)) == (0, 2)


def test_effect_of_a_cut_comes_after_the_delay():
    run = simulate(
        "uuid4", writes_per_second=5_000, nodes=5, minutes=6, start="cold", model=model(detect_s=30, apply_s=90)
    )
    assert run.recording.events[0].second == pytest.approx(120, abs=10)
    assert len(run.splits(at=100)) == 1


# ----------------------------------------------------------------------------------------------- statistics and views


def test_ten_minutes_are_the_maximum_and_the_union():
    run = simulate("seq", writes_per_second=lambda s: 1_500 if s < 180 else 200, nodes=3, minutes=10)
    minutes = run.split_stats("MINUTE")
    assert [row["INTERVAL_END"].minute for row in minutes] == [1, 2, 3]
    (ten,) = run.split_stats("10MINUTE")
    assert ten["CPU_USAGE_SCORE"] == max(row["CPU_USAGE_SCORE"] for row in minutes)
    assert set(ten["UNSPLITTABLE_REASONS"]) == {why for row in minutes for why in row["UNSPLITTABLE_REASONS"]}
    assert ten["AFFECTED_TABLES"] == ["T"]
    assert run.split_stats("HOUR")[0]["CPU_USAGE_SCORE"] == ten["CPU_USAGE_SCORE"]


def test_split_names_are_truncated_keys():
    names = [split["split_start"] for split in simulate("uuid4", writes_per_second=10, minutes=1, presplit=4).splits()]
    assert names == ["<begin>", 'T("40000000")', 'T("80000000")', 'T("c0000000")']


def test_server_writes_add_up_to_what_is_committed():
    run = simulate("uuid4", writes_per_second=12_000, nodes=10)
    assert len(run.server_writes) == 10
    assert run.server_writes.sum() == pytest.approx(run.committed[-60:].mean(), rel=1e-6)


def test_heat_map_counts_what_is_committed():
    run = simulate("now", writes_per_second=12_000, nodes=10)
    picture = run.key_visualizer(row_ranges=50, column_s=20)
    assert picture.writes.shape[1] == 30
    assert picture.writes.sum() * 20 == pytest.approx(run.committed.sum(), rel=0.001)
    assert picture.labels[0] == "<begin>"


# --------------------------------------------------------------------------------------- bad arguments, interruption


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"writes_per_second": -1}, "writes_per_second"),
        ({"writes_per_second": float("nan")}, "writes_per_second"),
        ({"writes_per_second": "many"}, "writes_per_second"),
        ({"writes_per_second": None}, "writes_per_second"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": 0.5}, "processing units"),
        ({"nodes": -3}, "nodes"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": 1e9}, "minutes"),
        ({"start": "lukewarm"}, "start"),
        ({"presplit": 0}, "presplit"),
        ({"presplit": 2_000, "nodes": 10}, "50 a node"),
        ({"presplit": 4, "expire_days": 31}, "expire_days"),
        ({"model": "studdy"}, "Did you mean study"),
        ({"seed": -1}, "seed"),
        ({"history": "soon"}, "history"),
        ({"history": "1000d"}, "history"),
        ({"writes_per_second": lambda s: -1}, "writes_per_second"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        simulate("now", **{"writes_per_second": 100, **arguments})


def test_bad_figures_are_named():
    with pytest.raises(ValueError, match="split_writes"):
        model("study", split_writes=0)
    with pytest.raises(ValueError, match="Did you mean split_writes"):
        model("study", split_write=5)
    with pytest.raises(ValueError, match="load belongs"):
        simulate("now", 5, writes_per_second=3)
    with pytest.raises(ValueError, match="Schema, a key"):
        simulate(3, writes_per_second=3)
    run = simulate("now", writes_per_second=10, minutes=1)
    for call in (
        lambda: run.commit_latency_ms(1.0),
        lambda: run.split_stats("DAY"),
        lambda: run.key_visualizer(row_ranges=5_000),
        lambda: run.key_visualizer(column_s=0),
        lambda: run.key_visualizer().band("U"),
    ):
        with pytest.raises(ValueError, match=r" is |no band"):
            call()


def test_sweep_wants_one_list():
    with pytest.raises(ValueError, match="one argument"):
        sweep("now", writes_per_second=10, nodes=3)
    with pytest.raises(ValueError, match="Did you mean nodes"):
        sweep("now", writes_per_second=10, node=[3, 4])
    with pytest.raises(ValueError, match="shard count"):
        sweep("now", writes_per_second=10, shards=[0])


def test_sweep_prints_a_table():
    rows = sweep("now", writes_per_second=5_000, nodes=[1, 3], minutes=1)
    assert [row["committed"] for row in rows] == [1_800, 1_800]
    assert [row["idle_servers"] for row in rows] == [0, 2]
    # one split of 1,800 writes/s on a node that takes 3,500; the other two nodes are idle
    assert [row["cpu_max"] for row in rows] == pytest.approx([1_800 / 3_500] * 2, abs=0.02)
    assert [row["cpu_mean"] for row in rows] == pytest.approx([1_800 / 3_500, 600 / 3_500], abs=0.02)
    assert set(rows[0]) - {"nodes", "idle_servers", "scan_ranges"} == {
        *simulate("now", writes_per_second=5_000, nodes=1, minutes=1).summary()
    } - {"reasons"}
    lines = repr(rows).splitlines()
    assert lines[0].split()[:2] == ["nodes", "offered"]
    assert len(lines) == 3
    assert len({len(line) for line in lines}) == 1
    assert repr(rows.only("p99_ms")).splitlines()[0].split() == ["nodes", "p99_ms"]
    with pytest.raises(ValueError, match="Did you mean p99_ms"):
        rows.only("p99")
    by_function = sweep(lambda n: f"(shard({n}), now)", writes_per_second=5_000, shards=[2, 4], minutes=1)
    assert [row["scan_ranges"] for row in by_function] == [2, 4]


def test_run_is_one_line():
    run = simulate("now", writes_per_second=12_000, nodes=10)
    assert repr(run) == (
        f"Run of 10 min on 10 nodes (model study): 1,800 of {run.summary()['offered']:,} writes/s committed, "
        f"p99 {run.summary()['p99_ms']} ms, 8 splits; MOVING_HOT_SPOT"
    )


def test_interrupted_run_returns_what_was_simulated(monkeypatch):
    advance, calls = Simulation.advance, itertools.count()

    def stopped(simulation):
        if next(calls) == 3:
            raise KeyboardInterrupt
        advance(simulation)

    monkeypatch.setattr(Simulation, "advance", stopped)
    run = simulate("uuid4", writes_per_second=5_000, nodes=5, minutes=60, start="cold")
    assert run.interrupted
    assert 0 < len(run.committed) < 3_600
    check_always(run)


def test_long_runs_show_progress(monkeypatch):
    started = progress_module.started
    monkeypatch.delenv("SPANLAB_BARS", raising=False)
    monkeypatch.setattr(progress_module, "PATIENCE_S", -1.0)
    bars = []
    monkeypatch.setattr(progress_module, "started", lambda *what: bars.append(what) or started(*what))
    run = simulate("uuid4", writes_per_second=5_000, nodes=5, minutes=2)
    assert not run.interrupted
    assert len(run.committed) == 120
    assert bars == [("Simulating", 12)]
    monkeypatch.setenv("SPANLAB_BARS", "off")
    simulate("uuid4", writes_per_second=5_000, nodes=5, minutes=2)
    assert len(bars) == 1


def test_counters_start_where_the_schema_says():
    assert BitReversed(start=7).values(7, 1)[0] == 8070450532247928832
    drawn = BitReversed(start=7).draw(np.random.default_rng(0), 1, Span(0, 1))
    assert drawn[0] == U(8070450532247928832) + U(1 << 63)


@pytest.mark.parametrize("word", ["bit_reversed", "bit_reversed desc", "(shard(4), bit_reversed)"])
@pytest.mark.parametrize("exact", [False, True])
def test_a_counter_read_backwards_scatters_wherever_it_stands_in_the_key(word, exact):
    summary = simulate(word, writes_per_second=9_000, nodes=8, minutes=3, exact=exact).summary()
    assert summary["refused"] == 0
    assert summary["hottest_share"] < 0.05
