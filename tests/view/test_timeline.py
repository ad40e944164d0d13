"""Timelines in Python: shown events, those that are left out with a note, and the forms of output."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import ensue
from ensue.data import DataError
from ensue.view.choose import at_most
from ensue.view.columns import LONGEST_TEXT, packed
from ensue.view.scene import Sources

RULES = """
event a(k: int, name: string).
event b(k: int).
ab(k) <- a(k=k) seq b(k).
twice(k) <- ab(k) seq ab(k).
"""
ROWS = [
    {"type": "b", "time": 9, "k": 5},
    {"type": "a", "time": 1, "k": 5, "name": "x"},
    {"type": "a", "time": 2, "k": 6, "name": None},
    {"type": "b", "time": 4, "k": 6},
]


@pytest.fixture(scope="module")
def program():
    return ensue.compile(RULES, "pairs")


def tracks(shown):
    return {(track.name, track.derived): track for track in shown.scene.tracks}


def header(shown):
    """The header of a page's data, and the columns that it names as lists."""
    text = re.search(r'id="data">([^<]*)<', shown.html()).group(1)
    data = zlib.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", data)
    found = json.loads(data[4 : 4 + length])
    widths = {"u8": np.uint8, "u16": "<u2", "u32": "<u4", "i32": "<i4", "f64": "<f8"}

    def column(reference):
        kind, place, count = reference
        return np.frombuffer(data, widths[kind], count, 4 + length + place).tolist()

    return found, column


def test_detections_are_above_what_they_are_made_of_and_know_it(program):
    shown = ensue.timeline(program, ROWS)
    assert [(track.name, track.derived) for track in shown.scene.tracks] == [
        ("twice", True), ("ab", True), ("a", False), ("b", False),
    ]  # fmt: skip
    pairs, given = tracks(shown)["ab", True], tracks(shown)["b", False]
    assert pairs.starts.tolist() == [1, 2]
    assert pairs.sources == Sources(pairs.sources.counts, pairs.sources.rows)
    assert pairs.sources.rows.tolist() == [0, 1, 2, 3]
    assert given.rows.tolist() == [3, 0]
    assert shown.title == "pairs"
    assert shown.notes == ()


def test_a_page_has_all_of_it_in_columns(program):
    found, column = header(ensue.timeline(program, ROWS))
    pairs, given = found["tracks"][1], found["tracks"][2]
    assert (pairs["name"], column(pairs["start"]), column(pairs["length"])) == ("ab", [0, 1], [8, 2])
    assert [column(pairs["sources"][name]) for name in ("counts", "events")] == [[2, 2], [5, 2, 3, 4]]
    assert pairs["rules"] == [{"name": None, "title": None, "line": 4, "text": "ab(k) <- a(k=k) seq b(k)."}]
    assert found["tracks"][0]["uses"] == ["ab"]
    name = given["attributes"][1]
    assert (given["length"], name["texts"], column(name["values"])) == (None, ["x"], [1, 0])
    assert (found["origin"], found["last"], found["timestamps"]) == ("1", 8, False)
    assert sum(column(found["density"]["given"])) == 4


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 2**60]),
        pa.array([0.1, None, float("nan")]),
        pa.array([True, None, False]),
        pa.array(["x" * (LONGEST_TEXT + 1), None, "é\ud800".encode("utf-8", "replace").decode()]),
        pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        pa.array([datetime(2026, 3, 1, tzinfo=UTC), None, datetime(1, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        pa.array([{"a": 1}, None, {"a": None}]),
    ],
    ids=lambda values: str(values.type),
)
def test_values_of_any_type_are_packed(values):
    program = ensue.compile("found(v) <- a(v=v).")
    table = pa.table({"type": ["a"] * 3, "time": [1, 2, 3], "v": values})
    shown = ensue.timeline(program, table)
    assert len(tracks(shown)["a", False]) == 3
    assert header(shown)[0]["tracks"][-1]["attributes"][0]["name"] == "v"


def test_times_as_large_as_they_can_be(program):
    rows = [{"type": "a", "time": -(2**60), "k": 1, "name": "x"}, {"type": "b", "time": 2**60 - 1, "k": 1}]
    found, _ = header(ensue.timeline(program, rows))
    assert found["origin"] == str(-(2**60))
    assert "rounded" in found["notes"][0]


@pytest.mark.parametrize("form", ["rows", "arrow", "polars", "by type"])
def test_detections_that_are_there_already_are_not_detected_again(program, form, monkeypatch):
    events = {
        "rows": ROWS,
        "arrow": pa.Table.from_pylist(ROWS),
        "polars": pl.DataFrame(ROWS, infer_schema_length=None),
        "by type": {"a": [row for row in ROWS if row["type"] == "a"], "b": [row for row in ROWS if row["type"] == "b"]},
    }[form]
    found = program.detect(events, provenance=True)
    expected = packed(ensue.timeline(program, events).scene, {})
    monkeypatch.setattr("ensue.detection.detect_traced", lambda *_: pytest.fail("detected again"))
    again = ensue.timeline(program, events, detections=found)
    assert packed(again.scene, {}) == expected
    without = ensue.timeline(program, events, detections=program.detect(events))
    assert tracks(without)["ab", True].sources is None
    assert header(without)[0]["tracks"][1]["sources"] is None


def test_detections_that_are_none_are_refused(program):
    with pytest.raises(DataError, match="pass the result of `detect`"):
        ensue.timeline(program, ROWS, detections=7)
    with pytest.raises(DataError, match="no column 'start'"):
        ensue.timeline(program, ROWS, detections=[{"type": "ab", "k": 1}])


def test_a_window_of_time(program):
    shown = ensue.timeline(program, ROWS, window=(3, 8))
    assert {name: len(track) for (name, _), track in tracks(shown).items()} == {"twice": 0, "ab": 2, "a": 0, "b": 1}
    assert shown.notes == ("3 events outside the window of time are left out.",)
    found, column = header(shown)
    assert column(found["tracks"][1]["sources"]["hidden"]) == [2, 1]


def test_a_window_that_is_none(program):
    with pytest.raises(DataError, match="`window` is 5; it is the first and the last moment"):
        ensue.timeline(program, ROWS, window=5)
    with pytest.raises(DataError, match="'yesterday' is not a time"):
        ensue.timeline(program, ROWS, window=("yesterday", None))


def test_a_title_that_is_no_text_anywhere_else(program):
    assert "<title>a? · timeline</title>" in ensue.timeline(program, ROWS, title="a\ud800").html()


def test_only_some_values(program):
    shown = ensue.timeline(program, ROWS, only={"k": 6})
    assert {name: len(track) for (name, _), track in tracks(shown).items()} == {"twice": 0, "ab": 1, "a": 1, "b": 1}
    assert shown.notes == ("Only k=6: 2 events and 1 detection are left out.",)
    assert ensue.timeline(program, ROWS, only={"k": "6"}).notes == shown.notes
    by_name = ensue.timeline(program, ROWS, only={"name": "x"})
    assert [len(track) for track in by_name.scene.tracks] == [0, 0, 1, 0]
    with pytest.raises(DataError, match=r"No event has an attribute 'nme'.*name"):
        ensue.timeline(program, ROWS, only={"nme": "x"})


def test_what_detections_came_from_is_kept_where_there_is_too_much(program):
    rows = [{"type": "a", "time": i, "k": i, "name": "x"} for i in range(1000)] + [
        {"type": "b", "time": 2000, "k": 700}
    ]
    shown = ensue.timeline(program, rows, most=100)
    assert sum(map(len, shown.scene.tracks)) <= 100
    assert sum(map(len, shown.scene.tracks)) > 90
    assert 700 in tracks(shown)["a", False].rows.tolist()
    assert tracks(shown)["a", False].total == 1000
    (note,) = shown.notes
    assert note.startswith("Too much for one page: 90")
    assert "all detections, all the events that these came from, an even share of the other events" in note


def test_of_too_many_detections_an_even_share_is_kept(program):
    rows = [{"type": "a", "time": 0, "k": 1, "name": "x"}] + [{"type": "b", "time": i, "k": 1} for i in range(1, 500)]
    shown = ensue.timeline(program, rows, most=60)
    assert sum(map(len, shown.scene.tracks)) <= 60
    assert len(tracks(shown)["ab", True]) > 10
    assert "an even share of detections, all the events that these came from" in shown.notes[0]
    found, _ = header(shown)
    assert found["tracks"][1]["sources"]["hidden"] is None  # what is shown is complete


def test_rare_types_are_kept_whole(program):
    rows = [{"type": "a", "time": i, "k": i, "name": "x"} for i in range(5000)]
    rows += [{"type": "b", "time": i, "k": -1} for i in (7, 8, 9)]
    shown = ensue.timeline(program, rows, most=100)
    assert {name: len(track) for (name, _), track in tracks(shown).items()} == {"twice": 0, "ab": 0, "a": 97, "b": 3}


def describe_test_too_many_sources_are_cut_and(program):
    rows = [{"type": "a", "time": 0, "k": 1, "name": "x"}] + [{"type": "b", "time": i, "k": 1} for i in range(1, 50)]
    shown = at_most(ensue.timeline(program, rows).scene, 10_000, links=20)
    assert sum(int(track.sources.counts.sum()) for track in shown.tracks if track.sources is not None) <= 20
    assert "of 39 detections" in shown.notes[0]


def describe_test_rows_that_are_not_used_are(program):
    rows = [*ROWS, {"type": "other", "time": 3}, {"type": "a", "k": 1}]
    shown = ensue.timeline(program, rows)
    assert shown.notes == ("1 row could not be used.", "1 row of types that the rules do not use is left out.")


def test_lanes_by_an_attribute_that_is_not_there(program):
    assert header(ensue.timeline(program, ROWS, lanes="k"))[0]["lanes"] == "k"
    with pytest.raises(DataError, match="No event has an attribute 'z' for lanes; there are: k, name"):
        ensue.timeline(program, ROWS, lanes="z")
    with pytest.raises(DataError, match="`most` is 0"):
        ensue.timeline(program, ROWS, most=0)


def test_a_page_is_one_file_that_asks_for_nothing(program, tmp_path):
    shown = ensue.timeline(program, ROWS, title="</title><script>")
    path = shown.save(tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    assert text == shown.html()
    assert "default-src 'none'" in text
    assert not re.findall(r"https?://(?!www\.w3\.org/)", text)
    assert "<title>&lt;/title&gt;&lt;script&gt; · timeline</title>" in text
    assert shown._repr_html_().startswith('<iframe title="&lt;/title&gt;&lt;script&gt;"')
    assert text.count("<script") == 2


def test_a_type_that_is_given_and_derived(program):
    both = ensue.compile("event a(k: int). event c(k: int). c(k) <- a(k).")
    shown = ensue.timeline(both, [{"type": "a", "time": 1, "k": 1}, {"type": "c", "time": 2, "k": 2}])
    assert {key: len(track) for key, track in tracks(shown).items()} == {
        ("c", True): 1,
        ("a", False): 1,
        ("c", False): 1,
    }


def test_programs_and_plans_in_a_notebook():
    program = ensue.compile('event a(k: string). b(k) <- a(k) where k = "<b>".')
    for shown in (program._repr_html_(), program.explain()._repr_html_()):
        assert shown.startswith("<div")
        assert "&lt;" in shown
        assert "<b>&quot;" not in shown
    assert "b(k: string)" in program._repr_html_()
    assert "How 1 rule is run" in program.explain()._repr_html_()


def test_the_example_of_the_document_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "timelines.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(example, {})
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_in_a_folder_that_is_not_there(tmp_path):
    timeline = ensue.timeline(ensue.compile("event a().  b() <- a()."), [{"type": "a", "time": 1}])
    with pytest.raises(ensue.DataError, match=r"There is no folder .*nonexist to write x.html to"):
        timeline.save(tmp_path / "nonexist" / "x.html")
