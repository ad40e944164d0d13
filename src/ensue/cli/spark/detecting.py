"""Detection on frames for commands: rows that took no part come along, and warnings become sentences."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ensue.cli.output import say

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ensue.data import Columns
    from ensue.program import Program


def detected(program: Program, events: DataFrame | dict[str, DataFrame], columns: Columns, **options: Any) -> DataFrame:
    """What the rules find in frames, and the rows that took no part."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found: DataFrame = program.detect(
            events, time=columns.time, start=columns.start, end=columns.end, type=columns.type,
            sequence=columns.sequence, rejected=True, **options,
        )  # fmt: skip
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            say(str(warning.message))
    return found
