"""A session: detection while events arrive. This is the public class; the rest of `ensue.live` does the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from threading import RLock
from types import TracebackType
from typing import Any

import pyarrow as pa

from ensue.data import BadRow, DataError, Form
from ensue.data.errors import did_you_mean, listed, shortened
from ensue.data.moments import Moment, is_timestamp, moment_of
from ensue.engine.batch import Batch, Row
from ensue.engine.event import Event
from ensue.engine.rule_groups import FamilyAssignment
from ensue.engine.run import Run
from ensue.engine.sizes import Size
from ensue.engine.state import StateError, seal, unseal
from ensue.errors import LimitError
from ensue.live.arrangement import Arrangement, Settings
from ensue.live.change import with_statements, without_rule
from ensue.live.guard import SessionError, Uninterrupted, alone
from ensue.live.notices import Notices
from ensue.live.owed import Owed, plain, restored
from ensue.live.progress import Progress
from ensue.live.reactions import Action, ActionError, Calls, check_actions
from ensue.live.sent import ROWS, Sent
from ensue.live.tables import Tables
from ensue.request import check_function
from ensue.rules import Rules

CLOSED = "The session is closed; start another one."
CHANGED = (
    "While these events were read, the session took in others or changed its rules, so they were not taken in. Read "
    "them first, as in `session.send(list(events))`."
)


class Session:
    """Detection while events arrive; `Program.start` makes one, and `docs/sessions.md` explains its time.

    >>> import ensue
    >>> program = ensue.compile("event a(x: int). event b(x: int).  both(x) <- a(x) seq b(x).")
    >>> session = program.start()
    >>> session.send({"type": "a", "time": 1, "x": 5})
    []
    >>> session.send({"type": "b", "time": 2, "x": 5})
    [{'type': 'both', 'start': 1, 'end': 2, 'x': 5}]
    """

    def __init__(
        self, program: Rules, settings: Settings, actions: Mapping[str, Action] | None = None,
        on_late: Callable[[dict[str, Any]], object] | None = None, on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> None:  # fmt: skip
        program.check_parameters()
        check_actions(program.typed.reactions, actions, exactly=True)
        check_function(on_late, "`on_late`")
        check_function(on_bad_row, "`on_bad_row`")
        self.lock = RLock()
        """One thread after the other uses a session; functions that it calls may use it, too."""
        self._calls = Calls()
        self._owed = Owed()
        self._whole = Uninterrupted()
        self._callbacks: dict[str, list[Action]] = {}
        self._notices = Notices(self._calls, on_late, on_bad_row)
        self._progress = Progress()
        self._form = ROWS
        self.ahead = 0
        """Number of events that were too far ahead of the clock (`max_ahead`), and left out."""
        self._ended: str | None = None
        self._until: Moment | None = None
        self._tables = Tables(self._check_open, lambda: self._arranged, self.lock)
        self._arrange(Arrangement(program, settings, actions))

    # --- what comes in

    def send(self, events: Any) -> Any:
        """Takes in events and returns new detections, in the form in which the events came.

        One event is a dict. Several are an iterable of dicts, a table (Arrow, pandas, Polars), or a dict of these by
        event type. An empty dict is not an event.

        A detection that no later event can change is returned at once. Others are returned when all events of their
        moment have come: see `lateness` and `in_order` of `Program.start`.
        """
        with self.lock:
            if self._ended is not None:
                raise SessionError(self._ended)
            if self._tables.changed:
                self._settle_tables()
            if type(events) is dict:
                row = self._plain(events, self._progress.received)
                if row is not None:
                    return self._send_row(row, events)
            nothing = isinstance(events, Mapping) and not events
            sent = None if nothing else self._read(events)
            undecided = self._arranged.timestamps is None
            with self._whole:
                if sent is not None:
                    self._take(sent)
                    if undecided:
                        self._note_plain_lengths()
                self._find(self._progress.evaluate_complete)
            if self._notices.warnings:
                self._notices.warn(stacklevel=2)
            if not self._owed and not self._calls.waiting and self._form is ROWS:
                return []
            return self._answer()

    def _send_row(self, row: Row, event: dict[str, Any]) -> Any:
        """The same for one event that was read: most of what can be asked for is not, and costs nothing here."""
        progress = self._progress
        with self._whole:
            self._form = ROWS
            if self._clock is not None and row[3] > self._clock.latest():
                progress.received += 1
                self._leave_ahead([row[5]])
            elif not progress.take_row(row, row[0] in self._events):
                self._notices.late([event], self.time)
            run = progress.run
            assert run is not None
            run.lasts = True
            try:
                batch = progress.evaluate_complete()
            except BaseException as error:
                self._fail(error)
                raise
            if batch is not None or run.exceeded:
                self._note(run, batch)
        if self._notices.warnings:
            self._notices.warn(stacklevel=3)
        return self._answer() if self._owed.found or self._calls.waiting else []

    @alone
    def advance(self, time: Moment) -> Any:
        """Declares that all events up to a time have come: evaluates up to then, and returns new detections.

        So an absence is found when its deadline passes, whether or not an event comes. The time is a number, a
        datetime, or text, as `until` of `Program.detect`. The form is that of the last events sent.
        """
        self._check_open()
        self._settle_tables()
        moment = self._moment(time)
        with self._whole:
            self._find(partial(self._progress.evaluate, moment))
        self._notices.warn(stacklevel=3)
        return self._answer()

    @alone
    def close(self, until: Moment | None = None) -> Any:
        """Evaluates all waiting events and returns new detections: time runs to the last end seen, or to `until`.

        A closed session takes no more events. Closing it again does nothing.
        """
        if self._ended is not None:
            return self._answer()
        self._settle_tables()
        moment = self._progress.largest if until is None else self._moment(until)
        with self._whole:
            self._find(lambda: None if moment is None else self._progress.evaluate(moment))
            self._ended = CLOSED
            if self._progress.run is not None:
                self._progress.run.end()
        return self._answer()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the session; after an error without evaluating waiting events, as more may have been on their way."""
        if kind is None:
            self.close()
        else:
            self._ended = self._ended or CLOSED

    # --- what is called

    @alone
    def on(self, event: str, function: Callable[[dict[str, Any]], object]) -> None:
        """Registers a function that is called with each detection of a type, a dict, as it is found."""
        names = [name for name, type_ in self._events.items() if type_.derived]
        if event not in names:
            raise DataError(f"No rule derives {event!r}; there is {listed(names)}.{did_you_mean(event, names)}")
        if not callable(function):
            raise DataError(f"What to call for {event!r} is {shortened(function)}, not a function.")
        self._callbacks.setdefault(event, []).append(function)

    @property
    def failures(self) -> tuple[ActionError, ...]:
        """The last 1000 failures of functions that were called."""
        return tuple(self._calls.failures)

    @property
    def failed(self) -> int:
        """Number of failed calls."""
        return self._calls.failed

    # --- for detection on what is read in pieces

    @property
    def no_detections(self) -> pa.Table:
        """For other parts of ensue: the table of all detections, empty."""
        return self._arranged.no_detections

    @property
    def progress(self) -> Progress:
        """For other parts of ensue: how far evaluation is."""
        return self._progress

    @property
    def timestamps(self) -> bool:
        """For other parts of ensue: whether times are timestamps."""
        return bool(self._arranged.timestamps)

    @property
    def timezone(self) -> str | None:
        """For other parts of ensue: the zone in which timestamps are given back."""
        return self._arranged.timezone

    def stop_at(self, until: Moment | None) -> None:
        """Sets the end of time, before any event is sent: events that end later do not count."""
        self._until = until

    def send_by_type(self, events: Any) -> dict[str, pa.Table]:
        """For other parts of ensue: as `send`, but the answer is a table for each type."""
        self._take(self._arranged.reading.read(events, self._progress.received))
        batch = self._evaluated(self._progress.evaluate_complete)
        self._tell(stacklevel=3)
        return self._arranged.shown.tables(batch, self._wanted)

    def step_by_type(self, events: Any, time: int) -> dict[str, pa.Table]:
        """For other parts of ensue: takes in events, if there are any, and evaluates up to a time of the engine."""
        if events is not None:
            self._take(self._arranged.reading.read(events, self._progress.received))
        batch = self._evaluated(partial(self._progress.evaluate, time))
        self._tell(stacklevel=3)
        return self._arranged.shown.tables(batch, self._wanted)

    def begin(self, timestamps: bool, timezone: str | None) -> None:
        """For other parts of ensue: sets the kind of times, where perhaps no event comes to decide it."""
        if self._arranged.timestamps is None:
            self._decide(timestamps, timezone)

    def close_by_type(self, until: Moment | None) -> dict[str, pa.Table]:
        """For other parts of ensue: as `close`, but the answer is a table for each type."""
        moment = self._progress.largest if until is None else self._moment(until)
        batch = None if moment is None else self._evaluated(partial(self._progress.evaluate, moment))
        self._ended = CLOSED
        return self._arranged.shown.tables(batch, self._wanted)

    # --- how far it is

    @property
    def time(self) -> int | datetime | None:
        """Time up to which events have been evaluated; None as long as it has not begun."""
        time: Any = self._progress.time
        return None if time is None else self._arranged.shown.moment(time)

    @property
    def received(self) -> int:
        """Number of rows that were sent, bad and late ones too."""
        return self._progress.received

    @property
    def waiting(self) -> int:
        """Number of events that wait for their time to be complete."""
        return self._progress.waiting.count

    @property
    def late(self) -> int:
        """Number of events that came too late."""
        return self._progress.late

    @alone
    def sizes(self) -> list[Size]:
        """Numbers of keys and tuples that each part of the rules keeps, beside the events that wait."""
        return [] if self._progress.run is None else self._progress.run.sizes()

    @property
    def suppressed(self) -> dict[str, int]:
        """Numbers of events that rules with `once` or `at most` suppressed, by the rule's name or its event.

        >>> import ensue
        >>> program = ensue.compile("event a(x: int).  rule calm: b(x) <- a(x) once per x in 10.")
        >>> session = program.start()
        >>> found = session.send([{"type": "a", "time": time, "x": 1} for time in (1, 5, 10, 11, 12)])
        >>> [row["end"] for row in found], session.advance(13), session.suppressed
        ([1, 11], [], {'calm': 3})
        """
        return self.program.suppressed_by_name(self.suppressed_by_number())

    def suppressed_by_number(self) -> dict[int, int]:
        """For other parts of ensue: the same by the numbers of rules."""
        return {} if self._progress.run is None else self._progress.run.suppressed()

    @property
    def program(self) -> Rules:
        """The rules as they are now."""
        return self._arranged.program

    @property
    def rules(self) -> str:
        """The text of the rules as they are now."""
        return self.program.file.source.text

    def __repr__(self) -> str:
        state = "closed" if self._ended else f"at {self.time}"
        return f"<ensue.Session {state}: {self.received} received, {self.waiting} waiting, {self.late} late>"

    # --- facts that change

    @property
    def tables(self) -> Tables:
        """The tables that the rules declare, by name. Their rows can be added, replaced and removed.

        Returned detections stay. Evaluations after a change see the new rows, and so do the events that wait.

        >>> import ensue
        >>> program = ensue.compile("event a(x: int). table vip(x: int).  seen(x) <- a(x) where vip(x).")
        >>> session = program.start(tables={"vip": [(1,)]})
        >>> session.tables["vip"].add([(2,), (3,)])
        2
        >>> session.send([{"type": "a", "time": 1, "x": 2}, {"type": "a", "time": 2, "x": 4}])
        [{'type': 'seen', 'start': 1, 'end': 1, 'x': 2}]
        """
        return self._tables

    def _settle_tables(self) -> None:
        """Let the next evaluation see the tables as they are."""
        if self._tables.changed:
            with self._whole:
                settings = self._arranged.settings.with_tables(self._tables.settled())
                self._evaluated(partial(self._know, settings))

    def _know(self, settings: Settings) -> None:
        self._arrange(replace(self._arranged, settings=settings))
        self._progress.know(self._arranged.rules, settings.tables)

    # --- rules that change

    @alone
    def add(self, statements: str) -> None:
        """Adds statements to the rules: rules, events, tables, facts, reactions.

        All is checked as a whole; an error raises `RuleError`, and nothing changes. Rules that were there keep their
        state; a new one sees the events whose time has not been evaluated yet.
        """
        self._change(with_statements(self.program, statements))

    @alone
    def remove(self, rule: str) -> None:
        """Removes the rule of a name (``rule late: …``)."""
        self._change(without_rule(self.program, rule))

    def _change(self, program: Rules) -> None:
        self._check_open()
        self._settle_tables()
        with self._whole:
            self._change_rules(program)

    def _change_rules(self, program: Rules) -> None:
        self._progress.go_back()
        old = self._progress.run
        settings = self._arranged.settings.with_facts(self.program.typed, program.typed)
        after = replace(self._arranged, program=program, settings=settings)
        check_actions(program.typed.reactions, after.actions, exactly=False)
        run = None if old is None else after.run(old.decided)
        if old is not None and run is not None:
            after.wanted  # noqa: B018 (raises where it cannot be)
            run.take_over(old, self._progress.time)
        self._arrange(after)
        self._tables.forget()
        if run is not None:
            self._progress.begin(run, after.lateness, after.certain)

    # --- state

    @alone
    def save(self) -> bytes:
        """The state of the session as bytes, to continue from here with `Program.resume`.

        Functions are not part of it: pass them again. Their outstanding calls are, and detections that had not been
        returned.
        """
        self._check_open()
        self._settle_tables()
        with self._whole:
            state = {"settings": self._arranged.settings.saved(), **self.state()}
        todo = [todo.kept for todo in self._calls.waiting if todo.kept is not None]
        state["calls"] = [[what, plain(event), number, key] for what, event, number, key in todo]
        state["owed"] = self._owed.saved(self._wanted)
        return seal(state, self.program.fingerprint)

    def state(self) -> dict[str, Any]:
        """For other parts of ensue: the state of the session, without its settings, as plain values and arrays."""
        self._check_open()
        return {
            "timestamps": self._arranged.timestamps,
            "timezone": self._arranged.timezone,
            "form": (self._form.kind, self._form.by_type),
            "ahead": self.ahead,
            "progress": self._progress.saved(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """For other parts of ensue: continues from the state of another session of the same rules."""
        try:
            self._form = Form(*state["form"])
            self.ahead = state.get("ahead", 0)
            if state["timestamps"] is not None:
                saved = state["progress"]["decided"]
                decided = None if saved is None else FamilyAssignment.restored(saved)
                self._decide(state["timestamps"], state["timezone"], decided)
            self._progress.restore(state["progress"])
            self._restore_calls(state)
        except StateError:
            raise
        except Exception as error:
            raise StateError("The state is damaged, so it cannot be resumed; use another copy of it.") from error

    def _restore_calls(self, state: Mapping[str, Any]) -> None:
        run = self._progress.run
        if run is not None:
            self._owed.restore(state.get("owed", ()), run.batch)
            for what, event, number, key in state.get("calls", ()):
                kept = (what, restored(event, run.batch()), number, key)
                self._arranged.reactions.add_again(kept, self._calls, self._callbacks)

    def take_over(self, other: Session) -> None:
        """For other parts of ensue: continues from a session of other rules; rules that both have keep their state."""
        old, arranged = other.progress.run, other._arranged
        if old is None or arranged.timestamps is None:
            return
        self.begin(arranged.timestamps, arranged.timezone)
        run = self._arranged.run(old.decided)
        run.take_over(old, other.progress.time)
        self._progress.begin(run, self._arranged.lateness, self._arranged.certain)
        self._progress.continue_from(other.progress)

    @classmethod
    def resumed(cls, program: Rules, data: bytes, **functions: Any) -> Session:
        """For other parts of ensue, behind `Program.resume`: a session that continues where one was saved."""
        check_actions(program.typed.reactions, functions["actions"], exactly=True)
        state = unseal(data, program.fingerprint)
        try:
            session = cls(program, Settings.restored(state["settings"]), **functions)
        except Exception as error:
            raise StateError("The state is damaged, so it cannot be resumed; use another copy of it.") from error
        session.restore(state)
        return session

    # --- inside

    def _check_open(self) -> None:
        if self._ended is not None:
            raise SessionError(self._ended)

    def _arrange(self, arranged: Arrangement) -> None:
        self._wanted, reactions = arranged.wanted, arranged.reactions
        self._reacting = self._progress.told = frozenset(reactions.by_type)
        self._plain = arranged.reading.plain
        self._events = arranged.rules.events
        self._clock = arranged.wall_clock
        self._arranged = arranged

    def _decide(self, timestamps: bool, timezone: str | None, decided: FamilyAssignment | None = None) -> None:
        """Fixes the time unit from the first events, and begins."""
        arranged = replace(self._arranged, timestamps=timestamps, timezone=timezone)
        run, lateness = arranged.run(decided), arranged.lateness
        self._arrange(arranged)
        self._progress.begin(run, lateness, arranged.certain)
        if self._until is not None:
            self._progress.limit = moment_of(self._until, self.program.typed.unit, timestamps)

    def _read(self, events: Any) -> Sent:
        """Reads sent events; an iterable may run any code, which may use this session."""
        arranged, received = self._arranged, self._progress.received
        sent = arranged.reading.read(events, received)
        self._check_open()
        now = self._arranged
        if (self._progress.received, now.timestamps) != (received, arranged.timestamps) or (
            now.program is not arranged.program
        ):
            raise SessionError(CHANGED)
        return sent

    def _take(self, sent: Sent) -> None:
        """Takes in sent events. If they are rejected, nothing has changed."""
        if sent.form.kind != "rows" and not sent.form.by_type:
            self._arranged.no_detections  # noqa: B018 (refuses what one table cannot hold)
        if sent.timestamps is not None and self._arranged.timestamps is None:
            self._decide(sent.timestamps, sent.timezone)
        elif self._arranged.timestamps and self._arranged.timezone is None and sent.timezone is not None:
            self._arrange(replace(self._arranged, timezone=sent.timezone))
        if self._clock is not None:
            self._leave_ahead(sent.leave_out_after(self._clock.latest()))
        self._form = sent.form
        position = self._progress.received
        late = self._progress.take(sent, self._events)
        if late:
            if sent.originals:
                events = [dict(sent.originals[row[5] - position]) for row in late]
            else:
                shown = self._arranged.shown
                events = [shown.given(Event(row[0], row[1], row[2], row[3], (0, None), row[5])) for row in late]
            self._notices.late(events, self.time)
        self._notices.bad(sent.bad, sent.bad_count)

    def _leave_ahead(self, positions: list[int]) -> None:
        """Note rows that end too far ahead of the clock."""
        if positions:
            assert self._clock is not None
            self.ahead += len(positions)
            rows = [BadRow(f"row {position}", self._clock.reason) for position in positions]
            self._notices.bad(rows, len(rows))

    def _tell(self, stacklevel: int) -> None:
        """Report events that took no part."""
        self._notices.warn(stacklevel)
        self._calls.run()

    def _moment(self, written: Moment) -> int:
        """A time to evaluate up to. If no event has come yet, it decides the kind of times."""
        timestamps = self._arranged.timestamps
        if timestamps is None:
            timestamps = is_timestamp(written)
        moment = moment_of(written, self.program.typed.unit, timestamps, "the time")
        if self._progress.time is not None and moment < self._progress.time:
            raise DataError(
                f"Time does not go back: it has been evaluated up to {self.time}, which is after {written!r}."
            )
        if self._arranged.timestamps is None:
            self._decide(timestamps, None)
            self._note_plain_lengths()
        return moment

    def _note_plain_lengths(self) -> None:
        self._notices.plain_lengths(self.program.plain_lengths(bool(self._arranged.timestamps)))

    def _evaluated(self, evaluate: Callable[[], Batch | None]) -> Batch | None:
        """Evaluates, and returns new detections; a failure ends the session, as its state is incomplete then."""
        try:
            return evaluate()
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        self._ended = f"Detection failed ({type(error).__name__}); resume a saved state, or start another session."

    def _find(self, evaluate: Callable[[], Batch | None]) -> None:
        """Evaluate, and note what is to be called and given back for it."""
        run = self._progress.run
        if run is None:
            return
        run.lasts = True
        try:
            batch = evaluate()
        except BaseException as error:
            self._fail(error)
            raise
        if batch is not None or run.exceeded:
            self._note(run, batch)

    def _note(self, run: Run, batch: Batch | None) -> None:
        """Note what was found. That rules have exceeded a limit, and start over, is told when all has been noted."""
        if batch is not None:
            if self._reacting or self._callbacks:
                events = batch.events({*self._reacting, *self._callbacks})
                self._arranged.reactions.add_calls(events, self._calls, self._callbacks)
            self._owed.add(batch)
        if run.exceeded:
            first, *_ = run.exceeded
            run.exceeded = []
            raise LimitError(f"{first} It starts again with an empty state; the session continues.")

    def _answer(self) -> Any:
        """The detections, once all callbacks have been called; if that fails, the next answer has it."""
        if len(self._owed.found) == 1 and self._form is ROWS and not self._calls.waiting:
            return self._owed.give_rows(self._arranged.shown, self._wanted)
        holder = object()
        try:
            found = self._owed.take(holder)
            if self._calls.waiting:
                self._calls.run()
            return self._owed.give(found, self._arranged.shown, self._wanted, self._form)
        except BaseException:
            self._owed.leave(holder)
            raise
