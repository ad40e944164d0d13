"""Ordered: the matches of a step in their order, for operators to which the order matters.

Matches that end together are ordered by start, then part by part as written. State: the matches of the step at hand.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Env, Field
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.rows import StepRows, rows_layout, sorting


def in_order(unit: Unit, operator: Operator, layer: int) -> Operator:
    """The operator, or one that hands on its matches in order."""
    if isinstance(operator, Scan):
        operator.ordered = True
        unit.inputs_need_order = True
        return operator
    return operator if isinstance(operator, Ordered) else Ordered(unit, operator, layer)


def place_of(unit: Unit, field: Field, env: Env) -> str:
    """Source for the number by which a field of a part is compared; see `part_place` for static rows."""
    held = env[field].value
    return f"part_place({held})" if field[2] == "k" and "facts" in unit.structures else held


class Ordered(Passing):
    """Matches in order; see the module."""

    def __init__(self, unit: Unit, input_: Operator, layer: int) -> None:
        super().__init__(unit, "ordered", input_, layer)
        unit.inputs_need_order = True
        self.keys: list[Field] = [("part", n, which) for n in range(input_.parts) for which in ("end", "start", "k")]
        input_.want(self.keys)
        self.rows: str | None = None
        unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()")

    def take(self, w: Writer, env: Env) -> None:
        columns = self.input.columns
        rows = self.rows = self.unit.structure("unsorted", StepRows, rows_layout({"start": "i64", **row_fields(columns)}))
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        write_row(w, rows, f"{rows}.count", columns, env)
        w.line(f"{rows}.count += 1")

    def write(self) -> None:
        super().write()
        rows, columns = self.rows, self.input.columns
        assert rows is not None
        w = Writer()
        one, other = (read_row(rows, row, columns) for row in ("one", "other"))
        compared = [(f"{rows}.start[one]", f"{rows}.start[other]")]
        compared += [(place_of(self.unit, field, one), place_of(self.unit, field, other)) for field in self.keys]
        for left, right in compared:
            with w.block(f"if {left} != {right}:"):
                w.line(f"return {left} < {right}")
        w.line("return False")
        self.unit.use(sorting(self.name, rows, "\n".join(w.lines)))
        w = Writer()
        w.line(f"return {rows}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        w.line(f"sort_{self.name}(0, {rows}.count)")
        with w.block(f"for i in range({rows}.count):"):
            env = read_row(rows, "i", columns)
            env[START] = Code(f"{rows}.start[i]", "True", "i")
            self.push(w, env)
        w.line(f"{rows}.count = 0")
        self.unit.function(f"settle_{self.name}", [], w)
