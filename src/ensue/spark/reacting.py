"""Reactions to detections of a stream: a function for `foreachBatch` that calls the actions of the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data import DataError
from ensue.engine.batch import Batch, Columns, rows_of
from ensue.engine.run import places_of
from ensue.live.detections import Shown
from ensue.live.reactions import Action, ActionError, Calls, Reactions, check_actions
from ensue.rules import Rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Reacting:
    """Calls actions for the detections of each micro-batch, in the order of time, in the driver's process.

    Spark runs a batch again that was not committed, so an action is called at least once for each detection; those
    that take a keyword `key` get the same one again. An exception of an action is logged and noted in `failures`, and
    the other actions are called; with `strict` it ends the query after that, so that Spark runs the batch again.
    """

    def __init__(
        self, program: Rules, actions: Mapping[str, Action], tables: Mapping[str, Sequence[tuple[Any, ...]]],
        strict: bool,
    ) -> None:  # fmt: skip
        check_actions(program.typed.reactions, actions, exactly=True)
        for reaction in program.typed.reactions:
            event = reaction.atom.event
            if not program.typed.events[event].derived:
                raise DataError(
                    f"The rules react to {event!r}, which is given and not derived: on Spark only what is found comes "
                    f"back. Derive an event from it, as in `seen(id) <- {event}(id).`, and react to that."
                )
        self._program = program
        self._actions = actions
        self._tables = tables
        self._strict = strict
        self._calls = Calls()

    @property
    def failures(self) -> tuple[ActionError, ...]:
        """The last 1000 failures of actions."""
        return tuple(self._calls.failures)

    @property
    def failed(self) -> int:
        """Number of failed calls."""
        return self._calls.failed

    def __call__(self, found: DataFrame, batch: int) -> None:
        table = found.toArrow()
        if not table.num_rows:
            return
        time = table.schema.field("end").type
        timestamps = pa.types.is_timestamp(time)
        program = self._program
        rules = program.typed_for_timestamps if timestamps else program.typed
        shown = Shown(rules.events, timestamps, time.tz if timestamps else None, False)
        reactions = Reactions(rules, self._actions, self._tables, shown)
        made = Batch(places_of(rules), rules.events)
        events = []
        for name in reactions.by_type:
            own = table.filter(pc.equal(table.column("type"), name))
            events += [
                made.derived_event(row) for row in rows_of(name, _columns(own, rules.events[name]), rules.events)
            ]
        before = self._calls.failed
        reactions.add_calls(events, self._calls, {})
        self._calls.run()
        if self._strict and self._calls.failed > before:
            raise self._calls.failures[-1]


def _columns(table: pa.Table, event: Any) -> Columns:
    """Detections of one type as the engine has them: times and timestamps are integers there."""
    attributes = {name: _engine_column(table.column(name)) for name in event.attributes}
    start, end = (table.column(name).cast(pa.int64()).to_numpy() for name in ("start", "end"))
    return Columns(start, end, attributes)


def _engine_column(column: pa.ChunkedArray) -> pa.Array:
    type_ = column.type
    if pa.types.is_timestamp(type_):
        column = column.cast(pa.int64())
    elif pa.types.is_list(type_) and pa.types.is_timestamp(type_.value_type):
        column = column.cast(pa.list_(pa.int64()))
    return column.combine_chunks()
