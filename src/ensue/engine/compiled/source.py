"""Putting a unit together: the function that goes through a batch step by step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ensue.engine.compiled.expressions import Code, NotCompiledError, kind_of
from ensue.engine.compiled.layout import Derived, Layout, Queue
from ensue.engine.compiled.rules import RuleWriter
from ensue.engine.compiled.unit import Arrival, Take, Unit
from ensue.engine.compiled.windows import WindowWriter
from ensue.engine.compiled.writing import Writer
from ensue.language import typed

MOST_ATTRIBUTES = 60

AHEAD = 1024
"""How many rows ahead keys are looked up: many lookups one after the other are faster than each in its turn."""


def write_unit(
    program: typed.Program, layers: Sequence[Sequence[int]], kept: Collection[str], strings: Callable[[str], int],
    check: bool = False, shared: bool = True,
) -> tuple[str, str, Layout]:  # fmt: skip
    """The source of a unit for some rules, by layers, and the layout of its state. `kept` types are wanted outside.

    There are two sources: the first is for given events without any null. With `check` there are none: what cannot be
    compiled is an error, and that is all that is wanted.
    """
    layout = Layout()
    for rule in (program.rules[i] for layer in layers for i in layer):
        if rule.event not in layout.derived:
            attributes = program.events[rule.event].attributes
            kinds = tuple(kind_of(type_) for type_ in attributes.values())
            if len(kinds) > MOST_ATTRIBUTES:
                raise NotCompiledError("an event of that many attributes")
            layout.derived[rule.event] = Derived(len(layout.derived), rule.event, kinds, rule.event in kept)
    for event in layout.derived:
        if sum(any(program.rules[i].event == event for i in layer) for layer in layers) > 1:
            raise NotCompiledError("an event that is derived in several layers")
    _Source(program, layers, strings, layout, True, False, shared).write()  # lays out what is needed
    if check:
        return "", "", layout
    layout.nulls.clear()
    short, known = True, -1
    while known < len(layout.nulls):
        known = len(layout.nulls)
        try:
            strict = _Source(program, layers, strings, layout, False, short, shared).write()
        except _LongWayError:
            short, known = False, -1
    return strict, _Source(program, layers, strings, layout, True, False, shared).write(), layout


def rule_names(program: typed.Program, rules: Iterable[int]) -> dict[int, str]:
    """What the parts of a state are called that belong to a rule: the same for the same rule in another program."""
    names: dict[int, str] = {}
    for i in rules:
        name = hashlib.sha256(repr(program.rules[i]).encode()).hexdigest()[:16]
        names[i] = f"{name}.{sum(known.startswith(name) for known in names.values())}"
    return names


class _Source:
    def __init__(
        self, program: typed.Program, layers: Sequence[Sequence[int]], strings: Callable[[str], int], layout: Layout,
        nulls: bool, short: bool, shared: bool,
    ) -> None:  # fmt: skip
        self.short = short
        ranks = {name: rank for rank, name in enumerate(program.events)}
        self.unit = Unit(program, ranks, layers, strings, layout, nulls, shared)
        self.unit.match = [{} for _ in layers]
        self.unit.prepare = [{} for _ in layers]
        self.unit.due = [[] for _ in layers]
        self.unit.later = [[] for _ in layers]
        self.phase = 0
        self.layout = layout
        names = rule_names(program, [i for layer in layers for i in layer])
        for layer, rules in enumerate(layers):
            self.unit.layer = layer
            for i in rules:
                rule = program.rules[i]
                if rule.body.window is not None:
                    WindowWriter(self.unit, rule, names[i]).write()
                else:
                    writer = RuleWriter(self.unit, rule, names[i])
                    writer.write()
                    self.unit.due[layer].append(writer.write_due)

    @property
    def w(self) -> Writer:
        return self.unit.writer

    def write(self) -> str:
        w, layout, unit = self.w, self.layout, self.unit
        w.depth = 1
        with w.block("while want < 0:"):
            with w.block("if phase == 0:"):
                self._next_time()
                self._look_ahead()
                self._expire()
                for derived in layout.derived.values():
                    if not derived.kept:
                        w.line(f"dh{derived.number} = np.int64(0)")
                    w.line(f"dl{derived.number} = dh{derived.number}")
                if self.short:
                    self._one_row()
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
        arguments = ["n", "until", "kind", "start", "end", *names, "ranks", "N", *layout.arrays()]
        w.line(f"def run({', '.join(arguments)}):")
        w.depth = 1
        self._prelude()
        w.lines.extend(body)
        for index, name in enumerate(layout.scalars()):
            w.line(f"N[{index}] = {name}")
        return "\n".join(w.lines) + "\n"

    def _prelude(self) -> None:
        w, layout = self.w, self.layout
        for index, name in enumerate(layout.scalars()):
            w.line(f"{name} = N[{index}]")
        w.line("want = np.int64(-1)")
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

    def _next_time(self) -> None:
        w = self.w
        w.line("some = i < n")
        w.line("t = end[i] if some else until")
        for queue in self.layout.queues.values():
            n = queue.number
            waits, first = f"qs{n} > 0", f"P{n}[0, 0]"
            if queue.ordered:
                waits, first = f"ql{n} < qh{n}", f"Q{n}[ql{n} & (Q{n}.shape[0] - 1), 0]"
            with w.block(f"if {waits} and (not some or {first} < t):"):
                w.line(f"t = {first}")
                w.line("some = True")
        with w.block("if not some or t > until:"):
            w.line("break")
        w.line("j = i")
        with w.block("while j < n and end[j] == t:"):
            w.line("j += 1")

    def _expire(self) -> None:
        w = self.w
        for store in self.layout.stores.values():
            n = store.number
            if store.bound is not None and store.ended_by is None:
                with w.block(f"while lo{n} < hi{n} and t - T{n}[lo{n} & (T{n}.shape[0] - 1), 3] > {store.bound}:"):
                    w.line(f"lo{n} += 1")

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

    def _room(self) -> None:
        """Leaves the function, before an event is taken, where an array may become full."""
        w = self.w
        for array, terms in self.unit.needs.items():
            need = _summed(terms)
            with w.block(f"if {_free(array, self.layout)} < {need}:"):
                w.line(f"want = np.int64({self.layout.arrays().index(array)})")
                w.line(f"need = np.int64({need})")
                w.line("break")

    def _beginning(self) -> dict[str, list[Take]]:
        """What is taken in of a step: what later steps look back at, and given events of derived types."""
        unit, layout = self.unit, self.layout
        events: dict[str, list[Take]] = {}
        for event, takes in unit.insert.items():
            if event not in layout.derived:
                events.setdefault(event, []).extend(take for _, take in takes)
        for event in layout.derived:
            events.setdefault(event, []).append(self._given)
        return events

    def _one_row(self) -> None:
        """The short way through a step with one event: no need to be able to leave it in the middle.

        All the room that it can take is looked for before it begins.
        """
        w, unit, layout = self.w, self.unit, self.layout
        beginning = self._beginning()
        matched = {e for takes in (*unit.match, *unit.prepare) for e in takes if e not in layout.derived}
        events = [e for e in dict.fromkeys([*beginning, *matched, *unit.close]) if e not in layout.derived]
        with w.block("if j == i + 1:"):
            w.line("k = kind[i]")
            word = "if"
            for event in events:
                before, w.lines = w.lines, []
                unit.needs = {}
                w.depth += 2
                self._whole_step(event, beginning.get(event, []))
                w.depth -= 2
                body, w.lines = w.lines, before
                with w.block(f"{word} k == {unit.ranks[event]}:"):
                    self._body(body)
                word = "elif"
            derived = " or ".join(f"k == {unit.ranks[event]}" for event in layout.derived)
            if word == "elif":
                with w.block(f"elif {derived}:"):
                    w.line("some = False")  # the long way
                if layout.queues:
                    due = " or ".join(f"({self._waits(queue)})" for queue in layout.queues.values())
                    with w.block(f"elif {due}:"):
                        w.line("some = False")
            with w.block("if want >= 0:"):
                w.line("break")
            with w.block("if some:"):
                w.line("i = j")
                w.line("continue")

    def _body(self, body: list[str]) -> None:
        """Lines that are reached if there is room for all they add."""
        w = self.w
        word = "if"
        for array, terms in self.unit.needs.items():
            need = _summed(terms)
            with w.block(f"{word} {_free(array, self.layout)} < {need}:"):
                w.line(f"want = np.int64({self.layout.arrays().index(array)})")
                w.line(f"need = np.int64({need})")
            word = "elif"
        if word == "if":
            with w.block("if True:"):
                w.lines.extend(body)
        else:
            with w.block("else:"):
                w.lines.extend(body or ["    " * w.depth + "pass"])

    def _waits(self, queue: Queue) -> str:
        n = queue.number
        if queue.ordered:
            return f"ql{n} < qh{n} and Q{n}[ql{n} & (Q{n}.shape[0] - 1), 0] <= t"
        return f"qs{n} > 0 and P{n}[0, 0] <= t"

    def _whole_step(self, event: str, beginning: list[Take]) -> None:
        """All that happens in a step whose one event is of a type."""
        w, unit, layout = self.w, self.unit, self.layout
        arrival = Arrival(event, "start[i]", self._input(event, "i"), "i", "i")
        self._take(beginning, arrival)
        for layer in range(len(unit.layers)):
            unit.layer = layer
            for takes in (unit.prepare[layer], unit.match[layer]):
                self._take(takes.get(event, []), arrival)
                for derived, those in takes.items():
                    if derived in layout.derived:
                        self._loop_over(derived, those)
            for buffer, go_on in unit.later[layer]:
                n, y = buffer.number, w.fresh("y")
                with w.block(f"for {y} in range(bh{n}):"), self._times(f"B{n}"):
                    go_on(y)
                w.line(f"bh{n} = np.int64(0)")
            for due in unit.due[layer]:
                found = due()
                if found is not None:
                    size = found[2]
                    with w.block(f"while {found[0]}:"):
                        unit.many.append(size)
                        found[1]()
                        unit.many.pop()
            for derived in dict.fromkeys(unit.program.rules[i].event for i in unit.layers[layer]):
                if f"D{layout.derived[derived].number}" in unit.needs:
                    self._settle(derived)
        self._take([take for _, take in unit.close.get(event, [])], arrival)
        for derived in layout.derived:
            for takes_of in (unit.close, unit.insert):
                if takes_of.get(derived):
                    self._loop_over(derived, [take for _, take in takes_of[derived]])

    def _loop_over(self, event: str, takes: Iterable[Take]) -> None:
        """A loop over what was derived in a step, if anything can have been."""
        n = self.layout.derived[event].number
        if f"D{n}" in self.unit.needs:
            y = self.w.fresh("y")
            with self.w.block(f"for {y} in range(dl{n}, dh{n}):"), self._times(f"D{n}"):
                self._take(takes, Arrival(event, f"D{n}[{y}, 0]", self._column(event, y), None, y))

    @contextmanager
    def _times(self, array: str) -> Iterator[None]:
        """Code that runs for each row that was added to an array."""
        terms = self.unit.needs.get(array, [])
        if sum(term != "1" for term in terms) > 3:
            raise _LongWayError
        self.unit.many.append(f"({_summed(terms)})" if terms else "0")
        if sum(many != "(1)" for many in self.unit.many) > 1:
            raise _LongWayError
        yield
        self.unit.many.pop()

    def _settle(self, event: str) -> None:
        n = self.layout.derived[event].number
        with self.w.block(f"if dh{n} - dl{n} > 1:"):
            self.w.line(f"dh{n} = settle(D{n}, E{n}, dl{n}, dh{n}, kd{n}, ranks)")

    def _look_ahead(self) -> None:
        """The slots of some rows ahead: rows come in order, so a key is known as soon as it has occurred."""
        w, unit, layout = self.w, self.unit, self.layout
        if not layout.slots:
            return
        with w.block("while a < j:"):
            for space in layout.spaces.values():
                slots = sum(
                    layout.space(tuple(unit.kind(event, x) for x in attributes)) is space
                    for event, attributes in layout.slots
                )
                if slots:
                    keys = f"KV{space.number}"
                    with w.block(f"if {_free(keys, layout)} < {slots * AHEAD}:"):
                        w.line(f"want = np.int64({layout.arrays().index(keys)})")
                        w.line(f"need = np.int64({slots * AHEAD})")
                        w.line("break")
            with w.block(f"for r in range(a, min(n, a + {AHEAD})):"):
                w.line("k = kind[r]")
                for (event, attributes), (number, insert) in layout.slots.items():
                    with w.block(f"if k == {unit.ranks[event]}:"):
                        kinds = tuple(unit.kind(event, attribute) for attribute in attributes)
                        space_of = layout.space(kinds)
                        assert space_of is not None
                        codes = [self._input(event)(attribute) for attribute in attributes]
                        slot = unit.lookup(kinds, codes, insert or space_of.grows, ahead=True)
                        w.line(f"S{number}[r] = {slot}")
            w.line(f"a = min(n, a + {AHEAD})")
        with w.block("if want >= 0:"):
            w.line("break")

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
            buffer, go_on = unit.later[layer][done]
            n = buffer.number
            self._restart("np.int64(0)")
            self._phase(f"r < bh{n}", "i", lambda go_on=go_on: go_on("r"))  # type: ignore[misc]
            w.line(f"bh{n} = np.int64(0)")
            done += 1
        for due in unit.due[layer]:
            found = due()
            if found is not None:
                self._phase(found[0], "i", found[1], step=False)
        events = dict.fromkeys(unit.program.rules[i].event for i in unit.layers[layer])
        for event in events:
            self._settle(event)

    def _restart(self, first: str) -> None:
        """Has the next phase begin elsewhere."""
        w = self.w
        with w.block(f"if phase == {self.phase}:"):
            w.line(f"r = {first}")
            self.phase += 1
            w.line(f"phase = {self.phase}")

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
                with w.block(f"{word} k == {unit.ranks[event]}:"):
                    self._take(takes, Arrival(event, "start[r]", self._input(event), "r", "r"))
                word = "elif"

        self._phase("r < j", "i", each)

    def _input(self, event: str, row: str = "r") -> Callable[[str], Code]:
        def attribute(name: str) -> Code:
            kind = self.unit.kind(event, name)
            index = self.layout.input(event, name, kind)
            return Code(f"c{index}[{row}]", f"(v{index}[{row}] != 0)" if self.unit.nulls else "True", kind)

        return attribute

    def _column(self, event: str, row: str) -> Callable[[str], Code]:
        """The attributes of a derived event of this step."""
        derived = self.layout.derived[event]
        n = derived.number
        names = list(self.unit.events[event].attributes)

        def attribute(name: str) -> Code:
            index = names.index(name)
            kind = derived.kinds[index]
            value = f"{'E' if kind == 'f' else 'D'}{n}[{row}, {3 + index}]"
            if not self.unit.nullable(event, name):
                return Code(value, "True", kind)
            return Code(value, f"((D{n}[{row}, 2] & np.int64({1 << index})) != 0)", kind)

        return attribute

    def _derived_rows(self, event: str, takes: Iterable[Take]) -> None:
        """Goes through what was derived in the step."""
        n = self.layout.derived[event].number
        self._restart(f"dl{n}")
        arrival = Arrival(event, f"D{n}[r, 0]", self._column(event, "r"), None, "r")
        self._phase(f"r < dh{n}", "i", lambda: self._take(takes, arrival))

    def _take(self, takes: Iterable[Take], arrival: Arrival) -> None:
        for take in takes:
            take(arrival)


def _summed(terms: list[str]) -> str:
    """The sum of terms, equal ones together."""
    counted = {term: terms.count(term) for term in dict.fromkeys(terms)}
    return " + ".join(term if times == 1 else f"{times} * {term}" for term, times in counted.items())


class _LongWayError(Exception):
    """What one event can lead to is too much to look for room beforehand."""


def _free(array: str, layout: Layout) -> str:
    """The room there is in an array."""
    letter, n = (array[:2], array[2:]) if array.startswith("KV") else (array[0], array[1:])
    match letter:
        case "T":
            store = next(s for s in layout.stores.values() if s.number == int(n))
            return f"T{n}.shape[0] - {store.size}"
        case "D":
            return f"D{n}.shape[0] - dh{n}"
        case "B":
            return f"B{n}.shape[0] - bh{n}"
        case "Q":
            ordered = next(q.ordered for q in layout.queues.values() if q.number == int(n))
            return f"Q{n}.shape[0] - (qh{n} - ql{n})" if ordered else f"Q{n}.shape[0] - qh{n}"
        case "W":
            return f"W{n}.shape[0] - wr{n}"
        case _:
            return f"KV{n}.shape[0] - kc{n}"
