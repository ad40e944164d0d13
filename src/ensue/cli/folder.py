"""`-o DIR/`: a file for each type of detection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ensue.cli.files import replace_file
from ensue.records import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("jsonl", "csv", "parquet", "arrow")


@dataclass(frozen=True)
class Folder:
    """A folder, and the ending of the files that are written to it."""

    path: Path
    format: str

    def write(self, found: Mapping[str, pa.Table], read: Iterable[str]) -> None:
        """Writes a file for each type, also for one of which nothing was found; none that is read is replaced."""
        from ensue.data import DataError, combined, write_events
        from ensue.data.files import find_files
        from ensue.data.json_lines import json_lines_by_type

        self.path.mkdir(parents=True, exist_ok=True)
        files = {name: self.path / f"{_file_name(name)}.{self.format}" for name in found}
        for path in read:
            for source in find_files(Path(path)):
                for file in files.values():
                    if file.exists() and file.samefile(source):
                        raise DataError(f"{file} is one of the files that are read; write to another folder.")
        for name, table in found.items():
            if self.format == "jsonl":
                replace_file(files[name], (f"{line}\n" for line in json_lines_by_type({name: table})))
            else:
                write_events(combined({name: table}), str(files[name]))


def _file_name(event: str) -> str:
    """An event's name as that of a file.

    >>> _file_name("overdue"), _file_name("per cent/day")
    ('overdue', 'per cent_day')
    """
    return "".join("_" if sign in '/\\:*?"<>|' or not sign.isprintable() else sign for sign in event)


def folder_of(output: str, format: str | None) -> Folder | None:
    """The folder that `-o` names, if it names one: it ends with a slash, or is there and has no ending of a file."""
    if not (output.endswith(("/", "\\")) or (output != "-" and Path(output).is_dir() and not Path(output).suffix)):
        if format is not None:
            raise click.UsageError("--output-format is for a folder: -o DIR/. A file has the format of its ending.")
        return None
    if format is not None and format not in FORMATS:
        raise click.UsageError(f"--output-format {format} is none of {', '.join(FORMATS)}.")
    return Folder(Path(output), format or FORMATS[0])
