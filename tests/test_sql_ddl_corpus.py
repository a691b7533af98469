"""Statements and schemas that other people wrote: what Spanner reads is read, what it refuses is refused.

`WRONG` lists the cases that the corpus has wrong, each with the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spanlab.errors import SchemaError, UnsupportedError
from spanlab.sql import parse_ddl, render

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of statements is not here")

WRONG = {
    # GoogleSQL reads this as DROP COLUMN TTL: COLUMN may be left out, and TTL is no reserved word
    "docs_pgdialect_ttl_working_with_ttl_L296.sql",
}


def texts(folder: str) -> list[tuple[str, str]]:
    return [(path.name, path.read_text(encoding="utf-8")) for path in sorted((CORPUS / folder).glob("*.sql"))]


def test_valid_statements_are_read_and_come_back_the_same() -> None:
    cases = texts("ddl/valid")
    assert len(cases) > 200
    for name, text in cases:
        statements = parse_ddl(text)
        assert statements, name
        again = parse_ddl(";\n".join(render(statement) for statement in statements))
        assert again == statements, name
        assert [render(statement) for statement in again] == [render(statement) for statement in statements], name


def test_invalid_statements_are_refused_with_a_place() -> None:
    cases = texts("ddl/invalid")
    assert len(cases) > 80
    for name, text in cases:
        if name in WRONG:
            parse_ddl(text)
            continue
        with pytest.raises(SchemaError) as caught:
            parse_ddl(text)
        assert caught.value.line is not None, name
        assert caught.value.text == text, name


@pytest.mark.parametrize("folder", ["ddl/other", "ddl/doubtful"])
def test_other_statements_are_read_refused_or_named(folder: str) -> None:
    outcomes = {outcome(text) for _, text in texts(folder)}
    assert outcomes <= {"read", "SchemaError", "UnsupportedError"}


def outcome(text: str) -> str:
    try:
        parse_ddl(text)
    except UnsupportedError:
        return "UnsupportedError"
    except SchemaError:
        return "SchemaError"
    return "read"


@pytest.mark.parametrize("folder", ["schemas", "plans/schemas"])
def test_whole_schemas_are_read_and_come_back_the_same(folder: str) -> None:
    for name, text in texts(folder):
        statements = parse_ddl(text, skip_unsupported=True)
        assert statements, name
        again = parse_ddl(";\n".join(render(statement) for statement in statements), skip_unsupported=True)
        assert again == statements, name


def test_every_name_has_its_place_in_the_text() -> None:
    for name, text in texts("schemas"):
        lines = text.splitlines()
        for statement in parse_ddl(text, skip_unsupported=True):
            for place in statement.places.places:
                found = lines[place.line - 1][place.column - 1 :][: place.width]
                if place.role not in ("expression", "query", "type"):
                    assert found.replace("`", "") == place.name, (name, place)
