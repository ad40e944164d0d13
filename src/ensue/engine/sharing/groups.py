"""Which rules of a program are alike, and what is made of them: what is compiled together, with families in it.

Strata that derive events of different types by rules of the same shapes become one. So do alike rules of one stratum,
whatever else it consists of. What cannot be shared, or not compiled as one, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.members import Expansion
from ensue.engine.compiled.source import Together, rule_names, write_unit
from ensue.engine.sharing.families import Family, NotSharedError, family_of
from ensue.engine.sharing.shapes import Shape, Site, shape_of
from ensue.language import typed

FEWEST = 3
"""From how many rules of one shape on they run as one."""

HEADS = "#heads"
"""The type that stands for those of several strata."""


class Alike:
    """The rules of a program by their shapes. With `apart` each is for itself."""

    def __init__(self, program: typed.Program, apart: bool = False) -> None:
        self.program = program
        self.apart = apart
        self.ranks = {name: rank for rank, name in enumerate(program.events)}
        self.names = rule_names(program, range(len(program.rules)))

    @cached_property
    def shapes(self) -> list[tuple[Shape, tuple[Site, ...]]]:
        events = self.program.events
        return [shape_of(rule, events[rule.event]) for rule in self.program.rules]

    def bundles(self) -> Iterator[list[typed.Stratum]]:
        """Strata that derive one type each by rules of the same shapes, where there are enough of them."""
        if self.apart or len(self.program.strata) < FEWEST:
            return
        found: dict[frozenset[Shape], list[typed.Stratum]] = {}
        for stratum in self.program.strata:
            if not stratum.recursive and len(stratum.layers) == 1:
                found.setdefault(frozenset(self.shapes[i][0] for i in stratum.layers[0]), []).append(stratum)
        yield from (strata for strata in found.values() if len(strata) >= FEWEST)

    def bundled(self, strata: Sequence[typed.Stratum]) -> Together | None:
        """Strata of the same shapes as one; None if they cannot be."""
        rules = [i for stratum in strata for i in stratum.layers[0]]
        heads = tuple(dict.fromkeys(self.program.rules[i].event for i in rules))
        numbers = {head: number for number, head in enumerate(heads)}
        families: list[Family] = []
        for members in self._by_shape(rules).values():
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
        layers = [*_before(families), [(expansion, "") for expansion in expansions]]
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
                layers += _before(own)
                expansions = [(Expansion(self.program.rules[f.members[0]].event, f), "") for f in own]
                layers.append([*((self.program.rules[i], self.names[i]) for i in rest), *expansions])
        return self._together(layers, [family.found for family in families], {})

    def _families(self, first: int, layer: Sequence[int]) -> tuple[list[Family], list[int]]:
        """The families of a layer, numbered from the first on, and the rules that belong to none."""
        if self.apart or len(layer) < FEWEST:
            return [], list(layer)
        families: list[Family] = []
        rest: list[int] = []
        by_event = {(self.program.rules[i].event): None for i in layer}
        for event in by_event:
            same = [i for i in layer if self.program.rules[i].event == event]
            for members in self._by_shape(same).values():
                family = self._family(first + len(families), members) if len(members) >= FEWEST else None
                if family is None:
                    rest += members
                else:
                    families.append(family)
        return families, sorted(rest, key=list(layer).index) if rest else []

    def _by_shape(self, rules: Iterable[int]) -> dict[Shape, list[int]]:
        found: dict[Shape, list[int]] = {}
        for i in rules:
            found.setdefault(self.shapes[i][0], []).append(i)
        return found

    def _family(self, number: int, members: Sequence[int]) -> Family | None:
        """The family of some rules; None if they cannot be one, or not be compiled as one."""
        first = members[0]
        sites = [self.shapes[i][1] for i in members]
        try:
            family = family_of(number, self.shapes[first][0], members, sites, self.program.rules[first])
        except NotSharedError:
            return None
        expansion = Expansion(self.program.rules[first].event, family)
        together = self._together([*_before([family]), [(expansion, "")]], [family.found], {})
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


def _before(families: Iterable[Family]) -> list[list[tuple[typed.Rule | Expansion, str]]]:
    """The layer of what families have in common, which comes before that of their members; none without families."""
    layer: list[tuple[typed.Rule | Expansion, str]] = [(f.common, f"family {f.number}") for f in families]
    return [layer] if layer else []


def reason(together: Together) -> str | None:
    """Why rules cannot be compiled together, None if they can."""
    try:
        write_unit(together, frozenset(), lambda text: 0, check=True)
    except NotCompiledError as error:
        return str(error)
    return None
