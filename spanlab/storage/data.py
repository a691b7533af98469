"""Data sets of the course: made by formula, so that every row count can be checked on paper (curriculum.md 0.5).

    shop = sl.data("shop")                # 1,000 shoppers, 20,000 purchases, 60,000 items
    db = shop.into(schema)                # into your own tables, by the names of tables and columns
    db = sl.data("ledger").into(db)       # a database can take several
    sl.data("shop", scale=10)             # ten times as many
    sl.data.uuid(7), sl.data.day(90)      # the keys and times in it

Nothing is random: row i is the same in every session. A data set offers more columns than its own tables have (an item
knows when its purchase was made), so that other designs can be filled too; columns that a table lacks are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from zlib import crc32

import numpy as np

from spanlab.errors import suggest
from spanlab.schema import Schema
from spanlab.storage.database import Database
from spanlab.storage.fitting import fitted_columns

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

Columns = Mapping[str, Sequence[object]]


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """64 bits that look random and differ for different numbers (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return bits ^ bits >> np.uint64(31)


def _uuids(numbers: np.ndarray, of: str = "") -> list[str]:
    numbers = numbers.astype(np.int64) + (crc32(of.encode()) << 28)
    words = np.stack([_mixed(2 * numbers), _mixed(2 * numbers + 1)], axis=1)
    octets = words.astype(">u8").view(np.uint8).reshape(-1, 16)
    octets[:, 6] = octets[:, 6] & 0x0F | 0x40  # version 4
    octets[:, 8] = octets[:, 8] & 0x3F | 0x80
    digits = octets.tobytes().hex()
    whole = (digits[start : start + 32] for start in range(0, len(digits), 32))
    return [f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}" for text in whole]


def uuid(number: int, of: str = "") -> str:
    """The id of row `number`: 36 characters in the form of a version 4 UUID, scattered as those are.

    Rows that belong to others have ids of their own: `uuid(7)` is a shopper, `uuid(7, "Purchases")` a purchase.
    """
    return _uuids(np.array([number]), of)[0]


def day(number: int) -> datetime:
    """Midnight (UTC) at which day `number` begins; day 0 is 1 January 2026."""
    return FIRST_DAY + timedelta(days=number)


def ulid(moment: datetime, number: int | None = None) -> str:
    """A text of 26 characters in the form of a ULID: the time in 10, then 16 that look random.

    Without `number` it is the smallest ULID of that millisecond: a bound for ranges of time.
    """
    milliseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    rest = 0 if number is None else int(_mixed(np.array([number]))[0]) << 16 | number & 0xFFFF
    return _base32(milliseconds, 10) + _base32(rest, 16)


def _base32(value: int, length: int) -> str:
    return "".join(_CROCKFORD[value >> 5 * place & 31] for place in range(length - 1, -1, -1))


@dataclass(frozen=True)
class DataTable:
    """One table of a data set: its own columns, how many rows it has at scale 1, and the formula of its columns.

    The formula gets the scale and gives whole columns; it may give more than the table's own.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    formula: Callable[[int], Columns]


def _amounts(count: int) -> list[Decimal]:
    """Money between 10.01 and 99.99 that never ends with a zero."""
    cents = 1001 + np.arange(count) * 7919 % 8990
    return [Decimal(int(value)) / 100 for value in cents + (cents % 10 == 0)]


def _spread(days: int, count: int) -> list[datetime]:
    """`count` moments over that many days, the same number each day and at even distances."""
    microseconds = np.arange(count) * (days * 86_400_000_000 // count)
    return [FIRST_DAY + timedelta(microseconds=int(value)) for value in microseconds]


def _shoppers(scale: int) -> Columns:
    count = 1_000 * scale
    return {
        "ShopperId": _uuids(np.arange(count)),
        "Name": [f"Shopper {i}" for i in range(count)],
        "Email": [f"shopper{i}@example.com" for i in range(count)],
    }


@lru_cache(maxsize=1)
def _purchases(scale: int) -> Columns:
    count, shoppers = 20_000 * scale, 1_000 * scale
    shopper, nth = np.arange(count) % shoppers, np.arange(count) // shoppers
    waiting = ((shopper + 7 * nth) % 50 == 0).tolist()
    bought, ids = _spread(100, count), _uuids(np.arange(shoppers))
    return {
        "ShopperId": [ids[i] for i in shopper],
        "PurchaseId": _uuids(np.arange(count), "Purchases"),
        "BoughtAt": bought,
        "Status": ["OPEN" if open_ else "DONE" for open_ in waiting],
        "Total": _amounts(count),
        "ShipDueAt": [at + timedelta(days=2) if open_ else None for at, open_ in zip(bought, waiting, strict=True)],
    }


def _items(scale: int) -> Columns:
    count = 60_000 * scale
    of_purchase = {name: [value for value in values for _ in range(3)] for name, values in _purchases(scale).items()}
    return of_purchase | {
        "ItemNo": [1, 2, 3] * (count // 3),
        "Sku": [f"SKU-{i * 31 % 5000:04d}" for i in range(count)],
        "Qty": [i % 4 + 1 for i in range(count)],
        "ItemId": _uuids(np.arange(count), "PurchaseItems"),
    }


def _accounts(scale: int) -> Columns:
    count = 500 * scale
    owners = [f"Owner {i}" for i in range(count)]
    return {"AccountId": _uuids(np.arange(count)), "Owner": owners, "Balance": _amounts(count)}


def _movements(scale: int) -> Columns:
    count, accounts = 100_000 * scale, 500 * scale
    ids = _uuids(np.arange(accounts))
    return {
        "MovementId": _uuids(np.arange(count), "Movements"),
        "AccountId": [ids[i % accounts] for i in range(count)],
        "PostedAt": _spread(100, count),
        "Amount": [amount if i % 3 else -amount for i, amount in enumerate(_amounts(count))],
        "Text": [f"Movement {i // accounts}" for i in range(count)],
    }


def _entries(scale: int) -> Columns:
    posted = _spread(30, 30_000 * scale)
    ids = [ulid(at, i) for i, at in enumerate(posted)]
    return {"EntryId": ids, "Amount": _amounts(len(posted)), "PostedAt": posted}


_KINDS = ("mail", "invoice", "report", "resize", "export", "import", "backup", "notify")


def _jobs(scale: int) -> Columns:
    count = 50_000 * scale
    made = [FIRST_DAY + timedelta(minutes=i) for i in range(count)]
    waiting = [i % 50 == 7 for i in range(count)]
    return {
        "JobId": _uuids(np.arange(count)),
        "Kind": [_KINDS[i] for i in _mixed(np.arange(count)) % np.uint64(len(_KINDS))],
        "DueAt": [at + timedelta(days=1) if open_ else None for at, open_ in zip(made, waiting, strict=True)],
        "DoneAt": [None if open_ else at + timedelta(minutes=1) for at, open_ in zip(made, waiting, strict=True)],
        "State": ["OPEN" if open_ else "DONE" for open_ in waiting],
    }


def _readings(scale: int) -> Columns:
    probes = 2_000 * scale
    count = 48 * probes
    names = [f"probe-{probe:05d}" for probe in range(probes)]
    first = [FIRST_DAY + timedelta(milliseconds=probe % 300_000) for probe in range(probes)]
    return {
        "ProbeId": names * 48,
        "TakenAt": [at + timedelta(minutes=5 * nth) for nth in range(48) for at in first],
        "Celsius": (15 + (_mixed(np.arange(count)) % np.uint64(200)).astype(float) / 10).tolist(),
        "Battery": [100 - nth / 2 for nth in range(48) for _ in range(probes)],
        "ReadingId": _uuids(np.arange(count)),
    }


_SHOPPERS = DataTable("Shoppers", ("ShopperId", "Name"), 1_000, _shoppers)
_PURCHASE_COLUMNS = ("ShopperId", "PurchaseId", "BoughtAt", "Status", "Total", "ShipDueAt")
_PURCHASES = DataTable("Purchases", _PURCHASE_COLUMNS, 20_000, _purchases)
_ITEMS = DataTable("PurchaseItems", ("ShopperId", "PurchaseId", "ItemNo", "Sku", "Qty"), 60_000, _items)
_SHOPPERS_DDL = "CREATE TABLE Shoppers (ShopperId STRING(36) NOT NULL, Name STRING(100)) PRIMARY KEY (ShopperId)"
_PURCHASES_DDL = """CREATE TABLE Purchases (
  ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL, BoughtAt TIMESTAMP NOT NULL, Status STRING(10) NOT
  NULL, Total NUMERIC, ShipDueAt TIMESTAMP
) PRIMARY KEY """
_ITEMS_DDL = """CREATE TABLE PurchaseItems (
  ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL, ItemNo INT64 NOT NULL, Sku STRING(20), Qty INT64
) PRIMARY KEY """

_SETS: dict[str, tuple[str, tuple[DataTable, ...]]] = {
    "shop": (
        f"""{_SHOPPERS_DDL};
{_PURCHASES_DDL}(ShopperId, PurchaseId), INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE;
{_ITEMS_DDL}(ShopperId, PurchaseId, ItemNo), INTERLEAVE IN PARENT Purchases ON DELETE CASCADE""",
        (_SHOPPERS, _PURCHASES, _ITEMS),
    ),
    "shop_flat": (
        f"{_SHOPPERS_DDL};\n{_PURCHASES_DDL}(PurchaseId);\n{_ITEMS_DDL}(PurchaseId, ItemNo)",
        (_SHOPPERS, _PURCHASES, _ITEMS),
    ),
    "bank": (
        """CREATE TABLE Accounts (AccountId STRING(36) NOT NULL, Owner STRING(100), Balance NUMERIC) PRIMARY KEY
        (AccountId);
CREATE TABLE Movements (
  MovementId STRING(36) NOT NULL, AccountId STRING(36) NOT NULL, PostedAt TIMESTAMP NOT NULL, Amount NUMERIC NOT NULL,
  Text STRING(200), CONSTRAINT MovementOfAccount FOREIGN KEY (AccountId) REFERENCES Accounts (AccountId)
) PRIMARY KEY (MovementId)""",
        (
            DataTable("Accounts", ("AccountId", "Owner", "Balance"), 500, _accounts),
            DataTable("Movements", ("MovementId", "AccountId", "PostedAt", "Amount", "Text"), 100_000, _movements),
        ),
    ),
    "ledger": (
        """CREATE TABLE LedgerEntries (
  EntryId STRING(26) NOT NULL, Amount NUMERIC NOT NULL, PostedAt TIMESTAMP NOT NULL
) PRIMARY KEY (EntryId)""",
        (DataTable("LedgerEntries", ("EntryId", "Amount", "PostedAt"), 30_000, _entries),),
    ),
    "jobs": (
        """CREATE TABLE Jobs (
  JobId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), Kind STRING(20), DueAt TIMESTAMP, DoneAt TIMESTAMP
) PRIMARY KEY (JobId)""",
        (DataTable("Jobs", ("JobId", "Kind", "DueAt", "DoneAt"), 50_000, _jobs),),
    ),
    "probes": (
        """CREATE TABLE Measurements (
  ProbeId STRING(20) NOT NULL, TakenAt TIMESTAMP NOT NULL, Celsius FLOAT64, Battery FLOAT64
) PRIMARY KEY (ProbeId, TakenAt)""",
        (DataTable("Measurements", ("ProbeId", "TakenAt", "Celsius", "Battery"), 96_000, _readings),),
    ),
}


@lru_cache(maxsize=8)
def _columns(data_set: str, table: str, scale: int) -> Columns:
    """All columns of one table of a data set. They are kept, for the same data are loaded again and again."""
    return next(known for known in _SETS[data_set][1] if known.name == table).formula(scale)


class DataSet:
    """One data set: its tables, and how to load them. `ddl` is a schema of its own that fits it."""

    def __init__(self, name: str, scale: int, database: type[Database]) -> None:
        self.name, self.scale = name, scale
        self.ddl, self.tables = _SETS[name]
        self._database = database

    @property
    def schema(self) -> Schema:
        """The schema that the data set comes with."""
        return Schema.from_ddl(self.ddl)

    @property
    def row_counts(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table.name: table.rows * self.scale for table in self.tables}

    def rows(self, table: str) -> Iterator[dict[str, object]]:
        """The rows of one table, one after another, with the columns that the table has of its own."""
        found = self._table(table)
        columns = _columns(self.name, found.name, self.scale)
        for row in zip(*(columns[name] for name in found.columns), strict=True):
            yield dict(zip(found.columns, row, strict=True))

    def _table(self, name: str) -> DataTable:
        names = {table.name.casefold(): table for table in self.tables}
        if name.casefold() not in names:
            known = [table.name for table in self.tables]
            raise ValueError(f"table: {self.name} has no table {name}.{suggest(name, known)} It has {', '.join(known)}")
        return names[name.casefold()]

    def into(self, target: Schema | Database | None = None) -> Database:
        """A database with the data in it: in the tables of `target` that have the same names, by column name.

        `target` is a schema (a new database is made), a database (it is filled and returned) or None (the data set's
        own schema). Columns that the target's table lacks are left out; generated ones are worked out; a NOT NULL
        column that the data set does not know gets values by row number. Rows go in parents first. Raises
        ConstraintError where the target refuses a row.
        """
        database = target if isinstance(target, Database) else self._database(target or self.schema)
        wanted = {table.name.casefold(): table for table in self.tables}
        for stored in database.tables_in_loading_order():
            if (table := wanted.get(stored.name.casefold())) is not None:
                columns = _columns(self.name, table.name, self.scale)
                database.load_columns(stored.name, fitted_columns(stored, columns))
        return database

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in self.row_counts.items())
        return f"<data {self.name}: {rows} rows>"


class DataSets:
    """`sl.data`: call it with the name of a data set; `uuid`, `ulid` and `day` make the keys and times in them."""

    names = tuple(_SETS)
    uuid = staticmethod(uuid)
    ulid = staticmethod(ulid)
    day = staticmethod(day)

    def __init__(self, database: type[Database] = Database) -> None:
        self._database = database

    def __call__(self, name: str, scale: int = 1) -> DataSet:
        """The data set of that name, `scale` times as large (a whole number)."""
        if name not in _SETS:
            raise ValueError(
                f"name: there is no data set {name!r}.{suggest(str(name), _SETS)} There are {', '.join(_SETS)}"
            )
        if not isinstance(scale, int) or isinstance(scale, bool) or scale < 1:
            raise ValueError(f"scale: {scale!r} was given; it is a whole number from 1 on")
        return DataSet(name, scale, self._database)


data: Callable[..., DataSet] = DataSets()
