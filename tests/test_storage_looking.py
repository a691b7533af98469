"""Looking in: families on one shelf, cuts in them, participants, sizes."""

from __future__ import annotations

import pytest

from spanlab.schema import Schema
from spanlab.storage import Database, participants

THREE_LEVELS = """
CREATE TABLE Singers (S INT64 NOT NULL, Name STRING(MAX)) PRIMARY KEY (S);
CREATE TABLE Albums (S INT64 NOT NULL, A INT64 NOT NULL) PRIMARY KEY (S, A), INTERLEAVE IN PARENT Singers
  ON DELETE CASCADE;
CREATE TABLE Songs (S INT64 NOT NULL, A INT64 NOT NULL, N INT64 NOT NULL) PRIMARY KEY (S, A, N),
  INTERLEAVE IN PARENT Albums ON DELETE CASCADE;
"""


def family(ddl=THREE_LEVELS):
    db = Database(Schema.from_ddl(ddl))
    db.commit(
        [
            ("insert", "Singers", ["S", "Name"], [[2, "Bo"], [1, "Ada"]]),
            ("insert", "Albums", ["S", "A"], [[2, 1], [1, 9], [1, 2]]),
            ("insert", "Songs", ["S", "A", "N"], [[2, 1, 1], [1, 2, 7]]),
        ]
    )
    return db


def test_a_family_is_stored_depth_first():
    """facts.md 3.7 and challenge 6.1 of curriculum.md, which has the same rows under other names."""
    assert family().rows_in_order() == [
        "Singers(1)", "Albums(1,2)", "Songs(1,2,7)", "Albums(1,9)", "Singers(2)", "Albums(2,1)", "Songs(2,1,1)",
    ]  # fmt: skip
    assert family().rows_in_order(2) == ["Singers(1)", "Albums(1,2)"]


def test_index_entries_lie_where_their_key_space_is():
    db = family(
        THREE_LEVELS + "CREATE INDEX SongsByN ON Songs (N); CREATE INDEX AlbumsDown ON Albums (S, A DESC), "
        "INTERLEAVE IN Singers"
    )
    order = db.rows_in_order()
    assert order[:6] == [
        "Singers(1)",
        "Albums(1,2)",
        "Songs(1,2,7)",
        "Albums(1,9)",
        "AlbumsDown(1,9)",
        "AlbumsDown(1,2)",
    ]
    assert order[-2:] == ["SongsByN(1,2,1)", "SongsByN(7,1,2)"]
    assert db.splits.key_spaces() == ["Singers", "SongsByN"]


def test_entries_hold_index_key_base_key_and_stored_columns():
    """Challenge 7.1 of curriculum.md: State, BranchId, LoanId, Amount."""
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE Loans (BranchId INT64, LoanId INT64, CustomerId INT64, State STRING(9), Amount INT64)
                 PRIMARY KEY (BranchId, LoanId);
               CREATE INDEX LoansByState ON Loans (State, BranchId) STORING (Amount)"""
        )
    )
    db.commit(
        [
            (
                "insert",
                "Loans",
                ["BranchId", "LoanId", "State", "Amount"],
                [[2, 1, "b", 5], [1, 1, "b", 6], [9, 9, "a", 7]],
            )
        ]
    )
    assert db.entries("LoansByState", 2) == [
        {"State": "a", "BranchId": 9, "LoanId": 9, "Amount": 7},
        {"State": "b", "BranchId": 1, "LoanId": 1, "Amount": 6},
    ]


def test_a_cut_inside_a_family():
    db = family()
    db.splits.cut("Albums", [1, 9])
    assert [str(split) for split in db.splits] == ["[<begin>, Albums(1,9))", "[Albums(1,9), <end>)"]
    layout = db.layout("Singers")
    assert [row[3] for row in layout.rows] == [0, 0, 0, 1, 1, 1, 1]
    assert repr(layout).splitlines()[:5] == [
        "Singers(1)",
        "  Albums(1,2)",
        "    Songs(1,2,7)",
        "──────── split 1 starts here ────────────────────────",
        "  Albums(1,9)",
    ]
    assert db.commit([("delete", "Singers", {"keys": [[1]]})]).participants == 2
    assert db.commit([("delete", "Singers", {"keys": [[2]]})]).participants == 1


def test_a_point_in_a_parent_cuts_its_children_too():
    """facts.md 1.5.8: a point in the parent table is a place in the whole family."""
    db = family()
    db.splits.cut("Singers", [2])
    assert [row[3] for row in db.layout("Singers").rows] == [0, 0, 0, 0, 1, 1, 1]


def test_a_hot_row_is_isolated_with_its_descendants():
    """facts.md 1.2.3."""
    db = family()
    db.splits.isolate("Albums", [1, 2])
    assert [row[3] for row in db.layout("Singers").rows] == [0, 1, 1, 2, 2, 2, 2]
    assert str(db.splits[1]) == "[Albums(1,2), Albums(1,9))"


def test_cuts_by_size_keep_families_together_while_they_fit():
    """facts.md 1.2.3: between root rows first, inside a family only where it alone is too large."""
    db = Database(Schema.from_ddl(THREE_LEVELS))
    db.commit([("insert", "Singers", ["S", "Name"], [[n, "x" * 76] for n in range(6)])])  # 100 bytes each
    db.commit([("insert", "Albums", ["S", "A"], [[3, n] for n in range(30)])])  # 32 bytes each
    db.splits.cut_by_size(250)
    roots = {key: split for depth, name, key, split in db.layout("Singers").rows if depth == 0}
    assert [roots[n,] for n in range(3)] == [0, 0, 1]
    children = [split for depth, _, _, split in db.layout("Singers").rows if depth == 1]
    assert len(set(children)) > 3
    sizes: dict[int, int] = {}
    for depth, _, _, split in db.layout("Singers").rows:
        sizes[split] = sizes.get(split, 0) + (100 if depth == 0 else 32)
    assert max(sizes.values()) <= 250
    db.splits.cut_by_size(2_000)
    db.splits.merge()
    assert len(db.splits) == 1
    with pytest.raises(ValueError, match="limit_bytes"):
        db.splits.cut_by_size(0)


def test_each_key_space_begins_a_split():
    db = family(THREE_LEVELS + "CREATE INDEX SongsByN ON Songs (N); CREATE TABLE Other (K INT64) PRIMARY KEY (K)")
    assert [str(split) for split in db.splits] == ["[<begin>, Other())", "[Other(), SongsByN())", "[SongsByN(), <end>)"]
    assert db.commit([("insert", "Songs", ["S", "A", "N"], [[1, 9, 4]])]).participants == 2


def test_one_purchase_in_three_designs():
    """curriculum.md E6.3: interleaved 1 participant, random keys 4, interleaved with one global index 2."""
    purchase = """CREATE TABLE Shoppers (S STRING(36)) PRIMARY KEY (S);
      CREATE TABLE Purchases (S STRING(36), P STRING(36), At INT64) PRIMARY KEY (S, P), INTERLEAVE IN PARENT Shoppers;
      CREATE TABLE Items (S STRING(36), P STRING(36), I INT64) PRIMARY KEY (S, P, I), INTERLEAVE IN PARENT Purchases"""
    flat = """CREATE TABLE Purchases (P STRING(36), S STRING(36), At INT64) PRIMARY KEY (P);
      CREATE TABLE Items (I STRING(36), P STRING(36)) PRIMARY KEY (I)"""
    operation = {"Purchases": 1, "Items": 3}
    interleaved = Schema.from_ddl(purchase)
    assert participants(interleaved, operation) == 1
    assert participants(Schema.from_ddl(flat), operation) == 4
    assert participants(interleaved.apply("CREATE INDEX ByAt ON Purchases (At)"), operation) == 2
    beside = interleaved.apply("CREATE INDEX ByAt ON Purchases (S, At DESC), INTERLEAVE IN Shoppers")
    assert participants(beside, operation) == 1
    assert _committed(interleaved, ["a", "b", "c"]) == 1
    assert _committed(interleaved.apply("CREATE INDEX ByAt ON Purchases (At)"), ["a", "b", "c"]) == 2
    assert _committed(Schema.from_ddl(flat), ["a", "h", "p"]) == 4


def _committed(schema, items):
    """The same in a database, with splits between the flat rows as a large table has them."""
    db = Database(schema)
    if "Shoppers" in schema.tables:
        db.commit([("insert", "Shoppers", ["S"], [["s"]])])
        rows = [["s", "p", n] for n in range(3)]
        items_mutation = ("insert", "Items", ["S", "P", "I"], rows)
    else:
        for key in ("g", "m"):
            db.splits.cut("Items", [key])
        items_mutation = ("insert", "Items", ["I", "P"], [[item, "p"] for item in items])
    return db.commit([("insert", "Purchases", ["S", "P", "At"], [["s", "p", 5]]), items_mutation]).participants


def test_participants_of_a_booking():
    """curriculum.md C.3: movement, its index, the helper index of the foreign key, the account: 4; in one family 1."""
    before = Schema.from_ddl(
        """CREATE TABLE Accounts (A STRING(36), Balance NUMERIC) PRIMARY KEY (A);
           CREATE TABLE Movements (M STRING(36), A STRING(36), FOREIGN KEY (A) REFERENCES Accounts (A)) PRIMARY KEY (M);
           CREATE INDEX ByA ON Movements (A)"""
    )
    after = Schema.from_ddl(
        """CREATE TABLE Accounts (A STRING(36), Balance NUMERIC) PRIMARY KEY (A);
           CREATE TABLE Movements (A STRING(36), M STRING(36)) PRIMARY KEY (A, M), INTERLEAVE IN PARENT Accounts"""
    )
    booking = [("insert", "Movements", 1), ("update", "Accounts", 1, {"columns": ["Balance"]})]
    assert participants(before, booking) == 4
    assert participants(after, booking) == 1


@pytest.mark.parametrize(("key", "count"), [("S, At", 1), ("P, At", 2)])
def test_an_entry_lies_with_whoever_has_its_first_value_as_key(key, count):
    """facts.md 4.2.10: names need not agree, so an index can lie in the families of strangers."""
    schema = Schema.from_ddl(
        f"""CREATE TABLE Shoppers (S STRING(36) NOT NULL) PRIMARY KEY (S);
            CREATE TABLE Purchases (S STRING(36) NOT NULL, P STRING(36) NOT NULL, At TIMESTAMP) PRIMARY KEY (S, P),
              INTERLEAVE IN PARENT Shoppers;
            CREATE INDEX I ON Purchases ({key}), INTERLEAVE IN Shoppers"""
    )
    assert participants(schema, {"Purchases": 1}) == count


def test_participants_of_filtered_and_moved_entries():
    schema = Schema.from_ddl(
        """CREATE TABLE Jobs (J INT64, DueAt TIMESTAMP, Kind STRING(9)) PRIMARY KEY (J);
           CREATE NULL_FILTERED INDEX Due ON Jobs (DueAt)"""
    )
    assert participants(schema, ("insert", "Jobs")) == 2
    assert participants(schema, ("insert", "Jobs", 1, {"null": ["DueAt"]})) == 1
    assert participants(schema, ("update", "Jobs", 1, {"columns": ["Kind"]})) == 1
    assert participants(schema, ("update", "Jobs", 1, {"columns": ["DueAt"]})) == 3
    with pytest.raises(ValueError, match="op"):
        participants(schema, {"Nothing": 1})


def test_sizes():
    """facts.md 2.1: 8 bytes and the value; curriculum.md E7.3: entries of 108, and of 136 with two stored columns."""
    db = Database(
        Schema.from_ddl(
            """CREATE TABLE Shoppers (ShopperId STRING(36) NOT NULL) PRIMARY KEY (ShopperId);
               CREATE TABLE Purchases (ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL,
                 BoughtAt TIMESTAMP, Status STRING(10), Total NUMERIC, ShipDueAt TIMESTAMP, Half NUMERIC AS (Total / 2))
                 PRIMARY KEY (ShopperId, PurchaseId), INTERLEAVE IN PARENT Shoppers;
               CREATE INDEX Plain ON Purchases (BoughtAt);
               CREATE INDEX Covering ON Purchases (BoughtAt) STORING (Status, Total);
               CREATE INDEX Beside ON Purchases (ShopperId, BoughtAt), INTERLEAVE IN Shoppers"""
        )
    )
    shopper, purchase = "s" * 36, "p" * 36
    columns = ["ShopperId", "PurchaseId", "BoughtAt", "Status", "Total"]
    db.commit(
        [
            ("insert", "Shoppers", ["ShopperId"], [[shopper]]),
            ("insert", "Purchases", columns, [[shopper, purchase, "2026-01-01T00:00:00Z", "OPEN", "12.34"]]),
        ]
    )
    assert db.bytes("Plain") == 20 + 44 + 44 == 108
    assert db.bytes("Covering") == 108 + 12 + 16 == 136
    assert (
        db.bytes("Purchases", [shopper, purchase]) == 44 + 44 + 20 + 12 + 16 + 8
    )  # a NULL takes 8, a virtual column none
    assert db.bytes("Shoppers", [shopper]) == 44
    assert db.bytes("Shoppers", [shopper], family=True) == 44 + 144 + 108
    with pytest.raises(ValueError, match="no row"):
        db.bytes("Shoppers", ["x"])


def test_what_is_not_there():
    db = family()
    with pytest.raises(ValueError, match="Singers"):
        db.rows("Singer")
    with pytest.raises(ValueError, match="no table or index"):
        db.entries("Nothing")
    with pytest.raises(ValueError, match="Singers"):
        db.layout("Albums")
    with pytest.raises(ValueError, match="parts"):
        db.splits.cut("Singers", [1, 2])
