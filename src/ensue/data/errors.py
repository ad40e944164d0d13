"""What is said when events cannot be read: one row that is left out, or an input that makes no sense at all."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


class DataError(ValueError):
    """The input as a whole cannot be used. The message says why and what to do, in a sentence or two."""


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
    """Why a row of a type that only rules derive is bad."""
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
    """A failure inside Arrow that nobody foresaw still reaches people as one sentence."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise DataError(f"{what} could not be read: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message; the rest is for whoever reads the traceback."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def bad_rows_said(bad: Sequence[BadRow], count: int) -> str:
    """The text of a warning of bad rows: how many they are, and what is wrong with the first."""
    shown = "; ".join(map(str, bad[:3])) + ("; …" if count > 3 else "")
    return f"{count} row{'s were' if count != 1 else ' was'} left out: {shown}"
