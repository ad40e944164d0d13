"""Static rules: Datalog, bottom up, each stratum until nothing new follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ensue.errors import DetectError
from ensue.language import limits, typed
from ensue.language.limits import no_end
from ensue.language.semantics import equality, identity
from ensue.language.semantics import held as as_held
from ensue.reference.expressions import evaluate, holds
from ensue.reference.matches import Match

Row = tuple[Any, ...]


class Knowledge:
    """The rows of every static predicate."""

    def __init__(self, program: typed.Program, tables: Mapping[str, Sequence[Row]]) -> None:
        self.rows: dict[str, dict[Row, Row]] = {name: {} for name in program.predicates}
        for name, predicate in program.predicates.items():
            for row in (*predicate.facts, *tables.get(name, ())):
                self.add(name, row)
        for stratum in program.static_strata:
            rules = [rule for rule in program.static_rules if rule.predicate in stratum]
            endless, given = typed.computes_without_bound(rules, stratum), self._count(stratum)
            while sum(self.add(rule.predicate, row) for rule in rules for row in list(self._derived(rule))):
                if endless and self._count(stratum) - given > limits.MOST_ROWS:
                    raise DetectError(no_end(stratum))

    def _count(self, predicates: Iterable[str]) -> int:
        return sum(len(self.rows[name]) for name in predicates)

    def add(self, predicate: str, row: Row) -> bool:
        """Add a row; True if it is new."""
        key = tuple(map(identity, row))
        if key in self.rows[predicate]:
            return False
        self.rows[predicate][key] = row
        return True

    def held(self, predicate: str, values: list[Any], matter: list[bool]) -> bool:
        wanted = [equality(value) for value in values]
        return any(
            all(not m or (w is not None and w == equality(v)) for w, v, m in zip(wanted, row, matter, strict=True))
            for row in self.rows[predicate].values()
        )

    def bindings(
        self, predicate: str, terms: Sequence[typed.Variable | typed.Constant | None], values: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Values for the variables, one binding for each row that agrees with the values bound already."""
        for row in self.rows[predicate].values():
            bound = dict(values)
            for term, value in zip(terms, row, strict=True):
                if isinstance(term, typed.Constant) and not _equal(term.value, value):
                    break
                if isinstance(term, typed.Variable):
                    if term.name in bound and not _equal(bound[term.name], value):
                        break
                    bound[term.name] = value
            else:
                yield bound

    def _derived(self, rule: typed.StaticRule) -> Iterator[Row]:
        found: list[dict[str, Any]] = [{}]
        for literal in rule.literals:
            if not literal.negated:
                found = [new for b in found for new in self.bindings(literal.predicate, literal.arguments, b)]
        for name, expression in rule.computed:
            for bound in found:
                bound[name] = as_held(evaluate(expression, Match(0, 0, bound), self.held), expression.type)
        for literal in rule.literals:
            if literal.negated:
                found = [b for b in found if next(self.bindings(literal.predicate, literal.arguments, b), None) is None]
        for bound in found:
            if all(holds(condition, Match(0, 0, bound), self.held) for condition in rule.conditions):
                yield tuple(t.value if isinstance(t, typed.Constant) else bound[t.name] for t in rule.head)


def _equal(left: Any, right: Any) -> bool:
    key = equality(left)
    return key is not None and key == equality(right)
