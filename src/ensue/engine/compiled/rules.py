"""The source of a rule: what happens when an event arrives, from its atom up to the head."""

from __future__ import annotations

from ensue.engine.compiled.adjacency import adjacent_absences, note
from ensue.engine.compiled.atoms import fitting
from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.fields import Arrived
from ensue.engine.compiled.pairings import complete, share_newest, store_of, what_of
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.scopes import store_inner
from ensue.engine.compiled.sides import key_attributes, waits
from ensue.engine.compiled.timers import due_of
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.language import typed
from ensue.temporal.constraints import BODY


def write_rule(unit: Unit, rule: typed.Rule, number: str) -> None:
    """Writes a rule into the layer at hand of a unit. `number` is what its part of the state is called."""
    parts = RuleParts(unit, rule, number)
    share_newest(parts)
    adjacent = adjacent_absences(parts)
    for part in parts.inner_parts:
        if isinstance(part, typed.Absence) and part in adjacent:
            note(parts, part)
        else:
            store_inner(parts, part)
    for atom in parts.atoms.values():
        _write_atom(parts, atom)
    unit.due[unit.layer].append(lambda: due_of(parts))


def _write_atom(rule: RuleParts, atom: typed.Atom) -> None:
    """What an event does: where it only waits for later ones, it is taken in; else it is matched in its layer."""
    unit = rule.unit
    pair, side = rule.parents.get(atom.id, (None, 0))
    if isinstance(pair, typed.Pair) and waits(rule, pair, side):
        _store(rule, atom, pair, side)
        return

    def match(arrival: Arrival) -> None:
        with unit.writer.when(_fits(rule, atom, arrival)):
            complete(rule, atom, Arrived(atom.id, arrival), arrival)

    own = unit.layer_of(atom.event)
    if own is None or own < unit.layer:
        unit.matched(atom.event, match)
        return
    strictly = rule.distances.shortest((atom.id, True), (BODY, True))
    if strictly is None or strictly < 1:
        raise NotCompiledError("a rule that may use what it derives at the same time")
    unit.taken_in(atom.event, repr(("rule", rule.number, atom.id)), match)


def _store(rule: RuleParts, atom: typed.Atom, pair: typed.Pair, side: int) -> None:
    """An event that waits for later ones is stored; once for all rules that share its store."""
    unit = rule.unit
    key, store = key_attributes(rule, pair, side), store_of(rule, pair, side)

    def take(arrival: Arrival) -> None:
        env = Arrived(atom.id, arrival)
        with unit.writer.when(_fits(rule, atom, arrival)):
            slot = unit.slot(arrival, key, insert=True)
            with unit.known(slot):
                values = [(env[field_], column) for field_, (column, _) in store.columns.items()]
                unit.put(store, slot, arrival.start, "t", values)

    # What is ended by something goes in after that is noted: then the last one of its key has made room.
    register = unit.taken_in if store.ended_by is None else unit.closed
    register(atom.event, repr(what_of(rule, pair, side)), take)


def _fits(rule: RuleParts, atom: typed.Atom, arrival: Arrival) -> str:
    """Whether an event satisfies all that it must by itself."""
    tests = fitting(rule.unit, atom, arrival)
    find = rule.find(Arrived(atom.id, arrival))
    tests += [rule.unit.expressions.truth(condition, find) for condition in rule.checked.get(atom.id, [])]
    return all_of(*(f"({test})" for test in tests if test != "True"))
