"""The encoding of states: everything comes back as it was, and other bytes are refused."""

import hashlib
import math
from collections import namedtuple
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.state import MAGIC, StateError, decode, encode, seal, unseal

PROGRAM = hashlib.sha256(b"rules").digest()

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.datetimes() | st.dates() | st.times() | st.timedeltas() | st.decimals(allow_nan=False)
)  # fmt: skip
KEYS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS | st.tuples(KEYS, KEYS), inner)
        | st.sets(KEYS)
        | st.frozensets(KEYS)
    ),
)


@given(VALUES)
def test_plain_values(value):
    back = decode(encode(value))
    assert back == value
    assert repr(back) == repr(value) or isinstance(value, dict | list | tuple | set | frozenset)


def test_types_stay_as_they_are():
    values = [1, 1.0, True, -0.0, "1", b"1", (), [], 2**200, -(2**200), -1, 127, 128, 2**63, -(2**63), "\ud800"]
    assert list(map(repr, decode(encode(values)))) == list(map(repr, values))
    assert math.isnan(decode(encode(math.nan)))
    moments = [datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), time(1, 2), timedelta(-1, 5), Decimal("1.50")]
    assert decode(encode(moments)) == moments


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8", "bool", "int32"])
@pytest.mark.parametrize("shape", [(0,), (5,), (2, 3), (0, 4), (3, 0)])
def test_arrays(dtype, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    back = decode(encode([array, array.T]))
    for one, other in zip(back, (array, array.T), strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert (one == other).all()
        assert one.flags.writeable


def test_numpy_scalars_and_other_mappings_become_plain():
    point = namedtuple("point", "x y")
    shared = (1, 2)
    value = [np.int64(3), np.float64(0.5), np.bool_(True), MappingProxyType({"a": shared}), point(1, shared), shared]
    assert decode(encode(value)) == [3, 0.5, True, {"a": (1, 2)}, (1, (1, 2)), (1, 2)]


def test_objects_that_are_shared_stay_one():
    attributes, pair = {"x": 1}, (1, "two")
    one, other, (same, again) = decode(encode([attributes, pair, (attributes, pair)]))
    assert (one, other) == (attributes, pair)
    assert one is same
    assert other is again


def test_depth_does_not_matter():
    value = []
    for _ in range(100_000):
        value = [value]
    back = decode(encode(value))
    depth = 0
    while back:
        (back,) = back
        depth += 1
    assert depth == 100_000
    while value:  # taking it apart by hand: Python would do it recursively
        (value,) = value


def describe_test_what_cannot_be_saved_is():
    with pytest.raises(StateError, match="type object cannot be saved"):
        encode([object()])
    with pytest.raises(StateError, match="complex128"):
        encode(np.zeros(2, complex))
    circle = {}
    circle["self"] = circle
    with pytest.raises(StateError, match="holds itself"):
        encode(circle)


# --- the frame


def test_every_change_of_a_byte_is_noticed():
    data = seal({"time": [1, 2, 3]}, PROGRAM)
    assert unseal(data, PROGRAM) == {"time": [1, 2, 3]}
    for at in range(len(data)):
        for change in (1, 128):
            with pytest.raises(StateError):
                unseal(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :], PROGRAM)
        with pytest.raises(StateError):
            unseal(data[:at], PROGRAM)
    with pytest.raises(StateError, match="damaged"):
        unseal(data + b"0", PROGRAM)


def describe_test_what_is_wrong_is():
    data = seal([1], PROGRAM)
    for other in (b"", b"PAR1 and so on", "text", None):
        with pytest.raises(StateError, match="the bytes that `save` returned"):
            unseal(other, PROGRAM)
    with pytest.raises(StateError, match="cut short"):
        unseal(data[:-1], PROGRAM)
    with pytest.raises(StateError, match=r"other rules.*session\.rules"):
        unseal(data, bytes(32))
    newer = MAGIC + b"\x01\x00\x63\x00" + data[len(MAGIC) + 4 :]
    with pytest.raises(StateError, match=r"another version of ensue \(state version 1.99"):
        unseal(newer, PROGRAM)


@settings(max_examples=300)
@given(st.binary())
def test_random_bytes_are_refused(data):
    for noise in (data, MAGIC + data):
        with pytest.raises(StateError):
            unseal(noise, PROGRAM)
    with suppress(StateError):
        decode(data)


@settings(max_examples=300)
@given(st.data())
def test_damage_that_the_checksum_does_not_show(data):
    """Whatever bytes are decoded, only `StateError` comes out of it."""
    event = ("a", {"x": 1}, 1, 2, None, 7)
    state = [
        event,
        [event, frozenset({7})],
        {"a": 2**70, (1, 2): {3.5}},
        np.zeros((2, 2)),
        b"bytes",
        datetime(2026, 1, 1),
    ]
    written = bytearray(encode(state))
    for _ in range(data.draw(st.integers(1, 4))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    with suppress(StateError):
        decode(bytes(written))


@settings(max_examples=100)
@given(st.data())
def test_a_damaged_state_of_a_session_is_refused_even_with_its_checksum(data):
    written = bytearray(STATE[_BEFORE:])
    for _ in range(data.draw(st.integers(1, 3))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    header = STATE[: _BEFORE - 32]
    with suppress(StateError):
        SESSION.program.resume(header + hashlib.sha256(header + written).digest() + bytes(written))


def a_session():
    rules = """
        event a(x: int, s: string). event b(x: int).
        both(x) <- a(x, _) seq b(x).
        late(x) <- o: a(x, _), w: extend(o, 6), while w: not b(x).
        often(x, n = count(o)) <- while last 3: collect o: a(x, _).
    """
    session = ensue.compile(rules).start(3, provenance=True)
    for at in range(12):
        session.send({"type": "ab"[at % 3 == 0], "time": at, "x": at % 4, "s": "p"})
    return session


SESSION = a_session()
STATE = SESSION.save()
_BEFORE = len(STATE) - len(encode(unseal(STATE, ensue.engine.state.fingerprint(SESSION.program.file))))


FOLD = """
event i(k: int, x: int) instant.
total(k, t = x) <- i(k, x).
total(k, t = u + x) <- recent total(k, u) seq i(k, x) where u < 20.
"""


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("first", [-40, -2, 0, 40])
def test_what_waits_from_before_time_0_is_saved(first, compiled):
    program = ensue.compile(FOLD)
    at_work = program.start(compiled=compiled)
    at_work.send({"type": "i", "time": first, "k": 2, "x": 2})
    at_work.send({"type": "other", "time": first + 1, "k": 2})
    at_work = program.resume(at_work.save())
    found = [*at_work.send({"type": "i", "time": first + 90, "k": 2, "x": 3}), *at_work.close()]
    assert [(row["start"], row["t"]) for row in found] == [(first, 5), (first + 90, 3)]


@pytest.mark.parametrize("compiled", [False, True])
def test_keys_from_before_time_0_stay_when_others_are_freed(compiled):
    program = ensue.compile("event a(k: int) instant. event b(k: int) instant. m(k) <- recent a(k) seq b(k).")
    keys = 3000
    opened = [{"type": "a", "time": -keys + k, "k": k} for k in range(keys)]
    closed = [{"type": "b", "time": 1 + k, "k": k} for k in range(keys)]
    at_work = program.start(compiled=compiled)
    found = [row for event in (*opened, *closed) for row in at_work.send(event)] + at_work.close()
    assert [row["k"] for row in found] == list(range(keys))
