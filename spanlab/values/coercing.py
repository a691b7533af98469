"""Making values proper: what a learner, a JSON file or numpy writes, as a value of its type."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from spanlab.values.fitting import check_value, read_json, round_numeric, shown, to_float32
from spanlab.values.text import json_text, value_from_text
from spanlab.values.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable


def coerce(type_: Type, value: object) -> object:
    """The value of that type that `value` stands for: what a learner, a JSON file or numpy writes, made proper.

    Whole numbers stand for FLOAT64 and NUMERIC, texts for DATE, TIMESTAMP, NUMERIC, UUID and the FLOAT64 "NaN",
    "Infinity" and "-Infinity"; a datetime without a time zone is in UTC; lists and dicts stand for JSON. A text never
    stands for an INT64, as in Spanner. Raises ValueError where the value fits the type in no way.
    """
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()  # a numpy scalar
    if value is None:
        return None
    convert = _COERCIONS.get(type_.name)
    if convert is not None:
        value = convert(type_, value)
    check_value(type_, value)
    return value


def _coerce_float(type_: Type, value: object) -> object:
    if isinstance(value, str) and value.lower() in ("nan", "infinity", "-infinity", "inf", "-inf"):
        return float(value)
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{shown(value)} does not fit {type_}") from None
    if type_.name == "FLOAT32" and isinstance(value, float):
        return to_float32(value)
    return value


def _coerce_numeric(type_: Type, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return value
    return round_numeric(
        value_from_text(type_, value)
        if isinstance(value, str)
        else Decimal(repr(value) if isinstance(value, float) else value)
    )


def _coerce_string(type_: Type, value: object) -> object:
    return str(value) if isinstance(value, uuid.UUID) else value


def _coerce_bytes(type_: Type, value: object) -> object:
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def _coerce_from_text(type_: Type, value: object) -> object:
    return value_from_text(type_, value) if isinstance(value, str) else value


def _coerce_timestamp(type_: Type, value: object) -> object:
    if isinstance(value, str):
        return value_from_text(type_, value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def _coerce_json(type_: Type, value: object) -> object:
    try:
        tree = read_json(value) if isinstance(value, str) else value
        return json_text(tree)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{shown(value)} is no JSON: {error}") from None


def _coerce_uuid(type_: Type, value: object) -> object:
    return str(value) if isinstance(value, uuid.UUID) else _coerce_from_text(type_, value)


def _coerce_array(type_: Type, value: object) -> object:
    element = cast(Type, type_.element)
    return [coerce(element, part) for part in value] if isinstance(value, (list, tuple)) else value


_COERCIONS: dict[str, Callable[[Type, object], object]] = {
    "FLOAT64": _coerce_float, "FLOAT32": _coerce_float, "NUMERIC": _coerce_numeric, "STRING": _coerce_string,
    "BYTES": _coerce_bytes, "DATE": _coerce_from_text, "TIMESTAMP": _coerce_timestamp, "JSON": _coerce_json,
    "UUID": _coerce_uuid, "ARRAY": _coerce_array,
}  # fmt: skip
