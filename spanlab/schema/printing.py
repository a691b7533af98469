"""A schema as DDL: the statements that would make it, each after what it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import views
from spanlab.sql import render
from spanlab.sql import statements as said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanlab.catalog import ForeignKey, Table
    from spanlab.schema.objects import Objects


def ddl_of(objects: Objects) -> str:
    """Options, named schemas and sequences first; then tables, the foreign keys that had to wait, indexes, views."""
    return "\n".join(f"{render(statement)};\n" for statement in _statements(objects))


def _statements(objects: Objects) -> Iterator[said.Statement]:
    if objects.options:
        yield said.AlterDatabase(objects.database, tuple(objects.options.items()))
    for name in objects.named_schemas:
        yield said.CreateSchema(name)
    for sequence in objects.sequences.values():
        yield said.CreateSequence(sequence)
    yield from _tables(objects)
    for index in objects.indexes.values():
        if not index.managed:
            yield said.CreateIndex(index)
    for name in _view_order(objects):
        yield said.CreateView(objects.views[name])


def _tables(objects: Objects) -> Iterator[said.Statement]:
    """All tables, parents before children. Foreign keys to tables that come later are added at the end."""
    waiting: list[tuple[Table, ForeignKey]] = []
    made: set[str] = set()
    for table in objects.tables.values():
        made.add(table.name)
        ready = 0
        while ready < len(table.foreign_keys) and table.foreign_keys[ready].referenced_table in made:
            ready += 1
        waiting += [(table, key) for key in table.foreign_keys[ready:]]
        yield said.CreateTable(replace(table, foreign_keys=table.foreign_keys[:ready]))
    for table, key in waiting:
        yield said.AlterTable(table.name, said.AddConstraint(key))


def _view_order(objects: Objects) -> list[str]:
    """Views before the views that read them."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in order:
            for needed in sorted(views.read(objects, objects.views[name]).views):
                visit(needed)
            order[name] = None

    for name in objects.views:
        visit(name)
    return list(order)
