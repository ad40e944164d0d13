"""Errors and warnings of detection. Those of rules are in `ensue.language.diagnostics`, of events in `ensue.data`."""


class DetectError(Exception):
    """A program that cannot be evaluated on these events; the message says why and what to do."""


class LimitError(DetectError):
    """A rule that derives or keeps more than is allowed; the message names it, and says what to do."""


class BadRowsWarning(UserWarning):
    """Some rows were left out because they could not be used."""


class EmptyAttributeWarning(UserWarning):
    """An attribute that the rules use is null in every row, as it is when its column has another name."""


class UnusedTypeWarning(UserWarning):
    """Events were handed over under the name of a type that the rules do not use, as a misspelt one is."""


class NoEffectWarning(UserWarning):
    """Something was asked for that has no effect on these events."""


class FunctionWarning(UserWarning):
    """A function that was handed over to `compile` failed for some values, and is null for these."""


class LateEventsWarning(UserWarning):
    """An event came too late to take part: its time had been evaluated."""


class OnePartitionWarning(UserWarning):
    """A stage of the program cannot be run in parallel."""


class MissingTableWarning(UserWarning):
    """A table that the rules declare and use has no rows: nobody handed it over."""
