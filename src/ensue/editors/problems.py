"""Diagnostics of a text, and the formatted text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ensue.data.own_functions import read_functions
from ensue.editors.places import Range, range_of
from ensue.language.diagnostics import Report, RuleError
from ensue.language.format import format_text
from ensue.language.parse import parse
from ensue.language.source import Source
from ensue.plan.notes import note
from ensue.records import dataclass
from ensue.temporal.check import check


@dataclass(frozen=True)
class Problem:
    """An error, a warning or a note, with its place and a hint."""

    range: Range
    severity: str
    """``error``, ``warning`` or ``note``."""
    code: str
    message: str
    hint: str | None = None


def diagnostics(
    text: str, name: str = "<rules>", *, functions: Mapping[str, Callable[..., Any]] | None = None
) -> tuple[Problem, ...]:
    """All diagnostics of rules, in the order of the text. Notes come only where there is no error.

    `functions` are Python functions that the rules call, as for `ensue.compile`.

    >>> (found,) = diagnostics("event b(y: int).  a(x) <- b(y).")
    >>> found.code, found.message, found.range
    ('E105', 'the variable `x` is never bound', Range(line=1, column=21, end_line=1, end_column=22))
    """
    source = Source(text, name)
    report = Report(source)
    program = check(parse(source, report), report, functions=read_functions(functions))
    if not report.failed:
        note(program, report)
    return tuple(
        Problem(range_of(source, each.span), each.severity.value, each.code, each.message, each.hint)
        for each in report.sorted()
    )


def formatted(text: str) -> str | None:
    """The rules in their canonical form; None where they cannot be read.

    >>> formatted("a(x)<-b( x )."), formatted("a(x <- b(x).")
    ('a(x) <- b(x).\\n', None)
    """
    try:
        return format_text(text)
    except RuleError:
        return None
