"""Gates in front of stores: a match that comes before anything of its key could use it is left out.

A gate records, for each key, the first and the last end of what opens it, since it was last closed. So it may let
useless matches through, but never keeps a useful one out. Where a scope includes its beginning, an instant may be
useful that comes in the very step in which its gate is opened, before that: it waits for the end of the step. So do all
instants of the step then, and those of a key stay in order. State: two times for each key; the instants of a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator, Take, read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import key_kinds, key_of, lookup, same_kinds
from ensue.engine.operators.scan import Scan, scans_in
from ensue.engine.structures.gates import Gate as Table
from ensue.engine.structures.gates import gate_layout
from ensue.engine.structures.key_numbers import LONG_AGO
from ensue.engine.structures.rows import StepRows, rows_layout


class Gate:
    """A gate that matches of some operators open for a length of time, for others with the same values of variables.

    `others` has these variables as the others have them. With `at_once` a gate is open for what starts when it opens.
    """

    def __init__(
        self, unit: Unit, openers: Sequence[Operator], others: Operator, shared: Sequence[str], reach: int | None,
        at_once: bool = False,
    ) -> None:  # fmt: skip
        self.unit, self.openers, self.others, self.shared = unit, openers, others, tuple(shared)
        self.reach, self.at_once = reach, at_once
        self.name = unit.fresh("gate")
        self.table: str | None = None
        for operator in openers:
            operator.want(("var", name) for name in shared)
            operator.feed(self.note)
        others.want(("var", name) for name in shared)

    def _table(self) -> str:
        if self.table is None:
            kinds = key_kinds(self.shared, self.openers[0], self.others)
            self.table = self.unit.by_key("gate", Table, gate_layout(), kinds)
        return self.table

    def note(self, w: Writer, env: Env) -> None:
        """Write code that records that the gate opens."""
        key = key_of(self.unit, w, self.shared, env, self.others)
        if key is None:
            return
        table = self._table()
        with w.when(key.there):
            over = str(LONG_AGO)
            if self.reach is not None:
                over = w.let("over", f"clock.now - {self.unit.number(self.reach)}")
            w.line(f"{table}.over = {over}")
            at = lookup(self.unit, w, "slot", table, key.parts)
            first, last = w.let("first", f"{table}.first_end[{at}]"), w.let("last", f"{table}.last_end[{at}]")
            # no branch, as the processor cannot predict which keys have been open lately
            anew = f"(int({last} <= {LONG_AGO}) | int({last} < {over})) != 0"
            w.line(f"{table}.first_end[{at}] = clock.now if {anew} else {first}")
            w.line(f"{table}.last_end[{at}] = clock.now")

    def lets(self, w: Writer, env: Env, parts: Sequence[str], finally_: bool = False) -> str:
        """Source that is true if a match with a key may be useful; `finally_` if all that ends now has come."""
        table, start = self._table(), env[START].value
        at = lookup(self.unit, w, "find", table, parts)
        here = w.let("open", "False")
        with w.when(f"{at} >= 0" if parts else "True"):
            reach = self.unit.number(NEVER if self.reach is None else self.reach)
            first = f"{table}.first_end[{at}]"
            if not self.at_once:
                begun = f"{first} < {start}"
            elif finally_:
                begun = f"{first} <= {start}"
            else:
                begun = f"{first} <= {start} and {first} < clock.now"
            w.line(f"{here} = {begun} and clock.now - {table}.last_end[{at}] <= {reach}")
        return here


class Entrance:
    """A place where matches come to a gate: those of `comers`, which pass as `then` says.

    With `early` instants that waited pass before anything else that waits for the end of the step.
    """

    def __init__(self, gate: Gate, comers: Operator, others: Operator, layer: int, then: Take, early: bool) -> None:
        self.gate, self.unit, self.layer = gate, gate.unit, layer
        self.comers, self.others, self.then = comers, others, then
        self.rows: str | None = None
        self.name = self.unit.fresh("entrance")
        comers.want(("var", name) for name in gate.shared)
        if not gate.at_once:
            return
        self.unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()", early=early)

    @property
    def late(self) -> bool:
        """True if what opens the gate may come after the first calls at the end of a step, or wait until then."""
        for operator in self.gate.openers:
            if isinstance(operator, Scan):
                if self.unit.derived.get(operator.atom.event, -1) >= self.layer:
                    return True
                if operator.entrance is not None and operator.entrance.late:
                    return True
        return False

    def come(self, w: Writer, env: Env) -> None:
        """Write the arrival of a match: it passes, waits, or goes."""
        key = key_of(self.unit, w, self.gate.shared, env, self.others)
        if key is None:
            return
        with w.when(key.there):
            here = self.gate.lets(w, env, key.parts)
            with w.when(here):
                self.then(w, env)
            if self.gate.at_once:
                with w.block(f"if not {here} and {env[START].value} == clock.now:"):
                    self._hold(w, env)

    def _held(self) -> str:
        if self.rows is None:
            layout = rows_layout({"start": "i64", **row_fields(self.comers.columns)})
            self.rows = self.unit.structure("undecided", StepRows, layout)
        return self.rows

    def _hold(self, w: Writer, env: Env) -> None:
        rows = self._held()
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = clock.now")
        write_row(w, rows, f"{rows}.count", self.comers.columns, env)
        w.line(f"{rows}.count += 1")

    def write(self) -> None:
        """Write the functions that let in what waited, where the gate has opened."""
        if not self.gate.at_once:
            return
        unit, rows, columns, late = self.unit, self._held(), self.comers.columns, self.late
        w = Writer()
        w.line(f"return {rows}.count")
        unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        kept = w.let("kept", "0")
        with w.block(f"for i in range({rows}.count):"):
            env = read_row(rows, "i", columns)
            env[START] = Code(f"{rows}.start[i]", "True", "i")
            here = w.let("passes", "False")
            key = key_of(unit, w, self.gate.shared, env, self.others)
            if key is not None:
                with w.when(key.there):
                    w.line(f"{here} = {self.gate.lets(w, env, key.parts, finally_=True)}")
            with w.block(f"if {here}:"):
                self.then(w, env)
            if late:
                with w.block("else:"):
                    w.line(f"copy_row({rows}, {kept}, i)")
                    w.line(f"{kept} += 1")
        w.line(f"{rows}.count = {kept}")
        unit.function(f"settle_{self.name}", [], w)
        if late:
            unit.later(self.layer, f"held_{self.name}() > 0", f"clear_{self.name}()", last=True)
            w = Writer()
            w.line(f"{rows}.count = 0")
            unit.function(f"clear_{self.name}", [], w)


def gate_parts(
    gate: Gate, atoms: Sequence[int], whole: Operator, others: Operator, layer: int
) -> list[Entrance]:  # fmt: skip
    """Let the events of some atoms of a composite through a gate, too, before anything is made of them."""
    found = []
    for scan in scans_in(whole):
        if scan.atom.id in atoms and same_kinds(gate.shared, scan, whole):
            entrance = Entrance(gate, scan, others, layer, scan.push, early=True)
            scan.entrance = entrance
            found.append(entrance)
    return found
