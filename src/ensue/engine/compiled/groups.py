"""Which rules are compiled together by the old engine, with families in it; it goes when that goes."""


from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.members import Expansion
from ensue.engine.compiled.source import Together, rule_names, write_unit
from ensue.engine.sharing import groups
from ensue.engine.sharing.families import Family, NotSharedError, Seed, family_of
from ensue.engine.sharing.groups import Decided
from ensue.engine.sharing.shapes import Shape, Site, shape_of
from ensue.language import typed

HEADS = "#heads"

Kind = tuple[int, tuple[typed.Value, ...], str | None]
"""What rules have in common that may run as one: a shape by its number, how far timers reach, and what was decided."""


class Alike:
    """The rules of a program by their shapes; where some have run before, as it was `decided` for these.

    Without `sharing` each rule runs by itself.
    """

    def __init__(self, program: typed.Program, decided: Decided | None = None, sharing: bool = True) -> None:
        self.program = program
        self.decided = decided
        self.sharing = sharing
        self.seeds = {} if decided is None else {name: seed for seed in decided.seeds for name, _ in seed.rules}
        self.ranks = {name: rank for rank, name in enumerate(program.events)}

    @cached_property
    def names(self) -> dict[int, str]:
        return rule_names(self.program, range(len(self.program.rules)))

    @cached_property
    def shapes(self) -> list[tuple[Shape, tuple[Site, ...]]]:
        events = self.program.events
        return [shape_of(rule, events[rule.event]) for rule in self.program.rules]

    @cached_property
    def kinds(self) -> list[Kind]:
        """For each rule with which others it may run as one."""
        numbers: dict[Shape, int] = {}
        found: list[Kind] = []
        for i, (shape, sites) in enumerate(self.shapes):
            reach = tuple(site.value for site in sites if site.place == "shift")
            found.append((numbers.setdefault(shape, len(numbers)), reach, self._before(i)))
        return found

    def _before(self, i: int) -> str | None:
        """What was decided for a rule: a family, by its name, or that it is alone; None for one that is new."""
        if self.decided is None:
            return None
        name = self.names[i]
        if name in self.seeds:
            return self.seeds[name].name
        return name if name in self.decided.rules else None

    def bundles(self) -> Iterator[list[typed.Stratum]]:
        """Strata that derive one type each by rules of the same shapes, where there are enough of them."""
        if not self.sharing or len(self.program.strata) < groups.FEWEST:
            return
        found: dict[frozenset[Kind], list[typed.Stratum]] = {}
        for stratum in self.program.strata:
            if not stratum.recursive and len(stratum.layers) == 1:
                found.setdefault(frozenset(self.kinds[i] for i in stratum.layers[0]), []).append(stratum)
        yield from (strata for strata in found.values() if len(strata) >= groups.FEWEST)

    def bundled(self, strata: Sequence[typed.Stratum]) -> Together | None:
        """Strata of the same shapes as one; None if they cannot be."""
        rules = [i for stratum in strata for i in stratum.layers[0]]
        heads = tuple(dict.fromkeys(self.program.rules[i].event for i in rules))
        numbers = {head: number for number, head in enumerate(heads)}
        families: list[Family] = []
        for members in self._by_kind(rules):
            family = self._family(len(families), members)
            if family is None:
                return None
            families.append(family)
        types = self.program.events[heads[0]].attributes.values()
        attributes = {"": "int", **{str(place): type_ for place, type_ in enumerate(types)}}
        event = typed.EventType(HEADS, attributes, declared=False, derived=True)
        expansions = [
            Expansion(HEADS, family, tuple(numbers[self.program.rules[i].event] for i in family.members))
            for family in families
        ]
        layers = _common(families)
        layers.append([(expansion, "") for expansion in expansions])
        together = self._together(layers, [event, *(family.found for family in families)], {HEADS: heads})
        return together if reason(together) is None else None

    def together(self, strata: Iterable[typed.Stratum]) -> Together:
        """Strata that are compiled together, with what is alike in each of them as one."""
        families: list[Family] = []
        layers: list[list[tuple[typed.Rule | Expansion, str]]] = []
        for stratum in strata:
            for layer in stratum.layers:
                own, rest = self._families(len(families), layer) if not stratum.recursive else ([], layer)
                families += own
                layers += _common(own)
                expansions = [(Expansion(self.program.rules[f.members[0]].event, f), "") for f in own]
                layers.append([*((self.program.rules[i], self.names[i]) for i in rest), *expansions])
        return self._together(layers, [family.found for family in families], {})

    def cut(self, stratum: typed.Stratum, most: int) -> Iterator[tuple[int, ...]]:
        """The rules of a stratum, so many together at most, those alike counted once."""
        for layer in stratum.layers:
            families, rest = self._families(0, layer)
            parts = [[i] for i in rest] + [list(family.members) for family in families]
            for first in range(0, len(parts), most):
                yield tuple(sorted(i for part in parts[first : first + most] for i in part))

    def _families(self, first: int, layer: Sequence[int]) -> tuple[list[Family], list[int]]:
        """The families of a layer, numbered from the first on, and the rules that belong to none."""
        few = len(layer) < groups.FEWEST and not any(self.names[i] in self.seeds for i in layer)
        if few or not self.sharing:
            return [], list(layer)
        families: list[Family] = []
        rest: list[int] = []
        by_event = {(self.program.rules[i].event): None for i in layer}
        for event in by_event:
            same = [i for i in layer if self.program.rules[i].event == event]
            for members in self._by_kind(same):
                enough = len(members) >= groups.FEWEST or self.names[members[0]] in self.seeds
                family = self._family(first + len(families), members) if enough else None
                if family is None:
                    rest += members
                else:
                    families.append(family)
        return families, sorted(rest, key=list(layer).index) if rest else []

    def _by_kind(self, rules: Iterable[int]) -> Iterable[list[int]]:
        """Rules in groups that may run as one."""
        found: dict[Kind, list[int]] = {}
        for i in rules:
            found.setdefault(self.kinds[i], []).append(i)
        return found.values()

    def _family(self, number: int, members: Sequence[int]) -> Family | None:
        """The family of some rules; None if they cannot be one, or not be compiled as one."""
        first = members[0]
        own = {self.names[i]: i for i in members}
        seed = self.seeds.get(self.names[first]) or Seed(tuple((name, self.shapes[i][1]) for name, i in own.items()))
        try:
            family = family_of(number, self.shapes[first][0], seed, own, self.program.rules[first], self.program.events)
        except NotSharedError:
            return None
        expansion = Expansion(self.program.rules[first].event, family)
        together = self._together([*_common([family]), [(expansion, "")]], [family.found], {})
        return family if reason(together) is None else None

    def _together(
        self, layers: Sequence[Sequence[tuple[typed.Rule | Expansion, str]]], more: Iterable[typed.EventType],
        heads: Mapping[str, tuple[str, ...]],
    ) -> Together:  # fmt: skip
        rules = [rule for layer in layers for rule, _ in layer]
        names = [name for layer in layers for _, name in layer]
        numbers = iter(range(len(rules)))
        numbered = [[next(numbers) for _ in layer] for layer in layers]
        events = {**self.program.events, **{event.name: event for event in more}}
        return Together(rules, names, numbered, events, self.ranks, heads)


def _common(families: Iterable[Family]) -> list[list[tuple[typed.Rule | Expansion, str]]]:
    """The layer of what families have in common, which comes before that of their members; none without families."""
    layer: list[tuple[typed.Rule | Expansion, str]] = [(f.common, f.seed.name) for f in families]
    return [layer] if layer else []


def reason(together: Together) -> str | None:
    """Why rules cannot be compiled together, None if they can."""
    try:
        write_unit(together, frozenset(), lambda text: 0, check=True)
    except NotCompiledError as error:
        return str(error)
    return None
