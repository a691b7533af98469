"""Functions of ARRAY and JSON."""

from __future__ import annotations

import json
from typing import Any

from spanlab.sql.functions.numbers import int64
from spanlab.sql.functions.registry import Fault, function
from spanlab.values import Type, coerce
from spanlab.values.fitting import read_json

_MOST_ELEMENTS = 1_000_000


@function("ARRAY_LENGTH(ARRAY) -> INT64")
def array_length(values: list[Any]) -> int:
    return len(values)


@function("ARRAY_CONCAT(ARRAY, …) -> ARRAY")
def array_concat(*arrays: list[Any]) -> list[Any]:
    return [value for array in arrays for value in array]


@function("GENERATE_ARRAY(INT64, INT64, [INT64]) -> ARRAY<INT64>")
def generate_array(start: int, end: int, step: int = 1) -> list[int]:
    """start, start + step, … up to `end`, which is part of it."""
    if step == 0:
        raise Fault("GENERATE_ARRAY: the step must not be 0")
    count = max(0, (end - start) // step + 1)
    if count > _MOST_ELEMENTS:
        raise Fault(f"GENERATE_ARRAY({start}, {end}, {step}) would have {count:,} elements; at most {_MOST_ELEMENTS:,}")
    return [int64(start + step * i, "GENERATE_ARRAY") for i in range(count)]


@function("PARSE_JSON(STRING) -> JSON")
def parse_json(text: str) -> Any:
    try:
        return coerce(Type("JSON"), text)
    except ValueError as error:
        raise Fault(str(error)) from None


@function("TO_JSON_STRING(JSON) -> STRING")
def to_json_string(value: str) -> str:
    return value


def json_at(document: str, path: list[str | int]) -> Any:
    """The part of a JSON document at that path, as (found, value); nothing is found in a text that is no JSON."""
    try:
        value: Any = read_json(document)
    except (ValueError, RecursionError):
        return False, None
    for step in path:
        in_object = isinstance(value, dict) and isinstance(step, str) and step in value
        in_array = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
        if not in_object and not in_array:
            return False, None
        value = value[step]
    return True, value


def json_value(document: str, path: list[str | int]) -> str | None:
    """JSON_VALUE: the scalar at the path as a STRING; NULL where there is none, or an object or array."""
    found, value = json_at(document, path)
    if not found or value is None or isinstance(value, (dict, list)):
        return None
    return value if isinstance(value, str) else json.dumps(value)


def json_query(document: str, path: list[str | int]) -> str | None:
    """JSON_QUERY: the JSON at the path; NULL where there is none."""
    found, value = json_at(document, path)
    return str(coerce(Type("JSON"), json.dumps(value))) if found else None
