"""Panel 6A and `shelf`: rows in stored order, and what a family's layout makes of a read, a commit and a delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from math import ceil
from typing import Any

from spanlab.charts import Figure, Scene
from spanlab.charts.shelf import Shelf, Tile, places, shelves
from spanlab.errors import ConstraintError, suggest
from spanlab.panels.controls import Choice, Number
from spanlab.panels.panel import Panel
from spanlab.schema import Schema
from spanlab.storage import Database, participants
from spanlab.storage.refusals import row_name
from spanlab.storage.rows import Entries

MOST_TILES = 400
"""So many rows of a key space are drawn at most."""
SHORT = 3
"""Characters of a key that a label has room for."""
RATIOS = tuple(round(0.1 * step, 1) for step in range(1, 41))

# ------------------------------------------------------------------------------------------- the example of the panel

LAYOUTS = (
    ("IN PARENT, CASCADE", "cascade"),
    ("IN PARENT", "in parent"),
    ("INTERLEAVE IN", "in"),
    ("separate tables", "separate"),
)
CLAUSES = {
    "cascade": "IN PARENT {} ON DELETE CASCADE",
    "in parent": "IN PARENT {}",
    "in": "IN {}",
}
INDEX = "PurchasesByDay"
SEPARATE = """
CREATE TABLE Shoppers (ShopperId STRING(8) NOT NULL) PRIMARY KEY (ShopperId);
CREATE TABLE Purchases (PurchaseId STRING(8) NOT NULL, ShopperId STRING(8) NOT NULL, BoughtOn DATE)
  PRIMARY KEY (PurchaseId);
CREATE TABLE Items (ItemId STRING(8) NOT NULL, PurchaseId STRING(8) NOT NULL, ShopperId STRING(8) NOT NULL)
  PRIMARY KEY (ItemId)"""
TOGETHER = """
CREATE TABLE Shoppers (ShopperId STRING(8) NOT NULL) PRIMARY KEY (ShopperId);
CREATE TABLE Purchases (ShopperId STRING(8) NOT NULL, PurchaseId STRING(8) NOT NULL, BoughtOn DATE)
  PRIMARY KEY (ShopperId, PurchaseId), INTERLEAVE {shoppers};
CREATE TABLE Items (ShopperId STRING(8) NOT NULL, PurchaseId STRING(8) NOT NULL, ItemId STRING(8) NOT NULL)
  PRIMARY KEY (ShopperId, PurchaseId, ItemId), INTERLEAVE {purchases}"""
FIRST_DAY, DAYS = date(2026, 3, 1), 31  # one month: a label has room for the day only, and days must rise in it


def example(layout: str, shoppers: int = 3, purchases: int = 3, items: int = 2, *, index: bool = False) -> Database:
    """Shoppers s1, s2 …, each with so many purchases of so many items, whose ids are in no order; `layout` is a word of
    LAYOUTS."""
    if layout == "separate":
        ddl = SEPARATE
    else:
        clause = CLAUSES[layout]
        ddl = TOGETHER.format(shoppers=clause.format("Shoppers"), purchases=clause.format("Purchases"))
    if index:
        ddl += f"; CREATE INDEX {INDEX} ON Purchases (BoughtOn)"
    database = Database(Schema.from_ddl(ddl))
    people = [f"s{number + 1}" for number in range(shoppers)]
    bought = [(person, number * shoppers + place) for place, person in enumerate(people) for number in range(purchases)]
    days = [FIRST_DAY + timedelta(days=number * 7 % DAYS) for _, number in bought]
    sold = [(person, number, number * items + nth) for person, number in bought for nth in range(items)]
    database.load_columns("Shoppers", {"ShopperId": people})
    ids = [_purchase(number) for _, number in bought]
    database.load_columns("Purchases", {"ShopperId": [p for p, _ in bought], "PurchaseId": ids, "BoughtOn": days})
    columns = {"ShopperId": [p for p, _, _ in sold], "PurchaseId": [_purchase(number) for _, number, _ in sold]}
    database.load_columns("Items", {**columns, "ItemId": [_item(number) for _, _, number in sold]})
    return database


def _purchase(number: int) -> str:
    return f"p{_scattered(number, 97):02d}"


def _item(number: int) -> str:
    return f"{_scattered(number, 199):03d}"


def _scattered(number: int, prime: int) -> int:
    """A number below the prime that looks random; different ones for different numbers, since 5 does not divide the
    prime less 1, so that fifth powers differ."""
    return pow(number + 3, 5, prime)


# ------------------------------------------------------------------------------------------------- rows as a picture

Own = Mapping[str, object]
"""What the rows of the family have in common: column values, such as {"ShopperId": "s2"}."""


def _own_keys(database: Database, name: str, own: Own) -> set[tuple[object, ...]]:
    """The keys of the rows of a table, or the entries of an index, that belong to the family."""
    rows = base = database.stored(name)
    values = rows.values()
    if isinstance(rows, Entries):
        base = rows.base
        values = base.values(rows.base_numbers())
    wanted = {column.casefold(): value for column, value in own.items()}
    places = {
        place: wanted[column.casefold()] for place, column in enumerate(base.columns) if column.casefold() in wanted
    }
    if len(places) < len(wanted):
        return set()
    return {
        tuple(rows.key_values(entry))
        for entry, row in zip(rows.values(), values, strict=True)
        if all(row[place] == value for place, value in places.items())
    }


def shelves_of(database: Database, own: Own, family: str, alone: str = "{}") -> list[Shelf]:
    """The key spaces of a database as shelves, the cuts in them, and the rows that belong to the family.

    `family` is the title of a shelf on which several tables stand, `alone` that of a single table's, with {} for its
    name.
    """
    schema = database.schema
    numbers = {name: number for number, name in enumerate(schema.tables)}
    own_keys = {name: _own_keys(database, name, own) for name in (*schema.tables, *schema.indexes)}
    found = []
    for space in database.splits.key_spaces():
        rows = database.layout(space, MOST_TILES).rows
        tiles = [
            Tile(row_name(name, key), _label(key, numbers.get(name)), numbers.get(name), tuple(key) in own_keys[name])
            for _, name, key, _ in rows
        ]
        cuts = [place for place in range(1, len(rows)) if rows[place][3] != rows[place - 1][3]]
        title = f"index {space}" if space in schema.indexes else alone.format(space)
        found.append(Shelf(family if len({name for _, name, *_ in rows}) > 1 else title, tiles, cuts))
    return found


def _label(key: Sequence[object], table: int | None) -> str:
    part = key[0] if table is None else key[-1]  # a row by its own part of the key, an entry by what the index sorts
    words = str(part.day if isinstance(part, date) else part)
    return words if len(words) <= SHORT else ""


def _draw(shown: list[Shelf], names: Sequence[str], whose: str, heading: str, sentence: str) -> dict[str, Any]:
    cut, full = any(shelf.cuts for shelf in shown), any(len(shelf.tiles) == MOST_TILES for shelf in shown)
    return shelves(
        shown,
        legend=names,
        heading=(heading, f"full colour: {whose}{' · black bars: cuts between splits' * cut}"),
        caption=["Rows in stored order, from left to right. Each table has its colour and its height."]
        + [f"Of a long shelf the first {MOST_TILES} rows."] * full,
        description=f"Rows as tiles on shelves. {heading}. {sentence}",
    )


def shelf(what: str | Database | Sequence[str | Database], of: Own | None = None) -> Scene:
    """How rows are stored, as tiles on shelves: each family of tables is one shelf, each other table and each global
    index another.

    `what` is a database, or the layout of an example (three shoppers, nine purchases, eighteen items): "cascade", "in
    parent" and "in" are interleaved, "separate" is three tables with random ids; or several of these. `of` are column
    values that the rows of a family share, which are drawn in full colour; in the example those of shopper s2.
    """
    several = [what] if isinstance(what, str | Database) else list(what)
    own = dict(of) if of else {"ShopperId": "s2"}
    shown: list[Shelf] = []
    names: list[str] = []
    said = []
    for one in several:
        database = _known_example(one) if isinstance(one, str) else one
        interleaved = any(table.interleave for table in database.schema.tables.values())
        here = shelves_of(database, own, "Interleaved: one shelf for all", "Separate: {}")
        names += [name for name in database.schema.tables if name not in names]
        shown += [replace(one_shelf, name=f"{one_shelf.name} · {_in_places([one_shelf])}") for one_shelf in here]
        said.append(f"{'Interleaved' if interleaved else 'Separate tables'}: {_in_places(here)}.")
    sentence = " ".join(said)
    whose = "the rows with " + ", ".join(f"{column} {value}" for column, value in own.items())
    return Scene(_draw(shown, names, whose, "One family on the shelf", sentence), sentence)


def _in_places(shown: Sequence[Shelf]) -> str:
    """How many rows of the family stand on the shelves, and in how many places."""
    rows = sum(tile.own for one in shown for tile in one.tiles)
    return f"{_many(rows, 'row')} in {_many(sum(map(places, shown)), 'place')}"


def _known_example(layout: str) -> Database:
    known = [word for _, word in LAYOUTS]
    if layout not in known:
        raise ValueError(f"what: {layout!r} is no layout; there are {', '.join(known)}.{suggest(layout, known)}")
    return example(layout)


# -------------------------------------------------------------------------------------------------------- panel 6A


@dataclass(frozen=True)
class Costs:
    """What a layout makes of three operations on one family."""

    shown: tuple[Shelf, ...]
    splits: int
    participants: int
    rows: int
    entries: int
    mutations: int
    left: int


@lru_cache(maxsize=256)
def costs(layout: str, shoppers: int, purchases: int, items: int, ratio: float, index: bool) -> Costs:
    """The example in a layout, cut so that a family is `ratio` splits large, and what it costs there. A delete that is
    refused has 0 mutations."""
    database = example(layout, shoppers, purchases, items, index=index)
    own = {"ShopperId": _chosen(shoppers)}
    keys = [(name, key) for name in database.schema.tables for key in _own_keys(database, name, own)]
    size = sum(database.bytes(name, key) for name, key in keys)
    database.splits.cut_by_size(ceil(size / ratio))
    shown = shelves_of(database, own, "Shoppers, with all that is interleaved in them")
    splits = {database.split_map.number(database.split_map.encoders[name](key)) for name, key in keys}
    written = {"Purchases": 1, "Items": items} if items else {"Purchases": 1}
    try:
        commit = database.commit([("delete", "Shoppers", {"keys": [list(own.values())]})])
    except ConstraintError:
        gone, mutations = {}, 0
    else:
        gone, mutations = commit.rows_written, commit.mutations
    entries = gone.get(INDEX, 0)
    rows = sum(gone.values()) - entries
    taken = participants(database.schema, written)
    return Costs(tuple(shown), len(splits), taken, rows, entries, mutations, len(keys) - rows)


def _chosen(shoppers: int) -> str:
    return f"s{min(2, shoppers)}"


def _many(count: int, what: str) -> str:
    plural = what.removesuffix("y") + "ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def _deleted(seen: Costs, layout: str) -> str:
    if not seen.mutations:
        return "refused while purchases exist"
    entries = f", {_many(seen.entries, 'index entry')}" if seen.entries else ""
    orphans = (" as an orphan" if seen.left == 1 else " as orphans") if layout == "in" else ""
    stay = f"; {_many(seen.left, 'row')} stay{'s' * (seen.left == 1)}{orphans}" if seen.left else ""
    return f"{_many(seen.rows, 'row')}{entries}, {_many(seen.mutations, 'mutation')}{stay}"


def view_family(parameters: Mapping[str, Any], before: Scene | None) -> Scene:
    """The shelves of the example, and a read, a commit and a delete in them."""
    names = ("layout", "shoppers", "purchases", "items", "ratio", "index")
    layout, shoppers, purchases, items, ratio, index = (parameters[name] for name in names)
    seen = costs(layout, shoppers, purchases, items, ratio, index)
    new = f"New purchase with {_many(items, 'item')}" if items else "New purchase"
    sentence = (
        f"Family read: {_many(seen.splits, 'split')}. {new}: {_many(seen.participants, 'participant')}. "
        f"Shopper deleted: {_deleted(seen, layout)}."
    )
    words = {value: said for said, value in LAYOUTS}[layout]
    size = f"{_many(1 + purchases * (1 + items), 'row')} a family, {ratio:g} × the size of a split"
    heading = f"{words[0].upper()}{words[1:]} · {size}"
    whose = f"the family of shopper {_chosen(shoppers)}"
    chart = _draw(list(seen.shown), ("Shoppers", "Purchases", "Items"), whose, heading, sentence)
    mutations = str(seen.mutations) if seen.mutations else "none, refused"
    besides = (
        Figure("splits of a read", seen.splits, str(seen.splits)),
        Figure("mutations of a delete", seen.mutations, mutations),
        Figure("rows that go", seen.rows, str(seen.rows)),
    )
    taken = Figure("participants", seen.participants, str(seen.participants))
    return Scene(chart, sentence, taken, besides=besides)


def family_shelf() -> Panel:
    """Panel 6A of lesson 6."""
    controls = (
        Choice("layout", "Layout", LAYOUTS, "cascade"),
        Number("shoppers", "Shoppers", tuple(range(1, 7)), 3),
        Number("purchases", "Purchases of each", tuple(range(9)), 3),
        Number("items", "Items of each", tuple(range(5)), 2),
        Number("ratio", "Family size in splits", RATIOS, 0.1),
        Choice("index", "Global index on Purchases", (("no", False), ("yes", True)), False),
    )
    return Panel("6A · Shelf", controls, view_family)
