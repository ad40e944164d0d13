"""Absent and Gather: matches of a pattern in a scope of another match, with the same values.

Matches of the negated or collected pattern are stored by the variables that they share with the rest, as long as a
scope can reach back to them; for negated instants up to the end of the match, the newest times are enough. A scope is
strict, except for ``without`` and the ends that brackets include (``while [w]``). Where it includes its end, inner
matches that end with the match count, so such a match waits until its step is complete. Null correlates with nothing.
State: the inner matches within reach, or two times for each key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, Passing, Take, TakeWhere, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.aggregates import Accumulators, Aggregates
from ensue.engine.operators.anew import Anew
from ensue.engine.operators.gate import Entrance, Gate, gate_parts
from ensue.engine.operators.keys import key_kinds, key_of, lookup, same_kinds
from ensue.engine.operators.scan import scan_of
from ensue.engine.operators.storing import store_match
from ensue.engine.structures.key_numbers import LONG_AGO
from ensue.engine.structures.newest_times import NewestTimes, newest_times_layout
from ensue.engine.structures.rows import StepRows, rows_layout
from ensue.engine.structures.store import Store, store_layout
from ensue.language import typed
from ensue.language.contained import needs_whole_step
from ensue.plan import operators as plan
from ensue.temporal.instants import is_instant
from ensue.temporal.openers import Opener


class Scope(Passing):
    """Base of absences and gatherings."""

    def __init__(
        self, unit: Unit, title: str, node: plan.Absent | plan.Gather, input_: Operator, inner: Operator, layer: int
    ) -> None:
        super().__init__(unit, title, input_, layer)
        self.node, self.inner, self.scope = node, inner, node.part.scope
        self.shared = node.part.shared
        self.from_start, self.to_end = typed.includes_start(self.scope), typed.includes_end(self.scope)
        self.waits = needs_whole_step(node.part)
        self.held: str | None = None
        self.store: str | None = None
        span = self._span()
        names = [("var", name) for name in self.shared]
        outside = [field for field in used_by(node.conditions) if not inner.has(field)]
        inner.want([*names, *(field for field in used_by(node.conditions) if inner.has(field))])
        input_.want([*span, *names, *outside])
        self.entrances = [] if node.opener is None else self._entrances(node.opener)
        inner.feed(self.entrances[0].come if self.entrances else self.keep)
        if self.waits:
            late = unit.comes_late(node.part.pattern, layer)
            unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()", last=late)

    def _span(self) -> tuple[Field, Field]:
        """The fields that hold the beginning and the end of the scope."""
        match self.scope:
            case typed.During(label=label):
                return ("time", label, "start"), ("time", label, "end")
            case typed.Between(pair=id_) | typed.Inside(pattern=id_):
                return ("span", id_, "start"), ("span", id_, "end")

    def _entrances(self, opener: Opener) -> list[Entrance]:
        """The entrances of the inner matches, and of the events that these are made of, to the gate."""
        input_, inner = self.input, self.inner
        scans = [scan_of(input_, atom) for atom in opener.atoms]
        found = [scan for scan in scans if scan is not None and same_kinds(self.shared, scan, input_)]
        if len(found) < len(scans):
            return []
        gate = Gate(self.unit, found, inner, self.shared, opener.reach, opener.at_once)
        own = Entrance(gate, inner, input_, self.layer, self.keep, early=False)
        return [own, *gate_parts(gate, opener.gated, inner, input_, self.layer)]

    # --- stored matches

    def _store(self) -> str:
        if self.store is None:
            self.store = self._new_store(key_kinds(self.shared, self.inner, self.input))
        return self.store

    def _new_store(self, kinds: str) -> str:
        return self.by_key("inner", Store, store_layout(row_fields(self.inner.columns)), kinds)

    def keep(self, w: Writer, env: Env) -> None:
        """Write code that stores a match of the inner pattern."""
        unit, store = self.unit, self._store()
        key = key_of(unit, w, self.shared, env, self.input)
        if key is None:
            return
        with w.when(key.there):
            lengths = [length for length in (self.node.reach, self.node.keep) if length is not None]
            self.insert(w, env, store, key.parts, min(lengths, default=None))

    def insert(self, w: Writer, env: Env, store: str, key: list[str], length: int | None) -> None:
        """Write code that stores a match under its key, for a length of time."""
        store_match(self.unit, w, store, key, env, self.inner.columns, length, self.node.reach)

    # --- matches

    def take(self, w: Writer, env: Env) -> None:
        if self.waits:
            self._hold(w, env)
        else:
            self.decide(w, env)

    def decide(self, w: Writer, env: Env) -> None:
        raise NotImplementedError

    @contextmanager
    def found(self, w: Writer, env: Env) -> Iterator[str | None]:
        """Write lines for a scope whose key may have stored matches; gives the key's number, None if it has none."""
        unit, store = self.unit, self._store()
        key = key_of(unit, w, self.shared, env, self.inner)
        if key is None:
            yield None
            return
        begin = env[self._span()[0]]
        with w.when(all_of(begin.valid, key.there)):
            at = lookup(unit, w, "find", store, key.parts)
            with w.when(f"{at} >= 0" if key.parts else "True"):
                yield at

    def visit(self, w: Writer, env: Env, each: Take, enough: str | None = None) -> None:
        """Write a loop over the inner matches in the scope, newest end first; `each` may leave it with a break.

        If the time of a key's newest instant alone shows that it lies there, the line `enough` replaces the loop.
        """
        if isinstance(self.inner, Anew):
            self._visit_anew(self.inner, w, env, each)
            return
        unit, store = self.unit, self._store()
        begin, end = (env[field] for field in self._span())
        with self.found(w, env) as at:
            if at is not None:
                row = w.let("row", f"{store}.newest[{at}]")
                before = "<" if self.from_start else "<="
                with w.block(f"if {store}.newest_end[{at}] {before} {begin.value}:"):
                    w.line(f"{row} = -1")
                if enough is not None and self._by_time_alone:
                    newest = f"{store}.newest_end[{at}]"
                    with w.block(f"if {row} >= {store}.low and {self._lies(begin, end, newest, newest)}:"):
                        w.line(enough)
                        w.line(f"{row} = -1")
                with w.block(f"while {row} >= {store}.low:"):
                    place = w.let("p", f"{row} & {store}.mask")
                    with w.block(f"if {store}.end[{place}] {before} {begin.value}:"):
                        w.line("break")
                    if self.node.keep is not None:
                        with w.block(f"if clock.now - {store}.end[{place}] > {unit.number(self.node.keep)}:"):
                            w.line("break")
                    w.line(f"{row} = {store}.older[{place}]")
                    with w.block(f"if {self._lies(begin, end, f'{store}.start[{place}]', f'{store}.end[{place}]')}:"):
                        inner = read_row(store, place, self.inner.columns)
                        seen = Env({**env, **inner, START: Code(f"{store}.start[{place}]", "True", "i")})
                        tests = [f"({truth(unit, w, c, seen)})" for c in self.node.conditions]
                        with w.when(all_of(*(t for t in tests if t != "(True)"))):
                            each(w, seen)

    @property
    def _by_time_alone(self) -> bool:
        """True if a stored match lies in a scope exactly if its end does."""
        node = self.node
        return not node.conditions and node.keep is None and is_instant(node.part.pattern, self.unit.events)

    def _lies(self, begin: Code, end: Code, first: str, last: str) -> str:
        """Source that is true if a match that starts and ends at these times lies in the scope."""
        after, until = "<=" if self.from_start else "<", "<=" if self.to_end else "<"
        return f"{begin.value} {after} {first} and {last} {until} {end.value}"

    def _visit_anew(self, inner: Anew, w: Writer, env: Env, each: Take) -> None:
        """The same for a pattern that is matched again for each match."""
        begin, end = (w.held(env[field]) for field in self._span())
        keep = "" if self.node.keep is None else self.unit.number(self.node.keep)
        before = "<" if self.from_start else "<="

        def over(time: str) -> str:
            return f"{time} {before} {begin.value}" + (f" or clock.now - {time} > {keep}" if keep else "")

        def lies(first: str, last: str) -> str:
            return self._lies(begin, end, first, last)

        with w.when(begin.valid):
            inner.visit(w, env, self.shared, lies, over, each)

    # --- matches that wait for the end of their step

    def _hold(self, w: Writer, env: Env) -> None:
        columns = self.input.columns
        held = self.held = self.structure("held", StepRows, rows_layout({"start": "i64", **row_fields(columns)}))
        with w.block(f"if {held}.count == {held}.capacity:"):
            w.line(f"grow({held})")
        w.line(f"{held}.start[{held}.count] = {env[START].value}")
        write_row(w, held, f"{held}.count", columns, env)
        w.line(f"{held}.count += 1")

    def write(self) -> None:
        super().write()
        for entrance in self.entrances:
            entrance.write()
        if not self.waits:
            return
        held = self.held
        assert held is not None
        w = Writer()
        w.line(f"return {held}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        with w.block(f"for i in range({held}.count):"):
            env = read_row(held, "i", self.input.columns)
            env[START] = Code(f"{held}.start[i]", "True", "i")
            self.decide(w, env)
        w.line(f"{held}.count = 0")
        self.unit.function(f"settle_{self.name}", [], w)


class Absent(Scope):
    """Matches without an inner match in their scope.

    A processor can seldom predict which ones these are. So a consumer that needs no branch gets the condition instead.
    """

    node: plan.Absent
    where: TakeWhere | None = None

    def feed(self, take: Take, where: TakeWhere | None = None) -> None:
        super().feed(take, where)
        self.where = where if len(self.consumers) == 1 else None

    def _write_passing(self, given: list[str], env: Env) -> None:
        if self.where is None:
            super()._write_passing(given, env)

    def _new_store(self, kinds: str) -> str:
        if self.node.newest:
            return self.by_key("newest", NewestTimes, newest_times_layout(), kinds)
        return super()._new_store(kinds)

    def insert(self, w: Writer, env: Env, store: str, key: list[str], length: int | None) -> None:
        if not self.node.newest:
            super().insert(w, env, store, key, length)
            return
        over = LONG_AGO if length is None else f"clock.now - {self.unit.number(length)}"
        w.line(f"{store}.over = {over}")
        at = lookup(self.unit, w, "slot", store, key)
        with w.block(f"if {store}.last_end[{at}] < clock.now:"):
            w.line(f"{store}.before_end[{at}] = {store}.last_end[{at}]")
            w.line(f"{store}.last_end[{at}] = clock.now")

    def _see_newest(self, w: Writer, env: Env, seen: str) -> None:
        """Write code that checks only the newest instant: the scope ends with the match, which ends now."""
        store, begin = self._store(), env[self._span()[0]]
        with self.found(w, env) as at:
            if at is None:
                return
            newest = w.let("newest", f"{store}.last_end[{at}]")
            if not self.to_end:
                with w.block(f"if {newest} == clock.now:"):
                    w.line(f"{newest} = {store}.before_end[{at}]")
            lies = f"{newest} {'>=' if self.from_start else '>'} {begin.value}"
            if self.node.keep is not None:
                lies += f" and clock.now - {newest} <= {self.unit.number(self.node.keep)}"
            w.line(f"{seen} = {lies}")

    def decide(self, w: Writer, env: Env) -> None:
        seen = w.let("seen", "False")

        def note(w: Writer, _: Env) -> None:
            w.line(f"{seen} = True")
            w.line("break")

        if self.node.newest:
            self._see_newest(w, env, seen)
        else:
            self.visit(w, env, note, enough=f"{seen} = True")
        if self.where is not None:
            self.unit.count(w, self.name, f"int(not {seen})")
            self.where(w, env, f"not {seen}")
        else:
            with w.block(f"if not {seen}:"):
                self.push(w, env)


class Gather(Scope):
    """Matches with the inner matches in their scope, if there are enough."""

    def __init__(self, unit: Unit, node: plan.Gather, input_: Operator, inner: Operator, layer: int) -> None:
        super().__init__(unit, "gather", node, input_, inner, layer)
        self.gathering = node.part
        self.aggregates = Aggregates(self.gathering.id, inner, input_)
        if unit.provenance:
            inner.want([SOURCE])
            input_.want([SOURCE])

    def _own(self, field: Field) -> bool:
        return self.aggregates.owns(field)

    def has(self, field: Field) -> bool:
        return self._own(field) or self.input.has(field)

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        return self._own(("list", aggregate))

    def require(self, fields: list[Field]) -> None:
        for field in fields:
            if self._own(field):
                self.aggregates.want(field)
            else:
                self.input.want([field])

    def column(self, field: Field) -> Column:
        return self.aggregates.column(field) if self._own(field) else self.input.column(field)

    def decide(self, w: Writer, env: Env) -> None:
        gathering = self.gathering
        begin = env[self._span()[0]]
        sums = Accumulators(self.unit, w, self.aggregates.wanted, newest_first=True)
        source = w.let("source", env[SOURCE].value) if self.unit.provenance else None

        def add(w: Writer, seen: Env) -> None:
            sums.add(w, seen)
            if source is not None:
                w.line(f"{source} = union({source}, {seen[SOURCE].value})")

        self.visit(w, env, add)
        tests = []
        if gathering.low > 0:
            tests.append(f"{sums.count} >= {gathering.low}")
        if gathering.high is not None:
            tests.append(f"{sums.count} <= {gathering.high}")
        enough = all_of(*tests)
        if begin.valid != "True" and enough != "True":  # a side of an `or` that was not taken
            enough = f"not {begin.valid} or ({enough})"
        with w.when(enough):
            found = Env({**env, **sums.results(w)})
            if source is not None:
                found[SOURCE] = Code(source, "True", "i")
            self.push(w, found)
