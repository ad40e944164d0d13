"""Values collected for Python: lists, and aggregates that only Python computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.engine.structure import Array, Column, Frame, Layout, Structure
from ensue.engine.subset.builtin import grow
from ensue.language import typed
from ensue.language.aggregates import aggregate
from ensue.language.semantics import held as held_by
from ensue.records import dataclass

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane


RESULT, TUPLE, SORT = 0, 1, 2
"""Requests to Python: the aggregate of the values, all of them as one value, or to sort them."""


def collected_layout() -> Layout:
    return Layout(("count", "capacity", "there"), (("value", Column("values")), ("place", Column("places"))))


class Collected(Structure):
    """Values as 64 bits, each with its place in their order; `there` is 1 if the last answer was not null."""

    keeps = False

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        for name in ("values", "places"):
            self.put(name, np.zeros(self.frame.capacity.rows, np.int64))
        self.capacity = self.frame.capacity.rows

    def grow(self) -> None:
        for name in ("values", "places"):
            self.put(name, np.concatenate([self.arrays[name], np.zeros_like(self.arrays[name])]))
        self.capacity *= 2


def collect(collected: Collected, value: int, place: int) -> None:
    """Add a value."""
    if collected.count == collected.capacity:
        grow(collected)
    collected.value[collected.count] = value
    collected.place[collected.count] = place
    collected.count += 1


@dataclass(frozen=True)
class Collection:
    """A request about collected values: an aggregate. `nested` marks values that are collected lists themselves."""

    aggregate: typed.Aggregate
    kind: str
    result: str
    nested: bool

    def answer(self, lane: GeneratedLane, structure: Any, number: int) -> int:
        places, found = (structure.arrays[name][: structure.count] for name in ("places", "values"))
        if number == SORT:
            found[:] = found[np.argsort(places, kind="stable")]
            return 0
        if places.any():
            found = found[np.argsort(places, kind="stable")]
        if self.nested:
            values = [value for code in found.tolist() for value in lane._decoded(code, "o")]
        else:
            values = self._decoded(lane, found)
        if number == TUPLE:
            structure.there = 1
            together = tuple(values)
            return int(lane.encoded(held_by(together, "any") if self.kind == "o" else together, "o"))
        result = held_by(aggregate(self.aggregate.name, values, self.aggregate.constants), self.aggregate.type)
        structure.there = int(result is not None)
        if result is None:
            return 0
        encoded = lane.encoded(result, self.result)
        return int(np.float64(encoded).view(np.int64)) if self.result == "f" else int(encoded)

    def _decoded(self, lane: GeneratedLane, found: Array) -> list[Any]:
        """The values of some 64 bits; zeros of floats have no sign."""
        match self.kind:
            case "f":
                return (found.view(np.float64) + 0.0).tolist()
            case "b":
                return (found != 0).tolist()
            case "s" | "o":
                return [lane.values.value(code) for code in found.tolist()]
            case _:
                return found.tolist()
