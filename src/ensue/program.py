"""A compiled program: the main entry point of the Python API.

Modules that only detection needs are imported by the first detection, so that checking rules is fast.
"""

from __future__ import annotations

import warnings
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
from ensue.errors import NoEffectWarning
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
        """Detects the events that the rules derive, and returns them in the form in which the events came.

        `events` is one of: an Arrow table or anything with the Arrow C stream interface; a pandas or Polars frame; a
        Spark frame; a path or glob of files (``.parquet``, ``.csv``, ``.jsonl``, …, compressed or not); an iterable of
        dicts; a dict of these by event type.

        Time and columns:

        - `until`: the time at which the events end, if it is not the last end among them
        - `time`, or `start` and `end`; `type`; `sequence`: the names of the columns. By default events with `start`,
          `end` and `time` use `start` and `end`, and `time` only where both are empty
        - `time_unit`: the unit of numbers since 1970, ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``
        - `time_format`: the format of times as text, ``"%d/%b/%Y:%H:%M:%S %z"``
        - `timezone`, `year`: the zone, and the year, of times without one
        - `columns`: the columns by the names that rules use, ``{"user": "UserName"}``
        - `lines`, `separator`, `file_name`: how to read text files (``docs/data.md``)

        Rules:

        - `tables`: rows of static tables, by name
        - `params`: values of parameters, by name, as in `with_params`
        - `keep`: the longest lifetime, as in `keeping`

        Results:

        - `emit`: the derived types to return, a name or several; all by default
        - `by_type`: return a dict of results by derived type, ``found["overdue"]``, each without the attributes of the
          others. If events come by type, this is the default
        - `provenance`: add `sources` to each detection, the numbers of the rows that it came from, counted from 0. For
          Spark tables, it can be the name of a column that identifies rows
        - `strict`: raise an error for the first row that cannot be used. By default such rows are left out with a
          warning
        - `on_bad_row`: is called with each such row, instead of the warning
        - `on_suppressed`: is called with the number of events that each rule suppressed (``once per id in 1h``), a dict
          by the name of the rule or else by its event

        Execution; the detections and their order are always the same:

        - `engine`: ``"embedded"``, or ``"reference"`` for the slow evaluator that computes the definitions
        - `compiled`: True for machine code, False for Python. By default the number of events decides
        - `threads`: the number of threads. By default large tables and files use all cores if rules look back a bounded
          length of time; if you set a number, also rules that can be partitioned by key. The environment variable
          ENSUE_THREADS sets it, too
        - `max_matches`: how many events of one type a call may derive (by default 10 million, or 100 for each event)
        - `max_state`: how many bytes the rules may keep, a number or a text such as "4GB" (by default half of the
          memory). A rule that exceeds a limit raises a `LimitError` that names it

        A `RecordBatchReader` or an iterator of Arrow batches is read as it comes, so it may be larger than memory. The
        result is a `RecordBatchReader`. Its events must be in the order of their ends, up to `lateness`; later ones are
        left out with a warning. Events in all other forms are sorted first, so `lateness` has no effect on them.

        Spark frames are evaluated lazily, where the data is, and the result is a Spark frame (``docs/spark.md``):

        - `rejected`: add a column of that name, and a row for each row that cannot be used
        - `suppressed`: add a column with a rule and the number of events that it suppressed, in rows to sum up
        - `slices`: the number of slices of time for each key, if a key has too many events for one task
        - `buckets`, `heartbeat`, `max_ahead`, `lateness`: for streams (``docs/streams.md``)
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
        """Explains how the rules run: an `Explanation`, which prints as text and has `json()` and `mermaid()`.

        By default input events are assumed to have one time each; with `intervals` they have a start and an end.

        If you pass `events`, in any form that `detect` takes, the rules run on them. The explanation then also has the
        numbers of events and matches that each part of a rule takes, passes on and keeps. The other arguments are those
        of `detect`.

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
        """Starts a `Session`, to which you send events as they arrive.

        Time, columns, `tables`, `params`, `emit`, `max_matches` and `max_state` are those of `detect`. A rule that
        exceeds a limit loses its state, and the session continues.

        - `lateness`: how much later than others an event may arrive: a number in the unit of the time column, a
          duration such as ``"1h30m"``, or a timedelta
        - `on_late`, `on_bad_row`: are called with each event that came too late, and with each row that cannot be used,
          instead of a warning
        - `max_ahead`: how far ahead of the wall clock an event may end, such as ``"1h"``. One that ends later is a bad
          row, and does not move time
        - `in_order`: return detections in the order of their ends, when their step is complete. By default a detection
          that no later event can change is returned at once
        - `actions`: the functions that reactions of the rules call, by name. Without it, reactions do nothing. A
          function with a keyword `key` receives the same key again for the same event; one with a keyword `rules`
          receives the rules for its type (`Program.rules`)
        - `provenance`: add `sources` to each detection, the positions of the events that it came from, in the order in
          which you sent them
        - `keep`: the longest lifetime, as in `keeping`. It stays when the session is resumed
        - `compiled`: by default a thread compiles the rules from the first event on, and only calls with many events
          wait for it. With True the first event waits, with False rules are never compiled

        A session with values of parameters is resumed by a program with the same values, `program.with_params(…)`.

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
        for unused in program.unused_columns(names):
            warnings.warn(unused, NoEffectWarning, stacklevel=2)
        return Session(program, Settings.of(program, request), actions, on_late, on_bad_row)

    def resume(
        self,
        state: bytes,
        *,
        actions: Mapping[str, Callable[..., object]] | None = None,
        on_late: Callable[[dict[str, Any]], object] | None = None,
        on_bad_row: Callable[[BadRow], object] | None = None,
    ) -> Session:
        """Continues a session from the bytes that `Session.save` returned, with the same rules.

        Raises `StateError` if the bytes are not a state, are damaged, or come from another version or other rules.
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
