"""The data of the benchmark `cliffs`: the same events with one property changed.

Each function takes the plain table (type, ts, id, x) and returns the input of `detect`, in the same order of rows
unless order is the property.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEED = 5
LONGEST = 20_000
"""Longest interval; a key has an event every 10,000."""


def _random(table: pa.Table) -> np.random.Generator:
    return np.random.default_rng(SEED + table.num_rows)


def _with(table: pa.Table, **columns: Any) -> pa.Table:
    """The table with columns replaced or added."""
    for name, column in columns.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, pa.array(column))
        else:
            table = table.append_column(name, pa.array(column))
    return table


def _numbers(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(table.column(name).to_numpy())


def _texts(numbers: np.ndarray[Any, Any], prefix: str) -> pa.Array:
    """A text for each number, made once for each that differs."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return pa.array([f"{prefix}{number:06d}" for number in distinct.tolist()]).take(pa.array(places))


def intervals(table: pa.Table) -> pa.Table:
    """Columns `start` and `end`: half of the events are instants, the others up to 20,000 long."""
    rng, end = _random(table), _numbers(table, "ts")
    length = rng.integers(0, LONGEST, table.num_rows) * rng.integers(0, 2, table.num_rows)
    return _with(table.drop_columns(["ts"]), start=end - length, end=end)


def common_ends(table: pa.Table) -> pa.Table:
    """Intervals whose starts and ends are multiples of 2,000, so that some are the same."""
    table = intervals(table)
    start, end = (_numbers(table, name) // 2_000 * 2_000 for name in ("start", "end"))
    return _with(table, start=start, end=end)


def string_keys(table: pa.Table) -> pa.Table:
    return _with(table, id=_texts(_numbers(table, "id"), "key "))


def dictionary_keys(table: pa.Table) -> pa.Table:
    return _with(table, id=string_keys(table).column("id").combine_chunks().dictionary_encode())


def two_keys(table: pa.Table) -> pa.Table:
    key = _numbers(table, "id")
    return _with(table, id=key // 10, sub=key % 10)


def words(table: pa.Table) -> pa.Table:
    """A string `s` of a thousand different ones."""
    return _with(table, s=_texts(_random(table).integers(0, 1_000, table.num_rows), "Word "))


def many_words(table: pa.Table) -> pa.Table:
    """A string `s` that is hardly ever the same twice."""
    return _with(table, s=_texts(_random(table).integers(0, 10 * table.num_rows, table.num_rows), "Word "))


def truths(table: pa.Table) -> pa.Table:
    return _with(table, flag=_random(table).integers(0, 2, table.num_rows) == 1)


def whole_numbers(table: pa.Table) -> pa.Table:
    return _with(table, x=_numbers(table, "x").astype(np.int64))


def nulls(table: pa.Table) -> pa.Table:
    """A tenth of the keys and of the numbers is null."""
    drawn = _random(table).random((2, table.num_rows)) < 0.1
    return _with(
        table, id=pa.array(_numbers(table, "id"), mask=drawn[0]), x=pa.array(_numbers(table, "x"), mask=drawn[1])
    )


def no_column(table: pa.Table) -> pa.Table:
    return table.drop_columns(["x"])


def skewed(table: pa.Table) -> pa.Table:
    """Key 0 has a third of the events, and others as many as their rank allows (Zipf)."""
    drawn = _random(table).zipf(1.4, table.num_rows)
    return _with(table, id=(drawn - 1) % (int(_numbers(table, "id").max()) + 1))


def hot(table: pa.Table) -> pa.Table:
    """Half of the events have one key."""
    return _with(table, id=np.where(_random(table).random(table.num_rows) < 0.5, 0, _numbers(table, "id")))


def single_key(table: pa.Table) -> pa.Table:
    return _with(table, id=np.zeros(table.num_rows, np.int64))


def many_keys(table: pa.Table) -> pa.Table:
    """As many keys as events."""
    return _with(table, id=_random(table).integers(0, table.num_rows, table.num_rows))


def ties(table: pa.Table) -> pa.Table:
    """A hundred events at each time."""
    return _with(table, ts=_numbers(table, "ts") // 100 * 100)


def pairs_of_ties(table: pa.Table) -> pa.Table:
    """Two events at each time."""
    return _with(table, ts=_numbers(table, "ts") // 2 * 2)


def late(table: pa.Table) -> pa.Table:
    """Rows up to a hundred places from where they belong."""
    by = np.argsort(np.arange(table.num_rows) + _random(table).integers(0, 100, table.num_rows), kind="stable")
    return table.take(pa.array(by))


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(pa.array(_random(table).permutation(table.num_rows)))


def timestamps(unit: str, zone: str | None = None) -> Callable[[pa.Table], pa.Table]:
    """Times as timestamps; the events are milliseconds apart."""
    factor = {"us": 1_000, "ns": 1_000_000, "ms": 1}[unit]

    def change(table: pa.Table) -> pa.Table:
        return _with(table, ts=pa.array(_numbers(table, "ts") * factor).cast(pa.timestamp(unit, zone)))

    return change


def narrow(table: pa.Table) -> pa.Table:
    """Columns of 32 bits."""
    return _with(table, id=_numbers(table, "id").astype(np.int32), x=_numbers(table, "x").astype(np.float32))


def large_strings(table: pa.Table) -> pa.Table:
    return table.set_column(0, "type", table.column("type").cast(pa.large_string()))


def type_codes(table: pa.Table) -> pa.Table:
    """The type of an event as a number in a dictionary."""
    return table.set_column(0, "type", table.column("type").combine_chunks().dictionary_encode())


def chunks(table: pa.Table) -> pa.Table:
    """Many pieces of a thousand rows."""
    return pa.Table.from_batches(table.to_batches(max_chunksize=1_000))


def more_columns(table: pa.Table) -> pa.Table:
    """Twenty more columns that no rule reads."""
    return _with(table, **{f"other{number}": _numbers(table, "x") for number in range(20)})


def other_types(table: pa.Table) -> pa.Table:
    """A third of the events of a type that no rule reads."""
    named = pc.if_else(pc.equal(table.column("type"), "C"), "somebody else", table.column("type"))
    return table.set_column(0, "type", named)


def by_type(table: pa.Table) -> dict[str, pa.Table]:
    """A table for each type."""
    return {name: table.filter(pc.equal(table.column("type"), name)).drop_columns(["type"]) for name in ("A", "B", "C")}


def as_pandas(table: pa.Table) -> Any:
    return table.to_pandas()


def as_polars(table: pa.Table) -> Any:
    import polars

    return polars.from_arrow(table)


def as_reader(table: pa.Table) -> Any:
    """Batch by batch."""
    return table.to_reader(max_chunksize=65_536)


DATA: Mapping[str, Callable[[pa.Table], Any]] = {
    "plain": lambda table: table,
    "timestamps": timestamps("us"),
    "milliseconds": timestamps("ms"),
    "nanoseconds": timestamps("ns"),
    "zone": timestamps("us", "Europe/Berlin"),
} | {
    function.__name__: function
    for function in (
        intervals, common_ends, string_keys, dictionary_keys, two_keys, words, many_words, truths, whole_numbers, nulls,
        no_column, skewed, hot, single_key, many_keys, ties, pairs_of_ties, late, shuffled, narrow, large_strings,
        type_codes, chunks, more_columns, other_types, by_type, as_pandas, as_polars, as_reader,
    )
}  # fmt: skip
