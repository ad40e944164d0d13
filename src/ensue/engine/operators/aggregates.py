"""Aggregates over the members of a gathering, computed while members are visited.

Where members have gathered members of their own, each brings the state of the aggregate over these (fields ``("cell",
aggregate, name)``), and the states are merged. `aggregations.py` has the algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from ensue.engine.generate.expressions import convert, value
from ensue.engine.generate.fields import Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.kinds import kind_of
from ensue.engine.operators.aggregations import COUNT, Algorithm, State, algorithm, smaller
from ensue.engine.structures import collected
from ensue.engine.structures.collected import RESULT, TUPLE, Collected, Collection, collected_layout
from ensue.engine.subset.source import source_of
from ensue.language import typed
from ensue.language.aggregates import AGGREGATES
from ensue.records import dataclass

__all__ = ["Accumulators", "Aggregates", "Kept", "kept", "smaller"]


@dataclass(frozen=True)
class Kept:
    """Implementation of an aggregate: the kind of its values, its algorithm, and the fields it takes of a member."""

    aggregate: typed.Aggregate
    kind: str
    algorithm: Algorithm

    @property
    def nested(self) -> bool:
        return len(self.aggregate.path) > 1

    @property
    def inner(self) -> typed.Aggregate:
        """The same aggregate over a member's own members."""
        return replace(self.aggregate, path=self.aggregate.path[1:])

    @property
    def cells(self) -> dict[str, str]:
        return dict(self.algorithm.cells(self.kind))

    def kind_of_cell(self, cell: str) -> str:
        return {"f64": "f", "code": "o"}.get(self.cells[cell], "i")

    @property
    def collects(self) -> bool:
        return self.algorithm.slides in ("tree", "all")

    def fields(self) -> list[Field]:
        """The fields of a member, or of the match around it, that it is computed from."""
        if self.nested:
            return [("cell", self.inner, cell) for cell in self.cells]
        return used_by([self.aggregate.argument])

    def value(self, unit: Unit, w: Writer, env: Env) -> Code:
        """The value of a member: that of the argument, as it is stored."""
        assert self.aggregate.argument is not None
        known = env.get(("value", self.aggregate.argument, self.kind))
        if known is not None:
            return known
        found = convert(unit, w, value(unit, w, self.aggregate.argument, env), self.kind)
        return w.held(Code(found.stored, found.valid, "i" if self.kind == "b" else self.kind))

    def state(self, unit: Unit, env: Env) -> State:
        """The state that a member brings."""
        return State(unit, self.kind, {cell: env["cell", self.inner, cell].value for cell in self.cells})


@cache
def kept(aggregate: typed.Aggregate) -> Kept:
    """The implementation of an aggregate."""
    if aggregate.argument is None:
        return Kept(aggregate, "i", COUNT)
    return Kept(aggregate, *algorithm(aggregate, kind_of(aggregate.argument.type)))


class Aggregates:
    """The wanted aggregates of one gathering, over members that see the match around them."""

    def __init__(self, gathering: int, members: Operator, around: Operator | None) -> None:
        self.gathering, self.members, self.around = gathering, members, around
        self.wanted: dict[Field, None] = {}

    def owns(self, field: Field) -> bool:
        aggregate = field[1] if field[0] in ("agg", "cell", "list") else None
        return isinstance(aggregate, typed.Aggregate) and aggregate.path[0] == self.gathering

    def want(self, field: Field) -> None:
        """Request an aggregate, or a cell of its state."""
        aggregate = field[1]
        assert isinstance(aggregate, typed.Aggregate)
        self.wanted[field] = None
        for used in kept(aggregate).fields():
            (self.members if self.around is None or self.members.has(used) else self.around).want([used])

    def column(self, field: Field) -> Column:
        """The kind of an aggregate, or of a cell of its state, and a flag that it may be null."""
        aggregate = field[1]
        assert isinstance(aggregate, typed.Aggregate)
        if field[0] == "cell":
            return Column(kept(aggregate).kind_of_cell(str(field[2])), False)
        if field[0] == "list":
            return Column("l", True)
        return Accumulators.column(aggregate)


class Accumulators:
    """Accumulators for aggregates: set up, updated for each member, and read at the end.

    `aggregates` are aggregates, or fields: aggregates, and cells of their states. `count` is the number of members.
    """

    def __init__(
        self, unit: Unit, w: Writer, aggregates: Sequence[typed.Aggregate | Field] | Iterable[Field], newest_first: bool
    ) -> None:
        self.unit, self.newest_first = unit, newest_first
        self.wanted: list[Field] = [
            ("agg", each) if isinstance(each, typed.Aggregate) else each for each in dict.fromkeys(aggregates)
        ]
        self.count = w.let("count", "0")
        self.place = f"-{self.count}" if newest_first else self.count
        self.states: dict[Kept, State] = {}
        self.scratch: dict[Kept, str] = {}
        for field in self.wanted:
            aggregate = field[1]
            assert isinstance(aggregate, typed.Aggregate)
            one = kept(aggregate)
            if one.collects:
                self._collected(w, one)
            elif one not in self.states and (one.nested or aggregate.argument is not None):
                cells = {c: w.let(c, "0.0" if e == "f64" else "0") for c, e in one.cells.items()}
                self.states[one] = State(unit, one.kind, cells, self.place)

    @staticmethod
    def column(aggregate: typed.Aggregate) -> Column:
        """The kind of an aggregate, and a flag that it may be null."""
        return Column(kind_of(aggregate.type), AGGREGATES[aggregate.name].empty is None)

    def _collected(self, w: Writer, one: Kept) -> None:
        if one not in self.scratch:
            self.scratch[one] = collection(self.unit, one)
            w.line(f"{self.scratch[one]}.count = 0")

    def add(self, w: Writer, env: Env) -> None:
        """Write code that adds the current member."""
        for one, state in self.states.items():
            add_member(self.unit, w, one, state, env)
        for one, scratch in self.scratch.items():
            collect_member(self.unit, w, one, scratch, env, self.place)
        w.line(f"{self.count} += 1")

    def results(self, w: Writer) -> Env:
        """The results: aggregates, and cells of states."""
        found = Env()
        for field in self.wanted:
            aggregate = field[1]
            assert isinstance(aggregate, typed.Aggregate)
            one = kept(aggregate)
            if one in self.scratch:
                found[field] = read_collected(w, one, self.scratch[one], field)
            elif one not in self.states:
                found[field] = Code(self.count, "True", "i")
            elif field[0] == "agg":
                found[field] = one.algorithm.result(w, self.states[one])
            else:
                cell = str(field[2])
                found[field] = Code(self.states[one][cell], "True", one.kind_of_cell(cell))
        return found


# --- members, one at a time


def add_member(unit: Unit, w: Writer, one: Kept, state: State, env: Env, sign: str = "+") -> None:
    """Write code that adds the current member to a state, or removes it."""
    if one.nested:
        one.algorithm.merge(w, state, one.state(unit, env), sign)
    elif one.aggregate.argument is None:
        one.algorithm.add(w, state, "1", sign)
    else:
        code = one.value(unit, w, env)
        if code.valid != "False":
            with w.when(code.valid):
                one.algorithm.add(w, state, code.value, sign)


def collection(unit: Unit, one: Kept) -> str:
    """A structure for collected values, from which Python computes an aggregate."""
    unit.use(COLLECT)
    scratch = unit.structure("collected", Collected, collected_layout())
    result = kind_of(one.aggregate.type)
    unit.questions[scratch] = Collection(one.aggregate, one.kind, result, one.nested)
    return scratch


COLLECT = source_of(collected.collect)


def collect_member(unit: Unit, w: Writer, one: Kept, scratch: str, env: Env, place: str = "0") -> None:
    """Write code that collects the current member's value, or its own members' list of values, ordered by `place`."""
    if one.nested:
        n, held = (env["cell", one.inner, cell].value for cell in ("n", "held"))
        with w.block(f"if {n} > 0:"):
            w.line(f"collect({scratch}, {held}, {place})")
        return
    code = one.value(unit, w, env)
    if code.valid != "False":
        with w.when(code.valid):
            w.line(f"collect({scratch}, {f'bits({code.value})' if code.kind == 'f' else code.value}, {place})")


def read_collected(w: Writer, one: Kept, scratch: str, field: Field) -> Code:
    """The result that Python computes from collected values: the aggregate, or its state, which is a list of them."""
    if field[0] == "cell" and field[2] == "n":
        return Code(w.let("n", f"{scratch}.count"), "True", "i")
    if field[0] == "cell":
        return Code(w.let("held", f"(ask({scratch}, {TUPLE}) if {scratch}.count > 0 else 0)"), "True", "o")
    if field[0] == "list":
        there = w.let("ok", f"{scratch}.count > 0")
        return Code(w.let("list", f"keep_list(lists, {scratch}) if {there} else 0"), there, "l")
    kind = kind_of(one.aggregate.type)
    answer = w.let("x", f"ask({scratch}, {RESULT})")
    there = w.let("ok", f"{scratch}.there != 0")
    match kind:
        case "f":
            return Code(w.let("x", f"from_bits({answer})"), there, kind)
        case "b":
            return Code(f"({answer} != 0)", there, kind)
        case _:
            return Code(answer, there, kind)
