"""What a query asks for, step by step, before anything is said about splits.

The binder turns SQL into these steps; the planner turns them into the operators that Spanner prints. A step says *what*
(join these rows, keep those, group by that), an operator says *where and how* (on which server, by which index).

Values travel in variables: `$SingerId`, `$SingerId_1` … as a plan prints them. In an expression a variable is a sqlglot
`Column` with that name and no table. A subquery that is worked out for each row on its own (below IF, or ARRAY(…)) is
listed in `Query.subqueries` and stands in the expression as a `SubqueryValue`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanlab.catalog import Table
    from spanlab.values import Type

JoinKind = Literal["inner", "left", "full", "semi", "anti"]
Hints = dict[str, str]
"""Hints in capitals: {"FORCE_INDEX": "SingersByLastName"}."""


@dataclass(frozen=True)
class Variable:
    """A value that flows through a plan, `$name`. `type` is None where only an expression says it."""

    name: str
    type: Type | None = None
    nullable: bool = True


@dataclass(eq=False)
class Relation:
    """A step: rows with `variables`."""

    def variables(self) -> list[Variable]:
        """The variables that its rows carry."""
        raise NotImplementedError

    def children(self) -> list[Relation]:
        """The steps that it reads from."""
        return []

    def names(self) -> set[str]:
        """The names of its variables."""
        return {variable.name for variable in self.variables()}


@dataclass(eq=False)
class Unit(Relation):
    """One row without columns: SELECT without FROM."""

    def variables(self) -> list[Variable]:
        return []


@dataclass(eq=False)
class Empty(Relation):
    """No rows: LIMIT 0. `source` is what is not read; it says which variables there would be."""

    source: Relation

    def variables(self) -> list[Variable]:
        return self.source.variables()


@dataclass(eq=False)
class Scan(Relation):
    """A table of the schema; `columns` are those that the query speaks of, by name in lower case.

    `origin` is set for one of several readings of the same item of FROM (an index union).
    """

    table: Table
    alias: str
    hints: Hints = field(default_factory=dict)
    columns: dict[str, Variable] = field(default_factory=dict)
    system: bool = False
    sample: tuple[str, float] | None = None
    origin: Scan | None = None

    def variables(self) -> list[Variable]:
        return list(self.columns.values())


@dataclass(eq=False)
class Unnest(Relation):
    """The elements of an array, one row each."""

    array: exp.Expr
    element: Variable
    offset: Variable | None = None

    def variables(self) -> list[Variable]:
        return [self.element, *([self.offset] if self.offset else [])]


@dataclass(eq=False)
class Filter(Relation):
    """The rows for which every conjunct is true."""

    child: Relation
    conjuncts: list[exp.Expr]

    def variables(self) -> list[Variable]:
        return self.child.variables()

    def children(self) -> list[Relation]:
        return [self.child]


@dataclass(eq=False)
class Compute(Relation):
    """The child's rows with more variables, each from an expression."""

    child: Relation
    assignments: list[tuple[Variable, exp.Expr]]

    def variables(self) -> list[Variable]:
        return self.child.variables() + [variable for variable, _ in self.assignments]

    def children(self) -> list[Relation]:
        return [self.child]


@dataclass(eq=False)
class Join(Relation):
    """Pairs of rows for which every conjunct is true.

    `left` keeps every left row, `full` every row, `semi` the left rows with a match, `anti` those without. With
    `lateral` the right side speaks of the left side's variables in other places than the conjuncts. `flipped` marks
    a RIGHT JOIN, whose sides have changed places.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    conjuncts: list[exp.Expr] = field(default_factory=list)
    hints: Hints = field(default_factory=dict)
    lateral: bool = False
    flipped: bool = False

    def variables(self) -> list[Variable]:
        return self.left.variables() + (self.right.variables() if self.kind not in ("semi", "anti") else [])

    def children(self) -> list[Relation]:
        return [self.left, self.right]


@dataclass(eq=False)
class Aggregate(Relation):
    """One row for each different value of the keys; one row in all where there are no keys.

    `single` marks a subquery that stands for a value: more than one row of the child is an error.
    """

    child: Relation
    keys: list[tuple[Variable, exp.Expr]]
    calls: list[tuple[Variable, exp.Expr]]
    hints: Hints = field(default_factory=dict)
    single: bool = False

    def variables(self) -> list[Variable]:
        return [variable for variable, _ in self.keys + self.calls]

    def children(self) -> list[Relation]:
        return [self.child]


@dataclass(frozen=True)
class SortKey:
    """One part of ORDER BY: a variable and its direction. NULLs come first ascending, last descending."""

    name: str
    desc: bool = False


@dataclass(eq=False)
class Sort(Relation):
    """The child's rows in order."""

    child: Relation
    keys: list[SortKey]

    def variables(self) -> list[Variable]:
        return self.child.variables()

    def children(self) -> list[Relation]:
        return [self.child]


@dataclass(eq=False)
class Limit(Relation):
    """The first rows after `offset`; both are literals or parameters."""

    child: Relation
    count: exp.Expr
    offset: exp.Expr | None = None

    def variables(self) -> list[Variable]:
        return self.child.variables()

    def children(self) -> list[Relation]:
        return [self.child]


@dataclass(eq=False)
class UnionAll(Relation):
    """The rows of several steps after one another; `inputs` holds each branch's expressions of the outputs."""

    branches: list[Relation]
    outputs: list[Variable]
    inputs: list[list[exp.Expr]]

    def variables(self) -> list[Variable]:
        return self.outputs

    def children(self) -> list[Relation]:
        return self.branches


@dataclass(eq=False)
class SpoolBuild(Relation):
    """WITH: rows that the body reads more than once are worked out once and kept."""

    name: str
    definition: Relation
    outputs: list[tuple[str, exp.Expr]]
    body: Relation

    def variables(self) -> list[Variable]:
        return self.body.variables()

    def children(self) -> list[Relation]:
        return [self.definition, self.body]


@dataclass(eq=False)
class SpoolScan(Relation):
    """One reading of kept rows; `columns` maps the spool's column names to variables."""

    name: str
    columns: dict[str, Variable]

    def variables(self) -> list[Variable]:
        return list(self.columns.values())


@dataclass(eq=False)
class Output:
    """A column of the result."""

    name: str
    expression: exp.Expr


@dataclass(eq=False)
class Subquery:
    """A subquery that stands for a value in an expression, as `$variable`."""

    variable: Variable
    kind: Literal["scalar", "array", "exists"]
    query: Query


@dataclass(eq=False)
class Query:
    """A bound SELECT: steps, result columns, subqueries in its expressions by variable name, statement hints."""

    relation: Relation
    outputs: list[Output]
    subqueries: dict[str, Subquery] = field(default_factory=dict)
    hints: Hints = field(default_factory=dict)
    as_struct: bool = False


class SubqueryValue(exp.Expression, exp.Condition):
    """In an expression: the value of a kept subquery, `$this`, worked out for each row.

    The subquery speaks of outer variables by the `names`; `expressions` are what stands for them where the value is
    needed.
    """

    arg_types = {"this": True, "names": True, "expressions": False}  # noqa: RUF012


def subquery_values(expression: exp.Expr) -> list[SubqueryValue]:
    """The kept subqueries that an expression itself needs, each once."""
    found = {node.name: node for node in expression.find_all(SubqueryValue, bfs=False)}
    return list(found.values())


def with_plain_values(expression: exp.Expr) -> exp.Expr:
    """The expression with a variable in the place of each kept subquery, ready to be evaluated."""
    if not subquery_values(expression):
        return expression
    return expression.copy().transform(
        lambda node: variable_reference(node.name) if isinstance(node, SubqueryValue) else node
    )


def variable_reference(name: str) -> exp.Column:
    """`$name` in an expression."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def variables_in(expression: exp.Expr) -> set[str]:
    """The names of the variables in an expression."""
    found: set[str] = set()
    waiting: list[Any] = [expression]
    while waiting:  # sqlglot's own walk is written for more than this, and slower
        node = waiting.pop()
        if isinstance(node, exp.Column):
            found.add(node.name)
        elif isinstance(node, exp.Expr):
            waiting += node.args.values()
        elif isinstance(node, list):
            waiting += node
    return found


def walk(relation: Relation) -> Iterator[Relation]:
    """A step and all below it."""
    yield relation
    for child in relation.children():
        yield from walk(child)


def conjuncts_of(expression: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND holds together."""
    expression = expression.unnest()
    if isinstance(expression, exp.And):
        return conjuncts_of(expression.this) + conjuncts_of(expression.expression)
    return [expression]
