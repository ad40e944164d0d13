"""A timeline as people handle it: made of a program and events, shown in a notebook, saved as a page or as a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensue.data.columns import columns_of
from ensue.data.errors import DataError, shortened
from ensue.data.moments import Length, Moment, moment_of
from ensue.records import dataclass
from ensue.request import Request
from ensue.rules import Rules, check_program

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Events
    from ensue.view.scene import Scene

MOST_EVENTS = 200_000
"""Default limit on events and detections in one page."""

HEIGHT = 560
"""Height of a timeline in a notebook, in pixels."""


@dataclass(frozen=True)
class Timeline:
    """Events and detections on a page. A notebook shows it; `html` and `save` give it as one file."""

    scene: Scene = field(repr=False)
    title: str
    lanes: str = "type"
    """``"type"``, or the attribute that each lane is a value of, when the page is opened."""

    def html(self) -> str:
        """The page, which needs nothing but a browser: no network, no other file."""
        return self._page

    @cached_property
    def _page(self) -> str:
        from ensue.view.columns import packed
        from ensue.view.page import page

        return page(self.title, packed(self.scene, {"title": self.title, "lanes": self.lanes}))

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file, and gives its path."""
        written = Path(path)
        if not written.parent.is_dir():
            raise DataError(f"There is no folder {written.parent} to write {written.name} to.")
        written.write_text(self.html(), encoding="utf-8", newline="\n")
        return written

    def svg(self, width: int = 760) -> str:
        """A picture of the timeline as SVG, for documents: light or dark as the reader prefers, and without scripts.

        Each event is a separate mark, so choose few with `window` or `only`: of more than 500 it draws a part, and says
        so.
        """
        from ensue.view.svg import svg

        return svg(self.scene, self.title, self.lanes, width)

    def perfetto(self) -> bytes:
        """The same events as a trace for ui.perfetto.dev; it needs ``pip install 'ensue[perfetto]'``."""
        from ensue.view.perfetto import trace

        return trace(self.scene, self.title)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about all that the page leaves out; it shows them, too."""
        return self.scene.notes

    def _repr_html_(self) -> str:
        from ensue.view.page import frame

        return frame(self.html(), self.title, HEIGHT)


def timeline(
    program: Rules,
    events: Any,
    until: int | str | date | None = None,
    *,
    detections: Any = None,
    title: str | None = None,
    lanes: str = "type",
    window: tuple[Moment | None, Moment | None] = (None, None),
    only: Mapping[str, Any] | None = None,
    most: int = MOST_EVENTS,
    time: str | None = None,
    start: str | None = None,
    end: str | None = None,
    type: str | None = None,
    sequence: str | None = None,
    time_unit: str | None = None,
    time_format: str | None = None,
    timezone: str | None = None,
    year: int | None = None,
    columns: Mapping[str, str] | None = None,
    lines: str | None = None,
    separator: str | None = None,
    file_name: str | None = None,
    tables: Mapping[str, Any] | None = None,
    emit: str | Iterable[str] | None = None,
    keep: Length | None = None,
    params: Mapping[str, Any] | None = None,
) -> Timeline:
    """Draws events and the detections of a program on a timeline: lanes by type or by key, details, search, zoom.

    >>> import ensue
    >>> program = ensue.compile("event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k).")
    >>> shown = ensue.timeline(program, [{"type": "a", "time": 1, "k": 5}, {"type": "b", "time": 9, "k": 5}])
    >>> shown.html().startswith("<!doctype html>")
    True

    `shown.save("page.html")` writes a page that needs no network; a notebook shows the object itself.

    - `detections`: the result of `detect(…, provenance=True)` on these events, if you have it. Without the column
      `sources`, the page cannot show which events a detection came from
    - `lanes`: the attribute whose values are the lanes. The page can change it
    - `window`: the first and the last moment to show
    - `only`: values of attributes to show, ``{"id": 42}``. The rules see all events in any case
    - `most`: the largest number of events and detections. If there are more, the page has a part of them and a note

    The other arguments are those of `Program.detect`.
    """
    check_program(program, "timeline")
    names = columns_of(
        time, start, end, type, sequence, time_unit=time_unit, time_format=time_format, timezone=timezone,
        year=year, columns=columns, lines=lines, separator=separator, file_name=file_name,
    )  # fmt: skip
    request = Request(until, names, tables, emit, keep=keep, params=params)
    if params is not None:
        program = program.with_params(params)
        request = Request(until, names, tables, emit, keep=keep)
    found, read = traced(program, events, request, detections)
    return timeline_of(program, found, read, title=title, lanes=lanes, window=window, only=only, most=most)


def traced(program: Rules, events: Any, request: Request, detections: Any = None) -> tuple[dict[str, pa.Table], Events]:
    """For other parts of ensue: detections with their sources as tables by type, and the events with their rows."""
    from ensue.data.spark_frames import spark_frames
    from ensue.detection import detect_traced, read_events_for

    if spark_frames(events) is not None:
        raise DataError(
            "A timeline is drawn here, not on a cluster: collect the events that it shall show, "
            '`events.where("id = 42").toArrow()`.'
        )
    if detections is None:
        return detect_traced(program, events, request)
    read = read_events_for(program, events, request)[1]
    return _tables_of(program, detections, read), read


def timeline_of(
    program: Rules,
    found: Mapping[str, pa.Table],
    read: Events,
    *,
    title: str | None = None,
    lanes: str = "type",
    window: tuple[Moment | None, Moment | None] = (None, None),
    only: Mapping[str, Any] | None = None,
    most: int = MOST_EVENTS,
) -> Timeline:
    """For other parts of ensue: the timeline of a result of `traced`."""
    from ensue.view.choose import at_most, having, within
    from ensue.view.scene import scene_of

    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise DataError(f"`most` is {shortened(most)}; it is a number of events, at least 1.")
    if not isinstance(window, tuple | list) or len(window) != 2:
        raise DataError(f"`window` is {shortened(window)}; it is the first and the last moment, None for an open side.")
    scene = scene_of(program, found, read)
    unit = program.typed.unit
    first, last = (m if m is None else moment_of(m, unit, read.timestamps, "the window") for m in window)
    scene = at_most(having(within(scene, first, last), only or {}), most)
    known = {name for track in scene.tracks for name in track.attributes}
    if lanes != "type" and lanes not in known:
        raise DataError(f"No event has an attribute {lanes!r} for lanes; there are: {', '.join(sorted(known))}.")
    text = _title(program) if title is None else title
    return Timeline(scene, text.encode("utf-8", "replace").decode("utf-8"), lanes)


def _title(program: Rules) -> str:
    name = program.file.source.name
    return "Timeline" if name.startswith("<") else name


def _tables_of(program: Rules, detections: Any, read: Events) -> dict[str, pa.Table]:
    """Detections in any form that `detect` gives, as tables by type."""
    import pyarrow as pa

    from ensue import compute as pc
    from ensue.data.results import derived_table

    derived = {name: event for name, event in program.typed.events.items() if event.derived}
    if isinstance(detections, Mapping):
        tables = {name: _table(given) for name, given in detections.items() if name in derived}
    else:
        table = _table(detections)
        if table.num_rows and "type" not in table.column_names:
            raise DataError("The detections have no column 'type'; pass the result of `detect` unchanged.")
        types = table.column("type").cast(pa.string()) if table.num_rows else None
        tables = {name: table if types is None else table.filter(pc.equal(types, name)) for name in derived}
    return {
        name: _arranged(table, derived[name].attributes)
        if table.num_rows
        else derived_table(derived[name], [], read.timestamps, read.timezone)
        for name, table in tables.items()
    }


def _table(detections: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(detections, list):
        names = dict.fromkeys(name for each in detections for name in each)
        return pa.table({name: [each.get(name) for each in detections] for name in names})
    if not isinstance(detections, pa.Table) and not hasattr(detections, "__arrow_c_stream__"):
        raise DataError(f"The detections are {shortened(detections)}; pass the result of `detect` unchanged.")
    table = pa.table(detections)
    for place, field_ in enumerate(table.schema):
        if pa.types.is_string_view(field_.type):  # which most functions of Arrow do not take
            table = table.set_column(place, field_.name, table.column(place).cast(pa.string()))
    return table


def _arranged(table: pa.Table, attributes: Iterable[str]) -> pa.Table:
    """Start, end, attributes and sources, in this order."""
    import pyarrow as pa

    for name in ("start", "end"):
        if name not in table.column_names:
            raise DataError(f"The detections have no column {name!r}; pass the result of `detect` unchanged.")
    wanted = ["start", "end", *(name for name in attributes if name in table.column_names)]
    if "sources" in table.column_names:
        wanted.append("sources")
    found = table.select(wanted)
    for place, name in enumerate(("start", "end")):
        column = found.column(name)
        if pa.types.is_timestamp(column.type):
            found = found.set_column(place, name, column.cast(pa.timestamp("us", column.type.tz)))
    return found
