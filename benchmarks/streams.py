"""The streams that everything is measured on: made from a fixed seed, kept as Parquet in `.data`.

`events`: one event a millisecond, of type A, B or C, each with a key `id` drawn from all keys alike and a number `x`.
`stock`: one tick a millisecond, each the next price of a random walk, one walk for each of the symbols.

The same size gives the same data everywhere, so detections can be counted and compared.
`long_events` gives any number of events of the same kind in batches, and holds one batch at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).parent / ".data"
TYPES = pa.array(["A", "B", "C"])
EVENTS = pa.schema([("type", pa.string()), ("ts", pa.int64()), ("id", pa.int64()), ("x", pa.float64())])


def usual_keys(n: int) -> int:
    """A hundred events for each key."""
    return max(1, n // 100)


def usual_symbols(keys: int) -> int:
    return max(1, keys // 20)


def path_of(stream: str, n: int, keys: int) -> Path:
    """File of a stream; `keys` is that of the events, from which the number of symbols follows."""
    return DATA / f"{stream}_{n}_{keys}.parquet"


def events(n: int, keys: int, seed: int = 7, first: int = 0) -> pa.Table:
    """`n` events over `keys` keys, the first at time `first`."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n).astype(np.int8)
    key = rng.integers(0, keys, n)
    x = np.round(rng.random(n) * 100, 3)
    return pa.table([TYPES.take(pa.array(kind)), np.arange(first, first + n), key, x], schema=EVENTS)


def long_events(n: int, keys: int, batch: int = 1_000_000) -> Iterator[pa.RecordBatch]:
    """`n` events in batches, each with its own seed: the same distribution as `events`, not the same events."""
    for first in range(0, n, batch):
        table = events(min(batch, n - first), keys, seed=first + 7, first=first)
        yield from table.combine_chunks().to_batches()


def stock(n: int, symbols: int) -> pa.Table:
    """`n` ticks of `symbols` random walks that begin at 100 and never fall below 1.

    The walks are made side by side: the first tick of each symbol, then the second of each, and so on. This gives
    the very sums that going tick by tick would.
    """
    rng = np.random.default_rng(11)
    symbol = rng.integers(0, symbols, n)
    step = rng.normal(0, 1, n)
    price = np.empty(n)
    last = np.full(symbols, 100.0)
    for ticks in _first_then_second_and_so_on(symbol, symbols):
        walks = symbol[ticks]
        last[walks] = price[ticks] = np.maximum(1.0, last[walks] + step[ticks])
    return pa.table({"ts": np.arange(n), "sym": symbol, "price": np.round(price, 2)})


def _first_then_second_and_so_on(symbol: np.ndarray, symbols: int) -> Iterator[np.ndarray]:
    """The places of the first tick of each symbol, then those of the second ticks, until there are none."""
    by_symbol = np.argsort(symbol, kind="stable")
    counts = np.bincount(symbol, minlength=symbols)
    begins = np.cumsum(counts) - counts
    for turn in range(counts.max(initial=0)):
        yield by_symbol[begins[counts > turn] + turn]


def make(n: int, keys: int) -> None:
    """Writes both streams, unless they are there."""
    DATA.mkdir(exist_ok=True)
    for name, table in (("events", lambda: events(n, keys)), ("stock", lambda: stock(n, usual_symbols(keys)))):
        path = path_of(name, n, keys)
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            pq.write_table(table(), unfinished)
            unfinished.replace(path)


if __name__ == "__main__":
    make(int(sys.argv[1]), int(sys.argv[2]))
