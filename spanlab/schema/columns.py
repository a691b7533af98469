"""Columns: types, lengths, options, and where their values come from when nobody writes them.

A column is plain, or it has a DEFAULT, or it is generated from other columns of its row (AS …), or it numbers itself
(IDENTITY, AUTO_INCREMENT); never two of these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.catalog import Identity
from spanlab.schema import expressions, limits, names, sequences
from spanlab.schema.refusal import Refusal, breaks

if TYPE_CHECKING:
    from spanlab.catalog import Column, Table
    from spanlab.schema.objects import Objects
    from spanlab.values import Type

_LENGTHS = {"STRING": limits.STRING_LENGTH, "BYTES": limits.BYTES_LENGTH}
_NO_COLUMN_TYPES = {
    "STRUCT": "STRUCT exists in queries only",
    "INTERVAL": "INTERVAL exists in expressions only",
}


def as_kept(column: Column) -> Column:
    """The column as Spanner keeps it: AUTO_INCREMENT is another spelling of IDENTITY (facts.md 2.3)."""
    if column.auto_increment:
        return replace(column, auto_increment=False, identity=column.identity or Identity(kind=None))
    return column


def check_columns(objects: Objects, table: Table) -> None:
    """All rules of the columns of a table (facts.md 2.1, 2.3, 5.3, 5.4, 12)."""
    if len(table.columns) > limits.COLUMNS_OF_A_TABLE:
        raise Refusal(
            f"{table.name} has {len(table.columns)} columns; {limits.COLUMNS_OF_A_TABLE:,} are allowed.",
            table.columns[limits.COLUMNS_OF_A_TABLE].name,
            "column",
        )
    seen: dict[str, str] = {}
    for column in table.columns:
        if column.name.casefold() in seen:
            raise already_there(table, seen[column.name.casefold()], column.name)
        seen[column.name.casefold()] = column.name
        check_column(objects, table, column)
    check_circles(table)


def already_there(table: Table, there: str, name: str) -> Refusal:
    """The refusal of a second column of one name."""
    same = "" if there == name else " (names that differ only in case count as the same)"
    return Refusal(f"{table.name} already has a column {there}{same}.", name, "column", hint="another name")


def check_column(objects: Objects, table: Table, column: Column) -> None:
    """The rules of one column; `table` holds it already."""
    names.check_spelling(column.name, "column", "column")
    _check_type(column, column.type)
    _check_one_source(table, column)
    if column.commit_timestamp:
        _check_commit_timestamp(table, column)
    if column.default is not None:
        check_default(objects, table, column)
    if column.on_update is not None:
        _check_on_update(table, column)
    if column.generated is not None:
        _check_generated(table, column)
    if column.identity is not None:
        _check_identity(objects, column, column.identity)


def _check_type(column: Column, kind: Type) -> None:
    if kind.name in _NO_COLUMN_TYPES:
        raise Refusal(f"{_NO_COLUMN_TYPES[kind.name]}; {column.name} cannot be stored as one.", column.name, "type")
    if kind.element is not None:
        if kind.element.element is not None:
            raise Refusal(
                f"{column.name} is an array of arrays, which does not exist.", column.name, "type", hint="ARRAY<JSON>"
            )
        if kind.length is not None and kind.element.name not in ("FLOAT32", "FLOAT64"):
            raise Refusal(
                f"vector_length is for arrays of FLOAT32 or FLOAT64; {column.name} is an array of {kind.element}.",
                column.name,
                "type",
            )
        _check_type(column, kind.element)
    longest = _LENGTHS.get(kind.name)
    if longest and kind.length is not None and not 1 <= kind.length <= longest:
        raise Refusal(
            f"{kind} is no type for {column.name}: the length is from 1 to {longest:,}, or MAX.",
            column.name,
            "type",
            hint=f"{kind.name}(MAX)",
        )
    if kind.name == "TOKENLIST" and not column.hidden:
        raise Refusal(f"{column.name} is a TOKENLIST, which must be HIDDEN.", column.name, "type", hint="HIDDEN")


def _check_one_source(table: Table, column: Column) -> None:
    sources = {
        "a DEFAULT": column.default is not None,
        "a generating expression": column.generated is not None,
        "IDENTITY": column.identity is not None,
    }
    given = [what for what, there in sources.items() if there]
    if len(given) > 1:
        raise Refusal(f"{table.name}.{column.name} cannot have both {' and '.join(given)}.", column.name, "column")


def _check_commit_timestamp(table: Table, column: Column) -> None:
    if column.type.name != "TIMESTAMP":
        raise Refusal(
            f"allow_commit_timestamp is for TIMESTAMP columns; {table.name}.{column.name} is {column.type}.",
            column.name,
            "option",
            hint=f"{column.name} TIMESTAMP OPTIONS (allow_commit_timestamp = true)",
        )
    if column.generated is not None:
        raise Refusal(f"{column.name} is generated; it cannot take commit timestamps.", column.name, "option")


def is_pending(text: str | None) -> bool:
    """Whether the expression is a call of PENDING_COMMIT_TIMESTAMP."""
    return text is not None and text.strip("() ").upper() == "PENDING_COMMIT_TIMESTAMP"


def check_default(objects: Objects, table: Table, column: Column) -> None:
    """The rules of DEFAULT (facts.md 5.3)."""
    text = str(column.default)
    what = f"The default of {table.name}.{column.name}"
    expressions.check_scalar(text, what)
    for name in expressions.sequences_read(text):
        names.find_sequence(objects, name, "expression")
    if read := expressions.names_read(text):
        of_itself = column.name.casefold() in (name.casefold() for name in read)
        sequence = f"a sequence: {column.name} {column.type} DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE …))"
        raise Refusal(
            f"{what} cannot read a column ({read[0]}); only a generated column can.",
            read[0],
            "expression",
            hint=sequence if of_itself else f"{column.name} {column.type} AS ({text}) STORED",
            rule="SPL408",
        )
    if is_pending(text) and not column.commit_timestamp:
        raise Refusal(
            f"{what} is the commit timestamp, but the column does not allow commit timestamps.",
            text,
            "expression",
            hint=f"{column.name} TIMESTAMP DEFAULT ({expressions.PENDING}) OPTIONS (allow_commit_timestamp = true)",
        )
    if column.commit_timestamp and not is_pending(text):
        raise Refusal(
            f"{what} must be {expressions.PENDING}, the only default of a commit timestamp column.",
            text,
            "expression",
            hint=f"DEFAULT ({expressions.PENDING})",
        )
    expressions.check_type(table, text, column.type, what)


def _check_on_update(table: Table, column: Column) -> None:
    what = f"ON UPDATE of {table.name}.{column.name}"
    if not column.commit_timestamp or not is_pending(column.on_update):
        raise Refusal(
            f"{what}: only a commit timestamp column can have ON UPDATE, and only with {expressions.PENDING}.",
            str(column.on_update),
            "expression",
            hint=f"{column.name} TIMESTAMP DEFAULT ({expressions.PENDING}) ON UPDATE ({expressions.PENDING})"
            " OPTIONS (allow_commit_timestamp = true)",
        )
    if column.default != column.on_update:
        raise Refusal(
            f"{what} needs a DEFAULT with the same expression.",
            column.name,
            "column",
            hint=f"DEFAULT ({column.on_update}) ON UPDATE ({column.on_update})",
        )
    if any(part.column == column.name for part in table.key):
        raise Refusal(f"{what}: a key column never changes, so it has no ON UPDATE.", column.name, "column")


def _check_generated(table: Table, column: Column) -> None:
    text = str(column.generated)
    what = f"The expression of {table.name}.{column.name}"
    expressions.check_scalar(text, what)
    with breaks("SPL304"):
        expressions.check_columns_exist(table, text, what, apart_from=column.name)
    with breaks("SPL408"):
        expressions.check_immutable(text, what)
    for read in expressions.columns_read(table, text):
        if read.commit_timestamp:
            raise Refusal(
                f"{what} reads {read.name}, a commit timestamp column; that is not allowed.",
                read.name,
                "expression",
                rule="SPL405",
            )
    expressions.check_type(table, text, column.type, what)
    if not column.stored:
        _check_virtual(table, column)


@breaks("SPL406")
def _check_virtual(table: Table, column: Column) -> None:
    """A virtual column is computed when it is read, so nothing guards its length or its NULLs."""
    if column.not_null:
        raise Refusal(
            f"{table.name}.{column.name} is virtual (not STORED) and therefore cannot be NOT NULL.",
            column.name,
            "column",
            hint=f"AS ({column.generated}) STORED, or leave out NOT NULL",
        )
    if column.type.name in _LENGTHS and column.type.length is not None:
        raise Refusal(
            f"{table.name}.{column.name} is virtual (not STORED); its type must be {column.type.name}(MAX).",
            column.name,
            "type",
            hint=f"{column.name} {column.type.name}(MAX) AS ({column.generated})",
        )


def _check_identity(objects: Objects, column: Column, identity: Identity) -> None:
    if column.type.name != "INT64":
        raise Refusal(
            f"{column.name} is {column.type}; an identity column is INT64.", column.name, "type", hint="INT64"
        )
    if identity.kind is None and objects.options.get("default_sequence_kind") is None:
        raise Refusal(
            f"Which kind of sequence feeds {column.name}? The database has no default_sequence_kind.",
            column.name,
            "column",
            hint=f"{column.name} INT64 GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE), or "
            "ALTER DATABASE … SET OPTIONS (default_sequence_kind = 'bit_reversed_positive') first",
        )
    sequences.check_numbers(identity.skip_range, identity.start_counter, column.name, "column")


def check_circles(table: Table) -> None:
    """Generated columns may build upon each other, but not in a circle."""
    waiting = {column.name: _generated_reads(table, column) for column in table.columns if column.generated is not None}
    ready = [name for name, read in waiting.items() if not read]
    while ready:
        for name in ready:
            del waiting[name]
        done, ready = set(ready), []
        for name, read in waiting.items():
            if read & done:
                read -= done
                if not read:
                    ready.append(name)
    if waiting:
        circle = _circle(waiting)
        raise Refusal(
            f"Generated columns of {table.name} depend on each other in a circle: {' → '.join(circle)}.",
            circle[0],
            "column",
        )


def _generated_reads(table: Table, column: Column) -> set[str]:
    return {read.name for read in expressions.columns_read(table, str(column.generated)) if read.generated is not None}


def _circle(waiting: dict[str, set[str]]) -> list[str]:
    """One circle among columns that all wait for each other: walk on until a column comes up again."""
    path = [next(iter(waiting))]
    while path[-1] not in path[:-1]:
        path.append(min(waiting[path[-1]] & waiting.keys()))
    return path[path.index(path[-1]) :]
