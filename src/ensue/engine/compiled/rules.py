"""The source of a rule: what happens when an event arrives, from its atom up to the head.

Each pairing looks up the other side's instances of its key and goes on with those that fit; then it stores its own side,
unless nothing that comes later can fit it. What must hold is checked as soon as all it needs is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ensue.engine.compiled.aggregates import Walk, aggregates_in
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError
from ensue.engine.compiled.layout import Field, Mark, Queue, Store
from ensue.engine.compiled.unit import Arrival, Unit
from ensue.engine.compiled.writing import all_of
from ensue.engine.network.lifetimes import distances_of, lifetime, since
from ensue.language import typed
from ensue.language.limits import EARLIEST
from ensue.language.walk import has_aggregate
from ensue.temporal.constraints import BODY, constrain

Env = Mapping[Field, Code]


def time(value: str) -> Code:
    return Code(value, "True", "i")


@dataclass(frozen=True)
class Inner:
    """A pattern that is negated, gathered or collected: one atom, and conditions on it."""

    atom: typed.Atom
    conditions: tuple[typed.Expression, ...]


def inner_of(pattern: typed.Pattern) -> Inner:
    match pattern:
        case typed.Atom():
            return Inner(pattern, ())
        case typed.Nested(body=typed.Body(pattern=typed.Atom() as atom) as body, label=None):
            if body == typed.Body(atom, on=body.on, where=body.where):
                return Inner(atom, (*body.on, *body.where))
    raise NotCompiledError("something composite that is negated, gathered or collected")


def bindings(atom: typed.Atom) -> dict[str, str]:
    """The attribute that gives each variable of an atom."""
    found: dict[str, str] = {}
    for attribute, term in atom.fields:
        if isinstance(term, typed.Variable):
            found.setdefault(term.name, attribute)
    return found


@dataclass
class RuleWriter:
    """Writes one rule into a unit."""

    unit: Unit
    rule: typed.Rule
    number: str
    """What its part of the state is called."""
    parents: dict[int, tuple[typed.Pattern, int]] = field(default_factory=dict)
    atoms: dict[int, typed.Atom] = field(default_factory=dict)
    nodes: dict[int, typed.Pattern] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Field] = field(default_factory=dict)

    def __post_init__(self) -> None:
        body = self.rule.body
        if body.restricted or body.lookups or body.pattern is None or body.window is not None:
            raise NotCompiledError("a policy or a table")
        self.body = body
        self._register(body.pattern)
        for timer in body.timers:
            if timer.label is not None:
                self.labels[timer.label] = timer.id
        self.selecting = any(isinstance(n, typed.Pair) and n.left_context is not None for n in self.nodes.values())
        if self.selecting and (body.timers or body.related):
            raise NotCompiledError("a context beside a timer or a relation between names")
        self.distances = constrain(body, self.unit.events)
        self.wanted = set(self._wanted())
        self.checked: dict[int, list[typed.Expression]] = {}
        self._place_conditions()

    @property
    def _apart(self) -> str:
        """What tells the stores of this rule from those of others, where rules do not share them."""
        return "" if self.unit.shared else self.number

    # --- what there is

    def _register(self, pattern: typed.Pattern) -> None:
        self.nodes[pattern.id] = pattern
        match pattern:
            case typed.Atom():
                self.atoms[pattern.id] = pattern
                if pattern.label is not None:
                    self.labels[pattern.label] = pattern.id
                for name, attribute in bindings(pattern).items():
                    self.variables.setdefault(name, ("attr", pattern.id, attribute))
            case typed.Pair(left=left, right=right):
                if pattern.left_gathering is not None or pattern.right_gathering is not None:
                    raise NotCompiledError("a cumulative context")
                for side, node in enumerate((left, right)):
                    self.parents[node.id] = (pattern, side)
                    self._register(node)
            case typed.Lacking(pattern=inner):
                self.parents[inner.id] = (pattern, 0)
                self._register(inner)
            case _:
                raise NotCompiledError("a pattern that is not made of events and pairings")

    def below(self, node: typed.Pattern) -> Iterator[typed.Atom]:
        """The atoms of a pattern."""
        match node:
            case typed.Atom():
                yield node
            case typed.Pair(left=left, right=right):
                yield from self.below(left)
                yield from self.below(right)
            case typed.Lacking(pattern=inner):
                yield from self.below(inner)

    def field_of(self, expression: typed.Expression) -> Field:
        match expression:
            case typed.Variable(name=name) if name in self.variables:
                return self.variables[name]
            case typed.AttributeOf(label=label, attribute=attribute) if self.labels.get(label) in self.atoms:
                return ("attr", self.labels[label], attribute)
            case typed.TimeOf(label=label, end=end) if label in self.labels:
                return ("end" if end else "start", self.labels[label])
        raise NotCompiledError("a name that is not an event's")

    def kind_of(self, field_: Field) -> str:
        if field_[0] != "attr":
            return "i"
        return self.unit.kind(self.atoms[field_[1]].event, field_[2])

    def nullable(self, field_: Field, node: typed.Pattern | None = None) -> bool:
        """Whether a field may be null."""
        if field_[0] == "attr":
            return self.unit.nullable(self.atoms[field_[1]].event, field_[2])
        if field_[0] == "@":
            assert isinstance(node, typed.Atom)
            return self.unit.nullable(node.event, field_[1])
        return False

    def fields(self, expression: typed.Expression, inner: Mapping[str, str] | None = None) -> Iterator[Field]:
        """The fields that an expression uses; those of an inner atom aside."""
        match expression:
            case typed.Constant():
                return
            case typed.Operation(arguments=arguments):
                for argument in arguments:
                    yield from self.fields(argument, inner)
            case typed.Aggregate(argument=argument, path=path):
                names = self._gathered(path)
                if argument is not None:
                    yield from self.fields(argument, names)
            case typed.Holds():
                raise NotCompiledError("a static predicate in a condition")
            case typed.Variable(name=name) if inner is not None and name in inner:
                return
            case typed.AttributeOf(label=label) | typed.TimeOf(label=label) if inner is not None and label in inner:
                return
            case _:
                yield self.field_of(expression)

    def _gathered(self, path: tuple[int, ...]) -> dict[str, str]:
        for gathering in self.body.gatherings:
            if path == (gathering.id,):
                return self.inner_names(inner_of(gathering.pattern).atom)
        raise NotCompiledError("an aggregate of an aggregate")

    def inner_names(self, atom: typed.Atom) -> dict[str, str]:
        return {**bindings(atom), **({atom.label: ""} if atom.label is not None else {})}

    def _wanted(self) -> Iterator[Field]:
        """What must be known of a match when it is complete."""
        body = self.body
        for expression in (*(term for _, term in self.rule.head), *body.where, *body.on):
            yield from self.fields(expression)
        for label in (name for r in body.related for name in (r.left, r.right)):
            yield from self._times(label)
        for timer in body.timers:
            if timer.of in self.labels and self.labels[timer.of] in self.nodes:
                yield from self._times(timer.of)
        if self.rule.beginning is not None:
            yield from self._times(self.rule.beginning)
        for part in (*body.absences, *body.gatherings):
            inner = inner_of(part.pattern)
            names = self.inner_names(inner.atom)
            for condition in inner.conditions:
                yield from self.fields(condition, names)
            for name in part.shared:
                yield self.field_of(typed.Variable(name, "any"))
            yield from self._span(part.scope)

    def _times(self, label: str) -> Iterator[Field]:
        if label not in self.labels:
            raise NotCompiledError("a name that is not an event's")
        if self.labels[label] in self.nodes:
            yield ("start", self.labels[label])
            yield ("end", self.labels[label])

    def _span(self, scope: typed.Scope) -> tuple[Field, Field]:
        match scope:
            case typed.During(label=label):
                if label not in self.labels:
                    raise NotCompiledError("a name that is not an event's")
                return ("start", self.labels[label]), ("end", self.labels[label])
            case typed.Between(pair=id_):
                pair = self.nodes[id_]
                assert isinstance(pair, typed.Pair)
                return ("end", pair.left.id), ("start", pair.right.id)
            case typed.Inside(pattern=id_):
                return ("start", id_), ("end", id_)

    def _place_conditions(self) -> None:
        """Where each condition is checked: at the innermost pattern that knows all it uses; with contexts, at the end."""
        assert self.body.pattern is not None
        root = self.body.pattern.id
        timers = {timer.id for timer in self.body.timers}
        for condition in (*self.body.on, *self.body.where):
            node = self.body.pattern
            uses = {f[1] for f in self.fields(condition)}
            if not self.selecting and not has_aggregate(condition) and not uses & timers:
                while True:
                    inner = [n for n in self._parts(node) if uses <= {*(a.id for a in self.below(n)), n.id}]
                    if not inner or not uses:
                        break
                    node = inner[0]
                self.checked.setdefault(node.id, []).append(condition)
            else:
                self.checked.setdefault(-root - 1, []).append(condition)

    def _parts(self, node: typed.Pattern) -> list[typed.Pattern]:
        match node:
            case typed.Pair(left=left, right=right):
                return [left, right]
            case typed.Lacking(pattern=inner):
                return [inner]
            case _:
                return []

    # --- arrivals

    def write(self) -> None:
        adjacent = self._adjacent_absences()
        for part in (*self.body.absences, *self.body.gatherings):
            if part in adjacent:
                assert isinstance(part, typed.Absence)
                self._note(part)
            else:
                self._store_inner(part)
        for atom in self.atoms.values():
            self._write_atom(atom)

    def _write_atom(self, atom: typed.Atom) -> None:
        """What an event does: where it only waits for later ones, it is taken in; else it is matched in its layer."""
        unit = self.unit
        parent = self.parents.get(atom.id)
        if parent is not None and isinstance(parent[0], typed.Pair) and self._waits(*parent):
            pair, side = parent
            assert isinstance(pair, typed.Pair)
            key = self._key_attributes(pair, side)
            what = self._what(pair, side)
            store = self._store_of(pair, side, what)

            def take(arrival: Arrival) -> None:
                env = self._env(atom, arrival)
                with self._filtered(atom, arrival):
                    slot = unit.slot(arrival, key, insert=True)
                    with unit.writer.when("True" if slot is None else f"{slot} >= 0"):
                        values = [(self._value(env, arrival, f), column) for f, (column, _) in store.columns.items()]
                        unit.put(store, slot, arrival.start, "t", values)

            unit.taken_in(atom.event, repr(what), take)
            return
        own = unit.layer_of(atom.event)
        assert self.body.pattern is not None
        if own is not None and own >= unit.layer:
            strictly = self.distances.shortest((atom.id, True), (BODY, True))
            if strictly is None or strictly < 1:
                raise NotCompiledError("a rule that may use what it derives at the same time")

            def later(arrival: Arrival) -> None:
                with self._filtered(atom, arrival):
                    self._complete(atom, self._env(atom, arrival), arrival)

            unit.taken_in(atom.event, repr(("rule", self.number, atom.id)), later)
            return

        def match(arrival: Arrival) -> None:
            with self._filtered(atom, arrival):
                self._complete(atom, self._env(atom, arrival), arrival)

        unit.matched(atom.event, match)

    def _value(self, env: Env, arrival: Arrival, field_: Field) -> Code:
        if field_[0] == "@":
            return arrival.attribute(field_[1])
        return env[field_]

    def _filters(self, atom: typed.Atom) -> str:
        """What an event must satisfy by itself, as text in which variables are attributes."""
        names = bindings(atom)
        conditions = [_by_attributes(c, names, atom.label) for c in self.checked.get(atom.id, [])]
        equal = [(a, repr(t)) if isinstance(t, typed.Constant) else (a, names[t.name]) for a, t in atom.fields]
        return repr((sorted(p for p in equal if p[0] != p[1]), conditions))

    def _filtered(self, atom: typed.Atom, arrival: Arrival):  # type: ignore[no-untyped-def]
        """Under the conditions that an event must satisfy by itself."""
        return self.unit.writer.when(self._holds(atom, arrival))

    def _holds(self, atom: typed.Atom, arrival: Arrival) -> str:
        unit, tests, names = self.unit, [], bindings(atom)
        for attribute, term in atom.fields:
            if isinstance(term, typed.Constant):
                equal = typed.Operation("=", (typed.AttributeOf("", attribute, "any"), term), "bool")
                tests.append(unit.expressions.truth(equal, lambda e: arrival.attribute(e.attribute)))  # type: ignore[union-attr]
            elif names[term.name] != attribute:
                one, other = arrival.attribute(attribute), arrival.attribute(names[term.name])
                if one.kind != other.kind:
                    raise NotCompiledError("values of several kinds")
                tests.append(all_of(one.valid, other.valid, f"{one.value} == {other.value}"))
        env = self._env(atom, arrival)
        for condition in self.checked.get(atom.id, []):
            tests.append(unit.expressions.truth(condition, self.find(env)))
        return all_of(*(f"({test})" if test != "True" else test for test in tests))

    def _env(self, atom: typed.Atom, arrival: Arrival) -> Env:
        """The fields of an atom, read when they are used."""
        return _Fields(atom.id, arrival)

    def find(self, env: Env, aggregates: Mapping[typed.Aggregate, Code] | None = None) -> Find:
        def found(expression: typed.Expression) -> Code:
            if isinstance(expression, typed.Aggregate):
                assert aggregates is not None
                return aggregates[expression]
            return env[self.field_of(expression)]

        return found

    # --- pairings

    def _side(self, pair: typed.Pair, side: int) -> typed.Pattern:
        return pair.right if side else pair.left

    def _waits(self, pair: typed.Pair, side: int) -> bool:
        """Whether a side always comes strictly before the other, so that it has nothing to look for."""
        one, other = self._side(pair, side), self._side(pair, 1 - side)
        distances = distances_of(self.body, pair, self.unit.events)
        shortest = distances.shortest((one.id, True), (other.id, True))
        return shortest is not None and shortest >= 1

    def _key(self, pair: typed.Pair, side: int) -> list[Field]:
        """The fields of a side that correlate it with the other."""
        found = []
        for name in pair.shared:
            for atom in self.below(self._side(pair, side)):
                if name in bindings(atom):
                    found.append(("attr", atom.id, bindings(atom)[name]))
                    break
            else:
                raise NotCompiledError("a variable that is not an attribute's")
        return found

    def _key_attributes(self, pair: typed.Pair, side: int) -> tuple[str, ...]:
        """The attributes of the one atom of a side that correlate it."""
        return tuple(field_[2] for field_ in self._key(pair, side))

    def _kinds(self, pair: typed.Pair) -> tuple[str, ...]:
        kinds = [tuple(map(self.kind_of, self._key(pair, side))) for side in (0, 1)]
        if kinds[0] != kinds[1]:
            raise NotCompiledError("a variable of several kinds")
        return kinds[0]

    def _store_of(self, pair: typed.Pair, side: int, what: object) -> Store:
        """The store of a side, with columns for all that is needed of it later on."""
        node = self._side(pair, side)
        store = self.unit.layout.store(what, self.unit.layout.space(self._kinds(pair)))
        life = lifetime(distances_of(self.body, pair, self.unit.events), node.id, pair)
        bounds = [bound for bound in (life.start, life.end) if bound is not None]
        store.needed(max(0, min(bounds)) if bounds else None)
        if what == ("adjacent", self.number, pair.id):
            store.ended_by = self._mark(self._adjacent(pair)[0])
        for field_ in self._needed(node):
            store.column(self._column(node, field_, what), self.kind_of(field_))
        return store

    def _column(self, node: typed.Pattern, field_: Field, what: object) -> Field:
        """How a field is called in a store: by attribute where other rules may share it."""
        if isinstance(what, tuple) and what[0] == "atom" and field_[0] == "attr":
            return ("@", field_[2])
        return field_

    def _needed(self, node: typed.Pattern) -> list[Field]:
        """The fields of a pattern that are used further up, its own start and end aside: every row has these."""
        own = {atom.id for atom in self.below(node)} | {n for n in self._inside(node)}
        wanted = set(self.wanted)
        at = node
        while at.id in self.parents:
            parent, side = self.parents[at.id]
            if isinstance(parent, typed.Pair):
                wanted |= set(self._key(parent, side))
            for condition in self.checked.get(parent.id, []):
                wanted |= set(self.fields(condition))
            at = parent
        kept = [f for f in wanted if f[1] in own and not (f[0] != "attr" and f[1] == node.id)]
        return sorted(kept, key=repr)

    def _inside(self, node: typed.Pattern) -> Iterator[int]:
        yield node.id
        for part in self._parts(node):
            yield from self._inside(part)

    def _complete(self, node: typed.Pattern, env: Env, arrival: Arrival | None = None) -> None:
        """Goes on with an instance of a pattern that ends now."""
        unit, w = self.unit, self.unit.writer
        if not isinstance(node, typed.Atom) and self.checked.get(node.id):
            tests = [unit.expressions.truth(c, self.find(env)) for c in self.checked[node.id]]
            with w.when(all_of(*(f"({test})" for test in tests))):
                self._go_on(node, env, arrival)
        else:
            self._go_on(node, env, arrival)

    def _go_on(self, node: typed.Pattern, env: Env, arrival: Arrival | None) -> None:
        parent = self.parents.get(node.id)
        if parent is None:
            self._matched(env, node)
            return
        above, side = parent
        if isinstance(above, typed.Lacking):
            times = {("start", above.id): env["start", node.id], ("end", above.id): env["end", node.id]}
            self._complete(above, _Joined(times, env))
            return
        assert isinstance(above, typed.Pair)
        if above.left_context is not None:
            self._select(above, side, node, env, arrival)
            return
        if not self._waits(above, side):
            if self.unit.many:
                self._set_aside(above, side, node, env)
                return
            self._probe(above, side, node, env, arrival)
        if not self._waits(above, 1 - side):
            self._keep(above, side, node, env, arrival)

    def _set_aside(self, pair: typed.Pair, side: int, node: typed.Pattern, env: Env) -> None:
        """An instance that was found while going through a store goes on when that is done."""
        unit, w = self.unit, self.unit.writer
        buffer = unit.layout.buffer((self.number, node.id))
        n = buffer.number
        for field_ in self._needed(node):
            buffer.column(field_, self.kind_of(field_))
        unit.require(f"B{n}")
        w.line(f"B{n}[bh{n}, 2] = {env['start', node.id].value}")
        w.line(f"B{n}[bh{n}, 3] = {env['end', node.id].value}")
        values = [(env[field_], column) for field_, (column, _) in buffer.columns.items()]
        unit.write(f"B{n}", f"BG{n}", f"bh{n}", 4, values)
        w.line(f"bh{n} += 1")

        def go_on(row: str) -> None:
            found = _Row(self, f"B{n}", f"BG{n}", row, node.id, buffer.columns)
            self._probe(pair, side, node, found, None)
            if not self._waits(pair, 1 - side):
                self._keep(pair, side, node, found, None)

        if all(known is not buffer for known, _ in unit.later[unit.layer]):
            unit.later[unit.layer].append((buffer, go_on))

    def _slot(self, pair: typed.Pair, side: int, env: Env, arrival: Arrival | None, insert: bool) -> str | None:
        key = self._key(pair, side)
        if not key:
            return None
        if arrival is not None and self._waits(pair, 1 - side):
            return self.unit.slot(arrival, self._key_attributes(pair, side), insert)
        return self.unit.lookup(self._kinds(pair), [env[field_] for field_ in key], insert)

    def _what(self, pair: typed.Pair, side: int) -> object:
        node = self._side(pair, side)
        if pair.left_context is not None:
            return ("context", self.number, pair.id, side)
        if side == 0 and self._adjacent(pair):
            return ("adjacent", self.number, pair.id)
        if isinstance(node, typed.Atom) and self._waits(pair, side):
            return ("atom", node.event, self._key_attributes(pair, side), self._filters(node), self._apart)
        return ("side", self.number, pair.id, side)

    def _keep(self, pair: typed.Pair, side: int, node: typed.Pattern, env: Env, arrival: Arrival | None) -> None:
        unit = self.unit
        store = self._store_of(pair, side, self._what(pair, side))
        slot = self._slot(pair, side, env, None, insert=True)
        with unit.writer.when("True" if slot is None else f"{slot} >= 0"):
            values = [(env[field_], column) for field_, (column, _) in store.columns.items()]
            unit.put(store, slot, env["start", node.id].value, env["end", node.id].value, values)

    def _probe(self, pair: typed.Pair, side: int, node: typed.Pattern, env: Env, arrival: Arrival | None) -> None:
        """Goes on with each stored instance of the other side that fits."""
        w = self.unit.writer
        other = self._side(pair, 1 - side)
        store = self._store_of(pair, 1 - side, self._what(pair, 1 - side))
        slot = self._slot(pair, side, env, arrival, insert=False)
        n = store.number
        with w.when("True" if slot is None else f"{slot} >= 0"):
            at = w.let("p", f"H{n}[{slot or '0'}]")
            with w.block(f"while {at} >= lo{n}:"):
                row = w.let("q", f"{at} & (T{n}.shape[0] - 1)")
                for absence in self._adjacent(pair) if side == 1 else []:
                    with w.block(f"if T{n}[{row}, 3] < L{self._mark(absence).number}[{slot or '0'}]:"):
                        w.line("break")
                w.line(f"{at} = T{n}[{row}, 0]")
                found = self._row(store, row, other, self._what(pair, 1 - side))
                self.unit.many.append(store.size)
                self._join(pair, side, node, env, other, found)
                self.unit.many.pop()

    def _row(self, store: Store, row: str, node: typed.Pattern, what: object) -> Env:
        return _Stored(self, store, row, node, what)

    def _join(
        self, pair: typed.Pair, side: int, node: typed.Pattern, env: Env, other: typed.Pattern, found: Env
    ) -> None:
        w = self.unit.writer
        sides = (env, found) if side == 0 else (found, env)
        ids = (node.id, other.id) if side == 0 else (other.id, node.id)
        with w.when(self._related(pair.relation, sides, ids)):
            for absence in self._decided_by_newest(pair, side):
                if absence in self._adjacent_absences():
                    continue
                seen = w.let("k", "False")

                def note(inner: Env, seen: str = seen) -> None:
                    w.line(f"{seen} = True")
                    w.line("break")

                self._walk(absence, _Joined({}, env, found), note)
                with w.block(f"if {seen}:"):
                    w.line("break")
            times = self._covering(pair, sides, ids)
            joined = _Joined(times, env, found)
            within = self.body.within
            with w.when(
                "True"
                if within is None
                else f"{times['end', pair.id].value} - {times['start', pair.id].value} <= {within}"
            ):
                self._complete(pair, joined)

    def _decided_by_newest(self, pair: typed.Pair, side: int) -> list[typed.Absence]:
        """Absences between the sides that fail for all older left ones as soon as they do for one.

        What lies between a left side and the right one lies also between each older one and it, where it depends on
        nothing else of the left side but the key. Left ones are visited newest first.
        """
        if side == 0:
            return []
        right = {atom.id for atom in self.below(pair.right)}
        decided = []
        for absence in self.body.absences:
            if absence.scope != typed.Between(pair.id):
                continue
            inner = inner_of(absence.pattern)
            names = self.inner_names(inner.atom)
            fields = {f for c in inner.conditions for f in self.fields(c, names)}
            if set(absence.shared) <= set(pair.shared) and all(f[1] in right for f in fields):
                decided.append(absence)
        return decided

    def _adjacent_absences(self) -> list[typed.Absence]:
        """Absences that hold of whatever is stored, because what they forbid ends what was stored before it.

        Once something forbidden has come after a left side, it lies between that and every later right side, if both
        are instantaneous. So the left side goes, and there is nothing to check.
        """
        found = []
        for absence in self.body.absences:
            if not isinstance(absence.scope, typed.Between):
                continue
            pair = self.nodes[absence.scope.pair]
            assert isinstance(pair, typed.Pair)
            inner, events = inner_of(absence.pattern), self.unit.events
            if (
                pair.left_context is None
                and isinstance(pair.right, typed.Atom)
                and events[pair.right.event].instant
                and events[inner.atom.event].instant
                and absence.shared == pair.shared
                and self._waits(pair, 0)
                and absence in self._decided_by_newest(pair, 1)
                and not any(set(self.fields(c, self.inner_names(inner.atom))) for c in inner.conditions)
            ):
                found.append(absence)
        return found

    def _adjacent(self, pair: typed.Pair) -> list[typed.Absence]:
        return [absence for absence in self._adjacent_absences() if absence.scope == typed.Between(pair.id)]

    def _mark(self, absence: typed.Absence) -> Mark:
        inner = inner_of(absence.pattern)
        key = self._inner_key(absence, inner)
        kinds = tuple(self.unit.kind(inner.atom.event, attribute) for attribute in key)
        names = bindings(inner.atom)
        conditions = [_by_attributes(c, names, inner.atom.label) for c in inner.conditions]
        what = ("mark", self._inner_what(absence, inner), conditions, self._apart)
        return self.unit.layout.mark(repr(what), self.unit.layout.space(kinds))

    def _note(self, absence: typed.Absence) -> None:
        """What is forbidden ends all that was stored before it: its time is noted, by key."""
        unit, w = self.unit, self.unit.writer
        inner = inner_of(absence.pattern)
        key, mark = self._inner_key(absence, inner), self._mark(absence)

        def take(arrival: Arrival) -> None:
            holds = self._inner_holds(inner, arrival)
            found = self._inner_find(absence, _Arrived(inner.atom.id, arrival), {})
            tests = [f"({unit.expressions.truth(c, found)})" for c in inner.conditions]
            with w.when(all_of(holds, *tests)):
                slot = unit.slot(arrival, key, insert=False)
                with w.when("True" if slot is None else f"{slot} >= 0"):
                    w.line(f"L{mark.number}[{slot or '0'}] = t")

        unit.closed(inner.atom.event, f"mark {mark.number}", take)

    def _related(self, relation: typed.Relation, sides: tuple[Env, Env], ids: tuple[int, int]) -> str:
        tests = []
        for distance in relation.distances:
            points = []
            for side, end in (distance.later, distance.earlier):
                points.append(sides[side]["end" if end else "start", ids[side]].value)
            tests.extend(_between(points[0], points[1], distance.low, distance.high))
        return all_of(*tests)

    def _covering(self, pair: typed.Pair, sides: tuple[Env, Env], ids: tuple[int, int]) -> dict[Field, Code]:
        w = self.unit.writer
        starts = [sides[s]["start", ids[s]].value for s in (0, 1)]
        shortest = self.distances.shortest((ids[0], False), (ids[1], False))
        start = starts[0] if shortest is not None and shortest >= 0 else w.let("s", f"min({starts[0]}, {starts[1]})")
        return {("start", pair.id): time(start), ("end", pair.id): time("t")}

    # --- contexts

    def _select(self, pair: typed.Pair, side: int, node: typed.Pattern, env: Env, arrival: Arrival | None) -> None:
        """A terminator takes what its initiators' context offers."""
        unit, w = self.unit, self.unit.writer
        left, right = pair.left, pair.right
        assert pair.left_context is not None
        assert pair.right_context is not None
        if not (isinstance(left, typed.Atom) and isinstance(right, typed.Atom)) or not self._waits(pair, 0):
            raise NotCompiledError("a context on something other than a sequence of two events")
        unit.layout.ordered = True
        context, terminator = pair.left_context.initiator, pair.right_context.terminator
        store = self._store_of(pair, 0, self._what(pair, 0))
        slot = self._slot(pair, 1, env, arrival, insert=False)
        n = store.number
        with w.when("True" if slot is None else f"{slot} >= 0"):
            place = slot or "0"
            at = w.let("p", f"H{n}[{place}]")
            newer = w.let("n", "np.int64(-1)")
            every = context == "chronicle" and terminator == "continuous"
            taken, over = w.let("p", "np.int64(-1)"), w.let("n", "np.int64(-1)")
            with w.block(f"while {at} >= lo{n}:"):
                row = w.let("q", f"{at} & (T{n}.shape[0] - 1)")
                found = self._row(store, row, left, self._what(pair, 0))
                older = w.let("p", f"T{n}[{row}, 0]")
                with w.block(f"if {self._eligible(pair, found, env)}:"):
                    if every:
                        self._unlink(n, place, newer, older)
                        unit.many.append(store.size)
                        self._composed(pair, found, env)
                        unit.many.pop()
                    else:
                        w.line(f"{taken} = {at}")
                        w.line(f"{over} = {newer}")
                        w.line("break" if context != "chronicle" else f"{newer} = {at}")
                with w.block("else:"):
                    w.line(f"{newer} = {at}")
                w.line(f"{at} = {older}")
            if not every:
                with w.block(f"if {taken} >= 0:"):
                    row = w.let("q", f"{taken} & (T{n}.shape[0] - 1)")
                    if context == "chronicle":
                        self._unlink(n, place, over, f"T{n}[{row}, 0]")
                    elif context == "recent":
                        self._unlink(n, place, over, "np.int64(-1)")
                    else:
                        w.line(f"T{n}[{row}, 0] = -1")
                    self._composed(pair, self._row(store, row, left, self._what(pair, 0)), env)

    def _unlink(self, n: int, slot: str, newer: str, older: str) -> None:
        """Takes a row, or with it all older ones, out of the chain of its key."""
        w = self.unit.writer
        with w.block(f"if {newer} >= 0:"):
            w.line(f"T{n}[{newer} & (T{n}.shape[0] - 1), 0] = {older}")
        with w.block("else:"):
            w.line(f"H{n}[{slot}] = {older}")

    def _eligible(self, pair: typed.Pair, left: Env, right: Env) -> str:
        """What this pairing determines: its relation, the body's length, and ``on``."""
        ids = (pair.left.id, pair.right.id)
        tests = [self._related(pair.relation, (left, right), ids)]
        start = self._covering(pair, (left, right), ids)["start", pair.id].value
        if self.body.within is not None:
            tests.append(f"t - {start} <= {self.body.within}")
        if self.body.lasting is not None:
            operator = "==" if pair is self.body.pattern else "<="
            tests.append(f"t - {start} {operator} {self.body.lasting}")
        known = {atom.id for atom in self.below(pair)}
        env = _Joined({}, left, right)
        for condition in self.body.on:
            if {field_[1] for field_ in self.fields(condition)} <= known:
                tests.append(f"({self.unit.expressions.truth(condition, self.find(env))})")
        return all_of(*tests)

    def _composed(self, pair: typed.Pair, left: Env, right: Env) -> None:
        times = self._covering(pair, (left, right), (pair.left.id, pair.right.id))
        self._complete(pair, _Joined(times, left, right))

    # --- timers, and the end

    def _matched(self, env: Env, root: typed.Pattern) -> None:
        """A match of the pattern: it is complete, or it waits for its timers."""
        if not self.body.timers:
            self._finish(env, env["start", root.id].value)
            return
        w = self.unit.writer
        queue = self._queue()
        due = w.let("d", "t")
        for shift, point in self._deadlines():
            w.line(f"{due} = max({due}, {env[point].value} + {shift})")
        with w.block(f"if {due} <= t:"):
            self._finish_timers(env, root)
        with w.block("else:"):
            self._enqueue(queue, due, env, root)

    def _deadlines(self) -> list[tuple[int, Field]]:
        """When each timer ends: so long after the end of an event."""
        ends: dict[str, tuple[int, Field]] = {}
        found = []
        for timer in self.body.timers:
            shift, point = ends.get(timer.of, (0, ("end", self.labels[timer.of])))
            deadline = (shift + timer.end_shift, point)
            found.append(deadline)
            if timer.label is not None:
                ends[timer.label] = deadline
        return found

    def _queue(self) -> Queue:
        """What waits is due in the order in which it came where all timers refer to the one event of the rule."""
        ordered = isinstance(self.body.pattern, typed.Atom)
        queue = self.unit.layout.queue(self.number, ordered)
        assert self.body.pattern is not None
        for field_ in self._needed(self.body.pattern):
            queue.column(field_, self.kind_of(field_))
        return queue

    def _enqueue(self, queue: Queue, due: str, env: Env, root: typed.Pattern) -> None:
        w, n = self.unit.writer, queue.number
        self.unit.require(f"Q{n}")
        if queue.ordered:
            at = w.let("q", f"qh{n} & (Q{n}.shape[0] - 1)")
            w.line(f"qh{n} += 1")
        else:
            at = w.fresh("q")
            with w.block(f"if ql{n} > 0:"):  # a row that is free
                w.line(f"{at} = ql{n} - 1")
                w.line(f"ql{n} = Q{n}[{at}, 0]")
            with w.block("else:"):
                w.line(f"{at} = qh{n}")
            w.line(f"push(P{n}, qs{n}, {due}, {at})")
            w.line(f"qs{n} += 1")
            with w.block(f"if {at} == qh{n}:"):
                w.line(f"qh{n} += 1")
        w.line(f"Q{n}[{at}, 0] = {due}")
        w.line(f"Q{n}[{at}, 2] = {env['start', root.id].value}")
        w.line(f"Q{n}[{at}, 3] = {env['end', root.id].value}")
        values = [(env[field_], column) for field_, (column, _) in queue.columns.items()]
        self.unit.write(f"Q{n}", f"R{n}", at, 4, values)

    def write_due(self) -> tuple[str, Callable[[], None], str] | None:
        """When something is due, the source of what happens then, and how often that can be."""
        if not self.body.timers:
            return None
        w = self.unit.writer
        assert self.body.pattern is not None
        root, queue = self.body.pattern, self._queue()
        n = queue.number

        def first() -> None:
            at = w.let("q", f"ql{n} & (Q{n}.shape[0] - 1)")
            w.line(f"ql{n} += 1")
            self._finish_timers(_Row(self, f"Q{n}", f"R{n}", at, root.id, queue.columns), root)

        def smallest() -> None:
            at = w.let("q", f"pop(P{n}, qs{n})")
            w.line(f"qs{n} -= 1")
            self._finish_timers(_Row(self, f"Q{n}", f"R{n}", at, root.id, queue.columns), root)
            w.line(f"Q{n}[{at}, 0] = ql{n}")
            w.line(f"ql{n} = {at} + 1")

        if queue.ordered:
            return f"ql{n} < qh{n} and Q{n}[ql{n} & (Q{n}.shape[0] - 1), 0] <= t", first, f"(qh{n} - ql{n})"
        return f"qs{n} > 0 and P{n}[0, 0] <= t", smallest, f"qs{n}"

    def _finish_timers(self, env: Env, root: typed.Pattern) -> None:
        w = self.unit.writer
        times: dict[Field, Code] = {}
        start = w.let("s", env["start", root.id].value)
        known = _Joined(times, env)
        for timer in self.body.timers:
            of = self.labels[timer.of]
            begin = w.let("s", f"max({known['start', of].value} + {timer.start_shift}, np.int64({EARLIEST}))")
            end = w.let("e", f"max({known['end', of].value} + {timer.end_shift}, np.int64({EARLIEST}))")
            times["start", timer.id], times["end", timer.id] = time(begin), time(end)
            w.line(f"{start} = min({start}, {begin})")
        self._finish(known, start)

    def _finish(self, env: Env, start: str) -> None:
        """A match that ends now: all that must hold of it as a whole, then its head."""
        w, body = self.unit.writer, self.body
        tests = []
        if body.within is not None:
            tests.append(f"t - {start} <= {body.within}")
        if body.lasting is not None:
            tests.append(f"t - {start} == {body.lasting}")
        for related in body.related:
            ids = (self.labels[related.left], self.labels[related.right])
            tests.append(self._related(related.relation, (env, env), ids))
        with w.when(all_of(*tests)):
            self._gather(env, start, list(body.gatherings), {})

    def _gather(
        self, env: Env, start: str, gatherings: Sequence[typed.Gathering], aggregates: dict[typed.Aggregate, Code]
    ) -> None:
        w = self.unit.writer
        if gatherings:
            gathering, *rest = gatherings
            uses = [e for _, e in self.rule.head] + [*self.body.where, *self.body.on]
            wanted = [a for a in aggregates_in(uses) if a.path == (gathering.id,)]
            walk = Walk(self.unit, wanted)
            self._walk(gathering, env, lambda inner: walk.add(self._inner_find(gathering, inner, env)))
            enough = f"{walk.count} >= {gathering.low}" if gathering.low > 0 else "True"
            few = "True" if gathering.high is None else f"{walk.count} <= {gathering.high}"
            with w.when(all_of(enough, few)):
                self._gather(env, start, rest, {**aggregates, **walk.results()})
            return
        absent: list[str] = []
        for absence in self.body.absences:
            if self._checked_before(absence):
                continue
            found = w.let("k", "False")

            def seen(inner: Env, found: str = found) -> None:
                w.line(f"{found} = True")
                w.line("break")

            with w.when(all_of(*(f"not {name}" for name in absent))):
                self._walk(absence, env, seen)
            absent.append(found)
        with w.when(all_of(*(f"not {name}" for name in absent))):
            self._head(env, start, aggregates)

    def _checked_before(self, absence: typed.Absence) -> bool:
        """Whether an absence was decided when its two sides were paired."""
        if not isinstance(absence.scope, typed.Between):
            return False
        pair = self.nodes[absence.scope.pair]
        assert isinstance(pair, typed.Pair)
        return pair.left_context is None and self._waits(pair, 0) and absence in self._decided_by_newest(pair, 1)

    def _head(self, env: Env, start: str, aggregates: Mapping[typed.Aggregate, Code]) -> None:
        unit, w = self.unit, self.unit.writer
        assert self.body.pattern is not None
        late = self.checked.get(-self.body.pattern.id - 1, [])
        tests = [unit.expressions.truth(c, self.find(env, aggregates)) for c in late]
        with w.when(all_of(*(f"({test})" for test in tests))):
            if self.rule.beginning is not None:
                start = env["start", self.labels[self.rule.beginning]].value
            derived = unit.layout.derived[self.rule.event]
            types = unit.events[self.rule.event].attributes
            values = []
            for (name, term), kind in zip(self.rule.head, derived.kinds, strict=True):
                code = unit.expressions.code(term, self.find(env, aggregates))
                if code.valid == "False":
                    code = Code("0", "False", kind)
                elif (code.kind, kind) == ("i", "f"):
                    code = Code(f"np.float64({code.value})", code.valid, "f")
                elif code.kind != kind:
                    raise NotCompiledError(f"a {types[name]} from something else")
                elif kind == "b":
                    code = Code(f"(1 if {code.value} else 0)", code.valid, "b")
                values.append(code)
            unit.derive(derived, start, values)

    # --- what is negated or gathered

    def _store_inner(self, part: typed.Absence | typed.Gathering) -> None:
        unit = self.unit
        inner = inner_of(part.pattern)
        store = self._inner_store(part, inner)
        own = unit.layer_of(inner.atom.event)
        if isinstance(part.scope, typed.Inside) and own is not None and own >= unit.layer:
            raise NotCompiledError("absence of what is derived at the same time")
        key = self._inner_key(part, inner)

        def take(arrival: Arrival) -> None:
            with unit.writer.when(self._inner_holds(inner, arrival)):
                slot = unit.slot(arrival, key, insert=True)
                with unit.writer.when("True" if slot is None else f"{slot} >= 0"):
                    values = [(arrival.attribute(f[1]), column) for f, (column, _) in store.columns.items()]
                    unit.put(store, slot, arrival.start, "t", values)

        if isinstance(part.scope, typed.Inside) and own is not None:
            unit.prepared(inner.atom.event, take)
        else:
            unit.taken_in(inner.atom.event, repr(self._inner_what(part, inner)), take)

    def _inner_key(self, part: typed.Absence | typed.Gathering, inner: Inner) -> tuple[str, ...]:
        names = bindings(inner.atom)
        if any(name not in names for name in part.shared):
            raise NotCompiledError("a variable that is not an attribute's")
        return tuple(names[name] for name in part.shared)

    def _inner_what(self, part: typed.Absence | typed.Gathering, inner: Inner) -> object:
        names = bindings(inner.atom)
        equal = [(a, repr(t)) if isinstance(t, typed.Constant) else (a, names[t.name]) for a, t in inner.atom.fields]
        filters = repr((sorted(p for p in equal if p[0] != p[1]), []))
        what = ("atom", inner.atom.event, self._inner_key(part, inner), filters, self._apart)
        if isinstance(part.scope, typed.Inside) and self.unit.layer_of(inner.atom.event) is not None:
            return ("inside", self.number, *what)
        return what

    def _inner_holds(self, inner: Inner, arrival: Arrival) -> str:
        plain = typed.Atom(-1, inner.atom.event, inner.atom.fields)
        return self._holds(plain, arrival)

    def _inner_store(self, part: typed.Absence | typed.Gathering, inner: Inner) -> Store:
        unit = self.unit
        key = self._inner_key(part, inner)
        kinds = tuple(unit.kind(inner.atom.event, attribute) for attribute in key)
        if kinds != tuple(self.kind_of(self.field_of(typed.Variable(name, "any"))) for name in part.shared):
            raise NotCompiledError("a variable of several kinds")
        store = unit.layout.store(self._inner_what(part, inner), unit.layout.space(kinds))
        begin, _ = self._span(part.scope)
        reach = since(self.body, (begin[1], begin[0] == "end"), unit.events)
        store.needed(None if reach is None else max(0, reach))
        for attribute in sorted(self._inner_attributes(part, inner)):
            store.column(("@", attribute), unit.kind(inner.atom.event, attribute))
        return store

    def _inner_attributes(self, part: typed.Absence | typed.Gathering, inner: Inner) -> set[str]:
        """The attributes of what is inside that conditions or aggregates use."""
        names = bindings(inner.atom)
        uses = list(inner.conditions)
        if isinstance(part, typed.Gathering):
            heads = [e for _, e in self.rule.head] + [*self.body.where, *self.body.on]
            uses += [a.argument for a in aggregates_in(heads) if a.path == (part.id,) and a.argument is not None]
        return {attribute for use in uses for attribute in _attributes(use, names, inner.atom.label)}

    def _inner_find(self, part: typed.Absence | typed.Gathering, inner_env: Env, env: Env) -> Find:
        inner = inner_of(part.pattern)
        names = bindings(inner.atom)

        def found(expression: typed.Expression) -> Code:
            match expression:
                case typed.Variable(name=name) if name in names and name not in part.shared:
                    return inner_env["@", names[name]]
                case typed.AttributeOf(label=label, attribute=attribute) if label == inner.atom.label:
                    return inner_env["@", attribute]
                case typed.TimeOf(label=label, end=end) if label == inner.atom.label:
                    return inner_env["end" if end else "start", inner.atom.id]
            return env[self.field_of(expression)]

        return found

    def _walk(self, part: typed.Absence | typed.Gathering, env: Env, each) -> None:  # type: ignore[no-untyped-def]
        """Visits what lies in a scope, newest end first."""
        unit, w = self.unit, self.unit.writer
        inner = inner_of(part.pattern)
        store = self._inner_store(part, inner)
        n = store.number
        begin, end = (env[point].value for point in self._span(part.scope))
        inside = isinstance(part.scope, typed.Inside)
        slot = None
        if part.shared:
            codes = [env[self.field_of(typed.Variable(name, "any"))] for name in part.shared]
            slot = unit.lookup(tuple(code.kind for code in codes), codes, insert=False)
        with w.when("True" if slot is None else f"{slot} >= 0"):
            at = w.let("p", f"H{n}[{slot or '0'}]")
            with w.block(f"while {at} >= lo{n}:"):
                row = w.let("q", f"{at} & (T{n}.shape[0] - 1)")
                with w.block(f"if T{n}[{row}, 3] {'<' if inside else '<='} {begin}:"):
                    w.line("break")
                w.line(f"{at} = T{n}[{row}, 0]")
                if inside:
                    lies = f"{begin} <= T{n}[{row}, 2] and T{n}[{row}, 3] <= {end}"
                else:
                    lies = f"{begin} < T{n}[{row}, 2] and T{n}[{row}, 3] < {end}"
                with w.when(lies):
                    found = _Stored(self, store, row, inner.atom, ("atom",))
                    tests = [unit.expressions.truth(c, self._inner_find(part, found, env)) for c in inner.conditions]
                    with w.when(all_of(*(f"({test})" for test in tests))):
                        each(found)


# --- fields by name


class _Fields(dict[Field, Code]):
    """The fields of an atom for an event at hand."""

    def __init__(self, atom: int, arrival: Arrival) -> None:
        self.atom = atom
        self.arrival = arrival

    def __missing__(self, key: Field) -> Code:
        if key == ("start", self.atom):
            return time(self.arrival.start)
        if key == ("end", self.atom):
            return time("t")
        if key[0] == "attr" and key[1] == self.atom:
            return self.arrival.attribute(key[2])
        raise KeyError(key)


class _Arrived(dict[Field, Code]):
    """The attributes of an event at hand, by name."""

    def __init__(self, atom: int, arrival: Arrival) -> None:
        self.atom, self.arrival = atom, arrival

    def __missing__(self, key: Field) -> Code:
        if key[0] == "@":
            return self.arrival.attribute(key[1])
        return time(self.arrival.start if key[0] == "start" else "t")


class _Stored(dict[Field, Code]):
    """The fields of a stored row, read when they are used."""

    def __init__(self, rule: RuleWriter, store: Store, row: str, node: typed.Pattern, what: object) -> None:
        self.rule, self.store, self.row, self.node, self.what = rule, store, row, node, what

    def __missing__(self, key: Field) -> Code:
        n = self.store.number
        if key == ("start", self.node.id):
            return time(f"T{n}[{self.row}, 2]")
        if key == ("end", self.node.id):
            return time(f"T{n}[{self.row}, 3]")
        name = self.rule._column(self.node, key, self.what)
        if name not in self.store.columns:
            raise KeyError(key)
        column, kind = self.store.columns[name]
        return _held(f"T{n}", f"F{n}", self.row, column, kind, self.rule.nullable(key, self.node))


class _Row(dict[Field, Code]):
    """The fields of an instance that was set aside, or waited for its timers."""

    def __init__(
        self, rule: RuleWriter, rows: str, floats: str, row: str, node: int, columns: Mapping[Field, tuple[int, str]]
    ) -> None:
        self.rule = rule
        self.rows, self.floats, self.row, self.node, self.columns = rows, floats, row, node, columns

    def __missing__(self, key: Field) -> Code:
        if key == ("start", self.node):
            return time(f"{self.rows}[{self.row}, 2]")
        if key == ("end", self.node):
            return time(f"{self.rows}[{self.row}, 3]")
        column, kind = self.columns[key]
        return _held(self.rows, self.floats, self.row, column, kind, self.rule.nullable(key))


class _Joined(dict[Field, Code]):
    """Fields of several instances, as one."""

    def __init__(self, own: Mapping[Field, Code], *others: Env) -> None:
        self.own = own
        self.others = others

    def __missing__(self, key: Field) -> Code:
        if key in self.own:
            return self.own[key]
        for other in self.others:
            try:
                return other[key]
            except KeyError:
                continue
        raise KeyError(key)


def _held(rows: str, floats: str, row: str, column: int, kind: str, nullable: bool) -> Code:
    value = f"{floats if kind == 'f' else rows}[{row}, {column}]"
    if not nullable:
        return Code(value, "True", kind)
    return Code(value, f"(({rows}[{row}, 4] & np.int64({1 << (column - 5)})) != 0)", kind)


def _between(later: str, earlier: str, low: int | None, high: int | None) -> list[str]:
    """Tests on the distance of two points."""
    tests = []
    if low is not None:
        tests.append(f"{later} > {earlier}" if low == 1 else f"{later} - {earlier} >= {low}")
    if high is not None:
        tests.append(f"{later} - {earlier} <= {high}")
    return tests


def _by_attributes(condition: typed.Expression, names: Mapping[str, str], label: str | None) -> str:
    """A condition on one event as text in which its variables are attributes, so that alike ones are the same."""
    match condition:
        case typed.Variable(name=name) if name in names:
            return f"@{names[name]}"
        case typed.AttributeOf(attribute=attribute):
            return f"@{attribute}"
        case typed.TimeOf(end=end):
            return "@@end" if end else "@@start"
        case typed.Operation(name=name, arguments=arguments):
            return f"{name}({', '.join(_by_attributes(a, names, label) for a in arguments)})"
        case _:
            return repr(condition)


def _attributes(expression: typed.Expression, names: Mapping[str, str], label: str | None) -> Iterator[str]:
    """The attributes of an inner atom that an expression uses."""
    match expression:
        case typed.Variable(name=name) if name in names:
            yield names[name]
        case typed.AttributeOf(label=of, attribute=attribute) if of == label:
            yield attribute
        case typed.Operation(arguments=arguments):
            for argument in arguments:
                yield from _attributes(argument, names, label)
