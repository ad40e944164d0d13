"""Events of a batch job: the frames that paths, tables and formats on the command line stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ensue.cli.sources import Sources
from ensue.cli.spark.text_files import matching, not_matching, with_file_name
from ensue.cli.spark.text_schema import CORRUPT, FORMATS, SAMPLE, text_schema, with_known_format
from ensue.data import Columns, DataError
from ensue.data.arrange import row_arranger
from ensue.data.columns import TextFiles, find_layout
from ensue.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ensue.program import Program

ENDINGS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".orc": "orc", ".avro": "avro",
}  # fmt: skip
COMPRESSED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")
TABLE = "table:"

UNREADABLE = "a value is not of the type that the rules declare"


@dataclass(frozen=True)
class Read:
    """Frames of events, one for all or by type, and the rows of text that could not be read, if there can be any."""

    events: DataFrame | dict[str, DataFrame]
    unreadable: DataFrame | None
    """Two columns, ``reason`` and ``row``."""
    columns: Columns
    """Columns of the frames as they are read."""


@dataclass(frozen=True)
class Reader:
    """Reader of events: `format` is that of --format, where the path does not determine it."""

    spark: SparkSession
    program: Program
    columns: Columns
    format: str | None
    options: Mapping[str, str]

    def read(self, sources: Sources) -> Read:
        """The frames of sources."""
        unreadable: list[DataFrame] = []
        columns: list[Columns] = []
        found: DataFrame | dict[str, DataFrame]
        if isinstance(sources, dict):
            found = {name: self._frame(paths, name, unreadable, columns) for name, paths in sources.items()}
        else:
            found = self._frame(sources, None, unreadable, columns)
        whole = reduce(lambda one, other: one.unionAll(other), unreadable) if unreadable else None
        chosen = next((each for each in columns if each.times != self.columns.times), self.columns)
        return Read(found, whole, replace(chosen, files=TextFiles()))

    def _frame(
        self, paths: Sequence[str], only: str | None, unreadable: list[DataFrame], columns: list[Columns]
    ) -> DataFrame:
        """All that some paths hold, in one frame."""
        files = self.columns.files
        if files.lines is not None:
            lines = with_file_name(self.spark.read.options(**self.options).text(list(paths)), files)
            unreadable.append(not_matching(lines, files.lines))
            found = matching(lines, files.lines)
            columns.append(with_known_times(self.columns, found, only))
            return found
        by_format: dict[str, list[str]] = {}
        frames = []
        for path in paths:
            if path.startswith(TABLE):
                frames.append(self.spark.table(path.removeprefix(TABLE)))
            else:
                by_format.setdefault(self._format_of(path), []).append(path)
        for format, own in by_format.items():
            if format not in FORMATS:
                frames.append(with_file_name(self._load(format, own), files))
                continue
            frame = self._text(format, own, only, columns)
            frames.append(frame.where(f"{CORRUPT} is null").drop(CORRUPT))
            bad = frame.where(f"{CORRUPT} is not null").persist()  # Spark refuses to read this column alone
            unreadable.append(bad.selectExpr(f"'{UNREADABLE}' as reason", f"{CORRUPT} as row"))
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)

    def _format_of(self, path: str) -> str:
        return self.format or ("csv" if self.columns.files.separator is not None else format_of(path))

    def _load(self, format: str, paths: Sequence[str]) -> DataFrame:
        reader = self.spark.read.format(format).options(**self.options)
        frames = (
            [reader.load(list(paths))] if len(paths) > 1 and format in ENDINGS.values() else map(reader.load, paths)
        )
        return reduce(lambda one, other: one.unionByName(other), frames)

    def _text(self, format: str, paths: Sequence[str], only: str | None, columns: list[Columns]) -> DataFrame:
        """Rows with values of the declared types; unreadable text is in a separate column."""
        options = text_options(self.columns.files, paths, self.options)
        text = text_schema(self.spark, self.program, only, self.columns, format, paths, options)
        columns.append(text.columns)
        reader = self.spark.read.format(format).options(**{"header": "true", **options})
        reader = reader.option("columnNameOfCorruptRecord", CORRUPT).option("columnPruning", "false")
        frame = reader.schema(text.schema.add(CORRUPT, "string")).load(list(paths))
        return with_file_name(frame, self.columns.files)


def text_options(files: TextFiles, paths: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """The options of text: the separator of fields, if it is given or the suffix determines it."""
    tabs = all(re.search(r"\.tsv(\.\w+)?$", path, re.IGNORECASE) for path in paths)
    sign = files.separator or ("\t" if tabs else None)
    return dict(options) if sign is None else {"sep": sign, **options}


def with_known_times(columns: Columns, frame: DataFrame, only: str | None) -> Columns:
    """The columns with the format of their times, by the first rows of a frame of text."""
    arrange = row_arranger(columns, ())
    rows = [row.asDict() for row in frame.limit(SAMPLE).collect()]
    rows = rows if arrange is None else [dict(arrange(row)) for row in rows]
    layout = find_layout(
        list(dict.fromkeys(name for row in rows for name in row)) or frame.columns,
        columns,
        only is not None,
        "The text",
    )
    names = {name for name in (layout.start, layout.end, layout.instant) if name is not None}
    values = [row[name] for name in names for row in rows if row.get(name)]
    found = with_known_format(columns, values)
    if not found.times and not all(re.fullmatch(r"[+-]?\d+", value.strip()) for value in values):
        return replace(found, times=replace(found.times, timezone="UTC"))  # text that says its zone, or is of UTC
    return found


def format_of(path: str) -> str:
    """The format of files, by the ending of their name, or in a folder on this machine by that of the first.

    >>> format_of("s3a://logs/2026/*.parquet"), format_of("events.jsonl.gz")
    ('parquet', 'json')
    """
    if not path:
        raise DataError("The path of the events is empty.")
    found = _by_ending(path)
    if found is None and "://" not in path and Path(path).is_dir():
        inside = sorted(each.name for each in Path(path).rglob("*") if each.is_file())
        found = next(filter(None, map(_by_ending, inside)), None)
    if found is None:
        raise DataError(
            f"Ensue cannot tell what {path} holds: it does not end in {', '.join(ENDINGS)}. Say it with --format, "
            "as in --format delta, or name a table as table:catalog.db.name."
        )
    return found


def _by_ending(path: str) -> str | None:
    name = PurePosixPath(path.rstrip("/*"))
    return ENDINGS.get((name.with_suffix("") if name.suffix in COMPRESSED else name).suffix.lower())
