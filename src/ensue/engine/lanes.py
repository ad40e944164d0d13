"""Which rules run in which lane: what can be compiled is, rules that hand events to each other together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.lane import Code, CompiledLane
from ensue.engine.compiled.source import write_unit
from ensue.engine.compiled.strings import Strings
from ensue.engine.network.node import Setting
from ensue.engine.network.stratum import Place, Stratum
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.rewriting import rewritten
from ensue.temporal.instants import with_instants

Lane = Stratum | CompiledLane

MOST_RULES = 12
"""How many rules are compiled together at most: a function twice as long takes more than twice the time to compile."""

MOST_PLANS = 64


@dataclass
class _Group:
    """Strata that are compiled together; or one that is not, and why."""

    strata: list[typed.Stratum]
    reason: str | None = None
    uses: set[str] = field(default_factory=set)
    derives: set[str] = field(default_factory=set)

    @property
    def layers(self) -> list[Sequence[int]]:
        return [layer for stratum in self.strata for layer in stratum.layers]


@dataclass(frozen=True)
class Plan:
    """How a program is run: a stratum as it is, or code for several, one after the other.

    `texts` are the strings that have a code, which is their place.
    """

    program: typed.Program
    parts: tuple[typed.Stratum | Code, ...]
    texts: tuple[str | None, ...]
    constants: frozenset[int]
    """The codes of strings that rules write."""
    reasons: tuple[tuple[int, str], ...]
    """The rules that are not compiled, by number, and what it is in them or in rules that they belong with."""

    def lanes(self, setting: Setting, places: dict[str, Place], strings: Strings, choice: bool | None) -> list[Lane]:
        """The lanes, with a state in which nothing has happened."""
        strings.restore(self.texts)
        return [
            CompiledLane(self.program, part, strings, setting.knowledge, choice)
            if isinstance(part, Code)
            else Stratum(self.program, part, setting, places)
            for part in self.parts
        ]


_plans: OrderedDict[tuple[int, frozenset[str], bool, bool], tuple[typed.Program, Plan]] = OrderedDict()


def plan_of(
    program: typed.Program, emit: Iterable[str], instant: bool, apart: bool = False, texts: Sequence[str | None] = ()
) -> Plan:
    """The plan of a program. `emit` are the types that are wanted; `instant` says that given events have one time each.

    With `apart` each stratum has a lane of its own and each rule its own state, so that rules can be added and removed.
    `texts` are strings that have a code already. The last plans are kept, with the code that was compiled for them.
    """
    wanted = frozenset(emit)
    if texts:
        return _plan(_known(program, instant), wanted, apart, texts)
    key = (id(program), wanted, instant, apart)
    if key not in _plans:
        _plans[key] = (program, _plan(_known(program, instant), wanted, apart, ()))
        if len(_plans) > MOST_PLANS:
            _plans.popitem(last=False)
    return _plans[key][1]


def _known(program: typed.Program, instant: bool) -> typed.Program:
    """The program as it is run: with what is known of its events, its rules rewritten."""
    return rewritten(with_instants(program) if instant else program)


def _plan(program: typed.Program, emit: frozenset[str], apart: bool, texts: Sequence[str | None]) -> Plan:
    strings = Strings()
    strings.restore(texts)
    constants: set[int] = set()

    def code(text: str) -> int:
        constants.add(strings.code(text))
        return strings.code(text)

    groups = _groups(program, apart)
    parts: list[typed.Stratum | Code] = []
    reasons = []
    for group in groups:
        if group.reason is not None:
            parts.append(group.strata[0])
            reasons += [(rule, group.reason) for layer in group.layers for rule in layer]
            continue
        elsewhere = {t for other in groups if other is not group for t in other.uses}
        kept = {event for event in group.derives if event in emit or event in elsewhere}
        layers = tuple(group.layers)
        parts.append(Code(layers, *write_unit(program, layers, kept, code, shared=not apart)))
    return Plan(program, tuple(parts), tuple(strings.texts), frozenset(constants), tuple(reasons))


def _groups(program: typed.Program, apart: bool) -> list[_Group]:
    groups: list[_Group] = []
    for stratum in program.strata:
        rules = [program.rules[i] for layer in stratum.layers for i in layer]
        derives = {rule.event for rule in rules}
        uses = {atom.event for rule in rules for atom in atoms(rule.body)}
        own = _Group([stratum], _reason(program, [stratum]), uses, derives)
        joined = None if apart or own.reason is not None else _joined(program, groups, own)
        if joined is None:
            groups.append(own)
    return groups


def _joined(program: typed.Program, groups: list[_Group], own: _Group) -> _Group | None:
    """The group that a stratum joins: the last one that it takes events from, if nothing in between is against it."""
    for index in reversed(range(len(groups))):
        group = groups[index]
        if not group.derives & own.uses:
            continue
        between = {t for other in groups[index + 1 :] for t in other.derives}
        strata = [*group.strata, *own.strata]
        few = sum(len(layer) for stratum in strata for layer in stratum.layers) <= MOST_RULES
        if group.reason is None and not between & own.uses and few and _reason(program, strata) is None:
            group.strata = strata
            group.uses |= own.uses
            group.derives |= own.derives
            return group
        return None
    return None


def _reason(program: typed.Program, strata: list[typed.Stratum]) -> str | None:
    """Why strata cannot be compiled together, None if they can."""
    layers = [layer for stratum in strata for layer in stratum.layers]
    try:
        write_unit(program, layers, (), lambda text: 0, check=True)
    except NotCompiledError as error:
        return str(error)
    return None
