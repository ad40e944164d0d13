"""The state of a compiled lane on its way: saved row by row, restored, or taken over by a lane of other rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ensue.engine.batch import Integers
from ensue.engine.compiled.arrays import NOTHING, Arrays, resized
from ensue.engine.compiled.layout import Groups, Layout, Mark, Queue, Space, Store


def saved(arrays: Arrays) -> list[Integers]:
    """The numbers, and the rows there are, in their order."""
    return [arrays.numbers, *(_trimmed(arrays, name) for name in arrays.by_name)]


def restore(arrays: Arrays, state: Sequence[Integers], rehash: Callable[..., Any]) -> None:
    """Fills arrays with what was saved of others that are laid out alike."""
    numbers, *rows = state
    arrays.numbers = np.array(numbers, np.int64)
    for (name, empty), array in zip(list(arrays.by_name.items()), rows, strict=True):
        if array.ndim != empty.ndim or (array.ndim == 2 and array.shape[1] != empty.shape[1]):
            raise ValueError("another layout")
        arrays[name] = _filled(arrays, name, array)
    for space in arrays.layout.spaces.values():
        n = space.number
        table = np.full(2 * len(arrays[f"KV{n}"]), -1, np.int64)
        with np.errstate(over="ignore"):  # hashes wrap around, of which NumPy warns where this is not compiled
            rehash(table, arrays[f"KV{n}"], arrays.number(f"kc{n}"))
        arrays[f"KT{n}"] = table


def _trimmed(arrays: Arrays, name: str) -> Integers:
    """The rows of an array that are used; those of a ring from its first to its last."""
    ring = arrays.ring(name)
    if ring is not None:
        return np.asarray(arrays[name][np.arange(*ring) & (len(arrays[name]) - 1)])
    return arrays[name][: _used(arrays, name)].copy()


def _used(arrays: Arrays, name: str) -> int:
    """How many rows of an array there are."""
    n = name[1:]
    match name[0]:
        case "T":
            return arrays.number(f"hi{n}")
        case "Q":
            return arrays.number(f"qh{n}")
        case "P":
            return arrays.number(f"qs{n}")
        case "W":
            return arrays.number(f"wr{n}")
        case "H" | "G" | "L":
            space = dict(arrays.keyed())[name]
            return 1 if space is None else arrays.number(f"kc{space.number}")
        case "K" if name.startswith("KV"):
            return arrays.number(f"kc{name[2:]}")
        case _:
            return 0


def _filled(arrays: Arrays, name: str, rows: Integers) -> Integers:
    """An array with room for more, and these rows in their places."""
    if name.startswith("KT") or name[0] in "SDBA":
        return arrays[name]
    if name[0] in NOTHING:
        space = dict(arrays.keyed())[name]
        size = 1 if space is None else _power(arrays.number(f"kc{space.number}"))
        return resized(rows, len(rows), size, NOTHING[name[0]])
    size = _power(arrays.number(f"qh{name[1:]}") if name[0] == "P" else len(rows))
    ring = arrays.ring(name)
    if ring is None:
        return resized(rows, len(rows), size)
    new = np.empty((size, *rows.shape[1:]), np.int64)
    new[np.arange(*ring) & (size - 1)] = rows
    return new


def _power(count: int) -> int:
    """A power of two with room for so many."""
    return 1 << max(4, (count + 1).bit_length())


Part = Space | Store | Queue | Groups | Mark

_PARTS: tuple[tuple[Callable[[Layout], Mapping[Any, Part]], Sequence[str], Sequence[str]], ...] = (
    (lambda layout: layout.spaces, ("KT", "KV"), ("kc",)),
    (lambda layout: layout.stores, ("T", "H"), ("lo", "hi", "fr", "fc")),
    (lambda layout: layout.queues, ("Q", "P"), ("ql", "qh", "qs")),
    (lambda layout: layout.groups, ("W", "G"), ("wr", "wf")),
    (lambda layout: layout.marks, ("L",), ()),
)
"""What a layout consists of, with the arrays and the numbers of each part."""


def take_over(arrays: Arrays, old: Arrays) -> None:
    """Takes over the parts that two layouts have in common."""
    for parts, letters, numbers in _PARTS:
        before = parts(old.layout)
        for key, part in parts(arrays.layout).items():
            if key not in before:
                continue
            other = before[key]
            for letter in letters:
                if f"{letter}{part.number}" in arrays:
                    arrays[f"{letter}{part.number}"] = old[f"{letter}{other.number}"].copy()
            for name in numbers:
                if f"{name}{part.number}" in arrays.places:
                    arrays.set_number(f"{name}{part.number}", old.number(f"{name}{other.number}"))
    arrays.set_number("t", old.number("t"))
    for name, space in arrays.keyed():
        if space is not None:
            size = len(arrays[f"KV{space.number}"])
            arrays[name] = resized(arrays[name], min(len(arrays[name]), size), size, NOTHING[name[0]])
