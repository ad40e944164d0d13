"""From the typed program to nodes: one for each part of a rule's body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ensue.engine.network.alternatives import EitherNode, LackingNode, NestedNode, SeveralNode
from ensue.engine.network.atoms import AtomNode, MomentNode, PeriodicNode
from ensue.engine.network.bodies import BodyNode, Conditions, RestrictedNode, rests
from ensue.engine.network.contexts import SelectNode
from ensue.engine.network.node import Node, Setting
from ensue.engine.network.pairs import Ending, JoinNode
from ensue.engine.network.partners import link_partners
from ensue.engine.network.restricted import InnermostNode, LastingNode, LatestNode, WithoutNode
from ensue.engine.network.runs import RunNode
from ensue.engine.network.scopes import ScopeNode
from ensue.engine.network.windows import WindowNode
from ensue.language import typed
from ensue.language.contained import Apart
from ensue.language.walk import pairs, visible_variables
from ensue.temporal.adjacent import ended_by
from ensue.temporal.instants import latest_is_enough
from ensue.temporal.joins import Side, sides_of
from ensue.temporal.lifetimes import FOREVER, Frame, scope_reach


def build_body(frame: Frame, setting: Setting, head: Iterable[typed.Expression] = ()) -> Node:
    """The node of a body; `head` holds the head's terms, which decide the groups of a window."""
    body = frame.body
    conditions = Conditions(body, setting)
    if body.restricted:
        assert body.pattern is not None
        restricted = RestrictedNode(_restricted(body.pattern, body, body.correlation, setting), conditions)
        return _about(restricted, "body", frame.id)
    pattern = None if body.pattern is None else _joined(body.pattern, frame, conditions, setting)
    window = None
    if body.window is not None:
        fixed = rests(body, setting) if body.pattern is None else None
        window = _about(WindowNode(body.window, list(head), fixed, setting, _alone), "window", body.window.id)
    ending = [absence for pair in pairs(body.pattern) for absence in _ending(pair, frame, setting)]
    absences = [_scope(absence, frame, setting) for absence in body.absences if absence not in ending]
    gatherings = [_scope(gathering, frame, setting) for gathering in body.gatherings]
    node = BodyNode(body, pattern, conditions, absences, gatherings, window, setting)
    return _about(node, "body", frame.id)


N = TypeVar("N", bound=Node)


def _about(node: N, kind: str, id_: int) -> N:
    """The node, which knows the part of the plan that it is."""
    node.about = f"{kind} {id_}"
    return node


def _scope(part: Apart, frame: Frame, setting: Setting) -> ScopeNode:
    reach = scope_reach(part.scope, frame, setting.events) if setting.options.lifetimes else None
    kind = "absence" if isinstance(part, typed.Absence) else "gathering"
    return _about(ScopeNode(part, reach, setting, _alone), kind, part.pattern.id)


def _alone(pattern: typed.Pattern, setting: Setting) -> Node:
    """The node of a pattern that stands alone, as what is negated, gathered or collected does."""
    frame = Frame.of(typed.Body(pattern))
    return _joined(pattern, frame, Conditions(frame.body, setting), setting)


def _joined(pattern: typed.Pattern, frame: Frame, conditions: Conditions, setting: Setting) -> Node:
    """The node of all that a body matches, whose joins know each other."""
    node = build_pattern(pattern, frame, conditions, setting)
    link_partners(node, frame, setting)
    return node


def build_pattern(pattern: typed.Pattern, frame: Frame, conditions: Conditions, setting: Setting) -> Node:
    """The node of a pattern that stands in a body."""
    match pattern:
        case typed.Atom():
            return _about(AtomNode(pattern), "event", pattern.id)
        case typed.Moment():
            return _about(MomentNode(pattern), "timer", pattern.id)
        case typed.Periodic():
            return _about(PeriodicNode(pattern, setting), "timer", pattern.id)
        case typed.Pair(left=left, right=right):
            one, other = (build_pattern(side, frame, conditions, setting) for side in (left, right))
            sides = _sides(pattern, frame, setting)
            if pattern.left_context is not None:
                select = SelectNode(
                    pattern, one, other, conditions.eligible(pattern), (sides[0].lifetime, sides[1].lifetime)
                )
                return _about(select, "select", pattern.id)
            endings = [Ending(_alone(a.pattern, setting), a.shared) for a in _ending(pattern, frame, setting)]
            return _about(JoinNode(pattern, one, other, sides, endings), "join", pattern.id)
        case typed.Either(alternatives=alternatives):
            nodes = [build_pattern(side, frame, conditions, setting) for side in alternatives]
            return _about(EitherNode(pattern, nodes), "or", pattern.id)
        case typed.Lacking(pattern=inner):
            return LackingNode(pattern, build_pattern(inner, frame, conditions, setting))
        case typed.Run(pattern=inner):
            return _about(RunNode(pattern, _alone(inner, setting)), "run", pattern.id)
        case typed.Nested(label=label):
            return NestedNode(label, build_body(frame.inside(pattern), setting))


def _ending(pair: typed.Pair, frame: Frame, setting: Setting) -> tuple[typed.Absence, ...]:
    """The absences that end what waits in a join."""
    return ended_by(frame, pair, setting.events) if setting.options.ending else ()


def _sides(pair: typed.Pair, frame: Frame, setting: Setting, suppressing: bool = True) -> tuple[Side, Side]:
    """The sides of a pairing, as far as they are optimised."""
    options = setting.options

    def optimised(side: Side) -> Side:
        return Side(
            side.lifetime if options.lifetimes else FOREVER,
            side.stored or not options.streaming,
            side.looks,
            side.suppressed and options.suppressing and suppressing,
        )

    left, right = sides_of(frame, pair, setting.events)
    return optimised(left), optimised(right)


def _restricted(pattern: typed.Pattern, body: typed.Body, correlation: Iterable[str], setting: Setting) -> Node:
    """The restricted meaning of a pattern; `correlation` holds the variables that matter outside it."""
    variables = sorted(set(correlation) & visible_variables(pattern))
    match pattern:
        case typed.Either(alternatives=alternatives):
            several = SeveralNode([_restricted(side, body, body.correlation, setting) for side in alternatives])
            return LatestNode(_about(several, "or", pattern.id), variables)
        case typed.Pair(left=left, right=right, relation=relation):
            one, other = (_restricted(side, body, body.correlation, setting) for side in (left, right))
            frame = Frame.of(typed.Body(pattern, within=body.within))
            latest = setting.options.latest and latest_is_enough(pattern, body, setting.events)
            sides = _sides(pattern, frame, setting, suppressing=False)
            join = JoinNode(pattern, one, other, sides, latest=latest, preferring=True)
            joined = LastingNode(_about(join, "join", pattern.id), body.within, body.lasting)
            return InnermostNode(joined, variables) if relation.word == "seq" else LatestNode(joined, variables, True)
        case typed.Lacking(id=id_, pattern=inner):
            (absence,) = (a for a in body.absences if a.scope == typed.Inside(id_))
            shared = set(body.correlation) & set(absence.shared)
            absent = ScopeNode(absence, None, setting, lambda p, s: _restricted(p, body, shared, s))
            without = WithoutNode(_restricted(inner, body, body.correlation, setting), absent)
            return _about(without, "absence", absence.pattern.id)
        case typed.Nested(body=nested, label=label):
            return NestedNode(label, build_body(Frame.of(nested), setting))
        case _:
            return LatestNode(build_pattern(pattern, Frame.of(body), Conditions(body, setting), setting), variables)
