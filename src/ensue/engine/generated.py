"""Generated code at work: a unit with its state, which takes in batches of events and gives what follows from them.

The same source runs as plain Python for a handful of events, and as machine code for more. Both use the same memory, so
that a state can go from the one to the other at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ensue.engine import machine
from ensue.engine.batch import Batch
from ensue.engine.clock import Clock
from ensue.engine.evaluate import Matched, evaluate, operate
from ensue.engine.event import Event
from ensue.engine.few_rows import FewRows
from ensue.engine.generate.program import ENTRIES, SEQUENCED, Generated
from ensue.engine.generate.unit import FIRST_CELL, NEVER, Question, make
from ensue.engine.hand_over import hand_over
from ensue.engine.knowledge import Knowledge
from ensue.engine.limits import OPEN, TEXT, Budget, LimitReached, Limits
from ensue.engine.many_answers import ManyAnswers
from ensue.engine.stopwatch import Stopwatch
from ensue.engine.stream import first_alike, stream_of
from ensue.engine.structures.anew import Found
from ensue.engine.structures.answers import Answers, Facts, row_codes
from ensue.engine.structures.by_text import ByText
from ensue.engine.structures.calls import Calls
from ensue.engine.structures.capacity import USUAL, Capacity
from ensue.engine.structures.chains import Chains
from ensue.engine.structures.groups import StaticGroups
from ensue.engine.structures.key_numbers import KeyNumbers, attach_all
from ensue.engine.structures.members import MemberTable
from ensue.engine.structures.quiet import QuietGroups
from ensue.engine.structures.rows import StaticNumbers, StaticRows
from ensue.engine.structures.seen import Seen
from ensue.engine.structures.sources import Sources, shift_sources
from ensue.engine.structures.structure import Array, Frame, Structure
from ensue.engine.structures.values import LONG, Dictionary, Values
from ensue.errors import DetectError, LimitError
from ensue.language import typed
from ensue.language.functions import FUNCTIONS
from ensue.language.limits import FARTHEST, MOST_OCCURRENCES
from ensue.plan import late

MANY_ROWS = 1 << 12
"""Rows of a batch from which on room is made for what is derived from it."""


class GeneratedLane:
    """Some strata of a program as generated code, with its state. `compiled` says whether it is machine code."""

    def __init__(
        self, program: typed.Program, code: Generated, knowledge: Knowledge, clock: Clock, compiled: bool | None,
        values: Dictionary, capacity: Capacity = USUAL, limits: Limits = OPEN, budget: Budget | None = None,
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
        self.choice = compiled
        self.seen = 0
        self._few = FewRows(self.given, unit, self.uses, self.all_ranks, values)
        self._chains = [
            (structure, [each for each, other in unit.structures.items() if other.owner == spec.owner])
            for structure, spec in ((self.structures[name], spec) for name, spec in unit.structures.items())
            if isinstance(structure, Chains)
        ]
        self._many = ManyAnswers()
        self._stopwatch = Stopwatch(program, code, self.names)
        self._made = self._compile() if compiled else None
        self._fast = bool(compiled)

    def _set_constants(self) -> None:
        """Fills in the constants of rules; strings among them by their codes."""
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
        """The functions of the unit; as Python they are made when they are first called, as many events come before."""
        if self._made is None:
            self._made = self._plain()
        return self._made

    def _plain(self) -> Mapping[str, Callable[..., Any]]:
        return machine.plain(self.code.texts, self.structures, self._stopwatch.timed(self._ask))

    def _compile(self) -> Mapping[str, Callable[..., Any]]:
        if not machine.available():
            raise DetectError(
                "Machine code needs llvmlite, which is not installed: pip install llvmlite. Without `compiled=True` "
                "rules run as Python."
            )
        begun = self._stopwatch.now()
        loaded = self.code.tiers.machine
        self._stopwatch.spent("compiling", begun)
        self._callbacks = machine.callbacks(self.frame, self.by_base, self._stopwatch.timed(self._ask))
        address = self.frame.address

        def call(name: str) -> Callable[..., Any]:
            def function() -> Any:
                found = loaded[name](address)
                self._callbacks.check()
                return found

            return function

        self._loaded = loaded
        return {name: call(name) for name in ENTRIES}

    def _ask(self, structure: Structure, number: int) -> int:
        """Answers what generated code asks: the order of values, or the result of an operation."""
        if isinstance(structure, Values):
            if number == LONG:
                text = structure.made()
                if len(text) > TEXT:
                    raise LimitError(self._text_said(text))
            else:
                self.values.rank_all()
            return 0
        if isinstance(structure, Answers):
            return structure.answer(self, number)
        if isinstance(structure, Facts):
            return structure.know(self.values.value(number), number)
        name = self.names[structure.base]
        question: Any = self.code.unit.questions[name]
        if not isinstance(question, Question):
            return int(question.answer(self, structure, number))
        slots: Any = structure
        arguments: list[Any] = []
        mask = -1
        if slots.key_width > len(question.kinds):
            mask = int(getattr(slots, f"slot_k{len(question.kinds)}")[number])
            mask |= ~question.flags
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
            slots.result[number] = self._encoded(found, question.result)
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

    def _encoded(self, value: Any, kind: str) -> int | float:
        match kind:
            case "s" | "o":
                if type(value) is str and len(value) > TEXT:
                    raise LimitError(self._text_said(value))
                return int(self.values.code(value))
            case "f":
                return float(value)
            case _:
                return int(value)

    def _text_said(self, text: str) -> str:
        events = dict.fromkeys(f"`{rule.event}`" for rule in self.code.together.rules)
        return (
            f"A rule for {', '.join(events)} computes a text of {len(text):,} characters, which is more than {TEXT:,}. "
            "Does it put a text together with itself, event after event?"
        )

    # --- running

    def due(self) -> int | None:
        """The next time at which something ends by itself."""
        self._set_first()
        found = self._functions["next_due"]()
        return None if found >= NEVER else int(found)

    def _set_first(self) -> None:
        self.clock_.first = NEVER if self.clock.first_end is None else self.clock.first_end

    def run(self, batch: Batch, time: int) -> None:
        """Takes in what is new up to a time, and adds what follows from it to the batch."""
        self._set_first()
        self._check_periods(time)
        if not self._few.take(batch):
            self._arrive(batch)
            self._check_times()
        self.seen += self.given.rows
        if not self._fast and self.choice is None and self.seen > self.frame.capacity.events and machine.available():
            self._made, self._fast = self._compile(), True
        elif self._fast and self.code.tiers.machine is not self._loaded:
            self._made = self._compile()
        self._reserve()
        self.clock_.until = time
        self._step()
        if self._fast:
            self.code.tiers.note(self.given.rows)
        if self.clock_.failed:
            self._fail()
        for event, head in self.code.derived.items():
            hand_over(self, event, head, batch)
        lists: Any = self.structures.get("lists")
        if lists is not None and lists.count:
            lists.clear()
        if self.code.unit.provenance:
            self._origins.compact(structure for _, _, structure in self._kept())
        self._collect()

    def _step(self) -> None:
        """Runs the code, within the limits."""
        budget, begun = self.frame.budget, self._stopwatch.now()
        for head in self.code.derived.values():
            rows: Any = self.structures[head.rows]
            rows.most = self.limits.most_matches(self.given.rows)
        try:
            if budget is not None:
                budget.watched = True
            if self._fast:
                self._functions["run"]()
            else:
                with np.errstate(all="ignore"):
                    self._functions["run"]()
        except LimitReached as reached:
            raise LimitError(self._said(reached)) from None
        finally:
            if budget is not None:
                budget.watched = False
        self._stopwatch.spent("running", begun)

    def _reserve(self) -> None:
        """Makes room for as many derived events as there are given ones, where these are many."""
        if self.given.rows >= MANY_ROWS:
            for head in self.code.derived.values():
                rows: Any = self.structures[head.rows]
                rows.reserve(self.given.rows)

    def _collect(self) -> None:
        """Frees chains of parts that nothing refers to; while code runs it may hold some that are in no structure
        yet."""
        for structure, own in self._chains:
            structure.collect(map(self.structures.__getitem__, own))

    @property
    def _origins(self) -> Sources:
        found = self.structures["origins"]
        assert isinstance(found, Sources)
        return found

    def _check_times(self) -> None:
        """Refuses times that leave no room for lengths to be added to them."""
        rows, start, end = self.given.rows, self.given.arrays["start"], self.given.arrays["end"]
        if rows and (end[-1] > FARTHEST or (start[0] if start is end else start.min()) < -FARTHEST):
            raise DetectError(
                f"Times must lie within {FARTHEST:,} of 0, so that lengths can be added to them, and there is an event "
                "beyond that."
            )

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

    def _said(self, reached: LimitReached) -> str:
        """Which rules have exceeded a limit, and what to do."""
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
            return (
                f"{which} derives more than {reached.matches:,} events from the {self.given.rows:,} that it takes in "
                "at once. Let its events share a variable, or bound it with `within`; or allow more with `max_matches` "
                "(--max-matches)."
            )
        most = 0 if self.frame.budget is None else self.frame.budget.most
        return (
            f"{which} keeps more than there is room for: all rules together may keep {most:,} bytes. `ensue check` "
            "says what is kept for ever; bound it with `within` or `keep`, or allow more with `max_state` "
            "(--max-state)."
        )

    def start_over(self, time: int) -> None:
        """Forget all, as if its rules had come at a time: a limit was reached in the middle of a step."""
        budget = self.frame.budget
        if budget is not None:
            counted = (each for each in self.structures.values() if each.counted)
            budget.used -= sum(array.nbytes for each in counted for array in each.arrays.values())
        self.values.detach(self.structures["values"])  # type: ignore[arg-type]
        self.__init__(  # type: ignore[misc]
            self.program, self.code, self.knowledge, self.clock, self.choice, self.values, self.frame.capacity,
            self.limits, budget,
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

    def _arrive(self, batch: Batch) -> None:
        """Puts the events of a batch where generated code reads them."""
        unit, given = self.code.unit, self.given
        uses = self.uses
        any_values = any(kind == "o" for _, kind in unit.inputs.values())
        as_rows = bool(batch.rows) or (batch.derived_of(uses) if unit.provenance else bool(batch.derived))
        if as_rows and (unit.provenance or any_values):
            columns, first = self._from_rows(batch)
        else:
            stream = stream_of(
                batch, uses, self.all_ranks, unit.inputs, unit.inputs_need_order, self.values, unit.provenance
            )
            columns = {"kind": stream.kind, "start": stream.start, "end": stream.end}
            for (values, flags), (index, _) in zip(stream.columns, unit.inputs.values(), strict=True):
                columns[f"x{index}"] = values
                columns[f"ok{index}"] = flags
            columns["k"] = columns["source"] = np.empty(0, np.int64)
            if unit.provenance and stream.positions is not None:
                columns["source"] = 2 * stream.positions + 1
            first = stream.first
            if stream.sequenced is not None or first is not None:
                row = np.arange(len(stream.end))
                local = self.structures["kinds"].arrays["local_"][stream.kind + 1].astype(np.int64)
                columns["k"] = (local << 40) + row
                if stream.sequenced is not None:
                    columns["k"] = np.where(stream.sequenced, SEQUENCED + row, columns["k"])
        columns["place"] = np.empty(0, np.int64) if first is None else columns["k"][first]
        given.sequenced, given.alike = int(len(columns["k"]) > 0), int(first is not None)
        for name, array in columns.items():
            given.put(name, np.ascontiguousarray(array))
        given.rows, given.at = len(columns["end"]), 0

    def _from_rows(self, batch: Batch) -> tuple[dict[str, Array], Array | None]:
        """The events of a batch from rows of Python values, and the first of each that are alike: see `Stream`."""
        unit = self.code.unit
        events = batch.events(self.uses)
        events.sort(key=lambda event: event.key)
        count = len(events)
        kind = np.array([self.all_ranks[event.type] for event in events], np.int32)
        local = np.array([self.ranks[event.type] for event in events], np.int64)
        columns: dict[str, Array] = {
            "kind": kind,
            "start": np.array([event.start for event in events], np.int64),
            "end": np.array([event.end for event in events], np.int64),
        }
        k = (local << 40) + np.arange(count)
        for i, event in enumerate(events):
            if event.sequence is not None:
                k[i] = SEQUENCED + i
        columns["k"] = k
        columns["source"] = np.array([self._source(event) for event in events], np.int64)
        for (type_, attribute), (index, kind_) in unit.inputs.items():
            values = [event.attributes.get(attribute) if event.type == type_ else None for event in events]
            encoded = [0 if value is None else self._encoded(value, kind_) for value in values]
            columns[f"x{index}"] = np.array(encoded, np.float64 if kind_ == "f" else np.int64)
            columns[f"ok{index}"] = np.array([value is not None for value in values], np.uint8)
        return columns, first_alike(np.array([one.key == other.key for one, other in pairwise(events)], bool))

    def _source(self, event: Event) -> int:
        """The handle of what an event came from."""
        handle = 0
        if self.code.unit.provenance:
            for position in sorted(event.sources):
                handle = self._origins.add(handle, 2 * position + 1)
        return handle

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
        """Takes a state that was saved with the same rules, when the dictionary has been restored."""
        self._set_constants()
        self.seen, *kept = state
        for (_, _, structure), held in zip(self._kept(), kept, strict=True):
            structure.restore(held)

    def copy_from(self, other: GeneratedLane) -> None:
        """Takes over the state of a lane with the same code."""
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
            self.limits, self.frame.budget,
        )  # fmt: skip
        made.copy_from(self)
        return made

    def take_over(self, olds: Sequence[GeneratedLane], time: int | None) -> None:
        """Takes over what other lanes know of the parts that both have; the timers of others begin after a time."""
        self._set_constants()  # the dictionary is another now
        known = {place: (structure, old) for old in olds for place, _, structure in old._kept()}
        owners = {owner for owner, _ in known}
        traced = self.code.unit.provenance and all(old.code.unit.provenance for old in olds)
        shifts = {id(old): self._origins.absorb(old._origins) if traced else 0 for old in olds}
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
        """Has a timer of a new rule begin after a time."""
        timer = self.code.unit.timers.get(name)
        if isinstance(timer, typed.Moment):
            structure.set, structure.next = 1, NEVER if timer.time <= time else timer.time
        elif isinstance(timer, typed.Periodic) and self.clock.first_end is not None:
            structure.set, structure.next = 1, (time // timer.period + 1) * timer.period

    def used_codes(self) -> Iterator[Array]:
        """The codes of values that are held somewhere."""
        yield np.array([self.values.code(constant) for constant in self.code.unit.constants.values()], np.int64)
        yield np.array(row_codes(self.values.others()), np.int64)
        for name, spec in self.code.unit.structures.items():
            if spec.kind.keeps or spec.kind in (MemberTable, KeyNumbers):
                yield from self.structures[name].columns_with("code")

    def forget_answers(self) -> None:
        """Forgets what was asked about values: their codes may mean others from now on."""
        for name, spec in self.code.unit.structures.items():
            structure = self.structures[name]
            if isinstance(structure, ByText | Calls | Answers | Found):
                structure.forget()
            elif isinstance(structure, StaticGroups | StaticRows | StaticNumbers):
                structure.begin_anew(*spec.arguments)

    def know(self, knowledge: Knowledge) -> None:
        """Go on with other static facts."""
        self.knowledge = knowledge
        self.forget_answers()

    def suppressed(self) -> Iterator[tuple[int, int]]:
        """How many events each rule that says how often it derives has not kept, by the rule's number."""
        numbers = {part.name: part.number for part in self.code.together.parts}
        for name, spec in self.code.unit.structures.items():
            number = numbers.get(spec.owner)
            if spec.kind is QuietGroups and number is not None:
                yield number, self.structures[name].serial

    def sizes(self) -> Iterator[tuple[str, str, tuple[int | None, int, int]]]:
        """What each structure of the state keeps: its owner, its name, and its size."""
        for (owner, _), name, structure in self._kept():
            yield owner, name.rsplit("_", 1)[0], structure.size()


def _many(question: Question) -> Callable[..., list[Any]] | None:
    """Computes the function of many strings at once, if there is a way."""
    expression = question.expression
    if not isinstance(expression, typed.Operation) or expression.own is not None or question.kinds[0] != "s":
        return None
    record = FUNCTIONS.get(expression.name)
    return None if record is None else record.many
