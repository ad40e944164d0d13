"""The temporal conditions of a body as difference constraints between the start and end points of its match.

A point is ``(id, end)``: the id of a pattern or timer, and True for its end. ``BODY`` stands for the whole body. An
alternative (``or``) is one pair of points; constraints inside one of its sides do not apply to the others, but the
lengths of the sides bound its length. Where a query concerns a pattern inside one side, that side is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ensue.language import typed
from ensue.language.limits import LONGEST
from ensue.language.walk import patterns
from ensue.temporal.distances import Distances

BODY = 0

Events = Mapping[str, typed.EventType]

Length = tuple[int, int | None]
"""The smallest and the largest distance from a start to an end; None is no limit."""

ANY: Length = (0, None)


def constrain(body: typed.Body, events: Events, toward: int | None = None, kept: bool = True) -> Distances:
    """The constraints of a rule's body; `toward` is the id of the pattern that the query concerns.

    With `kept` the program's longest lifetime is one of them: all that a match is made of ends so long before it at
    most.
    """
    distances = Distances()
    _constrain_body(body, BODY, events, distances, toward)
    if kept and body.keep is not None and body.pattern is not None:
        for id_ in made_of(body.pattern, toward):
            distances.require((id_, True), (BODY, True), high=body.keep, reason=("keep", body))
    return distances


def _covers(outer: int, inner: int, distances: Distances) -> None:
    distances.require((outer, False), (inner, False), low=0)
    distances.require((inner, True), (outer, True), low=0)


def _constrain_body(body: typed.Body, id_: int, events: Events, distances: Distances, toward: int | None) -> None:
    distances.require((id_, False), (id_, True), low=0)
    labels: dict[str, int] = {}
    if body.pattern is not None:
        _constrain_pattern(body.pattern, events, distances, toward)
        if body.timers or body.window is not None:  # which it covers, too
            _covers(id_, body.pattern.id, distances)
        else:
            _same(id_, body.pattern.id, distances)
        labels.update(labelled(body.pattern))
    for timer in body.timers:
        distances.require((timer.id, False), (timer.id, True), low=0)
        _covers(id_, timer.id, distances)
        if timer.of in labels:
            of = labels[timer.of]
            for end, (point, shift) in zip((False, True), timer.points, strict=True):
                distances.require((of, point), (timer.id, end), shift, shift, timer)
        if timer.label is not None:
            labels[timer.label] = timer.id
    for related in body.related:
        if related.left in labels and related.right in labels:
            relate(related.relation, labels[related.left], labels[related.right], distances, related)
    if not selects(body):
        for condition in (*body.on, *body.where):
            _compare(condition, labels, distances)
    if body.within is not None:
        distances.require((id_, False), (id_, True), high=body.within, reason=("within", body))
    if body.lasting is not None:
        distances.require((id_, False), (id_, True), body.lasting, body.lasting, ("lasting", body))


def selects(body: typed.Body) -> bool:
    """True if contexts or a policy choose instances; a chosen instance without a match may still block others."""
    return body.restricted or any(
        isinstance(each, typed.Pair) and each.left_context is not None for each in patterns(body)
    )


def relate(relation: typed.Relation, left: int, right: int, distances: Distances, reason: object) -> None:
    """Add the limits of a relation between its two sides."""
    sides = (left, right)
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        distances.require((sides[earlier], earlier_end), (sides[later], later_end), distance.low, distance.high, reason)


_COMPARED = {"<": (1, None), "<=": (0, None), "=": (0, 0), ">=": (None, 0), ">": (None, -1)}
"""Smallest and largest distance from the left side of a comparison to the right one."""


def _compare(condition: typed.Expression, labels: Mapping[str, int], distances: Distances) -> None:
    """Add the limit that a condition sets between two points: ``s.start - o.end < 1h``, ``s.start < o.end + 1h``."""
    match condition:
        case typed.Operation(name="and", arguments=conjuncts):
            for conjunct in conjuncts:
                _compare(conjunct, labels, distances)
        case typed.Operation(name=name, arguments=(left, right)) if name in _COMPARED:
            one, other = _moved(left), _moved(right)
            if one is None or other is None:
                return
            earlier, later, further = [*one[0], *other[1]], [*other[0], *one[1]], one[2] - other[2]
            if len(earlier) == len(later) == 1 and earlier[0].label in labels and later[0].label in labels:
                low, high = (None if limit is None else limit + further for limit in _COMPARED[name])
                first, last = ((labels[point.label], point.end) for point in (earlier[0], later[0]))
                distances.require(first, last, low, high, condition)


def _moved(expression: typed.Expression) -> tuple[list[typed.TimeOf], list[typed.TimeOf], int] | None:
    """An expression as points that are added, points that are subtracted, and a number."""
    match expression:
        case typed.TimeOf():
            return [expression], [], 0
        case typed.Constant(value=int() as value) if not isinstance(value, bool) and abs(value) <= LONGEST:
            return [], [], value
        case typed.Operation(name="+" | "-" as sign, arguments=(left, right)):
            one, other = _moved(left), _moved(right)
            if one is None or other is None:
                return None
            added, taken = (other[0], other[1]) if sign == "+" else (other[1], other[0])
            number = one[2] + other[2] if sign == "+" else one[2] - other[2]
            return ([*one[0], *added], [*one[1], *taken], number) if abs(number) <= LONGEST else None
    return None


def _constrain_pattern(pattern: typed.Pattern, events: Events, distances: Distances, toward: int | None) -> None:
    id_ = pattern.id
    start, end = (id_, False), (id_, True)
    distances.require(start, end, low=0)
    match pattern:
        case typed.Atom(event=event):
            low, high = length_of_event(event, events)
            if low or high is not None:
                distances.require(start, end, low, high, pattern)
        case typed.Moment() | typed.Periodic():
            distances.require(start, end, 0, 0, pattern)
        case typed.Pair(left=left, right=right, relation=relation):
            for side in (left, right):
                _constrain_pattern(side, events, distances, toward)
                _covers(id_, side.id, distances)
            relate(relation, left.id, right.id, distances, pattern)
            _bound(pattern, distances)
        case typed.Lacking(pattern=inner):
            _constrain_pattern(inner, events, distances, toward)
            _same(inner.id, id_, distances)
        case typed.Either(alternatives=alternatives):
            taken = next((each for each in alternatives if toward is not None and _holds(each, toward)), None)
            if taken is not None:
                _constrain_pattern(taken, events, distances, toward)
                _same(taken.id, id_, distances)
            else:
                low, high = union(length_of(typed.Body(each), events) for each in alternatives) or ANY
                distances.require(start, end, low, high, pattern)
        case typed.Nested(body=body):
            _constrain_body(body, id_, events, distances, toward)


def _bound(pair: typed.Pair, distances: Distances) -> None:
    """Add that a pairing begins with the side that begins first, and ends with the one that ends last, where known.

    A side that is gathered stands for each of its members, so that is not known of it.
    """
    if pair.left_gathering is not None or pair.right_gathering is not None:
        return
    sides = (pair.left.id, pair.right.id)
    for (one, one_end), (other, other_end) in _in_order(pair.relation):
        if one != other and not other_end:
            distances.require((pair.id, False), (sides[one], False), 0, 0, pair)
        if one != other and one_end:
            distances.require((pair.id, True), (sides[other], True), 0, 0, pair)


def _in_order(relation: typed.Relation) -> Iterator[tuple[tuple[int, bool], tuple[int, bool]]]:
    """Each two end points of the sides of a relation of which the first is never later than the second."""
    for distance in relation.distances:
        if distance.low is not None and distance.low >= 0:
            yield distance.earlier, distance.later
        if distance.high is not None and distance.high <= 0:
            yield distance.later, distance.earlier


def _holds(pattern: typed.Pattern, id_: int) -> bool:
    return any(each.id == id_ for each in patterns(typed.Body(pattern)))


def _same(one: int, other: int, distances: Distances) -> None:
    for end in (False, True):
        distances.require((one, end), (other, end), 0, 0)


def labelled(pattern: typed.Pattern) -> Iterator[tuple[str, int]]:
    """The names in a match, with their ids; names of gathered events are left out."""
    match pattern:
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            if label is not None:
                yield label, pattern.id
        case typed.Pair():
            if pattern.left_gathering is None:
                yield from labelled(pattern.left)
            if pattern.right_gathering is None:
                yield from labelled(pattern.right)
        case typed.Lacking(pattern=inner):
            yield from labelled(inner)
        case typed.Nested(body=body, label=label):
            if label is not None:
                yield label, pattern.id
            if body.pattern is not None:
                yield from labelled(body.pattern)
            for timer in body.timers:
                if timer.label is not None:
                    yield timer.label, timer.id


# --- lengths of matches


def length_of_event(event: str, events: Events) -> Length:
    """Bounds on the length of events of a type, as far as they are known."""
    if event not in events:
        return ANY
    return (0, 0) if events[event].instant else events[event].length


def length_of(body: typed.Body, events: Events, beginning: str | None = None) -> Length | None:
    """Bounds on the length of the events that a body derives; None if it can never match.

    `beginning` names the event or timer at whose start they start (``from e``), instead of at the first start of all.
    """
    distances = constrain(body, events, kept=False)
    if distances.contradiction() is not None:
        return None
    window = None if body.window is None else _length_of_window(body, events)
    if body.window is not None and window is None:
        return None
    whole = ((BODY, False), (BODY, True))
    low, high = distances.shortest(*whole) or 0, distances.longest(*whole)
    covered = list(parts(body))
    if window is not None:
        low, high = max(low, window[0]), least(high, window[1])
    else:
        apart = (distances.longest((one, False), (other, True)) for one in covered for other in covered)
        high = least(high, _most(apart))
    if beginning is not None:
        labels = dict(labelled(body.pattern)) if body.pattern is not None else {}
        labels |= {timer.label: timer.id for timer in body.timers if timer.label is not None}
        if beginning not in labels:
            return 0, high
        start = (labels[beginning], False)
        low = distances.shortest(start, (BODY, True)) or 0
        high = least(high, distances.longest(start, (BODY, True)))
        if window is None:
            high = least(high, _most(distances.longest(start, (other, True)) for other in covered))
    return None if high is not None and low > high else (low, high)


def _length_of_window(body: typed.Body, events: Events) -> Length | None:
    """Bounds on the length of events that a window derives: they cover the collected events and the match beside it."""
    window = body.window
    assert window is not None
    own = length_of(typed.Body(window.pattern), events)
    if own is None:
        return None
    beside = body.pattern is not None or bool(body.timers)
    low, high = own
    extent = window.extent
    if extent is None:
        at_least = window.record.least
        return low if at_least is None else at_least(window.size), None
    if window.record.ends_later:  # it covers the span, however long the collected events are
        return extent, None if beside else extent
    # the last event is collected, however long it is
    return low, None if beside or high is None else max(high, extent)


def union(lengths: Iterable[Length | None]) -> Length | None:
    """Bounds that cover several lengths; None stands for an event that can never occur.

    >>> union([(2, 3), None, (5, 9)]), union([(2, 3), (1, None)]), union([None])
    ((2, 9), (1, None), None)
    """
    known = [length for length in lengths if length is not None]
    if not known:
        return None
    return min(low for low, _ in known), _most(high for _, high in known)


def least(one: int | None, other: int | None) -> int | None:
    """The smaller of two limits; None is no limit."""
    return min((each for each in (one, other) if each is not None), default=None)


def _most(lengths: Iterable[int | None]) -> int | None:
    """The largest of some limits; None if there are none, or one of them is None."""
    found = list(lengths)
    return max((each for each in found if each is not None), default=None) if None not in found else None


# --- parts of a body


def parts(body: typed.Body) -> Iterator[int]:
    """The ids of the parts that a body covers: events, timers, and alternatives and runs as a whole."""
    if body.pattern is not None:
        yield from _parts(body.pattern)
    for timer in body.timers:
        yield timer.id


def _parts(pattern: typed.Pattern) -> Iterator[int]:
    waiting: list[typed.Pattern] = [pattern]
    while waiting:
        match waiting.pop():
            case typed.Pair(left=left, right=right):
                waiting += (right, left)
            case typed.Lacking(pattern=inner):
                waiting.append(inner)
            case typed.Nested(body=body):
                yield from parts(body)
            case other:
                yield other.id


def made_of(pattern: typed.Pattern, toward: int | None = None, every: bool = False) -> Iterator[int]:
    """The ids of the parts of a pattern's match, in parentheses or not: all but relative timers.

    For an ``or`` these are the parts of the side that is taken, or with `every` those of all sides.
    """
    match pattern:
        case typed.Pair(left=left, right=right):
            yield from made_of(left, toward, every)
            yield from made_of(right, toward, every)
        case typed.Lacking(pattern=inner):
            yield from made_of(inner, toward, every)
        case typed.Either(id=id_, alternatives=alternatives):
            yield id_
            for each in alternatives:
                if every or (toward is not None and _holds(each, toward)):
                    yield from made_of(each, toward, every)
        case typed.Nested(id=id_, body=body):
            yield id_
            if body.pattern is not None:
                yield from made_of(body.pattern, toward, every)
        case _:
            yield pattern.id


def taken(body: typed.Body, toward: int) -> frozenset[int]:
    """The ids of the sides of alternatives that are taken where the query concerns one pattern."""
    if body.pattern is None:
        return frozenset()
    return frozenset(
        each.id
        for either in patterns(body)
        if isinstance(either, typed.Either)
        for each in either.alternatives
        if _holds(each, toward)
    )


def bodies(body: typed.Body) -> Iterator[typed.Body]:
    """The bodies that must each be possible: the whole, each side of an `or`, negated and gathered patterns."""
    yield body
    inner: list[typed.Pattern] = [absence.pattern for absence in body.absences]
    inner += [gathering.pattern for gathering in body.gatherings]
    if body.window is not None:
        inner.append(body.window.pattern)
        if body.window.beginning is not None:
            inner.append(body.window.beginning)
    if body.pattern is not None:
        inner += _apart(body.pattern)
    for pattern in inner:
        yield from bodies(typed.Body(pattern, keep=body.keep))


def _apart(pattern: typed.Pattern) -> list[typed.Pattern]:
    """Patterns inside another one whose constraints are not joined to its own."""
    match pattern:
        case typed.Pair(left=left, right=right):
            return _apart(left) + _apart(right)
        case typed.Either(alternatives=alternatives):
            return list(alternatives)
        case typed.Lacking(pattern=inner):
            return _apart(inner)
        case typed.Run(pattern=inner):
            return [inner]
        case typed.Nested(body=body):
            inner_patterns = [a.pattern for a in body.absences] + [g.pattern for g in body.gatherings]
            if body.window is not None:
                inner_patterns.append(body.window.pattern)
            return inner_patterns + (_apart(body.pattern) if body.pattern is not None else [])
        case _:
            return []
