"""Writes described in a few words, to be counted without a row of data.

An operation is a tuple of a kind, a table and how many rows, or a table and its row count alone (an insert):

    ("insert", "Purchases", 1)                          all columns
    ("insert", "Purchases", 1, {"null": ["ShipDueAt"]}) this column is NULL, so filtered indexes leave the rows out
    ("update", "Accounts", 1, {"columns": ["Balance"]}) these columns get new values
    ("delete", "Shoppers", 1, {"children": {"Purchases": 20, "PurchaseItems": 60}})
    ("delete", "Tickets", 500, {"by": "range"})         one range of keys; "keys" deletes them one by one
    {"Purchases": 1, "PurchaseItems": 3}                two inserts

A commit is a list of such tuples, one of them, or a dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanlab.errors import suggest
from spanlab.storage.catalogue import stored_tables

if TYPE_CHECKING:
    from spanlab.schema import Schema
    from spanlab.storage.tables import StoredIndex, StoredTable

_KINDS = ("insert", "update", "delete")
_OPTIONS = {"insert": ("columns", "null"), "update": ("columns", "null"), "delete": ("children", "by", "null")}
_EXAMPLE = 'write ("insert", "Purchases", 1), ("update", "Accounts", 1, {"columns": ["Balance"]}) or {"Purchases": 1}'


@dataclass(frozen=True)
class Operation:
    """One kind of write to rows of one table. `columns` and `null` are positions, `children` the rows that go too."""

    kind: str
    table: StoredTable
    rows: int
    columns: frozenset[int]
    null: frozenset[int] = frozenset()
    by_range: bool = False
    children: dict[str, int] = field(default_factory=dict)

    def enters(self, index: StoredIndex) -> bool:
        """True where the rows have entries in an index of the table."""
        return self.null.isdisjoint(index.needed)

    def moves(self, index: StoredIndex) -> bool:
        """True where an update rewrites the entries of an index of the table."""
        return self.kind == "update" and not self.columns.isdisjoint(index.changing_positions)


def read_operations(schema: Schema, what: object) -> tuple[list[Operation], dict[str, StoredTable]]:
    """The operations that `what` describes, over the (empty) tables of a schema, and these tables by folded name."""
    tables = stored_tables(schema, {}, {})
    if isinstance(what, Mapping):
        written = [("insert", table, rows) for table, rows in what.items()]
    elif isinstance(what, tuple):
        written = [what]
    elif isinstance(what, list):
        written = what
    else:
        raise ValueError(f"op: {what!r} is no operation; {_EXAMPLE}")
    return [_operation(tables, one) for one in written], tables


def _operation(tables: dict[str, StoredTable], one: object) -> Operation:
    if not isinstance(one, (tuple, list)) or not 2 <= len(one) <= 4 or one[0] not in _KINDS:
        raise ValueError(f"op: {one!r} is no operation; {_EXAMPLE}")
    kind, name = str(one[0]), one[1]
    rows, options = one[2] if len(one) > 2 else 1, one[3] if len(one) > 3 else {}
    table = table_named(tables, name)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise ValueError(f"op: {rows!r} rows of {name}; the row count is a whole number from 0 on")
    if not isinstance(options, Mapping) or set(options) - set(_OPTIONS[kind]):
        raise ValueError(f"op: {options!r}; {kind} knows {', '.join(_OPTIONS[kind])}")
    if options.get("by", "keys") not in ("keys", "range"):
        raise ValueError(f'op: by={options["by"]!r}; rows are deleted by "keys" or by "range"')
    named = options.get("columns", [] if kind == "update" else [c.name for c in table.columns])
    if kind == "update" and not named:
        raise ValueError('op: an update needs its columns: ("update", table, rows, {"columns": [...]})')
    return Operation(
        kind,
        table,
        rows,
        frozenset(_position(table, column) for column in named),
        frozenset(_position(table, column) for column in options.get("null", ())),
        options.get("by") == "range",
        dict(options.get("children", {})),
    )


def table_named(tables: dict[str, StoredTable], name: object) -> StoredTable:
    """The table of that name; ValueError where there is none."""
    found = tables.get(str(name).casefold())
    if found is None:
        known = [table.name for table in tables.values()]
        raise ValueError(f"op: there is no table {name}.{suggest(str(name), known)}")
    return found


def _position(table: StoredTable, column: str) -> int:
    try:
        return table.position(column)
    except KeyError:
        raise ValueError(f"op: {table.name} has no column {column}.{suggest(column, table.rows.columns)}") from None
