"""Kernels: functions over a few arrays, as machine code where there are many rows and as Python where there are few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensue.engine import machine
from ensue.engine.structure import Array, Frame, Layout, Structure, class_of
from ensue.records import dataclass

MANY = 2_000
"""Rows from which on it pays to load machine code."""

FIRST_CELL = 8

kernels: list[Kernel] = []
"""All kernels of imported modules."""


class Read(Structure):
    """The arrays that a kernel works on."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function without parameters that works on one structure, which it finds by a name."""

    name: str
    structure: str
    layout: Layout
    source: str

    def __post_init__(self) -> None:
        kernels.append(self)

    @property
    def to_compile(self) -> machine.Texts:
        """The kernel in the form that is compiled."""
        return machine.Texts([self.source], {self.structure: (self.layout, FIRST_CELL)}, [self.name])


_loaded: dict[Kernel, Any] = {}
"""Kernels that are compiled already; their machine code is used for few rows, too."""


def _compiled(kernel: Kernel) -> Any:
    if kernel not in _loaded:
        unit = kernel.to_compile
        code = machine.received(unit) or machine.cached_object(unit, machine.FULL)
        _loaded[kernel] = machine.load(code, unit.entries)[kernel.name]
    return _loaded[kernel]


def call(kernel: Kernel, rows: int, arrays: Mapping[str, Array], numbers: Mapping[str, int]) -> tuple[int, Structure]:
    """Run a kernel on arrays; returns its result, and the structure after the run."""
    frame = Frame(FIRST_CELL + kernel.layout.cells)
    columns = class_of(Read, kernel.layout)(frame, FIRST_CELL)
    for name, array in arrays.items():
        columns.put(name, array)
    for name, value in numbers.items():
        setattr(columns, name, value)
    if (rows > MANY and machine.available()) or kernel in _loaded:
        return int(_compiled(kernel)(frame.address)), columns
    return int(machine.plain([kernel.source], {kernel.structure: columns})[kernel.name]()), columns
