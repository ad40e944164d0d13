"""The columns of events in text, CSV or JSON: of the types that the rules declare, whatever a few rows look like.

The first rows determine everything else: the columns, the format of times, and their kind, integers or timestamps.
Spark infers the types of undeclared events. Values that may not be of their type, and that need not be, are read as
text: Spark rejects a whole row for one of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ensue.data import Columns
from ensue.data.arrange import row_arranger
from ensue.data.columns import TOGETHER, find_layout, is_path
from ensue.data.times import format_of_texts
from ensue.language.types import common
from ensue.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from ensue.program import Program

FORMATS = ("csv", "json")
SAMPLE = 100
"""Number of rows that are looked at."""

CORRUPT = "_unreadable"
"""The column for rows with a value that is not of its column's type."""

_SPARK = {"int": "bigint", "float": "double", "string": "string", "bool": "boolean", "timestamp": "timestamp"}
_PLAIN = {"int": r"[+-]?\d+", "float": r"[+-]?\d+(\.\d+)?", "bool": r"(?i)true|false"}
_ZONE = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """The schema of text, and how its columns and times are to be read."""

    schema: StructType
    columns: Columns


def text_schema(
    spark: SparkSession, program: Program, only: str | None, columns: Columns,
    format: str, paths: Sequence[str], options: Mapping[str, str],
) -> Text:  # fmt: skip
    """The schema of files of text that are there."""
    rows = _sample(spark, format, paths, options)
    names = list(dict.fromkeys(name for row in rows for name in row))
    types = declared_types(program, only)
    sources = dict(columns.renamed)
    arrange = row_arranger(columns, [name for name in types if is_path(name)])
    seen = rows if arrange is None else [arrange(row) for row in rows]
    layout = find_layout(
        list(dict.fromkeys(name for row in seen for name in row)), columns, only is not None, ", ".join(paths)
    )
    if format == "json":
        names += [name for name in types if sources.get(name, name) not in names and not is_path(name)]
    unknown = [name for name in names if types.get(name) == "any"]
    inferred = _inferred(spark, format, paths, options) if unknown else {}
    times = {str(name) for name in (layout.start, layout.end, layout.instant) if name is not None}
    values = [row[name] for name in times for row in seen if row.get(name) not in (None, "")]
    columns = with_known_format(columns, values)
    read = {name for _, name in program.read_attributes}
    kinds: dict[str, str] = {}
    for name in times:
        kind = "string" if columns.times or TOGETHER in name else time_type(values)
        kinds |= dict.fromkeys([part.strip() for part in name.split(TOGETHER)] if TOGETHER in name else [name], kind)
    if layout.type is not None:
        kinds[layout.type] = "string"
    for name, type_ in types.items():
        here = [row[name] for row in seen if row.get(name) is not None]
        text = name not in read or any(_is_odd(value, type_, format) for value in here)
        if name not in kinds:
            kinds[name] = inferred.get(name) or (
                "string" if text and type_ != "timestamp" else _SPARK.get(type_, "string")
            )
    if layout.sequence is not None and layout.sequence not in kinds:
        numbers = [row[layout.sequence] for row in seen if row.get(layout.sequence) not in (None, "")]
        kinds[layout.sequence] = "bigint" if _integers(numbers) else "string"
    found = dict.fromkeys(names, "string") | {sources.get(name, name): kind for name, kind in kinds.items()}
    fixed = format == "csv"
    return Text(
        _schema({n: k for n, k in found.items() if n in names or (not fixed and _is_wanted(n, types))}, rows), columns
    )


def _is_odd(value: Any, type_: str, format: str) -> bool:
    """True for a value that may become one of a type, and that Spark does not read as such."""
    if format == "json":
        return isinstance(value, str)
    return type_ in _PLAIN and value != "" and not re.fullmatch(_PLAIN[type_], str(value))


def _is_wanted(name: str, types: Mapping[str, str]) -> bool:
    return is_path(name) or name in types


def _schema(kinds: Mapping[str, str], rows: Sequence[Mapping[str, Any]] | None) -> StructType:
    """Columns of such types; paths that lead into objects, or of which nothing is known yet, are structs."""
    from pyspark.sql.types import StructField, StructType

    nested: dict[str, Any] = {}
    flat: dict[str, str] = {}
    for name, kind in kinds.items():
        inside = is_path(name) and (rows is None or not any(name in row for row in rows))
        if not inside:
            flat[name] = kind
            continue
        held = nested
        *outer, last = name.split(".")
        for part in outer:
            held = held.setdefault(part, {}) if isinstance(held.get(part, {}), dict) else {}
        held.setdefault(last, kind)
    tree = {**{name: kind for name, kind in flat.items() if name not in nested}, **nested}

    def struct(fields: Mapping[str, Any]) -> StructType:
        return StructType([StructField(n, struct(k) if isinstance(k, dict) else _parsed(k)) for n, k in fields.items()])

    return struct(tree)


def with_known_format(columns: Columns, values: Sequence[Any]) -> Columns:
    """The columns with the format of their times, where these are text that is neither integers nor ISO 8601."""
    times = columns.times
    texts = [value for value in values if isinstance(value, str)]
    if times.unit is not None or times.format is not None or not texts:
        return columns
    format = format_of_texts(texts, times)
    return columns if format is None else replace(columns, times=replace(times, format=format))


def assumed_schema(program: Program, only: str | None, columns: Columns) -> StructType:
    """The schema assumed before the first event: times are timestamps, or text if a format is given."""
    interval = columns.start is not None or columns.end is not None
    times = [columns.start or "start", columns.end or "end"] if interval else [columns.time or "time"]
    parts = [part.strip() for name in times for part in name.split(TOGETHER)]
    sources = dict(columns.renamed)
    outside = {} if only is not None else {columns.type or "type": "string"}
    together = any(TOGETHER in name for name in times)
    outside |= dict.fromkeys(parts, "string" if columns.times or together else "timestamp")
    if columns.sequence is not None:
        outside[columns.sequence] = "bigint"
    attributes = {name: _SPARK.get(type_, "string") for name, type_ in declared_types(program, only).items()}
    return _schema({sources.get(name, name): kind for name, kind in {**attributes, **outside}.items()}, None)


def declared_types(program: Program, only: str | None) -> dict[str, str]:
    """The type of each attribute of the events that the rules read; `any` where it is not declared."""
    found: dict[str, str] = {}
    for name, event in program.typed.events.items():
        if only not in (None, name) or not event.given:
            continue
        for attribute, type_ in event.attributes.items():
            known = found.get(attribute, type_)
            found[attribute] = common(known, type_) or "string"
    return found


def time_type(values: Iterable[Any]) -> str:
    """Spark type of times: integers, timestamps with a zone, or without.

    >>> time_type([3, "4"]), time_type(["2026-03-01T08:00:00Z"]), time_type(["2026-03-01 08:00"])
    ('bigint', 'timestamp', 'timestamp_ntz')
    """
    texts = [str(value) for value in values]
    if _integers(texts):
        return "bigint"
    return "timestamp_ntz" if texts and not any(_ZONE.search(text[10:]) for text in texts) else "timestamp"


def _integers(values: Iterable[Any]) -> bool:
    texts = [str(value).strip() for value in values]
    return bool(texts) and all(re.fullmatch(r"[+-]?\d+", text) for text in texts)


def _sample(spark: SparkSession, format: str, paths: Sequence[str], options: Mapping[str, str]) -> list[dict[str, Any]]:
    """A few rows, with values as they are written."""
    reader = spark.read.options(**options)
    if format == "csv":
        frame = reader.option("header", "true").option("inferSchema", "false").csv(list(paths))
        return [row.asDict() for row in frame.limit(SAMPLE).collect()] or [dict.fromkeys(frame.columns)]
    found: list[dict[str, Any]] = []
    for (line,) in reader.text(list(paths)).limit(SAMPLE).collect():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found.extend(each for each in (row if isinstance(row, list) else [row]) if isinstance(each, dict))
    return found


def _inferred(spark: SparkSession, format: str, paths: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    reader = spark.read.options(**{"header": "true", "inferSchema": "true", **options})
    return {field.name: field.dataType.simpleString() for field in reader.format(format).load(list(paths)).schema}


def _parsed(type_: str) -> Any:
    from pyspark.sql.types import DataType

    return DataType.fromDDL(type_)
