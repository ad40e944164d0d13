"""Every execution of rules on events, and the comparison of its detections with those of the reference.

A stream is a list of dicts: type, start, end, attributes, and where there is one a sequence number, `n`. An execution
takes a program, a stream and the end of time (None for the last end of an event), and gives what it derived in the
order in which it came out. What is left open, such as where a batch is cut, it draws from a random generator, so that
a number says it all.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ensue
from ensue.data import Columns
from ensue.data.results import picked
from ensue.engine.capacity import SMALL, current, using
from ensue.engine.derived_tables import derived_tables
from ensue.engine.options import ALL, NONE, Options
from ensue.engine.plain_tables import mixed_of
from ensue.engine.run import Run
from ensue.language.semantics import order
from ensue.live.detections import derived
from ensue.plan.certain import certain_types
from ensue.program import Program
from ensue.reference import detect
from ensue.request import Request
from ensue.rewriting.rates import powers

Stream = Sequence[Mapping[str, Any]]
Execution = Callable[[Program, Stream, int | None, Random], "list[Detection]"]

SEQUENCE = "n"
OUTSIDE = ("type", "start", "end", SEQUENCE)
"""Columns that are no attributes."""


class NotHereError(Exception):
    """An execution that does not take such events, or such a program."""


@dataclass(frozen=True)
class Detection:
    """A derived event; `sources` are the events that it came from, if requested: see `alike`."""

    type: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    sources: tuple[int, ...] | None = None

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {value!r}" for name, value in self.attributes.items())
        came = "" if self.sources is None else f" from {list(self.sources)}"
        return f"{self.type}({values}) @ [{self.start}, {self.end}]{came}"


# --- the meaning


def attributes_of(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in OUTSIDE}


def alike(program: Program, events: Stream) -> list[int]:
    """For each position the first equal event: equal events cannot be distinguished.

    Of an undeclared type, only the attributes that rules read count.
    """
    first: dict[str, int] = {}
    known = {name: {*event.attributes, *OUTSIDE} for name, event in program.typed.events.items()}
    zeros = [
        {
            name: value + 0.0 if isinstance(value, float) else value
            for name, value in e.items()
            if name in known.get(e["type"], e)
        }
        for e in events
    ]
    return [first.setdefault(repr(sorted(e.items())), position) for position, e in enumerate(zeros)]


def reference(program: Program, events: Stream, until: int | None = None) -> list[Detection]:
    """Evaluate the definitions, in order; without sources where several equal events could be meant."""
    given = [(e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE)) for e in events]
    places = alike(program, events)
    apart = any(event.each for event in program.typed.events.values())
    return [
        Detection(
            e.type, e.start, e.end, e.attributes,
            None if apart else tuple(sorted(places[source] for source in e.sources)),
        )
        for e in detect(program.typed, given, until)
    ]  # fmt: skip


def suppressed(program: Program, events: Stream, until: int | None = None) -> dict[str, int]:
    """Count the events that rules derive and do not keep; those that keep all are left out."""
    given = [(e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE)) for e in events]
    counts: dict[int, int] = {}
    detect(program.typed, given, until, suppressed=counts)
    return {rule: count for rule, count in program.suppressed_by_name(counts).items() if count}


# --- the engine alone


def horizon_of(events: Stream, until: int | None) -> int | None:
    return until if until is not None else max((e["end"] for e in events), default=None)


def whole(times: Sequence[int], rng: Random) -> list[int]:
    """All at once."""
    return list(times[-1:])


def cut(times: Sequence[int], rng: Random) -> list[int]:
    """Draw a few times; some of them lie between events."""
    low, high = times[0], times[-1]
    some = {min(rng.choice(times) + rng.choice((-1, 0, 0, 1)), high - 1) for _ in range(rng.randint(1, 4))}
    return [*sorted(time for time in some if time >= low), high]


def step_by_step(times: Sequence[int], rng: Random) -> list[int]:
    """Each time separately."""
    return sorted(set(times))


Cut = Callable[[Sequence[int], Random], list[int]]


def small(execution: Execution) -> Execution:
    """An execution with room for almost nothing, so that structures grow and forget on the shortest streams."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        grouped = current()
        with using(replace(SMALL, family=grouped.family, unit=grouped.unit)):
            return execution(program, events, until, rng)

    return run


def taken_over(execution: Execution) -> Execution:
    """An execution in which machine code takes over from plain code after half of the events of a call."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        with using(replace(current(), seconds=0.0, pieces=2)):
            return execution(program, events, until, rng)

    return run


def few_draws(program: Program, rng: Random) -> Random:
    """One of three generators that a program has: the plans made with them are few, and made once."""
    return Random(zlib.crc32(program.file.source.text.encode()) + rng.randrange(3))


def engine(
    compiled: bool | None,
    cuts: Cut = whole,
    *,
    instant: bool = False,
    provenance: bool = False,
    mixed: bool = False,
    options: Options = ALL,
    emit: str | None = None,
) -> Execution:
    """`Run` alone: generated code as Python, or as machine code."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        horizon = horizon_of(events, until)
        if horizon is None:
            return []
        if instant and any(e["start"] != e["end"] for e in events):
            raise NotHereError
        table = _mixed(program, _in_order(events)) if mixed else None
        wanted = picked(program.typed, emit)
        drawn = few_draws(program, rng)
        rates = powers({name: drawn.choice((1, 10, 1000)) for name in program.typed.events})
        at_work = Run(
            program.typed, provenance=provenance, compiled=compiled, emit=wanted, instant=instant, options=options,
            rates=rates,
        )  # fmt: skip
        found: list[Detection] = []
        before = None
        for time in cuts([*sorted(e["end"] for e in events if e["end"] <= horizon), horizon], rng):
            new = [
                (position, e)
                for position, e in enumerate(events)
                if e["end"] <= time and (before is None or e["end"] > before)
            ]
            batch = at_work.batch()
            if table is not None:
                batch.mixed, table = table.upto(time)
            else:
                batch.rows = [
                    (e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE), position)
                    for position, e in new
                    if e["type"] in program.typed.events
                ]
            first = min((e["end"] for e in events if e["end"] <= time), default=None)
            at_work.advance(batch, time, first)
            before = time
            if provenance:
                places = alike(program, events)
                found += [
                    Detection(e.type, e.start, e.end, e.attributes, tuple(sorted(places[s] for s in e.sources)))
                    for e in derived(batch, wanted)
                ]
            else:
                found += from_tables(derived_tables(batch, program.typed, wanted, False, None))
        return found

    return run


def without_one(compiled: bool | None) -> Execution:
    """`Run` with one optimisation off, and all others on."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        options = replace(ALL, **{few_draws(program, rng).choice(fields(ALL)).name: False})
        return engine(compiled, cut, options=options)(program, events, until, rng)

    return run


def one_type_at_a_time(compiled: bool | None) -> Execution:
    """`Run` for each derived type as if it alone were requested."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        types = picked(program.typed, None)
        runs = (engine(compiled, cut, emit=type_)(program, events, until, rng) for type_ in types)
        return [found for each in runs for found in each]

    return run


def _mixed(program: Program, events: Stream) -> Any:
    if any(SEQUENCE in e for e in events):
        raise NotHereError
    table = as_table(program, events)
    found = mixed_of(table, Columns(), program.typed.events)
    numbered = mixed_of(_with_numbered_types(table), Columns(), program.typed.events)
    assert (found is None) == (numbered is None)
    if found is None or numbered is None:
        raise NotHereError
    assert np.array_equal(found.kind, numbered.kind)
    return numbered


def _with_numbered_types(table: pa.Table) -> pa.Table:
    """The same events, the types of which stand in a dictionary, another one for each half of them."""
    half = table.num_rows // 2
    types = [part.column("type").combine_chunks().dictionary_encode() for part in (table[:half], table[half:])]
    return table.set_column(0, "type", pa.chunked_array(types))


def from_tables(tables: Mapping[str, pa.Table]) -> list[Detection]:
    """Rows of tables, type by type."""
    found = []
    for name, table in tables.items():
        for row in table.to_pylist():
            start, end = row.pop("start"), row.pop("end")
            found.append(Detection(name, start, end, row))
    return found


# --- the public API


ARROW = {"int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def as_table(program: Program, events: Stream) -> pa.Table:
    """The events in one table, as their declarations have them."""
    types = {}
    for event in program.typed.events.values():
        if event.declared:
            for name, type_ in event.attributes.items():
                if types.setdefault(name, ARROW[type_]) != ARROW[type_]:
                    raise NotHereError
    if any(SEQUENCE in e for e in events):
        types[SEQUENCE] = pa.int64()
    for name in {name for e in events for name in attributes_of(e)} - set(types):
        types[name] = pa.array([e.get(name) for e in events]).type
    schema = {"type": pa.string(), "start": pa.int64(), "end": pa.int64(), **types}
    return pa.Table.from_pylist([dict(e) for e in events], pa.schema(schema))


def as_sparse_table(program: Program, events: Stream) -> pa.Table:
    """The same without the columns that have no value; of an odd number of events texts are codes of a dictionary."""
    table = as_table(program, events)
    full = [name for name in table.column_names if table.column(name).null_count < len(table) or name in OUTSIDE]
    table = table.select(full)
    if len(table) % 2:
        columns = [c.dictionary_encode() if c.type == pa.string() else c for c in table.columns]
        table = pa.table(dict(zip(full, columns, strict=True)))
    return table


def as_tables(program: Program, events: Stream) -> dict[str, pa.Table]:
    """The events in a table for each type."""
    tables = {}
    for type_ in dict.fromkeys(e["type"] for e in events):
        rows = [e for e in events if e["type"] == type_]
        event = program.typed.events.get(type_)
        schema = {"start": pa.int64(), "end": pa.int64()}
        if any(SEQUENCE in e for e in events):
            schema[SEQUENCE] = pa.int64()
        if event is None or not event.declared:
            schema |= {name: pa.array([e[name] for e in rows]).type for name in attributes_of(rows[0])}
        else:
            schema |= {name: ARROW[t] for name, t in event.attributes.items()}
        tables[type_] = pa.Table.from_pylist([dict(e) for e in rows], pa.schema(schema))
    return tables


Form = Callable[[Program, Stream], Any]


def as_dicts(program: Program, events: Stream) -> list[dict[str, Any]]:
    return [dict(e) for e in events]


def as_odd_table(program: Program, events: Stream) -> pa.Table:
    """The events in one table that must be normalised: its times have 32 bits."""
    table = as_table(program, events)
    for name in ("start", "end"):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).cast(pa.int32()))
    return table


def as_any(program: Program, events: Stream) -> Any:
    """The events in one of the forms."""
    forms = (as_dicts, as_table, as_tables, as_sparse_table, as_odd_table)
    return forms[sum(e["end"] for e in events) % len(forms)](program, events)


def _sequence(events: Stream) -> str | None:
    return SEQUENCE if any(SEQUENCE in e for e in events) else None


def program_detect(form: Form, compiled: bool | None = None, *, in_order: bool = False) -> Execution:
    """`Program.detect` on events in some form."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        given = form(program, _in_order(events) if in_order else events)
        columns = Columns(sequence=_sequence(events))
        tables, _ = program.detect_tables(given, Request(until, columns, compiled=compiled))
        return from_tables(tables)

    return run


def on_cores(compiled: bool) -> Execution:
    """`Program.detect` on a table that several threads go through."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        given, columns = as_table(program, _in_order(events)), Columns(sequence=_sequence(events))
        with using(replace(current(), thread=1, twice=rng.choice([0, 0, 1]))):
            asked = Request(until, columns, compiled=compiled, threads=rng.randint(2, 4))
            return from_tables(program.detect_tables(given, asked)[0])

    return run


def file_on_cores(compiled: bool) -> Execution:
    """`Program.detect` on a Parquet file whose row groups several threads read."""
    in_file = file_detect(compiled, threads=3)

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        with using(replace(current(), thread=1, twice=0, file=0, piece=rng.randint(1, 64))):
            return in_file(program, events, until, rng)

    return run


def file_detect(compiled: bool, threads: int = 1) -> Execution:
    """`Program.detect` on a Parquet file."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        if not events or any(SEQUENCE in event for event in events):
            raise NotHereError
        with TemporaryDirectory() as folder:
            path = f"{folder}/events.parquet"
            pq.write_table(as_table(program, _in_order(events)), path, row_group_size=rng.randint(1, 8))
            asked = Request(until, compiled=compiled, threads=threads)
            return from_tables(program.detect_tables(path, asked)[0])

    return run


def _in_order(events: Stream) -> list[Mapping[str, Any]]:
    return sorted(events, key=lambda e: e["end"])


def in_batches(compiled: bool) -> Execution:
    """`Program.detect` on Arrow batches that come one after the other."""

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        if not events or not _fits_one_table(program):
            raise NotHereError
        batches = as_table(program, _in_order(events)).to_batches(max_chunksize=rng.randint(1, 6))
        found = program.detect(iter(batches), until, sequence=_sequence(events), compiled=compiled)
        return _detections(found.read_all(), ())

    return run


EXTRA = "rule extra: extra(k) <- recent a(k, _) seq c(k, _) within 9."
"""A rule that comes and goes."""


def session(
    compiled: bool | None, form: Form | None = None, *, late: bool = False, saved: bool = False,
    provenance: bool = False, changed: bool = False, instant: bool = False,
) -> Execution:  # fmt: skip
    """A session: one event at a time, or several in some form; in order, or as late as may be.

    With `saved` it is saved and resumed now and then, with `changed` a rule is added and removed; `instant` is for
    events with one time each.
    """

    def run(program: Program, events: Stream, until: int | None, rng: Random) -> list[Detection]:
        if form in (as_any, as_table, as_sparse_table) and not _fits_one_table(program):
            raise NotHereError
        if instant:
            events = _with_one_time(events)
        lateness = rng.randint(1, 6) if late else 0
        order = _arrival(events, lateness, rng)
        first = alike(program, events)
        places = [first[position] for position in order]
        found: list[Detection] = []
        in_order = rng.random() < 0.3
        at_work = program.start(
            lateness, sequence=_sequence(events), compiled=compiled, provenance=provenance,
            time="time" if instant else None, in_order=in_order,
        )  # fmt: skip
        at = 0
        while at < len(order):
            if saved and rng.random() < 0.5:
                at_work = program.resume(at_work.save())
            if changed and rng.random() < 0.15 and {"a", "c"} <= set(program.typed.events):
                at_work.remove("extra") if "rule extra" in at_work.rules else at_work.add(EXTRA)
            size = 1 if form is None else rng.randint(1, 5)
            piece = [events[position] for position in order[at : at + size]]
            sent = dict(piece[0]) if form is None else form(program, piece)
            found += _detections(at_work.send(sent), places)
            at += size
        if saved:
            at_work = program.resume(at_work.save())
        found += _detections(at_work.close(until), places)
        found = [each for each in found if each.type != "extra"]
        return found if in_order or provenance else _in_their_order(program, found)

    return run


def _in_their_order(program: Program, found: list[Detection]) -> list[Detection]:
    """Detections of each type in the order of events: certain ones come as soon as they are found."""
    types, certain = program.typed.events, certain_types(program.typed)

    def place(each: Detection) -> Any:
        return each.end, each.start, [order(each.attributes.get(name)) for name in types[each.type].attributes]

    early = [each for each in found if each.type in certain]
    return [each for each in found if each.type not in certain] + sorted(early, key=place)


def _fits_one_table(program: Program) -> bool:
    """True if attributes of one name have one type in all derived events."""
    attributes = [item for event in program.typed.events.values() if event.derived for item in event.attributes.items()]
    return len(set(attributes)) == len(dict(attributes))


def _with_one_time(events: Stream) -> Stream:
    if any(e["start"] != e["end"] for e in events):
        raise NotHereError
    return [{"time": e["end"], **{n: v for n, v in e.items() if n not in ("start", "end")}} for e in events]


def _arrival(events: Stream, lateness: int, rng: Random) -> list[int]:
    """The positions in an order in which none comes more than the lateness behind one that ends later."""
    ends = [e["end"] if "end" in e else e["time"] for e in events]
    waiting = sorted(range(len(events)), key=ends.__getitem__)
    order = []
    while waiting:
        allowed = sum(ends[position] <= ends[waiting[0]] + lateness for position in waiting)
        order.append(waiting.pop(rng.randrange(allowed)))
    return order


def _detections(answer: Any, places: Sequence[int]) -> list[Detection]:
    """Detections in a session's answer, of any form; `places` are the positions of the events that were sent."""
    if isinstance(answer, dict):
        return from_tables(answer)
    rows = answer.to_pylist() if isinstance(answer, pa.Table) else answer
    found = []
    for row in rows:
        sources = row.pop("sources", None)
        came = None if sources is None else tuple(sorted(places[number] for number in sources))
        found.append(Detection(row.pop("type"), row.pop("start"), row.pop("end"), row, came))
    return found


# --- all of them


EXECUTIONS: dict[str, Execution] = {
    "plain": engine(False),
    "plain, cut": engine(False, cut),
    "plain, step by step": engine(False, step_by_step),
    "plain, instants": engine(False, cut, instant=True),
    "plain, not optimised": engine(False, cut, options=NONE),
    "plain, one optimisation off": without_one(False),
    "plain, one type at a time": one_type_at_a_time(False),
    "plain, one table": engine(False, cut, mixed=True),
    "plain, sources": engine(False, cut, provenance=True),
    "small": small(engine(False)),
    "small, cut": small(engine(False, cut)),
    "small, step by step, instants": small(engine(False, step_by_step, instant=True)),
    "small, one optimisation off": small(without_one(False)),
    "small, one table": small(engine(False, cut, mixed=True)),
    "small, sources": small(engine(False, cut, provenance=True)),
    "detect, rows": program_detect(as_dicts),
    "detect, table": program_detect(as_table),
    "detect, table in order": program_detect(as_table, in_order=True),
    "detect, tables by type": program_detect(as_tables),
    "detect, batches": in_batches(False),
    "detect, on cores": on_cores(False),
    "detect, file": file_detect(False),
    "detect, file on cores": file_on_cores(False),
    "session, events": session(False),
    "session, tables by type, late": session(False, as_tables, late=True),
    "session, table": session(False, as_table),
    "session, table, late, small": small(session(False, as_table, late=True)),
    "session, table, late, small, sources": small(session(False, as_table, late=True, provenance=True)),
    "session, table, late, small, changed": small(session(False, as_table, late=True, changed=True)),
    "session, sparse table, late, small, saved": small(session(False, as_sparse_table, late=True, saved=True)),
    "session, any form, late, small": small(session(False, as_any, late=True)),
    "session, any form, late, saved": session(False, as_any, late=True, saved=True),
    "session, tables by type, late, small": small(session(False, as_tables, late=True)),
    "session, saved": session(False, as_dicts, late=True, saved=True),
    "session, small, saved": small(session(False, as_dicts, late=True, saved=True)),
    "session, changed": session(False, changed=True),
    "session, changed, late": session(False, as_dicts, late=True, changed=True),
    "session, small, changed": small(session(False, changed=True)),
    "session, instants": session(False, instant=True),
    "session, sources": session(False, as_dicts, late=True, saved=True, provenance=True),
}
"""Generated code as Python."""

COMPILED: dict[str, Execution] = {
    "machine": engine(True),
    "machine, cut": engine(True, cut),
    "machine, one table": engine(True, cut, mixed=True),
    "machine, instants": engine(True, cut, instant=True),
    "machine, not optimised": engine(True, options=NONE),
    "machine, sources": engine(True, cut, provenance=True),
    "machine, small, cut": small(engine(True, cut)),
    "machine, taken over": taken_over(engine(None)),
    "detect machine, rows": program_detect(as_dicts, True),
    "detect machine, table in order": program_detect(as_table, True, in_order=True),
    "detect machine, tables by type": program_detect(as_tables, True),
    "detect machine, batches": in_batches(True),
    "detect machine, on cores": on_cores(True),
    "session machine, events": session(True),
    "session machine, sparse table, late, small": small(session(True, as_sparse_table, late=True)),
    "session machine, instants": session(True, instant=True),
    "session machine, saved": session(True, as_dicts, late=True, saved=True),
    "session machine, small, saved": small(session(True, as_dicts, late=True, saved=True)),
    "session machine, changed": session(True, changed=True),
}
"""Machine code: a tenth of a second for each program."""


# --- comparing


class DisagreementError(AssertionError):
    """An execution that found something else."""

    def __init__(self, execution: str, seed: int, said: str) -> None:
        super().__init__(f"{execution} (seed {seed}) differs from what is wanted:\n{said}")
        self.execution, self.seed, self.said = execution, seed, said


Outcome = Sequence[Detection] | type[Exception]
"""Detections of an execution, or the type of the error that ended it."""


def check(
    execution: str, program: Program, events: Stream, until: int | None = None, seed: int = 0,
    wanted: Outcome | None = None,
) -> bool:  # fmt: skip
    """True if an execution supports the program; asserts that it finds `wanted`, by default the reference's outcome."""
    if wanted is None:
        wanted = meaning(program, events, until)
    try:
        found = outcome((EXECUTIONS | COMPILED)[execution], program, events, until, Random(seed))
    except NotHereError:
        return False
    except Exception as error:
        raise DisagreementError(execution, seed, f"  {type(error).__name__}: {error}") from error
    said = difference(wanted, found)
    if said is not None:
        raise DisagreementError(execution, seed, said)
    return True


def outcome(
    execution: Execution, program: Program, events: Stream, until: int | None = None, rng: Random | None = None
) -> Outcome:
    try:
        return execution(program, events, until, rng or Random(0))
    except ensue.DetectError:
        return ensue.DetectError


def meaning(program: Program, events: Stream, until: int | None = None) -> Outcome:
    """Outcome of the reference."""
    return outcome(lambda *given: reference(*given[:3]), program, events, until)


IN_ORDER = "  the order of"
"""Beginning of a difference in the order alone."""


def difference(wanted: Outcome, found: Outcome) -> str | None:
    """Missing and additional detections, or a different order, as text; None if all is the same."""
    if isinstance(wanted, type) or isinstance(found, type):
        return None if wanted is found else f"  wanted {wanted}, found {found}"
    if any(each.sources is None for each in [*found, *wanted]):
        found, wanted = ([replace(each, sources=None) for each in side] for side in (found, wanted))
    wanted, found = _without_twins(wanted), _without_twins(found)
    missing, extra = _unmatched(wanted, found)
    if missing or extra:
        return "\n".join([f"  missing  {each}" for each in missing] + [f"  too much {each}" for each in extra])
    for type_ in dict.fromkeys(each.type for each in wanted):
        one, other = ([each for each in side if each.type == type_] for side in (wanted, found))
        if not all(map(_same, one, other)):
            return f"{IN_ORDER} {type_}: {', '.join(map(str, other))} instead of {', '.join(map(str, one))}"
    return None


def _without_twins(detections: Sequence[Detection]) -> list[Detection]:
    """Detections without those that differ from another one in the last digits of a float alone.

    Whether they are one event depends on the order in which a float was computed. If they are, it came from the sources
    of all.
    """
    kept: list[Detection] = []
    places: dict[Any, list[int]] = {}
    for each in detections:
        there = places.setdefault((each.type, each.start, each.end), [])
        twin = next((at for at in there if _are_twins(each, kept[at])), None)
        if twin is None:
            there.append(len(kept))
            kept.append(each)
        elif each.sources is not None and kept[twin].sources is not None:
            kept[twin] = replace(kept[twin], sources=tuple(sorted({*each.sources, *kept[twin].sources})))
    return kept


def _are_twins(one: Detection, other: Detection) -> bool:
    return str(one.attributes) != str(other.attributes) and _same(replace(one, sources=other.sources), other)


def _unmatched(wanted: Sequence[Detection], found: Sequence[Detection]) -> tuple[list[Detection], list[Detection]]:
    places: dict[Any, list[Detection]] = {}
    for each in found:
        places.setdefault((each.type, each.start, each.end), []).append(each)
    missing = []
    for each in wanted:
        there = places.get((each.type, each.start, each.end), [])
        same = next((k for k, other in enumerate(there) if _same(each, other)), None)
        if same is None:
            missing.append(each)
        else:
            del there[same]
    return missing, [each for rest in places.values() for each in rest]


def _same(one: Detection, other: Detection) -> bool:
    if (one.type, one.start, one.end, one.sources) != (other.type, other.start, other.end, other.sources):
        return False
    names = dict.fromkeys((*one.attributes, *other.attributes))
    return all(same_value(one.attributes.get(name), other.attributes.get(name)) for name in names)


def _same_element(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    return same_value(float(one), float(other)) if numbers else same_value(one, other)


def same_value(one: Any, other: Any) -> bool:
    """The same value: floats to a relative 1e-9, NaN is the same as itself, and 0.0 is not -0.0.

    What a list holds has no type of its own, so 1 is 1.0 there.
    """
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same_element, one, other))
    if isinstance(one, float) and isinstance(other, float):
        if one == other == 0:
            return math.copysign(1, one) == math.copysign(1, other)
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)
