"""Combine events in Spark frames into one frame that has only the attributes that the rules use.

That frame has the columns ``type``, ``start`` and ``end`` (or ``time`` where every event has one time), ``sequence``
where one is named, and a column for each attribute under a unique name: frames of different types may have
attributes of one name and several types. Rows that cannot be used are left out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from ensue.data import Columns, DataError
from ensue.data.columns import Layout, find_layout
from ensue.data.input_part import named_columns
from ensue.data.spark_frames import Frames
from ensue.data.wall_clock import WallClock
from ensue.engine.limits import OPEN, Limits
from ensue.engine.provenance import SOURCES
from ensue.language import typed
from ensue.records import dataclass
from ensue.rules import Rules
from ensue.spark.job import Job, pickled
from ensue.spark.provenance import NUMBER
from ensue.spark.rejected import (
    REJECTED,
    Fault,
    ahead_fault,
    conversion,
    faults_of,
    first_reason,
    never_read,
    rejected_struct,
    right_rows,
    row_as_json,
    times_of,
)
from ensue.spark.sql import as_integer, literal, quoted
from ensue.spark.wire import WRONG, Column, Wire

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True)
class Source:
    """An input frame, with its columns called ``r0``, ``r1``, …, since their own names may be anything."""

    frame: DataFrame
    schema: StructType
    layout: Layout
    only: str | None
    """The type of all its events, if frames are passed by type."""
    taken: frozenset[str | None]
    """The columns that are no attributes."""
    faults: tuple[Fault, ...]
    """Faults that its rows may have."""

    @property
    def places(self) -> dict[str, str]:
        return {name: f"r{place}" for place, name in enumerate(self.schema.names)}

    @property
    def row(self) -> str:
        return row_as_json(name for name in self.schema.names if name != NUMBER)

    @property
    def right(self) -> DataFrame:
        """The rows that can be used."""
        return self.frame.where(right_rows(self.faults)) if self.faults else self.frame

    @property
    def wrong(self) -> DataFrame:
        """The others, as the column `REJECTED` holds them."""
        struct = rejected_struct(first_reason(self.faults), self.row)
        return self.frame.where(f"not ({right_rows(self.faults)})").selectExpr(f"{struct} as {REJECTED}")


@dataclass(frozen=True)
class Given:
    """All given events in one frame, and the columns of their attributes."""

    frame: DataFrame
    wire: Wire
    types: Mapping[str, DataType]
    """The Spark type of each column."""
    time: DataType
    sources: tuple[Source, ...]

    @cached_property
    def ends(self) -> DataFrame:
        """The ends of all events, of types that the rules do not use, too: one column of integers, ``end``."""
        kind = self.time.simpleString()
        parts = []
        for source in self.sources:
            end = f"cast({times_of(source.layout, source.places)[1]} as {kind})"
            parts.append(source.right.selectExpr(f"{as_integer(end, kind)} as `end`"))
        return reduce(lambda one, other: one.unionAll(other), parts)

    @cached_property
    def rejected(self) -> DataFrame | None:
        """The rows that cannot be used, in one column, `REJECTED`; None where there can be none."""
        parts = [source.wrong for source in self.sources if source.faults]
        return reduce(lambda one, other: one.unionAll(other), parts) if parts else None


def time_of(frames: Frames, names: Columns) -> tuple[DataType, bool]:
    """The type of times, and whether every event has one time."""
    layouts = {name: _layout(frame, names, name) for name, frame in frames.items()}
    times = {_time_type(frame, layouts[name]) for name, frame in frames.items()}
    if len(times) > 1:
        found = ", ".join(sorted(time.simpleString() for time in times))
        raise DataError(f"The times of the frames are of several types: {found}. Cast them to one.")
    return times.pop(), all(layout.start == layout.end for layout in layouts.values())


def job_of(
    program: Rules, frames: Frames, names: Columns, wanted: Sequence[str], compiled: bool | None,
    limits: Limits = OPEN,
) -> tuple[Job, DataType]:  # fmt: skip
    """A program on events in frames, and the type of their times."""
    time, instants = time_of(frames, names)
    timestamps = time.typeName() != "long"
    program.check_unit(timestamps)
    source = program.file.source
    known = known_types(frames, program.typed.events)
    types = tuple((event, tuple(attributes.items())) for event, attributes in known.items())
    functions = pickled(program.functions)
    return Job(source.text, source.name, tuple(wanted), timestamps, instants, types, compiled, functions, limits), time


def known_types(frames: Frames, events: Mapping[str, typed.EventType]) -> dict[str, dict[str, str]]:
    """Attribute types of undeclared events, by the schemas of frames."""
    found: dict[str, dict[str, str]] = {}
    for name, frame in frames.items():
        for event in events.values():
            if event.declared or event.derived or name not in (None, event.name):
                continue
            for field in frame.schema.fields:
                if field.name in event.attributes and (type_ := _ensue_type(field.dataType)) is not None:
                    found.setdefault(event.name, {})[field.name] = type_
    return found


def given_events(
    frames: Frames, names: Columns, events: Mapping[str, typed.EventType], strict: bool = False,
    declared: Mapping[str, typed.EventType] | None = None, marked: bool = False,
    with_row: bool = True, wall: WallClock | None = None, read: Collection[tuple[str, str]] = (),
    apart: str | None = None,
) -> Given:  # fmt: skip
    """The events in frames, with the attributes that the rules use.

    `declared` are the events with all attributes that rows are held to, as far as rules `read` them; with `strict` a
    row that cannot be used fails its reader; with `marked` such rows stay, and the column `WRONG` has the reason, and
    with `with_row` the row on a separate line, for which every column is read. `apart` is a column that identifies
    rows; it is passed on as the sources of an event.
    """
    time, instants = time_of(frames, names)
    columns: list[Column] = []
    types: dict[str, DataType] = {}
    sources, parts = [], []
    for name, frame in frames.items():
        source = _source(frame, names, name, declared or events, read)
        if wall is not None:
            source = replace(source, faults=(*source.faults, ahead_fault(source.layout, source.places, time, wall)))
        used = [event for event in events.values() if event.given and name in (None, event.name)]
        places = source.places
        picked = {"type": places[source.layout.type] if source.layout.type is not None else literal(str(name))}
        if strict and source.faults:
            said = f"concat({first_reason(source.faults)}, ': ', {source.row})"
            picked["type"] = f"if({right_rows(source.faults)}, {picked['type']}, raise_error({said}))"
        start, end = (f"cast({each} as {time.simpleString()})" for each in times_of(source.layout, places))
        picked |= {"time": end} if instants else {"start": start, "end": end}
        if source.layout.sequence is not None:
            picked["sequence"] = places[source.layout.sequence]
        if apart is not None:
            picked[SOURCES] = f"array({places[apart]})"
        for attribute in _attributes(source, used):
            forms = _forms(source, attribute, used)
            for (expression, kind), own in forms.items():
                of = name if len(forms) == 1 else own
                column = _column(columns, attribute, kind, of)
                picked[column] = expression
                raw = expression == places[attribute]
                types[column] = source.schema[attribute].dataType if raw else _data_type(kind)
        if marked and source.faults and not strict:
            reason = first_reason(source.faults)
            row = source.row if with_row else "''"
            picked[WRONG] = f"if({right_rows(source.faults)}, null, concat({reason}, '\\n', {row}))"
        rows = source.frame if strict or marked else source.right
        parts.append(rows.selectExpr(*(f"{value} as {quoted(key)}" for key, value in picked.items())))
        sources.append(source)
    whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return Given(whole, Wire(tuple(columns), instants, names.sequence is not None), types, time, tuple(sources))


def missing_attributes(given: Given, events: Mapping[str, typed.EventType]) -> list[tuple[str, str]]:
    """Attributes, by event, for which there is no column."""
    return [
        (name, attribute)
        for name, event in events.items()
        for attribute in event.attributes
        if not event.derived
        and any(source.only in (None, name) for source in given.sources)
        and not any(column.attribute == attribute and column.holds(name) for column in given.wire.columns)
    ]


def unreadable_attributes(given: Given, events: Mapping[str, typed.EventType]) -> list[tuple[str, str, str, DataType]]:
    """Attributes, by event, whose declared type no value of their column has, with both types."""
    return [
        (name, attribute, kind, source.schema[attribute].dataType)
        for source in given.sources
        for name, event in events.items()
        if source.only in (None, name) and event.declared
        for attribute, kind in event.attributes.items()
        if attribute in source.schema.names
        and attribute not in source.taken
        and never_read(source.schema[attribute].dataType, kind)
    ]


def _forms(source: Source, attribute: str, events: Iterable[typed.EventType]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Converted forms of a column: an expression and its Spark type, with the events that use it so."""
    type_, place = source.schema[attribute].dataType, source.places[attribute]
    forms: dict[tuple[str, str], tuple[str, ...]] = {}
    for event in events:
        if attribute in event.attributes:
            converted = conversion(place, type_, event.attributes[attribute]) if event.declared else None
            form = converted or (place, type_.simpleString())
            forms[form] = (*forms.get(form, ()), event.name)
    return forms


def _data_type(name: str) -> DataType:
    from pyspark.sql.types import DataType

    return DataType.fromDDL(name)


def _source(
    frame: DataFrame, names: Columns, only: str | None, events: Mapping[str, typed.EventType],
    read: Collection[tuple[str, str]],
) -> Source:  # fmt: skip
    schema, layout = frame.schema, _layout(frame, names, only)
    if layout.type is not None and schema[layout.type].dataType.typeName() not in ("string", "varchar", "char"):
        raise DataError(
            f"The column {layout.type!r} holds the event's type and is {schema[layout.type].dataType.simpleString()}, "
            "not string or integer. Cast it, or name another one with type=."
        )
    by_type = {"type", names.type} if only is not None else set()
    taken = frozenset({layout.start, layout.end, layout.instant, layout.type, layout.sequence, *by_type})
    faults = faults_of(schema, layout, only, events, taken, read)
    return Source(frame.toDF(*(f"r{n}" for n in range(len(schema.names)))), schema, layout, only, taken, tuple(faults))


def _column(columns: list[Column], attribute: str, type_: str, event: str | tuple[str, ...] | None) -> str:
    """The column for an attribute: the same for all frames where it has the same type."""
    own = (event,) if isinstance(event, str) else event
    for place, column in enumerate(columns):
        if column.attribute == attribute and column.type == type_:
            columns[place] = Column(column.name, attribute, type_, _joined(column.events, own))
            return column.name
    columns.append(Column(f"c{len(columns)}", attribute, type_, own))
    return columns[-1].name


def _joined(events: tuple[str, ...] | None, more: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if events is None or more is None else (*events, *more)


def _layout(frame: DataFrame, names: Columns, only: str | None) -> Layout:
    table = "The Spark frame" if only is None else f"The Spark frame of {only!r}"
    columns = frame.columns
    if not columns:
        raise DataError(f"{table} has no columns. Is there anything in its files? If not, state its schema.")
    named_columns(columns, [[] for _ in columns], table)
    return find_layout(columns, names, only is not None, table)


def _time_type(frame: DataFrame, layout: Layout) -> DataType:
    """The type of the times of a frame: timestamps as they are, integers as the longest there are."""
    from pyspark.sql.types import LongType, TimestampNTZType

    held = {
        name: frame.schema[name].dataType for name in (layout.start, layout.end, layout.instant) if name is not None
    }
    alike: dict[str, DataType] = {"date": TimestampNTZType()} | dict.fromkeys(_INTEGERS, LongType())
    times = {alike.get(kind.typeName(), kind) for kind in held.values()}
    if len(times) == 1 and (found := times.pop()).typeName() in ("long", "timestamp", "timestamp_ntz"):
        return found
    said = " and ".join(f"{name!r} is {kind.simpleString()}" for name, kind in held.items())
    raise DataError(
        f"The column of times {said}; times are integers, or timestamps of one kind. "
        "Say how others are to be read: time_unit='ms' for numbers since 1970, time_format= or timezone= for text; or "
        'cast them: df.withColumn("time", df.time.cast("timestamp")).'
        if len(held) == 1
        else f"Of the columns of times {said}; all are integers, or timestamps of one kind. Cast them to one."
    )


def _attributes(source: Source, events: Iterable[typed.EventType]) -> list[str]:
    """The attributes that a frame has and the rules use."""
    wanted = dict.fromkeys(name for event in events for name in event.attributes)
    return [name for name in wanted if name in source.schema.names and name not in source.taken]


_INTEGERS = ("byte", "short", "integer", "long")


def _ensue_type(type_: DataType) -> str | None:
    """Type that values of a Spark type have in rules; None for values that rules only pass on."""
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
