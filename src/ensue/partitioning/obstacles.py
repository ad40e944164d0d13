"""Reasons why a rule cannot run on partitions of its events, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.source import Source
from ensue.language.walk import patterns
from ensue.records import dataclass


@dataclass(frozen=True)
class Obstacle:
    """A rule that needs all events in one partition: why there is no key, and why time cannot be cut into slices."""

    rule: int
    no_key: str
    no_slices: str
    no_stages: str | None = None
    """The reason why it is not joined in stages, where its keys form a chain."""

    @property
    def reasons(self) -> str:
        """All reasons in one clause."""
        stages = "" if self.no_stages is None else f", {describe_hindrance(self.no_stages)}"
        return f"{self.no_key}{stages}, and {self.no_slices}"

    def describe(self, program: typed.Program, source: Source | None = None) -> str:
        """A sentence for a warning. The source gives the line of the rule.

        >>> event = typed.EventType("late", {}, False, True)
        >>> rule = typed.Rule("first", "late", (), typed.Body(None))
        >>> program = typed.Program({"late": event}, (rule,), (), {}, (), (), (), (), None, False)
        >>> Obstacle(0, "it has no key", "it has no bound").describe(program, Source("late() <- a."))
        'The rule `first` (line 1) runs in one part: it has no key, and it has no bound.'
        """
        return f"{rule_and_line(program, self.rule, source)} runs in one part: {self.reasons}."


def describe_hindrance(reason: str) -> str:
    """A clause on why a rule is not joined in stages."""
    return f"its chain of keys is not followed in stages because {reason}"


def rule_and_line(program: typed.Program, index: int, source: Source | None = None) -> str:
    """The name of a rule in messages."""
    rule = program.rules[index]
    place = "" if source is None else f" (line {source.position(rule.span.start)[0]})"
    name = f"The rule `{rule.label}`" if rule.label is not None else f"The rule for `{rule.event}`"
    return f"{name}{place}"


def obstacle(
    program: typed.Program, rule: int, correlated: bool, recursive: bool, no_stages: str | None = None
) -> Obstacle:
    """The obstacle of a rule; `correlated` is True if it has a key of its own that does not fit the other rules."""
    no_key = "no variable has one value in everything that it matches"
    if correlated:
        no_key = "it has a key, but not one that other rules for the same events have, too"
    if recursive:
        return Obstacle(rule, no_key, "what it derives depends on its own results, however long ago")
    quiet = program.rules[rule].quiet
    if quiet is not None:
        if not quiet.keys:
            no_key = "all that it derives is counted together, by `once` or `at most`"
        elif not correlated:
            no_key = f"its events have no value in common by which it counts ({', '.join(quiet.keys)})"
        return Obstacle(rule, no_key, "what it keeps depends on what it kept before, however long ago", no_stages)
    no_bound = "nothing bounds how far apart its events are, as `within` does"
    return Obstacle(rule, no_key, next(_unbounded(program.rules[rule].body), no_bound), no_stages)


def _unbounded(body: typed.Body) -> Iterator[str]:
    """Reasons why a body looks back without bound."""
    bodies = [body, *(pattern.body for pattern in patterns(body) if isinstance(pattern, typed.Nested))]
    for each in bodies:
        if each.restricted:
            yield "`policy restricted` chooses between instances of any time"
        if each.window is not None and each.window.extent is None:
            yield each.window.record.unbounded.format(size=each.window.size)
        if each.window is not None and each.pattern is not None:
            yield "nothing bounds how far its window is from the events beside it"
    for pattern in patterns(body):
        match pattern:
            case typed.Pair(left_context=typed.Context()):
                yield "a context selects from events of any time"
            case typed.Run(count=count):
                yield f"a repetition of {count} counts back over any length of time"
