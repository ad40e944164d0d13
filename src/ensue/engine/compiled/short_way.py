"""The short way through a step with one event: no need to be able to leave it in the middle.

All the room that it can take is looked for before it begins. Where there is no telling how much that is, there is no
short way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ensue.engine.compiled import arrivals
from ensue.engine.compiled.needs import ask_for, summed, wanting
from ensue.engine.compiled.unit import Take, Unit

MOST_ROWS = 1 << 20
"""For how many rows room is looked for at once. An event that may lead to more goes the long way, piece by piece."""


class LongWayError(Exception):
    """What one event can lead to is too much to look for room beforehand."""


def short_way(unit: Unit, beginning: Mapping[str, Sequence[Take]]) -> None:
    """The whole of a step with one event, if it is of a type that is only given; `beginning` is taken in first."""
    w, layout = unit.writer, unit.layout
    matched = [e for takes in (*unit.match, *unit.prepare) for e in takes]
    events = [e for e in dict.fromkeys([*beginning, *matched, *unit.close]) if e not in layout.derived]
    with w.block("if j == i + 1:"):
        w.line("k = kind[i]")
        word = "if"
        for event in events:
            before, w.lines = w.lines, []
            unit.needs = {}
            w.depth += 2
            _step(unit, event, beginning.get(event, []))
            w.depth -= 2
            body, w.lines = w.lines, before
            with w.block(f"{word} k == {unit.rank(event)}:"):
                _if_there_is_room(unit, body)
            word = "elif"
        if events:
            _long_way_for(unit)
        with w.block("if want >= 0:"):
            w.line("break")
        with w.block("if some:"):
            w.line("i = j")
            w.line("continue")


def _long_way_for(unit: Unit) -> None:
    """Leaves a given event of a derived type, and one at whose time something is due, to the long way."""
    w, layout = unit.writer, unit.layout
    conditions = [
        " or ".join(f"k == {unit.rank(event)}" for event in layout.derived if event in unit.ranks),
        " or ".join(f"({queue.due})" for queue in layout.queues.values()),
    ]
    for condition in filter(None, conditions):
        with w.block(f"elif {condition}:"):
            w.line("some = False")


def _if_there_is_room(unit: Unit, body: list[str]) -> None:
    """Lines that are reached if there is room for all they add."""
    w = unit.writer
    word = "if"
    for array, terms in unit.needs.items():
        need = summed(terms)
        with w.block(f"{word} {wanting(unit.layout, array, need)}:"):
            if any(" * " in term for term in terms):  # as many as there are pairs in two stores
                with w.block(f"if {need} > {MOST_ROWS}:"):
                    w.line("some = False")
                with w.block("else:"):
                    ask_for(w, unit.layout, array, need)
            else:
                ask_for(w, unit.layout, array, need)
        word = "elif"
    with w.block("if True:" if word == "if" else "else:"):
        w.lines.extend(body)


def _step(unit: Unit, event: str, beginning: Iterable[Take]) -> None:
    """All that happens in a step whose one event is of a type."""
    w, layout = unit.writer, unit.layout
    arrival = arrivals.given(unit, event, "i")
    unit.likely = _slots_of(unit, event)
    unit.take(beginning, arrival)
    for layer in range(len(unit.layers)):
        unit.layer = layer
        for takes in (unit.prepare[layer], unit.match[layer]):
            unit.take(takes.get(event, []), arrival)
            for derived, those in takes.items():
                if derived in layout.derived:
                    _loop_over(unit, derived, those)
        for later in unit.later[layer]:
            n, y = later.buffer.number, w.fresh("y")
            with w.block(f"for {y} in range(bh{n}):"), _for_each_added(unit, f"B{n}"):
                later.go_on(y)
            w.line(f"bh{n} = np.int64(0)")
        for find_due in unit.due[layer]:
            due = find_due()
            if due is not None:
                with w.block(f"while {due.condition}:"), unit.repeated(due.times):
                    due.write()
        for derived in unit.derived_in(layer):
            if f"D{layout.derived[derived].number}" in unit.needs:
                unit.settle(derived)
    unit.take([take for _, take in unit.close.get(event, [])], arrival)
    for derived in layout.derived:
        for takes_of in (unit.close, unit.insert):
            if takes_of.get(derived):
                _loop_over(unit, derived, [take for _, take in takes_of[derived]])
    unit.likely = {}


def _slots_of(unit: Unit, event: str) -> dict[int, str]:
    """The slots of an event's keys that were looked up ahead, by space: what it leads to often has the same key."""
    slots: dict[int, str] = {}
    for (name, attributes), (number, _) in unit.layout.slots.items():
        space = unit.layout.space(tuple(unit.kind(name, attribute) for attribute in attributes))
        if name == event and space is not None:
            slots.setdefault(space.number, f"S{number}[i]")
    return slots


def _loop_over(unit: Unit, event: str, takes: Iterable[Take]) -> None:
    """A loop over what was derived in a step, if anything can have been."""
    n = unit.layout.derived[event].number
    if f"D{n}" in unit.needs:
        y = unit.writer.fresh("y")
        with unit.writer.block(f"for {y} in range(dl{n}, dh{n}):"), _for_each_added(unit, f"D{n}"):
            unit.take(takes, arrivals.derived(unit, event, y))


@contextmanager
def _for_each_added(unit: Unit, array: str) -> Iterator[None]:
    """Code that runs for each row that was added to an array."""
    terms = unit.needs.get(array, [])
    if sum(term != "1" for term in terms) > 3:
        raise LongWayError
    with unit.repeated(f"({summed(terms)})" if terms else "0"):
        if sum(many != "(1)" for many in unit.many) > 1:
            raise LongWayError
        yield
