"""The splits of a database, as sorted arrays.

A database is a list of key spaces: a table with all tables interleaved in it, or an index (facts.md 1.1.2, 4.2). Each
key space is cut into splits; split i holds the codes from `start[i]` to the start of the next one, and one node leads
it. All splits of all key spaces stand in one set of arrays, key space after key space, so that a second of the whole
database is a handful of array operations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spanlab.splits.keys import Codes, Key, U


@dataclass(frozen=True)
class Band:
    """The rows of one table or index in a key space: its own band in Key Visualizer.

    `rows` are rows a commit, `columns` the laws of its key columns before they are packed into `key`.
    """

    name: str
    key: Key
    rows: float
    columns: tuple[Key, ...] = ()


@dataclass
class ReadLoad:
    """Reads of one kind on a key space.

    `key` says which rows are read, `per_second` how often, `cost` what share of a node's CPU-second one read takes on
    the replica that serves it. `part` is the stretch (0 to 1) of the key space that a scan covers; None for reads of
    single rows. `stale` reads go to all `replicas` alike, strong ones to the leader.
    """

    key: Key
    per_second: float
    cost: float
    part: tuple[float, float] | None = None
    stale: bool = False


@dataclass
class Keyspace:
    """A table with its family, or an index: an order of rows that is cut by itself.

    `rows` is how many rows a commit writes here on average, `points` the split points it begins with, `tables` what
    SPLIT_STATS names as affected. `reads` are the reads on it.
    """

    name: str
    key: Key
    rows: float = 1.0
    points: tuple[int, ...] = ()
    tables: tuple[str, ...] = ()
    bands: tuple[Band, ...] = ()
    reads: list[ReadLoad] = field(default_factory=list)
    expire_s: float = np.inf
    """When split points that were given in advance may be merged away, in seconds of the run."""


@dataclass(frozen=True)
class CommitKind:
    """One kind of commits in a load: which part of all commits it is, and how many rows it writes in each key space."""

    portion: float
    rows: tuple[float, ...]


PER_SPLIT = ("start", "leader", "queue", "load", "bytes", "warm_since", "cold_since", "pinned_until")


class Splits:
    """The state of all splits. Every array has one entry a split, in the order of key spaces and keys.

    start         first code of the split (the first split of a key space starts at 0)
    leader        node that serves its writes and strong reads
    queue         rows that wait to be committed
    load          row writes/s that arrived in the last control step
    bytes         size
    warm_since    second since which it is warm without a break, inf if it is not
    cold_since    second since which it is cold without a break, inf if it is not
    pinned_until  second up to which its start is kept although it is cold (split points given in advance)
    """

    def __init__(self, spaces: list[Keyspace], nodes: int, random: np.random.Generator) -> None:
        self.spaces, self.nodes = spaces, nodes
        starts = [np.unique(np.array([0, *space.points], U)) for space in spaces]
        sizes = [len(start) for start in starts]
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        """Index of the first split of each key space; the number of all splits at the end."""
        self.start: Codes = np.concatenate(starts)
        self.leader = np.concatenate([(np.arange(size) + random.integers(nodes)) % nodes for size in sizes])
        total = len(self.start)
        self.queue, self.load, self.bytes = np.zeros(total), np.zeros(total), np.zeros(total)
        self.warm_since, self.cold_since = np.full(total, np.inf), np.zeros(total)
        self.pinned_until = np.repeat(np.array([space.expire_s for space in spaces], float), sizes)
        self.pinned_until[self.first[:-1]] = np.inf

    def __len__(self) -> int:
        return len(self.start)

    def range(self, space: int) -> slice:
        """The splits of a key space."""
        return slice(int(self.first[space]), int(self.first[space + 1]))

    def find(self, space: int, code: int) -> int:
        """The split of a key space that holds a code."""
        own = self.range(space)
        return own.start + int(np.searchsorted(self.start[own], U(code), "right")) - 1

    def limit(self, split: int) -> int | None:
        """The first code behind a split; None where it is the last of its key space."""
        return None if split + 1 in self.first else int(self.start[split + 1])

    def sum_by_space(self, values: np.ndarray) -> np.ndarray:
        """Adds up values of splits (in the last axis) for each key space."""
        return np.add.reduceat(values, self.first[:-1], axis=-1)

    def insert(self, space: int, before: np.ndarray, **values: Any) -> None:
        """Puts new splits of a key space before the given (ascending) indexes."""
        for name in PER_SPLIT:
            setattr(self, name, np.insert(getattr(self, name), before, values[name]))
        self.first = self.first + len(before) * (np.arange(len(self.first)) > space)

    def remove(self, splits: np.ndarray) -> None:
        """Takes splits away."""
        for name in PER_SPLIT:
            setattr(self, name, np.delete(getattr(self, name), splits))
        self.first = self.first - np.searchsorted(splits, self.first)
