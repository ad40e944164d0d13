"""What is done for many rows at once, ahead of the steps that they are for: keys are looked up, old rows are let go.

Many lookups one after the other are faster than each in its turn. Keys that are only looked for come after those that
are added: so each finds what comes before it, and may find what comes a little later, of which nothing is stored yet.
"""

from __future__ import annotations

from ensue.engine.compiled.arrivals import given_attributes
from ensue.engine.compiled.needs import ask_for, wanting
from ensue.engine.compiled.unit import Unit

AHEAD = 1024
"""How many rows ahead keys are looked up."""


def look_ahead(unit: Unit) -> None:
    """The slots of some rows ahead of the step; and stored rows that can no longer matter go."""
    w, layout = unit.writer, unit.layout
    if not layout.slots:
        _let_go(unit)
        return
    with w.block("while a < j:"):
        _let_go(unit)
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
        _part_by_type(unit)
        for added in (True, False):
            for (event, attributes), (number, insert) in layout.slots.items():
                kinds = tuple(unit.kind(event, attribute) for attribute in attributes)
                own = layout.space(kinds)
                assert own is not None
                if (insert or own.grows) != added:
                    continue
                rank = unit.rank(event)
                with w.block(f"for y in range(xn_{rank}):"):
                    w.line(f"r = X{rank[1:]}[y]")
                    codes = list(map(given_attributes(unit, event), attributes))
                    w.line(f"S{number}[r] = {unit.lookup(kinds, codes, added, ahead=True)}")
        w.line(f"a = min(n, a + {AHEAD})")
    with w.block("if want >= 0:"):
        w.line("break")


def scratch(unit: Unit) -> None:
    """Room for the rows ahead, by type."""
    for rank in _ranks(unit):
        unit.writer.line(f"X{rank[1:]} = np.empty({AHEAD}, np.int64)")


def _part_by_type(unit: Unit) -> None:
    """The rows ahead of each type: without a branch, which nobody could foresee."""
    w = unit.writer
    for rank in _ranks(unit):
        w.line(f"xn_{rank} = np.int64(0)")
    with w.block(f"for r in range(a, min(n, a + {AHEAD})):"):
        w.line("k = kind[r]")
        for rank in _ranks(unit):
            w.line(f"X{rank[1:]}[xn_{rank}] = r")
            w.line(f"xn_{rank} += np.int64(k == {rank})")


def _ranks(unit: Unit) -> list[str]:
    return [unit.rank(event) for event in dict.fromkeys(event for event, _ in unit.layout.slots)]


def _let_go(unit: Unit) -> None:
    """Moves on the beginning of stores whose rows matter for a certain time only."""
    w = unit.writer
    for store in unit.layout.stores.values():
        n = store.number
        if store.bound is not None and store.ended_by is None:
            with w.block(f"while lo{n} < hi{n} and t - T{n}[lo{n} & (T{n}.shape[0] - 1), 3] > {unit.bound(store)}:"):
                w.line(f"lo{n} += 1")
