"""How Spanner refuses a commit: one function a rule, with the gRPC code and the advice.

The codes are the service's own (facts.md 3.10, 3.11, 6.1 R10); the sentences are ours.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from spanlab.errors import ConstraintError, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanlab.catalog import Column

_SHOWN = 40


def shown(value: object) -> str:
    """A value as it looks in a key: texts in double quotes, NULL for None, times in RFC 3339, long ones cut."""
    if value is None:
        text = "NULL"
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, datetime):
        text = value.isoformat().replace("+00:00", "Z")
    else:
        text = str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def row_name(table: str, key: Sequence[object]) -> str:
    """A row as Spanner's statistics write it: Albums(1,"x")."""
    return f"{table}({','.join(map(shown, key))})"


def unreadable(why: str) -> ConstraintError:
    """A mutation that has not the form of one."""
    return ConstraintError(
        why,
        code="INVALID_ARGUMENT",
        rule="mutation",
        hint='write ("insert", table, [columns], [[values], …]) or ("delete", table, {"keys": [[…]]})',
    )


def unknown_table(name: str, known: Iterable[str]) -> ConstraintError:
    """The mutation names a table that does not exist."""
    return ConstraintError(
        f"there is no table {name}.{suggest(name, known)}", code="NOT_FOUND", table=name, rule="table"
    )


def unknown_column(table: str, name: str, known: Iterable[str]) -> ConstraintError:
    """The mutation names a column that does not exist."""
    return ConstraintError(
        f"{table} has no column {name}.{suggest(name, known)}", code="NOT_FOUND", table=table, rule="column"
    )


def column_twice(table: str, name: str) -> ConstraintError:
    """One mutation names a column twice."""
    return ConstraintError(
        f"the mutation gives {table}.{name} two values",
        code="INVALID_ARGUMENT",
        table=table,
        rule="column named twice",
        hint="name each column once",
    )


def wrong_width(table: str, columns: int, values: int) -> ConstraintError:
    """A row has more or fewer values than the mutation names columns."""
    return ConstraintError(
        f"{table}: {columns} columns are named, but a row has {values} values",
        code="INVALID_ARGUMENT",
        table=table,
        rule="columns and values",
        hint="give one value for each column, None for NULL",
    )


def generated_column(table: str, name: str) -> ConstraintError:
    """The mutation writes a generated column."""
    return ConstraintError(
        f"{table}.{name} is generated: Spanner works it out, nobody writes it",
        code="FAILED_PRECONDITION",
        table=table,
        rule="generated column",
        hint=f"leave {name} out",
    )


def missing_not_null(table: str, column: Column, kind: str) -> ConstraintError:
    """A new row lacks a NOT NULL column that nothing fills."""
    return ConstraintError(
        f"{kind} into {table} names no value for {column.name}, which is NOT NULL and has no default",
        code="FAILED_PRECONDITION",
        table=table,
        rule="NOT NULL",
        hint=f"name {column.name}, or give the column a DEFAULT",
    )


def null_value(table: str, column: str, key: tuple[object, ...] = ()) -> ConstraintError:
    """NULL for a NOT NULL column."""
    return ConstraintError(
        f"{table}.{column} is NOT NULL, but was given NULL",
        code="FAILED_PRECONDITION",
        table=table,
        key=key,
        rule="NOT NULL",
        hint="give a value; a DEFAULT fills only columns that are left out",
    )


def null_found(table: str, column: str, key: tuple[object, ...]) -> ConstraintError:
    """A row that is stored already has NULL where a schema change forbids it."""
    return ConstraintError(
        f"{row_name(table, key)} has NULL in {column}, which the change makes NOT NULL",
        code="FAILED_PRECONDITION",
        table=table,
        key=key,
        rule="NOT NULL",
        hint=f"fill such rows first: UPDATE {table} SET {column} = … WHERE {column} IS NULL",
    )


def bad_value(table: str, column: str, why: str) -> ConstraintError:
    """A value that the column's type cannot hold."""
    return ConstraintError(
        f"{table}.{column}: {why}",
        code="FAILED_PRECONDITION",
        table=table,
        rule="type",
        hint="write a value of that type",
    )


def exists(table: str, key: tuple[object, ...]) -> ConstraintError:
    """An insert found its key taken."""
    return ConstraintError(
        f"the row {row_name(table, key)} is there already",
        code="ALREADY_EXISTS",
        table=table,
        key=key,
        rule="primary key",
        hint="insert_or_update writes whether or not the row is there; update changes it",
    )


def missing_row(table: str, key: tuple[object, ...]) -> ConstraintError:
    """An update found no row."""
    return ConstraintError(
        f"there is no row {row_name(table, key)} to update",
        code="NOT_FOUND",
        table=table,
        key=key,
        rule="primary key",
        hint="insert_or_update writes whether or not the row is there",
    )


def missing_parent(table: str, key: tuple[object, ...], parent: str, parent_key: tuple[object, ...]) -> ConstraintError:
    """A child row arrived before its parent (facts.md 3.10)."""
    return ConstraintError(
        f"{row_name(table, key)} has no parent row {row_name(parent, parent_key)}, and {table} is INTERLEAVE IN PARENT",
        code="NOT_FOUND",
        table=table,
        key=key,
        rule="INTERLEAVE IN PARENT",
        hint=f"put the {parent} row earlier in the same commit, or declare INTERLEAVE IN {parent} without PARENT",
    )


def children_remain(table: str, key: tuple[object, ...], child: str, child_key: tuple[object, ...]) -> ConstraintError:
    """A parent row cannot go while child rows exist (facts.md 3.11)."""
    return ConstraintError(
        f"{row_name(table, key)} cannot go while {row_name(child, child_key)} stands under it (ON DELETE NO ACTION)",
        code="FAILED_PRECONDITION",
        table=table,
        key=key,
        rule="INTERLEAVE IN PARENT … NO ACTION",
        hint=f"delete the {child} rows first, or ALTER TABLE {child} SET ON DELETE CASCADE",
    )


def key_too_large(name: str, key: tuple[object, ...], size: int) -> ConstraintError:
    """A table or index key over 8 KiB (facts.md 12)."""
    return ConstraintError(
        f"the key of {row_name(name, key)} has {size:,} bytes; a key may have 8,192",
        code="INVALID_ARGUMENT",
        table=name,
        key=key,
        rule="key size",
        hint="key on a hash or a short id and keep the long text in a column that no key and no index has",
    )


def not_unique(index: str, table: str, key: tuple[object, ...]) -> ConstraintError:
    """Two rows with the same key in a UNIQUE index."""
    return ConstraintError(
        f"UNIQUE index {index} has two entries for ({', '.join(map(shown, key))}). NULLs count as equal",
        code="ALREADY_EXISTS",
        table=table,
        key=key,
        rule=f"UNIQUE {index}",
        hint="change one of the rows; UNIQUE NULL_FILTERED leaves rows with NULLs alone",
    )


def check_failed(table: str, key: tuple[object, ...], name: str, text: str) -> ConstraintError:
    """A CHECK constraint that is FALSE for a row."""
    return ConstraintError(
        f"{row_name(table, key)} breaks CHECK constraint {name}: {text}",
        code="OUT_OF_RANGE",
        table=table,
        key=key,
        rule=f"CHECK {name}",
        hint="TRUE and NULL pass, only FALSE is refused",
    )


def cannot_compute(table: str, column: str, key: tuple[object, ...], why: str) -> ConstraintError:
    """The expression of a DEFAULT or a generated column fails for a row."""
    return ConstraintError(
        f"{table}.{column} cannot be worked out for {row_name(table, key)}: {why}",
        code="OUT_OF_RANGE",
        table=table,
        key=key,
        rule=f"expression of {column}",
    )


def no_referenced_row(
    name: str, table: str, key: tuple[object, ...], target: str, wanted: Sequence[object]
) -> ConstraintError:
    """A foreign key value without a row to point at."""
    return ConstraintError(
        f"foreign key {name}: {row_name(table, key)} points at ({', '.join(map(shown, wanted))}); {target} has none",
        code="FAILED_PRECONDITION",
        table=table,
        key=key,
        rule=f"FOREIGN KEY {name}",
        hint=f"write the {target} row in the same commit, or leave the reference NULL",
    )


def still_referenced(
    name: str, table: str, wanted: Sequence[object], by: str, key: tuple[object, ...]
) -> ConstraintError:
    """A referenced row that went while a row still points at it."""
    return ConstraintError(
        f"foreign key {name}: {row_name(by, key)} still points at ({', '.join(map(shown, wanted))}) in {table}",
        code="FAILED_PRECONDITION",
        table=table,
        key=tuple(wanted),
        rule=f"FOREIGN KEY {name}",
        hint=f"change or delete the {by} rows in the same commit, or declare ON DELETE CASCADE",
    )


def written_and_deleted(table: str, key: tuple[object, ...]) -> ConstraintError:
    """A row that a cascading foreign key references is written and deleted in one commit."""
    return ConstraintError(
        f"{row_name(table, key)} is written and deleted in one commit; a FOREIGN KEY … ON DELETE CASCADE references it",
        code="FAILED_PRECONDITION",
        table=table,
        key=key,
        rule="ON DELETE CASCADE",
        hint="write and delete it in two commits",
    )


def too_many_mutations(count: int, limit: int, what: str) -> ConstraintError:
    """More mutations than a commit or a DML statement may have (facts.md 6.1 R1, R10)."""
    return ConstraintError(
        f"{what} has {count:,} mutations; the limit is {limit:,}",
        code="INVALID_ARGUMENT",
        rule="mutation limit",
        hint="write in smaller batches; for mass updates and deletes use partitioned DML",
    )


def commit_too_large(size: int, limit: int) -> ConstraintError:
    """More than 100 MiB in one commit (facts.md 6.1 R2)."""
    return ConstraintError(
        f"the commit has {size:,} bytes with its index entries; the limit is {limit:,} (100 MiB)",
        code="INVALID_ARGUMENT",
        rule="commit size",
        hint="write in smaller batches: 1 to 5 MB a commit is the documented practice",
    )


def bad_key(table: str, why: str, hint: str) -> ConstraintError:
    """A key or a key range that does not fit the table's primary key."""
    return ConstraintError(f"{table}: {why}", code="FAILED_PRECONDITION", table=table, rule="key", hint=hint)
