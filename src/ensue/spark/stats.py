"""What must be known of all events before parts of them can be evaluated: the first end and the last one.

It is a frame of one row, joined to the events, so that nothing is computed before the result is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensue.spark.wire import FIRST, UNTIL

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def as_integer(time: Column, type_: DataType) -> Column:
    """A time as the integer that it is in the engine."""
    from pyspark.sql import functions as f

    match type_.typeName():
        case "timestamp":
            return f.unix_micros(time)
        case "timestamp_ntz":  # as if it were in UTC, whatever the session's zone is
            return f.unix_micros(f.to_utc_timestamp(time.cast("timestamp"), f.current_timezone()).cast("timestamp"))
        case _:
            return time.cast("bigint")


def first_and_last(ends: DataFrame) -> DataFrame:
    """The smallest and the largest end of a frame of one column, ``end``."""
    from pyspark.sql import functions as f

    return ends.agg(f.min("end").alias(FIRST), f.max("end").alias(UNTIL))
