"""Looking keys up ahead: many lookups one after the other are faster than each in its turn.

Rows come in order, so a key is known as soon as it has occurred.
"""

from __future__ import annotations

from ensue.engine.compiled.arrivals import given_attributes
from ensue.engine.compiled.needs import ask_for, wanting
from ensue.engine.compiled.unit import Unit

AHEAD = 1024
"""How many rows ahead keys are looked up."""


def look_ahead(unit: Unit) -> None:
    """The slots of some rows ahead of the step."""
    w, layout = unit.writer, unit.layout
    if not layout.slots:
        return
    with w.block("while a < j:"):
        for space in layout.spaces.values():
            slots = sum(
                layout.space(tuple(unit.kind(event, x) for x in attributes)) is space
                for event, attributes in layout.slots
            )
            if slots:
                keys, need = f"KV{space.number}", str(slots * AHEAD)
                with w.block(f"if {wanting(layout, keys, need)}:"):
                    ask_for(w, layout, keys, need)
                    w.line("break")
        with w.block(f"for r in range(a, min(n, a + {AHEAD})):"):
            w.line("k = kind[r]")
            for (event, attributes), (number, insert) in layout.slots.items():
                with w.block(f"if k == {unit.ranks[event]}:"):
                    kinds = tuple(unit.kind(event, attribute) for attribute in attributes)
                    own = layout.space(kinds)
                    assert own is not None
                    codes = list(map(given_attributes(unit, event), attributes))
                    slot = unit.lookup(kinds, codes, insert or own.grows, ahead=True)
                    w.line(f"S{number}[r] = {slot}")
        w.line(f"a = min(n, a + {AHEAD})")
    with w.block("if want >= 0:"):
        w.line("break")
