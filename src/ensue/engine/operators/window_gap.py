"""``while gap 5m: collect p``: sessions, for each group all events between which no more than 5m pass.

An event belongs to the current session if it ends no later than 5m after the last one, that moment included. So a
session ends when 5m have passed and the step is complete, even without another event; it starts with its first event. A
match has the names of the last event. Sessions are in a list by the time of their last event, so the first one ends
first. State: aggregates of each current session, and the requested fields of its last event; they go with it. Where a
largest lifetime drops members of a session, it is computed by `window_any.py`.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.operator import read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.running import Running
from ensue.engine.operators.shelf import swept_slot
from ensue.engine.operators.sliding import group_key, group_kinds
from ensue.engine.operators.window import Kind
from ensue.engine.structure import Element
from ensue.engine.structures.groups import SOURCES, Groups, groups_layout


class GapWindow(Kind):
    """Sessions; see the module.

    `first` and `time` of the groups are the ends of the list. A slot belongs to the session whose number it has.
    """

    def take(self, w: Writer, env: Env) -> None:
        unit, operator = self.unit, self.operator
        self.running = running = Running(operator, self.wanted, SOURCE in operator.wanted, "of_")
        self.columns = operator.event_columns
        group = self.group(w, env)
        key = group_key(w, group)
        slots: dict[str, Element] = {"row": "i64", "session": "i64"}
        rows: dict[str, Element] = {"older": "i64", "newer": "i64", "number": "i64", "least": "i64", "end": "i64"}
        rows |= {**running.cells(), **row_fields(self.columns, "of_f")}
        layout = groups_layout(group_kinds(group), slots, rows)
        self.groups = g = operator.structure("sessions", Groups, layout, len(key))
        for source in SOURCES:
            unit.use(source)
        at = swept_slot(unit, w, g, key, f"sweep_{self.name}()")
        row, start = w.let("row", f"{g}.row[{at}]"), env[START].value
        w.line(f"{g}.serial += 1")
        with w.block(f"if {row} == 0 or {g}.number[{row}] != {g}.session[{at}]:"):
            w.line(f"{row} = take_row({g})")
            w.line(f"{g}.row[{at}] = {row}")
            w.line(f"{g}.session[{at}] = {g}.serial")
            w.line(f"{g}.number[{row}] = {g}.serial")
            w.line(f"{g}.count[{at}] = 1")
            w.line(f"{g}.least[{row}] = {start}")
        with w.block("else:"):
            w.line(f"{g}.least[{row}] = min({g}.least[{row}], {start})")
            w.line(f"unlink_{self.name}({row})")
        w.line(f"{g}.older[{row}] = {g}.time")
        w.line(f"{g}.newer[{row}] = 0")
        with w.block(f"if {g}.time != 0:"):
            w.line(f"{g}.newer[{g}.time] = {row}")
        with w.block("else:"):
            w.line(f"{g}.first = {row}")
        w.line(f"{g}.time = {row}")
        w.line(f"{g}.end[{row}] = clock.now")
        over = w.let("over", f"{g}.end[{g}.first] + {unit.number(self.window.size)}")
        with w.block(f"if {over} < clock.due:"):
            w.line(f"clock.due = {over}")
        running.add(w, g, row, env, f"{g}.serial")
        write_row(w, g, row, self.columns, operator.event(env), "of_f")

    def write(self) -> None:
        self._write_unlink()
        self._write_sweep()
        g, operator, running = self.groups, self.operator, self.running
        w = Writer()
        w.line(f"return {g}.end[{g}.first] + {self.unit.number(self.window.size)} if {g}.first != 0 else {NEVER}")
        self.unit.function(f"due_{self.name}", [], w, "int")
        w = Writer()
        with w.block(f"while due_{self.name}() <= clock.now:"):
            w.line(f"row = {g}.first")
            w.line(f"unlink_{self.name}(row)")
            event = read_row(g, "row", self.columns, "of_f")
            found = Env({**event, **running.read(w, g, "row")})
            found[START] = Code(f"{g}.least[row]", "True", "i")
            if SOURCE in operator.wanted:
                found[SOURCE] = Code(f"{g}.of_source[row]", "True", "i")
            operator.found(w, found)
            running.clear(w, g, "row")
            w.line(f"{g}.number[row] = 0")
            w.line(f"free_row({g}, row)")
        self.settle(f"due_{self.name}() <= clock.now", w)

    def _write_unlink(self) -> None:
        """Write the function that removes a session from the list."""
        g, w = self.groups, Writer()
        w.line(f"older = {g}.older[row]")
        w.line(f"newer = {g}.newer[row]")
        with w.block("if older != 0:"):
            w.line(f"{g}.newer[older] = newer")
        with w.block("else:"):
            w.line(f"{g}.first = newer")
        with w.block("if newer != 0:"):
            w.line(f"{g}.older[newer] = older")
        with w.block("else:"):
            w.line(f"{g}.time = older")
        self.unit.function(f"unlink_{self.name}", ["row: int"], w)

    def _write_sweep(self) -> None:
        """Write the function that drops the keys of sessions that have ended."""
        g, w = self.groups, Writer()
        gone = f"{g}.count[at] != 0 and {g}.number[{g}.row[at]] != {g}.session[at]"
        with w.block(f"for at in range({g}.slot_mask + 1):"), w.block(f"if {gone}:"):
            w.line(f"{g}.count[at] = 0")
        self.unit.function(f"sweep_{self.name}", [], w)
