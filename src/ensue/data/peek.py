"""A look at data: its columns and their types, where its times may be, and which types of events it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from ensue import compute as pc
from ensue.data.arrange import arranged_part, column_at, leaf_paths
from ensue.data.columns import TOGETHER, Columns
from ensue.data.convert import convert
from ensue.data.errors import DataError, arrow_errors_as_data_errors, did_you_mean, listed
from ensue.data.files import Reading
from ensue.data.guess_times import TimeGuess, guess_times
from ensue.data.infer import infer
from ensue.data.input_part import InputPart
from ensue.data.raw import Raw, keep, present, value_at
from ensue.data.sources import recognise
from ensue.records import dataclass

TYPE_NAMES = ("type", "event_type", "eventtype", "event", "event_name", "eventname", "event.action", "eventid",
              "event_id", "event.code", "action", "activity", "concept:name", "kind", "category", "op", "operation",
              "method", "status")  # fmt: skip
"""Names that columns of types have, the likeliest first."""

MOST_TYPES = 200
"""A column with more different values holds no types."""

MOST_DECLARED = 40
"""Types of events that are declared, the most frequent first."""


@dataclass(frozen=True)
class Column:
    """A column: `kind` is its type in declarations, None where they have none."""

    name: str
    kind: str | None
    filled: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class EventKind:
    """A type of events: how many there are, and the attributes that one of them has, with their types."""

    name: str
    count: int
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Peeked:
    """All that a look at data finds."""

    rows: int
    malformed: int
    columns: tuple[Column, ...]
    times: TimeGuess | None
    type: str | None
    """The column of types; None where all events are of one."""
    events: tuple[EventKind, ...]


def peek(source: object, columns: Columns, only: str | None = None) -> Peeked:
    """Look at data in any form; `only` is the type of all its events, where it is known."""
    with arrow_errors_as_data_errors("The data"):
        _, found = recognise(source, Reading(columns.files))
        held = list(found)
        _check_named(held, columns)
        parts = [arranged_part(part, replace(columns, time=None), ()) for part in held]
        return _peek(parts, columns, only)


def _check_named(parts: Sequence[InputPart], columns: Columns) -> None:
    """Refuse names of columns that no part has; data without any columns has nothing to check."""
    there = [name for part in parts for name in (*part.columns, *part.others)]
    names = list(dict.fromkeys([*there, *_names(parts)]))
    known = {*names, *(name for name, _ in columns.renamed)}
    outside = [part.strip() for name in columns.outside if name not in known for part in name.split(TOGETHER)]
    for name in [*(source for _, source in columns.renamed), *outside] if names else ():
        if name not in known and all(column_at(part.columns, name) is None for part in parts):
            raise DataError(f"There is no column {name!r}; there is {listed(names)}.{did_you_mean(name, names)}")


def _peek(parts: Sequence[InputPart], columns: Columns, only: str | None) -> Peeked:
    held = {name: _together(parts, name) for name in _names(parts)}
    seen = {name: _described(name, pieces) for name, pieces in held.items()}
    whole = {name: _one(pieces) for name, pieces in held.items()}
    times = guess_times(whole, columns)
    taken = set() if times is None else {part.strip() for part in times.column.split(TOGETHER)}
    type_ = None if only is not None else _type_column(whole, columns, taken)
    events = _events(held, whole, taken | ({type_} if type_ is not None else set()), type_, only or "event")
    rows, malformed = sum(part.length for part in parts), sum(len(part.malformed) for part in parts)
    return Peeked(rows, malformed, tuple(seen.values()), times, type_, events)


# --- columns

Pieces = list[tuple[Raw, bool]]
"""A column as it came in several parts, each with whether it is text of CSV."""


def _names(parts: Iterable[InputPart]) -> list[str]:
    """The names of columns; of nested ones the paths to the values inside."""
    found: dict[str, None] = {}
    for part in parts:
        for name, raw in part.columns.items():
            found |= dict.fromkeys(leaf_paths(name, raw))
    return list(found)


def _together(parts: Sequence[InputPart], name: str) -> Pieces:
    columns = ((column_at(part.columns, name), part) for part in parts)
    return [(pa.chunked_array([pa.nulls(part.length)]) if raw is None else raw, part.text) for raw, part in columns]


def _described(name: str, pieces: Pieces) -> Column:
    filled = sum(int(pc.sum(present(raw)).as_py() or 0) for raw, _ in pieces)
    return Column(name, _kind(pieces), filled, _examples(pieces))


def _kind(pieces: Pieces) -> str | None:
    inferred = infer(pieces)
    return {"text": "string", "carried": None, None: None}.get(inferred, inferred)


def _examples(pieces: Pieces, most: int = 3) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for raw, _ in pieces:
        for index in range(min(len(raw), 200)):
            value = value_at(raw, index)
            if value is not None and value != "":
                found.setdefault(str(value)[:40])
            if len(found) == most:
                return tuple(found)
    return tuple(found)


def _one(pieces: Pieces) -> Raw:
    """The parts of a column as one."""
    if len(pieces) == 1:
        return pieces[0][0]
    arrays = [raw for raw, _ in pieces if not isinstance(raw, list)]
    types = {array.type for array in arrays if not pa.types.is_null(array.type)}
    if len(arrays) == len(pieces) and len(types) <= 1:
        type_ = types.pop() if types else pa.null()
        return pa.chunked_array([chunk for array in arrays for chunk in array.cast(type_).chunks], type_)
    return [value for raw, _ in pieces for value in (raw if isinstance(raw, list) else raw.to_pylist())]


# --- types of events


def _type_column(whole: Mapping[str, Raw], columns: Columns, taken: set[str]) -> str | None:
    if columns.type is not None:
        if columns.type not in whole:
            raise DataError(f"There is no column {columns.type!r}; there is {listed(list(whole))}.")
        return columns.type
    by_name = {name.lower(): name for name in whole if name not in taken}
    for candidate in TYPE_NAMES:
        name = by_name.get(candidate)
        if name is not None and 0 < len(_counts(whole[name])) <= MOST_TYPES:
            return name
    return None


def _counts(raw: Raw) -> dict[str, int]:
    """Number of rows by type, the most frequent first; empty for columns without values."""
    types = convert(raw, "string", text=True)
    if types.null_count == len(types):
        return {}
    counted = types.drop_null().value_counts().to_pylist()
    return {each["values"]: each["counts"] for each in sorted(counted, key=lambda each: -each["counts"])}


def _events(
    held: Mapping[str, Pieces], whole: Mapping[str, Raw], taken: set[str], type_: str | None, only: str
) -> tuple[EventKind, ...]:
    own = {name: pieces for name, pieces in held.items() if name not in taken}
    if type_ is None:
        rows = len(next(iter(whole.values()))) if whole else 0
        return (EventKind(only, rows, _attributes(own)),)
    found = []
    for name, count in list(_counts(whole[type_]).items())[:MOST_DECLARED]:
        masks = [pc.fill_null(pc.equal(convert(raw, "string", text), name), False) for raw, text in held[type_]]
        chosen = {
            attribute: [(keep(raw, mask), text) for (raw, text), mask in zip(pieces, masks, strict=True)]
            for attribute, pieces in own.items()
        }
        found.append(EventKind(name, count, _attributes(chosen)))
    return tuple(found)


def _attributes(held: Mapping[str, Pieces]) -> dict[str, str]:
    kinds = {name: _kind(pieces) for name, pieces in held.items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}
