"""Derived events as columns: rows of generated code back in Arrow's types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Columns, Integers
from ensue.engine.compiled import kernels
from ensue.engine.compiled.stream import sortable
from ensue.engine.compiled.strings import Strings
from ensue.results import arrow_type


def derived_columns(rows: Integers, types: Mapping[str, str], strings: Strings) -> Columns:
    """Rows of one derived type, whose attributes have these types, as columns in order; what was given is left out."""
    given = (rows[:, 2] & kernels.GIVEN) != 0
    if given.any():
        rows = rows[~given]
    attributes = {}
    for index, (name, type_) in enumerate(types.items()):
        valid = (rows[:, 2] & (1 << index)) != 0
        attributes[name] = _column(np.ascontiguousarray(rows[:, 3 + index]), valid, type_, strings)
    return _in_order(Columns(rows[:, 0].copy(), rows[:, 1].copy(), attributes))


def columns_by_type(
    rows: Integers, types: Sequence[Mapping[str, str]], strings: Strings
) -> Iterator[tuple[int, Columns]]:
    """Rows of several types, whose number is the first attribute, as columns in order, for each type that there is."""
    kinds = {"": "int", **{str(place): type_ for place, type_ in enumerate(types[0].values())}}
    whole = derived_columns(rows, kinds, strings)
    number = np.asarray(whole.attributes[""].to_numpy())
    short = number.astype(np.uint16) if len(types) <= 1 << 16 else number  # which NumPy sorts in linear time
    by = np.argsort(short, kind="stable")
    ends = np.searchsorted(number[by], np.arange(len(types) + 1))
    start, end = whole.start[by], whole.end[by]
    columns = [column.take(pa.array(by)) for name, column in whole.attributes.items() if name]
    for place, (first, last) in enumerate(pairwise(ends.tolist())):
        if first < last:
            own = zip(types[place], columns, strict=True)
            attributes = {name: column.slice(first, last - first) for name, column in own}
            yield place, Columns(start[first:last], end[first:last], attributes)


def _column(values: Integers, valid: np.ndarray[Any, np.dtype[np.bool_]], type_: str, strings: Strings) -> pa.Array:
    mask = None if valid.all() else ~valid
    match type_:
        case "string":
            return strings.decode(values, valid)
        case "float":
            return pa.array(values.view(np.float64), mask=mask)
        case "bool":
            return pa.array(values != 0, mask=mask)
        case "timestamp":
            return pa.array(values, mask=mask).cast(arrow_type("timestamp", True, "UTC"))
        case _:
            return pa.array(values, mask=mask)


def merged(one: Columns, other: Columns) -> Columns:
    """Events of one type that were derived apart, in order; those that are the same are one."""
    start, end = (np.concatenate([a, b]) for a, b in ((one.start, other.start), (one.end, other.end)))
    attributes = {name: pa.concat_arrays([one.attributes[name], other.attributes[name]]) for name in one.attributes}
    keys: list[Any] = [end, start]
    for column in attributes.values():
        values, there = sortable(column, len(end))
        keys += [there, values]
    by = np.lexsort(keys[::-1])
    differs = np.zeros(max(0, len(by) - 1), bool)
    for key in keys:
        differs |= key[by][1:] != key[by][:-1]
    by = by[np.concatenate([np.ones(min(1, len(by)), bool), differs])]
    taken = {name: column.take(pa.array(by)) for name, column in attributes.items()}
    return Columns(start[by], end[by], taken)


def _in_order(columns: Columns) -> Columns:
    """Events of one end and start by their attributes: where those are strings, generated code puts them by code."""
    if not any(pa.types.is_string(column.type) for column in columns.attributes.values()) or len(columns) < 2:
        return columns
    same = (columns.end[1:] == columns.end[:-1]) & (columns.start[1:] == columns.start[:-1])
    if not same.any():
        return columns
    keys: list[Any] = [columns.end, columns.start]
    for column in columns.attributes.values():
        values, there = sortable(column, len(columns))
        keys += [there, values]
    by = np.lexsort(keys[::-1])
    indices = pa.array(by)
    attributes = {name: column.take(indices) for name, column in columns.attributes.items()}
    return Columns(columns.start[by], columns.end[by], attributes)
