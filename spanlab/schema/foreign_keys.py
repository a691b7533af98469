"""Foreign keys, and the indexes that Spanner makes for them (facts.md 5.1).

A foreign key says that values of some columns exist in another table. To find them quickly Spanner makes indexes of
its own: a unique one over the referenced columns unless they are that table's whole primary key, and, if the key is
enforced, one over the referencing columns unless these lead their own table's key and cannot be NULL. User-made
indexes are never used for it; foreign keys over the same columns share a managed index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.catalog import ForeignKey, Index, KeyPart, Table
from spanlab.schema import keys, names, policies
from spanlab.schema.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanlab.catalog import Column
    from spanlab.schema.objects import Draft, Objects


def check_foreign_key(objects: Objects, table: Table, key: ForeignKey) -> None:
    """The rules of one foreign key of a table, which may be new itself and may reference itself."""
    referenced = _referenced_table(objects, table, key)
    if not key.columns or not key.referenced_columns:
        raise Refusal(
            f"A foreign key of {table.name} names no columns.",
            str(key.name or ""),
            "foreign key",
            hint=f"FOREIGN KEY (…) REFERENCES {referenced.name} (…)",
        )
    if len(key.columns) != len(key.referenced_columns):
        raise Refusal(
            f"The foreign key has {len(key.columns)} columns here and {len(key.referenced_columns)} in "
            f"{referenced.name}; they are compared pair by pair.",
            key.columns[-1],
            "foreign key",
        )
    own = [_usable(table, name, key.columns, "foreign key") for name in key.columns]
    theirs = [_usable(referenced, name, key.referenced_columns, "referenced") for name in key.referenced_columns]
    for mine, other in zip(own, theirs, strict=True):
        if mine.type.name != other.type.name:
            raise Refusal(
                f"{table.name}.{mine.name} is {mine.type} but references {referenced.name}.{other.name}, which is "
                f"{other.type}.",
                mine.name,
                "foreign key",
                hint=f"{mine.name} {other.type}",
            )
    if not key.enforced and key.on_delete == "CASCADE":
        raise Refusal(
            "A foreign key that is NOT ENFORCED does nothing on deletions.",
            referenced.name,
            "table",
            hint="leave out ON DELETE CASCADE, or NOT ENFORCED",
        )
    policies.check_foreign_key(objects, table, key, referenced)


def _referenced_table(objects: Objects, table: Table, key: ForeignKey) -> Table:
    if key.referenced_table == table.name:
        return table
    return names.find_table(objects, key.referenced_table)


def _usable(table: Table, name: str, all_names: tuple[str, ...], role: str) -> Column:
    column = names.find_column(table, name, role)
    if all_names.count(name) > 1:
        raise Refusal(f"{name} stands twice in the foreign key.", name, role)
    if not keys.can_be_key(column.type):
        raise Refusal(
            f"{table.name}.{name} is {column.type}; values of that type cannot be looked up by a foreign key.",
            name,
            role,
        )
    if column.commit_timestamp:
        raise Refusal(
            f"{table.name}.{name} allows commit timestamps; such a column cannot be part of a foreign key.", name, role
        )
    return column


# managed indexes


def backing_indexes(objects: Objects, table: Table, key: ForeignKey) -> tuple[Index, ...]:
    """The indexes that the foreign key needs, shared or not: over the referenced columns, over the referencing ones."""
    referenced = _referenced_table(objects, table, key)
    order = _order(referenced, key)
    theirs = [key.referenced_columns[place] for place in order]
    own = [key.columns[place] for place in order]
    needed = []
    if set(theirs) != {part.column for part in referenced.key}:
        needed.append(_managed(referenced, theirs, unique=True))
    if key.enforced and not _leads_key(table, own):
        needed.append(_managed(table, own, unique=False))
    return tuple(needed)


def _order(referenced: Table, key: ForeignKey) -> list[int]:
    """The order of the columns in managed indexes: that of the referenced key as far as it goes, then of the table."""
    position = {name: place for place, name in enumerate(key.referenced_columns)}
    order = []
    for part in referenced.key:
        if part.column not in position:
            break
        order.append(position[part.column])
    rest = (position[column.name] for column in referenced.columns if column.name in position)
    return order + [place for place in rest if place not in order]


def _leads_key(table: Table, columns: Sequence[str]) -> bool:
    """Whether the table's own key can serve as the index: the columns lead it, in this order, and are never NULL."""
    leading = [part.column for part in table.key[: len(columns)]]
    return leading == list(columns) and all(names.find_column(table, name).not_null for name in columns)


def _managed(table: Table, columns: Sequence[str], *, unique: bool) -> Index:
    nullable = any(not names.find_column(table, name).not_null for name in columns)
    code = "U" if unique else "N" if nullable else ""
    schema, dot, own = table.name.rpartition(".")
    base = f"IDX_{own}_{'_'.join(columns)}"
    name = names.with_end(base, "_".join(part for part in (code, names.hashed(f"{base}_{code}")) if part))
    direction = {part.column: part.desc for part in table.key}
    key_columns = [part.column for part in table.key]
    return Index(
        name=f"{schema}{dot}{name}",
        table=table.name,
        key=tuple(KeyPart(column, direction.get(column, False)) for column in columns),
        unique=unique,
        null_filtered=nullable,
        interleave_in=table.name if key_columns and list(columns[: len(key_columns)]) == key_columns else None,
        managed=True,
    )


def put_backing_indexes(draft: Draft, table: Table, added: Sequence[ForeignKey]) -> None:
    """Add the managed indexes of new foreign keys, where no other foreign key has brought them already."""
    for key in added:
        for index in backing_indexes(draft, table, key):
            if index.name not in draft.indexes:
                draft.put_index(index)


def drop_backing_indexes(draft: Draft, table: Table, dropped: Sequence[ForeignKey]) -> None:
    """Remove the managed indexes of foreign keys that are gone, where no other foreign key needs them."""
    for key in dropped:
        for index in backing_indexes(draft, table, key):
            if index.name in draft.indexes and not users(draft, index):
                draft.drop_index(index.name)


def users(objects: Objects, index: Index) -> list[str]:
    """The names of the foreign keys that a managed index serves."""
    if index.table not in objects.tables:
        return []
    table = objects.tables[index.table]
    candidates = [(table, key) for key in table.foreign_keys] + list(objects.referencing(table))
    return list(
        dict.fromkeys(
            str(key.name)
            for owner, key in candidates
            if any(other.name == index.name for other in backing_indexes(objects, owner, key))
        )
    )


def using_column(objects: Objects, table: Table, column: str) -> list[str]:
    """The names of the foreign keys, of this table or pointing at it, that a column of the table takes part in."""
    own = [str(key.name) for key in table.foreign_keys if column in key.columns]
    others = [str(key.name) for _, key in objects.referencing(table) if column in key.referenced_columns]
    return list(dict.fromkeys(own + others))
