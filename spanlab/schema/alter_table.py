"""ALTER TABLE: one action on a table that may hold rows already."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import alter_column, constraints, interleaving, names, policies, tables, views
from spanlab.schema.indexes import merged
from spanlab.schema.objects import Draft
from spanlab.schema.refusal import Refusal
from spanlab.sql import statements as said

if TYPE_CHECKING:
    from spanlab.catalog import Table


def alter(draft: Draft, statement: said.AlterTable) -> None:
    """ALTER TABLE [IF EXISTS] name, and one action."""
    if statement.if_exists and statement.name not in draft.tables:
        return
    table = names.find_table(draft, statement.name, "object")
    match statement.action:
        case said.AddConstraint():
            constraints.add(draft, table, statement.action)
        case said.DropConstraint():
            constraints.drop(draft, table, statement.action)
        case said.SetOnDelete(on_delete):
            interleaving.set_on_delete(draft, table, on_delete)
        case said.SetInterleave(interleave):
            interleaving.set_interleave(draft, table, interleave)
        case said.AddRowDeletionPolicy(policy):
            policies.add(draft, table, policy)
        case said.ReplaceRowDeletionPolicy(policy):
            policies.replace_policy(draft, table, policy)
        case said.DropRowDeletionPolicy():
            policies.drop(draft, table)
        case said.RenameTo(name, synonym):
            _rename(draft, table, name, synonym)
        case said.AddSynonym(name):
            _add_synonym(draft, table, name)
        case said.DropSynonym(name):
            _drop_synonym(draft, table, name)
        case said.SetTableOptions(options):
            draft.put_table(replace(table, options=merged(table.options, options)))
        case _:
            alter_column.alter(draft, table, statement.action)


def _rename(draft: Draft, table: Table, name: str, synonym: str | None) -> None:
    changed = Draft(draft)
    tables.rename_one(changed, table, name)
    if synonym is not None:
        _add_synonym(changed, changed.tables[name], synonym)
    if draft.views:
        views.check_views(draft, changed, table.name)
    draft.put_all(changed.tables.values(), changed.indexes.values())


def _add_synonym(draft: Draft, table: Table, name: str) -> None:
    if table.synonyms:
        raise Refusal(
            f"{table.name} already has the synonym {table.synonyms[0]}; a table has one at most.",
            name,
            "synonym",
            hint=f"ALTER TABLE {table.name} DROP SYNONYM {table.synonyms[0]} first",
        )
    tables.check_synonym(draft, table, name)
    draft.put_table(replace(table, synonyms=(name,)))


def _drop_synonym(draft: Draft, table: Table, name: str) -> None:
    if name not in table.synonyms:
        raise Refusal(f"{table.name} has no synonym {name}.", name, "synonym", hint=", ".join(table.synonyms))
    draft.put_table(replace(table, synonyms=tuple(other for other in table.synonyms if other != name)))
