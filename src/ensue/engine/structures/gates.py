"""Gates: for each key, the time in which useful matches may come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ensue.engine.structure import Array, Layout
from ensue.engine.structures.key_numbers import LONG_AGO, ByKey, head_columns

NOT_YET = 2**62
"""After any time."""


def gate_layout() -> Layout:
    return Layout(("over", "heads"), head_columns({"first_end": "i64", "last_end": "i64"}))


class LastEnds(ByKey):
    """A last end for each key. A key whose last end is before ``over`` is of no use any more."""

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        return f"{name}.last_end[{at}] > {LONG_AGO} and {name}.last_end[{at}] >= {name}.over"

    def alive(self) -> Array:
        last = self.head("last_end")
        found: Array = (last > LONG_AGO) & (last >= self.over)
        return found

    def saved(self) -> list[Any]:
        return [[self.over], *self.saved_heads()]

    def restore(self, state: Sequence[Any]) -> None:
        (self.over,), keys, heads = state
        self.restore_heads(keys, heads)


class Gate(LastEnds):
    """The first and the last end of what opens, of those between which the gate was never closed."""

    empty: ClassVar[dict[str, int]] = {"first_end": NOT_YET, "last_end": LONG_AGO}

    def size(self) -> tuple[int | None, int, int]:
        """Sizes; a gate is counted by its keys, since it stores no tuples."""
        keys = self.key_count()
        return keys, 0, 8 * 3 * (keys or 0)
