"""A backtest and its forms: text, page, JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ensue.backtesting.buckets import describe_time
from ensue.backtesting.result import Result, RuleResult, TypeChange


class Backtest(Result):
    """The detections of rules in events of the past. Printed it is text; `html` and `json` give other forms."""

    def text(self, width: int = 80) -> str:
        """The results as text, in lines of about `width` characters."""
        from ensue.backtesting.text import written

        return written(self, width)

    def html(self) -> str:
        """The results as a page that needs nothing else."""
        from ensue.backtesting.page import page

        return page(self)

    def json(self) -> dict[str, Any]:
        """The results as plain dicts and lists."""
        timestamps = self.buckets.timestamps
        found: dict[str, Any] = {
            "rules": self.rules_name,
            "events": self.events,
            "first": None if self.first is None else describe_time(self.first, timestamps),
            "last": None if self.last is None else describe_time(self.last, timestamps),
            "by": self.buckets.by,
            "spans": list(self.buckets.starts),
            "seconds": self.seconds,
            "found": [_plain(rule) for rule in self.rules],
        }
        if self.against_name is not None:
            found["against"] = self.against_name
            found["changes"] = [_plain(change) for change in self.changes]
        return found

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from ensue.backtesting.page import content

        return content(self)


def _plain(record: RuleResult | TypeChange) -> dict[str, Any]:
    found = asdict(record)
    if found.get("keys"):
        found["keys"]["most"] = [{"value": value, "count": count} for value, count in found["keys"]["most"]]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
