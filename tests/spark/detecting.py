"""Programs on Spark tables, with answers as other executions give them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema

from ensue import DataError, UnusedTypeWarning
from ensue.data.results import arrow_type, picked
from ensue.program import Program
from ensue.spark.batch import OnePartitionWarning
from ensue.testing import moment_as_given
from tests.agreement import IN_ORDER, Outcome, difference

NEEDED = "Choose one of them with emit"


def found_on_spark(
    spark: Any, program: Program, tables: Mapping[str, pa.Table], until: Any = None, emit: Iterable[str] | None = None,
    counts: Counter[str] | None = None, **options: Any,
) -> dict[str, pa.Table]:  # fmt: skip
    """Detections on Spark in Arrow tables by type: a table for each type, in no order.

    `counts` takes the numbers of suppressed events, if one frame holds all types.
    """
    wanted = picked(program.typed, emit)
    until = moment_as_given(until, tables) if type(until) is int else until
    frames = {name: as_frame(spark, table) for name, table in tables.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePartitionWarning)
        warnings.simplefilter("ignore", UnusedTypeWarning)
        try:
            whole = program.detect(frames, until, emit=wanted, suppressed=counts is not None, **options).toArrow()
            for each in [] if counts is None else whole.column("suppressed").drop_null().to_pylist():
                counts[each["rule"]] += each["count"]
            return {event: _of_type(program, whole, event) for event in wanted}
        except DataError as error:
            if NEEDED not in str(error):
                raise
        whole_by_type = {event: program.detect(frames, until, emit=event, **options).toArrow() for event in wanted}
        return {event: _of_type(program, whole, event) for event, whole in whole_by_type.items()}


def _of_type(program: Program, whole: pa.Table, event: str) -> pa.Table:
    rows = whole.filter(pc.equal(whole.column("type"), event))
    columns = {"start": rows.column("start"), "end": rows.column("end")}
    for name, type_ in program.typed.events[event].attributes.items():
        known = arrow_type(type_, False, None) if type_ in ("int", "float") else None
        columns[name] = rows.column(name) if known is None else rows.column(name).cast(known)
    return pa.table(columns)


def as_frame(spark: Any, table: pa.Table) -> Any:
    """An Arrow table as a Spark frame, in which timestamps without a zone stay so."""
    return spark.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


def in_order(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table of detections, in an order that is always the same."""
    return sorted(table.to_pylist(), key=lambda row: (row["end"], row["start"], repr(sorted(row.items()))))


def difference_in_sets(wanted: Outcome, found: Outcome) -> str | None:
    """Difference of detections apart from their order, which Spark does not keep."""
    said = difference(wanted, found)
    return None if said is not None and said.startswith(IN_ORDER) else said
