"""Events in Spark frames, brought into one frame that has only what the rules use.

That frame has the columns ``type``, ``start`` and ``end`` (or ``time`` where every event has one time), ``sequence``
where one is named, and a column for each attribute under a name of its own: frames of different types may have
attributes of one name and several types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from ensue.data import Columns, DataError
from ensue.data.columns import Layout, find_layout
from ensue.language import typed
from ensue.spark.recognise import Frames
from ensue.spark.stats import as_integer
from ensue.spark.wire import Column, Wire

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Given:
    """All events that were handed over, in one frame, and where their attributes are in it."""

    frame: DataFrame
    wire: Wire
    types: Mapping[str, DataType]
    """The Spark type of each column."""
    ends: DataFrame
    """The ends of all events, of types that the rules do not use, too: one column of integers, ``end``."""


def time_of(frames: Frames, names: Columns) -> tuple[DataType, bool]:
    """The type of times, and whether every event has one time."""
    layouts = {name: _layout(frame, names, name) for name, frame in frames.items()}
    times = {_time_type(frame, layouts[name]) for name, frame in frames.items()}
    if len(times) > 1:
        found = ", ".join(sorted(time.simpleString() for time in times))
        raise DataError(f"The times of the frames are of several types: {found}. Cast them to one.")
    return times.pop(), all(layout.start == layout.end for layout in layouts.values())


def known_types(frames: Frames, events: Mapping[str, typed.EventType]) -> dict[str, dict[str, str]]:
    """What frames say of the attributes of events that are not declared."""
    found: dict[str, dict[str, str]] = {}
    for name, frame in frames.items():
        for event in events.values():
            if event.declared or event.derived or name not in (None, event.name):
                continue
            for field in frame.schema.fields:
                if field.name in event.attributes and (type_ := _ensue_type(field.dataType)) is not None:
                    found.setdefault(event.name, {})[field.name] = type_
    return found


def given_events(frames: Frames, names: Columns, events: Mapping[str, typed.EventType]) -> Given:
    """The events in frames, with the attributes that the rules use."""
    from pyspark.sql import functions as f

    time, instants = time_of(frames, names)
    columns: list[Column] = []
    types: dict[str, DataType] = {}
    parts, ends = [], []
    for name, frame in frames.items():
        layout = _layout(frame, names, name)
        used = [event for event in events.values() if name in (None, event.name)]
        picked = {"type": f.col(_quoted(layout.type)).cast("string") if layout.type is not None else f.lit(name)}
        times = _times(layout, time)
        picked |= {"time": times["end"]} if instants else times
        if names.sequence is not None:
            picked["sequence"] = f.col(_quoted(names.sequence))
        for attribute in _attributes(frame, layout, used):
            kind = frame.schema[attribute].dataType
            column = _column(columns, attribute, kind.simpleString(), name)
            picked[column] = f.col(_quoted(attribute))
            types[column] = kind
        parts.append(frame.select(*(value.alias(key) for key, value in picked.items())))
        ends.append(frame.select(as_integer(times["end"], time).alias("end")))
    whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    wire = Wire(tuple(columns), instants, names.sequence is not None)
    return Given(whole, wire, types, reduce(lambda one, other: one.unionAll(other), ends))


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


def _times(layout: Layout, time: DataType) -> dict[str, SparkColumn]:
    """Start and end; where a row has neither, the one time that it may have instead."""
    from pyspark.sql import functions as f

    start, end = f.col(_quoted(layout.start)), f.col(_quoted(layout.end))
    if layout.instant is not None:
        neither = start.isNull() & end.isNull()
        instant = f.col(_quoted(layout.instant))
        start, end = f.when(neither, instant).otherwise(start), f.when(neither, instant).otherwise(end)
    return {"start": start.cast(time), "end": end.cast(time)}


def _attributes(frame: DataFrame, layout: Layout, events: Iterable[typed.EventType]) -> list[str]:
    """The attributes that a frame has and the rules use."""
    outside = {layout.start, layout.end, layout.instant, layout.type, layout.sequence}
    wanted = dict.fromkeys(name for event in events for name in event.attributes)
    return [name for name in wanted if name in frame.columns and name not in outside]


def _ensue_type(type_: DataType) -> str | None:
    """What values of a Spark type are to rules; None where they are handed on as they are."""
    match type_.typeName():
        case "byte" | "short" | "integer" | "long":
            return "int"
        case "float" | "double" | "decimal":
            return "float"
        case "string" | "varchar" | "char":
            return "string"
        case "boolean":
            return "bool"
        case "timestamp" | "timestamp_ntz" | "date":
            return "timestamp"
        case _:
            return None


def _quoted(name: str | None) -> str:
    return "`" + str(name).replace("`", "``") + "`"
