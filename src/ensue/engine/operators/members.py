"""Members: what the members of a family do with what their common rule found: each for which it counts derives an event.

The constants of the members are rows of a table, in the order of a threshold if there is one; the first member for which
that fails ends the loop. Where a constant must equal a value of what was found, the rows are looked up by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.operators.derive import Derived
from ensue.engine.sharing.families import Column, Family
from ensue.plan.operators import NotPlannedError


@dataclass(frozen=True)
class Expansion:
    """The members of a family as what derives an event.

    Where they derive events of several types, `heads` has the number of each member's; it is the first attribute then.
    """

    event: str
    family: Family
    heads: tuple[int, ...] = ()

    def columns(self) -> list[Column]:
        """The constants of the members, and the number of their type."""
        numbers = [Column("int", self.heads)] if self.heads else []
        return [*self.family.columns, *numbers]


class Members(Operator):
    """The members of a family; see the module."""

    def __init__(self, unit: Unit, expansion: Expansion, derived: Derived, layer: int) -> None:
        super().__init__(unit, "members", layer)
        raise NotPlannedError("a family")
