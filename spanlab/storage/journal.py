"""Rows and index entries on their way into storage: written at once, noted before, and taken back where need be.

A row is never written alone: with it go its entries in every index (facts.md 4.2.1). Before every write a note is made
of what stands there. Undoing is reading the notes backwards, so whatever stops a commit in the middle, nothing of it
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spanlab.storage import refusals
from spanlab.storage.counting import counted_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanlab.storage.rows import Row, Rows
    from spanlab.storage.tables import StoredIndex, StoredTable

KEY_LIMIT_BYTES = 8192


class Write(NamedTuple):
    """Rows or entries written together: where, under which keys, what stood there before, and their rows of the table.

    `before` is None where nothing stood there. For rows and entries that were taken out `gone` is True, and
    `table_rows` are the last that stood there.
    """

    rows: Rows
    keys: Sequence[bytes]
    before: Sequence[object] | None
    table_rows: Sequence[Row]
    gone: bool = False


class Journal:
    """Writes to stored tables and their indexes, with notes.

    `writes` are the notes, in order; `mutations` counts what index entries cost (`spanlab.storage.counting`); `touched`
    are the rows written since it was last emptied, as they were before (None: not there).
    """

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.mutations = 0
        self.touched: dict[StoredTable, dict[bytes, Row | None]] = {}

    def put_new(self, table: StoredTable, keys: list[bytes], rows: list[Row]) -> None:
        """Write new rows; none of the keys is taken."""
        touched = self.touched.setdefault(table, {})
        for key in keys:
            touched.setdefault(key, None)
        self._put_all(table.rows, keys, rows, rows)
        for index in table.indexes:
            self._put_new_entries(index, keys, rows)

    def put_changed(self, table: StoredTable, key: bytes, old: Row, new: Row, columns: set[int]) -> None:
        """Write a row anew; `columns` are the positions that may have changed."""
        self.touched.setdefault(table, {}).setdefault(key, old)
        self.writes.append(Write(table.rows, (key,), (old,), (new,)))
        table.rows.put(key, new)
        for index in table.indexes:
            if columns.isdisjoint(index.changing_positions):
                continue
            left, entered = index.key_of(old, key), index.key_of(new, key)
            self.mutations += counted_entries(index, columns, left is not None, entered is not None)
            if left is not None and left != entered:
                self._remove_entry(index, left, old)
            if entered is not None:
                self._put_entry(index, entered, key, new)

    def take_out(self, table: StoredTable, key: bytes, row: Row) -> None:
        """Take a row out."""
        for index in table.indexes:
            entry = index.key_of(row, key)
            if entry is not None:
                self._remove_entry(index, entry, row)
                self.mutations += 1
        self.touched.setdefault(table, {}).setdefault(key, row)
        self.writes.append(Write(table.rows, (key,), (row,), (row,), True))
        table.rows.remove(key)

    def undo(self) -> None:
        """Put everything back as it was before the first write."""
        for write in reversed(self.writes):
            for number, key in enumerate(write.keys):
                if write.before is not None:
                    write.rows.put(key, write.before[number])
                elif key in write.rows:  # noted, but perhaps not written yet
                    write.rows.remove(key)
        self.writes.clear()

    def _put_all(self, rows: Rows, keys: list[bytes], stored: Sequence[object], table_rows: Sequence[Row]) -> None:
        """Write many new rows or entries; none is there yet."""
        if keys and max(map(len, keys)) > KEY_LIMIT_BYTES:
            for key, row in zip(keys, table_rows, strict=True):
                self._check_key_size(rows, key, row)
        self.writes.append(Write(rows, keys, None, table_rows))
        rows.put_new(keys, stored)

    def _put_new_entries(self, index: StoredIndex, keys: list[bytes], rows: list[Row]) -> None:
        if index.needed:
            kept = [n for n, row in enumerate(rows) if index.holds(row)]
            keys, rows = [keys[n] for n in kept], [rows[n] for n in kept]
        self.mutations += len(rows)
        self._put_all(index.entries, index.keys_of(rows, keys), keys, rows)

    def _put_entry(self, index: StoredIndex, key: bytes, base_key: bytes, row: Row) -> None:
        self._check_key_size(index.entries, key, row)
        before = (index.entries.base_key(key),) if key in index.entries else None
        self.writes.append(Write(index.entries, (key,), before, (row,)))
        index.entries.put(key, base_key)

    def _remove_entry(self, index: StoredIndex, key: bytes, row: Row) -> None:
        if key in index.entries:  # while it is backfilled an index lacks entries
            self.writes.append(Write(index.entries, (key,), (index.entries.base_key(key),), (row,), True))
            index.entries.remove(key)

    def _check_key_size(self, rows: Rows, key: bytes, row: Row) -> None:
        if len(key) > KEY_LIMIT_BYTES:
            values = tuple(row[rows.sources[position]] for position in rows.key_positions)
            raise refusals.key_too_large(rows.name, values, len(key))
