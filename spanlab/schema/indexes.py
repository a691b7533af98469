"""Secondary indexes: a second, sorted copy of parts of a table, kept in step by every write (facts.md 4).

The key of an index entry is the index's own columns and then what they lack of the table's key; STORING adds columns
that are carried along without order. An index may be interleaved in a table whose whole key leads its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import foreign_keys, keys, limits, names, views
from spanlab.schema.objects import Draft
from spanlab.schema.refusal import Refusal, breaks
from spanlab.sql.statements import AddStoredColumn, DropStoredColumn

if TYPE_CHECKING:
    from spanlab.catalog import ForeignKey, Index, KeyPart, Options, Table
    from spanlab.schema.objects import Objects
    from spanlab.sql.statements import AlterIndex, CreateIndex, DropIndex


def create(draft: Draft, statement: CreateIndex) -> None:
    """CREATE INDEX."""
    index = statement.index
    if statement.if_not_exists and draft.names.get(index.name.casefold(), ("",))[0] == "index":
        return
    names.check_new_name(draft, index.name, "index")
    table = names.find_table(draft, index.table)
    check_index(draft, table, index)
    draft.put_index(index)


def check_index(objects: Objects, table: Table, index: Index) -> None:
    """The rules of a new index."""
    _check_count(objects, table, index)
    if not index.key:
        raise Refusal(f"{index.name} indexes no column.", index.name, "object", hint=f"ON {table.name} (column)")
    seen: set[str] = set()
    for part in index.key:
        column = names.find_column(table, part.column, "key", rule="SPL304")
        if column.name in seen:
            raise Refusal(f"{column.name} stands twice in the key of {index.name}.", column.name, "key")
        seen.add(column.name)
        if not keys.can_be_key(column.type):
            raise Refusal(
                f"{column.name} is {column.type}; values of that type have no order and cannot be indexed.",
                column.name,
                "key",
                hint=f"STORING ({column.name}), or an index on a generated column taken from it",
                rule="SPL501",
            )
    for name in index.storing:
        _check_stored(table, index, name)
        if index.storing.count(name) > 1:
            raise Refusal(f"{name} stands twice in STORING of {index.name}.", name, "storing")
    _check_filter(table, index)
    check_size(table, index)
    if index.interleave_in is not None:
        _check_interleave(objects, table, index)


def _check_count(objects: Objects, table: Table, index: Index) -> None:
    if len(objects.indexes) >= limits.INDEXES:
        raise Refusal(f"The database has {limits.INDEXES:,} indexes; more are not allowed.", index.name, "object")
    if len(objects.indexes_on(table)) >= limits.INDEXES_ON_A_TABLE:
        message = f"{table.name} has {limits.INDEXES_ON_A_TABLE} indexes; more are not allowed."
        raise Refusal(message, index.name, "object", rule="SPL309")


@breaks("SPL310")
def check_size(table: Table, index: Index) -> None:
    """The key of an index entry, the table's key included, has at most 16 columns (facts.md 4.2.15)."""
    own = {part.column for part in index.key}
    added = [part.column for part in table.key if part.column not in own]
    if len(own) + len(added) > limits.KEY_COLUMNS:
        raise Refusal(
            f"The key of {index.name} would have {len(own) + len(added)} columns: {len(own)} of its own and "
            f"{len(added)} of the key of {table.name}; {limits.KEY_COLUMNS} are allowed.",
            index.name,
            "object",
            hint="fewer key columns, the others in STORING (…)",
        )


def check_managed(objects: Objects, table: Table, key: ForeignKey) -> None:
    """The indexes that a foreign key brings obey the limits of indexes too."""
    for index in foreign_keys.backing_indexes(objects, table, key):
        if index.name not in objects.indexes:
            owner = table if index.table == table.name else objects.tables[index.table]
            check_size(owner, index)
            if owner.name in objects.tables:
                _check_count(objects, owner, index)


@breaks("SPL304")
def _check_stored(table: Table, index: Index, name: str) -> None:
    column = names.find_column(table, name, "storing")
    if any(part.column == column.name for part in index.key):
        raise Refusal(
            f"{name} is a key column of {index.name} already.", name, "storing", hint="leave it out of STORING"
        )
    if any(part.column == column.name for part in table.key):
        raise Refusal(
            f"{name} is in the key of {table.name}, which every index entry holds anyway.",
            name,
            "storing",
            hint="leave it out of STORING",
        )


@breaks("SPL304")
def _check_filter(table: Table, index: Index) -> None:
    held = {part.column for part in (*index.key, *table.key)} | set(index.storing)
    for name in index.not_null:
        column = names.find_column(table, name, "where")
        if column.name not in held:
            raise Refusal(
                f"{index.name} filters on {name}, which it does not hold.",
                name,
                "where",
                hint=f"STORING ({', '.join((*index.storing, name))})",
            )


def _begin_with(parent: Table) -> str:
    key = ", ".join(f"{part.column}{' DESC' * part.desc}" for part in parent.key)
    return f"begin the index key with columns like ({key}), or leave out INTERLEAVE IN"


@breaks("SPL311")
def _check_interleave(objects: Objects, table: Table, index: Index) -> None:
    """The index key begins with the whole key of the table it is interleaved in; names may differ (facts.md 4.2.10)."""
    parent = names.find_table(objects, str(index.interleave_in))
    for position, wanted in enumerate(parent.key):
        if position >= len(index.key):
            raise Refusal(
                f"The key of {index.name} must begin with the whole key of {parent.name}, "
                f"({', '.join(part.column for part in parent.key)}).",
                parent.name,
                "table",
                hint=_begin_with(parent),
            )
        _check_same(table, index, parent, index.key[position], wanted)


def _check_same(table: Table, index: Index, parent: Table, own: KeyPart, wanted: KeyPart) -> None:
    mine, theirs = names.find_column(table, own.column, "key"), names.find_column(parent, wanted.column, "key")
    never_null = mine.not_null or index.null_filtered or mine.name in index.not_null
    filtered = index.null_filtered and not theirs.not_null  # NULLs of the parent's key never meet an entry of the index
    for what, here, there in (
        ("type", str(mine.type), str(theirs.type)),
        ("direction", "DESC" if own.desc else "ASC", "DESC" if wanted.desc else "ASC"),
        ("nullability", "NOT NULL" if never_null else "nullable", "NOT NULL" if theirs.not_null else "nullable"),
    ):
        if here != there and not (what == "nullability" and filtered):
            raise Refusal(
                f"{index.name} is to lie in {parent.name}, but its key column {mine.name} has another {what} "
                f"({here}) than {parent.name}.{theirs.name} ({there}).",
                mine.name,
                "key",
                hint="NULL_FILTERED" if what == "nullability" and theirs.not_null else _begin_with(parent),
            )


# changes


def alter(draft: Draft, statement: AlterIndex) -> None:
    """ALTER INDEX … ADD / DROP STORED COLUMN, SET OPTIONS."""
    index = names.find_index(draft, statement.name)
    table = draft.tables[index.table]
    action = statement.action
    if isinstance(action, AddStoredColumn):
        if action.column in index.storing:
            raise Refusal(f"{index.name} stores {action.column} already.", action.column, "storing")
        _check_stored(table, index, action.column)
        draft.put_index(replace(index, storing=(*index.storing, action.column)))
    elif isinstance(action, DropStoredColumn):
        draft.put_index(_without_stored(index, action.column))
    else:
        draft.put_index(replace(index, options=merged(index.options, action.options)))


def _without_stored(index: Index, name: str) -> Index:
    if name not in index.storing:
        stored = ", ".join(index.storing) or "nothing"
        raise Refusal(f"{index.name} does not store {name}; it stores {stored}.", name, "storing")
    if name in index.not_null:
        raise Refusal(f"{index.name} filters on {name}, so it must keep it.", name, "storing")
    return replace(index, storing=tuple(other for other in index.storing if other != name))


def merged(old: Options, new: Options) -> Options:
    """Options after SET OPTIONS: an option set to NULL is cleared."""
    return tuple((name, value) for name, value in (dict(old) | dict(new)).items() if value is not None)


def drop(draft: Draft, statement: DropIndex) -> None:
    """DROP INDEX: refused for Spanner's own indexes, and where a view forces the index."""
    if statement.if_exists and statement.name not in draft.indexes:
        return
    index = names.find_index(draft, statement.name)
    if index.managed:
        users = ", ".join(foreign_keys.users(draft, index))
        raise Refusal(
            f"{index.name} belongs to a foreign key ({users}); it goes when that goes.",
            index.name,
            "object",
            hint="ALTER TABLE … DROP CONSTRAINT",
        )
    if draft.views:
        changed = Draft(draft)
        changed.drop_index(index.name)
        views.check_views(draft, changed, index.name)
    draft.drop_index(index.name)
