"""Turn any supported input of events into parts, and remember its form."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

from ensue.data.dict_rows import read_rows
from ensue.data.errors import DataError, shortened
from ensue.data.files import ALL, JsonLines, Reading, is_event_file, read_files
from ensue.data.form import Form, Kind
from ensue.data.frames import frame_kind, read_frame
from ensue.data.input_part import InputPart
from ensue.records import dataclass

_FORMS = "a table (Arrow, pandas, Polars), a path or several, dicts, or a dict of these by event type"
_NOTHING = object()


@dataclass(frozen=True)
class Read:
    """Parts whose columns have been arranged already."""

    form: Form
    parts: Iterable[InputPart]


def recognise(source: object, reading: Reading = ALL) -> tuple[Form, Iterator[InputPart]]:
    """The form of a source and its parts, which are read lazily; `reading` has the options for files."""
    if frame_kind(source) is None and isinstance(source, Mapping):
        return _by_type(source, reading)
    kind, parts = recognise_table(source, "The given table", "row", reading)
    return Form(kind), parts


def recognise_table(source: Any, name: str, row: str, reading: Reading = ALL) -> tuple[Kind, Iterator[InputPart]]:
    """The kind of one table and its parts; `row` is the word before a row's number where it has no file."""

    def where(position: int) -> str:
        return f"{row} {position}"

    kind = frame_kind(source)
    if kind is not None:
        return kind, (read_frame(source, kind, name, where) for _ in range(1))
    if isinstance(source, str | Path):
        return "arrow", read_files(source, reading)
    if hasattr(source, "read"):
        raise DataError(f"{name} is an open file; pass its path instead.")
    if isinstance(source, bytes | bytearray | Mapping) or not isinstance(source, Iterable):
        raise _no_source(source, name)
    items = iter(source)
    first = next(items, _NOTHING)
    if isinstance(first, str | Path | JsonLines):
        return "arrow", _read_paths(chain([first], items), name, reading)
    if first is _NOTHING or isinstance(first, Mapping):
        rows = items if first is _NOTHING else chain([first], items)
        return "rows", (read_rows(rows, name, where) for _ in range(1))
    raise DataError(f"{name} is a {type(source).__name__} of {shortened(first)} and the like; pass {_FORMS}.")


def _by_type(sources: Mapping[Any, Any], reading: Reading) -> tuple[Form, Iterator[InputPart]]:
    if _is_event(sources):
        raise DataError(f"{shortened(dict(sources))} is one event, a dict; put it in a list.")
    recognised: dict[str, tuple[Kind, Iterator[InputPart]]] = {}
    for event_type, source in sources.items():
        if not isinstance(event_type, str):
            raise DataError(f"Tables are passed by event type, and {shortened(event_type)} is not the name of one.")
        name = repr(event_type)
        if isinstance(source, Mapping) and frame_kind(source) is None:
            raise DataError(f"{name} is a dict; a dict by event type holds {_FORMS.rpartition(', or')[0]}.")
        if source is None or isinstance(source, bool | int | float | date):
            raise DataError(f"{_no_source(source, name)} If the dict is one event, put it in a list.")
        recognised[event_type] = recognise_table(source, name, f"{event_type}, row", reading)
    first_kind: Kind = next((kind for kind, _ in recognised.values()), "arrow")
    typed = (
        replace(part, event_type=event_type, exactly=_typed(part.exactly, event_type))
        for event_type, (_, parts) in recognised.items()
        for part in parts
    )
    return Form(first_kind, by_type=True), typed


def _is_event(source: Mapping[Any, Any]) -> bool:
    """True if a dict has the type and the time of an event where it should have tables."""
    times = [source[name] for name in ("time", "start", "end") if name in source]
    return bool(times) and all(map(_is_value, [source.get("type"), *times]))


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return not is_event_file(Path(value)) and not any(sign in value for sign in "*?/\\")
    return isinstance(value, int | float | date)


def _typed(exactly: Callable[[], InputPart] | None, event_type: str) -> Callable[[], InputPart] | None:
    return None if exactly is None else lambda: replace(exactly(), event_type=event_type)


def _read_paths(paths: Iterable[Any], name: str, reading: Reading) -> Iterator[InputPart]:
    for path in paths:
        if not isinstance(path, str | Path | JsonLines):
            raise DataError(f"{name} is a list of paths, but {shortened(path)} in it is not one.")
        yield from read_files(path, reading)


def _no_source(source: object, name: str) -> DataError:
    return DataError(f"{name} is {shortened(source)}, which cannot be read as events; pass {_FORMS}.")
