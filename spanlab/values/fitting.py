"""Which values a type holds, and what to say of the others."""

from __future__ import annotations

import json
import re
import struct
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, cast

from spanlab.values.types import CELL_MAX_BYTES, STRING_MAX_CHARACTERS, Type

if TYPE_CHECKING:
    from collections.abc import Callable

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_NUMERIC_CONTEXT = Context(prec=100)
_NUMERIC_STEP = Decimal("1e-9")
_NUMERIC_LIMIT = Decimal(10) ** 29
_PYTHON_TYPES: dict[str, tuple[type, str]] = {
    "BOOL": (bool, "True or False"), "INT64": (int, "a whole number"), "FLOAT64": (float, "a number with a fraction"),
    "FLOAT32": (float, "a number with a fraction"), "NUMERIC": (Decimal, "a decimal.Decimal"),
    "STRING": (str, "a text"), "BYTES": (bytes, "bytes"), "DATE": (date, "a datetime.date"),
    "TIMESTAMP": (datetime, "a datetime.datetime with a time zone"), "JSON": (str, "a JSON text"),
    "UUID": (str, "a text of 36 characters"), "ARRAY": (list, "a list"),
}  # fmt: skip
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_value(type_: Type, value: object) -> None:
    """Raise ValueError, with a sentence that says what fits, unless a column of that type can hold `value`.

    None always passes: whether a column takes NULL is the table's business. Lengths count characters for STRING and
    bytes for BYTES; no cell is larger than 10 MiB (facts.md 12).
    """
    if value is None or type_.name not in _PYTHON_TYPES:
        return
    python_type, wanted = _PYTHON_TYPES[type_.name]
    subclass = {"BOOL": None, "DATE": datetime}.get(type_.name, bool)  # a bool is an int to Python, not to Spanner
    if not isinstance(value, python_type) or (subclass is not None and isinstance(value, subclass)):
        raise ValueError(f"{shown(value)} is {_kind(value)}; a column of type {type_} holds {wanted}")
    check = _CHECKS.get(type_.name)
    if check is not None:
        check(type_, value)


def _check_integer(type_: Type, value: object) -> None:
    if not INT64_MIN <= cast(int, value) <= INT64_MAX:
        raise ValueError(f"{value} does not fit INT64, which holds {INT64_MIN} to {INT64_MAX}")


def _check_numeric(type_: Type, value: object) -> None:
    number = cast(Decimal, value)
    if not number.is_finite() or number.copy_abs() >= _NUMERIC_LIMIT:
        raise ValueError(f"{value} does not fit NUMERIC, which holds 29 digits before the point and 9 after it")
    if cast(int, number.as_tuple().exponent) < -9 and number != number.quantize(
        _NUMERIC_STEP, context=_NUMERIC_CONTEXT
    ):
        raise ValueError(f"{value} does not fit NUMERIC, which holds 9 digits after the point: round it first")


def _check_string(type_: Type, value: object) -> None:
    text = cast(str, value)
    most = STRING_MAX_CHARACTERS if type_.length is None else type_.length
    if len(text) > most:
        raise ValueError(f"{shown(text)} has {len(text):,} characters; {type_} holds {most:,}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(
            f"{ascii(text)[:60]} is no valid Unicode text (half a surrogate pair); Spanner keeps UTF-8"
        ) from None
    if size > CELL_MAX_BYTES:
        raise ValueError(f"a text of {size:,} bytes does not fit a cell, which holds 10 MiB ({CELL_MAX_BYTES:,} bytes)")


def _check_bytes(type_: Type, value: object) -> None:
    size, most = len(cast(bytes, value)), CELL_MAX_BYTES if type_.length is None else type_.length
    if size > most:
        raise ValueError(f"{shown(value)} has {size:,} bytes; {type_} holds {most:,}")


def _check_timestamp(type_: Type, value: object) -> None:
    if cast(datetime, value).tzinfo is None:
        raise ValueError(f"{value} has no time zone; a TIMESTAMP is a moment, so give it one (datetime.UTC)")


def _check_json(type_: Type, value: object) -> None:
    try:
        read_json(cast(str, value))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{shown(value)} is no JSON: {error}") from None


def read_json(text: str) -> object:
    """The JSON text as Python lists and dicts. Raises ValueError for NaN and Infinity too, which Python alone reads."""

    def refuse(word: str) -> object:
        raise ValueError(f"{word} is no JSON number")

    return json.loads(text, parse_constant=refuse)


def _check_uuid(type_: Type, value: object) -> None:
    if not _UUID.fullmatch(cast(str, value)):
        raise ValueError(f"{shown(value)} is no UUID; write 36 lower-case characters: 8-4-4-4-12 hexadecimal digits")


def _check_array(type_: Type, value: object) -> None:
    for element in cast("list[object]", value):
        check_value(cast(Type, type_.element), element)


_CHECKS: dict[str, Callable[[Type, object], None]] = {
    "INT64": _check_integer, "NUMERIC": _check_numeric, "STRING": _check_string, "BYTES": _check_bytes,
    "TIMESTAMP": _check_timestamp, "JSON": _check_json, "UUID": _check_uuid, "ARRAY": _check_array,
}  # fmt: skip


def to_float32(value: float) -> float:
    """The FLOAT32 nearest to `value`. Raises ValueError where it is too large for one."""
    try:
        return float(struct.unpack(">f", struct.pack(">f", value))[0])
    except OverflowError:
        raise ValueError(f"{value} does not fit FLOAT32") from None


def round_numeric(value: object) -> Decimal:
    """`value` with nine digits after the point at most, halves away from zero. ValueError when it is too large."""
    number = cast(Decimal, value)
    if not number.is_finite() or number.copy_abs() >= _NUMERIC_LIMIT * 10:
        _check_numeric(Type("NUMERIC"), number)
    rounded = number.quantize(_NUMERIC_STEP, ROUND_HALF_UP, _NUMERIC_CONTEXT)
    _check_numeric(Type("NUMERIC"), rounded)
    short = rounded.copy_abs().normalize(_NUMERIC_CONTEXT) if not rounded else rounded.normalize(_NUMERIC_CONTEXT)
    return short.quantize(Decimal(1), context=_NUMERIC_CONTEXT) if cast(int, short.as_tuple().exponent) > 0 else short


def shown(value: object) -> str:
    """The value as Python writes it, shortened for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:50] + "…" + text[-8:]


def _kind(value: object) -> str:
    names = {bool: "BOOL", int: "INT64", float: "FLOAT64", Decimal: "NUMERIC", str: "STRING", bytes: "BYTES"}
    names |= {date: "DATE", datetime: "TIMESTAMP", list: "ARRAY"}
    return f"of type {names[type(value)]}" if type(value) in names else f"a Python {type(value).__name__}"
