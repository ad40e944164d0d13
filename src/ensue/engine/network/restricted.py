"""``policy restricted``: the restriction of what each step finds, in bounded memory for each correlation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ensue.engine.network.instances import Instance, correlation, in_order
from ensue.engine.network.node import New, Node
from ensue.engine.network.scopes import ScopeNode
from ensue.values import identity


def _latest(instances: list[Instance], variables: list[str]) -> dict[Any, Instance]:
    """Of the instances with one correlation, the first of those with the latest start."""
    found: dict[Any, Instance] = {}
    for instance in instances:
        key = tuple(identity(instance.values[name]) for name in variables)
        if key not in found or instance.start > found[key].start:
            found[key] = instance
    return found


class LatestNode(Node):
    """Of the instances with one end, one with the latest start; the first in the order if there are several.

    Pairs come in the order in which they are preferred (`JoinNode`).
    """

    def __init__(self, inner: Node, variables: list[str], pairs: bool = False) -> None:
        self.inner = inner
        self.variables = variables
        self.pairs = pairs

    def children(self) -> Iterator[Node]:
        yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        found = self.inner.step(time, new)
        return list(_latest(found if self.pairs else in_order(found), self.variables).values())


class InnermostNode(Node):
    """A smallest set of instances such that each instance has one of them inside it.

    An instance that ended earlier and starts no earlier lies inside; so the latest start so far is all one must know.
    """

    STATE = ("latest",)

    def __init__(self, inner: Node, variables: list[str]) -> None:
        self.inner = inner
        self.variables = variables
        self.latest: dict[Any, int] = {}

    def children(self) -> Iterator[Node]:
        yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        kept = []
        for key, instance in _latest(self.inner.step(time, new), self.variables).items():
            if key not in self.latest or instance.start > self.latest[key]:
                self.latest[key] = instance.start
                kept.append(instance)
        return kept


class LastingNode(Node):
    """Only instances that are short enough."""

    def __init__(self, inner: Node, within: int | None, lasting: int | None) -> None:
        self.inner = inner
        self.within = within
        self.lasting = lasting

    def children(self) -> Iterator[Node]:
        yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        found = self.inner.step(time, new)
        if self.within is not None:
            found = [m for m in found if m.end - m.start <= self.within]
        if self.lasting is not None:
            found = [m for m in found if m.end - m.start == self.lasting]
        return found


class WithoutNode(Node):
    """``p without q`` in its restricted meaning: no `q` of the restricted ones inside `p`."""

    def __init__(self, inner: Node, absent: ScopeNode) -> None:
        self.inner = inner
        self.absent = absent

    def children(self) -> Iterator[Node]:
        yield self.inner
        yield self.absent

    def step(self, time: int, new: New) -> list[Instance]:
        self.absent.step(time, new)
        return [m for m in self.inner.step(time, new) if not self._has(m)]

    def _has(self, instance: Instance) -> bool:
        key = correlation(instance.values, self.absent.part.shared)
        inside = () if key is None else self.absent.store.get(key)
        return any(instance.start <= a.start and a.end <= instance.end for a in inside)
