"""Where Spanner cuts, joins and moves splits.

A split that is warm for a while is cut where its load balances, between two keys that were really written; the cut
takes some time to be found and some more until another server has taken the new split over. That delay is why a
monotonic key cannot be helped: by the time the cut works, all writes lie above it (facts.md 1.2.8). A single row is
not cut at all, and a split that outgrows the size limit is cut whatever its load (facts.md 1.2, 1.3). Cold neighbours
are joined again, and leaders move from busy nodes to idle ones.

Spanner publishes that this takes minutes, not how it decides. The rule here is ours, in the manner of systems that do
publish theirs: keys that were written early are the candidates, keys that were written late vote.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spanlab.splits.keys import LAST, Codes, U
from spanlab.splits.model import Model
from spanlab.splits.state import Splits

HOT_ROW = "HOT_ROW"
MOVING_HOT_SPOT = "MOVING_HOT_SPOT"
LARGE_SCAN_HOT_SPOT = "LARGE_SCAN_HOT_SPOT"
UNISOLATABLE_HOT_ROW = "UNISOLATABLE_HOT_ROW"


@dataclass
class Event:
    """A change of the splits: at which second, why ("load", "size" or "merge"), in which key space, where."""

    second: float
    why: str
    space: str
    code: int


@dataclass
class Cut:
    """A split point that is chosen and takes effect at `due_s`. `left` is the part of the load that stays below it."""

    due_s: float
    code: int
    why: str
    left: float


@dataclass
class KeyspaceLog:
    """What the splitter remembers of a key space."""

    keys: list[Codes] = field(default_factory=list)
    """Samples of the keys written, one array a control step, as long as something is warm."""
    cuts: list[Cut] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why a warm split could not be cut, by its start."""


# ------------------------------------------------------------------------------------------- choosing a split point

CANDIDATES = 40


def shortest_between(low: int, high: int) -> int:
    """The code in (low, high] with most trailing zero bits: the shortest key that parts the two."""
    bits = (low ^ high).bit_length() - 1
    return high >> bits << bits


def choose_split_point(
    early: Codes, late: Codes, start: int, limit: int | None, model: Model
) -> tuple[int | None, str | None]:
    """Where to cut a hot split [start, limit), from two sorted samples of the keys that were written to it.

    The early keys and their successors are candidates, since a boundary parts two distinct keys. The late keys vote:
    a candidate must leave enough of them on both sides. A moving front leaves every candidate behind, so none passes.
    Returns (split point, None), or (None, the reason in Spanner's words), or (None, None) where too little is known.
    """
    if not len(early) or len(late) < model.least_keys:
        return None, None
    picked = early[np.linspace(0, len(early) - 1, CANDIDATES).astype(int)]
    candidates = np.unique(np.concatenate([picked, picked + U(1)]))
    candidates = candidates[(candidates > U(start)) & (candidates <= U(LAST if limit is None else limit - 1))]
    left = np.searchsorted(late, candidates) / len(late)
    imbalance = np.abs(2 * left - 1)
    fair = np.flatnonzero(imbalance < model.balance)
    if not len(fair):
        return None, why_not(late, start, limit)
    best = fair[imbalance[fair].argmin()]
    return _truncated(late, float(left[best]), int(candidates[best]), start, limit), None


def why_not(late: Codes, start: int, limit: int | None) -> str:
    """The reason why the load of a split cannot be parted (facts.md 1.4)."""
    begins = np.flatnonzero(np.concatenate([[True], late[1:] != late[:-1], [True]]))
    most = np.diff(begins).max()  # late is sorted: the longest run of one key
    if most < len(late) / 2:
        return MOVING_HOT_SPOT
    alone = most == len(late) or (limit is not None and limit - start == 1)
    return HOT_ROW if alone else UNISOLATABLE_HOT_ROW


def _truncated(late: Codes, left: float, code: int, start: int, limit: int | None) -> int:
    """A shorter split point that parts the load as well, to 2 %. Spanner shows truncated keys too (facts.md 1.1.5)."""
    ranks = [min(len(late) - 1, max(0, int((left + d) * len(late)))) for d in (-0.02, 0.02)]
    low, high = (int(late[rank]) for rank in ranks)
    if low == high:
        return code
    shorter = shortest_between(low, high)
    inside = start < shorter and (limit is None or shorter < limit)
    apart = abs(np.searchsorted(late, U(shorter)) / len(late) - left)
    return shorter if inside and apart <= 0.02 + 1 / len(late) else code


# --------------------------------------------------------------------------------------------------- control step


def apply_cuts(splits: Splits, space: int, log: KeyspaceLog, now: float) -> list[Event]:
    """Split points that are due take effect: the upper part goes to the node with least to do."""
    due = sorted((cut for cut in log.cuts if cut.due_s <= now), key=lambda cut: cut.code)
    log.cuts = [cut for cut in log.cuts if cut.due_s > now]
    due = [cut for cut in due if int(splits.start[splits.find(space, cut.code)]) != cut.code]
    if not due:
        return []
    by_node = np.bincount(splits.leader, splits.load, splits.nodes)
    lower = [splits.find(space, cut.code) for cut in due]
    upper: dict[str, list[float]] = {name: [] for name in ("leader", "queue", "load", "bytes")}
    for split, cut in zip(lower, due, strict=True):
        idlest = int(by_node.argmin())
        upper["leader"].append(idlest)
        for name in ("queue", "load", "bytes"):
            whole = float(getattr(splits, name)[split])
            upper[name].append(whole * (1 - cut.left))
            getattr(splits, name)[split] = whole * cut.left
        by_node[splits.leader[split]] -= upper["load"][-1]
        by_node[idlest] += upper["load"][-1]
        splits.warm_since[split] = np.inf
        log.reasons.pop(int(splits.start[split]), None)
    codes = np.array([cut.code for cut in due], U)
    splits.insert(
        space, np.array(lower) + 1, start=codes, warm_since=np.inf, cold_since=np.inf, pinned_until=0.0, **upper
    )
    return [Event(now, cut.why, splits.spaces[space].name, cut.code) for cut in due]


def plan_load_cuts(splits: Splits, space: int, log: KeyspaceLog, now: float, model: Model, scanned: np.ndarray) -> None:
    """Looks for split points in splits that are warm for long enough. `scanned` marks those that scans keep warm."""
    own = splits.range(space)
    warm = set(splits.start[own][np.isfinite(splits.warm_since[own])].tolist())
    log.reasons = {start: reason for start, reason in log.reasons.items() if start in warm}
    due = np.flatnonzero(now - splits.warm_since[own] >= model.detect_s) + own.start
    if not len(due):
        return
    pending = {splits.find(space, cut.code) for cut in log.cuts}
    early, late = _early_and_late(log.keys)
    for split in due.tolist():
        if split in pending:  # look again as soon as the cut has taken effect
            splits.warm_since[split] = now - model.detect_s + model.control_s
            continue
        start, limit = int(splits.start[split]), splits.limit(split)
        splits.warm_since[split] = now  # look again after as long a time
        if scanned[split]:
            log.reasons[start] = LARGE_SCAN_HOT_SPOT
        elif len(log.keys) >= model.detect_s / model.control_s:
            voters = _inside(late, start, limit)
            code, reason = choose_split_point(_inside(early, start, limit), voters, start, limit, model)
            if code is not None:
                left = float(np.searchsorted(voters, U(code)) / len(voters))
                log.cuts.append(Cut(now + model.apply_s, code, "load", left))
            elif reason:
                log.reasons[start] = reason


def plan_size_cuts(splits: Splits, space: int, log: KeyspaceLog, now: float, model: Model, held: Codes) -> None:
    """Cuts splits that are too big, in the middle of what they hold. `held` are sampled keys, sorted."""
    own = splits.range(space)
    pending = {splits.find(space, cut.code) for cut in log.cuts}
    for split in (np.flatnonzero(splits.bytes[own] > model.split_bytes) + own.start).tolist():
        limit = splits.limit(split)
        inside = _inside(held, int(splits.start[split]) + 1, limit)
        if split not in pending and len(inside):
            log.cuts.append(Cut(now + model.apply_s, int(inside[len(inside) // 2]), "size", 0.5))


def _early_and_late(keys: list[Codes]) -> tuple[Codes, Codes]:
    """The remembered keys of the first half of the time, and those of the second, sorted."""
    half, nothing = len(keys) // 2, np.empty(0, U)
    return np.sort(np.concatenate([nothing, *keys[:half]])), np.sort(np.concatenate([nothing, *keys[half:]]))


def _inside(keys: Codes, start: int, limit: int | None) -> Codes:
    """Those of the sorted keys that a split [start, limit) holds."""
    end = len(keys) if limit is None else int(np.searchsorted(keys, U(limit)))
    return keys[int(np.searchsorted(keys, U(start))) : end]


def merge_cold(splits: Splits, space: int, log: KeyspaceLog, now: float, model: Model) -> list[Event]:
    """Joins neighbours that were both cold for long enough and stay so together, unless their boundary is still kept.

    A split is joined with one neighbour in a control step.
    """
    own = splits.range(space)
    if own.stop - own.start < 2:
        return []
    cold = now - splits.cold_since[own] >= model.merge_s
    quiet = splits.load[own][:-1] + splits.load[own][1:] < model.merge_score * model.split_writes
    small = splits.bytes[own][:-1] + splits.bytes[own][1:] < model.split_bytes / 2
    kept = splits.pinned_until[own][1:] > now
    upper: list[int] = []
    for split in np.flatnonzero(cold[:-1] & cold[1:] & quiet & small & ~kept) + own.start + 1:
        if not upper or split > upper[-1] + 1:
            upper.append(int(split))
    if not upper:
        return []
    joined = np.array(upper)
    for name in ("queue", "load", "bytes"):
        values = getattr(splits, name)
        values[joined - 1] += values[joined]
    events = [Event(now, "merge", splits.spaces[space].name, int(code)) for code in splits.start[joined]]
    for event in events:
        log.reasons.pop(event.code, None)
    splits.remove(joined)
    return events


# ------------------------------------------------------------------------------------------------------- leaders

WORTH_MOVING = 0.05


def best_move(load: np.ndarray, leader: np.ndarray, by_node: np.ndarray) -> tuple[int, int] | None:
    """The split whose move to the idlest node lowers the busiest node most: (split, node), or None.

    A move must gain 5 % of the mean load of a node. A hot split that is alone on its node never moves: the load would
    be the same elsewhere.
    """
    busiest, idlest = int(by_node.argmax()), int(by_node.argmin())
    gap, least = by_node[busiest] - by_node[idlest], max(WORTH_MOVING * by_node.sum() / len(by_node), 1e-9)
    if gap <= 2 * least:
        return None
    led = np.flatnonzero(leader == busiest)
    split = led[np.abs(load[led] - gap / 2).argmin()]
    return (int(split), idlest) if min(load[split], gap - load[split]) >= least else None


def rebalance(splits: Splits, load: np.ndarray) -> None:
    """Moves leaders from the busiest to the idlest nodes as long as that helps, a quarter of the nodes in one step."""
    by_node = np.bincount(splits.leader, load, splits.nodes)
    for _ in range(max(4, splits.nodes // 4)):
        move = best_move(load, splits.leader, by_node)
        if move is None:
            return
        split, node = move
        by_node[splits.leader[split]] -= load[split]
        by_node[node] += load[split]
        splits.leader[split] = node
