"""The written form of keys and values: "now", "ulid", "zipf(2000, 1.1)", "(shard(16), now desc)".

A workload is plain data: each column's values are a word. The words are those that the objects of `keys` print, so a
word can be read and an object written. A key of several columns stands in parentheses, in key order; "desc" behind a
column turns its order round.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spanlab.errors import suggest
from spanlab.splits import choices, composite, keys
from spanlab.splits.keys import Key

PLAIN: dict[str, Callable[[], Key]] = {
    "now": keys.Now,
    "commit_timestamp": keys.CommitTimestamp,
    "ulid": keys.Ulid,
    "uuid7": keys.Uuid7,
    "uuid1": keys.Uuid1,
    "uuid4": keys.Uuid4,
    "seq": keys.Sequence,
    "bit_reversed": keys.BitReversed,
    "hot_row": keys.HotRow,
    "date(now)": composite.Every,
}
SHAPES = (
    *PLAIN,
    "ids(n)",
    "zipf(n, theta)",
    "celebrity(n, share)",
    "pick(a:.4, b:.3)",
    "shard(n)",
    "shard(n, signed)",
    "ahead(seconds)",
    "every(seconds)",
    "text(n)",
    "const(x)",
    "null(share, word)",
    "mix(weight: word, weight: word)",
    "(word, word desc)",
)
MOST_IDS = 10_000_000


def value(word: str | Key) -> Key:
    """The law of a written value or key. Objects are handed through.

    Raises ValueError, which says what was given and which words there are, for anything that is no word.
    """
    if isinstance(word, Key):
        return word
    if not isinstance(word, str):
        raise ValueError(f"A value is a word such as 'now' or 'ids(1000)', not {word!r}.")
    text = word.strip()
    if text.casefold().endswith(" desc"):
        return composite.descending(value(text[:-5]))
    if text.startswith("(") and text.endswith(")"):
        return composite.pack([value(part) for part in parts(text[1:-1])])
    if text.casefold() in PLAIN:
        return PLAIN[text.casefold()]()
    match = re.fullmatch(r"(\w+)\s*\((.*)\)", text, re.DOTALL)
    if not match or match[1].casefold() not in READERS:
        names = [shape.split("(")[0] for shape in SHAPES if shape[0] != "("]
        raise ValueError(f"{word!r} is no value word.{suggest(text.split('(')[0], names)} Words: {', '.join(SHAPES)}.")
    return READERS[match[1].casefold()](text, parts(match[2]))


def key(word: str | Key) -> Key:
    """The law of a whole key: a word or a key object, packed into the 64 bits of a code."""
    return composite.pack([value(word)])


def parts(text: str) -> list[str]:
    """The arguments of a word: parted at commas, but not inside parentheses."""
    depth, found = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def _number(text: str, word: str, name: str, low: float, high: float) -> float:
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise ValueError(f"{word!r}: {name} is {text!r}; a number from {low:g} to {high:g} is wanted.")
    return number


def _whole(text: str, word: str, name: str, high: int = MOST_IDS) -> int:
    digits = text.strip().replace("_", "").replace(",", "")
    if not digits.isascii() or not digits.isdigit() or not 1 <= int(digits) <= high:
        raise ValueError(f"{word!r}: {name} is {text!r}; a whole number from 1 to {high:,} is wanted.")
    return int(digits)


def _wants(arguments: list[str], word: str, shape: str) -> None:
    if len(arguments) != len(parts(shape)):
        name = word.split("(")[0].strip()
        raise ValueError(f"{word!r}: write {name}({shape}).")


def _ids(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "n")
    return choices.Ids(_whole(arguments[0], word, "the number of ids"))


def _zipf(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "n, theta")
    n = _whole(arguments[0], word, "the number of ids")
    return choices.Zipf(n, _number(arguments[1], word, "theta", 0, 10))


def _celebrity(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "n, share")
    n = _whole(arguments[0], word, "the number of ids")
    return choices.Celebrity(n, _number(arguments[1], word, "the share of the biggest id", 0, 1))


def _pick(word: str, arguments: list[str]) -> Key:
    options = []
    for argument in arguments:
        name, colon, weight = argument.rpartition(":")
        if not colon or not name.strip():
            raise ValueError(f"{word!r}: {argument!r} is no option; write name:share, as in pick(a:.4, b:.6).")
        options.append((name.strip(), _number(weight.strip(), word, f"the share of {name.strip()}", 0, 1)))
    whole = sum(weight for _, weight in options)
    if abs(whole - 1) > 1e-6:
        raise ValueError(f"{word!r}: the shares add up to {whole:g}; they must add up to 1.")
    if len({name for name, _ in options}) < len(options):
        raise ValueError(f"{word!r}: an option is named twice.")
    return choices.Pick(options=tuple(options))


def _shard(word: str, arguments: list[str]) -> Key:
    signed = arguments[1:] == ["signed"]
    if len(arguments) > 2 or (len(arguments) == 2 and not signed):
        raise ValueError(f"{word!r}: write shard(n) or shard(n, signed).")
    return choices.Shard(n=shard_count(arguments[0], word), signed=signed)


MOST_SHARDS = 4_096


def shard_count(text: str | int, where: str) -> int:
    """A shard count that makes sense: 1 to 4,096, which is twice what the documentation's largest example has."""
    return _whole(str(text), where, "the shard count", MOST_SHARDS)


def _ahead(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "seconds")
    return keys.Ahead(_number(arguments[0], word, "the width in seconds", 1e-3, 5e6))


def _every(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "seconds")
    return composite.Every(_whole(arguments[0], word, "the period in seconds"))


def _text(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "n")
    return keys.Text(_whole(arguments[0], word, "the length"))


def _const(word: str, arguments: list[str]) -> Key:
    return composite.Const(", ".join(arguments))


def _null(word: str, arguments: list[str]) -> Key:
    _wants(arguments, word, "share, word")
    return composite.Null(_number(arguments[0], word, "the share of NULLs", 0, 1), value(arguments[1]))


def _mix(word: str, arguments: list[str]) -> Key:
    read = [argument.partition(":") for argument in arguments]
    if not all(colon and part.strip() for _, colon, part in read):
        raise ValueError(f"{word!r}: write weight: word for each part, as in mix(1: hot_row, 9: uuid4).")
    weights = tuple(_number(weight.strip(), word, "a weight", 0, 1e12) for weight, _, _ in read)
    if not sum(weights):
        raise ValueError(f"{word!r}: one weight at least must be above 0.")
    return composite.Mix(weights, tuple(key(part) for _, _, part in read))


READERS: dict[str, Callable[[str, list[str]], Key]] = {
    "ids": _ids,
    "zipf": _zipf,
    "celebrity": _celebrity,
    "pick": _pick,
    "shard": _shard,
    "ahead": _ahead,
    "every": _every,
    "text": _text,
    "const": _const,
    "null": _null,
    "mix": _mix,
}
