"""Initiators: the instances of one side of a choice that wait for a terminator, by key, in their order.

They wait until they are used up, or too old for anything to come: then they go from the old end of their key, as far as
that is looked at, and from all keys when the pool is full. Where a terminator takes the newest eligible one, and an older
one can never be taken while it is there (`eligible.newest`), the older ones go as it comes. See `structures/waiting.py`.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.eligible import Newest
from ensue.engine.operators.keys import key_kinds, lookup
from ensue.engine.operators.merged import beneath, single_scan
from ensue.engine.operators.parts import Seen, order_fields, return_whether_before
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.waiting import KERNELS, Waiting, waiting_layout
from ensue.temporal.lifetimes import Lifetime


class Initiators:
    """What waits on a side of a choice; see the module. `instant` says that its instances start when they end."""

    def __init__(
        self, of: Operator, side: int, inputs: tuple[Operator, Operator], shared: tuple[str, ...], life: Lifetime,
        instant: bool, newest: Newest | None,
    ) -> None:  # fmt: skip
        self.of, self.unit, self.side, self.inputs, self.shared = of, of.unit, side, inputs, shared
        self.input = inputs[side]
        self.life, self.instant, self.newest = life, instant, newest
        self.late = self._comes_late()
        self.structure: str | None = None

    def _comes_late(self) -> bool:
        """Whether not all instances of a step come at once, so that one may belong before others.

        What the rules of this layer or a later one derive comes after the rest. It comes in its order.
        """
        late = False
        for each in beneath(self.input):
            if isinstance(each, Scan):
                each.ordered = True
                late = late or self.unit.derived.get(each.atom.event, -1) >= self.of.layer
        if not late or single_scan(self.input) is not None:
            return False
        self.input.want(order_fields(self.input))
        return True

    # --- rows

    @property
    def name(self) -> str:
        """The structure: it is laid out when it is first used, when all is known that is wanted."""
        if self.structure is None:
            layout = waiting_layout(key_kinds(self.shared, *self.inputs), row_fields(self.input.columns))
            self.structure = self.of.structure("waiting", Waiting, layout, len(self.shared))
            for text in KERNELS:
                self.unit.use(text)
        return self.structure

    def row(self, row: str) -> Env:
        """The instance in a row."""
        env = read_row(self.name, row, self.input.columns)
        env[START] = Code(f"{self.name}.start[{row}]", "True", "i")
        return env

    def end(self, row: str) -> str:
        return f"{self.name}.end[{row}]"

    def over(self, row: str) -> str:
        """Source for whether an initiator is too old for anything to come."""
        life, tests = self.life, []
        if life.end is not None:
            tests.append(f"clock.now - {self.end(row)} > {self.unit.number(life.end)}")
        if life.start is not None and not (self.instant and life.end is not None and life.end <= life.start):
            tests.append(f"clock.now - {self.name}.start[{row}] > {self.unit.number(life.start)}")
        return " or ".join(tests)

    # --- instances that come

    def wait(self, w: Writer, env: Env, key: list[str], alone: str | None) -> None:
        """Has an instance wait; if `alone` is true, all others of its key go."""
        unit, waiting, newest = self.unit, self.name, self.newest
        lives = [unit.number(NEVER if length is None else length) for length in (self.life.start, self.life.end)]
        ripe = unit.number(NEVER if newest is None else newest.ripe)
        by_start = int(newest is not None and newest.by_start)
        with w.block(f"if {waiting}.free < 0 and {waiting}.count == {waiting}.capacity:"):
            w.line(f"make_way({waiting}, clock.now, {lives[0]}, {lives[1]}, {ripe}, {by_start})")
        at = lookup(unit, w, "slot", waiting, key)
        if alone is not None:
            with w.block(f"if {alone}:"):
                w.line(f"take_out_to({waiting}, {at}, {waiting}.newest[{at}])")
        if newest is not None and newest.ripe <= 1:
            self._let_go(w, env, at, newest)
        elif self.life.end is not None:
            w.line(f"let_go({waiting}, {at}, clock.now, {lives[1]})")
        row = w.let("row", f"new_row({waiting})")
        w.line(f"{waiting}.start[{row}] = {env[START].value}")
        w.line(f"{self.end(row)} = clock.now")
        write_row(w, waiting, row, self.input.columns, env)
        older = w.let("older", f"{waiting}.newest[{at}]")
        if self.late:
            before = f"before_{waiting}({row}, {older})"
            with w.block(f"while {older} >= 0 and {self.end(older)} == clock.now and {before}:"):
                w.line(f"{older} = {waiting}.older[{older}]")
        w.line(f"put_in({waiting}, {at}, {row}, {older})")

    def _let_go(self, w: Writer, env: Env, at: str, newest: Newest) -> None:
        """Takes out what is never taken any more, now that there is a newer one."""
        waiting = self.name
        last = w.let("last", f"{waiting}.newest[{at}]")
        if newest.ripe < 1 and not newest.by_start and not self.late:
            w.line(f"take_out_to({waiting}, {at}, {last})")
            return
        if newest.at_once and not self.late:
            with w.block(f"while {last} >= 0 and {self.end(last)} == clock.now:"):
                w.line(f"take_out({waiting}, {at}, {last})")
                w.line(f"{last} = {waiting}.newest[{at}]")
        if newest.by_start and newest.ripe < 1 and not self.late:
            with w.block(f"while {last} >= 0 and {waiting}.start[{last}] <= {env[START].value}:"):
                w.line(f"take_out({waiting}, {at}, {last})")
                w.line(f"{last} = {waiting}.newest[{at}]")
            return
        with w.block(f"if {last} >= 0 and {self.end(last)} < clock.now:"):
            if not newest.by_start:
                w.line(f"take_out_to({waiting}, {at}, {waiting}.older[{last}])")
                return
            older = w.let("older", f"{waiting}.older[{last}]")
            with w.block(f"while {older} >= 0 and {waiting}.start[{older}] <= {waiting}.start[{last}]:"):
                w.line(f"take_out({waiting}, {at}, {older})")
                w.line(f"{older} = {waiting}.older[{last}]")

    def write(self) -> None:
        """Writes how two initiators compare, where one may belong before others."""
        if self.late and self.structure is not None:
            w = Writer()
            one, other = (Seen(self.input, self.row(row)) for row in ("one", "other"))
            return_whether_before(self.unit, w, one, other, tie=False)
            self.unit.function(f"before_{self.structure}", ["one: int", "other: int"], w, "bool")
