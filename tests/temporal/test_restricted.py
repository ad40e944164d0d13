"""State of ``policy restricted``, and the bounded expressions: section 6 of Carlson and Lisper."""

import pytest
from hypothesis import assume, given, settings

import ensue
from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.temporal.memory import NOTHING, UNBOUNDED, constant, window
from ensue.temporal.restricted import bounded, longest, memories, tightest
from tests.reference.test_restricted_algebra import Expression, expressions

DECLARATIONS = "event a() instant. event b() instant. event c() instant. event long(). "


def body_of(text):
    program = ensue.compile(f"{DECLARATIONS}d() <- {text} policy restricted.").typed
    return program.rules[0].body, program.events


def kept(text):
    """Memory of the operators that keep anything."""
    return sorted((memory for _, memory in memories(*body_of(text)) if memory != NOTHING), key=str)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a()", []),
        ("a() or b()", []),
        ("a() and b()", [constant(2)]),
        ("a() without b()", [constant(1)]),
        ("(a() or b()) without c()", [constant(1)]),  # Figure 3
        ("a() seq b()", [constant(1)]),  # Figure 4
        ("a() seq (b() or c())", [constant(1)]),
        ("a() seq (b() without c())", [constant(1), constant(1)]),
        ("a() seq (b() without long())", [constant(1), constant(1)]),
        ("long() seq a()", [constant(1)]),
        ("a() seq long()", [UNBOUNDED]),
        ("a() seq long() within 9", [window(9)]),
        ("a() seq (b() or long())", [UNBOUNDED]),
        ("(a() seq b()) seq c()", [constant(1), constant(1)]),
        ("a() seq (b() seq c())", [constant(1), UNBOUNDED]),
        ("a() seq (b() seq c()) within 9", [constant(1), window(9)]),
        ("a() seq (b() and c())", [constant(2), UNBOUNDED]),
        ("a() seq (b() seq c() within 4)", [constant(1), window(4)]),  # the right side is not long
        ("a() seq (long() seq (b() seq c())) within 9", [constant(1), window(9), window(9)]),  # nor is anything in it
        ("a() without (b() seq long())", [constant(1), UNBOUNDED]),
        ("long() without (b() seq (a() and c()) within 3)", [constant(1), constant(2), window(3)]),
    ],
)
def test_what_is_kept(text, wanted):
    assert kept(text) == sorted(wanted, key=str)
    assert bounded(*body_of(text)) == (UNBOUNDED not in wanted)


def test_lengths():
    assert tightest(None, 4, 9) == 4
    body, events = body_of("(a() or (b() without long())) seq (c() within 5)")
    assert isinstance(body.pattern, typed.Pair)
    assert longest(body.pattern.left, None, events) == longest(body.pattern.right, None, events) == 0
    assert longest(body.pattern, 7, events) == 7
    body, events = body_of("long() or (long() within 5)")
    assert longest(body.pattern, None, events) is None
    assert longest(body.pattern, 9, events) == 9


def instantaneous(expression):
    """Definition 6.1."""
    match expression.operator:
        case "or":
            return instantaneous(expression.left) and instantaneous(expression.right)
        case "without":
            return instantaneous(expression.left)
        case "and" | "seq":
            return False
        case _:
            return True


def section_6(expression):
    """True if each sequence is bounded, or its right side is instantaneous."""
    if expression.left is None:
        return True
    own = expression.operator != "seq" or expression.bound is not None or instantaneous(expression.right)
    return own and section_6(expression.left) and section_6(expression.right)


def unbound(expression):
    """An expression without its bounds."""
    if expression.left is None:
        return expression
    return Expression(expression.operator, unbound(expression.left), unbound(expression.right))


@given(expressions)
@settings(max_examples=200, deadline=None)
def test_what_section_6_proves_is_bounded(expression):
    try:
        body, events = body_of(expression)
    except ensue.RuleError:
        assume(False)  # a bound that can never hold is refused
    assert bounded(body, events) or not section_6(expression)


@given(expressions.map(unbound))
@settings(max_examples=200, deadline=None)
def test_without_bounds_nothing_else_is(expression):
    assert bounded(*body_of(expression)) == section_6(expression)


def test_plans_say_what_is_kept():
    program = ensue.compile(
        "event a(k: int, x: int) instant. event b(k: int) instant. event c(x: int)."
        "d(k, x) <- (a(k, x) seq b(k)) and (c(x) without b(_)) within 9 policy restricted."
    ).typed
    found = Planner(program.events).rule(program.rules[0]).input
    assert isinstance(found, plan.Restrict)
    both = found.input
    assert isinstance(both, plan.RestrictedAnd)
    assert (both.memory, both.within, both.correlations) == (constant(2), 9, (("k", "x"), ("x",)))
    inner = [each.input for side in (both.left, both.right) for each in [side.input]]
    sequence, without = inner
    assert isinstance(sequence, plan.RestrictedSequence)
    assert (sequence.memory, sequence.within, sequence.lengths) == (constant(1), 9, (0, 0))
    assert isinstance(without, plan.RestrictedWithout)
    assert (without.memory, without.reach) == (constant(1), 9)
