"""What the state of generated code consists of: arrays with names, and what their columns hold.

Rows are 64-bit integers; a float is held as its bits. What is asked for while source is written is laid out here, and
the lane allocates, enlarges, saves and loads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]

Field = tuple[Any, ...]
"""A value of a match: ``("attr", atom, attribute)``, ``("start", id)`` or ``("end", id)``."""

FIRST = 5
"""Where the fields of a stored row begin: after the older row of its key, its slot, start, end, and which are there."""


@dataclass
class Space:
    """Keys of some kinds, numbered: a hash table of slots, and the key of each."""

    number: int
    kinds: tuple[str, ...]
    grows: bool = False
    """Whether keys are added while events are matched, not only when they are looked up ahead."""


@dataclass
class Mark:
    """The last time at which something happened, by key."""

    number: int
    space: Space | None


@dataclass
class Store:
    """Instances of one side by key: a ring of rows in the order of their ends, each linked to the older one of its key.

    Where something ends rows, there is no ring: a key's rows that have been ended make room for its next.
    """

    number: int
    space: Space | None
    columns: dict[Field, tuple[int, str]] = field(default_factory=dict)
    bound: int | None = -1
    """How long after its end a row can matter; None is for ever. The largest of all that use the store."""
    ended_by: Mark | None = None
    """What ends rows as soon as it comes, because it must not lie between them and a later event."""
    users: set[str] = field(default_factory=set)
    """What the parts of the state are called that belong to the rules which use it."""

    def column(self, name: Field, kind: str) -> int:
        return self.columns.setdefault(name, (FIRST + len(self.columns), kind))[0]

    def needed(self, bound: int | None) -> None:
        self.bound = None if bound is None or self.bound is None else max(self.bound, bound)

    @property
    def width(self) -> int:
        return FIRST + len(self.columns)

    @property
    def size(self) -> str:
        """Source for how many rows there are at most."""
        n = self.number
        return f"(hi{n} - lo{n})" if self.ended_by is None else f"(hi{n} - fc{n})"


@dataclass
class Derived:
    """Events of a derived type: start, end, which attributes are there, the attributes."""

    number: int
    event: str
    kinds: tuple[str, ...]
    kept: bool
    """Whether they are wanted outside; else each step forgets those of the one before."""
    heads: tuple[str, ...] = ()
    """The types that they are of, where they are of several: the first attribute is the number of the type."""

    @property
    def width(self) -> int:
        return 3 + len(self.kinds)


@dataclass
class Queue:
    """Matches that wait for a time: in the order in which they came, or else as a heap."""

    number: int
    ordered: bool
    columns: dict[Field, tuple[int, str]] = field(default_factory=dict)

    def column(self, name: Field, kind: str) -> int:
        return self.columns.setdefault(name, (FIRST + len(self.columns), kind))[0]

    @property
    def width(self) -> int:
        return FIRST + len(self.columns)

    @property
    def waits(self) -> str:
        """Source for whether something waits."""
        n = self.number
        return f"ql{n} < qh{n}" if self.ordered else f"qs{n} > 0"

    @property
    def first(self) -> str:
        """Source for the time at which the first that waits is due."""
        n = self.number
        return f"Q{n}[ql{n} & (Q{n}.shape[0] - 1), 0]" if self.ordered else f"P{n}[0, 0]"

    @property
    def due(self) -> str:
        """Source for whether something is due."""
        return f"{self.waits} and {self.first} <= t"

    @property
    def size(self) -> str:
        """Source for how many wait."""
        n = self.number
        return f"(qh{n} - ql{n})" if self.ordered else f"qs{n}"


@dataclass
class Buffer:
    """Instances of a pairing that ended in this step and still have to look for the other side of the next one."""

    number: int
    columns: dict[Field, tuple[int, str]] = field(default_factory=dict)

    def column(self, name: Field, kind: str) -> int:
        return self.columns.setdefault(name, (FIRST + len(self.columns), kind))[0]

    @property
    def width(self) -> int:
        return FIRST + len(self.columns)


@dataclass
class Groups:
    """The groups of a window that counts: for each the oldest and newest row, how many, and running aggregates."""

    number: int
    space: Space | None
    columns: int = 4
    row_columns: dict[Field, tuple[int, str]] = field(default_factory=dict)

    def take(self, count: int) -> int:
        first = self.columns
        self.columns += count
        return first

    def column(self, name: Field, kind: str) -> int:
        return self.row_columns.setdefault(name, (FIRST + len(self.row_columns), kind))[0]

    @property
    def width(self) -> int:
        return FIRST + len(self.row_columns)


@dataclass(frozen=True)
class Members:
    """The constants of rules that run as one, a row for each: a table, and an index from a constant to rows."""

    number: int
    width: int
    indexed: bool


@dataclass
class Ask:
    """A static predicate in conditions: of what kinds its arguments are, None where one may have any value."""

    number: int
    predicate: str
    kinds: tuple[str | None, ...]

    @property
    def width(self) -> int:
        """How many columns answers have: one for each value that counts, at least one, and the answer."""
        return max(1, sum(kind is not None for kind in self.kinds)) + 1


@dataclass
class Layout:
    """Everything that a unit of generated code keeps and reads."""

    spaces: dict[tuple[str, ...], Space] = field(default_factory=dict)
    stores: dict[Any, Store] = field(default_factory=dict)
    derived: dict[str, Derived] = field(default_factory=dict)
    queues: dict[Any, Queue] = field(default_factory=dict)
    buffers: dict[Any, Buffer] = field(default_factory=dict)
    groups: dict[Any, Groups] = field(default_factory=dict)
    marks: dict[Any, Mark] = field(default_factory=dict)
    asks: dict[tuple[str, tuple[str | None, ...]], Ask] = field(default_factory=dict)
    nulls: set[tuple[str, str]] = field(default_factory=set)
    """Attributes of derived events that may be null although no attribute of a given one is."""
    inputs: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    slots: dict[tuple[str, tuple[str, ...]], tuple[int, bool]] = field(default_factory=dict)
    """Slots computed once for each row: (event, attributes) to a number, and whether a new key gets one."""
    ordered: bool = False
    """Whether the order of events of one step matters."""
    members: dict[int, Members] = field(default_factory=dict)
    knobs: dict[Any, tuple[int, str]] = field(default_factory=dict)
    """Numbers that rules state, and the kind of each. They are handed over, so that code is the same for others."""
    settings: list[int | float] = field(default_factory=list)
    """What these numbers are."""

    def space(self, kinds: tuple[str, ...]) -> Space | None:
        if not kinds:
            return None
        return self.spaces.setdefault(kinds, Space(len(self.spaces), kinds))

    def store(self, key: Any, space: Space | None) -> Store:
        return self.stores.setdefault(key, Store(len(self.stores), space))

    def queue(self, key: Any, ordered: bool) -> Queue:
        return self.queues.setdefault(key, Queue(len(self.queues), ordered))

    def mark(self, key: Any, space: Space | None) -> Mark:
        return self.marks.setdefault(key, Mark(len(self.marks), space))

    def ask(self, predicate: str, kinds: tuple[str | None, ...]) -> Ask:
        return self.asks.setdefault((predicate, kinds), Ask(len(self.asks), predicate, kinds))

    def buffer(self, key: Any) -> Buffer:
        return self.buffers.setdefault(key, Buffer(len(self.buffers)))

    def window(self, key: Any, space: Space | None) -> Groups:
        return self.groups.setdefault(key, Groups(len(self.groups), space))

    def input(self, event: str, attribute: str, kind: str) -> int:
        return self.inputs.setdefault((event, attribute), (len(self.inputs), kind))[0]

    def knob(self, key: Any, value: int | float, kind: str = "i") -> str:
        """Source for a number that a rule states; `key` says which one it is."""
        number, _ = self.knobs.setdefault(key, (len(self.knobs), kind))
        if number == len(self.settings):
            self.settings.append(value)
        self.settings[number] = value
        return f"z{number}"

    def numbers_stated(self) -> Integers:
        """The numbers that rules state, floats as their bits."""
        found = np.zeros(max(1, len(self.settings)), np.int64)
        for number, kind in self.knobs.values():
            if kind == "f":
                found.view(np.float64)[number] = self.settings[number]
            else:
                found[number] = self.settings[number]
        return found

    def stated(self) -> list[str]:
        """The names of the arrays that hold what rules state, in the order in which they are handed over."""
        names = ["Z"]
        for members in self.members.values():
            n = members.number
            names += [f"M{n}", f"MT{n}", f"MV{n}", f"MB{n}"] if members.indexed else [f"M{n}"]
        return names

    def scalars(self) -> list[str]:
        """The numbers that are kept beside the arrays: where a step has got to, then how far each array is filled."""
        names = list(PROGRESS)
        names += [f"kc{space.number}" for space in self.spaces.values()]
        for store in self.stores.values():
            ends = ("lo", "hi") if store.ended_by is None else ("lo", "hi", "fr", "fc")
            names += [f"{end}{store.number}" for end in ends]
        names += [f"{end}{derived.number}" for derived in self.derived.values() for end in ("dl", "dh")]
        for queue in self.queues.values():
            names += [f"ql{queue.number}", f"qh{queue.number}"] + ([] if queue.ordered else [f"qs{queue.number}"])
        names += [f"bh{buffer.number}" for buffer in self.buffers.values()]
        for groups in self.groups.values():
            names += [f"wr{groups.number}", f"wf{groups.number}"]
        return names

    def arrays(self) -> list[str]:
        """The names of the arrays, in the order in which they are handed over."""
        names = []
        for space in self.spaces.values():
            names += [f"KT{space.number}", f"KV{space.number}"]
        for store in self.stores.values():
            names += [f"T{store.number}", f"H{store.number}"]
        names += [f"D{derived.number}" for derived in self.derived.values()]
        for queue in self.queues.values():
            names += [f"Q{queue.number}"] if queue.ordered else [f"Q{queue.number}", f"P{queue.number}"]
        names += [f"B{buffer.number}" for buffer in self.buffers.values()]
        for groups in self.groups.values():
            names += [f"W{groups.number}", f"G{groups.number}"]
        names += [f"L{mark.number}" for mark in self.marks.values()]
        names += [f"S{number}" for number, _ in self.slots.values()]
        names += [f"A{ask.number}" for ask in self.asks.values()]
        return names

    def flat(self, name: str) -> bool:
        """Whether an array has one dimension."""
        return name[0] in "HSLZ" or name.startswith(("KT", "MT", "MB"))


PROGRESS = ("want", "need", "phase", "i", "j", "r", "t", "a")
"""Which array wants room and how much, and where the function goes on when it has it."""
