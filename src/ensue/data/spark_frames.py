"""Recognise Spark frames, without importing Spark."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ensue.data.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Frames = Mapping[str | None, "DataFrame"]
"""Frames by the type of their events; the one of None has a column for it."""


def spark_frames(events: object) -> Frames | None:
    """The Spark frames, if events are passed as one frame or as frames by type."""
    if _is_frame(events):
        return {None: events}  # type: ignore[dict-item]
    if isinstance(events, dict) and any(map(_is_frame, events.values())):
        for name, frame in events.items():
            if not isinstance(name, str) or not _is_frame(frame):
                raise DataError(
                    f"Events by type are in Spark frames or in none, but {name!r} is a {type(frame).__name__}."
                )
        return dict(events)
    return None


def collected(table: Any) -> Any:
    """A static table unchanged, or the rows of a Spark frame: every part of an execution needs all of them."""
    return table.toArrow() if _is_frame(table) else table


def _is_frame(value: object) -> bool:
    """True if a value is a frame of Spark, classic or through Connect."""
    pyspark = sys.modules.get("pyspark.sql")
    return pyspark is not None and isinstance(value, pyspark.DataFrame)
