"""The answer of `ensue.why`, and its forms."""

from __future__ import annotations

from typing import Any

from ensue.reasons.answer import Answer


class Why(Answer):
    """The answer of `ensue.why`: detections that fit the question, or else why there is none.

    `str` gives a timeline as text, `to_dict` plain data, and a notebook shows it as HTML.
    """

    def __str__(self) -> str:
        from ensue.reasons.text import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from ensue.reasons.html import html_of

        return html_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The answer as dicts, lists, texts and numbers, for JSON."""
        from ensue.reasons.as_dict import dict_of

        return dict_of(self)
