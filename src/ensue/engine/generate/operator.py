"""Base of all operators of generated code.

An operator passes on matches, each as a call of its output function, whose parameters are the fields that its consumers
want. Consumers request fields when they are built; so code carries no unused fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, arguments, parameters
from ensue.engine.generate.writer import NOTHING, Code, Writer
from ensue.engine.structure import Element, Layout, Structure
from ensue.engine.structures.key_numbers import ByKey
from ensue.language import typed

if TYPE_CHECKING:
    from ensue.engine.generate.unit import Unit

Take = Callable[[Writer, Env], None]
"""Writes the code that handles the current match."""

TakeWhere = Callable[[Writer, Env, str], None]
"""Writes the code that handles the current match where a condition holds, without a branch."""


class Operator:
    """A part of a plan, in a unit of generated code. Operators are built from events up."""

    def __init__(self, unit: Unit, title: str, layer: int) -> None:
        self.unit = unit
        self.layer = layer
        self.name = unit.fresh(title)
        self.owner = unit.owner
        self.wanted: dict[Field, None] = {}
        self.consumers: list[Take] = []
        self.structures: list[str] = []
        """The names of its structures, part of the state or not."""
        self.built_for: object = None
        """The operator of the plan that it implements, or is part of."""
        unit.operators.append(self)

    # --- fields of its matches

    def want(self, fields: Iterable[Field]) -> None:
        """Request fields of its matches; `START` is always among them."""
        new = [field for field in dict.fromkeys(fields) if field not in self.wanted and field != START]
        self.wanted |= dict.fromkeys(new)
        if new:
            self.require(new)

    def require(self, fields: list[Field]) -> None:
        """Request the fields of the inputs that these fields are made of."""
        raise NotImplementedError

    def column(self, field: Field) -> Column:
        """The kind of a field, and a flag that it may be null."""
        raise NotImplementedError

    def has(self, field: Field) -> bool:
        """True if its matches have a field."""
        raise NotImplementedError

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        """True if it gives the list of an aggregate as a number of `structures/lists.py`, in the step that makes it."""
        return False

    @property
    def parts(self) -> int:
        """Most events, timers and static rows that a match has; matches are ordered by these, as written."""
        raise NotImplementedError

    @property
    def chains(self) -> frozenset[int]:
        """The parts, by number, that stand for many: those of a cumulative side (see `operators/parts.py`)."""
        return frozenset()

    @property
    def ragged(self) -> bool:
        """True if one match may have more parts than another."""
        return bool(self.chains)

    @property
    def columns(self) -> dict[Field, Column]:
        return {field: self.column(field) for field in self.wanted}

    def own_scan(self, atom: int) -> Any:
        """Its own scan of an atom in a part that it shares with others (`operators/shared.py`); None elsewhere."""
        return None

    # --- code

    def structure(self, title: str, kind: type[Structure], layout: Layout, *arguments: Any) -> str:
        """Add a structure of its own; returns its name."""
        name = self.unit.structure(title, kind, layout, *arguments)
        self.structures.append(name)
        return name

    def by_key(self, title: str, kind: type[ByKey], layout: Layout, kinds: str) -> str:
        """Add a structure of its own with an entry for each key; returns its name."""
        name = self.unit.by_key(title, kind, layout, kinds)
        self.structures.append(name)
        return name

    def feed(self, take: Take, where: TakeWhere | None = None) -> None:
        """Add a consumer; `where` is the same without a branch, for operators that can use it."""
        self.consumers.append(take)

    def push(self, w: Writer, env: Env) -> None:
        """Write the call that passes a match on."""
        w.line(f"{self.name}({', '.join(arguments(self.columns, env))})")

    def write(self) -> None:
        """Write its functions; by default the one that passes matches on."""
        given, env = parameters(self.columns)
        self._write_passing(given, env)

    def _write_passing(self, given: list[str], env: Env) -> None:
        """Write the function that passes matches on; consumers may add to its parameters."""
        w = Writer()
        self.unit.count(w, self.name)
        for take in self.consumers:
            take(w, Env(env))
        self.unit.function(self.name, given, w)


class Passing(Operator):
    """An operator that passes on the matches of one input, or some of them, as they are."""

    def __init__(self, unit: Unit, title: str, input_: Operator, layer: int) -> None:
        super().__init__(unit, title, layer)
        self.input = input_
        input_.feed(self.take)

    def take(self, w: Writer, env: Env) -> None:
        raise NotImplementedError

    def require(self, fields: list[Field]) -> None:
        self.input.want(fields)

    def has(self, field: Field) -> bool:
        return self.input.has(field)

    def column(self, field: Field) -> Column:
        return self.input.column(field)

    @property
    def parts(self) -> int:
        return self.input.parts

    @property
    def chains(self) -> frozenset[int]:
        return self.input.chains

    @property
    def ragged(self) -> bool:
        return self.input.ragged


# --- fields in rows

ELEMENTS: dict[str, Element] = {"i": "i64", "b": "i64", "f": "f64", "s": "code", "o": "code", "c": "chain", "l": "i64"}


def row_fields(columns: dict[Field, Column], prefix: str = "f") -> dict[str, Element]:
    """The columns of rows that hold fields: one each, and one for the flags of those that may be null."""
    fields: dict[str, Element] = {}
    for number, (field, column) in enumerate(columns.items()):
        fields[f"{prefix}{number}"] = "source" if field == SOURCE else ELEMENTS[column.kind]
    if any(column.nullable for column in columns.values()):
        for word in range((len(columns) + 62) // 63):
            fields[_flags(prefix, word)] = "i64"
    return fields


def _flags(prefix: str, word: int) -> str:
    """The name of a column of flags."""
    return f"{prefix}_valid{word or ''}"


def write_row(w: Writer, structure: str, row: str, columns: dict[Field, Column], env: Env, prefix: str = "f") -> None:
    """Write fields into a row."""
    write_fields(w, lambda name: f"{structure}.{name}[{row}]", columns, env, prefix)


def write_fields(
    w: Writer, place: Callable[[str], str], columns: dict[Field, Column], env: Env, prefix: str = "f"
) -> None:
    """Write fields to their places: `place` gives the source of a place by the names of `row_fields`."""
    flags: dict[int, list[str]] = {}
    for number, (field, column) in enumerate(columns.items()):
        code = env[field]
        w.line(f"{place(f'{prefix}{number}')} = {code.stored}")
        if column.nullable:
            bit = 1 << (number % 63)
            there = str(bit) if code.valid == "True" else f"({bit} if {code.valid} else 0)"
            if code.valid != "False":
                flags.setdefault(number // 63, []).append(there)
    if any(column.nullable for column in columns.values()):
        for word in range((len(columns) + 62) // 63):
            w.line(f"{place(_flags(prefix, word))} = {' | '.join(flags.get(word, ['0']))}")


def read_row(structure: str, row: str, columns: dict[Field, Column], prefix: str = "f") -> Env:
    """The fields of a row, as code."""
    return read_fields(lambda name: f"{structure}.{name}[{row}]", columns, prefix)


def read_fields(place: Callable[[str], str], columns: dict[Field, Column], prefix: str = "f") -> Env:
    """The fields at their places, as code: see `write_fields`."""
    env = Env()
    for number, (field, column) in enumerate(columns.items()):
        held = place(f"{prefix}{number}")
        valid = "True"
        if column.nullable:
            valid = f"({place(_flags(prefix, number // 63))} & {1 << (number % 63)} != 0)"
        env[field] = Code(f"({held} != 0)" if column.kind == "b" else held, valid, column.kind)
    return env


def nothing(column: Column) -> Code:
    """Code for a missing field."""
    return Code(NOTHING[column.kind], "False", column.kind)
