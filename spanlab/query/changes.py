"""Plans of INSERT, UPDATE and DELETE: which rows are found for a change, and how.

Spanner first reads the rows that a statement is about, as a query would, and hands them to Apply Mutations (facts.md
7.5 P19). So an UPDATE with a bad WHERE scans as a SELECT with the same WHERE does. Here only the reading is planned and
counted; `execute` changes.
"""

from __future__ import annotations

from sqlglot import exp

from spanlab.errors import QueryError, suggest
from spanlab.query.fragments import link
from spanlab.query.plan import Node, numbered
from spanlab.query.steps import ComputeStep, OutputStep, UnionStep
from spanlab.schema import Schema
from spanlab.sql import canonical

_KINDS: dict[type[exp.Expr], str] = {exp.Insert: "INSERT", exp.Update: "UPDATE", exp.Delete: "DELETE"}


def is_change(tree: exp.Expr) -> bool:
    """True for INSERT, UPDATE and DELETE."""
    return type(tree) in _KINDS


def reading_queries(tree: exp.Expr, schema: Schema) -> list[str]:
    """The texts of the queries that read what a change needs: one, or one for each row of VALUES."""
    source = tree.expression if isinstance(tree, exp.Insert) else None
    if isinstance(source, exp.Values):
        return [canonical(exp.select(*(_value(cell) for cell in row.expressions))) for row in source.expressions]
    if source is not None:
        return [canonical(source)]
    table = schema.tables.get(_table_name(tree, schema))
    alias = tree.this.alias_or_name
    columns = [exp.column(part.column, table=alias) for part in (table.key if table is not None else ())]
    values = [_value(pair.expression) for pair in tree.expressions] if isinstance(tree, exp.Update) else []
    query = exp.select(*([*columns, *values] or [exp.Literal.number(1)]))
    query.set("from_", exp.From(this=tree.this.copy()))
    query.set("where", tree.args["where"].copy() if tree.args.get("where") is not None else None)
    return [canonical(query)]


def _value(cell: exp.Expr) -> exp.Expr:
    return exp.null() if isinstance(cell, exp.Var) else cell.copy()


def _table_name(tree: exp.Expr, schema: Schema) -> str:
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = f"{target.db}.{target.name}" if target.db else target.name
    for known in schema.tables:
        if known.casefold() == name.casefold():
            return known
    raise QueryError(f"There is no table {name} in this schema.{suggest(name, schema.tables)}")


def with_mutations(tree: exp.Expr, schema: Schema, roots: list[Node]) -> Node:
    """Apply Mutations above what was read; rows of VALUES come together in a Union All."""
    source = tree.expression if isinstance(tree, exp.Insert) else None
    if isinstance(source, exp.Values):
        rows = [Node("Compute", list(root.children), step=ComputeStep([])) for root in roots]
        union = Node("Union All", [Node("Union Input", [row]) for row in rows], step=UnionStep([], [[] for _ in rows]))
        roots = [Node("Serialize Result", [union], step=OutputStep([]))]
    details = {"operation_type": _KINDS[type(tree)], "table": _table_name(tree, schema)}
    return numbered(Node("Apply Mutations", [link(roots[0], "Input")], details=details))
