"""Rows on their way through a plan: columns as vectors, with the operations that operators are made of.

A Chunk is a number of rows and a Vector for each variable. Everything that reorders, repeats or drops rows is an array
of positions, applied to all columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spanlab.sql.expressions import Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spanlab.values import Type

_NUMBERS = ("BOOL", "INT64", "DATE", "TIMESTAMP")


@dataclass
class Chunk:
    """`rows` rows with `columns` by variable name."""

    columns: dict[str, Vector]
    rows: int

    def take(self, positions: NDArray[np.intp] | slice) -> Chunk:
        """These rows, in this order."""
        if isinstance(positions, slice):
            positions = np.arange(*positions.indices(self.rows))
        return Chunk({name: vector.take(positions) for name, vector in self.columns.items()}, len(positions))

    def with_columns(self, more: dict[str, Vector]) -> Chunk:
        """The same rows with more columns."""
        return Chunk({**self.columns, **more}, self.rows)

    def lists(self, names: Iterable[str]) -> list[list[Any]]:
        """The named columns as lists of Python values."""
        return [self.columns[name].to_list() for name in names]


def nulls(type_: Type, rows: int) -> Vector:
    """A column of NULLs."""
    return Vector.assembled(type_, rows, [])


def joined_vectors(vectors: Sequence[Vector]) -> Vector:
    """The values of several vectors after one another. A type that is wider than another wins (INT64 with FLOAT64)."""
    type_ = vectors[0].type
    for vector in vectors:
        if len(vector) and not vector.null.all():
            type_ = vector.type
            break
    kept = [v if v.data.dtype == _dtype(type_, vectors) or not v.null.all() else nulls(type_, len(v)) for v in vectors]
    return Vector(type_, np.concatenate([v.data for v in kept]), np.concatenate([v.null for v in kept]))


def _dtype(type_: Type, vectors: Sequence[Vector]) -> Any:
    return next(v.data.dtype for v in vectors if v.type == type_)


def stacked(chunks: Sequence[Chunk]) -> Chunk:
    """The rows of several chunks with the same columns after one another."""
    if len(chunks) == 1:
        return chunks[0]
    names = chunks[0].columns
    columns = {name: joined_vectors([chunk.columns[name] for chunk in chunks]) for name in names}
    return Chunk(columns, sum(chunk.rows for chunk in chunks))


def ranks(vector: Vector) -> NDArray[np.int64]:
    """A number for each value so that equal values have equal numbers and greater values greater ones; NULL is 0."""
    result = np.zeros(len(vector), np.int64)
    alive = np.flatnonzero(~vector.null)
    if not len(alive):
        return result
    data = vector.data[alive]
    if vector.type.name in _NUMBERS:
        result[alive] = np.unique(data, return_inverse=True)[1].reshape(-1) + 1
    elif vector.type.name in ("FLOAT64", "FLOAT32"):
        # NaN is smaller than every other number, and equal to itself
        number = ~np.isnan(data)
        found = np.unique(data[number], return_inverse=True)[1].reshape(-1)
        own = np.ones(len(data), np.int64)
        own[number] = found + 2
        result[alive] = own
    else:
        keys = [_sortable(value) for value in data]
        order = {key: number for number, key in enumerate(sorted(set(keys)), 1)}
        result[alive] = [order[key] for key in keys]
    return result


def _sortable(value: Any) -> Any:
    """A value that Python can compare and hash in the place of a list, a tuple or a dict."""
    if isinstance(value, (list, tuple)):
        return tuple((0, "") if item is None else (1, _sortable(item)) for item in value)
    return value


def codes(vectors: Sequence[Vector], rows: int) -> tuple[NDArray[np.int64], int]:
    """A group number for each row: rows with the same values in all vectors have the same; and how many there are.

    Groups are numbered in the order in which they first appear.
    """
    combined = np.zeros(rows, np.int64)
    for vector in vectors:
        own = ranks(vector)
        width = int(own.max()) + 1 if rows else 1
        combined = np.unique(combined * width + own, return_inverse=True)[1].reshape(-1)
    if not rows:
        return combined, 0
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[inverse.reshape(-1)], len(first)


def sorted_positions(keys: Sequence[tuple[Vector, bool]], rows: int) -> NDArray[np.intp]:
    """The positions that sort rows by (vector, descending) keys; rows that are equal keep their order."""
    if not keys:
        return np.arange(rows)
    columns = [-ranks(vector) if desc else ranks(vector) for vector, desc in keys]
    return np.lexsort(columns[::-1])
