"""Binding of conditions and choices: comparisons, AND and OR, IN, LIKE, CASE and the functions that are forms of it."""

from __future__ import annotations

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError
from spanlab.sql import conditions
from spanlab.sql.binder import Binder, binds, choose_overload, form, null, refused
from spanlab.sql.bound import BOOL, Bound, call, coerced, text_of_tree

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


@binds(*_SIGNS)
def bind_comparison(binder: Binder, node: exp.Expr) -> Bound:
    return conditions.compare(node, _SIGNS[type(node)], binder.bind(node.this), binder.bind(node.expression))


@binds(exp.And, exp.Or)
def bind_junction(binder: Binder, node: exp.Expr) -> Bound:
    parts = binder.bind_all(list(node.flatten()))
    return conditions.junction(node, parts, deciding=isinstance(node, exp.Or))


@binds(exp.Not)
def bind_not(binder: Binder, node: exp.Expr) -> Bound:
    return conditions.negation(node, binder.bind(node.this))


@binds(exp.Is)
def bind_is(binder: Binder, node: exp.Expr) -> Bound:
    subject = binder.bind(node.this)
    if isinstance(node.expression, exp.Boolean):
        return conditions.is_truth(node, subject, bool(node.expression.this))
    if isinstance(node.expression, exp.Null):
        return conditions.is_null(node, subject)
    raise refused(node)


@binds(exp.NullSafeEQ, exp.NullSafeNEQ)
def bind_distinct(binder: Binder, node: exp.Expr) -> Bound:
    wanted = isinstance(node, exp.NullSafeNEQ)
    return conditions.is_distinct(node, binder.bind(node.this), binder.bind(node.expression), wanted)


@binds(exp.Between)
def bind_between(binder: Binder, node: exp.Expr) -> Bound:
    value, low, high = binder.bind_all([node.this, node.args["low"], node.args["high"]])
    parts = [conditions.compare(node, ">=", value, low), conditions.compare(node, "<=", value, high)]
    return conditions.junction(node, parts, deciding=False)


@binds(exp.In)
def bind_in(binder: Binder, node: exp.Expr) -> Bound:
    needle = binder.bind(node.this)
    unnest = node.args.get("unnest")
    if unnest is not None:
        return conditions.array_membership(node, needle, binder.bind(unnest.expressions[0]))
    if node.args.get("query") is not None or not node.expressions:
        raise refused(node.args.get("query") or node)
    return conditions.membership(node, needle, binder.bind_all(node.expressions))


@binds(exp.Like)
def bind_like(binder: Binder, node: exp.Expr) -> Bound:
    if isinstance(node.expression, (exp.Any, exp.All)):
        raise UnsupportedError(f"{text_of_tree(node)}: LIKE ANY and LIKE ALL lie outside the course")
    arguments = binder.bind_all([node.this, node.expression])
    overload = choose_overload("LIKE", arguments, node)
    arguments = [coerced(one, overload.argument(i) or one.type) for i, one in enumerate(arguments)]
    return call(node, BOOL, overload.row, arguments)


@binds(exp.Case)
def bind_case(binder: Binder, node: exp.Expr) -> Bound:
    subject = binder.bind(node.this) if node.this is not None else None
    cases = []
    for branch in node.args["ifs"]:
        when = binder.bind(branch.this)
        if subject is not None:
            when = conditions.compare(branch.this, "=", subject, when)
        cases.append((when, binder.bind(branch.args["true"])))
    default = node.args.get("default")
    return conditions.choice(node, cases, binder.bind(default) if default is not None else null(node))


@binds(exp.If)
def bind_if(binder: Binder, node: exp.Expr) -> Bound:
    if node.args.get("false") is None:
        raise QueryError(f"IF takes three arguments: a condition and two values: {text_of_tree(node)}")
    when, then, otherwise = binder.bind_all([node.this, node.args["true"], node.args["false"]])
    return conditions.choice(node, [(when, then)], otherwise)


@form("COALESCE", "IFNULL")
def bind_coalesce(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    return conditions.first_known(node, binder.bind_all(nodes))


@form("NULLIF")
def bind_nullif(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    left, right = binder.bind_all(nodes)
    return conditions.null_if(node, left, right)


@form("GREATEST", "LEAST")
def bind_extreme(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    return conditions.extreme(node, "GREATEST" if isinstance(node, exp.Greatest) else "LEAST", binder.bind_all(nodes))
