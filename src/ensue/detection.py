"""Detection in a finite set of events: choice of the execution, the form of events, and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from ensue.data.columns import Columns, is_path
from ensue.data.errors import DataError, NotTextError, describe_bad_rows
from ensue.data.form import Form
from ensue.data.moments import is_timestamp
from ensue.data.spark_frames import spark_frames
from ensue.engine.limits import limiting
from ensue.errors import (
    BadRowsWarning,
    EmptyAttributeWarning,
    MissingTableWarning,
    NoEffectWarning,
    PlainLengthWarning,
    UnusedTypeWarning,
)
from ensue.language import typed
from ensue.records import dataclass
from ensue.request import DEFAULT_ENGINE, ENGINES, Request
from ensue.rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Events
    from ensue.data.sources import Read
    from ensue.data.spark_frames import Frames
    from ensue.engine.cores import Cores
    from ensue.engine.mixed import Mixed
    from ensue.engine.parquet import PlainParquet

Found = dict[str, "pa.Table"]
"""Detections, as a table for each type."""


def detect(rules: Rules, events: Any, request: Request) -> Any:
    """The answer of `Program.detect`: in the form in which the events came."""
    from ensue.data.give_back import give_back
    from ensue.live.streaming import batches_of

    if request.params is not None:
        rules, request = rules.with_params(request.params), replace(request, params=None)
    rules.check_parameters()
    if request.keep is not None:
        rules, request = rules.keeping(request.keep), replace(request, keep=None)
    frames = spark_frames(events)
    if frames is not None:
        return _on_spark(rules, frames, request)
    request.check_embedded()
    batches, events = batches_of(events)
    if batches is not None and request.engine == DEFAULT_ENGINE:
        if request.by_type:
            raise DataError(
                "Batches that come one after the other give one reader of all detections, as they are found: of "
                "several readers one would have to keep what the others have not read. For a table of each type pass "
                "the events as one table, choose one type with `emit`, or use a session: `start()` and `send`."
            )
        return _in_batches(rules, batches, request)
    found, read = detect_tables(rules, events, request)
    _warn(rules, events, read, request)
    if request.on_suppressed is not None:
        request.on_suppressed(rules.suppressed_by_name(read.suppressed))
    form = read.form if request.by_type is None else replace(read.form, by_type=request.by_type)
    return give_back(found, form)


def detect_tables(rules: Rules, events: Any, request: Request) -> tuple[Found, Events]:
    """Detections as a table for each type, and the events as they were read."""
    from ensue.data.results import picked

    if request.engine not in ENGINES:
        raise DataError(f"There is no engine {request.engine!r}; there is {', '.join(ENGINES)}.")
    rules = rules if request.params is None else rules.with_params(request.params)
    rules.check_parameters()
    rules = rules if request.keep is None else rules.keeping(request.keep)
    asked = _Asked(rules, request, rules.rows_of_tables(request.tables), picked(rules.typed, request.emit))
    with limiting(request.limits):
        found = None
        if request.engine == DEFAULT_ENGINE:
            try:
                found = asked.where_it_lies(events)
            except NotTextError:  # where rows are looked at, those that hold such text are bad ones
                if any(event.given and not event.declared for event in rules.typed.events.values()):
                    raise
        return found or asked.after_reading(events)


def detect_traced(rules: Rules, events: Any, request: Request) -> tuple[Found, Events]:
    """Detections with the rows that each came from, and the events as tables by type, in which these rows are named.

    `detect_tables` reads events where they lie if it can, and then has no such tables.
    """
    from ensue.data.results import picked

    rules = rules if request.params is None else rules.with_params(request.params)
    rules.check_parameters()
    rules = rules if request.keep is None else rules.keeping(request.keep)
    traced = replace(request, provenance=True, engine=DEFAULT_ENGINE)
    asked = _Asked(rules, traced, rules.rows_of_tables(request.tables), picked(rules.typed, request.emit))
    with limiting(request.limits):
        return asked.normalised(events)


# --- elsewhere, and piece by piece


def _on_spark(rules: Rules, frames: Frames, request: Request) -> Any:
    from ensue.spark.arrange import arranged_frames

    if request.on_suppressed is not None:
        raise DataError(
            "`on_suppressed` cannot be called on Spark, where events are counted by others and later. Request a column "
            "with suppressed=True: it has the rule and how many of its events were not kept, to be summed up."
        )
    if request.by_type:
        from ensue.data.results import picked

        if request.rejected or request.suppressed:
            name = "rejected" if request.rejected else "suppressed"
            raise DataError(f"With `{name}` there is one frame for all detections; leave `by_type` out.")
        wanted = picked(rules.typed, request.emit)
        return {name: _on_spark(rules, frames, replace(request, emit=[name], by_type=None)) for name in wanted}
    frames, request = arranged_frames(frames, request, rules.attributes_by_event)
    if any(frame.isStreaming for frame in frames.values()):
        from ensue.spark.streaming import detect_stream

        return detect_stream(rules, frames, request)
    from ensue.spark.batch import detect_frames

    return detect_frames(rules, frames, request)


def _in_batches(rules: Rules, batches: Any, request: Request) -> pa.RecordBatchReader:
    """Detection in batches as they come; the first one's schema gives the types of undeclared events."""
    from ensue.live.arrangement import Settings
    from ensue.live.session import Session
    from ensue.live.streaming import as_in_the_first, detected

    first = next(batches, None)
    rules = rules if first is None else rules.knowing(dict.fromkeys(rules.typed.events, first.schema))
    undeclared = [event for event in rules.typed.events.values() if not event.declared and not event.derived]
    settings = Settings.of(rules, request)
    session = Session(rules, settings, on_bad_row=request.on_bad_row)
    given = batches if first is None else chain([first], batches)
    given = as_in_the_first(given, {name for event in undeclared for name in event.attributes})
    return detected(session, given, request.until, request.on_suppressed)


# --- all at once


@dataclass(frozen=True)
class _Asked:
    """A request to rules, with the rows of static tables and the types that are wanted."""

    rules: Rules
    request: Request
    rows: dict[str, list[tuple[Any, ...]]]
    wanted: list[str]

    def where_it_lies(self, events: Any) -> tuple[Found, Events] | None:
        """Detection on one table, or one file, that is read without conversion; None if it cannot be."""
        from ensue.engine.parquet import plain_parquet
        from ensue.engine.plain_tables import schema_of

        rules, columns = self.rules, self.request.columns
        if columns != columns.plain_names or any(map(is_path, rules.attribute_names)):
            return None
        file = plain_parquet(events, columns, rules.typed.events, rules.used_attributes)
        if file is not None and not self.request.provenance:
            large = file.large
            found = self._on_cores(file, large) if large or self._can_be_cut(file) else None
            if found is not None or large:
                return found or self._in_pieces(file)
        schema = schema_of(events) if file is None else file.file.schema_arrow
        rules = rules if schema is None else rules.knowing(dict.fromkeys(rules.typed.events, schema))
        pieces = self._pieces(rules, events, columns) if file is None else self._pieces_in_file(rules, file)
        return self._on_pieces(rules, pieces, isinstance(events, dict), None)

    def _pieces_in_file(self, rules: Rules, file: PlainParquet) -> tuple[Mixed, ...]:
        """The rows of a file; attributes that no rule uses are read only where they decide the order of events."""
        columns, threads = self.request.columns, self.request.most_threads
        if not self.request.provenance and len(file.used) < len(file.columns):
            pieces = self._pieces(rules, file.read(every=False, threads=threads), columns)
            if all(piece.unique for piece in pieces):
                return pieces
        return self._pieces(rules, file.read(every=True, threads=threads), columns)

    def _pieces(self, rules: Rules, source: Any, columns: Columns) -> tuple[Mixed, ...]:
        """The pieces of tables that are read as they are; none if they cannot be."""
        from ensue.engine.plain_tables import mixed_of, pieces_of

        events, used = rules.typed.events, rules.used_attributes
        if self.request.provenance:
            whole = mixed_of(source, columns, events, used=used, sort=True)
            return () if whole is None else (whole,)
        return pieces_of(source, columns, events, used, self.request.most_threads)

    def _on_pieces(
        self, rules: Rules, pieces: Sequence[Mixed], by_type: bool, form: Form | None
    ) -> tuple[Found, Events] | None:
        """Detection on tables that are read as they are; `form` is the one that they came in, if it is another."""
        from ensue.engine.mixed import read_from

        if not pieces:
            return None
        timestamps = pieces[0].timestamps
        rules.check_unit(timestamps)
        program = rules.typed_for_timestamps if timestamps else rules.typed
        suppressed: dict[int, int] = {}
        until = rules.time_of(self.request.until, timestamps)
        asked = until, self.rows, self.wanted, self.request.compiled, suppressed
        if self.request.provenance:
            from ensue.engine.provenance import detect_mixed_sources

            found = detect_mixed_sources(program, pieces[0], *asked)
        else:
            from ensue.engine.tables import detect_mixed

            instant = all(piece.start is piece.end for piece in pieces)
            cores = self._cores(program, sum(map(len, pieces)), instant)
            found = detect_mixed(program, pieces, *asked, cores)
        read = replace(read_from(pieces, by_type), suppressed=suppressed)
        return found, read if form is None else replace(read, form=form)

    def _cores(self, program: typed.Program, rows: int, instant: bool, in_file: bool = False) -> Cores | None:
        """The threads for a number of rows, and the way to partition events for them; None for one thread.

        `instant` says that each event has one time. Rows `in_file` are read in parallel, too.
        """
        from ensue.engine.capacity import current

        threads = min(self.request.most_threads, rows // current().thread)
        if threads <= 1:
            return None
        from ensue.engine.cores import Cores
        from ensue.partitioning import cuts_of

        cuts = cuts_of(program, self.wanted, instant)
        if cuts is not None and not in_file and not self.request.threads_asked_for:  # dealing rows costs, too
            cuts = None if cuts.extent is None or cuts.rest is not None else replace(cuts, keys=None)
        return None if cuts is None else Cores(threads, cuts)

    def _can_be_cut(self, file: PlainParquet) -> bool:
        """True if threads can read row groups of a file separately, and there are enough to be worth it."""
        from ensue.engine.capacity import current

        return (
            self.request.most_threads > 1
            and file.file.metadata.num_rows >= 2 * current().thread
            and len(file.groups) > 1
            and file.ordered
        )

    def _on_cores(self, file: PlainParquet, large: bool) -> tuple[Found, Events] | None:
        """Detection on a file by several threads; None if it cannot be.

        One that is not large is read as a whole, by threads of Arrow, where slices of time can be cut: that costs less.
        """
        import pyarrow as pa

        from ensue.engine.large_files import detect_large_file

        schema = file.file.schema_arrow
        rules = self.rules.knowing(dict.fromkeys(self.rules.typed.events, schema))
        timestamps = pa.types.is_timestamp(schema.field(file.end).type)
        rules.check_unit(timestamps)
        program = rules.typed_for_timestamps if timestamps else rules.typed
        cores = self._cores(program, sum(group.rows for group in file.groups), file.instant, in_file=True)
        if cores is None or not (large or cores.cuts.extent is None):
            return None
        until = rules.time_of(self.request.until, timestamps)
        suppressed: dict[int, int] = {}
        found = detect_large_file(
            program, file, self.request.columns, rules.used_attributes, until, self.rows, self.wanted,
            self.request.compiled, suppressed, cores,
        )  # fmt: skip
        return None if found is None else (found[0], replace(found[1], suppressed=suppressed))

    def _in_pieces(self, file: PlainParquet) -> tuple[Found, Events]:
        """Detection on a file that is not read at once."""
        from ensue.live.arrangement import Settings
        from ensue.live.session import Session
        from ensue.live.streaming import detect_pieces

        settings = Settings(
            0, self.request.columns, self.rows, tuple(self.wanted), False, self.request.compiled,
            limits=self.request.limits,
        )  # fmt: skip
        session = Session(self.rules, settings)
        found, read = detect_pieces(session, file, self.request.until, self.wanted)
        return found, replace(read, suppressed=session.suppressed_by_number())

    def after_reading(self, events: Any) -> tuple[Found, Events]:
        """Detection on events in any form: those that turn out to be plain as they are, others normalised before."""
        if self.request.engine == DEFAULT_ENGINE and self.rules.all_declared:
            events = read_parts_for(self.rules, events, self.request)
            plain = self._if_plain(events)
            if plain is not None:
                return plain
        return self.normalised(events)

    def normalised(self, events: Any) -> tuple[Found, Events]:
        """Detection on events in any form, normalised before, whatever they are."""
        program, read, moment = read_events_for(self.rules, events, self.request)
        if self.request.engine == DEFAULT_ENGINE:
            known = self.rules.knowing({name: table.schema for name, table in read.tables.items()})
            program = known.typed_for_timestamps if read.timestamps else known.typed
        suppressed: dict[int, int] = {}
        asked = program, read, moment, self.rows, self.wanted
        if self.request.provenance:
            from ensue.engine.provenance import detect_sources

            found = detect_sources(*asked, self.request.compiled, suppressed)
        elif self.request.engine == DEFAULT_ENGINE:
            from ensue.engine import tables

            found = tables.detect_tables(*asked, self.request.compiled, suppressed)
        else:
            from ensue.live import by_reference

            found = by_reference.detect_tables(*asked, suppressed, self.request.limits)
        return found, replace(read, suppressed=suppressed)

    def _if_plain(self, read: Read) -> tuple[Found, Events] | None:
        """Detection on parts that are plain tables, each value of its declared type, but for bad rows."""
        from ensue.data import DataError
        from ensue.data.plain import plain_rows

        rules, columns = self.rules, self.request.columns
        instant = {name for name, event in rules.typed.events.items() if event.instant}
        try:
            rows = plain_rows(list(read.parts), columns, rules.declared_attributes, rules.read_attributes, instant)
        except DataError:  # it is reported where rows are looked at
            return None
        if rows is None or (rows.bad_count and (self.request.strict or self.request.provenance)):
            return None
        pieces = self._pieces(rules, rows.tables, Columns())
        if rows.bad_count and not (pieces and self._may_run(pieces[0].timestamps)):
            return None
        found = self._on_pieces(rules, pieces, isinstance(rows.tables, dict), read.form)
        if found is None or not rows.bad_count:
            return found
        tables, events = found
        return tables, replace(events, bad=rows.bad, bad_count=rows.bad_count, rows=rows.rows)

    def _may_run(self, timestamps: bool) -> bool:
        """False if rules do not fit the times of events, of which bad rows may be the cause."""
        try:
            self.rules.check_unit(timestamps)
            self.rules.time_of(self.request.until, timestamps)
        except DataError:
            return False
        return True


def read_parts_for(rules: Rules, events: Any, request: Request) -> Read:
    """Events in any form as parts, their columns arranged."""
    from ensue.data.errors import arrow_errors_as_data_errors
    from ensue.data.plain import read_parts
    from ensue.data.sources import Read

    if isinstance(events, Read):
        return events
    with arrow_errors_as_data_errors("The events"):
        schema = rules.declared_attributes
        read = read_parts(events, request.columns, rules.attributes_by_event, schema, set(rules.typed.events))
        return replace(read, parts=tuple(read.parts))


def read_events_for(rules: Rules, events: Any, request: Request) -> tuple[typed.Program, Events, int | None]:
    """Events in any form, normalised; with the program for such times, and the end of time."""
    from ensue.data import read_events

    types, until = rules.typed.events, request.until
    read = read_events(
        events,
        request.columns,
        rules.declared_attributes,
        strict=request.strict,
        known=set(types),
        instant={name for name, event in types.items() if event.instant},
        derived={name for name, event in types.items() if not event.given},
        used=rules.read_attributes,
        asked=rules.attributes_by_event,
    )
    if read.last_end is None and rules.typed.unit is None and until is not None and is_timestamp(until):
        read = replace(read, timestamps=True)  # no event decides the kind of times, so this does
    try:
        if read.last_end is not None:
            rules.check_unit(read.timestamps)
        moment = rules.time_of(until, read.timestamps)
    except DataError as error:
        if not read.bad_count:
            raise
        raise DataError(f"{describe_bad_rows(read.bad, read.bad_count)}. {error}") from None  # they may be the cause
    return rules.typed_for_timestamps if read.timestamps else rules.typed, read, moment


def _warn(rules: Rules, events: Any, read: Events, request: Request) -> None:
    """Warns the caller of `Program.detect` of events that were not used, or do not fit the rules."""
    above = 4
    if read.bad_count and request.on_bad_row is not None:
        for row in read.bad:
            request.on_bad_row(row)
    elif read.bad_count:
        warnings.warn(describe_bad_rows(read.bad, read.bad_count), BadRowsWarning, stacklevel=above)
    if request.lateness:
        warnings.warn(
            "`lateness` counts where Arrow batches are taken in as they come. These events were put in order, so "
            "it has no effect.",
            NoEffectWarning,
            stacklevel=above,
        )
    for note in rules.unused_types(events) if isinstance(events, Mapping) else ():
        warnings.warn(note, UnusedTypeWarning, stacklevel=above)
    for note in rules.empty_attributes(read):
        warnings.warn(note, EmptyAttributeWarning, stacklevel=above)
    for note in rules.plain_lengths(read.timestamps):
        warnings.warn(note, PlainLengthWarning, stacklevel=above)
    for note in rules.unused_columns(request.columns):
        warnings.warn(note, NoEffectWarning, stacklevel=above)
    for note in rules.missing_tables(request.tables):
        warnings.warn(note, MissingTableWarning, stacklevel=above)
