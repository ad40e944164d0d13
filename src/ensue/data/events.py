"""Events as every execution takes them: an Arrow table for each type, times as 64-bit integers."""

from collections.abc import Mapping
from dataclasses import field

import pyarrow as pa

from ensue.data.errors import BadRow
from ensue.data.form import Form
from ensue.records import dataclass


@dataclass(frozen=True)
class Events:
    """All good rows, and a report on the others.

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
    form: Form  # of the input
    rows: int = 0  # number of input rows, good and bad
    used: bool = field(default=True, compare=False)  # true if a row is of a known type
    suppressed: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Number of events suppressed by ``once per`` and ``at most``, by the rule's number, once it is known."""


def attributes_of(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """The attributes of a table of events.

    >>> table = pa.table({"start": [1], "end": [1], "row": [0], "id": [42]})
    >>> list(attributes_of(table))
    ['id']
    """
    first = table.column_names.index("row") + 1
    return dict(zip(table.column_names[first:], table.columns[first:], strict=True))
