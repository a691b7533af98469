"""Interleaving: rows of a child table are stored right after the row of their parent (facts.md 3).

That only works when the child's key begins with the whole key of the parent: same columns, same order, same names,
types, lengths, nullability and directions. INTERLEAVE IN PARENT also demands that the parent's row exists; INTERLEAVE
IN does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.catalog import Interleave
from spanlab.schema import limits, names, policies
from spanlab.schema.refusal import Refusal, breaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanlab.catalog import KeyPart, Table
    from spanlab.schema.objects import Draft, Objects


def check_interleave(objects: Objects, table: Table) -> None:
    """The rules of a new interleaved table."""
    interleave = table.interleave
    if interleave is None:
        return
    _check_on_delete(interleave)
    parent = names.find_table(objects, interleave.table)
    if not table.columns:
        raise Refusal(
            f"{table.name} needs at least one column to be interleaved in {parent.name}.", table.name, "object"
        )
    check_prefix(table, parent)
    _check_depth(objects, table, parent)
    policies.check_child(objects, table, parent)


@breaks("SPL203")
def _check_depth(objects: Objects, table: Table, parent: Table) -> None:
    depth = 1 + len(objects.ancestors(parent))
    if depth > limits.INTERLEAVING_DEPTH:
        raise Refusal(
            f"{table.name} would lie {depth} levels below {objects.root(parent).name}; "
            f"{limits.INTERLEAVING_DEPTH} are allowed.",
            parent.name,
            "table",
            hint="a flatter family: interleave in a table nearer to the root",
        )


def _check_on_delete(interleave: Interleave) -> None:
    if not interleave.in_parent and interleave.on_delete is not None:
        raise Refusal(
            f"INTERLEAVE IN {interleave.table} enforces nothing, so ON DELETE has no meaning; it goes with IN PARENT.",
            interleave.table,
            "table",
            hint=f"INTERLEAVE IN PARENT {interleave.table} ON DELETE {interleave.on_delete}",
        )


@breaks("SPL201")
def check_prefix(child: Table, parent: Table) -> None:
    """The child's key must begin with the parent's whole key (facts.md 3.4, 3.5)."""
    for position, wanted in enumerate(parent.key):
        if position >= len(child.key) or child.key[position].column != wanted.column:
            raise _other_key(child, parent, wanted)
        _check_same(child, parent, child.key[position], wanted)


def whole_prefix(child: Table, parent: Table) -> str:
    """The key clause that a child of `parent` should have."""
    inherited = {part.column.casefold() for part in parent.key}
    key = [*parent.key, *(part for part in child.key if part.column.casefold() not in inherited)]
    return "PRIMARY KEY (" + ", ".join(part.column + (" DESC" if part.desc else "") for part in key) + ")"


def _other_key(child: Table, parent: Table, wanted: KeyPart) -> Refusal:
    own = [part.column for part in child.key]
    if wanted.column in own:
        problem = f"{wanted.column} stands at another place"
    elif similar := [name for name in own if name.casefold() == wanted.column.casefold()]:
        problem = f"the parent's column is called {wanted.column}, not {similar[0]}"
    else:
        problem = f"{wanted.column} is missing"
    name = own[min(len(own), 1) - 1] if own else child.name
    return Refusal(
        f"The key of {child.name} must begin with the whole key of {parent.name}, "
        f"({', '.join(part.column for part in parent.key)}), in the same order; {problem}.",
        name,
        "key",
        hint=whole_prefix(child, parent),
    )


def _check_same(child: Table, parent: Table, own: KeyPart, wanted: KeyPart) -> None:
    mine, theirs = names.find_column(child, own.column, "key"), names.find_column(parent, wanted.column, "key")
    definition = f"{theirs.name} {theirs.type}{' NOT NULL' if theirs.not_null else ''}"
    differences: Sequence[tuple[str, object, object, str]] = (
        ("direction", _direction(own), _direction(wanted), whole_prefix(child, parent)),
        ("type", mine.type.name, theirs.type.name, definition),
        ("length", mine.type, theirs.type, definition),
        ("nullability", _nullability(mine.not_null), _nullability(theirs.not_null), definition),
        (
            "option allow_commit_timestamp",
            mine.commit_timestamp,
            theirs.commit_timestamp,
            f"{definition} OPTIONS (allow_commit_timestamp = {'true' if theirs.commit_timestamp else 'null'})",
        ),
    )
    for what, here, there, hint in differences:
        if here != there:
            raise Refusal(
                f"{child.name}.{mine.name} has another {what} ({here}) than in its parent {parent.name} ({there}); "
                "a shared key column must be the same in both.",
                mine.name,
                "key" if what == "direction" else "column",
                hint=hint,
                rule="SPL207" if what.startswith("option") else "",
            )


def _direction(part: KeyPart) -> str:
    return "DESC" if part.desc else "ASC"


def _nullability(not_null: bool) -> str:
    return "NOT NULL" if not_null else "nullable"


def set_on_delete(draft: Draft, table: Table, on_delete: str) -> None:
    """ALTER TABLE … SET ON DELETE."""
    if table.interleave is None or not table.interleave.in_parent:
        raise Refusal(
            f"{table.name} is not interleaved in a parent, so there is no parent row whose deletion could matter.",
            table.name,
            "object",
        )
    _replace_interleave(draft, table, replace(table.interleave, on_delete=on_delete))


def set_interleave(draft: Draft, table: Table, wanted: Interleave) -> None:
    """ALTER TABLE … SET INTERLEAVE: between IN and IN PARENT, never to another table (facts.md 3.9)."""
    _check_on_delete(wanted)
    parent = names.find_table(draft, wanted.table)
    if table.interleave is None or table.interleave.table != parent.name:
        where = f"interleaved in {table.interleave.table}" if table.interleave else "not interleaved"
        raise Refusal(
            f"{table.name} is {where}, and that is where its rows lie; no statement moves them.",
            parent.name,
            "table",
            hint="a new table with the wanted INTERLEAVE clause, and copy the rows",
        )
    if wanted.in_parent and wanted.on_delete == "CASCADE" and not table.interleave.in_parent:
        raise Refusal(
            f"{table.name} goes from INTERLEAVE IN to IN PARENT … ON DELETE CASCADE in two steps.",
            parent.name,
            "table",
            hint=f"SET INTERLEAVE IN PARENT {parent.name}; then SET ON DELETE CASCADE",
        )
    _replace_interleave(draft, table, wanted)


def _replace_interleave(draft: Draft, table: Table, interleave: Interleave) -> None:
    changed = replace(table, interleave=interleave)
    policies.check_child(draft, changed, draft.tables[interleave.table])
    draft.put_table(changed)
