"""One table of the input, as it came, before any column is interpreted."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from ensue.data.errors import DataError
from ensue.data.raw import Raw, readable
from ensue.records import dataclass


@dataclass(frozen=True)
class InputPart:
    """Columns, and the means to describe where a row of them stood.

    A row's position counts all rows of the part, those included that are malformed and so not in the columns.
    """

    name: str  # in messages
    columns: Mapping[str, Raw]
    length: int  # of the columns
    where: Callable[[int], str]  # the place of the row at a position
    others: tuple[str, ...] = ()  # columns that are there and were not read
    event_type: str | None = None  # where tables are passed by type
    text: bool = False  # from CSV: every string is text, which may stand for any type
    sparse: bool = False  # from dicts: a column that is not there may be in the next part
    continued: bool = False  # from the same file as the part before
    malformed: tuple[tuple[int, str], ...] = ()  # position and reason, in order
    # JSON as Arrow reads it has 1 and 2.5 in one column both as floats; this reads it again, value by value.
    exactly: "Callable[[], InputPart] | None" = None

    @property
    def total(self) -> int:
        """Number of input rows, good and bad."""
        return self.length + len(self.malformed)

    @cached_property
    def positions(self) -> pa.Array:
        """The position of each row of the columns."""
        if not self.malformed:
            return pa.array(np.arange(self.length))
        malformed = {position for position, _ in self.malformed}
        return pa.array((position for position in range(self.total) if position not in malformed), pa.int64())


def moved(place: Callable[[int], str], offset: int) -> Callable[[int], str]:
    """The places of rows from an offset on."""
    return place if offset == 0 else lambda position: place(offset + position)


def named_columns(names: Sequence[str], columns: Iterable[Raw], part: str, hint: str = "") -> dict[str, Raw]:
    """Columns by name, which must be different ones."""
    by_name = dict(zip(names, columns, strict=True))
    if len(by_name) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise DataError(f"{part} has more than one column {twice!r}; rename one of them.{hint}")
    return by_name


def table_part(table: pa.Table, name: str, where: Callable[[int], str]) -> InputPart:
    """A part that is an Arrow table."""
    columns = named_columns(table.column_names, map(readable, table.columns), name)
    return InputPart(name, columns, table.num_rows, where)


_VALUE = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([-:/T ][0-9:.TZ/+ -]*)?")
"""A number or a time, of which no column has its name."""


def headless(names: Iterable[str]) -> str:
    """A hint where the first line of a file seems to be an event."""
    if not any(map(_VALUE.fullmatch, names)):
        return ""
    return " The first line must name the columns, as in type,time,id, and this one looks like values: add such a line."
