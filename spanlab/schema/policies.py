"""Row deletion policies (TTL): Spanner deletes rows by itself once a timestamp of theirs is old enough (facts.md 3.15).

A deletion nobody asked for must not fail, so everything that hangs on the rows must be ready to go with them: all
interleaved descendants ON DELETE CASCADE, and no enforced foreign key without CASCADE at the table or at one of its
descendants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import names
from spanlab.schema.refusal import Refusal, breaks

if TYPE_CHECKING:
    from spanlab.catalog import ForeignKey, RowDeletionPolicy, Table
    from spanlab.schema.objects import Draft, Objects


def check_policy(table: Table) -> None:
    """The column of a policy: it exists, and it is a TIMESTAMP."""
    policy = table.row_deletion_policy
    if policy is None:
        return
    column = names.find_column(table, policy.column, "policy")
    if column.type.name != "TIMESTAMP":
        raise Refusal(
            f"A row deletion policy looks at a TIMESTAMP column; {table.name}.{column.name} is {column.type}.",
            column.name,
            "policy",
        )
    if policy.days < 0:
        raise Refusal("A row deletion policy counts days from 0 upwards.", column.name, "policy")


@breaks("SPL209")
def check_child(objects: Objects, child: Table, parent: Table) -> None:
    """A child that forbids deleting its parent's rows cannot stand below a policy."""
    if not _forbids(child):
        return
    for ancestor in _deleted_with(objects, parent):
        if ancestor.row_deletion_policy is not None:
            raise Refusal(
                f"Rows of {ancestor.name} are deleted by its row deletion policy; {child.name} below it would "
                "forbid that.",
                child.name,
                "object",
                hint=f"INTERLEAVE IN PARENT {parent.name} ON DELETE CASCADE",
            )


@breaks("SPL209")
def check_foreign_key(objects: Objects, owner: Table, key: ForeignKey, referenced: Table) -> None:
    """A foreign key that forbids deletions cannot point at rows that a policy, its own or an ancestor's, deletes."""
    if not key.enforced or key.on_delete == "CASCADE":
        return
    for table in _deleted_with(objects, referenced):
        if table.row_deletion_policy is not None:
            raise Refusal(
                f"Rows of {referenced.name} may be deleted by the row deletion policy of {table.name}; the foreign "
                f"key of {owner.name} would forbid that.",
                referenced.name,
                "table",
                hint="ON DELETE CASCADE, or NOT ENFORCED",
            )


def _deleted_with(objects: Objects, table: Table) -> list[Table]:
    """The table and those above it whose deletions reach its rows: up to a table that is not IN PARENT."""
    chain = [table]
    while (above := objects.parent(chain[-1])) is not None and chain[-1].interleave and chain[-1].interleave.in_parent:
        chain.append(above)
    return chain


def _deleting(objects: Objects, table: Table) -> list[Table]:
    """The descendants that deletions of the table's rows reach."""
    found: list[Table] = []
    for child in objects.children(table):
        if child.interleave and child.interleave.in_parent:
            found += [child, *_deleting(objects, child)]
    return found


def _forbids(child: Table) -> bool:
    return child.interleave is not None and child.interleave.in_parent and child.interleave.on_delete != "CASCADE"


def add(draft: Draft, table: Table, policy: RowDeletionPolicy) -> None:
    """ALTER TABLE … ADD ROW DELETION POLICY."""
    if table.row_deletion_policy is not None:
        raise Refusal(
            f"{table.name} already has a row deletion policy.",
            policy.column,
            "policy",
            hint="REPLACE ROW DELETION POLICY",
        )
    _set(draft, table, policy)


def replace_policy(draft: Draft, table: Table, policy: RowDeletionPolicy) -> None:
    """ALTER TABLE … REPLACE ROW DELETION POLICY."""
    if table.row_deletion_policy is None:
        raise Refusal(
            f"{table.name} has no row deletion policy to replace.",
            policy.column,
            "policy",
            hint="ADD ROW DELETION POLICY",
        )
    _set(draft, table, policy)


def drop(draft: Draft, table: Table) -> None:
    """ALTER TABLE … DROP ROW DELETION POLICY."""
    if table.row_deletion_policy is None:
        raise Refusal(f"{table.name} has no row deletion policy to drop.", table.name, "object")
    draft.put_table(replace(table, row_deletion_policy=None))


def _set(draft: Draft, table: Table, policy: RowDeletionPolicy) -> None:
    changed = replace(table, row_deletion_policy=policy)
    check_policy(changed)
    _check_deletable(draft, table)
    draft.put_table(changed)


@breaks("SPL209")
def _check_deletable(objects: Objects, table: Table) -> None:
    below = _deleting(objects, table)
    for descendant in below:
        if _forbids(descendant):
            raise Refusal(
                f"{descendant.name}, below {table.name}, forbids the deletion of its parent's rows, which "
                "the policy needs.",
                table.name,
                "object",
                hint=f"ALTER TABLE {descendant.name} SET ON DELETE CASCADE first",
            )
    for target in (table, *below):
        for owner, key in objects.referencing(target):
            if key.enforced and key.on_delete != "CASCADE":
                raise Refusal(
                    f"The foreign key {key.name} of {owner.name} forbids the deletion of rows of {target.name}, "
                    "which the policy needs.",
                    table.name,
                    "object",
                    hint=f"drop {key.name} and add it again with ON DELETE CASCADE",
                )
