"""Descriptions of operators that pair patterns: joins, choices by context, and pairs under ``policy restricted``."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.description import Description, Kept, Phrases, looked_at
from ensue.plan.walk import pattern_of
from ensue.temporal.describe import describe_events, describe_pattern, describe_relation
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import Lifetime
from ensue.temporal.memory import Memory, constant, until, window

Pairing = plan.Join | plan.Choose | plan.RestrictedAnd | plan.RestrictedSequence


def describe_pairing(node: Pairing, parts: tuple[Description, ...], phrases: Phrases) -> Description:
    """Description of a pairing; `parts` are the descriptions of its inputs, its sides first."""
    relation = describe_relation(node.pair.relation, phrases.length)
    match node:
        case plan.Join():
            found = _join(node, relation, phrases)
        case plan.Choose():
            found = _choose(node, relation)
        case plan.RestrictedAnd():
            found = _restricted_and(node, relation)
        case plan.RestrictedSequence():
            found = _restricted_sequence(node, relation)
    return replace(found, parts=parts, operators=(node,), output=node, inputs=(node.left, node.right))


def _join(node: plan.Join, relation: str, phrases: Phrases) -> Description:
    pair, sides, names = node.pair, node.sides, _names(node.pair)
    kept = []
    for number, (side, name) in enumerate(zip(sides, names, strict=True)):
        if not side.stored:
            continue
        bound = _bound(_lifetime(node, number))
        if not bound.bounded and isinstance((pair.left, pair.right)[number], typed.Moment):
            bound = constant(1)
        if number == 0 and node.endings and not (bound.bounded and bound.size == 0):
            by = " or ".join(dict.fromkeys(_events(ending.input) for ending in node.endings))
            bound = constant(1) if by == describe_events(pair.left) else until(by)
        kept.append(Kept(name, pair.shared, bound))
    return Description(
        "join",
        pair.id,
        relation,
        _probes(pair, sides, names, bool(node.endings)),
        tuple(kept),
        streams=tuple(name for side, name in zip(sides, names, strict=True) if not side.stored),
        suppresses=tuple(name for side, name in zip(sides, names, strict=True) if side.suppressed),
        checks=phrases.conditions(node.conditions),
    )


def _lifetime(node: plan.Join, number: int) -> Lifetime:
    """The lifetime of a side: the longest that any of the joins sharing it needs."""
    side = (node.left, node.right)[number]
    shared = side.lifetime if isinstance(side, plan.Shared) else None
    return node.sides[number].lifetime if shared is None else shared


def _choose(node: plan.Choose, relation: str) -> Description:
    """Description of a choice: initiators wait until they are consumed, or can no longer be eligible."""
    pair = node.pair
    contexts, sides = (pair.left_context, pair.right_context), (pair.left, pair.right)
    kept, streams = [], []
    for number, side in enumerate(sides):
        name, other = describe_events(side), describe_events(sides[1 - number])
        if pair.initiator not in (None, number):
            streams.append(name)
            continue
        bound = _bound(node.lifetimes[number])
        kept.append(Kept(name, pair.shared, bound if bound.bounded else until(other)))
    chosen = "/".join(context.initiator for context in contexts if context is not None)
    cost = f"for each that ends a pair: {looked_at('initiator', pair.shared)}"
    return Description("select", pair.id, f"{relation}, {chosen}", cost, tuple(kept), streams=tuple(streams))


def _restricted_and(node: plan.RestrictedAnd, relation: str) -> Description:
    names = _names(node.pair)
    kept = [Kept(name, key, constant(1)) for name, key in zip(names, node.correlations, strict=True)]
    looks = [f"for each {name}: {_latest(other, node.pair)}" for name, other in (names, names[::-1])]
    return Description("join", node.pair.id, f"{relation}, restricted", "; ".join(dict.fromkeys(looks)), tuple(kept))


def _restricted_sequence(node: plan.RestrictedSequence, relation: str) -> Description:
    """Description of a restricted sequence: left sides wait until consumed, separately for each key of right sides."""
    left, right = _names(node.pair)
    kept = [Kept(left, node.correlations[0], node.memory)]
    if not set(node.correlations[1]) <= set(node.pair.shared):
        kept.append(Kept(f"the latest start of {right}", node.correlations[1], constant(1)))
    cost = f"for each {right}: {_latest(left, node.pair)}"
    return Description("join", node.pair.id, f"{relation}, restricted", cost, tuple(kept), streams=(right,))


def _events(node: plan.Operator) -> str:
    pattern = pattern_of(node)
    return "" if pattern is None else describe_events(pattern)


def _names(pair: typed.Pair) -> tuple[str, str]:
    """Names for the sides of a pairing: their events, if these differ."""
    left, right = describe_events(pair.left), describe_events(pair.right)
    return (left, right) if left != right else (describe_pattern(pair.left), describe_pattern(pair.right))


def _probes(pair: typed.Pair, sides: tuple[Side, Side], names: tuple[str, str], newest: bool) -> str:
    """Phrase for the tuples visited for each instance of a side that probes the other."""
    looks = []
    for side, name, other in zip(sides, names, reversed(names), strict=True):
        if side.looks:
            looked = f"the newest {other} of its key" if newest else looked_at(other, pair.shared)
            looks.append(f"for each {name}: {looked}")
    return "; ".join(dict.fromkeys(looks)) or "nothing"


def _latest(name: str, pair: typed.Pair) -> str:
    return f"the latest {name}{' of its key' if pair.shared else ''}"


def _bound(life: Lifetime) -> Memory:
    lengths = [length for length in (life.start, life.end) if length is not None]
    return window(min(lengths, default=None))
