"""What is remarkable about a plan, in sentences, and what to do about it.

The rules carry on those of `spanlab.advisor`: SPL601 full scan, SPL602 back-join, SPL603 literal, SPL604 LIKE with a
parameter, SPL605 range behind a range, SPL607 sort for a LIMIT, SPL608 residual that a longer key would turn into a
seek, SPL609 fan-out. (SPL606, a forced index that cannot serve the query, is an error of the query itself.) Where the
plan has counts, or can be run, a rule speaks only when it costs something; without counts it says what the shape of the
plan means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.advisor import Finding, Findings
from spanlab.errors import SpanlabError
from spanlab.query.plan import Node
from spanlab.query.predicates import Predicate, classify
from spanlab.query.steps import FilterStep, LookupStep, ScanStep, SortStep

if TYPE_CHECKING:
    from spanlab.query.plans import Plan

KEPT_SHARE, MANY_FETCHES, MANY_SORTED, SMALL_LIMIT, MANY_READ = 0.05, 100, 1000, 100, 100
_LITERAL = re.compile(r"(?:=|<|>|LIKE) (?:'[^']*'|-?\d[\w.]*|\d+ unix days)|STARTS_WITH\(\$\w+, '")


def of_plan(plan: Plan) -> Findings:
    """The findings about a plan, the gravest first."""
    counted = _counted(plan)
    rules = (_full_scans, _back_joins, _literals, _like_parameters, _range_behind_range, _sorts, _residuals, _fan_out)
    return Findings([finding for rule in rules for finding in rule(plan, counted)])


def _counted(plan: Plan) -> bool:
    """True when the plan has counts that mean something: it ran, and over rows."""
    try:
        return plan.scanned > 0
    except (SpanlabError, ValueError):
        return False


def _scans(plan: Plan) -> Iterator[tuple[Node, Node | None]]:
    """The scans with the Filter Scan above each."""
    above: dict[int, Node] = {id(child): node for node in plan for child in node.children}
    for node in plan:
        if node.is_scan:
            parent = above.get(id(node))
            yield node, parent if parent is not None and parent.operator == "Filter Scan" else None


def _kind(node: Node) -> str:
    return ("index " if node.operator == "Index Scan" else "table ") + node.target


def _rows(node: Node | None, name: str = "rows") -> int:
    return getattr(node.counts, name) if node is not None and node.counts is not None else 0


# names


def _table_of(plan: Plan, node: Node) -> str:
    if plan.schema is not None and node.target in plan.schema.indexes:
        return plan.schema.indexes[node.target].table
    return node.target


def _column_names(plan: Plan, node: Node, variables: Iterable[str]) -> list[str]:
    """The columns, as the schema writes them, that variables of a scan stand for."""
    step = node.step
    known = step.columns.by_variable if isinstance(step, (ScanStep, LookupStep)) else {}
    names = [known.get(variable, variable.rpartition("_key_")[2]) for variable in variables]
    table = plan.schema.tables.get(_table_of(plan, node)) if plan.schema is not None else None
    if table is not None:
        names = [column.name if (column := table.column(name)) is not None else name for name in names]
    return list(dict.fromkeys(names))


def _conditions(node: Node | None) -> list[exp.Expr]:
    return node.step.conditions if node is not None and isinstance(node.step, FilterStep) else []


def _predicates(scan: Node, holder: Node | None) -> list[Predicate]:
    own = set(scan.step.columns.by_variable) if isinstance(scan.step, (ScanStep, LookupStep)) else set()
    return [p for condition in _conditions(holder) for p in classify(condition, own) if p.kind != "any_of"]


def _index_columns(predicates: Iterable[Predicate]) -> list[str]:
    """The variables in the order in which an index should have them: equalities first, then one range."""
    equal = [p.variable for p in predicates if p.kind in ("equal", "in")]
    ranges = [p.variable for p in predicates if p.kind in ("range", "prefix")]
    return list(dict.fromkeys(equal + ranges[:1]))


def _new_index(plan: Plan, node: Node, columns: list[str]) -> str:
    table = _table_of(plan, node)
    name = f"{table.rpartition('.')[2]}By{''.join(column.split(' ')[0] for column in columns)}"
    return f"CREATE INDEX {name} ON {table} ({', '.join(columns)})"


# the rules


def _full_scans(plan: Plan, counted: bool) -> Iterator[Finding]:
    for scan, holder in _scans(plan):
        if not scan.full_scan or holder is None or not holder.residual_condition:
            continue
        read, kept = _rows(scan, "scanned"), _rows(scan)
        if counted and (read < MANY_READ or kept > KEPT_SHARE * read):
            continue
        columns = _column_names(plan, scan, _index_columns(_predicates(scan, holder)))
        how = f"reads all {read:,} rows to keep {kept:,}" if counted else "reads every row"
        fix = (
            _new_index(plan, scan, columns)
            if columns
            else "an index whose key begins with the columns of the condition"
        )
        yield Finding(
            "SPL601",
            "full scan",
            "medium",
            _kind(scan),
            f"the scan {how}: no key begins with what {holder.residual_condition} asks for",
            fix,
            "facts.md 7.2",
        )


def _back_joins(plan: Plan, counted: bool) -> Iterator[Finding]:
    index = ""
    for node in plan:
        if node.operator == "Index Scan":
            index = node.target
        lookup = isinstance(node.step, LookupStep) or bool(node.details.get("back_join_lookup"))
        if not lookup or (counted and _rows(node, "scanned") <= MANY_FETCHES):
            continue
        variables = list(node.step.columns.by_variable) if isinstance(node.step, LookupStep) else []
        columns = _column_names(plan, node, variables)
        fetched = f"{_rows(node, 'scanned'):,} rows" if counted else "a row for each entry"
        stored = f" for {', '.join(columns)}" if columns else ""
        fixes = [f"ALTER INDEX {index} ADD STORED COLUMN {column}" for column in columns]
        yield Finding(
            "SPL602",
            "back-join",
            "medium",
            f"index {index}",
            f"it does not hold all columns: {fetched} of {node.target} must be fetched{stored}",
            "; ".join(fixes) or "STORING (…) the columns that are fetched",
            "facts.md 7.5 P5",
        )


def _literals(plan: Plan, counted: bool) -> Iterator[Finding]:
    texts = [text for node in plan for name, text in node.predicates() if name != "Split Range"]
    found = next((text for text in texts if _LITERAL.search(text)), None)
    if found is not None:
        yield Finding(
            "SPL603",
            "literal in a condition",
            "low",
            "query",
            f"{found} has its value in the text: each other value is another text and another plan to make",
            "@parameter instead of the value",
            "facts.md 7.1",
        )


def _like_parameters(plan: Plan, counted: bool) -> Iterator[Finding]:
    for scan, holder in _scans(plan):
        for condition in _conditions(holder):
            if isinstance(condition, exp.Like) and condition.expression.find(exp.Parameter) is not None:
                column = _column_names(plan, scan, [condition.this.name])[0]
                yield Finding(
                    "SPL604",
                    "LIKE with a parameter",
                    "medium",
                    _kind(scan),
                    f"{column} LIKE a parameter is no key range: the pattern is unknown when the plan is made",
                    f"STARTS_WITH({column}, @prefix)",
                    "facts.md 7.1",
                )


def _range_behind_range(plan: Plan, counted: bool) -> Iterator[Finding]:
    for scan, holder in _scans(plan):
        step = scan.step
        if not isinstance(step, ScanStep) or step.match.size != 1 or step.match.exact or len(step.key) < 2:
            continue
        behind = [
            p for c in _conditions(holder) for p in classify(c, {step.key[1]}) if p.kind in ("range", "equal", "in")
        ]
        if not behind:
            continue
        first, second = _column_names(plan, scan, step.key[:2])
        yield Finding(
            "SPL605",
            "range behind a range",
            "medium",
            _kind(scan),
            f"only {first} is sought: all rows of its range are read, then the condition on {second} drops some",
            f"one seek for each value of {first} (FROM UNNEST(GENERATE_ARRAY(…)), or UNION ALL of equalities); "
            "or the hints FORCE_INDEX and SEEKABLE_KEY_SIZE=2",
            "facts.md 7.5 P17, P18",
        )


def _sorts(plan: Plan, counted: bool) -> Iterator[Finding]:
    for node in plan:
        step = node.step
        if (
            not isinstance(step, SortStep)
            or not isinstance(step.count, exp.Literal)
            or node.operator.startswith("Global")
        ):
            continue
        rows = _rows(node.children[0])
        if int(step.count.name) > SMALL_LIMIT or (counted and rows <= MANY_SORTED):
            continue
        scan = next((n for n in node.walk() if n.is_scan), None)
        if scan is None:
            continue
        own = set(scan.step.columns.by_variable) if isinstance(scan.step, ScanStep) else set()
        keys = [
            f"{_column_names(plan, scan, [k.name])[0]}{' DESC' if k.desc else ''}" for k in step.keys if k.name in own
        ]
        fixed = (
            [p.variable for p in scan.step.match.seek if p.kind == "equal"] if isinstance(scan.step, ScanStep) else []
        )
        columns = _column_names(plan, scan, fixed) + keys
        many = f"{rows:,} rows are" if counted else "all rows are"
        yield Finding(
            "SPL607",
            "sort for a LIMIT",
            "medium",
            _kind(scan),
            f"{many} read and sorted to give {step.count.name}: a key is not read backwards or out of its order",
            _new_index(plan, scan, columns) if keys else "an index in reading order",
            "facts.md 7.5 P15, P16; 4.2.14",
        )


def _residuals(plan: Plan, counted: bool) -> Iterator[Finding]:
    for scan, holder in _scans(plan):
        if scan.full_scan or holder is None or not holder.residual_condition or not isinstance(scan.step, ScanStep):
            continue
        read, kept = _rows(scan, "scanned"), _rows(scan)
        if counted and (read < MANY_READ or kept > KEPT_SHARE * read):
            continue
        wanted = _index_columns([*[p for p in scan.step.match.seek if p.kind == "equal"], *_predicates(scan, holder)])
        columns = _column_names(plan, scan, wanted)
        if not columns:
            continue
        how = f"{read:,} rows are read to keep {kept:,}" if counted else "rows are read, then dropped"
        yield Finding(
            "SPL608",
            "residual condition",
            "low",
            _kind(scan),
            f"{how}: {holder.residual_condition} is checked row by row behind the seek",
            _new_index(plan, scan, columns),
            "facts.md 7.2",
        )


def _fan_out(plan: Plan, counted: bool) -> Iterator[Finding]:
    for node in plan:
        reached = _rows(node, "splits")
        if node.operator == "Distributed Union" and not node.split_range and reached > 1:
            yield Finding(
                "SPL609",
                "fan-out",
                "low",
                f"table {node.details.get('distribution_table', '')}",
                f"the query asks all {reached} splits: no condition on the key chooses among them",
                "a condition on the first key column, where the question allows one",
                "facts.md 7.6",
            )
