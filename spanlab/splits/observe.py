"""What a run shows: throughput, latency, CPU, splits, and Spanner's own statistics of hot splits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

import numpy as np

from spanlab.splits import latency
from spanlab.splits.heat import MOST_ROW_RANGES, HeatMap, heat_map
from spanlab.splits.keys import CLOCK_START
from spanlab.splits.model import Model
from spanlab.splits.recording import Block, Layout, Recording
from spanlab.splits.state import CommitKind
from spanlab.splits.workload import Workload, length_s

BUSY = 0.02
"""CPU from which a server counts as busy."""
WARM = 0.5
"""CPU_USAGE_SCORE / 100 from which the statistics list a split."""


@dataclass(repr=False, eq=False)
class Run:
    """A simulated run. Arrays per second have one entry for each second that was simulated.

    offered, committed, refused     commits in each second; offered = committed + refused + those that still wait
    cpu                             CPU of each node, 0 to 1: one row for each ten seconds
    model                           the figures it was made with (`run.model.name`, `run.model.caption`)
    """

    recording: Recording
    """What was written down, second by second. The other attributes and methods read it."""
    loads: tuple[Workload, ...] = ()
    kinds: tuple[CommitKind, ...] = ()

    def __repr__(self) -> str:
        """One line: what was offered, what was committed, and how long the slowest commits took."""
        summary, minutes = self.summary(), len(self.offered) / 60
        reasons = f"; {', '.join(self.reasons)}" if self.reasons else ""
        return (
            f"Run of {minutes:g} min on {self.nodes} nodes (model {self.model.name}): {summary['committed']:,} of "
            f"{summary['offered']:,} writes/s committed, p99 {summary['p99_ms']:,} ms, "
            f"{summary['splits']} splits{reasons}"
        )

    @property
    def model(self) -> Model:
        return self.recording.model

    @property
    def nodes(self) -> int:
        return self.recording.nodes

    @cached_property
    def offered(self) -> np.ndarray:
        """Commits that the clients wanted to send, in each second."""
        return np.concatenate(self.recording.offered)

    @cached_property
    def committed(self) -> np.ndarray:
        """Commits done, in each second."""
        return np.concatenate(self.recording.committed)

    @cached_property
    def refused(self) -> np.ndarray:
        """Commits that found all of the clients' sessions waiting, in each second."""
        return np.concatenate(self.recording.refused)

    @property
    def waiting(self) -> float:
        """Commits that are still open when the run ends."""
        return self.recording.open_commits

    @property
    def interrupted(self) -> bool:
        """True where the run was stopped: it then ends early."""
        return self.recording.interrupted

    @cached_property
    def cpu(self) -> np.ndarray:
        """CPU of each node (0 to 1), one row for each control step of ten seconds."""
        return np.array(self.recording.node_cpu)

    @property
    def server_writes(self) -> np.ndarray:
        """Row writes/s that each server (node) commits: the mean of the last minute."""
        return np.array(self.recording.node_writes)[-self._steps_in(60) :].mean(axis=0)

    def _steps_in(self, seconds: float) -> int:
        return max(1, round(seconds / self.recording.model.control_s))

    # ------------------------------------------------------------------------------------------------ latency

    def commit_latency_ms(self, q: float = 0.99) -> np.ndarray:
        """The q-quantile (0 < q < 1) of commit latency in each second, in ms. A model: see `spanlab.splits.latency`."""
        if not 0 < q < 1:
            raise ValueError(f"q is {q!r}; a number between 0 and 1 is wanted, such as 0.99.")
        return np.concatenate([self._block_latency(block, q) for block in self.recording.blocks])

    def _block_latency(self, block: Block, q: float, last: int | None = None) -> np.ndarray:
        model, layout = self.recording.model, block.layout
        start = 0 if last is None else max(0, len(block.arrivals) - last)
        arrivals, queue = block.arrivals[start:].astype(float), block.queue[start:].astype(float)
        speed = block.done[start:].astype(float)
        wait = latency.wait_ms(arrivals, queue, speed, layout.first[:-1], self.kinds, model.split_writes, q)
        return latency.base_ms(model, self._two_phase(block), q) + wait

    def _two_phase(self, block: Block) -> float:
        """The part of a block's commits that need a two-phase commit."""
        layout = block.layout
        return 1 - latency.one_leader_share(layout.leader, block.load[-1], layout.first, self.kinds, self.nodes)

    def _last_latency(self, q: float, seconds: int = 60) -> float:
        parts: list[np.ndarray] = []
        for block in reversed(self.recording.blocks):
            parts.append(self._block_latency(block, q, seconds - sum(map(len, parts))))
            if sum(map(len, parts)) >= seconds:
                break
        return float(np.concatenate(parts).mean())

    # ------------------------------------------------------------------------------------------------ summary

    def summary(self) -> dict[str, object]:
        """The run in one line: means of the last minute.

        offered, committed, refused (per second), p50_ms, p99_ms, splits, hottest_share (the part of the table's writes
        that go to its hottest split), busy_servers (CPU above 2 %), cpu_max, cpu_mean, reasons (why warm splits are
        not cut).
        """
        minute, cpu = slice(-60, None), self.cpu[-self._steps_in(60) :].mean(axis=0)
        return {
            "offered": round(float(self.offered[minute].mean())),
            "committed": round(float(self.committed[minute].mean())),
            "refused": round(float(self.refused[minute].mean())),
            "p50_ms": round(self._last_latency(0.5), 1),
            "p99_ms": round(self._last_latency(0.99), 1),
            "splits": len(self.recording.blocks[-1].layout.start),
            "hottest_share": round(self.hottest_share(), 3),
            "busy_servers": int((cpu > BUSY).sum()),
            "cpu_max": round(float(cpu.max()), 3),
            "cpu_mean": round(float(cpu.mean()), 3),
            "reasons": self.reasons,
        }

    @property
    def reasons(self) -> list[str]:
        """Why warm splits are not cut when the run ends: the words of UNSPLITTABLE_REASONS, each once."""
        return sorted({why for log in self.recording.blocks[-1].layout.reasons for why in log.values()})

    def hottest_share(self, space: int = 0) -> float:
        """The part of a key space's writes that go to its hottest split, in the last minute."""
        layout = self.recording.blocks[-1].layout
        loads = [block.load for block in self.recording.blocks if np.array_equal(block.layout.start, layout.start)]
        load = np.concatenate(loads)[-self._steps_in(60) :].mean(axis=0)
        own = load[layout.first[space] : layout.first[space + 1]]
        return float(own.max() / max(own.sum(), 1e-9))

    def per_minute(self) -> dict[str, list[float]]:
        """offered, committed and refused per second, and p99_ms: the mean of each minute, for stairs."""
        minutes = max(1, len(self.offered) // 60)

        def means(values: np.ndarray) -> list[float]:
            return [round(float(part.mean()), 1) for part in np.array_split(values[: minutes * 60], minutes)]

        return {
            "offered": means(self.offered),
            "committed": means(self.committed),
            "refused": means(self.refused),
            "p99_ms": means(self.commit_latency_ms(0.99)),
        }

    # ------------------------------------------------------------------------------------------------- splits

    def _at(self, second: float | None) -> tuple[Block, int]:
        """The block that holds a second of the run, and the control step in it."""
        blocks = self.recording.blocks
        if second is None:
            return blocks[-1], len(blocks[-1].load) - 1
        step = int(second / self.recording.model.control_s)
        for block in blocks:
            if step < len(block.load):
                return block, step
            step -= len(block.load)
        return blocks[-1], len(blocks[-1].load) - 1

    def splits(self, at: float | None = None) -> list[dict[str, object]]:
        """The splits at a second of the run (default: at its end), in key order.

        For each: keyspace, split_start and split_limit as SPLIT_STATS prints them, leader (node), writes_per_second
        that arrive, share of its key space's writes, cpu_usage_score (0 to 100, of what one split can do), reason.
        """
        block, step = self._at(at)
        layout, result = block.layout, []
        for number, space in enumerate(self.recording.spaces):
            low, high = int(layout.first[number]), int(layout.first[number + 1])
            whole = max(float(block.load[step, low:high].sum()), 1e-9)
            for split in range(low, high):
                start, limit = self._names(layout, number, split)
                load = float(block.load[step, split])
                result.append(
                    {
                        "keyspace": space.name,
                        "split_start": start,
                        "split_limit": limit,
                        "leader": int(layout.leader[split]),
                        "writes_per_second": round(load, 1),
                        "share": round(load / whole, 4),
                        "cpu_usage_score": int(self._score(block, step, split)),
                        "reason": layout.reasons[number].get(int(layout.start[split])),
                    }
                )
        return result

    def _score(self, block: Block, step: int, split: int) -> float:
        return min(100.0, 100 * (block.load[step, split] / self.recording.model.split_writes + block.read_cpu[split]))

    def _names(self, layout: Layout, number: int, split: int) -> tuple[str, str]:
        """Start and limit of a split as text."""
        space = self.recording.spaces[number]
        start = "<begin>" if split == layout.first[number] else self.name_of(number, int(layout.start[split]))
        last = split + 1 == layout.first[number + 1]
        return start, "<end>" if last else f"{space.name}({space.key.text(int(layout.start[split + 1]))})"

    def name_of(self, number: int, code: int) -> str:
        """A code of a key space as text: Orders("40000000")."""
        space = self.recording.spaces[number]
        return f"{space.name}({space.key.text(code)})"

    # ------------------------------------------------------------------------------------- Spanner's statistics

    def split_stats(self, interval: str = "MINUTE") -> list[dict[str, object]]:
        """SPANNER_SYS.SPLIT_STATS_TOP_MINUTE, _10MINUTE or _HOUR: the splits that were warm or hot (facts.md 1.4).

        Columns: INTERVAL_END, SPLIT_START, SPLIT_LIMIT, CPU_USAGE_SCORE (50 warm, 100 hot), AFFECTED_TABLES,
        UNSPLITTABLE_REASONS. A minute's score is the mean over its minute; the longer tables hold the MAX of the
        minutes' scores and the UNION of their reasons. No row means that no split was warm.
        """
        minutes = {"MINUTE": 1, "10MINUTE": 10, "HOUR": 60}.get(interval)
        if minutes is None:
            raise ValueError(f"interval is {interval!r}; there are 'MINUTE', '10MINUTE' and 'HOUR'.")
        found: dict[tuple[int, int, str, str], tuple[float, set[str]]] = {}
        for minute, scores in enumerate(self._scores_by_minute()):
            for (number, start, limit), (score, reasons) in scores.items():
                most, all_reasons = found.setdefault((minute // minutes, number, start, limit), (0.0, set()))
                found[minute // minutes, number, start, limit] = (max(most, score), all_reasons | reasons)
        rows = [
            {
                "INTERVAL_END": CLOCK_START + timedelta(minutes=(part + 1) * minutes),
                "SPLIT_START": start,
                "SPLIT_LIMIT": limit,
                "CPU_USAGE_SCORE": round(score),
                "AFFECTED_TABLES": list(self.recording.spaces[number].tables),
                "UNSPLITTABLE_REASONS": sorted(reasons),
            }
            for (part, number, start, limit), (score, reasons) in found.items()
            if score >= 100 * WARM
        ]
        return sorted(rows, key=lambda row: (row["INTERVAL_END"], -row["CPU_USAGE_SCORE"], row["SPLIT_START"]))  # type: ignore[operator]

    def _scores_by_minute(self) -> list[dict[tuple[int, str, str], tuple[float, set[str]]]]:
        """For each minute and split: the mean score, and the reasons why it was not cut."""
        per_minute = self._steps_in(60)
        sums: list[dict[tuple[int, str, str], list[float]]] = []
        reasons: list[dict[tuple[int, str, str], set[str]]] = []
        step = 0
        for block in self.recording.blocks:
            named = self._worth_naming(block)
            for offset in range(len(block.load)):
                minute = (step + offset) // per_minute
                while len(sums) <= minute:
                    sums.append({})
                    reasons.append({})
                for split, (name, why) in named.items():
                    sums[minute].setdefault(name, []).append(self._score(block, offset, split))
                    reasons[minute].setdefault(name, set()).update(why)
            step += len(block.load)
        return [
            {name: (sum(scores) / len(scores), why[name]) for name, scores in minute.items()}
            for minute, why in zip(sums, reasons, strict=True)
        ]

    def _worth_naming(self, block: Block) -> dict[int, tuple[tuple[int, str, str], set[str]]]:
        """The splits of a block that may be warm, with their names and the reasons why they were not cut."""
        layout, found = block.layout, {}
        most = block.load.max(axis=0) / self.recording.model.split_writes + block.read_cpu
        for split in np.flatnonzero(most >= WARM / 2).tolist():
            number = int(np.searchsorted(layout.first, split, "right")) - 1
            reason = layout.reasons[number].get(int(layout.start[split]))
            found[split] = ((number, *self._names(layout, number, split)), {reason} if reason else set())
        return found

    def key_visualizer(self, row_ranges: int = 128, column_s: int = 10, history: str | None = None) -> HeatMap:
        """The heat map of the run: rows written per second, by row range and stretch of time (facts.md 11).

        `row_ranges` (up to 1,000) are shared out among the tables and indexes; `column_s` seconds make a column;
        `history` ("0h", "5h", "90d") is how far back the rows of the tables reach, by default what the run was given.
        """
        if not 2 <= row_ranges <= MOST_ROW_RANGES:
            raise ValueError(f"row_ranges is {row_ranges!r}; 2 to {MOST_ROW_RANGES:,} are possible.")
        if not 1 <= column_s <= len(self.offered):
            raise ValueError(f"column_s is {column_s!r}; 1 to {len(self.offered)} seconds are possible.")
        recording = self.recording
        return heat_map(
            [band for space in recording.spaces for band in space.bands],
            self.committed,
            self.offered,
            ranges=row_ranges,
            column_s=column_s,
            history_s=recording.history_s if history is None else length_s(history),
            seed=recording.seed,
        )

    # ------------------------------------------------------------------------------------- parts of a database

    def keyspaces(self) -> list[dict[str, object]]:
        """For each table (with its family) and index: name, tables, rows_per_second that are committed (mean of the
        last minute), splits, hottest_share, and scan_ranges: how many ranges a scan over a stretch of time visits
        (None: the whole table)."""
        layout, committed = self.recording.blocks[-1].layout, float(self.committed[-60:].mean())
        return [
            {
                "name": space.name,
                "tables": list(space.tables),
                "rows_per_second": round(committed * space.rows, 1),
                "splits": int(layout.first[number + 1] - layout.first[number]),
                "hottest_share": round(self.hottest_share(number), 3),
                "scan_ranges": space.key.fan_out,
            }
            for number, space in enumerate(self.recording.spaces)
        ]

    def workloads(self) -> list[dict[str, object]]:
        """For each workload: table, offered, committed and refused per second (means of the last minute)."""
        minute = slice(-60, None)
        return [
            {
                "table": load.table,
                "offered": round(float(self.offered[minute].mean()) * kind.portion),
                "committed": round(float(self.committed[minute].mean()) * kind.portion),
                "refused": round(float(self.refused[minute].mean()) * kind.portion),
            }
            for load, kind in zip(self.loads, self.kinds, strict=True)
        ]

    @property
    def follower_cpu(self) -> np.ndarray:
        """CPU that stale reads take on the nodes of a zone without leaders: a row each ten seconds. Applying writes is
        not counted."""
        return np.array(self.recording.follower_cpu)

    @property
    def two_phase_share(self) -> float:
        """The part of the commits, at the end, whose rows lie with more than one leader and need a two-phase commit."""
        return self._two_phase(self.recording.blocks[-1])
