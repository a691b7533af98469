"""Values on their way into a table: are they of the column's type, and may they be NULL?

Whole columns are looked at together: that all texts of a column fit is seen from the longest of them. Only where
something does not fit is each value looked at, so that the refusal can name it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from spanlab.storage import refusals
from spanlab.values import INT64_MAX, INT64_MIN, STRING_MAX_CHARACTERS, Type, coerce

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime as Timestamp

    from spanlab.catalog import Column

COMMIT_TIMESTAMP = "spanner.commit_timestamp()"
"""What a mutation writes into a TIMESTAMP column to get the commit's own time (facts.md 5.4)."""

_SIMPLE: dict[str, type] = {
    "STRING": str, "INT64": int, "FLOAT64": float, "BOOL": bool, "DATE": date, "TIMESTAMP": datetime,
}  # fmt: skip
_NUMERIC = Type("NUMERIC")


def accepted(table: str, column: Column, values: Sequence[object], now: Timestamp) -> Sequence[object]:
    """The values as the column keeps them. Raises ConstraintError for one that it cannot hold."""
    if column.not_null and None in values:
        raise refusals.null_value(table, column.name)
    return typed(table, column, values, now)


def typed(table: str, column: Column, values: Sequence[object], now: Timestamp) -> Sequence[object]:
    """As `accepted`, for values that may be NULL for the moment."""
    if len(values) == 1 and (values[0] is None or _surely_fits(column, values[0])):
        return values
    kinds = set(map(type, values))
    kinds.discard(type(None))
    if not kinds:
        return values
    known = [value for value in values if value is not None] if None in values else values
    if kinds == {_SIMPLE.get(column.type.name)} and _fit(column, known):
        return values
    if kinds == {Decimal} and column.type == _NUMERIC:
        with suppress(ValueError, TypeError):  # TypeError: a signalling NaN has no hash
            return [None if value is None else _amount(cast("Decimal", value)) for value in values]
    return [_accept(table, column, value, now) for value in values]


@lru_cache(maxsize=65_536)
def _amount(value: Decimal) -> object:
    """A NUMERIC as its column keeps it. Amounts of money come back, and rounding takes longer than remembering."""
    return coerce(_NUMERIC, value)


def _surely_fits(column: Column, value: object) -> bool:
    """True where one value plainly fits; False sends it to be looked at."""
    name = column.type.name
    if type(value) is not _SIMPLE.get(name):
        return False
    if name == "STRING":
        text, most = cast("str", value), column.type.length or STRING_MAX_CHARACTERS
        return len(text) <= most and text.isascii() and not column.commit_timestamp
    if name == "INT64":
        return INT64_MIN <= cast("int", value) <= INT64_MAX
    return name != "TIMESTAMP" or cast("Timestamp", value).tzinfo is UTC


def _fit(column: Column, values: Sequence[object]) -> bool:
    """True where all values (of the right Python type, none NULL) surely fit; False sends each to be looked at."""
    name = column.type.name
    if name == "STRING":
        texts = cast("Sequence[str]", values)
        most = STRING_MAX_CHARACTERS if column.type.length is None else column.type.length
        if column.commit_timestamp or max(map(len, texts)) > most:
            return False
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            return False
        return True
    if name == "INT64":
        numbers = cast("Sequence[int]", values)
        return min(numbers) >= INT64_MIN and max(numbers) <= INT64_MAX
    if name == "TIMESTAMP":
        return all(moment.tzinfo is UTC for moment in cast("Sequence[Timestamp]", values))
    return name in ("FLOAT64", "BOOL", "DATE")


def _accept(table: str, column: Column, value: object, now: Timestamp) -> object:
    if value == COMMIT_TIMESTAMP and column.type.name == "TIMESTAMP":
        if not column.commit_timestamp:
            raise refusals.bad_value(
                table, column.name, "the commit timestamp needs OPTIONS (allow_commit_timestamp = true) on the column"
            )
        return now
    try:
        return coerce(column.type, value)
    except ValueError as error:
        raise refusals.bad_value(table, column.name, str(error)) from None
