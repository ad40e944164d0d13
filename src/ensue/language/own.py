"""User-defined functions: Python functions that rules call by name, with types of parameters and result.

A null argument gives null without a call, unless the parameter takes it. A function that raises an exception, or
returns a value of another type than it declares, gives null there. The first such failure emits a warning: one event
out of millions does not end a stream.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ensue.errors import FunctionWarning
from ensue.language.build import LARGEST
from ensue.language.functions import Signature

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORT = 60
"""Number of characters of an argument that a warning shows."""


class _Unfit(Exception):  # noqa: N818 (it never leaves this module)
    """A value that is not of the type that is needed."""


class OwnFunction:
    """A Python function under the name that rules call it by; `nullable` is true for each parameter that takes null.

    It is no node of the typed program, but itself wherever it is called.
    """

    def __init__(self, name: str, signature: Signature, nullable: tuple[bool, ...]) -> None:
        self.name, self.signature, self.nullable = name, signature, nullable
        self.warned = False

    def call(self, values: Sequence[Any]) -> Any:
        """The result for values as rules hold them; None is null."""
        if any(value is None and not takes for value, takes in zip(values, self.nullable, strict=False)):
            return None
        try:
            taken = [_taken(value, self.signature.parameter(place)) for place, value in enumerate(values)]
        except _Unfit:
            return None  # of type any, and of another kind than the function takes
        try:
            found = self.signature.meaning(*taken)
        except Exception as error:
            self._warn(taken, f"{type(error).__name__}: {error}")
            return None
        try:
            return _given(found, self.signature.result)
        except _Unfit:
            self._warn(taken, f"it returned {_short(found)}, which is no {self.signature.result}")
            return None

    def _warn(self, values: Sequence[Any], why: str) -> None:
        if not self.warned:
            self.warned = True
            call = f"{self.name}({', '.join(map(_short, values))})"
            warnings.warn(
                f"The function {call} failed, and is null there: {why}. Further failures of it are not told.",
                FunctionWarning,
                stacklevel=2,
            )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _taken(value: Any, type_: str) -> Any:
    """A value as a function takes it."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match type_:
        case "int" if isinstance(value, int) and number:
            return value
        case "float" if number:
            return float(value)
        case "string" if isinstance(value, str):
            return value
        case "bool" if isinstance(value, bool):
            return value
        case "timestamp" if isinstance(value, int) and number:
            try:
                return EPOCH + timedelta(microseconds=value)
            except OverflowError:
                raise _Unfit from None
    raise _Unfit


def _given(value: Any, type_: str) -> Any:
    """A function's result as rules hold it."""
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        value = value.item()
    match type_, value:
        case _, None:
            return None
        case "int", int() if -LARGEST - 1 <= value <= LARGEST:
            return int(value)
        case "float", int() | float():
            try:
                return float(value)
            except OverflowError:
                raise _Unfit from None
        case "string", str() if _is_text(value):
            return str(value)
        case "bool", bool():
            return value
        case "timestamp", datetime():
            moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
            return (moment - EPOCH) // timedelta(microseconds=1)
    raise _Unfit


def _is_text(value: str) -> bool:
    """True if a string can be encoded as UTF-8: half a surrogate pair cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
