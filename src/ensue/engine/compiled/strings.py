"""Strings as numbers: one dictionary for the life of a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Integers


class Strings:
    """Gives each string a code, in the order in which they are first seen."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.texts: list[str] = []
        self._ranks: Integers = np.empty(0, np.int64)

    def code(self, text: str) -> int:
        found = self.codes.get(text)
        if found is None:
            found = self.codes[text] = len(self.texts)
            self.texts.append(text)
        return found

    def restore(self, texts: list[str]) -> None:
        """The strings of a saved state; their codes are those they had."""
        self.texts = list(texts)
        self.codes = {text: code for code, text in enumerate(self.texts)}

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
        used, places = np.unique(np.where(valid, codes, codes[0] if len(codes) else 0), return_inverse=True)
        if not valid.any():
            return pa.nulls(len(codes), pa.string())
        texts = pa.array(
            [self.texts[code] if 0 <= code < len(self.texts) else "" for code in used.tolist()], pa.string()
        )
        return texts.take(pa.array(places, mask=~valid))

    def ranks(self) -> Integers:
        """The place of each code in the order of strings."""
        if len(self._ranks) != len(self.texts):
            self._ranks = np.empty(len(self.texts), np.int64)
            by_text = sorted(range(len(self.texts)), key=self.texts.__getitem__)
            self._ranks[np.array(by_text, np.int64)] = np.arange(len(by_text))
        return self._ranks
