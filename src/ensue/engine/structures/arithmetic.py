"""Arithmetic of generated code, where the language and a processor differ."""

from ensue.engine.subset.builtin import bits, floor, truncated, wrap


def above(whole: int, fraction: float) -> int:
    """Compare an integer with a float, exactly: -1, 0, 1; 2 if the float is NaN."""
    if fraction != fraction:
        return 2
    if fraction >= 9223372036854775808.0:
        return -1
    if fraction < -9223372036854775808.0:
        return 1
    below = floor(fraction)
    down = truncated(below)
    if whole < down:
        return -1
    if whole > down:
        return 1
    return 0 if fraction == below else -1


def add_high(high: float, low: float, value: float) -> float:
    """The high part of a sum held in two floats, with a value added; `add_low` gives the other."""
    total = high + value
    part = total - high
    rest = (high - (total - part)) + (value - part) + low
    return total + rest


def add_low(high: float, low: float, value: float) -> float:
    total = high + value
    part = total - high
    rest = (high - (total - part)) + (value - part) + low
    summed = total + rest
    return rest - (summed - total)


def float_order(number: float) -> int:
    """An integer in the order of floats: zero has no sign, and NaN comes last."""
    if number != number:
        return 9223372036854775807
    found = bits(number + 0.0)
    return found if found >= 0 else wrap(-9223372036854775808 - found - 1)
