"""All checks of a program: those of the language, then the findings of temporal reasoning.

In order: lengths of derived events, impossible conditions, rules that are probably not meant, recursion.
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
    """The typed program; it is meaningful only if no error is reported.

    `known` are types of attributes of undeclared events, where another source gives them; `functions` are the user's
    own functions.
    """
    program = check_statements(file, report, known, functions)
    if report.failed:
        return program
    program = with_lengths(program)
    for rule in () if program.missing else program.rules:  # a missing value may still make it possible
        check_possible(rule, program, report)
        warn_of_unlikely(rule, program, report)
    return replace(program, strata=check_recursion(program.rules, program.events, report))
