"""`ensue.why`: reads events, finds the detections that fit a question, and explains them, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue import detection as detecting
from ensue.data.columns import columns_of
from ensue.data.errors import DataError, describe_by_kind
from ensue.data.moments import Length, Moment, check_length, length_of
from ensue.data.spark_frames import spark_frames
from ensue.language import typed
from ensue.reasons.answer import Detected, Missing
from ensue.reasons.choosing import choose, late_rows, values_there, without_rows
from ensue.reasons.derivations import Derivations
from ensue.reasons.forms import Why
from ensue.reasons.phrases import Phrases
from ensue.reasons.question import Asked, Question, asked_of, nearest, same
from ensue.reasons.refusals import Refusals
from ensue.reasons.study import Study
from ensue.records import dataclass
from ensue.reference.matches import Event
from ensue.request import Request
from ensue.rules import check_program

if TYPE_CHECKING:
    from ensue.data import Events
    from ensue.program import Program

MOST_DETECTIONS = 3
"""Default number of detections that are explained."""
MOST_BAD_LINES = 8
"""Lines about bad rows."""


def why(
    program: Program,
    events: Any,
    detection: Any = None,
    *,
    type: str | None = None,
    at: Moment | None = None,
    key: Mapping[str, Any] | None = None,
    until: Moment | None = None,
    tables: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    keep: Length | None = None,
    lateness: Length | None = None,
    limit: int = MOST_DETECTIONS,
    reading: Mapping[str, Any] | None = None,
    **attributes: Any,
) -> Why:
    """Explain why something was detected in events, or why it was not.

    Ask about one of:

    - `detection`: a row of the result of `detect`
    - `type`: a type of event, with any of its attributes as keywords. If an attribute has the name of an argument, pass
      a dict `key`. `at` is the time at which the event ends, or should end

    If there are such detections, the answer shows the events that the first few (`limit`) came from. If there are none,
    it shows how far each rule came with the events of that key, and what stopped it, the nearest attempts first.

    `events`, `until`, `tables`, `params` and `keep` are those of `Program.detect`. `reading` holds its other arguments
    for reading events, such as ``{"time": "at", "time_unit": "s"}``. With `lateness` events are treated as if you had
    sent them to a session one by one, and those that come too late are reported.

    >>> import ensue
    >>> program = ensue.compile('''event order(id: int). event shipped(id: int).
    ... overdue(id) <- o: order(id), w: extend(o, 6), while [w]: not shipped(id).''')
    >>> events = [{"type": "order", "time": 3, "id": 42}, {"type": "order", "time": 4, "id": 7},
    ...           {"type": "shipped", "time": 8, "id": 7}, {"type": "order", "time": 20, "id": 8}]
    >>> print(ensue.why(program, events, type="overdue", id=42))
    overdue(id=42) @ 3 – 9
      rule for overdue (<rules>:2)
            3  • o: order(id=42)
        3 – 9  ┄ w: extend(o, 6)
        3 – 9  ∅ no shipped(id=42) came in [w]
    >>> print(ensue.why(program, events, type="overdue", id=7))
    There is no overdue(id=7).
      rule for overdue (<rules>:2)
        ✗ shipped(id=7) @ 8 came in [w], 4 – 10
               4  • o: order(id=7)
          4 – 10  ┄ w: extend(o, 6)
    """
    check_program(program, "why")
    program = program if params is None else program.with_params(params)
    program = program if keep is None else program.keeping(keep)
    request = Request(until, columns_of(**_columns(reading)), tables)
    return answer(program, events, request, detection, type, at, {**(key or {}), **attributes}, lateness, limit)


def answer(
    program: Program, events: Any, request: Request, detection: Any, type_: str | None, at: Moment | None,
    key: Mapping[str, Any], lateness: Length | None, limit: int,
) -> Why:  # fmt: skip
    """For other parts of ensue: the answer of `why` to a request."""
    program.check_parameters()
    asked = asked_of(program.typed, detection, type_, at, key)
    if lateness is not None:
        check_length(lateness, "The lateness")
    frames = spark_frames(events)
    if frames is not None:
        from ensue.reasons.on_spark import fetched

        events, request = fetched(program, frames, request, asked)
    return _Case.of(program, events, request, asked, lateness).answer(limit)


def _columns(reading: Mapping[str, Any] | None) -> dict[str, Any]:
    names = {
        "time", "start", "end", "type", "sequence", "time_unit", "time_format", "timezone", "year", "columns", "lines",
        "separator", "file_name",
    }  # fmt: skip
    for name in reading or {}:
        if name not in names:
            raise DataError(f"`reading` has no {name!r}: it takes {', '.join(sorted(names))}, as `detect` does.")
    return {**dict.fromkeys(("time", "start", "end", "type", "sequence")), **(reading or {})}


@dataclass(frozen=True)
class _Case:
    """A question on events that have been read."""

    rules: Program
    program: typed.Program
    events: Events
    phrases: Phrases
    question: Question
    horizon: int | None
    lateness: int | None
    tables: Mapping[str, Any]

    @classmethod
    def of(cls, rules: Program, events: Any, request: Request, asked: Asked, lateness: Length | None) -> _Case:
        _, read, moment = detecting.read_events_for(rules, events, request)
        known = rules.knowing({name: table.schema for name, table in read.tables.items()})
        program = known.typed_for_timestamps if read.timestamps else known.typed
        late = None if lateness is None else length_of(lateness, program.unit, read.timestamps, "`lateness`")
        return cls(
            rules, program, read, Phrases(program, read.timestamps, read.timezone), asked.on(program, read.timestamps),
            moment if moment is not None else read.last_end, late, rules.rows_of_tables(request.tables),
        )  # fmt: skip

    def answer(self, limit: int) -> Why:
        """Explain the detections that fit, or why none does."""
        question = self.question
        shown = self.phrases.event(question.type, question.key)
        if question.at is not None:
            shown += f" @ {self.phrases.span(question.at if question.start is None else question.start, question.at)}"
        why = Why(question.type, _plain(question.key), shown)
        if self.horizon is None:
            return replace(why, missing=Missing(shown), notes=("There are no events.", *self._bad_rows()))
        found = self._detections()
        if found:
            explained = tuple(self._explained(*each) for each in found[:limit])
            return replace(why, found=explained, more=max(len(found) - limit, 0))
        study = self._study(question.key, self.horizon)
        missing = Refusals(study).of(question.type, question.key, question.at)
        attempts = [attempt for tried in missing.rules for attempt in tried.attempts] if missing is not None else []
        lacks = all(any(stop.kind in ("missing", "different") for stop in attempt.stops) for attempt in attempts)
        not_there = self._not_there() if lacks else []
        return replace(why, missing=missing, notes=(*not_there, *self._elsewhere(), *self._bad_rows()))

    def _detections(self, *, anywhere: bool = False) -> list[tuple[dict[str, Any], int, int]]:
        """The detections that fit: attributes, start and end. With `anywhere` their times do not matter."""
        from ensue.engine.tables import detect_tables

        seen = self.events
        if self.lateness is not None:
            seen = without_rows(seen, {row for row, _ in late_rows(seen, self.lateness, self.phrases)})
        table = detect_tables(self.program, seen, self.horizon, self.tables, [self.question.type])[self.question.type]
        names = table.column_names[2:]
        columns = {name: _values(column) for name, column in zip(names, table.columns[2:], strict=True)}
        starts, ends = (_values(table.column(index)) for index in (0, 1))
        return [
            ({name: columns[name][place] for name in names}, starts[place], ends[place])
            for place in range(table.num_rows)
            if (anywhere or self.question.asks_for(starts[place], ends[place]))
            and all(same(columns[name][place], value) for name, value in self.question.key.items())
        ]

    def _explained(self, attributes: dict[str, Any], start: int, end: int) -> Detected:
        study = self._study(attributes, end)
        for event in study.derived:
            if (event.type, event.start, event.end) == (self.question.type, start, end) and all(
                same(value, event.attributes.get(name)) for name, value in attributes.items()
            ):
                return Derivations(study).of(event)
        event = Event(self.question.type, attributes, start, end, (), frozenset())
        return Detected(study.shown(event), (), -2)

    def _study(self, key: Mapping[str, Any], horizon: int) -> Study:
        chosen = choose(self.program, self.events, self.phrases, self.question.type, key, horizon, self.lateness)
        return Study(self.program, self.rules.file.source, self.phrases, chosen, self.tables)

    # --- notes

    def _not_there(self) -> list[str]:
        """Requested values that no event has, with the nearest existing ones."""
        notes = []
        types = self.program.events[self.question.type].attributes
        for name, value in self.question.key.items():
            there = values_there(self.program, self.events, self.question.type, name, value)
            if there is not None:
                near = [self.phrases.value(each, types[name]) for each in nearest(value, there)]
                shown = f" Nearest: {', '.join(near)}." if near else ""
                notes.append(f"No event has {name}={self.phrases.value(value, types[name])}.{shown}")
        return notes

    def _elsewhere(self) -> list[str]:
        """Detections with the requested attributes that end at another time."""
        if self.question.at is None:
            return []
        found = [self.phrases.span(start, end) for _, start, end in self._detections(anywhere=True)]
        if not found:
            return []
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        return [f"There is {self.phrases.event(self.question.type, self.question.key)} at another time: {shown}."]

    def _bad_rows(self) -> list[str]:
        """Rows that were left out, which may be the cause."""
        if not self.events.bad_count:
            return []
        lines = describe_by_kind(self.events.bad, self.events.bad_count)
        number = self.events.bad_count
        count = "1 row was left out, because it" if number == 1 else f"{number:,} rows were left out, because they"
        more = ["…"] if len(lines) > MOST_BAD_LINES else []
        return [f"{count} cannot be used:", *lines[:MOST_BAD_LINES], *more]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column as rules hold them."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    found = column.to_pylist()
    return [tuple(value) if isinstance(value, list) else value for value in found]


def _plain(key: Mapping[str, Any]) -> dict[str, Any]:
    return dict(key)
