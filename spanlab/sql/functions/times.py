"""Functions of DATE and TIMESTAMP. A TIMESTAMP is a moment; its day and hour depend on a time zone.

Where a call names no time zone it is America/Los_Angeles, as in Spanner. Intervals arrive here as a number and a part:
TIMESTAMP_ADD(t, INTERVAL 5 DAY) is called with (t, 5, "DAY").
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any

from spanlab.sql.functions.registry import Fault, function
from spanlab.values import DEFAULT_TIME_ZONE, time_zone, timestamp_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)
_MICROSECONDS = {
    "MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6,
    "DAY": 86400 * 10**6,
}  # fmt: skip
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
DATE_PARTS = ("DAY", "WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR")
WEEKS = tuple(f"WEEK({day})" for day in _WEEKDAYS)
PARTS = ("NANOSECOND", *_MICROSECONDS, *DATE_PARTS[1:])


@lru_cache(maxsize=256)
def zone_of(name: str | None) -> tzinfo:
    """The time zone a call names, or Spanner's default."""
    if name is None:
        return DEFAULT_TIME_ZONE
    try:
        return time_zone(name)
    except ValueError as error:
        raise Fault(str(error)) from None


def _local(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise Fault(f"{moment} is outside the years 1 to 9999 in {zone}") from None


def _moment(local: datetime) -> datetime:
    try:
        return local.astimezone(UTC)
    except OverflowError:
        raise Fault(f"{local} is outside the years 1 to 9999") from None


# ---- seconds since 1970 ------------------------------------------------------------------------------------------


def _since_epoch(microseconds: int, call: str) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        raise Fault(f"{call} is outside the years 1 to 9999") from None


def microseconds_of(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


@function("TIMESTAMP_SECONDS(INT64) -> TIMESTAMP")
def timestamp_seconds(value: int) -> datetime:
    return _since_epoch(value * 10**6, f"TIMESTAMP_SECONDS({value})")


@function("TIMESTAMP_MILLIS(INT64) -> TIMESTAMP")
def timestamp_millis(value: int) -> datetime:
    return _since_epoch(value * 1000, f"TIMESTAMP_MILLIS({value})")


@function("TIMESTAMP_MICROS(INT64) -> TIMESTAMP")
def timestamp_micros(value: int) -> datetime:
    return _since_epoch(value, f"TIMESTAMP_MICROS({value})")


@function("UNIX_SECONDS(TIMESTAMP) -> INT64")
def unix_seconds(value: datetime) -> int:
    return microseconds_of(value) // 10**6


@function("UNIX_MILLIS(TIMESTAMP) -> INT64")
def unix_millis(value: datetime) -> int:
    return microseconds_of(value) // 1000


@function("UNIX_MICROS(TIMESTAMP) -> INT64")
def unix_micros(value: datetime) -> int:
    return microseconds_of(value)


@function("UNIX_DATE(DATE) -> INT64")
def unix_date(value: date) -> int:
    return (value - _EPOCH_DAY).days


@function("DATE_FROM_UNIX_DATE(INT64) -> DATE")
def date_from_unix_date(days: int) -> date:
    return date_add(_EPOCH_DAY, days, "DAY")


# ---- making them -------------------------------------------------------------------------------------------------


@function("DATE(INT64, INT64, INT64) -> DATE")
def date_from_parts(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        raise Fault(f"DATE({year}, {month}, {day}) is no day") from None


@function("DATE(TIMESTAMP, [STRING]) -> DATE")
def date_of(moment: datetime, zone: str | None = None) -> date:
    return _local(moment, zone_of(zone)).date()


@function("TIMESTAMP(DATE, [STRING]) -> TIMESTAMP")
def timestamp_of(day: date, zone: str | None = None) -> datetime:
    return _moment(datetime.combine(day, time(), zone_of(zone)))


def text_in_zone(moment: datetime, zone: str | None = None) -> str:
    """STRING(moment, zone): the moment as text, seen from the time zone."""
    try:
        return timestamp_text(moment, zone_of(zone))
    except ValueError as error:
        raise Fault(str(error)) from None


# ---- adding and subtracting --------------------------------------------------------------------------------------


def timestamp_add(moment: datetime, count: int, part: str) -> datetime:
    """The moment that many parts later; a DAY is 24 hours."""
    if part == "NANOSECOND":
        count, part = count // 1000, "MICROSECOND"
    try:
        return moment + timedelta(microseconds=count * _MICROSECONDS[part])
    except OverflowError:
        raise Fault(f"{moment:%Y-%m-%d %H:%M:%S} + {count} {part} is outside the years 1 to 9999") from None


def timestamp_diff(later: datetime, earlier: datetime, part: str) -> int:
    """Whole parts between two moments, the fraction dropped."""
    between = microseconds_of(later) - microseconds_of(earlier)
    if part == "NANOSECOND":
        return between * 1000
    whole = abs(between) // _MICROSECONDS[part]
    return whole if between >= 0 else -whole


def date_add(day: date, count: int, part: str) -> date:
    """The day that many parts later; a day that the month does not have becomes its last one."""
    try:
        if part in ("DAY", "WEEK"):
            return day + timedelta(days=count * (7 if part == "WEEK" else 1))
        months = day.year * 12 + day.month - 1 + count * _MONTHS[part]
        year, month = months // 12, months % 12 + 1
        return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
    except (OverflowError, ValueError, IndexError):
        raise Fault(f"{day} + {count} {part} is outside the years 1 to 9999") from None


def date_diff(later: date, earlier: date, part: str) -> int:
    """How many borders of that part lie between two days."""
    if part == "DAY":
        return (later - earlier).days
    if part in _MONTHS:
        size = _MONTHS[part]
        first, last = ((day.year * 12 + day.month - 1) // size for day in (earlier, later))
        return last - first
    if part == "ISOYEAR":
        return later.isocalendar()[0] - earlier.isocalendar()[0]
    start = _week_start(part)
    return ((later.toordinal() - 1 - start) // 7) - ((earlier.toordinal() - 1 - start) // 7)


def _week_start(part: str) -> int:
    """The weekday (0 is Monday) that begins a week: WEEK on Sunday, ISOWEEK on Monday, WEEK(day) on that day."""
    if part == "ISOWEEK":
        return 0
    return _WEEKDAYS.index(part[5:-1]) if part.startswith("WEEK(") else 6


# ---- cutting off -------------------------------------------------------------------------------------------------


def date_trunc(day: date, part: str) -> date:
    """The first day of the part that `day` lies in."""
    if part == "DAY":
        return day
    if part == "YEAR":
        return day.replace(month=1, day=1)
    if part in _MONTHS:
        size = _MONTHS[part]
        return day.replace(month=(day.month - 1) // size * size + 1, day=1)
    try:
        if part == "ISOYEAR":
            return date.fromisocalendar(day.isocalendar()[0], 1, 1)
        return day - timedelta(days=(day.weekday() - _week_start(part)) % 7)
    except (OverflowError, ValueError):
        raise Fault(f"the {part} of {day} begins before year 1") from None


def timestamp_trunc(moment: datetime, part: str, zone: str | None = None) -> datetime:
    """The first moment of the part that `moment` lies in, seen from the time zone."""
    if part == "NANOSECOND":
        return moment
    if part in ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE"):
        size = _MICROSECONDS[part]
        return _since_epoch(microseconds_of(moment) // size * size, f"TIMESTAMP_TRUNC({moment}, {part})")
    local = _local(moment, zone_of(zone))
    if part == "HOUR":
        return _moment(local.replace(minute=0, second=0, microsecond=0))
    return _moment(datetime.combine(date_trunc(local.date(), part), time(), local.tzinfo))


# ---- taking out --------------------------------------------------------------------------------------------------

_TIME_PARTS = {
    "MICROSECOND": lambda at: at.microsecond, "MILLISECOND": lambda at: at.microsecond // 1000,
    "NANOSECOND": lambda at: at.microsecond * 1000, "SECOND": lambda at: at.second, "MINUTE": lambda at: at.minute,
    "HOUR": lambda at: at.hour,
}  # fmt: skip
_DAY_PARTS = {
    "YEAR": lambda day: day.year, "MONTH": lambda day: day.month, "DAY": lambda day: day.day,
    "QUARTER": lambda day: (day.month + 2) // 3, "DAYOFWEEK": lambda day: day.isoweekday() % 7 + 1,
    "DAYOFYEAR": lambda day: day.timetuple().tm_yday, "ISOYEAR": lambda day: day.isocalendar()[0],
    "ISOWEEK": lambda day: day.isocalendar()[1],
}  # fmt: skip
EXTRACTED = (*_TIME_PARTS, *_DAY_PARTS, "WEEK", "DATE")


def extract(part: str, value: Any, zone: str | None = None) -> Any:
    """EXTRACT(part FROM value [AT TIME ZONE zone]) of a DATE or a TIMESTAMP."""
    if isinstance(value, datetime):
        value = _local(value, zone_of(zone))
        if part == "DATE":
            return value.date()
        if part in _TIME_PARTS:
            return _TIME_PARTS[part](value)
        value = value.date()
    if part in _DAY_PARTS:
        return _DAY_PARTS[part](value)
    # days before the first week start of the year are week 0
    first = value.replace(month=1, day=1)
    offset = (_week_start(part) - first.weekday()) % 7
    return (value.timetuple().tm_yday - 1 - offset) // 7 + 1


_SPELLED_OUT = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "h": "%b", "n": "\n", "t": "\t"}


def format_time(template: str, value: Any, zone: str | None = None) -> str:
    """FORMAT_TIMESTAMP and FORMAT_DATE for the elements that mean the same in every locale."""
    local = _local(value, zone_of(zone)) if isinstance(value, datetime) else datetime.combine(value, time(), UTC)
    for element, spelled_out in _SPELLED_OUT.items():
        template = re.sub(rf"(?<!%)((?:%%)*)%{element}", lambda match: match[1] + spelled_out, template)  # noqa: B023
    return re.sub("%(.?)", lambda match: _format_element(match[1], local), template)


def _format_element(element: str, local: datetime) -> str:
    if element in ("Y", "e", "k", "s"):
        return {
            "Y": f"{local.year:04d}",
            "e": f"{local.day:2d}",
            "k": f"{local.hour:2d}",
            "s": str(unix_seconds(local)),
        }[element]
    if element == "" or element not in "aAbBdHIjmMpSyuw%":
        raise Fault(f"the format element %{element} lies outside the course")
    return local.strftime("%" + element)
