"""Limits on derived events: ``once per id in 1h``, ``at most 3 per id in 1h``; ``all`` keeps each match."""

from __future__ import annotations

from collections.abc import Mapping

from ensue.language import syntax, typed
from ensue.language.check.declarations import Declarations, Event
from ensue.language.diagnostics import did_you_mean


def check_each(rules: list[syntax.EventRule], declarations: Declarations) -> None:
    """Marks the events whose matches are kept apart; all rules for one agree on that."""
    first: dict[str, syntax.EventRule] = {}
    for rule in rules:
        name = rule.head.name.text
        other = first.setdefault(name, rule)
        if other.each != rule.each:
            line, _ = declarations.report.source.position(other.span.start)
            with_, without = (
                ("this rule", f"that on line {line}") if rule.each else (f"that on line {line}", "this rule")
            )
            declarations.report.error(
                "E412", rule.head.name.span,
                f"the rules for `{name}` disagree: {with_} says `all`, and {without} does not",
                "write `all` before each of these rules, or before none; or give one of them another head",
            )  # fmt: skip
        elif name in declarations.events:
            declarations.events[name].each = rule.each


def check_quiet(
    body: syntax.Body, head: Mapping[str, typed.Expression], event: Event, declarations: Declarations
) -> typed.Quiet | None:
    """Check the suffix ``once`` or ``at most`` of a rule; None if it has none."""
    report = declarations.report
    written = [suffix for suffix in body.suffixes if isinstance(suffix, syntax.Once | syntax.AtMost)]
    for suffix in written[1:]:
        report.error("E411", suffix.span, "this rule already has `once` or `at most`", "use one of them")
    if not written:
        return None
    quiet = written[0]
    most = 1
    if isinstance(quiet, syntax.AtMost):
        most = quiet.most.value
        if quiet.most.is_length or most < 1:
            report.error(
                "E411", quiet.most.span, "a number of events of at least 1 is needed here", "as in `at most 3`"
            )
    length = declarations.length(quiet.length)
    if length <= 0:
        report.error("E504", quiet.length.span, "the length of time must be positive here", "as in `once in 1h`")
    keys: list[str] = []
    for key in quiet.keys:
        name = _attribute(key.text, head)
        if name is None:
            has = f"its terms are {', '.join(event.attributes)}" if event.attributes else "it has none; leave `per` out"
            hint = did_you_mean(key.text, head) or has
            report.error("E411", key.span, f"`{key.text}` is not a term of the head of this rule", hint)
        elif name in keys:
            report.error("E106", key.span, f"`{key.text}` is already given", "give it once")
        else:
            keys.append(name)
    return typed.Quiet(most, tuple(keys), length)


def _attribute(key: str, head: Mapping[str, typed.Expression]) -> str | None:
    """The attribute that a name means: its own, or the one that has the variable of that name."""
    if key in head:
        return key
    same = (name for name, term in head.items() if isinstance(term, typed.Variable) and term.name == key)
    return next(same, None)
