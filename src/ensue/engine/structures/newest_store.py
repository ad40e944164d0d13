"""The store of joins whose left sides can be ended: the newest row of each key lies beside the key.

Where a forbidden event ends all rows before it (`not tick in [tick, tick]`), mostly one row for each key is left. So it
lies in the key's own row, and is overwritten once it has been ended; rows that can still find a partner when a newer
one comes, as those of one step, move to the ring of the store.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ensue.engine.structure import Array, Element, Layout
from ensue.engine.structures.key_numbers import head_columns
from ensue.engine.structures.store import NUMBERS, Store, cut_behind, ended_at, ring_columns

NO_ROW = -(2**62) - 1
"""The end of a missing newest row: before any time at which rows can have been ended."""


def newest_store_layout(fields: dict[str, Element]) -> Layout:
    """Rows with these fields besides ``start`` and ``end``; those of newest rows have the prefix ``newest_``.

    ``newest`` is the newest row of the ring, ``newest_end`` the end of the row beside the key.
    """
    payload: dict[str, Element] = {"newest_end": "i64", "ended": "i64", "ended_before": "i64", "newest": "i64"}
    beside: dict[str, Element] = {"newest_start": "i64", **{f"newest_{name}": kind for name, kind in fields.items()}}
    return Layout(NUMBERS, (*head_columns(payload | beside), *ring_columns(fields)))


class NewestStore(Store):
    """Rows by key, the newest beside the key."""

    empty: ClassVar[dict[str, int]] = {"newest": -1, "newest_end": NO_ROW}

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        return f"{name}.newest_end[{at}] > {NO_ROW}"

    def alive(self) -> Array:
        found: Array = self.head("newest_end") > NO_ROW
        return found

    def live(self) -> int:
        return super().live() + int(np.count_nonzero(self.alive()))


def spared(store: NewestStore, at: int, time: int, past: int) -> bool:
    """True if the newest row of a key can still find a partner when another one comes.

    If `past` is set, no event probes for rows that were ended in this very step. Ended rows are removed from the ring.
    """
    limit = store.ended[at] if past != 0 else ended_at(store, at, time)
    if store.newest_end[at] < limit:
        store.newest[at] = -1
        return False
    if store.newest[at] >= store.low:
        apart_drop_ended(store, at, limit)
    return True


def apart_drop_ended(store: NewestStore, at: int, limit: int) -> None:
    """Remove the rows of a key that ended before a time from the ring."""
    row = store.newest[at]
    if store.end[row & store.mask] < limit:
        store.newest[at] = -1
    elif store.newest_end[at] == limit:  # else they were removed when the row after these came
        cut_behind(store, row, limit)
