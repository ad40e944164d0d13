"""Sizes of the state of a running program: keys, tuples and bytes, for each part of its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ensue.engine.generated import GeneratedLane
from ensue.records import dataclass


@dataclass(frozen=True)
class Size:
    """Size of one part of a rule.

    `rule` is the rule's label, or else the event that it derives; None where rules of several names share the state, as
    those do that run as one, or have parts in common. `node` names the part. `tuples` may still be matched; `keys` are
    the values by which they are looked up, None where they are not. `bytes` is their memory.
    """

    rule: str | None
    node: str
    keys: int | None
    tuples: int
    bytes: int = 0


def sizes_of(lanes: Iterable[GeneratedLane]) -> list[Size]:
    """The size of each part of the rules, in the order of the lanes."""
    found: list[Size] = []
    for lane in lanes:
        names = _names(lane)
        found += [Size(names[owner], title, *size) for owner, title, size in lane.sizes()]
    return found


def _names(lane: GeneratedLane) -> Mapping[str, str | None]:
    """Names of the owners of structures, for people."""
    names: dict[str, str | None] = {"": None}
    for part in lane.code.together.parts:
        names[part.name] = part.title
    for common in reversed(lane.code.together.common):
        titles = {names[user] for user in common.users}
        names[common.name] = titles.pop() if len(titles) == 1 else None
    return names


def added(sizes: Iterable[Size]) -> list[Size]:
    """Sizes of several runs of one program, added up.

    >>> added([Size("late", "queue", None, 2), Size("late", "queue", None, 3)])
    [Size(rule='late', node='queue', keys=None, tuples=5, bytes=0)]
    """
    sums: dict[tuple[str | None, str], Size] = {}
    for size in sizes:
        place = (size.rule, size.node)
        other = sums.get(place, Size(size.rule, size.node, None, 0))
        keys = other.keys if size.keys is None else size.keys + (other.keys or 0)
        sums[place] = Size(*place, keys, size.tuples + other.tuples, size.bytes + other.bytes)
    return list(sums.values())
