"""A scene as a trace for ui.perfetto.dev: a track for each type, with arrows from the sources of detections.

Slices of one track of Perfetto must not overlap, so a type has as many tracks as overlap, all of one name: Perfetto
shows them as one. Times are nanoseconds there; numbers without a unit are taken for microseconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np

from ensue.data import DataError
from ensue.view.columns import LONGEST_TEXT
from ensue.view.scene import Integers, Scene, Track

NANOSECONDS = {"us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}

LAST = 2**63 - 1
"""The last moment that a trace can hold."""

SEQUENCE = 1
FOUND, GIVEN = 1, 2
"""The numbers of the tracks that hold those of detections and of events."""


def trace(scene: Scene, title: str) -> bytes:
    """The bytes of a trace; `DataError` if the package `perfetto` is missing."""
    try:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    except ModuleNotFoundError:
        raise DataError("A trace for Perfetto needs the package perfetto: pip install 'ensue[perfetto]'.") from None
    made, scale = Trace(), 1000 if scene.timestamps else NANOSECONDS[scene.unit or "us"]
    first, last = scene.span
    origin = first if first < 0 or last * scale > LAST else 0
    if (last - origin) * scale > LAST:
        raise DataError("The times are too far apart for a trace, which counts nanoseconds.")
    flows = _flows(scene)
    _describe(made, FOUND, f"{title}: detections", order=1)
    _describe(made, GIVEN, f"{title}: events", order=2)
    number, before = GIVEN + 1, 0
    for order, track in enumerate(scene.tracks):
        rows = _rows(track)
        about = "\n".join(rule.text for rule in scene.rules.get(track.name, ())) if track.derived else ""
        parent = FOUND if track.derived else GIVEN
        for row in range(int(rows.max()) + 1 if len(rows) else 0):
            _describe(made, number + row, track.name, parent, about, order)
        columns = [(name, values.to_pylist()) for name, values in track.attributes.items()]
        for place in range(len(track)):
            start, end = ((int(times[place]) - origin) * scale for times in (track.starts, track.ends))
            packet = made.packet.add(timestamp=start, trusted_packet_sequence_id=SEQUENCE)
            event = packet.track_event
            event.track_uuid, event.name = number + int(rows[place]), track.name
            event.type = TrackEvent.TYPE_INSTANT if start == end else TrackEvent.TYPE_SLICE_BEGIN
            event.flow_ids.extend(flows.get(before + place, ()))
            for name, values in columns:
                _annotate(event.debug_annotations.add(name=name), values[place])
            if start != end:
                closing = made.packet.add(timestamp=end, trusted_packet_sequence_id=SEQUENCE).track_event
                closing.type, closing.track_uuid = TrackEvent.TYPE_SLICE_END, event.track_uuid
        number += int(rows.max()) + 1 if len(rows) else 0
        before += len(track)
    data: bytes = made.SerializeToString()
    return data


def _describe(made: Any, number: int, name: str, parent: int | None = None, about: str = "", order: int = 0) -> None:
    described = made.packet.add(trusted_packet_sequence_id=SEQUENCE).track_descriptor
    described.uuid, described.name, described.sibling_order_rank = number, name, order
    described.child_ordering = described.EXPLICIT
    if parent is not None:
        described.parent_uuid = parent
    if about:
        described.description = about


def _annotate(annotation: Any, value: Any) -> None:
    match value:
        case None:
            annotation.string_value = "null"
        case bool():
            annotation.bool_value = value
        case int() if -(2**63) <= value < 2**63:
            annotation.int_value = value
        case float():
            annotation.double_value = value
        case _:
            annotation.string_value = str(value)[:LONGEST_TEXT]


def _flows(scene: Scene) -> dict[int, list[int]]:
    """Numbers of arrows by the events at their ends, which are numbered over all tracks."""
    places: dict[int, int] = {}
    before = 0
    for track in scene.tracks:
        if track.rows is not None:
            places.update(zip(track.rows.tolist(), range(before, before + len(track)), strict=True))
        before += len(track)
    found: dict[int, list[int]] = {}
    for number, (detection, row) in enumerate(_links(scene), start=1):
        if row in places:
            found.setdefault(detection, []).append(number)
            found.setdefault(places[row], []).append(number)
    return found


def _links(scene: Scene) -> Iterator[tuple[int, int]]:
    before = 0
    for track in scene.tracks:
        if track.sources is not None:
            owners = np.repeat(np.arange(len(track)), track.sources.counts) + before
            yield from zip(owners.tolist(), track.sources.rows.tolist(), strict=True)
        before += len(track)


def _rows(track: Track) -> Integers:
    """For each event a row in which no other lies at the same time."""
    if not (track.ends > track.starts).any():
        return np.zeros(len(track), dtype=np.int64)
    found = np.empty(len(track), dtype=np.int64)
    busy: list[tuple[int, int]] = []
    count = 0
    for place, (start, end) in enumerate(zip(track.starts.tolist(), track.ends.tolist(), strict=True)):
        if busy and busy[0][0] < start:
            row = heapq.heappop(busy)[1]
        else:
            row, count = count, count + 1
        heapq.heappush(busy, (end, row))
        found[place] = row
    return found
