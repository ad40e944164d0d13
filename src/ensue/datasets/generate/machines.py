"""Machines of a plant over two days: temperatures each ten minutes, maintenance that takes a while, failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, interval, rows

FIRST = datetime(2026, 3, 9, tzinfo=UTC)
MINUTE, HOUR = 60, 3600
USUAL = {"press 1": 68.0, "press 2": 71.0, "saw": 55.0, "mill": 74.0, "oven": 80.0, "lathe": 60.0}
TECHNICIANS = ("Amara", "Björn", "Chen")

WARM = {"mill": (20 * HOUR, 23 * HOUR), "press 2": (33 * HOUR, 35 * HOUR)}
"""The hours in which a machine runs hotter and hotter."""

SILENT = {"saw": (27 * HOUR, 28 * HOUR + 30 * MINUTE)}
"""The time in which a sensor sends nothing."""

WORK = {
    "press 1": ((9 * HOUR, 10 * HOUR + 15 * MINUTE),),
    "press 2": ((34 * HOUR, 34 * HOUR + 50 * MINUTE),),
    "saw": ((13 * HOUR, 14 * HOUR),),
    "mill": ((8 * HOUR, 9 * HOUR), (23 * HOUR, 25 * HOUR)),
    "lathe": ((30 * HOUR, 31 * HOUR + 40 * MINUTE),),
}
"""The times at which somebody works on a machine."""


def generate() -> list[dict[str, Any]]:
    """Two days of six machines; two run too hot, one while somebody works on it, and one sensor is silent."""
    draw = Draw(23)
    made = [event("failure", 22 * HOUR + 40 * MINUTE, machine="mill", code="E31 bearing")]
    made.append(event("failure", 17 * HOUR + 5 * MINUTE, machine="lathe", code="E02 belt"))
    for machine in USUAL:
        made += [*_readings(machine, draw), *_maintenance(machine, draw)]
    return rows(FIRST, made, intervals=True)


def _readings(machine: str, draw: Draw) -> Iterator[Event]:
    offset = draw.between(0, 500)
    warm_from, warm_to = WARM.get(machine, (0, 0))
    silent_from, silent_to = SILENT.get(machine, (0, 0))
    for second in range(offset, 48 * HOUR, 10 * MINUTE):
        if silent_from <= second < silent_to:
            continue
        celsius = draw.around(USUAL[machine], 2.5)
        if warm_from <= second < warm_to:
            celsius = round(celsius + 34.0 * (second - warm_from) / (warm_to - warm_from), 1)
        elif machine == "oven" and draw.chance(0.03):
            celsius = round(celsius + 12.0, 1)  # its door was open for a moment
        yield event("reading", second + draw.between(0, 20), machine=machine, celsius=celsius)


def _maintenance(machine: str, draw: Draw) -> Iterator[Event]:
    for start, end in WORK.get(machine, ()):
        late = draw.between(0, 9 * MINUTE)
        yield interval("maintenance", start + late, end + late, machine=machine, technician=draw.pick(TECHNICIANS))
