"""How many writes reach each split in each second.

In exact mode every key is drawn and looked up. In aggregate mode only the counts are drawn, from the law that those
look-ups would follow: a key falls on a split with the probability that the key's law says, so the counts of a second
are multinomial, or, where the number of writes is itself Poisson, a Poisson number for each split. Keys that come from
a counter leave nothing to chance. Both modes give the same law of counts; tests hold them to it.
"""

from __future__ import annotations

import numpy as np

from spanlab.splits.keys import Codes, Key, Span, U


class Router:
    """Counts the writes that fall on each split.

    The key space is cut into ranges of equal size, which a shift numbers. Spanner truncates split points, so they
    usually lie between such ranges, and counting the numbers is all that is left to do. Where a split point falls into
    a range, the keys of that range are compared with it; only keys of a range with several of them are searched for.
    """

    MOST_BITS = 14
    IN_CACHE = 32_768
    """Keys that are drawn and counted at a time: few enough for the processor's cache."""

    def __init__(self, start: Codes) -> None:
        used = int(np.bitwise_or.reduce(start))
        self.start = start
        self.bits = 65 - (used & -used).bit_length() if used else 0
        self.portion = max(self.IN_CACHE, 4 * len(start))
        """How many keys are best counted at a time."""
        self.truncated = self.bits <= self.MOST_BITS
        if not self.truncated:
            self.bits = min(17, max(12, (4 * len(start) - 1).bit_length()))
        self.shift = U((64 - self.bits) % 64)
        self.at = (start >> self.shift).astype(np.int64)
        if not self.truncated:
            self._look_up_table()

    def _look_up_table(self) -> None:
        """For each range: the one split point in it, and the split of the keys below that point."""
        points = np.bincount(self.at, minlength=1 << self.bits)
        self.crowded = points > 1
        self.point = np.zeros(len(points), U)
        self.point[self.at] = self.start
        self.split = np.cumsum(points) - points - 1 - (points == 0)  # without a point, every key is above 0

    def counts(self, keys: Codes) -> np.ndarray:
        """How many of the keys each split holds. The keys are used up."""
        splits = len(self.start)
        if splits == 1:
            return np.array([len(keys)])
        if self.truncated:
            keys >>= self.shift
            counts = np.bincount(keys.view(np.int64), minlength=1 << self.bits)
            return counts if splits == len(counts) else np.add.reduceat(counts, self.at)
        first, last = np.searchsorted(self.start, [keys.min(), keys.max()], "right") - 1
        if first == last:
            return np.bincount([first], [len(keys)], splits)
        at = (keys >> self.shift).view(np.int64)
        split = self.split.take(at)
        split += keys >= self.point.take(at)
        crowded = np.flatnonzero(self.crowded.take(at))
        split[crowded] = np.searchsorted(self.start, keys[crowded], "right") - 1
        return np.bincount(split, minlength=splits)


def by_tick(span: Span) -> Span:
    """The span of many ticks, shaped so that it broadcasts against split points."""
    return Span(*(np.reshape(part, (-1, 1)) for part in (span.start, span.end, span.first, span.count)))


def portions(key: Key, start: Codes, span: Span) -> np.ndarray:
    """The share of the writes that each split gets: one row a tick, or one row for all where time does not matter."""
    under = np.atleast_2d(key.share(start[1:], by_tick(span)))
    portion = np.empty((len(under), len(start)))
    portion[:, 0] = 1.0
    portion[:, :-1] = under
    portion[:, -1] = 1.0
    portion[:, 1:] -= under
    return np.maximum(portion, 0.0, out=portion)


def aggregate_counts(random: np.random.Generator, key: Key, start: Codes, span: Span) -> np.ndarray:
    """Writes of each tick and split, drawn from their law given the tick's number of writes."""
    if len(start) == 1:
        return np.asarray(span.count, float)[:, None]
    if key.serial:
        under = key.count(start[1:], by_tick(span))
        whole = np.asarray(span.count)[:, None]
        return np.diff(np.concatenate([under, whole], axis=1), axis=1, prepend=0).astype(float)
    return random.multinomial(span.count, portions(key, start, span)).astype(float)


def poisson_counts(random: np.random.Generator, key: Key, start: Codes, span: Span, expected: np.ndarray) -> np.ndarray:
    """Writes of each tick and split when the number of writes is Poisson: then each split's number is, by itself."""
    return random.poisson(expected[:, None] * portions(key, start, span)).astype(float)
