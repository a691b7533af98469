"""How much room rows take, by the documented estimate: 8 bytes for each value and the value itself (facts.md 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.values import size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanlab.storage.journal import Write
    from spanlab.storage.rows import Row, Rows


def row_bytes(rows: Rows, row: Row, *, key_only: bool = False) -> int:
    """Bytes of a row of a table, or of the entry that an index keeps for it; a NULL takes 8.

    `row` is the table's row in both cases.
    """
    columns = rows.key_positions if key_only else rows.sized
    return sum(size_in_bytes(rows.types[number], row[rows.sources[number]]) for number in columns)


def total_bytes(rows: Rows) -> int:
    """Bytes of all rows of a table, or of all entries of an index."""
    columns = [(rows.types[number], rows.column(rows.columns[number])) for number in rows.sized]
    return sum(size_in_bytes(type_, value) for type_, values in columns for value in values)


def written_bytes(writes: Iterable[Write]) -> int:
    """Bytes of all that was written; what was taken out counts its keys."""
    return sum(row_bytes(write.rows, row, key_only=write.gone) for write in writes for row in write.table_rows)
