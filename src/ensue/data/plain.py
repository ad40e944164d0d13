"""Tables that need no further look: every row has its times and its type, and every value is of the declared type.

Most input is like that, and is then one table, not split by type. A few rows that are bad are looked at one by one, and
left out. Any other input goes through `normalise`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TypeAlias

import pyarrow as pa

from ensue import compute as pc
from ensue.data.arrange import arranged_parts, paths_of
from ensue.data.attributes import read_declared
from ensue.data.columns import Columns
from ensue.data.convert import Schema, bad_values, convert
from ensue.data.errors import BadRow
from ensue.data.files import Reading
from ensue.data.infer import unblanked
from ensue.data.input_part import InputPart
from ensue.data.raw import Raw, any_of
from ensue.data.report import Report
from ensue.data.sources import Read, recognise
from ensue.data.split import Group
from ensue.data.stamp import Stamped, stamp
from ensue.data.wanted import wanted_columns
from ensue.records import dataclass

FEW = 16
"""Up to how many bad rows a table is cut around them; among more it is copied."""

Used: TypeAlias = Collection[tuple[str, str]]
"""Attributes whose values rules read, each with its event."""

Plain: TypeAlias = "pa.Table | dict[str, pa.Table]"


def read_parts(
    source: object, columns: Columns, asked: Schema, schema: Schema, known: Collection[str] | None, whole: bool = True
) -> Read:
    """The parts of a source, arranged; only columns that are wanted, where all types that are known are declared.

    `asked` are the attributes of all types, `schema` of those that are declared. More may come after a source that is
    not the `whole` input.
    """
    declared = known is not None and all(name in schema for name in known)
    form, parts = recognise(source, Reading(columns.files, wanted_columns(schema, columns) if declared else None))
    paths = paths_of(asked, columns)
    return Read(form, arranged_parts(parts, columns, paths, whole))


@dataclass
class PlainRows:
    """The good rows of an input, and a report on the others."""

    tables: Plain
    rows: int = 0
    """Number of all rows, good and bad."""
    bad_count: int = 0
    report: Report = field(default_factory=Report)

    @property
    def bad(self) -> tuple[BadRow, ...]:
        """The bad rows to show."""
        return self.report.first_rows() if self.bad_count else ()


def plain_rows(
    parts: Sequence[InputPart], columns: Columns, schema: Schema, used: Used, instant: Collection[str] = ()
) -> PlainRows | None:
    """Parts as one table with the columns `time` (or `start` and `end`), `type` and attributes, or such by type.

    None where an attribute has several types, a sequence is named, or a type has no value of an attribute that is used
    beside bad rows. `instant` are the types that are declared so.
    """
    kinds = _kinds(schema)
    if kinds is None or columns.sequence is not None:
        return None
    found: dict[str | None, list[pa.Table]] = {}
    stamps: set[tuple[object, ...]] = set()
    rows = PlainRows({})
    clock = None
    for part in parts:
        offset = rows.rows
        rows.rows += part.total
        rows.bad_count += len(part.malformed)
        rows.report.malformed(part, offset)
        if not part.length:
            continue
        stamped = stamp(part, columns, clock if part.continued else None)
        clock = stamped.clock or clock
        table = _table(part, stamped, kinds, used, schema, instant, rows.report, offset)
        if table is None:
            return None
        rows.bad_count += part.length - table.num_rows
        if table.num_rows:
            stamps.add((stamped.clock, stamped.zone, "time" in table.column_names))
            found.setdefault(part.event_type, []).append(table)
    if len(stamps) != 1:
        return None
    tables = {name: pa.concat_tables(each, promote_options="default") for name, each in found.items()}
    if rows.bad_count and any(_lacks_values(table, name, used) for name, table in tables.items()):
        return None
    rows.tables = tables[None] if None in tables else {str(name): table for name, table in tables.items()}
    return rows


def _kinds(schema: Schema) -> dict[str, str] | None:
    """The type of each attribute; None where one is of several."""
    kinds: dict[str, str] = {}
    for attributes in schema.values():
        for name, kind in attributes.items():
            if kinds.setdefault(name, kind) != kind:
                return None
    return kinds


def _table(
    part: InputPart, stamped: Stamped, kinds: Mapping[str, str], used: Used, schema: Schema, instant: Collection[str],
    report: Report, offset: int,
) -> pa.Table | None:  # fmt: skip
    """The good rows of a part; None if it cannot be told here which these are."""
    when = pa.timestamp("us", stamped.zone) if stamped.clock == "timestamps" else pa.int64()
    start, end = (each.cast(when) for each in (stamped.start, stamped.end))
    held = {"time": end} if stamped.start is stamped.end else {"start": start, "end": end}
    if stamped.types is not None:
        held["type"] = stamped.types
    own = kinds if part.event_type is None else schema.get(part.event_type, {})
    masks = [] if pc.all(stamped.good).as_py() else [pc.invert(stamped.good)]
    unread = []
    for name in own:
        raw = part.columns.get(name)
        if raw is None or name in stamped.taken:
            continue
        seen = unblanked(raw, kinds[name], part.text)
        values = convert(seen, kinds[name], part.text)
        users = {event for event, attribute in used if attribute == name}
        bad = bad_values(seen, values) if users else None
        if bad is not None and pc.any(bad).as_py():
            unread.append(_of_types(bad, users, stamped, part.event_type))
        held[name] = values
    for fault in stamped.faults if masks else ():
        report.of_part(part, fault, offset)
    if unread:
        wrong = pc.and_(any_of(unread), stamped.good)
        if not _are_bad(part, stamped, pc.indices_nonzero(wrong), used, schema, instant, report, offset):
            return None
        masks.append(wrong)
    table = pa.table(held)
    return _without(table, any_of(masks)) if masks else table


def _of_types(mask: pa.ChunkedArray, types: Collection[str], stamped: Stamped, only: str | None) -> pa.ChunkedArray:
    """The mask, true for rows of some types only."""
    if stamped.types is None:
        return mask if only in types else pc.and_(mask, False)
    return pc.and_(mask, pc.fill_null(pc.is_in(stamped.types, pa.array(sorted(types), pa.string())), False))


def _are_bad(
    part: InputPart, stamped: Stamped, indices: pa.Array, used: Used, schema: Schema, instant: Collection[str],
    report: Report, offset: int,
) -> bool:  # fmt: skip
    """Look at rows that seem to have bad values, and report them; False if one of them is good."""
    types = [part.event_type] * len(indices) if stamped.types is None else stamped.types.take(indices).to_pylist()
    rows = pc.add(pa.chunked_array([part.positions.take(indices)]), offset)
    for event_type in dict.fromkeys(map(str, types)):
        own = pa.array([place for place, each in enumerate(types) if each == event_type], pa.int64())
        at = indices.take(own)
        group = Group(
            start=stamped.start.take(at),
            end=stamped.end.take(at),
            row=rows.take(own),
            sequence=None,
            columns={name: _taken(part.columns[name], at) for name in schema[event_type] if name in part.columns},
            text=part.text,
            offset=offset,
            where=part.where,
        )
        piece = read_declared(
            group, schema[event_type], event_type in instant, {name for event, name in used if event == event_type}
        )
        if piece.table.num_rows:
            return False
        for fault in piece.faults:
            report.of_group(group, fault)
    return True


def _taken(raw: Raw, indices: pa.Array) -> Raw:
    return [raw[index] for index in indices.to_pylist()] if isinstance(raw, list) else raw.take(indices)


def _without(table: pa.Table, bad: pa.ChunkedArray) -> pa.Table:
    """The rows of a table that are not bad; if these are few, what lies between them as it is."""
    indices = pc.indices_nonzero(bad)
    if len(indices) > FEW:
        return table.filter(pc.invert(bad))
    edges = [-1, *indices.to_pylist(), table.num_rows]
    return pa.concat_tables([table.slice(one + 1, other - one - 1) for one, other in pairwise(edges)])


def _lacks_values(table: pa.Table, only: str | None, used: Used) -> bool:
    """True if a type has rows, but no value of an attribute that rules use: that is worth a note."""
    there = {only} if only is not None else set(pc.unique(table.column("type")).to_pylist())
    for event, attribute in used:
        if event not in there or attribute not in table.column_names or not table.column(attribute).null_count:
            continue
        filled = pc.is_valid(table.column(attribute))
        if not pc.any(filled if only is not None else pc.and_(filled, pc.equal(table.column("type"), event))).as_py():
            return True
    return False
