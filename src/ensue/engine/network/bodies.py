"""Bodies: a pattern with static rows and timers, then what must hold of each match, one kind of condition at a time.

A match waits until its timers have ended; all conditions are checked then, when everything that ends no later is known.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from ensue.engine.network.alternatives import Distinct
from ensue.engine.network.expressions import holding, value_of
from ensue.engine.network.instances import (
    NOTHING,
    TIMER_RANK,
    Instance,
    Mark,
    both,
    changed,
    gather,
    interval,
    seeing,
)  # fmt: skip
from ensue.engine.network.node import New, Node, Setting
from ensue.engine.network.pairs import relating
from ensue.engine.network.scopes import ScopeNode
from ensue.engine.network.windows import WindowNode
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.language.walk import has_alternatives, names_used
from ensue.values import order


class Conditions:
    """What a match of a body must satisfy in itself: relations between names, its length, ``on`` and ``where``."""

    def __init__(self, body: typed.Body, setting: Setting) -> None:
        self.body = body
        self.outer = setting.outer
        self.related = [(r.left, relating(r.relation), r.right) for r in body.related]
        self.on = [(value_of(c, setting.knowledge), tuple(names_used(c))) for c in body.on]
        self.where = holding(body.where, setting.knowledge) if body.where else None

    def in_relation(self, instance: Instance) -> bool:
        if not self.related:
            return True
        labels = seeing(instance, self.outer).labels
        for left, related, right in self.related:
            if left in labels and right in labels:
                one, other = labels[left], labels[right]
                if not related(one[0], one[1], other[0], other[1]):
                    return False
        return True

    def lasts(self, instance: Instance) -> bool:
        body, length = self.body, instance.end - instance.start
        return (body.within is None or length <= body.within) and (body.lasting is None or length == body.lasting)

    def hold(self, instance: Instance) -> bool:
        """``on`` and ``where``; what of ``on`` uses a cumulative constituent was decided when it was paired."""
        if not self.on and self.where is None:
            return True
        seen = seeing(instance, self.outer)
        if self.on:
            gathered = {n for members in instance.gathered.values() for m in members for n in (*m.values, *m.labels)}
            for value, names in self.on:
                if any(n in gathered and not instance.knows(n) for n in names):
                    continue
                if value(seen) is not True:
                    return False
        return self.where is None or self.where(seen)

    def eligible(self, pair: typed.Pair) -> Callable[[Instance, Instance], bool]:
        """Whether every temporal condition and every conjunct of ``on`` that a pairing determines allows it."""
        body, related, outer = self.body, relating(pair.relation), self.outer
        bounded = body.within is not None or body.lasting is not None
        plain = not bounded and not body.timers and not self.related and not self.on

        def eligible(one: Instance, other: Instance) -> bool:
            if not related(one.start, one.end, other.start, other.end):
                return False
            if plain:
                return True
            found = both(one, other)
            for timer in body.timers:
                if timer.of in found.labels:
                    found = both(found, timer_of(timer, found))
            length = found.end - found.start
            if body.within is not None and length > body.within:
                return False
            if body.lasting is not None and (
                length > body.lasting or (pair is body.pattern and length != body.lasting)
            ):
                return False
            if not self.in_relation(found):
                return False
            seen = seeing(found, outer)
            return all(
                value(seen) is True for value, names in self.on if all(found.knows(n) or outer.knows(n) for n in names)
            )

        return eligible


def timer_of(timer: typed.Timer, instance: Instance) -> Instance:
    """A relative timer, for the event that it refers to."""
    start, end, _ = instance.labels[timer.of]
    return interval(
        timer.id, timer.label, max(start + timer.start_shift, EARLIEST), max(end + timer.end_shift, EARLIEST)
    )


class BodyNode(Node):
    """A body that is not restricted. What waits for a timer is kept by the time at which it is due."""

    STATE = ("pending", "pushed")

    def __init__(
        self, body: typed.Body, pattern: Node | None, conditions: Conditions, absences: list[ScopeNode],
        gatherings: list[ScopeNode], window: WindowNode | None, setting: Setting,
    ) -> None:  # fmt: skip
        self.body = body
        self.setting = setting
        self.pattern = pattern
        self.conditions = conditions
        self.absences = absences
        self.gatherings = gatherings
        self.window = window
        self.distinct = Distinct(typed.Nested(0, body), False) if has_alternatives(body.pattern) else None
        self.pending: list[list[Any]] = []
        self.pushed = 0

    def children(self) -> Iterator[Node]:
        if self.pattern is not None:
            yield self.pattern
        yield from self.absences
        yield from self.gatherings
        if self.window is not None:
            yield self.window

    def keeps(self) -> bool:
        return bool(self.pending)

    def due(self) -> int | None:
        return self.pending[0][0] if self.pending else None

    def step(self, time: int, new: New) -> list[Instance]:
        for scope in self.absences:
            scope.step(time, new)
        for scope in self.gatherings:
            scope.step(time, new)
        found = [] if self.pattern is None else self.pattern.step(time, new)
        for lookup in self.body.lookups:
            found = [joined for match in found for joined in look_up(lookup, match, self.setting)]
        if self.body.timers:
            found = self._set_timers(found, time)
        if self.window is not None:
            found = self.window.advance(time, new, found)
        if not found:
            return found
        conditions = self.conditions
        found = [m for m in found if conditions.lasts(m) and conditions.in_relation(m)]
        for scope in self.gatherings:
            found = [full for match in found if (full := self._gather(scope, match, time)) is not None]
        for scope in self.absences:
            found = [m for m in found if next(scope.within(m, time), None) is None]
        found = [m for m in found if conditions.hold(m)]
        return self.distinct.new(time, found) if self.distinct is not None else found

    def _set_timers(self, found: list[Instance], time: int) -> list[Instance]:
        """Matches whose timers have ended now."""
        ready = []
        for match in found:
            for timer in self.body.timers:
                match = both(match, timer_of(timer, match))
            if match.end <= time:
                ready.append(match)
            else:
                self.pushed += 1
                heapq.heappush(self.pending, [match.end, self.pushed, match])
        while self.pending and self.pending[0][0] <= time:
            ready.append(heapq.heappop(self.pending)[2])
        return ready

    def _gather(self, scope: ScopeNode, match: Instance, time: int) -> Instance | None:
        gathering = scope.part
        assert isinstance(gathering, typed.Gathering)
        if scope.span(match) is None:
            return match
        members = scope.gather(match, time)
        if len(members) < gathering.low or (gathering.high is not None and len(members) > gathering.high):
            return None
        return gather(match, gathering.id, members)


class RestrictedNode(Node):
    """The restricted meaning of a body: its pattern's, filtered by its length and ``where``."""

    def __init__(self, pattern: Node, conditions: Conditions) -> None:
        self.pattern = pattern
        self.conditions = conditions

    def children(self) -> Iterator[Node]:
        yield self.pattern

    def step(self, time: int, new: New) -> list[Instance]:
        conditions = self.conditions
        found = self.pattern.step(time, new)
        return [m for m in found if conditions.lasts(m) and conditions.hold(m)]


def look_up(lookup: typed.Lookup, match: Instance, setting: Setting) -> Iterator[Instance]:
    for values in setting.knowledge.bindings(lookup.predicate, lookup.arguments, match.values):
        row = tuple(order(values[t.name]) for t in lookup.arguments if isinstance(t, typed.Variable))
        mark = Mark((0, 0, (0,), TIMER_RANK + 1, row), ("row", lookup.predicate, row))
        yield changed(match, values=values, parts=(*match.parts, mark))


def rests(body: typed.Body, setting: Setting) -> list[Instance]:
    """The matches of a body's rest where there is no pattern beside the window: of nothing, joined with static rows."""
    found = [NOTHING]
    for lookup in body.lookups:
        found = [joined for match in found for joined in look_up(lookup, match, setting)]
    return found
