"""Keys of several columns, packed into one code.

Columns are packed from the top, in key order. A column with a number of values takes the bits that it needs, and what
is left belongs to the columns behind it; a column that takes all 64 bits (a time, a random id) decides alone, and what
stands behind it changes nothing. DESC turns the bits round. The law of the whole key follows from the laws of its
columns, so (Path, HitAt), (ShardId, HitAt, Id) and (UserId, SeenAt DESC) need no law of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

import numpy as np

from spanlab.splits.choices import Descending, Shard, ShardAndValue, Values
from spanlab.splits.keys import (
    CLOCK_START,
    DAY_S,
    KEY_SPACE,
    LAST,
    Codes,
    HotRow,
    Key,
    Now,
    Number,
    Span,
    U,
    moment_code,
    written,
)


@dataclass(frozen=True)
class Const(Key):
    """A column with one value in all new rows: it decides nothing, the column behind it does."""

    value: str = ""

    def __str__(self) -> str:
        return f"const({self.value})"


@dataclass(frozen=True)
class Null(Key):
    """A column that is NULL in `portion` of the new rows and follows `inner` in the others."""

    portion: float = 0.5
    inner: Key = field(default_factory=Now)

    def __str__(self) -> str:
        return f"null({written(self.portion)}, {self.inner})"


@dataclass(frozen=True)
class Every(Key):
    """The time of the write, rounded down to so many seconds: a DATE, an hour, a minute.

    It has one value for a while, so the column behind it decides, and then another.
    """

    period_s: int = DAY_S

    def __str__(self) -> str:
        return "date(now)" if self.period_s == DAY_S else f"every({self.period_s})"


@dataclass(frozen=True)
class Desc(Key):
    """A key or column in descending order: the same law, read from the other end. It cures nothing by itself."""

    inner: Key = field(default_factory=Now)

    @property
    def moving(self) -> bool:
        return self.inner.moving

    @property
    def serial(self) -> bool:
        return self.inner.serial

    @property
    def numbered(self) -> bool:
        return self.inner.numbered

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        return ~self.inner.draw(random, n, span, step)

    def count(self, below: Codes, span: Span) -> np.ndarray:
        """As `share`: a turned key is under a code if the key itself is above the turned code."""
        return np.where(below == U(0), 0, span.count - self.inner.count(~below + U(1), span))

    def share(self, below: Codes, span: Span) -> np.ndarray:
        """A turned key is under a code if the key itself is above the turned code."""
        return np.where(below == U(0), 0.0, 1.0 - self.inner.share(~below + U(1), span))

    def at(self, j: int, k: int) -> int:
        return -self.inner.at(k - j, k) % KEY_SPACE

    def learnt(self, pieces: int = 64) -> list[int]:
        """The inner law's: what begins at a code there ends below the turned code here."""
        return sorted(KEY_SPACE - cut for cut in self.inner.learnt(pieces))

    def text(self, code: int) -> str:
        return self.inner.text(LAST - code)

    @property
    def fan_out(self) -> int | None:
        return self.inner.fan_out

    def __str__(self) -> str:
        return f"{self.inner} desc"


@dataclass(frozen=True)
class Prefixed(Key):
    """A column of values in front of a key: (ShardId, …), (UserId, …). Each value has a range, the inner law in it."""

    lead: Values
    inner: Key

    @property
    def numbered(self) -> bool:
        return self.inner.numbered

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        """One random number serves both columns where the inner key is a time: 40 bits the value, 24 the time."""
        raw = random.bit_generator.random_raw(n)
        times = isinstance(self.inner, Now) and type(self.inner).draw is Now.draw  # no draw of its own to be obeyed
        if times and float(span.end) - float(span.start) < 256:
            code = Now.place(raw & U(0xFFFFFF), moment_code(span.start), moment_code(span.end))
        else:
            code = self.inner.draw(random, n, span, step)
        raw >>= U(24)
        lead = self.lead.pick(raw)
        lead <<= U(64 - self.lead.bits)
        code >>= U(self.lead.bits)
        code |= lead
        return code

    def share(self, below: Codes, span: Span) -> np.ndarray:
        """The values before the code's own, and of the code's own value the part that the inner law says."""
        lead = self.lead
        place = below >> U(64 - lead.bits)
        rank = np.searchsorted(lead.places, place)
        inside = np.append(lead.places, U(1 << lead.bits))[rank] == place
        own = np.append(lead.shares, 0.0)[rank] * inside
        if not own.any():
            return lead.under[rank]
        return lead.under[rank] + own * self.inner.share(below << U(lead.bits), span)

    def at(self, j: int, k: int) -> int:
        """Values are laid out evenly, so an even part of the codes, or of the values, is an even part of the rows."""
        n = len(self.lead.shares)
        if not self.lead.side_by_side:
            return (j << 64) // k
        value, rest = divmod(j * n, k)
        start = int(self.lead.places[value]) << (64 - self.lead.bits)
        return start if not rest or n > k else start | (self.inner.at(rest, k) >> self.lead.bits)

    def learnt(self, pieces: int = 64) -> list[int]:
        """The start of every value; and where the inner key scatters, even cuts in every value."""
        n = len(self.lead.shares)
        if n > pieces:
            return self.even(pieces)
        starts = [int(place) << (64 - self.lead.bits) for place in self.lead.places]
        cuts = self.inner.learnt(pieces // n) if pieces >= 2 * n and not self.inner.moving else []
        return sorted({start | cut >> self.lead.bits for start in starts for cut in [0, *cuts]} - {0})

    def text(self, code: int) -> str:
        place, rest = code >> (64 - self.lead.bits), (code << self.lead.bits) & LAST
        rank = min(int(np.searchsorted(self.lead.places, U(place))), len(self.lead.places) - 1)
        return self.lead.label(rank) + (f", {self.inner.text(rest)}" if rest else "")

    @property
    def fan_out(self) -> int | None:
        inner = self.inner.fan_out
        return inner and inner * len(self.lead.shares)

    def __str__(self) -> str:
        inner = str(self.inner)
        if isinstance(self.inner, HotRow):
            return str(self.lead)
        return f"({self.lead}, {inner[1:-1] if isinstance(self.inner, Prefixed) and inner[0] == '(' else inner})"


@dataclass(frozen=True)
class Branches(Key):
    """Ranges side by side, each with a share of the writes and a law of its own: NULLs here, values there.

    `columns` are the key columns that it was packed from.
    """

    weights: tuple[float, ...]
    keys: tuple[Key, ...]
    columns: tuple[Key, ...]

    @property
    def bits(self) -> int:
        return max(1, (len(self.keys) - 1).bit_length())

    @property
    def numbered(self) -> bool:
        return any(key.numbered for key in self.keys)

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        which = random.choice(len(self.keys), n, p=self.weights)
        code = np.empty(n, U)
        for i, key in enumerate(self.keys):
            mine = np.flatnonzero(which == i)
            drawn = key.draw(random, len(mine), span, step) >> U(self.bits)
            code[mine] = drawn | U(i << (64 - self.bits))
        return code

    def share(self, below: Codes, span: Span) -> np.ndarray:
        place = below >> U(64 - self.bits)
        inside = below << U(self.bits)
        total: np.ndarray = np.zeros(1)
        for i, (weight, key) in enumerate(zip(self.weights, self.keys, strict=True)):
            total = total + weight * np.where(place == U(i), key.share(inside, span), place > U(i))
        return total

    def learnt(self, pieces: int = 64) -> list[int]:
        cuts = []
        for i, key in enumerate(self.keys):
            start = i << (64 - self.bits)
            cuts += [start, *(start | cut >> self.bits for cut in key.learnt(max(1, pieces // len(self.keys))))]
        return sorted(set(cuts) - {0})

    def text(self, code: int) -> str:
        return self.keys[min(code >> (64 - self.bits), len(self.keys) - 1)].text((code << self.bits) & LAST)

    @property
    def fan_out(self) -> int | None:
        """The ranges among the values, and those among the NULLs where a time stands behind them."""
        null, values = self.keys[:: -1 if isinstance(self.columns[0], Desc) else 1]
        return values.fan_out and values.fan_out + (null.fan_out or 0)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.columns))})"


@dataclass(frozen=True)
class Mix(Key):
    """Writes of several laws into one key space: a hot row beside even traffic, two workloads on one table.

    `weights` are the parts that they have, in any unit.
    """

    weights: tuple[float, ...]
    keys: tuple[Key, ...]

    @property
    def numbered(self) -> bool:
        return any(key.numbered for key in self.keys)

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        portions = np.array(self.weights) / sum(self.weights)
        parts = random.multinomial(n, portions)
        drawn = [key.draw(random, int(m), span, step) for m, key in zip(parts, self.keys, strict=True)]
        code = np.concatenate(drawn)
        random.shuffle(code)
        return code

    def share(self, below: Codes, span: Span) -> np.ndarray:
        whole = sum(self.weights)
        return sum(
            (weight / whole * key.share(below, span) for weight, key in zip(self.weights, self.keys, strict=True)),
            start=np.zeros(1),
        )

    def learnt(self, pieces: int = 64) -> list[int]:
        return sorted({cut for key in self.keys for cut in key.learnt(pieces)})

    def text(self, code: int) -> str:
        return self.keys[-1].text(code)

    def __str__(self) -> str:
        parts = ", ".join(f"{written(weight)}: {key}" for weight, key in zip(self.weights, self.keys, strict=True))
        return f"mix({parts})"


CENTURY_S = 36_525 * DAY_S


@dataclass(frozen=True)
class Periods(Key):
    """A rounded time in front of a key: one range a day (an hour, a minute). When the next one begins, all inserts move
    into a range that is still empty."""

    lead: Every
    inner: Key
    BITS: ClassVar[int] = 24  # numbers of periods, half of them before time 0

    def _period(self, seconds: Number) -> Codes:
        return (np.floor_divide(seconds, self.lead.period_s) + (1 << (self.BITS - 1))).astype(U)

    @property
    def numbered(self) -> bool:
        return self.inner.numbered

    def draw(self, random: np.random.Generator, n: int, span: Span, step: int = 1) -> Codes:
        code = self.inner.draw(random, n, span, step) >> U(self.BITS)
        moments = np.float64(span.start) + np.arange(n) * ((float(span.end) - float(span.start)) / max(n, 1))
        code |= self._period(moments) << U(64 - self.BITS)
        return code

    def share(self, below: Codes, span: Span) -> np.ndarray:
        """The part of the span that lies before the code's period, and of the part in it what the inner law says."""
        start, length = np.asarray(span.start, float), np.asarray(span.end, float) - span.start
        period = (below >> U(64 - self.BITS)).astype(np.int64) - (1 << (self.BITS - 1))
        before = np.clip((period * float(self.lead.period_s) - start) / length, 0.0, 1.0)
        through = np.clip(((period + 1) * float(self.lead.period_s) - start) / length, 0.0, 1.0)
        return before + (through - before) * self.inner.share(below << U(self.BITS), span)

    def at(self, j: int, k: int) -> int:
        past = 90 * DAY_S // self.lead.period_s
        return ((1 << (self.BITS - 1)) - past + past * j // k) << (64 - self.BITS)

    def learnt(self, pieces: int = 64) -> list[int]:
        return self.even(8)

    def text(self, code: int) -> str:
        period = (code >> (64 - self.BITS)) - (1 << (self.BITS - 1))
        rest = (code << self.BITS) & LAST
        since = min(max(period * self.lead.period_s, -CENTURY_S), CENTURY_S)  # codes go further than calendars do
        moment = CLOCK_START + timedelta(seconds=since)
        shown = f"{moment:%Y-%m-%d}" if self.lead.period_s == DAY_S else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
        inside = 0 < rest < KEY_SPACE - (1 << self.BITS)  # neither where the period begins nor where it ends
        return f'"{shown}"' + (f", {self.inner.text(rest)}" if inside else "")

    @property
    def fan_out(self) -> int | None:
        """Periods lie in order, whatever stands behind them: a stretch of time is one range of whole periods."""
        return 1

    def __str__(self) -> str:
        return f"({self.lead}, {self.inner})"


ROW = HotRow(0)
"""What is left when all key columns are packed: one row."""


def fills(column: Key) -> bool:
    """True for a column that takes all bits that are left, so that the columns behind it change nothing."""
    return not isinstance(unturned(column), Values | Const | Null | Every)


def pack(columns: list[Key]) -> Key:
    """The law of a key from the laws of its columns, in key order.

    A column with values in front cuts the key space and leaves the rest to the columns behind; a column that takes all
    64 bits (a time, a random id) decides alone, and what stands behind it changes nothing.
    """
    if not columns:
        return ROW
    first, rest = columns[0], columns[1:]
    turned, plain = isinstance(first, Desc), unturned(first)
    if isinstance(plain, Const):
        return pack(rest)
    if isinstance(plain, Null):
        branches = [(plain.portion, pack(rest)), (1 - plain.portion, pack([descending(plain.inner, turned), *rest]))]
        branches = branches[::-1] if turned else branches  # NULL comes first, and last in DESC
        weights, keys = zip(*branches, strict=True)
        return Branches(weights, keys, tuple(columns))
    if isinstance(plain, Every):
        return Desc(Periods(plain, descending(pack(rest)))) if turned else Periods(plain, pack(rest))
    if isinstance(plain, Shard) and plain.of is not None and rest and unturned(rest[0]) is plain.of:
        lead = ShardAndValue(shard=plain, turned=(turned, isinstance(rest[0], Desc)))
        return Prefixed(lead, pack(undecided(rest[1:], plain.of)))
    if isinstance(plain, Values):
        return Prefixed(Descending(inner=plain) if turned else plain, pack(undecided(rest, plain)))
    return first


def unturned(column: Key) -> Key:
    """The law of a column without its direction."""
    return column.inner if isinstance(column, Desc) else column


def undecided(columns: list[Key], known: Values) -> list[Key]:
    """The columns without the shards of a column in front of them: where that has one value, they have one too."""

    def decided(column: Key) -> bool:
        plain = unturned(column)
        return isinstance(plain, Shard) and plain.of is known

    return [column for column in columns if not decided(column)]


def locate(columns: list[Key], values: list[object]) -> int:
    """The code of a key whose column values are written out, such as a split point; packed as `pack` does it."""
    if not columns:
        return 0
    turned, plain = isinstance(columns[0], Desc), unturned(columns[0])
    if isinstance(plain, Const):
        return locate(columns[1:], values[1:])
    code = plain.code_of(values[0])
    if not isinstance(plain, Values):
        return LAST - code if turned else code
    place = (1 << plain.bits) - 1 - code if turned else code
    return place << (64 - plain.bits) | locate(columns[1:], values[1:]) >> plain.bits


def descending(key: Key, desc: bool = True) -> Key:
    """The key, turned round where `desc` says so."""
    if not desc:
        return key
    return key.inner if isinstance(key, Desc) else Desc(key)
