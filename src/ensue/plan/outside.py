"""Patterns that use names of the match around them, with these names marked (`Outer`).

Such a pattern is matched again for each match. An outer name is then a value like others: a condition on it can be
checked anywhere, and a temporal relation with it is a condition. Negated or gathered patterns inside may use names of
the pattern as well, which stay names.
"""

from __future__ import annotations

from dataclasses import field, replace

from ensue.language import typed
from ensue.language.contained import Apart, as_conditions, gathered_names, known_names, paired_names
from ensue.records import dataclass

Name = typed.Variable | typed.AttributeOf | typed.TimeOf


@dataclass(frozen=True)
class Outer:
    """The value of a name outside."""

    of: Name

    @property
    def type(self) -> str:
        return self.of.type


def marked(pattern: typed.Pattern) -> tuple[typed.Pattern, tuple[Name, ...]]:
    """A pattern with its outer names marked, and these names."""
    marking = _Marking()
    found = marking.pattern(pattern, set())
    return found, tuple(marking.names)


def names_beside(body: typed.Body) -> tuple[Name, ...]:
    """The names that scopes, absences and gatherings of a body use and the body itself does not bind."""
    known = known_names(body)
    found: dict[Name, None] = {}
    apart: list[Apart] = [*body.absences, *body.gatherings]
    for part in apart:
        found |= {typed.Variable(name, "any"): None for name in part.shared if name not in known}
        if isinstance(part.scope, typed.During) and part.scope.label not in known:
            found |= {typed.TimeOf(part.scope.label, end): None for end in (False, True)}
    return tuple(found)


@dataclass
class _Marking:
    """Marks outer names; `names` are those found. `known` are names of bodies around a negated or gathered pattern."""

    names: dict[Name, None] = field(default_factory=dict)

    def pattern(self, pattern: typed.Pattern, known: set[str]) -> typed.Pattern:
        match pattern:
            case typed.Pair(left=left, right=right):
                return replace(pattern, left=self.pattern(left, known), right=self.pattern(right, known))
            case typed.Either(alternatives=alternatives):
                return replace(pattern, alternatives=tuple(self.pattern(each, known) for each in alternatives))
            case typed.Lacking(pattern=inner):
                return replace(pattern, pattern=self.pattern(inner, known))
            case typed.Nested(body=body):
                return replace(pattern, body=self._body(body, known))
            case _:
                return pattern

    def _body(self, body: typed.Body, known: set[str]) -> typed.Body:
        own, paired = known_names(body) | known, paired_names(body) | known
        gathered = gathered_names(body) | known
        if body.restricted:
            return replace(body, where=self._all(body.where, own, gathered))
        apart: list[Apart] = [*body.absences, *body.gatherings]
        for part in apart:
            for name in part.shared:
                if name not in own:
                    self.names[typed.Variable(name, "any")] = None
            if isinstance(part.scope, typed.During) and part.scope.label not in own:
                self.names |= {typed.TimeOf(part.scope.label, end): None for end in (False, True)}
        outside = [each for each in body.related if not {each.left, each.right} <= paired]
        on = (*body.on, *(condition for each in outside for condition in as_conditions(each)))
        return replace(
            body,
            pattern=None if body.pattern is None else self.pattern(body.pattern, known),
            related=tuple(each for each in body.related if each not in outside),
            on=self._all(on, paired, gathered),
            where=self._all(body.where, own, gathered),
            absences=tuple(replace(each, pattern=self.pattern(each.pattern, own)) for each in body.absences),
            gatherings=tuple(replace(each, pattern=self.pattern(each.pattern, own)) for each in body.gatherings),
        )

    def _all(
        self, conditions: tuple[typed.Expression, ...], known: set[str], gathered: set[str]
    ) -> tuple[typed.Expression, ...]:
        return tuple(self._expression(condition, known, gathered) for condition in conditions)

    def _expression(self, expression: typed.Expression, known: set[str], gathered: set[str]) -> typed.Expression:
        match expression:
            case Outer(of=name):
                self.names[name] = None
            case typed.Variable(name=name) if name not in known:
                return self._mark(expression)
            case typed.AttributeOf(label=label) | typed.TimeOf(label=label) if label not in known:
                return self._mark(expression)
            case typed.Operation(arguments=terms):
                return replace(expression, arguments=self._all(terms, known, gathered))
            case typed.Holds(arguments=terms):
                asked = tuple(None if t is None else self._expression(t, known, gathered) for t in terms)
                return replace(expression, arguments=asked)
            case typed.Aggregate(argument=argument) if argument is not None:
                return replace(expression, argument=self._expression(argument, known | gathered, gathered))
        return expression

    def _mark(self, name: Name) -> typed.Expression:
        self.names[name] = None
        return Outer(name)  # type: ignore[return-value]
