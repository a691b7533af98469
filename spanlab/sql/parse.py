"""Expressions and queries from text: trees of `spanlab.sql.dialect`, or an error that points at the word."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from spanlab.errors import QueryError, SqlError, UnsupportedError
from spanlab.sql.dialect import Spanner, TooTangled
from spanlab.sql.hints import Misread
from spanlab.sql.lexical import Source, Word

T = TypeVar("T")

_DIALECT = Spanner()


def parse_query(text: str) -> exp.Expr:
    """The tree of one query or DML statement, a semicolon at its end allowed. Raises QueryError."""
    source = Source(text, QueryError)
    words = source.words[:-1]
    while words and words[-1].key == ";":
        words.pop()
    if not words:
        raise source.error("There is no query here.", 0, 0, "SELECT …")
    if words[0].key == "GRAPH":
        raise UnsupportedError(
            "Spanner has this, but the course leaves it out: graph query.", text=text, line=1, column=1
        )
    if later := next((word for word in words if word.key == ";"), None):
        raise source.error("One query at a time: another begins behind this semicolon.", later.start, later.end)
    tree = _read(source, words, _query).copy()
    if not isinstance(tree, (exp.Query, exp.DML)):
        raise source.error("This is no query.", words[0].start, words[0].end, "SELECT …")
    return tree


def parse_expression(text: str) -> exp.Expr:
    """The tree of one expression, such as `MOD(FARM_FINGERPRINT(UserId), 16)`. Raises SchemaError."""
    source = Source(text)
    words = source.words[:-1]
    if not words:
        raise source.error("There is no expression here.", 0, 0)
    return _read(source, words, _condition).copy()


def expression_text(source: Source, words: list[Word]) -> str:
    """The canonical text of the expression that these words of a DDL text make."""
    return _read(source, words, _condition_text)


def view_text(source: Source, words: list[Word]) -> str:
    """The canonical text of the query that these words of a DDL text make."""
    if not isinstance(_read(source, words, _query), exp.Query):
        raise source.error("A view is made of a query.", words[0].start, words[0].end, "SELECT …")
    return _read(source, words, lambda text: canonical(_query(text)))


def canonical(tree: exp.Expr) -> str:
    """The one text that stands for a tree: capitals for keywords and functions, single quotes, single spaces."""
    return _DIALECT.generate(tree, comments=False)


@lru_cache(maxsize=4096)
def _condition(text: str) -> exp.Expr:
    return _one_tree(lambda: _DIALECT.parse_into(exp.Condition, text))


@lru_cache(maxsize=4096)
def _condition_text(text: str) -> str:
    return canonical(_condition(text))


@lru_cache(maxsize=256)
def _query(text: str) -> exp.Expr:
    return _one_tree(lambda: _DIALECT.parse(text))


def _one_tree(parse: Callable[[], list[exp.Expr | None]]) -> exp.Expr:
    try:
        trees = parse()
    except ParseError as error:
        raise error.__cause__ if isinstance(error.__cause__, Misread) else error from None
    if len(trees) != 1 or trees[0] is None:
        raise Misread("There is nothing here to be read.", 0, 0)
    return trees[0]


def _read(source: Source, words: list[Word], read: Callable[[str], T]) -> T:
    """What `read` makes of the text of these words, with its errors told in the reader's terms."""
    text, start, end = source.blanked(words), words[0].start, words[-1].end
    try:
        return read(text)
    except Misread as misread:
        at, behind = start + misread.start, start + max(misread.start, min(misread.end, len(text)))
        raise _explained(source, misread.message, at, behind) from None
    except (RecursionError, TooTangled):
        raise source.error("This is nested too deeply to be read.", start, start + 1) from None
    except (SqlglotError, AttributeError, TypeError, ValueError, LookupError):
        # sqlglot builds a function's node before it looks at the arguments, and stumbles over missing ones
        raise source.error("This cannot be read.", start, end) from None


def _explained(source: Source, message: str, start: int, end: int) -> SqlError:
    """sqlglot's complaint in the reader's terms."""
    found = source.text[start:end].strip()
    expecting = re.match(r"Expecting (\S+)", message)
    if expecting:
        said = f"Expected {expecting[1]} here" + (f", but found {found}." if found else ", but it ends.")
    elif message.startswith("Required keyword"):
        said = f"Something is missing before {found}." if found else "This ends too early."
    elif message.endswith("."):
        said = message
    else:
        said = f"{found} cannot stand here." if found else "This ends too early."
    return source.error(said, start, end)
