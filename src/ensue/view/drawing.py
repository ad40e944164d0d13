"""Lanes of a picture: which events are in which lane and row, with their texts. `lanes.js` does it for pages."""

from __future__ import annotations

from collections.abc import Mapping

from ensue.records import dataclass
from ensue.view.scene import Scene, Track

Key = tuple[int, int]
"""Number of a track, and of an event in it."""

Colour = tuple[bool, int]
"""Derived, and number among the tracks that are."""

TALL_ROW, INSTANTS = 20, 20
MOST_ROWS = 20
SHOWN_VALUES = 3


@dataclass(frozen=True)
class Bar:
    """One event in its row."""

    track: int
    number: int
    derived: bool
    start: int
    end: int
    row: int
    colour: Colour
    texts: tuple[str, ...]
    """From the longest to the shortest."""
    tip: str


@dataclass(frozen=True)
class Band:
    """Bars of a lane that share rows: those of one type."""

    bars: tuple[Bar, ...]
    rows: int
    row_height: int = TALL_ROW


@dataclass(frozen=True)
class Lane:
    """One type, one value of a key, or a heading above some of them."""

    label: str
    bands: tuple[Band, ...] = ()
    colour: Colour | None = None
    heading: bool = False


@dataclass(frozen=True)
class Drawing:
    """Lanes from top to bottom, and lines from detections to given events, with the colours of these.

    Lanes by key have no lines: a detection is in the lane of its sources.
    """

    lanes: tuple[Lane, ...]
    links: tuple[tuple[Key, Key, Colour], ...]


def drawing_of(scene: Scene, lanes: str) -> Drawing:
    """Arrange a scene in lanes by type, or by the values of an attribute."""
    colours = _colours(scene)
    texts = [_values(track) for track in scene.tracks]
    if lanes == "type":
        return Drawing(tuple(_by_type(scene, colours, texts)), tuple(_links(scene, colours)))
    return Drawing(tuple(_by_key(scene, colours, texts, lanes)), ())


def _colours(scene: Scene) -> list[Colour]:
    count = {True: 0, False: 0}
    found = []
    for track in scene.tracks:
        found.append((track.derived, count[track.derived]))
        count[track.derived] += 1
    return found


def _values(track: Track) -> list[dict[str, str]]:
    """The attributes of each event as text; nulls are left out."""
    columns = {name: column.to_pylist() for name, column in track.attributes.items()}
    return [
        {name: _text(values[number]) for name, values in columns.items() if values[number] is not None}
        for number in range(len(track))
    ]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _by_type(scene: Scene, colours: list[Colour], texts: list[list[dict[str, str]]]) -> list[Lane]:
    made = []
    for derived in (True, False):
        tracks = [number for number, track in enumerate(scene.tracks) if track.derived is derived]
        if tracks:
            made.append(Lane("DETECTIONS" if derived else "EVENTS", heading=True))
        for number in tracks:
            keys = [(number, event) for event in range(len(scene.tracks[number]))]
            band = _band(scene, colours, texts, keys, None)
            made.append(Lane(scene.tracks[number].name, (band,), colours[number]))
    return made


def _by_key(scene: Scene, colours: list[Colour], texts: list[list[dict[str, str]]], name: str) -> list[Lane]:
    """Lanes by the values of an attribute, in the order of the first event of each; each type has separate rows."""
    members: dict[str | None, list[Key]] = {}
    for number, track in enumerate(scene.tracks):
        for event in range(len(track)):
            members.setdefault(texts[number][event].get(name), []).append((number, event))

    def first(value: str | None) -> tuple[bool, int]:
        return value is None, min(int(scene.tracks[number].starts[event]) for number, event in members[value])

    made = []
    for value in sorted(members, key=first):
        tracks = dict.fromkeys(number for number, _ in members[value])
        bands = [_band(scene, colours, texts, [key for key in members[value] if key[0] == t], name) for t in tracks]
        made.append(Lane(f"without {name}" if value is None else value or "(empty)", tuple(bands)))
    return made


def _band(
    scene: Scene, colours: list[Colour], texts: list[list[dict[str, str]]], keys: list[Key], without: str | None
) -> Band:
    """Events by start, each in the first row that is free; instants alone share one row."""
    times = {key: (int(scene.tracks[key[0]].starts[key[1]]), int(scene.tracks[key[0]].ends[key[1]])) for key in keys}
    keys = sorted(keys, key=lambda key: times[key])
    stacked = any(start < end for start, end in times.values()) or any(scene.tracks[key[0]].derived for key in keys)
    free: list[int] = []
    bars = []
    for key in keys:
        start, end = times[key]
        row = next((number for number, until in enumerate(free) if until < start), None) if stacked else 0
        if row is None:
            row = len(free) if len(free) < MOST_ROWS else free.index(min(free))
        if row == len(free):
            free.append(end)
        free[row] = max(free[row], end)
        track = scene.tracks[key[0]]
        values = texts[key[0]][key[1]]
        bars.append(
            Bar(
                *key, track.derived, start, end, row, colours[key[0]],
                tuple(_written(track.name, values, without)), _tip(track.name, values),
            )
        )  # fmt: skip
    return Band(tuple(bars), max(len(free), 1))


def _written(name: str, values: Mapping[str, str], without: str | None) -> list[str]:
    """The text of a bar, with names and without; in lanes by key with its type in front."""
    shown = [(key, text) for key, text in values.items() if key != without][:SHOWN_VALUES]
    front = [] if without is None else [name]
    long = " · ".join([*front, *(f"{key} {text}" for key, text in shown)])
    short = " · ".join([*front, *(text for _, text in shown)])
    return [long, short, *front]


def _tip(name: str, values: Mapping[str, str]) -> str:
    return f"{name}({', '.join(f'{key}={text}' for key, text in values.items())})"


def _links(scene: Scene, colours: list[Colour]) -> list[tuple[Key, Key, Colour]]:
    rows = {
        int(row): (number, event)
        for number, track in enumerate(scene.tracks)
        if track.rows is not None
        for event, row in enumerate(track.rows)
    }
    found = []
    for number, track in enumerate(scene.tracks):
        if track.sources is None:
            continue
        place = 0
        for event, count in enumerate(track.sources.counts):
            for row in track.sources.rows[place : place + int(count)]:
                given = rows.get(int(row))
                if given is not None:
                    found.append(((number, event), given, colours[given[0]]))
            place += int(count)
    return found
