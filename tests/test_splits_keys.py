"""The laws of keys: what is drawn follows the law that says what lies under a code, and codes sort as keys do."""

from __future__ import annotations

import re
from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.splits import Desc, HotRow, Mix, Now, Sequence, Shard, Uuid4, key_codes, sequence, value
from spanlab.splits.arrivals import Router, aggregate_counts
from spanlab.splits.choices import Remainders
from spanlab.splits.composite import pack
from spanlab.splits.keys import KEY_SPACE, LAST, BitReversed, Key, Span, U, reverse_bits
from spanlab.splits.words import key

WORDS = [
    "uuid4",
    "text(24)",
    "now",
    "commit_timestamp",
    "ulid",
    "uuid7",
    "uuid1",
    "ahead(30)",
    "hot_row",
    "ids(8)",
    "ids(1000)",
    "now desc",
    "uuid1 desc",
    "(shard(16), now)",
    "(shard(10, signed), now)",
    "(shard(4), uuid4)",
    "(shard(10), seq)",
    "bit_reversed desc",
    "(shard(4), bit_reversed)",
    "(ids(1000), now)",
    "(ids(1000), now desc)",
    "(zipf(1000, 0.99), now)",
    "(celebrity(500, 0.3), now)",
    "(pick(a:.4, b:.35, c:.25), uuid4)",
    "(pick(a:.4, b:.6) desc, now)",
    "(ids(50), shard(4), now desc, uuid4)",
    "(null(0.98, now), uuid4)",
    "(null(0.3, now) desc, uuid4)",
    "(date(now), uuid4)",
    "(every(60) desc, uuid4)",
    "(const(NEW), now)",
    "seq desc",
    "bit_reversed",
    "seq",
]
N = 60_000
RANDOM = 7


def distance(law: Key, span: Span, n: int = N) -> float:
    """Kolmogorov and Smirnov's: the largest gap between the keys that are drawn and the law."""
    random = np.random.Generator(np.random.SFC64(RANDOM))
    drawn = np.sort(law.draw(random, n, span))
    below = np.unique(drawn[random.integers(0, n, 200)])
    below = np.unique(np.concatenate([below, below + U(1)]))
    return float(np.abs(np.searchsorted(drawn, below) / n - law.share(below, span)).max())


@pytest.mark.parametrize("word", WORDS)
def test_share_is_the_law_of_draw(word):
    span = Span(428.0, 432.0, 0, N) if "uuid1" in word else Span(5.0, 6.0, 0, N)
    assert distance(key(word), span) < 1.95 / np.sqrt(N)


@pytest.mark.parametrize("word", ["(every(10), uuid4)", "(every(10) desc, uuid4)", "(every(10), now)"])
def test_share_over_several_periods(word):
    assert distance(key(word), Span(3.0, 37.0, 0, N)) < 1.95 / np.sqrt(N)


@pytest.mark.parametrize(("n", "numbers"), [(10, range(0, 10, 2)), (100, range(256)), (1_000, range(256))])
def test_share_of_remainders(n, numbers):
    law = pack([Remainders(n=n, numbers=numbers), Now()])
    assert distance(law, Span(5.0, 6.0)) < 1.95 / np.sqrt(N)
    present = law.lead.shares[law.lead.shares > 0]
    assert len(present) == len({number % n for number in numbers})
    assert sorted(value(str(law.lead)).shares) == pytest.approx(sorted(present))


def test_share_of_a_mixture():
    assert distance(Mix((0.2, 0.8), (HotRow(), Uuid4())), Span(5.0, 6.0)) < 1.95 / np.sqrt(N)


@pytest.mark.parametrize("word", WORDS)
def test_share_grows_from_0_to_1(word):
    below = np.unique(np.random.default_rng(3).integers(0, LAST, 500, dtype=U))
    span = Span(np.array([[3.0], [90.0]]), np.array([[4.0], [91.0]]), np.array([[0], [700]]), np.array([[700], [300]]))
    share = np.atleast_2d(key(word).share(np.concatenate([[U(0)], below]), span))
    assert np.allclose(share[:, 0], 0)
    assert (np.diff(share, axis=1) >= -1e-12).all()
    assert share.max() <= 1 + 1e-12


@pytest.mark.parametrize(
    "law", [Sequence(1), Sequence(), BitReversed(), BitReversed(123_456_789), Desc(BitReversed()), Desc(Sequence(1))]
)
def test_counting_laws_are_exact(law):
    random = np.random.default_rng(5)
    for _ in range(20):
        first, n = int(random.integers(0, 2**40)), int(random.integers(1, 3_000))
        drawn = np.sort(law.draw(random, n, Span(0, 1, first, n)))
        anywhere = random.integers(0, LAST, 40, dtype=U)
        short = U(1 << 63) + (random.integers(0, 2**20, 40, dtype=U) << U(43))
        below = np.unique(np.concatenate([anywhere, short, drawn[:20], drawn[:20] + U(1)]))
        got = law.count(below[None, :], Span(0, 1, np.array([[first]]), np.array([[n]])))[0]
        assert (got == np.searchsorted(drawn, below)).all()


@settings(deadline=None)
@given(st.lists(st.integers(0, LAST), max_size=40), st.lists(st.integers(0, LAST), min_size=1, max_size=200))
def test_routing_equals_bisect(starts, drawn):
    start = np.unique(np.array([0, *starts], U))
    want = np.bincount([bisect_right(start.tolist(), code) - 1 for code in drawn], minlength=len(start))
    assert (np.atleast_1d(Router(start).counts(np.array(drawn, U))) == want).all()


@settings(deadline=None)
@given(st.integers(1, 14), st.lists(st.integers(0, 2**14 - 1), max_size=30), st.integers(0, 2**32))
def test_routing_by_truncated_split_points(bits, places, seed):
    start = np.unique(np.array([0, *(place % (1 << bits) << (64 - bits) for place in places)], U))
    drawn = np.random.default_rng(seed).integers(0, LAST, 500, dtype=U)
    want = np.bincount(np.searchsorted(start, drawn, "right") - 1, minlength=len(start))
    assert (np.atleast_1d(Router(start).counts(drawn.copy())) == want).all()


@settings(deadline=None)
@given(st.lists(st.integers(0, LAST), min_size=1, max_size=50))
def test_reversing_twice_gives_the_number(numbers):
    codes = np.array(numbers, U)
    assert (reverse_bits(reverse_bits(codes)) == codes).all()
    assert [int(f"{n:064b}"[::-1], 2) for n in numbers] == reverse_bits(codes).tolist()


def test_bit_reversed_values_are_the_documented_ones():
    """facts.md 2.3: BIT_REVERSE(n, TRUE) for 1 to 8, and the first value of a sequence."""
    assert sequence(8) == [
        4611686018427387904,
        2305843009213693952,
        6917529027641081856,
        1152921504606846976,
        5764607523034234880,
        3458764513820540928,
        8070450532247928832,
        576460752303423488,
    ]
    assert sequence(1, start_counter=101) == [5980780305148018688]
    assert sequence(1, start_counter=100) == [1369094286720630784]


def test_skipped_values_are_not_handed_out():
    low, high = 2**61, 2**62
    values = sequence(1_000, skip=(low, high))
    assert len(set(values)) == 1_000
    assert not any(low <= one <= high for one in values)


def test_thousand_values_over_sixteen_ranges():
    ranges = np.bincount(np.array(sequence(1_000)) >> 59, minlength=16)
    assert set(ranges.tolist()) <= {62, 63}


def test_uuid4_over_sixteen_ranges():
    """E2.1: 10,000 ids, 625 each, all within 100 (four sigma)."""
    drawn = Uuid4().draw(np.random.Generator(np.random.SFC64(0)), 10_000, Span(0, 1))
    assert np.abs(np.bincount((drawn >> U(60)).astype(int), minlength=16) - 625).max() <= 100


@pytest.mark.parametrize("n", [10, 16])
def test_plain_mod_has_a_sign(n):
    """facts.md 2.4: 2n - 1 values, 0 twice as heavy, (n - 1) / 2n of the rows below 0."""
    shares = value(f"shard({n}, signed)").shares
    assert len(shares) == 2 * n - 1
    assert shares[n - 1] == pytest.approx(1 / n)
    assert shares[0] == pytest.approx(1 / (2 * n))
    assert shares[: n - 1].sum() == pytest.approx((n - 1) / (2 * n))


# --------------------------------------------------------------------------------------------- codes sort as keys do


def test_columns_are_packed_in_key_order():
    """Of two keys, the first column decides, then the second; DESC turns its own column only."""
    random = np.random.Generator(np.random.SFC64(1))
    early, late = Span(0.0, 1.0, 0, 500), Span(1_000.0, 1_001.0, 0, 500)
    for word, newest_first in (("(ids(20), now)", False), ("(ids(20), now desc)", True)):
        law = key(word)
        before, after = law.draw(random, 500, early), law.draw(random, 500, late)
        shift = U(64 - law.lead.bits)
        for place in np.unique(before >> shift):
            old, new = before[before >> shift == place], after[after >> shift == place]
            assert (old.min() > new.max()) if newest_first else (old.max() < new.min())


def test_null_comes_first_and_last_in_desc():
    random = np.random.Generator(np.random.SFC64(1))
    first = key("(null(0.5, now), uuid4)").draw(random, 1_000, Span(0.0, 1.0))
    last = key("(null(0.5, now) desc, uuid4)").draw(random, 1_000, Span(0.0, 1.0))
    assert 400 < (first < U(1 << 63)).sum() < 600  # the NULLs: spread by the id behind them
    assert np.unique(first[first < U(1 << 63)] >> U(56)).size > 50
    assert 400 < (last >= U(1 << 63)).sum() < 600
    assert np.unique(last[last >= U(1 << 63)] >> U(56)).size > 50


def test_a_constant_column_decides_nothing():
    assert key("(const(NEW), now)") == key("now")
    assert pack([value("const(x)")]) == HotRow(0)


def test_a_column_that_fills_the_code_ends_the_key():
    assert key("(now, ids(100))") == key("now")
    assert str(key("(shard(16), ulid, uuid4)")) == "(shard(16), ulid)"


MIXES = [
    "mix(0.2: hot_row, 0.8: uuid4)",
    "mix(3: (shard(4), now desc), 1: (ids(8), uuid4))",
    "mix(0.5: ids(8), 0.5: now) desc",
    "(shard(4), mix(1: now, 2: (null(0.5, now))))",
    "mix(0.5: mix(1: now, 1: uuid4), 0.5: pick(a:0.4, b:0.6))",
    "mix(0.3333333333333333: now, 0.6666666666666666: uuid4)",
]
FINE = ["zipf(1000, 1.23456789)", "ahead(1234567.5)", "celebrity(50, 0.123456789)", "null(0.0123456789, now)"]
FINE += ["pick(a:0.333333333, b:0.666666667)", "const(a, (b, c))", "const()", "(null(0.5, ids(3)) desc, now)"]


@pytest.mark.parametrize("word", [*WORDS, *MIXES, *FINE])
def test_written_form_reads_back(word):
    law = value(word)
    assert value(str(law)) == law
    assert str(value(str(law))) == str(law)
    assert key(str(law)) == key(law)


@pytest.mark.parametrize("word", [*MIXES, *FINE])
def test_word_that_is_written_as_laws_print_is_printed_so(word):
    assert str(value(word)) == word


def test_two_workloads_on_one_key_space_have_a_written_form():
    law = Mix((1 / 3, 2 / 3), (pack([value("ids(9)"), Now()]), HotRow()))
    assert value(str(law)) == law


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 5e6))
def test_numbers_are_written_so_that_they_read_back(number):
    assert value(str(value(f"ahead({number!r})"))).width_s == number


def test_shard_that_hashes_the_next_column_keeps_its_rows_together():
    """(Shard(ProbeId), ProbeId): one loud probe stays in one shard, so its share does too."""
    probes = value("celebrity(1000, 0.2)")
    law = pack([Shard(n=10, of=probes), probes, Now()])
    assert law.lead.shares.max() == pytest.approx(0.2)
    assert (np.diff(law.lead.places.astype(np.int64)) > 0).all()
    alone = pack([Shard(n=10, of=probes), Now()])
    assert alone.lead.shares.max() == pytest.approx(0.2 + 0.8 / 10, rel=0.1)
    assert distance(law, Span(5.0, 6.0)) < 1.95 / np.sqrt(N)


@pytest.mark.parametrize(("turned", "turned_value"), [(True, False), (False, True), (True, True)])
def test_shard_and_its_column_in_descending_order(turned, turned_value):
    probes = value("celebrity(1000, 0.2)")
    shard = Shard(n=10, of=probes)
    law = pack([Desc(shard) if turned else shard, Desc(probes) if turned_value else probes, Now()])
    plain = pack([shard, probes, Now()])
    assert sorted(law.lead.shares) == pytest.approx(sorted(plain.lead.shares))
    assert (np.diff(law.lead.places.astype(np.int64)) > 0).all()
    shards = law.lead.places >> U(probes.bits)
    in_shard = np.bincount(shards.astype(int), law.lead.shares, 16)
    straight = np.bincount((plain.lead.places >> U(probes.bits)).astype(int), plain.lead.shares, 16)
    assert in_shard == pytest.approx(straight[::-1] if turned else straight)
    assert distance(law, Span(5.0, 6.0)) < 1.95 / np.sqrt(N)


class FirstHalf(Now):
    """A clock that is slow: all writes of a span get times of its first half."""

    def draw(self, random, n, span, step=1):
        return super().draw(random, n, Span(span.start, (span.start + span.end) / 2))

    def share(self, below, span):
        return super().share(below, Span(span.start, (span.start + span.end) / 2))


@pytest.mark.parametrize("law", [FirstHalf(), Desc(FirstHalf())])
def test_a_law_of_its_own_is_drawn_by_itself_behind_a_column_too(law):
    assert distance(pack([value("ids(20)"), law]), Span(5.0, 6.0)) < 1.95 / np.sqrt(N)


@pytest.mark.parametrize(
    ("word", "ranges"),
    [
        ("now", 1),
        ("now desc", 1),
        ("uuid4", None),
        ("(shard(8), now)", 8),
        ("(shard(8), now desc)", 8),
        ("(date(now), uuid4)", 1),  # days are in order, whatever stands behind them
        ("(every(60) desc, shard(4), now)", 1),
        ("(shard(8), date(now), uuid4)", 8),
        ("(null(0.98, now), uuid4)", 1),  # a row without the time is in no stretch of time
        ("(null(0.98, now) desc, uuid4)", 1),
        ("(shard(4), null(0.5, now), uuid4)", 4),
        ("(null(0.5, uuid4), now)", None),
        ("(null(0.5, ids(4)), now)", 5),  # one range where it is NULL, one for each value
        ("(null(0.5, ids(4)) desc, now desc)", 5),
    ],
)
def test_ranges_that_a_scan_over_a_stretch_of_time_visits(word, ranges):
    assert key(word).fan_out == ranges


# ------------------------------------------------------------------------------------------------------ split points


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("pieces", [1, 2, 10, 64])
def test_split_points_are_in_order_and_inside(word, pieces):
    law = key(word)
    for points in (law.even(pieces), law.learnt(pieces)):
        assert points == sorted(set(points))
        assert all(0 < point < KEY_SPACE for point in points)
        assert len(law.even(pieces)) <= pieces - 1


TWINS = [
    ("(date(now), uuid4)", "(date(now) desc, uuid4 desc)"),
    ("(every(60), ids(50))", "(every(60) desc, ids(50) desc)"),
    *((word, f"{word} desc") for word in WORDS if not word.endswith("desc") and word != "hot_row"),
]


@pytest.mark.parametrize(("word", "turned"), TWINS)
@pytest.mark.parametrize("pieces", [4, 64])
def test_a_turned_key_has_learnt_the_same_split_points(word, turned, pieces):
    """The splits of the twin, from the last to the first, each with the same keys in it."""
    law, twin = key(word), key(turned)
    starts, turned_starts = ([0, *one.learnt(pieces)] for one in (law, twin))
    assert len(starts) == len(turned_starts)
    drawn = law.draw(np.random.Generator(np.random.SFC64(RANDOM)), 2_000, Span(5.0, 6.0, 0, 2_000))
    counts, turned_counts = (
        np.bincount(np.searchsorted(np.array(points, U), codes, "right") - 1, minlength=len(points))
        for points, codes in ((starts, drawn), (turned_starts, ~drawn))
    )
    if twin == Desc(law):
        assert (counts == turned_counts[::-1]).all()
    else:
        assert np.sort(counts) == pytest.approx(np.sort(turned_counts), abs=100)


@pytest.mark.parametrize("word", ["now desc", "seq desc", "uuid4 desc", "bit_reversed desc"])
def test_even_split_points_of_a_turned_key_are_exact(word):
    """Half of the keys lie before the middle one, and a key that stands on the border of its law lies behind it."""
    law = key(word)
    for j in range(1, 8):
        assert law.at(j, 8) == KEY_SPACE - law.inner.at(8 - j, 8)


def test_a_turned_hot_row_has_no_split_points():
    assert key("hot_row desc").even(8) == []


def test_turned_days_are_named_by_the_first_day_of_the_split():
    law = key("(date(now) desc, uuid4)")
    newest, oldest = min(law.learnt()), max(law.learnt())
    assert law.text(newest) == '"2026-09-08"'  # 90 days in eight parts: the days from 2026-09-09 on lie before it
    assert law.text(oldest) == '"2026-07-03"'


@pytest.mark.parametrize("word", ["uuid4", "bit_reversed", "(ids(100000), now)", "(shard(4), uuid4)"])
def test_even_split_points_share_out_the_load(word):
    law = key(word)
    start = np.array([0, *law.even(16)], U)
    span = Span(np.array([0.0]), np.array([1.0]), np.array([0]), np.array([160_000]))
    counts = aggregate_counts(np.random.Generator(np.random.SFC64(0)), law, start, span)[0]
    assert counts == pytest.approx(np.full(16, 10_000), rel=0.05)


@pytest.mark.parametrize("word", ["now", "seq", "ahead(60)"])
def test_learnt_split_points_lie_behind_a_moving_tail(word):
    law = key(word)
    assert len(law.learnt()) == 7
    drawn = law.draw(np.random.Generator(np.random.SFC64(0)), 100, Span(0.0, 1.0, 0, 100))
    assert max(law.learnt()) < int(drawn.min())


def test_key_line():
    """Bit-reversed 1 … 8 lie at 1/2, 1/4, 3/4, 1/8 … of the positive half; a counter stays on one point; UUIDv1 marches
    on by 60 / 429.5 of the line each minute and wraps."""
    halves = [0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875, 0.0625]
    assert key_codes("bit_reversed", 8) == pytest.approx([0.5 + half / 2 for half in halves])
    assert max(key_codes("seq", 8)) - min(key_codes("seq", 8)) < 1e-9
    marching = key_codes("uuid1", 9, seconds=60)
    assert np.diff(marching[:8]) == pytest.approx(60 / 429.4967, abs=1e-3)
    assert marching[8] < marching[7]


# ------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("noww", "now"),
        ("zipf(10)", "zipf(n, theta)"),
        ("zipf(0, 1)", "number of ids"),
        ("ids(1.5)", "whole number"),
        ("ids(x)", "whole number"),
        ("celebrity(10, 2)", "0 to 1"),
        ("pick(a:.4, b:.4)", "add up to"),
        ("pick(a, b)", "name:share"),
        ("pick(a:.5, a:.5)", "twice"),
        ("shard(0)", "shard count"),
        ("shard(10000)", "shard count"),
        ("shard(4, odd)", "signed"),
        ("null(2, now)", "NULLs"),
        ("null(0.5)", "null(share, word)"),
        ("text(-1)", "length"),
        ("", "Words:"),
        ("zipf(nan, 1)", "number of ids"),
        ("mix(now, uuid4)", "weight: word"),
        ("mix(-1: now, 1: uuid4)", "weight"),
        ("mix(0: now, 0: uuid4)", "weight"),
        ("mix(1: noww)", "now"),
        ("mix()", "weight: word"),
    ],
)
def test_bad_words_are_named(word, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        value(word)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_word_or_a_value_error(text):
    try:
        assert isinstance(value(text), Key)
    except ValueError as error:
        assert str(error)  # noqa: PT017
