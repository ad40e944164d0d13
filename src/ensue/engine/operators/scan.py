"""Scan: events of a type whose attributes equal the terms of an atom. It keeps no state.

Events of a step come in their order. A type that the unit derives is taken from its rows, which include given events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ensue.engine.generate.expressions import convert, truth
from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field, arguments, parameters, used_by
from ensue.engine.generate.known_numbers import KnownNumbers
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.kinds import kind_of
from ensue.language import typed
from ensue.plan import operators as plan

if TYPE_CHECKING:
    from ensue.engine.operators.gate import Entrance


class Scan(Operator):
    """Events of a type; see the module."""

    def __init__(self, unit: Unit, node: plan.Scan, layer: int) -> None:
        named = node.atom.event if node.atom.event.isidentifier() else "event"
        super().__init__(unit, f"on_{named}", layer)  # so no type has the name of another function of the unit
        self.atom, self.conditions = node.atom, node.conditions
        self.variables: dict[str, str] = {}
        for attribute, term in self.atom.fields:
            if isinstance(term, typed.Variable):
                self.variables.setdefault(term.name, attribute)
        self.gates: list[Callable[[Writer, Env], str]] = []
        """Tests of joins that know which matches they wait for: a match that fails one is useless."""
        self.entrance: Entrance | None = None
        """The entrance at which its events come to a gate; None where all pass."""
        self.is_last = False
        """True if its events are passed on after those of other scans of the type."""
        self.ordered = False
        """True if the order of events matters to the operators above."""
        self.numbers: Sequence[tuple[str, tuple[str, ...]]] = ()
        """Keys whose numbers its function is given: their table and variables."""
        unit.scans.setdefault(self.atom.event, []).append(self)

    def require(self, fields: list[Field]) -> None:
        pass

    @property
    def parts(self) -> int:
        return 1

    def has(self, field: Field) -> bool:
        match field:
            case ("var", name):
                return name in self.variables
            case ("attr" | "time", label, _):
                return label == self.atom.label
            case ("part", number, _):
                return number == 0
            case _:
                return field in (START, SOURCE, OLDEST)

    def column(self, field: Field) -> Column:
        match field:
            case ("var", str(name)):
                return self._attribute(self.variables[name])
            case ("attr", _, str(attribute)):
                return self._attribute(attribute)
            case _:
                return Column("i", False)

    def _attribute(self, name: str) -> Column:
        event = self.atom.event
        kind = kind_of(self.unit.events[event].attributes.get(name, "any"))
        return Column(kind, self.unit.may_be_null(event, name))

    def take(self, w: Writer, attribute: Env) -> None:
        """Write the arrival of an event: `attribute` has its attributes by name, and its start, source and number."""
        self.unit.owner = self.owner
        self.unit.count(w, f"{self.name}_in")
        env = self._env(attribute)
        tests: list[str] = []
        first: dict[str, Code] = {}
        for name, term in self.atom.fields:
            code = attribute["attr", name]
            if isinstance(term, typed.Constant):
                tests.append(self._equal(w, code, self.unit.constant(term.value, term.type)))
            elif term.name in first:
                tests.append(self._equal(w, code, first[term.name]))
            else:
                first[term.name] = code
        with w.when(all_of(*tests)):
            conditions = [f"({truth(self.unit, w, condition, env)})" for condition in self.conditions]
            with w.when(all_of(*(c for c in conditions if c != "(True)"))):
                self._let_through(w, env)

    def _let_through(self, w: Writer, env: Env) -> None:
        with ExitStack() as stack:
            for gate in self.gates:
                stack.enter_context(w.when(gate(w, env)))
            if self.entrance is None:
                self.push(w, env)
            else:
                self.entrance.come(w, env)

    def _equal(self, w: Writer, left: Code, right: Code) -> str:
        """Source that is true if two values are equal; null and NaN equal nothing."""
        if left.kind == right.kind:
            return all_of(left.has_key, right.has_key, f"{left.bits} == {right.bits}")
        if {left.kind, right.kind} == {"i", "f"}:
            whole, fraction = (left, right) if left.kind == "i" else (right, left)
            return all_of(left.valid, right.valid, f"above({whole.value}, {fraction.value}) == 0")
        if "o" in (left.kind, right.kind):
            return self._equal(w, *(w.held(convert(self.unit, w, code, "o")) for code in (left, right)))
        return "False"

    def _env(self, attribute: Env) -> Env:
        env = Env({START: attribute[START]})
        for field in [*self.wanted, *used_by(self.conditions)]:
            match field:
                case ("var", str(name)):
                    env[field] = attribute["attr", self.variables[name]]
                case ("attr", _, name):
                    env[field] = attribute["attr", name]
                case ("time", _, which) | ("part", _, ("start" | "end") as which):
                    env[field] = attribute[START] if which == "start" else Code("clock.now", "True", "i")
                case ("part", _, ("k" | "place") as which):
                    env[field] = attribute[which,]
                case ("source",):
                    env[field] = attribute[SOURCE]
                case ("oldest",):
                    env[field] = Code("clock.now", "True", "i")
        return env

    def push(self, w: Writer, env: Env) -> None:
        """Write the call that passes an event on, with the numbers of its keys, if they have one yet."""
        given = arguments(self.columns, env)
        for table, names in self.numbers:
            codes = [env["var", name] for name in names]
            found = f"number_{len(codes)}({', '.join([table, *(code.value for code in codes)])})"
            there = all_of(*(code.valid for code in codes))
            given.append(w.once("own_number", found if there == "True" else f"({found} if {there} else -1)"))
        w.line(f"{self.name}({', '.join(given)})")

    def write(self) -> None:
        """Write its functions, and note which attributes its consumers use as keys."""
        self.unit.lookups.clear()
        given, names = parameters(self.columns)
        keys: dict[str, str] = {}
        if len(self.unit.scans[self.atom.event]) > 1:  # else nobody else looks up the key of the event
            keys = {
                code.value: str(field[1]) for field, code in names.items() if field[0] == "var" and code.kind in "is"
            }
        self.unit.known_numbers = known = KnownNumbers(given, keys)
        self._write_passing(given, names)
        self.unit.known_numbers = None
        self.numbers = list(known.keys)
        variables = {code.value: self.variables[str(field[1])] for field, code in names.items() if field[0] == "var"}
        for table, parts in self.unit.lookups:
            if variables.keys() >= set(parts):
                self.unit.given_keys[table, self.atom.event, tuple(variables[part] for part in parts)] += 1

    def attributes(self) -> list[str]:
        """The attributes that it reads."""
        named = [str(field[-1]) for field in [*self.wanted, *used_by(self.conditions)] if field[0] == "attr"]
        variables = [
            self.variables[str(field[1])] for field in [*self.wanted, *used_by(self.conditions)] if field[0] == "var"
        ]
        tested = [name for name, term in self.atom.fields if self._tests(name, term)]
        return list(dict.fromkeys([*tested, *variables, *named]))

    def _tests(self, name: str, term: typed.Variable | typed.Constant) -> bool:
        if isinstance(term, typed.Constant):
            return True
        return sum(isinstance(t, typed.Variable) and t.name == term.name for _, t in self.atom.fields) > 1


def scans_in(operator: Operator) -> Iterator[Scan]:
    """The scans that an operator takes matches from, directly or indirectly."""
    if isinstance(operator, Scan):
        yield operator
    for input_ in _inputs(operator):
        yield from scans_in(input_)


def scan_of(operator: Operator, atom: int) -> Scan | None:
    """The scan of an atom among those below an operator."""
    if isinstance(operator, Scan):
        return operator if operator.atom.id == atom else None
    found = (scan_of(input_, atom) for input_ in _inputs(operator))
    return next((scan for scan in found if scan is not None), None) or operator.own_scan(atom)


def _inputs(operator: Operator) -> Iterator[Operator]:
    yield from getattr(operator, "inputs", ())
    yield from filter(None, [getattr(operator, "input", None)])


def given(unit: Unit, w: Writer, scan: Scan, row: str, read: dict[str, str]) -> Env:
    """A given event as fields of a scan. `read` are names for values that have been read, so that each is read once."""

    def once(source: str) -> str:
        if source not in read:
            read[source] = w.let("given", source)
        return read[source]

    env = Env({START: Code(once(f"given.start[{row}]"), "True", "i")})
    for name in scan.attributes():
        values, flags = unit.input(scan.atom.event, name)
        column = scan._attribute(name)
        held = once(f"given.{values}[{row}]{' != 0' if column.kind == 'b' else ''}")
        valid = once(f"given.{flags}[{row}] != 0") if column.nullable else "True"
        env["attr", name] = Code(held, valid, column.kind)
    for name, _ in scan.atom.fields:
        env.setdefault(("attr", name), Code("0", "False", "i"))
    rank = unit.rank(scan.atom.event) << 40
    k = f"(given.k[{row}] if given.sequenced != 0 else {rank} + {row})"
    env["k",] = Code(k, "True", "i")
    env["place",] = Code(f"(given.place[{row}] if given.alike != 0 else {k})", "True", "i")
    env[SOURCE] = Code(f"given.source[{row}]", "True", "i")
    return env
