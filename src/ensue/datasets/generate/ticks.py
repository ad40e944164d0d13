"""Prices of five shares on one trading day, one a minute: mostly noise, one long fall, one jump on news."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, rows

FIRST = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
MINUTES = 390
OPENING = {"ACME": 41.2, "BOLT": 118.5, "CORK": 9.84, "DUNE": 67.3, "ECHO": 230.0}

FALL = ("DUNE", 145, 165)
"""A share that falls minute after minute."""

NEWS = ("BOLT", 251, 257)
"""A share that everybody wants for a few minutes."""


def generate() -> list[dict[str, Any]]:
    """390 minutes of five shares."""
    draw = Draw(31)
    return rows(FIRST, [each for share in OPENING for each in _prices(share, draw)])


def _prices(share: str, draw: Draw) -> Iterator[Event]:
    price, usual = OPENING[share], draw.between(200, 900)
    for minute in range(MINUTES):
        change, volume = draw.around(0.0, 0.0012, 6), draw.between(usual // 2, usual * 2)
        if (share, minute) in _minutes(FALL):
            change, volume = -0.001 - abs(change), volume * 2
        elif (share, minute) in _minutes(NEWS):
            change, volume = 0.009 + abs(change), volume * 9
        price = round(price * (1.0 + change), 2)
        yield event("tick", 60 * minute + draw.between(0, 9), share=share, price=price, volume=volume)


def _minutes(span: tuple[str, int, int]) -> set[tuple[str, int]]:
    share, first, last = span
    return {(share, minute) for minute in range(first, last)}
