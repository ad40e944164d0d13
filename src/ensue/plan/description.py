"""Description of a plan, as data for people: for each operator a title, its cost, its state, and the bounds of that.

The operators of a body that only check, complete or drop its matches are described together, as its ``match``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.late import Late
from ensue.plan.outside import Outer
from ensue.records import dataclass
from ensue.temporal.describe import describe_expression, describe_length
from ensue.temporal.memory import Kind, Memory, constant


@dataclass(frozen=True)
class Kept:
    """Stored tuples of an operator: their key, and the bound on their memory."""

    what: str
    key: tuple[str, ...]
    memory: Memory
    advice: str | None = None
    """Change to the rule that would bound it, where nothing does."""
    after: str | None = None
    """The event that must have come first, where it is kept only after that."""

    @property
    def lifetime(self) -> int | None:
        """Time for which each tuple is kept after its end; None where that is no length of time."""
        return self.memory.size if self.memory.kind is Kind.WINDOW else None


@dataclass(frozen=True)
class Description:
    """An operator, or several that are described together: an event, a join, a body, an absence.

    `kind` and `id` identify it within its rule. `streams` are sides that are not stored, `suppresses` those that are
    not evaluated while nothing waits for them, `checks` conditions on its matches.
    """

    kind: str
    id: int
    title: str
    cost: str
    kept: tuple[Kept, ...] = ()
    streams: tuple[str, ...] = ()
    suppresses: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    parts: tuple[Description, ...] = ()
    event: str | None = None
    """The type of events that it scans, if it does."""
    shared: str | None = None
    """The name of the shared part that it is, if it is one."""
    operators: tuple[plan.Operator, ...] = field(default=(), compare=False, repr=False)
    """The operators that are described."""
    output: plan.Operator | None = field(default=None, compare=False, repr=False)
    """The operator that gives its matches, where there is one."""
    inputs: tuple[plan.Operator, ...] = field(default=(), compare=False, repr=False)
    """The operators whose matches it takes."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def memory(self) -> Memory:
        """The largest bound on its own state."""
        return max((kept.memory for kept in self.kept), key=lambda m: (m.kind, m.size), default=constant(0))

    def walk(self) -> Iterator[Description]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Phrases:
    """Lengths of time and conditions, in the units of a program."""

    program: typed.Program

    def length(self, length: int) -> str:
        return describe_length(length, self.program)

    def conditions(self, conditions: Iterable[typed.Expression]) -> tuple[str, ...]:
        return tuple(describe_expression(as_written(condition), self.program) for condition in conditions)


def as_written(expression: Any) -> Any:
    """An expression as rules write it: outer names as names, and deferred aggregates as aggregates."""
    match expression:
        case Outer(of=name):
            return name
        case Late(arguments=(rows, *outside), of=aggregate, counts=counts):
            return replace(aggregate, argument=_named(aggregate.argument, [*_names(rows, counts), *outside]))
        case typed.Operation(arguments=arguments) | typed.Holds(arguments=arguments):
            return replace(expression, arguments=tuple(map(as_written, arguments)))
        case typed.Aggregate(argument=argument):
            return replace(expression, argument=as_written(argument))
        case _:
            return expression


def _names(rows: Any, counts: Sequence[int]) -> Iterator[typed.Expression]:
    """The expressions that the values of rows stand for, level by level."""
    for count in counts:
        values = rows.argument.arguments
        yield from values[:count]
        rows = values[-1]


def _named(expression: Any, names: Sequence[Any]) -> Any:
    """An expression with names for the numbers of variables."""
    match expression:
        case typed.Variable(name=name):
            return as_written(names[int(name)])
        case typed.Operation(arguments=arguments) | typed.Holds(arguments=arguments):
            return replace(expression, arguments=tuple(_named(each, names) for each in arguments))
        case _:
            return expression


def looked_at(name: str, shared: tuple[str, ...]) -> str:
    """Phrase for the tuples that a lookup visits, by a key or without one.

    >>> looked_at("order", ("id",)), looked_at("order", ())
    ('each order of its key', 'every order')
    """
    return f"each {name} of its key" if shared else f"every {name}"
