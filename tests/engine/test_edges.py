"""Edge cases in which executions are most likely to differ: numbers that wrap, values that equal nothing, the ends
of time."""

import math
from random import Random

import numpy as np
import pytest

import ensue
from ensue.engine.run import Run
from ensue.language.limits import FARTHEST, LONGEST
from tests.agreement import EXECUTIONS, check, reference

QUICK = (
    "plain", "small, cut", "plain, one table", "detect, rows", "detect, table in order", "detect, tables by type",
    "session, events", "machine, cut",
)  # fmt: skip
"""One execution for each way in which rules run."""

DECLARATIONS = """
event a(k: int, x: int).
event b(k: int, x: int).
event f(y: float, z: float).
event s(t: string, k: int).
"""


def at(time, type_, *values, start=None):
    names = {"f": ("y", "z"), "s": ("t", "k")}.get(type_, ("k", "x"))
    begin = time if start is None else start
    return {"type": type_, "start": begin, "end": time, **dict(zip(names, values, strict=True))}


def found_by_all(rules, events, until=None, names=QUICK):
    """Detections of the rules: (start, end, attributes …) of each derived event. All executions must find them."""
    program = ensue.compile(DECLARATIONS + rules)
    found = reference(program, events, until)
    for name in names:
        check(name, program, events, until, 3, found)
    return [(d.start, d.end, *d.attributes.values()) for d in found]


def value(expression, event):
    """Value of an expression over one event."""
    binding = {"a": "a(k, x)", "f": "f(y, z)", "s": "s(t, k)"}[event["type"]]
    ((_, _, found),) = found_by_all(f"d(v = {expression}) <- {binding}.", [event])
    return found


# --- numbers

SMALLEST, LARGEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("expression", "k", "x", "wanted"),
    [
        ("x + k", 1, LARGEST, SMALLEST),
        ("x - k", 1, SMALLEST, LARGEST),
        ("x * k", 2**32, 2**32, 0),
        ("x * x * x", 0, 2**40 + 1, ((2**40 + 1) ** 3 + 2**63) % 2**64 - 2**63),
        ("-x", 0, SMALLEST, SMALLEST),
        ("abs(x)", 0, SMALLEST, SMALLEST),
        ("x // k", -1, SMALLEST, SMALLEST),
        ("x % k", -1, SMALLEST, 0),
        ("x // k", 2, -7, -4),
        ("x // k", -2, 7, -4),
        ("x % k", 2, -7, 1),
        ("x % k", -2, 7, -1),
        ("x // k", 0, 5, None),
        ("x % k", 0, 5, None),
        ("x / k", 0, 5, None),
        ("x / k", 2, 5, 2.5),
        ("x / k", 2, None, None),
        ("x + k", None, 1, None),
        ("coalesce(x, k)", 4, None, 4),
        ("coalesce(x, k)", None, None, None),
        ("if_else(x > k, 1, 2)", None, 1, 2),
        ("if_else(x == k, x, k)", 3, 3, 3),
        ("is_null(x)", 0, None, True),
        ("x = k or x > 0", None, 1, True),
        ("x = k and x > 0", None, 0, False),
        ("not (x = k)", None, 0, None),
        ("x < 9007199254740992.5", 0, 2**53 + 1, False),
        ("x = 9007199254740992.0", 0, 2**53 + 1, False),
    ],
)
def test_integers(expression, k, x, wanted):
    assert value(expression, at(1, "a", k, x)) == wanted


@pytest.mark.parametrize(
    ("expression", "y", "z", "wanted"),
    [
        ("y / z", 1.0, 0.0, None),
        ("y / z", 1.0, -0.0, None),
        ("y / z", 0.0, math.inf, 0.0),
        ("y + z", math.inf, -math.inf, math.nan),
        ("y * z", 1e300, 1e300, math.inf),
        ("y = z", math.nan, math.nan, False),
        ("y != z", math.nan, math.nan, True),
        ("y < z", math.nan, 1.0, False),
        ("not (y < z)", math.nan, 1.0, True),
        ("y = z", 0.0, -0.0, True),
        ("y = z", None, None, None),
        ("y >= 1", math.inf, 0.0, True),
        ("y < 9223372036854775807", math.inf, 0.0, False),
        ("y > -3", math.nan, 0.0, False),
    ],
)
def test_floats(expression, y, z, wanted):
    found = value(expression, at(1, "f", y, z))
    assert found == wanted or (found != found and wanted != wanted)


def test_a_null_equals_nothing():
    events = [at(1, "a", None, 1), at(2, "b", None, 2), at(3, "a", 1, None), at(4, "b", 1, None)]
    assert found_by_all("d(k) <- a(k, _) seq b(k, _).", events) == [(3, 4, 1)]
    assert found_by_all("d(x) <- a(_, x) seq b(_, x).", events) == []
    assert found_by_all("d(k) <- a(k, k).", events) == []
    quiet = "d(k) <- e: a(k, _), w: extend(e, 2), while w: not b(k, _)."
    assert found_by_all(quiet, events, 9) == [(1, 3, None)]


def test_but_it_is_a_group_of_its_own():
    events = [at(1, "a", None, 1), at(2, "a", 1, 2), at(3, "a", None, None)]
    wanted = [(1, 1, None, 1), (2, 2, 1, 1), (1, 3, None, 1)]
    assert found_by_all("d(k, n = count(x)) <- while last 3: collect a(k, x).", events) == wanted


def test_what_is_not_a_number_joins_nothing_and_zero_has_no_sign():
    events = [at(1, "f", math.nan, 1.0), at(2, "f", 0.0, 2.0), at(3, "f", math.nan, 3.0), at(4, "f", -0.0, 4.0)]
    assert found_by_all("d(z, u) <- f(y, z) seq f(y, u).", events) == [(2, 4, 2.0, 4.0)]


def test_what_is_not_a_number_is_one_group_and_comes_last():
    events = [at(1, "f", math.nan, 1.0), at(2, "f", math.nan, 2.0), at(3, "f", 0.0, math.nan), at(4, "f", -0.0, 4.0)]
    found = found_by_all("d(y, n = count(z), low = min(z), high = max(z)) <- while last 3: collect f(y, z).", events)
    assert [(start, end, n) for start, end, _, n, _, _ in found] == [(1, 1, 1), (1, 2, 2), (3, 3, 1), (3, 4, 2)]
    assert (found[3][4], math.isnan(found[3][5])) == (4.0, True)


def test_a_sum_forgets_what_has_left_the_window():
    events = [at(t, "f", y, 1.0) for t, y in enumerate([1.0, math.inf, 2.0, 3.0, 1e300, 0.1, 0.2, math.nan, 4.0, 5.0])]
    found = found_by_all("d(t = sum(y)) <- while last 2: collect f(y, _).", events)
    sums = [total for _, _, total in found]
    assert sums[:7] == [1.0, math.inf, math.inf, 5.0, 1e300, 1e300, pytest.approx(0.3, rel=1e-12)]
    assert [math.isnan(total) for total in sums] == [False] * 7 + [True, True, False]
    assert sums[9] == 9.0


def test_a_sum_that_was_too_large_comes_back():
    events = [at(t, "f", y, 1.0) for t, y in enumerate([1.0, 1e308, 1e308, 1.0, 2.0, 3.0])]
    found = found_by_all("d(t = sum(y), m = avg(y)) <- while last 2: collect f(y, _).", events)
    assert [total for _, _, total, _ in found] == [1.0, 1e308, math.inf, 1e308, 3.0, 5.0]
    assert [mean for *_, mean in found][-2:] == [1.5, 2.5]


def test_a_deviation_that_was_too_large_comes_back():
    events = [at(t, "f", y, 1.0) for t, y in enumerate([0.0, 1.2e154, 0.0, 1.2e154, 1.0, 2.0, 3.0])]
    found = found_by_all("d(v = variance(y)) <- while last 3: collect f(y, _).", events)
    assert [found[place][2] for place in (0, 1, 6)] == [None, pytest.approx(7.2e307), 1.0]


def test_a_sum_of_integers_wraps_and_comes_back():
    events = [at(t, "a", 1, x) for t, x in enumerate([LARGEST, 1, 5, 6])]
    found = found_by_all("d(t = sum(x)) <- while last 2: collect a(_, x).", events)
    assert [total for _, _, total in found] == [LARGEST, SMALLEST, 6, 11]


def test_strings_are_joined_by_their_text():
    events = [at(1, "s", "é", 1), at(2, "s", "e\u0301", 2), at(3, "s", "é", 3), at(4, "s", "", 4), at(5, "s", "", 5)]
    assert found_by_all("d(t, k) <- s(t, _) seq s(t, k).", events) == [(1, 3, "é", 3), (4, 5, "", 5)]


# --- times


PAIRS = "d(k) <- a(k, _) seq b(k, _) within 10."
QUIET = "d(k) <- e: a(k, _), w: extend(e, 5), while w: not b(k, _)."
SPAN = "unit s. d(n = count(x)) <- while last 5s: collect a(_, x)."


@pytest.mark.parametrize("base", [-FARTHEST, -FARTHEST // 2, 0, FARTHEST // 2, FARTHEST - 30])
@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        (PAIRS, [(0, 4), (4, 14)]),
        (QUIET, [(4, 9), (30, 35)]),
        (SPAN, [(0, 0), (0, 4), (30, 30)]),
        ("d(k) <- recent a(k, _) seq b(k, _) within 10.", [(0, 4), (4, 14)]),
        ("d(l = e.end - o.start) <- o: a(k, _), e: b(k, _), o before[4..10] e.", [(0, 4), (4, 14)]),
        ("d(k) <- e: a(k, _), w: extend_backward(e, 3), while w: not b(k, _).", [(-3, 0), (1, 4), (27, 30)]),
    ],
)
def test_times_far_from_zero(base, rules, wanted):
    events = [at(base + t, type_, 1, 1) for t, type_ in [(0, "a"), (4, "b"), (4, "a"), (14, "b"), (30, "a")]]
    found = found_by_all(rules, events, base + 40)
    assert [(start - base, end - base) for start, end, *_ in found] == wanted


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        (PAIRS, [(FARTHEST - 1, FARTHEST)]),
        ("d(k) <- a(k, _) seq b(k, _).", [(-FARTHEST, FARTHEST), (FARTHEST - 1, FARTHEST)]),
        (f"d(k) <- a(k, _) before[{LONGEST}..] b(k, _).", [(-FARTHEST, FARTHEST)]),
        (f"d(k) <- a(k, _) seq b(k, _) within {LONGEST}.", [(FARTHEST - 1, FARTHEST)]),
        (SPAN, [(-FARTHEST, -FARTHEST), (FARTHEST - 1, FARTHEST - 1)]),
        (QUIET, [(-FARTHEST, -FARTHEST + 5)]),
        (f"d(k) <- e: a(k, _), w: extend(e, {LONGEST}), while w: not b(k, _).", [(-FARTHEST, LONGEST - FARTHEST)]),
        (
            f"d(k) <- e: a(k, _), w: extend(e, {LONGEST}).",
            [(-FARTHEST, LONGEST - FARTHEST), (FARTHEST - 1, FARTHEST - 1 + LONGEST)],
        ),
    ],
)
def test_ages_apart(rules, wanted):
    """Time runs to its very end, so that timers end."""
    events = [at(-FARTHEST, "a", 1, 1), at(FARTHEST - 1, "a", 1, 1), at(FARTHEST, "b", 1, 1)]
    assert [found[:2] for found in found_by_all(rules, events, LARGEST)] == wanted


BEYOND = {
    "pairs": (PAIRS, [at(-FARTHEST - 1, "a", 1, 1), at(-FARTHEST, "b", 1, 1), at(FARTHEST + 1, "b", 1, 1)]),
    "quiet": (QUIET, [at(LARGEST - 9, "a", 1, 1), at(LARGEST - 4, "a", 2, 1), at(LARGEST, "b", 3, 1)]),
    "before": ("d(k) <- e: a(k, _), w: extend_backward(e, 5).", [at(SMALLEST + 1, "a", 1, 1)]),
    "after": ("d(k) <- e: a(k, _), w: shift(e, 5).", [at(LARGEST - 5, "a", 1, 1), at(LARGEST, "b", 2, 1)]),
}
"""Rules, and events that leave no room for lengths to be added to their times."""


@pytest.mark.parametrize(("rules", "events"), BEYOND.values(), ids=BEYOND)
def test_times_beyond_that_are_refused(rules, events):
    """The engine itself raises an error; `detect` warns of bad rows."""
    program = ensue.compile(DECLARATIONS + rules)
    with pytest.raises(ensue.DetectError, match="Times must lie within"):
        EXECUTIONS["plain"](program, events, None, Random(0))
    with pytest.warns(ensue.BadRowsWarning, match="times lie within"):
        program.detect(events)


# --- batches


@pytest.mark.parametrize("count", [1, 60])
def test_everything_at_one_time(count):
    events = [at(7, "ab"[n % 2], n % 3, n % 5, start=7 - n % 4) for n in range(count)]
    rules = """
        d(k, x) <- a(k, x) and b(k, _).
        w(k, n = count(x)) <- while last 3: collect a(k, x).
        m(k) <- a(k, _) meets b(k, _).
        r(k, x) <- recent a(k, x) and b(k, _).
    """
    assert len(found_by_all(rules, events)) >= count // 2


@pytest.mark.parametrize("compiled", [False, True])
def test_empty_batches(compiled):
    """Time that passes without events: a timer ends, nothing else happens."""
    program = ensue.compile(DECLARATIONS + QUIET).typed
    run = Run(program, compiled=compiled)
    found = []
    for time in range(-3, 12):
        batch = run.batch()
        if time == 2:
            batch.rows = [("a", {"k": 1, "x": 1}, 2, 2, None, 0)]
        assert run.due() == (7 if 2 < time < 8 else None)
        run.advance(batch, time, None)
        found += [(e.start, e.end) for e in batch.events(["d"])]
    assert found == [(2, 7)]


@pytest.mark.parametrize(("events", "until"), [([], None), ([], 5), ([at(3, "s", "p", 1)], 9)])
def test_nothing_at_all(events, until):
    assert found_by_all(PAIRS + QUIET, events, until) == []


def test_many_attributes():
    terms = ", ".join(f"v{n} = x + {n}" for n in range(70))
    rules = f"d({terms}) <- a(_, x). e(v1, v69) <- d(v1 = v1, v69 = v69)."
    assert found_by_all(rules, [at(1, "a", 1, 2)])[1][2:] == (3, 71)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("missing", [[], [0], [62], [63], [64, 129], [125, 126]])
def test_many_arguments_that_may_be_null(compiled, missing):
    """More than there are bits in a number."""
    columns = [f"c{i}" for i in range(130)]
    declared, used = ", ".join(f"{column}: int" for column in columns), ", ".join(columns)
    rules = f"event a({declared}). table t({declared}). known(c1) <- a({used}) where t({used})."
    program = ensue.compile(f"{rules} joined(s = concat({used})) <- a({used}).")
    values = [{column: i % 10 for i, column in enumerate(columns) if i not in left} for left in (missing, [])]
    rows = [{"type": "a", "time": time, **own} for time, own in enumerate(values)]
    found = program.detect(rows, tables={"t": [tuple(i % 10 for i in range(130))]}, compiled=compiled)
    assert [each["end"] for each in found if each["type"] == "known"] == ([1] if missing else [0, 1])
    texts = ["".join(map(str, own.values())) for own in values]
    assert [each["s"] for each in found if each["type"] == "joined"] == texts


def test_numbers_of_numpy_do_not_come_out():
    """Results are Python's own values, whatever the engine holds them in."""
    program = ensue.compile(DECLARATIONS + "d(k, q = x / 2, t = k = 1) <- a(k, x).")
    for compiled in (False, True):
        run = Run(program.typed, compiled=compiled)
        batch = run.batch()
        batch.rows = [("a", {"k": 1, "x": 1}, 2, 2, None, 0)]
        (event,) = run.advance(batch, 2, 2).events(["d"])
        values = [*event.attributes.values(), event.start, event.end]
        assert not any(isinstance(each, np.generic) for each in values)


@pytest.mark.parametrize("first", [0, FARTHEST - 10, -FARTHEST])
@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("r(k) <- o: a(k, _), w: following(o, LONGEST), while [w]: not b(k, _).", 0),
        ("r(k) <- o: a(k, _), w: preceding(o, LONGEST), while [w]: not b(k, _).", 2),
        ("r(k) <- o: a(k, _), w: shift(o, -LONGEST), while [w]: not b(k, _).", 3),
        ("r(k, n = count(*)) <- while gap LONGEST: collect a(k, _).", 0),
        ("r(k) <- a(k, _) seq b(k, _) within LONGEST.", 2),
        ("r(k) <- a(k, _) before[0..LONGEST] b(k, _) before[0..LONGEST] a(_, x) before[0..LONGEST] b(_, y).", 2),
        ("keep LONGEST.  r(k) <- a(k, _) seq b(k, _).", 2),
        ("r(k) <- a(k, _) once per k in LONGEST.", 2),
    ],
)
def test_the_longest_lengths_of_time_do_not_wrap(rules, found, first):
    given = [(0, "a", 1), (1, "a", 2), (3, "b", 1), (4, "b", 2), (5, "a", 1), (9, "b", 3)]
    events = [at(first + time, type_, k, time) for time, type_, k in given]
    assert len(found_by_all(rules.replace("LONGEST", str(LONGEST)), events)) == found


def test_a_length_that_is_too_large_only_on_timestamps_is_refused_there():
    program = ensue.compile("unit d.  event a().  r() <- a() seq a() within 20000000d.")
    events = [{"type": "a", "time": 1}, {"type": "a", "time": 20000001}]
    assert program.detect(events) == [{"type": "r", "start": 1, "end": 20000001}]
    with pytest.raises(ensue.RuleError, match="E007: this length of time is too large"):
        program.detect([{"type": "a", "time": "2026-01-01T00:00:00Z"}])


@pytest.mark.parametrize("compiled", [False, True])
def test_keys_and_events_of_very_many_attributes(compiled):
    declared, values = (", ".join(f"{each}{i}{of}" for i in range(230)) for each, of in (("k", ": int"), ("v", "")))
    program = ensue.compile(f"event a({declared}). event b({declared}). w({values}) <- a({values}) seq b({values}).")
    events = [
        {"type": "ab"[j % 2], "time": j, **{f"k{i}": (j // 2 + i * (j == 5)) % 3 for i in range(230)}}
        for j in range(12)
    ]
    session = program.start(compiled=compiled)
    found = session.send(events[:8])
    session = program.resume(session.save())
    found += session.send(events[8:]) + session.close()
    wanted = program.detect(events, engine="reference")
    assert found == program.detect(events, compiled=compiled) == wanted
    assert len(wanted) == 8
