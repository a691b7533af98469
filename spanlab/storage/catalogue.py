"""From a schema to stored tables: everything that writes follow, bound together once.

Rows that are already stored are kept where the table's columns are the same as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.sql import parse_expression
from spanlab.sql.expressions import columns_in
from spanlab.storage.tables import (
    Computed,
    Reference,
    Rule,
    StoredIndex,
    StoredTable,
    index_entries,
    stored_index,
    table_rows,
)

if TYPE_CHECKING:
    from spanlab.catalog import ForeignKey, Table
    from spanlab.schema import Schema
    from spanlab.storage.rows import Entries, TableRows


def stored_tables(schema: Schema, rows: dict[str, TableRows], entries: dict[str, Entries]) -> dict[str, StoredTable]:
    """The stored tables of a schema by folded name.

    `rows` and `entries` are what is stored already, by name; what is missing is added to them, empty.
    """
    tables: dict[str, StoredTable] = {}
    for table in _parents_first(schema):
        stored = _stored_table(schema, table, rows, tables)
        stored.indexes = [_stored_index(schema, index.name, stored, entries) for index in schema.indexes_on(table)]
        tables[table.name.casefold()] = stored
    for stored in tables.values():
        for key in stored.table.foreign_keys:
            if key.enforced:
                reference = _reference(schema, tables, stored, key)
                stored.references.append(reference)
                reference.referenced.referenced_by.append(reference)
    for stored in tables.values():
        for synonym in stored.table.synonyms:
            tables = {**tables, synonym.casefold(): stored}
    return tables


def _parents_first(schema: Schema) -> list[Table]:
    return sorted(schema.tables.values(), key=lambda table: len(schema.ancestors(table)))


def _stored_table(
    schema: Schema, table: Table, rows: dict[str, TableRows], tables: dict[str, StoredTable]
) -> StoredTable:
    if table.name not in rows:
        rows[table.name] = table_rows(table)
    parent = tables[table.interleave.table.casefold()] if table.interleave else None
    in_parent = table.interleave is not None and table.interleave.in_parent
    stored = StoredTable(table, rows[table.name], parent=parent, parent_must_exist=in_parent)
    if parent is not None and in_parent:
        parent.children.append(stored)
    for computed in _in_order(stored):
        where = stored.key_computed if computed.position in stored.key_positions else stored.computed
        where.append(computed)
    for check in table.checks:
        if check.enforced:
            expression = parse_expression(check.expression)
            inputs = _inputs(stored, check.expression)
            stored.rules.append(Rule(check.name or check.expression, check.expression, expression, inputs))
    return stored


def _inputs(stored: StoredTable, text: str) -> tuple[int, ...]:
    return tuple(sorted({stored.position(name) for name in columns_in(parse_expression(text))}))


def _in_order(stored: StoredTable) -> list[Computed]:
    """The generated columns, each after those that it reads."""
    waiting = {}
    for position in stored.generated:
        text = stored.columns[position].generated or ""
        waiting[position] = Computed(position, parse_expression(text), _inputs(stored, text))
    found: list[Computed] = []
    while waiting:
        ready = [c for c in waiting.values() if waiting.keys().isdisjoint(c.inputs)]
        for computed in ready or list(waiting.values()):
            found.append(waiting.pop(computed.position))
    return found


def _stored_index(schema: Schema, name: str, stored: StoredTable, entries: dict[str, Entries]) -> StoredIndex:
    index = schema.index(name)
    if name not in entries:
        entries[name] = index_entries(schema, index, stored.rows)
    return stored_index(schema, index, entries[name])


def _reference(schema: Schema, tables: dict[str, StoredTable], stored: StoredTable, key: ForeignKey) -> Reference:
    referenced = tables[schema.table(key.referenced_table).name.casefold()]
    columns = key.referenced_columns or tuple(part.column for part in referenced.table.key)
    return Reference(
        key,
        stored,
        tuple(stored.position(column) for column in key.columns),
        referenced,
        tuple(referenced.position(column) for column in columns),
    )
