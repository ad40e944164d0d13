"""The distance of Ensue from a kernel by hand: W1 to W7 in C, on the same Arrow table to the same table.

The kernels (`kernels.c`) know one rule each, the letters of the types and the order of the rows; they find keys by
hashing, and check nothing. They run in turns with Ensue in one process, and their detections are compared row by row.
What lies between is taken from `parts`: reading types and checking the order of times, generated code, making the
output. Needs a C compiler (`cc`).
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.parts import PARTS
from benchmarks.report import NONE, Result, Table, times
from benchmarks.streams import DATA, path_of
from benchmarks.workloads import WORKLOADS, Workload

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

COLUMNS = {
    "w1": ("id", "start", "end"),
    "w2": ("id", "start", "end", "mid"),
    "w3": ("id", "start", "end"),
    "w4": ("id", "start", "end"),
    "w5": ("start", "end", "s"),
    "w6": ("start", "end", "m"),
    "w7": ("sym", "start", "end"),
}
"""The columns of detections."""

FOUND = {"id": "key", "sym": "key", "s": "value", "m": "value"}
"""The columns of a kernel that have another name there."""

SOURCE, LIBRARY = Path(__file__).with_name("kernels.c"), DATA / "kernels.so"
FIELDS = (
    ("rows", ctypes.c_int64),
    *((name, ctypes.c_void_p) for name in ("offsets", "letters", "ts", "key", "price", "x")),
    ("mask", ctypes.c_int64),
    *((name, ctypes.c_void_p) for name in ("keys", "used", "newest", "older")),
    *((name, ctypes.c_void_p) for name in ("found_key", "found_start", "found_end", "found_mid", "found_value")),
    ("room", ctypes.c_int64),
)


class Run(ctypes.Structure):
    """The structure of the same name in `kernels.c`."""

    _fields_ = FIELDS


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    measured, rows, wrong = {}, [], []
    for workload in options.workloads(tuple(COLUMNS)):
        arguments = (workload.name, options.events, options.of_keys, options.runs)
        try:
            found = in_child("benchmarks.by_hand", *arguments) | {"parts": in_child("benchmarks.parts", *arguments)}
        except ChildError as error:
            found = {"failed": str(error)}
            wrong.append(f"{workload.name}: {error}")
        measured[workload.name] = found
        rows.append(_row(workload, found, options.events))
        if found.get("differs"):
            wrong.append(f"{workload.name}: {found['differs']}")
    title = f"Ensue and a kernel by hand, nanoseconds an event ({options.events:,} events, {options.of_keys:,} keys)"
    header = ("workload", "by hand", "Ensue", "Ensue / by hand", *(f"of that {part}" for part in PARTS), "detections")
    return Result("by-hand", (Table(title, header, tuple(rows)),), measured, tuple(wrong))


def _row(workload: Workload, found: dict[str, Any], events: int) -> tuple[str, ...]:
    name = f"{workload.name} {workload.title}"
    if "failed" in found:
        return (name, *[NONE] * (len(PARTS) + 4))
    each = 1e9 / events
    parts = (f"{each * found['parts'][part]:.1f}" for part in PARTS)
    whole = (f"{each * found['kernel']:.1f}", f"{each * found['ensue']:.1f}", times(found["ensue"], found["kernel"]))
    return (name, *whole, *parts, f"{found['count']:,}")


# --- in a child


def measured(name: str, n: int, keys: int, runs: int) -> dict[str, Any]:
    """The CPU seconds of both at best, in turns; how many detections there are, and whether they differ."""
    import pyarrow.parquet as pq

    import ensue
    from benchmarks.run_ensue import _detect

    workload = WORKLOADS[name]
    table = pq.read_table(path_of(workload.stream, n, keys)).combine_chunks()
    program = ensue.compile(workload.rules)
    actions = {"ensue": lambda: _detect(program, workload, table, name), "kernel": kernel(workload, table, keys)}
    taken: dict[str, list[float]] = {each: [] for each in actions}
    found = {}
    for _ in range(runs + 1):
        for each, action in actions.items():
            began = process_time()
            found[each] = action()
            taken[each].append(process_time() - began)
    ours: Any = found["ensue"]
    ours, theirs = next(iter(ours.values())) if isinstance(ours, dict) else ours, found["kernel"]
    best: dict[str, Any] = {each: min(seconds[1:]) for each, seconds in taken.items()}
    return best | {"count": theirs.num_rows, "differs": _difference(ours, theirs, workload, n, keys)}


def _difference(ours: pa.Table, theirs: pa.Table, workload: Workload, n: int, keys: int) -> str:
    right = workload.expected(n, keys) if workload.counted == workload.name else None
    if theirs.num_rows != (ours.num_rows if right is None else right):
        return f"{theirs.num_rows:,} by hand, {ours.num_rows:,} by Ensue, and it should be {right}"
    same = ours.select(theirs.column_names).combine_chunks().equals(theirs)
    return "" if same else "the detections are not the same"


def library() -> ctypes.CDLL:
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("there is no C compiler (cc)")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", LIBRARY, SOURCE], check=True)
    return ctypes.CDLL(str(LIBRARY))


def kernel(workload: Workload, table: pa.Table, keys: int) -> Callable[[], pa.Table]:
    """From the table to one of detections, by hand."""
    import numpy as np
    import pyarrow as pa

    function = getattr(library(), workload.name)
    function.restype, function.argtypes = ctypes.c_int64, [ctypes.POINTER(Run)]
    key = "sym" if workload.stream == "stock" else "id"
    rows, size = table.num_rows, 1 << (4 * keys).bit_length()
    room = 2 * max(rows, workload.expected(rows, keys) or 0)

    def detect() -> pa.Table:
        given = {"ts": table["ts"].chunk(0), "key": table[key].chunk(0)}
        arrays = {name: column.to_numpy() for name, column in given.items()}
        arrays |= {name: table[name].chunk(0).to_numpy() for name in ("price", "x") if name in table.column_names}
        arrays |= {"keys": np.empty(size, np.int64), "newest": np.empty(2 * size, np.int64)}
        arrays |= {"used": np.zeros(size, np.int64), "older": np.empty(max(rows, 3 * size), np.int64)}
        found = {name: np.empty(room, np.int64) for name in ("found_key", "found_start", "found_end", "found_mid")}
        found["found_value"] = np.empty(room, np.float64)
        held = Run(rows=rows, mask=size - 1, room=room, **{name: _address(a) for name, a in (arrays | found).items()})
        if "type" in table.column_names:
            _, offsets, letters = table["type"].chunk(0).buffers()
            held.offsets, held.letters = offsets.address, letters.address
        count = function(ctypes.byref(held))
        if count >= room:
            raise SystemExit(f"there is no room for more than {room:,} detections")
        names = COLUMNS[workload.name]
        return pa.table({name: found[f"found_{FOUND.get(name, name)}"][:count] for name in names})

    return detect


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], *map(int, sys.argv[2:]))))
