"""What bounds the memory that a part of a rule needs, from nothing to everything that ever happened."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """From what needs least to what needs most."""

    NOTHING = 0
    """Nothing is kept."""
    CONSTANT = 1
    """A number for each key."""
    WINDOW = 2
    """As many as come in a length of time."""
    UNTIL = 3
    """Those since the last event, for each key, that uses them up or ends them."""
    UNBOUNDED = 4
    """All that ever came."""


@dataclass(frozen=True)
class Memory:
    """A bound. `size` is the number for each key, or the length of time; `by` says what ends or uses up what is kept.

    >>> max(Memory(Kind.WINDOW, 60), NOTHING, key=lambda memory: memory.kind)
    Memory(kind=<Kind.WINDOW: 2>, size=60, by='')
    """

    kind: Kind
    size: int = 0
    by: str = ""

    @property
    def bounded(self) -> bool:
        """Whether it does not grow with the stream, as long as what ends things comes."""
        return self.kind is not Kind.UNBOUNDED


NOTHING = Memory(Kind.NOTHING)
UNBOUNDED = Memory(Kind.UNBOUNDED)


def constant(number: int) -> Memory:
    return Memory(Kind.CONSTANT, number)


def window(length: int | None) -> Memory:
    """As much as comes in a length of time; None is without end."""
    return UNBOUNDED if length is None else Memory(Kind.WINDOW, max(0, length))


def until(by: str) -> Memory:
    return Memory(Kind.UNTIL, 0, by)
