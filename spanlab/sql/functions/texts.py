"""Functions of STRING and BYTES. A STRING is counted in characters (code points), from 1; BYTES in bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from functools import lru_cache
from typing import Any

from spanlab.farmhash import farm_fingerprint, farm_fingerprint_array
from spanlab.sql.functions.registry import Fault, function
from spanlab.values import STRING_MAX_CHARACTERS, Type, text_of

Text = Any
"""str or bytes; the arguments of a call are all of one kind."""

function("FARM_FINGERPRINT(STRING) -> INT64", "FARM_FINGERPRINT(BYTES) -> INT64", array=farm_fingerprint_array)(
    farm_fingerprint
)


def _as_bytes(value: Text) -> bytes:
    return value.encode() if isinstance(value, str) else value


@function("SHA256(STRING) -> BYTES", "SHA256(BYTES) -> BYTES")
def sha256(value: Text) -> bytes:
    return hashlib.sha256(_as_bytes(value)).digest()


@function("SHA512(STRING) -> BYTES", "SHA512(BYTES) -> BYTES")
def sha512(value: Text) -> bytes:
    return hashlib.sha512(_as_bytes(value)).digest()


@function("SHA1(STRING) -> BYTES", "SHA1(BYTES) -> BYTES")
def sha1(value: Text) -> bytes:
    return hashlib.sha1(_as_bytes(value), usedforsecurity=False).digest()


@function("MD5(STRING) -> BYTES", "MD5(BYTES) -> BYTES")
def md5(value: Text) -> bytes:
    return hashlib.md5(_as_bytes(value), usedforsecurity=False).digest()


@function("CONCAT(STRING, …) -> STRING", "CONCAT(BYTES, …) -> BYTES")
@function("||(STRING, STRING) -> STRING", "||(BYTES, BYTES) -> BYTES", "||(ARRAY, ARRAY) -> ARRAY")
def concat(*values: Text) -> Text:
    joined = values[0]
    for value in values[1:]:
        joined = joined + value
    return joined


@function("LOWER(STRING) -> STRING")
def lower(value: str) -> str:
    return value.lower()


@function("UPPER(STRING) -> STRING")
def upper(value: str) -> str:
    return value.upper()


@function("LENGTH(STRING) -> INT64", "LENGTH(BYTES) -> INT64", "CHAR_LENGTH(STRING) -> INT64")
def length(value: Text) -> int:
    return len(value)


@function("BYTE_LENGTH(STRING) -> INT64", "BYTE_LENGTH(BYTES) -> INT64")
def byte_length(value: Text) -> int:
    return len(_as_bytes(value))


@function("SUBSTR(STRING, INT64, [INT64]) -> STRING", "SUBSTR(BYTES, INT64, [INT64]) -> BYTES")
def substr(value: Text, position: int, count: int | None = None) -> Text:
    """From `position` on, at most `count`; a negative position counts from the end, a place before the start is 1."""
    if count is not None and count < 0:
        raise Fault(f"a negative length: SUBSTR({value!r}, {position}, {count})")
    size = len(value)
    start = position - 1 if position > 0 else size + position if -size <= position < 0 else 0
    return value[start:] if count is None else value[start : start + count]


@function("STARTS_WITH(STRING, STRING) -> BOOL", "STARTS_WITH(BYTES, BYTES) -> BOOL")
def starts_with(value: Text, prefix: Text) -> bool:
    return bool(value.startswith(prefix))


@function("ENDS_WITH(STRING, STRING) -> BOOL", "ENDS_WITH(BYTES, BYTES) -> BOOL")
def ends_with(value: Text, suffix: Text) -> bool:
    return bool(value.endswith(suffix))


@function("STRPOS(STRING, STRING) -> INT64", "STRPOS(BYTES, BYTES) -> INT64")
def strpos(value: Text, part: Text) -> int:
    """The place of `part` in `value`, counted from 1; 0 where it is not there."""
    return int(value.find(part)) + 1


@function("TRIM(STRING, [STRING]) -> STRING", "TRIM(BYTES, BYTES) -> BYTES")
def trim(value: Text, letters: Text | None = None) -> Text:
    return value.strip(letters)


@function("LTRIM(STRING, [STRING]) -> STRING", "LTRIM(BYTES, BYTES) -> BYTES")
def ltrim(value: Text, letters: Text | None = None) -> Text:
    return value.lstrip(letters)


@function("RTRIM(STRING, [STRING]) -> STRING", "RTRIM(BYTES, BYTES) -> BYTES")
def rtrim(value: Text, letters: Text | None = None) -> Text:
    return value.rstrip(letters)


def _within_limit(size: int, call: str) -> None:
    if size > STRING_MAX_CHARACTERS:
        raise Fault(f"{call} would have {size:,} characters; a STRING holds {STRING_MAX_CHARACTERS:,}")


@function("REPLACE(STRING, STRING, STRING) -> STRING", "REPLACE(BYTES, BYTES, BYTES) -> BYTES")
def replace(value: Text, old: Text, new: Text) -> Text:
    if not old:
        return value
    _within_limit(len(value) + value.count(old) * (len(new) - len(old)), "REPLACE")
    return value.replace(old, new)


@function("REPEAT(STRING, INT64) -> STRING", "REPEAT(BYTES, INT64) -> BYTES")
def repeat(value: Text, times: int) -> Text:
    if times < 0:
        raise Fault(f"a negative count: REPEAT({value!r}, {times})")
    _within_limit(len(value) * times, "REPEAT")
    return value * times if value else value


@function("REVERSE(STRING) -> STRING", "REVERSE(BYTES) -> BYTES", "ARRAY_REVERSE(ARRAY) -> ARRAY")
def reverse(value: Any) -> Any:
    return value[::-1]


def _padding(value: Text, size: int, pattern: Text | None, call: str) -> Text:
    pattern = (" " if isinstance(value, str) else b" ") if pattern is None else pattern
    if size < 0 or not pattern:
        raise Fault(f"{call} needs a length of 0 or more and a pattern that is not empty")
    _within_limit(size, call)
    missing = max(0, size - len(value))
    return (pattern * (missing // len(pattern) + 1))[:missing]


@function("LPAD(STRING, INT64, [STRING]) -> STRING", "LPAD(BYTES, INT64, [BYTES]) -> BYTES")
def lpad(value: Text, size: int, pattern: Text | None = None) -> Text:
    return (_padding(value, size, pattern, "LPAD") + value)[:size]


@function("RPAD(STRING, INT64, [STRING]) -> STRING", "RPAD(BYTES, INT64, [BYTES]) -> BYTES")
def rpad(value: Text, size: int, pattern: Text | None = None) -> Text:
    return (value + _padding(value, size, pattern, "RPAD"))[:size]


@function("SPLIT(STRING, [STRING]) -> ARRAY<STRING>")
def split(value: str, separator: str = ",") -> list[str]:
    return value.split(separator) if separator else list(value)


@function("ARRAY_TO_STRING(ARRAY<STRING>, STRING, [STRING]) -> STRING")
def array_to_string(values: list[str | None], separator: str, for_null: str | None = None) -> str:
    """The elements joined; NULLs are left out, or shown as `for_null`."""
    shown = [for_null if value is None else value for value in values]
    return separator.join(value for value in shown if value is not None)


@function("TO_HEX(BYTES) -> STRING")
def to_hex(value: bytes) -> str:
    return value.hex()


@function("FROM_HEX(STRING) -> BYTES")
def from_hex(value: str) -> bytes:
    try:
        return binascii.unhexlify("0" * (len(value) % 2) + value)
    except (binascii.Error, ValueError):
        raise Fault(f"{value!r} has letters that are no hexadecimal digits") from None


@function("TO_BASE64(BYTES) -> STRING")
def to_base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


@function("FROM_BASE64(STRING) -> BYTES")
def from_base64(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Fault(f"{value!r} is no base64") from None


# ---- patterns ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _like_pattern(pattern: Text) -> re.Pattern[Any]:
    """LIKE as a regular expression: % is any text, _ any character, a backslash takes the next letter as it is."""
    kind = str if isinstance(pattern, str) else bytes
    letters = [pattern[i : i + 1] for i in range(len(pattern))]
    parts, escaped = [], False
    for letter in letters:
        plain = letter if isinstance(letter, str) else letter.decode("latin-1")
        if escaped or plain not in ("\\", "%", "_"):
            parts.append(re.escape(plain))
            escaped = False
        elif plain == "\\":
            escaped = True
        else:
            parts.append(".*?" if plain == "%" else ".")
    if escaped:
        raise Fault(f"the LIKE pattern {pattern!r} ends with a backslash")
    regex = "".join(parts)
    return re.compile(regex if kind is str else regex.encode("latin-1"), re.DOTALL)


@function("LIKE(STRING, STRING) -> BOOL", "LIKE(BYTES, BYTES) -> BOOL")
def like(value: Text, pattern: Text) -> bool:
    return _like_pattern(pattern).fullmatch(value) is not None


_NOT_IN_RE2 = re.compile(r"\(\?(<?[=!]|>|P=|\()|\\[1-9]|[*+?}]\+")


@lru_cache(maxsize=1024)
def _regular_expression(pattern: Text) -> re.Pattern[Any]:
    shown = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    plain = re.sub(r"\\\\|\[[^\]]*\]", "", shown)
    if _NOT_IN_RE2.search(plain):
        raise Fault(f"the regular expression {shown!r} uses what RE2 does not know (look-around, back-reference …)")
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Fault(f"the regular expression {shown!r} cannot be read: {error}") from None


@function("REGEXP_CONTAINS(STRING, STRING) -> BOOL", "REGEXP_CONTAINS(BYTES, BYTES) -> BOOL")
def regexp_contains(value: Text, pattern: Text) -> bool:
    return _regular_expression(pattern).search(value) is not None


@function("REGEXP_EXTRACT(STRING, STRING) -> STRING", "REGEXP_EXTRACT(BYTES, BYTES) -> BYTES")
def regexp_extract(value: Text, pattern: Text) -> Text:
    regex = _regular_expression(pattern)
    if regex.groups > 1:
        raise Fault(f"the regular expression {pattern!r} has {regex.groups} groups; REGEXP_EXTRACT takes one")
    match = regex.search(value)
    return None if match is None else match[regex.groups]


@function("REGEXP_REPLACE(STRING, STRING, STRING) -> STRING", "REGEXP_REPLACE(BYTES, BYTES, BYTES) -> BYTES")
def regexp_replace(value: Text, pattern: Text, new: Text) -> Text:
    regex = _regular_expression(pattern)
    template = new if isinstance(new, str) else new.decode("latin-1")
    if re.search(r"\\(?![0-9\\])", template):
        raise Fault(f"the replacement {template!r} has a backslash that is followed by no digit")
    if any(int(digit) > regex.groups for digit in re.findall(r"(?<!\\)(?:\\\\)*\\([0-9])", template)):
        raise Fault(f"the replacement {template!r} names a group that {pattern!r} does not have")
    python = re.sub(r"\\([0-9])", r"\\g<\1>", template)
    return regex.sub(python if isinstance(new, str) else python.encode("latin-1"), value)


_FORMAT = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d+)?(?:\.(?P<precision>\d+))?(?P<kind>[a-zA-Z%])")


def format_text(template: str, values: list[tuple[Type, object]]) -> str:
    """FORMAT for %d %i %s %t %f %e %g %x %X %o %%; the rest of its letters lie outside the course."""
    remaining = iter(values)

    def shown(match: re.Match[str]) -> str:
        kind = match["kind"]
        if kind == "%":
            return "%"
        if int(match["width"] or 0) > 100_000 or int(match["precision"] or 0) > 1000:
            raise Fault(f"FORMAT: the width of {match[0]} is too large")
        type_, value = next(remaining, (None, None))
        if type_ is None:
            raise Fault(f"FORMAT: too few arguments for {template!r}")
        wanted = {
            "d": ("INT64",),
            "i": ("INT64",),
            "x": ("INT64",),
            "X": ("INT64",),
            "o": ("INT64",),
            "s": ("STRING", "BYTES"),
        }
        allowed = wanted.get(
            kind, ("FLOAT64", "FLOAT32", "NUMERIC") if kind in "feEgG" else None if kind == "t" else ()
        )
        if allowed is not None and type_.name not in allowed:
            raise Fault(f"FORMAT: {match[0]} does not take a value of type {type_}")
        try:
            text = value if kind in "dixXofeEgG" else text_of(type_, value)
        except ValueError as error:
            raise Fault(f"FORMAT: {error}") from None
        return (match[0][:-1] + ("s" if kind == "t" else kind)) % (text,)

    return _FORMAT.sub(shown, template)
