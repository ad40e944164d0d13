"""Derive: an event for each match of a rule. Two derivations with the same content and interval are one event.

What is derived in a step is put in order when its layer is complete, and handed to the operators that take the type;
given events of the type are among them. State: nothing beyond the step, but for what is handed out.
"""

from __future__ import annotations

from ensue.engine.generate.expressions import convert, value
from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, kind_of
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.rows import StepRows, rows_layout, sorting
from ensue.plan import operators as plan


class Derived:
    """The events of a type that a unit derives: their rows, and what happens with them in a step."""

    def __init__(self, unit: Unit, event: str) -> None:
        self.unit, self.event = unit, event
        self.columns: dict[Field, Column] = {
            ("attr", name): Column(kind_of(type_), unit.may_be_null(event, name))
            for name, type_ in unit.events[event].attributes.items()
        }
        fields = {"start": "i64", "end": "i64", "given": "i64", "source": "i64", **row_fields(self.columns)}
        self.rows = unit.structure("derived", StepRows, rows_layout(fields, ("pushed",)))  # type: ignore[arg-type]
        self.title = self.rows

    def attributes(self, row: str) -> Env:
        return read_row(self.rows, row, self.columns)

    def write_functions(self) -> None:
        """Writes how rows are compared and sorted, and how one is added."""
        unit, rows = self.unit, self.rows
        w = Writer()
        for one, other in self._compared():
            with w.block(f"if {one} != {other}:"):
                w.line(f"return {one} < {other}")
        w.line("return False")
        unit.use(sorting(self.title, rows, "\n".join(w.lines)))
        w = Writer()
        for one, other in self._compared("one", f"{rows}.count", equal=True):
            with w.block(f"if {one} != {other}:"):
                w.line("return False")
        w.line("return True")
        unit.function(f"same_{self.title}", ["one: int", "count: int"], w, "bool")
        w = Writer()
        # The new row is the one behind the last; it becomes one of them unless it is known.
        with w.block(f"for one in range({rows}.first, {rows}.count):"):
            with w.block(f"if {rows}.given[one] == 0 and same_{self.title}(one, {rows}.count):"):
                if unit.provenance:
                    w.line(f"add_source({rows}.source[one], {rows}.source[{rows}.count])")
                w.line("return")
        if unit.provenance:
            w.line(f"{rows}.source[{rows}.count] = box({rows}.source[{rows}.count])")
        w.line(f"{rows}.count += 1")
        unit.function(f"add_{self.title}", [], w)

    def _compared(self, one: str = "one", other: str = "other", equal: bool = False) -> list[tuple[str, str]]:
        """What decides the order of rows, in turn: start, then attributes with nulls first; or whether they are equal."""
        rows = self.rows
        found = [(f"{rows}.start[{one}]", f"{rows}.start[{other}]")]
        for number, column in enumerate(self.columns.values()):
            sides = []
            for row in (one, other):
                held = f"{rows}.f{number}[{row}]"
                match column.kind:
                    case "f":
                        held = f"float_order({held})"
                    case "o" if equal:
                        held = f"values.same[{held}]"
                    case "s" | "o" if not equal:
                        held = f"rank_of(values, {held})"
                if column.nullable:
                    valid = f"({rows}.f_valid{number // 63 or ''}[{row}] & {1 << (number % 63)})"
                    sides.append((valid, f"({held} if {valid} != 0 else 0)"))
                else:
                    sides.append(("", held))
            if column.nullable:
                found.append((sides[0][0], sides[1][0]))
            found.append((sides[0][1], sides[1][1]))
        return found

    def scans(self) -> list[Scan]:
        return self.unit.scans.get(self.event, [])


class Derive(Operator):
    """A rule's head; see the module."""

    def __init__(self, unit: Unit, node: plan.Derive, input_: Operator, derived: Derived, layer: int) -> None:
        super().__init__(unit, "rule", layer)
        self.rule, self.input, self.derived = node.rule, input_, derived
        wanted = used_by(term for _, term in node.rule.head)
        if node.rule.beginning is not None:
            wanted.append(("time", node.rule.beginning, "start"))
        if unit.provenance:
            wanted.append(SOURCE)
        input_.want(wanted)
        input_.feed(self.take)

    def write(self) -> None:
        pass

    def take(self, w: Writer, env: Env) -> None:
        unit, rows = self.unit, self.derived.rows
        attributes = Env()
        terms = dict(self.rule.head)
        for field, column in self.derived.columns.items():
            code = convert(unit, w, value(unit, w, terms[str(field[1])], env), column.kind)
            if column.kind == "f":
                code = Code(f"({code.value} + 0.0)", code.valid, "f")
            attributes[field] = w.held(code)
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        at = f"{rows}.count"
        begin = env[START] if self.rule.beginning is None else env["time", self.rule.beginning, "start"]
        w.line(f"{rows}.start[{at}] = {begin.value}")
        w.line(f"{rows}.end[{at}] = clock.now")
        w.line(f"{rows}.given[{at}] = 0")
        if unit.provenance:
            w.line(f"{rows}.source[{at}] = {env[SOURCE].value}")
        write_row(w, rows, at, self.derived.columns, attributes)
        w.line(f"add_{self.derived.title}()")

