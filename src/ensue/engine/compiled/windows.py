"""The source of a rule that collects in a window: the last so many events of a group, or those of a length of time."""

from __future__ import annotations

from dataclasses import dataclass

from ensue.engine.compiled.aggregates import Walk, aggregates_in, argument_kind
from ensue.engine.compiled.atoms import Inner, bindings, fitting, inner_of
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError, as_kind
from ensue.engine.compiled.layout import Groups, Store
from ensue.engine.compiled.relations import lasting
from ensue.engine.compiled.sliding import COUNT, HEAD, TAIL, TURNS, Extreme, Sliding
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.language import typed
from ensue.language.walk import has_aggregate


@dataclass
class WindowWriter:
    """Writes one rule with a window and nothing beside it into a unit."""

    unit: Unit
    rule: typed.Rule
    number: str

    def __post_init__(self) -> None:
        body, window = self.rule.body, self.rule.body.window
        if window is None or window.kind not in ("count", "span"):
            raise NotCompiledError("a window of another kind")
        if body != typed.Body(
            None, window=window, where=body.where, on=body.on, within=body.within, lasting=body.lasting
        ):
            raise NotCompiledError("a window beside something else")
        self.window = window
        self.inner: Inner = inner_of(window.pattern)
        self.names = bindings(self.inner.atom)
        self.aggregates = aggregates_in([*(term for _, term in self.rule.head), *body.where, *body.on])
        if any(a.path != (window.id,) for a in self.aggregates):
            raise NotCompiledError("an aggregate of an aggregate")
        self.unit.layout.ordered = True

    def length(self, which: object, value: int) -> str:
        """Source for a number that the rule states; `which` says which one."""
        return self.unit.layout.knob(("length", self.number, which), value)

    # --- the event at hand

    def find(self, arrival: Arrival, aggregates: dict[typed.Aggregate, Code] | None = None) -> Find:
        def found(expression: typed.Expression) -> Code:
            match expression:
                case typed.Aggregate() if aggregates is not None:
                    return aggregates[expression]
                case typed.Variable(name=name) if name in self.names:
                    return arrival.attribute(self.names[name])
                case typed.AttributeOf(label=label, attribute=attribute) if label == self.inner.atom.label:
                    return arrival.attribute(attribute)
                case typed.TimeOf(label=label, end=end) if label == self.inner.atom.label:
                    return Code("t" if end else arrival.start, "True", "i")
            raise NotCompiledError("a name that is not the collected event's")

        return found

    def _fits(self, arrival: Arrival) -> str:
        """Whether an event is one that is collected."""
        for attribute, _ in self.inner.atom.fields:
            arrival.attribute(attribute)  # columns are numbered in the order of the fields
        tests = fitting(self.unit, self.inner.atom, arrival)
        find = self.find(arrival)
        tests += [self.unit.expressions.truth(condition, find) for condition in self.inner.conditions]
        return all_of(*(f"({test})" for test in tests if test != "True"))

    def _group(self, arrival: Arrival) -> list[Code]:
        """What makes the group of an event: the variables it shares, and the head's other terms."""
        terms: list[typed.Expression] = [typed.Variable(n, "any") for n in (*self.window.shared, *self.window.keys)]
        terms += [term for _, term in self.rule.head if not has_aggregate(term)]
        codes: dict[str, Code] = {}
        for term in terms:
            if not isinstance(term, typed.Constant):
                code = self.unit.expressions.code(term, self.find(arrival))
                codes.setdefault(code.value, code)
        return list(codes.values())

    def _slot(self, codes: list[Code], insert: bool) -> str | None:
        """The slot of a group; null is a group of its own."""
        if not codes:
            return None
        w = self.unit.writer
        key = [
            Code(code.value if code.valid == "True" else w.let("x", self._or_zero(code)), "True", code.kind)
            for code in codes
        ]
        mask = w.let("m", f"np.int64({sum(1 << i for i, code in enumerate(codes) if code.valid == 'True')})")
        for i, code in enumerate(codes):
            if code.valid != "True":
                with w.block(f"if {code.valid}:"):
                    w.line(f"{mask} |= np.int64({1 << i})")
        return self.unit.lookup(self._kinds(codes), [*key, Code(mask, "True", "i")], insert, nulls=True)

    def _or_zero(self, code: Code) -> str:
        zero = "0.0" if code.kind == "f" else "np.int64(0)"
        return f"{code.value} if {code.valid} else {zero}"

    def _kinds(self, codes: list[Code]) -> tuple[str, ...]:
        """Of the values, and of the flags that say which of them are there."""
        return (*(code.kind for code in codes), "m")

    def write(self) -> None:
        event = self.inner.atom.event
        own = self.unit.layer_of(event)
        if own is not None and own >= self.unit.layer:
            raise NotCompiledError("a window over what depends on it")
        if self.window.kind == "count":
            self.unit.matched(event, self._count)
        else:
            self.unit.prepared(event, self._take_in)
            self.unit.matched(event, self._span)

    def _derive(self, arrival: Arrival, start: str, aggregates: dict[typed.Aggregate, Code]) -> None:
        unit, w, body = self.unit, self.unit.writer, self.rule.body
        find = self.find(arrival, aggregates)
        tests = [f"({unit.expressions.truth(c, find)})" for c in (*body.on, *body.where)]
        tests += lasting(body, start, self.length)
        if self.rule.beginning is not None:
            raise NotCompiledError("a beginning")
        with w.when(all_of(*tests)):
            derived = unit.layout.derived[self.rule.event]
            kinds = zip(self.rule.head, derived.kinds, strict=True)
            values = [as_kind(unit.expressions.code(term, find), kind) for (_, term), kind in kinds]
            unit.derive(derived, start, values)

    # --- the last so many

    def _count(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._fits(arrival)):
            codes = self._group(arrival)
            groups = unit.layout.window(self.number, unit.layout.space(self._kinds(codes)) if codes else None)
            n = groups.number
            g = self._slot(codes, insert=True) or "0"
            p = w.fresh("p")
            unit.require(f"W{n}")
            unit.free_row(p, f"W{n}", f"wf{n}", f"wr{n}")
            w.line(f"W{n}[{p}, 0] = 0")
            w.line(f"W{n}[{p}, 2] = {arrival.start}")
            w.line(f"W{n}[{p}, 3] = t")
            with w.block(f"if G{n}[{g}, {COUNT}] > 0:"):
                w.line(f"W{n}[G{n}[{g}, {TAIL}] - 1, 0] = {p} + 1")
            with w.block("else:"):
                w.line(f"G{n}[{g}, {HEAD}] = {p} + 1")
            w.line(f"G{n}[{g}, {TAIL}] = {p} + 1")
            w.line(f"G{n}[{g}, {COUNT}] += 1")
            sliding = [Sliding(unit, groups, aggregate, g) for aggregate in self.aggregates]
            starts = Extreme(unit, groups, ("start",), g, False, "i")
            values = [s.value(self.find(arrival)) for s in sliding]
            self.unit.write(
                f"W{n}", f"V{n}", p, 4,
                [(code, s.column) for s, code in zip(sliding, values, strict=True) if code is not None and s.column],
            )  # fmt: skip
            old = w.let("o", "np.int64(-1)")
            with w.block(f"if G{n}[{g}, {COUNT}] > {self.length('size', self.window.size)}:"):
                w.line(f"{old} = G{n}[{g}, {HEAD}] - 1")
                w.line(f"G{n}[{g}, {HEAD}] = W{n}[{old}, 0]")
                w.line(f"G{n}[{g}, {COUNT}] -= 1")
                for each in sliding:
                    each.remove(old)
                starts.remove(old)
            for each in sliding:
                each.add(p)
            starts.add(p, f"W{n}[{p}, 2]")
            with w.block(f"if {old} >= 0:"):
                w.line(f"W{n}[{old}, 0] = wf{n}")
                w.line(f"wf{n} = {old} + 1")
            self._sum_again(groups, g, sliding)
            start = w.let("s", f"W{n}[G{n}[{g}, {starts.front}] - 1, 2]")
            self._derive(arrival, start, {s.aggregate: s.result() for s in sliding})

    def _sum_again(self, groups: Groups, g: str, sliding: list[Sliding]) -> None:
        """Now and then sums are made anew, so that no rounding of values long gone stays in them."""
        w, n = self.unit.writer, groups.number
        sums = [s for s in sliding if s.sums]
        if not sums:
            return
        w.line(f"G{n}[{g}, {TURNS}] += 1")
        with w.block(f"if G{n}[{g}, {TURNS}] > {self.length('size', self.window.size)} + 64:"):
            w.line(f"G{n}[{g}, {TURNS}] = 0")
            for each in sums:
                each.clear()
            at = w.let("p", f"G{n}[{g}, {HEAD}]")
            with w.block(f"while {at} > 0:"):
                row = w.let("q", f"{at} - 1")
                w.line(f"{at} = W{n}[{row}, 0]")
                for each in sums:
                    each.add_sum(row)

    # --- a length of time

    def _store(self, codes: list[Code]) -> Store:
        unit = self.unit
        store = unit.layout.store(("window", self.number), unit.layout.space(self._kinds(codes)) if codes else None)
        store.needed(self.window.size)
        for aggregate in self.aggregates:
            if aggregate.argument is not None:
                store.column(("aggregate", aggregate), argument_kind(aggregate))
        return store

    def _take_in(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._fits(arrival)):
            codes = self._group(arrival)
            store = self._store(codes)
            slot = self._slot(codes, insert=True)
            values = []
            for aggregate in self.aggregates:
                if aggregate.argument is not None:
                    code = unit.expressions.code(aggregate.argument, self.find(arrival))
                    column, kind = store.columns["aggregate", aggregate]
                    values.append((as_kind(code, kind), column))
            values.append((Code(arrival.index, "True", "i"), store.column(("own",), "i")))
            unit.put(store, slot, arrival.start, "t", values)

    def _span(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._fits(arrival)):
            codes = self._group(arrival)
            store = self._store(codes)
            n = store.number
            slot = self._slot(codes, insert=False)
            own = store.column(("own",), "i")
            since = w.let("d", f"t - {self.length('size', self.window.size)}")
            walk = Walk(unit, self.aggregates)
            start = w.let("s", arrival.start)
            with unit.newest_first(store, slot) as (at, row):
                with w.block(f"if T{n}[{row}, 3] <= {since} and T{n}[{row}, 3] < t:"):
                    w.line("break")
                with w.block(
                    f"if T{n}[{row}, 2] > {since} or (T{n}[{row}, 3] == t and T{n}[{row}, {own}] == {arrival.index}):"
                ):
                    w.line(f"{start} = min({start}, T{n}[{row}, 2])")

                    def held(expression: typed.Expression) -> Code:
                        column, kind = store.columns["aggregate", _holder(self.aggregates, expression)]
                        value = f"{'F' if kind == 'f' else 'T'}{n}[{row}, {column}]"
                        return Code(value, f"((T{n}[{row}, 4] & np.int64({1 << (column - 5)})) != 0)", kind)

                    walk.add_held(held)
                w.line(f"{at} = T{n}[{row}, 0]")
            self._derive(arrival, start, walk.results())


def _holder(aggregates: list[typed.Aggregate], argument: typed.Expression) -> typed.Aggregate:
    return next(a for a in aggregates if a.argument is argument)
