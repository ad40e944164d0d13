"""A plan as a tree of text: each operator with its fields, as they are. For debugging, and for tests of planning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.description import Phrases
from ensue.temporal.describe import describe_pattern, describe_relation, describe_scope, describe_term
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import Lifetime
from ensue.temporal.memory import Memory
from ensue.temporal.openers import Opener


def show(derive: plan.Derive, program: typed.Program) -> str:
    """A rule's plan, a line for each operator, its inputs below it."""
    return "\n".join(_lines(derive, Phrases(program), "", ""))


def _lines(node: Any, phrases: Phrases, first: str, rest: str) -> Iterator[str]:
    told, below = [type(node).__name__], []
    for each in fields(node):
        held = getattr(node, each.name)
        several = isinstance(held, tuple)
        inner = [one for one in (held if several else (held,)) if isinstance(one, plan.Operator | plan.Ending)]
        below += [(each.name, one) for one in inner]
        if not inner and held is not None and held is not False and held != ():
            told.append(f"{each.name}: {_describe(held, phrases)}")
    yield f"{first}{', '.join(told)}"
    for number, (name, inner_node) in enumerate(below):
        last = number == len(below) - 1
        title = "" if name in ("input", "inputs") else f"{name}: "
        yield from _lines(
            inner_node, phrases, f"{rest}{'└' if last else '├'} {title}", f"{rest}{' ' if last else '│'} "
        )


def _describe(held: Any, phrases: Phrases) -> str:
    match held:
        case typed.Pair(relation=relation, shared=shared):
            contexts = [context.initiator for context in (held.left_context, held.right_context) if context is not None]
            by = f" by {' '.join(shared)}" if shared else ""
            return f"{'/'.join(contexts)} {describe_relation(relation, phrases.length)}{by}".strip()
        case typed.Rule(event=event, head=head):
            return f"{event}({', '.join(name for name, _ in head)})"
        case typed.Absence(scope=scope) | typed.Gathering(scope=scope):
            by = f" by {' '.join(held.shared)}" if held.shared else ""
            return f"{describe_pattern(held.pattern)}{by}, {_describe(scope, phrases)}"
        case typed.During():
            return f"during {describe_scope(held)}"
        case typed.Between() | typed.Inside():
            return type(held).__name__.lower()
        case typed.Window(kind=kind, size=size):
            keys = " ".join((*held.shared, *held.keys))
            return f"{kind} {size} of {describe_pattern(held.pattern)}{f' by {keys}' if keys else ''}"
        case typed.Timer(of=of, points=points, label=label):
            begin, end = (f"{'end' if end else 'start'}{shift:+}" for end, shift in points)
            return f"{label} is {of} from {begin} to {end}"
        case typed.Related(left=left, relation=relation, right=right):
            return f"{left} {describe_relation(relation, phrases.length)} {right}"
        case typed.Lookup(predicate=predicate, arguments=terms):
            return f"{predicate}({', '.join('_' if term is None else describe_term(term) for term in terms)})"
        case Side():
            flags = [name for name in ("stored", "looks", "suppressed") if getattr(held, name)]
            return f"{' '.join(flags)} {_describe(held.lifetime, phrases)}".strip()
        case Lifetime(start=start, end=end):
            return f"until start+{'∞' if start is None else start} end+{'∞' if end is None else end}"
        case Opener(atoms=atoms, reach=reach):
            numbers = " or ".join(map(str, atoms))
            return f"atom {numbers} for {'∞' if reach is None else reach}{', at once' if held.at_once else ''}"
        case Memory(kind=kind, size=size):
            return f"{kind.name.lower()} {size}"
        case typed.Body():
            return "…"
        case tuple():
            return f"({'; '.join(_describe(each, phrases) for each in held)})"
        case None:
            return "∞"
        case str() | int():
            return str(held)
        case _ if isinstance(held, typed.Pattern):
            return describe_pattern(held, phrases.length)
        case _:
            return phrases.conditions([held])[0]
