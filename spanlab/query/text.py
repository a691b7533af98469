"""How a plan prints an expression: `(($SingerId = 1) AND STARTS_WITH($LastName, 'A'))`.

Every comparison stands in parentheses, variables have a $, parameters an @, as in the plans that Spanner itself prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.query.logical import SubqueryValue
from spanlab.sql.dialect import Spanner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Like: "LIKE",
    exp.Is: "IS",
}


def plan_text(expression: exp.Expr, renamed: Mapping[str, str] | None = None) -> str:
    """The expression as a plan prints it. `renamed` gives other names to variables (a batch calls $A `$batched_A`)."""
    renamed = renamed or {}
    if isinstance(expression, exp.Column):
        return "$" + renamed.get(expression.name, expression.name)
    if isinstance(expression, SubqueryValue):
        return "$" + expression.name
    if isinstance(expression, exp.Parameter):
        return "@" + expression.name
    if isinstance(expression, exp.Paren):
        return plan_text(expression.this, renamed)
    if isinstance(expression, (exp.And, exp.Or)):
        sign = " AND " if isinstance(expression, exp.And) else " OR "
        return "(" + sign.join(plan_text(part, renamed) for part in expression.flatten()) + ")"
    if isinstance(expression, exp.Not):
        return f"(NOT {plan_text(expression.this, renamed)})"
    if type(expression) in _SIGNS:
        left, right = plan_text(expression.this, renamed), plan_text(expression.expression, renamed)
        return f"({left} {_SIGNS[type(expression)]} {right})"
    if isinstance(expression, exp.Between):
        parts = (expression.this, expression.args["low"], expression.args["high"])
        return f"BETWEEN({', '.join(plan_text(part, renamed) for part in parts)})"
    if isinstance(expression, exp.Boolean):
        return "true" if expression.this else "false"
    return _rendered(expression, renamed)


def _rendered(expression: exp.Expr, renamed: Mapping[str, str]) -> str:
    """Everything else is GoogleSQL with the variables' names put in."""

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, SubqueryValue):
            return exp.Var(this="$" + node.name)
        if isinstance(node, exp.Column):
            return exp.Var(this="$" + renamed.get(node.name, node.name))
        return node

    return expression.copy().transform(put).sql(Spanner)


def all_of(conjuncts: Iterable[exp.Expr], renamed: Mapping[str, str] | None = None) -> str:
    """Several conjuncts as one printed condition; "" for none."""
    texts = [plan_text(conjunct, renamed) for conjunct in conjuncts]
    if len(texts) < 2:
        return "".join(texts)
    return "(" + " AND ".join(texts) + ")"
