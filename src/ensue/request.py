"""A request: the arguments of `detect`, `start` and the commands, in one object that is passed on unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from ensue.data.columns import Columns
from ensue.data.errors import BadRow, DataError, shortened
from ensue.data.moments import Length, Moment, check_length
from ensue.engine.limits import Limits
from ensue.records import dataclass

DEFAULT_ENGINE = "embedded"
ENGINES = (DEFAULT_ENGINE, "reference")
"""The executions that answer at once, by name."""


@dataclass(frozen=True)
class Request:
    """Options for reading events, for the result and for its computation; see `Program.detect`.

    >>> Request(until=10, compiled="maybe")
    Traceback (most recent call last):
    ...
    ensue.data.errors.DataError: `compiled` is 'maybe'; it is True, False, or None to leave it open.
    """

    until: Moment | None = None
    columns: Columns = field(default_factory=Columns)
    tables: Mapping[str, Any] | None = None
    """Rows of static tables in any form, by name."""
    emit: str | Iterable[str] | None = None
    strict: bool = False
    on_bad_row: Callable[[BadRow], object] | None = None
    engine: str = DEFAULT_ENGINE
    provenance: bool | str = False
    """True if detections have their sources; on Spark also the column that identifies rows."""
    compiled: bool | None = None
    lateness: Length = 0
    keep: Length | None = None
    params: Mapping[str, Any] | None = None
    """Values of parameters, by name."""
    slices: int | None = None
    rejected: bool = False
    suppressed: bool = False
    buckets: int | None = None
    heartbeat: Length | None = None
    max_ahead: Length | None = None
    """Longest time by which an event may end ahead of the clock."""
    max_matches: int | None = None
    max_state: int | str | None = None
    in_order: bool = True
    """True if every detection of a session waits until its step is complete."""
    on_suppressed: Callable[[dict[str, int]], object] | None = None
    threads: int | None = None
    """Largest number of threads; None for that of ENSUE_THREADS, or else of the cores."""
    by_type: bool | None = None
    """True if detections come as a dict by type; None as the events came."""

    def __post_init__(self) -> None:
        check_length(self.lateness, "The lateness")
        if self.max_ahead is not None:
            check_length(self.max_ahead, "`max_ahead`")
        if self.compiled is not None and not isinstance(self.compiled, bool):
            raise DataError(f"`compiled` is {shortened(self.compiled)}; it is True, False, or None to leave it open.")
        if self.by_type is not None and not isinstance(self.by_type, bool):
            raise DataError(f"`by_type` is {shortened(self.by_type)}; it is True, False, or None to leave it open.")
        if not isinstance(self.provenance, bool | str):
            raise DataError(f"`provenance` is {shortened(self.provenance)}; it is True, False, or a column of Spark.")
        check_function(self.on_bad_row, "`on_bad_row`")
        check_function(self.on_suppressed, "`on_suppressed`")
        self.limits  # noqa: B018 (refuses what is none)
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise DataError(f"`threads` is {shortened(self.threads)}; it is how many threads may detect, 1 or more.")

    @property
    def limits(self) -> Limits:
        """The limits on derived events and on state."""
        return Limits.of(self.max_matches, self.max_state)

    @property
    def threads_asked_for(self) -> bool:
        """True if the caller or ENSUE_THREADS sets the number of threads."""
        return self.threads is not None or bool(os.environ.get("ENSUE_THREADS", "").strip())

    @property
    def most_threads(self) -> int:
        """Largest number of threads for a detection."""
        if self.threads is not None:
            return self.threads
        said = os.environ.get("ENSUE_THREADS", "").strip()
        if not said:
            return cores()
        if not said.isdecimal() or int(said) < 1:
            raise DataError(f"ENSUE_THREADS is {shortened(said)}; it is how many threads may detect, 1 or more.")
        return int(said)

    def check_embedded_provenance(self) -> None:
        """Reject a column that identifies rows, where rows have numbers."""
        if isinstance(self.provenance, str):
            raise DataError(
                f"`provenance` is {shortened(self.provenance)}, and a column that tells rows apart is for Spark "
                "frames. Here rows have numbers: provenance=True."
            )

    def check_embedded(self) -> None:
        """Rejects options that are for Spark frames only."""
        if self.max_ahead is not None:
            raise DataError("`max_ahead` is for events that are still to come: for sessions, and streams of Spark.")
        if self.suppressed:
            raise DataError("`suppressed` is for Spark frames. Use `on_suppressed` here.")
        self.check_embedded_provenance()
        for name in ("rejected", "slices", "buckets", "heartbeat"):
            given = getattr(self, name)
            if given is not None and given is not False:
                raise DataError(
                    f"`{name}` is for Spark frames. Here rows that cannot be used are handed to `on_bad_row`, and all "
                    "events are evaluated in one part."
                )


def cores() -> int:
    """Number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells
        return os.cpu_count() or 1


def check_function(function: object, what: str) -> None:
    """Check that a callback can be called, if it is given at all."""
    if function is not None and not callable(function):
        raise DataError(f"{what} is {shortened(function)}, not a function.")


USUAL = Request()
