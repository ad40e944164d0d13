"""Moving average over a sequence: the pairs of w1, sorted, then rolling over the last thousand.

Slower: key and slot as two columns (1.4 times).
"""

import polars as pl

from benchmarks.peers.slots import followed

ENGINE = "in-memory"


def query(events: pl.LazyFrame) -> pl.LazyFrame:
    ordered = followed(events, "x").select("x", start="ts", end="ts_b").sort("end", "start")
    return ordered.select(
        m=pl.col("x").rolling_mean(1000, min_samples=1),
        start=pl.col("start").rolling_min(1000, min_samples=1),
        end="end",
    )
