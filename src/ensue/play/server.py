"""The server of the playground: it listens on this machine only, and answers its own page only."""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ensue.play.guard import TOKEN_HEADER, Guard, new_token
from ensue.play.page import inner_policy, page, policy
from ensue.play.session import Session

LOOPBACK = "127.0.0.1"
SHOWN = "/shown/"
MOST_BODY = 40_000_000
"""Bytes of a request: events may double when they are written as a JSON string."""

IDLE_SECONDS = 60


class Playground(ThreadingHTTPServer):
    """A session behind an address that has a token in it."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, session: Session, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), Handler)
        self.session = session
        self.guard = Guard(self.server_address[1], new_token())

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://{LOOPBACK}:{self.guard.port}/?token={self.guard.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no news."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: Playground
    server_version = "ensue"
    sys_version = ""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/favicon.ico":
            return self._send(HTTPStatus.NO_CONTENT, "", "text/plain")
        if parts.path.startswith(SHOWN):
            return self._send_shown(parts.path.removeprefix(SHOWN))
        token = parse_qs(parts.query).get("token", [None])[0]
        guard = self.server.guard  # the address may be a link on another page, such as that of a terminal
        refusal = guard.other_host(self._headers()) or guard.wrong_token(token)
        if refusal is not None:
            return self._send(HTTPStatus.FORBIDDEN, refusal, "text/plain")
        if parts.path != "/":
            return self._send(HTTPStatus.NOT_FOUND, "There is no such page.", "text/plain")
        nonce = new_token()
        return self._send(HTTPStatus.OK, page(nonce), "text/html", policy(nonce))

    def _send_shown(self, name: str) -> None:
        """Sends a page that is shown inside the page. It does not have the token: its name is as good as one."""
        guard = self.server.guard
        refusal = guard.other_host(self._headers()) or guard.other_page(self._headers())
        if refusal is not None:
            return self._send(HTTPStatus.FORBIDDEN, refusal, "text/plain")
        html = self.server.session.shown(name)
        if html is None:
            return self._send(HTTPStatus.NOT_FOUND, "There is no such page.", "text/plain")
        return self._send(HTTPStatus.OK, html, "text/html", inner_policy())

    def do_POST(self) -> None:
        refusal = self.server.guard.refusal(self._headers(), self.headers.get(TOKEN_HEADER))
        if refusal is not None:
            self.close_connection = True  # what it sends is not read
            return self._send_json(HTTPStatus.FORBIDDEN, {"failure": refusal})
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BODY:
            self.close_connection = True
            return self._send_json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"failure": "This is too large."})
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        path = urlsplit(self.path).path
        if not isinstance(body, dict) or not path.startswith("/api/"):
            return self._send_json(HTTPStatus.BAD_REQUEST, {"failure": "This is no request of the page."})
        answer = self.server.session.answer(path.removeprefix("/api/"), body)
        if answer is None:
            return self._send_json(HTTPStatus.NOT_FOUND, {"failure": "There is no such request."})
        return self._send_json(HTTPStatus.OK, answer)

    def _headers(self) -> dict[str, str]:
        return {name: self.headers[name] for name in ("Host", "Origin", "Sec-Fetch-Site") if name in self.headers}

    def _send_json(self, status: HTTPStatus, answer: dict[str, Any]) -> None:
        self._send(status, json.dumps(answer), "application/json")

    def _send(self, status: HTTPStatus, text: str, kind: str, security: str = "default-src 'none'") -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", security)
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged: requests are as many as letters typed."""
