"""First and last end of all events, which must be known before parts of them can be evaluated.

They are a frame of one row, joined to the events, so that nothing is computed before the result is requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensue.spark.wire import FIRST, UNTIL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def first_and_last(ends: DataFrame, until: str | None = None) -> DataFrame:
    """The smallest and the largest end of a frame of one column, ``end``; or another end of time, as SQL."""
    return ends.selectExpr(f"min(`end`) as `{FIRST}`", f"{until or 'max(`end`)'} as `{UNTIL}`")
