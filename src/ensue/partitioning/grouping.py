"""Assigns the events of a rule to stages, where no one variable has a value in all of them.

Events that share a variable can be joined by it, and the result has the variables of all of them. For each variable
that may partition the last stage, events that lack it are joined with others until all have it. Ways with fewer stages
come first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from ensue.records import dataclass


@dataclass(frozen=True)
class Group:
    """Events by their places, and groups of them, that are joined in one stage: all have a value for the key."""

    members: tuple[int | Group, ...]
    key: str

    @cached_property
    def places(self) -> frozenset[int]:
        return frozenset().union(*(places_in(member) for member in self.members))

    @property
    def stages(self) -> int:
        """Number of stages."""
        return 1 + max((each.stages for each in self.inner), default=0)

    @property
    def size(self) -> int:
        """Number of groups, itself included."""
        return 1 + sum(each.size for each in self.inner)

    @property
    def inner(self) -> list[Group]:
        return [member for member in self.members if isinstance(member, Group)]


def places_in(member: int | Group) -> frozenset[int]:
    """The places of the events in a member of a group."""
    return frozenset((member,)) if isinstance(member, int) else member.places


def groupings(
    variables: Mapping[int, Collection[str]], last: Collection[int], formed: Mapping[int, Group] = MappingProxyType({})
) -> list[Group]:
    """The ways to join events in stages, by the variables that each has; those in `last` are joined in the last one.

    `formed` has the events that are groups of their own before they are joined with others.

    >>> groupings({0: "uv", 1: "vw", 2: "wx"}, ())[0]
    Group(members=(0, Group(members=(1, 2), key='w')), key='v')
    >>> groupings({0: "u", 1: "v"}, ())
    []
    """
    names = dict.fromkeys(name for place in sorted(variables) for name in sorted(variables[place]))
    units = [_Unit(formed.get(place, place), frozenset(names)) for place, names in sorted(variables.items())]
    found = [group for name in names if (group := _parted_by(name, units, last)) is not None]
    return sorted(found, key=lambda group: (group.stages, group.size))


@dataclass(frozen=True)
class _Unit:
    member: int | Group
    variables: frozenset[str]

    @property
    def first(self) -> int:
        return min(places_in(self.member))

    @property
    def stages(self) -> int:
        return 0 if isinstance(self.member, int) else self.member.stages


def _parted_by(key: str, units: Sequence[_Unit], last: Collection[int]) -> Group | None:
    """A way to join events such that all members of the last stage have a variable; None if there is none."""
    while True:
        lacking = [unit for unit in units if key not in unit.variables]
        if not lacking:
            return Group(tuple(unit.member for unit in units), key)
        movable = [unit for unit in units if unit.member not in last]
        if any(unit not in movable for unit in lacking):
            return None
        joins = [joined for unit in lacking for joined in _joins(unit, key, movable)]
        if not joins:
            return None
        _, name, together = min(joins, key=lambda join: join[0])
        group = _Unit(
            Group(tuple(unit.member for unit in together), name), frozenset().union(*(u.variables for u in together))
        )
        units = sorted([unit for unit in units if unit not in together] + [group], key=lambda unit: unit.first)


def _joins(unit: _Unit, key: str, movable: Sequence[_Unit]) -> Iterator[tuple[tuple[bool, int, int], str, list[_Unit]]]:
    """Units that one may be joined with, by each of its variables: others that lack the key, and one that has it."""
    for name in sorted(unit.variables):
        sharing = [other for other in movable if name in other.variables]
        having = [other for other in sharing if key in other.variables]
        together = [other for other in sharing if key not in other.variables] + having[:1]
        if len(together) > 1:
            stages = max(other.stages for other in together)
            together.sort(key=lambda other: other.first)
            yield (not having, stages, unit.first), name, together
