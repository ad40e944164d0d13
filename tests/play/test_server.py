"""Requests that are answered, and those that are refused: token, host, origin, and the page's own resources."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from ensue.play.guard import TOKEN_HEADER, Guard
from ensue.play.page import page
from ensue.play.server import MOST_BODY, Playground
from tests.play.conftest import EVENTS, RULES, text_of


def request(
    playground: Playground, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", playground.guard.port, timeout=20)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers or {})
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read().decode()
    finally:
        connection.close()


def own(playground: Playground, **more: str) -> dict[str, str]:
    return {TOKEN_HEADER: playground.guard.token, "Content-Type": "application/json", **more}


def test_the_address_gives_the_page(playground: Playground) -> None:
    status, headers, text = request(playground, "GET", f"/?token={playground.guard.token}")
    assert status == 200
    assert "<title>ensue playground</title>" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("query", ["", "?token=", "?token=guess", "?token=%ff", "?other=1"])
def test_a_wrong_token_is_refused(playground: Playground, query: str) -> None:
    assert request(playground, "GET", f"/{query}")[0] == 403
    headers = own(playground) | {TOKEN_HEADER: query.rpartition("=")[2]}
    assert request(playground, "POST", "/api/start", headers, {})[0] == 403


def test_another_host_name_is_refused(playground: Playground) -> None:
    """A page of another site whose name was made to point here (DNS rebinding) sends that name as the host."""
    for host in (
        "evil.example",
        f"evil.example:{playground.guard.port}",
        "127.0.0.1:1",
        f"[::1]:{playground.guard.port}",
    ):
        assert request(playground, "GET", f"/?token={playground.guard.token}", {"Host": host})[0] == 403
        assert request(playground, "POST", "/api/start", own(playground, Host=host), {})[0] == 403


def test_another_page_is_refused(playground: Playground) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        status, _, text = request(playground, "POST", "/api/start", own(playground, **headers), {})
        assert status == 403 and "Another page asked" in text
    same = own(playground, Origin=f"http://127.0.0.1:{playground.guard.port}")
    assert request(playground, "POST", "/api/start", same, {})[0] == 200


def test_the_address_may_be_a_link_elsewhere(playground: Playground) -> None:
    """A terminal on a page has links that its users click; only those who have the token have the address."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    status, answered, _ = request(playground, "GET", f"/?token={playground.guard.token}", headers)
    assert status == 200 and "frame-ancestors 'none'" in answered["Content-Security-Policy"]


def test_nothing_of_another_origin_is_allowed_in(playground: Playground) -> None:
    headers = request(playground, "POST", "/api/start", own(playground), {})[1]
    assert "Access-Control-Allow-Origin" not in headers
    assert request(playground, "OPTIONS", "/api/start", own(playground))[0] == 501


def test_there_are_no_other_paths(playground: Playground) -> None:
    token = playground.guard.token
    for path in ("/../pyproject.toml", "/page/main.js", "/etc/passwd", "//evil.example/"):
        assert request(playground, "GET", f"{path}?token={token}")[0] == 404
    assert request(playground, "POST", "/api/close", own(playground), {})[0] == 404
    assert request(playground, "POST", "/start", own(playground), {})[0] == 400
    assert request(playground, "POST", "/api/start", own(playground), [])[0] == 400


def test_a_body_that_is_too_large_is_not_read(playground: Playground) -> None:
    headers = own(playground) | {"Content-Length": str(MOST_BODY + 1)}
    assert request(playground, "POST", "/api/start", headers)[0] == 413


def test_it_listens_on_this_machine_only(playground: Playground) -> None:
    assert playground.server_address[0] == "127.0.0.1"


def test_tokens_are_compared_as_bytes() -> None:
    assert Guard(1, "secret").wrong_token("sécret") is not None
    assert Guard(1, "secret").wrong_token(None) is not None


def test_the_page_loads_nothing() -> None:
    text = page("n")
    for sign in ("https:", "//cdn", "src=", "@import", "url(", "innerHTML", "insertAdjacentHTML", "eval("):
        assert sign not in text, sign
    assert text.count('nonce="n"') == 2


def test_a_page_inside_the_page_is_served_by_its_name_only(playground: Playground) -> None:
    taken = playground.session.answer("events", {"text": text_of(EVENTS)})
    assert taken is not None
    answer = playground.session.answer("timeline", {"rules": RULES, "version": taken["version"]})
    assert answer is not None and answer["note"] is None
    status, headers, text = request(playground, "GET", f"/shown/{answer['shown']}")
    assert status == 200 and text.startswith("<!doctype html>")
    assert headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert playground.guard.token not in text
    assert request(playground, "GET", "/shown/guess")[0] == 404
    assert request(playground, "GET", f"/shown/{answer['shown']}", {"Host": "evil.example"})[0] == 403
