"""Expectations that others published: tests of other systems' splitters, and what Spanner's documentation says.

Systems with range splits of their own (CockroachDB, TiKV, FoundationDB, HBase) publish what their splitters must do in
their tests. The numbers are theirs, the tests are ours. Where the model meets an expectation in another way, the test
says so:

- CockroachDB's simulator ends with 9 or 10 ranges for Zipf keys, this one with 6 to 12: fewer cuts balance as well,
  since candidates are compared with thousands of sampled keys, not with twenty counters.
- CockroachDB's TestDecider wants the key z itself, this splitter takes any key in (a, z]: both part a from z.
- HBase splits (aaa, aab) at aaa\\x80, this splitter may answer aab: both part the two.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from spanlab.splits import BitReversed, HotRow, Key, Now, Sequence, Uuid1, Uuid4, model, simulate
from spanlab.splits.model import Model
from spanlab.splits.observe import Run
from spanlab.splits.simulation import Simulation
from spanlab.splits.splitter import choose_split_point, shortest_between
from spanlab.splits.state import Keyspace

U = np.uint64


class FixedZipf(Key):
    """`n` fixed keys 0 … n - 1, the popular ones first: how other systems' load generators make keys."""

    def __init__(self, n: int, theta: float) -> None:
        weights = np.arange(1, n + 1.0) ** -theta
        self.n, self.under = n, np.concatenate([[0], np.cumsum(weights / weights.sum())])

    def draw(self, random, n, span, step=1):
        return np.minimum(np.searchsorted(self.under, random.random(n), "right") - 1, self.n - 1).astype(U)

    def share(self, below, span):
        return self.under[np.minimum(below, U(self.n)).astype(int)]


def run(key, nodes, writes, seconds, figures, *, points=(), seed=0, adapt=True, exact=False, leader=None):
    """A table of one key, with a model of another system's figures."""
    space = Keyspace("T", key, points=tuple(points), tables=("T",))
    simulation = Simulation(
        [space], writes, nodes=nodes, seconds=seconds, model=figures, seed=seed, adapt=adapt, exact=exact
    )
    if leader is not None:
        simulation.splits.leader = np.array(leader)
    while simulation.step < simulation.steps:
        simulation.advance()
    return Run(simulation.recording)


def split_counts(run):
    """The number of splits in each control step."""
    return [len(block.layout.start) for block in run.recording.blocks for _ in block.load]


def pick(early, late, figures=None):
    figures = figures or Model(least_keys=20)
    return choose_split_point(np.sort(np.array(early, U)), np.sort(np.array(late, U)), 0, None, figures)


# --------------------------------------------------------------------------- which key a splitter should choose


def zipf_keys(random, n, items, theta=0.99):
    """Gray's Zipf generator, as YCSB and CockroachDB use it."""
    rank = np.arange(1, 10_001)
    beyond = (items ** (1 - theta) - 10_000 ** (1 - theta)) / (1 - theta)
    zeta = (rank**-theta).sum() + beyond if items > 10_000 else (np.arange(1, items + 1) ** -theta).sum()
    zeta2 = 1 + 0.5**theta
    eta = (1 - (2 / items) ** (1 - theta)) / (1 - zeta2 / zeta)
    u = random.random(n)
    far = (items * (eta * u - eta + 1) ** (1 / (1 - theta))).astype(np.int64)
    return 1 + np.where(u * zeta < 1, 0, np.where(u * zeta < zeta2, 1, far))


def test_zeta_is_ycsbs():
    """ScrambledZipfianGenerator.ZETAN for 10^10 items, and the table of CockroachDB's zipfgenerator_test."""
    head = (np.arange(1.0, 10_001) ** -0.99).sum()
    assert head + (1e10**0.01 - 1e4**0.01) / 0.01 == pytest.approx(26.469028, rel=1e-4)
    assert (np.arange(1.0, 21) ** -0.99).sum() == pytest.approx(3.64309060779367, rel=1e-12)
    assert head == pytest.approx(10.2243614596, rel=1e-9)


@pytest.mark.parametrize(
    ("items", "n", "heaviest", "length", "ranges", "published"),
    [
        (10**10, 13_000, 1, 1_000, 0.95, (1, 4.65, 26.64)),
        (10**10, 10_000, 10, 1_000, 0.95, (0, 4.91, 25.35)),
        (10**5, 10_000, 10, 1_000, 0.95, (0, 4.03, 17.28)),
        (1_000, 10_000, 10, 100, 0.95, (1, 4.74, 19.71)),
        (1_000, 10_000, 10, 1_000, 0.0, (0, 5.83, 25.43)),
        (10**10, 10_000, 0, 1_000, 0.5, (0, 4.96, 21.54)),
    ],
)
def test_imbalance_of_the_chosen_key(items, n, heaviest, length, ranges, published):
    """CockroachDB pkg/kv/kvserver/split: no key found in % of the cases, average and largest imbalance in %."""
    random = np.random.Generator(np.random.SFC64(2022))
    imbalance, none = [], 0
    for _ in range(40):
        start = zipf_keys(random, n, items)
        end = np.where(random.random(n) < ranges, start + random.integers(1, length + 1, n), start)
        weight = random.integers(1, heaviest + 1, n) if heaviest else np.maximum(1, zipf_keys(random, n, 1_000))
        both, weights = np.stack([start, end], 1).ravel(), np.repeat(weight / 2, 2)
        halves = [slice(0, n), slice(n, None)]
        early, late = (random.choice(both[half], 2_000, p=weights[half] / weights[half].sum()) for half in halves)
        code, _ = pick(early, late, Model(balance=0.25))
        if code is None:
            none += 1
        else:
            imbalance.append(abs(1 - 2 * weights[both < code].sum() / weights.sum()) * 100)
    assert none / 40 * 100 <= published[0]
    assert np.mean(imbalance) <= published[1]
    assert np.max(imbalance) <= published[2]


def test_two_keys_are_parted_and_one_is_not():
    a, z, q = 97, 122, 113
    code, _ = pick([a, z] * 100, [a, z] * 100)
    assert a < code <= z  # CockroachDB TestDecider
    assert pick([q] * 200, [q] * 200) == (None, "HOT_ROW")  # TestDecider: one key is hammered
    assert pick([97, 98] * 50, [97, 98] * 50)[0] == 98  # TiKV test_recorder


def test_midpoint():
    """CockroachDB's simulator, TestSplitDecider: 6 of ten keys; any key that leaves 40 to 60 % on each side will do."""
    keys = [10, 1, 9, 2, 8, 3, 4, 7, 5, 6]
    code, _ = pick(keys * 30, keys * 30)
    assert 0.4 <= np.mean(np.array(keys) < code) <= 0.6


def test_even_split_points_of_hbase():
    """HBase TestRegionSplitter, UniformSplit."""
    law = Uuid4()
    assert law.even(2) == [0x8000000000000000]
    assert law.even(3) == [0x5555555555555555, 0xAAAAAAAAAAAAAAAA]
    assert law.even(16) == [i << 60 for i in range(1, 16)]


def test_shortest_key_between():
    assert shortest_between(0x10 << 56, 0x30 << 56) == 0x20 << 56
    low, high = 0x616161 << 40, 0x616162 << 40
    assert low < shortest_between(low, high) <= high


# ------------------------------------------------------------------------------------ how many splits come out

OTHER = {"split_writes": 1e6, "detect_s": 10, "apply_s": 0, "control_s": 5, "node_writes": 1e9, "open_commits": 1e9}


@pytest.mark.parametrize(("theta", "fewest", "most"), [(0, 4, 8), (1.1, 6, 12)])
def test_splits_of_a_steady_load(theta, fewest, most):
    """CockroachDB's simulator, example_splitting: 10,000/s with a threshold of 2,500/s make 6 (Zipf 1.1: 9 or 10)
    ranges, which then stay as they are."""
    figures = Model(**OTHER, warm_score=0.0025, balance=0.25)
    counts = [split_counts(run(FixedZipf(10_000, theta), 1, 10_000, 300, figures, seed=seed)) for seed in range(10)]
    assert fewest <= np.median([count[-1] for count in counts]) <= most
    assert np.mean([len(set(count[-6:])) == 1 for count in counts]) >= 0.9


def test_sequential_load_is_not_split():
    """CockroachDB roachtest splits/load/sequential: one range is expected after a minute, four are allowed."""
    figures = Model(**OTHER, warm_score=0.0001, balance=0.25)
    assert all(split_counts(run(Sequence(1), 3, 3_000, 60, figures, seed=s, exact=True))[-1] <= 4 for s in range(5))


def test_uniform_load_is_split():
    """roachtest splits/load/uniform: at least eleven ranges after ten minutes."""
    figures = Model(**OTHER, warm_score=0.0001, balance=0.25)
    assert all(split_counts(run(Uuid4(), 3, 3_000, 600, figures, seed=s))[-1] >= 11 for s in range(3))


# ---------------------------------------------------------------------------------------------------- rebalancing


def test_skewed_leaders_are_spread():
    """CockroachDB's simulator, example_rebalancing: seven even ranges on three of seven nodes; in the last minute the
    busiest node has at most 1.15 times the mean."""
    figures = Model(split_writes=1e6, node_writes=3_500, open_commits=1e9)
    skewed = [0, 0, 0, 0, 1, 1, 5]
    got = run(
        FixedZipf(7_000, 0), 7, 7_000, 180, figures, points=range(1_000, 7_000, 1_000), adapt=False, leader=skewed
    )
    assert ((got.cpu.max(axis=1) / got.cpu.mean(axis=1))[-6:] <= 1.15).all()


def test_hot_leaders_are_dealt_out():
    """TiKV's placement driver, simulator case hot-write: the leaders' counts differ by 2 at most."""
    law = Uuid4()
    got = run(law, 30, 30_000, 180, Model(split_writes=1e6), points=law.even(30), adapt=False, leader=[0] * 30)
    counts = np.bincount(got.recording.blocks[-1].layout.leader, minlength=30)
    assert counts.max() - counts.min() <= 2


# ---------------------------------------------------------------------------- field reports and the documentation


def test_hotspot_cpu_falls_with_the_nodes():
    """R. Kubis 2018: a hotspot shows 35 % CPU on 3 nodes, about 20 % on 5, with the same throughput."""
    three, five = (simulate(Sequence(1), writes_per_second=20_000, nodes=nodes).summary() for nodes in (3, 5))
    assert three["cpu_mean"] / five["cpu_mean"] == pytest.approx(35 / 20, abs=0.15)
    assert three["committed"] == five["committed"]


def test_bulk_load_doubles_every_few_minutes():
    """Spanner's bulk-loading page: throughput should double every few minutes, until CPU is the limit; Google's
    warm-up tool: the expected throughput is there within about 30 minutes."""
    stairs = simulate("uuid4", writes_per_second=50_000, nodes=30, minutes=30, start="cold").per_minute()["committed"]
    steps = [minute for minute in range(1, 30) if stairs[minute] > 1.5 * stairs[minute - 1]]
    assert len(steps) >= 4
    assert all(1 <= later - earlier <= 5 for earlier, later in pairwise(steps))
    assert stairs[29] > 49_000


def test_ten_split_points_a_node_serve_at_once():
    run = simulate("uuid4", writes_per_second=50_000, nodes=30, minutes=2, presplit=300)
    assert run.committed[:60].mean() > 49_000


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (Sequence(), "MOVING_HOT_SPOT"),
        (Now(), "MOVING_HOT_SPOT"),
        (HotRow(), "HOT_ROW"),
        (Uuid1(), "MOVING_HOT_SPOT"),
    ],
)
def test_reasons(key, reason):
    run = simulate(key, writes_per_second=12_000, nodes=10, start="cold")
    reasons = {why for row in run.split_stats("10MINUTE") for why in row["UNSPLITTABLE_REASONS"]}
    assert reasons == {reason}


@pytest.mark.parametrize("nodes", [3, 30, 300])
def test_study_guides_ceiling(nodes):
    """ "One hot split stops at 1,000 to 2,000 writes/s", whatever the nodes."""
    committed = simulate("seq", writes_per_second=50_000, nodes=nodes).committed[-300:].mean()
    assert 1_000 <= committed <= 2_000


def test_month_end_at_a_ledger():
    """1,000/s, then 12,000/s on a ULID: p99 from 15 to over 400 ms."""
    run = simulate("ulid", writes_per_second=lambda s: 1_000 if s < 300 else 12_000, nodes=10, start="cold")
    p99 = run.commit_latency_ms(0.99)
    assert p99[:300].mean() < 25
    assert p99[-60:].mean() > 400


def test_sixteen_shards_stay_under_20_ms():
    assert simulate("(shard(16), ulid)", writes_per_second=12_000, nodes=10).commit_latency_ms(0.99).max() < 20


@pytest.mark.parametrize("key", [Uuid4(), BitReversed(), "(shard(60), ulid)"])
def test_fifty_thousand_and_more(key):
    """50,000/s, growing to 80,000/s in ten minutes, on 30 nodes."""
    run = simulate(key, writes_per_second=lambda s: 50_000 + 50 * s, nodes=30)
    assert run.committed.min() > 49_000
    assert run.committed[-60:].mean() > 75_000


def test_more_shards_than_nodes_can_be_worse():
    """The documentation advises as many shards as nodes. 64 on 30 nodes at 80,000/s: some nodes have three of them."""
    lost = {n: simulate(f"(shard({n}), ulid)", writes_per_second=80_000, nodes=30).summary() for n in (60, 64, 90)}
    assert lost[64]["committed"] < 0.97 * lost[64]["offered"]
    assert lost[60]["committed"] > 0.97 * lost[60]["offered"]
    assert lost[90]["committed"] > 0.97 * lost[90]["offered"]


def test_presets_are_labelled():
    assert model("docs").split_writes == 3_500
    assert simulate("now", writes_per_second=12_000, model="docs").summary()["committed"] == pytest.approx(
        3_500, rel=0.01
    )
    assert "docs" in model("docs").caption
