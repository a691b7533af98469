"""How many bytes a value takes in storage: the estimate of Spanner's documentation (facts.md 2.1)."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import cast

from spanlab.values.types import Type

_OVERHEAD = 8
_FIXED_SIZES = {
    "BOOL": 1, "INT64": 8, "FLOAT64": 8, "FLOAT32": 4, "DATE": 4, "TIMESTAMP": 12, "UUID": 16, "INTERVAL": 16,
}  # fmt: skip


def size_in_bytes(type_: Type, value: object) -> int:
    """Bytes that a value takes in storage: 8 of overhead and the value itself; a NULL is its overhead (facts.md 2.1).

    Spanner says "6 to 22 bytes" of a NUMERIC other than zero: this spreads them over its 1 to 38 significant digits.
    The 16 bytes of a UUID are assumed, the documents do not list them.
    """
    return _OVERHEAD + (0 if value is None else _payload(type_, value))


def _payload(type_: Type, value: object) -> int:
    if type_.name in _FIXED_SIZES:
        return _FIXED_SIZES[type_.name]
    if type_.name == "NUMERIC":
        digits = len(cast(Decimal, value).normalize(Context(prec=100)).as_tuple().digits)
        return 1 if not value else min(22, 6 + math.ceil(16 * (digits - 1) / 37))
    if type_.name == "ARRAY":
        element = cast(Type, type_.element)
        return sum(_payload(element, part) for part in cast("list[object]", value) if part is not None)
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else 8
