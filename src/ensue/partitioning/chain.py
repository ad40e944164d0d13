"""Rules whose events share no one variable, but form a chain or a tree of shared ones: `a(u, v), b(v, w), c(w, x)`.

Such a rule can be joined in several stages (`grouping`), by rules that mean the same (`split`), where

- its pattern is a conjunction of events with limits on their times: no context and no policy chooses between instances,
  so that a match is any set of events that fit each other;
- no window stands beside it;
- equal values of a variable are identical, unlike 1 and 1.0: groups may have the one or the other.

Events that a timer, ``from``, or a negated or gathered pattern refers to by name are joined in the last stage, or come
first: an event with its timers, and the absences during them, is a group of its own if nothing else refers to these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product

from ensue.language import typed
from ensue.language.contained import names_outside
from ensue.language.nodes import nodes
from ensue.language.walk import leaves, visible_variables
from ensue.partitioning.correlation import Name, equalities
from ensue.partitioning.grouping import Group, groupings
from ensue.partitioning.keys import KINDS
from ensue.records import dataclass
from ensue.rewriting.conjunctions import Conjunction, conjunction_of, label_of
from ensue.temporal.constraints import Events, constrain, selects

CHOOSES = "a context or a policy chooses between instances"
OFTEN = "it says how often it derives, or keeps its matches apart"
WINDOW = "there is a window beside them"
UNLIKE = "equal values of a variable that they share may differ, as 1 and 1.0 do"
LAST = "timers, `from`, and what is negated or collected name events that would have to be in several stages"
COMPOSED = "alternatives, repetitions, and parentheses with a name or conditions of their own stay in one stage"
UNNAMED = "the times of a part of its pattern are compared that can have no name"
NO_KEYS = (
    "what is negated or collected, values of no declared type, or other rules for the same events leave a stage "
    "without a key"
)


@dataclass(frozen=True)
class Beside:
    """The timers of one event, and the absences during it or them: nothing else in the rule refers to these."""

    timers: tuple[typed.Timer, ...]
    absences: tuple[typed.Absence, ...]
    keys: tuple[str, ...]
    """The variables that all of them share."""


@dataclass(frozen=True)
class Chain:
    """A rule as events that are joined, and the places of those that are joined in the last stage.

    `beside` has those of the last stage, by their places, that may come first instead, with their timers and absences.
    """

    rule: typed.Rule
    conjunction: Conjunction
    last: frozenset[int]
    beside: Mapping[int, Beside]

    @cached_property
    def groupings(self) -> list[Group]:
        """The ways to join the events in several stages, the one with the fewest first."""
        alike = _Alike(self.rule.body)
        variables = {place: alike.names_of(unit) for place, unit in enumerate(self.conjunction.events)}
        found: dict[Group, None] = {}
        for formed in self._formed():
            last = self.last - set(formed)
            found |= dict.fromkeys(group for group in groupings(variables, last, formed) if group.inner)
        return sorted(found, key=lambda group: (group.stages, group.size))

    def _formed(self) -> Iterator[dict[int, Group]]:
        """The choices of events that are groups of their own: none, one of the possible ones, or all."""
        yield {}
        ways = {place: [Group((place,), key) for key in beside.keys] for place, beside in self.beside.items()}
        for place, groups in ways.items():
            yield from ({place: group} for group in groups)
        if len(ways) > 1:
            yield from (dict(zip(ways, groups, strict=True)) for groups in product(*ways.values()))


def chain_of(rule: typed.Rule, events: Events) -> Chain | str | None:
    """A rule as a chain; else the reason why it is not joined in stages, or None where its events form no chain."""
    body = rule.body
    if not _is_chain(body):
        return None
    if body.restricted or selects(body):
        return CHOOSES
    if body.window is not None:
        return WINDOW
    if rule.quiet is not None or events[rule.event].each:
        return OFTEN
    conjunction = conjunction_of(body, events)
    if conjunction is None or constrain(body, events).contradiction() is not None:
        return None
    if not _interchangeable(body):
        return UNLIKE
    named = _named_elsewhere(rule)
    last = frozenset(
        place
        for place, unit in enumerate(conjunction.events)
        if not isinstance(unit, typed.Atom) or label_of(unit) in named
    )
    beside = {place: found for place in sorted(last) if (found := _beside(rule, conjunction.events[place])) is not None}
    chain = Chain(rule, conjunction, last, beside)
    if chain.groupings:
        return chain
    return LAST if all(isinstance(unit, typed.Atom) for unit in conjunction.events) else COMPOSED


def _is_chain(body: typed.Body) -> bool:
    """True if no variable is in all parts of a body, but shared ones lead from each part to every other."""
    if body.pattern is None:
        return False
    alike = _Alike(body)
    names = [alike.names_of(unit) for unit in _units(body.pattern)]
    names += [set(absence.shared) for absence in body.absences]
    names += [set(gathering.shared) for gathering in body.gatherings]
    found = groupings(dict(enumerate(names)), ())
    return bool(found) and all(group.inner for group in found)


def _units(pattern: typed.Pattern) -> Iterator[typed.Pattern]:
    """The names that every match of a pattern has, in parentheses or not."""
    for each in leaves(pattern):
        if isinstance(each, typed.Nested) and each.body.pattern is not None:
            yield from _units(each.body.pattern)
        else:
            yield each


class _Alike:
    """Names with equal values in every match, grouped as one."""

    def __init__(self, body: typed.Body) -> None:
        self.first: dict[Name, Name] = {}
        for one, other in equalities(body):
            kept, gone = sorted((self.of(one), self.of(other)), key=str)
            self.first |= {name: kept for name in (*self.first, one, other) if self.of(name) in (kept, gone)}

    def of(self, name: Name) -> Name:
        return self.first.get(name, name)

    def names_of(self, unit: typed.Pattern) -> set[str]:
        label = label_of(unit)
        found: set[Name] = {self.of(name) for name in visible_variables(unit)}
        found |= {self.of(name) for name in self.first if isinstance(name, tuple) and name[0] == label}
        return {name if isinstance(name, str) else ".".join(name) for name in found}


def _interchangeable(body: typed.Body) -> bool:
    """True if equal values of a variable are identical wherever it stands: each has one type, which is known."""
    types: dict[str, list[str]] = {}
    for node in nodes((body.pattern, body.lookups)):
        if isinstance(node, typed.Variable):
            types.setdefault(node.name, []).append(node.type)
    return all(len(each) == 1 or (len(set(each)) == 1 and each[0] in KINDS) for each in types.values())


def _named_elsewhere(rule: typed.Rule) -> set[str]:
    """The names of events that timers, ``from``, absences or gatherings refer to."""
    found = {timer.of for timer in rule.body.timers}
    if rule.beginning is not None:
        found.add(rule.beginning)
    return found | _labels((rule.body.absences, rule.body.gatherings))


def _beside(rule: typed.Rule, unit: typed.Pattern) -> Beside | None:
    """The timers and absences of an event; None if other parts refer to these timers, or to more of the event.

    With a longest lifetime, what is absent depends on when the whole match ends.
    """
    body = rule.body
    if not isinstance(unit, typed.Atom) or unit.label is None or body.keep is not None or rule.beginning == unit.label:
        return None
    timers = [timer for timer in body.timers if timer.of == unit.label]
    for timer in body.timers:  # timers of timers come after these
        if timer not in timers and timer.of in {each.label for each in timers}:
            timers.append(timer)
    labels = {timer.label for timer in timers if timer.label is not None}
    own = {unit.label, *labels, *visible_variables(unit)}
    absences = tuple(absence for absence in body.absences if _names_outside(absence) <= own)
    others = tuple(each for each in body.absences if each not in absences)
    asked = set(_used_names((body.gatherings, others, body.related, rule.head, body.on, body.where)))
    if asked & labels or unit.label in _labels((body.gatherings, others)) or rule.beginning in labels:
        return None
    keys = set.intersection(visible_variables(unit), *(set(absence.shared) for absence in absences))
    return Beside(tuple(timers), absences, tuple(sorted(keys))) if keys else None


def _names_outside(absence: typed.Absence) -> set[str]:
    """The names that an absence takes from the rest of the body; an empty one if it is inside another pattern."""
    scope = {absence.scope.label} if isinstance(absence.scope, typed.During) else {""}
    return scope | set(absence.shared) | names_outside(absence.pattern)


def _labels(parts: object) -> set[str]:
    """The names in some parts that are used for more than times and attributes."""
    return {name for node in nodes(parts) for name in _names(node) if name is not None}


def _used_names(parts: object) -> Iterator[str]:
    """All names of events and timers in parts."""
    yield from _labels(parts)
    yield from (node.label for node in nodes(parts) if isinstance(node, typed.AttributeOf | typed.TimeOf))


def _names(node: object) -> Iterator[str | None]:
    match node:
        case typed.During(label=label):
            yield label
        case typed.Related(left=left, right=right):
            yield from (left, right)
        case typed.Timer(of=of, label=label):
            yield from (of, label)
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            yield label
        case typed.Nested(label=label):
            yield label
