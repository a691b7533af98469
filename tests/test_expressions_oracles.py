"""Expressions against other implementations: sqlite3, Python's integers and Decimals, numpy's calendar.

Random expressions of the part of SQL that GoogleSQL and sqlite share are written in both, and computed by both; what
differs (division, MOD, booleans) is written in the words of each.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from spanlab.errors import QueryError, SqlError, UnsupportedError
from spanlab.sql import parse_expression
from spanlab.sql.expressions import EvaluationError, Vector, evaluate, evaluate_row, infer_type
from spanlab.sql.functions import FUNCTIONS, Overload
from spanlab.values import INT64_MAX, INT64_MIN, Type

INT64, FLOAT64, NUMERIC, STRING, BYTES, BOOL, DATE, TIMESTAMP = map(
    Type, ("INT64", "FLOAT64", "NUMERIC", "STRING", "BYTES", "BOOL", "DATE", "TIMESTAMP")
)


def both_ways(text: str, types: dict[str, Type], rows: list[dict[str, Any]]) -> list[Any]:
    """The values of an expression in these rows: computed one by one and together, which agree."""
    tree = parse_expression(text)
    alone = [evaluate_row(tree, row, types) for row in rows]
    columns = {name: Vector.of(type_, [row[name] for row in rows]) for name, type_ in types.items()}
    assert repr(evaluate(tree, columns, len(rows)).to_list()) == repr(alone)
    return alone


# ---- sqlite: three-valued logic, choices, comparisons, integers, texts -------------------------------------------

Pair = tuple[str, str]
"""One expression in GoogleSQL and in sqlite."""


def _same(*words: str) -> st.SearchStrategy[Pair]:
    return st.sampled_from([(word, word) for word in words])


def _joined(parts: tuple[st.SearchStrategy[Pair], ...], *templates: str) -> st.SearchStrategy[Pair]:
    """One of the templates over such parts; "ours => theirs" where sqlite writes it differently."""

    def written(drawn: tuple[Any, ...]) -> Pair:
        template, *pairs = drawn
        ours, _, theirs = template.partition(" => ")
        return ours.format(*(pair[0] for pair in pairs)), (theirs or ours).format(*(pair[1] for pair in pairs))

    return st.tuples(st.sampled_from(templates), *parts).map(written)


_numbers = st.deferred(
    lambda: st.one_of(
        _same("a", "b", "c", "0", "1", "-3", "17", "NULL"),
        _joined((_numbers,), "ABS({})", "(-({}))", "(~({}))"),
        _joined((_numbers, _numbers), "({} + {})", "({} - {})", "({} * {})", "({} & {})", "({} | {})"),
        _joined((_numbers, _numbers), "MOD({}, NULLIF({}, 0)) => ({} % NULLIF({}, 0))"),
        _joined((_numbers, _numbers), "DIV({}, NULLIF({}, 0)) => ({} / NULLIF({}, 0))", "NULLIF({}, {})"),
        _joined((_numbers, _numbers), "GREATEST({}, {}) => max({}, {})", "LEAST({}, {}) => min({}, {})"),
        _joined((_numbers, _numbers, _numbers), "COALESCE({}, {}, {})", "CASE {} WHEN {} THEN {} END"),
        _joined((_conditions, _numbers, _numbers), "IF({}, {}, {}) => iif({}, {}, {})"),
        _joined((_texts,), "LENGTH({})"),
        _joined((_texts, _texts), "STRPOS({}, {}) => instr({}, {})"),
    )
)
_texts = st.deferred(
    lambda: st.one_of(
        _same("s", "t", "''", "'ab'", "'%b_'", "NULLIF(s, t)"),
        _joined((_texts,), "UPPER({})", "LOWER({})", "TRIM({}, 'a')", "SUBSTR({}, 2)", "SUBSTR({}, 1, 2)"),
        _joined((_texts, _texts), "({} || {})", "IFNULL({}, {})"),
        # sqlite gives back its first argument for an empty pattern, even where the replacement is NULL
        _joined((_texts, _same("'ab'", "'b'"), _texts), "REPLACE({}, {}, {})"),
        _joined((_conditions, _texts, _texts), "CASE WHEN {} THEN {} ELSE {} END"),
    )
)
_signs = [f"({{}} {sign} {{}})" for sign in ("=", "<", "<=", ">", ">=", "!=")]
_ranges = ["({} BETWEEN {} AND {})", "({} NOT BETWEEN {} AND {})", "({} IN ({}, {}))", "({} NOT IN ({}, {}, NULL))"]
_conditions = st.deferred(
    lambda: st.one_of(
        st.sampled_from([("TRUE", "1"), ("FALSE", "0"), ("p", "p"), ("q", "q"), ("CAST(NULL AS BOOL)", "NULL")]),
        _joined((_conditions,), "(NOT {})", "({} IS NULL)", "({} IS TRUE) => ({} IS 1)"),
        _joined((_conditions,), "({} IS NOT FALSE) => ({} IS NOT 0)"),
        _joined((_conditions, _conditions), "({} AND {})", "({} OR {})", "({} = {})"),
        _joined((_conditions, _conditions), "({} IS DISTINCT FROM {}) => ({} IS NOT {})"),
        _joined((_numbers, _numbers), *_signs),
        _joined((_texts, _texts), *_signs),
        _joined((_numbers, _numbers, _numbers), *_ranges),
        _joined((_texts, _texts, _texts), *_ranges),
        _joined((_numbers,), "({} IN (1, 17, NULL))"),
        _joined((_texts,), "({} IN ('ab', ''))"),
        _joined((_texts, _same("'a%'", "'%b_'", "'_'", "t")), "({} LIKE {})"),
    )
)
_rows = st.lists(
    st.fixed_dictionaries(
        {
            **dict.fromkeys("abc", st.none() | st.integers(-20, 20)),
            **dict.fromkeys("st", st.none() | st.text("abB%_", max_size=4)),
            **dict.fromkeys("pq", st.none() | st.booleans()),
        }
    ),
    min_size=1,
    max_size=5,
)
_TYPES = {**dict.fromkeys("abc", INT64), **dict.fromkeys("st", STRING), **dict.fromkeys("pq", BOOL)}


@settings(max_examples=100, deadline=None)
@given(st.one_of(_numbers, _texts, _conditions), _rows)
def test_sqlite_computes_the_same(pair: Pair, rows: list[dict[str, Any]]) -> None:
    googlesql, other = pair
    assume(len(googlesql) < 2000)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        database.execute(f"CREATE TABLE rows ({', '.join(_TYPES)})")
        database.executemany(
            f"INSERT INTO rows VALUES ({', '.join('?' * len(_TYPES))})",
            [[row[name] for name in _TYPES] for row in rows],
        )
        wanted = [value for (value,) in database.execute(f"SELECT {other} FROM rows ORDER BY rowid")]
    assume(not any(isinstance(value, float) for value in wanted))  # sqlite answers an overflow with a float
    try:
        computed = both_ways(googlesql, _TYPES, rows)
    except EvaluationError as error:
        assume("overflow" not in str(error))
        raise
    if infer_type(parse_expression(googlesql), _TYPES) == BOOL:
        wanted = [None if value is None else bool(value) for value in wanted]
    assert computed == wanted


# ---- integers: every operation near the ends of INT64 ------------------------------------------------------------

_edges = st.one_of(
    st.integers(INT64_MIN, INT64_MAX),
    st.sampled_from([0, 1, -1, 2, INT64_MAX, INT64_MIN, INT64_MIN + 1, 2**32, -(2**31), 3037000499, 3037000500]),
    st.integers(-100, 100),
)


def _toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize(
    ("text", "oracle"),
    [
        ("a + b", lambda a, b: a + b), ("a - b", lambda a, b: a - b), ("a * b", lambda a, b: a * b),
        ("DIV(a, b)", lambda a, b: _toward_zero(a, b)), ("MOD(a, b)", lambda a, b: a - b * _toward_zero(a, b)),
        ("ABS(a)", lambda a, b: abs(a)), ("-a", lambda a, b: -a), ("a & b", lambda a, b: a & b),
        ("a ^ b", lambda a, b: a ^ b),
    ],
)  # fmt: skip
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_integers_never_wrap(text: str, oracle: Any, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(_edges, _edges), min_size=1, max_size=6))
    rows, wanted = [], []
    for a, b in pairs:
        try:
            exact = oracle(a, b)
        except ZeroDivisionError:
            exact = None
        row = {"a": a, "b": b}
        if exact is not None and INT64_MIN <= exact <= INT64_MAX:
            rows.append(row)
            wanted.append(exact)
            continue
        for wrong in ([row], [*rows, row]):
            columns = {name: Vector.of(INT64, [one[name] for one in wrong]) for name in "ab"}
            with pytest.raises(EvaluationError, match="division by zero" if exact is None else "overflow"):
                evaluate(parse_expression(text), columns, len(wrong))
    if rows:
        assert both_ways(text, {"a": INT64, "b": INT64}, rows) == wanted


@given(_edges, st.integers(1, 4096))
def test_shards_of_a_hash(h: int, n: int) -> None:
    """The formulas of facts.md 2.4, their ranges, and where they agree."""

    def of(text: str) -> int:
        return both_ways(text, {"h": INT64, "n": INT64}, [{"h": h, "n": n}])[0]

    signed, folded, even = of("MOD(h, n)"), of("ABS(MOD(h, n))"), of("MOD(MOD(h, n) + n, n)")
    assert -n < signed < n
    assert signed == 0 or (signed < 0) == (h < 0)
    assert folded == abs(signed)
    assert even == h % n
    if h == INT64_MIN:
        with pytest.raises(EvaluationError, match=r"overflow: ABS\(-9223372036854775808\)"):
            of("MOD(ABS(h), n)")
    else:
        assert of("MOD(ABS(h), n)") == folded


# ---- decimals and floats -----------------------------------------------------------------------------------------

_decimals = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: Decimal(f"{n}E-9")) | st.integers(-(10**6), 10**6).map(
    lambda n: Decimal(f"{n}E-3")
)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide"])
@settings(max_examples=60, deadline=None)
@given(a=_decimals, b=_decimals)
def test_numerics_are_rounded_once(operation: str, a: Decimal, b: Decimal) -> None:
    assume(b or operation != "divide")
    sign = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}[operation]
    exact = getattr(Context(prec=200), operation)(a, b)
    wanted = exact.quantize(Decimal("1e-9"), ROUND_HALF_UP, Context(prec=300))
    row, types = {"a": a, "b": b}, {"a": NUMERIC, "b": NUMERIC}
    if abs(wanted.adjusted()) > 28 and wanted:
        with pytest.raises(EvaluationError, match="NUMERIC overflow"):
            both_ways(f"a {sign} b", types, [row])
    else:
        assert both_ways(f"a {sign} b", types, [row]) == [wanted]


@given(st.floats(-1e17, 1e17))
def test_floats_become_integers_halves_away_from_zero(value: float) -> None:
    wanted = int(Decimal(value).to_integral_value(ROUND_HALF_UP))
    assert both_ways("CAST(f AS INT64)", {"f": FLOAT64}, [{"f": value}]) == [wanted]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(1e308, 1e308)
def test_floats_do_not_overflow_to_infinity(a: float, b: float) -> None:
    for text, exact in (("a + b", a + b), ("a - b", a - b), ("a * b", a * b)):
        if math.isfinite(exact):
            assert both_ways(text, {"a": FLOAT64, "b": FLOAT64}, [{"a": a, "b": b}]) == [exact]
        else:
            with pytest.raises(EvaluationError, match="FLOAT64 overflow"):
                both_ways(text, {"a": FLOAT64, "b": FLOAT64}, [{"a": a, "b": b}])


@given(st.floats())
def test_a_float_reads_back_from_its_text(value: float) -> None:
    (read,) = both_ways("CAST(CAST(f AS STRING) AS FLOAT64)", {"f": FLOAT64}, [{"f": value}])
    assert read == value or (read != read and value != value)


# ---- the calendar, by numpy and by counting ----------------------------------------------------------------------

_days = st.dates(date(2, 1, 1), date(9990, 1, 1))
_moments = st.datetimes(datetime(2, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC))


@given(_days, _days)
def test_months_years_and_weeks_of_days(first: date, last: date) -> None:
    def of(text: str) -> Any:
        return both_ways(text, {"x": DATE, "y": DATE}, [{"x": first, "y": last}])[0]

    x, y = np.datetime64(first), np.datetime64(last)
    for part, unit in (("MONTH", "M"), ("YEAR", "Y"), ("DAY", "D")):
        assert of(f"DATE_DIFF(y, x, {part})") == int((y.astype(f"M8[{unit}]") - x.astype(f"M8[{unit}]")).astype(int))
        assert of(f"DATE_TRUNC(x, {part})") == x.astype(f"M8[{unit}]").astype("M8[D]").item()
    # numpy's weeks begin on Thursday (1970-01-01 was one): three days on, they begin on Sunday … Wednesday minus one
    sundays = [((day - np.datetime64("1969-12-28")).astype(int)) // 7 for day in (x, y)]
    assert of("DATE_DIFF(y, x, WEEK)") == int(sundays[1] - sundays[0])
    assert of("DATE_TRUNC(x, WEEK)") == (np.datetime64("1969-12-28") + 7 * sundays[0]).item()
    assert of("EXTRACT(DAYOFWEEK FROM x)") == int((x - np.datetime64("1969-12-28")).astype(int) % 7) + 1
    assert of("EXTRACT(ISOWEEK FROM x)") == int(first.strftime("%V"))
    assert of("EXTRACT(WEEK FROM x)") == int(first.strftime("%U"))
    assert of("EXTRACT(WEEK(MONDAY) FROM x)") == int(first.strftime("%W"))


@given(_days, st.integers(-400, 400))
def test_adding_months_keeps_the_day_or_takes_the_last(day: date, months: int) -> None:
    assume(40 < day.year < 9900)
    (added,) = both_ways(f"DATE_ADD(x, INTERVAL {months} MONTH)", {"x": DATE}, [{"x": day}])
    month = np.datetime64(day).astype("M8[M]") + months
    last = ((month + 1).astype("M8[D]") - 1).item()
    assert (added.year, added.month) == (last.year, last.month)
    assert added.day == min(day.day, last.day)


@given(_moments, _moments, st.integers(-(10**6), 10**6))
def test_moments_add_and_subtract(first: datetime, last: datetime, count: int) -> None:
    types, row = {"x": TIMESTAMP, "y": TIMESTAMP}, [{"x": first, "y": last}]
    for part, size in (
        ("MICROSECOND", timedelta(microseconds=1)),
        ("SECOND", timedelta(seconds=1)),
        ("MINUTE", timedelta(minutes=1)),
        ("DAY", timedelta(days=1)),
    ):
        assert both_ways(f"TIMESTAMP_DIFF(y, x, {part})", types, row) == [
            math.trunc((last - first) // size if last >= first else -((first - last) // size))
        ]
        with contextlib.suppress(OverflowError):
            wanted = first + count * size
            if wanted.year < 9990:
                assert both_ways(f"TIMESTAMP_ADD(x, INTERVAL {count} {part})", types, row) == [wanted]
    assert both_ways("TIMESTAMP_MICROS(UNIX_MICROS(x))", types, row) == [first]
    hour = first.replace(minute=0, second=0, microsecond=0)
    assert both_ways("TIMESTAMP_TRUNC(x, HOUR, 'UTC')", types, row) == [hour]
    assert both_ways("EXTRACT(HOUR FROM x AT TIME ZONE 'UTC')", types, row) == [first.hour]


# ---- every function of the table ---------------------------------------------------------------------------------

_ANY: dict[str, st.SearchStrategy[Any]] = {
    "INT64": _edges, "FLOAT64": st.floats() | st.sampled_from([0.0, -0.0, 1.0, 2.5]), "NUMERIC": _decimals,
    "BOOL": st.booleans(),
    "STRING": st.text(max_size=8) | st.sampled_from(["a", "UTC", "2026-01-01", "%", "a+", "[", "\\", "{}"]),
    "BYTES": st.binary(max_size=8), "DATE": st.dates(), "TIMESTAMP": st.datetimes(timezones=st.just(UTC)),
    "JSON": st.sampled_from(['{"a":1}', "[1]", "null"]), "ARRAY": st.lists(st.none() | st.text(max_size=3), max_size=3),
    "UUID": st.uuids().map(str),
}  # fmt: skip
_OVERLOADS = [overload for overloads in FUNCTIONS.values() for overload in overloads]
_STRING_ARRAY = Type("ARRAY", element=STRING)


def _written(overload: Overload, names: list[str]) -> str:
    if overload.name[0].isalpha():
        return f"{overload.name}({', '.join(names)})" if overload.name != "LIKE" else f"{names[0]} LIKE {names[1]}"
    return f"{names[0]} {overload.name} {names[1]}" if len(names) == 2 else f"{overload.name}{names[0]}"


@pytest.mark.parametrize("overload", _OVERLOADS, ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_every_function_computes_or_refuses(overload: Overload, data: st.DataObject) -> None:
    """Alone and in a column a function gives the same, or fails with the same words; nothing else is ever raised."""
    count = data.draw(st.integers(overload.required, len(overload.arguments) + overload.repeated))
    kinds = [overload.argument(i) for i in range(count)]
    types = {
        f"x{i}": _STRING_ARRAY if kind is not None and kind.name == "ARRAY" else kind for i, kind in enumerate(kinds)
    }
    text = _written(overload, list(types))
    rows = [{name: data.draw(st.none() | _ANY[type_.name]) for name, type_ in types.items()} for _ in range(4)]  # type: ignore[union-attr]
    tree = parse_expression(text)
    results, errors = [], []
    for row in rows:
        try:
            results.append(evaluate_row(tree, row, types))  # type: ignore[arg-type]
        except EvaluationError as error:
            errors.append(str(error).partition(", in ")[0])
    columns = {name: Vector.of(type_, [row[name] for row in rows]) for name, type_ in types.items()}  # type: ignore[arg-type]
    if errors:
        with pytest.raises(EvaluationError) as caught:
            evaluate(tree, columns, 4)
        assert str(caught.value).partition(", in ")[0] == errors[0]
    else:
        vector = evaluate(tree, columns, 4)
        assert repr(vector.to_list()) == repr(results)
        assert vector.type.name == overload.result.name


# ---- bad input ---------------------------------------------------------------------------------------------------

_WORDS = [
    "i",
    "f",
    "s",
    "b",
    "d",
    "at",
    "day",
    "tags",
    "NULL",
    "TRUE",
    "1",
    "-1",
    "0",
    "1.5",
    "1e400",
    "'x'",
    "b'\\xff'",
    "r'('",
    "'2026-01-01'",
    "DATE",
    "TIMESTAMP",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "+",
    "-",
    "*",
    "/",
    "||",
    "&",
    "<<",
    "=",
    "<",
    "!=",
    "IN",
    "LIKE",
    "BETWEEN",
    "AND",
    "OR",
    "NOT",
    "IS",
    "DISTINCT",
    "FROM",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "IF(",
    "COALESCE(",
    "CAST(",
    "SAFE_CAST(",
    "AS",
    "INT64)",
    "AS",
    "STRING)",
    "AS",
    "DATE)",
    "AS",
    "ARRAY<INT64>)",
    "MOD(",
    "ABS(",
    "SUBSTR(",
    "FARM_FINGERPRINT(",
    "GENERATE_ARRAY(",
    "ARRAY_LENGTH(",
    "STRUCT(",
    "EXTRACT(",
    "DAY",
    "INTERVAL",
    "DATE_ADD(",
    "TIMESTAMP_TRUNC(",
    "UNNEST(",
    "OFFSET(",
    "@p",
    "@q",
    "?",
    "SELECT",
    "COUNT(",
    "*",
    "^",
    "~",
    "SAFE.",
    "FORMAT(",
    "NULLIF(",
    "GREATEST(",
    "LPAD(",
    "REGEXP_CONTAINS(",
    "JSON_VALUE(",
    "nope",
    "NOPE(",
]
_GOOD = [
    "MOD(ABS(FARM_FINGERPRINT(s)), 16)", "IF(i = 0, NULL, f / i)", "CASE WHEN b THEN s ELSE 'x' END",
    "DATE_ADD(day, INTERVAL i DAY)", "s LIKE 'a%' AND i IN (1, 2, NULL)", "CAST(SUBSTR(s, 1, i) AS INT64) + 1",
    "[i, 2][OFFSET(i)]", "EXTRACT(YEAR FROM at AT TIME ZONE 'UTC') = 2026", "COALESCE(i, 1) BETWEEN -1 AND 1",
    "i IN UNNEST(GENERATE_ARRAY(0, i))", "STRUCT(i AS x, s).x", "TIMESTAMP_TRUNC(at, DAY) > '2026-01-01'",
    "FORMAT('%d %s', i, s)", "d * f + i",
]  # fmt: skip


_BAD_COLUMNS = {
    "i": Vector.of(INT64, [None, -3]),
    "f": Vector.of(FLOAT64, [math.nan, math.inf]),
    "s": Vector.of(STRING, ["", None]),
    "b": Vector.of(BOOL, [None, True]),
    "d": Vector.of(NUMERIC, [Decimal("1E28"), None]),
    "at": Vector.of(TIMESTAMP, [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)]),
    "day": Vector.of(DATE, [date.min, date.max]),
    "tags": Vector.of(_STRING_ARRAY, [[], ["x", None]]),
}


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_broken_expressions_raise_nothing_but_errors_for_learners(data: st.DataObject) -> None:
    words = data.draw(st.sampled_from(_GOOD)).replace("(", "( ").replace(")", " )").replace(",", " ,").split()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words)))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(_WORDS), max_size=2))
    try:
        tree = parse_expression(" ".join(words))
    except Exception:  # the parser has tests of its own
        assume(False)
    with contextlib.suppress(SqlError):
        vector = evaluate(
            tree, _BAD_COLUMNS, 2, params={"p": data.draw(st.sampled_from([None, 1, "x", [1, None], 1.5]))}
        )
        assert len(vector.to_list()) == 2


def test_nesting_has_a_limit() -> None:
    with pytest.raises((QueryError, UnsupportedError, SqlError)):
        evaluate_row(parse_expression("ABS(" * 5000 + "1" + ")" * 5000), {}, {})
