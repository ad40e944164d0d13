"""Which column holds the time, the type and the sequence: as named by the caller, else by their usual names."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensue.data.errors import DataError, did_you_mean, listed


@dataclass(frozen=True)
class Columns:
    """The caller's names for the columns that are not attributes; None stands for the usual name.

    An event happens at `time`, or from `start` to `end`. `sequence` has no usual name: it orders events of the same
    moment, and only where it is named.
    """

    time: str | None = None
    start: str | None = None
    end: str | None = None
    type: str | None = None
    sequence: str | None = None


@dataclass(frozen=True)
class Layout:
    """The columns of one table that are not attributes.

    `instant` is read in rows where both `start` and `end` are empty, so that derived events and instantaneous ones can
    stand in one table.
    """

    start: str
    end: str
    instant: str | None
    type: str | None
    sequence: str | None


def find_layout(names: Sequence[str], columns: Columns, by_type: bool, table: str) -> Layout:
    """Find the columns in a table that has `names`; `table` is what a message calls it.

    >>> find_layout(["type", "time", "id"], Columns(), by_type=False, table="events.csv")
    Layout(start='time', end='time', instant=None, type='type', sequence=None)
    """
    start, end, instant = _times(names, columns, table)
    sequence = None if columns.sequence is None else named(columns.sequence, names, table)
    return Layout(start, end, instant, None if by_type else _type(names, columns, table), sequence)


def _times(names: Sequence[str], columns: Columns, table: str) -> tuple[str, str, str | None]:
    if columns.time is not None:
        if columns.start is not None or columns.end is not None:
            raise DataError("An event has a time, or a start and an end: name the one or the other two, not both.")
        time = named(columns.time, names, table)
        return time, time, None
    if columns.start is not None or columns.end is not None:
        return named(columns.start or "start", names, table), named(columns.end or "end", names, table), None
    if "start" in names and "end" in names:
        return "start", "end", "time" if "time" in names else None
    if "time" in names:
        return "time", "time", None
    raise DataError(
        f"{table} has no column 'time', nor 'start' and 'end', it has {listed(names)}. "
        "Name the one that holds the time with time= (--time on the command line)."
    )


def _type(names: Sequence[str], columns: Columns, table: str) -> str:
    if columns.type is not None:
        return named(columns.type, names, table)
    if "type" in names:
        return "type"
    raise DataError(
        f"{table} has no column 'type', it has {listed(names)}. Name the one that holds the event's type with type=, "
        'or hand the tables over by type: {"order": table} (order=FILE on the command line).'
    )


def named(name: str, names: Sequence[str], table: str) -> str:
    """The name, if there is such a column."""
    if name in names:
        return name
    raise DataError(f"{table} has no column {name!r}, it has {listed(names)}.{did_you_mean(name, names)}")
