"""Base of the pairs of ``policy restricted``: sides that are stored by their correlation.

The shared variables distinguish a side's instances, and so do other variables of the correlation. Where a side has such
others, the groups that agree in the shared ones form a chain, so that the other side finds them all. Null in a shared
variable correlates with nothing, and is not stored; in the others it is a value like any.
"""

from __future__ import annotations

from collections.abc import Callable

from ensue.engine.generate.fields import START, Env, Field
from ensue.engine.generate.operator import Operator, read_row, row_fields
from ensue.engine.generate.unit import FOREVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.join import Pairing
from ensue.engine.operators.keys import column_kinds, group_parts, key_kinds
from ensue.engine.operators.ordered import in_order
from ensue.engine.operators.scan import Scan
from ensue.engine.structures import instance_groups, instances
from ensue.engine.structures.instances import Instances, instances_layout
from ensue.plan import operators as plan
from ensue.records import dataclass

Each = Callable[[Writer, str], None]
"""Writes the handling of a group."""


@dataclass
class Side:
    """The stored instances of one side. `others` are variables besides the shared ones that distinguish them."""

    input: Operator
    others: list[Field]
    gone: int | None
    """Time after the latest start of a consumed group from which on no other instance can start earlier than that."""
    jumps: bool = False
    table: str = ""
    """The structure, once its layout is fixed."""

    @property
    def chained(self) -> bool:
        return bool(self.others)


class RestrictedPair(Pairing):
    """Two sides, of each of which there is one instance at most for each correlation and end, or events in order."""

    def __init__(
        self, unit: Unit, title: str, node: plan.RestrictedAnd | plan.RestrictedSequence, left: Operator,
        right: Operator, layer: int,
    ) -> None:  # fmt: skip
        left, right = (in_order(unit, each, layer) if isinstance(each, Scan) else each for each in (left, right))
        super().__init__(unit, title, node.pair, left, right, layer)
        self.node, self.shared = node, node.pair.shared
        self.sides = []
        for input_, variables in zip(self.inputs, node.correlations, strict=True):
            others: list[Field] = [("var", name) for name in variables if name not in self.shared]
            input_.want(others)
            self.sides.append(Side(input_, others, None))
        for kernel in (*instances.KERNELS, *instance_groups.KERNELS):
            unit.use(kernel)

    def has(self, field: Field) -> bool:
        return field[0] != "span" and super().has(field)

    # --- stored instances

    def table(self, side: int) -> str:
        """The structure of a side; its layout is fixed on first use, when all wanted fields are known."""
        own = self.sides[side]
        if not own.table:
            kinds = key_kinds(self.shared, *self.inputs)
            kinds += self.others(side) + "i" if own.chained else ""
            layout = instances_layout(kinds, row_fields(own.input.columns), own.chained, own.jumps)
            own.table = self.structure("lefts" if side == 0 else "rights", Instances, layout, len(kinds))
            self._write_group(side, len(kinds))
        return own.table

    def others(self, side: int) -> str:
        """The kinds of the numbers that distinguish the groups of a chain."""
        own = self.sides[side]
        return column_kinds(own.input.column(field) for field in own.others)

    def _write_group(self, side: int, width: int) -> None:
        """Write ``group_…(key)``: the group of a key, new if there is none. Expired groups go before more are made."""
        own, unit = self.sides[side], self.unit
        table, keys = own.table, [f"k{i}" for i in range(width)]
        given = ", ".join([table, *keys])
        unit.keys(width)
        w = Writer()
        w.line(f"at = find_{width}({given})")
        with w.block(f"if at >= 0 and {table}.group[at] >= 0:"):
            w.line(f"return {table}.group[at]")
        if width and (self.node.within is not None or own.gone is not None):
            over, gone = (FOREVER if length is None else length for length in (self.node.within, own.gone))
            with w.block(f"if 2 * {table}.slots >= {table}.slot_mask:"):
                word = "sweep_linked_groups" if own.chained else "sweep_groups"
                w.line(f"{word}({table}, clock.now - {unit.number(over)}, clock.now - {unit.number(gone)})")
        w.line(f"at = slot_{width}({given})")
        w.line(f"g = open_group({table})")
        if own.chained:
            w.line(f"{table}.head[at] = 0")
            w.line(f"{table}.linked[g] = 0")
        w.line(f"{table}.group[at] = g")
        w.line("return g")
        unit.function(f"group_{table}", [f"{key}: int" for key in keys], w, "int")

    def group(self, w: Writer, side: int, env: Env, key: list[str]) -> str:
        """A name for the group of a match."""
        parts = group_parts([env[field] for field in self.sides[side].others])
        table = self.table(side)
        return w.let("g", f"group_{table}({', '.join([*key, *parts, *(['0'] if parts else [])])})")

    def link(self, w: Writer, side: int, group: str, key: list[str]) -> None:
        """Write code that puts a group first in its chain."""
        table = self.table(side)
        head = w.let("head", f"slot_{self._width(side)}({', '.join([table, *self._head(side, key)])})")
        w.line(f"{table}.head[{head}] = 1")
        w.line(f"link_group({table}, {head}, {group})")

    def _width(self, side: int) -> int:
        return len(self.shared) + len(self.others(side)) + 1

    def _head(self, side: int, key: list[str]) -> list[str]:
        return [*key, *["0"] * len(self.others(side)), "1"]

    def walk(self, w: Writer, side: int, key: list[str], each: Each, limit: str | None = None) -> None:
        """Write a loop over the groups of a side that a match of the other side finds by its key.

        Groups that are consumed or whose instances have become too long leave the chain; `limit` ends it, at the first
        group whose last instance ended before that.
        """
        table, own, unit = self.table(side), self.sides[side], self.unit
        if not own.chained:
            at = w.let("at", f"find_{len(key)}({', '.join([table, *key])})")
            with w.block(f"if {at} >= 0:"):
                g = w.let("g", f"{table}.group[{at}]")
                with w.block(f"if {g} >= 0 and {table}.first[{g}] >= 0:"):
                    each(w, g)
            return
        at = w.let("at", f"find_{self._width(side)}({', '.join([table, *self._head(side, key)])})")
        g = w.let("g", f"{table}.group[{at}] if {at} >= 0 else -1")
        with w.block(f"while {g} >= 0:"):
            if limit is not None:
                with w.block(f"if {table}.end[{table}.last[{g}]] < {limit}:"):
                    w.line("break")
            behind = w.let("behind", f"{table}.behind[{g}]")
            if self.node.within is None:
                each(w, g)
            else:
                with w.block(f"if clock.now - {table}.latest[{g}] <= {unit.number(self.node.within)}:"):
                    each(w, g)
                with w.block("else:"):
                    w.line(f"unlink_group({table}, {at}, {g})")
            if self.uses_up:
                with w.block(f"if {table}.linked[{g}] != 0 and {table}.first[{g}] < 0:"):
                    w.line(f"unlink_group({table}, {at}, {g})")
            w.line(f"{g} = {behind}")

    uses_up = False
    """True if found instances are taken out."""

    # --- matches

    def instance(self, side: int, row: str) -> Env:
        """A stored instance."""
        table = self.table(side)
        env = read_row(table, row, self.inputs[side].columns)
        env[START] = Code(f"{table}.start[{row}]", "True", "i")
        return env

    def hand_on(self, w: Writer, left: Env, right: Env) -> None:
        """Write code that passes on a pair, unless it is too long."""
        match = self.env_of(w, left, right, ("0", "0"))
        within = self.node.within
        with w.when("True" if within is None else f"clock.now - {match[START].value} <= {self.unit.number(within)}"):
            self.push(w, match)
