"""Ablation: each optimisation on and off, all others on: time and tuples stored. It finds the same.

Rules run as machine code, which is built before the clock starts.
Sharing is of compiled rules only, so it is measured on those, on mixed rules of the shapes that can be compiled.

Each program is counted once with everything on, with each optimisation off, and with all off. Where a count differs, or
the rules are rewritten, it is timed, too, in turns. Then memory: a long stream, with lifetimes and without.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from benchmarks.ablation_programs import ALERT, MACHINES, MIXED, SUBJECTS, Row, Subject, machines, mixed, mixed_events
from benchmarks.ablation_programs import COMPILED as SHAPES_COMPILED
from benchmarks.measure import ChildError, in_child, rss_mb
from benchmarks.options import Options
from benchmarks.plot import Panel, plot
from benchmarks.report import NONE, Result, Table, seconds, thousands, times
from benchmarks.streams import DATA

if TYPE_CHECKING:
    from ensue.engine.batch import Batch
    from ensue.engine.options import Options as Optimisations
    from ensue.engine.run import Run
    from ensue.program import Program
    from ensue.rewriting.rates import Rates

PICTURE = DATA / "lifetimes.svg"
PIECES = 100
"""Number of pieces in which a stream is sent; stored tuples are counted after each."""
TIMES_LONGER = 10
"""Factor by which the stream is longer when memory is measured."""
ALL_OFF = "all of them"
SHARING = "sharing"
"""The one of compiled rules alone."""


def run(options: Options) -> Result:
    rows, notes, wrong = [], [], []
    found: dict[str, Any] = {}
    for subject in SUBJECTS.values():
        if subject.name.startswith("w") and subject.name not in options.only:
            continue
        n = options.network // subject.share
        try:
            measured = found[subject.name] = in_child("benchmarks.ablation", subject.name, n, min(2, options.runs))
        except ChildError as error:
            wrong.append(f"{subject.name}: {error}")
            continue
        rows += _rows(subject, measured)
        idle = [name for name, off in measured["off"].items() if "cpu" not in off]
        if idle:
            notes.append(f"{subject.name}: nothing changes with {', '.join(idle)}.")
        wrong += [f"{subject.name}, off: {name}" for name, off in measured["off"].items() if not off["same"]]
    header = ("program, and what is off", "CPU s, on", "off", "off / on", "stored at most, on", "off")
    title = f"Optimisations on and off (streams of {options.network:,} events and less)"
    tables = [Table(title, header, tuple(rows), tuple(notes))]
    try:
        found["memory"] = _memory(TIMES_LONGER * options.network)
    except ChildError as error:
        tables.append(Table("Memory with and without lifetimes", ("events so far",), (), (str(error),)))
    else:
        tables.append(_memory_table(found["memory"]))
        draw(found["memory"])
        if found["memory"]["on"]["found"] != found["memory"]["off"]["found"]:
            wrong.append("the long stream, without lifetimes")
    try:
        found[SHARING] = in_child("benchmarks.ablation", SHARING, TIMES_LONGER * options.network, min(2, options.runs))
    except ChildError as error:
        tables.append(Table("Sharing on and off", ("compiled rules",), (), (str(error),)))
    else:
        tables.append(_shared_table(found[SHARING], TIMES_LONGER * options.network))
        if found[SHARING]["on"]["found"] != found[SHARING]["off"]["found"]:
            wrong.append("compiled rules, without sharing")
    return Result("ablation", tuple(tables), found, tuple(wrong))


def _rows(subject: Subject, measured: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, off in measured["off"].items():
        if "cpu" not in off:
            continue
        on = measured["on"]
        cells = [seconds(off["on_cpu"]), seconds(off["cpu"]), times(off["cpu"], off["on_cpu"], 2)]
        cells += [_number(on["stored"]), _number(off["stored"])]
        yield (f"{subject.name}: {name}", *cells)


def _number(count: int | None) -> str:
    return NONE if count is None else f"{count:,}"


# --- in a child


def measured(name: str, n: int, runs: int) -> dict[str, Any]:
    """A program with everything on, and with each optimisation off."""
    import ensue
    from ensue.engine.options import ALL
    from ensue.engine.options import NONE as NO_OPTIMISATION
    from ensue.rewriting import rewritten
    from ensue.temporal.instants import with_instants

    subject = SUBJECTS[name]
    program, rows = ensue.compile(subject.rules), subject.rows(n)
    rates = rates_in(program, rows)
    of_plans = [field.name for field in fields(ALL) if field.name != SHARING]
    off = {option: replace(ALL, **{option: False}) for option in of_plans} | {ALL_OFF: NO_OPTIMISATION}
    known = with_instants(program.typed) if subject.instant else program.typed
    full = rewritten(known, rates)
    changed = {"rewriting"} if full != known else set()
    changed |= {"ordering"} if full != rewritten(known, ordering=False) else set()
    on = counted(subject, program, rows, ALL)
    result: dict[str, Any] = {"events": len(rows), "on": on, "off": {}}
    for option, options in off.items():
        counts = result["off"][option] = counted(subject, program, rows, options)
        counts["same"] = counts["found"] == on["found"]
        if counts["stored"] != on["stored"] or option in changed:
            counts["on_cpu"], counts["cpu"] = in_turns(subject, program, rows, (ALL, options), runs)
    return result


def counted(subject: Subject, program: Program, rows: list[Row], options: Optimisations) -> dict[str, Any]:
    """Counters of a run, and its detections: their number and a digest."""
    at_work = start(program, subject.instant, options, rates=rates_in(program, rows), emit=subject.emit)
    digest, number, stored = hashlib.sha256(), 0, 0
    for batch in advanced(at_work, rows, max(1, len(rows) // PIECES), subject.runs_on):
        found = found_in(batch, program, subject.emit)
        digest.update("\n".join(found).encode())
        number += len(found)
        stored = max(stored, stored_in(at_work))
    return {"stored": stored, "found": [number, digest.hexdigest()]}


def stored_in(run: Run) -> int:
    """Number of tuples that all parts of the rules keep."""
    return sum(size.tuples for size in run.sizes())


def in_turns(
    subject: Subject, program: Program, rows: list[Row], pair: tuple[Optimisations, ...], runs: int
) -> list[float]:
    """The CPU seconds that each takes at best, the one after the other."""
    best, rates = [float("inf")] * len(pair), rates_in(program, rows)
    for _ in range(runs):
        for place, options in enumerate(pair):
            at_work = start(program, subject.instant, options, rates=rates, emit=subject.emit)
            gc.collect()
            began = time.process_time()
            deque(advanced(at_work, rows, max(1, len(rows) // PIECES), subject.runs_on), maxlen=0)
            best[place] = min(best[place], time.process_time() - began)
    return best


def start(
    program: Program, instant: bool, options: Optimisations, compiled: bool = True, rates: Rates = (),
    emit: tuple[str, ...] | None = None,
) -> Run:  # fmt: skip
    from ensue.engine.run import Run

    return Run(program.typed, compiled=compiled, emit=emit, instant=instant, options=options, rates=rates)


def rates_in(program: Program, rows: Iterable[Row]) -> Rates:
    """Frequencies of types among the rows, as known for a whole table."""
    from ensue.rewriting.rates import rates_of

    return rates_of(program.typed, Counter(row[0] for row in rows))


def advanced(run: Run, rows: Iterable[Row], size: int, runs_on: int = 0) -> Iterator[Batch]:
    """Each piece of a stream with its derived events; the last one after more time has passed."""
    first, position = None, 0
    for piece, last in pieces(rows, size):
        first = piece[0][3] if first is None else first
        batch = run.batch()
        batch.rows = [(*row, None, position + place) for place, row in enumerate(piece)]
        position += len(piece)
        run.advance(batch, piece[-1][3] + (runs_on if last else 0), first)
        yield batch


def pieces(rows: Iterable[Row], size: int) -> Iterator[tuple[list[Row], bool]]:
    """Rows in the order of their ends, in pieces between which no end is cut, and whether a piece is the last.

    >>> list(pieces([("a", {}, 1, 1), ("b", {}, 0, 1), ("c", {}, 2, 2)], 1))
    [([('a', {}, 1, 1), ('b', {}, 0, 1)], False), ([('c', {}, 2, 2)], True)]
    """
    stream = iter(rows)
    ahead = next(stream, None)
    while ahead is not None:
        piece: list[Row] = []
        while ahead is not None and (len(piece) < size or ahead[3] == piece[-1][3]):
            piece.append(ahead)
            ahead = next(stream, None)
        yield piece, ahead is None


def found_in(batch: Batch, program: Program, emit: tuple[str, ...] | None = None) -> list[str]:
    """Events derived in a batch, as text, in an order that does not depend on the execution."""
    from ensue.engine.derived_tables import derived_tables

    names = emit or [name for name, event in program.typed.events.items() if event.derived]
    tables = derived_tables(batch, program.typed, names, False, None)
    return sorted(f"{name} {row}" for name, table in tables.items() for row in table.to_pylist())


# --- compiled rules


def shared(n: int, runs: int) -> dict[str, Any]:
    """In a child: compiled rules with sharing and without, from columns in memory; they are compiled before."""
    import ensue
    from ensue.engine.batch import columns_of_rows
    from ensue.engine.options import ALL

    program = ensue.compile(mixed(MIXED, SHAPES_COMPILED))
    rows = [(*row, None, place) for place, row in enumerate(mixed_events(n))]
    types = {row[0] for row in rows}
    columns = {
        type_: columns_of_rows([r for r in rows if r[0] == type_], program.typed.events[type_]) for type_ in types
    }
    ends = [rows[(len(rows) - 1) * part // 20][3] for part in range(1, 21)]
    result: dict[str, Any] = {}
    for turn in range(runs + 1):
        for how in ("on", "off"):
            run = start(program, False, replace(ALL, sharing=how == "on"), compiled=True)
            rest, stored, taken, found = columns, 0, 0.0, []
            for end in ends:
                batch = run.batch()
                batch.given = {type_: each.upto(end)[0] for type_, each in rest.items()}
                rest = {type_: each.upto(end)[1] for type_, each in rest.items()}
                began = time.process_time()
                run.advance(batch, end, rows[0][3])
                taken += time.process_time() - began
                if not turn:
                    stored = max(stored, sum(size.tuples for size in run.sizes()))
                    found += found_in(batch, program)
            if not turn:
                digest = hashlib.sha256("\n".join(found).encode()).hexdigest()
                result[how] = {"stored": stored, "found": [len(found), digest], "cpu": float("inf")}
            else:
                result[how]["cpu"] = min(result[how]["cpu"], taken)
    return result


def _shared_table(shared: Mapping[str, Any], n: int) -> Table:
    on, off = shared["on"], shared["off"]
    cells = (*map(seconds, (on["cpu"], off["cpu"])), times(off["cpu"], on["cpu"], 2))
    row = (f"{MIXED} mixed rules", *cells, *map(_number, (on["stored"], off["stored"])))
    header = ("compiled rules", "CPU s, sharing on", "off", "off / on", "stored at most, on", "off")
    return Table(f"Sharing on and off, compiled ({n:,} events)", header, (row,))


# --- memory


def _memory(n: int) -> dict[str, Any]:
    """A long stream with lifetimes and without, each in a separate process."""
    return {"events": n} | {how: in_child("benchmarks.ablation", "memory", n, how) for how in ("on", "off")}


def remembered(n: int, how: str) -> dict[str, Any]:
    """In a child: stored tuples and memory of the process while `n` events go through; it keeps none of them."""
    import ensue
    from ensue.engine.options import ALL

    program = ensue.compile(ALERT)
    run = start(program, True, replace(ALL, lifetimes=how == "on"))
    digest, number, seen = hashlib.sha256(), 0, 0
    samples = [(0, 0, rss_mb())]
    began = time.process_time()
    for batch in advanced(run, machines(n), max(1, n // PIECES)):
        found = found_in(batch, program)
        digest.update("\n".join(found).encode())
        number += len(found)
        seen += len(batch.rows)
        samples.append((seen, stored_in(run), rss_mb()))
    taken = time.process_time() - began
    return {"samples": samples, "found": [number, digest.hexdigest()], "cpu": taken}


def _memory_table(memory: Mapping[str, Any]) -> Table:
    on, off = memory["on"], memory["off"]
    last = len(on["samples"]) - 1
    rows = []
    for place in (last // 10, last // 4, last // 2, last):
        with_, without = on["samples"][place], off["samples"][place]
        rows.append((f"{with_[0]:,}", *map(_number, (with_[1], without[1])), *map(thousands, (with_[2], without[2]))))
    peak = [max(samples, key=lambda sample: sample[1])[1] for samples in (on["samples"], off["samples"])]
    notes = (
        f"At most {peak[0]:,} tuples with lifetimes, {peak[1]:,} without; the same {on['found'][0]:,} alerts.",
        f"CPU seconds: {seconds(on['cpu'])} with, {seconds(off['cpu'])} without, {times(off['cpu'], on['cpu'])} times.",
        f"The plot is {PICTURE.relative_to(DATA.parent.parent)}.",
    )
    header = ("events so far", "stored, lifetimes on", "off", "MB held, on", "off")
    return Table(
        f"Memory with and without lifetimes: {memory['events']:,} events of {MACHINES:,} machines",
        header, tuple(rows), notes,
    )  # fmt: skip


def draw(memory: Mapping[str, Any]) -> None:
    """Writes the plot of the measurements."""

    def lines(what: int) -> dict[str, list[tuple[float, float]]]:
        named = {"without lifetimes": "off", "with lifetimes": "on"}
        return {name: [(sample[0], sample[what]) for sample in memory[how]["samples"]] for name, how in named.items()}

    panels = (Panel("tuples stored", lines(1)), Panel("MB held by the process", lines(2)))
    DATA.mkdir(exist_ok=True)
    PICTURE.write_text(plot(panels, "events so far"), encoding="utf-8")


def _in_child(subject: str, n: int, more: str) -> dict[str, Any]:
    match subject:
        case "memory":
            return remembered(n, more)
        case "sharing":
            return shared(n, int(more))
        case _:
            return measured(subject, n, int(more))


if __name__ == "__main__":
    print(json.dumps(_in_child(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
