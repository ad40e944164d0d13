"""Keys: for each type the attributes by which its events are partitioned, so that they fit all rules of a stage.

A rule of several events must be correlated (see `correlation`): there is a value that all its events have, and the key
of each type is the attribute that holds it. Events derived inside a stage, and used there together with others, must
have the value of their partition, too. A rule of one event fits any key, unless the events that it derives need one.

Types that rules bring together form a group, with all ways to choose an attribute for each of them. Groups are
independent of each other, so that many rules over many types stay cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import product

from ensue.language import typed
from ensue.partitioning.correlation import Correlation
from ensue.partitioning.shapes import Shape
from ensue.records import dataclass

KINDS = frozenset({"int", "float", "string", "bool", "timestamp", "time"})
"""The types of values that can be a key; lists and attributes of any type are not compared so easily."""


@dataclass(frozen=True)
class Correlated:
    """The properties of a rule that matter for keys."""

    event: str
    shape: Shape
    uses: frozenset[str]
    correlations: tuple[Correlation, ...]


@dataclass(frozen=True)
class Choice:
    """An attribute for each type of a group, all of which hold the value that correlates."""

    attributes: Mapping[str, str]
    kind: str
    nulls: frozenset[str]


@dataclass(frozen=True)
class Keys:
    """The keys that fit the rules of a stage so far."""

    rules: Mapping[str, tuple[Correlated, ...]] = field(default_factory=dict)
    """Rules by the type that they derive."""
    parted: frozenset[str] = frozenset()
    """The types whose events need a key: those that are used together, and those that such a type is derived from."""
    groups: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)
    """The choices of the group that each partitioned type belongs to."""

    def each_group(self) -> list[tuple[Choice, ...]]:
        return list({id(choices): choices for choices in self.groups.values()}.values())


def extended(keys: Keys, rules: Iterable[Correlated], events: Mapping[str, typed.EventType]) -> Keys | None:
    """The keys that also fit these rules; None if there are none."""
    together = dict(keys.rules)
    waiting: list[Correlated] = []
    for rule in rules:
        together[rule.event] = (*together.get(rule.event, ()), rule)
        if rule.shape is Shape.SEVERAL or rule.event in keys.parted:
            waiting.append(rule)
    parted, groups = set(keys.parted), dict(keys.groups)
    while waiting:
        rule = waiting.pop(0)
        if not _join(groups, rule, rule.event in parted, events):
            return None
        for use in rule.uses - parted:
            parted.add(use)
            waiting += together.get(use, ())  # rules that derive it must give it a key now
    found = Keys(together, frozenset(parted), groups)
    return found if not groups or _common_kinds(found) else None


def _join(
    groups: dict[str, tuple[Choice, ...]], rule: Correlated, with_head: bool, events: Mapping[str, typed.EventType]
) -> bool:
    """Join the groups of the types that a rule brings together; returns False if no choice is left."""
    types = rule.uses | ({rule.event} if with_head else frozenset())
    joined = list({id(groups[type_]): groups[type_] for type_ in types if type_ in groups}.values())
    found: list[Choice] = []
    for correlation in rule.correlations:
        allowed = dict(correlation.attributes)
        if with_head:
            allowed[rule.event] = allowed.get(rule.event, correlation.head) & correlation.head
        for chosen in product(*joined):
            for choice in _choices(allowed, chosen, correlation.nulls, events):
                if choice not in found:
                    found.append(choice)
    members = {*types, *(type_ for choices in joined for type_ in choices[0].attributes)}
    groups.update(dict.fromkeys(members, tuple(found)))
    return bool(found)


def _choices(
    allowed: Mapping[str, frozenset[str]], chosen: tuple[Choice, ...], nulls: frozenset[str],
    events: Mapping[str, typed.EventType],
) -> Iterator[Choice]:  # fmt: skip
    """Choices that agree with those of the groups that are joined."""
    before = {type_: attribute for choice in chosen for type_, attribute in choice.attributes.items()}
    if any(type_ in before and before[type_] not in attributes for type_, attributes in allowed.items()):
        return
    new = [type_ for type_ in allowed if type_ not in before]
    for attributes in product(*(sorted(allowed[type_]) for type_ in new)):
        together = before | dict(zip(new, attributes, strict=True))
        kind = _kind({events[type_].attributes.get(attribute, "any") for type_, attribute in together.items()})
        if kind is not None:
            yield Choice(together, kind, nulls.union(*(choice.nulls for choice in chosen)))


def _kind(types: set[str]) -> str | None:
    """The type as which values of all these types are compared; None if they cannot be."""
    if types == {"int", "float"}:
        return "float"
    return next(iter(types)) if len(types) == 1 and types <= KINDS else None


# --- the key of a stage


def _common_kinds(keys: Keys) -> set[str]:
    return set.intersection(*({choice.kind for choice in choices} for choices in keys.each_group()))


@dataclass(frozen=True)
class Key:
    """The attributes of each type that make its key, the kinds of their values, and where nulls matter."""

    attributes: Mapping[str, tuple[str, ...]]
    kinds: tuple[str, ...]
    nulls: frozenset[str]


def key_of(keys: Keys) -> Key:
    """The longest key that all groups have: kinds as in the first, each attribute once."""
    common = _common_kinds(keys)
    picked = [_picked(choices, common) for choices in keys.each_group()]
    kinds = _kinds_of_all(picked)
    if not kinds:  # the groups have picked different kinds
        first = {min(common)}
        picked = [_picked(choices, first) for choices in keys.each_group()]
        kinds = _kinds_of_all(picked)
    attributes: dict[str, tuple[str, ...]] = {}
    nulls: frozenset[str] = frozenset()
    for group in picked:
        waiting = list(group)
        for kind in kinds:
            choice = next(each for each in waiting if each.kind == kind)
            waiting.remove(choice)
            nulls |= choice.nulls
            for type_, attribute in choice.attributes.items():
                attributes[type_] = (*attributes.get(type_, ()), attribute)
    # A rule of one event matches any event, also with nulls.
    nulls |= {use for own in keys.rules.values() for rule in own if rule.shape is Shape.ROW for use in rule.uses}
    return Key(attributes, kinds, nulls & set(attributes))


def _picked(choices: tuple[Choice, ...], kinds: set[str]) -> list[Choice]:
    """Choices of some kinds that have no attribute in common, so that each makes the partitions smaller."""
    picked: list[Choice] = []
    for choice in choices:
        used = {held for each in picked for held in each.attributes.items()}
        if choice.kind in kinds and used.isdisjoint(choice.attributes.items()):
            picked.append(choice)
    return picked


def _kinds_of_all(picked: list[list[Choice]]) -> tuple[str, ...]:
    """The kinds that each group has picked, as often as every one of them has."""
    kinds: list[str] = []
    for kind in (choice.kind for choice in picked[0]):
        if all(sum(other.kind == kind for other in group) > kinds.count(kind) for group in picked):
            kinds.append(kind)
    return tuple(kinds)


def told_apart(keys: Keys, key: Key, event: typed.EventType) -> bool:
    """True if the attributes of a derived event determine its partition, so that no other partition derives it too."""
    if event.name in key.attributes:
        return True
    rules = keys.rules[event.name]
    if any(not rule.uses <= set(key.attributes) for rule in rules):
        return False
    return all(
        set.intersection(*(_holding(rule, key, place, event) for rule in rules)) for place in range(len(key.kinds))
    )


def _holding(rule: Correlated, key: Key, place: int, event: typed.EventType) -> set[str]:
    """The attributes of a rule's derived events that hold one value of the key: a float does not hold every integer."""
    return {
        attribute
        for correlation in rule.correlations
        if all(key.attributes[use][place] in correlation.attributes[use] for use in rule.uses)
        for attribute in correlation.head
        if event.attributes[attribute] != "float" or key.kinds[place] == "float"
    }
