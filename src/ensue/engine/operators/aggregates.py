"""Aggregates over members that are visited one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.expressions import value
from ensue.engine.generate.fields import Column, Env
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import NOTHING, Code, Writer, kind_of
from ensue.language import typed
from ensue.plan.operators import NotPlannedError


def smaller(one: str, other: str, larger: bool, kind: str) -> str:
    """Source for whether a value comes before another (or after it); what is not a number comes last."""
    if larger:
        one, other = other, one
    match kind:
        case "f":
            return f"({one} < {other} or ({one} == {one} and {other} != {other}))"
        case "s" | "o":
            return f"(rank_of(values, {one}) < rank_of(values, {other}))"
        case "b":
            return f"(int({one}) < int({other}))"
        case _:
            return f"({one} < {other})"


class Accumulators:
    """Accumulators for aggregates: set up, added to for each member visited, and read in the end."""

    def __init__(self, unit: Unit, w: Writer, aggregates: Sequence[typed.Aggregate], newest_first: bool) -> None:
        self.unit, self.newest_first = unit, newest_first
        self.aggregates = list(dict.fromkeys(aggregates))
        self.count = w.let("count", "0")
        self.names: dict[typed.Aggregate, dict[str, str]] = {}
        for aggregate in self.aggregates:
            if len(aggregate.path) > 1:
                raise NotPlannedError("an aggregate of what was gathered inside something gathered")
            if aggregate.argument is None:
                continue
            kind = self.held_kind(aggregate)
            names = self.names[aggregate] = {"n": w.let("n", "0")}
            match aggregate.name:
                case "count":
                    pass
                case "sum" | "avg" if kind == "f":
                    names |= {part: w.let(part, "0.0") for part in ("high", "low", "plain")}
                case "sum":
                    names["total"] = w.let("total", "0")
                case "min" | "max" | "first" | "last":
                    names["best"] = w.let("best", NOTHING[kind])
                case _:
                    raise NotPlannedError(f"the aggregate {aggregate.name}")

    @staticmethod
    def held_kind(aggregate: typed.Aggregate) -> str:
        assert aggregate.argument is not None
        kind = kind_of(aggregate.argument.type)
        return "f" if aggregate.name in ("avg", "stddev") else kind

    @staticmethod
    def column(aggregate: typed.Aggregate) -> Column:
        """The kind of an aggregate, and whether it may be null."""
        return Column(kind_of(aggregate.type), aggregate.name != "count")

    def add(self, w: Writer, env: Env) -> None:
        """Takes in the member at hand."""
        w.line(f"{self.count} += 1")
        for aggregate, names in self.names.items():
            assert aggregate.argument is not None
            code = w.held(value(self.unit, w, aggregate.argument, env))
            with w.when(code.valid):
                self._add(w, aggregate, names, code)

    def _add(self, w: Writer, aggregate: typed.Aggregate, names: dict[str, str], code: Code) -> None:
        n, kind = names["n"], self.held_kind(aggregate)
        number = f"float({code.value})" if kind == "f" and code.kind != "f" else code.value
        match aggregate.name:
            case "sum" | "avg" if kind == "f":
                high, low = names["high"], names["low"]
                x = w.let("x", number)
                w.line(f"{names['plain']} = {names['plain']} + {x}")
                with w.block(f"if {x} - {x} == 0.0:"):
                    higher = w.let("high", f"add_high({high}, {low}, {x})")
                    w.line(f"{low} = add_low({high}, {low}, {x})")
                    w.line(f"{high} = {higher}")
            case "sum":
                w.line(f"{names['total']} = wrap({names['total']} + {code.value})")
            case "min" | "max":
                better = smaller(code.value, names["best"], aggregate.name == "max", code.kind)
                with w.block(f"if {n} == 0 or {better}:"):
                    w.line(f"{names['best']} = {code.value}")
            case "first" | "last":
                if (aggregate.name == "first") == self.newest_first:
                    w.line(f"{names['best']} = {code.value}")
                else:
                    with w.block(f"if {n} == 0:"):
                        w.line(f"{names['best']} = {code.value}")
        w.line(f"{n} += 1")

    def results(self, w: Writer) -> Env:
        found = Env()
        for aggregate in self.aggregates:
            if aggregate.argument is None:
                found["agg", aggregate] = Code(self.count, "True", "i")
                continue
            names = self.names[aggregate]
            some = f"({names['n']} > 0)"
            kind = self.held_kind(aggregate)
            match aggregate.name:
                case "count":
                    code = Code(names["n"], "True", "i")
                case "sum" | "avg" if kind == "f":
                    plain = names["plain"]
                    total = w.let("x", f"{names['high']} + {names['low']} if {plain} - {plain} == 0.0 else {plain}")
                    if aggregate.name == "avg":
                        total = w.let("x", f"{total} / float({names['n']}) if {some} else 0.0")
                    code = Code(total, some, "f")
                case "sum":
                    code = Code(names["total"], some, "i")
                case _:
                    code = Code(names["best"], some, kind)
            found["agg", aggregate] = code
        return found
