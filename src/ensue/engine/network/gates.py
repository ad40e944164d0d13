"""Gates in front of rules that only feed others: what comes too early for whatever these wait for is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ensue.engine.network.atoms import AtomNode
from ensue.engine.network.instances import Event, Instance, correlation
from ensue.engine.network.node import Node
from ensue.temporal.feeding import Awaited

FEW = 32
"""So many keys are not worth looking for those that are over."""


class Gate(Node):
    """Remembers for each key the first and the last end of what is awaited, of those from which there is no gap.

    An event is let through if it starts after the first and is over in reach of the last: so more may be let through
    than is of use, but nothing is kept out that is.
    """

    STATE = ("ends", "all")

    def __init__(self, awaited: Awaited) -> None:
        self.event = awaited.after.event
        self.reach = awaited.reach
        self.own = tuple(own for own, _ in awaited.keys)
        self.others = tuple(other for _, other in awaited.keys)
        self.atom = AtomNode(awaited.after)
        self.ends: dict[tuple[Any, ...], list[int]] = {}
        self.all: list[int] = []
        self.kept = FEW

    def take(self, event: Event) -> None:
        """Notes an event of the awaited type."""
        for instance in self.atom.step(event.end, {self.event: [event]}):
            key = correlation(instance.values, self.own)
            if key is not None:
                self._note(self.ends.setdefault(key, []), event.end)
                self._note(self.all, event.end)
        if len(self.ends) > self.kept:
            self._sweep(event.end)

    def _note(self, ends: list[int], end: int) -> None:
        if not ends or self._over(ends, end):
            ends[:] = [end, end]
        else:
            ends[1] = end

    def _over(self, ends: Sequence[int], time: int) -> bool:
        return self.reach is not None and time > ends[1] + self.reach

    def _sweep(self, time: int) -> None:
        self.ends = {key: ends for key, ends in self.ends.items() if not self._over(ends, time)}
        self.kept = 2 * len(self.ends) + FEW

    def lets(self, instance: Instance, variables: frozenset[str]) -> bool:
        """Whether an instance with some variables may be of use."""
        if not variables.issuperset(self.others):
            ends = self.all
        else:
            key = correlation(instance.values, self.others)
            ends = [] if key is None else self.ends.get(key, [])
        return bool(ends) and ends[0] < instance.start and not self._over(ends, instance.end)


def guard(body: Node, gates: Sequence[Gate]) -> None:
    """Puts gates in front of a rule's events: they are let through if one of them does."""
    for node in body.walk():
        if isinstance(node, AtomNode):
            node.wanted.append(_test(gates, frozenset(node.variables)))


def _test(gates: Sequence[Gate], variables: frozenset[str]) -> Callable[[Instance], bool]:
    return lambda instance: any(gate.lets(instance, variables) for gate in gates)
