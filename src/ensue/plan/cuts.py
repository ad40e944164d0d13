"""How the events of a program can be cut so that parts of them run side by side, as data.

`ensue.partitioning.cuts` finds it; the engine does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ensue.language import typed


@dataclass(frozen=True)
class SomeRules:
    """Rules as a program of their own, the types that are wanted of them, and their numbers in the whole."""

    program: typed.Program
    wanted: tuple[str, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Cuts:
    """The ways in which events can be cut; None where one does not fit.

    `extent`: into slices of time. What ends at a time follows from events that end at most this long before it.
    `keys`: by the value of an attribute, for each type; one that is not among them may be anywhere.
    `parts` is what runs on each part, `rest` what runs afterwards on what was derived there.
    """

    extent: int | None
    keys: Mapping[str, str] | None
    parts: SomeRules
    rest: SomeRules | None = None
