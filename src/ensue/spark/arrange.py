"""Spark frames arranged as `ensue.data.arrange` does it for tables: columns under the names that rules have for them,
and times that are text or numbers of a unit as timestamps.

It is all expressions, so frames stay lazy and streams stay streams.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ensue.data.arrange import paths_of
from ensue.data.columns import Columns, find_layout
from ensue.data.errors import DataError, did_you_mean, listed
from ensue.data.paths import at_path, in_fields, with_names_of_rules
from ensue.data.spark_frames import Frames
from ensue.request import Request
from ensue.spark.sql import literal, quoted
from ensue.spark.times import INTEGERS, STRINGS, needs_reading, read_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

Typed = tuple[str, "DataType"]
"""An expression and its type."""


def arranged_frames(
    frames: Frames, request: Request, attributes: Mapping[str, Collection[str]]
) -> tuple[Frames, Request]:
    """The frames with columns as rules have them, and a request in which only the names of columns remain."""
    columns = request.columns
    if columns.files != Columns().files:
        raise DataError("`lines`, `separator` and `file_name` are for files; a Spark frame has its columns already.")
    paths = paths_of(attributes, columns)
    found = {name: _arranged(frame, columns, paths, name) for name, frame in frames.items()}
    return found, replace(request, columns=columns.plain_names)


def _arranged(frame: DataFrame, columns: Columns, paths: Collection[str], only: str | None) -> DataFrame:
    schema = frame.schema
    held: dict[str, Typed] = {field.name: (quoted(field.name), field.dataType) for field in schema.fields}
    if len(held) < len(schema.fields):
        return frame  # two columns of one name are reported elsewhere
    table = "The Spark frame" if only is None else f"The Spark frame of {only!r}"

    def missing(source: str) -> None:
        if only is None:
            raise DataError(f"{table} has no column {source!r}, it has {listed(held)}.{did_you_mean(source, held)}")

    found = with_names_of_rules(held, columns, paths, _column, _joined, missing)
    found = _with_times(found, columns, only, table)
    if found == held:
        return frame
    return frame.selectExpr(*(f"{expression} as {quoted(name)}" for name, (expression, _) in found.items()))


def _with_times(found: dict[str, Typed], columns: Columns, only: str | None, table: str) -> dict[str, Typed]:
    try:
        layout = find_layout(list(found), columns, only is not None, table)
    except DataError:
        return found  # reported elsewhere
    changed = dict(found)
    for name in {layout.start, layout.end, layout.instant} - {None}:
        expression, type_ = found[str(name)]
        if needs_reading(type_, columns.times):
            changed[str(name)] = read_time(expression, type_, columns.times), type_
    if layout.type is not None:
        expression, type_ = found[layout.type]
        if type_.typeName() in INTEGERS:
            changed[layout.type] = f"cast({expression} as string)", type_
        elif type_.typeName() in ("float", "double"):
            whole = f"if({expression} = rint({expression}), cast(try_cast({expression} as bigint) as string), null)"
            changed[layout.type] = whole, type_
    return changed


def _joined(columns: list[Typed]) -> Typed:
    """Parts of a time that stand in several columns; null where one is missing."""
    from pyspark.sql.types import StringType

    texts = []
    for expression, type_ in columns:
        match type_.typeName():
            case "timestamp" | "timestamp_ntz":
                short = f"date_format({expression}, 'yyyy-MM-dd')"
                texts.append(
                    f"if({expression} = date_trunc('day', {expression}), {short}, cast({expression} as string))"
                )
            case name if name in STRINGS:
                texts.append(f"nullif(trim({expression}), '')")
            case "float" | "double":
                texts.append(f"cast(try_cast({expression} as bigint) as string)")
            case _:
                texts.append(f"cast({expression} as string)")
    between = ", ' ', "
    return f"concat({between.join(texts)})", StringType()


# --- nested values


def _column(held: Mapping[str, Typed], name: str) -> Typed | None:
    return at_path(held, name, _inside, _first_of)


def _inside(column: Typed, names: list[str]) -> Typed | None:
    if not names:
        return column
    expression, type_ = column
    if type_.typeName() == "struct":
        fields: dict[str, DataType] = {field.name: field.dataType for field in type_.fields}  # type: ignore[attr-defined]
        return in_fields(
            names, lambda name: (f"{expression}.{quoted(name)}", fields[name]) if name in fields else None, _inside
        )
    if type_.typeName() == "map" and type_.keyType.typeName() == "string" and len(names) == 1:  # type: ignore[attr-defined]
        return f"try_element_at({expression}, {literal(names[0])})", type_.valueType  # type: ignore[attr-defined]
    return None


def _first_of(one: Typed, other: Typed) -> Typed:
    """The values of a column, and those of another where it has none."""
    from pyspark.sql.types import StringType

    if one[1] == other[1]:
        return f"coalesce({one[0]}, {other[0]})", one[1]
    return f"coalesce(cast({one[0]} as string), cast({other[0]} as string))", StringType()
