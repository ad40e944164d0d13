"""Output of a batch job: standard output, one file, or a folder that Spark's workers write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ensue.cli.spark.reading import TABLE
from ensue.data import DataError
from ensue.records import dataclass

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ensue.program import Program

STDOUT = "-"


@dataclass(frozen=True)
class Output:
    """The options -o, --output-format and --mode.

    A name with the ending of a file, on this machine, is one file, as of `ensue run` anywhere; all else is a folder or,
    with a format that has tables, a table.
    """

    where: str
    format: str | None = None
    mode: str | None = None

    def check(self, paths: Iterable[str]) -> None:
        """Rejects an output that cannot be written, or is one of the inputs, before the work is done."""
        if self.where == STDOUT:
            if self.format is not None or self.mode is not None:
                raise click.UsageError("--output-format and --mode go with -o: standard output is JSON lines.")
        elif self.is_file:
            if self.mode == "append":
                raise click.UsageError(f"--mode append is for folders, and {self.where} is a file.")
            if self.mode == "error" and Path(self.where).exists():
                raise DataError(f"{self.where} already exists; --mode overwrite replaces it.")
            if Path(self.where).is_dir():
                raise DataError(f"{self.where} is a folder; name a file in it, or use --output-format.")
            if not Path(self.where).parent.is_dir():
                raise DataError(f"There is no folder {Path(self.where).parent} to write {Path(self.where).name} to.")
            if Path(self.where).exists() and any(Path(p).exists() and Path(p).samefile(self.where) for p in paths):
                raise DataError(f"{self.where} is one of the files that are read; write to another one.")

    @property
    def is_file(self) -> bool:
        """True if one file is written, by this process."""
        from ensue.data.write import WRITERS

        named = Path(self.where).suffix.lower() in WRITERS and "://" not in self.where
        return named and self.format is None and not self.where.startswith(TABLE) and not self.where.endswith("/")

    @property
    def is_collected(self) -> bool:
        """True if this process takes all detections into its memory."""
        return self.where == STDOUT or self.is_file

    def write_folder(self, found: DataFrame, where: str) -> None:
        """Makes Spark write detections; `where` is the path as Spark needs it."""
        writer = found.write.mode(self.mode or "error")
        if where.startswith(TABLE):
            writer.saveAsTable(where.removeprefix(TABLE), format=self.format)
            return
        format = self.format or "parquet"
        if format == "csv":
            writer = writer.option("header", "true")
        writer.format(format).save(where)


def by_type(found: pa.Table, program: Program, wanted: list[str]) -> dict[str, pa.Table]:
    """One table of detections as a table for each type, each always in the same order."""
    import pyarrow as pa

    from ensue import compute as pc

    plain = [field.name for field in found.schema if not pa.types.is_nested(field.type)]
    in_order = sorted(plain, key=lambda name: name not in ("start", "end"))  # what is left of it, the writer decides
    found = found.sort_by([(name, "ascending") for name in in_order])
    types = found.column("type")
    return {
        name: found.filter(pc.equal(types, name)).select(["start", "end", *program.typed.events[name].attributes])
        for name in wanted
    }
