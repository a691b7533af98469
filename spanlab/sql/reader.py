"""A reader goes through the words of one statement and says what it expected where the text says something else.

Every rule of the grammar in `spanlab.sql.ddl` is a function that takes a reader, asks it for words (`at`, `accept`,
`expect`), names (`name`, `path`) and values, and returns the part that it read. The reader remembers where each name
stood (`places`), so that rules about names, which only the schema knows, can point into the text later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from spanlab.errors import SqlError, UnsupportedError
from spanlab.sql.lexical import RESERVED, TOLERATED, Source, Word, string_value
from spanlab.sql.statements import Place

T = TypeVar("T")

_NO_NAMES = RESERVED - TOLERATED
_INT64 = range(-(2**63), 2**63)


class Unsupported(UnsupportedError):
    """UnsupportedError that knows the `kind` of what is outside the course."""

    kind = ""


class Reader:
    """Goes through the words of `source` from index `first` up to (not including) index `last`."""

    def __init__(self, source: Source, first: int, last: int) -> None:
        self.source, self.words, self.last = source, source.words, last
        self.index = first
        self.places: list[Place] = []

    # looking at words

    @property
    def word(self) -> Word:
        """The word to be read next; of kind "end" behind the statement's last word."""
        if self.index >= self.last:
            offset = self.words[self.last].start
            return Word("end", "", "", offset, offset)
        return self.words[self.index]

    def ahead(self, count: int) -> str:
        """The key of the word `count` further on, "" if it is no plain word or sign, or lies behind the statement."""
        return self.words[self.index + count].key if self.index + count < self.last else ""

    def at(self, *keys: str) -> bool:
        """True if the next words are these keywords or signs."""
        words, index = self.words, self.index
        if index + len(keys) > self.last:
            return False
        for key in keys:
            if words[index].key != key:
                return False
            index += 1
        return True

    def accept(self, *keys: str) -> bool:
        """Reads these words if they come next."""
        if self.at(*keys):
            self.index += len(keys)
            return True
        return False

    def expect(self, *keys: str, hint: str = "") -> None:
        """Reads these words, or fails at the first that differs."""
        for key in keys:
            if not self.accept(key):
                self.fail(key, hint)

    # failing

    def fail(self, wanted: str, hint: str = "") -> NoReturn:
        """Fails at the next word, which is not what was `wanted`."""
        word = self.word
        found = "the statement ends" if word.kind == "end" else f"found {word.text}"
        raise self.error(f"Expected {wanted} here, but {found}.", word, hint)

    def error(self, message: str, word: Word | None = None, hint: str = "") -> SqlError:
        """An error that points at `word`, or at the next one."""
        word = word or self.word
        return self.source.error(message, word.start, word.end, hint)

    def unsupported(self, kind: str) -> Unsupported:
        """The error for valid Spanner DDL of a `kind` outside the course; it points at the next word."""
        line, column = self.source.line_and_column(self.word.start)
        message = f"Spanner has this, but the course leaves it out: {kind}."
        width = len(self.word.text)
        error = Unsupported(message, text=self.source.text, line=line, column=column, width=width)
        error.kind = kind
        return error

    # names

    def is_name(self, count: int = 0) -> bool:
        """True if the word `count` further on can be a name as it stands."""
        if self.index + count >= self.last:
            return False
        word = self.words[self.index + count]
        return word.kind == "quoted" or (word.kind == "name" and word.key not in _NO_NAMES)

    def name(self, what: str, role: str) -> str:
        """Reads one name. `what` says for the learner what it is the name of, `role` is its role in `Place`."""
        word = self.word
        if not self.is_name():
            if word.key in _NO_NAMES:
                hint = f"`{word.text}` in back quotes, if that is the name"
                raise self.error(f"Expected {what} here; {word.text} is a reserved word.", word, hint)
            self.fail(what, "`back quotes`, where a name needs quotes" if word.kind == "string" else "")
        self.index += 1
        name = string_value(word.text) if word.kind == "quoted" else word.text
        if not name or "." in name:
            raise self.error("A name consists of letters, digits and underscores.", word, "`schema`.`name` for a path")
        self.mark(name, role, word.start, word.end)
        return name

    def path(self, what: str, role: str) -> str:
        """Reads a name or schema.name."""
        start, before = self.word.start, len(self.places)
        parts = [self.name(what, role)]
        while self.accept("."):
            parts.append(self.name(what, role))
        if len(parts) > 2:
            message = f"{'.'.join(parts)} has too many parts: a name is name or schema.name."
            raise self.source.error(message, start, self.words[self.index - 1].end)
        del self.places[before:]
        self.mark(".".join(parts), role, start, self.words[self.index - 1].end)
        return ".".join(parts)

    def mark(self, name: str, role: str, start: int, end: int) -> None:
        """Remembers that `name` stands from offset `start` to `end`."""
        line, column = self.source.line_and_column(start)
        self.places.append(Place(name, role, line, column, end - start))

    # values and lists

    def integer(self, what: str) -> int:
        """Reads an integer, decimal or 0x, that fits INT64."""
        first = self.word
        negative = self.accept("-")
        word = self.word
        digits = word.text.lower()
        if word.kind != "number" or not (digits.isdigit() or digits.startswith("0x")):
            self.fail(what)
        value = int(digits, 16 if digits.startswith("0x") else 10) * (-1 if negative else 1)
        if value not in _INT64:
            raise self.source.error(f"{value} does not fit INT64.", first.start, word.end)
        self.index += 1
        return value

    def listed(self, item: Callable[[Reader], T], *, trailing_comma: bool = True, empty: bool = True) -> list[T]:
        """Reads "(", items with commas between them, ")"."""
        self.expect("(")
        items: list[T] = []
        while not (self.at(")") and (trailing_comma or not items) and (items or empty)):
            items.append(item(self))
            if not self.accept(","):
                break
        if self.is_name() and items:
            raise self.error(f"A comma is missing before {self.word.text}.")
        if not self.at(")"):
            self.fail(", or )")
        self.index += 1
        return items
