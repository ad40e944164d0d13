"""A unit of generated code: one function over a batch of events, for rules that belong together.

for each step (one end time, of events or of what waits for a time)
    forget what can no longer matter
    take in the events of the step that later steps look back at
    layer after layer: match events, what earlier layers derived, and what is due; put in order what was derived
    take in what was derived
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from ensue.engine.compiled.expressions import Code, Expressions, NotCompiledError, kind_of
from ensue.engine.compiled.layout import Buffer, Derived, Layout, Store
from ensue.engine.compiled.needs import summed
from ensue.engine.compiled.writing import Writer, all_of
from ensue.language import typed

Source = Callable[[str], Code]
"""The attributes of an event at hand, by name; its ``start`` and ``end`` are those of the row."""


@dataclass(frozen=True)
class Arrival:
    """An event at hand in generated code: a row of the input, or one that was derived in this step."""

    event: str
    start: str
    attribute: Source
    row: str | None
    """The number of the input row, which slots are kept for."""
    index: str = ""
    """What tells it from others of its type in the step."""


class Derivation(Protocol):
    """What derives events: a rule, or what many rules do with what they have in common."""

    @property
    def event(self) -> str: ...


Take = Callable[[Arrival], None]
"""Writes what happens with an event at hand."""


@dataclass(frozen=True)
class Due:
    """What happens when something is due: source for whether it is, what is written then, and how often at most."""

    condition: str
    write: Callable[[], None]
    times: str


@dataclass(frozen=True)
class Later:
    """What is done with instances of a pattern that were set aside; `size` is that of the pattern."""

    buffer: Buffer
    size: int
    go_on: Callable[[str], None]


@dataclass
class Unit:
    """What is known while the source of a unit is written."""

    rules: Sequence[Derivation]
    events: Mapping[str, typed.EventType]
    ranks: Mapping[str, int]
    layers: Sequence[Sequence[int]]
    strings: Callable[[str], int]
    layout: Layout
    nulls: bool = True
    """Whether attributes of given events may be null."""
    shared: bool = True
    """Whether rules share what they store of the same events."""
    writer: Writer = field(default_factory=Writer)
    layer: int = 0
    insert: dict[str, list[tuple[str, Take]]] = field(default_factory=dict)
    """By event: what is taken in when a step begins (input) or when it ends (derived), each kind of thing once."""
    close: dict[str, list[tuple[str, Take]]] = field(default_factory=dict)
    """By event: what is done when all of a step has been matched."""
    match: list[dict[str, list[Take]]] = field(init=False)
    """By layer and event: what is matched."""
    prepare: list[dict[str, list[Take]]] = field(init=False)
    """By layer and event: what is done with all events of a step before any is matched."""
    due: list[list[Callable[[], Due | None]]] = field(init=False)
    """By layer: what becomes due."""
    later: list[list[Later]] = field(init=False)
    """By layer: what is done with instances that were set aside, the smallest patterns first."""
    many: list[str] = field(default_factory=list)
    """How often the code at hand may run for one event: the size of the store that it goes through."""
    likely: dict[int, str] = field(default_factory=dict)
    """By space: source for the slot of a key that is likely to be looked for, that of the event the step is about."""
    needs: dict[str, list[str]] = field(default_factory=dict)
    """How much room each array must have before an event is taken."""

    def __post_init__(self) -> None:
        self.match = [{} for _ in self.layers]
        self.prepare = [{} for _ in self.layers]
        self.due = [[] for _ in self.layers]
        self.later = [[] for _ in self.layers]

    @property
    def expressions(self) -> Expressions:
        return Expressions(self.writer, self.strings, self.layout.knob, self._asked)

    def rank(self, event: str) -> str:
        """Source for the rank of a type that is given."""
        return self.layout.knob(("rank", event), self.ranks[event])

    def bound(self, store: Store) -> str:
        """Source for how long a row of a store can matter."""
        assert store.bound is not None
        return self.layout.knob(("bound", store.number), store.bound)

    def layer_of(self, event: str) -> int | None:
        """The layer that derives an event, None if it is only given."""
        for layer, rules in enumerate(self.layers):
            if any(self.rules[i].event == event for i in rules):
                return layer
        return None

    def taken_in(self, event: str, what: str, take: Take) -> None:
        """Has each event of a type taken in once for what later steps look back at."""
        known = self.insert.setdefault(event, [])
        if all(name != what for name, _ in known):
            known.append((what, take))

    def closed(self, event: str, what: str, take: Take) -> None:
        """Has something done once with each event of a type when the step has been matched."""
        known = self.close.setdefault(event, [])
        if all(name != what for name, _ in known):
            known.append((what, take))

    def matched(self, event: str, take: Take) -> None:
        """Has each event of a type matched in the layer at hand."""
        self.match[self.layer].setdefault(event, []).append(take)

    def prepared(self, event: str, take: Take) -> None:
        """Has each event of a type looked at before any is matched in the layer at hand."""
        self.prepare[self.layer].setdefault(event, []).append(take)

    def set_aside(self, buffer: Buffer, size: int, go_on: Callable[[str], None]) -> None:
        """Has something done with what was set aside; that may set aside more, of larger patterns."""
        known = self.later[self.layer]
        if all(each.buffer is not buffer for each in known):
            insort(known, Later(buffer, size, go_on), key=lambda each: each.size)

    def require(self, array: str) -> None:
        """Notes that the code at hand adds to an array."""
        self.needs.setdefault(array, []).append(" * ".join(self.many) or "1")

    def most_in(self, array: str, size: str) -> str:
        """How many rows there are at most in an array of a size, with those that the event at hand has added."""
        added = self.needs.get(array)
        return f"({size} + {summed(added)})" if added else size

    def take(self, takes: Iterable[Take], arrival: Arrival) -> None:
        """Writes all that happens with an event at hand."""
        for take in takes:
            take(arrival)

    def derived_in(self, layer: int) -> Iterable[str]:
        """The types that a layer derives, each once."""
        return dict.fromkeys(self.rules[i].event for i in self.layers[layer])

    @contextmanager
    def repeated(self, times: str) -> Iterator[None]:
        """Code that may run so many times for one event."""
        self.many.append(times)
        yield
        self.many.pop()

    # --- rows

    def known(self, slot: str | None) -> AbstractContextManager[None]:
        """Code for a key that has a slot; where there is no key, there is one slot."""
        return self.writer.when("True" if slot is None else f"{slot} >= 0")

    @contextmanager
    def newest_first(self, store: Store, slot: str | None) -> Iterator[tuple[str, str]]:
        """A loop over the rows of a key: names for the number of a row, which the loop moves on, and for its place."""
        w, n = self.writer, store.number
        at = w.let("p", f"H{n}[{slot or '0'}]")
        with w.block(f"while {at} >= lo{n}:"):
            yield at, w.let("q", f"{at} & (T{n}.shape[0] - 1)")

    def stop_where_over(self, store: Store, row: str) -> None:
        """Leaves a loop over the rows of a key where they can no longer matter: such rows go now and then only."""
        if store.bound is not None and store.ended_by is None:
            with self.writer.block(f"if t - T{store.number}[{row}, 3] > {self.bound(store)}:"):
                self.writer.line("break")

    def slot(self, arrival: Arrival, attributes: tuple[str, ...], insert: bool) -> str | None:
        """The slot of an event's key, None where it has no key; -1 where a value is null or unknown."""
        if not attributes:
            return None
        kinds = tuple(self.kind(arrival.event, a) for a in attributes)
        if arrival.row is not None:
            number, old = self.layout.slots.get((arrival.event, attributes), (len(self.layout.slots), False))
            self.layout.slots[arrival.event, attributes] = (number, old or insert)
            return self.writer.let("g", f"S{number}[{arrival.row}]")
        return self.lookup(kinds, [arrival.attribute(a) for a in attributes], insert)

    def lookup(
        self, kinds: tuple[str, ...], codes: Sequence[Code], insert: bool, nulls: bool = False, ahead: bool = False
    ) -> str:
        """A name for the slot of a key. With `nulls` a null is a value like others, as it is in groups."""
        w, space = self.writer, self.layout.space(kinds)
        assert space is not None
        slot = w.let("g", "np.int64(-1)")
        valid = [] if nulls else [c.valid for c in codes if c.valid != "True"]
        if not nulls:
            valid += [f"{c.value} == {c.value}" for c in codes if c.kind == "f"]
        with w.when(" and ".join(valid) or "True"):
            key = [self._bits(code) for code in codes]
            parts = f"{key[0]}" if len(key) == 1 else f"({', '.join(key)})"
            table, keys, count = f"KT{space.number}", f"KV{space.number}", f"kc{space.number}"
            one = "1" if len(key) == 1 else ""
            unlike = "True"
            if space.number in self.likely:
                w.line(f"{slot} = {self.likely[space.number]}")
                unlike = " or ".join([f"{slot} < 0", *(f"{keys}[{slot}, {i}] != {k}" for i, k in enumerate(key))])
            with w.when(unlike):
                if not insert:
                    w.line(f"{slot} = find{one}({table}, {keys}, {parts})")
                else:
                    w.line(f"{slot} = {'slot1' if one else 'slot_of'}({table}, {keys}, {count}, {parts})")
                    if not ahead:
                        self.require(keys)
                        space.grows = True
                    with w.block(f"if {slot} == {count}:"):
                        w.line(f"{count} += 1")
        return slot

    def _bits(self, code: Code) -> str:
        """A value as it is in a key."""
        if code.kind != "f":
            return code.value if code.kind != "b" else f"np.int64({code.value})"
        w = self.writer
        w.line(f"BF[0] = as_key({code.value})")
        return w.let("b", "BI[0]")

    def _asked(self, predicate: str, terms: Sequence[Code | None]) -> Code:
        """Whether a static predicate holds: never of a null, nor of what is not a number."""
        codes = [code for code in terms if code is not None]
        ask = self.layout.ask(predicate, tuple(None if code is None else code.kind for code in terms))
        known = [code.valid for code in codes] + [f"{code.value} == {code.value}" for code in codes if code.kind == "f"]
        key = [self._bits(code) if code.kind == "f" else f"np.int64({code.value})" for code in codes] or ["np.int64(0)"]
        answer = f"asked(A{ask.number}, ({', '.join(key)},))"
        return Code(f"({all_of(*known, answer)})", "True", "b")

    def kind(self, event: str, attribute: str) -> str:
        types = self.events[event].attributes
        if attribute not in types:
            raise NotCompiledError(f"the attribute {attribute} of {event}, which is not declared")
        return kind_of(types[attribute])

    def nullable(self, event: str, attribute: str) -> bool:
        """Whether an attribute may be null."""
        return self.nulls or (event, attribute) in self.layout.nulls

    def put(self, store: Store, slot: str | None, start: str, end: str, values: Sequence[tuple[Code, int]]) -> None:
        """Adds a row to a store."""
        w, n = self.writer, store.number
        self.require(f"T{n}")
        place = slot or "0"
        if store.ended_by is not None:
            self._put_in_place(store, place, start, end, values)
            return
        at = w.let("q", f"hi{n} & (T{n}.shape[0] - 1)")
        w.line(f"T{n}[{at}, 0] = H{n}[{place}]")
        w.line(f"T{n}[{at}, 1] = {place}")
        w.line(f"T{n}[{at}, 2] = {start}")
        w.line(f"T{n}[{at}, 3] = {end}")
        self.write(f"T{n}", f"F{n}", at, 4, values)
        w.line(f"H{n}[{place}] = hi{n}")
        w.line(f"hi{n} += 1")

    def _put_in_place(self, store: Store, place: str, start: str, end: str, values: Sequence[tuple[Code, int]]) -> None:
        """Adds a row to a store whose rows are ended by something: in the place of one that was, if there is one."""
        w, n = self.writer, store.number
        assert store.ended_by is not None
        at, older = w.let("q", f"H{n}[{place}]"), w.let("p", "np.int64(-1)")
        over = f"L{store.ended_by.number}[{place}]"
        with w.block(f"if {at} >= 0 and T{n}[{at}, 3] < {over}:"):  # the newest was ended: so were all
            w.line(f"{older} = T{n}[{at}, 0]")
            w.line(f"T{n}[{at}, 0] = -1")
        with w.block("else:"):
            last = w.let("n", at)
            with w.block(f"while {last} >= 0:"):
                w.line(f"{older} = T{n}[{last}, 0]")
                with w.block(f"if {older} >= 0 and T{n}[{older}, 3] < {over}:"):
                    w.line(f"T{n}[{last}, 0] = -1")
                    w.line("break")
                w.line(f"{last} = {older}")
            self.free_row(at, f"T{n}", f"fr{n}", f"hi{n}", counted=f"fc{n}")
            w.line(f"T{n}[{at}, 0] = H{n}[{place}]")
            w.line(f"T{n}[{at}, 1] = {place}")
            w.line(f"H{n}[{place}] = {at}")
        with w.block(f"while {older} >= 0:"):
            free = w.let("n", older)
            w.line(f"{older} = T{n}[{free}, 0]")
            w.line(f"T{n}[{free}, 0] = fr{n}")
            w.line(f"fr{n} = {free} + 1")
            w.line(f"fc{n} += 1")
        w.line(f"T{n}[{at}, 2] = {start}")
        w.line(f"T{n}[{at}, 3] = {end}")
        self.write(f"T{n}", f"F{n}", at, 4, values)

    def free_row(self, at: str, rows: str, free: str, used: str, counted: str | None = None) -> None:
        """Gives `at` a row that is free: one of the chain that begins at `free`, or one that was never used.

        In the chain a row is its number and one, and 0 the end; `counted` is how many there are, where that is known.
        """
        w = self.writer
        with w.block(f"if {free} > 0:"):
            w.line(f"{at} = {free} - 1")
            w.line(f"{free} = {rows}[{at}, 0]")
            if counted is not None:
                w.line(f"{counted} -= 1")
        with w.block("else:"):
            w.line(f"{at} = {used}")
            w.line(f"{used} += 1")

    def write(
        self, rows: str, floats: str, at: str, flags: int, values: Sequence[tuple[Code, int]], base: int = 5
    ) -> None:
        """Values into a row, with a flag for each that is there."""
        w = self.writer
        always = sum(1 << (column - base) for code, column in values if code.valid == "True")
        sometimes = [(code, column) for code, column in values if code.valid not in ("True", "False")]
        if not sometimes:
            w.line(f"{rows}[{at}, {flags}] = np.int64({always})")
        else:
            mask = w.let("m", f"np.int64({always})")
            for code, column in sometimes:
                with w.block(f"if {code.valid}:"):
                    w.line(f"{mask} |= np.int64({1 << (column - base)})")
            w.line(f"{rows}[{at}, {flags}] = {mask}")
        for code, column in values:
            w.line(f"{floats if code.kind == 'f' else rows}[{at}, {column}] = {code.value}")

    def read(self, rows: str, floats: str, at: str, flags: str | None, column: int, kind: str, base: int = 5) -> Code:
        """A value of a row."""
        w = self.writer
        value = w.let("x", f"{floats if kind == 'f' else rows}[{at}, {column}]")
        if flags is None:
            return Code(value, "True", kind)
        return Code(value, w.let("k", f"({flags} & np.int64({1 << (column - base)})) != 0"), kind)

    def derive(self, derived: Derived, start: str, values: Sequence[Code]) -> None:
        """Adds a derived event that ends now. Equal values are the same in it, so -0.0 is 0.0."""
        w, n = self.writer, derived.number
        values = [Code(f"({code.value} + 0.0)", code.valid, "f") if code.kind == "f" else code for code in values]
        self.require(f"D{n}")
        for name, code in zip(self.events[derived.event].attributes, values, strict=True):
            if code.valid != "True":
                self.layout.nulls.add((derived.event, name))
        w.line(f"D{n}[dh{n}, 0] = {start}")
        w.line(f"D{n}[dh{n}, 1] = t")
        self.write(f"D{n}", f"E{n}", f"dh{n}", 2, [(code, 3 + i) for i, code in enumerate(values)], base=3)
        w.line(f"dh{n} += 1")

    def settle(self, event: str) -> None:
        """Puts in order what was derived of a type in this step, alike ones once."""
        n = self.layout.derived[event].number
        with self.writer.block(f"if dh{n} - dl{n} > 1:"):
            self.writer.line(f"dh{n} = settle(D{n}, E{n}, dl{n}, dh{n}, kd{n}, ranks)")
