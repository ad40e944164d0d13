"""Storing a match in a store: the code that joins, scopes and shared parts have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Writer
from ensue.engine.operators.keys import lookup


def store_match(
    unit: Unit, w: Writer, store: str, key: Sequence[str], env: Env, columns: dict[Field, Column], life_end: int | None,
    life_start: int | None, ended: bool = False,
) -> None:  # fmt: skip
    """Writes that a match is stored under a key, for as long after its end and its start as these say.

    With `ended` rows of the store may have been ended: one of them is used again, unless rows must stay in the order of
    their ends.
    """
    if life_end is not None:
        w.line(f"expire({store}, clock.now, {unit.number(life_end)})")
    at = lookup(unit, w, "slot", store, key)
    row = w.let("row", f"cut({store}, {at}, clock.now)" if ended else "-1")
    with w.when(f"{row} < 0" if ended and life_end is None else "True"):
        w.line(f"make_room({store}, clock.now, {unit.number(NEVER if life_start is None else life_start)})")
        w.line(f"{row} = {store}.high")
        w.line(f"{store}.high += 1")
    place = w.let("p", f"{row} & {store}.mask")
    w.line(f"{store}.older[{place}] = {store}.newest[{at}]")
    w.line(f"{store}.start[{place}] = {env[START].value}")
    w.line(f"{store}.end[{place}] = clock.now")
    write_row(w, store, place, columns, env)
    w.line(f"{store}.newest[{at}] = {row}")
    w.line(f"{store}.newest_end[{at}] = clock.now")
