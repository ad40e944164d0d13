"""A repetition that stands alone: each instance with those before it in its group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ensue.engine.network.instances import Instance, in_order, together
from ensue.engine.network.node import New, Node
from ensue.language import typed
from ensue.values import identity


class RunNode(Node):
    """``p{n}``: each `p` together with the ``n - 1`` before it. Of each group the last `n` are kept."""

    STATE = ("groups",)

    def __init__(self, run: typed.Run, inner: Node) -> None:
        self.run = run
        self.inner = inner
        self.groups: dict[Any, list[Instance]] = {}

    def children(self) -> Iterator[Node]:
        yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        run, found = self.run, []
        for instance in in_order(self.inner.step(time, new)):
            group = self.groups.setdefault(tuple(identity(instance.values[name]) for name in run.keys), [])
            group.append(instance)
            if len(group) > run.count:
                del group[0]
            if len(group) == run.count:
                found.append(together(list(group), run.id, run.keys))
        return found
