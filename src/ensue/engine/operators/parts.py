"""The order of matches, and events that two of them share: both are decided by their parts.

Matches that end together are ordered by start, then part by part as written; one whose parts begin those of another
comes before it. Where all matches have the same number of parts these are compared in turn. Otherwise (one side of an
`or` has fewer, a cumulative side as many as it has members) all parts of both are first laid out one after the other. A
timer or a static row is no event, and never one that two matches share.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from ensue.engine.generate.fields import START, Env, Field
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Spec, Unit
from ensue.engine.generate.writer import Writer, all_of, any_of
from ensue.engine.structures.chains import (
    CHAIN_KERNELS,
    FLAT_KERNELS,
    NONE,
    Chains,
    Flat,
    chains_layout,
    flat_layout,
)
from ensue.language import typed
from ensue.records import dataclass

COMPARED = ("end", "start", "place")
KNOWN = (*COMPARED, "k")


@dataclass(frozen=True)
class Seen:
    """A match at a place in the code."""

    operator: Operator
    env: Env

    def part(self, unit: Unit, number: int, which: str) -> str:
        return place_of(unit, ("part", number, which), self.env)


def place_of(unit: Unit, field: Field, env: Env) -> str:
    """Source for the number by which a field of a part is compared; see `part_place` for static rows."""
    held = env[field].value
    return f"part_place({held})" if field[2] == "place" and "facts" in unit.structures else held


def order_fields(operator: Operator) -> list[Field]:
    """The fields by which matches are ordered, after their start."""
    found: list[Field] = []
    for number in range(operator.parts):
        found += [("part", number, which) for which in KNOWN]
        if number in operator.chains:
            found.append(("part", number, "more"))
    return found


def return_whether_before(unit: Unit, w: Writer, one: Seen, other: Seen, tie: bool) -> None:
    """Write the end of a function that returns True if a match comes before another, and `tie` for equal ones.

    Matches of one operator whose parts are equal in every respect are ordered by the numbers ``k`` of their events:
    that matters only for events that they share with others.
    """
    compared = [(one.env[START].value, other.env[START].value)]
    common = min(one.operator.parts, other.operator.parts)
    ragged = one.operator.ragged or other.operator.ragged
    if not ragged:
        compared += [(one.part(unit, n, x), other.part(unit, n, x)) for n in range(common) for x in COMPARED]
    for left, right in compared:
        this, that = w.let("this", left), w.let("that", right)
        with w.block(f"if {this} != {that}:"):
            w.line(f"return {this} < {that}")
    if ragged:
        _return_flat_order(unit, w, one, other, tie)
    elif one.operator.parts == other.operator.parts:
        for number in range(common if one.operator is other.operator else 0):
            left, right = (seen.env["part", number, "k"].value for seen in (one, other))
            with w.block(f"if {left} != {right}:"):
                w.line(f"return {left} < {right}")
        w.line(f"return {tie}")
    else:
        w.line(f"return {one.operator.parts < other.operator.parts}")


def _return_flat_order(unit: Unit, w: Writer, one: Seen, other: Seen, tie: bool) -> None:
    for text in FLAT_KERNELS:
        unit.use(text)
    for flat, seen in (("flat_one", one), ("flat_other", other)):
        unit.structures.setdefault(flat, Spec(Flat, flat_layout()))
        w.line(f"{flat}.count = 0")
        for number in range(seen.operator.parts):
            w.line(f"flat_part({flat}, {', '.join(seen.part(unit, number, which) for which in KNOWN)})")
            if number in seen.operator.chains:
                chains = chains_of(unit)
                node = w.let("node", seen.env["part", number, "more"].value)
                with w.block(f"while {node} >= 0:"):
                    end, start, place, k = (f"{chains}.{which}[{node}]" for which in KNOWN)
                    place = f"part_place({place})" if "facts" in unit.structures else place
                    w.line(f"flat_part({flat}, {end}, {start}, {place}, {k})")
                    w.line(f"{node} = {chains}.next[{node}]")
    themselves = one.operator is other.operator
    w.line(f"return flat_order(flat_one, flat_other, {themselves}) {'<=' if tie else '<'} 0")


def chains_of(unit: Unit) -> str:
    """The structure with the chains of the current rule."""
    for text in CHAIN_KERNELS:
        unit.use(text)
    for name, spec in unit.structures.items():
        if spec.kind is Chains and spec.owner == unit.owner:
            return name
    return unit.structure("chains", Chains, chains_layout())


# --- events in common


Types = frozenset[str]


def part_types(pattern: typed.Pattern, count: int) -> list[Types]:
    """The types of events that each part of a pattern's matches may have; none for a timer or a static row."""
    found = _types(pattern)
    return found if len(found) == count else [frozenset().union(*found)] * count


def _types(pattern: typed.Pattern) -> list[Types]:
    match pattern:
        case typed.Atom(event=event):
            return [frozenset({event})]
        case typed.Moment() | typed.Periodic():
            return [frozenset()]
        case typed.Pair(left=left, right=right):
            return _side(left, pattern.left_gathering) + _side(right, pattern.right_gathering)
        case typed.Either(alternatives=alternatives):
            columns = zip_longest(*map(_types, alternatives), fillvalue=Types())
            return [Types().union(*column) for column in columns]
        case typed.Lacking(pattern=inner):
            return _types(inner)
        case typed.Run(pattern=inner, count=count):
            return _types(inner) * count
        case typed.Nested(body=body):
            own = [] if body.pattern is None else _types(body.pattern)
            own += [Types()] * (len(body.lookups) + len(body.timers))
            if body.window is not None:  # the last collected event is no constituent of the match
                own += [] if body.window.beginning is None else _types(body.window.beginning)
                own += [Types()] * len(_types(body.window.pattern))
            return own


def _side(pattern: typed.Pattern, gathering: int | None) -> list[Types]:
    found = _types(pattern)
    return found if gathering is None or not found else [Types().union(*found)]


class Shared:
    """Parts that may be one event on both sides of a pairing. `types` are those of the parts of each side."""

    def __init__(self, sides: tuple[Operator, Operator], types: tuple[list[Types], list[Types]]) -> None:
        self.sides = sides
        self.parts = [(i, j) for i, one in enumerate(types[0]) for j, other in enumerate(types[1]) if one & other]

    def fields(self, side: int) -> Iterator[Field]:
        """The fields of a side that the test needs."""
        for number in dict.fromkeys(parts[side] for parts in self.parts):
            yield ("part", number, "end")
            yield ("part", number, "k")
            if number in self.sides[side].chains:
                yield ("part", number, "more")

    def test(self, unit: Unit, left: Env, right: Env) -> str:
        """Source that is true if the sides have an event in common."""
        return any_of(*(test for i, j in self.parts for test in self._tests(unit, (left, right), (i, j))))

    def _tests(self, unit: Unit, envs: tuple[Env, Env], numbers: tuple[int, int]) -> Iterator[str]:
        ends, ks = (
            [env["part", n, which].value for env, n in zip(envs, numbers, strict=True)] for which in ("end", "k")
        )
        there = f"{ends[0]} != {NONE}" if self.sides[0].ragged and self.sides[1].ragged else "True"
        yield f"({all_of(f'{ends[0]} == {ends[1]}', f'{ks[0]} == {ks[1]}', there)})"
        more = [
            env["part", n, "more"].value if n in side.chains else None
            for env, n, side in zip(envs, numbers, self.sides, strict=True)
        ]
        for own, other in ((0, 1), (1, 0)):
            if more[own] is not None:
                yield f"chain_has({chains_of(unit)}, {more[own]}, {ends[other]}, {ks[other]})"
        if more[0] is not None and more[1] is not None:
            yield f"chains_meet({chains_of(unit)}, {more[0]}, {more[1]})"
