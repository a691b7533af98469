"""How long a commit takes by the number of splits that take part in it: a model that is ours, for comparing designs.

A majority of the replicas of a split has to log a commit: half of the times that takes 4 ms plus the round trip to the
replica that completes the majority, 99 of 100 times at most 10 ms more. Where several splits take part, each first logs
that it is prepared; when the slowest has done so, the commit itself is logged (facts.md 8.2). The commit wait, 2ε, runs
beside all that: the longer of the two counts, not their sum (facts.md 8.1).
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

from spanlab.splits.latency import lognormal_quantile

SERVER_MS, TAIL_MS = 4.0, 10.0
"""Milliseconds of a log record without its round trip, and from its median to its 99th percentile."""
POINTS, HALVINGS = 400, 24
"""So many equally likely times stand for the slowest prepare; so often is the range of a quantile halved."""
_NORMAL = NormalDist()


class CommitLatency(NamedTuple):
    """Half of the commits take at most `p50_ms` milliseconds, 99 of 100 at most `p99_ms`."""

    p50_ms: float
    p99_ms: float


def commit_latency(rtt_ms: float = 1, participants: int = 1, epsilon_ms: float = 2) -> CommitLatency:
    """p50 and p99 of a commit that nothing holds up, in milliseconds.

    `rtt_ms` is the round trip to the replica that completes the majority (about 1 within a region), `participants` the
    splits that take part (`sl.participants` counts them), `epsilon_ms` half the width of the clock's uncertainty.
    """
    for name, value in (("rtt_ms", rtt_ms), ("epsilon_ms", epsilon_ms)):
        if not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise ValueError(f"{name}: {value!r} was given; it is a number of milliseconds from 0 on")
    if type(participants) is not int or participants < 1:
        raise ValueError(f"participants: {participants!r} was given; it is a whole number from 1 on")
    record = (SERVER_MS + rtt_ms, SERVER_MS + rtt_ms + TAIL_MS)
    p50, p99 = (max(_logged_ms(record, participants, q), 2 * epsilon_ms) for q in (0.5, 0.99))
    return CommitLatency(round(float(p50), 1), round(float(p99), 1))


@cache
def _logged_ms(record: tuple[float, float], participants: int, q: float) -> float:
    """The q-quantile of the time until all is logged; `record` is p50 and p99 of one log record."""
    if participants == 1:
        return lognormal_quantile(record, q)
    slowest = [lognormal_quantile(record, ((n + 0.5) / POINTS) ** (1 / participants)) for n in range(POINTS)]
    low, high = 0.0, slowest[-1] + lognormal_quantile(record, 1 - 1e-9)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        done = sum(_share_within(record, middle - prepare) for prepare in slowest) / POINTS
        low, high = (middle, high) if done < q else (low, middle)
    return high


def _share_within(record: tuple[float, float], milliseconds: float) -> float:
    """The share of log records that take no longer."""
    if milliseconds <= 0:
        return 0.0
    median, late = record
    return _NORMAL.cdf(math.log(milliseconds / median) / math.log(late / median) * _NORMAL.inv_cdf(0.99))
