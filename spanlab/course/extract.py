"""Reading an answer out of a notebook cell without running it.

An answer is plain data: literals, names set earlier in the same cell, joined strings, arithmetic and containers. That much
can be read from the syntax tree, so 300 notebooks of strangers can be marked and not a line of them runs. Whatever is not
plain data is called so (`NotStatic`), with the line and the construct, and is neither guessed nor executed.

Every step is bounded: the size of the text, the depth of the tree, the size of numbers and strings. A cell that was made to
keep a reader busy is refused in the same words as one that merely calls a function.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

MAX_SOURCE = 50_000
"""Characters of a cell that are still read. The longest reference answer has about 2,500."""
MAX_ITEMS = 20_000
"""Items of a container, and characters of a string, that an expression may build."""
MAX_DEPTH = 40
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


def parse_cell(source: str) -> ast.Module:
    """The syntax tree of a cell. Lines that only IPython reads (%magic, !command, ?help) count as empty.

    Raises Unreadable for a syntax error, a cell of more than 50,000 characters, or nesting beyond the parser.
    """
    if len(source) > MAX_SOURCE:
        raise Unreadable(f"the cell has {len(source):,} characters; an answer has at most {MAX_SOURCE:,}")
    plain = re.sub(r"(?m)^[ \t]*[%!?][^\n]*$", "", source) if re.search(r"(?m)^[ \t]*[%!?]", source) else source
    for text in dict.fromkeys((source, plain)):  # a line of a SQL string may start with % and is then no magic
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "\d" in a string is the learner's warning, not the grader's
                return ast.parse(text)
        except SyntaxError as error:
            problem: Exception = error
            where = f"line {error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            problem, where = error, "nested too deeply, or with characters that Python does not read"
    raise Unreadable(f"the cell is not Python ({where})") from problem


def answer_in(source: str, challenge_id: str) -> Any:
    """The value that a cell hands to `check(challenge_id, …)`; without such a call, the last `answer = …`.

    Returns `...` where the cell holds neither. Raises NotStatic or Unreadable.
    """
    tree = parse_cell(source)
    names: dict[str, ast.expr | None] = {}
    found: ast.expr | None = None
    for statement in tree.body:
        call = _check_call(statement, challenge_id)
        if call is not None:
            return _Reader(names).value(call)
        _assign(statement, names)
        found = names.get("answer", found)
    if "answer" in names and found is None:
        raise NotStatic("`answer` is set in a way that is not plain data")
    return ... if found is None else _Reader(names).value(found)


def checked_ids(source: str) -> list[str]:
    """The challenges that a cell's top-level statements check, in order; [] for a cell that cannot be read."""
    try:
        tree = parse_cell(source)
    except Unreadable:
        return []
    return [c.args[0].value for s in tree.body if (c := _call_of(s)) is not None and _is_check(c)]  # type: ignore[attr-defined]


def _call_of(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    return value if isinstance(value, ast.Call) else None


def _is_check(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return (
        name == "check" and bool(call.args) and isinstance(call.args[0], ast.Constant) and type(call.args[0].value) is str
    )


def _check_call(statement: ast.stmt, challenge_id: str) -> ast.expr | None:
    """The answer's expression where the statement is `….check(challenge_id, <expression>)`."""
    call = _call_of(statement)
    if call is None or not _is_check(call) or call.args[0].value != challenge_id:  # type: ignore[attr-defined]
        return None
    if len(call.args) > 1:
        return call.args[1]
    return next((k.value for k in call.keywords if k.arg == "answer"), ast.Constant(...))


def _assign(statement: ast.stmt, names: dict[str, ast.expr | None]) -> None:
    """Note the plain `name = expression` of a statement. Any other way to set a name makes that name unknown (None)."""
    if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
        bound = _freeze(statement.value, names)
        for target in statement.targets:
            names[target.id] = bound  # type: ignore[attr-defined]
        return
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        names[statement.target.id] = _freeze(statement.value, names)
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names[node.id] = None
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            root = node.value
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name):
                names[root.id] = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.value.id in names:  # answer.append(…) may change what the name holds
                names[node.func.value.id] = None


def _freeze(expression: ast.expr, names: dict[str, ast.expr | None]) -> ast.expr:
    """The expression as it stands now: later assignments to the names in it must not change it."""
    try:
        return ast.Constant(_Reader(names).value(expression))
    except NotStatic as reason:
        return _Refused(str(reason))


class _Refused(ast.expr):
    """Stands for an expression that is not plain data; reading it repeats the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class _Reader:
    """Evaluates an expression made of plain data. `names` holds what the cell has set before it."""

    def __init__(self, names: dict[str, ast.expr | None]) -> None:
        self.names = names

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise NotStatic(f"line {getattr(node, 'lineno', 1)}: the answer is nested more than {MAX_DEPTH} deep")
        match node:
            case _Refused():
                raise NotStatic(node.reason)
            case ast.Constant():
                return node.value
            case ast.Name(id=name) if self.names.get(name) is not None:
                return self.value(self.names[name], depth + 1)  # type: ignore[arg-type]
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                values = [self.value(item, depth + 1) for item in items]
                return self._container(node, values)
            case ast.Dict(keys=keys, values=items) if all(k is not None for k in keys):
                pairs = [(self.value(k, depth + 1), self.value(v, depth + 1)) for k, v in zip(keys, items, strict=True)]  # type: ignore[arg-type]
                return self._container(node, pairs)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return self._number(node, _UNARY[type(op)], self.value(operand, depth + 1))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._binary(node, self.value(left, depth + 1), self.value(right, depth + 1))
            case ast.JoinedStr(values=parts):
                return self._joined(parts, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]) if name in _STRING_METHODS:
                text = self.value(inner, depth + 1)
                if type(text) is str:
                    return _STRING_METHODS[name](text)
        kind = type(node).__name__
        what = _NAMES.get(kind, kind)
        detail = f" `{ast.unparse(node)[:40]}`" if kind in ("Call", "Name", "Attribute") else ""
        raise NotStatic(f"line {getattr(node, 'lineno', 1)}: {what}{detail} is not plain data")

    def _container(self, node: ast.expr, values: list[Any]) -> Any:
        try:
            if isinstance(node, ast.Dict):
                return dict(values)
            return values if isinstance(node, ast.List) else tuple(values) if isinstance(node, ast.Tuple) else set(values)
        except TypeError:
            raise NotStatic(f"line {node.lineno}: a list or dict cannot be a key or a member of a set") from None

    def _number(self, node: ast.expr, apply: Callable[..., Any], *values: Any) -> Any:
        if not all(type(v) in _NUMBERS for v in values):
            raise NotStatic(f"line {node.lineno}: arithmetic on something that is not a number")
        if any(type(v) is int and v.bit_length() > MAX_BITS for v in values):
            raise NotStatic(f"line {node.lineno}: a number too large for an answer")
        try:
            return apply(*values)
        except (ArithmeticError, ValueError) as error:
            raise NotStatic(f"line {node.lineno}: {error}") from None

    def _binary(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        kinds = (type(left), type(right))
        if isinstance(node.op, ast.Add) and kinds[0] is kinds[1] and kinds[0] in (str, list, tuple):
            return self._sized(node, len(left) + len(right), lambda: left + right)
        if isinstance(node.op, ast.Mult) and int in kinds and (str in kinds or list in kinds or tuple in kinds):
            sequence, times = (left, right) if type(right) is int else (right, left)
            return self._sized(node, len(sequence) * max(0, times), lambda: sequence * times)
        if isinstance(node.op, ast.Pow) and all(k in _NUMBERS for k in kinds):
            size = math.log2(abs(left) or 1) * abs(right) if abs(right) < 1e6 and abs(left) < 1e300 else math.inf
            if size > MAX_BITS:
                raise NotStatic(f"line {node.lineno}: a number too large for an answer")
        return self._number(node, _BINARY[type(node.op)], left, right)

    def _sized(self, node: ast.expr, size: int, build: Callable[[], Any]) -> Any:
        if size > MAX_ITEMS:
            raise NotStatic(f"line {node.lineno}: {size:,} characters or items are too many for an answer")
        return build()

    def _joined(self, parts: list[ast.expr], depth: int) -> str:
        """An f-string whose fields are plain `{name}` or `{expression}`, without format or conversion."""
        text: list[str] = []
        for part in parts:
            if isinstance(part, ast.Constant):
                text.append(part.value)
            elif isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None:
                value = self.value(part.value, depth + 1)
                if type(value) not in (str, int, float, bool):
                    raise NotStatic(f"line {part.lineno}: only text and numbers can stand in an f-string")
                text.append(str(value))
            else:
                raise NotStatic(f"line {part.lineno}: a format inside an f-string is not plain data")
        joined = sum(map(len, text))
        if joined > MAX_ITEMS:
            raise NotStatic(f"{joined:,} characters are too many for an answer")
        return "".join(text)


_STRING_METHODS: dict[str, Callable[[str], str]] = {"strip": str.strip, "upper": str.upper, "lower": str.lower}
