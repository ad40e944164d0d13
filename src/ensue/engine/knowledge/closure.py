"""Closure of static rules, semi-naive: a rule joins only rows that are new since its last turn.

Rules take their turns in the order in which they are written, and the rows of a turn follow the order of the rows that
they are derived from. So the rows have one order, and of a number that can be written in two ways (1 and 1.0) the first
stays.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from ensue.engine.evaluate import Matched, evaluate, holds
from ensue.engine.knowledge.relations import (
    Alike,
    Codes,
    Columns,
    Pick,
    Relation,
    Row,
    Term,
    Values,
    access,
    indexed,
    pick,
    value_of,
)
from ensue.errors import DetectError
from ensue.language import limits, typed
from ensue.language.semantics import held as as_held
from ensue.records import dataclass


class Closure:
    """The rows of every static predicate, from the given ones."""

    def __init__(self, program: typed.Program, facts: Mapping[str, Relation], values: Values) -> None:
        self._values = values
        derived = {rule.predicate for rule in program.static_rules}
        self.relations = {name: facts[name].copy() if name in derived else facts[name] for name in program.predicates}
        for stratum in program.static_strata:
            rules = [
                _rule(rule, stratum, values.constant) for rule in program.static_rules if rule.predicate in stratum
            ]
            own = [rule for rule in program.static_rules if rule.predicate in stratum]
            endless, given = typed.computes_without_bound(own, stratum), self._count(stratum)
            while sum(self._turn(rule) for rule in rules):
                if endless and self._count(stratum) - given > limits.MOST_ROWS:
                    raise DetectError(limits.no_end(stratum))

    def _count(self, predicates: Iterable[str]) -> int:
        return sum(len(self.relations[name].rows) for name in predicates)

    def held(self, predicate: str, values: list[Any], matter: list[bool]) -> bool:
        """True if there is a row with these values, as far as they matter; null and NaN are in no row."""
        columns = tuple(column for column, matters in enumerate(matter) if matters)
        return self._values.known([values[column] for column in columns]) in self.relations[predicate].index(columns)

    def _turn(self, rule: _Rule) -> int:
        """Add the rows that a rule derives from rows since its last turn; returns their number."""
        relations = [self.relations[literal.predicate] for literal in rule.literals]
        sizes = [len(relation.rows) for relation in relations]
        if sizes == rule.seen:
            return 0
        seen, rule.seen = rule.seen or [0] * len(sizes), sizes
        target = self.relations[rule.predicate]
        values = [relation.values for relation in relations]
        if rule.computed:
            return self._compute(rule, seen, values)
        new: dict[Codes, Codes] = {}
        for plan in rule.due(seen, sizes):
            known, head, origin_of = target.known, plan.head, plan.origin
            for match in self._matches(plan, seen):
                if (row := head(match)) not in known:
                    origin, first = origin_of(match), new.get(row)
                    if (first is None or origin < first) and self._allowed(rule, origin, values):
                        new[row] = origin
        for row, origin in sorted(new.items(), key=itemgetter(1)):
            bound = rule.bound(origin, values)
            target.add(row, tuple([value_of(term, bound) for term in rule.head]))
        return len(new)

    def _compute(self, rule: _Rule, seen: list[int], values: list[list[Row]]) -> int:
        """A turn of a rule that computes: its rows are identified by their values alone."""
        target, code = self.relations[rule.predicate], self._values.code
        new: dict[Codes, tuple[Codes, Row]] = {}
        for plan in rule.due(seen, rule.seen or []):
            for match in self._matches(plan, seen):
                origin = plan.origin(match)
                bound = rule.bound(origin, values)
                for name, expression in rule.computed:
                    bound[name] = as_held(evaluate(expression, Matched(bound), self.held), expression.type)
                if any(self._has(literal, bound) for literal in rule.absent):
                    continue
                if not all(holds(condition, Matched(bound), self.held) for condition in rule.conditions):
                    continue
                row = tuple([value_of(term, bound) for term in rule.head])
                codes = tuple(map(code, row))
                if codes not in target.known and (codes not in new or origin < new[codes][0]):
                    new[codes] = origin, row
        for codes, (_, row) in sorted(new.items(), key=lambda each: each[1][0]):
            target.add(codes, row)
        return len(new)

    def _has(self, literal: typed.StaticLiteral, bound: Mapping[str, Any]) -> bool:
        """True if a literal has a row with the values of its variables."""
        columns, alike = access(literal.arguments, bound)
        codes = self._values.known([value_of(literal.arguments[column], bound) for column in columns])
        return codes in self.relations[literal.predicate].index(columns, alike)

    def _matches(self, plan: _Plan, seen: list[int]) -> Iterable[Codes]:
        """The rows that fit together, one after the other in one tuple.

        They are new ones for the plan's first literal, old ones for those written before it, and any for those after
        it: so no match is found by two plans. Only the last join, which may be large, is not kept in memory.
        """
        found: Iterable[Codes] = [plan.constants]
        for step in plan.joins:
            relation = self.relations[step.predicate]
            if step.place == plan.start:
                found = _joined(found, indexed(relation.rows[seen[step.place] :], step.columns, step.alike), step.key)
            elif found := list(found):
                old = seen[step.place] if step.place < plan.start else None
                found = _joined(found, relation.index(step.columns, step.alike), step.key, old)
        absent = [(step.key, self.relations[step.predicate].index(step.columns, step.alike)) for step in plan.absences]
        return (match for match in found if not any(key(match) in rows for key, rows in absent)) if absent else found

    def _allowed(self, rule: _Rule, origin: Codes, values: list[list[Row]]) -> bool:
        """True if the conditions of the rule hold."""
        if not rule.conditions:
            return True
        match = Matched(rule.bound(origin, values))
        return all(holds(condition, match, self.held) for condition in rule.conditions)


def _joined(
    matches: Iterable[Codes], rows: dict[Codes, list[Codes]], key: Pick, old: int | None = None
) -> Iterator[Codes]:
    """Each match with each row that it leads to; with `old`, only with rows of smaller numbers."""
    for match in matches:
        fitting = rows.get(key(match), [])
        for row in fitting if old is None else [row for row in fitting if row[-1] < old]:
            yield match + row


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """A literal to look up: `key` picks the codes of its columns from the match so far."""

    place: int
    predicate: str
    columns: Columns
    alike: Alike
    key: Pick


@dataclass(frozen=True)
class _Plan:
    """A rule evaluated from one of its literals: a match is the constants' codes, and then row after row."""

    start: int
    constants: Codes
    joins: tuple[_Step, ...]
    absences: tuple[_Step, ...]
    head: Pick
    origin: Pick
    """The number of the row that each literal was matched by, in the order in which they are written."""


@dataclass
class _Rule:
    """A rule, its plan for each of its literals, and the numbers of their rows it has seen."""

    predicate: str
    head: tuple[typed.Variable | typed.Constant, ...]
    literals: tuple[typed.StaticLiteral, ...]
    """The literals that are not negated."""
    conditions: tuple[typed.Expression, ...]
    sources: Mapping[str, tuple[int, int]]
    """The literal and the column that a variable takes its value from: the last it is written in."""
    plans: Mapping[int, _Plan]
    computed: tuple[tuple[str, typed.Expression], ...] = ()
    absent: tuple[typed.StaticLiteral, ...] = ()
    """The negated literals, of a rule that computes."""
    seen: list[int] | None = None

    def due(self, seen: list[int], sizes: list[int]) -> Iterator[_Plan]:
        """The plans that may find matches: there are new rows for their literal, and old ones for those before it."""
        for start, plan in self.plans.items():
            if not self.literals or (seen[start] < sizes[start] and all(seen[:start])):
                yield plan

    def bound(self, origin: Codes, values: list[list[Row]]) -> dict[str, Any]:
        return {name: values[place][origin[place]][column] for name, (place, column) in self.sources.items()}


def _rule(rule: typed.StaticRule, stratum: Container[str], code: Callable[[Any], int]) -> _Rule:
    """Prepare a rule; only literals of its own stratum get new rows after its first turn."""
    literals = tuple(literal for literal in rule.literals if not literal.negated)
    sources = {
        term.name: (place, column)
        for place, literal in enumerate(literals)
        for column, term in enumerate(literal.arguments)
        if isinstance(term, typed.Variable)
    }
    starts = {0, *(place for place, literal in enumerate(literals) if literal.predicate in stratum)}
    absent = tuple(literal for literal in rule.literals if literal.negated) if rule.computed else ()
    planned = replace(rule, head=(), literals=literals) if rule.computed else rule
    plans = {start: _plan(planned, literals, start, code) for start in starts}
    return _Rule(rule.predicate, rule.head, literals, rule.conditions, sources, plans, rule.computed, absent)


def _plan(
    rule: typed.StaticRule, literals: tuple[typed.StaticLiteral, ...], start: int, code: Callable[[Any], int]
) -> _Plan:
    terms = [*rule.head, *(term for literal in rule.literals for term in literal.arguments)]
    constants = tuple(dict.fromkeys(code(term.value) for term in terms if isinstance(term, typed.Constant)))
    offsets: dict[int | str, int] = {constant: offset for offset, constant in enumerate(constants)}
    """The place in a match of the code of a constant, or of a variable by its name."""

    def picked(terms: Iterable[Term]) -> Pick:
        keys = [code(term.value) if isinstance(term, typed.Constant) else term.name for term in terms if term]
        return pick([offsets[key] for key in keys])

    def step(place: int, literal: typed.StaticLiteral) -> _Step:
        columns, alike = access(literal.arguments, offsets)
        return _Step(place, literal.predicate, columns, alike, picked(literal.arguments[column] for column in columns))

    joins, numbers, width = [], {}, len(constants)
    for place in _join_order(literals, start):
        arguments = literals[place].arguments
        joins.append(step(place, literals[place]))
        for column, term in enumerate(arguments):
            if isinstance(term, typed.Variable):
                offsets.setdefault(term.name, width + column)
        numbers[place] = width + len(arguments)
        width += len(arguments) + 1
    absences = tuple(step(place, literal) for place, literal in enumerate(rule.literals) if literal.negated)
    origin = pick([numbers[place] for place in range(len(literals))])
    return _Plan(start, constants, tuple(joins), absences, picked(rule.head), origin)


def _join_order(literals: tuple[typed.StaticLiteral, ...], start: int) -> Iterator[int]:
    """The order of literals from one on: next is always the one with the most known columns."""
    waiting, bound = dict(enumerate(literals)), set[str]()
    place = start
    while waiting:
        yield place
        bound.update(term.name for term in waiting.pop(place).arguments if isinstance(term, typed.Variable))
        place = max(waiting, key=lambda other: len(access(waiting[other].arguments, bound)[0]), default=start)
