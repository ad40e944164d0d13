"""Rules that are evaluated together, step by step: one step for each end time.

In a step, layer after layer derives what ends now until nothing new follows. What a layer derives for rules of an
earlier one cannot matter there before a later step; it is taken in when all layers are done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ensue.engine.batch import Batch
from ensue.engine.network.atoms import PeriodicNode
from ensue.engine.network.build import build_body
from ensue.engine.network.expressions import value_of
from ensue.engine.network.gates import Gate, guard
from ensue.engine.network.instances import Event, Instance
from ensue.engine.network.node import Clock, Node, Setting, restore, saved
from ensue.errors import DetectError
from ensue.language import typed
from ensue.language.limits import MOST_TURNS
from ensue.language.walk import atoms
from ensue.temporal.lifetimes import Frame
from ensue.values import SAME, held, identity

Place = tuple[int, tuple[str, ...] | None]


class RuleNode:
    """A rule: its body's node, and how its head is made of a match."""

    def __init__(self, rule: typed.Rule, setting: Setting, place: Place) -> None:
        self.rule = rule
        self.place = place
        self.body = build_body(Frame.of(rule.body), setting, [term for _, term in rule.head])
        self.uses = frozenset(atom.event for atom in atoms(rule.body))
        types = setting.events[rule.event].attributes
        self.head = [(name, value_of(term, setting.knowledge), types[name]) for name, term in rule.head]
        self.timed = [node for node in self.body.walk() if type(node).due is not Node.due]
        self.inbox: dict[str, list[Event]] = {}

    def due(self) -> int | None:
        return min((due for node in self.timed if (due := node.due()) is not None), default=None)

    def event(self, match: Instance) -> Event:
        attributes: dict[str, Any] = {}
        for name, value, type_ in self.head:
            found = value(match)
            attributes[name] = found if type_ in SAME else held(found, type_)
        start = match.start if self.rule.beginning is None else match.labels[self.rule.beginning][0]
        same = (self.rule.event, start, match.end, tuple(map(identity, attributes.values())))
        return Event(self.rule.event, attributes, start, match.end, self.place, same)


class Stratum:
    """A stratum of the program as a network of nodes, with its state."""

    def __init__(
        self, program: typed.Program, stratum: typed.Stratum, setting: Setting, places: dict[str, Place],
        provenance: bool = False,
    ) -> None:  # fmt: skip
        self.clock: Clock = setting.clock
        self.rules = {
            i: RuleNode(program.rules[i], setting, places[program.rules[i].event])
            for layer in stratum.layers
            for i in layer
        }
        self.layers = [[self.rules[i] for i in layer] for layer in stratum.layers]
        self.gates: list[Gate] = []
        for i, rule in self.rules.items():
            if gates := [Gate(awaited) for awaited in setting.awaited.get(i, ())]:
                guard(rule.body, gates)
                self.gates += gates
        self.uses = frozenset(type_ for rule in self.rules.values() for type_ in rule.uses)
        self.uses |= {gate.event for gate in self.gates}
        self.derives = frozenset(rule.rule.event for rule in self.rules.values())
        self.recursive = stratum.recursive
        self.timed = [rule for rule in self.rules.values() if rule.timed]
        self.periodic = [node for rule in self.timed for node in rule.timed if isinstance(node, PeriodicNode)]
        self.provenance = provenance

    def due(self) -> int | None:
        """The next time at which something ends by itself."""
        return min((due for rule in self.timed if (due := rule.due()) is not None), default=None)

    def run(self, batch: Batch, time: int) -> None:
        """Takes in what is new up to a time, and adds what follows from it to the batch."""
        batch.add(self.advance(batch.events(self.uses), time))

    def advance(self, events: list[Event], time: int) -> list[Event]:
        """What is derived up to a time, from events in the order of their ends that are new since the last one."""
        for node in self.periodic:
            node.check(time)
        derived: list[Event] = []
        at, count = 0, len(events)
        while True:
            due = self.due()
            now = events[at].end if at < count else None
            if due is not None and (now is None or due < now):
                now = due
            if now is None or now > time:
                return derived
            arrived = at
            while at < count and events[at].end == now:
                at += 1
            derived.extend(self._step(now, events[arrived:at], due == now))

    def _step(self, time: int, events: Iterable[Event], due: bool) -> Iterable[Event]:
        for event in events:
            self._hand_over(event)
            for gate in self.gates:
                if gate.event == event.type:
                    gate.take(event)
        found: dict[Any, Event] = {}
        origins: dict[Any, set[Any]] = {}
        for layer in self.layers:
            self._settle(layer, time, due, found, origins)
        if self.recursive:
            for rule in self.rules.values():
                if rule.inbox:
                    self._apply(rule, time, found, origins)
        if self.provenance:
            _resolve(found, origins)
        return sorted(found.values(), key=lambda event: event.key) if len(found) > 1 else found.values()

    def _hand_over(self, event: Event) -> None:
        for rule in self.rules.values():
            if event.type in rule.uses:
                rule.inbox.setdefault(event.type, []).append(event)

    def _settle(
        self, layer: list[RuleNode], time: int, due: bool, found: dict[Any, Event], origins: dict[Any, set[Any]]
    ) -> None:
        waiting = [rule for rule in layer if rule.inbox or (due and rule.timed)]
        turns = 0
        while waiting:
            before = len(found)
            for rule in waiting:
                self._apply(rule, time, found, origins)
            if not self.recursive:
                return
            turns += len(found) > before
            if turns >= MOST_TURNS:
                types = ", ".join(sorted({rule.rule.event for rule in layer}))
                raise DetectError(
                    f"The rules for {types} derive event after event at time {time} and do not come to an end. "
                    "Let each turn need a later event, or bound it with a condition."
                )
            waiting = [rule for rule in layer if rule.inbox]

    def _apply(self, rule: RuleNode, time: int, found: dict[Any, Event], origins: dict[Any, set[Any]]) -> None:
        new, rule.inbox = rule.inbox, {}
        for match in rule.body.step(time, new):
            event = rule.event(match)
            known = found.get(event.identity)
            if known is None:
                found[event.identity] = event
                if self.provenance:
                    event.sources = frozenset((event,))
                    origins[event.identity] = set(match.sources)
                if self.recursive:
                    self._hand_over(event)
            elif self.provenance:
                origins[event.identity] |= match.sources

    # --- state

    def saved(self) -> list[Any]:
        return [saved(root) for root in self._roots()]

    def restore(self, state: list[Any]) -> None:
        for root, kept in zip(self._roots(), state, strict=True):
            restore(root, kept)

    def _roots(self) -> list[Node]:
        return [*(rule.body for rule in self.rules.values()), *self.gates]


def _resolve(found: dict[Any, Event], origins: dict[Any, set[Any]]) -> None:
    """The inputs that the events of a step came from, through each other if need be."""
    inputs = {key: {s for s in sources if not isinstance(s, Event)} for key, sources in origins.items()}
    links: dict[Any, set[Any]] = {}
    for key, sources in origins.items():
        for source in sources:
            if isinstance(source, Event):
                if found.get(source.identity) is source:
                    links.setdefault(key, set()).add(source.identity)
                else:
                    inputs[key] |= source.sources
    growing = bool(links)
    while growing:
        growing = False
        for key, others in links.items():
            before = len(inputs[key])
            for other in others:
                inputs[key] |= inputs[other]
            growing = growing or len(inputs[key]) > before
    for key, event in found.items():
        event.sources = frozenset(inputs[key])
