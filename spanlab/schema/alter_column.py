"""ADD, DROP and ALTER COLUMN: what may change of a column once rows, indexes and constraints rest on it (facts.md 10).

Keys are for ever: their columns are neither added nor dropped, and neither their order nor their NULLs change. A type
changes only between STRING and BYTES (and between an INT64 and an ENUM, BYTES and a PROTO); lengths may grow and
shrink. What other parts of the schema compute from a column keeps its type.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanlab.schema import columns, expressions, foreign_keys, keys, limits, names, sequences, views
from spanlab.schema.indexes import merged
from spanlab.schema.objects import Draft
from spanlab.schema.refusal import Refusal
from spanlab.sql import statements as said

if TYPE_CHECKING:
    from spanlab.catalog import Column, Identity, Options, Table
    from spanlab.schema.objects import Objects
    from spanlab.values import Type


def alter(draft: Draft, table: Table, action: said.TableAction) -> None:
    """The actions of ALTER TABLE that deal with one column."""
    match action:
        case said.AddColumn(column, if_not_exists):
            if not (if_not_exists and table.column(column.name)):
                add(draft, table, columns.as_kept(column))
        case said.DropColumn(name):
            drop(draft, table, names.find_column(table, name))
        case said.AlterColumnType(column):
            redefine(draft, table, columns.as_kept(column))
        case said.SetDefault(name, expression):
            _set_default(draft, table, names.find_column(table, name), expression)
        case said.DropDefault(name):
            _drop_default(draft, table, names.find_column(table, name))
        case said.SetOnUpdate(name, expression):
            _put(draft, table, replace(names.find_column(table, name), on_update=expression))
        case said.DropOnUpdate(name):
            _put(draft, table, replace(names.find_column(table, name), on_update=None))
        case said.SetColumnOptions(name, options):
            _set_options(draft, table, names.find_column(table, name), options)
        case said.AlterIdentity(name, change):
            _alter_identity(draft, table, names.find_column(table, name), change)
        case _:
            raise TypeError(f"no action of ALTER TABLE: {action!r}")


def with_column(table: Table, changed: Column) -> Table:
    """The table with that column in the place of the one of its name."""
    return replace(table, columns=tuple(changed if c.name == changed.name else c for c in table.columns))


def _put(draft: Draft, table: Table, column: Column) -> None:
    """Check the changed column once more as a whole, and put it into the table."""
    changed = with_column(table, column)
    columns.check_column(draft, changed, column)
    draft.put_table(changed)


# ADD and DROP


def add(draft: Draft, table: Table, column: Column) -> None:
    """ADD COLUMN: old rows must have a value for it, or may have NULL."""
    if (there := table.column(column.name)) is not None:
        raise columns.already_there(table, there.name, column.name)
    if len(table.columns) >= limits.COLUMNS_OF_A_TABLE:
        raise Refusal(
            f"{table.name} has {limits.COLUMNS_OF_A_TABLE:,} columns; more are not allowed.", column.name, "column"
        )
    filled = column.default or column.generated or column.identity
    if column.not_null and not filled:
        raise Refusal(
            f"{table.name} may hold rows, which would have no value for {column.name}; a new column is NOT NULL only "
            "with a DEFAULT or as a STORED generated column.",
            column.name,
            "column",
            hint=f"{column.name} {column.type}, fill it, then ALTER COLUMN {column.name} {column.type} NOT NULL",
        )
    if column.not_null and column.type.name == "ARRAY":
        raise Refusal(
            f"{column.name} is an ARRAY; such a column is NOT NULL from the beginning of its table or never.",
            column.name,
            "column",
        )
    changed = replace(table, columns=(*table.columns, column))
    columns.check_column(draft, changed, column)
    columns.check_circles(changed)
    draft.put_table(changed)


def drop(draft: Draft, table: Table, column: Column) -> None:
    """DROP COLUMN: refused while anything rests on the column."""
    if any(part.column == column.name for part in table.key):
        raise Refusal(
            f"{column.name} is in the primary key of {table.name}, which never changes.",
            column.name,
            "column",
            hint="a new table with the wanted key, and copy the rows",
        )
    if user := _first_user(draft, table, column):
        what, hint = user
        raise Refusal(f"{table.name}.{column.name} cannot be dropped: {what}.", column.name, "column", hint=hint)
    changed = replace(table, columns=tuple(other for other in table.columns if other.name != column.name))
    _check_views(draft, changed, column.name)
    draft.put_table(changed)


def _first_user(objects: Objects, table: Table, column: Column) -> tuple[str, str] | None:
    """What rests on a column, and what to do about it first."""
    name = column.name
    for index in objects.indexes_on(table):
        if not index.managed and name in (*(part.column for part in index.key), *index.storing, *index.not_null):
            stored = name in index.storing
            hint = f"ALTER INDEX {index.name} DROP STORED COLUMN {name}" if stored else f"DROP INDEX {index.name}"
            return f"the index {index.name} holds it", f"{hint} first"
    for key in foreign_keys.using_column(objects, table, name):
        return f"the foreign key {key} uses it", "DROP CONSTRAINT first"
    for check in table.checks:
        if column in expressions.columns_read(table, check.expression):
            return f"the check {check.name} reads it", f"ALTER TABLE {table.name} DROP CONSTRAINT {check.name} first"
    for other in expressions.generated_from(table, name):
        return f"the generated column {other.name} reads it", f"ALTER TABLE {table.name} DROP COLUMN {other.name} first"
    if table.row_deletion_policy and table.row_deletion_policy.column == name:
        return "the row deletion policy looks at it", f"ALTER TABLE {table.name} DROP ROW DELETION POLICY first"
    return None


def _check_views(draft: Draft, changed: Table, column: str) -> None:
    if draft.views:
        after = Draft(draft)
        after.put_table(changed)
        views.check_views(draft, after, column, "column")


# ALTER COLUMN with a whole definition


def redefine(draft: Draft, table: Table, new: Column) -> None:
    """ALTER COLUMN name type …: NOT NULL and DEFAULT go if they are left out, options and HIDDEN stay."""
    old = names.find_column(table, new.name)
    new = replace(new, options=merged(old.options, new.options), hidden=old.hidden)
    _check_source(draft, table, old, new)
    if new.type.name != old.type.name or new.type.element != old.type.element:
        _check_conversion(table, old, new)
    if _base(new.type) != _base(old.type):
        _check_frozen_type(draft, table, old)
    if new.not_null != old.not_null:
        _check_nulls(draft, table, old, new)
    _check_inherited(draft, table, old)
    changed = with_column(table, new)
    columns.check_column(draft, changed, new)
    columns.check_circles(changed)
    if new.generated is not None and any(part.column == new.name for part in table.key):
        keys.check_key(changed)
    _check_views(draft, changed, new.name)
    draft.put_table(changed)


def _base(kind: Type) -> tuple[str, str]:
    """A type without its length, as far as equality of values goes."""
    return kind.name, kind.element.name if kind.element else ""


def _check_source(objects: Objects, table: Table, old: Column, new: Column) -> None:
    """Plain columns stay plain, generated ones generated, and identity columns keep their counter."""
    what = f"{table.name}.{old.name}"
    if (old.generated is None) != (new.generated is None):
        become = "a generated column cannot become plain" if old.generated else "a plain column cannot become generated"
        raise Refusal(f"{what}: {become}.", old.name, "column", hint="ADD COLUMN with another name")
    if old.generated is not None and old.stored != new.stored:
        raise Refusal(
            f"{what} is {'STORED' if old.stored else 'virtual'}, and stays so.", old.name, "column", hint="ADD COLUMN"
        )
    indexed = any(old.name in objects.index_columns(index) for index in objects.indexes_on(table))
    if old.generated != new.generated and (old.stored or indexed):
        raise Refusal(
            f"{what} is {'STORED' if old.stored else 'indexed'}; its expression cannot change.",
            str(new.generated),
            "expression",
            hint="ADD COLUMN with the new expression, then DROP COLUMN",
        )
    had, has = old.identity is not None, new.identity is not None
    if had != has:
        become = "stop being an identity column" if had else "become an identity column"
        raise Refusal(
            f"{what} cannot {become}.",
            old.name,
            "column",
            hint=f"{old.name} {new.type} GENERATED BY DEFAULT AS IDENTITY (…)"
            if had
            else "SET DEFAULT with a sequence",
        )


def _check_conversion(table: Table, old: Column, new: Column) -> None:
    one, other = old.type, new.type
    if one.element is not None and other.element is not None:
        one, other = one.element, other.element
    pair = {one.name, other.name}
    messages = {
        name for name in pair if "." in name
    }  # names of PROTO and ENUM types: which of the two is not known here
    if len(pair) == 1 or pair == {"STRING", "BYTES"} or messages == pair:
        return
    if messages and pair & {"BYTES", "INT64"}:
        return
    raise Refusal(
        f"{table.name}.{old.name} is {old.type} and cannot become {new.type}; "
        "types change between STRING and BYTES only.",
        old.name,
        "type",
        hint=f"ADD COLUMN of the type {new.type}, copy the values, drop {old.name}",
    )


def _check_frozen_type(objects: Objects, table: Table, column: Column) -> None:
    """What other parts of the schema compare or compute with keeps its type."""
    reasons = [f"the foreign key {key} compares it" for key in foreign_keys.using_column(objects, table, column.name)]
    reasons += [
        f"the check {check.name} reads it"
        for check in table.checks
        if column in expressions.columns_read(table, check.expression)
    ]
    reasons += [
        f"the generated column {other.name} reads it" for other in expressions.generated_from(table, column.name)
    ]
    if column.generated is not None:
        reasons.append("it is generated")
    if reasons:
        raise Refusal(f"The type of {table.name}.{column.name} cannot change: {reasons[0]}.", column.name, "type")


def _check_nulls(objects: Objects, table: Table, old: Column, new: Column) -> None:
    what = f"{table.name}.{old.name} cannot {'become' if new.not_null else 'stop being'} NOT NULL"
    if any(part.column == old.name for part in table.key):
        raise Refusal(f"{what}: it is in the primary key.", old.name, "column")
    if new.not_null and new.type.name == "ARRAY":
        raise Refusal(f"{what}: an ARRAY is NOT NULL from the beginning of its table or never.", old.name, "column")
    for index in objects.indexes_on(table):
        if not index.managed and not index.null_filtered and any(part.column == old.name for part in index.key):
            raise Refusal(
                f"{what}: it is in the key of the index {index.name}.",
                old.name,
                "column",
                hint=f"DROP INDEX {index.name} first",
            )
    for key in foreign_keys.using_column(objects, table, old.name):
        raise Refusal(f"{what}: the foreign key {key} uses it.", old.name, "column", hint="DROP CONSTRAINT first")


def _check_inherited(objects: Objects, table: Table, column: Column) -> None:
    """A key column that a parent and its children share stays the same in all of them."""
    if not any(part.column == column.name for part in table.key):
        return
    parent = objects.parent(table)
    if parent is not None and any(part.column == column.name for part in parent.key):
        raise Refusal(
            f"{column.name} is inherited from the key of {parent.name}; it cannot be redefined in {table.name}.",
            column.name,
            "column",
        )
    if children := objects.children(table):
        raise Refusal(
            f"{column.name} is in the key of {table.name}, which {children[0].name} inherits; it cannot be redefined.",
            column.name,
            "column",
            hint="SET DEFAULT and SET OPTIONS change a default or an option alone",
        )


# ALTER COLUMN SET …, DROP …


def _set_default(draft: Draft, table: Table, column: Column, text: str) -> None:
    if column.generated is not None:
        raise Refusal(f"{table.name}.{column.name} is generated; it cannot have a DEFAULT.", column.name, "column")
    if column.identity is not None:
        raise Refusal(f"{table.name}.{column.name} numbers itself; it cannot have a DEFAULT.", column.name, "column")
    _put(draft, table, replace(column, default=text))


def _drop_default(draft: Draft, table: Table, column: Column) -> None:
    if column.on_update is not None:
        raise Refusal(
            f"ON UPDATE of {table.name}.{column.name} needs the DEFAULT.",
            column.name,
            "column",
            hint=f"ALTER TABLE {table.name} ALTER COLUMN {column.name} DROP ON UPDATE first",
        )
    draft.put_table(with_column(table, replace(column, default=None)))


def _set_options(draft: Draft, table: Table, column: Column, options: Options) -> None:
    changed = replace(column, options=merged(column.options, options))
    if changed.commit_timestamp and not column.commit_timestamp:
        _check_can_take_commit_timestamps(draft, table, column)
    if column.commit_timestamp and not changed.commit_timestamp and columns.is_pending(column.default):
        raise Refusal(
            f"The default of {table.name}.{column.name} is the commit timestamp.",
            column.name,
            "option",
            hint=f"ALTER TABLE {table.name} ALTER COLUMN {column.name} DROP DEFAULT first",
        )
    _put(draft, table, changed)


def _check_can_take_commit_timestamps(objects: Objects, table: Table, column: Column) -> None:
    reasons = [f"the foreign key {key} uses it" for key in foreign_keys.using_column(objects, table, column.name)]
    reasons += [
        f"the generated column {other.name} reads it" for other in expressions.generated_from(table, column.name)
    ]
    reasons += [
        f"the check {check.name} reads it"
        for check in table.checks
        if column in expressions.columns_read(table, check.expression)
    ]
    if reasons:
        raise Refusal(f"{table.name}.{column.name} cannot take commit timestamps: {reasons[0]}.", column.name, "option")


def _alter_identity(
    draft: Draft, table: Table, column: Column, change: said.SkipRange | said.NoSkipRange | said.RestartCounter
) -> None:
    if column.identity is None:
        raise Refusal(f"{table.name}.{column.name} is no identity column.", column.name, "column")
    identity: Identity = column.identity
    if isinstance(change, said.SkipRange):
        identity = replace(identity, skip_range=(change.low, change.high))
    elif isinstance(change, said.RestartCounter):
        identity = replace(identity, start_counter=change.value)
    else:
        identity = replace(identity, skip_range=None)
    sequences.check_numbers(identity.skip_range, identity.start_counter, column.name, "column")
    draft.put_table(with_column(table, replace(column, identity=identity)))
