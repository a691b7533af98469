"""How long a commit takes: a base, and the wait at the leaders that it needs.

The base is a lognormal with the model's p50 and p99: a quorum of replicas and the commit wait; for a commit whose rows
lie with several leaders, the two phases of it. The wait at a split is that of a queue with one server: without a
standing queue P(wait > x) = rho * exp(-mu (1 - rho) x), the M/M/1 law; behind L waiting rows it is what L of them take.
A commit is done when its slowest part is.

A quantile of the commits is the base's quantile plus the wait's, which is a little more than the quantile of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from spanlab.splits.model import Model
from spanlab.splits.state import CommitKind

BISECTIONS = 18
LOGISTIC = 1.702
"""With this slope the logistic function is the normal law's, to 1 %."""
FULL = 0.98
"""A split that is busier than this is counted as busy as this; what waits beyond is in its queue."""


def lognormal_quantile(p50_p99: tuple[float, float], q: float) -> float:
    """The q-quantile of the lognormal with that median and 99th percentile."""
    normal = NormalDist()
    p50, p99 = p50_p99
    return p50 * (p99 / p50) ** (normal.inv_cdf(q) / normal.inv_cdf(0.99))


def base_ms(model: Model, two_phase: float, q: float) -> float:
    """The q-quantile of commits that nothing holds up, of which the part `two_phase` needs a two-phase commit."""
    one, two = (lognormal_quantile(times, q) for times in (model.commit_ms, model.two_phase_ms))
    if two_phase <= 0 or two_phase >= 1:
        return one if two_phase <= 0 else two

    def under(milliseconds: float) -> float:
        return (1 - two_phase) * _lognormal_share(model.commit_ms, milliseconds) + two_phase * _lognormal_share(
            model.two_phase_ms, milliseconds
        )

    low, high = min(one, two), max(one, two)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if under(middle) < q else (low, middle)
    return high


def _lognormal_share(p50_p99: tuple[float, float], milliseconds: float) -> float:
    p50, p99 = p50_p99
    normal = NormalDist()
    return normal.cdf(math.log(milliseconds / p50) / math.log(p99 / p50) * normal.inv_cdf(0.99))


@dataclass
class Wait:
    """The wait of a row at each split, ticks x splits: how likely it is longer than some time.

    `rho` is how busy the split is, `queue` the rows that stand before it, `speed` how many rows/s it works off, `mu`
    how many it could.
    """

    rho: np.ndarray
    queue: np.ndarray
    speed: np.ndarray
    mu: float

    def longer_than(self, seconds: np.ndarray) -> np.ndarray:
        """The probability that a row waits longer than so many seconds (a column of ticks)."""
        tail = self.rho * np.exp(-self.mu * (1 - self.rho) * seconds)
        standing = self.queue > 1
        if not standing.any():
            return tail
        spread = np.sqrt(np.maximum(self.queue, 1))
        behind = 1 / (1 + np.exp(np.clip(LOGISTIC * (self.speed * seconds - self.queue) / spread, -60, 60)))
        return np.where(standing, np.maximum(tail, behind), tail)

    def longest(self) -> np.ndarray:
        """A time that hardly any row waits, in seconds, for each tick."""
        standing = (self.queue + 6 * np.sqrt(self.queue)) / self.speed
        return np.where(self.queue > 1, standing, 0.0).max(axis=1) + 400 / self.mu


def wait_ms(
    arrivals: np.ndarray,
    queue: np.ndarray,
    speed: np.ndarray,
    first: np.ndarray,
    kinds: Sequence[CommitKind],
    mu: float,
    q: float,
) -> np.ndarray:
    """The q-quantile of a commit's wait in each tick, in ms: the time that the slowest of its rows waits.

    `arrivals` and `queue` are rows, ticks x splits; `speed` is how many rows/s each split works off; `first` the first
    split of each key space, `kinds` which commits there are; `mu` rows/s that one split can commit.
    """
    used = np.flatnonzero(arrivals.any(axis=0) | (queue > 1).any(axis=0))
    if not len(used):
        return np.zeros(len(arrivals))
    space_of = np.searchsorted(first, used, "right") - 1
    begins = np.flatnonzero(np.diff(space_of, prepend=-1))
    arrivals = arrivals[:, used]
    in_space = np.maximum(np.add.reduceat(arrivals, begins, axis=1), 1e-9)
    weight = arrivals / np.repeat(in_space, np.diff(np.append(begins, len(used))), axis=1)
    wait = Wait(np.minimum(arrivals / mu, FULL), queue[:, used], np.maximum(speed[:, used], 1e-9), mu)
    written = [np.minimum(1.0, np.array(kind.rows)[space_of[begins]]) for kind in kinds]
    low, high = np.zeros(len(arrivals)), wait.longest()
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        late = np.add.reduceat(weight * wait.longer_than(middle[:, None]), begins, axis=1)
        slow = sum(
            kind.portion * (1 - np.prod(1 - rows * late, axis=1)) for kind, rows in zip(kinds, written, strict=True)
        )
        low, high = np.where(slow > 1 - q, middle, low), np.where(slow > 1 - q, high, middle)
    return 1e3 * high


def one_leader_share(
    leader: np.ndarray, load: np.ndarray, first: np.ndarray, kinds: Sequence[CommitKind], nodes: int
) -> float:
    """The part of the commits whose rows all lie with one leader, and need no second phase."""
    by_node = [np.bincount(leader[low:high], load[low:high], nodes) for low, high in pairwise(first)]
    portions = [loads / max(loads.sum(), 1e-9) for loads in by_node]
    share = 0.0
    for kind in kinds:
        base = int(np.argmax(kind.rows))  # the row that is always there
        together = portions[base].copy()
        for number, rows in enumerate(kind.rows):
            if number != base:
                written = min(1.0, rows)
                together *= 1 - written + written * portions[number]
        alone = all(rows == 0 for number, rows in enumerate(kind.rows) if number != base)
        share += kind.portion * (1.0 if alone else float(together.sum()))
    return share
