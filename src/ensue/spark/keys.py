"""The key of an event as Spark columns: equal keys come into one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensue.partitioning import ByKey
from ensue.spark.sql import among, as_integer, quoted
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SPARK_TYPES = {"int": "bigint", "float": "double", "string": "string", "bool": "boolean", "timestamp": "bigint"}
"""What values of a kind are compared as."""


def key_columns(parting: ByKey, wire: Wire) -> list[Column]:
    """A column for each part of the key. Events of types without one may be anywhere: their times spread them."""
    from pyspark.sql import functions as f

    keys = ", ".join(_part(parting, wire, place) for place in range(len(parting.kinds)))
    elsewhere = f"xxhash64({quoted(wire.times[-1])})"
    return [f.expr(f"if({among('type', sorted(parting.keys))}, xxhash64({keys}), {elsewhere})")]


def without_null_keys(events: DataFrame, parting: ByKey, wire: Wire) -> DataFrame:
    """Leaves out events with a null in their key, which correlate with nothing, where they do not matter alone."""
    needed = sorted(set(parting.keys) - parting.nulls)
    if not needed:
        return events
    there = " and ".join(f"{_part(parting, wire, place)} is not null" for place in range(len(parting.kinds)))
    return events.where(f"not {among('type', needed)} or ({there})")


def _part(parting: ByKey, wire: Wire, place: int) -> str:
    """One part of the key of whichever event there is: the columns that hold it differ by type."""
    kind = parting.kinds[place]
    events: dict[str, list[str]] = {}
    for event, attributes in parting.keys.items():
        for column in wire.columns:
            if column.attribute == attributes[place] and column.holds(event):
                events.setdefault(_alike(quoted(column.name), column.type, kind), []).append(event)
    if len(events) == 1:
        return next(iter(events))
    found = f"cast(null as {_SPARK_TYPES[kind]})"
    for value, names in events.items():
        found = f"if({among('type', sorted(names))}, coalesce({value}, {found}), {found})"
    return found


def _alike(value: str, type_: str, kind: str) -> str:
    """A value such that equal ones are the same: 0.0 and -0.0 are equal, and so is every NaN."""
    match kind:
        case "timestamp":
            return as_integer(value, type_)
        case "float":
            cast = f"try_cast({value} as double)"
            return f"if(isnan({cast}), double('NaN'), {cast} + double('0.0'))"
        case _:
            return f"try_cast({value} as {_SPARK_TYPES[kind]})"
