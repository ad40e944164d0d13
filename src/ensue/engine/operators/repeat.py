"""Repeat: each match with those before it in its group, n together (``p{n}`` that stands alone).

A group is the values of the variables that others share, null being one. Matches of one step come in their order. Such
a composite covers its members, and has their parts one after the other; its other fields are the group's values and
aggregates. State: the last n matches of each group. Cost: as in `sliding.py`, whatever n is; but parts, where they are
requested (contexts, order), are n times those of a member: fields of their own if they are few, else the first and a
chain of the others.
"""

from __future__ import annotations

from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.aggregates import Aggregates
from ensue.engine.operators.keys import lookup
from ensue.engine.operators.parts import COMPARED, chains_of, order_fields
from ensue.engine.operators.sliding import ALL, Sliding, group_key, group_kinds
from ensue.language import typed
from ensue.plan import operators as plan
from ensue.temporal.instants import instantaneous


class Repeat(Operator):
    """Matches together with those before them; see the module."""

    def __init__(self, unit: Unit, node: plan.Repeat, input_: Operator, layer: int) -> None:
        super().__init__(unit, "repeat", layer)
        self.run, self.input = node.run, input_
        self.aggregates = Aggregates(self.run.id, input_, None)
        input_.want(("var", name) for name in self.run.keys)
        input_.feed(self.take)

    @property
    def parts(self) -> int:
        return min(1, self.input.parts) if self.chained else self.run.count * self.input.parts

    @property
    def chained(self) -> bool:
        """True if all parts but the first are in a chain: where there are many."""
        return self.run.count * self.input.parts > FEW_PARTS

    @property
    def chains(self) -> frozenset[int]:
        if self.chained:
            return frozenset({0})
        members = range(self.run.count)
        return frozenset(member * self.input.parts + number for member in members for number in self.input.chains)

    @property
    def ragged(self) -> bool:
        return self.chained or self.input.ragged

    def _part(self, field: Field) -> tuple[int, Field]:
        """The member that a part belongs to, and its field there."""
        member, part = divmod(int(str(field[1])), self.input.parts)
        return member, ("part", part, field[2])

    def has(self, field: Field) -> bool:
        match field:
            case ("var", name):
                return name in self.run.keys
            case ("part", number, "more"):
                return number in self.chains
            case ("part", int(number), _):
                return number < self.parts
            case _:
                return field in (START, SOURCE, OLDEST) or self.aggregates.owns(field)

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        return self.aggregates.owns(("list", aggregate))

    def require(self, fields: list[Field]) -> None:
        for field in fields:
            if self.aggregates.owns(field):
                self.aggregates.want(field)
            elif self.chained and field == MORE:
                self.input.want(order_fields(self.input))
            else:
                self.input.want([self._part(field)[1] if field[0] == "part" else field])

    def column(self, field: Field) -> Column:
        if self.aggregates.owns(field):
            return self.aggregates.column(field)
        if self.chained and field == MORE:
            return Column("c", False)
        return self.input.column(self._part(field)[1] if field[0] == "part" else field)

    # --- code

    def take(self, w: Writer, env: Env) -> None:
        unit = self.unit
        instant = instantaneous(self.run.pattern, unit.events)
        members = Sliding(self, self.aggregates.wanted, by_start=False, starts=not instant)
        keys: list[Field] = [("var", name) for name in self.run.keys]
        groups = [w.held(env[field]) for field in keys]
        parts = group_key(w, groups)
        mixed = [field for field in keys if env[field].kind == "o" and field in self.wanted]
        inner = list(dict.fromkeys(self._part(field)[1] for field in self.wanted if field[0] == "part"))
        if self.chained and MORE in self.wanted:
            inner = order_fields(self.input)
        extra = [*mixed, *inner, *(field for field in (SOURCE, OLDEST) if field in self.wanted)]
        member = members.member(w, Env({**env, OLDEST: Code("clock.now", "True", "i")}), extra)
        g = members.lay_out(group_kinds(groups), member, {}, {})
        size = unit.number(self.run.count)
        at = lookup(unit, w, "slot", g, parts)
        with w.block(f"if {g}.count[{at}] == {size}:"):
            w.line(f"leave_{members.name}({at}, {g}.{ALL}_first[{at}])")
        members.enter(w, at, member)
        with w.block(f"if {g}.count[{at}] == {size}:"):
            found = Env({**env, **members.results(w, at)})
            found[START] = Code(w.let("start", members.first_start(at)), "True", "i")
            first = [*mixed, *([OLDEST] if OLDEST in self.wanted else [])]
            if first:
                oldest = members.read(f"{g}.{ALL}_first[{at}]")
                found |= {field: oldest[field] for field in first}
            self._parts(w, members, at, found)
            if SOURCE in self.wanted:
                found[SOURCE] = members.source(w, at)
            self.push(w, found)
        members.write_leave()

    def _parts(self, w: Writer, members: Sliding, at: str, found: Env) -> None:
        """The parts of the members that are wanted, from the first member to the last."""
        wanted = [field for field in self.wanted if field[0] == "part"]
        if not wanted:
            return
        row = w.let("row", f"{members.groups}.{ALL}_first[{at}]")
        for number in range(1 if self.chained else self.run.count):
            if number:
                row = w.let("row", f"{members.groups}.{ALL}_next[{row}]")
            there = members.read(row)
            for field in wanted:
                member, part = self._part(field)
                if member == number and not (self.chained and field == MORE):
                    found[field] = there[part]
        if self.chained and MORE in wanted:
            found[MORE] = self._chain(w, members, row)

    def _chain(self, w: Writer, members: Sliding, first: str) -> Code:
        """A chain of all parts but the first."""
        chains = chains_of(self.unit)
        w.line(f"begin_chain({chains})")
        row = w.let("row", first)
        with w.block(f"while {row} != 0:"):
            there = members.read(row)
            for number in range(self.input.parts):
                part = ", ".join(there["part", number, which].value for which in COMPARED)
                with w.when("True" if number else f"{row} != {first}"):
                    w.line(f"add_part({chains}, {part})")
                if number in self.input.chains:
                    w.line(f"add_chain({chains}, {there['part', number, 'more'].value})")
            w.line(f"{row} = {members.groups}.{ALL}_next[{row}]")
        return Code(w.let("more", f"{chains}.head"), "True", "c")


FEW_PARTS = 12
"""Most parts that have fields of their own."""

MORE: Field = ("part", 0, "more")
