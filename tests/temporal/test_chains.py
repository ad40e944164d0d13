"""Chains of keys: which rules are joined in several stages, that these find the same, and why others are not."""

from random import Random

import pytest

import ensue
from ensue.data.results import picked
from ensue.partitioning import ByKey, Whole, chained, stages
from ensue.partitioning.chain import CHOOSES, COMPOSED, LAST, NO_KEYS, UNLIKE, UNNAMED, WINDOW
from ensue.partitioning.chaining import hindrance
from ensue.partitioning.reach import reach
from ensue.reference import detect
from tests.agreement import difference
from tests.random_chains import chain_program, chain_rows
from tests.temporal.in_parts import detect_in_parts
from tests.temporal.test_partitions import detections, shown

DECLARATIONS = """
event a(u: int, v: int).
event b(v: int, w: int).
event c(w: int, x: int).
event e(x: int, y: int).
event f(w: float, x: int).
event i(v: int, w: int) instant.
event j(w: int, x: int) instant.
event q(w: int).
table linked(p: int, q: int).
"""


def staged(rules):
    program = ensue.compile(DECLARATIONS + rules).typed
    wanted = picked(program, None)
    return [shown(stage) for stage in stages(chained(program, wanted).program, wanted)]


STAGED = {
    "a chain": (
        "d(u, x) <- a(u, v) seq b(v, w) seq c(w, x).",
        ["d/b+c by int: b(w), c(w)", "d by int: a(v), d/b+c(v); duplicates of d"],
    ),
    "slices of time are cut where there is no chain": (
        "d(u, x) <- a(u, v) seq b(v, w) seq c(w, x) within 9.",
        ["d/b+c by int: b(w), c(w); extent 9", "d by int: a(v), d/b+c(v); extent 9; duplicates of d"],
    ),
    "two groups in one stage": (
        "d(u, y) <- a(u, v), b(v, w), c(w, x), e(x, y).",
        ["d/a+b, d/c+e by int: a(v), b(v), c(x), e(x)", "d by int: d/a+b(w), d/c+e(w); duplicates of d"],
    ),
    "a group inside another": (
        "d(u, y) <- a(u, v), b(v, w), c(w, x), e(x, y), j(_, y).",
        [
            "d/a+b, d/c+e by int: a(v), b(v), c(x), e(x)",
            "d/c+e+j by int: j(x), d/c+e(y)",
            "d by int: d/a+b(w), d/c+e+j(w); duplicates of d",
        ],
    ),
    "a tree": (
        "d(u) <- a(u, v), b(v, w), i(v, x), c(w, _), e(x, _).",
        [
            "d/b+c, d/i+e by int: b(w), c(w), e(x), i(w)",
            "d by int: a(v), d/b+c(v), d/i+e(v); duplicates of d",
        ],
    ),
    "equal attributes": (
        "d(u) <- a(u, v), o: b(v, _), p: c(_, _) where o.w = p.w.",
        ["d/b+c by int: b(w), c(w)", "d by int: a(v), d/b+c(v); duplicates of d"],
    ),
    "from an event": (
        "d(u) from o <- a(u, v), b(v, w), o: c(w, x).",
        ["d/a+b by int: a(v), b(v)", "d by int: c(w), d/a+b(w); duplicates of d"],
    ),
    "what is negated comes last": (
        "d(u) <- a(u, v) seq b(v, w) seq o: c(w, x), t: extend(o, 3), while t: not q(w).",
        ["d/a+b by int: a(v), b(v)", "d by int: c(w), q(w), d/a+b(w); duplicates of d; until"],
    ),
    "what is negated comes first": (
        "d(u) <- a(u, v) seq o: b(v, w), t: extend(o, 3), while t: not q(w).",
        ["d/b by int: b(w), q(w), nulls of b; until", "d by int: a(v), d/b(v); duplicates of d"],
    ),
    "one thing negated comes first, another one last": (
        "d(u) <- o: a(u, v), b(v, w), p: c(w, x), t: extend(o, 3), s: extend(p, 3), while t: not q(v), "
        "while s: not q(w).",
        [
            "d/a, d/a+b by int: a(v), b(v), q(w), d/a(v), nulls of a; until",
            "d by int: c(w), q(w), d/a+b(w); duplicates of d; until",
        ],
    ),
    "a largest lifetime": (
        "keep 9. d(u) <- a(u, v), b(v, w), c(w, x).",
        ["d/b+c by int: b(w), c(w); extent 9", "d by int: a(v), d/b+c(v); extent 9; duplicates of d"],
    ),
    "several rules for one event": (
        "d(u) <- a(u, v), b(v, w), c(w, x). d(u) <- a(u, v), b(v, x), e(x, _).",
        [
            "d/b+c, d/b+e by int: b(w), c(w), e(x)",
            "d by int: a(v), d/b+c(v), d/b+e(v); duplicates of d",
        ],
    ),
    "what is derived is used": (
        "d(u, x) <- a(u, v), b(v, w), c(w, x). g(u) <- d(u, x), e(x, u).",
        [
            "d/b+c by int: b(w), c(w)",
            "d by int: a(v), d/b+c(v); duplicates of d",
            "g by int, int: e(y, x), d(u, x); duplicates of g",
        ],
    ),
    "a rule of one event goes along": (
        "h(u, v) <- a(u, v) where u > v. d(u, x) <- h(u, v), b(v, w), a(w, x) within 9.",
        [
            "h, d/b+a by int: a(u), b(w), nulls of a; extent 9",
            "d by int: h(v), d/b+a(v); extent 9; duplicates of d",
        ],
    ),
    "a rule of one event goes first, where that gives a key": (
        "h(u, v = v + 1) <- a(u, v). d(u) <- h(u, v), a(w, v), c(w, _) within 9.",
        [
            "h, d/a+c by int: a(u), c(w), nulls of a; extent 9",
            "d by int: h(v), d/a+c(v); extent 9; duplicates of d",
        ],
    ),
    "a name that is taken": (
        "event `d/b+c`(w: int). d(u) <- a(u, v), b(v, w), c(w, x), `d/b+c`(w).",
        [
            "d/b+c+d/b+c by int: b(w), c(w), d/b+c(w)",
            "d by int: a(v), d/b+c+d/b+c(v); duplicates of d",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", STAGED)
def test_stages(title):
    rules, expected = STAGED[title]
    assert staged(rules) == expected


NOT_STAGED = {
    "a context": ("d(u) <- recent a(u, v) seq b(v, w) seq c(w, x).", CHOOSES),
    "a policy": ("d(u) <- a(u, v) seq b(v, w) seq c(w, x) policy restricted.", CHOOSES),
    "a window": ("d(u, number = count(x)) <- a(u, v), b(v, w), c(w, y), while last 9: collect e(x, _).", WINDOW),
    "numbers of two types": ("d(w) <- a(u, v), b(v, w), f(w, x).", UNLIKE),
    "names in several stages": (
        "d(u, number = count(y), more = count(z)) <- o: a(u, v), b(v, w), p: c(w, x), while o: collect y: q(v), "
        "while p: collect z: q(w).",
        LAST,
    ),
    "an alternative": ("d(u) <- a(u, v), (b(v, w) or i(v, w)), c(w, x).", COMPOSED),
    "a part without a name": ("d(u) <- a(u, v) par a(_, v) overlaps b(v, w), c(w, x).", UNNAMED),
    "another rule without a key": ("d(u) <- a(u, v), b(v, w), c(w, x). d(u) <- a(u, _), c(_, _).", NO_KEYS),
    "something negated without a key": (
        "d(u) <- a(u, v), b(v, w), o: c(w, x), t: extend(o, 3), while t: not q.", None
    ),
    "a common variable": ("d(k) <- a(k, _) seq a(_, k).", None),
    "no chain": ("d(u) <- a(u, v), b(v, w), e(x, y).", None),
    "no chain, and a context": ("d(u) <- recent a(u, _) seq c(w, x).", None),
}  # fmt: skip


@pytest.mark.parametrize("title", NOT_STAGED)
def test_why_there_are_no_stages(title):
    rules, reason = NOT_STAGED[title]
    program = ensue.compile(DECLARATIONS + rules).typed
    assert chained(program, ["d"]).program is program
    assert hindrance(program, 0) == reason
    (stage,) = stages(program, ["d"])
    assert isinstance(stage.parting, Whole)
    said = stage.parting.obstacles[0].describe(program)
    assert (f"its chain of keys is not followed in stages because {reason}" in said) == (reason is not None)


def test_what_is_written_keeps_its_number():
    program = ensue.compile(DECLARATIONS + "d(u) <- a(u, v), b(v, w), c(w, x). g(u) <- a(u, _).").typed
    found = chained(program, ["d", "g"])
    assert [rule.event for rule in found.program.rules] == ["d", "g", "d/b+c"]
    assert [found.written(rule) for rule in range(3)] == [0, 1, 0]
    assert [stratum.layers for stratum in found.program.strata] == [((2,),), ((0,),), ((1,),)]
    assert not found.program.events["d/b+c"].given


def test_only_what_is_asked_for_is_handed_on():
    program = ensue.compile(
        DECLARATIONS + "d(u, y = o.x) <- p: a(u, v), b(v, w), o: c(w, _), p before[..5] o where p.end != o.start."
    ).typed
    (event,) = (event for name, event in chained(program, ["d"]).program.events.items() if name == "d/b+c")
    assert dict(event.attributes) == {"o.start": "time", "o.x": "int", "v": "int", "w": "int"}


def split_programs(first, last):
    """Random programs with a rule that is split: the text, the program, and the random generator."""
    for seed in range(first, last):
        rng = Random(seed)
        text = chain_program(rng)
        try:
            program = ensue.compile(text).typed
        except ensue.RuleError:
            continue
        if chained(program, picked(program, None)).joined:
            yield text, program, rng


@pytest.mark.parametrize("first", range(0, 180, 30))
def test_stages_find_what_the_rule_finds(first):
    count = 0
    for text, program, rng in split_programs(first, first + 30):
        wanted = picked(program, None)
        assert isinstance(stages(chained(program, wanted).program, ["d"])[-1].parting, ByKey)
        for _ in range(3):
            rows, until = chain_rows(rng, text), rng.choice((None, None, 12, 30))
            whole = detect(program, rows, until)
            parts = detect_in_parts(program, rows, until, wanted, rng)
            assert difference(detections(whole), detections(parts)) is None, text
        count += 1
    assert count > 2


def test_what_was_bounded_stays_bounded():
    bounded = 0
    for text, program, _ in split_programs(0, 120):
        found, number = chained(program, picked(program, None)).program, len(program.rules) - 1
        if reach(program.rules[number].body, program.events) is not None:
            bounded += 1
            assert all(reach(rule.body, found.events) is not None for rule in found.rules[number:]), text
    assert bounded > 5
