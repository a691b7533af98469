"""Values as text: what CAST reads and writes."""

from __future__ import annotations

import json
import math
import re
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

from spanlab.values.fitting import check_value, read_json, round_numeric, shown, to_float32
from spanlab.values.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

DEFAULT_TIME_ZONE = ZoneInfo("America/Los_Angeles")
"""What Spanner reads and prints timestamps in where a text names no time zone."""
_DATE_TEXT = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIMESTAMP_TEXT = re.compile(
    r"(?P<day>\d{4}-\d{1,2}-\d{1,2})"
    r"(?:[ Tt](?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.(?P<fraction>\d{0,9}))?)?"
    r"\s*(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<zone_hour>\d{1,2})(?::(?P<zone_minute>\d{1,2}))?|(?P<zone>[A-Za-z][\w/+-]*))?"
)


def value_from_text(type_: Type, text: str) -> object:
    """The value that CAST(text AS type) gives. Raises ValueError where the text is none of that type.

    A timestamp without a time zone is in America/Los_Angeles, Spanner's default.
    """
    reader = _READERS.get(type_.name)
    if reader is None:
        raise ValueError(f"a text cannot become {type_}")
    try:
        return reader(text.strip())
    except (ValueError, InvalidOperation, OverflowError, KeyError, RecursionError):
        raise ValueError(f"{shown(text)} is no {type_.name}; write {_FORMS[type_.name]}") from None


_FORMS = {
    "BOOL": "true or false", "INT64": "digits, as in -42", "FLOAT64": "a number, as in 1.5e3",
    "FLOAT32": "a number, as in 1.5e3", "NUMERIC": "at most 29 digits before the point, as in 12.50",
    "DATE": "a day that exists, as in 2026-11-30", "TIMESTAMP": "a moment, as in 2026-11-30T12:00:00Z",
    "JSON": 'JSON, as in {"a": 1}', "UUID": "32 hexadecimal digits in the form 8-4-4-4-12",
}  # fmt: skip


def _read_bool(text: str) -> object:
    return {"true": True, "false": False}[text.lower()]


def _read_integer(text: str) -> object:
    match = re.fullmatch(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(\d+))", text, re.ASCII)
    if match is None or len(text) > 400:
        raise ValueError
    number = int(match[1] + (match[2] or match[3]), 16 if match[2] else 10)
    check_value(Type("INT64"), number)
    return number


def _read_float(text: str) -> object:
    if not re.fullmatch(
        r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", text, re.IGNORECASE | re.ASCII
    ):
        raise ValueError
    number = float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise ValueError
    return number


def _read_numeric(text: str) -> object:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", text, re.ASCII):
        raise ValueError
    return round_numeric(Decimal(text))


def _read_date(text: str) -> object:
    match = _DATE_TEXT.fullmatch(text)
    if match is None:
        raise ValueError
    return date(*map(int, match.groups()))


def _read_timestamp(text: str) -> object:
    match = _TIMESTAMP_TEXT.fullmatch(text)
    if match is None:
        raise ValueError
    day = cast(date, _read_date(match["day"]))
    fraction = int(((match["fraction"] or "") + "000000")[:6])
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    moment = datetime(day.year, day.month, day.day, hour, minute, second, fraction, tzinfo=_zone(match))
    return moment.astimezone(UTC)


def _zone(match: re.Match[str]) -> tzinfo:
    if match["utc"]:
        return UTC
    if match["sign"]:
        offset = timedelta(hours=int(match["zone_hour"]), minutes=int(match["zone_minute"] or 0))
        return timezone(-offset if match["sign"] == "-" else offset)
    return time_zone(match["zone"]) if match["zone"] else DEFAULT_TIME_ZONE


def time_zone(name: str) -> tzinfo:
    """The time zone of that name ("Europe/Paris") or offset ("+01:00"). Raises ValueError where there is none."""
    match = re.fullmatch(
        r"(?P<utc>[Zz])|(?:UTC)?(?P<sign>[+-])(?P<zone_hour>\d{1,2})(?::?(?P<zone_minute>\d{2}))?|(?P<zone>.+)", name
    )
    if match is not None and not match["zone"]:
        return _zone(match)
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # not found, or no name at all
        raise ValueError(f"{shown(name)} is no time zone; write one such as Europe/Paris or +01:00") from None


def _read_json(text: str) -> object:
    return json_text(read_json(text))


def json_text(tree: object) -> str:
    """JSON as Spanner keeps it: members in order, no spaces. Raises ValueError and TypeError for what is no JSON."""
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text.encode()  # half a surrogate pair has no UTF-8, and so no place in Spanner
    return text


def _read_uuid(text: str) -> object:
    bare = text.removeprefix("{").removesuffix("}").replace("-", "")
    if not re.fullmatch(r"[0-9a-fA-F]{32}", bare):
        raise ValueError
    return str(uuid.UUID(bare))


_READERS: dict[str, Callable[[str], object]] = {
    "BOOL": _read_bool, "INT64": _read_integer, "FLOAT64": _read_float, "NUMERIC": _read_numeric,
    "FLOAT32": lambda text: to_float32(cast(float, _read_float(text))), "DATE": _read_date,
    "TIMESTAMP": _read_timestamp, "JSON": _read_json, "UUID": _read_uuid,
}  # fmt: skip


def text_of(type_: Type, value: object) -> str:
    """The text that CAST(value AS STRING) gives. `value` is not None. Raises ValueError for types without a text."""
    name = type_.name
    if name in ("STRING", "UUID", "JSON"):
        return cast(str, value)
    if name == "BOOL":
        return "true" if value else "false"
    if name in ("FLOAT64", "FLOAT32"):
        return _float_text(cast(float, value), 6 if name == "FLOAT32" else 15)
    if name == "NUMERIC":
        text = format(cast(Decimal, value), "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
    if name == "DATE":
        return cast(date, value).isoformat()
    if name == "TIMESTAMP":
        return timestamp_text(cast(datetime, value), DEFAULT_TIME_ZONE)
    if name == "BYTES":
        try:
            return cast(bytes, value).decode()
        except UnicodeDecodeError:
            raise ValueError(f"{shown(value)} is no UTF-8, so it cannot become a STRING") from None
    if name == "INT64" or "." in name:
        return str(value)
    raise ValueError(f"a value of {type_} cannot become a STRING")


def _float_text(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    short = f"{value:.{digits}g}"
    same = float(short) == value if digits == 15 else to_float32(float(short)) == value
    return short if same or value != value else f"{value:.{digits + 2 + (digits == 6)}g}"


def timestamp_text(value: datetime, zone: tzinfo) -> str:
    """A timestamp as GoogleSQL prints it: 2026-11-30 04:00:00.25-08 (three or six digits of fraction, or none)."""
    try:
        local = value.astimezone(zone)
    except OverflowError:
        raise ValueError(f"{value} is outside the years 1 to 9999 in {zone}") from None
    fraction = f".{local.microsecond:06d}".removesuffix("000") if local.microsecond else ""
    offset = local.strftime("%z")
    zone_text = offset[:3] if offset[3:5] == "00" else f"{offset[:3]}:{offset[3:5]}"
    return f"{local.year:04d}-{local:%m-%d %H:%M:%S}{fraction}{zone_text}"
