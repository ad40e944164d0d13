"""Strings as bytes: each has one code in a dictionary, however it comes, and functions of strings mean the same."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.engine.capacity import SMALL, USUAL, using
from ensue.engine.structures.texts import hash_of
from ensue.engine.structures.values import Dictionary

LETTERS = ["a", "Z", "é", "ß", "€", "😀", " ", "\0", "0", "ab", "eight888", ""]


def words(rng, count):
    return [None if rng.random() < 0.1 else "".join(rng.choices(LETTERS, k=rng.randrange(5))) for _ in range(count)]


def column(rng, texts):
    made = pa.array(texts, rng.choice([pa.string(), pa.large_string()]))
    if rng.random() < 0.3:
        made = made.slice(len(texts) // 3)
    return made.dictionary_encode() if rng.random() < 0.2 else made


@pytest.mark.parametrize("capacity", [USUAL, SMALL])
@pytest.mark.parametrize("count", [1, 3, 50, 700, 3000])
def test_a_string_has_one_code_however_it_comes(capacity, count):
    rng = Random(count)
    values, known = Dictionary(capacity), {}
    for _ in range(8):
        for text in words(rng, 5):
            if text is not None:
                assert known.setdefault(text, values.code(text)) == values.code(text)
        values.code((1, text))
        given = column(rng, words(rng, count))
        codes, texts = values.encode(given), given.to_pylist()
        for text, code in zip(texts, codes.tolist(), strict=True):
            assert text is None or known.setdefault(text, code) == code == values.code(text)
        valid = np.array([text is not None for text in texts], bool)
        assert values.decode(codes, valid).to_pylist() == texts
        assert all(values.value(code) == text for text, code in known.items())
        if rng.random() < 0.5:
            known = dict(rng.sample(sorted(known.items()), len(known) // 2))
            values.forget([np.array([*known.values()], np.int64)])
        if rng.random() < 0.3:
            saved, values = values.saved(), Dictionary(capacity)
            values.restore(saved)
    assert len(set(known.values())) == len(known)


def test_text_that_is_no_unicode_is_kept_as_it_is():
    values = Dictionary(SMALL)
    texts = ["half \ud800", "\udc00", "whole"]
    codes = [values.code(text) for text in texts]
    assert [values.value(code) for code in codes] == texts
    values.forget([np.array(codes, np.int64)])
    assert [values.code(text) for text in texts] == codes


def test_a_hash_depends_on_every_letter():
    raw = b"a text of twenty letters"
    changed = {hash_of(raw[:k] + b"?" + raw[k + 1 :]) for k in range(len(raw))}
    assert len(changed | {hash_of(raw)}) == len(raw) + 1


TEXTS = ["", "a", "é", "seven77", "eight888", "nine99999", "sixteen sixteen!", "seventeen seventee", "ééééé", "a" * 40]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
def test_strings_of_any_length_are_found_at_the_end_of_a_buffer(type_):
    """A hash reads eight letters at once where there are as many: the last string of a buffer has none behind it."""
    values = Dictionary(SMALL)
    codes = [values.code(text) for text in TEXTS]
    for past in range(1, len(TEXTS) + 1):
        whole = pa.array(TEXTS[:past], type_)
        _, offsets, letters = whole.buffers()
        size = sum(len(text.encode()) for text in TEXTS[:past])
        cut = pa.Array.from_buffers(type_, past, [None, offsets, letters.slice(0, size)])
        assert values.encode(cut).tolist() == codes[:past]
        assert values.encode(cut.slice(past - 1)).tolist() == codes[past - 1 : past]


@pytest.mark.parametrize(
    "texts", [["a", "ab"], ["abcdefgh", "abcdefg", "abcdefgi"], ["x" * 9, "x" * 8 + "y", "y" + "x" * 8]]
)
def test_strings_that_are_nearly_the_same_have_codes_of_their_own(texts):
    values = Dictionary(SMALL)
    assert sorted(values.encode(pa.array(texts)).tolist()) == list(range(len(texts)))


RULES = """
event e(s: string, t: string).
made(u = upper(s), l = lower(s), n = length(s), m = length(concat(s, t)), c = concat(s, "-", t),
     a = starts_with(s, t), b = ends_with(s, t), h = contains(s, t), z = starts_with(s, "a"), y = trim(s)) <- e(s, t).
smaller(s, t) <- e(s, t) where s < t or upper(s) >= t.
"""


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("capacity", [USUAL, SMALL])
def test_functions_of_strings_mean_what_python_does(compiled, capacity):
    rng, count = Random(3), 600
    program = ensue.compile(RULES)
    table = pa.table(
        {"type": ["e"] * count, "time": range(count), "s": words(rng, count), "t": words(rng, count)},
        pa.schema([("type", pa.string()), ("time", pa.int64()), ("s", pa.string()), ("t", pa.string())]),
    )
    with using(capacity):
        found = program.detect(table, compiled=compiled).to_pylist()
    assert found == program.detect(table, engine="reference").to_pylist()
    assert len(found) > count
