"""The temporal relations as distances between end points: Allen's thirteen, ``seq`` and ``par``.

Each relation is a conjunction of comparisons. Some of them can be refined by a bound in brackets, which then replaces
the comparison; an open side of the bound keeps the comparison's own limit.
"""

from __future__ import annotations

from ensue.language.typed import Distance, Relation
from ensue.records import dataclass

Point = tuple[int, bool]
X_START, X_END, Y_START, Y_END = (0, False), (0, True), (1, False), (1, True)


@dataclass(frozen=True)
class Comparison:
    """``low <= later - earlier <= high``; `refined` is the bracket's position that refines it, if any."""

    earlier: Point
    later: Point
    low: int | None
    high: int | None
    refined: int | None = None


def _less(earlier: Point, later: Point, refined: int | None = None) -> Comparison:
    return Comparison(earlier, later, 1, None, refined)


def _same(left: Point, right: Point) -> Comparison:
    return Comparison(left, right, 0, 0, 0)


_FORWARD: dict[str, tuple[Comparison, ...]] = {
    "before": (_less(X_END, Y_START, 0),),
    "meets": (_same(X_END, Y_START),),
    "overlaps": (_less(X_START, Y_START), _less(Y_START, X_END, 0), _less(X_END, Y_END)),
    "starts": (_same(X_START, Y_START), _less(X_END, Y_END)),
    "during": (_less(Y_START, X_START, 0), _less(X_END, Y_END, 1)),
    "finishes": (_less(Y_START, X_START), _same(X_END, Y_END)),
    "equals": (_same(X_START, Y_START), _same(X_END, Y_END)),
}

_INVERSES = {
    "after": "before", "met_by": "meets", "overlapped_by": "overlaps", "started_by": "starts", "contains": "during",
    "finished_by": "finishes",
}  # fmt: skip

TOLERANT = frozenset({"meets", "met_by", "starts", "started_by", "finishes", "finished_by", "equals"})
"""Relations whose bracket is a tolerance; that of the others is a distance."""

UNBOUNDED = frozenset({"seq", "par"})
"""Operators that take no bracket."""


def _mirrored(comparison: Comparison) -> Comparison:
    def other(point: Point) -> Point:
        return 1 - point[0], point[1]

    return Comparison(
        other(comparison.earlier), other(comparison.later), comparison.low, comparison.high, comparison.refined
    )


COMPARISONS: dict[str, tuple[Comparison, ...]] = {
    **_FORWARD,
    **{word: tuple(map(_mirrored, _FORWARD[forward])) for word, forward in _INVERSES.items()},
    "seq": _FORWARD["before"],
    "par": (_less(X_START, X_END), _less(Y_START, Y_END), _less(X_START, Y_END), _less(Y_START, X_END)),
}

BOTH = Relation("and", ())
"""The relation of ``and`` and of a comma: no condition on time."""

Bound = tuple[int | None, int | None]


def brackets(word: str) -> int:
    """Largest number of bounds that a relation takes."""
    if word in UNBOUNDED:
        return 0
    return 2 if word in ("during", "contains") else 1


def relation(word: str, bounds: tuple[Bound, ...] = ()) -> Relation:
    """A relation with its bounds, each ``(low, high)`` with None for an open side; a tolerance is ``(-t, t)``.

    >>> relation("before", ((0, 5),)).distances
    (Distance(earlier=(0, True), later=(1, False), low=0, high=5),)
    """
    distances = []
    for comparison in COMPARISONS[word]:
        low, high = comparison.low, comparison.high
        if comparison.refined is not None and comparison.refined < len(bounds):
            written_low, written_high = bounds[comparison.refined]
            low = written_low if written_low is not None else low
            high = written_high if written_high is not None else high
        distances.append(Distance(comparison.earlier, comparison.later, low, high))
    return Relation(word, tuple(distances))
