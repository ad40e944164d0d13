"""A search for the answers to one goal: as far as needed so far, and resumable.

A goal is a call and the codes of its given values. Its answers come from facts and from rules. A rule with a recursive
goal either leads on, so that the goal has one more beginning, or waits for the answers of a goal within the search,
which may be the goal itself. Everything is done once and in small steps, none of which depends on the depth of the
recursion. A search is complete when no task is left: all goals that depend on each other are inside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from ensue.engine.knowledge.plans import Call, Check, Condition, Find, Lead, Plan, Prepared, Recur
from ensue.engine.knowledge.relations import NAN, NULL, Codes, agree

Goal = tuple[Call, Codes]

FEW = 16
"""Most facts that are visited in one step, where a goal consists of facts only."""

END: Codes = (-1,)
"""Stands after the last answer."""

Task = Generator[None, None, None]
"""A task, done in small steps."""


class Surroundings(Protocol):
    """The facts and rules that a search uses."""

    def prepared(self, call: Call) -> Prepared:
        """The facts for a call, and the plan of each rule for it."""

    def found(self, call: Call, codes: Codes) -> Iterator[Codes | None]:
        """The answers to a goal of another search, and None for each step without one."""

    def holds(self, call: Call, codes: Codes) -> bool:
        """True if there is an answer to a goal of another search."""

    def allowed(self, condition: Condition, key: Codes) -> bool:
        """True if a condition holds for the values of its names."""


class _Table:
    """The answers to a goal in the order in which they were found, and the rules that wait for more of them."""

    __slots__ = ("answers", "beginnings", "call", "known", "waiting")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.answers: list[Codes] = []
        self.known: set[Codes] = set()
        self.beginnings: dict[Call, set[Codes]] = {}
        self.waiting: dict[tuple[int, int, int, Codes], _Waiting] = {}


class _Waiting:
    """A rule that was evaluated up to a goal, and goes on with each of its answers."""

    __slots__ = ("place", "plan", "registers", "table")

    def __init__(self, table: _Table, plan: Plan, place: int, registers: list[int]) -> None:
        self.table, self.plan, self.place, self.registers = table, plan, place, registers


_Beginning = tuple[_Table, Call, Codes, bool]
"""A goal whose answers a table takes, and a flag that another goal led to it."""


class Search:
    """The answers to a goal that were found so far, in order."""

    __slots__ = ("_around", "_tables", "_tasks", "answers", "known", "size")

    def __init__(self, around: Surroundings, call: Call, codes: Codes) -> None:
        self._around = around
        self._tasks: deque[Task | _Beginning] = deque()
        self._tables: dict[Goal, _Table] = {}
        self.size = 0
        """Number of goals and answers that it keeps."""
        own = self._table(call, codes)
        self.answers, self.known = own.answers, own.known

    def go_on(self) -> bool:
        """Do one step of the next task; returns False if no task was left."""
        if not self._tasks:
            return False
        task = self._tasks[0]
        if not isinstance(task, tuple):
            if next(task, self) is self:
                self._tasks.popleft()
        elif self._at_once(*task[:3]):
            self._tasks.popleft()
        else:
            self._tasks[0] = self._evaluated(*task)
        return True

    def give_up(self) -> None:
        """Drop the tasks that are left, which refer to the search."""
        self._tasks.clear()

    # --- goals

    def _table(self, call: Call, codes: Codes) -> _Table:
        table = self._tables.get((call, codes))
        if table is None:
            table = self._tables[call, codes] = _Table(call)
            self._begin(table, call, codes)
        return table

    def _begin(self, table: _Table, call: Call, codes: Codes) -> None:
        """Begin a goal whose answers go to a table; each goal once."""
        known = table.beginnings.get(call)
        if known is None:
            known = table.beginnings[call] = set()
        elif codes in known:
            return
        led = call == table.call and len(known) > 0
        known.add(codes)
        self.size += 1
        self._tasks.append((table, call, codes, led))

    def _add(self, table: _Table, answer: Codes) -> None:
        if answer in table.known:
            return
        table.known.add(answer)
        table.answers.append(answer)
        self.size += 1
        if table.waiting:
            for waiting in table.waiting.values():
                self._wake(waiting, answer)

    def _wait(self, table: _Table, waiting: _Waiting) -> None:
        """Let a rule go on with every answer of a table."""
        key = (id(waiting.table), id(waiting.plan), waiting.place, tuple(waiting.registers))
        if key not in table.waiting:
            table.waiting[key] = waiting
            self.size += 1
            for answer in table.answers:
                self._wake(waiting, answer)

    def _wake(self, waiting: _Waiting, answer: Codes) -> None:
        step = waiting.plan.steps[waiting.place]
        assert isinstance(step, Recur)
        if agree(answer, step.alike):
            registers = list(waiting.registers)
            for register, code in zip(step.into, answer, strict=True):
                registers[register] = code
            self._tasks.append(self._joined(waiting.table, waiting.plan, waiting.place + 1, registers))

    # --- tasks

    def _at_once(self, table: _Table, call: Call, codes: Codes) -> bool:
        """Evaluate a goal that consists of a few facts at once; returns False if it must be a task."""
        facts, _, leads = self._around.prepared(call)
        answers = facts.get(codes, ())
        if leads is None or len(answers) > FEW:
            return False
        for answer in answers:
            self._add(table, answer)
        for lead in leads:
            rows = lead.given.get(lead.key(codes))
            if rows is not None:
                if len(rows) > FEW:
                    self._tasks.append(self._in_parts(table, lead, codes, rows))
                else:
                    self._led(table, lead, codes, rows)
        return True

    def _led(self, table: _Table, lead: Lead, codes: Codes, rows: Sequence[Codes]) -> None:
        """Apply a lead to facts, which gives answers, or the next goals."""
        _, _, make, call = lead
        for row in rows:
            made = make(codes + row)
            if call is None:
                self._add(table, made)
            elif NULL not in made and NAN not in made:
                self._begin(table, call, made)

    def _in_parts(self, table: _Table, lead: Lead, codes: Codes, rows: Sequence[Codes]) -> Task:
        for first in range(0, len(rows), FEW):
            self._led(table, lead, codes, rows[first : first + FEW])
            yield

    def _evaluated(self, table: _Table, call: Call, codes: Codes, led: bool) -> Task:
        """The facts that fit a goal, then the rules one after the other."""
        facts, plans, _ = self._around.prepared(call)
        for answer in facts.get(codes, ()):
            self._add(table, answer)
            yield
        for plan in plans:
            if led and plan.again:  # the goal that led here does this with all its answers, these included
                continue
            registers = list(plan.registers)
            for place, register in plan.given:
                registers[register] = codes[place]
            if not plan.equal or all(codes[place] == registers[register] for place, register in plan.equal):
                yield from self._joined(table, plan, 0, registers)

    def _joined(self, table: _Table, plan: Plan, place: int, registers: list[int]) -> Task:
        """Evaluate a rule from one of its steps on; `rows` are the iterators of the steps before."""
        rows: list[tuple[int, Find, Iterator[Codes | None]]] = []
        steps = plan.steps
        while True:
            holds = True
            if place == len(steps):
                self._add(table, tuple([registers[register] for register in plan.answer]))
                holds = False
            else:
                step = steps[place]
                key = tuple([registers[register] for register in step.key])
                equal = NULL not in key and NAN not in key
                match step:
                    case Find(call=call, given=given):
                        if given is not None:
                            rows.append((place, step, iter(given.get(key, ()))))
                        elif equal:
                            rows.append((place, step, self._around.found(call, key)))
                        holds = False
                    case Recur(call=call, last=True):
                        if equal:
                            self._begin(table, call, key)
                        holds = False
                    case Recur(call=call):
                        if equal:
                            self._wait(self._table(call, key), _Waiting(table, plan, place, list(registers)))
                        holds = False
                    case Check(call=call, given=given):
                        there = key in given if given is not None else equal and self._around.holds(call, key)
                        holds = there is not step.negated
                    case Condition():
                        holds = self._around.allowed(step, key)
            if holds:
                place += 1
                continue
            while rows:
                place, find, found = rows[-1]
                row = next(found, END)
                if row is END:
                    rows.pop()
                    continue
                yield
                if row is not None and (not find.alike or agree(row, find.alike)):
                    for register, code in zip(find.into, row, strict=True):
                        registers[register] = code
                    place += 1
                    break
            else:
                return
