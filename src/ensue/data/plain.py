"""Tables that need no further look: every row has its times and its type, and every value is of the declared type.

Most input is like that, and is then one table, not split by type; any other input goes through `normalise`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from ensue import compute as pc
from ensue.data.arrange import arranged_parts, paths_of
from ensue.data.columns import Columns
from ensue.data.convert import Schema, bad_values, convert
from ensue.data.files import Reading
from ensue.data.infer import unblanked
from ensue.data.input_part import InputPart
from ensue.data.sources import Read, recognise
from ensue.data.stamp import Stamped, stamp
from ensue.data.wanted import wanted_columns

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


def plain_tables(
    parts: Sequence[InputPart], columns: Columns, schema: Schema, used: Collection[tuple[str, str]]
) -> Plain | None:
    """Parts as one table with the columns `time` (or `start` and `end`), `type` and attributes, or such by type.

    None where a row of them is bad, an attribute has several types, or a sequence is named.
    """
    kinds = _kinds(schema)
    if kinds is None or columns.sequence is not None:
        return None
    found: dict[str | None, list[pa.Table]] = {}
    stamps: set[tuple[object, ...]] = set()
    for part in parts:
        if part.malformed:
            return None
        if not part.length:
            continue
        stamped = stamp(part, columns)
        if not pc.all(stamped.good).as_py():
            return None
        table = _table(part, stamped, kinds, used, schema)
        if table is None:
            return None
        stamps.add((stamped.clock, stamped.zone, "time" in table.column_names))
        found.setdefault(part.event_type, []).append(table)
    if len(stamps) != 1:
        return None
    tables = {name: pa.concat_tables(each, promote_options="default") for name, each in found.items()}
    return tables[None] if None in tables else {str(name): table for name, table in tables.items()}


def _kinds(schema: Schema) -> dict[str, str] | None:
    """The type of each attribute; None where one is of several."""
    kinds: dict[str, str] = {}
    for attributes in schema.values():
        for name, kind in attributes.items():
            if kinds.setdefault(name, kind) != kind:
                return None
    return kinds


def _table(
    part: InputPart, stamped: Stamped, kinds: Mapping[str, str], used: Collection[tuple[str, str]], schema: Schema
) -> pa.Table | None:
    when = pa.timestamp("us", stamped.zone) if stamped.clock == "timestamps" else pa.int64()
    start, end = (each.cast(when) for each in (stamped.start, stamped.end))
    held = {"time": end} if stamped.start is stamped.end else {"start": start, "end": end}
    if stamped.types is not None:
        held["type"] = stamped.types
    read = {name for _, name in used}
    own = kinds if part.event_type is None else schema.get(part.event_type, {})
    for name in own:
        raw = part.columns.get(name)
        if raw is None or name in stamped.taken:
            continue
        seen = unblanked(raw, kinds[name], part.text)
        values = convert(seen, kinds[name], part.text)
        if name in read and pc.any(bad_values(seen, values)).as_py():
            return None
        held[name] = values
    return pa.table(held)
