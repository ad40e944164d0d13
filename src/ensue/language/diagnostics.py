"""What is wrong with a rule file, said so that a person can mend it.

A diagnostic has a stable code, a place, one sentence of what is wrong, and one of what to do. `docs/messages.md` explains
the codes; the golden files in `tests/messages` hold every message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from ensue.language.source import Source, Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """One thing to say about a rule file."""

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
        text = self.source.line(line)
        gutter = f"{line} | "
        # Tabs stay tabs in the line of carets, so that they stand below what they point at.
        before = "".join("\t" if char == "\t" else " " for char in text[: column - 1])
        width = max(1, min(self.span.end - self.span.start, len(text) - column + 1))
        shown = [
            f"{self.file}:{line}:{column}: {self.severity.value} {self.code}: {self.message}",
            f"{gutter}{text}",
            f"{' ' * (len(gutter) - 2)}| {before}{'^' * width}",
        ]
        if self.hint:
            shown.append(f"  = {self.hint}")
        return "\n".join(shown)


class RuleError(Exception):
    """The rules are wrong; `diagnostics` says everything that is wrong with them."""

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
    found: list[Diagnostic] = field(default_factory=list)

    def error(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        self._add(Diagnostic(code, message, span, self.source, hint))

    def warning(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        self._add(Diagnostic(code, message, span, self.source, hint, Severity.WARNING))

    def _add(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self.found:
            self.found.append(diagnostic)

    @property
    def failed(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.found)

    def sorted(self) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self.found, key=lambda d: (d.span.start, d.span.end, d.code)))


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the known word that looks most like `word`, if any does.

    >>> did_you_mean("ordr", ["order", "shipped"])
    'did you mean `order`?'
    """
    close = difflib.get_close_matches(word, sorted(set(known)), n=1, cutoff=0.7)
    return f"did you mean `{close[0]}`?" if close else None
