"""What `explain` and `query` give back: a plan to read and to ask, rows with what they cost.

plan.scanned, plan.back_joins, plan.remote_calls, plan.splits, plan.sorts, plan.distributed_levels, plan.full_scans
for node in plan: node.depth, node.operator, node.target, node.seek_condition …
print(plan)            # as the Spanner CLI prints it
plan.findings()        # sentences: full scan, back-join, residual, fan-out (rules SPL601 to SPL607)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from spanlab.query import findings, views
from spanlab.query.plan import Node
from spanlab.query.steps import LookupStep

if TYPE_CHECKING:
    from spanlab.advisor import Findings
    from spanlab.query.chunk import Chunk
    from spanlab.schema import Schema
    from spanlab.values import Type

# the model of simulated latency, in milliseconds: a hop to other servers, a row read, a row sorted
HOP_MS, ROW_MS, SORT_MS = 1.0, 0.002, 0.001


@dataclass
class Compiled:
    """A plan in the cache, with what belongs to it."""

    sql: str
    root: Node
    names: list[str]
    result_types: list[Type]
    schema: Schema | None = None
    types: dict[str, Type] = field(default_factory=dict)


class Runs(Protocol):
    """A database that can run plans."""

    @property
    def schema(self) -> Schema:
        """The schema that queries see."""

    def run_plan(self, root: Node, compiled: Compiled, params: Mapping[str, object] | None) -> Chunk:
        """Runs a plan and leaves its counts in its operators."""


class Plan:
    """A query plan: iterate it for its operators, print it, ask it what running it costs.

    The counts come from running the plan over the rows that are there; an explained plan runs when the first of them is
    asked for. `query_plan_cached` tells whether the plan was in the cache.
    """

    def __init__(
        self,
        root: Node,
        compiled: Compiled,
        database: Runs | None = None,
        params: Mapping[str, object] | None = None,
        cached: bool = False,
    ) -> None:
        self.root, self.sql, self.query_plan_cached = root, compiled.sql, cached
        self.params = params
        self._compiled, self._database = compiled, database

    def __iter__(self) -> Iterator[Node]:
        return self.root.walk()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def schema(self) -> Schema | None:
        """The schema that the plan was made for; None for a plan read from a file."""
        return self._database.schema if self._database is not None else None

    @property
    def has_run(self) -> bool:
        """True when the operators carry counts."""
        return self.root.counts is not None

    def _counted(self) -> list[Node]:
        if not self.has_run:
            if self._database is None:
                raise ValueError("This plan was read without statistics: ask for --query-mode=PROFILE to have counts.")
            self._database.run_plan(self.root, self._compiled, self.params)
        return list(self)

    # what it costs

    @property
    def returned(self) -> int:
        """Rows of the result."""
        return _count(self._counted()[0], "rows")

    @property
    def scanned(self) -> int:
        """Rows read by scans, the dropped ones too; base rows that a back-join fetches are not among them."""
        return sum(_count(node, "scanned") for node in self._counted() if node.is_scan and not is_back_join(node))

    @property
    def back_joins(self) -> int:
        """Rows of base tables that were fetched because an index did not hold a column (facts.md 7.5 P5)."""
        return sum(_count(node, "scanned") for node in self._counted() if is_back_join(node))

    @property
    def remote_calls(self) -> int:
        """Calls to other servers: one for each split that a Distributed operator, or one batch of it, reaches."""
        return sum(_count(node, "remote_calls") for node in self._counted())

    @property
    def splits(self) -> int:
        """Splits that the rows of all scans lie in; a query that finds nothing still asks one."""
        scans = [node.counts for node in self._counted() if node.is_scan and node.counts is not None]
        return max(len(frozenset().union(*(counts.reached for counts in scans))), min(1, len(scans)))

    @property
    def latency_ms(self) -> float:
        """Simulated time in milliseconds, by a model that is ours.

        1 ms for each hop after another, 2 µs for each row read, 1 µs for each row sorted: it compares plans with each
        other and says nothing of a real database.
        """
        rows = sum(_count(node, "scanned") for node in self._counted())
        sorted_rows = sum(_count(node.children[0], "rows") for node in self if node.sorts)
        return HOP_MS * (self.distributed_levels + _batches(self)) + ROW_MS * rows + SORT_MS * sorted_rows

    # what it looks like

    @property
    def sorts(self) -> int:
        """How often rows are sorted; a Local and a Global half count as one."""
        return sum(1 for node in self if node.sorts and not _has_local_half(node))

    @property
    def full_scans(self) -> int:
        """How many scans read a whole table or index."""
        return sum(1 for node in self if node.is_scan and node.full_scan)

    @property
    def index_used(self) -> tuple[str, ...]:
        """The secondary indexes that the plan reads."""
        return tuple(dict.fromkeys(node.target for node in self if node.operator == "Index Scan"))

    @property
    def distributed_levels(self) -> int:
        """How many hops to other servers follow one another; back-joins have a count of their own."""
        return _levels(self.root)

    @property
    def advice(self) -> Findings:
        """The findings about this plan (`findings`)."""
        return self.findings()

    def findings(self) -> Findings:
        """What is remarkable about the plan and what to do about it: rules SPL601 to SPL607."""
        return findings.of_plan(self)

    # how it is shown

    def tree(self) -> str:
        """The operators as an indented text, with conditions and, after a run, counts."""
        return views.tree(self)

    def __str__(self) -> str:
        return views.table(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.html(self)


def _count(node: Node, name: str) -> int:
    return getattr(node.counts, name) if node.counts is not None else 0


def is_back_join(node: Node) -> bool:
    """True for the scan of a base table that fetches the rows of index entries."""
    return isinstance(node.step, LookupStep) or bool(node.details.get("back_join_lookup"))


def _levels(node: Node) -> int:
    below = [_levels(child) for child in node.children]
    deeper = max(below, default=0) if node.operator == "Union All" else sum(below)
    hop = node.distributed and not node.details.get("back_join")
    return deeper + int(hop)


def _batches(plan: Plan) -> int:
    """Round trips of back-joins: the batches go out after one another."""
    found = [node for node in plan if node.details.get("back_join")]
    return sum(-(-_count(node.children[0], "rows") // 1000) for node in found)


def _has_local_half(node: Node) -> bool:
    return node.operator.startswith("Global") and any(
        other.operator == node.operator.replace("Global", "Local") for other in node.walk()
    )


@dataclass
class Result:
    """The rows of a query as tuples, the names and types of their columns, and the plan with what each operator did."""

    columns: list[str]
    types: list[Type]
    rows: list[tuple[Any, ...]]
    plan: Plan
    profile: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts by column name (of equal names the last wins)."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def query_plan_cached(self) -> bool:
        """True when the plan was in the cache."""
        return self.plan.query_plan_cached

    def __getattr__(self, name: str) -> Any:
        """The counts of the plan: result.scanned is result.plan.scanned."""
        if name in _COUNTS:
            return getattr(self.plan, name)
        raise AttributeError(f"a result has no {name!r}")

    def __str__(self) -> str:
        return views.rows_as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.rows_as_html(self)


_COUNTS = (
    "scanned", "returned", "back_joins", "remote_calls", "splits", "sorts", "distributed_levels", "full_scans",
    "index_used", "advice", "latency_ms",
)  # fmt: skip
