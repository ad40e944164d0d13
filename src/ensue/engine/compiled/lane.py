"""The compiled lane: a unit of generated code at work, with its state in arrays.

The same source runs as plain Python for a handful of events, and compiled for more; both use the same arrays, so that
a state can go from the one to the other at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Batch, Columns
from ensue.engine.compiled import kernels
from ensue.engine.compiled.code import compiled, is_cached, plain
from ensue.engine.compiled.layout import Layout, Space, Store
from ensue.engine.compiled.source import rule_names
from ensue.engine.compiled.stream import sortable, stream_of
from ensue.engine.compiled.strings import Strings
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.results import arrow_type

FEW = 20_000
"""How many events a lane takes in as plain Python before it is compiled."""

CHUNK = 1 << 16
"""How many events are handed to a compiled function at once, so that room can be made in between."""

NEVER = -(2**63)

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class Code:
    """Generated code for some rules, by layers: the layout of its state, and the functions made of it so far.

    `strict` is for given events without any null, `source` for all.
    """

    layers: tuple[Sequence[int], ...]
    strict: str
    source: str
    layout: Layout

    @cached_property
    def plain(self) -> Any:
        return plain(self.source)

    @cached_property
    def fast_strict(self) -> Any:
        return compiled(self.strict, self.layout)

    @cached_property
    def fast(self) -> Any:
        return compiled(self.source, self.layout)

    def cached(self, nulls: bool) -> bool:
        """Whether the function was compiled before."""
        ready = "fast" if nulls else "fast_strict"
        return ready in self.__dict__ or is_cached(self.source if nulls else self.strict, self.layout)


class CompiledLane:
    """Some rules of a program, compiled together."""

    def __init__(self, program: typed.Program, code: Code, strings: Strings, choice: bool | None) -> None:
        self.program = program
        self.code = code
        self.rules = [i for layer in code.layers for i in layer]
        self.strings = strings
        self.choice = choice
        self.layout = code.layout
        self.nulls = False
        self.derives = frozenset(self.layout.derived)
        self.uses = frozenset(a.event for i in self.rules for a in atoms(program.rules[i].body)) | self.derives
        self.kept = [d for d in self.layout.derived.values() if d.kept]
        self.ranks = {name: rank for rank, name in enumerate(program.events)}
        self.scalars = {name: index for index, name in enumerate(self.layout.scalars())}
        self.numbers = np.zeros(len(self.scalars), np.int64)
        self.arrays = _empty(self.layout)
        self.seen = 0
        self.forgotten: dict[int, int] = {}
        self._fast: Any = code.fast_strict if choice else None

    # --- time

    def due(self) -> int | None:
        """The next time at which something ends by itself."""
        found = []
        for queue in self.layout.queues.values():
            n = queue.number
            if queue.ordered:
                low, high = self._scalar(f"ql{n}"), self._scalar(f"qh{n}")
                if low < high:
                    rows = self.arrays[f"Q{n}"]
                    found.append(int(rows[low & (len(rows) - 1), 0]))
            elif self._scalar(f"qs{n}") > 0:
                found.append(int(self.arrays[f"P{n}"][0, 0]))
        return min(found, default=None)

    def run(self, batch: Batch, time: int) -> None:
        """Takes in what is new up to a time, and adds what follows from it to the batch."""
        stream = stream_of(batch, self.uses, self.ranks, self.layout.inputs, self.layout.ordered, self.strings)
        count = len(stream.end)
        run = self._function(count, stream.nulls)
        for derived in self.kept:  # room that is not used costs nothing
            if len(self.arrays[f"D{derived.number}"]) < count:
                self.arrays[f"D{derived.number}"] = np.empty((count, derived.width), np.int64)
        ranks = self.strings.ranks() if self.layout.ordered and self._has_strings() else np.empty(0, np.int64)
        at = 0
        with np.errstate(all="ignore"):
            while True:
                to = _chunk_end(stream.end, at)
                self._make_room(to - at)
                until = time if to == count else int(stream.end[to - 1])
                inputs = stream.arguments(at, to)
                self.numbers[self.scalars["i"]] = self.numbers[self.scalars["a"]] = 0
                while True:
                    run(to - at, until, *inputs, ranks, self.numbers, *self.arrays.values())
                    wanted = self._scalar("want")
                    if wanted < 0:
                        break
                    self._enlarge(self.layout.arrays()[wanted], self._scalar("need"))
                at = to
                if at >= count:
                    break
        for derived in self.kept:
            batch.derived_columns[derived.event] = self._take(derived.number, derived.event, batch)

    def _function(self, count: int, nulls: bool) -> Any:
        """The function to run. Once there was a null, one that expects them; the other assumes that there is none."""
        self.seen += count
        if nulls and not self.nulls:
            self.nulls = True
            self._fast = None if self._fast is None else self.code.fast
        if self._fast is None and self.choice is not False and (
            self.seen > FEW or (self.seen > FEW // 10 and self.code.cached(self.nulls))
        ):  # fmt: skip
            self._fast = self.code.fast if self.nulls else self.code.fast_strict
        return self._fast or self.code.plain

    def _has_strings(self) -> bool:
        return any("s" in derived.kinds for derived in self.layout.derived.values())

    def _scalar(self, name: str) -> int:
        return int(self.numbers[self.scalars[name]])

    # --- output

    def _take(self, number: int, event: str, batch: Batch) -> Columns:
        """What was derived, as columns; the table is empty then."""
        rows = self.arrays[f"D{number}"][: self._scalar(f"dh{number}")]
        self.numbers[self.scalars[f"dh{number}"]] = 0
        given = (rows[:, 2] & kernels.GIVEN) != 0
        if given.any():
            rows = rows[~given]
        attributes = {}
        for index, (name, type_) in enumerate(self.program.events[event].attributes.items()):
            valid = (rows[:, 2] & (1 << index)) != 0
            attributes[name] = self._column(rows, 3 + index, valid, type_)
        found = _in_order(Columns(rows[:, 0].copy(), rows[:, 1].copy(), attributes))
        if len(self.arrays[f"D{number}"]) > 1 << 20:
            self.arrays[f"D{number}"] = np.empty((1 << 10, rows.shape[1]), np.int64)
        return found

    def _column(self, rows: Integers, column: int, valid: np.ndarray[Any, np.dtype[np.bool_]], type_: str) -> pa.Array:
        values = np.ascontiguousarray(rows[:, column])
        mask = None if valid.all() else ~valid
        match type_:
            case "string":
                return self.strings.decode(values, valid)
            case "float":
                return pa.array(values.view(np.float64), mask=mask)
            case "bool":
                return pa.array(values != 0, mask=mask)
            case "timestamp":
                return pa.array(values, mask=mask).cast(arrow_type("timestamp", True, "UTC"))
            case _:
                return pa.array(values, mask=mask)

    # --- room

    def _make_room(self, count: int) -> None:
        """Room for the slots of so many events; keys of which nothing is left are forgotten if they are many."""
        for number, _ in self.layout.slots.values():
            if len(self.arrays[f"S{number}"]) < count:
                self.arrays[f"S{number}"] = np.empty(max(count, 2 * len(self.arrays[f"S{number}"])), np.int64)
        for space in self.layout.spaces.values():
            used = self._scalar(f"kc{space.number}")
            if used > self.forgotten.get(space.number, 1 << 16):
                self._forget_keys(space, used)
                self.forgotten[space.number] = max(1 << 16, 4 * self._scalar(f"kc{space.number}"))

    def _enlarge(self, name: str, need: int) -> None:
        """Makes room for so many more rows in an array."""
        if name.startswith("KV"):
            self._room_for_keys(next(s for s in self.layout.spaces.values() if f"KV{s.number}" == name), need)
            return
        letter, n = name[0], name[1:]
        rows = self.arrays[name]
        if letter == "T":
            self._room_in_store(next(s for s in self.layout.stores.values() if s.number == int(n)), need)
            return
        if letter == "Q" and f"P{n}" not in self.arrays:
            low, high = self._scalar(f"ql{n}"), self._scalar(f"qh{n}")
            while high - low + need > len(rows):
                rows = self._kernel("bigger_ring")(rows, low, high)
            self.arrays[name] = rows
            return
        used = self._scalar({"D": "dh", "B": "bh", "Q": "qh", "W": "wr"}[letter] + n)
        size = max(used + need, 2 * len(rows))
        self.arrays[name] = _copied(rows, used, size)
        if letter == "Q":
            self.arrays[f"P{n}"] = _copied(self.arrays[f"P{n}"], self._scalar(f"qs{n}"), size)

    def _room_in_store(self, store: Store, count: int) -> None:
        n = store.number
        if store.ended_by is not None:
            self._room_in_place(store, count)
            return
        rows = self.arrays[f"T{n}"]
        low, high = self._scalar(f"lo{n}"), self._scalar(f"hi{n}")
        if store.bound is None and high > low:  # rows that were used up are still there
            rows, high = self._kernel("compact")(rows, self.arrays[f"H{n}"], low, high)
            low = 0
            self.numbers[self.scalars[f"lo{n}"]], self.numbers[self.scalars[f"hi{n}"]] = low, high
            count = max(count, high, min(7 * high, 1 << 15))
        while high - low + count > len(rows):
            rows = self._kernel("bigger_ring")(rows, low, high)
        self.arrays[f"T{n}"] = rows

    def _room_in_place(self, store: Store, count: int) -> None:
        """Room in a store whose rows are ended by something: without those of keys whose time is over."""
        n = store.number
        rows, heads = self.arrays[f"T{n}"], self.arrays[f"H{n}"]
        if store.bound is not None:
            used = np.flatnonzero(heads >= 0)
            heads[used[self._scalar("t") - rows[heads[used], 3] > store.bound]] = -1
        rows, high = self._kernel("compact")(rows, heads, 0, self._scalar(f"hi{n}"))
        while 2 * high + 4 * count > len(rows):
            rows = self._kernel("bigger_ring")(rows, 0, high)
        self.arrays[f"T{n}"] = rows
        for name, value in (("hi", high), ("fr", 0), ("fc", 0)):
            self.numbers[self.scalars[f"{name}{n}"]] = value

    def _room_for_keys(self, space: Space, count: int) -> None:
        used = self._scalar(f"kc{space.number}")
        size = len(self.arrays[f"KV{space.number}"])
        while used + count > size:
            size *= 2
        self._resize(space, used, size)

    def _stores(self, space: Space) -> list[Store]:
        return [s for s in self.layout.stores.values() if s.space is space]

    def _forget_keys(self, space: Space, used: int) -> None:
        """Gives the slots of keys that nothing is stored for any more to others, if they are many."""
        live = np.zeros(used, bool)
        for store in self._stores(space):
            live |= self.arrays[f"H{store.number}"][:used] >= self._scalar(f"lo{store.number}")
        for groups in self.layout.groups.values():
            if groups.space is space:
                live |= self.arrays[f"G{groups.number}"][:used, 2] > 0
        kept = int(live.sum())
        if kept > used // 2:
            return
        n = space.number
        place = np.cumsum(live) - 1
        keys = self.arrays[f"KV{n}"]
        keys[:kept] = keys[:used][live]
        for store in self._stores(space):
            heads, rows = self.arrays[f"H{store.number}"], self.arrays[f"T{store.number}"]
            heads[:kept] = heads[:used][live]
            heads[kept:] = -1
            low, high = self._scalar(f"lo{store.number}"), self._scalar(f"hi{store.number}")
            at = np.arange(low, high) & (len(rows) - 1)
            rows[at, 1] = np.where(live[rows[at, 1]], place[rows[at, 1]], 0)
        for groups in self.layout.groups.values():
            if groups.space is space:
                table = self.arrays[f"G{groups.number}"]
                table[:kept] = table[:used][live]
                table[kept:] = 0
        for mark in self.layout.marks.values():
            if mark.space is space:
                times = self.arrays[f"L{mark.number}"]
                times[:kept] = times[:used][live]
                times[kept:] = NEVER
        self.numbers[self.scalars[f"kc{n}"]] = kept
        self._resize(space, kept, len(keys))

    def _resize(self, space: Space, used: int, size: int) -> None:
        n = space.number
        keys = self.arrays[f"KV{n}"]
        if size > len(keys):
            new = np.empty((size, keys.shape[1]), np.int64)
            new[: len(keys)] = keys
            self.arrays[f"KV{n}"] = keys = new
            for store in self._stores(space):
                self.arrays[f"H{store.number}"] = kernels.bigger_heads(self.arrays[f"H{store.number}"], size)
            for groups in self.layout.groups.values():
                if groups.space is space:
                    self.arrays[f"G{groups.number}"] = kernels.bigger_groups(self.arrays[f"G{groups.number}"], size)
            for mark in self.layout.marks.values():
                if mark.space is space:
                    times = np.full(size, NEVER, np.int64)
                    times[: len(self.arrays[f"L{mark.number}"])] = self.arrays[f"L{mark.number}"]
                    self.arrays[f"L{mark.number}"] = times
        table = np.full(2 * size, -1, np.int64)
        self._kernel("rehash")(table, keys, used)
        self.arrays[f"KT{n}"] = table

    def _kernel(self, name: str) -> Any:
        """A kernel as the compiled code has it, where there is such code."""
        return getattr(kernels, name) if self._fast is None else self._fast.py_func.__globals__[name]

    # --- state

    def saved(self) -> list[Any]:
        """The state: the rows there are, in their order."""
        return [self.numbers, *(self._trimmed(name) for name in self.arrays), self.seen, self.nulls]

    def restore(self, state: Sequence[Any]) -> None:
        numbers, *arrays, self.seen, self.nulls = state
        self.numbers = np.array(numbers, np.int64)
        for (name, empty), array in zip(list(self.arrays.items()), arrays, strict=True):
            if array.ndim != empty.ndim or (array.ndim == 2 and array.shape[1] != empty.shape[1]):
                raise ValueError("another layout")
            self.arrays[name] = self._filled(name, array)
        for space in self.layout.spaces.values():
            table = np.full(2 * len(self.arrays[f"KV{space.number}"]), -1, np.int64)
            kernels.rehash(table, self.arrays[f"KV{space.number}"], self._scalar(f"kc{space.number}"))
            self.arrays[f"KT{space.number}"] = table
        if self._fast is not None:
            self._fast = self.code.fast if self.nulls else self.code.fast_strict

    def _ring(self, name: str) -> tuple[int, int] | None:
        """The first and the last row of an array that is a ring."""
        n = name[1:]
        if name[0] == "T" and f"fr{n}" not in self.scalars:
            return self._scalar(f"lo{n}"), self._scalar(f"hi{n}")
        if name[0] == "Q" and f"qs{n}" not in self.scalars:
            return self._scalar(f"ql{n}"), self._scalar(f"qh{n}")
        return None

    def _used(self, name: str) -> int:
        """How many rows of an array there are."""
        n = name[1:]
        match name[0]:
            case "T":
                return self._scalar(f"hi{n}")
            case "Q":
                return self._scalar(f"qh{n}")
            case "P":
                return self._scalar(f"qs{n}")
            case "W":
                return self._scalar(f"wr{n}")
            case "H" | "G" | "L":
                return self._slots(name)
            case "K" if name.startswith("KV"):
                return self._scalar(f"kc{name[2:]}")
            case _:
                return 0

    def _slots(self, name: str) -> int:
        """How many keys there are for an array that has a place for each."""
        tables = {"H": self.layout.stores, "G": self.layout.groups, "L": self.layout.marks}[name[0]]
        space = next(t.space for t in tables.values() if t.number == int(name[1:]))
        return 1 if space is None else self._scalar(f"kc{space.number}")

    def _trimmed(self, name: str) -> Integers:
        ring = self._ring(name)
        if ring is not None:
            return self.arrays[name][np.arange(*ring) & (len(self.arrays[name]) - 1)]
        return self.arrays[name][: self._used(name)].copy()

    def _filled(self, name: str, rows: Integers) -> Integers:
        """An array with room for more, and these rows in their places."""
        if name.startswith("KT") or name[0] in "SDB":
            return self.arrays[name]
        if name[0] in "HGL":
            tables = {"H": self.layout.stores, "G": self.layout.groups, "L": self.layout.marks}[name[0]]
            space = next(t.space for t in tables.values() if t.number == int(name[1:]))
            size = 1 if space is None else _power(self._scalar(f"kc{space.number}"))
            new = np.full((size, *rows.shape[1:]), {"H": -1, "G": 0, "L": NEVER}[name[0]], np.int64)
            new[: len(rows)] = rows
            return new
        size = _power(len(rows))
        if name[0] == "P":
            size = _power(self._scalar(f"qh{name[1:]}"))
        new = np.empty((size, *rows.shape[1:]), np.int64)
        ring = self._ring(name)
        new[np.arange(*ring) & (size - 1) if ring is not None else slice(0, len(rows))] = rows
        return new

    def take_over(self, old: CompiledLane) -> None:
        """Takes over what another lane knows of the rules that both have; each rule has its own state in both."""
        pairs = [(old.layout.spaces, self.layout.spaces, ("KT", "KV"), ("kc",))]
        pairs += [(old.layout.stores, self.layout.stores, ("T", "H"), ("lo", "hi", "fr", "fc"))]
        pairs += [(old.layout.queues, self.layout.queues, ("Q", "P"), ("ql", "qh", "qs"))]
        pairs += [(old.layout.groups, self.layout.groups, ("W", "G"), ("wr", "wf"))]
        pairs += [(old.layout.marks, self.layout.marks, ("L",), ())]
        for before, after, arrays, scalars in pairs:
            for key, table in after.items():  # type: ignore[attr-defined]
                if key in before:  # type: ignore[operator]
                    other = before[key]  # type: ignore[index]
                    for letter in arrays:
                        if f"{letter}{table.number}" in self.arrays:
                            self.arrays[f"{letter}{table.number}"] = old.arrays[f"{letter}{other.number}"].copy()
                    for letter in scalars:
                        if f"{letter}{table.number}" in self.scalars:
                            place = self.scalars[f"{letter}{table.number}"]
                            self.numbers[place] = old._scalar(f"{letter}{other.number}")
        self.numbers[self.scalars["t"]] = old._scalar("t")
        self.seen, self.nulls = old.seen, old.nulls
        for tables, letter, nothing in (
            (self.layout.stores, "H", -1), (self.layout.groups, "G", 0), (self.layout.marks, "L", NEVER),
        ):  # fmt: skip
            for table in tables.values():  # type: ignore[attr-defined]
                if table.space is not None:
                    rows = self.arrays[f"{letter}{table.number}"]
                    size = len(self.arrays[f"KV{table.space.number}"])
                    new = np.full((size, *rows.shape[1:]), nothing, np.int64)
                    new[: len(rows)] = rows[:size]
                    self.arrays[f"{letter}{table.number}"] = new
        if self._fast is not None:
            self._fast = self.code.fast if self.nulls else self.code.fast_strict

    def rule_names(self) -> set[str]:
        """What its rules are called wherever they are the same."""
        return set(rule_names(self.program, self.rules).values())


def _power(count: int) -> int:
    """A power of two with room for so many."""
    return 1 << max(4, (count + 1).bit_length())


def _in_order(columns: Columns) -> Columns:
    """Events of one end and start by their attributes: where those are strings, generated code puts them by code."""
    if not any(pa.types.is_string(column.type) for column in columns.attributes.values()) or len(columns) < 2:
        return columns
    same = (columns.end[1:] == columns.end[:-1]) & (columns.start[1:] == columns.start[:-1])
    if not same.any():
        return columns
    keys: list[Any] = [columns.end, columns.start]
    for column in columns.attributes.values():
        values, there = sortable(column, len(columns))
        keys += [there, values]
    by = np.lexsort(keys[::-1])
    indices = pa.array(by)
    attributes = {name: column.take(indices) for name, column in columns.attributes.items()}
    return Columns(columns.start[by], columns.end[by], attributes)


def _chunk_end(end: Integers, at: int) -> int:
    """Where a chunk ends: not within a step."""
    to = at + CHUNK
    if to >= len(end):
        return len(end)
    return (
        int(np.searchsorted(end, end[to], side="left"))
        if end[to] != end[at]
        else int(np.searchsorted(end, end[to], side="right"))
    )


def _empty(layout: Layout) -> dict[str, Integers]:
    """Arrays of a state in which nothing has happened."""
    size, keys = 16, 16
    arrays: dict[str, Integers] = {}
    for space in layout.spaces.values():
        arrays[f"KT{space.number}"] = np.full(2 * keys, -1, np.int64)
        arrays[f"KV{space.number}"] = np.empty((keys, len(space.kinds)), np.int64)
    for store in layout.stores.values():
        arrays[f"T{store.number}"] = np.empty((size, store.width), np.int64)
        arrays[f"H{store.number}"] = np.full(keys if store.space is not None else 1, -1, np.int64)
    for derived in layout.derived.values():
        arrays[f"D{derived.number}"] = np.empty((size, derived.width), np.int64)
    for queue in layout.queues.values():
        arrays[f"Q{queue.number}"] = np.empty((size, queue.width), np.int64)
        if not queue.ordered:
            arrays[f"P{queue.number}"] = np.empty((size, 2), np.int64)
    for groups in layout.groups.values():
        arrays[f"W{groups.number}"] = np.empty((size, groups.width), np.int64)
        arrays[f"G{groups.number}"] = np.zeros((keys if groups.space is not None else 1, groups.columns), np.int64)
    for buffer in layout.buffers.values():
        arrays[f"B{buffer.number}"] = np.empty((size, buffer.width), np.int64)
    for mark in layout.marks.values():
        arrays[f"L{mark.number}"] = np.full(keys if mark.space is not None else 1, NEVER, np.int64)
    for number, _ in layout.slots.values():
        arrays[f"S{number}"] = np.empty(0, np.int64)
    return {name: arrays[name] for name in layout.arrays()}


def _copied(rows: Integers, used: int, size: int) -> Integers:
    new = np.empty((size, rows.shape[1]), np.int64)
    new[:used] = rows[:used]
    return new
