"""A unit of generated code: functions, the structures that they work on, and the order of a step.

In a step, all events with one end are passed to the operators that take them, and each match is passed on as far as it
goes. Then, layer by layer and from the events up, the calls that had to wait for the whole step are made
(`Unit.later`); the events that a layer derived are sorted and passed to the operators that take them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from ensue.engine.generate.fields import Column as FieldColumn
from ensue.engine.generate.fields import Field
from ensue.engine.generate.known_numbers import KnownNumbers
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.kinds import kind_of
from ensue.engine.structure import Element, Layout, Structure, class_of
from ensue.engine.structures.block import Block, block_layout
from ensue.engine.structures.by_text import ByText, OfText, by_text_layout
from ensue.engine.structures.calls import Calls, calls_layout
from ensue.engine.structures.counts import STRUCTURE as COUNTS
from ensue.engine.structures.counts import WAIT, Counts, Look, counts_layout
from ensue.engine.structures.key_numbers import (
    ByKey,
    KeyNumbers,
    key_numbers_layout,
    number_functions,
    side_by_side,
    tidying,
)
from ensue.engine.structures.keys import key_functions
from ensue.engine.structures.rows import Constants, Given, Kinds, given_layout, kinds_layout, numbers_layout
from ensue.engine.structures.sources import Sources, sources_layout
from ensue.engine.structures.values import Values, values_layout
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.records import dataclass

CLOCK = ("now", "due", "until", "first", "failed", "derived", "alone")
"""The current time, the next time at which anything is due, the time up to which to run, the smallest end seen; the
layer in which a step failed; flags: an event was derived in the current step, and the step has one given event and
nothing due.
"""

NEVER = 2**63 - 1
"""Later than any time, longer than any length."""

FOREVER = 2**62
"""A length that can be subtracted from any time of an event."""

FIRST_CELL = 8
"""The cells before it belong to callbacks."""


@dataclass(frozen=True)
class Spec:
    """A structure to be made: its class, its layout, and its arguments."""

    kind: type[Structure]
    layout: Layout
    arguments: tuple[Any, ...] = ()
    owner: str = ""
    """The part of the program that it belongs to."""
    place: int = 0
    """Its number among its owner's structures."""


@dataclass(frozen=True)
class RowKeys:
    """The table that the keys of given events are looked up in, and the numbers of their columns, by type."""

    table: str
    inputs: Mapping[str, tuple[int, ...]]

    @property
    def width(self) -> int:
        return len(next(iter(self.inputs.values())))


@dataclass(frozen=True)
class Question:
    """A request that a table of calls sends to Python: an expression, and the kinds of its arguments and its result."""

    expression: typed.Expression
    kinds: tuple[str, ...]
    result: str
    flags: int = 0
    """A bit for each argument that may be null."""


FLAGS = 63
"""Flags that one number holds."""


@dataclass
class Unit:
    """The state of a unit while it is written.

    `types` are the events that it takes or derives; their numbers are places in this list, in the order of ranks.
    """

    events: Mapping[str, typed.EventType]
    types: Sequence[str]
    derived: Mapping[str, int]
    """The types that its rules derive, and the layer of each."""
    nullable: frozenset[tuple[str, str]]
    """The attributes that may be null, by event."""
    provenance: bool = False
    options: Any = None
    mixed_columns: frozenset[tuple[str, int]] = frozenset()
    """Columns of static predicates, by place, that may hold integers among floats."""
    assemble: Callable[[Unit], Any] = field(default=lambda unit: None)
    """Writes the rest of a unit for the pattern of an operator, whose code it returns: see `engine/assembly`."""
    outside: dict[Field, FieldColumn] = field(default_factory=dict)
    """The known fields of the match around it, where it is the unit of a pattern that is matched for each match."""
    operators: list[Operator] = field(default_factory=list)
    structures: dict[str, Spec] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    library: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    strings: dict[str, str] = field(default_factory=dict)
    """Numbers that are codes of values, which a run fills in: names, and the values' sources."""
    constants: dict[str, Any] = field(default_factory=dict)
    questions: dict[str, Any] = field(default_factory=dict)
    """The requests of structures to Python: a `Question`, or an object with ``answer(lane, structure, number)``."""
    indexes: dict[Any, tuple[str, str]] = field(default_factory=dict)
    """The tables of constants by which families look up members, by the family's number, and the kinds of keys."""
    inputs: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    scans: dict[str, list[Any]] = field(default_factory=dict)
    steps: list[list[tuple[str, str]]] = field(default_factory=list)
    """By layer: calls that are made when the events of a step have been passed on, each with its condition."""
    last: set[str] = field(default_factory=set)
    """Those of them that are made only once, after the events that rules of the same or a later layer derive."""
    dues: list[str] = field(default_factory=list)
    """Source for times at which anything is due."""
    periods: list[tuple[str, int]] = field(default_factory=list)
    timers: dict[str, typed.Moment | typed.Periodic] = field(default_factory=dict)
    """The timers of absolute time, by the structure that holds their next time."""
    holds_back: bool = False
    """True if calls may wait for the end of a step for other reasons than due times or derived events."""
    asks_alone: bool = False
    """True if code reads ``clock.alone``."""
    names: int = 0
    key_tables: dict[str, str] = field(default_factory=dict)
    """The tables that number keys, by the kinds of their parts."""
    known_numbers: KnownNumbers | None = None
    """The numbers of keys that the function at hand is given."""
    lookups: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """The keys that the function being written looks up: the table, and sources for their parts."""
    numbered: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The queues that keep numbers of keys, by the table of these."""
    given_keys: Counter[tuple[str, str, tuple[str, ...]]] = field(default_factory=Counter)
    """How often code looks up attributes of an event as a key: the table, the type, the attributes."""
    row_keys: RowKeys | None = None
    owner: str = ""
    """The part of the program that is being written."""
    places: dict[str, int] = field(default_factory=dict)
    inputs_need_order: bool = False
    counted: bool = False
    """True if the matches of operators are counted; see `structures/counts.py`."""
    counters: dict[str, None] = field(default_factory=dict)
    shared: dict[str, Operator] = field(default_factory=dict)
    """Parts that several rules share, by name."""
    outputs: dict[int, Operator] = field(default_factory=dict)
    """The operator that passes on the matches of an operator of the plan, by the identity of that."""

    # --- names

    def fresh(self, title: str) -> str:
        self.names += 1
        return f"{title}_{self.names}"

    def structure(self, title: str, kind: type[Structure], layout: Layout, *arguments: Any) -> str:
        """Add a structure; returns its name."""
        name = self.fresh(title)
        place = self.places[self.owner] = self.places.get(self.owner, -1) + 1
        self.structures[name] = Spec(kind, layout, arguments, self.owner, place)
        return name

    def by_key(self, title: str, kind: type[ByKey], layout: Layout, kinds: str) -> str:
        """Add a structure with an entry for each key, whose parts are of these kinds; returns its name."""
        return self.structure(title, kind, layout, self.key_table(kinds) if kinds else "")

    def key_table(self, kinds: str) -> str:
        """The table that numbers keys of these kinds; see `structures/key_numbers.py`."""
        if kinds not in self.key_tables:
            name = self.key_tables[kinds] = self.fresh("keys")
            self.structures[name] = Spec(KeyNumbers, key_numbers_layout(kinds), (len(kinds),))
            self.use(number_functions(len(kinds)))
        return self.key_tables[kinds]

    def function(self, name: str, parameters: Sequence[str], w: Writer, result: str = "None") -> None:
        body = "\n".join(w.lines) or "    pass"
        self.functions[name] = f"def {name}({', '.join(parameters)}) -> {result}:\n{body}\n"

    def use(self, source: str) -> None:
        """Add source of functions that are the same for all rules."""
        self.library[source] = None

    def keys(self, width: int) -> None:
        """Add functions for keys of a width; see `structures/keys.py`."""
        self.use(key_functions(width))

    # --- values

    def number(self, value: int) -> str:
        """Source for a number in a rule."""
        name = f"n{len(self.numbers)}"
        self.numbers[name] = value
        return f"numbers.{name}"

    def constant(self, value: Any, type_: str) -> Code:
        match value:
            case None:
                return Code("0", "False", "i")
            case bool():
                return Code(str(value), "True", "b")
            case int() if type_ == "float":
                return self.constant(float(value), type_)
            case int():
                return Code(self.number(value), "True", "i")
            case float():
                bits = int(np.float64(value).view(np.int64))
                return Code(f"from_bits({self.number(bits)})", "True", "f")
            case _:
                name = f"n{len(self.numbers)}"
                self.numbers[name] = 0
                self.constants[name] = value
                return Code(f"numbers.{name}", "True", "s" if isinstance(value, str) else "o")

    def outer(self, field: Field) -> Code:
        """The value of a field of the outer match, see `outside`."""
        number, column = list(self.outside).index(field), self.outside[field]
        held = f"outside.v{number}"
        valid = f"(outside.ok{number} != 0)" if column.nullable else "True"
        return Code({"f": f"from_bits({held})", "b": f"({held} != 0)"}.get(column.kind, held), valid, column.kind)

    def called(self, w: Writer, expression: typed.Expression, codes: Sequence[Code], when: str = "True") -> Code:
        """The value of an operation that Python computes, and a table remembers."""
        place = _only_text(expression, codes)
        if place is not None and when == "True":
            assert isinstance(expression, typed.Operation)
            return self._of_text(w, expression, codes[place], place)
        result = kind_of(expression.type)
        flags = [i for i, code in enumerate(codes) if code.valid != "True"]
        masks = range(0, len(codes) if flags else 0, FLAGS)
        width = len(codes) + len(masks)
        name = self.structure("call", Calls, calls_layout(width, result == "f"), width)
        bits = sum(1 << i for i in flags)
        self.questions[name] = Question(expression, tuple(code.kind for code in codes), result, bits)
        self.keys(width)
        keys = [f"bits({code.value})" if code.kind == "f" else code.stored for code in codes]
        for i in flags:  # a missing value must always be the same
            keys[i] = f"({keys[i]} if {codes[i].valid} else 0)"
        for first in masks:
            present = [f"({1 << (i - first)} if {codes[i].valid} else 0)" for i in flags if first <= i < first + FLAGS]
            keys.append(" | ".join(present) or "0")
        value, there = w.fresh("x"), w.fresh("ok")
        w.line(f"{value} = {'0.0' if result == 'f' else '0'}")
        w.line(f"{there} = False")
        with w.when(when):
            at = w.let("at", f"slot_{width}({', '.join([name, *keys])})")
            with w.block(f"if {name}.known[{at}] == 0:"):
                w.line(f"ask({name}, {at})")
            w.line(f"{value} = {name}.result[{at}]")
            w.line(f"{there} = {name}.there[{at}] != 0")
        return Code(f"({value} != 0)" if result == "b" else value, there, result)

    def _of_text(self, w: Writer, operation: typed.Operation, code: Code, place: int) -> Code:
        """The value of a function of one string, by its code; see `structures/by_text.py`."""
        result = kind_of(operation.type)
        name, at = self.by_text(w, operation, code, place)
        with w.block(f"if {name}.known[{at}] != 2:"):
            with w.block(f"if {name}.known[{at}] == 0:"):
                w.line(f"ask({name}, {at})")
            w.line(f"{name}.known[{at}] = 2")
            w.line(f"{name}.used += 1")
        value, there = w.let("x", f"{name}.result[{at}]"), w.let("ok", f"{name}.there[{at}] != 0")
        return Code(f"({value} != 0)" if result == "b" else value, there, result)

    def by_text(self, w: Writer, operation: typed.Operation, code: Code, place: int = 0) -> tuple[str, str]:
        """A table of a function of one string, and the place of the current string in it."""
        result = kind_of(operation.type)
        name = self.structure("call", ByText, by_text_layout(result == "f"))
        self.questions[name] = OfText(operation, place, result)
        null = "" if code.valid == "True" else f" if {code.valid} else 0"
        at = w.let("at", f"({code.value} + 1{null})")
        with w.block(f"while {at} >= {name}.capacity:"):
            w.line(f"grow({name})")
        return name, at

    # --- events

    def input(self, event: str, attribute: str) -> tuple[str, str]:
        """The columns of the batch with an attribute of given events: its values, and its flags."""
        kind = kind_of(self.events[event].attributes.get(attribute, "any"))
        index, _ = self.inputs.setdefault((event, attribute), (len(self.inputs), kind))
        return f"x{index}", f"ok{index}"

    def takers(self, event: str) -> list[Any]:
        """The consumers of a type of events, in the order in which they get them."""
        return sorted(self.scans.get(event, []), key=lambda scan: bool(scan.is_last))

    def may_be_null(self, event: str, attribute: str) -> bool:
        return (event, attribute) in self.nullable or attribute not in self.events[event].attributes

    def rank(self, event: str) -> int:
        return list(self.types).index(event)

    def find_row_keys(self) -> RowKeys | None:
        """The keys of given events that are looked up most often, where these are integers or codes of values."""
        best: dict[tuple[str, str], tuple[int, tuple[int, ...]]] = {}
        for (table, event, attributes), times in self.given_keys.items():
            inputs = [self.inputs.get((event, attribute)) for attribute in attributes]
            found = tuple(index for index, kind in filter(None, inputs) if kind in "is")
            if len(found) == len(attributes):
                best[table, event] = max(best.get((table, event), (0, ())), (times, found))
        totals: Counter[str] = Counter()
        for (table, _), (times, _) in best.items():
            totals[table] += times
        if not totals:
            return None
        chosen = max(totals, key=lambda table: totals[table])
        return RowKeys(chosen, {event: found for (table, event), (_, found) in best.items() if table == chosen})

    # --- counting

    def count(self, w: Writer, name: str, by: str = "1") -> None:
        """Write an increment of a count, if matches are counted."""
        if self.counted:
            self.counters[name] = None
            w.line(f"{COUNTS}.{name} += {by}")

    def look(self, w: Writer) -> None:
        """Write a call at the end of a step by which Python reads sizes, if matches are counted."""
        if self.counted:
            self.questions[COUNTS] = Look()
            w.line(f"{COUNTS}.{WAIT} -= 1")
            with w.block(f"if {COUNTS}.{WAIT} <= 0:"):
                w.line(f"ask({COUNTS}, 0)")

    # --- steps

    def later(
        self, layer: int, condition: str, call: str, due: bool = False, last: bool = False, early: bool = False
    ) -> None:  # fmt: skip
        """Add a call that is made when all events of a step have been passed on; calls follow the order of operators.

        With `due` it is made only at due times (`dues`). With `last` it waits for events that rules of its own or a
        later layer derive: nothing of this step may follow from it. With `early` it comes before all others so far.
        """
        while len(self.steps) <= layer:
            self.steps.append([])
        self.steps[layer].insert(0 if early else len(self.steps[layer]), (condition, call))
        if last:
            self.last.add(call)
        self.holds_back = self.holds_back or not due

    def comes_late(self, pattern: typed.Pattern, layer: int) -> bool:
        """True if a pattern takes events that the rules of a layer, or of a later one, derive."""
        return any(self.derived.get(atom.event, -1) >= layer for atom in atoms(typed.Body(pattern)))

    # --- results

    def finish(self) -> None:
        """Add the structures that every unit has."""
        columns: dict[str, Element] = {"k": "i64", "place": "i64", "source": "i64"}
        for index, kind in self.inputs.values():
            columns[f"x{index}"] = "f64" if kind == "f" else "i64"
            columns[f"ok{index}"] = "u8"
        self.structures = {
            "clock": Spec(Constants, numbers_layout(CLOCK)),
            "given": Spec(Given, given_layout(columns)),
            "numbers": Spec(Constants, numbers_layout(tuple(self.numbers))),
            "values": Spec(Values, values_layout()),
            "kinds": Spec(Kinds, kinds_layout()),
            "block": Spec(Block, block_layout(self.row_keys.width if self.row_keys else 0)),
            **({"outside": Spec(Constants, numbers_layout(self._cells_outside()))} if self.outside else {}),
            **({"origins": Spec(Sources, sources_layout())} if self.provenance else {}),
            **({COUNTS: Spec(Counts, counts_layout(self.counters))} if self.counted else {}),
            **self._side_by_side(),
        }

    def _side_by_side(self) -> dict[str, Spec]:
        """The structures, with common rows for those whose keys are in one table."""
        found = dict(self.structures)
        for table in self.key_tables.values():
            kinds = {
                name: spec.kind
                for name, spec in found.items()
                if issubclass(spec.kind, ByKey) and spec.arguments[0] == table
            }
            layouts = side_by_side(found[table].layout, [found[name].layout for name in kinds])
            for name, layout in zip([table, *kinds], layouts, strict=True):
                found[name] = replace(found[name], layout=layout)
            held = {name: (kind, found[name].layout) for name, kind in kinds.items()}
            self.use(tidying(table, found[table].arguments[0], held, self.numbered[table]))
        return found

    def _cells_outside(self) -> tuple[str, ...]:
        return tuple(f"{letter}{number}" for number in range(len(self.outside)) for letter in ("v", "ok"))

    def bases(self) -> dict[str, tuple[Layout, int]]:
        """The place of each structure in the frame."""
        found, at = {}, FIRST_CELL
        for name, spec in self.structures.items():
            found[name] = (spec.layout, at)
            at += spec.layout.cells
        return found

    def texts(self) -> tuple[str, ...]:
        """Its source: the functions that are the same for all rules, and its own."""
        return (*self.library, "\n\n".join(self.functions.values()))


def make(spec: Spec, frame: Any, base: int) -> Structure:
    return class_of(spec.kind, spec.layout)(frame, base, *spec.arguments)  # type: ignore[arg-type]


def _only_text(expression: typed.Expression, codes: Sequence[Code]) -> int | None:
    """The place of the only string argument of an operation, where all others are constants that are not null."""
    if not isinstance(expression, typed.Operation) or expression.own is not None:
        return None
    if len(codes) != len(expression.arguments):
        return None
    others = [i for i, term in enumerate(expression.arguments) if not isinstance(term, typed.Constant)]
    if len(others) != 1 or codes[others[0]].kind != "s" or any(code.valid == "False" for code in codes):
        return None
    return others[0]
