"""Views: queries with a name, and what they need to stay valid.

A view reads tables and other views; none of these may change so that the query no longer holds or gives columns of
another name or type. Its query is read strictly: every column of a table is written with the table in front of it,
nothing is selected by `*`, every column of the result has a name (documentation page `create-manage-views`), so that
a new column elsewhere can never change what the view means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from spanlab.errors import SqlError, suggest
from spanlab.schema import limits, names
from spanlab.schema.objects import Draft
from spanlab.schema.refusal import Refusal
from spanlab.sql import parse_query
from spanlab.sql.dialect import hints
from spanlab.sql.expressions import infer_type

if TYPE_CHECKING:
    from spanlab.catalog import View
    from spanlab.schema.objects import Objects
    from spanlab.sql.statements import CreateView, DropView
    from spanlab.values import Type

Columns = dict[str, "Type | None"]
"""Columns by name, folded; None where the type is not known."""


@dataclass
class Reading:
    """What the query of a view gives, and the other views that it reads."""

    columns: Columns = field(default_factory=dict)
    views: set[str] = field(default_factory=set)


def create(draft: Draft, statement: CreateView) -> None:
    """CREATE [OR REPLACE] VIEW."""
    view = statement.view
    kind, spelled = draft.names.get(view.name.casefold(), ("", ""))
    replaced = draft.views[spelled] if kind == "view" and statement.or_replace else None
    if replaced is None:
        names.check_new_name(draft, view.name, "view")
        if len(draft.views) >= limits.VIEWS:
            raise Refusal(f"The database has {limits.VIEWS:,} views; more are not allowed.", view.name, "object")
    if statement.text and not re.search(r"\bSQL\s+SECURITY\b", statement.text, re.IGNORECASE):
        raise Refusal(
            f"The view {view.name} does not say with whose rights it reads.",
            view.name,
            "object",
            hint=f"CREATE VIEW {view.name} SQL SECURITY INVOKER AS …",
        )
    _check_nesting(draft, view, replaced)
    if replaced is not None:
        changed = Draft(draft)
        changed.put_view(view, replaces=replaced.name)
        check_views(draft, changed, view.name)
    draft.put_view(view, replaces=replaced.name if replaced else "")


def drop(draft: Draft, statement: DropView) -> None:
    """DROP VIEW: refused while another view reads it."""
    if statement.if_exists and statement.name not in draft.views:
        return
    view = names.find_view(draft, statement.name)
    changed = Draft(draft)
    changed.drop("view", view.name)
    check_views(draft, changed, view.name)
    draft.drop("view", view.name)


def check_views(before: Objects, after: Objects, changed: str, role: str = "object") -> None:
    """Every view must still hold after a change, and give columns of the same types."""
    read_before: dict[str, Reading] = {}
    read_after: dict[str, Reading] = {}
    for view in after.views.values():
        if before.views.get(view.name) != view:
            continue
        try:
            columns = read(after, view, read_after).columns
        except Refusal:
            raise Refusal(
                f"The view {view.name} needs {changed} and would no longer hold.",
                changed,
                role,
                hint=f"DROP VIEW {view.name} first, and create it anew afterwards",
            ) from None
        for name, kind in read(before, view, read_before).columns.items():
            new = columns[name]
            if kind is not None and new is not None and kind.name != new.name:
                raise Refusal(
                    f"The view {view.name} gives {name} as {kind.name}; it would become {new.name}.",
                    changed,
                    role,
                    hint=f"CREATE OR REPLACE VIEW {view.name} … with a CAST of the column first",
                )


# what a query reads


def read(objects: Objects, view: View, done: dict[str, Reading] | None = None) -> Reading:
    """What the view reads and gives; Refusal where its query does not hold. `done` keeps what has been read already."""
    done = {} if done is None else done
    if view.name in done:
        return done[view.name]
    reading = Reading()
    try:
        query = parse_query(view.query)
        scopes = traverse_scope(query)
    except SqlError as error:
        raise Refusal(f"The query of {view.name}: {error.message}", view.name, "object", hint=error.hint) from None
    if not scopes:
        raise Refusal(f"The view {view.name} needs a SELECT.", view.name, "object")
    outputs: dict[int, Columns] = {}
    for scope in scopes:
        sources = {
            alias: outputs.get(id(source.expression), {})
            if isinstance(source, Scope)
            else _table_columns(objects, source, reading, done)
            for alias, source in scope.sources.items()
        }
        _resolve_all(scope, sources)
        outputs[id(scope.expression)] = _outputs(scope, sources, outputs)
    top = scopes[-1].expression
    _check_outputs(view, top)
    reading.columns = outputs[id(top)]
    done[view.name] = reading
    return reading


def _table_columns(objects: Objects, source: exp.Table, reading: Reading, done: dict[str, Reading]) -> Columns:
    """The columns of a table or view that a FROM names."""
    name = f"{source.db}.{source.name}" if source.db else source.name
    kind, spelled = objects.names.get(name.casefold(), ("", ""))
    if kind == "view":
        reading.views.add(spelled)
        return read(objects, objects.views[spelled], done).columns
    if kind not in ("table", "synonym"):
        raise Refusal(f"There is no table {name}.{suggest(name, [*objects.tables, *objects.views])}", name, "table")
    table = objects.table(spelled)
    forced = hints(source).get("FORCE_INDEX")
    if forced and forced.upper() != "_BASE_TABLE":
        index = objects.indexes.get(objects.names.get(forced.casefold(), ("", ""))[1])
        if index is None or index.table != table.name:
            raise Refusal(f"{table.name} has no index {forced} that a query could be forced to use.", forced, "table")
    return {column.name.casefold(): column.type for column in table.columns}


def _resolve_all(scope: Scope, sources: dict[str, Columns]) -> None:
    """Every column that stands in the scope must come from one of its sources, and say from which."""
    folded = {alias.casefold(): alias for alias in sources}
    own_names = {select.alias.casefold() for select in _selects(scope.expression) if isinstance(select, exp.Alias)}
    for column in scope.columns:
        name = column.name.casefold()
        if not column.table:
            if name not in own_names and name not in folded:
                _check_unqualified(scope, sources, column)
            continue
        known = sources.get(folded.get(column.table.casefold(), ""), {})
        if known and name not in known:  # nothing known: a column of an outer query, looked at there, or of an array
            raise Refusal(
                f"{column.table} has no column {column.name}.{suggest(name, known)}", column.name, "expression"
            )


def _check_unqualified(scope: Scope, sources: dict[str, Columns], column: exp.Column) -> None:
    holders = [alias for alias, columns in sources.items() if column.name.casefold() in columns]
    if any(isinstance(scope.sources[alias], Scope) for alias in holders):
        return
    if holders:
        raise Refusal(
            f"In a view every column is written with its table: {column.name} belongs to {holders[0]}.",
            column.name,
            "expression",
            hint=f"{holders[0]}.{column.name}",
        )
    if all(sources.values()) and not scope.is_correlated_subquery and not scope.parent:
        known = [name for columns in sources.values() for name in columns]
        raise Refusal(
            f"Nothing that the view reads has a column {column.name}.{suggest(column.name, known)}", column.name
        )


def _selects(query: exp.Expr) -> list[exp.Expr]:
    return list(query.selects) if isinstance(query, exp.Query) else []


def _outputs(scope: Scope, sources: dict[str, Columns], done: dict[int, Columns]) -> Columns:
    """The columns that a query gives, with their types as far as they can be told."""
    query = scope.expression
    if isinstance(query, exp.SetOperation):
        return done.get(id(query.left), {})
    found: Columns = {}
    for select in _selects(query):
        if select.is_star:
            for columns in sources.values():
                found.update(columns)
        elif select.alias_or_name:
            found[select.alias_or_name.casefold()] = _type_of(select.unalias(), sources)
    return found


def _type_of(expression: exp.Expr, sources: dict[str, Columns]) -> Type | None:
    """The type of a selected expression, None where it cannot be told."""
    types: dict[str, Type] = {}

    def numbered(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        for alias, columns in sources.items():
            kind = columns.get(node.name.casefold())
            if kind is not None and node.table.casefold() in ("", alias.casefold()):
                types[f"c{len(types)}"] = kind
                return exp.column(f"c{len(types) - 1}")
        return node

    replaced = expression.transform(numbered)
    try:
        return infer_type(replaced, types)
    except SqlError:  # wrong, or outside the course: a query is read in full only when it is asked
        return None


def _check_outputs(view: View, query: exp.Expr) -> None:
    """Every column of a view has a name of its own, none comes from a star, and nothing waits for a parameter."""
    seen: set[str] = set()
    if query.find(exp.Parameter):
        raise Refusal(f"The query of the view {view.name} cannot have parameters.", view.name, "object")
    for part in query.find_all(exp.Select):
        if any(select.is_star for select in part.selects):
            raise Refusal(
                f"The view {view.name} selects *; a view names its columns.",
                view.name,
                "object",
                hint="SELECT T.A, T.B …",
            )
    for select in _selects(query):
        unnamed = not select.alias and not isinstance(select, exp.Column | exp.Dot)
        name = select.alias_or_name
        if unnamed or not name:
            raise Refusal(
                f"A column of the view {view.name} has no name: {select.sql('bigquery')}.",
                view.name,
                "object",
                hint=f"{select.sql('bigquery')} AS name",
            )
        if name.casefold() in seen:
            raise Refusal(
                f"Two columns of the view {view.name} are called {name}.", name, "object", hint="another AS name"
            )
        seen.add(name.casefold())


# views upon views


def _check_nesting(objects: Objects, view: View, replaced: View | None) -> None:
    """A view does not read itself, and views build at most ten deep upon each other."""
    done: dict[str, Reading] = {}
    depth, layer = 1, read(objects, view).views
    while layer:
        if replaced is not None and replaced.name in layer:
            raise Refusal(f"{view.name} would read itself.", view.name, "object")
        depth += 1
        layer = set().union(*(read(objects, objects.views[name], done).views for name in layer))
    if depth > limits.VIEW_NESTING:
        raise Refusal(
            f"{view.name} would build on views {depth - 1} deep; views nest {limits.VIEW_NESTING} deep at most.",
            view.name,
            "object",
        )
