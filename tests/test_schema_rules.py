"""The rules that Spanner enforces when objects are created: what it accepts, what it refuses, where the error points."""

# ruff: noqa: E501  (one case a line)

import pytest

from spanlab.errors import SchemaError
from spanlab.schema import Schema

SHOP = """
CREATE TABLE Customers (CustomerId INT64 NOT NULL, Email STRING(99), Vip BOOL, Seen TIMESTAMP
  OPTIONS (allow_commit_timestamp = true), Tags ARRAY<STRING(9)>, Info JSON) PRIMARY KEY (CustomerId);
CREATE TABLE Orders (CustomerId INT64 NOT NULL, OrderId INT64 NOT NULL, Placed TIMESTAMP, Total NUMERIC)
  PRIMARY KEY (CustomerId, OrderId DESC), INTERLEAVE IN PARENT Customers ON DELETE CASCADE;
"""
EVENTS = "CREATE TABLE Events (EventId INT64 NOT NULL, Moment TIMESTAMP) PRIMARY KEY (EventId)"
KIND = "ALTER DATABASE db SET OPTIONS (default_sequence_kind = 'bit_reversed_positive');"


def table(body, tail="PRIMARY KEY (K)"):
    return f"CREATE TABLE T (K INT64 NOT NULL, {body}) {tail}"


def child(columns, key, parent="Orders"):
    return f"CREATE TABLE Items ({columns}) PRIMARY KEY ({key}), INTERLEAVE IN PARENT {parent}"


def marked(error):
    """The part of the text that an error points at."""
    return error.text.splitlines()[error.line - 1][error.column - 1 :][: error.width]


def check(setup, statement, at, words):
    """`at` is the text that the error marks, "" for a statement that is accepted."""
    schema = Schema.from_ddl(setup)
    if not at:
        changed = schema.apply(statement)
        assert Schema.from_ddl(changed.to_ddl()) == changed
        return
    with pytest.raises(SchemaError) as caught:
        schema.apply(statement)
    assert marked(caught.value) == at
    for word in words.split(" & "):
        assert word in f"{caught.value.message} [{caught.value.rule}] {caught.value.hint}"


LONG = "N" * 128


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        ("CREATE TABLE orders (X INT64) PRIMARY KEY (X)", "orders", "already a table Orders & case"),
        ("CREATE TABLE ByTotal (X INT64) PRIMARY KEY (X); CREATE INDEX ByTotal ON Orders (Total)", "ByTotal", "a table ByTotal"),
        ("CREATE SCHEMA Orders", "Orders", "already a table"),
        ("CREATE TABLE T (X INT64, CONSTRAINT Orders CHECK (X > 0)) PRIMARY KEY (X)", "Orders", "already a table"),
        ("CREATE TABLE T (X INT64, CONSTRAINT t CHECK (X > 0)) PRIMARY KEY (X)", "t", "Two objects"),
        ("CREATE TABLE T (X INT64, CONSTRAINT pk_T CHECK (X > 0)) PRIMARY KEY (X)", "pk_T", "reserved"),
        ("CREATE TABLE IF NOT EXISTS Orders (X INT64) PRIMARY KEY (X)", "", ""),
        (f"CREATE TABLE {LONG} (X INT64) PRIMARY KEY (X)", "", ""),
        (f"CREATE TABLE {LONG}N (X INT64) PRIMARY KEY (X)", LONG + "N", "129 characters"),
        ("CREATE TABLE _T (X INT64) PRIMARY KEY (X)", "_T", "begin with a letter"),
        ("CREATE TABLE T (_X INT64) PRIMARY KEY ()", "_X", "begin with a letter"),
        ("CREATE TABLE `T-1` (X INT64) PRIMARY KEY (X)", "`T-1`", "letters, digits and _ & T_1"),
        ("CREATE TABLE sales.T (X INT64) PRIMARY KEY (X)", "sales.T", "no schema sales & CREATE SCHEMA sales"),
        ("CREATE SCHEMA sales; CREATE TABLE sales.T (X INT64) PRIMARY KEY (X); DROP SCHEMA sales", "sales", "not empty: sales.T"),
        ("CREATE SCHEMA sales; CREATE TABLE sales.Orders (X INT64) PRIMARY KEY (X)", "", ""),
        ("CREATE INDEX Dir_Total ON Orders (Total)", "Dir_Total", "Spanner's own"),
        ("CREATE SCHEMA INFORMATION_SCHEMA", "INFORMATION_SCHEMA", "Spanner's own"),
        ("CREATE INDEX Primary_Key ON Orders (Total)", "Primary_Key", "every table's own key"),
        ("DROP TABLE orders", "orders", "but Orders & case"),
        ("DROP TABLE Order", "Order", "Did you mean Orders"),
    ],
)  # fmt: skip
def test_names(statement, at, words):
    if statement == "DROP TABLE Order":
        statement, at = "DROP TABLE `Order`", "`Order`"  # a reserved word
    check(SHOP, statement, at, words)


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        (table("k INT64"), "K", "already has a column K & case"),
        (table("S STRING(2621440), B BYTES(10485760)"), "", ""),
        (table("S STRING(2621441)"), "STRING(2621441)", "from 1 to 2,621,440"),
        (table("B BYTES(0)"), "BYTES(0)", "from 1 to 10,485,760"),
        (table("A ARRAY<STRING(0)>"), "ARRAY<STRING(0)>", "from 1 to"),
        (table("V ARRAY<FLOAT32>(vector_length=>8)"), "", ""),
        (table("V ARRAY<INT64>(vector_length=>8)"), "ARRAY<INT64>(vector_length=>8)", "FLOAT32 or FLOAT64"),
        (table("S STRING(9) OPTIONS (allow_commit_timestamp = true)"), "S", "for TIMESTAMP columns"),
        (table(", ".join(f"C{i} INT64" for i in range(1023))), "", ""),
        (table(", ".join(f"C{i} INT64" for i in range(1024))), "C1023", "1,024 are allowed"),
        # DEFAULT: facts.md 5.3
        (table("D TIMESTAMP DEFAULT (CURRENT_TIMESTAMP()), U STRING(36) DEFAULT (GENERATE_UUID()), N INT64 DEFAULT (NULL)"), "", ""),
        (table("D DATE DEFAULT ('2026-01-31'), F FLOAT64 DEFAULT (1), J JSON DEFAULT (JSON '{}'), A ARRAY<INT64> DEFAULT ([])"), "", ""),
        (table("D INT64 DEFAULT (K + 1)"), "K", "cannot read a column & SPL408"),
        (table("D INT64 DEFAULT ((SELECT 1))"), "(SELECT 1)", "subquery"),
        (table("D INT64 DEFAULT (MAX(1))"), "MAX(1)", "aggregate"),
        (table("D INT64 DEFAULT ('one')"), "'one'", "gives STRING, which is not INT64"),
        (table("D DATE DEFAULT ('tomorrow')"), "'tomorrow'", "cannot be read as DATE"),
        (table("D TIMESTAMP DEFAULT (PENDING_COMMIT_TIMESTAMP())"), "PENDING_COMMIT_TIMESTAMP()", "does not allow commit timestamps"),
        (table("D TIMESTAMP DEFAULT (CURRENT_TIMESTAMP()) OPTIONS (allow_commit_timestamp = true)"), "CURRENT_TIMESTAMP()", "the only default"),
        (table("D TIMESTAMP DEFAULT (PENDING_COMMIT_TIMESTAMP()) ON UPDATE (PENDING_COMMIT_TIMESTAMP()) OPTIONS (allow_commit_timestamp = true)"), "", ""),
        (table("D TIMESTAMP ON UPDATE (PENDING_COMMIT_TIMESTAMP()) OPTIONS (allow_commit_timestamp = true)"), "D", "needs a DEFAULT"),
        (table("D TIMESTAMP DEFAULT (CURRENT_TIMESTAMP()) ON UPDATE (CURRENT_TIMESTAMP())"), "CURRENT_TIMESTAMP()", "only a commit timestamp column"),
        (table("D INT64 DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE Ids))"), "Ids", "no sequence Ids & CREATE SEQUENCE"),
        # generated columns: facts.md 5.3
        (table("A INT64, G INT64 NOT NULL AS (a * 2) STORED, H INT64 AS (G + 1)"), "", ""),
        (table("G INT64 AS (H) STORED, H INT64 AS (A) STORED, A INT64"), "", ""),
        (table("A STRING(9), G INT64 AS (A) STORED"), "A", "gives STRING"),
        (table("G INT64 AS (Amount) STORED, Amounts INT64"), "Amount", "not a column of T & Did you mean Amounts & SPL304"),
        (table("G INT64 AS (G2) STORED, G2 INT64 AS (G) STORED"), "G", "in a circle"),
        (table("G INT64 AS (G) STORED"), "G", "in a circle: G → G"),
        (table("G TIMESTAMP AS (CURRENT_TIMESTAMP()) STORED"), "CURRENT_TIMESTAMP()", "same result & SPL408"),
        (table("C TIMESTAMP OPTIONS (allow_commit_timestamp = true), G INT64 AS (UNIX_SECONDS(C)) STORED"), "C", "SPL405"),
        (table("G INT64 NOT NULL AS (K + 1)"), "G", "virtual & SPL406"),
        (table("S STRING(9), G STRING(9) AS (UPPER(S))"), "STRING(9)", "must be STRING(MAX) & SPL406"),
        (table("B BYTES(9), G BYTES(9) AS (B)"), "BYTES(9)", "must be BYTES(MAX) & SPL406"),
        (table("G INT64 AS (LENGTH(SOUNDEX('a'))) STORED, J JSON, N INT64 AS (INT64(J.a.b)) STORED"), "", ""),
        (table("G0 INT64, " + ", ".join(f"G{i} INT64 AS (G{i - 1}) STORED" for i in range(1, 1000))), "", ""),
        (table("S STRING(9), G STRING(MAX) AS (" + "CONCAT(S, " * 19 + "'1'" + ")" * 19 + ") STORED"), "", ""),
        (table("S STRING(9), G STRING(MAX) AS (" + "CONCAT(S, " * 20 + "'1'" + ")" * 20 + ")"), "CONCAT(S, " * 20 + "'1'" + ")" * 20, "nested 21 deep"),
        (table("CHECK (" + " AND ".join(f"(K != {i})" for i in range(30)) + ")"), "", ""),
    ],
)  # fmt: skip
def test_columns(statement, at, words):
    check("", statement, at, words)


@pytest.mark.parametrize(
    ("setup", "statement", "at", "words"),
    [
        ("", table("I INT64 GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE SKIP RANGE 1, 9 START COUNTER WITH 5)"), "", ""),
        ("", table("I INT64 GENERATED BY DEFAULT AS IDENTITY"), "I", "no default_sequence_kind"),
        ("", table("I INT64 AUTO_INCREMENT"), "I", "no default_sequence_kind"),
        (KIND, table("I INT64 AUTO_INCREMENT, J INT64 GENERATED BY DEFAULT AS IDENTITY"), "", ""),
        (KIND, table("I STRING(36) AUTO_INCREMENT"), "STRING(36)", "an identity column is INT64"),
        (KIND, table("I INT64 GENERATED BY DEFAULT AS IDENTITY (SKIP RANGE 9, 1)"), "I", "begins at 9 & SKIP RANGE 1, 9"),
        (KIND, table("I INT64 GENERATED BY DEFAULT AS IDENTITY (START COUNTER WITH 0)"), "I", "1 or more"),
        ("", "CREATE SEQUENCE S", "S", "no default_sequence_kind"),
        (KIND, "CREATE SEQUENCE S", "", ""),
        (KIND, "CREATE SEQUENCE S SKIP RANGE -9, -1", "S", "positive values only"),
        ("CREATE SEQUENCE S BIT_REVERSED_POSITIVE", "ALTER SEQUENCE S SET OPTIONS (skip_range_max = 9)", "S", "given together"),
        ("CREATE SEQUENCE S BIT_REVERSED_POSITIVE", "ALTER SEQUENCE s RESTART COUNTER WITH 9", "s", "but S"),
        ("CREATE SEQUENCE S BIT_REVERSED_POSITIVE", "ALTER SEQUENCE IF EXISTS Z RESTART COUNTER WITH 9", "", ""),
        (
            "CREATE SEQUENCE S BIT_REVERSED_POSITIVE; CREATE TABLE T (K INT64 DEFAULT (GET_NEXT_SEQUENCE_VALUE(SEQUENCE S))) PRIMARY KEY (K)",
            "DROP SEQUENCE S", "S", "the default of T.K draws from it",
        ),
        (KIND, "ALTER DATABASE db SET OPTIONS (default_sequence_kind = NULL)", "default_sequence_kind", "stays"),
    ],
)  # fmt: skip
def test_sequences_and_identity(setup, statement, at, words):
    check(setup, statement, at, words)


def test_a_sequence_keeps_what_is_not_altered():
    schema = Schema.from_ddl("CREATE SEQUENCE S BIT_REVERSED_POSITIVE SKIP RANGE 1, 10 START COUNTER WITH 7")
    changed = schema.apply("ALTER SEQUENCE S SET OPTIONS (skip_range_max = 20)").sequences["S"]
    assert (changed.skip_range, changed.start_counter) == ((1, 20), 7)
    assert schema.apply("ALTER SEQUENCE S NO SKIP RANGE").sequences["S"].skip_range is None
    assert schema.apply("ALTER SEQUENCE S RESTART COUNTER WITH 9").sequences["S"].start_counter == 9


@pytest.mark.parametrize(
    ("setup", "statement", "at", "words"),
    [
        ("", "CREATE TABLE T () PRIMARY KEY ()", "", ""),
        ("", "CREATE TABLE T (K INT64) PRIMARY KEY (k)", "k", "no column k, but K"),
        ("", "CREATE TABLE T (K INT64) PRIMARY KEY (K, K DESC)", "K", "stands twice"),
        ("", f"CREATE TABLE T ({', '.join(f'K{i} INT64' for i in range(16))}) PRIMARY KEY ({', '.join(f'K{i}' for i in range(16))})", "", ""),
        ("", f"CREATE TABLE T ({', '.join(f'K{i} INT64' for i in range(17))}) PRIMARY KEY ({', '.join(f'K{i}' for i in range(17))})", "K16", "17 columns & SPL310"),
        *(("", f"CREATE TABLE T (K {kind}) PRIMARY KEY (K)", "", "")
          for kind in ("BOOL", "INT64", "FLOAT64", "NUMERIC", "STRING(MAX)", "BYTES(8)", "DATE", "TIMESTAMP", "UUID")),
        *(("", f"CREATE TABLE T (K {kind}) PRIMARY KEY (K)", "K", "cannot be a key & SPL501") for kind in ("FLOAT32", "ARRAY<INT64>", "JSON")),
        ("", "CREATE TABLE T (S INT64 NOT NULL AS (MOD(FARM_FINGERPRINT(U), 16)) STORED, U STRING(36) NOT NULL) PRIMARY KEY (S, U)", "", ""),
        ("", "CREATE TABLE T (S INT64 AS (A) STORED, A INT64) PRIMARY KEY (S)", "", ""),
        ("", "CREATE TABLE T (S INT64 AS (K), K INT64) PRIMARY KEY (S, K)", "S", "must be STORED & SPL406"),
        ("", "CREATE TABLE T (S INT64 AS (A + B) STORED, A INT64, B INT64) PRIMARY KEY (S)", "S", "not A and B & SPL407"),
        ("", "CREATE TABLE T (S INT64 AS (A + B) STORED, A INT64, B INT64) PRIMARY KEY (S, B)", "", ""),
        ("", "CREATE TABLE T (S INT64 AS (G) STORED, G INT64 AS (A) STORED, A INT64) PRIMARY KEY (S)", "S", "generated too & SPL407"),
        ("", "CREATE TABLE T (S INT64 AS (A) STORED, A INT64 DEFAULT (1)) PRIMARY KEY (S)", "S", "has a DEFAULT & SPL407"),
        # no key clause: facts.md 2.1
        ("", "CREATE TABLE T (A INT64)", "T", "no primary key & PRIMARY KEY (A)"),
        (KIND, "CREATE TABLE T (A INT64)", "", ""),
        (KIND, "CREATE TABLE T (RowId INT64)", "RowId", "leaves no name"),
    ],
)  # fmt: skip
def test_primary_keys(setup, statement, at, words):
    check(setup, statement, at, words)


def test_a_table_without_a_key_gets_a_hidden_numbered_one():
    made = Schema.from_ddl(KIND + "CREATE TABLE T (A INT64)").table("T")
    assert [part.column for part in made.key] == ["rowid"]
    rowid = made.column("rowid")
    assert rowid.hidden
    assert rowid.identity is not None


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        (child("CustomerId INT64 NOT NULL, OrderId INT64 NOT NULL, N INT64", "CustomerId, OrderId DESC, N"), "", ""),
        (child("CustomerId INT64 NOT NULL, OrderId INT64 NOT NULL", "CustomerId, OrderId DESC"), "", ""),
        (child("CustomerId INT64 NOT NULL, N INT64", "CustomerId, N"), "CustomerId", "OrderId is missing & SPL201 & PRIMARY KEY (CustomerId, OrderId DESC, N)"),
        (child("CustomerId INT64 NOT NULL, OrderId INT64 NOT NULL", "OrderId DESC, CustomerId"), "OrderId", "at another place & SPL201"),
        (child("CustomerId INT64 NOT NULL, OrderId INT64 NOT NULL", "CustomerId, OrderId"), "OrderId", "direction (ASC) & SPL201"),
        (child("CustomerId INT64 NOT NULL, orderid INT64 NOT NULL", "CustomerId, orderid DESC"), "CustomerId", "called OrderId, not orderid & PRIMARY KEY (CustomerId, OrderId DESC)"),
        (child("CustomerId STRING(9) NOT NULL, OrderId INT64 NOT NULL", "CustomerId, OrderId DESC"), "CustomerId", "type (STRING) & CustomerId INT64 NOT NULL"),
        (child("CustomerId INT64, OrderId INT64 NOT NULL", "CustomerId, OrderId DESC"), "CustomerId", "nullability (nullable)"),
        (child("X INT64", "X", "Ghosts"), "Ghosts", "no table Ghosts & CREATE TABLE Ghosts first"),
        (child("X INT64", "X", "customers"), "customers", "but Customers"),
        (child("X INT64", "X", "Items"), "Items", "no table Items"),
        ("CREATE TABLE Items (CustomerId INT64 NOT NULL, N INT64) PRIMARY KEY (CustomerId, N), INTERLEAVE IN Customers", "", ""),
        ("CREATE TABLE Items (N INT64) PRIMARY KEY (N), INTERLEAVE IN Customers", "N", "CustomerId is missing & SPL201"),
        ("CREATE TABLE One () PRIMARY KEY (); CREATE TABLE Two (K INT64) PRIMARY KEY (K), INTERLEAVE IN PARENT One", "", ""),
        ("CREATE TABLE One () PRIMARY KEY (); CREATE TABLE Two () PRIMARY KEY (), INTERLEAVE IN PARENT One", "Two", "at least one column"),
        ("CREATE TABLE P (K STRING(36) NOT NULL) PRIMARY KEY (K); CREATE TABLE C (K STRING(40) NOT NULL) PRIMARY KEY (K), INTERLEAVE IN PARENT P",
         "K", "length (STRING(40))"),
        ("CREATE TABLE P (K TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (K); CREATE TABLE C (K TIMESTAMP) PRIMARY KEY (K), INTERLEAVE IN PARENT P", "K", "allow_commit_timestamp & SPL207"),
    ],
)  # fmt: skip
def test_interleaving(statement, at, words):
    check(SHOP, statement, at, words)


def family(levels):
    """A chain of tables, each interleaved in the one before."""
    for level in range(levels):
        columns = ", ".join(f"K{i} INT64" for i in range(level + 1))
        key = ", ".join(f"K{i}" for i in range(level + 1))
        yield f"CREATE TABLE L{level} ({columns}) PRIMARY KEY ({key})" + (
            f", INTERLEAVE IN L{level - 1}" if level else ""
        )


def test_eight_tables_may_lie_on_one_path():
    # facts.md 3.3: seven levels below the root
    schema = Schema.from_ddl(";".join(family(8)))
    assert len(schema.ancestors("L7")) == 7
    with pytest.raises(SchemaError, match="8 levels below L0; 7 are allowed") as caught:
        schema.apply([*family(9)][-1])
    assert caught.value.rule == "SPL203"


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        ("CREATE INDEX I ON Orders (Total, CustomerId DESC) STORING (Placed)", "", ""),
        ("CREATE INDEX I ON Customers (Seen DESC)", "", ""),
        ("CREATE INDEX I ON Orders ()", "I", "indexes no column"),
        ("CREATE INDEX I ON orders (Total)", "orders", "but Orders"),
        ("CREATE INDEX I ON Orders (total)", "total", "but Total & SPL304"),
        ("CREATE INDEX I ON Orders (Totals)", "Totals", "Did you mean Total & SPL304"),
        ("CREATE INDEX I ON Orders (Total, Total DESC)", "Total", "stands twice"),
        ("CREATE INDEX I ON Customers (Tags)", "Tags", "cannot be indexed & SPL501"),
        ("CREATE INDEX I ON Customers (Email) STORING (Tags, Info)", "", ""),
        ("CREATE INDEX I ON Orders (Total) STORING (Total)", "Total", "key column of I already & SPL304"),
        ("CREATE INDEX I ON Orders (Total) STORING (OrderId)", "OrderId", "every index entry holds anyway & SPL304"),
        ("CREATE INDEX I ON Orders (Total) STORING (Placed, Placed)", "Placed", "stands twice"),
        ("CREATE INDEX I ON Orders (Total) STORING (Status)", "Status", "no column Status & SPL304"),
        ("CREATE INDEX I ON Orders (Total) STORING (Placed) WHERE Total IS NOT NULL AND Placed IS NOT NULL", "", ""),
        ("CREATE INDEX I ON Orders (Total) WHERE Placed IS NOT NULL", "Placed", "does not hold & STORING (Placed)"),
        # interleaved: facts.md 4.2.10
        ("CREATE INDEX I ON Orders (CustomerId, Placed), INTERLEAVE IN Customers", "", ""),
        ("CREATE INDEX I ON Orders (CustomerId, OrderId DESC, Total), INTERLEAVE IN Orders", "", ""),
        ("CREATE INDEX I ON Orders (Placed, CustomerId), INTERLEAVE IN Customers", "Placed", "another type (TIMESTAMP) & SPL311"),
        ("CREATE INDEX I ON Orders (CustomerId DESC), INTERLEAVE IN Customers", "CustomerId", "direction (DESC) & SPL311"),
        ("CREATE INDEX I ON Orders (CustomerId), INTERLEAVE IN Orders", "Orders", "must begin with the whole key & SPL311"),
        ("CREATE INDEX I ON Orders (CustomerId), INTERLEAVE IN Ghosts", "Ghosts", "no table Ghosts"),
        ("CREATE TABLE Visits (VisitId INT64, Who INT64) PRIMARY KEY (VisitId); CREATE INDEX I ON Visits (Who), INTERLEAVE IN Customers",
         "Who", "nullability (nullable) & NULL_FILTERED"),
        ("CREATE TABLE Visits (VisitId INT64, Who INT64) PRIMARY KEY (VisitId); CREATE NULL_FILTERED INDEX I ON Visits (Who), INTERLEAVE IN Customers; CREATE INDEX J ON Visits (Who) WHERE Who IS NOT NULL, INTERLEAVE IN Customers", "", ""),
        # generated columns, stored or not: facts.md 4.2.16
        ("CREATE TABLE G (K INT64, A INT64 AS (K) STORED, B INT64 AS (K + 1)) PRIMARY KEY (K); CREATE INDEX I ON G (A, B)", "", ""),
        ("CREATE INDEX IF NOT EXISTS I ON Orders (Total); CREATE INDEX IF NOT EXISTS I ON Ghosts (Total)", "", ""),
    ],
)  # fmt: skip
def test_indexes(statement, at, words):
    check(SHOP, statement, at, words)


def wide(key, others):
    columns = [f"K{i} INT64" for i in range(key)] + [f"V{i} INT64" for i in range(others)]
    return f"CREATE TABLE W ({', '.join(columns)}) PRIMARY KEY ({', '.join(f'K{i}' for i in range(key))})"


def test_an_index_key_has_sixteen_columns_with_those_of_the_table():
    check(wide(10, 7), "CREATE INDEX I ON W (V0, V1, V2, V3, V4, V5)", "", "")
    check(wide(10, 7), "CREATE INDEX I ON W (V0, V1, V2, V3, V4, V5, K0)", "", "")
    check(wide(10, 7), "CREATE INDEX I ON W (V0, V1, V2, V3, V4, V5, V6)", "I", "17 columns & SPL310")


def test_a_table_has_128_indexes():
    schema = Schema.from_ddl(wide(1, 129) + ";" + ";".join(f"CREATE INDEX I{i} ON W (V{i})" for i in range(128)))
    with pytest.raises(SchemaError, match="has 128 indexes") as caught:
        schema.apply("CREATE INDEX I128 ON W (V128)")
    assert caught.value.rule == "SPL309"


BANK = """
CREATE TABLE Accounts (Bank STRING(9) NOT NULL, Number INT64 NOT NULL, Iban STRING(34), Opened TIMESTAMP
  OPTIONS (allow_commit_timestamp = true), Tags ARRAY<INT64>) PRIMARY KEY (Bank, Number);
"""


def reference(columns, referenced, tail="", types="Bank STRING(9), Number INT64, Iban STRING(99), Opened TIMESTAMP"):
    return f"CREATE TABLE Cards (CardId INT64 NOT NULL, {types}, FOREIGN KEY ({columns}) REFERENCES Accounts ({referenced}) {tail}) PRIMARY KEY (CardId)"


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        (reference("Bank, Number", "Bank, Number"), "", ""),
        (reference("Number, Bank", "Number, Bank"), "", ""),
        (reference("Iban", "Iban"), "", ""),
        (reference("Bank, Number", "Bank, Number", "ON DELETE CASCADE"), "", ""),
        (reference("Bank, Number", "Bank, Number", "NOT ENFORCED"), "", ""),
        (reference("Bank, Number", "Bank, Number", "ON DELETE CASCADE NOT ENFORCED"), "Accounts", "does nothing on deletions"),
        (reference("Bank", "Bank, Number"), "Bank", "1 columns here and 2"),
        (reference("Number", "Iban"), "Number", "is INT64 but references"),
        (reference("Bank, Bank", "Bank, Iban"), "Bank", "stands twice"),
        (reference("Bank, Iban", "Bank, Bank"), "Bank", "stands twice"),
        (reference("bank", "Bank"), "bank", "but Bank"),
        (reference("Iban", "IBAN"), "IBAN", "but Iban"),
        (reference("Opened", "Opened"), "Opened", "allows commit timestamps"),
        (reference("Tags", "Tags", types="Tags ARRAY<INT64>"), "Tags", "cannot be looked up"),
        (reference("Bank", "Bank").replace("REFERENCES Accounts", "REFERENCES accounts"), "accounts", "but Accounts"),
        ("CREATE TABLE Staff (Id INT64, Boss INT64, FOREIGN KEY (Boss) REFERENCES Staff (Id)) PRIMARY KEY (Id); DROP TABLE Staff", "", ""),
        (reference("Iban", "Iban") + "; DROP TABLE Accounts", "Accounts", "the foreign key FK_Cards_Accounts_"),
        (reference("Iban", "Iban") + "; DROP TABLE Cards; DROP TABLE Accounts", "", ""),
    ],
)  # fmt: skip
def test_foreign_keys(statement, at, words):
    check(BANK, statement, at, words)


def managed(schema):
    return {
        (index.table, tuple(part.column for part in index.key), index.unique, index.null_filtered, index.interleave_in)
        for index in schema.indexes.values()
        if index.managed
    }


def test_managed_indexes_of_foreign_keys():
    # facts.md 5.1: unique and null-filtered over referenced columns that are not the key, plain over the referencing ones
    schema = Schema.from_ddl(BANK).apply(reference("Iban", "Iban"))
    assert managed(schema) == {
        ("Accounts", ("Iban",), True, True, None),
        ("Cards", ("Iban",), False, True, None),
    }
    assert {name.rpartition("_")[0] for name in schema.indexes} == {"IDX_Accounts_Iban_U", "IDX_Cards_Iban_N"}


def test_the_referenced_primary_key_needs_no_index_and_gives_the_order():
    schema = Schema.from_ddl(BANK).apply(reference("Number, Bank", "Number, Bank"))
    assert managed(schema) == {("Cards", ("Bank", "Number"), False, True, None)}


def test_an_informational_foreign_key_has_one_index_at_most():
    assert managed(Schema.from_ddl(BANK).apply(reference("Iban", "Iban", "NOT ENFORCED"))) == {
        ("Accounts", ("Iban",), True, True, None)
    }


def test_a_leading_not_null_key_serves_as_the_referencing_index():
    schema = Schema.from_ddl(SHOP).apply(
        "ALTER TABLE Orders ADD FOREIGN KEY (CustomerId) REFERENCES Customers (CustomerId)"
    )
    assert managed(schema) == set()


def test_foreign_keys_share_managed_indexes_which_go_with_the_last():
    schema = Schema.from_ddl(BANK).apply(reference("Iban", "Iban"))
    shared = schema.apply("ALTER TABLE Cards ADD CONSTRAINT Again FOREIGN KEY (Iban) REFERENCES Accounts (Iban)")
    assert managed(shared) == managed(schema)
    first = schema.tables["Cards"].foreign_keys[0].name
    assert managed(shared.apply(f"ALTER TABLE Cards DROP CONSTRAINT {first}")) == managed(schema)
    assert (
        managed(shared.apply(f"ALTER TABLE Cards DROP CONSTRAINT {first}; ALTER TABLE Cards DROP CONSTRAINT again"))
        == set()
    )
    assert managed(shared.apply("DROP TABLE Cards")) == set()


def test_a_managed_index_cannot_be_dropped():
    schema = Schema.from_ddl(BANK).apply(reference("Iban", "Iban"))
    name = next(name for name in schema.indexes if name.startswith("IDX_Cards"))
    with pytest.raises(SchemaError, match="belongs to a foreign key"):
        schema.apply(f"DROP INDEX {name}")


@pytest.mark.parametrize(
    ("statement", "at", "words"),
    [
        (table("A INT64, B INT64, CHECK (A < b), CONSTRAINT Positive CHECK (A > 0 AND B > 0)"), "", ""),
        (table("A INT64, G INT64 AS (A) STORED, CHECK (G > 0)"), "", ""),
        (table("G INT64 AS (1) STORED, CHECK (G > 0)"), "G > 0", "not generated"),
        (table("CHECK (TRUE)"), "TRUE", "not generated"),
        (table("CHECK (K + 1)"), "K + 1", "gives INT64, which is not BOOL"),
        (table("CHECK (K IN (SELECT 1))"), "K IN (SELECT 1)", "subquery & SPL405"),
        (table("C TIMESTAMP OPTIONS (allow_commit_timestamp = true), CHECK (C IS NOT NULL)"), "C", "commit timestamp & SPL405"),
        (table("C TIMESTAMP, CHECK (C < CURRENT_TIMESTAMP())"), "C < CURRENT_TIMESTAMP()", "same result"),
        (table("CHECK (Kk > 0)"), "Kk", "not a column of T"),
        (table("CHECK (K > 'a')"), "K > 'a'", "The check of T"),
        (table("CHECK (K > 0), CHECK (K < 9)") + "; ALTER TABLE T DROP CONSTRAINT ck_t_2", "", ""),
        (table("CHECK (K > 0)") + "; ALTER TABLE T DROP CONSTRAINT CK_T_2", "CK_T_2", "Did you mean CK_T_1"),
    ],
)  # fmt: skip
def test_checks(statement, at, words):
    check("", statement, at, words)


def test_unnamed_checks_are_numbered_around_names_that_are_taken():
    schema = Schema.from_ddl(table("CHECK (K > 0), CONSTRAINT CK_T_2 CHECK (K > 1), CHECK (K > 2)"))
    assert [check.name for check in schema.tables["T"].checks] == ["CK_T_1", "CK_T_2", "CK_T_3"]


POLICY = ", ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 30 DAY))"
BELOW = "CREATE TABLE Parts (EventId INT64 NOT NULL, N INT64) PRIMARY KEY (EventId, N), INTERLEAVE IN {}"


@pytest.mark.parametrize(
    ("setup", "statement", "at", "words"),
    [
        ("", EVENTS + POLICY, "", ""),
        ("", EVENTS + POLICY.replace("Moment", "EventId"), "EventId", "looks at a TIMESTAMP column"),
        ("", EVENTS + POLICY.replace("Moment", "Moments"), "Moments", "Did you mean Moment"),
        (EVENTS + POLICY, BELOW.format("PARENT Events ON DELETE CASCADE"), "", ""),
        (EVENTS + POLICY, BELOW.format("Events"), "", ""),
        (EVENTS + POLICY, BELOW.format("PARENT Events"), "Parts", "would forbid that & SPL209"),
        (EVENTS + ";" + BELOW.format("PARENT Events"), "ALTER TABLE Events ADD ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 1 DAY))",
         "Events", "Parts, below Events & SPL209 & SET ON DELETE CASCADE first"),
        (EVENTS + POLICY + ";" + BELOW.format("PARENT Events ON DELETE CASCADE"), "ALTER TABLE Parts SET ON DELETE NO ACTION", "Parts", "SPL209"),
        (EVENTS + POLICY, "CREATE TABLE R (K INT64, FOREIGN KEY (K) REFERENCES Events (EventId)) PRIMARY KEY (K)", "Events", "SPL209"),
        (EVENTS + POLICY, "CREATE TABLE R (K INT64, FOREIGN KEY (K) REFERENCES Events (EventId) NOT ENFORCED) PRIMARY KEY (K)", "", ""),
        (EVENTS + POLICY, "CREATE TABLE R (K INT64, FOREIGN KEY (K) REFERENCES Events (EventId) ON DELETE CASCADE) PRIMARY KEY (K)", "", ""),
        (EVENTS + "; CREATE TABLE R (K INT64, FOREIGN KEY (K) REFERENCES Events (EventId)) PRIMARY KEY (K)",
         "ALTER TABLE Events ADD ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 1 DAY))", "Events", "The foreign key FK_R_Events & SPL209"),
        (EVENTS + POLICY, "ALTER TABLE Events ADD ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 1 DAY))", "Moment", "REPLACE"),
        (EVENTS, "ALTER TABLE Events REPLACE ROW DELETION POLICY (OLDER_THAN(Moment, INTERVAL 1 DAY))", "Moment", "no row deletion policy"),
        (EVENTS, "ALTER TABLE Events DROP ROW DELETION POLICY", "Events", "no row deletion policy"),
        (EVENTS + POLICY, "ALTER TABLE Events DROP ROW DELETION POLICY; ALTER TABLE Events DROP COLUMN Moment", "", ""),
    ],
)  # fmt: skip
def test_row_deletion_policies(setup, statement, at, words):
    check(setup, statement, at, words)


def test_a_default_that_reads_its_own_column_is_not_told_to_generate_it_from_itself():
    with pytest.raises(SchemaError) as refused:
        Schema.from_ddl("CREATE TABLE M (Id INT64 NOT NULL DEFAULT (BIT_REVERSE(Id, TRUE))) PRIMARY KEY (Id)")
    assert refused.value.hint.startswith("a sequence: Id INT64 DEFAULT")
    with pytest.raises(SchemaError) as refused:
        Schema.from_ddl("CREATE TABLE M (Id INT64 NOT NULL, N INT64 DEFAULT (Id + 1)) PRIMARY KEY (Id)")
    assert refused.value.hint == "N INT64 AS (Id + 1) STORED"
