"""The page as one document: its styles and scripts are put into it, so that nothing else is loaded."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

SCRIPTS = (
    "elements.js", "text.js", "editor.js", "table.js", "plan.js", "asking.js", "rules.js", "events.js", "found.js",
    "why.js", "tests.js", "files.js", "main.js",
)  # fmt: skip
"""In the order in which they build on each other; together they are one script."""


def policy(nonce: str) -> str:
    """The policy of the page: run the scripts that came with it, and ask its own server."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def inner_policy() -> str:
    """The policy of a page inside the page: run its own scripts, with no access to the page around it or to the server.

    It has a policy of its own that names them; this one sees to the rest.
    """
    return (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def page(nonce: str) -> str:
    """The page, with a nonce for its styles and scripts.

    >>> "https://" in page("n") or "@import" in page("n")
    False
    """
    return _page().replace("NONCE", nonce)


@cache
def _page() -> str:
    folder = files("ensue.play") / "page"
    scripts = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    html = (folder / "page.html").read_text(encoding="utf-8")
    style = (folder / "style.css").read_text(encoding="utf-8")
    return html.replace("/* STYLE */", style).replace("/* SCRIPT */", f'"use strict";\n{scripts}')
