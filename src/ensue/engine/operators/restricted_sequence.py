"""RestrictedSequence: the smallest set of pairs, left before right, such that each pair has one of them inside it.

Of the left instances that ended before a right one starts, that with the latest start makes the pair; of those that
start together the one that ended first (Figure 2 of the algebra). A left instance is useless if one that ended no later
starts no earlier, so stored ones rise in starts and ends. Once a right instance began after one ended, it is consumed:
later pairs with it would contain that pair. Where the correlation of the right side has variables of its own, this
holds for each of their values alone, so each value has the time before which left ones are consumed; else these are
removed.

Right instances come once for each correlation and end, or are instantaneous events in order, and pair at once: left
ones of the same step have not ended before. State for each correlation: the left instances that may still be needed.
Where the right side has a largest length, one that ended longer ago is dropped as soon as a later one also has; with an
instantaneous right side one is left (Figure 4), and that of the current step.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, write_row
from ensue.engine.generate.unit import FOREVER, Unit
from ensue.engine.generate.writer import Writer
from ensue.engine.operators.keys import group_parts, key_kinds, key_of, lookup
from ensue.engine.operators.restricted_pairs import RestrictedPair
from ensue.engine.structures.times import LONG_AGO, Times, times_layout
from ensue.plan import operators as plan
from ensue.temporal.restricted import tightest


class RestrictedSequence(RestrictedPair):
    """Innermost pairs; see the module."""

    def __init__(
        self, unit: Unit, node: plan.RestrictedSequence, left: Operator, right: Operator, layer: int
    ) -> None:  # fmt: skip
        super().__init__(unit, "sequence", node, left, right, layer)
        lefts, rights = self.sides
        self.longest = node.lengths[1]
        self.uses_up = not rights.others
        lefts.gone = tightest(node.lengths[0], node.within)
        lefts.jumps = not self.uses_up and self.longest != 0
        self.times: str | None = None
        self.inputs[0].feed(self.keep)
        self.inputs[1].feed(self.pair_up)

    def keep(self, w: Writer, env: Env) -> None:
        """Write code that stores a left instance, for later right ones."""
        unit, within, start = self.unit, self.node.within, env[START].value
        key = key_of(unit, w, self.shared, env, self.inputs[1])
        if key is None:
            return
        short = "True" if within is None else f"clock.now - {start} <= {unit.number(within)}"
        with w.when(key.there), w.when(short):
            table = self.table(0)
            g = self.group(w, 0, env, key.parts)
            before = w.let("before", f"{table}.last[{g}]") if self.sides[0].jumps else ""
            row = w.let("row", f"admitted_instance({table}, {g}, {start}, clock.now)")
            with w.block(f"if {row} >= 0:"):
                write_row(w, table, row, self.inputs[0].columns, env)
                if before:
                    w.line(f"set_instance_jump({table}, {g}, {row}, {before})")
                if within is not None or self.longest is not None:
                    lengths = (FOREVER if length is None else length for length in (self.longest, within))
                    end, begin = (f"clock.now - {unit.number(length)}" for length in lengths)
                    w.line(f"drop_useless_instances({table}, {g}, {end}, {begin})")
                if self.sides[0].chained:
                    self.link(w, 0, g, key.parts)

    def pair_up(self, w: Writer, env: Env) -> None:
        """Write the arrival of a right instance: it pairs with one left instance of each group."""
        key = key_of(self.unit, w, self.shared, env, self.inputs[0])
        if key is None:
            return
        with w.when(key.there):
            if self.uses_up:
                self.walk(w, 0, key.parts, lambda w, g: self._take_out(w, env, g))
            else:
                self._find(w, env, key.parts)

    def _take_out(self, w: Writer, env: Env, g: str) -> None:
        table = self.table(0)
        row = w.let("row", f"used_up_instance({table}, {g}, {env[START].value})")
        with w.block(f"if {row} >= 0:"):
            self.hand_on(w, self.instance(0, row), env)
            w.line(f"close_instance({table}, {row})")

    def _find(self, w: Writer, env: Env, key: list[str]) -> None:
        """Write the pairing where a left instance that one right instance consumed is still there for others."""
        unit, table, start, within = self.unit, self.table(0), env[START].value, self.node.within
        parts = [*key, *group_parts([env[field] for field in self.sides[1].others])]
        if self.times is None:
            kinds = key_kinds(self.shared, *self.inputs) + self.others(1)
            self.times = self.structure("used", Times, times_layout(kinds), len(kinds))
        times = self.times
        at = lookup(unit, w, "find", times, parts)
        since = w.let("since", f"{times}.latest[{at}] if {at} >= 0 else {LONG_AGO}")
        found = w.let("found", "False")
        word = "found_instance_before" if self.sides[0].jumps else "last_instance_before"

        def each(w: Writer, g: str) -> None:
            row = w.let("row", f"{word}({table}, {g}, {start})")
            with w.block(f"if {row} >= 0 and {table}.end[{row}] >= {since}:"):
                w.line(f"{found} = True")
                self.hand_on(w, self.instance(0, row), env)

        with w.block(f"if {start} > {since}:"):
            self.walk(w, 0, key, each, since)
            with w.block(f"if {found}:"):
                if within is not None:
                    w.line(f"{times}.over = clock.now - {unit.number(within)}")
                at = lookup(unit, w, "slot", times, parts)
                w.line(f"{times}.latest[{at}] = {start}")
