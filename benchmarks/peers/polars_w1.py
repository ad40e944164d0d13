"""All pairs: a join on key and slot of time.

Slower: a join on the key alone (4 times, and quadratic in its events), `join_where` (4), key and slot as two columns
(1.6), slots as a list that is exploded (4).
"""

import polars as pl

from benchmarks.peers.slots import followed

ENGINE = "streaming"


def query(events: pl.LazyFrame) -> pl.LazyFrame:
    return followed(events).select("id", start="ts", end="ts_b")
