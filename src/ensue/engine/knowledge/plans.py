"""Plans of static rules for a goal: literals in an order in which known values lead to unknown ones.

    in_chain(x, z) :- linked(x, y), in_chain(y, z).

For the sites after a known one, `linked` is looked up by `x`, and `in_chain` is a goal for those after `y`. As it is
the last step, its answers are those of the first goal: the goal goes on with `y` in place of `x`, and no chain of goals
passes each answer from one to the next. For the sites before a known one, `in_chain` comes first: it is the same goal
again, and each of its answers leads to others through `linked`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from ensue.engine.knowledge.relations import NULL, Alike, Codes, Columns, Pick, Term, Values, access, pick
from ensue.language import typed
from ensue.language.walk import names_used
from ensue.records import dataclass

Registers = tuple[int, ...]
"""Places of codes while a rule is evaluated: each variable and each constant has a register."""


Given = Mapping[Codes, Sequence[Codes]]
"""The wanted columns of a predicate's facts, by the given ones."""


class Call(NamedTuple):
    """A request to a predicate: for rows with given values in some columns, the values in others."""

    predicate: str
    bound: Columns
    wanted: Columns = ()


@dataclass(frozen=True)
class Find:
    """Visits the rows of a predicate that does not depend on the rule's; `into` takes the wanted values of each."""

    call: Call
    key: Registers
    alike: Alike
    into: Registers
    given: Given | None
    """All rows, where no rule adds to them."""


@dataclass(frozen=True)
class Check:
    """Checks that there is a row, or none if negated."""

    call: Call
    key: Registers
    negated: bool
    given: Given | None


@dataclass(frozen=True)
class Condition:
    """A condition, with its names in the order of the key, and the column that each has its form from."""

    expression: typed.Expression
    key: Registers
    names: tuple[tuple[str, tuple[str, int]], ...]


@dataclass(frozen=True)
class Recur:
    """A goal for rows of a predicate that depends on the rule's; if `last`, its answers are those of the rule."""

    call: Call
    key: Registers
    alike: Alike
    into: Registers
    last: bool


Step = Find | Check | Condition | Recur


class Lead(NamedTuple):
    """A rule that leads from facts to answers, or to the next goal, and only picks codes on the way."""

    given: Given
    key: Pick
    """From the goal's codes to those of facts."""
    made: Pick
    """From the goal's codes, followed by the wanted ones of a fact, to an answer, or to the codes of the next goal."""
    call: Call | None
    """The call of the next goal; None for an answer."""


@dataclass(frozen=True)
class Plan:
    """A rule for a call: the registers of its codes, its steps in order, and the registers of an answer."""

    registers: Registers
    """Initial contents of the registers: the codes of constants."""
    given: tuple[tuple[int, int], ...]
    """The register of each code of the goal, by place."""
    equal: tuple[tuple[int, int], ...]
    """Codes of the goal that must equal the contents of a register."""
    steps: tuple[Step, ...]
    answer: Registers
    again: bool
    """True if it begins with the goal itself, and the given values are not used after that."""
    check: tuple[Given, Pick] | None
    """If the rule is a single fact: the facts, and the codes of the goal to look up."""
    lead: Lead | None
    """The rule as a lead, if it consists of facts only."""


class Prepared(NamedTuple):
    """Everything that answers a call."""

    facts: Given
    plans: tuple[Plan, ...]
    leads: tuple[Lead, ...] | None
    """The plans as leads, where each consists of facts only."""


class Facts(Protocol):
    """The facts that are known before any rule is evaluated."""

    def given(self, call: Call) -> Given:
        """The wanted columns of a predicate's facts, by the given ones."""

    def defines(self, predicate: str) -> bool:
        """True if there are rules for a predicate, not only facts."""


def plan_of(rule: typed.StaticRule, call: Call, component: Collection[str], values: Values, facts: Facts) -> Plan:
    """The plan of a rule for a call. `component` are the predicates that depend on the rule's, and it on them."""
    return _Planning(rule, call, component, values, facts).plan()


class _Planning:
    def __init__(
        self, rule: typed.StaticRule, call: Call, component: Collection[str], values: Values, facts: Facts
    ) -> None:
        self.rule, self.call, self.component, self.values, self.facts = rule, call, component, values, facts
        self.positive = [literal for literal in rule.literals if not literal.negated]
        self.start: list[int] = []
        self.registers: dict[tuple[str, object], int] = {}
        self.sources = {
            term.name: (literal.predicate, column)
            for literal in self.positive
            for column, term in enumerate(literal.arguments)
            if isinstance(term, typed.Variable)
        }
        """The column that a variable takes its value from: of the last literal it is written in."""
        self.times = Counter(self._names())
        """Number of uses of each variable; the value of one used once is not needed."""

    def _names(self) -> Iterator[str]:
        terms = [self.rule.head[column] for column in (*self.call.bound, *self.call.wanted)]
        for term in (*terms, *(term for literal in self.rule.literals for term in literal.arguments)):
            if isinstance(term, typed.Variable):
                yield term.name
        for condition in self.rule.conditions:
            yield from names_used(condition)

    def plan(self) -> Plan:
        head, bound = self.rule.head, set[str]()
        given: dict[int, int] = {}
        equal = []
        for place, column in enumerate(self.call.bound):
            term = head[column]
            if isinstance(term, typed.Variable) and term.name not in bound:
                bound.add(term.name)
                given[place] = self._register(term)
            else:
                equal.append((place, self._register(term)))
        steps = tuple(self._steps(bound))
        answer = tuple(self._register(head[column]) for column in self.call.wanted)
        again = not equal and _begins_again(self.call, tuple(given.values()), steps, answer)
        places = {register: place for place, register in given.items()}
        check, lead = (None, None) if equal else (_check(steps, places), _lead(steps, places, answer))
        return Plan(tuple(self.start), tuple(given.items()), tuple(equal), steps, answer, again, check, lead)

    def _register(self, term: typed.Variable | typed.Constant) -> int:
        """The register of a variable or a constant."""
        code = self.values.constant(term.value) if isinstance(term, typed.Constant) else NULL
        key = ("code", code) if isinstance(term, typed.Constant) else ("name", term.name)
        if key not in self.registers:
            self.registers[key] = len(self.start)
            self.start.append(code)
        return self.registers[key]

    # --- the order of steps

    def _steps(self, bound: set[str]) -> Iterator[Step]:
        waiting = list(self.positive)
        tests: list[typed.StaticLiteral | typed.Expression] = [
            *(literal for literal in self.rule.literals if literal.negated), *self.rule.conditions,
        ]  # fmt: skip
        while True:
            for test in [test for test in tests if _names_in(test) <= bound]:
                tests.remove(test)
                yield self._test(test)
            if not waiting:
                return
            literal = max(waiting, key=lambda each: self._urgency(each, bound))
            waiting.remove(literal)
            yield self._literal(literal, bound, last=not waiting and not tests)
            bound |= _names_in(literal)

    def _urgency(self, literal: typed.StaticLiteral, bound: Collection[str]) -> tuple[bool, int, bool]:
        """Sort key of literals: checks first, then those with the most known columns; a goal that goes on comes last.

        Where no column of either is known, the recursive literal goes first, rather than a scan of all facts.
        """
        columns, _ = access(literal.arguments, bound)
        lower = literal.predicate not in self.component
        return lower and not self._unknown(literal, bound), len(columns), lower is (len(columns) > 0)

    def _unknown(self, literal: typed.StaticLiteral, bound: Collection[str]) -> list[tuple[int, typed.Variable]]:
        """The columns whose values are unknown and used elsewhere."""
        return [
            (column, term)
            for column, term in enumerate(literal.arguments)
            if isinstance(term, typed.Variable) and term.name not in bound and self.times[term.name] > 1
        ]

    def _test(self, test: typed.StaticLiteral | typed.Expression) -> Step:
        if isinstance(test, typed.StaticLiteral):
            columns = tuple(column for column, term in enumerate(test.arguments) if term is not None)
            asked = Call(test.predicate, columns)
            return Check(asked, self._key(test.arguments, columns), True, self._given(asked))
        names = sorted(set(names_used(test)))
        key = tuple(self._register(typed.Variable(name, "any")) for name in names)
        return Condition(test, key, tuple((name, self.sources[name]) for name in names))

    def _literal(self, literal: typed.StaticLiteral, bound: Collection[str], last: bool) -> Step:
        columns, alike = access(literal.arguments, bound)
        unknown = self._unknown(literal, bound)
        wanted = tuple(column for column, _ in unknown)
        key = self._key(literal.arguments, columns)
        into = tuple(self._register(term) for _, term in unknown)
        pairs = tuple((wanted.index(one), wanted.index(other)) for one, other in alike)
        call = Call(literal.predicate, columns, wanted)
        if literal.predicate not in self.component:
            given = self._given(call)
            return Find(call, key, pairs, into, given) if wanted else Check(call, key, False, given)
        passed = self._passed(unknown) if last and not alike else None
        if passed is not None:
            return Recur(Call(literal.predicate, columns, passed), key, (), (), last=True)
        return Recur(call, key, pairs, into, last=False)

    def _passed(self, unknown: Sequence[tuple[int, typed.Variable]]) -> Columns | None:
        """The columns that give the wanted values of the call; None if some are not found there."""
        places = {term.name: column for column, term in unknown}
        terms = [self.rule.head[column] for column in self.call.wanted]
        found = [places.get(term.name) if isinstance(term, typed.Variable) else None for term in terms]
        return None if None in found else tuple(column for column in found if column is not None)

    def _given(self, call: Call) -> Given | None:
        return None if self.facts.defines(call.predicate) else self.facts.given(call)

    def _key(self, terms: Sequence[Term], columns: Columns) -> Registers:
        return tuple(self._register(term) for column in columns if (term := terms[column]) is not None)


def _check(steps: Sequence[Step], places: Mapping[int, int]) -> tuple[Given, Pick] | None:
    """The check of a rule that is a single fact; `places` are the places in the goal's codes, by register."""
    match steps:
        case [Check(key=key, negated=False, given=given)] if given is not None:
            picked = _picked(key, places)
            return None if picked is None else (given, picked)
        case _:
            return None


def _lead(steps: Sequence[Step], places: Mapping[int, int], answer: Registers) -> Lead | None:
    match steps:
        case [Find(alike=(), into=into, given=given) as find, *rest] if given is not None:
            key = _picked(find.key, places)
            places = {**places, **{register: len(places) + place for place, register in enumerate(into)}}
        case _:
            return None
    match rest:
        case []:
            made, call = _picked(answer, places), None
        case [Recur(last=True) as recur]:
            made, call = _picked(recur.key, places), recur.call
        case _:
            return None
    return None if key is None or made is None else Lead(given, key, made, call)


def _picked(registers: Registers, places: Mapping[int, int]) -> Pick | None:
    """A pick of the goal's codes for some registers; None if one holds a constant."""
    if not places.keys() >= set(registers):
        return None
    return pick([places[register] for register in registers])


def _begins_again(call: Call, given: Registers, steps: Sequence[Step], answer: Registers) -> bool:
    match steps:
        case [Recur(call=first, key=key, last=False), *others] if first == call and key == given:
            used = {register for step in others for register in step.key}
            return used.isdisjoint(given) and set(answer).isdisjoint(given)
        case _:
            return False


def _names_in(node: typed.StaticLiteral | typed.Expression) -> set[str]:
    if isinstance(node, typed.StaticLiteral):
        return {term.name for term in node.arguments if isinstance(term, typed.Variable)}
    return set(names_used(node))


def depends_on_itself(rules: Mapping[str, Sequence[typed.StaticRule]], component: Collection[str]) -> bool:
    """True if a predicate of a component is defined by one of them."""
    return any(
        literal.predicate in component
        for predicate in component
        for rule in rules.get(predicate, ())
        for literal in rule.literals
    )
