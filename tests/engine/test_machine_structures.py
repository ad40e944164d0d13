"""Structures: fields of all types, structures as parameters, growth and questions while machine code runs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from ensue.engine.machine import callbacks, translate
from ensue.engine.structure import Column, Layout
from tests.engine.test_machine_units import LEVELS, STORE, WIDER, Table, World, agree, compiled, interpreted


def test_columns_of_all_types():
    text = """
def run(a: int, x: float) -> float:
    for i in range(8):
        store.key[i] = a * i
        store.weight[i] = x * float(i)
        store.other[i] = bits(x)
        store.small[i] = i - 5
        store.flag[i] = 250 + i % 6
    store.small[3] -= 7
    store.flag[4] >>= 1
    store.weight[2] += 1.0
    store.weight[3] /= 0.0
    store.key[store.small[6] + 0] *= 3
    store.count += store.small[0] + store.flag[5]
    store.capacity = 8
    total = 0.0
    for i in range(store.capacity):
        prefetch(store.weight, i + 1000)
        total += store.weight[i] + float(store.key[i] + store.small[i] * 2 + store.flag[i])
    return total
"""
    agree(text, [("run", 3, 0.25), ("run", -(2**40), -1e300)], {"store": STORE})


def test_eight_bytes_are_one_number():
    text = """
def run(a: int) -> int:
    while store.capacity < 16:
        grow(store)
    for i in range(12):
        store.flag[i] = (a * i) & 255
    return word_at(store.flag, 0) ^ wrap(word_at(store.flag, 1) * 3) ^ word_at(store.flag, 4)
"""
    agree(text, [("run", 3), ("run", 37), ("run", -1)], {"store": STORE})


@pytest.mark.parametrize("level", LEVELS)
def test_narrow_elements_are_cut_and_extended(level):
    text = """
def run(a: int) -> int:
    store.small[1] = a
    store.flag[1] = a
    return store.small[1] * 1000 + store.flag[1]
"""
    run, world = compiled([text], {"store": STORE}, ["run"], level), World({"store": STORE})
    assert run(world, "run", -1) == -1000 + 255
    assert run(world, "run", 2**31 + 513) == (-(2**31) + 513) * 1000 + 1
    assert world.structures["store"].arrays["halves"][:, 0].any() == np.False_


def test_a_parameter_takes_structures_of_any_layout_with_the_fields():
    text = """
def added(table: Table, key: int) -> int:
    if table.count == table.capacity:
        grow(table)
    table.key[table.count] = key
    table.count += 1
    return table.count

def moved(source: From, target: "To") -> None:
    for i in range(source.count):
        added(target, source.key[i] + 1)

def run(a: int) -> int:
    for i in range(a):
        added(first, i)
        added(second, i * i)
        added(third, -i)
    moved(first, second)
    moved(second, third)
    return added(third, 7) + first.capacity * 1000
"""
    agree(text, [("run", 0), ("run", 30)], {"first": STORE, "second": WIDER, "third": STORE})
    world = World({"first": STORE, "second": WIDER, "third": STORE})
    ir = translate([text], world.places, ["run"])
    assert ir.count("@added.") > ir.count("define internal { i64, i1 } @added.") == 2


def test_a_parameter_hides_a_structure_of_the_unit():
    text = """
def one(store: Any, other: int) -> int:
    return store.count + other
def run(other: int) -> int:
    store.count = 3
    other_.count = 40
    return one(other_, other)
"""
    assert agree(text, [("run", 2)], {"store": STORE, "other_": STORE, "other": STORE}) == [42]


def test_structures_without_fields_and_single_arrays():
    layouts = {"empty": Layout((), ()), "lone": Layout((), (("at", Column("a")),)), "numbers": Layout(("n", "m"), ())}

    class Fixed(Table):
        def grow(self):
            if self.layout.columns and not self.arrays:
                self.put("a", np.arange(5))

    text = """
def known(e: Empty, l: Lone, n: Numbers) -> int:
    n.n += 1
    return n.n + l.at[2]
def run() -> int:
    return known(empty, lone, numbers)
"""
    for level in LEVELS:
        assert compiled_with(Fixed, text, layouts, level) == 3


def compiled_with(kind, text, layouts, level):
    from ensue.engine.machine import build, load

    world = World(layouts, kind)
    return load(build(translate([text], world.places, ["run"]), level), ["run"])["run"](world.frame.address)


# --- calls back


GROWING = """
def added(table: Table, key: int) -> None:
    if table.count == table.capacity:
        grow(table)
    table.key[table.count] = key
    table.count += 1

def run(n: int) -> int:
    total = 0
    for i in range(n):
        before = store.key[0]
        added(store, i + 3)
        total += store.key[0] - before + store.key[store.count // 2]
        store.weight[store.count - 1] = float(total)
        other.left[i & 7] += store.weight[store.count - 1]
    return total
"""


def test_growth_while_a_loop_runs():
    agree(GROWING, [("run", 5), ("run", 300)], {"store": STORE, "other": WIDER})


class Refuses(Table):
    """Grows up to a limit."""

    def grow(self) -> None:
        if self.capacity >= 32:
            raise MemoryError("no more room")
        super().grow()


@pytest.mark.parametrize("level", LEVELS)
def test_an_exception_ends_the_run_at_once(level):
    layouts = {"store": STORE, "other": WIDER}
    run, world, same = compiled([GROWING], layouts, ["run"], level), World(layouts, Refuses), World(layouts, Refuses)
    with pytest.raises(MemoryError, match="no more room"):
        run(world, "run", 1000)
    with pytest.raises(MemoryError):
        interpreted([GROWING], same, "run", 1000)
    assert world.state() == same.state()  # nothing was written after it
    world.structures["store"].count = 0
    assert run(world, "run", 5) == interpreted([GROWING], _emptied(same), "run", 5)


def _emptied(world: World) -> World:
    world.structures["store"].count = 0
    return world


ASKING = """
def asked(table: Table, number: int) -> int:
    return ask(table, number) * 2

def run(n: int) -> int:
    total = 0
    for i in range(n):
        if i % 3 == 0 and ask(other, i) > 2:
            total += asked(store, i)
        store.count += 1
    return total
"""


def test_questions():
    def answer(structure, number):
        structure.key[1] = number
        return number + structure.count

    agree(ASKING, [("run", 4), ("run", 20)], {"store": STORE, "other": WIDER}, answer)


@pytest.mark.parametrize("level", LEVELS)
def test_the_first_exception_is_the_one_that_is_raised(level):
    asked = []

    def answer(structure, number):
        asked.append(number)
        if number == 6:
            raise KeyboardInterrupt
        return 5

    layouts = {"store": STORE, "other": WIDER}
    run, world = compiled([ASKING], layouts, ["run"], level), World(layouts)
    with pytest.raises(KeyboardInterrupt):
        run(world, "run", 50, ask=answer)
    assert asked == [0, 0, 3, 3, 6]
    assert world.frame.view[2] == 0
    with pytest.raises(LookupError):
        run(world, "run", 1)
    with pytest.raises(TypeError):
        run(world, "run", 1, ask=lambda structure: 0)


def test_an_answer_that_is_no_number():
    world = World({"store": STORE, "other": WIDER})
    run = compiled([ASKING], {"store": STORE, "other": WIDER}, ["run"], 0)
    with pytest.raises(TypeError):
        run(world, "run", 1, ask=lambda structure, number: "five")


@pytest.mark.parametrize("level", LEVELS)
def test_machine_code_runs_inside_a_call_back(level):
    text = """
def inner(n: int) -> int:
    while store.count < n:
        if store.count == store.capacity:
            grow(store)
        store.key[store.count] = n
        store.count += 1
    return store.count
def run(n: int) -> int:
    first = store.key[0] + n
    asked = ask(store, n)
    return asked + first * 1000 + store.key[0] + store.key[n - 1] * 100
"""
    run, world = compiled([text], {"store": STORE}, ["run", "inner"], level), World({"store": STORE})
    assert run(world, "run", 100, ask=lambda structure, n: run(world, "inner", n)) == 100 + 100_000 + 100 + 10_000


@pytest.mark.parametrize("level", LEVELS)
def test_an_exception_in_machine_code_inside_a_call_back(level):
    layouts = {"store": STORE, "other": WIDER}
    run, world = (
        compiled([ASKING + GROWING.replace("run", "inner")], layouts, ["run", "inner"], level),
        World(layouts, Refuses),
    )
    with pytest.raises(MemoryError):
        run(world, "run", 3, ask=lambda structure, n: run(world, "inner", 1000))
    assert world.structures["store"].count == 32


def test_memory_is_freed_with_the_last_reference():
    world = World({"store": STORE})
    calls = callbacks(world.frame, {one.base: one for one in world.structures.values()})
    left = weakref.ref(world.structures["store"])
    gc.disable()
    try:
        del world, calls
        assert left() is None
    finally:
        gc.enable()
