"""The pictures of timelines in the documents: `ENSUE_PICTURES=1` takes them again, in a browser.

They look their best where the font Inter is installed (Debian's `fonts-inter`).
"""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

import ensue
from tests.browser import DESKTOP, PHONE, new_page
from tests.view.conftest import open_page, settle

FOLDER = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 250_000
"""Bytes of a picture."""

taken_anew = pytest.mark.skipif(not os.environ.get("ENSUE_PICTURES"), reason="pictures are taken with ENSUE_PICTURES=1")


def pages():
    text = (FOLDER.parent / "timelines.md").read_text(encoding="utf-8")
    return [part.partition(")")[0] for part in text.split("(images/")[1:]]


@pytest.mark.parametrize("name", ["timeline.png", *pages()])
def test_every_picture_is_there_and_small(name):
    data = (FOLDER / name).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < LARGEST
    assert struct.unpack(">I", data[16:20])[0] >= PHONE["width"]


@taken_anew
def test_take_the_shop(browser, orders, tmp_path):
    with new_page(browser, DESKTOP, color_scheme="light") as page:
        open_page(page, orders, tmp_path)
        page.evaluate("ensueTimeline.select(ensueTimeline.events('rep')[8])")
        _take(page, "timeline.png")


@taken_anew
def test_take_one_key_in_the_dark(browser, orders, tmp_path):
    with new_page(browser, {"width": 1280, "height": 640}, color_scheme="dark") as page:
        open_page(page, orders, tmp_path)
        page.select_option("#lanes", "id")
        page.evaluate("ensueTimeline.show(22 * 3600e6, 37 * 3600e6)")
        late = page.evaluate(
            "ensueTimeline.events('overdue').find((e) => ensueTimeline.event(e).attributes.id === '1012')"
        )
        page.evaluate(f"ensueTimeline.select({late}, true)")
        settle(page)
        page.mouse.move(*page.evaluate(f"(({{x, y}}) => [x, y])(ensueTimeline.place({late}))"))
        _take(page, "timeline-keys.png")


@taken_anew
def test_take_a_phone(browser, orders, tmp_path):
    with new_page(browser, {**PHONE, "height": 700}, color_scheme="light", has_touch=True, is_mobile=True) as page:
        open_page(page, orders, tmp_path)
        page.evaluate("ensueTimeline.select(ensueTimeline.events('overdue')[3])")
        _take(page, "timeline-phone.png")


@taken_anew
def test_take_many_events(browser, tmp_path):
    with new_page(browser, DESKTOP | {"height": 560}, color_scheme="light") as page:
        open_page(page, many(), tmp_path)
        _take(page, "timeline-many.png")


def many() -> ensue.Timeline:
    """Logins of a day, more at noon than at night."""
    program = ensue.compile("""
        event failed(user: int).
        event login(user: int).
        guessed(user) <- f: failed(user){3} seq login(user) within 10m.
    """)
    chance, rows = random.Random(1), []
    for _ in range(60_000):
        second = min(max(chance.gauss(13, 4), 0), 23.99) * 3600
        kind = "failed" if chance.random() < 0.3 else "login"
        moment = 1_772_409_600 + second
        rows.append({"type": kind, "time": moment, "user": chance.randrange(300)})
    return ensue.timeline(program, rows, time_unit="s", title="Logins of a day")


def _take(page, name):
    settle(page)
    FOLDER.mkdir(exist_ok=True)
    page.screenshot(path=FOLDER / name)
