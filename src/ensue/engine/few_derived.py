"""A few derived rows as events, without a detour over Arrow: what follows from a single event is mostly one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.engine.batch import FEW as FEW
from ensue.engine.batch import Batch
from ensue.engine.event import Event, content

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane

NUMBERS = ("count", "first", "pushed")
"""The numbers of derived rows that are 0 when there are none."""


Read = Callable[[Sequence[int], Sequence[float] | None], dict[str, Any]]
"""The attributes of a row of cells, which is also given as floats where it has any."""


class FewDerived:
    """The derived rows of a head on their way out, where they are a few."""

    def __init__(self, lane: GeneratedLane, event: str, head: Any) -> None:
        self._rows: Any = lane.structures[head.rows]
        layout = self._rows.layout
        self._numbers = [layout.cell_of_number(name) for name in NUMBERS]
        place = {name: column.place for name, column in layout.columns}
        self._start, self._end, self._given = place["start"], place["end"], place.get("given")
        values = [_value(n, column.kind, column.nullable, place) for n, column in enumerate(head.columns.values())]
        kinds = {column.kind for column in head.columns.values()}
        self._floats = "f" in kinds
        heads = lane.code.together.heads.get(event)
        self._number = None if heads is None else place["f0"]
        """The column of the number that gives the type of a row, or None."""
        own = values if heads is None else values[1:]
        types = [lane.program.events[name] for name in heads or (event,)]
        readers = {names: _reader(names, own, lane.values.value) for names in {tuple(of.attributes) for of in types}}
        self._types = [(of.name, readers[tuple(of.attributes)], of.each) for of in types]
        self.fits = not lane.code.unit.provenance and "l" not in kinds
        """False if they must be handed over as columns."""

    def hand_over(self, batch: Batch) -> bool:
        """Add the events to a batch, and empty the rows; False if that must be done with columns."""
        columns = batch.derived_columns
        if columns and any(name in columns for name, _, _ in self._types):
            return False
        cells = self._rows.cells
        held = self._rows.arrays["rows"][: cells[self._numbers[0]]]
        for number in self._numbers:
            cells[number] = 0
        floats = held.view(np.float64).tolist() if self._floats else None
        for at, row in enumerate(held.tolist()):
            if self._given is None or row[self._given] == 0:
                type_, read, each = self._types[0 if self._number is None else row[self._number]]
                self._add(type_, each, row[self._start], row[self._end], read(row, floats and floats[at]), batch)
        return True

    def _add(self, type_: str, each: bool, start: int, end: int, attributes: dict[str, Any], batch: Batch) -> None:
        """Adds an event of a type, unless another unit has derived the same."""
        event = Event(type_, attributes, start, end, batch.place(type_), (type_, start, end, tuple(attributes.items())))
        others = batch.derived.get(type_)
        if others is None:
            batch.derived[type_] = [event]
            return
        same = None if each else content(event)
        if each or all(content(other) != same for other in others):
            others.append(event)


def _value(number: int, kind: str, nullable: bool, place: Mapping[str, int]) -> str:
    """Source of a value from a ``row`` of cells, or from the same row as ``floats``."""
    held = f"row[{place[f'f{number}']}]"
    match kind:
        case "f":
            held = f"floats[{place[f'f{number}']}]"
        case "b":
            held += " != 0"
        case "s" | "o":
            held = f"value({held})"
    if not nullable:
        return held
    flags = place[f"f_valid{number // 63 or ''}"]
    return f"{held} if row[{flags}] >> {number % 63} & 1 else None"


def _reader(names: Iterable[str], values: Iterable[str], value: Callable[[int], Any]) -> Read:
    """Reads the attributes of a row, from the source of each; one function, as a loop takes twice as long."""
    items = ", ".join(f"{name!r}: {held}" for name, held in zip(names, values, strict=True))
    read: Read = eval(f"lambda row, floats: {{{items}}}", {"value": value})
    return read
