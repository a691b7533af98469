"""The order of keys: which of two values Spanner keeps first (facts.md 2.1)."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from spanlab.values.coercing import coerce
from spanlab.values.fitting import check_value
from spanlab.values.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_NULL, _VALUE, _END = b"\x00", b"\x01", b"\x00\x00"
_COMPLEMENT = bytes(255 - byte for byte in range(256))
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXACT = Context(prec=100)
_pack_unsigned = struct.Struct(">Q").pack
_pack_double, _unpack_signed = struct.Struct(">d").pack, struct.Struct(">q").unpack


def _encode_bool(value: object) -> bytes:
    return b"\x01\x01" if value else b"\x01\x00"


def _encode_integer(value: object) -> bytes:
    return _VALUE + _pack_unsigned(cast(int, value) + 2**63)


def _encode_float(value: object) -> bytes:
    number = float(cast(float, value))
    if number != number:
        return _VALUE + bytes(8)  # NaN is smaller than every number, and one value however its bits look
    (bits,) = _unpack_signed(_pack_double(number + 0.0))  # + 0.0 turns -0 into 0
    return _VALUE + _pack_unsigned(bits + 2**63 if bits >= 0 else ~bits)


def _encode_numeric(value: object) -> bytes:
    scaled = int(Decimal(cast(Decimal, value)).scaleb(9, _EXACT))
    return _VALUE + (scaled + 2**127).to_bytes(16, "big")


def _encode_bytes(value: object) -> bytes:
    # the end is two zero bytes; a zero byte inside becomes 00 FF: greater than the end, smaller than any other byte
    return _VALUE + cast(bytes, value).replace(b"\x00", b"\x00\xff") + _END


def _encode_string(value: object) -> bytes:
    return _encode_bytes(cast(str, value).encode())  # the order of UTF-8 bytes is the order of code points


def _encode_date(value: object) -> bytes:
    return _VALUE + cast(date, value).toordinal().to_bytes(4, "big")


def _encode_timestamp(value: object) -> bytes:
    return _encode_integer((cast(datetime, value) - _UNIX_EPOCH) // _MICROSECOND)


def _encode_uuid(value: object) -> bytes:
    return _VALUE + bytes.fromhex(cast(str, value).replace("-", ""))


_ENCODERS: dict[str, Callable[[object], bytes]] = {
    "BOOL": _encode_bool, "INT64": _encode_integer, "FLOAT64": _encode_float, "FLOAT32": _encode_float,
    "NUMERIC": _encode_numeric, "STRING": _encode_string, "BYTES": _encode_bytes, "DATE": _encode_date,
    "TIMESTAMP": _encode_timestamp, "UUID": _encode_uuid,
}  # fmt: skip


def _encoder(type_: Type) -> Callable[[object], bytes]:
    encoder = _ENCODERS.get(type_.name) or (_encode_integer if "." in type_.name else None)  # an ENUM sorts by number
    if encoder is None:
        raise ValueError(f"type: values of {type_} have no order in Spanner, so they cannot be part of a key")
    return encoder


@lru_cache(maxsize=4096)
def key_encoder(types: tuple[Type, ...], descs: tuple[bool, ...]) -> Callable[[Sequence[object]], bytes]:
    """The function that encodes keys, or prefixes of keys, whose parts have these types and directions.

    What it makes are bytes, ordered as Spanner orders the keys. The bytes of a prefix are a prefix of the bytes of
    exactly the keys that begin with it. FLOAT32, which no key may hold, is let through: queries sort by it.
    """
    parts = tuple(zip(map(_encoder, types), descs, strict=True))

    def encode(values: Sequence[object]) -> bytes:
        key = b""
        try:
            for value, (encoder, desc) in zip(values, parts, strict=False):
                part = _NULL if value is None else encoder(value)
                key += part.translate(_COMPLEMENT) if desc else part
        except (TypeError, ValueError, AttributeError, OverflowError, struct.error, InvalidOperation):
            for value, type_ in zip(values, types, strict=False):
                check_value(type_, value)
            raise
        return key

    return encode


@lru_cache(maxsize=4096)
def keys_encoder(
    types: tuple[Type, ...], descs: tuple[bool, ...]
) -> Callable[[Sequence[Sequence[object]]], list[bytes]]:
    """As `key_encoder`, for many whole keys at once: part by part, which takes a fraction of the time."""
    one = key_encoder(types, descs)
    parts = tuple(zip(map(_encoder, types), descs, strict=True))

    def encode(keys: Sequence[Sequence[object]]) -> list[bytes]:
        try:
            encoded = [
                _encoded_part(encoder, desc, values)
                for (encoder, desc), values in zip(parts, zip(*keys, strict=True), strict=True)
            ]
        except (TypeError, ValueError, AttributeError, OverflowError, struct.error, InvalidOperation):
            return [one(key) for key in keys]  # says which value is wrong
        return encoded[0] if len(encoded) == 1 else list(map(b"".join, zip(*encoded, strict=True)))

    return encode if types else lambda keys: [b""] * len(keys)


def _encoded_part(encoder: Callable[[object], bytes], desc: bool, values: Sequence[object]) -> list[bytes]:
    """One part of many keys."""
    if encoder is _encode_string and None not in values and "\x00" not in "".join(cast("Sequence[str]", values)):
        encoded = [_VALUE + cast(str, value).encode() + _END for value in values]
    else:
        encoded = [_NULL if value is None else encoder(value) for value in values]
    return [part.translate(_COMPLEMENT) for part in encoded] if desc else encoded


def encode_key(values: Sequence[object], types: Sequence[Type], descs: Sequence[bool] | None = None) -> bytes:
    """A key, or the first parts of one, as bytes whose plain order is Spanner's key order (facts.md 2.1).

    `values` may be shorter than `types`: then it is a prefix, and its bytes begin the bytes of all keys that begin
    with it. `descs` says which parts are DESC; all are ASC without it. Raises ValueError for a value that is not of its
    type, and for types that have no order (ARRAY, JSON).
    """
    if len(values) > len(types):
        raise ValueError(f"values: {len(values)} given for a key of {len(types)} parts")
    return key_encoder(tuple(types), tuple(descs) if descs is not None else (False,) * len(types))(values)


def compare(type_: Type | str, left: object, right: object, desc: bool = False) -> int:
    """-1, 0 or 1 as `left` stands before, at or after `right` in a key part of that type (facts.md 2.1)."""
    kind = Type.parse(type_) if isinstance(type_, str) else type_
    a, b = (encode_key((coerce(kind, value),), (kind,), (desc,)) for value in (left, right))
    return (a > b) - (a < b)


def sort_keys(type_: Type | str, values: Iterable[object], desc: bool = False) -> list[object]:
    """The values in the order in which Spanner keeps them in a key part of that type (facts.md 2.1).

    NULL is None: first in an ascending part, last in a descending one.

    >>> sort_keys("STRING(MAX)", ["9", "10", "2", None, "a", "A"])
    [None, '10', '2', '9', 'A', 'a']
    """
    kind = Type.parse(type_) if isinstance(type_, str) else type_
    return sorted(values, key=lambda value: encode_key((coerce(kind, value),), (kind,), (desc,)))
