"""The words that criteria are made of: what an answer did, measured by the library.

A schema that was handed in is looked at once (`Design`): it is parsed, its workload is simulated, and every criterion
reads from that. Each criterion is a function of its weight and its limit, and says what it saw in numbers with units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from spanlab.catalog import Table
from spanlab.course.challenge import Criterion, Outcome
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
    ) -> None:
        from spanlab.schema import Schema  # reads SQL: not needed, and not loaded, by challenges about numbers

        self.schema = Schema.from_ddl(text, skip_unsupported=False)  # an answer should not lose a part in silence
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
        from spanlab.splits import Workload, simulate

        load = Workload(self.table.name, writes_per_second=self.writes_per_second, values=self.values)
        run = simulate(
            self.schema,
            load,
            nodes=self.nodes,
            minutes=self.minutes,
            model=self.model,
            start=self.start,
            presplit=self.presplit,
            seed=self.seed,
        )
        return dict(run.summary())

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
            and column.default is None
            and column.generated is None
            and column.identity is None
            and not column.auto_increment
        ]


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


def committed(weight: int, at_least: float) -> Criterion:
    """Committed writes/s, mean of the last minute. A part of the weight is not given: too few is a design that
    fails."""

    def measure(design: Design) -> Outcome:
        got, offered = design.summary["committed"], design.summary["offered"]
        return Outcome(float(got >= at_least), f"{got:,.0f} of {offered:,.0f} writes/s commit")

    return Criterion(weight, f"at least {at_least:,.0f} writes/s commit", measure)


def hottest(weight: int, at_most: float) -> Criterion:
    """The share of the table's writes that the hottest split takes."""

    def measure(design: Design) -> Outcome:
        share = design.summary["hottest_share"]
        return Outcome(float(share <= at_most), f"the hottest split takes {100 * share:.3g} % of the writes")

    return Criterion(weight, f"no split takes more than {100 * at_most:.0f} % of the writes", measure)


def p99(weight: int, at_most_ms: float) -> Criterion:
    """The commit latency that 99 of 100 commits keep to, in milliseconds."""

    def measure(design: Design) -> Outcome:
        got = design.summary["p99_ms"]
        seen = f"{got:,.0f}" if got >= 1_000 else f"{got:.3g}"  # not 5.72e+03
        return Outcome(float(got <= at_most_ms), f"99 % commit within {seen} ms")

    return Criterion(weight, f"99 % of commits take at most {at_most_ms:.0f} ms", measure)


def has_columns(weight: int, types: Mapping[str, str], *, commit_timestamp: str = "") -> Criterion:
    """The business columns keep their names and types; one may have to stay a commit timestamp."""

    def measure(design: Design) -> Outcome:
        for name, type_name in types.items():
            column = design.table.column(name)
            if column is None:
                return Outcome(0.0, f"{name} is missing")
            if column.type.name != type_name:
                return Outcome(0.0, f"{name} is {column.type}, not {type_name}")
            if name == commit_timestamp and not column.commit_timestamp:
                return Outcome(0.0, f"{name} lacks OPTIONS (allow_commit_timestamp = true)")
        return Outcome(1.0, "all are there")

    names = ", ".join(f"{name} (commit timestamp)" if name == commit_timestamp else name for name in types)
    return Criterion(weight, f"the columns {names} are kept", measure)


def scanned(weight: int, at_most: int, sql: str = "") -> Criterion:
    """Rows that a query reads, those that it drops included. One that reads or returns none has saved nothing."""

    def measure(asked: Asked) -> Outcome:
        result = asked.ask(sql)
        share = float(bool(result.rows) and 0 < result.plan.scanned <= at_most)
        return Outcome(share, f"it reads {result.plan.scanned:,} rows and returns {len(result.rows):,}")

    return Criterion(weight, f"the query reads at most {at_most:,} rows", measure)


def sorts(weight: int, sql: str = "") -> Criterion:
    """The rows come in the order of a key, so that nothing is sorted (and LIMIT can stop early)."""

    def measure(asked: Asked) -> Outcome:
        count = asked.ask(sql).plan.sorts
        return Outcome(float(count == 0), f"it sorts {count} time{'s' * (count != 1)}" if count else "it does not sort")

    return Criterion(weight, "the query needs no sort", measure)


def rows(weight: int, wanted: str, right: Callable[[], Sequence[tuple[Any, ...]]], sql: str = "") -> Criterion:
    """The query returns these rows, each as often, in any order. `right` is called when an answer is measured."""

    def measure(asked: Asked) -> Outcome:
        expected, got = Counter(map(repr, right())), Counter(map(repr, asked.ask(sql).rows))
        found, strange = (expected & got).total(), (got - expected).total()
        seen = f"it returns {found:,} of the {expected.total():,} rows"
        if strange:
            seen += f", and {strange:,} that are not asked for"
        return Outcome(float(got == expected), seen)

    return Criterion(weight, wanted, measure)


def advice_lacks(weight: int, rules: Sequence[str], what: str) -> Criterion:
    """The advisor has nothing to say under these rules; `what` says in words what they warn of."""

    def measure(design: Design) -> Outcome:
        broken = sorted(design.rules & set(rules))
        return Outcome(float(not broken), f"it warns with {', '.join(broken)}" if broken else "it has no such warning")

    return Criterion(weight, f"sl.advise(schema) does not warn of {what} ({', '.join(rules)})", measure)


def each_item(names: Sequence[str], right: Sequence[Any]) -> tuple[Criterion, ...]:
    """One criterion for each place of a list, all of the same weight; the right value is not told."""

    def place(index: int) -> Callable[[Sequence[Any]], Outcome]:
        return lambda answer: Outcome(float(answer[index] == right[index]), f"you say {answer[index]}")

    return tuple(Criterion(100 // len(names), name, place(i)) for i, name in enumerate(names))


def number_is(
    weight: int, wanted: str, right: float, *, within: float = 0.0, partly: Mapping[float, float] | None = None
) -> Criterion:
    """A number, within a tolerance. `partly` gives near misses that a fair teacher would pay in part: {value:
    share}."""

    def measure(answer: float) -> Outcome:
        if abs(answer - right) <= within:
            return Outcome(1.0, f"{answer:,} is right")
        return Outcome((partly or {}).get(answer, 0.0), f"{answer:,} is not")

    return Criterion(weight, wanted, measure)
