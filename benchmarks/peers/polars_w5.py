"""Moving sum over a conjunction: pairs by slots, sorted, then rolling over the last thousand.

Slower: key and slot as two columns (1.5 times; there a sort by one combined number made no difference).
"""

import polars as pl

from benchmarks.peers.slots import WINDOW, in_slots

ENGINE = "in-memory"


def query(events: pl.LazyFrame) -> pl.LazyFrame:
    b = in_slots(events, "B", (0,)).select("place", ts_b="ts")
    pairs = in_slots(events, "A", (-1, 0, 1), "x").join(b, on="place")
    near = pairs.filter((pl.col("ts_b") - pl.col("ts")).abs() <= WINDOW)
    ordered = near.select("x", start=pl.min_horizontal("ts", "ts_b"), end=pl.max_horizontal("ts", "ts_b")).sort(
        "end", "start"
    )
    return ordered.select(
        s=pl.col("x").rolling_sum(1000, min_samples=1),
        start=pl.col("start").rolling_min(1000, min_samples=1),
        end="end",
    )
