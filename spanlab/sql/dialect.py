"""Spanner's GoogleSQL for sqlglot: expressions and queries as trees, and trees as canonical text.

GoogleSQL is shared with BigQuery, so that this dialect begins with sqlglot's BigQuery and changes what differs: strings
are read by `spanlab.sql.lexical`, only Spanner's own words are keywords, function names are written in capitals, and
hints are known (`spanlab.sql.hints`): in a tree they hang on the statement, on exp.Table, exp.Join and exp.Group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.errors import SqlglotError
from sqlglot.generators.bigquery import BigQueryGenerator
from sqlglot.parser import Parser
from sqlglot.parsers.bigquery import BigQueryParser
from sqlglot.tokens import Token, TokenType

from spanlab.sql.calls import FOREIGN
from spanlab.sql.hints import HINT, STRINGS, Hints, Misread, hints
from spanlab.sql.lexical import RESERVED, quote_bytes, quote_name, quote_string, string_value

__all__ = ["Spanner", "TooTangled", "hints", "sequences_in"]

_TYPES = ("BOOL", "INT64", "FLOAT64", "NUMERIC", "STRING", "BYTES", "DATE", "TIMESTAMP", "JSON", "UUID")
_CALLED_WITHOUT_PARENTHESES = ("CURRENT_DATE", "CURRENT_TIMESTAMP")
_OTHERS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "OFFSET", "PERCENT", "GROUP BY", "ORDER BY", "PARTITION BY")
_KEYWORDS = RESERVED.union(_TYPES, _CALLED_WITHOUT_PARENTHESES, _OTHERS)
_RESERVED_TOKENS = {BigQuery.Tokenizer.KEYWORDS[word] for word in RESERVED if word in BigQuery.Tokenizer.KEYWORDS}
_BEFORE_JOIN = {*BigQueryParser.JOIN_METHODS, *BigQueryParser.JOIN_SIDES, *BigQueryParser.JOIN_KINDS}
_SEQUENCE_FUNCTIONS = ("GET_NEXT_SEQUENCE_VALUE", "GET_INTERNAL_SEQUENCE_STATE")
_LITERAL_TYPES = ("DATE", "TIMESTAMP", "NUMERIC")
_RETREATS_AT_ALL, _RETREATS_EACH_WORD = 1000, 20


def _is_keyword(word: str) -> bool:
    """True for those of sqlglot's keywords that GoogleSQL has; a column can have any other word as its name."""
    return word in _KEYWORDS if word[0].isalpha() else word[0] not in "{%"  # signs, without those of templates


def sequences_in(tree: exp.Expr) -> list[str]:
    """The sequences that an expression draws from: "Ids" for `GET_NEXT_SEQUENCE_VALUE(SEQUENCE Ids)` (facts.md 2.3)."""
    calls = (call for call in tree.find_all(exp.Anonymous) if call.name.upper() in _SEQUENCE_FUNCTIONS)
    names = (call.expressions[0].name.removeprefix("SEQUENCE ") for call in calls)
    return [name.replace("`", "") for name in names]


def _with_plain_not(tree: exp.Expr) -> exp.Expr:
    """NOT LIKE as NOT around LIKE, as sqlglot reads NOT IN and NOT BETWEEN: else whoever looks at a LIKE must know that
    it may mean the opposite."""
    for like in reversed(list(tree.find_all(exp.Like))):  # the inner ones first: the outer ones are copied with them
        if like.args.get("negate"):
            like.set("negate", None)
            negated = exp.Not(this=like.copy())
            if like is tree:
                return negated
            like.replace(negated)
    return tree


class TooTangled(SqlglotError):
    """sqlglot tries one reading after the other without an end in sight."""


class _Parser(BigQueryParser):
    """BigQuery's parser, with Spanner's hints."""

    INSERT_ALTERNATIVES: ClassVar = {*BigQueryParser.INSERT_ALTERNATIVES, "UPDATE"}

    ID_VAR_TOKENS: ClassVar = BigQueryParser.ID_VAR_TOKENS - _RESERVED_TOKENS
    ALIAS_TOKENS: ClassVar = BigQueryParser.ALIAS_TOKENS - _RESERVED_TOKENS
    TABLE_ALIAS_TOKENS: ClassVar = BigQueryParser.TABLE_ALIAS_TOKENS - _RESERVED_TOKENS
    UPDATE_ALIAS_TOKENS: ClassVar = BigQueryParser.UPDATE_ALIAS_TOKENS - _RESERVED_TOKENS
    IDENTIFIER_TOKENS: ClassVar = BigQueryParser.IDENTIFIER_TOKENS - _RESERVED_TOKENS

    STATEMENT_PARSERS: ClassVar = {
        kind: BigQueryParser.STATEMENT_PARSERS[kind] for kind in (TokenType.INSERT, TokenType.UPDATE, TokenType.DELETE)
    }

    FUNCTIONS: ClassVar = {name: build for name, build in BigQueryParser.FUNCTIONS.items() if name not in FOREIGN}

    FUNCTION_PARSERS: ClassVar = {
        **BigQueryParser.FUNCTION_PARSERS,
        "GET_NEXT_SEQUENCE_VALUE": lambda self: self._parse_sequence_call("GET_NEXT_SEQUENCE_VALUE"),
        "GET_INTERNAL_SEQUENCE_STATE": lambda self: self._parse_sequence_call("GET_INTERNAL_SEQUENCE_STATE"),
    }

    PRIMARY_PARSERS: ClassVar = {
        **BigQueryParser.PRIMARY_PARSERS,
        TokenType.DEFAULT: lambda self, _: exp.var("DEFAULT"),  # a value in DML
    }

    _hints: Hints
    _retreats: int

    def _parse(self, parse_method: Callable[..., Any], raw_tokens: list[Token], sql: str | None = None) -> Any:
        self._hints, self._retreats = Hints(raw_tokens), 0
        trees = super()._parse(parse_method, self._hints.tokens, sql)
        if trees and trees[0] is not None and self._hints.statement is not None:
            trees[0].set(HINT, self._hints.statement)
        if homeless := self._hints.homeless():
            raise Misread("A hint cannot stand here.", homeless.start, homeless.end + 1)
        return [tree and _with_plain_not(tree) for tree in trees]

    def _retreat(self, index: int) -> None:
        # some nestings, such as STRUCT(STRUCT(…, make sqlglot try twice at each level: 2 ** depth readings
        self._retreats += 1
        if self._retreats > _RETREATS_AT_ALL + _RETREATS_EACH_WORD * self._tokens_size:
            raise TooTangled
        super()._retreat(index)

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        if at := token or self._curr:
            raise Misread(message, at.start, at.end + 1)
        end = self._prev.end + 1 if self._prev else 0
        raise Misread(message, end, end)

    def _parse_table_parts(self, *args: Any, **kwargs: Any) -> Any:
        return self._hints.hang(super()._parse_table_parts(*args, **kwargs), self._prev)

    def _parse_table_part(self, schema: bool = False) -> exp.Expr | None:
        return Parser._parse_table_part(self, schema)  # BigQuery's own allows dashes and numbers

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        alias = super()._parse_table_alias(*args, **kwargs)
        if alias and alias.columns:
            self.raise_error("An alias gives no names to columns.", self._prev)
        return alias

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        start = self._index
        join = super()._parse_join(*args, **kwargs)
        while start < self._index and self._tokens[start].token_type in _BEFORE_JOIN:
            start += 1
        if join and not (join.kind == "CROSS" or join.args.get("on") or join.args.get("using")):
            if join.side or not isinstance(join.this, exp.Unnest):
                self.raise_error("A JOIN needs ON … or USING (…).")
            join.set("kind", "CROSS")  # JOIN UNNEST(…) needs no condition, and then means the same
        return self._hints.hang(join, self._tokens[start]) if join else None

    def _parse_group(self, *args: Any, **kwargs: Any) -> exp.Group | None:
        token = self._prev if self._prev.token_type is TokenType.GROUP_BY else self._curr
        return self._hints.hang(super()._parse_group(*args, **kwargs), token)

    def _parse_sequence_call(self, function: str) -> exp.Anonymous:
        if not self._match_text_seq("SEQUENCE"):
            self.raise_error("Expecting SEQUENCE")
        path = self._parse_table_parts()
        name = "SEQUENCE " + ".".join(quote_name(part.name) for part in path.parts)
        return self.expression(exp.Anonymous(this=function, expressions=[exp.var(name)]))

    def _parse_function(self, *args: Any, **kwargs: Any) -> Any:
        return self._hints.hang(super()._parse_function(*args, **kwargs), self._prev)


class _Generator(BigQueryGenerator):
    """Canonical text: one spelling for each tree."""

    TRANSFORMS: ClassVar = {
        **BigQueryGenerator.TRANSFORMS,
        exp.StrPosition: lambda self, call: self.func("STRPOS", call.this, call.args.get("substr")),
    }
    TYPE_MAPPING: ClassVar = {
        **BigQueryGenerator.TYPE_MAPPING,
        exp.DType.FLOAT: "FLOAT32",
        exp.DType.UUID: "UUID",
    }

    def generate(self, expression: exp.Expr, copy: bool = True) -> str:
        text = super().generate(expression, copy)
        prefix = self._hint_text(expression) if isinstance(expression, (exp.Query, exp.DML)) else ""
        return f"{prefix} {text}" if prefix else text

    def sql(self, expression: Any, key: str | None = None, comment: bool = True) -> str:
        text = super().sql(expression, key, comment)
        if key is None and isinstance(expression, exp.Func) and expression.args.get(HINT):
            return f"{text} {self._hint_text(expression)}"
        return text

    def _hint_text(self, node: exp.Expr) -> str:
        hint = node.args.get(HINT)
        pairs = [f"{pair.name}={self.sql(pair, 'expression')}" for pair in hint.expressions] if hint else []
        return f"@{{{', '.join(pairs)}}}" if pairs else ""

    def table_parts(self, expression: exp.Table) -> str:
        return super().table_parts(expression) + self._hint_text(expression)

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        # the keyword is the first JOIN in the text: nothing but its method, side and kind stands before it
        return super().join_sql(expression, join_op).replace("JOIN", "JOIN" + self._hint_text(expression), 1)

    def group_sql(self, expression: exp.Group) -> str:
        return super().group_sql(expression).replace("GROUP", "GROUP" + self._hint_text(expression), 1)

    def returning_sql(self, expression: exp.Returning) -> str:
        return f" THEN RETURN {self.expressions(expression, flat=True)}"

    def literal_sql(self, expression: exp.Literal) -> str:
        return quote_string(expression.name) if expression.is_string else super().literal_sql(expression)

    def bytestring_sql(self, expression: exp.ByteString) -> str:
        return quote_bytes(expression.name)

    def rawstring_sql(self, expression: exp.RawString) -> str:
        return quote_string(expression.name)

    def interval_sql(self, expression: exp.Interval) -> str:
        amount = expression.this
        if isinstance(amount, exp.Literal) and amount.name.isdigit():  # the parser makes strings of plain numbers
            return f"INTERVAL {amount.name} {self.sql(expression, 'unit')}"
        return super().interval_sql(expression)

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        kind, value = self.sql(expression, "to"), expression.this
        if not safe_prefix and kind in _LITERAL_TYPES and isinstance(value, exp.Literal) and value.is_string:
            return f"{kind} {self.sql(value)}"
        return super().cast_sql(expression, safe_prefix=safe_prefix)

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if not isinstance(inner, (exp.Is, exp.In, exp.Between, exp.Like)):
            return super().not_sql(expression)
        left, text = self.sql(inner, "this"), self.sql(inner)
        if isinstance(inner, exp.Is):
            return f"{left} IS NOT {self.sql(inner, 'expression')}"
        return f"{left} NOT{text.removeprefix(left)}"

    def attimezone_sql(self, expression: exp.AtTimeZone) -> str:
        return f"{self.sql(expression, 'this')} AT TIME ZONE {self.sql(expression, 'zone')}"

    def currentdate_sql(self, expression: exp.CurrentDate) -> str:
        return self.func("CURRENT_DATE", expression.this)

    def identifier_sql(self, expression: exp.Identifier) -> str:
        return quote_name(expression.name)


class Spanner(BigQuery):
    """GoogleSQL as Spanner reads it."""

    NORMALIZE_FUNCTIONS = "upper"  # type: ignore[assignment]  # BigQuery narrows it to False

    class Tokenizer(BigQuery.Tokenizer):
        KEYWORDS: ClassVar = {
            **{word: kind for word, kind in BigQuery.Tokenizer.KEYWORDS.items() if _is_keyword(word)},
            "FLOAT32": TokenType.FLOAT,
        }
        COMMANDS: ClassVar[set[TokenType]] = set()

        def tokenize(self, sql: str) -> list[Token]:
            """The words of a text; strings with their values, as `spanlab.sql.lexical` reads them."""
            tokens: list[Token] = []
            for token in super().tokenize(sql):
                if token.token_type in STRINGS:
                    before = tokens[-1] if tokens else None
                    if before and before.end + 1 == token.start and before.text.lower() in ("rb", "br"):
                        token = Token(TokenType.BYTE_STRING, "", token.line, token.col, before.start, token.end)
                        tokens.pop()
                    token.text = string_value(sql[token.start : token.end + 1])
                elif sql[token.start] == "`":
                    token.text = string_value(sql[token.start : token.end + 1])
                tokens.append(token)
            return tokens

    Parser = _Parser

    Generator = _Generator
