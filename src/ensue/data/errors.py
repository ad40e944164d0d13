"""Errors of input data: one row that is left out, or an input that cannot be read at all."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ensue.records import dataclass


class DataError(ValueError):
    """The input as a whole cannot be used. The message gives the reason and a remedy, in a sentence or two."""


class NotTextError(DataError):
    """A column of text holds bytes that are not UTF-8."""


@dataclass(frozen=True)
class BadRow:
    """A row that was left out.

    Lines of a file count from 1, as editors do; rows of a table from 0, as `table[5]` does.

    >>> print(BadRow("events.csv:17", "column 'time' is 'abc', not an integer"))
    events.csv:17: column 'time' is 'abc', not an integer
    """

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


def not_taken(event_type: str) -> str:
    """Reason why a row of a type that only rules derive is bad."""
    return (
        f"rows of type {event_type} are not taken: the rules derive it; declare it with `event {event_type}(…).` to "
        "give some, too"
    )


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint to append to a message, empty when nothing comes close.

    >>> did_you_mean("tiem", ["type", "time", "id"])
    " Did you mean 'time'?"
    >>> did_you_mean("zzz", ["type"])
    ''
    """
    by_lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Names in a message: quoted, with commas, not too many.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    all_names = [repr(name) for name in names] or ["none"]
    shown = ", ".join(all_names[:limit])
    return f"{shown} and {len(all_names) - limit} more" if len(all_names) > limit else shown


def shortened(value: object, limit: int = 60) -> str:
    """A value as it stands in a message.

    >>> shortened("abc")
    "'abc'"
    >>> shortened("x" * 100, limit=10)
    "'xxxxxxxx…"
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


@contextmanager
def arrow_errors_as_data_errors(what: str) -> Iterator[None]:
    """Turn an unforeseen failure inside Arrow into an error of one sentence."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise DataError(f"{what} could not be read: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message; the traceback has the rest."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def describe_bad_rows(bad: Sequence[BadRow], count: int) -> str:
    """The text of a warning of bad rows: their number, and the reasons of the first of each kind.

    >>> rows = [BadRow(f"row {n}", f"attribute 'x' is {n}, not a string") for n in range(3)]
    >>> describe_bad_rows([*rows, BadRow("row 9", "not a JSON object")], 4)
    "4 rows were left out: 3 of attribute 'x' is …, not a string (row 0: 0; row 1: 1; …); row 9: not a JSON object"
    """
    if count <= 3:
        shown = "; ".join(map(str, bad))
    else:
        groups = grouped(bad)
        shown = "; ".join(map(_describe_group, groups[:MOST_GROUPS])) + ("; …" if len(groups) > MOST_GROUPS else "")
        if count > len(bad):
            shown = f"of the first {len(bad)}, {shown}"
    return f"{count} row{'s were' if count != 1 else ' was'} left out: {shown}"


@dataclass(frozen=True)
class Group:
    """Bad rows of one kind."""

    kind: str
    rows: tuple[BadRow, ...]


MOST_GROUPS = 5
"""Largest number of kinds of bad rows in a warning."""

_VALUE = re.compile(
    r"((?:column|attribute) '.*?' is )(.*)(, (?:not an? |outside |and times |not a string).*)", re.DOTALL
)


def grouped(bad: Iterable[BadRow]) -> list[Group]:
    """Bad rows by their kind, the largest group first."""
    found: dict[str, list[BadRow]] = {}
    for row in bad:
        found.setdefault(kind_of(row.reason), []).append(row)
    groups = [Group(kind, tuple(rows)) for kind, rows in found.items()]
    return sorted(groups, key=lambda group: -len(group.rows))


def kind_of(reason: str) -> str:
    """A reason without the parts that differ from row to row.

    >>> kind_of("attribute 'qty' is 'abc', not an int")
    "attribute 'qty' is …, not an int"
    >>> kind_of("not JSON: extra data at column 26"), kind_of("it starts at 7, after its end at 5")
    ('not JSON', 'it starts after its end')
    """
    value = _VALUE.fullmatch(reason)
    if value is not None:
        return f"{value[1]}…{value[3]}"
    if reason.startswith("it starts at "):
        return "it starts after its end"
    return re.sub(r"\d+ field", "… field", reason) if reason.startswith("has ") else reason.partition(": ")[0]


def _describe_group(group: Group) -> str:
    if len(group.rows) == 1:
        return str(group.rows[0])
    values = [(row.where, _VALUE.fullmatch(row.reason)) for row in group.rows[:2]]
    first = [where if value is None else f"{where}: {value[2]}" for where, value in values]
    more = "; …" if len(group.rows) > 2 else ""
    return f"{len(group.rows)} of {group.kind} ({'; '.join(first)}{more})"


def describe_by_kind(bad: Sequence[BadRow], count: int) -> list[str]:
    """Lines on bad rows, each kind with the number of its rows and the first few."""
    lines = []
    for group in grouped(bad):
        if len(group.rows) == 1:
            lines.append(str(group.rows[0]))
            continue
        lines.append(f"{len(group.rows)} rows: {group.kind}")
        lines += [f"  {row}" for row in group.rows[:3]]
        if len(group.rows) > 3:
            lines.append("  …")
    if count > len(bad):
        lines.append(f"… and {count - len(bad)} more rows, which were not looked at so closely")
    return lines
