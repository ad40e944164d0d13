"""The rows that detections come from, on Spark tables.

Every row carries an identifier: the value of a column that the caller names, or else the number that Spark gives it. A
detection has those of all rows that it was derived from, and passes them on to events that later stages derive from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue.data.errors import DataError, did_you_mean, listed
from ensue.data.spark_frames import Frames
from ensue.engine.provenance import SOURCES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

NUMBER = "number of the row"
"""The column of numbers, where no column is named. It is the last one of a frame."""


def with_numbers(frames: Frames, provenance: bool | str) -> tuple[Frames, str]:
    """The frames with a column that identifies rows, and its name."""
    if isinstance(provenance, str):
        for name, frame in frames.items():
            if provenance not in frame.columns:
                which = "The Spark frame" if name is None else f"The Spark frame of {name!r}"
                raise DataError(
                    f"`provenance` names the column {provenance!r}, and {which} has {listed(frame.columns)}."
                    f"{did_you_mean(provenance, frame.columns)}"
                )
        return frames, provenance
    if len(frames) > 1:
        raise DataError(
            "Rows of several Spark frames have no numbers in common. Name a column that tells all of them apart: "
            '`provenance="event_id"`.'
        )
    from pyspark.sql import functions as f

    return {name: frame.withColumn(NUMBER, f.monotonically_increasing_id()) for name, frame in frames.items()}, NUMBER


def type_of(frames: Frames, column: str) -> DataType:
    """The Spark type of the column that identifies rows, which must be the same in all frames."""
    types = {frame.schema[column].dataType.simpleString(): frame.schema[column].dataType for frame in frames.values()}
    if len(types) > 1:
        raise DataError(f"The column {column!r} is {' and '.join(sorted(types))} in different frames. Cast it to one.")
    return types.popitem()[1]


def with_sources(schema: StructType, type_: DataType) -> StructType:
    """The columns of detections with the one of their sources."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    return StructType([*schema.fields, StructField(SOURCES, ArrayType(type_))])


def united(frame: DataFrame, alike: list[str], names: list[str]) -> DataFrame:
    """Merge detections that are equal in some columns into one, which came from the rows of all."""
    from pyspark.sql import functions as f

    others = [f.first(f.col(f"`{name}`")).alias(name) for name in names if name not in alike and name != SOURCES]
    sources = f.array_sort(f.array_distinct(f.flatten(f.collect_list(SOURCES)))).alias(SOURCES)
    return (
        frame.groupBy(*(f.col(f"`{name}`") for name in alike))
        .agg(*others, sources)
        .select(*(f.col(f"`{name}`") for name in names))
    )


class Trace:
    """Sources of the rows that were sent to a session, by their positions there."""

    def __init__(self) -> None:
        self._sources: list[list[Any]] = []

    def note(self, events: pa.Table | Mapping[str, pa.Table]) -> pa.Table | dict[str, pa.Table]:
        """Note the rows that are about to be sent, in the order in which a session counts them, and give them back."""
        if isinstance(events, pa.Table):
            self._sources += events.column(SOURCES).to_pylist()
            return events.drop_columns([SOURCES])
        for table in events.values():
            self._sources += table.column(SOURCES).to_pylist()
        return {name: table.drop_columns([SOURCES]) for name, table in events.items()}

    def named(self, tables: Mapping[str, pa.Table], type_: pa.DataType) -> dict[str, pa.Table]:
        """Detections whose sources are identifiers of rows, instead of positions."""
        found = {}
        for name, table in tables.items():
            place = table.column_names.index(SOURCES)
            united = [
                sorted({each for position in positions for each in self._sources[position] if each is not None})
                for positions in table.column(place).to_pylist()
            ]
            found[name] = table.set_column(place, SOURCES, pa.array(united, type_))
        return found
