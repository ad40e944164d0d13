"""Fast path for single events: their values are written into columns that stay, without new arrays for each.

So an event that comes alone costs little, and so does the next unit that takes what was derived from it. What needs
more than its values goes the way of many events: places in the input, numbers in a sequence, events that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ensue.engine.batch import Batch, Row
from ensue.engine.defined import defined
from ensue.engine.generate.unit import Unit
from ensue.engine.structure import Array
from ensue.engine.structures.values import Dictionary
from ensue.language.limits import FARTHEST

FEW = 64
"""Number of rows that fit."""

Write = Callable[[Mapping[str, Any], int, int, int], None]
"""Writes an event of a type: its attributes, start and end, and the row where it goes."""


class FewRows:
    """Columns for a few events of a unit."""

    def __init__(
        self, given: Any, block: Any, unit: Unit, uses: Collection[str], ranks: Mapping[str, int], values: Dictionary
    ) -> None:
        self._given, self._block, self._uses, self._ranks, self._values = given, block, uses, ranks, values
        self._inputs = unit.inputs
        self.fits = not unit.provenance and "o" not in [kind for _, kind in unit.inputs.values()]
        self._needs_order = unit.inputs_need_order
        self._arrays: dict[str, Array] = {
            "kind": np.zeros(FEW, np.int32),
            "start": np.zeros(FEW, np.int64),
            "end": np.zeros(FEW, np.int64),
            **{name: np.empty(0, np.int64) for name in ("k", "source", "place")},
        }
        for index, kind in unit.inputs.values():
            self._arrays[f"x{index}"] = np.zeros(FEW, np.float64 if kind == "f" else np.int64)
            self._arrays[f"ok{index}"] = np.zeros(FEW, np.uint8)
        self.writers: dict[str, Write] = {}

    def writer(self, event: str) -> Write:
        """Writes events of a type; made of source when the first one comes, as a loop takes twice as long."""
        found = self.writers.get(event)
        if found is None:
            found = self.writers[event] = self._write(event)
        return found

    def _write(self, event: str) -> Write:
        columns = {name: memoryview(array) for name, array in self._arrays.items() if len(array)}  # type: ignore[arg-type]
        lines = [f"kind[at] = {self._ranks[event]}", "start[at] = begin", "end[at] = finish"]
        for (of, attribute), (index, kind) in self._inputs.items():
            if of == event:
                held = "code(value)" if kind == "s" else "value"
                lines += [
                    f"value = attributes.get({attribute!r})",
                    "if value is None:",
                    f"    ok{index}[at] = 0",
                    "else:",
                    f"    ok{index}[at] = 1",
                    f"    x{index}[at] = {held}",
                ]
        source = "def write(attributes, begin, finish, at):\n" + "".join(f"    {line}\n" for line in lines)
        names: dict[str, Any] = {**columns, "code": self._values.code}
        write: Write = defined(source, "write", names)
        return write

    def take(self, batch: Batch) -> bool:
        """Takes in the events of a batch; False if they must go the other way."""
        if not self.fits or len(batch.rows) > FEW or batch.mixed is not None or batch.given:
            return False
        uses = self._uses
        rows = [row for row in batch.rows if row[0] in uses]
        if batch.derived or batch.derived_columns:
            if any(len(columns) for type_, columns in batch.derived_columns.items() if type_ in uses):
                return False
            derived = [event for type_, events in batch.derived.items() if type_ in uses for event in events]
            rows += [(event.type, event.attributes, event.start, event.end, None, -1) for event in derived]
        if len(rows) > FEW:
            return False
        for row in rows:
            if row[4] is not None or row[3] > FARTHEST or row[2] < -FARTHEST:
                return False
        if len(rows) > 1 and not self._sort(rows, batch):
            return False
        for at, (event, attributes, start, end, _, _) in enumerate(rows):
            self.writer(event)(attributes, start, end, at)
        self.put()
        self._given.rows, self._given.at = len(rows), 0
        return True

    def put(self) -> None:
        """Lets code read these columns, whose rows have no numbers."""
        given = self._given
        if given.arrays.get("end") is not self._arrays["end"]:
            for name, array in self._arrays.items():
                given.put(name, array)
            self._block.read_keys(None)
            self._block.only = -1
        given.sequenced = given.alike = 0

    def _sort(self, rows: list[Row], batch: Batch) -> bool:
        """Puts rows in the order in which code takes them; False if some are alike, and that matters."""
        if not self._needs_order:
            rows.sort(key=_end)
            return True
        rows.sort(key=_end_and_start)
        if all(_end_and_start(one) != _end_and_start(other) for one, other in pairwise(rows)):
            return True
        keyed = sorted(((batch.event(row).key, row) for row in rows), key=lambda pair: pair[0])
        rows[:] = [row for _, row in keyed]
        return all(one != other for (one, _), (other, _) in pairwise(keyed))


def _end(row: Row) -> int:
    return row[3]


def _end_and_start(row: Row) -> tuple[int, int]:
    return row[3], row[2]
