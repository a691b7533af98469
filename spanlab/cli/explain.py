"""`spanlab explain`: a plan on the command line, and what is remarkable about it.

spanlab explain schema.sql query.sql    the plan that this course's planner makes
spanlab explain plan.json               a plan that Spanner made, as this writes it:
    gcloud spanner databases execute-sql DATABASE --instance=INSTANCE --sql=… --query-mode=PLAN --format=json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from spanlab.query import Database, Plan, read_plan
from spanlab.schema import Schema


def add_commands(commands: Any) -> None:
    """Adds `explain` to the commands of the parser."""
    parser = commands.add_parser("explain", help="print a query plan, and what is remarkable", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("first", metavar="SCHEMA.sql | PLAN.json", help="a schema, or a plan that Spanner made")
    parser.add_argument("query", nargs="?", metavar="QUERY.sql", help="the query, for a schema")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Prints the plan and its findings."""
    plan = _plan(asked.first, asked.query)
    print(plan)
    print(plan.findings())
    return 0


def _plan(first: str, query: str | None) -> Plan:
    if query is None:
        if first.endswith(".sql"):
            raise ValueError(f"{first} is a schema: give the query too, spanlab explain {first} query.sql")
        return read_plan(Path(first))
    schema = Schema.from_ddl(Path(first).read_text(encoding="utf-8"))
    return Database(schema).explain(Path(query).read_text(encoding="utf-8"))
