"""Events from files: a path, a glob or a folder, read by the ending of the name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data.columns import TextFiles
from ensue.data.content import COMPRESSED, Content, file_content, inner_suffix, is_compressed
from ensue.data.errors import DataError, first_line, shortened
from ensue.records import dataclass
from ensue.regex import group_names, groups

if TYPE_CHECKING:
    from ensue.data.input_part import InputPart
    from ensue.data.wanted import Wanted

PLAIN = TextFiles()


@dataclass(frozen=True)
class JsonLines:
    """JSON lines that stand in no file, such as those of standard input; `name` is their name in messages."""

    data: bytes
    name: str


@dataclass(frozen=True)
class Reading:
    """Options for reading files: the format of text, and the wanted columns; None stands for all."""

    files: TextFiles = PLAIN
    wanted: Wanted | None = None


ALL = Reading()


def read_files(path: str | Path | JsonLines, reading: Reading = ALL) -> Iterator[InputPart]:
    """Read the file, all files that a glob matches, or all in a folder, in the order of their names."""
    if isinstance(path, JsonLines):
        data = path.data
        yield from _read_text(Content(path.name, lambda: data), ".jsonl", reading)
        return
    if path == "":
        raise DataError("The path is empty.")
    for file in _found(Path(path), reading.files):
        yield from (_with_name(part, file, reading.files.file_name) for part in _read_file(file, reading))


def _found(path: Path, files: TextFiles) -> list[Path]:
    try:
        return find_files(path.expanduser(), files)
    except DataError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # too long, no pattern, nobody's home
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{shortened(str(path), 100)} is not a path that can be read: {reason}.") from None


def find_files(path: Path, files: TextFiles = PLAIN) -> list[Path]:
    """The files that a path stands for; of a glob's and a folder's, those that can hold events.

    If the format of lines is given, any file can.
    """
    if path.is_dir():
        found = _event_files(path.iterdir(), files)
        if not found:
            raise DataError(f"The folder {path} holds no file of events ({endings()}).")
        return found
    if path.exists() or not any(sign in str(path) for sign in "*?["):
        if not path.exists():
            raise DataError(f"There is no file {path}.")
        if not is_event_file(path, files):
            if path.is_fifo() or path.is_char_device() or path.parts[:2] == ("/", "dev"):
                raise DataError(
                    f"{path} is a pipe or a device, whose name does not tell how to read it. On the command line, - "
                    "reads JSON lines from standard input: … | ensue run RULES - (with --separator , it reads CSV)."
                )
            raise DataError(
                f"{path} does not end in {endings()}, so Ensue cannot tell how to read it. For other text, name what "
                "splits its lines: lines= (--lines) takes a regular expression, separator= (--separator) a sign."
            )
        return [path]
    matched = list(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    if not matched:
        raise DataError(f"No file matches {path}.")
    found = _event_files(matched, files)
    if not found:
        raise DataError(f"No file that matches {path} ends in {endings()}.")
    return found


def endings() -> str:
    """The endings that can be read, for a message."""
    *most, last = READERS
    return f"{', '.join(most)} or {last}, packed or not ({', '.join(COMPRESSED)})"


def is_event_file(path: Path, files: TextFiles = PLAIN) -> bool:
    """True if the suffix of a file, or an option, determines how to read it."""
    return files.lines is not None or files.separator is not None or inner_suffix(path) in READERS


def _event_files(paths: Iterable[Path], files: TextFiles) -> list[Path]:
    return [
        path
        for path in sorted(paths)
        if not path.name.startswith(".") and is_event_file(path, files) and not path.is_dir()
    ]


def _with_name(part: InputPart, path: Path, file_name: str | None) -> InputPart:
    """A part with columns from the name of its file."""
    if file_name is None:
        return part
    if file_name.isidentifier():
        values: dict[str, str | None] = {file_name: path.name.split(".")[0]}
    else:
        found = groups(path.as_posix(), file_name)
        if found is None:
            raise DataError(f"The name {path} does not match the file_name {file_name!r} (--file-name).")
        values = {name: found[number] or None for name, number in group_names(file_name).items()}
    more = {
        name: pa.chunked_array([pa.repeat(pa.scalar(value, pa.string()), part.length)])
        for name, value in values.items()
    }
    exactly = part.exactly
    again = None if exactly is None else (lambda: _with_name(exactly(), path, file_name))
    return replace(part, columns={**part.columns, **more}, exactly=again)


def _read_file(path: Path, reading: Reading) -> Iterable[InputPart]:
    try:
        if reading.files.lines is not None or reading.files.separator is not None or inner_suffix(path) in TEXT:
            return _read_text(file_content(path), inner_suffix(path), reading)
        return [BINARY[inner_suffix(path)](path)]
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} cannot be read: the name of a column is not UTF-8.") from error
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{path} cannot be read: {reason}") from error


def _read_text(content: Content, suffix: str, reading: Reading) -> Iterable[InputPart]:
    files = reading.files
    if files.lines is not None:
        from ensue.data.log_lines import read_lines

        return [read_lines(content, files.lines)]
    if files.separator is not None:
        return _read_csv(content, reading)
    return TEXT[suffix](content, reading)


def _read_csv(content: Content, reading: Reading) -> Iterable[InputPart]:
    from ensue.data.csv_rows import read_csv

    return read_csv(content, reading.files.separator, reading.wanted)


def _read_tsv(content: Content, reading: Reading) -> Iterable[InputPart]:
    from ensue.data.csv_rows import read_csv

    return read_csv(content, "\t", reading.wanted)


def _read_json(content: Content, reading: Reading) -> Iterable[InputPart]:
    from ensue.data.json_rows import read_json

    return read_json(content, reading.wanted)


def _read_json_lines(content: Content, reading: Reading) -> Iterable[InputPart]:
    from ensue.data.json_rows import read_json_lines

    return read_json_lines(content, reading.wanted)


def _read_parquet(path: Path) -> InputPart:
    import pyarrow.parquet as pq

    from ensue.data.input_part import table_part

    _not_empty(path)
    try:
        with pq.ParquetFile(pa.BufferReader(file_content(path).read()) if is_compressed(path) else path) as file:
            table = file.read()
        table.validate(full=True)  # neither format keeps text that is not UTF-8 from being written
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file that can be read: {first_line(error)}") from error
    return table_part(table, str(path), lambda position: f"{path}, row {position}")


def _read_arrow(path: Path) -> InputPart:
    from pyarrow import ipc

    from ensue.data.input_part import table_part

    _not_empty(path)
    data = pa.BufferReader(file_content(path).read()) if is_compressed(path) else pa.memory_map(str(path))
    try:
        table = ipc.open_file(data).read_all()
    except pa.ArrowException:
        data.seek(0)
        try:
            table = ipc.open_stream(data).read_all()
        except pa.ArrowException as error:
            raise DataError(f"{path} is not an Arrow file that can be read: {first_line(error)}") from error
    try:
        table.validate(full=True)  # a damaged file must not bring the process down
    except pa.ArrowException as error:
        raise DataError(f"{path} is damaged: {first_line(error)}") from error
    return table_part(table, str(path), lambda position: f"{path}, row {position}")


def _not_empty(path: Path) -> None:
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty, without even a schema.")


BINARY: dict[str, Callable[[Path], InputPart]] = {
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
}
TEXT: dict[str, Callable[[Content, Reading], Iterable[InputPart]]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
}
READERS = (".parquet", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".arrow", ".feather")
"""The suffixes of files that can be read."""
