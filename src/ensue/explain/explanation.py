"""The execution plan of a program in its forms: text, JSON, Mermaid, HTML."""

from __future__ import annotations

from typing import Any

from ensue.explain.explained import Explained


class Explanation(Explained):
    """Execution plan of a program. Printing it gives text; `json` and `mermaid` give other forms."""

    def text(self) -> str:
        """The plan as text for people."""
        from ensue.explain.text import written

        return written(self)

    def json(self) -> dict[str, Any]:
        """The plan as plain dicts and lists."""
        from ensue.explain.as_json import as_json

        return as_json(self)

    def mermaid(self) -> str:
        """The plan as a flowchart in the language of Mermaid."""
        from ensue.explain.mermaid import drawn

        return drawn(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The plan in a notebook: its text, and its flowchart in the language of Mermaid to be copied."""
        from ensue.markup import box, code, folded

        count = len(self.rules)
        title = f"How {count} rule{' is' if count == 1 else 's are'} run"
        return box(title, code(self.text()), folded("As a flowchart, for Mermaid", code(self.mermaid())))
