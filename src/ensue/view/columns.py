"""A scene as bytes: a header as JSON, then columns of numbers that a browser takes as typed arrays where they lie.

The bytes are the length of the header (32 bits), the header, and the columns, each aligned to eight bytes. A column is
named in the header by its type, its place and its length: ``["u16", 2048, 157]``. Starts are differences to the start
before, lengths are missing where all are zero, text is a number into a list of different values, 0 for null.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ensue import compute as pc
from ensue.view.scene import Integers, Scene, Sources, Track

LONGEST_TEXT = 400
"""Characters of a value that are kept."""

EXACT = 2**53
"""Beyond this, JavaScript's numbers skip integers."""

BINS = 1200
"""Number of bins of the density over all of time."""

_WIDTHS = (("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32), ("i32", np.int32))

Reference = list[str | int]


class Packer:
    """Collects columns one after the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.shortened = 0

    def floats(self, values: npt.NDArray[Any]) -> Reference:
        return self._add("f64", values.astype("<f8"))

    def integers(self, values: Integers) -> Reference:
        """Integers, as narrow as they fit; as floats where nothing else holds them."""
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        for name, width in _WIDTHS:
            if np.iinfo(width).min <= low and high <= np.iinfo(width).max:
                return self._add(name, values.astype(np.dtype(width).newbyteorder("<")))
        return self.floats(values)

    def _add(self, kind: str, values: npt.NDArray[Any]) -> Reference:
        found: Reference = [kind, self.size, len(values)]
        data = values.tobytes()
        data += bytes(-len(data) % 8)
        self.parts.append(data)
        self.size += len(data)
        return found


def packed(scene: Scene, settings: Mapping[str, Any]) -> bytes:
    """The bytes of a scene; `settings` go into the header as they are."""
    pack = Packer()
    first, last = scene.span
    places = _places(scene)
    tracks = [_track(pack, track, scene, first, places) for track in scene.tracks]
    notes = list(scene.notes)
    if last - first > EXACT:
        notes.append("Times are so far apart that they are rounded here.")
    if pack.shortened:
        notes.append(f"Values of more than {LONGEST_TEXT} characters are cut short here.")
    header = {
        **settings,
        "timestamps": scene.timestamps,
        "zone": scene.timezone,
        "unit": scene.unit,
        "origin": str(first),
        "last": last - first,
        "tracks": tracks,
        "density": {
            kind: pack.integers(_density(scene, derived)) for kind, derived in (("given", False), ("derived", True))
        },
        "notes": notes,
    }
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([struct.pack("<I", len(text)), text, *pack.parts])


def _track(pack: Packer, track: Track, scene: Scene, origin: int, places: tuple[Integers, Integers]) -> dict[str, Any]:
    rules = scene.rules.get(track.name, ()) if track.derived else ()
    starts = track.starts - origin
    lengths = track.ends - track.starts
    return {
        "name": track.name,
        "derived": track.derived,
        "total": track.total,
        "start": pack.integers(np.diff(starts, prepend=0)),
        "length": pack.integers(lengths) if lengths.any() else None,
        "attributes": [{"name": name, **_column(pack, column)} for name, column in track.attributes.items()],
        "rules": [{"name": r.name, "title": r.title, "line": r.line, "text": r.text} for r in rules],
        "uses": list(scene.uses.get(track.name, ())) if track.derived else [],
        "sources": None if track.sources is None or not len(track) else _sources(pack, track.sources, places),
    }


def _places(scene: Scene) -> tuple[Integers, Integers]:
    """The rows of given events in order, and the number that each has in the page, counted over all tracks."""
    rows, numbers, before = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for track in scene.tracks:
        if track.rows is not None:
            rows.append(track.rows)
            numbers.append(np.arange(before, before + len(track)))
        before += len(track)
    all_rows = np.concatenate(rows)
    order = np.argsort(all_rows, kind="stable")
    return all_rows[order], np.concatenate(numbers)[order]


def _sources(pack: Packer, sources: Sources, places: tuple[Integers, Integers]) -> dict[str, Any]:
    """Sources by their numbers in the page; those that it does not show are counted only."""
    rows, numbers = places
    found = np.searchsorted(rows, sources.rows)
    shown = found < len(rows)
    shown[shown] = rows[found[shown]] == sources.rows[shown]
    owners = np.repeat(np.arange(len(sources.counts)), sources.counts)
    counts = np.bincount(owners[shown], minlength=len(sources.counts)).astype(np.int64)
    return {
        "counts": pack.integers(counts),
        "events": pack.integers(numbers[found[shown]]),
        "hidden": pack.integers(sources.counts - counts) if not shown.all() else None,
    }


def _column(pack: Packer, column: pa.ChunkedArray) -> dict[str, Any]:
    """An attribute, by its type: numbers as they are, everything else as numbers into a list of texts."""
    type_ = column.type
    nulls = pack.integers(_numbers(pc.is_null(column), np.int64)) if column.null_count else None
    if pa.types.is_floating(type_):
        return {"kind": "float", "values": pack.floats(_numbers(column.cast(pa.float64()), np.float64)), "nulls": nulls}
    moments = pa.types.is_timestamp(type_)
    if moments:
        column = column.cast(pa.timestamp("us", tz=type_.tz), safe=False).cast(pa.int64())
    if moments or pa.types.is_integer(type_):
        values = _numbers(column.cast(pa.int64()), np.int64)
        if not len(values) or max(abs(int(values.min())), abs(int(values.max()))) <= EXACT:
            return {"kind": "moment" if moments else "int", "values": pack.integers(values), "nulls": nulls}
    return {"kind": "text", **_texts(pack, column)}


def _numbers(column: pa.ChunkedArray, type_: type[Any]) -> npt.NDArray[Any]:
    filled = pc.fill_null(column, False if pa.types.is_boolean(column.type) else 0)
    return np.array(filled.to_numpy(), dtype=type_)


def _texts(pack: Packer, column: pa.ChunkedArray) -> dict[str, Any]:
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        column = pa.chunked_array([pa.array([_written(value) for value in column.to_pylist()], pa.string())])
    encoded = column.combine_chunks().dictionary_encode()
    codes = pc.fill_null(pc.add(encoded.indices.cast(pa.int64()), 1), 0)
    texts = [str(text) for text in encoded.dictionary.to_pylist()]
    pack.shortened += sum(len(text) > LONGEST_TEXT for text in texts)
    shortened = [text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…" for text in texts]
    return {"texts": shortened, "values": pack.integers(_numbers(pa.chunked_array([codes]), np.int64))}


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else json.dumps(value, default=str, ensure_ascii=False)


def _density(scene: Scene, derived: bool) -> Integers:
    """Number of events that end in each of `BINS` equal spans of the whole time."""
    first, last = scene.span
    counts = np.zeros(BINS, dtype=np.int64)
    for track in scene.tracks:
        if track.derived is derived and len(track):
            places = (track.ends - first).astype(np.float64) / max(last - first, 1) * BINS
            counts += np.bincount(np.minimum(places.astype(np.int64), BINS - 1), minlength=BINS)
    return counts
