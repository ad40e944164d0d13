"""HTML for notebooks: text in a box and small tables; all other text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_BOX = (
    "border:1px solid #8884;border-radius:8px;padding:10px 14px;margin:4px 0;max-width:72em;"
    "font:13px/1.5 system-ui,sans-serif;overflow-x:auto"
)
_CODE = "margin:6px 0 0;white-space:pre;font:12px/1.5 ui-monospace,monospace;background:none;color:inherit"
_CELL = "text-align:left;padding:2px 18px 2px 0;vertical-align:top"


def box(title: str, *parts: str) -> str:
    """A box with a title above parts, which are HTML."""
    return f'<div style="{_BOX}"><b>{escape(title)}</b>{"".join(parts)}</div>'


def code(text: str) -> str:
    """
    >>> "&lt;b&gt;" in code("<b>")
    True
    """
    return f'<pre style="{_CODE}">{escape(text)}</pre>'


def folded(title: str, part: str) -> str:
    """A part that is shown when its title is pressed."""
    return f'<details style="margin-top:8px"><summary>{escape(title)}</summary>{part}</details>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    titles = "".join(f'<th style="{_CELL}">{escape(each)}</th>' for each in head)
    cells = ("".join(f'<td style="{_CELL}">{escape(each)}</td>' for each in row) for row in rows)
    lines = "".join(f"<tr>{each}</tr>" for each in cells)
    return f'<table style="margin:8px 0 0;border-collapse:collapse"><tr>{titles}</tr>{lines}</table>'
