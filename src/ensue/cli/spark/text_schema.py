"""The columns of events in text, CSV or JSON: of the types that the rules declare, whatever a few rows look like.

What the rules do not say is taken from the first rows: which columns there are, and whether times are integers or
timestamps. Types of events that are not declared are left to Spark to find out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ensue.data import Columns
from ensue.data.columns import find_layout
from ensue.language.types import common

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from ensue.program import Program

FORMATS = ("csv", "json")
SAMPLE = 100
"""So many rows are looked at."""

CORRUPT = "_unreadable"
"""The column for rows with a value that is not of its column's type."""

_SPARK = {"int": "bigint", "float": "double", "string": "string", "bool": "boolean", "timestamp": "timestamp"}
_ZONE = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)\s*$", re.IGNORECASE)


def text_schema(
    spark: SparkSession, program: Program, only: str | None, columns: Columns,
    format: str, paths: Sequence[str], options: Mapping[str, str],
) -> StructType:  # fmt: skip
    """The schema of files of text that are there."""
    from pyspark.sql.types import StructField, StructType

    rows = _sample(spark, format, paths, options)
    names = list(dict.fromkeys(name for row in rows for name in row))
    layout = find_layout(names, columns, only is not None, ", ".join(paths))
    types = declared_types(program, only)
    if format == "json":
        names += [name for name in types if name not in names]  # of events that come later
    unknown = [name for name in names if types.get(name) == "any"]
    inferred = _inferred(spark, format, paths, options) if unknown else {}
    fields = []
    for name in names:
        values = [row[name] for row in rows if row.get(name) not in (None, "")]
        if name in (layout.start, layout.end, layout.instant):
            type_ = time_type(values)
        elif name == layout.type:
            type_ = "string"
        elif name == layout.sequence and name not in types:
            type_ = "bigint" if _integers(values) else "string"
        else:
            type_ = inferred.get(name) or _SPARK.get(types.get(name, "string"), "string")
        fields.append(StructField(name, _parsed(type_)))
    return StructType(fields)


def assumed_schema(program: Program, only: str | None, columns: Columns) -> StructType:
    """The schema of events of which none is there yet: times are timestamps."""
    from pyspark.sql.types import StructField, StructType

    interval = columns.start is not None or columns.end is not None
    times = [columns.start or "start", columns.end or "end"] if interval else [columns.time or "time"]
    outside = {} if only is not None else {columns.type or "type": "string"}
    outside |= dict.fromkeys(times, "timestamp")
    if columns.sequence is not None:
        outside[columns.sequence] = "bigint"
    attributes = {name: _SPARK.get(type_, "string") for name, type_ in declared_types(program, only).items()}
    return StructType([StructField(name, _parsed(type_)) for name, type_ in {**attributes, **outside}.items()])


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
    """What times are, by those there are: integers, timestamps with a zone, or without.

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
    found = []
    for (line,) in reader.text(list(paths)).limit(SAMPLE).collect():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


def _inferred(spark: SparkSession, format: str, paths: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    reader = spark.read.options(**{"header": "true", "inferSchema": "true", **options})
    return {field.name: field.dataType.simpleString() for field in reader.format(format).load(list(paths)).schema}


def _parsed(type_: str) -> Any:
    from pyspark.sql.types import DataType

    return DataType.fromDDL(type_)
