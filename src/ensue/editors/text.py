"""A text for questions of editors: its statements with their names, and the program as far as it can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from ensue.data.own_functions import read_functions
from ensue.editors.names import Declared, Named, Names, Statement, declared
from ensue.language import syntax, typed
from ensue.language.build import token_span
from ensue.language.diagnostics import Report
from ensue.language.own import OwnFunction
from ensue.language.parse import parse, read_tokens
from ensue.language.source import Source
from ensue.records import dataclass
from ensue.temporal.check import check

Functions = Mapping[str, Callable[..., Any]] | None


@dataclass(frozen=True)
class Text:
    """A text that may be wrong, with its tokens, names and program."""

    source: Source
    functions: Mapping[str, OwnFunction]

    @cached_property
    def file(self) -> syntax.File:
        """The statements that can be read."""
        return parse(self.source, Report(self.source))

    @cached_property
    def checked(self) -> tuple[typed.Program, bool]:
        """The program of those statements, and whether nothing in it is wrong."""
        report = Report(self.source)
        program = check(self.file, report, functions=self.functions)
        return program, not report.failed

    @cached_property
    def names(self) -> Names:
        """The declarations of the statements; types of attributes are those that the checker infers, where it does."""
        found = declared(read_tokens(self.source), frozenset(self.functions))
        program, _ = self.checked
        events = dict(found.events)
        for name, event in program.events.items():
            if name in events:
                known = events[name]
                events[name] = replace(known, attributes={**known.attributes, **_known(event.attributes)})
        tables = dict(found.tables)
        for name, table in program.predicates.items():
            if name in tables:
                columns = table.columns or tables[name].attributes
                tables[name] = Declared(
                    tables[name].kind, name, tables[name].span, _known(columns), tables[name].places
                )
        return replace(found, events=events, tables=tables)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(Statement(tokens, self.names) for tokens in read_tokens(self.source))

    def statement_at(self, offset: int) -> Statement | None:
        """The statement in which a character stands, or that ends right before it."""
        for statement in self.statements:
            first, last = token_span(statement.tokens[0]), token_span(statement.tokens[-1])
            if first.start <= offset <= last.end:
                return statement
        return None

    def name_at(self, offset: int) -> tuple[Named, Statement] | None:
        """The name at a character, or that ends right before it, with its statement."""
        statement = self.statement_at(offset)
        found = [] if statement is None else [n for n in statement.named() if n.span.start <= offset <= n.span.end]
        return (found[-1], statement) if found and statement is not None else None


def _known(attributes: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: None if type_ == "any" else type_ for name, type_ in attributes.items()}


@lru_cache(maxsize=8)
def _text(text: str, name: str) -> Text:
    return Text(Source(text, name), {})


def text_of(text: str, name: str = "<rules>", functions: Functions = None) -> Text:
    """The analysed text; the last few are kept, since editors ask about a text more than once."""
    return Text(Source(text, name), read_functions(functions)) if functions else _text(text, name)


def shown_terms(attributes: Mapping[str, str | None]) -> str:
    """Attributes with their types, as a declaration has them.

    >>> shown_terms({"id": "int", "product": None})
    'id: int, product'
    """
    return ", ".join(name if type_ is None else f"{name}: {type_}" for name, type_ in attributes.items())


def shown(declared_: Declared, word: str) -> str:
    """A declaration in one line."""
    return f"{word} {declared_.name}({shown_terms(declared_.attributes)})"
