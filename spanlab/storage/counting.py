"""How many mutations a write has: the count that the limit of 80,000 is about (facts.md 6.1).

    insert, update, replace   one for each column written, key columns always; columns that Spanner fills in count too
    index entries             one for each entry of a new row; an update pays two for each index whose columns it names,
                              and moving an entry pays one more for each stored column that moves with it
    delete                    one for a row or a range, whatever is in it, and one for each index entry that goes, also
                              for interleaved children that go along; rows that a foreign key's CASCADE takes count one
                              each

The documents leave open what an update of an indexed column costs ("one for each index" as a guide); the figures here
are those that people measured against the service. Note 10 of the quota page would count key columns of tables with
generated or default columns twice: `spanlab` follows the other pages (facts.md 6.1, ruling).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanlab.storage.operations import Operation, read_operations, table_named

if TYPE_CHECKING:
    from collections.abc import Set

    from spanlab.schema import Schema
    from spanlab.storage.tables import StoredIndex, StoredTable

MUTATION_LIMIT = 80_000


def counted_entries(index: StoredIndex, touched: Set[int], left: bool, entered: bool) -> int:
    """Mutations of one index for one updated row, whose entry was there before (`left`) and is there now (`entered`).

    `touched` are the positions of the columns that the update names.
    """
    if touched.isdisjoint(index.moving_positions):
        return 2 if left and entered else int(left) + int(entered)
    return int(left) + (1 + len(index.stored_positions) if left and entered else int(entered))


@dataclass(frozen=True)
class Part:
    """One line of a bill: so many times so many mutations, for what."""

    times: int
    each: int
    what: str

    @property
    def count(self) -> int:
        """Its mutations."""
        return self.times * self.each

    def __str__(self) -> str:
        return f"{self.count:>9,} = {self.times:,} x {self.each} for {self.what}"


class MutationCount(int):
    """A number of mutations that can explain itself; `parts` is the bill, `fits` whether one commit may have it."""

    parts: list[Part]

    def __new__(cls, parts: list[Part]) -> MutationCount:
        count = super().__new__(cls, sum(part.count for part in parts))
        count.parts = parts
        return count

    @property
    def fits(self) -> bool:
        """True where it is within the limit of 80,000 of one commit (Mutation API) or one statement (DML)."""
        return self <= MUTATION_LIMIT

    def explain(self) -> str:
        """The bill as a text."""
        verdict = "fits" if self.fits else f"over the limit by {self - MUTATION_LIMIT:,}"
        lines = [str(part) for part in self.parts if part.count]
        return "\n".join([*lines, f"{int(self):>9,} of {MUTATION_LIMIT:,}: {verdict}"])

    def __repr__(self) -> str:
        return f"{int(self):,} mutations"


class _Mutations:
    """`sl.mutations`: how many mutations a commit has.

    `sl.mutations(schema, op)` counts for the tables of a schema (`op` as in `spanlab.storage.operations`, or a text
    such as "insert 1,000 Purchases" or "delete 500 Tickets by range"), `sl.mutations(text)` for a table that the text
    describes: "insert 1,000 rows, 5 columns, 2 indexes", "update 10 rows, 1 column, 2 key columns", "delete 1 parent,
    10,000 children, 1 index". `sl.mutations.explain(…)` gives the bill.
    """

    def __call__(self, schema: Schema | str, op: object = None) -> MutationCount:
        if isinstance(schema, str):
            return MutationCount(_parts_of_text(schema))
        what = _operation_of_text(op) if isinstance(op, str) else op
        operations, tables = read_operations(schema, what)
        return MutationCount([part for one in operations for part in _parts(one, tables)])

    def explain(self, schema: Schema | str, op: object = None) -> str:
        """The bill of such a commit."""
        return self(schema, op).explain()


mutations = _Mutations()


# operations over a schema


def _parts(operation: Operation, tables: dict[str, StoredTable]) -> list[Part]:
    table, rows = operation.table, operation.rows
    if operation.kind == "delete":
        return _parts_of_delete(operation, tables)
    if operation.kind == "insert":
        columns = (operation.columns | table.always_counted) - table.virtual
        entries = [Part(rows, 1, f"entries of {i.name}") for i in table.indexes if operation.enters(i)]
    else:
        computed = {c.position for c in table.computed if not operation.columns.isdisjoint(c.inputs)}
        columns = (operation.columns | set(table.key_positions) | computed) - table.virtual
        touched = operation.columns | computed
        entries = [
            Part(rows, counted_entries(i, touched, True, True), f"entries of {i.name}")
            for i in table.indexes
            if not touched.isdisjoint(i.changing_positions) and operation.enters(i)
        ]
    return [Part(rows, len(columns), f"columns of {table.name} (key columns included)"), *entries]


def _parts_of_delete(operation: Operation, tables: dict[str, StoredTable]) -> list[Part]:
    table, rows = operation.table, operation.rows
    what = "the range of keys" if operation.by_range else f"rows of {table.name}"
    parts = [Part(1 if operation.by_range else rows, 1, what)]
    parts += [Part(rows, 1, f"entries of {i.name}") for i in table.indexes if operation.enters(i)]
    for name, count in operation.children.items():
        child = table_named(tables, name)
        referencing = any(r.table is child and r.cascades for r in table.referenced_by)
        if referencing and child.parent is not table:
            parts.append(Part(count, 1, f"rows of {child.name} (foreign key)"))
        parts += [Part(count, 1, f"entries of {i.name}") for i in child.indexes]
    return parts


# operations in words

_NUMBER = r"(\d[\d,_ ]*)"


def _operation_of_text(text: str) -> tuple[object, ...]:
    match = re.fullmatch(
        rf"\s*(insert|delete)\s+{_NUMBER}\s*([\w.]+)(?:\s+by\s+(range|keys?))?\s*", text, re.IGNORECASE
    )
    if match is None:
        raise ValueError(
            f'op: {text!r} cannot be read; write "insert 1,000 Purchases" or "delete 500 Tickets by range"'
        )
    options = {"by": "range" if match[4].lower() == "range" else "keys"} if match[4] else {}
    return match[1].lower(), match[3], _count(match[2]), options


def _count(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _parts_of_text(text: str) -> list[Part]:
    kind = re.match(r"\s*(insert|update|delete|replace)\b", text, re.IGNORECASE)
    if kind is None:
        raise ValueError(f"op: {text!r} cannot be read; begin with insert, update or delete")

    def number(noun: str, default: int) -> int:
        found = re.search(rf"{_NUMBER}\s*{noun}\b", text, re.IGNORECASE)
        return _count(found[1]) if found else default

    rows, indexes = number(r"(?:rows?|parents?)", 1), number(r"index(?:es)?", 0)
    if kind[1].lower() == "delete":
        by_range = re.search(r"\brange\b", text, re.IGNORECASE) is not None
        children = number(r"(?:children|child(?: rows?)?)", 0)
        parts = [Part(1 if by_range else rows, 1, "the range of keys" if by_range else "rows deleted")]
        return [*parts, Part(indexes, children or rows, "index entries of each index that go")]
    keys = number(r"key columns?", 0 if kind[1].lower() != "update" else 1)
    columns = number(r"columns?", 1)
    touched = columns + keys if kind[1].lower() == "update" else columns
    each = 2 if kind[1].lower() == "update" else 1
    return [Part(rows, touched, "columns (key columns included)"), Part(rows, indexes * each, "index entries")]
