"""Readers of plain dicts as source: one function for each type of event, which looks at each of its attributes once.

A loop over attributes, with a call for each, would take several times as long. The functions decide nothing: what is
not plainly of its type is None, and goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ensue.data import Columns
from ensue.data.iso import EPOCH, MICROSECOND, micros_of_text
from ensue.data.python_values import LARGEST, SMALLEST, is_text
from ensue.engine.batch import Row
from ensue.engine.defined import defined
from ensue.language.limits import FARTHEST

ReadType = Callable[[Mapping[str, Any], int, str], Row | None]
"""A dict, its position and its type as an event; None where it must go the long way."""

Moments = Callable[[Any], int | None]
"""A time as microseconds; None where it must go the long way."""

_NAIVE_EPOCH = EPOCH.replace(tzinfo=None)


def plain_timestamp(value: Any) -> int | None:
    """A timestamp as microseconds."""
    if type(value) is datetime:
        return (value - (_NAIVE_EPOCH if value.tzinfo is None else EPOCH)) // MICROSECOND
    return micros_of_text(value) if type(value) is str else None


ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "int": (
        "if type({v}) is not int:",
        "    if {v} is not None:",
        "        return None",
        "elif not smallest <= {v} <= largest:",
        "    return None",
    ),
    "float": (
        "if type({v}) is not float and {v} is not None:",
        "    if type({v}) is not int or not smallest <= {v} <= largest:",
        "        return None",
        "    {v} = float({v})",
    ),
    "string": (
        "if type({v}) is not str:",
        "    if {v} is not None:",
        "        return None",
        "elif not {v}.isascii() and not is_text({v}):",
        "    return None",
    ),
    "bool": ("if type({v}) is not bool and {v} is not None:", "    return None"),
    "timestamp": (
        "if {v} is not None:",
        "    {v} = plain_timestamp({v})",
        "    if {v} is None:",
        "        return None",
    ),
}
"""Source that looks at a value of each type, and leaves it as rules see it."""

NAMES: dict[str, Any] = {
    "smallest": SMALLEST,
    "largest": LARGEST,
    "first": -FARTHEST,
    "last": FARTHEST,
    "is_text": is_text,
    "plain_timestamp": plain_timestamp,
}


def row_reader(
    attributes: Mapping[str, str], columns: Columns, moment: Moments | None, instant: bool = False
) -> ReadType:
    """Read dicts of a type with some attributes; times are integers, or what `moment` makes of them."""
    lines = ["get = event.get", *_times(columns, moment is not None, instant)]
    for number, (name, type_) in enumerate(attributes.items()):
        lines.append(f"v{number} = get({name!r})")
        lines += [line.format(v=f"v{number}") for line in ATTRIBUTES[type_]]
    sequence = "None"
    if columns.sequence is not None:
        sequence = "sequence"
        lines += [f"sequence = get({columns.sequence!r})", *(line.format(v=sequence) for line in ATTRIBUTES["int"])]
    values = ", ".join(f"{name!r}: v{number}" for number, name in enumerate(attributes))
    lines.append(f"return type_, {{{values}}}, start, end, {sequence}, position")
    source = "def read(event, position, type_):\n" + "".join(f"    {line}\n" for line in lines)
    read: ReadType = defined(source, "read", {**NAMES, "moment": moment})
    return read


def _times(columns: Columns, timestamps: bool, instant: bool) -> list[str]:
    """Source that finds `start` and `end`."""
    if columns.time is not None:
        return [*_time("start", columns.time, timestamps), "end = start"]
    start, end = columns.start or "start", columns.end or "end"
    over = [*_time("start", start, timestamps), *_time("end", end, timestamps)]
    over += [f"if {'start != end' if instant else 'start > end'}:", "    return None"]
    if columns.start is not None or columns.end is not None:
        return over
    at = [*_time("start", "time", timestamps), "end = start"]
    both = f"if {start!r} in event and {end!r} in event:"
    return [both, *(f"    {line}" for line in over), "else:", *(f"    {line}" for line in at)]


def _time(name: str, key: str, timestamps: bool) -> list[str]:
    """Source that finds one time."""
    lines = [f"{name} = get({key!r})"]
    if timestamps:
        lines += [f"if {name} is None:", "    return None", f"{name} = moment({name})"]
        wrong = f"{name} is None"
    else:
        wrong = f"type({name}) is not int"
    return [*lines, f"if {wrong} or not first <= {name} <= last:", "    return None"]
