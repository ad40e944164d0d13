"""Authorise requests: only the page that was opened with the token, on this machine, is answered.

The server listens on the loopback interface. Other pages in the same browser can still send it requests, under its own
name or, with DNS rebinding, under theirs: so the host, the origin and the token of each request are checked.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping

from ensue.records import dataclass

TOKEN_HEADER = "X-Ensue-Token"


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Guard:
    """The port of the server, and the token of its page."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts under which the server is reached."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def refusal(self, headers: Mapping[str, str], token: str | None) -> str | None:
        """Reason to refuse a request of the page; None if it is answered.

        >>> guard = Guard(8000, "secret")
        >>> guard.refusal({"Host": "127.0.0.1:8000"}, "secret")
        >>> guard.refusal({"Host": "127.0.0.1:8000"}, "guess")
        'The token in the address is missing or wrong: open the address that `ensue play` printed.'
        """
        return self.other_host(headers) or self.other_page(headers) or self.wrong_token(token)

    def other_host(self, headers: Mapping[str, str]) -> str | None:
        """Reason to refuse a request under another host name, such as one that was made to point here.

        >>> Guard(8000, "secret").other_host({"Host": "evil.example:8000"})
        'This server is asked as 127.0.0.1:8000 only.'
        """
        if headers.get("Host", "").lower() in self.hosts:
            return None
        return f"This server is asked as {self.hosts[0]} only."

    def other_page(self, headers: Mapping[str, str]) -> str | None:
        """Reason to refuse a request of another page, by the headers of browsers; None if it is the own page."""
        origin = headers.get("Origin")
        known = origin is None or origin.lower() in [f"http://{host}" for host in self.hosts]
        if known and headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none"):
            return None
        return "Another page asked; only the playground's own page is answered."

    def wrong_token(self, token: str | None) -> str | None:
        """Reason to refuse a token, which is compared in constant time."""
        if token is not None and hmac.compare_digest(token.encode(errors="replace"), self.token.encode()):
            return None
        return "The token in the address is missing or wrong: open the address that `ensue play` printed."
