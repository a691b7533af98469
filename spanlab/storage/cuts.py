"""The splits of a database, and how they are cut: by hand, around a hot row, by size.

db.splits                                # all of them in key order
db.splits.cut("Orders", ["c5"])          # before a row, or before all rows whose key begins so
db.splits.isolate("Counters", ["hits"])  # a hot row gets a split of its own
db.splits.cut_by_size(10_000)            # as Spanner does when data grow (facts.md 1.2.1)
db.splits.merge()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from spanlab.storage.addresses import Addresses, index_path, table_path
from spanlab.storage.looking import placed_rows, space_of
from spanlab.storage.refusals import row_name
from spanlab.storage.rows import after_prefix
from spanlab.storage.splits import Split, SplitMap, SplitPoint, cuts_by_size
from spanlab.values import coerce

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanlab.storage.database import Database


class Splits(Sequence[Split]):
    """The splits of a database in key order. Each root table and each global index begins one, cuts make more.

    `map` tells which split an address lies in; it never changes, a cut puts another in its place.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._addresses = Addresses()
        self._points: list[SplitPoint] = []
        self.map = SplitMap({}, [])

    def __len__(self) -> int:
        return len(self.map.points) + 1

    @overload
    def __getitem__(self, number: int) -> Split: ...

    @overload
    def __getitem__(self, number: slice) -> list[Split]: ...

    def __getitem__(self, number: int | slice) -> Split | list[Split]:
        if isinstance(number, slice):
            return [self.map.split(one) for one in range(len(self))[number]]
        return self.map.split(range(len(self))[number])

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    def key_spaces(self) -> list[str]:
        """The root tables and global indexes: each is a key space of its own, with all that is interleaved in it."""
        schema = self._database.bound_schema
        roots = [name for name, table in schema.tables.items() if table.interleave is None]
        spaces = roots + [name for name, index in schema.indexes.items() if index.interleave_in is None]
        return sorted(spaces, key=self._addresses.mark)

    def rebind(self, renamed: Mapping[str, str]) -> None:
        """Follow a change of the schema: cuts in what is left stay. `renamed` maps new table names to old ones."""
        self._addresses.rename(renamed)
        new_names = {old: new for new, old in renamed.items()}
        self._points = [point._replace(name=new_names.get(point.name, point.name)) for point in self._points]
        self._remap()

    def cut(self, name: str, key: Sequence[object]) -> None:
        """Cut before a row of a table or an index, or before all rows whose key begins with `key`. Of an interleaved
        table, the parent's part of a key stands for the parent's row, with which the family begins."""
        self._points.append(self._point(name, key))
        self._remap()

    def isolate(self, name: str, key: Sequence[object]) -> None:
        """Give one row, with all interleaved under it, a split of its own, as a hot row gets (facts.md 1.2.3)."""
        start = self._point(name, key)
        space, beyond = space_of(self._database.bound_schema, start.name), after_prefix(start.address)
        rows = placed_rows(self._database, space)
        after = next((row for row in rows if beyond is not None and row.address >= beyond), None)
        self._points.append(start)
        if after is not None:
            self._points.append(SplitPoint(after.address, after.name, after.key))
        self._remap()

    def cut_by_size(self, limit_bytes: int) -> int:
        """Cut wherever a split would be larger than the limit; cuts that are there stay. The number of splits then.

        Cuts fall between root rows, inside a family only where it alone is larger than the limit (facts.md 1.2.3).
        """
        if limit_bytes < 1:
            raise ValueError(f"limit_bytes: {limit_bytes} was given; it is at least 1")
        for space in self.key_spaces():
            self._points += cuts_by_size(placed_rows(self._database, space), limit_bytes)
        self._remap()
        return len(self)

    def merge(self) -> None:
        """Forget all cuts but those between key spaces."""
        self._points.clear()
        self._remap()

    def _point(self, name: str, key: Sequence[object]) -> SplitPoint:
        rows = self._database.stored(name)
        if len(key) > len(rows.key):
            raise ValueError(f"key: {row_name(rows.name, key)} has more parts than the key of {rows.name}")
        types = [rows.types[position] for position in rows.key_positions]
        return self.map.point(rows.name, [coerce(type_, value) for type_, value in zip(types, key, strict=False)])

    def _remap(self) -> None:
        schema, stored = self._database.bound_schema, self._database.stored
        paths = {name: table_path(schema, name) for name in schema.tables}
        paths |= {name: index_path(schema, name) for name in schema.indexes}
        encoders = {name: self._addresses.encoder(path, stored(name)) for name, path in paths.items()}
        starts = [SplitPoint(self._addresses.mark(name), name, ()) for name in self.key_spaces()]
        self.map = SplitMap(encoders, [*starts[1:], *(point for point in self._points if point.name in encoders)])
