"""The data sets: exact counts, the same everywhere, and into any table that has the columns."""

from __future__ import annotations

from collections import Counter

import pytest

from spanlab.errors import ConstraintError
from spanlab.schema import Schema
from spanlab.storage import Database, data
from spanlab.storage.progress import progress_bar


def test_shop_as_the_curriculum_counts_it():
    """curriculum.md 0.5."""
    shop = data("shop")
    assert shop.row_counts == {"Shoppers": 1_000, "Purchases": 20_000, "PurchaseItems": 60_000}
    db = shop.into()
    purchases = db.rows("Purchases")
    assert len(purchases) == 20_000
    assert Counter(Counter(p["ShopperId"] for p in purchases).values()) == {20: 1_000}
    assert Counter(Counter((p["BoughtAt"] - data.day(0)).days for p in purchases).values()) == {200: 100}
    waiting = [p for p in purchases if p["Status"] == "OPEN"]
    assert len(waiting) == 400
    assert Counter(Counter((p["BoughtAt"] - data.day(0)).days for p in waiting).values()) == {4: 100}
    assert len({p["ShopperId"] for p in waiting}) == 400
    assert all((p["ShipDueAt"] is not None) == (p["Status"] == "OPEN") for p in purchases)
    late = [p for p in purchases if p["BoughtAt"] >= data.day(90)]
    assert (len(late), sum(p["Status"] == "OPEN" for p in late)) == (2_000, 40)
    assert len({p["BoughtAt"] for p in purchases}) == 20_000
    assert Counter(Counter((i["ShopperId"], i["PurchaseId"]) for i in db.rows("PurchaseItems")).values()) == {3: 20_000}
    assert {len(str(p["Total"].normalize()).replace(".", "")) for p in purchases} == {4}


COUNTS = {
    "shop_flat": {"Shoppers": 1_000, "Purchases": 20_000, "PurchaseItems": 60_000},
    "bank": {"Accounts": 500, "Movements": 100_000},
    "ledger": {"LedgerEntries": 30_000},
    "jobs": {"Jobs": 50_000},
    "probes": {"Measurements": 96_000},
}


@pytest.mark.parametrize("name", COUNTS)
def test_row_counts(name):
    db = data(name).into()
    assert {table: len(db.stored(table)) for table in db.schema.tables} == data(name).row_counts == COUNTS[name]


def test_rules_of_the_smaller_sets():
    assert set(Counter(m["AccountId"] for m in data("bank").rows("Movements")).values()) == {200}
    entries = list(data("ledger").rows("LedgerEntries"))
    assert {len(entry["EntryId"]) for entry in entries} == {26}
    assert [e["EntryId"] for e in entries] == sorted(e["EntryId"] for e in entries)
    low, high = data.ulid(data.day(12)), data.ulid(data.day(13))
    assert sum(low <= entry["EntryId"] < high for entry in entries) == 1_000
    assert sum(job["DueAt"] is not None for job in data("jobs").rows("Jobs")) == 1_000
    assert set(Counter(m["ProbeId"] for m in data("probes").rows("Measurements")).values()) == {48}


def test_ids():
    """Ids look like version 4 UUIDs, differ, and are the same in every session (worked out once by SplitMix64)."""
    ids = [data.uuid(n) for n in range(2_000)] + [data.uuid(n, "Purchases") for n in range(2_000)]
    assert len(set(ids)) == 4_000
    assert all(i[14] == "4" and i[19] in "89ab" and len(i) == 36 for i in ids)
    assert data.uuid(0)[:8] == "e220a839"  # the first output of SplitMix64 seeded with 0 is e220a8397b1dcdaf
    assert list(data("shop").rows("Shoppers"))[7]["ShopperId"] == data.uuid(7)
    assert 0.2 < sum(i < "4" for i in ids) / 4_000 < 0.3


def test_into_a_design_of_ones_own():
    """Columns go by name; generated ones are worked out; unknown NOT NULL ones are made up; types are converted."""
    schema = Schema.from_ddl(
        """CREATE TABLE Shoppers (ShopperId BYTES(16) NOT NULL, Email STRING(320) NOT NULL, Level INT64 NOT NULL,
             EmailKey STRING(MAX) AS (LOWER(Email)) STORED) PRIMARY KEY (ShopperId);
           CREATE TABLE Purchases (ShopperId BYTES(16) NOT NULL, BoughtAt TIMESTAMP NOT NULL, PurchaseId UUID NOT NULL,
             Total FLOAT64, ShardId INT64 AS (MOD(ABS(MOD(FARM_FINGERPRINT(CAST(PurchaseId AS STRING)), 8)), 8)) STORED)
             PRIMARY KEY (ShopperId, BoughtAt DESC, PurchaseId), INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE;
           CREATE INDEX ByShard ON Purchases (ShardId, BoughtAt);
           CREATE TABLE PurchaseItems (ShopperId BYTES(16) NOT NULL, BoughtAt TIMESTAMP NOT NULL,
             PurchaseId UUID NOT NULL, ItemNo INT64 NOT NULL)
             PRIMARY KEY (ShopperId, BoughtAt DESC, PurchaseId, ItemNo),
             INTERLEAVE IN PARENT Purchases ON DELETE CASCADE;
           CREATE TABLE Unrelated (K INT64) PRIMARY KEY (K)"""
    )
    db = data("shop").into(schema)
    assert {name: len(db.stored(name)) for name in schema.tables} == {
        "Shoppers": 1_000, "Purchases": 20_000, "PurchaseItems": 60_000, "Unrelated": 0,
    }  # fmt: skip
    shards = Counter(entry["ShardId"] for entry in db.entries("ByShard"))
    assert set(shards) == set(range(8))
    assert len({row["Level"] for row in db.rows("Shoppers")}) == 1_000
    first = db.rows("Purchases")[0]
    assert isinstance(first["Total"], float)
    assert len(first["ShopperId"]) == 16
    assert first["PurchaseId"] == first["PurchaseId"].lower()


def test_into_a_database_that_has_rows():
    db = Database(Schema.from_ddl(data("ledger").ddl + ";" + data("jobs").ddl))
    assert data("jobs").into(data("ledger").into(db)) is db
    assert (len(db.stored("LedgerEntries")), len(db.stored("Jobs"))) == (30_000, 50_000)
    with pytest.raises(ConstraintError, match="ALREADY_EXISTS"):
        data("jobs").into(db)


def test_scale():
    assert data("jobs", scale=2).row_counts == {"Jobs": 100_000}
    twice = data("shop", scale=2)
    purchases = list(twice.rows("Purchases"))
    assert len(purchases) == 40_000
    assert sum(p["Status"] == "OPEN" for p in purchases) == 800


def test_a_progress_bar_is_for_terminals(monkeypatch, capsys):
    """It shows on a terminal for long work, and nowhere else: output that is kept must always be the same."""
    with progress_bar("short", 10) as advance:
        advance(10)
    with progress_bar("no terminal", 1_000_000) as advance:
        advance(1_000_000)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    with progress_bar("loading Orders", 1_000_000) as advance:
        advance(500_000)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "loading Orders" in shown.err
    assert "50%" in shown.err


@pytest.mark.parametrize(("name", "scale"), [("shops", 1), ("shop", 0), ("shop", 1.5), ("shop", True), (3, 1)])
def test_bad_arguments(name, scale):
    with pytest.raises(ValueError, match=r"name|scale"):
        data(name, scale)
    with pytest.raises(ValueError, match="Purchases"):
        list(data("shop").rows("Purchase"))
