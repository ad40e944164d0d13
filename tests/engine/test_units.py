"""Rules that become one unit: those that pass events to each other, within limits, in an order in which they can
run."""

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.capacity import USUAL, using
from ensue.engine.options import Options
from ensue.engine.units import derived_by, families_of, rules_of, units_of
from tests.agreement import check, meaning

EVENTS = "unit s. event a(k: int, x: int). event b(k: int, x: int).\n"


def units_in(text, emit=None, **settings_):
    program = ensue.compile(EVENTS + text).typed
    wanted = [name for name, event in program.events.items() if event.derived] if emit is None else emit
    found = units_of(program, wanted, **settings_)
    assert_in_order(program, found)
    return found


def assert_in_order(program, found):
    """Each rule is in one unit, which reads events that it derives itself or that were derived before."""
    assert sorted(i for unit in found for i in rules_of(unit)) == list(range(len(program.rules)))
    derived, all_derived = set(), {event for unit in found for event in derived_by(unit)}
    last = {event: number for number, unit in enumerate(found) for event in derived_by(unit)}
    for number, unit in enumerate(found):
        derived |= set(derived_by(unit))
        assert unit.uses & all_derived <= derived
        assert all(last[event] <= number for event in unit.uses & all_derived)
        heads = {head for own in unit.heads.values() for head in own}
        assert not unit.uses & heads  # which are distinguished outside


def derived(found):
    return [sorted(derived_by(unit)) for unit in found]


def test_rules_that_hand_events_to_each_other_are_one_unit():
    text = """
        p(k) <- a(k, 1).
        q(k) <- b(k, 1).
        r(k) <- p(k) seq p(k).
        s(k) <- r(k) and q(k).
        t(k) <- b(k, x) where x > 1.
    """
    assert derived(units_in(text)) == [["p", "q", "r", "s"], ["t"]]
    assert derived(units_in(text, apart=True)) == [["p"], ["q"], ["r"], ["s"], ["t"]]


def test_what_nobody_takes_stays_inside():
    text = "p(k) <- a(k, 1).\nq(k) <- p(k) seq p(k)."
    assert [sorted(unit.emit) for unit in units_in(text, emit=["q"])] == [["q"]]
    assert [sorted(unit.emit) for unit in units_in(text, emit=["q"], apart=True)] == [["p"], ["q"]]


def test_what_several_types_are_derived_by_is_told_apart_outside():
    """The last rule reads the events of the first, and of one of those that run as one."""
    rules = [f"r{i}(k) <- p(k, x) where x > {i}." for i in range(5)]
    text = "\n".join(["p(k, x) <- a(k, x).", *rules, "s(k) <- r3(k) seq p(k, _).", "t(k) <- p(k, x) seq b(k, x)."])
    found = units_in(text, emit=["s", "t"])
    assert derived(found) == [["p", "r0", "r1", "r2", "r3", "r4", "t"], ["s"]]
    assert [sorted(unit.emit) for unit in found] == [["p", "r3", "t"], ["s"]]
    assert [len(family.members) for family in families_of(found)] == [5]


def test_rules_that_share_nothing_are_apart():
    rules = [f"r{i}(k) <- a(k, x) where x {'+ x ' * i}> 1." for i in range(70)]
    assert len(units_in("\n".join(rules))) == 70


def test_many_rules_for_one_type_are_cut():
    rules = [f"r(k) <- a(k, x) where x {'+ x ' * i}> 1." for i in range(70)]
    found = units_in("\n".join([*rules, "s(k) <- r(k) seq r(k)."]))
    assert [len(unit.parts) for unit in found] == [32, 32, 6, 1]
    assert [sorted(unit.emit) for unit in found] == [["r"]] * 3 + [["s"]]


def test_many_rules_that_take_one_type_are_not_one_unit():
    rules = [f"r{i}(k) <- p(k, x) where x {'+ x ' * i}> 1." for i in range(70)]
    found = units_in("\n".join(["p(k, x) <- a(k, x).", *rules]))
    assert max(len(unit.parts) for unit in found) <= USUAL.unit


def test_rules_that_are_recursive_are_never_cut():
    rules = [f"r(k, x) <- r(k, y) seq a(k, x) where x {'+ y ' * i}> 1 within 5." for i in range(40)]
    assert [len(unit.parts) for unit in units_in("\n".join(["r(k, x) <- b(k, x).", *rules]))] == [41]


SHAPES = (
    "{head}(k, x) <- {one}(k, x) where x > {n}.",
    "{head}(k, x) <- {one}(k, x) seq {other}(k, _) within {n}.",
    "{head}(k, x) <- {one}(k, _) and {other}(k, x) where x < {n}.",
)


@st.composite
def layered(draw):
    """A program whose rules read events of earlier ones, some of them of one shape."""
    lines, types = [], ["a", "b"]
    for number in range(draw(st.integers(2, 7))):
        shape = draw(st.sampled_from(SHAPES))
        taken = {"one": draw(st.sampled_from(types)), "other": draw(st.sampled_from(types))}
        own = draw(st.booleans())
        for copy in range(draw(st.sampled_from([1, 1, 2, 4]))):
            head = f"r{number}_{copy}" if own else f"r{number}"
            lines.append(shape.format(head=head, n=draw(st.integers(1, 4)), **taken))
            if head not in types:
                types.append(head)
    return "\n".join(lines)


@settings(max_examples=40)
@given(layered(), st.integers(1, 6), st.booleans(), st.booleans(), st.integers(0, 99))
def test_units_run_in_their_order(text, most, apart, shared, number):
    with using(replace(USUAL, unit=most, family=2)):
        try:
            program = ensue.compile(EVENTS + text)
        except ensue.RuleError:
            assume(False)
        units_in(text, apart=apart, options=Options(sharing=shared))
        events = [
            {"type": "ab"[(t * number) % 3 % 2], "start": t // 2, "end": t // 2, "k": 1, "x": (t * number) % 5}
            for t in range(16)
        ]
        check("plain, cut", program, events, None, number, meaning(program, events))
