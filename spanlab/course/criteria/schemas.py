"""What a schema makes of its load, and what it keeps: the simulator's and the advisor's words, and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanlab.course.challenge import Criterion, Outcome
from spanlab.course.criteria.looked_at import Design


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


def advice_lacks(weight: int, rules: Sequence[str], what: str) -> Criterion:
    """The advisor has nothing to say under these rules; `what` says in words what they warn of."""

    def measure(design: Design) -> Outcome:
        broken = sorted(design.rules & set(rules))
        return Outcome(float(not broken), f"it warns with {', '.join(broken)}" if broken else "it has no such warning")

    return Criterion(weight, f"sl.advise(schema) does not warn of {what} ({', '.join(rules)})", measure)
