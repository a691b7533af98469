"""Rows in key order: what a table, and an index, is in storage.

Spanner keeps the rows of a table sorted by primary key and the entries of an index sorted by index key; everything it
is fast at (a point read, a range read, the next row) and everything that hurts (a hot end, a full scan) follows from
that order. A row is found by its key, encoded as bytes whose plain order is the key order
(`spanlab.values.encode_key`).

How to read rows (this is all that a query needs):

    rows = database.stored("Purchases")          # a table or an index, by name: a Rows
    len(rows), rows.columns, rows.types, rows.key
    where = rows.span(("s1",), low=5, high=9)    # a slice of row numbers: key = s1, 5 <= next key part <= 9
    where = rows.span()                          # all rows
    rows.values(where)                           # a list of tuples in key order, values in the order of rows.columns
    rows.vectors(["Total"], where)               # {"Total": Vector} of the same rows, sliced from a cached column
    rows.numbers([("s1", 5), …])                 # row numbers of whole keys (-1: no such row), for look-ups in batches
    rows.base_numbers(where)                     # an index only: the row numbers, in the table, of the entries' rows

Row numbers count from 0 in key order and hold until the next write (`rows.version` tells). An index has its key
columns, the base table's key columns it does not have yet, and the stored columns, in this order (facts.md 4.2.2).

Numbers and cached columns are made when first asked for and thrown away by a write: 100,000 rows of five columns take
some 0.1 s once, and microseconds from then on. Writing never waits for them: keys that came or went are noted and put
in order when somebody looks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from sortedcontainers import SortedList

from spanlab.sql.expressions import Vector
from spanlab.values import key_encoder, keys_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from spanlab.catalog import KeyPart
    from spanlab.values import Type

Row = tuple[object, ...]
Where = slice | np.ndarray | None
"""Which rows: a slice of row numbers, an array of them, or None for all."""
_REBUILD_SHARE = 8


def after_prefix(prefix: bytes) -> bytes | None:
    """The smallest bytes that are greater than everything that begins with `prefix` (None: there are none)."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None


def picker(positions: Sequence[int]) -> Callable[[Row], Row]:
    """The function that picks the values at these positions out of a row, as a tuple."""
    if len(positions) > 1:
        return itemgetter(*positions)
    if not positions:
        return lambda row: ()
    (position,) = positions
    return lambda row: (row[position],)


class Rows(ABC):
    """What tables and indexes have in common: a dict from encoded key to what is stored there, and the keys in order.

    `columns` and `types` say what a row holds, `key` are the key parts with their directions; `key_values(row)` are the
    values of a row's key. `sources` say where, in a row of the table itself, the columns stand; `sized` are the columns
    that take room in storage.
    """

    sources: tuple[int, ...]
    sized: tuple[int, ...]

    def __init__(self, name: str, columns: Sequence[str], types: Sequence[Type], key: Sequence[KeyPart]) -> None:
        self.name, self.columns, self.types, self.key = name, tuple(columns), tuple(types), tuple(key)
        self._position = {column.casefold(): number for number, column in enumerate(self.columns)}
        self.key_positions = tuple(self.position(part.column) for part in self.key)
        self.key_values = picker(self.key_positions)
        self.descs = tuple(part.desc for part in self.key)
        key_types = tuple(self.types[number] for number in self.key_positions)
        self.encode, self.encode_all = key_encoder(key_types, self.descs), keys_encoder(key_types, self.descs)
        self.version = 0
        self._stored: dict[bytes, Any] = {}
        self._keys: SortedList = SortedList()
        self._added: set[bytes] = set()
        self._removed: set[bytes] = set()
        self._ordered: list[bytes] | None = None
        self._in_order: list[Row] | None = None
        self._numbers: dict[bytes, int] | None = None
        self._vectors: dict[str, Vector] = {}

    @abstractmethod
    def row(self, key: bytes) -> Row:
        """The row with that encoded key; KeyError where there is none."""

    @abstractmethod
    def _table_rows(self, keys: Iterable[bytes]) -> list[Row]:
        """The rows of the table that stand under these encoded keys."""

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, key: bytes) -> bool:
        return key in self._stored

    def get(self, key: bytes) -> Row | None:
        """The row with that encoded key, or None."""
        return self.row(key) if key in self._stored else None

    def position(self, column: str) -> int:
        """Where a column stands in the row tuples (case does not count); KeyError where there is none."""
        return self._position[column.casefold()]

    # writing

    def put(self, key: bytes, stored: Any) -> None:
        """Write what stands under a key, whether or not something is there."""
        if key not in self._stored:
            if key in self._removed:
                self._removed.discard(key)
            else:
                self._added.add(key)
        self._stored[key] = stored
        self._changed()

    def put_new(self, keys: Sequence[bytes], stored: Sequence[Any]) -> None:
        """Write many new rows; none of the keys may be taken."""
        self._stored.update(zip(keys, stored, strict=True))
        if self._removed:
            self._added.update(key for key in keys if key not in self._removed)
            self._removed.difference_update(keys)
        else:
            self._added.update(keys)
        self._changed()

    def remove(self, key: bytes) -> None:
        """Take a row out; KeyError where there is none."""
        del self._stored[key]
        if key in self._added:
            self._added.discard(key)
        else:
            self._removed.add(key)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        if self._ordered is not None:
            self._ordered = self._in_order = self._numbers = None
        if self._vectors:
            self._vectors = {}

    # looking along the order

    def keys(self) -> SortedList:
        """All encoded keys in order."""
        noted = len(self._added) + len(self._removed)
        if noted * _REBUILD_SHARE > len(self._stored):
            self._keys = SortedList(self._stored)
        elif noted:
            for key in self._removed:
                self._keys.discard(key)
            for key in self._added:
                self._keys.add(key)
        if noted:
            self._added.clear()
            self._removed.clear()
        return self._keys

    def between(self, start: bytes | None, end: bytes | None) -> Iterator[bytes]:
        """The keys from `start` (included) to `end` (excluded) in order; None leaves a side open."""
        return self.keys().irange(start, end, inclusive=(True, False))

    def beginning_with(self, prefix: bytes) -> Iterator[bytes]:
        """The keys that begin with an encoded key prefix, in order."""
        return self.between(prefix, after_prefix(prefix))

    def span(
        self,
        prefix: Sequence[object] = (),
        low: object = ...,
        high: object = ...,
        *,
        low_open: bool = False,
        high_open: bool = False,
    ) -> slice:
        """The numbers of the rows whose key begins with `prefix` and whose next part lies from `low` to `high`.

        `low` and `high` are the smaller and the greater value, also where the part is DESC; one that is left out leaves
        its side open, `low_open` and `high_open` leave the bound itself out. None is NULL, the smallest value of all:
        `low=None, low_open=True` is every value but NULL.
        """
        start, end = self.encode(prefix), after_prefix(self.encode(prefix))
        if len(prefix) < len(self.key) and self.descs[len(prefix)]:
            low, high, low_open, high_open = high, low, high_open, low_open
        keys = self.keys()
        if low is not ...:
            bound = self.encode((*prefix, low))
            beyond = after_prefix(bound) if low_open else bound
            if beyond is None:
                return slice(len(keys), len(keys))
            start = beyond
        if high is not ...:
            bound = self.encode((*prefix, high))
            end = bound if high_open else after_prefix(bound)
        first = keys.bisect_left(start)
        return slice(first, len(keys) if end is None else max(first, keys.bisect_left(end)))

    def ordered(self) -> list[bytes]:
        """All encoded keys in order as a list that row numbers index."""
        if self._ordered is None:
            self._ordered = list(self.keys())
        return self._ordered

    def _number_of(self) -> dict[bytes, int]:
        if self._numbers is None:
            self._numbers = {key: number for number, key in enumerate(self.ordered())}
        return self._numbers

    def numbers(self, keys: Iterable[Sequence[object]]) -> np.ndarray:
        """The row number of each whole key, -1 where there is no such row."""
        encoded = self.encode_all(list(keys))
        if self._numbers is None and len(encoded) * _REBUILD_SHARE < len(self):
            ordered = self.keys()
            found = [ordered.bisect_left(key) if key in self._stored else -1 for key in encoded]
        else:
            number_of = self._number_of()
            found = [number_of.get(key, -1) for key in encoded]
        return np.array(found, dtype=np.int64)

    # values

    def values(self, where: Where = None) -> list[Row]:
        """The rows with these numbers (all without), in the order given."""
        return [self.row(key) for key in self.keys_at(where)]

    def keys_at(self, where: Where) -> list[bytes]:
        """The encoded keys of the rows with these numbers (all without)."""
        if where is None:
            return self.ordered()
        if isinstance(where, slice):
            return self.ordered()[where] if self._ordered is not None or not self._few(where) else self.keys()[where]
        ordered = self.ordered()
        return [ordered[number] for number in where]

    def _few(self, where: Where) -> bool:
        """True where so few rows are meant that it does not pay to look at all."""
        return isinstance(where, slice) and len(range(len(self))[where]) * _REBUILD_SHARE < len(self)

    def column(self, name: str, where: Where = None) -> list[object]:
        """One column of these rows as Python values."""
        return self._column(self.position(name), where)

    def _column(self, position: int, where: Where) -> list[object]:
        source = self.sources[position]
        if where is not None and self._few(where):
            return [row[source] for row in self._table_rows(self.keys_at(where))]
        if self._in_order is None:
            self._in_order = self._table_rows(self.ordered())
        rows = self._in_order
        if where is None:
            return [row[source] for row in rows]
        return [row[source] for row in rows[where]] if isinstance(where, slice) else [rows[n][source] for n in where]

    def vectors(self, names: Iterable[str], where: Where = None) -> dict[str, Vector]:
        """The named columns of these rows as vectors; whole columns are kept until the next write."""
        return {name: self._vector(name, where) for name in names}

    def _vector(self, name: str, where: Where) -> Vector:
        position = self.position(name)
        whole = self._vectors.get(self.columns[position])
        if whole is None:
            few = self._few(where)
            whole = Vector.of(self.types[position], self._column(position, where if few else None))
            if few:
                return whole
            self._vectors[self.columns[position]] = whole
        return whole if where is None else Vector(whole.type, whole.data[where], whole.null[where])


class TableRows(Rows):
    """The rows of one table, as tuples of the values of its columns.

    The columns named in `virtual` are worked out when they are read and take no room; here they are kept all the same.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        types: Sequence[Type],
        key: Sequence[KeyPart],
        virtual: Collection[str] = (),
    ) -> None:
        super().__init__(name, columns, types, key)
        self.sources = tuple(range(len(self.columns)))
        self.sized = tuple(n for n, column in enumerate(self.columns) if column not in virtual)

    def row(self, key: bytes) -> Row:
        """The row with that encoded key; KeyError where there is none."""
        row: Row = self._stored[key]
        return row

    def _table_rows(self, keys: Iterable[bytes]) -> list[Row]:
        rows = self._stored
        return [rows[key] for key in keys]


class Entries(Rows):
    """The entries of one index. Each is kept as the key of its row of the base table, from which its values are read.

    `put` takes the encoded key of the base row.
    """

    def __init__(
        self, name: str, columns: Sequence[str], types: Sequence[Type], key: Sequence[KeyPart], base: TableRows
    ) -> None:
        super().__init__(name, columns, types, key)
        self.base = base
        self.sources = tuple(base.position(column) for column in columns)
        self.sized = tuple(range(len(self.columns)))
        self._pick = picker(self.sources)
        self._base_numbers: tuple[tuple[int, int], np.ndarray] | None = None

    def row(self, key: bytes) -> Row:
        """The entry with that encoded key; KeyError where there is none."""
        return self._pick(self.base.row(self._stored[key]))

    def base_key(self, key: bytes) -> bytes:
        """The encoded key of the row that an entry stands for; KeyError where there is no such entry."""
        found: bytes = self._stored[key]
        return found

    def _table_rows(self, keys: Iterable[bytes]) -> list[Row]:
        rows, base_keys = self.base._stored, self._stored
        return [rows[base_keys[key]] for key in keys]

    def base_numbers(self, where: Where = None) -> np.ndarray:
        """The row numbers, in the base table, of the rows that these entries stand for."""
        now = (self.version, self.base.version)
        if self._base_numbers is None or self._base_numbers[0] != now:
            number_of = self.base._number_of()
            found = np.array([number_of[self._stored[key]] for key in self.ordered()], dtype=np.int64)
            self._base_numbers = (now, found)
        numbers = self._base_numbers[1]
        return numbers if where is None else numbers[where]
