"""What criteria measure: a schema or a query that was handed in, looked at once.

What costs time (the simulation, the rows, the queries) is done when a criterion first asks for it, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from spanlab.catalog import Index, Table
from spanlab.errors import SchemaError

if TYPE_CHECKING:
    from spanlab.query import Database, Result
    from spanlab.schema import Schema
    from spanlab.splits import Model


class Design:
    """A schema that was handed in, with the workload it has to bear.

    Raises SchemaError where the text is not DDL that Spanner takes, or lacks the table. What costs time (the
    simulation, the queries) is done when a criterion first asks for it, and once.

    `rows` makes a database of the schema with rows in it, for criteria about queries; `params` are their parameters.
    `given` is DDL that the answer comes after: its statements then change or add to a schema that is there.
    """

    def __init__(
        self,
        text: str,
        table: str,
        *,
        writes_per_second: int,
        values: Mapping[str, str],
        nodes: int,
        minutes: int = 10,
        model: str | Model = "study",
        start: str = "warm",
        presplit: int | None = None,
        seed: int = 0,
        rows: Callable[[Schema], Database] | None = None,
        params: Mapping[str, object] | None = None,
        given: str = "",
    ) -> None:
        from spanlab.schema import Schema  # reads SQL: not needed, and not loaded, by challenges about numbers

        self.schema = Schema.from_ddl(given).apply(text)  # refuses kinds outside the course: no part lost in silence
        self.table: Table = self.schema.table(table)
        present = {column.name.casefold() for column in self.table.columns}
        self.values = {name: word for name, word in values.items() if name.casefold() in present}
        self.writes_per_second, self.nodes, self.minutes = writes_per_second, nodes, minutes
        self.model, self.start, self.presplit, self.seed = model, start, presplit, seed
        self._rows, self._params = rows, params
        self._results: dict[str, Result] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the simulator makes of it: `run.summary()` of the last minute."""
        load = (self.table.name, self.writes_per_second, tuple(self.values.items()))
        return _simulated(
            _Written(self.schema.to_ddl(), self.schema),
            load,
            nodes=self.nodes,
            minutes=self.minutes,
            model=self.model,
            start=self.start,
            presplit=self.presplit,
            seed=self.seed,
        ).copy()

    @cached_property
    def database(self) -> Database:
        """The schema with rows in it. ConstraintError where it refuses one."""
        if self._rows is None:
            raise ValueError("rows: this design was given none, so no query can be asked of it")
        return self._rows(self.schema)

    def ask(self, sql: str) -> Result:
        """The rows and the plan of a query over this schema. QueryError where the schema cannot answer it."""
        if sql not in self._results:
            self._results[sql] = self.database.query(sql, self._params)
        return self._results[sql]

    @cached_property
    def rules(self) -> set[str]:
        """The rules of the advisor that this schema breaks."""
        from spanlab.advisor import advise

        return {finding.rule for finding in advise(self.schema)}

    def unfilled(self) -> list[str]:
        """Columns that must have a value and get none: not from the workload, not from a default, not from Spanner."""
        named = {name.casefold() for name in self.values}
        keys = {part.column.casefold() for part in self.table.key}
        return [
            column.name
            for column in self.table.columns
            if (column.not_null or column.name.casefold() in keys)
            and column.name.casefold() not in named
            and not column.filled_by_schema
        ]


@dataclass(frozen=True)
class _Written:
    """A schema, known by its canonical DDL: a class hands in the same few designs, in other words and other orders."""

    ddl: str
    schema: Schema = field(compare=False)


@lru_cache(maxsize=256)
def _simulated(written: _Written, load: tuple[str, int, tuple[tuple[str, str], ...]], **how: Any) -> dict[str, Any]:
    """What the simulator makes of a design; each design is run once."""
    from spanlab.splits import Workload, simulate

    table, writes_per_second, values = load
    workload = Workload(table, writes_per_second=writes_per_second, values=dict(values))
    return dict(simulate(written.schema, workload, **how).summary())


def kept(fill: Callable[..., Database]) -> Callable[..., Database]:
    """For a function that makes a database of a schema, and of more arguments: each is filled once, and the last
    sixteen are kept. Whoever looks at one may read it, and must not write to it."""

    @lru_cache(maxsize=16)
    def filled(written: _Written, arguments: tuple[Hashable, ...]) -> Database:
        return fill(written.schema, *arguments)

    @wraps(fill)
    def of_schema(schema: Schema, *arguments: Hashable) -> Database:
        return filled(_Written(schema.to_ddl(), schema), arguments)

    return of_schema


class Refused:
    """DDL that reads well and that Spanner refuses: whatever is measured on it says what Spanner says."""

    def __init__(self, error: SchemaError) -> None:
        self.error = error

    def __getattr__(self, name: str) -> NoReturn:
        raise self.error


class HandedQuery:
    """A query that was handed in, over a database that has rows. `result` is its rows and its plan.

    Raises QueryError where it does not parse, names what is not there, or is no query.
    """

    def __init__(self, sql: str, database: Database, params: Mapping[str, object]) -> None:
        self.sql = sql
        self.result: Result = database.query(sql, params)

    def ask(self, sql: str = "") -> Result:
        """Its result: it is the only query here, so `sql` is "", or its own text."""
        if sql not in ("", self.sql):
            raise ValueError(f"sql: {sql!r} was given; only the query that was handed in can be asked")
        return self.result


class Asked(Protocol):
    """Something that answers queries: a `Design` with rows, or a `HandedQuery`, whose query is written ""."""

    def ask(self, sql: str) -> Result:
        """The rows and the plan of the query."""


def key_of(design: Design) -> list[tuple[str, bool]]:
    """The primary key as (column in small letters, whether DESC)."""
    return [(part.column.casefold(), part.desc) for part in design.table.key]


def index_columns(index: Index) -> list[str]:
    """The columns that an index is on, as written, in small letters."""
    return [part.column.casefold() for part in index.key]
