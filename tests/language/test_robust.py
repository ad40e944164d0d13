"""Whatever is written, the checker answers with diagnostics and never fails: random words, damaged rule files, any text
at all, and rules far larger than anybody writes.

`ENSUE_FUZZ_EXAMPLES=20000 pytest tests/language/test_robust.py` looks for longer.
"""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS
from ensue.language.diagnostics import Diagnostic, Severity
from ensue.language.functions import FUNCTIONS, TIMERS
from tests.language.rule_files import RULE_FILES

many = settings(max_examples=int(os.environ.get("ENSUE_FUZZ_EXAMPLES", "200")))


def checked(text: str) -> tuple[Diagnostic, ...]:
    """Diagnostics of the checker; each can be shown, and lies inside the text."""
    text += "\n" if text.endswith(".ensue") else ""  # else it is a path
    found = ensue.check_rules(text, "rules")
    for diagnostic in found:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        assert diagnostic.hint, "every message says what to do"
        shown = str(diagnostic).encode().decode()
        assert all(len(line) < 400 for line in shown.split("\n")[1:3])
    return found


def codes(text: str) -> set[str]:
    return {diagnostic.code for diagnostic in checked(text)}


# --- random text ------------------------------------------------------------------------------------------------------

NAMES = [*"abcdexyzow_", "order", "shipped", "id", "`x y`", "`in`", "arg1", "start", "o.x", "o.start", "w.end", "größe"]
SIGNS = [*"()()()[]{},,,...:=<>+-*/%@", ":-", "<-", "==", "!=", "<>", "<=", ">=", "//", "..", "#", "\n"]
CONSTANTS = """
    0 1 2 10 1.5 2e3 1e999 6h 1h30m 250ms 0.1us 99999999999999999999 9223372036854775808 999999999d 3x 5min true false
    null "tea" "2026-12-25T12:00:00Z" "\\"" "\\q" "é" "\\ud800" 'tea'
""".split()  # noqa: SIM905
WORDS = [*sorted(KEYWORDS), *FUNCTIONS, *AGGREGATES, *TIMERS, "int", "float", "snoop_recent", "restricted", "s", "m"]

words = st.one_of(*map(st.sampled_from, (NAMES, NAMES, SIGNS, SIGNS, CONSTANTS, WORDS)))
any_character = st.characters(exclude_categories=())
odd_characters = st.sampled_from(
    "\x00\x07\x0b\x0c\x1b\x1c\x85\xa0\u200b\u2028\u3000\ud800\udfff\ufeff²٣½'\"`\\;&|!$?\t\r"
)


@many
@given(st.lists(words, max_size=60))
def test_any_words(soup: list[str]) -> None:
    checked(" ".join(soup))


@many
@given(st.lists(words, max_size=40))
def test_any_words_in_a_body(soup: list[str]) -> None:
    checked(f"event a(x: int). event order(id: int, y: string). table w(x: int).\nc(x) <- o: a(x), {' '.join(soup)}.")


@many
@given(st.text(any_character, max_size=200))
def test_any_text(text: str) -> None:
    checked(text)


@many
@given(st.sampled_from(sorted(RULE_FILES)), st.data())
def test_odd_characters_in_rules(name: str, data: st.DataObject) -> None:
    text = RULE_FILES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(odd_characters) + text[at:]
    checked(text)


# --- damaged rules ----------------------------------------------------------------------------------------------------

PIECES = re.compile(r'\s+|#[^\n]*|"(?:\\.|[^"\\\n])*"|`[^`\n]+`|\w+|<-|:-|<=|>=|!=|//|\.\.|.')
PIECES_OF = {name: PIECES.findall(text) for name, text in RULE_FILES.items()}
ALL_PIECES = sorted({piece for pieces in PIECES_OF.values() for piece in pieces if not piece.isspace()})


@pytest.mark.parametrize("name", RULE_FILES)
def test_rule_files_are_valid(name: str) -> None:
    assert not [found for found in checked(RULE_FILES[name]) if found.severity is Severity.ERROR]


@many
@given(st.sampled_from(sorted(RULE_FILES)), st.data())
def test_damaged_rules(name: str, data: st.DataObject) -> None:
    pieces = list(PIECES_OF[name])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        match data.draw(st.sampled_from(["delete", "duplicate", "swap", "replace", "move"])):
            case "delete":
                del pieces[at]
            case "duplicate":
                pieces.insert(at, pieces[at])
            case "swap":
                other = data.draw(st.integers(0, len(pieces) - 1))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case "replace":
                pieces[at] = f" {data.draw(st.one_of(st.sampled_from(ALL_PIECES), words))} "
            case "move":
                pieces.insert(data.draw(st.integers(0, len(pieces) - 1)), pieces.pop(at))
    checked("".join(pieces))


# --- large rules ------------------------------------------------------------------------------------------------------

EVENTS = "event a(x: int). event b(x: int). table t(x: int).\n"
DEEP = {
    "patterns to the left": lambda n: f"c(x) <- {'(' * n}a(x){' seq b(x))' * n}.",
    "patterns to the right": lambda n: f"c(x) <- {'a(x) seq (' * n}b(x){')' * n}.",
    "parentheses that say nothing": lambda n: f"c(x) <- {'(' * n}a(x){')' * n}.",
    "alternatives": lambda n: f"c(x) <- {'(a(x) or (b(x) seq ' * n}a(x){'))' * n}.",
    "absences": lambda n: f"c(x) <- a(x){' without (b(x)' * n}{')' * n}.",
    "collections": lambda n: (
        "c(x) <- a(x)" + "".join(f", o{i}: b(x), while o{i}: collect (a(x)" for i in range(n)) + ")" * n
    ),
    "repetitions": lambda n: f"c(x) <- {'(' * n}a(x){{2}}{'){2}' * n}.",
    "conditions": lambda n: f"c(x) <- a(x) where {'not (' * n}x > 1{')' * n}.",
    "sums": lambda n: f"c(x) <- a(x) where {'(' * n}x{' + 1)' * n} > 3.",
    "signs": lambda n: f"c(x) <- a(x) where {'- ' * n}x > 3.",
    "calls": lambda n: f"c(x) <- a(x) where {'abs(' * n}x{')' * n} > 3.",
    "predicates": lambda n: f"c(x) <- a(x) where {'t(' * n}x{')' * n}.",
    "terms in a head": lambda n: f"c(y = {'abs(' * n}x{')' * n}) <- a(x).",
    "heads": lambda n: f"{'c(' * n}x{')' * n} <- a(x).",
    "lists": lambda n: f'c(x) <- a(x). test "t" given a({"[" * n}{"]" * n}) @ 1 expect no c.',
    "brackets that are open": lambda n: f"c(x) <- {'(' * n}a(x).",
    "brackets that are closed": lambda n: f"c(x) <- a(x){')' * n}.",
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("depth", [3, 24, 49, 500])
def test_deep_nesting(shape: str, depth: int) -> None:
    found = codes(EVENTS + DEEP[shape](depth))
    if depth == 500 and shape not in ("parentheses that say nothing", "lists"):
        assert found & {"E002", "E004", "E006"}


LARGE = {
    "a condition of 2,000 alternatives": "c(x) <- a(x) where " + " or ".join(f"x = {i}" for i in range(2000)) + ".",
    "a pattern of 1,000 alternatives": "c(x) <- " + " or ".join("a(x)" for _ in range(1000)) + ".",
    "a sequence of 75 events": "c(x) <- " + " seq ".join("a(x)" for _ in range(75)) + " within 100.",
    "a body of 1,000 conditions": "c(x) <- a(x)" + "".join(f", x != {i}" for i in range(1000)) + ".",
    "a body of 400 absences": "c(x) <- o: a(x)" + "".join(f", while o: not b({i})" for i in range(400)) + ".",
    "a body of 300 timers": "c(x) <- o0: a(x)" + "".join(f", o{i + 1}: shift(o{i}, 1)" for i in range(300)) + ".",
    "a head of 1,000 terms": "c(" + ", ".join(f"k{i} = x" for i in range(1000)) + ") <- a(x).",
    "a case of 140 branches": (
        "c(y = case " + " ".join(f"when x = {i} then {i}" for i in range(140)) + " else 0 end) <- a(x)."
    ),
    "a call of 150 arguments": f"c(y = coalesce({', '.join(['x'] * 150)})) <- a(x).",
    "a string of 100,000 characters": f'c(x) <- a(x) where string(x) = "{"é" * 100_000}".',
    "3,000 facts": "".join(f"t({i}).\n" for i in range(3000)),
}


@pytest.mark.parametrize("what", LARGE)
def test_large_rules_are_accepted(what: str) -> None:
    assert codes(EVENTS + LARGE[what]) == set()


def test_a_case_of_1000_branches_and_a_call_of_1000_arguments_are_refused() -> None:
    branches = " ".join(f"when x = {i} then {i}" for i in range(1000))
    assert codes(f"{EVENTS}c(y = case {branches} end) <- a(x).") == {"E004"}
    assert codes(f"{EVENTS}c(y = concat({', '.join(['x'] * 1000)})) <- a(x).") == {"E004"}


def test_a_body_of_149_events_is_accepted() -> None:
    assert codes(EVENTS + "c(x) <- a(x)" + ", a(x)" * 148 + ".") == {"W001", "W003"}


def test_a_body_of_1000_events_is_refused() -> None:
    assert codes(EVENTS + "c(x) <- a(x)" + ", b(x)" * 999 + ".") == {"E004"}


def test_a_chain_of_1000_events_is_refused() -> None:
    assert codes(EVENTS + "c(x) <- a(x)" + " seq b(x)" * 999 + ".") == {"E004"}


def test_2000_rules() -> None:
    rules = "".join(f"c{i}(x) <- a(x) seq b(x) where x > {i}.\n" for i in range(2000))
    assert codes(f"{EVENTS}{rules}last_one(x) <- c1999(x) seq nowhere(x).") == {"E101"}


def test_1000_unknown_events() -> None:
    found = checked(EVENTS + "".join(f"thing_{i}(x) <- thong_{i}(x) seq b(x).\n" for i in range(1000)))
    assert len(found) == 1000


def test_1000_missing_periods() -> None:
    found = checked("".join(f"event e{i}(x: int)\n" for i in range(1000)))
    assert [(d.code, d.line) for d in found] == [("E005", i + 1) for i in range(1000)]
