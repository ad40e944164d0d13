"""What the network does, counted: how often a part of a rule is evaluated, and how many tuples are tried.

The nodes have no counters. Those of a run that is to be counted are wrapped, one by one; any other costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ensue.engine.network.contexts import SelectNode
from ensue.engine.network.pairs import JoinNode
from ensue.engine.network.scopes import ScopeNode
from ensue.engine.network.stratum import Stratum
from ensue.engine.network.windows import WindowNode

if TYPE_CHECKING:
    from ensue.engine.network.node import Node
    from ensue.engine.run import Run


@dataclass
class Counts:
    """`evaluations` are steps of nodes; `comparisons` are pairs that joins try, and what absences and collections see.

    What a scope evaluates anew for each match is not counted.
    """

    evaluations: int = 0
    comparisons: int = 0


class _Seen(list[Any]):
    """Instances that are counted one by one, as a scope looks at them from the newest to the oldest."""

    def __init__(self, instances: list[Any], counts: Counts) -> None:
        super().__init__(instances)
        self.counts = counts

    def __reversed__(self) -> Iterator[Any]:
        for instance in super().__reversed__():
            self.counts.comparisons += 1
            yield instance


def count(run: Run) -> Counts:
    """Has a run counted that has not begun; the counts grow as it goes on. What is compiled is not counted."""
    counts = Counts()
    for lane in run.lanes:
        if isinstance(lane, Stratum):
            for rule in lane.rules.values():
                for node in rule.body.walk():
                    _watch(node, counts)
    return counts


def _watch(node: Node, counts: Counts) -> None:
    name = "advance" if isinstance(node, WindowNode) else "step"
    setattr(node, name, _counted(getattr(node, name), counts, "evaluations"))
    match node:
        case JoinNode():
            node.related = _counted(node.related, counts, "comparisons")
        case SelectNode():
            node.eligible = _counted(node.eligible, counts, "comparisons")
        case ScopeNode():
            get = node.store.get
            node.store.get = lambda key: _Seen(get(key), counts)  # type: ignore[method-assign]


def _counted(work: Callable[..., Any], counts: Counts, what: str) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        setattr(counts, what, getattr(counts, what) + 1)
        return work(*arguments)

    return counted
