"""Stored rows after a change of their table's columns: columns added, dropped, renamed or of another type.

Keys stay as they are: Spanner changes no key columns (facts.md 10), and the types that a key column may change to
(STRING and BYTES, an ENUM and INT64) keep its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.errors import QueryError
from spanlab.storage import refusals
from spanlab.storage.computing import over_rows
from spanlab.storage.filling import fill
from spanlab.storage.rows import Entries, Row, TableRows
from spanlab.storage.tables import index_entries, table_rows
from spanlab.values import check_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from spanlab.catalog import Column, Index, Table
    from spanlab.schema import Schema
    from spanlab.storage.filling import Filler
    from spanlab.storage.tables import StoredTable


def reshaped_rows(old: Table, new: Table, rows: TableRows) -> TableRows:
    """The rows of a table under its new definition; added columns are NULL. The same object where the shape is the
    same.

    Raises ConstraintError for a value that the new type of its column cannot hold.
    """
    rows.name = new.name
    if _shape(old) == _shape(new):
        rows.types = tuple(column.type for column in new.columns)
        return rows
    makers = [_maker(old, new, column) for column in new.columns]
    shaped = table_rows(new)
    for key in rows.ordered():
        row = rows.row(key)
        shaped.put(key, tuple(make(row) for make in makers))
    return shaped


def _shape(table: Table) -> list[tuple[str, str, bool]]:
    return [(c.name, c.type.name, c.generated is not None and not c.stored) for c in table.columns]


def _maker(old: Table, new: Table, column: Column) -> Callable[[Row], object]:
    """How the value of a column comes from the old row."""
    was = old.column(column.name)
    if was is None:
        return lambda row: None
    position = old.columns.index(was)
    pair = (was.type.name, column.type.name)
    if pair in (("STRING", "BYTES"), ("BYTES", "STRING")):
        return lambda row: _converted(new, column, row[position])
    return lambda row: row[position]


def _converted(table: Table, column: Column, value: object) -> object:
    """A text as bytes, or bytes as a text; it must fit the column."""
    try:
        made = value.decode() if isinstance(value, bytes) else value.encode() if isinstance(value, str) else value
        check_value(column.type, made)
        return made
    except UnicodeDecodeError:
        raise refusals.bad_value(table.name, column.name, f"{refusals.shown(value)} is no UTF-8 text") from None
    except ValueError as error:
        raise refusals.bad_value(table.name, column.name, str(error)) from None


def reshaped_entries(schema: Schema, index: Index, entries: Entries, base: TableRows) -> Entries:
    """The entries of an index under its new definition, over the base table's new rows."""
    columns = schema.index_columns(index)
    if entries.base is base and tuple(columns) == entries.columns:
        entries.types = tuple(base.types[base.position(column)] for column in columns)
        return entries
    shaped = index_entries(schema, index, base)
    for key in entries.ordered():
        shaped.put(key, entries.base_key(key))
    return shaped


def fill_added(schema: Schema, before: Table, stored: StoredTable, filler: Filler, now: datetime) -> None:
    """Give old rows their values in added columns: defaults, and what is generated (facts.md 5.3).

    A virtual generated column with a new expression is worked out anew as well.
    """
    added = {n for n, column in enumerate(stored.columns) if before.column(column.name) is None}
    filled = sorted(added & stored.filled)
    computed = [c for c in stored.computed if c.position in added or _expression_changed(before, stored, c.position)]
    keys = list(stored.rows.ordered())
    if not keys or not (filled or computed):
        return
    rows = [stored.rows.row(key) for key in keys]
    for position in filled:
        rows = _with_column(rows, position, fill(filler, schema, stored, position, len(rows), now))
    for column in computed:
        try:
            values = over_rows(column.expression, column.inputs, stored, rows, now)
        except QueryError as error:
            name = stored.columns[column.position].name
            raise refusals.cannot_compute(stored.name, name, (), str(error)) from None
        rows = _with_column(rows, column.position, values)
    for key, row in zip(keys, rows, strict=True):
        stored.rows.put(key, row)


def _expression_changed(before: Table, stored: StoredTable, position: int) -> bool:
    column = stored.columns[position]
    was = before.column(column.name)
    return was is not None and was.generated != column.generated


def _with_column(rows: list[Row], position: int, values: Sequence[object]) -> list[Row]:
    return [(*row[:position], value, *row[position + 1 :]) for row, value in zip(rows, values, strict=True)]
