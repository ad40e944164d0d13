"""Detections of several types as a dict by type, in the form of the events."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ensue

RULES = """
event order(id: int, product: string).
event paid(id: int, amount: float).
ordered(id, product) <- order(id, product).
settled(id, product = amount) <- paid(id, amount).
never(id) <- order(id, "none").
"""
EVENTS = [
    {"type": "order", "time": 1, "id": 1, "product": "tea", "amount": None},
    {"type": "paid", "time": 2, "id": 1, "product": None, "amount": 2.5},
]
WANTED = {
    "ordered": [{"start": 1, "end": 1, "id": 1, "product": "tea"}],
    "settled": [{"start": 2, "end": 2, "id": 1, "product": 2.5}],
    "never": [],
}
TABLE = pa.Table.from_pylist(EVENTS)


def rows(found):
    match found:
        case pa.Table():
            return found.to_pylist()
        case pd.DataFrame():
            return found.to_dict("records")
        case pl.DataFrame():
            return found.to_dicts()
        case _:
            return found


@pytest.mark.parametrize("engine", ["embedded", "reference"])
@pytest.mark.parametrize(
    "events", [EVENTS, TABLE, TABLE.to_pandas(), pl.from_arrow(TABLE)], ids=["rows", "arrow", "pandas", "polars"]
)
def test_every_form(events, engine):
    found = ensue.compile(RULES).detect(events, by_type=True, engine=engine)
    assert {name: rows(table) for name, table in found.items()} == WANTED
    assert {type(table) for table in found.values()} == {type(events)}
    some = ensue.compile(RULES).detect(events, by_type=True, emit="settled")
    assert list(some) == ["settled"]


def test_events_by_type_may_give_one_table():
    tables = {"order": TABLE.slice(0, 1).drop_columns(["type", "amount"])}
    program = ensue.compile(RULES)
    assert list(program.detect(tables)) == list(WANTED)
    assert program.detect(tables, by_type=False, emit="ordered").column_names == [
        "type",
        "start",
        "end",
        "id",
        "product",
    ]


def test_batches_give_one_table():
    with pytest.raises(ensue.DataError, match="choose one type with `emit`"):
        ensue.compile(RULES).detect(TABLE.to_reader(), by_type=True)
    with pytest.raises(ensue.DataError, match="`by_type` is 'yes'; it is True, False, or None"):
        ensue.compile(RULES).detect(TABLE, by_type="yes")
