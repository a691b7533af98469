"""Groups, sorts and limits: the part on each server, and the part that runs once.

A group, a sort or a limit looks at many rows. What can be done on the servers that hold the rows is done there
("Local"), so that few rows travel; what needs all rows is done where they come together ("Global"). Where all rows of a
group lie in one family, no second part is needed; where rows come in the wanted order, no sort is (facts.md 7.5 P12 to
P16).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.query.fragments import Fragment, Level, covered_level, gathered, link, on_server, order_prefix
from spanlab.query.logical import Aggregate, Limit, Sort, SortKey
from spanlab.query.plan import Node
from spanlab.query.steps import AggregateStep, LimitStep, SortStep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanlab.query.planner import Planner, Want

SORT_ROW, HASH_ROW, STREAM_ROW = 1.0, 1.0, 0.1


# ORDER BY


def sorted_rows(planner: Planner, relation: Sort, want: Want) -> list[Fragment]:
    """The rows in order: as they come where they come so, sorted otherwise."""
    keys = tuple(relation.keys)
    wanted = type(want)(keys, want.limit, want.outer)
    return [in_order(planner, f, keys) for f in planner.alternatives(relation.child, wanted)]


def in_order(planner: Planner, fragment: Fragment, keys: tuple[SortKey, ...]) -> Fragment:
    """The fragment's rows in the order of the keys."""
    have = order_prefix(fragment, keys)
    if have == len(keys):
        return _kept(fragment)
    minor = have > 0
    cost = fragment.cost + fragment.rows * SORT_ROW * (0.3 if minor else 1.0)
    name = "Minor Sort" if minor else "Sort"
    step = SortStep(list(keys))
    if fragment.place == "root":
        return fragment.with_node(Node(name, [fragment.node], step=step), order=keys, cost=cost)
    if not _merges(planner):
        once = gathered(fragment)
        return once.with_node(Node("Sort", [once.node], step=step), order=keys, cost=cost)
    below = on_server(fragment)
    level = covered_level(below, [key.name for key in keys[:have]]) if minor else None
    node = Node(name, [below.node], step=step)
    return _at_level(below, level).with_node(node, order=keys, merge=level is None, cost=cost, place="server")


def _kept(fragment: Fragment) -> Fragment:
    """The fragment, told that its order matters."""
    if fragment.batched is not None:
        fragment.batched.details["order_preserving"] = True
    return fragment


def _merges(planner: Planner) -> bool:
    """Versions from 3 on sort on the servers and merge (Distributed Merge Union), unless told not to."""
    return planner.version >= 3 and planner.hints.get("ALLOW_DISTRIBUTED_MERGE", "TRUE").upper() != "FALSE"


def _at_level(fragment: Fragment, level: Level | None) -> Fragment:
    """The fragment distributed over the splits of one of its family's tables."""
    if level is None or level == fragment.family[-1]:
        return fragment
    return fragment.with_node(fragment.node, target=level.table, aligned=True)


# LIMIT


def limited(planner: Planner, relation: Limit, want: Want) -> list[Fragment]:
    """The first rows."""
    wanted = type(want)((), relation, want.outer)
    child = relation.child
    if isinstance(child, Sort):
        keys = tuple(child.keys)
        found = planner.alternatives(child.child, type(want)(keys, relation, want.outer))
        return [_limited(planner, f, relation, keys) for f in found]
    return [_limited(planner, f, relation, ()) for f in planner.alternatives(child, wanted)]


def _limited(planner: Planner, fragment: Fragment, limit: Limit, keys: tuple[SortKey, ...]) -> Fragment:
    have = order_prefix(fragment, keys)
    needs_sort = have < len(keys) and not fragment.limited
    count = _number(limit.count)
    if not needs_sort:
        fragment = _kept(fragment) if keys else fragment
        share = min(1.0, (count + _number(limit.offset)) / max(1.0, fragment.rows))
        fragment = fragment.with_node(fragment.node, cost=1 + (fragment.cost - 1) * share)
    else:
        fragment = fragment.with_node(fragment.node, cost=fragment.cost + fragment.rows * SORT_ROW)
    most = int(count) if isinstance(limit.count, exp.Literal) else None
    result = _limit_placed(planner, fragment, limit, keys, have, needs_sort)
    bounds = [n for n in (most, fragment.most_rows) if n is not None]
    return result.with_node(result.node, rows=min(fragment.rows, count), most_rows=min(bounds, default=None))


def _limit_placed(
    planner: Planner, fragment: Fragment, limit: Limit, keys: tuple[SortKey, ...], have: int, needs_sort: bool
) -> Fragment:
    if fragment.place == "root":
        if needs_sort:
            name = "Global Minor Sort Limit" if have else "Global Sort Limit"
            return _sort_limit(name, fragment, limit, keys)
        return global_limit(planner, _limit_in_map(fragment, limit), limit)
    if fragment.limited:
        return global_limit(planner, gathered(fragment), limit)
    level = next((level for level in fragment.family[:-1] if fragment.is_pinned_to(level)), None)
    if level is not None:
        below = on_server(_at_level(fragment, level))
        where = "Local" if outer_level(fragment) is not None else "Global"
        if needs_sort:
            return _sort_limit(f"{where} Sort Limit", below, limit, keys)
        return below.with_node(Node(f"{where} Limit", [below.node], step=LimitStep(limit.count, limit.offset)))
    if not needs_sort:
        return global_limit(planner, gathered(_local_limit(fragment, limit)), limit)
    if not _merges(planner):
        local = _sort_limit("Local Sort Limit", on_server(fragment), _whole(limit), keys)
        return _sort_limit("Global Sort Limit", gathered(local), limit, keys)
    return global_limit(planner, gathered(_local_sort_limit(fragment, limit, keys, have)), limit)


def _local_limit(fragment: Fragment, limit: Limit) -> Fragment:
    below = on_server(fragment)
    apply = below.batched
    if apply is not None and apply is below.node and not apply.details.get("back_join"):
        mapped = apply.children[1]
        if mapped.operator == "Cross Apply":
            mapped.link = ""
            apply.children[1] = link(Node("Local Limit", [mapped], step=LimitStep(*_widened(limit))), "Map")
    return below.with_node(Node("Local Limit", [below.node], step=LimitStep(*_widened(limit))))


def _local_sort_limit(fragment: Fragment, limit: Limit, keys: tuple[SortKey, ...], have: int) -> Fragment:
    below = on_server(fragment)
    level = covered_level(below, [key.name for key in keys[:have]]) if have else None
    name = "Local Minor Sort Limit" if have else "Local Sort Limit"
    result = _sort_limit(name, _at_level(below, level), _whole(limit), keys)
    return result.with_node(result.node, merge=level is None)


def locally_limited(planner: Planner, fragment: Fragment, want: Want) -> Fragment:
    """The rows that each server gives at most, in the wanted order; where all meet the limit stands again."""
    assert want.limit is not None
    if not _merges(planner) and order_prefix(fragment, want.order) < len(want.order):
        return fragment
    have = order_prefix(fragment, want.order)
    if have == len(want.order):
        result = _local_limit(fragment, want.limit)
    else:
        result = _local_sort_limit(fragment, want.limit, want.order, have)
    cost = fragment.cost + (fragment.rows * SORT_ROW if have < len(want.order) else 0)
    count = min(fragment.rows, _number(want.limit.count) + _number(want.limit.offset))
    if have == len(want.order):
        cost = 1 + (fragment.cost - 1) * count / max(1.0, fragment.rows)
    return result.with_node(result.node, limited=True, rows=count, cost=cost, order=want.order or fragment.order)


def _sort_limit(name: str, fragment: Fragment, limit: Limit, keys: tuple[SortKey, ...]) -> Fragment:
    node = Node(name, [fragment.node], step=SortStep(list(keys), limit.count, limit.offset))
    printed = {n: f"sort_{n}" for n in fragment.variables} if fragment.place == "root" else fragment.printed
    return fragment.with_node(node, order=keys, printed=printed)


def global_limit(planner: Planner, fragment: Fragment, limit: Limit) -> Fragment:
    """The limit where all rows come together."""
    node = Node("Global Limit", [fragment.node], step=LimitStep(limit.count, limit.offset))
    printed = {n: f"sort_{n}" for n in fragment.variables} if _sorts_below(fragment.node) else fragment.printed
    return fragment.with_node(node, printed=printed)


def _sorts_below(node: Node) -> bool:
    return node.operator == "Distributed Union" and bool(node.details.get("preserve_subquery_order"))


def _limit_in_map(fragment: Fragment, limit: Limit) -> Fragment:
    """A limit above an apply also bounds what one run of its map side has to bring."""
    node = fragment.node
    if node.operator == "Cross Apply" and node.children[-1].operator == "Distributed Union":
        union = node.children[-1]
        below = union.children[0]
        union.children[0] = Node("Local Limit", [below], step=LimitStep(*_widened(limit)))
    return fragment


def _widened(limit: Limit) -> tuple[exp.Expr, exp.Expr | None]:
    """Before the offset is taken off, the rows in front of it are needed too."""
    if limit.offset is None:
        return limit.count, None
    return exp.Add(this=limit.count.copy(), expression=limit.offset.copy()), None


def _whole(limit: Limit) -> Limit:
    return Limit(limit.child, _widened(limit)[0])


def _number(expression: exp.Expr | None) -> float:
    if expression is None:
        return 0.0
    if isinstance(expression, exp.Add):
        return _number(expression.this) + _number(expression.expression)
    return float(expression.name) if isinstance(expression, exp.Literal) else 100.0


# GROUP BY


def aggregated(planner: Planner, relation: Aggregate, want: Want) -> list[Fragment]:
    """The groups: on the servers alone where every group lies in one family, else in a local and a global part."""
    keys = tuple(SortKey(e.name) for _, e in relation.keys if isinstance(e, exp.Column))
    below = want.below()
    children = planner.alternatives(relation.child, type(want)(keys, None, below.outer))
    return [_grouped(planner, f, relation) for f in children]


def _grouped(planner: Planner, fragment: Fragment, relation: Aggregate) -> Fragment:
    names = [e.name for _, e in relation.keys if isinstance(e, exp.Column)]
    plain = len(names) == len(relation.keys)
    streams = plain and _comes_in_groups(fragment, names)
    method = relation.hints.get("GROUP_METHOD", planner.hints.get("GROUP_METHOD", "")).upper()
    level = _group_level(fragment, relation, names)
    if level is not None:
        return _in_one_part(planner, fragment, relation, level, names, streams, method)
    if fragment.place == "root":
        name = _name(streams or not relation.keys, method)
        node = _aggregate_node(planner, name, fragment.node, relation)
        return _finished(fragment, node, relation, streams)
    ordered = streams and (fragment.by_index or all(fragment.is_constant(n) for n in names))
    return _in_two_parts(planner, fragment, relation, _name(ordered or not relation.keys, method), ordered)


def _group_level(fragment: Fragment, relation: Aggregate, names: list[str]) -> Level | None:
    """The table of the family of which every group has its rows in one place; None where a group may be spread."""
    if fragment.place == "root" or not fragment.family:
        return None
    if not relation.keys:
        return outer_level(fragment)
    level = covered_level(fragment, names)
    alone = fragment.by_index and len(fragment.family) == 1
    return None if level is None or alone else level


def outer_level(fragment: Fragment) -> Level | None:
    """The ancestor whose key an outer row fixes: all rows for that row lie in one family."""
    for level in fragment.family[:-1]:
        bound = [fragment.canonical(name) for name in level.key]
        if bound and all(isinstance(b, exp.Column) and b.name not in fragment.variables for b in bound):
            return level
    return None


def _comes_in_groups(fragment: Fragment, names: Iterable[str]) -> bool:
    """True when equal values of the group keys come one after another."""
    left = {fragment.canonical(n) for n in names if not fragment.is_constant(n)}
    for key in fragment.order:
        if not left:
            break
        if fragment.is_constant(key.name):
            continue
        if fragment.canonical(key.name) not in left:
            return False
        left.discard(fragment.canonical(key.name))
    return not left


def _name(streams: bool, method: str) -> str:
    if method == "HASH_GROUP":
        return "Hash Aggregate"
    return "Stream Aggregate" if streams or method == "STREAM_GROUP" else "Hash Aggregate"


def _aggregate_node(planner: Planner, name: str, child: Node, relation: Aggregate) -> Node:
    node = Node(name, [child], step=AggregateStep(relation.keys, relation.calls, relation.single))
    if not relation.keys:
        node.details["scalar_aggregate"] = True
    planner.attach_subqueries(node, [e for _, e in relation.keys + relation.calls])
    return node


def _in_one_part(
    planner: Planner,
    fragment: Fragment,
    relation: Aggregate,
    level: Level,
    names: list[str],
    streams: bool,
    method: str,
) -> Fragment:
    below = on_server(_at_level(fragment, level))
    name = _name(streams, method)
    child = below.node
    if name == "Stream Aggregate" and not streams:
        keys = [SortKey(n) for n in names]
        minor = order_prefix(fragment, keys) > 0
        child = Node("Minor Sort" if minor else "Sort", [child], step=SortStep(keys))
    node = _aggregate_node(planner, name, child, relation)
    return _finished(below, node, relation, streams)


def _in_two_parts(planner: Planner, fragment: Fragment, relation: Aggregate, name: str, ordered: bool) -> Fragment:
    scalar = {"scalar_aggregate": True} if not relation.keys else {}
    if fragment.batched is not None and fragment.batched is fragment.node:
        _partial_in_map(fragment.node, name, scalar)
    below = on_server(fragment)
    child, merge = below.node, False
    if name == "Stream Aggregate" and relation.keys and not ordered:
        keys = [SortKey(e.name) for _, e in relation.keys if isinstance(e, exp.Column)]
        child, merge = Node("Sort", [child], step=SortStep(keys)), True
    local = _aggregate_node(planner, f"Local {name}", child, relation)
    once = gathered(below.with_node(local, merge=merge))
    top = Node(f"Global {name}", [once.node], details=dict(scalar))
    return _finished(once, top, relation, ordered)


def _partial_in_map(apply: Node, name: str, details: dict[str, bool]) -> None:
    """Above a back-join each batch is summed up where its rows are found."""
    mapped = apply.children[1]
    mapped.link = ""
    apply.children[1] = link(Node(f"Local {name}", [mapped], details=dict(details)), "Map")


def _finished(fragment: Fragment, node: Node, relation: Aggregate, ordered: bool) -> Fragment:
    """The fragment after grouping: its variables are those of the aggregate, its order that of the keys."""
    columns = {e.name: v.name for v, e in relation.keys if isinstance(e, exp.Column)}
    bindings = dict(fragment.bindings)
    for variable, expression in relation.keys:
        if isinstance(expression, exp.Column):
            if fragment.is_constant(expression.name):
                bindings[variable.name] = fragment.canonical(expression.name)
            else:
                bindings[fragment.canonical(expression.name).name] = exp.column(variable.name)
    order = tuple(SortKey(columns[k.name], k.desc) for k in fragment.order if k.name in columns) if ordered else ()
    family = tuple(
        Level(level.table, tuple(columns.get(n, n) for n in level.key))
        for level in fragment.family
        if all(n in columns or fragment.is_constant(n) for n in level.key)
    )
    rows = 1.0 if not relation.keys else max(1.0, math.sqrt(fragment.rows))
    work = STREAM_ROW if "Stream" in node.operator else HASH_ROW
    return fragment.with_node(
        node,
        variables={variable.name for variable, _ in relation.keys + relation.calls},
        rows=rows,
        cost=fragment.cost + fragment.rows * work,
        most_rows=1 if not relation.keys else fragment.most_rows,
        order=order,
        bindings=bindings,
        family=family if fragment.place != "root" else (),
        unique=(frozenset(v.name for v, _ in relation.keys),),
        limited=False,
        batched=None,
        printed={},
    )
