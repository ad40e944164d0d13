"""Absent and Gather: what lies in a scope of a match, with the values that the match has.

Matches of the negated or collected pattern are stored by the variables that they share with the rest, as long as a
scope can reach back to them. A scope is strict, but for ``without`` and the ends that brackets include (``while [w]``).
Where it includes its end, what ends with the match counts, so such a match waits until its step is complete. Null
correlates with nothing. State: the inner matches within reach.
"""

from __future__ import annotations

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.aggregates import Accumulators, Aggregates
from ensue.engine.operators.anew import Anew
from ensue.engine.operators.eligible import is_instant
from ensue.engine.operators.gate import Gate
from ensue.engine.operators.keys import key_kinds, key_of, lookup, same_kinds
from ensue.engine.operators.scan import scan_of
from ensue.engine.operators.storing import store_match
from ensue.engine.structures.rows import StepRows, rows_layout
from ensue.engine.structures.store import Store, store_layout
from ensue.language import typed
from ensue.language.contained import needs_whole_step
from ensue.plan import operators as plan


class Scope(Passing):
    """What absences and gatherings have in common."""

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
        self.gate: Gate | None = None
        opener = node.opener
        scan = None if opener is None else scan_of(input_, opener.atom)
        if opener is not None and scan is not None and same_kinds(self.shared, scan, input_):
            self.gate = Gate(unit, scan, inner, self.shared, opener.reach)
        inner.feed(self.keep)
        if self.waits:
            late = unit.comes_late(node.part.pattern, layer)
            unit.later(layer, f"held_{self.name}() > 0", f"settle_{self.name}()", last=late)

    def _span(self) -> tuple[Field, Field]:
        """The fields that say where the scope begins and ends."""
        match self.scope:
            case typed.During(label=label):
                return ("time", label, "start"), ("time", label, "end")
            case typed.Between(pair=id_) | typed.Inside(pattern=id_):
                return ("span", id_, "start"), ("span", id_, "end")

    # --- what is stored

    def _store(self) -> str:
        if self.store is None:
            kinds = key_kinds(self.shared, self.inner, self.input)
            self.store = self.by_key("inner", Store, store_layout(row_fields(self.inner.columns)), kinds)
        return self.store

    def keep(self, w: Writer, env: Env) -> None:
        """Stores a match of the inner pattern."""
        unit, store = self.unit, self._store()
        key = key_of(unit, w, self.shared, env, self.input)
        if key is None:
            return
        with w.when(key.there), w.when("True" if self.gate is None else self.gate.lets(w, env, key.parts)):
            lengths = [length for length in (self.node.reach, self.node.keep) if length is not None]
            store_match(unit, w, store, key.parts, env, self.inner.columns, min(lengths, default=None), self.node.reach)

    # --- matches

    def take(self, w: Writer, env: Env) -> None:
        if self.waits:
            self._hold(w, env)
        else:
            self.decide(w, env)

    def decide(self, w: Writer, env: Env) -> None:
        raise NotImplementedError

    def visit(self, w: Writer, env: Env, each: Take, enough: str | None = None) -> None:
        """Writes a loop over what lies in the scope, newest end first; `each` may leave it with a break.

        If the newest instant of a key is seen to lie there by its time alone, the line `enough` stands for the loop.
        """
        if isinstance(self.inner, Anew):
            self._visit_anew(self.inner, w, env, each)
            return
        unit, store = self.unit, self._store()
        begin, end = (env[field] for field in self._span())
        key = key_of(unit, w, self.shared, env, self.inner)
        if key is None:
            return
        with w.when(all_of(begin.valid, key.there)):
            at = lookup(unit, w, "find", store, key.parts)
            with w.when(f"{at} >= 0" if key.parts else "True"):
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
        """Tell whether what is stored lies in a scope if its end does."""
        node = self.node
        return not node.conditions and node.keep is None and is_instant(node.part.pattern, self.unit.events)

    def _lies(self, begin: Code, end: Code, first: str, last: str) -> str:
        """Source for whether what starts and ends at these times lies in the scope."""
        after, until = "<=" if self.from_start else "<", "<=" if self.to_end else "<"
        return f"{begin.value} {after} {first} and {last} {until} {end.value}"

    def _visit_anew(self, inner: Anew, w: Writer, env: Env, each: Take) -> None:
        """The same for what is matched anew."""
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
    """Matches in whose scope nothing lies."""

    def decide(self, w: Writer, env: Env) -> None:
        seen = w.let("seen", "False")

        def note(w: Writer, _: Env) -> None:
            w.line(f"{seen} = True")
            w.line("break")

        self.visit(w, env, note, enough=f"{seen} = True")
        with w.block(f"if not {seen}:"):
            self.push(w, env)


class Gather(Scope):
    """Matches with what lies in their scope, if there is enough of it."""

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


from ensue.engine.generate.operator import Take  # noqa: E402
