"""The Spanner dialect of sqlglot: expressions, queries and hints as trees, trees as canonical text, and words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as some
from sqlglot import exp

from spanlab.errors import QueryError, SchemaError, UnsupportedError
from spanlab.sql import Spanner, canonical, hints, parse_expression, parse_query, sequences_in
from spanlab.sql.lexical import RESERVED, Source, quote_bytes, quote_name, quote_string, string_value

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"

# expressions


@pytest.mark.parametrize(
    "text",
    [
        "A + 1",
        "MOD(FARM_FINGERPRINT(CAST(LastAccess AS STRING)), 2048)",
        "BIT_REVERSE(Id, TRUE)",
        "FirstName || ' ' || LastName",
        "IF(Done, TIMESTAMP_ADD(DoneAt, INTERVAL 1 DAY), NULL)",
        "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL Days DAY)",
        "GET_NEXT_SEQUENCE_VALUE(SEQUENCE MemberIds)",
        "GET_INTERNAL_SEQUENCE_STATE(SEQUENCE sales.`Order`)",
        "PENDING_COMMIT_TIMESTAMP()",
        "GENERATE_UUID()",
        "NEW_UUID()",
        "CURRENT_DATE()",
        "EXTRACT(DATE FROM Ts AT TIME ZONE 'UTC')",
        "STRPOS(A, 'x')",
        "STARTS_WITH(A, 'x')",
        "SAFE.SUBSTR(A, 1)",
        "INT64(Details.capacity)",
        "JSON_VALUE(Details, '$.a')",
        "DATE '2026-01-01'",
        "TIMESTAMP '2026-01-01T00:00:00Z'",
        "NUMERIC '1.5'",
        "CAST(A AS FLOAT32)",
        "CAST(A AS UUID)",
        "CAST(A AS ARRAY<INT64>)",
        "SAFE_CAST(A AS BYTES)",
        "ARRAY<INT64>[]",
        "[1, 2][OFFSET(0)]",
        "STRUCT(1 AS a, 'x' AS b)",
        "A IS NOT NULL",
        "A NOT IN (1, 2)",
        "A NOT BETWEEN 1 AND 2",
        "A NOT LIKE 'x%'",
        "A IN UNNEST(@ids)",
        "NOT (A IS NULL AND B)",
        "CASE WHEN A THEN 1 ELSE 2 END",
        "EXISTS(SELECT 1 FROM T)",
        "ARRAY(SELECT AS STRUCT s.A FROM T AS s)",
        "b'x\\xff'",
        "t.`Order`.`select`",
    ],
)
def test_canonical_texts_stay_as_they_are(text: str) -> None:
    assert canonical(parse_expression(text)) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a  +\n b -- and a comment", "a + b"),
        ("farm_fingerprint( x )", "FARM_FINGERPRINT(x)"),
        ("a != b", "a <> b"),
        ("not x is null", "x IS NOT NULL"),
        ('"it\'s"', r"'it\'s'"),
        ("r'\\d+'", r"'\\d+'"),
        (r"'\x41\101\u00e9\n'", r"'AAé\n'"),
        ("'''two\nlines'''", r"'two\nlines'"),
        ("rb'\\d'", r"b'\\d'"),
        ("'é' = B'é'", r"'é' = b'\xc3\xa9'"),
        ("`plain`", "plain"),
        ("`a b`", "`a b`"),
        ("if (a, b, c)", "IF(a, b, c)"),
        ("cast('2026-01-01' as date)", "DATE '2026-01-01'"),
        ("a\u00a0+\u3000b", "a + b"),
    ],
)
def test_one_text_for_each_meaning(written: str, text: str) -> None:
    assert canonical(parse_expression(written)) == text
    assert canonical(parse_expression(text)) == text


def test_values_of_literals_in_trees() -> None:
    tree = parse_expression(r"CONCAT('a\'\n', b'\xff', rb'\n', r'\n')")
    text, three_bytes, raw_bytes, raw = tree.expressions
    assert (text.name, three_bytes.name, raw_bytes.name, raw.name) == ("a'\n", "\xff", "\\n", "\\n")
    assert isinstance(three_bytes, exp.ByteString)
    assert isinstance(raw_bytes, exp.ByteString)


def test_trees_can_be_changed_without_changing_later_ones() -> None:
    first = parse_expression("A + 1")
    first.set("this", exp.column("B"))
    assert canonical(first) == "B + 1"
    assert canonical(parse_expression("A + 1")) == "A + 1"


def test_sequences_of_an_expression() -> None:
    assert sequences_in(parse_expression("GET_NEXT_SEQUENCE_VALUE(SEQUENCE sales.`Order`)")) == ["sales.Order"]
    assert sequences_in(parse_expression("A + 1")) == []


@pytest.mark.parametrize(
    "name", ["Text", "Date", "Name", "Key", "Value", "Index", "Map", "List", "Regexp", "Offset", "Row"]
)
def test_words_that_are_not_reserved_are_columns(name: str) -> None:
    assert not {name.upper()} & RESERVED
    for text in ("{} > 0", "MOD({}, 2)", "t.{} IS NULL", "{} < {}", "CASE WHEN {} THEN {} END"):
        tree = parse_expression(text.format(name, name))
        assert name in {column.name for column in tree.find_all(exp.Column)}


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "no expression", 1),
        ("A +", "too early", 4),
        ("A B", "B cannot stand", 3),
        ("(A", "Expected )", 3),
        ("A, B", ", cannot stand", 2),
        ("MOD(A, )", "missing before )", 8),
        ("CAST(A AS VARCHAR)", "VARCHAR cannot stand", 11),
        ("5abc", "cannot run into", 1),
        ("'x", "not closed", 1),
        ("A = LIMIT", "missing before LIMIT", 5),
    ],
)
def test_errors_of_expressions(text: str, message: str, column: int) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_expression(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


# hints


def test_hints_hang_on_what_they_belong_to() -> None:
    text = (
        "@{USE_ADDITIONAL_PARALLELISM=TRUE} SELECT s.A FROM Songs@{FORCE_INDEX=SongsByName, SCAN_METHOD=BATCH} AS s "
        "LEFT JOIN@{JOIN_METHOD=HASH_JOIN} Albums AS a ON s.A = a.A GROUP@{GROUP_METHOD=HASH_GROUP} BY s.A"
    )
    tree = parse_query(text)
    assert canonical(tree) == text
    songs, albums = tree.find_all(exp.Table)
    assert hints(tree) == {"USE_ADDITIONAL_PARALLELISM": "TRUE"}
    assert hints(songs) == {"FORCE_INDEX": "SongsByName", "SCAN_METHOD": "BATCH"}
    assert hints(albums) == {}
    assert hints(tree.find(exp.Join)) == {"JOIN_METHOD": "HASH_JOIN"}
    assert hints(tree.find(exp.Group)) == {"GROUP_METHOD": "HASH_GROUP"}
    assert hints(tree.copy().find(exp.Group)) == {"GROUP_METHOD": "HASH_GROUP"}
    assert hints(None) == {}


@pytest.mark.parametrize(
    ("written", "table_hints"),
    [
        ("SELECT * FROM T@{force_index=I}", {"FORCE_INDEX": "I"}),
        ("SELECT * FROM T @{ FORCE_INDEX = I } WHERE A = 1", {"FORCE_INDEX": "I"}),
        ("SELECT * FROM s.T@{FORCE_INDEX=_BASE_TABLE} x JOIN U USING (A)", {"FORCE_INDEX": "_BASE_TABLE"}),
        ("SELECT * FROM T@{FORCE_INDEX=`I`,SEEKABLE_KEY_SIZE=2}", {"FORCE_INDEX": "I", "SEEKABLE_KEY_SIZE": "2"}),
        ("SELECT * FROM T@{spanner.FORCE_INDEX='I'}", {"SPANNER.FORCE_INDEX": "I"}),
        ("SELECT * FROM T@{FORCE_INDEX=sales.I}", {"FORCE_INDEX": "sales.I"}),
        ("UPDATE T@{FORCE_INDEX=I} SET A = 1 WHERE B = 2", {"FORCE_INDEX": "I"}),
        ("SELECT (SELECT COUNT(*) FROM T@{FORCE_INDEX=I}) FROM U", {"FORCE_INDEX": "I"}),
    ],
)
def test_table_hints(written: str, table_hints: dict[str, str]) -> None:
    tree = parse_query(written)
    found = next(table for table in tree.find_all(exp.Table) if table.name == "T")
    assert hints(found) == table_hints
    assert parse_query(canonical(tree)) == tree


def test_hash_join_is_a_hint_in_words() -> None:
    assert parse_query("SELECT * FROM A HASH JOIN B USING (K)") == parse_query(
        "SELECT * FROM A JOIN@{JOIN_METHOD=HASH_JOIN} B USING (K)"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM T WHERE A@{X=1} = 2", "cannot stand here"),
        ("SELECT * FROM T@{FORCE_INDEX}", "written @{NAME=value"),
        ("SELECT * FROM T@{FORCE_INDEX=I", "written @{NAME=value"),
        ("SELECT * FROM T@{FORCE_INDEX=I,}", "written @{NAME=value"),
        ("@{X=1}", "nothing here"),
    ],
)
def test_hints_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert message in caught.value.message
    assert caught.value.line == 1


# queries and DML


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1", exp.Select),
        ("(SELECT 1)", exp.Subquery),
        ("WITH c AS (SELECT 1 AS A) SELECT A FROM c", exp.Select),
        ("SELECT 1 UNION ALL SELECT 2", exp.Union),
        ("SELECT s.A FROM T AS s CROSS JOIN UNNEST(s.B) AS b", exp.Select),
        ("SELECT A FROM T TABLESAMPLE BERNOULLI (10 PERCENT)", exp.Select),
        ("INSERT INTO T (A, B) VALUES (1, DEFAULT)", exp.Insert),
        ("INSERT OR UPDATE INTO T (A) SELECT 1", exp.Insert),
        ("UPDATE T SET A = DEFAULT WHERE B = 1 THEN RETURN A, B", exp.Update),
        ("DELETE FROM T WHERE TRUE THEN RETURN A", exp.Delete),
    ],
)
def test_queries_and_dml(text: str, kind: type[exp.Expr]) -> None:
    tree = parse_query(text)
    assert isinstance(tree, kind)
    assert canonical(tree) == text
    assert parse_query(text + " ;") == tree


def test_short_forms_of_dml_mean_the_long_ones() -> None:
    assert parse_query("INSERT IGNORE INTO T (A) VALUES (1)") == parse_query("INSERT OR IGNORE INTO T (A) VALUES (1)")
    assert parse_query("INSERT T (A) VALUES (1)") == parse_query("INSERT INTO T (A) VALUES (1)")


def test_then_return_is_no_part_of_case() -> None:
    assert parse_query("SELECT CASE WHEN A THEN return END FROM T").find(exp.Case) is not None


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "no query", (1, 1)),
        ("-- nothing\n;", "no query", (1, 1)),
        ("SELECT 1; SELECT 2", "One query at a time", (1, 9)),
        ("SELECT *\nFORM T", "cannot stand here", (2, 6)),
        ("SELECT * FROM", "too early", (1, 14)),
        ("SELECT * FROM A JOIN B", "A JOIN needs ON", (1, 23)),
        ("SELECT * FROM A JOIN B WHERE A = 1", "A JOIN needs ON", (1, 24)),
        ("SELECT A FROM LIMIT", "LIMIT", (1, 15)),
        ("SELECT * FROM (SELECT 1) AS t(a)", "gives no names", (1, 32)),
        ("CREATE TABLE T (A INT64)", "cannot stand", (1, 1)),
        ("A + 1", "no query", (1, 1)),
        ("SELECT " + "(" * 300, "nested too deeply", (1, 1)),
    ],
)
def test_errors_of_queries(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == place


def test_graph_queries_are_outside_the_course() -> None:
    with pytest.raises(UnsupportedError, match="graph"):
        parse_query("GRAPH G MATCH (a)-[b]->(c) RETURN a.x")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of plans is not here")
def test_the_queries_of_published_plans_are_read_and_come_back_the_same() -> None:
    plans = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((CORPUS / "plans").glob("*.json"))]
    queries = {str(plan["query"]) for plan in plans if isinstance(plan, dict) and "query" in plan}
    left_out = ("WITH ACTION", "ON UNIQUE CONSTRAINT", "GRAPH ")
    queries = {query for query in queries if not any(words in query for words in left_out)}
    assert len(queries) > 150
    for query in sorted(queries):
        tree = parse_query(query)
        assert parse_query(canonical(tree)) == tree, query
        assert canonical(parse_query(canonical(tree))) == canonical(tree), query


def test_the_dialect_serves_sqlglot_itself() -> None:
    tree = sqlglot.parse_one("select farm_fingerprint(a) from T@{FORCE_INDEX=I}", dialect=Spanner)
    assert tree.sql(dialect=Spanner) == "SELECT FARM_FINGERPRINT(a) FROM T@{FORCE_INDEX=I}"


# words


def test_words_and_where_they_stand() -> None:
    source = Source("a.`b` >= 1.5e3 -- c\n<> 'x'@p")
    assert [(word.kind, word.text) for word in source.words] == [
        ("name", "a"),
        ("sign", "."),
        ("quoted", "`b`"),
        ("sign", ">="),
        ("number", "1.5e3"),
        ("sign", "<>"),
        ("string", "'x'"),
        ("sign", "@"),
        ("name", "p"),
        ("end", ""),
    ]
    assert [source.line_and_column(word.start) for word in source.words][4:7] == [(1, 10), (2, 1), (2, 4)]


@given(some.text(alphabet=some.characters(exclude_categories=["Cs"])))
def test_every_string_can_be_written_and_read_back(value: str) -> None:
    literal = quote_string(value)
    (word, end) = Source(literal).words
    assert (word.kind, end.kind) == ("string", "end")
    assert string_value(literal) == value
    assert parse_expression(literal).name == value
    assert canonical(parse_expression(literal)) == literal


@given(some.binary())
def test_every_bytes_value_can_be_written_and_read_back(value: bytes) -> None:
    literal = quote_bytes(value.decode("latin-1"))
    assert string_value(literal).encode("latin-1") == value
    assert parse_expression(literal).name.encode("latin-1") == value
    assert canonical(parse_expression(literal)) == literal


@given(some.text(alphabet=some.characters(exclude_categories=["Cs"], exclude_characters="."), min_size=1))
def test_every_name_can_be_written_and_read_back(name: str) -> None:
    quoted = quote_name(name)
    (word, _) = Source(quoted).words
    assert (string_value(word.text) if word.kind == "quoted" else word.text) == name
    assert parse_expression(quoted).name == name


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_quoted(word: str) -> None:
    assert quote_name(word.lower()) == f"`{word.lower()}`"
    assert parse_expression(f"t.`{word}` = 1").find(exp.Column).name == word  # type: ignore[union-attr]
