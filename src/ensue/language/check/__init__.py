"""Checking: from a syntax tree to a typed program, with everything that is wrong reported in one go.

In order: declarations, static rules, event rules, tests and reactions. Temporal reasoning checks patterns that can
never match, and recursion, after that (`ensue.temporal.check`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ensue.language import syntax, typed
from ensue.language.check.cases import check_reaction, check_test
from ensue.language.check.declarations import Declarations, Known, declare
from ensue.language.check.rules import check_about, check_rules
from ensue.language.check.static import Static
from ensue.language.diagnostics import Report
from ensue.language.own import OwnFunction
from ensue.language.parameters import declared_parameters, with_values
from ensue.language.paths import with_paths
from ensue.language.source import Span


def check_statements(
    file: syntax.File, report: Report, known: Known | None = None, functions: Mapping[str, OwnFunction] | None = None
) -> typed.Program:
    """The typed program without its strata; it means something only if nothing is reported as an error.

    `known` holds attribute types of undeclared events, where another source provides them; `functions` are the user's
    own functions.
    """
    parameters = declared_parameters(file, report)
    file = with_paths(with_values(file, parameters, report), functions or {})
    declarations = declare(file, report, functions or {}, parameters)
    declarations.known = known or {}
    statements = file.statements
    facts = [s for s in statements if isinstance(s, syntax.Fact)]
    static = [s for s in statements if isinstance(s, syntax.StaticRule)]
    predicates, static_rules, static_strata = Static(declarations).check(facts, static)
    rules = check_rules([s for s in statements if isinstance(s, syntax.EventRule)], declarations)
    for rule in static:
        check_about(rule.about, declarations)
    titles: set[str] = set()
    tests: list[typed.Test] = []
    reactions: list[typed.Reaction] = []
    for statement in statements:
        if isinstance(statement, syntax.Test):
            if statement.title in titles:
                report.error(
                    "E106", _title_span(statement, report), "another test has the same title", "give each its own title"
                )
            titles.add(statement.title)
            checked = check_test(statement, declarations)
            if checked is not None:
                tests.append(checked)
        elif isinstance(statement, syntax.Reaction):
            reaction = check_reaction(statement, declarations)
            if reaction is not None:
                reactions.append(reaction)
    for event in declarations.events.values():
        if event.open:
            attributes = ", ".join(f"{name}: …" for name in event.attributes)
            report.warning(
                "W002", event.place, f"the event `{event.name}` is not declared, so its attributes are not checked",
                f"declare it: `event {event.name}({attributes}).`",
            )  # fmt: skip
    return typed.Program(
        _events(declarations), rules, (), predicates, static_rules, static_strata, tuple(tests), tuple(reactions),
        declarations.unit, declarations.durations, declarations.keep, tuple(parameters.values()),
        declarations.mixed,
    )  # fmt: skip


def _title_span(test: syntax.Test, report: Report) -> Span:
    found = re.compile(r'"(\\.|[^"\\])*"').search(report.source.text, *test.span)
    return Span(*found.span()) if found else test.span


def _events(declarations: Declarations) -> dict[str, typed.EventType]:
    """The event types in the order that breaks ties between events."""
    known = declarations.events.values()
    declared = [e for e in known if e.declared]
    derived = [e for e in known if e.derived and not e.declared]
    others = sorted((e for e in known if e.open and not e.derived), key=lambda e: e.name)
    return {
        e.name: typed.EventType(
            e.name, {n: e.types[n] for n in e.attributes}, e.declared, e.derived, e.instant, each=e.each
        )
        for e in (*declared, *derived, *others)
    }
