"""Expressions inside a schema: DEFAULT, generated columns, CHECK.

All three are computed from one row alone, so none may hold a subquery, an aggregate or a query parameter. A default
may call volatile functions (the time, a new UUID, a sequence) but reads no column; a generated column and a CHECK
read columns of their own row and must give the same result whenever they are computed (facts.md 5.2, 5.3). Inside
expressions the case of names does not count.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError, suggest
from spanlab.schema import limits
from spanlab.schema.refusal import Refusal
from spanlab.sql import parse_expression, sequences_in
from spanlab.sql.bound import coerced, cost
from spanlab.sql.expressions import bind, columns_in, is_volatile
from spanlab.values import Type

if TYPE_CHECKING:
    from spanlab.catalog import Column, Table

_UNFIT: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Query, "a subquery"),
    (exp.Subquery, "a subquery"),
    (exp.AggFunc, "an aggregate function"),
    (exp.Window, "a window function"),
    (exp.Parameter, "a query parameter"),
)
PENDING = "PENDING_COMMIT_TIMESTAMP()"


@lru_cache(maxsize=4096)
def tree(text: str) -> exp.Expr:
    """The tree of an expression's text; shared, so it must not be changed."""
    return parse_expression(text)


@lru_cache(maxsize=4096)
def names_read(text: str) -> tuple[str, ...]:
    """The names of columns that the expression reads, as written; of a field of a column (Info.id) the column."""
    return tuple(dict.fromkeys(name.partition(".")[0] for name in columns_in(tree(text))))


def sequences_read(text: str) -> list[str]:
    """The names of the sequences that the expression draws from."""
    return sequences_in(tree(text))


def columns_read(table: Table, text: str) -> tuple[Column, ...]:
    """The columns of the table that the expression reads."""
    read = (table.column(name) for name in names_read(text))
    return tuple(column for column in read if column is not None)


def generated_from(table: Table, name: str) -> tuple[Column, ...]:
    """The generated columns whose expressions read the column of that name."""
    return tuple(
        column
        for column in table.columns
        if column.generated and name in (read.name for read in columns_read(table, column.generated))
    )


def rests_on_plain(table: Table, text: str) -> bool:
    """Whether the expression reads a column that is not generated, directly or through generated ones."""
    seen: set[str] = set()
    waiting = list(columns_read(table, text))
    while waiting:
        column = waiting.pop()
        if column.generated is None:
            return True
        if column.name not in seen:
            seen.add(column.name)
            waiting += columns_read(table, column.generated)
    return False


def check_scalar(text: str, what: str) -> None:
    """Refuse subqueries, aggregates, window functions and parameters, and what is nested too deeply."""
    unfit, depth = _shape(text)
    if unfit:
        raise Refusal(f"{what} cannot contain {unfit}: it is computed from one row alone.", text, "expression")
    if depth > limits.EXPRESSION_DEPTH:
        raise Refusal(
            f"{what} is nested {depth} deep; {limits.EXPRESSION_DEPTH} are allowed.",
            text,
            "expression",
            hint="part of it in a generated column of its own",
        )


@lru_cache(maxsize=4096)
def _shape(text: str) -> tuple[str, int]:
    """What the expression has that no expression of a schema may have, or "", and how deep it is nested.

    Parentheses, and AND and OR in a row, do not count as depth.
    """
    unfit, deepest = "", 0
    waiting: list[tuple[exp.Expr, int]] = [(tree(text), 1)]
    while waiting:
        node, depth = waiting.pop()
        unfit = unfit or next((name for kind, name in _UNFIT if isinstance(node, kind)), "")
        deepest = max(deepest, depth)
        for child in node.iter_expressions():
            same = isinstance(child, exp.Paren) or (isinstance(child, exp.And | exp.Or) and type(child) is type(node))
            if not isinstance(child, exp.Identifier | exp.DataType | exp.Var):
                waiting.append((child, depth if same else depth + 1))
    return unfit, deepest


def check_columns_exist(table: Table, text: str, what: str, *, apart_from: str = "") -> None:
    """Refuse names that are no columns of the table; the column `apart_from` is not suggested, it is being computed."""
    for name in names_read(text):
        if table.column(name) is None:
            known = [column.name for column in table.columns if column.name != apart_from]
            raise Refusal(
                f"{what} reads {name}, which is not a column of {table.name}.{suggest(name, known)}", name, "expression"
            )


@lru_cache(maxsize=4096)
def _volatile(text: str) -> bool:
    return is_volatile(tree(text))


def check_immutable(text: str, what: str) -> None:
    """Refuse functions that give another result at another time."""
    if _volatile(text):
        raise Refusal(
            f"{what} must give the same result whenever it is computed; it calls a function that does not.",
            text,
            "expression",
            hint="a DEFAULT (…) for values such as the time or a new UUID",
        )


def check_type(table: Table, text: str, wanted: Type, what: str) -> None:
    """Refuse an expression that is wrong in itself, or whose value needs a CAST to become one of the type.

    An expression that lies outside the course (functions, fields of JSON and of messages) is taken on trust.
    """
    if any("." in name for name in columns_in(tree(text))):
        return
    try:
        bound = bind(tree(text), {column.name: column.type for column in columns_read(table, text)})
        fits = cost(bound, wanted) is not None
        if fits:
            coerced(bound, wanted)
    except QueryError as error:
        raise Refusal(f"{what}: {error.message}", text, "expression", hint=error.hint) from None
    except UnsupportedError:
        return
    if not fits:
        raise Refusal(
            f"{what} gives {bound.type.name}, which is not {wanted.name}.",
            text,
            "expression",
            hint=f"CAST({text} AS {wanted.name})",
        )


def check_condition(table: Table, text: str, what: str) -> None:
    """Refuse an expression that is not true, false or NULL."""
    check_type(table, text, Type("BOOL"), what)
