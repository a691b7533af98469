"""From steps to operators: where each step runs, and how the pieces travel between servers.

The planner works from the leaves up. For every FROM item it looks at all access paths (`access`), for every join at the
ways to run it (`joins`), and takes the cheapest; sorts, groups and limits (`shaping`) are split into a part that runs
on each server and a part that runs once. The choices follow published plans (facts.md 7.5) and the rules that go with
an optimizer version (documentation page `query-optimizer/versions`); the default version is 8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError
from spanlab.query import access, index_union, joins, shaping
from spanlab.query.bind_expressions import expressions_of
from spanlab.query.fragments import Fragment, common_level, gathered, link, on_server
from spanlab.query.logical import (
    Aggregate,
    Compute,
    Empty,
    Filter,
    Hints,
    Join,
    Limit,
    Query,
    Relation,
    Scan,
    Sort,
    SortKey,
    SpoolBuild,
    SpoolScan,
    Subquery,
    SubqueryValue,
    UnionAll,
    Unit,
    Unnest,
    Variable,
    subquery_values,
    variable_reference,
)
from spanlab.query.plan import Node, numbered
from spanlab.query.rewrite import rewritten
from spanlab.query.steps import (
    ApplyStep,
    ComputeStep,
    EmptyStep,
    FilterStep,
    OutputStep,
    SampleStep,
    SortStep,
    SpoolBuildStep,
    SpoolScanStep,
    SubqueryStep,
    UnionStep,
    UnnestStep,
)
from spanlab.query.text import all_of
from spanlab.sql import parse_expression

if TYPE_CHECKING:
    from spanlab.query.statistics import Statistics
    from spanlab.schema import Schema

DEFAULT_VERSION = 8
LATEST_VERSION = 9


@dataclass(frozen=True)
class Want:
    """What the step above would like: an order, only the first rows; and the names that are fixed from outside."""

    order: tuple[SortKey, ...] = ()
    limit: Limit | None = None
    outer: frozenset[str] = frozenset()

    def below(self, names: set[str] | frozenset[str] = frozenset()) -> Want:
        """For a step further down that has no use for order or limit, with more names fixed."""
        return Want(outer=self.outer | frozenset(names))


def plan_query(query: Query, schema: Schema, statistics: Statistics, text: str, *, whole: bool = False) -> Node:
    """The operator tree of a bound query. Raises QueryError where hints ask for what cannot be.

    `whole` leaves Serialize Result at the root, as a change needs it that takes all rows (`spanlab.query.changes`).
    """
    planner = Planner(query, schema, statistics, text)
    _prune(query, planner.mentions)
    relation = rewritten(query.relation, planner)
    found = planner.alternatives(relation, Want())
    fragment = gathered(min(found, key=lambda f: f.cost + planner.subquery_cost(f, query)))
    return numbered(planner.serialized(fragment, query, whole))


def _prune(query: Query, spoken: Counter[str]) -> None:
    """Leaves out the columns of tables that nothing speaks of (SELECT * inside EXISTS, or in a subquery of FROM)."""
    for step in _steps(query.relation):
        if isinstance(step, Scan):
            step.columns = {name: v for name, v in step.columns.items() if spoken[v.name]}
    for subquery in query.subqueries.values():
        _prune(subquery.query, spoken)


@cache
def _generated(text: str) -> exp.Expr:
    return parse_expression(text)


class Planner:
    """Plans one query: `alternatives` gives the ways to get the rows of a step, `best` the cheapest."""

    def __init__(self, query: Query, schema: Schema, statistics: Statistics, text: str) -> None:
        self.schema, self.statistics, self.text = schema, statistics, text
        self.hints: Hints = query.hints
        self.subqueries = _every_subquery(query)
        self.version = _version(query.hints.get("OPTIMIZER_VERSION", ""))
        self._implicit: dict[tuple[int, str], Variable] = {}
        self._used_names: set[str] = set()
        self.mentions = mentions(query)
        self._column_names = _columns_of_tables(query)

    # names

    def column_variable(self, scan: Scan, name: str) -> Variable:
        """The variable of a column; one that the query never mentions is called by its table, `$Songs_key_AlbumId`."""
        known = scan.columns.get(name.casefold())
        if known is not None:
            return known
        key = (id(scan.origin or scan), name.casefold())
        if key not in self._implicit:
            column = scan.table.column(name)
            base = variable = f"{scan.table.name}_key_{name}"
            count = 0
            while variable in self._used_names:
                count += 1
                variable = f"{base}_{count}"
            self._used_names.add(variable)
            self._implicit[key] = Variable(variable, column.type if column else None, not (column and column.not_null))
        return self._implicit[key]

    def nullable(self, scan: Scan) -> set[str]:
        """The variables of a scan that can be NULL."""
        implicit = [v for (owner, _), v in self._implicit.items() if owner == id(scan.origin or scan)]
        return {v.name for v in [*scan.columns.values(), *implicit] if v.nullable}

    def generated(self, text: str) -> exp.Expr:
        """The tree of a generated column's expression."""
        return _generated(text)

    def scanned_names(self, names: set[str]) -> set[str]:
        """Those of some names that are columns of tables."""
        return names & self._column_names

    # steps

    def best(self, relation: Relation, want: Want) -> Fragment:
        """The cheapest way to get the rows of a step."""
        return min(self.alternatives(relation, want), key=lambda fragment: fragment.cost)

    def alternatives(self, relation: Relation, want: Want) -> list[Fragment]:
        """The ways to get the rows of a step."""
        if isinstance(relation, Scan):
            return access.alternatives(self, access.Asked(relation, [], set(want.outer)), want)
        if isinstance(relation, Filter):
            return self._filtered(relation, want)
        if isinstance(relation, Join):
            return joins.alternatives(self, relation, want)
        if isinstance(relation, Aggregate):
            return shaping.aggregated(self, relation, want)
        if isinstance(relation, Sort):
            return shaping.sorted_rows(self, relation, want)
        if isinstance(relation, Limit):
            return shaping.limited(self, relation, want)
        if isinstance(relation, Compute):
            return [self._computed(f, relation) for f in self.alternatives(relation.child, want)]
        return [self._leaf(relation, want)]

    def _leaf(self, relation: Relation, want: Want) -> Fragment:
        if isinstance(relation, Unit):
            return Fragment(Node("Unit Relation"), "root", set(), most_rows=1)
        if isinstance(relation, Empty):
            step = EmptyStep(sorted(relation.names()))
            return Fragment(Node("Empty Relation", step=step), "root", relation.names(), rows=0.0, most_rows=0)
        if isinstance(relation, Unnest):
            unnest = UnnestStep(relation.array, relation.element, relation.offset)
            node = Node("Array Unnest", step=unnest)
            self.attach_subqueries(node, [relation.array])
            return Fragment(node, "root", relation.names(), rows=10.0, cost=1.0)
        if isinstance(relation, UnionAll):
            return self._union(relation, want)
        if isinstance(relation, SpoolBuild):
            return self._spool(relation, want)
        assert isinstance(relation, SpoolScan)
        node = Node(
            "SpoolScan", details={"spool_name": relation.name}, step=SpoolScanStep(relation.name, relation.columns)
        )
        return Fragment(node, "root", relation.names(), rows=100.0, cost=1.0)

    def _filtered(self, relation: Filter, want: Want) -> list[Fragment]:
        child = relation.child
        if isinstance(child, Scan):
            asked = access.Asked(child, relation.conjuncts, set(want.outer))
            return access.alternatives(self, asked, want) + index_union.alternatives(self, asked, want)
        below = Want(want.order, None, want.outer)
        return [self.filtered(f, relation.conjuncts) for f in self.alternatives(child, below)]

    def filtered(self, fragment: Fragment, conditions: list[exp.Expr]) -> Fragment:
        """The rows that satisfy conditions which no scan could check."""
        if not conditions:
            return fragment
        node = Node("Filter", [fragment.node], condition=all_of(conditions), step=FilterStep(conditions))
        self.attach_subqueries(node, conditions)
        return fragment.with_node(node, rows=max(0.1, fragment.rows / 4), limited=False, batched=None)

    def _computed(self, fragment: Fragment, relation: Compute) -> Fragment:
        node = Node("Compute", [fragment.node], step=ComputeStep(relation.assignments))
        self.attach_subqueries(node, [expression for _, expression in relation.assignments])
        names = fragment.variables | {variable.name for variable, _ in relation.assignments}
        bindings = dict(fragment.bindings)
        for variable, expression in relation.assignments:
            if isinstance(expression, exp.Column):
                bindings[variable.name] = expression
        return fragment.with_node(node, variables=names, bindings=bindings)

    def sampled(self, fragment: Fragment, sample: tuple[str, float]) -> Fragment:
        """TABLESAMPLE: every row gets a random number, by which a share or the smallest stay."""
        method, size = sample
        number = self._fresh("random_id")
        below = on_server(fragment)
        node = Node("Random Id Assign", [below.node], step=SampleStep(number))
        below = below.with_node(node, variables=below.variables | {number}, order=())
        if method == "BERNOULLI":
            share = exp.Literal.number(size / 100)
            return self.filtered(below, [exp.LT(this=variable_reference(number), expression=share)])
        count = exp.Literal.number(int(size))
        keys = (SortKey(number),)
        local = Node("Local Sort Limit", [below.node], step=SortStep(list(keys), count))
        merged = gathered(below.with_node(local, merge=True))
        return shaping.global_limit(self, merged, Limit(Unit(), count))

    def _fresh(self, base: str) -> str:
        name, count = base, 0
        while name in self._used_names:
            count += 1
            name = f"{base}_{count}"
        self._used_names.add(name)
        return name

    # UNION ALL and WITH

    def _union(self, relation: UnionAll, want: Want) -> Fragment:
        inputs = []
        cost = rows = 0.0
        for branch, expressions in zip(relation.branches, relation.inputs, strict=True):
            fragment = gathered(self.best(branch, want.below()))
            child = fragment.node
            if child.operator == "Unit Relation" or any(not isinstance(e, exp.Column) for e in expressions):
                child = Node("Compute", [child], step=ComputeStep([]))
                self.attach_subqueries(child, expressions)
            inputs.append(Node("Union Input", [child]))
            cost, rows = cost + fragment.cost, rows + fragment.rows
        node = Node("Union All", inputs, step=UnionStep(relation.outputs, relation.inputs))
        return Fragment(node, "root", relation.names(), rows=rows, cost=cost)

    def _spool(self, relation: SpoolBuild, want: Want) -> Fragment:
        definition = gathered(self.best(relation.definition, want.below()))
        child = definition.node
        if child.operator == "Unit Relation":
            child = Node("Compute", [child], step=ComputeStep([]))
        build = Node("SpoolBuild", [child], details={"spool_name": relation.name}, link="Input")
        build.step = SpoolBuildStep(relation.name, relation.outputs)
        self.attach_subqueries(build, [expression for _, expression in relation.outputs])
        body = gathered(self.best(relation.body, want))
        node = Node("Cross Apply", [build, link(body.node, "Map")], step=ApplyStep("spool"))
        return body.with_node(node, cost=body.cost + definition.cost)

    # batches: the Distributed … Apply

    def batched_apply(
        self,
        operator: str,
        outer: Fragment,
        lookup: Node,
        split_range: str,
        added: dict[str, str] | set[str],
        kind: str = "inner",
    ) -> Fragment:
        """Gathers the input's rows in batches and sends each batch to the splits of the map side (facts.md 7.6)."""
        by_blocks = kind == "inner"
        below = outer.node
        if by_blocks:
            below = Node("RowToDataBlock", [on_server(outer).node])
        elif outer.place == "split":
            below = Node("Local Distributed Union", [Node("Compute Struct", [below])])
        else:
            below = Node("Compute Struct", [below])
        scan = Node("Batch Scan")
        ranges = Node("KeyRangeAccumulator", [Node("DataBlockToRow", [scan]) if by_blocks else scan], link="Input")
        inside = "Semi Apply" if kind in ("semi", "anti") else "Cross Apply"
        names = sorted(added)
        lookups = Node("Local Distributed Union", [lookup], link="Map")
        mapped = Node(inside, [ranges, lookups], link="Map", step=ApplyStep("inner", names))
        top = f"Distributed {'Anti Semi Apply' if kind == 'anti' else operator}"
        node = Node(top, [Node("Create Batch", [below], link="Input"), mapped], split_range=split_range)
        node.step = ApplyStep(kind, names)
        return outer.with_node(
            node,
            place="root" if outer.place == "root" else "server",
            variables=outer.variables | set(names),
            batched=node,
            most_rows=outer.most_rows,
        )

    def limited_before(self, entries: Fragment, want: Want, later: list[exp.Expr]) -> Fragment:
        """A limit stands before a back-join where the entries alone can decide which rows are the first."""
        if want.limit is None or later or not {key.name for key in want.order} <= entries.variables:
            return entries
        return shaping.locally_limited(self, entries, want)

    # subqueries in expressions

    def attach_subqueries(self, node: Node, expressions: list[exp.Expr], around: Fragment | None = None) -> None:
        """Plans the subqueries that expressions speak of, as Scalar children of the node that works them out.

        Where that node runs in the splits of a family (`around`), a subquery on the same family needs no hop.
        """
        values = {value.name: value for expression in expressions for value in subquery_values(expression)}
        for value in values.values():
            node.children.append(self._subquery_node(value, around))

    def subquery_cost(self, fragment: Fragment, query: Query) -> float:
        """What the subqueries of the result's columns add: less where they find their rows in the same splits."""
        cost = 0.0
        for value in (value for output in query.outputs for value in subquery_values(output.expression)):
            needs = frozenset(value.args["names"])
            if needs and needs <= fragment.variables and fragment.place != "root":
                relation = rewritten(self.subqueries[value.name].query.relation, self)
                inner = self.best(relation, Want(outer=needs))
                hop = joins.LOCAL_LOOKUP if common_level(fragment, inner) is not None else joins.ROUND_TRIP
                cost += fragment.rows * hop
        return cost

    def _subquery_node(self, value: SubqueryValue, around: Fragment | None) -> Node:
        subquery = self.subqueries[value.name]
        query = subquery.query
        relation = rewritten(query.relation, self)
        outputs = [(output.name, output.expression) for output in query.outputs]
        if subquery.kind != "array":
            relation, outputs = _as_one_row(relation, subquery)
        fragment = self.best(relation, Want(outer=frozenset(value.args["names"])))
        local = around is not None and common_level(around, fragment) is not None
        inner = on_server(fragment) if local or fragment.place == "root" else gathered(fragment)
        child = inner.node
        if subquery.kind == "array":
            operator = "Compute Struct" if query.as_struct else ""
            child = _below_union(child, operator, self, outputs, fragment if local else None)
        else:
            self.attach_subqueries(child, [expression for _, expression in outputs])
        name = "Array Subquery" if subquery.kind == "array" else "Scalar Subquery"
        arguments = list(zip(value.args["names"], value.expressions, strict=True))
        step = SubqueryStep(subquery.variable, subquery.kind, outputs, query.as_struct, arguments)
        return Node(name, [child], link="Scalar", step=step)

    # the result

    def serialized(self, root: Fragment, query: Query, whole: bool) -> Node:
        """Puts Serialize Result, which writes the result's columns, as far down as it can go, or on top (`whole`)."""
        outputs = [(output.name, output.expression) for output in query.outputs]
        node = Node("Serialize Result", step=OutputStep(outputs))
        self.attach_subqueries(node, [expression for _, expression in outputs], root)
        if any(child.children[0].operator == "Local Distributed Union" for child in node.children):
            root.node.details["split_ranges_aligned"] = True
        if whole:
            node.children.insert(0, root.node)
            return node
        return _with_result(root.node, node)


def _columns_of_tables(query: Query) -> set[str]:
    names = {n for step in _steps(query.relation) if isinstance(step, Scan) for n in step.names()}
    return names.union(*(_columns_of_tables(subquery.query) for subquery in query.subqueries.values()))


def mentions(query: Query) -> Counter[str]:
    """How often each variable is spoken of in a query, its subqueries included."""
    found: Counter[str] = Counter()
    for step in _steps(query.relation):
        for expression in expressions_of(step):
            found.update(column.name for column in expression.find_all(exp.Column))
    for output in query.outputs:
        found.update(column.name for column in output.expression.find_all(exp.Column))
    for subquery in query.subqueries.values():
        found += mentions(subquery.query)
    return found


def _every_subquery(query: Query) -> dict[str, Subquery]:
    """The kept subqueries of a query and of its subqueries, by name."""
    found = dict(query.subqueries)
    for subquery in query.subqueries.values():
        found |= _every_subquery(subquery.query)
    return found


def _steps(relation: Relation) -> list[Relation]:
    return [relation, *(step for child in relation.children() for step in _steps(child))]


def _as_one_row(relation: Relation, subquery: Subquery) -> tuple[Relation, list[tuple[str, exp.Expr]]]:
    """A subquery for a value is an aggregate without keys: ANY() of its rows, of which there may be one."""
    outputs = [(output.name, output.expression) for output in subquery.query.outputs]
    name = subquery.variable.name
    if subquery.kind == "exists":
        call = exp.AnyValue(this=exp.true())
        return Aggregate(relation, [], [(subquery.variable, call)]), [("", variable_reference(name))]
    if isinstance(relation, Aggregate) and not relation.keys:
        return relation, outputs
    call = exp.AnyValue(this=outputs[0][1])
    return Aggregate(relation, [], [(Variable(name), call)], single=True), [("", variable_reference(name))]


def _below_union(
    node: Node, operator: str, planner: Planner, outputs: list[tuple[str, exp.Expr]], around: Fragment | None
) -> Node:
    """Struct building happens below the unions of the subquery's own rows."""
    if node.operator in ("Distributed Union", "Local Distributed Union"):
        node.children[0] = _below_union(node.children[0], operator, planner, outputs, around)
        return node
    if not operator:
        planner.attach_subqueries(node, [expression for _, expression in outputs], around)
        return node
    struct = Node(operator, [node])
    planner.attach_subqueries(struct, [expression for _, expression in outputs], around)
    return struct


def _with_result(node: Node, result: Node) -> Node:
    child = node.children[0] if node.children else None
    goes_through = (
        node.operator in ("Distributed Union", "Local Distributed Union")
        or (node.operator == "Global Limit" and child is not None and child.operator == "Distributed Union")
        or (node.operator == "Local Limit" and child is not None and child.operator == "Distributed Cross Apply")
    )
    if goes_through and child is not None:
        node.children[0] = _with_result(child, result)
        return node
    unordered = not node.details.get("order_preserving")
    if node.operator in ("Distributed Cross Apply", "Push Broadcast Hash Join") and unordered:
        mapped = node.children[1]
        mapped.link = ""
        node.children[1] = link(_with_result(mapped, result), "Map")
        return node
    result.children.insert(0, node)
    return result


def _version(text: str) -> int:
    if not text or text.upper() in ("DEFAULT_VERSION", "DEFAULT"):
        return DEFAULT_VERSION
    if text.upper() in ("LATEST_VERSION", "LATEST"):
        return LATEST_VERSION
    if text.isdigit() and 1 <= int(text) <= LATEST_VERSION:
        return int(text)
    raise QueryError(f"OPTIMIZER_VERSION={text}: versions go from 1 to {LATEST_VERSION}.", hint="latest_version")
