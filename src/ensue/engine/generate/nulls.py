"""Attributes that may be null: all of given events, and those of derived ones whose rules may give null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ensue.language import typed


def nullable_attributes(
    rules: Iterable[typed.Rule], events: Mapping[str, typed.EventType]
) -> frozenset[tuple[str, str]]:
    """The attributes that may be null, by event. A derived type that is declared may be given, too."""
    return frozenset((name, attribute) for name, event in events.items() for attribute in event.attributes)
