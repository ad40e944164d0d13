"""Events as every execution takes them: an Arrow table for each type, times as 64-bit integers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ensue.data.errors import BadRow
from ensue.data.form import Form


@dataclass(frozen=True)
class Events:
    """All good rows, and what is known about the others.

    A table has the columns `start` and `end`, `sequence` if one was named, `row`, and then the attributes; those may
    have any name, `row` too, so `attributes_of` takes them by position. Types without a good row have no table.
    """

    tables: Mapping[str, pa.Table]
    timestamps: bool  # start and end are then microseconds since the epoch, UTC
    timezone: str | None  # of the time column; None where it has none
    first_end: int | None  # the smallest end among all good rows, whatever their type
    last_end: int | None  # the largest
    bad: tuple[BadRow, ...]  # the first 1000 of them, in the order of the input
    bad_count: int
    form: Form  # what came in
    rows: int = 0  # how many were handed over, good and bad
    used: bool = field(default=True, compare=False)  # whether a row is of a type that is known
    suppressed: Mapping[int, int] = field(default_factory=dict, compare=False)
    """How many events rules did not keep that say how often they derive, by their numbers, once that is known."""


def attributes_of(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """The attributes of a table of events.

    >>> table = pa.table({"start": [1], "end": [1], "row": [0], "id": [42]})
    >>> list(attributes_of(table))
    ['id']
    """
    first = table.column_names.index("row") + 1
    return dict(zip(table.column_names[first:], table.columns[first:], strict=True))
