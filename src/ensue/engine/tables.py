"""Detection on a whole set of events: tables in, tables of derived events out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from ensue.data import Events
from ensue.engine.batch import columns_of
from ensue.engine.cores import Cores, after, derived_by_step, in_slices, pieces_in, slices_of
from ensue.engine.dealing import Dealer, by_key, units_of
from ensue.engine.derived_tables import Shown
from ensue.engine.final import Collected, receiver, receiving
from ensue.engine.knowledge import Row
from ensue.engine.mixed import Mixed, NotPlainError
from ensue.engine.run import Run
from ensue.engine.watching import steps, tallying
from ensue.language import typed
from ensue.rewriting.rates import Rates, joined_types, powers, rates_of


def detect_tables(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    compiled: bool | None = None, suppressed: dict[int, int] | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """Derive the events of the wanted types.

    `suppressed` receives the number of events that each rule suppressed because of ``once`` or ``at most``, by its
    number.
    """
    horizon = until if until is not None else events.last_end
    counts = {name: table.num_rows for name, table in events.tables.items()}
    given = {name: columns_of(table) for name, table in events.tables.items()}
    instant = all(np.array_equal(columns.start, columns.end) for columns in given.values())
    run = Run(
        program,
        tables,
        compiled=compiled,
        emit=emit,
        instant=instant,
        rates=rates_of(program, counts),
    )
    form = Shown(program, emit, events.timestamps, events.timezone)
    if horizon is None:
        return form.tables(run.batch())
    rest = {name: columns.upto(horizon)[0] for name, columns in given.items()}
    ends = [columns.end for columns in rest.values()]
    found = list[dict[str, pa.Table]]()
    with tallying(sum(map(len, ends)), emit) as tally:
        can_be_cut = tally is not None and form.as_columns and run.limits.matches is None
        for time in (*(steps(ends) if can_be_cut else ()), horizon):
            cut = {name: columns.upto(time) for name, columns in rest.items()}
            rest = {name: later for name, (_, later) in cut.items()}
            batch = run.batch()
            batch.given = {name: now for name, (now, _) in cut.items()}
            first_end = None if events.first_end is None or events.first_end > time else events.first_end
            run.advance(batch, time, first_end)
            found.append(form.tables(batch))
            if tally is not None:
                tally.add(sum(map(len, batch.given.values())), sum(table.num_rows for table in found[-1].values()))
    note_suppressed(run, suppressed)
    return found[0] if len(found) == 1 else {name: pa.concat_tables([each[name] for each in found]) for name in emit}


def detect_mixed(
    program: typed.Program, pieces: Sequence[Mixed], until: int | None, tables: Mapping[str, Sequence[Row]],
    emit: Sequence[str], compiled: bool | None = None, suppressed: dict[int, int] | None = None,
    cores: Cores | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """The same for one table that is read in place, piece by piece; on several cores if these are given."""
    first, last = int(pieces[0].end[0]), int(pieces[-1].end[-1])
    horizon = last if until is None else until
    instant = all(piece.start is piece.end or np.array_equal(piece.start, piece.end) for piece in pieces)
    new_run = partial(Run, tables=tables, compiled=compiled)
    form = Shown(program, emit, pieces[0].timestamps, pieces[0].timezone)
    rows = sum(map(len, pieces))
    if cores is not None:
        rates = rates_in(cores.cuts.parts.program, pieces)
        parts = partial(new_run, cores.cuts.parts.program, emit=cores.cuts.parts.wanted, instant=instant, rates=rates)
        final = receiver() if cores.cuts.rest is None else None
        with tallying(rows, cores.cuts.parts.wanted), receiving(final):
            found = _on_cores(parts, pieces, first, horizon, replace(form, emit=cores.cuts.parts.wanted), cores)
        if found is not None:
            return finished(found, cores, new_run, first, horizon, form, suppressed)
    run = new_run(program, emit=emit, instant=instant, rates=rates_in(program, pieces))
    collected = Collected(emit)
    with tallying(rows, emit):
        for number, batch in enumerate(derived_by_step(run, pieces, horizon, first)):
            collected.add(number, [form.tables(batch)])
    note_suppressed(run, suppressed)
    return collected.whole()


def rates_in(program: typed.Program, pieces: Sequence[Mixed]) -> Rates:
    """The frequencies of the types that are joined."""
    joined = joined_types(program)
    counts = Counter[str]()
    for piece in pieces if joined else ():
        counts.update(piece.counts(joined))
    return powers(counts)


def _on_cores(
    new_run: Callable[[], Run], pieces: Sequence[Mixed], first: int, horizon: int, form: Shown, cores: Cores
) -> dict[str, pa.Table] | None:
    """Detection by several threads; None if the events cannot be cut for them."""
    if cores.cuts.extent is not None:
        slices = slices_of([piece.end for piece in pieces], horizon, cores.cuts.extent, cores.threads)
        if len(slices) > 1:
            parts = [(each, pieces_in(pieces, each)) for each in slices]
            return in_slices(new_run, parts, first, form, cores.threads)
    if cores.cuts.keys is not None and form.as_columns:
        try:
            return by_key(new_run, Dealer(units_of(pieces), cores.cuts.keys, cores.threads), first, horizon, form)
        except NotPlainError:
            return None
    return None


def finished(
    found: dict[str, pa.Table], cores: Cores, new_run: Callable[..., Run], first: int, horizon: int, form: Shown,
    suppressed: dict[int, int] | None,
) -> dict[str, pa.Table]:  # fmt: skip
    """The detections of threads, and those of rules that run on the whole."""
    rest = cores.cuts.rest
    if rest is None:
        return found
    run = new_run(rest.program, emit=rest.wanted)
    found = after(rest, found, run, first, horizon, form)
    if suppressed is not None:
        suppressed.update({rest.numbers[rule]: count for rule, count in run.suppressed().items()})
    return found


def note_suppressed(run: Run, suppressed: dict[int, int] | None) -> None:
    """Record the numbers of suppressed events, by rule, if they are requested."""
    if suppressed is not None:
        suppressed.update(run.suppressed())
