"""Random streams of the events that random programs use: ties, overlaps, nulls, odd numbers, and keys that repeat."""

import math

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

PLAIN = {
    "int": st.sampled_from([0, 1, 1, 2, 2, 3]),
    "float": st.sampled_from([0.5, 1.0, 1.0, 2.5]),
    "string": st.sampled_from(["p", "p", "q"]),
    "bool": st.booleans(),
}
NULLS = {kind: st.one_of(values, values, values, st.none()) for kind, values in PLAIN.items()}
ODD = {
    "int": st.sampled_from([0, 1, 1, 2, -1, -3, 2**63 - 1, -(2**63), 2**62, None]),
    "float": st.sampled_from([0.0, -0.0, 1.0, 1.0, math.nan, math.inf, -math.inf, 1e300, 1e-300, None]),
    "string": st.sampled_from(["", "p", "P q", "é", "\U0001f600", " p ", "q", "12", None]),
    "bool": st.sampled_from([True, False, None]),
}
VALUES = {"plain": PLAIN, "nulls": NULLS, "odd": ODD}

TIMES = {
    "dense": (st.integers(0, 3), st.sampled_from([0, 0, 0, 1])),
    "usual": (st.integers(0, 12), st.sampled_from([0, 0, 0, 1, 2, 5])),
    "instants": (st.integers(0, 12), st.just(0)),
    "wide": (st.integers(-40, 40), st.sampled_from([0, 0, 1, 7, 30])),
}


@st.composite
def _event(draw, types, values, times, sequence):
    type_ = draw(st.sampled_from(types))
    start = draw(times[0])
    row = {"type": type_, "start": start, "end": start if type_ in INSTANT else start + draw(times[1])}
    if sequence:
        row["n"] = draw(st.sampled_from([None, 1, 2, 3, 3]))
    for name, kind in EVENTS.get(type_, {}).items():
        row[name] = draw(values[kind])
    return row


@st.composite
def streams(draw, most_events=14, values=("plain", "nulls", "nulls"), times=tuple(TIMES), sequence=False, types=None):
    """A stream. `values` and `times` are flavours, one of which it has; if types are named it is mostly of these."""
    mixtures = [["a", "a", "b", "c", "i"], ["a", "b", "c", "i", "h", "v", "other"], ["a", "i"]]
    some = types if types and draw(st.integers(0, 4)) < 4 else draw(st.sampled_from(mixtures))
    event = _event(some, VALUES[draw(st.sampled_from(values))], TIMES[draw(st.sampled_from(times))], sequence)
    return [draw(event) for _ in range(draw(st.integers(0, most_events)))]
