"""Primary keys: which columns may be in one, and how many (facts.md 2.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.catalog import Column, Identity, KeyPart, Table
from spanlab.schema import expressions, limits, names
from spanlab.schema.refusal import Refusal, breaks
from spanlab.values import Type

if TYPE_CHECKING:
    from spanlab.schema.objects import Objects

NO_KEY_TYPES = ("FLOAT32", "ARRAY", "JSON", "STRUCT", "TOKENLIST", "INTERVAL")
_ROWID = Column("rowid", Type("INT64"), identity=Identity(), hidden=True)


def can_be_key(kind: Type) -> bool:
    """Whether values of the type have an order, so that a key can hold them."""
    return kind.name not in NO_KEY_TYPES


def with_key(objects: Objects, table: Table) -> Table:
    """The table as it is created: one without any key clause gets a hidden, numbered column `rowid` as its key.

    Spanner does so where the database has a default sequence kind; without one the statement is refused (facts.md 2.1).
    """
    if table.primary_key is not None:
        return table
    if table.column("rowid") is not None:
        raise Refusal(
            f"{table.name} has no primary key, and its column rowid leaves no name for the hidden key column.",
            "rowid",
            "column",
            hint="PRIMARY KEY (rowid)",
        )
    if objects.options.get("default_sequence_kind") is None:
        first = table.columns[0].name if table.columns else ""
        raise Refusal(
            f"{table.name} has no primary key.",
            table.name,
            "object",
            hint=f"PRIMARY KEY ({first}) after the list of columns (in a database with a default_sequence_kind "
            "Spanner adds a hidden column rowid)",
        )
    return replace(table, columns=(*table.columns, _ROWID), primary_key=(KeyPart("rowid"),))


def check_key(table: Table) -> None:
    """The rules of a table's primary key."""
    if len(table.key) > limits.KEY_COLUMNS:
        raise Refusal(
            f"The key of {table.name} has {len(table.key)} columns; {limits.KEY_COLUMNS} are allowed.",
            table.key[limits.KEY_COLUMNS].column,
            "key",
            rule="SPL310",
        )
    seen: set[str] = set()
    for part in table.key:
        column = names.find_column(table, part.column, "key")
        if column.name in seen:
            raise Refusal(f"{column.name} stands twice in the key of {table.name}.", column.name, "key")
        seen.add(column.name)
        if not can_be_key(column.type):
            raise Refusal(
                f"{column.name} is {column.type}; values of that type have no order and cannot be a key.",
                column.name,
                "key",
                hint="a key column of another type, or a STORED generated column taken from this one",
                rule="SPL501",
            )
        if column.generated is not None:
            _check_generated_key(table, column, column.generated)


@breaks("SPL407")
def _check_generated_key(table: Table, column: Column, text: str) -> None:
    """A generated key column may read other key columns and one plain column, nothing else (facts.md 5.3)."""
    if not column.stored:
        raise Refusal(
            f"{column.name} is computed when it is read; a generated key column must be STORED.",
            column.name,
            "key",
            hint=f"AS ({text}) STORED",
            rule="SPL406",
        )
    key = {part.column for part in table.key}
    read = expressions.columns_read(table, text)
    for other in read:
        if other.generated is not None:
            raise Refusal(
                f"{column.name} is a generated key column; it cannot read {other.name}, which is generated too.",
                column.name,
                "key",
            )
    plain = [other for other in read if other.name not in key]
    if len(plain) > 1:
        raise Refusal(
            f"{column.name} is a generated key column; it may read one column outside the key, not "
            f"{' and '.join(other.name for other in plain)}.",
            column.name,
            "key",
        )
    for other in plain:
        if other.default is not None:
            raise Refusal(
                f"{column.name} is a generated key column; it cannot read {other.name}, which has a DEFAULT "
                "and is not in the key.",
                column.name,
                "key",
            )
