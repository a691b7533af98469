"""Binding of ARRAYs, STRUCTs and JSON: making them, and taking parts out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError
from spanlab.sql import conditions
from spanlab.sql.binder import Binder, binds, form, refused
from spanlab.sql.bound import BOOL, INT64, JSON, STRING, Batch, Bound, call, coerced, constant, cost, text_of_tree
from spanlab.sql.functions import Fault, arrays
from spanlab.sql.vectors import Vector
from spanlab.values import Type


@binds(exp.Array)
def bind_array(binder: Binder, node: exp.Expr) -> Bound:
    if any(isinstance(one, exp.Query) for one in node.expressions):
        raise refused(node.expressions[0])
    if not node.expressions:
        return constant(Type("ARRAY", element=INT64), [], node)
    element, parts = conditions.unified(node, binder.bind_all(node.expressions), "An ARRAY")
    if element.name == "ARRAY":
        raise QueryError(f"Spanner has no ARRAY of ARRAYs: {text_of_tree(node)}")
    type_ = Type("ARRAY", element=element)
    if all(part.literal for part in parts):
        return constant(type_, [part.value for part in parts], node)
    return _collected(node, type_, parts, list)


@binds(exp.Struct, exp.Tuple)
def bind_struct(binder: Binder, node: exp.Expr) -> Bound:
    names = [one.this.name if isinstance(one, exp.PropertyEQ) else one.alias for one in node.expressions]
    values = [one.expression if isinstance(one, exp.PropertyEQ) else one.unalias() for one in node.expressions]
    parts = binder.bind_all(values)
    type_ = Type("STRUCT", fields=tuple(zip(names, (part.type for part in parts), strict=True)))
    return _collected(node, type_, parts, tuple)


@binds(exp.Dot)
def bind_dot(binder: Binder, node: exp.Expr) -> Bound:
    if not isinstance(node.expression, exp.Identifier):
        raise refused(node)
    return binder.field(node, binder.bind(node.this), node.expression.name)


@binds(exp.Bracket)
def bind_bracket(binder: Binder, node: exp.Expr) -> Bound:
    array, (index, *rest) = binder.bind(node.this), binder.bind_all(node.expressions)
    if array.type.name == "JSON":
        raise UnsupportedError(f"{text_of_tree(node)} lies outside the course", hint="JSON_QUERY(document, '$.a[0]')")
    element_type, offset = array.type.element, node.args.get("offset")
    if element_type is None or offset is None or index.type.name != "INT64" or rest:
        raise QueryError(
            f"{text_of_tree(node)} needs an ARRAY and an INT64", hint="names[OFFSET(0)], names[ORDINAL(1)]"
        )
    first, lenient = int(offset), bool(node.args.get("safe"))

    def element(values: list[Any], at: int) -> Any:
        if first <= at < len(values) + first:
            return values[at - first]
        if lenient:
            return None
        raise Fault(f"array index {at} is out of bounds: the array has {len(values)} elements")

    return call(node, element_type, element, [array, index])


@binds(exp.JSONExtractScalar, exp.JSONExtract)
def bind_json(binder: Binder, node: exp.Expr) -> Bound:
    root, *steps = node.expression.expressions if isinstance(node.expression, exp.JSONPath) else [None]
    if root is None or not all(isinstance(step, (exp.JSONPathKey, exp.JSONPathSubscript)) for step in steps):
        raise UnsupportedError(f"{text_of_tree(node)}: this JSONPath lies outside the course", hint="'$.a.b[0]'")
    path = [step.this for step in steps if step is not None]
    compute = arrays.json_value if isinstance(node, exp.JSONExtractScalar) else arrays.json_query
    document = binder.bind(node.this)
    if document.type.name not in ("JSON", "STRING"):
        raise QueryError(f"{text_of_tree(node)} needs a JSON; {document.type} is none")
    type_ = STRING if isinstance(node, exp.JSONExtractScalar) or document.type.name == "STRING" else JSON
    return call(node, type_, lambda value: compute(value, path), [document])


@form("ARRAY_INCLUDES")
def bind_includes(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    if len(nodes) != 2:
        raise QueryError(f"ARRAY_INCLUDES takes an ARRAY and a value: {text_of_tree(node)}")
    array, value = binder.bind_all(nodes)
    element = array.type.element
    if array.type.name != "ARRAY" or element is None or cost(value, element) is None:
        raise QueryError(f"ARRAY_INCLUDES takes an ARRAY and a value of its element type: {text_of_tree(node)}")
    return call(node, BOOL, lambda values, one: one in values, [array, coerced(value, element)])


def _collected(node: exp.Expr, type_: Type, parts: Sequence[Bound], kind: type) -> Bound:
    """An ARRAY or STRUCT of these parts, which may be NULL."""

    def vector(batch: Batch) -> Vector:
        lists = [part.vector(batch).to_list() for part in parts]
        return Vector.of(type_, [kind(row) for row in zip(*lists, strict=True)])

    return Bound(type_, lambda values, context: kind(part.row(values, context) for part in parts), vector, node)
