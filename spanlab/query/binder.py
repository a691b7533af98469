"""From SQL text to steps: every name is looked up in the schema, every subquery finds its place.

Spanner does the same before it plans, and refuses a query whose names it does not know. What the binder does beyond
looking up names: `*` is written out, views and WITH are put in, IN and EXISTS in WHERE become semi-joins, a subquery
that stands for a value becomes a join with one row, and expressions of a subquery in FROM are put in where the outer
query speaks of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError
from spanlab.query import bind_expressions as expressions
from spanlab.query import hints as known_hints
from spanlab.query import sources
from spanlab.query.logical import (
    Aggregate,
    Compute,
    Empty,
    Filter,
    Limit,
    Output,
    Query,
    Relation,
    Sort,
    SortKey,
    SpoolBuild,
    UnionAll,
    Unit,
    Variable,
    conjuncts_of,
    variable_reference,
    variables_in,
)
from spanlab.query.scope import Scope, error_at, star_of
from spanlab.sql import parse_query
from spanlab.sql.dialect import hints

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanlab.catalog import Table
    from spanlab.schema import Schema
    from spanlab.values import Type

_OUTSIDE = {
    exp.Window: "window functions (OVER)",
    exp.Qualify: "QUALIFY",
    exp.Pivot: "PIVOT",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
    exp.Lateral: "LATERAL",
    exp.Rollup: "GROUP BY ROLLUP",
    exp.Cube: "GROUP BY CUBE",
    exp.GroupingSets: "GROUPING SETS",
}


@dataclass
class Common:
    """A WITH query: its tree, the scope and the WITH queries that it sees; `spool` where its rows are kept."""

    tree: exp.Expr
    scope: Scope | None
    view: dict[str, Common]
    spool: Query | None = None


def bind(text: str, schema: Schema, system_table: Callable[[str, str], Table | None]) -> Query:
    """The steps of a query.

    Raises QueryError for names and forms that Spanner refuses, UnsupportedError for those that the course leaves out.
    `system_table(schema name, table name)` gives the tables of INFORMATION_SCHEMA and SPANNER_SYS.
    """
    tree = parse_query(text)
    outside = tree.find(*_OUTSIDE)
    if outside is not None:
        raise UnsupportedError(f"{_OUTSIDE[type(outside)]} lies outside this course.", text=text)
    binder = Binder(text, schema, system_table)
    query = binder.query(tree, None)
    query.hints = known_hints.checked(hints(tree), known_hints.STATEMENT, "a statement", text)
    return query


class Binder:
    """Binds one statement; it hands out variable names and remembers the WITH queries in view."""

    def __init__(self, text: str, schema: Schema, system_table: Callable[[str, str], Table | None]) -> None:
        self.text, self.schema, self.system_table = text, schema, system_table
        self._used: dict[str, int] = {}
        self.common: dict[str, Common] = {}

    def variable(self, base: str, type_: Type | None = None, nullable: bool = True) -> Variable:
        """A new variable: `base`, or `base_1` … where that name is taken."""
        name, count = base, self._used.get(base.casefold(), 0)
        while name.casefold() in self._used:
            name, count = f"{base}_{count}", count + 1
        self._used[base.casefold()] = max(count, 1)
        self._used.setdefault(name.casefold(), 1)
        return Variable(name, type_, nullable)

    # queries

    def query(self, tree: exp.Expr, outer: Scope | None) -> Query:
        """Binds SELECT, UNION ALL or a query in parentheses; `outer` is the scope around it."""
        if isinstance(tree, (exp.Subquery, exp.Paren)) and not tree.args.get("alias"):
            inner = self.query(tree.this, outer)
            return self._tail(tree, inner, Scope(parent=outer)) if _has_tail(tree) else inner
        common_before = dict(self.common)
        spools = self._with(tree, outer)
        if isinstance(tree, exp.Union):
            query = self._union(tree, outer)
        elif isinstance(tree, exp.Select):
            query = self._select(tree, outer)
        else:
            raise UnsupportedError(f"{tree.key.upper()} is no query of this course.", text=self.text)
        for name, kept in reversed(spools):
            columns = [(output.name, output.expression) for output in kept.outputs]
            query.relation = SpoolBuild(name, kept.relation, columns, query.relation)
            query.subqueries |= kept.subqueries
        self.common = common_before
        return query

    def common_query(self, common: Common) -> Query:
        """Binds a WITH query where it is spoken of."""
        around, self.common = self.common, common.view
        query = self.query(common.tree, common.scope)
        self.common = around
        return query

    def _with(self, tree: exp.Expr, outer: Scope | None) -> list[tuple[str, Query]]:
        """Notes the WITH queries; those that are read more than once are bound now and kept."""
        clause = tree.args.get("with_")
        if clause is None:
            return []
        if clause.args.get("recursive"):
            raise UnsupportedError("WITH RECURSIVE lies outside this course.", text=self.text)
        spools = []
        for cte in clause.expressions:
            name = cte.alias
            common = Common(cte.this, outer, dict(self.common))
            if _uses(tree, name) - _uses(cte.this, name) > 1:
                common.spool = self.query(cte.this, outer)
                spools.append((name, common.spool))
            self.common = {**self.common, name.casefold(): common}
        return spools

    def _union(self, tree: exp.Union, outer: Scope | None) -> Query:
        branches = [self.query(branch, outer) for branch in _branches(tree)]
        width = len(branches[0].outputs)
        for branch in branches[1:]:
            if len(branch.outputs) != width:
                raise QueryError(
                    f"The branches of UNION have {width} and {len(branch.outputs)} columns; they must have as many.",
                    text=self.text,
                )
        outputs = [self.variable(output.name or "union") for output in branches[0].outputs]
        relation: Relation = UnionAll(
            [branch.relation for branch in branches],
            outputs,
            [[output.expression for output in branch.outputs] for branch in branches],
        )
        if tree.args.get("distinct"):
            relation = Aggregate(relation, [(v, variable_reference(v.name)) for v in outputs], [])
        names = [output.name for output in branches[0].outputs]
        query = Query(relation, [Output(n, variable_reference(v.name)) for n, v in zip(names, outputs, strict=True)])
        for branch in branches:
            query.subqueries |= branch.subqueries
        return self._tail(tree, query, Scope(parent=outer))

    # SELECT

    def _select(self, tree: exp.Select, outer: Scope | None) -> Query:
        if not tree.expressions:
            raise QueryError(
                "SELECT lists nothing to return.", hint="SELECT column, … FROM …, or SELECT *", text=self.text
            )
        query = Query(Unit(), [], as_struct=tree.args.get("kind") == "STRUCT")
        scope = Scope(parent=outer)
        if tree.args.get("from_") is not None:
            query.relation, scope = sources.bind_from(self, tree, scope, query)
        where = tree.args.get("where")
        if where is not None:
            self._where(where.this, scope, query)
        grouping = self._grouping(tree, scope, query)
        query.outputs = self._outputs(tree, scope, query, grouping)
        if grouping is not None:
            self._having(tree, scope, query, grouping)
            query.relation = grouping.relation(query.relation, query.outputs)
            if grouping.having:
                query.relation = Filter(query.relation, grouping.having)
        if tree.args.get("distinct"):
            self._distinct(query)
            return self._tail(tree, query, Scope(parent=outer))
        return self._tail(tree, query, scope, grouping)

    def _where(self, condition: exp.Expr, scope: Scope, query: Query) -> None:
        plain: list[exp.Expr] = []
        joins: list[exp.Expr] = []
        for conjunct in conjuncts_of(condition):
            (joins if expressions.is_semi_join(conjunct) else plain).append(conjunct)
        bound = [expressions.bind(self, conjunct, scope, query) for conjunct in plain]
        if bound:
            query.relation = Filter(query.relation, bound)
        for conjunct in joins:
            expressions.apply_semi_join(self, conjunct, scope, query)

    def _grouping(self, tree: exp.Select, scope: Scope, query: Query) -> Grouping | None:
        group = tree.args.get("group")
        if group is None and not _has_aggregates(tree):
            return None
        grouping = Grouping(self, known_hints.checked(hints(group), known_hints.GROUP, "GROUP BY", self.text))
        for item in group.expressions if group is not None else []:
            grouping.add_key(self._group_item(item, tree, scope, query))
        return grouping

    def _group_item(self, item: exp.Expr, tree: exp.Select, scope: Scope, query: Query) -> exp.Expr:
        if isinstance(item, exp.Literal) and not item.is_string:
            return expressions.bind(self, _ordinal(item, tree, self.text).unalias(), scope, query)
        if isinstance(item, exp.Column) and not item.table:
            named = next((e for e in tree.expressions if e.alias.casefold() == item.name.casefold() and e.alias), None)
            holders = [s for s in scope.sources if s.find(item.name) is not None]
            if named is not None and not holders:
                return expressions.bind(self, named.unalias(), scope, query)
        return expressions.bind(self, item, scope, query)

    def _outputs(self, tree: exp.Select, scope: Scope, query: Query, grouping: Grouping | None) -> list[Output]:
        outputs: list[Output] = []
        for item in tree.expressions:
            star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
            if isinstance(star, exp.Star):
                found = self._star(item, star, scope)
            else:
                bound = expressions.bind(self, item.unalias(), scope, query, grouping, name=item.alias)
                found = [(item.alias or _implicit_name(item), bound)]
            for name, expression in found:
                outputs.append(Output(name, grouping.above(expression) if grouping is not None else expression))
        return outputs

    def _star(self, item: exp.Expr, star: exp.Star, scope: Scope) -> list[tuple[str, exp.Expr]]:
        if isinstance(item, exp.Column) and item.table:
            source = scope.source(item.table)
            if source is None:
                raise error_at(f"{item.table} is no table or alias of this query.", item.args["table"], self.text)
            found = star_of(source)
        else:
            found = scope.star()
            if not found:
                raise QueryError("SELECT * needs a FROM.", text=self.text)
        left_out = {e.name.casefold() for e in star.args.get("except_") or []}
        replaced = {e.alias.casefold(): e.this for e in star.args.get("replace") or []}
        result = []
        for name, expression in found:
            if name.casefold() in left_out:
                continue
            if name.casefold() in replaced:
                expression = expressions.bind(self, replaced[name.casefold()], scope, Query(Unit(), []))
            result.append((name, expression))
        return result

    def _having(self, tree: exp.Select, scope: Scope, query: Query, grouping: Grouping) -> None:
        having = tree.args.get("having")
        for conjunct in conjuncts_of(having.this) if having is not None else []:
            named = _with_aliases(conjunct, query.outputs, scope)
            grouping.having.append(grouping.above(expressions.bind(self, named, scope, query, grouping)))

    def _distinct(self, query: Query) -> None:
        keys = [(self.variable(output.name or "distinct"), output.expression) for output in query.outputs]
        query.relation = Aggregate(query.relation, keys, [])
        query.outputs = [
            Output(output.name, variable_reference(key.name))
            for output, (key, _) in zip(query.outputs, keys, strict=True)
        ]

    # ORDER BY, LIMIT, OFFSET

    def _tail(self, tree: exp.Expr, query: Query, scope: Scope, grouping: Grouping | None = None) -> Query:
        order = tree.args.get("order")
        if order is not None:
            keys = [self._sort_key(item, query, scope, grouping) for item in order.expressions]
            query.relation = Sort(query.relation, keys)
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if limit is not None:
            count = _count(limit.expression, "LIMIT", self.text)
            if isinstance(count, exp.Literal) and count.name == "0":
                query.relation = Empty(query.relation)
            else:
                start = _count(offset.expression, "OFFSET", self.text) if offset is not None else None
                query.relation = Limit(query.relation, count, start)
        elif offset is not None:
            raise QueryError("OFFSET needs a LIMIT before it.", text=self.text)
        return query

    def _sort_key(self, item: exp.Ordered, query: Query, scope: Scope, grouping: Grouping | None) -> SortKey:
        desc = bool(item.args.get("desc"))
        if bool(item.args.get("nulls_first")) == desc:
            raise UnsupportedError("NULLS FIRST and NULLS LAST lie outside this course.", text=self.text)
        expression = self._sort_expression(item.this, query, scope, grouping)
        if isinstance(expression, exp.Column):
            return SortKey(expression.name, desc)
        variable = self.variable("sort_key")
        query.relation = Compute(query.relation, [(variable, expression)])
        return SortKey(variable.name, desc)

    def _sort_expression(self, item: exp.Expr, query: Query, scope: Scope, grouping: Grouping | None) -> exp.Expr:
        if isinstance(item, exp.Literal) and not item.is_string:
            number = int(item.name)
            if not 1 <= number <= len(query.outputs):
                raise QueryError(f"ORDER BY {number}: there are {len(query.outputs)} columns.", text=self.text)
            return query.outputs[number - 1].expression.copy()
        if isinstance(item, exp.Column) and not item.table:
            for output in query.outputs:
                if output.name.casefold() == item.name.casefold():
                    return output.expression.copy()
        bound = expressions.bind(self, _with_aliases(item, query.outputs, scope), scope, query, grouping)
        return grouping.above(bound) if grouping is not None else bound


class Grouping:
    """GROUP BY while its SELECT is bound: the keys, and the aggregate calls found in SELECT, HAVING and ORDER BY."""

    def __init__(self, binder: Binder, group_hints: dict[str, str]) -> None:
        self.binder, self.hints = binder, group_hints
        self.keys: list[tuple[Variable, exp.Expr]] = []
        self.calls: list[tuple[Variable, exp.Expr]] = []
        self.having: list[exp.Expr] = []
        self.below: Relation | None = None

    def add_key(self, expression: exp.Expr) -> None:
        """One more expression to group by."""
        base = expression.name if isinstance(expression, exp.Column) else "key"
        self.keys.append((self.binder.variable("group_" + base), expression))

    def call(self, expression: exp.Expr, base: str) -> exp.Expr:
        """The variable that carries an aggregate's value; the same call twice is worked out once."""
        for variable, known in self.calls:
            if known == expression:
                return variable_reference(variable.name)
        variable = self.binder.variable(base)
        self.calls.append((variable, expression))
        return variable_reference(variable.name)

    def above(self, expression: exp.Expr) -> exp.Expr:
        """The expression as seen above the aggregate: keys become their variables; any other column is an error."""
        result = self._replaced(expression)
        if self.below is not None:
            self._check(result, self.below)
        return result

    def _check(self, expression: exp.Expr, below: Relation) -> None:
        for name in sorted(variables_in(expression) & below.names()):
            raise QueryError(
                f"Column {name} is neither in GROUP BY nor inside an aggregate such as MAX({name}).",
                hint=f"GROUP BY …, {name}, or ANY_VALUE({name})",
                text=self.binder.text,
            )

    def _replaced(self, expression: exp.Expr) -> exp.Expr:
        for variable, key in self.keys:
            if expression == key:
                return variable_reference(variable.name)
        if isinstance(expression, exp.Column):
            return expression
        result = expression.copy()
        for child in list(result.iter_expressions()):
            child.replace(self._replaced(child))
        return result

    def relation(self, child: Relation, outputs: list[Output]) -> Aggregate:
        """The aggregate over the rows of FROM and WHERE; from now on only its variables can be spoken of."""
        self.below = child
        for output in outputs:
            self._check(output.expression, child)
        return Aggregate(child, self.keys, self.calls, self.hints)


def _uses(tree: exp.Expr, name: str) -> int:
    """How often a tree speaks of a table by that name."""
    return sum(1 for table in tree.find_all(exp.Table) if table.name.casefold() == name.casefold() and not table.db)


def _has_tail(tree: exp.Expr) -> bool:
    return any(tree.args.get(part) is not None for part in ("order", "limit", "offset"))


def _branches(tree: exp.Expr) -> list[exp.Expr]:
    """The SELECTs of a chain of UNION ALL (or of UNION DISTINCT) in order."""
    result: list[exp.Expr] = []
    for side in (tree.this, tree.expression):
        same = isinstance(side, exp.Union) and side.args.get("distinct") == tree.args.get("distinct")
        result += _branches(side) if same and not _has_tail(side) and not side.args.get("with_") else [side]
    return result


def _has_aggregates(tree: exp.Select) -> bool:
    parts = [*tree.expressions, tree.args.get("having"), tree.args.get("order")]
    return (
        any(expressions.has_aggregate(part) for part in parts if part is not None)
        or tree.args.get("having") is not None
    )


def _ordinal(item: exp.Expr, tree: exp.Select, text: str) -> exp.Expr:
    number = int(item.name)
    if not 1 <= number <= len(tree.expressions):
        raise QueryError(f"GROUP BY {number}: there are {len(tree.expressions)} columns.", text=text)
    found: exp.Expr = tree.expressions[number - 1]
    return found


def _implicit_name(item: exp.Expr) -> str:
    return item.name if isinstance(item, (exp.Column, exp.Dot)) else ""


def _with_aliases(expression: exp.Expr, outputs: list[Output], scope: Scope) -> exp.Expr:
    """HAVING and ORDER BY may speak of the result columns; those names are marked as bound already."""

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table:
            for output in outputs:
                taken = any(source.find(node.name) is not None for source in scope.sources)
                if output.name.casefold() == node.name.casefold() and not taken:
                    return expressions.already_bound(output.expression)
        return node

    return expression.copy().transform(put)


def _count(expression: exp.Expr, word: str, text: str) -> exp.Expr:
    whole = isinstance(expression, exp.Literal) and not expression.is_string and expression.name.isdigit()
    if whole or isinstance(expression, exp.Parameter):
        return expression.copy()
    raise QueryError(f"{word} takes a whole number or a parameter, not {expression.sql()}.", text=text)
