"""Choose: pairs by parameter contexts. Initiators wait; a terminator takes those that its context offers.

Instances arrive in their order; where either side may be the initiator, in one order of both, the left before the right
at a tie. Null correlates with nothing, and neither waits nor takes. A terminator takes, of the eligible initiators of
its key (`eligible.py`): the newest, and all older ones are dropped (recent; continuous, where it stays); the oldest, or
each if the terminator is continuous (chronicle); or all as one composite (cumulative). Pairs that are rejected later
consume their initiators all the same. In a conjunction an instance that takes no initiator waits itself, and a
continuous terminator that took one waits as the only one of its side.

State: the initiators that are not consumed, as long as they can be eligible (`structures/waiting.py`). Where only the
newest of recent or continuous initiators can ever be taken, that is one for each key, beside those of the current step;
of these the last, where it comes before the others (`structures/latest.py`). Where a newer one must have ended some
time ago, older ones are dropped when the pool is full.
"""

from __future__ import annotations

from functools import partial

from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator, read_fields, read_row, row_fields, write_fields, write_row
from ensue.engine.generate.unit import NEVER, Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.cumulative import Composite, Cumulative
from ensue.engine.operators.eligible import Eligible, Newest, newest
from ensue.engine.operators.join import Pairing
from ensue.engine.operators.keys import key_kinds, key_of, lookup
from ensue.engine.operators.merged import Merged, beneath, come_in_order, single_scan
from ensue.engine.operators.ordered import in_order
from ensue.engine.operators.parts import Seen, order_fields, return_whether_before
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.latest import NO_INSTANCE, Latest, latest_layout
from ensue.engine.structures.waiting import KERNELS, Waiting, waiting_layout
from ensue.plan import operators as plan
from ensue.temporal.instants import is_instant


def choose(unit: Unit, node: plan.Choose, left: Operator, right: Operator, layer: int) -> Operator:
    """A choice on top of its sides, whose matches it takes in their order."""
    if node.pair.initiator is not None:
        left, right = (each if single_scan(each) else in_order(unit, each, layer) for each in (left, right))
    return Choose(unit, node, left, right, layer)


class Choose(Pairing):
    """Pairs by contexts; see the module."""

    def __init__(self, unit: Unit, node: plan.Choose, left: Operator, right: Operator, layer: int) -> None:
        super().__init__(unit, "choose", node.pair, left, right, layer)
        pair = node.pair
        assert pair.left_context is not None
        assert pair.right_context is not None
        self.contexts = (pair.left_context, pair.right_context)
        self.lifetimes = node.lifetimes
        gatherings = (pair.left_gathering, pair.right_gathering)
        self.cumulative = tuple(
            None if id_ is None else Cumulative(unit, id_, self.inputs[side], self.inputs[1 - side], pair.shared)
            for side, id_ in enumerate(gatherings)
        )
        self.eligible = Eligible(unit, node, self.inputs)
        self.stored: list[str | None] = [None, None]
        self.instant = tuple(is_instant(pattern, unit.events) for pattern in (pair.left, pair.right))
        self.newest = tuple(self._newest(side) for side in (0, 1))
        unit.inputs_need_order = True
        self.late = tuple(self._comes_late(side) for side in (0, 1))
        self.merged: Merged | None = None
        if pair.initiator is None and not come_in_order(unit, self.inputs):
            self.merged = Merged(self, self.inputs, self.arrive)
        else:
            for side, input_ in enumerate(self.inputs):
                input_.feed(partial(self.arrive, side=side))

    def _newest(self, side: int) -> Newest | None:
        one_is_taken = self.contexts[side].initiator in ("recent", "continuous")
        return newest(self.eligible, side, self.unit.events) if one_is_taken else None

    def _comes_late(self, side: int) -> bool:
        """True if a side's matches of a step do not all come at once, so that one may belong before others.

        Events that the rules of this layer or a later one derive come after the others, in their own order.
        """
        late = False
        for each in beneath(self.inputs[side]):
            if isinstance(each, Scan):
                each.ordered = True
                late = late or self.unit.derived.get(each.atom.event, -1) >= self.layer
        if late and single_scan(self.inputs[side]) is None:
            self.inputs[side].want(order_fields(self.inputs[side]))
            return True
        return False

    # --- fields of its matches

    def _parts(self, side: int) -> int:
        cumulative = self.cumulative[side]
        return self.inputs[side].parts if cumulative is None else cumulative.parts

    def _order(self, side: int, row: str) -> Env:
        """The fields that decide the order of a waiting row."""
        waiting = self._waiting(side)
        env = read_row(waiting, row, self.kept(side))
        env[START] = Code(f"{waiting}.start[{row}]", "True", "i")
        return env

    @property
    def parts(self) -> int:
        return self._parts(0) + self._parts(1)

    @property
    def chains(self) -> frozenset[int]:
        found: set[int] = set()
        for side, first in ((0, 0), (1, self._parts(0))):
            cumulative = self.cumulative[side]
            own = self.inputs[side].chains if cumulative is None else range(cumulative.parts)
            found |= {first + number for number in own}
        return frozenset(found)

    @property
    def ragged(self) -> bool:
        return bool(self.chains) or super().ragged

    def _has(self, side: int, field: Field) -> bool:
        cumulative = self.cumulative[side]
        return self.inputs[side].has(field) if cumulative is None else cumulative.has(field)

    def route(self, field: Field) -> tuple[int, Field]:
        match field:
            case ("part", int(number), which):
                left = self._parts(0)
                return (0, field) if number < left else (1, ("part", number - left, which))
            case _:
                return int(self._has(1, field)), field

    def has(self, field: Field) -> bool:
        if field[0] == "part":
            return int(str(field[1])) < self.parts
        return field[:2] == ("span", self.pair.id) or self._has(0, field) or self._has(1, field)

    def require(self, fields: list[Field]) -> None:
        for field in fields:
            if field[:2] == ("span", self.pair.id):
                continue
            for side, inner in [(0, field), (1, field)] if field in (SOURCE, OLDEST) else [self.route(field)]:
                cumulative = self.cumulative[side]
                if cumulative is None:
                    self.inputs[side].want([inner])
                else:
                    cumulative.want(inner)

    def column(self, field: Field) -> Column:
        if field[:2] != ("span", self.pair.id) and field not in (SOURCE, OLDEST):
            side, inner = self.route(field)
            cumulative = self.cumulative[side]
            if cumulative is not None and not (field[0] == "var" and field[1] in self.pair.shared):
                return cumulative.column(inner)
        return super().column(field)

    # --- waiting instances

    def _waiting(self, side: int) -> str:
        found = self.stored[side]
        if found is None:
            layout, kinds = waiting_layout(row_fields(self.kept(side))), key_kinds(self.pair.shared, *self.inputs)
            found = self.stored[side] = self.by_key("waiting", Waiting, layout, kinds)
            for text in KERNELS:
                self.unit.use(text)
        return found

    def _is_latest(self, side: int) -> bool:
        """True if only the last instance of a side that ended before the current step can be taken."""
        newest = self.newest[side]
        if self.pair.initiator != side or newest is None or self.late[side]:
            return False
        return newest.ripe == 1 and newest.at_once and not newest.by_start

    def _latest(self, side: int) -> str:
        found = self.stored[side]
        if found is None:
            layout, kinds = latest_layout(row_fields(self.kept(side))), key_kinds(self.pair.shared, *self.inputs)
            found = self.stored[side] = self.by_key("latest", Latest, layout, kinds)
        return found

    def _replace(self, w: Writer, env: Env, side: int, key: list[str]) -> None:
        """Write code by which an instance waits as the last of its key; the one before stays for the current step."""
        latest, life = self._latest(side), self.lifetimes[side]
        at = lookup(self.unit, w, "slot", latest, key)
        if life.end is not None:
            w.line(f"{latest}.over = clock.now - {self.unit.number(life.end)}")
        with w.block(f"if {latest}.fresh_end[{at}] < clock.now:"):
            for name in ("end", "start", *row_fields(self.kept(side))):
                w.line(f"{latest}.settled_{name}[{at}] = {latest}.fresh_{name}[{at}]")
        w.line(f"{latest}.fresh_end[{at}] = clock.now")
        w.line(f"{latest}.fresh_start[{at}] = {env[START].value}")
        write_fields(w, lambda name: f"{latest}.fresh_{name}[{at}]", self.kept(side), env)

    def _take_latest(self, w: Writer, env: Env, side: int, at: str) -> None:
        """Write code by which a terminator takes the last initiator that ended before the current step, if eligible."""
        other = 1 - side
        latest, recent = self._latest(other), self.contexts[other].initiator == "recent"
        end = w.let("finish", f"{latest}.fresh_end[{at}]")
        names = ("start", *row_fields(self.kept(other)))
        held = {name: w.let(name, f"{latest}.fresh_{name}[{at}]") for name in names}
        fresh = w.let("fresh", f"{end} < clock.now")
        with w.block(f"if not {fresh}:"):
            w.line(f"{end} = {latest}.settled_end[{at}]")
            for name, local in held.items():
                w.line(f"{local} = {latest}.settled_{name}[{at}]")
        with w.block(f"if {end} > {NO_INSTANCE}:"):
            there = self._with_shared(read_fields(held.__getitem__, self.kept(other)), other, env)
            there[START] = Code(held["start"], "True", "i")
            sides = (there, env) if side == 1 else (env, there)
            with self.eligible.when(w, *sides, self._ends(side, end)):
                if recent:
                    w.line(f"{latest}.settled_end[{at}] = {NO_INSTANCE}")
                    with w.block(f"if {fresh}:"):
                        w.line(f"{latest}.fresh_end[{at}] = {NO_INSTANCE}")
                self._compose(w, env, side, there, end, None)

    def _over(self, side: int, row: str) -> str:
        """Source that is true if an initiator is too old for all later terminators."""
        waiting, life, tests = self._waiting(side), self.lifetimes[side], []
        if life.end is not None:
            tests.append(f"clock.now - {waiting}.end[{row}] > {self.unit.number(life.end)}")
        if life.start is not None and not (self.instant[side] and life.end is not None and life.end <= life.start):
            tests.append(f"clock.now - {waiting}.start[{row}] > {self.unit.number(life.start)}")
        return " or ".join(tests)

    def _wait(self, w: Writer, env: Env, side: int, key: list[str], alone: str | None) -> None:
        """Write code by which an instance waits; if `alone` is true, all others of its side are dropped."""
        unit, waiting, life = self.unit, self._waiting(side), self.lifetimes[side]
        newest = self.newest[side]
        lives = [unit.number(NEVER if length is None else length) for length in (life.start, life.end)]
        ripe = unit.number(NEVER if newest is None else newest.ripe)
        by_start = int(newest is not None and newest.by_start)
        with w.block(f"if {waiting}.free < 0 and {waiting}.count == {waiting}.capacity:"):
            w.line(f"make_way({waiting}, clock.now, {lives[0]}, {lives[1]}, {ripe}, {by_start})")
        at = lookup(unit, w, "slot", waiting, key)
        if alone is not None:
            with w.block(f"if {alone}:"):
                w.line(f"take_out_to({waiting}, {at}, {waiting}.newest[{at}])")
        if newest is not None and newest.ripe <= 1:
            self._let_go(w, env, side, at, newest)
        row = w.let("row", f"new_row({waiting})")
        w.line(f"{waiting}.start[{row}] = {env[START].value}")
        w.line(f"{waiting}.end[{row}] = clock.now")
        write_row(w, waiting, row, self.kept(side), env)
        older = w.let("older", f"{waiting}.newest[{at}]")
        if self.late[side]:
            before = f"before_{self.name}_{side}({row}, {older})"
            with w.block(f"while {older} >= 0 and {waiting}.end[{older}] == clock.now and {before}:"):
                w.line(f"{older} = {waiting}.older[{older}]")
        w.line(f"put_in({waiting}, {at}, {row}, {older})")

    def _let_go(self, w: Writer, env: Env, side: int, at: str, newest: Newest) -> None:
        """Write code that drops instances which can no longer be taken, now that there is a newer one."""
        waiting = self._waiting(side)
        last = w.let("last", f"{waiting}.newest[{at}]")
        if newest.ripe < 1 and not newest.by_start and not self.late[side]:
            w.line(f"take_out_to({waiting}, {at}, {last})")
            return
        if newest.at_once and not self.late[side]:
            with w.block(f"while {last} >= 0 and {waiting}.end[{last}] == clock.now:"):
                w.line(f"take_out({waiting}, {at}, {last})")
                w.line(f"{last} = {waiting}.newest[{at}]")
        if not newest.by_start:
            with w.block(f"if {last} >= 0 and {waiting}.end[{last}] < clock.now:"):
                w.line(f"take_out_to({waiting}, {at}, {waiting}.older[{last}])")
        elif newest.ripe < 1 and not self.late[side]:
            with w.block(f"while {last} >= 0 and {waiting}.start[{last}] <= {env[START].value}:"):
                w.line(f"take_out({waiting}, {at}, {last})")
                w.line(f"{last} = {waiting}.newest[{at}]")
        else:
            with w.block(f"if {last} >= 0 and {waiting}.end[{last}] < clock.now:"):
                older = w.let("older", f"{waiting}.older[{last}]")
                with w.block(f"while {older} >= 0 and {waiting}.start[{older}] <= {waiting}.start[{last}]:"):
                    w.line(f"take_out({waiting}, {at}, {older})")
                    w.line(f"{older} = {waiting}.older[{last}]")

    # --- arrivals

    def arrive(self, w: Writer, env: Env, side: int) -> None:
        """Write the arrival of an instance of one side: it takes initiators of the other one, or waits."""
        unit, pair, other = self.unit, self.pair, 1 - side
        looks, waits = pair.initiator != side, pair.initiator in (None, side)
        key = key_of(unit, w, pair.shared, env, self.inputs[other])
        if key is None:
            return
        with w.when(key.there):
            taken = w.let("taken", "False") if looks and waits else None
            if looks:
                latest = self._is_latest(other)
                at = lookup(unit, w, "find", self._latest(other) if latest else self._waiting(other), key.parts)
                with w.when(f"{at} >= 0" if key.parts else "True"):
                    if latest:
                        self._take_latest(w, env, side, at)
                    else:
                        self._select(w, env, side, at, taken)
            if self._is_latest(side):
                self._replace(w, env, side, key.parts)
            elif waits and taken is not None and self.contexts[side].terminator != "continuous":
                with w.block(f"if not {taken}:"):
                    self._wait(w, env, side, key.parts, None)
            elif waits:
                self._wait(w, env, side, key.parts, taken)

    def _select(self, w: Writer, env: Env, side: int, at: str, taken: str | None) -> None:
        """Write code by which a terminator takes the initiators that the context of the other side offers."""
        other = 1 - side
        waiting, context = self._waiting(other), self.contexts[other].initiator
        newest_first = context in ("recent", "continuous")
        each = context == "chronicle" and self.contexts[side].terminator == "continuous"
        cumulative = self.cumulative[other]
        composite = None if cumulative is None else Composite(cumulative, w, self.wanted)
        found = w.let("found", "-1")
        row = w.let("row", f"{waiting}.{'newest' if newest_first else 'oldest'}[{at}]")
        with w.block(f"while {row} >= 0:"):
            following = w.let("next", f"{waiting}.{'older' if newest_first else 'newer'}[{row}]")
            self._leave_out(w, env, side, at, row, following, newest_first)
            there, ends = self.read(waiting, row, other, env), self._ends(side, f"{waiting}.end[{row}]")
            sides = (there, env) if side == 1 else (env, there)
            with self.eligible.when(w, *sides, ends):
                if composite is not None:
                    composite.add(w, there, f"{waiting}.end[{row}]", env)
                    with w.block(f"if {found} < 0:"):
                        w.line(f"{found} = {row}")
                    w.line(f"take_out({waiting}, {at}, {row})")
                elif each:
                    w.line(f"take_out({waiting}, {at}, {row})")
                    self._compose(w, env, side, there, f"{waiting}.end[{row}]", taken)
                else:
                    w.line(f"{found} = {row}")
                    w.line("break")
            w.line(f"{row} = {following}")
        if each:
            return
        with w.block(f"if {found} >= 0:"):
            there, end = self.read(waiting, found, other, env), f"{waiting}.end[{found}]"
            match context:
                case "recent":
                    w.line(f"take_out_to({waiting}, {at}, {found})")
                case "continuous":
                    w.line(f"take_out_to({waiting}, {at}, {waiting}.older[{found}])")
                case "chronicle":
                    w.line(f"take_out({waiting}, {at}, {found})")
                case _:
                    assert composite is not None
                    there, end = composite.found(w, there), composite.end
            self._compose(w, env, side, there, end, taken)

    def _ends(self, side: int, end: str) -> tuple[str, str]:
        """The ends of both sides, where one arrives now and the other ended at `end`."""
        return (end, "clock.now") if side == 1 else ("clock.now", end)

    def _leave_out(
        self, w: Writer, env: Env, side: int, at: str, row: str, following: str, newest_first: bool
    ) -> None:  # fmt: skip
        """Write code that drops an expired initiator, and leaves the loop where no further one can be eligible."""
        other, waiting = 1 - side, self._waiting(1 - side)
        life = self.lifetimes[other]
        if newest_first and life.end is not None:
            with w.block(f"if clock.now - {waiting}.end[{row}] > {self.unit.number(life.end)}:"):
                w.line(f"take_out_to({waiting}, {at}, {row})")
                w.line("break")
        elif over := self._over(other, row):
            with w.block(f"if {over}:"):
                w.line(f"take_out({waiting}, {at}, {row})")
                w.line(f"{row} = {following}")
                w.line("continue")
        terminator = (env[START].value, "clock.now")
        stop = self.eligible.none_further(terminator, f"{waiting}.end[{row}]", other, newest_first)
        if stop:
            with w.block(f"if {stop}:"):
                w.line("break")

    def _compose(self, w: Writer, env: Env, side: int, there: Env, end: str, taken: str | None) -> None:
        """Write code that passes on a terminator with an initiator, or with a composite of several."""
        if taken is not None:
            w.line(f"{taken} = True")
        own = self.cumulative[side]
        if own is not None:
            composite = Composite(own, w, self.wanted)
            composite.add(w, env, "clock.now", there)
            env = composite.found(w, env)
        sides = (there, env) if side == 1 else (env, there)
        self.push(w, self.env_of(w, *sides, self._ends(side, end)))

    def write(self) -> None:
        super().write()
        if self.merged is not None:
            self.merged.write()
        for side in (0, 1):
            if self.late[side] and self.pair.initiator in (None, side):
                w = Writer()
                one, other = (Seen(self.inputs[side], self._order(side, row)) for row in ("one", "other"))
                return_whether_before(self.unit, w, one, other, tie=False)
                self.unit.function(f"before_{self.name}_{side}", ["one: int", "other: int"], w, "bool")
