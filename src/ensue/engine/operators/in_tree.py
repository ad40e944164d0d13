"""Aggregates of values that are nodes of a tree: the number of different ones, and the one at a rank."""

from __future__ import annotations

from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.aggregates import Kept
from ensue.engine.operators.aggregations import smaller
from ensue.engine.structures.trees import MIXED, tree
from ensue.engine.subset.source import source_of
from ensue.language.aggregates import AGGREGATES, between
from ensue.records import dataclass


@dataclass(frozen=True)
class Tree:
    """A tree of rows: the name of its functions, its columns, that of the values, the structures of rows and roots."""

    name: str
    column: str
    held: str
    kind: str
    rows: str
    slots: str

    def use(self, unit: Unit) -> None:
        """Add its functions to a unit."""
        # codes of strings are stable, and any order distinguishes them; ranks would change with each new string
        kind = "i" if self.kind == "s" else self.kind
        before = smaller(f"groups.{self.held}[one]", f"groups.{self.held}[other]", False, kind)
        unit.use(MIXED)
        unit.use(tree(self.name, self.column, before, "groups" if self.slots == self.rows else self.slots))


def read_tree(unit: Unit, w: Writer, one: Kept, tree: Tree, at: str) -> Code:
    """The aggregate of a group's values."""
    slots, column = tree.slots, tree.column
    if AGGREGATES[one.aggregate.name].follows == "distinct":
        return Code(w.let("kinds", f"{slots}.{column}_kinds[{at}]"), "True", "i")
    unit.use(source_of(between))
    count = w.let("n", f"{tree.rows}.{column}_size[{slots}.{column}_root[{at}]]")
    (fraction,) = one.aggregate.constants or (0.5,)
    place = w.let("place", f"{unit.constant(fraction, 'float').value} * float({count} - 1)")
    below = w.let("below", f"truncated(floor({place})) if {count} > 0 else 0")
    above = w.let("above", f"{below} + 1 if {below} + 1 < {count} else {below}")
    low, high = (
        w.let("x", f"{tree.rows}.{tree.held}[nth_{tree.name}({tree.rows}, {at}, {nth})]") for nth in (below, above)
    )
    found = f"between({low}, {high}, {place} - float({below}))"
    return Code(w.let("x", f"{found} if {count} > 0 else 0.0"), f"({count} > 0)", "f")
