"""From a plan to its description, operator by operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import partial
from itertools import count

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.description import Description, Kept, Phrases, looked_at
from ensue.plan.pairings import describe_pairing
from ensue.plan.walk import aggregates_in, inputs_of, pattern_of, walk
from ensue.plan.windows import describe_window
from ensue.records import dataclass
from ensue.temporal.constraints import BODY
from ensue.temporal.describe import A_TIMER, describe_events, describe_pattern, describe_scope, describe_term
from ensue.temporal.memory import UNBOUNDED, constant, window
from ensue.temporal.restricted import tightest

PASSING = plan.Distinct | plan.Restrict | plan.Wait | plan.Seeing
"""Operators that pass on the matches of a body, or some of them."""

BESIDE = plan.Absent | plan.Gather | plan.Window | plan.LookUp
"""Parts of a body beside its pattern."""


def describe(derive: plan.Derive, program: typed.Program) -> Description:
    """The description of a rule's plan; the program gives the unit of lengths of time."""
    conditions = (each for node in walk(derive) if isinstance(node, plan.Restrict) for each in node.conditions)
    aggregates = aggregates_in([*(term for _, term in derive.rule.head), *conditions])
    phrases = Phrases(program)
    return _often(derive, _Describer(phrases, tuple(aggregates)).body(derive.input, BODY), phrases)


def _often(derive: plan.Derive, body: Description, phrases: Phrases) -> Description:
    """Description of a rule with an output rate, around that of its body; without one, the body's own."""
    quiet, each = derive.rule.quiet, phrases.program.events[derive.rule.event].each
    if quiet is None:
        return replace(body, cost=f"{body.cost}, each for itself") if each else body
    word = "once" if quiet.most == 1 else f"at most {quiet.most}"
    per = f" per {', '.join(quiet.keys)}" if quiet.keys else ""
    ends = "the end of the last" if quiet.most == 1 else f"the ends of the last {quiet.most}"
    kept = Kept(f"{ends} that it derived", quiet.keys, window(quiet.length))
    title, cost = f"{word}{per} in {phrases.length(quiet.length)}", "for each match: what was kept of its group"
    return Description("often", BODY, title, cost, (kept,), parts=(body,), inputs=(derive.input,))


@dataclass
class _Describer:
    """Describes operators from the last to the first."""

    phrases: Phrases
    aggregates: tuple[typed.Aggregate, ...]
    """The aggregates of the rule."""
    numbers: Iterator[int] = field(default_factory=partial(count, 1))
    """Numbers for lookups, which have no ids."""

    # --- bodies

    def body(self, node: plan.Operator, id_: int, named: plan.Named | None = None) -> Description:
        """Description of a body: its pattern, and the lookups, gatherings, absences and conditions beside it."""
        own: list[plan.Operator] = []
        beside: list[Description] = []
        kept: tuple[Kept, ...] = ()
        conditions: list[typed.Expression] = []
        checked = once = False
        at = node
        while True:
            match at:
                case plan.Distinct():
                    once = True
                case plan.Restrict(related=related, within=within, lasting=lasting, conditions=where, keep=keep):
                    conditions[:0] = where
                    lengths = (within, lasting, keep)
                    checked = checked or bool(related or where) or any(length is not None for length in lengths)
                case plan.Wait(timers=timers, longest=longest):
                    if any(timer.end_shift > 0 for timer in timers):
                        kept = (Kept(f"matches of {_events(at)} until their timers end", (), window(longest)),)
                case plan.Absent() | plan.Gather():
                    beside.append(self._scope(at))
                case plan.Window():
                    beside.append(self._window(at))
                case plan.LookUp():
                    beside.append(self._look_up(at))
                case plan.Seeing():
                    pass
                case _:
                    break
            if isinstance(at, PASSING):
                own.append(at)
            at = at.input
        matched = [] if isinstance(at, plan.Nothing) else [self._pattern(at)]
        cost = "checks each match" if checked else "passes on each match"
        if once:
            cost += ", and passes it on once" if checked else ", once"
        return Description(
            "body", id_, "match", cost, kept, checks=self.phrases.conditions(conditions),
            parts=(*matched, *reversed(beside)), operators=tuple(own), output=node if named is None else named,
            inputs=(at,) if matched else (),
        )  # fmt: skip

    def _scope(self, node: plan.Absent | plan.Gather) -> Description:
        """Description of a negated or gathered pattern in a scope."""
        part = node.part
        match part.scope:
            case typed.During():
                where = f"during {describe_scope(part.scope)}"
            case typed.Between():
                where = "between the two"
            case typed.Inside():
                where = "inside it"
        events, absent = describe_events(part.pattern), isinstance(part, typed.Absence)
        newest = isinstance(node, plan.Absent) and node.newest
        memory = constant(2) if newest else window(tightest(node.reach, node.keep))
        kept = Kept(events, part.shared, memory, after=_opener(node))
        looked = looked_at(events, part.shared)
        if newest:
            looked = f"the newest {events} of its key" if part.shared else f"the newest {events}"
        found = Description(
            "absence" if absent else "gathering",
            part.pattern.id,
            f"{'no' if absent else 'all'} {describe_pattern(part.pattern)} {where}",
            f"for each match: {looked} in its scope",
            (kept,),
            checks=self.phrases.conditions(node.conditions),
            operators=(node,),
            output=node,
            inputs=(node.input, node.inner),
        )
        if not isinstance(node.inner, plan.Anew):
            gated = () if node.opener is None else node.opener.gated
            return replace(found, parts=(_behind_a_gate(self._pattern(node.inner), node.inner, gated, _opener(node)),))
        advice = f"let {events} share variables with the rest, instead of naming it in parentheses"
        return replace(
            found, cost=f"for each match: matched anew, from every {events} so far",
            kept=(Kept(events, (), UNBOUNDED, advice),), parts=(_anew(self._pattern(node.inner.input)),),
            inputs=(node.input,),
        )  # fmt: skip

    def _window(self, node: plan.Window) -> Description:
        inner = [node.collected, *([] if node.beginning is None else [node.beginning])]
        arguments = [each.argument for each in self.aggregates if each.path[0] == node.window.id]
        parts = list(map(self._pattern, inner))
        if node.window.beginning is not None:
            after = describe_events(node.window.beginning)
            parts[0] = _behind_a_gate(parts[0], node.collected, node.gated, after)
        return describe_window(node, tuple(parts), arguments, self.phrases)

    def _look_up(self, node: plan.LookUp) -> Description:
        lookup = node.lookup
        terms = ", ".join("_" if term is None else describe_term(term) for term in lookup.arguments)
        cost = "for each match: the rows that agree, looked up once for each combination of values"
        return Description(
            "lookup", next(self.numbers), f"rows of {lookup.predicate}({terms})", cost, operators=(node,), output=node,
            inputs=(node.input,),
        )  # fmt: skip

    # --- patterns

    def _pattern(self, node: plan.Operator) -> Description:
        match node:
            case plan.Scan(atom=atom, conditions=conditions):
                compares = bool(conditions) or any(isinstance(term, typed.Constant) for _, term in atom.fields)
                cost = f"{'compares' if compares else 'takes'} each {atom.event}"
                return Description(
                    "event", atom.id, describe_pattern(atom), cost,
                    checks=self.phrases.conditions(conditions), event=atom.event, operators=(node,), output=node,
                )  # fmt: skip
            case plan.Clock(timer=timer):
                title = describe_pattern(timer, self.phrases.length)
                return Description("timer", timer.id, title, "nothing but time", operators=(node,), output=node)
            case plan.Join(endings=endings):
                sides = (self._pattern(node.left), self._pattern(node.right))
                return describe_pairing(node, (*sides, *map(self._ending, endings)), self.phrases)
            case plan.Choose() | plan.RestrictedAnd() | plan.RestrictedSequence():
                return describe_pairing(node, (self._pattern(node.left), self._pattern(node.right)), self.phrases)
            case plan.Alternatives():
                return self._other(node, "or", "or", "passes on each, once")
            case plan.Spanned(input=inner):
                return self._pattern(inner)
            case plan.Repeat(run=run):
                kept = Kept(describe_events(run.pattern), run.keys, constant(run.count))
                return self._other(node, "run", f"{run.count} in a row", "the last of the group", kept)
            case plan.Named(nested=nested):
                return self.body(node.input, nested.id, node)
            case plan.Latest(input=plan.Alternatives(inputs=inputs), variables=variables):
                return self._other(node, "or", "or, the latest start", _one_of(variables), inputs=inputs)
            case plan.Latest(variables=variables):
                return self._other(node, "latest", "the latest start", _one_of(variables))
            case plan.RestrictedWithout(part=part, memory=memory):
                kept = Kept(f"the latest start of {describe_events(part.pattern)}", part.shared, memory)
                title = f"no {describe_pattern(part.pattern)} inside it"
                cost = "compares each match with the latest start"
                return self._other(node, "absence", title, cost, kept, id_=part.pattern.id)
            case plan.Shared(input=inner, name=name):
                return replace(self._pattern(inner), shared=name)
            case _ if isinstance(node, PASSING | BESIDE):
                return self.body(node, _id(node))
            case _:
                name = type(node).__name__.lower()
                return self._other(node, name, name, "passes on each match")

    def _other(
        self, node: plan.Operator, kind: str, title: str, cost: str, *kept: Kept, id_: int | None = None,
        inputs: tuple[plan.Operator, ...] | None = None,
    ) -> Description:  # fmt: skip
        """Description of an operator with its inputs, by default all, and its id, by default that of its pattern."""
        taken = inputs_of(node) if inputs is None else inputs
        return Description(
            kind, _id(node) if id_ is None else id_, title, cost, kept, parts=tuple(map(self._pattern, taken)),
            operators=(node,), output=node, inputs=taken,
        )  # fmt: skip

    def _ending(self, ending: plan.Ending) -> Description:
        """Description of a forbidden event between the sides of a join that drops waiting left sides."""
        pattern = pattern_of(ending.input)
        assert pattern is not None
        cost = f"each {describe_events(pattern)} ends what waits before it"
        title, parts = f"no {describe_pattern(pattern)} between the two", (self._pattern(ending.input),)
        return Description("absence", pattern.id, title, cost, parts=parts)


def _events(node: plan.Operator) -> str:
    """The names of the events that an operator matches."""
    pattern = pattern_of(node)
    return A_TIMER if pattern is None else describe_events(pattern)


def _anew(part: Description) -> Description:
    """Description of a pattern that is matched again for each match: it keeps no state and has no counts."""
    return replace(part, kept=(), operators=(), output=None, inputs=(), parts=tuple(map(_anew, part.parts)))


def _behind_a_gate(part: Description, node: plan.Operator, gated: tuple[int, ...], after: str | None) -> Description:
    """Description of a composite in a scope: where all its events are gated, it keeps them only after the opener."""
    scans = (each for each in walk(node) if isinstance(each, plan.Scan))
    return _kept_after(part, after) if gated and all(scan.atom.id in gated for scan in scans) else part


def _kept_after(part: Description, after: str | None) -> Description:
    kept = tuple(replace(each, after=each.after or after) for each in part.kept)
    return replace(part, kept=kept, parts=tuple(_kept_after(each, after) for each in part.parts))


def _opener(node: plan.Absent | plan.Gather) -> str | None:
    """The events that open a scope."""
    if node.opener is None:
        return None
    scans = {each.atom.id: each.atom.event for each in walk(node.input) if isinstance(each, plan.Scan)}
    return " or ".join(dict.fromkeys(scans[atom] for atom in node.opener.atoms if atom in scans)) or None


def _id(node: plan.Operator) -> int:
    pattern = pattern_of(node)
    return BODY if pattern is None else pattern.id


def _one_of(variables: tuple[str, ...]) -> str:
    return f"passes on one of each time{''.join(f' and {name}' for name in variables)}"
