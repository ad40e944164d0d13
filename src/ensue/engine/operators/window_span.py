"""``while last 3m: collect p``: at each event, that one and all in its group that began less than 3m before it ends.

An event sees all that end with it, also those after it in the order: so it waits for the end of its step. One that is
longer than the window is in its own only, before the others that end with it. Events leave by their start: instants as
they came; of intervals, those that begin no earlier than the ones before them are in a queue, the others in a heap.
State: the events that began less than 3m ago; older ones are dropped with the next event of the group, or when there is
no room. Cost as in `sliding.py`, and for intervals that come out of order the logarithm of their number.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.operator import read_row, row_fields, write_row
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.operators.shelf import swept_slot
from ensue.engine.operators.sliding import ALL, Sliding, group_key, group_kinds
from ensue.engine.operators.window import Kind
from ensue.engine.structure import Element
from ensue.engine.structures.rows import StepRows, rows_layout
from ensue.temporal.instants import instantaneous


class SpanWindow(Kind):
    """The events of a length of time; see the module."""

    def take(self, w: Writer, env: Env) -> None:
        unit, operator = self.unit, self.operator
        self.instant = instantaneous(self.window.pattern, unit.events) and self.window.size > 0
        self.size = self.window.size if self.keep is None else min(self.window.size, self.keep + 1)
        self.members = members = Sliding(operator, self.wanted, by_start=not self.instant, starts=False)
        group = self.group(w, env)
        key = group_key(w, group)
        member = members.member(w, env, [SOURCE] if SOURCE in operator.wanted else [])
        slots: dict[str, Element] = {}
        rows: dict[str, Element] = {}
        if not self.instant:
            slots = {"line_first": "i64", "line_last": "i64", "heap": "i64"}
            rows = {"end": "i64", "sibling": "i64", "child": "i64"}
        g = members.lay_out(group_kinds(group), member, slots, rows)
        since = w.let("since", f"clock.now - {unit.number(self.size)}")
        at = swept_slot(unit, w, g, key, f"sweep_{members.name}({since})")
        w.line(f"evict_{members.name}({at}, {since})")
        with w.when("True" if self.instant else f"{env[START].value} > {since}"):
            row = members.enter(w, at, member)
            if not self.instant:
                w.line(f"{g}.end[{row}] = clock.now")
                w.line(f"place_{members.name}({at}, {row})")
        self._hold(w, env, member, key)

    # --- events wait for the end of their step

    def _hold(self, w: Writer, env: Env, member: Env, key: list[str]) -> None:
        self.width = len(key)
        own = {} if self.instant else {f: self.members.columns[f] for f in member if f != START}
        self.columns = {**own, **self.operator.event_columns}
        keys: dict[str, Element] = {f"key{i}": "i64" for i in range(len(key))}
        layout = rows_layout({"start": "i64", **keys, **row_fields(self.columns)})
        self.held = held = self.operator.structure("held", StepRows, layout)
        with w.block(f"if {held}.count == {held}.capacity:"):
            w.line(f"grow({held})")
        w.line(f"{held}.start[{held}.count] = {env[START].value}")
        for i, part in enumerate(key):
            w.line(f"{held}.key{i}[{held}.count] = {part}")
        write_row(w, held, f"{held}.count", self.columns, Env({**member, **self.operator.event(env)}))
        w.line(f"{held}.count += 1")

    def write(self) -> None:
        self.members.write_leave()
        self._write_evict()
        w, held, members, operator = Writer(), self.held, self.members, self.operator
        g = members.groups
        with w.block(f"for i in range({held}.count):"):
            event = read_row(held, "i", self.columns)
            start = Code(w.let("start", f"{held}.start[i]"), "True", "i")
            # a group whose only event is longer than the window may have been dropped: it has no members
            word = "find" if self.instant else "slot"
            at = lookup(self.unit, w, word, g, [f"{held}.key{i}[i]" for i in range(self.width)])
            found = Env({**event, **members.results(w, at), START: start})
            if SOURCE in operator.wanted:
                found[SOURCE] = members.source(w, at)
            if self.instant:
                found[START] = Code(w.let("start", members.first_start(at)), "True", "i")
            else:
                found = self._with_own(w, at, found, Env({**event, START: start}))
            operator.found(w, found)
        w.line(f"{held}.count = 0")
        self.settle(f"{held}.count > 0", w)

    def _with_own(self, w: Writer, at: str, found: Env, own: Env) -> Env:
        """The results of a group for an event that may be longer than the window: then it is a member, too."""
        members, g = self.members, self.members.groups
        names = Env()
        for field in self.operator.aggregates.wanted:
            names[field] = Code(w.let("x", found[field].value), w.let("ok", found[field].valid), found[field].kind)
        with w.block(f"if {own[START].value} <= clock.now - {self.unit.number(self.window.size)}:"):
            for field, code in members.with_another(w, at, own).items():
                w.line(f"{names[field].value} = {code.value}")
                w.line(f"{names[field].valid} = {code.valid}")
            if SOURCE in found:
                w.line(f"{found[SOURCE].value} = union({found[SOURCE].value}, {own[SOURCE].value})")
        with w.block("else:"):
            with w.block(f"if {g}.line_first[{at}] != 0:"):
                w.line(f"{own[START].value} = min({own[START].value}, {g}.start[{g}.line_first[{at}]])")
            with w.block(f"if {g}.heap[{at}] != 0:"):
                w.line(f"{own[START].value} = min({own[START].value}, {g}.start[{g}.heap[{at}]])")
        return Env({**found, **names})

    # --- events leave by their start

    def _write_evict(self) -> None:
        g, name, unit = self.members.groups, self.members.name, self.unit
        w = Writer()
        if self.instant:
            with w.block(f"while {g}.{ALL}_first[at] != 0 and {g}.start[{g}.{ALL}_first[at]] <= since:"):
                w.line(f"leave_{name}(at, {g}.{ALL}_first[at])")
        else:
            with w.block("while True:"):
                w.line(f"row = {g}.line_first[at]")
                w.line(f"root = {g}.heap[at]")
                with w.block(f"if root != 0 and (row == 0 or {g}.start[root] < {g}.start[row]):"):
                    with w.block(f"if {g}.start[root] > since:"):
                        w.line("return")
                    w.line(f"{g}.heap[at] = without_root({g}, root)")
                    w.line(f"leave_{name}(at, root)")
                with w.block("else:"):
                    with w.block(f"if row == 0 or {g}.start[row] > since:"):
                        w.line("return")
                    w.line(f"{g}.line_first[at] = {g}.sibling[row]")
                    with w.block(f"if {g}.sibling[row] == 0:"):
                        w.line(f"{g}.line_last[at] = 0")
                    w.line(f"leave_{name}(at, row)")
            self._write_place()
        unit.function(f"evict_{name}", ["at: int", "since: int"], w)
        w = Writer()
        with w.block(f"for at in range({g}.slot_mask + 1):"), w.block(f"if {g}.count[at] > 0:"):
            w.line(f"evict_{name}(at, since)")
        unit.function(f"sweep_{name}", ["since: int"], w)

    def _write_place(self) -> None:
        """Write the function that puts a new row into the queue or the heap of its group."""
        g, w = self.members.groups, Writer()
        w.line(f"last = {g}.line_last[at]")
        w.line(f"{g}.sibling[row] = 0")
        w.line(f"{g}.child[row] = 0")
        with w.block("if last == 0:"):
            w.line(f"{g}.line_first[at] = row")
            w.line(f"{g}.line_last[at] = row")
        with w.block(f"elif {g}.start[last] <= {g}.start[row]:"):
            w.line(f"{g}.sibling[last] = row")
            w.line(f"{g}.line_last[at] = row")
        with w.block("else:"):
            w.line(f"{g}.heap[at] = join_heaps({g}, {g}.heap[at], row)")
        self.unit.function(f"place_{self.members.name}", ["at: int", "row: int"], w)
