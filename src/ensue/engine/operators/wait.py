"""Wait: matches with their relative timers, once these have ended.

A match whose timers end no later than itself is passed on at once. State: the others, by the time at which the last
timer ends: in a queue as long as these times come in order, otherwise in a heap.

The number of its key is kept beside a match in the queue. When its time comes, that key counts as the last one of its
table (`structures/key_numbers.py`), so operators know nothing of it; where numbers are freed, those kept are forgotten.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Column, Env, Field, arguments, parameters
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.structure import Element
from ensue.engine.structures.rows import Queue, Rows, queue_layout, rows_layout
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.plan import operators as plan
from ensue.records import dataclass

AHEAD = 4
"""Matches behind the one whose time has come up to which the entries of keys are fetched into the cache."""


@dataclass(frozen=True)
class _Key:
    """A key that is looked up in a table: the columns of a queue that hold its parts."""

    table: str
    columns: tuple[str, ...]

    def parts(self, row: str) -> list[str]:
        return [f"{column}[{row}]" for column in self.columns]


class Wait(Passing):
    """Matches with timers; see the module."""

    def __init__(self, unit: Unit, node: plan.Wait, input_: Operator, layer: int) -> None:
        super().__init__(unit, "timed", input_, layer)
        self.timers = node.timers
        own = {timer.label for timer in node.timers}
        needed = [timer.of for timer in node.timers if timer.of not in own or input_.has(("time", timer.of, "end"))]
        input_.want(("time", name, which) for name in needed for which in ("start", "end"))
        self.queue: str | None = None
        self.heap = ""
        unit.later(layer, "clock.due <= clock.now", f"pop_{self.name}()", due=True)
        unit.dues.append(f"due_{self.name}()")

    def _timer(self, field: Field) -> typed.Timer | None:
        for timer in self.timers:
            if (field[0] == "time" and field[1] == timer.label and timer.label is not None) or (
                field[0] == "part" and field[1] == self.input.parts + self.timers.index(timer)
            ):
                return timer
        return None

    def require(self, fields: list[Field]) -> None:
        self.input.want(field for field in fields if self._timer(field) is None)

    def has(self, field: Field) -> bool:
        return self._timer(field) is not None or self.input.has(field)

    def column(self, field: Field) -> Column:
        return Column("i", False) if self._timer(field) else self.input.column(field)

    @property
    def parts(self) -> int:
        return self.input.parts + len(self.timers)

    # --- code

    def take(self, w: Writer, env: Env) -> None:
        unit = self.unit
        start, due = env[START].value, "clock.now"
        env = Env(env)
        for timer in self.timers:
            begins, ends = set_timer(unit, w, env, timer)
            part = self.input.parts + self.timers.index(timer)
            for field in (("time", timer.label), ("part", part)):
                env[*field, "start"] = Code(begins, "True", "i")
                env[*field, "end"] = Code(ends, "True", "i")
            env["part", part, "k"] = env["part", part, "place"] = Code(str(TIMER << 40), "True", "i")
            start, due = f"min({start}, {begins})", f"max({due}, {ends})"
        env[START] = Code(w.let("start", start), "True", "i")
        due = w.let("due", due)
        with w.block(f"if {due} <= clock.now:"):
            w.line(f"apart_{self.name}({', '.join(arguments(self.columns, env))})")
        with w.block("else:"):
            self._put(w, env, due)

    def _put(self, w: Writer, env: Env, due: str) -> None:
        """Write the row behind the queue; it stays there where times come in order, as they do for one length."""
        fields: dict[str, Element] = {"due": "i64", "start": "i64", **row_fields(self.columns)}
        queue = self.queue = self.structure("pending", Queue, queue_layout(fields))
        self.heap = self.structure("unordered", Rows, rows_layout(fields))
        w.line(f"make_room_behind({queue})")
        row = w.let("row", f"{queue}.count")
        w.line(f"{queue}.due[{row}] = {due}")
        w.line(f"{queue}.start[{row}] = {env[START].value}")
        write_row(w, queue, row, self.columns, env)
        w.line(f"number_{self.name}({row})")
        w.line(f"enqueue({queue}, {self.heap})")
        with w.block(f"if {due} < clock.due:"):
            w.line(f"clock.due = {due}")

    def write(self) -> None:
        self.unit.lookups.clear()
        super().write()
        self._write_at_once()
        queue, heap = self.queue, self.heap
        assert queue is not None
        key = self._key(queue)
        w = Writer()
        if key is None:
            w.line("pass")
        else:
            known = [f"{key.table}.last_k{i} == {part}" for i, part in enumerate(key.parts("row"))]
            w.line(f"{queue}.number[row] = {key.table}.last if {' and '.join(known)} else -1")
        self.unit.function(f"number_{self.name}", ["row: int"], w)
        w = Writer()
        w.line(f"due = {NEVER}")
        with w.block(f"if {queue}.first < {queue}.count:"):
            w.line(f"due = {queue}.due[{queue}.first]")
        with w.block(f"if {heap}.count > 0:"):
            w.line(f"due = min(due, {heap}.due[0])")
        w.line("return due")
        self.unit.function(f"due_{self.name}", [], w, "int")
        self.unit.function(f"pop_{self.name}", [], self._pop(queue, key))

    def _write_at_once(self) -> None:
        """Write the function for a match that need not wait: a copy of what follows, out of the way of the others."""
        text = self.unit.functions[self.name]
        self.unit.functions[f"apart_{self.name}"] = text.replace(f"def {self.name}(", f"def apart_{self.name}(", 1)

    def _pop(self, queue: str, key: _Key | None) -> Writer:
        """Write the passing on of matches whose time has come: the queue's first, then the heap's.

        There is one call for both, so that what follows is part of the loop.
        """
        w, heap = Writer(), self.heap
        more = w.let("more", "True")
        with w.block(f"while {more}:"):
            with w.block(f"if {queue}.first < {queue}.count and {queue}.due[{queue}.first] <= clock.now:"):
                row = w.let("row", f"{queue}.first")
                w.line(f"{queue}.first += 1")
                if key is not None:
                    w.line(f"prefetch({key.table}.k0, {queue}.number[min({row} + {AHEAD}, {queue}.count - 1)])")
                    with w.block(f"if {queue}.number[{row}] >= 0:"):
                        w.line(f"{key.table}.last = {queue}.number[{row}]")
                        for i, part in enumerate(key.parts(row)):
                            w.line(f"{key.table}.last_k{i} = {part}")
                self._read(w, queue, row)
            with w.block(f"elif {heap}.count > 0 and {heap}.due[0] <= clock.now:"):
                w.line(f"apart_sink({heap})")
                self._read(w, heap, f"{heap}.count")
            with w.block("else:"):
                w.line(f"{more} = False")
            with w.block(f"if {more}:"):
                self.push(w, parameters(self.columns)[1])
        with w.block(f"if {queue}.first == {queue}.count:"):
            w.line(f"{queue}.first = 0")
            w.line(f"{queue}.count = 0")
        return w

    def _read(self, w: Writer, rows: str, row: str) -> None:
        """Write the reading of a row into local names: those of the parameters that its fields become."""
        held = read_row(rows, row, self.columns)
        held[START] = Code(f"{rows}.start[{row}]", "True", "i")
        for field, local in parameters(self.columns)[1].items():
            w.line(f"{local.value} = {held[field].value}")
            if local.valid != "True":
                w.line(f"{local.valid} = {held[field].valid}")

    def _key(self, queue: str) -> _Key | None:
        """The first key that operators above look up in a table and whose parts are fields of the waiting match."""
        _, names = parameters(self.columns)
        places = {code.value: number for number, code in enumerate(names[field] for field in self.columns)}
        for table, parts in self.unit.lookups:
            if places.keys() >= set(parts):
                self.unit.numbered[table].append(queue)
                return _Key(table, tuple(f"{queue}.f{places[part]}" for part in parts))
        return None


def set_timer(unit: Unit, w: Writer, env: Env, timer: typed.Timer) -> tuple[str, str]:
    """Write code that computes the beginning and the end of a timer."""
    begins, ends = (
        w.let(name, f"max({env['time', timer.of, 'end' if end else 'start'].value} + {unit.number(shift)}, {EARLIEST})")
        for name, (end, shift) in zip(("begin", "finish"), timer.points, strict=True)
    )
    return begins, ends


TIMER = 1 << 20
"""The rank of timers: after all events. That of static rows comes after it."""
