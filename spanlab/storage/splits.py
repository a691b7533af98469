"""Splits of stored rows: ranges of addresses, and where they are cut.

A split is a contiguous range of keys, start included and limit excluded (facts.md 1.1.1). A family of tables is one key
space and so is each global index; here each key space begins a split of its own. Cuts fall between root rows as long as
that helps, and inside a family where one alone is too large (facts.md 1.2.3). Nothing but a single row cannot be cut.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from spanlab.storage.refusals import row_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from spanlab.storage.journal import Write


class SplitPoint(NamedTuple):
    """A place to cut: before the first row at or after `key` in a table or an index. The key may be its first parts."""

    address: bytes
    name: str
    key: tuple[object, ...]

    def __str__(self) -> str:
        return row_name(self.name, self.key)


@dataclass(frozen=True)
class Split:
    """A range of keys that is served as one: `start` included, `limit` excluded; None is the end of the world."""

    start: SplitPoint | None
    limit: SplitPoint | None

    def __str__(self) -> str:
        return f"[{self.start or '<begin>'}, {self.limit or '<end>'})"

    __repr__ = __str__


class Placed(NamedTuple):
    """A row or an index entry with its place: how deep below the root of its key space it lies, and its size."""

    address: bytes
    name: str
    key: tuple[object, ...]
    depth: int
    size: int


class SplitMap:
    """Which split an address lies in. A map never changes; cutting makes another.

    `encoders` give the address of a key, by the name of a table or an index.
    """

    def __init__(
        self,
        encoders: Mapping[str, Callable[[Sequence[object]], bytes]],
        points: Iterable[SplitPoint],
    ) -> None:
        self.encoders = encoders
        self.points = tuple(sorted({point.address: point for point in points}.values()))
        self._addresses = [point.address for point in self.points]

    def point(self, name: str, key: Sequence[object]) -> SplitPoint:
        """The place before a key (or all keys that begin with it) of a table or an index."""
        return SplitPoint(self.encoders[name](key), name, tuple(key))

    def number(self, address: bytes) -> int:
        """The number of the split that an address lies in, counted from 0 in key order."""
        return bisect_right(self._addresses, address)

    def split(self, number: int) -> Split:
        """The split with that number."""
        start = self.points[number - 1] if number > 0 else None
        return Split(start, self.points[number] if number < len(self.points) else None)

    def covering(self, writes: Iterable[Write]) -> list[Split]:
        """The splits that these writes fall into, in key order."""
        numbers = set()
        for write in writes:
            rows = write.rows
            sources = [rows.sources[position] for position in rows.key_positions]
            for row in write.table_rows:
                numbers.add(self.number(self.encoders[rows.name]([row[source] for source in sources])))
        return [self.split(number) for number in sorted(numbers)]


def cuts_by_size(rows: Iterable[Placed], limit_bytes: int) -> list[SplitPoint]:
    """Where one key space is cut so that no split is larger than the limit, where that is possible.

    Whole families are put into a split while they fit. A family that does not fit into a split of its own is cut
    inside.
    """
    points: list[SplitPoint] = []
    filled = 0
    for family in _families(rows):
        size = sum(row.size for row in family)
        if filled and filled + size > limit_bytes:
            points.append(_before(family[0]))
            filled = 0
        if size <= limit_bytes:
            filled += size
            continue
        for row in family:
            if filled and filled + row.size > limit_bytes:
                points.append(_before(row))
                filled = 0
            filled += row.size
    return points


def _families(rows: Iterable[Placed]) -> Iterable[list[Placed]]:
    family: list[Placed] = []
    root: bytes | None = None
    for row in rows:
        if root is None or not row.address.startswith(root) or row.depth == 0:
            if family:
                yield family
            family = []
            root = row.address if row.depth == 0 else None
        family.append(row)
    if family:
        yield family


def _before(row: Placed) -> SplitPoint:
    return SplitPoint(row.address, row.name, row.key)
