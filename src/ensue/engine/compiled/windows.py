"""The source of a rule that collects in a window: the last so many events of a group, or those of a length of time."""

from __future__ import annotations

from dataclasses import dataclass

from ensue.engine.compiled.aggregates import Walk, aggregates_in, smaller
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError
from ensue.engine.compiled.layout import Groups, Store
from ensue.engine.compiled.rules import Inner, bindings, inner_of
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.language import typed
from ensue.language.walk import has_aggregate

HEAD, TAIL, COUNT, TURNS = range(4)
"""Columns of a group: its oldest and newest row (numbered from 1, 0 is none), how many, and changes since the last sum."""


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

    def _holds(self, arrival: Arrival) -> str:
        unit, tests = self.unit, []
        for attribute, term in self.inner.atom.fields:
            one = arrival.attribute(attribute)
            if isinstance(term, typed.Constant):
                equal = typed.Operation("=", (typed.AttributeOf("", attribute, "any"), term), "bool")
                tests.append(unit.expressions.truth(equal, lambda e: arrival.attribute(e.attribute)))  # type: ignore[union-attr]
            elif self.names[term.name] != attribute:
                other = arrival.attribute(self.names[term.name])
                if one.kind != other.kind:
                    raise NotCompiledError("values of several kinds")
                tests.append(all_of(one.valid, other.valid, f"{one.value} == {other.value}"))
        for condition in self.inner.conditions:
            tests.append(unit.expressions.truth(condition, self.find(arrival)))
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
        unsure = [(i, code) for i, code in enumerate(codes) if code.valid != "True"]
        key = [
            Code(code.value if code.valid == "True" else w.let("x", self._or_zero(code)), "True", code.kind)
            for code in codes
        ]
        if unsure:
            mask = w.let("m", "np.int64(0)")
            for i, code in unsure:
                with w.block(f"if {code.valid}:"):
                    w.line(f"{mask} |= np.int64({1 << i})")
            key.append(Code(mask, "True", "i"))
        kinds = self._kinds(codes)
        return self.unit.lookup(kinds, key, insert, nulls=True)

    def _or_zero(self, code: Code) -> str:
        zero = "0.0" if code.kind == "f" else "np.int64(0)"
        return f"{code.value} if {code.valid} else {zero}"

    def _kinds(self, codes: list[Code]) -> tuple[str, ...]:
        return (*(code.kind for code in codes), *(["m"] if any(code.valid != "True" for code in codes) else []))

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
        if body.within is not None:
            tests.append(f"t - {start} <= {body.within}")
        if body.lasting is not None:
            tests.append(f"t - {start} == {body.lasting}")
        if self.rule.beginning is not None:
            raise NotCompiledError("a beginning")
        with w.when(all_of(*tests)):
            derived = unit.layout.derived[self.rule.event]
            values = []
            for (_, term), kind in zip(self.rule.head, derived.kinds, strict=True):
                code = unit.expressions.code(term, find)
                if (code.kind, kind) == ("i", "f"):
                    code = Code(f"np.float64({code.value})", code.valid, "f")
                elif code.kind != kind:
                    raise NotCompiledError("values of several kinds")
                elif kind == "b":
                    code = Code(f"(1 if {code.value} else 0)", code.valid, "b")
                values.append(code)
            unit.derive(derived, start, values)

    # --- the last so many

    def _count(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._holds(arrival)):
            codes = self._group(arrival)
            groups = unit.layout.window(self.number, unit.layout.space(self._kinds(codes)) if codes else None)
            n = groups.number
            g = self._slot(codes, insert=True) or "0"
            p = w.fresh("p")
            with w.block(f"if wf{n} > 0:"):  # a row that is free
                w.line(f"{p} = wf{n} - 1")
                w.line(f"wf{n} = W{n}[{p}, 0]")
            with w.block("else:"):
                unit.require(f"W{n}")
                w.line(f"{p} = wr{n}")
                w.line(f"wr{n} += 1")
            w.line(f"W{n}[{p}, 0] = 0")
            w.line(f"W{n}[{p}, 2] = {arrival.start}")
            w.line(f"W{n}[{p}, 3] = t")
            with w.block(f"if G{n}[{g}, {COUNT}] > 0:"):
                w.line(f"W{n}[G{n}[{g}, {TAIL}] - 1, 0] = {p} + 1")
            with w.block("else:"):
                w.line(f"G{n}[{g}, {HEAD}] = {p} + 1")
            w.line(f"G{n}[{g}, {TAIL}] = {p} + 1")
            w.line(f"G{n}[{g}, {COUNT}] += 1")
            sliding = [_Sliding(self, groups, aggregate, g) for aggregate in self.aggregates]
            starts = _Extreme(self, groups, ("start",), g, False, "i")
            values = [s.value(arrival) for s in sliding]
            self.unit.write(
                f"W{n}", f"V{n}", p, 4,
                [(code, s.column) for s, code in zip(sliding, values, strict=True) if code is not None and s.column],
            )  # fmt: skip
            old = w.let("o", "np.int64(-1)")
            with w.block(f"if G{n}[{g}, {COUNT}] > {self.window.size}:"):
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

    def _sum_again(self, groups: Groups, g: str, sliding: list[_Sliding]) -> None:
        """Now and then sums are made anew, so that no rounding of values long gone stays in them."""
        w, n = self.unit.writer, groups.number
        sums = [s for s in sliding if s.sums]
        if not sums:
            return
        w.line(f"G{n}[{g}, {TURNS}] += 1")
        with w.block(f"if G{n}[{g}, {TURNS}] > {self.window.size} + 64:"):
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
                store.column(("aggregate", aggregate), self._argument_kind(aggregate))
        return store

    def _argument_kind(self, aggregate: typed.Aggregate) -> str:
        assert aggregate.argument is not None
        types = {"int": "i", "time": "i", "timestamp": "i", "float": "f", "string": "s", "bool": "b"}
        if aggregate.argument.type not in types:
            raise NotCompiledError("a value of another type")
        return types[aggregate.argument.type]

    def _take_in(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._holds(arrival)):
            codes = self._group(arrival)
            store = self._store(codes)
            slot = self._slot(codes, insert=True)
            values = []
            for aggregate in self.aggregates:
                if aggregate.argument is not None:
                    code = unit.expressions.code(aggregate.argument, self.find(arrival))
                    kind = self._argument_kind(aggregate)
                    if (code.kind, kind) == ("i", "f"):
                        code = Code(f"np.float64({code.value})", code.valid, "f")
                    elif code.kind != kind:
                        raise NotCompiledError("values of several kinds")
                    elif kind == "b":
                        code = Code(f"(1 if {code.value} else 0)", code.valid, "b")
                    values.append((code, store.columns["aggregate", aggregate][0]))
            values.append((Code(arrival.index, "True", "i"), store.column(("own",), "i")))
            unit.put(store, slot, arrival.start, "t", values)

    def _span(self, arrival: Arrival) -> None:
        unit, w = self.unit, self.unit.writer
        with w.when(self._holds(arrival)):
            codes = self._group(arrival)
            store = self._store(codes)
            n = store.number
            slot = self._slot(codes, insert=False)
            own = store.column(("own",), "i")
            since = w.let("d", f"t - {self.window.size}")
            walk = Walk(unit, self.aggregates)
            start = w.let("s", arrival.start)
            at = w.let("p", f"H{n}[{slot or '0'}]")
            with w.block(f"while {at} >= lo{n}:"):
                row = w.let("q", f"{at} & (T{n}.shape[0] - 1)")
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


class _Extreme:
    """The smallest (or largest) of a group's values: a chain of rows, each better than all after it in the chain."""

    def __init__(
        self, window: WindowWriter, groups: Groups, name: tuple[object, ...], g: str, larger: bool, kind: str
    ) -> None:
        self.w, self.n, self.g, self.larger, self.kind = window.unit.writer, groups.number, g, larger, kind
        key = ("extreme", *name)
        taken = groups.row_columns.get(("front", *key))
        self.next = groups.column(("next", *key), "i")
        self.back_link = groups.column(("back", *key), "i")
        if taken is None:
            groups.row_columns["front", *key] = (groups.take(2), "group")
        self.front = groups.row_columns["front", *key][0]
        self.column = 2

    def add(self, p: str, value: str) -> None:
        w, n, g = self.w, self.n, self.g
        at = w.let("p", f"G{n}[{g}, {self.front + 1}]")
        rows = f"V{n}" if self.kind == "f" else f"W{n}"
        held = f"{rows}[{at} - 1, {self.column}]"
        worse = smaller(held, value, self.larger, self.kind)
        with w.block(f"while {at} > 0 and not {worse if worse.startswith('(') else f'({worse})'}:"):
            w.line(f"{at} = W{n}[{at} - 1, {self.back_link}]")
        w.line(f"W{n}[{p}, {self.back_link}] = {at}")
        w.line(f"W{n}[{p}, {self.next}] = 0")
        with w.block(f"if {at} > 0:"):
            w.line(f"W{n}[{at} - 1, {self.next}] = {p} + 1")
        with w.block("else:"):
            w.line(f"G{n}[{g}, {self.front}] = {p} + 1")
        w.line(f"G{n}[{g}, {self.front + 1}] = {p} + 1")

    def remove(self, old: str) -> None:
        w, n, g = self.w, self.n, self.g
        with w.block(f"if G{n}[{g}, {self.front}] == {old} + 1:"):
            w.line(f"G{n}[{g}, {self.front}] = W{n}[{old}, {self.next}]")
            with w.block(f"if G{n}[{g}, {self.front}] == 0:"):
                w.line(f"G{n}[{g}, {self.front + 1}] = 0")
            with w.block("else:"):
                w.line(f"W{n}[G{n}[{g}, {self.front}] - 1, {self.back_link}] = 0")


class _Sliding:
    """An aggregate over the last so many events of a group, kept up to date as they come and go."""

    def __init__(self, window: WindowWriter, groups: Groups, aggregate: typed.Aggregate, g: str) -> None:
        self.window, self.groups, self.aggregate, self.g = window, groups, aggregate, g
        self.w, self.n = window.unit.writer, groups.number
        self.column = 0
        self.sums = False
        self.extreme: _Extreme | None = None
        if aggregate.argument is None:
            return
        if aggregate.name not in ("count", "sum", "avg", "min", "max"):
            raise NotCompiledError(f"the aggregate {aggregate.name} in a window")
        kind = window._argument_kind(aggregate)
        self.floating = aggregate.name == "avg" or kind == "f"
        self.kind = "f" if self.floating and aggregate.name in ("sum", "avg") else kind
        self.column = groups.column(("value", aggregate), self.kind)
        key = ("sliding", aggregate)
        if key not in groups.row_columns:
            groups.row_columns[key] = (groups.take(4), "group")
        self.first = groups.row_columns[key][0]
        self.sums = aggregate.name in ("sum", "avg") and self.floating
        if aggregate.name in ("min", "max"):
            if kind == "s":
                raise NotCompiledError("strings in order")
            self.extreme = _Extreme(window, groups, (aggregate,), g, aggregate.name == "max", kind)
            self.extreme.column = self.column

    def value(self, arrival: Arrival) -> Code | None:
        """The value of the event at hand."""
        if self.aggregate.argument is None:
            return None
        code = self.window.unit.expressions.code(self.aggregate.argument, self.window.find(arrival))
        if self.kind == "f" and code.kind == "i":
            code = Code(f"np.float64({code.value})", code.valid, "f")
        elif code.kind != self.kind:
            raise NotCompiledError("values of several kinds")
        elif self.kind == "b":
            code = Code(f"(1 if {code.value} else 0)", code.valid, "b")
        return code

    def _held(self, row: str) -> str:
        return f"{'V' if self.kind == 'f' else 'W'}{self.n}[{row}, {self.column}]"

    def _there(self, row: str) -> str:
        return f"(W{self.n}[{row}, 4] & np.int64({1 << (self.column - 5)})) != 0"

    def _cell(self, place: int, floating: bool = False) -> str:
        return f"{'GF' if floating else 'G'}{self.n}[{self.g}, {self.first + place}]"

    def add(self, row: str) -> None:
        if self.aggregate.argument is None:
            return
        with self.w.block(f"if {self._there(row)}:"):
            self.w.line(f"{self._cell(0)} += 1")
            self._change(row, "+")
            if self.extreme is not None:
                self.extreme.add(row, self._held(row))

    def remove(self, row: str) -> None:
        if self.aggregate.argument is None:
            return
        with self.w.block(f"if {self._there(row)}:"):
            self.w.line(f"{self._cell(0)} -= 1")
            self._change(row, "-")
            if self.extreme is not None:
                self.extreme.remove(row)

    def _change(self, row: str, sign: str) -> None:
        if self.aggregate.name not in ("sum", "avg"):
            return
        if not self.floating:
            self.w.line(f"{self._cell(1)} {sign}= {self._held(row)}")
            return
        with self.w.block(f"if {self._held(row)} - {self._held(row)} == 0.0:"):
            value = self._held(row) if sign == "+" else f"-{self._held(row)}"
            high, low = self._cell(1, True), self._cell(2, True)
            self.w.line(f"{high}, {low} = add_exactly({high}, {low}, {value})")
        with self.w.block("else:"):
            self.w.line(f"{self._cell(3)} {sign}= 1")

    def clear(self) -> None:
        self.w.line(f"{self._cell(1, True)} = 0.0")
        self.w.line(f"{self._cell(2, True)} = 0.0")

    def add_sum(self, row: str) -> None:
        with self.w.block(f"if {self._there(row)} and {self._held(row)} - {self._held(row)} == 0.0:"):
            high, low = self._cell(1, True), self._cell(2, True)
            self.w.line(f"{high}, {low} = add_exactly({high}, {low}, {self._held(row)})")

    def result(self) -> Code:
        n, w = self.n, self.w
        if self.aggregate.argument is None:
            return Code(f"G{n}[{self.g}, {COUNT}]", "True", "i")
        some = f"({self._cell(0)} > 0)"
        match self.aggregate.name:
            case "count":
                return Code(self._cell(0), "True", "i")
            case "min" | "max":
                assert self.extreme is not None
                front = f"G{n}[{self.g}, {self.extreme.front}]"
                zero = "0.0" if self.kind == "f" else "np.int64(0)"
                return Code(w.let("x", f"{self._held(f'{front} - 1')} if {front} > 0 else {zero}"), some, self.kind)
        if not self.floating:
            return Code(self._cell(1), some, "i")
        total = w.let("x", f"{self._cell(1, True)} + {self._cell(2, True)}")
        with w.block(f"if {self._cell(3)} > 0:"):  # infinite, or not a number: plain addition has its way
            w.line(f"{total} = 0.0")
            at = w.let("p", f"G{n}[{self.g}, {HEAD}]")
            with w.block(f"while {at} > 0:"):
                row = w.let("q", f"{at} - 1")
                w.line(f"{at} = W{n}[{row}, 0]")
                with w.block(f"if {self._there(row)}:"):
                    w.line(f"{total} += {self._held(row)}")
        if self.aggregate.name == "sum":
            return Code(total, some, "f")
        return Code(w.let("x", f"{total} / np.float64({self._cell(0)}) if {some} else 0.0"), some, "f")
