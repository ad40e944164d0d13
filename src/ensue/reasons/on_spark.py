"""Fetch the events that concern a question from Spark frames: they are explained in the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ensue.data.columns import Layout, find_layout
from ensue.data.errors import DataError
from ensue.data.spark_frames import Frames
from ensue.language import typed
from ensue.reasons.question import Asked
from ensue.reasons.slices import Values, concerned
from ensue.request import Request
from ensue.spark.arrange import arranged_frames
from ensue.spark.sql import literal, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ensue.program import Program

MOST_FETCHED = 200_000
"""Rows that are brought here."""


def fetched(program: Program, frames: Frames, request: Request, asked: Asked) -> tuple[Any, Request]:
    """The rows that concern a question, as tables; also those with the first and the last end, which bound time.

    Rows of other keys cannot change the answer (`slices`), so it is the same as on all of them.
    """
    if any(frame.isStreaming for frame in frames.values()):
        raise DataError("`why` takes tables, and this frame is a stream: pass a table of the events that it had.")
    frames, request = arranged_frames(frames, request, program.attributes_by_event)
    key = asked.values(program.typed)
    concern = concerned(program.typed, asked.type, key)
    layouts = {name: _layout(name, frame, request) for name, frame in frames.items()}
    ends = [_ends(frame, layouts[name]) for name, frame in frames.items()]
    known = [each for pair in ends for each in pair if each is not None]
    extremes = (min(known), max(known)) if known else ()
    tables = {
        name: _rows(frame, layouts[name], name, concern, program.typed, extremes) for name, frame in frames.items()
    }
    return tables.get(None, tables), request


def _layout(name: str | None, frame: DataFrame, request: Request) -> Layout:
    table = "The Spark frame" if name is None else f"The Spark frame of {name!r}"
    return find_layout(frame.columns, request.columns, name is not None, table)


def _end(layout: Layout) -> str:
    end = quoted(layout.end)
    return end if layout.instant is None else f"coalesce({end}, {quoted(layout.instant)})"


def _ends(frame: DataFrame, layout: Layout) -> tuple[Any, Any]:
    row = frame.selectExpr(f"min({_end(layout)})", f"max({_end(layout)})").first()
    return (None, None) if row is None else (row[0], row[1])


def _rows(
    frame: DataFrame, layout: Layout, only: str | None, concern: Mapping[str, Sequence[Values]],
    program: typed.Program, extremes: Sequence[Any],
) -> pa.Table:  # fmt: skip
    from pyspark.sql import functions as f

    there = set(frame.columns)
    matter = []
    for event, combinations in concern.items():
        if only not in (None, event):
            continue
        own = " or ".join(_condition(program.events[event], values, there) for values in combinations)
        of_type = "" if only is not None else f"cast({quoted(layout.type)} as string) = {literal(event)} and "
        matter.append(f"{of_type}({own})")
    condition = f.expr(" or ".join(f"({each})" for each in matter) or "false")
    for moment in extremes:
        condition = condition | (f.expr(_end(layout)) == f.lit(moment))
    found = frame.where(condition).limit(MOST_FETCHED + 1).toArrow()
    if found.num_rows > MOST_FETCHED:
        raise DataError(
            f"More than {MOST_FETCHED:,} rows concern this question, so they are not fetched. Ask for a detection, or "
            "give more attributes, so that fewer events are of its key."
        )
    return found


def _condition(event: typed.EventType, values: Values, columns: set[str]) -> str:
    """A condition that rows with certain values pass; those whose type is not plain are not compared."""
    compared = []
    for name, value in values.items():
        if name in columns and event.attributes.get(name) in ("int", "string", "bool", "float"):
            compared.append(f"try_cast({quoted(name)} as {_CASTS[event.attributes[name]]}) <=> {literal(value)}")
    return " and ".join(compared) or "true"


_CASTS = {"int": "bigint", "float": "double", "string": "string", "bool": "boolean"}
