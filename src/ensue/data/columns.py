"""Columns of the time, the type and the sequence: as named by the caller, else by their usual names."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ensue.data.errors import DataError, did_you_mean, listed, shortened
from ensue.records import dataclass

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0}
"""Units of times since 1970, in microseconds; of nanoseconds a thousand are one."""

USUAL = ("type", "time", "start", "end")
"""Usual names of columns that are no attributes."""

TOGETHER = "+"
"""Stands between the names of columns that hold a time together: `Date+Time`."""


@dataclass(frozen=True)
class TimeFormat:
    """Format of times that cannot be recognised: a unit of numbers since 1970, a format of text.

    `timezone` names the zone of times without one, and of the results. `year` is that of text without a year.
    """

    unit: str | None = None
    format: str | None = None
    timezone: str | None = None
    year: int | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise DataError(f"The unit of times is {shortened(self.unit)}; it is one of {', '.join(UNITS)}.")
        if self.year is not None and (type(self.year) is not int or not 1 <= self.year <= 9999):
            raise DataError(f"The year of the times is {shortened(self.year)}; it is a number such as 2026.")
        if self.unit is not None and (self.format is not None or self.year is not None):
            raise DataError("Times are numbers of a unit, or text of a format: give one or the other, not both.")
        if self.format is not None:
            from ensue.data.time_patterns import time_pattern

            time_pattern(self.format, self.year)
            if not time_pattern(self.format, self.year).has_year and self.year is None:
                raise DataError(f"The time format {self.format!r} has no year. Add year= (--year on the command line).")
        if self.timezone is not None:
            _check_zone(self.timezone)

    def __bool__(self) -> bool:
        """True if any option is set."""
        return self != _PLAIN_TIMES


def _check_zone(name: object) -> None:
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(name)  # type: ignore[arg-type]
    except Exception:
        known = available_timezones()
        hint = did_you_mean(str(name), known) if known else " No zones are known here: pip install tzdata."
        raise DataError(f"There is no time zone {shortened(name)}; one is Europe/Berlin, or UTC.{hint}") from None


@dataclass(frozen=True)
class TextFiles:
    """Format of text files, where their suffix does not determine it.

    `lines` is a regular expression with named groups, each of which is a column; `separator` is that of CSV.
    `file_name` takes columns from the names of files: by named groups, or as a whole under a name.
    """

    lines: str | None = None
    separator: str | None = None
    file_name: str | None = None

    def __post_init__(self) -> None:
        if self.lines is not None:
            check_groups(self.lines, "lines")
        if self.file_name is not None and not self.file_name.isidentifier():
            check_groups(self.file_name, "file_name")
        if self.separator is not None and len(self.separator.encode()) != 1:
            raise DataError(
                f"The separator is {shortened(self.separator)}; it is one character, such as ; or a tab ('\\t')."
            )
        if self.lines is not None and self.separator is not None:
            raise DataError("A regular expression or a separator splits lines: give either lines or separator.")


def check_groups(regex: object, what: str) -> None:
    """Check a regular expression with named groups."""
    from ensue.regex import group_names, problem

    example = "as in (?P<time>\\S+) (?P<user>\\w+)"
    if not isinstance(regex, str):
        raise DataError(f"`{what}` is {shortened(regex)}, which is not a regular expression: write a text, {example}.")
    wrong = problem(regex)
    if wrong is not None:
        raise DataError(f"`{what}` is {shortened(regex)}, which is not a regular expression: {wrong}.{_lacking(regex)}")
    if not group_names(regex):
        raise DataError(f"`{what}` is {shortened(regex)}; it needs named groups, {example}.")


def _lacking(regex: str) -> str:
    import re

    if re.search(r"\(\?<?[=!]|\\[1-9]|\(\?P=", regex) is None:
        return ""
    return " There is no look-around and no reference back to a group, which take more than linear time."


_PLAIN_TIMES = TimeFormat()


@dataclass(frozen=True)
class Columns:
    """The caller's names for the columns that are not attributes; None stands for the usual name.

    An event happens at `time`, or from `start` to `end`. `sequence` has no usual name: it orders events of the same
    moment, and only where it is named. `renamed` are the names that rules have for columns that are called otherwise.

    >>> Columns("Date+Time", renamed=(("user", "UserName"),)).outside
    ('Date+Time',)
    """

    time: str | None = None
    start: str | None = None
    end: str | None = None
    type: str | None = None
    sequence: str | None = None
    times: TimeFormat = _PLAIN_TIMES
    renamed: tuple[tuple[str, str], ...] = ()
    files: TextFiles = TextFiles()

    @property
    def outside(self) -> tuple[str, ...]:
        """The columns that are named, and are not attributes."""
        return tuple(name for name in (self.time, self.start, self.end, self.type, self.sequence) if name is not None)

    @property
    def plain_names(self) -> "Columns":
        """The same for a table whose columns have been arranged, and whose times have been read."""
        return replace(self, times=_PLAIN_TIMES, renamed=(), files=TextFiles())

    def saved(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            **{name: getattr(self, name) for name in ("time", "start", "end", "type", "sequence")},
            "times": tuple(getattr(self.times, each.name) for each in fields(TimeFormat)),
            "renamed": [list(pair) for pair in self.renamed],
        }

    @staticmethod
    def restored(state: Mapping[str, Any] | Sequence[Any]) -> "Columns":
        if not isinstance(state, Mapping):  # of a version that knew names alone
            return Columns(*state)
        renamed = tuple((name, column) for name, column in state["renamed"])
        return Columns(**{**state, "times": TimeFormat(*state["times"]), "renamed": renamed})


def columns_of(
    time: str | None = None, start: str | None = None, end: str | None = None, type: str | None = None,
    sequence: str | None = None, *, time_unit: str | None = None, time_format: str | None = None,
    timezone: str | None = None, year: int | None = None, columns: Mapping[str, str] | None = None,
    lines: str | None = None, separator: str | None = None, file_name: str | None = None,
) -> Columns:  # fmt: skip
    """The columns that the arguments of `Program.detect` name."""
    for name, value in (("time", time), ("start", start), ("end", end), ("type", type), ("sequence", sequence)):
        if value is not None and not isinstance(value, str):
            raise DataError(f"`{name}` is {shortened(value)}; it is the name of a column.")
    if columns is not None and not isinstance(columns, Mapping):
        raise DataError(f"`columns` is {shortened(columns)}; it is a dict of columns by the names that rules have.")
    return Columns(
        time, start, end, type, sequence, TimeFormat(time_unit, time_format, timezone, year),
        tuple((columns or {}).items()), TextFiles(lines, separator, file_name),
    )  # fmt: skip


def is_path(name: str) -> bool:
    """True for a name that may lead into a nested value: `user.id`."""
    return "." in name and all(name.split("."))


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
    """Find the columns in a table that has `names`; `table` is its name in messages.

    Columns have been arranged (`arrange`), so that each that is named is there under its name.

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
        "Name the one that holds the time with time= (--time on the command line), or several: Date+Time."
        f"{_renamed_away(columns, 'time', 'start', 'end')}{_alike('time', names)}"
    )


def _type(names: Sequence[str], columns: Columns, table: str) -> str:
    if columns.type is not None:
        return named(columns.type, names, table)
    if "type" in names:
        return "type"
    raise DataError(
        f"{table} has no column 'type', it has {listed(names)}. Name the one that holds the event's type with type=, "
        'or pass the tables by type: {"order": table} (order=FILE on the command line).'
        f"{_renamed_away(columns, 'type')}{_alike('type', names)}"
    )


def _renamed_away(columns: Columns, *names: str) -> str:
    """A sentence for columns that are missing because another name was given to them."""
    taken = ((name, source) for name, source in columns.renamed if source in names)
    return "".join(f" There was one {source!r}, which columns= (--column) calls {name!r}." for name, source in taken)


def _alike(usual: str, names: Sequence[str]) -> str:
    """A hint where a column has nearly a usual name."""
    return did_you_mean(usual, [name for name in names if usual in name.lower()])


def named(name: str, names: Sequence[str], table: str) -> str:
    """The name, if there is such a column."""
    if name in names:
        return name
    raise DataError(f"{table} has no column {name!r}, it has {listed(names)}.{did_you_mean(name, names)}")
