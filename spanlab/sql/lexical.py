"""How GoogleSQL text falls into words: names, strings, numbers and signs, and where each of them stands.

A text is read from left to right. Spaces and comments (`-- …`, `# …`, `/* … */`) separate words and mean nothing else.
A name that is a reserved word of GoogleSQL, or is no plain name at all, stands in back quotes; a string stands in
single, double or triple quotes, with `r` for raw and `b` for bytes before it (Spanner's page "Lexical structure and
syntax").
Whatever cannot be read ends in an error that points at the character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from spanlab.errors import SchemaError, SqlError

_RESERVED = """
    ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE CURRENT
    DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL
    GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP
    MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO RANGE RECURSIVE RESPECT
    RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING WHEN WHERE
    WINDOW WITH WITHIN
"""
RESERVED = frozenset(_RESERVED.split())
"""The words that cannot be names without back quotes."""

TOLERATED = frozenset(("AT", "LOOKUP"))
"""Reserved words that are read as names all the same: many schemas have a column At, and nothing else is meant."""

_SPACE = " \n\r\t\b\f\v\u00a0\u2000-\u200a\u202f\u205f\u3000"
_SKIPPED = re.compile(rf"(?:[{_SPACE}]+|--[^\r\n]*|\#[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(
    r"""
    (?P<string>[rR]?"{3}(?:[^\\]|\\.)*?"{3} | [rR]?'{3}(?:[^\\]|\\.)*?'{3}
        | [rR]?"(?!"")(?:[^"\\\r\n]|\\[^\r\n])*" | [rR]?'(?!'')(?:[^'\\\r\n]|\\[^\r\n])*')
  | (?P<bytes>(?:[bB][rR]?|[rR][bB])(?:"{3}(?:[^\\]|\\.)*?"{3} | '{3}(?:[^\\]|\\.)*?'{3}
        | "(?!"")(?:[^"\\\r\n]|\\[^\r\n])*" | '(?!'')(?:[^'\\\r\n]|\\[^\r\n])*'))
  | (?P<quoted>`(?:[^`\\\r\n]|\\[^\r\n])*`)
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<number>(?:0[xX][0-9A-Fa-f]+ | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![A-Za-z_0-9]))
  | (?P<sign><=|>=|!=|<>|<<|=>|\|\||\|>|@@|[-+*/%&|^~=<>()\[\]{}.,:;@?!])
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES = re.compile("[bBrR]*(\"{3}|'{3}|\"|'|`)")
_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\?\"'`])|(?P<octal>[0-3][0-7]{2})|[xX](?P<hex>[0-9A-Fa-f]{2})"
    r"|u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8})|(?P<wrong>.?))",
    re.DOTALL,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_LOOKS_LIKE = {
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2212": "-",
    "\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1b": ";",
}  # fmt: skip
"""Characters that word processors put in the place of a plain one."""


class Word(NamedTuple):
    """One word of a text. `key` is what grammar compares: an unquoted name in capitals, a sign, "" for all else.

    `kind` is "name", "quoted", "string", "bytes", "number", "sign" or "end"; `start` and `end` are offsets.
    """

    kind: str
    key: str
    text: str
    start: int
    end: int


class Source:
    """A text and its words; it knows the line and column of every offset, and speaks of them in errors."""

    def __init__(self, text: str, error: type[SqlError] = SchemaError) -> None:
        self.text, self.error_type = text, error

    @cached_property
    def words(self) -> list[Word]:
        """All words, and one of kind "end" behind the last. Raises the error for a character that begins no word."""
        text, position, words = self.text, 0, []
        while True:
            if skipped := _SKIPPED.match(text, position):
                position = skipped.end()
            if position == len(text):
                break
            found = _WORD.match(text, position)
            if found is None or text.startswith("/*", position):
                raise self._unreadable(position)
            kind, word = str(found.lastgroup), found.group()
            key = word.upper() if kind == "name" else word if kind == "sign" else ""
            words.append(Word(kind, key, word, position, found.end()))
            position = found.end()
            if kind in ("string", "bytes", "quoted") and "\\" in word:
                self._check_escapes(words[-1])
        words.append(Word("end", "", "", len(text), len(text)))
        return words

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts[:-1] or [0]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1. Behind the last line's end it is the place after its last sign."""
        if offset >= len(self.text):
            offset = len(self.text.rstrip())
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def error(self, message: str, start: int, end: int, hint: str = "") -> SqlError:
        """An error about the text from `start` to `end` (which is marked as far as its first line goes)."""
        line, column = self.line_and_column(start)
        marked = self.text[start:end].split("\n")[0].rstrip()
        return self.error_type(message, hint=hint, text=self.text, line=line, column=column, width=len(marked))

    def blanked(self, words: list[Word]) -> str:
        """The text of these words, with every comment and odd space between them made plain spaces."""
        parts, position = [], words[0].start
        for word in words:
            parts += [" " * (word.start - position), word.text]
            position = word.end
        return "".join(parts)

    def _unreadable(self, position: int) -> SqlError:
        character = self.text[position]
        if self.text.startswith("/*", position):
            return self.error("This comment is never closed.", position, position + 2, "*/ where it ends")
        if quotes := _QUOTES.match(self.text, position):
            return self._unclosed(position, quotes)
        if character.isdigit() and character.isascii():
            hint = "a space behind the number, or the name in `back quotes`"
            return self.error("A number cannot run into a name.", position, position + 1, hint)
        if character in _LOOKS_LIKE:
            plain = _LOOKS_LIKE[character]
            return self.error(f"{character} is not the plain {plain} that SQL wants.", position, position + 1, plain)
        name = f"U+{ord(character):04X}" if not character.isprintable() else character
        hint = "a name with other characters than A-Z a-z 0-9 _ in `back quotes`" if character.isalpha() else ""
        return self.error(f"The character {name} means nothing in GoogleSQL.", position, position + 1, hint)

    def _unclosed(self, position: int, quotes: re.Match[str]) -> SqlError:
        quote = quotes.group(1)
        what = "name in back quotes" if quote == "`" else "string"
        one_line = "" if len(quote) == 3 else " on its line"
        hint = f"{quote} where the {what} ends" + ("" if quote == "`" or not one_line else ", or triple quotes")
        return self.error(f"This {what} is not closed{one_line}.", position, quotes.end(), hint)

    def _check_escapes(self, word: Word) -> None:
        prefix = word.text.split(word.text[-1], 1)[0].lower()
        if "r" in prefix:
            return
        for escape in _ESCAPE.finditer(word.text):
            if escape["wrong"] is not None or not _is_character(escape, of_bytes="b" in prefix):
                raise self.error(
                    f"Illegal escape sequence {escape.group()}.",
                    word.start + escape.start(),
                    word.start + escape.end(),
                    r"\\ for a backslash, or a raw string r'…'",
                )


def _is_character(escape: re.Match[str], *, of_bytes: bool) -> bool:
    unicode = escape["long"] or escape["short"]
    if unicode is None:
        return True
    return not of_bytes and int(unicode, 16) <= 0x10FFFF and not 0xD800 <= int(unicode, 16) <= 0xDFFF


def _unescape(escape: re.Match[str]) -> str:
    if simple := escape["simple"]:
        return _SIMPLE.get(simple, simple)
    if octal := escape["octal"]:
        return chr(int(octal, 8))
    return chr(int(escape["hex"] or escape["short"] or escape["long"], 16))


def string_value(word: str) -> str:
    """What a string literal, or a name in back quotes, stands for. A bytes literal comes with one character a byte."""
    quotes = _QUOTES.match(word)
    assert quotes, word
    prefix, inside = word[: quotes.start(1)].lower(), word[quotes.end() : -len(quotes.group(1))]
    parts, position = [], 0
    if "r" not in prefix:
        for escape in _ESCAPE.finditer(inside):
            parts += [_as_bytes(inside[position : escape.start()], prefix), _unescape(escape)]
            position = escape.end()
    return "".join([*parts, _as_bytes(inside[position:], prefix)])


def _as_bytes(text: str, prefix: str) -> str:
    return text.encode(errors="surrogatepass").decode("latin-1") if "b" in prefix else text


_ESCAPED = {"\\": r"\\", "'": r"\'"} | {character: "\\" + letter for letter, character in _SIMPLE.items()}


def quote_string(value: str) -> str:
    """The string literal that stands for `value`: single quotes, escapes where they are needed."""
    return "'" + "".join(_ESCAPED.get(c) or (c if c.isprintable() else _numeric_escape(c)) for c in value) + "'"


def _numeric_escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quote_bytes(value: str) -> str:
    """The bytes literal for `value`, which holds one character a byte."""
    return "b'" + "".join(_ESCAPED.get(c) or (c if " " <= c <= "~" else f"\\x{ord(c):02x}") for c in value) + "'"


def quote_name(name: str) -> str:
    """The name as it must stand in a statement: in back quotes if it is reserved or no plain name."""
    if _PLAIN_NAME.match(name) and name.upper() not in RESERVED:
        return name
    return "`" + quote_string(name)[1:-1].replace(r"\'", "'").replace("`", r"\`") + "`"


def quote_path(path: str) -> str:
    """A name of a named schema's object, as it must stand in a statement: each part quoted where it must be."""
    return ".".join(quote_name(part) for part in path.split("."))
