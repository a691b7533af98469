"""What a query reads, fetches, sorts and returns: the planner's words.

Each criterion asks a `Design` a query, or with `sql` left out a `HandedQuery` its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from spanlab.course.challenge import Criterion, Outcome
from spanlab.course.criteria.looked_at import Asked, HandedQuery


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


def back_joins(weight: int, sql: str = "", *, at_most: int = 0) -> Criterion:
    """Rows of a base table that are fetched because an index lacks a column (facts.md 7.5 P5).

    A query without rows, or one that reads the base table in place of the index, has saved nothing.
    """

    def measure(asked: Asked) -> Outcome:
        result = asked.ask(sql)
        fetched, from_index = result.plan.back_joins, bool(result.plan.index_used)
        seen = f"it fetches {fetched:,} rows" if from_index else "it reads no index"
        return Outcome(float(bool(result.rows) and from_index and fetched <= at_most), seen)

    most = "no row" if at_most == 0 else f"at most {at_most:,} rows"
    return Criterion(weight, f"the query fetches {most} from the base table", measure)


def distributed(weight: int, at_most: int, sql: str = "") -> Criterion:
    """Hops to other servers that follow one another: the distributed levels of the plan."""

    def measure(asked: Asked) -> Outcome:
        result = asked.ask(sql)
        levels = result.plan.distributed_levels
        share = float(bool(result.rows) and levels <= at_most)
        return Outcome(share, f"its plan has {levels} distributed level{'s' * (levels != 1)}")

    limit = f"{at_most} distributed level{'s' * (at_most != 1)}"
    return Criterion(weight, f"the plan of the query has at most {limit}", measure)


def scan_uses(weight: int, index: str, sql: str = "") -> Criterion:
    """The plan reads this index, for all it needs or for a part of it."""

    def measure(asked: Asked) -> Outcome:
        read = list(dict.fromkeys(node.target for node in asked.ask(sql).plan if node.is_scan))
        share = float(index.casefold() in [name.casefold() for name in read])
        return Outcome(share, f"it reads {' and '.join(read) or 'no table'}")

    return Criterion(weight, f"the query reads the index {index}", measure)


def parameters(weight: int, names: Sequence[str], what: str) -> Criterion:
    """The handed-in query takes these parameters, and no text in quotes stands in it. `what` ends the sentence: "no id
    stands in the text"."""

    def measure(query: HandedQuery) -> Outcome:
        taken, texts = parameters_in(query.sql), _texts_in(query.sql)
        if texts:
            return Outcome(0.0, f"the text '{texts[0]}' stands in the query")
        lacking = [f"@{name}" for name in names if name.casefold() not in taken]
        seen = f"not in it: {', '.join(lacking)}" if lacking else f"{'they are' if len(names) > 1 else 'it is'} there"
        return Outcome(float(not lacking), seen)

    said = " and ".join(f"@{name}" for name in names)
    verb = "are parameters" if len(names) > 1 else "is a parameter"
    return Criterion(weight, f"{said} {verb}; {what}", measure)


def parameters_in(sql: str) -> set[str]:
    """The parameters of a query, in small letters. QueryError where it does not parse."""
    from sqlglot import exp

    from spanlab.sql import parse_query

    return {parameter.name.casefold() for parameter in parse_query(sql).find_all(exp.Parameter)}


def _texts_in(sql: str) -> list[str]:
    """The texts in quotes in a query; the value of a hint is none."""
    from sqlglot import exp

    from spanlab.sql import parse_query

    texts = (literal for literal in parse_query(sql).find_all(exp.Literal) if literal.is_string)
    return [literal.this for literal in texts if literal.find_ancestor(exp.Hint) is None]
