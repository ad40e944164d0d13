"""Times, lengths, values, events and conditions as an answer shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from ensue.language import typed
from ensue.language.semantics import EPOCH
from ensue.language.walk import atoms, patterns
from ensue.records import dataclass
from ensue.reference.expressions import Held, evaluate
from ensue.reference.matches import Event, Match
from ensue.temporal.describe import describe_expression, describe_length

LONGEST_VALUE = 40
"""Characters of a text value that are shown."""


@dataclass(frozen=True)
class Phrases:
    """Formats one program's events as text. `timezone` is that of their times; None where they have none."""

    program: typed.Program
    timestamps: bool
    timezone: str | None = None

    @cached_property
    def _lengths(self) -> typed.Program:
        """The program as far as lengths of time go: those of timestamps always have units."""
        return replace(self.program, unit=None, durations=True) if self.timestamps else self.program

    def time(self, time: int) -> int | str:
        """A time as the events have it."""
        return _moment(time, self.timezone) if self.timestamps else time

    def length(self, length: int) -> str:
        """A length of time, with its unit where there is one."""
        said = describe_length(length, self._lengths)
        return said if self.timestamps or self._lengths.unit is not None else str(length)

    def span(self, start: int, end: int) -> str:
        """Time of an event: a moment, or an interval in brackets."""
        one, other = self.time(start), self.time(end)
        return str(one) if start == end else f"[{one}, {other}]"

    def value(self, value: Any, type_: str = "any") -> str:
        """A value as rules write it; one that is long is cut."""
        match value:
            case None:
                return "null"
            case bool():
                return str(value).lower()
            case int() if type_ == "timestamp":
                return _moment(value, "UTC")
            case int() if type_ == "time":
                return str(self.time(value))
            case int() | float():
                return str(value)
            case str():
                shown = json.dumps(value, ensure_ascii=False)
                return shown if len(shown) <= LONGEST_VALUE else f'{shown[: LONGEST_VALUE - 2]}…"'
            case tuple() | list():
                inner = type_.removeprefix("list<").removesuffix(">")
                shown = f"[{', '.join(self.value(item, inner) for item in value)}]"
                return shown if len(shown) <= LONGEST_VALUE else f"{shown[: LONGEST_VALUE - 2]}…]"
            case _:
                shown = str(value)
                return shown if len(shown) <= LONGEST_VALUE else f"{shown[: LONGEST_VALUE - 1]}…"

    def event(self, type_: str, attributes: Mapping[str, Any]) -> str:
        """An event with its attributes, those that are null aside: ``order(id=42, product="tea")``."""
        declared = self.program.events.get(type_)
        types = declared.attributes if declared is not None else {}
        terms = [f"{n}={self.value(v, types.get(n, 'any'))}" for n, v in attributes.items() if v is not None]
        return f"{type_}({', '.join(terms)})"

    def at(self, event: Event) -> str:
        """An event with its attributes and its time: ``order(id=42) @ 3``."""
        return f"{self.event(event.type, event.attributes)} @ {self.span(event.start, event.end)}"

    def atom(self, atom: typed.Atom, values: Mapping[str, Any]) -> str:
        """Write the event that an atom requires, with the known values: ``shipped(id=42)``."""
        declared = self.program.events.get(atom.event)
        types = declared.attributes if declared is not None else {}
        terms = []
        for attribute, term in atom.fields:
            if isinstance(term, typed.Constant):
                terms.append(f"{attribute}={self.value(term.value, term.type)}")
            elif term.name in values and values[term.name] is not None:
                terms.append(f"{attribute}={self.value(values[term.name], types.get(attribute, 'any'))}")
        return f"{atom.event}({', '.join(terms)})"

    def pattern(self, pattern: typed.Pattern, values: Mapping[str, Any]) -> str:
        """The events that a pattern looks for, with the values that are known."""
        body = typed.Body(pattern)
        found = [self.atom(atom, values) for atom in atoms(body)]
        return ", ".join(dict.fromkeys(reversed(found))) or "a timer"

    # --- conditions

    def condition(self, condition: typed.Expression, match: Match, held: Held, body: typed.Body) -> str:
        """A condition with the values of its variables: ``q < 10 (q = 12)``."""
        said = self.expression(condition, body)
        values = list(self._values(condition, match, held, body))
        return f"{said} ({', '.join(dict.fromkeys(values))})" if values else said

    def expression(self, expression: typed.Expression, body: typed.Body) -> str:
        """An expression as it could be written."""
        said = describe_expression(expression, self._lengths)
        counted = [name for name in map(_label, _collected(body)) if name is not None]
        return said.replace("count(…)", f"count({counted[0] if len(counted) == 1 else '*'})")

    def _values(self, expression: typed.Expression, match: Match, held: Held, body: typed.Body) -> Iterator[str]:
        match expression:
            case typed.Variable() | typed.AttributeOf() | typed.TimeOf() | typed.Aggregate():
                value = evaluate(expression, match, held)
                yield f"{self.expression(expression, body)} = {self.value(value, expression.type)}"
            case typed.Operation(arguments=arguments):
                for argument in arguments:
                    yield from self._values(argument, match, held, body)
            case typed.Holds(arguments=terms):
                for term in terms:
                    if term is not None:
                        yield from self._values(term, match, held, body)


def _collected(body: typed.Body) -> Iterator[typed.Pattern]:
    """All that a body gathers."""
    yield from (gathering.pattern for gathering in body.gatherings)
    if body.window is not None:
        yield body.window.pattern
    for pattern in patterns(body):
        match pattern:
            case typed.Run(pattern=inner):
                yield inner
            case typed.Pair(left=left, right=right):
                yield from ([left] if pattern.left_gathering is not None else [])
                yield from ([right] if pattern.right_gathering is not None else [])
            case typed.Nested(body=inner_body):
                yield from _collected(inner_body)


def _label(pattern: typed.Pattern) -> str | None:
    return pattern.label if isinstance(pattern, typed.Atom | typed.Nested) else None


def _moment(microseconds: int, timezone: str | None) -> str:
    try:
        moment = EPOCH + timedelta(microseconds=microseconds)
        if timezone is None:
            return moment.replace(tzinfo=None).isoformat(sep=" ")
        if timezone == "UTC":
            return moment.isoformat().replace("+00:00", "Z")
        return moment.astimezone(ZoneInfo(timezone)).isoformat()
    except (OverflowError, ValueError, KeyError):
        return str(microseconds)
