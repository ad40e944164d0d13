"""``while since q: collect p``: at each event after a `q`, all events of its group from the latest such `q` on.

The latest beginning of an event is the last one, in order, that ended before the event starts and agrees with it in the
variables that they share; null agrees with nothing. An event sees all that end with it, so it waits for the end of its
step, and a beginning counts for events that start after its step. Events are added to the aggregates of their latest
beginning and group, and are not stored otherwise. An interval may start before the last beginnings ended: then an older
one is its latest, and the aggregates of those after it are merged. State: for each key the beginnings, and the
aggregates of the groups of each. Of instants, or where intervals have a largest length, beginnings are dropped when
another one is the latest for all later events; else they stay.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env, Field
from ensue.engine.generate.operator import read_row, row_fields, write_row
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import key_kinds, key_of, lookup
from ensue.engine.operators.running import Running
from ensue.engine.operators.shelf import swept_slot
from ensue.engine.operators.sliding import group_key, group_kinds
from ensue.engine.operators.window import Kind, Window
from ensue.engine.structure import Element
from ensue.engine.structures.groups import SOURCES, Groups, groups_layout
from ensue.engine.structures.rows import StepRows, rows_layout
from ensue.language import typed
from ensue.temporal.constraints import constrain


class SinceWindow(Kind):
    """The events since a beginning; see the module."""

    def __init__(self, operator: Window) -> None:
        super().__init__(operator)
        assert operator.beginning is not None
        self.source = SOURCE in operator.wanted
        self.names = operator.shared_with_beginning
        pattern = self.window.pattern
        self.longest = constrain(typed.Body(pattern), self.unit.events).longest((pattern.id, False), (pattern.id, True))
        """Largest length of an event; None if there is no limit."""
        inner = list(dict.fromkeys(operator.beginning_fields.values()))
        self.kept: list[Field] = [*inner, *([SOURCE] if self.source else [])]
        self.columns = {field: operator.beginning.column(field) for field in self.kept}
        kinds = key_kinds(self.names, operator.beginning, operator.collected)
        rows: dict[str, Element] = {"older": "i64", "newer": "i64", "start": "i64", "end": "i64", "number": "i64"}
        layout = groups_layout(kinds, {"newest": "i64"}, {**rows, **row_fields(self.columns)})
        self.beginnings = operator.structure("beginnings", Groups, layout, len(kinds))
        for source in SOURCES:
            self.unit.use(source)

    # --- beginnings

    def begin(self, w: Writer, env: Env) -> None:
        b, operator = self.beginnings, self.operator
        key = key_of(self.unit, w, self.names, env, operator.collected)
        if key is None:
            return
        with w.when(key.there):
            if self.keep is None:
                at = lookup(self.unit, w, "slot", b, key.parts)
            else:
                at = swept_slot(self.unit, w, b, key.parts, f"forget_{self.name}()")
            row = w.let("row", f"take_row({b})")
            before = w.let("before", f"{b}.newest[{at}]")
            w.line(f"{b}.serial += 1")
            w.line(f"{b}.number[{row}] = {b}.serial")
            w.line(f"{b}.older[{row}] = {before}")
            w.line(f"{b}.newer[{row}] = 0")
            with w.block(f"if {before} != 0:"):
                w.line(f"{b}.newer[{before}] = {row}")
            w.line(f"{b}.newest[{at}] = {row}")
            w.line(f"{b}.count[{at}] += 1")
            w.line(f"{b}.start[{row}] = {env[START].value}")
            w.line(f"{b}.end[{row}] = clock.now")
            write_row(w, b, row, self.columns, env)
            if self.longest is not None:
                longest = self.unit.number(self.longest)
                with w.block(f"if {before} != 0 and {b}.end[{before}] < clock.now - {longest}:"):
                    w.line(f"let_go_{self.name}({at}, {b}.older[{before}])")
                    w.line(f"{b}.older[{before}] = 0")

    def _write_let_go(self) -> None:
        """Write the function that drops the beginnings of a chain from one on."""
        b, w = self.beginnings, Writer()
        with w.block("while row != 0:"):
            w.line(f"after = {b}.older[row]")
            w.line(f"{b}.number[row] = 0")
            w.line(f"{b}.count[at] -= 1")
            w.line(f"free_row({b}, row)")
            w.line("row = after")
        self.unit.function(f"let_go_{self.name}", ["at: int", "row: int"], w)

    # --- events

    def take(self, w: Writer, env: Env) -> None:
        unit, operator, b = self.unit, self.operator, self.beginnings
        assert operator.beginning is not None
        self.running = Running(operator, self.wanted, self.source, "")
        key = key_of(unit, w, self.names, env, operator.beginning)
        group = self.group(w, env, leave_out=self.names)
        kinds = "i" + group_kinds(group)
        slots: dict[str, Element] = {"begin": "i64", "least": "i64", **self.running.cells()}
        self.groups = operator.structure("sums", Groups, groups_layout(kinds, slots, {}), len(kinds))
        self.width = len(kinds) - 1
        if key is None:
            with w.block("if False:"):
                self._add(w, env, "0", group_key(w, group))
            return
        with w.when(key.there):
            at = lookup(unit, w, "find", b, key.parts)
            with w.when(f"{at} >= 0" if key.parts else "True"):
                row = w.let("row", f"{b}.newest[{at}]")
                with w.block(f"while {row} != 0 and {b}.end[{row}] >= {env[START].value}:"):
                    w.line(f"{row} = {b}.older[{row}]")
                late = "" if self.keep is None else f" and clock.now - {b}.end[{row}] <= {unit.number(self.keep)}"
                with w.block(f"if {row} != 0{late}:"):
                    self._add(w, env, row, group_key(w, group))

    def _add(self, w: Writer, env: Env, row: str, key: list[str]) -> None:
        g, b, start = self.groups, self.beginnings, env[START].value
        number = w.let("number", f"{b}.number[{row}]")
        at = swept_slot(self.unit, w, g, [number, *key], f"sweep_{self.name}()", rows=False)
        with w.block(f"if {g}.count[{at}] == 0 or {start} < {g}.least[{at}]:"):
            w.line(f"{g}.least[{at}] = {start}")
        w.line(f"{g}.count[{at}] = 1")
        w.line(f"{g}.begin[{at}] = {row}")
        w.line(f"{g}.serial += 1")
        self.running.add(w, g, at, env, f"{g}.serial")
        self._hold(w, env, row, key)

    def _hold(self, w: Writer, env: Env, row: str, key: list[str]) -> None:
        operator = self.operator
        self.event_columns = operator.event_columns
        keys: dict[str, Element] = {f"key{i}": "i64" for i in range(len(key))}
        layout = rows_layout({"begin": "i64", **keys, **row_fields(self.event_columns)})
        self.held = held = operator.structure("held", StepRows, layout)
        with w.block(f"if {held}.count == {held}.capacity:"):
            w.line(f"grow({held})")
        place = f"{held}.count"
        w.line(f"{held}.begin[{place}] = {row}")
        for i, part in enumerate(key):
            w.line(f"{held}.key{i}[{place}] = {part}")
        write_row(w, held, place, self.event_columns, operator.event(env))
        w.line(f"{held}.count += 1")

    def _write_forget(self) -> None:
        """Write the function that drops beginnings which ended too long ago."""
        b, w = self.beginnings, Writer()
        over = f"clock.now - {self.unit.number(self.keep or 0)}"
        with w.block(f"for at in range({b}.slot_mask + 1):"), w.block(f"if {b}.count[at] > 0:"):
            w.line(f"row = {b}.newest[at]")
            with w.block(f"if {b}.end[row] < {over}:"):
                w.line(f"{b}.newest[at] = 0")
                w.line(f"let_go_{self.name}(at, row)")
            with w.block("else:"):
                w.line(f"after = {b}.older[row]")
                with w.block(f"while after != 0 and {b}.end[after] >= {over}:"):
                    w.line("row = after")
                    w.line(f"after = {b}.older[row]")
                w.line(f"{b}.older[row] = 0")
                w.line(f"let_go_{self.name}(at, after)")
        self.unit.function(f"forget_{self.name}", [], w)

    def write(self) -> None:
        self._write_let_go()
        if self.keep is not None:
            self._write_forget()
        self._write_sweep()
        w, held, b, operator = Writer(), self.held, self.beginnings, self.operator
        with w.block(f"for i in range({held}.count):"):
            row = w.let("row", f"{held}.begin[i]")
            key = [f"{held}.key{i}[i]" for i in range(self.width)]
            found = Env(read_row(held, "i", self.event_columns))
            start, source, results = self._one(w, row, key) if self.longest == 0 else self._merged(w, row, key)
            found |= results
            begin = read_row(b, row, self.columns)
            found |= {field: begin[inner] for field, inner in operator.beginning_fields.items()}
            if self.source:
                found[SOURCE] = Code(f"union({begin[SOURCE].value}, {source})", "True", "i")
            found[START] = Code(w.let("start", f"min({b}.start[{row}], {start})"), "True", "i")
            operator.found(w, found)
        w.line(f"{held}.count = 0")
        self.settle(f"{held}.count > 0", w)

    def _one(self, w: Writer, row: str, key: list[str]) -> tuple[str, str, Env]:
        """The least start, the inputs and the aggregates of the events since a beginning, where it is the last."""
        g = self.groups
        at = lookup(self.unit, w, "find", g, [f"{self.beginnings}.number[{row}]", *key])
        return f"{g}.least[{at}]", f"{g}.source[{at}]", self.running.read(w, g, at)

    def _merged(self, w: Writer, row: str, key: list[str]) -> tuple[str, str, Env]:
        """The same for a beginning and all after it."""
        g, b, running = self.groups, self.beginnings, self.running
        count, states = running.local(w)
        start, source = w.let("least", f"{b}.start[{row}]"), w.let("source", "0")
        other = w.let("row", row)
        with w.block(f"while {other} != 0:"):
            at = lookup(self.unit, w, "find", g, [f"{b}.number[{other}]", *key])
            with w.block(f"if {at} >= 0:"):
                w.line(f"{start} = min({start}, {g}.least[{at}])")
                running.merge(w, count, states, g, at)
                if self.source:
                    w.line(f"{source} = union({source}, {g}.source[{at}])")
            w.line(f"{other} = {b}.newer[{other}]")
        return start, source, running.results(w, count, states)

    def _write_sweep(self) -> None:
        """Write the function that drops the aggregates of dropped beginnings."""
        g, b, w = self.groups, self.beginnings, Writer()
        gone = f"{g}.count[at] != 0 and {b}.number[{g}.begin[at]] != {g}.slot_k0[at]"
        with w.block(f"for at in range({g}.slot_mask + 1):"), w.block(f"if {gone}:"):
            w.line(f"{g}.count[at] = 0")
            self.running.clear(w, g, "at")
        self.unit.function(f"sweep_{self.name}", [], w)
