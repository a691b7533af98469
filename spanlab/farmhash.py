"""FARM_FINGERPRINT and BIT_REVERSE: the two functions that scatter keys.

FARM_FINGERPRINT turns any text into a 64-bit number that looks random, yet is the same for ever: a shard column at the
head of a key is made of it (facts.md 2.4). BIT_REVERSE mirrors the bits of a number, so that a counter, whose fast bits
are its low ones, spreads over the whole range (facts.md 2.3): it is what Spanner's own sequences do.

FARM_FINGERPRINT is Fingerprint64 of FarmHash, read as a signed INT64. Its arithmetic is written once, below, for whole
numbers modulo 2^64: those of numpy, which wrap by themselves and hash thousands of texts of one length at once, and
those of Python, where only the low 64 bits are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Fetch = Callable[..., Any]
    """`fetch(at, width=8)`: the little-endian word at that byte, of one text or of all texts."""

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_LOW_64 = 2**64 - 1
_ROWS_AT_ONCE = 8192
"""Texts hashed in one go: their intermediate words then stay in the processor's cache."""

_FEW_TEXTS = 8
"""Below this many texts of one length, Python's own numbers are quicker than numpy's."""


def farm_fingerprint(value: str | bytes) -> int:
    """FARM_FINGERPRINT(value): a signed INT64. A STRING is hashed as UTF-8 (facts.md 2.4).

    >>> farm_fingerprint("1footrue")
    -1541654101129638711
    """
    text = _as_bytes(value)
    return _as_signed(_fingerprint(lambda at, width=8: int.from_bytes(text[at : at + width], "little"), len(text)))


def farm_fingerprint_array(values: NDArray[Any] | Sequence[str | bytes]) -> NDArray[np.int64]:
    """FARM_FINGERPRINT of every value, as int64 of shape (n,).

    `values` holds n texts (str or bytes, of any lengths), or is a uint8 array of shape (n, length): n texts of one
    length, which is the fastest form (about 12 ns a text of 26 bytes).
    """
    if isinstance(values, np.ndarray) and values.dtype == np.uint8 and values.ndim == 2:
        return _hash_rows(np.ascontiguousarray(values)).view(np.int64)
    texts = values.tolist() if isinstance(values, np.ndarray) else list(values)
    data, lengths = _concatenate(texts)
    starts = np.cumsum(lengths) - lengths
    hashes = np.empty(len(texts), np.uint64)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        chosen = np.flatnonzero(lengths == length)
        if len(chosen) < _FEW_TEXTS:
            hashes[chosen] = [farm_fingerprint(texts[index]) & _LOW_64 for index in chosen]
        elif len(chosen) == len(texts) or length == 0:
            hashes[chosen] = _hash_rows(data[: len(chosen) * length].reshape(len(chosen), length))
        else:
            hashes[chosen] = _hash_rows(np.lib.stride_tricks.sliding_window_view(data, length)[starts[chosen]])
    return hashes.view(np.int64)


def bit_reverse(value: int, preserve_sign: bool) -> int:
    """BIT_REVERSE(value, preserve_sign): the bits of an INT64 in opposite order (facts.md 2.3).

    With `preserve_sign` the sign stays and the other 63 bits turn round, as in a bit_reversed_positive sequence;
    without it all 64 do.

    >>> bit_reverse(1, True) == 2**62, bit_reverse(1, False) == -2**63
    (True, True)
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not -(2**63) <= value < 2**63:
        raise ValueError(f"value: {value!r} is no INT64; give a whole number from -2^63 to 2^63 - 1")
    if not isinstance(preserve_sign, (bool, np.bool_)):
        raise ValueError(f"preserve_sign: {preserve_sign!r} is neither True nor False; BIT_REVERSE needs one of them")
    bits = int(value) & _LOW_64
    sign = bits & 2**63 if preserve_sign else 0
    turned = int(f"{bits - sign:064b}"[::-1], 2)
    return _as_signed(sign | turned >> 1 if preserve_sign else turned)


def bit_reverse_array(values: NDArray[np.int64], preserve_sign: bool) -> NDArray[np.int64]:
    """BIT_REVERSE of every INT64 of the array; shape and type stay (facts.md 2.3)."""
    bits = np.asarray(values, np.int64).view(np.uint64)
    turned = (bits << 1 if preserve_sign else bits).byteswap()
    for distance, mask in ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555)):
        high = turned >> distance
        high &= mask
        turned &= mask
        turned <<= distance
        turned |= high
    if preserve_sign:  # bit 63 is free: the low 63 bits came in shifted up by one, and the sign fell out
        turned |= bits & 2**63
    return turned.view(np.int64)


# ---- texts to words ----------------------------------------------------------------------------------------------


def _as_bytes(value: object) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"value: {value!a} is no valid Unicode text (half a surrogate pair)") from None
    if not isinstance(value, bytes):
        raise ValueError(f"value: FARM_FINGERPRINT takes a STRING or BYTES (str or bytes), not {value!r}")
    return value


def _as_signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _concatenate(texts: list[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All bytes of all texts one after the other, and the number of bytes of each."""
    try:
        joined = "".join(texts)
        pieces = texts if joined.isascii() else [_as_bytes(text) for text in texts]
        data = joined.encode() if joined.isascii() else b"".join(pieces)
    except TypeError:  # not all of them are str
        pieces = [_as_bytes(text) for text in texts]
        data = b"".join(pieces)
    return np.frombuffer(data, np.uint8), np.fromiter(map(len, pieces), np.int64, len(pieces))


def _hash_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Fingerprints of texts of one length, a text a row."""
    hashes = np.empty(len(rows), np.uint64)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[first : first + _ROWS_AT_ONCE]

        def fetch(at: int, width: int = 8, block: NDArray[np.uint8] = block) -> NDArray[np.uint64]:
            return block[:, at : at + width].view(f"<u{width}")[:, 0].astype(np.uint64)

        hashes[first : first + _ROWS_AT_ONCE] = _fingerprint(fetch, rows.shape[1])
    return hashes


# ---- FarmHash Fingerprint64 --------------------------------------------------------------------------------------
# Numbers below are words modulo 2^64: uint64 arrays or Python ints. Statements such as `x += y` change an array in
# place, which spares memory traffic; the array is always one that the same function has just made.


def _rotate(word: Any, by: int) -> Any:
    """The word turned right by that many bits."""
    if isinstance(word, int):
        word &= _LOW_64
        return (word >> by) | (word << (64 - by)) & _LOW_64
    turned = word >> by
    turned |= word << (64 - by)
    return turned


def _fold(word: Any) -> Any:
    """The word with its high bits mixed into its low ones."""
    if isinstance(word, int):
        word &= _LOW_64
    return word ^ (word >> 47)


def _combine(first: Any, second: Any, multiplier: Any) -> Any:
    """Two words made one."""
    word = _fold((first ^ second) * multiplier)
    word ^= second
    word *= multiplier
    word = _fold(word)
    word *= multiplier
    return word


def _fingerprint(fetch: Fetch, length: int) -> Any:
    """The fingerprint of texts of that many bytes: each range of lengths has a way of its own."""
    if length > 64:
        result = _above_64(fetch, length)
    elif length > 32:
        result = _33_to_64(fetch, length)
    elif length > 16:
        result = _17_to_32(fetch, length)
    elif length >= 8:
        result = _8_to_16(fetch, length)
    elif length >= 4:
        result = _combine((fetch(0, 4) << 3) + length, fetch(length - 4, 4), _K2 + 2 * length)
    elif length > 0:
        result = _1_to_3(fetch, length)
    else:
        result = _K2
    return result & _LOW_64 if isinstance(result, int) else result


def _1_to_3(fetch: Fetch, length: int) -> Any:
    first = fetch(0, 1) + (fetch(length >> 1, 1) << 8)
    last = (fetch(length - 1, 1) << 2) + length
    return _fold((first * _K2) ^ (last * _K0)) * _K2


def _8_to_16(fetch: Fetch, length: int) -> Any:
    multiplier = _K2 + 2 * length
    start, end = fetch(0), fetch(length - 8)
    start += _K2
    first = _rotate(end, 37)
    first *= multiplier
    first += start
    second = _rotate(start, 25)
    second += end
    second *= multiplier
    return _combine(first, second, multiplier)


def _17_to_32(fetch: Fetch, length: int) -> Any:
    multiplier = _K2 + 2 * length
    a, b, c, d = fetch(0), fetch(8), fetch(length - 8), fetch(length - 16)
    a *= _K1
    c *= multiplier
    d *= _K2
    first = _rotate(a + b, 43)
    first += _rotate(c, 30)
    first += d
    b += _K2
    second = _rotate(b, 18)
    second += a
    second += c
    return _combine(first, second, multiplier)


def _33_to_64(fetch: Fetch, length: int) -> Any:
    multiplier = _K2 + 2 * length
    a, b, c, d = fetch(0), fetch(8), fetch(length - 8), fetch(length - 16)
    a *= _K2
    c *= multiplier
    d *= _K2
    y = _rotate(a + b, 43)
    y += _rotate(c, 30)
    y += d
    b += _K2
    z = _rotate(b, 18)
    z += a
    z += c
    z = _combine(y, z, multiplier)
    e, f, g, h = fetch(16), fetch(24), fetch(length - 32), fetch(length - 24)
    e *= multiplier
    g += y
    g *= multiplier
    h += z
    h *= multiplier
    first = _rotate(e + f, 43)
    first += _rotate(g, 30)
    first += h
    f += a
    second = _rotate(f, 18)
    second += e
    second += g
    return _combine(first, second, multiplier)


def _above_64(fetch: Fetch, length: int) -> Any:
    """64 bytes a step, the last step on the last 64 bytes (which overlap the step before)."""
    zero = fetch(0) * 0
    seed = 81
    x = fetch(0) + (seed * _K2 & _LOW_64)
    y = zero + (seed * _K1 + 113 & _LOW_64)
    z = _fold(y * _K2 + 113) * _K2
    v = w = (zero, zero)
    end = (length - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _absorb(fetch, at, x, y, z, v, w, _K1, 1)
    multiplier = ((z & 0xFF) << 1) + _K1
    w_first = w[0] + ((length - 1) & 63)
    v = (v[0] + w_first, v[1])
    w = (w_first + v[0], w[1])
    x, y, z, v, w = _absorb(fetch, length - 64, x, y, z, v, w, multiplier, 9)
    left = _combine(v[0], w[0], multiplier) + _fold(y) * _K0 + z
    right = _combine(v[1], w[1], multiplier) + x
    return _combine(left, right, multiplier)


def _absorb(
    fetch: Fetch, at: int, x: Any, y: Any, z: Any, v: tuple[Any, Any], w: tuple[Any, Any], multiplier: Any, weight: int
) -> tuple[Any, Any, Any, tuple[Any, Any], tuple[Any, Any]]:
    """One step: 64 bytes mixed into the seven words of state."""
    x = _rotate(fetch(at + 8) + x + y + v[0], 37) * multiplier
    y = _rotate(fetch(at + 48) + y + v[1], 42) * multiplier
    x = x ^ (w[1] * weight)
    y = y + v[0] * weight + fetch(at + 40)
    z = _rotate(z + w[0], 33) * multiplier
    v = _absorb_32(fetch, at, v[1] * multiplier, x + w[0])
    w = _absorb_32(fetch, at + 32, z + w[1], fetch(at + 16) + y)
    if isinstance(x, int):
        x, y, z = x & _LOW_64, y & _LOW_64, z & _LOW_64
    return z, y, x, v, w


def _absorb_32(fetch: Fetch, at: int, a: Any, b: Any) -> tuple[Any, Any]:
    """32 bytes mixed into a pair of words."""
    last = fetch(at + 24)
    first = fetch(at) + a
    total = first + fetch(at + 8) + fetch(at + 16)
    turned = _rotate(first + b + last, 21) + _rotate(total, 44)
    pair = total + last, turned + first
    return (pair[0] & _LOW_64, pair[1] & _LOW_64) if isinstance(last, int) else pair
