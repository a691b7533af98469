"""Whatever statements come in whatever order: a schema stays whole, and a refused statement changes nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from spanlab.errors import SchemaError
from spanlab.schema import Schema

START = """
CREATE TABLE A (K INT64, L INT64 NOT NULL, X INT64, Y STRING(9)) PRIMARY KEY (K);
CREATE TABLE B (K INT64, L INT64 NOT NULL, X INT64, CONSTRAINT F FOREIGN KEY (X) REFERENCES A (K))
  PRIMARY KEY (K, L), INTERLEAVE IN A;
CREATE INDEX I ON B (X);
"""
COLUMNS = st.sampled_from(["K", "L", "X", "Y", "G"])
TYPES = st.sampled_from(
    ["INT64", "STRING(9)", "TIMESTAMP", "INT64 NOT NULL", "INT64 AS (X) STORED", "INT64 DEFAULT (1)"]
)


def one_of_these(known, others):
    """Mostly a name that is there, now and then another."""
    known = sorted(known)
    return st.sampled_from(known * 3 + others) if known else st.sampled_from(others)


@st.composite
def create_table(draw, schema):
    there = one_of_these(schema.tables, ["A"])
    name, key = draw(st.sampled_from("ABCDE")), draw(st.sampled_from(["K", "K", "K, L", "K DESC, L", ""]))
    body = ["K INT64", "L INT64 NOT NULL", "X INT64"]
    body += [f"{column} {draw(TYPES)}" for column in sorted(draw(st.sets(st.sampled_from("YG"))))]
    if draw(st.booleans()):
        body.append(f"FOREIGN KEY ({draw(COLUMNS)}) REFERENCES {draw(there)} ({draw(COLUMNS)})")
    if draw(st.booleans()):
        body.append(f"CHECK ({draw(COLUMNS)} > 0)")
    inside = ["", "", f", INTERLEAVE IN {draw(there)}", f", INTERLEAVE IN PARENT {draw(there)} ON DELETE CASCADE"]
    return f"CREATE TABLE {name} ({', '.join(body)}) PRIMARY KEY ({key}){draw(st.sampled_from(inside))}"


@st.composite
def create_index(draw, schema):
    there = one_of_these(schema.tables, ["A"])
    keys = ", ".join(draw(st.lists(COLUMNS, min_size=1, max_size=2, unique=True)))
    storing = draw(st.sampled_from(["", "", f" STORING ({draw(COLUMNS)})"]))
    inside = draw(st.sampled_from(["", "", f", INTERLEAVE IN {draw(there)}"]))
    kind = draw(st.sampled_from(["", "NULL_FILTERED "]))
    return f"CREATE {kind}INDEX {draw(st.sampled_from('IJHA'))} ON {draw(there)} ({keys}){storing}{inside}"


@st.composite
def change(draw, schema):
    table, other = draw(one_of_these(schema.tables, ["C"])), draw(one_of_these(schema.tables, ["D"]))
    index = draw(one_of_these((name for name, index in schema.indexes.items() if not index.managed), ["J"]))
    owner = schema.tables.get(table)
    constraints = [*owner.foreign_keys, *owner.checks] if owner else []
    constraint = draw(one_of_these((constraint.name for constraint in constraints), ["F", "CK_A_1"]))
    column = draw(COLUMNS)
    foreign_key = f"FOREIGN KEY ({column}) REFERENCES {other} ({draw(COLUMNS)})"
    statements = [
        f"DROP TABLE {table}",
        f"DROP INDEX {index}",
        f"RENAME TABLE {table} TO {draw(st.sampled_from('CDE'))}",
        f"ALTER TABLE {table} RENAME TO E, ADD SYNONYM {table}",
        f"RENAME TABLE {table} TO Temp, {other} TO {table}, Temp TO {other}",
        f"ALTER TABLE {table} ADD COLUMN {column} {draw(TYPES)}",
        f"ALTER TABLE {table} DROP COLUMN {column}",
        f"ALTER TABLE {table} ALTER COLUMN {column} {draw(TYPES)}",
        f"ALTER TABLE {table} ADD CONSTRAINT {draw(st.sampled_from('FGH'))} {foreign_key}",
        f"ALTER TABLE {table} DROP CONSTRAINT {constraint}",
        f"ALTER INDEX {index} ADD STORED COLUMN {column}",
        f"CREATE OR REPLACE VIEW V SQL SECURITY INVOKER AS SELECT t.{column} FROM {table} AS t",
        "DROP VIEW V",
    ]
    return draw(st.sampled_from(statements))


def outcome(schema, statement):
    """The schema after the statement, or the error that refuses it."""
    try:
        return schema.apply(statement)
    except SchemaError as error:
        return error


def assert_whole(schema):
    """All ways between objects are what a look at every object gives."""
    tables, indexes = schema.tables.values(), schema.indexes.values()
    for table in tables:
        assert set(schema.children(table)) == {t for t in tables if t.interleave and t.interleave.table == table.name}
        assert set(schema.indexes_on(table)) == {i for i in indexes if i.table == table.name}
        assert set(schema.indexes_in(table)) == {i for i in indexes if i.interleave_in == table.name}
        pointing = {(t, key) for t in tables for key in t.foreign_keys if key.referenced_table == table.name}
        assert set(schema.referencing(table)) == pointing
    used = [*schema.tables, *schema.indexes, *schema.views]
    used += [name for table in tables for name in table.synonyms]
    used += [constraint.name for table in tables for constraint in (*table.foreign_keys, *table.checks)]
    assert sorted(schema.names) == sorted(name.casefold() for name in used)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(0, 12))
def test_any_sequence_of_statements_leaves_a_whole_schema(data, length):
    schema = Schema.from_ddl(START)
    for _ in range(length):
        before = schema.to_ddl()
        statement = data.draw(st.one_of(create_table(schema), create_index(schema), change(schema), change(schema)))
        result = outcome(schema, statement)
        assert schema.to_ddl() == before
        if isinstance(result, SchemaError):
            assert result.schema == schema
            assert result.line is not None
        else:
            assert_whole(result)
            assert Schema.from_ddl(result.to_ddl()) == result
            schema = result
