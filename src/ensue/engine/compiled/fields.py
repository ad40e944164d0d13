"""Fields by name, wherever they are held: in the event at hand, in a row of a store, or in several of these.

A field is read when it is used, so that generated code reads nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ensue.engine.compiled.expressions import Code
from ensue.engine.compiled.layout import Field
from ensue.engine.compiled.unit import Arrival

Fields = Mapping[Field, Code]
Columns = Mapping[Field, tuple[int, str]]
"""The column of each field, and its kind."""


def time(value: str) -> Code:
    return Code(value, "True", "i")


class Arrived(dict[Field, Code]):
    """The fields of an atom for the event at hand; its attributes also by their names alone."""

    def __init__(self, atom: int, arrival: Arrival) -> None:
        self.atom = atom
        self.arrival = arrival

    def __missing__(self, key: Field) -> Code:
        match key:
            case ("@", str(attribute)):
                return self.arrival.attribute(attribute)
            case ("attr", self.atom, str(attribute)):
                return self.arrival.attribute(attribute)
            case ("start", self.atom):
                return time(self.arrival.start)
            case ("end", self.atom):
                return time("t")
        raise KeyError(key)


class Held(dict[Field, Code]):
    """The fields of an instance that is held as a row. `called` says what a field is called there."""

    def __init__(
        self, rows: str, floats: str, row: str, node: int, columns: Columns, nullable: Callable[[Field], bool],
        called: Callable[[Field], Field] = lambda key: key,
    ) -> None:  # fmt: skip
        self.rows, self.floats, self.row, self.node = rows, floats, row, node
        self.columns, self.nullable, self.called = columns, nullable, called

    def __missing__(self, key: Field) -> Code:
        if key == ("start", self.node):
            return time(f"{self.rows}[{self.row}, 2]")
        if key == ("end", self.node):
            return time(f"{self.rows}[{self.row}, 3]")
        column, kind = self.columns[self.called(key)]
        value = f"{self.floats if kind == 'f' else self.rows}[{self.row}, {column}]"
        if not self.nullable(key):
            return Code(value, "True", kind)
        return Code(value, f"(({self.rows}[{self.row}, 4] & np.int64({1 << (column - 5)})) != 0)", kind)


class Joined(dict[Field, Code]):
    """Fields of several instances, as one; first come its own. `same` names other fields with the same value."""

    def __init__(self, own: Fields, *others: Fields, same: Mapping[Field, Sequence[Field]] | None = None) -> None:
        self.own = own
        self.others = others
        self.same = same or {}

    def __missing__(self, key: Field) -> Code:
        if key in self.own:
            return self.own[key]
        for name in (key, *self.same.get(key, ())):
            for other in self.others:
                try:
                    return other[name]
                except KeyError:
                    continue
        raise KeyError(key)
