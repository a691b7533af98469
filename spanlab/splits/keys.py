"""Where new rows land: the laws of keys.

Rows lie in key order, and a split is a range of that order, so the first question about a key is not what it looks
like but where the next one falls. A time falls behind the one before, a UUIDv4 anywhere, a bit-reversed counter half
the key space away, a user's reading at the end of that user's rows.

Every key is written here as a *code*: an unsigned 64-bit integer that sorts as the key does. This module has the keys
of one column that takes all 64 bits; `choices` has columns with a number of values, `composite` packs several columns
into one code. A law of keys is two methods that must agree, and tests hold them to it:

    draw(random, n, span)    n codes of keys that are written in the span
    share(below, span)       the part of the span's keys that lie under each of the codes `below`

Laws that count (`serial`) also know the exact number: `count(below, span)`. `at(j, k)` is the code under which j of k
equal parts of the rows lie that are there already: split points that were learnt, or are given in advance.

Each law has a written form, its `str`: "ulid", "zipf(2000, 1.1)", "(shard(16), now)"; `spanlab.splits.words` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import numpy as np

Codes = np.ndarray
"""An array of uint64 key codes."""

Number = Any
"""A number, or an array of numbers."""

U = np.uint64
TOP = 1 << 63
KEY_SPACE = 1 << 64
LAST = KEY_SPACE - 1

CLOCK_START = datetime(2026, 9, 21, tzinfo=UTC)
"""Simulated time 0: a midnight, so that a run that begins at 0 begins with a new DATE."""
SECOND = 1 << 40
"""Codes in a second of a key that leads with time: 194 days fit into 64 bits, half of them before time 0."""
DAY_S = 86_400
PAST_S = 90 * DAY_S
"""How far back the rows reach that a time-keyed table holds when a run begins: 90 days, in seconds."""
ROWS_BEFORE = 1_000_000_000
"""How many rows a table holds whose key is counted up, when a run begins."""


def written(number: float) -> str:
    """A number as it stands in a written form: as short as reading it back allows."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


@dataclass(frozen=True)
class Span:
    """A stretch of the run: seconds [start, end), in which the writes number `first` … `first + count - 1` arrive.

    All four may be arrays that broadcast, one entry a tick.
    """

    start: Number
    end: Number
    first: Number = 0
    count: Number = 0


class Key:
    """The law of a key. Subclasses say how keys are drawn, and which part of them lies under a code."""

    @property
    def serial(self) -> bool:
        """Keys come from a counter: how many lie under a code is an exact number, not a chance."""
        return False

    @property
    def numbered(self) -> bool:
        """`share` looks at the numbers of the span's writes: a counter stands somewhere in the key."""
        return self.serial

    @property
    def moving(self) -> bool:
        """New keys leave the old ones behind: what was learnt from old rows says nothing of new ones."""
        return False

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        """n codes of keys written in the span. Laws that count take every `step`-th write from `span.first` on."""
        raise NotImplementedError

    def share(self, below: Codes, span: Span) -> np.ndarray:
        """The part of the span's keys under each code: float64, 0 to 1, shaped as `below` and the span broadcast."""
        raise NotImplementedError

    def count(self, below: Codes, span: Span) -> np.ndarray:
        """How many of the span's keys lie under each code: exact, int64. Only for laws that count (`serial`)."""
        raise NotImplementedError

    def at(self, j: int, k: int) -> int:
        """The code under which j of k equal parts of the rows lie that are there when the run begins (0 < j < k)."""
        return (j << 64) // k

    def learnt(self, pieces: int = 64) -> list[int]:
        """Split points that Spanner has learnt from old rows: `pieces` even ones, or seven behind a moving tail."""
        return [self.at(j, min(8, pieces)) for j in range(1, min(8, pieces))] if self.moving else self.even(pieces)

    def even(self, pieces: int) -> list[int]:
        """The pieces - 1 split points that cut the rows that are there into equal parts."""
        return sorted({self.at(j, pieces) for j in range(1, pieces)} - {0})

    def text(self, code: int) -> str:
        """The key of a code as Spanner's statistics would print it: the values of the key columns, truncated."""
        return str(code)

    def code_of(self, value: object) -> int:
        """The code of a value that is written out, as in a split point. ValueError where values have no place."""
        raise ValueError(f"A value of {self} has no place that could be told beforehand.")

    @property
    def fan_out(self) -> int | None:
        """How many ranges a scan over a stretch of time must visit; None where it must read the whole table."""
        return None

    def __str__(self) -> str:
        raise NotImplementedError


# ------------------------------------------------------------------------------------------------- keys that scatter


@dataclass(frozen=True)
class Uuid4(Key):
    """UUIDv4, GENERATE_UUID() or NEW_UUID(): 122 random bits, so the next key falls anywhere (facts.md 2.2)."""

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        return random.bit_generator.random_raw(n)  # the generator's own 64 bits: twice as fast as random.integers

    def share(self, below: Codes, span: Span) -> np.ndarray:
        return below / float(KEY_SPACE)

    def code_of(self, value: object) -> int:
        """Lower-case hexadecimal digits sort as numbers do. Any other letter sorts before, between or after them."""
        code, shift = 0, 64
        for letter in str(value).replace("-", "")[:16]:
            shift -= 4
            if letter not in "0123456789abcdef":
                return code if letter < "0" else code | (0xA << shift if letter < "a" else (1 << shift + 4) - 1)
            code |= int(letter, 16) << shift
        return code

    def text(self, code: int) -> str:
        digits = f"{code:016x}"
        return f'"{digits[:8]}-{digits[8:12]}-{digits[12:]}"' if code % (1 << 32) else f'"{digits[:8]}"'

    def __str__(self) -> str:
        return "uuid4"


@dataclass(frozen=True)
class Text(Uuid4):
    """A text of `length` characters that differs from row to row in no order: an e-mail address, a hash."""

    length: int = 24

    def code_of(self, value: object) -> int:
        raise ValueError("A text that is only known by its length has no place that could be told beforehand.")

    def text(self, code: int) -> str:
        return f'"{code:016x}"'

    def __str__(self) -> str:
        return f"text({self.length})"


# ------------------------------------------------------------------------------------------- keys that grow with time


def time_code(seconds: Number) -> Codes:
    """Codes of moments, in seconds of simulated time (0 is `CLOCK_START`)."""
    return (np.asarray(seconds, float) * SECOND).astype(np.int64).view(U) ^ U(TOP)


def moment_code(seconds: float) -> np.uint64:
    """The code of one moment."""
    return U(TOP + int(seconds * SECOND))


def _milliseconds_code(since_1970: int) -> int:
    """The code of a moment in milliseconds since 1970."""
    seconds = since_1970 / 1_000 - CLOCK_START.timestamp()
    return min(LAST, max(0, TOP + int(seconds * SECOND)))


def part_under(below: Codes, first: Number, limit: Number) -> np.ndarray:
    """The part of the codes [first, limit) under each code."""
    return (np.clip(below, first, limit) - first) / (limit - first)


@dataclass(frozen=True)
class Now(Key):
    """The time of the write. The next key is the largest so far: all writes of a moment fall on one place."""

    @property
    def moving(self) -> bool:
        return True

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        first, limit = moment_code(span.start), moment_code(span.end)
        if limit - first > U(1 << 48):
            return random.integers(first, limit, n, dtype=U)
        return self.place(random.bit_generator.random_raw(n) >> U(40), first, limit)

    @staticmethod
    def place(fraction: Codes, first: Number, limit: Number) -> Codes:
        """Codes at the fractions (of 2^24) of [first, limit), which must be under 2^48 wide; `fraction` is used up."""
        fraction *= (limit - first) >> U(8)
        fraction >>= U(16)
        fraction += first
        return fraction

    def share(self, below: Codes, span: Span) -> np.ndarray:
        return part_under(below, time_code(span.start), time_code(span.end))

    def at(self, j: int, k: int) -> int:
        return int(time_code(-PAST_S * (k - j) / k))

    def code_of(self, value: object) -> int:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f"{value!r} is no time; write 2026-09-21T12:00:00Z.") from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(LAST, max(0, TOP + int((moment - CLOCK_START).total_seconds() * SECOND)))

    def text(self, code: int) -> str:
        moment = CLOCK_START + timedelta(seconds=(code - TOP) / SECOND)
        return f'"{moment:%Y-%m-%dT%H:%M:%S}Z"'

    @property
    def fan_out(self) -> int | None:
        return 1

    def __str__(self) -> str:
        return "now"


@dataclass(frozen=True)
class CommitTimestamp(Now):
    """PENDING_COMMIT_TIMESTAMP(): the time of the commit, as TrueTime gives it (facts.md 2.5)."""

    def __str__(self) -> str:
        return "commit_timestamp"


@dataclass(frozen=True)
class Ulid(Now):
    """ULID: 48 bits of milliseconds lead, random bits follow. It looks random and sorts by time (facts.md 2.2)."""

    def code_of(self, value: object) -> int:
        """The first ten letters of a ULID are its milliseconds, in Crockford's base 32."""
        letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        head = str(value).upper()[:10].ljust(10, "0")
        if not set(head) <= set(letters):
            raise ValueError(f"{value!r} is no ULID.")
        milliseconds = sum(letters.index(letter) << 5 * (9 - i) for i, letter in enumerate(head))
        return _milliseconds_code(milliseconds)

    def __str__(self) -> str:
        return "ulid"


@dataclass(frozen=True)
class Uuid7(Now):
    """UUIDv7: as a ULID, milliseconds lead."""

    def code_of(self, value: object) -> int:
        """The first twelve digits of a UUIDv7 are its milliseconds."""
        head = str(value).replace("-", "")[:12].ljust(12, "0")
        if not set(head.lower()) <= set("0123456789abcdef"):
            raise ValueError(f"{value!r} is no UUID.")
        return _milliseconds_code(int(head, 16))

    def __str__(self) -> str:
        return "uuid7"


@dataclass(frozen=True)
class Ahead(Key):
    """A time that lies up to `width_s` seconds ahead of the write: a due date, a delivery.

    Inserts meet a front of that width, which moves on by a second a second. A cut that works after a delay `tau` has
    lost tau / width_s of the front by then, which is why a wide front can be split and a narrow one cannot.
    """

    width_s: float = 86_400.0

    @property
    def moving(self) -> bool:
        return True

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        moments = random.uniform(span.start, span.end, n)
        return time_code(moments + random.random(n) * self.width_s)

    def share(self, below: Codes, span: Span) -> np.ndarray:
        """Averages the part of the front [t, t + width) under each code over the moments t of the span."""
        moment = (below.astype(float) - TOP) / SECOND
        ahead = self._summed(moment - span.start) - self._summed(moment - span.end)
        return np.clip(ahead / (self.width_s * (span.end - span.start)), 0.0, 1.0)

    def _summed(self, x: np.ndarray) -> np.ndarray:
        """The integral of min(max(x, 0), width)."""
        inside = np.clip(x, 0.0, self.width_s)
        return inside * inside / 2 + np.maximum(x - self.width_s, 0.0) * self.width_s

    def at(self, j: int, k: int) -> int:
        return Now().at(j, k)

    def text(self, code: int) -> str:
        return Now().text(code)

    @property
    def fan_out(self) -> int | None:
        return 1

    def __str__(self) -> str:
        return f"ahead({written(self.width_s)})"


@dataclass(frozen=True)
class Uuid1(Key):
    """UUIDv1: the *low* 32 bits of a clock that ticks each 100 ns lead.

    The insert point sweeps the whole key space every 429.5 s and begins again: a moving front all the same. (The
    documentation calls UUIDv1 monotonic; that the low bits lead is read from its layout, facts.md 2.2.)
    """

    SWEEP_S: ClassVar[float] = 2**32 * 1e-7

    def _code(self, seconds: Number) -> Codes:
        """Codes of moments within one sweep."""
        return np.minimum(np.asarray(seconds, float) / self.SWEEP_S * KEY_SPACE, KEY_SPACE - 2048.0).astype(U)

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        ticks = (float(span.end) - float(span.start)) / self.SWEEP_S * 2**32
        code = random.integers(0, max(1, int(ticks)), n, dtype=U)
        code <<= U(32)
        code += self._code(float(span.start) % self.SWEEP_S)  # 64-bit arithmetic wraps round as the clock does
        return code

    def share(self, below: Codes, span: Span) -> np.ndarray:
        start, end = np.asarray(span.start) % self.SWEEP_S, np.asarray(span.end) % self.SWEEP_S
        wraps = end <= start
        whole = np.asarray(span.end) - np.asarray(span.start)
        to, over = np.where(wraps, self.SWEEP_S, end), np.where(wraps, end, 0.0)
        under = part_under(below, self._code(start), self._code(to)) * ((to - start) / whole)
        again = part_under(below, U(0), np.maximum(self._code(over), U(1)))
        return under + np.where(over > 0, again * (over / whole), 0.0)

    def text(self, code: int) -> str:
        return f'"{code >> 32:08x}"'

    def __str__(self) -> str:
        return "uuid1"


# --------------------------------------------------------------------------------------------------- keys that count


@dataclass(frozen=True)
class Sequence(Key):
    """A counter in the application: 1, 2, 3 … The next key is the largest so far, as with time.

    `start` is the number of the first row that the run writes. A code holds 2^12 places for each number.
    """

    start: int = ROWS_BEFORE

    @property
    def serial(self) -> bool:
        return True

    @property
    def moving(self) -> bool:
        return True

    PLACES: ClassVar[int] = 12

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        first = max(1, self.start + int(span.first))
        code = np.arange(first, first + n * step, step, dtype=U)
        code <<= U(self.PLACES)
        code |= U(TOP)
        return code

    def count(self, below: Codes, span: Span) -> np.ndarray:
        beyond = np.maximum(below, U(TOP)) - U(TOP)
        numbers = ((beyond + U((1 << self.PLACES) - 1)) >> U(self.PLACES)).astype(np.int64)
        return np.clip(numbers - (self.start + np.asarray(span.first)), 0, span.count)

    def share(self, below: Codes, span: Span) -> np.ndarray:
        return self.count(below, span) / np.maximum(span.count, 1)

    def at(self, j: int, k: int) -> int:
        return TOP | (self.start * j // k << self.PLACES)

    def code_of(self, value: object) -> int:
        return TOP | (max(0, int(str(value))) << self.PLACES)

    def text(self, code: int) -> str:
        return str(max(0, code - TOP) >> self.PLACES)

    def __str__(self) -> str:
        return "seq"


def reverse_bits(code: Codes) -> Codes:
    """Each 64-bit number read from the other end."""
    code = np.asarray(code, U).byteswap()
    for shift, mask in ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555)):
        high = code >> U(shift)
        high &= U(mask)
        code &= U(mask)
        code <<= U(shift)
        code |= high
    return code


@dataclass(frozen=True)
class BitReversed(Key):
    """SEQUENCE, IDENTITY or AUTO_INCREMENT of Spanner: a counter whose 63 bits are read from the other end.

    Numbers that follow each other differ in the lowest bit, which becomes the highest: they land half the (positive)
    key space apart. `skip_range` are the values that are never handed out, `start` is the counter of the first row,
    before it is reversed (facts.md 2.3). The counter of this model is one; Spanner runs several at once.
    """

    start: int = 1
    skip_range: tuple[int, int] | None = None

    @property
    def serial(self) -> bool:
        return True

    def values(self, first: int, n: int, step: int = 1) -> np.ndarray:
        """The INT64 values of n counters from `first` on, skipped values left out."""
        counters = np.arange(first, first + n * step, step, dtype=U)
        values = reverse_bits(counters) >> U(1)
        if self.skip_range:
            low, high = self.skip_range
            values = values[(values < U(low)) | (values > U(high))]
        return values.astype(np.int64)

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        first = max(1, self.start + int(span.first))
        code = reverse_bits(np.arange(first, first + n * step, step, dtype=U))
        code >>= U(1)
        code |= U(TOP)
        return code

    def count(self, below: Codes, span: Span) -> np.ndarray:
        """Exact, by arithmetic.

        The values under a limit are ranges whose lengths are powers of two, one for each bit that the limit has set.
        Reversed, such a range is the set of counters with one remainder modulo a power of two, which is counted by a
        division. A skip range is too narrow to be seen here: its values are handed out as others, a little later.
        """
        first, n = np.asarray(span.first, np.int64) + self.start, np.asarray(span.count, np.int64)
        limits = (np.maximum(below, U(TOP)) - U(TOP)).ravel()
        places = U(62) - np.arange(63, dtype=U)
        limit_of, bit = np.nonzero((limits[:, None] >> places) & U(1))
        width = bit + 1
        head = (limits[limit_of] >> (63 - width).astype(U)) ^ U(1)
        remainder = (reverse_bits(head) >> (64 - width).astype(U)).astype(np.int64)
        total = np.zeros((*np.broadcast_shapes(first.shape, (1,))[:-1], len(limits)), np.int64)
        if len(limit_of):
            in_range = ((first + n - 1 - remainder) >> width) - ((first - 1 - remainder) >> width)
            begins = np.flatnonzero(np.diff(limit_of, prepend=-1))
            total[..., limit_of[begins]] = np.add.reduceat(in_range, begins, axis=-1)
        return total

    def share(self, below: Codes, span: Span) -> np.ndarray:
        return self.count(below, span) / np.maximum(span.count, 1)

    def at(self, j: int, k: int) -> int:
        return TOP + (j << 63) // k

    def code_of(self, value: object) -> int:
        return TOP + int(str(value))

    def text(self, code: int) -> str:
        return str(max(0, code - TOP))

    def __str__(self) -> str:
        return "bit_reversed"


# ------------------------------------------------------------------------------------------------------- single rows


@dataclass(frozen=True)
class HotRow(Key):
    """Every write updates one row: a counter, a status, a "last activity" stamp."""

    row: int = 0x9E37_79B9_7F4A_7C15

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        return np.full(n, self.row, U)

    def share(self, below: Codes, span: Span) -> np.ndarray:
        return (below > U(self.row)) * 1.0

    def at(self, j: int, k: int) -> int:
        return 0

    def text(self, code: int) -> str:
        return "" if code == 0 else str(code)

    def __str__(self) -> str:
        return "hot_row"
