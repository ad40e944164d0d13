"""What the members of a family do with what their common rule found: each for which it counts makes an event of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ensue.engine.batch import Integers
from ensue.engine.compiled import kernels
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError, as_kind, kind_of
from ensue.engine.compiled.layout import Members
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.engine.sharing.families import LENGTH, Column, Family
from ensue.language import typed


@dataclass(frozen=True)
class Expansion:
    """The members of a family as what derives an event.

    Where they derive events of several types, `heads` has the number of each member's; it is the first attribute then.
    """

    event: str
    family: Family
    heads: tuple[int, ...] = ()

    @property
    def indexed(self) -> bool:
        return self.family.index is not None

    def columns(self) -> list[Column]:
        """The constants of the members, and the number of their type."""
        numbers = [Column("int", self.heads)] if self.heads else []
        return [*self.family.columns, *numbers]


def write_members(unit: Unit, expansion: Expansion) -> None:
    """Has all that the common rule found in a step looked at, in the layer at hand."""
    family = expansion.family
    if family.index is not None and kind_of(family.columns[family.index.column].type) not in "is":
        raise NotCompiledError("an index that is neither whole numbers nor strings")
    n = family.number
    unit.layout.members[n] = Members(n, max(1, len(expansion.columns())), expansion.indexed)
    unit.matched(family.found.name, lambda arrival: _expand(unit, expansion, arrival))


def _expand(unit: Unit, expansion: Expansion, arrival: Arrival) -> None:
    w, family = unit.writer, expansion.family
    member = w.fresh("y")
    find = _find(expansion, arrival, member)
    with _rows(unit, expansion, find) as (first, last), w.block(f"for {member} in range({first}, {last}):"):
        if family.threshold is not None:
            with w.block(f"if not ({unit.expressions.truth(family.threshold, find)}):"):
                w.line("break")
        tests = [f"({unit.expressions.truth(condition, find)})" for condition in family.conditions]
        with w.when(all_of(*tests)):
            _derive(unit, expansion, arrival, find)


@contextmanager
def _rows(unit: Unit, expansion: Expansion, find: Find) -> Iterator[tuple[str, str]]:
    """The members that may be concerned, from one to before another; and that many may derive something."""
    w, family = unit.writer, expansion.family
    n = family.number
    if family.index is None:
        with unit.repeated(f"M{n}.shape[0]"):
            yield "0", f"M{n}.shape[0]"
        return
    value = unit.expressions.code(family.index.value, find)
    with w.when(value.valid):
        slot = w.let("g", f"find1(MT{n}, MV{n}, {value.value})")
        most = max(Counter(family.columns[family.index.column].values).values())
        with w.block(f"if {slot} >= 0:"), unit.repeated(unit.layout.knob(("most alike", n), most)):
            yield f"MB{n}[{slot}]", f"MB{n}[{slot} + 1]"


def _find(expansion: Expansion, arrival: Arrival, member: str) -> Find:
    n, columns = expansion.family.number, expansion.columns()

    def constant(place: int) -> Code:
        kind = kind_of(columns[place].type)
        return Code(f"{'MF' if kind == 'f' else 'M'}{n}[{member}, {place}]", "True", kind)

    def found(expression: typed.Expression) -> Code:
        assert isinstance(expression, typed.Variable)
        match expression.name:
            case name if name == LENGTH:
                return Code(f"(t - {arrival.start})", "True", "i")
            case name if name.startswith("="):
                return constant(int(name[1:]))
            case name:
                return arrival.attribute(name)

    return found


def _derive(unit: Unit, expansion: Expansion, arrival: Arrival, find: Find) -> None:
    derived = unit.layout.derived[expansion.event]
    head = list(expansion.family.head)
    if expansion.heads:
        head.insert(0, typed.Variable(f"={len(expansion.family.columns)}", "int"))
    values = []
    for term, kind in zip(head, derived.kinds, strict=True):
        code = unit.expressions.code(term, find)
        values.append(Code("0", "False", kind) if code.valid == "False" else as_kind(code, kind))
    unit.derive(derived, arrival.start, values)


# --- tables


def tables_of(expansion: Expansion, strings: Callable[[str], int]) -> dict[str, Integers]:
    """The constants of the members as arrays, by name: a row for each, and the rows of each constant of the index."""
    family = expansion.family
    n, columns = family.number, expansion.columns()
    table = np.zeros((len(family.members), max(1, len(columns))), np.int64)
    for place, column in enumerate(columns):
        table[:, place] = _numbers(column, strings)
    if family.index is None:
        return {f"M{n}": table}
    constants = table[:, family.index.column]
    begins = np.flatnonzero(np.concatenate([[True], constants[1:] != constants[:-1]]))
    keys = np.ascontiguousarray(constants[begins]).reshape(-1, 1)
    slots = np.full(2 << len(keys).bit_length(), -1, np.int64)
    with np.errstate(over="ignore"):
        kernels.rehash(slots, keys, len(keys))  # type: ignore[no-untyped-call]
    return {f"M{n}": table, f"MT{n}": slots, f"MV{n}": keys, f"MB{n}": np.append(begins, len(constants))}


def _numbers(column: Column, strings: Callable[[str], int]) -> Integers:
    values: Sequence[typed.Value] = column.values
    if kind_of(column.type) == "f":
        return np.array(values, np.float64).view(np.int64)
    if kind_of(column.type) == "s":
        return np.array([strings(str(value)) for value in values], np.int64)
    return np.array(values, np.int64)
