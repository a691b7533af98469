"""What a schema change means for stored rows: what must be written, and what must be looked at.

The two schemas are compared, not the statement read: a new index is backfilled wherever it came from (CREATE INDEX, or
a foreign key that needs one), a new rule is held against every old row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanlab.errors import ConstraintError
from spanlab.sql.statements import AlterIdentity, AlterSequence, AlterTable, RenameTable, RenameTo, RestartCounter
from spanlab.storage import checks, refusals
from spanlab.storage.foreign_keys import check_pointing
from spanlab.storage.journal import KEY_LIMIT_BYTES
from spanlab.values import check_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from spanlab.catalog import Table
    from spanlab.schema import Schema
    from spanlab.sql.statements import Statement
    from spanlab.storage.filling import Filler
    from spanlab.storage.rows import Row
    from spanlab.storage.tables import Reference, StoredIndex, StoredTable


@dataclass
class Work:
    """One thing to do for every row of a table: `do` takes an encoded key and its row; `end` looks at the whole."""

    kind: str
    what: str
    table: StoredTable
    do: Callable[[bytes, Row], None] = lambda key, row: None
    end: Callable[[], None] = lambda: None
    index: StoredIndex | None = None
    keys: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keys = list(self.table.rows.ordered())


def works_between(
    old: Schema, new: Schema, tables: dict[str, StoredTable], now: datetime, renamed: dict[str, str]
) -> list[Work]:
    """What must be done to stored rows to come from one schema to another. `tables` are bound to the new one.

    `renamed` maps new table names to old ones.
    """
    works: list[Work] = []
    for stored in {id(stored): stored for stored in tables.values()}.values():
        before = old.tables.get(renamed.get(stored.name, stored.name))
        if before is None:
            continue
        works += [_index_work(stored, index) for index in stored.indexes if index.name not in old.indexes]
        works += _column_works(before, stored)
        names = {check.name for check in before.checks if check.enforced}
        works += [_rule_work(stored, rule.name, now) for rule in stored.rules if rule.name not in names]
        keys = {key for key in before.foreign_keys if key.enforced}
        works += [_reference_work(reference) for reference in stored.references if reference.key not in keys]
        was_in_parent = before.interleave is not None and before.interleave.in_parent
        if stored.parent_must_exist and not was_in_parent:
            works.append(_parent_work(stored))
    return works


def _index_work(stored: StoredTable, index: StoredIndex) -> Work:
    def add_entry(key: bytes, row: Row) -> None:
        entry = index.key_of(row, key)
        if entry is None:
            return
        if len(entry) > KEY_LIMIT_BYTES:
            values = tuple(row[position] for position in index.key_positions)
            raise refusals.key_too_large(index.name, values, len(entry))
        index.entries.put(entry, key)

    def validate() -> None:
        if not index.index.unique:
            return
        last = b""
        for row in (stored.rows.row(index.entries.base_key(key)) for key in index.entries.ordered()):
            values = index.unique_values(row)
            encoded = index.entries.encode(values)
            if encoded == last:
                error = refusals.not_unique(index.name, stored.name, values)
                error.code = "FAILED_PRECONDITION"
                raise error
            last = encoded

    return Work("backfill", f"index {index.name}", stored, add_entry, validate, index)


def _column_works(before: Table, stored: StoredTable) -> list[Work]:
    works = []
    for position, column in enumerate(stored.columns):
        was = before.column(column.name)
        if was is None:
            if position in stored.filled or (position in stored.generated and position not in stored.virtual):
                works.append(Work("backfill", f"column {column.name}", stored))
            if column.not_null:
                works.append(_not_null_work(stored, position))
            continue
        if column.not_null and not was.not_null:
            works.append(_not_null_work(stored, position))
        if column.type != was.type:
            works.append(_type_work(stored, position))
    return works


def _not_null_work(stored: StoredTable, position: int) -> Work:
    def look(key: bytes, row: Row) -> None:
        if row[position] is None:
            raise refusals.null_found(stored.name, stored.columns[position].name, stored.rows.key_values(row))

    return Work("validate", f"NOT NULL {stored.columns[position].name}", stored, look)


def _type_work(stored: StoredTable, position: int) -> Work:
    column = stored.columns[position]

    def look(key: bytes, row: Row) -> None:
        try:
            check_value(column.type, row[position])
        except ValueError as error:
            raise refusals.bad_value(stored.name, column.name, str(error)) from None

    return Work("validate", f"type of {column.name}", stored, look)


def _rule_work(stored: StoredTable, name: str, now: datetime) -> Work:
    rule = next(rule for rule in stored.rules if rule.name == name)

    def look(key: bytes, row: Row) -> None:
        checks.check_rule(stored, rule, [row], now)

    return Work("validate", f"CHECK {name}", stored, look)


def _reference_work(reference: Reference) -> Work:
    found: set[Row] = set()

    def look(key: bytes, row: Row) -> None:
        check_pointing(reference, None, row, found)

    return Work("validate", f"FOREIGN KEY {reference.key.name}", reference.table, look)


def _parent_work(stored: StoredTable) -> Work:
    def look(key: bytes, row: Row) -> None:
        parent = stored.parent
        if parent is not None and stored.parent_key(row) not in parent.rows:
            own = stored.rows.key_values(row)
            error = refusals.missing_parent(stored.name, own, parent.name, stored.parent_values(row))
            raise ConstraintError(
                error.message,
                code="FAILED_PRECONDITION",
                table=stored.name,
                key=own,
                rule=error.rule,
                hint=f"find such rows first: SELECT … FROM {stored.name} EXCEPT DISTINCT SELECT … FROM {parent.name}",
            )

    return Work("validate", f"parents of {stored.name}", stored, look)


def renames(statement: Statement) -> dict[str, str]:
    """The tables that a statement renames: new name to old."""
    if isinstance(statement, RenameTable):
        return {new: old for old, new in statement.pairs}
    if isinstance(statement, AlterTable) and isinstance(statement.action, RenameTo):
        return {statement.action.name: statement.name}
    return {}


def restart_counters(filler: Filler, statement: Statement) -> None:
    """Let sequences go on where RESTART COUNTER WITH says."""
    if isinstance(statement, AlterSequence) and isinstance(statement.change, RestartCounter):
        filler.restart(statement.name, statement.change.value)
    if isinstance(statement, AlterTable) and isinstance(statement.action, AlterIdentity):
        change = statement.action.change
        if isinstance(change, RestartCounter):
            filler.restart(f"{statement.name}.{statement.action.column}", change.value)
