"""Functions on numbers in generated code, as `ensue.language.functions` and `ensue.language.semantics` define them.

The sign of zero is dropped: it is never visible.
"""

from __future__ import annotations

from ensue.engine.subset.builtin import floor, fmod, pow, wrap


def rounded_whole(number: int, decimals: int) -> int:
    """An integer rounded to a number of decimals, halves away from zero; negative decimals are tens, hundreds, …"""
    if decimals >= 0:
        return number
    if decimals < -18:
        return 0
    unit = 1
    for _k in range(-decimals):
        unit *= 10
    below = number if number < 0 else -number  # the lowest integer has no opposite
    times = -(below // unit)
    rest = below % unit
    if rest > 0 and 2 * rest > unit:  # it is less than half of a unit away from zero
        times -= 1
    return wrap(wrap(times * unit) * (-1 if number < 0 else 1))


def rounded_float(number: float, decimals: int) -> float:
    """A float rounded to a number of decimals, halves away from zero."""
    if number - number != 0.0 or decimals > 300:
        return number
    scale = pow(10.0, float(decimals))
    if scale == 0.0:
        return 0.0
    scaled = abs(number) * scale
    if scaled - scaled != 0.0:
        return number
    found = floor(scaled + 0.5) / scale
    return -found if number < 0.0 else found


def float_remainder(left: float, right: float) -> float:
    """The remainder of a division, with the sign of the divisor, which is not zero."""
    rest = fmod(left, right)
    if rest == 0.0:
        return 0.0
    if (right < 0.0) != (rest < 0.0):
        rest += right
    return rest


def float_quotient(left: float, right: float) -> float:
    """A division rounded down; the divisor is not zero."""
    rest = fmod(left, right)
    times = (left - rest) / right
    if rest != 0.0 and (right < 0.0) != (rest < 0.0):
        times -= 1.0
    if times == 0.0:
        return 0.0
    down = floor(times)
    if times - down > 0.5:
        down += 1.0
    return down


def has_power(base: float, exponent: float) -> bool:
    """True if there is a power: not of zero to a negative exponent, nor of a negative number to a fraction."""
    if exponent - exponent != 0.0 or base - base != 0.0:
        return True
    if base == 0.0:
        return exponent >= 0.0
    return base > 0.0 or exponent == floor(exponent)


def power(base: float, exponent: float) -> float:
    """A power; one that is too large is infinite, and positive."""
    found = pow(base, exponent)
    if base - base == 0.0 and found - found != 0.0 and found < 0.0:
        return -found
    return found
