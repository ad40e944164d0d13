"""The key of an event as Spark columns: equal keys come into one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensue.partitioning import ByKey
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SPARK_TYPES = {"int": "bigint", "float": "double", "string": "string", "bool": "boolean", "timestamp": "timestamp"}
"""What values of a kind are compared as."""


def key_columns(parting: ByKey, wire: Wire) -> list[Column]:
    """A column for each part of the key. Events of types without one may be anywhere: their times spread them."""
    from pyspark.sql import functions as f

    keys = [_part(parting, wire, place) for place in range(len(parting.kinds))]
    hashed = f.xxhash64(*keys)
    anywhere = ~f.col("type").isin(sorted(parting.keys))
    return [f.when(anywhere, f.xxhash64(f.col(wire.times[-1]))).otherwise(hashed)]


def without_null_keys(events: DataFrame, parting: ByKey, wire: Wire) -> DataFrame:
    """Leaves out events with a null in their key, which correlate with nothing, where they do not matter alone."""
    from pyspark.sql import functions as f

    needed = sorted(set(parting.keys) - parting.nulls)
    if not needed:
        return events
    there = f.lit(True)
    for place in range(len(parting.kinds)):
        there = there & _part(parting, wire, place).isNotNull()
    return events.where(~f.col("type").isin(needed) | there)


def _part(parting: ByKey, wire: Wire, place: int) -> Column:
    """One part of the key of whichever event there is: the columns that hold it differ by type."""
    from pyspark.sql import functions as f

    kind = parting.kinds[place]
    events: dict[str, list[str]] = {}
    for event, attributes in parting.keys.items():
        for column in wire.columns:
            if column.attribute == attributes[place] and column.holds(event):
                events.setdefault(column.name, []).append(event)
    cases = [(sorted(names), _alike(f.col(name), kind)) for name, names in events.items()]
    if not cases:
        return f.lit(None).cast(SPARK_TYPES[kind])
    if len(cases) == 1:
        return cases[0][1]
    found = f.lit(None).cast(SPARK_TYPES[kind])
    for names, value in cases:
        found = f.when(f.col("type").isin(names), f.coalesce(value, found)).otherwise(found)
    return found


def _alike(value: Column, kind: str) -> Column:
    """A value such that equal ones are the same: 0.0 and -0.0 are equal, and so is every NaN."""
    from pyspark.sql import functions as f

    cast = value.try_cast(SPARK_TYPES[kind])
    if kind != "float":
        return cast
    return f.when(f.isnan(cast), f.lit(float("nan"))).otherwise(cast + f.lit(0.0))
