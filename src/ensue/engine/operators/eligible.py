"""Eligibility: which instances of the two sides of a choice may be paired at all.

That is decided by every temporal condition of the body that the pairing determines (the relation, `within`, `lasting`,
relative timers, relations between names) and every conjunct of ``on`` whose names it knows, and by no event standing on
both sides. `where` and absence are checked on what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ensue.engine.generate.expressions import truth
from ensue.engine.generate.fields import OLDEST, START, Env, Field, used_by
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.join import related
from ensue.engine.operators.parts import Shared, part_types
from ensue.engine.operators.wait import set_timer
from ensue.language import typed
from ensue.language.walk import names_used
from ensue.plan import operators as plan
from ensue.temporal.constraints import Events, constrain


@dataclass(frozen=True)
class Bound:
    """A bound on how far a point of the terminator lies behind one of the initiator: at least `low`, at most `high`."""

    end: bool
    """Whether the terminator's point is its end."""
    of_end: bool
    low: int | None
    high: int | None


def bounds(relation: typed.Relation, initiator: int) -> list[Bound] | None:
    """What a relation says of the distances between its sides; None if it says something of one side alone."""
    found = []
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        if earlier == later:
            return None
        if earlier == initiator:
            found.append(Bound(later_end, earlier_end, distance.low, distance.high))
        else:
            low = None if distance.high is None else -distance.high
            found.append(Bound(earlier_end, later_end, low, None if distance.low is None else -distance.low))
    return found


class Eligible:
    """Whether two instances may be paired; see the module."""

    def __init__(self, unit: Unit, node: plan.Choose, inputs: tuple[Operator, Operator]) -> None:
        self.unit, self.pair, self.inputs = unit, node.pair, inputs
        body = node.body
        labels = {timer.of for timer in body.timers if self._labels(timer.of)}
        labels |= {name for each in body.related for name in (each.left, each.right) if self._labels(name)}
        self.timers: list[typed.Timer] = []
        for timer in body.timers:
            if timer.of in labels:
                self.timers.append(timer)
                labels |= {timer.label} if timer.label is not None else set()
        self.timed = {timer.label for timer in self.timers}
        self.related = [each for each in body.related if {each.left, each.right} <= labels]
        self.on = [each for each in body.on if all(map(self._knows, names_used(each)))]
        self.within, self.lasting = body.within, body.lasting
        self.keep = body.keep
        for input_ in inputs if self.keep is not None else ():
            input_.want([OLDEST])
        self.whole = body.pattern is not None and body.pattern.id == node.pair.id
        apart = any(
            bound.low is not None and bound.low >= 1 and not bound.end and bound.of_end
            for side in (0, 1)
            for bound in bounds(node.pair.relation, side) or ()
        )
        self.patterns = (node.pair.left, node.pair.right)
        left, right = ([] if apart else part_types(p, i.parts) for p, i in zip(self.patterns, inputs, strict=True))
        self.shared = Shared(inputs, (left, right))
        for side, input_ in enumerate(inputs):
            input_.want(field for field in self._fields() if input_.has(field))
            input_.want(self.shared.fields(side))

    def _labels(self, label: str) -> bool:
        return any(input_.has(("time", label, "end")) for input_ in self.inputs)

    def _knows(self, name: str) -> bool:
        return self._labels(name) or name in self.timed or any(i.has(("var", name)) for i in self.inputs)

    def _fields(self) -> list[Field]:
        names = [timer.of for timer in self.timers] + [name for r in self.related for name in (r.left, r.right)]
        times: list[Field] = [("time", name, which) for name in names for which in ("start", "end")]
        return [*times, *used_by(self.on)]

    # --- code

    @contextmanager
    def when(self, w: Writer, left: Env, right: Env, ends: tuple[str, str]) -> Iterator[None]:
        """Lines for instances that may be paired."""
        unit = self.unit
        points = (left[START].value, ends[0]), (right[START].value, ends[1])
        common = self.shared.test(unit, left, right)
        tests = [related(unit, self.pair.relation, *points), f"not {common}" if common != "False" else "True"]
        if not self.timers:
            tests += self._lasts(f"clock.now - min({points[0][0]}, {points[1][0]})")
            tests += [test for side in (left, right) for test in self._is_kept(side, "clock.now")]
        with w.when(all_of(*tests)):
            env = Env({**left, **right})
            if self.keep is not None:
                env[OLDEST] = Code(f"min({left[OLDEST].value}, {right[OLDEST].value})", "True", "i")
            later = self._set_timers(w, env, points) if self.timers else []
            for each in self.related:
                one, other = (_times(env, name) for name in (each.left, each.right))
                later.append(related(unit, each.relation, one, other))
            with w.when(all_of(*later)):
                conditions = [f"({truth(unit, w, condition, env)})" for condition in self.on]
                with w.when(all_of(*(c for c in conditions if c != "(True)"))):
                    yield

    def _set_timers(self, w: Writer, env: Env, points: tuple[tuple[str, str], tuple[str, str]]) -> list[str]:
        """Adds the timers that the pairing determines; gives what then must hold of the length."""
        unit = self.unit
        start, end = f"min({points[0][0]}, {points[1][0]})", "clock.now"
        for timer in self.timers:
            begins, ends = set_timer(unit, w, env, timer)
            if timer.label is not None:
                env["time", timer.label, "start"] = Code(begins, "True", "i")
                env["time", timer.label, "end"] = Code(ends, "True", "i")
            start, end = f"min({start}, {begins})", f"max({end}, {ends})"
        return [*self._lasts(f"{end} - {start}"), *self._is_kept(env, end)]

    def _is_kept(self, env: Env, end: str) -> list[str]:
        """What must hold so that no event of an instance ended too long before the end of the pair."""
        return [] if self.keep is None else [f"{end} - {env[OLDEST].value} <= {self.unit.number(self.keep)}"]

    def _lasts(self, length: str) -> list[str]:
        tests = [] if self.within is None else [f"{length} <= {self.unit.number(self.within)}"]
        if self.lasting is not None:
            tests.append(f"{length} {'==' if self.whole else '<='} {self.unit.number(self.lasting)}")
        return tests

    def none_further(self, terminator: tuple[str, str], end: str, initiator: int, newest_first: bool) -> str:
        """Source for whether no initiator behind one that ended then is eligible, as all of them ended no earlier.

        Newest first: as they ended no later.
        """
        tests = []
        for bound in bounds(self.pair.relation, initiator) or ():
            limit = bound.high if newest_first else bound.low
            if bound.of_end and limit is not None:
                gap = f"{terminator[bound.end]} - {end}"
                tests.append(f"{gap} {'>' if newest_first else '<'} {self.unit.number(limit)}")
        return " or ".join(tests)


def _times(env: Env, name: str) -> tuple[str, str]:
    return env["time", name, "start"].value, env["time", name, "end"].value


@dataclass(frozen=True)
class Newest:
    """When a newer initiator always comes before an older one: each terminator that could take the older takes it.

    It must have ended `ripe` ago, and, where `by_start` is set, start no earlier. With `at_once` the last of those that
    end together comes before the others in any case.
    """

    ripe: int
    by_start: bool
    at_once: bool


def newest(eligible: Eligible, initiator: int, events: Events) -> Newest | None:
    """Whether only the newest initiators of a side matter, of which a terminator takes the newest eligible one."""
    own, terminator = eligible.inputs[initiator], eligible.patterns[1 - initiator]
    instant, instant_other = is_instant(eligible.patterns[initiator], events), is_instant(terminator, events)
    known = bounds(eligible.pair.relation, initiator)
    names = [timer.of for timer in eligible.timers] + [name for r in eligible.related for name in (r.left, r.right)]
    of_own = any(own.has(("time", name, "end")) for name in names) or any(
        own.has(("var", name)) or own.has(("time", name, "end")) for each in eligible.on for name in names_used(each)
    )
    composite = not isinstance(eligible.patterns[initiator], typed.Atom)  # which may be made of older events
    if known is None or of_own or (eligible.lasting is not None and eligible.whole):
        return None
    if eligible.keep is not None and composite:
        return None
    by_start = (eligible.within is not None or eligible.lasting is not None) and not instant
    ripe, at_once = 0, True
    if eligible.shared.parts:
        if not isinstance(terminator, typed.Atom):  # else it is an event that an earlier initiator cannot have
            return None
        ripe, at_once = 1, False
    for bound in known:
        if bound.high is not None and not bound.of_end and not instant:
            by_start = True
        if bound.low is not None:
            if not (bound.end or instant_other):
                return None
            ripe = max(ripe, bound.low)
            if bound.low > 0 and not (bound.of_end or instant):
                at_once = False
    return Newest(ripe, by_start, at_once)


def is_instant(pattern: typed.Pattern, events: Events) -> bool:
    """Whether all instances of a pattern start when they end."""
    return constrain(typed.Body(pattern), events).longest((pattern.id, False), (pattern.id, True)) == 0
