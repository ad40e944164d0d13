"""A compiled program: the main entry point of the Python API.

Modules that only detection needs are imported by the first detection, so that checking rules is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensue import detection
from ensue.data.columns import columns_of
from ensue.data.errors import BadRow
from ensue.data.moments import Length
from ensue.data.own_functions import read_functions
from ensue.engine.limits import limiting
from ensue.language.diagnostics import Diagnostic, Report
from ensue.language.parse import parse
from ensue.plan.notes import note
from ensue.request import DEFAULT_ENGINE, USUAL, Request
from ensue.rules import Rules, source_of
from ensue.temporal.check import check

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Events
    from ensue.explain import Explanation
    from ensue.live.session import Session
    from ensue.spark.reacting import Reacting


def compile(
    rules: str | Path,
    name: str | None = None,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    params: Mapping[str, Any] | None = None,
) -> Program:
    """Reads and checks rules: a text, or the path of a file (a `Path`, or a string that ends with ``.ensue``).

    `functions` are Python functions that the rules call, by name; their annotations give the types of parameters and
    results, and they must return the same for the same arguments. `params` are values of parameters that the rules
    declare. Raises `RuleError` with all errors.

    >>> program = compile("event order(id: int).  late(id) <- o: order(id), w: extend(o, 6).")
    >>> program.detect([{"type": "order", "time": 3, "id": 42}], until=10)
    [{'type': 'late', 'start': 3, 'end': 9, 'id': 42}]
    """
    program = Program.checked(source_of(rules, name), functions=read_functions(functions))
    return program if params is None else program.with_params(params)


def check_rules(
    rules: str | Path, name: str | None = None, *, functions: Mapping[str, Callable[..., Any]] | None = None
) -> tuple[Diagnostic, ...]:
    """Diagnostics of rules: errors, warnings and notes; none of them is raised.

    >>> [d.code for d in check_rules("event b(y: int).  a(x) <- b(y).")]
    ['E105']
    """
    source = source_of(rules, name)
    report = Report(source)
    program = check(parse(source, report), report, functions=read_functions(functions))
    if not report.failed:
        note(program, report)
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
        time_unit: str | None = None,
        time_format: str | None = None,
        timezone: str | None = None,
        year: int | None = None,
        columns: Mapping[str, str] | None = None,
        lines: str | None = None,
        separator: str | None = None,
        file_name: str | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        strict: bool = False,
        on_bad_row: Callable[[BadRow], None] | None = None,
        on_suppressed: Callable[[dict[str, int]], None] | None = None,
        engine: str = DEFAULT_ENGINE,
        provenance: bool | str = False,
        compiled: bool | None = None,
        lateness: Length = 0,
        keep: Length | None = None,
        params: Mapping[str, Any] | None = None,
        max_ahead: Length | None = None,
        max_matches: int | None = None,
        max_state: int | str | None = None,
        slices: int | None = None,
        rejected: bool = False,
        suppressed: bool = False,
        buckets: int | None = None,
        heartbeat: Length | None = None,
        by_type: bool | None = None,
        threads: int | None = None,
    ) -> Any:
        """Detects the events that the rules derive, and returns them in the form that the events came in.

        `events` is an Arrow table or anything with the Arrow C stream interface, a pandas or Polars frame, a path or
        glob of ``.parquet``, ``.csv``, ``.json`` or ``.jsonl`` files (packed or not), an iterable of dicts, or a dict
        of these by event type.

        `until` is the end of time seen, if it is not the last end among the events. `time`, or `start` and `end`,
        `type` and `sequence` name the columns; where none is named and events have `start` and `end` as well as `time`,
        `start` and `end` count, and `time` only where both are empty. `time_unit` is the unit of numbers since 1970
        (``"s"``, ``"ms"``, ``"us"``, ``"ns"``), `time_format` the format of text (``"%d/%b/%Y:%H:%M:%S %z"``),
        `timezone` the zone of times without one, `year` the year of text without one; times are then timestamps.
        `columns` are columns by the names that rules have for them: ``{"user": "UserName"}``. Of files, `lines` is a
        regular expression with named groups for lines of text, `separator` the sign between fields, and `file_name`
        takes columns from names of files (``docs/data.md``). `tables` are rows of static tables by name. `emit` picks
        derived types.

        With `by_type` detections come as a dict by derived type, in the same form, without the attributes of other
        types: ``found["overdue"]``. Events that come by type give such a dict anyway, unless it is False.

        Rows that cannot be used are left out with a warning; `strict` makes the first an error, and `on_bad_row` is
        called with each instead of the warning.

        `on_suppressed` is called with the number of events that each rule suppressed (``once per id in 1h``), a dict by
        the name of the rule, or else by its event. For Spark frames that is `suppressed`.

        With `provenance` each detection has `sources`: the numbers of the rows that it came from, the first being 0.
        For Spark tables it may name a column that identifies rows, whose values they are then.

        `keep` is a longest lifetime, as in `keeping`, and `params` are values of parameters, as in `with_params`.

        Rules are compiled where there are many events; `compiled` forces or prevents it, whatever their number. Large
        tables and files are cut into slices of time that run in parallel on all cores, where rules look back a bounded
        length of time; `threads`, or the environment variable ENSUE_THREADS, sets the number of threads, and has events
        of other rules partitioned by key. The detections are the same, in the same order.

        A `RecordBatchReader` or an iterator of Arrow batches is read as it comes, so it may be larger than memory; the
        result is a `RecordBatchReader`. Its events are in the order of their ends, up to `lateness`; those that come
        later still are left out with a warning. Events in all other forms are sorted first, so `lateness` has no effect
        on them.

        `max_ahead` is for streams of Spark, as in `start`.

        `max_matches` limits the events of a type that one call may derive (by default 10 million, or 100 for each
        event), and `max_state` the bytes that all rules may keep (a number or a text such as "4GB"; by default half of
        the memory). A rule that exceeds them raises a `LimitError` that names it.

        Spark frames are evaluated where they are, lazily: the answer is a frame of Spark (``docs/spark.md``). With
        `rejected` it has a last column of that name for rows that cannot be used, with `suppressed` one for the rule
        and the number of events that it suppressed, in rows to be summed up; `slices` is the number of slices of time
        into which a key's events are cut, where these are too many for one part.
        """
        names = columns_of(
            time, start, end, type, sequence, time_unit=time_unit, time_format=time_format, timezone=timezone,
            year=year, columns=columns, lines=lines, separator=separator, file_name=file_name,
        )  # fmt: skip
        request = Request(
            until, names, tables, emit, strict, on_bad_row, engine, provenance, compiled, lateness, keep,
            params, slices, rejected, suppressed, buckets, heartbeat, max_ahead, max_matches, max_state,
            on_suppressed=on_suppressed, by_type=by_type, threads=threads,
        )  # fmt: skip
        return detection.detect(self, events, request)

    def detect_tables(self, events: Any, request: Request = USUAL) -> tuple[dict[str, pa.Table], Events]:
        """For other parts of ensue: the detections as a table for each type, and the events as they were read."""
        return detection.detect_tables(self, events, request)

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
        time_unit: str | None = None,
        time_format: str | None = None,
        timezone: str | None = None,
        year: int | None = None,
        columns: Mapping[str, str] | None = None,
        lines: str | None = None,
        separator: str | None = None,
        file_name: str | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        intervals: bool = False,
        params: Mapping[str, Any] | None = None,
        max_matches: int | None = None,
        max_state: int | str | None = None,
    ) -> Explanation:
        """Explains how rules are run, and why: an `Explanation`, which prints as text and has `json()` and `mermaid()`.

        Given events are taken to have one time each, unless `intervals` says that they have a start and an end. With
        `events`, in any form that `detect` takes, it also reports what really happens: it runs them, and counts what
        each part of a rule takes, passes on and keeps. The other arguments are those of `detect`.

        >>> program = compile("event a(k: int). event b(k: int). d(k) <- a(k) seq b(k) within 10.")
        >>> print(program.explain())
        Input events are assumed to have one time each, not an interval.
        <BLANKLINE>
        d (line 1)
          in a session: returned at once
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
        names = columns_of(
            time, start, end, type, sequence, time_unit=time_unit, time_format=time_format, timezone=timezone,
            year=year, columns=columns, lines=lines, separator=separator, file_name=file_name,
        )  # fmt: skip
        request = Request(
            until, names, tables, emit, params=params, max_matches=max_matches, max_state=max_state
        )  # fmt: skip
        return self.explain_events(events, request, intervals=intervals)

    def explain_events(self, events: Any, request: Request, *, intervals: bool) -> Explanation:
        """For other parts of ensue: the answer of `explain` to a request."""
        from ensue.data.results import picked
        from ensue.explain import explained
        from ensue.explain.observe import are_instants, observe
        from ensue.rewriting.rates import rates_of

        if request.params is not None:
            return self.with_params(request.params).explain_events(
                events, replace(request, params=None), intervals=intervals
            )
        self.check_parameters()
        source, wanted = self.file.source, picked(self.typed, request.emit)
        if events is None:
            return explained(self.typed, source, wanted, not intervals)
        program, read, moment = detection.read_events_for(self, events, request)
        instants = not intervals and are_instants(read)
        counts = {name: table.num_rows for name, table in read.tables.items()}
        rates = rates_of(program, counts)
        with limiting(request.limits):
            seen = observe(program, read, moment, self.rows_of_tables(request.tables), wanted, instants, rates)
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
        time_unit: str | None = None,
        time_format: str | None = None,
        timezone: str | None = None,
        year: int | None = None,
        columns: Mapping[str, str] | None = None,
        tables: Mapping[str, Any] | None = None,
        emit: str | Iterable[str] | None = None,
        actions: Mapping[str, Callable[..., object]] | None = None,
        provenance: bool = False,
        compiled: bool | None = None,
        keep: Length | None = None,
        params: Mapping[str, Any] | None = None,
        max_ahead: Length | None = None,
        max_matches: int | None = None,
        max_state: int | str | None = None,
        in_order: bool = False,
        on_late: Callable[[dict[str, Any]], object] | None = None,
        on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> Session:
        """Starts detection on events that are still to come: a `Session`, to which they are sent.

        `lateness` is the length of time by which an event may come after others that end later: a number in the unit of
        the time column, a duration such as ``"1h30m"``, or a timedelta. Columns, times, `tables` and `emit` are those
        of `detect`.

        `actions` are the functions that reactions of the rules call, by name; without any, reactions do nothing. One
        that takes a keyword `key` gets the same key again for the same event, and one that takes a keyword `rules` the
        rules for its type, with their descriptions (`Program.rules`).
        `on_late` is called with each event that came too late, a dict, and `on_bad_row` with each row that cannot be
        used, both instead of a warning. With `provenance` each detection has the positions of the events that it came
        from, counted in the order in which they were sent.

        `keep` is a longest lifetime, as in `keeping`; it goes on when the session is resumed. `params` are values of
        parameters; a session with values is resumed by a program with the same ones, `program.with_params(…)`.

        `max_ahead` is how far ahead of the wall clock an event may end, as in ``"1h"``; one that ends later is a bad
        row, and does not move time.

        `max_matches` and `max_state` are those of `detect`. A rule that exceeds them loses its state, and the session
        continues.

        A detection that no later event can change is given at once, others when their step is complete. With `in_order`
        all of them wait for that, and come in the order of their ends.

        A thread compiles the rules from the first event on, and sends do not wait for it unless they bring many events.
        With `compiled=True` the first event waits for it, with False rules are never compiled.

        >>> program = compile("event order(id: int).  late(id) <- o: order(id), w: extend(o, 6).")
        >>> session = program.start()
        >>> session.send({"type": "order", "time": 3, "id": 42})
        []
        >>> session.advance(10)
        [{'type': 'late', 'start': 3, 'end': 9, 'id': 42}]
        """
        from ensue.live.arrangement import Settings
        from ensue.live.session import Session

        names = columns_of(
            time, start, end, type, sequence, time_unit=time_unit, time_format=time_format, timezone=timezone,
            year=year, columns=columns,
        )  # fmt: skip
        request = Request(
            columns=names, tables=tables, emit=emit, on_bad_row=on_bad_row, provenance=provenance, compiled=compiled,
            lateness=lateness, keep=keep, in_order=in_order, max_ahead=max_ahead, max_matches=max_matches,
            max_state=max_state,
        )  # fmt: skip
        program = self.with_params(params or {})
        return Session(program, Settings.of(program, request), actions, on_late, on_bad_row)

    def resume(
        self,
        state: bytes,
        *,
        actions: Mapping[str, Callable[..., object]] | None = None,
        on_late: Callable[[dict[str, Any]], object] | None = None,
        on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> Session:
        """Goes on with a session where `Session.save` left it, with the same rules.

        Raises `StateError` for bytes that are no state, are damaged, or are of another version or of other rules.
        """
        from ensue.live.session import Session

        return Session.resumed(self, state, actions=actions, on_late=on_late, on_bad_row=on_bad_row)

    def reacting(
        self, actions: Mapping[str, Callable[..., object]], *, tables: Mapping[str, Any] | None = None,
        strict: bool = False,
    ) -> Reacting:  # fmt: skip
        """A function for `foreachBatch` of a Spark stream that runs reactions: ``on late(id) do notify(id)``.

        `actions` are the functions by the names that the rules call them. They run in the driver's process, at least
        once for each detection; one that takes a keyword `key` gets the same key again for the same detection. Their
        exceptions are logged and noted; with `strict` they end the query, so that Spark runs the batch again.
        """
        from ensue.spark.reacting import Reacting

        return Reacting(self, actions, self.rows_of_tables(tables), strict)
