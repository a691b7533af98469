"""The types of all variables of a query, and the errors that types bring to light.

Spanner checks types before it plans: a SUM of texts or a comparison of a date with a number is refused, whatever the
rows hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, SqlError
from spanlab.query.aggregates import arguments, result_type
from spanlab.query.logical import (
    Aggregate,
    Compute,
    Empty,
    Filter,
    Join,
    Query,
    Relation,
    Scan,
    SpoolBuild,
    SpoolScan,
    Subquery,
    SubqueryValue,
    UnionAll,
    Unnest,
    subquery_values,
    variables_in,
    with_plain_values,
)
from spanlab.sql.expressions import infer_type
from spanlab.values import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

BOOL, INT64 = Type("BOOL"), Type("INT64")
_NUMBERS = ("INT64", "NUMERIC", "FLOAT64")


class Typer:
    """Goes through a query from its leaves up; `types` holds what is known by variable name."""

    def __init__(self, text: str, params: Mapping[str, object] | None) -> None:
        self.text, self.params = text, params
        self.types: dict[str, Type] = {}
        self.untyped: set[str] = set()
        self._subqueries: dict[str, Subquery] = {}
        self._spools: dict[str, dict[str, Type]] = {}

    def query(self, query: Query) -> list[Type]:
        """The types of the result's columns."""
        self._subqueries |= query.subqueries
        self.relation(query.relation)
        return [self.expression(output.expression) for output in query.outputs]

    def expression(self, expression: exp.Expr) -> Type:
        """The type of one expression."""
        for value in subquery_values(expression):
            self._subquery(value)
        try:
            return infer_type(with_plain_values(expression), self.types, self.params)
        except SqlError as error:
            if not error.text:
                error.text = self.text
            raise

    def _subquery(self, value: SubqueryValue) -> None:
        """The type of a subquery that stands for a value; worked out when it is first met."""
        name = value.name
        if name in self.types:
            return
        for outer, expression in zip(value.args["names"], value.expressions, strict=True):
            if outer not in self.types:
                self.types[outer] = self.expression(expression)
        subquery = self._subqueries[name]
        types = self.query(subquery.query)
        if subquery.kind == "exists":
            self.types[name] = BOOL
        elif subquery.kind == "scalar":
            self.types[name] = types[0]
        else:
            struct = Type(
                "STRUCT", fields=tuple((o.name, t) for o, t in zip(subquery.query.outputs, types, strict=True))
            )
            self.types[name] = Type("ARRAY", element=struct if subquery.query.as_struct else types[0])

    def relation(self, relation: Relation) -> None:
        """Works out the types of a step's variables."""
        for child in relation.children():
            self.relation(child)
            if isinstance(relation, SpoolBuild) and child is relation.definition:
                self._spools[relation.name] = {name: self.expression(e) for name, e in relation.outputs}
        if isinstance(relation, Empty):
            self.relation(relation.source)
        elif isinstance(relation, Scan):
            self.types |= {v.name: v.type for v in relation.columns.values() if v.type is not None}
        elif isinstance(relation, Unnest):
            self._unnest(relation)
        elif isinstance(relation, Compute):
            self.types |= {v.name: self.expression(e) for v, e in relation.assignments}
        elif isinstance(relation, (Filter, Join)):
            for conjunct in relation.conjuncts:
                self._condition(conjunct)
        elif isinstance(relation, Aggregate):
            self._aggregate(relation)
        elif isinstance(relation, UnionAll):
            self._union(relation)
        elif isinstance(relation, SpoolScan):
            known = self._spools[relation.name]
            self.types |= {variable.name: known[name] for name, variable in relation.columns.items()}

    def _condition(self, conjunct: exp.Expr) -> None:
        if self._unknown(conjunct):
            return
        type_ = self.expression(conjunct)
        if type_ != BOOL and not isinstance(conjunct.unnest(), (exp.Null, exp.Parameter)):
            raise QueryError(f"A condition is a BOOL; {conjunct.sql()} is {type_}.", text=self.text)

    def _unknown(self, expression: exp.Expr) -> bool:
        """True where the type of a parameter without a value decides: a plan can be made, types cannot be checked."""
        free = {name for name in variables_in(expression) if name in self.untyped}
        return bool(free) or any(self._value(parameter) is None for parameter in expression.find_all(exp.Parameter))

    def _unnest(self, relation: Unnest) -> None:
        type_ = self.expression(relation.array)
        element = type_.element
        if element is None:
            if isinstance(relation.array, exp.Parameter) and self._value(relation.array) is None:
                element = INT64
                self.untyped.add(relation.element.name)
            else:
                raise QueryError(f"UNNEST takes an array, not {type_}.", text=self.text)
        self.types[relation.element.name] = element
        if relation.offset is not None:
            self.types[relation.offset.name] = INT64

    def _value(self, parameter: exp.Expr) -> object:
        return {k.casefold(): v for k, v in (self.params or {}).items()}.get(parameter.name.casefold())

    def _aggregate(self, relation: Aggregate) -> None:
        for variable, expression in relation.keys:
            self.types[variable.name] = self._group_key(expression)
            if variables_in(expression) & self.untyped:
                self.untyped.add(variable.name)
        for variable, call in relation.calls:
            self.types[variable.name] = result_type(call, [self.expression(e) for e in arguments(call)])

    def _group_key(self, expression: exp.Expr) -> Type:
        type_ = self.expression(expression)
        if type_.name in ("ARRAY", "STRUCT", "JSON"):
            raise QueryError(f"Spanner cannot group by values of type {type_}.", text=self.text)
        return type_

    def _union(self, relation: UnionAll) -> None:
        for number, variable in enumerate(relation.outputs):
            branches = [expressions[number] for expressions in relation.inputs]
            self.types[variable.name] = self._common([(e, self.expression(e)) for e in branches])

    def _common(self, found: Sequence[tuple[exp.Expr, Type]]) -> Type:
        types = [type_ for expression, type_ in found if not isinstance(expression, exp.Null)] or [found[0][1]]
        if len({type_.name for type_ in types}) == 1:
            return types[0]
        names = {type_.name for type_ in types}
        if names <= set(_NUMBERS):
            return Type("FLOAT64") if "FLOAT64" in names else Type("NUMERIC")
        raise QueryError(f"The branches of UNION have different types: {', '.join(sorted(names))}.", text=self.text)
