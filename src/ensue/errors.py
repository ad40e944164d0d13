"""What is said when a program cannot be evaluated on the events at hand."""


class DetectError(Exception):
    """A program that cannot be evaluated on these events; the message says why and what to do."""
