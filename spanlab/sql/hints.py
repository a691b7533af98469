"""Hints: what a query tells the optimizer in `@{NAME=value, …}`.

A hint stands behind the word that it belongs to: before the statement, behind a table, behind JOIN or GROUP, behind a
call (facts.md 7.4). sqlglot knows no such thing, so the hints are taken out of the words first; the parser then hangs
each on the node that it builds of the word before it.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokens import Token, TokenType

HINT = "spanner_hint"
"""The argument of a node that holds its hint; sqlglot has an argument `hints` of its own, and resets it."""

STRINGS = (TokenType.STRING, TokenType.RAW_STRING, TokenType.BYTE_STRING)


def hints(node: exp.Expr | None) -> dict[str, str]:
    """The hints of a tree's node by name, in capitals as Spanner lists them; {} where there are none."""
    hint = node.args.get(HINT) if node is not None else None
    return {pair.name: pair.expression.name for pair in hint.expressions} if hint else {}


class Misread(ParseError):
    """sqlglot's error, with the offsets of the word that it stopped at."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message, [{"description": message}])
        self.message, self.start, self.end = message, start, end


class Hints:
    """The words of one text without its hints: each hint is kept by the end of the word before it."""

    def __init__(self, tokens: list[Token]) -> None:
        self.statement: exp.Hint | None = None
        self.used: set[int] = set()
        self._behind: dict[int, tuple[Token, exp.Hint]] = {}
        kept: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            hint, index = _read_hint(tokens, index)
            if hint is None:
                kept.append(token)
            elif _word(token) == "HASH":  # HASH JOIN is JOIN@{JOIN_METHOD=HASH_JOIN}
                kept.append(tokens[index - 1])
            if hint is not None and kept:
                self._behind[kept[-1].end] = token, hint
            elif hint is not None:
                self.statement = hint
        self.tokens = _paired(kept)

    def hang(self, node: Any, token: Token | None) -> Any:
        """Gives `node` the hint that stood behind `token`, if there is one."""
        if isinstance(node, exp.Expr) and token and token.end in self._behind:
            node.set(HINT, self._behind[token.end][1])
            self.used.add(token.end)
        return node

    def homeless(self) -> Token | None:
        """The first word of a hint that no node took."""
        return next((at for end, (at, _) in self._behind.items() if end not in self.used), None)


def _type(tokens: list[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def _word(token: Token) -> str:
    """The word in capitals, "" for strings and names in back quotes."""
    return "" if token.token_type in (*STRINGS, TokenType.IDENTIFIER) else token.text.upper()


def _paired(tokens: list[Token]) -> list[Token]:
    """The words, with those pairs made one word that sqlglot has as one, or has otherwise."""
    changes_rows = bool(tokens) and _word(tokens[0]) in ("INSERT", "UPDATE", "DELETE")
    kept: list[Token] = []
    for token in tokens:
        pair = (_word(kept[-1]) if kept else "", _word(token))
        if pair == ("GROUP", "BY"):  # apart if a hint stood between them
            kept[-1] = _like(kept[-1], TokenType.GROUP_BY, "GROUP BY")
        elif pair == ("THEN", "RETURN") and changes_rows:
            kept[-1] = _like(kept[-1], TokenType.RETURNING, "THEN RETURN")
        elif pair in (("INSERT", "IGNORE"), ("INSERT", "UPDATE")):  # short for INSERT OR …
            kept += [_like(token, TokenType.OR, "OR"), token]
        else:
            kept.append(token)
    return kept


def _like(token: Token, kind: TokenType, text: str) -> Token:
    """Another word at the place of `token`."""
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _hint(pairs: list[tuple[str, exp.Expr]]) -> exp.Hint:
    return exp.Hint(expressions=[exp.EQ(this=exp.var(name), expression=value) for name, value in pairs])


def _read_hint(tokens: list[Token], index: int) -> tuple[exp.Hint | None, int]:
    """The hint that begins at `index` and the index behind it; None and the next index if none begins there."""
    if _word(tokens[index]) == "HASH" and _type(tokens, index + 1) is TokenType.JOIN:
        return _hint([("JOIN_METHOD", exp.var("HASH_JOIN"))]), index + 2
    if tokens[index].token_type is not TokenType.PARAMETER or _type(tokens, index + 1) is not TokenType.L_BRACE:
        return None, index + 1
    pairs: list[tuple[str, exp.Expr]] = []
    at = index + 2
    while at + 3 < len(tokens):
        name = tokens[at].text.upper()
        if _type(tokens, at + 1) is TokenType.DOT:  # engine.NAME
            name, at = f"{name}.{tokens[at + 2].text.upper()}", at + 2
        if _type(tokens, at + 1) is not TokenType.EQ or at + 3 >= len(tokens):
            break
        value, at = _read_value(tokens, at + 2)
        pairs.append((name, value))
        if _type(tokens, at) is TokenType.R_BRACE:
            return _hint(pairs), at + 1
        if _type(tokens, at) is not TokenType.COMMA:
            break
        at += 1
    token = tokens[min(at, len(tokens) - 1)]
    raise Misread("A hint is written @{NAME=value, …}.", token.start, token.end + 1)


def _read_value(tokens: list[Token], at: int) -> tuple[exp.Expr, int]:
    """The value at `at`, a word, a number, a string or a path, and the index behind it."""
    if tokens[at].token_type in STRINGS:
        return exp.Literal.string(tokens[at].text), at + 1
    parts = [tokens[at].text]
    while _type(tokens, at + 1) is TokenType.DOT and at + 2 < len(tokens):
        at += 2
        parts.append(tokens[at].text)
    return exp.var(".".join(parts)), at + 1
