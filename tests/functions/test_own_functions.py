"""User-defined functions in rules."""

import functools
import math
import re
from datetime import UTC, datetime, timedelta
from typing import Optional

import numpy as np
import pytest
from hypothesis import assume, given, settings

import ensue
from ensue.data.give_back import give_back
from ensue.request import Request
from tests.random_programs import programs, streams

EVENTS = "event a(x: int, y: float, s: string, t: timestamp, o: bool).\n"


def distance(x: float, y: float) -> float:
    return abs(x - y)


def row(time=1, **values):
    return {"type": "a", "time": time, "x": 1, "y": 2.5, "s": "p", "t": "2024-03-05T06:00:00Z", "o": True, **values}


EXECUTIONS = [{"engine": "reference"}, {"compiled": False}, {"compiled": True}]


def found(rules, functions, *rows, **settings):
    """The attributes of detections, the same on every execution."""
    program = ensue.compile(EVENTS + rules, functions=functions)
    answers = [program.detect([*rows], **how, **settings) for how in EXECUTIONS]
    session = program.start(in_order=True, **settings)
    answers.append(session.send([*rows]) + session.close())
    assert all(answer == answers[0] for answer in answers)
    return [{k: v for k, v in row.items() if k not in ("type", "start", "end")} for row in answers[0]]


# --- parameters and results


def test_values_of_every_type_go_in_and_come_out():
    def later(t: datetime, hours: int) -> datetime:
        assert t.tzinfo is UTC
        return t + timedelta(hours=hours)

    def words(s: str, o: bool) -> str:
        return f"{s}!" if o else s

    def half(x: int) -> float:
        assert type(x) is int
        return x / 2

    def isnt(o: bool) -> bool:
        return not o

    def floor(y: float) -> int:
        assert type(y) is float
        return math.floor(y)

    terms = "l = later(t, x), w = words(s, o), h = half(x), i = isnt(o), f = lowest(y), g = lowest(x)"
    rules = f"d({terms}) <- a(x, y, s, t, o)."
    functions = {"later": later, "words": words, "half": half, "isnt": isnt, "lowest": floor}
    assert found(rules, functions, row()) == [
        {"l": datetime(2024, 3, 5, 7, tzinfo=UTC), "w": "p!", "h": 0.5, "i": False, "f": 2, "g": 1}
    ]


def test_everywhere_in_rules():
    rules = """
    table near(p: float).  near(1.0). near(7.0).
    close(p) :- near(p), distance(p, 0) < 5.
    d(v = distance(x, y)) <- e: a(x, y, _, _, _) where distance(x, 0) > 0 and close(distance(x, 0)).
    n(m = max(distance(x, 3))) <- while last 2: collect a(x, _, _, _, _).
    on d(v) if distance(v, 0) > 1 do tell(distance(v, 1)).
    """
    called = []
    program = ensue.compile(EVENTS + rules, functions={"distance": distance})
    assert found(rules, {"distance": distance}, row(), row(2, x=9), emit="d") == [{"v": 1.5}]
    assert found(rules, {"distance": distance}, row(), row(2, x=9), emit="n") == [{"m": 2.0}, {"m": 6.0}]
    session = program.start(actions={"tell": called.append})
    session.send(row())
    session.close()
    assert called == [0.5]


def test_times_of_events():
    def hour_of(t: datetime) -> int:
        return t.hour

    rules = "d(h = hour_of(e.start)) <- e: a(_, _, _, _, _)."
    events = [row(time="2024-03-05T17:20:00Z")]
    assert found(rules, {"hour_of": hour_of}, *events) == [{"h": 17}]


def test_null_is_not_handed_over_unless_the_parameter_takes_it():
    def strict(x: int, s: str) -> str:
        assert x is not None
        return f"{x}{s}"

    def lenient(x: int | None, s: Optional[str]) -> str | None:  # noqa: UP045
        return None if x is None and s is None else f"{x}{s}"

    rules = "d(p = strict(x, s), q = lenient(x, s)) <- a(x, _, s, _, _)."
    rows = [row(), row(2, x=None), row(3, s=None), row(4, x=None, s=None)]
    assert found(rules, {"strict": strict, "lenient": lenient}, *rows) == [
        {"p": "1p", "q": "1p"}, {"p": None, "q": "Nonep"}, {"p": None, "q": "1None"}, {"p": None, "q": None},
    ]  # fmt: skip


def test_arguments_may_be_left_out():
    def power(x: int, exponent: int = 2, *, base: int = 10) -> int:
        return x**exponent % base

    assert found("d(p = pw(x), q = pw(x, 3)) <- a(x, _, _, _, _).", {"pw": power}, row(x=4)) == [{"p": 6, "q": 4}]
    with pytest.raises(
        ensue.RuleError, match=r"`pw` takes 1 or 2 arguments, three are given|`pw` takes 1 or 2 arguments"
    ):
        ensue.compile(EVENTS + "d(p = pw(x, 1, 2)) <- a(x, _, _, _, _).", functions={"pw": power})


def test_other_things_that_can_be_called():
    class Above:
        def __init__(self, limit):
            self.limit = limit

        def __call__(self, x: int) -> bool:
            return x > self.limit

        def method(self, x: int) -> int:
            return x + self.limit

    def add(x: int, y: int) -> int:
        return x + y

    functions = {"above": Above(3), "plus": functools.partial(add, 7), "shifted": Above(5).method, "wave": lambda_of()}
    rules = "d(p = above(x), q = plus(x), r = shifted(x), u = wave(x)) <- a(x, _, _, _, _)."
    assert found(rules, functions, row(x=4)) == [{"p": True, "q": 11, "r": 9, "u": 8}]


def lambda_of():
    def inner(x: "int") -> "int":
        return x * 2

    return inner


def test_numbers_of_numpy():
    def scaled(x: int) -> float:
        return np.float64(x) / 2

    def whole(x: int) -> int:
        return np.int64(x)

    assert found("d(p = scaled(x), q = whole(x)) <- a(x, _, _, _, _).", {"scaled": scaled, "whole": whole}, row()) == [
        {"p": 0.5, "q": 1}
    ]


def test_attributes_of_any_type():
    """Values of another kind than a function takes have no result."""

    def twice(x: int) -> int:
        return 2 * x

    program = ensue.compile("d(v = twice(x)) <- u(x = x).", functions={"twice": twice})
    events = [{"type": "u", "time": i, "x": x} for i, x in enumerate([1, "p", None, True])]
    session = program.start()
    assert [r["v"] for event in events for r in session.send(event)] + [r["v"] for r in session.close()] == [
        2, None, None, None,
    ]  # fmt: skip


def test_asked_once_for_each_combination_of_values():
    calls = []

    def seen(x: int) -> int:
        calls.append(x)
        return x

    program = ensue.compile(EVENTS + "d(v = seen(x)) <- a(x, _, _, _, _).", functions={"seen": seen})
    program.detect([row(time, x=time % 3) for time in range(300)])
    assert sorted(calls) == [0, 1, 2]


# --- failures


@pytest.mark.parametrize("how", EXECUTIONS, ids=str)
def test_an_exception_gives_null_and_one_warning(how):
    def share(x: int, s: str) -> float:
        return 1 / x

    program = ensue.compile(EVENTS + "d(v = share(x, s)) <- a(x, _, s, _, _).", functions={"share": share})
    with pytest.warns(ensue.FunctionWarning) as told:
        answer = program.detect([row(1, x=0), row(2, x=0, s="q"), row(3, x=2)], **how)
    assert [r["v"] for r in answer] == [None, None, 0.5]
    assert [str(each.message) for each in told] == [
        "The function share(0, 'p') failed, and is null there: ZeroDivisionError: division by zero. Further failures "
        "of it are not told."
    ]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("many", "it returned 'many', which is no int"),
        (2**63, "it returned 9223372036854775808, which is no int"),
        ([1], r"it returned \[1\], which is no int"),
        (1.5, "it returned 1.5, which is no int"),
    ],
)
def test_a_result_of_another_type_gives_null_and_a_warning(result, said):
    def wrong(x: int) -> int:
        return result

    with pytest.warns(ensue.FunctionWarning, match=said):
        assert found("d(v = wrong(x)) <- a(x, _, _, _, _).", {"wrong": wrong}, row()) == [{"v": None}]


def test_half_a_character_is_no_text():
    def half(x: int) -> str:
        return "\ud800"

    with pytest.warns(ensue.FunctionWarning, match="which is no string"):
        assert found("d(v = half(x)) <- a(x, _, _, _, _).", {"half": half}, row()) == [{"v": None}]


def test_what_ends_a_program_ends_it():
    def stop(x: int) -> int:
        raise KeyboardInterrupt

    for how in EXECUTIONS:
        with pytest.raises(KeyboardInterrupt):
            ensue.compile(EVENTS + "d(v = stop(x)) <- a(x, _, _, _, _).", functions={"stop": stop}).detect(
                [row()], **how
            )


# --- sessions


def test_functions_are_handed_over_again_to_resume():
    text = EVENTS + "d(v = distance(x, y)) <- a(x, y, _, _, _) seq a(_, _, _, _, _)."
    program = ensue.compile(text, functions={"distance": distance})
    session = program.start()
    session.send(row())
    state = session.save()
    session = ensue.compile(text, functions={"distance": distance}).resume(state)
    assert [r["v"] for r in session.send(row(2))] == [1.5]
    with pytest.raises(
        ensue.RuleError, match=r'no function or table `distance`[^$]*pass your own with `functions=\{"distance"'
    ):
        ensue.compile(text)


def test_rules_that_are_added_call_them():
    session = ensue.compile(EVENTS, functions={"distance": distance}).start()
    session.send(row())
    session.add("rule near: d(v = distance(x, y)) <- a(x, y, _, _, _).")
    session.send(row(2))
    session.remove("near")
    session.add("rule far: e(v = distance(y, x) + 1) <- a(x, y, _, _, _).")
    assert [r["v"] for r in session.send(row(3))] == [2.5, 2.5]


def test_a_largest_lifetime():
    program = ensue.compile(EVENTS + "d(v = distance(x, y)) <- a(x, y, _, _, _).", functions={"distance": distance})
    assert [r["v"] for r in program.keeping(5).detect([row()])] == [1.5]


# --- errors


def nothing(x: int):
    pass


def bare(x) -> int:
    return x


def listed(x: list[int]) -> int:
    return len(x)


def either(x: int | str) -> int:
    return 1


def several(*x: int) -> int:
    return 1


def keyword(x: int, *, y: int) -> int:
    return 1


def unknown(x: "Missing") -> int:  # noqa: F821
    return 1


def constant() -> int:
    return 1


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ({"f": nothing}, r"The result of the function 'f' has no annotation.*int, float, str, bool and datetime"),
        ({"f": bare}, "The parameter `x` of the function 'f' has no annotation"),
        ({"f": listed}, r"The parameter `x` of the function 'f' is annotated `list\[int\]`; rules take int"),
        ({"f": either}, r"is annotated `int \| str`; rules take"),
        ({"f": several}, r"The function 'f' has a parameter `\*x: int`; rules pass arguments by position"),
        ({"f": keyword}, "The function 'f' has a parameter `y: int`; rules pass"),
        ({"f": unknown}, "The annotations of the function 'f' cannot be read: name 'Missing' is not defined"),
        ({"f": constant}, "The function 'f' takes no argument"),
        ({"f": 5}, "The function 'f' is 5, which cannot be called"),
        ({"f": math.hypot}, "f'"),
        ({"lower": distance}, "cannot be called 'lower', as this is a function of the language"),
        ({"sum": distance}, "cannot be called 'sum', as this is an aggregate"),
        ({"extend": distance}, "cannot be called 'extend', as this is a timer"),
        ({"where": distance}, "cannot be called 'where', as this is a keyword"),
        ({"neg": distance}, "cannot be called 'neg', as this is an operator"),
        ({"a-b": distance}, "'a-b' is not a name for a function"),
        ({3: distance}, "3 is not a name for a function"),
        ([distance], "`functions` is .* pass a dict"),
    ],
)
def describe_test_what_cannot_be_used_is(functions, said):
    with pytest.raises(ensue.DataError, match=said):
        ensue.compile(EVENTS, functions=functions)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("table distance(x: int).", "E106: `distance` is the name of one of your functions"),
        ("distance(1).", "E106: `distance` is the name of one of your functions"),
        ("d(x) <- a(x, _, _, _, _) where distance(x) > 1.", "E201: `distance` takes 2 arguments, here is 1"),
        (
            "d(x) <- a(x, _, s, _, _) where distance(x, s) > 1.",
            "E202: a number is needed here|E202: a float is needed here",
        ),
        ("d(x) <- a(x, _, _, _, _) where distance(x, y = 1) > 1.", "E201: the function `distance` takes no named"),
        ("d(x) <- a(x, _, _, _, _) where distance(x, x).", "E205: a condition is needed here, this is a float"),
        ("d(x) <- a(x, _, _, _, _) seq distance(x, x).", "E408: `distance` is a function"),
        ("d(x) <- a(x, _, _, _, _) where distnce(x, x) > 1.", "E103.*[^$]*did you mean `distance`"),
    ],
)
def describe_test_what_is_wrong_in_rules_is(rules, said):
    with pytest.raises(ensue.RuleError, match=said):
        ensue.compile(EVENTS + rules, functions={"distance": distance})
    assert ensue.check_rules(EVENTS + rules, functions={"distance": distance})


# --- random programs: functions of the language, written again in Python


def own_lower(s: str) -> str:
    return s.lower()


def own_upper(s: str) -> str:
    return s.upper()


def own_length(s: str) -> int:
    return len(s)


def own_trim(s: str) -> str:
    return s.strip(" ")


def own_starts_with(s: str, part: str) -> bool:
    return s.startswith(part)


def own_contains(s: str, part: str) -> bool:
    return part in s


def own_sqrt(y: float) -> float | None:
    return math.sqrt(y) if not y < 0 else None


def own_is_nan(y: float) -> bool:
    return math.isnan(y)


OWN = {name: value for name, value in globals().items() if name.startswith("own_")}
NAMES = {name[4:] for name in OWN}
WRITTEN = re.compile(rf"\b({'|'.join(NAMES)})\(")


@settings(max_examples=30)
@given(programs(), streams())
def test_functions_of_the_language_written_anew_find_the_same(rules, events):
    assume(WRITTEN.search(rules))
    try:
        built_in = ensue.compile(rules)
    except ensue.RuleError:
        assume(False)
    assume(NAMES.isdisjoint(built_in.typed.events))  # events may be called like functions
    program = ensue.compile(WRITTEN.sub(r"own_\1(", rules), functions=OWN)
    try:
        tables, read = built_in.detect_tables(events, Request(engine="reference"))
    except ensue.DetectError:
        assume(False)
    wanted = give_back(tables, read.form)
    for how in EXECUTIONS:
        assert give_back(*_form(program.detect_tables(events, Request(**how)))) == wanted
    session = program.start(in_order=True)
    assert session.send(sorted(events, key=lambda event: event["end"])) + session.close() == wanted


def _form(answer):
    tables, read = answer
    return tables, read.form
