"""Putting a unit together: the rules of its layers, in a function that goes through a batch step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ensue.engine.compiled.expressions import NotCompiledError, kind_of
from ensue.engine.compiled.layout import Derived, Layout
from ensue.engine.compiled.members import Expansion, write_members
from ensue.engine.compiled.rules import write_rule
from ensue.engine.compiled.short_way import LongWayError
from ensue.engine.compiled.steps import write_steps
from ensue.engine.compiled.unit import Unit
from ensue.engine.compiled.windows import WindowWriter
from ensue.engine.sharing.shapes import rule_names
from ensue.language import typed
from ensue.language.walk import atoms, pairs

MOST_ATTRIBUTES = 60

Layers = Sequence[Sequence[int]]
LONGEST = 2**56
"""Longer lengths of time are not compiled: several of them, and a time, must fit into 64 bits together."""

Strings = Callable[[str], int]
"""The code of a string."""


@dataclass(frozen=True)
class Together:
    """What is compiled together: rules, or what members of a family do, by layers; and what there is to know of them.

    `ranks` has the types that may be given; `heads` those that are told apart by the first attribute of another.
    """

    rules: Sequence[typed.Rule | Expansion]
    names: Sequence[str]
    """What the part of the state is called that belongs to a rule."""
    layers: Layers
    events: Mapping[str, typed.EventType]
    ranks: Mapping[str, int]
    heads: Mapping[str, tuple[str, ...]]

    @property
    def derives(self) -> frozenset[str]:
        return frozenset(rule.event for rule in self.rules)

    @property
    def uses(self) -> frozenset[str]:
        """The types that are taken in, given or derived elsewhere."""
        rules = [rule for rule in self.rules if isinstance(rule, typed.Rule)]
        used = self.derives.union(atom.event for rule in rules for atom in atoms(rule.body))
        return frozenset(event for event in used if event in self.ranks)


def write_unit(
    together: Together, kept: AbstractSet[str], strings: Strings, check: bool = False, shared: bool = True
) -> tuple[str, str, Layout]:
    """The source of a unit for some rules, and the layout of its state. `kept` types are wanted outside.

    There are two sources: the first is for given events without any null. With `check` there are none: what cannot be
    compiled is an error, and that is all that is wanted.
    """
    layout = _layout(together, kept)
    for rule in together.rules:
        if isinstance(rule, typed.Rule) and any(abs(length) > LONGEST for length in _lengths(rule.body)):
            raise NotCompiledError("a length of time that times have no room for")

    def source(nulls: bool, short: bool) -> str:
        return write_steps(_unit(together, strings, layout, nulls, shared), short)

    source(nulls=True, short=False)  # lays out what is needed
    if check:
        return "", "", layout
    layout.nulls.clear()
    short, strict = True, ""
    while True:  # until there is nothing new to lay out
        known = (len(layout.nulls), layout.arrays(), len(layout.knobs))
        try:
            strict = source(nulls=False, short=short)
        except LongWayError:
            short = False
            continue
        if known == (len(layout.nulls), layout.arrays(), len(layout.knobs)):
            break
    full = source(nulls=True, short=False)
    assert layout.arrays() == known[1]  # both work on the same state
    return strict, full, layout


def _lengths(body: typed.Body) -> Iterator[int]:
    """The lengths of time that a body states."""
    yield from (length for length in (body.within, body.lasting) if length is not None)
    for timer in body.timers:
        yield from (timer.start_shift, timer.end_shift)
    if body.window is not None:
        yield body.window.size
    for relation in [r.relation for r in body.related] + [p.relation for p in pairs(body.pattern)]:
        for distance in relation.distances:
            yield from (limit for limit in (distance.low, distance.high) if limit is not None)


def _layout(together: Together, kept: AbstractSet[str]) -> Layout:
    """A layout with the types that are derived, and nothing else yet."""
    layout, rules, layers = Layout(), together.rules, together.layers
    for rule in (rules[i] for layer in layers for i in layer):
        if rule.event not in layout.derived:
            attributes = together.events[rule.event].attributes
            kinds = tuple(kind_of(type_) for type_ in attributes.values())
            if len(kinds) > MOST_ATTRIBUTES:
                raise NotCompiledError("an event of that many attributes")
            heads = together.heads.get(rule.event, ())
            wanted = rule.event in kept or not kept.isdisjoint(heads)
            layout.derived[rule.event] = Derived(len(layout.derived), rule.event, kinds, wanted, heads)
    for event in layout.derived:
        if sum(any(rules[i].event == event for i in layer) for layer in layers) > 1:
            raise NotCompiledError("an event that is derived in several layers")
    return layout


def _unit(together: Together, strings: Strings, layout: Layout, nulls: bool, shared: bool) -> Unit:
    """A unit that knows what its rules do with events."""
    unit = Unit(together.rules, together.events, together.ranks, together.layers, strings, layout, nulls, shared)
    for layer, rules in enumerate(together.layers):
        unit.layer = layer
        for i in rules:
            rule = together.rules[i]
            if isinstance(rule, Expansion):
                write_members(unit, rule)
            elif rule.body.window is not None:
                WindowWriter(unit, rule, together.names[i]).write()
            else:
                write_rule(unit, rule, together.names[i])
    return unit


__all__ = ["Together", "rule_names", "write_unit"]
