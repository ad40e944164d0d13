"""Latest: of the matches with one end and correlation, one with the latest start (``policy restricted``).

Of several with that start the first in the order of instances stays: the first event that arrives; of other matches
their parts decide, and of alternatives finally the one written first. Null is a value like others here: it is a
correlation of its own. Where only start and correlation are used, such matches need not be distinguished. Matches wait
for the end of their step; instantaneous events do not, since the first one stays. State: the matches of the current
step.
"""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.generate.fields import START, Env, Field
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.alternatives import Alternatives, first_seen
from ensue.engine.operators.keys import column_kinds, group_parts, lookup
from ensue.engine.operators.ordered import in_order, place_of
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.chosen import Chosen, chosen_layout
from ensue.plan import operators as plan


def latest(unit: Unit, node: plan.Latest, inputs: list[Operator], layer: int) -> Operator:
    """The generated operator for a plan's, whose input may be an event, alternatives, or another operator."""
    if isinstance(node.input, plan.Alternatives):
        return LatestAlternative(unit, node.input, node.variables, inputs, layer)
    (input_,) = inputs
    if isinstance(input_, Scan) and unit.events[input_.atom.event].instant:
        return FirstEvent(unit, node.variables, in_order(unit, input_, layer), layer)
    return Latest(unit, node.variables, in_order(unit, input_, layer) if isinstance(input_, Scan) else input_, layer)


class FirstEvent(Passing):
    """Instantaneous events, in order: the first of each correlation in a step, at once."""

    def __init__(self, unit: Unit, variables: Sequence[str], input_: Operator, layer: int) -> None:
        super().__init__(unit, "first", input_, layer)
        self.group: list[Field] = [("var", name) for name in variables]
        input_.want(self.group)

    def take(self, w: Writer, env: Env) -> None:
        parts = group_parts([env[field] for field in self.group])
        with w.block(f"if {first_seen(self, parts)}:"):
            self.push(w, env)


class Choice(Operator):
    """Base of operators that choose one match of each correlation at the end of a step."""

    chosen: str | None = None
    group: Sequence[Field] = ()
    compared: Sequence[Field] = ()
    """The fields that decide between matches that start together; none if they come in order, or do not differ."""

    def choose_by(self, variables: Sequence[str]) -> None:
        self.group = [("var", name) for name in variables]
        self.want(self.group)
        self.unit.later(self.layer, f"held_{self.name}() > 0", f"settle_{self.name}()")

    def compare(self, fields: list[Field]) -> None:
        """Distinguish matches that start together, once a field is requested that may differ between them."""
        if not self.compared and any(field not in self.group for field in fields):
            self.compared = [("part", n, which) for n in range(self.parts) for which in ("end", "start", "place")]
            self.unit.inputs_need_order = True
            self.want(self.compared)

    def choose(self, w: Writer, env: Env, number: int | None = None) -> None:
        """Write code that takes a match as that of its correlation if it is better; `number` is its alternative."""
        columns = self.columns
        parts = self._key(env)
        if self.chosen is None:
            fields = row_fields(columns) if number is None else {"number": "i64", **row_fields(columns)}
            kinds = column_kinds(self.column(field) for field in self.group)
            self.chosen = self.structure("chosen", Chosen, chosen_layout(kinds, fields), len(kinds))
        chosen, start = self.chosen, env[START].value
        at = lookup(self.unit, w, "slot", chosen, parts)
        row, better = w.let("row", f"{chosen}.row[{at}]"), w.let("better", "False")
        with w.block(f"if {chosen}.chosen_in[{at}] != {chosen}.turn:"):
            with w.block(f"if {chosen}.count == {chosen}.capacity:"):
                w.line(f"grow({chosen})")
            w.line(f"{better} = True")
            w.line(f"{row} = {chosen}.count")
            w.line(f"{chosen}.count += 1")
            w.line(f"{chosen}.chosen_in[{at}] = {chosen}.turn")
            w.line(f"{chosen}.row[{at}] = {row}")
        with w.block(f"elif {start} != {chosen}.start[{row}]:"):
            w.line(f"{better} = {start} > {chosen}.start[{row}]")
        if self.compared:
            known = read_row(chosen, row, columns)
            for field in self.compared:
                one, other = (place_of(self.unit, field, each) for each in (env, known))
                with w.block(f"elif {one} != {other}:"):
                    w.line(f"{better} = {one} < {other}")
            if number is not None:
                with w.block("else:"):
                    w.line(f"{better} = {number} < {chosen}.number[{row}]")
        with w.block(f"if {better}:"):
            w.line(f"{chosen}.start[{row}] = {start}")
            if number is not None:
                w.line(f"{chosen}.number[{row}] = {number}")
            write_row(w, chosen, row, columns, env)

    def _key(self, env: Env) -> list[str]:
        """The numbers of a correlation, the same count for each alternative: one may know that a value is not null."""
        codes = [env[field] for field in self.group]
        parts = []
        for field, code in zip(self.group, codes, strict=True):
            parts += group_parts([code])
            if code.valid == "True" and self.column(field).nullable:
                parts.append("1")
        return parts

    def write(self) -> None:
        super().write()
        chosen = self.chosen
        assert chosen is not None
        w = Writer()
        w.line(f"return {chosen}.count")
        self.unit.function(f"held_{self.name}", [], w, "int")
        w = Writer()
        with w.block(f"for i in range({chosen}.count):"):
            env = read_row(chosen, "i", self.columns)
            env[START] = Code(f"{chosen}.start[i]", "True", "i")
            self.push(w, env)
        w.line(f"{chosen}.count = 0")
        w.line(f"{chosen}.turn += 1")
        self.unit.function(f"settle_{self.name}", [], w)


class Latest(Choice, Passing):
    """One match of each correlation; see the module."""

    def __init__(self, unit: Unit, variables: Sequence[str], input_: Operator, layer: int) -> None:
        super().__init__(unit, "latest", input_, layer)
        self.choose_by(variables)

    def require(self, fields: list[Field]) -> None:
        super().require(fields)
        if not isinstance(self.input, Scan):
            self.compare(fields)

    def take(self, w: Writer, env: Env) -> None:
        self.choose(w, env)


class LatestAlternative(Choice, Alternatives):
    """One match of each correlation, of several inputs."""

    def __init__(
        self, unit: Unit, node: plan.Alternatives, variables: Sequence[str], inputs: list[Operator], layer: int
    ) -> None:
        super().__init__(unit, node, inputs, layer)
        self.choose_by(variables)

    def require(self, fields: list[Field]) -> None:
        super().require(fields)
        self.compare(fields)

    def take(self, w: Writer, env: Env, number: int) -> None:
        self.choose(w, self.unified(w, env), number)
