"""Panel 7A and `reads`: what an index saves a query, and what it charges every row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from spanlab.charts import Figure, Scene, thousands
from spanlab.charts.gauges import Gauge
from spanlab.charts.reads import Reads
from spanlab.charts.reads import reads as draw_reads
from spanlab.panels.controls import Choice
from spanlab.panels.panel import Panel

if TYPE_CHECKING:
    from spanlab.query import Database, Plan

COUNTED = "Rows are counted by running the plan."
ESTIMATED = "Bytes by the documented estimate: 8 for each value, and the value itself."


def reads(plans: Mapping[str, Plan]) -> Scene:
    """How many rows plans read, one bar for each plan by its name: index rows, base rows fetched, table rows scanned.

    The plans are those of `db.explain` or `db.query(…).plan`; they are run if they were not yet.
    """
    if not plans:
        raise ValueError("plans is empty: there is nothing to draw; give {name: db.explain(sql)}.")
    cases = [_of_plan(name, plan) for name, plan in plans.items()]
    returned = max(plan.returned for plan in plans.values())
    sentence = f"Rows read: {'; '.join(f'{case.name}: {_in_words(case)}' for case in cases)}."
    chart = draw_reads(
        cases,
        heading=(
            "Rows that the query reads",
            f"{thousands(returned)} {'is' if returned == 1 else 'are'} returned",
        ),
        caption=[COUNTED],
        description=f"One bar for each plan. {sentence}",
    )
    return Scene(chart, sentence)


def _of_plan(name: str, plan: Plan) -> Reads:
    """The rows of a plan by where they lie; what a base table is scanned for counts as a scan over the table."""
    scanned = plan.scanned  # runs the plan, if it was only explained
    in_index = sum(node.counts.scanned for node in plan if node.operator == "Index Scan" and node.counts is not None)
    return Reads(name, in_index, plan.back_joins, scanned - in_index)


def _in_words(case: Reads) -> str:
    return " + ".join(f"{thousands(rows)} {kind}" for kind, rows in case.parts) or "none"


# -------------------------------------------------------------------------------------------------------- the panel

PURCHASES = 20_000
STORED = ("Status", "Total", "ShipDueAt", "Parcel")
MATCHED = tuple((thousands(rows), rows) for rows in (20, 200, 2_000, 10_000, 20_000))
ASKED = (("ids, time", 0), ("ids, time, Status", 1), ("ids, time, Status, Total", 2))
INDEXES = (
    ("none", -1),
    ("plain", 0),
    ("STORING (Status)", 1),
    ("STORING (Status, Total)", 2),
    ("STORING 3 columns", 3),
    ("STORING 4 columns", 4),
)
TABLE = """CREATE TABLE Purchases (
  ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL, BoughtAt TIMESTAMP NOT NULL,
  Status STRING(10) NOT NULL, Total NUMERIC, ShipDueAt TIMESTAMP, Parcel STRING(20) NOT NULL,
) PRIMARY KEY (ShopperId, PurchaseId)"""
MOST_BYTES, MOST_MUTATIONS = 200, 10


def _declared(stored: int) -> str:
    """What an index is on, and what it stores."""
    return "(BoughtAt)" + (f" STORING ({', '.join(STORED[:stored])})" if stored else "")


def _index(stored: int) -> str:
    return f"CREATE INDEX Index{stored} ON Purchases {_declared(stored)}"


@cache
def _shop() -> Database:
    """The purchases of the shop, with every index that the panel offers."""
    from spanlab.query import Database, data
    from spanlab.schema import Schema

    indexes = ";\n".join(_index(stored) for stored in range(len(STORED) + 1))
    database = Database(Schema.from_ddl(f"{TABLE};\n{indexes}"))
    data("shop").into(database)
    return database


@cache
def _counted(matched: int, stored: int, asked: int) -> Reads:
    """What the query for the latest `matched` purchases reads with an index that stores so many columns (-1: none)."""
    from spanlab.query import data

    since = data.day(100) - matched * timedelta(days=100) / PURCHASES
    columns = ", ".join(("ShopperId", "PurchaseId", "BoughtAt", *STORED[:asked]))
    index = f"Index{stored}" if stored >= 0 else "_BASE_TABLE"
    query = f"SELECT {columns} FROM Purchases@{{FORCE_INDEX={index}}} WHERE BoughtAt >= @since"
    return _of_plan("now", _shop().explain(query, {"since": since}))


@cache
def _charged(stored: int) -> tuple[float, int]:
    """Bytes of an index entry, and mutations of the insert of a row."""
    from spanlab.schema import Schema
    from spanlab.storage import mutations

    schema = Schema.from_ddl(TABLE if stored < 0 else f"{TABLE};\n{_index(stored)}")
    entry = _shop().bytes(f"Index{stored}") / PURCHASES if stored >= 0 else 0.0
    return entry, int(mutations(schema, ("insert", "Purchases", 1)))


def _shape_of_plan(case: Reads) -> str:
    if case.whole_rows:
        return "The plan is a full scan of the table"
    if case.base_rows:
        return "The plan is an index scan, then a Distributed Cross Apply to the base table"
    return "The plan is an index scan alone, for the index covers the query"


def view_catalogue(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The rows that one query reads with one index, and what that index costs each row."""
    matched, stored, asked = parameters["matched"], parameters["index"], parameters["asked"]
    case, (entry, written) = _counted(matched, stored, asked), _charged(stored)
    old_case, old_entry, old_written = before.state if before else (None, None, None)
    costs = [
        Gauge("bytes of an index entry", entry, MOST_BYTES, f"{entry:,.0f}", before=old_entry),
        Gauge("mutations of an insert", written, MOST_MUTATIONS, str(written), before=old_written),
    ]
    cases = [case] if old_case is None else [case, Reads("before", *old_case)]
    charged = f"an entry has {entry:,.0f} bytes" if entry else "there is no index"
    sentence = f"{_shape_of_plan(case)}: {_in_words(case)}; {charged}, an insert is {written} mutations."
    chart = draw_reads(
        cases,
        whole=PURCHASES,
        costs=costs,
        heading=(
            f"{thousands(case.total)} rows read for {thousands(matched)} returned",
            f"Index {_declared(stored)}" if stored >= 0 else "No index",
        ),
        caption=[f"{COUNTED} {ESTIMATED}", "Black tick: before the last move."],
        description=f"A bar of rows read, above two bars of what the index costs. {sentence}",
    )
    figure = Figure("rows read", case.total, thousands(case.total))
    besides = (
        Figure("bytes of an entry", entry, f"{entry:,.0f}"),
        Figure("mutations of an insert", written, str(written)),
    )
    state = ((case.index_rows, case.base_rows, case.whole_rows), entry, written)
    return Scene(chart, sentence, figure, state, besides)


def catalogue() -> Panel:
    """Panel 7A of lesson 7."""
    controls = (
        Choice("matched", "Rows that match", MATCHED, 2_000),
        Choice("index", "Index on BoughtAt", INDEXES, 0),
        Choice("asked", "Columns asked for", ASKED, 2),
    )
    return Panel("7A · Catalogue", controls, view_catalogue)
