"""`advise`: all rules over one schema, and the load, if given, simulated so that the messages carry figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from spanlab.advisor import constraints, families, indexes, key_types, keys  # noqa: F401  (they enter their rules)
from spanlab.advisor.case import Case, Rows
from spanlab.advisor.findings import Finding, Findings
from spanlab.advisor.rules import RULES
from spanlab.errors import SchemaError, SqlError, UnsupportedError
from spanlab.schema import Schema
from spanlab.splits import Workload, simulate
from spanlab.sql import parse_each
from spanlab.sql.statements import AddColumn, AlterTable, CreateIndex, CreateTable, DropIndex, Statement

HEAT = {"SPL101", "SPL102", "SPL103", "SPL104", "SPL105", "SPL301", "SPL312"}
# one cause, one report: where the first is found about a subject, the others stay silent
INSTEAD = {"SPL101": {"SPL503"}, "SPL103": {"SPL503"}, "SPL312": {"SPL306"}, "SPL302": {"SPL303"}}
REFUSED = "SPL000"
"""The code of a refusal for which there is no rule of its own."""
_IGNORE = re.compile(r"--\s*spanlab:\s*ignore\s+(SPL\d{3})\b")


def advise(
    schema: Schema, workload: Workload | Sequence[Workload] | None = None, rows: Rows | None = None, *, nodes: int = 10
) -> Findings:
    """What will hurt in this schema, the gravest first.

    `workload` (one or several) sharpens the rules about heat: below 200 writes a second they become remarks, above that
    the load is simulated on `nodes` nodes and the message says what is committed. `rows` are samples of rows by table
    (dicts of column values) and sharpen the rules about NULLs. What a careful reviewer would accept stays silent.
    """
    loads = () if workload is None else (workload,) if isinstance(workload, Workload) else tuple(workload)
    case = Case(schema, loads, rows or {}, nodes if loads else None)
    found = [f for rule in RULES.values() for f in rule.findings(case)]
    return Findings(_with_figures(_one_report_a_cause(found), case, nodes))


def _one_report_a_cause(found: Iterable[Finding]) -> list[Finding]:
    found = list(found)
    silenced = {(f.subject, other) for f in found for other in INSTEAD.get(f.rule, ())}
    return [f for f in found if (f.subject, f.rule) not in silenced]


def _with_figures(found: list[Finding], case: Case, nodes: int) -> list[Finding]:
    """Adds to each heat finding what the simulator makes of the load on that table."""
    said: dict[str, str] = {}
    for load in case.workloads:
        summary: dict[str, Any] = simulate(case.schema, load, nodes=nodes).summary()
        if summary["committed"] < 0.97 * summary["offered"]:
            said[load.table.casefold()] = (
                f" Simulated on {nodes} nodes: {summary['committed']:,.0f} of {summary['offered']:,.0f} writes/s "
                f"commit, p99 {summary['p99_ms']:,.0f} ms."
            )
    return [
        replace(f, message=f.message + said.get(_table_of(f, case).casefold(), "")) if f.rule in HEAT else f
        for f in found
    ]


def _table_of(finding: Finding, case: Case) -> str:
    kind, _, name = finding.subject.partition(" ")
    return case.schema.index(name).table if kind == "index" else name


def advise_text(
    text: str, workload: Workload | Sequence[Workload] | None = None, rows: Rows | None = None, *, nodes: int = 10
) -> Findings:
    """As `advise`, for a DDL text that need not be right: what Spanner refuses is reported too, and skipped.

    A comment `-- spanlab: ignore SPL101 reason` in a statement, or on the lines right above it, silences that rule for
    the object of the statement. Statements of kinds outside the course are passed over.
    """
    schema, statements, made, refused = Schema(), [], [], []
    absent: list[dict[str, CreateIndex]] = []  # refused indexes by name, one a name in each dict
    lost: set[str] = set()  # names that a refused statement would have made: what misses them has no fault of its own
    for statement in parse_each(text):
        if isinstance(statement, SqlError):
            if not isinstance(statement, UnsupportedError):
                refused.append(_refusal(f"statement in line {statement.line}", statement))
            continue
        statements.append(statement)
        try:
            schema = schema.apply(statement)
            made.append(statement)
        except UnsupportedError:
            continue
        except SchemaError as error:
            errors = [error]
            if isinstance(statement, CreateIndex):
                errors += _behind_a_taken_name(schema, statement)
                _put(absent, statement)
            refused += [_refusal(_subject(statement), one) for one in errors if one.marked not in lost]
            lost |= {name for name in _would_make(statement) if name.casefold() not in schema.names}
    found = [replace(f, line=_line(made, f)) for f in advise(schema, workload, rows, nodes=nodes)]
    for indexes_by_name in absent:
        added = list(indexes_by_name.values())
        whole = advise(reduce(_with_index, added, schema), workload, rows, nodes=nodes)
        found += [replace(f, line=line) for f in whole if (line := _line(added, f))]
    silenced = _silenced(text, statements)
    return Findings([f for f in refused + found if (f.rule, f.subject) not in silenced])


def _put(absent: list[dict[str, CreateIndex]], statement: CreateIndex) -> None:
    """Puts a refused index where no other has its name: so all of them are judged in few goes."""
    name = statement.index.name.casefold()
    free = next((others for others in absent if name not in others), None)
    if free is None:
        absent.append(free := {})
    free[name] = statement


def _behind_a_taken_name(schema: Schema, statement: CreateIndex) -> list[SchemaError]:
    """What Spanner would refuse in an index whose name another one has, had it another name."""
    without = _without_namesake(schema, statement)
    if without is schema:
        return []
    try:
        without.apply(statement)
    except SchemaError as error:
        return [error]
    return []


def _with_index(schema: Schema, statement: CreateIndex) -> Schema:
    """The schema with an index that was refused: in its namesake's place, without stored columns that are not there.

    Where it is refused even so, there is nothing in it to judge, and the schema has no index of that name.
    """
    without, index = _without_namesake(schema, statement), statement.index
    table = without.tables.get(index.table)
    stored = tuple(name for name in index.storing if table and table.column(name))
    try:
        return without.apply(replace(statement, index=replace(index, storing=stored)))
    except SchemaError:
        return without


def _without_namesake(schema: Schema, statement: CreateIndex) -> Schema:
    """The schema without the index that has the name of the statement's; the same schema where there is none."""
    kind, name = schema.names.get(statement.index.name.casefold(), ("", ""))
    return schema.apply(DropIndex(name)) if kind == "index" and not schema.indexes[name].managed else schema


def _refusal(subject: str, error: SqlError) -> Finding:
    return Finding(
        error.rule or REFUSED, "refused by Spanner", "high", subject, error.message, error.hint, line=error.line
    )


def _would_make(statement: Statement) -> set[str]:
    """The table, index or column that a statement would add."""
    match statement:
        case CreateTable(table=made) | CreateIndex(index=made):
            return {made.name}
        case AlterTable(action=AddColumn(column=column)):
            return {column.name}
    return set()


def _subject(statement: Statement) -> str:
    """What a statement is about, in the form of `Finding.subject`."""
    kind = type(statement).__name__
    word = next((w for w in ("Index", "Table", "Sequence", "View", "Schema", "Database") if w in kind), "Statement")
    part = getattr(statement, word.lower(), None)
    name = getattr(part, "name", None) or getattr(statement, "name", "")
    return f"{word.lower()} {name}".strip()


def _line(statements: Sequence[Statement], finding: Finding) -> int | None:
    """The line of the statement that made the finding's subject."""
    for statement in statements:
        if _subject(statement) == finding.subject and (place := statement.places.find()):
            return place.line
    return None


def _silenced(text: str, statements: Sequence[Statement]) -> set[tuple[str, str]]:
    """(rule, subject) pairs that a comment in the text silences: the comment belongs to the statement that ends
    next."""
    starts = [(p.line, _subject(s)) for s in statements if (p := s.places.find())]
    silenced = set()
    for number, line in enumerate(text.splitlines(), 1):
        for code in _IGNORE.findall(line):
            inside = [subject for start, subject in starts if start <= number]
            after = [subject for start, subject in starts if start > number]
            above = inside and ";" in "".join(text.splitlines()[_start(starts, inside[-1]) - 1 : number - 1])
            subject = after[0] if after and (above or not inside) else inside[-1] if inside else None
            if subject:
                silenced.add((code, subject))
    return silenced


def _start(starts: Sequence[tuple[int, str]], subject: str) -> int:
    return next(line for line, s in starts if s == subject)
