"""RestrictedWithout: matches without a negated instance inside, ends included (``policy restricted``).

Of the negated instances that have ended by now, the one that starts last is inside a match if any is; so only its start
is stored. One that ends with the match counts, so matches wait for the end of their step. Null correlates with nothing.
State: one time for each value of the shared variables; where matches have a largest length, no older ones.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import key_kinds, key_of, lookup
from ensue.engine.structures.rows import Rows, rows_layout
from ensue.engine.structures.times import Times, times_layout
from ensue.plan import operators as plan


class RestrictedWithout(Passing):
    """Matches without a negated instance; see the module."""

    def __init__(
        self, unit: Unit, node: plan.RestrictedWithout, input_: Operator, inner: Operator, layer: int
    ) -> None:  # fmt: skip
        super().__init__(unit, "without", input_, layer)
        self.node, self.inner, self.shared = node, inner, node.part.shared
        self.times: str | None = None
        self.held: str | None = None
        for each in (input_, inner):
            each.want(("var", name) for name in self.shared)
        inner.feed(self.note)
        late = unit.comes_late(node.part.pattern, layer)
        unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()", last=late)

    def _times(self) -> str:
        if self.times is None:
            kinds = key_kinds(self.shared, self.input, self.inner)
            self.times = self.structure("negated", Times, times_layout(kinds), len(kinds))
        return self.times

    def note(self, w: Writer, env: Env) -> None:
        """Write code that records the start of a negated instance, if later matches can have begun before it."""
        reach, start = self.node.reach, env[START].value
        key = key_of(self.unit, w, self.shared, env, self.input)
        if key is None:
            return
        times = self._times()
        over = None if reach is None else f"clock.now - {self.unit.number(reach)}"
        with w.when(key.there), w.when("True" if over is None else f"{start} >= {over}"):
            if over is not None:
                w.line(f"{times}.over = {over}")
            at = lookup(self.unit, w, "slot", times, key.parts)
            w.line(f"{times}.latest[{at}] = max({times}.latest[{at}], {start})")

    def take(self, w: Writer, env: Env) -> None:
        """Write code that holds a match until its step is complete."""
        columns = self.input.columns
        held = self.held = self.structure("held", Rows, rows_layout({"start": "i64", **row_fields(columns)}))
        with w.block(f"if {held}.count == {held}.capacity:"):
            w.line(f"grow({held})")
        w.line(f"{held}.start[{held}.count] = {env[START].value}")
        write_row(w, held, f"{held}.count", columns, env)
        w.line(f"{held}.count += 1")

    def write(self) -> None:
        super().write()
        held = self.held
        assert held is not None
        w = Writer()
        w.line(f"return {held}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        with w.block(f"for i in range({held}.count):"):
            env = read_row(held, "i", self.input.columns)
            env[START] = Code(f"{held}.start[i]", "True", "i")
            inside = w.let("inside", "False")
            key = key_of(self.unit, w, self.shared, env, self.inner)
            if key is not None:
                times = self._times()
                with w.when(key.there):
                    at = lookup(self.unit, w, "find", times, key.parts)
                    there = f"{at} >= 0 and " if key.parts else ""
                    w.line(f"{inside} = {there}{times}.latest[{at}] >= {env[START].value}")
            with w.block(f"if not {inside}:"):
                self.push(w, env)
        w.line(f"{held}.count = 0")
        self.unit.function(f"settle_{self.name}", [], w)
