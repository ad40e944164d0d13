"""The function that generated code is: it goes through a batch step by step, and can be left where room is wanting.

A step has phases, each of which goes through events one by one. Before an event is taken there must be room for all
that it adds; if not, the function says what is wanting and returns, and goes on in the same place when it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ensue.engine.compiled import arrivals
from ensue.engine.compiled.ahead import look_ahead, scratch
from ensue.engine.compiled.layout import Layout
from ensue.engine.compiled.needs import ask_for, summed, wanting
from ensue.engine.compiled.short_way import short_way
from ensue.engine.compiled.unit import Arrival, Take, Unit
from ensue.engine.compiled.writing import Writer


def write_steps(unit: Unit, short: bool) -> str:
    """The source of a unit; `short` has steps of one event go the short way."""
    return _Steps(unit).write(short)


class _Steps:
    """Writes a step; `phase` is the number of the one at hand."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.layout = unit.layout
        self.phase = 0

    @property
    def w(self) -> Writer:
        return self.unit.writer

    def write(self, short: bool) -> str:
        w, layout, unit = self.w, self.layout, self.unit
        w.depth = 1
        with w.block("while want < 0:"):
            with w.block("if phase == 0:"):
                self._next_time()
                look_ahead(unit)
                for derived in layout.derived.values():
                    if not derived.kept:
                        w.line(f"dh{derived.number} = np.int64(0)")
                    w.line(f"dl{derived.number} = dh{derived.number}")
                if short:
                    short_way(unit, self._beginning())
                w.line("phase = 1")
                w.line("r = i")
            self.phase = 1
            self._rows(self._beginning())
            for layer in range(len(unit.layers)):
                unit.layer = layer
                self._layer(layer)
            self._end()
            with w.block(f"if phase == {self.phase}:"):
                w.line("phase = 0")
                w.line("i = j")
        body, w.lines = w.lines, []
        w.depth = 0
        names = [f"{letter}{i}" for i, _ in layout.inputs.values() for letter in "cv"]
        arguments = ["n", "until", "kind", "start", "end", *names, "ranks", *layout.stated(), "N", *layout.arrays()]
        w.line(f"def run({', '.join(arguments)}):")
        w.depth = 1
        _prelude(w, layout)
        scratch(unit)
        w.lines.extend(body)
        for index, name in enumerate(layout.scalars()):
            w.line(f"N[{index}] = {name}")
        return "\n".join(w.lines) + "\n"

    def _next_time(self) -> None:
        w = self.w
        w.line("some = i < n")
        w.line("t = end[i] if some else until")
        for queue in self.layout.queues.values():
            with w.block(f"if {queue.waits} and (not some or {queue.first} < t):"):
                w.line(f"t = {queue.first}")
                w.line("some = True")
        with w.block("if not some or t > until:"):
            w.line("break")
        w.line("j = i")
        with w.block("while j < n and end[j] == t:"):
            w.line("j += 1")

    def _phase(self, condition: str, first: str, each: Callable[[], None], step: bool = True) -> None:
        """A part of a step that goes through events one by one, and can be left where room is wanting."""
        w, unit = self.w, self.unit
        with w.block(f"if phase == {self.phase}:"):
            with w.block(f"while {condition}:"):
                before, w.lines = w.lines, []
                unit.needs = {}
                each()
                body, w.lines = w.lines, before
                self._room()
                w.lines.extend(body)
                if step:
                    w.line("r += 1")
            with w.block("if want >= 0:"):
                w.line("break")
            self.phase += 1
            w.line(f"phase = {self.phase}")
            w.line(f"r = {first}")

    def _restart(self, first: str) -> None:
        """Has the next phase begin elsewhere."""
        w = self.w
        with w.block(f"if phase == {self.phase}:"):
            w.line(f"r = {first}")
            self.phase += 1
            w.line(f"phase = {self.phase}")

    def _room(self) -> None:
        """Leaves the function, before an event is taken, where an array may become full."""
        w = self.w
        for array, terms in self.unit.needs.items():
            need = summed(terms)
            with w.block(f"if {wanting(self.layout, array, need)}:"):
                ask_for(w, self.layout, array, need)
                w.line("break")

    def _beginning(self) -> dict[str, list[Take]]:
        """What is taken in of a step: what later steps look back at, and given events of derived types."""
        unit, layout = self.unit, self.layout
        events: dict[str, list[Take]] = {}
        for event, takes in unit.insert.items():
            if event not in layout.derived:
                events.setdefault(event, []).extend(take for _, take in takes)
        for event in layout.derived:
            if event in unit.ranks:
                events.setdefault(event, []).append(self._given)
        return events

    def _given(self, arrival: Arrival) -> None:
        """A given event of a type that is derived, too: it takes its place among these, and is marked."""
        derived = self.layout.derived[arrival.event]
        names = list(self.unit.events[arrival.event].attributes)
        self.unit.derive(derived, arrival.start, [arrival.attribute(name) for name in names])
        self.w.line(f"D{derived.number}[dh{derived.number} - 1, 2] |= GIVEN")

    def _layer(self, layer: int) -> None:
        w, unit, layout = self.w, self.unit, self.layout
        for takes_by_event in (unit.prepare[layer], unit.match[layer]):
            self._rows({e: t for e, t in takes_by_event.items() if e not in layout.derived})
            for event, takes in takes_by_event.items():
                if event in layout.derived:
                    self._derived_rows(event, takes)
        done = 0
        while done < len(unit.later[layer]):  # what is set aside may set aside more
            later = unit.later[layer][done]
            n = later.buffer.number
            self._restart("np.int64(0)")
            self._phase(f"r < bh{n}", "i", partial(later.go_on, "r"))
            w.line(f"bh{n} = np.int64(0)")
            done += 1
        for find_due in unit.due[layer]:
            due = find_due()
            if due is not None:
                self._phase(due.condition, "i", due.write, step=False)
        for event in unit.derived_in(layer):
            unit.settle(event)

    def _end(self) -> None:
        """Takes in what was derived in the step, for later ones to look back at."""
        close = self.unit.close
        self._rows({e: [take for _, take in t] for e, t in close.items() if e not in self.layout.derived})
        for event, takes in close.items():
            if event in self.layout.derived:
                self._derived_rows(event, [take for _, take in takes])
        for event, takes in self.unit.insert.items():
            if event in self.layout.derived:
                self._derived_rows(event, [take for _, take in takes])

    def _rows(self, events: dict[str, list[Take]]) -> None:
        """Goes through the input rows of the step."""
        if not events:
            return
        w, unit = self.w, self.unit

        def each() -> None:
            w.line("k = kind[r]")
            word = "if"
            for event, takes in events.items():
                with w.block(f"{word} k == {unit.rank(event)}:"):
                    unit.take(takes, arrivals.given(unit, event))
                word = "elif"

        self._phase("r < j", "i", each)

    def _derived_rows(self, event: str, takes: Iterable[Take]) -> None:
        """Goes through what was derived in the step."""
        n = self.layout.derived[event].number
        self._restart(f"dl{n}")
        self._phase(f"r < dh{n}", "i", lambda: self.unit.take(takes, arrivals.derived(self.unit, event)))


def _prelude(w: Writer, layout: Layout) -> None:
    """The numbers by name, arrays as floats, and what else is needed throughout."""
    for index, name in enumerate(layout.scalars()):
        w.line(f"{name} = N[{index}]")
    w.line("want = np.int64(-1)")
    w.line("ZF = Z.view(np.float64)")
    for number, kind in layout.knobs.values():
        w.line(f"z{number} = {'ZF' if kind == 'f' else 'Z'}[{number}]")
    for members in layout.members.values():
        w.line(f"MF{members.number} = M{members.number}.view(np.float64)")
    for store in layout.stores.values():
        w.line(f"F{store.number} = T{store.number}.view(np.float64)")
    for derived in layout.derived.values():
        n = derived.number
        w.line(f"E{n} = D{n}.view(np.float64)")
        codes = [{"f": 1, "s": 2}.get(kind, 0) for kind in derived.kinds]
        w.line(f"kd{n} = np.zeros({len(codes)}, np.int64)")
        for index, code in enumerate(codes):
            if code == 1 or (code == 2 and layout.ordered):
                w.line(f"kd{n}[{index}] = {code}")
    for queue in layout.queues.values():
        w.line(f"R{queue.number} = Q{queue.number}.view(np.float64)")
    for buffer in layout.buffers.values():
        w.line(f"BG{buffer.number} = B{buffer.number}.view(np.float64)")
    for groups in layout.groups.values():
        w.line(f"V{groups.number} = W{groups.number}.view(np.float64)")
        w.line(f"GF{groups.number} = G{groups.number}.view(np.float64)")
    w.line("BI = np.zeros(1, np.int64)")
    w.line("BF = BI.view(np.float64)")
