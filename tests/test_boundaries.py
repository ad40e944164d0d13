"""Every strict and inclusive comparison of the language, on all intervals of a small grid, beside its definition.

The definitions are those of the language reference, written again in Python. On the grid each `<` differs from `<=`.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ensue

WAYS = {"python": {"compiled": False}, "machine": {"compiled": True}, "reference": {"engine": "reference"}}
GRID = [(start, end) for start in range(5) for end in range(start, 5)]

EVENTS = "unit s. event x(i: int). event y(j: int). event p(k: int). event q(k: int). event r(k: int).\n"

Interval = tuple[int, int]


def events(type_: str, name: str, intervals: list[Interval]) -> list[dict[str, Any]]:
    return [{"type": type_, "start": s, "end": e, name: number} for number, (s, e) in enumerate(intervals)]


def found(rule: str, rows: list[dict[str, Any]], way: str, until: int = 30) -> list[dict[str, Any]]:
    return ensue.compile(EVENTS + rule).detect(rows, until=until, **WAYS[way])


# --- relations between two intervals a and b

Holds = Callable[[Interval, Interval], bool]


def bounded(
    word: str, distance: Callable[[Interval, Interval], int], rest: Holds = lambda a, b: True
) -> dict[str, Holds]:
    """A relation whose distance is 1 at least; with bounds these count, and an open side keeps that limit."""
    return {
        word: lambda a, b: distance(a, b) > 0 and rest(a, b),
        f"{word}[1]": lambda a, b: distance(a, b) == 1 and rest(a, b),
        f"{word}[0..2]": lambda a, b: 0 <= distance(a, b) <= 2 and rest(a, b),
        f"{word}[-1..1]": lambda a, b: -1 <= distance(a, b) <= 1 and rest(a, b),
        f"{word}[2..]": lambda a, b: distance(a, b) >= 2 and rest(a, b),
        f"{word}[..2]": lambda a, b: 0 < distance(a, b) <= 2 and rest(a, b),
    }


def tolerant(word: str, near: Callable[[Interval, Interval, int], bool]) -> dict[str, Holds]:
    return {
        word: lambda a, b: near(a, b, 0),
        f"{word}[1]": lambda a, b: near(a, b, 1),
        f"{word}[2]": lambda a, b: near(a, b, 2),
    }


RELATIONS: dict[str, Holds] = {
    **bounded("before", lambda a, b: b[0] - a[1]),
    **tolerant("meets", lambda a, b, t: abs(b[0] - a[1]) <= t),
    **bounded("overlaps", lambda a, b: a[1] - b[0], lambda a, b: a[0] < b[0] and a[1] < b[1]),
    **tolerant("starts", lambda a, b, t: abs(a[0] - b[0]) <= t and a[1] < b[1]),
    **bounded("during", lambda a, b: a[0] - b[0], lambda a, b: a[1] < b[1]),
    "during[0..1, 1..2]": lambda a, b: 0 <= a[0] - b[0] <= 1 and 1 <= b[1] - a[1] <= 2,
    "during[1.., ..1]": lambda a, b: a[0] - b[0] >= 1 and 0 < b[1] - a[1] <= 1,
    **tolerant("finishes", lambda a, b, t: abs(a[1] - b[1]) <= t and b[0] < a[0]),
    **tolerant("equals", lambda a, b, t: abs(a[0] - b[0]) <= t and abs(a[1] - b[1]) <= t),
    "seq": lambda a, b: a[1] < b[0],
    "par": lambda a, b: max(a[0], b[0]) < min(a[1], b[1]),
}
INVERSE = {
    "before": "after", "meets": "met_by", "overlaps": "overlapped_by", "starts": "started_by", "during": "contains",
    "finishes": "finished_by",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_relations(relation, way):
    word = relation.partition("[")[0]
    rules = f"one(i, j) <- x(i) {relation} y(j)."
    if word in INVERSE:
        rules += f" other(i, j) <- y(j) {relation.replace(word, INVERSE[word])} x(i)."
    expected = [(i, j) for i, a in enumerate(GRID) for j, b in enumerate(GRID) if RELATIONS[relation](a, b)]
    rows = [*events("x", "i", GRID), *events("y", "j", GRID)]
    detections = found(rules, rows, way)
    for name in ("one", "other") if word in INVERSE else ("one",):
        assert sorted((row["i"], row["j"]) for row in detections if row["type"] == name) == expected


COVERS: dict[str, Callable[[int], bool]] = {
    "within 2": lambda length: length <= 2,
    "within 0": lambda length: length <= 0,
    "lasting 2": lambda length: length == 2,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("joined", ["and", "seq"])
@pytest.mark.parametrize("suffix", COVERS)
def test_lengths_of_what_is_covered(suffix, joined, way):
    rows = [*events("x", "i", GRID), *events("y", "j", GRID)]
    pairs = [(i, j, a, b) for i, a in enumerate(GRID) for j, b in enumerate(GRID) if joined == "and" or a[1] < b[0]]
    expected = [(i, j) for i, j, a, b in pairs if COVERS[suffix](max(a[1], b[1]) - min(a[0], b[0]))]
    if suffix == "within 0" and joined == "seq":
        with pytest.raises(ensue.RuleError):
            found(f"one(i, j) <- x(i) {joined} y(j) {suffix}.", rows, way)
        return
    detections = found(f"one(i, j) <- x(i) {joined} y(j) {suffix}.", rows, way)
    assert sorted((row["i"], row["j"]) for row in detections) == expected


# --- what lies in a scope

SCOPES: dict[str, tuple[str, Holds]] = {
    "while w": ("w: r(_), while w: not p(_)", lambda p, w: w[0] < p[0] and p[1] < w[1]),
    "while [w]": ("w: r(_), while [w]: not p(_)", lambda p, w: w[0] <= p[0] and p[1] <= w[1]),
    "while (w]": ("w: r(_), while (w]: not p(_)", lambda p, w: w[0] < p[0] and p[1] <= w[1]),
    "while [w)": ("w: r(_), while [w): not p(_)", lambda p, w: w[0] <= p[0] and p[1] < w[1]),
    "without": ("r(_) without p(_)", lambda p, w: w[0] <= p[0] and p[1] <= w[1]),
    "in [q, r]": ("not p(_) in [q(_), r(_)]", lambda p, w: w[0] < p[0] and p[1] < w[1]),
}
"""Rules, and whether a `p` lies in the scope `w`."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_absent(scope, way):
    body, inside = SCOPES[scope]
    for place in GRID:
        ends = [("q", 0, 1), ("r", 3, 4)] if scope == "in [q, r]" else [("r", 1, 3)]
        rows = [{"type": type_, "start": s, "end": e, "k": 0} for type_, s, e in ends]
        rows += events("p", "k", [place])
        detections = found(f"one() <- {body}.", rows, way)
        assert len(detections) == (not inside(place, (1, 3))), place


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", [name for name in SCOPES if name.startswith("while")])
def test_what_is_collected(scope, way):
    rows = [{"type": "r", "start": 1, "end": 3, "k": 0}, *events("p", "k", GRID)]
    body = SCOPES[scope][0].replace("not p(_)", "collect p(k)")
    (detection,) = found(f"one(ks = list(k)) <- {body}.", rows, way)
    assert sorted(detection["ks"]) == [k for k, p in enumerate(GRID) if SCOPES[scope][1](p, (1, 3))]


# --- windows

TIMES = [0, 1, 2, 3, 4, 6, 7, 9, 12, 13]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_windows_of_time(size, way):
    detections = found(f"one(ks = list(k)) <- while last {size}s: collect p(k).", events("p", "k", GRID), way)
    expected = {
        tuple(k for k, other in enumerate(GRID) if k == at or (other[1] <= p[1] and other[0] > p[1] - size))
        for at, p in enumerate(GRID)
    }
    assert {tuple(sorted(row["ks"])) for row in detections} == expected


@pytest.mark.parametrize("way", WAYS)
def test_windows_of_each_span(way):
    rows = events("p", "k", [(time, time) for time in TIMES])
    detections = found("one(ks = list(k)) <- while each 3s: collect p(k).", rows, way)
    assert [(row["start"], row["end"], [TIMES[k] for k in row["ks"]]) for row in detections] == [
        (begin, begin + 3, own) for begin in range(0, 15, 3) if (own := [t for t in TIMES if begin <= t < begin + 3])
    ]


@pytest.mark.parametrize("way", WAYS)
def test_windows_since(way):
    """At each `p` all from the latest `q` that ended before it started."""
    for begin in GRID:
        rows = [*events("q", "k", [begin]), *events("p", "k", GRID)]
        detections = found("one(ks = list(k)) <- while since q(_): collect p(k).", rows, way)
        after = [k for k, p in enumerate(GRID) if begin[1] < p[0]]
        expected = {tuple(sorted(k for k in after if GRID[k][1] <= GRID[at][1])) for at in after}
        assert {tuple(sorted(row["ks"])) for row in detections} == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gap", [1, 2, 3])
def test_sessions(gap, way):
    rows = events("p", "k", [(time, time) for time in TIMES])
    detections = found(f"one(ks = list(k)) <- while gap {gap}s: collect p(k).", rows, way)
    sessions: list[list[int]] = []
    for time in TIMES:
        if sessions and time - sessions[-1][-1] <= gap:
            sessions[-1].append(time)
        else:
            sessions.append([time])
    assert [(row["start"], row["end"], [TIMES[k] for k in row["ks"]]) for row in detections] == [
        (own[0], own[-1] + gap, own) for own in sessions
    ]


# --- how often, how long, and the end of time


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("suffix", "most"), [("once in", 1), ("at most 2 in", 2)])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_how_often(suffix, most, length, way):
    rows = events("p", "k", [(time, time) for time in TIMES])
    kept: list[int] = []
    for time in TIMES:
        if sum(time - other < length for other in kept) < most:
            kept.append(time)
    assert [row["end"] for row in found(f"one(k) <- p(k) {suffix} {length}s.", rows, way)] == kept


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_lifetime(way):
    """The longest time by which an event of a match ended before the match."""
    rows = [*events("x", "i", GRID), *events("y", "j", GRID)]
    detections = found("keep 2. one(i, j) <- x(i) and y(j).", rows, way)
    pairs = [(i, j) for i, a in enumerate(GRID) for j, b in enumerate(GRID) if abs(a[1] - b[1]) <= 2]
    assert sorted((row["i"], row["j"]) for row in detections) == pairs


TIMERS = {"extend(o, 3)": (1, 5), "following(o, 3)": (2, 5), "shift(o, 3)": (4, 5), "extend_backward(o, 3)": (-2, 2)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("timer", TIMERS)
def test_a_timer_ends_when_its_time_has_come(timer, way):
    start, end = TIMERS[timer]
    rows = [{"type": "p", "start": 1, "end": 2, "k": 0}]
    rule = f"one(s = w.start, e = w.end) <- o: p(_), w: {timer}."
    (detection,) = found(rule, rows, way, until=end)
    assert (detection["s"], detection["e"], detection["end"]) == (start, end, end)
    if end > 2:
        assert found(rule, rows, way, until=end - 1) == []


@pytest.mark.parametrize("way", WAYS)
def test_events_are_seen_up_to_the_end_of_time(way):
    rows = events("p", "k", [(time, time) for time in TIMES])
    assert [row["end"] for row in found("one(k) <- p(k).", rows, way, until=6)] == [t for t in TIMES if t <= 6]


@pytest.mark.parametrize("way", WAYS)
def test_occurrences_of_a_periodic_timer(way):
    rows = events("p", "k", [(3, 3), (9, 9)])
    rule = "one(at = t.end) <- t: every(3)."
    assert [row["at"] for row in found(rule, rows, way, until=9)] == [3, 6, 9]
    assert [row["at"] for row in found(rule, events("p", "k", [(4, 4), (8, 8)]), way, until=8)] == [6]


# --- sessions


@pytest.mark.parametrize("lateness", [0, 1, 3])
@pytest.mark.parametrize("in_order", [True, False])
def test_lateness(lateness, in_order):
    """Steps before the largest end less the lateness are complete: what ends there or later is not late."""
    for behind in range(6):
        late: list[Any] = []
        session = ensue.compile(EVENTS + "one(k) <- p(k).").start(
            lateness=lateness, in_order=in_order, on_late=late.append
        )
        session.send([{"type": "p", "time": 0, "k": 0}, {"type": "p", "time": 10, "k": 1}])
        session.send({"type": "p", "time": 10 - behind, "k": 2})
        assert len(late) == session.late == (behind > lateness)


@pytest.mark.parametrize("form", ["row", "table"])
@pytest.mark.parametrize("more", [0, 1])
def test_the_furthest_ahead_of_the_clock(form, more, monkeypatch):
    now = 1_700_000_000
    monkeypatch.setattr("ensue.data.wall_clock.time_ns", lambda: now * 10**9)
    bad: list[Any] = []
    session = ensue.compile(EVENTS + "one(k) <- p(k).").start(max_ahead="5s", on_bad_row=bad.append)
    row = {"type": "p", "time": now + 5 + more, "k": 0}
    session.send(row if form == "row" else pa.Table.from_pylist([row]))
    assert len(bad) == session.ahead == more
