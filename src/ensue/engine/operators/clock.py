"""Clock: a moment of absolute time, which occurs once, or each multiple of a length from the smallest end seen.

State: its next time.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.wait import TIMER
from ensue.engine.structures.rows import Numbers, numbers_layout
from ensue.language import typed
from ensue.plan import operators as plan


class Clock(Operator):
    """Moments of time; see the module."""

    def __init__(self, unit: Unit, node: plan.Clock, layer: int) -> None:
        super().__init__(unit, "clock", layer)
        self.timer = node.timer
        self.state = self.structure("timer", Numbers, numbers_layout(("next", "set")))
        unit.later(layer, f"due_{self.name}() == clock.now", f"occur_{self.name}()", due=True)
        unit.dues.append(f"due_{self.name}()")
        unit.timers[self.state] = self.timer
        if isinstance(self.timer, typed.Periodic):
            unit.periods.append((self.state, self.timer.period))

    @property
    def parts(self) -> int:
        return 1

    def require(self, fields: list[Field]) -> None:
        pass

    def has(self, field: Field) -> bool:
        match field:
            case ("time", label, _):
                return label == self.timer.label
            case ("part", number, _):
                return number == 0
            case _:
                return field[0] in ("source", "oldest")

    def column(self, field: Field) -> Column:
        return Column("i", False)

    def write(self) -> None:
        super().write()
        state, unit = self.state, self.unit
        w = Writer()
        with w.block(f"if {state}.set == 0:"):
            if isinstance(self.timer, typed.Moment):
                w.line(f"{state}.next = {unit.number(self.timer.time)}")
            else:
                with w.block(f"if clock.first == {NEVER}:"):
                    w.line(f"return {NEVER}")
                period = unit.number(self.timer.period)
                w.line(f"{state}.next = -(-clock.first // {period}) * {period}")
            w.line(f"{state}.set = 1")
        w.line(f"return {state}.next")
        unit.function(f"due_{self.name}", [], w, "int")
        w = Writer()
        if isinstance(self.timer, typed.Moment):
            w.line(f"{state}.next = {NEVER}")
        else:
            w.line(f"{state}.next = clock.now + {unit.number(self.timer.period)}")
        now, env = Code("clock.now", "True", "i"), Env()
        for field in self.wanted:
            env[field] = now
            if field in (("part", 0, "k"), ("part", 0, "place")):
                env[field] = Code(str(TIMER << 40), "True", "i")
            elif field[0] == "source":
                env[field] = Code("0", "True", "i")
        env[START] = now
        self.push(w, env)
        unit.function(f"occur_{self.name}", [], w)
