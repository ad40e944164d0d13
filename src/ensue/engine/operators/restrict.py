"""Restrict: matches of the right length, whose names are related in time, for which conditions hold. It keeps no state.

Also the operators that give a match a name, or record its interval.
"""

from __future__ import annotations

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import OLDEST, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, Passing
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.join import NOW, related
from ensue.language import typed
from ensue.plan import operators as plan


class Restrict(Passing):
    """Some of the matches; see the module."""

    def __init__(self, unit: Unit, node: plan.Restrict, input_: Operator, layer: int) -> None:
        super().__init__(unit, "restrict", input_, layer)
        self.node = node
        self.related = [r for r in node.related if all(input_.has(("time", n, "end")) for n in (r.left, r.right))]
        names = [name for r in self.related for name in (r.left, r.right)]
        input_.want(
            [*used_by(node.conditions), *(("time", name, which) for name in names for which in ("start", "end"))]
        )
        input_.want([] if node.keep is None else [OLDEST])

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        return self.input.gives_list(aggregate)

    def take(self, w: Writer, env: Env) -> None:
        unit, node = self.unit, self.node
        tests = []
        if node.within is not None:
            tests.append(f"clock.now - {env[START].value} <= {unit.number(node.within)}")
        if node.lasting is not None:
            tests.append(f"clock.now - {env[START].value} == {unit.number(node.lasting)}")
        if node.keep is not None:
            tests.append(f"clock.now - {env[OLDEST].value} <= {unit.number(node.keep)}")
        for each in self.related:
            left, right = (
                (env["time", n, "start"].value, env["time", n, "end"].value) for n in (each.left, each.right)
            )
            tests.append(related(unit, each.relation, left, right))
        with w.when(all_of(*tests)):
            conditions = [f"({truth(unit, w, condition, env)})" for condition in node.conditions]
            with w.when(all_of(*(c for c in conditions if c != "(True)"))):
                self.push(w, env)


class Spanned(Passing):
    """Matches with their intervals as fields."""

    def __init__(self, unit: Unit, node: plan.Spanned, input_: Operator, layer: int) -> None:
        super().__init__(unit, "spanned", input_, layer)
        self.id = node.id

    def require(self, fields: list[Field]) -> None:
        self.input.want(field for field in fields if field[:2] != ("span", self.id))

    def has(self, field: Field) -> bool:
        return field[:2] == ("span", self.id) or self.input.has(field)

    def column(self, field: Field) -> Column:
        return Column("i", False) if field[:2] == ("span", self.id) else self.input.column(field)

    def take(self, w: Writer, env: Env) -> None:
        self.push(w, Env({**env, ("span", self.id, "start"): env[START], ("span", self.id, "end"): NOW}))


class Named(Passing):
    """Matches of a body in parentheses: an event with a name, a start and an end."""

    def __init__(self, unit: Unit, node: plan.Named, input_: Operator, layer: int) -> None:
        super().__init__(unit, "nested", input_, layer)
        self.label = node.nested.label

    def _own(self, field: Field) -> bool:
        return field[0] == "time" and field[1] == self.label

    def require(self, fields: list[Field]) -> None:
        self.input.want(field for field in fields if not self._own(field))

    def has(self, field: Field) -> bool:
        return self._own(field) or (field[0] != "span" and self.input.has(field))

    def column(self, field: Field) -> Column:
        return Column("i", False) if self._own(field) else self.input.column(field)

    def take(self, w: Writer, env: Env) -> None:
        own: dict[Field, Code] = {("time", self.label, "start"): env[START], ("time", self.label, "end"): NOW}
        if OLDEST in env:  # for a window alone in parentheses it is its own end
            own[OLDEST] = Code(f"min({env[OLDEST].value}, clock.now)", "True", "i")
        self.push(w, Env({**env, **own}))
