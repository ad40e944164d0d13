"""Text to syntax tree: cut into statements, each parsed alone, so that all errors of a file come in one go."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ensue.language.build import LARGEST, Builder, Rejected, token_span
from ensue.language.diagnostics import Report
from ensue.language.foreign import CONSTANTS
from ensue.language.lalr import Parser, Token, UnexpectedTokenError, grammar, transformed
from ensue.language.limits import DEEPEST
from ensue.language.source import Source, Span
from ensue.language.syntax import (
    And,
    Argument,
    Arithmetic,
    Branch,
    Case,
    Condition,
    Distinct,
    EventRule,
    File,
    Literal,
    Name,
    Negative,
    Node,
    On,
    Or,
    Reaction,
    Statement,
    StaticRule,
    Temporal,
    Where,
    Without,
)
from ensue.language.unexpected import STATEMENT_WORDS, Stuck, report_unexpected, report_unreadable
from ensue.language.words import kind_of

_LEXEME = re.compile(
    r"""
    \s+ | \#[^\n]* | "(\\[^\n]|[^"\\\n])*" | `[^`\n]+`
    | (\d+(\.\d+)?(us|ms|s|m|h|d))+(?!\w) | \d+(\.\d+([eE][+-]?\d+)?|[eE][+-]?\d+)?(?!\w)
    | [^\W\d]\w* | != | [-+*/%<>=(){}\[\],.:@]
    """,
    re.VERBOSE,
)


_BARE_FRACTION = re.compile(r"(?<![\w.)\]}\"`])\.\d")


def parse(source: Source, report: Report) -> File:
    """The statements of a rule file; those that are wrong are left out and reported.

    >>> source = Source("big(x) <- a(x) where x > 3.")
    >>> parse(source, Report(source)).statements[0].head.name.text
    'big'
    """
    text, wrong = _blank_unreadable(source, report)
    statements: list[Statement] = []
    lost: set[str] = set()
    end = 0
    for tokens in _cut(grammar().lex(text)):
        begin, end = end, _end(tokens, len(text))
        if any(begin <= at < end for at in wrong):
            lost |= _begun(tokens, source)  # one error is enough for a statement
            continue
        rest = tokens
        while rest:
            tokens, (statement, rest) = rest, _parse_statement(rest, begin, source, report)
            if statement is not None:
                statements.append(statement)
            else:
                lost |= _begun(tokens[: len(tokens) - len(rest)], source)
    return File(source, tuple(statements), frozenset(lost))


def _blank_unreadable(source: Source, report: Report) -> tuple[str, list[int]]:
    """The text with spaces for characters that are no words or signs of the language, and their positions."""
    pieces: list[str] = []
    wrong: list[int] = []
    at = 0
    text = source.text
    while at < len(text):
        found = _LEXEME.match(text, at)
        if found and not _BARE_FRACTION.match(text, at):
            pieces.append(found[0])
            at = found.end()
            continue
        end = report_unreadable(source, at, report)
        if text[at] == ";":  # it was meant to end the statement
            pieces.append("." + " " * (end - at - 1))
        else:
            wrong.append(at)
            pieces.append(" " * (end - at))
        at = end
    return "".join(pieces), wrong


# --- statements -------------------------------------------------------------------------------------------------------


def _cut(tokens: Iterator[Token]) -> Iterator[list[Token]]:
    """Groups of tokens, each ending with its period (the last one may lack it)."""
    statement: list[Token] = []
    for token in tokens:
        statement.append(token)
        if token.type == "DOT":
            yield statement
            statement = []
    if statement:
        yield statement


def _end(tokens: list[Token], end_of_text: int) -> int:
    last = tokens[-1]
    return token_span(last).end if last.type == "DOT" else end_of_text


def _begins_line(token: Token, first: Token, source: Source) -> bool:
    """True if a token is the first on its line, no further to the right than the statement it is part of."""
    start = token_span(token).start
    line, column = source.position(start)
    first_line, first_column = source.position(token_span(first).start)
    return line > first_line and column <= first_column and not source.line(line)[: column - 1].strip()


def _begun(tokens: list[Token], source: Source) -> set[str]:
    """The names that a statement, or several without periods between them, would have declared."""
    names: set[str] = set()
    for index, token in enumerate(tokens):
        if index == 0 or _begins_line(token, tokens[0], source):
            names.update(str(first.value).strip("`") for first in tokens[index : index + 4])
    return names


def _parse_statement(
    tokens: list[Token], begin: int, source: Source, report: Report
) -> tuple[Statement | None, list[Token]]:
    """A statement, or None if it is wrong; and the tokens of the next one, where only the period between is missing."""
    parser = Parser(grammar())
    after_period = 0 < begin == token_span(tokens[0]).start
    for index, token in enumerate(tokens):
        try:
            kind = kind_of(tokens, index, parser.accepted)
            parser.feed(token if kind == token.type else token.as_kind(kind))
        except UnexpectedTokenError:
            accepted = parser.accepts()
            new = index > 0 and _begins_line(token, tokens[0], source)
            if new and "DOT" in accepted:
                _report_missing_period(tokens[index - 1], report)
                parser.feed(tokens[index - 1].as_kind("DOT", "."))
                return _build(parser, report), tokens[index:]
            new = new and token.value in STATEMENT_WORDS
            report_unexpected(Stuck(tokens, index, accepted, new, after_period), report)
            return None, tokens[index:] if new else []
    if tokens[-1].type != "DOT":
        accepted = parser.accepts()
        if "DOT" not in accepted:
            report_unexpected(Stuck(tokens, len(tokens), accepted, False, after_period), report)
            return None, []
        _report_missing_period(tokens[-1], report)
        parser.feed(tokens[-1].as_kind("DOT", "."))
    return _build(parser, report), []


# --- text that may be wrong, for editors ------------------------------------------------------------------------------


def read_tokens(source: Source) -> list[list[Token]]:
    """The tokens of each statement of a text, with the kinds that they have there, whatever is wrong with it.

    Where a statement cannot be read on, another one begins with the last line, or else the next one, that is indented
    no further.

    >>> read = read_tokens(Source("a(x) <- b(x),\\nevent c(like: int)."))
    >>> [[str(token) for token in statement][:3] for statement in read]
    [['a', '(', 'x'], ['event', 'c', '(']]
    """
    text, _ = _blank_unreadable(source, Report(source))
    found: list[list[Token]] = []
    for rest in _cut(grammar().lex(text)):
        while rest:
            statement, rest = _read_on(rest, source)
            found.append(statement)
    return found


def _read_on(tokens: list[Token], source: Source) -> tuple[list[Token], list[Token]]:
    """The tokens of a statement, and those of the next one where it ends without a period."""
    parser = Parser(grammar())
    read: list[Token] = []
    begun = 0
    for index, token in enumerate(tokens):
        if index and _begins_line(token, tokens[0], source):
            begun = index
        kind = kind_of(tokens, index, parser.accepted)
        read.append(token if kind == token.type else token.as_kind(kind))
        try:
            parser.feed(read[-1])
        except UnexpectedTokenError:
            later = (at for at in range(index + 1, len(tokens)) if _begins_line(tokens[at], tokens[0], source))
            begun = begun or next(later, len(tokens))
            return [*read[:begun], *tokens[index + 1 : begun]], tokens[begun:]
    return read, []


def expected(tokens: list[Token]) -> set[str] | None:
    """The kinds of tokens that may follow those of a statement that is begun; None where these are wrong.

    >>> "FROM" in (expected(read_tokens(Source("a(x)"))[0]) or ()), expected(read_tokens(Source("event event"))[0])
    (True, None)
    """
    parser = Parser(grammar())
    try:
        for token in tokens:
            parser.feed(token)
    except UnexpectedTokenError:
        return None
    return parser.accepts()


def terminals() -> dict[str, re.Pattern[str]]:
    """The words and signs of the grammar: a pattern for each kind of token; not for those that `words.py` tells."""
    return {name: re.compile(pattern) for name, pattern in grammar().terminals.items()}


def _report_missing_period(last: Token, report: Report) -> None:
    end = token_span(last).end
    report.error(
        "E005", Span(end - 1, end), "the period is missing after this", "every statement ends with a period: `.`"
    )


def _build(parser: Parser, report: Report) -> Statement | None:
    """The statement that was read, unless something in it says nothing sensible."""
    try:
        statement: Statement = transformed(parser.feed_end(), Builder())
    except Rejected as rejected:
        report.error(rejected.code, rejected.span, rejected.message, rejected.hint)
        return None
    if not _is_within_limits(statement, report) or _report_foreign_constants(statement, report):
        return None
    return statement


# --- constants of other languages -------------------------------------------------------------------------------------

_OF_VALUES = (Argument, Arithmetic, Branch, Case, Condition, Distinct, Negative, And, Or, On, Where, Reaction)
"""Nodes in which a name is a value; only those of arguments and of reactions have another name, too."""


def _report_foreign_constants(statement: Statement, report: Report) -> bool:
    """Reports each ``True`` or ``NULL`` among the values of a rule: it would be a variable, which matches anything."""
    found = False
    waiting: list[Node] = [statement] if isinstance(statement, EventRule | StaticRule | Reaction) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, _OF_VALUES):
            other = node.name if isinstance(node, Argument) else node.event if isinstance(node, Reaction) else None
            for child in node.children():
                if isinstance(child, Name) and child is not other and child.text in CONSTANTS and not child.quoted:
                    constant = CONSTANTS[child.text]
                    test = "; to test for it, write `x is null` after `where`" if constant == "null" else ""
                    message = f"`{child.text}` is the name of a variable here, not a constant"
                    report.error("E206", child.span, message, f"write `{constant}`{test}")
                    found = True
        waiting.extend(node.children())
    return found


# --- limits -----------------------------------------------------------------------------------------------------------


def _is_within_limits(statement: Node, report: Report) -> bool:
    """True if nesting and numbers are within the limits; reports an error if not. Works without recursion."""
    waiting = [(statement, 0, 0, 0)]
    while waiting:
        node, depth, links, branches = waiting.pop()
        if depth > DEEPEST:
            what = "this chain of operators is too long" if 2 * links > depth else "this is nested too deeply"
            if 2 * branches > depth:
                what = "this `case` has too many branches"
            report.error("E004", node.span, what, "move a part of it to a separate rule, and use its head here")
            return False
        if isinstance(node, Literal) and isinstance(node.value, int) and node.value == LARGEST + 1:
            report.error(
                "E007", node.span, "this number does not fit into 64 bits", f"the largest integer is {LARGEST}"
            )
            return False
        for place, child in reversed(list(enumerate(node.children()))):
            link = isinstance(child, Arithmetic | Temporal | Without) and type(child) is type(node)
            before = place if isinstance(node, Case) else 0  # a branch is an alternative to all before it
            waiting.append((child, depth + 1 + before, links + link, branches + before))
    return True
