"""The key of an event as Spark columns: equal keys come into one partition."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ensue.partitioning import ByKey
from ensue.spark.sql import among, as_integer, quoted
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SPARK_TYPES = {
    "int": "bigint", "float": "double", "string": "string", "bool": "boolean", "timestamp": "bigint", "time": "bigint",
}  # fmt: skip
"""Spark types in which keys are compared, by kind."""

_TIMES = ("timestamp", "time")
_MOMENTS = ("timestamp", "timestamp_ntz", "date")
_NO_NUMBERS = r"array|map|struct|binary|variant|interval|date|timestamp|time\b"
"""Prefixes of types of which no value is a number."""


def key_columns(parting: ByKey, wire: Wire, types: Collection[str]) -> list[Column]:
    """Columns for the key of events of some types. Those without a key may be anywhere: their times spread them."""
    from pyspark.sql import functions as f

    own = replace(parting, keys={name: key for name, key in parting.keys.items() if name in types})
    parts = [_part(own, wire, place) for place in range(len(own.kinds))]
    if set(types) <= set(own.keys):
        return [f.expr(part) for part in parts]
    anywhere = f"xxhash64({quoted(wire.times[-1])})"
    return [f.expr(f"if({among('type', sorted(own.keys))}, xxhash64({', '.join(parts)}), {anywhere})")]


def alike_for_all(parting: ByKey, wire: Wire, types: Collection[str]) -> bool:
    """True if the same expressions give the key of an event whatever its type."""
    places = range(len(parting.kinds))
    return {*types} <= {*parting.keys} and all(len(_values(parting, wire, place)) == 1 for place in places)


def without_null_keys(
    events: DataFrame, parting: ByKey, wire: Wire, types: Iterable[str] | None, kept: Iterable[str] = ()
) -> DataFrame:
    """Leaves out events with a null in their key, which correlate with nothing, where they do not matter alone.

    There are events of some `types`, or of any; those that are to be `kept` are wanted for themselves.
    """
    needed = set(parting.keys) - parting.nulls - set(kept)
    if not needed:
        return events
    there = " and ".join(f"{_part(parting, wire, place)} is not null" for place in range(len(parting.kinds)))
    if types is None or not {*types} <= needed:
        there = f"not {among('type', sorted(needed))} or ({there})"
    return events.where(there)


def _part(parting: ByKey, wire: Wire, place: int) -> str:
    """One part of the key of whichever event there is: the columns that hold it differ by type."""
    values = _values(parting, wire, place)
    if len(values) == 1:
        return next(iter(values))
    found = f"cast(null as {_SPARK_TYPES[parting.kinds[place]]})"
    for value, names in values.items():
        found = f"if({among('type', sorted(names))}, coalesce({value}, {found}), {found})"
    return found


def _values(parting: ByKey, wire: Wire, place: int) -> dict[str, list[str]]:
    """Expressions that may hold a part of the key, each with its types."""
    found: dict[str, list[str]] = {}
    for event, attributes in parting.keys.items():
        for column in wire.columns:
            if column.attribute == attributes[place] and column.holds(event):
                value = _alike(quoted(column.name), column.type, parting.kinds[place])
                found.setdefault(value, []).append(event)
    return found


def _alike(value: str, type_: str, kind: str) -> str:
    """A value such that equal ones are the same: 0.0 and -0.0 are equal, and so is every NaN.

    Values that Spark cannot even try to cast are never of the kind, so that such rows are bad, if they have a value.
    """
    if kind != "string" and re.match(_NO_NUMBERS, type_) and not (kind in _TIMES and type_ in _MOMENTS):
        return f"cast(null as {_SPARK_TYPES[kind]})"
    match kind:
        case _ if kind in _TIMES:
            return as_integer(value, type_)
        case "float":
            cast = f"try_cast({value} as double)"
            return f"if(isnan({cast}), double('NaN'), {cast} + double('0.0'))"
        case _:
            return f"try_cast({value} as {_SPARK_TYPES[kind]})"
