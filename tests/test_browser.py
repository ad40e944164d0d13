"""The browser that tests of pages use: it opens files, and reports forbidden actions of pages."""

import pytest

from tests.browser import PHONE, address_of, new_page


def test_it_opens_a_page_and_runs_its_script(page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>t</title><p>a<script>document.title = 'done'</script>", encoding="utf-8")
    page.goto(address_of(path))
    assert page.title() == "done"


def test_it_is_as_wide_as_a_phone_if_that_is_asked_for(browser):
    with new_page(browser, PHONE) as page:
        assert page.evaluate("innerWidth") == PHONE["width"]


def test_a_failing_script_fails_the_test(browser):
    with pytest.raises(AssertionError, match="nowhere"), new_page(browser) as page:
        page.set_content("<script>nowhere()</script>")


def test_a_request_to_elsewhere_fails_the_test(browser):
    with pytest.raises(AssertionError, match=r"elsewhere\.example"), new_page(browser) as page:
        page.set_content("<img src='http://elsewhere.example/a.png'>")
