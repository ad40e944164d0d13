"""Sign-ins of a company on one day: people who mistype, one who travels, and two who guess."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ensue.datasets.generate.draw import Draw
from ensue.datasets.generate.events import Event, event, rows

FIRST = datetime(2026, 3, 3, tzinfo=UTC)
HOUR = 3600
USERS = (
    "alma", "arne", "bela", "carl", "dora", "edda", "emil", "fay", "finn", "gina", "hanna", "hugo", "ida", "ines",
    "ivan", "jana", "jonas", "kai", "kim", "lea", "leo", "lina", "mara", "max", "mia", "nils", "nora", "olga", "otto",
    "paul", "pia", "rosa", "sami", "sara", "sven", "tara", "theo", "uma", "vera", "yara",
)  # fmt: skip
OFFICES = (("10.1.0.", "SE"), ("10.2.0.", "DE"), ("10.3.0.", "PT"))


def generate() -> list[dict[str, Any]]:
    """A day of 40 people in three offices, with two attacks and a journey that nobody can make."""
    draw = Draw(17)
    return rows(FIRST, [*_people(draw), *_guesses(draw), *_spray(draw), *_journey()])


def _people(draw: Draw) -> Iterator[Event]:
    """Everybody signs in a few times between seven and six, and mistypes now and then."""
    for number, user in enumerate(USERS):
        network, country = OFFICES[number % len(OFFICES)]
        ip = f"{network}{20 + number}"
        second = draw.between(7 * HOUR, 9 * HOUR)
        while second < 18 * HOUR:
            while draw.chance(0.2):
                yield event("failed", second, user=user, ip=ip, country=country)
                second += draw.between(4, 40)
            yield event("login", second, user=user, ip=ip, country=country)
            second += draw.between(20 * 60, 100 * 60)


def _guesses(draw: Draw) -> Iterator[Event]:
    """One address guesses a password at night until it fits."""
    ip, second = "203.0.113.66", 2 * HOUR + 840
    for _ in range(41):
        yield event("failed", second, user="otto", ip=ip, country="BR")
        second += draw.between(5, 19)
    yield event("login", second, user="otto", ip=ip, country="BR")


def _spray(draw: Draw) -> Iterator[Event]:
    """Another tries a common password with every name; one of them has it."""
    ip, second = "198.51.100.23", 12 * HOUR + 1500
    for user in USERS:
        fits = user == "mara"
        yield event("login" if fits else "failed", second, user=user, ip=ip, country="NL")
        second += draw.between(15, 60)


def _journey() -> Iterator[Event]:
    """Someone with another's password signs in from another country, within the hour."""
    yield event("login", 15 * HOUR + 125, user="vera", ip="192.0.2.14", country="US")
