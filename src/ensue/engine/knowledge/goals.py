"""Static rules evaluated from what is asked: only what leads to an answer is looked at, and what was found is kept.

A goal in which several values are given can be searched for from each of them: whether a site comes after another, from
the one, from the other, or from both. Which is short depends on the facts, so they take turns until one has decided.
What begins at a single value serves other goals, too, and is kept: the next site after the same one is a step further
in the same search. So proving one path site by site takes time for each site once, from either end.

What is kept is forgotten, oldest first, when it is much; then it is found again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ensue.engine.knowledge.plans import Call, Condition, Plan, depends_on_itself, plan_of
from ensue.engine.knowledge.relations import Codes, Relation, Values
from ensue.engine.knowledge.search import Goal, Search
from ensue.language import typed
from ensue.reference.expressions import holds
from ensue.reference.matches import Match

MOST = 1 << 20
"""How many answers and goals are kept at most, in all searches together."""

TURN = 8
"""How many steps a search goes on before it is another's turn."""

Held = Callable[[str, list[Any], list[bool]], bool]
"""Whether a predicate has a row with these values, as far as they matter."""


class Goals:
    """Answers goals about the predicates that rules define. `kinds` says how numbers are written in a column."""

    def __init__(
        self, program: typed.Program, facts: Mapping[str, Relation], values: Values,
        kinds: Mapping[tuple[str, int], type], held: Held,
    ) -> None:  # fmt: skip
        self._facts = facts
        self._values = values
        self._kinds = kinds
        self._held = held
        self._rules: dict[str, list[typed.StaticRule]] = {}
        for rule in program.static_rules:
            self._rules.setdefault(rule.predicate, []).append(rule)
        self._components = {name: component for component in program.static_strata for name in component}
        self._recursive = {
            name for name, component in self._components.items() if depends_on_itself(self._rules, component)
        }
        self._plans: dict[Call, tuple[Plan, ...]] = {}
        self._searches: OrderedDict[Goal, Search] = OrderedDict()
        self._decided: dict[Goal, bool] = {}
        self._grown = 0

    def defines(self, predicate: str) -> bool:
        """Whether there are rules for a predicate, not only facts."""
        return predicate in self._rules

    def holds(self, call: Call, codes: Codes) -> bool:
        """Whether a goal has an answer; what was decided is known from then on."""
        if codes in self._facts[call.predicate].index(call.bound):
            return True
        if not self.defines(call.predicate):
            return False
        decided = self._decided.get((call, codes))
        if decided is None:
            decided = self._decide(Call(call.predicate, call.bound), codes)
            if len(self._decided) >= MOST:
                self._decided.clear()
            self._decided[call, codes] = decided
        return decided

    def found(self, call: Call, codes: Codes) -> Iterator[Codes | None]:
        """The answers to a goal, as they are found; None wherever a search went on without one."""
        if not self.defines(call.predicate):
            for row in self._facts[call.predicate].index(call.bound).get(codes, ()):
                yield tuple([row[column] for column in call.wanted])
            return
        search, place = self._search(call, codes), 0
        while True:
            while place < len(search.answers):
                yield search.answers[place]
                place += 1
            if search.over:
                return
            before = search.size
            search.go_on()
            self._grown += search.size - before
            yield None

    def facts(self, call: Call, codes: Codes) -> Sequence[Codes]:
        """The rows that are given, and fit a call."""
        return self._facts[call.predicate].index(call.bound).get(codes, ())

    def plans(self, call: Call) -> tuple[Plan, ...]:
        """How each rule is evaluated for a call."""
        if call not in self._plans:
            component = self._components[call.predicate]
            rules = self._rules.get(call.predicate, ())
            self._plans[call] = tuple(plan_of(rule, call, component, self._values) for rule in rules)
        return self._plans[call]

    def allowed(self, condition: Condition, registers: list[int]) -> bool:
        """Whether a condition of a rule holds."""
        values = {name: self.value(registers[register], source) for name, register, source in condition.names}
        return holds(condition.expression, Match(0, 0, values), self._held)

    def value(self, code: int, column: tuple[str, int]) -> Any:
        """The value of a code as it is written in a column."""
        value, kind = self._values.values[code], self._kinds.get(column)
        return kind(value) if kind is not None and type(value) in (int, float) else value

    # --- searches

    def _decide(self, call: Call, codes: Codes) -> bool:
        """Whether a goal has an answer, by several searches that take turns; those that are kept begin."""
        ways: list[tuple[Call, Codes, Codes]] = [(call, codes, ())]
        if call.predicate in self._recursive:
            ways = sorted([*ways, *_ways(call, codes)], key=lambda way: way[:2] not in self._searches)
        racing = []
        for way, given, sought in ways:
            search = self._search(way, given) if sought else Search(self, way, given)
            decided = self._turn(search, sought)
            if decided is not None:
                return decided
            racing.append((search, sought))
        while True:
            for search, sought in racing:
                decided = self._turn(search, sought)
                if decided is not None:
                    return decided

    def _turn(self, search: Search, sought: Codes) -> bool | None:
        """Has a search go on a little: whether it finds what is sought, None if it is not decided yet."""
        before = search.size
        steps = 0
        while steps < TURN and sought not in search.known and not search.over:
            search.go_on()
            steps += 1
        self._grown += search.size - before
        return True if sought in search.known else False if search.over else None

    def _search(self, call: Call, codes: Codes) -> Search:
        """The search for a goal, kept or begun."""
        search = self._searches.get((call, codes))
        if search is None:
            search = self._searches[call, codes] = Search(self, call, codes)
            self._grown += search.size
            if self._grown > MOST // 8:
                self._forget()
        else:
            self._searches.move_to_end((call, codes))
        return search

    def _forget(self) -> None:
        """Lets the oldest searches go if there is too much in all of them."""
        self._grown = 0
        size = sum(search.size for search in self._searches.values())
        while size > MOST and len(self._searches) > 1:
            _, oldest = self._searches.popitem(last=False)
            size -= oldest.size


def _ways(call: Call, codes: Codes) -> Iterator[tuple[Call, Codes, Codes]]:
    """The same goal with one value fewer, and what to look for among the answers."""
    for place, column in enumerate(call.bound):
        others = call.bound[:place] + call.bound[place + 1 :]
        yield Call(call.predicate, others, (column,)), codes[:place] + codes[place + 1 :], (codes[place],)
