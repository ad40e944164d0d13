"""Windows whose groups or values depend on the rest of the body: each match is computed from all events.

These are windows where a term of the head, or the argument of an aggregate, uses names of the rest (or of the
beginning) and of the collected event together, where a beginning shares variables with the rest that the event does not
have, and sessions of which a largest lifetime drops members. Their matches are those of `window_count.py` and the
others. State: all events, beginnings and matches of the rest, for sessions only as long as events are kept; the time
for a result grows with the number of events.
"""

from __future__ import annotations

from collections.abc import Iterable

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import NEVER
from ensue.engine.generate.writer import Code, Writer, all_of, any_of
from ensue.engine.operators.aggregates import Accumulators
from ensue.engine.operators.keys import group_parts
from ensue.engine.operators.window import Kind, Window
from ensue.engine.structures.rows import Rows, StaticRows, rows_layout
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.language.walk import visible_variables


class AnyWindow(Kind):
    """A window of any kind, slowly; see the module."""

    def __init__(self, operator: Window) -> None:
        super().__init__(operator)
        self.events = self._rows("events", operator.collected)
        self.begins = "" if operator.beginning is None else self._rows("beginnings", operator.beginning)
        kind = Rows if operator.fixed is None else StaticRows
        self.rests = "" if operator.rest is None else self._rows("rests", operator.rest, kind)

    def _rows(self, title: str, side: Operator, kind: type[Rows] = Rows) -> str:
        layout = rows_layout({"start": "i64", "end": "i64", **row_fields(side.columns)}, ("time", "once"))
        return self.operator.structure(title, kind, layout)

    # --- everything is stored

    def take(self, w: Writer, env: Env) -> None:
        self._keep(w, self.events, self.operator.collected.columns, env)
        if self.window.kind == "each":
            size = self.unit.number(self.window.size)
            w.line(f"{self.events}.time = (clock.now // {size} + 1) * {size}")
            w.line(f"{self.events}.once = 1")
            w.line(f"clock.due = min(clock.due, {self.events}.time)")
        elif self.window.kind == "gap":
            with w.block(f"if {self.events}.once == 0:"):
                w.line(f"{self.events}.time = clock.now + {self.unit.number(self.window.size)}")
                w.line(f"{self.events}.once = 1")
                w.line(f"clock.due = min(clock.due, {self.events}.time)")

    def begin(self, w: Writer, env: Env) -> None:
        assert self.operator.beginning is not None
        self._keep(w, self.begins, self.operator.beginning.columns, env)

    def take_rest(self, w: Writer, env: Env) -> None:
        assert self.operator.rest is not None
        self._keep(w, self.rests, self.operator.rest.columns, env)

    def _keep(self, w: Writer, rows: str, columns: dict[Field, Column], env: Env) -> None:
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        w.line(f"{rows}.end[{rows}.count] = clock.now")
        write_row(w, rows, f"{rows}.count", columns, env)
        w.line(f"{rows}.count += 1")

    def _read(self, rows: str, row: str, side: Operator) -> Env:
        env = read_row(rows, row, side.columns)
        env[START] = Code(f"{rows}.start[{row}]", "True", "i")
        return env

    # --- and evaluated when the step is complete

    def write(self) -> None:
        e, r, each = self.events, self.rests, self.window.record.ends_later
        waits = [f"{rows}.first < {rows}.count" for rows in (e, r) if rows]
        w = Writer()
        if each:
            waits.append(f"due_{self.name}() <= clock.now")
            w.line(f"return {e}.time if {e}.once != 0 else {NEVER}")
            self.unit.function(f"due_{self.name}", [], w, "int")
        w = Writer()
        if self.operator.fixed is not None and r:
            with w.block(f"if {r}.once == 0:"):
                w.line(f"{r}.once = 1")
                self.operator.fixed.occur(w)
                w.line(f"{r}.first = {r}.count")
        if r:
            with w.block(f"for r in range({r}.count):"):
                self._events(w, self._read(r, "r", self._rest()), f"r >= {r}.first")
        else:
            self._events(w, Env({START: Code(str(NEVER), "True", "i"), SOURCE: Code("0", "True", "i")}), "False")
        for rows in filter(None, (e, r)):
            w.line(f"{rows}.first = {rows}.count")
        if self.window.kind == "each":
            w.line(f"{e}.once = 1 if {e}.time > clock.now else 0")
        elif self.window.kind == "gap":
            self._next_session(w)
            self._drop_old(w)
        self.settle(any_of(*(f"({test})" for test in waits)), w)

    def _next_session(self, w: Writer) -> None:
        """Write code that sets the earliest end of a session: one gap after the first event less than a gap ago."""
        e, size = self.events, self.unit.number(self.window.size)
        w.line(f"{e}.once = 0")
        row = w.let("row", f"{e}.count - 1")
        with w.block(f"while {row} >= 0 and {e}.end[{row}] + {size} > clock.now:"):
            w.line(f"{e}.time = {e}.end[{row}] + {size}")
            w.line(f"{e}.once = 1")
            w.line(f"{row} -= 1")

    def _drop_old(self, w: Writer) -> None:
        """Write code that drops events which no longer count, where there is a largest lifetime."""
        if self.keep is None:
            return
        e, life = self.events, self.keep if self.operator.rest is None else 2 * self.keep
        gone = w.let("gone", "0")
        with w.block(f"while {gone} < {e}.count and clock.now - {e}.end[{gone}] > {self.unit.number(life)}:"):
            w.line(f"{gone} += 1")
        with w.block(f"if 2 * {gone} > {e}.count:"):
            with w.block(f"for i in range({gone}, {e}.count):"):
                w.line(f"copy_row({e}, i - {gone}, i)")
            w.line(f"{e}.count -= {gone}")
            w.line(f"{e}.first = {e}.count")

    def _rest(self) -> Operator:
        assert self.operator.rest is not None
        return self.operator.rest

    def _events(self, w: Writer, rest: Env, new: str) -> None:
        """Write a loop over all events beside a match of the rest; `new` is source, true if the match is new."""
        e, operator = self.events, self.operator
        with w.block(f"for e in range({e}.count):"):
            event = self._read(e, "e", operator.collected)
            if self.window.kind == "each":
                size = self.unit.number(self.window.size)
                over = w.let("over", f"({e}.end[e] // {size} + 1) * {size}")
                due = f"{over} == clock.now or ({new} and {over} < clock.now)"
                if self.keep is not None:
                    due = f"({due}) and {over} - {e}.end[e] <= {self.unit.number(self.keep)}"
            elif self.window.kind == "gap":
                over = w.let("over", f"{e}.end[e] + {self.unit.number(self.window.size)}")
                due = f"{over} == clock.now or ({new} and {over} < clock.now)"
            else:
                over, due = "", any_of(f"(e >= {e}.first)", f"({new})")
            with w.block(f"if {due}:"):
                agrees = self._agree(w, rest, event, operator.shared_with_rest)
                with w.when(agrees):
                    self._beginning(w, rest, event, over)

    def _agree(self, w: Writer, one: Env, other: Env, names: Iterable[str]) -> str:
        """Source that is true if two matches have equal values for some variables."""
        tests = []
        for name in names:
            sides = Env({("var", "one"): one["var", name], ("var", "other"): other["var", name]})
            terms = (typed.Variable("one", "any"), typed.Variable("other", "any"))
            tests.append(f"({truth(self.unit, w, typed.Operation('=', terms, 'bool'), sides)})")
        return all_of(*(test for test in tests if test != "(True)"))

    def _beginning(self, w: Writer, rest: Env, event: Env, over: str) -> None:
        """Write a loop for the latest beginning of an event, if the window has beginnings."""
        operator, b = self.operator, self.begins
        if operator.beginning is None:
            self._members(w, rest, event, over, "")
            return
        assert self.window.beginning is not None
        row = w.let("b", f"{b}.count - 1")
        begin = self._read(b, row, operator.beginning)
        common = [n for n in sorted(visible_variables(self.window.beginning)) if ("var", n) in rest]
        with w.block(f"while {row} >= 0:"):
            tests = [f"{b}.end[{row}] < {event[START].value}"]
            if self.keep is not None:
                tests.append(f"{self.events}.end[e] - {b}.end[{row}] <= {self.unit.number(self.keep)}")
            tests.append(self._agree(w, begin, event, operator.shared_with_beginning))
            tests.append(self._agree(w, rest, begin, common))
            with w.block(f"if {all_of(*tests)}:"):
                w.line("break")
            w.line(f"{row} -= 1")
        with w.block(f"if {row} >= 0:"):
            self._members(w, rest, event, over, row)

    def _members(self, w: Writer, rest: Env, event: Env, over: str, row: str) -> None:
        """Write a loop over the members of an event's group, and code that passes on the match."""
        e, operator, unit = self.events, self.operator, self.unit
        begin = Env()
        if operator.beginning is not None:
            begin = self._read(self.begins, row, operator.beginning)
        known = Env({**rest, **begin})
        own = [w.let("key", part) for part in group_parts(self.group(w, Env({**known, **event})))]
        newest_first = self.window.kind in ("count", "gap")
        is_last, edge = self._ends_session(w, known, own, over) if self.window.kind == "gap" else ("", "")
        sums = Accumulators(unit, w, self.wanted, newest_first)
        start, source = w.let("least", str(NEVER)), w.let("source", "0")
        last = w.let("last", "e")
        m = w.let("m", "e" if newest_first else "0")
        with w.block(f"while {m} >= 0:" if newest_first else f"while {m} < {e}.count:"):
            member = self._read(e, m, operator.collected)
            if edge:
                with w.block(f"if {e}.end[{m}] < {edge} - {unit.number(self.window.size)}:"):
                    w.line("break")
            with w.when(self._lies(m, row, over)):
                parts = group_parts(self.group(w, Env({**known, **member})))
                with w.when(all_of(*(f"{one} == {part}" for one, part in zip(own, parts, strict=True)))):
                    sums.add(w, Env({**known, **member}))
                    w.line(f"{start} = min({start}, {member[START].value})")
                    if SOURCE in operator.wanted:
                        w.line(f"{source} = union({source}, {member[SOURCE].value})")
                    w.line(f"{last} = {m}")
                    if edge:
                        w.line(f"{edge} = {e}.end[{m}]")
                    elif newest_first:
                        with w.block(f"if {sums.count} == {unit.number(self.window.size)}:"):
                            w.line("break")
            w.line(f"{m} {'-' if newest_first else '+'}= 1")
        if self.window.kind == "each":  # one match for each group: that of its last event
            w.line(f"{start} = max({over} - {unit.number(self.window.size)}, {EARLIEST})")
        once = {"each": f"{last} == e", "gap": f"{is_last} and {sums.count} > 0"}.get(self.window.kind, "True")
        with w.when(once):
            self._push(w, rest, begin, event, sums.results(w), start, source, over)

    def _ends_session(self, w: Writer, known: Env, own: list[str], over: str) -> tuple[str, str]:
        """Names for a flag that an event ends its session, and for the end of the first member seen so far."""
        e = self.events
        is_last, other = w.let("is_last", "True"), w.let("m", "e + 1")
        with w.block(f"while {other} < {e}.count and {e}.end[{other}] <= {over}:"):
            parts = group_parts(self.group(w, Env({**known, **self._read(e, other, self.operator.collected)})))
            with w.block(f"if {all_of(*(f'{one} == {part}' for one, part in zip(own, parts, strict=True)))}:"):
                w.line(f"{is_last} = False")
                w.line("break")
            w.line(f"{other} += 1")
        return is_last, w.let("edge", f"{e}.end[e]")

    def _lies(self, m: str, row: str, over: str) -> str:
        """Source that is true if an event lies in the window of another one, and is kept until then."""
        e, lies = self.events, self._lies_by_itself(m, row, over)
        if self.keep is None:
            return lies
        end = over or f"{e}.end[e]"
        return all_of(f"({lies})", f"{end} - {e}.end[{m}] <= {self.unit.number(self.keep)}")

    def _lies_by_itself(self, m: str, row: str, over: str) -> str:
        e, size = self.events, self.unit.number(self.window.size)
        match self.window.kind:
            case "count" | "gap":
                return "True"
            case "span":
                return f"{m} == e or ({e}.end[{m}] <= {e}.end[e] and {e}.start[{m}] > {e}.end[e] - {size})"
            case "each":
                return f"{over} - {size} <= {e}.end[{m}] and {e}.end[{m}] < {over}"
            case "since":
                return f"{self.begins}.end[{row}] < {e}.start[{m}] and {e}.end[{m}] <= {e}.end[e]"
            case unknown:
                raise LookupError(f"there is no window {unknown}")

    def _push(
        self, w: Writer, rest: Env, begin: Env, event: Env, results: Env, start: str, source: str, over: str
    ) -> None:  # fmt: skip
        operator = self.operator
        found, sides = Env(), {operator.collected: event, operator.beginning: begin, operator.rest: rest}
        for field in operator.wanted:
            if field in results:
                found[field] = results[field]
            elif field == SOURCE:
                first = begin[SOURCE].value if begin else "0"
                found[field] = Code(f"union(union({rest[SOURCE].value}, {first}), {source})", "True", "i")
            elif field == OLDEST:
                own = over or f"{self.events}.end[e]"
                found[field] = Code(f"min({rest[OLDEST].value}, {own})" if OLDEST in rest else own, "True", "i")
            else:
                side, inner = operator.route(field)
                found[field] = sides[side][inner]
        least = (
            f"min({start}, {rest[START].value}, {begin[START].value})"
            if begin
            else f"min({start}, {rest[START].value})"
        )
        found[START] = Code(w.let("start", least), "True", "i")
        operator.push(w, found)
