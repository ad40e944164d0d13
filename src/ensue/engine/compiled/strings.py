"""Strings as numbers: one dictionary for the life of a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Integers

MANY = 1 << 16
"""From how many strings on it is worth while to look for those that nothing refers to."""


class Strings:
    """Gives each string a code. The place of a string that was forgotten is None, and waits for another."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.texts: list[str | None] = []
        self._free: list[int] = []
        self._ranks: Integers | None = None
        self._enough = MANY

    def code(self, text: str) -> int:
        found = self.codes.get(text)
        if found is None:
            self._ranks = None
            if self._free:
                found = self._free.pop()
                self.texts[found] = text
            else:
                found = len(self.texts)
                self.texts.append(text)
            self.codes[text] = found
        return found

    def restore(self, texts: Sequence[str | None]) -> None:
        """The strings of a saved state; their codes are those they had."""
        self.texts = list(texts)
        self.codes = {text: code for code, text in enumerate(self.texts) if text is not None}
        self._free = [code for code, text in enumerate(self.texts) if text is None]
        self._ranks = None

    @property
    def many(self) -> bool:
        """Whether it is time to forget some."""
        return len(self.codes) > self._enough

    def forget(self, used: Iterable[Integers]) -> None:
        """Forgets all strings but those whose codes are still used."""
        held = np.zeros(len(self.texts), bool)
        for codes in used:
            held[codes[(codes >= 0) & (codes < len(held))]] = True
        for code in np.flatnonzero(~held).tolist():
            text = self.texts[code]
            if text is not None:
                del self.codes[text]
                self.texts[code] = None
                self._free.append(code)
        self._ranks = None
        self._enough = max(MANY, 2 * len(self.codes))

    def encode(self, column: pa.Array) -> Integers:
        """The codes of a column; that of a null is 0, and means nothing."""
        if not len(column):
            return np.empty(0, np.int64)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = np.array([self.code(text) for text in encoded.dictionary.to_pylist()] or [0], np.int64)
        found: Integers = codes[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        return found

    def decode(self, codes: Integers, valid: np.ndarray[Any, np.dtype[np.bool_]]) -> pa.Array:
        """The strings of codes."""
        if not valid.any():
            return pa.nulls(len(codes), pa.string())
        if len(self.texts) <= len(codes):
            return pa.array(self.texts, pa.string()).take(pa.array(codes, mask=None if valid.all() else ~valid))
        used, places = np.unique(np.where(valid, codes, codes[0]), return_inverse=True)
        texts = pa.array(
            [self.texts[code] or "" if 0 <= code < len(self.texts) else "" for code in used.tolist()], pa.string()
        )
        return texts.take(pa.array(places, mask=~valid))

    def ranks(self) -> Integers:
        """The place of each code in the order of strings."""
        if self._ranks is None:
            self._ranks = np.empty(len(self.texts), np.int64)
            by_text = sorted(range(len(self.texts)), key=lambda code: self.texts[code] or "")
            self._ranks[np.array(by_text, np.int64)] = np.arange(len(by_text))
        return self._ranks
