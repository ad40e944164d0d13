"""Detection on frames for commands: rows that took no part come along, and warnings become sentences."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from ensue.cli.output import say

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ensue.data import Columns
    from ensue.program import Program

REJECTED = "rejected"
"""The last column of what comes back: why a row took no part, and the row; null in detections."""


def detected(program: Program, events: DataFrame | dict[str, DataFrame], columns: Columns, **options: Any) -> DataFrame:
    """What the rules find in frames, and the rows that took no part."""
    names = {"time": columns.time, "start": columns.start, "end": columns.end, "type": columns.type}
    told = REJECTED in inspect.signature(program.detect).parameters
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        asked = {**names, **options, "sequence": columns.sequence, **({REJECTED: True} if told else {})}
        found: DataFrame = program.detect(events, **asked)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            say(str(warning.message))
    return found if told else found.selectExpr("*", f"cast(null as struct<reason: string, row: string>) as {REJECTED}")
