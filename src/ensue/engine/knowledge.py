"""Static knowledge, semi-naive: Datalog in which a rule looks only at what is new since its last turn.

Every value has a code, a small integer that is the same for values that are the same. Rows are joined as tuples of
codes, through hash indexes; the values themselves are fetched only for conditions and for rows that are new. Rules take
their turns in the order in which they are written, and what a turn derives comes in the order of what it was derived
from. So the rows have one order, and a number that can be written in two ways (1 and 1.0) stays as it was found first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from operator import itemgetter
from typing import Any

from ensue.language import typed
from ensue.reference.expressions import holds
from ensue.reference.matches import Match
from ensue.values import identity

Row = tuple[Any, ...]
Term = typed.Variable | typed.Constant | None
Codes = tuple[int, ...]
"""Codes of values; those of a row are followed by the row's number."""
Pick = Callable[[Codes], Codes]
Columns = tuple[int, ...]
Alike = tuple[tuple[int, int], ...]
"""Pairs of columns that must be equal."""

NULL, NAN = 0, 1
"""The codes of what equals nothing; all others are larger."""


class Knowledge:
    """The rows of every static predicate. They hold plain values: a list is in no table."""

    def __init__(self, program: typed.Program, tables: Mapping[str, Sequence[Row]]) -> None:
        self._codes: defaultdict[Any, int] = defaultdict(count().__next__)
        assert (self._code(None), self._code(math.nan)) == (NULL, NAN)
        self._relations = {name: _Relation() for name in program.predicates}
        for name, predicate in program.predicates.items():
            for row in (*predicate.facts, *tables.get(name, ())):
                self._relations[name].add(tuple(map(self._code, row)), row)
        for stratum in program.static_strata:
            rules = [_rule(rule, stratum, self._code) for rule in program.static_rules if rule.predicate in stratum]
            while sum(self._turn(rule) for rule in rules):
                pass

    @cached_property
    def rows(self) -> dict[str, dict[Row, Row]]:
        """The rows of each predicate, by what makes them distinct."""
        identities = list(self._codes)
        return {
            name: {tuple(identities[code] for code in row[:-1]): relation.values[row[-1]] for row in relation.rows}
            for name, relation in self._relations.items()
        }

    def held(self, predicate: str, values: list[Any], matter: list[bool]) -> bool:
        """Whether there is a row with these values, as far as they matter; null and NaN are in no row."""
        columns = tuple(column for column, matters in enumerate(matter) if matters)
        return self._known([values[column] for column in columns]) in self._relations[predicate].index(columns)

    def bindings(self, predicate: str, terms: Sequence[Term], values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Values for the variables, one binding for each row that agrees with what is bound already."""
        columns, alike = _access(terms, values)
        wanted = self._known([_value(terms[column], values) for column in columns])
        names = [(column, term.name) for column, term in enumerate(terms) if isinstance(term, typed.Variable)]
        relation = self._relations[predicate]
        for row in relation.index(columns, alike).get(wanted, ()):
            found = relation.values[row[-1]]
            yield {**values, **{name: found[column] for column, name in names}}

    def _code(self, value: Any) -> int:
        return self._codes[identity(value)]

    def _known(self, values: Iterable[Any]) -> Codes:
        """The codes of values; one that no row has is as good as null."""
        return tuple([self._codes.get(identity(value), NULL) for value in values])

    def _turn(self, rule: _Rule) -> int:
        """Adds what follows by the rule from rows that came since its last turn; the number of rows added."""
        relations = [self._relations[literal.predicate] for literal in rule.literals]
        sizes = [len(relation.rows) for relation in relations]
        if sizes == rule.seen:
            return 0
        seen, rule.seen = rule.seen or [0] * len(sizes), sizes
        target = self._relations[rule.predicate]
        values = [relation.values for relation in relations]
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
            target.add(row, tuple([_value(term, bound) for term in rule.head]))
        return len(new)

    def _matches(self, plan: _Plan, seen: list[int]) -> Iterable[Codes]:
        """The rows that fit together, one after the other in one tuple.

        They are new ones for the plan's first literal, old ones for those written before it, and any for those after
        it: so no match is found by two plans. Only the last join, which may be large, is not kept in memory.
        """
        found: Iterable[Codes] = [plan.constants]
        for step in plan.joins:
            relation = self._relations[step.predicate]
            if step.place == plan.start:
                found = _joined(found, _indexed(relation.rows[seen[step.place] :], step.columns, step.alike), step.key)
            elif found := list(found):
                old = seen[step.place] if step.place < plan.start else None
                found = _joined(found, relation.index(step.columns, step.alike), step.key, old)
        absent = [(step.key, self._relations[step.predicate].index(step.columns, step.alike)) for step in plan.absences]
        return (match for match in found if not any(key(match) in rows for key, rows in absent)) if absent else found

    def _allowed(self, rule: _Rule, origin: Codes, values: list[list[Row]]) -> bool:
        """Whether the conditions of the rule hold."""
        if not rule.conditions:
            return True
        match = Match(0, 0, rule.bound(origin, values))
        return all(holds(condition, match, self.held) for condition in rule.conditions)


@dataclass
class _Relation:
    """The rows of one predicate in the order in which they came: as codes with their number, and as values."""

    rows: list[Codes] = field(default_factory=list)
    values: list[Row] = field(default_factory=list)
    known: set[Codes] = field(default_factory=set)
    _indexes: dict[tuple[Columns, Alike], _Index] = field(default_factory=dict)

    def add(self, codes: Codes, values: Row) -> None:
        """Adds a row unless there is one like it."""
        if codes not in self.known:
            self.known.add(codes)
            self.rows.append((*codes, len(self.rows)))
            self.values.append(values)

    def index(self, columns: Columns, alike: Alike = ()) -> dict[Codes, list[Codes]]:
        """The rows by the codes in these columns, kept from call to call and brought up to date."""
        index = self._indexes.get((columns, alike))
        if index is None:
            index = self._indexes[columns, alike] = _Index()
        if index.size < len(self.rows):
            _indexed(self.rows[index.size :], columns, alike, index.rows)
            index.size = len(self.rows)
        return index.rows


@dataclass
class _Index:
    rows: dict[Codes, list[Codes]] = field(default_factory=dict)
    size: int = 0


def _indexed(
    rows: list[Codes], columns: Columns, alike: Alike, into: dict[Codes, list[Codes]] | None = None
) -> dict[Codes, list[Codes]]:
    """Rows by the codes in some columns, without those where a null or NaN would have to be equal."""
    found = {} if into is None else into
    if rows and not columns and not alike:
        found.setdefault((), []).extend(rows)
        return found
    key = _pick(columns)
    for row in rows:
        codes = key(row)
        if NULL in codes or NAN in codes or (alike and not _agree(row, alike)):
            continue
        found.setdefault(codes, []).append(row)
    return found


def _agree(row: Codes, alike: Alike) -> bool:
    return all(row[one] == row[other] and row[one] > NAN for one, other in alike)


def _joined(
    matches: Iterable[Codes], rows: dict[Codes, list[Codes]], key: Pick, old: int | None = None
) -> Iterator[Codes]:
    """Each match with each row that it leads to; where only so many rows are old, with those."""
    for match in matches:
        fitting = rows.get(key(match), [])
        for row in fitting if old is None else [row for row in fitting if row[-1] < old]:
            yield match + row


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """A literal to look up: `key` picks from what is matched so far the codes that its columns must have."""

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
    """A rule, how to evaluate it from each of its literals, and how many of their rows it has seen."""

    predicate: str
    head: tuple[typed.Variable | typed.Constant, ...]
    literals: tuple[typed.StaticLiteral, ...]
    """Those that are not negated."""
    conditions: tuple[typed.Expression, ...]
    sources: Mapping[str, tuple[int, int]]
    """The literal and the column that a variable has its value from: the last it is written in."""
    plans: Mapping[int, _Plan]
    seen: list[int] | None = None

    def due(self, seen: list[int], sizes: list[int]) -> Iterator[_Plan]:
        """The plans that may find something: there are new rows for their literal, and old ones for those before it."""
        for start, plan in self.plans.items():
            if not self.literals or (seen[start] < sizes[start] and all(seen[:start])):
                yield plan

    def bound(self, origin: Codes, values: list[list[Row]]) -> dict[str, Any]:
        return {name: values[place][origin[place]][column] for name, (place, column) in self.sources.items()}


def _rule(rule: typed.StaticRule, stratum: Container[str], code: Callable[[Any], int]) -> _Rule:
    """Prepares a rule; only literals of its own stratum get new rows after its first turn."""
    literals = tuple(literal for literal in rule.literals if not literal.negated)
    sources = {
        term.name: (place, column)
        for place, literal in enumerate(literals)
        for column, term in enumerate(literal.arguments)
        if isinstance(term, typed.Variable)
    }
    starts = {0, *(place for place, literal in enumerate(literals) if literal.predicate in stratum)}
    plans = {start: _plan(rule, literals, start, code) for start in starts}
    return _Rule(rule.predicate, rule.head, literals, rule.conditions, sources, plans)


def _plan(
    rule: typed.StaticRule, literals: tuple[typed.StaticLiteral, ...], start: int, code: Callable[[Any], int]
) -> _Plan:
    terms = [*rule.head, *(term for literal in rule.literals for term in literal.arguments)]
    constants = tuple(dict.fromkeys(code(term.value) for term in terms if isinstance(term, typed.Constant)))
    offsets: dict[int | str, int] = {constant: offset for offset, constant in enumerate(constants)}
    """Where in a match to find the code of a constant, or of a variable by its name."""

    def pick(terms: Iterable[Term]) -> Pick:
        keys = [code(term.value) if isinstance(term, typed.Constant) else term.name for term in terms if term]
        return _pick([offsets[key] for key in keys])

    def step(place: int, literal: typed.StaticLiteral) -> _Step:
        columns, alike = _access(literal.arguments, offsets)
        return _Step(place, literal.predicate, columns, alike, pick(literal.arguments[column] for column in columns))

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
    origin = _pick([numbers[place] for place in range(len(literals))])
    return _Plan(start, constants, tuple(joins), absences, pick(rule.head), origin)


def _join_order(literals: tuple[typed.StaticLiteral, ...], start: int) -> Iterator[int]:
    """From one literal on, always to the one of which the most columns are known."""
    waiting, bound = dict(enumerate(literals)), set[str]()
    place = start
    while waiting:
        yield place
        bound.update(term.name for term in waiting.pop(place).arguments if isinstance(term, typed.Variable))
        place = max(waiting, key=lambda other: len(_access(waiting[other].arguments, bound)[0]), default=start)


def _access(terms: Sequence[Term], bound: Container[Any]) -> tuple[Columns, Alike]:
    """The columns whose values are known, and those that must be equal because they have one variable."""
    known: list[int] = []
    alike: list[tuple[int, int]] = []
    first: dict[str, int] = {}
    for column, term in enumerate(terms):
        if isinstance(term, typed.Constant) or (term is not None and term.name in bound):
            known.append(column)
        elif term is not None and first.setdefault(term.name, column) != column:
            alike.append((first[term.name], column))
    return tuple(known), tuple(alike)


def _value(term: Term, values: Mapping[str, Any]) -> Any:
    match term:
        case typed.Constant(value=value):
            return value
        case typed.Variable(name=name):
            return values[name]


def _pick(offsets: Sequence[int]) -> Pick:
    """A function that picks what stands at these offsets, as a tuple."""
    if len(offsets) > 1:
        return itemgetter(*offsets)
    return itemgetter(slice(offsets[0], offsets[0] + 1) if offsets else slice(0))
