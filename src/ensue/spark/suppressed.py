"""Count suppressed events: those that rules derive and do not keep (``once per id in 1h``).

Each part of a stage counts separately, and the counts add up: a group of such a rule is in one part. They travel as
rows among the detections, of a type that no event has, and are returned in a separate column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data import DataError
from ensue.language import typed
from ensue.request import Request
from ensue.spark.rejected import REJECTED

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SUPPRESSED = "suppressed"
"""The column of counts."""

SUPPRESSED_TYPE = "struct<rule: string, count: bigint>"
"""A rule, by its name or else its event, and how many of its events were not kept."""

COUNT = "`suppressed`"
"""The type of rows that are counts, on their way between stages: no event can have this name."""


def counts_suppressed(rules: typed.Program) -> bool:
    """True if some rule has ``once per`` or ``at most``."""
    return any(rule.quiet is not None for rule in rules.rules)


def with_counts(schema: StructType) -> StructType:
    """The columns of events with the one of counts."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    count = StructType([StructField("rule", StringType()), StructField("count", LongType())])
    return StructType([*schema.fields, StructField(SUPPRESSED, count)])


def new_counts(after: Mapping[str, int], before: Mapping[str, int]) -> pa.Table:
    """Numbers of newly suppressed events, by rule; a rule without any is left out.

    >>> new_counts({"calm": 5, "loud": 2}, {"calm": 3, "loud": 2}).to_pylist()
    [{'rule': 'calm', 'count': 2}]
    """
    found = {rule: count - before.get(rule, 0) for rule, count in after.items() if count != before.get(rule, 0)}
    return pa.table({"rule": pa.array(found.keys(), pa.string()), "count": pa.array(found.values(), pa.int64())})


def count_rows(counts: pa.Table, time: int, schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    """Counts as rows among events. Their time is one that has been evaluated, so that a slice of time takes each."""
    if not counts.num_rows:
        return
    size, names = counts.num_rows, counts.column_names
    structs = pa.StructArray.from_arrays([column.combine_chunks() for column in counts.columns], names)
    known = {
        "type": pa.repeat(pa.scalar(COUNT, pa.string()), size),
        SUPPRESSED: structs,
        **dict.fromkeys(("start", "end"), pa.repeat(pa.scalar(time, pa.int64()), size)),
    }  # fmt: skip
    arrays = [
        known[field.name].cast(field.type) if field.name in known else pa.nulls(size, field.type) for field in schema
    ]
    yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def check_columns(request: Request, attributes: Collection[str]) -> None:
    """Refuse columns of counts and of bad rows that derived events have, too."""
    for name, asked in ((REJECTED, request.rejected), (SUPPRESSED, request.suppressed)):
        if asked and name in attributes:
            raise DataError(f"The rules derive an attribute {name!r}, and with {name}=True a column is called so.")
