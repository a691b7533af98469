"""Plans that Spanner itself made, drawn and judged by the same code as the course's own.

    gcloud spanner databases execute-sql DB --instance=I --sql='…' --query-mode=PLAN --format=json > plan.json
    print(sl.read_plan("plan.json"))

Query modes PROFILE and WITH_PLAN_AND_STATS add what each operator did (facts.md 7.1). The JSON holds a list of plan
nodes; a node names its children by number and says in which role it reads them. Relational nodes are operators; scalar
nodes are the conditions and subqueries that belong to one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spanlab.query.plan import Counts, Node, numbered
from spanlab.query.plans import Compiled, Plan

_CONDITIONS = {
    "Seek Condition": "seek_condition",
    "Residual Condition": "residual_condition",
    "Condition": "condition",
    "Split Range": "split_range",
    "Timestamp Condition": "timestamp_condition",
}
_SUBQUERIES = ("Scalar Subquery", "Array Subquery")
_KINDS = {
    "TableScan": "Table Scan",
    "IndexScan": "Index Scan",
    "BatchScan": "Batch Scan",
    "SearchIndexScan": "SearchIndex Scan",
}
_LEFT_OUT = {"scan_type", "scan_target", "Full scan", "call_type", "iterator_type", "subquery_cluster_node"}


def read_plan(source: str | Path | Mapping[str, Any]) -> Plan:
    """The plan in a JSON file of gcloud or of the API, in such a JSON text, or in the object read from it.

    Raises ValueError where no plan is in it.
    """
    found = _plan_nodes(_loaded(source))
    if found is None:
        raise ValueError(
            "source: there is no query plan in it. Ask for one with gcloud spanner databases execute-sql … "
            "--query-mode=PLAN --format=json"
        )
    nodes, statistics = found
    by_index = {int(node.get("index", place)): node for place, node in enumerate(nodes)}
    root = numbered(_node(by_index, min(by_index), ""))
    return Plan(root, Compiled(str(statistics.get("query_text", "")), root, [], []))


def _loaded(source: str | Path | Mapping[str, Any]) -> Any:
    if isinstance(source, Mapping):
        return source
    text = str(source)
    if not text.lstrip().startswith(("{", "[")):
        text = Path(source).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"source: this is no JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None


def _plan_nodes(data: Any) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]] | None:
    """The list of plan nodes, wherever the tool put it, and the statistics of the query."""
    if isinstance(data, list):
        return next((found for item in data if (found := _plan_nodes(item)) is not None), None)
    if not isinstance(data, Mapping):
        return None
    nodes = data.get("planNodes") or data.get("plan_nodes")
    if isinstance(nodes, list) and nodes:
        return nodes, {}
    for name in ("stats", "queryPlan", "query_plan", "resultSet", "metadata"):
        found = _plan_nodes(data.get(name))
        if found is not None:
            statistics = data.get("queryStats") or data.get("query_stats") or found[1]
            return found[0], statistics
    return None


def _node(nodes: Mapping[int, Mapping[str, Any]], index: int, link: str) -> Node:
    source = nodes[index]
    metadata = dict(source.get("metadata") or {})
    node = Node(_operator(source, metadata), target=str(metadata.get("scan_target", "")), link=link)
    node.full_scan = str(metadata.get("Full scan", "")).lower() == "true"
    node.details = {name: _plain(value) for name, value in metadata.items() if name not in _LEFT_OUT}
    for child in source.get("childLinks") or source.get("child_links") or []:
        _read_child(node, nodes, int(child.get("childIndex", child.get("child_index", 0))), str(child.get("type", "")))
    _mark_back_join(node)
    node.counts = _counts(source.get("executionStats") or source.get("execution_stats"))
    return node


def _read_child(node: Node, nodes: Mapping[int, Mapping[str, Any]], index: int, link: str) -> None:
    child = nodes[index]
    scalar = str(child.get("kind", "")).upper() == "SCALAR"
    if not scalar:
        node.children.append(_node(nodes, index, link))
        return
    name = str(child.get("displayName", child.get("display_name", "")))
    if name in _SUBQUERIES:
        node.children.append(_node(nodes, index, "Scalar"))
        return
    short = child.get("shortRepresentation") or child.get("short_representation") or {}
    field = _CONDITIONS.get(link)
    if field is not None:
        setattr(node, field, str(short.get("description", "")))
    for inner in child.get("childLinks") or child.get("child_links") or []:
        at = int(inner.get("childIndex", inner.get("child_index", 0)))
        if str(nodes[at].get("displayName", "")) in _SUBQUERIES:
            node.children.append(_node(nodes, at, "Scalar"))


def _operator(source: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """The name as plans print it: call type, iterator type and scan type belong to it."""
    name = str(source.get("displayName", source.get("display_name", "")))
    if name == "Scan":
        return _KINDS.get(str(metadata.get("scan_type", "")), "Scan")
    parts = [str(metadata.get("call_type", "")), str(metadata.get("iterator_type", "")), name]
    return " ".join(part for part in parts if part)


def _plain(value: Any) -> Any:
    text = str(value)
    return {"true": True, "false": False}.get(text.lower(), int(text) if re.fullmatch(r"\d+", text) else text)


def _mark_back_join(node: Node) -> None:
    """A Distributed Cross Apply by primed variables ($Id' = $Id) fetches an index's base rows."""
    primed = re.findall(r"\(\$(\w+)'\d* = \$(\w+?)(?:'\d*)?\)", node.split_range)
    if node.operator != "Distributed Cross Apply" or not primed or any(a != b for a, b in primed):
        return
    node.details["back_join"] = True
    for below in node.children[-1].walk():
        if below.operator == "Table Scan":
            below.details["back_join_lookup"] = True


def _counts(statistics: Mapping[str, Any] | None) -> Counts | None:
    if not statistics:
        return None

    def total(*names: str) -> int:
        for name in names:
            value = statistics.get(name)
            if isinstance(value, Mapping) and str(value.get("total", "")).isdigit():
                return int(value["total"])
        return 0

    summary = statistics.get("execution_summary") or {}
    executions = str(summary.get("num_executions", "1"))
    return Counts(
        total("rows"), int(executions) if executions.isdigit() else 1, total("scanned_rows"), total("remote_calls")
    )
