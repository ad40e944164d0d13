"""Absences between the two sides of a pairing that are decided before all pairs are looked at.

What is forbidden between a left side and the right one lies also between each older left side and it. So one absence
may decide for all older ones; and where all is instantaneous, what is forbidden ends all that was stored before it.
"""

from __future__ import annotations

from ensue.engine.compiled.atoms import bindings, by_attributes, inner_of
from ensue.engine.compiled.fields import Arrived
from ensue.engine.compiled.layout import Mark
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.scopes import inner_find, inner_fits, inner_key, inner_what
from ensue.engine.compiled.sides import waits
from ensue.engine.compiled.unit import Arrival
from ensue.engine.compiled.writing import all_of
from ensue.language import typed


def decided_by_newest(rule: RuleParts, pair: typed.Pair, side: int) -> list[typed.Absence]:
    """Absences between the sides that fail for all older left ones as soon as they do for one.

    They depend on nothing of the left side but the key. Left ones are visited newest first, so this is known only when
    the right side looks for left ones.
    """
    if side == 0:
        return []
    right = {atom.id for atom in rule.below(pair.right)}
    decided = []
    for absence in rule.body.absences:
        if absence.scope != typed.Between(pair.id):
            continue
        inner = inner_of(absence.pattern)
        fields = {f for c in inner.conditions for f in rule.fields(c, inner.names)}
        if set(absence.shared) <= set(pair.shared) and all(f[1] in right for f in fields):
            decided.append(absence)
    return decided


def adjacent_absences(rule: RuleParts) -> list[typed.Absence]:
    """Absences that hold of whatever is stored, because what they forbid ends what was stored before it.

    Once something forbidden has come after a left side, it lies between that and every later right side, if both
    are instantaneous. So the left side goes, and there is nothing to check.
    """
    events, found = rule.unit.events, []
    for absence in rule.body.absences:
        if not isinstance(absence.scope, typed.Between):
            continue
        pair, inner = rule.pair(absence.scope.pair), inner_of(absence.pattern)
        if (
            pair.left_context is None
            and isinstance(pair.right, typed.Atom)
            and events[pair.right.event].instant
            and events[inner.atom.event].instant
            and absence.shared == pair.shared
            and waits(rule, pair, 0)
            and absence in decided_by_newest(rule, pair, 1)
            and not any(set(rule.fields(c, inner.names)) for c in inner.conditions)
        ):
            found.append(absence)
    return found


def adjacent(rule: RuleParts, pair: typed.Pair) -> list[typed.Absence]:
    """Those between the sides of a pairing."""
    return [absence for absence in adjacent_absences(rule) if absence.scope == typed.Between(pair.id)]


def decided_before(rule: RuleParts, absence: typed.Absence) -> bool:
    """Whether an absence was decided when its two sides were paired."""
    if not isinstance(absence.scope, typed.Between):
        return False
    pair = rule.pair(absence.scope.pair)
    return pair.left_context is None and waits(rule, pair, 0) and absence in decided_by_newest(rule, pair, 1)


def mark_of(rule: RuleParts, absence: typed.Absence) -> Mark:
    """Where the last time of what is forbidden is noted, by key."""
    inner, layout = inner_of(absence.pattern), rule.unit.layout
    kinds = tuple(rule.unit.kind(inner.atom.event, attribute) for attribute in inner_key(absence, inner))
    conditions = [by_attributes(c, bindings(inner.atom)) for c in inner.conditions]
    what = ("mark", inner_what(rule, absence, inner), conditions, rule.apart)
    return layout.mark(repr(what), layout.space(kinds))


def note(rule: RuleParts, absence: typed.Absence) -> None:
    """Has the time noted of what is forbidden: it ends all that was stored before it."""
    unit, w = rule.unit, rule.unit.writer
    inner = inner_of(absence.pattern)
    key, mark = inner_key(absence, inner), mark_of(rule, absence)

    def take(arrival: Arrival) -> None:
        fits = inner_fits(rule, inner, arrival)
        find = inner_find(rule, absence, Arrived(inner.atom.id, arrival), {})
        with w.when(all_of(fits, *rule.truths(inner.conditions, find))):
            slot = unit.slot(arrival, key, insert=False)
            with unit.known(slot):
                w.line(f"L{mark.number}[{slot or '0'}] = t")

    unit.closed(inner.atom.event, f"mark {mark.number}", take)
