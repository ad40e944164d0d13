"""Supply chain: background knowledge beside events, after Anicic and others (2011), section 4.

Sites are linked to one path, and shipments walk it again and again. Each is a delivery if there is a path to its site:
from the origin in pattern 1, which the longer path makes a longer proof, and from the site before in pattern 2.
Every run begins with the table of links; the time of its proofs is included.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.measure import ChildError, in_child, repeated
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, thousands, times

RULES = """
event shipment(site: string).
table linked(a: string, b: string).
in_chain(x, y) :- linked(x, y).
in_chain(x, z) :- linked(x, y), in_chain(y, z).

delivery(origin = "start", site = "start") <- shipment("start").
delivery(origin, site) <- recent delivery(origin, prev) seq shipment(site) on in_chain({goal}).
"""

PATTERNS = {1: "origin, site", 2: "prev, site"}

LINKS = (100, 500, 1_000, 5_000)

ETALIS = {(1, 100): 18.6, (1, 5_000): 2.4, (2, 100): 23.0, (2, 500): 23.0, (2, 1_000): 23.0, (2, 5_000): 23.0}
"""Thousand events per CPU-second as recorded on a machine like the one at hand, by pattern and links."""


def run(options: Options) -> Result:
    rows, notes, wrong = [], [], []
    measured: dict[str, Any] = {}
    for pattern in PATTERNS:
        for links in LINKS:
            name = f"pattern {pattern}, {links:,} links"
            try:
                taken = in_child("benchmarks.supply_chain", pattern, links, options.events, options.runs)
            except ChildError as error:
                taken = {"failed": str(error)}
                rows.append((name, NONE, NONE, NONE))
                notes.append(f"{name}: {error}")
            else:
                rate = options.events / taken["cpu"] / 1000
                recorded = ETALIS.get((pattern, links))
                rows.append((name, thousands(rate), thousands(recorded), times(rate, recorded)))
                if taken["count"] != options.events:
                    wrong.append(f"{name}: {taken['count']:,} deliveries, not {options.events:,}")
            measured[name] = taken
    title = (
        f"Thousand shipments per CPU-second, from an Arrow table in memory to one, warm ({options.events:,} shipments)"
    )
    header = ("pattern and path", "ensue", "ETALIS, recorded", "ensue / ETALIS")
    return Result("supply_chain", (Table(title, header, tuple(rows), tuple(notes)),), measured, tuple(wrong))


def measured(pattern: int, links: int, n: int, runs: int) -> dict[str, Any]:
    """In a child: its cost, and the number of deliveries, one for each shipment."""
    import ensue

    sites = ["start", *(f"site{number}" for number in range(1, links + 1))]
    walk = pa.array(sites).take(pa.array(np.arange(n) % len(sites)))
    shipments = {"shipment": pa.table({"ts": np.arange(n), "site": walk})}
    linked = pa.table({"a": sites[:-1], "b": sites[1:]})
    program = ensue.compile(RULES.format(goal=PATTERNS[pattern]))
    counts: list[int] = []

    def detect() -> None:
        found = program.detect(shipments, time="ts", tables={"linked": linked}, emit="delivery")
        counts.append(sum(table.num_rows for table in (found.values() if isinstance(found, dict) else [found])))

    return repeated(detect, runs) | {"count": counts[-1]}


if __name__ == "__main__":
    print(json.dumps(measured(*map(int, sys.argv[1:]))))
