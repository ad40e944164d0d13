"""Atoms as generated code matches them: which attribute gives a variable, and what an event must satisfy by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ensue.engine.compiled.expressions import Code, NotCompiledError
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.language import typed


@dataclass(frozen=True)
class Inner:
    """A pattern that is negated, gathered or collected: one atom, and conditions on it."""

    atom: typed.Atom
    conditions: tuple[typed.Expression, ...]

    @property
    def names(self) -> dict[str, str]:
        """The attribute that each name stands for; none for the name of the atom itself."""
        own = {} if self.atom.label is None else {self.atom.label: ""}
        return {**bindings(self.atom), **own}


def inner_of(pattern: typed.Pattern) -> Inner:
    match pattern:
        case typed.Atom():
            return Inner(pattern, ())
        case typed.Nested(body=typed.Body(pattern=typed.Atom() as atom) as body, label=None):
            if body == typed.Body(atom, on=body.on, where=body.where):
                return Inner(atom, (*body.on, *body.where))
    raise NotCompiledError("something composite that is negated, gathered or collected")


def bindings(atom: typed.Atom) -> dict[str, str]:
    """The attribute that gives each variable of an atom."""
    found: dict[str, str] = {}
    for attribute, term in atom.fields:
        if isinstance(term, typed.Variable):
            found.setdefault(term.name, attribute)
    return found


def equalities(atom: typed.Atom) -> list[tuple[str, str]]:
    """What each attribute must equal, as text: a constant, or the attribute that gives its variable."""
    names = bindings(atom)
    pairs = [(a, repr(t)) if isinstance(t, typed.Constant) else (a, names[t.name]) for a, t in atom.fields]
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def fitting(unit: Unit, atom: typed.Atom, arrival: Arrival) -> list[str]:
    """Tests that an event has the values that an atom gives, and equal ones where it has a variable twice."""
    tests, names = [], bindings(atom)
    for attribute, term in atom.fields:
        if isinstance(term, typed.Constant):
            equal = typed.Operation("=", (typed.AttributeOf("", attribute, "any"), term), "bool")
            tests.append(unit.expressions.truth(equal, lambda e: _attribute(e, arrival)))
        elif names[term.name] != attribute:
            one, other = arrival.attribute(attribute), arrival.attribute(names[term.name])
            if one.kind != other.kind:
                raise NotCompiledError("values of several kinds")
            tests.append(all_of(one.valid, other.valid, f"{one.value} == {other.value}"))
    return tests


def _attribute(expression: typed.Expression, arrival: Arrival) -> Code:
    assert isinstance(expression, typed.AttributeOf)
    return arrival.attribute(expression.attribute)


def by_attributes(condition: typed.Expression, names: Mapping[str, str]) -> str:
    """A condition on one event as text in which its variables are attributes, so that alike ones are the same."""
    match condition:
        case typed.Variable(name=name) if name in names:
            return f"@{names[name]}"
        case typed.AttributeOf(attribute=attribute):
            return f"@{attribute}"
        case typed.TimeOf(end=end):
            return "@@end" if end else "@@start"
        case typed.Operation(name=name, arguments=arguments):
            return f"{name}({', '.join(by_attributes(a, names) for a in arguments)})"
        case typed.Holds(predicate=predicate, arguments=terms):
            return f"{predicate!r}({', '.join('_' if t is None else by_attributes(t, names) for t in terms)})"
        case _:
            return repr(condition)


def attributes_used(expression: typed.Expression, names: Mapping[str, str], label: str | None) -> Iterator[str]:
    """The attributes of an atom that an expression uses."""
    match expression:
        case typed.Variable(name=name) if name in names:
            yield names[name]
        case typed.AttributeOf(label=of, attribute=attribute) if of == label:
            yield attribute
        case typed.Operation(arguments=arguments) | typed.Holds(arguments=arguments):
            for argument in arguments:
                if argument is not None:
                    yield from attributes_used(argument, names, label)
