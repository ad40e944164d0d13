"""Writing Python source: lines at an indentation, and fresh names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Writer:
    """Source as it is written."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0
    names: int = 0

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


def all_of(*conditions: str) -> str:
    """Conditions joined, those that always hold aside."""
    kept = list(dict.fromkeys(c for c in conditions if c != "True"))
    return " and ".join(kept) if kept else "True"
