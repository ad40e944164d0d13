"""One table on several cores: its events are cut into parts, each of which a thread runs through rules of its own.

Where rules look back no further than a length of time, a part is a slice of time, with as much before it as its rules
look back to; what ends before the slice is left out. Else a part has the events of some keys: every thread goes through
the whole table and skips what is not its own, and what they find is put in order. Machine code and reading columns need
no lock of the interpreter, and these take nearly all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ensue.engine import machine
from ensue.engine.batch import Batch, Columns, Integers
from ensue.engine.derived_tables import Shown, derived_tables
from ensue.engine.mixed import CODES, Mixed, NotPlainError
from ensue.engine.reading import hash_texts, order_by, parts_of_keys
from ensue.engine.run import Run
from ensue.engine.stream import merged
from ensue.engine.structures.capacity import current
from ensue.engine.watching import steps, tallied
from ensue.plan.cuts import Cuts, SomeRules

T = TypeVar("T")

Parts = np.ndarray[Any, np.dtype[np.uint8]]

Pieces = Iterable[Mixed]
"""A table in order, piece by piece, no end in two of them."""


@dataclass(frozen=True)
class Cores:
    """How many threads run, and how events are cut for them."""

    threads: int
    cuts: Cuts


@dataclass(frozen=True)
class Slice:
    """A slice of time, from `begin` to `last`; its rules see events that end from `seen` on."""

    seen: int
    begin: int
    last: int


def side_by_side(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks, each in a thread of its own; the first that fails stops what has not begun."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        waiting = [pool.submit(copy_context().run, task) for task in tasks]
        try:
            return [each.result() for each in waiting]
        except BaseException:
            for each in waiting:
                each.cancel()
            raise


def made_ready(runs: Sequence[Run]) -> None:
    """Have the machine code of rules made once, before threads ask for it."""
    if machine.available() and runs[0].compiled is not False:
        for lane in runs[0].lanes:
            lane.code.tiers.machine  # noqa: B018 (it is made when it is first asked for)


# --- slices of time


def slices_of(ends: Sequence[Integers], horizon: int, extent: int, threads: int) -> list[Slice]:
    """Slices with as many rows each; one if rules would see too many rows twice. `ends` are those of pieces."""
    rows = sum(map(len, ends))
    wanted = min(threads, rows // current().thread)
    begins = [int(ends[0][0])]
    for number in range(1, wanted):
        begin = _end_of_row(ends, rows * number // wanted)
        twice = _rows_before(ends, begin) - _rows_before(ends, begin - extent)
        if twice * wanted * current().twice <= rows and begins[-1] < begin <= horizon:
            begins.append(begin)
    lasts = [begin - 1 for begin in begins[1:]] + [horizon]
    seen = [begins[0], *(begin - extent for begin in begins[1:])]
    return [Slice(*each) for each in zip(seen, begins, lasts, strict=True)]


def _end_of_row(ends: Sequence[Integers], row: int) -> int:
    for piece in ends:
        if row < len(piece):
            return int(piece[row])
        row -= len(piece)
    raise IndexError(row)


def _rows_before(ends: Sequence[Integers], time: int) -> int:
    return sum(int(np.searchsorted(piece, time)) for piece in ends)


def pieces_in(pieces: Pieces, part: Slice) -> Iterator[Mixed]:
    """The pieces that a slice sees, cut where it begins and ends."""
    for piece in pieces:
        begin, end = (int(np.searchsorted(piece.end, time)) for time in (part.seen, part.last + 1))
        if begin < end:
            yield piece.slice(begin, end)


# --- parts by key


def parts_of(piece: Mixed, keys: Mapping[str, str], threads: int) -> Parts | None:
    """The number of the part that each row belongs to, None if a key is of a kind that cannot be told apart."""
    ranks: dict[str, list[int]] = {}
    for name, rank in piece.present.items():
        if name in keys:
            ranks.setdefault(keys[name], []).append(rank)
    numbered = sum(map(len, ranks.values()))
    found: Parts | None = None
    if not numbered or numbered < len(piece.present):  # the others may be anywhere
        rows = np.arange(piece.offset, piece.offset + len(piece)) >> 12
        found = (rows % threads).astype(np.uint8)
    for attribute, own in ranks.items():
        hashes = None if attribute not in piece.columns else _hashes(piece.columns[attribute])
        if hashes is None:
            return None
        parts = parts_of_keys(hashes, threads)
        found = parts if found is None else np.where(np.isin(piece.kind, own), parts, found)
    return found


def _hashes(column: pa.Array) -> Integers | None:
    """A number for each value, the same for those that are equal; nulls have one, too."""
    if column.type in CODES:
        known = _hashes(column.dictionary)
        indices = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return None if known is None else known[indices] * column.is_valid().to_numpy(zero_copy_only=False)
    if column.type == pa.int64():
        found: Integers = (column.fill_null(0) if column.null_count else column).to_numpy()
        return found
    return hash_texts(column) if column.type == pa.string() else None


def only_part(piece: Mixed, parts: Parts, part: int) -> Mixed:
    """A piece in which only the rows of a part count; time passes as in all."""
    return replace(piece, kind=np.where(parts == part, piece.kind, np.int32(-1)))


def in_order(found: Sequence[Columns], each: bool) -> Columns:
    """Put what several parts found in the order of events."""
    one, *others = found
    if not others:
        return one
    end = np.concatenate([columns.end for columns in found])
    by, ordered = order_by(end)
    if np.any(ordered[1:] == ordered[:-1]):
        for other in others:
            one = merged(one, other, each)
        return one
    attributes = {
        name: pa.concat_arrays([columns.attributes[name] for columns in found]).take(pa.array(by))
        for name in one.attributes
    }
    return Columns(np.concatenate([columns.start for columns in found])[by], ordered, attributes)


class Shared(Iterable[tuple[Mixed, Parts]]):
    """Pieces with the parts of their rows, each made once, by who needs it first, and held until all have had it."""

    def __init__(self, pieces: Pieces, keys: Mapping[str, str], threads: int) -> None:
        self.pieces, self.keys, self.threads = iter(pieces), keys, threads
        self.lock = Lock()
        self.made: dict[int, tuple[Any, int]] = {}
        self.count = 0
        self.ended = False

    def __iter__(self) -> Iterator[tuple[Mixed, Parts]]:
        number = 0
        while True:
            with self.lock:
                while number >= self.count and not self.ended:
                    self._make()
                if number >= self.count:
                    return
                found, left = self.made.pop(number)
                if left > 1:
                    self.made[number] = found, left - 1
            yield found
            number += 1

    def _make(self) -> None:
        piece = next(self.pieces, None)
        if piece is None:
            self.ended = True
            return
        parts = parts_of(piece, self.keys, self.threads)
        if parts is None:
            raise NotPlainError
        self.made[self.count] = (piece, parts), self.threads
        self.count += 1


# --- detection


def in_slices(
    new_run: Callable[[], Run], slices: Sequence[tuple[Slice, Pieces]], first: int, form: Shown
) -> dict[str, pa.Table]:
    """Detection with a thread for each slice of time."""
    runs = [new_run() for _ in slices]
    made_ready(runs)

    def task(run: Run, part: Slice, pieces: Pieces) -> list[dict[str, pa.Table]]:
        found = [form.tables(batch) for batch in derived_by_step(run, pieces, part.last, first)]
        return found if part.seen == part.begin else [_from(tables, part.begin) for tables in found]

    found = side_by_side([partial(task, run, *part) for run, part in zip(runs, slices, strict=True)])
    every = [tables for part in found for tables in part]
    return {name: pa.concat_tables([tables[name] for tables in every]) for name in form.emit}


def _from(tables: Mapping[str, pa.Table], begin: int) -> dict[str, pa.Table]:
    """The rows of tables that end from a time on."""
    found = {}
    for name, table in tables.items():
        end = table.column("end")
        ends = (end if end.type == pa.int64() else end.cast(pa.int64())).to_numpy()
        found[name] = table.slice(int(np.searchsorted(ends, begin)))
    return found


def by_key(new_run: Callable[[], Run], pieces: Shared, first: int, horizon: int, form: Shown) -> dict[str, pa.Table]:
    """Detection with a thread for the keys of each part."""
    runs = [new_run() for _ in range(pieces.threads)]
    made_ready(runs)
    tally = tallied()
    if tally is not None:
        tally.share = pieces.threads

    def task(part: int) -> list[dict[str, Columns]]:
        own = (only_part(piece, parts, part) for piece, parts in pieces)
        return [dict(batch.derived_columns) for batch in derived_by_step(runs[part], own, horizon, first)]

    found_by_step = list(zip(*side_by_side([partial(task, part) for part in range(pieces.threads)]), strict=True))

    def table(name: str, parts: Sequence[Mapping[str, Columns]]) -> pa.Table:
        found = [part[name] for part in parts if name in part]
        return form.table(name, in_order(found, form.program.events[name].each) if found else None)

    return {name: pa.concat_tables([table(name, step) for step in found_by_step]) for name in form.emit}


def after(
    rest: SomeRules, found: Mapping[str, pa.Table], run: Run, first: int, horizon: int, form: Shown
) -> dict[str, pa.Table]:  # fmt: skip
    """Let rules run on what others derived; gives what is wanted of both."""
    batch = run.batch()
    batch.given = {name: _columns(table) for name, table in found.items() if table.num_rows}
    run.advance(batch, horizon, first if first <= horizon else None)
    more = derived_tables(batch, rest.program, rest.wanted, form.timestamps, form.timezone)
    return {name: more[name] if name in more else found[name] for name in form.emit}


def _columns(table: pa.Table) -> Columns:
    """Derived events as given ones."""
    whole = table.combine_chunks()
    start, end, *attributes = (whole.column(name).chunk(0) for name in whole.column_names)
    start, end = (each if each.type == pa.int64() else each.cast(pa.int64()) for each in (start, end))
    return Columns(start.to_numpy(), end.to_numpy(), dict(zip(whole.column_names[2:], attributes, strict=True)))


def derived_by_step(run: Run, pieces: Iterable[Mixed], horizon: int, first: int) -> Iterator[Batch]:
    """The batches of a table that is taken in piece by piece; time goes on to the horizon after the last."""
    waiting: Mixed | None = None
    tally = tallied()
    for piece in pieces if tally is None or run.limits.matches is not None else _in_steps(pieces):
        if waiting is not None:
            yield _taken_in(run, waiting, int(waiting.end[-1]), first)
        if piece.end[0] > horizon:
            waiting = None
            break
        waiting = piece if piece.end[-1] <= horizon else piece.upto(horizon)[0]
    if waiting is not None:
        yield _taken_in(run, waiting, horizon, first)
    else:
        yield run.advance(run.batch(), horizon, first if first <= horizon else None)


def _taken_in(run: Run, piece: Mixed, to: int, first: int) -> Batch:
    batch = run.batch()
    batch.mixed = piece
    run.advance(batch, to, first if first <= to else None)
    tally = tallied()
    if tally is not None:
        columns, events = batch.derived_columns, batch.derived
        found = (len(columns[name]) if name in columns else len(events.get(name, ())) for name in tally.names)
        tally.add(len(piece), sum(found))
    return batch


def _in_steps(pieces: Iterable[Mixed]) -> Iterator[Mixed]:
    """Smaller pieces, so that who watches is told more often."""
    for piece in pieces:
        for time in steps([piece.end]):
            now, piece = piece.upto(time)
            yield now
        yield piece
