"""What an answer may be. Every answer is plain data: a text, a number, a letter, or a list or dict of these.

A kind reads what a learner handed in. It returns the answer in one fixed form, or raises `WrongKind` with a sentence
that says what was given and what is wanted. Only the exact built-in types count. Objects of other classes are never
asked for anything, because their methods could raise, wait, or lie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

MAX_TEXT = 20_000
MAX_ITEMS = 2_000
MAX_DEPTH = 12
MAX_BITS = 512
"""Bits of a whole number. Python itself refuses to write numbers of thousands of digits."""
_TYPE_NAME = type.__dict__["__name__"]


class WrongKind(Exception):
    """The answer is of another kind than the challenge wants; `str()` is a sentence for the learner."""


def plain(value: object, depth: int = 0) -> Any:
    """A copy of plain data, so that nothing done to the original later can change a mark. Raises WrongKind."""
    if depth > MAX_DEPTH:
        raise WrongKind(f"The answer is nested more than {MAX_DEPTH} deep.")
    kind: Any = type(value)
    if kind is int and value.bit_length() > MAX_BITS:  # type: ignore[attr-defined]
        raise WrongKind("The answer has a number of more than 150 digits in it.")
    if value is None or value is ... or kind in (bool, int, float):
        return value
    if kind is str:
        return _plain_text(str(value))
    if kind in (list, tuple, set, frozenset):
        items: Any = value
        _bound(len(items))
        return kind(plain(item, depth + 1) for item in list(items))
    if kind is dict:
        pairs: Any = value
        _bound(len(pairs))
        return {plain(k, depth + 1): plain(v, depth + 1) for k, v in list(pairs.items())}
    raise WrongKind(_foreign(kind))


def _plain_text(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise WrongKind(f"The answer is a text of {len(text):,} characters; {MAX_TEXT:,} are the most that is read.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise WrongKind("The answer is a text with half a character in it (a lone surrogate).") from None
    return text


def _bound(items: int) -> None:
    if items > MAX_ITEMS:
        raise WrongKind(f"The answer has {items:,} items; {MAX_ITEMS:,} are the most that is read.")


def _foreign(kind: type) -> str:
    name = str(_TYPE_NAME.__get__(kind))
    module = type.__dict__["__module__"].__get__(kind)
    if module == "numpy":
        return f"The answer is a numpy {name}. Wrap it: int(…), float(…) or list(…)."
    if name == "Schema":
        return "The answer is a Schema. Hand in its text: the DDL string itself, or schema.to_ddl()."
    if name in ("function", "builtin_function_or_method", "method", "type"):
        return f"The answer is a {name}, not a value. Are the brackets of the call missing?"
    return f"The answer is an object of class {name[:60]}. Hand in plain data: text, number, list or dict."


def describe(value: Any) -> str:
    """Plain data in a few words, to say what was given: "the number 3", "a list of 5 items"."""
    match value:
        case bool():
            return f"the word {value}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:30]!r}{'…' if len(value) > 30 else ''}"
        case list() | tuple() | set() | frozenset():
            return f"a {type(value).__name__} of {len(value)} item{'s' * (len(value) != 1)}"
        case dict():
            return f"a dict with {len(value)} key{'s' * (len(value) != 1)}"
    return "nothing" if value is None else "the placeholder ..."


def is_open(value: object) -> bool:
    """Whether nothing was answered yet: `...`, None, or a text, list or dict with nothing in it."""
    if value is None or value is ...:
        return True
    if type(value) is str:
        return not value.strip()
    if type(value) in (list, tuple):
        return all(item is None or item is ... for item in value)  # type: ignore[attr-defined]
    if type(value) is dict:
        return all(item is None or item is ... for item in list(value.values()))
    return False


class Kind:
    """A kind of answer. `wants` completes the sentence "This challenge wants …"."""

    wants = "plain data"

    def read(self, value: Any) -> Any:
        """The answer in its fixed form, from plain data. Raises WrongKind."""
        raise NotImplementedError

    def refuse(self, value: Any) -> WrongKind:
        return WrongKind(f"This challenge wants {self.wants}; you gave {describe(value)}.")


@dataclass(frozen=True)
class Text(Kind):
    """A text in some language: DDL or SQL."""

    wants: str = "a text"

    def read(self, value: Any) -> str:
        if type(value) is not str:
            raise self.refuse(value)
        return value


def ddl() -> Text:
    """DDL: one statement or several, separated by semicolons."""
    return Text("DDL as a text in quotes (several statements are separated by ;)")


def sql() -> Text:
    """One query."""
    return Text("one SQL query as a text in quotes")


@dataclass(frozen=True)
class Number(Kind):
    """A finite number; `whole` for counts. The unit is part of the question, so the answer is the bare number."""

    unit: str = ""
    whole: bool = False

    @property
    def wants(self) -> str:  # type: ignore[override]
        return f"a {'whole ' if self.whole else ''}number{f' ({self.unit})' if self.unit else ''}, without quotes"

    def read(self, value: Any) -> float:
        if type(value) is int:
            return value
        if type(value) is float and math.isfinite(value):
            if not self.whole:
                return value
            if value.is_integer() and abs(value) <= 2**53:  # beyond that, a float no longer tells whole numbers apart
                return int(value)
        raise self.refuse(value)


@dataclass(frozen=True)
class Choice(Kind):
    """One letter of several; capital or small does not count."""

    letters: str

    @property
    def wants(self) -> str:  # type: ignore[override]
        return f"one letter of {', '.join(self.letters)}, in quotes"

    def read(self, value: Any) -> str:
        if type(value) is str and len(word := value.strip(" .()")) == 1:
            for letter in self.letters:
                if letter.casefold() == word.casefold():
                    return letter
        raise self.refuse(value)


@dataclass(frozen=True)
class MultiChoice(Kind):
    """Any number of letters, as a list; order and case do not count. Reads as a sorted tuple."""

    letters: str

    @property
    def wants(self) -> str:  # type: ignore[override]
        return (
            f'a list of letters of {self.letters[0]}–{self.letters[-1]}, such as ["{self.letters[0]}", '
            f'"{self.letters[-1]}"]'
        )

    def read(self, value: Any) -> tuple[str, ...]:
        if type(value) is str and 1 < len(value) <= 60:
            words = value.replace(",", " ").split()
            together = len(words) == 1 and set(words[0].casefold()) <= set(self.letters.casefold())
            value = list(words[0]) if together else words
        if type(value) not in (list, tuple, set, frozenset, str):
            raise self.refuse(value)
        one = Choice(self.letters)
        return tuple(sorted({one.read(item) for item in _in_order(value)}, key=self.letters.index))


def _in_order(value: Any) -> list[Any]:
    """The items; those of a set in an order that does not change from run to run, so that the same one is refused."""
    return sorted(value, key=repr) if type(value) in (set, frozenset) else list(value)


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few words, or True and False. Capital or small does not count, nor do spaces around. A list of one word
    is that word: so Spanner's statistics print a reason. Reads as the word declared."""

    words: tuple[str | bool, ...]

    @property
    def wants(self) -> str:  # type: ignore[override]
        quoted = any(type(word) is str for word in self.words)
        return f"one of the words {', '.join(map(str, self.words))}{', in quotes' * quoted}"

    def read(self, value: Any) -> str | bool:
        said = value[0] if type(value) in (list, tuple) and len(value) == 1 else value
        for word in self.words:
            if said is word or (type(said) is str and said.strip().casefold() == str(word).casefold()):
                return word
        raise self.refuse(value)


@dataclass(frozen=True)
class SomeOf(Kind):
    """Any number of words, as a list, also none; order, case and doubles do not count. Reads as a tuple in the order in
    which the words are declared."""

    words: tuple[str, ...]

    @property
    def wants(self) -> str:  # type: ignore[override]
        return f"a list, each item {OneOf(self.words).wants}"

    def read(self, value: Any) -> tuple[str, ...]:
        if type(value) not in (list, tuple, set, frozenset):
            raise self.refuse(value)
        one = OneOf(self.words)
        said = {one.read(item) for item in _in_order(value)}
        return tuple(word for word in self.words if word in said)


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of `length` answers of one kind. A tuple is as good as a list. Reads as a tuple."""

    item: Kind
    length: int

    @property
    def wants(self) -> str:  # type: ignore[override]
        return f"a list of {self.length} items, each {self.item.wants}"

    def read(self, value: Any) -> tuple[Any, ...]:
        if type(value) not in (list, tuple) or len(value) != self.length:
            raise self.refuse(value)
        return tuple(self.item.read(item) for item in value)


@dataclass(frozen=True)
class Ordering(Kind):
    """The given items in another order. Reads as a tuple of them; lists inside count as tuples, and neither case nor
    spaces matter in a text."""

    items: tuple[Any, ...]

    @property
    def wants(self) -> str:  # type: ignore[override]
        return f"a list of the {len(self.items)} given items, each once"

    def read(self, value: Any) -> tuple[Any, ...]:
        if type(value) not in (list, tuple):
            raise self.refuse(value)
        read = tuple(map(self._item, value))
        missing = [item for item in self.items if item not in read]
        strange = [item for item in read if item not in self.items]
        if missing or strange or len(read) != len(self.items):
            what = (
                f"{strange[0]!r} is not one of the given items" if strange
                else f"{missing[0]!r} is missing" if missing
                else "one item stands there twice"
            )  # fmt: skip
            raise WrongKind(f"This challenge wants {self.wants}; {what}.")
        return read

    def _item(self, item: Any) -> Any:
        """The given item that is meant; the item itself where none is."""
        if type(item) is not str or item in self.items:
            return tuple(item) if type(item) is list else item
        alike = [one for one in self.items if type(one) is str and _bare(one) == _bare(item)]
        return alike[0] if len(alike) == 1 else item


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


@dataclass(frozen=True)
class Fields(Kind):
    """A dict with one answer for each key. Missing keys and `...` read as `...`: they earn nothing and break
    nothing. Case does not count in keys."""

    fields: tuple[tuple[str, Kind], ...]

    @property
    def wants(self) -> str:  # type: ignore[override]
        return "a dict with the keys " + ", ".join(repr(name) for name, _ in self.fields)

    def read(self, value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise self.refuse(value)
        known = {name.casefold(): name for name, _ in self.fields}
        given: dict[str, Any] = {}
        for key, one in value.items():
            name = known.get(key.strip().casefold()) if type(key) is str else None
            if name is None:
                raise WrongKind(f"This challenge wants {self.wants}; {key!r} is none of them.")
            if name in given:
                raise WrongKind(f"This challenge wants {self.wants}; {name!r} is there twice.")
            given[name] = one
        return {
            name: ... if is_open(given.get(name)) else self._field(name, kind, given[name])
            for name, kind in self.fields
        }

    def _field(self, name: str, kind: Kind, value: Any) -> Any:
        try:
            return kind.read(value)
        except WrongKind as reason:
            raise WrongKind(f"{name!r}: {reason}") from None
