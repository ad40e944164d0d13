"""Merged: the matches of two inputs in one order, those of the first before equal ones of the second.

Where both are given events, of two types, they arrive in that order already. Otherwise the matches of a step are held
until it is complete, each side is sorted, and the sides are merged: of events that are equal in every respect all come
on the left first. State: the matches of the current step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.parts import Seen, order_fields, return_whether_before
from ensue.engine.operators.restrict import Named, Restrict, Spanned
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.rows import StepRows, rows_layout, sorting

TakeSide = Callable[[Writer, Env, int], None]


def beneath(operator: Operator) -> Iterator[Operator]:
    """An operator, and all operators below it."""
    yield operator
    for held in vars(operator).values():
        for each in held if isinstance(held, list | tuple) else (held,):
            if isinstance(each, Operator):
                yield from beneath(each)


def single_scan(operator: Operator) -> Scan | None:
    """The scan whose events an operator passes on one by one, as they arrive."""
    while isinstance(operator, Named | Restrict | Spanned):
        operator = operator.input
    return operator if isinstance(operator, Scan) else None


def come_in_order(unit: Unit, inputs: tuple[Operator, Operator]) -> bool:
    """True if the matches of both inputs already arrive in one order."""
    scans = [single_scan(each) for each in inputs]
    types = {scan.atom.event for scan in scans if scan is not None}
    return None not in scans and len(types) == 2 and not types & unit.derived.keys()


class Merged:
    """Two inputs of an operator in one order; see the module. `take` writes the handling of a match of a side."""

    def __init__(self, of: Operator, inputs: tuple[Operator, Operator], take: TakeSide) -> None:
        self.of, self.unit, self.name, self.inputs, self.take = of, of.unit, of.name, inputs, take
        self.rows: list[str | None] = [None, None]
        for side, input_ in enumerate(inputs):
            input_.want(order_fields(input_))
            input_.feed(partial(self.hold, side=side))
        of.unit.inputs_need_order = True
        of.unit.later(of.layer, f"held_{self.name}() > 0", f"settle_{self.name}()")

    def hold(self, w: Writer, env: Env, side: int) -> None:
        columns = self.inputs[side].columns
        layout = rows_layout({"start": "i64", **row_fields(columns)})
        rows = self.rows[side] = self.unit.structure("unmerged", StepRows, layout)
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        write_row(w, rows, f"{rows}.count", columns, env)
        w.line(f"{rows}.count += 1")

    def _seen(self, side: int, row: str) -> Seen:
        rows = self.rows[side]
        env = read_row(str(rows), row, self.inputs[side].columns)
        env[START] = Code(f"{rows}.start[{row}]", "True", "i")
        return Seen(self.inputs[side], env)

    def write(self) -> None:
        unit, (left, right) = self.unit, self.rows
        w = Writer()
        w.line(f"return {left}.count + {right}.count")
        unit.function(f"held_{self.name}", [], w, "int")
        for side, rows in enumerate(self.rows):
            w = Writer()
            return_whether_before(unit, w, self._seen(side, "one"), self._seen(side, "other"), tie=False)
            unit.use(sorting(str(rows), str(rows), "\n".join(w.lines)))
        w = Writer()
        return_whether_before(unit, w, self._seen(0, "one"), self._seen(1, "other"), tie=True)
        unit.function(f"first_{self.name}", ["one: int", "other: int"], w, "bool")
        w = Writer()
        for rows in self.rows:
            w.line(f"sort_{rows}(0, {rows}.count)")
        w.line("one = 0")
        w.line("other = 0")
        with w.block(f"while one < {left}.count or other < {right}.count:"):
            from_left = f"other == {right}.count or (one < {left}.count and first_{self.name}(one, other))"
            for side, head in enumerate((f"if {from_left}:", "else:")):
                with w.block(head):
                    self.take(w, self._seen(side, ("one", "other")[side]).env, side)
                    w.line(f"{('one', 'other')[side]} += 1")
        w.line(f"{left}.count = 0")
        w.line(f"{right}.count = 0")
        unit.function(f"settle_{self.name}", [], w)
