"""Keys in generated code: the values of shared variables as numbers, which are equal where the values are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ensue.engine.generate.expressions import convert
from ensue.engine.generate.fields import Column, Env
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.structures.key_numbers import ByKey
from ensue.records import dataclass


@dataclass(frozen=True)
class Key:
    """Source for the parts of a key, and for its presence: null and NaN correlate with nothing."""

    parts: list[str]
    there: str


def key_of(unit: Unit, w: Writer, names: Sequence[str], env: Env, other: Operator) -> Key | None:
    """The key of a match in the kinds of the other side; None where no values of the two can be equal."""
    parts, there = [], []
    for name in names:
        code, wanted = env["var", name], other.column(("var", name)).kind
        match code.kind, wanted:
            case (one, two) if one == two:
                there.append(code.has_key)
                parts.append(code.bits)
            case "i", "f":  # an integer that no float can represent equals none
                there.append(all_of(code.valid, f"above({code.value}, float({code.value})) == 0"))
                parts.append(f"key_bits(float({code.value}))")
            case "f", "i":
                there.append(code.has_key)
                parts.append(code.bits)
            case _:
                return _by_value(unit, w, names, env, other)
    return Key([part if part.isidentifier() else w.let("key", part) for part in parts], all_of(*there))


def _by_value(unit: Unit, w: Writer, names: Sequence[str], env: Env, other: Operator) -> Key | None:
    """The same where one side has values of any type: all are looked up in the dictionary."""
    parts, there = [], []
    for name in names:
        code = env["var", name]
        if "o" not in (code.kind, other.column(("var", name)).kind) and code.kind != other.column(("var", name)).kind:
            return None
        if "o" in (code.kind, other.column(("var", name)).kind):
            code = w.held(convert(unit, w, code, "o"))
        there.append(code.has_key)
        parts.append(code.bits)
    return Key([w.let("key", part) for part in parts], all_of(*there))


def same_kinds(names: Sequence[str], one: Operator, other: Operator) -> bool:
    """True if two operators store variables in the same kinds, so that the keys of their matches are equal."""
    fields = [("var", name) for name in names]
    return all(one.has(field) and one.column(field).kind == other.column(field).kind for field in fields)


def key_kinds(names: Sequence[str], one: Operator, other: Operator) -> str:
    """The kinds of the parts of a key that two sides share: s where they are codes of values, else i."""
    codes = [{side.column(("var", name)).kind for side in (one, other)} & {"s", "o"} for name in names]
    return "".join("s" if code else "i" for code in codes)


def lookup(unit: Unit, w: Writer, word: str, structure: str, parts: Sequence[str]) -> str:
    """A name for the slot of a key, or its number; `word` is ``find`` or ``slot``."""
    if not parts:
        return "0"
    spec = unit.structures[structure]
    if issubclass(spec.kind, ByKey):
        word = {"find": "number", "slot": "numbered"}[word]
        table, found = spec.arguments[0], f"{word}_{len(parts)}({', '.join([spec.arguments[0], *parts])})"
        unit.lookups.append((table, tuple(parts)))
        hint = unit.known_numbers and unit.known_numbers.of(table, tuple(parts))
        return w.let("at", f"({hint} if {hint} >= 0 else {found})" if hint else found)
    unit.keys(len(parts))
    return w.let("at", f"{word}_{len(parts)}({', '.join([structure, *parts])})")


def group_parts(codes: Sequence[Code]) -> list[str]:
    """Values as parts of a group: null is a value like others, and so is NaN."""
    parts = []
    for code in codes:
        bits = code.bits
        if code.valid != "True":
            parts.append(f"({bits} if {code.valid} else 0)")
            parts.append(f"int({code.valid})")
        else:
            parts.append(bits)
    return parts


def column_kinds(columns: Iterable[Column]) -> str:
    """The kinds of the numbers that represent values of some columns in a group; see `group_parts`."""
    return "".join(("s" if column.kind in "so" else "i") + ("i" if column.nullable else "") for column in columns)
