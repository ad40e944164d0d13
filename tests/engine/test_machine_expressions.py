"""Expressions: each form by machine code, at both levels, against Python on the same numbers."""

from __future__ import annotations

import math
import random

import pytest

from ensue.engine.machine import build, load, plain, translate
from ensue.engine.structure import Frame
from tests.engine.test_machine_units import LEVELS, agree, exact

LOWEST, HIGHEST = -(2**63), 2**63 - 1

INTEGERS = [LOWEST, LOWEST + 1, -(2**32), -17, -3, -2, -1, 0, 1, 2, 3, 7, 63, 2**31, 2**53 + 1, HIGHEST - 1, HIGHEST]
FLOATS = [-math.inf, -1e308, -2.5, -1.0, -0.5, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.0, 3.7, 1e18, 1e308, math.inf, math.nan]

OF_INTEGERS = """
wrap(a + b); wrap(a - b); wrap(a * b); wrap(-a); +a; ~a; a & b; a ^ b; (a | b)
wrap(a // (b | 1)); a % (b | 1); wrap((a | 1) // (b ^ (b + 1 & 1))) if b ^ (b + 1 & 1) != 0 else 5
wrap(a // 3); a % 3; wrap(a // -3); a % -3; a // 8; a % 8; a // 1; a % 1; wrap(a // -1); a % -1
a // 9223372036854775807; a % -9223372036854775808; a // 4611686018427387904; a % 7 - a % -7
wrap(a << (b & 63)); a >> (b & 63); unsigned_shift(a, b & 63); a >> 0; a >> 63; wrap(a << 1); unsigned_shift(a, 63)
min(a, b); max(a, b); min(a, b, 3, -a if a > -9 else 0); max(a, 2, b); wrap(abs(a)); abs(b) if b > -9 else 1
int(a); int(a < b); int(unsigned_less(a, b)); int(bool(a)); wrap(a * 2862933555777941757 + 3037000493)
a if a < b else b; (a if p else b) if q else 3; 5 if p and q or a == b else 6
truncated(x) if -9e18 < x < 9e18 else -1; bits(x) if not is_nan(x) else 1; bits(from_bits(a & 4503599627370495))
-9223372036854775808; wrap(a - -9223372036854775808); 1_000; 0x7F
"""

OF_FLOATS = """
x + y; x - y; x * y; x / y; -x; +x; abs(x); float(a); float(x); float(a) / float(b); 1e999; -0.0 * x
sqrt(x); floor(x); ceil(x); trunc(x); exp(x); log(x); log10(x); pow(x, y); pow(2.0, x); pow(x, 0.5); pow(x, 2.0)
pow(10.0, floor(y)); exp(x * 0.001); log(abs(x) + 1.0); from_bits(bits(x)); x if x < y else y; x / 0.0; 0.1 + 0.2
x * y + x; x / 3.0; x - x
"""

OF_TRUTH = """
a < b; a <= b; a > b; a >= b; a == b; a != b; x < y; x <= y; x > y; x >= y; x == y; x != y; p < q; p <= q
p == q; p != q; p > q; p >= q; p & q; p ^ q; p | q; not p; not a < b; not x < y; p and q; p or q; p and not q or a > 3
a < b < 3; a < b <= a + 0; 0 <= a < b; x < y < 1.0; 0.0 <= x <= y != 1.0; a == b == 0; (a < b) == (x < y)
bool(a); bool(p); is_nan(x); unsigned_less(a, b); True; False; p if q else not p; a < b and x < y and p
not (p and q); not (p or not q); (p or q) and (a < 0 or b < 0); True and p; False or p; True or p; False and p
p and False; p or True; not True; not is_nan(x) and x > 0.0; (p and q) == (p or q); bool(int(p) + int(q))
"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.split(";") if part.strip()]


FORMS = [
    *(("int", one) for one in expressions(OF_INTEGERS)),
    *(("float", one) for one in expressions(OF_FLOATS)),
    *(("bool", one) for one in expressions(OF_TRUTH)),
]


def samples() -> list[tuple[int, int, float, float, bool, bool]]:
    rest = random.Random(5)
    found = [(a, b, rest.choice(FLOATS), rest.choice(FLOATS), a > b, b % 2 == 0) for a in INTEGERS for b in INTEGERS]
    found += [(rest.choice(INTEGERS), 3, x, y, x > y, True) for x in FLOATS for y in FLOATS]
    for _ in range(200):
        a, b = (rest.getrandbits(64) - 2**63 >> rest.randrange(64) for _ in range(2))
        x, y = (rest.uniform(-1, 1) * 10.0 ** rest.randrange(-20, 20) for _ in range(2))
        found.append((a, b, x, y, rest.random() < 0.5, rest.random() < 0.5))
    return found


@pytest.fixture(scope="module")
def unit() -> str:
    parameters = "a: int, b: int, x: float, y: float, p: bool, q: bool"
    return "".join(f"def f{i}({parameters}) -> {type_}:\n    return {one}\n" for i, (type_, one) in enumerate(FORMS))


@pytest.mark.parametrize("level", LEVELS)
def test_every_form_gives_what_python_gives(unit, level):
    names = [f"f{i}" for i in range(len(FORMS))]
    machine, python = load(build(translate([unit], {}, names), level), names), plain([unit], {})
    address = Frame(3).address
    for name, (_, form) in zip(names, FORMS, strict=True):
        by_machine, by_python = machine[name], python[name]
        for given in samples():
            assert exact(by_machine(address, *given)) == exact(by_python(*given)), (form, given)


@pytest.mark.parametrize("level", LEVELS)
def test_constants_are_computed_as_at_run_time(level):
    """LLVM knows the arguments, and Python's results are the same to the last bit."""
    forms = ["exp(1.0)", "log(3.0)", "log10(7.0)", "pow(1.1, 7.3)", "sqrt(2.0)", "0.1 + 0.2", "pow(2.0, 0.5)"]
    text = "".join(f"def f{i}() -> float:\n    return {form}\n" for i, form in enumerate(forms))
    names = [f"f{i}" for i in range(len(forms))]
    machine, python = load(build(translate([text], {}, names), level), names), plain([text], {})
    for name in names:
        assert machine[name](Frame(3).address) == python[name]()


def test_floor_division_by_anything_never_traps():
    text = (
        "def divide_(a: int, b: int) -> int:\n    return a // b\ndef rest(a: int, b: int) -> int:\n    return a % b\n"
    )
    for level in LEVELS:
        machine = load(build(translate([text], {}, ["divide_", "rest"]), level), ["divide_", "rest"])
        address = Frame(3).address
        assert machine["divide_"](address, LOWEST, -1) == LOWEST
        assert machine["rest"](address, LOWEST, -1) == 0
        machine["divide_"](address, 5, 0)  # whatever it gives, the process lives
        machine["rest"](address, 5, 0)


def test_arithmetic_wraps():
    text = "def run(a: int, b: int) -> int:\n    return (a + b) * 2 - (a << 3)\n"
    for level in LEVELS:
        machine = load(build(translate([text], {}, ["run"]), level), ["run"])
        for a, b in ((HIGHEST, HIGHEST), (LOWEST, -1), (2**62, 2**62)):
            wanted = (((a + b) * 2 - (a << 3)) + 2**63) % 2**64 - 2**63
            assert machine["run"](Frame(3).address, a, b) == wanted


def test_only_what_is_needed_is_evaluated():
    text = """
def said(number: int, answer: bool) -> bool:
    log_.count = log_.count * 10 + number
    return answer
def number_(number: int) -> int:
    log_.count = log_.count * 10 + number
    return number
def run(p: bool, q: bool) -> int:
    log_.count = 0
    r = said(1, p) and said(2, q) or said(3, p) and not said(4, q)
    s = number_(5) < number_(6 if p else 2) < number_(7)
    t = number_(8) if said(9, q) else number_(1)
    if (said(2, p) or said(3, q)) and said(4, r or s):
        log_.count += t
    return log_.count
"""
    from tests.engine.test_machine_units import STORE

    agree(text, [("run", p, q) for p in (True, False) for q in (True, False)], {"log_": STORE})
