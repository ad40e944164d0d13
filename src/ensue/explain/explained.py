"""An explanation as data: the rules with their plans, shared parts, the stages on a cluster, observed counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ensue.language import typed
from ensue.language.types import Type
from ensue.partitioning import Chained, Stage
from ensue.plan.description import Description
from ensue.records import dataclass


@dataclass
class Observed:
    """Counts for a part of a rule: matches in and out, and the most that it kept at once."""

    rows_in: int = 0
    rows_out: int = 0
    most_kept: int = 0
    suppressed: int | None = None
    """Number of events that a rule with an output rate suppressed."""


@dataclass(frozen=True)
class RuleExplained:
    """A rule: where it is written, how it is run, and its plan."""

    number: int
    event: str
    label: str | None
    line: int
    family: int | None
    """The family that the rule belongs to; None where it runs by itself."""
    possible: bool
    """True if given events that have one time each can match it."""
    plan: Description
    implied: tuple[str, ...]
    """Conditions that others imply, and that are not checked."""
    extent: int | None
    """Largest distance between the first and the last event of a match; None if nothing bounds it."""
    rewrites: tuple[str, ...] = ()
    """Names of the rewrites that changed it before it runs."""
    in_python: tuple[str, ...] = ()
    """Conditions that Python computes, once for each combination of values."""
    waits: str | None = None
    """Reason why its detections wait in a session until their step is complete; None where they come out at once."""
    fewer: int | None = None
    """Estimated ratio of the tuples that the joins as written would make and keep to those of the order in use.

    None where its joins are as written, and where a sequence is joined from its last event."""
    observed: Mapping[str, Observed] = field(default_factory=dict)
    """Counts by the key of a part of the plan."""
    about: typed.About = field(default_factory=typed.About)
    """Its title and values, for people."""
    shared: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Other rules that share a part of the plan, by its name; empty where this rule itself has it several times."""

    @property
    def name(self) -> str:
        return self.label if self.label is not None else self.event


@dataclass(frozen=True)
class Differing:
    """A constant that differs between rules of one family."""

    type: Type
    values: tuple[typed.Value, ...]
    use: str | None
    """Purpose of the constant: ``index`` if rules are found by it, ``order`` if they are visited in its order."""


@dataclass(frozen=True)
class SameShape:
    """Rules of one shape that run as one; `constants` have values in the order of the rules.

    `where` shows the places of the constants: ``v > $1`` has the first of them.
    """

    rules: tuple[int, ...]
    where: tuple[str, ...]
    constants: tuple[Differing, ...]


@dataclass(frozen=True)
class Explained:
    """Execution plan of a program as data."""

    program: typed.Program
    instants: bool
    """True if given events are taken to have one time each."""
    rules: tuple[RuleExplained, ...]
    families: tuple[SameShape, ...]
    parted: Chained
    """The rules as they run in stages: those whose keys form a chain are split."""
    stages: tuple[Stage, ...]
    events: int | None = None
    """Number of events, where some were given."""
