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
from ensue.engine.sharing import families
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
        self.rows = unit.structure("derived", StepRows, rows_layout(fields, ("pushed",)))
        self.title = self.rows

    def attributes(self, row: str) -> Env:
        return read_row(self.rows, row, self.columns)

    def write_functions(self, recursive: bool) -> None:
        """Writes how rows are compared and sorted, and how one is added.

        In a `recursive` layer a row that is known is not added, so that derivation comes to an end. In others rows that
        are the same are made one when the layer is complete.
        """
        unit, rows = self.unit, self.rows
        w = Writer()
        for one, other in self._compared():
            with w.block(f"if {one} != {other}:"):
                w.line(f"return {one} < {other}")
        w.line("return False")
        unit.use(sorting(self.title, rows, "\n".join(w.lines)))
        if not recursive:
            self._write_unique()
            return
        w = Writer()
        for one, other in self._compared("one", f"{rows}.count", equal=True):
            with w.block(f"if {one} != {other}:"):
                w.line("return False")
        w.line("return True")
        unit.function(f"same_{self.title}", ["one: int", "count: int"], w, "bool")
        w = Writer()
        # The new row is the one behind the last; it becomes one of them unless it is known.
        same = f"{rows}.given[one] == 0 and same_{self.title}(one, {rows}.count)"
        with w.block(f"for one in range({rows}.first, {rows}.count):"), w.block(f"if {same}:"):
            if unit.provenance:
                w.line(f"add_source({rows}.source[one], {rows}.source[{rows}.count])")
            w.line("return")
        if unit.provenance:
            w.line(f"{rows}.source[{rows}.count] = box({rows}.source[{rows}.count])")
        w.line(f"{rows}.count += 1")
        w.line("clock.derived = 1")
        unit.function(f"add_{self.title}", [], w)

    def _write_unique(self) -> None:
        """Writes ``unique``, which leaves one of the rows that are the same, given ones aside; rows are sorted."""
        unit, rows, w = self.unit, self.rows, Writer()
        w.line(f"{rows}.count += 1")
        w.line("clock.derived = 1")
        unit.function(f"add_{self.title}", [], w)
        w = Writer()
        w.line(f"kept = {rows}.first")
        w.line("last = -1")
        with w.block(f"for row in range({rows}.first, {rows}.count):"):
            with w.block(f"if {rows}.given[row] == 0 and last >= 0 and not before_{self.title}(last, row):"):
                if unit.provenance:
                    w.line(f"{rows}.source[last] = union({rows}.source[last], {rows}.source[row])")
                else:
                    w.line("pass")
            with w.block("else:"):
                with w.block(f"if {rows}.given[row] == 0:"):
                    w.line("last = kept")
                with w.block("if kept != row:"):
                    w.line(f"copy_row({rows}, kept, row)")
                w.line("kept += 1")
        w.line(f"{rows}.count = kept")
        unit.function(f"unique_{self.title}", [], w)

    def _compared(self, one: str = "one", other: str = "other", equal: bool = False) -> list[tuple[str, str]]:
        """What decides the order of rows, in turn: start, then attributes with nulls first; or whether they are equal.

        The order of what a common rule found matters to nobody; so strings are there in the order of their codes.
        """
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
                    case "s" | "o" if not equal and not self.event.startswith(families.FOUND):
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
        terms = dict(self.rule.head)
        values = Env({
            field: w.held(value(self.unit, w, terms[str(field[1])], env)) for field in self.derived.columns
        })  # fmt: skip
        begin = env[START] if self.rule.beginning is None else env["time", self.rule.beginning, "start"]
        derive_event(self.unit, w, self.derived, begin, env.get(SOURCE), values)


def derive_event(unit: Unit, w: Writer, derived: Derived, begin: Code, source: Code | None, values: Env) -> None:
    """Writes that an event is derived, unless there is one like it: its start, its source, its attributes."""
    rows, attributes = derived.rows, Env()
    for field, column in derived.columns.items():
        code = convert(unit, w, values[field], column.kind)
        if column.kind == "f":
            code = Code(f"({code.value} + 0.0)", code.valid, "f")
        attributes[field] = w.held(code)
    with w.block(f"if {rows}.count == {rows}.capacity:"):
        w.line(f"grow({rows})")
    at = f"{rows}.count"
    w.line(f"{rows}.start[{at}] = {begin.value}")
    w.line(f"{rows}.end[{at}] = clock.now")
    w.line(f"{rows}.given[{at}] = 0")
    if unit.provenance:
        assert source is not None
        w.line(f"{rows}.source[{at}] = {source.value}")
    write_row(w, rows, at, derived.columns, attributes)
    w.line(f"add_{derived.title}()")
