"""Constraints of a table: CHECK and FOREIGN KEY, their names, and how they come and go.

Constraints share the space of names with tables and indexes. One without a name gets one: FK_Orders_Customers_<hash>_1,
CK_Orders_1 (facts.md 5.1, 5.2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from spanlab.catalog import Check, ForeignKey, Table
from spanlab.errors import suggest
from spanlab.schema import expressions, foreign_keys, indexes, names
from spanlab.schema.refusal import Refusal, breaks

if TYPE_CHECKING:
    from spanlab.schema.objects import Draft, Objects
    from spanlab.sql.statements import AddConstraint, DropConstraint

Named = TypeVar("Named", ForeignKey, Check)


def check_constraints(objects: Objects, table: Table) -> None:
    """The rules of all constraints of a new table."""
    for check in table.checks:
        check_check(table, check)
    for key in table.foreign_keys:
        foreign_keys.check_foreign_key(objects, table, key)
        indexes.check_managed(objects, table, key)


def check_check(table: Table, check: Check) -> None:
    """The rules of CHECK (facts.md 5.2)."""
    text = check.expression
    what = f"The check of {table.name}"
    with breaks("SPL405"):
        expressions.check_scalar(text, what)
    expressions.check_columns_exist(table, text, what)
    expressions.check_immutable(text, what)
    for column in expressions.columns_read(table, text):
        if column.commit_timestamp:
            message = f"{what} reads {column.name}, a commit timestamp column; that is not allowed."
            raise Refusal(message, column.name, "expression", rule="SPL405")
    if not expressions.rests_on_plain(table, text):
        raise Refusal(
            f"{what} must look at a column that is not generated, directly or through a generated one.",
            text,
            "expression",
        )
    expressions.check_condition(table, text, what)


def with_names(objects: Objects, table: Table) -> Table:
    """The new table with a name for each constraint; refuses names that are taken."""
    taken = {table.name.casefold()}
    keys = tuple(_with_name(objects, table, key, taken) for key in table.foreign_keys)
    checks = tuple(_with_name(objects, table, check, taken) for check in table.checks)
    return replace(table, foreign_keys=keys, checks=checks)


def _with_name(objects: Objects, table: Table, constraint: Named, taken: set[str]) -> Named:
    name = constraint.name
    if name is None:
        name = _free_name(objects, table, constraint, taken)
    else:
        kind = "foreign key" if isinstance(constraint, ForeignKey) else "check constraint"
        names.check_new_name(objects, name, kind, "constraint")
        if name.casefold() in taken:
            raise Refusal(f"Two objects would be called {name}.", name, "constraint", hint="another name")
    taken.add(name.casefold())
    return replace(constraint, name=name)


def _free_name(objects: Objects, table: Table, constraint: ForeignKey | Check, taken: set[str]) -> str:
    base = f"CK_{names.own_name(table.name)}"
    if isinstance(constraint, ForeignKey):
        base = f"FK_{names.own_name(table.name)}_{names.own_name(constraint.referenced_table)}"
        base = f"{base}_{names.hashed(base)}"
    number = 1
    while (name := names.with_end(base, str(number))).casefold() in objects.names or name.casefold() in taken:
        number += 1
    return name


def add(draft: Draft, table: Table, action: AddConstraint) -> None:
    """ALTER TABLE … ADD [CONSTRAINT name] CHECK … or FOREIGN KEY …."""
    if isinstance(action.constraint, Check):
        check = _with_name(draft, table, action.constraint, set())
        check_check(table, check)
        draft.put_table(replace(table, checks=(*table.checks, check)))
        return
    key = _with_name(draft, table, action.constraint, set())
    foreign_keys.check_foreign_key(draft, table, key)
    indexes.check_managed(draft, table, key)
    changed = replace(table, foreign_keys=(*table.foreign_keys, key))
    draft.put_table(changed)
    foreign_keys.put_backing_indexes(draft, changed, [key])


def drop(draft: Draft, table: Table, action: DropConstraint) -> None:
    """ALTER TABLE … DROP CONSTRAINT; alone among DDL references it does not look at the case of the name."""
    folded = action.name.casefold()
    keys = tuple(key for key in table.foreign_keys if str(key.name).casefold() != folded)
    checks = tuple(check for check in table.checks if str(check.name).casefold() != folded)
    if len(keys) + len(checks) == len(table.foreign_keys) + len(table.checks):
        known = [str(key.name) for key in table.foreign_keys] + [str(check.name) for check in table.checks]
        raise Refusal(
            f"{table.name} has no constraint {action.name}.{suggest(action.name, known)}",
            action.name,
            "constraint",
            hint=", ".join(known),
        )
    changed = replace(table, foreign_keys=keys, checks=checks)
    draft.put_table(changed)
    foreign_keys.drop_backing_indexes(draft, changed, [key for key in table.foreign_keys if key not in keys])
