"""Gates in front of stores: a match that comes before anything of its key could use it is left out.

A gate records, for each key, the first and the last end of the events that open it, since it was last closed. So it may
let useless matches through, but never keeps a useful one out. State: two times for each key.
"""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Env
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Writer
from ensue.engine.operators.keys import key_kinds, key_of, lookup
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.gates import Gate as Table
from ensue.engine.structures.gates import gate_layout
from ensue.engine.structures.key_numbers import LONG_AGO


class Gate:
    """A gate that events of a scan open for a length of time, for others with the same values of some variables."""

    def __init__(self, unit: Unit, scan: Scan, others: Operator, shared: Sequence[str], reach: int | None) -> None:
        self.unit, self.scan, self.others, self.shared, self.reach = unit, scan, others, tuple(shared), reach
        self.table: str | None = None
        for side in (scan, others):
            side.want(("var", name) for name in shared)
        scan.feed(self.note)

    def _table(self) -> str:
        if self.table is None:
            kinds = key_kinds(self.shared, self.scan, self.others)
            self.table = self.unit.by_key("gate", Table, gate_layout(), kinds)
        return self.table

    def note(self, w: Writer, env: Env) -> None:
        """Write code that records an opening event."""
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
            with w.block(f"if {table}.last_end[{at}] <= {LONG_AGO} or {table}.last_end[{at}] < {over}:"):
                w.line(f"{table}.first_end[{at}] = clock.now")
            w.line(f"{table}.last_end[{at}] = clock.now")

    def lets(self, w: Writer, env: Env, parts: Sequence[str]) -> str:
        """Source that is true if a match with a key may be useful."""
        table = self._table()
        at = lookup(self.unit, w, "find", table, parts)
        here = w.let("open", "False")
        with w.when(f"{at} >= 0" if parts else "True"):
            reach = self.unit.number(NEVER if self.reach is None else self.reach)
            begun = f"{table}.first_end[{at}] < {env[START].value}"
            w.line(f"{here} = {begun} and clock.now - {table}.last_end[{at}] <= {reach}")
        return here
