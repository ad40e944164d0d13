"""Source as it is written, and values in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from ensue.records import dataclass

ANNOTATIONS = {"i": "int", "s": "int", "o": "int", "f": "float", "b": "bool", "c": "int", "l": "int"}
"""Kinds of fields as types of parameters: kinds of values, chains of parts (c), and lists that no rule uses (l)."""


@dataclass(frozen=True)
class Code:
    """Source for a value, and for its presence. A value of kind b is a truth value, else a number."""

    value: str
    valid: str
    kind: str

    @property
    def stored(self) -> str:
        """Source for the value as stored in columns."""
        return f"int({self.value})" if self.kind == "b" else self.value

    @property
    def bits(self) -> str:
        """Source for the value as 64 bits, equal for equal values; for NaN, see `has_key`."""
        match self.kind:
            case "f":
                return f"key_bits({self.value})"
            case "o":
                return f"values.same[{self.value}]"
            case _:
                return self.stored

    @property
    def has_key(self) -> str:
        """Source that is true if the value equals itself: null and NaN do not."""
        match self.kind:
            case "f":
                return all_of(self.valid, f"{self.value} == {self.value}")
            case "o":
                return all_of(self.valid, f"values.same[{self.value}] >= 0")
            case _:
                return self.valid


NOTHING = {"i": "0", "s": "0", "o": "0", "f": "0.0", "b": "False", "l": "0"}
"""Placeholders for missing values."""


@dataclass
class Writer:
    """Lines of a function."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1
    names: int = 0
    known: dict[str, str] = field(default_factory=dict)
    """Names of values that all following lines can see; see `once`."""

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def let(self, stem: str, value: str) -> str:
        """A new name for a value."""
        name = self.fresh(stem)
        self.line(f"{name} = {value}")
        return name

    def once(self, stem: str, value: str) -> str:
        """A name for a value that need not be computed again, unless it was computed under a condition."""
        if value in self.known:
            return self.known[value]
        name = self.let(stem, value)
        if self.depth == 1:
            self.known[value] = name
        return name

    def held(self, code: Code, stem: str = "x") -> Code:
        """The same value under names, so that it is computed once."""
        value = code.value if _simple(code.value) else self.let(stem, code.value)
        valid = code.valid if _simple(code.valid) else self.let("ok", code.valid)
        return Code(value, valid, code.kind)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines under a head; a `pass` if there are none."""
        self.line(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Lines under a condition; without one if it always holds."""
        if condition == "True":
            yield
        else:
            with self.block(f"if {condition}:"):
                yield


def _simple(source: str) -> bool:
    return source.isidentifier() or source.lstrip("-").replace(".", "", 1).isdigit()


def all_of(*conditions: str) -> str:
    """Conditions joined by ``and``; those that always hold are left out."""
    kept = list(dict.fromkeys(c for c in conditions if c != "True"))
    return " and ".join(kept) if kept else "True"


def any_of(*conditions: str) -> str:
    """Conditions joined by ``or``; those that never hold are left out."""
    kept = list(dict.fromkeys(c for c in conditions if c != "False"))
    if "True" in kept:
        return "True"
    return f"({' or '.join(kept)})" if kept else "False"
