"""Capacity of structures, and sizes of caches and groups of rules: one object, which tests change.

>>> with using(SMALL):
...     current().rows
2
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ensue.records import dataclass


@dataclass(frozen=True)
class Capacity:
    """Numbers that decide when structures grow, caches are dropped, or code is compiled; they never change detections.

    Tests set another object with `using`, and change no constant of a module.
    """

    events: int = 1_000
    """Events that a unit takes in as plain Python before it is compiled."""
    seconds: float = 0.2
    """Seconds that a unit may run as plain Python before it is compiled, however few its events are."""
    pieces: int = 16
    """Pieces of a call as plain Python; machine code can take over between two of them."""
    block: int = 256
    """Rows of a batch that are looked at together, before they are passed on."""
    rows: int = 16
    """Initial rows of a structure, a power of two."""
    slots: int = 16
    """Initial slots for keys, a power of two."""
    table: int = 1 << 12
    """Slots up to which a table that is full of dropped keys grows all the same."""
    numbers: int = 1 << 10
    """Keys from which on those without an entry are freed."""
    values: int = 1 << 16
    """Values from which on those without a reference are freed."""
    texts: int = 1 << 9
    """Strings of a column from which on they are looked up without Python."""
    calls: int = 1 << 18
    """Most results of Python that one table remembers."""
    sources: int = 1 << 16
    """Unions of sources from which on those without a reference are freed."""
    chains: int = 1 << 10
    """Links of chains from which on those without a reference are freed."""
    family: int = 3
    """Rules of one shape from which on they are a family."""
    thread: int = 1 << 18
    """Rows that are worth a thread of their own."""
    twice: int = 4
    """A slice of time is worth a thread if at most one in so many of its rows lies before it; 0 if any slice is."""
    file: int = 1 << 28
    """Uncompressed bytes from which on a Parquet file is read in pieces."""
    piece: int = 1 << 20
    """Rows of such a file that are read at once."""
    waiting: int = 1 << 6
    """Most rows of a table that wait as single rows, beside other waiting events."""
    again: int = 50_000
    """Most events that a session may save up to process again, when others arrive out of order."""
    apart: int = 1 << 12
    """Rows that are worth a step of their own, rather than to be copied beside those that they do not overlap."""
    unit: int = 32
    """Most rules in one unit of generated code; a family counts as two."""


USUAL = Capacity()

SMALL = Capacity(
    block=2, rows=2, slots=2, table=2, numbers=2, values=2, texts=2, calls=2, sources=2, chains=2, waiting=0, again=0,
    apart=1,
)  # fmt: skip
"""The smallest capacity: everything grows, caches are dropped, and tables stay tables, on the shortest streams."""

_current: ContextVar[Capacity] = ContextVar("capacity", default=USUAL)


def current() -> Capacity:
    """The capacity of structures made from now on."""
    return _current.get()


@contextmanager
def using(capacity: Capacity) -> Iterator[None]:
    """Set another capacity for runs that begin inside."""
    token = _current.set(capacity)
    try:
        yield
    finally:
        _current.reset(token)
