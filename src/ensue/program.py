"""A compiled program: what people call.

What only detection needs is imported when something is to be detected, so that rules are checked at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensue.data.columns import Columns
from ensue.data.errors import BadRow, DataError, bad_rows_said
from ensue.data.moments import Length, Moment, check_lateness, is_timestamp, written_length
from ensue.data.spark_frames import spark_frames
from ensue.errors import BadRowsWarning, EmptyAttributeWarning, NoEffectWarning, UnusedTypeWarning
from ensue.language import typed
from ensue.language.diagnostics import Diagnostic, Report
from ensue.language.parse import parse
from ensue.plan.notes import note_changed, note_kept
from ensue.rules import DEFAULT_ENGINE, ENGINES, Rules, check_compiled, source_of
from ensue.temporal.check import check

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Events
    from ensue.data.spark_frames import Frames
    from ensue.engine.parquet import PlainParquet
    from ensue.explain import Explanation
    from ensue.live.session import Session
    from ensue.spark.reacting import Reacting

USUAL_COLUMNS = Columns()


def compile(rules: str | Path, name: str | None = None) -> Program:
    """Reads and checks rules: a text, or the path of a file (a `Path`, or a string that ends with ``.ensue``).

    Raises `RuleError` with everything that is wrong.

    >>> program = compile("event order(id: int).  late(id) <- o: order(id), w: extend(o, 6).")
    >>> program.detect([{"type": "order", "time": 3, "id": 42}], until=10)
    [{'type': 'late', 'start': 3, 'end': 9, 'id': 42}]
    """
    return Program.checked(source_of(rules, name))


def check_rules(rules: str | Path, name: str | None = None) -> tuple[Diagnostic, ...]:
    """Everything there is to say about rules: errors, warnings and notes; nothing is raised for them.

    >>> [d.code for d in check_rules("event b(y: int).  a(x) <- b(y).")]
    ['E105']
    """
    source = source_of(rules, name)
    report = Report(source)
    program = check(parse(source, report), report)
    if not report.failed:
        note_kept(program, report)
        note_changed(program, report)
    return report.sorted()


class Program(Rules):
    """Rules that have been checked and can be run."""

    def detect(
        self,
        events: Any,
        until: int | str | date | None = None,
        *,
        time: str | None = None,
        start: str | None = None,
        end: str | None = None,
        type: str | None = None,
        sequence: str | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        strict: bool = False,
        on_bad_row: Callable[[BadRow], None] | None = None,
        engine: str = DEFAULT_ENGINE,
        provenance: bool = False,
        compiled: bool | None = None,
        lateness: Length = 0,
        keep: Length | None = None,
        slices: int | None = None,
        rejected: bool = False,
        buckets: int | None = None,
        heartbeat: Length | None = None,
    ) -> Any:
        """Finds what the rules describe, and gives it back in the form that the events came in.

        `events` is an Arrow table or anything with the Arrow C stream interface, a pandas or Polars frame, a path or
        glob of ``.parquet``, ``.csv`` or ``.jsonl`` files, an iterable of dicts, or a dict of these by event type.

        `until` is the end of time seen, if it is not the last end among the events. `time`, or `start` and `end`,
        `type` and `sequence` name the columns; where none is named and events have `start` and `end` as well as `time`,
        `start` and `end` count, and `time` only where both are empty. `tables` hands over rows of static tables by
        name. `emit` picks derived types.

        Rows that cannot be used are left out and warned of; `strict` makes the first an error, and `on_bad_row` is
        called with each instead of the warning.

        With `provenance` each detection has `sources`: the numbers of the rows that it came from, the first being 0.

        `keep` is a largest lifetime, as in `keeping`.

        Rules are compiled where there are many events; `compiled` says so, or not, whatever their number.

        A `RecordBatchReader` or an iterator of Arrow batches is taken in as it comes, so it may be larger than memory:
        what is found comes back as a `RecordBatchReader`. Its events are in the order of their ends, up to `lateness`;
        those that come later still are left out and warned of. Events in all other forms are put in order first, so
        `lateness` has no effect on them.

        Spark frames are evaluated where they are, lazily: the answer is a frame of Spark (``docs/spark.md``). With
        `rejected` it has a last column of that name for rows that cannot be used; `slices` is into how many slices of
        time a key's events are cut, where these are too many for one part.
        """
        from ensue.data.give_back import give_back
        from ensue.live.reactions import check_function
        from ensue.live.streaming import batches_of, detected

        check_lateness(lateness)
        check_compiled(compiled)
        check_function(on_bad_row, "`on_bad_row`")
        if keep is not None:
            return self.keeping(keep).detect(
                events, until, time=time, start=start, end=end, type=type, sequence=sequence, tables=tables, emit=emit,
                strict=strict, on_bad_row=on_bad_row, engine=engine, provenance=provenance, compiled=compiled,
                lateness=lateness, slices=slices, rejected=rejected, buckets=buckets, heartbeat=heartbeat,
            )  # fmt: skip
        frames = spark_frames(events)
        if frames is not None:
            from ensue.spark.options import check_options, check_stream_options

            columns = Columns(time, start, end, type, sequence)
            if any(frame.isStreaming for frame in frames.values()):
                check_stream_options(on_bad_row is not None, engine, provenance, slices)
                return self._detect_on_stream(
                    frames, until, columns, tables, emit, compiled, strict, rejected, lateness, buckets, heartbeat
                )
            check_options(on_bad_row is not None, engine, provenance, lateness, slices, buckets, heartbeat)
            return self._detect_on_spark(frames, until, columns, tables, emit, compiled, slices, strict, rejected)
        for name, given in {"rejected": rejected, "slices": slices, "buckets": buckets, "heartbeat": heartbeat}.items():
            if given is not None and given is not False:
                raise DataError(
                    f"`{name}` is for Spark frames. Here rows that cannot be used are handed to `on_bad_row`, and all "
                    "events are evaluated in one part."
                )
        batches, events = batches_of(events)
        if batches is not None and engine == DEFAULT_ENGINE:
            first = next(batches, None)
            program = self if first is None else self.knowing(first.schema)
            session = program.start(
                lateness, time=time, start=start, end=end, type=type, sequence=sequence, tables=tables, emit=emit,
                provenance=provenance, compiled=compiled, on_bad_row=on_bad_row,
            )  # fmt: skip
            return detected(session, batches if first is None else chain([first], batches), until)
        found, read = self.detect_tables(
            events, until, Columns(time, start, end, type, sequence), tables, emit, strict, engine, provenance, compiled
        )
        _report_bad_rows(read, on_bad_row)
        if lateness:
            warnings.warn(
                "`lateness` counts where Arrow batches are taken in as they come. These events were put in order, so "
                "it has no effect.",
                NoEffectWarning,
                stacklevel=2,
            )
        for note in self.unused_types(events) if isinstance(events, Mapping) else ():
            warnings.warn(note, UnusedTypeWarning, stacklevel=2)
        for note in self.empty_attributes(read):
            warnings.warn(note, EmptyAttributeWarning, stacklevel=2)
        return give_back(found, read.form)

    def _detect_on_spark(
        self, frames: Frames, until: Moment | None, columns: Columns, tables: Mapping[str, Any] | None,
        emit: str | Iterable[str] | None, compiled: bool | None, slices: int | None, strict: bool, rejected: bool,
    ) -> Any:  # fmt: skip
        from ensue.data.results import picked
        from ensue.spark.batch import detect_frames

        rows = self.rows_of_tables(tables)
        wanted = picked(self.typed, emit)
        return detect_frames(self, frames, until, columns, rows, wanted, compiled, slices, strict, rejected)

    def _detect_on_stream(
        self, frames: Frames, until: Moment | None, columns: Columns, tables: Mapping[str, Any] | None,
        emit: str | Iterable[str] | None, compiled: bool | None, strict: bool, rejected: bool, lateness: Length,
        buckets: int | None, heartbeat: Length | None,
    ) -> Any:  # fmt: skip
        from ensue.data.results import picked
        from ensue.spark.streaming import detect_stream

        rows = self.rows_of_tables(tables)
        wanted = picked(self.typed, emit)
        return detect_stream(
            self, frames, until, columns, rows, wanted, compiled, strict, rejected, lateness, buckets, heartbeat
        )

    def detect_tables(
        self,
        events: Any,
        until: int | str | date | None = None,
        columns: Columns = USUAL_COLUMNS,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        strict: bool = False,
        engine: str = DEFAULT_ENGINE,
        provenance: bool = False,
        compiled: bool | None = None,
    ) -> tuple[dict[str, pa.Table], Events]:
        """For other parts of ensue: what `detect` finds as a table for each type, and the events as they were read."""
        from ensue.data.results import picked
        from ensue.engine.mixed import mixed_of
        from ensue.engine.parquet import plain_parquet
        from ensue.engine.tables import detect_mixed

        if engine not in ENGINES:
            raise DataError(f"There is no engine {engine!r}; there is {', '.join(ENGINES)}.")
        wanted = picked(self.typed, emit)
        rows = self.rows_of_tables(tables)
        if engine == DEFAULT_ENGINE and not provenance:
            file = plain_parquet(events, columns, self.typed.events)
            if file is not None and file.large:
                return self._detect_in_pieces(file, until, columns, rows, wanted, compiled)
            source = events if file is None else file.read() if file.only is None else {file.only: file.read()}
            plain = mixed_of(source, columns, self.typed.events)
            if plain is not None:
                self.check_unit(plain.timestamps)
                program = self.typed_for_timestamps if plain.timestamps else self.typed
                moment = self.time_of(until, plain.timestamps)
                found = detect_mixed(program, plain, moment, rows, wanted, compiled)
                return found, plain.read(by_type=isinstance(source, dict))
        return self._detect_after_reading(events, until, columns, rows, wanted, strict, engine, provenance, compiled)

    def _detect_after_reading(
        self, events: Any, until: Moment | None, columns: Columns, rows: dict[str, list[tuple[Any, ...]]],
        wanted: list[str], strict: bool, engine: str, provenance: bool, compiled: bool | None,
    ) -> tuple[dict[str, pa.Table], Events]:  # fmt: skip
        """Detection on events in any form, which are normalised before."""
        program, read, moment = self._read(events, until, columns, strict)
        if provenance:
            from ensue.engine.provenance import detect_sources

            return detect_sources(program, read, moment, rows, wanted), read
        if engine == DEFAULT_ENGINE:
            from ensue.engine.tables import detect_tables

            return detect_tables(program, read, moment, rows, wanted, compiled), read
        from ensue.live.by_reference import detect_tables as reference_tables

        return reference_tables(program, read, moment, rows, wanted), read

    def _read(
        self, events: Any, until: Moment | None, columns: Columns, strict: bool = False
    ) -> tuple[typed.Program, Events, int | None]:
        """Events in any form, normalised; with the program for such times, and the end of time."""
        from ensue.data import read_events

        schema = {
            name: dict(event.attributes) for name, event in self.typed.events.items() if event.declared or event.derived
        }
        instant = {name for name, event in self.typed.events.items() if event.instant}
        derived = {name for name, event in self.typed.events.items() if not event.given}
        read = read_events(
            events, columns, schema, strict=strict, known=set(self.typed.events), instant=instant, derived=derived
        )
        if read.last_end is None and self.typed.unit is None and until is not None and is_timestamp(until):
            read = replace(read, timestamps=True)  # no event says what times are, so this does
        try:
            if read.last_end is not None:
                self.check_unit(read.timestamps)
            moment = self.time_of(until, read.timestamps)
        except DataError as error:
            if not read.bad_count:
                raise
            raise DataError(f"{bad_rows_said(read.bad, read.bad_count)}. {error}") from None  # they may be the cause
        return self.typed_for_timestamps if read.timestamps else self.typed, read, moment

    def _detect_in_pieces(
        self, file: PlainParquet, until: Moment | None, columns: Columns, rows: dict[str, list[tuple[Any, ...]]],
        wanted: list[str], compiled: bool | None,
    ) -> tuple[dict[str, pa.Table], Events]:  # fmt: skip
        """Detection on a file that is not read at once."""
        from ensue.live.arrangement import Settings
        from ensue.live.session import Session
        from ensue.live.streaming import detect_pieces

        settings = Settings(0, columns, rows, tuple(wanted), False, compiled)
        session = Session(self, settings, None, None, None)
        return detect_pieces(session, file, until, wanted)

    def explain(
        self,
        events: Any = None,
        until: int | str | date | None = None,
        *,
        time: str | None = None,
        start: str | None = None,
        end: str | None = None,
        type: str | None = None,
        sequence: str | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        intervals: bool = False,
    ) -> Explanation:
        """How the rules are run, and why: an `Explanation`, which prints as text and has `json()` and `mermaid()`.

        Given events are taken to have one time each, unless `intervals` says that they have a start and an end. With
        `events`, in any form that `detect` takes, it also says what really happens: they are run, and what each part of
        a rule takes, hands on and keeps is counted. The other arguments are those of `detect`.

        >>> program = compile("event a(k: int). event b(k: int). d(k) <- a(k) seq b(k) within 10.")
        >>> print(program.explain())
        Given events are taken to have one time each, and no interval.
        <BLANKLINE>
        d (line 1)
          in a session: handed out at once
          a match takes 10 at most
          match
          │ cost: checks each match
          └ seq
            │ keeps a by k: for 10
            │ streams b: it only matches what came before, so it is not stored
            │ suppresses b: it is not evaluated while nothing of its key waits for it
            │ memory: proportional to the events of 10
            │ cost: for each b: each a of its key
            ├ a(k), takes each a
            └ b(k), takes each b
        <BLANKLINE>
        on Spark
          stage 1, by key: a(k), b(k) → d
        """
        from ensue.data.results import picked
        from ensue.explain import explained
        from ensue.explain.observe import are_instants, observe
        from ensue.rewriting.rates import rates_of

        source, wanted = self.file.source, picked(self.typed, emit)
        if events is None:
            return explained(self.typed, source, wanted, not intervals)
        program, read, moment = self._read(events, until, Columns(time, start, end, type, sequence))
        instants = not intervals and are_instants(read)
        counts = {name: table.num_rows for name, table in read.tables.items()}
        rates = rates_of(program, counts)
        seen = observe(program, read, moment, self.rows_of_tables(tables), wanted, instants, rates)
        return explained(program, source, wanted, instants, seen, sum(counts.values()), rates)

    def start(
        self,
        lateness: Length = 0,
        *,
        time: str | None = None,
        start: str | None = None,
        end: str | None = None,
        type: str | None = None,
        sequence: str | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        actions: Mapping[str, Callable[..., object]] | None = None,
        provenance: bool = False,
        compiled: bool | None = None,
        keep: Length | None = None,
        in_order: bool = False,
        on_late: Callable[[dict[str, Any]], object] | None = None,
        on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> Session:
        """Starts detection on events that are still to come: a `Session`, to which they are sent.

        `lateness` is how much after others that end later an event may come: a number in the unit of the time column,
        a duration such as ``"1h30m"``, or a timedelta. Columns, `tables` and `emit` are those of `detect`.

        `actions` are the functions that reactions of the rules call, by name; without any, reactions do nothing.
        `on_late` is called with each event that came too late, a dict, and `on_bad_row` with each row that cannot be
        used, both instead of a warning. With `provenance` each detection has the positions of the events that it came
        from, counted in the order in which they were sent.

        `keep` is a largest lifetime, as in `keeping`; it goes on when the session is resumed.

        A detection that no later event can change is given at once, others when their step is complete. With `in_order`
        all of them wait for that, and come in the order of their ends.

        Rules are compiled once many events have come in tables; `compiled` says from the first event on, or never.

        >>> program = compile("event order(id: int).  late(id) <- o: order(id), w: extend(o, 6).")
        >>> session = program.start()
        >>> session.send({"type": "order", "time": 3, "id": 42})
        []
        >>> session.advance(10)
        [{'type': 'late', 'start': 3, 'end': 9, 'id': 42}]
        """
        from ensue.data.results import picked
        from ensue.live.arrangement import Settings
        from ensue.live.session import Session

        wanted = None if emit is None else tuple(picked(self.typed, emit))
        columns = Columns(time, start, end, type, sequence)
        kept = None if keep is None else written_length(keep, "`keep`")
        rows = self.rows_of_tables(tables)
        settings = Settings(lateness, columns, rows, wanted, provenance, compiled, keep=kept, in_order=in_order)
        return Session(self, settings, actions, on_late, on_bad_row)

    def resume(
        self,
        state: bytes,
        *,
        actions: Mapping[str, Callable[..., object]] | None = None,
        on_late: Callable[[dict[str, Any]], object] | None = None,
        on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> Session:
        """Goes on with a session where `Session.save` left it, with the same rules.

        Raises `StateError` for what is no state, is damaged, or is of another version or of other rules.
        """
        from ensue.live.session import Session

        return Session.resumed(self, state, actions=actions, on_late=on_late, on_bad_row=on_bad_row)

    def reacting(
        self, actions: Mapping[str, Callable[..., object]], *, tables: Mapping[str, Any] | None = None,
        strict: bool = False,
    ) -> Reacting:  # fmt: skip
        """A function for `foreachBatch` of a Spark stream that does what the rules say: ``on late(id) do notify(id)``.

        `actions` are the functions by the names that the rules call them. They run in the driver's process, at least
        once for each detection; one that takes a keyword `key` is handed the same key again for the same detection.
        What they raise is logged and noted; with `strict` it ends the query, so that the batch comes again.
        """
        from ensue.spark.reacting import Reacting

        return Reacting(self, actions, self.rows_of_tables(tables), strict)


def _report_bad_rows(read: Events, on_bad_row: Callable[[BadRow], None] | None) -> None:
    if not read.bad_count:
        return
    if on_bad_row is not None:
        for row in read.bad:
            on_bad_row(row)
        return
    warnings.warn(bad_rows_said(read.bad, read.bad_count), BadRowsWarning, stacklevel=3)
