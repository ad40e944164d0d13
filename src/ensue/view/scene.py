"""A scene: the events and detections of a timeline, each type a track, sorted by start; with sources of detections.

Times are integers: microseconds since 1970 for timestamps, else in the unit of the time column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ensue import compute as pc
from ensue.data import Events, attributes_of
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.records import dataclass
from ensue.rules import Rules

Integers = npt.NDArray[np.int64]

SOURCES = "sources"


@dataclass(frozen=True)
class Sources:
    """The given events that each detection came from, as numbers of rows: `counts` of them for each, one after the
    other in `rows`."""

    counts: Integers
    rows: Integers

    def take(self, kept: Integers) -> Sources:
        """The sources of some detections."""
        ends = np.cumsum(self.counts)
        starts = ends - self.counts
        counts = self.counts[kept]
        first = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) - np.repeat(first, counts) + np.repeat(starts[kept], counts)
        return Sources(counts, self.rows[places])


@dataclass(frozen=True)
class Track:
    """The events of one type, given or derived, by start and then by end."""

    name: str
    derived: bool
    total: int
    """Number of all its events; a page may hold a part of them."""
    starts: Integers
    ends: Integers
    attributes: Mapping[str, pa.ChunkedArray]
    rows: Integers | None = None
    """Numbers of given events, by which sources name them."""
    sources: Sources | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, kept: Integers) -> Track:
        """Some of the events, in the order in which they are."""
        return Track(
            self.name, self.derived, self.total, self.starts[kept], self.ends[kept],
            {name: column.take(pa.array(kept)) for name, column in self.attributes.items()},
            None if self.rows is None else self.rows[kept],
            None if self.sources is None else self.sources.take(kept),
        )  # fmt: skip


@dataclass(frozen=True)
class WrittenRule:
    """A rule as its file has it."""

    name: str | None
    title: str | None
    line: int
    text: str


@dataclass(frozen=True)
class Scene:
    """All that a timeline shows. Tracks are in the order in which they are drawn: types above those they depend on."""

    tracks: tuple[Track, ...]
    timestamps: bool
    timezone: str | None
    unit: str | None
    rules: Mapping[str, tuple[WrittenRule, ...]]
    """By the event that they derive."""
    uses: Mapping[str, tuple[str, ...]]
    """The types of events in the bodies of the rules for a type."""
    notes: tuple[str, ...] = ()
    """Sentences about everything that is not shown, or changed."""

    @property
    def span(self) -> tuple[int, int]:
        """The first start and the last end; (0, 0) if there is nothing."""
        some = [track for track in self.tracks if len(track)]
        if not some:
            return 0, 0
        return min(int(track.starts.min()) for track in some), max(int(track.ends.max()) for track in some)


def scene_of(rules: Rules, found: Mapping[str, pa.Table], read: Events) -> Scene:
    """The scene of detections, tables by type, and of the events that were read."""
    program = rules.typed_for_timestamps if read.timestamps else rules.typed
    derived = [_derived_track(name, found[name]) for name in _from_top(program) if name in found]
    given = [_given_track(name, read.tables[name]) for name in program.events if name in read.tables]
    return Scene(
        (*derived, *given),
        read.timestamps,
        read.timezone,
        None if read.timestamps else rules.typed.unit,
        _written_rules(rules),
        _uses(program),
        tuple(_about_reading(read)),
    )


def _derived_track(name: str, table: pa.Table) -> Track:
    starts, ends = (_integers(table.column(place)) for place in (0, 1))
    names = table.column_names
    attributes = {n: table.column(place) for place, n in enumerate(names) if place > 1 and n != SOURCES}
    sources = None
    if SOURCES in names:
        lists = table.column(names.index(SOURCES)).combine_chunks()
        counts = pc.fill_null(pc.list_value_length(lists), 0)
        sources = Sources(_integers(counts), _integers(pc.list_flatten(lists)))
    track = Track(name, True, len(starts), starts, ends, attributes, sources=sources)
    return track.take(np.lexsort((ends, starts)))


def _given_track(name: str, table: pa.Table) -> Track:
    starts, ends, rows = (_integers(table.column(column)) for column in ("start", "end", "row"))
    track = Track(name, False, len(starts), starts, ends, attributes_of(table), rows)
    return track.take(np.lexsort((rows, ends, starts)))


def _integers(column: Any) -> Integers:
    values = column.cast(pa.int64()).to_numpy(zero_copy_only=False) if len(column) else []
    return np.array(values, dtype=np.int64)


def _from_top(program: typed.Program) -> list[str]:
    """Derived types: each before the types that it is derived from, else in the order of the rules."""
    uses = _uses(program)
    levels: dict[str, int] = {}
    for stratum in program.strata:
        names = {program.rules[rule].event for layer in stratum.layers for rule in layer}
        level = 1 + max((levels.get(used, 0) for name in names for used in uses[name] if used not in names), default=0)
        levels.update(dict.fromkeys(names, level))
    written = [name for name, event in program.events.items() if event.derived]
    return sorted(written, key=lambda name: -levels.get(name, 0))


def _written_rules(rules: Rules) -> dict[str, tuple[WrittenRule, ...]]:
    source = rules.file.source
    found: dict[str, tuple[WrittenRule, ...]] = {}
    for rule in rules.typed.rules:
        text = source.text[rule.span.start : rule.span.end]
        written = WrittenRule(rule.label, rule.about.title, source.position(rule.span.start)[0], text)
        found[rule.event] = (*found.get(rule.event, ()), written)
    return found


def _uses(program: typed.Program) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for rule in program.rules:
        found.setdefault(rule.event, {}).update(dict.fromkeys(atom.event for atom in atoms(rule.body)))
    return {name: tuple(used) for name, used in found.items()}


def _about_reading(read: Events) -> list[str]:
    notes = []
    if read.bad_count:
        notes.append(f"{_many(read.bad_count, 'row')} could not be used.")
    other = read.rows - read.bad_count - sum(table.num_rows for table in read.tables.values())
    if other > 0:
        notes.append(
            f"{_many(other, 'row')} of types that the rules do not use {'is' if other == 1 else 'are'} left out."
        )
    return notes


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
