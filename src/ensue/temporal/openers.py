"""Events that open a scope: negated or gathered events matter only after one of their key has come.

Everything in a scope starts after the scope begins, or when it begins. If an event of the match always ends before
that, an instance of the negated or gathered pattern is useless until such an event of its key has come; and so is every
event that only serves to make such an instance.
"""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.contained import Apart
from ensue.language.walk import visible_variables
from ensue.records import dataclass
from ensue.temporal.constraints import Events, selects, taken
from ensue.temporal.lifetimes import Frame, scope_points


@dataclass(frozen=True)
class Opener:
    """The atoms one of whose events opens a scope, and how long after it the scope can last (None: for ever).

    `at_once` is True if what starts when such an event ends may lie in the scope. `gated` are the atoms whose events
    are useless before, too: the parts of a composite.
    """

    atoms: tuple[int, ...]
    reach: int | None
    at_once: bool = False
    gated: tuple[int, ...] = ()


def opener_of(part: Apart, frame: Frame, events: Events) -> Opener | None:
    """The opener of a scope that closes first; None if there is none."""
    points = scope_points(part.scope, frame.body)
    if points is None or frame.body.pattern is None:
        return None
    search = _Search(part, frame, events, *points)
    return search.best(search.openers(frame.body.pattern))


@dataclass(frozen=True)
class _Search:
    """The search for openers of a scope, which begins and ends at two points."""

    part: Apart
    frame: Frame
    events: Events
    begin: tuple[int, bool]
    end: tuple[int, bool]

    def openers(self, pattern: typed.Pattern) -> Iterator[Opener]:
        """Atoms of a pattern of whose events each match has one that ends before the scope begins."""
        shared = set(self.part.shared)
        match pattern:
            case typed.Atom() if shared <= visible_variables(pattern):
                yield from self._atom(pattern)
            case typed.Pair(left=left, right=right):
                for side, gathered in ((left, pattern.left_gathering), (right, pattern.right_gathering)):
                    if gathered is None or shared <= set(pattern.shared):
                        yield from self.openers(side)
            case typed.Lacking(pattern=inner):
                yield from self.openers(inner)
            case typed.Nested(body=body) if body.pattern is not None and shared <= visible_variables(pattern):
                yield from self.openers(body.pattern)
            case typed.Either(alternatives=alternatives) if shared <= visible_variables(pattern):
                found = [self.best(self.openers(each)) for each in alternatives]
                each = [opener for opener in found if opener is not None]
                if len(each) == len(found):
                    yield _any_of(each)

    def _atom(self, atom: typed.Atom) -> Iterator[Opener]:
        toward = atom.id if taken(self.frame.whole, atom.id) else self.begin[0]
        distances = self.frame.distances(toward, self.events)
        gap = distances.shortest((atom.id, True), self.begin)
        if gap is not None and gap >= 0:
            at_once = gap == 0 and typed.includes_start(self.part.scope)
            gated = gated_by(self.part.pattern, self.part.shared)
            yield Opener((atom.id,), distances.longest((atom.id, True), self.end), at_once, gated)

    def best(self, openers: Iterator[Opener]) -> Opener | None:
        """The one that closes first."""
        return min(openers, key=lambda each: (each.reach is None, each.reach or 0, each.at_once), default=None)


def _any_of(openers: list[Opener]) -> Opener:
    reach = [opener.reach for opener in openers]
    atoms = tuple(atom for opener in openers for atom in opener.atoms)
    longest = None if None in reach else max(each for each in reach if each is not None)
    return Opener(atoms, longest, any(opener.at_once for opener in openers), openers[0].gated)


def gated_since(window: typed.Window) -> tuple[int, ...]:
    """The same for a window that has a beginning: all that it collects starts after one."""
    if window.beginning is None:
        return ()
    known = visible_variables(window.beginning)
    return gated_by(window.pattern, tuple(name for name in window.shared if name in known))


def gated_by(pattern: typed.Pattern, shared: tuple[str, ...]) -> tuple[int, ...]:
    """The atoms of a composite whose events only serve to make its matches, and have the variables of its key."""
    return () if isinstance(pattern, typed.Atom) else tuple(_gated(pattern, set(shared)))


def _gated(pattern: typed.Pattern, shared: set[str]) -> Iterator[int]:
    """The same for a part of it. Where instances are chosen or counted, each event matters for the fate of others."""
    match pattern:
        case typed.Atom() if shared <= visible_variables(pattern):
            yield pattern.id
        case typed.Pair(left=left, right=right, left_context=None):
            yield from _gated(left, shared)
            yield from _gated(right, shared)
        case typed.Lacking(pattern=inner):
            yield from _gated(inner, shared)
        case typed.Either(alternatives=alternatives) if shared <= visible_variables(pattern):
            for each in alternatives:
                yield from _gated(each, shared)
        case typed.Nested(body=body) if body.pattern is not None and shared <= visible_variables(pattern):
            if not selects(body) and body.window is None:
                yield from _gated(body.pattern, shared)
