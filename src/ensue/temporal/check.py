"""All checks of a program: those of the language, and then what temporal reasoning finds.

In order: how long derived events last, what can never happen, what is probably not meant, recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ensue.language import syntax, typed
from ensue.language.check import check_statements
from ensue.language.check.declarations import Known
from ensue.language.diagnostics import Report
from ensue.language.own import OwnFunction
from ensue.temporal.lengths import with_lengths
from ensue.temporal.possible import check_possible
from ensue.temporal.recursion import check_recursion
from ensue.temporal.unlikely import warn_of_unlikely


def check(
    file: syntax.File, report: Report, known: Known | None = None, functions: Mapping[str, OwnFunction] | None = None
) -> typed.Program:
    """The typed program; it means something only if nothing is reported as an error.

    `known` are types of attributes of events that are not declared, where something else tells them; `functions` are
    functions that were handed over.
    """
    program = check_statements(file, report, known, functions)
    if report.failed:
        return program
    program = with_lengths(program)
    for rule in () if program.missing else program.rules:  # a value that is not known yet may make it possible
        check_possible(rule, program, report)
        warn_of_unlikely(rule, program, report)
    return replace(program, strata=check_recursion(program.rules, program.events, report))
