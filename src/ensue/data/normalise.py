"""Normalise events in any form: recognise, stamp, split by type, read the attributes, combine.

Each part is processed separately, except for steps that depend on all of them: the types of undeclared attributes, and
the type of the sequence column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field

import pyarrow as pa

from ensue import compute as pc
from ensue.data.attributes import Piece, only_derived, read_declared, read_undeclared, whole_floats
from ensue.data.columns import Columns
from ensue.data.convert import Schema, bad_values, nulls
from ensue.data.errors import DataError, arrow_errors_as_data_errors
from ensue.data.events import Events
from ensue.data.infer import as_inferred, infer, unblanked
from ensue.data.input_part import InputPart
from ensue.data.plain import read_parts
from ensue.data.report import Report
from ensue.data.sources import Read
from ensue.data.split import Group, split
from ensue.data.stamp import Stamped, stamp
from ensue.data.times import Clock
from ensue.records import dataclass

Used = Collection[tuple[str, str]]
"""Attributes that rules use, each with its event."""


def read_events(
    source: object,
    columns: Columns,
    schema: Schema,
    *,
    strict: bool = False,
    known: Collection[str] | None = None,
    instant: Collection[str] = (),
    derived: Collection[str] = (),
    used: Used | None = None,
    asked: Schema | None = None,
    whole: bool = True,
) -> Events:
    """Read events in any form.

    Rows that cannot be read are left out, counted and reported; with `strict` the first one is an error. Of types that
    are not `known` only the times are read: they take part in `first_end` and `last_end`. The start of a declared type
    that is `instant` must be its end. Rows of types that are `derived`, and not given, are bad. A value that does not
    fit makes a row bad where its attribute is `used` (an event and a name); None stands for all. Of types that are not
    declared, `asked` are the attributes that rules use. More events may come after a source that is not `whole`: what
    it lacks may be in those.

    >>> events = read_events([{"type": "order", "time": 3, "id": 42}], Columns(), {"order": {"id": "int"}})
    >>> events.tables["order"].to_pylist()
    [{'start': 3, 'end': 3, 'row': 0, 'id': 42}]
    """
    with arrow_errors_as_data_errors("The events"):
        if not isinstance(source, Read):
            source = read_parts(source, columns, {**(asked or {}), **schema}, schema, known, whole)
        gathered = _Gathered(frozenset(instant), frozenset(derived), _by_event(used))
        return _read(source, columns, schema, strict, None if known is None else frozenset(known), gathered)


def _read(
    source: Read,
    columns: Columns,
    schema: Schema,
    strict: bool,
    known: frozenset[str] | None,
    gathered: _Gathered,
) -> Events:
    for part in source.parts:
        _gather(gathered, part, columns, schema, known)
    for event_type, groups in gathered.undeclared.items():
        for group, piece in zip(groups, read_undeclared(groups, gathered.used_of(event_type)), strict=True):
            _add_piece(gathered, event_type, group, piece)
    bad = gathered.report.first_rows()
    if strict and bad:
        raise DataError(str(bad[0]))
    tables = _put_together(gathered.pieces, columns.sequence)
    ends = [*gathered.unknown_ends, *(table.column(1) for table in tables.values())]
    first_end, last_end = _range(ends)
    return Events(
        tables=tables,
        timestamps="timestamps" in gathered.clocks,
        timezone=next(iter(gathered.zones), None),
        first_end=first_end,
        last_end=last_end,
        bad=bad,
        bad_count=gathered.rows - sum(len(end) for end in ends),
        form=source.form,
        rows=gathered.rows,
        used=bool(tables),
    )


@dataclass
class _Gathered:
    """Totals over the parts read so far."""

    instant: frozenset[str]
    derived: frozenset[str]
    used: Mapping[str, set[str]] | None = None  # by event
    clock: Clock | None = None  # of the part before
    rows: int = 0
    report: Report = field(default_factory=Report)
    clocks: dict[Clock, str] = field(default_factory=dict)  # with the first part that had it
    zones: list[str] = field(default_factory=list)
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    undeclared: dict[str, list[Group]] = field(default_factory=dict)
    unknown_ends: list[pa.ChunkedArray] = field(default_factory=list)

    def used_of(self, event_type: str) -> Collection[str] | None:
        return None if self.used is None else self.used.get(event_type, ())


def _gather(
    gathered: _Gathered, part: InputPart, columns: Columns, schema: Schema, known: frozenset[str] | None
) -> None:
    offset = gathered.rows
    gathered.rows += part.total
    gathered.report.malformed(part, offset)
    if not part.columns and not part.length:
        return
    before = gathered.clock if part.continued else None
    stamped = stamp(part, columns, before)
    gathered.clock = stamped.clock or before
    groups = split(part, stamped, offset, schema, known)
    if part.exactly is not None and any(whole_floats(group) for name, group in groups.items() if name not in schema):
        part = part.exactly()
        stamped = stamp(part, columns, before)
        groups = split(part, stamped, offset, schema, known)
    _note_times(gathered, stamped, part.name)
    for fault in stamped.faults:
        gathered.report.of_part(part, fault, offset)
    for event_type, group in groups.items():
        if known is not None and event_type not in known:
            gathered.unknown_ends.append(group.end)
        elif event_type in gathered.derived:
            gathered.report.of_group(group, only_derived(group, event_type))
        elif event_type in schema:
            instant, used = event_type in gathered.instant, gathered.used_of(event_type)
            piece = read_declared(group, schema[event_type], instant, used)
            _add_piece(gathered, event_type, group, piece)
        else:
            gathered.undeclared.setdefault(event_type, []).append(group)


def _by_event(used: Used | None) -> dict[str, set[str]] | None:
    if used is None:
        return None
    found: dict[str, set[str]] = {}
    for event, attribute in used:
        found.setdefault(event, set()).add(attribute)
    return found


def _add_piece(gathered: _Gathered, event_type: str, group: Group, piece: Piece) -> None:
    for fault in piece.faults:
        gathered.report.of_group(group, fault)
    if piece.table.num_rows:
        gathered.pieces.setdefault(event_type, []).append(piece)


def _note_times(gathered: _Gathered, stamped: Stamped, part: str) -> None:
    if stamped.clock is not None:
        gathered.clocks.setdefault(stamped.clock, part)
    if stamped.zone is not None:
        gathered.zones.append(stamped.zone)
    if len(gathered.clocks) > 1:
        first, second = gathered.clocks.items()
        raise DataError(
            f"Times are {first[0]} in {first[1]} but {second[0]} in {second[1]}; give all of them as one or the other."
        )


def _put_together(pieces: Mapping[str, Sequence[Piece]], sequence: str | None) -> dict[str, pa.Table]:
    """The tables by type, in the order in which the types first occur."""
    in_order = sorted(pieces, key=lambda event_type: int(pieces[event_type][0].table.column(2)[0].as_py()))
    if sequence is None:
        return {name: pa.concat_tables([piece.table for piece in pieces[name]]) for name in in_order}
    read = iter(_read_sequence([piece for name in in_order for piece in pieces[name]], sequence))
    return {
        name: pa.concat_tables([piece.table.add_column(2, "sequence", next(read)) for piece in pieces[name]])
        for name in in_order
    }


def _read_sequence(pieces: Sequence[Piece], name: str) -> list[pa.ChunkedArray]:
    """The sequence column of every piece, of one type over all event types: it orders events across them."""
    raws = [(piece.sequence, piece.text) for piece in pieces]
    inferred = infer(raws)
    if inferred is None:
        return [nulls(piece.table.num_rows, pa.int64()) for piece in pieces]
    columns = as_inferred(raws, inferred)
    for (raw, text), column in zip(raws, columns, strict=True):
        if pc.any(bad_values(unblanked(raw, inferred, text), column)).as_py():
            raise DataError(f"The sequence column {name!r} holds a number outside 64 bits; name another one.")
    return columns


def _range(ends: Iterable[pa.ChunkedArray]) -> tuple[int | None, int | None]:
    ranges = [pc.min_max(end).as_py() for end in ends if len(end)]
    if not ranges:
        return None, None
    return min(found["min"] for found in ranges), max(found["max"] for found in ranges)
