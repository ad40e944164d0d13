"""Limits on the events that rules derive at once and keep: a rule that pairs everything ends with a clear message.

Generated code enlarges its structures through Python, so both limits are checked there, at no further cost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from ensue.data.errors import DataError, shortened
from ensue.records import dataclass

MATCHES, FOR_EACH = 10_000_000, 100
"""Default limits: events of a type that a call may derive, in all, or for each event it takes in."""

TEXT = 10_000_000
"""Most characters of a text that rules compute."""


@dataclass(frozen=True)
class Limits:
    """Most events of a type that one call may derive, and most bytes that rules may keep; None is the default."""

    matches: int | None = None
    state: int | None = None

    @staticmethod
    def of(max_matches: object, max_state: object) -> Limits:
        """Limits from the values of options.

        >>> Limits.of(1000, "2GB")
        Limits(matches=1000, state=2000000000)
        >>> Limits.of(0, None)
        Traceback (most recent call last):
        ...
        ensue.data.errors.DataError: `max_matches` is 0; it is how many events of a type one call may derive, 1 or more.
        """
        if max_matches is not None and (type(max_matches) is not int or max_matches < 1):
            raise DataError(
                f"`max_matches` is {shortened(max_matches)}; it is how many events of a type one call may derive, 1 or "
                "more."
            )
        return Limits(max_matches, None if max_state is None else _bytes(max_state))

    def most_matches(self, events: int) -> int:
        """Most events of a type that a call with so many events may derive."""
        return self.matches if self.matches is not None else max(MATCHES, FOR_EACH * events)

    @property
    def most_bytes(self) -> int:
        return self.state if self.state is not None else half_of_memory()


OPEN = Limits()

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def _bytes(written: object) -> int:
    if type(written) is int and written > 0:
        return written
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", written.lower()) if isinstance(written, str) else None
    if found is None or found[2] not in UNITS or not float(found[1]):
        raise DataError(
            f"`max_state` is {shortened(written)}; it is the bytes that rules may keep: a number, or a text such as "
            '"500MB" or "4GB".'
        )
    return max(1, int(float(found[1]) * UNITS[found[2]]))


CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files in which Linux says how much memory a container may use."""


@cache
def half_of_memory() -> int:
    """Half of the memory of the machine, or of the container; four gigabytes where that is unknown."""
    try:
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        most = 8 * 10**9
    for path in CONTAINER:
        try:
            most = min(most, int(Path(path).read_text()))
        except (OSError, ValueError):  # there is none, or no limit
            continue
    return most // 2


class LimitReached(Exception):  # noqa: N818 (callers catch it, and name the rule)
    """Raised for a structure, by its first cell, that would exceed a limit."""

    def __init__(self, base: int, matches: int | None = None) -> None:
        super().__init__(base, matches)
        self.base, self.matches = base, matches


class Budget:
    """The bytes that the structures of a run hold, and may hold; `watched` while rules run."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0
        self.watched = False

    def take(self, count: int, base: int) -> None:
        """Take so many bytes for a structure; a negative count gives some back."""
        if count > 0 and self.watched and self.used + count > self.most:
            raise LimitReached(base)
        self.used += count


_allowed: ContextVar[Limits] = ContextVar("limits", default=OPEN)


def allowed() -> Limits:
    """The limits of runs that begin now."""
    return _allowed.get()


@contextmanager
def limiting(limits: Limits) -> Iterator[None]:
    """Apply some limits to runs that begin inside."""
    token = _allowed.set(limits)
    try:
        yield
    finally:
        _allowed.reset(token)
