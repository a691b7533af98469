"""INSERT, UPDATE and DELETE: statements that change rows, several of them in one transaction.

DML sees its own earlier statements, and each statement must leave the tables in order: foreign keys, UNIQUE and CHECK
are looked at after every statement, where mutations are looked at once, at commit (facts.md 5.1). The limit of 80,000
mutations holds for each statement, not for the transaction (facts.md 6.1 R1). If one statement fails nothing of the
transaction stays.

Conditions and new values are evaluated over the table's rows; where they hold a subquery, and for INSERT … SELECT, the
rows come from a query. How to run one is an argument (`select`), so that this module knows nothing of plans:

    select(tree, params) -> (names, rows)      # the tree of a SELECT; rows are tuples of Python values
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from spanlab.errors import ConstraintError, QueryError, UnsupportedError, suggest
from spanlab.sql import parse_query
from spanlab.sql.expressions import EvaluationError, Vector, evaluate
from spanlab.storage import refusals
from spanlab.storage.commits import StatementOutcome
from spanlab.storage.counting import MUTATION_LIMIT
from spanlab.values import coerce

if TYPE_CHECKING:
    from spanlab.storage import Commit, Database
    from spanlab.storage.rows import Row
    from spanlab.storage.tables import StoredTable
    from spanlab.storage.transaction import Transaction

Params = Mapping[str, object]
Select = Callable[[exp.Expr, Params], tuple[Sequence[str], Sequence[Sequence[object]]]]
_DEFAULT = object()


def execute(database: Database, statements: str | Iterable[str], params: Params | None, select: Select) -> Commit:
    """Run DML statements in one transaction and commit it.

    The Commit has, for each statement, its row count, its mutations and the rows of its THEN RETURN (`statements`).
    Raises QueryError for a statement that cannot be read, ConstraintError for one that breaks a rule; both change
    nothing.
    """
    texts = [statements] if isinstance(statements, str) else list(statements)
    trees = [parse_query(text) for text in texts]
    with database.transaction() as transaction:
        outcomes = []
        for text, tree in zip(texts, trees, strict=True):
            before = transaction.mutations
            count, returned = _Statement(database, transaction, tree, params or {}, select).run(text)
            transaction.end_step()
            mutations = transaction.mutations - before
            if mutations > MUTATION_LIMIT:
                raise refusals.too_many_mutations(mutations, MUTATION_LIMIT, "the statement")
            outcomes.append(StatementOutcome(text, count, mutations, returned))
        return database.finish(transaction, outcomes)


class _Statement:
    """One DML statement at work."""

    def __init__(
        self, database: Database, transaction: Transaction, tree: exp.Expr, params: Params, select: Select
    ) -> None:
        self.database, self.transaction, self.tree = database, transaction, tree
        self.params, self.select = params, select

    def run(self, text: str) -> tuple[int, list[dict[str, object]]]:
        """Carry it out: how many rows it touched, and what THEN RETURN gives."""
        if isinstance(self.tree, exp.Insert):
            table, rows = self.insert()
        elif isinstance(self.tree, exp.Update):
            table, rows = self.update()
        elif isinstance(self.tree, exp.Delete):
            table, rows = self.delete()
        else:
            raise QueryError("execute runs INSERT, UPDATE and DELETE.", hint="db.query runs a SELECT", text=text)
        return len(rows), self.returned(table, rows)

    # INSERT

    def insert(self) -> tuple[StoredTable, list[Row]]:
        tree = self.tree
        if not isinstance(tree.this, exp.Schema):
            raise QueryError("INSERT needs the names of the columns.", hint="INSERT INTO table (column, …) VALUES (…)")
        table = self.table(tree.this.this)
        positions = [self.writable(table, name.name, "INSERT") for name in tree.this.expressions]
        if len(set(positions)) != len(positions):
            raise QueryError(f"INSERT into {table.name} names a column twice.")
        for position in table.required:
            if position not in positions:
                raise refusals.missing_not_null(table.name, table.columns[position], "INSERT")
        alternative = self.alternative()
        keys: list[bytes] = []
        for named, rows in self.grouped(positions, self.new_rows(positions)):
            keys += self.write(table, named, rows, alternative)
        return table, [table.rows.row(key) for key in dict.fromkeys(keys)]

    def alternative(self) -> str:
        """What happens where the key is taken: "" (an error), UPDATE or IGNORE."""
        conflict = self.tree.args.get("conflict")
        if conflict is None:
            return str(self.tree.args.get("alternative") or "")
        if "NOTHING" in str(conflict.args.get("action")):
            return "IGNORE"
        raise UnsupportedError(
            "INSERT … ON CONFLICT DO UPDATE lies outside the course.", hint="INSERT OR UPDATE INTO table (…) VALUES (…)"
        )

    def new_rows(self, positions: Sequence[int]) -> list[list[object]]:
        """The rows of VALUES or of the SELECT; `_DEFAULT` stands for the keyword DEFAULT."""
        source = self.tree.expression
        if isinstance(source, exp.Values):
            rows = [[self.cell(node) for node in row.expressions] for row in source.expressions]
        else:
            _, found = self.select(source, self.params)
            rows = [list(row) for row in found]
        for row in rows:
            if len(row) != len(positions):
                raise QueryError(f"INSERT names {len(positions)} columns, but a row has {len(row)} values.")
        return rows

    def cell(self, node: exp.Expr) -> object:
        if isinstance(node, exp.Var) and node.name.upper() == "DEFAULT":
            return _DEFAULT
        if node.find(exp.Query) is not None:
            _, rows = self.select(exp.Select(expressions=[node.copy()]), self.params)
            return rows[0][0]
        return self.evaluated(node, {}, 1).to_list()[0]

    def grouped(
        self, positions: Sequence[int], rows: list[list[object]]
    ) -> Iterable[tuple[list[int], list[list[object]]]]:
        """The rows in order, those next to each other together that leave the same columns to their DEFAULT."""
        group: list[list[object]] = []
        named: list[int] = []
        for row in rows:
            given = [position for position, value in zip(positions, row, strict=True) if value is not _DEFAULT]
            if group and given != named:
                yield named, group
                group = []
            named = given
            group.append([value for value in row if value is not _DEFAULT])
        if group:
            yield named, group

    def write(
        self, table: StoredTable, positions: list[int], rows: list[list[object]], alternative: str
    ) -> list[bytes]:
        """Write rows that give the columns at `positions`; the encoded keys of those that were written."""
        if not alternative:
            columns = list(zip(*rows, strict=True)) or [()] * len(positions)
            return self.transaction.insert_values(table, positions, columns, len(rows))
        keys = []
        for row in rows:
            key = self.transaction.write_row(table, positions, row, alternative)
            keys += [key] if key is not None else []
        return keys

    # UPDATE and DELETE

    def update(self) -> tuple[StoredTable, list[Row]]:
        table, name = self.target(self.tree.this)
        assigned: dict[int, exp.Expr] = {}
        for item in self.tree.expressions:
            position = self.writable(table, item.this.name, "UPDATE")
            if position in table.key_positions:
                raise ConstraintError(
                    f"UPDATE cannot change {table.columns[position].name}: it is part of the key of {table.name}",
                    code="INVALID_ARGUMENT",
                    table=table.name,
                    rule="primary key",
                    hint="delete the row and insert it under its new key",
                )
            if position in assigned:
                raise QueryError(f"UPDATE sets {table.columns[position].name} twice.")
            assigned[position] = item.expression
        expressions = list(assigned.values())
        chosen, values = self.chosen(table, name, [node for node in expressions if not _is_default(node)])
        for number, key in enumerate(chosen):
            given = iter(values)
            new = {
                position: self.default(table, position) if _is_default(node) else next(given)[number]
                for position, node in assigned.items()
            }
            self.transaction.change(table, key, self.transaction.maker.kept(table, new))
        return table, [table.rows.row(key) for key in chosen]

    def default(self, table: StoredTable, position: int) -> object:
        return self.transaction.maker.filled(table, position, 1)[0]

    def delete(self) -> tuple[StoredTable, list[Row]]:
        tables = self.tree.args.get("tables")
        table, name = self.target(tables[0] if tables else self.tree.this)
        keys, _ = self.chosen(table, name, [])
        rows = [table.rows.row(key) for key in keys]
        self.transaction.delete_keys(table, keys)
        return table, rows

    def chosen(
        self, table: StoredTable, name: str, expressions: list[exp.Expr]
    ) -> tuple[list[bytes], list[Sequence[object]]]:
        """The encoded keys of the rows that WHERE keeps, and for each expression its values in these rows."""
        where = self.tree.args.get("where")
        if where is None:
            raise QueryError(
                f"{self.tree.key.upper()} needs a WHERE, so that no table is changed whole by mistake.",
                hint="WHERE TRUE",
            )
        if any(node.find(exp.Query) is not None for node in (where, *expressions)):
            return self.chosen_by_query(table, where, expressions)
        span = self.key_span(table, name, where.this)
        columns = self.vectors(table, name, span, [where.this, *expressions])
        count = span.stop - span.start
        kept = np.flatnonzero(self.evaluated(where.this, columns, count, condition=True).true())
        inside = table.rows.keys_at(span)
        keys = [inside[number] for number in kept]
        taken = {name: vector.take(kept) for name, vector in columns.items()}
        return keys, [self.evaluated(node, taken, len(keys)).to_list() for node in expressions]

    def chosen_by_query(
        self, table: StoredTable, where: exp.Expr, expressions: list[exp.Expr]
    ) -> tuple[list[bytes], list[Sequence[object]]]:
        target = (self.tree.args.get("tables") or [self.tree.this])[0].copy()
        key = [exp.column(part.column, table=target.alias or None) for part in table.table.key]
        wanted = key + [exp.alias_(node.copy(), f"value_{number}") for number, node in enumerate(expressions)]
        query = exp.Select(expressions=wanted or [exp.Literal.number(1)]).from_(target).where(where.this.copy())
        _, rows = self.select(query, self.params)
        keys = [table.rows.encode(row[: len(key)]) for row in rows]
        return keys, [[row[len(key) + number] for row in rows] for number in range(len(expressions))]

    def key_span(self, table: StoredTable, name: str, where: exp.Expr) -> slice:
        """The rows that can meet a condition that fixes the first key columns by =; all rows where it does not."""
        fixed: dict[str, object] = {}
        for part in where.flatten() if isinstance(where, exp.And) else [where]:
            if isinstance(part, exp.EQ):
                for column, value in ((part.this, part.expression), (part.expression, part.this)):
                    if isinstance(column, exp.Column) and isinstance(value, (exp.Literal, exp.Parameter)):
                        fixed.setdefault(column.name.casefold(), self.evaluated(value, {}, 1).to_list()[0])
        prefix: list[object] = []
        for position in table.key_positions:
            column_name = table.columns[position].name.casefold()
            if column_name not in fixed or fixed[column_name] is None:
                break
            try:
                prefix.append(coerce(table.types[position], fixed[column_name]))
            except ValueError:
                break  # the condition compares other types: it is evaluated row by row
        return table.rows.span(prefix)

    # what they share

    def table(self, node: exp.Expr) -> StoredTable:
        """The stored table that a statement names."""
        name = f"{node.text('db')}.{node.name}" if node.text("db") else node.name
        try:
            return self.transaction.table(name)
        except ConstraintError:
            known = self.database.schema.tables
            raise QueryError(f"Table not found: {name}.{suggest(name, known)}") from None

    def target(self, node: exp.Expr) -> tuple[StoredTable, str]:
        """The table of an UPDATE or DELETE, and the name that its columns may carry in front."""
        return self.table(node), node.alias or node.name

    def writable(self, table: StoredTable, name: str, verb: str) -> int:
        """The position of a column that a statement may write."""
        try:
            position = table.position(name)
        except KeyError:
            raise QueryError(f"Column {name} is not in {table.name}.{suggest(name, table.rows.columns)}") from None
        if position in table.generated:
            raise ConstraintError(
                f"{verb} cannot write {table.name}.{name}: the column is generated",
                code="INVALID_ARGUMENT",
                table=table.name,
                rule="generated column",
                hint=f"leave {name} out",
            )
        return position

    def vectors(self, table: StoredTable, name: str, span: slice, nodes: Sequence[exp.Expr]) -> dict[str, Vector]:
        """The columns that these expressions read, in the rows of the span, with and without the table's name."""
        used = {column.name.casefold() for node in nodes for column in node.find_all(exp.Column)}
        found = {}
        for column in table.rows.columns:
            if column.casefold() in used or not nodes:
                (vector,) = table.rows.vectors([column], span).values()
                found[column] = found[f"{name}.{column}"] = vector
        return found

    def evaluated(self, node: exp.Expr, columns: Mapping[str, Vector], count: int, condition: bool = False) -> Vector:
        try:
            vector = evaluate(
                node, columns, count, params=self.params, now=self.transaction.now, **self.transaction.maker.chance
            )
        except EvaluationError as error:
            raise ConstraintError(error.message, code="OUT_OF_RANGE", rule="expression") from None
        if condition and vector.type.name != "BOOL":
            raise QueryError(f"WHERE needs a BOOL, this is of type {vector.type}.")
        return vector

    def returned(self, table: StoredTable, rows: list[Row]) -> list[dict[str, object]]:
        """The rows of THEN RETURN: as written, or as they were before a DELETE."""
        clause = self.tree.args.get("returning")
        if clause is None:
            return []
        name = self.target(self.tree.this)[1] if isinstance(self.tree, exp.Update) else table.name
        columns: dict[str, Vector] = {}
        for position, column in enumerate(table.rows.columns):
            vector = Vector.of(table.types[position], [row[position] for row in rows])
            columns[column] = columns[f"{name}.{column}"] = vector
        found: dict[str, list[object]] = {}
        for number, node in enumerate(clause.expressions):
            if isinstance(node, exp.Star):
                visible = [c.name for c in table.columns if not c.hidden]
                found |= {column: columns[column].to_list() for column in visible}
            else:
                values = self.evaluated(node.unalias(), columns, len(rows)).to_list()
                found[node.alias_or_name or f"column_{number + 1}"] = values
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def _is_default(node: exp.Expr) -> bool:
    return isinstance(node, exp.Var) and node.name.upper() == "DEFAULT"
