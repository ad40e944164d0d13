"""From the typed program to nodes: one for each part of a rule's body."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.engine.network.alternatives import EitherNode, LackingNode, NestedNode, SeveralNode
from ensue.engine.network.atoms import AtomNode, MomentNode, PeriodicNode
from ensue.engine.network.bodies import BodyNode, Conditions, RestrictedNode, rests
from ensue.engine.network.contexts import SelectNode
from ensue.engine.network.node import Node, Setting
from ensue.engine.network.pairs import JoinNode
from ensue.engine.network.restricted import InnermostNode, LastingNode, LatestNode, WithoutNode
from ensue.engine.network.runs import RunNode
from ensue.engine.network.scopes import ScopeNode
from ensue.engine.network.windows import WindowNode
from ensue.language import typed
from ensue.language.walk import visible_variables
from ensue.temporal.lifetimes import Frame, Lifetime, distances_of, lifetime, scope_reach


def build_body(frame: Frame, setting: Setting, head: Iterable[typed.Expression] = ()) -> Node:
    """The node of a body; `head` holds the head's terms, which decide the groups of a window."""
    body = frame.body
    conditions = Conditions(body, setting)
    if body.restricted:
        assert body.pattern is not None
        return RestrictedNode(_restricted(body.pattern, body, body.correlation, setting), conditions)
    pattern = None if body.pattern is None else build_pattern(body.pattern, frame, conditions, setting)
    window = None
    if body.window is not None:
        fixed = rests(body, setting) if body.pattern is None else None
        window = WindowNode(body.window, list(head), fixed, setting, _alone)
    absences = [
        ScopeNode(part, scope_reach(part.scope, frame, setting.events), setting, _alone) for part in body.absences
    ]
    gatherings = [
        ScopeNode(part, scope_reach(part.scope, frame, setting.events), setting, _alone) for part in body.gatherings
    ]
    return BodyNode(body, pattern, conditions, absences, gatherings, window, setting)


def _alone(pattern: typed.Pattern, setting: Setting) -> Node:
    """The node of a pattern that stands alone, as what is negated, gathered or collected does."""
    frame = Frame.of(typed.Body(pattern))
    return build_pattern(pattern, frame, Conditions(frame.body, setting), setting)


def build_pattern(pattern: typed.Pattern, frame: Frame, conditions: Conditions, setting: Setting) -> Node:
    """The node of a pattern that stands in a body."""
    match pattern:
        case typed.Atom():
            return AtomNode(pattern)
        case typed.Moment():
            return MomentNode(pattern)
        case typed.Periodic():
            return PeriodicNode(pattern, setting)
        case typed.Pair(left=left, right=right):
            one, other = (build_pattern(side, frame, conditions, setting) for side in (left, right))
            lifetimes = _lifetimes(pattern, frame, setting)
            if pattern.left_context is None:
                return JoinNode(pattern, one, other, lifetimes)
            return SelectNode(pattern, one, other, conditions.eligible(pattern), lifetimes)
        case typed.Either(alternatives=alternatives):
            return EitherNode(pattern, [build_pattern(side, frame, conditions, setting) for side in alternatives])
        case typed.Lacking(pattern=inner):
            return LackingNode(pattern, build_pattern(inner, frame, conditions, setting))
        case typed.Run(pattern=inner):
            return RunNode(pattern, _alone(inner, setting))
        case typed.Nested(label=label):
            return NestedNode(label, build_body(frame.inside(pattern), setting))


def _lifetimes(pair: typed.Pair, frame: Frame, setting: Setting) -> tuple[Lifetime, Lifetime]:
    distances = distances_of(frame, pair, setting.events)
    return lifetime(distances, pair.left.id, pair), lifetime(distances, pair.right.id, pair)


def _restricted(pattern: typed.Pattern, body: typed.Body, correlation: Iterable[str], setting: Setting) -> Node:
    """The restricted meaning of a pattern; `correlation` holds the variables that matter outside it."""
    variables = sorted(set(correlation) & visible_variables(pattern))
    match pattern:
        case typed.Either(alternatives=alternatives):
            sides = [_restricted(side, body, body.correlation, setting) for side in alternatives]
            return LatestNode(SeveralNode(sides), variables)
        case typed.Pair(left=left, right=right, relation=relation):
            one, other = (_restricted(side, body, body.correlation, setting) for side in (left, right))
            lifetimes = _lifetimes(pattern, Frame.of(typed.Body(pattern, within=body.within)), setting)
            joined = LastingNode(JoinNode(pattern, one, other, lifetimes), body.within, body.lasting)
            return InnermostNode(joined, variables) if relation.word == "seq" else LatestNode(joined, variables)
        case typed.Lacking(id=id_, pattern=inner):
            (absence,) = (a for a in body.absences if a.scope == typed.Inside(id_))
            shared = set(body.correlation) & set(absence.shared)
            absent = ScopeNode(absence, None, setting, lambda p, s: _restricted(p, body, shared, s))
            return WithoutNode(_restricted(inner, body, body.correlation, setting), absent)
        case typed.Nested(body=nested, label=label):
            return NestedNode(label, build_body(Frame.of(nested), setting))
        case _:
            return LatestNode(build_pattern(pattern, Frame.of(body), Conditions(body, setting), setting), variables)
