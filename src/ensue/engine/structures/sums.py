"""Sums of floats as exact as necessary: pairs of floats, with a bound on the error.

A sum is the pair `high + low`, about 106 bits wide; `lost` bounds the error of the pair, and is 0 as long as it is
exact, which it is for numbers of like size. So values can be subtracted again, and where that leaves an error that
matters, the bound shows it. Sums that are too large for a float are infinite, and so is their bound: they stay so when
values are subtracted, and must be computed anew.
"""

from __future__ import annotations


def add_pair(high: float, low: float, lost: float, value: float) -> tuple[float, float, float]:
    """A sum with a value added."""
    total = high + value
    if total - total != 0.0:
        return total, 0.0, abs(total)
    part = total - high
    error = (high - (total - part)) + (value - part)
    rest = error + low
    part = rest - error
    gone = (error - (rest - part)) + (low - part)
    summed = total + rest
    return summed, rest - (summed - total), lost + abs(gone)


def pair_total(high: float, low: float, plus: int, minus: int, nans: int) -> float:
    """A sum as one float, given the numbers of infinities and NaNs among its values."""
    if nans > 0 or (plus > 0 and minus > 0):
        return 1e999 - 1e999
    if plus > 0:
        return 1e999
    if minus > 0:
        return -1e999
    return high + low


def pair_product(one: float, other: float) -> tuple[float, float]:
    """A product, exact as a pair unless it overflows."""
    product = one * other
    split = 134217729.0 * one
    one_high = split - (split - one)
    one_low = one - one_high
    split = 134217729.0 * other
    other_high = split - (split - other)
    other_low = other - other_high
    return product, (
        (one_high * other_high - product) + one_high * other_low + one_low * other_high
    ) + one_low * other_low


def add_moments(
    first: float, first_low: float, second: float, second_low: float, lost: float, shift: float, value: float,
    sign: float,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Sums of distances from `shift` and of their squares, with those of a value added, or subtracted (sign -1)."""
    distance = value - shift
    part = distance - value
    rest = (value - (distance - part)) - (shift + part)
    square, square_low = pair_product(distance, distance)
    square_low = square_low + 2.0 * distance * rest
    first, first_low, gone = add_pair(first, first_low, 0.0, sign * distance)
    first, first_low, gone = add_pair(first, first_low, gone, sign * rest)
    lost = lost + 2.0 * gone * (abs(distance) + abs(first)) + abs(square) * 1e-30
    second, second_low, lost = add_pair(second, second_low, lost, sign * square)
    second, second_low, lost = add_pair(second, second_low, lost, sign * square_low)
    return first, first_low, second, second_low, lost


def shift_moments(
    first: float, first_low: float, second: float, second_low: float, count: float, by: float
) -> tuple[float, float, float, float]:  # fmt: skip
    """The sums of distances and squares of `count` values for a shift that is smaller by `by`."""
    cross, cross_low = pair_product(2.0 * by, first)
    cross_low = cross_low + 2.0 * by * first_low
    square, square_low = pair_product(by, by)
    more, more_low = pair_product(square, count)
    more_low = more_low + square_low * count
    moved, moved_low = pair_product(by, count)
    second, second_low, gone = add_pair(second, second_low, 0.0, cross)
    second, second_low, gone = add_pair(second, second_low, gone, more)
    second, second_low, gone = add_pair(second, second_low, gone, cross_low)
    second, second_low, gone = add_pair(second, second_low, gone, more_low)
    first, first_low, gone = add_pair(first, first_low, 0.0, moved)
    first, first_low, gone = add_pair(first, first_low, gone, moved_low)
    return first, first_low, second, second_low


def mean_of(first: float, first_low: float, shift: float, count: float) -> float:
    """The mean: the sum is rounded once and then divided."""
    if abs(shift) > 1e290:  # products of halves of it would overflow
        return shift + (first + first_low) / count
    total, low = pair_product(shift, count)
    total, low, _gone = add_pair(total, low, 0.0, first)
    total, low, _gone = add_pair(total, low, _gone, first_low)
    return (total + low) / count


def squares_about(
    first: float, first_low: float, second: float, second_low: float, shift: float, count: float
) -> float:  # fmt: skip
    """The sum of squared distances from the rounded mean."""
    mean = mean_of(first, first_low, shift, count)
    by = shift - mean
    part = by - shift
    rest = (shift - (by - part)) - (mean + part)
    _moved, _moved_low, about, about_low = shift_moments(first, first_low, second, second_low, count, by)
    about, about_low, _gone = add_pair(about, about_low, 0.0, 2.0 * rest * (first + count * by))
    squares = about + about_low
    if squares - squares != 0.0:
        return 1e999
    return squares if squares > 0.0 else 0.0


def squares_doubtful(
    first: float, second: float, lost: float, shift: float, count: float, squares: float
) -> bool:  # fmt: skip
    """True if a sum of squared distances is not finite, or the error bound is too large for it."""
    away = first / count
    bound = lost + (abs(second) + 4.0 * count * away * away) * 1e-29
    return squares - squares != 0.0 or not bound <= 1e-11 * squares
