"""GoogleSQL text in, typed objects out, and back to text."""

from spanlab.sql.ddl import parse_ddl, parse_each
from spanlab.sql.dialect import Spanner, sequences_in
from spanlab.sql.hints import hints
from spanlab.sql.parse import canonical, parse_expression, parse_query
from spanlab.sql.render import render
from spanlab.sql.statements import Statement

__all__ = [
    "Spanner",
    "Statement",
    "canonical",
    "hints",
    "parse_ddl",
    "parse_each",
    "parse_expression",
    "parse_query",
    "render",
    "sequences_in",
]
