"""The words and signs of a text with their kinds, for colours; also of a text that is not finished."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ensue.editors.kinds import Kind
from ensue.editors.names import Statement
from ensue.editors.places import Range, range_of
from ensue.editors.text import Functions, text_of
from ensue.language.build import token_span
from ensue.language.lalr import Token
from ensue.language.source import Span
from ensue.records import dataclass

CONSTANTS = frozenset({"TRUE", "FALSE", "NULL"})
_SIGNS = {
    "STRING": Kind.STRING, "INT": Kind.NUMBER, "FLOAT": Kind.NUMBER, "DURATION": Kind.DURATION,
    "RELATION": Kind.RELATION, **dict.fromkeys(CONSTANTS, Kind.CONSTANT),
}  # fmt: skip
_PUNCTUATION = frozenset({"LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "COMMA", "DOT", "COLON"})
_COMMENT = re.compile(r"#[^\n]*")
_GAP = re.compile(r"#[^\n]*|[^\s#]+")


@dataclass(frozen=True)
class Coloured:
    """A word or sign with its kind."""

    kind: Kind
    text: str
    range: Range
    span: Span


def tokens(text: str, *, functions: Functions = None) -> tuple[Coloured, ...]:
    """The words and signs of a text in order; spaces are left out, comments are not.

    >>> [(each.text, each.kind.value) for each in tokens("late(id) <- o: order(id). # why")][:7]
    [('late', 'event'), ('(', 'punctuation'), ('id', 'variable'), (')', 'punctuation'), ('<-', 'operator'), ('o', 'label'), (':', 'punctuation')]
    """  # noqa: E501
    known = text_of(text, functions=functions)
    found: list[Coloured] = []
    at = 0

    def add(kind: Kind, start: int, end: int) -> None:
        span = Span(start, end)
        found.append(Coloured(kind, text[start:end], range_of(known.source, span), span))

    for statement in known.statements:
        for kind, span in _kinds(statement):
            for gap in _GAP.finditer(text, at, span.start):
                add(Kind.COMMENT if gap[0].startswith("#") else Kind.ERROR, *gap.span())
            at = span.end
            add(kind, *span)
    for gap in _GAP.finditer(text, at):
        add(Kind.COMMENT if gap[0].startswith("#") else Kind.ERROR, *gap.span())
    return tuple(found)


def _kinds(statement: Statement) -> Iterator[tuple[Kind, Span]]:
    """The kinds of the tokens of a statement, with paths cut into their names."""
    names = {each.span: each.kind for each in statement.named()}
    starts = sorted(names)
    place = 0
    for token in statement.tokens:
        span = token_span(token)
        while place < len(starts) and starts[place].start < span.start:
            place += 1
        inside = []
        while place < len(starts) and starts[place].end <= span.end:
            inside.append(starts[place])
            place += 1
        at = span.start
        for each in inside:
            if each.start > at:
                yield Kind.PUNCTUATION, Span(at, each.start)
            yield names[each], each
            at = each.end
        if not inside:
            yield from _sign(token, span)


def _sign(token: Token, span: Span) -> Iterator[tuple[Kind, Span]]:
    """The kind of a word or sign that is no name."""
    if token.type == "_COLON_COLLECT":
        yield Kind.PUNCTUATION, Span(span.start, span.start + 1)
        for comment in _COMMENT.finditer(str(token.value)):
            yield Kind.COMMENT, Span(span.start + comment.start(), span.start + comment.end())
        yield Kind.KEYWORD, Span(span.end - len("collect"), span.end)
    elif token.type in _SIGNS:
        yield _SIGNS[token.type], span
    elif token.type in _PUNCTUATION:
        yield Kind.PUNCTUATION, span
    elif str(token.value)[:1].isalpha():
        yield Kind.KEYWORD, span
    else:
        yield Kind.OPERATOR, span
