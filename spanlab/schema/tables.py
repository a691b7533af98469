"""Tables: how they are made, renamed and dropped.

The rules for the parts of a table have modules of their own (`columns`, `keys`, `interleaving`, `constraints`,
`policies`); here they come together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import columns, constraints, foreign_keys, interleaving, keys, limits, names, policies, views
from spanlab.schema.objects import Draft
from spanlab.schema.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanlab.catalog import Index, Table
    from spanlab.sql.statements import CreateTable, DropTable, RenameTable


def create(draft: Draft, statement: CreateTable) -> None:
    """CREATE TABLE."""
    table = statement.table
    if statement.if_not_exists and draft.names.get(table.name.casefold(), ("",))[0] == "table":
        return
    names.check_new_name(draft, table.name, "table")
    for synonym in table.synonyms:
        check_synonym(draft, table, synonym)
    if len(draft.tables) >= limits.TABLES:
        raise Refusal(f"The database has {limits.TABLES:,} tables; more are not allowed.", table.name, "object")
    table = replace(table, columns=tuple(columns.as_kept(column) for column in table.columns))
    table = constraints.with_names(draft, keys.with_key(draft, table))
    columns.check_columns(draft, table)
    keys.check_key(table)
    interleaving.check_interleave(draft, table)
    constraints.check_constraints(draft, table)
    policies.check_policy(table)
    draft.put_table(table)
    foreign_keys.put_backing_indexes(draft, table, table.foreign_keys)


def check_synonym(draft: Draft, table: Table, synonym: str) -> None:
    """A synonym needs a free name, and a table has one at most (documentation page `table-name-synonym`)."""
    names.check_new_name(draft, synonym, "synonym", "synonym")
    if len(table.synonyms) > 1 or synonym.casefold() == table.name.casefold():
        raise Refusal(f"{table.name} can have one synonym, another name than its own.", synonym, "synonym")


def drop(draft: Draft, statement: DropTable) -> None:
    """DROP TABLE: refused while anything depends on it; its foreign keys go with it (facts.md 3.12, 4.2.17)."""
    if statement.if_exists and statement.name not in draft.tables:
        return
    table = names.find_table(draft, statement.name, "object")
    own = [index for index in draft.indexes_on(table) if index.managed]
    inside = [index.name for index in draft.indexes_in(table) if not index.managed or index.table != table.name]
    for what, dependents, kind in (
        ("tables are interleaved in it", [child.name for child in draft.children(table)], "TABLE"),
        ("indexes are on it", [index.name for index in draft.indexes_on(table) if index not in own], "INDEX"),
        ("indexes are interleaved in it", inside, "INDEX"),
    ):
        if dependents:
            raise Refusal(
                f"{table.name} cannot be dropped while {what}: {', '.join(dependents)}.",
                table.name,
                "object",
                hint=f"DROP {kind} {dependents[0]} first",
            )
    for owner, key in draft.referencing(table):
        if owner.name != table.name:
            raise Refusal(
                f"{table.name} cannot be dropped while the foreign key {key.name} of {owner.name} points at it.",
                table.name,
                "object",
                hint=f"ALTER TABLE {owner.name} DROP CONSTRAINT {key.name} first",
            )
    if draft.views:
        changed = Draft(draft)
        changed.drop_table(table.name)
        views.check_views(draft, changed, table.name)
    for index in own:
        draft.drop_index(index.name)
    draft.drop_table(table.name)
    foreign_keys.drop_backing_indexes(
        draft, table, [key for key in table.foreign_keys if key.referenced_table != table.name]
    )


def rename(draft: Draft, statement: RenameTable) -> None:
    """RENAME TABLE old TO new, …: one after the other, all or nothing; names swap through a free one."""
    changed = Draft(draft)
    for old, new in statement.pairs:
        rename_one(changed, names.find_table(changed, old, "object"), new)
    if draft.views:
        views.check_views(draft, changed, statement.pairs[0][0])
    draft.put_all(changed.tables.values(), changed.indexes.values())


def rename_one(draft: Draft, table: Table, new: str) -> None:
    """Give the table another name; children, indexes and foreign keys follow it, views do not."""
    names.check_new_name(draft, new, "table", "new name")
    if table.interleave and table.column(new):
        raise Refusal(f"{table.name} is interleaved and has a column {new}; that cannot be its name.", new, "new name")
    renamed = {table.name: new}
    tables = [_renamed_table(other, renamed) for other in draft.tables.values()]
    indexes = [_renamed_index(index, renamed) for index in draft.indexes.values() if not index.managed]
    draft.put_all(tables, indexes)
    for owner in tables:
        foreign_keys.put_backing_indexes(draft, owner, owner.foreign_keys)


def _renamed_table(table: Table, new: Mapping[str, str]) -> Table:
    interleave = table.interleave
    if interleave and interleave.table in new:
        interleave = replace(interleave, table=new[interleave.table])
    keys_ = tuple(
        replace(key, referenced_table=new[key.referenced_table]) if key.referenced_table in new else key
        for key in table.foreign_keys
    )
    if table.name in new or interleave is not table.interleave or keys_ != table.foreign_keys:
        return replace(table, name=new.get(table.name, table.name), interleave=interleave, foreign_keys=keys_)
    return table


def _renamed_index(index: Index, new: Mapping[str, str]) -> Index:
    if index.table not in new and index.interleave_in not in new:
        return index
    inside = new.get(index.interleave_in, index.interleave_in) if index.interleave_in else None
    return replace(index, table=new.get(index.table, index.table), interleave_in=inside)
