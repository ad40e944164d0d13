"""From a typed rule to its plan, with the results of temporal reasoning for each operator."""

from __future__ import annotations

from ensue.language import typed
from ensue.language.contained import Apart, known_names, self_contained
from ensue.language.walk import (
    has_aggregate,
    has_alternatives,
    names_used,
    pairs,
    predicates_used,
    visible_labels,
    visible_variables,
)
from ensue.plan import operators as plan
from ensue.plan.late import put_off
from ensue.plan.outside import marked, names_beside
from ensue.records import dataclass
from ensue.temporal.adjacent import ended_by
from ensue.temporal.constraints import BODY, Events, parts, selects
from ensue.temporal.instants import is_instant
from ensue.temporal.joins import Side, sides_of
from ensue.temporal.keeping import may_be_older
from ensue.temporal.lifetimes import FOREVER, Frame, ends_last, scope_length, scope_reach, since
from ensue.temporal.openers import Opener, gated_since, opener_of
from ensue.temporal.restricted import longest, memory_of, tightest


@dataclass(frozen=True)
class Planner:
    """Plans rules over event types; the flags switch optimisations off."""

    events: Events
    lifetimes: bool = True
    streaming: bool = True
    ending: bool = True
    suppressing: bool = True
    changing: bool = False
    """True if static facts may change: then a condition on them is evaluated on the complete match."""

    def rule(self, rule: typed.Rule) -> plan.Derive:
        rule = put_off(rule)
        return plan.Derive(rule, self.body(Frame.of(rule.body), tuple(term for _, term in rule.head)))

    # --- bodies

    def body(
        self, frame: Frame, head: tuple[typed.Expression, ...] = (), limit: int | None = None
    ) -> plan.Operator:  # fmt: skip
        """Plan of a body with all its conditions; matches longer than `limit` are useless to the pattern around it."""
        body = frame.body
        if body.restricted:
            assert body.pattern is not None
            found = self._restricted(body.pattern, body, tightest(limit, body.within, frame.whole.within))
            return plan.Restrict(found, (), body.within, body.lasting, body.where)
        placed, rest = _placed(body, self.changing)
        found = plan.Nothing() if body.pattern is None else self._pattern(body.pattern, frame, placed)
        for lookup in body.lookups:
            found = plan.LookUp(lookup, found)
        if body.timers:
            found = plan.Wait(body.timers, found, self._longest_wait(frame))
        if body.window is not None:
            window = body.window
            beginning = None if window.beginning is None else self._alone(window.beginning, body.keep)
            terms = tuple(term for term in head if not has_aggregate(term))
            lengths = [length for length in (body.within, body.lasting) if length is not None and self.lifetimes]
            lengths += [] if body.keep is None or not self.lifetimes else [body.keep]
            reach = min(lengths, default=None)
            collected = self._alone(window.pattern, body.keep)
            gated = gated_since(window) if self.suppressing else ()
            found = plan.Window(window, found, collected, beginning, terms, reach, body.keep, gated)
        keep = body.keep if frame.id == BODY and may_be_older(body, self.events) else None
        if body.related or body.within is not None or body.lasting is not None or keep is not None:
            found = plan.Restrict(found, body.related, body.within, body.lasting, keep=keep)
        if names := names_beside(body):
            found = plan.Seeing(names, found)
        for gathering in body.gatherings:
            found = plan.Gather(gathering, found, *self._apart(gathering, frame))
        ended = [absence for pair in pairs(body.pattern) for absence in self._ending(pair, frame)]
        for absence in body.absences:
            if absence not in ended:
                inner, reach, conditions, opener, keep = self._apart(absence, frame)
                newest = not conditions and not isinstance(inner, plan.Anew) and self._newest_decides(absence, frame)
                found = plan.Absent(absence, found, inner, reach, conditions, opener, keep, newest)
        if rest:
            found = plan.Restrict(found, conditions=rest)
        if has_alternatives(body.pattern):
            found = plan.Distinct(typed.Nested(0, body), found)
        return found

    def _longest_wait(self, frame: Frame) -> int | None:
        """Longest time from the end of a body's pattern to the end of its timers; None if nothing bounds it."""
        pattern = frame.body.pattern
        if pattern is None:
            return None
        ends = [since(frame, (id_, True), self.events) for id_ in (pattern.id, *parts(typed.Body(pattern)))]
        return min((length for length in ends if length is not None), default=None)

    def _apart(
        self, part: Apart, frame: Frame
    ) -> tuple[plan.Operator, int | None, plan.Conditions, Opener | None, int | None]:
        """Plan of a negated or gathered pattern, its lifetime, conditions that are checked with a match, its opener,
        and the largest lifetime where that must be checked.
        """
        pattern, conditions = self_contained(part)
        ahead = isinstance(part.scope, typed.During) and part.scope.label not in known_names(frame.body)
        if pattern is None or ahead:
            seen, names = marked(part.pattern)
            anew = plan.Anew(part.pattern, self._alone(seen, frame.body.keep), names, ahead)
            return anew, None, (), None, frame.body.keep
        reach = scope_reach(part.scope, frame, self.events) if self.lifetimes else None
        opener = opener_of(part, frame, self.events) if self.suppressing else None
        keep = frame.body.keep
        if keep is not None and reach is not None and reach <= keep:
            keep = None  # nothing in the scope ended earlier
        longest = scope_length(part.scope, frame, self.events)
        return self._alone(pattern, frame.body.keep, longest), reach, conditions, opener, keep

    def _newest_decides(self, absence: typed.Absence, frame: Frame) -> bool:
        """True if an instant lies in the scope of a match if and only if the newest one before its end does."""
        instants = is_instant(absence.pattern, self.events)
        return self.lifetimes and instants and ends_last(absence.scope, frame, self.events)

    def _alone(self, pattern: typed.Pattern, keep: int | None, longest: int | None = None) -> plan.Operator:
        """Plan of a pattern that stands alone: negated, gathered or collected.

        Instances longer than `longest` are useless, and may be found or not.
        """
        body = typed.Body(pattern, keep=keep)
        found = self._pattern(pattern, Frame.of(body).lasting(None if selects(body) else longest), {})
        return plan.Restrict(found, keep=keep) if may_be_older(body, self.events) else found

    # --- patterns

    def _pattern(self, pattern: typed.Pattern, frame: Frame, placed: dict[int, plan.Conditions]) -> plan.Operator:
        conditions = placed.get(pattern.id, ())
        match pattern:
            case typed.Atom():
                return plan.Scan(pattern, conditions)
            case typed.Moment() | typed.Periodic():
                return plan.Clock(pattern)
            case typed.Pair(left=left, right=right):
                one, other = self._pattern(left, frame, placed), self._pattern(right, frame, placed)
                sides = self._sides(pattern, frame)
                if pattern.left_context is not None:
                    return plan.Choose(pattern, one, other, (sides[0].lifetime, sides[1].lifetime), frame.body)
                endings = tuple(
                    plan.Ending(self._alone(absence.pattern, frame.body.keep), absence.shared)
                    for absence in self._ending(pattern, frame)
                )
                return plan.Join(pattern, one, other, sides, endings, conditions)
            case typed.Either(alternatives=alternatives):
                return plan.Alternatives(pattern, tuple(self._pattern(each, frame, placed) for each in alternatives))
            case typed.Lacking(id=id_, pattern=inner):
                return plan.Spanned(id_, self._pattern(inner, frame, placed))
            case typed.Run(pattern=inner):
                return plan.Repeat(pattern, self._alone(inner, frame.body.keep))
            case typed.Nested():
                return plan.Named(pattern, self.body(frame.inside(pattern)))

    def _ending(self, pair: typed.Pair, frame: Frame) -> tuple[typed.Absence, ...]:
        return ended_by(frame, pair, self.events) if self.ending else ()

    def _sides(self, pair: typed.Pair, frame: Frame) -> tuple[Side, Side]:
        def used(side: Side) -> Side:
            lifetime = side.lifetime if self.lifetimes else FOREVER
            return Side(lifetime, side.stored or not self.streaming, side.looks, side.suppressed and self.suppressing)

        left, right = sides_of(frame, pair, self.events)
        return used(left), used(right)

    # --- policy restricted

    def _restricted(self, pattern: typed.Pattern, body: typed.Body, limit: int | None) -> plan.Operator:
        """Plan of a pattern in a restricted body; instances longer than `limit` are useless."""
        match pattern:
            case typed.Either(alternatives=alternatives):
                inputs = tuple(self._several(each, body, limit) for each in alternatives)
                return plan.Latest(plan.Alternatives(pattern, inputs), _correlation(pattern, body))
            case typed.Pair():
                return self._restricted_pair(pattern, body, limit)
            case typed.Lacking(id=id_, pattern=inner):
                (absence,) = (each for each in body.absences if each.scope == typed.Inside(id_))
                reach, memory = longest(inner, limit, self.events), memory_of(pattern, limit, self.events)
                kept = self._restricted(inner, body, limit)
                return plan.RestrictedWithout(absence, kept, self._negated(absence.pattern, reach), reach, memory)
            case typed.Nested(body=nested):
                return plan.Named(pattern, self.body(Frame.of(nested), limit=limit))
            case _:
                return plan.Latest(self._pattern(pattern, Frame.of(body), {}), _correlation(pattern, body))

    def _restricted_pair(self, pair: typed.Pair, body: typed.Body, limit: int | None) -> plan.Operator:
        lengths = longest(pair.left, limit, self.events), longest(pair.right, limit, self.events)
        correlations = _correlation(pair.left, body), _correlation(pair.right, body)
        memory = memory_of(pair, limit, self.events)
        left = self._side(pair.left, body, limit)
        if pair.relation.word != "seq":
            right = self._side(pair.right, body, limit)
            return plan.RestrictedAnd(pair, left, right, correlations, limit, memory)
        right = self._side(pair.right, body, limit, at_once=lengths[1] == 0)
        return plan.RestrictedSequence(pair, left, right, correlations, limit, lengths, memory)

    def _side(
        self, pattern: typed.Pattern, body: typed.Body, limit: int | None, at_once: bool = True
    ) -> plan.Operator:  # fmt: skip
        """Plan of a side of a pair: one instance for each correlation and end; with `at_once` also plain events."""
        if at_once and isinstance(pattern, typed.Atom):
            return plan.Scan(pattern)
        found = self._restricted(pattern, body, limit)
        return found if _is_restricted(pattern) else plan.Latest(found, _correlation(pattern, body))

    def _several(self, pattern: typed.Pattern, body: typed.Body, limit: int | None) -> plan.Operator:
        """Plan of instances of which the operator above chooses one anyway."""
        return plan.Scan(pattern) if isinstance(pattern, typed.Atom) else self._restricted(pattern, body, limit)

    def _negated(self, pattern: typed.Pattern, limit: int | None) -> plan.Operator:
        """Plan of a negated pattern: only the latest start counts, so no operator chooses between events."""
        match pattern:
            case typed.Nested(
                body=typed.Body(pattern=typed.Atom() as atom, restricted=True, where=(), absences=()) as body
            ):
                return plan.Restrict(plan.Scan(atom), within=body.within)
            case typed.Nested(body=body):
                return plan.Named(pattern, self.body(Frame.of(body), limit=limit))
            case _:
                return self._alone(pattern, None)


def _correlation(pattern: typed.Pattern, body: typed.Body) -> tuple[str, ...]:
    """The variables that distinguish instances of a pattern in a restricted body."""
    return tuple(sorted(set(body.correlation) & visible_variables(pattern)))


def _is_restricted(pattern: typed.Pattern) -> bool:
    """True if a pattern under the policy has one instance at most for each correlation and end."""
    match pattern:
        case typed.Lacking(pattern=inner):
            return _is_restricted(inner)
        case typed.Nested(body=body):
            return body.restricted and body.pattern is not None and _is_restricted(body.pattern)
        case _:
            return True


def _placed(body: typed.Body, changing: bool) -> tuple[dict[int, plan.Conditions], plan.Conditions]:
    """The pattern at which each condition is checked: the innermost that has all its names; else the complete match.

    Where instances are chosen all conditions are checked last, since rejected instances are consumed all the same; so
    are those of a window, and those on facts that may change (`changing`).
    """
    known = visible_variables(typed.Nested(0, body)) | visible_labels(typed.Nested(0, body))
    decidable = [each for each in body.on if set(names_used(each)) <= known]  # else the pairing has checked it
    conditions = (*decidable, *body.where)
    if selects(body) or body.window is not None or body.pattern is None:
        return {}, conditions
    placed: dict[int, list[typed.Expression]] = {}
    rest = []
    shown: dict[int, set[str]] = {}
    replaced = {t for lookup in body.lookups for t in lookup.arguments if isinstance(t, typed.Variable)}
    for condition in conditions:
        node = _innermost(body.pattern, set(names_used(condition)), shown)
        last = has_aggregate(condition) or (changing and any(predicates_used(condition)))
        if last or node is None or _written_otherwise(condition, replaced):
            rest.append(condition)
        else:
            placed.setdefault(node.id, []).append(condition)
    return {id_: tuple(those) for id_, those in placed.items()}, tuple(rest)


def _written_otherwise(condition: typed.Expression, replaced: set[typed.Variable]) -> bool:
    """True if a condition uses a variable that a static row replaces by a value of another type: 1 by 1.0."""
    match condition:
        case typed.Variable(name=name, type=type_):
            return any(each.name == name and each.type != type_ for each in replaced)
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return any(_written_otherwise(term, replaced) for term in terms if term is not None)
        case _:
            return False


def _names_shown(pattern: typed.Atom | typed.Pair, shown: dict[int, set[str]]) -> set[str]:
    """The variables and labels of a pattern; `shown` has those of patterns that were asked for before, by identity."""
    if id(pattern) not in shown:
        shown[id(pattern)] = visible_variables(pattern) | visible_labels(pattern)
    return shown[id(pattern)]


def _innermost(pattern: typed.Pattern, names: set[str], shown: dict[int, set[str]]) -> typed.Atom | typed.Pair | None:
    """The innermost event or pairing that has all names; None if there is none. `shown` remembers names by pattern."""
    match pattern:
        case typed.Atom() if names and names <= _names_shown(pattern, shown):
            return pattern
        case typed.Pair(left=left, right=right) if names <= _names_shown(pattern, shown):
            return _innermost(left, names, shown) or _innermost(right, names, shown) or pattern
        case typed.Lacking(pattern=inner):
            return _innermost(inner, names, shown)
        case _:
            return None
