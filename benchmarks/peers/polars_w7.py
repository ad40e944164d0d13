"""Iteration: a run falls from one turn (a tick not below the one before it) to the next, so the turns alone decide.

The table is in time order, so a sort by symbol that keeps the order is enough. Slower: `over("sym")` (2.4 times),
sorting by symbol and time (6).
"""

import polars as pl

ENGINE = "in-memory"


def query(stock: pl.LazyFrame) -> pl.LazyFrame:
    ticks = stock.sort("sym", maintain_order=True).with_row_index("i")
    before = ticks.with_columns(start=pl.col("ts").shift(), sym_0=pl.col("sym").shift(), q=pl.col("price").shift())
    turns = before.filter(pl.col("price") >= pl.col("q"), pl.col("sym_0") == pl.col("sym"))
    after = turns.with_columns(
        end=pl.col("ts").shift(-1),
        sym_1=pl.col("sym").shift(-1),
        p=pl.col("price").shift(-1),
        j=pl.col("i").shift(-1),
    )
    return after.filter(
        pl.col("p") > pl.col("price"),
        pl.col("j") - pl.col("i") >= 3,
        pl.col("sym_1") == pl.col("sym"),
    ).select("sym", "start", "end")
