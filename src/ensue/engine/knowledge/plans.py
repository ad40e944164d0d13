"""How a static rule is evaluated for a goal: its literals in an order in which what is known leads to what is not.

    in_chain(x, z) :- linked(x, y), in_chain(y, z).

For the sites after a known one, `linked` is looked up by `x`, and `in_chain` is asked for those after `y`. As nothing
is left to do then, these are answers already: the goal goes on with `y` where it was with `x`, and no chain of goals
hands each answer from one to the next. For the sites before a known one, `in_chain` comes first: it is the same goal
again, and each of its answers leads to others through `linked`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ensue.engine.knowledge.relations import NULL, Alike, Codes, Columns, Pick, Term, Values, access, pick
from ensue.language import typed
from ensue.language.walk import names_used

Registers = tuple[int, ...]
"""Where codes are found while a rule is evaluated: each variable and each constant has a register."""


Given = Mapping[Codes, Sequence[Codes]]
"""What is wanted of the facts of a predicate, by what is given."""


class Call(NamedTuple):
    """What is asked of a predicate: for rows with given values in some columns, the values in others."""

    predicate: str
    bound: Columns
    wanted: Columns = ()


@dataclass(frozen=True)
class Find:
    """Goes through the rows of a predicate that is defined without the rule's: `into` takes what is wanted of each."""

    call: Call
    key: Registers
    alike: Alike
    into: Registers
    given: Given | None
    """All there is, where no rule adds to it."""


@dataclass(frozen=True)
class Check:
    """Whether there is a row, or none."""

    call: Call
    key: Registers
    negated: bool
    given: Given | None


@dataclass(frozen=True)
class Condition:
    """A condition, with what its names are in the order of the key, and the column each is written as in."""

    expression: typed.Expression
    key: Registers
    names: tuple[tuple[str, tuple[str, int]], ...]


@dataclass(frozen=True)
class Recur:
    """Asks for rows of a predicate that depends on the rule's; where it is `last`, they are what the goal asks for."""

    call: Call
    key: Registers
    alike: Alike
    into: Registers
    last: bool


Step = Find | Check | Condition | Recur


class Lead(NamedTuple):
    """A rule that leads from facts to answers, or to where the goal goes on, and only picks codes on the way."""

    given: Given
    key: Pick
    """From the goal's codes to those of facts."""
    made: Pick
    """From the goal's codes, followed by what is wanted of a fact, to an answer, or to the codes of the next goal."""
    call: Call | None
    """What the next goal asks for; None for an answer."""


@dataclass(frozen=True)
class Plan:
    """A rule for a call: where its codes go, what is done one after the other, and where an answer is found."""

    registers: Registers
    """What registers hold at first: the codes of constants."""
    given: tuple[tuple[int, int], ...]
    """The register of each code of the goal, by place."""
    equal: tuple[tuple[int, int], ...]
    """Codes of the goal that must be what is in a register already."""
    steps: tuple[Step, ...]
    answer: Registers
    again: bool
    """Whether it begins with the goal itself, and what was given is not used after that."""
    check: tuple[Given, Pick] | None
    """Where it asks for a fact and nothing else: the facts, and what is picked of the goal's codes to look for."""
    lead: Lead | None
    """Where it goes through facts and nothing else."""


class Prepared(NamedTuple):
    """All that a call is answered by."""

    facts: Given
    plans: tuple[Plan, ...]
    leads: tuple[Lead, ...] | None
    """The same as the plans, where each is a matter of facts."""


class Facts(Protocol):
    """What is known before any rule is evaluated."""

    def given(self, call: Call) -> Given:
        """What is wanted of the facts of a predicate, by what is given."""

    def defines(self, predicate: str) -> bool:
        """Whether there are rules for a predicate, not only facts."""


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
        """The column that a variable has its value from: of the last literal it is written in."""
        self.times = Counter(self._names())
        """How often each variable is used; what is used once need not be known."""

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
        """What can be checked comes first, then what most is known of; a goal that goes on comes last.

        Where nothing is known of either, what the rule derives itself is better than all that it could be from.
        """
        columns, _ = access(literal.arguments, bound)
        lower = literal.predicate not in self.component
        return lower and not self._unknown(literal, bound), len(columns), lower is (len(columns) > 0)

    def _unknown(self, literal: typed.StaticLiteral, bound: Collection[str]) -> list[tuple[int, typed.Variable]]:
        """The columns whose values are not known and used elsewhere."""
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
        """The columns that give what the call wants, None if it is not all found there."""
        places = {term.name: column for column, term in unknown}
        terms = [self.rule.head[column] for column in self.call.wanted]
        found = [places.get(term.name) if isinstance(term, typed.Variable) else None for term in terms]
        return None if None in found else tuple(column for column in found if column is not None)

    def _given(self, call: Call) -> Given | None:
        return None if self.facts.defines(call.predicate) else self.facts.given(call)

    def _key(self, terms: Sequence[Term], columns: Columns) -> Registers:
        return tuple(self._register(term) for column in columns if (term := terms[column]) is not None)


def _check(steps: Sequence[Step], places: Mapping[int, int]) -> tuple[Given, Pick] | None:
    """A rule that is the question for a fact; `places` says where in the goal's codes a register has its code from."""
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
    """Picks what is in registers from where it comes from; None if it is a constant."""
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
    """Whether a predicate of a component is defined by one of them."""
    return any(
        literal.predicate in component
        for predicate in component
        for rule in rules.get(predicate, ())
        for literal in rule.literals
    )
