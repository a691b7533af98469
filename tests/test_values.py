"""Types, key order, sizes and texts, against the tables of the fact sheet and Python's own numbers and dates."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import spanlab as sl
from spanlab.values import (
    Type,
    check_value,
    coerce,
    compare,
    encode_key,
    keys_encoder,
    round_numeric,
    size_in_bytes,
    text_of,
    value_from_text,
)

INT64, FLOAT64, NUMERIC, STRING, BYTES, DATE, TIMESTAMP, UUID, BOOL = (
    Type(name) for name in ("INT64", "FLOAT64", "NUMERIC", "STRING", "BYTES", "DATE", "TIMESTAMP", "UUID", "BOOL")
)
VALUES = {
    BOOL: st.booleans(),
    INT64: st.integers(-(2**63), 2**63 - 1),
    FLOAT64: st.floats(),
    NUMERIC: st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: Decimal(f"{n}E-9")),
    STRING: st.text(st.characters(exclude_categories=["Cs"])) | st.text("\0\x01a\uffff\U00010000", max_size=4),
    BYTES: st.binary() | st.binary(max_size=3).map(lambda b: b.replace(b"a", b"\0")),
    DATE: st.dates(),
    TIMESTAMP: st.datetimes(timezones=st.just(UTC)),
    UUID: st.uuids().map(str),
}


# ---- names of types


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("INT64", Type("INT64")),
        ("string(max)", Type("STRING")),
        (" BYTES ( 16 ) ", Type("BYTES", 16)),
        ("ARRAY<STRING(36)>", Type("ARRAY", element=Type("STRING", 36))),
        ("STRING", Type("STRING")),
        ("STRUCT<a INT64, b ARRAY<DATE>>", Type("STRUCT", fields=(("a", INT64), ("b", Type("ARRAY", element=DATE))))),
        ("my.pkg.Kind", Type("my.pkg.Kind")),
        ("`my.pkg.Kind`", Type("my.pkg.Kind")),
        ("UUID", UUID),
    ],
)
def test_parse_reads_what_ddl_writes(text: str, wanted: Type) -> None:
    assert Type.parse(text) == wanted
    assert Type.parse(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("VARCHAR(36)", r"STRING\(n\)"),
        ("BIGINT", "INT64"),
        ("STRNG", "STRING"),
        ("STRING(0)", "1 to 2,621,440"),
        ("STRING(2621441)", "2,621,440"),
        ("BYTES(10485761)", "10,485,760"),
        ("INT64(5)", "takes no length"),
        ("ARRAY<ARRAY<INT64>>", "ARRAY of ARRAYs"),
        ("", "no type"),
        ("DROP TABLE x", "no type"),
        ("STRING(x)", "MAX"),
    ],
)
def test_parse_says_what_to_write_instead(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Type.parse(text)


# ---- order


def test_order_of_lesson_1() -> None:
    assert sl.sort_keys("INT64", [9, 10, 2, None, -1]) == [None, -1, 2, 9, 10]
    assert sl.sort_keys("STRING(MAX)", ["9", "10", "2", None, "a", "A"]) == [None, "10", "2", "9", "A", "a"]
    assert sl.sort_keys("INT64", [9, 10, 2, None, -1], desc=True) == [10, 9, 2, -1, None]
    assert sl.sort_keys("DATE", ["2026-02-01", "2025-12-31"]) == ["2025-12-31", "2026-02-01"]


def test_order_of_lesson_1_challenge_2() -> None:
    keys = [("7", 1), ("07", 1), ("10", 9), ("10", 12), ("10", None), (None, 5)]
    ordered = sorted(keys, key=lambda key: encode_key(key, (Type("STRING", 4), INT64), (False, True)))
    assert ordered == [(None, 5), ("07", 1), ("10", 12), ("10", 9), ("10", None), ("7", 1)]


def test_order_of_floats() -> None:
    wanted = [None, math.nan, -math.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300, math.inf]
    assert repr(sl.sort_keys("FLOAT64", wanted[::-1])) == repr(wanted)
    assert compare(FLOAT64, 0.0, -0.0) == 0
    assert compare(FLOAT64, math.nan, -math.nan) == 0


@pytest.mark.parametrize(
    ("type_", "ordered"),
    [
        (BOOL, [None, False, True]),
        (STRING, [None, "", "\0", "\0\0", "\0a", "A", "a", "a\0", "aa", "é", "\uffff", "\U00010000"]),
        (BYTES, [None, b"", b"\0", b"\0\0", b"\0\xff", b"\x01", b"a", b"a\0", b"\xff", b"\xff\xff"]),
        (
            NUMERIC,
            [None, Decimal("-99999999999999999999999999999.999999999"), Decimal("-1.5"), Decimal(0), Decimal("1E-9")],
        ),
        (DATE, [None, date.min, date(1969, 12, 31), date(1970, 1, 1), date.max]),
        (
            UUID,
            [
                None,
                "00000000-0000-0000-0000-0000000000ff",
                "0a000000-0000-0000-0000-000000000000",
                str(uuid.UUID(int=2**128 - 1)),
            ],
        ),
        (
            TIMESTAMP,
            [
                None,
                datetime(1, 1, 1, tzinfo=UTC),
                datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
                datetime(1970, 1, 1, tzinfo=UTC),
            ],
        ),
    ],
)
def test_order_of_the_fact_sheet(type_: Type, ordered: list[object]) -> None:
    assert sl.sort_keys(str(type_), ordered[::-1]) == ordered
    assert sl.sort_keys(str(type_), ordered, desc=True) == ordered[::-1]
    for i, left in enumerate(ordered):
        for j, right in enumerate(ordered):
            assert compare(type_, left, right) == (i > j) - (i < j)
            assert compare(type_, left, right, desc=True) == (i < j) - (i > j)


def smaller(left: object, right: object) -> int:
    """The table of facts.md 2.1, written down as comparisons of Python values."""
    for special in (lambda value: value is not None, lambda value: value == value):  # NULL, then NaN
        if special(left) != special(right):
            return 1 if special(left) else -1
        if not special(left):
            return 0
    return (left > right) - (left < right)  # type: ignore[operator]


@st.composite
def keys(draw: st.DrawFn) -> tuple[list[Type], list[bool], list[object], list[object]]:
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    descs = [draw(st.booleans()) for _ in types]
    left = [draw(st.none() | VALUES[type_]) for type_ in types]
    right = [
        value if draw(st.booleans()) else draw(st.none() | VALUES[type_])
        for type_, value in zip(types, left, strict=True)
    ]
    return types, descs, left, right


@given(keys())
@example(([FLOAT64, STRING], [True, False], [0.0, "a"], [-0.0, "b"]))
def test_order_of_encoded_keys_is_the_order_of_keys(
    case: tuple[list[Type], list[bool], list[object], list[object]],
) -> None:
    types, descs, left, right = case
    wanted = 0
    for a, b, desc in zip(left, right, descs, strict=True):
        wanted = wanted or (-1 if desc else 1) * smaller(a, b)
    one, other = encode_key(left, types, descs), encode_key(right, types, descs)
    assert (one > other) - (one < other) == wanted


@given(keys(), st.booleans())
@example(([STRING, STRING], [False, True], ["a\x00", "b"], [None, "c"]), False)
@example(([], [], [], []), False)
def test_many_keys_are_encoded_as_each_by_itself(
    case: tuple[list[Type], list[bool], list[object], list[object]], one_alone: bool
) -> None:
    types, descs, left, right = case
    some = [left] if one_alone else [left, right, left]
    encoded = keys_encoder(tuple(types), tuple(descs))(some)
    assert encoded == [encode_key(key, types, descs) for key in some]


def test_of_many_keys_the_wrong_one_is_named() -> None:
    encode = keys_encoder((INT64, STRING), (False, False))
    assert encode([]) == []
    with pytest.raises(ValueError, match="5 is of type INT64; a column of type STRING"):
        encode([(1, "a"), (2, 5)])


@given(keys(), st.integers(0, 4))
def test_a_prefix_begins_exactly_the_keys_that_begin_with_it(
    case: tuple[list[Type], list[bool], list[object], list[object]], parts: int
) -> None:
    types, descs, left, right = case
    prefix = encode_key(left[:parts], types, descs)
    begins = all(smaller(a, b) == 0 for a, b in zip(left[:parts], right, strict=False))
    assert encode_key(right, types, descs).startswith(prefix) == begins


@pytest.mark.parametrize(
    ("type_", "value"), [(INT64, "5"), (INT64, 2**63), (STRING, 5), (STRING, "\ud800"), (DATE, "2026-01-01")]
)
def test_encode_key_refuses_values_of_another_type(type_: Type, value: object) -> None:
    with pytest.raises(ValueError, match=r"holds|Unicode"):
        encode_key((value,), (type_,))


def test_encode_key_refuses_what_has_no_order() -> None:
    for name in ("JSON", "ARRAY", "TOKENLIST"):
        with pytest.raises(ValueError, match="no order"):
            encode_key((None,), (Type(name),))
    with pytest.raises(ValueError, match="2 given for a key of 1"):
        encode_key((1, 2), (INT64,))


def test_sort_keys_says_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="'9' is of type STRING; a column of type INT64 holds a whole number"):
        sl.sort_keys("INT64", [1, "9"])


# ---- what fits


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (BOOL, True),
        (INT64, 2**63 - 1),
        (INT64, -(2**63)),
        (FLOAT64, math.nan),
        (Type("STRING", 5), "äöü€𝄞"),
        (Type("BYTES", 2), b"\0\xff"),
        (STRING, "x" * 2_621_440),
        (NUMERIC, Decimal("0.123456789")),
        (DATE, date.min),
        (NUMERIC, Decimal("99999999999999999999999999999.999999999")),
        (TIMESTAMP, datetime.max.replace(tzinfo=UTC)),
        (Type("JSON"), '{"a":[1,null]}'),
        (UUID, "0e984725-c51c-4bf4-9960-e1c80e27aba0"),
        (STRING, None),
        (Type("ARRAY", element=INT64), [1, None]),
        (NUMERIC, Decimal("1.10000000000000")),
    ],
)
def test_check_value_lets_through_what_spanner_holds(type_: Type, value: object) -> None:
    check_value(type_, value)
    assert coerce(type_, value) == value or value != value


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        (BOOL, 1, "True or False"),
        (INT64, True, "whole number"),
        (INT64, 5.0, "whole number"),
        (INT64, "5", "STRING"),
        (INT64, 2**63, "9223372036854775807"),
        (Type("STRING", 5), "hammer", r"6 characters; STRING\(5\) holds 5"),
        (STRING, "\ud800", "surrogate"),
        (STRING, b"a", "BYTES"),
        (STRING, "x" * 2_621_441, "2,621,441 characters"),
        (Type("STRING", None), "𝄞" * 2_621_440, "holds"),
        (Type("BYTES", 2), b"abc", r"3 bytes; BYTES\(2\) holds 2"),
        (NUMERIC, Decimal("1E29"), "29 digits"),
        (NUMERIC, Decimal("1E-10"), "9 digits"),
        (NUMERIC, Decimal("NaN"), "29 digits"),
        (DATE, datetime(2026, 1, 1, tzinfo=UTC), "datetime.date"),
        (TIMESTAMP, datetime(2026, 1, 1), "no time zone"),
        (TIMESTAMP, date(2026, 1, 1), "time zone"),
        (Type("JSON"), "{", "no JSON"),
        (UUID, "0E984725", "36 lower-case"),
        (Type("ARRAY", element=INT64), [1, "a"], "INT64"),
        (Type("ARRAY", element=INT64), 1, "a list"),
    ],
)
def test_check_value_says_what_fits(type_: Type, value: object, said: str) -> None:
    if said == "holds":  # 10 MiB of UTF-8 just fit; a text of four-byte characters cannot be longer
        check_value(type_, value)
        return
    with pytest.raises(ValueError, match=said):
        check_value(type_, value)


@pytest.mark.parametrize(
    ("type_", "given", "wanted"),
    [
        (FLOAT64, 3, 3.0),
        (FLOAT64, "-Infinity", -math.inf),
        (FLOAT64, Decimal("1.5"), 1.5),
        (NUMERIC, 3, Decimal(3)),
        (NUMERIC, "12.50", Decimal("12.5")),
        (NUMERIC, 0.1, Decimal("0.1")),
        (NUMERIC, "1e2", Decimal(100)),
        (DATE, "2026-1-2", date(2026, 1, 2)),
        (TIMESTAMP, "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (TIMESTAMP, "2026-01-02", datetime(2026, 1, 2, 8, tzinfo=UTC)),
        (TIMESTAMP, datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)),
        (UUID, uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (UUID, "0E984725C51C4BF49960E1C80E27ABA0", "0e984725-c51c-4bf4-9960-e1c80e27aba0"),
        (Type("JSON"), {"b": 1, "a": [None]}, '{"a":[null],"b":1}'),
        (BYTES, bytearray(b"a"), b"a"),
        (INT64, np.int32(7), 7),
        (Type("ARRAY", element=FLOAT64), (1, None), [1.0, None]),
        (Type("FLOAT32"), 0.1, 0.10000000149011612),
        (DATE, None, None),
        (BOOL, np.bool_(True), True),
        (STRING, np.str_("x"), "x"),
    ],
)
def test_coerce_makes_values_proper(type_: Type, given: object, wanted: object) -> None:
    made = coerce(type_, given)
    assert made == wanted
    assert type(made) is type(wanted)


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        (FLOAT64, "1.5"),
        (FLOAT64, 10**400),
        (FLOAT64, True),
        (NUMERIC, True),
        (NUMERIC, "1e40"),
        (NUMERIC, "1e999999999"),
        (NUMERIC, math.inf),
        (DATE, "2026-02-30"),
        (DATE, "today"),
        (TIMESTAMP, "2026-01-02T25:00:00Z"),
        (TIMESTAMP, "2026-01-02 Nowhere/Land"),
        (TIMESTAMP, "0001-01-01T00:00:00+14:00"),
        (UUID, "xyz"),
        (Type("JSON"), "{a}"),
        (Type("JSON"), {1, 2}),
        (Type("JSON"), "NaN"),
        (Type("JSON"), math.inf),
        (Type("JSON"), '"\\ud800"'),
        (Type("JSON"), "[" * 100_000),
        (Type("FLOAT32"), 1e300),
        (STRING, 5),
        (DATE, ""),
        (Type("ARRAY", element=DATE), ["x"]),
        (TIMESTAMP, 5),
        (INT64, [1]),
    ],
)
def test_coerce_refuses_the_rest(type_: Type, given: object) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        coerce(type_, given)


# ---- texts


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (BOOL, True, "true"),
        (INT64, -5, "-5"),
        (FLOAT64, 1.0, "1"),
        (FLOAT64, -0.0, "0"),
        (FLOAT64, 0.1, "0.1"),
        (FLOAT64, 1e20, "1e+20"),
        (FLOAT64, 1 / 3, "0.33333333333333331"),
        (FLOAT64, math.inf, "inf"),
        (FLOAT64, math.nan, "nan"),
        (Type("FLOAT32"), coerce(Type("FLOAT32"), 0.1), "0.1"),
        (NUMERIC, Decimal("1.500"), "1.5"),
        (NUMERIC, Decimal("1E+2"), "100"),
        (NUMERIC, Decimal(100), "100"),
        (DATE, date(33, 1, 2), "0033-01-02"),
        (TIMESTAMP, datetime(2014, 9, 27, 19, 30, tzinfo=UTC), "2014-09-27 12:30:00-07"),
        (TIMESTAMP, datetime(2026, 1, 1, 8, 0, 0, 450000, UTC), "2026-01-01 00:00:00.450-08"),
        (TIMESTAMP, datetime(2026, 1, 1, 8, 0, 0, 1, UTC), "2026-01-01 00:00:00.000001-08"),
        (BYTES, "é".encode(), "é"),
        (STRING, "x", "x"),
    ],
)
def test_text_of_values(type_: Type, value: object, text: str) -> None:
    assert text_of(type_, value) == text


@given(
    st.sampled_from([type_ for type_ in VALUES if type_ not in (STRING, BYTES)]).flatmap(
        lambda t: st.tuples(st.just(t), VALUES[t])
    )
)
def test_a_text_reads_back_as_its_value(case: tuple[Type, object]) -> None:
    type_, value = case
    if isinstance(value, datetime) and not 2 <= value.year <= 9998:
        return  # the default time zone is behind UTC, so its calendar ends elsewhere
    if isinstance(value, datetime) and value.year < 1900:
        return  # local mean time has seconds in its offset, which the text does not show
    read = value_from_text(type_, text_of(type_, value))
    assert read == value or (value != value and read != read)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-01-02 03:04:05+01:30", datetime(2026, 1, 2, 1, 34, 5, tzinfo=UTC)),
        ("2026-1-2 3:4:5.25 UTC", datetime(2026, 1, 2, 3, 4, 5, 250000, UTC)),
        ("2026-07-01 12:00:00 Europe/Paris", datetime(2026, 7, 1, 10, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)),
        ("2026-01-02-8", datetime(2026, 1, 2, 8, tzinfo=UTC)),
        (" 2026-01-02 03:04:05 ", datetime(2026, 1, 2, 11, 4, 5, tzinfo=UTC)),
    ],
)
def test_timestamps_in_all_their_forms(text: str, wanted: datetime) -> None:
    assert value_from_text(TIMESTAMP, text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("0xff", 255), ("-0x10", -16), (" +7 ", 7), ("-9223372036854775808", -(2**63))]
)
def test_integers_in_all_their_forms(text: str, wanted: int) -> None:
    assert value_from_text(INT64, text) == wanted


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (INT64, "1.5"),
        (INT64, "9223372036854775808"),
        (INT64, "٣"),
        (INT64, ""),
        (FLOAT64, "1e999"),
        (FLOAT64, "1_0"),
        (BOOL, "yes"),
        (BYTES, "x"),
        (NUMERIC, "nan"),
    ],
)
def test_texts_that_are_no_value(type_: Type, text: str) -> None:
    with pytest.raises(ValueError, match=r"write|cannot become"):
        value_from_text(type_, text)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("2.5E-9", "3E-9"), ("-2.5E-9", "-3E-9"), ("1.2345678944", "1.234567894"), ("-0.0000000001", "0")],
)
def test_numeric_rounds_halves_away_from_zero(given: str, wanted: str) -> None:
    assert str(round_numeric(Decimal(given))) == wanted


def test_timezone_of_a_timestamp_does_not_matter_to_its_key() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert compare(TIMESTAMP, noon, noon.astimezone(timezone(timedelta(hours=5)))) == 0


# ---- sizes


@pytest.mark.parametrize(
    ("type_", "value", "size"),  # facts.md 2.1: 8 bytes of overhead, then the value
    [
        (BOOL, True, 9),
        (INT64, 5, 16),
        (FLOAT64, 1.0, 16),
        (DATE, date.min, 12),
        (TIMESTAMP, datetime.min, 20),
        (NUMERIC, Decimal(0), 9),
        (NUMERIC, Decimal(7), 14),
        (NUMERIC, Decimal("-99999999999999999999999999999.999999999"), 30),
        (STRING, "äb", 11),
        (BYTES, b"abc", 11),
        (UUID, str(uuid.UUID(int=1)), 24),
        (STRING, None, 8),
        (INT64, None, 8),
        (Type("ARRAY", element=INT64), [1, 2, None], 24),
        (Type("FLOAT32"), 1.0, 12),
        (Type("JSON"), "{}", 10),
    ],
)
def test_sizes_of_the_fact_sheet(type_: Type, value: object, size: int) -> None:
    assert size_in_bytes(type_, value) == size
