"""Memory of ``policy restricted``, and its bounds: section 6 of Carlson and Lisper's algebra.

A disjunction keeps nothing, a conjunction two instances, a negation one time. A sequence keeps one left instance where
its right side is instantaneous; where the right side has a longest length, or the whole has (``within``), those that
end in that time; and else all of them. All of this is for each correlation.
"""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.temporal.constraints import Events
from ensue.temporal.memory import NOTHING, Memory, constant, window


def tightest(*lengths: int | None) -> int | None:
    """The smallest of some bounds; None is no bound.

    >>> tightest(None, 5, 3), tightest(None)
    (3, None)
    """
    return min((length for length in lengths if length is not None), default=None)


def longest(pattern: typed.Pattern, limit: int | None, events: Events) -> int | None:
    """The longest useful length of an instance of a pattern; None where nothing bounds it.

    `limit` is the longest length of the match that it is part of. A result of 0 means instantaneous: `ins` of the
    paper.

    >>> tick = typed.EventType("tick", {}, True, False, instant=True)
    >>> longest(typed.Either(2, (typed.Atom(1, "tick", ()),)), None, {"tick": tick})
    0
    """
    match pattern:
        case typed.Atom(event=event):
            return 0 if event in events and events[event].instant else limit
        case typed.Moment() | typed.Periodic():
            return 0
        case typed.Either(alternatives=alternatives):
            lengths = [longest(each, limit, events) for each in alternatives]
            known = [length for length in lengths if length is not None]
            return max(known) if len(known) == len(lengths) else None
        case typed.Lacking(pattern=inner):
            return longest(inner, limit, events)
        case typed.Nested(body=body):
            own = tightest(limit, body.within, body.lasting)
            return own if body.pattern is None else longest(body.pattern, own, events)
        case _:
            return limit


def memory_of(pattern: typed.Pattern, limit: int | None, events: Events) -> Memory:
    """Memory of the operator of a pattern itself, for each correlation; `limit` as in `longest`."""
    match pattern:
        case typed.Pair(relation=relation) if relation.word != "seq":
            return constant(2)
        case typed.Pair(right=right):
            length = longest(right, limit, events)
            return constant(1) if length == 0 else window(length)
        case typed.Lacking():
            return constant(1)
        case _:
            return NOTHING


def memories(body: typed.Body, events: Events, limit: int | None = None) -> Iterator[tuple[typed.Pattern, Memory]]:
    """The patterns of a restricted body, each with the memory of its operator.

    Patterns in parentheses under another policy are left out.
    """
    own = tightest(limit, body.within)
    waiting: list[typed.Pattern | None] = [body.pattern, *(absence.pattern for absence in body.absences)]
    while waiting:
        pattern = waiting.pop()
        if pattern is None:
            continue
        yield pattern, memory_of(pattern, own, events)
        match pattern:
            case typed.Pair(left=left, right=right):
                waiting += [left, right]
            case typed.Either(alternatives=alternatives):
                waiting += alternatives
            case typed.Lacking(pattern=inner):
                waiting.append(inner)
            case typed.Nested(body=nested) if nested.restricted:
                yield from memories(nested, events, own)


def bounded(body: typed.Body, events: Events) -> bool:
    """True if a restricted body is detected in memory that does not grow with the stream, for each correlation."""
    return all(memory.bounded for _, memory in memories(body, events))
