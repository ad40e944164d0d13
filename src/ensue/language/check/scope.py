"""Names that are visible at a place in a rule: variables with their types, labels of events, and gatherings."""

from __future__ import annotations

from dataclasses import field

from ensue.language.source import NOWHERE, Span
from ensue.language.types import Type
from ensue.records import dataclass


@dataclass(frozen=True)
class Label:
    """A name of something matched: an event of a type, or (None) a timer or a nested pattern."""

    event: str | None
    span: Span = field(default=NOWHERE, compare=False)
    """Position where it is bound."""


@dataclass
class Scope:
    """The names that a pattern binds, or that a body sees."""

    variables: dict[str, Type] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)
    """Bound on some sides of an `or` only."""
    gathered: dict[int, Scope] = field(default_factory=dict)
    """Scopes of collected, repeated and cumulative patterns, by the gathering's id; visible to aggregates only."""
    outer: Scope | None = None
    """Scope around a negated or collected pattern."""
    asked: list[str] = field(default_factory=list)
    """Names of this scope that an inner scope looked up."""

    def find_variable(self, name: str) -> Type | None:
        if name in self.variables:
            return self.variables[name]
        found = self.outer.find_variable(name) if self.outer else None
        if self.outer and found is not None:
            self.outer.asked.append(name)
        return found

    def find_label(self, name: str) -> Label | None:
        if name in self.labels:
            return self.labels[name]
        found = self.outer.find_label(name) if self.outer else None
        if self.outer and found is not None:
            self.outer.asked.append(name)
        return found

    def names_event(self, name: str) -> bool:
        """True if a name stands for a matched event here, and not for a value."""
        return name in self.labels and name not in self.variables

    def binds(self, name: str) -> bool:
        return name in self.variables or name in self.labels

    def paths_to(self, names: set[str]) -> list[tuple[int, ...]]:
        """The ways down to gatherings that bind any of the names, the innermost binding one at each end."""
        found: list[tuple[int, ...]] = []
        for id_, inner in self.gathered.items():
            deeper = [(id_, *path) for path in inner.paths_to(names)]
            if deeper:
                found.extend(deeper)
            elif any(inner.binds(name) for name in names):
                found.append((id_,))
        return found

    def inside(self, path: tuple[int, ...]) -> Scope:
        """Scope of one gathered event: the names outside, and those that each level binds."""
        merged = Scope(dict(self.variables), dict(self.labels), outer=self.outer)
        scope = self
        for id_ in path:
            scope = scope.gathered[id_]
            merged.variables.update(scope.variables)
            merged.labels.update(scope.labels)
        return merged

    def names(self) -> set[str]:
        known = set(self.variables) | set(self.labels)
        return known | self.outer.names() if self.outer else known

    def all_gathered(self) -> set[str]:
        """Every name that is bound only inside a gathering."""
        names: set[str] = set()
        for inner in self.gathered.values():
            names |= set(inner.variables) | set(inner.labels) | inner.all_gathered()
        return names
