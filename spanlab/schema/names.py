"""Names: what they may look like, and that no two objects share one.

Tables, synonyms, indexes, constraints, sequences, views and named schemas all live in one space of names, where case
does not count: Orders and ORDERS cannot both exist. A reference inside DDL must repeat the case of the definition all
the same (documentation page `data-definition-language`, "Names"); queries may write what they like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spanlab.errors import suggest
from spanlab.farmhash import farm_fingerprint
from spanlab.schema import limits
from spanlab.schema.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanlab.catalog import Column, Index, Sequence, Table, View
    from spanlab.schema.objects import Objects

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESERVED_SCHEMAS = ("information_schema", "spanner_sys", "pg_catalog")
_RESERVED_CONSTRAINTS = ("pk_", "ck_is_not_null_")
_ARTICLE = {"index": "an index"}
_DROPPED = ("table", "index", "sequence", "view", "schema")


def check_spelling(name: str, kind: str, role: str = "object") -> None:
    """Refuse a name that is too long, or is not made of letters, digits and _ with a letter in front."""
    for part in name.split("."):
        if not _NAME.fullmatch(part):
            raise Refusal(
                f"{name} cannot be the name of a {kind}: names begin with a letter and hold letters, digits and _.",
                name,
                role,
                hint=re.sub(r"\W", "_", part.lstrip("_0123456789")) or "a name that begins with a letter",
            )
        if len(part) > limits.NAME_LENGTH:
            raise Refusal(
                f"The name of this {kind} has {len(part)} characters; {limits.NAME_LENGTH} are allowed.", name, role
            )


def check_new_name(objects: Objects, name: str, kind: str, role: str = "object") -> None:
    """Refuse a name for a new object that is misspelt, taken, or in a named schema that does not exist."""
    check_spelling(name, kind, role)
    schema, _, own = name.rpartition(".")
    if schema:
        check_named_schema(objects, schema, name, role)
    if kind == "schema" and name.casefold() in _RESERVED_SCHEMAS:
        raise Refusal(f"{name} is a schema of Spanner's own.", name, role)
    if kind == "index" and own.casefold() == "primary_key":
        raise Refusal("PRIMARY_KEY is the name of every table's own key; an index cannot have it.", name, role)
    if kind == "index" and own.startswith("Dir_"):
        raise Refusal(
            "Names of indexes that begin with Dir_ are Spanner's own.", name, role, hint=own[4:] or "another name"
        )
    if kind in ("foreign key", "check constraint") and own.casefold().startswith(_RESERVED_CONSTRAINTS):
        raise Refusal(f"Names such as {name} are reserved for constraints that Spanner makes itself.", name, role)
    if name.casefold() in objects.names:
        taken_by, spelled = objects.names[name.casefold()]
        same = "" if spelled == name else " (names that differ only in case count as the same)"
        raise Refusal(
            f"There is already {_ARTICLE.get(taken_by, 'a ' + taken_by)} {spelled}{same}; "
            "all objects of a database share one space of names.",
            name,
            role,
            hint="another name" + (f", or DROP {taken_by.upper()} {spelled} first" if taken_by in _DROPPED else ""),
        )


def check_named_schema(objects: Objects, schema: str, name: str, role: str = "object") -> None:
    """Refuse a qualified name whose named schema does not exist."""
    if schema not in objects.named_schemas:
        raise Refusal(
            f"There is no schema {schema} for {name}.{suggest(schema, objects.named_schemas)}",
            name,
            role,
            hint=f"CREATE SCHEMA {schema}",
        )


def find_table(objects: Objects, name: str, role: str = "table") -> Table:
    """The table of exactly that name, as references in DDL want it."""
    if name in objects.tables:
        return objects.tables[name]
    if objects.names.get(name.casefold(), ("", ""))[0] == "synonym":
        raise Refusal(
            f"{name} is a synonym; DDL wants the table's own name.", name, role, hint=objects.table(name).name
        )
    raise _not_found(objects, "table", name, role, objects.tables)


def find_index(objects: Objects, name: str, role: str = "object") -> Index:
    """The index of exactly that name."""
    if name in objects.indexes:
        return objects.indexes[name]
    raise _not_found(objects, "index", name, role, objects.indexes)


def find_sequence(objects: Objects, name: str, role: str = "object") -> Sequence:
    """The sequence of exactly that name."""
    if name in objects.sequences:
        return objects.sequences[name]
    raise _not_found(objects, "sequence", name, role, objects.sequences)


def find_view(objects: Objects, name: str, role: str = "object") -> View:
    """The view of exactly that name."""
    if name in objects.views:
        return objects.views[name]
    raise _not_found(objects, "view", name, role, objects.views)


def find_column(table: Table, name: str, role: str = "column", *, rule: str = "") -> Column:
    """The column of exactly that name; `rule` is the code of the rule that an unknown one breaks."""
    for column in table.columns:
        if column.name == name:
            return column
    other_case = table.column(name)
    if other_case is not None:
        raise Refusal(
            f"{table.name} has no column {name}, but {other_case.name}: "
            "DDL repeats names in the case of their definition.",
            name,
            role,
            hint=other_case.name,
            rule=rule,
        )
    known = [column.name for column in table.columns]
    message = f"{table.name} has no column {name}.{suggest(name, known)}"
    raise Refusal(message, name, role, hint=_first_columns(known), rule=rule)


def _first_columns(known: list[str]) -> str:
    shown = ", ".join(known[:8])
    return f"one of {shown}{', …' if len(known) > 8 else ''}, or add the column first" if known else ""


def _not_found(objects: Objects, kind: str, name: str, role: str, known: Iterable[str]) -> Refusal:
    found, spelled = objects.names.get(name.casefold(), ("", ""))
    if found == kind:
        return Refusal(
            f"There is no {kind} {name}, but {spelled}: DDL repeats names in the case of their definition.",
            name,
            role,
            hint=spelled,
        )
    other = f" {spelled} is {_ARTICLE.get(found, 'a ' + found)}." if found else suggest(name, known)
    hint = f"CREATE {kind.upper()} {name} first" if role != "object" and not found else ""
    return Refusal(f"There is no {kind} {name}.{other}", name, role, hint=hint)


def own_name(name: str) -> str:
    """The name without the named schema in front of it."""
    return name.rpartition(".")[2]


def hashed(text: str) -> str:
    """Sixteen hexadecimal digits that stand for the text in the name of an object that Spanner names."""
    return f"{farm_fingerprint(text) % 2**64:016X}"


def with_end(base: str, end: str) -> str:
    """base_end, with the base cut so that the name is not too long."""
    return f"{base[: limits.NAME_LENGTH - len(end) - 1].rstrip('_')}_{end}"
