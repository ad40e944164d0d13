"""An explanation as data: the rules with their plans, what they share, the stages on a cluster, what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ensue.language import typed
from ensue.language.types import Type
from ensue.partitioning import Chained, Stage
from ensue.plan.description import Description


@dataclass
class Observed:
    """What happened in a part of a rule: matches in and out, and the most that it kept at once."""

    rows_in: int = 0
    rows_out: int = 0
    most_kept: int = 0
    suppressed: int | None = None
    """How many events were not kept, of a rule that says how often it derives."""


@dataclass(frozen=True)
class RuleExplained:
    """A rule: where it is written, how it is run, and its plan."""

    number: int
    event: str
    label: str | None
    line: int
    family: int | None
    """Which of the families it belongs to; None where it runs by itself."""
    possible: bool
    """Whether given events that have one time each can match it."""
    plan: Description
    implied: tuple[str, ...]
    """Conditions that others imply, and that are not checked."""
    extent: int | None
    """How far the first and the last event of a match can be apart; None if nothing bounds that."""
    rewrites: tuple[str, ...] = ()
    """The rewrites that changed it before it is run."""
    asked: tuple[str, ...] = ()
    """What Python answers, once for each combination of values."""
    waits: str | None = None
    """Why its detections wait in a session until their step is complete; None where they are handed out at once."""
    fewer: int | None = None
    """How many times fewer tuples the order of its joins makes and keeps than that as written, by estimate."""
    observed: Mapping[str, Observed] = field(default_factory=dict)
    """By the key of a part of the plan."""
    about: typed.About = field(default_factory=typed.About)
    """Its title and values, for people."""
    shared: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The other rules that have a part of the plan, too, by its name; none where this rule has it several times."""

    @property
    def name(self) -> str:
        return self.label if self.label is not None else self.event


@dataclass(frozen=True)
class Differing:
    """A constant that is another in each of some rules."""

    type: Type
    values: tuple[typed.Value, ...]
    use: str | None
    """What it is good for: ``index`` if rules are found by it, ``order`` if they are looked at in its order."""


@dataclass(frozen=True)
class Alike:
    """Rules of one shape that run as one; `constants` have values in the order of the rules.

    `where` says where these stand: ``v > $1`` has the first of them.
    """

    rules: tuple[int, ...]
    where: tuple[str, ...]
    constants: tuple[Differing, ...]


@dataclass(frozen=True)
class Explanation:
    """How a program is run. Printed it is text; `json` and `mermaid` give other forms."""

    program: typed.Program
    instants: bool
    """Whether given events are taken to have one time each."""
    rules: tuple[RuleExplained, ...]
    families: tuple[Alike, ...]
    parted: Chained
    """The rules as they run in stages: those whose keys form a chain are split."""
    stages: tuple[Stage, ...]
    events: int | None = None
    """How many events there were, where some were given."""

    def text(self) -> str:
        """The plan for people who read."""
        from ensue.explain.text import written

        return written(self)

    def json(self) -> dict[str, Any]:
        """The plan as plain dicts and lists."""
        from ensue.explain.as_json import as_json

        return as_json(self)

    def mermaid(self) -> str:
        """The plan as a flowchart in the language of Mermaid."""
        from ensue.explain.mermaid import drawn

        return drawn(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The plan in a notebook: its text, and its flowchart in the language of Mermaid to be copied."""
        from ensue.markup import box, code, folded

        count = len(self.rules)
        title = f"How {count} rule{' is' if count == 1 else 's are'} run"
        return box(title, code(self.text()), folded("As a flowchart, for Mermaid", code(self.mermaid())))
