"""Derived events carry the input events that they came from."""

import ensue
from ensue.reference import detect


def sources(rules, given, until=None):
    """For each derived event, as text, the positions of its inputs."""
    program = ensue.compile(rules).typed
    found = detect(program, [(type_, attributes, time, time, None) for type_, attributes, time in given], until)
    return {f"{e.type}{tuple(e.attributes.values())}@{e.start}-{e.end}": sorted(e.sources) for e in found}


DECLARATIONS = "event a(x: int). event b(x: int). event c(x: int). "


def test_a_pair_came_from_its_two_events():
    found = sources(
        DECLARATIONS + "p(x) <- a(x) seq b(x).", [("a", {"x": 1}, 1), ("a", {"x": 2}, 2), ("b", {"x": 1}, 3)]
    )
    assert found == {"p(1,)@1-3": [0, 2]}


def test_derived_events_pass_their_inputs_on():
    rules = DECLARATIONS + "p(x) <- a(x) seq b(x). q(x) <- p(x) seq c(x)."
    found = sources(rules, [("a", {"x": 1}, 1), ("b", {"x": 1}, 2), ("c", {"x": 1}, 3)])
    assert found["q(1,)@1-3"] == [0, 1, 2]


def test_what_is_collected_counts_what_is_absent_does_not():
    rules = DECLARATIONS + (
        "n(count(y)) <- e: c(_), w: extend_backward(e, 10), while w: collect a(y), while w: not (b(z) where z > 5)."
    )
    found = sources(rules, [("a", {"x": 1}, 1), ("b", {"x": 2}, 2), ("a", {"x": 3}, 3), ("c", {"x": 0}, 9)])
    assert found == {"n(2,)@-1-9": [0, 2, 3]}


def test_one_event_from_several_derivations_came_from_all_of_them():
    found = sources(
        DECLARATIONS + "d() <- a(_). d() <- b(_).", [("a", {"x": 1}, 1), ("a", {"x": 2}, 1), ("b", {"x": 3}, 1)]
    )
    assert found == {"d()@1-1": [0, 1, 2]}


def test_recursion_gathers_the_inputs_of_every_turn():
    rules = DECLARATIONS + "s(x) <- a(x). s(x = y + z) <- recent s(y) seq b(z)."
    found = sources(rules, [("a", {"x": 1}, 1), ("b", {"x": 10}, 2), ("b", {"x": 100}, 3)])
    assert found == {"s(1,)@1-1": [0], "s(11,)@1-2": [0, 1], "s(111,)@1-3": [0, 1, 2]}
