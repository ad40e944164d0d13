"""Detections that have not been returned yet: the send that found them was interrupted, or still calls functions.

The call that found them returns them when all functions have been called. If it fails before that, the next answer
holds them; and a state that is saved in between has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ensue.data.form import Form
from ensue.data.give_back import give_back
from ensue.engine.batch import Batch
from ensue.engine.event import Event
from ensue.live.detections import Shown, derived
from ensue.live.sent import ROWS
from ensue.records import dataclass


@dataclass
class Found:
    """The detections of one evaluation; `holder` is the call that is about to return them."""

    batch: Batch
    holder: object = None


class Owed:
    """All detections that are still to be returned."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        """Detections in order."""

    def __bool__(self) -> bool:
        return bool(self.found)

    def add(self, batch: Batch) -> None:
        """Add new detections."""
        self.found.append(Found(batch))

    def take(self, holder: object) -> list[Found]:
        """Take what nobody else is about to give back."""
        mine = [found for found in self.found if found.holder is None]
        for found in mine:
            found.holder = holder
        return mine

    def leave(self, holder: object) -> None:
        """Leave for the next answer what could not be given back."""
        for found in self.found:
            if found.holder is holder:
                found.holder = None

    def give_rows(self, shown: Shown, wanted: Iterable[str]) -> list[dict[str, Any]]:
        """Return as rows what one evaluation found, where no function is to be called: the usual case, at less cost."""
        (found,) = self.found
        if found.holder is not None:
            return []
        found.holder = self
        try:
            rows = [shown.row(event) for event in derived(found.batch, wanted)]
            self.found = [each for each in self.found if each is not found]
        except BaseException:
            found.holder = None
            raise
        return rows

    def give(self, mine: list[Found], shown: Shown, wanted: Iterable[str], form: Form) -> Any:
        """Return the taken detections, in a form."""
        wanted = list(wanted)
        if form is ROWS or form == ROWS:
            answer: Any = [shown.row(event) for found in mine for event in derived(found.batch, wanted)]
        elif len(mine) < 2:
            answer = shown.back(mine[0].batch if mine else None, wanted, form)
        else:
            parts = [shown.tables(found.batch, wanted) for found in mine]
            tables = {name: pa.concat_tables([part[name] for part in parts]) for name in wanted}
            answer = give_back(tables, form)
        if len(mine) == len(self.found):
            self.found = []
        elif mine:
            self.found = [found for found in self.found if all(found is not own for own in mine)]
        return answer

    # --- state

    def saved(self, wanted: Iterable[str]) -> list[Any]:
        names = list(wanted)
        return [[plain(event) for event in derived(found.batch, names)] for found in self.found]

    def restore(self, state: Iterable[Any], batch_of: Callable[[], Batch]) -> None:
        for events in state:
            batch = batch_of()
            batch.add(restored(event, batch) for event in events)
            self.found.append(Found(batch))


def plain(event: Event) -> list[Any]:
    """An event as plain values."""
    given = event.identity if isinstance(event.identity, int) else None
    return [event.type, dict(event.attributes), event.start, event.end, event.sequence, given, sorted(event.sources)]


def restored(saved: Any, batch: Batch) -> Event:
    """The event that was saved as plain values."""
    type_, attributes, start, end, sequence, given, sources = saved
    if given is not None:
        return batch.event((type_, attributes, start, end, sequence, given))
    event = batch.derived_event((type_, attributes, start, end, None, -1))
    event.sources = frozenset(sources)
    return event
