"""Pieces of a plan while it is built: an operator tree, and where its rows are.

Rows start on the splits of a table or an index (`place` "split"). What looks at many rows at once (sort, group, limit,
hash) works on all splits that one server holds: the tree goes under a Local Distributed Union ("server"). A Distributed
Union brings the rows of all servers to the one that runs the query ("root"). Two tables are *aligned* when they are
interleaved in one family and joined by the key of a common ancestor: then the rows that belong together lie in the same
split and no hop is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from spanlab.query.logical import SortKey
from spanlab.query.plan import Node
from spanlab.query.text import all_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Place = Literal["split", "server", "root"]


@dataclass(frozen=True)
class Level:
    """One table of a family on the way from its root: its name, and the variables that are its key."""

    table: str
    key: tuple[str, ...]


@dataclass(eq=False)
class Fragment:
    """A piece of a plan.

    `target` is the table or index whose splits it is spread over, `aligned` says that the family's order is made use
    of. `order` is how its rows come, `merge` that only a merge of the splits keeps that order. `bindings` says what a
    variable is equal to: another variable or a constant. `family` are the levels from the root table down to what is
    scanned; `ordered_by` an index's or table's name whose key gives the order. `rows` and `cost` are estimates,
    `most_rows` a certain bound.
    """

    node: Node
    place: Place
    variables: set[str]
    rows: float = 1.0
    cost: float = 0.0
    most_rows: int | None = None
    target: str = ""
    aligned: bool = False
    split_range: list[exp.Expr] = field(default_factory=list)
    order: tuple[SortKey, ...] = ()
    merge: bool = False
    limited: bool = False
    bindings: dict[str, exp.Expr] = field(default_factory=dict)
    family: tuple[Level, ...] = ()
    unique: tuple[frozenset[str], ...] = ()
    printed: dict[str, str] = field(default_factory=dict)
    by_index: bool = False
    seeks: bool = False
    batched: Node | None = None

    def with_node(self, node: Node, **changes: object) -> Fragment:
        """The same rows under another operator."""
        return replace(self, node=node, **changes)  # type: ignore[arg-type]

    def canonical(self, name: str) -> exp.Expr:
        """What a variable is equal to, followed to the end: a constant, or a variable that stands for its equals."""
        seen = {name}
        while name in self.bindings:
            bound = self.bindings[name]
            if not isinstance(bound, exp.Column) or bound.name in seen:
                return bound if not isinstance(bound, exp.Column) else exp.column(name)
            name = bound.name
            seen.add(name)
        return exp.column(name)

    def is_constant(self, name: str) -> bool:
        """True for a variable that has one value in all rows."""
        bound = self.canonical(name)
        return not isinstance(bound, exp.Column) or bound.name not in self.variables

    def is_pinned_to(self, level: Level) -> bool:
        """True when every key column of that level has one value."""
        return bool(level.key) and all(self.is_constant(name) for name in level.key)


def link(node: Node, name: str) -> Node:
    """The node in a role of its parent."""
    node.link = name
    return node


def on_server(fragment: Fragment) -> Fragment:
    """The rows of all splits that a server holds."""
    if fragment.place != "split":
        return fragment
    return fragment.with_node(Node("Local Distributed Union", [fragment.node]), place="server")


def gathered(fragment: Fragment) -> Fragment:
    """The rows of all splits in one place, by a Distributed Union."""
    if fragment.place == "root":
        return fragment
    node = Node("Distributed Union", [on_server(fragment).node], split_range=all_of(fragment.split_range))
    node.details["distribution_table"] = fragment.target
    node.details["split_ranges_aligned"] = fragment.aligned
    if fragment.merge:
        node.details["preserve_subquery_order"] = True
    return fragment.with_node(node, place="root", merge=False)


def order_prefix(fragment: Fragment, keys: Sequence[SortKey]) -> int:
    """How many of the wanted sort keys the fragment's own order satisfies, from the first on."""
    constants = [key for key in keys if fragment.is_constant(key.name)]
    own = [key for key in fragment.order if not fragment.is_constant(key.name)]
    count = position = 0
    for key in keys:
        if key not in constants:
            if position >= len(own):
                break
            have = own[position]
            if have.desc != key.desc or fragment.canonical(have.name) != fragment.canonical(key.name):
                break
            position += 1
        count += 1
    # behind the whole key of a single row nothing is left to sort
    return len(keys) if _unique_prefix(fragment, keys[:count]) else count


def _unique_prefix(fragment: Fragment, keys: Iterable[SortKey]) -> bool:
    have = {fragment.canonical(key.name).name for key in keys}
    return any(
        all(fragment.is_constant(name) or fragment.canonical(name).name in have for name in unique)
        for unique in fragment.unique
    )


def covered_level(fragment: Fragment, names: Iterable[str]) -> Level | None:
    """The deepest level of the family whose whole key is among these variables, or fixed."""
    have = {fragment.canonical(name) for name in names}
    found = None
    for level in fragment.family:
        if level.key and all(fragment.is_constant(n) or fragment.canonical(n) in have for n in level.key):
            found = level
    return found


def common_level(outer: Fragment, inner: Fragment) -> Level | None:
    """The deepest table that both families share and whose key is equal on both sides: there they are aligned."""
    found = None
    for mine in outer.family:
        for other in inner.family:
            if mine.table == other.table and mine.key and _equal_keys(outer, mine, inner, other):
                found = mine
    return found


def _equal_keys(outer: Fragment, mine: Level, inner: Fragment, other: Level) -> bool:
    for left, right in zip(mine.key, other.key, strict=True):
        found = inner.canonical(right)
        wanted = outer.canonical(left)
        if isinstance(found, exp.Column) and found.name in outer.variables:
            found = outer.canonical(found.name)
        if found != wanted:
            return False
    return True
