"""Expressions and the subqueries in them.

A subquery in an expression is worked out in one of three ways, as in Spanner's plans: a condition of WHERE (IN, EXISTS
and their negations) becomes a semi-join; one that stands for a value and is always needed becomes a join with one row;
one below IF, CASE, AND, OR …, or an ARRAY(…), stays in the expression and is worked out for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError
from spanlab.query.logical import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Limit,
    Output,
    Query,
    Relation,
    Sort,
    SpoolBuild,
    Subquery,
    SubqueryValue,
    Unnest,
    Variable,
    variable_reference,
    variables_in,
    walk,
)
from spanlab.values import Type

if TYPE_CHECKING:
    from spanlab.query.binder import Binder, Grouping
    from spanlab.query.scope import Scope

_CONDITIONAL = (exp.If, exp.Case, exp.Coalesce, exp.And, exp.Or, exp.Nullif)
_BOUND = "bound"


def already_bound(expression: exp.Expr) -> exp.Expr:
    """Marks a piece of an expression as bound, so that `bind` leaves it alone."""
    kept = exp.Paren(this=expression.copy())
    kept.meta[_BOUND] = True
    return kept


def has_aggregate(tree: exp.Expr) -> bool:
    """True where an aggregate call stands in the tree itself, not in a subquery of it."""
    if isinstance(tree, exp.Query):
        return False
    return isinstance(tree, exp.AggFunc) or any(has_aggregate(child) for child in tree.iter_expressions())


def bind(
    binder: Binder,
    tree: exp.Expr,
    scope: Scope,
    query: Query,
    grouping: Grouping | None = None,
    conditional: bool = False,
    name: str = "",
) -> exp.Expr:
    """The expression with variables for columns. Joins that subqueries need are added to `query.relation`.

    `name` is the alias that the expression has in SELECT: an aggregate's variable is called by it.
    """
    if tree.meta.get(_BOUND):
        return tree.this
    if isinstance(tree, exp.Column):
        return _column(binder, tree, scope)
    if isinstance(tree, exp.Subquery):
        return _scalar(binder, tree, scope, query, conditional or grouping is not None)
    if isinstance(tree, exp.Exists):
        return _kept(binder, "exists", binder.query(tree.this, scope), query)
    if isinstance(tree, exp.In) and tree.args.get("query") is not None:
        return _in_as_exists(binder, tree, scope, query)
    if _is_array_subquery(tree):
        return _kept(binder, "array", binder.query(tree.expressions[0], scope), query)
    if isinstance(tree, exp.AggFunc):
        if grouping is None:
            raise QueryError(f"{tree.sql()} is an aggregate and cannot stand here.", text=binder.text)
        return grouping.call(_children_bound(binder, tree, scope, query, None, conditional), name or "agg")
    inside = conditional or isinstance(tree, _CONDITIONAL)
    return _children_bound(binder, tree, scope, query, grouping, inside)


def _children_bound(
    binder: Binder,
    tree: exp.Expr,
    scope: Scope,
    query: Query,
    grouping: Grouping | None,
    conditional: bool,
) -> exp.Expr:
    arguments: dict[str, object] = {}
    for name, value in tree.args.items():
        if isinstance(value, exp.Hint):
            continue
        if isinstance(value, list):
            arguments[name] = [
                bind(binder, item, scope, query, grouping, conditional) if isinstance(item, exp.Expr) else item
                for item in value
            ]
        elif isinstance(value, exp.Expr) and not isinstance(value, (exp.DataType, exp.Identifier, exp.Var)):
            arguments[name] = bind(binder, value, scope, query, grouping, conditional)
        else:
            arguments[name] = value
    return tree.__class__(**arguments)


def _column(binder: Binder, tree: exp.Column, scope: Scope) -> exp.Expr:
    if isinstance(tree.this, exp.Star):
        raise QueryError("* cannot stand here.", text=binder.text)
    if tree.args.get("db") is not None:
        raise UnsupportedError(f"{tree.sql()} has too many parts.", text=binder.text)
    return scope.resolve(tree, binder.text)


def _is_array_subquery(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Array) and len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Query)


# subqueries that stand for a value


def _kept(binder: Binder, kind: str, inner: Query, query: Query) -> exp.Expr:
    """A subquery that is worked out for each row where the expression is."""
    if kind != "exists":
        _one_column(inner, binder)
    if kind == "exists":
        inner.outputs = []
    names = {"scalar": "sv", "array": "array", "exists": "sv"}
    variable = binder.variable(names[kind], Type("BOOL") if kind == "exists" else None, kind != "exists")
    query.subqueries[variable.name] = Subquery(variable, kind, inner)  # type: ignore[arg-type]
    needs = sorted(query_needs(inner))
    return SubqueryValue(
        this=exp.to_identifier(variable.name, quoted=True),
        names=needs,
        expressions=[variable_reference(name) for name in needs],
    )


def _one_column(inner: Query, binder: Binder) -> None:
    if len(inner.outputs) != 1 and not inner.as_struct:
        raise QueryError(
            f"A subquery that stands for a value has one column; this one has {len(inner.outputs)}.",
            hint="SELECT AS STRUCT … for an array of rows",
            text=binder.text,
        )


def _scalar(binder: Binder, tree: exp.Subquery, scope: Scope, query: Query, kept: bool) -> exp.Expr:
    inner = binder.query(tree, scope)
    if kept or inner.subqueries or inner.as_struct:
        return _kept(binder, "scalar", inner, query)
    _one_column(inner, binder)
    value = inner.outputs[0].expression
    relation = inner.relation
    if not (isinstance(relation, Aggregate) and not relation.keys):
        variable = binder.variable("scalar")
        relation = Aggregate(relation, [], [(variable, exp.AnyValue(this=value))], single=True)
        value = variable_reference(variable.name)
    correlated = bool(outer_names(relation))
    query.relation = Join("inner", query.relation, relation, lateral=correlated)
    return value


def _in_as_exists(binder: Binder, tree: exp.In, scope: Scope, query: Query) -> exp.Expr:
    """x IN (subquery) inside an expression: TRUE for a match, else NULL where a comparison was NULL, else FALSE."""
    inner = binder.query(tree.args["query"], scope)
    _one_column(inner, binder)
    needle = bind(binder, tree.this, scope, query)
    equal = exp.EQ(this=needle, expression=inner.outputs[0].expression)
    matched, unknown = binder.variable("matched"), binder.variable("unknown")
    is_null = exp.Is(this=exp.Paren(this=equal.copy()), expression=exp.Null())
    calls: list[tuple[Variable, exp.Expr]] = [
        (matched, exp.LogicalOr(this=equal)),
        (unknown, exp.CountIf(this=is_null)),
    ]
    inner.relation = Aggregate(inner.relation, [], calls)
    undecided = exp.GT(this=variable_reference(unknown.name), expression=exp.Literal.number(0))
    yes, no = variable_reference(matched.name), exp.If(this=undecided, true=exp.Null(), false=exp.false())
    inner.outputs = [Output("", exp.If(this=yes, true=exp.true(), false=no))]
    return _kept(binder, "scalar", inner, query)


# subqueries that are conditions


def is_semi_join(conjunct: exp.Expr) -> bool:
    """True for [NOT] EXISTS (…), x [NOT] IN (subquery) and x IN UNNEST(array)."""
    inside = conjunct.this.unnest() if isinstance(conjunct, exp.Not) else conjunct
    if isinstance(inside, exp.In):
        unnest = inside.args.get("unnest")
        return inside.args.get("query") is not None or (unnest is not None and not isinstance(conjunct, exp.Not))
    return isinstance(inside, exp.Exists)


def apply_semi_join(binder: Binder, conjunct: exp.Expr, scope: Scope, query: Query) -> None:
    """Joins the query's rows with the subquery of a condition."""
    negated = isinstance(conjunct, exp.Not)
    inside = conjunct.this.unnest() if negated else conjunct
    kind: JoinKind = "anti" if negated else "semi"
    conditions: list[exp.Expr] = []
    if isinstance(inside, exp.In) and inside.args.get("unnest") is not None:
        _apply_in_unnest(binder, inside, scope, query)
        return
    if isinstance(inside, exp.In):
        inner = binder.query(inside.args["query"], scope)
        _one_column(inner, binder)
        needle, value = bind(binder, inside.this, scope, query), inner.outputs[0].expression
        conditions.append(_matches(needle, value, query.relation, inner.relation, negated))
    else:
        inner = binder.query(inside.this, scope)
    query.subqueries |= inner.subqueries
    relation, lifted = decorrelated(inner.relation)
    query.relation = Join(kind, query.relation, relation, lifted + conditions, lateral=bool(outer_names(relation)))


def _matches(needle: exp.Expr, value: exp.Expr, left: Relation, right: Relation, negated: bool) -> exp.Expr:
    """needle = value; for NOT IN a NULL on either side is as good as a match, for then the answer is not TRUE."""
    equal: exp.Expr = exp.EQ(this=needle, expression=value)
    if negated:
        nullable = _nullable(left) | _nullable(right)
        for side in (needle, value):
            if not isinstance(side, exp.Column) or side.name in nullable:
                equal = exp.Or(this=equal, expression=exp.Is(this=side.copy(), expression=exp.Null()))
    return equal


def _nullable(relation: Relation) -> set[str]:
    """The variables that can be NULL: nullable columns, and whatever an outer join fills up with NULLs."""
    names = {v.name for v in relation.variables() if v.nullable}
    for step in walk(relation):
        if isinstance(step, Join) and step.kind in ("left", "full"):
            names |= step.right.names() | (step.left.names() if step.kind == "full" else set())
    return names


def _apply_in_unnest(binder: Binder, tree: exp.In, scope: Scope, query: Query) -> None:
    """x IN UNNEST(array): the array's different elements, and for each the rows with that x (facts.md 7.5 P22)."""
    array = bind(binder, tree.args["unnest"].expressions[0], scope, query)
    needle = bind(binder, tree.this, scope, query)
    element = binder.variable("element")
    unnest = Unnest(array, element)
    if variables_in(array):
        match = exp.EQ(this=needle, expression=variable_reference(element.name))
        query.relation = Join("semi", query.relation, unnest, [match], lateral=True)
        return
    key = binder.variable("element")
    distinct = Aggregate(unnest, [(key, variable_reference(element.name))], [])
    match = exp.EQ(this=needle, expression=variable_reference(key.name))
    query.relation = Join("inner", distinct, query.relation, [match], hints={"JOIN_METHOD": "APPLY_JOIN"})


def decorrelated(relation: Relation) -> tuple[Relation, list[exp.Expr]]:
    """Lifts the conditions of a subquery that speak of the outer query out of it, as far as it is a plain filter."""
    if not isinstance(relation, Filter):
        return relation, []
    inside: list[exp.Expr] = []
    lifted: list[exp.Expr] = []
    own = relation.child.names()
    for conjunct in relation.conjuncts:
        (inside if variables_in(conjunct) <= own else lifted).append(conjunct)
    below, more = decorrelated(relation.child)
    return (Filter(below, inside) if inside else below), lifted + more


def query_needs(query: Query) -> set[str]:
    """The outer variables that a whole query speaks of."""
    made = {name for step in walk(query.relation) for name in step.names()}
    spoken = {name for output in query.outputs for name in variables_in(output.expression)}
    return outer_names(query.relation) | (spoken - made)


def outer_names(relation: Relation) -> set[str]:
    """The variables that a step and the steps below it speak of but do not make: those of an outer query."""
    made: set[str] = set()
    spoken: set[str] = set()
    for step in walk(relation):
        made |= step.names()
        spoken |= {name for expression in expressions_of(step) for name in variables_in(expression)}
    return spoken - made


def expressions_of(step: Relation) -> list[exp.Expr]:
    """The expressions that a step works out itself."""
    found: list[exp.Expr] = []
    if isinstance(step, (Filter, Join)):
        found += step.conjuncts
    if isinstance(step, Aggregate):
        found += [expression for _, expression in step.keys + step.calls]
    if isinstance(step, Unnest):
        found.append(step.array)
    if isinstance(step, Sort):
        found += [variable_reference(key.name) for key in step.keys]
    if isinstance(step, Limit):
        found.append(step.count)
    if isinstance(step, SpoolBuild):
        found += [expression for _, expression in step.outputs]
    found += [expression for _, expression in getattr(step, "assignments", [])]
    found += [expression for branch in getattr(step, "inputs", []) for expression in branch]
    return found
