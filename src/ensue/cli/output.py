"""Output for people: sentences and diagnostics on standard error, with colours where it is a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from ensue.language.diagnostics import Diagnostic

MOST_SHOWN = 100
"""Number of diagnostics of one file that are shown. One with more is no rule file, or has an early mistake."""

_CONTROL = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def say(sentence: str) -> None:
    """Prints a sentence of the program's own."""
    click.echo(f"ensue: {printable(sentence)}", err=True)


def printable(text: str) -> str:
    """The text with a sign for each control character, which a terminal might obey.

    >>> printable("a\\x1b[31mb")
    'a�[31mb'
    """
    return text.translate(_CONTROL)


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "file"), counted(2, "file")
    ('1 file', '2 files')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def describe_suppressed(rule: str, count: int) -> str:
    """Sentence on the number of events that a rule suppressed."""
    return f"{rule}: {counted(count, 'event')} not kept, because of `once` or `at most`."


def colours(stream: TextIO) -> bool:
    """True if a stream takes colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(value: object) -> None:
    """Prints plain dicts and lists as JSON on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Prints all diagnostics of rule files, and a summary."""
    by_file: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.file, []).append(diagnostic)
    coloured = colours(sys.stderr)
    for file, found in by_file.items():
        for diagnostic in found[:MOST_SHOWN]:
            click.echo(_painted(diagnostic) if coloured else printable(str(diagnostic)), err=True, color=coloured)
            click.echo(err=True)
        if len(found) > MOST_SHOWN:
            click.echo(f"… and {len(found) - MOST_SHOWN} more in {printable(file)}\n", err=True)
    if diagnostics:
        click.echo(summary(diagnostics), err=True)


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Numbers of errors, warnings and notes, and of files, in words."""
    severities = [diagnostic.severity.value for diagnostic in diagnostics]
    parts = [counted(severities.count(value), value) for value in ("error", "warning", "note") if value in severities]
    return f"{', '.join(parts)} in {counted(len({diagnostic.file for diagnostic in diagnostics}), 'file')}"


def _painted(diagnostic: Diagnostic) -> str:
    """The diagnostic with colours: the place bold, the message and the carets red, yellow or blue, the hint cyan."""
    colour = {"error": "red", "warning": "yellow", "note": "blue"}[diagnostic.severity.value]
    first, line, carets, *hints = printable(str(diagnostic)).split("\n")
    place = f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}:"
    kind = f"{diagnostic.severity.value} {diagnostic.code}:"
    message = first.removeprefix(printable(place)).removeprefix(f" {kind}")
    bar = carets.index("|") + 1
    return "\n".join(
        [
            f"{click.style(printable(place), bold=True)} {click.style(kind, fg=colour, bold=True)}{message}",
            f"{click.style(line[:bar], dim=True)}{line[bar:]}",
            f"{click.style(carets[:bar], dim=True)}{click.style(carets[bar:], fg=colour, bold=True)}",
            *(click.style(hint, fg="cyan") for hint in hints),
        ]
    )


def plain_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic for programs that read it; lines and columns count from one."""
    source, span = diagnostic.source, diagnostic.span
    end_line, end_column = source.position(min(max(span.end, span.start + 1), len(source.text)))
    return {
        "file": diagnostic.file, "line": diagnostic.line, "column": diagnostic.column, "end_line": end_line,
        "end_column": end_column, "severity": diagnostic.severity.value, "code": diagnostic.code,
        "message": diagnostic.message, "hint": diagnostic.hint,
    }  # fmt: skip
