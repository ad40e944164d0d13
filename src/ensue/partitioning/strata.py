"""Strata of a program that are needed, and what of them matters for parting their events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ensue.language import typed
from ensue.language.walk import atoms
from ensue.partitioning.correlation import correlations
from ensue.partitioning.keys import Correlated
from ensue.partitioning.reach import reach
from ensue.partitioning.shapes import Shape, shape


@dataclass(frozen=True)
class Stratum:
    """A stratum, and what matters for parting its events."""

    rules: tuple[int, ...]
    recursive: bool
    uses: frozenset[str]
    derives: frozenset[str]
    correlated: tuple[Correlated, ...]
    reaches: tuple[int | None, ...]

    @cached_property
    def shape(self) -> Shape:
        """Of its rules the one that looks at most."""
        shapes = {rule.shape for rule in self.correlated}
        return next(each for each in (Shape.SEVERAL, Shape.ROW, Shape.TIMERS) if each in shapes)

    @cached_property
    def mixed(self) -> bool:
        """Whether a rule of timers alone stands among others: a part without events would have to run it, too."""
        return self.shape is not Shape.TIMERS and any(rule.shape is Shape.TIMERS for rule in self.correlated)

    @cached_property
    def bounded(self) -> bool:
        return not self.recursive and None not in self.reaches


def needed_strata(program: typed.Program, wanted: Iterable[str]) -> list[Stratum]:
    """The strata that derive what is wanted, or what these use."""
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
    """A rule as far as keys matter."""
    uses = frozenset(atom.event for atom in atoms(rule.body))
    own, found = shape(rule.body), correlations(rule)
    if rule.quiet is not None:  # what it derives is looked at together, in its groups
        own = own if own is Shape.TIMERS else Shape.SEVERAL
        found = [each for each in found if not each.head.isdisjoint(rule.quiet.keys)]
    return Correlated(rule.event, own, uses, tuple(found))


def _reach(rule: typed.Rule, program: typed.Program) -> int | None:
    """How far back a rule reaches; one that says how often it derives depends on what it kept before, and so on."""
    return reach(rule.body, program.events) if rule.quiet is None else None


def extent(strata: Iterable[Stratum]) -> int | None:
    """How far back the rules of strata reach, through what they derive for each other."""
    through: dict[str, int] = {}
    for stratum in strata:
        if not stratum.bounded:
            return None
        before = max((through.get(use, 0) for use in stratum.uses), default=0)
        own = max(reaches or 0 for reaches in stratum.reaches)
        through |= dict.fromkeys(stratum.derives, before + own)
    return max(through.values(), default=0)
