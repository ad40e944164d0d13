"""Ways to cut the events of a program so that parts of them run side by side, as data.

`ensue.partitioning.cuts` finds them; the engine applies them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ensue.language import typed
from ensue.records import dataclass


@dataclass(frozen=True)
class SomeRules:
    """Rules as a program of their own, the types wanted from them, and their numbers in the whole program."""

    program: typed.Program
    wanted: tuple[str, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Cuts:
    """The ways in which events can be cut; None where one does not fit.

    `extent`: into slices of time. Derived events depend on events that end at most this long before them. `keys`: by
    the value of an attribute, for each type; one that is not among them may be anywhere. `parts` are the rules that run
    on each part, `rest` those that run afterwards on the derived events.
    """

    extent: int | None
    keys: Mapping[str, str] | None
    parts: SomeRules
    rest: SomeRules | None = None
