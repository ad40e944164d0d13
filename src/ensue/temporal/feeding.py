"""Rules that only feed a side of joins which waits for something else: they need not run before that has come.

In `alarm(u) <- login(u) seq burst(u)` every event of a burst starts after a login has ended. Where nobody else reads or
asks for bursts, the rules that derive them have nothing to do before there is a login, and then only for its user.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ensue.language import typed
from ensue.language.walk import atoms, constituents
from ensue.temporal.constraints import Events, selects
from ensue.temporal.joins import before, plain
from ensue.temporal.lifetimes import Frame


@dataclass(frozen=True)
class Awaited:
    """Something after which what a rule derives is of use.

    `after` is an event that must have ended before anything of it starts, `reach` how long after that end it may end.
    `keys` are variables of `after`, each with a variable of the rule that has the same value.
    """

    after: typed.Atom
    reach: int | None
    keys: tuple[tuple[str, str], ...]


def awaited_rules(program: typed.Program, emit: Collection[str]) -> dict[int, tuple[Awaited, ...]]:
    """The rules, by number, that need not run before something has come; any of what is said of a rule is enough.

    `emit` are the types that are asked for.
    """
    steps = {i for stratum in program.strata if stratum.recursive for layer in stratum.layers for i in layer}
    deriving: dict[str, list[int]] = {}
    for number, rule in enumerate(program.rules):
        deriving.setdefault(rule.event, []).append(number)
    found = {}
    for name, numbers in deriving.items():
        if name in emit or not all(i not in steps and _waits(program.rules[i]) for i in numbers):
            continue
        uses = [_preceded(rule, atom, program.events) for rule, atom in _uses(program, name)]
        if uses and None not in uses:
            for number in numbers:
                found[number] = tuple(_awaited(use, program, program.rules[number]) for use in uses if use is not None)
    return found


@dataclass(frozen=True)
class _Use:
    """An atom of a derived type, and the event of the same rule that must have ended before."""

    atom: typed.Atom
    after: typed.Atom
    reach: int | None

    @property
    def shared(self) -> dict[str, str]:
        """The variables that both bind, with the attribute of the derived type."""
        others = {term.name for _, term in self.after.fields if isinstance(term, typed.Variable)}
        return {
            term.name: attribute
            for attribute, term in self.atom.fields
            if isinstance(term, typed.Variable) and term.name in others
        }


def _waits(rule: typed.Rule) -> bool:
    """Whether all that a rule depends on lies in what it derives, so that it has missed nothing if it starts late."""
    return rule.beginning is None and rule.body.pattern is not None and plain(typed.Nested(0, rule.body))


def _uses(program: typed.Program, event: str) -> Iterator[tuple[typed.Rule, typed.Atom]]:
    return ((rule, atom) for rule in program.rules for atom in atoms(rule.body) if atom.event == event)


def _preceded(rule: typed.Rule, atom: typed.Atom, events: Events) -> _Use | None:
    """What must have ended before an atom's event starts: of several, that which shares most and reaches least.

    It is given, not derived, so that it is there before any rule runs.
    """
    body = rule.body
    matched = list(constituents(body.pattern))
    if selects(body) or atom not in matched:
        return None
    distances = Frame.of(body).distances(atom.id, events)
    found = [
        _Use(atom, other, distances.longest((other.id, True), (atom.id, True)))
        for other in matched
        if not events[other.event].derived and before((other.id, True), (atom.id, False), distances)
    ]
    return min(found, key=lambda use: (-len(use.shared), use.reach is None, use.reach or 0), default=None)


def _awaited(use: _Use, program: typed.Program, rule: typed.Rule) -> Awaited:
    """For a rule that derives it. Numbers that become floats may equal others than before, so they are no keys."""
    types, head = program.events[rule.event].attributes, dict(rule.head)
    keys = [
        (variable, term.name)
        for variable, attribute in use.shared.items()
        if types[attribute] != "float" and isinstance(term := head[attribute], typed.Variable)
    ]
    return Awaited(use.after, use.reach, tuple(keys))
