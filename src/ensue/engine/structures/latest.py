"""The latest instances of a choice that takes no others: two for each key, beside the key.

Where a newer initiator always takes precedence, an instance matters until a newer one has ended before the current
step. So a key has the last of this step (``fresh``), and the last of the steps before (``settled``). A fresh one of an
earlier step has settled; it moves when the next one comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ensue.engine.structure import Array, Element, Layout
from ensue.engine.structures.key_numbers import LONG_AGO, ByKey, head_columns

NO_INSTANCE = LONG_AGO
"""The end of an instance that is not there."""


def latest_layout(fields: dict[str, Element]) -> Layout:
    """Layout of instances with these fields besides ``start`` and ``end``, each prefixed by the name of its place."""
    every: dict[str, Element] = {"end": "i64", "start": "i64", **fields}
    payload = {f"{place}_{name}": element for place in ("fresh", "settled") for name, element in every.items()}
    return Layout(("over", "heads"), head_columns(payload))


class Latest(ByKey):
    """The latest instances, by key. Those that ended before ``over`` have expired."""

    empty: ClassVar[dict[str, int]] = {"fresh_end": NO_INSTANCE, "settled_end": NO_INSTANCE}

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        ends = [f"{name}.{place}_end[{at}]" for place in ("fresh", "settled")]
        return " or ".join(f"({end} > {NO_INSTANCE} and {end} >= {name}.over)" for end in ends)

    def alive(self) -> Array:
        found: Array = self._in_use("fresh") | self._in_use("settled")
        return found

    def _in_use(self, place: str) -> Array:
        ends = self.head(f"{place}_end")
        found: Array = (ends > NO_INSTANCE) & (ends >= self.over)
        return found

    def saved(self) -> list[Any]:
        return [[self.over], *self.saved_heads()]

    def restore(self, state: Sequence[Any]) -> None:
        (self.over,), keys, heads = state
        self.restore_heads(keys, heads)

    def size(self) -> tuple[int | None, int, int]:
        instances = sum(int(np.count_nonzero(self._in_use(place))) for place in ("fresh", "settled"))
        keys = self.key_count()
        return keys, instances, 8 * (instances * self.own_width // 2 + (keys or 0))
