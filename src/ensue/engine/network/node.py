"""What every node of the network has in common: it is stepped, it keeps a state, it may be due at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ensue.engine.clock import Clock
from ensue.engine.network.instances import NOTHING, Event, Instance
from ensue.engine.network.stores import Store
from ensue.engine.options import ALL, Options
from ensue.language import typed

if TYPE_CHECKING:
    from ensue.engine.knowledge import Knowledge
    from ensue.temporal.feeding import Awaited

New = Mapping[str, list[Event]]
"""Events that are new in a step, by type."""


@dataclass(frozen=True)
class Setting:
    """What nodes are built for: a program's types and static knowledge, and what is known outside the pattern."""

    knowledge: Knowledge
    events: Mapping[str, typed.EventType]
    clock: Clock
    outer: Instance = field(default=NOTHING)
    options: Options = ALL
    awaited: Mapping[int, tuple[Awaited, ...]] = field(default_factory=dict)
    """The rules, by number, that need not run before something has come."""


class Node:
    """A part of a rule that finds instances, step by step.

    In a step all events have the same end. `step` is called with those that are new since the last call, and gives the
    instances that end now and were not given before.
    """

    STATE: tuple[str, ...] = ()
    """The attributes that hold its state: stores, or containers of plain values, instances and events."""

    about: str | None = None
    """The part of the rule's plan that it is."""

    def children(self) -> Iterator[Node]:
        return iter(())

    def step(self, time: int, new: New) -> list[Instance]:
        raise NotImplementedError

    def due(self) -> int | None:
        """The next time at which it must be stepped even if no event arrives."""
        return None

    def keeps(self) -> bool:
        """Whether it keeps something that may still be matched."""
        return any(map(bool, (getattr(self, name) for name in self.STATE)))

    def walk(self) -> Iterator[Node]:
        """This node and all below it, always in the same order."""
        yield self
        for child in self.children():
            yield from child.walk()


def saved(root: Node) -> list[list[Any]]:
    return [[_content(getattr(node, name)) for name in node.STATE] for node in root.walk()]


def _content(value: Any) -> Any:
    return value.by_value if isinstance(value, Store) else value


def restore(root: Node, state: list[list[Any]]) -> None:
    for node, values in zip(root.walk(), state, strict=True):
        for name, value in zip(node.STATE, values, strict=True):
            held = getattr(node, name)
            if isinstance(held, Store):
                held.by_value = value
            else:
                setattr(node, name, value)
