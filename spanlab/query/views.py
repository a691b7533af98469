"""How plans and rows are shown: as the Spanner CLI prints them, as an indented text, and in a notebook."""

from __future__ import annotations

import html as _html
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanlab.query.steps import LookupStep

if TYPE_CHECKING:
    from spanlab.query.plan import Node
    from spanlab.query.plans import Plan, Result

_SHOWN_ROWS = 20
_MARKS = ("back_join", "back_join_lookup")
# text and ground of the notices: words say what the colours only underline, and they read on a dark page too
_BAD, _WARN, _GOOD, _QUIET = (
    ("#7a1410", "#fbe3e0"),
    ("#5c3b00", "#fdf0cf"),
    ("#004d40", "#d9f0ea"),
    ("#3c4043", "#eceff1"),
)
_LEFT, _RIGHT = "text-align:left;vertical-align:top", "text-align:right;vertical-align:top"
_NOTICE = "display:inline-block;margin:1px 0;padding:0 .4em;border-radius:.3em;white-space:nowrap"


# as the Spanner CLI prints a plan


def table(plan: Plan) -> str:
    """The plan in a frame, with ids, and the predicates below; with counts when the plan has run."""
    nodes = list(plan)
    heads = ["ID", "Query_Execution_Plan"]
    lines = [[("*" if node.predicates() else "") + str(node.id), _drawn(node, nodes)] for node in nodes]
    if plan.has_run:
        heads += ["Rows", "Exec.", "Scanned"]
        for node, line in zip(nodes, lines, strict=True):
            line += _counts(node)
    widths = [max(len(row[place]) for row in [heads, *lines]) for place in range(len(heads))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    right = {0, 2, 3, 4}
    text = [rule, _framed(heads, widths, set()), rule, *(_framed(line, widths, right) for line in lines), rule]
    predicates = [f" {node.id}: {name}: {condition}" for node in nodes for name, condition in node.predicates()]
    if predicates:
        text += ["Predicates (identified by ID):", *predicates]
    return "\n".join(text)


def _framed(cells: list[str], widths: list[int], right: set[int]) -> str:
    padded = [
        c.rjust(w) if place in right else c.ljust(w) for place, (c, w) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _drawn(node: Node, nodes: list[Node]) -> str:
    """The operator with the lines of the tree in front of it."""
    if node.depth == 0:
        return node.title() + _metadata(node)
    parts = []
    later = nodes[node.id + 1 :]
    for depth in range(1, node.depth + 1):
        rest = next((n.depth for n in later if n.depth <= depth), -1)
        parts.append(("+- " if depth == node.depth else "|  ") if rest == depth or depth == node.depth else "   ")
    role = f"[{node.link}] " if node.link else ""
    return "".join(parts) + role + node.title() + _metadata(node)


def _metadata(node: Node) -> str:
    """The metadata in brackets, without the marks that this library puts on back-joins: no plan of Spanner has them."""
    return replace(node, details={k: v for k, v in node.details.items() if k not in _MARKS}).metadata()


def _counts(node: Node) -> list[str]:
    counts = node.counts
    if counts is None or not counts.executions:
        return ["", "", ""]
    return [f"{counts.rows:,}", f"{counts.executions:,}", f"{counts.scanned:,}" if node.is_scan else ""]


def tree(plan: Plan) -> str:
    """The operators, indented, each with its conditions behind it."""
    lines = []
    for node in plan:
        role = f"[{node.link}] " if node.link else ""
        conditions = "".join(f"  {name}: {text}" for name, text in node.predicates())
        counts = node.counts
        ran = f"  {counts.rows:,} rows" if counts is not None and counts.executions else ""
        lines.append("  " * node.depth + role + node.title() + _metadata(node) + conditions + ran)
    return "\n".join(lines)


# in a notebook


def html(plan: Plan) -> str:
    """The plan as an indented table: what an operator is, its conditions, its counts, and what to notice, in words."""
    heads = ["Operator", "What to notice", *(["Rows", "Executions", "Scanned"] if plan.has_run else [])]
    head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in heads)
    body = "".join(_html_row(node, plan.has_run) for node in plan)
    return (
        '<table style="font-size:13px;border-collapse:collapse">'
        '<caption style="text-align:left;caption-side:top;padding-bottom:.4em">'
        f"Query plan of <code>{_html.escape(_one_line(plan.sql))}</code></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _one_line(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= 160 else text[:159] + "…"


def _html_row(node: Node, with_counts: bool) -> str:
    role = f'<span style="opacity:.75">[{node.link}] </span>' if node.link else ""
    conditions = "".join(
        f'<br><small style="opacity:.8">{name}: <code>{_html.escape(text)}</code></small>'
        for name, text in node.predicates()
    )
    indent = f"padding-left:{0.4 + 1.1 * node.depth:.1f}em;{_LEFT}"
    name = f"<b>{_html.escape(node.operator)}</b>" + (f" on {_html.escape(node.target)}" if node.target else "")
    notes = "<br>".join(
        f'<span style="{_NOTICE};color:{ink};background:{ground}">{text}</span>'
        for (ink, ground), text in notices(node)
    )
    cells = [f'<td style="{indent}">{role}{name}{conditions}</td>', f'<td style="{_LEFT}">{notes}</td>']
    if with_counts:
        cells += [f'<td style="{_RIGHT}">{text}</td>' for text in _counts(node)]
    return f"<tr>{''.join(cells)}</tr>"


def notices(node: Node) -> list[tuple[tuple[str, str], str]]:
    """What a reader should notice about an operator: colours (ink, ground) and words."""
    found = []
    if node.is_scan and node.full_scan:
        # a LIMIT above it may end it early, so that it does not always read everything
        read = "from the first row on" if node.counts is None else f"{_counted(node.counts.scanned, 'row')} read"
        found.append((_BAD, f"full scan: {read}"))
    elif isinstance(node.step, LookupStep) or node.details.get("back_join_lookup"):
        found.append((_WARN, "back-join: a row for each entry"))
    elif node.is_scan and node.seek_condition:
        found.append((_GOOD, "seek: only the key range"))
    if node.residual_condition:
        found.append((_WARN, "residual: rows are read, then dropped"))
    if node.operator == "Distributed Union":
        found.append((_QUIET, _hop(node)))
    elif node.distributed:
        found.append((_WARN, "a hop: batches of keys" + " to the table" * bool(node.details.get("back_join"))))
    if node.sorts:
        found.append((_WARN, "sorts"))
    return found


def _hop(node: Node) -> str:
    """Whom a Distributed Union asks: splits that its Split Range chooses, or every split."""
    if node.counts is None:
        return f"a hop: to {'the splits of this range' if node.split_range else 'every split'}"
    calls = node.counts.remote_calls
    return f"a hop: {calls:,} remote call{'s' * (calls != 1)}"


# rows


def rows_as_text(result: Result) -> str:
    """The first rows in a frame, how many there are, and what they cost; the plan where it was asked for."""
    shown = [[_value(value) for value in row] for row in result.rows[:_SHOWN_ROWS]]
    widths = [max(len(cell) for cell in column) for column in zip(result.columns, *shown, strict=True)] or [0]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [rule, _framed(result.columns, widths, set()), rule, *(_framed(row, widths, set()) for row in shown), rule]
    lines.append(summary(result))
    return "\n".join(lines + ([str(result.plan)] if result.profile else []))


def summary(result: Result) -> str:
    """One sentence: rows returned, scanned, fetched."""
    plan = result.plan
    more = f" (the first {_SHOWN_ROWS} are shown)" if len(result.rows) > _SHOWN_ROWS else ""
    costs = (_counted(plan.back_joins, "back-join"), _counted(plan.sorts, "sort"))
    return f"{_counted(len(result.rows), 'row')}{more}; {plan.scanned:,} scanned, {', '.join(costs)}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def rows_as_html(result: Result) -> str:
    """The first rows as a table, with the summary below."""
    head = "".join(f'<th scope="col">{_html.escape(name)}</th>' for name in result.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_html.escape(_value(value))}</td>" for value in row) + "</tr>"
        for row in result.rows[:_SHOWN_ROWS]
    )
    plan = html(result.plan) if result.profile else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{summary(result)}</p>{plan}"
