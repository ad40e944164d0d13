"""Static knowledge: facts, tables, and Datalog rules, which are evaluated on demand.

A query is a goal, and evaluated as such (`goals`). The whole closure is computed (`closure`) only where the order in
which rows are found matters: where a column has a number written in two ways, 1 and 1.0, the first counts; and where
rules compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import itemgetter
from typing import Any

from ensue.engine.knowledge.closure import Closure
from ensue.engine.knowledge.goals import Goals
from ensue.engine.knowledge.plans import Call
from ensue.engine.knowledge.questions import Question
from ensue.engine.knowledge.relations import NAN, Relation, Row, Term, Values, access, agree, value_of
from ensue.language import typed
from ensue.language.walk import predicates_used

__all__ = ["Knowledge", "Row"]
DEEPEST = 60
"""Most predicates that may be defined one by the other before the closure is computed: each goal calls the next."""


class Knowledge:
    """The rows of every static predicate. They hold plain values: a list is in no table."""

    def __init__(self, program: typed.Program, tables: Mapping[str, Sequence[Row]]) -> None:
        self._program = program
        self._values = Values()
        self._facts = {name: Relation() for name in program.predicates}
        kinds: dict[tuple[str, int], set[type]] = {}
        for name, predicate in program.predicates.items():
            rows, facts, code = [*predicate.facts, *tables.get(name, ())], self._facts[name], self._values.code
            for row in rows:
                facts.add(tuple(map(code, row)), row)
            for column in range(len(predicate.columns)):
                kinds[name, column] = {int, float}.intersection(map(type, map(itemgetter(column), rows)))
        for rule in program.static_rules:
            for term in rule.head:
                if isinstance(term, typed.Constant):
                    self._values.code(term.value)
        _spread(program.static_rules, kinds)
        mixed = any(len(types) > 1 for types in kinds.values())
        computing = any(rule.computed for rule in program.static_rules)
        written = (mixed and self._values.twofold) or self._values.signed
        self._all_at_once = written or computing or _depth(program) > DEEPEST
        plain = {column: kind for column, types in kinds.items() if len(types) == 1 for kind in types}
        self._goals = Goals(program, self._facts, self._values, plain, self.held)
        self._questions: dict[tuple[str, tuple[bool, ...]], Question] = {}
        if computing:
            self._closure  # noqa: B018 (raises where there is no end to it)

    @property
    def rows(self) -> dict[str, dict[Row, Row]]:
        """All rows of each predicate, by their identity."""
        identities = self._values.identities()
        return {
            name: {tuple(identities[code] for code in row[:-1]): relation.values[row[-1]] for row in relation.rows}
            for name, relation in self._closure.relations.items()
        }

    def held(self, predicate: str, values: list[Any], matter: list[bool]) -> bool:
        """True if there is a row with these values, as far as they matter; null and NaN are in no row."""
        return self.question(predicate, tuple(matter)).holds(list(compress(values, matter)))

    def question(self, predicate: str, matter: tuple[bool, ...]) -> Question:
        """A prepared form of `held` for repeated use, which takes only the values that matter."""
        found = self._questions.get((predicate, matter))
        if found is None:
            call, relation = Call(predicate, tuple(compress(range(len(matter)), matter))), self._complete(predicate)
            rows = None if relation is None else relation.index(call.bound)
            found = self._questions[predicate, matter] = Question(self._values, self._goals, call, rows)
        return found

    def bindings(self, predicate: str, terms: Sequence[Term], values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Values for the variables, one binding for each row that agrees with the bound ones; in any order."""
        columns, alike = access(terms, values)
        codes = self._values.known([value_of(terms[column], values) for column in columns])
        names = [(column, term.name) for column, term in enumerate(terms) if isinstance(term, typed.Variable)]
        relation = self._complete(predicate)
        if relation is not None:
            for row in relation.index(columns, alike).get(codes, ()):
                held = relation.values[row[-1]]
                yield {**values, **{name: held[column] for column, name in names}}
        elif min(codes, default=NAN + 1) > NAN:
            wanted = tuple(column for column in range(len(terms)) if column not in columns)
            places = (*columns, *wanted)
            for answer in self._goals.found(Call(predicate, columns, wanted), codes):
                if answer is not None:
                    written = dict(zip(places, (*codes, *answer), strict=True))
                    if agree(written, alike):
                        found = {n: self._goals.value(written[column], (predicate, column)) for column, n in names}
                        yield {**values, **found}

    @cached_property
    def _closure(self) -> Closure:
        return Closure(self._program, self._facts, self._values)

    def _complete(self, predicate: str) -> Relation | None:
        """All rows of a predicate, if it has facts only or goals cannot be used; else None."""
        if self._all_at_once:
            return self._closure.relations[predicate]
        return None if self._goals.defines(predicate) else self._facts[predicate]


def _spread(rules: Sequence[typed.StaticRule], kinds: dict[tuple[str, int], set[type]]) -> None:
    """Add the kinds of numbers that rules copy from column to column."""
    grows = True
    while grows:
        grows = False
        for rule in rules:
            sources = {
                term.name: (literal.predicate, column)
                for literal in rule.literals
                if not literal.negated
                for column, term in enumerate(literal.arguments)
                if isinstance(term, typed.Variable)
            }
            for column, term in enumerate(rule.head):
                if isinstance(term, typed.Constant):
                    new = {type(term.value)} & {int, float}
                else:
                    new = kinds.get(sources[term.name], set()) if term.name in sources else set()
                known = kinds.setdefault((rule.predicate, column), set())
                grows |= not new <= known
                known |= new


def _depth(program: typed.Program) -> int:
    """Longest chain of predicates that are defined one by the other."""
    depths: dict[str, int] = {}
    for component in program.static_strata:
        rules = [rule for rule in program.static_rules if rule.predicate in component]
        used = {literal.predicate for rule in rules for literal in rule.literals}
        used |= {name for rule in rules for name in predicates_used(*rule.asks)}
        depth = 1 + max((depths[name] for name in used - {*component}), default=-1)
        depths.update(dict.fromkeys(component, depth))
    return max(depths.values(), default=0)
