"""A column of values, as arrays: what expressions are evaluated over.

A Vector is a type, an array of data and a mask that says which values are NULL; what the data hold where the mask is
set means nothing. BOOL, INT64, FLOAT64 and FLOAT32 are numpy's own numbers, DATE is datetime64[D], TIMESTAMP
datetime64[us] in UTC; every other type is an array of Python objects, as `spanlab.values` describes them (a STRUCT is a
tuple).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spanlab.values import Type

_DTYPES: dict[str, str] = {
    "BOOL": "bool", "INT64": "int64", "FLOAT64": "float64", "FLOAT32": "float64", "DATE": "datetime64[D]",
    "TIMESTAMP": "datetime64[us]",
}  # fmt: skip
_FILLERS: dict[str, object] = {
    "BOOL": False, "INT64": 0, "FLOAT64": 0.0, "FLOAT32": 0.0, "DATE": date(1970, 1, 1),
    "TIMESTAMP": datetime(1970, 1, 1, tzinfo=UTC), "NUMERIC": Decimal(0), "STRING": "", "BYTES": b"",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Vector:
    """Values of one type: `data` and `null` have one length; `null` is True where the value is NULL."""

    type: Type
    data: NDArray[Any]
    null: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.null)

    @classmethod
    def of(cls, type_: Type, values: Sequence[object]) -> Vector:
        """The vector of these Python values, None for NULL."""
        null = np.fromiter((value is None for value in values), np.bool_, len(values))
        return cls(type_, _array(type_, values, bool(null.any())), null)

    @classmethod
    def constant(cls, type_: Type, value: object, rows: int) -> Vector:
        """The vector that holds one value `rows` times, without the memory for it."""
        one = cls.of(type_, [value])
        return cls(type_, np.broadcast_to(one.data, rows), np.broadcast_to(one.null, rows))

    @classmethod
    def assembled(cls, type_: Type, rows: int, parts: Iterable[tuple[NDArray[np.intp], Vector]]) -> Vector:
        """The vector whose values at the positions of each part are those of the part, and NULL elsewhere."""
        data = _array(type_, [None] * rows, True) if type_.name not in _DTYPES else np.zeros(rows, _DTYPES[type_.name])
        null = np.ones(rows, np.bool_)
        for positions, part in parts:
            data[positions] = part.data
            null[positions] = part.null
        return cls(type_, data, null)

    def take(self, positions: NDArray[np.intp]) -> Vector:
        """The values at these positions."""
        return Vector(self.type, self.data[positions], self.null[positions])

    def to_list(self) -> list[Any]:
        """The values as Python objects, None for NULL."""
        values = self.data.tolist()
        if self.type.name == "TIMESTAMP":
            values = [value.replace(tzinfo=UTC) for value in values]
        if self.null.any():
            values = [None if null else value for value, null in zip(values, self.null.tolist(), strict=True)]
        return values

    def true(self) -> NDArray[np.bool_]:
        """For a BOOL: where the value is TRUE, and neither FALSE nor NULL. It is what WHERE keeps."""
        return self.data & ~self.null


def _array(type_: Type, values: Sequence[object], has_null: bool) -> NDArray[Any]:
    if has_null:
        filler = _FILLERS.get(type_.name)
        values = [filler if value is None else value for value in values]
    if type_.name == "TIMESTAMP":
        return np.array([value.replace(tzinfo=None) for value in values], _DTYPES["TIMESTAMP"])  # type: ignore[attr-defined]
    if type_.name in _DTYPES:
        return np.array(values, _DTYPES[type_.name])
    data = np.empty(len(values), object)
    if type_.name in ("ARRAY", "STRUCT"):
        for position, value in enumerate(values):
            data[position] = value  # one by one: numpy would make rows and columns of lists
    else:
        data[:] = values
    return data
