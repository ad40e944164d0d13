"""Numbers of any type in the dictionary: one code for each value of a type, equal ones known as equal."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ensue.engine.capacity import SMALL, USUAL
from ensue.engine.structures.values import Dictionary, exactly
from ensue.language.semantics import equality

INTEGERS = [0, 1, 2, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [-0.0, 0.0, 1.0, -1.0, 2.5, 2.0**53, 2.0**63, -(2.0**63), *map(float, ("inf", "-inf", "nan"))]


def column(rng, count):
    choices, small, type_ = rng.choice([
        (INTEGERS, rng.randrange(1000), pa.int64()),
        (FLOATS, float(rng.randrange(1000)), pa.float64()),
        ([True, False], True, pa.bool_()),
        (["1", "1.0", ""], str(rng.randrange(1000)), pa.string()),
    ])  # fmt: skip
    values = [None if rng.random() < 0.1 else rng.choice([*choices, small, type(small)(k)]) for k in range(count)]
    return pa.array([None, *values], type_).slice(1)


@pytest.mark.parametrize("seed", range(20))
def test_a_number_has_one_code_however_it_comes(seed):
    rng = Random(seed)
    capacity = rng.choice([USUAL, SMALL])
    values, known = Dictionary(capacity), {}
    for _ in range(8):
        given = column(rng, rng.choice([1, 5, 100, 3000]))
        for value, code in zip(given.to_pylist(), values.encode(given).tolist(), strict=True):
            if value is not None:
                value = value + 0.0 if type(value) is float else value
                assert known.setdefault(exactly(value), code) == code == values.code(value)
                assert exactly(values.value(code)) == exactly(value)
        for value in rng.sample([*INTEGERS, *FLOATS[1:], 2**70, True, "1", (1, 2.0)], 5):
            assert known.setdefault(exactly(value), values.code(value)) == values.code(value)
        assert len(set(known.values())) == len(known)
        same = {}
        for code in known.values():
            key, representative = equality(values.value(code)), int(values.texts.same[code])
            assert representative == -1 if key is None else same.setdefault(key, representative) == representative
        if rng.random() < 0.4:
            known = dict(rng.sample(list(known.items()), len(known) // 2))
            values.forget([np.array([*known.values()], np.int64)])
        if rng.random() < 0.3:
            saved, values = values.saved(), Dictionary(capacity)
            values.restore(saved)


def test_many_floats_are_found_quickly():
    """Whole floats differ in their high bits only; in a table by the low ones of a product they would all collide."""
    values = Dictionary()
    values.encode(pa.array(np.arange(20_000, dtype=float)))
    slots = values.texts.slots[::2] != 0
    wanted = values.texts.slots[1::2][slots] & values.texts.mask
    assert np.max(np.flatnonzero(slots) - wanted) < 200
