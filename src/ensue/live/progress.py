"""Progress of a session: waiting events, the time up to which it is evaluated, and the engine with its state.

A step of time, all events with one end, is evaluated when it is complete; certain detections go `ahead`. With a
lateness an event may come so much after others that end later; so once the largest end seen is `M`, all that ends
before ``M - lateness`` is complete. An event that ends no later than the evaluated time is late, and takes no part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ensue.engine.batch import Batch, Row, rows_of
from ensue.engine.generate.unit import NEVER
from ensue.engine.generated import GeneratedLane
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.engine.single import SingleEvents
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.live.ahead import Ahead, batches
from ensue.live.sent import Sent
from ensue.live.waiting import Waiting


class Progress:
    """The events seen so far, as far as they still matter."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.ahead: Ahead | None = None
        self.lateness = 0
        self.waiting = Waiting()
        self.time: int | None = None
        self.largest: int | None = None
        self.first: int | None = None
        self.received = 0
        self.late = 0
        self.told: frozenset[str] = frozenset()
        """Types whose given events are told when they are evaluated."""
        self._single: SingleEvents | None = None
        self.limit: int | None = None
        """The end of time, if it is known beforehand: events that end later do not count."""

    def begin(self, run: Run, lateness: int, certain: Collection[str]) -> None:
        """Sets the engine to use from now on, and the types that are emitted as soon as they are certain."""
        self.waiting.split()
        self.run = run
        self.lateness = lateness
        if certain or self.ahead is not None:
            self.ahead = Ahead(run, certain, lateness, self.ahead, self.waiting)
        self._single = SingleEvents(run, self._lanes)
        self._single.look()

    @property
    def due(self) -> int | None:
        """A time before which nothing ends by itself; None if nothing does."""
        return None if self._single is None or self._single.due >= NEVER else self._single.due

    @property
    def _lanes(self) -> list[GeneratedLane]:
        """The lanes that wait until a step is complete."""
        assert self.run is not None
        return self.run.lanes if self.ahead is None else self.ahead.others

    def know(self, program: typed.Program, tables: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Goes on with other static facts, which count for all that has not been evaluated."""
        if self.ahead is not None and self.ahead.asks:
            self.ahead.go_back(self.waiting)
        if self.run is not None and self._single is not None:
            self.run.know(program, tables)
            self._single.look()
            if self.ahead is not None:
                self.ahead.look()

    def go_back(self) -> None:
        """Reset the rules that are ahead to the evaluated time, so that another engine can take over the state."""
        if self.ahead is not None:
            self.ahead.go_back(self.waiting)

    def take_row(self, row: Row, used: bool) -> bool:
        """Takes in one event; True if it came in time. Of types that the rules do not use, only the end matters."""
        self.received += 1
        end = row[3]
        if self.time is not None and end <= self.time:
            self.late += used
            return not used
        if used:
            self.waiting.add_row(row)
            if self.ahead is not None:
                self.ahead.add_row(row)
        if self.largest is None or self.first is None:
            self.largest = self.first = end
        elif end > self.largest:
            self.largest = end
        elif end < self.first:
            self.first = end
        return True

    def _add_row(self, row: Row) -> None:
        self.waiting.add_row(row)
        if self.ahead is not None:
            self.ahead.add_row(row)

    def take(self, sent: Sent, events: Mapping[str, typed.EventType]) -> list[Row]:
        """Takes in all events of a send; those that are late come back."""
        self.received += sent.count
        time = EARLIEST - 1 if self.time is None else self.time
        late = [row for row in sent.rows if row[3] <= time]
        for row in sent.rows:
            if row[3] > time:
                self._add_row(row)
                self._see(row[3])
        for type_, columns in sent.columns.items():
            before, rest = columns.upto(time) if time >= EARLIEST else (columns.slice(0, 0), columns)
            late.extend(rows_of(type_, before, events))
            if len(rest):
                self.waiting.add_columns(type_, rest, events)
                if self.ahead is not None:
                    self.ahead.add_columns(type_, rest, events)
                self._see(int(rest.end[0]))
                self._see(int(rest.end[-1]))
        if sent.mixed is not None:
            late.extend(self._take_mixed(sent.mixed, time, events))
        for end in sent.ends:
            if end > time:
                self._see(end)
        self.late += len(late)
        return late

    def _take_mixed(self, mixed: Mixed, time: int, events: Mapping[str, typed.EventType]) -> list[Row]:
        late: list[Row] = []
        if mixed.end[0] <= time:
            before, mixed = mixed.upto(time)
            late = [row for type_, columns in before.by_type().items() for row in rows_of(type_, columns, events)]
        if len(mixed):
            self.waiting.add_mixed(mixed)
            if self.ahead is not None:
                self.ahead.add_mixed(mixed)
            self._see(int(mixed.end[0]))
            self._see(int(mixed.end[-1]))
        return late

    def _see(self, end: int) -> None:
        if self.largest is None or end > self.largest:
            self.largest = end
        if self.first is None or end < self.first:
            self.first = end

    def evaluate_complete(self) -> Batch | None:
        """Evaluates every step that is complete."""
        if self.largest is None:
            return None
        time = self.largest - self.lateness - 1
        return self._settle(time) if self.ahead is None else self.evaluate(time)

    def evaluate(self, time: int) -> Batch | None:
        """Evaluates all steps up to a time, and certain rules beyond it; None where nothing is found."""
        ahead = self.ahead
        if ahead is None:
            return self._settle(time)
        found = ahead.evaluate(time if self.largest is None else max(time, self.largest), self.waiting, time)
        settled = self._settle(time)
        if settled is None or found is None:
            return settled or found
        settled.derived.update(found.derived)
        settled.derived_columns.update(found.derived_columns)
        return settled

    def _settle(self, time: int) -> Batch | None:
        """Evaluates all steps up to a time; None where nothing ends in them."""
        run, single = self.run, self._single
        if self.limit is not None:
            time = min(time, self.limit)
        if run is None or single is None or time < EARLIEST or (self.time is not None and time <= self.time):
            return None
        self.time = time
        first = self.first if self.first is not None and self.first <= time else None
        if single.due > time and (first is None or run.clock.first_end is not None):
            if self.ahead is None or self.ahead.has_handed_none(time):
                row = self.waiting.take_single(time)
                if row is not None:
                    run.clock.now = time
                    found = single.step(row, time)
                    if self.ahead is not None:
                        self.ahead.settle_row(row, time)
                    if found is None and row[0] in self.told:
                        found = run.batch()
                        found.rows.append(row)
                    return found
            if not self.waiting.has(time):
                return None
        return self._settle_batches(run, time, first)

    def _settle_batches(self, run: Run, time: int, first: int | None) -> Batch | None:
        """Evaluates all that waits up to a time; `first` is the smallest end of all."""
        ahead, lanes = self.ahead, self._lanes
        found: Batch | None = None
        for batch, moment in batches(run, self.waiting, time):
            if ahead is not None:
                ahead.feed(batch, moment)
            run.advance(batch, moment, first, lanes)
            if ahead is not None:
                ahead.settle(batch, moment)
            found = batch if found is None else batch.after(found)
        assert self._single is not None
        self._single.look()
        return found

    # --- state

    def saved(self) -> dict[str, Any]:
        run, ahead = self.run, self.ahead
        return {
            "time": self.time,
            "largest": self.largest,
            "first": self.first,
            "received": self.received,
            "late": self.late,
            "waiting": [] if run is None else self.waiting.all_rows(run.program.events),
            "decided": None if run is None or not run.changed else run.decided.saved(),
            "run": None if run is None else run.saved(None if ahead is None else ahead.settled_lanes()),
            "ahead": [] if ahead is None else ahead.saved(),
        }

    def continue_from(self, other: Progress) -> None:
        """Takes over the times and counters of another progress, in which no event waits; keeps its own engine."""
        self.time, self.largest, self.first = other.time, other.largest, other.first
        self.received, self.late = other.received, other.late

    def restore(self, state: Mapping[str, Any]) -> None:
        self.time, self.largest, self.first = state["time"], state["largest"], state["first"]
        self.received, self.late = state["received"], state["late"]
        for row in state["waiting"]:
            self.waiting.add_row(row)
        if self.run is not None:
            self.run.restore(state["run"])
            if self.ahead is not None:
                self.ahead.restore(state["ahead"], self.waiting)
            assert self._single is not None
            self._single.look()
