"""Static predicates of generated code: what it has not been told yet it asks, while it runs.

A condition with a static predicate looks for the answer in an array. Where there is none, generated code calls a
function here with the row that it wrote its values to; the answer is kept in the array. So a goal is proved once, and
then looked up as fast as any key; what follows on the same path is kept before it is asked for. There are only so many
answers: when they are many, they are forgotten, and asked for again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ensue.engine.batch import Integers
from ensue.engine.compiled import kernels
from ensue.engine.compiled.arrays import Arrays, no_answers
from ensue.engine.compiled.layout import Ask
from ensue.engine.compiled.strings import Strings
from ensue.engine.knowledge import Knowledge

MOST = 1 << 20
"""The rows for the answers of one kind at most."""

LARGEST = 1 << 63

NO, YES = 1, 2

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Answers:
    """Answers what is asked inside a ``with``; what goes wrong meanwhile is raised by `check`."""

    def __init__(self, arrays: Arrays, knowledge: Knowledge, strings: Strings) -> None:
        self._arrays = arrays
        self._knowledge = knowledge
        self._strings = strings
        self._functions: list[Any] = []
        self._error: BaseException | None = None

    def __enter__(self) -> Answers:
        for ask in self._arrays.layout.asks.values():
            function = _Function(self._answering(ask))
            self._functions.append(function)
            self._arrays[f"A{ask.number}"][0, 0] = ctypes.cast(function, ctypes.c_void_p).value or 0
        return self

    def __exit__(self, *error: object) -> None:
        self._functions.clear()

    def make_room(self) -> None:
        """Where no more answers are kept, begins anew with more room, or without the old ones."""
        for ask in self._arrays.layout.asks.values():
            old = self._arrays[f"A{ask.number}"]
            size = len(old) - 1
            if 2 * old[0, 1] >= size - 1:
                new = self._arrays[f"A{ask.number}"] = no_answers(ask, min(4 * size, MOST))
                new[0, 0] = old[0, 0]

    def check(self) -> None:
        """Raises what went wrong while something was asked."""
        if self._error is not None:
            raise self._error

    def _answering(self, ask: Ask) -> Callable[[int], int]:
        """What is called with a row of one kind of answers."""
        name, arrays, knowledge = f"A{ask.number}", self._arrays, self._knowledge
        predicate, matter = ask.predicate, tuple(kind is not None for kind in ask.kinds)
        kinds = [kind for kind in ask.kinds if kind is not None]
        readers = [self._reader(kind) for kind in kinds]

        def answer(row: int) -> int:
            if self._error is not None:
                return NO
            try:
                written = arrays[name][row].tolist()
                values = [read(number) for read, number in zip(readers, written, strict=False)]
                question = knowledge.question(predicate, matter)
                if not question.holds(values):
                    return NO
                place, more = question.ahead()
                if more:
                    _tell(arrays[name], row, place, self._written(kinds[place], more))
                return YES
            except BaseException as error:  # nothing may be raised through compiled code
                self._error = error
                return NO

        return answer

    def _reader(self, kind: str) -> Callable[[int], Any]:
        """From what is written to the value that it stands for."""
        match kind:
            case "s":
                return self._strings.texts.__getitem__
            case "f":
                return lambda written: float(np.int64(written).view(np.float64))
            case "b":
                return bool
            case _:
                return int

    def _written(self, kind: str, values: Sequence[Any]) -> Integers:
        """Values as they are written, without those that no event can have yet."""
        if kind == "s":
            codes = (self._strings.codes.get(value) for value in values if isinstance(value, str))
            return np.array([code for code in codes if code is not None], np.int64)
        whole = [value for value in values if type(value) is int and -LARGEST <= value < LARGEST]
        return np.array(whole if kind == "i" else [], np.int64)


def _tell(answers: Integers, row: int, place: int, values: Integers) -> None:
    """Keeps that the answer is yes for other keys, which differ in one place from the one in a row.

    That row is filled in first, as it is taken. A part of the room is left to what is asked for.
    """
    mask, last = len(answers) - 2, answers.shape[1] - 1
    room = 3 * mask // 8 - int(answers[0, 1])
    if room <= 1:
        return
    given = answers[:, last]
    given[row] = YES
    answers[0, 1] += 1
    keys = np.tile(answers[row, :last], (min(room - 1, len(values)), 1))
    keys[:, place] = values[: len(keys)]
    at = np.zeros(len(keys), np.int64)
    for column in range(last):
        at = kernels.mix(at ^ keys[:, column])  # type: ignore[no-untyped-call]
    while len(keys):  # those that find their place taken go on to the next, all at once
        at = at & mask
        free = given[at + 1] == 0
        answers[at[free] + 1, :last] = keys[free]
        given[at[free] + 1] = YES
        answers[0, 1] += len(np.unique(at[free]))
        others = (answers[at + 1, :last] != keys).any(axis=1)
        at, keys = at[others] + 1, keys[others]


def forget_strings(arrays: Arrays) -> None:
    """Forgets the answers about strings, whose codes may mean others from now on."""
    for ask in arrays.layout.asks.values():
        if "s" in ask.kinds:
            arrays[f"A{ask.number}"] = no_answers(ask, len(arrays[f"A{ask.number}"]) - 1)
