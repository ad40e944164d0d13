"""Tree to text: any node on one canonical line, which parses to an equal tree again.

Parentheses are nodes of the tree (`syntax.Group`), so that a tree that was parsed needs no others, apart from those
around a negative number (``o: (-3)``), which the parser drops again. A tree made by hand gets those that it lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum, auto

from ensue.language import syntax
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS, MICROSECONDS
from ensue.language.foreign import CONSTANTS
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.words import BEFORE_OPERANDS, INFIX

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_FUNCTION_WORDS = frozenset({"contains", "last"})
"""Words of the language that are functions too, and need no backticks before a parenthesis."""
_OTHERS = frozenset({*FUNCTIONS, *AGGREGATES, *TIMERS})
"""Names of something else than events, which stay in backticks where they stand in some."""
_MISREAD = INFIX | BEFORE_OPERANDS | CONSTANTS.keys()
"""Names that stand in backticks, because they are words of the language next to some others, or look like constants."""


class _Level(IntEnum):
    """Binding strength of a node, loosest first: the rules of the grammar."""

    ITEM = auto()
    OR = auto()
    AND = auto()
    NOT = auto()
    WITHOUT = auto()
    TEMPORAL = auto()
    CONTEXT = auto()
    COMPARISON = auto()
    SUM = auto()
    PRODUCT = auto()
    UNARY = auto()
    REPEAT = auto()
    LABELLED = auto()
    PRIMARY = auto()


def show(node: syntax.Node) -> str:
    """A node as it is written, on one line.

    >>> from ensue.language.syntax import Amount, Arithmetic, InContext, Literal, Name, Repeat
    >>> show(Arithmetic("*", Name("x"), Literal(-1.5)))
    'x * -1.5'
    >>> show(InContext("cumulative", "chronicle", Repeat(Name("instant"), 1, None)))
    'cumulative/chronicle `instant`+'
    >>> show(Amount(5_400_000_000, timed=True))
    '1h30m'
    """
    match node:
        case syntax.Name(text=text):
            return f"`{text}`" if text in _MISREAD or (node.quoted and text in _OTHERS) else _plain(text)
        case syntax.Amount(written=str() as written):
            return written
        case syntax.Amount(value=value, timed=timed):
            return _duration(value) if timed else str(value)
        case syntax.Literal(value=value):
            return _constant(value)
        case syntax.ListLiteral(items=items):
            return f"[{_commas(items)}]"
        case syntax.Attribute(owner=owner, name=name):
            return f"{show(owner)}.{path(name.text)}"
        case syntax.Argument():
            return _argument(node)
        case syntax.Distinct(operand=operand):
            return f"distinct {_fitting(operand, _Level.OR)}"
        case syntax.Star():
            return "*"
        case syntax.Call(name=name, arguments=arguments):
            called = name.text if name.text in _FUNCTION_WORDS and not name.quoted else show(name)
            return f"{called}({_commas(arguments)})"
        case syntax.Bound(low=low, high=high, exact=exact):
            ends = ["" if end is None else show(end) for end in (low, high)]
            return ends[0] if exact else "..".join(ends)
        case syntax.Group(body=body):
            return f"({show(body)})"
        case syntax.Body(items=items, suffixes=suffixes):
            return " ".join([_commas(items), *map(show, suffixes)])
        case syntax.On(condition=condition):
            return f"on {_fitting(condition, _Level.OR)}"
        case syntax.Where(condition=condition):
            return f"where {_fitting(condition, _Level.OR)}"
        case syntax.Within(length=length):
            return f"within {show(length)}"
        case syntax.Lasting(length=length):
            return f"lasting {show(length)}"
        case syntax.Policy(name=name):
            return f"policy {show(name)}"
        case syntax.Once(keys=keys, length=length):
            return f"once{_per(keys)} in {show(length)}"
        case syntax.AtMost(most=most, keys=keys, length=length):
            return f"at most {show(most)}{_per(keys)} in {show(length)}"
        case syntax.Column(name=name, type=type_):
            return f"{path(name.text)}: {show(type_)}"
        case syntax.Setting(name=name, value=value):
            return f"{show(name)} = {show(value)}"
        case syntax.About(title=title, settings=settings):
            parts = [] if title is None else [string(title)]
            return " ".join([*parts, *([f"[{_commas(settings)}]"] if settings else [])])
        case syntax.Point(value=value):
            return show(value)
        case syntax.Occurrence(call=call, start=start, end=end):
            return f"{show(call)} @ {show(start) if start == end else f'[{show(start)}, {show(end)}]'}"
        case syntax.Nothing(type=type_):
            return f"no {show(type_)}"
        case _:
            return _operation(node) or _item(node) or _statement(node)


def path(name: str) -> str:
    """The name of an attribute, which may be a path, as rules write it.

    >>> path("user.id"), path("qty"), path("Kennz.")
    ('user.id', 'qty', '`Kennz.`')
    """
    parts = name.split(".")
    plain = all(_IDENTIFIER.fullmatch(part) and part not in KEYWORDS for part in parts)
    return name if plain and len(parts) > 1 else _plain(name)


def _operation(node: syntax.Node) -> str:
    """An operator with its operands; nothing for other nodes."""
    match node:
        case syntax.Or(operands=operands):
            return " or ".join(_fitting(operand, _Level.AND) for operand in operands)
        case syntax.And(operands=operands):
            return " and ".join(_fitting(operand, _Level.NOT) for operand in operands)
        case syntax.Not(operand=operand):
            return f"not {_fitting(operand, _Level.NOT)}"
        case syntax.Without(pattern=pattern, absent=absent):
            return f"{_fitting(pattern, _Level.WITHOUT)} without {_fitting(absent, _Level.TEMPORAL)}"
        case syntax.Temporal(relation=relation, bounds=bounds, left=left, right=right):
            related = relation + (f"[{_commas(bounds)}]" if bounds else "")
            return f"{_fitting(left, _Level.TEMPORAL)} {related} {_fitting(right, _Level.CONTEXT)}"
        case syntax.InContext(initiator=initiator, terminator=terminator, pattern=pattern):
            context = initiator if terminator is None else f"{initiator}/{terminator}"
            return f"{context} {_fitting(pattern, _Level.COMPARISON)}"
        case syntax.Comparison(operator=operator, left=left, right=right):
            return f"{_fitting(left, _Level.SUM)} {operator} {_fitting(right, _Level.SUM)}"
        case syntax.Among() | syntax.InRange() | syntax.Like() | syntax.IsNull():
            return _comparison(node)
        case syntax.Case(operand=operand, branches=branches, otherwise=otherwise):
            compared = [] if operand is None else [_fitting(operand, _Level.SUM)]
            last = [] if otherwise is None else [f"else {_fitting(otherwise, _Level.OR)}"]
            return " ".join(["case", *compared, *map(show, branches), *last, "end"])
        case syntax.Branch(condition=condition, value=value):
            return f"when {_fitting(condition, _Level.OR)} then {_fitting(value, _Level.OR)}"
        case syntax.Arithmetic(operator=operator, left=left, right=right):
            level = _level(node)
            after = _fitting(right, _Level(level + 1))
            if operator in "+*" and after.startswith("contains("):
                after = after.replace("contains", "`contains`", 1)  # `x + contains(…)` would repeat `x`
            return f"{_fitting(left, level)} {operator} {after}"
        case syntax.Negative(operand=operand):
            return f"-{_fitting(operand, _Level.UNARY)}"
        case syntax.Repeat(pattern=pattern, low=low, high=high):
            return _fitting(pattern, _Level.LABELLED) + _times(low, high)
        case syntax.Labelled(name=name, pattern=pattern):
            return f"{show(name)}: {_fitting(pattern, _Level.PRIMARY)}"
        case _:
            return ""


def _comparison(node: syntax.Among | syntax.InRange | syntax.Like | syntax.IsNull) -> str:
    """An operator of a word or two between values."""
    operand, negated = _fitting(node.operand, _Level.SUM), "not " if node.negated else ""
    match node:
        case syntax.Among(values=values):
            return f"{operand} {negated}in ({', '.join(_fitting(value, _Level.SUM) for value in values)})"
        case syntax.InRange(low=low, high=high):
            return f"{operand} {negated}between {_fitting(low, _Level.SUM)} and {_fitting(high, _Level.SUM)}"
        case syntax.Like(word=word, pattern=pattern):
            return f"{operand} {negated}{word} {_fitting(pattern, _Level.SUM)}"
        case syntax.IsNull():
            return f"{operand} is {negated}null"


def _item(node: syntax.Node) -> str:
    """Text of a node that is a whole item of a body or stands in parentheses; empty for other nodes."""
    match node:
        case syntax.Absence(window=window, ends=ends, pattern=pattern):
            return f"while {bracketed(show(window), ends)}: not {_fitting(pattern, _Level.OR)}"
        case syntax.Collection(window=window, ends=ends, pattern=pattern):
            return f"while {bracketed(show(window), ends)}: collect {_fitting(pattern, _Level.OR)}"
        case syntax.Window(word=word, size=size, pattern=pattern):
            return f"while {word} {show(size)}: collect {_fitting(pattern, _Level.OR)}"
        case syntax.SinceWindow(beginning=beginning, pattern=pattern):
            return f"while since {_fitting(beginning, _Level.OR)}: collect {_fitting(pattern, _Level.OR)}"
        case syntax.NotIn(absent=absent, first=first, last=last):
            between = f"[{_fitting(first, _Level.OR)}, {_fitting(last, _Level.OR)}]"
            return f"not {_fitting(absent, _Level.NOT)} in {between}"
        case _:
            return ""


def bracketed(name: str, ends: str) -> str:
    """The name of a window with its brackets: ``[w)``, or ``w`` without any."""
    return f"{ends[:1]}{name}{ends[1:]}"


def _statement(node: syntax.Node) -> str:
    match node:
        case syntax.Unit(name=name):
            return f"unit {show(name)}."
        case syntax.Keep(length=length):
            return f"keep {show(length)}."
        case syntax.ParameterDeclaration(name=name, type=type_, value=value):
            return f"param {show(name)}: {show(type_)}{'' if value is None else f' = {show(value)}'}."
        case syntax.EventDeclaration() | syntax.TableDeclaration():
            opening, end = around_columns(node)
            return f"{opening}{_commas(node.columns)}{end}"
        case syntax.Fact(call=call):
            return f"{show(call)}."
        case syntax.EventRule() | syntax.StaticRule():
            return f"{before_body(node)} {show(node.body)}."
        case syntax.Test(title=title, given=given, until=until, expect=expect, settings=settings):
            clauses = [f"with {_commas(settings)}"] if settings else []
            clauses += [f"given {_commas(given)}"] if given else []
            clauses += [f"until {show(until)}"] if until is not None else []
            return " ".join([f"test {string(title)}", *clauses, f"expect {_commas(expect)}."])
        case syntax.Reaction():
            return " ".join(reaction_clauses(node))
        case _:
            raise TypeError(f"{type(node).__name__} is no node of a rule file")


def show_meaning(statement: syntax.Statement) -> str:
    """A statement without its description."""
    if isinstance(statement, syntax.EventRule | syntax.StaticRule) and statement.about is not None:
        statement = replace(statement, about=None)
    return show(statement)


def around_columns(node: syntax.EventDeclaration | syntax.TableDeclaration) -> tuple[str, str]:
    """Texts before and after the columns of a declaration."""
    if isinstance(node, syntax.TableDeclaration):
        return f"table {show(node.name)}(", ")."
    return f"event {show(node.name)}(", ") instant." if node.instant else ")."


def before_body(rule: syntax.EventRule | syntax.StaticRule) -> str:
    """A rule up to its arrow."""
    about = "" if rule.about is None else f" {show(rule.about)}"
    head = f"all {show(rule.head)}" if isinstance(rule, syntax.EventRule) and rule.each else show(rule.head)
    opening = head if rule.label is None else f"rule {show(rule.label)}{about}: {head}"
    if isinstance(rule, syntax.StaticRule):
        return f"{opening} :-"
    return f"{opening} <-" if rule.beginning is None else f"{opening} from {show(rule.beginning)} <-"


def reaction_clauses(node: syntax.Reaction) -> list[str]:
    """A reaction in its parts: ``on …``, perhaps ``if …``, ``do ….``"""
    condition = [] if node.condition is None else [f"if {_fitting(node.condition, _Level.OR)}"]
    return [f"on {show(node.event)}", *condition, f"do {show(node.action)}."]


# --- the parts --------------------------------------------------------------------------------------------------------

_LEVELS: dict[type[syntax.Node], _Level] = {
    syntax.Or: _Level.OR, syntax.And: _Level.AND, syntax.Not: _Level.NOT, syntax.Without: _Level.WITHOUT,
    syntax.Temporal: _Level.TEMPORAL, syntax.InContext: _Level.CONTEXT, syntax.Comparison: _Level.COMPARISON,
    syntax.Among: _Level.COMPARISON, syntax.InRange: _Level.COMPARISON, syntax.Like: _Level.COMPARISON,
    syntax.IsNull: _Level.COMPARISON,
    syntax.Negative: _Level.UNARY, syntax.Repeat: _Level.REPEAT, syntax.Labelled: _Level.LABELLED,
    syntax.Absence: _Level.ITEM, syntax.Collection: _Level.ITEM, syntax.Window: _Level.ITEM,
    syntax.SinceWindow: _Level.ITEM, syntax.NotIn: _Level.ITEM,
}  # fmt: skip


def _level(node: syntax.Node) -> _Level:
    match node:
        case syntax.Arithmetic(operator=operator):
            return _Level.SUM if operator in "+-" else _Level.PRODUCT
        case syntax.Literal(value=int() | float() as value) | syntax.Amount(value=value) if value < 0:
            return _Level.UNARY
        case _:
            return _LEVELS.get(type(node), _Level.PRIMARY)


def _fitting(node: syntax.Node, level: _Level) -> str:
    """A node where the grammar needs one that binds at least as tightly as `level`; others get parentheses."""
    return show(node) if _level(node) >= level else f"({show(node)})"


def _plain(text: str) -> str:
    """A name where no operand can stand, or one that cannot be misread as a word."""
    return text if _IDENTIFIER.fullmatch(text) and text not in KEYWORDS else f"`{text}`"


def _commas(nodes: Iterable[syntax.Node]) -> str:
    return ", ".join(map(show, nodes))


def _per(keys: Iterable[syntax.Name]) -> str:
    return f" per {_commas(keys)}" if keys else ""


def _argument(argument: syntax.Argument) -> str:
    value = show(argument.value)
    if argument.name is not None:
        return f"{_plain(argument.name.text)} = {value}"
    # `f(x = y)` names an argument, `f(x == y)` compares.
    return re.sub(r"\A([^\W\d]\w*|`[^`]+`) = ", r"\1 == ", value)


def _times(low: int, high: int | None) -> str:
    if high is None:
        return "+" if low else "*"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _constant(value: int | float | str | bool | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return string(value)
        case _:
            return repr(value)


def string(text: str) -> str:
    """A text in quotes, with JSON's escapes where it needs them."""
    return json.dumps(text, ensure_ascii=False)


def _duration(microseconds: int) -> str:
    shown, rest = "", abs(microseconds)
    for unit, length in reversed(MICROSECONDS.items()):
        count, rest = divmod(rest, length)
        shown += f"{count}{unit}" if count else ""
    return ("-" if microseconds < 0 else "") + (shown or "0s")
