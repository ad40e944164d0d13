"""Derived rows on their way out of generated code: as Arrow columns, or as single events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import ARROW, Batch, Columns, arrow_of
from ensue.engine.event import Event, content
from ensue.engine.inputs import inputs_of_all
from ensue.engine.operators.derive import element_kind_of
from ensue.engine.stream import merged
from ensue.engine.structure import Array
from ensue.engine.structures.number_codes import FLOAT, INT
from ensue.engine.structures.sources import inputs_of
from ensue.engine.structures.values import Dictionary

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane

LISTS = {f"list<{name}>": pa.list_(ARROW[name]) for name in ("int", "float", "string", "bool")}
"""Lists whose values have one type, which an Arrow column can hold."""

FLAGS = 63
"""Fields whose flags, of those that are not null, lie in one word of a row."""


def hand_over(lane: GeneratedLane, event: str, head: Any, batch: Batch) -> None:
    """Add the derived events of a head to a batch, and empty its rows."""
    rows: Any = lane.structures[head.rows]
    if not rows.count:
        return
    found = rows.arrays["rows"][: rows.count]
    place = {name: rows.layout.column(name).place for name, _ in rows.layout.columns if name != "cell"}
    if head.joined:
        given = found[:, place["given"]]
        found = found[given == 0] if given.any() else found
    rows.count = rows.first = rows.pushed = 0
    columns = {}
    every = np.ones(len(found), bool)
    for word in range(0, len(head.columns), FLAGS):
        fields = list(head.columns.items())[word : word + FLAGS]
        flags = np.empty(0, np.int64)
        if any(column.nullable for _, column in fields):
            flags = found[:, place[f"f_valid{word // FLAGS or ''}"]]
        there = int(np.bitwise_and.reduce(flags))  # all are, if there are no flags
        for bit, (field, column) in enumerate(fields):
            values = found[:, place[f"f{word + bit}"]].copy()
            is_full = not column.nullable or there >> bit & 1
            columns[field[1]] = (values, every if is_full else flags >> bit & 1 != 0, column.kind)
    start, end = found[:, place["start"]].copy(), found[:, place["end"]].copy()
    traced = lane.code.unit.provenance
    sources = found[:, place["source"]].copy() if traced else start
    parts = [(event, 0, len(found))]
    heads = lane.code.together.heads.get(event)
    if heads is not None:
        by, parts = parted(columns.pop("")[0], heads)
        start, end, sources = start[by], end[by], sources[by]
        columns = {name: (values[by], valid[by], kind) for name, (values, valid, kind) in columns.items()}
    types = list(lane.program.events[parts[0][0]].attributes.values())
    arrays = None if traced and not batch.sources_as_columns else _arrays(lane, columns.values(), types)
    if arrays is None or not all(batch.takes_columns(type_, arrays) for type_, _, _ in parts):
        for type_, *ends in parts:
            batch.take_apart(type_)
            own = slice(*ends)
            cut = [(values[own], valid[own], kind) for values, valid, kind in columns.values()]
            _events(lane, type_, start[own], end[own], cut, sources[own], batch)
        return
    came = inputs_of_all(lane.origins, sources) if traced else None
    for type_, first, past in parts:
        names = lane.program.events[type_].attributes
        attributes = {name: array.slice(first, past - first) for name, array in zip(names, arrays, strict=True)}
        inputs = None if came is None else came.slice(first, past - first)
        made = Columns(start[first:past], end[first:past], attributes, sources=inputs)
        others = batch.derived_columns.get(type_)
        each = lane.program.events[type_].each
        batch.derived_columns[type_] = made if others is None else merged(others, made, each)


def _arrays(
    lane: GeneratedLane, columns: Iterable[tuple[Array, Array, str]], types: Iterable[str]
) -> list[pa.Array] | None:
    """Columns as Arrow has them; None if one has values of several types."""
    arrays: list[pa.Array] = []
    for (values, valid, kind), type_ in zip(columns, types, strict=True):
        loose = kind == "o" and type_ not in LISTS
        array = _of_any_type(lane.values, values, valid) if loose else _arrow(lane, values, valid, kind, type_)
        if array is None:
            return None
        arrays.append(array)
    return arrays


def _of_any_type(dictionary: Dictionary, codes: Array, valid: Array) -> pa.Array | None:
    """Values of any type as a column; None unless all are strings, all integers, or all floats."""
    texts = dictionary.texts
    lengths = texts.length[codes[valid]]
    if not len(lengths):
        return pa.nulls(len(codes))
    kind = int(lengths.min())
    if kind >= 0:
        return None if texts.odd else dictionary.decode(codes, valid)
    if kind != lengths.max() or kind not in (INT, FLOAT):
        return None
    held = texts.first[codes if valid.all() else np.where(valid, codes, 0)]
    return arrow_of(held if kind == INT else held.view(np.float64), valid)


def _arrow(lane: GeneratedLane, values: Array, valid: Array, kind: str, type_: str) -> pa.Array:
    match kind:
        case "f":
            return arrow_of(np.ascontiguousarray(values).view(np.float64), valid)
        case "b":
            return arrow_of(values != 0, valid)
        case "s":
            return lane.values.decode(values, valid)
        case "l":
            lists: Any = lane.structures["lists"]
            return lists.column(lane, values, valid, element_kind_of(type_), LISTS[type_])
        case "o":
            held = lane.values.value
            lists = [held(code) if ok else None for code, ok in zip(values.tolist(), valid.tolist(), strict=True)]
            return pa.array(lists, LISTS[type_])
        case _:
            return arrow_of(values, valid)


def _values(lane: GeneratedLane, values: Array, valid: Array, kind: str, type_: str) -> list[Any]:
    """A column as Python values."""
    if kind == "l":
        held = _arrow(lane, values, valid, kind, type_).to_pylist()
        return [None if each is None else tuple(each) for each in held]
    return [lane._decoded(v, kind) if ok else None for v, ok in zip(values.tolist(), valid.tolist(), strict=True)]


def _events(
    lane: GeneratedLane, type_: str, start: Array, end: Array, columns: Sequence[tuple[Array, Array, str]],
    sources: Array, batch: Batch,
) -> None:  # fmt: skip
    """Add derived events to a batch, each once: other units may derive the type, too."""
    types = lane.program.events[type_].attributes.values()
    lists = [_values(lane, *column, of) for column, of in zip(columns, types, strict=True)]
    each = lane.program.events[type_].each
    known = {} if each else {content(event): event for event in batch.derived.get(type_, ())}
    names, made = list(lane.program.events[type_].attributes), []
    for i, (begin, finish) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        attributes = {name: values[i] for name, values in zip(names, lists, strict=True)}
        came = frozenset[Any]()
        if lane.code.unit.provenance:
            came = inputs_of(lane.structures["origins"], int(sources[i]))  # type: ignore[arg-type]
        same = (type_, begin, finish, tuple(attributes.items()))
        event = Event(type_, attributes, begin, finish, batch.place(type_), same, None, came)
        other = known.get(content(event)) if known else None
        if other is None:
            made.append(event)
        else:
            other.sources |= came
    batch.add(made)


def parted(numbers: Array, heads: Sequence[str]) -> tuple[Array, list[tuple[str, int, int]]]:
    """An order of rows by the number of their type; and for each type the beginning and end of its rows."""
    short = numbers.astype(np.uint16) if len(heads) <= 1 << 16 else numbers  # NumPy sorts these in linear time
    by = np.argsort(short, kind="stable")
    ends = np.searchsorted(numbers[by], np.arange(len(heads) + 1)).tolist()
    return by, [(head, *ends_) for head, ends_ in zip(heads, pairwise(ends), strict=True) if ends_[0] < ends_[1]]
