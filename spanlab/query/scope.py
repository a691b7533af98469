"""Which names a piece of SQL can see, and what each of them stands for.

A scope is what FROM brings into view: tables, subqueries and array elements under their aliases. A subquery also sees
the scopes around it; a name found there makes it correlated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.errors import QueryError, suggest
from spanlab.query.logical import Scan, Variable, variable_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass
class Source:
    """Something with columns in FROM. `expressions` holds what each column stands for, in order, by name as written.

    A table's columns become variables when they are first spoken of (`scan`, `new_variable`); an array's element has no
    columns and is called by its alias (`element`).
    """

    alias: str
    expressions: dict[str, exp.Expr] = field(default_factory=dict)
    scan: Scan | None = None
    new_variable: Callable[..., Variable] | None = None
    element: exp.Expr | None = None

    def columns(self) -> list[str]:
        """The column names that `*` stands for."""
        if self.scan is not None:
            return [column.name for column in self.scan.table.columns if not column.hidden]
        return list(self.expressions) or ([self.alias] if self.element is not None else [])

    def find(self, name: str) -> exp.Expr | None:
        """What a column stands for, None where there is no such column (case does not count)."""
        if self.scan is not None:
            return self._find_in_table(self.scan, name)
        for known, expression in self.expressions.items():
            if known.casefold() == name.casefold():
                return expression.copy()
        if self.element is not None and name.casefold() == self.alias.casefold():
            return self.element.copy()
        return None

    def _find_in_table(self, scan: Scan, name: str) -> exp.Expr | None:
        column = scan.table.column(name)
        if column is None:
            return None
        key = column.name.casefold()
        if key not in scan.columns:
            assert self.new_variable is not None
            scan.columns[key] = self.new_variable(column.name, column.type, not column.not_null)
        return variable_reference(scan.columns[key].name)


@dataclass
class Scope:
    """The sources in view. `merged` are the columns that USING made one of, by name in lower case."""

    sources: list[Source] = field(default_factory=list)
    parent: Scope | None = None
    merged: dict[str, tuple[str, exp.Expr]] = field(default_factory=dict)

    def resolve(self, node: exp.Column, text: str) -> exp.Expr:
        """What a column reference stands for; QueryError with a suggestion where it stands for nothing."""
        found = self._search(node, text)
        if found is None:
            raise self._unknown(node, text)
        return found

    def _search(self, node: exp.Column, text: str) -> exp.Expr | None:
        name, qualifier = node.name, node.table
        found = self._qualified(qualifier, name) if qualifier else self._unqualified(node, text)
        if found is None and self.parent is not None:
            return self.parent._search(node, text)
        return found

    def _qualified(self, qualifier: str, name: str) -> exp.Expr | None:
        source = self.source(qualifier)
        if source is None:
            return None
        if source.element is not None and not source.expressions:
            return exp.Dot(this=source.element.copy(), expression=exp.to_identifier(name))
        return source.find(name)

    def _unqualified(self, node: exp.Column, text: str) -> exp.Expr | None:
        if node.name.casefold() in self.merged:
            return self.merged[node.name.casefold()][1].copy()
        holders = [(source, found) for source in self.sources if (found := source.find(node.name)) is not None]
        if len(holders) > 1:
            aliases = " and ".join(source.alias for source, _ in holders)
            raise error_at(
                f"Column {node.name} is ambiguous: {aliases} have one.",
                node,
                text,
                hint=f"{holders[0][0].alias}.{node.name}",
            )
        return holders[0][1] if holders else None

    def source(self, alias: str) -> Source | None:
        """The source with that alias in this scope."""
        return next((s for s in self.sources if s.alias.casefold() == alias.casefold()), None)

    def star(self) -> list[tuple[str, exp.Expr]]:
        """What `*` stands for: the columns of USING once and first, then all others in order."""
        result = [(name, expression.copy()) for name, expression in self.merged.values()]
        for source in self.sources:
            result += [(name, found) for name, found in star_of(source) if name.casefold() not in self.merged]
        return result

    def _unknown(self, node: exp.Column, text: str) -> QueryError:
        chain = list(self._chain())
        if node.table and all(scope.source(node.table) is None for scope in chain):
            aliases = [source.alias for scope in chain for source in scope.sources]
            return error_at(
                f"{node.table} is no table or alias of this query.{suggest(node.table, aliases)}",
                node.args["table"],
                text,
                hint=", ".join(aliases),
            )
        sources = [s for scope in chain for s in scope.sources]
        if node.table:
            sources = [s for s in sources if s.alias.casefold() == node.table.casefold()]
        known = [name for source in sources for name in source.columns()]
        where = sources[0].alias if len(sources) == 1 else "the tables of this query"
        return error_at(f"There is no column {node.name} in {where}.{suggest(node.name, known)}", node, text)

    def _chain(self) -> Iterable[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


def star_of(source: Source) -> list[tuple[str, exp.Expr]]:
    """What `alias.*` stands for."""
    found = [(name, source.find(name)) for name in source.columns()]
    return [(name, expression) for name, expression in found if expression is not None]


def error_at(message: str, node: exp.Expr, text: str, hint: str = "") -> QueryError:
    """A QueryError that points at the first name in a tree's node."""
    identifier = node if isinstance(node, exp.Identifier) else node.find(exp.Identifier)
    start = identifier.meta.get("start") if identifier is not None else None
    if start is None or identifier is None:
        return QueryError(message, hint=hint, text=text)
    before = text[:start]
    column = start - (before.rfind("\n") + 1) + 1
    width = identifier.meta["end"] - start + 1
    return QueryError(message, hint=hint, text=text, line=before.count("\n") + 1, column=column, width=width)
