"""GoogleSQL expressions against the tables of Spanner's reference and of the fact sheet.

Every value is computed twice: for one row, and in a column among NULL rows.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from spanlab.errors import QueryError, UnsupportedError
from spanlab.sql import parse_expression
from spanlab.sql.expressions import (
    EvaluationError,
    Vector,
    columns_in,
    evaluate,
    evaluate_row,
    infer_type,
    is_volatile,
)
from spanlab.values import Type

TYPES = {
    "i": Type("INT64"),
    "n": Type("INT64"),
    "f": Type("FLOAT64"),
    "d": Type("NUMERIC"),
    "s": Type("STRING", 36),
    "y": Type("BYTES"),
    "b": Type("BOOL"),
    "day": Type("DATE"),
    "at": Type("TIMESTAMP"),
    "id": Type("UUID"),
    "doc": Type("JSON"),
    "tags": Type("ARRAY", element=Type("STRING")),
    "r": Type("FLOAT32"),
    "nothing": Type("INT64"),
    "unknown": Type("BOOL"),
}
ROW: dict[str, Any] = {
    "i": 7,
    "n": 0,
    "f": 1.5,
    "d": Decimal("2.5"),
    "s": "Hello",
    "y": b"\x00\xff",
    "b": True,
    "day": date(2026, 1, 31),
    "at": datetime(2026, 1, 2, 3, 4, 5, 250000, UTC),
    "id": "0e984725-c51c-4bf4-9960-e1c80e27aba0",
    "doc": '{"a":{"b":[1,"x"]},"c":null}',
    "tags": ["x", None],
    "r": 0.5,
    "nothing": None,
    "unknown": None,
}


def compute(text: str) -> Any:
    """The value of an expression in ROW, which is the same one row alone and between two rows of NULLs."""
    tree = parse_expression(text)
    alone = evaluate_row(tree, ROW, TYPES)
    columns = {name: Vector.of(type_, [None, ROW[name], None]) for name, type_ in TYPES.items()}
    vector = evaluate(tree, columns, 3)
    assert str(vector.type) == str(infer_type(tree, TYPES))
    among = vector.to_list()[1]
    assert repr(among) == repr(alone)
    assert type(among) is type(alone)
    return alone


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


ARITHMETIC: list[tuple[str, object]] = [
    ("i + 1", 8), ("i - 9", -2), ("i * -3", -21), ("-i", -7), ("i / 2", 3.5), ("f + i", 8.5), ("d + i", Decimal("9.5")),
    ("d * d", Decimal("6.25")), ("d / 3", Decimal("0.833333333")), ("d + f", 4.0), ("i + 1.5", 8.5),
    ("d + 1.5", Decimal(4)), ("1 + NULL", None), ("-9223372036854775808", -(2**63)), ("0x1F", 31),
    ("NUMERIC '1.5' + 1", Decimal("2.5")), ("MOD(25, 12)", 1), ("MOD(-7, 3)", -1), ("MOD(7, -3)", 1),
    ("MOD(-9223372036854775808, -1)", 0), ("MOD(NUMERIC '-5.5', 2)", Decimal("-1.5")), ("DIV(20, 4)", 5),
    ("DIV(12, -7)", -1), ("DIV(20, 3)", 6), ("DIV(0, 20)", 0), ("ABS(-25)", 25), ("ABS(d - 5)", Decimal("2.5")),
    ("SIGN(-25)", -1), ("SIGN(f)", 1.0), ("ROUND(2.0)", 2.0), ("ROUND(2.3)", 2.0), ("ROUND(2.8)", 3.0),
    ("ROUND(2.5)", 3.0), ("ROUND(-2.5)", -3.0), ("ROUND(123.7, -1)", 120.0), ("ROUND(1.235, 2)", 1.24),
    ("ROUND(i)", 7.0), ("ROUND(NUMERIC '2.345', 2)", Decimal("2.35")), ("TRUNC(-2.8)", -2.0), ("TRUNC(2.38, 1)", 2.3),
    ("CEIL(2.3)", 3.0), ("CEILING(-2.8)", -2.0), ("FLOOR(-2.3)", -3.0), ("SQRT(25.0)", 5.0), ("POW(2.0, 3.0)", 8.0),
    ("POWER(i, 2)", 49.0), ("EXP(0.0)", 1.0), ("LN(1.0)", 0.0), ("LOG(100.0, 10.0)", 2.0), ("LOG10(1000)", 3.0),
    ("LOG(8, 2)", 3.0), ("LOG(1.0)", 0.0), ("IEEE_DIVIDE(20.0, 4.0)", 5.0), ("IEEE_DIVIDE(25.0, 0.0)", math.inf),
    ("IEEE_DIVIDE(-25.0, 0.0)", -math.inf), ("IS_NAN(IEEE_DIVIDE(0.0, 0.0))", True), ("IS_INF(f)", False),
    ("SAFE_DIVIDE(20, 4)", 5.0), ("SAFE_DIVIDE(i, n)", None), ("SAFE_ADD(9223372036854775807, 1)", None),
    ("SAFE_ADD(i, 1)", 8), ("SAFE_MULTIPLY(i, 2)", 14), ("SAFE_NEGATE(-9223372036854775808)", None),
    ("SAFE_SUBTRACT(i, 2)", 5), ("SAFE.DIV(i, n)", None), ("SAFE.SUBSTR('x', 1, -1)", None), ("GREATEST(3, 5, 1)", 5),
    ("GREATEST(i, f)", 7.0), ("LEAST(3, NULL)", None), ("LEAST('b', s)", "Hello"), ("i & 5", 5), ("i | 8", 15),
    ("i ^ 2", 5), ("~i", -8), ("1 << 62", 2**62), ("1 << 63", -(2**63)), ("3 << 64", 0), ("-1 >> 1", 2**63 - 1),
    ("i >> 64", 0), ("BIT_COUNT(5)", 2), ("BIT_COUNT(-2)", 63), ("BIT_COUNT(-1)", 64),
]  # fmt: skip
TEXTS: list[tuple[str, object]] = [
    ("'a' || 'b' || s", "abHello"), ("CONCAT('Summer', ' ', '1923')", "Summer 1923"), ("CONCAT(s, NULL)", None),
    ("CONCAT(b'a', y)", b"a\x00\xff"), ("LOWER('FOO BAR')", "foo bar"), ("UPPER(s)", "HELLO"), ("LENGTH('щит')", 3),
    ("BYTE_LENGTH('щит')", 6), ("LENGTH(y)", 2), ("CHAR_LENGTH(s)", 5), ("STARTS_WITH('foobar', 'foo')", True),
    ("ENDS_WITH('apple', 'le')", True), ("STRPOS('foo@example.com', '@')", 4), ("STRPOS('foobar', 'x')", 0),
    ("SUBSTR('apple', 2)", "pple"), ("SUBSTR('apple', 2, 2)", "pp"), ("SUBSTR('apple', -2)", "le"),
    ("SUBSTR('apple', 123)", ""), ("SUBSTR('apple', -123)", "apple"), ("SUBSTR('apple', 0)", "apple"),
    ("SUBSTR('apple', -123, 2)", "ap"), ("TRIM('   apple   ')", "apple"), ("TRIM('***apple***', '*')", "apple"),
    ("LTRIM('xxxapplexxx', 'xyz')", "applexxx"), ("RTRIM('applexxz', 'xyz')", "apple"),
    ("REPLACE('apple pie', 'pie', 'cobbler')", "apple cobbler"), ("REPLACE('abc', '', 'x')", "abc"),
    ("LPAD('abc', 5)", "  abc"), ("LPAD('abc', 2)", "ab"), ("LPAD('abc', 8, 'def')", "defdeabc"),
    ("RPAD('abc', 5, '-')", "abc--"), ("REPEAT('abc', 3)", "abcabcabc"), ("REVERSE('foo')", "oof"),
    ("SPLIT('b,a', ',')", ["b", "a"]), ("SPLIT('b a', ' ')", ["b", "a"]),
    ("TO_HEX(b'\\x00\\xAA\\xEE\\xFF')", "00aaeeff"), ("FROM_HEX('0AF')", b"\x00\xaf"),
    ("TO_BASE64(b'\\xde\\xad\\xbe\\xef')", "3q2+7w=="), ("FROM_BASE64('3q2+7w==')", b"\xde\xad\xbe\xef"),
    ("ARRAY_TO_STRING(['coffee', 'tea', NULL], '--')", "coffee--tea"),
    ("ARRAY_TO_STRING(['cake', NULL], '--', 'MISSING')", "cake--MISSING"),
    ("FORMAT('%05d|%s|%t|%%', i, s, f)", "00007|Hello|1.5|%"),
    ("REGEXP_CONTAINS('foo@example.com', r'@[a-zA-Z0-9-]+\\.[a-zA-Z0-9-.]+')", True),
    ("REGEXP_CONTAINS('b', r'^a')", False), ("REGEXP_EXTRACT('foo@example.com', r'^[a-z]+')", "foo"),
    ("REGEXP_EXTRACT('foo@example.com', r'@([a-z]+)')", "example"), ("REGEXP_EXTRACT('x', 'y')", None),
    ("REGEXP_REPLACE('# Heading', r'^# ([a-zA-Z0-9\\s]+$)', '<h1>\\\\1</h1>')", "<h1>Heading</h1>"),
    ("s LIKE 'H%'", True), ("s LIKE 'h%'", False), ("s LIKE '_e_l_'", True), ("s NOT LIKE '%z%'", True),
    ("'50%' LIKE '50\\\\%'", True), ("'a\\nb' LIKE 'a%b'", True), ("'' LIKE ''", True), ("s LIKE NULL", None),
    ("y LIKE b'%\\xff'", True), ("'a.b' LIKE 'a_b'", True), ("'axb' LIKE 'a.b'", False),
    ("FARM_FINGERPRINT(CONCAT(CAST(1 AS STRING), 'foo', CAST(TRUE AS STRING)))", -1541654101129638711),
    ("FARM_FINGERPRINT(b'2applefalse')", 2794438866806483259), ("BIT_REVERSE(100, TRUE)", 1369094286720630784),
    ("BIT_REVERSE(i - 107, FALSE)", 4179340454199820287),
    ("SHA256('Hello World')", hashlib.sha256(b"Hello World").digest()),
    ("TO_HEX(MD5(s))", hashlib.md5(b"Hello").hexdigest()), ("SHA1(y)", hashlib.sha1(b"\x00\xff").digest()),
    ("SHA512('')", hashlib.sha512().digest()),
]  # fmt: skip
CONDITIONS: list[tuple[str, object]] = [
    ("TRUE AND unknown", None), ("FALSE AND unknown", False), ("TRUE OR unknown", True), ("FALSE OR unknown", None),
    ("NOT unknown", None), ("unknown IS NULL", True), ("b IS NOT NULL", True), ("unknown IS TRUE", False),
    ("unknown IS NOT TRUE", True), ("b IS FALSE", False), ("unknown IS FALSE", False), ("i = 7", True),
    ("i != 7", False), ("i <> NULL", None), ("i < 7.5", True), ("d = 2.5", True), ("b > FALSE", True),
    ("s < 'a'", True), ("'Z' < 'a'", True), ("y = b'\\x00\\xff'", True), ("day >= '2026-01-31'", True),
    ("day < DATE '2026-02-01'", True), ("at > '2026-01-01'", True), ("at = TIMESTAMP '2026-01-02T03:04:05.25Z'", True),
    ("id = '0E984725-C51C-4BF4-9960-E1C80E27ABA0'", True), ("f = CAST('nan' AS FLOAT64)", False),
    ("CAST('nan' AS FLOAT64) != CAST('nan' AS FLOAT64)", True),
    ("CAST('-inf' AS FLOAT64) > CAST('nan' AS FLOAT64)", False), ("0.0 = -0.0", True), ("r = 0.5", True),
    ("i BETWEEN 1 AND 7", True), ("i NOT BETWEEN 1 AND 7", False), ("i BETWEEN 8 AND NULL", False),
    ("i BETWEEN 1 AND NULL", None), ("i IN (1, 7)", True), ("i IN (1, NULL)", None), ("i IN (7, NULL)", True),
    ("i NOT IN (1, 2)", True), ("i NOT IN (1, NULL)", None), ("nothing IN (1)", None), ("i IN (n, 7)", True),
    ("i IN (n, nothing)", None), ("s IN ('Hello', 'x')", True), ("i IN (7.0)", True),
    ("CAST('nan' AS FLOAT64) IN (CAST('nan' AS FLOAT64))", False), ("i IN UNNEST([1, 7])", True),
    ("i IN UNNEST(GENERATE_ARRAY(0, 5))", False), ("i IN UNNEST(CAST(NULL AS ARRAY<INT64>))", False),
    ("nothing IN UNNEST(ARRAY<INT64>[])", False), ("'x' IN UNNEST(tags)", True), ("'z' IN UNNEST(tags)", None),
    ("(i, s) = (7, 'Hello')", True), ("(i, s) IN ((1, 'a'), (7, 'Hello'))", True), ("(i, nothing) = (8, 1)", False),
    ("i IS DISTINCT FROM NULL", True), ("nothing IS NOT DISTINCT FROM NULL", True), ("i IS DISTINCT FROM 7", False),
    ("CAST('nan' AS FLOAT64) IS DISTINCT FROM CAST('nan' AS FLOAT64)", False), ("IF(n = 0, 0, i / n)", 0.0),
    ("IF(unknown, 1, 2)", 2), ("CASE WHEN n = 0 THEN 'zero' WHEN i / n > 1 THEN 'big' ELSE 'small' END", "zero"),
    ("CASE i WHEN 1 THEN 'one' WHEN 7 THEN s END", "Hello"), ("CASE i WHEN 1 THEN 'one' END", None),
    ("n != 0 AND i / n > 1", False), ("n = 0 OR i / n > 1", True), ("COALESCE(nothing, n, i / n)", 0.0),
    ("COALESCE(NULL, 'B', 'C')", "B"), ("IFNULL(nothing, 0)", 0), ("IFNULL(10, 0)", 10), ("NULLIF(0, 0)", None),
    ("NULLIF(10, 0)", 10),
]  # fmt: skip
TIMES: list[tuple[str, object]] = [
    ("DATE '2026-1-2'", date(2026, 1, 2)), ("DATE(2016, 12, 25)", date(2016, 12, 25)), ("DATE(at)", date(2026, 1, 1)),
    ("DATE(at, 'UTC')", date(2026, 1, 2)),
    ("DATE(TIMESTAMP '2016-12-25 05:30:00+07', 'America/Los_Angeles')", date(2016, 12, 24)),
    ("TIMESTAMP(day, 'UTC')", moment("2026-01-31T00:00:00Z")),
    ("TIMESTAMP('2008-12-25 15:30:00+00')", moment("2008-12-25T15:30:00Z")),
    ("TIMESTAMP('2008-12-25 15:30:00', 'UTC')", moment("2008-12-25T15:30:00Z")),
    ("TIMESTAMP(DATE '2008-12-25')", moment("2008-12-25T08:00:00Z")),
    ("DATE_ADD(DATE '2008-12-25', INTERVAL 5 DAY)", date(2008, 12, 30)),
    ("DATE_ADD(day, INTERVAL 1 MONTH)", date(2026, 2, 28)), ("DATE_SUB(day, INTERVAL 1 QUARTER)", date(2025, 10, 31)),
    ("DATE_SUB(DATE '2008-12-25', INTERVAL 5 DAY)", date(2008, 12, 20)),
    ("DATE_ADD(DATE '2024-02-29', INTERVAL -1 YEAR)", date(2023, 2, 28)),
    ("DATE_ADD(day, INTERVAL i WEEK)", date(2026, 3, 21)),
    ("DATE_DIFF(DATE '2010-07-07', DATE '2008-12-25', DAY)", 559),
    ("DATE_DIFF(DATE '2017-10-15', DATE '2017-10-14', WEEK)", 1),
    ("DATE_DIFF(DATE '2017-12-18', DATE '2017-12-17', WEEK)", 0),
    ("DATE_DIFF(DATE '2017-12-18', DATE '2017-12-17', WEEK(MONDAY))", 1),
    ("DATE_DIFF(DATE '2017-12-18', DATE '2017-12-17', ISOWEEK)", 1),
    ("DATE_DIFF(DATE '2017-12-30', DATE '2014-12-30', YEAR)", 3),
    ("DATE_DIFF(DATE '2017-12-30', DATE '2014-12-30', ISOYEAR)", 2),
    ("DATE_DIFF(DATE '2018-01-01', DATE '2017-12-31', QUARTER)", 1),
    ("DATE_TRUNC(DATE '2008-12-25', MONTH)", date(2008, 12, 1)),
    ("DATE_TRUNC(DATE '2017-11-05', WEEK(MONDAY))", date(2017, 10, 30)),
    ("DATE_TRUNC(DATE '2015-06-15', ISOYEAR)", date(2014, 12, 29)), ("DATE_TRUNC(day, QUARTER)", date(2026, 1, 1)),
    ("DATE_TRUNC(DATE '2017-11-07', WEEK)", date(2017, 11, 5)),
    ("TIMESTAMP_ADD(TIMESTAMP '2008-12-25 15:30:00+00', INTERVAL 10 MINUTE)", moment("2008-12-25T15:40:00Z")),
    ("TIMESTAMP_SUB(at, INTERVAL 1 DAY)", moment("2026-01-01T03:04:05.250Z")),
    ("at + INTERVAL 2 HOUR", moment("2026-01-02T05:04:05.250Z")),
    ("INTERVAL 1 DAY + at", moment("2026-01-03T03:04:05.250Z")),
    ("TIMESTAMP_ADD(at, INTERVAL i - 7 SECOND)", ROW["at"]),
    ("TIMESTAMP_DIFF(TIMESTAMP '2010-07-07 10:20:00+00', TIMESTAMP '2008-12-25 15:30:00+00', HOUR)", 13410),
    ("TIMESTAMP_DIFF(TIMESTAMP '2018-08-14', TIMESTAMP '2018-10-14', DAY)", -61),
    ("TIMESTAMP_DIFF('2001-02-01 01:00:00', '2001-02-01 00:00:01', HOUR)", 0),
    ("TIMESTAMP_DIFF(at, TIMESTAMP_SECONDS(0), MILLISECOND)", 1767323045250),
    ("TIMESTAMP_TRUNC(TIMESTAMP '2008-12-25 15:30:00+00', DAY, 'UTC')", moment("2008-12-25T00:00:00Z")),
    ("TIMESTAMP_TRUNC(TIMESTAMP '2008-12-25 15:30:00+00', DAY, 'America/Los_Angeles')", moment("2008-12-25T08:00:00Z")),
    ("TIMESTAMP_TRUNC(TIMESTAMP '2017-11-06 00:00:00+12', WEEK(MONDAY), 'UTC')", moment("2017-10-30T00:00:00Z")),
    ("TIMESTAMP_TRUNC(TIMESTAMP '2015-06-15 00:00:00+00', ISOYEAR, 'UTC')", moment("2014-12-29T00:00:00Z")),
    ("TIMESTAMP_TRUNC(at, SECOND)", moment("2026-01-02T03:04:05Z")),
    ("TIMESTAMP_TRUNC(at, HOUR, '+05:30')", moment("2026-01-02T02:30:00Z")),
    ("EXTRACT(DAY FROM DATE '2013-12-25')", 25), ("EXTRACT(HOUR FROM at AT TIME ZONE 'UTC')", 3),
    ("EXTRACT(HOUR FROM at)", 19), ("EXTRACT(DATE FROM at AT TIME ZONE 'UTC')", date(2026, 1, 2)),
    ("EXTRACT(MILLISECOND FROM at)", 250), ("EXTRACT(DAYOFWEEK FROM DATE '2026-11-29')", 1),
    ("EXTRACT(DAYOFYEAR FROM DATE '2026-02-01')", 32), ("EXTRACT(QUARTER FROM day)", 1),
    ("EXTRACT(WEEK(SUNDAY) FROM DATE '2017-11-05')", 45), ("EXTRACT(WEEK(MONDAY) FROM DATE '2017-11-05')", 44),
    ("UNIX_SECONDS(TIMESTAMP '2008-12-25 15:30:00+00')", 1230219000),
    ("UNIX_SECONDS(TIMESTAMP '1969-12-31 23:59:59.999+00')", -1),
    ("UNIX_MILLIS(TIMESTAMP '2008-12-25 15:30:00+00')", 1230219000000), ("UNIX_MICROS(at)", 1767323045250000),
    ("TIMESTAMP_SECONDS(1230219000)", moment("2008-12-25T15:30:00Z")),
    ("TIMESTAMP_MILLIS(1230219000000)", moment("2008-12-25T15:30:00Z")),
    ("TIMESTAMP_MICROS(-1)", moment("1969-12-31T23:59:59.999999Z")), ("UNIX_DATE(DATE '2008-12-25')", 14238),
    ("DATE_FROM_UNIX_DATE(14238)", date(2008, 12, 25)),
    ("STRING(TIMESTAMP '2008-12-25 15:30:00+00', 'UTC')", "2008-12-25 15:30:00+00"),
    ("FORMAT_DATE('%x', DATE '2008-12-25')", "12/25/08"), ("FORMAT_DATE('%Q', day)", EvaluationError),
    ("FORMAT_DATE('%b %Y', DATE '2008-12-25')", "Dec 2008"),
    ("FORMAT_TIMESTAMP('%F %T %% %j', at, 'UTC')", "2026-01-02 03:04:05 % 002"),
]  # fmt: skip
CASTS: list[tuple[str, object]] = [
    ("CAST('0x123' AS INT64)", 291), ("CAST('-0x123' AS INT64)", -291), ("CAST(1.5 AS INT64)", 2),
    ("CAST(-0.5 AS INT64)", -1), ("CAST(d AS INT64)", 3), ("CAST(TRUE AS INT64)", 1), ("CAST(i AS BOOL)", True),
    ("CAST('TRUE' AS BOOL)", True), ("CAST(b AS STRING)", "true"), ("CAST(f AS STRING)", "1.5"),
    ("CAST(123.0 AS STRING)", "123"), ("CAST(d AS STRING)", "2.5"), ("CAST(day AS STRING)", "2026-01-31"),
    ("CAST(at AS STRING)", "2026-01-01 19:04:05.250-08"), ("CAST(y AS STRING)", EvaluationError),
    ("CAST('é' AS BYTES)", b"\xc3\xa9"), ("CAST(b'abc' AS STRING)", "abc"),
    ("CAST('2026-01-02' AS DATE)", date(2026, 1, 2)),
    ("CAST('2026-01-02 03:04:05+00' AS TIMESTAMP)", moment("2026-01-02T03:04:05Z")),
    ("CAST(day AS TIMESTAMP)", moment("2026-01-31T08:00:00Z")), ("CAST(at AS DATE)", date(2026, 1, 1)),
    ("CAST('1.5' AS FLOAT64)", 1.5), ("CAST('12.3456789015' AS NUMERIC)", Decimal("12.345678902")),
    ("CAST(0.1 AS NUMERIC)", Decimal("0.1")), ("CAST(f AS NUMERIC)", Decimal("1.5")), ("CAST(d AS FLOAT64)", 2.5),
    ("CAST(id AS STRING)", ROW["id"]), ("CAST(CAST(id AS BYTES) AS UUID)", ROW["id"]), ("CAST(NULL AS STRING)", None),
    ("SAFE_CAST('apple' AS INT64)", None), ("SAFE_CAST('7' AS INT64)", 7), ("SAFE_CAST(y AS STRING)", None),
    ("CAST([1, NULL] AS ARRAY<STRING>)", ["1", None]), ("CAST('inf' AS FLOAT64)", math.inf),
    ("CAST(s AS STRING)", "Hello"), ("CAST(s AS STRING(3))", EvaluationError), ("CAST(s AS STRING(5))", "Hello"),
]  # fmt: skip
COLLECTIONS: list[tuple[str, object]] = [
    ("[1, 2, i]", [1, 2, 7]), ("ARRAY<INT64>[]", []), ("[1, NULL]", [1, None]), ("[1, 2.5]", [1.0, 2.5]),
    ("ARRAY_LENGTH(tags)", 2), ("ARRAY_LENGTH([])", 0), ("ARRAY_CONCAT([1], [2, 3])", [1, 2, 3]),
    ("tags || ['y']", ["x", None, "y"]), ("ARRAY_REVERSE([1, 2, 3])", [3, 2, 1]),
    ("GENERATE_ARRAY(1, 5)", [1, 2, 3, 4, 5]), ("GENERATE_ARRAY(0, 10, 3)", [0, 3, 6, 9]),
    ("GENERATE_ARRAY(10, 0, -3)", [10, 7, 4, 1]), ("GENERATE_ARRAY(5, 1)", []), ("GENERATE_ARRAY(1, NULL)", None),
    ("[10, 20][OFFSET(0)]", 10), ("[10, 20][ORDINAL(2)]", 20), ("[10, 20][SAFE_OFFSET(5)]", None),
    ("tags[OFFSET(0)]", "x"), ("tags[OFFSET(1)]", None), ("ARRAY_INCLUDES([1, 2], i - 5)", True),
    ("STRUCT(1 AS x, s AS y).y", "Hello"), ("STRUCT(1, s)", (1, "Hello")), ("JSON_VALUE(doc, '$.a.b[1]')", "x"),
    ("JSON_VALUE(doc, '$.a.b[0]')", "1"), ("JSON_VALUE(doc, '$.a')", None), ("JSON_QUERY(doc, '$.a.b')", '[1,"x"]'),
    ("JSON_VALUE(doc, '$.missing')", None), ("TO_JSON_STRING(doc)", ROW["doc"]),
    ("""PARSE_JSON(' { "b" : 1 } ')""", '{"b":1}'), ("""JSON '{"a": 1}'""", '{"a":1}'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [*ARITHMETIC, *TEXTS, *CONDITIONS, *TIMES, *CASTS, *COLLECTIONS])
def test_values_of_the_reference(text: str, wanted: object) -> None:
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            compute(text)
        return
    computed = compute(text)
    assert computed == wanted
    assert type(computed) is type(wanted)


@pytest.mark.parametrize(
    ("day", "isoyear", "isoweek", "year", "week"),  # the table beside EXTRACT in Spanner's reference
    [
        ("2015-12-23", 2015, 52, 2015, 51), ("2015-12-26", 2015, 52, 2015, 51), ("2015-12-27", 2015, 52, 2015, 52),
        ("2015-12-28", 2015, 53, 2015, 52), ("2015-12-31", 2015, 53, 2015, 52), ("2016-01-01", 2015, 53, 2016, 0),
        ("2016-01-03", 2015, 53, 2016, 1), ("2016-01-04", 2016, 1, 2016, 1),
    ],
)  # fmt: skip
def test_weeks_at_the_turn_of_a_year(day: str, isoyear: int, isoweek: int, year: int, week: int) -> None:
    for part, wanted in (("ISOYEAR", isoyear), ("ISOWEEK", isoweek), ("YEAR", year), ("WEEK", week)):
        assert compute(f"EXTRACT({part} FROM DATE '{day}')") == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9223372036854775807 + i", r"INT64 overflow: 9223372036854775807 \+ 7, in"),
        ("i - 9223372036854775807 - 9223372036854775807", "INT64 overflow"),
        ("i * 9223372036854775807", "INT64 overflow"),
        ("ABS(n - 9223372036854775807 - 1)", r"INT64 overflow: ABS\(-9223372036854775808\)"),
        ("i / n", "division by zero: 7.0 / 0.0"), ("f / 0.0", "division by zero"), ("MOD(i, n)", "division by zero"),
        ("DIV(i, n)", "division by zero"), ("d / n", "division by zero"), ("1e308 * i", "FLOAT64 overflow"),
        ("-(n - 9223372036854775807 - 1)", "overflow"), ("DIV(n - 9223372036854775807 - 1, -1)", "overflow"),
        ("CAST(s AS INT64)", "'Hello' is no INT64"), ("CAST(s AS DATE)", "no DATE"),
        ("CAST(1e19 AS INT64)", "overflow"), ("CAST('nan' AS INT64)", "no INT64"),
        ("CAST(CAST('nan' AS FLOAT64) AS INT64)", "cannot become INT64"),
        ("NUMERIC '99999999999999999999999999999' * i", "NUMERIC overflow"), ("SQRT(-f)", "not defined"),
        ("LN(n)", "not defined"), ("SUBSTR(s, 1, -1)", "negative length"), ("REPEAT(s, 1000000)", "2,621,440"),
        ("LPAD(s, -1)", "LPAD"), ("i << -1", "shift"), ("REGEXP_CONTAINS(s, '(')", "cannot be read"),
        ("REGEXP_CONTAINS(s, '(?=x)')", "RE2"), ("s LIKE 'x\\\\'", "ends with a backslash"),
        ("[1][OFFSET(i)]", "out of bounds"), ("GENERATE_ARRAY(0, 10, n)", "step"),
        ("GENERATE_ARRAY(0, 9223372036854775807)", "elements"),
        ("DATE_ADD(day, INTERVAL 9000 YEAR)", "years 1 to 9999"),
        ("TIMESTAMP_SECONDS(9223372036854775807)", "years 1 to 9999"), ("DATE(2026, 2, 30)", "no day"),
        ("DATE(at, 'Nowhere')", "no time zone"), ("DATE '2026-02-30'", "no DATE"), ("PARSE_JSON(s)", "no JSON"),
        ("FROM_HEX(s)", "hexadecimal"),
    ],
)  # fmt: skip
def test_errors_that_depend_on_values_say_out_of_range(text: str, said: str) -> None:
    tree = parse_expression(text)
    infer_type(tree, TYPES)  # found only when it is computed
    with pytest.raises(EvaluationError, match=said) as caught:
        evaluate_row(tree, ROW, TYPES)
    assert caught.value.code == "OUT_OF_RANGE"
    assert str(caught.value) == f"OUT_OF_RANGE: {caught.value.message}"
    columns = {name: Vector.of(type_, [None, ROW[name]]) for name, type_ in TYPES.items()}
    with pytest.raises(EvaluationError, match=said):
        evaluate(tree, columns, 2)


def test_an_error_names_its_row_and_the_values_in_it() -> None:
    columns = {"Total": Vector.of(TYPES["i"], [4, 5, 6]), "Parts": Vector.of(TYPES["i"], [2, None, 0])}
    with pytest.raises(EvaluationError, match=r"in Total / Parts \(row 3: Total = 6, Parts = 0\)"):
        evaluate(parse_expression("Total / Parts"), columns, 3)
    with pytest.raises(EvaluationError, match=r"row 3: Total = 6, Parts = 0"):  # also behind rows that are left out
        evaluate(parse_expression("IF(Total > 5, Total / Parts, 0)"), columns, 3)
    with pytest.raises(EvaluationError, match=r"in Total / Parts \(Total = 1, Parts = 0\)"):
        evaluate_row(
            parse_expression("Total / Parts"), {"Total": 1, "Parts": 0}, {"Total": TYPES["i"], "Parts": TYPES["i"]}
        )


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("Amont + 1", QueryError, "Unrecognized name: Amont. Did you mean Amount"),
        ("STARTS_WTH('a', 'b')", QueryError, "Did you mean STARTS_WITH"),
        ("GEN_RANDOM_UUID()", QueryError, "GEN_RANDOM_UUID. Spanner's is GENERATE_UUID"),
        ("UUID()", QueryError, "not found: UUID"), ("NVL(Name, 'x')", QueryError, "Spanner's is COALESCE"),
        ("LEN(Name)", QueryError, "Spanner's is LENGTH"), ("DATEDIFF(Amount, Amount)", QueryError, "DATE_DIFF"),
        ("SOUNDEX('a')", UnsupportedError, "SOUNDEX lies outside"),
        ("TOKENIZE_FULLTEXT(Name)", UnsupportedError, "TOKENIZE_FULLTEXT"),
        ("Amount = '5'", QueryError, "INT64 and STRING"), ("Name + 1", QueryError, "No matching signature for +"),
        ("COUNT(*)", QueryError, "aggregate"), ("(SELECT 1)", QueryError, "subquery"),
        ("EXISTS (SELECT 1)", QueryError, "subquery"), ("Amount IN (SELECT 1)", QueryError, "subquery"),
        ("CAST(Amount AS DATE)", QueryError, "Invalid cast from INT64 to DATE"),
        ("Amount AND TRUE", QueryError, "needs a BOOL"), ("NOT Name", QueryError, "needs a BOOL"),
        ("IF(Amount, 1, 2)", QueryError, "needs a BOOL"),
        ("CASE WHEN TRUE THEN 1 ELSE 'x' END", QueryError, "one type"),
        ("9223372036854775808", QueryError, "does not fit INT64"),
        ("LENGTH(Amount)", QueryError, r"LENGTH\(STRING\) or LENGTH\(BYTES\)"), ("Amount.x", QueryError, "no field x"),
        ("DATE_ADD(CURRENT_DATE(), INTERVAL 1 HOUR)", QueryError, "HOUR cannot stand here"),
        ("TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 1 MONTH)", QueryError, "MONTH cannot stand here"),
        ("[1] = [1]", QueryError, "ARRAY"), ("[[1]]", QueryError, "ARRAY of ARRAYs"),
        ("Amount IN UNNEST(Amount)", QueryError, "needs an ARRAY"), ("Name IN UNNEST([1])", QueryError, "one type"),
        ("DATE(Name)", QueryError, "No matching signature"), ("GREATEST([1], [2])", QueryError, "not defined"),
        ("JSON '1' = JSON '1'", QueryError, "JSON"), ("Name LIKE 5", QueryError, "LIKE"),
        ("CURRENT_DATE() > 'today'", QueryError, "cannot be read as DATE"),
        ("GENERATE_UUID() = 5", QueryError, "STRING and INT64"), ("LAG(Amount) OVER ()", UnsupportedError, "outside"),
        ("CURRENT_DATE() + INTERVAL 1 DAY", QueryError, "needs a TIMESTAMP"), ("[1][0]", QueryError, "OFFSET"),
        ("PARSE_JSON('[1]')[0]", UnsupportedError, "JSON_QUERY"), ("DATE(CURRENT_TIMESTAMP(), 5)", QueryError, "DATE"),
        ("EXTRACT(DAY FROM CURRENT_TIMESTAMP() AT TIME ZONE 5)", QueryError, "STRING is needed"),
    ],
)  # fmt: skip
def test_errors_that_do_not_depend_on_values(text: str, error: type[Exception], said: str) -> None:
    types = {"Amount": Type("INT64"), "Name": Type("STRING")}
    with pytest.raises(error, match=said):
        infer_type(parse_expression(text), types)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("s", "STRING(36)"), ("UPPER(s)", "STRING(MAX)"), ("i + 1", "INT64"), ("i + 1.0", "FLOAT64"),
        ("i + d", "NUMERIC"), ("d + f", "FLOAT64"), ("d + 1.5", "NUMERIC"), ("i / 2", "FLOAT64"), ("d / 2", "NUMERIC"),
        ("r + r", "FLOAT64"), ("i = 1", "BOOL"), ("NULL", "INT64"), ("IF(b, 1, 2.5)", "FLOAT64"),
        ("COALESCE(s, 'x')", "STRING(MAX)"), ("IF(b, day, '2026-01-01')", "DATE"), ("[s, 'x']", "ARRAY<STRING(MAX)>"),
        ("GENERATE_ARRAY(0, 15)", "ARRAY<INT64>"), ("STRUCT(1 AS x, s)", "STRUCT<x INT64, STRING(36)>"),
        ("NEW_UUID()", "UUID"), ("GENERATE_UUID()", "STRING(MAX)"), ("PENDING_COMMIT_TIMESTAMP()", "TIMESTAMP"),
        ("CURRENT_DATE()", "DATE"), ("@p", "INT64"), ("s = @p", "BOOL"),
        ("GET_NEXT_SEQUENCE_VALUE(SEQUENCE Ids)", "INT64"), ("SHA256(s)", "BYTES(MAX)"),
        ("SAFE_DIVIDE(i, 2)", "FLOAT64"), ("ROUND(i)", "FLOAT64"), ("CAST(i AS STRING(3))", "STRING(3)"),
        ("MOD(FARM_FINGERPRINT(s), 16)", "INT64"),
    ],
)  # fmt: skip
def test_types(text: str, wanted: str) -> None:
    assert str(infer_type(parse_expression(text), TYPES)) == wanted


def test_parameters_coerce_as_literals_do() -> None:
    columns = {"At": Vector.of(TYPES["at"], [ROW["at"]]), "Id": Vector.of(TYPES["i"], [7])}
    params = {"since": "2026-01-01", "ids": [1, 7, None], "factor": 2.5, "none": None}
    for text, wanted in [
        ("At > @since", True),
        ("Id IN UNNEST(@ids)", True),
        ("Id * @Factor", 17.5),
        ("Id = @none", None),
        ("Id IN (@factor, 7)", True),
    ]:
        assert evaluate(parse_expression(text), columns, 1, params=params).to_list() == [wanted]
    with pytest.raises(QueryError, match=r"@sinse\. Did you mean since"):
        evaluate(parse_expression("At > @sinse"), columns, 1, params=params)
    for value, said in [(object(), "Python object"), (2**63, "does not fit INT64"), (["a", 1], "@x: 'a'")]:
        with pytest.raises(QueryError, match=said):
            evaluate(parse_expression("@x IS NULL"), columns, 1, params={"x": value})
    for value, wanted in [
        (np.int64(7), 7),
        ((1, 2.5), [1.0, 2.5]),
        (datetime(2026, 1, 2, tzinfo=UTC), moment("2026-01-02T00:00:00Z")),
    ]:
        assert evaluate(parse_expression("@x"), {}, 1, params={"x": value}).to_list() == [wanted]


def test_names_are_found_qualified_or_not_and_in_any_case() -> None:
    struct = Type("STRUCT", fields=(("Street", Type("STRING")),))
    columns = {
        "o.Id": Vector.of(TYPES["i"], [1]),
        "o.Total": Vector.of(TYPES["i"], [5]),
        "p.Id": Vector.of(TYPES["i"], [2]),
        "Home": Vector.of(struct, [("Main",)]),
    }
    for text, wanted in [
        ("o.id + P.Id", 3),
        ("Total", 5),
        ("HOME.street", "Main"),
        ("`o`.`Total`", 5),
        ("x.Home.Street", "Main"),
    ]:
        if text.startswith("x."):
            with pytest.raises(QueryError, match="Unrecognized name"):
                evaluate(parse_expression(text), columns, 1)
            continue
        assert evaluate(parse_expression(text), columns, 1).to_list() == [wanted]
    with pytest.raises(QueryError, match=r"Column name Id is ambiguous: it may be o\.Id or p\.Id"):
        evaluate(parse_expression("Id"), columns, 1)


def test_an_error_shows_values_shortly() -> None:
    types = {"s": TYPES["s"], "at": TYPES["at"], "b": TYPES["b"], "n": TYPES["n"]}
    row = {"s": "x" * 10_000, "at": ROW["at"], "b": True, "n": None}
    with pytest.raises(EvaluationError) as caught:
        evaluate_row(
            parse_expression(
                "CAST(CONCAT(s, CAST(at AS STRING), CAST(b AS STRING), IFNULL(CAST(n AS STRING), 'y')) AS INT64)"
            ),
            row,
            types,
        )
    assert "at = 2026-01-02 03:04:05.250000+00:00, b = TRUE, n = NULL" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_columns_in_are_named_once_in_order() -> None:
    tree = parse_expression("IF(o.B > 1, a, `Odd name`) + a + o.B")
    assert columns_in(tree) == ("o.B", "a", "Odd name")
    assert columns_in(parse_expression("1 + 1")) == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CURRENT_TIMESTAMP()", True), ("1 + 1", False), ("MOD(FARM_FINGERPRINT(GENERATE_UUID()), 4)", True),
        ("NEW_UUID()", True), ("CURRENT_DATE()", True), ("GET_NEXT_SEQUENCE_VALUE(SEQUENCE s)", True),
        ("LOWER(s)", False), ("PENDING_COMMIT_TIMESTAMP()", True), ("CAST(at AS STRING)", False),
    ],
)  # fmt: skip
def test_what_is_volatile(text: str, wanted: bool) -> None:
    assert is_volatile(parse_expression(text)) is wanted


def test_now_is_one_moment_for_all_rows() -> None:
    now = datetime(2026, 3, 1, 2, tzinfo=UTC)
    for text, wanted in [
        ("CURRENT_TIMESTAMP()", now),
        ("PENDING_COMMIT_TIMESTAMP()", now),
        ("CURRENT_DATE()", date(2026, 2, 28)),
        ("CURRENT_DATE('UTC')", date(2026, 3, 1)),
    ]:
        assert evaluate(parse_expression(text), {}, 2, now=now).to_list() == [wanted, wanted]
        assert evaluate_row(parse_expression(text), {}, {}, now=now) == wanted


def test_uuids_differ_by_row_and_are_reproducible() -> None:
    tree = parse_expression("GENERATE_UUID()")
    first = evaluate(tree, {}, 100, random=random.Random(1)).to_list()
    assert first == evaluate(tree, {}, 100, random=random.Random(1)).to_list()
    assert len(set(first)) == 100
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one) for one in first
    )


def test_sequences_are_drawn_from_for_every_row() -> None:
    drawn: list[str] = []

    def next_value(name: str) -> int:
        drawn.append(name)
        return len(drawn)

    tree = parse_expression("GET_NEXT_SEQUENCE_VALUE(SEQUENCE Ids)")
    assert evaluate(tree, {}, 3, next_value=next_value).to_list() == [1, 2, 3]
    assert drawn == ["Ids"] * 3
    with pytest.raises(QueryError, match="read-write transaction"):
        evaluate(tree, {}, 1)


def test_a_changed_tree_is_bound_anew() -> None:
    tree = parse_expression("i + 1")
    assert evaluate_row(tree, ROW, TYPES) == 8
    tree.expression.replace(parse_expression("2"))
    assert evaluate_row(tree, ROW, TYPES) == 9
    assert evaluate_row(tree, {"i": 1.5}, {"i": TYPES["f"]}) == 3.5


def test_what_is_kept_of_an_expression_depends_on_types_parameters_and_names() -> None:
    tree = parse_expression("Id + @p")
    one, half = {"Id": Vector.of(TYPES["i"], [1])}, {"Id": Vector.of(TYPES["f"], [0.5])}
    for columns, p, wanted in [(one, 1, 2), (one, 1.0, 2.0), (half, 1, 1.5), (one, None, None), (one, 1, 2)]:
        computed = evaluate(tree, columns, 1, params={"p": p}).to_list()
        assert repr(computed) == repr([wanted])
    with pytest.raises(QueryError, match="@p"):
        evaluate(tree, one, 1)
    assert str(infer_type(tree, {"Id": TYPES["i"]})) == "INT64"
    bare = parse_expression("Id = 1")
    two = {"o.Id": Vector.of(TYPES["i"], [1])}
    assert evaluate(bare, two, 1).to_list() == [True]
    with pytest.raises(QueryError, match="ambiguous"):
        evaluate(bare, {**two, "p.Id": Vector.of(TYPES["i"], [2])}, 1)
    listed = parse_expression("1 IN UNNEST(@ids)")
    ids: list[object] = [1, 2]
    assert evaluate(listed, {}, 1, params={"ids": ids}).to_list() == [True]
    ids[0] = 5
    assert evaluate(listed, {}, 1, params={"ids": ids}).to_list() == [False]


def test_a_long_chain_of_conditions_is_no_deep_tree() -> None:
    tree = parse_expression(" OR ".join(f"i = {n}" for n in range(2000)))
    assert evaluate_row(tree, ROW, TYPES) is True
    assert evaluate(tree, {"i": Vector.of(TYPES["i"], [7, 3000, None])}, 3).to_list() == [True, False, None]


def test_a_vector_of_no_rows() -> None:
    columns = {name: Vector.of(type_, []) for name, type_ in TYPES.items()}
    for text in (
        "i + 1",
        "MOD(FARM_FINGERPRINT(s), 16)",
        "IF(b, s, 'x')",
        "s IN ('a')",
        "COALESCE(s, 'x')",
        "GENERATE_UUID()",
        "b AND b",
    ):
        assert evaluate(parse_expression(text), columns, 0).to_list() == []


def test_vectors_keep_their_values() -> None:
    for name, type_ in TYPES.items():
        values = [ROW[name], None, ROW[name]]
        vector = Vector.of(type_, values)
        assert vector.to_list() == values
        assert vector.take(np.array([2, 1])).to_list() == [ROW[name], None]
        assert Vector.constant(type_, ROW[name], 2).to_list() == [ROW[name]] * 2
    assert Vector.of(TYPES["b"], [True, False, None]).true().tolist() == [True, False, False]
