"""Foreign keys: who points at whom.

Checking a reference means finding rows by values of some columns, on both sides. Spanner makes indexes of its own for
that ("managed" ones, facts.md 5.1); here too the rows are found through a primary key or an index that begins with
these columns. Rows with a NULL in the referencing columns point at nothing and are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.storage import refusals
from spanlab.storage.rows import Entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanlab.storage.rows import Row, Rows
    from spanlab.storage.tables import Reference, StoredTable


def matching_keys(table: StoredTable, positions: tuple[int, ...], values: Sequence[object]) -> Iterator[bytes]:
    """The encoded keys of the rows that have these values (none NULL) in the columns at these positions."""
    wanted = dict(zip(positions, values, strict=True))
    for rows, key_positions in _ways(table, positions):
        prefix = rows.encode([wanted[position] for position in key_positions[: len(wanted)]])
        if isinstance(rows, Entries):
            yield from [rows.base_key(key) for key in rows.beginning_with(prefix)]
        else:
            yield from list(rows.beginning_with(prefix))
        return
    for key in list(table.rows.ordered()):
        row = table.rows.row(key)
        if all(row[position] == value for position, value in wanted.items()):
            yield key


def _ways(table: StoredTable, positions: tuple[int, ...]) -> Iterator[tuple[Rows, tuple[int, ...]]]:
    """The sorted rows whose keys begin with these columns, in whatever order, and that lack no row without NULLs."""
    columns = set(positions)
    if set(table.key_positions[: len(columns)]) == columns:
        yield table.rows, table.key_positions
    for index in table.indexes:
        leading = set(index.key_positions[: len(columns)])
        if leading == columns and set(index.needed) <= columns and index.state == "READ_WRITE":
            yield index.entries, index.key_positions


def referencing_keys(reference: Reference, referenced_row: Row) -> Iterator[bytes]:
    """The encoded keys of the rows that point at a row through this foreign key."""
    values = reference.referenced_values(referenced_row)
    if None in values:
        return iter(())
    return matching_keys(reference.table, reference.positions, values)


def check_pointing(reference: Reference, old: Row | None, new: Row | None, found: set[Row]) -> None:
    """Refuse a row that has come to point at nothing. `found` remembers what was found to exist."""
    if new is None:
        return
    values = reference.values(new)
    if values in found or None in values or (old is not None and values == reference.values(old)):
        return
    if next(matching_keys(reference.referenced, reference.referenced_positions, values), None) is None:
        key = reference.table.rows.key_values(new)
        raise refusals.no_referenced_row(
            name_of(reference), reference.table.name, key, reference.referenced.name, values
        )
    found.add(values)


def check_pointed_at(reference: Reference, old: Row | None, new: Row | None) -> None:
    """Refuse that a row which others point at has gone."""
    if old is None:
        return
    values = reference.referenced_values(old)
    if None in values or (new is not None and values == reference.referenced_values(new)):
        return
    by = next(matching_keys(reference.table, reference.positions, values), None)
    if (
        by is None
        or next(matching_keys(reference.referenced, reference.referenced_positions, values), None) is not None
    ):
        return
    by_key = reference.table.rows.key_values(reference.table.rows.row(by))
    raise refusals.still_referenced(name_of(reference), reference.referenced.name, values, reference.table.name, by_key)


def name_of(reference: Reference) -> str:
    """The constraint's name, or what it says where it has none."""
    columns = ", ".join(reference.key.columns)
    return reference.key.name or f"({columns}) REFERENCES {reference.key.referenced_table}"
