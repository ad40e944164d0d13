"""A plan as a tree of text: each operator with its fields, as they are. For debugging, and for tests of planning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.description import Words
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import Lifetime
from ensue.temporal.memory import Memory
from ensue.temporal.openers import Opener
from ensue.temporal.said import pattern_said, relation_said, scope_said, term_said


def show(derive: plan.Derive, program: typed.Program) -> str:
    """A rule's plan, a line for each operator, its inputs below it."""
    return "\n".join(_lines(derive, Words(program), "", ""))


def _lines(node: Any, words: Words, first: str, rest: str) -> Iterator[str]:
    told, below = [type(node).__name__], []
    for each in fields(node):
        held = getattr(node, each.name)
        several = isinstance(held, tuple)
        inner = [one for one in (held if several else (held,)) if isinstance(one, plan.Operator | plan.Ending)]
        below += [(each.name, one) for one in inner]
        if not inner and held is not None and held is not False and held != ():
            told.append(f"{each.name}: {_said(held, words)}")
    yield f"{first}{', '.join(told)}"
    for number, (name, inner_node) in enumerate(below):
        last = number == len(below) - 1
        title = "" if name in ("input", "inputs") else f"{name}: "
        yield from _lines(inner_node, words, f"{rest}{'└' if last else '├'} {title}", f"{rest}{' ' if last else '│'} ")


def _said(held: Any, words: Words) -> str:
    match held:
        case typed.Pair(relation=relation, shared=shared):
            contexts = [context.initiator for context in (held.left_context, held.right_context) if context is not None]
            by = f" by {' '.join(shared)}" if shared else ""
            return f"{'/'.join(contexts)} {relation_said(relation, words.length)}{by}".strip()
        case typed.Rule(event=event, head=head):
            return f"{event}({', '.join(name for name, _ in head)})"
        case typed.Absence(scope=scope) | typed.Gathering(scope=scope):
            by = f" by {' '.join(held.shared)}" if held.shared else ""
            return f"{pattern_said(held.pattern)}{by}, {_said(scope, words)}"
        case typed.During():
            return f"during {scope_said(held)}"
        case typed.Between() | typed.Inside():
            return type(held).__name__.lower()
        case typed.Window(kind=kind, size=size):
            keys = " ".join((*held.shared, *held.keys))
            return f"{kind} {size} of {pattern_said(held.pattern)}{f' by {keys}' if keys else ''}"
        case typed.Timer(of=of, points=points, label=label):
            begin, end = (f"{'end' if end else 'start'}{shift:+}" for end, shift in points)
            return f"{label} is {of} from {begin} to {end}"
        case typed.Related(left=left, relation=relation, right=right):
            return f"{left} {relation_said(relation, words.length)} {right}"
        case typed.Lookup(predicate=predicate, arguments=terms):
            return f"{predicate}({', '.join('_' if term is None else term_said(term) for term in terms)})"
        case Side():
            flags = [name for name in ("stored", "looks", "suppressed") if getattr(held, name)]
            return f"{' '.join(flags)} {_said(held.lifetime, words)}".strip()
        case Lifetime(start=start, end=end):
            return f"until start+{'∞' if start is None else start} end+{'∞' if end is None else end}"
        case Opener(atom=atom, reach=reach):
            return f"atom {atom} for {'∞' if reach is None else reach}"
        case Memory(kind=kind, size=size):
            return f"{kind.name.lower()} {size}"
        case typed.Body():
            return "…"
        case tuple():
            return f"({'; '.join(_said(each, words) for each in held)})"
        case None:
            return "∞"
        case str() | int():
            return str(held)
        case _ if isinstance(held, typed.Pattern):
            return pattern_said(held, words.length)
        case _:
            return words.conditions([held])[0]
