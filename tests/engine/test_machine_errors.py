"""Code outside the subset: the message names the function, the line and the problem."""

from __future__ import annotations

import pytest

from ensue.engine.machine import TranslateError, translate
from tests.engine.test_machine_units import STORE

CASES = {
    "a = 1.5": "a is of type int and cannot be float",
    "a = a + x": "Add is not defined for int and float",
    "a = a / 2": "Div is not defined for int and int",
    "a = truncated(x // 2.0)": "FloorDiv is not defined for float and float",
    "a = a ** 2": "Pow is not defined for int and int",
    "p = a < x": "write float(x)",
    "p = a is a": "Is does not compare",
    "p = a in (1, 2)": "Tuple is not an expression",
    "a = p + p": "Add is not defined for bool and bool",
    "a = ~p": "Invert is not defined for bool",
    "a = -p": "USub is not defined for bool",
    "p = not a": "Not is not defined for int",
    "p = p and a": "compare it, as in x != 0",
    "if a: pass": "bool is needed",
    "while 1: pass": "bool is needed",
    "a = 1 if a else 2": "bool is needed",
    "a = 1 if p else 2.0": "of types int and float",
    "return nothing() if p else nothing()": "of types None and None",
    "a = int(x)": "write truncated(x)",
    "a = max(a, x)": "max takes int, not float",
    "a = min(a)": "no function min takes 1 arguments",
    "a = 9223372036854775808": "does not fit in 64 bits",
    "a = 'text'": "Constant is not an expression",
    "a = None": "Constant is not an expression",
    "a = unknown": "unknown is not known here",
    "a = later; later = 3": "assigned above the line that reads it",
    "unknown(a)": "no function unknown",
    "a = helper(x)": "number of helper is int, not float",
    "a = helper()": "helper takes 1 arguments, not 0",
    "a = helper(number=a)": "by position",
    "math.floor(x)": "only functions of the unit",
    "a = nothing()": "has no value",
    "a = pair()": "cannot be tuple[int, float]",
    "a, b, c = pair()": "is no tuple of 3",
    "a, b = a": "is no tuple of 2",
    "a, b = 1, 2, 3": "3 values for 2 targets",
    "a, *b = 1, 2, 3": "3 values for 2 targets",
    "store = 3": "store is a structure and cannot be assigned",
    "a = store": "store is a structure, which has no value",
    "a = a.count": "a is not a structure",
    "a = store.missing": "missing is no field",
    "a = store.key": "key is a column, which needs an index",
    "a = store.count[0]": "count is a number and has no index",
    "a = store.missing[0]": "missing is no field",
    "a = a[0]": "a is not a column",
    "a = store.key[x]": "x is of type float, and int is needed",
    "store.key[0] = x": "elements are int and cannot be float",
    "store.weight[0] = a": "elements are float and cannot be int",
    "store.count = p": "count is of type int and cannot be bool",
    "store.key[0] += helper(1)": "assign its result to a name first",
    "store.key[ask(store, 1)] += 1": "assign its result to a name first",
    "touch(a)": "a is not a structure",
    "grow(a)": "a is not a structure",
    "prefetch(a, 1)": "a is not a column",
    "a = word_at(store.key, 0)": "store.key is no column of bytes",
    "for i in range(1, 2, a): pass": "step of a range is a constant",
    "for i in range(1, 2, 0): pass": "step of a range is a constant",
    "for i in range(): pass": "range takes one to three",
    "for i in store: pass": "For of this form",
    "for x in range(3): pass": "x is of type float and cannot be int",
    "del a": "Delete of this form",
    "break": "Break of this form",
    "return x": "run returns int, not float",
    "return": "run returns int, not None",
    "return 1, 2": "run returns int, not tuple[int, int]",
    "a = [1]": "List is not an expression",
    "a = (lambda: 1)()": "only functions of the unit",
    "b: str = 'a'": "AnnAssign of this form",
    "[a] = 1": "cannot be assigned",
    "ä = 3": "not ASCII",
}

AROUND = """
def helper(number: int) -> int:
    return number
def nothing() -> None:
    pass
def pair() -> tuple[int, float]:
    return 1, 2.0
def touch(table: Table) -> None:
    table.count = 1
def run(a: int, x: float, p: bool) -> int:
    {}
    return a
"""

PLACES = {"store": (STORE, 3)}


@pytest.mark.parametrize("code", CASES)
def test_the_message(code):
    with pytest.raises(TranslateError) as caught:
        translate([AROUND.format(code)], PLACES, ["run"])
    error = caught.value
    assert CASES[code] in error.message
    assert (error.function, error.line, error.text.strip()) == ("run", 11, code)
    assert str(error) == f"run, line 11: {error.message}\n    {code}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def run(a) -> int:\n    return 1\n", "parameter a has no type"),
        ("def run(a: int = 1) -> int:\n    return 1\n", "without defaults"),
        ("def run(*a: int) -> int:\n    return 1\n", "plain parameters"),
        ("@cache\ndef run() -> int:\n    return 1\n", "no decorators"),
        ("def run():\n    return 1\n", "a function returns"),
        ("def run() -> str:\n    return 1\n", "a function returns"),
        ("def run() -> tuple[int, str]:\n    return 1\n", "a function returns"),
        ("def run() -> tuple[int, int]:\n    return 1, 2\n", "an entry has"),
        ("def run(store: Store) -> int:\n    return 1\n", "an entry has"),
        ("def run(ä: int) -> int:\n    return 1\n", "not ASCII"),
        ("def run(a: int) -> int:\n    if a > 1:\n        return 1\n", "does not return a value on every path"),
        ("def run(a: int) -> int:\n    while a > 1:\n        return 1\n", "does not return a value on every path"),
        ("def run() -> int:\n    return 1\ndef run() -> int:\n    return 1\n", "two functions of this name"),
    ],
)
def test_functions_that_cannot_be(text, message):
    with pytest.raises(TranslateError, match=message) as caught:
        translate([text], PLACES, ["run"])
    assert caught.value.function == "run"


def test_what_is_not_called_is_not_translated():
    text = "def other() -> int:\n    return 'text'\ndef run() -> int:\n    return 1\n"
    translate([text], {}, ["run"])
