"""How many splits a commit writes to, seen from the schema alone.

Rows of one family lie in one split as a rule; everything else a commit writes lies somewhere else: other tables, global
indexes, the indexes that Spanner keeps for foreign keys (facts.md 3.17, 4.2.11). Each split that is written is a
participant, and more than one means a two-phase commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.storage.looking import space_of
from spanlab.storage.operations import Operation, read_operations

if TYPE_CHECKING:
    from spanlab.schema import Schema

Place = tuple[object, ...]


def participants(schema: Schema, op: object) -> int:
    """The number of splits that a commit writes to, where all that is not stored together lies in different splits.

    `op` is as in `spanlab.storage.operations`, such as {"Purchases": 1, "PurchaseItems": 3}. The rows of one table
    count once where their key begins with a column that the commit fixes (the key of another row that it writes once),
    and one by one where it does not: random keys are far apart. An updated index entry counts twice, where it was and
    where it goes. Splits that are only read (to check a foreign key) take part as well on the real service; they are
    not counted.
    """
    operations, _ = read_operations(schema, op)
    fixed = {column for operation in operations for column in _fixed_columns(operation, operations)}
    places: set[Place] = set()
    for operation in operations:
        table = operation.table
        leading = table.table.key[0].column.casefold() if table.table.key else ""
        places |= _places(space_of(schema, table.name), table.name, operation.rows, leading in fixed or not leading)
        for index in table.indexes:
            moved = operation.moves(index)
            if not operation.enters(index) or (operation.kind == "update" and not moved):
                continue
            first = index.index.key[0].column.casefold()
            together = first in fixed
            inside, space = index.index.interleave_in, space_of(schema, index.name)
            if inside and first != leading:  # names need not agree: the entry lies with whoever has that value as key
                space = f"{space}, another family"
            found = _places(space, index.name, operation.rows, together)
            places |= found
            if moved and not (inside and together):
                places |= {(*place, "before") for place in found}
    return len(places)


def _fixed_columns(operation: Operation, others: list[Operation]) -> set[str]:
    """The columns (folded) that have one value in the whole commit because of this operation."""
    table = operation.table
    if operation.rows == 1:
        fixed = {part.column.casefold() for part in table.table.key}
    else:
        fixed = {table.columns[p].name.casefold() for p in table.key_positions[: len(table.parent_positions)]}
    for reference in table.references:
        if any(other.table is reference.referenced and other.rows == 1 for other in others):
            fixed |= {column.casefold() for column in reference.key.columns}
    return fixed


def _places(space: str, name: str, rows: int, together: bool) -> set[Place]:
    if rows == 0:
        return set()
    return {(space,)} if together or rows == 1 else {(space, name, number) for number in range(rows)}
