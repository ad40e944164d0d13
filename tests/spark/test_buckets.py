"""The bucket of an event depends on the event alone, never on other events."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ensue.data.convert import arrow_type_of
from ensue.partitioning import ByKey
from ensue.spark.buckets import NOWHERE, Buckets, _hash, _number
from ensue.spark.wire import Column, Wire

# a and b have their key in the same column, c in another one; d is read and has none, e is not read
PARTING = ByKey({"a": ("x",), "b": ("x",), "c": ("x",)}, ("int",), frozenset({"b"}))
WIRE = Wire((Column("c0", "x", "bigint", ("a", "b")), Column("c1", "x", "double", ("c",))), True, False)
BUCKETS = Buckets(("a", "b", "c", "d"), PARTING, 7)

events = st.tuples(st.sampled_from("abcde"), st.integers(0, 99), st.none() | st.integers(-3, 3))


def numbers(rows: list[tuple[str, int, int | None]]) -> list[int]:
    table = pa.table(
        {
            "type": pa.array([kind for kind, _, _ in rows], pa.string()),
            "time": pa.array([time for _, time, _ in rows], pa.int64()),
            "c0": pa.array([x if kind != "c" else None for kind, _, x in rows], pa.int64()),
            "c1": pa.array([x if kind == "c" else None for kind, _, x in rows], pa.float64()),
        }
    )
    return BUCKETS.of(table, WIRE).tolist()


@given(st.lists(events, min_size=1))
def test_the_bucket_of_an_event_does_not_depend_on_the_others(rows: list[tuple[str, int, int | None]]) -> None:
    assert numbers(rows) == [numbers([row])[0] for row in rows]


@given(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 99), st.integers())
def test_equal_keys_have_one_bucket(one: str, other: str, time: int, key: int) -> None:
    key %= 1000
    assert len({*numbers([(one, time, key)]), *numbers([(other, 0, key)])}) == 1


def test_what_is_not_needed_has_no_bucket() -> None:
    needless = [("e", 1, 1), ("a", 1, None), ("c", 1, None)]
    assert numbers(needless) == [NOWHERE] * 3
    assert all(0 <= number < BUCKETS.count for number in numbers([("b", 1, None), ("d", 1, None), ("a", 1, 5)]))


def test_keys_are_spread() -> None:
    assert {*numbers([("a", 0, key) for key in range(200)])} == {*range(BUCKETS.count)}


def test_keys_are_read_as_events_are():
    """A time, or the float of a decimal, that an earlier stage derived is in the bucket of the same given value."""
    parting = ByKey({"e": ("k",)}, ("time",), frozenset())
    wire = Wire((Column("c", "k", "bigint"),), instants=True, sequence=False)
    for kind, one, other in (
        ("time", pa.array([5, 6], pa.int64()), pa.array([5, 6], pa.timestamp("us"))),
        ("float", pa.array([51.41, 3.0]), pa.array([Decimal("51.41"), Decimal("3.00")])),
    ):
        buckets = Buckets(("e",), replace(parting, kinds=(kind,)), 1000)
        numbers = [buckets.of(pa.table({"type": ["e", "e"], "time": [1, 2], "c": c}), wire) for c in (one, other)]
        assert numbers[0].tolist() == numbers[1].tolist()


KNOWN = {
    "int": {0: 14, 1: 14, -1: 15, 42: 4, 2**63 - 1: 15, -(2**63): 15, None: 15},
    "float": {0.0: 14, 1.5: 10, -2.25: 10, float("nan"): 10, float("inf"): 11, None: 15},
    "string": {"": 14, "a": 14, "ada": 11, "é": 2, "\U0001f600": 2, None: 15},
    "bool": {True: 14, False: 14, None: 15},
}
"""Of 16 buckets. A stream that goes on with a later version has its state where these say: none may ever change."""

HASHES = {
    "int": (42, 0x4B6AED925A295025),
    "float": (1.5, 0xA2A0C02D76631C89),
    "string": ("ada", 0xB6354EA4E6FB8AF9),
    "bool": (True, 0xEA070C619388BDE9),
}


def test_buckets_are_the_same_for_ever() -> None:
    for kind, known in KNOWN.items():
        values = pa.array(list(known), arrow_type_of(kind))
        assert _number(_hash(values, kind), 16).tolist() == list(known.values()), kind
    for kind, (value, expected) in HASHES.items():
        assert int(_hash(pa.array([value], arrow_type_of(kind)), kind)[0]) == expected, kind


def test_buckets_of_keys_with_two_parts_are_the_same_for_ever() -> None:
    parting = ByKey({"a": ("x", "s")}, ("int", "string"), frozenset())
    wire = Wire((Column("c0", "x", "bigint"), Column("c1", "s", "string")), True, False)
    rows = pa.table({"type": ["a"] * 4, "time": [1, 2, 3, 4], "c0": [1, 2, 1, 7], "c1": ["ada", "ada", "bob", ""]})
    assert Buckets(("a",), parting, 1000).of(rows, wire).tolist() == [760, 517, 734, 16]
