"""Selection and consumption by parameter contexts: instances arrive in order, find initiators, and use them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.semantics import equality
from ensue.records import dataclass
from ensue.reference.matches import Match, both, together

Eligible = Callable[[Match, Match], bool]
"""True if an instance of the left side and one of the right side may be paired."""


@dataclass(frozen=True)
class Arrival:
    """An instance that comes to a pairing: the initiators offered to it, those it takes, and those then gone."""

    side: int
    match: Match
    offered: tuple[Match, ...]
    taken: tuple[Match, ...]
    gone: tuple[Match, ...]


Witness = Callable[[typed.Pair, Arrival], None]
"""Called with each instance that arrives at a pairing, in order."""


def select(
    pair: typed.Pair, left: list[Match], right: list[Match], eligible: Eligible, witness: Witness | None = None
) -> list[Match]:
    """The composites of a pairing with contexts."""
    waiting: dict[Any, tuple[list[Match], list[Match]]] = {}
    """The initiators of each side that are not used up, oldest first, for each correlation."""
    arrivals = sorted([(m.order, 0, m) for m in left] + [(m.order, 1, m) for m in right], key=lambda a: a[:2])
    found: list[Match] = []
    for _, side, arrived in arrivals:
        correlation = tuple(equality(arrived.values[name]) for name in pair.shared)
        if None in correlation:
            continue  # null correlates with nothing
        found.extend(_arrive(pair, side, arrived, waiting.setdefault(correlation, ([], [])), eligible, witness))
    return found


def _arrive(
    pair: typed.Pair, side: int, arrived: Match, waiting: tuple[list[Match], list[Match]], eligible: Eligible,
    witness: Witness | None,
) -> Iterator[Match]:  # fmt: skip
    other = 1 - side
    contexts = (pair.left_context, pair.right_context)
    own, others = contexts[side], contexts[other]
    assert own is not None
    assert others is not None
    taken: list[list[Match]] = []
    offered: list[Match] = []
    before = [*waiting[0], *waiting[1]]
    if pair.initiator != side:
        offered = [
            initiator
            for initiator in waiting[other]
            if not _shares_an_event(initiator, arrived)
            and (eligible(arrived, initiator) if side == 0 else eligible(initiator, arrived))
        ]
        if offered:
            taken, waiting[other][:] = _take(others.initiator, own.terminator, offered, waiting[other])
    for initiators in taken:
        sides = [initiators, [arrived]] if side == 1 else [[arrived], initiators]
        yield _compose(pair, *sides)
    if pair.initiator in (None, side):
        if not taken:
            waiting[side].append(arrived)
        elif own.terminator == "continuous":
            waiting[side][:] = [arrived]
    if witness is not None:
        used = tuple(one for initiators in taken for one in initiators)
        gone = tuple(one for one in before if one not in waiting[0] and one not in waiting[1])
        witness(pair, Arrival(side, arrived, tuple(offered), used, gone))


def _shares_an_event(one: Match, other: Match) -> bool:
    """With a context, one event does not stand on both sides."""
    events = {part.identity for part in one.parts if part.event}
    return any(part.event and part.identity in events for part in other.parts)


def _take(
    context: str, terminator: str, offered: list[Match], waiting: list[Match]
) -> tuple[list[list[Match]], list[Match]]:
    """Initiators that a terminator takes of those offered, composite by composite, and those that remain waiting."""
    match context:
        case "recent":
            newest = offered[-1]
            return [[newest]], waiting[waiting.index(newest) + 1 :]
        case "continuous":
            newest = offered[-1]
            return [[newest]], waiting[waiting.index(newest) :]
        case "chronicle":
            used = offered if terminator == "continuous" else offered[:1]
            return [[one] for one in used], [one for one in waiting if one not in used]
        case _:
            return [offered], [one for one in waiting if one not in offered]


def _compose(pair: typed.Pair, left: list[Match], right: list[Match]) -> Match:
    sides = []
    for members, gathering in ((left, pair.left_gathering), (right, pair.right_gathering)):
        sides.append(members[0] if gathering is None else together(members, gathering, pair.shared))
    return paired(pair, *sides)


def paired(pair: typed.Pair, left: Match, right: Match) -> Match:
    """Both sides of a pairing as one match, which remembers the span between them."""
    found = both(left, right)
    return replace(found, spans={**found.spans, pair.id: (left.end, right.start)})
