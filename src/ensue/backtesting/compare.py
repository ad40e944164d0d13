"""Compare the detections of two sets of rules, type by type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ensue.backtesting.buckets import Buckets
from ensue.backtesting.result import Sample, TypeChange
from ensue.data.json_lines import with_moments_as_text

TIMES = ("start", "end")


def compare(
    found: Mapping[str, pa.Table], before: Mapping[str, pa.Table], buckets: Buckets, samples: int
) -> tuple[TypeChange, ...]:
    """The changes from earlier detections, for each type of either; detections are equal if their times and the
    attributes that both have are."""
    names = dict.fromkeys((*found, *before))
    return tuple(_changes(name, found.get(name), before.get(name), buckets, samples) for name in names)


def _changes(name: str, found: pa.Table | None, before: pa.Table | None, buckets: Buckets, samples: int) -> TypeChange:
    here, there = _attributes(found), _attributes(before)
    both = [each for each in here if each in there] if found is not None and before is not None else here or there
    ignored = tuple(each for each in (*here, *there) if each not in both)
    new_rows, same = _missing(found, before, both)
    gone_rows, _ = _missing(before, found, both)
    return TypeChange(
        name, same, len(new_rows), len(gone_rows), _counts(found, new_rows, buckets),
        _counts(before, gone_rows, buckets), sampled(name, found, new_rows, samples),
        sampled(name, before, gone_rows, samples), _moved(found, new_rows, before, gone_rows, both), ignored,
    )  # fmt: skip


def _attributes(table: pa.Table | None) -> list[str]:
    return [] if table is None else table.column_names[2:]


def _missing(table: pa.Table | None, other: pa.Table | None, names: Sequence[str]) -> tuple[list[int], int]:
    """The numbers of rows that another table does not have, and how many rows both have."""
    if table is None:
        return [], 0
    left = Counter(_rows(other, names)) if other is not None else Counter[tuple[Hashable, ...]]()
    found = []
    for number, row in enumerate(_rows(table, names)):
        if left[row]:
            left[row] -= 1
        else:
            found.append(number)
    return found, table.num_rows - len(found)


def _moved(
    found: pa.Table | None, new: Sequence[int], before: pa.Table | None, gone: Sequence[int], names: Sequence[str]
) -> int:
    """Number of new rows with the attributes of one that is gone."""
    if found is None or before is None or not new or not gone:
        return 0
    now, then = _rows(found, names), _rows(before, names)
    both = Counter(now[row][2:] for row in new) & Counter(then[row][2:] for row in gone)
    return both.total()


def _rows(table: pa.Table, names: Sequence[str]) -> list[tuple[Hashable, ...]]:
    columns = [table.column(name).cast(pa.int64()).to_pylist() for name in TIMES]
    columns += [list(map(_comparable, _column(table, name).to_pylist())) for name in names]
    return list(zip(*columns, strict=True))


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """An attribute by its name; the first two columns are times, and may be called like it."""
    return table.column(2 + table.column_names[2:].index(name))


def _comparable(value: Any) -> Hashable:
    """A value for comparing rows: all NaN are equal, and lists are compared by their items."""
    if isinstance(value, float) and value != value:
        return "NaN", float
    return repr(value) if isinstance(value, list | dict) else value


def _counts(table: pa.Table | None, rows: Sequence[int], buckets: Buckets) -> tuple[int, ...]:
    if table is None:
        return buckets.count(())
    return buckets.count(table.column(1).cast(pa.int64()).take(pa.array(rows, pa.int64())).to_pylist())


def sampled(name: str, table: pa.Table | None, rows: Sequence[int], samples: int) -> tuple[Sample, ...]:
    """A few of some rows of a table, the first, the last and some in between."""
    if table is None or not rows or samples < 1:
        return ()
    few = min(samples, len(rows))
    chosen = dict.fromkeys(rows[round(each * (len(rows) - 1) / max(1, few - 1))] for each in range(few))
    picked = with_moments_as_text(table.take(pa.array(chosen, pa.int64())))
    return tuple({"type": name, **row} for row in picked.to_pylist())
