"""The page of a timeline: one file with its style, its scripts and its data, which loads nothing from elsewhere.

The data, hostile text included, is in bytes that are compressed and written in base64, so none of it is ever markup. A
policy in the page names its scripts and its style by their hashes, so nothing else would run.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import cache
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent

SCRIPTS = ("data.js", "times.js", "lanes.js", "theme.js", "draw.js", "search.js", "details.js", "pointer.js", "main.js")
"""In the order in which they build on each other; together they are one script."""


def page(title: str, data: bytes) -> str:
    """The page with packed data."""
    style, script = _style(), _script()
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'"
    filled = {
        "policy": escape(policy, quote=True).replace("&#x27;", "'"),
        "title": escape(title),
        "style": style,
        "data": base64.b64encode(zlib.compress(data, 6)).decode("ascii"),
        "script": script,
    }
    before, *parts = (FOLDER / "page.html").read_text(encoding="utf-8").split("{{")
    pieces = [before]
    for part in parts:
        name, _, after = part.partition("}}")
        pieces += filled[name], after
    return "".join(pieces)


def themed(page_: str, theme: str) -> str:
    """The page in light or dark, ``"light"`` or ``"dark"``, whatever the system prefers; for pages around it.

    >>> "prefers-color-scheme" in themed(page("orders", b""), "dark").partition("</style>")[0]
    False
    """
    style = _style()
    own = style.replace("(prefers-color-scheme: dark)", "all" if theme == "dark" else "not all")
    scheme = page_.replace('name="color-scheme" content="light dark"', f'name="color-scheme" content="{theme}"', 1)
    return scheme.replace(_hash(style), _hash(own), 1).replace(style, own, 1)


def frame(page_: str, title: str, height: int) -> str:
    """A page inside another one, such as a notebook: styles and scripts of the two know nothing of each other."""
    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:8px"
    return (
        f'<iframe title="{escape(title, quote=True)}" style="{style}" sandbox="allow-scripts" '
        f'srcdoc="{escape(page_, quote=True)}"></iframe>'
    )


@cache
def _style() -> str:
    return (FOLDER / "page.css").read_text(encoding="utf-8")


@cache
def _script() -> str:
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "\n})();\n"


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
