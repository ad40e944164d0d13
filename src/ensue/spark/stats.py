"""What must be known of all events before parts of them can be evaluated: the first end and the last one.

It is a frame of one row, joined to the events, so that nothing is computed before the result is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensue.spark.wire import FIRST, UNTIL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def first_and_last(ends: DataFrame) -> DataFrame:
    """The smallest and the largest end of a frame of one column, ``end``."""
    return ends.selectExpr(f"min(`end`) as `{FIRST}`", f"max(`end`) as `{UNTIL}`")
