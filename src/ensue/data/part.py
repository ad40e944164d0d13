"""One table as it was handed over, before anything in it is understood."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from ensue.data.errors import DataError
from ensue.data.raw import Raw, readable


@dataclass(frozen=True)
class Part:
    """Columns, and what is needed to say where a row of them stood.

    A row's position counts all rows of the part, those included that are malformed and so not in the columns.
    """

    name: str  # what a message calls it
    columns: Mapping[str, Raw]
    length: int  # of the columns
    where: Callable[[int], str]  # the place of the row at a position
    others: tuple[str, ...] = ()  # columns that are there and were not read
    event_type: str | None = None  # where tables are handed over by type
    text: bool = False  # from CSV: every string is text, which may stand for any type
    sparse: bool = False  # from dicts: a column that is not there may be in the next part
    continued: bool = False  # from the same file as the part before
    malformed: tuple[tuple[int, str], ...] = ()  # position and reason, in order
    # JSON as Arrow reads it has 1 and 2.5 in one column both as floats; this reads it again, value by value.
    exactly: "Callable[[], Part] | None" = None

    @property
    def total(self) -> int:
        """How many rows were handed over."""
        return self.length + len(self.malformed)

    @cached_property
    def positions(self) -> pa.Array:
        """The position of each row of the columns."""
        if not self.malformed:
            return pa.array(range(self.length), pa.int64())
        malformed = {position for position, _ in self.malformed}
        return pa.array((position for position in range(self.total) if position not in malformed), pa.int64())


def named_columns(names: Sequence[str], columns: Iterable[Raw], part: str) -> dict[str, Raw]:
    """Columns by name, which must be different ones."""
    by_name = dict(zip(names, columns, strict=True))
    if len(by_name) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise DataError(f"{part} has more than one column {twice!r}; rename one of them.")
    return by_name


def table_part(table: pa.Table, name: str, where: Callable[[int], str]) -> Part:
    """A part that is an Arrow table."""
    columns = named_columns(table.column_names, map(readable, table.columns), name)
    return Part(name, columns, table.num_rows, where)
