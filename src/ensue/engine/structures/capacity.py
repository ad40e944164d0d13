"""How much room structures have, how much they remember, how rules are grouped: one object, which tests change.

>>> with using(SMALL):
...     current().rows
2
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Capacity:
    """Numbers that decide when something grows, is forgotten, or becomes machine code; never what is found.

    Tests hand over another object with `using`; no number of a module is to be changed.
    """

    events: int = 1_000
    """How many events a unit takes in as plain Python before there is machine code for it."""
    rows: int = 16
    """Rows that a structure has room for at first, a power of two."""
    slots: int = 16
    """Slots for keys at first, a power of two."""
    table: int = 1 << 12
    """Up to how many slots a table that is full of keys that are gone becomes larger all the same."""
    numbers: int = 1 << 10
    """From how many keys on those that nothing is held for are looked for."""
    values: int = 1 << 16
    """From how many values on those that nothing refers to are looked for."""
    texts: int = 1 << 9
    """From how many strings of a column on they are looked up without Python."""
    calls: int = 1 << 18
    """How many answers of Python are remembered in one table."""
    sources: int = 1 << 16
    """From how many unions of sources on those that nothing refers to are looked for."""
    chains: int = 1 << 10
    """From how many links of chains on those that nothing refers to are looked for."""
    family: int = 3
    """From how many rules of one shape on they are one family."""
    thread: int = 1 << 18
    """How many rows are worth a thread of their own."""
    twice: int = 4
    """A slice of time is worth a thread if no more than one in so many of its rows lies before it; 0 if any is."""
    file: int = 1 << 28
    """From how many bytes on, uncompressed, a Parquet file is read in pieces."""
    piece: int = 1 << 20
    """How many rows of such a file are read at once."""
    unit: int = 32
    """How many rules are one unit of generated code at most; a family counts as two."""


USUAL = Capacity()

SMALL = Capacity(rows=2, slots=2, table=2, numbers=2, values=2, texts=2, calls=2, sources=2, chains=2)
"""Room for almost nothing, so that all grows, and is forgotten, on the shortest streams."""

_current: ContextVar[Capacity] = ContextVar("capacity", default=USUAL)


def current() -> Capacity:
    """The capacity of what is made from now on."""
    return _current.get()


@contextmanager
def using(capacity: Capacity) -> Iterator[None]:
    """Has runs that begin inside use another capacity."""
    token = _current.set(capacity)
    try:
        yield
    finally:
        _current.reset(token)
