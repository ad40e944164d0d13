"""The playground in a browser: typing a mistake and fixing it, examples, tests, saving, and hostile events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ensue.play.server import Playground
from ensue.play.session import Session
from tests.browser import PHONE, new_page, picture
from tests.play.conftest import EVENTS, HOSTILE, RULES, exploding, text_of

UNQUOTED = HOSTILE.replace('"', "")
AREA = "#editor textarea"
SHOWN = "#took:has-text(' ms')"


@pytest.fixture(autouse=True)
def as_written(folder: Path, session: Session) -> Iterator[None]:
    """Every test begins with the files as they were."""
    start, documents = session.start, {which: replace(each) for which, each in session.files.documents.items()}
    yield
    (folder / "shop.ensue").write_text(RULES)
    (folder / "events.jsonl").write_text(text_of(EVENTS))
    session.start, session.files.documents = start, documents


def opened(page: Any, playground: Playground) -> Any:
    page.goto(playground.address)
    page.wait_for_selector(SHOWN, state="attached")
    return page


def written(page: Any, rules: str) -> None:
    """Writes rules into the editor as someone who pastes does."""
    page.focus(AREA)
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(rules)


def test_the_page_shows_rules_events_and_detections(page: Any, playground: Playground) -> None:
    opened(page, playground)
    assert page.input_value(AREA) == RULES
    assert page.text_content("#rules-name") == "shop.ensue"
    assert page.locator("#events-table tbody tr:not(.gap)").count() == 4
    assert page.locator("#found tbody tr:not(.gap)").count() == 3
    assert page.text_content("#found-count") == "3"
    assert page.locator("#events-table td", has_text="9007199254740993").count() == 2  # no digit is lost
    page.wait_for_selector("#state.fine")
    kinds = page.locator("#editor .k-event").all_text_contents()
    assert kinds[:2] == ["order", "shipped"]


def test_a_mistake_is_marked_and_mended(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.wait_for_selector("#state.fine")
    page.focus(AREA)
    page.keyboard.press("Control+End")
    page.keyboard.type("big(id) <- order(id, p, n), n > tem.")
    page.wait_for_selector("#editor .mark.error:text-is('tem')")  # unfinished statements had errors of their own
    page.wait_for_selector("#problems .error:has-text('tem')")
    page.wait_for_selector("#state.error:has-text('1 error')")
    assert page.locator("#editor .mark.error").count() == 1
    page.wait_for_selector("#message.mild")
    assert page.locator("body.stale").count() == 1
    for _ in range(4):
        page.keyboard.press("Backspace")
    page.keyboard.type("1.")
    page.wait_for_selector("#types .chip:has-text('big')")
    assert page.locator("#message").is_hidden() and page.locator("#editor .mark.error").count() == 0
    assert page.text_content("#types .chip:has-text('big') b") == "1"


def test_a_word_is_completed(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.focus(AREA)
    page.keyboard.press("Control+End")
    page.keyboard.type("big(id) <- o: order(id, p, n), o.q")
    page.wait_for_selector("#completions .option:has-text('qty')")
    picture(page, "playground-completion")
    page.keyboard.press("Tab")
    assert page.input_value(AREA).endswith("o.qty")
    page.keyboard.press("Control+Z")
    assert page.input_value(AREA).endswith("o.q")


def test_a_name_is_explained_under_the_pointer(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.wait_for_selector("#state.fine")
    page.locator("#editor .k-event", has_text="late").first.scroll_into_view_if_needed()
    box = page.locator("#editor .line", has_text="late(id)").locator(".k-event").first.bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.wait_for_selector("#hover:has-text('event late(id: int)')")
    assert "keeps" in page.text_content("#hover")


def test_why_follows_a_detection_and_says_what_stopped_another(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.click("#found td:has-text('muffins')")
    page.wait_for_selector(".card.detected:has-text('comp(id=42')")
    assert page.locator(".happened.event").count() == 2
    page.select_option("#why-type", "late")
    page.fill("#why-key", "id=42")
    page.fill("#why-at", "")
    page.click("#why-form button")
    page.wait_for_selector(".card.missing .stop:has-text('shipped(id=42')")
    picture(page, "playground-why")
    page.dblclick("#events-table td[data-column=time] >> nth=1")
    page.fill("input.cell", "29000")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card.detected:has-text('late(id=42)')")  # the answer follows the events


def test_the_timeline_is_a_page_that_reaches_nothing(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.select_option("#examples", "orders")
    page.wait_for_selector("#took:has-text('157 events')")
    page.click("[data-tab=timeline]")
    page.wait_for_selector("#timeline iframe:not(.waiting)")
    frame = page.frame_locator("#timeline iframe")
    frame.locator("body.ready").wait_for()
    assert "108 detections" in frame.locator("#summary").text_content()
    page.click("#wide")
    page.wait_for_timeout(300)  # it is drawn again
    picture(page, "playground-timeline")
    inner = page.frames[-1]
    assert inner.evaluate("() => window.origin") == "null"
    assert inner.evaluate("() => { try { return parent.document.title; } catch { return 'refused'; } }") == "refused"
    shown = page.get_attribute("#timeline iframe", "src")
    page.click("#theme")
    page.wait_for_selector(f"#timeline iframe:not(.waiting):not([src='{shown}'])")
    dark = "() => getComputedStyle(document.documentElement).getPropertyValue('--scheme').trim()"
    assert page.frames[-1].evaluate(dark) == "dark"


def test_tests_run_with_a_click(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.click("#test")
    page.wait_for_selector(".test.passed:has-text('an order that ships is complete')")
    written(page, RULES.replace("@ [3, 7]", "@ [3, 8]"))
    page.click("#test")
    page.wait_for_selector(".test.failed .missing:has-text('@ [3, 8]')")
    assert "@ [3, 7]" in page.text_content(".test.failed .unexpected")
    picture(page, "playground-tests")
    page.click(".test .small")
    page.wait_for_selector("#events-name:has-text('of the test')")
    assert page.locator("#events-table tbody tr:not(.gap)").count() == 2


def test_an_example_is_chosen(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.select_option("#examples", "orders")
    page.wait_for_selector("#types .chip:has-text('overdue')")
    assert page.text_content("#events-notice") == "157 events"
    page.wait_for_selector("#state.fine")
    page.wait_for_selector("#took:has-text('157 events')")
    picture(page, "playground")
    page.click("[data-tab=plan]")
    page.wait_for_selector(".card:has-text('rep') .tree")
    assert page.locator(".plans .badge.warn").count() == 1
    picture(page, "playground-plan")
    page.select_option("#examples", "brute_force")
    from playwright.sync_api import expect  # it is there where a page is

    expect(page.locator("#params")).to_have_value("tries=3")
    expect(page.locator("#found-count")).to_have_text("1")


def test_hostile_text_is_text(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.click("#as-text")
    page.fill("#events", text_of([{**EVENTS[0], "product": HOSTILE}, *EVENTS[1:]]))
    page.click("#as-table")
    for place in ("#events-table", "#found"):
        page.wait_for_selector(f"{place} td:has-text('onerror')")
        assert page.locator(f"{place} td", has_text=HOSTILE).count() == 1
    written(page, f'event a(x: string).\n# {HOSTILE}\nb("{UNQUOTED}") <- a(x).\ncc(x) <- aa({HOSTILE}).')
    page.wait_for_selector("#state.error")
    page.click("#as-text")
    page.fill("#events", f'{HOSTILE}\n{{"type": "{UNQUOTED}", "time": 1, "<b>x</b>": 1}}\n')
    page.click("#as-table")
    page.wait_for_selector("#events-table tr.bad")
    written(
        page,
        f'event a(x: string).\nb(x) <- a(x).\ntest "{UNQUOTED}" given a("x") @ 1 expect b("<i>") @ 1.',
    )
    page.click("#test")
    page.wait_for_selector(".test.failed")
    assert page.locator("img, i, table b").count() == 0
    assert page.title() != "1"


def test_a_rule_that_explodes_gives_a_message_and_the_page_lives(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.click("#as-text")
    page.fill(
        "#events", text_of([{"type": "order", "time": n, "id": n, "product": "tea", "qty": n} for n in range(200)])
    )
    written(page, exploding())
    page.wait_for_selector("#message:not(.mild):has-text('within')", timeout=20_000)
    written(page, "event order(id: int, product: string, qty: int).\nany(id) <- order(id, p, q).")
    page.wait_for_selector("#found-count:has-text('200')")
    assert page.locator("#message").is_hidden()


def test_saving_writes_the_file(page: Any, playground: Playground, folder: Path) -> None:
    opened(page, playground)
    written(page, RULES + "# mine\n")
    assert page.locator("#rules-name.dirty").count() == 1
    page.keyboard.press("Control+S")
    page.wait_for_selector("#toast:has-text('Saved shop.ensue')")
    assert (folder / "shop.ensue").read_text() == RULES + "# mine\n"
    opened(page, playground)
    assert page.input_value(AREA) == RULES + "# mine\n"  # a page that is opened again shows what was saved
    (folder / "shop.ensue").write_text("someone(else).\n")
    written(page, RULES)
    page.click("#save")
    page.wait_for_selector("dialog[open]:has-text('changed by someone else')")
    page.click("dialog button[value=no]")
    assert (folder / "shop.ensue").read_text() == "someone(else).\n"
    page.click("#save")
    page.click("dialog #ask-yes")
    page.wait_for_selector("#toast:has-text('Saved')")
    assert (folder / "shop.ensue").read_text() == RULES


def test_an_example_is_saved_under_a_name(page: Any, playground: Playground, folder: Path) -> None:
    opened(page, playground)
    page.select_option("#examples", "sessions")
    page.wait_for_selector("#rules-name:empty", state="attached")
    page.click("#save-events")
    page.fill("#ask-name", "../out.jsonl")
    page.click("#ask-yes")
    page.wait_for_selector("#toast.bad:has-text('not the name of a file')")
    page.click("#save-events")
    page.fill("#ask-name", "mine.jsonl")
    page.click("#ask-yes")
    page.wait_for_selector("#toast:has-text('Saved mine.jsonl')")
    assert (folder / "mine.jsonl").read_text().count("\n") > 1
    assert not (folder.parent / "out.jsonl").exists()


def test_a_cell_is_edited(page: Any, playground: Playground) -> None:
    opened(page, playground)
    page.dblclick("#events-table td[data-column=time] >> nth=1")
    page.fill("input.cell", "29000")
    page.keyboard.press("Enter")
    page.wait_for_selector("#types .chip:has-text('late') b:has-text('2')")
    page.click("#as-text")
    lines = page.input_value("#events").splitlines()
    assert lines[1] == '{"type": "shipped", "time": 29000, "id": 42, "tracking": "x"}'
    assert lines[2:] == text_of(EVENTS).splitlines()[2:]  # not a sign of the others changed


def test_a_wrong_token_shows_nothing(page: Any, playground: Playground) -> None:
    response = page.request.get(playground.address[:-1] + "x")
    assert response.status == 403
    assert "order" not in response.text()


def test_on_a_phone_in_the_dark(browser: Any, playground: Playground) -> None:
    with new_page(browser, PHONE, color_scheme="dark") as page:
        opened(page, playground)
        assert page.get_attribute("html", "data-theme") == "dark"
        assert page.locator("#results-pane").is_hidden()
        page.click("nav [data-pane=results]")
        assert page.locator("#found tbody tr:not(.gap)").count() == 3
        assert page.locator("#rules-pane").is_hidden()
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= PHONE["width"]
        picture(page, "playground-phone")
