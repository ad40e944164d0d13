"""``while each 5m: collect p``: at each multiple of 5m, for each group all events that ended in the 5m before it.

An event that ends at a multiple belongs to the 5m that begin there. A match has the names of its group's last event,
and lies where the 5m do. State: aggregates of each group of the current 5m, and the requested fields of its last event;
the multiple clears it.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.operator import read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.operators.running import Running
from ensue.engine.operators.sliding import group_key, group_kinds
from ensue.engine.operators.window import Kind
from ensue.engine.structures.groups import SOURCES, Buckets, groups_layout
from ensue.language.limits import EARLIEST


class EachWindow(Kind):
    """The events between two multiples of a length; see the module."""

    def take(self, w: Writer, env: Env) -> None:
        unit, operator = self.unit, self.operator
        self.running = running = Running(operator, self.wanted, SOURCE in operator.wanted, "of_")
        self.columns = operator.event_columns
        group = self.group(w, env)
        key = group_key(w, group)
        rows = {**running.cells(), **row_fields(self.columns, "of_f")}
        layout = groups_layout("i" + group_kinds(group), {"row": "i64"}, rows)
        self.groups = g = operator.structure("buckets", Buckets, layout, 1 + len(key))
        for source in SOURCES:
            unit.use(source)
        with w.block(f"if due_{self.name}() <= clock.now:"):
            w.line(f"settle_{self.name}()")
        size = unit.number(self.window.size)
        w.line(f"{g}.time = (clock.now // {size} + 1) * {size}")
        with w.block(f"if {g}.time < clock.due:"):
            w.line(f"clock.due = {g}.time")
        too_old = self.keep is not None and self.keep < self.window.size
        with w.when(f"{g}.time - clock.now <= {unit.number(self.keep or 0)}" if too_old else "True"):
            at = lookup(unit, w, "slot", g, [f"{g}.time", *key])
            row = w.let("row", f"{g}.row[{at}]")
            with w.block(f"if {row} == 0:"):
                w.line(f"{row} = take_row({g})")
                w.line(f"{g}.row[{at}] = {row}")
                w.line(f"{g}.link[{row}] = {g}.first")
                w.line(f"{g}.first = {row}")
            w.line(f"{g}.serial += 1")
            running.add(w, g, row, env, f"{g}.serial")
            write_row(w, g, row, self.columns, operator.event(env), "of_f")

    def write(self) -> None:
        g, operator, running = self.groups, self.operator, self.running
        w = Writer()
        w.line(f"return {g}.time if {g}.first != 0 else {NEVER}")
        self.unit.function(f"due_{self.name}", [], w, "int")
        w = Writer()
        w.line(f"row = {g}.first")
        w.line(f"{g}.first = 0")
        with w.block("while row != 0:"):
            event = read_row(g, "row", self.columns, "of_f")
            found = Env({**event, **running.read(w, g, "row")})
            begin = f"max({g}.time - {self.unit.number(self.window.size)}, {EARLIEST})"
            found[START] = Code(w.let("start", begin), "True", "i")
            if SOURCE in operator.wanted:
                found[SOURCE] = Code(f"{g}.of_source[row]", "True", "i")
            operator.found(w, found)
            running.clear(w, g, "row")
            w.line(f"after = {g}.link[row]")
            w.line(f"free_row({g}, row)")
            w.line("row = after")
        self.settle(f"due_{self.name}() <= clock.now", w)
