"""Text to syntax tree: cut into statements, each parsed alone, so that all errors of a file come in one go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedToken, VisitError

from ensue.language.build import KEYWORDS, Builder, Rejected
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.source import Source, Span
from ensue.language.syntax import File, Node, Statement

DEEPEST = 150
"""How deeply patterns and expressions may nest."""

_LEXEME = re.compile(
    r"""
    \s+ | \#[^\n]* | "(\\[^\n]|[^"\\\n])*" | `[^`\n]+`
    | (\d+(\.\d+)?(us|ms|s|m|h|d))+(?!\w) | \d+(\.\d+([eE][+-]?\d+)?|[eE][+-]?\d+)?(?!\w)
    | [^\W\d]\w* | != | [-+*/%<>=(){}\[\],.:@]
    """,
    re.VERBOSE,
)


def parse(source: Source, report: Report) -> File:
    """The statements of a rule file; those that are wrong are left out and reported.

    >>> source = Source("big(x) <- a(x) where x > 3.")
    >>> parse(source, Report(source)).statements[0].head.name.text
    'big'
    """
    text, wrong = _blank_unreadable(source, report)
    statements: list[Statement] = []
    for tokens in _cut(_grammar().lex(text)):
        span = Span(tokens[0].start_pos, tokens[-1].end_pos)
        if any(span.start <= at < span.end for at in wrong):
            continue  # one error is enough for a statement
        statement = _parse_statement(tokens, source, report)
        if statement is not None:
            statements.append(statement)
    return File(source, tuple(statements))


@cache
def _grammar() -> Lark:
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", propagate_positions=True)


def _blank_unreadable(source: Source, report: Report) -> tuple[str, list[int]]:
    """The text with spaces for what is no word or sign of the language, and where that was."""
    pieces: list[str] = []
    wrong: list[int] = []
    at = 0
    text = source.text
    while at < len(text):
        found = _LEXEME.match(text, at)
        if found:
            pieces.append(found[0])
            at = found.end()
            continue
        end = _report_unreadable(source, at, report)
        wrong.append(at)
        pieces.append(" " * (end - at))
        at = end
    return "".join(pieces), wrong


def _report_unreadable(source: Source, at: int, report: Report) -> int:
    text = source.text
    sign = text[at]
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    if sign in '"`':
        kind = "string" if sign == '"' else "quoted name"
        report.error("E003", Span(at, line_end), f"this {kind} has no end", f"close it with {sign} on the same line")
        return line_end
    if sign.isdigit():
        end = at + len(re.match(r"[\w.]*\w", text[at:])[0])  # type: ignore[index]
        report.error(
            "E007", Span(at, end), f"`{text[at:end]}` is no number",
            "a number is 12 or 1.5, a duration 6h, 1h30m or 250ms (us ms s m h d)",
        )  # fmt: skip
        return end
    hint = "strings stand in double quotes" if sign == "'" else None
    report.error("E001", Span(at, at + 1), f"unexpected character {sign!r}", hint)
    return at + 1


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


def _parse_statement(tokens: list[Token], source: Source, report: Report) -> Statement | None:
    parser = _grammar().parse_interactive()
    previous = tokens[0]
    try:
        for token in tokens:
            try:
                parser.feed_token(token)
            except UnexpectedToken:
                _report_unexpected(token, previous, parser.accepts(), source, report)
                return None
            previous = token
        if tokens[-1].type != "DOT":
            place = Span(previous.end_pos - 1, previous.end_pos)
            report.error("E005", place, "the statement is not finished", "end it with a period: `.`")
            return None
        statement: Statement = Builder().transform(parser.feed_eof(tokens[-1]))
    except VisitError as error:
        rejected = error.orig_exc
        if not isinstance(rejected, Rejected):
            raise
        report.error(rejected.code, rejected.span, rejected.message, rejected.hint)
        return None
    place = _too_deep(statement)
    if place is not None:
        report.error(
            "E004", place, f"this is nested more than {DEEPEST} levels deep",
            "give the inner part a rule of its own, and use its head here",
        )  # fmt: skip
        return None
    return statement


def _too_deep(statement: Node) -> Span | None:
    """The first node that lies too deep, found without recursion."""
    waiting = [(statement, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            return node.span
        waiting.extend((child, depth + 1) for child in node.children())
    return None


_SHOWN = {
    "NAME": "a name", "QUOTED": "a name", "STRING": "a string", "INT": "a number", "FLOAT": "a number",
    "DURATION": "a duration", "ATTRIBUTE": "an attribute", "COMPARE": "a comparison", "RELATION": "a temporal operator",
    "CONTEXT": "a context", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`",
    "COMMA": "`,`", "DOT": "`.`", "COLON": "`:`", "AT": "`@`", "EQUAL": "`=`", "PLUS": "an operator", "MINUS": "an operator",
    "TIMES": "an operator", "SLASH": "an operator", "DIVIDE": "an operator", "PLUS_AFTER": "a repetition",
    "STAR_AFTER": "a repetition", "_COLON_COLLECT": "`: collect`", "_ARROW": "`<-`", "_IMPLIED": "`:-`", "LAST": "`last`", "INSTANT": "`instant`",
}  # fmt: skip
_STARTS_OPERAND = {"NAME", "STRING", "INT", "LPAR"}
_CONTINUES = {"PLUS", "COMPARE", "RELATION", "TIMES"}


def _report_unexpected(token: Token, previous: Token, accepted: set[str], source: Source, report: Report) -> None:
    span = Span(token.start_pos, token.end_pos)
    if token.type == "DOT" and previous is not token:
        message = "the statement ends too early"
    else:
        message = f"unexpected `{token.value if len(token.value) < 40 else token.value[:40] + '…'}`"
    report.error("E002", span, message, _hint_for(token, accepted, source))


def _hint_for(token: Token, accepted: set[str], source: Source) -> str:
    word = str(token.value)
    if word in KEYWORDS and "NAME" in accepted:
        return f"`{word}` is a word of the language; as a name it stands in backticks: `` `{word}` ``"
    line, column = source.position(token.start_pos)
    if column == 1 and line > 1 and "DOT" in accepted:
        return "is the period missing at the end of the statement above?"
    if word == "=" and {"COLON", "COMMA"} <= accepted:
        return "a head and an atom take `name = value` only inside their parentheses"
    wanted = sorted({_SHOWN.get(kind, f"`{_literal(kind)}`") for kind in _summarised(accepted)})
    hint = "expected " + _either(wanted) if wanted else "nothing can follow here"
    if token.type == "NAME":
        words = [_literal(kind) for kind in accepted if kind not in _SHOWN]
        words += [w for w in _RELATIONS if "RELATION" in accepted]
        guess = did_you_mean(word, words)
        hint = f"{guess} ({hint})" if guess else hint
    return hint


_RELATIONS = (
    "seq", "par", "before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during",
    "contains", "finishes", "finished_by", "equals",
)  # fmt: skip


def _summarised(accepted: set[str]) -> set[str]:
    """Fewer words for the usual sets: a value or pattern; or what can go on after one."""
    rest = set(accepted)
    if rest >= _STARTS_OPERAND:
        rest -= {"QUOTED", "STRING", "INT", "FLOAT", "DURATION", "ATTRIBUTE", "LPAR", "TRUE", "FALSE", "NULL", "MINUS",
                 "NOT", "LAST", "RELATION", "CONTEXT", "LSQB"}  # fmt: skip
    if rest >= _CONTINUES:
        rest -= {"COMPARE", "MINUS", "TIMES", "SLASH", "DIVIDE", "PLUS_AFTER", "STAR_AFTER", "LBRACE", "AND", "OR",
                 "WITHOUT", "RELATION"}  # fmt: skip
    return rest


def _literal(kind: str) -> str:
    return _signs().get(kind, kind.lower())


@cache
def _signs() -> dict[str, str]:
    return {t.name: t.pattern.value for t in _grammar().terminals if t.pattern.type == "str"}


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
