"""A timeline as a picture: well-formed, with every event, lines to sources, and text that is never markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import ensue
from ensue import datasets

SVG = "{http://www.w3.org/2000/svg}"
RULES = """
event a(k: int, name: string).
event b(k: int).
ab(k) <- a(k, _) seq b(k).
"""
ROWS = [
    {"type": "a", "time": 1, "k": 5, "name": "<script>alert(1)</script> & \x00\"'"},
    {"type": "a", "time": 2, "k": 6, "name": None},
    {"type": "b", "time": 4, "k": 5},
]


def drawn(rules=RULES, rows=ROWS, width=760, **settings):
    return ET.fromstring(ensue.timeline(ensue.compile(rules), rows, **settings).svg(width))


def texts(picture):
    return [element.text for element in picture.iter(f"{SVG}text")]


def tips(picture):
    return [group.findtext(f"{SVG}title") for group in picture.iter(f"{SVG}g")]


def test_every_event_and_detection_is_a_mark_with_its_values():
    picture = drawn(title="pairs")
    assert picture.findtext(f"{SVG}title") == "pairs"
    assert sorted(tips(picture)) == [
        "a(k=5, name=<script>alert(1)</script> & \N{REPLACEMENT CHARACTER}\"')", "a(k=6)", "ab(k=5)", "b(k=5)",
    ]  # fmt: skip
    assert {"DETECTIONS", "EVENTS", "ab", "a", "b"} <= set(texts(picture))
    assert not list(picture.iter(f"{SVG}script"))


def test_lines_lead_from_a_detection_to_its_sources():
    links = [path for path in drawn().iter(f"{SVG}path") if "link" in path.get("class", "")]
    assert len(links) == 2


def test_an_interval_is_a_bar_from_its_start_to_its_end():
    picture = drawn()
    (bar,) = [each for each in picture.iter(f"{SVG}rect") if each.get("class", "").startswith("bar")]
    discs = [float(each.get("cx")) for each in picture.iter(f"{SVG}circle") if each.get("class").startswith("mark")]
    assert float(bar.get("x")) == min(discs)
    assert float(bar.get("x")) + float(bar.get("width")) == pytest.approx(max(discs), abs=0.2)


def test_lanes_are_values_of_an_attribute():
    shown = texts(drawn(lanes="k"))
    assert {"5", "6"} <= set(shown)
    assert "DETECTIONS" not in shown


def test_it_is_as_wide_as_told():
    assert drawn(width=400).get("viewBox").startswith("0 0 400 ")


def test_of_too_many_events_a_part_is_drawn_and_the_picture_says_so():
    picture = drawn(
        "event a(k: int). b(k) <- a(k) where k < 0.", [{"type": "a", "time": t, "k": t} for t in range(2000)]
    )
    assert len(tips(picture)) == 500
    assert any("left out" in text for text in texts(picture))


def test_nothing_is_a_picture_too():
    assert not tips(drawn(rows=[]))


def test_timestamps_have_round_times_on_the_clock_of_their_zone():
    rows = [{"type": "a", "time": 1_772_352_000 + 1800 * n, "k": n} for n in range(9)]
    shown = texts(drawn("event a(k: int). b(k) <- a(k).", rows, time_unit="s", timezone="Asia/Kolkata"))
    assert "2026-03-01" in shown
    assert {"14:00", "16:00"} <= set(shown)


def test_all_data_sets_can_be_drawn():
    for name in datasets.names():
        program = ensue.compile(datasets.rules(name))
        picture = ET.fromstring(ensue.timeline(program, datasets.events(name)).svg())
        assert tips(picture)


def test_both_schemes_are_in_it():
    (style,) = drawn().iter(f"{SVG}style")
    assert "prefers-color-scheme:dark" in style.text
    assert style.text.count(".surface") == 2
