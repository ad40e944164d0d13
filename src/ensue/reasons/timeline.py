"""The timeline of a match: events, timers, windows, rows of tables, absences and conditions, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ensue.language import typed
from ensue.language.walk import conjuncts, names_used, patterns
from ensue.reasons.answer import Detected, Line
from ensue.reasons.study import Study
from ensue.reference.evaluate import World, atom_match, related_in_time
from ensue.reference.matches import NOTHING, Event, Match, MatchPart, agree
from ensue.temporal.describe import describe_relation, describe_scope

MOST_COLLECTED = 6
"""Number of collected events that are shown: the first ones and the last."""

Unfold = Callable[[Event], tuple[Detected, ...]]
"""Explains why an event was derived."""

Dated = tuple[tuple[int, int, int], Line]
"""A line, and its place in time."""


def bodies(body: typed.Body) -> Iterator[typed.Body]:
    """A body and those in parentheses among its constituents."""
    yield body
    waiting: list[typed.Pattern | None] = [body.pattern]
    while waiting:
        match waiting.pop():
            case typed.Pair(left=left, right=right):
                waiting += [right, left]
            case typed.Either(alternatives=alternatives):
                waiting += reversed(alternatives)
            case typed.Lacking(pattern=inner):
                waiting.append(inner)
            case typed.Nested(body=nested):
                yield from bodies(nested)


class Timeline:
    """Writes the lines of matches of one rule."""

    def __init__(self, study: Study, rule: typed.Rule, world: World, unfold: Unfold = lambda event: ()) -> None:
        self.study, self.rule, self.world, self.unfold = study, rule, world, unfold
        self.phrases = study.phrases
        self.ids = {pattern.id: pattern for pattern in patterns(rule.body)}
        self.bodies = list(bodies(rule.body))
        self.composed = {pattern.id for pattern in self.ids.values() if isinstance(pattern, typed.Run)}
        """Gatherings whose members are parts of the match: runs, windows, and constituents that are cumulative."""
        for pattern in self.ids.values():
            if isinstance(pattern, typed.Pair):
                self.composed |= {id_ for id_ in (pattern.left_gathering, pattern.right_gathering) if id_ is not None}
        self.composed |= {body.window.id for body in self.bodies if body.window is not None}
        self.timers = {timer.id: timer for body in self.bodies for timer in body.timers}

    def matched(self, match: Match, unseen: dict[Any, Event] | None = None) -> list[Dated]:
        """Events, timers and rows of a match, and its gathered events."""
        composed = [members for id_, members in match.gathered.items() if id_ in self.composed]
        gathered = {part.identity for members in composed for member in members for part in member.parts}
        found = []
        for part in match.parts:
            if part.event and part.identity not in gathered:
                found.append(self._event(part, unseen or {}))
            elif not part.event and part.identity not in gathered:
                found += self._timer(part)
        found += self._rows(match)
        found += self._gathered(match, unseen or {})
        return found

    def looked_for(self, match: Match) -> list[Dated]:
        """Show absences, conditions with their values, and bounds of time with the lengths that they were compared to.

        All of it holds.
        """
        found: list[Dated] = []
        for body in self.bodies:
            found += self._absent(body, match)
        for body in self.bodies:
            found += self._conditions(body, match)
        return found + self._bounds(match)

    # --- matched

    def _event(self, part: MatchPart, unseen: dict[Any, Event]) -> Dated:
        event = self.study.by_identity.get(part.identity) or unseen[part.identity]
        shown = self.study.shown(event)
        atom = self.ids.get(part.pattern) if part.pattern is not None else None
        label = atom.label if isinstance(atom, typed.Atom) else None
        text = shown.text if label is None else f"{label}: {shown.text}"
        line = Line("event", text, shown.start, shown.end, shown, self.unfold(event))
        return (event.start, event.end, 0), line

    def _timer(self, part: MatchPart) -> list[Dated]:
        match part.identity:
            case ("timer", int(id_), int(start), int(end)):
                timer = self.timers.get(id_) or self.ids.get(id_)
                return [self._dated(end, start, 1, "timer", self._describe_timer(timer))]
            case _:
                return []

    def _describe_timer(self, timer: Any) -> str:
        length = self.phrases.length
        match timer:
            case typed.Timer(of=of, label=label):
                named = "" if label is None else f"{label}: "
                return f"{named}{_timer_written(timer, of, length)}"
            case typed.Moment(time=time, label=label):
                return f"{'' if label is None else f'{label}: '}at({self.phrases.time(time)})"
            case typed.Periodic(period=period, label=label):
                return f"{'' if label is None else f'{label}: '}every({length(period)})"
            case _:
                return "a timer"

    def _rows(self, match: Match) -> list[Dated]:
        found = []
        for body in self.bodies:
            for lookup in body.lookups:
                names = {t.name for t in lookup.arguments if isinstance(t, typed.Variable)}
                if names <= match.values.keys():
                    text = f"row {self.describe_row(lookup, match)}"
                    found.append(((match.end, match.start, 2), Line("row", text)))
        return found

    def describe_row(self, lookup: typed.Lookup, match: Match) -> str:
        """A row of a table, as far as its values are known: ``limit(m="m7", l=30)``."""
        columns = self.study.program.predicates[lookup.predicate].columns
        terms = []
        for (column, type_), term in zip(columns.items(), lookup.arguments, strict=True):
            if isinstance(term, typed.Constant):
                terms.append(f"{column}={self.phrases.value(term.value, type_)}")
            elif isinstance(term, typed.Variable) and term.name in match.values:
                terms.append(f"{column}={self.phrases.value(match.values[term.name], type_)}")
        return f"{lookup.predicate}({', '.join(terms)})"

    def _gathered(self, match: Match, unseen: dict[Any, Event]) -> list[Dated]:
        found: list[Dated] = []
        for id_, members in match.gathered.items():
            if not members:
                continue
            start, end = min(m.start for m in members), max(m.end for m in members)
            window = next((b.window for b in self.bodies if b.window is not None and b.window.id == id_), None)
            what = "1 event" if len(members) == 1 else f"{len(members)} events"
            if window is not None:
                start, end = min(start, match.start), match.end
                found.append(self._dated(end, start, 3, "window", f"{self.describe_window(window)}: {what}"))
            else:
                found.append(self._dated(end, start, 3, "collected", f"collected {what}"))
            shown = members if len(members) <= MOST_COLLECTED else [*members[: MOST_COLLECTED - 1], members[-1]]
            for place, member in enumerate(shown):
                if place == MOST_COLLECTED - 1 and len(members) > MOST_COLLECTED:
                    more = f"  … {len(members) - MOST_COLLECTED} more"
                    found.append(((start, end, 4), Line("note", more)))
                for part in member.parts:
                    if part.event:
                        _, line = self._event(part, unseen)
                        inner = Line("collected", f"  {line.text}", line.start, line.end, line.event, line.inner)
                        found.append(((start, end, 4), inner))
        return found

    def describe_window(self, window: typed.Window) -> str:
        """A window as it is written: ``last 5m``, ``each 1h``, ``since day_start``."""
        kind = window.record
        if kind.takes == "pattern":
            return f"while {kind.word} {self.phrases.pattern(window.beginning, {})}" if window.beginning else kind.word
        size = str(window.size) if kind.takes == "number" else self.phrases.length(window.size)
        return f"while {kind.word} {size}"

    # --- looked for

    def _absent(self, body: typed.Body, match: Match) -> Iterator[Dated]:
        for absence in body.absences:
            try:
                span = self.world.scope(absence.scope, match, NOTHING)
            except KeyError:
                continue
            if span is None and body.restricted:
                span = match.start, match.end
            if span is None:
                continue
            text = f"no {self.phrases.pattern(absence.pattern, match.values)} came{self._describe_ends(absence.scope)}"
            yield self._dated(span[1], span[0], 5, "absent", text)
            for unseen in self.study.unseen:
                event = unseen.event
                if self._would_stop(absence, event, match, span):
                    said = f"  {self.phrases.at(event)} was not seen: {unseen.reason}"
                    yield self._dated(span[1], span[0], 5, "note", said)

    def _would_stop(self, absence: typed.Absence, event: Event, match: Match, span: tuple[int, int]) -> bool:
        atom = absence.pattern
        if not isinstance(atom, typed.Atom) or atom.event != event.type:
            return False
        found = atom_match(atom, event)
        return (
            found is not None and span[0] <= event.start and event.end <= span[1]
            and agree(match, found, absence.shared)
        )  # fmt: skip

    def _describe_ends(self, scope: typed.Scope) -> str:
        match scope:
            case typed.During():
                return f" in {describe_scope(scope)}"
            case typed.Between():
                return " between the two"
            case _:
                return " inside it"

    def _conditions(self, body: typed.Body, match: Match) -> Iterator[Dated]:
        for condition in (*body.on, *body.where):
            for each in conjuncts(condition):
                if all(match.knows(name) for name in names_used(each)):
                    try:
                        text = self.phrases.condition(each, match, self.study.knowledge.held, body)
                    except KeyError:
                        continue
                    yield (match.end, match.start, 6), Line("condition", text)

    def _bounds(self, match: Match) -> list[Dated]:
        found = []
        length, taken = self.phrases.length, match.end - match.start
        body = self.rule.body
        if body.within is not None:
            found.append(f"within {length(body.within)}: it took {length(taken)}")
        if body.lasting is not None:
            found.append(f"lasting {length(body.lasting)}: it took {length(taken)}")
        for each in self.bodies:
            for related in each.related:
                if related.left in match.labels and related.right in match.labels:
                    sides = match.labels[related.left], match.labels[related.right]
                    if related_in_time(related.relation, *sides):
                        said = describe_relation(related.relation, length)
                        found.append(f"{related.left} {said} {related.right}")
        return [((match.end, match.start, 7), Line("time", text)) for text in found]

    def _dated(self, end: int, start: int, rank: int, kind: str, text: str) -> Dated:
        return (start, end, rank), Line(kind, text, self.phrases.time(start), self.phrases.time(end))


def in_time(lines: list[Dated]) -> tuple[Line, ...]:
    """Lines with a time by their starts, those without behind them."""
    dated = [line for line in lines if line[1].start is not None or line[0][2] in (3, 4)]
    others = [line for line in lines if line not in dated]
    return tuple(line for _, line in (*sorted(dated, key=lambda each: each[0]), *sorted(others, key=lambda e: e[0][2])))


def _timer_written(timer: typed.Timer, of: str, length: Callable[[int], str]) -> str:
    """A relative timer in the words of the language.

    >>> _timer_written(typed.Timer(1, "o", 0, 6, "w"), "o", str)
    'extend(o, 6)'
    >>> _timer_written(typed.Timer(1, "o", -6, 0, "w", end_at_start=True), "o", str)
    'preceding(o, 6)'
    """
    start, end = timer.start_shift, timer.end_shift
    if timer.start_at_end:
        return f"following({of}, {length(end)})"
    if timer.end_at_start:
        return f"preceding({of}, {length(-start)})"
    if start == 0:
        return f"extend({of}, {length(end)})"
    if end == 0:
        return f"extend_backward({of}, {length(-start)})"
    return f"shift({of}, {length(start)})"
