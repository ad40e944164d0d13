"""Events in Spark frames: recognising them, and bringing them into one frame that has only what the rules use.

That frame has the columns ``type``, ``start`` and ``end`` (or ``time`` where every event has one time), ``sequence``
where one is named, and a column for each attribute under a name of its own: frames of different types may have
attributes of one name and several types.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from ensue.data import Columns, DataError
from ensue.data.columns import Layout, find_layout
from ensue.language import typed
from ensue.spark.wire import Column, Wire

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

Frames = Mapping[str | None, "DataFrame"]
"""Frames by the type of their events; the one of None has a column for it."""


def is_frame(value: object) -> bool:
    """Whether a value is a Spark frame, of whichever kind; without importing Spark."""
    pyspark = sys.modules.get("pyspark.sql")
    return pyspark is not None and isinstance(value, pyspark.DataFrame)


def frames_of(events: object) -> Frames | None:
    """The frames if events are handed over in such, alone or by type."""
    if is_frame(events):
        return {None: events}  # type: ignore[dict-item]
    if isinstance(events, Mapping) and any(map(is_frame, events.values())):
        for name, frame in events.items():
            if not isinstance(name, str) or not is_frame(frame):
                raise DataError(f"Events by type are in Spark frames or in none, but {name!r} is a {type(frame).__name__}.")
        return dict(events)
    return None


@dataclass(frozen=True)
class Given:
    """All events that were handed over, in one frame, and where their attributes are in it."""

    frame: DataFrame
    wire: Wire
    time: DataType
    """The Spark type of times."""

    @property
    def end(self) -> str:
        return "time" if self.wire.instants else "end"

    @property
    def timestamps(self) -> bool:
        return self.time.typeName() in ("timestamp", "timestamp_ntz")


def given_events(frames: Frames, names: Columns, events: Mapping[str, typed.EventType], everything: bool) -> Given:
    """The events in frames of the types that the rules use; with `everything` all others, too, for their times."""
    from pyspark.sql import functions as f

    layouts = {name: _layout(frame, names, name) for name, frame in frames.items()}
    instants = all(layout.start == layout.end for layout in layouts.values())
    columns: list[Column] = []
    parts = []
    time: DataType | None = None
    for name, frame in frames.items():
        layout = layouts[name]
        used = [e for e in events.values() if name in (None, e.name)]
        if name is not None and not used and not everything:
            continue
        when = _time_type(frame, layout)
        if time is not None and when != time:
            raise DataError(f"The times of the frames are of several types: {time.simpleString()}, {when.simpleString()}.")
        time = when
        picked = {"type": f.col(_quoted(layout.type)).cast("string") if layout.type is not None else f.lit(name)}
        picked |= _times(layout, instants)
        if names.sequence is not None:
            picked["sequence"] = f.col(_quoted(names.sequence))
        attributes = _attributes(frame, layout, used)
        for attribute in attributes:
            column = _column(columns, attribute, frame.schema[attribute].dataType.simpleString(), name)
            picked[column] = f.col(_quoted(attribute))
        chosen = frame
        if layout.type is not None and not everything:
            chosen = frame.where(f.col(_quoted(layout.type)).isin(sorted(e.name for e in used)))
        parts.append(chosen.select(*(value.alias(key) for key, value in picked.items())))
    if not parts:
        raise DataError("No frame has events that the rules use.")
    assert time is not None
    whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return Given(whole, Wire(tuple(columns), instants, names.sequence is not None), time)


def _column(columns: list[Column], attribute: str, type_: str, event: str | None) -> str:
    """The column for an attribute: the same for all frames where it has the same type."""
    for place, column in enumerate(columns):
        if column.attribute == attribute and column.type == type_:
            columns[place] = Column(column.name, attribute, type_, _joined(column.events, event))
            return column.name
    columns.append(Column(f"c{len(columns)}", attribute, type_, None if event is None else (event,)))
    return columns[-1].name


def _joined(events: tuple[str, ...] | None, event: str | None) -> tuple[str, ...] | None:
    return None if events is None or event is None else (*events, event)


def _layout(frame: DataFrame, names: Columns, only: str | None) -> Layout:
    table = "The Spark frame" if only is None else f"The Spark frame of {only!r}"
    return find_layout(frame.columns, names, only is not None, table)


def _time_type(frame: DataFrame, layout: Layout) -> DataType:
    """The type of the times of a frame: timestamps as they are, integers as the longest there are."""
    from pyspark.sql.types import LongType

    kinds = {frame.schema[name].dataType for name in (layout.start, layout.end, layout.instant) if name is not None}
    times = {LongType() if kind.typeName() in ("byte", "short", "integer", "long") else kind for kind in kinds}
    if len(times) == 1 and (found := times.pop()).typeName() in ("long", "timestamp", "timestamp_ntz"):
        return found
    raise DataError(
        f"The times ({layout.start}, {layout.end}) are of type {', '.join(sorted(k.simpleString() for k in kinds))}; "
        "times are integers, or timestamps of one kind. Cast them: df.withColumn(…)."
    )


def _times(layout: Layout, instants: bool) -> dict[str, SparkColumn]:
    from pyspark.sql import functions as f

    def whole(name: str) -> SparkColumn:
        return f.col(_quoted(name))

    start, end = whole(layout.start), whole(layout.end)
    if layout.instant is not None:
        neither = start.isNull() & end.isNull()
        start, end = (f.when(neither, whole(str(layout.instant))).otherwise(point) for point in (start, end))
    return {"time": _long(start)} if instants else {"start": _long(start), "end": _long(end)}


def _long(times: SparkColumn) -> SparkColumn:
    return times


def _attributes(frame: DataFrame, layout: Layout, events: Iterable[typed.EventType]) -> list[str]:
    """The attributes that a frame has and the rules use."""
    outside = {layout.start, layout.end, layout.instant, layout.type, layout.sequence}
    wanted = dict.fromkeys(name for event in events for name in event.attributes)
    return [name for name in wanted if name in frame.columns and name not in outside]


def _quoted(name: str | None) -> str:
    return "`" + str(name).replace("`", "``") + "`"
