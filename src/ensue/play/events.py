"""Events from files as the JSON lines that the page shows; of large files the first ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ensue.data.columns import Columns, TextFiles
from ensue.data.files import JsonLines, Reading, read_files
from ensue.data.input_part import InputPart
from ensue.data.iso import python_values
from ensue.data.json_text import to_json
from ensue.records import dataclass

MOST_EVENTS = 50_000
MOST_BYTES = 16_000_000
"""Limit on events that are shown and run. The page is for trying rules; `ensue run` takes files of any size."""

Sources = Sequence["str | JsonLines"] | Mapping[str, Sequence["str | JsonLines"]]


@dataclass(frozen=True)
class Loaded:
    """Events as JSON lines; `cut` says that there are more."""

    text: str
    cut: bool = False
    file: Path | None = None
    """The file that holds just this text, which may be saved to."""


def load(sources: Sources, columns: Columns) -> tuple[Loaded, Columns]:
    """The events of sources, and the names of their columns on the page."""
    shown = replace(columns, files=TextFiles())
    if isinstance(sources, Mapping):
        kind = columns.type or "type"
        lines = (
            line
            for name, paths in sources.items()
            for path in paths
            for line in _lines(path, Reading(columns.files), {kind: name})
        )
        return _cut(lines), shown
    only = sources[0] if len(sources) == 1 else None
    if isinstance(only, str) and columns.files == TextFiles() and Path(only).suffix in (".jsonl", ".ndjson"):
        path = Path(only)
        if path.is_file():
            with path.open(encoding="utf-8-sig", errors="replace", newline=None) as file:
                loaded = _cut(line.rstrip("\n") for line in file)
            return replace(loaded, file=None if loaded.cut else path), shown
    return _cut(line for path in sources for line in _lines(path, Reading(columns.files), {})), shown


def _cut(lines: Iterator[str]) -> Loaded:
    """As many lines as may be shown."""
    taken: list[str] = []
    size = 0
    for line in islice(lines, MOST_EVENTS):
        size += len(line) + 1
        if size > MOST_BYTES:
            return Loaded("".join(taken), True)
        taken.append(f"{line}\n")
    return Loaded("".join(taken), next(lines, None) is not None)


def _lines(path: str | JsonLines, reading: Reading, more: Mapping[str, Any]) -> Iterator[str]:
    for part in read_files(path, reading):
        for row in _rows(part):
            yield to_json({**more, **row})


def _rows(part: InputPart) -> Iterator[dict[str, Any]]:
    """The rows of a part without nulls; of large parts as many as can be shown."""
    columns = {
        name: raw[: MOST_EVENTS + 1] if isinstance(raw, list) else python_values(raw.slice(0, MOST_EVENTS + 1))
        for name, raw in part.columns.items()
    }
    for values in zip(*columns.values(), strict=True):
        yield {name: value for name, value in zip(columns, values, strict=True) if value is not None}
