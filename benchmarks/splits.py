"""Measures the split simulator against numpy's own floor and against its peers: `python benchmarks/splits.py`.

Everything is measured in one process, each candidate in turn and several rounds of it, and the best round counts: on a
shared machine only ratios taken side by side mean something. `--rounds 3` is quicker, `--rounds 15` steadier.
Peers that are not installed (SimPy, numba: `pip install spanlab[bench]`) are left out and named.
"""

from __future__ import annotations

import argparse
import platform
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spanlab.splits import simulate, sweep
from spanlab.splits.keys import U
from spanlab.splits.model import model
from spanlab.splits.simulation import Simulation
from spanlab.splits.state import Keyspace
from spanlab.splits.words import key

WRITES, TICKS = 50_000, 300
"""Each tick of the exact measurements has so many writes, and there are so many ticks."""
UNLIMITED = model(split_writes=1e15, node_writes=1e15, open_commits=1e15, row_bytes=1e-6)
"""No split or node is ever full, so that drawing and looking up is measured, not queueing."""
START = np.arange(64, dtype=U) << U(58)


@dataclass
class Candidate:
    """Something to measure: a name, a call, and how many writes (or runs) one call is worth."""

    name: str
    call: Callable[[], object]
    work: float
    rounds: int | None = None


def measured(candidates: list[Candidate], rounds: int) -> dict[str, float]:
    """CPU seconds for one unit of work of each candidate: the best of several rounds, taken in turn."""
    best = {candidate.name: float("inf") for candidate in candidates}
    for turn in range(rounds):
        for candidate in candidates:
            if candidate.rounds is None or turn < candidate.rounds:
                begun = time.process_time()
                candidate.call()
                best[candidate.name] = min(best[candidate.name], (time.process_time() - begun) / candidate.work)
    return best


# ------------------------------------------------------------------------------------------------ floors and peers

RANDOM = np.random.Generator(np.random.SFC64(3))


def numpy_floor() -> None:
    """What numpy itself needs to make random keys, to number their ranges and to count them."""
    for _ in range(TICKS):
        keys = RANDOM.bit_generator.random_raw(WRITES)
        keys >>= U(58)
        np.bincount(keys.view(np.int64), minlength=64)


def plain_numpy(start: np.ndarray) -> Callable[[], None]:
    """Random integers, one binary search for each, counts: how one would write it first."""

    def run() -> None:
        for _ in range(TICKS // 10):
            keys = RANDOM.integers(0, 2**64 - 1, WRITES, dtype=U)
            np.bincount(np.searchsorted(start, keys, "right") - 1, minlength=len(start))

    return run


def pure_python() -> None:
    """A loop over writes with bisect and a dict."""
    bits, start, counts = random.Random(1).getrandbits, START.tolist(), {}
    for _ in range(WRITES):
        split = bisect_right(start, bits(64))
        counts[split] = counts.get(split, 0) + 1


def simpy_run(lean: bool) -> Callable[[], None] | None:
    """A discrete event simulation: a process for each write, or only an event for each."""
    try:
        import simpy
    except ImportError:
        return None

    def run() -> None:
        source, environment, start = random.Random(1), simpy.Environment(), START.tolist()
        free, servers = [0.0] * 64, [simpy.Resource(environment, 1) for _ in start]

        def write(split: int):
            with servers[split].request() as turn:
                yield turn
                yield environment.timeout(source.expovariate(1_800))

        def arrivals():
            for _ in range(10_000):
                yield environment.timeout(source.expovariate(WRITES))
                split = bisect_right(start, source.getrandbits(64)) - 1
                if lean:
                    free[split] = max(environment.now, free[split]) + source.expovariate(1_800)
                else:
                    environment.process(write(split))

        environment.process(arrivals())
        environment.run()

    return run


def numba_loop() -> Callable[[], None] | None:
    """Random keys and a binary search in a compiled loop."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit
    def loop(start, n, counts):
        for _ in range(n):
            code = np.uint64(np.random.random() * 18446744073709551615.0)
            low, high = 0, len(start)
            while high - low > 1:
                middle = (low + high) // 2
                if start[middle] <= code:
                    low = middle
                else:
                    high = middle
            counts[low] += 1

    counts = np.zeros(64, np.int64)
    loop(START, 10, counts)
    return lambda: loop(START, WRITES * 20, counts)


# ---------------------------------------------------------------------------------------------------- exact mode


def exact(word: str, points: list[int] | None = None, ticks: int = TICKS) -> Callable[[], None]:
    """Every key drawn and looked up, 50,000 a second."""
    law = key(word)
    split_points = tuple(law.learnt() if points is None else points)

    def run() -> None:
        simulation = Simulation(
            [Keyspace("T", law, points=split_points)],
            WRITES,
            nodes=30,
            seconds=ticks,
            model=UNLIMITED,
            seed=0,
            exact=True,
            adapt=False,
        )
        while simulation.step < simulation.steps:
            simulation.advance()

    return run


def random_points(splits: int) -> list[int]:
    return sorted({int(code) for code in np.random.default_rng(4).integers(1, 2**64 - 1, splits - 1, dtype=U)})


GOALS = {
    "uuid4, 64 truncated split points": 0.80,
    "16 shards of ULID": 0.40,
    "(UserId, time), Zipf 0.99": 0.15,
}


def exact_table(rounds: int) -> None:
    writes = WRITES * TICKS
    own = [
        Candidate("uuid4, 64 truncated split points", exact("uuid4"), writes),
        Candidate("uuid4, 64 arbitrary split points", exact("uuid4", random_points(64)), writes),
        Candidate("uuid4, 1,024 truncated", exact("uuid4", key("uuid4").even(1_024)), writes),
        Candidate("uuid4, 4,096 truncated", exact("uuid4", key("uuid4").even(4_096)), writes, 3),
        Candidate("16 shards of ULID", exact("(shard(16), ulid)"), writes),
        Candidate("time (ULID, UUIDv7)", exact("now"), writes),
        Candidate("application counter", exact("seq"), writes),
        Candidate("bit-reversed sequence", exact("bit_reversed"), writes),
        Candidate("UUIDv1", exact("uuid1"), writes),
        Candidate("(UserId, time), even", exact("(ids(100000), now)"), writes),
        Candidate("(UserId, time), Zipf 0.99", exact("(zipf(100000, 0.99), now)"), writes),
        Candidate("one hot row", exact("hot_row", []), writes),
    ]
    floor = Candidate("numpy's floor: generate + shift + bincount", numpy_floor, writes)
    peers = [
        Candidate("plain numpy: integers + searchsorted + bincount", plain_numpy(START), writes / 10, 3),
        Candidate("pure Python: bisect + dict", pure_python, WRITES, 3),
    ]
    for name, call, work in (
        ("SimPy, a process a write", simpy_run(lean=False), 10_000),
        ("SimPy, an event a write", simpy_run(lean=True), 10_000),
        ("numba: random + binary search", numba_loop(), WRITES * 20),
    ):
        if call is None:
            print(f"({name}: not installed)\n")
        else:
            peers.append(Candidate(name, call, work, 3))
    times = measured([floor, *own, *peers], rounds)
    print("| exact mode and peers | ns a write | of numpy's floor | goal |\n|---|---|---|---|")
    for name, seconds in times.items():
        goal = GOALS.get(name)
        print(f"| {name} | {seconds * 1e9:,.2f} | {times[floor.name] / seconds:.2f} | {goal or ''} |")
    print("\n| uuid4 in exact mode is faster than | times | goal |\n|---|---|---|")
    wanted = {"SimPy, a process a write": "2,500", "pure Python: bisect + dict": "50"}
    wanted["plain numpy: integers + searchsorted + bincount"] = "9"
    for peer in peers:
        print(f"| {peer.name} | {times[peer.name] / times[own[0].name]:,.1f} | {wanted.get(peer.name, '')} |")


def arbitrary_table(rounds: int) -> None:
    print("\n| arbitrary split points | ns a write | plain numpy | times faster | goal |\n|---|---|---|---|---|")
    for splits in (64, 1_024, 4_096, 16_384):
        points = random_points(splits)
        start = np.array([0, *points], U)
        own = Candidate("own", exact("uuid4", points, TICKS), WRITES * TICKS, 4)
        peer = Candidate("peer", plain_numpy(start), WRITES * TICKS / 10, 3)
        times = measured([own, peer], rounds)
        ratio = times["peer"] / times["own"]
        print(f"| {splits:,} | {times['own'] * 1e9:.1f} | {times['peer'] * 1e9:.1f} | {ratio:.1f} | 3 |")


# ------------------------------------------------------------------------------------------------ aggregate mode


def aggregate_table(rounds: int) -> None:
    def ten_minutes(word: str, writes: float, nodes: int, **arguments: object) -> Callable[[], object]:
        return lambda: simulate(word, writes_per_second=writes, nodes=nodes, **arguments)  # type: ignore[arg-type]

    candidates = [
        ("default: UUIDv4, 50,000/s, 30 nodes", ten_minutes("uuid4", 50_000, 30), "6"),
        ("the same from a cold start", ten_minutes("uuid4", 50_000, 30, start="cold"), "25"),
        ("ULID ledger, 12,000/s, 10 nodes", ten_minutes("ulid", 12_000, 10), ""),
        ("16 shards, 12,000/s, 10 nodes", ten_minutes("(shard(16), ulid)", 12_000, 10), ""),
        ("sweep of 1, 2, 4 … 64 shards", shard_sweep, "90"),
        (
            "slider: run and server_writes, UUIDv4 on 3 nodes",
            lambda: ten_minutes("uuid4", 12_000, 3)().server_writes,
            "",
        ),
        ("p99 line of the default", default_p99(), ""),
    ]
    for writes in (1e5, 1e8, 1e12):
        run = ten_minutes("uuid4", writes, 30, model=UNLIMITED)
        candidates.append((f"{writes:.0e} writes/s", run, "flat"))
    for splits in (64, 256, 1_024, 4_096, 16_384):
        run = ten_minutes("uuid4", 50_000, 400, presplit=splits)
        candidates.append((f"{splits:,} splits", run, "linear"))
    times = measured([Candidate(name, call, 1) for name, call, _ in candidates], rounds)
    print("\n| ten simulated minutes, aggregate mode | ms | goal |\n|---|---|---|")
    for name, _, goal in candidates:
        print(f"| {name} | {times[name] * 1e3:,.1f} | {goal} |")


def shard_sweep() -> object:
    return sweep("ulid", writes_per_second=12_000, nodes=10, shards=[1, 2, 4, 8, 16, 32, 64])


def default_p99() -> Callable[[], object]:
    run = simulate("uuid4", writes_per_second=50_000, nodes=30)
    return lambda: run.commit_latency_ms(0.99)


def memory() -> None:
    """Peak memory of a fresh process, with and without the simulator (Linux)."""
    if not Path("/proc/self/status").exists():
        return
    peak = "print([int(line.split()[1]) / 1024 for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    numpy_alone = "import numpy, numpy.random; "
    default = "from spanlab.splits import simulate; simulate('uuid4', writes_per_second=50_000, nodes=30); "
    figures = [
        float(subprocess.run([sys.executable, "-c", code + peak], capture_output=True, text=True, check=True).stdout)
        for code in (numpy_alone, numpy_alone + default)
    ]
    print(f"\nPeak memory: numpy {figures[0]:.1f} MiB, with the default scenario {figures[1]:.1f} MiB "
          f"(+{figures[1] - figures[0]:.1f}, goal under 12).")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, {rounds} rounds\n")
    exact_table(rounds)
    arbitrary_table(rounds)
    aggregate_table(rounds)
    memory()


if __name__ == "__main__":
    main()
