"""LookUp: matches joined with the rows of a static predicate. Nothing: the empty match at the bottom.

Python computes the rows that agree with the bound values (variables of the input, and constants) once for each
combination of these, and they are remembered as a run of rows (`structures/answers.py`); code loops over the run. Null
and NaN are in no row. The values of a row replace those of the match: where 1 met 1.0, the row's stays. A row is a part
of the match; among parts it lies at time 0, after events and timers, by its values in order, for which `part_place`
stands in comparisons. State: none; rows are static, and at most `MOST` combinations are remembered.

A body without constituents (`while …: collect p` beside static predicates alone) is `LookUp` over `LookUp` … over
`Nothing`. `Nothing` never passes on a match by itself: the operator on top builds and feeds that input like any other,
and writes ``nothing_under(rest).occur(w)`` where it wants all its matches; these arrive one after the other while that
line runs. They start at `NEVER` and have no sources, so they change neither start nor sources of the match they are
joined with.
"""

from __future__ import annotations

from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields
from ensue.engine.generate.unit import NEVER, Spec, Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.kinds import kind_of
from ensue.engine.operators.keys import lookup
from ensue.engine.structures.answers import STATIC, Answers, Facts, answers_layout, facts_layout, part_place
from ensue.engine.subset.source import source_of
from ensue.language import typed
from ensue.plan import operators as plan

FACTS = "facts"
"""The structure of a unit with the static rows that are parts of matches."""


class LookUp(Passing):
    """Matches with static rows; see the module."""

    def __init__(self, unit: Unit, node: plan.LookUp, input_: Operator, layer: int) -> None:
        super().__init__(unit, "look_up", input_, layer)
        self.lookup = node.lookup
        self.kinds: dict[str, str] = {}
        """The variables that rows give values for, and the kinds of these."""
        repeated: set[str] = set()
        for place, term in enumerate(self.lookup.arguments):
            if isinstance(term, typed.Variable):
                mixed = (self.lookup.predicate, place) in unit.mixed_columns
                repeated |= {term.name} & set(self.kinds)
                self.kinds[term.name] = "o" if mixed else kind_of(term.type)
        self.bound = [name for name in self.kinds if input_.has(("var", name))]
        self.certain = {*self.bound, *repeated}
        """The variables that must equal a value, and so are not null."""
        input_.want(("var", name) for name in self.bound)
        self.answers: str | None = None
        unit.structures.setdefault(FACTS, Spec(Facts, facts_layout()))
        unit.use(source_of(part_place))

    # --- fields of its matches

    def _own(self, field: Field) -> bool:
        return (field[0] == "var" and field[1] in self.kinds) or field[:2] == ("part", self.input.parts)

    def require(self, fields: list[Field]) -> None:
        self.input.want(field for field in fields if not self._own(field))

    def has(self, field: Field) -> bool:
        return self._own(field) or self.input.has(field)

    def column(self, field: Field) -> Column:
        if not self._own(field):
            return self.input.column(field)
        if field[0] == "part":
            return Column("i", False)
        return Column(self.kinds[str(field[1])], field[1] not in self.certain)

    @property
    def parts(self) -> int:
        return self.input.parts + 1

    # --- code

    def take(self, w: Writer, env: Env) -> None:
        codes = [env["var", name] for name in self.bound]
        row_parts: list[Field] = [("part", self.input.parts, which) for which in ("k", "place")]
        columns = {field: self.column(field) for field in self.wanted if field[0] == "var" and self._own(field)}
        answers = self._answers(columns, codes, any(part in self.wanted for part in row_parts))
        with w.when(all_of(*(code.has_key for code in codes))):
            parts = [w.let("key", code.bits) for code in codes]
            at = lookup(self.unit, w, "slot", answers, parts)
            with w.block(f"if {answers}.known[{at}] == 0:"):
                w.line(f"ask({answers}, {at})")
            first, row = w.let("first", f"{answers}.first[{at}]"), w.fresh("row")
            past = w.let("past", f"{first} + {answers}.count[{at}]")
            with w.block(f"for {row} in range({first}, {past}):"):
                zero = Code("0", "True", "i")
                found = Env({**env, **read_row(answers, row, columns)})
                for which in ("end", "start"):
                    found["part", self.input.parts, which] = zero
                for part in row_parts:
                    found[part] = Code(f"({STATIC} + {answers}.number[{row}])", "True", "i")
                self.push(w, found)

    def _answers(self, columns: dict[Field, Column], codes: list[Code], numbered: bool) -> str:
        bound = [(name, code.kind) for name, code in zip(self.bound, codes, strict=True)]
        names = [(str(field[1]), column.kind) for field, column in columns.items()]
        nullable = [column.nullable for column in columns.values()]
        layout = answers_layout(len(bound), row_fields(columns))
        return self.structure("answers", Answers, layout, self.lookup, bound, names, nullable, numbered)


def mixed_columns(program: typed.Program) -> frozenset[tuple[str, int]]:
    """Columns of static predicates, by place, that are floats and may hold integers: undeclared facts, and rules."""
    types = {(p.name, i): type_ for p in program.predicates.values() for i, type_ in enumerate(p.columns.values())}
    found = {
        (name, place)
        for name, predicate in program.predicates.items()
        for row in predicate.facts
        for place, value in enumerate(row)
        if types[name, place] == "float" and type(value) is int
    }
    before = -1
    while before < len(found):
        before = len(found)
        for rule in program.static_rules:
            whole = {
                term.name
                for literal in rule.literals
                for place, term in enumerate(literal.arguments)
                if isinstance(term, typed.Variable)
                and (types[literal.predicate, place] == "int" or (literal.predicate, place) in found)
            }
            whole |= {name for name, expression in rule.computed if expression.type == "int"}
            for place, term in enumerate(rule.head):
                named = isinstance(term, typed.Variable) and term.name in whole
                if types[rule.predicate, place] == "float" and (named or type(getattr(term, "value", None)) is int):
                    found.add((rule.predicate, place))
    return frozenset(found)


class Nothing(Operator):
    """An empty match on request; see the module."""

    def __init__(self, unit: Unit, layer: int) -> None:
        super().__init__(unit, "nothing", layer)

    @property
    def parts(self) -> int:
        return 0

    def require(self, fields: list[Field]) -> None:
        pass

    def has(self, field: Field) -> bool:
        return field in (START, SOURCE, OLDEST)

    def column(self, field: Field) -> Column:
        return Column("i", False)

    def occur(self, w: Writer) -> None:
        """Write a call that passes on an empty match."""
        nowhere, none = Code(str(NEVER), "True", "i"), Code("0", "True", "i")
        self.push(w, Env({START: nowhere, SOURCE: none, OLDEST: nowhere}))


def nothing_under(operator: Operator) -> Nothing | None:
    """The `Nothing` at the bottom of an operator, if all operators between are lookups."""
    while isinstance(operator, LookUp):
        operator = operator.input
    return operator if isinstance(operator, Nothing) else None
