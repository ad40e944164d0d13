"""Random streams of the events that random programs use: ties, overlaps, nulls, odd numbers, and keys that repeat."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

EVENTS = {
    "a": {"k": "int", "x": "int"},
    "b": {"k": "int", "y": "float"},
    "c": {"k": "int", "u.s": "string"},
    "i": {"k": "int", "x": "int"},
    "h": {"k": "int", "x": "int"},
    "v": {"y": "float", "o": "bool"},
    "other": {"w": "int"},
}
"""The given types. `i` is instantaneous; `h` may be derived, too; `v` has a float for a key; `c` has a
path for an attribute; `other` is not declared."""

INSTANT = {"i"}

PLAIN: dict[str, list[Any]] = {
    "int": [0, 1, 1, 2, 2, 3],
    "float": [0.5, 1.0, 1.0, 2.5],
    "string": ["p", "p", "q"],
    "bool": [False, True],
}
NULLS = {kind: [*values * 3, *[None] * len(values)] for kind, values in PLAIN.items()}
ODD: dict[str, list[Any]] = {
    "int": [0, 1, 1, 2, -1, -3, 2**63 - 1, -(2**63), 2**62, None],
    "float": [0.0, -0.0, 1.0, 1.0, math.nan, math.inf, -math.inf, 1e300, 1e-300, None],
    "string": ["", "p", "P q", "é", "\U0001f600", " p ", "q", "12", None],
    "bool": [True, False, None],
}
VALUES = {"plain": PLAIN, "nulls": NULLS, "odd": ODD}

TIMES = {
    "dense": ((0, 3), [0, 0, 0, 1]),
    "usual": ((0, 12), [0, 0, 0, 1, 2, 5]),
    "instants": ((0, 12), [0]),
    "wide": ((-40, 40), [0, 0, 1, 7, 30]),
}
"""The first and the last start, and the lengths of events."""

NUMBERS = [None, 1, 2, 3, 3]
"""Sequence numbers."""

MIXTURES = [["a", "a", "b", "c", "i"], ["a", "b", "c", "i", "h", "v", "other"], ["a", "i"]]


@st.composite
def _event(draw, types, values, times, sequence):
    type_ = draw(st.sampled_from(types))
    start = draw(st.integers(*times[0]))
    row = {"type": type_, "start": start, "end": start if type_ in INSTANT else start + draw(st.sampled_from(times[1]))}
    if sequence:
        row["n"] = draw(st.sampled_from(NUMBERS))
    for name, kind in EVENTS.get(type_, {}).items():
        row[name] = draw(st.sampled_from(values[kind]))
    return row


@st.composite
def streams(draw, most_events=14, values=("plain", "nulls", "nulls"), times=tuple(TIMES), sequence=False, types=None):
    """A stream. `values` and `times` are flavours, one of which it has; if types are named it is mostly of these."""
    some = types if types and draw(st.integers(0, 4)) < 4 else draw(st.sampled_from(MIXTURES))
    event = _event(some, VALUES[draw(st.sampled_from(values))], TIMES[draw(st.sampled_from(times))], sequence)
    return [draw(event) for _ in range(draw(st.integers(0, most_events)))]


def random_stream(rng: Random, types: Sequence[str], most_events: int) -> list[dict[str, Any]]:
    """A stream as `streams` draws them, without hypothesis: hundreds of times as fast, and nothing to shrink."""
    some = types if rng.random() < 0.8 else rng.choice(MIXTURES)
    values, times = VALUES[rng.choice([*VALUES])], TIMES[rng.choice([*TIMES])]
    sequence = rng.random() < 1 / 6
    return [_random_event(rng, some, values, times, sequence) for _ in range(rng.randint(0, most_events))]


def long_stream(rng: Random, types: Sequence[str], events: int) -> list[dict[str, Any]]:
    """Many events, in order of their starts: few or many keys, which come back or do not; bursts, ties and gaps."""
    values = VALUES[rng.choice([*VALUES])]
    lengths = rng.choice([[0], [0, 0, 0, 1], [0, 0, 1, 7, 30]])
    gaps = rng.choice([[0, 0, 0, 1], [0, 1, 1, 2], [1, 3, 9], [0] * 50 + [200], [40]])
    keys, passing = rng.choice([4, 50, 1000, 5000]), rng.random() < 0.4
    texts = rng.choice([0, 0, 300])
    found, start = [], 0
    for number in range(events):
        start += rng.choice(gaps)
        row = _random_event(rng, types, values, ((start, start), lengths), False)
        if row.get("k") is not None and rng.random() < 0.95:
            row["k"] = rng.randrange(keys) + (number // 20 if passing else 0)
        if texts and row.get("u.s") is not None:
            row["u.s"] = f"text {rng.randrange(texts) + number // 9}"
        found.append(row)
    return found


def _random_event(rng: Random, types: Sequence[str], values: Any, times: Any, sequence: bool) -> dict[str, Any]:
    type_ = rng.choice(types)
    start = rng.randint(*times[0])
    row = {"type": type_, "start": start, "end": start if type_ in INSTANT else start + rng.choice(times[1])}
    if sequence:
        row["n"] = rng.choice(NUMBERS)
    for name, kind in EVENTS.get(type_, {}).items():
        row[name] = rng.choice(values[kind])
    return row
