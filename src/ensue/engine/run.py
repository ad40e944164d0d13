"""A program at work: its strata one after the other, each in a lane that keeps its state.

Time advances from one moment to the next. All that ends up to the new moment is handed over at once, and everything
that follows from it comes back; where the moments lie makes no difference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ensue.engine.batch import Batch, Place
from ensue.engine.compiled.asking import forget_strings
from ensue.engine.compiled.lane import CompiledLane
from ensue.engine.compiled.strings import Strings
from ensue.engine.knowledge import Knowledge, Row
from ensue.engine.lanes import Lane, Plan, known_program, lane_of, plan_of
from ensue.engine.clock import Clock
from ensue.engine.network.node import Setting
from ensue.engine.network.stratum import Stratum
from ensue.engine.options import ALL, Options
from ensue.engine.sharing.groups import Decided
from ensue.engine.sizes import Size, sizes_of
from ensue.language import typed
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.feeding import awaited_rules


def places_of(program: typed.Program) -> dict[str, Place]:
    """The rank of each type, and the attributes that decide between events of it, in order."""
    return {name: (rank, tuple(event.attributes)) for rank, (name, event) in enumerate(program.events.items())}


class Run:
    """A program with its state, at a moment.

    `compiled` says how rules run that can be compiled: at once compiled, compiled as soon as there are enough events
    (None), or not. `emit` are the derived types that are wanted, all if None. `instant` says that each given event has
    one time. With `apart` rules keep their states apart, so that they can be added and removed; `texts` are strings
    that a state knows already, and `decided` is which rules share what is kept. `options` switches optimisations off.
    `rates` says how frequent events are, by which joins are ordered: a state fits a run with the same rates only.
    """

    def __init__(
        self, program: typed.Program, tables: Mapping[str, Sequence[Row]] | None = None, *, provenance: bool = False,
        compiled: bool | None = False, emit: Collection[str] | None = None, instant: bool = False, apart: bool = False,
        texts: Sequence[str | None] = (), decided: Decided | None = None, options: Options = ALL,
        rates: Rates = UNKNOWN,
    ) -> None:  # fmt: skip
        self.program = program
        self.provenance = provenance
        self.compiled = False if provenance else compiled
        self.places = places_of(program)
        self.plan: Plan | None = None
        self.changed = decided is not None
        """Whether rules have come or gone, so that they may share less than if they were new."""
        self.clock = Clock()
        self.strings = Strings()
        self.knowledge = Knowledge(program, tables or {})
        wanted = [name for name, event in program.events.items() if event.derived] if emit is None else emit
        if compiled is not False and not provenance:
            self.plan = plan_of(program, wanted, instant, apart, texts, decided, options, rates)
        self.known = known_program(program, instant, options, rates) if self.plan is None else self.plan.program
        """The program as its lanes have it: with what is known of its events, its rules rewritten."""
        alone = options.suppressing and not (apart or provenance)
        awaited = awaited_rules(self.known, wanted) if alone else {}
        setting = Setting(self.knowledge, self.known.events, self.clock, options=options, awaited=awaited)
        if self.plan is None:
            self.lanes: list[Lane] = [
                lane_of(self.known, stratum, setting, self.places, provenance, options)
                for stratum in program.strata
            ]
        else:
            self.lanes = self.plan.lanes(setting, self.places, self.strings, compiled)
            self.constants = np.array(sorted(self.plan.constants), np.int64)

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
            lane.run(batch, time)
        if self.strings.many:
            states = [lane.arrays for lane in self.lanes if isinstance(lane, CompiledLane)]
            self.strings.forget([self.constants, *(codes for arrays in states for codes in arrays.codes())])
            for arrays in states:
                forget_strings(arrays)
        return batch

    def due(self) -> int | None:
        """The next time at which something ends by itself, if no event comes before it."""
        return min((due for lane in self.lanes if (due := lane.due()) is not None), default=None)

    def sizes(self) -> list[Size]:
        """How many keys and tuples each part of the rules keeps."""
        return sizes_of(self.program, self.lanes)

    # --- state

    @property
    def decided(self) -> Decided | None:
        """Which rules share what is kept; None where none do."""
        return None if self.plan is None else self.plan.decided

    def saved(self) -> dict[str, Any]:
        return {
            "first_end": self.clock.first_end,
            "now": self.clock.now,
            "strings": list(self.strings.texts),
            "lanes": [lane.saved() for lane in self.lanes],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.clock.first_end, self.clock.now = state["first_end"], state["now"]
        self.strings.restore(state["strings"])
        for lane, kept in zip(self.lanes, state["lanes"], strict=True):
            lane.restore(kept)
