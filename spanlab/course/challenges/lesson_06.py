"""Lesson 6, Families on one shelf: its prediction and its five challenges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from spanlab.catalog import Column, Interleave, Table
from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, committed, kept
from spanlab.course.kinds import Choice, Fields, OneOf, Ordering, ddl
from spanlab.errors import ConstraintError, SchemaError, SpanlabError

if TYPE_CHECKING:
    from spanlab.query import Database
    from spanlab.schema import Schema

TITLE = "Families on one shelf"
_TOPIC = "Storing data: interleaving, foreign keys and ON DELETE"

parent_goes = Challenge(
    id="6.P1",
    title="A parent is deleted",
    points=0,
    kind=Choice("abc"),
    hints=("Nothing was said about deleting. Which of the three could do harm that nobody asked for?",),
    note="b: the delete is refused. ON DELETE NO ACTION is what holds where nothing was written.",
    topic=_TOPIC,
)

# -------------------------------------------------------------------------------------------------- 6.1 Shelf order

_ON_THE_SHELF = (
    "Artists(1)", "Albums(1,2)", "Tracks(1,2,7)", "Albums(1,9)", "Artists(2)", "Albums(2,1)", "Tracks(2,1,1)",
)  # fmt: skip
_AS_GIVEN = (
    "Tracks(2,1,1)", "Artists(2)", "Albums(1,9)", "Artists(1)", "Albums(2,1)", "Albums(1,2)", "Tracks(1,2,7)",
)  # fmt: skip


_ALBUMS_OF_1 = ("Albums(1,2)", "Albums(1,9)")
_PARENTS = (
    ("Artists(1)", "Albums(1,2)"),
    ("Artists(1)", "Albums(1,9)"),
    ("Albums(1,2)", "Tracks(1,2,7)"),
    ("Artists(2)", "Albums(2,1)"),
    ("Albums(2,1)", "Tracks(2,1,1)"),
)


def _keys(row: str) -> tuple[str, ...]:
    """The key in a row's name: Albums(1,9) -> ("1", "9")."""
    return tuple(row[row.index("(") + 1 : -1].split(","))


def _before(answer: Sequence[str], first: str, second: str) -> bool:
    return answer.index(first) < answer.index(second)


def _outside_its_family(answer: Sequence[str]) -> list[str]:
    """The rows that stand before their parent, or with another artist between them and their own."""
    strays = []
    for place, row in enumerate(answer):
        parent = next((other for other in answer if _keys(other) == _keys(row)[:-1]), None)
        if parent is None:
            continue
        roots = [other for other in answer[:place] if len(_keys(other)) == 1]
        if not _before(answer, parent, row) or not roots or _keys(roots[-1]) != _keys(row)[:1]:
            strays.append(row)
    return strays


def _families_together(answer: Sequence[str]) -> Outcome:
    strays = _outside_its_family(answer)
    return Outcome(float(not strays), f"outside its family: {strays[0]}" if strays else "no row is outside its family")


def _exact(answer: Sequence[str]) -> Outcome:
    right = sum(one == other for one, other in zip(answer, _ON_THE_SHELF, strict=True))
    return Outcome(float(right == len(_ON_THE_SHELF)), f"{right} of {len(_ON_THE_SHELF)} stand in their place")


def _grouped(answer: Sequence[str]) -> bool:
    """Whether each table's rows stand together."""
    tables = [row.partition("(")[0] for row in answer]
    return sum(one != other for one, other in pairwise(tables)) == 2


shelf_order = Challenge(
    id="6.1",
    title="Shelf order",
    points=1,
    kind=Ordering(_AS_GIVEN),
    criteria=(
        Criterion(70, "the seven rows in stored order", _exact),
        Criterion(30, "each row comes after its parent and before the next artist", _families_together),
    ),
    wrong=(
        WrongAnswer(
            ["Artists(1)", "Artists(2)", "Albums(1,2)", "Albums(1,9)", "Albums(2,1)", "Tracks(1,2,7)", "Tracks(2,1,1)"],
            "Those are three separate tables, one after the other. A family is stored depth first: a row, then all "
            "that stands under it, then the next row.",
            _grouped,
        ),
        WrongAnswer(
            ["Artists(1)", "Albums(1,2)", "Albums(1,9)", "Tracks(1,2,7)", "Artists(2)", "Albums(2,1)", "Tracks(2,1,1)"],
            "The track belongs to album (1,2), so it comes before album (1,9).",
            lambda a: not _grouped(a) and _before(a, "Albums(1,9)", "Tracks(1,2,7)") and _before(a, *_ALBUMS_OF_1),
        ),
        WrongAnswer(
            ["Artists(1)", "Albums(1,2)", "Tracks(1,2,7)", "Artists(2)", "Albums(1,9)", "Albums(2,1)", "Tracks(2,1,1)"],
            "Finish artist 1 first: album (1,9) is hers, and artist 2 comes after it.",
            lambda a: (
                not _grouped(a) and _before(a, "Artists(1)", "Artists(2)") and _before(a, "Artists(2)", "Albums(1,9)")
            ),
        ),
        WrongAnswer(
            ["Artists(1)", "Albums(1,9)", "Albums(1,2)", "Tracks(1,2,7)", "Artists(2)", "Albums(2,1)", "Tracks(2,1,1)"],
            "Under one artist the albums stand in the order of their own key: 2 comes before 9.",
            lambda a: not _grouped(a) and not _before(a, *_ALBUMS_OF_1),
        ),
        WrongAnswer(
            ["Tracks(1,2,7)", "Albums(1,2)", "Albums(1,9)", "Artists(1)", "Tracks(2,1,1)", "Albums(2,1)", "Artists(2)"],
            "The shorter key comes first: a parent stands before its children, (1), then (1,2), then (1,2,7).",
            lambda a: not _grouped(a) and not all(_before(a, *pair) for pair in _PARENTS),
        ),
        WrongAnswer(
            ["Artists(2)", "Albums(2,1)", "Tracks(2,1,1)", "Artists(1)", "Albums(1,2)", "Tracks(1,2,7)", "Albums(1,9)"],
            "Each family is right, but artist 1 comes before artist 2.",
            lambda a: not _outside_its_family(a) and not _before(a, "Artists(1)", "Artists(2)"),
        ),
    ),
    hints=(
        "Look at the tiles of the first picture. What stands between the first tall one and the second?",
        "A row is followed by all that stands under it: inside an album, its tracks come at once.",
        "Write only the keys and sort them as words in a dictionary: 1 · 1,2 · 1,2,7 · 1,9 · 2 · …",
    ),
    note="This order is why an artist with everything is one range: one place to go to, one read.",
    topic=_TOPIC,
)

# --------------------------------------------------------------------------------------- 6.2 Shopper and purchases

_SHOPPERS = "CREATE TABLE Shoppers (ShopperId STRING(36) NOT NULL) PRIMARY KEY (ShopperId)"
_OF_ONE = (
    "SELECT s.ShopperId AS Shopper, p.* FROM Shoppers AS s LEFT JOIN Purchases AS p ON p.ShopperId = s.ShopperId "
    "WHERE s.ShopperId = @s"
)
_SHOPPER_COUNT, _GROUPS_OF_TOTALS = 30, 6


def _written_tables(text: str) -> dict[str, Table]:
    """The tables that DDL creates, as written, by name in small letters. SchemaError where it does not parse."""
    from spanlab.sql import parse_ddl
    from spanlab.sql.statements import CreateTable

    return {one.table.name.casefold(): one.table for one in parse_ddl(text) if isinstance(one, CreateTable)}


def _given(written: Mapping[str, Table], name: str, text: str) -> str:
    """DDL that is given with the exercise, "" where the answer repeats it as it is."""
    return "" if written.get(name) == _written_tables(text)[name] else text


def _made(column: Column | None) -> bool:
    """Whether the database itself fills a column of a new row."""
    return column is not None and column.filled_when_left_out


class Purchases:
    """An answer to 6.2: the table as it was written, and what the database makes of it.

    `design` raises SchemaError where Spanner refuses the design; DDL that does not parse, or has no table Purchases,
    raises it at once.
    """

    def __init__(self, answer: str, seed: int) -> None:
        written = _written_tables(answer)
        if "purchases" not in written:
            raise SchemaError("There is no CREATE TABLE Purchases in the answer.", hint="CREATE TABLE Purchases (…)")
        self.answer, self.seed, self._written = answer, seed, written
        self.of_one = 20 if seed == 0 else 12 + seed % 7
        self.params = {"s": _shopper(7 + seed % 20)}

    @cached_property
    def design(self) -> Design:
        design = Design(
            self.answer,
            "Purchases",
            given=_given(self._written, "shoppers", _SHOPPERS),
            writes_per_second=12_000,
            values={"ShopperId": "ids(100000)", "Total": "const(10)", **self._from_outside()},
            nodes=10,
            seed=self.seed,
            rows=lambda schema: _shelf(schema, self.of_one),
            params=self.params,
        )
        if self._has_a_default_of_its_own(design):
            design.values["PurchaseId"] = "uuid4"
        return design

    @cached_property
    def refusal(self) -> SchemaError | None:
        """What Spanner says where it refuses the design."""
        try:
            _ = self.design
        except SchemaError as error:
            return error
        return None

    @property
    def table(self) -> Table:
        """Purchases as it is in the end; as it was written where Spanner refuses it."""
        return self._written["purchases"] if self.refusal else self.design.table

    @cached_property
    def schema(self) -> Schema:
        """The schema in the end. Where Spanner refuses the family, that of Purchases standing alone, so that what is
        right in its columns counts all the same; SchemaError where that is refused too."""
        from spanlab.schema import Schema
        from spanlab.sql import parse_ddl
        from spanlab.sql.statements import CreateTable

        if not self.refusal:
            return self.design.schema
        alone = [
            replace(one, table=replace(one.table, interleave=None))
            if isinstance(one, CreateTable) and one.table.name.casefold() == "purchases"
            else one
            for one in parse_ddl(self.answer)
        ]
        try:
            return Schema.from_ddl(_given(self._written, "shoppers", _SHOPPERS)).apply(alone)
        except SchemaError:
            raise self.refusal from None

    @property
    def key(self) -> list[str]:
        return [part.column.casefold() for part in self.table.key]

    @property
    def interleave(self) -> Interleave | None:
        return self.table.interleave

    @property
    def referring(self) -> bool:
        return any(key.referenced_table.casefold() == "shoppers" for key in self.table.foreign_keys)

    @property
    def goes_along(self) -> bool:
        """Whether a foreign key takes the purchases along when their shopper goes."""
        return any(
            key.on_delete == "CASCADE" and key.referenced_table.casefold() == "shoppers"
            for key in self.table.foreign_keys
        )

    def _from_outside(self) -> dict[str, str]:
        """What an application would put into key columns that nobody fills: the time, a counter, a random id."""
        table = self._written["purchases"]
        words = {"TIMESTAMP": "now", "DATE": "date(now)", "INT64": "seq"}
        open_ = [table.column(part.column) for part in table.key]
        return {
            column.name: words.get(column.type.name, "uuid4")
            for column in open_
            if column and column.name.casefold() != "shopperid" and not _made(column) and not column.generated
        }

    def _has_a_default_of_its_own(self, design: Design) -> bool:
        """Whether a DEFAULT that the simulator cannot follow gives two purchases different ids all the same."""
        try:
            _ = design.summary
        except ValueError:
            try:
                return _made(design.table.column("PurchaseId")) and len(set(self.two_ids_in(design.schema))) == 2
            except ConstraintError:
                return False
        return False

    @cached_property
    def after_delete(self) -> int:
        """How many purchases of the shopper are left when the shopper is deleted. ConstraintError where it may not."""
        database = _filled(self.design.schema, self.of_one)
        database.commit([("delete", "Shoppers", {"keys": [[self.params["s"]]]})])
        return sum(row["ShopperId"] == self.params["s"] for row in database.rows(self.table.name))

    def two_ids_in(self, schema: Schema) -> list[object]:
        """The PurchaseIds of two purchases, of two shoppers, that come in without one in one commit."""
        database = _loaded(schema, {})
        stored = database.stored_table("Purchases")
        columns = _fitted(stored, {"ShopperId": [_shopper(0), _shopper(1)], "Total": [Decimal(10), Decimal(11)]})
        named = {name: values for name, values in columns.items() if name.casefold() != "purchaseid"}
        database.commit(
            [("insert", stored.name, list(named), [list(row) for row in zip(*named.values(), strict=True)])]
        )
        place = stored.position("PurchaseId")
        return [row[place] for row in stored.rows.values()]


def _filled(schema: Schema, of_one: int) -> Database:
    """Thirty shoppers, and so many purchases of each, of which the DDL must make the ids."""
    rows = of_one * _SHOPPER_COUNT
    columns: dict[str, Sequence[object]] = {
        "ShopperId": [_shopper(number % _SHOPPER_COUNT) for number in range(rows)],
        "Total": [Decimal(10 + number // _SHOPPER_COUNT % _GROUPS_OF_TOTALS) for number in range(rows)],
    }
    return _loaded(schema, {"purchases": columns})


_shelf = kept(_filled)


@cache
def _shopper(number: int) -> str:
    from spanlab.query import data

    return str(data.uuid(number))


def _fitted(stored: Any, columns: Mapping[str, Sequence[object]]) -> dict[str, Sequence[object]]:
    from spanlab.storage.fitting import fitted_columns

    return fitted_columns(stored, columns)


def _loaded(schema: Schema, more: Mapping[str, Mapping[str, Sequence[object]]]) -> Database:
    """A database with thirty shoppers, and with what `more` has for other tables, by name in small letters."""
    from spanlab.query import Database

    database = Database(schema)
    shoppers: Sequence[object] = [_shopper(number) for number in range(_SHOPPER_COUNT)]
    columns = dict(more)
    columns["shoppers"] = {"ShopperId": shoppers}
    for stored in database.tables_in_loading_order():
        if (found := columns.get(stored.name.casefold())) is not None:
            database.load_columns(stored.name, _fitted(stored, found))
    return database


def _read_together(answer: Purchases) -> Outcome:
    plan = answer.design.ask(_OF_ONE).plan
    read, hops = plan.scanned + plan.back_joins, plan.distributed_levels
    few = plan.returned == answer.of_one and read <= 1 + answer.of_one
    seen = f"it reads {read:,} rows in {hops} distributed level{'s' * (hops != 1)}"
    return Outcome(1.0 if few and hops == 1 else 0.5 if few else 0.0, seen)


def _all_gone(answer: Purchases) -> Outcome:
    try:
        left = answer.after_delete
    except ConstraintError as error:
        return Outcome(0.0, _refused(error))
    return Outcome(float(left == 0), f"{left} are left" if left else "none is left")


def _refused(error: ConstraintError) -> str:
    """Why nothing is deleted: a rule forbids it, or the rows did not even come in."""
    if error.code == "ALREADY_EXISTS":
        return "rows with equal keys are refused before that"
    return f"the delete is refused ({error.code})"


def _id_is_made(answer: Purchases) -> Outcome:
    column = answer.schema.table("Purchases").column("PurchaseId")
    if not _made(column):
        return Outcome(0.0, "there is no PurchaseId" if column is None else "the DDL does not say who fills it")
    first, second = answer.two_ids_in(answer.schema)
    return Outcome(float(first != second), "each purchase gets its own" if first != second else f"two got {first!r}")


def _purchase_columns(answer: Purchases) -> Outcome:
    table = answer.schema.table("Purchases")
    for name, types in (("ShopperId", ("STRING",)), ("PurchaseId", ()), ("Total", ("NUMERIC",))):
        column = table.column(name)
        if column is None:
            return Outcome(0.0, f"{name} is missing")
        if types and column.type.name not in types:
            return Outcome(0.0, f"{name} is {column.type}, not {types[0]}")
    return Outcome(1.0, "all are there")


def _of_design(criterion: Criterion) -> Criterion:
    """The criterion of a design, measured on the design in the answer."""
    return Criterion(criterion.weight, criterion.wanted, lambda answer: criterion.measure(answer.design))


def _in_parent(answer: Purchases) -> bool:
    return answer.interleave is not None and answer.interleave.in_parent


def _alone(answer: Purchases) -> bool:
    """Whether Spanner takes the table, and it is interleaved in nothing."""
    return not answer.refusal and answer.interleave is None


_COLUMNS = "ShopperId STRING(36) NOT NULL, PurchaseId STRING(36) NOT NULL DEFAULT (GENERATE_UUID()), Total NUMERIC"
_CASCADE = ", INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE"
_KEY_OUT = ", FOREIGN KEY (ShopperId) REFERENCES Shoppers (ShopperId)"


def _purchases(key: str, behind: str = _CASCADE, columns: str = _COLUMNS) -> str:
    return f"CREATE TABLE Purchases ({columns}) PRIMARY KEY ({key}){behind}"


_BOTH = "ShopperId, PurchaseId"

shopper_and_purchases = Challenge(
    id="6.2",
    title="Shopper and purchases",
    points=3,
    kind=ddl(),
    look=Purchases,
    criteria=(
        Criterion(30, "a shopper with n purchases: 1 + n rows are read, in one distributed level", _read_together),
        Criterion(25, "when the shopper is deleted, no purchase is left", _all_gone),
        _of_design(committed(20, 11_700)),
        Criterion(15, "the database makes PurchaseId, for each purchase its own", _id_is_made),
        Criterion(10, "ShopperId, PurchaseId and Total (NUMERIC) are there", _purchase_columns),
    ),
    wrong=(
        WrongAnswer(
            _purchases("PurchaseId"),
            "Refused: the child's key must begin with the parent's key, a column of the same name: ShopperId. "
            "PurchaseId comes behind it.",
            lambda a: bool(a.refusal) and a.interleave is not None and "shopperid" not in a.key,
        ),
        WrongAnswer(
            _purchases("PurchaseId, ShopperId"),
            "Refused: ShopperId does not stand first. The child's key begins with the parent's, its own columns "
            "follow.",
            lambda a: bool(a.refusal) and a.interleave is not None and "shopperid" in a.key[1:],
        ),
        WrongAnswer(
            _purchases(_BOTH, columns=_COLUMNS.replace("STRING(36)", "STRING(40)", 1)),
            "Refused: the shared column must be the same in both tables, in type, length, NOT NULL and direction: here "
            "ShopperId STRING(36) NOT NULL, ascending.",
            lambda a: bool(a.refusal) and a.key[:1] == ["shopperid"] and not _same_shopper_id(a),
        ),
        WrongAnswer(
            _purchases(_BOTH, ", INTERLEAVE IN PARENT Shoppers"),
            "They are neighbours. But nothing is said about deleting, and then NO ACTION holds: the delete is refused "
            "while purchases exist. Add ON DELETE CASCADE.",
            lambda a: not a.refusal and _in_parent(a) and a.interleave.on_delete != "CASCADE" and not a.referring,
        ),
        WrongAnswer(
            _purchases(_BOTH, ", INTERLEAVE IN Shoppers"),
            "INTERLEAVE IN puts them near, but knows no parent rule: the purchases survive the shopper, as orphans. It "
            "takes IN PARENT.",
            lambda a: a.interleave is not None and not a.interleave.in_parent,
        ),
        WrongAnswer(
            _purchases(_BOTH, "", _COLUMNS + _KEY_OUT + " ON DELETE CASCADE"),
            "A foreign key moves no rows. The purchases go with the shopper, but they are a table of their own "
            "somewhere else: two distributed levels.",
            lambda a: _alone(a) and a.goes_along and a.key[:1] == ["shopperid"],
        ),
        WrongAnswer(
            _purchases(_BOTH, "", _COLUMNS + _KEY_OUT),
            "A foreign key moves no rows, so there are two distributed levels. And without ON DELETE CASCADE it takes "
            "no purchase along either.",
            lambda a: _alone(a) and a.referring and not a.goes_along and a.key[:1] == ["shopperid"],
        ),
        WrongAnswer(
            _purchases("PurchaseId", "", _COLUMNS + _KEY_OUT + " ON DELETE CASCADE"),
            "A foreign key ties rows together and moves none: led by PurchaseId, one shopper's purchases lie all over "
            "the table.",
            lambda a: _alone(a) and a.referring and a.key[:1] != ["shopperid"],
        ),
        WrongAnswer(
            _purchases(_BOTH, ""),
            "The key begins right, so a shopper's purchases lie together; but not with the shopper, and nothing ties "
            "them to her. A clause behind the key is missing: INTERLEAVE IN PARENT.",
            lambda a: _alone(a) and not a.referring and a.key[:1] == ["shopperid"],
        ),
        WrongAnswer(
            _purchases("PurchaseId", ""),
            "Led by PurchaseId, one shopper's purchases lie all over the table: without an index all of it is read, "
            "with one each row is fetched. The shopper must come first in the key.",
            lambda a: _alone(a) and not a.referring and a.key[:1] != ["shopperid"],
        ),
        WrongAnswer(
            _purchases("ShopperId"),
            "Without PurchaseId in the key, a second purchase has the key of the first and is refused. It belongs "
            "there, behind ShopperId.",
            lambda a: not a.refusal and "purchaseid" not in a.key and _collides(a),
        ),
        WrongAnswer(
            _purchases(_BOTH, columns=_COLUMNS.replace(" DEFAULT (GENERATE_UUID())", "")),
            "Nobody makes PurchaseId: give the column a DEFAULT, such as (GENERATE_UUID()), or make it an IDENTITY.",
            lambda a: a.table.column("PurchaseId") is not None and not _made(a.table.column("PurchaseId")),
        ),
        WrongAnswer(
            _purchases(_BOTH, columns=_COLUMNS.replace("GENERATE_UUID()", "'new'")),
            "That DEFAULT gives the purchases of one commit the same id, and the second of a shopper is refused. Each "
            "needs its own: GENERATE_UUID(), NEW_UUID(), or a sequence.",
            lambda a: not a.refusal and _made(a.table.column("PurchaseId")) and "purchaseid" in a.key and _collides(a),
        ),
        WrongAnswer(
            _purchases(_BOTH, columns=_COLUMNS.replace("Total NUMERIC", "Total FLOAT64")),
            "Total is asked for, as NUMERIC: it is money, and NUMERIC keeps cents exactly.",
            lambda a: (total := a.table.column("Total")) is None or total.type.name != "NUMERIC",
        ),
        WrongAnswer(
            _purchases(_BOTH, columns=_COLUMNS + _KEY_OUT),
            "Right. The foreign key is one rule too many: IN PARENT checks the same, and the key brings an index of "
            "its own that each purchase must be written to.",
            lambda a: not a.refusal and _in_parent(a) and a.interleave.on_delete == "CASCADE" and a.referring,
            full=True,
        ),
    ),
    hints=(
        "In the picture of one shelf, a purchase's key begins with what? Which column must come first?",
        "Neighbours and delete together: one clause behind the PRIMARY KEY says both.",
        "PRIMARY KEY (ShopperId, …), INTERLEAVE IN PARENT Shoppers ON DELETE …; and PurchaseId has a DEFAULT.",
    ),
    note="The shared column needs the same name, type, length and NOT NULL: STRING(40), or a nullable ShopperId, would "
    "be refused. What it costs: a purchase can be found by its PurchaseId alone only with an index.",
    topic=_TOPIC,
)


def _same_shopper_id(answer: Purchases) -> bool:
    column = answer.table.column("ShopperId")
    ascending = not answer.table.key[0].desc
    return column is not None and str(column.type) == "STRING(36)" and column.not_null and ascending


def _collides(answer: Purchases) -> bool:
    """Whether some row of thirty shoppers' purchases is refused as a key that is there already."""
    try:
        _ = answer.design.database
    except ConstraintError as error:
        return error.code == "ALREADY_EXISTS"
    return False


# ------------------------------------------------------------------------------- 6.3 What decides whether it is safe?

what_decides = Challenge(
    id="6.3",
    title="What decides whether it is safe?",
    points=1,
    kind=Choice("ABCD"),
    criteria=(Criterion(100, "the physical consideration", lambda a: Outcome(float(a == "B"), f"you say {a}")),),
    wrong=(
        WrongAnswer(
            "C",
            "C is the sentence that many guides print. The documented behaviour is a cut, not an error: past the size "
            "of a split nothing fails.",
        ),
        WrongAnswer("A", "A: there is no such limit. Twenty purchases or twenty million are both allowed."),
        WrongAnswer("D", "D: it can have indexes, global ones and ones that are interleaved in the family itself."),
    ),
    hints=(
        "Look at the giant above, and at the panel with 2.5 splits: what does Spanner do when a split grows too big?",
        "Nothing fails. What is lost is the reason why the family was put together.",
        "Think of a family read that visits several splits.",
    ),
    note="Where an exam says “the family must stay under the size limit”, it means B.",
    topic=_TOPIC,
)

# ---------------------------------------------------------------------------------------------- 6.4 Repair the family

_CUSTOMERS = "CREATE TABLE Customers (CustomerId STRING(36) NOT NULL) PRIMARY KEY (CustomerId)"
_COLUMNS_OF = {
    "customers": {"customerid"},
    "orders": {"customerid", "orderno"},
    "lines": {"customerid", "orderno", "lineno"},
}


class Repaired:
    """An answer to 6.4: Orders and Lines as they were written, and the schema, or why Spanner refuses it.

    Raises SchemaError where the DDL does not parse, or has neither table.
    """

    def __init__(self, answer: str, seed: int) -> None:
        from spanlab.schema import Schema

        self.written = _written_tables(answer)
        if not self.written.keys() & {"orders", "lines"}:
            raise SchemaError(
                "The answer creates neither Orders nor Lines.", hint="hand in both CREATE TABLE statements"
            )
        self.schema: Schema | None = None
        self.refusal: SchemaError | None = None
        try:
            self.schema = Schema.from_ddl(_given(self.written, "customers", _CUSTOMERS)).apply(answer)
        except SchemaError as error:
            self.refusal = error

    def table(self, name: str) -> Table | None:
        """A table as it is in the end; as it was written where Spanner refuses the schema."""
        tables = self.written if self.schema is None else {n.casefold(): t for n, t in self.schema.tables.items()}
        return tables.get(name)

    def key(self, name: str) -> list[str]:
        table = self.table(name)
        return [part.column.casefold() for part in table.key] if table else []

    def parent(self, name: str) -> str:
        """The table that it is interleaved in, IN PARENT or IN; "" where there is none."""
        table = self.table(name)
        return table.interleave.table.casefold() if table and table.interleave else ""

    def in_parent(self, name: str) -> bool:
        table = self.table(name)
        return bool(table and table.interleave and table.interleave.in_parent)

    def cascades(self, name: str) -> bool:
        table = self.table(name)
        return bool(table and table.interleave and table.interleave.on_delete == "CASCADE")

    @cached_property
    def left(self) -> dict[str, int]:
        """Rows that are left of two orders with two lines each, when their customer is deleted. ConstraintError where
        that is refused."""
        from spanlab.query import Database

        if self.schema is None or not self.written.keys() >= {"orders", "lines"}:
            raise self.refusal or SpanlabError("Nothing can be deleted before Orders and Lines are both there.")
        database = Database(self.schema)
        rows = [("c", order, line) for order in (1, 2) for line in (1, 2)]
        names = ("CustomerId", "OrderNo", "LineNo")
        for name, width, count in (("customers", 1, 1), ("orders", 2, 2), ("lines", 3, 4)):
            wanted = list(dict.fromkeys(row[:width] for row in rows))
            columns = {column: [row[place] for row in wanted] for place, column in enumerate(names[:width])}
            stored = database.stored_table(name)
            database.load_columns(stored.name, _fitted(stored, columns))
            assert len(stored.rows) == count
        database.commit([("delete", "Customers", {"keys": [["c"]]})])
        return {name: len(database.stored(name)) for name in _COLUMNS_OF}


def _is_a_family(answer: Repaired) -> Outcome:
    if answer.refusal is not None:
        return Outcome(0.0, f"Spanner refuses it: {answer.refusal.message}")
    for name, parent in (("orders", "customers"), ("lines", "orders")):
        table = answer.table(name)
        if table is None:
            return Outcome(0.0, f"{name.capitalize()} is missing")
        if answer.parent(name) != parent or not answer.in_parent(name):
            return Outcome(0.0, f"{table.name} is not interleaved IN PARENT {parent.capitalize()}")
        new = [column.name for column in table.columns if column.name.casefold() not in _COLUMNS_OF[name]]
        if new:
            return Outcome(0.0, f"{table.name} has a new column, {new[0]}")
    return Outcome(1.0, "it is one")


def _key_in_words(answer: Repaired, name: str) -> str:
    table = answer.table(name)
    return f"it is ({', '.join(part.column for part in table.key)})" if table else f"{name.capitalize()} is missing"


def _orders_key(answer: Repaired) -> Outcome:
    return Outcome(float(answer.key("orders") == ["customerid", "orderno"]), _key_in_words(answer, "orders"))


def _changed(answer: Repaired) -> str:
    """The first column of Lines that is not as the family has it, with its type; "" where all are."""
    table = answer.table("lines")
    for name, type_ in (("CustomerId", "STRING(36)"), ("OrderNo", "INT64"), ("LineNo", "INT64")):
        column = table.column(name) if table else None
        if column is None:
            return f"{name} missing" if table else ""
        if str(column.type) != type_ or not column.not_null:
            return f"{name} {column.type}{'' if column.not_null else ', nullable'}"
    return ""


def _lines_key(answer: Repaired) -> Outcome:
    key, changed = answer.key("lines"), _changed(answer)
    share = ((key == ["customerid", "orderno", "lineno"]) + (not changed)) / 2
    return Outcome(share if key else 0.0, _key_in_words(answer, "lines") + (f", with {changed}" if changed else ""))


def _cascades(answer: Repaired) -> Outcome:
    try:
        left = answer.left
    except ConstraintError as error:
        return Outcome(0.0, _refused(error))
    rows = sum(left.values())
    return Outcome(float(rows == 0), f"{rows} rows are left" if rows else "all rows are gone")


def _orders(key: str = "CustomerId, OrderNo", behind: str = " ON DELETE CASCADE") -> str:
    return (
        f"CREATE TABLE Orders (CustomerId STRING(36) NOT NULL, OrderNo INT64 NOT NULL) PRIMARY KEY ({key}), INTERLEAVE "
        f"IN PARENT Customers{behind}; "
    )


def _lines(
    key: str = "CustomerId, OrderNo, LineNo", behind: str = "PARENT Orders ON DELETE CASCADE", length: int = 36
) -> str:
    return (
        f"CREATE TABLE Lines (CustomerId STRING({length}) NOT NULL, OrderNo INT64 NOT NULL, LineNo INT64 NOT NULL) "
        f"PRIMARY KEY ({key}), INTERLEAVE IN {behind}"
    )


repair = Challenge(
    id="6.4",
    title="Repair the family",
    points=2,
    kind=ddl(),
    look=Repaired,
    criteria=(
        Criterion(30, "Spanner takes it as a family: Orders in Customers, Lines in Orders", _is_a_family),
        Criterion(30, "the key of Orders is that of Customers, and OrderNo", _orders_key),
        Criterion(30, "the key of Lines is that of Orders, and LineNo; shared columns are the same", _lines_key),
        Criterion(10, "a customer's delete goes through all levels", _cascades),
    ),
    wrong=(
        WrongAnswer(
            _orders("OrderNo, CustomerId") + _lines(),
            "Orders: the parent's key comes first. CustomerId stands second, and the message names the place.",
            lambda a: a.key("orders")[1:] == ["customerid"],
        ),
        WrongAnswer(
            _orders() + _lines("CustomerId, LineNo"),
            "Lines: a grandchild carries the whole key of its parent, and OrderNo is missing in it.",
            lambda a: "orderno" not in a.key("lines") and a.parent("lines") == "orders" and bool(a.key("lines")),
        ),
        WrongAnswer(
            _orders() + _lines(length=40),
            "Lines: shared key columns have the same type, length and NOT NULL. CustomerId is STRING(36) NOT NULL in "
            "the whole family, OrderNo INT64 NOT NULL.",
            lambda a: bool(_changed(a)),
        ),
        WrongAnswer(
            _orders() + _lines("CustomerId, LineNo", "PARENT Customers ON DELETE CASCADE"),
            "Lines in Customers: that is allowed, but then the lines do not stand by their order, and nobody checks "
            "that the order exists.",
            lambda a: a.parent("lines") == "customers",
        ),
        WrongAnswer(
            _orders() + _lines("CustomerId, LineNo, OrderNo"),
            "Lines: all columns, wrong order. The whole key of the order comes first, LineNo last.",
            lambda a: (
                set(a.key("lines")) == _COLUMNS_OF["lines"] and a.key("lines") != ["customerid", "orderno", "lineno"]
            ),
        ),
        WrongAnswer(
            _orders() + _lines("CustomerId, OrderNo"),
            "Lines: without LineNo in the key an order has room for one line.",
            lambda a: a.key("lines") == ["customerid", "orderno"],
        ),
        WrongAnswer(
            _orders("CustomerId") + _lines("CustomerId, LineNo"),
            "Orders: with CustomerId alone a customer has room for one order. Keys grow: 1, 2, 3 columns.",
            lambda a: a.key("orders") == ["customerid"],
        ),
        WrongAnswer(
            _orders(behind="") + _lines(),
            "The delete stops at Orders: nothing is said there, so NO ACTION holds, and a customer with orders stays.",
            lambda a: a.schema is not None and a.in_parent("orders") and not a.cascades("orders"),
        ),
        WrongAnswer(
            _orders() + _lines(behind="PARENT Orders"),
            "The delete stops at Lines: an order with lines may not go, so its customer may not either. Each level "
            "needs its own ON DELETE CASCADE.",
            lambda a: a.schema is not None and a.in_parent("lines") and not a.cascades("lines"),
        ),
        WrongAnswer(
            _orders() + _lines(behind="Orders"),
            "INTERLEAVE IN without PARENT: near, but without the rule. The lines would survive their order.",
            lambda a: any(a.parent(name) and not a.in_parent(name) for name in ("orders", "lines")),
        ),
        WrongAnswer(
            _orders().replace(", INTERLEAVE IN PARENT Customers ON DELETE CASCADE", "") + _lines(),
            "Without the INTERLEAVE clause a table stands on a shelf of its own, and no delete reaches it. Keep the "
            "clause and repair the key before it.",
            lambda a: any(a.table(name) and not a.parent(name) for name in ("orders", "lines")),
        ),
        WrongAnswer(
            "CREATE TABLE Customers (CustomerId STRING(40) NOT NULL) PRIMARY KEY (CustomerId); " + _orders() + _lines(),
            "Customers is given as it is, with STRING(36). Repair the other two.",
            lambda a: "customers" in a.written and a.written["customers"] != _written_tables(_CUSTOMERS)["customers"],
        ),
        WrongAnswer(
            _lines() + "; " + _orders(),
            "Statements run in their order: a parent is created before its children.",
            lambda a: list(a.written)[:2] == ["lines", "orders"] and a.schema is None,
        ),
        WrongAnswer(
            _orders() + _lines().replace("LineNo INT64 NOT NULL)", "LineNo INT64 NOT NULL, LineId STRING(36)) "),
            "No new columns: the ones that are there make all three keys.",
            lambda a: "has a new column" in _is_a_family(a).seen,
        ),
    ),
    hints=(
        "Hand the tables in as they are and read the message: it names the first column that is wrong.",
        "Three things are wrong in the keys: one in Orders, two in Lines. And what holds where no ON DELETE is said?",
        "Keys grow by one column a level: CustomerId · CustomerId, OrderNo · CustomerId, OrderNo, LineNo.",
    ),
    note="The error names the column and what differs. A deep family costs long keys: each line repeats its "
    "customer and its order.",
    topic=_TOPIC,
)

# --------------------------------------------------------------------------- 6.5 Interleave, reference, or leave alone?

_RELATIONS = {
    "a": ("invoice – its lines", ("interleave",)),
    "b": ("student – course", ("fk",)),
    "c": ("product – its category", ("fk",)),
    "d": ("device – raw events, kept for ever", ("none", "fk")),
    "e": ("account – movements of 90 days", ("interleave",)),
    "f": ("post – view counters", ("none",)),
}
_WEIGHTS = (17, 17, 17, 17, 16, 16)
_RIGHT = {name: words[0] for name, (_, words) in _RELATIONS.items()}


def _relation(weight: int, name: str) -> Criterion:
    what, words = _RELATIONS[name]

    def measure(answer: Mapping[str, Any]) -> Outcome:
        said = answer[name]
        return Outcome(float(said in words), "you left it open" if said is ... else f"you say {said}")

    return Criterion(weight, f"{name}: {what}", measure)


def _said(name: str, word: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: bool(answer[name] == word)


def _mistake(name: str, word: str, say: str, *, full: bool = False) -> WrongAnswer:
    return WrongAnswer({**_RIGHT, name: word}, f"{name}: {say}", _said(name, word), full)


decide = Challenge(
    id="6.5",
    title="Interleave, reference, or leave alone?",
    points=3,
    kind=Fields(tuple((name, OneOf(("interleave", "fk", "none"))) for name in _RELATIONS)),
    criteria=tuple(_relation(weight, name) for weight, name in zip(_WEIGHTS, _RELATIONS, strict=True)),
    wrong=(
        _mistake(
            "a", "fk", "lines are few, have one invoice and are read with it: a foreign key would keep them apart."
        ),
        _mistake("a", "none", "a line without its invoice must not exist, and the two are read together."),
        _mistake(
            "b",
            "interleave",
            "that serves one side only. A link table may stand under the student, but a row has one interleave parent: "
            "the course takes a foreign key.",
        ),
        _mistake("b", "none", "a mark for a course that nobody offers must be refused: this relation needs its rule."),
        _mistake(
            "c", "interleave", "products are not read through their category, and may move to another; a key cannot."
        ),
        _mistake(
            "c", "none", "a product in a category that does not exist is a fault, and products are few: check it."
        ),
        _mistake("d", "interleave", "read across devices, and without end: a shelf for each device serves neither."),
        _mistake(
            "d",
            "fk",
            "right as well, if events of unknown devices must be refused; each event then pays for the check.",
            full=True,
        ),
        _mistake("e", "fk", "bounded, and read together: the textbook case. A foreign key would keep them apart."),
        _mistake("e", "none", "bounded, read together, and money: locality and the rule are both wanted."),
        _mistake("f", "fk", "each write would check the post as well, and you do not need the guarantee."),
        _mistake(
            "f", "interleave", "every visitor would write on the post's own shelf, under a rule that you do not need."
        ),
    ),
    hints=(
        "Three questions for each: are they read together, is the number bounded, is there one parent only?",
        "Three times yes: interleave. Else: must a row whose partner is missing be refused? Then fk.",
        "Two of the six are interleaved, two need the rule alone, two need neither.",
    ),
    note="Many-to-many: a link table that is interleaved under one side, with a foreign key to the other. And no "
    "answer is changed for free: only IN and IN PARENT of the same parent can be exchanged later.",
    topic=_TOPIC,
)

CHALLENGES = (shelf_order, parent_goes, shopper_and_purchases, what_decides, repair, decide)
