"""Inputs of many derived events at once, as a column of lists.

The function runs as machine code where there are many sets, and as Python where there are few: see
`structures/kernel.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Layout
from ensue.engine.structures.kernel import Kernel, call
from ensue.engine.structures.sources import Sources
from ensue.engine.subset.source import source_of

FEW = 1 << 10
"""Initial room for inputs, beyond two for each set."""

SETS = Layout(
    ("rows", "at", "turn", "filled", "room"),
    (
        ("handle", Column("handles")),
        ("one", Column("ones")),
        ("other", Column("others")),
        ("visited", Column("visits")),
        ("seen", Column("sights")),
        ("waiting", Column("stack")),
        ("input", Column("inputs")),
        ("past", Column("ends")),
    ),
)
"""Handles, the nodes they lead to, and the inputs of each set one after the other; ``past`` is the end of each set."""

sets: Any = None
"""The sets, as `gather_inputs` sees them: generated code finds them by this name."""


def gather_inputs() -> int:
    """Write the inputs of the sets from ``at`` on; returns 1 when there is no room for more."""
    while sets.at < sets.rows:
        sets.turn += 1
        filled = sets.filled
        sets.waiting[0] = sets.handle[sets.at]
        count = 1
        while count > 0:
            count -= 1
            at = sets.waiting[count]
            if (at & 1) != 0:
                if sets.seen[at >> 1] != sets.turn:
                    sets.seen[at >> 1] = sets.turn
                    if filled == sets.room:
                        return 1
                    sets.input[filled] = at >> 1
                    filled += 1
            elif at != 0 and sets.visited[at >> 1] != sets.turn:
                sets.visited[at >> 1] = sets.turn
                sets.waiting[count] = sets.other[at >> 1]
                sets.waiting[count + 1] = sets.one[at >> 1]
                count += 2
        sets.past[sets.at] = filled
        sets.filled = filled
        sets.at += 1
    return 0


KERNEL = Kernel("gather_inputs", "sets", SETS, source_of(gather_inputs))


def inputs_of_all(sources: Sources, handles: Array) -> pa.ListArray:
    """The positions of the inputs in each of some sets, in order."""
    nodes = sources.arrays["rows"][: sources.count]
    ones, others = (np.ascontiguousarray(nodes[:, sources.layout.column(name).place]) for name in ("one", "other"))
    handles = np.ascontiguousarray(handles)
    leaves = [column[column & 1 == 1].max(initial=0) for column in (handles, ones, others)]
    arrays = {
        "handles": handles,
        "ones": ones,
        "others": others,
        "visits": np.zeros(len(nodes), np.int64),
        "sights": np.zeros((max(leaves) >> 1) + 1, np.int64),
        "stack": np.zeros(2 * len(nodes) + 1, np.int64),
        "inputs": np.zeros(2 * len(handles) + FEW, np.int64),
        "ends": np.zeros(len(handles), np.int64),
    }
    numbers = {"rows": len(handles), "at": 0, "turn": 0, "filled": 0, "room": len(arrays["inputs"])}
    while True:
        full, numbers = _called(arrays, numbers)
        if not full:
            break
        arrays["inputs"] = np.concatenate([arrays["inputs"], np.zeros_like(arrays["inputs"])])
        numbers["room"] = len(arrays["inputs"])
    return _lists(arrays["inputs"][: numbers["filled"]], arrays["ends"])


def _called(arrays: Mapping[str, Array], numbers: dict[str, int]) -> tuple[int, dict[str, int]]:
    found, structure = call(KERNEL, numbers["rows"], arrays, numbers)
    return found, {name: int(getattr(structure, name)) for name in numbers}


def _lists(inputs: Array, ends: Array) -> pa.ListArray:
    """A list for each set, sorted; most are sorted already."""
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    rises = inputs[1:] > inputs[:-1]
    rises[ends[:-1][(ends[:-1] > 0) & (ends[:-1] < len(inputs))] - 1] = True
    if not rises.all():
        inputs = inputs[np.lexsort((inputs, np.repeat(np.arange(len(ends)), np.diff(offsets))))]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(inputs))
