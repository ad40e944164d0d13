"""RestrictedAnd: of the pairs with one end and correlation, one with the latest start (Figure 2 of the algebra).

Each side keeps, for each correlation, the instance with the latest start, and of those that start together the one that
ended first. A pair ends now because a side does: it consists of that side's instance of the step and the other side's
best one. Where both sides have one, the pair that starts later wins, then the one whose left side starts later, and
then the one whose left side is earlier in order. Sides wait for the end of their step. State: two instances for each
correlation; those that ``within`` rules out leave when room is needed.
"""

from __future__ import annotations

from functools import partial

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import key_of
from ensue.engine.operators.restricted_pairs import RestrictedPair
from ensue.engine.structures.rows import Rows, rows_layout
from ensue.plan import operators as plan


class RestrictedAnd(RestrictedPair):
    """Pairs of the latest starts; see the module."""

    def __init__(
        self, unit: Unit, node: plan.RestrictedAnd, left: Operator, right: Operator, layer: int
    ) -> None:  # fmt: skip
        super().__init__(unit, "both", node, left, right, layer)
        self.arrivals: list[str | None] = [None, None]
        for side, input_ in enumerate(self.inputs):
            input_.feed(partial(self.arrive, side=side))
        unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()")

    def _new(self, side: int) -> str:
        """The rows of a side that arrived in this step, one for each group."""
        found = self.arrivals[side]
        if found is None:
            layout = rows_layout({"start": "i64", "of": "i64", **row_fields(self.inputs[side].columns)})
            found = self.arrivals[side] = self.structure("arrived", Rows, layout)
        return found

    def arrive(self, w: Writer, env: Env, side: int) -> None:
        """Write the arrival of an instance: in its group and step, the first with the latest start stays."""
        key = key_of(self.unit, w, self.shared, env, self.inputs[1 - side])
        if key is None:
            return
        within, start = self.node.within, env[START].value
        short = "True" if within is None else f"clock.now - {start} <= {self.unit.number(within)}"
        with w.when(key.there), w.when(short):
            table, new = self.table(side), self._new(side)
            g = self.group(w, side, env, key.parts)
            row = w.let("row", f"{table}.pending[{g}]")
            with w.block(f"if {table}.arrived[{g}] != {table}.turn:"):
                with w.block(f"if {new}.count == {new}.capacity:"):
                    w.line(f"grow({new})")
                w.line(f"{row} = {new}.count")
                w.line(f"{new}.count += 1")
                w.line(f"{table}.arrived[{g}] = {table}.turn")
                w.line(f"{table}.pending[{g}] = {row}")
                w.line(f"{new}.of[{row}] = {g}")
                if self.sides[side].chained:
                    with w.block(f"if {table}.linked[{g}] == 0:"):
                        self.link(w, side, g, key.parts)
            with w.block(f"elif {start} <= {new}.start[{row}]:"):
                w.line(f"{row} = -1")
            with w.block(f"if {row} >= 0:"):
                w.line(f"{new}.start[{row}] = {start}")
                write_row(w, new, row, self.inputs[side].columns, env)

    def write(self) -> None:
        super().write()
        w = Writer()
        if None in self.arrivals:  # no values of the two sides can be equal
            w.line("return 0")
            self.unit.function(f"held_{self.name}", [], w, "int")
            self.unit.function(f"settle_{self.name}", [], Writer())
            return
        w.line(f"return {self._new(0)}.count + {self._new(1)}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        for side in (0, 1):
            self._keep(w, side)
        self._pair_left(w)
        self._pair_right(w)
        for side in (0, 1):
            w.line(f"{self._new(side)}.count = 0")
            w.line(f"{self.table(side)}.turn += 1")
        self.unit.function(f"settle_{self.name}", [], w)

    def _arrived(self, side: int, row: str) -> Env:
        new = self._new(side)
        env = read_row(new, row, self.inputs[side].columns)
        env[START] = Code(f"{new}.start[{row}]", "True", "i")
        return env

    def _keep(self, w: Writer, side: int) -> None:
        """Write code that replaces the stored instance of a group by one that starts later."""
        table, new, columns = self.table(side), self._new(side), self.inputs[side].columns
        with w.block(f"for i in range({new}.count):"):
            g = w.let("g", f"{new}.of[i]")
            with w.block(f"if {new}.start[i] > {table}.latest[{g}]:"):
                w.line(f"{table}.latest[{g}] = {new}.start[i]")
                row = w.let("row", f"only_instance({table}, {g})")
                w.line(f"{table}.start[{row}] = {new}.start[i]")
                w.line(f"{table}.end[{row}] = clock.now")
                write_row(w, table, row, columns, read_row(new, "i", columns))

    def _pair_left(self, w: Writer) -> None:
        """Write the pairing of left instances of the step with the best right ones of each group."""
        (lefts, rights), new = (self.table(side) for side in (0, 1)), self._new(0)
        with w.block(f"for i in range({new}.count):"):
            env = self._arrived(0, "i")
            key = key_of(self.unit, w, self.shared, env, self.inputs[1])
            assert key is not None

            def each(w: Writer, g: str) -> None:
                best = w.let("best", f"{rights}.first[{g}]")
                other, both = w.let("own", f"{lefts}.first[{new}.of[i]]"), w.let("instead", "False")
                with w.block(f"if {rights}.arrived[{g}] == {rights}.turn and {lefts}.end[{other}] < clock.now:"):
                    theirs = f"min({lefts}.start[{other}], {self._new(1)}.start[{rights}.pending[{g}]])"
                    w.line(f"{both} = min({new}.start[i], {rights}.start[{best}]) <= {theirs}")
                with w.block(f"if {both}:"):
                    row = w.let("row", f"{rights}.pending[{g}]")
                    self.hand_on(w, self.instance(0, other), self._arrived(1, row))
                with w.block("else:"):
                    self.hand_on(w, env, self.instance(1, best))

            self.walk(w, 1, key.parts, each)

    def _pair_right(self, w: Writer) -> None:
        """Write the pairing of right instances of the step with the best left ones of groups without a new one."""
        lefts, new = self.table(0), self._new(1)
        with w.block(f"for i in range({new}.count):"):
            env = self._arrived(1, "i")
            key = key_of(self.unit, w, self.shared, env, self.inputs[0])
            assert key is not None

            def each(w: Writer, g: str) -> None:
                with w.block(f"if {lefts}.arrived[{g}] != {lefts}.turn:"):
                    self.hand_on(w, self.instance(0, f"{lefts}.first[{g}]"), env)

            self.walk(w, 0, key.parts, each)
