"""Shelf: matches by key, newest first, kept for a length of time after their end or for ever."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import Operator, Take, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.structures.groups import SOURCES, Groups, groups_layout


class Shelf:
    """Matches by key; see the module. `life` is source for their lifetime."""

    def __init__(
        self, operator: Operator, title: str, kinds: str, columns: dict[Field, Column], life: str | None,
        kind: type[Groups] = Groups,
    ) -> None:  # fmt: skip
        self.unit, self.columns, self.life = operator.unit, columns, life
        rows = {"older": "i64", "start": "i64", "end": "i64", **row_fields(columns)}
        layout = groups_layout(kinds, {"newest": "i64"}, rows)
        self.groups = operator.structure(title, kind, layout, len(kinds))
        for source in SOURCES:
            self.unit.use(source)

    def put(self, w: Writer, key: Sequence[str], env: Env) -> None:
        """Write code that stores the current match, which ends now."""
        g = self.groups
        if self.life is None:
            at = lookup(self.unit, w, "slot", g, key)
        else:
            at = swept_slot(self.unit, w, g, key, f"sweep_chains({g}, clock.now, {self.life})")
        row = w.let("row", f"take_row({g})")
        w.line(f"{g}.older[{row}] = {g}.newest[{at}]")
        w.line(f"{g}.newest[{at}] = {row}")
        w.line(f"{g}.count[{at}] += 1")
        w.line(f"{g}.start[{row}] = {env[START].value}")
        w.line(f"{g}.end[{row}] = clock.now")
        write_row(w, g, row, self.columns, env)

    def visit(self, w: Writer, key: Sequence[str], each: Take) -> None:
        """Write a loop over the matches of a key."""
        g = self.groups
        at = lookup(self.unit, w, "find", g, key)
        with w.when(f"{at} >= 0" if key else "True"):
            row = w.let("row", f"{g}.newest[{at}]")
            with w.block(f"while {row} != 0:"):
                if self.life is not None:
                    with w.block(f"if clock.now - {g}.end[{row}] > {self.life}:"):
                        w.line("break")
                env = read_row(g, row, self.columns)
                env[START] = Code(f"{g}.start[{row}]", "True", "i")
                each(w, env)
                w.line(f"{row} = {g}.older[{row}]")


def swept_slot(unit: Unit, w: Writer, g: str, key: Sequence[str], sweep: str, rows: bool = True) -> str:
    """A name for the slot of a key, in groups that are swept first where there is no room for another row or key."""
    if rows:
        with w.block(f"if {g}.free == 0:"):
            w.line(sweep)
            with w.block(f"if 2 * {g}.used >= {g}.capacity:"):
                w.line(f"grow({g})")
    if not key:
        return "0"
    at = lookup(unit, w, "find", g, key)
    with w.block(f"if {at} < 0:"):
        with w.block(f"if 2 * {g}.slots >= {g}.slot_mask:"):
            w.line(sweep)
        w.line(f"{at} = slot_{len(key)}({', '.join([g, *key])})")
    return at
