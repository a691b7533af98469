"""The binder: from the parser's tree to closures that know their types (`spanlab.sql.bound`).

Each kind of node has a function here or in the modules beside it (`bind_conditions`, `bind_collections`,
`bind_moments`), registered with `binds`; functions of GoogleSQL whose arguments are not simply computed first have one
registered with `form`. All other calls go to the table of functions.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError, suggest
from spanlab.sql.bound import (
    BOOL,
    BYTES,
    DATE,
    FLOAT64,
    INT64,
    NUMERIC,
    STRING,
    TIMESTAMP,
    UUID,
    Bound,
    Context,
    Cost,
    EvaluationError,
    call,
    coerced,
    column,
    constant,
    per_row,
    text_of_tree,
    total_cost,
)
from spanlab.sql.calls import FOREIGN, read_call
from spanlab.sql.casting import caster
from spanlab.sql.conditions import without_faults
from spanlab.sql.dialect import Spanner
from spanlab.sql.functions import FUNCTIONS, Overload, texts
from spanlab.sql.functions.outside import OUTSIDE_THE_COURSE
from spanlab.values import INT64_MAX, Type, coerce, value_from_text

Method = TypeVar("Method", bound=Callable[..., Bound])
METHODS: dict[type[exp.Expr], Callable[..., Bound]] = {}
"""How to bind a kind of node: `method(binder, node)`."""
FORMS: dict[str, Callable[..., Bound]] = {}
"""How to bind a call by its name: `form(binder, node, arguments)`."""


def binds(*kinds: type[exp.Expr]) -> Callable[[Method], Method]:
    """Register the decorated function as the one that binds nodes of these kinds."""

    def register(method: Method) -> Method:
        METHODS.update(dict.fromkeys(kinds, method))
        return method

    return register


def form(*names: str) -> Callable[[Method], Method]:
    """Register the decorated function as the one that binds calls of these names."""

    def register(method: Method) -> Method:
        FORMS.update(dict.fromkeys(names, method))
        return method

    return register


class Binder:
    """Binds one expression: knows the columns and parameters, and notes which columns are used."""

    def __init__(self, types: Mapping[str, Type], params: Mapping[str, object] | None) -> None:
        self.types, self.params = types, params
        self.used: dict[str, Type] = {}
        self.used_params: dict[str, object] = {}
        self.by_name: dict[str, list[str]] = {}
        for name in types:
            folded = name.casefold()
            for key in {folded, folded.rpartition(".")[2]}:
                self.by_name.setdefault(key, []).append(name)

    def bind_whole(self, expression: exp.Expr) -> Bound:
        """The expression, bound. Raises QueryError and UnsupportedError."""
        try:
            return self.bind(expression)
        except RecursionError:
            raise QueryError("This expression is nested too deeply; Spanner has a limit for it too") from None

    def bind(self, node: exp.Expr) -> Bound:
        """A part of the expression, bound."""
        method = METHODS.get(type(node))
        if method is not None:
            return method(self, node)
        found = read_call(node)
        if found is not None:
            return self.call(node, *found)
        raise refused(node)

    def bind_all(self, nodes: Sequence[exp.Expr]) -> list[Bound]:
        """Several parts, bound."""
        return [self.bind(node) for node in nodes]

    def find(self, name: str) -> str | None:
        """The column of that name, exactly so or but for case; None where there is none."""
        if name in self.types:
            return name
        found = self.by_name.get(name.casefold(), ())
        exact = [one for one in found if one.casefold() == name.casefold()]
        if len(exact or found) > 1:
            raise QueryError(f"Column name {name} is ambiguous: it may be {' or '.join(exact or found)}")
        return next(iter(exact or found), None)

    def field(self, node: exp.Expr, bound: Bound, name: str) -> Bound:
        """The field of that name of a STRUCT."""
        names = [field.casefold() for field, _ in bound.type.fields]
        if bound.type.name == "JSON" or "." in bound.type.name:
            raise UnsupportedError(f"Fields of {bound.type} lie outside the course: {text_of_tree(node)}")
        if bound.type.name != "STRUCT" or name.casefold() not in names:
            near = suggest(name, [field for field, _ in bound.type.fields])
            raise QueryError(f"{text_of_tree(bound.tree)} of type {bound.type} has no field {name}.{near}")
        at = names.index(name.casefold())
        return call(node, bound.type.fields[at][1], lambda value: value[at], [bound])

    def call(self, node: exp.Expr, name: str, nodes: list[exp.Expr], safe: bool = False) -> Bound:
        """The call of a function or operator; with `safe` it gives NULL where the function fails."""
        if name in FORMS:
            return FORMS[name](self, node, nodes)
        if name not in FUNCTIONS:
            raise _unknown_function(name, node)
        if name == "-" and len(nodes) == 1 and isinstance(nodes[0], exp.Literal) and not nodes[0].is_string:
            return number("-" + nodes[0].name, node)
        arguments = self.bind_all(nodes)
        overload = choose_overload(name, arguments, node)
        arguments = [coerced(one, overload.argument(i) or one.type) for i, one in enumerate(arguments)]
        result = overload.result
        if result.name == "ARRAY" and result.element is None:
            result = next((one.type for one in arguments if not one.literal), arguments[0].type)
        if safe:
            return call(node, result, without_faults(overload.row), arguments)
        return call(node, result, overload.row, arguments, overload.array)


# ---- leaves ------------------------------------------------------------------------------------------------------


@binds(exp.Literal)
def bind_literal(binder: Binder, node: exp.Literal) -> Bound:
    if node.is_string:
        return constant(STRING, node.name, node)
    return number(node.name, node)


@binds(exp.Null)
def bind_null(binder: Binder, node: exp.Expr) -> Bound:
    return null(node)


@binds(exp.Boolean)
def bind_boolean(binder: Binder, node: exp.Expr) -> Bound:
    return constant(BOOL, bool(node.this), node)


@binds(exp.RawString)
def bind_raw_string(binder: Binder, node: exp.Expr) -> Bound:
    return constant(STRING, node.name, node)


@binds(exp.ByteString)
def bind_byte_string(binder: Binder, node: exp.Expr) -> Bound:
    return constant(BYTES, node.name.encode("latin-1"), node)  # the parser keeps one character a byte


@binds(exp.HexString)
def bind_hex_string(binder: Binder, node: exp.Expr) -> Bound:
    return number(str(int(node.name, 16)), node)


@binds(exp.Paren)
def bind_paren(binder: Binder, node: exp.Expr) -> Bound:
    return binder.bind(node.this)


@binds(exp.Column)
def bind_column(binder: Binder, node: exp.Column) -> Bound:
    if isinstance(node.this, exp.Star):
        raise QueryError("* stands for all columns of a select list; it is no value", hint="name a column")
    parts = [part.name for part in node.parts]
    for length in range(len(parts), 0, -1):
        name = binder.find(".".join(parts[:length]))
        if name is not None:
            bound = column(name, binder.types[name], node)
            binder.used[name] = binder.types[name]
            for field in parts[length:]:
                bound = binder.field(node, bound, field)
            return bound
    name = binder.find(parts[-1]) if len(parts) > 1 else None
    if name is not None and "." not in name:
        binder.used[name] = binder.types[name]
        return column(name, binder.types[name], node)
    place, near = node.parts[0].meta, suggest(parts[-1], [key.rpartition(".")[2] for key in binder.types])
    raise QueryError(
        f"Unrecognized name: {'.'.join(parts)}.{near}",
        hint=f"the columns here are {', '.join(binder.types)}" if 0 < len(binder.types) <= 12 else "",
        line=place.get("line"),
        column=place["col"] - len(parts[0]) + 1 if "col" in place else None,
        width=len(".".join(parts)),
    )


@binds(exp.Parameter, exp.Placeholder)
def bind_parameter(binder: Binder, node: exp.Expr) -> Bound:
    name = node.name
    if not isinstance(node.this, exp.Var):
        raise UnsupportedError(f"{text_of_tree(node)} lies outside the course", hint="name parameters: @name")
    if binder.params is None:
        binder.used_params[name] = None
        return constant(INT64, None, node)
    known = {key.casefold(): key for key in binder.params}
    if name.casefold() not in known:
        raise QueryError(f"No value was given for the parameter @{name}.{suggest(name, binder.params)}")
    value = binder.params[known[name.casefold()]]
    binder.used_params[known[name.casefold()]] = list(value) if isinstance(value, (list, tuple)) else value
    return constant(*_parameter(value, name), node)


# ---- calls -------------------------------------------------------------------------------------------------------


@binds(exp.SafeFunc)
def bind_safe(binder: Binder, node: exp.Expr) -> Bound:
    found = read_call(node.this)
    if found is None or found[0] in FORMS:
        raise UnsupportedError(f"{text_of_tree(node)}: the SAFE. prefix before this function lies outside the course")
    return binder.call(node, *found, safe=True)


@binds(exp.Cast, exp.TryCast)
def bind_cast(binder: Binder, node: exp.Expr) -> Bound:
    target = _type_named(node.args["to"])
    source = binder.bind(node.this)
    if source.literal and (source.value is None or (source.value == [] and target.name == "ARRAY")):
        return constant(target, source.value, node, literal=False)
    convert = caster(source.type, target)
    if convert is None:
        raise QueryError(f"Invalid cast from {source.type.name} to {target.name}: {text_of_tree(node)}")
    if isinstance(node, exp.TryCast):
        return call(node, target, without_faults(convert), [source])
    if source.type == target:
        return source
    bound = call(node, target, convert, [source])
    if not source.literal:
        return bound
    try:  # DATE '2026-01-01' is a literal too; one that fails does so when it is evaluated
        return constant(target, bound.row({}, Context()), node, literal=target.name != "STRING")
    except EvaluationError:
        return bound


@form("FORMAT")
def bind_format(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    template, *values = binder.bind_all(nodes)
    kinds = [value.type for value in values]
    if template.type.name != "STRING":
        raise QueryError(f"FORMAT needs a STRING first: {text_of_tree(node)}")
    return call(
        node,
        STRING,
        lambda text, *given: texts.format_text(text, list(zip(kinds, given, strict=True))),
        [template, *values],
    )


@form("GET_NEXT_SEQUENCE_VALUE")
def bind_sequence(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    name = nodes[0].name.removeprefix("SEQUENCE ").replace("`", "") if nodes else ""

    def draw(context: Context) -> int:
        if context.next_value is None:
            raise QueryError(f"The sequence {name} cannot be drawn from here: a read-write transaction is needed")
        return context.next_value(name)

    return per_row(node, INT64, draw)


@form("GENERATE_UUID")
def bind_generate_uuid(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    return per_row(node, STRING, _uuid)


@form("NEW_UUID")
def bind_new_uuid(binder: Binder, node: exp.Expr, nodes: list[exp.Expr]) -> Bound:
    return per_row(node, UUID, _uuid)


def _uuid(context: Context) -> str:
    return str(uuid.UUID(int=context.random.getrandbits(128), version=4))


# ---- helpers -----------------------------------------------------------------------------------------------------


def null(node: exp.Expr) -> Bound:
    """NULL, which is of every type."""
    return constant(INT64, None, node)


def number(text: str, node: exp.Expr) -> Bound:
    """A number as it is written: INT64 if it has digits alone. Raises QueryError where it does not fit."""
    if text.lstrip("-").isdecimal():
        if not -INT64_MAX - 1 <= int(text) <= INT64_MAX:
            raise QueryError(f"Invalid integer literal: {text} does not fit INT64", hint="NUMERIC '…' holds 29 digits")
        return constant(INT64, int(text), node)
    try:
        return constant(FLOAT64, value_from_text(FLOAT64, text), node)
    except ValueError as error:
        raise QueryError(f"Invalid number: {error}") from None


def _parameter(value: Any, name: str) -> tuple[Type, object]:
    """The type of a parameter's value, and the value made proper. Raises QueryError where it is no value of Spanner."""
    value = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value  # a numpy scalar
    type_ = _type_of(value, name)
    try:
        return type_, coerce(type_, value)
    except ValueError as error:
        raise QueryError(f"The parameter @{name}: {error}") from None


def _type_of(value: object, name: str) -> Type:
    if value is None:
        return INT64
    if isinstance(value, (list, tuple)):
        kinds = {_type_of(one, name) for one in value if one is not None}
        return Type("ARRAY", element=kinds.pop() if len(kinds) == 1 else FLOAT64 if kinds else INT64)
    for python, type_ in _PARAMETER_TYPES:
        if isinstance(value, python):
            return type_
    raise QueryError(f"The parameter @{name} holds a Python {type(value).__name__}, which is no value of Spanner")


_PARAMETER_TYPES: tuple[tuple[type, Type], ...] = (
    (bool, BOOL), (int, INT64), (float, FLOAT64), (Decimal, NUMERIC), (str, STRING), (bytes, BYTES),
    (datetime, TIMESTAMP), (date, DATE), (uuid.UUID, UUID),
)  # fmt: skip


def _type_named(node: exp.Expr) -> Type:
    text = node.sql(dialect=Spanner)
    try:
        return Type.parse(text)
    except ValueError as error:
        raise QueryError(f"Type not found: {error}") from None


def choose_overload(name: str, arguments: Sequence[Bound], node: exp.Expr) -> Overload:
    """The overload of a function that these arguments fit best. Raises QueryError where none fits."""
    best: tuple[Cost, Overload] | None = None
    for overload in FUNCTIONS[name]:
        wanted = [type_ for i in range(len(arguments)) if (type_ := overload.argument(i)) is not None]
        if not overload.required <= len(arguments) == len(wanted):
            continue
        total = total_cost(arguments, wanted)
        if total is not None and (best is None or total < best[0]):
            best = total, overload
    if best is None:
        given = ", ".join(one.type.name for one in arguments)
        known = " or ".join(str(overload) for overload in FUNCTIONS[name])
        raise QueryError(
            f"No matching signature for {name} with argument types ({given}): {text_of_tree(node)}",
            hint=f"{known}; CAST what does not fit",
        )
    return best[1]


def _unknown_function(name: str, node: exp.Expr) -> Exception:
    if name in OUTSIDE_THE_COURSE:
        return UnsupportedError(f"The function {name} lies outside the course")
    if name in FUNCTIONS:
        return UnsupportedError(f"{name} is known, but not in this form: {text_of_tree(node)}")
    meant = f" Spanner's is {FOREIGN[name]}." if name in FOREIGN else suggest(name, [*FUNCTIONS, *FORMS])
    return QueryError(f"Function not found: {name}.{meant}")


def refused(node: exp.Expr) -> Exception:
    """The error for a node that no method binds."""
    if isinstance(node, (exp.Query, exp.Subquery, exp.Exists)):
        return QueryError("A subquery cannot stand in this expression")
    if isinstance(node, exp.AggFunc):
        return QueryError(f"The aggregate function {text_of_tree(node)} cannot stand in this expression")
    if isinstance(node, exp.Func):
        return _unknown_function(text_of_tree(node).partition("(")[0].upper(), node)
    if isinstance(node, exp.ILike):
        return QueryError("Spanner has no ILIKE", hint="LOWER(a) LIKE LOWER(b)")
    return UnsupportedError(f"{text_of_tree(node)} lies outside the course")
