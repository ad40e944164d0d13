"""Some strata of a program as a unit of generated code: its operators, and the function that runs it.

For each step (one end time, of events or of what is due): pass its events; layer after layer, do what had to wait
for them, and derive until nothing new follows; put in order what a layer derived, and hand it on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cache

from ensue.engine import machine
from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.nulls import nullable_attributes
from ensue.engine.generate.operator import write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.build import build
from ensue.engine.operators.derive import Derive, Derived, listed
from ensue.engine.operators.look_up import mixed_columns
from ensue.engine.operators.members import Expansion, Members
from ensue.engine.operators.scan import Scan, given
from ensue.engine.sharing.parts import Common
from ensue.engine.structures import arithmetic, block, keys, rows, sources, store, values
from ensue.engine.subset.source import source_of
from ensue.language import typed
from ensue.language.limits import MOST_TURNS
from ensue.language.walk import atoms
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.records import dataclass

ENTRIES = ("run", "next_due")

SEQUENCED = 1 << 61
"""Events with a number in a sequence are numbered from here on."""
"""The functions of a unit that are called from outside."""


@dataclass(frozen=True)
class UnitRule:
    """Something that derives events: a rule, or what the members of a family do; and the name of its state.

    `number` is that of the rule in its program, None where it stands for several.
    """

    rule: typed.Rule | Expansion
    name: str
    number: int | None = None

    @property
    def title(self) -> str | None:
        """Its name for people: its label, or the event that it derives; None where it stands for several."""
        if isinstance(self.rule, typed.Rule):
            return self.rule.label or (None if self.rule.event.startswith("#") else self.rule.event)
        return None


@dataclass(frozen=True)
class Layer:
    """Parts of a stratum that derive events of one end time together."""

    parts: tuple[UnitRule, ...]
    stratum: int
    recursive: bool


@dataclass(frozen=True)
class CompilationUnit:
    """Rules that are compiled together. `heads` are types that the first attribute of another distinguishes."""

    layers: tuple[Layer, ...]
    events: Mapping[str, typed.EventType]
    heads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mixed_columns: frozenset[tuple[str, int]] = frozenset()
    """Columns of static predicates that may hold integers among floats; see `operators/look_up.py`."""
    emit: frozenset[str] = frozenset()
    """The types that other units or the outside take; see `engine/units.py`."""
    plans: Mapping[str, plan.Derive] = field(default_factory=dict)
    """The plans of rules, by the names of their states, if they exist already; else they are made with the code."""
    common: tuple[Common, ...] = ()
    """The equal parts of rules, smaller ones first."""

    @property
    def parts(self) -> list[UnitRule]:
        return [part for layer in self.layers for part in layer.parts]

    @property
    def rules(self) -> list[typed.Rule]:
        return [part.rule for part in self.parts if isinstance(part.rule, typed.Rule)]

    @property
    def derives(self) -> frozenset[str]:
        return frozenset(part.rule.event for part in self.parts)

    @property
    def uses(self) -> frozenset[str]:
        """The types that it takes in, given or derived elsewhere."""
        return frozenset(atom.event for rule in self.rules for atom in atoms(rule.body))


@dataclass
class Generated:
    """A unit with its source, and the heads of its rules."""

    unit: Unit
    texts: tuple[str, ...]
    """Its source, kernels first."""
    derived: dict[str, Derived]
    together: CompilationUnit
    plans: dict[str, plan.Derive]

    @property
    def uses(self) -> frozenset[str]:
        return self.together.uses

    @property
    def source(self) -> str:
        return "\n\n".join(self.texts)

    _tiers: machine.Tiers | None = field(default=None, init=False, compare=False)
    _asked: bool = field(default=False, init=False, compare=False)
    compiled: bool = field(default=False, init=False, compare=False)
    """True if it has been compiled, or cannot be: then `tiers` says why."""

    @property
    def tiers(self) -> machine.Tiers:
        """The unit as machine code, which has no state of its own."""
        if self._tiers is None:
            with machine.compiling:
                try:
                    self._tiers = self._tiers or machine.Tiers(self.to_compile)
                finally:
                    self.compiled = True
        return self._tiers

    def compile_later(self, wanted: Callable[[], bool]) -> None:
        """Compile the unit in a thread, if it is still wanted then; see `compiled`."""

        def make() -> None:
            self._asked = False
            if wanted():
                with suppress(Exception):  # it comes again where `tiers` is used
                    self.tiers  # noqa: B018

        if not self._asked and not self.compiled:
            self._asked = True
            machine.later(make)

    @property
    def to_compile(self) -> machine.Texts:
        """The unit in the form that is compiled."""
        return machine.Texts(self.texts, self.unit.bases(), ENTRIES)


def of_strata(program: typed.Program, strata: Sequence[typed.Stratum], names: Mapping[int, str]) -> CompilationUnit:
    """Strata as they are."""
    layers = tuple(
        Layer(tuple(UnitRule(program.rules[i], names[i], i) for i in rules), number, stratum.recursive)
        for number, stratum in enumerate(strata)
        for rules in stratum.layers
    )
    return CompilationUnit(layers, program.events, mixed_columns=mixed_columns(program))


def generate(
    together: CompilationUnit, emit: Collection[str], planner: Planner, provenance: bool = False, counted: bool = False
) -> Generated:
    """The code of a unit; `emit` are the types that it gives out. With `counted` operators count their matches."""
    layers = together.layers
    derived = {part.rule.event: number for number, layer in enumerate(layers) for part in layer.parts}
    uses = {atom.event for rule in together.rules for atom in atoms(rule.body)}
    types = [name for name in together.events if name in uses or name in derived]
    unit = Unit(together.events, types, derived, nullable_attributes(together.rules, together.events), provenance)
    unit.mixed_columns, unit.counted, unit.assemble = together.mixed_columns, counted, of_pattern
    heads = {
        event: Derived(
            unit, event, [] if event in uses else _lists(unit, event, layers), event in uses, layers[number].recursive
        )
        for event, number in derived.items()
    }
    plans = {}
    _build_common(unit, together)
    for number, layer in enumerate(layers):
        for part in layer.parts:
            unit.owner = part.name
            head = heads[part.rule.event]
            if isinstance(part.rule, Expansion):
                Members(unit, part.rule, head, number)
                continue
            node = plans[part.name] = together.plans.get(part.name) or planner.rule(part.rule)
            Derive(unit, node, build(unit, node.input, number), head, number)
    for operator in unit.operators:
        unit.owner = operator.owner
        operator.write()
    unit.owner = ""
    for head in heads.values():
        head.write_functions()
    wanted = {event for event in derived if event in emit or not set(emit).isdisjoint(together.heads.get(event, ()))}
    _finish(unit, layers, heads, wanted)
    return Generated(unit, unit.texts(), heads, together, plans)


def _lists(unit: Unit, event: str, layers: Sequence[Layer]) -> list[str]:
    """The attributes of an event that rules of a unit give as lists, which need not be values of the dictionary."""
    parts = [part.rule for layer in layers for part in layer.parts if part.rule.event == event]
    rules = [rule for rule in parts if isinstance(rule, typed.Rule)]
    return listed(unit.events[event], rules) if len(rules) == len(parts) else []


def _build_common(unit: Unit, together: CompilationUnit) -> None:
    """Builds the equal parts of rules, in the first layer in which one is used."""
    first = {part.name: number for number, layer in enumerate(together.layers) for part in layer.parts}
    for common in reversed(together.common):
        first[common.name] = min(first[user] for user in common.users)
    for common in together.common:
        unit.owner = common.name
        found = unit.shared[common.name] = build(unit, common.core, first[common.name])
        found.want(common.wanted)


def of_pattern(unit: Unit) -> Generated:
    """The code of a unit that matches one pattern, with operators that have been built."""
    for operator in unit.operators:
        operator.write()
    layers = (Layer((), 0, False),)
    _finish(unit, layers, {}, set())
    return Generated(unit, unit.texts(), {}, CompilationUnit(layers, unit.events), {})


def _finish(unit: Unit, layers: Sequence[Layer], heads: dict[str, Derived], emit: set[str]) -> None:
    """Write the code around the operators."""
    _Driver(unit, layers, heads, emit).write()
    if unit.row_keys:
        unit.use(block.number_rows(unit.row_keys.width))
    for module in KERNELS:
        for name, text in _kernels(module).items():
            if name not in unit.functions:
                unit.use(text)
    unit.finish()


KERNELS = {
    arithmetic: ("above", "add_high", "add_low", "float_order"),
    block: ("fill",),
    keys: ("spread", "mix", "key_bits"),
    rows: (
        "swap_rows", "copy_row", "rise", "apart_sink", "make_room_behind", "rarely_make_room_behind", "enqueue",
        "apart_into_heap",
    ),
    store: (
        "expire", "make_room", "rarely_make_room", "make_room_in_ring", "rarely_make_room_in_ring", "leave_out",
        "ended_at", "cut", "cut_behind",
    ),
    values: ("text_order", "value_order"),
    sources: ("union", "box", "add_source"),
}  # fmt: skip


@cache
def _kernels(module: object) -> dict[str, str]:
    return {name: source_of(getattr(module, name)) for name in KERNELS[module]}  # type: ignore[index]


class _Driver:
    """Writes the functions around the operators of a unit."""

    def __init__(self, unit: Unit, layers: Sequence[Layer], heads: dict[str, Derived], emit: set[str]) -> None:
        self.unit, self.layers, self.heads, self.emit = unit, layers, heads, emit
        self.steps = [unit.steps[i] if i < len(unit.steps) else [] for i in range(len(layers))]

    def write(self) -> None:
        self._take()
        self.unit.row_keys = self.unit.find_row_keys()
        for event in self.heads:
            for word in ("round", "after", "late"):
                self._hand(word, event)
        for number in range(len(self.layers)):
            self._drain(number)
            self._layer(number)
        self._finish()
        self._next_due()
        self._run()

    # --- events

    def _take(self) -> None:
        """Write ``take(row, kind)``, which passes a given event to the operators that take its type."""
        unit = self.unit
        for event in unit.types:
            w = Writer()
            if event in self.heads:
                if unit.scans.get(event) and not event.startswith("#"):
                    self._add_given(w, event)
            else:
                read: dict[str, str] = {}
                for scan in unit.takers(event):
                    scan.take(w, given(unit, w, scan, "row", read))
            unit.function(f"given_{unit.rank(event)}", ["row: int"], w)
        derived = [event for event in unit.types if event in self.heads]
        self._choose_type("take", [event for event in unit.types if event not in self.heads], bool(derived))
        if derived:  # the types that rules derive are seldom given, too
            self._choose_type("rarely_take", derived)

    def _choose_type(self, name: str, events: Sequence[str], others: bool = False) -> None:
        """Write a function that passes a given event of one of these types; with `others`, or of a rare one."""
        w = Writer()
        for number, event in enumerate(events):
            with w.block(f"{'elif' if number else 'if'} kind == {self.unit.rank(event)}:"):
                w.line(f"given_{self.unit.rank(event)}(row)")
        if others and events:
            with w.block("else:"):
                w.line("rarely_take(row, kind)")
        elif others:
            w.line("rarely_take(row, kind)")
        self.unit.function(name, ["row: int", "kind: int"], w)

    def _add_given(self, w: Writer, event: str) -> None:
        """Write code that adds a given event of a derived type to the derived ones."""
        head, unit = self.heads[event], self.unit
        r = head.rows
        with w.block(f"if {r}.count == {r}.capacity:"):
            w.line(f"grow({r})")
        w.line(f"{r}.start[{r}.count] = given.start[row]")
        w.line(f"{r}.end[{r}.count] = clock.now")
        w.line(f"{r}.given[{r}.count] = 1")
        if head.mixed:
            k = w.let("k", "given.k[row] if given.sequenced != 0 else 0")
            w.line(f"{r}.sequence[{r}.count] = 0")
            with w.block(f"if {k} >= {SEQUENCED}:"):
                w.line(f"{r}.given[{r}.count] = {k}")
                w.line(f"{r}.sequence[{r}.count] = given.place[row] if given.alike != 0 else {k}")
        if unit.provenance:
            w.line(f"{r}.source[{r}.count] = given.source[row]")
        env = Env()
        for attribute, column in head.columns.items():
            x, ok = unit.input(event, str(attribute[1]))
            held = f"given.{x}[row]"
            env[attribute] = Code(
                f"({held} != 0)" if column.kind == "b" else held, f"(given.{ok}[row] != 0)", column.kind
            )
        write_row(w, r, f"{r}.count", head.columns, env)
        w.line(f"{r}.count += 1")
        w.line("clock.derived = 1")

    def _scans(self, word: str, event: str) -> list[Scan]:
        layer = self.unit.derived[event]
        found = []
        for scan in self.unit.takers(event):
            if scan.layer == layer:
                kind = "after" if scan.ordered else "round"
            else:
                kind = "after" if scan.layer > layer else "late"
            if kind == word:
                found.append(scan)
        return found

    def _hand(self, word: str, event: str) -> None:
        """Write the function that passes a derived event to some of the operators that take its type."""
        unit, head, w = self.unit, self.heads[event], Writer()
        scans = self._scans(word, event)
        if not scans:
            return
        for scan in scans:
            env = Env({START: Code(f"{head.rows}.start[row]", "True", "i")})
            env |= head.attributes("row")
            for name in unit.events[event].attributes:
                assert ("attr", name) in env
            k = f"({unit.rank(event) << 40} + row - {head.rows}.first)"
            if head.mixed:
                k = w.let("k", f"{head.rows}.given[row] if {head.rows}.given[row] >= {SEQUENCED} else {k}")
            env["k",] = env["place",] = Code(k, "True", "i")
            if word != "round" and ("part", 0, "place") in scan.wanted:
                at = w.let("at", "row")
                with w.block(f"while {at} > {head.rows}.first and not before_{head.title}({at} - 1, {at}):"):
                    w.line(f"{at} -= 1")
                place = f"({unit.rank(event) << 40} + {at} - {head.rows}.first)"
                if head.mixed:
                    held = f"{head.rows}.sequence[row]"
                    place = w.let("place", f"{held} if {held} != 0 else {place}")
                env["place",] = Code(place, "True", "i")
            if unit.provenance:
                env[SOURCE] = Code(f"{head.rows}.source[row]", "True", "i")
            scan.take(w, env)
        unit.function(f"{word}_{head.title}", ["row: int"], w)

    # --- steps

    def _drain(self, number: int) -> None:
        """Write ``drain_n()``, calls after the events of a step, and ``last_n()``, also those after derived ones."""
        for word in ("drain", "last") if self._waits(number) else ("drain",):
            w = Writer()
            for condition, call in self.steps[number]:
                if word == "last" or call not in self.unit.last:
                    with w.when(condition):
                        w.line(call)
            self.unit.function(f"{word}_{number}", [], w)

    def _waits(self, number: int) -> bool:
        return any(call in self.unit.last for _, call in self.steps[number])

    def _late_events(self, number: int) -> list[str]:
        """The types that later layers derive for rules of a layer."""
        return [event for event in self.heads if any(scan.layer == number for scan in self._scans("late", event))]

    def _own(self, number: int) -> list[str]:
        return [event for event in self.heads if self.unit.derived[event] == number]

    def _layer(self, number: int) -> None:
        w, own = Writer(), self._own(number)
        w.line(f"drain_{number}()")
        rounds = [event for event in own if self._scans("round", event)]
        if rounds:
            turns = w.let("turns", "0")
            more = w.let("more", "True")
            with w.block(f"while {more}:"):
                w.line(f"{more} = False")
                ends = {event: w.let("to", f"{self.heads[event].rows}.count") for event in rounds}
                for event, end in ends.items():
                    head = self.heads[event]
                    with w.block(f"while {head.rows}.pushed < {end}:"):
                        w.line(f"{more} = True")
                        w.line(f"{head.rows}.pushed += 1")
                        w.line(f"round_{head.title}({head.rows}.pushed - 1)")
                with w.block(f"if {more}:"):
                    w.line(f"drain_{number}()")
                    w.line(f"{turns} += 1")
                    with w.block(f"if {turns} > {MOST_TURNS}:"):
                        w.line(f"clock.failed = {number + 1}")
                        w.line("return")
        for event in own:
            r = self.heads[event].rows
            with w.block(f"if {r}.count - {r}.first > 1:"):
                w.line(f"apart_sort_{r}()")
            inner = Writer()
            inner.line(f"sort_{r}({r}.first, {r}.count)")
            if not self.heads[event].compares and not self.heads[event].each:
                inner.line(f"unique_{r}()")
            self.unit.function(f"apart_sort_{r}", [], inner)
        again = False
        for event in own:
            head = self.heads[event]
            scans = self._scans("after", event)
            if scans:
                with w.block(f"for row in range({head.rows}.first, {head.rows}.count):"):
                    w.line(f"after_{head.title}(row)")
                again = again or any(scan.layer == number for scan in scans)
        if self._waits(number) and not self._late_events(number):
            w.line(f"last_{number}()")
        elif again:
            w.line(f"drain_{number}()")
        stratum = self.layers[number].stratum
        if number + 1 == len(self.layers) or self.layers[number + 1].stratum != stratum:
            self._late(w, stratum)
        self.unit.function(f"layer_{number}", [], w)

    def _late(self, w: Writer, stratum: int) -> None:
        """Write the passing of derived events to an earlier layer, where they cannot matter before a later step."""
        layers = set()
        for event, head in self.heads.items():
            scans = self._scans("late", event)
            if scans and self.layers[self.unit.derived[event]].stratum == stratum:
                with w.block(f"for row in range({head.rows}.first, {head.rows}.count):"):
                    w.line(f"late_{head.title}(row)")
                layers |= {scan.layer for scan in scans}
        for number in sorted(layers):
            w.line(f"{'last' if self._waits(number) else 'drain'}_{number}()")

    def _finish(self) -> None:
        w = Writer()
        w.line("clock.derived = 0")
        for number in range(len(self.layers)):
            w.line(f"layer_{number}()")
        for event, head in self.heads.items():
            r = head.rows
            if event in self.emit:
                w.line(f"{r}.first = {r}.count")
                w.line(f"{r}.pushed = {r}.count")
            else:
                w.line(f"{r}.count = 0")
                w.line(f"{r}.pushed = 0")
            if head.known is not None:
                w.line(f"{head.known}.step += 1")
                w.line(f"{head.known}.slots = 0")
        self.unit.function("finish", [], w)

    def _next_due(self) -> None:
        w = Writer()
        w.line(f"found = {NEVER}")
        for source in self.unit.dues:
            w.line(f"found = min(found, {source})")
        w.line("return found")
        self.unit.function("next_due", [], w, "int")

    def _run(self) -> None:
        """``run()``: takes in the events of a batch, from ``given.at`` on, and what is due up to ``clock.until``.

        It gives 0 if there is nothing to look at: nothing has failed, and nothing was derived that is handed out.

        Rows come from a block of those that the unit takes (`structures/block.py`). The next one is read before an
        event is passed on: the processor cannot predict its type, so it should know it early.
        """
        self._fill()
        w = Writer()
        keys = self.unit.row_keys
        w.line("clock.due = next_due()")
        w.line("place = 0")
        w.line("filled = apart_fill()")
        self._read_next(w)
        with w.block("while clock.failed == 0:"):
            w.line("now = min(clock.due, end)")
            with w.block(f"if now > clock.until or now == {NEVER}:"):
                w.line("break")
            w.line("clock.now = now")
            if self.unit.asks_alone:
                w.line("clock.alone = int(clock.due > now)")
            with w.block("while end == now:"):
                w.line("taken = row")
                w.line("its_kind = kind")
                if keys:
                    with w.block("if number >= 0:"):
                        w.line(f"{keys.table}.last = number")
                        for i in range(keys.width):
                            w.line(f"{keys.table}.last_k{i} = block.k{i}[row]")
                w.line("place += 1")
                with w.block("if place == filled:"):
                    w.line("place = 0")
                    w.line("filled = apart_fill()")
                self._read_next(w)
                if self.unit.asks_alone:
                    with w.block("if end == now:"):
                        w.line("clock.alone = 0")
                w.line("take(taken, its_kind)")
            with w.when("True" if self.unit.holds_back else "clock.derived != 0 or clock.due <= now"):
                w.line("finish()")
            with w.block("if clock.due <= now:"):
                w.line("clock.due = next_due()")
            for table in self.unit.key_tables.values():
                with w.block(f"if {table}.used > {table}.limit:"):
                    w.line(f"rarely_tidy_{table}()")
                    if keys and table == keys.table:
                        self._number(w)
                        w.line("number = block.number[place]")
            self.unit.look(w)
        with w.block("if filled > 0:"):
            w.line("given.at = row")
        counts = [f"{head.rows}.count" for event, head in self.heads.items() if event in self.emit]
        w.line(f"return {' + '.join(['clock.failed', *counts])}")
        self.unit.function("run", [], w, "int")

    def _fill(self) -> None:
        """Write ``apart_fill()``, which fills the block."""
        w = Writer()
        w.line("filled = fill(block, given, kinds)")
        self._number(w)
        w.line("return filled")
        self.unit.function("apart_fill", [], w, "int")

    def _number(self, w: Writer) -> None:
        """Write the lookup of the keys in the block."""
        if self.unit.row_keys:
            with w.block("if block.keyed != 0:"):
                w.line(f"number_rows(block, {self.unit.row_keys.table}, filled)")

    def _read_next(self, w: Writer) -> None:
        """Write the reading of the next row in the block; where there is none it never ends."""
        w.line("row = block.row[place]")
        w.line("kind = block.kind[place]")
        if self.unit.row_keys:
            w.line("number = block.number[place]")
        w.line(f"end = given.end[row] if filled > 0 else {NEVER}")
