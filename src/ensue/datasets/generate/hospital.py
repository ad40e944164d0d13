"""An emergency department and its clinic over one day and night, with a night shift that has too few doctors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, rows

FIRST = datetime(2026, 3, 10, 6, tzinfo=UTC)
MINUTE, HOUR = 60, 3600
DOCTORS = ("Lund", "Okoye", "Sato", "Weiss")
NURSES = ("Ito", "Marsh", "Novak")
NIGHT = (16 * HOUR, 23 * HOUR)


def generate() -> list[dict[str, Any]]:
    """24 hours: admissions and examinations, temperatures and medication, and a clinic by day."""
    draw = Draw(53)
    return rows(FIRST, [*_emergencies(draw), *_doctors(draw), *_clinic(draw)])


def _emergencies(draw: Draw) -> Iterator[Event]:
    second, patient = 0, 4000
    while second < 23 * HOUR:
        second += draw.between(4 * MINUTE, 24 * MINUTE)
        patient += 1
        urgency = draw.pick((1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5))
        yield event("admit", second, patient=patient, urgency=urgency)
        longest = 13 if urgency <= 2 else 80
        if NIGHT[0] <= second <= NIGHT[1]:
            longest = 24 if urgency <= 2 else 150
        seen = second + draw.between(2 * MINUTE, longest * MINUTE)
        yield event("examined", seen, patient=patient, doctor=draw.pick(DOCTORS))
        if draw.chance(0.45):
            yield from _fever(patient, seen, draw)


def _fever(patient: int, seen: int, draw: Draw) -> Iterator[Event]:
    """Temperatures each half hour; paracetamol for most who have fever, and for a few by an old chart."""
    celsius = draw.around(38.1, 0.7)
    rises = draw.chance(0.35)
    for turn in range(draw.between(3, 6)):
        measured = seen + 10 * MINUTE + turn * 30 * MINUTE + draw.between(0, 4 * MINUTE)
        yield event("temperature", measured, patient=patient, celsius=celsius)
        if draw.chance(0.6 if celsius >= 38.5 else 0.08):
            given = measured + draw.between(3 * MINUTE, 20 * MINUTE)
            yield event("medication", given, patient=patient, drug="paracetamol")
            celsius = round(celsius - 0.7, 1)
        celsius = min(40.8, round(celsius + (0.7 if rises else draw.around(-0.1, 0.2)), 1))


def _doctors(draw: Draw) -> Iterator[Event]:
    """A doctor enters the emergency room once or twice an hour, at night less often."""
    second = 10 * MINUTE
    while second < 24 * HOUR:
        yield event("doctor_enters", second, doctor=draw.pick(DOCTORS))
        night = NIGHT[0] <= second <= NIGHT[1]
        second += draw.between(40 * MINUTE, 110 * MINUTE) if night else draw.between(20 * MINUTE, 60 * MINUTE)


def _clinic(draw: Draw) -> Iterator[Event]:
    """From eight to four visitors come for a check-up; in the morning more than the nurses can see."""
    second, visitor, waiting = 2 * HOUR, 100, []
    while second < 9 * HOUR:
        second += draw.between(4 * MINUTE, 12 * MINUTE)
        visitor += 1
        waiting.append(second)
        yield event("check_in", second, visitor=visitor)
    free = 2 * HOUR + 10 * MINUTE
    for arrived in waiting:
        free = max(free, arrived + MINUTE)
        yield event("nurse_free", free, nurse=draw.pick(NURSES))
        early = free < 5 * HOUR
        free += draw.between(9 * MINUTE, 14 * MINUTE) if early else draw.between(3 * MINUTE, 9 * MINUTE)
