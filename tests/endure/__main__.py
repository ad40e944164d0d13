"""Attacks that go on for a given time: `make endure MINUTES=60`.

    python -m tests.endure --seed 7 --minutes 60
    python -m tests.endure --only "rule files" --count 100000
    python -m tests.endure --only memory --events 100000000
    python -m tests.endure --only soak --days 84

Kinds take turns, each with the same share of time. The first wrong result ends the run with its kind and number.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from random import Random

from tests.endure.damage import DamagedFiles, DamagedStates, MutatedRules, rules_that_change
from tests.endure.kills import KilledSessions, KilledStreams
from tests.endure.memory import memory
from tests.endure.soak import soak

Attack = Callable[[Random], int | None]
"""Takes a random generator; may return the number of attempts."""

ATTACKS: dict[str, Callable[[], Attack]] = {
    "sessions": lambda: rules_that_change,
    "rule files": MutatedRules,
    "states": DamagedStates,
    "files of events": DamagedFiles,
    "kills": KilledSessions,
    "spark kills": KilledStreams,
}
"""Kinds of attacks, each made when it is chosen."""

USUAL = [kind for kind in ATTACKS if kind != "spark kills"]
"""Kinds where none is chosen: all that need no Java."""

SHARE = 2.0
"""Seconds that a kind has before it is another one's turn."""

REPORT = 60.0
"""Seconds between two lines on the progress."""


def endure(seed: int, minutes: float, kinds: list[str], count: int | None, say: Callable[[str], object]) -> None:
    """Attack in turns until the time is over, or each kind has had its number of attempts."""
    attacks = {kind: ATTACKS[kind]() for kind in kinds}
    done: Counter[str] = Counter()
    began = said = time.monotonic()
    number = seed * 10_000_000

    def left(kind: str) -> bool:
        return time.monotonic() - began < 60 * minutes and (count is None or done[kind] < count)

    while any(map(left, kinds)):
        for kind, attack in attacks.items():
            share = time.monotonic()
            while left(kind) and time.monotonic() - share < SHARE:
                number += 1
                try:
                    done[kind] += attack(Random(number)) or 1
                except BaseException as error:
                    say(f"{kind}, {number}: {type(error).__name__}: {error}")
                    raise
        if time.monotonic() - said > REPORT:
            said = time.monotonic()
            say(described(done, said - began))
    say(f"{described(done, time.monotonic() - began)}: nothing found")


def described(done: Counter[str], seconds: float) -> str:
    return f"{seconds:6.0f} s  " + ", ".join(f"{count:,} {kind}" for kind, count in done.items())


def main(arguments: list[str] | None = None, say: Callable[[str], object] = print) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endure", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="where to begin; each seed draws other attacks")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument(
        "--only", choices=[*ATTACKS, "memory", "soak"], action="append", help="a kind of attack; may be given again"
    )
    parser.add_argument("--count", type=int, help="attempts of each kind, if that comes before the time is over")
    parser.add_argument("--events", type=int, default=2_000_000, help="of `--only memory`, for each structure")
    parser.add_argument("--days", type=int, default=84, help="of simulated time, for `--only soak`")
    chosen = parser.parse_args(arguments)
    if chosen.only == ["soak"]:
        wrong = soak(chosen.days, say, chosen.seed)
        say("\n".join(wrong) if wrong else "the state is flat, and detections are those in all events at once")
        return int(bool(wrong))
    if chosen.only == ["memory"]:
        grown = memory(chosen.events, say)
        say(f"grown: {', '.join(grown)}" if grown else "memory is flat")
        return int(bool(grown))
    if chosen.only and not set(chosen.only) <= set(ATTACKS):
        parser.error("memory and a soak run alone")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        endure(chosen.seed, chosen.minutes, chosen.only or USUAL, chosen.count, say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
