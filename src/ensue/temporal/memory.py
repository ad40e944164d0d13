"""Bounds on the memory of a part of a rule, from nothing to everything that ever happened."""

from __future__ import annotations

from enum import IntEnum, unique

from ensue.records import dataclass


@unique
class Kind(IntEnum):
    """Kinds of bounds, from the least memory to the most."""

    NOTHING = 0
    """Nothing is kept."""
    CONSTANT = 1
    """A fixed number of instances for each key."""
    WINDOW = 2
    """All that end within a length of time."""
    UNTIL = 3
    """Those since the last event of their key that consumes or ends them."""
    UNBOUNDED = 4
    """Everything that ever came."""


@dataclass(frozen=True)
class Memory:
    """A bound. `size` is the number for each key, or the length of time; `by` names the events that end or consume.

    >>> max(Memory(Kind.WINDOW, 60), NOTHING, key=lambda memory: memory.kind)
    Memory(kind=<Kind.WINDOW: 2>, size=60, by='')
    """

    kind: Kind
    size: int = 0
    by: str = ""

    @property
    def bounded(self) -> bool:
        """True if memory does not grow with the stream, as long as the events come that end or consume stored ones."""
        return self.kind is not Kind.UNBOUNDED


NOTHING = Memory(Kind.NOTHING)
UNBOUNDED = Memory(Kind.UNBOUNDED)


def constant(number: int) -> Memory:
    return Memory(Kind.CONSTANT, number)


def window(length: int | None) -> Memory:
    """The memory of all that end within a length of time; None is without limit."""
    return UNBOUNDED if length is None else Memory(Kind.WINDOW, max(0, length))


def until(by: str) -> Memory:
    return Memory(Kind.UNTIL, 0, by)
