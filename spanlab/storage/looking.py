"""Looking at stored rows as Spanner keeps them: in address order, families on one shelf, cuts drawn in."""

from __future__ import annotations

from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from spanlab.storage.refusals import row_name
from spanlab.storage.rows import Entries
from spanlab.storage.sizes import row_bytes
from spanlab.storage.splits import Placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanlab.schema import Schema
    from spanlab.storage.database import Database
    from spanlab.storage.rows import Rows


def placed_rows(database: Database, space: str) -> Iterator[Placed]:
    """All rows and index entries of one key space (a root table or a global index by name), in address order."""
    return merge(*(_placed(database, name, depth) for name, depth in _objects_in(database, space)))


def space_of(schema: Schema, name: str) -> str:
    """The key space that a table or an index lies in: the root of its family, or the index itself if it is global."""
    if name in schema.tables:
        return schema.root(name).name
    inside = schema.index(name).interleave_in
    return schema.root(inside).name if inside else name


def _objects_in(database: Database, space: str) -> list[tuple[str, int]]:
    """The objects that share a key space, each with its depth below the root."""
    schema = database.bound_schema
    if space not in schema.tables:
        return [(space, 0)]
    tables = [space, *(table.name for table in schema.descendants(space))]
    depths = {name: len(schema.ancestors(name)) for name in tables}
    inside = {name: depths[i.interleave_in] + 1 for name, i in schema.indexes.items() if i.interleave_in in depths}
    return [*depths.items(), *inside.items()]


def _placed(database: Database, name: str, depth: int) -> Iterator[Placed]:
    rows: Rows = database.stored(name)
    address = database.split_map.encoders[name]
    for key in rows.ordered():
        row = rows.row(key)
        base = rows.base.row(rows.base_key(key)) if isinstance(rows, Entries) else row
        values = rows.key_values(row)
        yield Placed(address(values), name, values, depth, row_bytes(rows, base))


class Layout:
    """The rows of one key space as they are stored, with the cuts between splits.

    `rows` are (depth, name, key, split) in stored order; the split is a number from 0 within the layout. Printed, each
    row stands on a line, deeper ones indented, and each cut is a line across.
    """

    def __init__(self, placed: list[Placed], numbers: list[int], total: int) -> None:
        first = numbers[0] if numbers else 0
        self.rows = [
            (row.depth, row.name, row.key, number - first) for row, number in zip(placed, numbers, strict=True)
        ]
        self.splits = len(set(numbers))
        self.bytes = sum(row.size for row in placed)
        self._total = total

    def __repr__(self) -> str:
        lines, before = [], 0
        for depth, name, key, split in self.rows:
            if split != before:
                lines.append(f"──────── split {split} starts here " + "─" * 24)
                before = split
            lines.append("  " * depth + row_name(name, key))
        if len(self.rows) < self._total:
            lines.append(f"… {self._total - len(self.rows):,} more")
        return "\n".join(lines) or "(no rows)"


def layout(database: Database, space: str, limit: int | None = None) -> Layout:
    """The first `limit` rows of a key space as they are stored, all without a limit."""
    placed = list(islice(placed_rows(database, space), limit))
    total = sum(len(database.stored(name)) for name, _ in _objects_in(database, space))
    return Layout(placed, [database.split_map.number(row.address) for row in placed], total)


def rows_in_order(database: Database, limit: int | None = None) -> list[str]:
    """Names of rows such as Albums(1,2), over all key spaces in the order in which they are stored."""
    placed = (row for space in database.splits.key_spaces() for row in placed_rows(database, space))
    return [row_name(row.name, row.key) for row in islice(placed, limit)]
