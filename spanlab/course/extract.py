"""Reading an answer out of a notebook cell without running it.

An answer is plain data: literals, names set earlier in the same cell, joined strings, arithmetic and containers. That
much can be read from the syntax tree, so 300 notebooks of strangers can be marked and not a line of them runs.
Whatever is not plain data is called so (`NotStatic`), with the line and the construct, and is neither guessed nor
executed.

Every step is bounded: the size of the text, the depth of the tree, the size of numbers and strings. A cell that was
made to keep a reader busy is refused in the same words as one that merely calls a function.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MAX_SOURCE = 50_000
"""Characters of a cell that are still read. The longest reference answer has about 2,500."""
MAX_ITEMS = 500_000
"""Items and characters that all expressions of a cell may build together; what stands there twice counts twice."""
MAX_MAGICS = 30
MAX_DEPTH = 120
MAX_BITS = 256


class NotStatic(Exception):
    """The answer is not plain data. `str()` says what stands there instead, and on which line of the cell."""


class Unreadable(Exception):
    """The cell is not Python: it has a syntax error, or is far too large."""


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_NUMBERS = (int, float)
_NAMES = {
    "Call": "a function call",
    "Name": "a name that this cell does not set",
    "Attribute": "an attribute",
    "Subscript": "an index",
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a generator",
    "Lambda": "a function",
    "Await": "await",
    "IfExp": "a conditional expression",
    "Compare": "a comparison",
    "BoolOp": "and/or",
    "NamedExpr": "an assignment expression",
    "Starred": "unpacking with *",
}


_FOR_IPYTHON = re.compile(r"[ \t]*((\w+[ \t]*=[ \t]*)?[%!?]|[\w.]+\?{1,2}[ \t]*$)")


def parse_cell(source: str) -> ast.Module:
    """The syntax tree of a cell. Lines that only IPython reads (%magic, x = !command, ?help, help?) count as empty.

    Raises Unreadable for a syntax error, a cell of more than 50,000 characters, or nesting beyond the parser.
    """
    if len(source) > MAX_SOURCE:
        raise Unreadable(f"the cell has {len(source):,} characters; an answer has at most {MAX_SOURCE:,}")
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as Python counts them
    for _ in range(MAX_MAGICS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "\d" in a string is the learner's warning, not the grader's
                return ast.parse("\n".join(lines))
        except SyntaxError as error:
            # inside a text in quotes a line may begin with % and is no magic: only where Python stumbles is it one
            line = error.lineno or 0
            if not 0 < line <= len(lines) or not _FOR_IPYTHON.match(lines[line - 1]):
                raise Unreadable(f"the cell is not Python (line {line}: {error.msg})") from None
            lines[line - 1] = ""
        except (ValueError, RecursionError, MemoryError):
            raise Unreadable(
                "the cell is not Python that can be read: too deeply nested, or strange characters"
            ) from None
    raise Unreadable(f"the cell has more than {MAX_MAGICS} lines that are not Python")


@dataclass(frozen=True)
class Check:
    """A call `….check("id", answer)` in a cell. `challenge` is its id in capital letters; `answer` is the value handed
    in (`...` where there is none), or the NotStatic that says why it cannot be read."""

    challenge: str
    answer: Any


@dataclass(frozen=True)
class CellRead:
    """What a cell answers: its calls of `check`, in order, and the last value of the name `answer` (`...` where the
    cell does not set it, a NotStatic where it is not plain data)."""

    checks: tuple[Check, ...]
    answer: Any


def read_cell(source: str) -> CellRead:
    """Read a cell. Raises Unreadable."""
    reader = _Reader()
    checks: list[Check] = []
    for statement in parse_cell(source).body:
        at_once = isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign)
        if not at_once:  # an `if` or a `try` may set the name that it then checks
            _assign(statement, reader)
        checks += [check for call in _calls(statement) if (check := _read_check(call, reader)) is not None]
        if at_once:
            _assign(statement, reader)
    return CellRead(tuple(checks), _attempt(reader, ast.Name("answer")) if "answer" in reader.names else ...)


def answer_in(source: str, challenge_id: str) -> Any:
    """The value that a cell hands to its last `check(challenge_id, …)`; without such a call, the last `answer = …`.

    Returns `...` where the cell holds neither. Raises NotStatic or Unreadable.
    """
    cell = read_cell(source)
    given = [check.answer for check in cell.checks if check.challenge == challenge_id.upper()]
    value = given[-1] if given else cell.answer
    if isinstance(value, NotStatic):
        raise value
    return value


def checked_ids(source: str) -> list[str]:
    """The challenges that a cell checks, in order; [] for a cell that cannot be read."""
    try:
        return [check.challenge for check in read_cell(source).checks]
    except Unreadable:
        return []


_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of something named `check` in a statement, in the order of the text, wherever they stand in it: also
    `print(sl.check(…))` is one. What a lambda or a comprehension calls has no one value and is left out."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "check":
                yield node
        if not isinstance(node, _LATER):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _read_check(call: ast.Call, reader: _Reader) -> Check | None:
    """The call's id and answer, by place or by keyword, as `sl.check` takes them; None where the id is no text."""
    named = {k.arg: k.value for k in call.keywords}
    challenge = call.args[0] if call.args else named.get("challenge_id")
    answer = call.args[1] if len(call.args) > 1 else named.get("answer", ast.Constant(...))
    if isinstance(challenge, ast.Constant):  # known also where the cell has used up what may be read
        id_ = challenge.value
    else:
        id_ = _attempt(reader, challenge) if challenge is not None else None
    if type(id_) is not str:
        return None
    return Check(id_.strip().upper(), _attempt(reader, answer))


def _attempt(reader: _Reader, expression: ast.expr) -> Any:
    """The expression's value, or the NotStatic that says why it has none."""
    try:
        return reader.value(expression)
    except NotStatic as reason:
        return reason


def _assign(statement: ast.stmt, reader: _Reader) -> None:
    """Note the plain `name = expression` of a statement. Any other way to touch a name makes its value unknown."""
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        bound = _freeze(statement.value, reader)
        reader.names |= {target.id: bound for target in statement.targets if isinstance(target, ast.Name)}
        return
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        reader.names[statement.target.id] = _freeze(statement.value, reader)
        return
    for node in ast.walk(statement):
        changed = _changed_name(node)
        if changed is None:
            continue
        bound_again = isinstance(node, ast.Name)
        for name in [changed] if bound_again else _changed_inside(changed, reader):
            reader.names[name] = _Refused(f"`{name}` is changed in a way that is not plain data")


def _changed_inside(name: str, reader: _Reader) -> list[str]:
    """The names whose value `name.append(…)` or `name[0] = …` changes: also those that share the list with it."""
    value = getattr(reader.names.get(name), "value", None)
    if not isinstance(value, list | tuple | dict | set):
        return []  # text and numbers cannot be changed
    return [other for other, bound in reader.names.items() if _share(getattr(bound, "value", None), value)]


def _share(one: Any, other: Any) -> bool:
    """Whether two values are, or have in them, the same list, dict or set."""
    return not {id(part) for part in _changeable(one)}.isdisjoint(id(part) for part in _changeable(other))


def _changeable(value: Any) -> Iterator[Any]:
    """The lists, dicts and sets of a value, itself included."""
    if isinstance(value, list | dict | set):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from _changeable(item)


def _changed_name(node: ast.AST) -> str | None:
    """The name whose value a node may change: `name`, `name[0]`, `name.x` as targets, and `name.append(…)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func
    elif not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return None
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _freeze(expression: ast.expr, reader: _Reader) -> ast.expr:
    """The expression as it stands now: later assignments to the names in it must not change it."""
    try:
        return ast.Constant(reader.value(expression))
    except NotStatic as reason:
        return _Refused(str(reason))


def _weight(value: Any, depth: int = 0) -> int:
    """Items and characters of a value, every occurrence counted. Raises NotStatic for deep nesting."""
    if depth > MAX_DEPTH:
        raise NotStatic(f"the answer is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, dict):
        return 1 + sum(_weight(k, depth + 1) + _weight(v, depth + 1) for k, v in value.items())
    return 1 + sum(_weight(item, depth + 1) for item in value) if isinstance(value, list | tuple | set) else 1


class _Refused(ast.expr):
    """Stands for an expression that is not plain data; reading it repeats the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class _Reader:
    """Evaluates expressions made of plain data. `names` holds what the cell has set so far."""

    def __init__(self) -> None:
        self.names: dict[str, ast.expr] = {}
        self.left = MAX_ITEMS

    def _spend(self, items: int, node: ast.expr) -> None:
        self.left -= items
        if self.left < 0:
            raise NotStatic(f"line {getattr(node, 'lineno', 1)}: too many characters or items for an answer")

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise NotStatic(f"line {getattr(node, 'lineno', 1)}: the answer is nested more than {MAX_DEPTH} deep")
        match node:
            case _Refused():
                raise NotStatic(node.reason)
            case ast.Constant(value=value):
                self._spend(_weight(value), node)
                if isinstance(value, int) and value.bit_length() > MAX_BITS:
                    raise NotStatic(f"line {getattr(node, 'lineno', 1)}: a number too large for an answer")
                return value
            case ast.Name(id=name) if name in self.names:
                return self.value(self.names[name], depth + 1)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                values = [self.value(item, depth + 1) for item in items]
                return self._container(node, values)
            case ast.Dict(keys=keys, values=items) if None not in keys:
                names = [self.value(key, depth + 1) for key in keys if key is not None]
                values = [self.value(item, depth + 1) for item in items]
                return self._container(node, list(zip(names, values, strict=True)))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return self._number(node, _UNARY[type(op)], self.value(operand, depth + 1))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._binary(node, self.value(left, depth + 1), self.value(right, depth + 1))
            case ast.JoinedStr(values=parts):
                return self._joined(parts, depth)
            case ast.Call(func=ast.Attribute(value=glue, attr="join"), args=[parts], keywords=[]):
                return self._join(node, self.value(glue, depth + 1), self.value(parts, depth + 1))
        kind = type(node).__name__
        what = _NAMES.get(kind, kind)
        detail = f" `{ast.unparse(node)[:40]}`" if kind in ("Call", "Name", "Attribute") else ""
        raise NotStatic(f"line {getattr(node, 'lineno', 1)}: {what}{detail} is not plain data")

    def _container(self, node: ast.expr, values: list[Any]) -> Any:
        try:
            if isinstance(node, ast.Dict):
                return dict(values)
            return (
                values if isinstance(node, ast.List) else tuple(values) if isinstance(node, ast.Tuple) else set(values)
            )
        except TypeError:
            raise NotStatic(f"line {node.lineno}: a list or dict cannot be a key or a member of a set") from None

    def _number(self, node: ast.expr, apply: Callable[..., Any], *values: Any) -> Any:
        if not all(type(v) in _NUMBERS for v in values):
            raise NotStatic(f"line {node.lineno}: arithmetic on something that is not a number")
        if any(type(v) is int and v.bit_length() > MAX_BITS for v in values):
            raise NotStatic(f"line {node.lineno}: a number too large for an answer")
        try:
            result = apply(*values)
        except (ArithmeticError, ValueError) as error:
            raise NotStatic(f"line {node.lineno}: {error}") from None
        if type(result) not in _NUMBERS:
            raise NotStatic(f"line {node.lineno}: the result is not a real number")
        return result

    def _binary(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        kinds = (type(left), type(right))
        if isinstance(node.op, ast.Add) and kinds[0] is kinds[1] and kinds[0] in (str, list, tuple):
            return self._sized(node, len(left) + len(right), lambda: left + right)
        if isinstance(node.op, ast.Mult) and int in kinds and (str in kinds or list in kinds or tuple in kinds):
            sequence, times = (left, right) if type(right) is int else (right, left)
            return self._sized(node, _weight(sequence) * max(0, times), lambda: sequence * times)
        if isinstance(node.op, ast.Pow) and all(k in _NUMBERS for k in kinds):
            size = math.log2(abs(left) or 1) * abs(right) if abs(right) < 1e6 and abs(left) < 1e300 else math.inf
            if size > MAX_BITS:
                raise NotStatic(f"line {node.lineno}: a number too large for an answer")
        return self._number(node, _BINARY[type(node.op)], left, right)

    def _sized(self, node: ast.expr, size: int, build: Callable[[], Any]) -> Any:
        self._spend(size, node)
        return build()

    def _joined(self, parts: list[ast.expr], depth: int) -> str:
        """An f-string whose fields are plain `{name}` or `{expression}`, without format or conversion."""
        text: list[str] = []
        for part in parts:
            if isinstance(part, ast.Constant):
                text.append(str(part.value))
            elif isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None:
                value = self.value(part.value, depth + 1)
                if type(value) not in (str, int, float, bool):
                    raise NotStatic(f"line {part.lineno}: only text and numbers can stand in an f-string")
                text.append(str(value))
            else:
                raise NotStatic(f"line {part.lineno}: a format inside an f-string is not plain data")
        return "".join(text)

    def _join(self, node: ast.expr, glue: Any, parts: Any) -> str:
        if type(glue) is not str or type(parts) not in (list, tuple) or not all(type(p) is str for p in parts):
            raise NotStatic(f"line {node.lineno}: join takes a list of strings")
        size = sum(map(len, parts)) + len(glue) * len(parts)
        return str(self._sized(node, size, lambda: glue.join(parts)))
