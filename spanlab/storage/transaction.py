"""One transaction: rows written and deleted in order, all rules kept, and everything undone when one is broken.

Some rules hold at every step: a key is taken or free, a parent row is there before its children, a NOT NULL column
gets a value (facts.md 3.13). The others are looked at when a step ends, over all the rows it touched: generated
columns that may not be NULL, CHECK, UNIQUE, foreign keys. A commit of mutations is one step; with DML each statement
is one (facts.md 5.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.storage import checks, refusals
from spanlab.storage.foreign_keys import referencing_keys
from spanlab.storage.journal import Journal
from spanlab.storage.key_sets import key_sets
from spanlab.storage.row_making import RowMaker
from spanlab.storage.rows import after_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from spanlab.schema import Schema
    from spanlab.storage.filling import Filler
    from spanlab.storage.key_sets import Range
    from spanlab.storage.rows import Row
    from spanlab.storage.tables import StoredTable

COMMIT_LIMIT_BYTES = 100 * 2**20
_MOST_BYTES_A_LETTER = 16
_SURELY_SMALL = 10_000


class Transaction(Journal):
    """Writes to stored tables that hold together.

    `mutations` counts as the service does (`spanlab.storage.counting` has the rules). In a `with` statement it undoes
    itself when anything goes wrong inside.
    """

    def __init__(self, schema: Schema, tables: dict[str, StoredTable], filler: Filler, now: datetime) -> None:
        super().__init__()
        self.tables, self.now = tables, now
        self.maker = RowMaker(schema, filler, now)
        self._written: dict[StoredTable, dict[bytes, Row]] = {}
        self._deleted: dict[StoredTable, list[Range]] = {}

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self.undo()

    # the mutations

    def insert(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Write new rows. ALREADY_EXISTS where a key is taken."""
        table = self.table(name)
        positions = self._positions(table, columns)
        self._all_not_null_named(table, positions, "insert")
        self.insert_values(table, positions, _by_column(table, columns, rows), len(rows))

    def insert_values(
        self, table: StoredTable, positions: Sequence[int], values: Sequence[Sequence[object]], count: int
    ) -> list[bytes]:
        """Write new rows given column by column; the encoded keys of the rows."""
        new = self.maker.complete(table, positions, values, count)
        keys = table.rows.encode_all(list(map(table.rows.key_values, new)))
        self._all_free(table, keys, new)
        if table.parent_must_exist:
            self._parents_exist(table, new)
        if table.restricted:
            for key, row in zip(keys, new, strict=True):
                self._note_written(table, key, row)
        self.mutations += len(table.always_counted.union(positions)) * count
        self.put_new(table, keys, new)
        return keys

    def update(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Change rows that exist. NOT_FOUND where one does not."""
        table = self.table(name)
        positions = self._positions(table, columns, keys_may_be_generated=True)
        values = self.maker.accept(table, positions, _by_column(table, columns, rows))
        for row in zip(*values, strict=True) if values else ():
            key = self.maker.named_key(table, positions, row, "update")
            if key not in table.rows:
                raise refusals.missing_row(
                    table.name, table.rows.key_values(self.maker.partial_row(table, positions, row))
                )
            self.change(table, key, dict(zip(positions, row, strict=True)))

    def insert_or_update(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Write rows whether or not they exist; columns of an existing row that are not named stay as they are."""
        table = self.table(name)
        positions = self._positions(table, columns)
        self._all_not_null_named(table, positions, "insert_or_update")
        _by_column(table, columns, rows)
        for row in rows:
            self.write_row(table, positions, row, "UPDATE")

    def write_row(
        self, table: StoredTable, positions: Sequence[int], row: Sequence[object], alternative: str
    ) -> bytes | None:
        """Insert one row or, where its key is taken, change it ("UPDATE") or leave it as it is ("IGNORE").

        The encoded key of the row written, None where nothing was.
        """
        values = self.maker.accept(table, positions, [(value,) for value in row])
        one = tuple(column[0] for column in values)
        key = self.maker.known_key(table, positions, one)
        if key is None or key not in table.rows:
            return self.insert_values(table, positions, values, 1)[0]
        if alternative == "IGNORE":
            return None
        self.change(table, key, dict(zip(positions, one, strict=True)))
        return key

    def replace(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Write whole rows: an existing one is deleted first, with all that a delete brings (its children too)."""
        table = self.table(name)
        positions = self._positions(table, columns)
        self._all_not_null_named(table, positions, "replace")
        for row in rows:
            values = self.maker.accept(table, positions, _by_column(table, columns, [row]))
            key = self.maker.known_key(table, positions, tuple(column[0] for column in values))
            if key is not None and key in table.rows:
                self.delete_row(table, key)
            self.insert_values(table, positions, values, 1)

    def delete(self, name: str, which: object) -> None:
        """Delete rows by keys, by key range, or all (`spanlab.storage.key_sets`). What is not there is no error."""
        table = self.table(name)
        keys, ranges = key_sets(table, which)
        self.delete_keys(table, keys)
        for start, end in ranges:
            self.mutations += 1
            self._forbid_written(table, start, end)
            for key in list(table.rows.between(start, end)):
                if key in table.rows:  # a cascade may have taken it
                    self.delete_row(table, key)

    def delete_keys(self, table: StoredTable, keys: Iterable[bytes]) -> None:
        """Delete the rows with these encoded keys, each a mutation of its own."""
        for key in keys:
            self.mutations += 1
            self._forbid_written(table, key, after_prefix(key))
            if key in table.rows:
                self.delete_row(table, key)

    # single rows

    def change(self, table: StoredTable, key: bytes, values: dict[int, object]) -> None:
        """Give columns of an existing row new values (already accepted); its generated columns follow."""
        old = table.rows.row(key)
        changed = list(old)
        for position, value in values.items():
            changed[position] = value
        touched = {*values, *table.key_positions}
        for position, column in enumerate(table.columns):
            if column.on_update is not None and position not in values:
                changed[position] = self.now
                touched.add(position)
        if table.computed or table.key_computed:
            touched |= self.maker.compute_one(table, changed, touched)
        new = tuple(changed)
        if table.key_computed and table.rows.encode(table.rows.key_values(new)) != key:
            raise refusals.bad_key(
                table.name,
                f"the update would move {refusals.row_name(table.name, table.rows.key_values(old))} to another key",
                "keys cannot be updated: delete the row and insert it anew",
            )
        self.mutations += len(touched - table.virtual)
        if not table.restricted.isdisjoint(values):
            self._note_written(table, key, old)
        self.put_changed(table, key, old, new, touched)

    def delete_row(self, table: StoredTable, key: bytes) -> None:
        """Take out one row and all rows that go with it, or refuse where one of them must stay.

        Interleaved children go without being counted, rows that a foreign key takes along count one each
        (facts.md 5.1, 6.1).
        """
        waiting = [(table, key, 0)]
        while waiting:
            table, key, mutations = waiting.pop()
            row = table.rows.get(key)
            if row is None:  # gone already by another way
                continue
            self.mutations += mutations
            waiting += [(child, below, 0) for child, below in self._children_to_delete(table, key, row)]
            self.take_out(table, key, row)
            for reference in table.referenced_by:
                if reference.cascades:
                    waiting += [(reference.table, other, 1) for other in referencing_keys(reference, row)]

    def _children_to_delete(self, table: StoredTable, key: bytes, row: Row) -> Iterator[tuple[StoredTable, bytes]]:
        for child in table.children:
            for below in list(child.rows.beginning_with(key)):
                if not child.cascades():
                    own, below_it = table.rows.key_values(row), child.rows.key_values(child.rows.row(below))
                    raise refusals.children_remain(table.name, own, child.name, below_it)
                yield child, below

    # ends

    def end_step(self) -> None:
        """Look at the rules that hold at the end of a statement or a commit, over the rows touched since then."""
        touched, self.touched = self.touched, {}
        unsure, self.maker.unsure = self.maker.unsure, {}
        for table, keys in touched.items():
            checks.rows_are_valid(table, keys, unsure.get(table, set()), self.now)
        for table, keys in touched.items():
            checks.unique(table, keys)
        for table, keys in touched.items():
            checks.references(table, keys)

    @property
    def could_be_large(self) -> bool:
        """False where the values written are so short that all of them, with all index entries, are below 100 MiB."""
        if self.maker.length < _SURELY_SMALL:
            return False
        copies = 1 + max((len(table.indexes) for table in self.tables.values()), default=0)
        return self.maker.length * _MOST_BYTES_A_LETTER * copies > COMMIT_LIMIT_BYTES // 2

    # names and values

    def table(self, name: str) -> StoredTable:
        """The stored table of that name (case does not count); NOT_FOUND where there is none."""
        found = self.tables.get(name.casefold())
        if found is None:
            raise refusals.unknown_table(name, [table.name for table in self.tables.values()])
        return found

    def _positions(
        self, table: StoredTable, columns: Sequence[str], *, keys_may_be_generated: bool = False
    ) -> list[int]:
        positions: list[int] = []
        for name in columns:
            try:
                position = table.position(name)
            except KeyError:
                raise refusals.unknown_column(table.name, name, table.rows.columns) from None
            if position in positions:
                raise refusals.column_twice(table.name, name)
            named_as_key = keys_may_be_generated and position in table.key_positions
            if position in table.generated and not named_as_key:
                raise refusals.generated_column(table.name, name)
            positions.append(position)
        return positions

    def _all_not_null_named(self, table: StoredTable, positions: Sequence[int], kind: str) -> None:
        for position in table.required:
            if position not in positions:
                raise refusals.missing_not_null(table.name, table.columns[position], kind)

    # what must be there, and what must not

    def _all_free(self, table: StoredTable, keys: list[bytes], rows: list[Row]) -> None:
        seen: set[bytes] = set()
        for key, row in zip(keys, rows, strict=True):
            if key in table.rows or key in seen:
                raise refusals.exists(table.name, table.rows.key_values(row))
            seen.add(key)

    def _parents_exist(self, table: StoredTable, rows: list[Row]) -> None:
        parent, found = table.parent, set()
        for values, row in zip(map(table.parent_values, rows), rows, strict=True):
            if values in found or parent is None:
                continue
            if table.rows.encode(values) not in parent.rows:
                raise refusals.missing_parent(table.name, table.rows.key_values(row), parent.name, values)
            found.add(values)

    # rows that a cascading foreign key references may not be written and deleted in one commit

    def _note_written(self, table: StoredTable, key: bytes, row: Row) -> None:
        for start, end in self._deleted.get(table, ()):
            if (start is None or start <= key) and (end is None or key < end):
                raise refusals.written_and_deleted(table.name, table.rows.key_values(row))
        self._written.setdefault(table, {})[key] = row

    def _forbid_written(self, table: StoredTable, start: bytes | None, end: bytes | None) -> None:
        if not table.restricted:
            return
        for key, row in self._written.get(table, {}).items():
            if (start is None or start <= key) and (end is None or key < end):
                raise refusals.written_and_deleted(table.name, table.rows.key_values(row))
        self._deleted.setdefault(table, []).append((start, end))


def _by_column(
    table: StoredTable, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> list[tuple[object, ...]]:
    """The values of a mutation column by column."""
    wanted = len(columns)
    for row in rows:
        if not isinstance(row, (list, tuple)):
            raise refusals.unreadable(f"{refusals.shown(row)} is no row of {table.name}")
        if len(row) != wanted:
            raise refusals.wrong_width(table.name, wanted, len(row))
    return list(zip(*rows, strict=True)) if rows else [()] * wanted
