"""Events of a batch job: the frames that paths, tables and formats on the command line stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ensue.cli.sources import Sources
from ensue.cli.spark.text_schema import CORRUPT, FORMATS, text_schema
from ensue.data import Columns, DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ensue.program import Program

ENDINGS = {
    ".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".orc": "orc",
    ".avro": "avro",
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


@dataclass(frozen=True)
class Reader:
    """How events are read: `format` is that of --format, where the path does not say it."""

    spark: SparkSession
    program: Program
    columns: Columns
    format: str | None
    options: Mapping[str, str]

    def read(self, sources: Sources) -> Read:
        """The frames of sources."""
        unreadable: list[DataFrame] = []
        found: DataFrame | dict[str, DataFrame]
        if isinstance(sources, dict):
            found = {name: self._frame(paths, name, unreadable) for name, paths in sources.items()}
        else:
            found = self._frame(sources, None, unreadable)
        return Read(found, reduce(lambda one, other: one.unionAll(other), unreadable) if unreadable else None)

    def _frame(self, paths: Sequence[str], only: str | None, unreadable: list[DataFrame]) -> DataFrame:
        """All that some paths hold, in one frame."""
        by_format: dict[str, list[str]] = {}
        frames = []
        for path in paths:
            if path.startswith(TABLE):
                frames.append(self.spark.table(path.removeprefix(TABLE)))
            else:
                by_format.setdefault(self.format or format_of(path), []).append(path)
        for format, own in by_format.items():
            if format not in FORMATS:
                frames.append(self._load(format, own))
                continue
            frame = self._text(format, own, only)
            frames.append(frame.where(f"{CORRUPT} is null").drop(CORRUPT))
            bad = frame.where(f"{CORRUPT} is not null").persist()  # Spark refuses to read this column alone
            unreadable.append(bad.selectExpr(f"'{UNREADABLE}' as reason", f"{CORRUPT} as row"))
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)

    def _load(self, format: str, paths: Sequence[str]) -> DataFrame:
        reader = self.spark.read.format(format).options(**self.options)
        frames = (
            [reader.load(list(paths))] if len(paths) > 1 and format in ENDINGS.values() else map(reader.load, paths)
        )
        return reduce(lambda one, other: one.unionByName(other), frames)

    def _text(self, format: str, paths: Sequence[str], only: str | None) -> DataFrame:
        """Rows with values of the declared types; what cannot be read as such is in a column of its own."""
        schema = text_schema(self.spark, self.program, only, self.columns, format, paths, self.options)
        reader = self.spark.read.format(format).options(**{"header": "true", **self.options})
        reader = reader.option("columnNameOfCorruptRecord", CORRUPT).option("columnPruning", "false")
        return reader.schema(schema.add(CORRUPT, "string")).load(list(paths))


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
            f"There is no telling what {path} holds: it does not end in {', '.join(ENDINGS)}. Say it with --format, "
            "as in --format delta, or name a table as table:catalog.db.name."
        )
    return found


def _by_ending(path: str) -> str | None:
    name = PurePosixPath(path.rstrip("/*"))
    return ENDINGS.get((name.with_suffix("") if name.suffix in COMPRESSED else name).suffix.lower())
