"""A second of a database: writes queue at their split's leader, and are committed or refused.

Three limits hold at once. A split commits what its leader can (`split_writes`). A node works for all splits that it
leads, and its CPU ends at 100 %. And the clients keep a number of commits open, no more: when all of them wait behind
one hot split, nobody can send another, and the rest of the load is refused. That is why latency stops growing at
(open commits / commits per second), and why one hot index stalls a calm table: a commit is open until the slowest of
all rows that it writes is done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanlab.splits.arrivals import portions
from spanlab.splits.keys import Span
from spanlab.splits.model import Model
from spanlab.splits.state import Splits


@dataclass
class Capacity:
    """What splits, nodes and clients can do in one tick of a second."""

    split: float
    """Row writes that a split commits."""
    node: np.ndarray
    """Row writes that each node's CPU has room for beside the reads."""
    waiting: np.ndarray
    """Rows that may wait in each key space: the clients' open commits times the rows that a commit writes there."""


@dataclass
class Served:
    """What became of the writes, tick by tick: rows that wait at the end of it and rows committed, of each split, and
    the part of the tick's commits that the clients could send (0 to 1)."""

    queue: np.ndarray
    done: np.ndarray
    admitted: np.ndarray


def serve(splits: Splits, arrivals: np.ndarray, capacity: Capacity) -> Served:
    """Serves `arrivals` (ticks x splits, in rows) one tick after the other, from the queues that stand now."""
    served = _serve_freely(splits, arrivals, capacity)
    if served is None and len(splits.spaces) == 1:
        served = _serve_few(splits, arrivals, capacity)
    return served or _serve_tick_by_tick(splits, arrivals, capacity)


def _serve_freely(splits: Splits, arrivals: np.ndarray, capacity: Capacity) -> Served | None:
    """All ticks at once, where no node is short of CPU and the clients never run out of open commits.

    A queue then grows by (arrivals - capacity) and never falls under zero (Lindley's recursion), so it is the running
    sum less the lowest value that the sum had so far; where no tick brings more than a split commits, there is none.
    None where one of the two limits is touched.
    """
    if splits.queue.any() or arrivals.max(initial=0.0) > capacity.split:
        backlog = splits.queue + arrivals.sum(axis=0) - len(arrivals) * capacity.split
        if (splits.sum_by_space(np.maximum(backlog, 0.0)) > capacity.waiting).any():
            return None  # too much will wait at the end already
        drift = splits.queue + np.cumsum(arrivals - capacity.split, axis=0)
        queue = drift - np.minimum(np.minimum.accumulate(drift, axis=0), 0.0)
        if (splits.sum_by_space(queue) > capacity.waiting).any():
            return None
        done = arrivals - queue
        done[0] += splits.queue
        done[1:] += queue[:-1]
    else:
        queue, done = np.zeros_like(arrivals), arrivals
    if (np.bincount(splits.leader, done.max(axis=0), splits.nodes) > capacity.node).any():
        return None
    return Served(queue, done, np.ones(len(arrivals)))


FEW = 8


def _serve_few(splits: Splits, arrivals: np.ndarray, capacity: Capacity) -> Served | None:
    """The general case in plain numbers, which are quicker than arrays where a few splits of one key space have all the
    load. None where there are more of them, or where some share a node that is short of CPU."""
    busy = np.flatnonzero(arrivals.any(axis=0) | (splits.queue > 0))
    led = np.bincount(splits.leader[busy], minlength=splits.nodes)
    if len(busy) > FEW or ((led > 1) & (led * capacity.split > capacity.node)).any():
        return None
    fastest = np.minimum(capacity.split, capacity.node[splits.leader[busy]]).tolist()
    waiting, most, part = splits.queue[busy].tolist(), float(capacity.waiting[0]), 1.0
    queues, dones, parts = [], [], []
    for rows in arrivals[:, busy].tolist():
        part = _admitted_part(waiting, rows, fastest, most, part)
        demand = [before + part * new for before, new in zip(waiting, rows, strict=True)]
        done = [min(wanted, speed) for wanted, speed in zip(demand, fastest, strict=True)]
        waiting = [wanted - served for wanted, served in zip(demand, done, strict=True)]
        queues.append(waiting)
        dones.append(done)
        parts.append(part)
    queue, done_rows = np.zeros_like(arrivals), np.zeros_like(arrivals)
    queue[:, busy], done_rows[:, busy] = queues, dones
    return Served(queue, done_rows, np.array(parts))


def _admitted_part(waiting: list[float], rows: list[float], fastest: list[float], most: float, guess: float) -> float:
    """The largest part of the new rows that leaves at most `most` waiting, by Newton's method from a guess."""
    part = guess
    for _ in range(12):
        over, slope = -most, 0.0
        for before, new, speed in zip(waiting, rows, fastest, strict=True):
            left = before + part * new - speed
            if left > 0:
                over += left
                slope += new
        if abs(over) <= 1e-6 * most or (over < 0 and part >= 1.0) or (over > 0 and part <= 0.0):
            break
        part = min(1.0, max(0.0, part - over / slope)) if slope else 1.0
    return part


def _serve_tick_by_tick(splits: Splits, arrivals: np.ndarray, capacity: Capacity) -> Served:
    """The general case: in each tick, the largest part of the commits is admitted with which no limit is broken."""
    queue, done, admitted = np.empty_like(arrivals), np.empty_like(arrivals), np.empty(len(arrivals))
    short = (np.bincount(splits.leader, minlength=splits.nodes) * capacity.split > capacity.node).any()
    waiting, part = splits.queue, 1.0
    for tick, rows in enumerate(arrivals):
        part, left, served = _admit(splits, waiting, rows, capacity, bool(short), part)
        admitted[tick], queue[tick], done[tick], waiting = part, left, served, left
    return Served(queue, done, admitted)


def _admit(
    splits: Splits, waiting: np.ndarray, rows: np.ndarray, capacity: Capacity, short: bool, guess: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest part of a tick's commits that leaves no more rows waiting than may wait; what is left; what is done.

    What waits is a convex, piecewise linear function of the part that is admitted, so Newton's method needs two or
    three steps, and the part of the tick before is a good place to begin.
    """
    part, first, may_wait = guess, splits.first[:-1], capacity.waiting.tolist()
    for tries_left in range(11, -1, -1):
        demand = waiting + part * rows
        served = np.minimum(demand, capacity.split)
        if short:
            by_node = np.bincount(splits.leader, served, splits.nodes)
            served *= np.minimum(1.0, capacity.node / np.maximum(by_node, 1e-9))[splits.leader]
        left = demand - served
        over = [now - most for now, most in zip(np.add.reduceat(left, first).tolist(), may_wait, strict=True)]
        worst = max(rest / max(most, 1e-9) for rest, most in zip(over, may_wait, strict=True))
        if abs(worst) <= 1e-6 or (worst < 0 and part >= 1.0) or (worst > 0 and part <= 0.0) or not tries_left:
            break
        slope = np.add.reduceat(rows * (left > 0), first).tolist()
        step = max(rest / max(rise, 1e-9) for rest, rise in zip(over, slope, strict=True))
        part = min(1.0, max(0.0, part - step))
    return part, left, served


# ------------------------------------------------------------------------------------------------------- reads


@dataclass
class ReadCpu:
    """The share of a node's CPU that reads of each split take: at its leader (of which `scans`), and at each of its
    other replicas."""

    leader: np.ndarray
    scans: np.ndarray
    follower: np.ndarray


def read_cpu(splits: Splits, span: Span, replicas: int) -> ReadCpu:
    """What the reads cost. Strong reads go to the leader, stale ones to all replicas alike (facts.md 8.3)."""
    cpu = ReadCpu(*(np.zeros(len(splits)) for _ in range(3)))
    moment = Span(np.array([span.start]), np.array([span.end]), np.array([0]), np.array([1]))
    for number, space in enumerate(splits.spaces):
        own = splits.range(number)
        start = splits.start[own]
        for load in space.reads:
            cost = load.per_second * load.cost / (replicas if load.stale else 1)
            if load.part is None:
                used = portions(load.key, start, moment)[0] * cost
            else:
                edges, (low, high) = np.append(start / 2.0**64, 1.0), load.part
                used = np.diff(np.clip((edges - low) / (high - low), 0, 1)) * cost
                cpu.scans[own] += used
            cpu.leader[own] += used
            cpu.follower[own] += used * load.stale
    return cpu


def node_room(model: Model, nodes: int, leader: np.ndarray, cpu: np.ndarray) -> np.ndarray:
    """Row writes/s that each node has CPU for beside its reads."""
    return model.node_writes * np.maximum(0.0, 1.0 - np.bincount(leader, cpu, nodes))
