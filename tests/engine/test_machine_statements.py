"""Statements: each form by machine code against Python."""

from __future__ import annotations

import pytest

from tests.engine.test_machine_units import STORE, agree

NUMBERS = (-3, 0, 1, 2, 5, 12)

FORMS = {
    "assignment": """
    b = a
    b = b + 1
    c = d = b * 2
    c: int = c - 1
    e: int
    e = c
    x = 1.5
    p = a > 2
    x, p = x * 2.0, not p
    return b + c + d + e + truncated(x) + int(p)""",
    "swap": """
    b = 7
    a, b = b, a
    a, b, c = b + a, a, b
    return a * 100 + b * 10 + c""",
    "augmented": """
    b = a
    b += 3
    b -= 1
    b *= 5
    b //= 2
    b %= 11
    b <<= 2
    b >>= 1
    b |= 8
    b &= 29
    b ^= 3
    x = 3.0
    x /= 0.5
    x += 1.0
    p = True
    p &= a > 0
    return b + truncated(x) + int(p)""",
    "conditions": """
    if a < 0:
        b = 1
    elif a == 0:
        b = 2
    elif a < 3:
        if a == 1:
            b = 3
        else:
            return 17
    else:
        pass
        b = 4
    if not (a > 1 and a < 5) or a == 2:
        b += 100
    return b""",
    "while": """
    total = 0
    while a > 0:
        a -= 1
        if a == 7:
            continue
        if total > 30:
            break
        total += a
    return total * 100 + a""",
    "endless": """
    n = 0
    while True:
        n += 1
        while True:
            n += 2
            if n > 10:
                break
        if n > a * 3:
            return n""",
    "range": """
    total = 0
    for i in range(a):
        total += i
    for i in range(2, a):
        total = total * 3 + i
    for i in range(a, -4, -2):
        total = total * 3 + i
    for i in range(-1, 20, STEP):
        total += i * a
    return total""",
    "range bounds are taken once": """
    n = a
    total = 0
    for i in range(n):
        n += 5
        total += i
        i = 100
        total += i
    return total * 1000 + n""",
    "leaving loops": """
    total = 0
    for i in range(10):
        for j in range(i):
            if j == a:
                break
            if (i + j) % 3 == 0:
                continue
            total += i * j
        if i == 8:
            continue
        if total > 90:
            return -total
        total += 1
    return total""",
    "after a return": """
    if a > 2:
        return 1
        a = 2
    else:
        return 3
    return 4""",
    "one branch assigns": """
    if a > 1:
        b = 3
    if a > 1:
        return b
    return 0""",
    "tuples": """
    q, r = divided(a, 3)
    x, p, n = several(a)
    r, q = divided(q, 2)
    return q * 1000 + r * 100 + truncated(x * 10.0) + int(p) + n""",
    "nothing": """
    "Says nothing."
    pass
    assert a < 100, "ignored by machine code"
    several(a)
    nothing(a)
    return 5""",
    "chosen": """
    b = a if a > 1 else 2 if a == 1 else -a
    return (3 if b > a else 4) * b""",
}

BESIDE = """
STEP = 4

def divided(a: int, b: int) -> tuple[int, int]:
    return a // b, a % b

def several(a: int) -> tuple[float, bool, int]:
    if a > 1:
        return 0.5, True, a
    return again(a + 1)

def again(a: int) -> tuple[float, bool, int]:
    return float(a), a > 0, -a

def nothing(a: int) -> None:
    if a > 3:
        return None
    a = 5
"""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_does_what_python_does(form):
    text = f"{BESIDE}\ndef run(a: int) -> int:{FORMS[form]}\n"
    agree(text, [("run", a) for a in NUMBERS])


def test_calls_through_many_functions():
    """Small functions are inlined, large ones are not; both give the same."""
    large = "".join(f"    a = (a * {i + 3}) ^ (a >> {i % 5 + 1}) & 1048575\n    a = a % 1000003\n" for i in range(30))
    text = (
        f"def large(a: int) -> int:\n{large}    return a\n"
        + """
def small(a: int, p: bool) -> bool:
    return p != (a % 3 == 0)

def run(a: int) -> int:
    p = small(a, True)
    q = small(large(a), p) and small(large(a + 1), not p)
    return large(large(a)) + large(a * 3) + int(p) * 2 + int(q)
"""
    )
    agree(text, [("run", a) for a in NUMBERS])


def test_targets_are_assigned_in_order():
    text = """
def run(a: int) -> int:
    i = 0
    i, store.key[i], store.count = 2, a, i
    store.key[i], store.key[i + 1] = store.key[2] + 7, store.key[i]
    store.key[4] = store.count = i
    return store.key[0] + store.key[2] * 10 + store.key[3] * 100 + store.key[4] * 1000
"""
    agree(text, [("run", a) for a in NUMBERS], {"store": STORE})
