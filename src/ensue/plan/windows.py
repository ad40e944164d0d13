"""Descriptions of windows: their state for collected events, and for matches beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensue.language import typed
from ensue.language.walk import names_used, visible_labels, visible_variables
from ensue.plan import operators as plan
from ensue.plan.description import Description, Kept, Phrases
from ensue.plan.walk import pattern_of
from ensue.temporal.constraints import constrain
from ensue.temporal.describe import describe_events, describe_pattern
from ensue.temporal.memory import UNBOUNDED, Memory, constant, until, window

OWN_RULE = "put the window into a separate rule, and use what that derives"
BACK = "count back over a length of time, with `while last 1h: collect …`"


def describe_window(
    node: plan.Window, parts: tuple[Description, ...], arguments: Iterable[typed.Expression | None], phrases: Phrases
) -> Description:
    """Description of a window; `arguments` are those of its aggregates.

    Beside a pattern, the window's results wait for later matches, and these for the window.
    """
    held = node.window
    events = describe_events(held.pattern)
    rest = pattern_of(node.input)
    title, cost = _title(held, phrases), f"for each {events}: its aggregates"
    if _depends(held, rest, (*node.terms, *arguments)):
        cost = f"for each {events}: its aggregates anew, with each match beside it, from every {events}"
        taken = [each for each in (held.pattern, held.beginning, rest) if each is not None]
        kept = [Kept(describe_events(each), (), UNBOUNDED, OWN_RULE) for each in taken]
    else:
        kept = [_collected(held, node.keep, phrases)]
        if rest is not None:
            shared = tuple(name for name in held.shared if name in visible_variables(rest))
            both = (f"what is found of {events}", describe_events(rest))
            kept += [_bounded(what, shared, window(node.reach), OWN_RULE) for what in both]
    inputs = [None if rest is None else node.input, node.collected, node.beginning]
    return Description(
        "window", held.id, title, cost, tuple(kept), parts=parts, operators=(node,), output=node,
        inputs=tuple(each for each in inputs if each is not None),
    )  # fmt: skip


def _title(held: typed.Window, phrases: Phrases) -> str:
    size = str(held.size) if held.record.takes == "number" else phrases.length(held.size)
    beginning = "" if held.beginning is None else describe_pattern(held.beginning)
    return held.record.title.format(of=describe_pattern(held.pattern), size=size, beginning=beginning)


def _collected(held: typed.Window, keep: int | None, phrases: Phrases) -> Kept:
    """State for the collected events: themselves, or aggregates of those since the last beginning."""
    events, keys = describe_events(held.pattern), (*held.shared, *held.keys)
    what = events if held.record.keeps_events else f"aggregates of {events}"
    if held.beginning is not None:
        begins = describe_events(held.beginning)
        if _longest(held.pattern, phrases.program) is not None:
            return Kept(what, keys, until(begins))
        return _bounded(begins, keys, window(keep), BACK)
    if held.kind == "gap":
        over = until(f"gap of {phrases.length(held.size)}") if keep is None else window(keep)
        return Kept(what if keep is None else events, keys, over)
    if held.record.takes == "number":
        return Kept(what, keys, constant(held.size))
    return _bounded(what, keys, window(keep if held.extent is None else held.size), BACK)


def _bounded(what: str, key: tuple[str, ...], memory: Memory, advice: str) -> Kept:
    """A part of the state, with advice if nothing bounds it."""
    return Kept(what, key, memory, None if memory.bounded else advice)


def _longest(pattern: typed.Pattern, program: typed.Program) -> int | None:
    """Largest length of an instance of a pattern; None if unknown: then one may still come for any beginning."""
    return constrain(typed.Body(pattern), program.events).longest((pattern.id, False), (pattern.id, True))


def _depends(
    held: typed.Window, rest: typed.Pattern | None, terms: Iterable[typed.Expression | None]
) -> bool:  # fmt: skip
    """True if groups or values differ for each match beside the window, or for each beginning."""
    own = visible_variables(held.pattern) | visible_labels(held.pattern)
    mixed = any(names & own and not names <= own for names in _names(terms))
    if held.beginning is None or rest is None:
        return mixed
    both = visible_variables(held.beginning) & visible_variables(rest)
    return mixed or not both <= set(held.shared)


def _names(terms: Iterable[typed.Expression | None]) -> Iterator[set[str]]:
    for term in terms:
        yield set(names_used(term))
