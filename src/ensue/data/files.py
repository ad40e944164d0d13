"""Events from files: a path, a glob or a folder, read by the ending of the name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data.errors import DataError, first_line, shortened

if TYPE_CHECKING:
    from ensue.data.part import Part


@dataclass(frozen=True)
class JsonLines:
    """JSON lines that stand in no file, such as those of standard input; `name` is what a message calls them."""

    data: bytes
    name: str


def read_files(path: str | Path | JsonLines) -> Iterator[Part]:
    """Read the file, all files that a glob matches, or all in a folder, in the order of their names."""
    if isinstance(path, JsonLines):
        from ensue.data.json_rows import read_json_lines

        yield read_json_lines(path.data, path.name)
        return
    if path == "":
        raise DataError("The path handed over is empty.")
    for file in _found(Path(path)):
        yield _read_file(file)


def _found(path: Path) -> list[Path]:
    try:
        return find_files(path.expanduser())
    except DataError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # too long, no pattern, nobody's home
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{shortened(str(path), 100)} is no path that can be read: {reason}.") from None


def find_files(path: Path) -> list[Path]:
    """The files that a path stands for; of a glob's and a folder's, those that can hold events."""
    if path.is_dir():
        files = _event_files(path.iterdir())
        if not files:
            raise DataError(f"The folder {path} holds no file of events ({endings()}).")
        return files
    if path.exists() or not any(sign in str(path) for sign in "*?["):
        if path.suffix.lower() not in READERS:
            raise DataError(f"{path} does not end in {endings()}, so there is no telling how to read it.")
        if not path.exists():
            raise DataError(f"There is no file {path}.")
        return [path]
    matched = list(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    if not matched:
        raise DataError(f"No file matches {path}.")
    files = _event_files(matched)
    if not files:
        raise DataError(f"No file that matches {path} ends in {endings()}.")
    return files


def endings() -> str:
    """The endings that can be read, for a message."""
    *most, last = READERS
    return f"{', '.join(most)} or {last}"


def _event_files(paths: Iterator[Path] | list[Path]) -> list[Path]:
    files = []
    for path in sorted(paths):
        if path.is_dir():
            continue
        if path.suffix.lower() in READERS and not path.name.startswith("."):
            files.append(path)
    return files


def _read_file(path: Path) -> Part:
    try:
        return READERS[path.suffix.lower()](path)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{path} cannot be read: {reason}") from error


def _read_csv(path: Path) -> Part:
    from ensue.data.csv_rows import read_csv

    return read_csv(path)


def _read_json(path: Path) -> Part:
    from ensue.data.json_rows import read_json

    return read_json(path)


def _read_parquet(path: Path) -> Part:
    import pyarrow.parquet as pq

    from ensue.data.part import table_part

    _not_empty(path)
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        table.validate(full=True)  # neither format keeps text that is not UTF-8 from being written
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet file that can be read: {first_line(error)}") from error
    return table_part(table, str(path), lambda position: f"{path}, row {position}")


def _read_arrow(path: Path) -> Part:
    from pyarrow import ipc

    from ensue.data.part import table_part

    _not_empty(path)
    data = pa.memory_map(str(path))
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


READERS: dict[str, Callable[[Path], Part]] = {
    ".parquet": _read_parquet,
    ".csv": _read_csv,
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
}
