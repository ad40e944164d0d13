"""Reading text: JSON lines and CSV to detections, beside Arrow's own readers in the same process.

Arrow's figure is for reading the whole file into a table of the types that it finds, and nothing else; Ensue's is for
reading, times included, and detection with a rule that hardly finds anything. Variants have something odd: nested
values, a bad line, times of another format, packed files.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.measure import in_child
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds

RULES = """
    event order(id: int, user: string, amount: float, ok: bool).
    event shipped(id: int, user: string, amount: float, ok: bool).
    event paid(id: int, user: string, amount: float, ok: bool).
    soon(id, user) <- order(id, user, a, o) seq shipped(id, user, b, p) within 1s.
"""
BAD = "oops\n"

VARIANTS = {
    "JSON lines": ("plain.jsonl", {}),
    "JSON lines, nested values beside": ("nested.jsonl", {}),
    "JSON lines, one of them bad": ("bad.jsonl", {}),
    "JSON lines, packed": ("plain.jsonl.gz", {}),
    "CSV": ("plain.csv", {}),
    "CSV, one value bad": ("bad.csv", {}),
    "CSV, times of a format": ("format.csv", {"time_format": "%d/%b/%Y:%H:%M:%S.%f %z"}),
}


def run(options: Options) -> Result:
    found = in_child("benchmarks.reading", options.events, options.runs)
    rows = tuple(
        (name, f"{each['megabytes']:.0f}", seconds(each["arrow"]), seconds(each["ensue"]),
         f"{each['ensue'] / each['arrow']:.2f}")
        for name, each in found.items()
    )  # fmt: skip
    table = Table(
        f"CPU seconds to read {options.events:,} events from text",
        ("file", "MB", "Arrow reads it", "Ensue reads it and detects", "ratio"),
        rows,
        ("Arrow reads the file without what is odd about it, which it cannot read or gives as it is.",),
    )
    wrong = tuple(f"{name}: {each['found']} detections" for name, each in found.items() if not each["right"])
    return Result("reading", (table,), found, wrong)


def measured(events: int, runs: int) -> dict[str, Any]:
    """In a child: the best CPU time of each file, by Arrow and by Ensue, in turns."""
    import warnings

    import ensue

    program = ensue.compile(RULES)
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _write(Path(folder), events)
        wanted = None
        for name, (file, options) in VARIANTS.items():
            path = Path(folder) / file
            plain = Path(folder) / ("plain.csv" if ".csv" in file else file if "nested" in file else "plain.jsonl")
            arrow, own, count = [], [], 0
            for _ in range(runs + 1):
                began = process_time()
                _arrow(path if file.endswith(".gz") else plain)
                arrow.append(process_time() - began)
                began = process_time()
                count = program.detect(path, **options).num_rows
                own.append(process_time() - began)
            wanted = count if wanted is None else wanted
            found[name] = {
                "megabytes": path.stat().st_size / 1e6, "arrow": min(arrow[1:]), "ensue": min(own[1:]), "found": count,
                "right": count == wanted,
            }  # fmt: skip
    return found


def _arrow(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.json

    read = pyarrow.csv.read_csv if ".csv" in path.name else pyarrow.json.read_json
    with pa.input_stream(str(path)) as stream:
        read(stream)


def _write(folder: Path, events: int) -> None:
    """The same events in every form; the bad row is an additional one, of a type that no rule uses."""
    rng = random.Random(1)
    begin = datetime(2026, 1, 1)
    lines, nested, rows, formatted = [], [], [], []
    for number in range(events):
        moment = begin + timedelta(milliseconds=37 * number)
        row = {
            "type": rng.choice(("order", "shipped", "paid")), "time": f"{moment:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
            "id": rng.randrange(1000), "user": f"user{rng.randrange(5000)}", "amount": round(rng.random() * 100, 2),
            "ok": rng.random() < 0.5,
        }  # fmt: skip
        lines.append(json.dumps(row) + "\n")
        nested.append(json.dumps({**row, "tags": ["a", "b"], "geo": {"lat": 1.5, "lon": 2}}) + "\n")
        fields = f"{row['id']},{row['user']},{row['amount']},{str(row['ok']).lower()}\n"
        rows.append(f"{row['type']},{row['time']},{fields}")
        formatted.append(f"{row['type']},{moment:%d/%b/%Y:%H:%M:%S.%f} +0000,{fields}")
    header, middle = "type,time,id,user,amount,ok\n", events // 2
    odd = "paid,2026-01-01T00:00:00Z,x,u,1,true\n"
    texts = {
        "plain.jsonl": lines, "nested.jsonl": nested, "bad.jsonl": [*lines[:middle], BAD, *lines[middle:]],
        "plain.csv": [header, *rows], "bad.csv": [header, *rows[:middle], odd, *rows[middle:]],
        "format.csv": [header, *formatted],
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text("".join(text), encoding="utf-8")
    (folder / "plain.jsonl.gz").write_bytes(gzip.compress((folder / "plain.jsonl").read_bytes(), 1))


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]), int(sys.argv[2]))))
