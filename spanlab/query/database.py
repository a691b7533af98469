"""A database that answers queries: plans, rows, and what the answer cost.

    db = Database(schema)
    plan = db.explain("SELECT … WHERE ShopperId = @s", {"s": "s1"})    # prints as Spanner's plan; plan.findings()
    result = db.query("SELECT …", {"s": "s1"})                         # result.rows, result.plan with counts
    db.execute(["UPDATE …", "DELETE …"])                               # DML, one transaction

Plans are kept by query text and types of parameters, as Spanner keeps them (facts.md 7.1): a literal in the text makes
a new plan each time, a parameter does not. `db.plan_cache.compiled` counts the plans that were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from spanlab import storage
from spanlab.errors import QueryError
from spanlab.query import changes, dml
from spanlab.query.binder import bind
from spanlab.query.execute import Executor
from spanlab.query.plan import Node
from spanlab.query.planner import plan_query
from spanlab.query.plans import Compiled, Plan, Result
from spanlab.query.statistics import Statistics
from spanlab.query.system_tables import system_rows, system_table
from spanlab.query.types_of import Typer
from spanlab.sql import canonical, parse_query

if TYPE_CHECKING:
    from spanlab.query.chunk import Chunk
    from spanlab.schema import Schema
    from spanlab.storage import Commit
    from spanlab.values import Type

Params = Mapping[str, object]


class Observed(Protocol):
    """What SPANNER_SYS needs of a simulated run."""

    def split_stats(self, interval: str = "MINUTE") -> list[dict[str, object]]:
        """The warm and hot splits of each minute, ten minutes or hour."""


@dataclass
class PlanCache:
    """The plans made so far, by query text and types of parameters. `compiled` counts how many had to be made."""

    compiled: int = 0
    kept: dict[tuple[object, ...], Compiled] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kept)

    def clear(self) -> None:
        """Forget all plans, and begin to count anew."""
        self.compiled = 0
        self.kept.clear()


class Database(storage.Database):
    """Rows of a schema's tables (`spanlab.storage.Database`), with queries and DML."""

    def __init__(self, schema: Schema, splits: Iterable[tuple[str, Sequence[object]]] = ()) -> None:
        super().__init__(schema, splits)
        self.plan_cache = PlanCache()
        self.statistics = Statistics(self)
        self.run: Observed | None = None
        self.rows_read: dict[tuple[str, str, int], int] = {}

    def observe(self, run: Observed) -> None:
        """Shows a simulated run to the database: SPANNER_SYS.SPLIT_STATS_TOP_… then list its warm and hot splits."""
        self.run = run

    # queries

    def explain(self, sql: str, params: Params | None = None) -> Plan:
        """The plan of a query. It is not run, unless its counts are asked for (`plan.scanned` …).

        Of INSERT, UPDATE and DELETE it shows how the rows for the change are read; nothing is changed. Raises
        QueryError where Spanner would refuse the query, UnsupportedError for SQL outside the course.
        """
        compiled, cached = self._compiled(sql, params)
        return Plan(compiled.root.clone(), compiled, self, params, cached)

    def query(self, sql: str, params: Params | None = None, profile: bool = False) -> Result:
        """Runs a query: its rows, and its plan with what each operator did. `profile` shows the plan with the rows."""
        compiled, cached = self._compiled(sql, params)
        root = compiled.root.clone()
        if root.operator == "Apply Mutations":
            raise QueryError("This statement changes rows; query only reads.", hint="db.execute([…])", text=sql)
        chunk = self.run_plan(root, compiled, params)
        plan = Plan(root, compiled, self, params, cached)
        rows = _rows(chunk, len(compiled.names))
        return Result(compiled.names, compiled.result_types, rows, plan, profile)

    def run_plan(self, root: Node, compiled: Compiled, params: Params | None) -> Chunk:
        """Runs a plan; its counts are left in its operators."""
        executor = Executor(self, compiled.types, params, self.now, lambda path: system_rows(self, path))
        return executor.result(root)

    def execute(self, statements: str | Iterable[str], params: Params | None = None) -> Commit:
        """Runs DML statements (INSERT, UPDATE, DELETE) in one transaction (`spanlab.query.dml`)."""
        return dml.execute(self, statements, params, self._select)

    def _select(self, tree: exp.Expr, params: Params) -> tuple[list[str], list[tuple[object, ...]]]:
        compiled = self._compile(canonical(tree), params)
        return compiled.names, _rows(self.run_plan(compiled.root, compiled, params), len(compiled.names))

    # plans

    def _compiled(self, sql: str, params: Params | None) -> tuple[Compiled, bool]:
        types = tuple(sorted((name.casefold(), _kind(value)) for name, value in (params or {}).items()))
        size = sum(len(self.stored(name)) for name in self.schema.tables).bit_length()
        key = (sql, types, id(self.schema), size)
        known = self.plan_cache.kept.get(key)
        if known is None:
            self.plan_cache.compiled += 1
            self.plan_cache.kept[key] = self._compile(sql, params)
        return self.plan_cache.kept[key], known is not None

    def _compile(self, sql: str, params: Params | None) -> Compiled:
        tree = parse_query(sql)
        if changes.is_change(tree):
            return self._compile_change(sql, tree, params)
        query = bind(sql, self.schema, system_table)
        typer = Typer(sql, params)
        result_types = typer.query(query)
        root = plan_query(query, self.schema, self.statistics, sql)
        return Compiled(sql, root, [output.name for output in query.outputs], result_types, self.schema, typer.types)

    def _compile_change(self, sql: str, tree: exp.Expr, params: Params | None) -> Compiled:
        roots: list[Node] = []
        types: dict[str, Type] = {}
        for text in changes.reading_queries(tree, self.schema):
            query = bind(text, self.schema, system_table)
            typer = Typer(text, params)
            typer.query(query)
            types |= typer.types
            roots.append(plan_query(query, self.schema, self.statistics, text, whole=True))
        root = changes.with_mutations(tree, self.schema, roots)
        return Compiled(sql, root, [], [], self.schema, types)

    # splits

    def split_number(self, name: str, key: Sequence[object]) -> int:
        """The number of the split, in key order over the whole database, in which a key of a table or an index lies."""
        return self.split_map.number(self.split_map.encoders[name](key))

    def split_count(self, name: str) -> int:
        """How many splits the rows of a table or an index lie in."""
        rows = self.stored(name)
        if not len(rows):
            return 1
        first, last = rows.values(slice(0, 1))[0], rows.values(slice(len(rows) - 1, len(rows)))[0]
        numbers = [self.split_number(rows.name, rows.key_values(row)) for row in (first, last)]
        return numbers[1] - numbers[0] + 1


def _kind(value: object) -> str:
    return (
        f"array of {_kind(value[0]) if value else None}" if isinstance(value, (list, tuple)) else type(value).__name__
    )


def _rows(chunk: Chunk, width: int) -> list[tuple[Any, ...]]:
    columns = chunk.lists(str(place) for place in range(width))
    return list(zip(*columns, strict=True)) if columns else [()] * chunk.rows
