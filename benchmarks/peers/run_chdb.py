"""ClickHouse as a library (chDB) on a table in memory. Run by the Python of an environment of its own.

    .venv-chdb/bin/python -m benchmarks.peers.run_chdb w1 events.parquet 5

It has `windowFunnel`, which says how far each key got in a sequence, not which events that were; so these are joins.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import repeated

SETTINGS = "SETTINGS max_threads = 1"


def measured(name: str, source: str, runs: int) -> dict[str, Any]:
    import chdb
    import pyarrow.parquet as pq

    events = pq.read_table(source)  # noqa: F841 (the query names it)
    query = (Path(__file__).parent / f"chdb_{name}.sql").read_text(encoding="utf-8") + SETTINGS
    counts = []
    taken = repeated(lambda: counts.append(chdb.query(query, "ArrowTable").num_rows), runs)
    return taken | {"count": counts[-1]}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
