"""Carrying out one statement: which rules it goes through, and where an error points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spanlab.schema import alter_table, indexes, limits, names, sequences, tables, views
from spanlab.schema.refusal import Refusal
from spanlab.sql import statements as said

if TYPE_CHECKING:
    from spanlab.errors import SchemaError
    from spanlab.schema.objects import Draft


def carry_out(draft: Draft, statement: said.Statement) -> None:
    """Change the draft as the statement says, or leave it alone and raise a SchemaError that points into the text."""
    try:
        if len(statement.text.encode()) > limits.STATEMENT_BYTES:
            raise Refusal("A schema change has at most 10 MiB of text.")
        _dispatch(draft, statement)
    except Refusal as refusal:
        error = statement.error(refusal.message, refusal.name, refusal.role, hint=refusal.hint)
        error.rule = refusal.rule
        if isinstance(statement, said.CreateView):
            _point_into_query(error, statement, refusal.name)
        raise error from None


def _point_into_query(error: SchemaError, statement: said.CreateView, name: str) -> None:
    """Names inside a view's query have no places of their own: look for the word from where the query begins."""
    query = statement.places.find(role="query")
    if query is None or query.role != "query" or not name or name == statement.view.name:
        return
    lines = statement.places.source.splitlines()
    for number in range(query.line, len(lines) + 1):
        found = re.compile(rf"\b{re.escape(name)}\b").search(
            lines[number - 1], query.column - 1 if number == query.line else 0
        )
        if found:
            error.line, error.column, error.width = number, found.start() + 1, len(name)
            return


def _dispatch(draft: Draft, statement: said.Statement) -> None:
    match statement:
        case said.CreateTable():
            tables.create(draft, statement)
        case said.AlterTable():
            alter_table.alter(draft, statement)
        case said.DropTable():
            tables.drop(draft, statement)
        case said.RenameTable():
            tables.rename(draft, statement)
        case said.CreateIndex():
            indexes.create(draft, statement)
        case said.AlterIndex():
            indexes.alter(draft, statement)
        case said.DropIndex():
            indexes.drop(draft, statement)
        case said.CreateSequence():
            sequences.create(draft, statement)
        case said.AlterSequence():
            sequences.alter(draft, statement)
        case said.DropSequence():
            sequences.drop(draft, statement)
        case said.CreateView():
            views.create(draft, statement)
        case said.DropView():
            views.drop(draft, statement)
        case said.CreateSchema():
            _create_schema(draft, statement)
        case said.DropSchema():
            _drop_schema(draft, statement)
        case said.AlterDatabase():
            _alter_database(draft, statement)
        case said.Skipped():
            draft.skipped = (*draft.skipped, statement)
        case said.Analyze():
            pass
        case _:
            raise TypeError(f"not a statement: {statement!r}")


def _create_schema(draft: Draft, statement: said.CreateSchema) -> None:
    if statement.if_not_exists and statement.name in draft.named_schemas:
        return
    names.check_new_name(draft, statement.name, "schema")
    draft.put_named_schema(statement.name)


def _drop_schema(draft: Draft, statement: said.DropSchema) -> None:
    name = statement.name
    if statement.if_exists and name not in draft.named_schemas:
        return
    names.check_named_schema(draft, name, name, "object")
    inside = [spelled for _, spelled in draft.names.values() if spelled.startswith(f"{name}.")]
    if inside:
        raise Refusal(
            f"The schema {name} is not empty: {', '.join(inside)}.", name, "object", hint="drop what it holds first"
        )
    draft.drop("schema", name)


def _alter_database(draft: Draft, statement: said.AlterDatabase) -> None:
    options = dict(statement.options)
    if "default_sequence_kind" in options:
        kind = options["default_sequence_kind"]
        if kind is not None and str(kind).casefold() != sequences.KIND:
            raise Refusal(f"Spanner has one kind of sequence, {sequences.KIND}.", "default_sequence_kind", "option")
        if draft.options.get("default_sequence_kind") is not None and kind is None:
            raise Refusal("Once it is set, default_sequence_kind stays.", "default_sequence_kind", "option")
    if options.get("default_time_zone") is not None and draft.tables:
        raise Refusal(
            "default_time_zone is set before the first table is created, or never.", "default_time_zone", "option"
        )
    draft.database = statement.name
    draft.options = {name: value for name, value in (draft.options | options).items() if value is not None}
