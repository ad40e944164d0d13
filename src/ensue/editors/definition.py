"""Definition of a name: an event's declaration or first rule, a variable's or label's place in its rule."""

from __future__ import annotations

from ensue.editors.kinds import Kind
from ensue.editors.names import Declared, Named, Statement
from ensue.editors.places import Range, offset_of, range_of
from ensue.editors.text import Functions, Text, text_of
from ensue.language.source import Span


def definition(text: str, line: int, column: int, *, functions: Functions = None) -> Range | None:
    """The place at which the name at a line and column is defined; None for words, functions and unknown names.

    >>> definition("event order(id: int).\\nbig(id) <- order(id).", 2, 13)
    Range(line=1, column=7, end_line=1, end_column=12)
    """
    known = text_of(text, functions=functions)
    found = known.name_at(offset_of(known.source, line, column))
    if found is None:
        return None
    span = _given(known, *found)
    return None if span is None else range_of(known.source, span)


def _given(text: Text, named: Named, statement: Statement) -> Span | None:
    names = text.names
    match named.kind:
        case Kind.EVENT:
            return _place(names.events.get(named.text))
        case Kind.TABLE:
            return _place(names.tables.get(named.text))
        case Kind.PARAMETER:
            return _place(names.parameters.get(named.text))
        case Kind.ATTRIBUTE:
            owner = statement.labels.get(named.owner or "", named.owner)
            known = names.events.get(owner or "") or names.tables.get(owner or "")
            return None if known is None else known.places.get(named.text)
        case Kind.LABEL:
            given = [each for each in statement.named() if each.kind is Kind.LABEL and each.text == named.text]
            return next((each.span for each in given if each.declares), None)
        case Kind.VARIABLE:
            return _binding(named, statement)
        case _:
            return None


def _place(declared: Declared | None) -> Span | None:
    return None if declared is None else declared.span


def _binding(named: Named, statement: Statement) -> Span | None:
    """The first place in the body of a rule at which a variable stands; without a body the first one of all."""
    same = [each.span for each in statement.named() if each.kind is Kind.VARIABLE and each.text == named.text]
    if statement.body < len(statement.tokens):
        arrow = statement.tokens[statement.body].start_pos or 0
        same = [span for span in same if span.start > arrow]
    return same[0] if same and named.text != "_" else None
