"""How long what is stored can still take part in a match, from the closure of the distances of a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ensue.engine.network.instances import Instance
from ensue.language import typed
from ensue.language.walk import pairs, visible_labels
from ensue.temporal.constraints import BODY, constrain, parts
from ensue.temporal.distances import Distances, Point

Events = Mapping[str, typed.EventType]


@dataclass(frozen=True)
class Lifetime:
    """The largest distance from an instance's start, and from its end, to the end of what it is part of."""

    start: int | None = None
    end: int | None = None

    @property
    def bounded(self) -> bool:
        return self.start is not None or self.end is not None

    def over(self, instance: Instance, time: int) -> bool:
        return (self.start is not None and time > instance.start + self.start) or (
            self.end is not None and time > instance.end + self.end
        )


FOREVER = Lifetime()


def distances_of(body: typed.Body, pair: typed.Pair, events: Events) -> Distances:
    """What must hold of the two sides of a pairing.

    Where the body has contexts only what this pairing determines counts, as in deciding who is eligible: an initiator
    that the rest of the body rules out is selected all the same.
    """
    if body.pattern is None or all(p.left_context is None for p in pairs(body.pattern)):
        return constrain(body, events)
    labels = visible_labels(pair)
    timers = []
    for timer in body.timers:
        if timer.of in labels:
            timers.append(timer)
            labels = labels | ({timer.label} if timer.label is not None else set())
    related = tuple(r for r in body.related if r.left in labels and r.right in labels)
    within = [length for length in (body.within, body.lasting) if length is not None]
    local = replace(typed.Body(pair), timers=tuple(timers), related=related, within=min(within, default=None))
    return constrain(local, events)


def lifetime(distances: Distances, of: int, until: typed.Pattern) -> Lifetime:
    """How long an instance of one pattern can be part of another one that ends now or later."""
    ends = [(until.id, True), *((id_, True) for id_ in parts(typed.Body(until)))]
    return Lifetime(_latest(distances, (of, False), ends), _latest(distances, (of, True), ends))


def since(body: typed.Body, point: Point, events: Events) -> int | None:
    """The largest distance from a point in a body to the body's end."""
    return _latest(constrain(body, events), point, [(BODY, True), *((id_, True) for id_ in parts(body))])


def _latest(distances: Distances, point: Point, ends: Sequence[Point]) -> int | None:
    """The largest distance to the first end, which is the last of the others."""
    whole, *each = ends
    bounds = [distances.longest(point, end) for end in each]
    own = distances.longest(point, whole)
    latest = None if not bounds or None in bounds else max(bound for bound in bounds if bound is not None)
    return min((bound for bound in (own, latest) if bound is not None), default=None)


class Store:
    """Instances by their correlation, oldest end first; those that are over go when there are as many as live ones."""

    def __init__(self, over: Callable[[Instance, int], bool] | None) -> None:
        self.by_value: dict[tuple[object, ...], list[Instance]] = {}
        self.over = over
        self.added = 0
        self.kept = 0

    def add(self, key: tuple[object, ...], instance: Instance, time: int) -> None:
        self.by_value.setdefault(key, []).append(instance)
        self.added += 1
        if self.over is not None and self.added > self.kept + 32:
            self.sweep(time)

    def sweep(self, time: int) -> None:
        over = self.over
        if over is not None:
            swept = {}
            for key, instances in self.by_value.items():
                live = [instance for instance in instances if not over(instance, time)]
                if live:
                    swept[key] = live
            self.by_value = swept
        self.kept = sum(map(len, self.by_value.values()))
        self.added = 0

    def get(self, key: tuple[object, ...]) -> list[Instance]:
        return self.by_value.get(key, [])
