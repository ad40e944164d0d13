"""Forms of data: the same events in other forms, each as a share of the plain Arrow table in the same process.

Three ways in: `detect` on all events at once, on a reader of batches, and a session that is sent the same batches. The
variants are those of `cliffs`. Of a form that no reader has, as pandas frames, the batches are sent to a session only.
The detections of each way are counted, and compared with the recorded number.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.cliff_variants import VARIANTS, Variant, known_counts
from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, times
from benchmarks.streams import path_of

if TYPE_CHECKING:
    import pyarrow as pa

    import ensue

WAYS = {"table": "whole", "reader": "a reader", "session": "a session"}
BATCH = 65_536
LATENESS = 100
"""The largest lateness of rows in the variant that has late ones."""

LEAST = 0.5
"""The share of the plain table's speed that each form should reach."""

FORMS = (
    "forms of data: pandas",
    "forms of data: Polars",
    "forms of data: a table for each type",
    "keys and times: start and end",
    "keys and times: rows a little late",
    "forms of data: a type that never comes",
    "values: no column for an attribute",
    "values: string keys",
    "values: undeclared events",
    "relations, intervals: overlaps",
    "relations, intervals: during",
)
"""Names of variants of `cliffs`; each is measured beside the plain one."""


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    found: dict[str, Any] = {}
    for name in FORMS:
        try:
            found[name] = in_child("benchmarks.forms", options.events, options.of_keys, options.runs, name)
        except ChildError as error:
            found[name] = {"failed": str(error)}
    return Result("forms", (_table(found, options),), found, tuple(_wrong(found, options)))


def _table(found: dict[str, Any], options: Options) -> Table:
    rows = []
    done = {name: each for name, each in found.items() if "failed" not in each}
    for name, each in done.items():
        rows.append(_row(name.split(": ")[1], each, each["plain"]["table"]["cpu"], options.events))
    if done:
        fastest = min((each["plain"] for each in done.values()), key=lambda plain: plain["table"]["cpu"])
        rows.insert(0, _row("plain", fastest, fastest["table"]["cpu"], options.events))
    notes = [f"{name}: {each['failed']}" for name, each in found.items() if "failed" in each]
    header = ("form", *(f"{way}, share" for way in WAYS.values()), *(f"{way}, M a CPU-second" for way in WAYS.values()))
    title = f"Other forms of data, as a share of the plain table's speed ({options.events:,} events)"
    return Table(title, header, tuple(rows), tuple(notes))


def _row(name: str, each: dict[str, Any], plain: float, events: int) -> tuple[str, ...]:
    shares = [times(plain, each[way]["cpu"], 2) if way in each else NONE for way in WAYS]
    return (name, *shares, *(times(events / each[way]["cpu"] / 1e6, 1) if way in each else NONE for way in WAYS))


def _wrong(found: dict[str, Any], options: Options) -> Iterator[str]:
    known = known_counts().get(f"{options.events}/{options.of_keys}", {})
    for name, each in found.items():
        if "failed" in each:
            yield f"{name} fails: {each['failed']}"
            continue
        counts = {way: each[way]["count"] for way in WAYS if way in each}
        right = known.get(name, counts["table"])
        yield from (f"{name}, {WAYS[way]}: {count:,}, not {right:,}" for way, count in counts.items() if count != right)


# --- in a child


def measured(n: int, keys: int, runs: int, name: str) -> dict[str, Any]:
    """The CPU seconds of each way at best, of a form and of the plain table, in turns; with numbers of detections."""
    import pyarrow.parquet as pq

    from benchmarks.cliffs import _label

    warnings.simplefilter("ignore")
    table = pq.read_table(path_of("events", n, keys))
    variant = next(each for each in VARIANTS if _label(each) == name)
    actions = {(form, way): action for form, each in (("plain", VARIANTS[0]), (name, variant))
               for way, action in _ways(each, table).items()}  # fmt: skip
    taken: dict[tuple[str, str], list[float]] = {action: [] for action in actions}
    counts = {}
    for _ in range(runs + 1):
        for key, action in actions.items():
            began = process_time()
            counts[key] = action()
            taken[key].append(process_time() - began)
    found: dict[str, Any] = {"plain": {}}
    for (form, way), each in taken.items():
        (found["plain"] if form == "plain" else found)[way] = {"cpu": min(each[1:]), "count": counts[form, way]}
    return found


def _ways(variant: Variant, table: pa.Table) -> dict[str, Callable[[], int]]:
    """Detection as it is called, in each way that the form has; what is handed over is made before."""
    import pyarrow as pa

    import ensue
    from benchmarks.cliff_data import DATA

    program = ensue.compile(variant.rules)
    given = DATA[variant.data](table)
    call: dict[str, Any] = {} if variant.data == "intervals" else {"time": "ts"}
    late = {"lateness": LATENESS} if variant.data == "late" else {}
    emit = variant.emit.split(",")
    parts = _parts(given, table, variant)

    def reader() -> int:
        source = pa.RecordBatchReader.from_batches(given.schema, iter(parts))
        return sum(batch.num_rows for batch in program.detect(source, emit=emit, **call, **late))

    found = {"table": lambda: _count(program.detect(given, emit=emit, **call))}
    if isinstance(given, pa.Table):
        found["reader"] = reader
    return found | {"session": lambda: _sent(program.start(emit=emit, **call, **late), parts)}


def _parts(given: Any, table: pa.Table, variant: Variant) -> list[Any]:
    """The events in batches of the same form."""
    import pyarrow as pa

    from benchmarks.cliff_data import DATA

    if isinstance(given, pa.Table):
        return list(given.combine_chunks().to_batches(max_chunksize=BATCH))
    return [DATA[variant.data](table.slice(first, BATCH)) for first in range(0, table.num_rows, BATCH)]


def _sent(session: ensue.Session, parts: list[Any]) -> int:
    return sum(_count(session.send(part)) for part in parts) + _count(session.close())


def _count(found: Any) -> int:
    return sum(map(_count, found.values())) if isinstance(found, dict) else len(found)


if __name__ == "__main__":
    print(json.dumps(measured(*map(int, sys.argv[1:4]), sys.argv[4])))
