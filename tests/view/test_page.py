"""The page of a timeline in a browser: drawing, hover, click, zoom, search, and text that tries to be markup."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import ensue
from tests.browser import PHONE, new_page
from tests.view.conftest import colour_at, open_page, place, settle, state, wait_until

WHITE = (255, 255, 255)


@pytest.fixture
def shop(page, orders, tmp_path):
    return open_page(page, orders, tmp_path)


def events(page, type_):
    return page.evaluate(f"ensueTimeline.events({type_!r})")


def event(page, number):
    return page.evaluate(f"ensueTimeline.event({number})")


def test_all_types_have_a_lane_and_detections_are_above_what_they_are_made_of(shop):
    lanes = [lane["label"] for lane in state(shop)["lanes"]]
    assert lanes == ["Detections", "rep", "comp", "overdue", "Events", "order", "shipped"]
    assert shop.inner_text("#title") == "Orders of a shop"
    assert re.sub(r"\s+", " ", shop.inner_text("#summary")) == "157 events · 108 detections · 2026-03-01 – 2026-03-04"
    assert shop.title() == "Orders of a shop · timeline"


def test_events_are_drawn_where_they_happened(shop):
    first = events(shop, "order")[0]
    x, y = place(shop, first)
    blue = colour_at(shop, x, y)
    assert blue != WHITE
    assert blue[2] > blue[0]
    assert colour_at(shop, x - 40, y) == WHITE
    assert event(shop, first)["start"] == "2026-03-02 07:05:00"


def test_the_pointer_on_an_event_shows_its_attributes(shop):
    overdue = events(shop, "overdue")[0]
    x, y = place(shop, overdue)
    shop.mouse.move(x, y)
    assert state(shop)["hover"] == overdue
    tip = shop.locator("#tip")
    assert tip.is_visible()
    text = tip.inner_text()
    assert "overdue" in text
    assert "1007" in text
    assert "2026-03-02 08:39:11 – 20:39:11" in text
    assert "came from 1 event" in text
    box = tip.bounding_box()
    assert box["y"] + box["height"] < y - 4 or box["y"] > y + 4  # it does not cover what it describes
    shop.mouse.move(x, 5)
    assert not tip.is_visible()


def test_a_click_on_a_detection_lights_up_what_it_came_from(shop):
    done = events(shop, "comp")[0]
    shop.mouse.click(*place(shop, done))
    found = state(shop)
    assert found["selected"] == done
    sources = event(shop, done)["sources"]
    assert sorted(found["lit"]) == sorted([done, *sources])
    assert [event(shop, each)["type"] for each in sources] == ["order", "shipped"]
    panel = shop.locator("#panel")
    assert panel.is_visible()
    assert "Came from 2" in panel.inner_text()
    assert "comp(id, product) <- o: order" in panel.inner_text()
    assert "null" not in panel.inner_text()
    panel.get_by_role("button", name="order").click()
    assert state(shop)["selected"] == sources[0]
    assert "Part of" in panel.inner_text()
    shop.keyboard.press("Escape")
    assert state(shop)["selected"] == -1
    assert state(shop)["lit"] == []
    assert not panel.is_visible()


def test_detections_made_of_detections_light_them_up_too(shop):
    report = events(shop, "rep")[0]
    shop.evaluate(f"ensueTimeline.select({report})")
    between = state(shop)["between"]
    assert "overdue" in {event(shop, each)["type"] for each in between}
    assert set(between) <= set(state(shop)["lit"])


def test_what_is_not_part_of_it_fades(shop):
    late, other = events(shop, "order")[-1], events(shop, "comp")[0]
    before = colour_at(shop, *place(shop, late))
    shop.evaluate(f"ensueTimeline.select({other})")
    settle(shop)
    assert sum(colour_at(shop, *place(shop, late))) > sum(before)


def test_the_wheel_zooms_where_it_points(shop):
    before = state(shop)["view"]
    target = events(shop, "order")[10]
    x, y = map(round, place(shop, target))
    shop.mouse.move(x, y)
    for _ in range(6):
        shop.mouse.wheel(0, -120)
    after = state(shop)["view"]
    assert (after["to"] - after["from"]) < (before["to"] - before["from"]) / 3
    assert abs(place(shop, target)[0] - x) < 10  # at this zoom a pixel of the pointer is several


def test_dragging_moves_in_time(shop):
    shop.get_by_role("button", name="Zoom in").click()
    before = state(shop)["view"]
    shop.mouse.move(700, 680)
    shop.mouse.down()
    shop.mouse.move(500, 680, steps=4)
    shop.mouse.up()
    after = state(shop)["view"]
    assert after["from"] > before["from"]
    assert after["to"] - after["from"] == pytest.approx(before["to"] - before["from"])


def test_keys_zoom_move_and_go_from_detection_to_detection(shop):
    shop.focus("#plot")
    whole = state(shop)["view"]
    shop.keyboard.press("+")
    zoomed = state(shop)["view"]
    assert zoomed["to"] - zoomed["from"] < whole["to"] - whole["from"]
    shop.keyboard.press("ArrowRight")
    assert state(shop)["view"]["from"] > zoomed["from"]
    shop.keyboard.press("Home")
    assert state(shop)["view"] == whole
    shop.keyboard.press("n")
    first = state(shop)["selected"]
    assert event(shop, first) == {**event(shop, first), "type": "comp", "end": "2026-03-02 08:01:45"}
    shop.keyboard.press("n")
    second = state(shop)["selected"]
    assert second != first
    assert shop.locator("#live").text_content().startswith("comp, 2026-03-02")
    shop.keyboard.press("p")
    assert state(shop)["selected"] == first


def test_a_window_is_dragged_in_the_strip_of_all_of_time(shop):
    box = shop.locator("#strip").bounding_box()
    y, whole = box["y"] + box["height"] / 2, state(shop)["view"]
    shop.mouse.move(box["x"] + 640, y)
    shop.mouse.down()
    shop.mouse.move(box["x"] + 900, y, steps=4)
    shop.mouse.up()
    view = state(shop)["view"]
    span = whole["to"] - whole["from"]
    assert (view["to"] - view["from"]) / span == pytest.approx(260 / (1280 - 32), rel=0.02)
    shop.mouse.move(box["x"] + 770, y)
    shop.mouse.down()
    shop.mouse.move(box["x"] + 670, y, steps=4)
    shop.mouse.up()
    moved = state(shop)["view"]
    assert moved["from"] == pytest.approx(view["from"] - span * 100 / (1280 - 32), rel=0.02)


def test_search_finds_values_and_keys(shop):
    shop.keyboard.press("/")
    shop.keyboard.type("id=1012")
    wait_until(shop, "ensueTimeline.state().matches !== null")
    assert state(shop)["matches"] == 4
    assert shop.inner_text("#matches") == "4"
    shop.keyboard.press("Enter")
    chosen = state(shop)["selected"]
    assert event(shop, chosen)["attributes"]["id"] == "1012"
    shop.keyboard.press("Enter")
    assert state(shop)["selected"] != chosen
    shop.fill("#search", "lemon")
    wait_until(shop, "ensueTimeline.state().matches > 10")
    shop.fill("#search", "id=101")
    wait_until(shop, "ensueTimeline.state().matches === 0")
    assert shop.inner_text("#matches") == "none"
    shop.keyboard.press("Escape")
    assert state(shop)["matches"] is None


def test_lanes_by_key_have_all_of_it_together(shop):
    shop.select_option("#lanes", "id")
    found = state(shop)
    assert found["mode"] == "id"
    assert len(found["lanes"]) == 82  # 81 orders, and what has no id
    assert found["lanes"][-1]["label"] == "without id"
    order = events(shop, "order")[6]
    found = [*events(shop, "comp"), *events(shop, "overdue")]
    parts = [each for each in found if event(shop, each)["attributes"]["id"] == "1007"]
    assert len(parts) == 2
    assert all(place(shop, each)[1] < place(shop, order)[1] for each in parts)
    shop.fill("#search", "id=1007")
    wait_until(shop, "ensueTimeline.state().lanes.length === 1")
    shop.select_option("#lanes", "type")
    assert len(state(shop)["lanes"]) == 7


def test_types_are_hidden_and_shown(shop):
    button = shop.locator("#legend").get_by_role("button", name="comp")
    button.click()
    assert "comp" not in [lane["label"] for lane in state(shop)["lanes"]]
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert "comp" in [lane["label"] for lane in state(shop)["lanes"]]


HOSTILE = "<img src=x onerror=\"document.title='broken'\"></script><script>document.title='broken'</script>"


def test_hostile_text_is_shown_as_text(page, tmp_path):
    program = ensue.compile("event `a<b>`(k: string). found(k) <- `a<b>`(k). ")
    rows = [{"type": "a<b>", "time": 1, "k": HOSTILE}, {"type": "a<b>", "time": 5, "k": "}}{{data}}"}]
    shown = ensue.timeline(program, rows, title=HOSTILE)
    open_page(page, shown, tmp_path)
    assert page.title() == f"{HOSTILE} · timeline"
    assert page.inner_text("#title") == HOSTILE
    found = events(page, "found")[0]
    page.mouse.move(*place(page, found))
    settle(page)
    assert HOSTILE in page.inner_text("#tip")
    page.mouse.click(*place(page, found))
    assert HOSTILE in page.inner_text("#panel")
    assert "a<b>" in page.inner_text("#panel")
    page.select_option("#lanes", "k")
    assert sorted(lane["label"] for lane in state(page)["lanes"]) == sorted([HOSTILE, "}}{{data}}"])
    assert page.locator("img").count() == 0
    assert page.title() == f"{HOSTILE} · timeline"


def test_a_notebook_shows_the_page_in_a_frame(page, orders):
    page.set_content(f"<title>notebook</title><body>{orders._repr_html_()}</body>")
    frame = page.frames[1]
    frame.wait_for_selector("body.ready")
    assert frame.evaluate("ensueTimeline.state().total") == 265
    assert page.evaluate("getComputedStyle(document.body).display") == "block"  # its style is the frame's alone


def test_dark_where_the_system_is(browser, orders, tmp_path):
    with new_page(browser, color_scheme="dark") as page:
        open_page(page, orders, tmp_path)
        assert state(page)["dark"]
        assert max(colour_at(page, 640, 730)) < 60
        page.emulate_media(color_scheme="light")
        wait_until(page, "!ensueTimeline.state().dark")
        settle(page)
        assert colour_at(page, 640, 730) == WHITE


def test_a_phone_shows_it_without_scrolling_sideways(browser, orders, tmp_path):
    with new_page(browser, PHONE, has_touch=True, is_mobile=True) as page:
        open_page(page, orders, tmp_path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert state(page)["gutter"] == 0
        page.touchscreen.tap(*place(page, events(page, "overdue")[0]))
        assert event(page, state(page)["selected"])["type"] == "overdue"
        assert page.locator("#panel").bounding_box()["width"] == PHONE["width"]


def test_two_fingers_zoom(browser, orders, tmp_path):
    with new_page(browser, PHONE, has_touch=True, is_mobile=True) as page:
        open_page(page, orders, tmp_path)
        before, fingers = state(page)["view"], page.context.new_cdp_session(page)

        def touch(kind, *xs):
            points = [{"x": x, "y": 400, "id": number} for number, x in enumerate(xs)]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", 180)
        touch("touchStart", 180, 220)
        for spread in (20, 40, 60, 80):
            touch("touchMove", 180 - spread, 220 + spread)
        touch("touchEnd")
        after = state(page)["view"]
        assert (after["to"] - after["from"]) < (before["to"] - before["from"]) / 3
        assert state(page)["selected"] == -1


def test_many_events_are_a_density_until_one_zooms_in(page, tmp_path):
    program = ensue.compile("event a(k: int). event b(k: int). ab(k) <- a(k) seq b(k) within 3.")
    rows = {
        "a": [{"time": 2 * i, "k": i % 50} for i in range(6000)],
        "b": [{"time": 2 * i + 1, "k": i % 50} for i in range(6000)],
    }
    open_page(page, ensue.timeline(program, rows), tmp_path)
    found = state(page)
    assert found["total"] == 18000
    assert [lane["dense"] for lane in found["lanes"] if not lane["heading"]] == [True, True, True]
    x, y = place(page, events(page, "a")[3000])
    page.mouse.move(x, y)
    settle(page)
    assert "Zoom in to see each of them." in page.inner_text("#tip")
    assert state(page)["hover"] == -1
    page.evaluate("ensueTimeline.show(6000, 6100)")
    found = state(page)
    assert [lane["dense"] for lane in found["lanes"] if not lane["heading"]] == [False, False, False]
    middle = events(page, "a")[3020]
    page.mouse.move(*place(page, middle))
    assert state(page)["hover"] == middle


def test_the_page_says_what_it_leaves_out(page, tmp_path):
    program = ensue.compile("event a(k: int). event b(k: int). ab(k) <- a(k) seq b(k).")
    rows = [{"type": "a", "time": i, "k": i} for i in range(100)] + [{"type": "b", "time": 200, "k": 7}]
    open_page(page, ensue.timeline(program, rows, most=20), tmp_path)
    assert "Too much for one page: 82 events are left out." in page.inner_text("#notes")
    assert "of 100" in page.inner_text("#legend")


def test_nothing_at_all_is_a_page_that_says_so(page, tmp_path):
    open_page(page, ensue.timeline(ensue.compile("event a(k: int). b(k) <- a(k)."), []), tmp_path)
    assert state(page)["total"] == 0
    assert "0 events" in page.inner_text("#summary")


MOMENTS = [datetime(2026, 3, 28, 19, tzinfo=UTC) + timedelta(hours=hour) for hour in range(16)]


@pytest.mark.parametrize(
    ("times", "ticks", "context"),
    [
        ([0, 9000], ["0", "1,000", "2,000"], []),
        ([10**15, 10**15 + 40], ["1,000,000,000,000,000", "1,000,000,000,000,005"], []),
        (pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin")), ["20:00", "22:00", "00:00", "03:00", "04:00"],
         ["Saturday, 28 March 2026", "Sunday, 29 March 2026"]),
        (pa.array(MOMENTS, pa.timestamp("us", "UTC")), ["20:00", "22:00", "00:00", "02:00", "04:00"],
         ["Saturday, 28 March 2026", "Sunday, 29 March 2026"]),
        (pa.array([MOMENTS[0], MOMENTS[0] + timedelta(days=40)], pa.timestamp("us", "UTC")), ["30 Mar", "6 Apr"],
         ["March 2026", "April 2026", "May 2026"]),
        (pa.array([MOMENTS[0], MOMENTS[0] + timedelta(days=4000)], pa.timestamp("us", "UTC")), ["2028", "2030"], []),
        (pa.array([MOMENTS[0], MOMENTS[0] + timedelta(milliseconds=9)], pa.timestamp("us", "UTC")),
         ["00.000", "00.001"], ["2026-03-28 18:59", "2026-03-28 19:00"]),
    ],
    ids=["numbers", "large", "summer time begins", "hours", "days", "years", "milliseconds"],
)  # fmt: skip
def test_times_are_at_sensible_ticks(page, tmp_path, times, ticks, context):
    table = pa.table({"type": ["a"] * len(times), "time": times, "k": list(range(len(times)))})
    open_page(page, ensue.timeline(ensue.compile("event a(k: int). b(k) <- a(k)."), table), tmp_path)
    axis = page.evaluate("ensueTimeline.axis()")
    assert [text for text in axis["ticks"] if text in ticks] == ticks
    assert axis["context"] == context
