"""What every operator of generated code has in common.

An operator hands on matches, each as a call of its output function, whose parameters are the fields that its consumers
want. Consumers say what they want when they are built; so code carries nothing that nobody uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, arguments, parameters
from ensue.engine.generate.writer import NOTHING, Code, Writer
from ensue.engine.structures.key_numbers import ByKey
from ensue.engine.structures.structure import Element, Layout, Structure
from ensue.language import typed

if TYPE_CHECKING:
    from ensue.engine.generate.unit import Unit

Take = Callable[[Writer, Env], None]
"""Writes what happens with a match at hand."""


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
        """What it keeps, beyond a step or not."""
        self.built_for: object = None
        """The operator of the plan that it is, or is part of."""
        unit.operators.append(self)

    # --- what is known of its matches

    def want(self, fields: Iterable[Field]) -> None:
        """Has fields handed on; `START` always is."""
        new = [field for field in dict.fromkeys(fields) if field not in self.wanted and field != START]
        self.wanted |= dict.fromkeys(new)
        if new:
            self.require(new)

    def require(self, fields: list[Field]) -> None:
        """Asks the inputs for what these fields are made of."""
        raise NotImplementedError

    def column(self, field: Field) -> Column:
        """The kind of a field, and whether it may be null."""
        raise NotImplementedError

    def has(self, field: Field) -> bool:
        """Whether its matches know a field."""
        raise NotImplementedError

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        """Tell whether it hands on the list of an aggregate as a number of `structures/lists.py`, in the step that
        makes it."""
        return False

    @property
    def parts(self) -> int:
        """How many events, timers and static rows its matches have at most: by these, as written, they are ordered."""
        raise NotImplementedError

    @property
    def chains(self) -> frozenset[int]:
        """The parts, by number, that stand for many: those of a cumulative side (see `operators/parts.py`)."""
        return frozenset()

    @property
    def ragged(self) -> bool:
        """Whether a match may have more or fewer parts than another."""
        return bool(self.chains)

    @property
    def columns(self) -> dict[Field, Column]:
        return {field: self.column(field) for field in self.wanted}

    def own_scan(self, atom: int) -> Any:
        """A scan of its own for an atom of what it shares with others (`operators/shared.py`); None elsewhere."""
        return None

    # --- code

    def structure(self, title: str, kind: type[Structure], layout: Layout, *arguments: Any) -> str:
        """Adds a structure of its own; gives its name."""
        name = self.unit.structure(title, kind, layout, *arguments)
        self.structures.append(name)
        return name

    def by_key(self, title: str, kind: type[ByKey], layout: Layout, kinds: str) -> str:
        """Adds a structure of its own that holds something for each key; gives its name."""
        name = self.unit.by_key(title, kind, layout, kinds)
        self.structures.append(name)
        return name

    def feed(self, take: Take) -> None:
        """Adds a consumer."""
        self.consumers.append(take)

    def push(self, w: Writer, env: Env) -> None:
        """Hands a match on."""
        w.line(f"{self.name}({', '.join(arguments(self.columns, env))})")

    def write(self) -> None:
        """Writes its functions; by default the one that hands matches on."""
        given, env = parameters(self.columns)
        w = Writer()
        self.unit.count(w, self.name)
        for take in self.consumers:
            take(w, Env(env))
        self.unit.function(self.name, given, w)


class Passing(Operator):
    """An operator that hands on the matches of one input, or some of them, as they are."""

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
    """Writes fields into a row."""
    write_fields(w, lambda name: f"{structure}.{name}[{row}]", columns, env, prefix)


def write_fields(
    w: Writer, place: Callable[[str], str], columns: dict[Field, Column], env: Env, prefix: str = "f"
) -> None:
    """Writes fields to where they belong: `place` gives the source for that by the names of `row_fields`."""
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
    """What the fields of a row are."""
    return read_fields(lambda name: f"{structure}.{name}[{row}]", columns, prefix)


def read_fields(place: Callable[[str], str], columns: dict[Field, Column], prefix: str = "f") -> Env:
    """Read fields from where they are held: see `write_fields`."""
    env = Env()
    for number, (field, column) in enumerate(columns.items()):
        held = place(f"{prefix}{number}")
        valid = "True"
        if column.nullable:
            valid = f"({place(_flags(prefix, number // 63))} & {1 << (number % 63)} != 0)"
        env[field] = Code(f"({held} != 0)" if column.kind == "b" else held, valid, column.kind)
    return env


def nothing(column: Column) -> Code:
    """A field that is not there."""
    return Code(NOTHING[column.kind], "False", column.kind)
