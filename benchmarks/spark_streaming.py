"""Spark, on streams: files of a million events a micro-batch, state in RocksDB, beside Flink SQL on the same events.

Flink reads CSV, as it brings no Parquet along; so Ensue is measured on both. Flink's state is in memory, and then, on
shorter streams, in RocksDB as Spark's is: there it takes so long that only what further events take is compared. Each
goes from files to files, warm, in a running process. CPU time is that of all processes.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.peers.flink import RECORDED, on_flink
from benchmarks.report import NONE, Result, Table, seconds, thousands, times
from benchmarks.run_spark import CORES
from benchmarks.spark import FEW, MANY, Size
from benchmarks.workloads import WORKLOADS

STREAMED = ("w1", "w3", "w4")
RUNS = {"parquet": "ensue, Parquet", "csv": "ensue, CSV", "flink": "Flink, CSV"}
STATES = {"flink": "hashmap", "rocksdb": "rocksdb"}
"""State backends of Flink, by contestant."""
FEWER = (10, 4)
"""Factors by which the two streams on which Flink keeps its state in RocksDB are shorter than a micro-batch."""


def run(options: Options) -> Result:
    keys = options.of_keys
    short, long = (options.events, keys), (options.spark, keys)
    few, many = (options.events, FEW), (options.events, MANY)
    sizes = list(dict.fromkeys((short, long, few, many)))
    names = [workload.name for workload in options.workloads(STREAMED)]
    for size in sizes:
        in_child("benchmarks.stream_files", *size)
    compared = list(dict.fromkeys((short, long)))
    shorter = [(options.events // times_, keys) for times_ in FEWER]
    for size in shorter:
        in_child("benchmarks.stream_files", *size)
    found = {"parquet": _measured("parquet", names, sizes)}
    found |= {way: _measured(way, names, compared) for way in ("csv", "flink")}
    rocks = _measured("rocksdb", names, shorter)
    tables = (
        *_rates(names, compared, found),
        _in_rocks(names, compared, shorter, found["csv"], rocks),
        _growth(names, sizes, (short, long), "events", found["parquet"]),
        _growth(names, sizes, (few, many), "keys", found["parquet"]),
    )
    wrong = [*_wrong(names, sizes, found), *_wrong(names, shorter, {"rocksdb": rocks})]
    return Result("spark-streaming", tables, found | {"rocksdb": rocks}, tuple(wrong))


def _measured(way: str, names: list[str], sizes: list[Size]) -> dict[str, Any]:
    try:
        if way in STATES:
            return on_flink(STATES[way], names, sizes)
        flat = [number for size in sizes for number in size]
        return dict(in_child("benchmarks.run_spark_streaming", ",".join(names), way, *flat))
    except ChildError as error:
        return {"failed": str(error)}


def _wrong(names: list[str], sizes: list[Size], found: dict[str, Any]) -> list[str]:
    """Counts that are not as they should be, or where nothing is known, not those of the engine without Spark."""
    said = []
    for name in names:
        for place, size in enumerate(sizes):
            counts = {
                RUNS.get(way, way): f[name][place]["count"] for way, f in found.items() if len(f.get(name, ())) > place
            }
            right = WORKLOADS[name].expected(*size) if counts else 0
            if right is None:
                right = in_child("benchmarks.contestant", "ensue", name, "arrow", *size, 1)["count"]
            said += [f"{who}: {n:,} are found in {name} of {size[0]:,} events and {size[1]:,} keys, not {right:,}"
                     for who, n in counts.items() if n != right]  # fmt: skip
    return said


def _rates(names: list[str], sizes: list[Size], found: dict[str, Any]) -> list[Table]:
    """Rates on the longer of two streams, and on its additional events alone, without start and end; wall times."""
    size, last = sizes[-1], len(sizes) - 1
    where = f"Spark, streaming, local[{CORES}]"
    about = f"thousand events per CPU-second ({size[0]:,} events, {size[1]:,} keys)"
    header = ("workload", *RUNS.values(), "CSV / Flink", "Parquet / recorded Flink")
    whole, further, walls = [], [], []
    for name in names:
        taken = {way: found[way][name] for way in RUNS if name in found[way]}
        title = f"{name} {WORKLOADS[name].title}"
        whole.append((title, *_compared({way: size[0] / each[last]["cpu"] for way, each in taken.items()}, name)))
        further.append((title, *_compared({way: _further(each, sizes) for way, each in taken.items()}, name)))
        count = f"{taken['parquet'][last]['count']:,}" if "parquet" in taken else NONE
        walls.append((title, *(seconds(taken[way][last]["wall"]) if way in taken else NONE for way in RUNS), count))
    notes = tuple(f"{RUNS[way]}: {found[way]['failed']}" for way in RUNS if "failed" in found[way])
    return [
        Table(f"{where}: {about}", header, tuple(whole), notes),
        Table(f"{where}: the same, of events after the first {sizes[0][0]:,}", header, tuple(further)),
        Table("Spark, streaming: seconds", ("workload", *RUNS.values(), "detections"), tuple(walls)),
    ]


def _compared(rates: dict[str, float | None], name: str) -> list[str]:
    """Rates, and how many times those of Flink they are."""
    parquet, csv, flink = (rates.get(way) for way in RUNS)
    return [*(_shown(rates.get(way)) for way in RUNS), times(csv, flink), times(parquet, RECORDED[name])]


def _in_rocks(
    names: list[str], sizes: list[Size], shorter: list[Size], ours: dict[str, Any], flink: dict[str, Any]
) -> Table:
    """Cost of further events where both keep their state in RocksDB."""
    title = f"Spark, streaming, and Flink with its state in RocksDB, too: further events, {sizes[0][1]:,} keys"
    header = ("workload", "ensue, CSV", "Flink in RocksDB, CSV", "ratio")
    rows = []
    for name in (name for name in names if name in ours and name in flink):
        rates = _further(ours[name], sizes), _further(flink[name], shorter)
        rows.append((f"{name} {WORKLOADS[name].title}", *map(_shown, rates), times(*rates)))
    return Table(title, header, tuple(rows), tuple(filter(None, [flink.get("failed")])))


def _further(taken: list[dict[str, Any]], sizes: list[Size]) -> float | None:
    """Events for each CPU-second by which a stream takes longer than a shorter one."""
    more = taken[len(sizes) - 1]["cpu"] - taken[0]["cpu"]
    return (sizes[-1][0] - sizes[0][0]) / more if len(sizes) > 1 and more > 0 else None


def _shown(rate: float | None) -> str:
    return thousands(rate and rate / 1000)


def _growth(names: list[str], sizes: list[Size], between: tuple[Size, Size], what: str, found: dict[str, Any]) -> Table:
    """Growth of the CPU time between two streams."""
    place = 0 if what == "events" else 1
    counts = [f"{size[place]:,} {what}" for size in between]
    header = ("workload", *(f"{count}, CPU s" for count in counts), "ratio", "detections")
    rows = []
    for name in (name for name in names if name in found):
        ends = [found[name][sizes.index(size)] for size in between]
        cpu = [taken["cpu"] for taken in ends]
        counted = " and ".join(f"{taken['count']:,}" for taken in ends)
        rows.append((f"{name} {WORKLOADS[name].title}", *map(seconds, cpu), times(cpu[1], cpu[0]), counted))
    among = f"{between[0][1]:,} keys" if what == "events" else f"{between[0][0]:,} events"
    return Table(f"Spark, streaming: growth with {what} ({among}, from Parquet)", header, tuple(rows))
