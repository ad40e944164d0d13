"""How far a session has come: what waits, up to where time has been evaluated, and the engine with its state.

A step of time, all events with one end, is evaluated when it is complete. With a lateness an event may come so much
after others that end later; so once the largest end seen is `M`, all that ends before ``M - lateness`` is complete.
What ends no later than the time evaluated is late, and takes no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensue.engine.batch import Batch, Row, rows_of
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.live.sent import Sent
from ensue.live.waiting import Waiting


class Progress:
    """The events seen so far, as far as they still matter."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.lateness = 0
        self.waiting = Waiting()
        self.time: int | None = None
        self.largest: int | None = None
        self.first: int | None = None
        self.received = 0
        self.late = 0
        self.due: int | None = None
        self.limit: int | None = None
        """The end of time, if it is known beforehand: what ends later does not count."""

    def begin(self, run: Run, lateness: int) -> None:
        """The engine to use from now on."""
        self.run = run
        self.lateness = lateness
        self.due = run.due()

    def take_row(self, row: Row, used: bool) -> bool:
        """Takes in one event; whether it came in time. Of types that the rules do not use, only the end matters."""
        self.received += 1
        end = row[3]
        if self.time is not None and end <= self.time:
            self.late += used
            return not used
        if used:
            self.waiting.add_row(row)
        self._see(end)
        return True

    def take(self, sent: Sent, events: Mapping[str, typed.EventType]) -> list[Row]:
        """Takes in all events of a send; those that are late come back."""
        self.received += sent.count
        time = EARLIEST - 1 if self.time is None else self.time
        late = [row for row in sent.rows if row[3] <= time]
        for row in sent.rows:
            if row[3] > time:
                self.waiting.add_row(row)
                self._see(row[3])
        for type_, columns in sent.columns.items():
            before, rest = columns.upto(time) if time >= EARLIEST else (columns.slice(0, 0), columns)
            late.extend(rows_of(type_, before, events))
            if len(rest):
                self.waiting.add_columns(type_, rest)
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
        return None if self.largest is None else self.evaluate(self.largest - self.lateness - 1)

    def evaluate(self, time: int) -> Batch | None:
        """Evaluates all steps up to a time; None where nothing ends in them."""
        run = self.run
        if self.limit is not None:
            time = min(time, self.limit)
        if run is None or time < EARLIEST or (self.time is not None and time <= self.time):
            return None
        self.time = time
        first = self.first if self.first is not None and self.first <= time else None
        idle = run.clock.first_end is not None or first is None
        if idle and not self.waiting.has(time) and (self.due is None or self.due > time):
            return None
        before, mixed = self.waiting.take_mixed(time)
        batch = run.batch()
        batch.rows, batch.given = self.waiting.take(time, run.program.events)
        if mixed is None:
            run.advance(batch, time, first)
        elif before is None:
            batch.mixed = mixed
            run.advance(batch, time, first)
        else:
            earlier, batch = batch, run.batch()
            run.advance(earlier, before, first)
            batch.mixed = mixed
            run.advance(batch, time, first)
            batch.after(earlier)
        self.due = run.due()
        return batch

    # --- state

    def saved(self) -> dict[str, Any]:
        run = self.run
        return {
            "time": self.time,
            "largest": self.largest,
            "first": self.first,
            "received": self.received,
            "late": self.late,
            "waiting": [] if run is None else self.waiting.all_rows(run.program.events),
            "decided": None if run is None or not run.changed else run.decided.saved(),
            "run": None if run is None else run.saved(),
        }

    def continue_from(self, other: Progress) -> None:
        """Has come as far as another, with an engine of its own. Nothing waits there."""
        self.time, self.largest, self.first = other.time, other.largest, other.first
        self.received, self.late = other.received, other.late

    def restore(self, state: Mapping[str, Any]) -> None:
        self.time, self.largest, self.first = state["time"], state["largest"], state["first"]
        self.received, self.late = state["received"], state["late"]
        for row in state["waiting"]:
            self.waiting.add_row(row)
        if self.run is not None:
            self.run.restore(state["run"])
            self.due = self.run.due()
