"""What really happens: the program on some events in the network, every part of it watched.

Nodes are watched by wrapping their steps, one by one, so that a run that is not watched costs nothing. The time of a
part is its own, without that of the parts inside it. How much it keeps is counted now and then, the less often the more
there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ensue.data import Events
from ensue.engine.batch import columns_of
from ensue.engine.knowledge import Row
from ensue.engine.network.atoms import AtomNode
from ensue.engine.network.instances import Event, Instance
from ensue.engine.network.node import New, Node
from ensue.engine.network.stores import Store
from ensue.engine.network.stratum import Stratum
from ensue.engine.network.windows import WindowNode
from ensue.engine.run import Run
from ensue.explain.explanation import Observed
from ensue.language import typed
from ensue.rewriting.rates import Rates


def observe(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    instants: bool, rates: Rates,
) -> dict[int, dict[str, Observed]]:  # fmt: skip
    """What happened in each part of each rule, by the rule's number and the part's key."""
    run = Run(program, tables, compiled=False, emit=emit, instant=instants, rates=rates)
    watch = Watch()
    found: dict[int, dict[str, Observed]] = {}
    for lane in run.lanes:
        assert isinstance(lane, Stratum)
        for number, rule in lane.rules.items():
            found[number] = watch.over(rule.body)
    horizon = until if until is not None else events.last_end
    if horizon is not None:
        batch = run.batch()
        given = {name: columns_of(table) for name, table in events.tables.items()}
        batch.given = {name: columns.upto(horizon)[0] for name, columns in given.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    for lane in run.lanes:
        assert isinstance(lane, Stratum)
        for number, rule in lane.rules.items():
            _add_rows_in(rule.body, found[number])
    return found


def _add_rows_in(root: Node, found: Mapping[str, Observed]) -> None:
    """What comes into a part is what comes out of those inside it."""
    for node in root.walk():
        if node.about is not None and not isinstance(node, AtomNode):
            inner = [found[child.about].rows_out for child in _nearest(node) if child.about is not None]
            found[node.about].rows_in = sum(inner)


def are_instants(events: Events) -> bool:
    """Whether every event has one time."""
    given = map(columns_of, events.tables.values())
    return all(np.array_equal(columns.start, columns.end) for columns in given)


class Watch:
    """Watches nodes: which of them is at work, and since when."""

    def __init__(self) -> None:
        self.inside: list[float] = []
        """For each node at work the time spent in nodes inside it."""

    def over(self, root: Node) -> dict[str, Observed]:
        """Has all nodes watched; what is seen of them is filled in as they work."""
        found: dict[str, Observed] = {}
        for node in root.walk():
            if node.about is not None:
                self._watch(node, found.setdefault(node.about, Observed()))
        return found

    def _watch(self, node: Node, seen: Observed) -> None:
        name = "advance" if isinstance(node, WindowNode) else "step"
        work: Callable[..., list[Instance]] = getattr(node, name)
        wait = 0

        def watched(time: int, new: New, *more: Any) -> list[Instance]:
            nonlocal wait
            began = perf_counter()
            self.inside.append(0.0)
            try:
                made = work(time, new, *more)
            finally:
                spent = perf_counter() - began
                seen.seconds += spent - self.inside.pop()
                if self.inside:
                    self.inside[-1] += spent
            seen.rows_out += len(made)
            if isinstance(node, AtomNode):
                seen.rows_in += len(new.get(node.event, ()))
            wait -= 1
            if wait <= 0:
                count = kept_by(node)
                seen.most_kept = max(seen.most_kept, count)
                wait = count // 16
            return made

        setattr(node, name, watched)


def _nearest(node: Node) -> list[Node]:
    """The nodes inside one that are parts of the plan, those inside these aside."""
    found = []
    for child in node.children():
        found += [child] if child.about is not None else _nearest(child)
    return found


def kept_by(node: Node) -> int:
    """How many instances and events a node keeps."""
    return sum(_count(getattr(node, name)) for name in node.STATE)


def _count(value: Any) -> int:
    match value:
        case Instance() | Event():
            return 1
        case Store():
            return sum(map(len, value.by_value.values()))
        case dict():
            return sum(1 if isinstance(each, int) else _count(each) for each in value.values())
        case list() | tuple():
            return sum(map(_count, value))
        case _:
            return 0
