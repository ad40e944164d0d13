"""Windows: at each event collected, or at each multiple of a length, the events of its group in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from ensue.engine.network.expressions import value_of
from ensue.engine.network.instances import Instance, both, changed, covering, gather, in_order, order_of, seeing
from ensue.engine.network.node import New, Node, Setting
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.language.walk import has_aggregate
from ensue.values import equality, identity

Build = Callable[[typed.Pattern, Setting], Node]


class WindowNode(Node):
    """A window beside the rest of its body.

    For each match of the rest there are groups of events. With nothing but the window in the body there is one rest, of
    nothing, and only what is in the windows is kept; else all events are, for rests that are still to come.
    """

    STATE = ("rests", "history", "beginnings")

    def __init__(
        self, window: typed.Window, head: list[typed.Expression], fixed: list[Instance] | None, setting: Setting,
        build: Build,
    ) -> None:  # fmt: skip
        self.window = window
        self.terms = [value_of(term, setting.knowledge) for term in head if not has_aggregate(term)]
        self.collected = build(window.pattern, setting)
        self.beginning = None if window.beginning is None else build(window.beginning, setting)
        self.open = fixed is None
        self.rests: list[list[Any]] = [[rest, {}] for rest in fixed or ()]
        self.history: list[Instance] = []
        self.beginnings: list[Instance] = []

    def children(self) -> Iterator[Node]:
        yield self.collected
        if self.beginning is not None:
            yield self.beginning

    def due(self) -> int | None:
        if self.window.kind != "each":
            return None
        return min((end for _, groups in self.rests for end in groups), default=None)

    def advance(self, time: int, new: New, rests: list[Instance]) -> list[Instance]:
        """What is new with events that end now, or with matches of the rest that do."""
        events = in_order(self.collected.step(time, new))
        if self.beginning is not None:
            self.beginnings.extend(self.beginning.step(time, new))
            self.beginnings.sort(key=order_of)
        found: list[Instance] = []
        if self.window.kind == "since":
            self.history.extend(events)
            for rest, _ in self.rests:
                found.extend(self._since(rest, events))
        else:
            for rest, groups in self.rests:
                found.extend(self._arrive(rest, groups, events, time))
            if self.open:
                self.history.extend(events)
        for rest in rests:
            groups = {}
            self.rests.append([rest, groups])
            if self.window.kind == "since":
                found.extend(self._since(rest, self.history))
                continue
            for end, ended in groupby(self.history, key=lambda event: event.end):
                found.extend(self._arrive(rest, groups, list(ended), min(end, time)))
            if self.window.kind == "each":
                found.extend(self._ended(rest, groups, time))
        return found

    def _arrive(self, rest: Instance, groups: dict[Any, Any], events: list[Instance], time: int) -> Iterator[Instance]:
        """Events of one step, in order."""
        window = self.window
        agreeing = [event for event in events if agree(rest, event, _known(window.shared, rest))]
        if window.kind == "each":
            for event in agreeing:
                end = (event.end // window.size + 1) * window.size
                groups.setdefault(end, {}).setdefault(self._group(rest, event), []).append(event)
            yield from self._ended(rest, groups, time)
        elif window.kind == "count":
            for event in agreeing:
                group = groups.setdefault(self._group(rest, event), [])
                group.append(event)
                if len(group) > window.size:
                    del group[0]
                yield self._found(rest, event, list(group))
        else:
            arrived = [(self._group(rest, event), event) for event in agreeing]
            for key, event in arrived:
                groups.setdefault(key, []).append(event)
            for key, event in arrived:
                since = event.end - window.size
                groups[key] = group = [m for m in groups[key] if m.start > since or m.end == event.end]
                yield self._found(rest, event, [m for m in group if m is event or m.start > since])

    def _ended(self, rest: Instance, groups: dict[Any, Any], time: int) -> Iterator[Instance]:
        size = self.window.size
        for end in sorted(end for end in groups if end <= time):
            for members in groups.pop(end).values():
                found = gather(_with_names(rest, members[-1]), self.window.id, members)
                yield covering(found, max(end - size, EARLIEST), end)

    def _since(self, rest: Instance, events: list[Instance]) -> Iterator[Instance]:
        window = self.window
        for event in events:
            latest = next(
                (
                    b for b in reversed(self.beginnings)
                    if b.end < event.start and agree(b, event, _known(window.shared, b))
                    and agree(rest, b, tuple(name for name in b.values if name in rest.values))
                ),
                None,
            )  # fmt: skip
            if latest is None:
                continue
            known = both(rest, latest)
            if not agree(known, event, window.shared):
                continue
            group = self._group(known, event)
            members = [
                m for m in self.history
                if latest.end < m.start and m.end <= event.end and agree(known, m, window.shared)
                and self._group(known, m) == group
            ]  # fmt: skip
            yield self._found(known, event, members)

    def _found(self, rest: Instance, event: Instance, members: list[Instance]) -> Instance:
        found = gather(_with_names(rest, event), self.window.id, members)
        return covering(found, min(m.start for m in members), max(m.end for m in members))

    def _group(self, rest: Instance, event: Instance) -> Any:
        """The group of an event: the head's other terms, and the variables it shares."""
        values: list[Any] = [event.values[name] for name in (*self.window.shared, *self.window.keys)]
        if self.terms:
            seen = seeing(event, rest) if rest.values or rest.labels else event
            values += [term(seen) for term in self.terms]
        return tuple(map(identity, values))


def agree(left: Instance, right: Instance, shared: tuple[str, ...]) -> bool:
    """Whether two instances have equal values for the variables they share; null equals nothing."""
    return all(
        (key := equality(left.values[name])) is not None and key == equality(right.values[name]) for name in shared
    )


def _known(names: tuple[str, ...], instance: Instance) -> tuple[str, ...]:
    return tuple(name for name in names if name in instance.values)


def _with_names(rest: Instance, event: Instance) -> Instance:
    """A match that also knows the values of one collected event, for the head's other terms."""
    return changed(rest, values={**event.values, **rest.values}, labels={**event.labels, **rest.labels})
