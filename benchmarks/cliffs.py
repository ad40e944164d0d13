"""Cliffs: the same events, one feature of the language or one property of the data changed at a time.

Each variant is set against the plain rule in the same process. Three things are held: its answer on a short stream is
the reference's, row by row; the number of its detections on the long one is the recorded one; and it is neither below
a fifth of the plain rule's speed, unless it names the bottleneck, nor below a million events per CPU-second.

`python -m benchmarks.cliffs WORD…` measures those with a word in their names; `--record` writes down how many
detections there are of each.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from math import isclose
from typing import TYPE_CHECKING, Any

from benchmarks.cliff_plot import chart
from benchmarks.cliff_variants import COUNTS, PLAIN, VARIANTS, Variant, known_counts
from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import Result, Table, thousands, times
from benchmarks.streams import DATA, path_of

if TYPE_CHECKING:
    import pyarrow as pa

TOGETHER = 8
"""Number of variants that are measured in one process, with the plain rule before and after them."""

LEAST_RATIO, LEAST_SPEED = 0.2, 1_000_000
LONG = 4.0
"""CPU seconds after which a variant is not run again."""

SHORT, SHORT_KEYS = 240, 6
"""The stream for the reference: events and keys."""

LIMITS = 20
"""One key of this number has no limit in the static tables."""

PICTURE = DATA / "cliffs.svg"


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    measured: dict[str, dict[str, Any]] = {}
    others = [place for place, variant in enumerate(VARIANTS) if variant.group != PLAIN]
    for first in range(0, len(others), TOGETHER):
        chosen = others[first : first + TOGETHER]
        print(f"  cliffs: {first} of {len(others)}, {VARIANTS[chosen[0]].group}", file=sys.stderr, flush=True)
        measured |= _measured(chosen, options)
    found = [{"group": v.group, "name": v.name, "bound": v.bound} | measured[_label(v)] for v in VARIANTS[1:]]
    PICTURE.write_text(chart([each for each in found if "ratio" in each]), encoding="utf-8")
    return Result("cliffs", (_table(found, options),), found, tuple(_wrong(found, options)))


def _measured(chosen: Sequence[int], options: Options) -> dict[str, dict[str, Any]]:
    """Some variants in one process; if it fails, each in a separate one, to know which failed."""
    arguments = (options.events, options.of_keys, min(3, options.runs), *chosen)
    try:
        found: dict[str, dict[str, Any]] = in_child("benchmarks.cliffs", "--measure", *arguments)
        return found
    except ChildError as error:
        if len(chosen) == 1:
            return {_label(VARIANTS[chosen[0]]): {"failed": str(error)}}
        return {name: each for one in chosen for name, each in _measured([one], options).items()}


def _label(variant: Variant) -> str:
    return f"{variant.group}: {variant.name}"


# --- report


def _table(found: Sequence[dict[str, Any]], options: Options) -> Table:
    rows = []
    for each in found:
        speed = each["speed"] / 1e6 if "speed" in each else None
        rows.append(
            (
                each["group"],
                each["name"],
                times(each.get("ratio"), 1, 2),
                times(speed, 1),
                thousands(each.get("count")),
                each["bound"] if each.get("ratio", 0) < LEAST_RATIO else "",
            )
        )
    title = f"The plain rule with one thing changed ({options.events:,} events, {options.of_keys:,} keys)"
    header = ("what is changed", "", "ratio to the plain rule", "M events per CPU-second", "detections", "bounded by")
    return Table(title, header, tuple(rows))


def _wrong(found: Sequence[dict[str, Any]], options: Options) -> Iterator[str]:
    known = known_counts().get(f"{options.events}/{options.of_keys}")
    for each in found:
        label = f"{each['group']}: {each['name']}"
        if "failed" in each:
            yield f"{label} fails: {each['failed']}"
            continue
        if each["differs"]:
            yield f"{label} differs from the reference: {each['differs']}"
        if known is not None and each["count"] != known.get(label):
            yield f"{label} has {each['count']:,} detections, not {known.get(label, 'a recorded number')}"
        if options.events >= LEAST_SPEED and each["speed"] < LEAST_SPEED:
            yield f"{label} is below a million events per CPU-second: {each['speed']:,.0f}"
        if options.events >= LEAST_SPEED and each["ratio"] < LEAST_RATIO and not each["bound"]:
            yield f"{label} is below a fifth of the plain rule: {each['ratio']:.2f}"


# --- in a child


def _measure(n: int, keys: int, runs: int, chosen: Sequence[int]) -> dict[str, dict[str, Any]]:
    import pyarrow.parquet as pq

    table = pq.read_table(path_of("events", n, keys))
    warnings.simplefilter("ignore")
    plain = _action(VARIANTS[0], table)
    base = _best(plain, runs)[0]
    found = {}
    for place in chosen:
        variant = VARIANTS[place]
        cpu, count = _best(_action(variant, table), runs)
        found[_label(variant)] = {"cpu": cpu, "speed": n / cpu, "count": count, "differs": _difference(variant)}
    base = min(base, _best(plain, runs)[0])
    for each in found.values():
        each["ratio"] = base / each["cpu"]
    return found


def _best(action: Callable[[], Any], runs: int) -> tuple[float, int]:
    """The CPU seconds of the best of some runs, the first aside, and the number of detections."""
    taken: list[float] = []
    count, total = 0, 0.0
    while len(taken) <= runs and (len(taken) < 2 or total < LONG):
        began = time.process_time()
        count = _count(action())
        taken.append(time.process_time() - began)
        total += taken[-1]
    return min(taken[1:]), count


def _action(variant: Variant, table: pa.Table, **how: Any) -> Callable[[], Any]:
    """A call of detection; its input is made before, except for a reader, which is new for each run."""
    import ensue
    from benchmarks.cliff_data import DATA as CHANGES

    program = ensue.compile(variant.rules)
    change = CHANGES[variant.data]
    given = change(table)
    options = dict(variant.call)
    if "tables" in options:
        options["tables"] = _facts(table)
    if variant.data not in ("intervals", "common_ends"):
        options["time"] = "ts"
    anew = hasattr(given, "read_next_batch")

    def detect() -> Any:
        found = program.detect(change(table) if anew else given, emit=variant.emit.split(","), **options | how)
        return found.read_all() if anew and hasattr(found, "read_all") else found

    return detect


def _facts(table: pa.Table) -> dict[str, pa.Table]:
    """A limit for most keys, and for each key another that comes after it, up to the tenth."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = np.arange(pc.max(table.column("id")).as_py() + 1)
    with_limit = keys[keys % LIMITS > 0]
    following = keys[keys % 10 < 9]
    return {
        "limit": pa.table({"id": with_limit, "most": (with_limit % 100).astype(np.float64)}),
        "next": pa.table({"a": following, "b": following + 1}),
    }


def _count(found: Any) -> int:
    return sum(map(_count, found.values())) if isinstance(found, dict) else len(found)


def _difference(variant: Variant) -> str:
    """Rows that machine code finds on a short stream and the reference does not, or the other way round."""
    import numpy as np
    import pyarrow as pa

    from benchmarks.streams import events

    short = events(SHORT, SHORT_KEYS)
    short = short.set_column(1, "ts", pa.array(np.arange(SHORT) * variant.apart))
    ours = _rows(_action(variant, short, compiled=True)())
    how = {"engine": "reference"} | ({"provenance": False} if variant.call.get("provenance") else {})
    theirs = _rows(_action(variant, short, **how)())
    for one, other in zip(ours, theirs, strict=False):
        if not _same(one, other):
            return f"{one} and not {other}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} detections and not {len(theirs)}"


def _rows(found: Any) -> list[dict[str, Any]]:
    """Detections as dicts in one order, whatever their form."""
    import pyarrow as pa

    if isinstance(found, dict):
        return [row | {"type": name} for name, each in sorted(found.items()) for row in _rows(each)]
    table = found if isinstance(found, pa.Table) else pa.table(found)
    rows = [{name: value for name, value in row.items() if name != "sources"} for row in table.to_pylist()]
    return sorted(rows, key=lambda row: (row["end"], row["start"], repr(sorted(row.items(), key=str))))


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_equal(value, other[name]) for name, value in one.items())


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9) or (one != one and other != other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _record(options: Options, chosen: Sequence[int]) -> None:
    """Writes down the number of detections of some variants."""
    counts = known_counts()
    found = counts.setdefault(f"{options.events}/{options.of_keys}", {})
    for first in range(0, len(chosen), TOGETHER):
        for name, each in _measured(chosen[first : first + TOGETHER], options).items():
            print(name, each)
            found[name] = each["count"]
    labels = [_label(variant) for variant in VARIANTS]
    counts = {size: {name: each[name] for name in labels if name in each} for size, each in counts.items()}
    COUNTS.write_text(json.dumps(counts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cliffs", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only variants with one of these in their names")
    parser.add_argument("--measure", action="store_true", help="for the benchmark itself: n keys runs numbers…")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--events", type=int, default=1_000_000)
    asked = parser.parse_args()
    if asked.measure:
        n, keys, runs, *chosen = map(int, asked.words)
        print(json.dumps(_measure(n, keys, runs, chosen)))
        return
    options = Options(events=asked.events)
    in_child("benchmarks.streams", options.events, options.of_keys)
    chosen = [k for k, v in enumerate(VARIANTS) if not asked.words or any(word in _label(v) for word in asked.words)]
    if asked.record:
        _record(options, chosen)
        return
    for label, each in _measure(options.events, options.of_keys, 2, chosen).items():
        print(f"{each['ratio']:6.3f} {each['speed'] / 1e6:8.2f} M/s {each['count']:10,}  {label}  {each['differs']}")


if __name__ == "__main__":
    main()
