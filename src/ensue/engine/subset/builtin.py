"""The functions that every unit has, as Python runs them.

Kernels import them from here for type checkers and tests; a unit has them without an import. Integers of machine code
wrap, those of Python do not: `wrap` marks where that can matter.
"""

from __future__ import annotations

import math
import struct
from typing import Any

_DOUBLE, _WORD = struct.Struct("<d"), struct.Struct("<q")
_MASK, _SIGN = (1 << 64) - 1, 1 << 63


def wrap(number: int) -> int:
    """The number modulo 2**64, as a signed one. It is free in machine code, where all numbers wrap."""
    return ((number + _SIGN) & _MASK) - _SIGN


def truncated(number: float) -> int:
    """The number without its fraction, which must fit in 64 bits."""
    return int(number)


def bits(number: float) -> int:
    """The bits of a float as an integer."""
    found: int = _WORD.unpack(_DOUBLE.pack(number))[0]
    return found


def from_bits(number: int) -> float:
    """The float of some bits."""
    found: float = _DOUBLE.unpack(_WORD.pack(number))[0]
    return found


def unsigned_less(left: int, right: int) -> bool:
    """Compare as unsigned numbers."""
    return left & _MASK < right & _MASK


def unsigned_shift(number: int, count: int) -> int:
    """Shift right and fill with zeros."""
    return wrap((number & _MASK) >> count)


def is_nan(number: float) -> bool:
    return number != number


def divide(left: float, right: float) -> float:
    """Divide as in IEEE 754. In plain runs this stands for ``/``."""
    if right:
        return left / right
    if not left or left != left or right != right:
        return math.nan if right == right else right
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def sqrt(number: float) -> float:
    return math.sqrt(number) if number >= 0 else math.nan


def floor(number: float) -> float:
    return math.copysign(math.floor(number), number) if math.isfinite(number) else number


def ceil(number: float) -> float:
    return math.copysign(math.ceil(number), number) if math.isfinite(number) else number


def trunc(number: float) -> float:
    return math.copysign(math.trunc(number), number) if math.isfinite(number) else number


def exp(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def log(number: float) -> float:
    """The natural logarithm, as in C: -inf of zero, NaN below."""
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


def log10(number: float) -> float:
    return math.log10(number) if number > 0 else -math.inf if number == 0 else math.nan


def pow(base: float, exponent: float) -> float:
    """A power, as in C: infinite where it is too large or zero is raised to a negative one, NaN where undefined."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return _signed_infinity(base, exponent)
    except ValueError:
        return _signed_infinity(base, exponent) if base == 0 else math.nan


def _signed_infinity(base: float, exponent: float) -> float:
    return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


def fmod(left: float, right: float) -> float:
    """The remainder with the sign of the dividend, as in C: NaN of an infinite one, or of a division by zero."""
    return math.fmod(left, right) if right and math.isfinite(left) else math.nan


def prefetch(column: Any, index: int) -> None:
    """Load an element into the processor's cache; a plain run does nothing."""


def word_at(column: Any, index: int) -> int:
    """The eight bytes from an index on as one number, the first one lowest; all must lie in the column of bytes."""
    return int.from_bytes(column[index : index + 8], "little", signed=True)


def grow(structure: Any) -> None:
    """Make room in a structure."""
    structure.grow()


def ask(structure: Any, number: int) -> int:
    """Ask Python a question about a structure. A unit gets its own function for this, see `plain`."""
    raise LookupError("there is nobody to answer")
