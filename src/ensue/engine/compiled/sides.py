"""The two sides of a pairing: what correlates them, which comes first, and what is needed of each further up."""

from __future__ import annotations

from ensue.engine.compiled.atoms import bindings
from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.layout import Field
from ensue.engine.compiled.parts import RuleParts
from ensue.language import typed
from ensue.temporal.joins import ends_earlier
from ensue.temporal.lifetimes import Frame, distances_of


def side_of(pair: typed.Pair, side: int) -> typed.Pattern:
    return pair.right if side else pair.left


def waits(rule: RuleParts, pair: typed.Pair, side: int) -> bool:
    """Whether a side always comes strictly before the other, so that it has nothing to look for."""
    distances = distances_of(Frame.of(rule.body), pair, rule.unit.events)
    return ends_earlier(side_of(pair, side), side_of(pair, 1 - side), distances)


def key_of(rule: RuleParts, pair: typed.Pair, side: int) -> list[Field]:
    """The fields of a side that correlate it with the other."""
    found: list[Field] = []
    for name in pair.shared:
        for atom in rule.below(side_of(pair, side)):
            if name in bindings(atom):
                found.append(("attr", atom.id, bindings(atom)[name]))
                break
        else:
            raise NotCompiledError("a variable that is not an attribute's")
    return found


def key_attributes(rule: RuleParts, pair: typed.Pair, side: int) -> tuple[str, ...]:
    """The attributes of the one atom of a side that correlate it."""
    return tuple(field_[2] for field_ in key_of(rule, pair, side))


def key_kinds(rule: RuleParts, pair: typed.Pair) -> tuple[str, ...]:
    kinds = [tuple(map(rule.kind_of, key_of(rule, pair, side))) for side in (0, 1)]
    if kinds[0] != kinds[1]:
        raise NotCompiledError("a variable of several kinds")
    return kinds[0]


def same_keys(rule: RuleParts, pair: typed.Pair) -> dict[Field, list[Field]]:
    """For each field that correlates the sides, and for that of its variable, the fields that have the same value."""
    same: dict[Field, list[Field]] = {}
    for name, left, right in zip(pair.shared, key_of(rule, pair, 0), key_of(rule, pair, 1), strict=True):
        for field_ in (left, right, rule.field_of_variable(name)):
            same[field_] = [left, right]
    return same


def on_both_sides(rule: RuleParts, pair: typed.Pair) -> set[Field]:
    """The fields of either side that the other side has just so: of floats, one zero may be another."""
    fields = (*key_of(rule, pair, 0), *key_of(rule, pair, 1))
    return {field_ for field_ in fields if rule.kind_of(field_) != "f"}


def needed(rule: RuleParts, node: typed.Pattern) -> list[Field]:
    """The fields of a pattern that are used further up, its own start and end aside: every row has these."""
    own = set(rule.inside(node))
    wanted = set(rule.wanted)
    at = node
    while at.id in rule.parents:
        parent, side = rule.parents[at.id]
        if isinstance(parent, typed.Pair):
            wanted |= set(key_of(rule, parent, side))
        for condition in rule.checked.get(parent.id, []):
            wanted |= set(rule.fields(condition))
        at = parent
    kept = [f for f in wanted if f[1] in own and not (f[0] != "attr" and f[1] == node.id)]
    return sorted(kept, key=repr)
