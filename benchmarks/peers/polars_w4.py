"""Recent, consumed: a B pairs if the event before it, among A and B of its key, is an A.

The table is in time order, so a sort by key that keeps the order is enough. Slower: `shift().over("id")` (1.7 times,
also with `order_by="ts"`), sorting by key and time (4), joins on slots and the newest of the first (2.6).
"""

import polars as pl

from benchmarks.peers.slots import WINDOW

ENGINE = "in-memory"


def query(events: pl.LazyFrame) -> pl.LazyFrame:
    is_b = pl.col("type") == "B"
    by_key = events.filter(pl.col("type") != "C").select("id", "ts", b=is_b).sort("id", maintain_order=True)
    before = by_key.with_columns(start=pl.col("ts").shift(), id_0=pl.col("id").shift(), b_0=pl.col("b").shift())
    return before.filter(
        pl.col("b"),
        ~pl.col("b_0"),
        pl.col("id_0") == pl.col("id"),
        pl.col("ts") - pl.col("start") <= WINDOW,
    ).select("id", "start", end="ts")
