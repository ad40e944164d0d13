"""Run one rule alone, on all events that it can see, those that other rules derive among them.

Its events get a type of their own, to distinguish them from events that other rules of the same type derive. Since it
reads all derived events, it finds its whole contribution: recursion included, as the final set of events is the one
that rules derive from themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ensue.data import Events
from ensue.engine.batch import columns_of
from ensue.engine.capacity import current
from ensue.engine.derived_tables import derived_tables
from ensue.engine.knowledge import Row
from ensue.engine.run import Run
from ensue.language import typed
from ensue.records import dataclass
from ensue.rewriting.rates import rates_of
from ensue.temporal.instants import with_instants

Clock = Callable[[], float]


@dataclass(frozen=True)
class Alone:
    """The events that a rule derived, and how long it took, in seconds; compiling aside."""

    found: pa.Table
    seconds: float


@dataclass(frozen=True)
class Material:
    """The material of rules: given events, derived ones by type, the end of time, rows of static tables."""

    program: typed.Program
    events: Events
    derived: Mapping[str, pa.Table]
    until: int | None
    rows: Mapping[str, Sequence[Row]]

    @property
    def horizon(self) -> int | None:
        return self.until if self.until is not None else self.events.last_end


def alone(material: Material, number: int, clock: Clock) -> Alone:
    """A rule of a program, by its number, run alone."""
    program = _program_of(material, number)
    name = program.rules[0].event
    tables = {each: _table(material, each) for each in _types(program)}
    given = {each: columns_of(table) for each, table in tables.items() if table is not None}
    counts = {each: len(columns) for each, columns in given.items()}
    rates, events, horizon = rates_of(program, counts), material.events, material.horizon
    if sum(counts.values()) > current().events:  # it is compiled before its time is taken
        warm = Run(program, material.rows, compiled=True, emit=[name], rates=rates)
        warm.advance(warm.batch(), 0)
    run = Run(program, material.rows, compiled=None, emit=[name], rates=rates)
    batch = run.batch()
    begun = clock()
    if horizon is not None:
        batch.given = {each: columns.upto(horizon)[0] for each, columns in given.items()}
        first = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first)
    seconds = clock() - begun
    found = derived_tables(batch, program, [name], events.timestamps, events.timezone)[name]
    return Alone(found, seconds)


def _types(program: typed.Program) -> list[str]:
    return [name for name, event in program.events.items() if not event.derived]


def _program_of(material: Material, number: int) -> typed.Program:
    """The program of one rule, for which all types are given but its own."""
    known = with_instants(material.program) if _are_instants(material.events) else material.program
    rule = material.program.rules[number]
    own = _unused(rule.event, known.events)
    when = "timestamp" if material.events.timestamps else "int"
    events = {
        name: replace(event, declared=True, derived=False, attributes=_stored(event, when)) if event.derived else event
        for name, event in known.events.items()
    }
    head = replace(known.events[rule.event], name=own, declared=False, derived=True)
    return replace(
        known, events={**events, own: head}, rules=(replace(rule, event=own),),
        strata=(typed.Stratum(((0,),), recursive=False),), tests=(), reactions=(),
    )  # fmt: skip


def _stored(event: typed.EventType, when: str) -> dict[str, str]:
    """The types of attributes as given events have them."""
    return {name: when if type_ == "time" else type_ for name, type_ in event.attributes.items()}


def _unused(event: str, events: Mapping[str, typed.EventType]) -> str:
    """A name that no type has."""
    name = f"{event}_alone"
    while name in events:
        name += "_"
    return name


def _are_instants(events: Events) -> bool:
    return all(np.array_equal(c.start, c.end) for c in map(columns_of, events.tables.values()))


def _table(material: Material, name: str) -> pa.Table | None:
    """The events of a type, given and derived, as given events come."""
    given, derived = material.events.tables.get(name), material.derived.get(name)
    if derived is None or not derived.num_rows:
        return given
    columns = [derived.column(0).cast(pa.int64()), derived.column(1).cast(pa.int64())]
    rows = pa.chunked_array([pa.array(np.arange(derived.num_rows))])
    names = ["start", "end", "row", *derived.column_names[2:]]
    table = pa.Table.from_arrays([*columns, rows, *derived.columns[2:]], names=names)
    if given is None:
        return table
    first = given.column_names.index("row")
    if first > 2:  # a sequence, which derived events have none of
        table = table.add_column(2, given.schema.field(2), pa.nulls(table.num_rows, given.schema.field(2).type))
    return pa.concat_tables([given.cast(given.schema), table.select(given.column_names).cast(given.schema)])
