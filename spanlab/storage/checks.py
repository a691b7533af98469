"""What is looked at when a statement or a commit ends: the rows as they are then, however they came to be.

A value that was wrong for a moment and is right at the end is no fault: uniqueness, foreign keys and CHECK constraints
are judged on the final rows (facts.md 3.13, 4.2.6, 5.1, 5.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.errors import QueryError
from spanlab.storage import refusals
from spanlab.storage.computing import over_rows
from spanlab.storage.foreign_keys import check_pointed_at, check_pointing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from spanlab.storage.rows import Row
    from spanlab.storage.tables import Rule, StoredIndex, StoredTable


def rows_are_valid(table: StoredTable, keys: Iterable[bytes], unsure: set[bytes], now: datetime) -> None:
    """NULLs that Spanner itself filled in, generated columns that failed before, and CHECK constraints."""
    if not (table.filled_not_null or table.rules or unsure):
        return
    computable(table, [row for key in unsure if (row := table.rows.get(key)) is not None], now)
    rows = [row for key in keys if (row := table.rows.get(key)) is not None]
    for position in table.filled_not_null:
        for row in rows:
            if row[position] is None:
                raise refusals.null_value(table.name, table.columns[position].name, table.rows.key_values(row))
    for rule in table.rules:
        check_rule(table, rule, rows, now)


def computable(table: StoredTable, rows: list[Row], now: datetime) -> None:
    """Refuse rows for which the expression of a generated column fails."""
    for computed in table.computed:
        for row in rows:
            try:
                over_rows(computed.expression, computed.inputs, table, [row], now)
            except QueryError as error:
                name, key = table.columns[computed.position].name, table.rows.key_values(row)
                raise refusals.cannot_compute(table.name, name, key, str(error)) from None


def check_rule(table: StoredTable, rule: Rule, rows: list[Row], now: datetime) -> None:
    """Refuse rows for which a CHECK constraint is FALSE; NULL passes (facts.md 5.2)."""
    if not rows:
        return
    try:
        outcomes = over_rows(rule.expression, rule.inputs, table, rows, now)
    except QueryError as error:
        if len(rows) == 1:
            key = table.rows.key_values(rows[0])
            raise refusals.cannot_compute(table.name, f"CHECK {rule.name}", key, str(error)) from None
        for row in rows:
            check_rule(table, rule, [row], now)
        return
    for row, outcome in zip(rows, outcomes, strict=True):
        if outcome is not None and not outcome:
            raise refusals.check_failed(table.name, table.rows.key_values(row), rule.name, rule.text)


def unique(table: StoredTable, keys: Iterable[bytes]) -> None:
    """No two entries of a UNIQUE index may have the same index key."""
    indexes = [index for index in table.indexes if index.index.unique]
    if not indexes:
        return
    for key in keys:
        row = table.rows.get(key)
        for index in indexes if row is not None else ():
            if row is not None and index.key_of(row, key) is not None:
                only_one(table, index, row)


def only_one(table: StoredTable, index: StoredIndex, row: Row) -> None:
    """Refuse a row whose key in a UNIQUE index another row has as well."""
    values = index.unique_values(row)
    entries = index.entries.beginning_with(index.entries.encode(values))
    next(entries, None)
    if next(entries, None) is not None:
        raise refusals.not_unique(index.name, table.name, tuple(values))


def references(table: StoredTable, keys: dict[bytes, Row | None]) -> None:
    """Foreign keys in both directions, for the rows as they were (`keys`) and as they are."""
    if not (table.references or table.referenced_by):
        return
    changed = [(old, table.rows.get(key)) for key, old in keys.items()]
    for reference in table.references:
        found: set[Row] = set()
        for old, new in changed:
            check_pointing(reference, old, new, found)
    for reference in table.referenced_by:
        for old, new in changed:
            check_pointed_at(reference, old, new)
