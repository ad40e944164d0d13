"""A large Parquet file on several cores: each thread reads the row groups that it needs, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pyarrow as pa

from ensue.data import Events
from ensue.data.columns import Columns as Names
from ensue.engine.capacity import current
from ensue.engine.cores import TURNS, Cores, Slice, in_slices, pieces_in
from ensue.engine.dealing import Dealer, by_key
from ensue.engine.derived_tables import Shown
from ensue.engine.final import receiver, receiving
from ensue.engine.knowledge import Row
from ensue.engine.mixed import Mixed, NotPlainError, read_from
from ensue.engine.parquet import PlainParquet, RowGroup
from ensue.engine.plain_tables import Used, mixed_of
from ensue.engine.run import Run
from ensue.engine.tables import finished, rates_in
from ensue.engine.tables_in_order import flowing
from ensue.engine.watching import tallying
from ensue.language import typed

GROUPS = 16
"""Row groups from which on a slice is long enough to be one of several for a thread: it reads one of another, too."""


def detect_large_file(
    program: typed.Program, file: PlainParquet, names: Names, used: Used, until: int | None,
    tables: Mapping[str, Sequence[Row]], emit: Sequence[str], compiled: bool | None, suppressed: dict[int, int],
    cores: Cores,
) -> tuple[dict[str, pa.Table], Events] | None:  # fmt: skip
    """Detection by several threads, and the events read; None if the file cannot be cut, or needs conversion."""
    first, last = file.groups[0].first, file.groups[-1].last
    horizon = last if until is None else until
    known: list[int] = []

    def pieces(groups: Sequence[RowGroup]) -> Iterator[Mixed]:
        at = sum(group.rows for group in file.groups[: file.groups.index(groups[0])])
        for batch in file.pieces(groups):
            piece = mixed_of(batch if file.only is None else {file.only: batch}, names, program.events, at, used=used)
            if piece is None:
                raise NotPlainError
            at += len(piece)
            if not known and piece.kind.max() >= 0:
                known.append(at)
            yield piece

    def unit(groups: Sequence[RowGroup]) -> Iterator[Mixed]:
        return flowing(pieces(groups))

    beginning = next(file.pieces(file.groups[:1]))
    one = mixed_of(beginning if file.only is None else {file.only: beginning}, names, program.events, used=used)
    if one is None:
        return None
    any_run = partial(Run, tables=tables, compiled=compiled)
    some, wanted = cores.cuts.parts.program, cores.cuts.parts.wanted
    new_run = partial(any_run, some, emit=wanted, instant=file.instant, rates=rates_in(some, [one]))
    whole = Shown(program, emit, one.timestamps, one.timezone)
    form = replace(whole, emit=wanted)
    found: dict[str, pa.Table] | None = None
    final = receiver() if cores.cuts.rest is None else None
    turns = 1 if final is None else max(1, min(TURNS, len(file.groups) // (GROUPS * cores.threads)))
    slices = (
        [] if cores.cuts.extent is None else _in_turns(file.groups, horizon, cores.cuts.extent, cores.threads, turns)
    )
    try:
        with tallying(sum(group.rows for group in file.groups), wanted), receiving(final):
            if len(slices) > 1:
                parts = [(each, pieces_in(flowing(pieces(groups)), each)) for each, groups in slices]
                found = in_slices(new_run, parts, first, form, cores.threads)
            elif cores.cuts.keys is not None and form.as_columns:
                units = [partial(unit, groups) for groups in _apart(file.groups) if groups[0].first <= horizon]
                found = by_key(new_run, Dealer(units, cores.cuts.keys, cores.threads), first, horizon, form)
    except NotPlainError:
        return None
    if found is None:
        return None
    rows, unread = sum(group.rows for group in file.groups), file.groups[-1].first > horizon
    read = replace(read_from([one], file.only is not None), last_end=last, rows=rows, used=bool(known) or unread)
    return finished(found, cores, any_run, first, horizon, whole, suppressed), read


def _apart(groups: Sequence[RowGroup]) -> list[list[RowGroup]]:
    """Row groups one by one, but those that have an end in common together."""
    found = [[groups[0]]]
    for before, group in pairwise(groups):
        if before.last == group.first:
            found[-1].append(group)
        else:
            found.append([group])
    return found


def _in_turns(
    groups: Sequence[RowGroup], horizon: int, extent: int, threads: int, turns: int
) -> list[tuple[Slice, Sequence[RowGroup]]]:
    """Slices for all threads, several for each if they are long enough."""
    for wanted in range(turns * threads, threads, -threads):
        found = _slices(groups, horizon, extent, wanted)
        if len(found) == wanted:
            return found
    return _slices(groups, horizon, extent, threads)


def _slices(
    groups: Sequence[RowGroup], horizon: int, extent: int, threads: int
) -> list[tuple[Slice, Sequence[RowGroup]]]:  # fmt: skip
    """Slices that begin with a row group, with equal numbers of rows, and the row groups that each needs."""
    rows = sum(group.rows for group in groups)
    begins, seen = [groups[0].first], 0
    for before, group in pairwise(groups):
        seen += before.rows
        length = (groups[-1].last - groups[0].first) // threads
        enough = seen * threads >= rows * len(begins) and extent * current().twice <= length
        if enough and len(begins) < threads and before.last < group.first <= horizon:
            begins.append(group.first)
    lasts = [begin - 1 for begin in begins[1:]] + [horizon]
    found: list[tuple[Slice, Sequence[RowGroup]]] = []
    for number, (begin, last) in enumerate(zip(begins, lasts, strict=True)):
        own = Slice(begin if number == 0 else begin - extent, begin, last)
        found.append((own, [group for group in groups if group.last >= own.seen and group.first <= last]))
    return found
