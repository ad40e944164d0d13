"""Options of `Program.detect` on Spark frames. What means nothing there is said at once, never passed over."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from ensue.data.errors import DataError, shortened
from ensue.moments import Length
from ensue.program import DEFAULT_ENGINE, NoEffectWarning


@dataclass(frozen=True)
class Options:
    """As they were handed over; `on_bad_row` is whether there is such a function."""

    strict: bool
    rejected: bool
    on_bad_row: bool
    engine: str
    provenance: bool
    compiled: bool | None
    lateness: Length
    slices: int | None
    buckets: int | None
    heartbeat: Length | None

    def check(self, streaming: bool) -> None:
        """Refuses what cannot be done on Spark, and says what to do instead."""
        if self.on_bad_row:
            raise DataError(
                "`on_bad_row` cannot be called on Spark, where rows are looked at by others and later. "
                "Ask for them with rejected=True, or have the first one fail the job with strict=True."
            )
        if self.engine != DEFAULT_ENGINE:
            raise DataError(
                f"Spark runs the engine {DEFAULT_ENGINE!r}, where the data is; "
                f"for {self.engine!r} hand over df.toArrow()."
            )
        if self.provenance:
            raise DataError(
                "Rows of a Spark frame have no numbers, so `provenance` has none to give. Have the rules hand on an "
                "attribute that tells events apart, or hand over df.toArrow()."
            )
        if self.slices is not None and (type(self.slices) is not int or self.slices < 1):
            raise DataError(f"`slices` is {shortened(self.slices)}; it is a number of slices, one at least.")
        if streaming:
            self._check_stream()
        else:
            self._check_table()

    def _check_stream(self) -> None:
        if self.slices is not None:
            raise DataError("`slices` is for tables: a stream has no end, so its time is not cut.")

    def _check_table(self) -> None:
        for name, value in (("buckets", self.buckets), ("heartbeat", self.heartbeat)):
            if value is not None:
                raise DataError(f"`{name}` is for streams; this is a table.")
        if self.lateness:
            warnings.warn(
                "`lateness` counts where events come as a stream. A table is put in order, so it has no effect.",
                NoEffectWarning,
                stacklevel=5,
            )


def refuse_elsewhere(**options: object) -> None:
    """Refuses options that are for Spark frames, on events that are none."""
    for name, value in options.items():
        if value not in (None, False):
            raise DataError(
                f"`{name}` is for Spark frames. Elsewhere bad rows are handed to `on_bad_row`, and all events are "
                "evaluated in one part."
            )
