"""Newest times: for each key, the time of the last instant, and of the one before it."""

from __future__ import annotations

from typing import ClassVar

from ensue.engine.structure import Layout
from ensue.engine.structures.gates import LastEnds
from ensue.engine.structures.key_numbers import LONG_AGO, head_columns


def newest_times_layout() -> Layout:
    return Layout(("over", "heads"), head_columns({"last_end": "i64", "before_end": "i64"}))


class NewestTimes(LastEnds):
    """The last two different times at which something ended."""

    empty: ClassVar[dict[str, int]] = {"last_end": LONG_AGO, "before_end": LONG_AGO}

    def size(self) -> tuple[int | None, int, int]:
        """Sizes: one tuple for each key whose newest time may still count."""
        keys, tuples = self.key_count(), int(self.alive().sum())
        return keys, tuples, 8 * 3 * tuples
