"""The type of each row is found from its letters, whatever the lengths of names, as Python and as machine code."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from ensue.engine.reading import in_order, kinds_of

LENGTHS = (1, 1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 30)


def _word(rng: random.Random) -> str:
    return "".join(rng.choice("abé") for _ in range(rng.choice(LENGTHS)))


@pytest.mark.parametrize("rows", [1, 40, 5_000])
@pytest.mark.parametrize("seed", range(12))
def test_the_code_of_each_row_is_that_of_its_name(rows: int, seed: int) -> None:
    rng = random.Random(seed)
    names = list(dict.fromkeys(_word(rng) for _ in range(rng.choice((1, 2, 3, 10, 200)))))
    others = [_word(rng), *(name[:9] + "z" + name[10:] for name in names[:5])]
    chosen = [name for name in names if len(name) == 1] if seed % 3 == 0 else []
    texts = [rng.choice(chosen or names + others) for _ in range(rows)]
    if seed % 5 == 4:
        texts[rng.randrange(rows)] = ""
    column = pa.array(["before", *texts])[1:]
    _, offsets, letters = column.buffers()
    kinds = np.empty(rows, np.int32)
    codes = tuple(range(7, 7 + len(names)))
    is_empty = kinds_of(
        np.frombuffer(offsets, np.int32, rows + 1, 4),
        np.frombuffer(letters, np.uint8),
        tuple(name.encode() for name in names),
        codes,
        kinds,
    )
    assert is_empty == ("" in texts)
    known = dict(zip(names, codes, strict=True))
    assert kinds.tolist() == [known.get(text, -1) for text in texts]


@pytest.mark.parametrize("rows", [1, 2, 600, 5_000])
def test_the_order_of_rows(rows: int) -> None:
    rng = random.Random(rows)
    ends = np.arange(rows) * 2
    assert in_order(ends, ends) == 1
    for place in {0, 1, 511, 512, 513, rows - 1} & set(range(1, rows)):
        tied, fallen = ends.copy(), ends.copy()
        tied[place] = tied[place - 1]
        fallen[place] = fallen[place - 1] - 1
        assert in_order(tied, tied) == 0
        assert in_order(fallen, fallen) == 2
    late = ends.copy()
    late[rng.randrange(rows)] += 1
    assert in_order(late, ends) == 2
