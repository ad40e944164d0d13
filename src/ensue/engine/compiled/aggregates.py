"""Aggregates over rows that are visited one after the other, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ensue.engine.compiled.expressions import Code, Find, NotCompiledError, kind_of
from ensue.engine.compiled.unit import Unit
from ensue.language import typed


def aggregates_in(expressions: Iterable[typed.Expression]) -> list[typed.Aggregate]:
    """The aggregates of expressions, each once."""
    found: dict[typed.Aggregate, None] = {}
    waiting = list(expressions)
    while waiting:
        match waiting.pop(0):
            case typed.Aggregate() as aggregate:
                found.setdefault(aggregate)
            case typed.Operation(arguments=arguments):
                waiting[:0] = arguments
    return list(found)


def argument_kind(aggregate: typed.Aggregate) -> str:
    """The kind of the values that are aggregated."""
    assert aggregate.argument is not None
    return kind_of(aggregate.argument.type)


@dataclass
class Walk:
    """Accumulators for aggregates: set up, added to for each row visited, and read in the end."""

    unit: Unit
    wanted: list[typed.Aggregate]
    states: dict[typed.Aggregate, list[str]] = field(default_factory=dict)
    kinds: dict[typed.Aggregate, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        w = self.unit.writer
        self.count = w.let("c", "np.int64(0)")
        for aggregate in self.wanted:
            if aggregate.argument is None:
                continue
            n = w.let("c", "np.int64(0)")
            zero = "0.0" if self._floating(aggregate) else "np.int64(0)"
            match aggregate.name:
                case "count":
                    self.states[aggregate] = [n]
                case "sum" | "avg":
                    self.states[aggregate] = [n, *(w.let("a", zero) for _ in range(3))]
                case "min" | "max" | "first" | "last":
                    self.states[aggregate] = [n, w.let("a", zero)]
                    if aggregate.name in ("first", "last"):
                        self.unit.layout.ordered = True
                case _:
                    raise NotCompiledError(f"the aggregate {aggregate.name}")

    def _floating(self, aggregate: typed.Aggregate) -> bool:
        assert aggregate.argument is not None
        return aggregate.name == "avg" or aggregate.argument.type == "float"

    def add(self, find: Find) -> None:
        """Takes in the row at hand."""
        self.add_held(lambda argument: self.unit.expressions.code(argument, find))

    def add_held(self, held: Find) -> None:
        """Takes in a row that holds the values of the arguments themselves."""
        w = self.unit.writer
        w.line(f"{self.count} += 1")
        for aggregate, names in self.states.items():
            assert aggregate.argument is not None
            code = held(aggregate.argument)
            if code.kind == "s" and aggregate.name in ("min", "max"):
                raise NotCompiledError("strings in order")
            self.kinds[aggregate] = code.kind
            with w.when(code.valid):
                add_value(self.unit, aggregate.name, names, code, self._floating(aggregate))

    def results(self) -> dict[typed.Aggregate, Code]:
        found: dict[typed.Aggregate, Code] = {}
        for aggregate in self.wanted:
            if aggregate.argument is None:
                found[aggregate] = Code(self.count, "True", "i")
                continue
            names = self.states[aggregate]
            some = f"({names[0]} > 0)"
            match aggregate.name:
                case "count":
                    found[aggregate] = Code(names[0], "True", "i")
                case "sum" | "avg":
                    found[aggregate] = total(self.unit, aggregate.name, names, self._floating(aggregate))
                case _:
                    found[aggregate] = Code(names[1], some, self.kinds.get(aggregate, "i"))
        return found


def add_value(unit: Unit, name: str, names: list[str], code: Code, floating: bool) -> None:
    """Adds a value to the accumulators of an aggregate."""
    w = unit.writer
    value = f"np.float64({code.value})" if floating and code.kind != "f" else code.value
    match name:
        case "count":
            w.line(f"{names[0]} += 1")
        case "sum" | "avg":
            w.line(f"{names[0]} += 1")
            w.line(f"{names[1]} += {value}")
            if floating:
                w.line(f"{names[2]}, {names[3]} = add_exactly({names[2]}, {names[3]}, {value})")
        case "min" | "max":
            held = w.let("x", value)
            better = f"{names[0]} == 0 or {smaller(held, names[1], name == 'max', code.kind)}"
            with w.block(f"if {better}:"):
                w.line(f"{names[1]} = {held}")
            w.line(f"{names[0]} += 1")
        case "first":
            w.line(f"{names[1]} = {value}")
            w.line(f"{names[0]} += 1")
        case "last":
            with w.block(f"if {names[0]} == 0:"):
                w.line(f"{names[1]} = {value}")
            w.line(f"{names[0]} += 1")


def smaller(one: str, other: str, larger: bool, kind: str) -> str:
    """Whether a value comes before another (or after it); what is not a number comes last."""
    if larger:
        one, other = other, one
    if kind != "f":
        return f"{one} < {other}"
    return f"({one} < {other} or ({one} == {one} and {other} != {other}))"


def total(unit: Unit, name: str, names: list[str], floating: bool) -> Code:
    """A sum, exact before it is rounded; one that is not finite is what plain addition gives."""
    w = unit.writer
    some = f"({names[0]} > 0)"
    if not floating:
        return Code(names[1], some, "i")
    sum_ = w.let("x", f"{names[2]} + {names[3]} if {names[1]} - {names[1]} == 0.0 else {names[1]}")
    if name == "sum":
        return Code(sum_, some, "f")
    return Code(w.let("x", f"{sum_} / np.float64({names[0]}) if {names[0]} > 0 else 0.0"), some, "f")
