"""Ordered: the matches of a step in their order, for operators to which the order matters.

Matches that end together are ordered by start, then part by part as written. State: the matches of the current step.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.parts import Seen, order_fields, place_of, return_whether_before
from ensue.engine.operators.scan import Scan, scans_in
from ensue.engine.structures.rows import StepRows, rows_layout, sorting

__all__ = ["Ordered", "in_order", "place_of"]


def in_order(unit: Unit, operator: Operator, layer: int) -> Operator:
    """The operator, or one that passes on its matches in order."""
    if isinstance(operator, Scan):
        operator.ordered = True
        unit.inputs_need_order = True
        return operator
    return operator if isinstance(operator, Ordered) else Ordered(unit, operator, layer)


class Ordered(Passing):
    """Matches in order; see the module."""

    def __init__(self, unit: Unit, input_: Operator, layer: int) -> None:
        super().__init__(unit, "ordered", input_, layer)
        unit.inputs_need_order = True
        for scan in scans_in(input_):
            scan.ordered = True  # an event of this layer has its place once all are known
        input_.want(order_fields(input_))
        self.rows: str | None = None
        unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()")

    def take(self, w: Writer, env: Env) -> None:
        columns = self.input.columns
        rows = self.rows = self.structure("unsorted", StepRows, rows_layout({"start": "i64", **row_fields(columns)}))
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        write_row(w, rows, f"{rows}.count", columns, env)
        w.line(f"{rows}.count += 1")

    def _row(self, rows: str, row: str) -> Env:
        env = read_row(rows, row, self.input.columns)
        env[START] = Code(f"{rows}.start[{row}]", "True", "i")
        return env

    def write(self) -> None:
        super().write()
        rows = self.rows
        assert rows is not None
        w = Writer()
        one, other = (Seen(self.input, self._row(rows, row)) for row in ("one", "other"))
        return_whether_before(self.unit, w, one, other, tie=False)
        self.unit.use(sorting(self.name, rows, "\n".join(w.lines)))
        w = Writer()
        w.line(f"return {rows}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        w.line(f"sort_{self.name}(0, {rows}.count)")
        with w.block(f"for i in range({rows}.count):"):
            self.push(w, self._row(rows, "i"))
        w.line(f"{rows}.count = 0")
        self.unit.function(f"settle_{self.name}", [], w)
