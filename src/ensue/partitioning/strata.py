"""The strata of a program that are needed, with the properties that decide their partitioning."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ensue.language import typed
from ensue.language.walk import atoms
from ensue.partitioning.correlation import correlations
from ensue.partitioning.keys import Correlated
from ensue.partitioning.reach import reach
from ensue.partitioning.shapes import Shape, shape
from ensue.records import dataclass


@dataclass(frozen=True)
class Stratum:
    """A stratum, with the properties that decide its partitioning."""

    rules: tuple[int, ...]
    recursive: bool
    uses: frozenset[str]
    derives: frozenset[str]
    correlated: tuple[Correlated, ...]
    reaches: tuple[int | None, ...]

    @cached_property
    def shape(self) -> Shape:
        """The shape of the rule that depends on the most events."""
        shapes = {rule.shape for rule in self.correlated}
        return next(each for each in (Shape.SEVERAL, Shape.ROW, Shape.TIMERS) if each in shapes)

    @cached_property
    def mixed(self) -> bool:
        """True if a rule of timers alone stands among others: a partition without events would have to run it, too."""
        return self.shape is not Shape.TIMERS and any(rule.shape is Shape.TIMERS for rule in self.correlated)

    @cached_property
    def bounded(self) -> bool:
        return not self.recursive and None not in self.reaches


def needed_strata(program: typed.Program, wanted: Iterable[str]) -> list[Stratum]:
    """The strata that derive the wanted types, or types that these use."""
    types = set(wanted)
    found: list[Stratum] = []
    for stratum in reversed(program.strata):
        rules = tuple(sorted(rule for layer in stratum.layers for rule in layer))
        if types.isdisjoint(program.rules[rule].event for rule in rules):
            continue
        made = _stratum(program, rules, stratum.recursive)
        types |= made.uses
        found.append(made)
    return found[::-1]


def _stratum(program: typed.Program, rules: tuple[int, ...], recursive: bool) -> Stratum:
    found = tuple(correlated(program.rules[index]) for index in rules)
    reaches = tuple(_reach(program.rules[index], program) for index in rules)
    uses = frozenset(use for rule in found for use in rule.uses)
    derives = frozenset(rule.event for rule in found)
    return Stratum(rules, recursive, uses, derives, found, reaches)


def correlated(rule: typed.Rule) -> Correlated:
    """The properties of a rule that matter for keys."""
    uses = frozenset(atom.event for atom in atoms(rule.body))
    own, found = shape(rule.body), correlations(rule)
    if rule.quiet is not None:  # its rate counts derived events together, by group
        own = own if own is Shape.TIMERS else Shape.SEVERAL
        found = [each for each in found if not each.head.isdisjoint(rule.quiet.keys)]
    return Correlated(rule.event, own, uses, tuple(found))


def _reach(rule: typed.Rule, program: typed.Program) -> int | None:
    """Reach of a rule; an output rate depends on events kept before, and these on earlier ones, without bound."""
    return reach(rule.body, program.events) if rule.quiet is None else None


def extent(strata: Iterable[Stratum]) -> int | None:
    """Reach of the rules of some strata, through the events that they derive for each other."""
    through: dict[str, int] = {}
    for stratum in strata:
        if not stratum.bounded:
            return None
        before = max((through.get(use, 0) for use in stratum.uses), default=0)
        own = max(reaches or 0 for reaches in stratum.reaches)
        through |= dict.fromkeys(stratum.derives, before + own)
    return max(through.values(), default=0)
