"""Goal-directed evaluation of static rules: only facts that lead to an answer are visited, and answers are kept.

A goal with several given values can be searched from each of them: a path between two sites from the one, from the
other, or from both. The facts decide which is shortest, so the searches take turns until one has decided. A search that
begins at a single value serves other goals, too, and is kept: the next site after the same one is a step further in the
same search. So proving one path site by site takes time for each site once, from either end.

When all searches together grow large, the oldest are dropped; they can be repeated.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ensue.engine.evaluate import Matched, holds
from ensue.engine.knowledge.plans import Call, Condition, Given, Prepared, depends_on_itself, plan_of
from ensue.engine.knowledge.relations import Codes, Pick, Relation, Values
from ensue.engine.knowledge.search import Goal, Search
from ensue.language import typed

MOST = 1 << 19
"""Most answers and goals that are kept, in all searches together."""

MOST_DECIDED = 1 << 18
"""Most decided goals of a kind that are remembered."""

TURN = 8
"""Steps of a search before it is another's turn."""

Held = Callable[[str, list[Any], list[bool]], bool]
"""Returns True if a predicate has a row with these values, as far as they matter."""


class Goals:
    """Answers goals about the predicates that rules define. `kinds` are the types of numbers in each column."""

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
        self._prepared: dict[Call, Prepared] = {}
        self._ways: dict[Call, tuple[Call, ...]] = {}
        self._given: dict[Call, Given] = {}
        self._checks: dict[Call, Sequence[tuple[Given, Pick]]] = {}
        self._searches: OrderedDict[Goal, Search] = OrderedDict()
        self._decided: dict[Call, dict[Codes, bool]] = {}
        self._grown = 0

    def defines(self, predicate: str) -> bool:
        """True if there are rules for a predicate, not only facts."""
        return predicate in self._rules

    def holds(self, call: Call, codes: Codes) -> bool:
        """True if a goal has an answer; the result is remembered."""
        for rows, key in self._at_once(call):
            if key(codes) in rows:
                return True
        if call.predicate not in self._rules:
            return False
        known = self._decided.setdefault(call, {})
        decided = known.get(codes)
        if decided is None:
            decided = self._decide(call, codes)
            if len(known) >= MOST_DECIDED:
                known.clear()
            known[codes] = decided
        return decided

    def _at_once(self, call: Call) -> Sequence[tuple[Given, Pick]]:
        """The facts that decide a goal without a search: its own, and those of rules that consist of one fact."""
        found = self._checks.get(call)
        if found is None:
            checks: list[tuple[Given, Pick]] = [(self.given(call), tuple)]
            if call.predicate in self._rules:
                checks += [plan.check for plan in self.prepared(call).plans if plan.check is not None]
            found = self._checks[call] = [(rows, key) for rows, key in checks if rows]
        return found

    def found(self, call: Call, codes: Codes) -> Iterator[Codes | None]:
        """The answers to a goal, as they are found; None for each step without one."""
        if call.predicate not in self._rules:
            return iter(self.given(call).get(codes, ()))
        return self._found(self._search(call, codes))

    def _found(self, search: Search) -> Iterator[Codes | None]:
        place = 0
        while True:
            while place < len(search.answers):
                yield search.answers[place]
                place += 1
            before = search.size
            if not self._go_on(search):
                return
            self._grown += search.size - before
            yield None

    def given(self, call: Call) -> Given:
        """The wanted columns of a predicate's facts, by the given ones."""
        found = self._given.get(call)
        if found is None:
            found = self._given[call] = self._facts[call.predicate].picked(call.bound, call.wanted)
        return found

    def prepared(self, call: Call) -> Prepared:
        """The facts for a call, and the plan of each rule for it."""
        found = self._prepared.get(call)
        if found is None:
            component = self._components[call.predicate]
            rules = self._rules.get(call.predicate, ())
            plans = tuple(plan_of(rule, call, component, self._values, self) for rule in rules)
            leads = tuple(plan.lead for plan in plans if plan.lead is not None)
            found = Prepared(self.given(call), plans, leads if len(leads) == len(plans) else None)
            self._prepared[call] = found
        return found

    def allowed(self, condition: Condition, key: Codes) -> bool:
        """True if a condition of a rule holds for the values of its names."""
        values = {name: self.value(code, source) for code, (name, source) in zip(key, condition.names, strict=True)}
        return holds(condition.expression, Matched(values), self._held)

    def value(self, code: int, column: tuple[str, int]) -> Any:
        """The value of a code as it is written in a column, if it can be in it."""
        value, kind = self._values.values[code], self._kinds.get(column)
        if kind is float and type(value) is int:
            return float(value)
        return int(value) if kind is int and type(value) is float and value.is_integer() else value

    # --- searches

    def _decide(self, call: Call, codes: Codes) -> bool:
        """True if a goal has an answer, by searches that take turns; those begun for another goal come first."""
        racing: deque[tuple[Search, Codes]] = deque()
        new: list[tuple[Goal, Codes]] = []
        for place, way in enumerate(self._narrower(call)):
            goal, sought = (way, codes[:place] + codes[place + 1 :]), codes[place : place + 1]
            if goal not in self._searches:
                new.append((goal, sought))
                continue
            racing.append((self._search(*goal), sought))
            decided = self._turn(*racing[-1])
            if decided is not None:
                return decided
        own = Search(self, call, codes)
        racing.append((own, ()))
        decided = self._turn(own, ())
        while decided is None and new:
            goal, sought = new.pop(0)
            racing.append((self._search(*goal), sought))
            decided = self._turn(*racing[-1])
        while decided is None:
            decided = self._turn(*racing[0])
            racing.rotate(-1)
        own.give_up()
        return decided

    def _narrower(self, call: Call) -> tuple[Call, ...]:
        """For recursive predicates: calls with one given value fewer, which want that value instead."""
        if call not in self._ways:
            columns = call.bound if call.predicate in self._recursive else ()
            others = [tuple(other for other in columns if other != column) for column in columns]
            calls = [Call(call.predicate, rest, (column,)) for column, rest in zip(columns, others, strict=True)]
            self._ways[call] = tuple(calls)
        return self._ways[call]

    def _turn(self, search: Search, sought: Codes) -> bool | None:
        """Advance a search by a few steps; returns True or False once it is decided, None before."""
        before, decided = search.size, None
        for _ in range(TURN):
            if sought in search.known:
                decided = True
                break
            if not self._go_on(search):
                decided = False
                break
        self._grown += search.size - before
        return decided

    def _go_on(self, search: Search) -> bool:
        """Advance a search by a step. An exception in it loses its task, so all searches are dropped."""
        try:
            return search.go_on()
        except BaseException:
            self._searches.clear()
            raise

    def _search(self, call: Call, codes: Codes) -> Search:
        """The search for a goal, kept or new."""
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
        """Drop the oldest searches if all of them together are too large."""
        self._grown = 0
        size = sum(search.size for search in self._searches.values())
        while size > MOST and len(self._searches) > 1:
            _, oldest = self._searches.popitem(last=False)
            size -= oldest.size
