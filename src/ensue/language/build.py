"""Builds the syntax tree while the parser reads: one method for each rule of the grammar."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ensue.language import syntax
from ensue.language.lalr import Token, Tree
from ensue.language.limits import LONGEST
from ensue.language.source import Span
from ensue.language.windows import RESERVED

KEYWORDS = (
    frozenset(
        """event instant table rule test given until expect no unit keep on if do from and or not in seq par before
    after meets met_by overlaps overlapped_by starts started_by during contains finishes finished_by equals without
    while collect where within lasting policy recent chronicle continuous cumulative true false null""".split()  # noqa: SIM905
    )
    | RESERVED
)

MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}

LARGEST = 2**63 - 1


class Rejected(Exception):  # noqa: N818 (it never leaves the parser)
    """A token that fits the grammar but has no sensible meaning, such as an integer of 30 digits."""

    def __init__(self, code: str, span: Span, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.span, self.message, self.hint = code, span, message, hint


def _span(tree: Tree) -> Span:
    return Span(tree.start_pos or 0, tree.end_pos or 0)


def token_span(token: Token) -> Span:
    return Span(token.start_pos, token.end_pos)


def _name(token: Token) -> syntax.Name:
    return syntax.Name(token.value.strip("`"), quoted=token.value.startswith("`"), span=token_span(token))


def _extent(written: syntax.Name | tuple[syntax.Name, str]) -> tuple[syntax.Name, str]:
    """The name behind ``while``, and the brackets around it."""
    return written if isinstance(written, tuple) else (written, "")


def unquoted_path(text: str) -> str:
    """The name of an attribute that is written as a path, each of its parts in backticks or not.

    >>> unquoted_path("user.`first name`")
    'user.first name'
    """
    return ".".join(part.strip("`") for part in re.findall(r"`[^`]+`|[^.`]+", text))


def _integer(token: Token, most: int = LARGEST) -> int:
    value = int(token.value) if len(token.value) <= 20 else most + 1
    if value > most:
        hint = f"the largest integer is {LARGEST}"
        raise Rejected("E007", token_span(token), "this number does not fit into 64 bits", hint)
    return value


def _duration(token: Token) -> int:
    """Microseconds of a duration as written; they must be whole."""
    total = 0
    for number, unit in re.findall(r"([\d.]+)(us|ms|s|m|h|d)", token.value):
        whole, _, fraction = number.partition(".")
        scale = 10 ** len(fraction)
        scaled = int(whole + fraction) * MICROSECONDS[unit] if len(number) < 30 else LARGEST + 1
        if scaled % scale:
            raise Rejected("E503", token_span(token), "this duration is not a whole number of microseconds", "round it")
        total += scaled // scale
    if total > LARGEST:
        hint = f"the longest is {LONGEST:,} microseconds, some 36,500 years"
        raise Rejected("E007", token_span(token), "this duration does not fit into 64 bits", hint)
    return total


def _text(token: Token) -> str:
    """The text of a string: JSON's escapes (``\\" \\\\ \\n \\t \\u00e9``)."""
    try:
        text = str(json.loads(token.value, strict=False))
        text.encode()
        return text
    except UnicodeEncodeError:
        hint = "write the character itself, or both halves"
        raise Rejected("E003", token_span(token), "half of a surrogate pair is not a character", hint) from None
    except json.JSONDecodeError as error:
        place = token_span(token)
        at = Span(place.start + error.pos, min(place.start + error.pos + 2, place.end))
        raise Rejected(
            "E003", at, "strings have no such escape", r"the escapes are \" \\ \n \r \t \b \f \/ and \u00e9"
        ) from None


class Builder:
    """Turns the parser's tree into ours, innermost first and without recursion."""

    # --- statements

    def unit(self, tree: Tree, parts: list[Any]) -> syntax.Unit:
        return syntax.Unit(parts[0], span=_span(tree))

    def keep(self, tree: Tree, parts: list[Any]) -> syntax.Keep:
        return syntax.Keep(parts[0], span=_span(tree))

    def parameter(self, tree: Tree, parts: list[Any]) -> syntax.ParameterDeclaration:
        name, type_, _, value = parts
        return syntax.ParameterDeclaration(name, type_, value, span=_span(tree))

    def event_declaration(self, tree: Tree, parts: list[Any]) -> syntax.EventDeclaration:
        name, columns, instant = parts
        return syntax.EventDeclaration(name, columns or (), instant is not None, span=_span(tree))

    def table_declaration(self, tree: Tree, parts: list[Any]) -> syntax.TableDeclaration:
        return syntax.TableDeclaration(parts[0], parts[1] or (), span=_span(tree))

    def fact(self, tree: Tree, parts: list[Any]) -> syntax.Fact:
        return syntax.Fact(parts[0], span=_span(tree))

    def event_rule(self, tree: Tree, parts: list[Any]) -> syntax.EventRule:
        label, each, head, beginning, body = parts
        name, about = label or (None, None)
        return syntax.EventRule(head, body, name, beginning, about, each is not None, span=_span(tree))

    def static_rule(self, tree: Tree, parts: list[Any]) -> syntax.StaticRule:
        label, head, body = parts
        name, about = label or (None, None)
        return syntax.StaticRule(head, body, name, about, span=_span(tree))

    def test(self, tree: Tree, parts: list[Any]) -> syntax.Test:
        title, settings, given, until, expect = parts
        return syntax.Test(_text(title), given or (), until, expect, settings or (), span=_span(tree))

    def reaction(self, tree: Tree, parts: list[Any]) -> syntax.Reaction:
        event, *condition, action = parts  # an inlined rule leaves no placeholder
        return syntax.Reaction(event, condition[0] if condition else None, action, span=_span(tree))

    def label(self, tree: Tree, parts: list[Any]) -> tuple[syntax.Name, syntax.About | None]:
        name, title, settings = parts
        if title is None and settings is None:
            return name, None
        text = None if title is None else _text(title)
        return name, syntax.About(text, settings or (), span=_span(tree))

    def settings(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def setting(self, tree: Tree, parts: list[Any]) -> syntax.Setting:
        return syntax.Setting(parts[0], parts[2], span=_span(tree))

    def bare_head(self, tree: Tree, parts: list[Any]) -> syntax.Call:
        return syntax.Call(parts[0], (), span=_span(tree))

    def columns(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def column(self, tree: Tree, parts: list[Any]) -> syntax.Column:
        return syntax.Column(parts[0], parts[1], span=_span(tree))

    def path_column(self, tree: Tree, parts: list[Any]) -> syntax.Column:
        token, type_ = parts
        return syntax.Column(syntax.Name(unquoted_path(token.value), span=token_span(token)), type_, span=_span(tree))

    # --- bodies

    def body(self, tree: Tree, parts: list[Any]) -> syntax.Body:
        suffixes = tuple(p for p in parts if isinstance(p, syntax.Suffix))
        items = tuple(p for p in parts if not isinstance(p, syntax.Suffix))
        return syntax.Body(items, suffixes, span=_span(tree))

    def absence(self, tree: Tree, parts: list[Any]) -> syntax.Absence:
        return syntax.Absence(*_extent(parts[0]), parts[1], span=_span(tree))

    def collection(self, tree: Tree, parts: list[Any]) -> syntax.Collection:
        return syntax.Collection(*_extent(parts[0]), parts[1], span=_span(tree))

    def closed(self, tree: Tree, parts: list[Any]) -> tuple[syntax.Name, str]:
        return parts[0], "[]"

    def closed_open(self, tree: Tree, parts: list[Any]) -> tuple[syntax.Name, str]:
        return parts[0], "[)"

    def open_closed(self, tree: Tree, parts: list[Any]) -> tuple[syntax.Name, str]:
        return parts[0], "(]"

    def open(self, tree: Tree, parts: list[Any]) -> tuple[syntax.Name, str]:
        return parts[0], "()"

    def window(self, tree: Tree, parts: list[Any]) -> syntax.Window:
        return syntax.Window(str(parts[0]), parts[1], parts[2], span=_span(tree))

    def since_window(self, tree: Tree, parts: list[Any]) -> syntax.SinceWindow:
        return syntax.SinceWindow(parts[0], parts[1], span=_span(tree))

    def not_in(self, tree: Tree, parts: list[Any]) -> syntax.NotIn:
        return syntax.NotIn(parts[0], parts[1], parts[2], span=_span(tree))

    def on(self, tree: Tree, parts: list[Any]) -> syntax.On:
        return syntax.On(parts[0], span=_span(tree))

    def where(self, tree: Tree, parts: list[Any]) -> syntax.Where:
        return syntax.Where(parts[0], span=_span(tree))

    def within(self, tree: Tree, parts: list[Any]) -> syntax.Within:
        return syntax.Within(parts[0], span=_span(tree))

    def lasting(self, tree: Tree, parts: list[Any]) -> syntax.Lasting:
        return syntax.Lasting(parts[0], span=_span(tree))

    def policy(self, tree: Tree, parts: list[Any]) -> syntax.Policy:
        return syntax.Policy(parts[0], span=_span(tree))

    def once(self, tree: Tree, parts: list[Any]) -> syntax.Once:
        return syntax.Once(parts[0] or (), parts[1], span=_span(tree))

    def at_most(self, tree: Tree, parts: list[Any]) -> syntax.AtMost:
        return syntax.AtMost(parts[0], parts[1] or (), parts[2], span=_span(tree))

    def names(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    # --- patterns and conditions

    def or_(self, tree: Tree, parts: list[Any]) -> syntax.Or:
        return syntax.Or(tuple(parts), span=_span(tree))

    def and_(self, tree: Tree, parts: list[Any]) -> syntax.And:
        return syntax.And(tuple(parts), span=_span(tree))

    def negation(self, tree: Tree, parts: list[Any]) -> syntax.Not:
        return syntax.Not(parts[0], span=_span(tree))

    def without(self, tree: Tree, parts: list[Any]) -> syntax.Without:
        return syntax.Without(parts[0], parts[1], span=_span(tree))

    def temporal(self, tree: Tree, parts: list[Any]) -> syntax.Temporal:
        left, (word, bounds), right = parts
        return syntax.Temporal(word, bounds, left, right, span=_span(tree))

    def relation(self, tree: Tree, parts: list[Any]) -> tuple[str, tuple[syntax.Bound, ...]]:
        return str(parts[0]), tuple(p for p in parts[1:] if p is not None)

    def exactly(self, tree: Tree, parts: list[Any]) -> syntax.Bound:
        return syntax.Bound(parts[0], parts[0], True, span=_span(tree))

    def between(self, tree: Tree, parts: list[Any]) -> syntax.Bound:
        return syntax.Bound(parts[0], parts[1], span=_span(tree))

    def in_context(self, tree: Tree, parts: list[Any]) -> syntax.InContext:
        initiator, _, terminator, pattern = parts
        second = None if terminator is None else str(terminator)
        return syntax.InContext(str(initiator), second, pattern, span=_span(tree))

    def comparison(self, tree: Tree, parts: list[Any]) -> Any:
        left, operator, right = parts
        if operator is None:
            return left
        word = {"==": "=", "<>": "!="}.get(operator.value, operator.value)
        return syntax.Comparison(word, left, right, span=_span(tree))

    def among(self, tree: Tree, parts: list[Any]) -> syntax.Among:
        operand, negated, *values = parts
        return syntax.Among(operand, tuple(values), negated is not None, span=_span(tree))

    def in_range(self, tree: Tree, parts: list[Any]) -> syntax.InRange:
        operand, negated, low, high = parts
        return syntax.InRange(operand, low, high, negated is not None, span=_span(tree))

    def like(self, tree: Tree, parts: list[Any]) -> syntax.Like:
        operand, negated, word, pattern = parts
        return syntax.Like(str(word), operand, pattern, negated is not None, span=_span(tree))

    def is_null(self, tree: Tree, parts: list[Any]) -> syntax.IsNull:
        return syntax.IsNull(parts[0], span=_span(tree))

    def is_not_null(self, tree: Tree, parts: list[Any]) -> syntax.IsNull:
        return syntax.IsNull(parts[0], True, span=_span(tree))

    def case(self, tree: Tree, parts: list[Any]) -> syntax.Case:
        operand, *branches, otherwise = parts
        return syntax.Case(operand, tuple(branches), otherwise, span=_span(tree))

    def branch(self, tree: Tree, parts: list[Any]) -> syntax.Branch:
        return syntax.Branch(parts[0], parts[1], span=_span(tree))

    def otherwise(self, tree: Tree, parts: list[Any]) -> Any:
        return parts[0]

    def arithmetic(self, tree: Tree, parts: list[Any]) -> syntax.Arithmetic:
        left, operator, right = parts
        return syntax.Arithmetic(str(operator), left, right, span=_span(tree))

    def negative(self, tree: Tree, parts: list[Any]) -> syntax.Expression:
        operand = parts[1]
        if isinstance(operand, syntax.Literal) and type(operand.value) in (int, float) and operand.value:
            return syntax.Literal(-operand.value, span=_span(tree))  # type: ignore[operator]
        return syntax.Negative(operand, span=_span(tree))

    def one_or_more(self, tree: Tree, parts: list[Any]) -> syntax.Repeat:
        return syntax.Repeat(parts[0], 1, None, span=_span(tree))

    def any_number(self, tree: Tree, parts: list[Any]) -> syntax.Repeat:
        return syntax.Repeat(parts[0], 0, None, span=_span(tree))

    def repeat(self, tree: Tree, parts: list[Any]) -> syntax.Repeat:
        pattern, low, high = parts
        least = _integer(low)
        return syntax.Repeat(pattern, least, least if high is None else _integer(high), span=_span(tree))

    def labelled(self, tree: Tree, parts: list[Any]) -> syntax.Labelled:
        return syntax.Labelled(parts[0], parts[1], span=_span(tree))

    def group(self, tree: Tree, parts: list[Any]) -> syntax.Expression:
        body: syntax.Body = parts[0]
        if len(body.items) == 1 and not body.suffixes:
            (item,) = body.items
            if isinstance(item, syntax.Group | syntax.Call | syntax.Name | syntax.Attribute | syntax.Literal):
                return item  # parentheses that change nothing
        return syntax.Group(body, span=_span(tree))

    # --- the innermost

    def string(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        return syntax.Literal(_text(parts[0]), span=_span(tree))

    def integer(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        # One more than the largest, for `-9223372036854775808`; parsing refuses it where no minus stands before it.
        return syntax.Literal(_integer(parts[0], LARGEST + 1), span=_span(tree))

    def floating(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        value = float(parts[0].value)
        if math.isinf(value):
            raise Rejected("E007", token_span(parts[0]), "this number is too large", "the largest is about 1.8e308")
        return syntax.Literal(value, span=_span(tree))

    def duration(self, tree: Tree, parts: list[Any]) -> syntax.Amount:
        return syntax.Amount(_duration(parts[0]), True, parts[0].value, span=_span(tree))

    def true(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        return syntax.Literal(True, span=_span(tree))

    def false(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        return syntax.Literal(False, span=_span(tree))

    def null(self, tree: Tree, parts: list[Any]) -> syntax.Literal:
        return syntax.Literal(None, span=_span(tree))

    def attribute(self, tree: Tree, parts: list[Any]) -> syntax.Attribute:
        (token,) = parts
        written = re.fullmatch(r"(`[^`]+`|[^.`]+)\.(.+)", token.value)
        assert written is not None  # the token is made of two names, or more
        start = token.start_pos
        owner = syntax.Name(written[1].strip("`"), span=Span(start, start + written.end(1)))
        name = syntax.Name(unquoted_path(written[2]), span=Span(start + written.start(2), start + written.end(2)))
        return syntax.Attribute(owner, name, span=_span(tree))

    def name(self, tree: Tree, parts: list[Any]) -> syntax.Name:
        return _name(parts[0])

    def call(self, tree: Tree, parts: list[Any]) -> syntax.Call:
        return syntax.Call(parts[0], parts[1] or (), span=_span(tree))

    def arguments(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def argument(self, tree: Tree, parts: list[Any]) -> syntax.Argument:
        return syntax.Argument(parts[0], span=_span(tree))

    def distinct(self, tree: Tree, parts: list[Any]) -> syntax.Argument:
        return syntax.Argument(syntax.Distinct(parts[0], span=_span(tree)), span=_span(tree))

    def star(self, tree: Tree, parts: list[Any]) -> syntax.Argument:
        return syntax.Argument(syntax.Star(span=_span(tree)), span=_span(tree))

    def named_argument(self, tree: Tree, parts: list[Any]) -> syntax.Argument:
        return syntax.Argument(parts[2], parts[0], span=_span(tree))

    def list_literal(self, tree: Tree, parts: list[Any]) -> syntax.ListLiteral:
        return syntax.ListLiteral(tuple(p for p in parts if p is not None), span=_span(tree))

    def amount(self, tree: Tree, parts: list[Any]) -> syntax.Amount:
        minus, token = parts
        if token.type in ("NAME", "QUOTED"):
            name = _name(token).text
            return syntax.Amount(-1 if minus else 1, False, f"{minus or ''}{token.value}", name, span=_span(tree))
        timed = token.type == "DURATION"
        value = _duration(token) if timed else _integer(token)
        written = f"{minus or ''}{token.value}"
        return syntax.Amount(-value if minus else value, timed, written, span=_span(tree))

    # --- tests

    def occurrences(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def expectations(self, tree: Tree, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    def occurrence(self, tree: Tree, parts: list[Any]) -> syntax.Occurrence:
        return syntax.Occurrence(parts[0], parts[1], parts[-1], span=_span(tree))

    def point(self, tree: Tree, parts: list[Any]) -> syntax.Point:
        (value,) = parts
        if isinstance(value, Token):
            value = syntax.Literal(_text(value), span=token_span(value))
        return syntax.Point(value, span=_span(tree))

    def nothing(self, tree: Tree, parts: list[Any]) -> syntax.Nothing:
        return syntax.Nothing(parts[0], span=_span(tree))
