"""The part of a scene that is shown: a window of time, the events with a value, and no more than a page can hold.

Nothing is left out without a note that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ensue import compute as pc
from ensue.data import DataError
from ensue.data.errors import did_you_mean
from ensue.view.scene import Integers, Scene, Sources, Track

MOST_LINKS = 2_000_000
"""Events that detections came from, all together."""

FOR_DETECTIONS = 0.9
"""The largest share of a page for detections and the events that they came from."""

Mask = npt.NDArray[np.bool_]


def within(scene: Scene, first: int | None, last: int | None) -> Scene:
    """Keep events that touch a window of time. None leaves a side open."""
    if first is None and last is None:
        return scene

    def touches(track: Track) -> Mask:
        kept = np.ones(len(track), dtype=bool)
        if first is not None:
            kept &= track.ends >= first
        if last is not None:
            kept &= track.starts <= last
        return kept

    masks = [touches(track) for track in scene.tracks]
    return _kept(scene, masks, lambda left, are, shown: f"{left} outside the window of time {are} left out.")


def having(scene: Scene, values: Mapping[str, Any]) -> Scene:
    """Events and detections with these values of attributes, and the events that such detections came from."""
    if not values:
        return scene
    for name in values:
        known = {attribute for track in scene.tracks for attribute in track.attributes}
        if name not in known:
            raise DataError(
                f"No event has an attribute {name!r}; there are: {', '.join(sorted(known)) or 'none'}."
                f"{did_you_mean(name, sorted(known))}"
            )

    def has(track: Track) -> Mask:
        kept = np.full(len(track), all(name in track.attributes for name in values))
        for name, value in values.items():
            if name in track.attributes:
                kept &= _equal(track.attributes[name], value)
        return kept

    masks = [has(track) for track in scene.tracks]
    masks = _with_sources(scene, masks)
    named = " and ".join(f"{name}={value}" for name, value in values.items())
    return _kept(scene, masks, lambda left, are, shown: f"Only {named}: {left} {are} left out.")


def at_most(scene: Scene, most: int, links: int = MOST_LINKS) -> Scene:
    """A scene of `most` events: detections and their sources go first, of the others an even share is kept."""
    if sum(map(len, scene.tracks)) > most:
        scene = _fewer_events(scene, most)
    return _fewer_links(scene, links)


def _fewer_events(scene: Scene, most: int) -> Scene:
    derived = [np.full(len(track), track.derived) for track in scene.tracks]
    share = max(most // 2, most - _count(scene, derived=False))
    detections, needed = _detections(scene, derived, share)
    while share > 1 and _total(detections) + _total(needed) > most * FOR_DETECTIONS:
        share = share * 2 // 3
        detections, needed = _detections(scene, derived, share)
    room = most - _total(detections)
    sources = _spread(needed, room)
    others = [~d & ~mask for d, mask in zip(derived, needed, strict=True)]
    rest = _spread(others, room - _total(sources))
    masks = [np.logical_or.reduce(each) for each in zip(detections, sources, rest, strict=True)]
    shares = (
        ("detections", detections, derived),
        ("the events that these came from", sources, needed),
        ("the other events", rest, others),
    )
    what = ", ".join(f"{_share(_total(kept), _total(of))} {name}" for name, kept, of in shares if any(map(np.any, of)))
    return _kept(
        scene, masks, lambda left, are, shown: f"Too much for one page: {left} {are} left out. Shown {shown}: {what}. "
        "Look at a window of time or at one key to see everything.",
    )  # fmt: skip


def _detections(scene: Scene, derived: list[Mask], share: int) -> tuple[list[Mask], list[Mask]]:
    """An even share of the detections, and the given events that these came from."""
    chosen = _spread(derived, share)
    needed = [mask & ~d for mask, d in zip(_with_sources(scene, chosen), derived, strict=True)]
    return chosen, needed


def _share(kept: int, of: int) -> str:
    return "all" if kept == of else "an even share of" if kept else "none of"


def _fewer_links(scene: Scene, most: int) -> Scene:
    """Leaves out the sources of the detections that have most of them, until there are `most` in all."""
    counts = [np.zeros(0, np.int64) if t.sources is None else t.sources.counts for t in scene.tracks]
    together = np.concatenate([np.zeros(0, np.int64), *counts])
    if int(together.sum()) <= most:
        return scene
    order = np.argsort(together, kind="stable")
    known = np.zeros(len(together), dtype=bool)
    known[order] = np.cumsum(together[order]) <= most
    tracks, before = [], 0
    for track, own in zip(scene.tracks, counts, strict=True):
        if track.sources is not None:
            kept = known[before : before + len(own)]
            rows = track.sources.rows[np.repeat(kept, own)]
            track = replace(track, sources=Sources(np.where(kept, own, 0), rows))
        tracks.append(track)
        before += len(own)
    cut = int((~known).sum())
    note = (
        f"Too much for one page: of {cut:,} detections, those that came from most events, it does not know which these "
        "are. Look at a window of time or at one key to see them."
    )
    return replace(scene, tracks=tuple(tracks), notes=(*scene.notes, note))


def _kept(scene: Scene, masks: list[Mask], note: Callable[[str, str, str], str]) -> Scene:
    tracks = tuple(
        track if mask.all() else track.take(np.flatnonzero(mask))
        for track, mask in zip(scene.tracks, masks, strict=True)
    )
    before, after = sum(map(len, scene.tracks)), sum(map(len, tracks))
    if before == after:
        return scene
    kinds = [
        f"{gone:,} {noun}{'' if gone == 1 else 's'}"
        for noun, derived in (("event", False), ("detection", True))
        if (gone := _count(scene, derived) - sum(len(t) for t in tracks if t.derived is derived))
    ]
    are = "is" if before - after == 1 else "are"
    said = note(" and ".join(kinds), are, f"{'is' if after == 1 else 'are'} {after:,}")
    return replace(scene, tracks=tracks, notes=(*scene.notes, said))


def _with_sources(scene: Scene, masks: list[Mask]) -> list[Mask]:
    """The masks with the given events that kept detections came from."""
    needed = [
        track.sources.take(np.flatnonzero(mask)).rows
        for track, mask in zip(scene.tracks, masks, strict=True)
        if track.sources is not None
    ]
    rows = np.unique(np.concatenate(needed)) if needed else np.empty(0, dtype=np.int64)
    return [
        mask if track.rows is None else mask | np.isin(track.rows, rows)
        for track, mask in zip(scene.tracks, masks, strict=True)
    ]


def _spread(masks: list[Mask], most: int) -> list[Mask]:
    """At most `most` of the events in the masks, even over the events of a track; rare types are kept whole."""
    counts = [int(mask.sum()) for mask in masks]
    chosen, room, tracks = list(masks), max(most, 0), len(masks)
    for place in sorted(range(len(masks)), key=counts.__getitem__):
        quota = min(counts[place], room // tracks)
        chosen[place] = _even(masks[place], quota)
        room, tracks = room - quota, tracks - 1
    return chosen


def _even(mask: Mask, count: int) -> Mask:
    places: Integers = np.flatnonzero(mask)
    chosen = np.zeros(len(mask), dtype=bool)
    if count:
        chosen[places[np.linspace(0, len(places) - 1, count).astype(np.int64)]] = True
    return chosen


def _total(masks: list[Mask]) -> int:
    return sum(int(mask.sum()) for mask in masks)


def _count(scene: Scene, derived: bool) -> int:
    return sum(len(track) for track in scene.tracks if track.derived is derived)


def _equal(column: pa.ChunkedArray, value: Any) -> Mask:
    """The rows with a value; text counts for any type, as on a command line."""
    conversions: tuple[Callable[[], Any], ...] = (
        lambda: pc.equal(column, pa.scalar(value)),
        lambda: pc.equal(column, pa.scalar(value).cast(column.type)),
        lambda: pc.equal(column.cast(pa.string()), pa.scalar(str(value))),
    )
    for compared in conversions:
        try:
            return np.array(pc.fill_null(compared(), False).to_numpy(zero_copy_only=False), dtype=bool)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return np.zeros(len(column), dtype=bool)
