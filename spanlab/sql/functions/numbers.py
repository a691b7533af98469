"""Arithmetic: INT64 that never wraps, NUMERIC with nine digits, FLOAT64 that does not overflow to infinity.

numpy's int64 wraps without a word, so every array form looks for overflow itself and leaves the rows to the Python form
where it finds one.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanlab.farmhash import bit_reverse, bit_reverse_array
from spanlab.sql.functions.registry import Fault, function
from spanlab.values import INT64_MAX, INT64_MIN, round_numeric

Array = NDArray[Any]
EXACT = Context(prec=100)
"""Enough digits for any product or quotient of two NUMERICs before it is rounded to nine."""


def int64(value: int, shown: str) -> int:
    """`value` if it fits INT64, else the fault of `shown`."""
    if INT64_MIN <= value <= INT64_MAX:
        return value
    raise Fault(f"INT64 overflow: {shown}")


def float64(value: float, shown: str, *given: float) -> float:
    """`value`, unless it became infinite (or no number) although all of `given` were finite."""
    if math.isfinite(value) or not all(map(math.isfinite, given)):
        return value
    raise Fault(f"FLOAT64 overflow: {shown}")


def numeric(value: Decimal, shown: str) -> Decimal:
    """`value` rounded to nine digits, or the fault of `shown`."""
    try:
        return round_numeric(value)
    except ValueError:
        raise Fault(f"NUMERIC overflow: {shown}") from None


def _finite(result: Array) -> Array | None:
    return result if np.isfinite(result).all() else None


def _add_arrays(left: Array, right: Array) -> Array | None:
    total = left + right
    return None if (((left ^ total) & (right ^ total)) < 0).any() else total


def _subtract_arrays(left: Array, right: Array) -> Array | None:
    total = left - right
    return None if (((left ^ right) & (left ^ total)) < 0).any() else total


def _multiply_arrays(left: Array, right: Array) -> Array | None:
    # the product of the roundings is off by less than one part in 2^51, so below 2^62.9 the true product fits
    near = np.abs(left.astype(np.float64) * right.astype(np.float64))
    return None if (near > 2**62.9).any() else left * right


@function("+(INT64, INT64) -> INT64", array=_add_arrays)
def add(left: int, right: int) -> int:
    return int64(left + right, f"{left} + {right}")


@function("-(INT64, INT64) -> INT64", array=_subtract_arrays)
def subtract(left: int, right: int) -> int:
    return int64(left - right, f"{left} - {right}")


@function("*(INT64, INT64) -> INT64", array=_multiply_arrays)
def multiply(left: int, right: int) -> int:
    return int64(left * right, f"{left} * {right}")


@function("+(NUMERIC, NUMERIC) -> NUMERIC")
def add_numeric(left: Decimal, right: Decimal) -> Decimal:
    return numeric(EXACT.add(left, right), f"{left} + {right}")


@function("-(NUMERIC, NUMERIC) -> NUMERIC")
def subtract_numeric(left: Decimal, right: Decimal) -> Decimal:
    return numeric(EXACT.subtract(left, right), f"{left} - {right}")


@function("*(NUMERIC, NUMERIC) -> NUMERIC")
def multiply_numeric(left: Decimal, right: Decimal) -> Decimal:
    return numeric(EXACT.multiply(left, right), f"{left} * {right}")


@function("/(NUMERIC, NUMERIC) -> NUMERIC")
def divide_numeric(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise Fault(f"division by zero: {left} / {right}")
    return numeric(EXACT.divide(left, right), f"{left} / {right}")


@function("+(FLOAT64, FLOAT64) -> FLOAT64", array=lambda left, right: _finite(left + right))
def add_float(left: float, right: float) -> float:
    return float64(left + right, f"{left} + {right}", left, right)


@function("-(FLOAT64, FLOAT64) -> FLOAT64", array=lambda left, right: _finite(left - right))
def subtract_float(left: float, right: float) -> float:
    return float64(left - right, f"{left} - {right}", left, right)


@function("*(FLOAT64, FLOAT64) -> FLOAT64", array=lambda left, right: _finite(left * right))
def multiply_float(left: float, right: float) -> float:
    return float64(left * right, f"{left} * {right}", left, right)


def _divide_arrays(left: Array, right: Array) -> Array | None:
    return None if (right == 0).any() else _finite(left / right)


@function("/(FLOAT64, FLOAT64) -> FLOAT64", array=_divide_arrays)
def divide(left: float, right: float) -> float:
    if right == 0:
        raise Fault(f"division by zero: {left} / {right}")
    return float64(left / right, f"{left} / {right}", left, right)


@function("IEEE_DIVIDE(FLOAT64, FLOAT64) -> FLOAT64")
def ieee_divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)


def _minus_array(value: Array) -> Array | None:
    return None if (value == INT64_MIN).any() else -value


@function("-(INT64) -> INT64", array=_minus_array)
def minus(value: int) -> int:
    return int64(-value, f"-({value})")


@function("-(NUMERIC) -> NUMERIC")
def minus_numeric(value: Decimal) -> Decimal:
    return EXACT.minus(value)


@function("-(FLOAT64) -> FLOAT64", array=np.negative)
def minus_float(value: float) -> float:
    return -value


def _safe(operation: Any) -> Any:
    """The operation that gives NULL where `operation` would fail."""

    def safe(*values: Any) -> Any:
        try:
            return operation(*values)
        except Fault:
            return None

    return safe


_SAFE_FORMS: dict[str, Any] = {
    "SAFE_ADD(INT64, INT64) -> INT64": add, "SAFE_ADD(NUMERIC, NUMERIC) -> NUMERIC": add_numeric,
    "SAFE_ADD(FLOAT64, FLOAT64) -> FLOAT64": add_float, "SAFE_SUBTRACT(INT64, INT64) -> INT64": subtract,
    "SAFE_SUBTRACT(NUMERIC, NUMERIC) -> NUMERIC": subtract_numeric,
    "SAFE_SUBTRACT(FLOAT64, FLOAT64) -> FLOAT64": subtract_float, "SAFE_MULTIPLY(INT64, INT64) -> INT64": multiply,
    "SAFE_MULTIPLY(NUMERIC, NUMERIC) -> NUMERIC": multiply_numeric,
    "SAFE_MULTIPLY(FLOAT64, FLOAT64) -> FLOAT64": multiply_float,
    "SAFE_DIVIDE(NUMERIC, NUMERIC) -> NUMERIC": divide_numeric, "SAFE_DIVIDE(FLOAT64, FLOAT64) -> FLOAT64": divide,
    "SAFE_NEGATE(INT64) -> INT64": minus, "SAFE_NEGATE(NUMERIC) -> NUMERIC": minus_numeric,
    "SAFE_NEGATE(FLOAT64) -> FLOAT64": minus_float,
}  # fmt: skip
for _signature, _form in _SAFE_FORMS.items():
    function(_signature)(_safe(_form))


def _mod_arrays(left: Array, right: Array) -> Array | None:
    return None if ((right == 0) | (right == -1)).any() else np.fmod(left, right)


@function("MOD(INT64, INT64) -> INT64", array=_mod_arrays)
def mod(left: int, right: int) -> int:
    """The remainder with the sign of `left` (facts.md 2.4)."""
    if right == 0:
        raise Fault(f"division by zero: MOD({left}, {right})")
    return int(math.copysign(1, left)) * (abs(left) % abs(right))


@function("MOD(NUMERIC, NUMERIC) -> NUMERIC")
def mod_numeric(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise Fault(f"division by zero: MOD({left}, {right})")
    return round_numeric(EXACT.remainder(left, right))


@function("DIV(INT64, INT64) -> INT64")
def div(left: int, right: int) -> int:
    """The quotient without its fraction."""
    if right == 0:
        raise Fault(f"division by zero: DIV({left}, {right})")
    quotient = abs(left) // abs(right)
    return int64(quotient if (left < 0) == (right < 0) else -quotient, f"DIV({left}, {right})")


@function("DIV(NUMERIC, NUMERIC) -> NUMERIC")
def div_numeric(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise Fault(f"division by zero: DIV({left}, {right})")
    return numeric(EXACT.divide(left, right).to_integral_value(ROUND_DOWN, EXACT), f"DIV({left}, {right})")


def _abs_array(value: Array) -> Array | None:
    return None if (value == INT64_MIN).any() else np.abs(value)


@function("ABS(INT64) -> INT64", array=_abs_array)
def absolute(value: int) -> int:
    """ABS; the smallest INT64 has no positive counterpart (facts.md 2.4)."""
    return int64(abs(value), f"ABS({value})")


@function("ABS(NUMERIC) -> NUMERIC")
def absolute_numeric(value: Decimal) -> Decimal:
    return value.copy_abs()


@function("ABS(FLOAT64) -> FLOAT64", array=np.abs)
def absolute_float(value: float) -> float:
    return abs(value)


@function("SIGN(INT64) -> INT64", "SIGN(FLOAT64) -> FLOAT64", "SIGN(NUMERIC) -> NUMERIC")
def sign(value: Any) -> Any:
    return value if value != value else type(value)((value > 0) - (value < 0))


def _shift(value: Decimal, places: int) -> Decimal:
    return EXACT.scaleb(value, places)


def _rounding(name: str, mode: str) -> None:
    """Register a function that rounds NUMERIC and FLOAT64; INT64 becomes FLOAT64 first, as in Spanner."""

    def round_float(value: float, places: int = 0) -> float:
        if not math.isfinite(value) or abs(places) > 400:
            return value if places >= 0 or not math.isfinite(value) else 0.0
        exact = _shift(Decimal(value) if places == 0 else Decimal(repr(value)), places)
        wide = Context(prec=1000)
        rounded = exact.to_integral_value(mode, wide)
        return float64(math.copysign(float(wide.scaleb(rounded, -places)), value), f"{name}({value})", value)

    def round_decimal(value: Decimal, places: int = 0) -> Decimal:
        if places >= 9:
            return value
        if places < -38:
            return Decimal(0)
        return numeric(_shift(_shift(value, places).to_integral_value(mode, EXACT), -places), f"{name}({value})")

    digits = ", [INT64]" if name in ("ROUND", "TRUNC") else ""
    function(f"{name}(FLOAT64{digits}) -> FLOAT64")(round_float)
    function(f"{name}(NUMERIC{digits}) -> NUMERIC")(round_decimal)


_rounding("ROUND", ROUND_HALF_UP)  # halves away from zero
_rounding("TRUNC", ROUND_DOWN)
_rounding("FLOOR", ROUND_FLOOR)
_rounding("CEIL", ROUND_CEILING)


def _log(value: float, base: float | None = None) -> float:
    exact = {None: math.log, 2.0: math.log2, 10.0: math.log10}.get(base)  # without the rounding of a quotient
    return math.log(value, base) if exact is None and base is not None else (exact or math.log)(value)


def _real(name: str, compute: Any) -> None:
    """Register a function of FLOAT64s that Python's math knows, with its errors in Spanner's words."""

    def checked(*values: float) -> float:
        shown = f"{name}({', '.join(map(str, values))})"
        try:
            return float64(compute(*values), shown, *values)
        except ZeroDivisionError:
            raise Fault(f"division by zero: {shown}") from None
        except OverflowError:
            raise Fault(f"FLOAT64 overflow: {shown}") from None
        except ValueError:
            raise Fault(f"{shown} is not defined") from None

    function(*(f"{name}({', '.join(['FLOAT64'] * count)}) -> FLOAT64" for count in _ARGUMENTS.get(name, (1,))))(checked)


_ARGUMENTS = {"POW": (2,), "LOG": (1, 2), "ATAN2": (2,)}
for _name, _compute in {
    "SQRT": math.sqrt, "EXP": math.exp, "LN": math.log, "LOG": _log, "LOG10": math.log10, "POW": math.pow,
    "SIN": math.sin, "COS": math.cos, "TAN": math.tan, "ASIN": math.asin, "ACOS": math.acos, "ATAN": math.atan,
    "ATAN2": math.atan2,
}.items():  # fmt: skip
    _real(_name, _compute)


@function("IS_NAN(FLOAT64) -> BOOL", array=np.isnan)
def is_nan(value: float) -> bool:
    return value != value


@function("IS_INF(FLOAT64) -> BOOL", array=np.isinf)
def is_inf(value: float) -> bool:
    return math.isinf(value)


# ---- bits --------------------------------------------------------------------------------------------------------


@function("&(INT64, INT64) -> INT64", array=np.bitwise_and)
def bit_and(left: int, right: int) -> int:
    return left & right


@function("|(INT64, INT64) -> INT64", array=np.bitwise_or)
def bit_or(left: int, right: int) -> int:
    return left | right


@function("^(INT64, INT64) -> INT64", array=np.bitwise_xor)
def bit_xor(left: int, right: int) -> int:
    return left ^ right


@function("~(INT64) -> INT64", array=np.bitwise_not)
def bit_not(value: int) -> int:
    return ~value


def _signed(bits: int) -> int:
    bits &= 2**64 - 1
    return bits - 2**64 if bits >= 2**63 else bits


@function("<<(INT64, INT64) -> INT64")
def shift_left(value: int, places: int) -> int:
    if places < 0:
        raise Fault(f"a shift by {places} bits: {value} << {places}")
    return _signed(value << places) if places < 64 else 0


@function(">>(INT64, INT64) -> INT64")
def shift_right(value: int, places: int) -> int:
    """The bits moved right; zeros come in from the left, whatever the sign."""
    if places < 0:
        raise Fault(f"a shift by {places} bits: {value} >> {places}")
    return _signed((value & (2**64 - 1)) >> places)


@function("BIT_COUNT(INT64) -> INT64")
def bit_count(value: int) -> int:
    return (value & (2**64 - 1)).bit_count()


def _bit_reverse_arrays(value: Array, preserve_sign: Array) -> Array:
    return np.where(preserve_sign, bit_reverse_array(value, True), bit_reverse_array(value, False))


function("BIT_REVERSE(INT64, BOOL) -> INT64", array=_bit_reverse_arrays)(bit_reverse)
