"""The picture that Key Visualizer draws: which ranges of the keys are written when.

The vertical axis is made of row ranges, chosen so that each holds as many of the rows that exist at the end; the tables
and indexes stand in alphabetical order, small keys above (facts.md 11). New rows of a monotonic key fill one range
after the other: a diagonal. A range that stays hot is a horizontal stripe, a key that scatters an even grain. On a
table with a long past the newest hours are a sliver of the rows, and the diagonal becomes a line at the lower edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spanlab.splits.arrivals import aggregate_counts
from spanlab.splits.keys import ROWS_BEFORE, Codes, Key, Span, U
from spanlab.splits.state import Band

SAMPLE = 65_536
STRETCHES = 64
"""Pieces of time from which the keys are taken that row ranges are chosen from."""
MOST_ROW_RANGES = 1_000
HOT = 3
"""A place is hot when it gets more than so many times the writes that as many row ranges get on the average."""


@dataclass(repr=False, eq=False)
class HeatMap:
    """The picture as numbers; its text is one sentence about the place that is hot.

    writes    rows written per second, one row a row range, one column a stretch of `column_s` seconds
    bands     for each row range, the table or index it belongs to
    labels    for each row range, its first key as text
    """

    writes: np.ndarray
    bands: list[str]
    labels: list[str]
    column_s: float

    @property
    def brightest(self) -> list[int]:
        """The brightest row range of each column."""
        return [int(row) for row in self.writes.argmax(axis=0)]

    @property
    def changes(self) -> int:
        """How often the brightest range is another one than in the column before."""
        return int((np.diff(self.brightest) != 0).sum())

    @property
    def brightest_share(self) -> float:
        """The part of all writes that the brightest range of a column gets: the median over the columns."""
        return float(np.median(self.writes.max(axis=0) / np.maximum(self.writes.sum(axis=0), 1e-9)))

    @property
    def hot_places(self) -> list[tuple[int, int]]:
        """The first and the last row range of the hot place, for each column that has a single one.

        The place reaches over all row ranges that are at least half as bright as the brightest of the column. If they
        lie together, in few of the ranges, it is hot: one row, or the stretch that a growing key fills in the time of
        a column. If they lie all over the picture, as those of an even key or of several shards do, it is not.
        """
        places = []
        for column in self.writes.T:
            bright = np.flatnonzero(2 * column >= column.max())
            first, last = int(bright[0]), int(bright[-1])
            if column[first : last + 1].mean() > HOT * column.mean():
                places.append((first, last))
        return places

    def band(self, name: str) -> HeatMap:
        """The band of one table or index alone."""
        rows = [row for row, band in enumerate(self.bands) if band == name]
        if not rows:
            raise ValueError(f"There is no band {name!r}; there are {', '.join(dict.fromkeys(self.bands))}.")
        labels = [self.labels[row] for row in rows]
        return HeatMap(self.writes[rows], [name] * len(rows), labels, self.column_s)

    def __repr__(self) -> str:
        """One sentence: is there a single hot place, and if so, does it move or stay?"""
        columns = int((self.writes.sum(axis=0) > 0).sum())  # in the others nothing was written
        places = self.hot_places
        if 2 * len(places) <= columns:
            said = "no single hot place"
        elif max(first for first, _ in places) <= min(last for _, last in places):  # one range is in all of them
            said = "the hot place stays"
        else:
            said = "the hot place moves"
        times = "once" if self.changes == 1 else f"{self.changes} times"
        return f"Brightest range changes {times} in {self.writes.shape[1]} columns: {said}."


def row_ranges(key: Key, wanted: int, seconds: float, history_s: float, rate: float, seed: int) -> Codes:
    """Codes that cut the rows which exist at the end of a run into ranges of equal size; the first is 0.

    The rows are those of the run and of `history_s` seconds before it, when as many commits a second were sent.
    """
    random = np.random.Generator(np.random.SFC64(seed))
    edges = np.linspace(-history_s, seconds, STRETCHES + 1)
    numbers = _row_numbers(edges, history_s, rate)
    each = max(1, min(SAMPLE, int(rate * (history_s + seconds))) // STRETCHES)
    stretches = []
    for start, end, first, limit in zip(edges[:-1], edges[1:], numbers[:-1], numbers[1:], strict=True):
        stride = int(limit - first) // each | 1  # odd, since bit-reversed keys have a pattern else
        stretches.append(key.draw(random, each, Span(float(start), float(end), int(first), each), stride))
    drawn = np.sort(np.concatenate(stretches))
    chosen = drawn[(np.arange(1, wanted) * len(drawn)) // wanted]
    return np.unique(np.concatenate([np.zeros(1, U), chosen]))


def _row_numbers(moments: np.ndarray, history_s: float, rate: float) -> np.ndarray:
    """The number of the next row at each moment, for keys that count: 0 when the run begins, negative before. A table
    that is counted up has ROWS_BEFORE rows at most when the run begins."""
    before = min(rate * history_s, ROWS_BEFORE - 1)
    past = before / history_s if history_s else 0.0
    return np.where(moments < 0, moments * past, moments * rate)


def heat_map(
    bands: list[Band],
    committed: np.ndarray,
    offered: np.ndarray,
    *,
    ranges: int,
    column_s: int,
    history_s: float,
    seed: int,
) -> HeatMap:
    """The heat of all tables and indexes. `committed` and `offered` are commits of each second."""
    columns = max(1, len(committed) // column_s)
    seconds = columns * column_s
    each = max(2, ranges // len(bands))
    random = np.random.Generator(np.random.SFC64(seed))
    first = np.concatenate([[0], np.cumsum(offered)])[:seconds:column_s].astype(np.int64)
    done = committed[:seconds].reshape(columns, column_s).sum(axis=1)
    starts = np.arange(columns, dtype=float) * column_s
    writes, names, labels = [], [], []
    for band in sorted(bands, key=lambda band: band.name.casefold()):
        count = np.round(done * band.rows).astype(np.int64)
        edges = row_ranges(band.key, each, seconds, history_s, float(offered.mean()), seed)
        span = Span(starts, starts + column_s, first, count)
        writes.append(aggregate_counts(random, band.key, edges, span).T / column_s)
        names += [band.name] * len(edges)
        labels += ["<begin>", *(f"{band.name}({band.key.text(int(edge))})" for edge in edges[1:])]
    return HeatMap(np.concatenate(writes), names, labels, float(column_s))
