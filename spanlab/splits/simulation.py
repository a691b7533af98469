"""The run: a load on a database, second after second, with Spanner cutting, joining and moving splits meanwhile.

A tick is a second. Every ten seconds (`control_s`) the control loop looks at the splits: which are warm, which cold,
which split points take effect, which leader moves. Between two of its decisions nothing changes but the queues, so the
run goes ahead many steps in one array operation and keeps what lies before the first step in which the control loop
would have done something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spanlab.splits import splitter
from spanlab.splits.arrivals import Router, aggregate_counts, poisson_counts
from spanlab.splits.keys import Codes, Span, U
from spanlab.splits.model import Model
from spanlab.splits.recording import Block, Layout, Recording
from spanlab.splits.serving import Capacity, ReadCpu, Served, node_room, read_cpu, serve
from spanlab.splits.splitter import KeyspaceLog
from spanlab.splits.state import Keyspace, Splits

Rate = float | Callable[[float], float]
"""Commits per second: a number, or a function of the second of the run."""

MOST_STEPS_AHEAD = 60


@dataclass
class Stretch:
    """Some control steps, simulated ahead as if nothing would be decided in them.

    span     the ticks, with the number of commits in each
    rows     rows that arrive, ticks x splits
    samples  in exact mode, for each key space a sample of each tick's keys
    cpu      what reads cost
    served   what became of the rows
    load     row writes/s of each split, steps x splits; warm and cold: which of them were that
    """

    span: Span
    rows: np.ndarray
    samples: list[list[Codes]]
    cpu: ReadCpu
    served: Served
    load: np.ndarray
    warm: np.ndarray
    cold: np.ndarray


class Simulation:
    """A database under load. `advance` goes on to the next decision of the control loop, `recording` has what was seen.

    With `adapt=False` the splits stay as they are (leaders still move).
    """

    def __init__(
        self,
        spaces: list[Keyspace],
        rate: Rate,
        *,
        nodes: int,
        seconds: float,
        model: Model,
        seed: int,
        exact: bool = False,
        adapt: bool = True,
        history_s: float = 0.0,
    ) -> None:
        self.random = np.random.Generator(np.random.SFC64(seed))
        self.model, self.rate, self.exact, self.adapt = model, rate, exact, adapt
        self.ticks = max(1, round(model.control_s))
        """Ticks in a control step."""
        self.step, self.steps = 0, max(1, round(seconds / self.ticks))
        self.commits = 0
        """Commits that were sent so far: the number of the next one."""
        self.reach = 4
        """Steps to simulate ahead: more and more as long as nothing happens."""
        self.splits = Splits(spaces, nodes, self.random)
        self.rows = np.array([space.rows for space in spaces])
        self.logs = [KeyspaceLog() for _ in spaces]
        self.recording = Recording(model, nodes, spaces, seed, history_s)
        self._layout: Layout | None = None

    def advance(self) -> None:
        """Simulates up to the next decision of the control loop, and lets it decide."""
        stretch = self._ahead(min(self.reach, self._steps_to_next_timer()))
        steps = self._steps_unchanged(stretch)
        self.reach = min(2 * steps, MOST_STEPS_AHEAD)
        self._record(stretch, steps)
        self._remember(stretch, steps)
        self._control()

    # --------------------------------------------------------------------------------------- simulating ahead

    def _ahead(self, steps: int) -> Stretch:
        """The next steps, with the splits as they are now."""
        model, splits, ticks = self.model, self.splits, self.ticks
        start = self.step * ticks + np.arange(steps * ticks, dtype=float)
        counts, span, samples = self._arrivals(Span(start, start + 1.0), self._rates(start))
        rows = counts if (self.rows == 1.0).all() else counts * np.repeat(self.rows, np.diff(splits.first))
        cpu = read_cpu(splits, Span(float(start[0]), float(start[-1]) + 1.0), model.replicas)
        room = node_room(model, splits.nodes, splits.leader, cpu.leader)
        served = serve(splits, rows, Capacity(model.split_writes, room, model.open_commits * self.rows))
        load = rows.reshape(steps, ticks, -1).mean(axis=1) + served.queue[ticks - 1 :: ticks] / ticks
        score = load / model.split_writes + cpu.leader
        return Stretch(
            span, rows, samples, cpu, served, load, warm=score >= model.warm_score, cold=score < model.merge_score
        )

    def _rates(self, start: np.ndarray) -> np.ndarray:
        """Commits that are expected in each tick."""
        if not callable(self.rate):
            return np.full(len(start), float(self.rate))
        rates = np.array([float(self.rate(second)) for second in start])
        if not (np.isfinite(rates) & (rates >= 0)).all():
            raise ValueError("writes_per_second gave a rate that is negative or no number.")
        return rates

    def _arrivals(self, span: Span, rates: np.ndarray) -> tuple[np.ndarray, Span, list[list[Codes]]]:
        """Commits that reach each split in each tick; the span with their numbers; exact mode: samples of the keys."""
        spaces, splits = self.splits.spaces, self.splits
        samples: list[list[Codes]] = [[] for _ in spaces]
        if not self.exact and len(spaces) == 1 and not spaces[0].key.numbered:
            counts = poisson_counts(self.random, spaces[0].key, splits.start, span, rates)
            return counts, self._numbered(span, counts.sum(axis=1).astype(np.int64)), samples
        span = self._numbered(span, self.random.poisson(rates))
        counts_of = [
            self._exact_counts(number, span, samples[number])
            if self.exact
            else aggregate_counts(self.random, space.key, splits.start[splits.range(number)], span)
            for number, space in enumerate(spaces)
        ]
        return np.hstack(counts_of), span, samples

    def _numbered(self, span: Span, count: np.ndarray) -> Span:
        """The span with the number of commits in each tick, and the number of the first of them."""
        return Span(span.start, span.end, self.commits + np.cumsum(count) - count, count)

    def _exact_counts(self, number: int, span: Span, samples: list[Codes]) -> np.ndarray:
        """Draws and looks up every key of a key space, in portions that fit the cache."""
        start, key = self.splits.start[self.splits.range(number)], self.splits.spaces[number].key
        router, counts = Router(start), np.zeros((len(span.count), len(start)))
        in_a_step = int(span.count.sum()) // len(span.count) * self.ticks
        each = max(1, in_a_step // self._sample_size(len(start)))
        for tick, n in enumerate(span.count.tolist()):
            now = Span(span.start[tick], span.end[tick], int(span.first[tick]), n)
            portions = 1 if key.serial else max(1, -(-n // router.portion))
            for portion in range(portions):
                drawn = key.draw(self.random, n * (portion + 1) // portions - n * portion // portions, now)
                if portion == 0:
                    sampled = self.random.integers(0, len(drawn), n // each + 1) if n else []
                    samples.append(drawn[sampled] if n else np.empty(0, U))
                if len(drawn):
                    counts[tick] += router.counts(drawn)
        return counts

    def _sample_size(self, splits: int) -> int:
        """Keys that are remembered in a control step."""
        return max(self.model.sampled_keys, 64 * splits)

    # ------------------------------------------------------------------------------- how far nothing changes

    def _steps_to_next_timer(self) -> int:
        """Control steps up to the next moment at which a timer of the control loop runs out."""
        now, model, splits = self.step * self.ticks, self.model, self.splits
        due: list[float] = [self.steps * self.ticks, now + MOST_STEPS_AHEAD * self.ticks]
        due += [cut.due_s for log in self.logs for cut in log.cuts]
        due.append(splits.warm_since.min() + model.detect_s)
        merges = splits.cold_since + model.merge_s
        due.append(merges[merges > now].min(initial=np.inf))
        due.append(splits.pinned_until[splits.pinned_until > now].min(initial=np.inf))
        growth = np.minimum(2 * splits.load + 1, model.split_writes) * model.row_bytes
        due.append(now + ((model.split_bytes - splits.bytes) / growth).min())
        return max(1, int((min(due) - now) / self.ticks))

    def _steps_unchanged(self, stretch: Stretch) -> int:
        """Steps up to the first in which a split turns warm or cold (or stops to be), or a leader should move."""
        splits, steps = self.splits, len(stretch.load)
        turned = (stretch.warm != np.isfinite(splits.warm_since)).any(axis=1)
        turned |= (stretch.cold != np.isfinite(splits.cold_since)).any(axis=1)
        for step in range(steps - 1):
            by_node = np.bincount(splits.leader, stretch.load[step], splits.nodes)
            if turned[step] or splitter.best_move(stretch.load[step], splits.leader, by_node):
                return step + 1
        return steps

    # ------------------------------------------------------------------------------ what stands of the stretch

    def _record(self, stretch: Stretch, steps: int) -> None:
        """Writes down what was measured in the first steps of a stretch."""
        recording, splits, served, ticks = self.recording, self.splits, stretch.served, steps * self.ticks
        count, admitted = stretch.span.count[:ticks].astype(float), served.admitted[:ticks]
        waiting = self._open_commits(served.queue[:ticks])
        waited = np.concatenate([[recording.open_commits], waiting[:-1]])
        recording.offered.append(count)
        recording.refused.append((1.0 - admitted) * count)
        recording.committed.append(admitted * count + waited - waiting)
        recording.open_commits = float(waiting[-1])
        self._record_nodes(served.done[:ticks].reshape(steps, self.ticks, -1).sum(axis=1), stretch.cpu)
        if self._layout is None:
            reasons = [dict(log.reasons) for log in self.logs]
            self._layout = Layout(splits.first, splits.start, splits.leader.copy(), reasons)
        recording.blocks.append(
            Block(
                layout=self._layout,
                arrivals=stretch.rows[:ticks].astype(np.float32),
                queue=served.queue[:ticks].astype(np.float32),
                before=splits.queue,
                admitted=admitted,
                load=stretch.load[:steps],
                read_cpu=stretch.cpu.leader,
            )
        )

    def _record_nodes(self, done: np.ndarray, cpu: ReadCpu) -> None:
        """Writes and CPU of each node, from the rows of each step and split."""
        recording, leader, nodes = self.recording, self.splits.leader, self.splits.nodes
        reads, follower = (np.minimum(1.0, np.bincount(leader, used, nodes)) for used in (cpu.leader, cpu.follower))
        for rows in done:
            writes = np.bincount(leader, rows, nodes) / self.ticks
            recording.node_writes.append(writes)
            recording.node_cpu.append(writes / self.model.node_writes + reads)
            recording.follower_cpu.append(follower)

    def _open_commits(self, queue: np.ndarray) -> np.ndarray:
        """Commits that are open: each is as late as the slowest of the key spaces that it writes to."""
        waiting = self.splits.sum_by_space(queue)
        return (waiting / np.where(self.rows > 0, self.rows, np.inf)).max(axis=1)

    def _remember(self, stretch: Stretch, steps: int) -> None:
        """Moves the state on by the first steps of a stretch: queues, sizes, timers, and the sampled keys."""
        splits, served, ticks = self.splits, stretch.served, steps * self.ticks
        warm, cold, last_step = stretch.warm[steps - 1], stretch.cold[steps - 1], (self.step + steps - 1) * self.ticks
        splits.queue, splits.load = served.queue[ticks - 1].copy(), stretch.load[steps - 1].copy()
        splits.bytes = splits.bytes + served.done[:ticks].sum(axis=0) * self.model.row_bytes
        splits.warm_since = np.where(warm, np.minimum(splits.warm_since, last_step), np.inf)
        splits.cold_since = np.where(cold, np.minimum(splits.cold_since, last_step), np.inf)
        if self.adapt:
            for number in range(len(splits.spaces)):
                self._remember_keys(number, stretch, steps)
        self.commits += int(stretch.span.count[:ticks].sum())
        self.step += steps

    def _remember_keys(self, number: int, stretch: Stretch, steps: int) -> None:
        """Keeps a sample of the keys of each step in which a split of the key space is warm."""
        keys, own = self.logs[number].keys, self.splits.range(number)
        wanted = max(2, round(self.model.detect_s / self.model.control_s))
        for step in range(max(0, steps - wanted), steps):
            if not stretch.warm[step, own].any():
                keys.clear()
            elif self.exact:
                keys.append(np.concatenate(stretch.samples[number][step * self.ticks : (step + 1) * self.ticks]))
            else:
                keys.append(self._sample(number, stretch.span, step))
        del keys[:-wanted]

    def _sample(self, number: int, span: Span, step: int) -> Codes:
        """A sample of the keys of one control step. An odd stride has no pattern in bit-reversed keys."""
        first, last = step * self.ticks, (step + 1) * self.ticks - 1
        count, own = int(span.count[first : last + 1].sum()), self.splits.range(number)
        stride = count // self._sample_size(own.stop - own.start) | 1
        whole = Span(float(span.start[first]), float(span.end[last]), int(span.first[first]), count)
        return self.splits.spaces[number].key.draw(self.random, count // stride + 1, whole, stride)

    # ------------------------------------------------------------------------------------------ control loop

    def _control(self) -> None:
        """Split points take effect, new ones are chosen, cold splits are joined, leaders move."""
        before, now, splits = self._shape(), float(self.step * self.ticks), self.splits
        if self.adapt:
            self._cut_and_join(now)
        splitter.rebalance(splits, splits.load)
        if self._shape() != before:
            self._layout = None

    def _cut_and_join(self, now: float) -> None:
        splits, model, events, logs = self.splits, self.model, self.recording.events, list(enumerate(self.logs))
        for number, log in logs:
            events += splitter.apply_cuts(splits, number, log, now)
        scanned = self._scanned(now)
        for number, log in logs:
            splitter.plan_load_cuts(splits, number, log, now, model, scanned)
            if (splits.bytes[splits.range(number)] > model.split_bytes).any():
                splitter.plan_size_cuts(splits, number, log, now, model, self._held(number, now))
        for number, log in logs:
            merged = splitter.merge_cold(splits, number, log, now, model)
            events += merged
            self.reach = 1 if merged else self.reach  # the next neighbours are due at once

    def _scanned(self, now: float) -> np.ndarray:
        """Which splits are kept busy mostly by scans."""
        if not any(space.reads for space in self.splits.spaces):
            return np.zeros(len(self.splits), bool)
        cpu = read_cpu(self.splits, Span(now, now + self.ticks), self.model.replicas)
        return cpu.scans > (self.splits.load / self.model.split_writes + cpu.leader) / 2

    def _held(self, number: int, now: float) -> Codes:
        """A sorted sample of the keys that were written so far."""
        stride = self.commits // 16_384 | 1
        n = self.commits // stride + 1
        return np.sort(self.splits.spaces[number].key.draw(self.random, n, Span(0.0, now, 0, self.commits), stride))

    def _shape(self) -> tuple[object, ...]:
        """What tells one layout of splits from another."""
        reasons = tuple(tuple(log.reasons.items()) for log in self.logs)
        return self.splits.start.tobytes(), self.splits.leader.tobytes(), reasons
