"""Panel 9A, and ready pictures of plans: how rows are found, how many are read, how many hops, and what is sorted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import unescape
from typing import Any

from spanlab.charts import Figure, Scene, thousands
from spanlab.charts.plan_tree import FETCH, HOP, PLAIN, SCAN, SORT, Box, plan_trees
from spanlab.panels.controls import Choice
from spanlab.panels.panel import Panel
from spanlab.query import Database, data
from spanlab.query.plan import Node
from spanlab.query.plans import Plan, is_back_join
from spanlab.query.views import notices
from spanlab.schema import Schema

MOST_PLANS, MANY = 3, 100
CAPTION = ["Read a tree from the inside out. Bars: rows that a scan reads or fetches, on a logarithmic scale."]


def plans(named: Mapping[str, Plan]) -> Scene:
    """The plans of queries as trees, below each other, by name. They run once, to count rows. At most three."""
    if not 1 <= len(named) <= MOST_PLANS:
        raise ValueError(f"named: {len(named)} plans were given; a picture takes 1 to {MOST_PLANS}")
    said = [f"{name}: {_said(plan)}" for name, plan in named.items()]
    trees = [((name, _said(plan)), _boxes(plan)) for name, plan in named.items()]
    sentence = " ".join(said)
    return Scene(plan_trees(*trees, caption=CAPTION, description=f"Plans as trees. {sentence}"), sentence)


def hops(plan: Plan) -> int:
    """The operators that call other servers, those of back-joins included."""
    return sum(node.distributed for node in plan)


def _said(plan: Plan) -> str:
    """A plan in one sentence: "Index Scan reads 2,000 rows, fetches 2,000; 2 hops; no sort."."""
    scans = [node for node in plan if node.is_scan and not is_back_join(node)]
    read = plan.scanned  # runs the plan, if it has not run yet
    found = " and ".join(dict.fromkeys(f"{node.operator}{_extent(node, plan)}" for node in scans))
    fetched = f", fetches {thousands(plan.back_joins)}" if plan.back_joins else ""
    count, sorted_ = hops(plan), plan.sorts
    reads = f"{found or 'Nothing'} read{'s' * (' and ' not in found)} {_rows(read)}{fetched}"
    sorting = f"{sorted_} sort{'s' * (sorted_ != 1)}" if sorted_ else "no sort"
    return f"{reads}, returns {thousands(plan.returned)}; {count} hop{'s' * (count != 1)}; {sorting}."


def _rows(count: int) -> str:
    return f"{thousands(count)} row{'s' * (count != 1)}"


def _extent(node: Node, plan: Plan) -> str:
    if not node.full_scan:
        return ""
    return " (ended by LIMIT)" if _ended(node, plan) else " (full)"


def _reads_much(node: Node) -> bool:
    return node.counts is not None and node.counts.scanned > MANY


def _ended(node: Node, plan: Plan) -> bool:
    """Whether a LIMIT soon ended a scan without a seek. A Sort Limit ends none: it must see all rows first."""
    return node.full_scan and not _reads_much(node) and any(other.operator == "Local Limit" for other in plan)


def _boxes(plan: Plan) -> list[Box]:
    return [_box(node, plan) for node in plan]


def _box(node: Node, plan: Plan) -> Box:
    role = f"[{node.link}] " if node.link else ""
    words = [unescape(words).partition(":")[0] for _, words in notices(node)]
    if _ended(node, plan):
        words = ["ended by LIMIT" if word == "full scan" else word for word in words]
    reads = node.counts.scanned if node.is_scan and node.counts is not None else None
    alarm = node.full_scan and _reads_much(node)
    conditions = "; ".join(f"{name}: {text}" for name, text in node.predicates())
    return Box(role + node.title(), node.depth, _kind(node), ", ".join(words), reads, alarm, conditions)


def _kind(node: Node) -> str:
    if node.is_scan:
        return FETCH if is_back_join(node) else SCAN
    return SORT if node.sorts else HOP if node.distributed else PLAIN


# ------------------------------------------------------------------------------------------------ panel 9A

QUERIES = (
    ("one purchase, by its key", "point"),
    ("OPEN purchases of a shopper", "filter"),
    ("purchases since day 90", "range"),
    ("the newest 10", "newest"),
    ("a shopper with purchases", "join"),
    ("purchases by status", "group"),
    ("shoppers by beginning of name", "prefix"),
)
_WORDS = {query: words[0].upper() + words[1:] for words, query in QUERIES}
SQL = {
    "point": "SELECT BoughtAt, Total FROM Purchases WHERE ShopperId = @s AND PurchaseId = @p",
    "filter": "SELECT BoughtAt, Total FROM Purchases WHERE ShopperId = @s AND Status = 'OPEN'",
    "range": "SELECT ShopperId, PurchaseId, BoughtAt, Status, Total FROM Purchases WHERE BoughtAt >= @d",
    "newest": "SELECT ShopperId, PurchaseId, BoughtAt, Total FROM Purchases ORDER BY BoughtAt DESC LIMIT 10",
    "join": "SELECT s.Name, p.BoughtAt FROM Shoppers AS s JOIN Purchases AS p USING (ShopperId) WHERE s.ShopperId = @s",
    "group": "SELECT Status, COUNT(*) AS n FROM Purchases GROUP BY Status",
    "prefix": "SELECT ShopperId, Name FROM Shoppers WHERE Name LIKE 'Shopper 12%'",
}
INDEXES = (
    ("none", ""),
    ("(BoughtAt)", "(BoughtAt)"),
    ("(BoughtAt) STORING (Status, Total)", "(BoughtAt) STORING (Status, Total)"),
    ("(BoughtAt DESC)", "(BoughtAt DESC)"),
)
TABLES = (("family: interleaved in Shoppers", True), ("separate, same key", False))
QUARTERS = ("4", "8", "c")
_INTERLEAVED = ", INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE"


@cache
def _database(index: str, family: bool) -> Database:
    """Shoppers and their purchases in quarters of the key space; with an index on purchases, one on names too."""
    ddl = ";".join(data("shop").ddl.split(";")[:2])  # the items are not asked for
    if not family:
        ddl = ddl.replace(_INTERLEAVED, "")
    if index:
        ddl += f"; CREATE INDEX PurchasesByTime ON Purchases {index}; CREATE INDEX ShoppersByName ON Shoppers (Name)"
    tables = ("Shoppers",) if family else ("Shoppers", "Purchases")
    database = Database(Schema.from_ddl(ddl), [(table, [quarter]) for table in tables for quarter in QUARTERS])
    data("shop").into(database)
    return database


@cache
def _plan(query: str, index: str, family: bool) -> Plan:
    who = 8  # has one OPEN purchase, and purchase 8 is hers
    params = {"s": data.uuid(who), "p": data.uuid(who, "Purchases"), "d": data.day(90)}
    return _database(index, family).query(SQL[query], params).plan


def view_plan(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The plan of one question over one choice of index and tables."""
    plan = _plan(parameters["query"], parameters["index"], parameters["family"])
    sentence = _said(plan)
    chart = plan_trees(
        ((_WORDS[parameters["query"]], [plan.sql, sentence]), _boxes(plan)),
        caption=CAPTION,
        description=f"The plan as a tree of {len(plan)} boxes, with a bar for each scan. {sentence}",
    )
    besides = (
        Figure("fetched", plan.back_joins, thousands(plan.back_joins)),
        Figure("hops", hops(plan), str(hops(plan))),
        Figure("sorts", plan.sorts, str(plan.sorts)),
    )
    return Scene(chart, sentence, Figure("rows read", plan.scanned, thousands(plan.scanned)), besides=besides)


def plan_explorer() -> Panel:
    """Panel 9A of lesson 9."""
    controls = (
        Choice("query", "Question", QUERIES, "range"),
        Choice("index", "Index on Purchases", INDEXES, ""),
        Choice("family", "Tables", TABLES, True),
    )
    return Panel("9A · Plan explorer", controls, view_plan)
