"""A unit before it is translated: its texts, the structures that they name, and the functions to call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import resources

from ensue.engine.machine.translation import translate
from ensue.engine.structure import Layout
from ensue.records import dataclass


@dataclass(frozen=True, eq=False)
class Texts:
    """Everything that the LLVM IR of a unit depends on. It is translated on first use."""

    texts: Sequence[str]
    structures: Mapping[str, tuple[Layout, int]]
    """The layout and the first cell of each structure."""
    entries: Sequence[str]

    @cached_property
    def ir(self) -> str:
        return translate(self.texts, self.structures, self.entries)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that determines the IR, including the translator: faster than making the IR."""
        places = [
            (name, base, layout.numbers, layout.columns, layout.arrays, layout.cells)
            for name, (layout, base) in sorted(self.structures.items())
        ]
        what = [_translator(), repr(places), repr(tuple(self.entries)), *self.texts]
        return hashlib.sha256("\0".join(what).encode()).hexdigest()


@cache
def _translator() -> str:
    """A hash of the modules of this package: another version of them may translate the same text differently."""
    files = resources.files("ensue.engine.machine").iterdir()
    texts = sorted((file.name, file.read_bytes()) for file in files if file.name.endswith(".py"))
    digest = hashlib.sha256()
    for name, text in texts:
        digest.update(name.encode() + b"\0" + hashlib.sha256(text).digest())
    return digest.hexdigest()
