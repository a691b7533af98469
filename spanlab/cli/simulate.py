"""`spanlab simulate FILE --table T --writes-per-second N`: what a load does to a table, as a sentence and a few bars.

spanlab simulate schema.sql --table Orders --writes-per-second 12000 --nodes 10 --value OrderId=ulid
"""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from spanlab.cli.advise import read_all
from spanlab.schema import Schema
from spanlab.splits import Workload, simulate

BAR = 40
MOST_SERVERS = 12


def add_commands(commands: Any) -> None:
    """Adds `simulate` to the commands of the parser."""
    parser = commands.add_parser("simulate", help="put a load on a table and see", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE", help="a DDL file, or - for standard input")
    parser.add_argument("--table", required=True, help="the table that is written")
    parser.add_argument("--writes-per-second", required=True, type=float, metavar="N", help="rows written a second")
    parser.add_argument("--nodes", type=int, default=3, help="nodes of the instance (default 3)")
    parser.add_argument("--minutes", type=float, default=10, help="simulated minutes (default 10)")
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="COLUMN=WORD",
        help="what the application puts into a column: now, seq, uuid4, ulid, ids(1000), zipf(2000, 1.1) …",
    )
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Simulates and prints; exit code 1 if the load is not committed in full."""
    [(_, text)] = read_all([asked.file])
    schema = Schema.from_ddl(text)
    values = dict(pair.partition("=")[::2] for pair in asked.value)
    load = Workload(schema.table(asked.table).name, writes_per_second=asked.writes_per_second, values=values)
    outcome = simulate(schema, load, nodes=asked.nodes, minutes=asked.minutes)
    seen: dict[str, Any] = outcome.summary()
    console = Console(highlight=False)
    console.print(
        f"{seen['committed']:,.0f} of {seen['offered']:,.0f} writes/s commit; {seen['busy_servers']} of {asked.nodes} "
        f"servers work; p99 {seen['p99_ms']:,.0f} ms; the hottest split takes "
        f"{seen['hottest_share']:.0%} of the writes."
    )
    console.print(bars(outcome.server_writes))
    return int(seen["committed"] < 0.97 * seen["offered"])


def bars(writes: Any) -> Grid:
    """One line a server, the busiest first."""
    grid = Grid(box=None, show_header=False, padding=(0, 1))
    ranked = sorted(((float(w), i) for i, w in enumerate(writes, 1)), reverse=True)
    top = max(ranked[0][0], 1.0)
    for committed, server in ranked[:MOST_SERVERS]:
        grid.add_row(f"server {server}", "█" * round(BAR * committed / top), f"{committed:,.0f} writes/s")
    if len(ranked) > MOST_SERVERS:
        grid.add_row("", f"… and {len(ranked) - MOST_SERVERS} more", "")
    return grid
