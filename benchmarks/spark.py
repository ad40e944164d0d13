"""Spark, on tables: Ensue against its floor and against SQL, and how it grows with events and with keys.

The floor is the same rows through the same shuffle and sort into Python workers, which drop them: the rest is
detection, and returning the detections. Both run in one session, in turns; CPU time is that of Java and of all
Python workers.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds, thousands, times
from benchmarks.run_spark import CORES, IN_SQL
from benchmarks.workloads import WORKLOADS

AGAINST_FLOOR = ("w1", "w3", "w4", "w7")
FEW, MANY = 1_000, 1_000_000
"""Keys between which the growth is measured."""

MORE = 3
"""Number of additional turns: the two differ by less than one turn from the next."""

Size = tuple[int, int]
"""Events and keys."""


def run(options: Options) -> Result:
    keys = options.of_keys
    short, long = (options.events, keys), (options.spark, keys)
    few, many = (options.events, FEW), (options.events, MANY)
    names = [workload.name for workload in options.workloads(AGAINST_FLOOR)]
    in_sql = [name for name in names if name in IN_SQL]
    sizes = dict.fromkeys((long, short, few, many))
    floor = {size: _measured("floor", names, size, options.runs + MORE) for size in sizes}
    sql = _measured("sql", in_sql, long, min(3, options.runs))
    tables = (_floor_table(names, long, floor[long]), _sql_table(in_sql, long, sql),
              _growth_table(f"{keys:,} keys", "events", (short, long), (0, floor), names),
              _growth_table(f"{options.events:,} events", "keys", (few, many), (1, floor), names))  # fmt: skip
    wrong = [said for size, found in floor.items() for said in _wrong(names, size, found)]
    wrong += [
        f"SQL finds other rows than ensue in {name}" for name in in_sql if not sql.get(name, {}).get("alike", True)
    ]
    measured = {"floor": {f"{n} {k}": found for (n, k), found in floor.items()}, "sql": sql}
    return Result("spark", tables, measured, tuple(wrong))


def _measured(contestant: str, names: list[str], size: Size, turns: int) -> dict[str, Any]:
    try:
        in_child("benchmarks.streams", *size)
        return dict(in_child("benchmarks.run_spark", contestant, ",".join(names), *size, turns))
    except ChildError as error:
        return {"failed": str(error)}


def _wrong(names: list[str], size: Size, found: dict[str, Any]) -> list[str]:
    """Counts that are not as they should be, or where nothing is known, not those of the engine without Spark."""
    said = []
    for name in (name for name in names if name in found):
        right = WORKLOADS[name].expected(*size)
        if right is None:
            right = in_child("benchmarks.contestant", "ensue", name, "arrow", *size, 1)["count"]
        if found[name]["count"] != right:
            said.append(f"on Spark {found[name]['count']:,} are found in {name} of {size[0]:,} events, not {right:,}")
    return said


def _floor_table(names: list[str], size: Size, found: dict[str, Any]) -> Table:
    title = f"Spark, batch, local[{CORES}]: Ensue and its floor ({size[0]:,} events, {size[1]:,} keys, from Parquet)"
    header = ("workload", "floor, CPU s", "of it Java", "ensue, CPU s", "of it Java", "ensue / floor", "floor, s",
              "ensue, s", "detections")  # fmt: skip
    rows = []
    for name in (name for name in names if name in found):
        floor, ours = found[name]["floor"], found[name]["ensue"]
        cpu = [seconds(taken[part]) for taken in (floor, ours) for part in ("cpu", "java")]
        cpu.append(times(ours["cpu"], floor["cpu"], 2))
        rows.append((_title(name), *cpu, seconds(floor["wall"]), seconds(ours["wall"]), f"{found[name]['count']:,}"))
    return Table(title, header, tuple(rows), _failures(found))


def _sql_table(names: list[str], size: Size, found: dict[str, Any]) -> Table:
    title = f"Spark, batch, local[{CORES}]: SQL as people write it ({size[0]:,} events, {size[1]:,} keys)"
    header = ("workload", "SQL, CPU s", "ensue, CPU s", "SQL / ensue", "SQL, s", "ensue, s", "the same rows")
    rows = []
    for name in (name for name in names if name in found):
        sql, ours = found[name]["sql"], found[name]["ensue"]
        cpu = (seconds(sql["cpu"]), seconds(ours["cpu"]), times(sql["cpu"], ours["cpu"], 2))
        alike = "yes" if found[name]["alike"] else "no"
        rows.append((_title(name), *cpu, seconds(sql["wall"]), seconds(ours["wall"]), alike))
    return Table(title, header, tuple(rows), _failures(found))


def _growth_table(
    among: str, what: str, sizes: tuple[Size, Size], measured: tuple[int, dict[Size, Any]], names: list[str]
) -> Table:
    """Growth of the CPU time between two sizes, Ensue's and that of the floor."""
    place, by_size = measured
    small, large = (by_size[size] for size in sizes)
    counts = [f"{size[place]:,} {what}" for size in sizes]
    header = ("workload", *(f"{count}, CPU s" for count in counts), "ratio", "ratio of the floor", "detections")
    rows = []
    for name in (name for name in names if name in small and name in large):
        ours, floor = ([found[name][who]["cpu"] for found in (small, large)] for who in ("ensue", "floor"))
        counted = " and ".join(thousands(found[name]["count"]) for found in (small, large))
        rows.append((_title(name), *map(seconds, ours), times(ours[1], ours[0]), times(floor[1], floor[0]), counted))
    notes = tuple(dict.fromkeys((*_failures(small), *_failures(large))))
    return Table(f"Spark, batch: growth with {what} ({among})", header, tuple(rows), notes)


def _failures(found: dict[str, Any]) -> tuple[str, ...]:
    return (found["failed"],) if "failed" in found else ()


def _title(name: str) -> str:
    return f"{name} {WORKLOADS[name].title}"
