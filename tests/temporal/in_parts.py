"""Running a program stage by stage on parts of its events, by the reference, as stages promise that it can be done."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from ensue.language import typed
from ensue.partitioning import ByKey, ByRow, BySlices, Stage, chained, stage_program, stages
from ensue.reference import Event, detect
from ensue.reference.detect import Given

BUCKETS = 3

Tables = Mapping[str, Sequence[tuple[Any, ...]]]


def detect_in_parts(
    program: typed.Program,
    given: Sequence[Given],
    until: int | None,
    wanted: Iterable[str],
    rng: Random,
    tables: Tables | None = None,
    buckets: int = BUCKETS,
) -> list[Event]:
    """Derived events of the wanted types, in the order of events."""
    wanted = set(wanted)
    horizon = until if until is not None else max((end for *_, end, _ in given), default=None)
    if horizon is None:
        return []
    first_end = min((end for *_, end, _ in given if end <= horizon), default=None)
    program = chained(program, wanted).program
    known = list(given)
    found: list[Event] = []
    for stage in stages(program, wanted):
        derived = _run(program, stage, known, horizon, first_end, rng, tables or {}, buckets)
        known += [(e.type, e.attributes, e.start, e.end, None) for e in derived]
        found += [e for e in derived if e.type in wanted]
    return sorted(found, key=lambda e: e.key)


def _run(
    program: typed.Program,
    stage: Stage,
    known: list[Given],
    horizon: int,
    first_end: int | None,
    rng: Random,
    tables: Tables,
    count: int,
) -> list[Event]:
    rules = stage_program(program, stage)
    read = [row for row in known if row[0] in stage.reads]
    found: dict[Any, Event] = {}
    for begin, last, rows in _parts(stage, read, horizon, rng, count):
        # A stage gets only what it declares that it needs: otherwise the last end of its own rows must do.
        until = last if stage.ends_by_itself else None
        first = first_end if stage.from_first_end else None
        rows = [row for row in rows if row[3] <= last]
        for event in detect(rules, rows, until, tables, first):
            if begin is None or event.end >= begin:
                assert event.identity not in found or event.type in stage.duplicates, f"{event.type} in two parts"
                found[event.identity] = event
    return list(found.values())


def _parts(
    stage: Stage, read: list[Given], horizon: int, rng: Random, count: int
) -> Iterator[tuple[int | None, int, list[Given]]]:
    """The parts of a stage: the times between which derived events count, and events."""
    match stage.parting:
        case BySlices(extent=extent):
            assert extent == stage.extent
            for begin, last, rows in _slices(extent, read, horizon, rng):
                if rows or stage.ends_by_itself:
                    yield begin, last, rows
        case ByKey() as by_key:
            buckets: list[list[Given]] = [[] for _ in range(count)]
            for row in read:
                if (bucket := _bucket(by_key, row, rng, count)) is not None:
                    buckets[bucket].append(row)
            for rows in filter(None, buckets):  # a part without events does not run
                if stage.extent is not None and rng.random() < 0.3:
                    yield from _slices(stage.extent, rows, horizon, rng)
                else:
                    yield None, horizon, rows
        case ByRow() if stage.reads:
            buckets = [[] for _ in range(count)]
            for row in read:
                buckets[rng.randrange(count)].append(row)
            for rows in filter(None, buckets):
                yield None, horizon, rows
        case _:
            yield None, horizon, read


def _slices(extent: int, read: list[Given], horizon: int, rng: Random) -> Iterator[tuple[int | None, int, list[Given]]]:
    low = min([row[3] for row in read] + [horizon]) - 3
    cuts = sorted({rng.randint(low, horizon) for _ in range(rng.randint(1, 5))})
    for begin, end in zip([None, *cuts], [*cuts, horizon + 1], strict=True):
        rows = [row for row in read if (begin is None or begin - extent <= row[3]) and row[3] < end]
        yield begin, end - 1, rows


def _bucket(by_key: ByKey, row: Given, rng: Random, count: int) -> int | None:
    """The part that an event goes to; None where it goes nowhere."""
    if row[0] not in by_key.keys:
        return rng.randrange(count)
    values = [row[1].get(attribute) for attribute in by_key.keys[row[0]]]
    if None in values and row[0] not in by_key.nulls:
        return None
    plain = [_plain(value, kind) for value, kind in zip(values, by_key.kinds, strict=True)]
    return zlib.crc32(repr(plain).encode()) % count


def _plain(value: Any, kind: str) -> Any:
    if value is None or kind != "float":
        return value
    return "nan" if math.isnan(value) else float(value) + 0.0
