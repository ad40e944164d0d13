"""What is absent from, or gathered in, a scope of a match: the instances of a pattern that lie in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ensue.engine.network.expressions import holding
from ensue.engine.network.instances import Event, Instance, correlation, in_order, seeing
from ensue.engine.network.node import New, Node, Setting
from ensue.engine.network.stores import Store
from ensue.language import typed
from ensue.language.contained import Apart as Part
from ensue.language.contained import self_contained
from ensue.temporal.lifetimes import Lifetime

Build = Callable[[typed.Pattern, Setting], Node]
"""How the node of a pattern that stands alone is built."""


class ScopeNode(Node):
    """The instances of a negated or gathered pattern, kept as long as a scope can reach back to them.

    Conditions that use names from outside the pattern are checked with each match; where more than its conditions
    depends on the outside, the pattern is evaluated anew for each match.
    """

    STATE = ("store", "events")

    def __init__(self, part: Part, reach: int | None, setting: Setting, build: Build) -> None:
        self.part = part
        self.setting = setting
        self.build = build
        self.ends_included = isinstance(part.scope, typed.Inside)
        self.store = Store(Lifetime(start=reach))
        self.events: list[Event] = []
        pattern, conditions = self_contained(part)
        self.inner = None if pattern is None else build(pattern, setting)
        self.holds = holding(conditions, setting.knowledge) if conditions else None

    def children(self) -> Iterator[Node]:
        if self.inner is not None:
            yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        """Takes in what is new; what it found is asked for with `within`."""
        if self.inner is None:
            self.events.extend(event for events in new.values() for event in events)
            return []
        for instance in self.inner.step(time, new):
            key = correlation(instance.values, self.part.shared)
            if key is not None:
                self.store.add(key, instance, time)
        return []

    def span(self, instance: Instance) -> tuple[int, int] | None:
        """Where the scope of a match lies; None for a side of an `or` that was not taken."""
        match self.part.scope:
            case typed.During(label=label):
                return seeing(instance, self.setting.outer).labels[label][:2]
            case typed.Between(pair=id_) | typed.Inside(pattern=id_):
                return instance.spans.get(id_)

    def within(self, instance: Instance, time: int) -> Iterator[Instance]:
        """What lies in the scope of a match with the values that the match has, newest end first."""
        span = self.span(instance)
        if span is None:
            return
        start, end = span
        seen = seeing(instance, self.setting.outer)
        key = correlation(seen.values, self.part.shared)
        if key is None:
            return
        for inner in reversed(self.store.get(key) if self.inner is not None else self._anew(seen, key, time)):
            if self.ends_included:
                if inner.end < start:
                    return
                inside = start <= inner.start and inner.end <= end
            else:
                if inner.end <= start:
                    return
                inside = start < inner.start and inner.end < end
            if inside and (self.holds is None or self.holds(seeing(inner, seen))):
                yield inner

    def _anew(self, seen: Instance, key: Any, time: int) -> list[Instance]:
        """The instances of the pattern as seen from one match, from all events so far."""
        clock = self.setting.clock
        node = self.build(self.part.pattern, replace(self.setting, outer=seen))
        found: list[Instance] = []
        events = sorted(self.events, key=lambda event: event.end)
        at = 0
        while True:
            ends = [due for each in node.walk() if (due := each.due()) is not None]
            if at < len(events):
                ends.append(events[at].end)
            now = min(ends, default=None)
            if now is None or now > time or (clock.now is not None and now > clock.now):
                break
            new: dict[str, list[Event]] = {}
            while at < len(events) and events[at].end == now:
                new.setdefault(events[at].type, []).append(events[at])
                at += 1
            found.extend(i for i in node.step(now, new) if correlation(i.values, self.part.shared) == key)
        return found

    def gather(self, instance: Instance, time: int) -> list[Instance]:
        return in_order(self.within(instance, time))
