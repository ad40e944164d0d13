"""Stops of attempts, in words: events that are missing, came, are too few, or have other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ensue.language import typed
from ensue.language.semantics import equality
from ensue.language.walk import patterns
from ensue.reasons.answer import Detected, Missing, Stop
from ensue.reasons.study import Study
from ensue.reference.matches import Event, Match
from ensue.temporal.describe import describe_events, describe_scope

Explained = Callable[[str, Mapping[str, Any]], Missing | None]
"""Explains why there is no event of a derived type with certain attributes."""
Unfolded = Callable[[Event], tuple[Detected, ...]]
"""Explains why an event was derived; nothing for one that was given."""


class Stops:
    """Describes the stops of attempts of one rule."""

    def __init__(self, study: Study, rule: typed.Rule, explained: Explained, unfold: Unfolded) -> None:
        self.study, self.phrases, self.explained, self.unfold = study, study.phrases, explained, unfold
        self.unseen = {each.event.identity: each.event for each in study.unseen}
        self._atoms = [each.event for each in patterns(rule.body) if isinstance(each, typed.Atom)]

    def missing(self, pattern: typed.Pattern, values: Mapping[str, Any], text: str | None = None) -> Stop:
        """There is no event for a place of a pattern; a derived one is followed down."""
        said = self.phrases.pattern(pattern, values)
        inner: tuple[Missing, ...] = ()
        if isinstance(pattern, typed.Atom):
            total = self.study.chosen.totals.get(pattern.event, 0)
            declared = self.study.program.events[pattern.event]
            if declared.derived:
                asked = {
                    attribute: term.value if isinstance(term, typed.Constant) else values[term.name]
                    for attribute, term in pattern.fields
                    if isinstance(term, typed.Constant) or term.name in values
                }
                below = self.explained(pattern.event, asked) if text is None else None
                inner = () if below is None else (below,)
                text = text or f"there is no {said}"
            elif text is None:
                among = "" if not total else f" among the {total:,} {pattern.event} events"
                text = f"there is no {said}{among}"
        return Stop("missing", text or f"there is no {said}", 1.0, inner)

    def constants(self, atom: typed.Atom, event: Event) -> Iterator[Stop]:
        """Attributes that are another constant."""
        for attribute, term in atom.fields:
            value = event.attributes.get(attribute)
            if isinstance(term, typed.Constant) and (
                equality(value) is None or equality(value) != equality(term.value)
            ):
                wanted, there = self.phrases.value(term.value, term.type), self.phrases.value(value, term.type)
                yield Stop("value", f"{attribute} of {atom.event} is {there}, not {wanted}", 0.5)

    def differs(self, name: str, pair: typed.Pair, left: Any, right: Any) -> Stop:
        """A variable that has two values."""
        sides = (describe_events(pair.left), describe_events(pair.right))
        if left is None or right is None:
            side = sides[0] if left is None else sides[1]
            return Stop("value", f"{name} of {side} is null, and null equals nothing", 0.5)
        said = f"{name} is {self.phrases.value(left)} in {sides[0]} and {self.phrases.value(right)} in {sides[1]}"
        return Stop("value", said, 0.7)

    def count(self, part: typed.Gathering, members: list[Match], span: tuple[int, int], match: Match) -> Stop:
        """Too few or too many events were gathered."""
        what, where = self.phrases.pattern(part.pattern, match.values), self._where(part.scope, span)
        if not members:
            needed = "" if part.low == 1 else f"; {part.low} are needed"
            return Stop("count", f"no {what} came {where}{needed}", 1.0)
        few = len(members) < part.low
        wanted = part.low if few else part.high
        assert wanted is not None
        text = f"{len(members)} {what} came {where}; at {'least' if few else 'most'} {wanted} are needed"
        return Stop("count", text, abs(len(members) - wanted) / (len(members) + wanted))

    def run(self, run: typed.Run, group: list[Match], bound: Mapping[str, Any]) -> Stop:
        """There are too few events for a repetition."""
        said = self.phrases.pattern(run.pattern, {**bound, **{n: group[0].values[n] for n in run.keys}})
        text = f"there {'is' if len(group) == 1 else 'are'} {len(group)} {said}, {run.count} are needed"
        return Stop("count", text, 1 - len(group) / run.count)

    def absence(self, absence: typed.Absence, came: list[Match], span: tuple[int, int]) -> Stop:
        """Events came that must not."""
        first = min(came, key=lambda m: m.order)
        more = f" and {len(came) - 1} more" if len(came) > 1 else ""
        after, before = first.start - span[0], span[1] - first.end
        text = f"{self.describe(first)}{more} came {self._where(absence.scope, span)}"
        weight = min(after, before) / (span[1] - span[0] + 1) / 2 + 0.01 * len(came)
        inner = tuple(each for event in self._matched(first) for each in self.unfold(event))
        return Stop("absence", text, min(weight, 1.0), inner)

    def no_row(self, lookup: typed.Lookup, match: Match) -> Stop:
        """A table has no row with the values of a match."""
        known = []
        columns = self.study.program.predicates[lookup.predicate].columns
        for (column, type_), term in zip(columns.items(), lookup.arguments, strict=True):
            if isinstance(term, typed.Constant):
                known.append(f"{column}={self.phrases.value(term.value, type_)}")
            elif isinstance(term, typed.Variable) and term.name in match.values:
                known.append(f"{column}={self.phrases.value(match.values[term.name], type_)}")
        there = bool(self.study.knowledge.rows[lookup.predicate])
        with_ = f"no row with {', '.join(known)}" if there and known else "no rows"
        return Stop("table", f"the table {lookup.predicate} has {with_}", 0.6)

    def name(self, pattern: typed.Pattern, match: Match) -> str:
        """Name a side of a pairing; with its time where several events of the rule have the name."""
        if isinstance(pattern, typed.Atom) and self._atoms.count(pattern.event) > 1:
            return f"{pattern.event} @ {self.phrases.span(match.start, match.end)}"
        types = dict.fromkeys(event.type for event in self._matched(match))
        return ", ".join(types) if len(types) == 1 else f"({', '.join(types) or describe_events(pattern)})"

    def describe(self, match: Match) -> str:
        """The events of an instance, with their times."""
        shown = list(map(self.phrases.at, self._matched(match)))
        return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "") or "a timer"

    def _matched(self, match: Match) -> list[Event]:
        events = [self.study.by_identity.get(p.identity) or self.unseen.get(p.identity) for p in match.parts if p.event]
        return [event for event in events if event is not None]

    def _where(self, scope: typed.Scope, span: tuple[int, int]) -> str:
        name = {typed.Between: "between the two", typed.Inside: "inside it"}.get(type(scope))
        if isinstance(scope, typed.During):
            name = f"in {describe_scope(scope)}"
        return f"{name}, {self.phrases.time(span[0])} – {self.phrases.time(span[1])}"
