"""How two sets of rows meet: in which order, by which method, on which servers.

- *apply*: for each row of one side the matching rows of the other are looked up. Inside one split where both are
  aligned, in batches sent to other splits otherwise (Distributed Cross Apply), one by one where there is one row or the
  map side is more than a look-up.
- *hash*, *merge*: both sides are read once; on the servers where both are aligned, where the rows come together
  otherwise.
- *push broadcast hash*: one side is sent as a whole to all splits of the other.

Without statistics an apply is taken when the map side can seek, a hash join otherwise; with statistics the cheaper one
(documentation page `query-optimizer/versions`: cost-based since version 5). Hints decide over both (facts.md 7.4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.query import shaping
from spanlab.query.bind_expressions import outer_names
from spanlab.query.fragments import Fragment, Level, Place, common_level, gathered, link, on_server
from spanlab.query.logical import Hints, Join, Relation, SortKey, subquery_values, variables_in
from spanlab.query.plan import Node
from spanlab.query.rewrite import with_conditions
from spanlab.query.steps import ApplyStep, JoinStep, ScanStep
from spanlab.query.text import all_of

if TYPE_CHECKING:
    from spanlab.query.planner import Planner, Want

LOCAL_LOOKUP, REMOTE_LOOKUP, ROUND_TRIP, TRANSFER, HASH_ROW = 0.5, 2.0, 20.0, 1.0, 0.5
# without statistics another order of the tables, in which one of them can seek, is better than a hash join
LAST_RESORT = 4.0
_APPLY = {"inner": "Cross Apply", "left": "Outer Apply", "semi": "Semi Apply", "anti": "Anti-Semi Apply"}
_HASH_TYPES = {"left": "OUTER", "semi": "SEMI", "anti": "ANTI_SEMI"}
_MERGE_TYPES = {
    "inner": "INNER",
    "left": "LEFT_OUTER",
    "semi": "LEFT_SEMI",
    "anti": "LEFT_ANTI_SEMI",
    "full": "FULL_OUTER",
}


@dataclass
class Meeting:
    """One join to be planned: the rows that are there already, what is joined to them, and how it was written."""

    kind: str
    right: Relation
    conjuncts: list[exp.Expr]
    hints: Hints
    flipped: bool = False
    lateral: bool = False
    alone: list[Fragment] | None = None
    looked_up: list[Fragment] | None = None

    def sides(self, planner: Planner, want: Want) -> list[Fragment]:
        """The ways to read what is joined by itself, for hash joins; the same for every left side."""
        if self.alone is None:
            self.alone = planner.alternatives(self.right, want.below())
        return self.alone

    def look_ups(self, planner: Planner, left: Fragment, want: Want) -> list[Fragment]:
        """The ways to look up its rows for one left row; the same for every way to get the left rows."""
        if self.looked_up is None:
            inside = with_conditions(planner, self.right, self.conjuncts)
            self.looked_up = planner.alternatives(inside, want.below(left.variables))
        return self.looked_up


def alternatives(planner: Planner, join: Join, want: Want) -> list[Fragment]:
    """The ways to get the rows of a join."""
    if join.kind == "inner":
        return _inner(planner, join, want)
    meeting = Meeting(join.kind, join.right, join.conjuncts, join.hints, join.flipped, join.lateral)
    wanted = want if join.kind in ("left", "semi", "anti") else want.below()
    wanted = type(want)(wanted.order, wanted.limit if join.kind == "left" else None, want.outer)
    return _met(planner, planner.alternatives(join.left, wanted), meeting, want)


def _met(planner: Planner, lefts: list[Fragment], meeting: Meeting, want: Want) -> list[Fragment]:
    found = [result for left in lefts for result in _pairs(planner, left, meeting, want)]
    best = min(result.cost for result in found)
    return sorted((f for f in found if f.cost <= 3 * best), key=lambda f: f.cost)[:4]


# the order of inner joins


def _inner(planner: Planner, join: Join, want: Want) -> list[Fragment]:
    items, conjuncts = _flattened(join)
    fixed = any(hints for _, hints, _, _ in items) or planner.hints.get("FORCE_JOIN_ORDER", "").upper() == "TRUE"
    method = _method(planner, {})
    starts = range(1) if fixed or method else range(len(items))
    found: list[Fragment] = []
    for start in starts:
        order = _ordered(planner, items, conjuncts, start, want, fixed or bool(method))
        if order is not None:
            found += _joined_in_order(planner, order, conjuncts, want)
    best = min(f.cost for f in found)
    return sorted((f for f in found if f.cost <= 3 * best), key=lambda f: f.cost)[:4]


Item = tuple[Relation, Hints, bool, bool]


def _flattened(join: Join) -> tuple[list[Item], list[exp.Expr]]:
    """The items of a chain of inner joins with the hints of the join that brings each, and all conditions."""
    left: list[Item] = [(join.left, {}, False, False)]
    conjuncts = list(join.conjuncts)
    if isinstance(join.left, Join) and join.left.kind == "inner":
        left, below = _flattened(join.left)
        conjuncts = below + conjuncts
    right: list[Item] = [(join.right, join.hints, join.flipped, join.lateral)]
    if isinstance(join.right, Join) and join.right.kind == "inner" and not join.hints:
        right, below = _flattened(join.right)
        conjuncts = below + conjuncts
    return [*left, *right], conjuncts


def _ordered(
    planner: Planner, items: list[Item], conjuncts: list[exp.Expr], start: int, want: Want, fixed: bool
) -> list[Item] | None:
    """The items in the order in which they are joined: as written, or from `start` on along the conditions."""
    needs = [outer_names(item[0]) - want.outer for item in items]
    if needs[start]:
        return None
    if fixed or len(items) == 1:
        return items
    order, left = [items[start]], [i for i in range(len(items)) if i != start]
    have = set(items[start][0].names())
    while left:
        ready = [i for i in left if needs[i] <= have]
        if not ready:
            return None
        linked = [i for i in ready if _is_linked(items[i][0], conjuncts, have)]
        chosen = (linked or ready)[0]
        order.append(items[chosen])
        have |= items[chosen][0].names()
        left.remove(chosen)
    return order


def _is_linked(relation: Relation, conjuncts: list[exp.Expr], have: set[str]) -> bool:
    own = relation.names()
    return any(names & own and names & have and names <= own | have for names in map(variables_in, conjuncts))


def _joined_in_order(planner: Planner, order: list[Item], conjuncts: list[exp.Expr], want: Want) -> list[Fragment]:
    first, have, left = order[0][0], set(order[0][0].names()), list(conjuncts)
    single = len(order) == 1
    fragments = planner.alternatives(first, want if single else type(want)(want.order, None, want.outer))
    for number, (relation, hints, flipped, _) in enumerate(order[1:], 2):
        have |= relation.names()
        ready = [c for c in left if variables_in(c) <= have | want.outer]
        left = [c for c in left if c not in ready]
        lateral = bool(outer_names(relation) & have)
        meeting = Meeting("inner", relation, ready, hints, flipped, lateral)
        last = number == len(order) and not left
        fragments = _met(planner, fragments, meeting, want if last else type(want)(want.order, None, want.outer))
    return [planner.filtered(f, left) for f in fragments]


# one join


def _method(planner: Planner, hints: Hints) -> str:
    for source in (hints, planner.hints):
        named = source.get("JOIN_METHOD", source.get("JOIN_TYPE", "")).upper()
        if named:
            return named
    return ""


def _option(planner: Planner, meeting: Meeting, name: str) -> str:
    return meeting.hints.get(name, planner.hints.get(name, "")).upper()


def _pairs(planner: Planner, left: Fragment, meeting: Meeting, want: Want) -> list[Fragment]:
    """The ways to join what is there with one more relation."""
    method = _method(planner, meeting.hints)
    equal, others = _equalities(planner, meeting, left)
    if method == "MERGE_JOIN" and equal and not meeting.lateral:
        return _merge(planner, left, meeting, equal, others, want)
    if method == "HASH_JOIN" and equal and not meeting.lateral:
        return _hash(planner, left, meeting, equal, others, want)
    if method == "PUSH_BROADCAST_HASH_JOIN" and equal and not meeting.lateral and meeting.kind != "full":
        return _broadcast(planner, left, meeting, equal, others, want)
    if meeting.kind == "full":
        return _hash(planner, left, meeting, equal, others, want)
    applies = _applies(planner, left, meeting, want)
    if method or meeting.lateral or not equal or (left.most_rows is not None and left.most_rows <= 1):
        return applies
    seeking = [f for f in applies if f.seeks]
    if seeking and not planner.statistics.known:
        return seeking
    hashed = _hash(planner, left, meeting, equal, others, want)
    if not planner.statistics.known:
        return [replace(f, cost=f.cost * LAST_RESORT) for f in hashed]
    return seeking + hashed


def _equalities(
    planner: Planner, meeting: Meeting, left: Fragment
) -> tuple[list[tuple[exp.Expr, exp.Expr]], list[exp.Expr]]:
    """The conditions `left expression = right expression`, and the others."""
    names = meeting.right.names()
    equal, others = [], []
    for condition in meeting.conjuncts:
        plain = isinstance(condition, exp.EQ) and not subquery_values(condition)
        sides = (condition.this, condition.expression) if plain else ()
        spoken = [variables_in(side) for side in sides]
        if sides and spoken[0] and spoken[1] and spoken[0] <= left.variables and spoken[1] <= names:
            equal.append((sides[0], sides[1]))
        elif sides and spoken[0] and spoken[1] and spoken[1] <= left.variables and spoken[0] <= names:
            equal.append((sides[1], sides[0]))
        else:
            others.append(condition)
    return equal, others


# apply joins


def _applies(planner: Planner, left: Fragment, meeting: Meeting, want: Want) -> list[Fragment]:
    found = [_apply(planner, left, right, meeting, want) for right in meeting.look_ups(planner, left, want)]
    return sorted(found, key=lambda f: f.cost)[:3]


def _apply(planner: Planner, left: Fragment, right: Fragment, meeting: Meeting, want: Want) -> Fragment:
    right = replace(right, node=right.node.clone())
    seeks = _seeks_by(right.node, left.variables)
    level = common_level(left, right) if _option(planner, meeting, "BATCH_MODE") != "TRUE" else None
    if level is not None and right.place != "root" and left.place != "root":
        result = _aligned_apply(left, right, level, meeting.kind)
        lookup = LOCAL_LOOKUP
    elif left.place != "root" and right.place == "root" and not _travels(right.node):
        node = _apply_node(meeting.kind, left.node.clone(), right.node, _added(right, meeting, left))
        result, lookup = left.with_node(node), LOCAL_LOOKUP
    elif _can_batch(planner, left, right, meeting):
        result, lookup = _distributed(planner, left, right, meeting, want), REMOTE_LOOKUP
    else:
        result, lookup = (
            _at_root(left, right, meeting),
            ROUND_TRIP if right.place != "root" or _travels(right.node) else 0.0,
        )
    return _estimated(result, left, right, meeting, lookup, seeks)


def _estimated(
    result: Fragment, left: Fragment, right: Fragment, meeting: Meeting, lookup: float, seeks: bool
) -> Fragment:
    per_row = min(right.cost, 2.0) if meeting.kind in ("semi", "anti") else right.cost
    rows = left.rows * (
        0.5 if meeting.kind in ("semi", "anti") else max(right.rows, 1.0 if meeting.kind == "left" else 0.1)
    )
    both = [n for n in (left.most_rows, right.most_rows if meeting.kind in ("inner", "left") else 1) if n is not None]
    most = both[0] * both[1] if len(both) == 2 else None
    unique = left.unique if right.most_rows == 1 or meeting.kind in ("semi", "anti") else ()
    bindings = left.bindings if meeting.kind in ("semi", "anti") else {**right.bindings, **left.bindings}
    if meeting.kind == "left":
        bindings = left.bindings
    return replace(
        result,
        rows=max(rows, 0.1),
        cost=left.cost + left.rows * (per_row + lookup),
        most_rows=max(most, 1) if most is not None and meeting.kind == "left" else most,
        unique=unique,
        bindings=bindings,
        variables=left.variables | (set() if meeting.kind in ("semi", "anti") else right.variables),
        seeks=seeks,
    )


def _seeks_by(node: Node, names: set[str]) -> bool:
    """True when a scan below seeks with values of these variables."""
    return any(
        isinstance(n.step, ScanStep) and any(variables_in(p.condition) & names for p in n.step.match.seek)
        for n in node.walk()
    )


def _travels(node: Node) -> bool:
    return any(n.distributed for n in node.walk())


def _added(right: Fragment, meeting: Meeting, left: Fragment) -> list[str]:
    return sorted(right.variables - left.variables) if meeting.kind in ("inner", "left") else []


def _apply_node(kind: str, outer: Node, mapped: Node, added: list[str]) -> Node:
    if mapped.operator == "Global Limit":
        mapped.operator = "Local Limit"
    node = Node(_APPLY[kind], [link(outer, "Input"), link(mapped, "Map")])
    node.step = ApplyStep(kind, added)
    return node


def _aligned_apply(left: Fragment, right: Fragment, level: Level, kind: str) -> Fragment:
    """Inside the splits of a family.

    From parent to child the split of the parent row has all. From a child up to its parent the splits are those of
    the parent, and the children are read split by split.
    """
    added = sorted(right.variables - left.variables) if kind in ("inner", "left") else []
    own = left.family[-1].table if left.family else ""
    downward = left.place != "split" or level.table == own or right.family[-1].table != level.table
    if downward:
        node = _apply_node(kind, left.node.clone(), on_server(right).node, added)
        result = left.with_node(node, target=left.target if left.aligned else level.table, aligned=True)
        return replace(result, batched=None)
    inner = on_server(left)
    outer = Node("Local Distributed Union", [inner.node.clone()])
    outer.details |= {"distribution_table": left.target, "split_ranges_aligned": False}
    node = _apply_node(kind, outer, on_server(right).node, added)
    return left.with_node(node, place="server", target=level.table, aligned=False, batched=None)


def _can_batch(planner: Planner, left: Fragment, right: Fragment, meeting: Meeting) -> bool:
    """Batches suit look-ups for several rows; a limit or a group for each row does not go into a batch."""
    one = left.most_rows is not None and left.most_rows <= 1
    plain = right.place == "split" and all(
        n.operator in ("Filter Scan", "Table Scan", "Index Scan") for n in right.node.walk()
    )
    return plain and not one and _option(planner, meeting, "BATCH_MODE") != "FALSE"


def _distributed(planner: Planner, left: Fragment, right: Fragment, meeting: Meeting, want: Want) -> Fragment:
    keeps = right.most_rows == 1 and (meeting.kind == "left" or _is_same_row(planner, left, right))
    if keeps and want.limit is not None and not left.limited:
        keys = {key.name for key in want.order}
        if left.place != "root" and keys <= left.variables:
            left = shaping.locally_limited(planner, left, want)
    left = replace(left, node=left.node.clone())
    renamed = {name: f"batched_{name}" for name in left.variables}
    split_range = all_of([c for c in meeting.conjuncts if variables_in(c) & left.variables])
    node = _retold(right.node, renamed)
    added = right.variables - left.variables if meeting.kind in ("inner", "left") else set()
    operator = _APPLY[meeting.kind]
    result = planner.batched_apply(operator, left, node, split_range, added, meeting.kind)
    return replace(result, limited=left.limited and keeps)


def _is_same_row(planner: Planner, left: Fragment, right: Fragment) -> bool:
    """True where a table is joined with itself by its whole key: every row finds its own."""
    if right.node.operator != "Filter Scan" or right.node.residual_condition:
        return False
    step = right.node.children[0].step
    if not isinstance(step, ScanStep) or not step.match.whole:
        return False
    for part, predicate in zip(step.key, step.match.seek, strict=True):
        value = predicate.values[0]
        name = step.columns.by_variable.get(part, part.rpartition("_key_")[2].casefold())
        if not isinstance(value, exp.Column) or not _reads(planner, left.node, value.name, step.name, name):
            return False
    return True


def _reads(planner: Planner, node: Node, variable: str, table: str, column: str) -> bool:
    """True when a scan of the table, or of an index on it, gives this column of its as the variable."""
    for each in node.walk():
        step = each.step
        if isinstance(step, ScanStep) and step.columns.by_variable.get(variable) == column:
            index = planner.schema.indexes.get(step.name)
            return (index.table if index is not None else step.name) == table
    return False


def _at_root(left: Fragment, right: Fragment, meeting: Meeting) -> Fragment:
    once = gathered(replace(left, node=left.node.clone()))
    mapped = _retold(gathered(right).node, left.printed)
    added = _added(right, meeting, left)
    result = once.with_node(_apply_node(meeting.kind, once.node, mapped, added), batched=None)
    return replace(result, family=(), limited=False)


def _retold(node: Node, renamed: dict[str, str]) -> Node:
    """Other names for the outer side's variables in the texts of a map side."""
    if renamed:
        names = "|".join(re.escape(name) for name in sorted(renamed, key=len, reverse=True))
        pattern = re.compile(rf"\$({names})(?![\w'])")
        for each in node.walk():
            for field in ("seek_condition", "residual_condition", "split_range", "condition"):
                text = getattr(each, field)
                setattr(each, field, pattern.sub(lambda m: "$" + renamed[m.group(1)], text))
    return node


# hash joins


def _hash(
    planner: Planner,
    left: Fragment,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    others: list[exp.Expr],
    want: Want,
) -> list[Fragment]:
    found = []
    for right in meeting.sides(planner, want):
        level = common_level(left, _bound(right, equal))
        if level is not None and left.place != "root" and right.place != "root":
            sides = (on_server(left), on_server(right))
            place: Place = "server"
            remote = 0.0
        else:
            level = None
            sides = (gathered(left), gathered(right))
            place, remote = "root", TRANSFER
        left_builds = _left_builds(planner, left, right, meeting)
        node = _hash_node(planner, sides[0].node.clone(), sides[1].node.clone(), meeting, equal, others, left_builds)
        cost = left.cost + right.cost + HASH_ROW * (left.rows + right.rows) + remote * (left.rows + right.rows)
        result = replace(left, node=node, place=place, order=(), batched=None, limited=False)
        if level is not None:
            result = replace(result, target=level.table, aligned=True)
        found.append(_both(result, left, right, meeting, equal, cost, place))
    return found


def _bound(right: Fragment, equal: list[tuple[exp.Expr, exp.Expr]]) -> Fragment:
    """The right side, told which of its variables equal the left side's."""
    pairs = {b.name: a for a, b in equal if isinstance(a, exp.Column) and isinstance(b, exp.Column)}
    return replace(right, bindings={**right.bindings, **pairs})


def _left_builds(planner: Planner, left: Fragment, right: Fragment, meeting: Meeting) -> bool:
    side = _option(planner, meeting, "HASH_JOIN_BUILD_SIDE")
    if side:
        return (side == "BUILD_LEFT") != meeting.flipped
    if planner.statistics.known and meeting.kind == "inner" and left.rows != right.rows:
        return left.rows < right.rows
    return not meeting.flipped


def _hash_node(
    planner: Planner,
    left: Node,
    right: Node,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    others: list[exp.Expr],
    left_builds: bool,
) -> Node:
    build, probe = (left, right) if left_builds else (right, left)
    node = Node("Hash Join", [link(build, "Build"), link(probe, "Probe")])
    kind = meeting.kind
    side = "BUILD" if left_builds else "PROBE"
    node.details["join_type"] = (
        "INNER" if kind == "inner" else "FULL_OUTER" if kind == "full" else f"{side}_{_HASH_TYPES[kind]}"
    )
    node.condition = all_of([exp.EQ(this=a, expression=b) for a, b in equal])
    node.residual_condition = all_of(others)
    node.step = JoinStep(kind, equal, others, left_first=left_builds)
    planner.attach_subqueries(node, others)
    return node


def _both(
    result: Fragment,
    left: Fragment,
    right: Fragment,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    cost: float,
    place: str,
) -> Fragment:
    bound = _bound(right, equal)
    only_left = meeting.kind in ("semi", "anti")
    rows = max(left.rows, right.rows) if not only_left else left.rows / 2
    bindings = {**bound.bindings, **left.bindings} if meeting.kind == "inner" else left.bindings
    return replace(
        result,
        rows=rows,
        cost=cost,
        variables=left.variables | (set() if only_left else right.variables),
        bindings=bindings,
        family=left.family if place != "root" else (),
        unique=left.unique if only_left else (),
        most_rows=left.most_rows if only_left else None,
        seeks=False,
    )


# merge joins


def _merge(
    planner: Planner,
    left: Fragment,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    others: list[exp.Expr],
    want: Want,
) -> list[Fragment]:
    columns = [(a.name, b.name) for a, b in equal if isinstance(a, exp.Column) and isinstance(b, exp.Column)]
    if len(columns) < len(equal):
        return _hash(planner, left, meeting, equal, others, want)
    found = []
    for right in planner.alternatives(
        meeting.right, type(want)(tuple(SortKey(b) for _, b in columns), None, want.outer)
    ):
        level = common_level(left, _bound(right, equal))
        if level is not None and left.place != "root" and right.place != "root" and len(level.key) == len(columns):
            sides, place = (on_server(left), on_server(right)), "server"
        else:
            level, place = None, "root"
            sides = (
                gathered(shaping.in_order(planner, left, tuple(SortKey(a) for a, _ in columns))),
                gathered(shaping.in_order(planner, right, tuple(SortKey(b) for _, b in columns))),
            )
        node = Node("Merge Join", [link(sides[0].node.clone(), "Left"), link(sides[1].node.clone(), "Right")])
        node.details["join_type"] = _MERGE_TYPES[meeting.kind]
        node.details["join_configuration"] = _configuration(left, right, columns)
        node.condition, node.residual_condition = (
            all_of([exp.EQ(this=a, expression=b) for a, b in equal]),
            all_of(others),
        )
        node.step = JoinStep(meeting.kind, equal, others)
        planner.attach_subqueries(node, others)
        cost = sides[0].cost + sides[1].cost + (0.0 if level is not None else 0.2 * (left.rows + right.rows))
        order = tuple(SortKey(a) for a, _ in columns)
        result = replace(left, node=node, place=place, order=order, batched=None, limited=False)  # type: ignore[arg-type]
        if level is not None:
            result = replace(result, target=level.table, aligned=True)
        found.append(_both(result, left, right, meeting, equal, cost, place))
    return found


def _configuration(left: Fragment, right: Fragment, columns: list[tuple[str, str]]) -> str:
    one_left = any(unique <= {a for a, _ in columns} for unique in left.unique)
    one_right = any(unique <= {b for _, b in columns} for unique in right.unique)
    return f"{'ONE' if one_left else 'MANY'}_TO_{'ONE' if one_right else 'MANY'}"


# push broadcast hash joins


def _broadcast(
    planner: Planner,
    left: Fragment,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    others: list[exp.Expr],
    want: Want,
) -> list[Fragment]:
    found = []
    for right in meeting.sides(planner, want):
        joined = _broadcast_to(planner, left, right, meeting, equal, others)
        found.append(replace(joined, cost=joined.cost / (4 if _leads_with(right, equal) else 1)))
    return found


def _leads_with(right: Fragment, equal: list[tuple[exp.Expr, exp.Expr]]) -> bool:
    """True when the key of what is scanned begins with the join columns: such a path wins over a narrower one."""
    columns = {b.name for _, b in equal if isinstance(b, exp.Column)}
    return {key.name for key in right.order[: len(columns)]} == columns


def _broadcast_to(
    planner: Planner,
    left: Fragment,
    right: Fragment,
    meeting: Meeting,
    equal: list[tuple[exp.Expr, exp.Expr]],
    others: list[exp.Expr],
) -> Fragment:
    plain = meeting.kind == "inner"
    name = "Push Broadcast Hash Join" + {"inner": "", "anti": " Anti Semi Apply"}.get(
        meeting.kind, " " + _APPLY[meeting.kind]
    )
    below = left.node.clone()
    if plain:
        below = Node("RowToDataBlock", [on_server(replace(left, node=below)).node])
    elif left.place == "split":
        below = Node("Local Distributed Union", [Node("Compute Struct", [below])])
    else:
        below = Node("Compute Struct", [below])
    scan = Node("Batch Scan")
    batch = Node("DataBlockToRow", [scan]) if plain else scan
    there = on_server(replace(right, node=right.node.clone())).node
    left_builds = not (plain and meeting.flipped)
    inner = Meeting("inner", meeting.right, meeting.conjuncts, meeting.hints)
    joined = _hash_node(planner, batch, there, inner, equal, others, left_builds)
    node = Node(name, [link(Node("Create Batch", [below]), "Input"), link(joined, "Map")], split_range="true")
    added = sorted(right.variables - left.variables) if meeting.kind in ("inner", "left") else []
    node.step = ApplyStep(f"broadcast {meeting.kind}", added)
    cost = left.cost + right.cost + HASH_ROW * left.rows + REMOTE_LOOKUP
    result = left.with_node(node, place="root" if left.place == "root" else "server", order=(), limited=False)
    return _both(replace(result, batched=None), left, right, meeting, equal, cost, result.place)
