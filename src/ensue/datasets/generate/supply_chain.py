"""Pallets that travel from two harbours to four shops over ten days, scanned at each site they pass."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, rows

FIRST = datetime(2026, 3, 16, 6, tzinfo=UTC)
HOUR = 3600
WAYS = (
    ("harbour east", "hub", "depot north", "shop Aalborg"),
    ("harbour east", "hub", "depot north", "shop Bergen"),
    ("harbour east", "hub", "depot south", "shop Como"),
    ("harbour west", "hub", "depot north", "shop Bergen"),
    ("harbour west", "depot south", "shop Como"),
    ("harbour west", "depot south", "shop Dijon"),
)
MISSED, ASTRAY, LOST = 0.03, 0.02, 0.03
"""Shares of pallets that are not scanned at one site, go to the shop of another depot, or never arrive."""


def generate() -> list[dict[str, Any]]:
    """180 pallets, of which some miss a scan, some go astray and some are lost."""
    draw = Draw(61)
    return rows(FIRST, [each for pallet in range(7001, 7181) for each in _pallet(pallet, draw)])


def _pallet(pallet: int, draw: Draw) -> Iterator[Event]:
    way = list(draw.pick(WAYS))
    second = draw.between(0, 8 * 24 * HOUR)
    if draw.chance(MISSED):
        del way[draw.between(1, len(way) - 2)]
    elif draw.chance(ASTRAY):
        way[-1] = "shop Como" if "depot north" in way else "shop Aalborg"
    elif draw.chance(LOST):
        del way[draw.between(1, len(way) - 1) :]
    for site in way:
        yield event("scan", second, pallet=pallet, site=site)
        second += draw.between(3 * HOUR, 20 * HOUR)
