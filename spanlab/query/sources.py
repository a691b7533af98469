"""FROM: tables, views, WITH queries, subqueries, arrays, and how they are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, UnsupportedError, suggest
from spanlab.query import bind_expressions as expressions
from spanlab.query import hints as known_hints
from spanlab.query.logical import (
    Compute,
    Join,
    JoinKind,
    Query,
    Relation,
    Scan,
    SpoolScan,
    Unnest,
    conjuncts_of,
    variable_reference,
)
from spanlab.query.scope import Scope, Source, error_at
from spanlab.sql import parse_query
from spanlab.sql.dialect import hints
from spanlab.sql.expressions import is_volatile

if TYPE_CHECKING:
    from spanlab.catalog import Table
    from spanlab.query.binder import Binder


def bind_from(binder: Binder, tree: exp.Select, scope: Scope, query: Query) -> tuple[Relation, Scope]:
    """The rows that FROM brings, and the names that they have."""
    relation = _item(binder, tree.args["from_"].this, scope, query)
    for join in tree.args["from_"].this.args.get("joins") or []:
        relation = _join(binder, relation, join, scope, query)
    for join in tree.args.get("joins") or []:
        relation = _join(binder, relation, join, scope, query)
    return relation, scope


def _item(binder: Binder, tree: exp.Expr, scope: Scope, query: Query) -> Relation:
    """One item of FROM; its source is added to the scope."""
    if isinstance(tree, exp.Table):
        return _table(binder, tree, scope, query)
    if isinstance(tree, exp.Unnest):
        return _unnest(binder, tree, scope, query)
    if isinstance(tree, exp.Subquery):
        if isinstance(tree.this, exp.Table):
            inner = Scope(parent=scope.parent)
            relation = _item(binder, tree.this, inner, query)
            for join in tree.this.args.get("joins") or []:
                relation = _join(binder, relation, join, inner, query)
            scope.sources += inner.sources
            return relation
        return _derived(binder, binder.query(tree.this, scope.parent), tree.alias, scope, query)
    raise UnsupportedError(f"{tree.sql()} cannot stand in FROM here.", text=binder.text)


def _derived(binder: Binder, inner: Query, alias: str, scope: Scope, query: Query) -> Relation:
    """A subquery in FROM. Its expressions are put in where they are spoken of, its rows are the step."""
    query.subqueries |= inner.subqueries
    relation, columns = inner.relation, {output.name: output.expression for output in inner.outputs}
    for name, expression in columns.items():
        if is_volatile(expression):  # worked out once, however often it is spoken of
            variable = binder.variable(name or "column")
            relation = Compute(relation, [(variable, expression)])
            columns[name] = variable_reference(variable.name)
    scope.sources.append(Source(alias, columns))
    return relation


def _table(binder: Binder, tree: exp.Table, scope: Scope, query: Query) -> Relation:
    name = f"{tree.db}.{tree.name}" if tree.db else tree.name
    alias = tree.alias or tree.name
    common = binder.common.get(name.casefold())
    if common is not None:
        if common.spool is not None:
            return _spool_scan(binder, name, common.spool, alias, scope)
        return _derived(binder, binder.common_query(common), alias, scope, query)
    if tree.db and scope.source(tree.db) is not None:
        return _array_path(binder, tree, scope, query)
    table, system = _find_table(binder, tree, name)
    if table is None:
        return _view(binder, tree, name, alias, scope, query)
    told = known_hints.checked(hints(tree), known_hints.TABLE, "a table", binder.text)
    scan = Scan(table, alias, told, system=system, sample=_sample(binder, tree))
    scope.sources.append(Source(alias, scan=scan, new_variable=binder.variable))
    return scan


def _find_table(binder: Binder, tree: exp.Table, name: str) -> tuple[Table | None, bool]:
    schema, _, own = name.rpartition(".")
    if schema:
        table = binder.system_table(schema, own)
        if table is not None:
            return table, True
    folded = name.casefold()
    for known, table in binder.schema.tables.items():
        if known.casefold() == folded or folded in (synonym.casefold() for synonym in table.synonyms):
            return table, False
    return None, False


def _view(binder: Binder, tree: exp.Table, name: str, alias: str, scope: Scope, query: Query) -> Relation:
    for known, view in binder.schema.views.items():
        if known.casefold() == name.casefold():
            return _derived(binder, binder.query(parse_query(view.query), None), alias, scope, query)
    known_names = [*binder.schema.tables, *binder.schema.views]
    raise error_at(f"There is no table {name} in this schema.{suggest(name, known_names)}", tree, binder.text)


def _spool_scan(binder: Binder, name: str, spool: Query, alias: str, scope: Scope) -> Relation:
    types = {variable.name: variable for variable in spool.relation.variables()}
    columns = {}
    for output in spool.outputs:
        known = types.get(output.expression.name) if isinstance(output.expression, exp.Column) else None
        columns[output.name] = binder.variable(output.name or "spool", known.type if known else None)
    scope.sources.append(Source(alias, {n: variable_reference(v.name) for n, v in columns.items()}))
    return SpoolScan(name, columns)


def _sample(binder: Binder, tree: exp.Table) -> tuple[str, float] | None:
    sample = tree.args.get("sample")
    if sample is None:
        return None
    size = sample.args.get("percent") or sample.args.get("size")
    return sample.args["method"].name.upper(), float(size.name)


# arrays


def _array_path(binder: Binder, tree: exp.Table, scope: Scope, query: Query) -> Relation:
    """FROM T, T.Prices: the elements of an array column."""
    column = exp.Column(this=tree.this.copy(), table=tree.args["db"].copy())
    return _elements(binder, scope.resolve(column, binder.text), tree.alias or tree.name, None, scope)


def _unnest(binder: Binder, tree: exp.Unnest, scope: Scope, query: Query) -> Relation:
    names = tree.args["alias"] if tree.args.get("alias") is not None else None
    alias = names.columns[0].name if names is not None and names.columns else (names.name if names is not None else "")
    offset = tree.args.get("offset")
    offset_name = offset.name if isinstance(offset, exp.Expr) else "offset" if offset else None
    array = tree.expressions[0]
    if isinstance(array, exp.Array) and len(array.expressions) == 1 and isinstance(array.expressions[0], exp.Query):
        inner = binder.query(array.expressions[0], scope)
        if offset_name is None and (inner.as_struct or len(inner.outputs) == 1):
            return _rows_of_subquery(binder, inner, alias, scope, query)
    return _elements(binder, expressions.bind(binder, array, scope, query), alias, offset_name, scope)


def _rows_of_subquery(binder: Binder, inner: Query, alias: str, scope: Scope, query: Query) -> Relation:
    """UNNEST(ARRAY(SELECT …)): the subquery's rows; the array is never built."""
    relation = _derived(binder, inner, alias, scope, query)
    if not inner.as_struct:
        scope.sources[-1] = Source(alias, element=inner.outputs[0].expression)
    return relation


def _elements(binder: Binder, array: exp.Expr, alias: str, offset_name: str | None, scope: Scope) -> Relation:
    element = binder.variable(alias or "element")
    offset = binder.variable(offset_name, nullable=False) if offset_name else None
    scope.sources.append(Source(alias, element=variable_reference(element.name)))
    if offset is not None and offset_name is not None:
        scope.sources.append(Source(offset_name, element=variable_reference(offset.name)))
    return Unnest(array, element, offset)


# joins


def _join(binder: Binder, left: Relation, tree: exp.Join, scope: Scope, query: Query) -> Relation:
    before = len(scope.sources)
    right = _item(binder, tree.this, scope, query)
    new = scope.sources[before:]
    kind, flipped = _kind(binder, tree)
    if kind in ("left", "full"):
        if kind == "full" or flipped:
            left = _computed(binder, left, scope.sources[:before], scope)
        if kind == "full" or not flipped:
            right = _computed(binder, right, new, scope)
    conjuncts: list[exp.Expr] = []
    if tree.args.get("on") is not None:
        conjuncts = _conditions(binder, tree.args["on"], scope, query)
    elif tree.args.get("using"):
        conjuncts = _using(binder, tree, scope, before, kind, flipped)
    elif kind != "inner":
        raise QueryError(f"{tree.side} JOIN needs ON or USING.", text=binder.text)
    lateral = bool(expressions.outer_names(right) & left.names())
    if flipped:
        left, right = right, left
    told = known_hints.checked(hints(tree), known_hints.JOIN, "a join", binder.text)
    return Join(kind, left, right, conjuncts, told, lateral=lateral, flipped=flipped)


def _kind(binder: Binder, tree: exp.Join) -> tuple[JoinKind, bool]:
    side, kind = (tree.side or "").upper(), (tree.kind or "").upper()
    if kind in ("SEMI", "ANTI") or (tree.method or "").upper() not in ("", "HASH"):
        raise UnsupportedError(f"{tree.method or kind} JOIN lies outside this course.", text=binder.text)
    if side == "FULL":
        return "full", False
    return ("left", side == "RIGHT") if side in ("LEFT", "RIGHT") else ("inner", False)


def _conditions(binder: Binder, condition: exp.Expr, scope: Scope, query: Query) -> list[exp.Expr]:
    return [expressions.bind(binder, conjunct, scope, query, conditional=True) for conjunct in conjuncts_of(condition)]


def _using(binder: Binder, tree: exp.Join, scope: Scope, before: int, kind: JoinKind, flipped: bool) -> list[exp.Expr]:
    """USING (a, b): equal columns, of which the result has one."""
    old = Scope(scope.sources[:before], merged=scope.merged)
    new = Scope(scope.sources[before:])
    conjuncts: list[exp.Expr] = []
    for identifier in tree.args["using"]:
        column = exp.Column(
            this=identifier.copy() if isinstance(identifier, exp.Identifier) else identifier.this.copy()
        )
        column.this.meta.update(identifier.meta)
        left, right = old.resolve(column, binder.text), new.resolve(column, binder.text)
        conjuncts.append(exp.EQ(this=left, expression=right))
        kept = right if flipped else left
        if kind == "full":
            kept = exp.Coalesce(this=left.copy(), expressions=[right.copy()])
        scope.merged[column.name.casefold()] = (column.name, kept.copy())
    return conjuncts


def _computed(binder: Binder, relation: Relation, sources: list[Source], scope: Scope) -> Relation:
    """Works out below an outer join what must become NULL together with its row."""
    assignments = []
    for source in sources:
        for name, expression in source.expressions.items():
            if not isinstance(expression, exp.Column) or expression.name not in relation.names():
                variable = binder.variable(name or "column")
                assignments.append((variable, expression))
                source.expressions[name] = variable_reference(variable.name)
    return Compute(relation, assignments) if assignments else relation
