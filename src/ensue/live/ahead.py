"""Certain detections go ahead: rules whose detections no later event can change run as events arrive.

The other rules wait until a step is settled, as `progress.py` says. Those that are certain (`plan/certain.py`) take in
each event in the send that brings it. Their detections are emitted at once, and kept for the rules that wait until
its step is settled.

More events of the step at hand are no trouble: a join finds partners among those that came before in any case. An event
of an earlier step is, for a join forgets rows that later events cannot use. So where there is a lateness, copies of the
rules follow behind, up to where all is settled. When an event arrives out of order, the rules start again from their
copies, and process all waiting events once more. No event is emitted twice: events with the same content are one.

That takes time, so each event pays for some others to be processed again (`AGAIN`), and a session has some credit. Once
it is used up, events out of order wait until enough others have come, or until their step is settled.

Without a lateness there is nothing to go back to, and no copy. Where rules change or a state is resumed, all that waits
is taken in again there, too: a rule that is certain derives no more from an event that it has twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ensue.engine.batch import Batch, Columns, Row
from ensue.engine.capacity import current
from ensue.engine.generated import GeneratedLane
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.engine.single import SingleEvents
from ensue.engine.units import derived_by
from ensue.language import typed
from ensue.language.walk import asks_predicates
from ensue.live.handed import Handed
from ensue.live.waiting import Waiting

MOST_BEHIND = 1000
"""Number of events that the copies take in at once; single ones would cost as much again as the rules ahead."""

AGAIN = 16
"""Number of events that each event pays to process again. This bounds what events out of order cost."""

GOING_BACK = 250
"""Number of events that take as long as it takes to go back, before any event is processed."""


class Ahead:
    """The rules of certain types, as far as events have arrived; see the module."""

    def __init__(self, run: Run, types: Collection[str], lateness: int, before: Ahead | None, waiting: Waiting) -> None:
        self.run = run
        self.lanes = [lane for lane in run.lanes if types and set(derived_by(lane.code.together)) <= set(types)]
        self.others = [lane for lane in run.lanes if lane not in self.lanes]
        self.types = frozenset(type_ for lane in self.lanes for type_ in derived_by(lane.code.together))
        self.uses = frozenset(type_ for lane in self.lanes for type_ in lane.uses)
        self.handed: Handed = Handed() if before is None else before.handed
        self.asks = any(asks_predicates(rule) for rule in run.program.rules if rule.event in self.types)
        """True if it depends on static facts."""
        self._fed = self.types & {type_ for lane in self.others for type_ in lane.uses}
        self._behind = run.copy(self.lanes) if lateness else []
        self._settled = Waiting()
        """Batches that have been settled, and that the copies have still to take in."""
        self._settled_time: int | None = None
        self._arriving = waiting.copy()
        self._time: int | None = None
        self._arrived = 0
        """Events that have arrived since rules last went back."""
        self._credit = self._most_credit = current().again
        self._put_off: int | None = None
        """The smallest end of events out of order that the rules have not taken in."""
        self._single = SingleEvents(run, self.lanes)

    # --- what arrives

    def add_row(self, row: Row) -> None:
        if row[0] in self.uses:
            self._arrived += 1
            self._arriving.add_row(row)

    def add_columns(self, type_: str, columns: Columns, events: Mapping[str, typed.EventType]) -> None:
        if type_ in self.uses:
            self._arrived += len(columns)
            self._arriving.add_columns(type_, columns, events)

    def add_mixed(self, mixed: Mixed) -> None:
        if self.lanes:
            self._arrived += len(mixed)
            self._arriving.add_mixed(mixed)

    def evaluate(self, time: int, waiting: Waiting, settled: int) -> Batch | None:
        """Evaluates arrived events up to a time; returns new detections, or None.

        `waiting` has unsettled events, of which those that end up to `settled` are settled next.
        """
        if not self.lanes:
            return None
        arriving = self._arriving
        earliest = arriving.earliest()
        if self._time is not None and earliest is not None and earliest < self._time:
            earliest = self._take_out_of_order(self._time, earliest)
        if self._put_off is not None and (self._put_off <= settled or self._can_pay(waiting)):
            self.go_back(waiting)
        elif self._single.due > time:
            if earliest is None:
                return None
            row = arriving.take_single(time)
            if row is not None:
                return self._step(row, time)
        return self._evaluate_batches(time)

    def _take_out_of_order(self, time: int, earliest: int) -> int | None:
        """Takes out what ends before a time, from `earliest` on; returns the smallest end of the rest.

        It waits elsewhere, too, from where rules that go back take it.
        """
        self._put_off = earliest if self._put_off is None else min(earliest, self._put_off)
        self._arriving.take_tables(time - 1)
        self._arriving.take(time - 1, self.run.program.events)
        return self._arriving.earliest()

    def _can_pay(self, waiting: Waiting) -> bool:
        """Pays for all waiting events to be processed again, if there is enough credit."""
        credit = min(self._credit + AGAIN * self._arrived, self._most_credit + waiting.count) - waiting.count
        if credit < GOING_BACK:
            return False
        self._credit = credit - GOING_BACK
        self._arrived = 0
        return True

    def _step(self, row: Row, time: int) -> Batch | None:
        """Goes on with one event, when nothing is due."""
        found = self._single.step(row, time)
        self._time = time
        if found is not None:
            found.rows = []
            self.handed.new(found, self.types)
        return found if found is not None and (found.derived or found.derived_columns) else None

    def _evaluate_batches(self, time: int) -> Batch | None:
        """Goes on with all that has arrived."""
        found: Batch | None = None
        for batch, moment in batches(self.run, self._arriving, time):
            self.run.run_lanes(self.lanes, batch, moment)
            own = self.run.batch()
            own.derived, own.derived_columns = batch.derived, batch.derived_columns
            found = own if found is None else own.after(found)
        self._time = time
        self._single.look()
        assert found is not None
        found.before = None
        self.handed.new(found, self.types)
        return found if found.derived or found.derived_columns else None

    def go_back(self, waiting: Waiting) -> None:
        """Goes back to where all is settled; all that waits is still to be taken in."""
        if self._behind:
            self.follow()
            for lane, copy in zip(self.lanes, self._behind, strict=True):
                lane.copy_from(copy)
        self._arriving = waiting.copy()
        self._time = self._put_off = None
        self._single.look()

    def look(self) -> None:
        """Looks when something is due, after rules have been told of other facts."""
        self._single.look()

    # --- what is settled

    def feed(self, batch: Batch, time: int) -> None:
        """Puts into a batch the detections of certain rules that waiting rules read, up to a time."""
        self.handed.settle(time, self.types, self._fed, batch)

    def settle(self, batch: Batch, time: int) -> None:
        """Settles all steps up to a time, and leaves in the batch the detections that have not been emitted.

        Of types that were certain before rules changed, some may have been emitted.
        """
        for type_ in self.types:
            batch.derived.pop(type_, None)
            batch.derived_columns.pop(type_, None)
        if not self.types.issuperset(self.handed.types):
            before = set(self.handed.types) - self.types
            for type_ in before:
                self.handed.leave_new(batch, type_)
            self.handed.settle(time, before, (), batch)
        if not self._behind:
            return
        for row in batch.rows:
            if row[0] in self.uses:
                self._settled.add_row(row)
        for type_, columns in batch.given.items():
            if type_ in self.uses:
                self._settled.add_columns(type_, columns)
        if batch.mixed is not None:
            self._settled.add_mixed(batch.mixed)
        self._settled_time = time
        if batch.given or batch.mixed is not None or self._settled.count > MOST_BEHIND:
            self.follow()

    def has_handed_none(self, time: int) -> bool:
        """Tell whether nothing that ends up to a time was handed out."""
        handed = self.handed
        return not handed.types or (self.types.issuperset(handed.types) and not handed.has(time))

    def settle_row(self, row: Row, time: int) -> None:
        """Takes note of one event that is settled, when nothing that ends with it has been handed out."""
        if self._behind:
            if row[0] in self.uses:
                self._settled.add_row(row)
            self._settled_time = time
            if self._settled.count > MOST_BEHIND:
                self.follow()

    def follow(self) -> None:
        """Let the copies take in all that is settled."""
        if self._settled_time is not None:
            for batch, moment in batches(self.run, self._settled, self._settled_time):
                self.run.run_lanes(self._behind, batch, moment)

    # --- state

    def settled_lanes(self) -> list[GeneratedLane]:
        """The lanes as they are where all is settled; without a lateness, those that are certain as far as they are."""
        if not self._behind:
            return self.run.lanes
        self.follow()
        copies = dict(zip(map(id, self.lanes), self._behind, strict=True))
        return [copies.get(id(lane), lane) for lane in self.run.lanes]

    def saved(self) -> list[Any]:
        """Detections that were emitted before they were settled."""
        return self.handed.saved(self.run.batch())

    def restore(self, state: Iterable[Any], waiting: Waiting) -> None:
        """Goes on from a state, when the lanes have been restored."""
        self.handed.restore(state, self.run.batch())
        for lane, copy in zip(self.lanes, self._behind, strict=bool(self._behind)):
            copy.copy_from(lane)
        self._arriving = waiting.copy()
        self._single.look()


def batches(run: Run, waiting: Waiting, time: int) -> Iterator[tuple[Batch, int]]:
    """Takes events that end up to a time as batches, each with the time up to which it goes."""
    tables = waiting.take_tables(time)
    batch = run.batch()
    batch.rows, batch.given = waiting.take(time, run.program.events)
    if batch.rows or batch.given or not tables:
        yield batch, int(tables[0].end[0]) - 1 if tables else time
    for table in tables:
        batch = run.batch()
        batch.mixed = table
        yield batch, time if table is tables[-1] else int(table.end[-1])
