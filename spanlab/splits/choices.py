"""Columns with a number of values: users, devices, countries, hash shards.

As the leading column of a key such a column cuts the key space into one range for each value, and the column behind it
decides within. So what matters is how many values there are, and which share of the writes the biggest of them has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from spanlab.splits.keys import Codes, Key, U, written


class Values(Key):
    """A column with a number of values, each with its share of the writes.

    As a leading column it cuts the key space into one range for each value. Values have no place of their own in the
    key space, so they are laid out evenly: up to 64 of them side by side, more of them with gaps, the popular ones at
    places that `seed` decides.
    """

    SIDE_BY_SIDE: ClassVar[int] = 64
    seed: int = 1

    def weights(self) -> np.ndarray:
        """The share of each value, in the order of the values' names."""
        raise NotImplementedError

    def label(self, rank: int) -> str:
        """The value at a place of the order, as text."""
        return str(rank)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of the writes of each value, in key order; they add up to 1."""
        weights = self.weights()
        if len(weights) > self.SIDE_BY_SIDE and (weights != weights[0]).any():
            weights = np.random.default_rng(self.seed).permutation(weights)
        return weights / weights.sum()

    @cached_property
    def bits(self) -> int:
        """How many of the 64 bits of a code the column takes."""
        n = len(self.shares)
        return max(1, (n - 1).bit_length()) + (7 if n > self.SIDE_BY_SIDE else 0)

    @cached_property
    def places(self) -> Codes:
        """The place of each value among the 2^bits places, ascending."""
        n = len(self.shares)
        rank = np.arange(n, dtype=U)
        return rank if n <= self.SIDE_BY_SIDE else (rank << U(self.bits)) // U(n)

    @cached_property
    def under(self) -> np.ndarray:
        """The share of all values before each place, with 1 at the end."""
        return np.concatenate([[0.0], np.cumsum(self.shares)])

    @cached_property
    def alike(self) -> bool:
        """All values have the same share."""
        return bool(np.allclose(self.shares, self.shares[0], rtol=1e-9))

    @cached_property
    def side_by_side(self) -> bool:
        """The values are at the places 0, 1, 2 …, without gaps."""
        return int(self.places[-1]) == len(self.shares) - 1

    def pick(self, random40: Codes) -> Codes:
        """The places of values, drawn from random numbers of 40 bits (which are used up)."""
        n = len(self.shares)
        if not self.alike and 16 * len(random40) < n:  # too few to be worth a table
            return self.places[np.searchsorted(self.under[1:-1], random40 / 2.0**40, "right")]
        random40 *= U(n)
        slot = random40 >> U(40)
        if self.alike:
            return slot if self.side_by_side else self.places[slot.view(np.int64)]
        random40 &= U((1 << 40) - 1)
        random40 >>= U(8)
        threshold, own, other = alias_table(self)
        at = slot.view(np.int64)
        keep = random40.astype(np.uint32) < threshold.take(at, mode="clip")
        return np.where(keep, own.take(at, mode="clip"), other.take(at, mode="clip")).astype(U)


@lru_cache(maxsize=16)
def alias_table(values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walker's table, which draws from any shares in one look-up: up to its threshold (of 2^32) a slot stands for the
    first place, above it for the second. Returns thresholds, first and second places."""
    n = len(values.shares)
    left = (values.shares * n).tolist()
    alias, threshold = np.arange(n), np.ones(n)
    small = [i for i, share in enumerate(left) if share < 1]
    large = [i for i, share in enumerate(left) if share >= 1]
    while small and large:
        less, more = small.pop(), large[-1]
        threshold[less], alias[less] = left[less], more
        left[more] -= 1 - left[less]
        if left[more] < 1:
            small.append(large.pop())
    places = values.places.astype(np.uint32 if values.bits <= 32 else U)
    return np.minimum(threshold * 2.0**32, 2.0**32 - 1).astype(np.uint32), places, places[alias]


@dataclass(frozen=True)
class Ids(Values):
    """`n` ids, all equally busy: users, devices, accounts."""

    n: int = 100_000

    def weights(self) -> np.ndarray:
        return np.ones(self.n)

    def label(self, rank: int) -> str:
        return f'"id{rank}"'

    def __str__(self) -> str:
        return f"ids({self.n})"


@dataclass(frozen=True)
class Zipf(Ids):
    """`n` ids whose shares fall as rank ** -theta: few popular ones and a long tail."""

    theta: float = 0.99

    def weights(self) -> np.ndarray:
        return np.arange(1, self.n + 1.0) ** -self.theta

    def __str__(self) -> str:
        return f"zipf({self.n}, {written(self.theta)})"


@dataclass(frozen=True)
class Celebrity(Ids):
    """`n` ids, of which one has `portion` of all writes and the others share the rest evenly."""

    portion: float = 0.1

    def weights(self) -> np.ndarray:
        weights = np.full(self.n, (1 - self.portion) / max(1, self.n - 1))
        weights[0] = self.portion
        return weights

    def __str__(self) -> str:
        return f"celebrity({self.n}, {written(self.portion)})"


@dataclass(frozen=True)
class Pick(Values):
    """One of a few named values, each with its share: a country, a status."""

    options: tuple[tuple[str, float], ...] = ()

    def weights(self) -> np.ndarray:
        return np.array([weight for _, weight in sorted(self.options)], float)

    def label(self, rank: int) -> str:
        return f'"{sorted(self.options)[rank][0]}"'

    def __str__(self) -> str:
        return "pick(" + ", ".join(f"{name}:{written(weight)}" for name, weight in self.options) + ")"


@dataclass(frozen=True)
class Shard(Values):
    """A hash prefix that the designer puts in front of a key: MOD of FARM_FINGERPRINT, so `n` values (facts.md 2.4).

    `signed` is the plain MOD of GoogleSQL, which has the sign of the fingerprint: 2n - 1 values from -(n-1) to n-1, of
    which 0 is twice as heavy. `of` is the column that is hashed, where its values are few enough to matter: all rows
    of one value then fall into one shard. A column is known by its law being the same object: two columns may follow
    laws that are equal.
    """

    n: int = 16
    signed: bool = False
    of: Values | None = None

    @cached_property
    def shard_of(self) -> np.ndarray:
        """The place of the shard of each value of `of`."""
        assert self.of is not None
        hashes = np.random.default_rng(self.seed + 1).integers(-(2**62), 2**62, len(self.of.shares))
        return np.fmod(hashes, self.n) + (self.n - 1) if self.signed else np.mod(hashes, self.n)

    def weights(self) -> np.ndarray:
        if self.of is not None:
            return np.bincount(self.shard_of, self.of.shares, 2 * self.n - 1 if self.signed else self.n)
        if not self.signed:
            return np.ones(self.n)
        weights = np.ones(2 * self.n - 1)
        weights[self.n - 1] = 2.0
        return weights

    @cached_property
    def shares(self) -> np.ndarray:
        weights = self.weights()  # shards are numbers: they stay in their order, however many there are
        return weights / weights.sum()

    def label(self, rank: int) -> str:
        return str(rank - (self.n - 1) if self.signed else rank)

    def code_of(self, value: object) -> int:
        """The place of a shard among the shards."""
        return min(len(self.shares), max(0, int(str(value)) + (self.n - 1 if self.signed else 0)))

    @cached_property
    def places(self) -> Codes:
        return np.arange(len(self.shares), dtype=U)

    @cached_property
    def bits(self) -> int:
        return max(1, (len(self.shares) - 1).bit_length())

    def __str__(self) -> str:
        return f"shard({self.n}, signed)" if self.signed else f"shard({self.n})"


@dataclass(frozen=True)
class Remainders(Shard):
    """MOD of numbers that do not reach over all 64 bits evenly: some of the `n` remainders are rarer, or never occur.

    `numbers` stands for them, each as frequent as the others: 0 to 255 for a byte of a digest, the multiples of 2^k
    below `n` for bit-reversed numbers, whose last bits are zeros.
    """

    numbers: range = range(256)

    @cached_property
    def shard_of(self) -> np.ndarray:
        assert self.of is not None
        return np.random.default_rng(self.seed + 1).choice(self.numbers, len(self.of.shares)) % self.n

    def weights(self) -> np.ndarray:
        if self.of is not None:
            return super().weights()
        return np.bincount(np.array(self.numbers) % self.n, minlength=self.n)

    def __str__(self) -> str:
        present = [(rank, share) for rank, share in enumerate(self.shares) if share > 0]
        return "pick(" + ", ".join(f"{rank}:{written(share)}" for rank, share in present) + ")"


@dataclass(frozen=True)
class ShardAndValue(Values):
    """A shard together with the column that it hashes, as two neighbouring key columns: the values, sorted by shard.

    `turned` says which of the two columns, shard and value, are in descending order.
    """

    shard: Shard = field(default_factory=Shard)
    turned: tuple[bool, bool] = (False, False)

    @property
    def of(self) -> Values:
        """The column that is hashed."""
        assert self.shard.of is not None
        return self.shard.of

    @cached_property
    def _codes(self) -> Codes:
        """The place of each value of the column, in the column's own order."""
        shard, value = self.shard.shard_of.astype(U), self.of.places
        if self.turned[0]:
            shard = U((1 << self.shard.bits) - 1) - shard
        if self.turned[1]:
            value = U((1 << self.of.bits) - 1) - value
        return (shard << U(self.of.bits)) | value

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self._codes)

    @cached_property
    def shares(self) -> np.ndarray:
        return self.of.shares[self._order]

    @cached_property
    def bits(self) -> int:
        return self.shard.bits + self.of.bits

    @cached_property
    def places(self) -> Codes:
        return self._codes[self._order]

    def label(self, rank: int) -> str:
        value = int(self._order[rank])
        return f"{self.shard.label(int(self.shard.shard_of[value]))}, {self.of.label(value)}"

    def __str__(self) -> str:
        shard, value = (" desc" if turned else "" for turned in self.turned)
        return f"{self.shard}{shard}, {self.of}{value}"


@dataclass(frozen=True)
class Descending(Values):
    """A column of values in descending order."""

    inner: Values = field(default_factory=Ids)

    @cached_property
    def shares(self) -> np.ndarray:
        return self.inner.shares[::-1]

    @cached_property
    def bits(self) -> int:
        return self.inner.bits

    @cached_property
    def places(self) -> Codes:
        return (U((1 << self.bits) - 1) - self.inner.places)[::-1]

    def label(self, rank: int) -> str:
        return self.inner.label(len(self.shares) - 1 - rank)

    def __str__(self) -> str:
        return f"{self.inner} desc"
