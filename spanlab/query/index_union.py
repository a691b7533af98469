"""An OR over columns of different indexes: each index is sought for its part, and the parts are put together.

`FirstName = 'Alice' OR LastName = 'Smith'` is no key range of one index, but two key ranges of two. Rows found twice
are one row, so a Hash Aggregate stands above the Union All. Optimizer version 7 brought this; the hint
INDEX_STRATEGY=FORCE_INDEX_UNION asks for it (facts.md 7.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.query import access
from spanlab.query.fragments import Fragment, gathered
from spanlab.query.logical import Scan, Variable, conjuncts_of, variable_reference, variables_in
from spanlab.query.plan import Node
from spanlab.query.predicates import classify, match_key
from spanlab.query.steps import AggregateStep, UnionStep

if TYPE_CHECKING:
    from spanlab.query.planner import Planner, Want

FORCED_SHARE, HASH_ROW = 0.01, 0.5


def alternatives(planner: Planner, asked: access.Asked, want: Want) -> list[Fragment]:
    """The union, where there is one."""
    scan = asked.scan
    forced = scan.hints.get("INDEX_STRATEGY", "").upper() == "FORCE_INDEX_UNION"
    if (planner.version < 7 and not forced) or scan.system or "FORCE_INDEX" in scan.hints:
        return []
    for condition in asked.conditions:
        if isinstance(condition.unnest(), exp.Or):
            others = [c for c in asked.conditions if c is not condition]
            union = _union(planner, scan, list(condition.unnest().flatten()), others, want)
            if union is not None:
                return [union.with_node(union.node, cost=union.cost * (FORCED_SHARE if forced else 1.0))]
    return []


def _union(
    planner: Planner, scan: Scan, branches: list[exp.Expr], others: list[exp.Expr], want: Want
) -> Fragment | None:
    indexes = [_index_for(planner, scan, conjuncts_of(branch)) for branch in branches]
    if any(index is None for index in indexes) or len({index.name for index in indexes if index}) < len(branches):
        return None
    found = [i for i in indexes if i is not None]
    covers = all(index.holds(scan.columns) for index in found)
    kept = _kept_variables(planner, scan, covers)
    inside = {v.name for v in kept}
    early = [c for c in others if (variables_in(c) & scan.names()) <= inside]
    parts = [
        access.scanned(
            planner, index, _keys_only(scan, kept, conjuncts_of(branch) + early), conjuncts_of(branch) + early
        )
        for index, branch in zip(found, branches, strict=True)
    ]
    return _put_together(planner, scan, parts, kept, [c for c in others if c not in early], covers, want)


def _kept_variables(planner: Planner, scan: Scan, covers: bool) -> list[Variable]:
    """The variables that the union carries: all, where the indexes hold them, else the primary key."""
    key = [planner.column_variable(scan, part.column) for part in scan.table.key]
    own = list(scan.columns.values()) if covers else []
    return own + [v for v in key if v not in own]


def _keys_only(scan: Scan, kept: list[Variable], conditions: list[exp.Expr]) -> Scan:
    """The same item of FROM with only the columns that one branch reads."""
    spoken = {v.name for v in kept} | {name for c in conditions for name in variables_in(c)}
    columns = {name: v for name, v in scan.columns.items() if v.name in spoken}
    return Scan(scan.table, scan.alias, scan.hints, columns, scan.system, origin=scan)


def _index_for(planner: Planner, scan: Scan, conditions: list[exp.Expr]) -> access.Candidate | None:
    """The table or index whose key begins with what one branch fixes."""
    names = {v.name: name for name, v in scan.columns.items()}
    for candidate in access.candidates(planner, scan):
        spoken = {names[n] for c in conditions for n in variables_in(c) if n in names}
        if candidate.holds(spoken) and not access.unproven(candidate, scan, conditions):
            key = [planner.column_variable(scan, part.column).name for part in candidate.key]
            if any(p.kind == "any_of" for c in conditions for p in classify(c, scan.names())):
                continue
            if match_key(key, conditions, scan.names()).seek:
                return candidate
    return None


def _put_together(
    planner: Planner,
    scan: Scan,
    parts: list[Fragment],
    kept: list[Variable],
    later: list[exp.Expr],
    covers: bool,
    want: Want,
) -> Fragment:
    outputs: list[exp.Expr] = [variable_reference(v.name) for v in kept]
    inputs = [Node("Union Input", [gathered(part).node]) for part in parts]
    union = Node("Union All", inputs, step=UnionStep(kept, [outputs] * len(parts)))
    node = Node("Hash Aggregate", [union], step=AggregateStep([(v, variable_reference(v.name)) for v in kept], []))
    rows = sum(part.rows for part in parts)
    key = frozenset(planner.column_variable(scan, part.column).name for part in scan.table.key)
    cost = sum(part.cost for part in parts) + rows * HASH_ROW
    result = Fragment(node, "root", {v.name for v in kept}, rows=rows, cost=cost, unique=(key,), seeks=True)
    if covers:
        return planner.filtered(result, later)
    return access.back_join(planner, set(), scan, result, later, want)
