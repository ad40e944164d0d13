"""What generated code calls, as plain Python and compiled, against the same in a few lines of Python."""

import heapq
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensue.engine.compiled import kernels
from ensue.engine.compiled.code import kernel
from ensue.values import order

SMALLEST, LARGEST = -(2**63), 2**63 - 1
WHOLE = st.one_of(
    st.integers(-3, 3), st.sampled_from([SMALLEST, SMALLEST + 1, LARGEST, 2**62]), st.integers(SMALLEST, LARGEST)
)
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 2.0**63, -(2.0**63)]), st.floats())


@pytest.fixture(params=["plain", "compiled"], scope="module")
def call(request):
    """Calls a kernel by its name."""
    one = (lambda name: getattr(kernels, name)) if request.param == "plain" else kernel

    def run(name, *arguments):
        with np.errstate(all="ignore"):
            return one(name)(*arguments)

    return run


# --- keys


def table_of(size):
    return np.full(2 * size, -1, np.int64)


@settings(max_examples=60)
@given(keys=st.lists(WHOLE, max_size=60), asked=st.lists(WHOLE, max_size=20))
def test_keys_of_one_column(call, keys, asked):
    table, values = table_of(64), np.empty((64, 1), np.int64)
    slots = {}
    for key in keys:
        slot = call("slot1", table, values, len(slots), np.int64(key))
        assert slot == slots.setdefault(key, len(slots))
    for key in [*keys, *asked]:
        assert call("find1", table, values, np.int64(key)) == slots.get(key, -1)
    again = table_of(128)
    call("rehash", again, values, len(slots))
    for key in [*keys, *asked]:
        assert call("find1", again, values, np.int64(key)) == slots.get(key, -1)


@settings(max_examples=60)
@given(keys=st.lists(st.tuples(WHOLE, WHOLE), max_size=60), asked=st.lists(st.tuples(WHOLE, WHOLE), max_size=20))
def test_keys_of_several_columns(call, keys, asked):
    table, values = table_of(64), np.empty((64, 2), np.int64)
    slots = {}
    for key in keys:
        slot = call("slot_of", table, values, len(slots), tuple(map(np.int64, key)))
        assert slot == slots.setdefault(key, len(slots))
    again = table_of(64)
    call("rehash", again, values, len(slots))
    for key in [*keys, *asked]:
        assert call("find", table, values, tuple(map(np.int64, key))) == slots.get(key, -1)
        assert call("find", again, values, tuple(map(np.int64, key))) == slots.get(key, -1)


REGULAR = {
    "one after the other": range(4096),
    "lower bits alike": [k << 20 for k in range(4096)],
    "lower half alike": [k << 32 for k in range(4096)],
    "upper bits only": [(k << 48) - 2**59 for k in range(4096)],
    "whole numbers as floats": np.arange(4096.0).view(np.int64).tolist(),
    "halves": (np.arange(4096) / 2).view(np.int64).tolist(),
    "prices": (np.arange(4096) / 100).view(np.int64).tolist(),
}


@pytest.mark.parametrize("keys", REGULAR.values(), ids=REGULAR)
def test_regular_keys_do_not_crowd(call, keys):
    """A table that is half full finds a key in a few steps."""
    places = {int(call("mix", np.int64(key))) & 8191 for key in keys}
    assert len(places) > 1024


# --- rows


@given(low=st.integers(0, 100), count=st.integers(0, 16), width=st.integers(1, 4))
def test_a_ring_grows(call, low, count, width):
    rows = np.full((16, width), -7, np.int64)
    for number in range(low, low + count):
        rows[number & 15] = number
    bigger = call("bigger_ring", rows, low, low + count)
    assert bigger.shape == (32, width)
    for number in range(low, low + count):
        assert (bigger[number & 31] == number).all()


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), max_size=80))
def test_a_heap(call, steps):
    heap, model = np.empty((128, 2), np.int64), []
    for number, (due, out) in enumerate(steps):
        call("push", heap, len(model), np.int64(due), np.int64(number))
        heapq.heappush(model, (due, number))
        if out:
            assert call("pop", heap, len(model)) == heapq.heappop(model)[1]
        if model:
            assert tuple(heap[0]) == model[0]
    while model:
        assert call("pop", heap, len(model)) == heapq.heappop(model)[1]


@settings(max_examples=100)
@given(data=st.data())
def test_chains_stay_as_they_are_when_rows_are_compacted(call, data):
    """Some keys have been used up or have lost their oldest rows; what is left of the others stays, in its order."""
    low = data.draw(st.integers(0, 40))
    keys = data.draw(st.lists(st.integers(0, 3), max_size=16))
    rows, heads = np.full((16, 3), -1, np.int64), np.full(4, -1, np.int64)
    for number, key in enumerate(keys, low):
        rows[number & 15] = heads[key], key, number
        heads[key] = number
    for key in data.draw(st.sets(st.integers(0, 3))):
        heads[key] = -1
    wanted = {key: chain(rows, heads, key, low) for key in range(4)}
    new, kept = call("compact", rows, heads, low, low + len(keys))
    assert kept == sum(map(len, wanted.values()))
    assert {key: chain(new, heads, key, 0) for key in range(4)} == wanted
    assert sorted(new[:kept, 2].tolist()) == new[:kept, 2].tolist()


def chain(rows, heads, key, low):
    """What a key has, newest first."""
    found, at = [], heads[key]
    while at >= low:
        found.append(tuple(rows[at & (len(rows) - 1), 1:].tolist()))
        at = rows[at & (len(rows) - 1), 0]
    return found


# --- order


KINDS = {"i": 0, "f": 1, "s": 2}
CELLS = {
    "i": st.none() | st.integers(-1, 2),
    "f": st.none() | st.sampled_from([0.0, -0.0, 1.0, -1.5, math.nan, math.inf]),
    "s": st.none() | st.sampled_from(["", "p", "q", "é"]),
}
TEXTS = ["q", "é", "", "p"]
"""Strings by their codes."""


@settings(max_examples=150)
@given(data=st.data())
def test_derived_events_of_a_step_are_put_in_order_and_merged(call, data):
    kinds = data.draw(st.lists(st.sampled_from("ifs"), max_size=3))
    row = st.tuples(st.integers(0, 1), st.tuples(*(CELLS[kind] for kind in kinds)), st.booleans())
    events = data.draw(st.lists(row, max_size=14))
    low = data.draw(st.integers(0, 3))
    rows = np.full((20, 3 + len(kinds)), 77, np.int64)
    floats = rows.view(np.float64)
    for place, (start, values, is_given) in enumerate(events, low):
        rows[place, :3] = start, 5, int(kernels.GIVEN) if is_given else 0
        for column, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            if value is not None:
                rows[place, 2] |= 1 << column
                if kind == "f":
                    floats[place, 3 + column] = value
                else:
                    rows[place, 3 + column] = TEXTS.index(value) if kind == "s" else value
    ranks = np.argsort(np.argsort(np.array(TEXTS, object))).astype(np.int64)
    codes = np.array([KINDS[kind] for kind in kinds], np.int64)
    high = call("settle", rows, floats, low, low + len(events), codes, ranks)
    found = [read(rows, floats, place, kinds) for place in range(low, high)]
    keys = [(start, tuple(map(order, values))) for start, values, _ in found]
    assert keys == sorted(keys)
    given_ones = [key_of(event) for event in events if event[2]]
    derived = {key_of(event) for event in events if not event[2]}
    assert sorted(map(key_of, found)) == sorted([*given_ones, *derived])
    assert (rows[:low] == 77).all()


def key_of(event):
    start, values, is_given = event
    return (start, tuple(map(order, values)), is_given)


def read(rows, floats, place, kinds):
    values = []
    for column, kind in enumerate(kinds):
        if not rows[place, 2] >> column & 1:
            values.append(None)
        elif kind == "f":
            values.append(float(floats[place, 3 + column]))
        else:
            number = int(rows[place, 3 + column])
            values.append(TEXTS[number] if kind == "s" else number)
    return (int(rows[place, 0]), tuple(values), bool(rows[place, 2] & kernels.GIVEN))


# --- numbers


@settings(max_examples=200)
@given(whole=WHOLE, fraction=FLOATS)
def test_an_integer_is_compared_with_a_float_exactly(call, whole, fraction):
    found = call("above", np.int64(whole), fraction)
    assert found == (2 if math.isnan(fraction) else (whole > fraction) - (whole < fraction))


@settings(max_examples=200)
@given(left=WHOLE, right=WHOLE.filter(bool))
def test_integers_are_divided_as_python_does_and_wrap(call, left, right):
    wrapped = (left // right + 2**63) % 2**64 - 2**63
    assert call("floor_divide", np.int64(left), np.int64(right)) == wrapped
    assert call("remainder", np.int64(left), np.int64(right)) == left % right


@given(one=FLOATS, other=FLOATS)
def test_floats_as_keys(call, one, other):
    keys = [np.float64(call("as_key", np.float64(number))).tobytes() for number in (one, other)]
    assert (keys[0] == keys[1]) == (one == other or (math.isnan(one) and math.isnan(other)))


@settings(max_examples=200)
@given(st.lists(st.floats(-1e15, 1e15), max_size=30))
def test_sums_hold_twice_the_digits(call, values):
    """Adding and taking away again leaves nothing behind that matters."""
    high, low = 0.0, 0.0
    for value in values:
        high, low = call("add_exactly", high, low, value)
    assert math.isclose(high + low, math.fsum(values), rel_tol=1e-12, abs_tol=1e-12)
    for value in values[1:]:
        high, low = call("add_exactly", high, low, -value)
    exact = float(Fraction(values[0])) if values else 0.0
    assert math.isclose(high + low, exact, rel_tol=1e-12, abs_tol=1e-12)


# --- tables as they come


@given(times=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6))
def test_whether_rows_are_in_order(call, times):
    start, end = (np.array([pair[side] for pair in times], np.int64) for side in (0, 1))
    ends = [pair[1] for pair in times]
    good = ends == sorted(ends) and all(pair[0] <= pair[1] for pair in times)
    assert call("in_order", start, end) == (2 if not good else int(len(set(ends)) == len(ends)))


@given(texts=st.lists(st.sampled_from(["", "a", "ab", "b", "abc", "é"]), min_size=1, max_size=8))
def test_types_are_told_by_their_names(call, texts):
    import pyarrow as pa

    names = ["ab", "a", "é"]
    column = pa.array(["first", *texts], pa.string()).slice(1)
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int32, len(texts) + 1, column.offset * 4)
    written = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in written], dtype=np.int64)
    kinds = np.empty(len(texts), np.int32)
    letters = np.frombuffer(b"".join(written), np.uint8)
    empty = call("kinds_of", places, np.frombuffer(data, np.uint8), letters, ends, np.arange(3, dtype=np.int32), kinds)
    assert kinds.tolist() == [names.index(text) if text in names else -1 for text in texts]
    assert bool(empty) == ("" in texts)
