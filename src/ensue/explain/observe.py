"""Observes a program on some events, in code that counts the matches of each operator.

Each rule runs by itself, so that its counts hold its own work only. The size of its state is read at the end of a step,
the less often the larger it is. Other code counts nothing; see `engine/structures/counts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ensue.data import Events
from ensue.engine.batch import columns_of
from ensue.engine.generated import GeneratedLane
from ensue.engine.knowledge import Row
from ensue.engine.options import Options
from ensue.engine.run import Run
from ensue.engine.structures.counts import STRUCTURE as COUNTS
from ensue.engine.structures.counts import Counts
from ensue.engine.structures.quiet import QuietGroups
from ensue.explain.explained import Observed
from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.describe import describe
from ensue.plan.description import Description
from ensue.rewriting.rates import Rates


def observe(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    instants: bool, rates: Rates,
) -> dict[int, dict[str, Observed]]:  # fmt: skip
    """Counts for each part of each rule, by the rule's number and the key of its description."""
    by_itself = Options(sharing=False, parts=False)
    run = Run(
        program, tables, compiled=None, emit=emit, instant=instants, options=by_itself, rates=rates, counted=True
    )  # fmt: skip
    horizon = until if until is not None else events.last_end
    if horizon is not None:
        batch = run.batch()
        given = {name: columns_of(table) for name, table in events.tables.items()}
        batch.given = {name: columns.upto(horizon)[0] for name, columns in given.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    found: dict[int, dict[str, Observed]] = {}
    for lane in run.lanes:
        for part in lane.code.together.parts:
            if part.number is not None:
                found[part.number] = dict(_observed(lane, describe(lane.code.plans[part.name], run.known), part.name))
    return found


def are_instants(events: Events) -> bool:
    """True if every event starts when it ends."""
    given = map(columns_of, events.tables.values())
    return all(np.array_equal(columns.start, columns.end) for columns in given)


def _kept_and_not(lane: GeneratedLane, owner: str, matches: int) -> Observed:
    """Counts of a rule with an output rate; equal matches count once."""
    specs = lane.code.unit.structures
    name = next(each for each, spec in specs.items() if spec.kind is QuietGroups and spec.owner == owner)
    counts, groups = lane.structures[COUNTS], lane.structures[name]
    assert isinstance(counts, Counts)
    return Observed(matches, groups.first, counts.most.get(name, 0), groups.serial)


def _observed(lane: GeneratedLane, described: Description, owner: str) -> Iterator[tuple[str, Observed]]:
    unit, counts = lane.code.unit, lane.structures[COUNTS]
    assert isinstance(counts, Counts)
    kept: dict[int, int] = {}
    for operator in unit.operators:
        most = sum(counts.most.get(name, 0) for name in operator.structures)
        kept[id(operator.built_for)] = kept.get(id(operator.built_for), 0) + most

    def handed_on(node: plan.Operator) -> int:
        operator = unit.outputs.get(id(node))
        return 0 if operator is None else counts.of(operator.name)

    for part in described.walk():
        if part.kind == "often":
            yield part.key, _kept_and_not(lane, owner, sum(map(handed_on, part.inputs)))
        elif part.output is not None:
            taken = sum(map(handed_on, part.inputs))
            if part.event is not None:
                taken = counts.of(f"{unit.outputs[id(part.output)].name}_in")
            most = sum(kept.get(id(each), 0) for each in part.operators)
            yield part.key, Observed(taken, handed_on(part.output), most)
