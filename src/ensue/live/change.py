"""Rules added and removed while a session runs: all is checked as a whole, and rules that stay keep their state.

A rule stays if it is written as before. A new one sees what comes from now on: of the past it knows nothing, so what a
timer would have done there is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ensue.data import DataError
from ensue.data.errors import did_you_mean, listed
from ensue.engine.compiled.lane import CompiledLane
from ensue.engine.compiled.source import rule_names
from ensue.engine.network.atoms import MomentNode, PeriodicNode
from ensue.engine.network.instances import identity_of
from ensue.engine.network.node import restore, saved
from ensue.engine.network.stratum import RuleNode, Stratum
from ensue.engine.network.windows import WindowNode
from ensue.engine.run import Run
from ensue.engine.state import events_in
from ensue.language import syntax
from ensue.language.print import show
from ensue.program import Program, compile


def with_statements(program: Program, statements: str) -> Program:
    """The program with more statements."""
    if not isinstance(statements, str):
        raise TypeError(f"statements are a text, not {type(statements).__name__}")
    source = program.file.source
    return compile(f"{source.text.rstrip()}\n{statements.strip()}\n", source.name)


def without_rule(program: Program, name: str) -> Program:
    """The program without the rule of a name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a rule is a text, not {type(name).__name__}")
    rules = (s for s in program.file.statements if isinstance(s, syntax.EventRule | syntax.StaticRule))
    named = {rule.label.text: rule for rule in rules if rule.label is not None}
    if name not in named:
        raise DataError(f"No rule is called {name!r}; there is {listed(named)}.{did_you_mean(name, named)}")
    source, span = program.file.source, named[name].span
    return compile(f"{source.text[: span.start].rstrip()}\n{source.text[span.end :].lstrip()}\n", source.name)


def carry_over(old: Run, before: Sequence[str], new: Run, after: Sequence[str], time: int | None) -> None:
    """Gives the rules of a new run the state that they have in the old one, at a time.

    `before` and `after` are the rules of both as they are written, in order.
    """
    _carry_compiled(old, new)
    new.clock.first_end, new.clock.now = old.clock.first_end, old.clock.now
    known: dict[str, list[RuleNode]] = {}
    for index, node in _nodes(old).items():
        known.setdefault(before[index], []).append(node)
    for index, node in _nodes(new).items():
        same = known.get(after[index])
        if same and _shape(same[0]) == _shape(node):
            state = saved(same.pop(0).body)
            for event in events_in(state):
                event.place = new.places.get(event.type) or (len(new.places), None)
                event._key = None
            _restore(node, state)
        elif time is not None:
            _begin(node, time)


def _carry_compiled(old: Run, new: Run) -> None:
    """Rules that are compiled take over their state from where they were compiled before."""
    before = [lane for lane in old.lanes if isinstance(lane, CompiledLane)]
    moved: set[str] = set()
    for lane in new.lanes:
        if isinstance(lane, CompiledLane):
            same = [other for other in before if other.rule_names() & lane.rule_names()]
            if len(same) > 1 and not lane.several:  # what rules alike keep is the same wherever they kept it
                raise DataError(
                    "The change makes rules depend on each other that have been compiled apart, which cannot be done "
                    "while they run. Start a session with compiled=False, or another one with all of the rules."
                )
            if same:
                lane.take_over(same[0])
                moved |= lane.rule_names()
    left = {name for lane in before for name in lane.rule_names()} - moved
    if left & set(rule_names(new.known, range(len(new.known.rules))).values()):
        raise DataError(
            "After the change a rule that has been compiled could not be any more, which cannot be done while it runs. "
            "Start a session with compiled=False, or another one with all of the rules."
        )


def _nodes(run: Run) -> dict[int, RuleNode]:
    return {index: node for lane in run.lanes if isinstance(lane, Stratum) for index, node in lane.rules.items()}


def rules_of(file: syntax.File) -> list[str]:
    """The event rules as they are written, in the order in which the typed program has them."""
    return [show(statement) for statement in file.statements if isinstance(statement, syntax.EventRule)]


def _shape(rule: RuleNode) -> list[tuple[type, str | None]]:
    """The parts of a rule in their order: its joins may be in another one where types of its variables change."""
    return [(type(node), node.about) for node in rule.body.walk()]


def _restore(rule: RuleNode, state: list[list[Any]]) -> None:
    """Restores a rule. A window that is beside rows of static tables alone gets those that are there now."""
    windows = [node for node in rule.body.walk() if isinstance(node, WindowNode) and not node.open]
    now = [node.rests for node in windows]
    restore(rule.body, state)
    for node, rests in zip(windows, now, strict=True):
        kept = {identity_of(rest): groups for rest, groups in node.rests}
        node.rests = [[rest, kept.get(identity_of(rest), groups)] for rest, groups in rests]


def _begin(rule: RuleNode, time: int) -> None:
    """Has the timers of a new rule begin after a time."""
    for node in rule.body.walk():
        if isinstance(node, MomentNode):
            node.over = node.moment.time <= time
        elif isinstance(node, PeriodicNode) and node.due() is not None:
            period = node.periodic.period
            node.next = (time // period + 1) * period
