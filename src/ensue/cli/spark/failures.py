"""Errors of Spark as one sentence: ours where a worker raised it, else the first of Spark's."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

OURS = ("StateError", "DataError", "DetectError", "RuleError")
"""The errors of ensue's that workers raise."""

OTHER_STAGES = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
"""Spark's error class where a checkpoint has other stateful operators than a query."""

_RAISED = re.compile(
    rf"^[\w.]*\.(?:{'|'.join(OURS)}): (.*?)(?=\n\s*\n|\n\s+at |\n===|\s+SQLSTATE: |\n[\w.$]+(?:Error|Exception)\b|\Z)",
    re.M | re.S,
)
_RAISED_IN_SQL = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE: \w+|\n|\Z)", re.S)
_CONDITION = re.compile(r"\[[A-Z_.0-9]+\] ")
_STATE = re.compile(r"\.? SQLSTATE: \w+")
_CAUSE = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Error|Exception): (?!\s)(.+)$", re.M)


@contextmanager
def spark_failures() -> Iterator[None]:
    """Turns errors of Spark's into a `DataError` of one sentence; ENSUE_TRACEBACK=1 shows them whole as well."""
    from ensue.data import DataError
    from ensue.engine.state import StateError

    try:
        yield
    except Exception as error:
        if not isinstance(error, StateError) and type(error).__module__.split(".")[0] not in ("pyspark", "py4j"):
            raise
        if os.environ.get("ENSUE_TRACEBACK"):
            traceback.print_exc()
        raise DataError(sentence_of(str(error))) from None


def sentence_of(message: str) -> str:
    r"""The sentence in a message of Spark.

    >>> sentence_of("Query [id = 1] terminated with exception: Job aborted.\n  File x\n"
    ...             "ensue.engine.state.StateError: The checkpoint has 4 buckets.\n\n\tat org.apache.spark.A(B.java)")
    'The checkpoint has 4 buckets.'
    >>> sentence_of("ensue.engine.state.StateError: The checkpoint has 4\n buckets. SQLSTATE: 38000 SQLSTATE: XXKST\n"
    ...             "=== Streaming Query ===\nIdentifier: [id = 1]")
    'The checkpoint has 4 buckets.'
    >>> sentence_of("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03\n\tat org.apache.spark")
    'Spark: Path does not exist: file:/x'
    """
    ours = _RAISED.search(message) or _RAISED_IN_SQL.search(message)
    if ours is not None:
        return " ".join(ours[1].split())
    if OTHER_STAGES in message:
        return (
            "The checkpoint was written by rules of other stages, as there are where rules have other keys. Go on with "
            "the rules that it was written with, or start with a new checkpoint."
        )
    causes = _CAUSE.findall(message)
    first = causes[-1] if causes else next((line for line in message.splitlines() if line.strip()), "it failed")
    return "Spark: " + _STATE.split(_CONDITION.sub("", first).strip())[0]
