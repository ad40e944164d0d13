"""All triples: joins on key and slot of time, where the slot of B decides.

Slower: key and slot as two columns (1.3 times).
"""

import polars as pl

from benchmarks.peers.slots import WINDOW, followed, in_slots

ENGINE = "streaming"


def query(events: pl.LazyFrame) -> pl.LazyFrame:
    c = in_slots(events, "C", (-1, 0)).select("place", end="ts")
    triples = followed(events).join(c, on="place")
    return triples.filter(
        pl.col("end") > pl.col("ts_b"),
        pl.col("end") - pl.col("ts") <= WINDOW,
    ).select("id", mid="ts_b", start="ts", end="end")
