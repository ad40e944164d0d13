"""Which rules run in which lane: what can be compiled is, rules that hand events to each other together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ensue.engine.compiled.lane import MORE, Code, CompiledLane
from ensue.engine.compiled.members import Expansion, tables_of
from ensue.engine.compiled.source import Together, rule_names, write_unit
from ensue.engine.compiled.strings import Strings
from ensue.engine.network.node import Setting
from ensue.engine.network.stratum import Place, Stratum
from ensue.engine.options import ALL, Options
from ensue.engine.sharing.families import Family
from ensue.engine.sharing.groups import Alike, Decided, reason
from ensue.language import typed
from ensue.rewriting import rewritten
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.instants import with_instants

Lane = Stratum | CompiledLane

MOST_RULES = 12
"""How many rules are compiled together at most: a function twice as long takes more than twice the time to compile."""

FEW_FUNCTIONS = 8
"""How many functions are compiled as soon as there are some thousands of events; each takes seconds."""

MOST_PLANS = 64


def lane_of(
    program: typed.Program, stratum: typed.Stratum, setting: Setting, places: dict[str, Place], provenance: bool,
    options: Options,
) -> Lane:  # fmt: skip
    import os

    mode = os.environ.get("ENSUE_NEW")
    if mode:
        from ensue.engine.generate.program import generate, of_strata
        from ensue.engine.generated import GeneratedLane
        from ensue.plan.build import Planner
        from ensue.plan.operators import NotPlannedError

        planner = Planner(program.events, options.lifetimes, options.streaming, options.ending, options.suppressing)
        emit = {program.rules[i].event for layer in stratum.layers for i in layer}
        try:
            names = rule_names(program, range(len(program.rules)))
            code = generate(of_strata(program, [stratum], names), emit, planner, provenance)
            from ensue.engine.structures.values import Dictionary

            return GeneratedLane(program, code, setting.knowledge, setting.clock, mode == "machine", Dictionary())
        except NotPlannedError as error:
            if os.environ.get("ENSUE_SAY"):
                print("not planned:", error)
    return Stratum(program, stratum, setting, places, provenance)


@dataclass
class _Group:
    """Strata that are compiled together; or one that is not, and why."""

    strata: list[typed.Stratum]
    together: Together
    reason: str | None = None
    cut: bool = False
    """Whether others derive the same type."""

    @property
    def rules(self) -> tuple[int, ...]:
        return tuple(i for stratum in self.strata for layer in stratum.layers for i in layer)


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

    @property
    def families(self) -> tuple[Family, ...]:
        """The rules that run as one, with the table of their constants; see `ensue.engine.sharing`."""
        return tuple(family for part in self.parts if isinstance(part, Code) for family in part.families)

    @property
    def decided(self) -> Decided:
        """What rules that come later have to do with."""
        seeds = {family.seed.name: family.seed for family in self.families}
        return Decided(
            tuple(seeds.values()), frozenset(rule_names(self.program, range(len(self.program.rules))).values())
        )

    def lanes(self, setting: Setting, places: dict[str, Place], strings: Strings, choice: bool | None) -> list[Lane]:
        """The lanes, with a state in which nothing has happened."""
        strings.restore(self.texts)
        patience = MORE if choice is None and self._much_to_compile() else 1
        return [
            CompiledLane(self.program, part, strings, setting.knowledge, choice, patience)
            if isinstance(part, Code)
            else Stratum(self.program, part, setting, places)
            for part in self.parts
        ]

    def _much_to_compile(self) -> bool:
        """Whether there are more functions than are compiled while one waits."""
        sources = {part.strict: part for part in self.parts if isinstance(part, Code)}
        return len(sources) > FEW_FUNCTIONS and sum(not part.cached(False) for part in sources.values()) > FEW_FUNCTIONS


_plans: OrderedDict[tuple[int, frozenset[str], bool, bool, Options, Rates], tuple[typed.Program, Plan]] = OrderedDict()


def plan_of(
    program: typed.Program, emit: Iterable[str], instant: bool, apart: bool = False, texts: Sequence[str | None] = (),
    decided: Decided | None = None, options: Options = ALL, rates: Rates = UNKNOWN,
) -> Plan:  # fmt: skip
    """The plan of a program. `emit` are the types that are wanted; `instant` says that given events have one time each.

    With `apart` each stratum has a lane of its own and each rule its own state, but for families, so that rules can be
    added and removed: `decided` says what was before that. `texts` are strings that have a code already. Of `options`
    those count that are not about the network; joins are ordered by `rates`. The last plans are kept, with the code
    that was compiled for them.
    """
    wanted = frozenset(emit)
    if texts or decided is not None:
        return _plan(known_program(program, instant, options, rates), wanted, apart, texts, decided, options)
    key = (id(program), wanted, instant, apart, options, rates)
    if key not in _plans:
        known = known_program(program, instant, options, rates)
        _plans[key] = (program, _plan(known, wanted, apart, (), None, options))
        if len(_plans) > MOST_PLANS:
            _plans.popitem(last=False)
    return _plans[key][1]


def known_program(program: typed.Program, instant: bool, options: Options, rates: Rates = UNKNOWN) -> typed.Program:
    """The program as it is run: with what is known of its events, its rules rewritten."""
    known = with_instants(program) if instant else program
    return rewritten(known, rates, options.ordering) if options.rewriting else known


def _plan(
    program: typed.Program, emit: frozenset[str], apart: bool, texts: Sequence[str | None], decided: Decided | None,
    options: Options,
) -> Plan:  # fmt: skip
    strings = Strings()
    strings.restore(texts)
    constants: set[int] = set()

    def code(text: str) -> int:
        constants.add(strings.code(text))
        return strings.code(text)

    groups = _groups(Alike(program, decided, options.sharing), apart)
    users: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for event in group.together.uses:
            users.setdefault(event, set()).add(number)
    parts: list[typed.Stratum | Code] = []
    reasons = []
    for number, group in enumerate(groups):
        if group.reason is not None:
            parts.append(group.strata[0])
            reasons += [(rule, group.reason) for rule in group.rules]
            continue
        derives = {program.rules[i].event for i in group.rules}
        kept = {event for event in derives if event in emit or users.get(event, set()) - {number}}
        parts.append(_code(group, kept, code, apart))
    return Plan(program, tuple(parts), tuple(strings.texts), frozenset(constants), tuple(reasons))


def _code(group: _Group, kept: set[str], strings: Callable[[str], int], apart: bool) -> Code:
    """The code of a group, and what its rules state, as that takes it."""
    together = group.together
    strict, source, layout = write_unit(together, kept, strings, shared=not apart)
    expansions = [rule for rule in together.rules if isinstance(rule, Expansion)]
    stated = {name: table for each in expansions for name, table in tables_of(each, strings).items()}
    stated["Z"] = layout.numbers_stated()
    tables = tuple(stated[name] for name in layout.stated())
    families = tuple(each.family for each in expansions)
    uses = together.uses - (together.derives if group.cut else frozenset())
    return Code(group.rules, uses, families, strict, source, layout, tables)


def _groups(alike: Alike, apart: bool) -> list[_Group]:
    program = alike.program
    bundles: dict[int, _Group] = {}
    for strata in alike.bundles():
        together = alike.bundled(strata)
        if together is not None:
            group = _Group(strata, together)
            bundles |= {id(stratum): group for stratum in strata}
    groups: list[_Group] = []
    deriving: dict[str, int] = {}
    for stratum in program.strata:
        if id(stratum) in bundles:
            group = bundles[id(stratum)]
            place = None if stratum is group.strata[0] else groups.index(group)
        else:
            together = alike.together([stratum])
            pieces = [] if apart or stratum.recursive else _cut(alike, stratum, together)
            if pieces:
                groups += pieces
                deriving[program.rules[stratum.layers[0][0]].event] = len(groups) - 1
                continue
            group = _Group([stratum], together, reason(together))
            place = None if apart else _joined(alike, groups, deriving, group)
        if place is None:
            place = len(groups)
            groups.append(group)
        deriving |= {program.rules[i].event: place for layer in stratum.layers for i in layer}
    return groups


def _cut(alike: Alike, stratum: typed.Stratum, together: Together) -> list[_Group]:
    """A stratum of more rules than are compiled together, in groups; what these derive is put together afterwards.

    There is none where one function will do, or where not all of it can be compiled.
    """
    groups: list[_Group] = []
    if len(together.rules) <= MOST_RULES:
        return groups
    for rules in alike.cut(stratum, MOST_RULES):
        part = typed.Stratum((rules,), recursive=False)
        together = alike.together([part])
        groups.append(_Group([part], together, reason(together), cut=True))
    return [] if any(group.reason is not None for group in groups) else groups


def _joined(alike: Alike, groups: list[_Group], deriving: Mapping[str, int], own: _Group) -> int | None:
    """The group that a stratum joins, by its place: the last one that it takes events from, if they fit together."""
    place = max((deriving[event] for event in own.together.uses if event in deriving), default=None)
    if own.reason is not None or place is None:
        return None
    group = groups[place]
    strata = [*group.strata, *own.strata]
    if group.reason is not None or group.cut or group.together.heads or len(group.together.rules) >= MOST_RULES:
        return None
    together = alike.together(strata)
    if len(together.rules) > MOST_RULES or reason(together) is not None:
        return None
    group.strata, group.together = strata, together
    return place
