"""Groups of rules that run as one: each stratum with the families in it, strata of the same shapes together.

Strata that derive events of different types by rules of the same shapes become one, with a number for the type of each
event. So do rules of one shape in a stratum, whatever else it contains. Rules that cannot be joined stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from functools import cached_property
from typing import Any

from ensue.engine.assembly import CompilationUnit, Layer, UnitRule
from ensue.engine.capacity import current
from ensue.engine.operators.look_up import mixed_columns
from ensue.engine.operators.members import Expansion
from ensue.engine.sharing.families import Family, NotSharedError, Seed, family_of
from ensue.engine.sharing.parts import Before, History
from ensue.engine.sharing.shapes import Shape, Site, rule_names, shape_of
from ensue.language import typed
from ensue.records import dataclass

HEADS = "#heads"
"""Prefix of a type that stands for those of several strata; the number of the first follows."""


@dataclass(frozen=True)
class FamilyAssignment:
    """Decisions made before rules changed: families, earlier rules, lengths of events, equal parts.

    A later rule has not seen the past, so it cannot share state that holds it.
    """

    seeds: tuple[Seed, ...]
    rules: frozenset[str]
    lengths: tuple[tuple[str, tuple[int, int | None]], ...] = ()
    parts: tuple[Before, ...] = ()
    """The equal parts of rules that are shared."""
    members: tuple[tuple[str, ...], ...] = ()
    """The rules that still are in each family; one that was removed and added again is not."""

    @property
    def history(self) -> History:
        """The rules and parts whose state began earlier."""
        names = {*self.rules, *(seed.name for seed in self.seeds), *(part.name for part in self.parts)}
        return History(frozenset(names), self.parts)

    def saved(self) -> list[Any]:
        """The decisions as plain values."""
        seeds = [[[name, [list(astuple(site)) for site in sites]] for name, sites in s.rules] for s in self.seeds]
        lengths = [[name, *length] for name, length in self.lengths]
        parts, members = [part.saved() for part in self.parts], [list(names) for names in self.members]
        return [seeds, sorted(self.rules), lengths, parts, members]

    @staticmethod
    def restored(state: Sequence[Any]) -> FamilyAssignment:
        seeds, rules, lengths, parts, members = state
        return FamilyAssignment(
            tuple(Seed(tuple((name, tuple(Site(*site) for site in sites)) for name, sites in s)) for s in seeds),
            frozenset(rules),
            tuple((name, (low, high)) for name, low, high in lengths),
            tuple(map(Before.restored, parts)),
            tuple(map(tuple, members)),
        )


Kind = tuple[int, tuple[typed.Value, ...], str | None]
"""Properties that rules of one family share: a shape by its number, the shifts of timers, and earlier decisions."""


class Sharing:
    """The rules of a program by their shapes; rules that have run before keep the decisions in `decided`.

    With `sharing` off each rule runs by itself.
    """

    def __init__(self, program: typed.Program, decided: FamilyAssignment | None = None, sharing: bool = True) -> None:
        self.program = program
        self.decided = decided
        self.sharing = sharing
        self.seeds: dict[str, Seed] = {}
        if decided is not None:
            families = zip(decided.seeds, decided.members, strict=True)
            self.seeds = {name: seed for seed, names in families for name in names}
        self.ranks = {name: rank for rank, name in enumerate(program.events)}
        self.mixed = mixed_columns(program)
        self.families = 0

    @cached_property
    def names(self) -> dict[int, str]:
        return rule_names(self.program, range(len(self.program.rules)))

    @cached_property
    def shapes(self) -> list[tuple[Shape, tuple[Site, ...]]]:
        events = self.program.events
        return [shape_of(rule, events[rule.event]) for rule in self.program.rules]

    @cached_property
    def kinds(self) -> list[Kind]:
        """For each rule the kind by which it may run as one with others."""
        numbers: dict[Shape, int] = {}
        found: list[Kind] = []
        for i, (shape, sites) in enumerate(self.shapes):
            reach = tuple(site.value for site in sites if site.place == "shift")
            number = numbers.setdefault(shape, len(numbers))
            rule = self.program.rules[i]
            if rule.quiet is not None or self.program.events[rule.event].each:
                number = -1 - i  # an output rate or ``all`` concerns each rule alone
            found.append((number, reach, self._before(i)))
        return found

    def _before(self, i: int) -> str | None:
        """The earlier decision for a rule: a family, by its name, or its own name; None for a new rule."""
        if self.decided is None:
            return None
        name = self.names[i]
        if name in self.seeds:
            return self.seeds[name].name
        return name if name in self.decided.rules else None

    def groups(self) -> list[CompilationUnit]:
        """Each stratum, or several of the same shapes as one, in the order of strata."""
        bundles: dict[int, CompilationUnit | None] = {}
        for numbers in self._bundles():
            bundle = self._bundle(numbers)
            if bundle is not None:
                bundles |= dict.fromkeys(numbers)
                bundles[numbers[0]] = bundle
        found = (
            bundles[number] if number in bundles else self._stratum(number)
            for number in range(len(self.program.strata))
        )
        return [group for group in found if group is not None]

    # --- strata of the same shapes

    def _bundles(self) -> Iterator[list[int]]:
        """Strata that derive one type each by rules of the same shapes, where there are enough of them."""
        if not self.sharing or len(self.program.strata) < 2:
            return
        found: dict[frozenset[Kind], list[int]] = {}
        for number, stratum in enumerate(self.program.strata):
            if not stratum.recursive and len(stratum.layers) == 1:
                found.setdefault(frozenset(self.kinds[i] for i in stratum.layers[0]), []).append(number)
        for numbers in found.values():
            if len(numbers) > 1 and self._enough(len(numbers), self.program.strata[numbers[0]].layers[0][0]):
                yield numbers

    def _enough(self, count: int, rule: int) -> bool:
        """True if there are enough rules to run as one; those that did before always do."""
        return count >= current().family or self.names[rule] in self.seeds

    def _bundle(self, strata: Sequence[int]) -> CompilationUnit | None:
        """Strata of the same shapes as one; None if they cannot be."""
        rules = [i for number in strata for i in self.program.strata[number].layers[0]]
        heads = tuple(dict.fromkeys(self.program.rules[i].event for i in rules))
        numbers = {head: number for number, head in enumerate(heads)}
        families = [self._family(members) for members in self._by_kind(rules)]
        types = self.program.events[heads[0]].attributes.values()
        attributes = {"": "int", **{str(place): type_ for place, type_ in enumerate(types)}}
        event = typed.EventType(f"{HEADS}{strata[0]}", attributes, declared=False, derived=True)
        parts = []
        for family in families:
            if family is None:
                return None
            own = tuple(numbers[self.program.rules[i].event] for i in family.members)
            parts.append(UnitRule(Expansion(event.name, family, own), ""))
        layers = [*_common(families, strata[0]), Layer(tuple(parts), strata[0], recursive=False)]
        return replace(self._together(layers, [event]), heads={event.name: heads})

    # --- rules of one shape in a stratum

    def _stratum(self, number: int) -> CompilationUnit:
        """A stratum, with the rules of one shape in each layer as one."""
        stratum = self.program.strata[number]
        layers: list[Layer] = []
        for rules in stratum.layers:
            families, rest = ([], list(rules)) if stratum.recursive else self._families(rules)
            layers += _common(families, number)
            parts = [UnitRule(self.program.rules[i], self.names[i], i) for i in rest]
            parts += [UnitRule(Expansion(self.program.rules[f.members[0]].event, f), "") for f in families]
            layers.append(Layer(tuple(parts), number, stratum.recursive))
        return self._together(layers)

    def _families(self, rules: Sequence[int]) -> tuple[list[Family], list[int]]:
        """The families of a layer, and the rules that belong to none."""
        if not self.sharing or not (len(rules) >= current().family or any(self.names[i] in self.seeds for i in rules)):
            return [], list(rules)
        families: list[Family] = []
        rest: list[int] = []
        events = dict.fromkeys(self.program.rules[i].event for i in rules)
        same = ([i for i in rules if self.program.rules[i].event == event] for event in events)
        for members in (members for own in same for members in self._by_kind(own)):
            family = self._family(members) if self._enough(len(members), members[0]) else None
            if family is None:
                rest += members
            else:
                families.append(family)
        return families, sorted(rest)

    def _by_kind(self, rules: Iterable[int]) -> Iterable[list[int]]:
        """Rules in groups that may run as one."""
        found: dict[Kind, list[int]] = {}
        for i in rules:
            found.setdefault(self.kinds[i], []).append(i)
        return found.values()

    def _family(self, members: Sequence[int]) -> Family | None:
        """The family of some rules; None if they cannot be one."""
        first = members[0]
        own = {self.names[i]: i for i in members}
        seed = self.seeds.get(self.names[first]) or Seed(tuple((name, self.shapes[i][1]) for name, i in own.items()))
        shape, rule = self.shapes[first][0], self.program.rules[first]
        try:
            family = family_of(self.families, shape, seed, own, rule, self.program.events)
        except NotSharedError:
            return None
        self.families += 1
        names = {self.program.rules[i].label or self.program.rules[i].event for i in members}
        return replace(family, common=replace(family.common, label=names.pop() if len(names) == 1 else None))

    def _together(self, layers: Sequence[Layer], more: Iterable[typed.EventType] = ()) -> CompilationUnit:
        """Layers with the types that they take and derive, in the order of the program's; hidden ones come last."""
        found = CompilationUnit(tuple(layers), {}, mixed_columns=self.mixed)
        families = (part.rule.family for part in found.parts if isinstance(part.rule, Expansion))
        hidden = {event.name: event for event in (*(family.found for family in families), *more)}
        known = sorted((found.uses | found.derives) - set(hidden), key=self.ranks.__getitem__)
        return replace(found, events={name: self.program.events[name] for name in known} | hidden)


def _common(families: Sequence[Family | None], stratum: int) -> list[Layer]:
    """The layer of what families have in common, which comes before that of their members; none without families."""
    parts = tuple(UnitRule(family.common, family.seed.name) for family in families if family is not None)
    return [Layer(parts, stratum, recursive=False)] if parts else []
