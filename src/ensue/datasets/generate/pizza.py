"""A pizza service on a Friday evening. One of its three ovens breaks down at the worst hour."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, interval, rows

FIRST = datetime(2026, 3, 6, 17, tzinfo=UTC)
MINUTE = 60
STREETS = ("Elm Street", "Mill Lane", "Harbour Road", "Church Street", "Station Road", "Park Avenue")
DRIVERS = ("Ada", "Ben", "Cleo", "Dan")
DOWN = ((2, 110 * MINUTE, 175 * MINUTE, "door"), (1, 30 * MINUTE, 42 * MINUTE, "cleaning"))
"""An oven, when its maintenance starts and ends, and why."""

BAKING = 14 * MINUTE


def generate() -> list[dict[str, Any]]:
    """150 orders of an evening, from the page to the door."""
    draw = Draw(41)
    made = [interval("oven_maintenance", start, end, oven=oven, reason=reason) for oven, start, end, reason in DOWN]
    free_at = {1: 0, 2: 0, 3: 0}
    second = 0
    for order in range(1, 151):
        rush = 80 * MINUTE <= second <= 170 * MINUTE
        second += draw.between(20, 110) if rush else draw.between(60, 260)
        made += _order(order, second, draw, free_at)
    return rows(FIRST, made, intervals=True)


def _order(order: int, second: int, draw: Draw, free_at: dict[int, int]) -> Iterator[Event]:
    """An order; nobody bakes for a customer whose address does not exist."""
    customer, valid = 500 + order * 7, not draw.chance(0.06)
    yield event("order_arrival", second, order=order, customer=customer, street=draw.pick(STREETS))
    checked = second + draw.between(10, 90)
    yield event("customer_check", checked, customer=customer, valid=valid)
    if not valid:
        return
    ready = checked + draw.between(4 * MINUTE, 9 * MINUTE)
    oven, start = _oven(ready, free_at)
    if order == 9:
        oven = 1  # somebody did not see the sign
    # An oven holds four: the next one can go in after a quarter of the time.
    free_at[oven] = max(free_at[oven], start + BAKING // 4)
    yield event("in_oven", start, order=order)
    end = start + BAKING + draw.between(-60, 90)
    yield interval("baking", start, end, order=order, oven=oven)
    if not draw.chance(0.015):  # a few are never confirmed
        arrived = end + draw.between(6 * MINUTE, 22 * MINUTE)
        yield event("delivery", arrived, order=order, driver=draw.pick(DRIVERS))


def _oven(ready: int, free_at: dict[int, int]) -> tuple[int, int]:
    """The oven that takes the pizza first, and when. One is not used while it is down, nor shortly before."""
    times = {}
    for oven, free in free_at.items():
        start = max(ready, free)
        for down, first, last, _ in DOWN:
            if down == oven and first - 16 * MINUTE < start < last:
                start = last
        times[oven] = start
    oven = min(times, key=lambda each: (times[each], each))
    return oven, times[oven]
