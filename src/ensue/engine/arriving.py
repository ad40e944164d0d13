"""Events of a batch on their way in: columns where generated code reads them, in the order in which it takes them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.engine.assembly import SEQUENCED
from ensue.engine.batch import FEW, Batch
from ensue.engine.event import Event
from ensue.engine.generate.unit import RowKeys
from ensue.engine.stream import NONE, first_alike, stream_of
from ensue.engine.structure import Array
from ensue.errors import DetectError
from ensue.language.limits import FARTHEST

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane


def arrive(lane: GeneratedLane, batch: Batch) -> None:
    """Puts the events of a batch where the code of a lane reads them."""
    unit, given = lane.code.unit, lane.given
    uses = lane.uses
    any_values = any(kind == "o" for _, kind in unit.inputs.values())
    as_rows = bool(batch.rows) or (batch.derived_of(uses) if unit.provenance else bool(batch.derived))
    if as_rows and (unit.provenance or any_values):
        columns, first = _from_rows(lane, batch)
    else:
        stream = stream_of(
            batch, uses, lane.all_ranks, unit.inputs, unit.inputs_need_order, lane.values, unit.provenance
        )
        columns = {"kind": stream.kind, "start": stream.start, "end": stream.end}
        for (values, flags), (index, _) in zip(stream.columns, unit.inputs.values(), strict=True):
            columns[f"x{index}"] = values
            columns[f"ok{index}"] = flags
        columns["k"] = columns["source"] = NONE
        if unit.provenance and stream.positions is not None:
            columns["source"] = 2 * stream.positions + 1
        first = stream.first
        if stream.sequenced is not None or first is not None:
            row = np.arange(len(stream.end))
            local = lane.structures["kinds"].arrays["local_"][stream.kind + 1].astype(np.int64)
            columns["k"] = (local << 40) + row
            if stream.sequenced is not None:
                columns["k"] = np.where(stream.sequenced, SEQUENCED + row, columns["k"])
    columns["place"] = NONE if first is None else columns["k"][first]
    given.sequenced, given.alike = int(len(columns["k"]) > 0), int(first is not None)
    contiguous = {id(array): np.ascontiguousarray(array) for array in columns.values()}
    columns = {name: contiguous[id(array)] for name, array in columns.items()}
    held = given.arrays
    for name, array in columns.items():
        if held.get(name) is not array:  # those without values are often there already
            given.put(name, array)
    given.rows, given.at = len(columns["end"]), 0
    block: Any = lane.structures["block"]
    block.only = _only(columns["kind"], lane.structures["kinds"].arrays["local_"])
    block.read_keys(unit.row_keys and _keys(unit.row_keys, columns))
    _check_times(columns["start"], columns["end"])


def _only(kind: Array, local: Array) -> int:
    """The number in the unit of the type that all rows have; -1 if they differ."""
    if not len(kind) or kind[0] != kind[-1] or (kind[:FEW] != kind[0]).any() or (kind != kind[0]).any():
        return -1
    return int(local[kind[0] + 1])


def _keys(keys: RowKeys, columns: Mapping[str, Array]) -> list[Array] | None:
    """The columns with the keys of all rows; None if each type has its own."""
    rows, found = len(columns["end"]), None
    for inputs in keys.inputs.values():
        own = [columns[f"x{index}"] for index in inputs]
        if any(len(column) != rows for column in own):
            continue  # there are no events of this type
        if found is None:
            found = own
        elif any(one is not other for one, other in zip(found, own, strict=True)):
            return None
    return found


def _check_times(start: Array, end: Array) -> None:
    """Refuses times that leave no room for lengths to be added to them."""
    if len(end) and (end[-1] > FARTHEST or (start[0] if start is end else start.min()) < -FARTHEST):
        raise DetectError(
            f"Times must lie within {FARTHEST:,} of 0, so that lengths can be added to them, and there is an event "
            "beyond that."
        )


def _from_rows(lane: GeneratedLane, batch: Batch) -> tuple[dict[str, Array], Array | None]:
    """The events of a batch from rows of Python values, and the first of each that are alike: see `Stream`."""
    unit = lane.code.unit
    events = batch.events(lane.uses)
    events.sort(key=lambda event: event.key)
    count = len(events)
    kind = np.array([lane.all_ranks[event.type] for event in events], np.int32)
    local = np.array([lane.ranks[event.type] for event in events], np.int64)
    columns: dict[str, Array] = {
        "kind": kind,
        "start": np.array([event.start for event in events], np.int64),
        "end": np.array([event.end for event in events], np.int64),
    }
    k = (local << 40) + np.arange(count)
    for i, event in enumerate(events):
        if event.sequence is not None:
            k[i] = SEQUENCED + i
    columns["k"] = k
    columns["source"] = np.array([_source(lane, event) for event in events], np.int64)
    for (type_, attribute), (index, kind_) in unit.inputs.items():
        values = [event.attributes.get(attribute) if event.type == type_ else None for event in events]
        encoded = [0 if value is None else lane.encoded(value, kind_) for value in values]
        columns[f"x{index}"] = np.array(encoded, np.float64 if kind_ == "f" else np.int64)
        columns[f"ok{index}"] = np.array([value is not None for value in values], np.uint8)
    return columns, first_alike(np.array([one.key == other.key for one, other in pairwise(events)], bool))


def _source(lane: GeneratedLane, event: Event) -> int:
    """The handle of what an event came from."""
    handle = 0
    if lane.code.unit.provenance:
        for position in sorted(event.sources):
            handle = lane.origins.add(handle, 2 * position + 1)
    return handle
