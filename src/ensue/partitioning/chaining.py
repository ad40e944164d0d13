"""A program in which rules whose keys form a chain are joined in several stages, each by a key of its own.

Only a stratum without a key is split. The first way is taken that gives a key to all of its rules, and to each of their
parts. The choice depends on the rules alone, so a stream that restarts keeps its stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, product

from ensue.language import typed
from ensue.partitioning.chain import NO_KEYS, UNNAMED, Chain, chain_of
from ensue.partitioning.keys import Keys, extended
from ensue.partitioning.shapes import Shape
from ensue.partitioning.split import Split, UnnamedError, split
from ensue.partitioning.strata import Stratum, correlated, needed_strata
from ensue.records import dataclass
from ensue.temporal.constraints import Events

MOST_TRIED = 64
"""Most ways to split the rules of a stratum that are tried."""


@dataclass(frozen=True)
class Joined:
    """An event that stands for the events that a rule has joined by one key. Only the rule's next stage sees it."""

    event: str
    rule: int
    """The number of the written rule."""
    key: str


@dataclass(frozen=True)
class Chained:
    """A program with split rules. Rules for parts come after the written ones, whose numbers stay."""

    program: typed.Program
    joined: tuple[Joined, ...] = ()

    def written(self, rule: int) -> int:
        """The number of the written rule that a rule is, or belongs to."""
        first = len(self.program.rules) - len(self.joined)
        return rule if rule < first else self.joined[rule - first].rule


def chained(program: typed.Program, wanted: Iterable[str]) -> Chained:
    """The program with rules split where only a split gives them keys."""
    found = Chained(program)
    for stratum in needed_strata(program, wanted):
        if not stratum.recursive and not stratum.mixed and not _has_keys(program, stratum):
            splits = _splits(found.program, stratum.rules)
            if splits is not None:
                found = _with_splits(found, splits)
    return found


def hindrance(program: typed.Program, rule: int) -> str | None:
    """The reason why a rule whose keys form a chain is not joined in stages; None where they form no chain."""
    chain = chain_of(program.rules[rule], program.events)
    if not isinstance(chain, Chain):
        return chain
    return NO_KEYS if _ways(chain, program.events) else UNNAMED


def _has_keys(program: typed.Program, stratum: Stratum) -> bool:
    return stratum.shape is not Shape.SEVERAL or extended(Keys(), stratum.correlated, program.events) is not None


def _splits(program: typed.Program, rules: Sequence[int]) -> dict[int, Split] | None:
    """The splits of the rules of one stratum, by number; None if no way gives keys to all."""
    ways: list[list[Split]] = []
    for rule in (program.rules[number] for number in rules):
        own = correlated(rule)
        whole = own.shape is not Shape.SEVERAL or extended(Keys(), [own], program.events) is not None
        chain = None if whole else chain_of(rule, program.events)
        if not whole and not isinstance(chain, Chain):
            return None
        ways.append([Split(rule, ())] if chain is None else _ways(chain, program.events))  # type: ignore[arg-type]
    for chosen in islice(product(*ways), MOST_TRIED):
        events = {**program.events, **{part.event.name: part.event for each in chosen for part in each.parts}}
        if extended(Keys(), [correlated(each.rule) for each in chosen], events) is not None:
            return {number: each for number, each in zip(rules, chosen, strict=True) if each.parts}
    return None


def _ways(chain: Chain, events: Events) -> list[Split]:
    """The ways to split a rule such that each of its parts has a key."""
    found = []
    for group in chain.groupings:
        try:
            each = split(chain, group, events)
        except UnnamedError:
            continue
        known = {**events, **{part.event.name: part.event for part in each.parts}}
        if all(extended(Keys(), [correlated(part.rule)], known) is not None for part in each.parts):
            found.append(each)
    return found


def _with_splits(found: Chained, splits: dict[int, Split]) -> Chained:
    """The program with rules split: their parts become rules, and strata, of their own."""
    program, joined = found.program, list(found.joined)
    rules, events = list(program.rules), dict(program.events)
    strata: list[typed.Stratum] = []
    for stratum in program.strata:
        for number in (rule for layer in stratum.layers for rule in layer if rule in splits):
            for part in splits[number].parts:
                strata.append(typed.Stratum(((len(rules),),), recursive=False))
                rules.append(part.rule)
                events[part.event.name] = part.event
                joined.append(Joined(part.event.name, number, part.key))
            rules[number] = splits[number].rule
        strata.append(stratum)
    program = replace(program, rules=tuple(rules), events=events, strata=tuple(strata))
    return Chained(program, tuple(joined))
