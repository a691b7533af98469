"""Random queries of the supported subset, as text for spanlab and as text for sqlite3.

The two texts say the same: hints are for spanlab alone, and what the two databases see differently (case in LIKE,
division, booleans as values) is not used. Rows have NULLs, duplicates and ties.
"""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass, field
from functools import cache

from spanlab.query import Database
from spanlab.schema import Schema

DDL = """
CREATE TABLE Parents (P INT64 NOT NULL, Name STRING(20), Score INT64, Rank FLOAT64) PRIMARY KEY (P);
CREATE TABLE Kids (P INT64 NOT NULL, K INT64 NOT NULL, Kind STRING(10), Amount INT64, Other INT64)
  PRIMARY KEY (P, K), INTERLEAVE IN PARENT Parents ON DELETE CASCADE;
CREATE TABLE Toys (P INT64 NOT NULL, K INT64 NOT NULL, T INT64 NOT NULL, Label STRING(10), Price INT64)
  PRIMARY KEY (P, K, T DESC), INTERLEAVE IN PARENT Kids ON DELETE CASCADE;
CREATE TABLE Flats (F STRING(10) NOT NULL, N INT64 NOT NULL, P INT64, Name STRING(20), Amount INT64)
  PRIMARY KEY (F, N);
CREATE INDEX ParentsByName ON Parents (Name);
CREATE INDEX ParentsByScoreDesc ON Parents (Score DESC) STORING (Name);
CREATE INDEX KidsByKind ON Kids (Kind, Amount DESC);
CREATE INDEX KidsByAmount ON Kids (P, Amount), INTERLEAVE IN Parents;
CREATE NULL_FILTERED INDEX KidsByOther ON Kids (Other);
CREATE INDEX FlatsByP ON Flats (P, Name) STORING (Amount);
CREATE INDEX FlatsByName ON Flats (Name);
CREATE INDEX ToysByLabel ON Toys (Label);
"""
COLUMNS: dict[str, dict[str, str]] = {
    "Parents": {"P": "int", "Name": "text", "Score": "int"},
    "Kids": {"P": "int", "K": "int", "Kind": "text", "Amount": "int", "Other": "int"},
    "Toys": {"P": "int", "K": "int", "T": "int", "Label": "text", "Price": "int"},
    "Flats": {"F": "text", "N": "int", "P": "int", "Name": "text", "Amount": "int"},
}
INDEXES = {
    "Parents": ["ParentsByName", "ParentsByScoreDesc"],
    "Kids": ["KidsByKind", "KidsByAmount"],
    "Toys": ["ToysByLabel"],
    "Flats": ["FlatsByP", "FlatsByName"],
}
WORDS = ["a", "ab", "abc", "b", "Ba", "c", "", "zz"]
METHODS = ["APPLY_JOIN", "HASH_JOIN", "MERGE_JOIN", "PUSH_BROADCAST_HASH_JOIN"]


@cache
def databases(seed: int) -> tuple[Database, sqlite3.Connection]:
    """The same rows in spanlab and in sqlite3."""
    chance = random.Random(seed)
    database = Database(Schema.from_ddl(DDL))
    lite = sqlite3.connect(":memory:")
    lite.execute("PRAGMA case_sensitive_like = ON")

    def word() -> str | None:
        return None if chance.random() < 0.2 else chance.choice(WORDS)

    def number() -> int | None:
        return None if chance.random() < 0.2 else chance.randint(-2, 6)

    parents = chance.sample(range(-1, 12), 9)
    kids = [(p, k) for p in parents for k in range(chance.randint(0, 4))]
    toys = [(p, k, t) for p, k in kids for t in range(chance.randint(0, 3))]
    flats = [(f, n) for f in WORDS[:5] for n in range(chance.randint(0, 5))]
    rows = {
        "Parents": [(p, word(), number()) for p in parents],
        "Kids": [(*key, word(), number(), number()) for key in kids],
        "Toys": [(*key, word(), number()) for key in toys],
        "Flats": [(*key, number(), word(), number()) for key in flats],
    }
    for table, columns in COLUMNS.items():
        lite.execute(f"CREATE TABLE {table} ({', '.join(f'{c} {t}' for c, t in columns.items())})")
        lite.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows[table])
        database.load(table, list(columns), rows[table])
    return database, lite


@dataclass
class Sources:
    """What FROM brings: alias to columns and their kinds; the texts for both databases."""

    spanner: str
    lite: str
    columns: dict[str, dict[str, str]] = field(default_factory=dict)

    def names(self, kind: str) -> list[str]:
        return [f"{a}.{c}" for a, columns in self.columns.items() for c, k in columns.items() if k == kind]


class Maker:
    """Makes one query; every choice is drawn from `chance`."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.aliases = 0

    def alias(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    # FROM

    def table(self) -> Sources:
        if self.maybe(0.12):
            return self.derived()
        name = self.chance.choice(list(COLUMNS))
        alias = self.alias()
        hint = ""
        if self.maybe(0.25):
            hint = f"@{{FORCE_INDEX={self.chance.choice([*INDEXES[name], '_BASE_TABLE'])}}}"
        return Sources(f"{name}{hint} AS {alias}", f"{name} AS {alias}", {alias: COLUMNS[name]})

    def derived(self) -> Sources:
        inner = self.select(depth=2, names=True)
        alias = self.alias()
        return Sources(f"({inner.spanner}) AS {alias}", f"({inner.lite}) AS {alias}", {alias: inner.columns})

    def sources(self, depth: int) -> Sources:
        result = self.table()
        for _ in range(self.chance.choice([0, 0, 1, 1, 2] if depth == 0 else [0, 0, 1])):
            result = self.join(result)
        return result

    def join(self, left: Sources) -> Sources:
        right = self.table()
        both = {**left.columns, **right.columns}
        kind = self.chance.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"])
        hint = ""
        if self.maybe(0.4):
            hint = f"@{{JOIN_METHOD={self.chance.choice(METHODS)}}}"
        if kind == "CROSS JOIN":
            return Sources(f"{left.spanner} CROSS JOIN {right.spanner}", f"{left.lite} CROSS JOIN {right.lite}", both)
        shared = self.shared_once(left, right)
        if shared and self.maybe(0.25):
            using = f"USING ({shared})"
            return Sources(
                f"{left.spanner} {kind}{hint} {right.spanner} {using}", f"{left.lite} {kind} {right.lite} {using}", both
            )
        conditions = [self.equality(left, right)]
        while self.maybe(0.3):
            conditions.append(self.equality(left, right))
        lite = list(conditions)
        if self.maybe(0.15):
            one, two = self.condition(Sources("", "", both), 2)
            conditions, lite = [*conditions, one], [*lite, two]
        on, on_lite = " AND ".join(conditions), " AND ".join(lite)
        return Sources(
            f"{left.spanner} {kind}{hint} {right.spanner} ON {on}",
            f"{left.lite} {kind} {right.lite} ON {on_lite}",
            both,
        )

    def shared_once(self, left: Sources, right: Sources) -> str | None:
        """A column that both sides have exactly once, so that USING can join by it."""
        counts = [[c for columns in side.columns.values() for c in columns] for side in (left, right)]
        found = [c for c in counts[0] if counts[0].count(c) == 1 and counts[1].count(c) == 1]
        return self.chance.choice(found) if found else None

    def equality(self, left: Sources, right: Sources) -> str:
        shared = [
            c for columns in left.columns.values() for c in columns if any(c in r for r in right.columns.values())
        ]
        if shared and self.maybe(0.8):
            name = self.chance.choice(shared)
            a = next(a for a, columns in left.columns.items() if name in columns)
            b = next(b for b, columns in right.columns.items() if name in columns)
            if left.columns[a][name] == right.columns[b][name]:
                return f"{a}.{name} = {b}.{name}"
        kind = self.chance.choice(["int", "text"])
        if not left.names(kind) or not right.names(kind):
            kind = "text" if kind == "int" else "int"
        if not left.names(kind) or not right.names(kind):
            return "1 = 1"
        return f"{self.chance.choice(left.names(kind))} = {self.chance.choice(right.names(kind))}"

    # expressions

    def value(self, kind: str, sources: Sources, depth: int = 0) -> str:
        names = sources.names(kind)
        if names and self.maybe(0.75):
            return self.chance.choice(names)
        if kind == "text":
            return f"'{self.chance.choice(WORDS)}'"
        if depth < 2 and self.maybe(0.4):
            sign = self.chance.choice(["+", "-", "*"])
            return f"({self.value(kind, sources, depth + 1)} {sign} {self.value(kind, sources, depth + 1)})"
        if names and self.maybe(0.2):
            return f"COALESCE({self.chance.choice(names)}, {self.chance.randint(-1, 4)})"
        return str(self.chance.randint(-2, 7))

    def item(self, kind: str, sources: Sources) -> str:
        """A value for SELECT: now and then a CASE or a subquery (the same text for both databases)."""
        if self.maybe(0.1):
            test = self.simple(sources)
            return f"CASE WHEN {test} THEN {self.value(kind, sources)} ELSE {self.value(kind, sources)} END"
        if self.maybe(0.12):
            table = self.chance.choice(list(COLUMNS))
            alias = self.alias()
            inner = Sources("", "", {alias: COLUMNS[table]})
            mine, theirs = sources.names("int"), inner.names("int")
            wanted = self.chance.choice(inner.names(kind))
            where = (
                f" WHERE {self.chance.choice(theirs)} = {self.chance.choice(mine)}" if mine and self.maybe(0.7) else ""
            )
            value = f"(SELECT {self.chance.choice(['MAX', 'MIN'])}({wanted}) FROM {table} AS {alias}{where})"
            return value if self.maybe(0.5) else f"COALESCE({self.value(kind, sources)}, {value})"
        return self.value(kind, sources)

    def condition(self, sources: Sources, depth: int) -> tuple[str, str]:
        if depth < 2 and self.maybe(0.3):
            parts = [self.condition(sources, depth + 1) for _ in range(2)]
            sign = self.chance.choice([" AND ", " OR "])
            return tuple("(" + sign.join(side) + ")" for side in zip(*parts, strict=True))  # type: ignore[return-value]
        if self.maybe(0.2 if depth < 1 else 0.08):
            return self.subquery_condition(sources)
        text = self.simple(sources)
        if self.maybe(0.1):
            text = f"NOT ({text})"
        return text, text

    def simple(self, sources: Sources) -> str:
        kind = self.chance.choice(["int", "int", "text"])
        if not sources.names(kind):
            kind = "text" if kind == "int" else "int"
        column = self.chance.choice(sources.names(kind) or ["1"])
        form = self.chance.choice(["=", "=", "<", ">=", "!=", "between", "in", "null", "not null", "like", "same"])
        if form == "between" and kind == "int":
            return f"{column} BETWEEN {self.chance.randint(-2, 3)} AND {self.chance.randint(1, 7)}"
        if form == "in":
            values = ", ".join(self.literal(kind) for _ in range(self.chance.randint(1, 3)))
            return f"{column} {self.chance.choice(['', '', 'NOT '])}IN ({values})"
        if form in ("null", "not null"):
            return f"{column} IS {form.upper()}"
        if form == "like" and kind == "text":
            return f"{column} LIKE '{self.chance.choice(['a%', '%b', 'a%c', 'ab', '%', '_b%'])}'"
        sign = form if form in ("=", "<", ">=", "!=") else "="
        return f"{column} {sign} {self.value(kind, sources)}"

    def literal(self, kind: str) -> str:
        return f"'{self.chance.choice(WORDS)}'" if kind == "text" else str(self.chance.randint(-2, 7))

    def subquery_condition(self, outer: Sources) -> tuple[str, str]:
        inner = self.table()
        kind = self.chance.choice(["int", "text"])
        if not outer.names(kind) or not inner.names(kind):
            kind = "text" if kind == "int" else "int"
        if not outer.names(kind) or not inner.names(kind):
            return "1 = 1", "1 = 1"
        mine, theirs = self.chance.choice(outer.names(kind)), self.chance.choice(inner.names(kind))
        more, more_lite = ("", "")
        if self.maybe(0.5):
            text = self.simple(inner)
            more = more_lite = f" AND {text}"
        form = self.chance.choice(["IN", "NOT IN", "EXISTS", "NOT EXISTS", "scalar"])
        if form in ("IN", "NOT IN"):
            where = f" WHERE {more[5:]}" if more else ""
            return tuple(f"{mine} {form} (SELECT {theirs} FROM {text}{where})" for text in (inner.spanner, inner.lite))  # type: ignore[return-value]
        if form == "scalar":
            where = f" WHERE {theirs} = {mine}{more}" if self.maybe(0.5) else (f" WHERE {more[5:]}" if more else "")
            aggregate = self.chance.choice(["MAX", "MIN"])
            return tuple(
                f"{mine} = (SELECT {aggregate}({theirs}) FROM {text}{where})" for text in (inner.spanner, inner.lite)
            )  # type: ignore[return-value]
        return (
            f"{form} (SELECT 1 FROM {inner.spanner} WHERE {theirs} = {mine}{more})",
            f"{form} (SELECT 1 FROM {inner.lite} WHERE {theirs} = {mine}{more_lite})",
        )

    # SELECT

    def select(self, depth: int = 0, names: bool = False) -> Made:
        sources = self.sources(depth)
        where, where_lite = "", ""
        if self.maybe(0.7):
            one, two = self.condition(sources, depth)
            where, where_lite = f" WHERE {one}", f" WHERE {two}"
        items, columns, group, having = self.items(sources, names)
        distinct = "DISTINCT " if not group and self.maybe(0.12) else ""
        head = f"SELECT {distinct}{', '.join(items)} FROM "
        tail = group + having
        made = Made(f"{head}{sources.spanner}{where}{tail}", f"{head}{sources.lite}{where_lite}{tail}", columns)
        if depth == 0 and self.maybe(0.15) and not group:
            return self.union(made)
        if depth == 0 and self.maybe(0.1):
            made = self.common(made)
        return self.ordered(made, len(made.columns)) if self.maybe(0.5) else made

    def common(self, inner: Made) -> Made:
        """WITH: the query under a name, read once or twice."""
        name, one, two = self.alias(), self.alias(), self.alias()
        columns = {f"c{self.alias()}": (one, c) for c in inner.columns}
        items = ", ".join(f"{alias}.{c} AS {new}" for new, (alias, c) in columns.items())
        kinds = {new: inner.columns[c] for new, (_, c) in columns.items()}
        source = f"{name} AS {one}"
        if self.maybe(0.6):
            key = self.chance.choice(list(inner.columns))
            source += f" {self.chance.choice(['JOIN', 'LEFT JOIN'])} {name} AS {two} ON {one}.{key} = {two}.{key}"
        body = f"SELECT {items} FROM {source}"
        return Made(f"WITH {name} AS ({inner.spanner}) {body}", f"WITH {name} AS ({inner.lite}) {body}", kinds)

    def union(self, first: Made) -> Made:
        kinds = list(first.columns.values())
        other = self.table()
        items = [self.value(kind, other) for kind in kinds]
        second = f" UNION ALL SELECT {', '.join(items)} FROM "
        return Made(f"{first.spanner}{second}{other.spanner}", f"{first.lite}{second}{other.lite}", first.columns)

    def items(self, sources: Sources, names: bool) -> tuple[list[str], dict[str, str], str, str]:
        if self.maybe(0.3):
            return self.grouped(sources)
        items, columns = [], {}
        for _ in range(self.chance.randint(1, 4)):
            kind = self.chance.choice(["int", "text"])
            name = f"c{self.alias()}"
            items.append(f"{self.item(kind, sources)} AS {name}")
            columns[name] = kind
        return items, columns, "", ""

    def grouped(self, sources: Sources) -> tuple[list[str], dict[str, str], str, str]:
        keys = []
        every = sources.names("int") + sources.names("text")
        for _ in range(self.chance.randint(0, 2)):
            key = self.chance.choice(every)
            if key not in keys:
                keys.append(key)
        items, columns = [], {}
        for key in keys:
            name = f"c{self.alias()}"
            items.append(f"{key} AS {name}")
            columns[name] = "int" if key in sources.names("int") else "text"
        calls = ["COUNT(*)"]
        for column in sources.names("int"):
            calls += [f"{call}({column})" for call in ("SUM", "MIN", "MAX", "COUNT")] + [f"COUNT(DISTINCT {column})"]
        for column in sources.names("text"):
            calls += [f"MIN({column})", f"MAX({column})", f"COUNT({column})"]
        for _ in range(self.chance.randint(1, 3)):
            call = self.chance.choice(calls)
            name = f"c{self.alias()}"
            items.append(f"{call} AS {name}")
            text = call[:3] in ("MIN", "MAX") and call[4:-1] in sources.names("text")
            columns[name] = "text" if text else "int"
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        having = (
            f" HAVING COUNT(*) {self.chance.choice(['>', '<='])} {self.chance.randint(0, 3)}"
            if keys and self.maybe(0.3)
            else ""
        )
        return items, columns, group, having

    def ordered(self, made: Made, width: int) -> Made:
        """ORDER BY all columns, so that LIMIT leaves no choice."""
        keys = list(range(1, width + 1))
        self.chance.shuffle(keys)
        order = " ORDER BY " + ", ".join(f"{key}{self.chance.choice(['', ' DESC'])}" for key in keys)
        if self.maybe(0.6):
            order += f" LIMIT {self.chance.randint(0, 6)}"
            if self.maybe(0.3):
                order += f" OFFSET {self.chance.randint(0, 3)}"
        return Made(made.spanner + order, made.lite + order, made.columns, ordered=True)


@dataclass
class Made:
    """A query for both databases, and the kinds of its columns; `ordered` when the order of its rows is fixed."""

    spanner: str
    lite: str
    columns: dict[str, str]
    ordered: bool = False


def sort_key(row: tuple[object, ...]) -> list[tuple[bool, str, object]]:
    """Rows in some order, NULLs too."""
    return [(value is not None, type(value).__name__, value if value is not None else 0) for value in row]
