"""Steps made better before they are planned: conditions go down to the rows they speak of, constants spread along
equalities.

These are the logical rules of every optimizer. Two come from Spanner's schemas: a child row always has its parent row
and a row with an enforced foreign key its referenced row, so that an outer join towards the parent is an inner join;
and a join with a parent of which nothing else is asked can be left out (optimizer version 8, facts.md 7.4
USE_UNENFORCED_FOREIGN_KEY).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlglot import exp

from spanlab.query.logical import (
    Aggregate,
    Compute,
    Filter,
    Join,
    Limit,
    Relation,
    Scan,
    Sort,
    SpoolBuild,
    UnionAll,
    variable_reference,
    variables_in,
    walk,
)
from spanlab.query.predicates import simplified

if TYPE_CHECKING:
    from spanlab.query.planner import Planner


def rewritten(relation: Relation, planner: Planner) -> Relation:
    """The same rows, in a form that plans better."""
    return _Rewriter(planner).pushed(relation, [])


def with_conditions(planner: Planner, relation: Relation, conditions: list[exp.Expr]) -> Relation:
    """The step with conditions pushed into it; they may speak of variables of an outer query."""
    return _Rewriter(planner).pushed(relation, conditions)


class _Rewriter:
    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def pushed(self, relation: Relation, conditions: list[exp.Expr]) -> Relation:
        """The step with more conditions on its rows, each as far down as it can go."""
        if isinstance(relation, Filter):
            own = [part for conjunct in relation.conjuncts for part in self._simplified(conjunct)]
            return self.pushed(relation.child, own + conditions)
        if isinstance(relation, Join):
            return self._join(relation, conditions)
        if isinstance(relation, Compute):
            return self._compute(relation, conditions)
        if isinstance(relation, Aggregate):
            return self._aggregate(relation, conditions)
        if isinstance(relation, Sort):
            return Sort(self.pushed(relation.child, conditions), relation.keys)
        if isinstance(relation, Limit):
            inner = Limit(self.pushed(relation.child, []), relation.count, relation.offset)
            return _filtered(inner, conditions)
        if isinstance(relation, UnionAll):
            return self._union(relation, conditions)
        if isinstance(relation, SpoolBuild):
            definition = self.pushed(relation.definition, [])
            return SpoolBuild(relation.name, definition, relation.outputs, self.pushed(relation.body, conditions))
        return _filtered(relation, conditions)

    def _simplified(self, condition: exp.Expr) -> list[exp.Expr]:
        parts = simplified(condition)
        if self.planner.version < 2:
            return [part.meta.get("regexp", part) for part in parts]
        return parts

    def _compute(self, relation: Compute, conditions: list[exp.Expr]) -> Relation:
        made = {variable.name for variable, _ in relation.assignments}
        below = [c for c in conditions if not variables_in(c) & made]
        above = [c for c in conditions if c not in below]
        return _filtered(Compute(self.pushed(relation.child, below), relation.assignments), above)

    def _aggregate(self, relation: Aggregate, conditions: list[exp.Expr]) -> Relation:
        """A condition on group keys alone can be checked before grouping."""
        keys = {variable.name: expression for variable, expression in relation.keys}
        below: list[exp.Expr] = []
        above: list[exp.Expr] = []
        for condition in conditions:
            names = variables_in(condition)
            (
                below if names and relation.keys and names & set(keys) and self._only(names, keys, relation) else above
            ).append(condition)
        inside = [_put_in(condition, keys) for condition in below]
        child = self.pushed(relation.child, inside)
        return _filtered(Aggregate(child, relation.keys, relation.calls, relation.hints, relation.single), above)

    def _only(self, names: set[str], keys: dict[str, exp.Expr], relation: Aggregate) -> bool:
        calls = {variable.name for variable, _ in relation.calls}
        return not names & calls

    def _union(self, relation: UnionAll, conditions: list[exp.Expr]) -> Relation:
        branches = []
        for branch, expressions in zip(relation.branches, relation.inputs, strict=True):
            known = {v.name: e for v, e in zip(relation.outputs, expressions, strict=True)}
            branches.append(self.pushed(branch, [_put_in(c, known) for c in conditions]))
        return UnionAll(branches, relation.outputs, relation.inputs)

    # joins

    def _join(self, join: Join, conditions: list[exp.Expr]) -> Relation:
        own = [part for conjunct in join.conjuncts for part in self._simplified(conjunct)]
        join = Join(join.kind, join.left, join.right, own, join.hints, join.lateral, join.flipped)
        self._reduce_outer(join, conditions)
        if join.kind == "inner":
            return self._inner(join, conditions)
        left_names = join.left.names()
        above: list[exp.Expr] = []
        to_left: list[exp.Expr] = []
        for condition in conditions:
            spoken = variables_in(condition)
            stays = join.kind == "full" or (spoken & join.right.names() and join.kind == "left")
            (above if stays or not spoken & left_names else to_left).append(condition)
        to_right = []
        if join.kind != "full":
            right_names = join.right.names()
            derived = _derived(to_left + _conditions_of(join.left), join.conjuncts)
            to_right = [c for c in join.conjuncts if not variables_in(c) & left_names and variables_in(c)]
            to_right += [d for d in derived if variables_in(d) <= right_names]
        rest = [c for c in join.conjuncts if c not in to_right]
        left, right = self.pushed(join.left, to_left), self.pushed(join.right, to_right)
        return _filtered(Join(join.kind, left, right, rest, join.hints, join.lateral, join.flipped), above)

    def _inner(self, join: Join, conditions: list[exp.Expr]) -> Relation:
        every = join.conjuncts + conditions
        every += _derived(every + _conditions_of(join.left) + _conditions_of(join.right), every)
        left_names, right_names = join.left.names(), join.right.names()
        to_left, to_right, between = [], [], []
        for condition in every:
            spoken = variables_in(condition)
            if spoken and not spoken & right_names and spoken & left_names:
                to_left.append(condition)
            elif spoken and not spoken & left_names and spoken & right_names:
                to_right.append(condition)
            else:
                between.append(condition)
        eliminated = self._eliminated(join, to_right, between)
        if eliminated is not None:
            return self.pushed(eliminated, to_left)
        left, right = self.pushed(join.left, to_left), self.pushed(join.right, to_right)
        return Join(
            "inner", left, right, _without_implied(between, to_left, to_right), join.hints, join.lateral, join.flipped
        )

    def _reduce_outer(self, join: Join, conditions: list[exp.Expr]) -> None:
        """Outer joins that cannot add a row of NULLs become inner joins."""
        if join.kind == "full" and self._always_matches(join.right, join.left, join.conjuncts):
            join.kind = "left"
        elif join.kind == "full" and self._always_matches(join.left, join.right, join.conjuncts):
            join.kind, join.left, join.right = "left", join.right, join.left
        if join.kind == "left" and self._always_matches(join.left, join.right, join.conjuncts):
            join.kind = "inner"

    def _always_matches(self, child: Relation, parent: Relation, conjuncts: list[exp.Expr]) -> bool:
        """True when the schema promises that every row of `child` has its row of `parent`."""
        if not isinstance(parent, Scan) or parent.sample is not None:
            return False
        owners = [step for step in walk(child) if isinstance(step, Scan)]
        pairs = _column_pairs(conjuncts)
        if pairs is None:
            return False
        for scan in owners:
            columns = {v.name: c for c, v in scan.columns.items()}
            targets = {v.name: c for c, v in parent.columns.items()}
            joined = {(columns.get(a) or columns.get(b), targets.get(b) or targets.get(a)) for a, b in pairs}
            if any(None in pair for pair in joined):
                continue
            if joined == self._promised(scan, parent, {c for c, _ in joined if c}):
                return self._keeps_rows(child, scan)
        return False

    def _promised(self, scan: Scan, parent: Scan, columns: set[str]) -> set[tuple[str, str]] | None:
        """The column pairs by which every row of one table finds a row of the other."""
        interleave = scan.table.interleave
        if (
            interleave is not None
            and interleave.in_parent
            and interleave.table.casefold() == parent.table.name.casefold()
        ):
            pairs = zip(scan.table.key, parent.table.key, strict=False)
            return {(mine.column.casefold(), theirs.column.casefold()) for mine, theirs in pairs}
        unenforced = self.planner.hints.get("USE_UNENFORCED_FOREIGN_KEY", "FALSE").upper() == "TRUE"
        for key in scan.table.foreign_keys:
            if key.referenced_table.casefold() != parent.table.name.casefold() or not (key.enforced or unenforced):
                continue
            referenced = key.referenced_columns or tuple(part.column for part in parent.table.key)
            every_set = all((c := scan.table.column(name)) is not None and c.not_null for name in key.columns)
            pairs_found = {(a.casefold(), b.casefold()) for a, b in zip(key.columns, referenced, strict=True)}
            if every_set and {a for a, _ in pairs_found} == columns:
                return pairs_found
        return None

    def _keeps_rows(self, child: Relation, scan: Scan) -> bool:
        """True when the scan's columns are never NULLs of an outer join above it."""
        for step in walk(child):
            if isinstance(step, Join) and step.kind in ("left", "full"):
                optional = [step.right, step.left] if step.kind == "full" else [step.right]
                if any(scan in walk(side) for side in optional):
                    return False
        return True

    def _eliminated(self, join: Join, to_right: list[exp.Expr], between: list[exp.Expr]) -> Relation | None:
        """The left side alone, where the right side is a parent of which only the join columns are spoken of."""
        if self.planner.version < 8 or to_right or not isinstance(join.right, Scan):
            return None
        if join.right.names() - {n for a, b in _column_pairs(between) or [] for n in (a, b)}:
            return None
        if not self._always_matches(join.left, join.right, between):
            return None
        spoken = Counter(name for condition in between for name in variables_in(condition))
        if any(self.planner.mentions[name] > spoken[name] for name in join.right.names()):
            return None
        return join.left


def _filtered(relation: Relation, conditions: list[exp.Expr]) -> Relation:
    return Filter(relation, conditions) if conditions else relation


def _put_in(condition: exp.Expr, known: dict[str, exp.Expr]) -> exp.Expr:
    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in known:
            return known[node.name].copy()
        return node

    return condition.copy().transform(put)


def _conditions_of(relation: Relation) -> list[exp.Expr]:
    """The conditions that hold for all rows of a step, as far as they are written right there."""
    if isinstance(relation, Filter):
        return relation.conjuncts + _conditions_of(relation.child)
    if isinstance(relation, Join) and relation.kind == "inner":
        return relation.conjuncts + _conditions_of(relation.left) + _conditions_of(relation.right)
    if isinstance(relation, (Sort, Limit)):
        return _conditions_of(relation.child)
    return []


def _column_pairs(conjuncts: list[exp.Expr]) -> list[tuple[str, str]] | None:
    """The pairs of equal variables, None where a conjunct says anything else."""
    pairs = []
    for conjunct in conjuncts:
        both = isinstance(conjunct, exp.EQ) and all(
            isinstance(side, exp.Column) for side in (conjunct.this, conjunct.expression)
        )
        if not both:
            return None
        pairs.append((conjunct.this.name, conjunct.expression.name))
    return pairs


def _derived(known: list[exp.Expr], equalities: list[exp.Expr]) -> list[exp.Expr]:
    """a = b and a = 1 say that b = 1."""
    constants: dict[str, exp.Expr] = {}
    for condition in known:
        if isinstance(condition, exp.EQ):
            for column, value in ((condition.this, condition.expression), (condition.expression, condition.this)):
                if isinstance(column, exp.Column) and not variables_in(value):
                    constants.setdefault(column.name, value)
    found: dict[str, exp.Expr] = {}
    pairs = [(c.this.name, c.expression.name) for c in equalities if _is_pair(c)]
    changed = True
    while changed:
        changed = False
        for left, right in pairs + [(b, a) for a, b in pairs]:
            if left in constants and right not in constants:
                constants[right] = found[right] = constants[left]
                changed = True
    return [exp.EQ(this=variable_reference(name), expression=value.copy()) for name, value in found.items()]


def _is_pair(condition: exp.Expr) -> bool:
    return (
        isinstance(condition, exp.EQ)
        and isinstance(condition.this, exp.Column)
        and isinstance(condition.expression, exp.Column)
    )


def _without_implied(between: list[exp.Expr], to_left: list[exp.Expr], to_right: list[exp.Expr]) -> list[exp.Expr]:
    """Drops a = b where both are known to be the same constant."""
    left = {c.this.name: c.expression for c in to_left if isinstance(c, exp.EQ) and isinstance(c.this, exp.Column)}
    right = {c.this.name: c.expression for c in to_right if isinstance(c, exp.EQ) and isinstance(c.this, exp.Column)}
    known = left | right
    return [
        c
        for c in between
        if not (_is_pair(c) and c.this.name in known and known.get(c.this.name) == known.get(c.expression.name))
    ]
