"""Gates: for each key, from when until when something of use may come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ensue.engine.structures.key_numbers import ByKey, head_columns
from ensue.engine.structures.structure import Array, Layout


def gate_layout() -> Layout:
    return Layout(("over", "heads"), head_columns({"first_end": "i64", "last_end": "i64"}))


LONG_AGO = -(2**62)
"""Before any time."""


class Gate(ByKey):
    """The first and the last end of what opens, of those between which the gate was never closed.

    What ended before ``over`` opens nothing any more.
    """

    empty: ClassVar[dict[str, int]] = {"first_end": LONG_AGO, "last_end": LONG_AGO}

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

    def size(self) -> tuple[int | None, int, int]:
        """A gate is counted by its keys: it keeps no tuples."""
        keys = self.key_count()
        return keys, 0, 8 * 3 * (keys or 0)
