"""Eligibility: the condition under which instances of the two sides of a choice may be paired at all.

It consists of every temporal condition of the body that the pairing determines (the relation, `within`, `lasting`,
relative timers, relations between names), of every conjunct of ``on`` whose names it has, and of the condition that no
event is on both sides. `where` and absences are checked on the chosen pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
from ensue.records import dataclass
from ensue.temporal.constraints import Events
from ensue.temporal.instants import is_instant


@dataclass(frozen=True)
class Bound:
    """Bounds on the distance from a point of the initiator to one of the terminator: at least `low`, at most `high`."""

    end: bool
    """True if the terminator's point is its end."""
    of_end: bool
    low: int | None
    high: int | None


def bounds(relation: typed.Relation, initiator: int) -> list[Bound] | None:
    """The bounds of a relation on the distances between its sides; None if it also limits one side alone."""
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
    """The eligibility of two instances; see the module."""

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
        """Write lines for instances that may be paired."""
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
        """Add the timers that the pairing determines; returns conditions on the length."""
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
        """The conditions that no event of an instance ended too long before the end of the pair."""
        return [] if self.keep is None else [f"{end} - {env[OLDEST].value} <= {self.unit.number(self.keep)}"]

    def _lasts(self, length: str) -> list[str]:
        tests = [] if self.within is None else [f"{length} <= {self.unit.number(self.within)}"]
        if self.lasting is not None:
            tests.append(f"{length} {'==' if self.whole else '<='} {self.unit.number(self.lasting)}")
        return tests

    def none_further(self, terminator: tuple[str, str], end: str, initiator: int, newest_first: bool) -> str:
        """Source that is true if no further initiator is eligible, as all of them ended at or after `end`.

        Newest first: as they ended at or before it.
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
    """Condition under which each terminator that could take an older initiator takes a newer one.

    It must have ended `ripe` ago, and, where `by_start` is set, start no earlier. With `at_once` the last of those that
    end together comes before the others in any case.
    """

    ripe: int
    by_start: bool
    at_once: bool


def newest(eligible: Eligible, initiator: int, events: Events) -> Newest | None:
    """The condition under which only the newest initiators of a side matter; None if older ones may always matter."""
    own, terminator = eligible.inputs[initiator], eligible.patterns[1 - initiator]
    instant, instant_other = is_instant(eligible.patterns[initiator], events), is_instant(terminator, events)
    known = bounds(eligible.pair.relation, initiator)
    names = [timer.of for timer in eligible.timers] + [name for r in eligible.related for name in (r.left, r.right)]
    of_own = any(own.has(("time", name, "end")) for name in names) or any(
        own.has(("var", name)) or own.has(("time", name, "end")) for each in eligible.on for name in names_used(each)
    )
    composite = not isinstance(eligible.patterns[initiator], typed.Atom)  # it may consist of older events
    if known is None or of_own or (eligible.lasting is not None and eligible.whole):
        return None
    if eligible.keep is not None and composite:
        return None
    by_start = (eligible.within is not None or eligible.lasting is not None) and not instant
    ripe, at_once = 0, True
    if eligible.shared.parts:
        if not isinstance(terminator, typed.Atom):  # an event cannot be part of an earlier initiator
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
