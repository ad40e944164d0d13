"""Join: all pairs of matches that agree in their shared variables and stand in a relation.

A side is stored as long as it can find a partner, and not at all if all its partners came before; null agrees with
nothing, and is not stored. Of two sides that end in one step, the one that comes second finds the other. A forbidden
event between the sides drops the left ones before it: matches of later steps do not find them. State: the sides that
may still find a partner, by key; see `structures/store.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, read_fields, read_row, row_fields
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.keys import key_kinds, key_of, lookup, same_kinds
from ensue.engine.operators.scan import Scan, scans_in
from ensue.engine.operators.shared import View, stored_by
from ensue.engine.operators.storing import store_match, store_newest
from ensue.engine.structures.newest_store import NO_ROW, NewestStore, newest_store_layout
from ensue.engine.structures.store import Store, store_layout
from ensue.language import typed
from ensue.plan import operators as plan

NOW = Code("clock.now", "True", "i")


def related(unit: Unit, relation: typed.Relation, left: tuple[str, str], right: tuple[str, str]) -> str:
    """Source that is true if two intervals, each with start and end, stand in a relation."""
    points = (left, right)
    tests = []
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        one, other = points[earlier][earlier_end], points[later][later_end]
        if (distance.low, distance.high) == (1, None):
            tests.append(f"{one} < {other}")
        elif (distance.low, distance.high) == (0, 0):
            tests.append(f"{one} == {other}")
        else:
            if distance.low is not None:
                tests.append(f"{other} - {one} >= {unit.number(distance.low)}")
            if distance.high is not None:
                tests.append(f"{other} - {one} <= {unit.number(distance.high)}")
    return all_of(*tests)


def is_before(relation: typed.Relation) -> bool:
    """True if the left side must have ended before the right one starts."""
    return any(
        distance.earlier == (0, 1) and distance.later == (1, 0) and distance.low is not None and distance.low > 0
        for distance in relation.distances
    )


class Pairing(Operator):
    """Base of joins and choices: two sides that become one match."""

    def __init__(self, unit: Unit, title: str, pair: typed.Pair, left: Operator, right: Operator, layer: int) -> None:
        super().__init__(unit, title, layer)
        self.pair = pair
        self.inputs = (left, right)
        for side in self.inputs:
            side.want(("var", name) for name in pair.shared)

    @property
    def parts(self) -> int:
        return self.inputs[0].parts + self.inputs[1].parts

    @property
    def chains(self) -> frozenset[int]:
        left, right = self.inputs
        return left.chains | {left.parts + number for number in right.chains}

    @property
    def ragged(self) -> bool:
        return any(side.ragged for side in self.inputs)

    def route(self, field: Field) -> tuple[int, Field]:
        """The side that a field comes from, and its name there; a shared variable has the value of the right one."""
        match field:
            case ("part", int(number), which):
                left = self.inputs[0].parts
                return (0, field) if number < left else (1, ("part", number - left, which))
            case _:
                return int(self.inputs[1].has(field)), field

    def has(self, field: Field) -> bool:
        if field[0] == "part":
            return int(str(field[1])) < self.parts
        return field[:2] == ("span", self.pair.id) or any(side.has(field) for side in self.inputs)

    def require(self, fields: list[Field]) -> None:
        for field in fields:
            if field[:2] == ("span", self.pair.id):
                continue
            if field in (SOURCE, OLDEST):
                for side in self.inputs:
                    side.want([field])
            else:
                side_, inner = self.route(field)
                self.inputs[side_].want([inner])

    def column(self, field: Field) -> Column:
        if field[:2] == ("span", self.pair.id) or field in (SOURCE, OLDEST):
            return Column("i", False)
        side, inner = self.route(field)
        column = self.inputs[side].column(inner)
        if field[0] == "var" and field[1] in self.pair.shared:
            return Column(column.kind, False)
        return column

    def env_of(self, w: Writer, left: Env, right: Env, ends: tuple[str, str]) -> Env:
        """Both sides as one match."""
        sides = (left, right)
        env = Env()
        for field in dict.fromkeys([*self.wanted, *self.checked]):
            if field == ("span", self.pair.id, "start"):
                env[field] = Code(ends[0], "True", "i")
            elif field == ("span", self.pair.id, "end"):
                env[field] = right[START]
            elif field == SOURCE:
                env[field] = Code(f"union({left[SOURCE].value}, {right[SOURCE].value})", "True", "i")
            elif field == OLDEST:
                env[field] = Code(f"min({left[OLDEST].value}, {right[OLDEST].value})", "True", "i")
            else:
                side, inner = self.route(field)
                code = sides[side][inner]
                shared = field[0] == "var" and field[1] in self.pair.shared
                env[field] = Code(code.value, "True", code.kind) if shared else code
        env[START] = Code(w.let("start", f"min({left[START].value}, {right[START].value})"), "True", "i")
        return env

    checked: Sequence[Field] = ()

    def kept(self, side: int) -> dict[Field, Column]:
        """The fields of a side that are stored; a shared variable is not where the other side has the same value."""
        columns = self.inputs[side].columns
        shared = [("var", name) for name in self.pair.shared]
        kinds = {field: {each.column(field).kind for each in self.inputs} for field in shared}
        same = {field for field, kind in kinds.items() if kind in ({"i"}, {"s"}, {"b"})}
        return {field: column for field, column in columns.items() if field not in same}

    def read(self, structure: str, row: str, side: int, other: Env) -> Env:
        """A row of a side, with the variables that are not stored taken from the match that found it."""
        found = self._with_shared(read_row(structure, row, self.kept(side)), side, other)
        found[START] = Code(f"{structure}.start[{row}]", "True", "i")
        return found

    def _with_shared(self, found: Env, side: int, other: Env) -> Env:
        """The fields of a row, with the variables that are not stored from the match that found it."""
        for field in self.inputs[side].columns:
            if field not in found:
                found[field] = Code(other[field].value, "True", other[field].kind)
        return found


class Join(Pairing):
    """All pairs; see the module."""

    def __init__(
        self, unit: Unit, node: plan.Join, left: Operator, right: Operator, endings: list[Operator], layer: int
    ) -> None:  # fmt: skip
        super().__init__(unit, "join", node.pair, left, right, layer)
        self.sides, self.conditions, self.ended = node.sides, node.conditions, bool(endings)
        self.checked = used_by(self.conditions)
        self.require(self.checked)
        self.stores: list[str | None] = [None, None]
        for side, input_ in enumerate(self.inputs):
            if self._kept(side) is None or self.sides[side].looks:
                input_.feed(partial(self.arrive, side=side))
        if isinstance(left, Scan) and is_before(node.pair.relation):
            left.is_last = True  # an event that matches both sides need not find itself
        for side in (0, 1):
            if self.sides[side].suppressed and isinstance(stored_by(self.inputs[1 - side]), Scan):
                self._narrow(side)
        for ending, operator in zip(node.endings, endings, strict=True):
            operator.want(("var", name) for name in ending.shared)
            operator.feed(partial(self.end, ending=ending))

    def _narrow(self, side: int) -> None:
        """Drop events of a suppressed side while nothing of their key waits on the other side."""
        if isinstance(self.inputs[side], Scan) or not self.sides[1 - side].stored:
            return  # it probes the other side anyway
        for scan in scans_in(self.inputs[side]):
            if same_kinds(self.pair.shared, scan, self.inputs[side]):
                scan.want(("var", name) for name in self.pair.shared)
                scan.gates.append(partial(self._waits, side=1 - side))

    def _waits(self, w: Writer, env: Env, side: int) -> str:
        """Source that is true if a match with the key of an event waits on a side."""
        key = key_of(self.unit, w, self._key(side), env, self.inputs[side])
        if key is None:
            return "False"
        store = self._store(side)
        here = w.let("waits", "False")
        with w.when(key.there):
            at = lookup(self.unit, w, "find", store, key.parts)
            waits = f"{store}.newest[{at}] >= {store}.low"
            if self._is_beside(side):
                waits = f"{store}.newest_end[{at}] > {NO_ROW}"
            elif (life := self.sides[side].lifetime.end) is not None:
                waits += f" and clock.now - {store}.newest_end[{at}] <= {self.unit.number(life)}"
            w.line(f"{here} = {f'{at} >= 0 and ' if key.parts else ''}{waits}")
        return here

    def _kept(self, side: int) -> View | None:
        """The view of a side whose store other joins share; None if it is not shared."""
        found = self.inputs[side]
        return found if isinstance(found, View) and found.key is not None else None

    def _key(self, side: int) -> Sequence[str]:
        """The variables by which a side is stored, in order."""
        kept = self._kept(side)
        return self.pair.shared if kept is None or kept.key is None else kept.key

    def _store(self, side: int) -> str:
        """The store of a side; its layout is fixed on first use, when all wanted fields are known."""
        kept = self._kept(side)
        if kept is not None:
            return kept.store()
        found = self.stores[side]
        if found is None:
            fields = row_fields(self.kept(side))
            kinds = key_kinds(self.pair.shared, *self.inputs)
            title = "lefts" if side == 0 else "rights"
            if self._is_beside(side):
                found = self.by_key(title, NewestStore, newest_store_layout(fields), kinds)
            else:
                found = self.by_key(title, Store, store_layout(fields, ended=self.ended and side == 0), kinds)
            self.stores[side] = found
        return found

    def _is_beside(self, side: int) -> bool:
        """True if the newest row of each key lies beside the key: rows can be ended, and do not expire earlier."""
        return self.ended and side == 0 and self.sides[0].lifetime.end is None

    def arrive(self, w: Writer, env: Env, side: int) -> None:
        """Write the arrival of a match of one side: it probes earlier partners, and is stored for later ones."""
        unit, own, other = self.unit, self.sides[side], self.sides[1 - side]
        looks, stored = own.looks and other.stored, own.stored and self._kept(side) is None
        if not (looks or stored):
            return
        names = self._key(1 - side)
        key = key_of(unit, w, names, env, self.inputs[1 - side])
        if key is None:
            return
        with w.when(key.there):
            if looks:
                self._probe(w, env, side, key.parts)
            if stored:
                parts = dict(zip(names, key.parts, strict=True))
                self._insert(w, env, side, [parts[name] for name in self.pair.shared])

    def _probe(self, w: Writer, env: Env, side: int, key: list[str]) -> None:
        unit, store = self.unit, self._store(1 - side)
        at = lookup(unit, w, "find", store, key)
        with w.when(f"{at} >= 0" if key else "True"):
            if self._is_beside(1 - side):
                self._probe_newest(w, env, store, at)
                return
            row = w.let("row", f"{store}.newest[{at}]")
            limit, life = None, self.sides[1 - side].lifetime
            if self.ended and side == 1:
                limit = w.let("over", f"ended_at({store}, {at}, clock.now)")
                with w.block(f"if {store}.newest_end[{at}] < {limit}:"):
                    w.line(f"{row} = -1")
            elif life.end is not None:
                with w.block(f"if clock.now - {store}.newest_end[{at}] > {unit.number(life.end)}:"):
                    w.line(f"{row} = -1")
            with w.block(f"while {row} >= {store}.low:"):
                place = w.let("p", f"{row} & {store}.mask")
                if life.end is not None:
                    with w.block(f"if clock.now - {store}.end[{place}] > {unit.number(life.end)}:"):
                        w.line("break")
                if limit is not None:
                    with w.block(f"if {store}.end[{place}] < {limit}:"):
                        w.line("break")
                w.line(f"{row} = {store}.older[{place}]")
                kept = self._kept(1 - side)
                there = kept.row(place) if kept else self.read(store, place, 1 - side, env)
                there[START] = Code(w.let("begin", f"{store}.start[{place}]"), "True", "i")
                self._pair(w, env, side, there, w.let("finish", f"{store}.end[{place}]"))

    def _probe_newest(self, w: Writer, env: Env, store: str, at: str) -> None:
        """Write the probe of a right side for left ones: the newest, then those of the ring."""
        names = ("start", *row_fields(self.kept(0)))
        limit = w.let("over", f"ended_at({store}, {at}, clock.now)")
        end = w.let("finish", f"{store}.newest_end[{at}]")
        more = w.let("more", f"{end} >= {limit}")
        held = {name: w.let(name, f"{store}.newest_{name}[{at}]") for name in names}
        row = w.let("row", f"{store}.newest[{at}]")
        with w.block(f"while {more}:"):
            there = self._with_shared(read_fields(held.__getitem__, self.kept(0)), 0, env)
            there[START] = Code(held["start"], "True", "i")
            self._pair(w, env, 1, there, end)
            w.line(f"{more} = False")
            with w.block(f"if {row} >= {store}.low:"):
                place = w.let("p", f"{row} & {store}.mask")
                w.line(f"{end} = {store}.end[{place}]")
                w.line(f"{more} = {end} >= {limit}")
                for name, local in held.items():
                    w.line(f"{local} = {store}.{name}[{place}]")
                w.line(f"{row} = {store}.older[{place}]")

    def _pair(self, w: Writer, env: Env, side: int, there: Env, end: str) -> None:
        """Write code that passes on a match of one side with one of the other, which ended at `end`, if they fit."""
        points = [(env[START].value, "clock.now"), (there[START].value, end)]
        envs = [env, there]
        if side == 1:
            points.reverse()
            envs.reverse()
        with w.when(related(self.unit, self.pair.relation, points[0], points[1])):
            match = self.env_of(w, envs[0], envs[1], (points[0][1], points[1][1]))
            tests = [f"({truth(self.unit, w, condition, match)})" for condition in self.conditions]
            with w.when(all_of(*(t for t in tests if t != "(True)"))):
                self.push(w, match)

    def _insert(self, w: Writer, env: Env, side: int, key: list[str]) -> None:
        unit, store, life = self.unit, self._store(side), self.sides[side].lifetime
        if self._is_beside(side):
            store_newest(unit, w, store, key, env, self.kept(side), life.start, self._looked_for)
        else:
            ended = self.ended and side == 0
            store_match(unit, w, store, key, env, self.kept(side), life.end, life.start, ended)

    @property
    def _looked_for(self) -> bool:
        """True if a given event may probe for left sides after it has become one itself."""
        left, right = self.inputs
        last = isinstance(left, Scan) and (left.is_last or left.atom.event in self.unit.derived)
        return not (last and isinstance(right, Scan) and right.atom.event not in self.unit.derived)

    def end(self, w: Writer, env: Env, ending: plan.Ending) -> None:
        """Write the arrival of a forbidden event between the sides: left ones before it are dropped after its step."""
        store = self._store(0)
        key = key_of(self.unit, w, ending.shared, env, self.inputs[0])
        if key is None:
            return
        with w.when(key.there):
            at = lookup(self.unit, w, "find", store, key.parts)
            with w.when(f"{at} >= 0" if key.parts else "True"), w.block(f"if {store}.ended[{at}] < clock.now:"):
                w.line(f"{store}.ended_before[{at}] = {store}.ended[{at}]")
                w.line(f"{store}.ended[{at}] = clock.now")
