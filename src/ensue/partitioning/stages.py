"""A stage of a program as data: rules that run together, and the partitioning of their events.

The contract between a stage and its executor:

- Every partition runs the stage's program (`stage_program`) on its events alone, with the same end of time and, with
  `from_first_end`, the same first end of all rows that the whole program was given.
- A stage reads given events, and those that earlier stages derived, of the types in `reads`.
- All partitions together derive what the rules derive from all events. They may derive the same event of the types
  in `duplicates`; one of them is kept, as derived events are a set.
- A stage that reads nothing runs once.
"""

from __future__ import annotations

from collections.abc import Mapping

from ensue.partitioning.obstacles import Obstacle
from ensue.records import dataclass


@dataclass(frozen=True)
class ByKey:
    """Events with equal keys are in one partition; any keys may share a partition.

    `keys` has the attributes of the key for each type; a type that is read but not among them may be anywhere. `kinds`
    are the types of the key's values, alike for all of them: a ``float`` is compared after integers have been
    converted, with -0.0 as 0.0 and every NaN as one value. Nulls are a value like others. A row with a null in its key
    can be left out, unless its type is in `nulls`: its partition has no partner for it.
    """

    keys: Mapping[str, tuple[str, ...]]
    kinds: tuple[str, ...]
    nulls: frozenset[str]


@dataclass(frozen=True)
class BySlices:
    """Time is cut into slices. The slice ``[a, b)`` reads events with ``a - extent <= end < b``.

    Its time ends at ``b - 1``, or at the end of all time if that comes first. Only derived events that end in ``[a,
    b)`` count. Slices cover all time up to its end, as timers may end where there is no event.
    """

    extent: int


@dataclass(frozen=True)
class ByRow:
    """Each event matters for itself, so any partition will do: no shuffle is needed."""


@dataclass(frozen=True)
class Whole:
    """Everything in one partition, with the obstacles: each rule that prevents the other ways."""

    obstacles: tuple[Obstacle, ...]


Parting = ByKey | BySlices | ByRow | Whole


@dataclass(frozen=True)
class Stage:
    """Rules that run together. A stage comes after those that derive the events it reads."""

    rules: tuple[int, ...]
    """Their indexes in the program."""
    reads: tuple[str, ...]
    """The types it uses, in the order of events: given, derived by earlier stages, or by itself and given as well."""
    derives: tuple[str, ...]
    parting: Parting
    extent: int | None
    """Derived events depend on events that end at most this long before them; None if nothing bounds that.

    Where it is known any partition can be cut into slices as in `BySlices`, for instance a key with too many events.
    """
    duplicates: frozenset[str]
    """The types of which two partitions may derive the same event."""
    ends_by_itself: bool
    """True if a match can end where no event does, so that the end of all time must be known."""
    from_first_end: bool
    """True if it depends on the smallest end of all given rows, as ``every(5m)`` does."""
