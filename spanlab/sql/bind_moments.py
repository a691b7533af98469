"""Binding of dates and timestamps: calls with a part (DAY, HOUR …), an INTERVAL or a time zone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError, suggest
from spanlab.sql.binder import Binder, binds, choose_overload, form, number
from spanlab.sql.bound import DATE, INT64, STRING, TIMESTAMP, Bound, call, coerced, cost, per_statement, text_of_tree
from spanlab.sql.calls import part_of, read_call
from spanlab.sql.casting import caster
from spanlab.sql.functions import times
from spanlab.values import Type


@binds(exp.TimestampAdd, exp.TimestampSub, exp.DateAdd, exp.DateSub)
def bind_interval(binder: Binder, node: exp.Expr) -> Bound:
    """TIMESTAMP_ADD, DATE_SUB and their kin; and t + INTERVAL 1 DAY."""
    amount = node.expression
    interval = amount if isinstance(amount, exp.Interval) else node
    if isinstance(amount, exp.Interval):
        amount = amount.this
    part, moment = part_of(interval), binder.bind(node.this)
    count = _whole_number(binder.bind(amount), amount)
    sign = -1 if isinstance(node, (exp.DateSub, exp.TimestampSub, exp.Sub)) else 1
    wanted = "DATE" if isinstance(node, (exp.DateAdd, exp.DateSub)) else "TIMESTAMP"
    moment = _moment(moment, wanted, node)
    allowed = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR") if wanted == "DATE" else times.PARTS[:7]
    _check_part(part, allowed, node)
    add = times.date_add if wanted == "DATE" else times.timestamp_add
    return call(node, Type(wanted), lambda at, n: add(at, sign * n, part), [moment, count])


@binds(exp.Add, exp.Sub)
def bind_sum(binder: Binder, node: exp.Expr) -> Bound:
    """+ and -, of numbers or of a TIMESTAMP and an INTERVAL."""
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Interval):
        node = exp.Add(this=node.expression.copy(), expression=node.this.copy())
    if isinstance(node.expression, exp.Interval):
        return bind_interval(binder, node)
    found = read_call(node)
    assert found is not None
    return binder.call(node, *found)


@binds(exp.TimestampDiff, exp.DateDiff)
def bind_difference(binder: Binder, node: exp.Expr) -> Bound:
    wanted = "DATE" if isinstance(node, exp.DateDiff) else "TIMESTAMP"
    later, earlier = (_moment(binder.bind(one), wanted, node) for one in (node.this, node.expression))
    part = part_of(node)
    _check_part(part, times.DATE_PARTS if wanted == "DATE" else times.PARTS[:7], node)
    differ = times.date_diff if wanted == "DATE" else times.timestamp_diff
    return call(node, INT64, lambda a, b: differ(a, b, part), [later, earlier])


@binds(exp.TimestampTrunc, exp.DateTrunc)
def bind_truncation(binder: Binder, node: exp.Expr) -> Bound:
    wanted = "DATE" if isinstance(node, exp.DateTrunc) else "TIMESTAMP"
    moment, part = binder.bind(node.this), part_of(node)
    moment = _moment(moment, moment.type.name if moment.type.name in ("DATE", "TIMESTAMP") else wanted, node)
    if moment.type.name == "DATE":
        _check_part(part, times.DATE_PARTS, node)
        return call(node, DATE, lambda day: times.date_trunc(day, part), [moment])
    _check_part(part, times.PARTS, node)
    arguments = [moment, *_zone(binder, node.args.get("zone"))]
    return call(node, TIMESTAMP, lambda at, name=None: times.timestamp_trunc(at, part, name), arguments)


@binds(exp.Extract)
def bind_extract(binder: Binder, node: exp.Expr) -> Bound:
    source, zone = node.expression, None
    if isinstance(source, exp.AtTimeZone):
        source, zone = source.this, source.args["zone"]
    value, part = binder.bind(source), part_of(node, "this")
    if value.type.name not in ("DATE", "TIMESTAMP"):
        value = _moment(value, "TIMESTAMP", node)
    allowed = times.EXTRACTED if value.type.name == "TIMESTAMP" else times.EXTRACTED[6:-1]
    _check_part(part, allowed, node)
    arguments = [value, *_zone(binder, zone)]
    type_ = DATE if part == "DATE" else INT64
    return call(node, type_, lambda at, name=None: times.extract(part, at, name), arguments)


@binds(exp.TimeToStr)
def bind_formatted_time(binder: Binder, node: exp.Expr) -> Bound:
    wanted = "DATE" if isinstance(node.this, exp.TsOrDsToDate) else "TIMESTAMP"
    inner = node.this.this if isinstance(node.this, (exp.TsOrDsToDate, exp.TsOrDsToTimestamp)) else node.this
    value, template = _moment(binder.bind(inner), wanted, node), binder.bind(node.args["format"])
    arguments = [_text(template), value, *_zone(binder, node.args.get("zone"))]
    return call(node, STRING, times.format_time, arguments)


@form("STRING")
def bind_string(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    value, zone = binder.bind(nodes[0]), _zone(binder, *nodes[1:])
    if value.type.name == "DATE" and not zone:
        return call(node, STRING, date.isoformat, [value])
    value = _moment(value, "TIMESTAMP", node)
    return call(node, STRING, times.text_in_zone, [value, *zone])


@form("TIMESTAMP")
def bind_timestamp(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    value, zone = binder.bind(nodes[0]), _zone(binder, *nodes[1:])
    if value.type.name != "STRING":
        overload = choose_overload("TIMESTAMP", [value, *zone], node)
        return call(node, TIMESTAMP, overload.row, [value, *zone])
    read = caster(STRING, TIMESTAMP)
    assert read is not None
    if not zone:
        return call(node, TIMESTAMP, read, [value])
    return call(node, TIMESTAMP, lambda text, name: read(f"{text} {name}"), [value, *zone])


@form("CURRENT_DATE")
def bind_current_date(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    zone = binder.bind(nodes[0]) if nodes else None
    if zone is not None and not (zone.literal and zone.type.name == "STRING"):
        raise UnsupportedError("CURRENT_DATE with a computed time zone lies outside the course")
    name = None if zone is None else zone.value
    return per_statement(node, DATE, lambda context: times.date_of(context.now, name))


@form("CURRENT_TIMESTAMP", "PENDING_COMMIT_TIMESTAMP")
def bind_now(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    return per_statement(node, TIMESTAMP, lambda context: context.now)


def _moment(bound: Bound, wanted: str, node: exp.Expr) -> Bound:
    """`bound` as a DATE or TIMESTAMP. Raises QueryError where it cannot be one."""
    if wanted not in ("DATE", "TIMESTAMP") or cost(bound, Type(wanted)) is None:
        needed = wanted if wanted in ("DATE", "TIMESTAMP") else "DATE or TIMESTAMP"
        raise QueryError(f"{text_of_tree(node)} needs a {needed}; {text_of_tree(bound.tree)} is of type {bound.type}")
    return coerced(bound, Type(wanted))


def _whole_number(bound: Bound, node: exp.Expr) -> Bound:
    """The number of an INTERVAL, which the parser keeps as text."""
    if bound.literal and isinstance(bound.value, str) and bound.value.lstrip("-").isdecimal():
        return number(bound.value, node)
    if bound.type.name != "INT64":
        raise QueryError(f"An INTERVAL needs an INT64; {text_of_tree(node)} is of type {bound.type}")
    return bound


def _zone(binder: Binder, node: exp.Expr | None = None) -> list[Bound]:
    """The time zone of a call as its last argument; none where none is written."""
    return [] if node is None else [_text(binder.bind(node))]


def _text(bound: Bound) -> Bound:
    if cost(bound, STRING) is None:
        raise QueryError(f"A STRING is needed; {text_of_tree(bound.tree)} is of type {bound.type}")
    return coerced(bound, STRING)


def _check_part(part: str, allowed: Sequence[str], node: exp.Expr) -> None:
    if part in allowed or (part.startswith("WEEK(") and "ISOWEEK" in allowed and part in times.WEEKS):
        return
    raise QueryError(
        f"{text_of_tree(node)}: {part} cannot stand here.{suggest(part, allowed)}", hint=", ".join(allowed)
    )
