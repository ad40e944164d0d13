"""``policy restricted``: the restricted semantics of an algebra that runs in bounded memory.

`latest` is the restriction of atoms, ``or`` and ``and``: of the instances with one end, one with the latest start.
`innermost` is that of ``seq``: a smallest set such that each instance has one of them inside it. Both apply within
one correlation. Where they leave a choice open, the first stays of the instances as they are given: events and
alternatives in the order of instances, pairs by `preferred` sides, so that the choice needs no more memory than the
rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ensue.language.semantics import identity
from ensue.reference.matches import Match


def _correlations(matches: list[Match], variables: list[str]) -> list[list[Match]]:
    groups: dict[Any, list[Match]] = {}
    for match in matches:
        groups.setdefault(tuple(identity(match.values[name]) for name in variables), []).append(match)
    return list(groups.values())


def in_order(matches: list[Match]) -> list[Match]:
    return sorted(matches, key=lambda m: m.order)


def preferred(matches: list[Match]) -> list[Match]:
    """The sides of pairs: those with later starts first, then in order. Pairs follow their left side, then the
    right."""
    return sorted(matches, key=lambda m: (-m.start, m.order))


def latest(matches: list[Match], variables: list[str]) -> list[Match]:
    """Of the instances with one end, one with the latest start."""
    found = []
    for group in _correlations(matches, variables):
        for end in dict.fromkeys(match.end for match in group):
            found.append(max((m for m in group if m.end == end), key=lambda m: m.start))
    return found


def innermost(matches: list[Match], variables: list[str]) -> list[Match]:
    """A smallest set of instances such that each instance has one of them inside it."""
    found = []
    for group in _correlations(matches, variables):
        seen: set[tuple[int, int]] = set()
        for match in group:
            if (match.start, match.end) not in seen and not any(_strictly_inside(other, match) for other in group):
                seen.add((match.start, match.end))
                found.append(match)
    return found


def _strictly_inside(inner: Match, outer: Match) -> bool:
    same = (inner.start, inner.end) == (outer.start, outer.end)
    return outer.start <= inner.start and inner.end <= outer.end and not same


Restriction = Callable[[list[Match], list[str]], list[Match]]
