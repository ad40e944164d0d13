"""A program at work: units of generated code one after the other, each with its state.

Time advances from one moment to the next. All events that end up to the new moment are taken in at once, and the
derived ones are returned; the choice of moments makes no difference.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ensue.data.errors import DataError
from ensue.engine.assembly import Generated, generate
from ensue.engine.batch import Batch, TypeRank
from ensue.engine.capacity import current
from ensue.engine.clock import Clock
from ensue.engine.generated import GeneratedLane
from ensue.engine.knowledge import Knowledge, Row
from ensue.engine.lasting import as_before, check_as_before
from ensue.engine.limits import Budget, Limits, allowed
from ensue.engine.options import ALL, Options
from ensue.engine.rule_groups import FamilyAssignment
from ensue.engine.sizes import Size, sizes_of
from ensue.engine.structures.values import Dictionary
from ensue.engine.units import decided_of, planner_of, units_of
from ensue.errors import LimitError
from ensue.language import typed
from ensue.plan.deep import deep_plans
from ensue.records import dataclass
from ensue.rewriting import rewritten
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.instants import with_instants
from ensue.temporal.lengths import without_lengths

MOST_PLANS = 64
"""Most programs whose code is kept, in case they run again."""


def places_of(program: typed.Program) -> dict[str, TypeRank]:
    """The rank of each type, and the attributes that order its events."""
    return {name: (rank, tuple(event.attributes)) for rank, (name, event) in enumerate(program.events.items())}


@dataclass(frozen=True)
class Prepared:
    """A program as it runs: its rules rewritten, and the code of its units."""

    program: typed.Program
    codes: tuple[Generated, ...]
    decided: FamilyAssignment
    """The assignment of rules to shared state, which later rules must respect."""


_prepared: OrderedDict[tuple[Any, ...], tuple[typed.Program, Prepared]] = OrderedDict()


def known_program(
    program: typed.Program,
    instant: bool,
    options: Options,
    rates: Rates = UNKNOWN,
    decided: FamilyAssignment | None = None,
) -> typed.Program:
    """The program as it runs: with known lengths of its events, and its rules rewritten."""
    known = with_instants(program) if instant else program
    known = known if options.lengths else without_lengths(known)
    if decided is not None:
        known = as_before(known, decided.lengths)
    return rewritten(known, rates, options.ordering) if options.rewriting else known


def prepare(
    program: typed.Program, emit: Collection[str], instant: bool = False, apart: bool = False,
    decided: FamilyAssignment | None = None, options: Options = ALL, rates: Rates = UNKNOWN, provenance: bool = False,
    counted: bool = False,
) -> Prepared:  # fmt: skip
    """The code of a program. `emit` are the wanted types; `instant` is True if given events have one time each.

    With `apart` each stratum is a unit of its own, so that rules can be added and removed; `decided` is the earlier
    assignment. Joins are ordered by `rates`. With `counted` operators count their matches. The latest results are
    cached.
    """
    wanted = frozenset(emit)
    key = (id(program), wanted, instant, apart, decided, options, rates, provenance, counted, current())
    if key in _prepared:
        return _prepared[key][1]
    known = known_program(program, instant, options, rates, decided)
    shared = replace(options, sharing=options.sharing and not provenance)
    planner = planner_of(known, options, apart)
    with deep_plans():
        units = units_of(known, wanted, apart, decided, shared)
        codes = tuple(generate(unit, unit.emit, planner, provenance, counted) for unit in units)
    found = Prepared(known, codes, decided_of(known, codes))
    _prepared[key] = (program, found)
    if len(_prepared) > MOST_PLANS:
        _prepared.popitem(last=False)
    return found


class Run:
    """A program with its state, at a moment.

    `compiled` says how rules run: as machine code at once, as soon as there are enough events (None), or never. With
    `background` a thread makes it from the first event on, and nobody waits for it unless many come at once. `emit`
    are the derived types that are wanted, all if None. `instant` says that each given event has one time. With `apart`
    rules keep their states apart, so that they can be added and removed; `decided` is which rules share what is kept.
    `options` switches optimisations off. `rates` says how frequent events are, by which joins are ordered: a state fits
    a run with the same rates only. With `counted` operators count what they hand on.
    """

    def __init__(
        self, program: typed.Program, tables: Mapping[str, Sequence[Row]] | None = None, *, provenance: bool = False,
        compiled: bool | None = False, emit: Collection[str] | None = None, instant: bool = False, apart: bool = False,
        decided: FamilyAssignment | None = None, options: Options = ALL, rates: Rates = UNKNOWN, counted: bool = False,
        limits: Limits | None = None, background: bool = False,
    ) -> None:  # fmt: skip
        self.program = program
        self.limits = allowed() if limits is None else limits
        self.budget = Budget(self.limits.most_bytes)
        self.lasts = False
        """True if rules that exceed a limit start over, and the others go on; else the error is raised at once."""
        self.exceeded: list[LimitError] = []
        self.provenance = provenance
        self.compiled = compiled
        self.places = places_of(program)
        self.changed = decided is not None
        """True if rules have come or gone, so that they may share less than if they were new."""
        self.clock = Clock()
        capacity = current()
        self.values = Dictionary(capacity)
        self.knowledge = Knowledge(program, tables or {})
        wanted = [name for name, event in program.events.items() if event.derived] if emit is None else emit
        self.prepared = prepare(program, wanted, instant, apart, decided, options, rates, provenance, counted)
        self.known = self.prepared.program
        # fmt: off
        self.lanes = [
            GeneratedLane(
                self.known, code, self.knowledge, self.clock, compiled, self.values, capacity, self.limits,
                self.budget, background,
            )
            for code in self.prepared.codes
        ]
        # fmt: on
        self.copies: list[GeneratedLane] = []

    def batch(self) -> Batch:
        """An empty batch, to be filled with events."""
        return Batch(self.places, self.program.events, provenance=self.provenance)

    def advance(
        self, batch: Batch, time: int, first_end: int | None = None, lanes: Sequence[GeneratedLane] | None = None
    ) -> Batch:
        """Advance time, and derive events that end up to then.

        The batch holds every event that ends after the previous moment and up to this one. `first_end` is the smallest
        end among these, whatever their type. With `lanes` only these take part.
        """
        if self.clock.first_end is None:
            self.clock.first_end = first_end
        self.clock.now = time
        self.run_lanes(self.lanes if lanes is None else lanes, batch, time)
        return batch

    def know(self, program: typed.Program, tables: Mapping[str, Sequence[Row]]) -> None:
        """Switch to other static facts: those of a program, and those of tables."""
        self.knowledge = Knowledge(program, tables)
        for lane in (*self.lanes, *self.copies):
            lane.know(self.knowledge)

    def run_lanes(self, lanes: Iterable[GeneratedLane], batch: Batch, time: int) -> None:
        """Run some lanes on a batch, independently of the current moment of the others."""
        for lane in lanes:
            try:
                lane.run(batch, time)
            except LimitError as error:
                if not self.lasts:
                    raise
                lane.start_over(time)
                self.exceeded.append(error)
        if self.values.many:
            self.forget_values()

    def forget_values(self) -> None:
        """Forgets values that nothing refers to."""
        every = [*self.lanes, *self.copies]
        self.values.forget([codes for lane in every for codes in lane.used_codes()])
        for lane in every:
            lane.forget_answers()

    def end(self) -> None:
        """Says that nothing more comes, so that no code need be made."""
        for lane in (*self.lanes, *self.copies):
            lane.background = False

    def copy(self, lanes: Iterable[GeneratedLane]) -> list[GeneratedLane]:
        """Copies of lanes with their state, independent from here on; the dictionary is the same."""
        made = [lane.twin() for lane in lanes]
        self.copies += made
        return made

    def due(self, lanes: Sequence[GeneratedLane] | None = None) -> int | None:
        """The next time at which a timer or waiting match is due, if no event comes before it."""
        lanes = self.lanes if lanes is None else lanes
        return min((due for lane in lanes if (due := lane.due()) is not None), default=None)

    def sizes(self) -> list[Size]:
        """Numbers of keys and tuples that each part of the rules keeps."""
        return sizes_of(self.lanes)

    def suppressed(self) -> dict[int, int]:
        """Number of events that each rule with an output rate has suppressed, by the rule's number."""
        return {number: count for lane in self.lanes for number, count in lane.suppressed()}

    # --- state

    @property
    def decided(self) -> FamilyAssignment:
        """The assignment of rules to shared state."""
        return self.prepared.decided

    def saved(self, lanes: Sequence[GeneratedLane] | None = None) -> dict[str, Any]:
        """The state; `lanes` replace its own where given."""
        return {
            "first_end": self.clock.first_end,
            "now": self.clock.now,
            "values": self.values.saved(),
            "lanes": [lane.saved() for lane in (self.lanes if lanes is None else lanes)],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.clock.first_end, self.clock.now = state["first_end"], state["now"]
        self.values.restore(state["values"])
        for lane, kept in zip(self.lanes, state["lanes"], strict=True):
            lane.restore(kept)

    def take_over(self, old: Run, time: int | None) -> None:
        """Take over the state of another run for the rules that both have; new rules begin after a time."""
        if old.program.keep != self.program.keep:
            raise DataError("How long events are kept (`keep`) cannot change while rules run. Start another session.")
        check_as_before(old.program, old.known.events, self.program, self.known.events)
        self.clock.first_end, self.clock.now = old.clock.first_end, old.clock.now
        self.values.restore(old.values.saved())
        for lane in self.lanes:
            lane.take_over(old.lanes, time)
