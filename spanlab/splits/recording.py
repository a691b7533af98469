"""What a simulation writes down, second by second, for `spanlab.splits.observe` to read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spanlab.splits.model import Model
from spanlab.splits.splitter import Event
from spanlab.splits.state import Keyspace


@dataclass
class Layout:
    """The splits as they are between two control decisions, and why warm ones were not cut, by their start."""

    first: np.ndarray
    start: np.ndarray
    leader: np.ndarray
    reasons: list[dict[int, str]]


@dataclass
class Block:
    """What was measured between two control decisions. Rows are ticks (or control steps), columns splits."""

    layout: Layout
    arrivals: np.ndarray
    """Rows that arrived, a tick and split (float32)."""
    queue: np.ndarray
    """Rows that wait at the end of each tick (float32)."""
    before: np.ndarray
    """Rows that waited at each split when the block began."""
    admitted: np.ndarray
    """The part of each tick's commits that the clients could send."""
    load: np.ndarray
    """Row writes/s of each split, a control step."""
    read_cpu: np.ndarray
    """Share of a node's CPU that reads on each split take."""

    @property
    def done(self) -> np.ndarray:
        """Rows committed, a tick and split: what waited and what came in, less what waits still."""
        waited = np.concatenate([self.before[None, :], self.queue[:-1]])
        return np.maximum(waited + self.arrivals * self.admitted[:, None] - self.queue, 0.0)


@dataclass
class Recording:
    """What a simulation measured, tick by tick and step by step; `spanlab.splits.observe.Run` reads it."""

    model: Model
    nodes: int
    spaces: list[Keyspace]
    seed: int
    history_s: float = 0.0
    offered: list[np.ndarray] = field(default_factory=list)
    committed: list[np.ndarray] = field(default_factory=list)
    refused: list[np.ndarray] = field(default_factory=list)
    node_cpu: list[np.ndarray] = field(default_factory=list)
    follower_cpu: list[np.ndarray] = field(default_factory=list)
    node_writes: list[np.ndarray] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    open_commits: float = 0.0
    """Commits that wait when the run ends."""
    interrupted: bool = False
