"""Exact mode draws and looks up every key, aggregate mode draws the counts: both must give the same law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spanlab.schema import Schema
from spanlab.splits import BitReversed, Sequence, Workload, simulate
from spanlab.splits.arrivals import Router, aggregate_counts
from spanlab.splits.keys import Span, U
from spanlab.splits.model import Model
from spanlab.splits.simulation import Simulation
from spanlab.splits.state import Keyspace
from spanlab.splits.words import key

UNLIMITED = Model(split_writes=1e12, node_writes=1e12, open_commits=1e12)


def arrivals(word, points, *, exact, seed, ticks=200, writes=2_000):
    """Writes of each tick and split, without any limit."""
    space = Keyspace("T", key(word), points=tuple(points))
    simulation = Simulation(
        [space], writes, nodes=8, seconds=ticks, model=UNLIMITED, seed=seed, exact=exact, adapt=False
    )
    while simulation.step < simulation.steps:
        simulation.advance()
    return np.concatenate([block.arrivals for block in simulation.recording.blocks]).astype(float)


RANDOM_POINTS = sorted(int(x) for x in np.random.default_rng(7).integers(0, 2**64 - 1, 30, dtype=U))


@pytest.mark.parametrize(
    ("word", "points"),
    [
        ("uuid4", RANDOM_POINTS),
        ("uuid4", key("uuid4").even(64)),
        ("(shard(16), now)", key("(shard(16), now)").learnt()),
        ("(shard(10, signed), now)", key("(shard(10, signed), now)").learnt()),
        ("(zipf(2000, 0.99), now)", [i << 59 for i in range(1, 32)]),
        ("uuid1", key("uuid1").even(16)),
        ("(null(0.9, ahead(600)), uuid4)", key("(null(0.9, ahead(600)), uuid4)").learnt()),
    ],
)
def test_counts_have_the_same_law(word, points):
    exact, aggregate = (arrivals(word, points, exact=exact, seed=11 + exact) for exact in (True, False))
    totals = np.array([exact.sum(0), aggregate.sum(0)])
    seen = totals.sum(0) > 10
    assert stats.chi2_contingency(totals[:, seen])[1] > 0.001
    busiest = int(totals[0].argmax())
    assert stats.ks_2samp(exact[:, busiest], aggregate[:, busiest])[1] > 0.001
    if "uuid1" not in word:  # the spread of a tick's counts: as a Poisson number's, in both
        for counts in (exact[:, seen], aggregate[:, seen]):
            assert np.mean(counts.var(0) / counts.mean(0)) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("law", [Sequence(), BitReversed()])
def test_counters_agree_to_the_last_write(law):
    start = np.array([0, *(law.even(64) if isinstance(law, BitReversed) else [law.at(1, 1) + (9_000 << 12)])], U)
    first, count = np.arange(10) * 5_000, np.full(10, 5_000)
    span = Span(np.arange(10.0), np.arange(1.0, 11), first, count)
    counted = aggregate_counts(np.random.default_rng(0), law, start, span)
    random = np.random.default_rng(0)
    drawn = [Router(start).counts(law.draw(random, 5_000, Span(0, 1, int(i), 5_000))) for i in first]
    assert (counted == np.array(drawn)).all()


@pytest.mark.parametrize(
    ("word", "writes", "nodes", "minutes"),
    [("uuid4", 20_000, 12, 12), ("(shard(8), now)", 9_000, 8, 10), ("(zipf(5000, 0.9), now)", 9_000, 10, 10)],
)
def test_whole_runs_have_the_same_law(word, writes, nodes, minutes):
    """A cold start with all that follows: final splits and commits, over seeds (Mann and Whitney's test)."""
    outcome = {}
    for exact, seeds in ((True, range(5)), (False, range(100, 116))):
        runs = [
            simulate(word, writes_per_second=writes, nodes=nodes, minutes=minutes, start="cold", seed=seed, exact=exact)
            for seed in seeds
        ]
        outcome[exact] = ([run.summary()["splits"] for run in runs], [run.committed.sum() for run in runs])
    for exact, aggregate in zip(outcome[True], outcome[False], strict=True):
        if len(set(exact) | set(aggregate)) > 1:
            assert stats.mannwhitneyu(exact, aggregate)[1] > 0.001


def test_exact_mode_of_a_table_with_an_index():
    schema = Schema.from_ddl(
        "CREATE TABLE T (Id UUID NOT NULL DEFAULT (NEW_UUID()), At TIMESTAMP NOT NULL) PRIMARY KEY (Id);"
        "CREATE INDEX ByAt ON T (At)"
    )
    load = Workload("T", writes_per_second=4_000, values={"At": "now"})
    exact, aggregate = (simulate(schema, load, minutes=3, exact=exact).summary() for exact in (True, False))
    assert exact["committed"] == pytest.approx(1_800, rel=0.01)
    assert aggregate["committed"] == pytest.approx(1_800, rel=0.01)
    assert exact["p99_ms"] == pytest.approx(aggregate["p99_ms"], rel=0.02)


def test_same_seed_same_run():
    one, other = (
        simulate("(zipf(500, 1.0), now)", writes_per_second=9_000, minutes=5, seed=3, exact=exact).committed
        for exact in (False, False)
    )
    assert (one == other).all()
    assert (simulate("uuid4", writes_per_second=9_000, minutes=1, seed=4).offered != one[:60]).any()


def test_exact_mode_sees_the_flat_ceiling_too():
    for nodes in (3, 30):
        run = simulate("now", writes_per_second=5_000, nodes=nodes, minutes=5, exact=True).summary()
        assert run["committed"] == pytest.approx(1_800, rel=0.001)
        assert run["reasons"] == ["MOVING_HOT_SPOT"]
