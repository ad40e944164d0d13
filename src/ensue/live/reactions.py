"""Calls for events: reactions of the rules, and functions that are called with detections.

A call may fail. Then the failure is noted, and detection goes on.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ensue.data import DataError
from ensue.data.errors import did_you_mean, listed, shortened
from ensue.engine.evaluate import evaluate, match_atom
from ensue.engine.event import Event
from ensue.engine.knowledge import Knowledge, Row
from ensue.language import typed
from ensue.language.about import RuleInfo, rules_by_event
from ensue.live.detections import Shown
from ensue.records import dataclass

log = logging.getLogger("ensue")

Action = Callable[..., object]
Call = Callable[[], object]
Callbacks = Mapping[str, Sequence[Action]]
"""Functions that are called with the detections of a type."""


class ActionError(Exception):
    """A function that failed: its name, the event or row that it was called with, and the exception (`error`)."""

    def __init__(self, name: str, event: Any, error: Exception) -> None:
        super().__init__(f"{name} failed for {event!r}: {type(error).__name__}: {error}")
        self.name = name
        self.event = event
        self.error = error


@dataclass(frozen=True)
class ToDo:
    """A function to call, and one that gives the event it is called for, should it fail.

    `kept` is its part of a saved state: the kind of the call, the event, the number of the function among those for its
    type, and further arguments. None for calls that are not saved, such as notices of late events.
    """

    name: str
    event: Call
    call: Call
    kept: tuple[str, Event, int, str] | None = None


class Calls:
    """Functions to be called one after the other, also where one of them leads to more; and which of them failed.

    A call that is interrupted has been done; those behind it wait until calls are next run.
    """

    def __init__(self, most: int = 1000) -> None:
        self.failures: deque[ActionError] = deque(maxlen=most)
        self.failed = 0
        self.waiting: deque[ToDo] = deque()
        self._calling = False

    def add(self, name: str, event: Call, call: Call, kept: tuple[str, Event, int, str] | None = None) -> None:
        self.waiting.append(ToDo(name, event, call, kept))

    def run(self) -> None:
        """Runs all waiting calls. A call that is added meanwhile runs after those that were there before."""
        if self._calling:
            return
        self._calling = True
        try:
            while self.waiting:
                todo = self.waiting.popleft()
                try:
                    todo.call()
                except Exception as error:
                    failure = ActionError(todo.name, todo.event(), error)
                    self.failed += 1
                    self.failures.append(failure)
                    log.error("%s", failure, exc_info=error)
        finally:
            self._calling = False


# --- reactions --------------------------------------------------------------------------------------------------------


def check_actions(reactions: Sequence[typed.Reaction], actions: Mapping[str, Action] | None, exactly: bool) -> None:
    """The actions that rules name must be given, and take as many arguments; `exactly` these, if no others may be."""
    if actions is None:
        return
    if not isinstance(actions, Mapping):
        raise DataError(f"`actions` is {shortened(actions)}; pass a dict of functions by name.")
    named = {reaction.action for reaction in reactions}
    for reaction in reactions:
        name = reaction.action
        if name not in actions:
            raise DataError(
                f"The rules do {name!r}, and no action of that name is given; given are {listed(actions)}."
                f"{did_you_mean(name, actions)}"
            )
        if not callable(actions[name]):
            raise DataError(f"The action {name!r} is a {type(actions[name]).__name__}, not a function.")
        if not _takes(actions[name], len(reaction.arguments)):
            count = len(reaction.arguments)
            raise DataError(
                f"The rules do {name!r} with {count} argument{'s' if count != 1 else ''}, which the function given for "
                "it does not take."
            )
    for name in actions if exactly else ():
        if name not in named:
            raise DataError(f"No rule does {name!r}; what the rules do: {listed(named)}.{did_you_mean(name, named)}")


@dataclass(frozen=True)
class _Reaction:
    """A reaction with the function that it calls."""

    reaction: typed.Reaction
    knowledge: Knowledge
    shows: Sequence[Callable[[Any], Any] | None]
    action: Action
    keyed: bool
    rules: Mapping[str, tuple[RuleInfo, ...]] | None
    """The rules for each event, if the function takes them."""

    @property
    def name(self) -> str:
        return self.reaction.action

    def react(self, event: Event, key: str) -> None:
        match, condition, held = match_atom(self.reaction.atom, event), self.reaction.condition, self.knowledge.held
        if match is None or not (condition is None or evaluate(condition, match, held) is True):
            return
        found = [evaluate(term, match, held) for term in self.reaction.arguments]
        shown = zip(found, self.shows, strict=True)
        values = [value if value is None or show is None else show(value) for value, show in shown]
        named: dict[str, Any] = {"key": key} if self.keyed else {}
        if self.rules is not None:
            named["rules"] = self.rules.get(event.type, ())
        self.action(*values, **named)


class Reactions:
    """The reactions of a program, by the type of the event that they are to."""

    def __init__(
        self, program: typed.Program, actions: Mapping[str, Action] | None, tables: Mapping[str, Sequence[Row]],
        shown: Shown,
    ) -> None:  # fmt: skip
        self.shown = shown
        self.each = {name for name, event in program.events.items() if event.each}
        """Types of which several events may be equal."""
        self.by_type: dict[str, list[_Reaction]] = {}
        if not program.reactions or actions is None:
            return
        knowledge, rules = Knowledge(program, tables), rules_by_event(program)
        for reaction in program.reactions:
            action = actions[reaction.action]
            shows = [shown.value(term.type) for term in reaction.arguments]
            keyed, told = (_takes_keyword(action, word, len(shows)) for word in ("key", "rules"))
            found = _Reaction(reaction, knowledge, shows, action, keyed, rules if told else None)
            self.by_type.setdefault(reaction.atom.event, []).append(found)

    def add_calls(self, events: Iterable[Event], calls: Calls, callbacks: Callbacks) -> None:
        """Adds the calls for events, in their order: functions for detections first, then reactions."""
        seen: dict[str, int] = {}
        for event in sorted(events, key=lambda event: (event.key, event.identity if is_given(event) else -1)):
            for number in range(0 if is_given(event) else len(callbacks.get(event.type, ()))):
                self._add_callback(calls, callbacks, event, number)
            reactions = self.by_type.get(event.type, ())
            several = is_given(event) or event.type in self.each
            key = _key(event, seen, several) if any(reaction.keyed for reaction in reactions) else ""
            for number in range(len(reactions)):
                self._add_reaction(calls, event, number, key)

    def _add_callback(self, calls: Calls, callbacks: Callbacks, event: Event, number: int) -> None:
        shown = partial(self.shown.row, event)
        call = partial(_call_back, callbacks, event.type, number, shown)
        calls.add(f"on {event.type}", shown, call, ("on", event, number, ""))

    def _add_reaction(self, calls: Calls, event: Event, number: int, key: str) -> None:
        shown = partial(self.shown.given if is_given(event) else self.shown.row, event)
        reaction = self.by_type[event.type][number]
        call = partial(reaction.react, event, key)
        calls.add(f"do {reaction.name}", shown, call, (f"do {reaction.name}", event, number, key))

    def add_again(self, kept: tuple[str, Event, int, str], calls: Calls, callbacks: Callbacks) -> None:
        """Adds a call that a state has kept; one of a reaction that is no more there is left out."""
        what, event, number, key = kept
        reactions = self.by_type.get(event.type, ())
        if what == "on":
            self._add_callback(calls, callbacks, event, number)
        elif number < len(reactions) and f"do {reactions[number].name}" == what:
            self._add_reaction(calls, event, number, key)


def _call_back(callbacks: Callbacks, type_: str, number: int, shown: Call) -> None:
    """Calls one of the functions for a type; after a session is resumed there may be fewer of them."""
    functions = callbacks.get(type_, ())
    if number < len(functions):
        functions[number](shown())


def is_given(event: Event) -> bool:
    """True if an event was sent: then its position is its identity, not its content."""
    return isinstance(event.identity, int)


def _key(event: Event, seen: dict[str, int], several: bool) -> str:
    """A key made of an event's content, the same wherever it is detected.

    Where `several` may be equal, as given events and those of `all` rules may, they are numbered.
    """
    content = json.dumps([event.type, event.start, event.end, event.attributes], sort_keys=True, default=repr)
    if several:
        seen[content] = seen.get(content, -1) + 1
        content += f" {'given' if is_given(event) else 'all'} {seen[content]}"
    return hashlib.sha256(content.encode()).hexdigest()


def _signature(function: Action) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):  # some that are written in C have none
        return None


def _takes(function: Action, count: int) -> bool:
    signature = _signature(function)
    if signature is None:
        return True
    try:
        named = {word: None for word in ("key", "rules") if _takes_keyword(function, word, count)}
        signature.bind(*([None] * count), **named)
    except TypeError:
        return False
    return True


def _takes_keyword(function: Action, word: str, count: int) -> bool:
    """True if a function takes a keyword besides `count` positional arguments."""
    signature = _signature(function)
    if signature is None:
        return False
    for place, parameter in enumerate(signature.parameters.values()):
        by_name = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and place >= count
        if parameter.name == word and (by_name or parameter.kind is parameter.KEYWORD_ONLY):
            return True
        if parameter.kind is parameter.VAR_KEYWORD:
            return True
    return False
