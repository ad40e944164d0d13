"""Values that were collected for Python to look at: lists, and aggregates that only Python computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.engine.structures.structure import Column, Frame, Layout, Structure
from ensue.values import aggregate
from ensue.values import held as held_by

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane

FIRST_VALUES = 16

RESULT, TUPLE = 0, 1
"""What Python is asked: the aggregate of what was collected, or all of it as one value."""


def collected_layout() -> Layout:
    return Layout(("count", "capacity", "there"), (("value", Column("values")),))


class Collected(Structure):
    """Values as 64 bits, one after the other; `there` says whether the last answer was one."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.put("values", np.zeros(FIRST_VALUES, np.int64))
        self.capacity = FIRST_VALUES

    def grow(self) -> None:
        old = self.arrays["values"]
        self.put("values", np.concatenate([old, np.zeros_like(old)]))
        self.capacity = 2 * len(old)


def collect(collected: Collected, value: int) -> None:
    """Adds a value."""
    if collected.count == collected.capacity:
        grow(collected)
    collected.value[collected.count] = value
    collected.count += 1


@dataclass(frozen=True)
class Collection:
    """What is asked about collected values: an aggregate. `nested` are those that are collected lists themselves."""

    name: str
    kind: str
    result: str
    backwards: bool
    nested: bool

    def answer(self, lane: GeneratedLane, structure: Any, number: int) -> int:
        found = structure.arrays["values"][: structure.count].tolist()
        if self.backwards:
            found.reverse()
        if self.nested:
            values = [value for code in found for value in lane._decoded(code, "o")]
        else:
            values = [lane._decoded(value, self.kind) for value in found]
        if number == TUPLE:
            structure.there = 1
            return int(lane._encoded(tuple(values), "o"))
        result = held_by(aggregate(self.name, values), "any")
        structure.there = int(result is not None)
        if result is None:
            return 0
        encoded = lane._encoded(result, self.result)
        return int(np.float64(encoded).view(np.int64)) if self.result == "f" else int(encoded)
