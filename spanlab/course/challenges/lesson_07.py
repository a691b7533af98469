"""Lesson 7, The second catalogue: its two predictions and its five challenges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from spanlab.course.challenge import Challenge, Criterion, Outcome, WrongAnswer
from spanlab.course.criteria import Design, Refused, index_columns, kept, parameters
from spanlab.course.kinds import Choice, Fields, Kind, MultiChoice, Number, WrongKind, ddl, sql
from spanlab.errors import ConstraintError, QueryError, SchemaError

if TYPE_CHECKING:
    from spanlab.catalog import Index
    from spanlab.query import Database, Result
    from spanlab.schema import Schema

TITLE = "The second catalogue"
_ENTRIES = "Storing data: what a secondary index holds, and STORING"
_FETCHES = "Querying: back-joins and covering indexes"
_HEAT = "Storing data: indexes as hotspots"
_FAMILY = "Storing data: interleaved indexes"

back_join = Challenge(
    id="7.P1",
    title="All rows match",
    points=0,
    kind=Choice("abcd"),
    hints=("How often is a base row fetched for one index row: once for each missing column, or once?",),
    note="c. Each of the 20,000 index rows fetches one base row, and that one brings all its columns: 40,000, twice as "
    "many as a scan of the table.",
    topic=_FETCHES,
)

hot_index = Challenge(
    id="7.P2",
    title="One index more",
    points=0,
    kind=Choice("abc"),
    hints=("Where does the next entry of that index go? And can a row commit before its entry does?",),
    note="c. The entries all go to one end of the index, and one split takes 1,800 a second. The row and its entry "
    "commit together.",
    topic=_HEAT,
)

# --------------------------------------------------------------------------------------------- 7.1 Inside the entry

_ENTRY = ("state", "branchid", "loanid", "amount")
_COLUMNS_AT_MOST = 20


@dataclass(frozen=True)
class ColumnList(Kind):
    """Names of columns in their order, as a list of any length. Capital or small does not count."""

    wants: str = 'a list of column names in quotes, such as ["A", "B"]'

    def read(self, value: Any) -> tuple[str, ...]:
        if type(value) is str and "," in value:
            value = value.split(",")
        if type(value) not in (list, tuple) or not all(type(item) is str for item in value):
            raise self.refuse(value)
        if len(value) > _COLUMNS_AT_MOST:
            raise WrongKind(f"This challenge wants {self.wants}; you gave {len(value)} of them.")
        return tuple(item.strip(" `'\"").casefold() for item in value)


def _right_columns(answer: tuple[str, ...]) -> Outcome:
    missing, strange = len(Counter(_ENTRY) - Counter(answer)), sorted((Counter(answer) - Counter(_ENTRY)).elements())
    seen = f"{missing} missing" if missing else "none is missing"
    return Outcome(float(not missing and not strange), f"{seen}, {len(strange)} too many")


def _right_order(answer: tuple[str, ...]) -> Outcome:
    """The order of those that belong in an entry; of fewer than three there is no order to speak of."""
    known = [column for column in dict.fromkeys(answer) if column in _ENTRY]
    if len(known) < 3:
        return Outcome(0.0, f"{len(known)} of them belong{'s' * (len(known) == 1)} in an entry")
    right = known == [column for column in _ENTRY if column in known]
    return Outcome(float(right), "they stand in the order of an entry" if right else "the order is another")


inside_entry = Challenge(
    id="7.1",
    title="Inside the entry",
    points=1,
    kind=ColumnList(),
    criteria=(
        Criterion(50, "the columns of an entry, each once, and no others", _right_columns),
        Criterion(50, "their order", _right_order),
    ),
    wrong=(
        WrongAnswer(
            ["State", "BranchId", "Amount"],
            "LoanId is missing: the whole base key is appended, else the row could not be found again.",
            lambda a: "loanid" not in a,
        ),
        WrongAnswer(
            ["State", "LoanId", "Amount"],
            "BranchId is missing: the index names it, so it is in the entry, though it is in the base key too.",
            lambda a: "branchid" not in a,
        ),
        WrongAnswer(
            ["LoansByState", "State", "BranchId", "LoanId", "Amount"],
            "An entry holds columns of Loans and nothing else; a name in the list is none of them.",
            lambda a: bool({*a} - {*_ENTRY, "customerid"}),
        ),
        WrongAnswer(
            ["State", "BranchId", "BranchId", "LoanId", "Amount"],
            "BranchId stands twice: a key column that the index has already is not repeated.",
            lambda a: a.count("branchid") > 1,
        ),
        WrongAnswer(
            ["State", "BranchId", "LoanId", "CustomerId", "Amount"],
            "CustomerId does not belong: an entry has only what is indexed, in the base key, or stored.",
            lambda a: "customerid" in a,
        ),
        WrongAnswer(
            ["State", "BranchId", "Amount", "LoanId"],
            "Stored columns come last: first the whole key of the entry, which sorts it, then what it carries along.",
            lambda a: "loanid" in a and "amount" in a[: a.index("loanid")],
        ),
        WrongAnswer(
            ["BranchId", "LoanId", "State", "Amount"],
            "That begins like a row of the table. An index is sorted by its own columns, so State comes first.",
            lambda a: a[0] == "branchid",
        ),
        WrongAnswer(
            ["State", "BranchId", "LoanId"],
            "Amount is missing: STORING copies it into every entry.",
            lambda a: "amount" not in a,
        ),
    ),
    hints=(
        "The entry printed above has three groups of columns. Which are they?",
        "What is indexed; then those columns of the base key that are not there yet; then what is stored.",
        "Four columns: two that are indexed, one of the base key, one stored.",
    ),
    note="STORING may not list columns of the base key, since they are in every entry anyway. They also cost space in "
    "each index: a long primary key is paid once more with every index.",
    topic=_ENTRIES,
)

# --------------------------------------------------------------------------------------------- 7.2 Count the fetches

_FETCHED = {"a": 2000, "b": 40, "c": 40, "d": 0}
_INDEXES = {
    "a": "(BoughtAt)",
    "b": "(BoughtAt) STORING (Status)",
    "c": "(Status, BoughtAt)",
    "d": "(Status, BoughtAt) STORING (Total)",
}


def _fetches(letter: str) -> Criterion:
    def measure(answer: Mapping[str, Any]) -> Outcome:
        said = answer[letter]
        return Outcome(float(said == _FETCHED[letter]), "you left it open" if said is ... else f"you say {said:,}")

    return Criterion(25, f"{letter}: base rows that {_INDEXES[letter]} makes the query fetch", measure)


def _says(letter: str, *counts: int) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: answer[letter] is not ... and answer[letter] in counts


count_fetches = Challenge(
    id="7.2",
    title="Count the fetches",
    points=2,
    kind=Fields(tuple((letter, Number("rows", whole=True)) for letter in _FETCHED)),
    criteria=tuple(_fetches(letter) for letter in _FETCHED),
    wrong=(
        WrongAnswer(
            _FETCHED | {"a": 40},
            "a: Status is not in that index, so it can only be checked after the row was fetched, for each of the "
            "2,000.",
            _says("a", 40),
        ),
        WrongAnswer(
            _FETCHED | {"a": 4000},
            "a: one fetch brings the whole base row, Status and Total together, and the entries that are read are not "
            "counted here.",
            _says("a", 4000),
        ),
        WrongAnswer(
            _FETCHED | {"a": 1960},
            "a: 1,960 rows are dropped after the fetch, but the 40 that stay were fetched as well.",
            _says("a", 1960),
        ),
        WrongAnswer(
            _FETCHED | {"b": 2040, "c": 80},
            "b or c: the entries that are read in the index are not asked for, only the base rows.",
            lambda answer: _says("b", 2040)(answer) or _says("c", 80)(answer),
        ),
        WrongAnswer(
            _FETCHED | {"a": 20000},
            "a: the index does find the 2,000 purchases from day 90 on; nobody fetches the others.",
            lambda answer: any(_says(letter, 20000)(answer) for letter in "abcd"),
        ),
        WrongAnswer(
            _FETCHED | {"b": 2000},
            "b: a stored column can be checked on the index row itself, before anything is fetched.",
            _says("b", 2000),
        ),
        WrongAnswer(
            _FETCHED | {"b": 0},
            "b: Status is checked in the index, but Total is asked for and is not there. The rows that survive are "
            "fetched.",
            _says("b", 0),
        ),
        WrongAnswer(
            _FETCHED | {"c": 0},
            "c: Total is missing. The index finds the 40 rows at once, but cannot answer for them.",
            _says("c", 0),
        ),
        WrongAnswer(
            _FETCHED | {"c": 2000},
            "c: with Status in front, the index goes straight to the OPEN ones from day 90 on. It reads 40 rows.",
            _says("c", 2000),
        ),
        WrongAnswer(
            _FETCHED | {"d": 40},
            "d: everything that is asked for is in the entry, so nothing is fetched.",
            _says("d", 40, 2000),
        ),
    ),
    hints=(
        "The two indexes above fetched 2,000 rows and 219. What could the entries of the second decide by themselves?",
        "First drop what the index row can rule out. Each row that is left is fetched once, if a column is missing.",
        "a checks nothing but the time. b and c are left with the OPEN ones. d covers the query.",
    ),
    note="The rows that are read in the index are 2,000, 2,000, 40 and 40: the order of the key matters more here than "
    "STORING. The price of d: each entry takes 136 bytes in place of 108, for every purchase, open or not.",
    topic=_FETCHES,
)

# -------------------------------------------------------------------------------------- 7.3 Serve it from the index

_SHOPPERS, _EACH = 50, 20
_OLD = "PurchasesByShopper"
_FLAT = f"""CREATE TABLE Purchases (
  PurchaseId STRING(36) NOT NULL,
  ShopperId  STRING(36) NOT NULL,
  BoughtAt   TIMESTAMP NOT NULL,
  Status     STRING(10) NOT NULL,
  Total      NUMERIC,
  Receipt    STRING(200),
) PRIMARY KEY (PurchaseId);
CREATE INDEX {_OLD} ON Purchases (ShopperId)"""
_REFERENCE_BYTES = 44 + 12 + 44 + 20 + 16  # ShopperId, Status, PurchaseId; BoughtAt, Total (facts.md 2.1)
_BYTES_AT_MOST = int(1.25 * _REFERENCE_BYTES)


@cache
def _purchases() -> dict[str, list[object]]:
    """The 1,000 purchases of the first 50 shoppers of the shop, column by column; each receipt has 80 letters."""
    from spanlab.query import data

    rows = [row for number, row in enumerate(data("shop").rows("Purchases")) if number % 1_000 < _SHOPPERS]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {**columns, "Receipt": [f"{number:080d}" for number in range(len(rows))]}


@kept
def _filled(schema: Schema, *tables: str) -> Database:
    """A database of the schema with these tables filled, as far as they have the columns."""
    from spanlab.query import Database, data
    from spanlab.storage.fitting import fitted_columns

    ids: list[object] = [data.uuid(number) for number in range(_SHOPPERS)]
    columns = {"purchases": _purchases(), "shoppers": {"ShopperId": ids, "Name": ids}}
    database = Database(schema)
    for table in database.tables_in_loading_order():
        if table.name in tables:
            database.load_columns(table.name, fitted_columns(table, columns[table.name.casefold()]))
    return database


def _asked_for(seed: int) -> dict[str, object]:
    """The shopper and the status that are asked for: a shopper with one open purchase and 19 others."""
    from spanlab.query import data

    with_one_open = [number for number in range(_SHOPPERS) if any((number + 7 * j) % 50 == 0 for j in range(_EACH))]
    shopper = with_one_open[(3 + 5 * seed) % len(with_one_open)]
    return {"s": data.uuid(shopper), "st": "DONE" if seed % 2 else "OPEN"}


class Served:
    """An answer to 7.3: indexes that come after the given table, and the query with its hint.

    The rows and the query wait until a criterion asks. Raises SchemaError where the DDL is refused.
    """

    def __init__(self, answer: Mapping[str, Any], seed: int) -> None:
        from spanlab.schema import Schema

        self.sql: str = "" if answer["sql"] is ... else answer["sql"]
        given = Schema.from_ddl(_FLAT)
        self.schema = given if answer["ddl"] is ... else given.apply(answer["ddl"])
        old = given.index(_OLD)
        self.new = [index for index in self.schema.indexes_on("Purchases") if index != old]
        self.params = _asked_for(seed)

    @cached_property
    def _rows(self) -> Database | ConstraintError:
        try:
            return _filled(self.schema, "Purchases")
        except ConstraintError as error:
            return error

    @property
    def database(self) -> Database:
        """ConstraintError where an index refuses a row."""
        if isinstance(self._rows, ConstraintError):
            raise self._rows
        return self._rows

    @cached_property
    def result(self) -> Result:
        """The rows and the plan of the query. QueryError where there is none, or where Spanner refuses it."""
        if not self.sql:
            raise QueryError("The query is missing: put it under the key 'sql'.")
        return self.database.query(self.sql, self.params)

    @cached_property
    def refused(self) -> str:
        """What Spanner says against the query, "" if it takes it."""
        try:
            _ = self.result
        except QueryError as error:
            return str(error)
        return ""

    @cached_property
    def right(self) -> bool:
        """Whether it returns BoughtAt and Total of the purchases that are asked for, and nothing else, for a status
        that few have and for one that many have if it takes one."""
        statuses = ("OPEN", "DONE") if "@st" in self.sql.casefold() else (self.params["st"],)
        return len(self.result.columns) == 2 and all(map(self._returns_all, statuses))

    def _returns_all(self, status: object) -> bool:
        bought, wanted_of = _purchases(), (self.params["s"], status)
        wanted = Counter(
            (repr(at), repr(total))
            for shopper, status, at, total in zip(
                *(bought[name] for name in ("ShopperId", "Status", "BoughtAt", "Total")), strict=True
            )
            if (shopper, status) == wanted_of
        )
        rows = self.database.query(self.sql, {**self.params, "st": status}).rows
        return wanted in (
            Counter((repr(a), repr(b)) for a, b in rows),
            Counter((repr(b), repr(a)) for a, b in rows),
        )

    @cached_property
    def hints(self) -> list[str]:
        """The indexes that FORCE_INDEX names in the query."""
        from spanlab.sql import parse_query
        from spanlab.sql.hints import hints

        named = (hints(node).get("FORCE_INDEX", "") for node in parse_query(self.sql).walk())
        return [name for name in named if name]

    @property
    def forced(self) -> str:
        """The index that the query is forced to use, "" if none."""
        return self.hints[0] if self.sql and self.hints else ""

    @property
    def named(self) -> Index | None:
        """The new index that the hint names."""
        return next((index for index in self.new if index.name.casefold() == self.forced.casefold()), None)

    @property
    def index(self) -> Index | None:
        """The new index to speak of: the one that the hint names, or the only one."""
        return self.named or (self.new[0] if self.new else None)

    @property
    def key(self) -> list[str]:
        """The columns that the index is on, in small letters; [] without an index."""
        return index_columns(self.index) if self.index else []

    @property
    def stored(self) -> list[str]:
        """The columns that the index stores, in small letters."""
        return [column.casefold() for column in self.index.storing] if self.index else []

    @property
    def plan_counts(self) -> tuple[int, int, int]:
        """Rows scanned, fetched, and returned."""
        plan = self.result.plan
        return plan.scanned, plan.back_joins, len(self.result.rows)


_OTHER_ROWS = "the query returns other rows than the given one"


def _no_fetch(served: Served) -> Outcome:
    _, fetched, _ = served.plan_counts
    if not served.right:
        return Outcome(0.0, _OTHER_ROWS)
    if not served.result.plan.index_used:
        return Outcome(0.0, "it reads the base table, and no index")
    return Outcome(float(fetched == 0), f"it fetches {fetched:,}")


def _reads_what_it_returns(served: Served) -> Outcome:
    scanned, _, returned = served.plan_counts
    if not served.right:
        return Outcome(0.0, _OTHER_ROWS)
    return Outcome(float(scanned <= returned), f"it reads {scanned:,} and returns {returned:,}")


def _hint_names_it(served: Served) -> Outcome:
    if not served.sql:
        return Outcome(0.0, "there is no query yet")
    forced = served.forced
    if served.named is None:
        return Outcome(0.0, f"it forces {forced}" if forced else "the query has no hint")
    used = served.result.plan.index_used
    return Outcome(float(used == (served.named.name,)), f"the plan reads {' and '.join(used) or 'no index'}")


def _lean_entries(served: Served) -> Outcome:
    if not served.new:
        return Outcome(0.0, "there is no new index")
    rows = _SHOPPERS * _EACH
    entry = sum(served.database.bytes(index.name) for index in served.new) / rows
    seen = f"{entry:,.0f} bytes" + (f", in {len(served.new)} indexes" if len(served.new) > 1 else "")
    return Outcome(float(entry <= _BYTES_AT_MOST), seen)


_PARAMETERS = parameters(10, ("s", "st"), "no text stands in the query")


def _kept_parameters(served: Served) -> Outcome:
    return _PARAMETERS.measure(served) if served.sql else Outcome(0.0, "there is no query yet")


def _shopper_index(columns: str, storing: str = "BoughtAt, Total", kind: str = "INDEX") -> str:
    clause = f" STORING ({storing})" if storing else ""
    return f"CREATE {kind} PurchasesByShopperStatus ON Purchases ({columns}){clause}"


def _hinted(index: str = "PurchasesByShopperStatus", where: str = "ShopperId = @s AND Status = @st") -> str:
    hint = f"@{{FORCE_INDEX={index}}}" if index else ""
    return f"SELECT BoughtAt, Total FROM Purchases{hint} WHERE {where}"


def _serves(columns: str, storing: str = "BoughtAt, Total", **query: str) -> dict[str, str]:
    return {"ddl": _shopper_index(columns, storing), "sql": _hinted(**query)}


_EQUALITIES = {"shopperid", "status"}

serve_from_index = Challenge(
    id="7.3",
    title="Serve it from the index",
    points=3,
    kind=Fields((("ddl", ddl()), ("sql", sql()))),
    look=Served,
    criteria=(
        Criterion(40, "the query fetches no row from the base table", _no_fetch),
        Criterion(20, "it reads no more rows than it returns", _reads_what_it_returns),
        Criterion(20, "its hint names the new index, and the plan reads that alone", _hint_names_it),
        Criterion(10, f"an entry has at most {_BYTES_AT_MOST} bytes", _lean_entries),
        Criterion(10, _PARAMETERS.wanted, _kept_parameters),
    ),
    wrong=(
        WrongAnswer(
            _serves("ShopperId", "Status, BoughtAt, Total"),
            "Nothing is fetched, but Status is only carried along: it is checked on each of the shopper's 20 entries. "
            "Make it a key column, and the read goes straight to those that match.",
            lambda s: s.key[:1] == ["shopperid"] and "status" not in s.key and "status" in s.stored,
        ),
        WrongAnswer(
            _serves("ShopperId"),
            "Status is nowhere in the entry, so it can only be checked on the base row: each of the shopper's 20 "
            "purchases is fetched for it.",
            lambda s: s.key[:1] == ["shopperid"] and "status" not in s.key + s.stored,
        ),
        WrongAnswer(
            _serves("ShopperId, BoughtAt, Status", "Total"),
            "BoughtAt stands between the two equality columns, so the seek ends at the shopper: all 20 entries are "
            "read, and 19 are dropped.",
            lambda s: s.key[:1] == ["shopperid"] and "status" in s.key[2:] and s.plan_counts[0] > s.plan_counts[2],
        ),
        WrongAnswer(
            _serves("Status", "ShopperId, BoughtAt, Total"),
            "With Status alone in front, everybody's purchases of that status are read. Both equality columns belong "
            "at the beginning of the key.",
            lambda s: s.key[:1] == ["status"] and s.key[1:2] != ["shopperid"],
        ),
        WrongAnswer(
            _serves("BoughtAt, ShopperId, Status", "Total"),
            "The key begins with a column that the query does not fix, so there is nothing to seek by. (With BoughtAt "
            "in front it would be hot, too: that column grows.)",
            lambda s: bool(s.key) and s.key[0] not in _EQUALITIES,
        ),
        WrongAnswer(
            _serves("ShopperId, Status", "BoughtAt"),
            "A column that is asked for is not in the entry, so a base row is fetched for every row found. Look which "
            "of BoughtAt and Total is missing.",
            lambda s: set(s.key[:2]) == _EQUALITIES and not {"boughtat", "total"} <= {*s.key, *s.stored},
        ),
        WrongAnswer(
            _serves("ShopperId, Status", "BoughtAt, Total, Receipt"),
            "Receipt is carried in every entry and never asked for. Store what the query needs and no more.",
            lambda s: "receipt" in s.stored + s.key,
        ),
        WrongAnswer(
            {"ddl": _shopper_index("ShopperId, Status", kind="UNIQUE INDEX"), "sql": _hinted()},
            "UNIQUE does not make it faster. It says that a shopper has one purchase of each status, and the rows that "
            "are there already break that.",
            lambda s: bool(s.index and s.index.unique),
        ),
        WrongAnswer(
            _serves("ShopperId, Status", index="_BASE_TABLE"),
            "FORCE_INDEX=_BASE_TABLE forces the opposite: no index at all, and every row of the table is read.",
            lambda s: s.forced.upper() == "_BASE_TABLE",
        ),
        WrongAnswer(
            _serves("ShopperId, Status", index=_OLD),
            f"{_OLD} is the old index. Name the new one.",
            lambda s: s.named is None and s.forced.casefold() == _OLD.casefold(),
        ),
        WrongAnswer(
            _serves("ShopperId, Status", index=""),
            "There is no hint. The optimizer may well choose the new index by itself; to prove what it does, name it: "
            "@{FORCE_INDEX=…} behind the table.",
            lambda s: bool(s.sql) and not s.refused and not s.hints,
        ),
        WrongAnswer(
            {"ddl": _shopper_index("ShopperId, Status"), "sql": _hinted().replace("Purchases@", "Purchases AS p @")},
            "The hint stands in the wrong place. FORCE_INDEX goes right behind the name of the table, before an alias: "
            "FROM Purchases@{FORCE_INDEX=…} AS p.",
            lambda s: "hint cannot stand" in s.refused or "for a statement FORCE_INDEX" in s.refused,
        ),
        WrongAnswer(
            {"ddl": _shopper_index("ShopperId, Status"), "sql": _hinted().replace("BoughtAt, Total", "*")},
            "The read wants BoughtAt and Total, and no other column. With more of them no index of a sensible size "
            "covers it.",
            lambda s: len(s.result.columns) != 2,
        ),
        WrongAnswer(
            {
                "ddl": f"{_shopper_index('ShopperId, Status')}; CREATE INDEX Second ON Purchases (Status, ShopperId)",
                "sql": _hinted(),
            },
            "One index is enough, and one is asked for: every further one is written with every purchase.",
            lambda s: len(s.new) > 1,
        ),
        WrongAnswer(
            _serves("ShopperId, Status", where="ShopperId = @s"),
            "That is another question. The query has to return what the given one does, so its WHERE stays.",
            lambda s: len(s.result.columns) == 2 and not s.right,
        ),
        WrongAnswer(
            _serves("ShopperId, Status", where="ShopperId = @s AND Status = 'OPEN'"),
            "A value in the text is right for one reader only, and each new text has to be compiled. Keep @s and @st.",
            lambda s: s.right and _kept_parameters(s).share == 0,
        ),
        WrongAnswer(
            _serves("Status, ShopperId"),
            "Right for this query. But in other tables keep in mind: 98 % of the entries share one Status; as a rule "
            "the column with many values goes first, which also serves look-ups by shopper alone.",
            lambda s: s.key[:2] == ["status", "shopperid"] and s.right and s.plan_counts[1] == 0,
            full=True,
        ),
        WrongAnswer(
            _serves("ShopperId, Status, BoughtAt, Total", ""),
            "It covers. But Total as a key column moves the entry whenever a total changes (delete and insert); as a "
            "stored column it is overwritten in place.",
            lambda s: set(s.key[:2]) == _EQUALITIES and "total" in s.key and s.right and s.plan_counts[1] == 0,
            full=True,
        ),
    ),
    hints=(
        "Which columns does the query look up by, and which does it only want to see?",
        "Columns with an equality are the key of the index; the others are cargo, for STORING.",
        "Two columns in the key, two stored, no Receipt; and @{FORCE_INDEX=…} right behind the name of the table.",
    ),
    note=f"In production leave the hint out again, unless the optimizer keeps choosing wrong. And {_OLD} has become "
    "needless: the new index begins with the same column. Drop it, and each insert saves a row.",
    topic=_FETCHES,
)

# --------------------------------------------------------------------------------- 7.4 Which index limits the table?

_HOT = ("B", "C", "E")
_KEYS = {
    "A": "(EmailHash)",
    "B": "(CreatedAt)",
    "C": "(State, CreatedAt)",
    "D": "(CustomerId, CreatedAt DESC)",
    "E": "(InvoiceNo)",
}


def _letter(letter: str) -> Criterion:
    def measure(answer: tuple[str, ...]) -> Outcome:
        chosen = letter in answer
        return Outcome(float(chosen == (letter in _HOT)), f"you say it does{'' if chosen else ' not'}")

    return Criterion(20, f"{letter}: whether the index on {_KEYS[letter]} caps the table", measure)


limiting = Challenge(
    id="7.4",
    title="Which index limits the table?",
    points=2,
    kind=MultiChoice("ABCDE"),
    criteria=tuple(_letter(letter) for letter in _KEYS),
    wrong=(
        WrongAnswer(
            ["B", "E"],
            "C is missing: all new rows share 'NEW', and behind it the time decides. One value, one end.",
            lambda a: "C" not in a,
        ),
        WrongAnswer(
            ["B", "C"],
            "E is missing: a counter of the application grows as a clock does. Each number goes behind the last one.",
            lambda a: "E" not in a,
        ),
        WrongAnswer(
            ["C", "E"],
            "B is missing: each new entry has the latest time, so all go to the end of the index.",
            lambda a: "B" not in a,
        ),
        WrongAnswer(
            ["B", "C", "D", "E"],
            "D does not cap it: each of the 100,000 customers has an own place, and none of them is a giant.",
            lambda a: "D" in a,
        ),
        WrongAnswer(
            ["A", "B", "C", "E"],
            "A does not cap it: the hashes of e-mail addresses fall all over the index.",
            lambda a: "A" in a,
        ),
    ),
    hints=(
        "Take each index by itself: where does the next entry go, and the one after it?",
        "A column that has one value for all new rows sorts nothing; then the column behind it decides.",
        "Three of the five letters: time alone, a constant and then time, a counter.",
    ),
    note="Each of the three brings the table down to 1,800 inserts/s, whatever its own key. C is hot a second time: "
    "when State changes, its entry leaves one place and enters another.",
    topic=_HEAT,
)

# ------------------------------------------------------------------------------------------ 7.5 Keep it in the family

_NEWEST = "SELECT PurchaseId, BoughtAt FROM Purchases{} WHERE ShopperId = @s ORDER BY BoughtAt DESC LIMIT 5"
_SHOP = """CREATE TABLE Shoppers (
  ShopperId STRING(36) NOT NULL,
  Name STRING(100),
) PRIMARY KEY (ShopperId);
CREATE TABLE Purchases (
  ShopperId STRING(36) NOT NULL,
  PurchaseId STRING(36) NOT NULL,
  BoughtAt TIMESTAMP NOT NULL,
  Status STRING(10) NOT NULL,
  Total NUMERIC,
) PRIMARY KEY (ShopperId, PurchaseId), INTERLEAVE IN PARENT Shoppers ON DELETE CASCADE"""


class Newest(Design):
    """An index that was handed in for the newest purchases of a shopper, after the tables of the shop."""

    def __init__(self, text: str, seed: int) -> None:
        from spanlab.query import data

        super().__init__(
            text,
            "Purchases",
            given=_SHOP,
            writes_per_second=12_000,
            values={
                "ShopperId": "ids(100000)",
                "PurchaseId": "uuid4",
                "BoughtAt": "now",
                "Status": "const(OPEN)",
                "Total": "const(10)",
            },
            nodes=10,
            seed=seed,
            rows=lambda schema: _filled(schema, "Shoppers", "Purchases"),
            params={"s": data.uuid((7 + 11 * seed) % _SHOPPERS)},
        )

    @property
    def index(self) -> Index | None:
        """The index of the answer that has BoughtAt in its key, else one that stores it."""
        made = self.schema.indexes_on("Purchases")
        storing = (index for index in made if "boughtat" in [column.casefold() for column in index.storing])
        return next((index for index in made if "boughtat" in index_columns(index)), next(storing, None))

    @property
    def newest(self) -> Result:
        """The query for the newest five, made to use the index."""
        hint = f"@{{FORCE_INDEX={self.index.name}}}" if self.index else ""
        return self.ask(_NEWEST.format(hint))

    @cached_property
    def participants(self) -> int:
        """Splits that the insert of a purchase writes to."""
        from spanlab.storage import participants

        return participants(self.schema, {"Purchases": 1})


_COMMA, _PREFIX, _DIRECTION = "A comma is missing", "has another type", "has another direction"


def _newest(answer: str, seed: int) -> Newest | Refused:
    """The design; what Spanner refuses for one of the reasons that the lesson speaks of is kept with its error."""
    try:
        return Newest(answer, seed)
    except SchemaError as error:
        if any(words in str(error) for words in (_COMMA, _PREFIX, _DIRECTION)):
            return Refused(error)
        raise


_NO_INDEX = "no index holds BoughtAt"


def _of_another_family(design: Newest) -> bool:
    """Whether an entry would lie in the family whose shopper has the id of something else."""
    index = design.index
    return index is not None and bool(index.interleave_in) and index_columns(index)[0] != "shopperid"


def _one_participant(design: Newest) -> Outcome:
    if design.index is None:
        return Outcome(0.0, _NO_INDEX)
    if _of_another_family(design):
        return Outcome(0.0, "the entry lies in the family of another ShopperId")
    count = design.participants
    return Outcome(float(count == 1), f"{count} participant{'s' * (count != 1)}")


def _reads_five(design: Newest) -> Outcome:
    if design.index is None:
        return Outcome(0.0, _NO_INDEX)
    plan = design.newest.plan
    share = float(plan.scanned <= 5 and plan.sorts == 0 and plan.back_joins == 0)
    sorting = "sorts" if plan.sorts else "does not sort"
    return Outcome(share, f"it reads {plan.scanned:,} rows, fetches {plan.back_joins:,} and {sorting}")


def _still_commits(design: Newest) -> Outcome:
    if design.index is None:
        return Outcome(0.0, _NO_INDEX)
    got = float(design.summary["committed"])
    return Outcome(float(got >= 11_700), f"about {round(got, -2):,.0f} of 12,000 commit")


def _refused_for(words: str) -> Callable[[Newest | Refused], bool]:
    return lambda design: isinstance(design, Refused) and words in str(design.error)


def _order(design: Newest) -> list[tuple[str, bool]]:
    return [(part.column.casefold(), part.desc) for part in design.index.key] if design.index else []


def _newest_index(columns: str, behind: str = "") -> str:
    return f"CREATE INDEX PurchasesByShopperNewest ON Purchases ({columns}){behind}"


_IN_FAMILY = ", INTERLEAVE IN Shoppers"

in_the_family = Challenge(
    id="7.5",
    title="Keep it in the family",
    points=2,
    kind=ddl(),
    look=_newest,
    criteria=(
        Criterion(40, "the insert of a purchase has one participant", _one_participant),
        Criterion(30, "the newest five are five rows read, and no sort", _reads_five),
        Criterion(30, "at least 11,700 of the 12,000 inserts/s commit", _still_commits),
    ),
    wrong=(
        WrongAnswer(
            _newest_index("ShopperId, BoughtAt DESC"),
            "The right order, but these entries live in another split than the rows: 2 participants. A clause puts "
            "them into the families.",
            lambda d: _order(d)[:1] == [("shopperid", False)] and d.index.interleave_in is None,
        ),
        WrongAnswer(
            _newest_index("ShopperId, BoughtAt DESC", " INTERLEAVE IN Shoppers"),
            "INTERLEAVE IN is a clause of its own, and a comma stands before it.",
            _refused_for(_COMMA),
        ),
        WrongAnswer(
            _newest_index("BoughtAt DESC", _IN_FAMILY),
            "The index key must begin with the whole key of the table that it lies in; of Shoppers, that is ShopperId. "
            "How else would Spanner know the family of an entry?",
            _refused_for(_PREFIX),
        ),
        WrongAnswer(
            _newest_index("PurchaseId, BoughtAt DESC", _IN_FAMILY),
            "Spanner takes it, for the types agree and names need not. But each entry then lies with the shopper whose "
            "id equals the PurchaseId: with nobody.",
            _of_another_family,
        ),
        WrongAnswer(
            _newest_index("ShopperId, BoughtAt", _IN_FAMILY),
            "The newest are at the end of the shopper's entries, and Spanner does not scan backwards: all 20 are read "
            "and sorted. Declare the order that is wanted.",
            lambda d: ("boughtat", False) in _order(d)[:2] and _order(d)[0][0] == "shopperid",
        ),
        WrongAnswer(
            _newest_index("BoughtAt DESC"),
            "An index led by time: one end of it takes all inserts, 1,800 a second. DESC only moves that end.",
            lambda d: _order(d)[0][0] == "boughtat",
        ),
        WrongAnswer(
            _newest_index("ShopperId, PurchaseId, BoughtAt DESC", _IN_FAMILY),
            "Another column stands between the two: within a shopper the entries follow that one first, and not the "
            "time. All are read and sorted.",
            lambda d: _order(d)[0][0] == "shopperid" and "boughtat" in [column for column, _ in _order(d)[2:]],
        ),
        WrongAnswer(
            _newest_index("ShopperId DESC, BoughtAt DESC", _IN_FAMILY),
            "The first column has to be as in Shoppers, the direction included; there ShopperId is ascending.",
            _refused_for(_DIRECTION),
        ),
        WrongAnswer(
            "CREATE INDEX PurchasesByShopperStatus ON Purchases (ShopperId, Status), INTERLEAVE IN Shoppers",
            "No index has BoughtAt in its key, so nothing is in the order of time, and the query sorts.",
            lambda d: "boughtat" not in [column for column, _ in _order(d)],
        ),
    ),
    hints=(
        "Whose key has to lead, so that an entry knows which family it belongs to?",
        "Two things are declared: the order of the entries, and behind a comma the table in whose families they lie.",
        "ShopperId leads, then the time with the newest first; and the clause names Shoppers.",
    ),
    note="It is also an answer to “an index on a column that grows”: it grows inside each family only. The price: "
    "“the newest purchases of all shoppers” cannot be read from it without a visit to every family.",
    topic=_FAMILY,
)

CHALLENGES = (
    inside_entry,
    back_join,
    count_fetches,
    serve_from_index,
    hot_index,
    limiting,
    in_the_family,
)
