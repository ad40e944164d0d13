"""How much a program at work keeps: keys, tuples and bytes, for each part of its rules that keeps anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ensue.engine.generated import GeneratedLane


@dataclass(frozen=True)
class Size:
    """How much one part of a rule keeps.

    `rule` is the rule's label, or else the event that it derives; None where rules of several names share what is kept,
    as those do that run as one, or have parts in common. `node` says which part it is. `tuples` may still be matched;
    `keys` are the values by which they are looked up, None where they are not. `bytes` is what they take in memory.
    """

    rule: str | None
    node: str
    keys: int | None
    tuples: int
    bytes: int = 0


def sizes_of(lanes: Iterable[GeneratedLane]) -> list[Size]:
    """What each part of the rules keeps, in the order of the lanes."""
    found: list[Size] = []
    for lane in lanes:
        names = _names(lane)
        found += [Size(names[owner], title, *size) for owner, title, size in lane.sizes()]
    return found


def _names(lane: GeneratedLane) -> Mapping[str, str | None]:
    """What people call the owners of structures."""
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
