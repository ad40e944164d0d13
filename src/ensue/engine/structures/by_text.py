"""Functions of one string as tables by its code, filled on demand.

Place 0 is for null, that of a string is its code plus 1. Python also computes the strings after the requested one, more
each time: codes are given in the order in which strings come, so most of them are needed next.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ensue.engine.evaluate import operate
from ensue.engine.limits import TEXT
from ensue.engine.structure import Array, Column, Element, Frame, Layout, Structure
from ensue.language import typed
from ensue.language.functions import FUNCTIONS
from ensue.records import dataclass

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane

MOST = 1 << 12
"""Most strings for which Python computes answers at once."""

SELDOM = 32
"""If fewer than one in so many answers are used, fewer are computed ahead."""

FEW = 64
"""Most strings that are processed one by one."""


def by_text_layout(floating: bool) -> Layout:
    result: Element = "f64" if floating else "i64"
    columns = (
        ("known", Column("known_", "u8")),
        ("there", Column("there_", "u8")),
        ("result", Column("results", result)),
    )
    return Layout(("capacity", "used", "answered", "ahead"), columns)


class ByText(Structure):
    """Answers by the code of a string: ``known`` is 0 for none, 1 for an answer, 2 for a used one.

    ``used`` of the ``answered`` ones were needed; ``ahead`` is the number of strings in the next computation.
    """

    keeps = False

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.forget()

    def forget(self) -> None:
        """Drop all answers: codes may stand for other strings from now on."""
        self.capacity, self.ahead, self.used, self.answered = self.frame.capacity.rows, 1, 0, 0
        for name, dtype in (("known_", np.uint8), ("there_", np.uint8), ("results", np.int64)):
            self.put(name, np.zeros(self.capacity, dtype))

    def grow(self) -> None:
        for name, array in list(self.arrays.items()):
            self.put(name, np.concatenate([array, np.zeros_like(array)]))
        self.capacity *= 2

    def make_room(self, size: int) -> None:
        while self.capacity < size:
            self.grow()


@dataclass(frozen=True)
class OfText:
    """A request for an operation whose argument at a place is the string, and whose others are constants."""

    operation: typed.Operation
    place: int
    result: str

    def answer(self, lane: GeneratedLane, structure: Any, at: int) -> int:
        past = min(at - 1 + structure.ahead, lane.values.texts.past)
        if at == 0 or past == at:
            self._write_one(lane, structure, at, self._one(lane.values.value(at - 1) if at else None))
            return 0
        texts = lane.values.texts
        structure.make_room(past + 1)
        places = np.arange(at, past + 1)
        unknown = (structure.arrays["known_"][at : past + 1] == 0) & (texts.length[at - 1 : past] >= 0)
        places = places[unknown]
        self._write(lane, structure, places, self._answers(lane, places - 1))
        structure.answered += len(places)
        self._decide(structure)
        return 0

    def _decide(self, structure: Any) -> None:
        """Set the number of strings in the next computation: more, unless few of the last answers were used."""
        if structure.used * SELDOM >= structure.answered:
            structure.ahead = min(MOST, 2 * structure.ahead)
        else:
            structure.ahead = max(1, structure.ahead // 4)

    def _answers(self, lane: GeneratedLane, codes: Array) -> list[Any]:
        """The answers for strings with these codes."""
        column = None
        if len(codes) > FEW:
            column = lane.values.texts.column(codes, np.ones(len(codes), bool))
        if column is None:
            return self._each([lane.values.value(code) for code in codes.tolist()])
        return self._each(column.to_pylist())

    @property
    def _others(self) -> list[Any]:
        terms = self.operation.arguments
        return [term.value for i, term in enumerate(terms) if i != self.place and isinstance(term, typed.Constant)]

    def _each(self, texts: list[str]) -> list[Any]:
        record = FUNCTIONS.get(self.operation.name)
        if record is not None and record.many is not None and self.place == 0:
            return record.many(texts, *self._others)
        return [self._one(text) for text in texts]

    def _one(self, text: str | None) -> Any:
        arguments = [term.value if isinstance(term, typed.Constant) else None for term in self.operation.arguments]
        arguments[self.place] = text
        return operate(self.operation, arguments)

    def _write_one(self, lane: GeneratedLane, structure: Any, at: int, found: Any) -> None:
        structure.known[at] = 1
        if found is not None:
            structure.there[at] = 1
            structure.result[at] = lane.encoded(found, self.result)
        structure.answered += 1
        self._decide(structure)

    def _write(self, lane: GeneratedLane, structure: Any, places: Array, found: list[Any]) -> None:
        """Write answers to their places."""
        there = np.array([value is not None for value in found], bool)
        column = None
        if self.result == "s" and len(found) > FEW and all(v is None or len(v) <= TEXT for v in found):
            with suppress(UnicodeError):  # text that is not valid Unicode
                column = pa.array(found, pa.string())
        if column is not None:
            results = lane.values.encode(column)
        else:
            kind = np.float64 if self.result == "f" else np.int64
            results = np.array([0 if v is None else lane.encoded(v, self.result) for v in found], kind).view(np.int64)
        structure.arrays["known_"][places] = 1
        structure.arrays["there_"][places] = there
        structure.arrays["results"][places] = results
