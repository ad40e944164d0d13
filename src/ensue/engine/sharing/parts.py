"""Equal parts of rules as one: joins, and stores of joins, that several rules have or one rule has several times.

A part is found by its form (`plan/canonical.py`). It is as loose as all its users need: the longest lifetime, a side
that one of them stores. The users check the rest, as they would anyway. Larger parts come first; a part inside another
one is separate only if other users have it, too.

The store of a join is shared only where no event can come to both of its sides: such an event would meet itself twice,
or not at all. Parts with events that rules of the same layer derive are not shared, as these come in rounds. Nor are
those that a join suppresses, or that lie in a scope which is not open: a rule stores nothing of them while it cannot
use it, whatever others do.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.canonical import Canonical, NoFormError, canonical, longest, loosest, sides_in, with_sides
from ensue.plan.renaming import Field
from ensue.plan.walk import inputs_of, walk
from ensue.records import dataclass
from ensue.temporal.joins import Side
from ensue.temporal.openers import Opener

PLAIN = plan.Scan | plan.Join | plan.Named | plan.Restrict | plan.Spanned
"""The operators that a shared part consists of."""

CLOSED = (
    plan.Anew | plan.Seeing | plan.Latest | plan.RestrictedAnd | plan.RestrictedSequence | plan.RestrictedWithout
)  # fmt: skip
"""Operators inside which nothing is shared: they are built in another way, or elsewhere."""


@dataclass(frozen=True)
class Before:
    """A part as it was when its state began: a later rule cannot use it, and a removed one leaves it."""

    name: str
    form: str
    users: tuple[str, ...]
    """The rules, and larger parts, that use it."""
    wanted: tuple[Field, ...]
    """The fields of its matches, in the order in which they are stored."""
    sides: tuple[tuple[bool, bool, bool], ...]
    """Flags for each side of its joins: it is stored, it probes, it is suppressed."""

    def saved(self) -> list[Any]:
        """The part as plain values."""
        return [self.name, self.form, list(self.users), [list(f) for f in self.wanted], [list(s) for s in self.sides]]

    @staticmethod
    def restored(state: Sequence[Any]) -> Before:
        name, form, users, wanted, sides = state
        flags = tuple((bool(one), bool(two), bool(three)) for one, two, three in sides)
        return Before(name, form, tuple(users), tuple(map(tuple, wanted)), flags)


@dataclass(frozen=True)
class Common:
    """A part that is built once: its plan with numbers for names, and its users."""

    name: str
    form: str
    users: tuple[str, ...]
    core: plan.Operator
    wanted: tuple[Field, ...] = ()
    """Fields that it passes on in any case, where its state began earlier."""

    def before(self, wanted: Sequence[Field]) -> Before:
        """The part as later rules must find it."""
        sides = tuple((side.stored, side.looks, side.suppressed) for side in sides_in(self.core))
        return Before(self.name, self.form, self.users, tuple(wanted), sides)


@dataclass(frozen=True)
class History:
    """The rules that ran before, by the names of their states, and the parts that they used."""

    names: frozenset[str]
    parts: tuple[Before, ...]

    def users(self, part: Before) -> frozenset[str]:
        """All rules that use a part, directly or inside a larger one."""
        larger = (other for other in self.parts if other.name in part.users)
        return frozenset(part.users).union(*(self.users(other) for other in larger))


NEW = History(frozenset(), ())


@dataclass(frozen=True)
class Site:
    """A place in a plan where a part may stand: a join, or the store of one of its sides."""

    user: str
    join: plan.Join
    side: int | None

    @property
    def node(self) -> plan.Operator:
        return self.join if self.side is None else (self.join.left, self.join.right)[self.side]


class Forms:
    """The forms of the places in the plans of rules, where several may have the same.

    `events` has the types of attributes.
    """

    def __init__(self, events: Mapping[str, typed.EventType]) -> None:
        self.events = events
        self.outlines: dict[int, int | None] = {}
        self.known: dict[int, Canonical | None] = {}
        self.forms: dict[tuple[int, int | None], str | None] = {}
        self.alive: list[plan.Operator] = []
        """Keeps operators alive that are identified by `id`."""

    # --- places

    def sites(self, user: str, node: plan.Operator, derived: Collection[str]) -> Iterator[Site]:
        """The places in a plan; none with events that are `derived` at the same time."""
        self.alive.append(node)
        for join, gated in _joins(node):
            if not gated and self.outline(join) is not None and self._free(join, derived):
                yield Site(user, join, None)
            for side in (0, 1):
                site = Site(user, join, side)
                if gated or _is_gated(join, side):
                    continue
                if self._stores_alike(join, side) and self._free(site.node, derived):
                    yield site

    def _free(self, node: plan.Operator, derived: Collection[str]) -> bool:
        return not derived or _events(node).isdisjoint(derived)

    def _stores_alike(self, join: plan.Join, side: int) -> bool:
        """True if another join may share the store of a side."""
        if not join.sides[side].stored or (side == 0 and join.endings):
            return False
        if self.outline((join.left, join.right)[side]) is None:
            return False
        if not _events(join.left).isdisjoint(_events(join.right)):
            return False
        return all(self._type(join, name) is not None for name in join.pair.shared)

    def _type(self, join: plan.Join, name: str) -> str | None:
        """The type of a variable on both sides of a join; None if there are several, or none."""
        types = {
            self.events[scan.atom.event].attributes.get(attribute, "any")
            for scan in walk(join)
            if isinstance(scan, plan.Scan)
            for attribute, term in scan.atom.fields
            if isinstance(term, typed.Variable) and term.name == name
        }
        return types.pop() if len(types) == 1 and "any" not in types else None

    # --- forms

    def outline(self, node: plan.Operator) -> int | None:
        """A number that is equal for parts of the same form; None for parts without a form."""
        if id(node) not in self.outlines:
            self.alive.append(node)
            self.outlines[id(node)] = self._outline(node)
        return self.outlines[id(node)]

    def _outline(self, node: plan.Operator) -> int | None:
        if not isinstance(node, PLAIN):
            return None
        below = [self.outline(each) for each in inputs_of(node)]
        if None in below:
            return None
        match node:
            case plan.Scan(atom=atom):
                return hash(atom.event)
            case plan.Join(pair=pair):
                return hash((pair.relation.distances, len(pair.shared), *below))
            case _:
                return hash((type(node).__name__, *below))

    def canonical(self, node: plan.Operator) -> Canonical | None:
        if id(node) not in self.known:
            self.alive.append(node)
            try:
                self.known[id(node)] = canonical(node)
            except NoFormError:
                self.known[id(node)] = None
        return self.known[id(node)]

    def key(self, site: Site) -> tuple[tuple[str, Field], ...]:
        """The key variables of a place, each with its field in the form, in the order of these."""
        found = self.canonical(site.node)
        assert found is not None
        fields = dict(found.renaming.variables)
        return tuple(sorted(((name, fields[name]) for name in site.join.pair.shared), key=lambda own: repr(own[1])))

    def form(self, site: Site) -> str | None:
        """A permanent name for the form of a place."""
        place = (id(site.join), site.side)
        if place not in self.forms:
            self.forms[place] = self._form(site)
        return self.forms[place]

    def _form(self, site: Site) -> str | None:
        found = self.canonical(site.node)
        if found is None:
            return None
        key = None if site.side is None else [field for _, field in self.key(site)]
        types = [] if site.side is None else [self._type(site.join, name) for name, _ in self.key(site)]
        return hashlib.sha256(repr((found.form, key, types)).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Candidate:
    """A place whose form others may have, too; `part` is the earlier part, empty for a new one."""

    site: Site
    form: str
    part: str


Plans = Sequence[tuple[str, plan.Derive, Collection[str]]]
"""Rules by the names of their states: their plans, and the types that are derived in their own layers or later."""


def candidates(forms: Forms, plans: Plans, history: History = NEW) -> list[Candidate]:
    """The places in plans that may be shared: with earlier parts, or among new ones."""
    sites = [site for user, derive, derived in plans for site in forms.sites(user, derive.input, derived)]
    outlines = Counter((forms.outline(site.node), site.side is None) for site in sites)
    before = {(user, part.form): part.name for part in history.parts for user in history.users(part)}
    found = []
    for site in sites:
        old = site.user in history.names
        if old or outlines[forms.outline(site.node), site.side is None] > 1:
            form = forms.form(site)
            if form is not None and (not old or (site.user, form) in before):
                found.append(Candidate(site, form, before[site.user, form] if old else ""))
    return found


@dataclass
class _Sharing:
    """Finds shared parts, the largest first."""

    forms: Forms
    history: History
    waiting: dict[tuple[str, str], list[Site]] = field(default_factory=dict)
    """The places of a form, for an earlier part or, under an empty name, for a new one."""
    heap: list[tuple[int, int, tuple[str, str]]] = field(default_factory=list)
    shared: dict[tuple[int, int | None], plan.Shared] = field(default_factory=dict)
    """The plan that replaces a place, by the identity of its join."""
    gone: set[int] = field(default_factory=set)
    """The joins that are inside parts."""
    found: list[Common] = field(default_factory=list)

    def add(self, candidate: Candidate) -> None:
        which, node = (candidate.form, candidate.part), candidate.site.node
        if which not in self.waiting:
            size = 2 * sum(1 for _ in walk(node)) + (candidate.site.side is not None)
            heappush(self.heap, (-size, len(self.waiting), which))
        self.waiting.setdefault(which, []).append(candidate.site)

    def run(self) -> None:
        while self.heap:
            _, _, which = heappop(self.heap)
            sites = [site for site in self.waiting[which] if id(site.join) not in self.gone]
            if sites and (which[1] or len(sites) > 1):
                self._share(which, sites)

    def _share(self, which: tuple[str, str], sites: Sequence[Site]) -> None:
        form, name = which
        parts = [self._form(site) for site in sites]
        users = tuple(dict.fromkeys(site.user for site in sites))
        before = next((part for part in self.history.parts if part.name == name), None) if name else None
        if before is None:
            name = f"part.{hashlib.sha256(repr((form, users)).encode()).hexdigest()[:16]}"
        sides = [loosest(each) for each in zip(*(part.sides for part in parts), strict=True)]
        if before is not None:
            sides = [Side(s.lifetime, *flags) for s, flags in zip(sides, before.sides, strict=True)]
        core, first = with_sides(parts[0].form, sides), sites[0]
        lifetime = None
        if first.side is not None:
            lifetime = longest(site.join.sides[site.side or 0].lifetime for site in sites)
            core = plan.Keep(core, tuple(field for _, field in self.forms.key(first)), lifetime)
        for site, part in zip(sites, parts, strict=True):
            key = None if site.side is None else tuple(own for own, _ in self.forms.key(site))
            own = with_sides(site.node, sides)
            self.shared[id(site.join), site.side] = plan.Shared(own, name, part.renaming, key, lifetime)
            self.gone |= {id(each) for each in walk(site.node) if isinstance(each, plan.Join)}
        self.found.append(Common(name, form, users, core, () if before is None else before.wanted))
        self._look_into(name, core)

    def _look_into(self, name: str, core: plan.Operator) -> None:
        """Add the places inside a part."""
        before = {part.form: part.name for part in self.history.parts if name in part.users}
        old = name in self.history.names
        for site in self.forms.sites(name, core, ()):
            form = self.forms.form(site)
            if form is not None and (not old or form in before):
                self.add(Candidate(site, form, before[form] if old else ""))

    def _form(self, site: Site) -> Canonical:
        found = self.forms.canonical(site.node)
        assert found is not None
        return found

    def changed(self, node: Any) -> Any:
        """A plan with its shared parts replaced."""
        if isinstance(node, CLOSED):
            return node
        if (id(node), None) in self.shared:
            return self.shared[id(node), None]
        if isinstance(node, plan.Join):
            left, right = (self._side(node, side) for side in (0, 1))
            endings = tuple(replace(ending, input=self.changed(ending.input)) for ending in node.endings)
            return replace(node, left=left, right=right, endings=endings)
        own = {name: _each(getattr(node, name), self.changed) for name in _inputs(node)}
        found = replace(node, **own) if own else node
        if isinstance(found, plan.Keep) and isinstance(found.input, plan.Shared):
            return replace(found, input=replace(found.input, longest=found.lifetime.start))
        return found

    def _side(self, join: plan.Join, side: int) -> plan.Operator:
        node = (join.left, join.right)[side]
        found: plan.Operator = self.shared.get((id(join), side)) or self.changed(node)
        if isinstance(found, plan.Shared):
            return replace(found, longest=join.sides[side].lifetime.start)
        return found


def share(forms: Forms, plans: Plans, history: History = NEW) -> tuple[dict[str, plan.Derive], tuple[Common, ...]]:
    """The plans of the rules of a unit, with their equal parts shared; smaller parts come first."""
    sharing = _Sharing(forms, history)
    for candidate in candidates(forms, plans, history):
        sharing.add(candidate)
    sharing.run()
    if not sharing.found:
        return {user: derive for user, derive, _ in plans}, ()
    parts = [replace(part, core=sharing.changed(part.core)) for part in sharing.found]
    cores = {part.name: part.core for part in parts}
    changed = {user: replace(derive, input=_told(sharing.changed(derive.input), cores)) for user, derive, _ in plans}
    return changed, tuple(reversed(parts))


def _told(node: Any, cores: Mapping[str, plan.Operator]) -> Any:
    """A plan whose shared parts show, with the names of its rule, the parts that they share in turn."""
    if isinstance(node, plan.Shared):
        return replace(node, input=_worded(node.input, cores[node.name], cores))
    own = {name: _each(getattr(node, name), partial(_told, cores=cores)) for name in _inputs(node)}
    return replace(node, **own) if own else node


def _worded(node: Any, core: Any, cores: Mapping[str, plan.Operator]) -> Any:
    """A part with the names of a rule, otherwise like its `core`."""
    if isinstance(core, plan.Keep):
        return _worded(node, core.input, cores)
    if isinstance(core, plan.Shared):
        inner = _worded(with_sides(node, sides_in(core.input)), cores[core.name], cores)
        return replace(core, input=inner)
    own = {name: _worded(getattr(node, name), getattr(core, name), cores) for name in _inputs(node)}
    return replace(node, **own) if own else node


def _joins(node: plan.Operator, gated: bool = False) -> Iterator[tuple[plan.Join, bool]]:
    """The joins of a plan, each with a flag that events come to it only while others wait."""
    if isinstance(node, CLOSED | plan.Shared):
        return
    if isinstance(node, plan.Join):
        yield node, gated
        for side, inner in enumerate((node.left, node.right)):
            yield from _joins(inner, gated or _is_gated(node, side))
        for ending in node.endings:
            yield from _joins(ending.input, gated)
        return
    behind = _behind_a_gate(node)
    for inner in inputs_of(node):
        yield from _joins(inner, gated or inner is behind)


def _behind_a_gate(node: plan.Operator) -> plan.Operator | None:
    """The input of an operator whose events it drops while no scope of their key is open."""
    match node:
        case plan.Absent(opener=Opener(gated=gated)) | plan.Gather(opener=Opener(gated=gated)) if gated:
            return node.inner
        case plan.Window(gated=gated) if gated:
            return node.collected
        case _:
            return None


def _is_gated(join: plan.Join, side: int) -> bool:
    """True if a join drops events of a side while nothing waits for them, see `operators/join.py`."""
    own, other = (join.left, join.right)[side], (join.left, join.right)[1 - side]
    waits = join.sides[side].suppressed and join.sides[1 - side].stored
    return waits and isinstance(other, plan.Scan) and not isinstance(own, plan.Scan)


def _events(node: plan.Operator) -> frozenset[str]:
    return frozenset(scan.atom.event for scan in walk(node) if isinstance(scan, plan.Scan))


def _each(held: Any, change: Callable[[Any], Any]) -> Any:
    return tuple(map(change, held)) if isinstance(held, tuple) else change(held)


def _inputs(node: Any) -> Iterator[str]:
    """The fields of an operator that hold others."""
    for name in ("input", "inputs", "left", "right", "inner", "collected", "beginning"):
        held = getattr(node, name, None)
        if isinstance(held, plan.Operator) or (isinstance(held, tuple) and held):
            yield name
