"""Generated code at work: a unit with its state, which takes in batches of events and adds the derived ones.

The same source runs as plain Python for a handful of events, and as machine code for more. Both use the same memory, so
that a state can switch between them at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any
from weakref import ref

import numpy as np

from ensue.engine import machine
from ensue.engine.arriving import arrive
from ensue.engine.assembly import ENTRIES, Generated
from ensue.engine.batch import Batch, Row
from ensue.engine.capacity import USUAL, Capacity
from ensue.engine.clock import Clock
from ensue.engine.evaluate import Matched, evaluate, operate
from ensue.engine.few_derived import FEW, FewDerived
from ensue.engine.few_rows import FewRows
from ensue.engine.generate.unit import FIRST_CELL, FLAGS, NEVER, Question, make
from ensue.engine.hand_over import hand_over
from ensue.engine.knowledge import Knowledge
from ensue.engine.limits import OPEN, TEXT, Budget, LimitReached, Limits
from ensue.engine.many_answers import ManyAnswers
from ensue.engine.operators.derive import Derived
from ensue.engine.stopwatch import Stopwatch
from ensue.engine.structure import Array, Frame, Structure
from ensue.engine.structures.anew import Ahead, Found
from ensue.engine.structures.answers import Answers, Facts, row_codes
from ensue.engine.structures.by_text import ByText
from ensue.engine.structures.calls import Calls
from ensue.engine.structures.chains import Chains
from ensue.engine.structures.groups import StaticGroups
from ensue.engine.structures.key_numbers import KeyNumbers, attach_all
from ensue.engine.structures.members import MemberTable
from ensue.engine.structures.quiet import QuietGroups
from ensue.engine.structures.rows import StaticNumbers, StaticRows
from ensue.engine.structures.seen import Seen
from ensue.engine.structures.sources import Sources, shift_sources
from ensue.engine.structures.values import LONG, Dictionary, Values
from ensue.errors import DetectError, LimitError
from ensue.language import typed
from ensue.language.functions import FUNCTIONS
from ensue.language.limits import MOST_OCCURRENCES
from ensue.plan import late

PREPARED, WAITING = 1 << 10, 1 << 4
"""Single events after which better code is looked for, and machine code that is being made."""

MANY_ROWS = 1 << 12
"""Rows of a batch from which on room for derived events is reserved."""


class GeneratedLane:
    """Some strata of a program as generated code, with its state.

    `compiled` says whether it is machine code. Where that is left open, a thread makes it from the first event on if it
    is in the `background`; else it is made when many events have come.
    """

    def __init__(
        self, program: typed.Program, code: Generated, knowledge: Knowledge, clock: Clock, compiled: bool | None,
        values: Dictionary, capacity: Capacity = USUAL, limits: Limits = OPEN, budget: Budget | None = None,
        background: bool = False,
    ) -> None:  # fmt: skip
        self.program, self.code, self.knowledge, self.clock, self.values = program, code, knowledge, clock, values
        unit = code.unit
        self.uses = code.uses
        self.bases = unit.bases()
        size = max(base + layout.cells for layout, base in self.bases.values())
        self.limits = limits
        self.frame = Frame(size, capacity, budget)
        self.structures: dict[str, Structure] = {
            name: make(spec, self.frame, self.bases[name][1]) for name, spec in unit.structures.items()
        }
        attach_all(self.structures, {name: spec.arguments for name, spec in unit.structures.items()})
        self.by_base = {base: self.structures[name] for name, (_, base) in self.bases.items() if base >= FIRST_CELL}
        self.names = {base: name for name, (_, base) in self.bases.items()}
        values.attach(self.structures["values"])  # type: ignore[arg-type]
        self._set_constants()
        self.clock_: Any = self.structures["clock"]
        self.clock_.first, self.clock_.due, self.clock_.now = NEVER, NEVER, -NEVER
        self.given: Any = self.structures["given"]
        self.ranks = {name: number for number, name in enumerate(unit.types)}
        self.all_ranks = {name: number for number, name in enumerate(program.events)}
        local = np.array([-1, *(self.ranks.get(name, -1) for name in program.events)], np.int32)
        self.structures["kinds"].put("local_", local)
        for head in code.derived.values():
            self.structures[head.rows].counted = False  # it is handed over, and limited by its number
        self.choice, self.background = compiled, background
        self.seen = 0
        self._spent = 0.0
        """Seconds that the code took as Python."""
        self._may_be_cut = compiled is None and not any(isinstance(asked, Ahead) for asked in unit.questions.values())
        """Nothing looks at all events of a call at once, and what is left of a call may be machine code's."""
        self._few = FewRows(self.given, self.structures["block"], unit, self.uses, self.all_ranks, values)
        self._chains = [
            (structure, [each for each, other in unit.structures.items() if other.owner == spec.owner])
            for structure, spec in ((self.structures[name], spec) for name, spec in unit.structures.items())
            if isinstance(structure, Chains)
        ]
        self.clears = bool(self._chains) or "lists" in self.structures
        """True if `end_step` does something after single events."""
        self._few_derived: dict[str, FewDerived] = {}
        self._many = ManyAnswers()
        self._stopwatch = Stopwatch(program, code, self.names)
        self._most = -1
        self._noted = self._look_at = 0
        until, due = (self.clock_.base + self.clock_.layout.cell_of_number(name) for name in ("until", "due"))
        self._cells = (self.frame.view, self.given.base + self.given.layout.cell_of_number("at"), until, due)
        self.next_due: int | None = None
        """The time at which something ends by itself, if nothing has changed since the last run; maybe too early."""
        self.ready = False
        """True if one event can be taken in by `step`, as nothing has changed since the last."""
        self._made = self._compile() if compiled else None
        self._fast = bool(compiled)

    def _set_constants(self) -> None:
        """Fill in the constants of rules; strings among them by their codes."""
        numbers, unit = self.structures["numbers"], self.code.unit
        for name, number in unit.numbers.items():
            constant = unit.constants.get(name)
            setattr(numbers, name, number if constant is None else self.values.code(constant))
        for structure in self.structures.values():
            if isinstance(structure, MemberTable):
                structure.fill(self.values)

    # --- code

    @property
    def _functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions of the unit; Python ones are made on first use: with many events at first they are never
        needed.
        """
        if self._made is None:
            self._made = self._plain()
        return self._made

    def _plain(self) -> Mapping[str, Callable[..., Any]]:
        return machine.plain(self.code.texts, self.structures, self._stopwatch.timed(self._ask))

    def _compile(self) -> Mapping[str, Callable[..., Any]]:
        if not machine.available():
            raise DetectError(
                "Machine code needs llvmlite, which is not installed or does not load: pip install llvmlite. Without "
                "`compiled=True` rules run as Python."
            )
        begun = self._stopwatch.now()
        loaded = self.code.tiers.machine
        self._stopwatch.spent("compiling", begun)
        self._callbacks = machine.callbacks(self.frame, self.by_base, self._stopwatch.timed(self._ask))
        self._loaded = loaded
        return {name: self._callbacks.checked(loaded[name], self.frame.address) for name in ENTRIES}

    def _ask(self, structure: Structure, number: int) -> int:
        """Answer a request of generated code: the order of values, or the result of an operation."""
        if isinstance(structure, Values):
            if number == LONG:
                text = structure.made()
                if len(text) > TEXT:
                    raise LimitError(self._describe_text(text))
            else:
                self.values.rank_all()
            return 0
        if isinstance(structure, Answers):
            return structure.answer(self, number)
        if isinstance(structure, Facts):
            return structure.know(self.values, self.values.value(number), number)
        name = self.names[structure.base]
        question: Any = self.code.unit.questions[name]
        if not isinstance(question, Question):
            return int(question.answer(self, structure, number))
        slots: Any = structure
        arguments: list[Any] = []
        mask, masks = ~question.flags, range(len(question.kinds), slots.key_width)
        for place, key in enumerate(masks):
            mask |= int(getattr(slots, f"slot_k{key}")[number]) << (FLAGS * place)
        for i, kind in enumerate(question.kinds):
            held = getattr(slots, f"slot_k{i}")[number]
            there = bool(mask >> i & 1)
            arguments.append(self._decoded(held, kind) if there else None)
        many = _many(question) if arguments and type(arguments[0]) is str and None not in arguments else None
        if many is None:
            found = self._answer(question, arguments)
        else:
            found = self._many.answer(many, self.values, int(slots.slot_k0[number]), arguments[1:])
        slots.known[number] = 1
        slots.there[number] = int(found is not None)
        if found is not None:
            slots.result[number] = self.encoded(found, question.result)
        return 0

    def _answer(self, question: Any, arguments: list[Any]) -> Any:
        match question.expression:
            case typed.Holds(predicate=predicate, arguments=terms):
                values = iter(arguments)
                full = [None if term is None else next(values) for term in terms]
                return self.knowledge.held(predicate, full, [term is not None for term in terms])
            case late.Late() as aggregate:
                return late.value(aggregate, arguments, self._evaluate)
            case typed.Operation() as operation:
                return operate(operation, arguments)
        raise AssertionError(question)

    def _evaluate(self, expression: typed.Expression, values: Mapping[str, Any]) -> Any:
        """The value of an expression whose only names are variables."""
        return evaluate(expression, Matched(values), self.knowledge.held)

    def _decoded(self, held: int, kind: str) -> Any:
        match kind:
            case "f":
                return float(np.int64(held).view(np.float64))
            case "b":
                return bool(held)
            case "s" | "o":
                return self.values.value(held)
            case _:
                return held

    def encoded(self, value: Any, kind: str) -> int | float:
        match kind:
            case "s" | "o":
                if type(value) is str and len(value) > TEXT:
                    raise LimitError(self._describe_text(value))
                return int(self.values.code(value))
            case "f":
                return float(value)
            case _:
                return int(value)

    def _describe_text(self, text: str) -> str:
        events = dict.fromkeys(f"`{rule.event}`" for rule in self.code.together.rules)
        return (
            f"A rule for {', '.join(events)} computes a text of {len(text):,} characters, which is more than {TEXT:,}. "
            "Does it put a text together with itself, event after event?"
        )

    # --- running

    def due(self) -> int | None:
        """The next time at which a timer or a waiting match is due; None if there is none."""
        self._set_first()
        if self.next_due is None:
            self.next_due = int(self._functions["next_due"]())
        return None if self.next_due >= NEVER else self.next_due

    def _set_first(self) -> None:
        first = NEVER if self.clock.first_end is None else self.clock.first_end
        if self.clock_.first != first:
            self.clock_.first = first
            self._changed()

    def _changed(self) -> None:
        """Notes that something is not as the last run has left it."""
        self.ready, self.next_due = False, None

    def run(self, batch: Batch, time: int) -> None:
        """Take in the events that are new up to a time, and add the derived ones to the batch."""
        self._set_first()
        self._check_periods(time)
        self.ready = False
        if not self._few.take(batch):
            arrive(self, batch)
        elif not self.given.rows and self.next_due is not None and self.next_due > time:
            return
        self.seen += self.given.rows
        self._choose_code()
        self._reserve()
        self.clock_.until = time
        if self._step():
            self.hand_over(batch)
        self.end_step()

    def _choose_code(self) -> None:
        """Takes the best code that there is by now."""
        if not self._fast and self.choice is None and self._is_time_to_compile() and machine.available():
            self._made, self._fast = self._compile(), True
        if self._fast:
            tiers = self.code.tiers
            tiers.note(max(0, self.seen - self._noted))
            if tiers.machine is not self._loaded:
                self._made = self._compile()
        waits = self.background and not self._fast and self.choice is None
        self._noted, self._look_at = self.seen, self.seen + (WAITING if waits else PREPARED)

    def _is_time_to_compile(self) -> bool:
        """Tell whether there is machine code, or enough to do that it is worth waiting for."""
        enough = self.frame.capacity.events
        if not self.background:
            return self.seen > enough or self._takes_long()
        if self.code.compiled or self.given.rows > enough or self._takes_long():
            return True
        own = ref(self)
        self.code.compile_later(lambda: (lane := own()) is not None and lane.background)
        return False

    def hand_over(self, batch: Batch) -> None:
        """Adds what was derived to a batch."""
        if self.clock_.failed:
            self._fail()
        few = batch.is_few
        for event, head in self.code.derived.items():
            rows: Any = self.structures[head.rows]
            count = rows.count
            if not (count and few and count <= FEW and self._hand_over_few(event, head, batch)):
                hand_over(self, event, head, batch)

    def _hand_over_few(self, event: str, head: Derived, batch: Batch) -> bool:
        found = self._few_derived.get(event)
        if found is None:
            found = self._few_derived[event] = FewDerived(self, event, head)
        return found.fits and found.hand_over(batch)

    def end_step(self) -> None:
        """Clears what lasts no longer than a step, when all that was derived has been handed over."""
        self.next_due = self.clock_.due
        lists: Any = self.structures.get("lists")
        if lists is not None and lists.count:
            lists.clear()
        if self.code.unit.provenance:
            self.origins.compact(structure for _, _, structure in self._kept())
        self._collect()

    def _step(self) -> int:
        """Runs the code, within the limits; 0 if there is nothing to look at."""
        begun = self._stopwatch.now()
        self._allow(self.given.rows)
        found = 0 if self._fast else self._run_plain(int(self.clock_.until))
        if self._fast:
            found |= self._call()
        self._stopwatch.spent("running", begun)
        return found

    def _run_plain(self, time: int) -> int:
        """Run the code as Python, piece by piece: where few events take long, machine code does the rest."""
        rows, pieces, ends = self.given.rows, self.frame.capacity.pieces, []
        if rows > pieces and self._may_be_cut:
            ends = self.given.arrays["end"][[rows * piece // pieces for piece in range(1, pieces)]].tolist()
        found = 0
        with np.errstate(all="ignore"):
            for until in (*sorted({end for end in ends if end < time}), time):
                begun = perf_counter()
                self.clock_.until = until
                found |= self._call()
                self._spent += perf_counter() - begun
                if until < time and self._takes_long():
                    self._made, self._fast = self._compile(), True
                    break
        self.clock_.until = time
        return found

    def _takes_long(self) -> bool:
        """True if the code has run long as Python, and may become machine code."""
        return self.choice is None and self._spent > self.frame.capacity.seconds and machine.available()

    def _allow(self, events: int) -> None:
        """Sets how much may be derived from so many events."""
        most = self.limits.most_matches(events)
        if most != self._most:
            self._most = most
            for head in self.code.derived.values():
                rows: Any = self.structures[head.rows]
                rows.most = most

    def _call(self) -> int:
        budget = self.frame.budget
        try:
            if budget is not None:
                budget.watched = True
            found: int = (self._made or self._functions)["run"]()
            return found
        except LimitReached as reached:
            raise LimitError(self._describe(reached)) from None
        finally:
            if budget is not None:
                budget.watched = False

    # --- single events

    def prepare(self) -> bool:
        """Makes it `ready` for single events; False if they must go the way of several."""
        unit, first = self.code.unit, self.clock.first_end
        if not self._few.fits or unit.periods or first is None or self._stopwatch.watcher is not None:
            return False
        self._set_first()
        self._choose_code()
        self._allow(1)
        self._few.put()
        self.given.rows, self.given.at = 1, 0
        self.ready = True
        return True

    def step(self, row: Row, time: int) -> int:
        """Takes in one event of a type that it uses, without a number in a sequence, when nothing is due up to a time.

        It must be `ready`. Gives 0 if there is nothing to hand over.
        """
        few = self._few
        write = few.writers.get(row[0]) or few.writer(row[0])
        write(row[1], row[2], row[3], 0)
        cells, at, until, due = self._cells
        cells[at] = 0
        cells[until] = time
        seen = self.seen = self.seen + 1
        if seen >= self._look_at:
            self.ready = False
        found = self._call() if self._fast else self._step()
        self.next_due = cells[due]
        return found

    def _reserve(self) -> None:
        """Reserve room for as many derived events as there are given ones, where these are many."""
        if self.given.rows >= MANY_ROWS:
            for head in self.code.derived.values():
                rows: Any = self.structures[head.rows]
                rows.reserve(self.given.rows)

    def _collect(self) -> None:
        """Free chains of parts that nothing refers to. Running code may hold some that are in no structure yet."""
        for structure, own in self._chains:
            structure.collect(map(self.structures.__getitem__, own))

    @property
    def origins(self) -> Sources:
        found = self.structures["origins"]
        assert isinstance(found, Sources)
        return found

    def _check_periods(self, time: int) -> None:
        for name, period in self.code.unit.periods:
            state: Any = self.structures[name]
            if state.set:
                due = state.next
            elif self.clock.first_end is not None:
                due = -(-self.clock.first_end // period) * period
            else:
                continue
            times = (time - due) // period + 1
            if times > MOST_OCCURRENCES:
                raise DetectError(
                    f"A timer with a period of {period} occurs {times:,} times while these events last, "
                    f"which is more than {MOST_OCCURRENCES:,}. Give it a longer period, or detect over a shorter time."
                )

    def _describe(self, reached: LimitReached) -> str:
        """A message that names the rules which have exceeded a limit, and gives advice."""
        name = self.names[reached.base]
        of_head = [event for event, head in self.code.derived.items() if head.rows == name]
        owner = self.code.unit.structures[name].owner
        users = {user for part in self.code.together.common if part.name == owner for user in part.users}
        parts = [
            part.rule for part in self.code.together.parts if part.rule.event in of_head or part.name in {owner, *users}
        ]
        named = [f"`{rule.label}`" for rule in parts if isinstance(rule, typed.Rule) and rule.label is not None]
        events = dict.fromkeys(f"`{rule.event}`" for rule in parts or self.code.together.rules)
        which = (
            f"The rule {', '.join(named)}" if named and len(named) == len(parts) else f"A rule for {', '.join(events)}"
        )
        if reached.matches is not None:
            return str(LimitError.of_matches(which, reached.matches, self.given.rows))
        most = 0 if self.frame.budget is None else self.frame.budget.most
        return (
            f"{which} keeps more than there is room for: all rules together may keep {most:,} bytes. `ensue check` "
            "says what is kept for ever; bound it with `within` or `keep`, or allow more with `max_state` "
            "(--max-state)."
        )

    def start_over(self, time: int) -> None:
        """Drop the state, as if its rules were added at a time: a limit was reached in the middle of a step."""
        budget = self.frame.budget
        if budget is not None:
            counted = (each for each in self.structures.values() if each.counted)
            budget.used -= sum(array.nbytes for each in counted for array in each.arrays.values())
        self.values.detach(self.structures["values"])  # type: ignore[arg-type]
        self.__init__(  # type: ignore[misc]
            self.program, self.code, self.knowledge, self.clock, self.choice, self.values, self.frame.capacity,
            self.limits, budget, self.background,
        )  # fmt: skip
        for _, name, structure in self._kept():
            self._begin(name, structure, time)

    def _fail(self) -> None:
        layer = self.code.together.layers[self.clock_.failed - 1]
        types = ", ".join(sorted({part.rule.event for part in layer.parts}))
        raise DetectError(
            f"The rules for {types} derive event after event at time {self.clock_.now} and do not come to an end. "
            "Let each turn need a later event, or bound it with a condition."
        )

    # --- state

    def _kept(self) -> Iterator[tuple[tuple[str, int], str, Structure]]:
        """The structures that are part of the state, each with its owner and its place there."""
        for name, spec in self.code.unit.structures.items():
            if spec.kind.keeps:
                yield (spec.owner, spec.place), name, self.structures[name]

    def saved(self) -> list[Any]:
        """The state, without the dictionary."""
        return [self.seen, *(structure.saved() for _, _, structure in self._kept())]

    def restore(self, state: Sequence[Any]) -> None:
        """Restore a state that was saved with the same rules, once the dictionary has been restored."""
        self._set_constants()
        self._changed()
        self.seen, *kept = state
        for (_, _, structure), held in zip(self._kept(), kept, strict=True):
            structure.restore(held)

    def copy_from(self, other: GeneratedLane) -> None:
        """Takes over the state of a lane with the same code."""
        self._changed()
        self.seen = other.seen
        for name, spec in self.code.unit.structures.items():
            if spec.kind.keeps or spec.kind is KeyNumbers:
                self.structures[name].copy_from(other.structures[name])
        for structure in self.structures.values():
            if isinstance(structure, Seen):
                structure.forget()

    def twin(self) -> GeneratedLane:
        """Another lane with the same code and the same state."""
        made = GeneratedLane(
            self.program, self.code, self.knowledge, self.clock, self.choice, self.values, self.frame.capacity,
            self.limits, self.frame.budget, self.background,
        )  # fmt: skip
        made.copy_from(self)
        return made

    def take_over(self, olds: Sequence[GeneratedLane], time: int | None) -> None:
        """Takes over what other lanes know of the parts that both have; the timers of others begin after a time."""
        self._set_constants()  # the dictionary is another now
        self._changed()
        known = {place: (structure, old) for old in olds for place, _, structure in old._kept()}
        owners = {owner for owner, _ in known}
        traced = self.code.unit.provenance and all(old.code.unit.provenance for old in olds)
        shifts = {id(old): self.origins.absorb(old.origins) if traced else 0 for old in olds}
        for (owner, place), name, structure in self._kept():
            other, old = known.get((owner, place), (None, None))
            if isinstance(structure, Sources):
                continue
            if other is not None and structure.is_like(other):
                structure.restore(other.saved())
                shift_sources(structure, shifts[id(old)])
            elif owner not in owners and time is not None:
                self._begin(name, structure, time)
        self.seen = max((old.seen for old in olds), default=0)

    def _begin(self, name: str, structure: Any, time: int) -> None:
        """Set the timer of a new rule to begin after a time."""
        timer = self.code.unit.timers.get(name)
        if isinstance(timer, typed.Moment):
            structure.set, structure.next = 1, NEVER if timer.time <= time else timer.time
        elif isinstance(timer, typed.Periodic) and self.clock.first_end is not None:
            structure.set, structure.next = 1, (time // timer.period + 1) * timer.period

    def used_codes(self) -> Iterator[Array]:
        """The codes of values that the state holds."""
        yield np.array([self.values.code(constant) for constant in self.code.unit.constants.values()], np.int64)
        yield np.array(row_codes(self.values.others()), np.int64)
        for name, spec in self.code.unit.structures.items():
            if spec.kind.keeps or spec.kind in (MemberTable, KeyNumbers):
                yield from self.structures[name].columns_with("code")

    def forget_answers(self) -> None:
        """Forgets what was asked about values: their codes may mean others from now on."""
        self._changed()
        for name, spec in self.code.unit.structures.items():
            structure = self.structures[name]
            if isinstance(structure, ByText | Calls | Answers | Found):
                structure.forget()
            elif isinstance(structure, StaticGroups | StaticRows | StaticNumbers):
                structure.begin_anew(*spec.arguments)

    def know(self, knowledge: Knowledge) -> None:
        """Switch to other static facts."""
        self.knowledge = knowledge
        self.forget_answers()

    def suppressed(self) -> Iterator[tuple[int, int]]:
        """Number of events that each rule with an output rate has suppressed, by the rule's number."""
        numbers = {part.name: part.number for part in self.code.together.parts}
        for name, spec in self.code.unit.structures.items():
            number = numbers.get(spec.owner)
            if spec.kind is QuietGroups and number is not None:
                yield number, self.structures[name].serial

    def sizes(self) -> Iterator[tuple[str, str, tuple[int | None, int, int]]]:
        """The size of each structure of the state, with its owner and its name."""
        for (owner, _), name, structure in self._kept():
            yield owner, name.rsplit("_", 1)[0], structure.size()


def _many(question: Question) -> Callable[..., list[Any]] | None:
    """The function for many strings at once, if there is one."""
    expression = question.expression
    if not isinstance(expression, typed.Operation) or expression.own is not None or question.kinds[0] != "s":
        return None
    record = FUNCTIONS.get(expression.name)
    return None if record is None else record.many
