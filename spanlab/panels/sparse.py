"""Panel 8A, and the picture of indexes that it belongs to: what an index costs that few rows need."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from spanlab.charts import Figure, Scene, milliseconds, rounded, thousands
from spanlab.charts.gauges import Gauge, gauges
from spanlab.charts.sparse import IndexBar, index_bars, megabytes
from spanlab.panels.controls import Choice, rates
from spanlab.panels.panel import Panel
from spanlab.panels.runs import caption_of, last_minute, p99_figure
from spanlab.splits import Run, Workload, simulate
from spanlab.values import size_in_bytes

if TYPE_CHECKING:
    from spanlab.query import Database

# ------------------------------------------------------------------------------------------------ indexes of a database


def index_sizes(database: Database, *names: str) -> Scene:
    """The indexes of a database as bars, as long as their bytes: the part whose first column is NULL, and the rest.

    Without names all indexes, in the order of creation. ValueError names an index that the database does not have, or
    says that it has none.
    """
    bars = [_bar(database, name) for name in names or database.schema.indexes]
    if not bars:
        raise ValueError("names: this database has no index; create one with db.apply_ddl(…).")
    found = "; ".join(f"{bar.name}: {bar.words}, {thousands(bar.null_entries)} of them NULL" for bar in bars)
    sizes = sorted(bar.size for bar in bars)
    factor = f"the largest is {sizes[-1] / sizes[0]:.1f} times the smallest" if 0 < sizes[0] < sizes[-1] else ""
    found += f"; {factor}" if factor else ""
    chart = index_bars(
        bars,
        title="Indexes, as long as their bytes",
        subtitle=" · ".join(filter(None, ("grey: entries whose first column is NULL", "blue: the others", factor))),
        caption=["Bytes by the documented estimate: 8 for each value, and the value itself; NULL counts as 8."],
        description=f"One bar for each index. {found}.",
    )
    return Scene(chart, f"{found}.")


def _bar(database: Database, name: str) -> IndexBar:
    known = {index.casefold(): index for index in database.schema.indexes}
    if name.casefold() not in known:
        raise ValueError(f"names: there is no index {name!r}; there are {', '.join(known.values()) or 'none'}.")
    rows = database.stored(known[name.casefold()])
    sizes = [
        (row[0] is None, sum(size_in_bytes(type_, value) for type_, value in zip(rows.types, row, strict=True)))
        for row in rows.values()
    ]
    nulls = [size for is_null, size in sizes if is_null]
    return IndexBar(rows.name, len(sizes), sum(size for _, size in sizes), len(nulls), sum(nulls))


# ------------------------------------------------------------------------------------------------------- panel 8A

NODES, CEILING_ALARM = 60, 0.98
SHARES = tuple((f"{percent:g} %", percent) for percent in (0.1, 1, 2, 5, 10, 50, 100))
FORMS = (("plain", "plain"), ("NULL_FILTERED", "filtered"))
ROWS = (("1 million", 1_000_000), ("100 million", 100_000_000))
DUE = (("at once", "now"), ("within 14 days", "ahead(1209600)"), ("all at one time of the day", "date(now)"))
KEY_BYTES, NULL_BYTES, TIMESTAMP_BYTES = 8 + 36, 8, 8 + 12
_JOBS = "CREATE TABLE Jobs (JobId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), DueAt TIMESTAMP) PRIMARY KEY (JobId);"
_FORM = {
    "plain": "CREATE INDEX JobsByDue ON Jobs (DueAt)",
    "filtered": "CREATE NULL_FILTERED INDEX JobsByDue ON Jobs (DueAt)",
}


@lru_cache(maxsize=64)
def run_jobs(form: str, percent: float, offered: int, due: str) -> Run:
    """Ten minutes of inserts into a table with random keys and an index on a time that few rows have."""
    from spanlab.schema import Schema

    word = due if percent == 100 else f"null({1 - percent / 100:.4f}, {due})"
    load = Workload("Jobs", writes_per_second=offered, values={"DueAt": word})
    return simulate(Schema.from_ddl(_JOBS + _FORM[form]), load, nodes=NODES)


def index_bytes(rows: int, percent: float, form: str) -> tuple[float, float]:
    """Entries and bytes of an index on DueAt, over so many rows of which so many percent have one (facts.md 2.1)."""
    due = rows * percent / 100
    entries = due if form == "filtered" else float(rows)
    return entries, entries * KEY_BYTES + due * TIMESTAMP_BYTES + (entries - due) * NULL_BYTES


def view_sparse(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """Size of the index, load of its tail, and what the table commits."""
    percent, form, rows = parameters["percent"], parameters["form"], parameters["rows"]
    offered, due = parameters["offered"], parameters["due"]
    run = run_jobs(form, percent, offered, due)
    entries, size = index_bytes(rows, percent, form)
    _, whole = index_bytes(rows, percent, "plain")
    seen: dict[str, Any] = run.summary()
    committed, p99 = last_minute(run, offered), float(seen["p99_ms"])
    ceiling, dated = run.model.split_writes, committed * percent / 100
    state = (entries, size, dated, committed)
    was = before.state if before else (None,) * 4
    at_tail = due == "now"
    tail = f"{rounded(dated)} of {rounded(ceiling)}" if at_tail else f"{rounded(dated)}, spread"
    full = at_tail and dated >= CEILING_ALARM * ceiling
    figures = [
        Gauge("entries, of all rows", entries, rows, f"{thousands(entries)} of {thousands(rows)}", before=was[0]),
        Gauge("size, of a plain index", size, whole, f"{megabytes(size)} of {megabytes(whole)}", before=was[1]),
        Gauge("new entries/s with a DueAt, of what one split takes", dated, ceiling, tail, full, 0, was[2]),
        Gauge(
            "committed inserts/s", committed, offered, f"{rounded(committed)} of {rounded(offered)}",
            committed < CEILING_ALARM * offered, 0, was[3],
        ),
    ]  # fmt: skip
    place = f"its tail is {100 * dated / ceiling:.0f} % full" if at_tail else "its entries have no single end"
    sentence = (
        f"{megabytes(size)} {'in place of' if size < whole else 'of'} {megabytes(whole)}; {place}; "
        f"{rounded(committed)} of {rounded(offered)} inserts/s commit; p99 {milliseconds(p99)}."
    )
    chart = gauges(
        figures,
        title=f"{'NULL_FILTERED' if form == 'filtered' else 'Plain'} index on DueAt, set on {percent:g} % of the rows",
        subtitle="black tick: before · orange: the tail is full, or inserts wait",
        caption=[f"{NODES} nodes; JobId is random.", *caption_of(run)],
        description=f"Four bars. {sentence}",
    )
    headline = Figure("committed inserts/s", committed, rounded(committed))
    besides = (Figure("size", size, megabytes(size)), p99_figure(p99))
    return Scene(chart, sentence, headline, state, besides)


def sparse() -> Panel:
    """Panel 8A of lesson 8."""
    controls = (
        Choice("percent", "Rows with a DueAt", SHARES, 2),
        Choice("form", "Index", FORMS, "filtered"),
        Choice("rows", "Rows of the table", ROWS, 100_000_000),
        Choice("offered", "Offered inserts/s", rates(12_000, 50_000, 100_000), 12_000),
        Choice("due", "Jobs are due", DUE, "now"),
    )
    return Panel("8A · Sparse", controls, view_sparse)
