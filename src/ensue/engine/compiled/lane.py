"""The compiled lane: a unit of generated code at work, with its state in arrays.

The same source runs as plain Python for a handful of events, and compiled for more; both use the same arrays, so that
a state can go from the one to the other at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from ensue.engine.batch import Batch, Integers
from ensue.engine.compiled import kernels, lane_state
from ensue.engine.compiled.arrays import Arrays
from ensue.engine.compiled.asking import Answers
from ensue.engine.compiled.code import compiled, is_cached, kernel, plain
from ensue.engine.compiled.layout import Derived, Layout
from ensue.engine.compiled.output import columns_by_type, derived_columns, merged
from ensue.engine.compiled.room import Room
from ensue.engine.compiled.source import rule_names
from ensue.engine.compiled.stream import stream_of
from ensue.engine.compiled.strings import Strings
from ensue.engine.knowledge import Knowledge
from ensue.engine.sharing.families import Family
from ensue.errors import DetectError
from ensue.language import typed

FEW = 20_000
"""How many events a lane takes in as plain Python before it is compiled."""

MORE = 50
"""How many times as many where there is much to compile: then that takes longer than to do without."""

FARTHEST = 2**61
"""How far from 0 times may be: room for lengths to be added to them."""

CHUNK = 1 << 16
"""How many events are handed to a compiled function at once, so that room can be made in between."""

SPARE = 64
"""Room for derived events beyond one for each event: an event is taken only if there is room for all it may lead to."""

MUCH_ROOM = 1 << 20
"""From how many rows on the room for derived events is given back once they are taken."""


@dataclass
class Code:
    """Generated code for some rules: the layout of its state, and the functions made of it so far.

    `strict` is for given events without any null, `source` for all.
    """

    rules: tuple[int, ...]
    uses: frozenset[str]
    families: tuple[Family, ...]
    """Rules among them that run as one."""
    strict: str
    source: str
    layout: Layout
    stated: tuple[Integers, ...]
    """What the rules state, as the functions take it: numbers, and tables of constants."""

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
    """Some rules of a program, compiled together; `patience` is how much later than usual, if that is left open."""

    def __init__(
        self, program: typed.Program, code: Code, strings: Strings, knowledge: Knowledge, choice: bool | None,
        patience: int = 1,
    ) -> None:  # fmt: skip
        self.program = program
        self.code = code
        self.strings = strings
        self.knowledge = knowledge
        self.choice = choice
        self.patience = patience
        self.layout = code.layout
        self.uses = code.uses
        self.kept = [d for d in self.layout.derived.values() if d.kept]
        self.ranks = {name: rank for rank, name in enumerate(program.events)}
        self.arrays = Arrays(self.layout)
        self.checked: dict[int, int] = {}
        self.seen = 0
        self.nulls = False
        self._fast: Any = code.fast_strict if choice else None

    def due(self) -> int | None:
        """The next time at which something ends by itself."""
        found = []
        for queue in self.layout.queues.values():
            n = queue.number
            if queue.ordered:
                low, high = self.arrays.number(f"ql{n}"), self.arrays.number(f"qh{n}")
                if low < high:
                    rows = self.arrays[f"Q{n}"]
                    found.append(int(rows[low & (len(rows) - 1), 0]))
            elif self.arrays.number(f"qs{n}") > 0:
                found.append(int(self.arrays[f"P{n}"][0, 0]))
        return min(found, default=None)

    def run(self, batch: Batch, time: int) -> None:
        """Takes in what is new up to a time, and adds what follows from it to the batch."""
        stream = stream_of(batch, self.uses, self.ranks, self.layout.inputs, self.layout.ordered, self.strings)
        arrays, count = self.arrays, len(stream.end)
        if count and (stream.end[-1] > FARTHEST or stream.start.min() < -FARTHEST):
            raise DetectError(
                f"Compiled rules take times within {FARTHEST:,} of 0, so that lengths can be added, and there is "
                "an event beyond that. Detect with compiled=False."
            )
        run = self._function(count, stream.nulls)
        room = Room(
            arrays, cache(self._kernel), self.checked
        )  # not kept: a lane in a cycle would hold its arrays for long
        for derived in self.kept:  # room that is not used costs nothing
            if len(arrays[f"D{derived.number}"]) < count + SPARE:
                arrays[f"D{derived.number}"] = np.empty((count + SPARE, derived.width), np.int64)
        ranks = self.strings.ranks() if self.layout.ordered and self._has_strings() else np.empty(0, np.int64)
        at = 0
        with np.errstate(all="ignore"), Answers(arrays, self.knowledge, self.strings) as answers:
            while True:
                to = _chunk_end(stream.end, at)
                room.for_events(to - at)
                answers.make_room()
                until = time if to == count else int(stream.end[to - 1])
                inputs = stream.arguments(at, to)
                arrays.set_number("i", 0)
                arrays.set_number("a", 0)
                while True:
                    run(to - at, until, *inputs, ranks, *self.code.stated, arrays.numbers, *arrays.by_name.values())
                    answers.check()
                    wanted = arrays.number("want")
                    if wanted < 0:
                        break
                    room.enlarge(self.layout.arrays()[wanted], arrays.number("need"))
                at = to
                if at >= count:
                    break
        for derived in self.kept:
            self._hand_over(derived, batch)

    def _hand_over(self, derived: Derived, batch: Batch) -> None:
        """Adds what was derived to the batch; its table is empty then."""
        name, events = f"D{derived.number}", self.program.events
        rows = self.arrays[name][: self.arrays.number(f"dh{derived.number}")]
        self.arrays.set_number(f"dh{derived.number}", 0)
        if derived.heads:
            types = [events[head].attributes for head in derived.heads]
            for place, columns in columns_by_type(rows, types, self.strings):
                batch.derived_columns[derived.heads[place]] = columns
        else:
            found = derived_columns(rows, events[derived.event].attributes, self.strings)
            others = batch.derived_columns.get(derived.event)
            batch.derived_columns[derived.event] = found if others is None else merged(others, found)
        if len(self.arrays[name]) > MUCH_ROOM:
            self.arrays[name] = np.empty((1 << 10, derived.width), np.int64)

    def _has_strings(self) -> bool:
        return any("s" in derived.kinds for derived in self.layout.derived.values())

    # --- functions

    def _function(self, count: int, nulls: bool) -> Any:
        """The function to run. Once there was a null, one that expects them; the other assumes that there is none."""
        self.seen += count
        if nulls and not self.nulls:
            self.nulls = True
            self._adapt()
        if self._fast is None and self.choice is not False and (
            self.seen > self.patience * FEW or (self.seen > FEW // 10 and self.code.cached(self.nulls))
        ):  # fmt: skip
            self._fast = self.code.fast if self.nulls else self.code.fast_strict
        return self._fast or self.code.plain

    def _adapt(self) -> None:
        """Where the lane is compiled, has it use the function for events with nulls, or without any."""
        if self._fast is not None:
            self._fast = self.code.fast if self.nulls else self.code.fast_strict

    def _kernel(self, name: str) -> Any:
        """A kernel as the compiled code has it, where there is such code."""
        return getattr(kernels, name) if self._fast is None else kernel(name)

    # --- state

    def saved(self) -> list[Any]:
        Room(self.arrays, self._kernel, self.checked).let_go()
        return [*lane_state.saved(self.arrays), self.seen, self.nulls]

    def restore(self, state: Sequence[Any]) -> None:
        *arrays, self.seen, self.nulls = state
        lane_state.restore(self.arrays, arrays, self._kernel("rehash"))
        self._adapt()

    def take_over(self, old: CompiledLane) -> None:
        """Takes over what another lane knows of the rules that both have; each rule has its own state in both."""
        lane_state.take_over(self.arrays, old.arrays)
        self.seen, self.nulls = old.seen, old.nulls
        self._adapt()

    @property
    def several(self) -> bool:
        """Whether it derives events of several types, by rules alike."""
        return any(derived.heads for derived in self.layout.derived.values())

    def rule_names(self) -> set[str]:
        """What its rules are called wherever they are the same."""
        return set(rule_names(self.program, self.code.rules).values())


def _chunk_end(end: Integers, at: int) -> int:
    """Where a chunk ends: not within a step."""
    to = at + CHUNK
    if to >= len(end):
        return len(end)
    side: Literal["left", "right"] = "left" if end[to] != end[at] else "right"
    return int(np.searchsorted(end, end[to], side=side))
