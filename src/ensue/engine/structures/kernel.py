"""Kernels: functions over a few arrays, as machine code where there are many rows and as Python where there are few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ensue.engine import machine
from ensue.engine.structures.structure import Array, Frame, Layout, Structure, class_of

MANY = 2_000
"""From how many rows on it is worth while to load machine code."""

FIRST_CELL = 8


class Read(Structure):
    """The arrays that a kernel works on."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function without parameters that works on one structure, which it knows by a name."""

    name: str
    structure: str
    layout: Layout
    source: str


_loaded: dict[Kernel, Any] = {}
"""Kernels that are machine code already, which is used for few rows, too."""


def _compiled(kernel: Kernel) -> Any:
    if kernel not in _loaded:
        ir = machine.translate([kernel.source], {kernel.structure: (kernel.layout, FIRST_CELL)}, [kernel.name])
        _loaded[kernel] = machine.load(machine.cached_object(ir, machine.FULL), [kernel.name])[kernel.name]
    return _loaded[kernel]


def call(kernel: Kernel, rows: int, arrays: Mapping[str, Array], numbers: Mapping[str, int]) -> tuple[int, Structure]:
    """Runs a kernel on arrays; gives what it returns, and the structure as it is then."""
    frame = Frame(FIRST_CELL + kernel.layout.cells)
    columns = class_of(Read, kernel.layout)(frame, FIRST_CELL)
    for name, array in arrays.items():
        columns.put(name, array)
    for name, value in numbers.items():
        setattr(columns, name, value)
    if (rows > MANY and machine.available()) or kernel in _loaded:
        return int(_compiled(kernel)(frame.address)), columns
    return int(machine.plain([kernel.source], {kernel.structure: columns})[kernel.name]()), columns
