"""Detection on frames for commands: rows that took no part come along, and warnings become sentences."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from ensue.cli.output import say
from ensue.detection import detect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ensue.program import Program
    from ensue.request import Request


def detected(program: Program, events: DataFrame | dict[str, DataFrame], request: Request) -> DataFrame:
    """Detections in frames, and rejected rows; warnings are printed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found: DataFrame = detect(program, events, replace(request, rejected=True))
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            say(str(warning.message))
    return found
