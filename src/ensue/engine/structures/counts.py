"""Counts of an observed unit: the matches of each operator, and the most that each structure held.

Generated code counts; at the end of a step Python reads the sizes of the structures, the less often the larger they
are. Other units have no counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ensue.engine.structure import Frame, Layout
from ensue.engine.structures.rows import Constants, numbers_layout

STRUCTURE = "counts"
WAIT = "steps_until_look"


class Counts(Constants):
    """A number for each operator, and ``steps_until_look``; `most` is by the name of a structure."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.most: dict[str, int] = {}

    def of(self, name: str) -> int:
        """The count under a name."""
        found: int = getattr(self, name)
        return found


def counts_layout(names: Iterable[str]) -> Layout:
    return numbers_layout((WAIT, *names))


class Look:
    """Reads the sizes of a state's structures, when generated code calls it."""

    def answer(self, lane: Any, counts: Any, number: int) -> int:
        total = 0
        for name, spec in lane.code.unit.structures.items():
            if spec.kind.keeps:
                tuples = lane.structures[name].size()[1]
                counts.most[name] = max(counts.most.get(name, 0), tuples)
                total += tuples
        counts.steps_until_look = total // 16
        return 0
