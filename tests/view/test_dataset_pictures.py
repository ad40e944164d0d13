"""The pictures of data sets in the documents: `ENSUE_PICTURES=1` takes them again, in a browser."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import ensue
from ensue import datasets
from tests.browser import new_page
from tests.view.conftest import open_page, settle

FOLDER = Path(__file__).parents[2] / "docs" / "datasets"
LARGEST = 150_000
"""Bytes of a picture."""

WIDTH = 1100


@dataclass(frozen=True)
class Shown:
    """A part of a data set, and the detection that is chosen in it."""

    type: str
    number: int = 0
    timeline: dict[str, Any] = field(default_factory=dict)
    height: int = 620


PICTURES = {
    "orders": Shown("overdue", timeline={"only": {"id": 1035}}),
    "logins": Shown("break_in", timeline={"only": {"ip": "203.0.113.66"}}),
    "machines": Shown(
        "hot_in_maintenance",
        timeline={"only": {"machine": "press 2"}, "window": ("2026-03-10T08:00:00Z", "2026-03-10T12:00:00Z")},
    ),
    "ticks": Shown(
        "turn", timeline={"only": {"share": "DUNE"}, "window": ("2026-03-04T11:40:00Z", "2026-03-04T12:30:00Z")}
    ),
    "pizza": Shown("blame_oven", timeline={"only": {"order": 93}}, height=780),
    "hospital": Shown("briefing", 2, {"window": ("2026-03-10T08:30:00Z", "2026-03-10T10:30:00Z")}, 740),
    "supply_chain": Shown("wrong_way", timeline={"only": {"pallet": 7052}}),
}


def test_every_data_set_has_a_picture():
    assert tuple(PICTURES) == datasets.names()


@pytest.mark.parametrize("name", datasets.names())
def test_a_picture_is_there_small_and_shown(name):
    data = (FOLDER / f"{name}.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < LARGEST
    assert struct.unpack(">II", data[16:24]) == (WIDTH, PICTURES[name].height)
    assert f"]({name}.png)" in (FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not os.environ.get("ENSUE_PICTURES"), reason="pictures are taken with ENSUE_PICTURES=1")
@pytest.mark.parametrize("name", datasets.names())
def test_take_a_picture(browser, name, tmp_path):
    chosen = PICTURES[name]
    program = ensue.compile(datasets.rules(name))
    timeline = ensue.timeline(program, datasets.events(name), title=datasets.dataset(name).title, **chosen.timeline)
    with new_page(browser, {"width": WIDTH, "height": chosen.height}, color_scheme="light") as page:
        open_page(page, timeline, tmp_path)
        page.evaluate(f"ensueTimeline.select(ensueTimeline.events({chosen.type!r})[{chosen.number}])")
        settle(page)
        page.screenshot(path=FOLDER / f"{name}.png")
