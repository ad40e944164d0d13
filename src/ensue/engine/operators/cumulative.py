"""A cumulative side of a choice: the members taken become one composite.

It covers all of them, and has only their shared values, and aggregates. Its parts are those of all members, one after
the other: the first of them, and a chain of the others where it is requested.
"""

from __future__ import annotations

from collections.abc import Container

from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.aggregates import Accumulators, Aggregates
from ensue.engine.operators.parts import KNOWN, chains_of, order_fields


class Cumulative:
    """The composites of one side: their fields, and the aggregates for them."""

    def __init__(self, unit: Unit, gathering: int, members: Operator, other: Operator, shared: tuple[str, ...]) -> None:
        self.unit, self.members, self.shared = unit, members, shared
        self.aggregates = Aggregates(gathering, members, other)
        self.parts = min(1, members.parts)
        self.chained = False
        """True if all parts are requested."""

    def has(self, field: Field) -> bool:
        if field[0] == "var":
            return field[1] in self.shared
        return field in (SOURCE, OLDEST) or self.aggregates.owns(field)

    def want(self, field: Field) -> None:
        if self.aggregates.owns(field):
            self.aggregates.want(field)
        elif field[0] == "part" and field[2] == "more":
            self.chained = True
            self.members.want(order_fields(self.members))
        else:
            self.members.want([field])

    def column(self, field: Field) -> Column:
        if self.aggregates.owns(field):
            return self.aggregates.column(field)
        if field[0] == "part" and field[2] == "more":
            return Column("c", False)
        return self.members.column(field)


class Composite:
    """A composite while its members are visited, oldest first."""

    def __init__(self, of: Cumulative, w: Writer, wanted: Container[Field]) -> None:
        self.of = of
        self.sums = Accumulators(of.unit, w, of.aggregates.wanted, newest_first=False)
        self.start, self.end = w.let("start", str(NEVER)), w.let("finish", "0")
        self.source = w.let("source", "0") if SOURCE in wanted else None
        self.oldest = w.let("oldest", str(NEVER)) if OLDEST in wanted else None
        if of.chained:
            w.line(f"begin_chain({chains_of(of.unit)})")

    def add(self, w: Writer, member: Env, end: str, other: Env) -> None:
        """Write code that adds a member, with the fields of the other side."""
        w.line(f"{self.start} = min({self.start}, {member[START].value})")
        w.line(f"{self.end} = {end}")
        if self.source is not None:
            w.line(f"{self.source} = union({self.source}, {member[SOURCE].value})")
        if self.oldest is not None:
            w.line(f"{self.oldest} = min({self.oldest}, {member[OLDEST].value})")
        if self.of.chained:
            self._chain(w, member)
        self.sums.add(w, Env({**other, **member}))

    def _chain(self, w: Writer, member: Env) -> None:
        """Write code that adds all parts of a member to the chain, except the first of the first member."""
        chains = chains_of(self.of.unit)
        for number in range(self.of.members.parts):
            part = ", ".join(member["part", number, which].value for which in KNOWN)
            with w.when("True" if number else f"{self.sums.count} > 0"):
                w.line(f"add_part({chains}, {part})")
            if number in self.of.members.chains:
                w.line(f"add_chain({chains}, {member['part', number, 'more'].value})")

    def found(self, w: Writer, first: Env) -> Env:
        """The fields of the composite; `first` is its first member."""
        env = Env({START: Code(self.start, "True", "i")})
        for field, code in first.items():
            if field[:2] == ("part", 0) or (field[0] == "var" and field[1] in self.of.shared):
                env[field] = code
        if self.of.chained:
            env["part", 0, "more"] = Code(w.let("more", f"{chains_of(self.of.unit)}.head"), "True", "c")
        if self.source is not None:
            env[SOURCE] = Code(self.source, "True", "i")
        if self.oldest is not None:
            env[OLDEST] = Code(self.oldest, "True", "i")
        return Env({**env, **self.sums.results(w)})
