"""The kinds of windows: their notation, and their properties for reasoning about rules. A kind is one record.

The reference defines the events that a window collects; `ensue.engine.operators.window_kinds` computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ensue.records import dataclass


@dataclass(frozen=True)
class WindowKind:
    """A kind of window. `size` is how many events it counts, or how long it is."""

    word: str
    """It is written ``while word …: collect p``."""
    takes: Literal["number", "length", "pattern"]
    """The operand behind the word: a size, or a pattern that begins the window."""
    example: str
    title: str
    """Explanation of it: `{of}` is the collected pattern, `{size}` its size, `{beginning}` the event that begins it."""
    extent: Callable[[int], int] | None
    """Largest distance from the end of an event in it to its own end, by its size; None if unbounded."""
    unbounded: str = ""
    """Reason why it is unbounded, if it is; `{size}` is its size."""
    ends_later: bool = False
    """True if it ends without an event, after all that it collects. With an extent it lasts as long as that."""
    sees_its_end: bool = False
    """True if an event that ends with it can change it, so that the whole step must be known."""
    least: Callable[[int], int] | None = None
    """Shortest duration, by its size, of a window that ends later and has no extent."""
    ordered: bool = False
    """True if the collected events depend on the order of events of one moment."""
    keeps_events: bool = True
    """True if the collected events are kept, and not only aggregates of them."""


WINDOWS: dict[str, WindowKind] = {
    "count": WindowKind(
        "last", "number", "last 1000", "last {size} {of}", None, "`last {size}` counts back over any length of time",
        ordered=True,
    ),
    "span": WindowKind("last", "length", "last 3m", "all {of} of the last {size}", lambda size: size - 1),
    "each": WindowKind(
        "each", "length", "each 5m", "all {of} of each {size}", lambda size: size, ends_later=True, keeps_events=False
    ),
    "since": WindowKind(
        "since", "pattern", "since day_start", "all {of} since {beginning}", None,
        "`since` looks for the latest event, however long ago", keeps_events=False,
    ),
    "gap": WindowKind(
        "gap", "length", "gap 5m", "all {of} with no gap of more than {size}", None,
        "a session goes on for as long as there is no gap", ends_later=True, sees_its_end=True,
        least=lambda size: size, keeps_events=False,
    ),
}  # fmt: skip

WORDS = tuple(dict.fromkeys(kind.word for kind in WINDOWS.values()))

RESERVED = frozenset({"last", "each", "since"})
"""Those of the words that are no names; `gap` may be one."""


def kind_written(word: str, is_length: bool) -> str:
    """The kind of a window as it is written: where one word has two, its size decides.

    >>> kind_written("last", True), kind_written("last", False), kind_written("each", False)
    ('span', 'count', 'each')
    """
    kinds = [name for name, kind in WINDOWS.items() if kind.word == word]
    if not kinds:
        raise LookupError(f"there is no window {word}")
    fitting = [name for name in kinds if WINDOWS[name].takes == ("length" if is_length else "number")]
    return (fitting or kinds)[0]
