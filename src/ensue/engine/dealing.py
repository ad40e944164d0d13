"""Detection with one thread for each partition of keys: rows are dealt out to the threads, each row once.

Events come in units, as row groups of a file. The first idle thread reads a unit and deals its rows; then each thread
processes the rows of its keys. So no row is read twice, and reading, dealing and detection run side by side. Every
thread takes units in order, and only a few are read ahead of the slowest thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Condition, Lock
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Columns, Integers
from ensue.engine.cores import made_ready, side_by_side, taken_in
from ensue.engine.derived_tables import Shown
from ensue.engine.final import Collected
from ensue.engine.mixed import Mixed, NotPlainError
from ensue.engine.plain_tables import CODES
from ensue.engine.reading import deal, hash_texts, order_by, parts_of_keys
from ensue.engine.run import Run
from ensue.engine.stream import merged
from ensue.records import dataclass

Parts = np.ndarray[Any, np.dtype[np.uint8]]

Unit = Callable[[], Iterable[Mixed]]
"""Reads some pieces of a table, which are in order, no end in two of them nor in two units."""

AHEAD = 2
"""Units per thread that may be held at a time."""

PIECE = 1 << 17
"""Rows of a table in memory that are dealt at a time."""


@dataclass(frozen=True)
class Hand:
    """The rows of a piece that belong to one part; the piece ends at `last`."""

    rows: Mixed
    first: int
    last: int


# --- the partition of a row


def parts_of(piece: Mixed, keys: Mapping[str, str], threads: int) -> Parts | None:
    """The partition of each row; None if a key has a type that cannot be hashed."""
    ranks: dict[str, list[int]] = {}
    for name, rank in piece.present.items():
        if name in keys:
            ranks.setdefault(keys[name], []).append(rank)
    if not ranks:  # any partition will do
        rows = np.arange(piece.offset, piece.offset + len(piece)) >> 12
        return (rows % threads).astype(np.uint8)
    found: Parts | None = None
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


def dealt(piece: Mixed, keys: Mapping[str, str], threads: int) -> list[Hand]:
    """The rows of a piece for each partition, in their order. Positions in the input are lost."""
    parts = parts_of(piece, keys, threads)
    if parts is None:
        raise NotPlainError
    counts = np.bincount(parts, minlength=threads)
    past = np.cumsum(counts)
    begins = past - counts
    by: list[pa.Array] = []

    def moved(column: pa.Array) -> pa.Array:
        if column.type in (pa.int64(), pa.float64()) and not column.null_count:
            numbers = column.to_numpy().view(np.int64)
            return pa.array(deal(numbers, parts, begins).view(column.type.to_pandas_dtype()))
        if not by:
            by.append(pa.array(deal(np.arange(len(parts)), parts, begins)))
        return column.take(by[0])

    end = deal(piece.end, parts, begins)
    start = end if piece.start is piece.end else deal(piece.start, parts, begins)
    columns = {name: moved(column) for name, column in piece.columns.items()}
    kind = deal(piece.kind, parts, begins)
    positions = None if piece.positions is None else deal(piece.positions, parts, begins)
    whole = replace(piece, kind=kind, start=start, end=end, columns=columns, positions=positions)
    first, last = int(piece.end[0]), int(piece.end[-1])
    return [Hand(whole.slice(int(a), int(b)), first, last) for a, b in zip(begins, past, strict=True)]


# --- reading and waiting


class Dealer:
    """Units that idle threads read and deal once; they are held until all threads have had them."""

    def __init__(self, units: Sequence[Unit], keys: Mapping[str, str], threads: int) -> None:
        self.units, self.keys, self.threads = units, keys, threads
        self.changed = Condition()
        self.ready: dict[int, list[list[Hand]]] = {}
        self.begun = 0
        self.places = [0] * threads
        """The unit that each thread takes next."""
        self.failure: BaseException | None = None

    def hands(self, part: int) -> Iterator[Hand]:
        """The rows of a part, piece by piece."""
        for number in range(len(self.units)):
            for piece in self._taken(part, number):
                yield piece[part]

    def fail(self, error: BaseException) -> None:
        """Stop all threads, each with this error."""
        with self.changed:
            self.failure = self.failure or error
            self.changed.notify_all()

    def _taken(self, part: int, number: int) -> list[list[Hand]]:
        while True:
            with self.changed:
                if self.failure is not None:
                    raise self.failure
                if number in self.ready:
                    self.places[part] = number + 1
                    slowest = min(self.places)
                    found = self.ready[number]
                    for done in [each for each in self.ready if each < slowest]:
                        del self.ready[done]
                    self.changed.notify_all()
                    return found
                far = self.begun - min(self.places) >= AHEAD * self.threads
                if far or self.begun == len(self.units):
                    self.changed.wait()
                    continue
                mine = self.begun
                self.begun += 1
            pieces = [dealt(piece, self.keys, self.threads) for piece in self.units[mine]()]
            with self.changed:
                self.ready[mine] = pieces
                self.changed.notify_all()


def units_of(pieces: Iterable[Mixed]) -> list[Unit]:
    """The units of a table in memory, cut between two ends."""
    found: list[Unit] = []
    for piece in pieces:
        at = 0
        while at < len(piece):
            to = min(at + PIECE, len(piece))
            to = int(np.searchsorted(piece.end, piece.end[to - 1], side="right"))
            found.append(partial(_one, piece, at, to))
            at = to
    return found


def _one(piece: Mixed, begin: int, end: int) -> Iterable[Mixed]:
    return (piece.slice(begin, end),)


# --- detection


def by_key(new_run: Callable[[], Run], dealer: Dealer, first: int, horizon: int, form: Shown) -> dict[str, pa.Table]:
    """Detection with one thread for each partition of keys."""
    runs = [new_run() for _ in range(dealer.threads)]
    made_ready(runs[0])
    collected = Collected(form.emit)
    steps = _Steps(dealer.threads)

    def table(name: str, parts: Sequence[Mapping[str, Columns]]) -> pa.Table:
        found = [part[name] for part in parts if name in part]
        return form.table(name, in_order(found, form.program.events[name].each) if found else None)

    def task(part: int) -> None:
        for number, found in enumerate(_found(runs[part], dealer.hands(part), first, horizon)):
            parts = steps.whole(number, part, found)
            if parts is not None:
                collected.add(number, [{name: table(name, parts) for name in form.emit}])

    side_by_side([partial(task, part) for part in range(dealer.threads)], dealer.fail)
    return collected.whole()


class _Steps:
    """Detections of a step that come from several threads, until the last one has added its own."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._found: dict[int, dict[int, Mapping[str, Columns]]] = {}
        self._lock = Lock()

    def whole(self, step: int, part: int, found: Mapping[str, Columns]) -> list[Mapping[str, Columns]] | None:
        """Add the detections of a part; returns those of all parts, in their order, if it is the last one."""
        with self._lock:
            parts = self._found.setdefault(step, {})
            parts[part] = found
            if len(parts) < self._threads:
                return None
            del self._found[step]
        return [parts[each] for each in range(self._threads)]


def _found(run: Run, hands: Iterable[Hand], first: int, horizon: int) -> Iterator[dict[str, Columns]]:
    """Derived events of one partition, for each piece; time advances to the horizon after the last."""
    for hand in hands:
        if hand.first > horizon:
            break
        rows = hand.rows if hand.last <= horizon else hand.rows.upto(horizon)[0]
        yield dict(taken_in(run, rows, min(hand.last, horizon), first).derived_columns)
    yield dict(run.advance(run.batch(), horizon, first if first <= horizon else None).derived_columns)


def in_order(found: Sequence[Columns], each: bool) -> Columns:
    """Sort the detections of several partitions in the order of events."""
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
