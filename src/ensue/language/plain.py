"""Lengths of time that rules write as plain numbers, in the unit of the times: on timestamps that is a microsecond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensue.language import syntax
from ensue.language.functions import TIMERS
from ensue.language.print import show

WITH_LENGTHS = (syntax.EventRule, syntax.ParameterDeclaration, syntax.Keep)


def plain_lengths(statements: Iterable[syntax.Statement]) -> Iterator[tuple[str, int]]:
    """Each plain length as it is written with what is around it, and its number; no length of 0.

    They are in event rules, durations that are parameters, and the longest lifetime.

    >>> from ensue.language.diagnostics import Report
    >>> from ensue.language.parse import parse
    >>> from ensue.language.source import Source
    >>> source = Source("c(x) <- l: a(x), w: following(l, 10), while [w]: not b(x). d(x) <- a(x) seq b(x) within 5.")
    >>> sorted(plain_lengths(parse(source, Report(source)).statements))
    [('following(l, 10)', 10), ('within 5', 5)]
    """
    waiting: list[syntax.Node] = [each for each in statements if isinstance(each, WITH_LENGTHS)]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children())
        number = next((number for number in _numbers(node) if number), None)
        if number is not None:
            yield _written(node), abs(number)


def _numbers(node: syntax.Node) -> Iterator[int]:
    """The plain lengths directly in a node."""
    amounts: list[syntax.Amount | None] = []
    match node:
        case syntax.Within(length=length) | syntax.Lasting(length=length) | syntax.Keep(length=length):
            amounts = [length]
        case syntax.ParameterDeclaration(
            type=syntax.Name(text="duration"), value=syntax.Literal(value=int() as number)
        ):
            yield number
        case syntax.Once(length=length) | syntax.AtMost(length=length):
            amounts = [length]
        case syntax.Window(word=word, size=size) if word != "last":  # which counts events
            amounts = [size]
        case syntax.Temporal(bounds=bounds):
            amounts = [end for bound in bounds for end in (bound.low, bound.high)]
        case syntax.Call(name=name, arguments=arguments) if _is_timer(name):
            for argument in arguments:
                match argument.value:
                    case syntax.Literal(value=int() as number):
                        yield number
                    case syntax.Negative(operand=syntax.Literal(value=int() as number)):
                        yield number
    for amount in amounts:
        if amount is not None and not amount.timed and amount.parameter is None:
            yield amount.value


def _is_timer(name: syntax.Name) -> bool:
    return name.text in TIMERS and name.text != "at" and not name.quoted


def _written(node: syntax.Node) -> str:
    match node:
        case syntax.Temporal(relation=relation, bounds=bounds):
            return relation + "".join(f"[{show(bound)}]" for bound in bounds)
        case syntax.Window(word=word, size=size):
            return f"while {word} {show(size)}"
        case _:
            return show(node).rstrip(".")
