"""One table on several cores: its events are cut into parts, each of which a thread runs through rules of its own.

Where rules look back no further than a length of time, a part is a slice of time, together with that length before it;
detections that end before the slice are left out. Else a part has the events of some keys (`dealing`), and the
detections of the threads are sorted. Machine code and reading columns need no lock of the interpreter, and these take
nearly all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ensue.engine import machine
from ensue.engine.batch import Batch, Columns, Integers
from ensue.engine.capacity import current
from ensue.engine.derived_tables import Shown, derived_tables
from ensue.engine.final import Collected, receiver
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.engine.watching import steps, tallied
from ensue.plan.cuts import Cuts, SomeRules
from ensue.records import dataclass

T = TypeVar("T")

TURNS = 4
"""Most slices of time for each thread, where detections are handed on meanwhile."""

Pieces = Iterable[Mixed]
"""A table in order, piece by piece, no end in two of them."""


@dataclass(frozen=True)
class Cores:
    """Number of threads, and the cuts of the events for them."""

    threads: int
    cuts: Cuts


@dataclass(frozen=True)
class Slice:
    """A slice of time, from `begin` to `last`; its rules see events that end from `seen` on."""

    seen: int
    begin: int
    last: int


def side_by_side(
    tasks: Sequence[Callable[[], T]], stop: Callable[[BaseException], None], threads: int | None = None
) -> list[T]:
    """Run tasks, each in a thread of its own or, in their order, by so many threads.

    `stop` ends the others when one fails or the caller is interrupted.
    """
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    with ThreadPoolExecutor(threads or len(tasks)) as pool:
        try:
            waiting = [pool.submit(copy_context().run, task) for task in tasks]
            for each in wait(waiting, return_when=FIRST_EXCEPTION).done:
                each.result()
            return [each.result() for each in waiting]
        except BaseException as error:
            stop(error)
            raise


def made_ready(run: Run) -> None:
    """Compile the machine code of rules once, before threads need it."""
    if machine.available() and run.compiled is not False:
        for lane in run.lanes:
            lane.code.tiers.machine  # noqa: B018 (compiled on first access)


# --- slices of time


def slices_of(ends: Sequence[Integers], horizon: int, extent: int, threads: int) -> list[Slice]:
    """Slices with equal numbers of rows, one for each thread; one in all if rules would see too many rows twice.

    `ends` are those of pieces. With a receiver of detections each thread gets several slices, since only what comes
    before all unfinished slices is final; fewer, if these are too short.
    """
    rows = sum(map(len, ends))
    most = min(threads, rows // current().thread)
    turns = 1 if receiver() is None else max(1, min(TURNS, rows // (max(1, most) * current().thread)))
    for wanted in range(turns * most, most, -most):
        found = _slices(ends, horizon, extent, wanted, current().twice * TURNS)
        if len(found) == wanted:
            return found
    return _slices(ends, horizon, extent, most, current().twice)


def _slices(ends: Sequence[Integers], horizon: int, extent: int, wanted: int, twice: int) -> list[Slice]:
    """Slices with equal numbers of rows, of which at most one in `twice` lies before the slice and is seen again."""
    rows = sum(map(len, ends))
    begins = [int(ends[0][0])]
    for number in range(1, wanted):
        begin = _end_of_row(ends, rows * number // wanted)
        again = _rows_before(ends, begin) - _rows_before(ends, begin - extent)
        if again * wanted * twice <= rows and begins[-1] < begin <= horizon:
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


# --- detection


def in_slices(
    new_run: Callable[[], Run], slices: Sequence[tuple[Slice, Pieces]], first: int, form: Shown, threads: int
) -> dict[str, pa.Table]:
    """Detection by threads that take slices of time in their order."""
    made_ready(new_run())
    making = Lock()
    collected = Collected(form.emit)
    failures: list[BaseException] = []

    def unless_failed(pieces: Pieces) -> Iterator[Mixed]:
        for piece in pieces:
            if failures:
                raise failures[0]
            yield piece

    def task(number: int, part: Slice, pieces: Pieces) -> None:
        with making:
            run = new_run()
        found = [form.tables(batch) for batch in derived_by_step(run, unless_failed(pieces), part.last, first)]
        collected.add(number, found if part.seen == part.begin else [_from(tables, part.begin) for tables in found])

    tasks = [partial(task, number, *part) for number, part in enumerate(slices)]
    side_by_side(tasks, failures.append, min(threads, len(tasks)))
    return collected.whole()


def _from(tables: Mapping[str, pa.Table], begin: int) -> dict[str, pa.Table]:
    """The rows of tables that end at a time or later."""
    found = {}
    for name, table in tables.items():
        end = table.column("end")
        ends = (end if end.type == pa.int64() else end.cast(pa.int64())).to_numpy()
        found[name] = table.slice(int(np.searchsorted(ends, begin)))
    return found


def after(
    rest: SomeRules, found: Mapping[str, pa.Table], run: Run, first: int, horizon: int, form: Shown
) -> dict[str, pa.Table]:  # fmt: skip
    """Run rules on events that others derived; returns the wanted types of both."""
    batch = run.batch()
    batch.given = {name: _columns(table) for name, table in found.items() if table.num_rows}
    run.advance(batch, horizon, first if first <= horizon else None)
    more = derived_tables(batch, rest.program, rest.wanted, form.timestamps, form.timezone)
    return {name: more[name] if name in more else found[name] for name in form.emit}


def _columns(table: pa.Table) -> Columns:
    """Columns of derived events as if they were given."""
    whole = table.combine_chunks()
    start, end, *attributes = (whole.column(name).chunk(0) for name in whole.column_names)
    start, end = (each if each.type == pa.int64() else each.cast(pa.int64()) for each in (start, end))
    return Columns(start.to_numpy(), end.to_numpy(), dict(zip(whole.column_names[2:], attributes, strict=True)))


def derived_by_step(run: Run, pieces: Iterable[Mixed], horizon: int, first: int) -> Iterator[Batch]:
    """The batches of a table that is processed piece by piece; time advances to the horizon after the last."""
    waiting: Mixed | None = None
    tally = tallied()
    for piece in pieces if tally is None or run.limits.matches is not None else _in_steps(pieces):
        if waiting is not None:
            yield taken_in(run, waiting, int(waiting.end[-1]), first)
        if piece.end[0] > horizon:
            waiting = None
            break
        waiting = piece if piece.end[-1] <= horizon else piece.upto(horizon)[0]
    if waiting is not None:
        yield taken_in(run, waiting, horizon, first)
    else:
        yield run.advance(run.batch(), horizon, first if first <= horizon else None)


def taken_in(run: Run, piece: Mixed, to: int, first: int) -> Batch:
    """Process a piece, and advance time; a piece may have no rows."""
    batch = run.batch()
    batch.mixed = piece if len(piece) else None
    run.advance(batch, to, first if first <= to else None)
    tally = tallied()
    if tally is not None:
        columns, events = batch.derived_columns, batch.derived
        found = (len(columns[name]) if name in columns else len(events.get(name, ())) for name in tally.names)
        tally.add(len(piece), sum(found))
    return batch


def _in_steps(pieces: Iterable[Mixed]) -> Iterator[Mixed]:
    """Split pieces, so that progress is reported more often."""
    for piece in pieces:
        for time in steps([piece.end]):
            now, piece = piece.upto(time)
            yield now
        yield piece
