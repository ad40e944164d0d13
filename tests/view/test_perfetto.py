"""A timeline as a trace for Perfetto, read back."""

from __future__ import annotations

import sys

import pytest

import ensue
from ensue.data import DataError

RULES = """
unit s.
event a(k: int, name: string).
event b(k: int).
ab(k) <- a(k=k) seq b(k).
"""
ROWS = [
    {"type": "a", "time": 1, "k": 5, "name": "<x>"},
    {"type": "a", "time": 2, "k": 5, "name": None},
    {"type": "b", "time": 4, "k": 5},
]


@pytest.fixture(scope="module")
def read():
    """The tracks by number, and the events of a trace."""
    found = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed")

    def read_trace(data):
        trace = found.Trace.FromString(data)
        tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
        events = [(p.timestamp, p.track_event) for p in trace.packet if p.HasField("track_event")]
        return tracks, events, found.TrackEvent

    return read_trace


def test_events_are_instants_and_detections_slices(read):
    tracks, events, kinds = read(ensue.timeline(ensue.compile(RULES), ROWS, title="pairs").perfetto())
    instants = [(at, tracks[e.track_uuid].name) for at, e in events if e.type == kinds.TYPE_INSTANT]
    assert instants == [(10**9, "a"), (2 * 10**9, "a"), (4 * 10**9, "b")]
    slices = [(at, e.track_uuid, e.type) for at, e in events if e.type != kinds.TYPE_INSTANT]
    assert [at for at, _, _ in slices] == [10**9, 4 * 10**9, 2 * 10**9, 4 * 10**9]
    first, second = slices[0][1], slices[2][1]
    assert first != second  # they overlap, so they are on tracks of their own, of one name
    assert tracks[first].name == tracks[second].name == "ab"
    assert tracks[tracks[first].parent_uuid].name == "pairs: detections"
    assert tracks[first].description == "ab(k) <- a(k=k) seq b(k)."


def test_arrows_join_detections_and_what_they_came_from(read):
    tracks, events, _ = read(ensue.timeline(ensue.compile(RULES), ROWS).perfetto())
    ends: dict[int, list[str]] = {}
    for _, event in events:
        for flow in event.flow_ids:
            ends.setdefault(flow, []).append(tracks[event.track_uuid].name)
    assert sorted(map(sorted, ends.values())) == [["a", "ab"], ["a", "ab"], ["ab", "b"], ["ab", "b"]]


def test_attributes_are_annotations(read):
    _, events, kinds = read(ensue.timeline(ensue.compile(RULES), ROWS).perfetto())
    first, second, _ = (event for _, event in events if event.type == kinds.TYPE_INSTANT)
    assert [(each.name, each.int_value or each.string_value) for each in first.debug_annotations] == [
        ("k", 5), ("name", "<x>"),
    ]  # fmt: skip
    assert second.debug_annotations[1].string_value == "null"


def test_moments_before_1970_begin_at_the_first(read):
    rows = [{"type": "a", "time": -5, "k": 1, "name": "x"}, {"type": "b", "time": 1, "k": 1}]
    _, events, _ = read(ensue.timeline(ensue.compile(RULES), rows).perfetto())
    assert min(at for at, _ in events) == 0
    assert max(at for at, _ in events) == 6 * 10**9


def test_times_that_a_trace_cannot_hold_are_refused(read):
    rows = [{"type": "a", "time": 0, "k": 1, "name": "x"}, {"type": "b", "time": 2**50, "k": 1}]
    with pytest.raises(DataError, match="too far apart for a trace"):
        ensue.timeline(ensue.compile(RULES), rows).perfetto()


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "perfetto", None)
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace.perfetto_trace_pb2", None)
    with pytest.raises(DataError, match=r"pip install 'ensue\[perfetto\]'"):
        ensue.timeline(ensue.compile(RULES), ROWS).perfetto()
