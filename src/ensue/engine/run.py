"""A program at work: its strata one after the other, each in a lane that keeps its state.

Time advances from one moment to the next. All that ends up to the new moment is handed over at once, and everything that
follows from it comes back; where the moments lie makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ensue.engine.batch import Batch, Place
from ensue.engine.knowledge import Knowledge, Row
from ensue.engine.network.node import Clock, Setting
from ensue.engine.network.stratum import Stratum
from ensue.language import typed


def places_of(program: typed.Program) -> dict[str, Place]:
    """The rank of each type, and the attributes that decide between events of it, in order."""
    return {name: (rank, tuple(event.attributes)) for rank, (name, event) in enumerate(program.events.items())}


class Run:
    """A program with its state, at a moment."""

    def __init__(
        self, program: typed.Program, tables: Mapping[str, Sequence[Row]] | None = None, *, provenance: bool = False
    ) -> None:
        self.program = program
        self.provenance = provenance
        self.places = places_of(program)
        self.clock = Clock()
        setting = Setting(Knowledge(program, tables or {}), program.events, self.clock)
        self.lanes = [Stratum(program, stratum, setting, self.places, provenance) for stratum in program.strata]

    def batch(self) -> Batch:
        """An empty batch, to be filled with events."""
        return Batch(self.places, self.program.events, provenance=self.provenance)

    def advance(self, batch: Batch, time: int, first_end: int | None = None) -> Batch:
        """Moves time on, and derives what ends up to then.

        The batch holds every event that ends after the moment before and up to this one. `first_end` is the smallest
        end among these, whatever their type.
        """
        if self.clock.first_end is None:
            self.clock.first_end = first_end
        self.clock.now = time
        for lane in self.lanes:
            batch.add(lane.advance(batch.events(lane.uses), time))
        return batch

    def due(self) -> int | None:
        """The next time at which something ends by itself, if no event comes before it."""
        return min((due for lane in self.lanes if (due := lane.due()) is not None), default=None)

    # --- state

    def saved(self) -> dict[str, Any]:
        return {
            "first_end": self.clock.first_end,
            "now": self.clock.now,
            "lanes": [lane.saved() for lane in self.lanes],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.clock.first_end, self.clock.now = state["first_end"], state["now"]
        for lane, kept in zip(self.lanes, state["lanes"], strict=True):
            lane.restore(kept)
