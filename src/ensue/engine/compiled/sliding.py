"""Aggregates over the last so many events of a group, kept up to date as events come and go."""

from __future__ import annotations

from ensue.engine.compiled.aggregates import argument_kind, smaller
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError, as_kind
from ensue.engine.compiled.layout import Groups
from ensue.engine.compiled.unit import Unit
from ensue.language import typed

HEAD, TAIL, COUNT, TURNS = range(4)
"""Columns of a group: its oldest and newest row (from 1; 0 is none), how many, and changes since the last sum."""


class Extreme:
    """The smallest (or largest) of a group's values: a chain of rows, each better than all after it in the chain."""

    def __init__(
        self, unit: Unit, groups: Groups, name: tuple[object, ...], g: str, larger: bool, kind: str, column: int = 2
    ) -> None:
        self.w, self.n, self.g, self.larger, self.kind = unit.writer, groups.number, g, larger, kind
        key = ("extreme", *name)
        taken = groups.row_columns.get(("front", *key))
        self.next = groups.column(("next", *key), "i")
        self.back_link = groups.column(("back", *key), "i")
        if taken is None:
            groups.row_columns["front", *key] = (groups.take(2), "group")
        self.front = groups.row_columns["front", *key][0]
        self.column = column

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


class Sliding:
    """An aggregate over the last so many events of a group, kept up to date as they come and go."""

    def __init__(self, unit: Unit, groups: Groups, aggregate: typed.Aggregate, g: str) -> None:
        self.unit, self.aggregate, self.g = unit, aggregate, g
        self.w, self.n = unit.writer, groups.number
        self.column = 0
        self.sums = False
        self.extreme: Extreme | None = None
        if aggregate.argument is None:
            return
        if aggregate.name not in ("count", "sum", "avg", "min", "max"):
            raise NotCompiledError(f"the aggregate {aggregate.name} in a window")
        kind = argument_kind(aggregate)
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
            larger = aggregate.name == "max"
            self.extreme = Extreme(unit, groups, (aggregate,), g, larger, kind, self.column)

    def value(self, find: Find) -> Code | None:
        """The value of the event at hand."""
        if self.aggregate.argument is None:
            return None
        return as_kind(self.unit.expressions.code(self.aggregate.argument, find), self.kind)

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
