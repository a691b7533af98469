"""CAST: which type becomes which, and how (facts.md 2.1; the conversion rules of Spanner's reference).

What a CAST cannot convert fails with OUT_OF_RANGE; SAFE_CAST gives NULL instead. Types that no CAST joins are an error
before anything runs.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from spanlab.sql.functions.numbers import EXACT, int64, numeric
from spanlab.sql.functions.registry import Fault
from spanlab.sql.functions.times import date_of, timestamp_of
from spanlab.values import Type, check_value, text_of, to_float32, value_from_text

if TYPE_CHECKING:
    from collections.abc import Callable

CASTS: dict[str, tuple[str, ...]] = {
    "INT64": ("BOOL", "NUMERIC", "FLOAT32", "FLOAT64", "STRING"),
    "NUMERIC": ("INT64", "FLOAT32", "FLOAT64", "STRING"),
    "FLOAT32": ("INT64", "NUMERIC", "FLOAT64", "STRING"),
    "FLOAT64": ("INT64", "NUMERIC", "FLOAT32", "STRING"),
    "BOOL": ("INT64", "STRING"),
    "STRING": ("BOOL", "INT64", "NUMERIC", "FLOAT32", "FLOAT64", "BYTES", "DATE", "TIMESTAMP", "UUID"),
    "BYTES": ("STRING", "UUID"),
    "DATE": ("STRING", "TIMESTAMP"),
    "TIMESTAMP": ("STRING", "DATE"),
    "UUID": ("STRING", "BYTES"),
}
"""The types that each type can be cast to, itself aside."""


def caster(source: Type, target: Type) -> Callable[[Any], Any] | None:
    """The function that casts a value (not NULL) from one type to another; None where Spanner has no such CAST.

    It raises `Fault` for a value that cannot be converted.
    """
    if source.name == "ARRAY" and target.name == "ARRAY" and source.element and target.element:
        element = caster(source.element, target.element)
        return None if element is None else lambda values: [None if v is None else element(v) for v in values]
    if source.name != target.name and target.name not in CASTS.get(source.name, ()):
        return None
    convert = _identity if source.name == target.name else _conversion(source, target)
    return convert if target.length is None else _with_length(convert, target)


def _identity(value: Any) -> Any:
    return value


def _with_length(convert: Callable[[Any], Any], target: Type) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        converted = convert(value)
        try:
            check_value(target, converted)
        except ValueError as error:
            raise Fault(str(error)) from None
        return converted

    return checked


def _conversion(source: Type, target: Type) -> Callable[[Any], Any]:
    if target.name == "STRING":
        return _in_words(lambda value: text_of(source, value))
    if source.name == "STRING" and target.name == "BYTES":
        return str.encode
    if source.name == "STRING":
        return _in_words(lambda value: value_from_text(target, value))
    return _CONVERSIONS[source.name, target.name]


def _in_words(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        try:
            return convert(value)
        except ValueError as error:
            raise Fault(str(error)) from None

    return converted


def _to_integer(value: Any) -> int:
    """Halves are rounded away from zero."""
    if not math.isfinite(value):
        raise Fault(f"{value} cannot become INT64")
    exact = value if isinstance(value, Decimal) else Decimal(value)
    wide = EXACT if abs(exact.adjusted()) < 90 else None
    if wide is None:
        if exact.adjusted() < 0:
            return 0
        raise Fault(f"INT64 overflow: CAST({value} AS INT64)")
    return int64(int(exact.to_integral_value(ROUND_HALF_UP, wide)), f"CAST({value} AS INT64)")


def _to_numeric(value: Any) -> Decimal:
    return numeric(Decimal(value), f"CAST({value} AS NUMERIC)")


def _to_float32(value: Any) -> float:
    try:
        return to_float32(float(value))
    except ValueError as error:
        raise Fault(str(error)) from None


def _bytes_to_uuid(value: bytes) -> Any:
    if len(value) != 16:
        raise Fault(f"{len(value)} bytes cannot become a UUID, which has 16")
    return value_from_text(Type("UUID"), value.hex())


_CONVERSIONS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("INT64", "BOOL"): bool, ("BOOL", "INT64"): int, ("INT64", "NUMERIC"): Decimal, ("INT64", "FLOAT64"): float,
    ("INT64", "FLOAT32"): _to_float32, ("NUMERIC", "INT64"): _to_integer, ("NUMERIC", "FLOAT64"): float,
    ("NUMERIC", "FLOAT32"): _to_float32, ("FLOAT64", "INT64"): _to_integer, ("FLOAT32", "INT64"): _to_integer,
    ("FLOAT64", "NUMERIC"): _to_numeric, ("FLOAT32", "NUMERIC"): _to_numeric, ("FLOAT32", "FLOAT64"): float,
    ("FLOAT64", "FLOAT32"): _to_float32, ("DATE", "TIMESTAMP"): timestamp_of, ("TIMESTAMP", "DATE"): date_of,
    ("UUID", "BYTES"): lambda value: bytes.fromhex(value.replace("-", "")), ("BYTES", "UUID"): _bytes_to_uuid,
}  # fmt: skip
