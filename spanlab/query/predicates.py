"""Conditions as a scan sees them: which of them turn into a key range, and which can only be checked row by row.

A key range needs a prefix of the key: equalities on the first columns, then one range (facts.md 7.2). `classify` says
what a condition does to one column; `match_key` goes along a key and takes what it can use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from spanlab.query.logical import conjuncts_of, subquery_values, variables_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Kind = Literal["equal", "in", "range", "prefix", "not_null", "any_of"]
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}


@dataclass(frozen=True)
class Predicate:
    """What a condition says of one column.

    `values`: of "equal" the value (NULL for IS NULL), of "in" the list, of "prefix" the beginning; of "range" low and
    high, None where open, with `low_open`, `high_open` where the bound itself is left out. "any_of" holds the
    predicates of each branch of an OR in `branches`. An `implied` predicate says less than its condition (LIKE 'Th%e'
    implies the beginning 'Th').
    """

    kind: Kind
    variable: str
    values: tuple[exp.Expr | None, ...] = ()
    low_open: bool = False
    high_open: bool = False
    condition: exp.Expr = field(default_factory=exp.true, compare=False)
    implied: bool = False
    branches: tuple[tuple[Predicate, ...], ...] = ()

    def variables(self) -> set[str]:
        """The columns that it speaks of (more than one for an OR)."""
        if self.kind == "any_of":
            return {p.variable for branch in self.branches for p in branch}
        return {self.variable}


@dataclass
class KeyMatch:
    """What a key can do with some conditions.

    `seek` are the predicates that make the key range, in key order, `residual` the conditions that remain. `size`
    counts the key columns used, `exact` is True where all of these are equalities, `whole` where the whole key is
    fixed.
    """

    seek: list[Predicate] = field(default_factory=list)
    residual: list[exp.Expr] = field(default_factory=list)
    size: int = 0
    exact: bool = True
    whole: bool = False


def classify(condition: exp.Expr, own: set[str], regexp: bool = True) -> list[Predicate]:
    """The predicates on single columns (the variables `own`) that a conjunct states or implies."""
    condition = condition.unnest()
    if subquery_values(condition):
        return []
    if isinstance(condition, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        return _comparison(condition, own)
    if isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null) and _is_own(condition.this, own):
        return [Predicate("equal", condition.this.name, (exp.null(),), condition=condition)]
    if isinstance(condition, exp.Not):
        inside = condition.this.unnest()
        if isinstance(inside, exp.Is) and isinstance(inside.expression, exp.Null) and _is_own(inside.this, own):
            return [Predicate("not_null", inside.this.name, condition=condition)]
        return []
    if isinstance(condition, exp.Between) and _is_own(condition.this, own):
        low, high = condition.args["low"], condition.args["high"]
        if not _speaks_of(low, own) and not _speaks_of(high, own):
            return [Predicate("range", condition.this.name, (low, high), condition=condition)]
    if isinstance(condition, exp.In) and _is_own(condition.this, own) and condition.expressions:
        values = tuple(condition.expressions)
        if not any(_speaks_of(value, own) for value in values):
            kind: Kind = "in" if len(values) > 1 else "equal"
            return [Predicate(kind, condition.this.name, values, condition=condition)]
    if isinstance(condition, exp.Or):
        return _any_of(condition, own, regexp)
    return _text(condition, own, regexp)


def _comparison(condition: exp.Expr, own: set[str]) -> list[Predicate]:
    found = []
    for column, value, kind in (
        (condition.this, condition.expression, type(condition)),
        (condition.expression, condition.this, _TURNED[type(condition)]),
    ):
        if _is_own(column, own) and not _speaks_of(value, own):
            if kind is exp.EQ:
                found.append(Predicate("equal", column.name, (value,), condition=condition))
            elif kind in (exp.GT, exp.GTE):
                low_open = kind is exp.GT
                found.append(Predicate("range", column.name, (value, None), low_open=low_open, condition=condition))
            else:
                high_open = kind is exp.LT
                found.append(Predicate("range", column.name, (None, value), high_open=high_open, condition=condition))
    return found


def _text(condition: exp.Expr, own: set[str], regexp: bool) -> list[Predicate]:
    """STARTS_WITH, LIKE 'abc%', REGEXP_CONTAINS(x, '^abc')."""
    column = condition.this if isinstance(condition.this, exp.Expr) else None
    if column is None or not _is_own(column, own):
        return []
    if isinstance(condition, exp.StartsWith) and not _speaks_of(condition.expression, own):
        return [Predicate("prefix", column.name, (condition.expression,), condition=condition)]
    pattern = condition.expression if isinstance(condition, (exp.Like, exp.RegexpLike)) else None
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return []
    if isinstance(condition, exp.Like):
        start = re.match(r"[^%_\\]*", pattern.name)
    else:
        start = _regexp_start(pattern.name, regexp)
    if not start or not start.group():
        return []
    return [Predicate("prefix", column.name, (exp.Literal.string(start.group()),), condition=condition, implied=True)]


def _regexp_start(pattern: str, known: bool) -> re.Match[str] | None:
    """The fixed text that a regular expression begins with: `^abc.*`."""
    if not known or not pattern.startswith("^"):
        return None
    start = re.match(r"[\w \-]*", pattern[1:])
    if start and pattern[1 + start.end() :][:1] in ("*", "?", "{", "|"):
        start = re.match(r"[\w \-]*(?=[\w \-])", pattern[1:])
    return None if "|" in pattern else start


def _any_of(condition: exp.Or, own: set[str], regexp: bool) -> list[Predicate]:
    branches = []
    for branch in condition.flatten():
        predicates = [p for part in conjuncts_of(branch) for p in classify(part, own, regexp)[:1]]
        if not predicates or any(p.kind == "any_of" for p in predicates):
            return []
        branches.append(tuple(predicates))
    return [Predicate("any_of", branches[0][0].variable, condition=condition, branches=tuple(branches))]


def _is_own(expression: exp.Expr, own: set[str]) -> bool:
    return isinstance(expression, exp.Column) and expression.name in own


def _speaks_of(expression: exp.Expr, own: set[str]) -> bool:
    return bool(variables_in(expression) & own)


def simplified(condition: exp.Expr) -> list[exp.Expr]:
    """A conjunct in the form in which Spanner plans it: LIKE 'A%' is STARTS_WITH, LIKE 'abc' is an equality."""
    condition = condition.unnest()
    if isinstance(condition, exp.Boolean) and condition.this:
        return []
    if isinstance(condition, exp.Or):
        branches = [
            _one([s for part in conjuncts_of(branch) for s in simplified(part)]) for branch in condition.flatten()
        ]
        return [exp.or_(*branches, copy=False)]
    if isinstance(condition, exp.Like) and isinstance(condition.expression, exp.Literal):
        pattern = condition.expression.name
        start = re.match(r"[^%_\\]*", pattern)
        assert start is not None
        rest = pattern[start.end() :]
        if not rest:
            return [exp.EQ(this=condition.this, expression=condition.expression)]
        if set(rest) == {"%"} and start.group():
            return [exp.StartsWith(this=condition.this, expression=exp.Literal.string(start.group()))]
    if isinstance(condition, exp.RegexpLike) and isinstance(condition.expression, exp.Literal):
        plain = re.fullmatch(r"\^([\w \-]+)(\.\*)?", condition.expression.name)
        if plain:
            kept = exp.StartsWith(this=condition.this, expression=exp.Literal.string(plain.group(1)))
            kept.meta["regexp"] = condition
            return [kept]
    return [condition]


def _one(parts: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*parts, copy=False) if parts else exp.true()


def rejects_null(condition: exp.Expr, variable: str) -> bool:
    """True where the condition cannot be TRUE for a row in which the variable is NULL (facts.md 4.2.8)."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        return any(rejects_null(part, variable) for part in condition.flatten())
    if isinstance(condition, exp.Or):
        return all(rejects_null(part, variable) for part in condition.flatten())
    if isinstance(condition, exp.Not):
        inside = condition.this.unnest()
        if isinstance(inside, exp.Is):
            return inside.this.name == variable and isinstance(inside.expression, exp.Null)
        return isinstance(inside, (exp.In, exp.Like, exp.Between, exp.EQ)) and _touches(inside.this, variable)
    strict = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.StartsWith, exp.RegexpLike)
    if isinstance(condition, strict):
        return any(_touches(side, variable) for side in (condition.this, condition.expression))
    return isinstance(condition, (exp.Between, exp.In)) and _touches(condition.this, variable)


def _touches(expression: exp.Expr, variable: str) -> bool:
    """The variable itself, or arithmetic on it, which is NULL when the variable is."""
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Paren)):
        return any(_touches(child, variable) for child in expression.iter_expressions())
    return isinstance(expression, exp.Column) and expression.name == variable


def match_key(
    key: Sequence[str],
    conditions: Iterable[exp.Expr],
    own: set[str],
    *,
    deep: bool = False,
    longest: int | None = None,
    regexp: bool = True,
) -> KeyMatch:
    """What the key (variables in order) can seek for; `own` are the variables of the scanned object.

    `deep` lets the seek go on behind a range, as optimizer versions up to 6 and SEEKABLE_KEY_SIZE do (facts.md 7.5
    P17). `longest` limits the number of key columns.
    """
    conditions = list(conditions)
    predicates = [p for condition in conditions for p in classify(condition, own, regexp)]
    result, used = KeyMatch(), set()
    behind_range = False
    for variable in key[:longest]:
        here = [p for p in predicates if p.variable == variable and p.kind != "any_of"]
        chosen = best(here)
        if not chosen or (behind_range and not deep and (chosen[0].kind != "equal" or result.seek[-1].kind != "in")):
            break
        result.seek += chosen
        result.size += 1
        used |= {id(p.condition) for p in chosen if not p.implied}
        if chosen[0].kind != "equal":
            result.exact = False
            behind_range = True
    if not result.seek:
        _seek_any_of(result, key[:longest], predicates, used)
    result.whole = result.exact and result.size == len(key) and bool(key)
    result.residual = [condition for condition in conditions if id(condition) not in used]
    return result


def best(here: list[Predicate]) -> list[Predicate]:
    """The predicates on one key column that make the narrowest range: an equality, a list, or all bounds together."""
    for kind in ("equal", "in"):
        for predicate in here:
            if predicate.kind == kind:
                return [predicate]
    prefixes = [p for p in here if p.kind == "prefix"]
    if prefixes:
        return prefixes[:1]
    ranges = [p for p in here if p.kind == "range"]
    return ranges or [p for p in here if p.kind == "not_null"][:1]


def _seek_any_of(result: KeyMatch, key: Sequence[str], predicates: list[Predicate], used: set[int]) -> None:
    """An OR over the first key columns is a seek with several ranges."""
    for predicate in predicates:
        if predicate.kind != "any_of" or key[:1] == [] or key[0] not in predicate.variables():
            continue
        wanted = predicate.variables()
        size = next((n for n in range(1, len(key) + 1) if wanted <= set(key[:n])), 0)
        if size:
            result.seek, result.size, result.exact = [predicate], size, False
            used.add(id(predicate.condition))
            return
