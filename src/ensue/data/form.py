"""The form in which events came in, so that detections can leave in the same one."""

from typing import Literal

from ensue.records import dataclass

Kind = Literal["arrow", "pandas", "polars", "rows"]


@dataclass(frozen=True)
class Form:
    """`kind` is that of a table ("rows" is a list of dicts); `by_type` says that there was one table for each type."""

    kind: Kind = "arrow"
    by_type: bool = False
