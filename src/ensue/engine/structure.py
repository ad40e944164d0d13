"""Structures of generated code: named numbers and named columns, over memory that plain and machine code share.

All numbers of a unit of generated code, and the addresses of all its arrays, lie in one array of 64-bit integers, the
frame. Generated code writes ``store.high`` for a number and ``store.end[row]`` for an element of a column. Python finds
them as attributes of an object; machine code has their places in the frame from the `Layout`. There is one copy of
each, so a state can switch between the two at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ensue.engine.capacity import USUAL, Capacity
from ensue.engine.limits import Budget
from ensue.records import dataclass

Array = np.ndarray[Any, Any]
Element = Literal["i64", "f64", "i32", "u8", "code", "chain", "source"]
"""Elements of a column; a code is the 64-bit number of a value in the dictionary, a chain that of a node of parts, a
source the handle of a set of inputs.
"""

DTYPES: dict[str, Any] = {
    "i64": np.int64, "f64": np.float64, "i32": np.int32, "u8": np.uint8, "code": np.int64, "chain": np.int64,
    "source": np.int64,
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column: its array, the number of elements between two of its rows, and its place in a row."""

    array: str
    element: Element = "i64"
    width: int = 1
    place: int = 0


@dataclass(frozen=True)
class Layout:
    """The fields of a structure. Cells of the frame: its numbers in order, then the addresses of its arrays."""

    numbers: tuple[str, ...]
    columns: tuple[tuple[str, Column], ...]

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.array for _, column in self.columns))

    @property
    def cells(self) -> int:
        """Number of cells in the frame."""
        return len(self.numbers) + len(self.arrays)

    def cell_of_number(self, name: str) -> int:
        return self.numbers.index(name)

    def cell_of_array(self, name: str) -> int:
        """The cell, from the structure's first one, that holds the address of an array."""
        return len(self.numbers) + self.arrays.index(name)

    def column(self, name: str) -> Column:
        return self.by_name[name]

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return dict(self.columns)

    @cached_property
    def columns_of(self) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """For each array the cell of its address, and its columns."""
        return {
            array: (self.cell_of_array(array), tuple(name for name, column in self.columns if column.array == array))
            for array in self.arrays
        }


def address_of(array: Array) -> int:
    """The address of an array. Arrow tells it in a tenth of the time that NumPy takes, where the array has no gaps."""
    return int(pa.py_buffer(array).address if array.flags.c_contiguous else array.ctypes.data)


class Frame:
    """The cells of a unit of generated code."""

    def __init__(self, size: int, capacity: Capacity = USUAL, budget: Budget | None = None) -> None:
        self.capacity = capacity
        self.budget = budget
        self.cells = np.zeros(max(size, 1), np.int64)
        self.view: memoryview = memoryview(self.cells)  # type: ignore[arg-type]

    @property
    def address(self) -> int:
        return address_of(self.cells)


class Structure:
    """A structure in a frame. Its numbers and columns are attributes; see `make`."""

    layout: Layout
    keeps = True
    """True if it is part of a state; rows that last no longer than a step, or can be computed again, are not."""

    counted = True
    """True if its bytes count as kept; those of the dictionary, of emitted rows and lists, and of a batch do not."""

    if TYPE_CHECKING:  # numbers and columns

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    else:

        def __getattr__(self, name: str) -> Any:
            if name in self.layout.by_name:
                return self._view(name)
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def __init__(self, frame: Frame, base: int) -> None:
        self.frame = frame
        self.base = base
        self.cells = frame.view[base : base + self.layout.cells]
        self.arrays: dict[str, Array] = {}

    def put(self, name: str, array: Array) -> None:
        """Set an array, of one dimension or with the width of its columns as the second one."""
        budget = self.frame.budget
        if budget is not None and self.counted:
            held = self.arrays.get(name)
            budget.take(array.nbytes - (0 if held is None else held.nbytes), self.base)
        self.arrays[name] = array
        cell, columns = self.layout.columns_of[name]
        self.cells[cell] = address_of(array)
        for column in columns:
            self.__dict__.pop(column, None)

    def _view(self, name: str) -> memoryview:
        """A column for plain code; it is made on first use, as machine code does not need it."""
        column = self.layout.column(name)
        array, dtype = self.arrays[column.array], DTYPES[column.element]
        own = array if array.dtype == dtype else array.view(dtype)
        if own.ndim == 2:
            own = own.reshape(-1) if column.width == 1 else own[:, column.place]
        found: memoryview = memoryview(own)  # type: ignore[arg-type]
        self.__dict__[name] = found
        return found

    def grow(self) -> None:
        """Make room. Generated code calls it as ``grow(structure)`` where a structure is full."""
        raise NotImplementedError

    def begin_anew(self, *arguments: Any) -> None:
        """Reset it to its initial state, with these arguments."""
        self.cells[:] = memoryview(np.zeros(self.layout.cells, np.int64))  # type: ignore[arg-type]
        self.__init__(self.frame, self.base, *arguments)  # type: ignore[misc]

    # --- state

    def is_like(self, other: Structure) -> bool:
        """True if another structure is of the same kind and layout, so that this one can be restored from its state."""
        return type(self) is type(other)

    def copy_from(self, other: Structure) -> None:
        """Copy the contents of another structure of the same layout."""
        for name, array in other.arrays.items():
            if self.arrays[name].shape == array.shape:
                np.copyto(self.arrays[name], array)
            else:
                self.put(name, array.copy())
        self.set_numbers(other.numbers())

    def saved(self) -> list[Any]:
        """The numbers, and the arrays."""
        return [self.numbers(), *(array.copy() for array in self.arrays.values())]

    def restore(self, state: Sequence[Any]) -> None:
        """Restore the saved contents of a structure with the same layout."""
        numbers, *arrays = state
        for (name, own), array in zip(list(self.arrays.items()), arrays, strict=True):
            if array.ndim != own.ndim or array.dtype != own.dtype or array.shape[1:] != own.shape[1:]:
                raise ValueError("another layout")
            self.put(name, np.ascontiguousarray(array).copy())
        self.set_numbers(numbers)

    def numbers(self) -> list[int]:
        return [self.cells[i] for i in range(len(self.layout.numbers))]

    def set_numbers(self, numbers: Sequence[int]) -> None:
        if len(numbers) != len(self.layout.numbers):
            raise ValueError("another layout")
        for i, number in enumerate(numbers):
            self.cells[i] = number

    def size(self) -> tuple[int | None, int, int]:
        """Numbers of keys and tuples that it keeps, and their bytes; keys are None where it has none."""
        return None, 0, 0

    def columns_with(self, element: Element) -> Iterator[Array]:
        """The columns of such elements, in rows that are used or were."""
        for _, column in self.layout.columns:
            if column.element == element:
                array = self.arrays[column.array]
                yield (array if array.ndim == 2 else array.reshape(-1, column.width))[:, column.place]


def _number(cell: int) -> property:
    def get(self: Structure) -> int:
        found: int = self.cells[cell]
        return found

    def set_(self: Structure, value: int) -> None:
        self.cells[cell] = value

    return property(get, set_)


@cache
def class_of(kind: type[Structure], layout: Layout) -> type[Structure]:
    """The class of structures of one kind and layout, with its numbers as properties."""
    numbers = {name: _number(cell) for cell, name in enumerate(layout.numbers)}
    return type(kind.__name__, (kind,), {"layout": layout, **numbers})


def row_columns(array: str, fields: Mapping[str, Element], cell: str | None = None) -> tuple[tuple[str, Column], ...]:
    """Columns side by side in the rows of one array of 64-bit elements.

    `cell` names a column of all elements one after the other, by which rows are moved whatever their fields.
    """
    width = max(2, len(fields))  # a column of width 1 is a whole array
    columns = [(name, Column(array, element, width, i)) for i, (name, element) in enumerate(fields.items())]
    if cell is not None:
        columns.append((cell, Column(array)))
    return tuple(columns)
