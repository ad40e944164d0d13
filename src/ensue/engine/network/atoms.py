"""Where instances begin: events of a type, moments, and periods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ensue.engine.network.instances import NONE, Event, Instance, interval
from ensue.engine.network.node import New, Node, Setting
from ensue.errors import DetectError
from ensue.language import typed
from ensue.language.limits import MOST_OCCURRENCES
from ensue.values import equality


class AtomNode(Node):
    """Events of a type whose attributes equal what the atom gives for them. It keeps nothing.

    `wanted` are tests of what is found, by joins that know what they wait for.
    """

    def __init__(self, atom: typed.Atom) -> None:
        self.event = atom.event
        self.label = atom.label
        self.constants: list[tuple[str, Any]] = []
        self.variables: dict[str, str] = {}
        self.equal: list[tuple[str, str]] = []
        self.wanted: list[Callable[[Instance], bool]] = []
        for attribute, term in atom.fields:
            if isinstance(term, typed.Constant):
                self.constants.append((attribute, equality(term.value)))
            elif term.name in self.variables:
                self.equal.append((attribute, self.variables[term.name]))
            else:
                self.variables[term.name] = attribute

    def step(self, time: int, new: New) -> list[Instance]:
        events = new.get(self.event)
        found = [match for event in events if (match := self._match(event))] if events else []
        for wanted in self.wanted:
            found = list(filter(wanted, found))
        return found

    def _match(self, event: Event) -> Instance | None:
        attributes = event.attributes
        for attribute, wanted in self.constants:
            if wanted is None or equality(attributes.get(attribute)) != wanted:
                return None
        for attribute, other in self.equal:
            key = equality(attributes.get(attribute))
            if key is None or key != equality(attributes.get(other)):
                return None
        values = {name: attributes.get(attribute) for name, attribute in self.variables.items()}
        labels = {self.label: (event.start, event.end, attributes)} if self.label is not None else NONE
        return Instance(event.start, event.end, values, labels, (event,), NONE, NONE, event.sources)


class MomentNode(Node):
    """An instant of absolute time. It occurs once, when time has reached it."""

    STATE = ("over",)

    def __init__(self, moment: typed.Moment) -> None:
        self.moment = moment
        self.over = False

    def due(self) -> int | None:
        return None if self.over else self.moment.time

    def step(self, time: int, new: New) -> list[Instance]:
        if self.over or time != self.moment.time:
            return []
        self.over = True
        return [interval(self.moment.id, self.moment.label, time, time)]


class PeriodicNode(Node):
    """Each multiple of a length, from the smallest end seen."""

    STATE = ("next",)

    def __init__(self, periodic: typed.Periodic, setting: Setting) -> None:
        self.periodic = periodic
        self.clock = setting.clock
        self.next: int | None = None

    def due(self) -> int | None:
        if self.next is None and self.clock.first_end is not None:
            period = self.periodic.period
            self.next = -(-self.clock.first_end // period) * period
        return self.next

    def step(self, time: int, new: New) -> list[Instance]:
        if self.due() != time:
            return []
        self.next = time + self.periodic.period
        return [interval(self.periodic.id, self.periodic.label, time, time)]

    def check(self, time: int) -> None:
        """Refuses to occur too often on the way to a time."""
        due = self.due()
        times = 0 if due is None else (time - due) // self.periodic.period + 1
        if times > MOST_OCCURRENCES:
            raise DetectError(
                f"A timer with a period of {self.periodic.period} occurs {times:,} times while these events last, "
                f"which is more than {MOST_OCCURRENCES:,}. Give it a longer period, or detect over a shorter time."
            )
