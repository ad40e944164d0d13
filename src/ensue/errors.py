"""Errors and warnings of detection. Those of rules are in `ensue.language.diagnostics`, of events in `ensue.data`."""

from __future__ import annotations


class DetectError(Exception):
    """The rules cannot be evaluated on these events. The message gives the reason and a remedy."""


class LimitError(DetectError):
    """A rule that derives or keeps more than is allowed; the message names it and a remedy."""

    @classmethod
    def of_matches(cls, which: str, most: int, taken: int) -> LimitError:
        """The error of a rule that derives too many events from those that it takes in at once."""
        return cls(
            f"{which} derives more than {most:,} events from the {taken:,} that it takes in at once. Let its events "
            "share a variable, or bound it with `within`; or allow more with `max_matches` (--max-matches)."
        )


class BadRowsWarning(UserWarning):
    """Some rows were left out because they could not be used."""


class EmptyAttributeWarning(UserWarning):
    """An attribute that the rules use is null in every row, perhaps because its column has another name."""


class UnusedTypeWarning(UserWarning):
    """Events were passed under the name of a type that the rules do not use, perhaps a misspelt one."""


class NoEffectWarning(UserWarning):
    """An option has no effect on these events, or these rules."""


class PlainLengthWarning(UserWarning):
    """A rule writes a length of time as a plain number, and the times are timestamps: it counts microseconds."""


class FunctionWarning(UserWarning):
    """A function that was passed to `compile` failed for some values; its result is null there."""


class LateEventsWarning(UserWarning):
    """An event came too late to take part: its time had been evaluated."""


class OnePartitionWarning(UserWarning):
    """A stage of the program cannot be run in parallel."""


class MissingTableWarning(UserWarning):
    """A table that the rules declare and use has no rows: it was not passed."""


class PlainCodeWarning(UserWarning):
    """Machine code cannot be used here, though it should be: rules run as Python."""
