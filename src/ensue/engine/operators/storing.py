"""Storing a match in a store: the code that joins, scopes and shared parts share."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import row_fields, write_fields, write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.structures.newest_store import apart_drop_ended, spared
from ensue.engine.subset.source import source_of

SPARED = source_of(spared) + "\n" + source_of(apart_drop_ended)


def store_match(
    unit: Unit, w: Writer, store: str, key: Sequence[str], env: Env, columns: dict[Field, Column], life_end: int | None,
    life_start: int | None, ended: bool = False,
) -> None:  # fmt: skip
    """Write code that stores a match under a key, for these lengths after its end and its start.

    With `ended` rows of the store may have been ended.
    """
    if life_end is not None:
        w.line(f"expire({store}, clock.now, {unit.number(life_end)})")
    at = lookup(unit, w, "slot", store, key)
    if ended:
        w.line(f"cut({store}, {at}, clock.now)")
    place = _add_row(unit, w, "make_room", store, at, life_start)
    w.line(f"{store}.start[{place}] = {env[START].value}")
    w.line(f"{store}.end[{place}] = clock.now")
    write_row(w, store, place, columns, env)
    w.line(f"{store}.newest_end[{at}] = clock.now")


def store_newest(
    unit: Unit, w: Writer, store: str, key: Sequence[str], env: Env, columns: dict[Field, Column],
    life_start: int | None, looked_for: bool,
) -> None:  # fmt: skip
    """The same for a store with the newest row of each key beside the key: see `structures/newest_store.py`.

    Without `looked_for` no given event probes for rows after it has been stored itself.
    """
    unit.use(SPARED)
    at = lookup(unit, w, "slot", store, key)
    past = "0" if looked_for else "clock.alone"
    unit.asks_alone = unit.asks_alone or not looked_for
    with w.block(f"if spared({store}, {at}, clock.now, {past}):"):
        w.line(f"apart_into_{store}({at})")
    ring = Writer()
    place = _add_row(unit, ring, "make_room_in_ring", store, "at", life_start)
    for name in ("start", "end", *row_fields(columns)):
        ring.line(f"{store}.{name}[{place}] = {store}.newest_{name}[at]")
    unit.function(f"apart_into_{store}", ["at: int"], ring)
    w.line(f"{store}.newest_start[{at}] = {env[START].value}")
    w.line(f"{store}.newest_end[{at}] = clock.now")
    write_fields(w, lambda name: f"{store}.newest_{name}[{at}]", columns, env)


def _add_row(unit: Unit, w: Writer, make_room: str, store: str, at: str, life_start: int | None) -> str:
    """Write code that adds a row to the ring of a store, before those of its key; returns its place."""
    w.line(f"{make_room}({store}, clock.now, {unit.number(NEVER if life_start is None else life_start)})")
    row = w.let("row", f"{store}.high")
    w.line(f"{store}.high += 1")
    place = w.let("p", f"{row} & {store}.mask")
    w.line(f"{store}.older[{place}] = {store}.newest[{at}]")
    w.line(f"{store}.newest[{at}] = {row}")
    return place
