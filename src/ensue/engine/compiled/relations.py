"""Relations in time as tests on the points of two instances."""

from __future__ import annotations

from collections.abc import Callable

from ensue.engine.compiled.expressions import Code
from ensue.engine.compiled.fields import Fields, time
from ensue.engine.compiled.layout import Field
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.writing import all_of
from ensue.language import typed

Sides = tuple[Fields, Fields]

Length = Callable[[object, int], str]
"""Source for a length of time that a rule states; the first argument says which one."""


def related(rule: RuleParts, relation: typed.Relation, sides: Sides, ids: tuple[int, int]) -> str:
    """Whether two instances stand in a relation."""
    tests: list[str] = []
    for place, distance in enumerate(relation.distances):
        later, earlier = (
            sides[side]["end" if end else "start", ids[side]].value for side, end in (distance.later, distance.earlier)
        )
        if distance.low is not None:
            low = "" if distance.low == 1 else rule.length(("low", ids, place), distance.low)
            tests.append(f"{later} - {earlier} >= {low}" if low else f"{later} > {earlier}")
        if distance.high is not None:
            tests.append(f"{later} - {earlier} <= {rule.length(('high', ids, place), distance.high)}")
    return all_of(*tests)


def covering(rule: RuleParts, pair: typed.Pair, sides: Sides) -> dict[Field, Code]:
    """The times of an instance that covers both sides and ends now."""
    ids = (pair.left.id, pair.right.id)
    starts = [sides[s]["start", ids[s]].value for s in (0, 1)]
    shortest = rule.distances.shortest((ids[0], False), (ids[1], False))
    if shortest is not None and shortest >= 0:
        start = starts[0]
    else:
        start = rule.unit.writer.let("s", f"min({starts[0]}, {starts[1]})")
    return {("start", pair.id): time(start), ("end", pair.id): time("t")}


def lasting(body: typed.Body, start: str, length: Length) -> list[str]:
    """Tests on the length of a match that ends now."""
    tests = []
    if body.within is not None:
        tests.append(f"t - {start} <= {length('within', body.within)}")
    if body.lasting is not None:
        tests.append(f"t - {start} == {length('lasting', body.lasting)}")
    return tests
