"""`Schema`: made from DDL, asked, changed, printed, compared."""

import pytest

import spanlab as sl
from spanlab.catalog import KeyPart
from spanlab.errors import SchemaError, UnsupportedError
from spanlab.schema import Schema
from spanlab.sql import parse_ddl

MUSIC = """
CREATE SEQUENCE SingerIds OPTIONS (sequence_kind = 'bit_reversed_positive', skip_range_min = 1, skip_range_max = 1000);
CREATE TABLE Singers (
  SingerId INT64 NOT NULL DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE SingerIds)),
  Name     STRING(100) NOT NULL,
  Agent    INT64,
) PRIMARY KEY (SingerId);
CREATE TABLE Albums (
  SingerId INT64 NOT NULL,
  AlbumId  INT64 NOT NULL,
  Title    STRING(MAX),
) PRIMARY KEY (SingerId, AlbumId DESC), INTERLEAVE IN PARENT Singers ON DELETE CASCADE;
CREATE TABLE Songs (
  SingerId INT64 NOT NULL,
  AlbumId  INT64 NOT NULL,
  TrackId  INT64 NOT NULL,
  Title    STRING(MAX),
  Cover    INT64,
  CONSTRAINT FK_Cover FOREIGN KEY (Cover) REFERENCES Singers (SingerId),
) PRIMARY KEY (SingerId, AlbumId DESC, TrackId), INTERLEAVE IN PARENT Albums;
CREATE TABLE Venues (VenueId STRING(36) NOT NULL, City STRING(MAX)) PRIMARY KEY (VenueId);
CREATE INDEX SongsByTitle ON Songs (Title DESC, AlbumId) STORING (Cover);
CREATE UNIQUE NULL_FILTERED INDEX AlbumsBySingerTitle ON Albums (SingerId, Title), INTERLEAVE IN Singers;
CREATE VIEW SingerNames SQL SECURITY INVOKER AS SELECT s.SingerId, s.Name FROM Singers AS s;
"""


@pytest.fixture(scope="module")
def music() -> Schema:
    return Schema.from_ddl(MUSIC)


def names(things):
    return [thing.name for thing in things]


def test_objects_are_kept_in_the_order_of_their_creation(music):
    assert list(music.tables) == ["Singers", "Albums", "Songs", "Venues"]
    assert [name for name, index in music.indexes.items() if not index.managed] == [
        "SongsByTitle",
        "AlbumsBySingerTitle",
    ]
    assert list(music.sequences) == ["SingerIds"]
    assert list(music.views) == ["SingerNames"]


def test_look_ups_do_not_look_at_case_and_suggest_a_near_name(music):
    assert music.table("singers") is music.tables["Singers"]
    assert music.index("SONGSBYTITLE") is music.indexes["SongsByTitle"]
    with pytest.raises(SchemaError, match=r"There is no table Singer\. Did you mean Singers"):
        music.table("Singer")
    with pytest.raises(SchemaError, match=r"There is no index SongByTitle\. Did you mean SongsByTitle"):
        music.index("SongByTitle")


def test_families(music):
    assert music.parent("Songs") is music.tables["Albums"]
    assert music.parent("Singers") is None
    assert names(music.children("Singers")) == ["Albums"]
    assert names(music.ancestors("Songs")) == ["Albums", "Singers"]
    assert music.root("Songs").name == music.root("Singers").name == "Singers"
    assert names(music.descendants("Singers")) == ["Albums", "Songs"]
    assert music.descendants(music.table("Venues")) == ()


def test_an_index_entry_ends_with_what_its_key_lacks_of_the_table_key(music):
    # facts.md 4.2.2: AlbumId stands in the index key already and keeps the direction it has there
    assert music.index_key("SongsByTitle") == (
        KeyPart("Title", desc=True), KeyPart("AlbumId"), KeyPart("SingerId"), KeyPart("TrackId"),
    )  # fmt: skip
    assert music.index_columns("SongsByTitle") == ("Title", "AlbumId", "SingerId", "TrackId", "Cover")
    assert music.index_key(music.index("AlbumsBySingerTitle"))[-1] == KeyPart("AlbumId", desc=True)


def test_indexes_and_foreign_keys_of_a_table(music):
    assert {index.managed for index in music.indexes_on("Songs")} == {True, False}
    assert names(music.indexes_in("Singers")) == ["AlbumsBySingerTitle"]
    [(owner, key)] = music.referencing("Singers")
    assert (owner.name, key.name) == ("Songs", "FK_Cover")
    assert music.referencing("Songs") == ()


def test_a_change_gives_a_new_schema_and_shares_the_rest(music):
    before = music.to_ddl()
    changed = music.apply("ALTER TABLE Venues ADD COLUMN Seats INT64; DROP INDEX SongsByTitle")
    assert music.to_ddl() == before
    assert changed.tables["Singers"] is music.tables["Singers"]
    assert names(changed.tables["Venues"].columns) == ["VenueId", "City", "Seats"]
    assert "SongsByTitle" not in changed.indexes
    assert list(changed.tables) == list(music.tables)
    assert changed != music


def test_apply_takes_statements_as_well_as_text(music):
    [statement] = parse_ddl("DROP TABLE Venues")
    assert music.apply(statement) == music.apply([statement]) == music.apply("DROP TABLE Venues;")


def test_what_is_printed_makes_the_same_schema(music):
    assert Schema.from_ddl(music.to_ddl()) == music
    assert Schema().to_ddl() == ""
    assert Schema.from_ddl("") == Schema()


ROUND_TRIPS = {
    "two tables that reference each other": """
        CREATE TABLE A (Id INT64, B INT64) PRIMARY KEY (Id);
        CREATE TABLE B (Id INT64, A INT64, FOREIGN KEY (A) REFERENCES A (Id)) PRIMARY KEY (Id);
        ALTER TABLE A ADD CONSTRAINT AB FOREIGN KEY (B) REFERENCES B (Id)""",
    "two foreign keys of which the first has to wait for its table": """
        CREATE TABLE C (Id INT64) PRIMARY KEY (Id);
        CREATE TABLE A (Id INT64, X INT64) PRIMARY KEY (Id);
        CREATE TABLE B (Id INT64) PRIMARY KEY (Id);
        ALTER TABLE A ADD CONSTRAINT One FOREIGN KEY (X) REFERENCES B (Id);
        ALTER TABLE A ADD CONSTRAINT Two FOREIGN KEY (X) REFERENCES C (Id)""",
    "a view that was replaced by one that reads a later view": """
        CREATE VIEW V SQL SECURITY INVOKER AS SELECT 1 AS n;
        CREATE VIEW W SQL SECURITY DEFINER AS SELECT 2 AS n;
        CREATE OR REPLACE VIEW V SQL SECURITY INVOKER AS SELECT W.n FROM W""",
    "database options, a named schema, a synonym, a policy, a hidden key": """
        ALTER DATABASE `my-db` SET OPTIONS (default_sequence_kind = 'bit_reversed_positive', optimizer_version = 7);
        CREATE SEQUENCE S;
        CREATE SCHEMA sales;
        CREATE TABLE sales.Orders (Id INT64 AUTO_INCREMENT PRIMARY KEY, Moment TIMESTAMP, SYNONYM (Purchases)),
          ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 30 DAY));
        CREATE INDEX sales.ByTime ON sales.Orders (Moment);
        CREATE TABLE Memos (Txt STRING(MAX))""",
    "renamed tables, which keep children, indexes and foreign keys": f"""
        {MUSIC}
        DROP VIEW SingerNames;
        RENAME TABLE Singers TO Artists, Songs TO Tracks;
        ALTER TABLE Artists ADD SYNONYM Singers""",
}


@pytest.mark.parametrize("text", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_round_trips(text):
    schema = Schema.from_ddl(text)
    again = Schema.from_ddl(schema.to_ddl())
    assert again == schema
    assert again.to_ddl() == schema.to_ddl()


def test_schemas_are_equal_when_their_objects_are():
    one = "CREATE TABLE A (Id INT64) PRIMARY KEY (Id);"
    two = "create table B (`Id` int64, ) primary key (Id asc);"
    assert Schema.from_ddl(one + two) == Schema.from_ddl(two + one)
    assert Schema.from_ddl(one) != Schema.from_ddl(one.replace("INT64", "INT64 NOT NULL"))
    assert Schema() != "CREATE TABLE"


def test_a_batch_stops_at_the_first_refused_statement_and_keeps_those_before():
    # facts.md 10: one ordered list, stops at the first error, earlier statements stay applied
    made = "CREATE TABLE A (Id INT64) PRIMARY KEY (Id);"
    text = made + "\nCREATE INDEX ByX ON A (X);\nCREATE TABLE B (Id INT64) PRIMARY KEY (Id);"
    with pytest.raises(SchemaError) as caught:
        Schema.from_ddl(text)
    error = caught.value
    assert (error.line, error.column) == (2, 24)
    assert error.applied == 1
    assert error.schema == Schema.from_ddl(made)


def test_a_text_that_cannot_be_read_changes_nothing(music):
    with pytest.raises(SchemaError) as caught:
        music.apply("DROP TABLE Venues; DROP TABEL Songs")
    assert (caught.value.schema, caught.value.applied) == (music, 0)


def test_statements_outside_the_course_are_passed_over_and_listed_or_refused_by_name():
    text = "CREATE TABLE A (Id INT64) PRIMARY KEY (Id); CREATE CHANGE STREAM All_ FOR ALL"
    schema = Schema.from_ddl(text)
    assert [statement.kind for statement in schema.skipped] == ["change stream"]
    assert repr(schema) == "<Schema: tables 1, passed over: change stream>"
    assert schema == Schema.from_ddl(text.partition(";")[0])
    with pytest.raises(UnsupportedError, match="change stream"):
        Schema.from_ddl(text, skip_unsupported=False)
    with pytest.raises(UnsupportedError, match="change stream"):
        schema.apply("CREATE CHANGE STREAM More FOR ALL")


def test_the_schema_is_offered_at_the_top():
    assert sl.Schema is Schema
    assert repr(Schema.from_ddl("CREATE TABLE A (Id INT64) PRIMARY KEY (Id)")) == "<Schema: tables 1>"
    assert repr(Schema()) == "<Schema: empty>"


def test_five_hundred_tables_are_linked_as_if_made_one_by_one():
    tables = [f"CREATE TABLE T{i} (Id INT64 NOT NULL, N INT64) PRIMARY KEY (Id)" for i in range(500)]
    tables += [f"CREATE INDEX I{i} ON T{i % 500} (N{' DESC' if i >= 500 else ''})" for i in range(1000)]
    schema = Schema.from_ddl(";\n".join(tables))
    assert len(schema.tables) == 500
    assert names(schema.indexes_on("t7")) == ["I7", "I507"]
