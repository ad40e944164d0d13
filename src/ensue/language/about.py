"""Rules as people know them: their names, titles and descriptions in a rule file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ensue.language import typed
from ensue.records import dataclass


@dataclass(frozen=True)
class RuleInfo:
    """A rule: its name, the event that it derives, and its description.

    `about` has the values in brackets by their keys; a value in parentheses is a tuple.
    """

    name: str | None
    event: str
    title: str | None = None
    about: Mapping[str, typed.Value] = field(default_factory=dict)


def info_of(rule: typed.Rule) -> RuleInfo:
    """A rule as people know it."""
    return RuleInfo(rule.label, rule.event, rule.about.title, dict(rule.about.settings))


def rules_by_event(program: typed.Program) -> dict[str, tuple[RuleInfo, ...]]:
    """The rules for each event that a program derives, in the order in which they are written."""
    found: dict[str, tuple[RuleInfo, ...]] = {}
    for rule in program.rules:
        found[rule.event] = (*found.get(rule.event, ()), info_of(rule))
    return found
