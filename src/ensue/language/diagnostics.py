"""Diagnostics: errors, warnings and notes on a rule file, written so that a person can fix it.

A diagnostic has a stable code, a place, one sentence on the problem, and one on the solution. `docs/messages.md`
explains the codes; the golden files in `tests/messages` hold every message.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import field
from enum import Enum

from ensue.language.source import Source, Span
from ensue.records import dataclass


class Severity(Enum):
    """How serious a diagnostic is: rules with an error cannot run."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """An error, warning or note on a rule file."""

    code: str
    message: str
    span: Span
    source: Source
    hint: str | None = None
    severity: Severity = Severity.ERROR

    @property
    def file(self) -> str:
        return self.source.name

    @property
    def line(self) -> int:
        return self.source.position(self.span.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.span.start)[1]

    def __str__(self) -> str:
        line, column = self.source.position(self.span.start)
        text, carets = _pointed(self.source.line(line), column - 1, self.span.end - self.span.start)
        gutter = f"{line} | "
        shown = [
            f"{self.file}:{line}:{column}: {self.severity.value} {self.code}: {_printable(self.message)}",
            f"{gutter}{text}",
            f"{' ' * (len(gutter) - 2)}| {carets}",
        ]
        if self.hint:
            shown.append(f"  = {_printable(self.hint)}")
        return "\n".join(shown)


WIDEST = 120
"""A line of source that is longer is shown only around the place that is meant."""


def _pointed(line: str, start: int, length: int, widest: int = WIDEST) -> tuple[str, str]:
    """A line of source, shortened, and carets below the part that is meant.

    >>> print(*_pointed("a" * 200 + " bad " + "c" * 200, 201, 3, widest=24), sep="\\n")
    …aaaaaaa bad cccccccccccc…
             ^^^
    """
    end = min(start + max(length, 1), max(len(line.rstrip()), start + 1))
    left, right = 0, len(line)
    if len(line) > widest:
        left = max(0, min(start - widest // 3, len(line) - widest))
        right = left + widest
    before, meant, after = line[left:start], line[start : min(end, right)], line[end:right]
    opening, closing = "…" if left else "", "…" if right < len(line) else ""
    # Tabs stay tabs in the line of carets, so that carets stand below the part that they point at.
    blanks = "".join("\t" if char == "\t" else " " * _cells(char) for char in opening + before)
    carets = "^" * max(1, sum(map(_cells, meant)))
    return opening + _printable(before + meant + after) + closing, blanks + carets


def _printable(text: str) -> str:
    """Text without signs that a terminal would obey or could not write."""
    return "".join(char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def _cells(char: str) -> int:
    """Number of terminal columns that a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class RuleError(Exception):
    """The rules are wrong; `diagnostics` lists all errors."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        errors = sum(d.severity is Severity.ERROR for d in self.diagnostics)
        count = f"{errors} error{'s' if errors != 1 else ''} in the rules"
        return "\n\n".join([count, *map(str, self.diagnostics)])


@dataclass
class Report:
    """Collects diagnostics of one source while it is checked."""

    source: Source
    found: dict[Diagnostic, None] = field(default_factory=dict)
    """In the order in which they were found, each once."""
    _said: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def error(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        self.found[Diagnostic(code, message, span, self.source, hint)] = None

    def warning(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        self.found[Diagnostic(code, message, span, self.source, hint, Severity.WARNING)] = None

    def note(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        """Report something that is worth knowing, and may be intended."""
        self.found[Diagnostic(code, message, span, self.source, hint, Severity.NOTE)] = None

    def is_first(self, code: str, name: str) -> bool:
        """True the first time a code is reported for a name, for diagnostics that are reported once."""
        if (code, name) in self._said:
            return False
        self._said.add((code, name))
        return True

    @property
    def crowded(self) -> bool:
        """True if there are so many diagnostics that slow hints are left out."""
        return len(self.found) > 200

    @property
    def failed(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.found)

    def sorted(self) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self.found, key=lambda d: (d.span.start, d.span.end, d.code)))


def did_you_mean(word: str, known: Iterable[str], sure: bool = False) -> str | None:
    """A hint with the known word that looks most like `word`, if any does; capitals do not count.

    Short words may differ a little more, unless it must be `sure`.

    >>> did_you_mean("ordr", ["order", "shipped"]), did_you_mean("WHERE", ["where", "within"])
    ('did you mean `order`?', 'did you mean `where`?')
    """
    wanted = word.casefold()
    room = max(2, len(wanted) // 3)
    names = {name.casefold(): name for name in known if abs(len(name) - len(wanted)) <= room}
    near = sorted(names)
    if len(near) > _MANY:  # long lists take time: then only names with the same beginning
        at = bisect_left(near, wanted)
        near = near[max(0, at - _MANY // 2) : at + _MANY // 2]
    near = [name for name in near if name == wanted or not _numbered_alike(name, wanted)]
    close = difflib.get_close_matches(wanted, near, n=1, cutoff=0.7 if sure or len(wanted) > 4 else 0.65)
    return f"did you mean `{names[close[0]]}`?" if close else None


_MANY = 100


def _numbered_alike(one: str, other: str) -> bool:
    """True if two names differ only in their digits: neither is a misspelling of the other."""
    return re.sub(r"\d", "", one) == re.sub(r"\d", "", other) != ""
