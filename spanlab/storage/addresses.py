"""Where a row lies in the whole database: its address.

All rows of a family of tables share one key space: a child row lies right after its parent row and before the next
parent row, and an interleaved index keeps its entries there too (facts.md 1.1.2, 3.7, 4.2.10). An address is bytes
whose plain order is that order over the whole database, so a split is nothing but a range of addresses.

    key space of the root · root's key · mark of the child table · rest of the child's key · mark of the grandchild …

A mark is larger than nothing (a parent row comes before its children) and differs between tables (a parent's children
of one table lie together).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanlab.values import key_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spanlab.schema import Schema
    from spanlab.storage.rows import Rows

MARK_BYTES = 3


class Addresses:
    """Gives rows their addresses, and remembers which mark an object has, so that marks outlive schema changes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, name: str) -> bytes:
        """The bytes that stand for a table or an index in addresses."""
        number = self._numbers.setdefault(name, max(self._numbers.values(), default=-1) + 1)
        return number.to_bytes(MARK_BYTES, "big")

    def rename(self, renamed: Mapping[str, str]) -> None:
        """Let objects keep their places under new names; `renamed` maps new names to old ones."""
        numbers = {new: self._numbers.pop(old) for new, old in renamed.items() if old in self._numbers}
        self._numbers.update(numbers)

    def encoder(self, path: Sequence[tuple[str, int]], rows: Rows) -> Callable[[Sequence[object]], bytes]:
        """The function from a key (or the first parts of one) to its address.

        `path` leads from the root of the key space to the object itself: the name of each table on the way, and how
        many parts its key has. Parts that go on below a table mean the next table on the path.
        """
        marks = [self.mark(name) for name, _ in path]
        limits = [length for _, length in path]
        types = tuple(rows.types[position] for position in rows.key_positions)
        starts = [0, *limits[:-1]]
        pieces = [
            (mark, start, end, key_encoder(types[start:end], rows.descs[start:end]))
            for mark, start, end in zip(marks, starts, limits, strict=True)
        ]

        def encode(key: Sequence[object]) -> bytes:
            address = b""
            for mark, start, end, encode_piece in pieces:
                if address and start >= len(key) < limits[-1]:
                    break
                address += mark + encode_piece(key[start:end])
            return address

        return encode


def table_path(schema: Schema, name: str) -> list[tuple[str, int]]:
    """The tables from the root of a table's family to the table, each with the length of its key."""
    table = schema.table(name)
    return [(t.name, len(t.key)) for t in (*reversed(schema.ancestors(table)), table)]


def index_path(schema: Schema, name: str) -> list[tuple[str, int]]:
    """As `table_path`, for an index: a global index is a key space of its own (facts.md 4.2.1)."""
    index = schema.index(name)
    own = (index.name, len(schema.index_key(index)))
    return [*table_path(schema, index.interleave_in), own] if index.interleave_in else [own]
