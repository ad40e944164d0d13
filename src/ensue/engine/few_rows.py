"""Single events where generated code reads them: values are written into columns that stay, without an array for each.

So an event that comes alone costs little. What needs more than its values, an order among several or its place in the
input, goes the way of many events.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ensue.engine.batch import Batch
from ensue.engine.generate.unit import Unit
from ensue.engine.structures.structure import Array
from ensue.engine.structures.values import Dictionary
from ensue.language.limits import FARTHEST

FEW = 64
"""For so many rows there is room."""


class FewRows:
    """Columns for a few events of a unit."""

    def __init__(
        self, given: Any, unit: Unit, uses: Collection[str], ranks: Mapping[str, int], values: Dictionary
    ) -> None:
        self._given, self._uses, self._ranks, self._values = given, uses, ranks, values
        kinds = [kind for _, kind in unit.inputs.values()]
        self._fits = not unit.provenance and "o" not in kinds
        self._needs_order = unit.inputs_need_order
        self._arrays: dict[str, Array] = {
            "kind": np.zeros(FEW, np.int32),
            "start": np.zeros(FEW, np.int64),
            "end": np.zeros(FEW, np.int64),
            **{name: np.empty(0, np.int64) for name in ("k", "source", "place")},
        }
        self._fields: dict[str, list[tuple[str, str, Any, Any]]] = {}
        for (event, attribute), (index, kind) in unit.inputs.items():
            held = self._arrays[f"x{index}"] = np.zeros(FEW, np.float64 if kind == "f" else np.int64)
            flags = self._arrays[f"ok{index}"] = np.zeros(FEW, np.uint8)
            self._fields.setdefault(event, []).append((attribute, kind, memoryview(held), memoryview(flags)))  # type: ignore[arg-type]
        self._kind, self._start, self._end = (memoryview(self._arrays[name]) for name in ("kind", "start", "end"))  # type: ignore[arg-type]

    def take(self, batch: Batch) -> bool:
        """Takes in the events of a batch; False if they must go the other way."""
        if not self._fits or len(batch.rows) > FEW or batch.mixed is not None or batch.given or batch.derived:
            return False
        rows = [row for row in batch.rows if row[0] in self._uses]
        if (len(rows) > 1 and self._needs_order) or any(row[4] is not None for row in rows):
            return False
        if batch.derived_of(self._uses) or any(row[3] > FARTHEST or row[2] < -FARTHEST for row in rows):
            return False
        if len(rows) > 1:
            rows.sort(key=lambda row: row[3])
        for at, (event, attributes, start, end, _, _) in enumerate(rows):
            self._kind[at], self._start[at], self._end[at] = self._ranks[event], start, end
            for attribute, kind, held, flags in self._fields.get(event, ()):
                value = attributes.get(attribute)
                flags[at] = value is not None
                if value is not None:
                    held[at] = self._values.code(value) if kind == "s" else value
        given = self._given
        if given.arrays.get("end") is not self._arrays["end"]:
            for name, array in self._arrays.items():
                given.put(name, array)
        given.sequenced = given.alike = 0
        given.rows, given.at = len(rows), 0
        return True
