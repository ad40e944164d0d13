"""Detections as Arrow tables, one for each derived type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ensue.data import DataError
from ensue.data.errors import did_you_mean, shortened
from ensue.language import typed
from ensue.language.types import is_list, item_of

Detection = tuple[int, int, Mapping[str, Any]]
"""Start, end and attributes of a derived event."""


def time_type(timestamps: bool, timezone: str | None) -> pa.DataType:
    return pa.timestamp("us", tz=timezone) if timestamps else pa.int64()


def arrow_type(type_: str, timestamps: bool, timezone: str | None) -> pa.DataType | None:
    """The Arrow type of an attribute; None where only the values determine it."""
    if is_list(type_):
        inner = arrow_type(item_of(type_), timestamps, timezone)
        return pa.list_(inner) if inner is not None else None
    match type_:
        case "int":
            return pa.int64()
        case "float":
            return pa.float64()
        case "string":
            return pa.string()
        case "bool":
            return pa.bool_()
        case "timestamp":
            return pa.timestamp("us", tz=timezone if timestamps else "UTC")
        case "time":
            return time_type(timestamps, timezone)
        case _:
            return None


def derived_table(
    event: typed.EventType, rows: Sequence[Detection], timestamps: bool, timezone: str | None
) -> pa.Table:
    """The events derived of one type: start, end, then its attributes."""
    when = time_type(timestamps, timezone)
    columns = [_array([start for start, _, _ in rows], when), _array([end for _, end, _ in rows], when)]
    for name, type_ in event.attributes.items():
        columns.append(_array([row.get(name) for _, _, row in rows], arrow_type(type_, timestamps, timezone)))
    return pa.Table.from_arrays(columns, names=["start", "end", *event.attributes])


def _array(values: list[Any], type_: pa.DataType | None) -> pa.Array:
    if type_ is not None:
        return pa.array(values, type=type_)
    for inferred in (lambda: None, lambda: _map_type(values)):
        try:
            return pa.array(values, inferred())
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue
    # values of several kinds, of an event that is not declared
    return pa.array([None if value is None else str(value) for value in values], type=pa.string())


def _map_type(values: list[Any]) -> pa.DataType:
    """The type of maps, which Python has as lists of pairs.

    >>> _map_type([[("a", 1)], None])
    MapType(map<string, int64>)
    """
    pairs = [pair for value in values if isinstance(value, list) for pair in value]
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise pa.ArrowInvalid("no maps")
    return pa.map_(pa.array([key for key, _ in pairs]).type, pa.array([item for _, item in pairs]).type)


def picked(program: typed.Program, emit: Iterable[str] | None) -> list[str]:
    """The derived types that are wanted, in the order of events."""
    derived = [name for name, event in program.events.items() if event.derived]
    if emit is None:
        return derived
    if isinstance(emit, bytes) or not isinstance(emit, Iterable):
        raise DataError(f"`emit` is {shortened(emit)}; it is the name of a type that rules derive, or a list of names.")
    wanted = [emit] if isinstance(emit, str) else list(emit)
    for name in wanted:
        if name not in derived:
            known = ", ".join(derived) or "none"
            raise DataError(
                f"No rule derives {name!r}; what the rules derive: {known}.{did_you_mean(str(name), derived)}"
            )
    return [name for name in derived if name in wanted]
