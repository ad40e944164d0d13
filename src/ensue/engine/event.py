"""Events with Python values: those that come in one by one, and derived ones with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensue.language.semantics import identity, order

NO_SOURCES: frozenset[Any] = frozenset()


class Event:
    """An event, given or derived.

    `place` is the rank of its type and the attributes, which order events of equal times. `identity` is the position of
    an input, or the content of a derived event. `sources` are the positions of its inputs, where provenance is
    requested; during its step they are the events that it was derived from.
    """

    event = True

    __slots__ = ("_key", "attributes", "end", "identity", "place", "sequence", "sources", "start", "type")

    def __init__(
        self, type_: str, attributes: Mapping[str, Any], start: int, end: int,
        place: tuple[int, tuple[str, ...] | None], identity: Any, sequence: Any = None,
        sources: frozenset[Any] = NO_SOURCES,
    ) -> None:  # fmt: skip
        self.type = type_
        self.attributes = attributes
        self.start = start
        self.end = end
        self.place = place
        self.identity = identity
        self.sequence = sequence
        self.sources = sources
        self._key: tuple[Any, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """The place in the order of events: end, start, sequence, type, attributes."""
        if self._key is None:
            rank, names = self.place
            attributes = self.attributes
            values = tuple(order(attributes.get(name)) for name in (sorted(attributes) if names is None else names))
            self._key = (self.end, self.start, order(self.sequence), rank, values)
        return self._key


def content(event: Event) -> tuple[Any, ...]:
    """A key that is equal for equal derived events of a type."""
    return event.start, event.end, tuple(map(identity, event.attributes.values()))
