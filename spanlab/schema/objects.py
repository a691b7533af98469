"""What a database holds, and how its objects hang together.

Tables own columns and keys; a child table is stored between the rows of its parent, a family of tables therefore has
one root; an index belongs to one table and repeats parts of it, together with the table's key; a foreign key belongs
to one table and points at another, and Spanner gives it indexes of its own ("managed" ones, facts.md 5.1).

`Objects` answers questions about them. `Draft` is the same while a statement changes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.catalog import ForeignKey, Index, KeyPart, Sequence, Table, View
from spanlab.errors import SchemaError, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanlab.sql.statements import Skipped

    Linked = dict[str, tuple[str, ...]]


class Objects:
    """The objects of one database by name, in the order of their creation, and the ways between them.

    Names are kept as written and looked up without regard to case, as queries do. Where a method takes a table or an
    index, either the object or its name will do.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.indexes: dict[str, Index] = {}
        self.sequences: dict[str, Sequence] = {}
        self.views: dict[str, View] = {}
        self.named_schemas: tuple[str, ...] = ()
        self.options: dict[str, object] = {}
        self.database = "db"
        self.skipped: tuple[Skipped, ...] = ()
        # every name in use, folded, with the kind of object it names and its spelling
        self.names: dict[str, tuple[str, str]] = {}
        # by table: its children, the indexes on it, the indexes in it, the tables whose foreign keys reference it
        self._children: Linked = {}
        self._indexes_on: Linked = {}
        self._indexes_in: Linked = {}
        self._referrers: Linked = {}

    def _copy_from(self, other: Objects) -> None:
        """Take over all objects of `other`; the objects themselves are shared, they never change."""
        self.tables, self.indexes = dict(other.tables), dict(other.indexes)
        self.sequences, self.views = dict(other.sequences), dict(other.views)
        self.named_schemas, self.options, self.database = other.named_schemas, dict(other.options), other.database
        self.skipped, self.names = other.skipped, dict(other.names)
        self._children, self._indexes_on = dict(other._children), dict(other._indexes_on)
        self._indexes_in, self._referrers = dict(other._indexes_in), dict(other._referrers)

    # look-ups

    def table(self, name: str) -> Table:
        """The table of that name or synonym; SchemaError with a suggestion where there is none."""
        if name in self.tables:
            return self.tables[name]
        kind, spelled = self.names.get(name.casefold(), ("", ""))
        if kind == "table":
            return self.tables[spelled]
        if kind == "synonym":
            return next(t for t in self.tables.values() if spelled in t.synonyms)
        raise SchemaError(f"There is no table {name}.{suggest(name, self.tables)}")

    def index(self, name: str) -> Index:
        """The index of that name, managed ones included; SchemaError with a suggestion where there is none."""
        if name in self.indexes:
            return self.indexes[name]
        kind, spelled = self.names.get(name.casefold(), ("", ""))
        if kind == "index":
            return self.indexes[spelled]
        raise SchemaError(f"There is no index {name}.{suggest(name, self.indexes)}")

    def _table(self, table: Table | str) -> Table:
        return self.table(table) if isinstance(table, str) else table

    def _index(self, index: Index | str) -> Index:
        return self.index(index) if isinstance(index, str) else index

    # families

    def parent(self, table: Table | str) -> Table | None:
        """The table it is interleaved in (with or without PARENT), or None for a root."""
        interleave = self._table(table).interleave
        return self.tables[interleave.table] if interleave else None

    def children(self, table: Table | str) -> tuple[Table, ...]:
        """The tables interleaved directly in it, in the order of their creation."""
        return tuple(self.tables[name] for name in self._children.get(self._table(table).name, ()))

    def ancestors(self, table: Table | str) -> tuple[Table, ...]:
        """Parent, grandparent … root; () for a root."""
        found = []
        parent = self.parent(table)
        while parent is not None:
            found.append(parent)
            parent = self.parent(parent)
        return tuple(found)

    def root(self, table: Table | str) -> Table:
        """The table at the top of its family, perhaps itself."""
        return (self._table(table), *self.ancestors(table))[-1]

    def descendants(self, table: Table | str) -> tuple[Table, ...]:
        """Its children, each followed by its own descendants."""
        found: list[Table] = []
        for child in self.children(table):
            found += [child, *self.descendants(child)]
        return tuple(found)

    # indexes and foreign keys

    def indexes_on(self, table: Table | str) -> tuple[Index, ...]:
        """The indexes of the table, those that Spanner made for foreign keys included."""
        return tuple(self.indexes[name] for name in self._indexes_on.get(self._table(table).name, ()))

    def indexes_in(self, table: Table | str) -> tuple[Index, ...]:
        """The indexes interleaved in the table, whichever table they index."""
        return tuple(self.indexes[name] for name in self._indexes_in.get(self._table(table).name, ()))

    def index_key(self, index: Index | str) -> tuple[KeyPart, ...]:
        """The whole key of an index entry: the index's key, then what it lacks of the table's (facts.md 4.2.2)."""
        index = self._index(index)
        own = {part.column for part in index.key}
        return index.key + tuple(part for part in self.tables[index.table].key if part.column not in own)

    def index_columns(self, index: Index | str) -> tuple[str, ...]:
        """All columns that an index entry holds: its whole key, then the STORING columns."""
        index = self._index(index)
        return tuple(part.column for part in self.index_key(index)) + index.storing

    def referencing(self, table: Table | str) -> tuple[tuple[Table, ForeignKey], ...]:
        """The foreign keys that point at the table, each with the table it belongs to."""
        target = self._table(table).name
        owners = (self.tables[name] for name in self._referrers.get(target, ()))
        return tuple((owner, key) for owner in owners for key in owner.foreign_keys if key.referenced_table == target)


class Draft(Objects):
    """The objects while a statement is carried out. A rule checks everything first and changes the draft last."""

    def __init__(self, start: Objects | None = None) -> None:
        super().__init__()
        if start is not None:
            self._copy_from(start)

    def put_table(self, table: Table) -> None:
        """Add the table, or replace the one of that name."""
        old = self.tables.get(table.name)
        self._change_links(table.name, old, table)
        self.tables[table.name] = table

    def drop_table(self, name: str) -> None:
        """Remove the table; what depends on it must be gone."""
        self._change_links(name, self.tables.pop(name), None)

    def _change_links(self, name: str, old: Table | None, new: Table | None) -> None:
        """Keep names and ways in step with a table that changes; what stays the same keeps its place in the order."""
        before, after = _names_of(old), _names_of(new)
        for gone in before.keys() - after.keys():
            self.names.pop(gone, None)
        self.names.update(after)
        for links, targets in ((self._children, _parents), (self._referrers, _referenced)):
            had, has = targets(old), targets(new)
            for target in [t for t in had if t not in has]:
                _unlink(links, target, name)
            for target in [t for t in has if t not in had]:
                _link(links, target, name)

    def put_index(self, index: Index) -> None:
        """Add the index, or replace the one of that name."""
        if index.name not in self.indexes:
            self._name("index", index.name)
            _link(self._indexes_on, index.table, index.name)
            if index.interleave_in:
                _link(self._indexes_in, index.interleave_in, index.name)
        self.indexes[index.name] = index

    def drop_index(self, name: str) -> None:
        """Remove the index."""
        index = self.indexes.pop(name)
        self.names.pop(name.casefold(), None)
        _unlink(self._indexes_on, index.table, name)
        if index.interleave_in:
            _unlink(self._indexes_in, index.interleave_in, name)

    def put_sequence(self, sequence: Sequence) -> None:
        """Add the sequence, or replace the one of that name."""
        self._name("sequence", sequence.name)
        self.sequences[sequence.name] = sequence

    def put_view(self, view: View, *, replaces: str = "") -> None:
        """Add the view; with `replaces`, in the place of the view of that name (which may differ in case)."""
        if replaces and replaces != view.name:
            self.views = {view.name if name == replaces else name: v for name, v in self.views.items()}
        self._name("view", view.name)
        self.views[view.name] = view

    def put_named_schema(self, name: str) -> None:
        """Add the named schema."""
        self._name("schema", name)
        self.named_schemas = (*self.named_schemas, name)

    def drop(self, kind: str, name: str) -> None:
        """Remove a sequence, a view or a named schema."""
        self.names.pop(name.casefold(), None)
        if kind == "schema":
            self.named_schemas = tuple(other for other in self.named_schemas if other != name)
        else:
            del (self.sequences if kind == "sequence" else self.views)[name]

    def put_all(self, tables: Iterable[Table], indexes: Iterable[Index]) -> None:
        """Replace every table and index at once, as a renaming does."""
        others = ("sequence", "view", "schema")
        self.names = {folded: named for folded, named in self.names.items() if named[0] in others}
        for everything in (
            self.tables,
            self.indexes,
            self._children,
            self._indexes_on,
            self._indexes_in,
            self._referrers,
        ):
            everything.clear()
        for table in tables:
            self.put_table(table)
        for index in indexes:
            self.put_index(index)

    def _name(self, kind: str, name: str) -> None:
        self.names[name.casefold()] = (kind, name)


def _link(links: Linked, owner: str, name: str) -> None:
    if name not in links.get(owner, ()):
        links[owner] = (*links.get(owner, ()), name)


def _unlink(links: Linked, owner: str, name: str) -> None:
    links[owner] = tuple(other for other in links.get(owner, ()) if other != name)


def _names_of(table: Table | None) -> dict[str, tuple[str, str]]:
    """The names that a table takes up in the schema: its own, its synonyms, its constraints."""
    if table is None:
        return {}
    named = [("table", table.name), *(("synonym", name) for name in table.synonyms)]
    named += [("foreign key", str(key.name)) for key in table.foreign_keys]
    named += [("check constraint", str(check.name)) for check in table.checks]
    return {name.casefold(): (kind, name) for kind, name in named}


def _parents(table: Table | None) -> tuple[str, ...]:
    return (table.interleave.table,) if table and table.interleave else ()


def _referenced(table: Table | None) -> tuple[str, ...]:
    return tuple(key.referenced_table for key in table.foreign_keys) if table else ()
