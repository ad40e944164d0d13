"""An answer as HTML for notebooks: its text with colours. Everything that comes from events is escaped."""

from __future__ import annotations

from html import escape

from ensue.reasons.answer import Answer
from ensue.reasons.text import text_of

_COLOURS = {"✗": "#c0392b", "✓": "#2e7d32", "∅": "#8e6c00", "•": "#1565c0", "┄": "#6a6a6a", "▫": "#6a6a6a"}
_STYLE = "font-size:13px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere"


def html_of(why: Answer) -> str:
    """The whole answer, in one element."""
    return f'<pre class="ensue-why" style="{_STYLE}">{chr(10).join(map(_line, text_of(why).splitlines()))}</pre>'


def _line(line: str) -> str:
    """A line as HTML, bold if it is a heading, coloured by its sign.

    >>> _line("  ✗ <b>")
    '  <span style="color:#c0392b">✗ &lt;b&gt;</span>'
    """
    if line and not line.startswith(" "):
        return f"<b>{escape(line)}</b>"
    for sign, colour in _COLOURS.items():
        before, found, after = line.partition(f"{sign} ")
        if found and not any(char.isalpha() for char in before.replace("T", "").replace("Z", "")):
            return f'{escape(before)}<span style="color:{colour}">{escape(found + after)}</span>'
    return escape(line)
