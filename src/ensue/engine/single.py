"""Single events through a run: each goes to the units that take its type, by one call of their code.

An event that comes alone mostly derives nothing. So it is written where code reads it, the code runs, and one number
says whether there is anything to hand over. A batch is made only then, and goes through the units that follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.batch import Batch, Row
from ensue.engine.generate.unit import NEVER
from ensue.engine.generated import GeneratedLane
from ensue.engine.run import Run
from ensue.errors import LimitError

OFTEN = 63
"""After so many events, and one, values that nothing refers to are looked for; one less than a power of two."""


class SingleEvents:
    """The way of single events through some lanes of a run."""

    def __init__(self, run: Run, lanes: Sequence[GeneratedLane]) -> None:
        self._run, self._lanes = run, lanes
        self._takers: dict[str, list[tuple[int, GeneratedLane]]] = {}
        self._steps = 0
        self.due = -NEVER
        """A time before which nothing ends by itself in these lanes, as far as it is known; see `look`."""

    def look(self) -> None:
        """Looks when something ends by itself, after something else than `step` has changed lanes."""
        due = self._run.due(self._lanes)
        self.due = NEVER if due is None else due

    def step(self, row: Row, time: int) -> Batch | None:
        """Takes in an event without a number in a sequence, when nothing is due up to a time; None if nothing follows.

        Lanes must have seen the first event of all.
        """
        run, takers = self._run, self._takers.get(row[0])
        if takers is None:
            takers = [(number, lane) for number, lane in enumerate(self._lanes) if row[0] in lane.uses]
            self._takers[row[0]] = takers
        for number, lane in takers:
            if not lane.ready and not lane.prepare():
                return self._go_on(self._batch(row), number, time)
            try:
                found = lane.step(row, time)
                if found:
                    batch = self._batch(row)
                    lane.hand_over(batch)
                if lane.clears:
                    lane.end_step()
                if found and number + 1 < len(self._lanes):
                    return self._go_on(batch, number + 1, time)
                due = lane.next_due
                if due is None:
                    self.look()
                elif due < self.due:
                    self.due = due
                if found:
                    return batch if batch.derived or batch.derived_columns else None
            except LimitError as error:
                if not run.lasts:
                    raise
                lane.start_over(time)
                run.exceeded.append(error)
                self.look()
        self._steps += 1
        if not self._steps & OFTEN and run.values.many:
            run.forget_values()
            self.look()
        return None

    def _batch(self, row: Row) -> Batch:
        batch = self._run.batch()
        batch.rows.append(row)
        return batch

    def _go_on(self, batch: Batch, number: int, time: int) -> Batch | None:
        """Lets the lanes from a number on take in a batch."""
        self._run.run_lanes(self._lanes[number:], batch, time)
        self.look()
        return batch if batch.derived or batch.derived_columns else None
