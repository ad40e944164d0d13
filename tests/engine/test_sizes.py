"""Sizes of a running program's state, also after it was saved and resumed."""

from typing import Any

import pytest

import ensue
from ensue.engine.sizes import Size, added

RULES = """
event order(id: int, product: string).
event shipped(id: int).
done(id) <- order(id, _) seq shipped(id).
overdue(id) <- o: order(id, _), w: extend(o, 6), while w: not shipped(id).
rule busy: many(count(o)) <- while last 10: collect o: order(_, _).
"""

ORDERS = [{"type": "order", "time": time, "id": time % 5, "product": "tea"} for time in range(20)]


def session(compiled: bool) -> ensue.Session:
    """A session in which twenty orders of five customers have come, the last one when time is over."""
    found = ensue.compile(RULES).start(compiled=compiled)
    found.send(ORDERS)
    found.advance(19)
    return found


def kept(sizes: list[Size], rule: str) -> dict[str, tuple[Any, int]]:
    return {size.node: (size.keys, size.tuples) for size in sizes if size.rule == rule and size.tuples}


@pytest.mark.parametrize("compiled", [False, True])
def test_it_tells_what_each_part_of_a_rule_keeps(compiled: bool) -> None:
    sizes = session(compiled).sizes()
    assert kept(sizes, "done") == {"lefts": (5, 20)}
    assert kept(sizes, "overdue") == {"pending": (None, 6)}
    assert kept(sizes, "busy") == {"members": (None, 10)}


@pytest.mark.parametrize("compiled", [False, True])
def test_twice_the_tuples_take_twice_the_bytes(compiled: bool) -> None:
    found = []
    for times in (200, 400):
        one = ensue.compile(RULES).start(compiled=compiled)
        one.send([{"type": "order", "time": time, "id": time, "product": "tea"} for time in range(times)])
        one.advance(times)
        found.append(next(size for size in one.sizes() if size.tuples == times))
    assert all(size.bytes >= 8 * size.tuples for size in found)
    assert found[1].bytes == pytest.approx(2 * found[0].bytes, rel=0.1)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_resumed_session_keeps_the_same(compiled: bool) -> None:
    before = session(compiled)
    assert ensue.compile(RULES).resume(before.save()).sizes() == before.sizes()


def test_nothing_is_kept_before_anything_came() -> None:
    assert ensue.compile(RULES).start().sizes() == []


def test_what_is_over_is_not_kept() -> None:
    over = session(compiled=False)
    over.advance(100)
    assert kept(over.sizes(), "overdue") == {}


def test_sizes_of_parts_are_added_by_rule_and_node() -> None:
    parts = [Size("a", "store", 2, 5, 40), Size("a", "queue", None, 1, 8), Size("a", "store", 3, 4, 32)]
    assert added(parts) == [Size("a", "store", 5, 9, 72), Size("a", "queue", None, 1, 8)]
